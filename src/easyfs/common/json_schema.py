"""Whether data read from a file is what its JSON Schema says, in words that name the place.

Knows the parts of JSON Schema that the library's own schemas use, so that reading a file needs no further package.
"""

from __future__ import annotations

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


def check_against(content: Any, schema: dict[str, Any], what: str) -> str:
    """What is wrong with some content, and where; empty if nothing is.

    Parameters
    ----------
    content : object
        What was read from JSON.
    schema : dict
        A JSON Schema.
    what : str
        What the content is called, such as "the report".
    """
    return _Checker(schema, what).check(content, schema, what)


class _Checker:
    """Walks over the content and its rules at once."""

    def __init__(self, schema: dict[str, Any], what: str):
        self._definitions = schema.get("$defs", {})
        self._what = what

    def check(self, value: Any, rule: dict[str, Any], where: str) -> str:
        """What is wrong with a value."""
        if "$ref" in rule:
            return self.check(value, self._definitions[rule["$ref"].rsplit("/", 1)[1]], where)
        if "anyOf" in rule:
            problems = [self.check(value, choice, where) for choice in rule["anyOf"]]
            return "" if "" in problems else problems[0]
        return _check_value(value, rule, where) or self._check_inside(value, rule, where)

    def _check_inside(self, value: Any, rule: dict[str, Any], where: str) -> str:
        if isinstance(value, list) and "items" in rule:
            return next((p for i, v in enumerate(value) if (p := self.check(v, rule["items"], f"{where}[{i}]"))), "")
        return self._check_object(value, rule, where) if isinstance(value, dict) else ""

    def _check_object(self, value: dict[str, Any], rule: dict[str, Any], where: str) -> str:
        known = rule.get("properties", {})
        other = rule.get("additionalProperties", True)
        lacking = next((name for name in rule.get("required", ()) if name not in value), None)
        if lacking is not None:
            return f"{where} lacks {lacking!r}"
        for name, entry in value.items():
            inside = name if where == self._what else f"{where}.{name}"
            if name not in known and other is False:
                return f"{where} has {name!r}, which is not known"
            part = known.get(name, other)
            problem = self.check(entry, part, inside) if isinstance(part, dict) else ""
            if problem:
                return problem
        return ""


def _check_value(value: Any, rule: dict[str, Any], where: str) -> str:
    """What is wrong with a value itself, whatever is inside it."""
    if "const" in rule and (value != rule["const"] or isinstance(value, bool) != isinstance(rule["const"], bool)):
        return f"{where} is {value!r}, not {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        return f"{where} is {value!r}, not one of {', '.join(map(str, rule['enum']))}"
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return f"{where} is of type {type(value).__name__}, not {' or '.join(kinds)}"
    if "minimum" in rule and _is(value, "number") and value < rule["minimum"]:
        return f"{where} is {value!r}, less than {rule['minimum']}"
    if isinstance(value, list) and len(value) < rule.get("minItems", 0):
        return f"{where} has {len(value)} entries, fewer than {rule['minItems']}"
    return ""


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])
