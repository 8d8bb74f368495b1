"""The chosen columns: what is known of each, as a table, as text and as JSON."""

from __future__ import annotations

import json
import math
from typing import Any

from easyfs.cli.show import cell, new_table

# More columns than this are shown in part on a terminal.
MOST_SHOWN = 60
BAR = 12


def chosen_columns(selector: Any) -> list[dict[str, Any]]:
    """A row for each chosen column, in the order of choice."""
    order = selector.order_[: selector.n_features_]
    gains, scores, infos = selector.gains_, selector.scores_, selector.columns_
    redundancy = getattr(selector, "redundancy_", None)
    adds_up = redundancy is not None
    rows: list[dict[str, Any]] = []
    total = 0.0
    for place, j in enumerate(order.tolist()):
        row: dict[str, Any] = {
            "place": place + 1,
            "name": infos[j].name,
            "kind": infos[j].kind,
            "used_as": infos[j].used_as,
        }
        row["score"] = _finite(scores[j])
        if adds_up and place < len(gains):
            total += float(gains[place])
            row |= {"adds": _finite(gains[place]), "cumulative": _finite(total)}
        if redundancy is not None:
            row["redundancy"] = _finite(redundancy[j])
        rows.append(row)
    return rows


def _finite(value: Any) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None


def chosen_table(rows: list[dict[str, Any]], most: int | None = None) -> Any:
    """The chosen columns as a table for the terminal."""
    shown = rows if most is None else rows[:most]
    if "redundancy" not in rows[0]:
        table = new_table(("", "right"), ("column", "wide"), "kind", ("score", "right"))
        for row in shown:
            table.add_row(str(row["place"]), cell(row["name"], "bold"), row["kind"], _number(row["score"]))
        return table
    table = new_table(
        ("", "right"), ("column", "wide"), "kind", ("adds", "right"), ("so far", "right"), ("redundant", "right"), ""
    )
    largest = max((row.get("adds") or 0.0 for row in rows), default=0.0)
    for row in shown:
        share = (row.get("adds") or 0.0) / largest if largest > 0 else 0.0
        table.add_row(
            str(row["place"]),
            cell(row["name"], "bold"),
            row["kind"],
            _percent(row.get("adds")),
            _percent(row.get("cumulative")),
            _percent(row["redundancy"]),
            cell("█" * max(0, round(BAR * share)), "cyan"),
        )
    return table


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


def columns_as_json(rows: list[dict[str, Any]], about: dict[str, Any]) -> str:
    """The rows, with what is known of the run."""
    return json.dumps({**about, "columns": rows}, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
