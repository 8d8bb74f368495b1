"""Manhattan distances of rows, quick where columns have few values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from easyfs.common.threads import block_rows, block_slices
from easyfs.common.types import Array

# A column with at most this many distinct values may be taken for categories.
FEW_VALUES = 10
# Steps between values that are multiples of this have sums that are exact in single precision, up to 2^24 such parts.
PART = 2.0**-6
# Bytes of rows that distances are taken to at a time: they stay in a core's own cache.
TILE_BYTES = 1 << 19


@dataclass(frozen=True)
class Steps:
    """Manhattan distances over columns of few values, by products of matrices: several times as fast as one by one.

    Between neighbouring values of a column lies a step. How far two rows are apart is the sum of the steps that one of them
    is above and the other is not: those that either is above, less twice those that both are.

    Attributes
    ----------
    above : ndarray of bool, shape (n, t)
        Which rows are above each step.
    sizes : ndarray of shape (t,)
        Heights of the steps; in single precision where their sums are exact in it.
    """

    above: Array
    sizes: Array

    def between(self, rows: slice | Array, others: slice) -> Array:
        """Distances of some rows to others."""
        n, m = len(self.above[rows]), len(self.above[others])
        D = np.zeros((n, m), dtype=self.sizes.dtype)
        for part in block_slices(len(self.sizes), block_rows(m, D.itemsize)):
            own, other = self.above[rows][:, part] * self.sizes[part], self.above[others, part].astype(D.dtype)
            D -= 2.0 * (own @ other.T)
            D += own.sum(axis=1)[:, None]
            D += other @ self.sizes[part]
        return D.astype(np.float64)


@dataclass(frozen=True)
class Distance:
    """Manhattan distance of rows.

    Attributes
    ----------
    steps : Steps
        Columns of few values, of either kind.
    numeric : ndarray of shape (n, a)
        Other columns that count by ``|x - x'|``.
    discrete : ndarray of shape (n, b)
        Other columns that count where they differ.
    discrete_weight : float
        How much those count.
    """

    steps: Steps
    numeric: Array
    discrete: Array
    discrete_weight: float

    def between(self, rows: slice | Array, others: slice) -> Array:
        """Distances of some rows to others."""
        D = self.steps.between(rows, others)
        if self.numeric.shape[1]:
            _add_distances(D, self.numeric[rows], self.numeric[others], "cityblock", 1.0)
        if self.discrete.shape[1]:
            weight = self.discrete_weight * self.discrete.shape[1]
            _add_distances(D, self.discrete[rows], self.discrete[others], "hamming", weight)
        return D


def _add_distances(D: Array, rows: Array, others: Array, metric: str, weight: float) -> None:
    for part in block_slices(len(others), max(16, TILE_BYTES // (8 * others.shape[1]))):
        apart = cdist(rows, others[part], metric)
        D[:, part] += apart if weight == 1.0 else weight * apart


def distance(numeric: Array, discrete: Array, discrete_weight: float) -> Distance:
    """Split the columns into those of few and those of many values."""
    few_numeric, few_discrete = few_values(numeric), few_values(discrete)
    above = [np.empty((len(numeric), 0), dtype=bool)]
    sizes = [np.empty(0)]
    for column in numeric.T[few_numeric]:
        values = np.unique(column)
        above.append(column[:, None] >= values[1:])
        sizes.append(np.diff(values))
    for column in discrete.T[few_discrete]:  # two values that differ are above a step each
        values = np.unique(column)
        above.append(column[:, None] == values)
        sizes.append(np.full(len(values), discrete_weight / 2.0))
    heights = np.concatenate(sizes)
    parts = heights / PART
    exact = (parts == np.rint(parts)).all() and 2.0 * parts.sum() < 1 << 24
    return Distance(
        Steps(np.hstack(above), heights.astype(np.float32 if exact else np.float64)),
        numeric.take(np.flatnonzero(~few_numeric), axis=1) if few_numeric.any() else numeric,
        discrete.take(np.flatnonzero(~few_discrete), axis=1),
        discrete_weight,
    )


def few_values(X: Array) -> Array:
    """Columns with few distinct values."""
    few = np.ones(X.shape[1], dtype=bool)
    for n in (5 * FEW_VALUES, len(X)):  # most columns of many values show it within a few rows
        few[few] = [len(np.unique(column)) <= FEW_VALUES for column in X[:n, few].T]
    return few
