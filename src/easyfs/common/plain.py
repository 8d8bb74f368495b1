"""Values as plain data: text that can be written, and parameters that JSON knows."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

MOST_ENTRIES = 50
LONGEST_TEXT = 200


def text_of(name: Any) -> str:
    """A name as text that can be written in UTF-8."""
    return str(name).encode("utf-8", "backslashreplace").decode("utf-8")


def finite(value: Any) -> float | None:
    """A number; None if it is not finite."""
    number = float(value)
    return number if math.isfinite(number) else None


def plain_value(value: Any) -> Any:
    """A parameter as a JSON value; what has none is described, and a long list is cut."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value) if math.isfinite(float(value)) else str(float(value))
    if isinstance(value, str):
        return text_of(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return _several(value) if isinstance(value, (list, tuple, dict)) else _described(value)


def _several(value: Any) -> Any:
    if isinstance(value, dict):
        return {text_of(key): plain_value(entry) for key, entry in list(value.items())[:MOST_ENTRIES]}
    entries = [plain_value(entry) for entry in value[:MOST_ENTRIES]]
    return entries if len(value) <= MOST_ENTRIES else [*entries, f"… {len(value) - MOST_ENTRIES} more"]


def _described(value: Any) -> str:
    described = text_of(repr(value)) if " at 0x" not in repr(value) else type(value).__name__
    return described if len(described) <= LONGEST_TEXT else described[: LONGEST_TEXT - 1] + "…"
