"""What was asked: the method, and its parameters other than defaults, as plain values."""

from __future__ import annotations

import inspect
import math
import numbers
from typing import Any

import numpy as np

from easyfs.base.selector import BaseSelector
from easyfs.registry import CLASSES
from easyfs.report.summary import Asked
from easyfs.report.words import text_of

MOST_ENTRIES = 50
LONGEST_TEXT = 200


def asked_of(selector: BaseSelector, source: str | None, created: str, version: str) -> Asked:
    """The method, its parameters, the seed and where the table comes from."""
    class_name = type(selector).__name__
    known = CLASSES.get(class_name)
    parameters = selector.get_params(deep=False)
    defaults = {name: entry.default for name, entry in inspect.signature(type(selector)).parameters.items()}
    changed = {
        name: plain_value(value)
        for name, value in parameters.items()
        if name != "n_features_to_select" and plain_value(value) != plain_value(defaults.get(name))
    }
    seed = parameters.get("random_state")
    return {
        "method": known.name if known is not None else class_name,
        "class_name": class_name,
        "paper": known.paper if known is not None else None,
        "parameters": changed,
        "n_features_to_select": plain_value(parameters.get("n_features_to_select")),
        "task": selector.task_,
        "seed": int(seed) if isinstance(seed, numbers.Integral) and not isinstance(seed, bool) else None,
        "source": None if source is None else text_of(source),
        "version": version,
        "created": created,
    }


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
    if isinstance(value, (list, tuple)):
        entries = [plain_value(entry) for entry in value[:MOST_ENTRIES]]
        return entries if len(value) <= MOST_ENTRIES else [*entries, f"… {len(value) - MOST_ENTRIES} more"]
    if isinstance(value, dict):
        return {text_of(key): plain_value(entry) for key, entry in list(value.items())[:MOST_ENTRIES]}
    described = text_of(repr(value)) if " at 0x" not in repr(value) else type(value).__name__
    return described if len(described) <= LONGEST_TEXT else described[: LONGEST_TEXT - 1] + "…"
