"""Whether data read from a file is the content of a report, as ``schema.json`` says."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from easyfs.common.json_schema import check_against


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a report."""
    text = resources.files("easyfs.report").joinpath("schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def check_content(content: Any) -> str:
    """What is wrong with the content of a report, and where; empty if nothing is."""
    return check_against(content, schema(), "the report")
