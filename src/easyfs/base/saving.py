"""A selection as a file: plain JSON that says which columns were chosen, from what, how and with which versions."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from easyfs.common.json_schema import check_against
from easyfs.common.plain import finite, plain_value
from easyfs.common.version import VERSION
from easyfs.tables.holding import held_at_fit

SCHEMA = "easyfs-selection"
# It grows when a field changes its meaning or goes; a field more is no new version.
SCHEMA_VERSION = 1
WHAT = "the selection"


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of a saved selection."""
    from importlib import resources  # noqa: PLC0415 - it takes its time

    text = resources.files("easyfs.base").joinpath("selection.schema.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def content_of(selector: Any) -> dict[str, Any]:
    """What a fitted selector chose, as plain data that ``selection.schema.json`` describes.

    Parameters
    ----------
    selector : selector
        A fitted selector of this library.
    """
    infos, given = selector.columns_, getattr(selector, "feature_names_in_", None)
    names = [f"x{j}" for j in range(len(infos))] if given is None else [str(name) for name in given]
    holds = [held_at_fit(info) for info in infos]
    explanation = selector.explain()
    facts = {column.column: column for column in explanation.chosen}
    parameters = {name: plain_value(value) for name, value in selector.get_params(deep=False).items()}
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "method": explanation.method,
        "parameters": parameters,
        "seed": parameters.get("random_state"),
        "task": explanation.task,
        "target": _target_of(selector),
        "rows": explanation.n_rows,
        "input": {"columns": len(infos), "named": given is not None, "hash": hash_of(names, holds)},
        "columns": [
            {
                "name": names[j],
                "position": j,
                "place": facts[j].place,
                "kind": facts[j].kind,
                "holds": holds[j],
                "used_as": facts[j].used_as,
                "gain": _number(facts[j].gain),
                "p_value": _number(facts[j].p_value),
            }
            for j in sorted(facts)
        ],
        "versions": {
            "easyfs": VERSION,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
            "python": ".".join(map(str, sys.version_info[:3])),
        },
    }


def _number(value: float | None) -> float | None:
    return None if value is None else finite(value)


def _target_of(selector: Any) -> list[str]:
    """Names of the target, where it has any."""
    named = selector._roles.target
    about = selector.target_
    return [str(name) for name in named] or ([] if about is None or about.name is None else [str(about.name)])


def hash_of(names: list[str], holds: list[str]) -> str:
    """A hash of the names of all columns of a table, in order, and of what they hold."""
    text = json.dumps(list(zip(names, holds, strict=True)))  # in ASCII, so that any name can be hashed
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def write_selection(content: dict[str, Any], path: str | os.PathLike[str]) -> Path:
    """Write a selection, whole or not at all."""
    from easyfs.files.whole import write_whole  # noqa: PLC0415 - its package knows all formats: not for `import easyfs`

    target = Path(path)
    write_whole(target, as_bytes(content))
    return target


def as_bytes(content: dict[str, Any]) -> bytes:
    """The text of the file."""
    try:
        return (json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode("utf-8")
    except UnicodeEncodeError:  # a name that is no proper text, such as from a file name
        return (json.dumps(content, allow_nan=False, indent=1) + "\n").encode("ascii")


def read_selection(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a file that :func:`write_selection` wrote; an error says what else it is. Nothing in it is run."""
    name = os.fspath(path)
    try:
        content = json.loads(Path(path).read_bytes(), parse_constant=_no_number)
    except FileNotFoundError as error:
        raise FileNotFoundError(f"there is no file {name!r}.") from error
    except IsADirectoryError as error:
        raise IsADirectoryError(f"{name!r} is a folder; give the file that save_selection wrote.") from error
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, ValueError) else "it is nested too deeply"
        raise ValueError(
            f"{name!r} is not a saved selection, as it is no JSON, or cut off ({why}); save one with save_selection."
        ) from error
    problem = problem_of(content)
    if problem:
        raise ValueError(f"{name!r} {problem}")
    found: dict[str, Any] = content
    return found


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number of JSON")


def problem_of(content: Any) -> str:
    """What is wrong with what should be a selection, as the end of a sentence; empty if nothing is."""
    if not isinstance(content, dict) or content.get("schema") != SCHEMA:
        return "is JSON, but not a saved selection; save one with save_selection."
    version = content.get("schema_version")
    if isinstance(version, int) and not isinstance(version, bool) and version > SCHEMA_VERSION:
        by = content.get("versions")
        writer = by.get("easyfs") if isinstance(by, dict) else None
        written = f" It was written by easyfs-ml {writer}: install that, or a later one." if isinstance(writer, str) else ""
        return (
            f"has schema_version {version}, but easyfs-ml {VERSION} reads up to {SCHEMA_VERSION}.{written or ' Update it.'}"
        )
    problem = check_against(content, schema(), WHAT) or _odd_columns(content)
    return f"is not a whole selection: {problem}." if problem else ""


def _odd_columns(content: dict[str, Any]) -> str:
    """What a schema cannot say: columns are in the order of their table, each once, and places count them."""
    columns, n_columns = content["columns"], content["input"]["columns"]
    positions = [column["position"] for column in columns]
    if positions != sorted(set(positions)) or positions[-1] >= n_columns:
        return f"the positions of its columns do not rise from 0 to {n_columns - 1} at most"
    names = [column["name"] for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        return f"it has column {twice!r} twice"
    if sorted(column["place"] for column in columns) != list(range(1, len(columns) + 1)):
        return f"the places of its columns are not 1 to {len(columns)}, each once"
    return ""
