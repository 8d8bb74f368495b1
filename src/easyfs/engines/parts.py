"""Tables that come in parts: what is done with each part, and how it adds up. The same on every engine.

A fit reads the rows twice. First each part is scanned: it hands over the rows with the smallest hashes of their numbers,
which add up to one sample of the whole table, the same wherever it is cut. The plan is made from the sample. Then each
part is summed up under the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from easyfs.common.threads import threads_for
from easyfs.common.types import Array
from easyfs.common.version import VERSION
from easyfs.passes.block import SAMPLE_ROWS, Block
from easyfs.passes.plan import Plan
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import summarise
from easyfs.sample.drawing import LEAST_OF_EQUAL_PART, quotas, row_hashes
from easyfs.tables.encoder import TableEncoder
from easyfs.tables.frames import is_table, missing_in, to_matrix
from easyfs.tables.levels import Levels, added, levels_in
from easyfs.tables.naming import Roles
from easyfs.tables.reading import are_whole, read_counts
from easyfs.tables.target import Target, check_observed, read_values
from easyfs.tables.target_summary import TargetInfo, describe_target
from easyfs.tables.weights import check_weights, drop_weightless

# So many rows more than the sample has may be held before those are left out that cannot be in it.
SPARE = 1.25
# Standard deviations by which rows of a class, in some parts, may be more than expected in the sample.
CHANCE = 6.0
# A target with more different values than this is not counted by class.
MOST_LABELS = 1000

Result = TypeVar("Result")


@dataclass(frozen=True)
class Part:
    """Some rows of a table as they are.

    Attributes
    ----------
    X : ndarray, csr_array, dataframe or Arrow table
        Their columns, without target and weights.
    y, weight : array-like or None
        Their target and weights.
    first : int
        Number of the first of them in the whole table.
    label : str
        What to call the part in a message, such as a file's name.
    start : int or None
        Number of the first of them within what the label names; None where that is the whole table.
    """

    X: Any
    y: Any
    weight: Any
    first: int
    label: str
    start: int | None = None

    def row(self, place: Any) -> int:
        """Number of a row, for a message: within what the label names."""
        return int(place) + (self.first if self.start is None else self.start)


class PartedTable(Protocol):
    """A table in parts, whatever holds it."""

    @property
    def names(self) -> list[str] | None:
        """Names of all its columns; None for an array."""

    @property
    def roles(self) -> Roles:
        """Which of them are target and weights."""

    def reduce(self, function: Callable[[Part], Result]) -> Result:
        """``function`` of each part, added up; the same function is called once or more for each part."""

    def select(self, names: Any) -> Any:
        """The table with some of its columns (names, or positions of an array), of its own kind, without reading it."""


def n_rows_of(X: Any) -> int:
    """Number of rows."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: Array) -> Any:
    """Some rows of an array or a table, by position."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take") and is_table(X):  # Arrow
        return X.take(rows)
    return X[rows]


def stack(parts: list[Any]) -> Any:
    """Rows of several arrays or tables of one kind below each other."""
    parts = [part for part in parts if n_rows_of(part)] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    if not is_table(parts[0]):
        return np.concatenate([np.asarray(part) for part in parts])
    import narwhals as nw  # noqa: PLC0415

    if nw.dependencies.is_pandas_dataframe(parts[0]):
        parts = _of_same_categories(parts)
    return nw.concat([nw.from_native(part, eager_only=True) for part in parts], how="vertical").to_native()


def _of_same_categories(parts: list[Any]) -> list[Any]:
    """Dataframes of pandas whose categories, where they differ, are those of all of them: else they would become text."""
    parts = [part.copy(deep=False) for part in parts]
    for name in parts[0].columns:
        columns = [part[name] for part in parts]
        if not all(str(column.dtype) == "category" for column in columns):
            continue
        if any(column.dtype != columns[0].dtype for column in columns):
            every = list(dict.fromkeys(level for column in columns for level in column.cat.categories))
            for part, column in zip(parts, columns, strict=True):
                part[name] = column.cat.set_categories(every)
    return parts


@dataclass(frozen=True)
class Scanned:
    """Rows of some parts that may be in the sample, and how many rows there are.

    Attributes
    ----------
    n_rows : int
        Rows of the parts, those of weight zero not counted.
    counts : dict or None
        Rows of each label of the target; None where it has too many, or none, or holds numbers that are not whole.
    numbers : ndarray of int
        Number of each kept row in the whole table.
    hashes : ndarray of uint64
        Their hashes.
    X, y, weight : arrays or tables
        The kept rows.
    levels : dict of str to Counter
        Rows of each value of each column that is no number, over all rows.
    size : int
        Rows of the sample.
    category : bool
        Whether the target is a category by what its own library says.
    """

    n_rows: int
    counts: dict[Any, int] | None
    numbers: Array
    hashes: Array
    X: Any
    y: Array | None
    weight: Array | None
    levels: Levels
    size: int = SAMPLE_ROWS
    category: bool = False

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
            np.concatenate([self.hashes, other.hashes]),
            stack([self.X, other.X]),
            None if self.y is None or other.y is None else stack([self.y, other.y]),
            weight,
            added(self.levels, other.levels),
            self.size,
            self.category or other.category,
        )._kept()

    def _kept(self) -> Scanned:
        """Without rows that cannot be in the sample."""
        n = len(self.hashes)
        if n <= SPARE * self.size:
            return self
        kept = np.zeros(n, dtype=bool)
        kept[np.argpartition(self.hashes, self.size)[: self.size]] = True
        if self.counts is not None and self.y is not None:
            # Rare classes have at most a third of the rows, so the others have at most so much more than their share.
            labels, codes = np.unique(self.y, return_inverse=True)
            share = np.array([self.counts[label] for label in labels.tolist()]) / self.n_rows
            expected = share * self.size / (1.0 - LEAST_OF_EQUAL_PART)
            least = int(LEAST_OF_EQUAL_PART * self.size / max(1, len(self.counts)))
            most = np.maximum(least, expected + CHANCE * (np.sqrt(expected) + 1.0))
            by_class = np.lexsort((self.hashes, codes))
            sizes = np.bincount(codes)
            place = np.arange(n) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            kept[by_class[place < most[codes[by_class]]]] = True
        return self if kept.all() else self.rows(np.flatnonzero(kept))

    def rows(self, rows: Array) -> Scanned:
        """Some of the kept rows."""
        return replace(
            self,
            numbers=self.numbers[rows],
            hashes=self.hashes[rows],
            X=take_rows(self.X, rows),
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


def labels_of(y: Any) -> Array | None:
    """A target as an array; None without one."""
    if y is None:
        return None
    if hasattr(y, "to_numpy"):
        try:
            y = y.to_numpy()
        except ValueError:  # Arrow arrays of booleans or text cannot be seen in place
            y = y.to_numpy(zero_copy_only=False)
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype == object and len(values) and all(isinstance(value, str) for value in values.ravel()):
        values = values.astype(str)
    return values


def _counts_of(y: Array) -> dict[Any, int] | None:
    """Rows of each label; None where labels are too many, or no labels at all."""
    if not len(y):  # of whatever type
        return {}
    if y.ndim != 1 or y.dtype == object or (y.dtype.kind == "f" and not are_whole(y)):
        return None
    labels, times = np.unique(y, return_counts=True)
    return dict(zip(labels.tolist(), times.tolist(), strict=True)) if len(labels) <= MOST_LABELS else None


def scan(part: Part, seed: int, size: int = SAMPLE_ROWS) -> Scanned:
    """The rows of a part that may be in the sample."""
    n = n_rows_of(part.X)
    weight = check_part_weights(part, n)
    y, category = (None, False) if part.y is None else read_values(part.y)
    if y is not None and y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y is not None and len(y) != n:
        raise ValueError(f"{part.label}: y has {len(y)} entries, but there are {n} rows.")
    if y is not None:
        try:
            check_observed(y, part.row(0))
        except ValueError as error:
            raise ValueError(f"{part.label}: {error}") from error
    numbers = part.first + np.arange(n)
    found = Scanned(n, None, numbers, row_hashes(seed, numbers), part.X, y, weight, levels_in(part.X), size, category)
    if weight is not None and not (weight > 0).all():  # such rows do not count
        found = found.rows(np.flatnonzero(weight > 0))
    counts = None if found.y is None else _counts_of(found.y)
    return replace(found, n_rows=len(found.numbers), counts=counts)._kept()


def check_part_weights(part: Part, n: int) -> Array | None:
    """Weights of a part; all of them may be zero."""
    if part.weight is None:
        return None
    try:
        weight = np.asarray(labels_of(part.weight), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{part.label}: sample_weight holds no numbers.") from error
    wrong = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(wrong):
        what = "negative" if weight[wrong[0]] < 0 else "missing, or not finite,"
        raise ValueError(f"{part.label}: sample_weight is {what} in row {part.row(wrong[0])}; use 0 to leave a row out.")
    return np.zeros(n) if not weight.any() else check_weights(weight, n)


@dataclass
class Summed:
    """Sums over some parts, with what is missing in them."""

    statistics: Statistics
    missing: Array
    n_rows: int

    def __add__(self, other: Summed) -> Summed:
        return Summed(self.statistics + other.statistics, self.missing + other.missing, self.n_rows + other.n_rows)

    def __iadd__(self, other: Summed) -> Summed:
        self.statistics += other.statistics
        self.missing = self.missing + other.missing
        self.n_rows += other.n_rows
        return self


@dataclass(frozen=True)
class Summing:
    """What each part is summed by: small enough to be sent to where the rows are.

    Attributes
    ----------
    plan : Plan
        How rows are scaled and expanded.
    encoder : TableEncoder or None
        How a table of mixed columns becomes a matrix.
    target : Target
        Task and classes, of the sample.
    """

    plan: Plan
    encoder: TableEncoder | None
    target: Target
    version: str

    def __call__(self, part: Part) -> Summed:
        """The sums over a part."""
        if self.version != VERSION:
            raise RuntimeError(
                f"{part.label}: EasyFS {VERSION} runs there, but {self.version} where fit was called; install one version."
            )
        n = n_rows_of(part.X)
        try:
            matrix = to_matrix(part.X, min_rows=0) if self.encoder is None else self.encoder.transform(part.X, min_rows=0)
            missing = missing_in(matrix) if self.encoder is None else self.encoder.missing_in(part.X, matrix)
            target = self._target(part, n)
            weight = check_part_weights(part, n)
            block = Block(*drop_weightless(matrix, target, weight))
        except ValueError as error:
            raise ValueError(f"{part.label}: {error}") from error
        with threads_for(*block.X.shape):
            return Summed(summarise(self.plan, block), missing, block.n_rows)

    def _target(self, part: Part, n: int) -> Target:
        y = labels_of(part.y)
        if y is None or self.target.kind is None:
            return Target(None, None, None)
        if self.target.kind == "classes":
            known = None if self.target.classes is None else self.target.classes
            if known is not None and known.dtype.kind in "US":
                y = y.astype(str)
            classes, codes = np.unique(y, return_inverse=True)
            return Target(self.target.task, "classes", codes.reshape(-1), classes)
        values = np.asarray(y, dtype=np.float64).reshape(n, -1)
        return Target(self.target.task, "values", values)
