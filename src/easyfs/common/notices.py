"""Warnings that point to the user's own line."""

from __future__ import annotations

import sys
import warnings


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called the library, however deep in it this is."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "easyfs":
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
