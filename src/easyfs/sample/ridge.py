"""What columns tell of the target by themselves and by a linear fit, on a sample of the rows.

What a linear fit predicts takes part in the target, and the penalty it needs says how noisy the target is; what the columns
that stand out leave of the target is where joint effects are looked for.
"""

from __future__ import annotations

from contextlib import nullcontext
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from easyfs.common.threads import add_gram, block_slices, map_blocks, threads_of_blas
from easyfs.common.types import Array
from easyfs.sample.rows import DENSE_COLUMNS, Sample
from easyfs.stages.relevance import explained_share, null_relevance, orthonormal_basis

# The penalty of the linear fit is chosen among these, relative to the size of a row, on this many rows.
PENALTIES, PENALTY_ROWS, PENALTY_TIE = np.logspace(-3.0, 1.5, 10), 192, 1e-3
# Larger matrices are factorised by all threads.
LARGE = 2048
# A share of its sum of squares that a target may keep by rounding alone; and of the largest, a direction of the columns.
ROUNDING = 1e-12
# Columns that stand out are taken out of the target in so many rounds, the best so many at a time, of which those are left
# that are to this share no combination of those before, and no more than one for so many rows.
STRONG_ROUNDS, STRONG_CANDIDATES, COPY, STRONG_ROWS = 3, 16, 0.5, 16


def input_relevance(rows: Sample, live: Array, target: Array) -> Array:
    """Relevance of each input by itself to an orthonormal target, on the sample."""
    relevance = np.zeros(len(live))
    for columns, values in rows.columns(live):
        cross = values.T @ target.astype(np.float32)
        relevance[columns] = explained_share(cross, rows.energy(columns, values))
    return relevance


class LinearFit:
    """Ridge fits of the target on the live columns of the sample, for any penalty.

    Parameters
    ----------
    rows : Sample
        The sample.
    live : ndarray of bool
        Columns that take part.
    """

    def __init__(self, rows: Sample, live: Array):
        self.rows, self.live = rows, live
        n, d = rows.inputs.shape
        self.n, self.d, self.n_live = n, d, int(live.sum())
        self.primal = 0 < self.n_live < min(n, DENSE_COLUMNS)

    @cached_property
    def gram(self) -> Array:
        """Products of the columns with each other, or, of many columns, of the rows."""
        gram: Array = np.zeros((self.n_live, self.n_live) if self.primal else (self.n, self.n))
        for _, values in self.rows.columns(self.live):
            if self.primal:
                add_gram(gram, [values])
                continue
            parts = [values[:, part] for part in block_slices(values.shape[1], 512)]
            for product in map_blocks(lambda part: np.asarray(part @ part.T), parts):
                gram += product
        return gram

    def fit(self, penalty: float) -> Array:
        """Coefficients of the fit, of shape (d, r)."""
        target = self.rows.target
        coefficients = np.zeros((self.d, target.shape[1]))
        factor = self._factor(penalty)
        if self.primal:
            columns, values = next(self.rows.columns(self.live))
            coefficients[columns] = cho_solve(factor, values.T @ target.astype(np.float32), check_finite=False)
            return coefficients
        dual = cho_solve(factor, target, check_finite=False).astype(np.float32)
        for columns, part in self.rows.columns(self.live):
            coefficients[columns] = part.T @ dual
        return coefficients

    def _factor(self, penalty: float) -> tuple[Array, bool]:
        """Cholesky factor, with a larger penalty where rounding of the products outweighs the one asked for."""
        while True:
            gram = self.gram.copy()
            gram[np.diag_indices(len(gram))] += penalty
            try:
                with threads_of_blas() if len(gram) > LARGE else nullcontext():
                    factor, lower = cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
                return factor, lower
            except LinAlgError:
                penalty *= 10.0

    def without_strong_columns(self) -> tuple[Array, list[int]]:
        """What the columns that stand out leave of the target, fitted without a penalty, and which they are."""
        left = target = self.rows.target
        chosen: list[int] = []
        values = np.empty((self.n, 0))
        for _ in range(STRONG_ROUNDS):
            direction = left @ orthonormal_basis(left.T @ left)
            if not direction.shape[1]:
                break
            relevance = input_relevance(self.rows, self.live, direction)
            relevance[chosen] = 0.0
            candidates = np.argsort(-relevance, kind="stable")[:STRONG_CANDIDATES]
            candidates = candidates[relevance[candidates] > null_relevance(self.n, direction.shape[1], self.n_live)]
            if not len(candidates):
                break
            mask = np.zeros(self.d, dtype=bool)
            mask[candidates] = True
            places, found = next(self.rows.columns(mask))
            for j, column in zip(candidates, found.T[np.searchsorted(places, candidates)].astype(np.float64), strict=True):
                beyond = column - values @ (values.T @ column)
                size = np.linalg.norm(beyond)
                if size > COPY * np.linalg.norm(column) and len(chosen) < self.n / STRONG_ROWS:
                    values = np.column_stack([values, beyond / size])
                    chosen.append(int(j))
            left = target - values @ (values.T @ target)
        return left, chosen

    def best_penalty(self) -> tuple[float, float]:
        """The penalty with the least generalised cross-validation error, and the share of the target predicted with it.

        On a part of the rows: relative to the size of the columns, the best penalty depends on noise and signal, not on the
        number of rows.
        """
        root, target = self.rows.root_weight, self.rows.target
        chosen = _spread(root * root, PENALTY_ROWS)
        raw = float(np.square(target).sum())
        if chosen is not None:  # the weights are in how often a row is chosen
            target = target[chosen] / root[chosen, None]
            raw = float(np.square(target).sum())
            target = target - target.mean(axis=0)
        n = float(root @ root) if chosen is None else float(len(chosen))
        values, energy = self._directions(chosen, target)
        size = float(values.sum()) / n
        if size <= 0.0 or n < 3.0:
            return float(max(1, self.n_live)), 0.0
        if energy.sum() <= ROUNDING * raw:  # these rows have one value of the target
            return float(max(1, self.n_live)), 0.0
        left = 1.0 / (1.0 + values / (size * PENALTIES[:, None]))
        free = 1.0 - (1.0 + (1.0 - left).sum(axis=1)) / n
        errors = np.where(free > 0, (left**2 @ energy) / np.maximum(free, 1e-9) ** 2, np.inf)
        best = int(np.flatnonzero(errors <= (1.0 + PENALTY_TIE) * errors.min())[-1])  # of equals, the largest
        return float(size * PENALTIES[best]), 1.0 - float(errors[best]) * (1.0 - 1.0 / n) ** 2 / float(energy.sum())

    def _directions(self, chosen: Array | None, target: Array) -> tuple[Array, Array]:
        """Sum of squares of the columns along each of their principal directions, and that of the target.

        Of some rows, without their weights, or of all. What the target has along no direction of the columns comes last.
        """
        root = self.rows.root_weight
        if self.primal:
            rows = next(self.rows.columns(self.live))[1]
            if chosen is not None:
                rows = rows[chosen] / root[chosen, None]
                rows -= rows.mean(axis=0)
            rows = rows.astype(np.float64)
            if rows.shape[1] < len(rows):
                return _by_columns(rows, target)
            kernel = rows @ rows.T
        else:
            kernel = self.gram.copy()
            if chosen is not None:
                kernel = kernel[np.ix_(chosen, chosen)] / np.outer(root[chosen], root[chosen])
                kernel -= kernel.mean(axis=0)
                kernel -= kernel.mean(axis=1, keepdims=True)
        squares, vectors = np.linalg.eigh(kernel)
        return np.maximum(squares, 0.0), np.square(vectors.T @ target).sum(axis=1)


def _by_columns(rows: Array, target: Array) -> tuple[Array, Array]:
    """What :meth:`LinearFit._directions` gives, from the products of the columns, where these are fewer than the rows."""
    squares, vectors = np.linalg.eigh(rows.T @ rows)
    kept = squares > ROUNDING * max(float(squares[-1]), 0.0)
    squares = squares[kept]
    energy = np.square((rows @ (vectors[:, kept] / np.sqrt(squares))).T @ target).sum(axis=1)
    beside = max(float(np.square(target).sum() - energy.sum()), 0.0)
    return np.append(squares, 0.0), np.append(energy, beside)


def _spread(weight: Array, size: int) -> Array | None:
    """Places spread evenly over the weight; None where there are no more than ``size``."""
    if len(weight) <= size:
        return None
    edges = np.cumsum(weight)
    points = (np.arange(size) + 0.5) / size * edges[-1]
    return np.asarray(np.minimum(np.searchsorted(edges, points, side="right"), len(weight) - 1))
