"""What was asked: the method, and its parameters other than defaults, as plain values."""

from __future__ import annotations

from easyfs.base.explanation import Explanation
from easyfs.common.plain import text_of
from easyfs.registry import CLASSES
from easyfs.report.summary import Asked


def asked_of(explanation: Explanation, source: str | None, command_line: bool, created: str, version: str) -> Asked:
    """The method, its parameters, the seed and where the table comes from."""
    known = CLASSES.get(explanation.method)
    parameters = explanation.parameters
    seed = parameters.get("random_state")
    return {
        "method": known.name if known is not None else explanation.method,
        "class_name": explanation.method,
        "paper": known.paper if known is not None else None,
        "parameters": {name: parameters[name] for name in explanation.changed if name != "n_features_to_select"},
        "n_features_to_select": parameters.get("n_features_to_select"),
        "task": explanation.task,
        "seed": seed if isinstance(seed, int) and not isinstance(seed, bool) else None,
        "source": None if source is None else text_of(source),
        "command_line": command_line,
        "version": version,
        "created": created,
    }
