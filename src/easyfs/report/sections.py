"""Sections of the content that come from what is known of each column."""

from __future__ import annotations

from collections import Counter
from typing import TypedDict

import numpy as np

from easyfs.base.explaining import REASONS
from easyfs.base.explanation import AsideColumn, ChosenColumn, ColumnFacts, Explanation
from easyfs.common.plain import text_of
from easyfs.common.types import Array
from easyfs.report.summary import (
    Adjusted,
    Aside,
    ClassCount,
    Data,
    Enough,
    Feature,
    Neighbour,
    Quantiles,
    RunnerUp,
    SetAside,
    Target,
    Together,
)
from easyfs.report.words import listed, number, quoted
from easyfs.sample.interactions import FEWEST_ROWS
from easyfs.tables.target_summary import TargetInfo

# Chosen columns, and others, that are described one by one.
MOST_FEATURES = 500
MOST_RUNNERS_UP = 200
MOST_ASIDE = 200
MOST_CLASSES = 100
MOST_PARTS = 40
# A class is small if it has fewer rows than this, or less than this share of them.
FEW_ROWS, SMALL_SHARE = 5, 0.01


class _Path(TypedDict):
    adds: float | None
    explained: float | None


def _known(value: float | None) -> float | None:
    return None if value is None else number(value)


def _at(values: Array | None, column: int) -> float | None:
    return None if values is None else number(values[column])


def _missing(explanation: Explanation, column: ColumnFacts) -> float:
    """Share of the rows in which a column is missing."""
    return round(column.n_missing / max(explanation.n_rows, 1), 6)


def data_of(explanation: Explanation) -> Data:
    """What the table is."""
    columns = explanation.columns
    missing = [column.n_missing for column in columns]
    return {
        "rows": explanation.n_rows,
        "columns": explanation.n_columns,
        "kinds": dict(Counter(column.kind for column in columns).most_common()),
        "columns_with_missing": sum(n > 0 for n in missing),
        "missing_share": round(sum(missing) / max(explanation.n_rows * len(missing), 1), 6),
        "in_blocks": explanation.in_blocks,
    }


def target_of(task: str | None, info: TargetInfo | None, n_classes: int | None) -> Target | None:
    """What the target holds; of blocks of rows only the number of classes is known."""
    if info is None:
        if task is None:
            return None
        return {
            "name": None,
            "task": task,
            "used": True,
            "n_targets": None,
            "n_distinct": n_classes,
            "whole": None,
            "classes": [],
            "small_classes": 0,
            "smallest_class": None,
            "quantiles": None,
            "mean": None,
            "spread": None,
            "histogram": None,
        }
    rows = max(sum(n for _, n in info.classes), 1)
    counted: list[ClassCount] = [
        {"label": text_of(label), "rows": n, "share": round(n / rows, 6)} for label, n in info.classes
    ]
    small = [entry for entry in counted if entry["rows"] < FEW_ROWS or entry["rows"] < SMALL_SHARE * rows]
    smallest = min(counted, key=lambda entry: entry["rows"], default=None)
    if len(counted) > MOST_CLASSES:
        least = sorted((c["rows"] for c in counted), reverse=True)[MOST_CLASSES - 1]
        counted = [c for c in counted if c["rows"] >= least][:MOST_CLASSES]
    edges, counts = info.histogram
    return {
        "name": None if info.name is None else text_of(info.name),
        "task": info.task,
        "used": task is not None,
        "n_targets": info.n_targets,
        "n_distinct": info.n_distinct,
        "whole": bool(info.whole),
        "classes": counted,
        "small_classes": len(small),
        "smallest_class": smallest,
        "quantiles": _quantiles(info.quantiles),
        "mean": number(info.mean),
        "spread": number(info.spread),
        "histogram": {"edges": list(edges), "counts": list(counts)} if counts else None,
    }


def _quantiles(found: tuple[float, ...]) -> Quantiles | None:
    if not found:
        return None
    smallest, lower, median, upper, largest = found
    return {"smallest": smallest, "lower": lower, "median": median, "upper": upper, "largest": largest}


def features_of(explanation: Explanation, frequency: Array | None) -> list[Feature]:
    """The chosen columns, each with what it added and what it stands in for."""
    return [
        {
            "place": column.place,
            "column": column.column,
            "name": text_of(column.name),
            "kind": column.kind,
            "dtype": text_of(column.dtype),
            "parts": [text_of(part) for part in column.parts[:MOST_PARTS]],
            "included": column.included,
            **_path(explanation, column),
            "gain": _known(column.gain),
            "cumulative": _known(column.cumulative),
            "score": _known(column.score),
            "relevance": _known(column.relevance),
            "redundancy": _known(column.redundancy),
            "missing": _missing(explanation, column),
            "frequency": _at(frequency, column.column),
            "interchangeable": None,
            "near_copies": [],
            "p_value": _known(column.p_value),
            "beyond_chance": column.beyond_chance,
            "stands_for": _neighbours(column),
        }
        for column in explanation.chosen[:MOST_FEATURES]
    ]


def explains(explanation: Explanation) -> str | None:
    """What it is that columns add shares of: the target, without one the table; None where that was not measured."""
    if any(column.told is not None for column in explanation.chosen):
        return "target"
    return "table" if explanation.adds_up and explanation.task is None else None


def _path(explanation: Explanation, column: ChosenColumn) -> _Path:
    """What a column adds to those before it, and all up to it together."""
    if explains(explanation) == "table":
        return {"adds": _known(column.gain), "explained": _known(column.cumulative)}
    return {"adds": _known(column.told), "explained": _known(column.explained)}


def _neighbours(column: ChosenColumn) -> list[Neighbour]:
    return [
        {
            "column": other.column,
            "name": text_of(other.name),
            "share": round(other.share, 6),
            "alone": round(other.alone, 6),
        }
        for other in column.stands_for
    ]


def adjusted_of(explanation: Explanation) -> Adjusted | None:
    """Columns whose effect was taken out first; None if there are none."""
    if not explanation.adjusted_for:
        return None
    share = explanation.adjusted_share
    return {
        "columns": [text_of(name) for name in explanation.adjusted_for],
        "share": None if share is None else number(share),
    }


def interactions_of(explanation: Explanation) -> list[Together] | None:
    """Columns that matter together, or in a curve; None if the method did not look for them."""
    asked = explanation.parameters
    looked = bool(asked.get("interactions")) and explanation.task is not None
    if not explanation.interactions and (not looked or explanation.n_rows < FEWEST_ROWS):
        return None
    return [
        {
            "columns": [text_of(name) for name in found.columns],
            "share": round(float(found.share), 6),
            "p_value": float(f"{found.p_value:.7g}"),
        }
        for found in explanation.interactions or ()
    ]


def enough_of(explanation: Explanation, chance: int | None) -> Enough:
    """How many columns reach most of what all chosen ones explain."""
    added = [_path(explanation, column)["adds"] for column in explanation.chosen]
    shares = np.array([share for share in added if share is not None])
    if not shares.sum() > 0:
        return {"of": None, "total": None, "at_90": None, "at_95": None, "chance_after": chance}
    reached = np.cumsum(shares) / shares.sum()
    at_90, at_95 = (int(np.argmax(reached >= share - 1e-12)) + 1 for share in (0.9, 0.95))
    total = number(shares.sum())
    return {"of": explains(explanation), "total": total, "at_90": at_90, "at_95": at_95, "chance_after": chance}


def runners_up_of(explanation: Explanation, frequency: Array | None) -> list[RunnerUp]:
    """The next columns."""
    return [
        {
            "column": column.column,
            "name": text_of(column.name),
            "kind": column.kind,
            "adds": _known(column.told),
            "score": _known(column.score),
            "relevance": _known(column.relevance),
            "redundancy": _known(column.redundancy),
            "missing": _missing(explanation, column),
            "frequency": _at(frequency, column.column),
        }
        for column in explanation.others[:MOST_RUNNERS_UP]
    ]


def aside_of(explanation: Explanation) -> SetAside:
    """Columns that are set aside, the first of them with the reason in words."""
    counts = Counter(column.why for column in explanation.set_aside)
    found: list[Aside] = [
        {
            "column": column.column,
            "name": text_of(column.name),
            "kind": column.kind,
            "why": column.why,
            "reason": text_of(_reason(column)),
        }
        for column in explanation.set_aside[:MOST_ASIDE]
    ]
    return {"counts": {why: counts[why] for why in REASONS if counts[why]}, "columns": found}


def _reason(column: AsideColumn) -> str:
    if not column.said_by:
        return column.reason
    names = [text_of(name) for name in column.said_by]
    if len(names) == 1:
        return f"the same as {quoted(names[0])}"
    return f"the chosen columns together give it, {listed(names)} first"
