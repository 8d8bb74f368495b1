"""The rows of a table in parts that the plan is made from: the smallest hashes of their numbers, wherever it is cut."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from easyfs.common.types import Array
from easyfs.common.version import VERSION
from easyfs.engines.parts import OTHER_ROWS, Part, check_part_weights, check_version, stack
from easyfs.passes.block import SAMPLE_ROWS, sample_rows
from easyfs.passes.screening import MEMORY_LIMIT
from easyfs.sample.drawing import HASH_UNIT, LEAST_OF_EQUAL_PART, MOST_COUNTED, at_most, quotas, row_hashes
from easyfs.tables.frames import n_rows_of, take_rows
from easyfs.tables.levels import Levels, added, levels_in
from easyfs.tables.naming import Roles
from easyfs.tables.reading import are_whole, count_values, read_counts
from easyfs.tables.target import Target, check_observed, read_values
from easyfs.tables.target_summary import TargetInfo, describe_target
from easyfs.tables.weights import largest_and_others

# So many times the rows that may be in the sample are held before those are left out that cannot be.
SPARE = 1.25
# Rows of a part are taken out of it when no more than this share of it is held; more parts than this become one.
LEAST_USED, MOST_PARTS = 0.25, 64
# A target with more different values than this is not counted by class: no sample has a row of each.
MOST_LABELS = SAMPLE_ROWS


class Weighed(NamedTuple):
    """Weights of a part: of the number of its first row on; the largest of them, and what all others add up to."""

    first: int
    weight: float
    n_positive: int
    n_rows: int
    largest: float
    others: float


@dataclass(frozen=True)
class Numbering:
    """Numbers of rows that the sample is drawn by.

    Attributes
    ----------
    offsets : dict of int to int
        For each part, by the number of its first row in the table: the number that its first row has here.
    counted : bool
        Whether weights are whole numbers: a row then has as many numbers as its weight says.
    n_rows : int
        How many numbers there are.
    """

    offsets: dict[int, int]
    counted: bool
    n_rows: int


class Held:
    """Rows of some parts, taken out of them only where few are wanted: most of a part is often beaten by the next.

    Parameters
    ----------
    parts : list of (table or array, ndarray of int or None)
        Parts, and which of their rows are held; None for all.
    """

    def __init__(self, parts: list[tuple[Any, Array | None]]):
        self.parts = parts

    def __add__(self, other: Held) -> Held:
        return Held(self.parts + other.parts)

    def __reduce__(self) -> tuple[Any, ...]:
        held = self.table()
        if hasattr(held, "combine_chunks"):  # rows of Arrow would bring along all those that they were cut out of
            held = take_rows(held, np.arange(n_rows_of(held)))
        return Held, ([(held, None)],)  # nothing else travels

    def rows(self, chosen: Array) -> Held:
        """Some of the rows, by place, in this order."""
        if (np.diff(chosen) < 0).any():
            order = np.argsort(chosen)
            place = np.empty_like(order)
            place[order] = np.arange(len(order))
            return Held([(self.rows(chosen[order]).table(), place)])
        parts: list[tuple[Any, Array | None]] = []
        first = 0
        for X, rows in self.parts:
            n = n_rows_of(X) if rows is None else len(rows)
            own = chosen[np.searchsorted(chosen, first) : np.searchsorted(chosen, first + n)] - first
            own = own if rows is None else rows[own]
            few = len(own) <= LEAST_USED * n_rows_of(X)
            if len(own) or not parts:
                parts.append((take_rows(X, own), None) if few else (X, own))
            first += n
        return Held(parts if len(parts) <= MOST_PARTS else [(Held(parts).table(), None)])

    def table(self) -> Any:
        """The rows as one table or array."""
        return stack([X if rows is None else take_rows(X, rows) for X, rows in self.parts])


@dataclass(frozen=True, eq=False)
class Scanned:
    """Rows of some parts that may be in the sample, and how many rows there are.

    Attributes
    ----------
    n_rows : int
        Rows of the parts, those of weight zero not counted.
    counts : dict or None
        Rows of each label of the target; None where it has too many, or none, or holds numbers that are not whole.
    numbers : ndarray of int
        Number of each kept row in the whole table; a row that counts several times has several.
    places : ndarray of int
        Its place in the whole table.
    hashes : ndarray of uint64
        Their hashes.
    held : Held
        The kept rows.
    y, weight : arrays or tables
        Their target and weights.
    levels : dict of str to Counter
        Rows of each value of each column that is no number, over all rows.
    size : int
        Rows of the sample.
    category : bool
        Whether the target is a category by what its own library says.
    weighed : tuple of Weighed
        Weights of each part, where rows have some.
    whole_weights : bool
        Whether all weights are whole numbers.
    table_rows : int or None
        Rows of the whole table, where that is known.
    """

    n_rows: int
    counts: dict[Any, int] | None
    numbers: Array
    places: Array
    hashes: Array
    held: Held
    y: Array | None
    weight: Array | None
    levels: Levels
    size: int = SAMPLE_ROWS
    category: bool = False
    weighed: tuple[Weighed, ...] = ()
    whole_weights: bool = True
    table_rows: int | None = None

    def __add__(self, other: Scanned) -> Scanned:
        counts = None
        if self.counts is not None and other.counts is not None:
            counts = dict(Counter(self.counts) + Counter(other.counts))
        weight = None
        if self.weight is not None and other.weight is not None:
            weight = np.concatenate([self.weight, other.weight])
        return Scanned(
            self.n_rows + other.n_rows,
            counts if counts is not None and len(counts) <= MOST_LABELS else None,
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.places, other.places]),
            np.concatenate([self.hashes, other.hashes]),
            self.held + other.held,
            None if self.y is None or other.y is None else stack([self.y, other.y]),
            weight,
            added(self.levels, other.levels),
            self.size,
            self.category or other.category,
            self.weighed + other.weighed,
            self.whole_weights and other.whole_weights,
            self.table_rows,
        )._kept()

    @property
    def numbering(self) -> Numbering | None:
        """How rows are numbered where weights have a say in it, as in memory; None where they have none.

        Rows of weight zero have no number, and rows whose weights are whole numbers have as many. Where there are no more
        than the sample has, there is nothing to draw.
        """
        parts = sorted(self.weighed)
        total, n_rows = sum(part.weight for part in parts), sum(part.n_rows for part in parts)
        counted = self.whole_weights and total <= MOST_COUNTED
        each = [part.weight if counted else part.n_positive for part in parts]
        if sum(each) <= self.size or (
            sum(each) == n_rows and (not counted or all(p.n_positive == p.n_rows for p in parts))
        ):
            return None
        offsets = np.cumsum([0, *each]).astype(np.int64).tolist()
        own = {part.first: offset for part, offset in zip(parts, offsets, strict=False)}
        return Numbering(own, counted, offsets[-1])

    def _kept(self) -> Scanned:
        """Without rows that cannot be in the sample, once they are too many.

        Of ``n`` rows that have been seen, of ``N`` rows in all, no more are wanted than ``n / N`` of the sample and what
        chance may add. Where the table does not say ``N``, the rows seen so far may be all.
        """
        total = max(self.n_rows, self.table_rows or 0)
        if not len(self.hashes) or total <= self.size:
            return self
        reach: Array = np.array([at_most(self.size) / total])  # as a share of all hashes
        labels: list[Any] = []
        counts = np.array([self.n_rows])
        if self.counts is not None and self.y is not None:
            labels = sorted(self.counts)
            counts = np.array([self.counts[label] for label in labels])
            # Rare classes have at most a third of the rows, so the others have at most so much more than their share.
            least = int(LEAST_OF_EQUAL_PART * self.size / len(labels))
            most = np.clip(counts / total * self.size / (1.0 - LEAST_OF_EQUAL_PART), least, self.size)
            reach = np.maximum(at_most(most) / counts, reach)
        if len(self.hashes) <= SPARE * float(counts @ np.minimum(reach, 1.0)):
            return self
        own = reach if len(reach) == 1 or self.y is None else reach[np.searchsorted(np.array(labels), self.y)]
        kept = self.hashes * HASH_UNIT <= own
        return self if kept.all() else self.rows(np.flatnonzero(kept))

    def rows(self, rows: Array) -> Scanned:
        """Some of the kept rows, by place."""
        return replace(
            self,
            numbers=self.numbers[rows],
            places=self.places[rows],
            hashes=self.hashes[rows],
            held=self.held.rows(rows),
            y=None if self.y is None else self.y[rows],
            weight=None if self.weight is None else self.weight[rows],
        )

    @property
    def is_whole(self) -> bool:
        """Whether all rows are here, so that there is nothing to draw."""
        return self.n_rows <= self.size

    def task(self, task: str) -> str:
        """The task, read from the target of all rows where it is not given and they say it."""
        if task == "auto" and self.category:
            return "classification"
        if task != "auto" or self.counts is None or self.y is None or self.y.dtype.kind not in "iuf":
            return task
        labels = sorted(self.counts)
        found = read_counts(np.array(labels), np.array([self.counts[label] for label in labels]))
        return "classification" if found == "classes" else "regression"

    def sample(self, *, classes: bool = True) -> tuple[Scanned, Array | None]:
        """The rows of the sample in the order of the table, and how many rows each stands for.

        ``classes`` says whether labels of the target are classes, of which rare ones have more rows than their share.
        """
        if self.is_whole:
            return self.rows(np.argsort(self.numbers, kind="stable")), None
        labels = None if self.counts is None or not classes else sorted(self.counts)
        counts = None if labels is None or self.counts is None else np.array([self.counts[label] for label in labels])
        quota = None if counts is None else quotas(counts, self.size)
        if quota is None or labels is None or counts is None or self.y is None:
            chosen = np.argsort(self.hashes, kind="stable")[: self.size]
            return self.rows(chosen[np.argsort(self.numbers[chosen])]), None
        codes = np.searchsorted(np.array(labels), self.y)
        by_class = np.lexsort((self.hashes, codes))
        sizes = np.bincount(codes, minlength=len(labels))
        place = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        chosen = by_class[place < quota[codes[by_class]]]
        chosen = chosen[np.argsort(self.numbers[chosen])]
        return self.rows(chosen), (counts / np.maximum(quota, 1))[codes[chosen]]


def with_labels(target: Target, counts: dict[Any, int] | None) -> Target:
    """A sample's target that knows all classes of the table, also those of which no row is in the sample."""
    if target.classes is None or target.values is None or counts is None:
        return target
    every = np.array(sorted(counts))
    if len(every) == len(target.classes):
        return target
    return Target(target.task, target.kind, np.searchsorted(every, target.classes)[target.values], every)


def describe(target: Target, counts: dict[Any, int] | None, roles: Roles) -> TargetInfo | None:
    """What the target holds: classes with the rows of the whole table, numbers as the sample has them."""
    info = describe_target(target, None)
    if info is None:
        return None
    if target.kind == "classes" and counts is not None:
        labels = sorted(counts)
        info = replace(info, classes=tuple((label, counts[label]) for label in labels), n_distinct=len(labels))
    return replace(info, name=roles.target[0] if len(roles.target) == 1 and not roles.several else None)


def _counts_of(y: Array, *, classes: bool) -> dict[Any, int] | None:
    """Rows of each label; None where labels are too many, or no labels at all unless they are said to be ``classes``."""
    if not len(y):  # of whatever type
        return {}
    if y.ndim != 1 or y.dtype == object or (y.dtype.kind == "f" and not classes and not are_whole(y)):
        return None
    labels, times = count_values(y)
    return dict(zip(labels.tolist(), times.tolist(), strict=True)) if len(labels) <= MOST_LABELS else None


def _target_of(part: Part, there: Array, n: int) -> tuple[Array | None, bool]:
    """The target in some of the ``n`` rows of a part, and whether it is a category by what its own library says."""
    if part.y is None:
        return None, False
    if n_rows_of(part.y) != n:
        raise ValueError(f"{part.label}: y has {n_rows_of(part.y)} entries, but there are {n} rows.")
    y, category = read_values(part.y if len(there) == n else take_rows(part.y, there))
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    try:
        check_observed(y, part.row(0) + there)
    except ValueError as error:
        raise ValueError(f"{part.label}: {error}") from error
    return y, category


def scan(
    part: Part,
    seed: int,
    size: int | None = None,
    numbering: Numbering | None = None,
    memory_limit: float = MEMORY_LIMIT,
    table_rows: int | None = None,
    classes: bool = False,
    version: str = VERSION,
) -> Scanned:
    """The rows of a part that may be in the sample.

    Parameters
    ----------
    part : Part
        Some rows.
    seed : int
        Seed of the draw.
    size : int, optional
        Rows of the sample; by default as many as the columns leave room for.
    numbering : Numbering, optional
        How rows are numbered; by default by their place in the table.
    memory_limit : float
        Gigabytes that a fit may hold.
    table_rows : int, optional
        Rows of the whole table: of each part so many fewer need be held.
    classes : bool, default=False
        Whether the target is said to be classes, whatever it holds.
    version : str
        Of the library, where fit was called.
    """
    check_version(version, part)
    n = n_rows_of(part.X)
    if size is None:
        size = sample_rows(part.X.shape[1], memory_limit)
    weight = check_part_weights(part, n)
    there = np.arange(n) if weight is None else np.flatnonzero(weight > 0)  # other rows do not count
    y, category = _target_of(part, there, n)
    X = part.X if len(there) == n else take_rows(part.X, there)
    levels = levels_in(X, None if weight is None else weight[there])
    own, numbers = np.arange(len(there)), part.first + there
    weighed: tuple[Weighed, ...] = ()
    whole = True
    if weight is not None:
        weighed, whole = (
            (Weighed(part.first, float(weight.sum()), len(there), n, *largest_and_others(weight)),),
            bool((weight == np.round(weight)).all()),
        )
    if weight is not None and numbering is not None:
        if numbering.counted:
            own, weight = np.repeat(own, weight[there].astype(np.intp)), None
        if part.first not in numbering.offsets:
            raise ValueError(f"{part.label}: {OTHER_ROWS}")
        numbers = numbering.offsets[part.first] + np.arange(len(own))
    hashes, rows = row_hashes(seed, numbers), there[own]
    labels = None if y is None else y[own]
    counts = None if labels is None else _counts_of(labels, classes=classes)
    whole_part = len(rows) == n and (np.diff(rows) == 1).all()
    return Scanned(
        len(numbers),
        counts,
        numbers,
        part.first + rows,
        hashes,
        Held([(part.X, None if whole_part else rows)]),
        labels,
        None if weight is None else weight[rows],
        levels,
        size,
        category,
        weighed,
        whole,
        table_rows if numbering is None else numbering.n_rows,
    )._kept()
