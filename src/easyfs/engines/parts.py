"""Tables that come in parts: what is done with each part, and how it adds up. The same on every engine.

A fit reads the rows twice. First each part is scanned: it hands over the rows with the smallest hashes of their numbers,
which add up to one sample of the whole table, the same wherever it is cut. The plan is made from the sample. Then each
part is summed up under the plan.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from easyfs.common.threads import threads_for
from easyfs.common.types import Array
from easyfs.common.version import VERSION
from easyfs.engines.torch import kernels_on
from easyfs.passes.block import Block
from easyfs.passes.plan import Plan
from easyfs.passes.screening import Marginals, marginals
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import summarise
from easyfs.tables.columns import numbers_of, series_of
from easyfs.tables.encoder import TableEncoder
from easyfs.tables.frames import (
    InfinityError,
    as_numpy,
    column_names,
    is_table,
    missing_in,
    n_rows_of,
    take_rows,
    to_matrix,
)
from easyfs.tables.naming import Roles
from easyfs.tables.reading import code_values
from easyfs.tables.target import Target
from easyfs.tables.weights import as_weights, check_weights, no_numbers_in, no_weights_of_one

Result = TypeVar("Result")
Progress = Callable[[int], None]


@dataclass(frozen=True, eq=False)
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

    @property
    def n_rows(self) -> int | None:
        """Rows that a sample is drawn from; None where that is not known before they are read, or where weights say it."""

    def reduce(self, function: Callable[[Part], Result], progress: Progress | None = None) -> Result:
        """``function`` of each part, added up; the same function is called once or more for each part.

        ``progress`` is called with the number of rows done so far after each part that is worked on here; a cluster has
        means of its own to show how far it is.
        """

    def select(self, names: Any) -> Any:
        """The table with some of its columns (names, or positions of an array), of its own kind, without reading it."""


def say_where_infinite(part: Part) -> int:
    """Raise an error that names the part, if it holds infinity."""
    if is_table(part.X):
        columns = zip(column_names(part.X) or [], series_of(part.X), strict=True)
        held = [(name, numbers_of(column)) for name, column in columns if column.dtype.is_float()]
    else:
        X: Any = part.X.tocsc() if sparse.issparse(part.X) else np.asarray(part.X)
        held = [(j, X[:, [j]].toarray()[:, 0] if sparse.issparse(X) else X[:, j]) for j in range(X.shape[1])]
    weight = check_part_weights(part, n_rows_of(part.X))
    for name, values in held:
        infinite = np.flatnonzero(np.isinf(values) & (True if weight is None else weight > 0))
        if len(infinite):
            raise InfinityError(
                f"{part.label}: column {name!r} holds infinity in row {part.row(infinite[0])}. Replace it by NaN (missing) "
                "or by a finite bound."
            )
    return 0


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


def labels_of(y: Any) -> Array | None:
    """A target as an array; None without one."""
    if y is None:
        return None
    values = np.asarray(as_numpy(y))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.dtype == object and len(values) and all(isinstance(value, str) for value in values.ravel()):
        values = values.astype(str)
    return values


def check_part_weights(part: Part, n: int) -> Array | None:
    """Weights of a part; all of them may be zero."""
    if part.weight is None:
        return None
    try:
        weight = as_weights(labels_of(part.weight))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{part.label}: sample_weight{no_numbers_in(part.weight)}: give one number for each row."
        ) from error
    wrong = np.flatnonzero(~np.isfinite(weight) | (weight < 0))
    if len(wrong):
        what = "negative" if weight[wrong[0]] < 0 else "missing, or not finite,"
        raise ValueError(f"{part.label}: sample_weight is {what} in row {part.row(wrong[0])}; use 0 to leave a row out.")
    return np.zeros(n) if not weight.any() else check_weights(weight, n)


def check_version(version: str, part: Part) -> None:
    """The version where fit was called is the one that runs here."""
    if version != VERSION:
        raise RuntimeError(
            f"{part.label}: EasyFS {VERSION} runs there, but {version} where fit was called; install one version."
        )


# What to do about a table whose rows are others when it is read again.
OTHER_ROWS = (
    "it has other rows than when it was first read; write a table that is other rows at each reading (a random filter or "
    "sample, rows added meanwhile) to files first, and fit those."
)


def check_same_rows(first: int, again: int) -> None:
    """A table has as many rows each time it is read: otherwise sample and sums are not of one table."""
    if first != again:
        raise ValueError(f"X had {first:,} rows when it was first read, and {again:,} when it was read again: {OTHER_ROWS}")


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


@dataclass(frozen=True, eq=False)
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
    version : str
        Of the library, where fit was called.
    columns : ndarray of int, optional
        Columns of the matrix that the plan is for, where it is not for all.
    device : str, optional
        Where parts are summed up; by default on the processor.
    """

    plan: Plan
    encoder: TableEncoder | None
    target: Target
    version: str
    columns: Array | None = None
    device: str | None = None

    def __call__(self, part: Part) -> Summed:
        """The sums over a part."""
        block, missing = self._block(part)
        with threads_for(*block.X.shape):
            return Summed(summarise(self.plan, block, kernels_on(self.device)), missing, block.n_rows)

    def _block(self, part: Part) -> tuple[Block, Array]:
        """The rows of a part as numbers, and how many are missing in each column; rows of weight zero are not there."""
        check_version(self.version, part)
        try:
            weight = check_part_weights(part, n_rows_of(part.X))
            if weight is not None and not weight.all():
                rows = np.flatnonzero(weight)
                labels = labels_of(part.y)
                part = replace(part, X=take_rows(part.X, rows), y=None if labels is None else labels[rows])
                weight = weight[rows]
            convert = to_matrix if self.encoder is None else self.encoder.transform
            matrix = convert(part.X, min_rows=0, by_column=True)
            missing = missing_in(matrix) if self.encoder is None else self.encoder.missing_in(part.X, matrix)
            target = self._target(part, matrix.shape[0])
            if self.columns is not None:
                matrix = matrix[:, self.columns]
        except ValueError as error:
            raise ValueError(f"{part.label}: {error}") from error
        return Block(matrix, target, no_weights_of_one(weight)), missing

    def _target(self, part: Part, n: int) -> Target:
        y = labels_of(part.y)
        if y is None or self.target.kind is None:
            return Target(None, None, None)
        if self.target.kind == "classes":
            known = None if self.target.classes is None else self.target.classes
            if known is not None and known.dtype.kind in "US":
                y = y.astype(str)
            classes, codes = code_values(y)
            return Target(self.target.task, "classes", codes, classes)
        values = np.asarray(y, dtype=np.float64).reshape(n, y.shape[1] if y.ndim == 2 else 1)
        return Target(self.target.task, "values", values)


@dataclass(frozen=True, eq=False)
class Measuring(Summing):
    """The sums of each column by itself."""

    def __call__(self, part: Part) -> Marginals:  # type: ignore[override]
        """The sums over a part."""
        block, _ = self._block(part)
        with threads_for(*block.X.shape):
            return marginals(self.plan, block)
