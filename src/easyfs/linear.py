"""What columns tell of the target by themselves and by a linear fit, on a sample of the rows.

What a linear fit predicts takes part in the target, and the penalty it needs says how noisy the target is; what the columns
that stand out leave of the target is where joint effects are looked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from scipy.optimize import brentq

from easyfs.engines.local import block_slices, many_products, map_blocks
from easyfs.relevance import explained_share, orthonormal_basis
from easyfs.rows import ScaledSparse
from easyfs.sampling import counts_rows, draw_rows
from easyfs.stopping import null_relevance

Array = NDArray[Any]

# The sample has so many numbers, within these numbers of rows.
SAMPLE_NUMBERS, FEWEST_ROWS, MOST_ROWS = 1 << 20, 512, 2048
# Columns that are held dense at a time: at least so many, and more where the sample is short.
DENSE_COLUMNS, DENSE_NUMBERS = 4096, 1 << 22
# The penalty of the linear fit is chosen among these, relative to the size of a row, on this many rows.
PENALTIES, PENALTY_ROWS, PENALTY_TIE = np.logspace(-3.0, 1.5, 10), 192, 1e-3
# Equal rows are repeated ones where chance would make this share of them equal at most, and so many are different.
BY_CHANCE, FEWEST_REPEATED = 0.01, 30
# A share of its sum of squares that a target may keep by rounding alone.
ROUNDING = 1e-12
# Columns that stand out are taken out of the target in so many rounds, the best so many at a time, of which those are left
# that are to this share no combination of those before, and no more than one for so many rows.
STRONG_ROUNDS, STRONG_CANDIDATES, COPY, STRONG_ROWS = 3, 16, 0.5, 16


@dataclass(frozen=True)
class Sample:
    """The rows that the search for joint effects, the linear fit and the law of chance look at.

    Attributes
    ----------
    inputs : ndarray or ScaledSparse
        Scaled rows.
    root_weight : ndarray
        Root of the weight of each row: its own, times the number of rows that it stands for.
    own_weight : ndarray or None
        Weight of each row beside that: the user's, where it does not count rows, times how often the row is repeated.
    target : ndarray of shape (n, r)
        Orthonormal basis of the targets; each row carries the root of its weight.
    basis : ndarray of shape (t, r)
        The combinations of the targets that make it.
    repeats : float
        How often a row comes on average, where rows are repeated.
    """

    inputs: Array | ScaledSparse
    root_weight: Array
    own_weight: Array | None
    target: Array
    basis: Array
    repeats: float = 1.0
    _centred: list[Array] = field(default_factory=list, repr=False)
    _energy: list[Array] = field(default_factory=list, repr=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.inputs.shape[0])

    @property
    def weighted(self) -> bool:
        """Whether rows count differently."""
        return bool((self.root_weight != 1.0).any())

    def columns(self, live: Array) -> Iterator[tuple[Array, Array]]:
        """Blocks of live columns as float32, centred, each row times the root of its weight (not to be written to)."""
        places = np.flatnonzero(live)
        for part in block_slices(len(places), max(DENSE_COLUMNS, DENSE_NUMBERS // max(1, self.n))):
            yield places[part], self.take(places[part])

    def plain(self, chosen: Array) -> Array:
        """Some columns as float32, as they are: neither centred nor weighed, so that equal values stay equal."""
        if isinstance(self.inputs, ScaledSparse):
            return self.inputs.take(chosen).astype(np.float32)
        return np.asarray(self.inputs[:, chosen], dtype=np.float32)

    def energy(self, columns: Array, values: Array) -> Array:
        """Sums of squares of a block from :meth:`columns`; those of all columns are kept, as they are asked for often."""
        whole = len(columns) == self.inputs.shape[1]
        if whole and self._energy:
            return self._energy[0]
        energy = np.einsum("ij,ij->j", values, values)
        if whole:
            self._energy.append(energy)
        return np.asarray(energy)

    def take(self, chosen: Array) -> Array:
        """Some columns, as :meth:`columns` gives them."""
        whole = len(chosen) == self.inputs.shape[1]
        if whole and self._centred:
            return self._centred[0]
        root = self.root_weight.astype(np.float32)
        weight = root * root
        if isinstance(self.inputs, ScaledSparse):
            values = self.inputs.take(chosen).astype(np.float32)
        else:
            values = (self.inputs if whole else self.inputs[:, chosen]).astype(np.float32)
        values -= (weight @ values) / weight.sum()
        if self.weighted:
            values *= root[:, None]
        if whole:  # asked for several times
            self._centred.append(values)
        return values


def take_sample(
    inputs: Array | ScaledSparse,
    Y: Array,
    seed: int,
    weight: Array | None = None,
    stands_for: Array | None = None,
    codes: Array | None = None,
    population: float | None = None,
) -> Sample:
    """Draw the sample and make an orthonormal basis of its targets.

    Parameters
    ----------
    inputs : ndarray or ScaledSparse
        Scaled rows.
    Y : ndarray of shape (n, t)
        Their targets, as columns.
    seed : int
        Seed of the draw.
    weight, stands_for : ndarray, optional
        Weight of each row, and how many rows it stands for beside that.
    codes : ndarray of int, optional
        Classes: rare ones are in the sample.
    population : float, optional
        Rows of the table that the given ones were drawn from; by default they are the table.
    """
    size = int(np.clip(SAMPLE_NUMBERS // max(1, inputs.shape[1]), FEWEST_ROWS, MOST_ROWS))
    n = len(Y)
    drawn = draw_rows(n, size, seed, weight, codes)
    first, times = _repeated(inputs[drawn.rows], Y[drawn.rows])
    rows = drawn.rows[first]
    inputs, Y = inputs[rows], Y[rows]
    own = None if drawn.weight is None else drawn.weight[first].astype(np.float64)
    if len(first) < len(drawn.rows):
        own = times * (1.0 if own is None else own)
    w = np.ones(len(Y)) if own is None else own
    if drawn.chance is not None:
        w = w * drawn.chance[first]
    if stands_for is not None:
        w = w * stands_for[rows]
    w = w * (len(w) / w.sum())
    centred = Y.astype(np.float64) - np.average(Y, axis=0, weights=w)
    basis = orthonormal_basis(centred.T @ (centred * w[:, None]))
    root = np.sqrt(w) if (w != 1.0).any() else np.ones(len(w))
    counted = n if weight is None or not counts_rows(weight) else weight.sum()
    n_drawn, total = len(drawn.rows), float(counted if population is None else population)
    partly = len(first) < n_drawn < total
    repeats = max(1.0, total / _different(n_drawn, len(first))) if partly else n_drawn / len(first)
    return Sample(inputs, root, own, (centred @ basis) * root[:, None], basis, repeats)


def _different(n_drawn: int, n_different: int) -> float:
    """How many different rows there are, if so many draws found so many: ``x`` draws of each find ``1 - exp(-x)``."""
    share = n_different / n_drawn
    return n_drawn / float(brentq(lambda x: -np.expm1(-x) / x - share, 1e-9, 1e9))


def _repeated(inputs: Array | ScaledSparse, Y: Array) -> tuple[Array, Array]:
    """Places of the rows that are different, and how often each comes.

    Rows that are drawn with replacement, or written out as often as they count, tell no more than once. Rows of a few
    categories are equal by chance; so equal rows count as repeated only where chance would make far fewer of them equal.
    """
    n, d = inputs.shape
    every = np.arange(n), np.ones(n)
    rng = np.random.default_rng(n)
    # Equal rows have equal sums up to rounding, which may depend on where a row stands.
    along, across = rng.standard_normal((d, 1)), rng.standard_normal((Y.shape[1], 1))
    plain = (
        inputs.dot(along.astype(inputs.dtype)) if isinstance(inputs, ScaledSparse) else inputs.astype(np.float64) @ along
    )
    marks: Array = (plain + Y @ across)[:, 0]
    marks = np.round(marks / max(float(np.abs(marks).max(initial=0.0)), 1e-300), 11)
    _, first, times = np.unique(marks, return_index=True, return_counts=True)
    if len(first) == n:
        return every
    order = np.argsort(first)
    first, times = first[order], times[order]
    if len(first) < min(FEWEST_REPEATED, n / 4):
        return every
    # The logarithm of the chance that two rows are equal, if columns have nothing to do with each other.
    by_chance, observed = np.log(_equal_pairs(Y).min()), np.log(np.square(times / n).sum() - 1.0 / n + 1e-300)
    for part in block_slices(d, max(1, DENSE_NUMBERS // (8 * n))):
        columns = np.arange(part.start, part.stop)
        values = inputs.take(columns) if isinstance(inputs, ScaledSparse) else inputs[:, part]
        by_chance += float(np.log(_equal_pairs(values)).sum())
        if by_chance < np.log(BY_CHANCE) + observed:
            return first, times.astype(np.float64)
    return every


def _equal_pairs(values: Array) -> Array:
    """Share of the pairs of rows that have the same value in each column, those of a row with itself among them."""
    n = len(values)
    ordered = np.sort(values, axis=0)
    new = np.ones(values.shape, dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.array([np.square(np.diff(np.append(np.flatnonzero(column), n)) / n).sum() for column in new.T])


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
        if self.primal:
            _, values = next(rows.columns(live))
            self.gram = (values.T @ values).astype(np.float64)
            return
        self.gram = np.zeros((n, n))
        for _, values in rows.columns(live):
            parts = [values[:, part] for part in block_slices(values.shape[1], 512)]
            with many_products():
                for product in map_blocks(lambda part: np.asarray(part @ part.T), parts):
                    self.gram += product

    def fit(self, penalty: float, target: Array | None = None) -> tuple[Array, Array]:
        """Coefficients of the fit, of shape (d, r), and ``target - X @ coefficients``, what it leaves."""
        target = self.rows.target if target is None else target
        coefficients = np.zeros((self.d, target.shape[1]))
        factor, penalty = self._factor(penalty)
        if self.primal:
            columns, values = next(self.rows.columns(self.live))
            coefficients[columns] = cho_solve(factor, values.T @ target, check_finite=False)
            return coefficients, target - values @ coefficients[columns]
        dual = cho_solve(factor, target, check_finite=False)
        for columns, part in self.rows.columns(self.live):
            coefficients[columns] = part.T @ dual.astype(np.float32)
        return coefficients, penalty * dual

    def _factor(self, penalty: float) -> tuple[tuple[Array, bool], float]:
        """Cholesky factor, and the penalty: a larger one where rounding of the products outweighs the one asked for."""
        while True:
            gram = self.gram.copy()
            gram[np.diag_indices(len(gram))] += penalty
            try:
                return cho_factor(gram, lower=True, overwrite_a=True, check_finite=False), penalty
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
        if self.primal:
            values = next(self.rows.columns(self.live))[1]
            values = values if chosen is None else values[chosen]
            kernel = (values @ values.T).astype(np.float64)
        else:
            kernel = self.gram.copy() if chosen is None else self.gram[np.ix_(chosen, chosen)]
        raw = float(np.square(target).sum())
        if chosen is not None:  # the weights are in how often a row is chosen
            kernel /= np.outer(root[chosen], root[chosen])
            kernel -= kernel.mean(axis=0)
            kernel -= kernel.mean(axis=1, keepdims=True)
            target = target[chosen] / root[chosen, None]
            raw = float(np.square(target).sum())
            target = target - target.mean(axis=0)
        n = float(root @ root) if chosen is None else float(len(chosen))
        size = float(np.trace(kernel)) / n
        if size <= 0.0 or n < 3.0:
            return float(max(1, self.n_live)), 0.0
        values, vectors = eigh(kernel, check_finite=False)
        energy = np.square(vectors.T @ target).sum(axis=1)
        if energy.sum() <= ROUNDING * raw:  # these rows have one value of the target
            return float(max(1, self.n_live)), 0.0
        left = 1.0 / (1.0 + np.maximum(values, 0.0) / (size * PENALTIES[:, None]))
        free = 1.0 - (1.0 + (1.0 - left).sum(axis=1)) / n
        errors = np.where(free > 0, (left**2 @ energy) / np.maximum(free, 1e-9) ** 2, np.inf)
        best = int(np.flatnonzero(errors <= (1.0 + PENALTY_TIE) * errors.min())[-1])  # of equals, the largest
        return float(size * PENALTIES[best]), 1.0 - float(errors[best]) * (1.0 - 1.0 / n) ** 2 / float(energy.sum())


def _spread(weight: Array, size: int) -> Array | None:
    """Places spread evenly over the weight; None where there are no more than ``size``."""
    if len(weight) <= size:
        return None
    edges = np.cumsum(weight)
    points = (np.arange(size) + 0.5) / size * edges[-1]
    return np.asarray(np.minimum(np.searchsorted(edges, points, side="right"), len(weight) - 1))
