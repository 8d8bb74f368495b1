"""Whether data read from a file is the content of a report, as ``schema.json`` says."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a report."""
    text = resources.files("easyfs.report").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def check_content(content: Any) -> str:
    """What is wrong with the content of a report, and where; empty if nothing is.

    Knows the parts of JSON Schema that ``schema.json`` uses.
    """
    return _check(content, schema(), "the report")


def _check(value: Any, rule: dict[str, Any], where: str) -> str:
    if "$ref" in rule:
        return _check(value, schema()["$defs"][rule["$ref"].rsplit("/", 1)[1]], where)
    if "anyOf" in rule:
        problems = [_check(value, choice, where) for choice in rule["anyOf"]]
        return "" if "" in problems else problems[0]
    if "const" in rule and value != rule["const"]:
        return f"{where} is {value!r}, not {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        return f"{where} is {value!r}, not one of {', '.join(map(str, rule['enum']))}"
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return f"{where} is of type {type(value).__name__}, not {' or '.join(kinds)}"
    if isinstance(value, list) and "items" in rule:
        return next((p for i, v in enumerate(value) if (p := _check(v, rule["items"], f"{where}[{i}]"))), "")
    if isinstance(value, dict):
        return _check_object(value, rule, where)
    return ""


def _check_object(value: dict[str, Any], rule: dict[str, Any], where: str) -> str:
    known = rule.get("properties", {})
    other = rule.get("additionalProperties", True)
    lacking = next((name for name in rule.get("required", ()) if name not in value), None)
    if lacking is not None:
        return f"{where} lacks {lacking!r}"
    for name, entry in value.items():
        inside = name if where == "the report" else f"{where}.{name}"
        if name not in known and other is False:
            return f"{where} has {name!r}, which is not known"
        part = known.get(name, other)
        problem = _check(entry, part, inside) if isinstance(part, dict) else ""
        if problem:
            return problem
    return ""


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])
