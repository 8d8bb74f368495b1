"""The chosen columns: what is known of each, as a table, as text and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from easyfs.base.explanation import ChosenColumn, Explanation
from easyfs.cli.show import cell, new_table, plain

# More columns than this are shown in part on a terminal.
MOST_SHOWN = 60
BAR = 12


def chosen_rows(explanation: Explanation) -> list[dict[str, Any]]:
    """A row for each chosen column, in the order of choice."""
    covers = explanation.adds_up and explanation.task is None
    return [_row(column, covers) for column in explanation.chosen]


def _row(column: ChosenColumn, covers: bool) -> dict[str, Any]:
    """What is known of a chosen column: where measured, what it adds of the target (or else of the table), and overlap."""
    row: dict[str, Any] = {
        "place": column.place,
        "name": column.name,
        "kind": column.kind,
        "used_as": column.used_as,
        "score": column.score,
    }
    adds, so_far = (column.gain, column.cumulative) if covers else (column.told, column.explained)
    if covers or column.told is not None or column.relevance is not None:
        row |= {"adds": adds, "so_far": so_far, "by_itself": column.relevance, "overlap": column.redundancy}
    return row | {"p_value": column.p_value, "beyond_chance": column.beyond_chance}


def chosen_table(rows: list[dict[str, Any]], most: int | None = None) -> Any:
    """The chosen columns as a table for the terminal."""
    shown = rows if most is None else rows[:most]
    if "adds" not in rows[0]:
        table = new_table(("", "right"), ("column", "wide"), "kind", ("score", "right"))
        for row in shown:
            table.add_row(str(row["place"]), cell(row["name"], "bold"), row["kind"], _number(row["score"]))
        return table
    tested = is_tested(rows)
    head: list[Any] = [("", "right"), ("column", "wide"), "kind", ("adds", "right"), ("so far", "right")]
    alone = any(row["by_itself"] is not None for row in rows)
    head += [("chance", "right")] if tested else []
    head += [("by itself", "right")] if alone else []
    table = new_table(*head, ("overlap", "right"), "")
    largest = max((row["adds"] or 0.0 for row in rows), default=0.0)
    for row in shown:
        share = (row["adds"] or 0.0) / largest if largest > 0 else 0.0
        by_chance = row["beyond_chance"] is False
        table.add_row(
            str(row["place"]),
            cell(row["name"], "dim" if by_chance else "bold"),
            row["kind"],
            _percent(row["adds"]),
            _percent(row["so_far"]),
            *([cell(_chance(row["p_value"]), "dim" if by_chance else "")] if tested else []),
            *([_percent(row["by_itself"])] if alone else []),
            _percent(row["overlap"]),
            cell("█" * max(0, round(BAR * share)), "cyan"),
        )
    return table


def is_tested(rows: list[dict[str, Any]]) -> bool:
    """Whether it is known how likely chance would explain as much as a column."""
    return any(row["p_value"] is not None for row in rows)


def by_chance(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that explain no more of the target than chance."""
    return [row for row in rows if row["beyond_chance"] is False]


def only_chance(rows: list[dict[str, Any]]) -> bool:
    """Whether not one explains more of the target than chance."""
    return bool(by_chance(rows)) and not any(row["beyond_chance"] for row in rows)


def chance_line(rows: list[dict[str, Any]]) -> str:
    """How many explain no more than chance, and from where on; empty if none does, or all do."""
    found = by_chance(rows)
    if not found or only_chance(rows):
        return ""
    last = rows[-len(found) :] == found
    where = f": those from {found[0]['place']:,} on" if last and len(found) > 1 else ": the last one" if last else ""
    which = "1 explains" if len(found) == 1 else f"{len(found):,} explain"
    return f"{which} no more than chance{where}"


def together(found: Mapping[str, Any]) -> str:
    """Columns that matter together, or one in a curve, on one line."""
    names = " with ".join(plain(name) for name in found["columns"])
    share = f"{found['share']:.{0 if found['share'] >= 0.01 else 1}%}"
    return f"Together: {names} ({share})" if len(found["columns"]) > 1 else f"In a curve: {names} ({share})"


def _chance(p_value: float | None) -> str:
    from easyfs.report.words import chance  # noqa: PLC0415

    return "" if p_value is None else chance(p_value)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def columns_as_text(rows: list[dict[str, Any]]) -> str:
    """Names, one a line in the order of choice; one with a line break (or a quotation mark first) is written as JSON."""
    names = [str(row["name"]) for row in rows]
    return "".join(
        (json.dumps(n, ensure_ascii=False) if n.startswith('"') or len(n.splitlines()) > 1 else n) + "\n" for n in names
    )


def columns_as_json(rows: list[dict[str, Any]], interactions: Any, about: dict[str, Any]) -> str:
    """The rows, columns that matter together, and what is known of the run."""
    content = {**about, "columns": rows, "interactions": interactions}
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def as_plain(value: Any) -> Any:
    """A parameter as JSON can hold it; what it cannot hold, in words."""
    if isinstance(value, (list, tuple)):
        return [as_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {str(key): as_plain(entry) for key, entry in value.items()}
    value = value.item() if hasattr(value, "item") and not hasattr(value, "__len__") else value
    return value if value is None or isinstance(value, (bool, int, str)) else _number_or_words(value)


def _number_or_words(value: Any) -> Any:
    return value if isinstance(value, float) and math.isfinite(value) else str(value)
