"""The methods that EasyFS is compared with, one file each, behind the same interface.

A class is imported when it is first asked for.
"""

from __future__ import annotations

from typing import Any

from easyfs.registry import CLASSES

__all__ = sorted(name for name in CLASSES if name != "EasyFS")  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return CLASSES[name].load()


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
