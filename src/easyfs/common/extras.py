"""Packages that are only needed for some things, and come with an extra."""

from __future__ import annotations

import importlib
from typing import Any


def optional(module: str, extra: str, used_by: str) -> Any:
    """Import a module that an extra brings, or say how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".", maxsplit=1)[0]
        raise ImportError(
            f"{used_by} needs the package {package!r}, which is not installed; install it with "
            f"pip install 'easyfs-ml[{extra}]'."
        ) from error
