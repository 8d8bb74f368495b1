"""EasyFS: pick the few columns that matter out of thousands."""

from typing import Any

# First and whole: scikit-learn takes about a tenth of a second longer to import when our modules pull in its parts.
import sklearn.feature_selection  # noqa: F401

from easyfs.registry import CLASSES, SelectorInfo, available_selectors, make_selector
from easyfs.selector import EasyFS

__version__ = "0.1.0"

__all__ = ["EasyFS", "SelectorInfo", "__version__", "available_selectors", "make_selector"]


def __getattr__(name: str) -> Any:
    """The other selectors, imported when they are first asked for."""
    if name not in CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return CLASSES[name].load()


def __dir__() -> list[str]:
    return sorted({*globals(), *CLASSES})
