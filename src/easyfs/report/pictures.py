"""How chosen columns relate to the target, as data for small pictures: boxes, points with a line, bars.

Points are single rows. A picture of ``kind``

- ``box`` has ``groups``: for each class (or each value of the column) its rows and five quantiles of ``axis``; and points;
- ``scatter`` has ``points`` (column, target) and a smooth ``line`` through them;
- ``bars`` has ``groups``: for each value of the column its rows and the share of each class;
- ``pair`` has ``points`` (one column, the other) for each class, or each third of the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.base.coding import Encoded
from easyfs.base.explanation import Explanation
from easyfs.base.selector import BaseSelector
from easyfs.common.plain import text_of
from easyfs.common.types import Array
from easyfs.report.summary import Picture, Pictures
from easyfs.report.words import plain
from easyfs.tables.columns import DATE_PARTS, INDICATORS
from easyfs.tables.target import Target

# Chosen columns and joint effects that have a picture.
MOST_COLUMNS, MOST_TOGETHER = 50, 12
# Rows that boxes, lines and bars come from, and rows that are shown as points.
MOST_ROWS, MOST_POINTS = 5000, 240
# Classes and values of a column that are told apart; numbers of no more different values are such values.
MOST_GROUPS, FEW_VALUES = 8, 6
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
# Points of a smooth line, and its width, as a share of the rows.
GRID, WIDTH = 24, 0.08
# What lies further out than this share of the rows, and this share of the range of the others, is drawn at the edge.
OUTER, MARGIN = 0.01, 0.25


@dataclass(frozen=True)
class _Shown:
    """A column, or the target, of some rows: numbers, or codes of groups."""

    name: str
    values: Array
    groups: tuple[str, ...] = ()


def pictures_of(
    selector: BaseSelector, encoded: Encoded, target: Target, explanation: Explanation, random_state: int
) -> Pictures | None:
    """Pictures of the first chosen columns, and of columns that matter together, from a sample of the rows."""
    if target.values is None:
        return None
    n = len(target.values)
    rows = np.arange(n)
    if n > MOST_ROWS:
        rows = np.sort(np.random.default_rng(random_state).choice(n, MOST_ROWS, replace=False))
    goal = _target(explanation, target[rows])
    reader = _Reader(selector, encoded, rows, goal)
    alone = [_picture([column.column], reader, goal) for column in explanation.chosen[:MOST_COLUMNS]]
    together = [_picture(columns, reader, goal) for columns in _pairs(selector, explanation)]
    return {"rows": len(rows), "columns": alone, "together": together}


def _pairs(selector: BaseSelector, explanation: Explanation) -> list[list[int]]:
    """The first two columns of each joint effect."""
    place = {str(info.name): j for j, info in enumerate(selector.columns_)}
    found = explanation.interactions or ()
    return [[place[name] for name in group.columns[:2]] for group in found if len(group.columns) > 1][:MOST_TOGETHER]


def _target(explanation: Explanation, target: Target) -> _Shown:
    assert target.values is not None
    name = explanation.target.name if explanation.target is not None and explanation.target.name else "target"
    if target.kind == "classes" and target.classes is not None:
        return _largest_groups(text_of(name), target.values, [text_of(label) for label in target.classes])
    return _Shown(text_of(name), np.asarray(target.values[:, 0], dtype=np.float64))


def _largest_groups(name: str, codes: Array, labels: list[str]) -> _Shown:
    """The largest groups, in the order of their labels; rows of the others have the code -1."""
    codes = np.asarray(codes, dtype=np.intp)
    sizes = np.bincount(codes[codes >= 0], minlength=len(labels))
    kept = np.sort(np.argsort(-sizes, kind="stable")[:MOST_GROUPS])
    kept = kept[sizes[kept] > 0]
    place = np.full(len(labels) + 1, -1)
    place[kept] = np.arange(len(kept))
    return _Shown(name, place[codes], tuple(labels[code] for code in kept))


class _Reader:
    """Columns of a table as they are shown."""

    def __init__(self, selector: BaseSelector, encoded: Encoded, rows: Array, goal: _Shown):
        self.selector, self.encoded, self.rows, self.goal = selector, encoded, rows, goal

    def read(self, j: int) -> _Shown:
        """One of the user's columns."""
        info = self.selector.columns_[j]
        name = text_of(info.name)
        parts = np.flatnonzero(self.encoded.source == j)
        values = self.encoded.matrix[:, parts][self.rows]
        values = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
        if info.used_as == INDICATORS:
            labels = [text_of(part) for part in info.parts]
            codes = np.where(np.nan_to_num(values).max(axis=1) > 0, np.nan_to_num(values).argmax(axis=1), -1)
            return _largest_groups(name, codes, labels)
        if info.used_as == DATE_PARTS:
            best = int(np.argmax([_relation(part, self.goal) for part in values.T]))
            return _few_or_many(f"{name} ({text_of(info.parts[best])})", values[:, best])
        return _few_or_many(name, values[:, 0])


def _relation(values: Array, goal: _Shown) -> float:
    """How much a part of a date has to do with the target."""
    known = np.isfinite(values)
    values = np.where(known, values, values[known].mean() if known.any() else 0.0)
    Y = goal.values[:, None] == np.arange(len(goal.groups)) if goal.groups else goal.values[:, None]
    Y = np.asarray(Y, dtype=np.float64)
    products = (values - values.mean()) @ (Y - Y.mean(axis=0))
    return float(np.square(products).sum() / max(float(np.square(values - values.mean()).sum()), 1e-300))


def _few_or_many(name: str, values: Array) -> _Shown:
    """Numbers; those of few different values are shown as groups."""
    known = np.isfinite(values)
    distinct = np.unique(values[known])
    if not len(distinct) or len(distinct) > FEW_VALUES:
        return _Shown(name, values)
    codes = np.where(known, np.searchsorted(distinct, np.where(known, values, distinct[0])), -1)
    return _Shown(name, codes, tuple(plain(float(value)) for value in distinct))


def _picture(columns: list[int], reader: _Reader, goal: _Shown) -> Picture:
    shown = [reader.read(j) for j in columns]
    if len(shown) == 2:
        kind, data = "pair", _pair(shown[0], shown[1], goal)
    elif shown[0].groups and goal.groups:
        kind, data = "bars", _bars(shown[0], goal)
    elif shown[0].groups or goal.groups:
        kind, data = "box", _boxes(*((goal, shown[0]) if goal.groups else (shown[0], goal)))
    else:
        kind, data = "scatter", _scatter(shown[0], goal)
    return {"columns": columns, "names": [part.name for part in shown], "kind": kind, "data": data}


def _bounds(values: Array) -> list[float]:
    """Range of an axis: single values far out do not press all others together."""
    values = values[np.isfinite(values)]
    if not len(values):
        return [0.0, 1.0]
    low, high = np.quantile(values, [OUTER, 1.0 - OUTER])
    room = MARGIN * (high - low)
    return [_short(max(float(values.min()), low - room)), _short(min(float(values.max()), high + room))]


def _short(value: Any) -> float:
    return float(f"{float(value):.4g}")


def _spread_out(count: int, most: int) -> Array:
    """Places of a few entries among many, evenly."""
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).round().astype(np.intp)


def _boxes(groups: _Shown, numbers: _Shown) -> dict[str, Any]:
    """Quantiles of numbers in each group, and some of its rows."""
    found = []
    for code, label in enumerate(groups.groups):
        own = numbers.values[(groups.values == code) & np.isfinite(numbers.values)]
        quantiles = np.quantile(own, QUANTILES) if len(own) else []
        some = own[_spread_out(len(own), MOST_POINTS // len(groups.groups))]
        found.append(
            {
                "label": label,
                "rows": len(own),
                "quantiles": [_short(value) for value in quantiles],
                "points": [_short(value) for value in some],
            }
        )
    return {"across": groups.name, "axis": numbers.name, "range": _bounds(numbers.values), "groups": found}


def _scatter(column: _Shown, goal: _Shown) -> dict[str, Any]:
    """Some rows as points, and a smooth line."""
    known = np.isfinite(column.values) & np.isfinite(goal.values)
    x, y = column.values[known], goal.values[known]
    some = _spread_out(len(x), MOST_POINTS)
    return {
        "across": column.name,
        "axis": goal.name,
        "across_range": _bounds(x),
        "range": _bounds(y),
        "points": [[_short(a), _short(b)] for a, b in zip(x[some], y[some], strict=True)],
        "line": [[_short(a), _short(b)] for a, b in smooth(x, y)],
    }


def smooth(x: Array, y: Array) -> list[tuple[float, float]]:
    """A line through points: at each place a straight fit of the rows around it, near ones counting most."""
    if len(x) < 2 * GRID // 3:
        return []
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    place = (np.arange(len(x)) + 0.5) / len(x)
    line: dict[float, float] = {}
    for at in np.linspace(0.02, 0.98, GRID):
        w = np.exp(-0.5 * np.square((place - at) / WIDTH))
        w /= w.sum()
        here, mean, level = float(np.quantile(x, at)), float(w @ x), float(w @ y)
        spread = float(w @ np.square(x - mean))
        slope = float(w @ ((x - mean) * (y - level))) / spread if spread > 1e-12 * max(mean * mean, 1e-300) else 0.0
        line[here] = level + slope * (here - mean)
    return list(line.items())


def _bars(column: _Shown, goal: _Shown) -> dict[str, Any]:
    """The share of each class at each value of a column."""
    found = []
    for code, label in enumerate(column.groups):
        own = goal.values[(column.values == code) & (goal.values >= 0)]
        shares = np.bincount(own, minlength=len(goal.groups)) / max(len(own), 1)
        found.append({"label": label, "rows": len(own), "shares": [_short(share) for share in shares]})
    return {"across": column.name, "axis": goal.name, "classes": list(goal.groups), "groups": found}


def _pair(one: _Shown, other: _Shown, goal: _Shown) -> dict[str, Any]:
    """Some rows by two columns, in the colour of their class or of their third of the target."""
    labels, codes = goal.groups, goal.values
    if not labels:
        cuts = np.nanquantile(goal.values, [1 / 3, 2 / 3])
        codes = np.where(np.isfinite(goal.values), np.searchsorted(cuts, goal.values), -1)
        labels = ("low", "middle", "high")
    known = np.isfinite(one.values) & np.isfinite(other.values) & (codes >= 0)
    known &= (one.values >= 0) | (not one.groups)
    known &= (other.values >= 0) | (not other.groups)
    groups = []
    for code, label in enumerate(labels):
        own = np.flatnonzero(known & (codes == code))
        own = own[_spread_out(len(own), 2 * MOST_POINTS // len(labels))]
        points = [[_short(a), _short(b)] for a, b in zip(one.values[own], other.values[own], strict=True)]
        groups.append({"label": label, "points": points})
    return {
        "across": one.name,
        "axis": other.name,
        "across_values": list(one.groups),
        "values": list(other.groups),
        "across_range": _bounds(one.values[known].astype(np.float64)),
        "range": _bounds(other.values[known].astype(np.float64)),
        "of": goal.name,
        "groups": groups,
    }
