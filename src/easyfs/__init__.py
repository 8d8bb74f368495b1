"""EasyFS: pick the few columns that matter out of thousands."""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from easyfs.common.neighbours import warn_of_other
from easyfs.common.reporting import set_report_builder
from easyfs.common.version import VERSION
from easyfs.registry import CLASSES, SelectorInfo, available_selectors, make_selector

if TYPE_CHECKING:
    from easyfs.base.explanation import Explanation
    from easyfs.estimator.easyfs import EasyFS
    from easyfs.estimator.easyfs_ranking import EasyFSRanking
    from easyfs.files.scanning import Scan, scan
    from easyfs.saved.selection import SavedSelection, load_selection
    from easyfs.tables.survival import survival_target
    from easyfs.tables.to_numbers import TableToNumbers

__version__ = VERSION

# Where each part is, for when it is asked for: an import takes no longer than what is used.
_LATER = {
    "EasyFS": "easyfs.estimator.easyfs",
    "EasyFSRanking": "easyfs.estimator.easyfs_ranking",
    "Explanation": "easyfs.base.explanation",
    "SavedSelection": "easyfs.saved.selection",
    "Scan": "easyfs.files.scanning",
    "TableToNumbers": "easyfs.tables.to_numbers",
    "load_selection": "easyfs.saved.selection",
    "scan": "easyfs.files.scanning",
    "survival_target": "easyfs.tables.survival",
}

__all__ = [
    "EasyFS",
    "EasyFSRanking",
    "Explanation",
    "SavedSelection",
    "Scan",
    "SelectorInfo",
    "TableToNumbers",
    "__version__",
    "available_selectors",
    "load_selection",
    "make_selector",
    "scan",
    "survival_target",
]


def _build_report(*args: Any, **options: Any) -> Any:
    from easyfs.report import build_report  # noqa: PLC0415

    return build_report(*args, **options)


set_report_builder(_build_report)
warn_of_other(os.path.dirname(__file__))


def __getattr__(name: str) -> Any:
    """Selectors and parts, imported when they are first asked for."""
    if name in _LATER or name in CLASSES:
        # First and whole: scikit-learn takes about a tenth of a second longer when our modules pull in its parts.
        import sklearn.feature_selection  # noqa: F401, PLC0415
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name not in CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return CLASSES[name].load()


def __dir__() -> list[str]:
    return sorted({*__all__, *CLASSES})
