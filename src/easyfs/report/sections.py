"""Sections of the content that come from what is known of each column."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from easyfs.base.request import resolve_columns
from easyfs.base.result import Selection
from easyfs.base.selector import BaseSelector
from easyfs.common.types import Array
from easyfs.report.nearest import Coding
from easyfs.report.summary import (
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
from easyfs.report.words import listed, number, quoted, text_of
from easyfs.sample.interactions import FEWEST_ROWS
from easyfs.tables.columns import ASIDE, ColumnInfo
from easyfs.tables.target_summary import TargetInfo

MOST_RUNNERS_UP = 200
MOST_ASIDE = 200
MOST_CLASSES = 100
MOST_PARTS = 40
# A column is a copy if this share of it is said by the chosen ones.
COPY = 0.999
# A class is small if it has fewer rows than this, or less than this share of them.
FEW_ROWS, SMALL_SHARE = 5, 0.01
REASONS = ("identifier", "free text", "other", "copy", "excluded", "constant")


@dataclass
class Facts:
    """What is known of each column; None where it is not."""

    infos: list[ColumnInfo]
    names: list[str]
    selected: Selection
    relevance: Array | None
    redundancy: Array | None
    coding: Coding | None
    target: Target | None
    n_rows: int
    frequency: Array | None = field(default=None)

    @property
    def chosen(self) -> Array:
        """The chosen columns, in order."""
        return self.selected.order[: self.selected.n_selected]

    @cached_property
    def why(self) -> dict[int, str]:
        """Columns that are set aside, each with one of the reasons."""
        free = np.ones(len(self.infos), dtype=bool)
        free[self.chosen] = False
        constant = self.selected.constant
        found = {}
        for j in np.flatnonzero(free):
            info = self.infos[j]
            if info.kind == "constant":
                found[int(j)] = "constant"
            elif info.used_as == ASIDE:
                found[int(j)] = info.kind if info.kind in REASONS else "other"
            elif self.selected.scores[j] == -np.inf:
                found[int(j)] = "excluded"
            elif constant is not None and constant[j]:
                found[int(j)] = "constant"
            elif self.redundancy is not None and self.redundancy[j] >= COPY:
                found[int(j)] = "copy"
        return found

    @cached_property
    def aside(self) -> Array:
        """Which columns are set aside."""
        mask = np.zeros(len(self.infos), dtype=bool)
        mask[list(self.why)] = True
        return mask

    @cached_property
    def rest(self) -> Array:
        """Columns that are neither chosen nor set aside, the next one first."""
        left = self.selected.order[self.selected.n_selected :]
        return np.asarray(left[~self.aside[left]])

    def missing(self, column: int) -> float:
        """Share of the rows in which a column is missing."""
        return round(self.infos[column].n_missing / max(self.n_rows, 1), 6)


def _at(values: Array | None, column: int) -> float | None:
    return None if values is None else number(values[column])


def data_of(selector: BaseSelector, facts: Facts) -> Data:
    """What the table is."""
    missing = [info.n_missing for info in facts.infos]
    return {
        "rows": facts.n_rows,
        "columns": len(facts.infos),
        "kinds": dict(Counter(info.kind for info in facts.infos).most_common()),
        "columns_with_missing": sum(n > 0 for n in missing),
        "missing_share": round(sum(missing) / max(facts.n_rows * len(missing), 1), 6),
        "in_blocks": hasattr(selector, "network_"),
    }


def target_of(selector: BaseSelector, info: TargetInfo | None) -> Target | None:
    """What the target holds."""
    task = selector.task_
    classes = getattr(selector, "classes_", None)
    if info is None:
        if task is None:
            return None
        return {
            "name": None,
            "task": task,
            "used": True,
            "n_targets": None,
            "n_distinct": None if classes is None else len(classes),
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


def features_of(
    selector: BaseSelector, facts: Facts, columns: Array, neighbours: dict[int, list[Neighbour]]
) -> list[Feature]:
    """The chosen columns, each with what it added and what it stands in for."""
    asked = selector.get_params(deep=False).get("include")
    included = set(resolve_columns("include", asked, len(facts.infos), selector._names()).tolist())
    gains = facts.selected.gains
    p_values, beyond = facts.selected.p_values, beyond_chance_of(selector)
    cumulative = np.cumsum(gains) if selector._additive else None
    found: list[Feature] = []
    for i, j in enumerate(columns.tolist()):
        info = facts.infos[j]
        parts = [text_of(part) for part in info.parts]
        found.append(
            {
                "place": i + 1,
                "column": j,
                "name": facts.names[j],
                "kind": info.kind,
                "dtype": text_of(info.dtype),
                "parts": parts[:MOST_PARTS],
                "included": j in included,
                "gain": number(gains[i]) if i < len(gains) else None,
                "cumulative": None if cumulative is None or i >= len(gains) else number(cumulative[i]),
                "score": number(facts.selected.scores[j]),
                "relevance": _at(facts.relevance, j),
                "redundancy": _at(facts.redundancy, j),
                "missing": facts.missing(j),
                "frequency": _at(facts.frequency, j),
                "p_value": None if p_values is None or i >= len(p_values) else number(p_values[i]),
                "beyond_chance": beyond[i] if i < len(beyond) else None,
                "stands_for": neighbours.get(j, []),
            }
        )
    return found


def beyond_chance_of(selector: BaseSelector) -> list[bool]:
    """Whether each chosen column tells more than chance, as far as that is known."""
    found = getattr(selector, "beyond_chance_", None)
    return [] if found is None else [bool(told) for told in found[: selector.n_features_]]


def interactions_of(selector: BaseSelector) -> list[Together] | None:
    """Columns that matter together, or in a curve; None if the method did not look for them.

    The same columns may be found several times, by other parts of a category or a date: their shares add up.
    """
    named = getattr(selector, "interactions_", [])
    asked = selector.get_params(deep=False)
    looked = bool(asked.get("interactions")) and asked.get("compression") == "sequential" and selector.task_ is not None
    if not named and (not looked or selector.n_rows_ < FEWEST_ROWS):
        return None
    merged: dict[frozenset[str], Together] = {}
    for found in named:
        names = [text_of(name) for name in found.columns]
        entry = merged.setdefault(frozenset(names), {"columns": names, "share": 0.0, "p_value": 1.0})
        entry["share"] = round(entry["share"] + float(found.share), 6)
        entry["p_value"] = min(entry["p_value"], float(f"{found.p_value:.7g}"))
    return list(merged.values())


def enough_of(selector: BaseSelector, facts: Facts, chance: int | None) -> Enough:
    """How many columns reach most of what all chosen ones say."""
    gains = facts.selected.gains
    if not selector._additive or not len(gains) or gains.sum() <= 0:
        return {
            "adds_up": False,
            "total": None,
            "at_90": None,
            "at_95": None,
            "scores_add": False,
            "chance_after": chance,
        }
    reached = np.cumsum(gains) / gains.sum()
    at_90, at_95 = (int(np.argmax(reached >= share - 1e-12)) + 1 for share in (0.9, 0.95))
    return {
        "adds_up": True,
        "total": number(gains.sum()),
        "at_90": at_90,
        "at_95": at_95,
        "scores_add": getattr(selector, "compression", None) == "sequential",
        "chance_after": chance,
    }


def runners_up_of(facts: Facts) -> list[RunnerUp]:
    """The next columns."""
    return [
        {
            "column": j,
            "name": facts.names[j],
            "kind": facts.infos[j].kind,
            "score": number(facts.selected.scores[j]),
            "relevance": _at(facts.relevance, j),
            "redundancy": _at(facts.redundancy, j),
            "missing": facts.missing(j),
            "frequency": _at(facts.frequency, j),
        }
        for j in facts.rest[:MOST_RUNNERS_UP].tolist()
    ]


def aside_of(facts: Facts) -> SetAside:
    """Columns that are set aside, the first of them with the reason in words."""
    counts = Counter(facts.why.values())
    shown = sorted(facts.why, key=lambda j: (REASONS.index(facts.why[j]), j))[:MOST_ASIDE]
    copies = [j for j in shown if facts.why[j] == "copy"]
    said = facts.coding.alone(copies) if facts.coding is not None and copies else np.zeros((0, 0))
    place = {j: i for i, j in enumerate(copies)}
    found: list[Aside] = []
    for j in shown:
        why = facts.why[j]
        reason = facts.infos[j].reason
        if why == "excluded":
            reason = "named in exclude, or in a group with such a column"
        elif why == "copy":
            assert facts.coding is not None
            best = int(said[place[j]].argmax())
            alone = said[place[j], best] >= COPY
            name = facts.names[facts.coding.columns[best]]
            reason = f"says the same as {quoted(name)}" if alone else _together(facts, said[place[j]])
        elif why == "constant" and not reason:
            reason = "no value at all" if facts.infos[j].n_missing == facts.n_rows else "one value only"
        found.append(
            {
                "column": j,
                "name": facts.names[j],
                "kind": facts.infos[j].kind,
                "why": why,
                "reason": text_of(reason),
            }
        )
    return {"counts": {why: counts[why] for why in REASONS if counts[why]}, "columns": found}


def _together(facts: Facts, said: Array) -> str:
    assert facts.coding is not None
    best = [facts.names[facts.coding.columns[i]] for i in np.argsort(-said, kind="stable")[:2]]
    return f"is said by the chosen columns together, {listed(best)} first"
