"""Checks of parameters; each error names the parameter, what was found and what to give."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """A parameter must be one of a few words."""
    if value not in choices:
        raise ValueError(f"{name}={value!r} is not known; use one of {', '.join(repr(c) for c in choices)}.")


def check_number(
    name: str, value: Any, low: float, high: float = np.inf, *, whole: bool = False, above: bool = False, or_else: str = ""
) -> None:
    """A parameter must be a number within bounds (``above``: strictly above the lower one).

    ``or_else`` is what the error says of other values that the caller takes.
    """
    kind = numbers.Integral if whole else numbers.Real
    inside = isinstance(value, kind) and not isinstance(value, bool) and bool(np.isfinite(float(value)))
    inside = inside and (low < value if above else low <= value) and value <= high
    if not inside:
        what = "a whole number" if whole else "a number"
        bounds = f"{'above' if above else 'of at least'} {low:g}" + ("" if high == np.inf else f" and at most {high:g}")
        raise ValueError(f"{name}={value!r}: give {what} {bounds}{or_else}.")
