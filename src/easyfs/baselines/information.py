"""Entropies of binned columns, and the greedy searches that are made of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np

from easyfs.baselines.base import Problem, Scored, WeightedBaseline
from easyfs.common.parameters import check_choice, check_number
from easyfs.common.threads import block_slices, for_blocks, map_blocks
from easyfs.common.types import Array

BINNINGS = ("width", "frequency")
# Levels are kept as bytes.
MOST_BINS = 256
# Objectives that differ by less than this, relative to the largest of them and to 1, are ties: the first column wins.
TIES = 1e-11
# A sum of this many zeros and ones fits into a byte.
BYTE_ROWS = 255
# Rows that a thread counts at a time.
RUN_ROWS = 4096
# A sum of bytes has a cost of its own, that of counting this many values one by one; and one is needed for each level.
SUM_COST, MANY_LEVELS = 1000, 32
# Entries of the joint counts that are held at a time.
TABLE_ENTRIES = 1 << 20
# Columns whose entropies are taken at a time.
ENTROPY_COLUMNS = 8192
# Columns that a thread bins, or counts one by one, at a time: at most so many, and of about so many values.
THREAD_COLUMNS, THREAD_VALUES = 64, 1 << 20


def check_binning(n_bins: Any, binning: Any) -> None:
    """Check the parameters that say how columns are binned."""
    check_number("n_bins", n_bins, 2, MOST_BINS, whole=True)
    check_choice("binning", binning, BINNINGS)


def equal_width(X: Array, n_bins: int) -> Array:
    """Cut the range of each column into bins of the same width: ``min(floor(n_bins (x - min) / (max - min)), n_bins - 1)``.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Columns that vary.
    n_bins : int
        Number of bins, at most 256.

    Returns
    -------
    ndarray of uint8, shape (n, m)
        The bin of each value.
    """
    low = X.min(axis=0).astype(np.float64)
    place = np.subtract(X, low, dtype=np.float64)
    place *= n_bins
    place /= X.max(axis=0).astype(np.float64) - low
    return np.asarray(np.minimum(place, n_bins - 1), dtype=np.uint8)


def equal_frequency(codes: Array, n_bins: int, weight: Array | None) -> Array:
    """Put values into bins that hold the same number of rows, as far as equal values, which stay together, allow.

    A value belongs to the bin in which the middle of its rows falls, when all rows are put in order of their values and
    that line is cut into equal parts (by weight). A column that varies has at least two bins.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Which of the distinct values, in ascending order, each row has.
    n_bins : int
        Number of bins, at most 256.
    weight : ndarray of shape (n,) or None
        Weights of the rows.

    Returns
    -------
    ndarray of uint8, shape (n,)
        The bin of each row.
    """
    share = np.bincount(codes, weights=weight).astype(np.float64)
    end = np.cumsum(share)
    bins = np.floor_divide(n_bins * (2.0 * end - share), 2.0 * end[-1])
    return np.asarray(np.minimum(bins, n_bins - 1), dtype=np.uint8)[codes]


def bin_columns(X: Array, n_bins: int, binning: str, weight: Array | None) -> Array:
    """Bin each column; one with at most ``n_bins`` distinct values keeps them as its levels.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Columns that vary.
    n_bins : int
        Number of bins, at most 256.
    binning : {"width", "frequency"}
        Bins of the same width, or with the same number of rows.
    weight : ndarray of shape (n,) or None
        Weights of the rows.

    Returns
    -------
    ndarray of uint8, shape (n, m)
        The level of each value.
    """
    levels = np.empty(X.shape, dtype=np.uint8)

    def fill(columns: slice) -> None:
        part = X[:, columns]
        if binning == "width":
            levels[:, columns] = equal_width(part, n_bins)
        for j in np.flatnonzero(_may_have_few(part, n_bins) | (binning == "frequency")):
            values, codes = np.unique(part[:, j], return_inverse=True)
            if len(values) <= n_bins:
                levels[:, columns.start + j] = codes.reshape(-1)
            elif binning == "frequency":
                levels[:, columns.start + j] = equal_frequency(codes.reshape(-1), n_bins, weight)

    for_blocks(fill, _column_blocks(X))
    return levels


def _column_blocks(X: Array) -> list[slice]:
    n, m = X.shape
    return block_slices(m, min(max(THREAD_VALUES // n, 1), THREAD_COLUMNS))


def _may_have_few(X: Array, n_bins: int) -> Array:
    """Columns that have at most ``n_bins`` distinct values in some of the rows."""
    rows = 4 * n_bins + 64
    some = np.sort(X[:: max(1, len(X) // rows)][:rows], axis=0)
    return np.asarray(1 + np.count_nonzero(some[1:] != some[:-1], axis=0) <= n_bins)


def bin_target(problem: Problem, n_bins: int) -> Array:
    """The codes of the classes; numbers become bins of equal frequency, or their own levels where they are few."""
    if problem.is_classes:
        return problem.y
    values, codes = np.unique(problem.y[:, 0], return_inverse=True)
    codes = codes.reshape(-1)
    return codes if len(values) <= n_bins else equal_frequency(codes, n_bins, problem.weight)


class Binned:
    """Binned columns, and their joint entropies with columns of levels.

    Entropies are those of the observed shares (plug-in estimates), in bits.

    Parameters
    ----------
    levels : ndarray of uint8, shape (n, m)
        The level of each value.
    weight : ndarray of shape (n,), optional
        Weights of the rows.
    """

    def __init__(self, levels: Array, weight: Array | None = None):
        self.levels, self.weight = levels, weight
        self.n_levels = int(levels.max()) + 1
        self.total = float(len(levels) if weight is None else weight.sum())
        self._logs = _times_log(np.arange(len(levels) + 1)) if weight is None else None

    def entropies(self, inner: Array, outer: Array) -> tuple[Array, Array]:
        """Entropy of each column together with ``inner``, and with both ``inner`` and ``outer``.

        Parameters
        ----------
        inner, outer : ndarray of int, shape (n,)
            Levels from 0 on; zeros throughout to leave one out.

        Returns
        -------
        tuple of two ndarrays of shape (m,)
        """
        m = self.levels.shape[1]
        n_outer = int(outer.max()) + 1
        cell = inner.astype(np.intp) * n_outer + outer
        present = np.bincount(cell) > 0
        occupied, cell = np.flatnonzero(present), (np.cumsum(present) - 1)[cell]
        # Cells of the same inner level stand together.
        first = np.append(np.flatnonzero(np.diff(occupied // n_outer, prepend=-1)), len(occupied)).tolist()
        pair, triple = np.empty(m), np.empty(m)
        width = min(max(TABLE_ENTRIES // (len(occupied) * self.n_levels), 1), ENTROPY_COLUMNS)
        for columns in block_slices(m, width):
            counts = self._counts(columns, cell, len(occupied))
            triple[columns] = self._entropy(counts)
            if n_outer > 1:
                counts = np.stack([np.add.reduce(counts[a:b], axis=0, dtype=counts.dtype) for a, b in pairwise(first)])
            pair[columns] = self._entropy(counts) if n_outer > 1 else triple[columns]
        return pair, triple

    def _counts(self, columns: slice, cell: Array, n_cells: int) -> Array:
        """Rows (or weight) of each cell in which a column has a level; of shape (cells, levels, columns)."""
        levels = self.levels[:, columns]
        sizes = np.bincount(cell, minlength=n_cells)
        sums = int(np.sum(-(-sizes // BYTE_ROWS))) * self.n_levels
        if self.weight is None and self.n_levels < MANY_LEVELS and sums * SUM_COST < levels.size:
            return self._counts_by_cell(levels, cell, sizes)
        return self._counts_by_column(levels, cell, n_cells)

    def _counts_by_column(self, levels: Array, cell: Array, n_cells: int) -> Array:
        counts = np.empty((n_cells, self.n_levels, levels.shape[1]), dtype=np.int64 if self.weight is None else np.float64)
        base = cell * self.n_levels

        def fill(columns: slice) -> None:
            for j, column in enumerate(np.ascontiguousarray(levels[:, columns].T), columns.start):
                found = np.bincount(base + column, self.weight, n_cells * self.n_levels)
                counts[:, :, j] = found.reshape(n_cells, self.n_levels)

        for_blocks(fill, _column_blocks(levels))
        return counts

    def _counts_by_cell(self, levels: Array, cell: Array, sizes: Array) -> Array:
        """Sums of bytes over the rows of a cell, for all columns at once: the fastest way where cells are few."""
        # Short integers are sorted digit by digit.
        rows = np.argsort(cell.astype(np.uint16) if len(sizes) < 1 << 16 else cell, kind="stable")
        shape = self.n_levels, levels.shape[1]

        def count(run: list[tuple[int, int, int]]) -> tuple[int, Array]:
            lowest = run[0][0]
            found = np.zeros((run[-1][0] - lowest + 1, *shape), dtype=np.int32)
            for which, start, stop in run:
                part = levels[rows[start:stop]]
                for level in range(self.n_levels):
                    hits = (part == level).view(np.uint8)
                    found[which - lowest, level] += np.add.reduce(hits, axis=0, dtype=np.uint8)
            return lowest, found

        counts = np.zeros((len(sizes), *shape), dtype=np.int32)
        for lowest, found in map_blocks(count, _runs(sizes)):
            counts[lowest : lowest + len(found)] += found
        return counts

    def _entropy(self, counts: Array) -> Array:
        terms = _times_log(counts) if self._logs is None else self._logs.take(counts, mode="clip")
        summed = np.add.reduce(terms.reshape(-1, counts.shape[2]), axis=0)
        return np.asarray(np.log2(self.total) - summed / self.total)


def _runs(sizes: Array) -> Iterator[list[tuple[int, int, int]]]:
    """Pieces (cell, start, stop) of no more rows than a byte can count; about ``RUN_ROWS`` rows a list."""
    run: list[tuple[int, int, int]] = []
    begun = 0
    for cell, (low, high) in enumerate(pairwise([0, *np.cumsum(sizes).tolist()])):
        for start in range(low, high, BYTE_ROWS):
            stop = min(start + BYTE_ROWS, high)
            run.append((cell, start, stop))
            if stop - begun >= RUN_ROWS:
                yield run
                run, begun = [], stop
    if run:
        yield run


def _times_log(counts: Array) -> Array:
    """``c log2 c``, zero for zero."""
    counts = counts.astype(np.float64)
    return np.asarray(counts * np.log2(np.where(counts > 0, counts, 1.0)))


@dataclass(frozen=True)
class Shared:
    """What each column shares with a selected one, in bits.

    Attributes
    ----------
    redundancy : ndarray of shape (m,)
        ``I(s; f)``.
    conditional : ndarray of shape (m,)
        ``I(s; f | y)``.
    joint : ndarray of shape (m,)
        ``I(f, s; y)``.
    entropy : ndarray of shape (m,)
        ``H(f, s, y)``.
    """

    redundancy: Array
    conditional: Array
    joint: Array
    entropy: Array


class Information:
    """Relevance of binned columns, and what they share with a selected one.

    Parameters
    ----------
    binned : Binned
        The columns.
    target : ndarray of int, shape (n,)
        Levels of the target.
    """

    def __init__(self, binned: Binned, target: Array):
        self.binned, self.target = binned, target
        self.nothing = np.zeros(len(target), dtype=np.uint8)
        self.own, self.with_target = binned.entropies(self.nothing, target)
        shares = np.bincount(target, weights=binned.weight)
        self.target_entropy = float(np.log2(binned.total) - _times_log(shares).sum() / binned.total)
        self.relevance = np.maximum(self.own + self.target_entropy - self.with_target, 0.0)

    def shared(self, column: int) -> Shared:
        """What each column shares with this one."""
        pair, triple = self.binned.entropies(self.binned.levels[:, column], self.target)
        return Shared(
            self.own + self.own[column] - pair,
            self.with_target + self.with_target[column] - triple - self.target_entropy,
            pair + self.target_entropy - triple,
            triple,
        )

    def redundancy(self, column: int) -> Array:
        """``I(s; f)`` of each column with this one."""
        pair, _ = self.binned.entropies(self.binned.levels[:, column], self.nothing)
        return np.asarray(self.own + self.own[column] - pair)


class Criterion(Protocol):
    """What a greedy search asks for."""

    def objective(self) -> tuple[Array, Array]:
        """Value of each column as the next one, and the columns that wait until no other is left."""
        ...

    def take(self, column: int) -> None:
        """Select a column."""
        ...


def greedy(criterion: Criterion, n_columns: int, count: int, include: Array, scale: float) -> Scored:
    """Select the best column again and again, the first of the table where several are equally good.

    Parameters
    ----------
    criterion : Criterion
        Values the columns.
    n_columns, count : int
        How many columns there are, and how many to select.
    include : ndarray of int
        Columns that are selected before all others.
    scale : float
        Values are ties within ``TIES`` times the largest of them, or times this if it is larger.

    Returns
    -------
    Scored
        The value of each column when it was selected; of the others, which follow in this order, the value as the next. A
        column that had to wait has the lowest value of those that had not.
    """
    scores = np.empty(n_columns)
    left, waited = np.ones(n_columns, dtype=bool), np.zeros(n_columns, dtype=bool)
    order: list[int] = []
    value, waits = criterion.objective()
    for step in range(max(count, len(include))):
        if step < len(include):
            best = int(include[step])
        else:
            open_columns = np.flatnonzero(left & ~waits if (left & ~waits).any() else left)
            best = int(open_columns[_first_best(value[open_columns], scale)])
        scores[best], waited[best] = value[best], waits[best]
        left[best] = False
        order.append(best)
        if not left.any():
            break
        criterion.take(best)
        value, waits = criterion.objective()
    scores[left], waited[left] = value[left], waits[left]
    scores[waited] = scores[~waited].min()
    for part in (left & ~waits, left & waits):
        columns = np.flatnonzero(part)
        order.extend(columns[_by_value(value[columns], scale)].tolist())
    return Scored(scores, np.array(order, dtype=np.intp))


def _first_best(value: Array, scale: float) -> int:
    best = value.max()
    return int(np.argmax(value >= best - TIES * max(abs(best), scale)))


def _by_value(value: Array, scale: float) -> Array:
    """Largest first; values that are ties in the order of the table."""
    order = np.argsort(-value, kind="stable")
    ordered = value[order]
    step = ordered[:-1] - ordered[1:] > TIES * np.maximum(np.abs(ordered[:-1]), scale)
    place = np.empty(len(value), dtype=np.intp)
    place[order] = np.concatenate([[0], np.cumsum(step)])[: len(value)]
    return np.argsort(place, kind="stable")


class InformationSelector(WeightedBaseline):
    """Greedy search by a sum of shared information; a subclass says what is added up and what it makes of the sum."""

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        n_bins: int = 5,
        binning: Literal["width", "frequency"] = "width",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.n_bins = n_bins
        self.binning = binning

    @staticmethod
    def _term(shared: Shared) -> Array:
        """What a selected column adds to the sum."""
        raise NotImplementedError

    @staticmethod
    def _objective(relevance: Array, total: Array, n_selected: int) -> Array:
        """Value of each column, from its relevance and the sum over the selected ones."""
        raise NotImplementedError

    def _check_parameters(self) -> None:
        check_binning(self.n_bins, self.binning)

    def _score(self, problem: Problem) -> Scored:
        m = problem.shape[1]
        levels = bin_columns(problem.X, self.n_bins, self.binning, problem.weight)
        information = Information(Binned(levels, problem.weight), bin_target(problem, self.n_bins))
        return greedy(_Sum(information, self), m, problem.count or m, problem.include, 1.0)


class _Sum:
    """Criterion of an :class:`InformationSelector`."""

    def __init__(self, information: Information, selector: InformationSelector):
        self.information, self.selector = information, selector
        self.total = np.zeros(len(information.relevance))
        self.no_waiting = np.zeros(len(self.total), dtype=bool)
        self.n_selected = 0

    def objective(self) -> tuple[Array, Array]:
        return self.selector._objective(self.information.relevance, self.total, self.n_selected), self.no_waiting

    def take(self, column: int) -> None:
        self.total += self.selector._term(self.information.shared(column))
        self.n_selected += 1
