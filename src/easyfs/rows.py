"""Rows of a table, scaled: what the statistics are made of.

A column is z-scored with the mean and the standard deviation of its observed values; a missing value becomes
zero, the mean. Dense rows are scaled block by block; sparse rows stay sparse, and the centring is carried through
each product instead: ``X'b = (S'b - center * sum(b)) / scale``.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from easyfs.engines.local import PANEL_COLUMNS, block_rows, block_slices, for_blocks, large_product, map_blocks

Array = NDArray[Any]

# A spread below this multiple of the mean is rounding, not information.
ROUNDING = 16 * np.finfo(np.float64).eps
# Outside this range a scale, or its inverse, does not fit into float32.
FLOAT32_SCALES = (1e-30, 1e30)
# Rows whose columns lie further than this from zero, in standard deviations, are summed in float64.
FLOAT32_MEAN = 8.0
# Columns whose squares do not fit into float64 are measured in these units; a spread below the second has no inverse.
HUGE, TINY = 1e200, 1e-305
# The squares of numbers below this lose digits, or become zero.
SMALLEST_ROOT = 1e-145
# Sums of squares below this may have lost squares that do not fit into float32.
FLOAT32_TINY = 1e-30
# Rows that are looked at to see whether a block lies far from zero.
CHECKED_ROWS = 128
# Extreme values inflate a spread: where it falls to less than this share once they are clipped, it is measured anew from
# the clipped values, again and again, but only until more than so many of the rows would be clipped.
INFLATED, MOST_CLIPPED = 0.9, 0.01
# Columns of a product with the rows that one thread computes at a time: enough to run at full speed.
PRODUCT_COLUMNS = 512
# Stored entries of a sparse table that are worked on at a time.
BLOCK_ENTRIES = 1 << 20
# Bytes of a sparse table's rows that are made dense at a time, and of products with all of them.
DENSE_BYTES = 1 << 26
# How many products of dense rows take the time of one product of two stored entries.
PRODUCT_COST = 100.0
# Sums of squares of stored entries lose digits by the square of a mean, in standard deviations: no more than two.
FAR_MEAN = 8.0


@dataclass(frozen=True)
class Scaling:
    """Centre and spread of each column, as the network sees them.

    Attributes
    ----------
    center, scale : ndarray of shape (d,)
        Mean and standard deviation (ddof 0) of the observed values. A column without spread keeps its own size as
        its scale, so that a later row which does differ still counts.
    constant : ndarray of bool, shape (d,)
        Columns without spread in the rows this was measured on.
    dtype : dtype
        float32 for dense float32 tables, float64 for all others.
    clip : float
        Values further than this from the centre, in units of the scale, count as this far, so that a few rows do not decide
        alone. Columns without spread are left as they are.
    unseen : ndarray of bool, shape (d,), optional
        Columns without any value in those rows.
    """

    center: Array
    scale: Array
    constant: Array
    dtype: np.dtype[Any]
    clip: float = np.inf
    unseen: Array | None = None

    @property
    def reach(self) -> Array:
        """How far scaled values of each column may lie from zero."""
        return np.where(self.constant, np.inf, self.clip)

    def apply(self, X: Array, out: Array | None = None) -> tuple[Array, Array | None]:
        """Scale dense rows; also give the mask of missing values, or None when there are none."""
        scaled = np.empty(X.shape, dtype=self.dtype) if out is None else out
        center, inverse = self.center.astype(self.dtype), (1.0 / self.scale).astype(self.dtype)
        reach = self.reach.astype(self.dtype)
        low, high = (-reach, reach) if self.constant.any() else (-self.clip, self.clip)

        def fill(rows: slice) -> bool:
            part, given = scaled[rows], X[rows]
            np.subtract(given, center, out=part, casting="same_kind")
            np.multiply(part, inverse, out=part)
            if np.isfinite(self.clip):
                np.clip(part, low, high, out=part)
            flat = given.ravel(order="K")
            with np.errstate(over="ignore"):
                return bool(np.isnan(flat @ flat))

        if not any(list(map_blocks(fill, block_slices(len(X), block_rows(X.shape[1], 4))))):
            return scaled, None
        missing = np.isnan(scaled)
        scaled[missing] = 0.0
        return scaled, missing


def scale_rows(
    X: Array | sparse.csr_array, scaling: Scaling, weight: Array | None = None, out: Array | None = None
) -> tuple[Array | ScaledSparse, Array]:
    """Scaled rows, and the weight of the observed values of each column."""
    n, d = X.shape
    observed = np.full(d, float(n if weight is None else weight.sum()))
    if sparse.issparse(X):
        inputs = ScaledSparse(X, scaling)
        return inputs, observed - inputs.missing_weight(weight)
    dense, missing = scaling.apply(X, out)
    if missing is not None:
        observed -= missing.sum(axis=0) if weight is None else weight @ missing
    return dense, observed


def measure_scaling(X: Array | sparse.csr_array, weight: Array | None = None) -> Scaling:
    """Measure the scaling of dense or sparse rows, missing values left out.

    Sums are taken about a guess of the mean, so that a column whose mean is far larger than its spread loses nothing.
    """
    center, spread, unseen = _mean_and_spread(X, weight)
    # Columns whose squares do not fit into float64: too large, or too small to be told from zero.
    small = (spread < SMALLEST_ROOT) & (np.abs(center) < SMALLEST_ROOT / ROUNDING)
    small[small] = _not_all_zero(X, np.flatnonzero(small))
    for columns, unit in ((np.flatnonzero(~np.isfinite(spread)), HUGE), (np.flatnonzero(small), 1.0 / HUGE)):
        if len(columns):
            with np.errstate(over="ignore", invalid="ignore"):
                center[columns], spread[columns] = (
                    unit * part for part in _mean_and_spread(X[:, columns].astype(np.float64) / unit, weight)[:2]
                )
    constant = spread <= np.maximum(ROUNDING * np.abs(center), TINY)
    scale = np.where(constant, np.where(np.abs(center) <= TINY, 1.0, np.abs(center)), spread)
    dtype = np.dtype(X.dtype if X.dtype == np.float32 else np.float64)
    outside = (scale < FLOAT32_SCALES[0]) | (scale > FLOAT32_SCALES[1])
    if outside.any() or sparse.issparse(X):  # sparse products run through one entry after another, which loses digits
        dtype = np.dtype(np.float64)
    return Scaling(center, scale, constant, dtype, unseen=unseen)


def scaled_late(scaling: Scaling, X: Array | sparse.csr_array) -> Scaling:
    """The scaling with columns that had no value so far measured on rows that have some; the same where none have."""
    if scaling.unseen is None or not scaling.unseen.any() or X.shape[0] == 0:
        return scaling
    places = np.flatnonzero(scaling.unseen)
    found = measure_scaling(X[:, places])
    assert found.unseen is not None
    places = places[~found.unseen]
    if not len(places):
        return scaling
    center, scale, constant, unseen = (
        part.copy() for part in (scaling.center, scaling.scale, scaling.constant, scaling.unseen)
    )
    center[places], scale[places] = found.center[~found.unseen], found.scale[~found.unseen]
    constant[places], unseen[places] = found.constant[~found.unseen], False
    return replace(scaling, center=center, scale=scale, constant=constant, unseen=unseen)


def _not_all_zero(X: Any, columns: Array) -> Array:
    """Which of some columns have a value other than zero."""
    found = np.zeros(X.shape[1], dtype=bool)
    if len(columns) and sparse.issparse(X):
        found[X.indices[X.data != 0.0]] = True
    elif len(columns):
        for rows in block_slices(len(X), block_rows(len(columns), 8)):
            found[columns] |= (X[rows][:, columns] != 0.0).any(axis=0)
    return found[columns]


def _mean_and_spread(X: Array | sparse.csr_array, weight: Array | None) -> tuple[Array, Array, Array]:
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        shift, first, second, observed = (_sparse_sums if sparse.issparse(X) else _dense_sums)(X, weight)
        offset = np.where(observed > 0, first / observed, 0.0)
        variance = np.where(observed > 0, second / observed, 0.0) - offset**2
        return shift + offset, np.sqrt(np.maximum(variance, 0.0)), observed <= 0


def without_extremes(
    X: Array | sparse.csr_array,
    scaling: Scaling,
    scaled: tuple[Array | ScaledSparse, Array],
    weight: Array | None,
) -> Scaling:
    """Measure the columns anew whose spread is mostly that of a few rows.

    Parameters
    ----------
    X : ndarray or csr_array
        The rows as they are.
    scaling : Scaling
        Their scaling, with a bound for values.
    scaled : tuple of rows and observed weights
        The rows scaled by it.
    weight : ndarray or None
        Weight of the rows.
    """
    inputs, observed = scaled
    w = np.ones(X.shape[0]) if weight is None else weight
    if isinstance(inputs, ScaledSparse):
        squares = inputs.squares(w)
    else:
        squares = np.einsum("ij,ij->j", inputs, inputs) if weight is None else w @ np.square(inputs)
    inflated = np.flatnonzero((squares < INFLATED**2 * observed) & ~scaling.constant)
    if not len(inflated):
        return scaling
    if sparse.issparse(X):  # where the middle half of the rows is not stored, the others are no extremes
        rows: Any = X
        held = np.bincount(rows.indices, weights=np.repeat(w, np.diff(rows.indptr)), minlength=X.shape[1])
        inflated = inflated[held[inflated] >= 0.25 * w.sum()]
    stored = sparse.csc_array(X[:, inflated]) if sparse.issparse(X) and len(inflated) else None
    center, scale = scaling.center.copy(), scaling.scale.copy()
    for i, j in enumerate(inflated):
        values = np.asarray(X)[:, j] if stored is None else stored[:, [i]].toarray()[:, 0]
        seen = ~np.isnan(values)
        values = (values[seen].astype(np.float64) - center[j]) / scale[j]
        mean, spread = winsorized(values, w[seen], 0.0, 1.0, scaling.clip)
        center[j], scale[j] = center[j] + mean * scale[j], spread * scale[j]
    return replace(scaling, center=center, scale=scale)


def winsorized(values: Array, weight: Array, center: float, scale: float, clip: float) -> tuple[float, float]:
    """Mean and standard deviation of values that are clipped by these very two.

    Begins at a given mean and standard deviation. Where a value is that of the middle half of the rows, as in columns
    that are mostly zero, the others are no extremes, and nothing is changed.
    """
    order = np.argsort(values, kind="stable")
    values, weight = values[order], weight[order]
    share = np.cumsum(weight) / weight.sum()
    low, high = values[np.minimum(np.searchsorted(share, [0.25, 0.75]), len(values) - 1)]
    if low == high:
        return center, scale
    while True:
        clipped = np.clip(values, center - clip * scale, center + clip * scale)
        mean = np.average(clipped, weights=weight)
        spread = np.sqrt(np.average((clipped - mean) ** 2, weights=weight))
        beyond = np.abs(values - mean) > clip * spread
        if not spread <= (1.0 - 1e-3) * scale or weight[beyond].sum() > MOST_CLIPPED * weight.sum():
            return center, scale
        center, scale = float(mean), float(spread)


def _dense_sums(X: Array, weight: Array | None) -> tuple[Array, Array, Array, Array]:
    """A guess of each column's mean; sum and sum of squares about it; the weight of the observed values."""
    n, d = X.shape
    size = block_rows(d, 8)
    head = X[:: max(1, n // size)][:size]
    present = ~np.isnan(head)
    shift = np.where(present, head, 0.0).sum(axis=0, dtype=np.float64) / np.maximum(present.sum(axis=0), 1)
    for j in np.flatnonzero(~present.any(axis=0)):  # hardly ever observed: take the first value that is
        seen = np.flatnonzero(~np.isnan(X[:, j]))
        shift[j] = X[seen[0], j] if len(seen) else 0.0
    shift = shift.astype(X.dtype)

    def partial(rows: slice) -> tuple[Array, Array, Array]:
        block = X[rows] - shift
        w = np.ones(len(block)) if weight is None else weight[rows]
        observed = np.full(d, w.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            own = w.astype(block.dtype)
            first, second = own @ block, own @ np.square(block)
        tiny = second < FLOAT32_TINY
        if np.isfinite(first).all() and np.isfinite(second).all() and not block[:, tiny].any():
            return first, second, observed
        block = block.astype(np.float64)
        missing = np.isnan(block)
        block[missing] = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            return w @ block, w @ np.square(block), observed - w @ missing

    first, second, observed = np.zeros(d), np.zeros(d), np.zeros(d)
    for part in map_blocks(partial, block_slices(n, size)):
        first += part[0]
        second += part[1]
        observed += part[2]
    return shift.astype(np.float64), first, second, observed


def _sparse_sums(X: sparse.csr_array, weight: Array | None) -> tuple[Array, Array, Array, Array]:
    """As ``_dense_sums``, from the stored entries; all others are zeros."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    n, d = X.shape
    w = np.ones(n) if weight is None else weight
    stored = np.repeat(w, np.diff(X.indptr))
    data = X.data.astype(np.float64)
    missing = np.isnan(data)
    data[missing] = 0.0

    def total(values: Array) -> Array:
        return np.bincount(X.indices, weights=values, minlength=d)

    observed = w.sum() - total(missing * stored)
    shift = total(data * stored) / np.maximum(observed, np.finfo(np.float64).tiny)
    away = np.where(missing, 0.0, data - shift[X.indices])
    unstored = np.where(np.bincount(X.indices, minlength=d) < n, observed - total(stored * ~missing), 0.0)
    return shift, total(away * stored) - unstored * shift, total(away**2 * stored) + unstored * shift**2, observed


class ScaledSparse:
    """A sparse matrix seen through its scaling; it is never made dense as a whole."""

    def __init__(self, S: sparse.csr_array, scaling: Scaling):
        S = sparse.csr_array(S, dtype=scaling.dtype, copy=True)
        S.sum_duplicates()
        missing = np.isnan(S.data)
        self._missing = sparse.csr_array((missing, S.indices, S.indptr), shape=S.shape) if missing.any() else None
        S.data[missing] = scaling.center[S.indices[missing]]
        S.data /= scaling.scale[S.indices].astype(scaling.dtype)
        shift = scaling.center / scaling.scale
        if np.isfinite(scaling.clip):
            low, high = shift - scaling.reach, shift + scaling.reach
            zero = np.clip(0.0, low, high)  # what an entry that is not stored stands for
            S.data = np.clip(S.data, low[S.indices], high[S.indices]) - zero[S.indices]
            shift = shift - zero
        self._set(S, shift)

    def missing_weight(self, weight: Array | None) -> Array:
        """Total weight of the missing values of each column."""
        if self._missing is None:
            return np.zeros(self.shape[1])
        return np.asarray(self._missing.T @ (np.ones(self.shape[0]) if weight is None else weight))

    def squares(self, weight: Array) -> Array:
        """Sum of squares of each column, from the stored entries; all others lie at ``-shift``.

        No term is negative, so that a column whose mean is far larger than its spread loses nothing.
        """
        S, shift, d = self.S, self.shift, self.shape[1]
        total, stored = np.zeros(d), np.zeros(d)
        for rows in entry_blocks(S):
            entries = slice(S.indptr[rows.start], S.indptr[rows.stop])
            columns, w = S.indices[entries], np.repeat(weight[rows], np.diff(S.indptr[rows.start : rows.stop + 1]))
            total += np.bincount(columns, weights=w * (S.data[entries] - shift[columns]) ** 2, minlength=d)
            stored += np.bincount(columns, weights=w, minlength=d)
        full = np.bincount(S.indices, minlength=d) == self.shape[0]
        unstored = np.where(full, 0.0, np.maximum(weight.sum() - stored, 0.0))
        return np.asarray(total + unstored * shift**2)

    def few_products(self) -> bool:
        """Whether products of stored entries are so few that they take less time than those of dense rows."""
        entries = np.diff(self.S.indptr).astype(np.float64)
        return bool(PRODUCT_COST * (entries @ entries) < self.shape[0] * float(self.shape[1]) ** 2)

    def add_gram(self, gram: Array, weight: Array) -> None:
        """Add ``X' W X`` in place, from the stored entries: ``S'WS - S'w shift' - shift w'S + W shift shift'``.

        Columns whose mean is far larger than their spread, of which that would leave few digits, are made dense.
        """
        root = np.repeat(np.sqrt(weight), np.diff(self.S.indptr))
        scaled = sparse.csr_array((self.S.data * root, self.S.indices, self.S.indptr), shape=self.shape)
        by_column, shift = scaled.tocsc(), self.shift
        sums, total = np.asarray(self.S.T @ weight, dtype=np.float64), weight.sum()
        far = np.abs(shift) > FAR_MEAN

        def add(panel: slice) -> None:
            product: Array = (scaled.T @ by_column[:, panel]).toarray()
            product -= np.outer(sums, shift[panel])
            product -= np.outer(shift, sums[panel] - total * shift[panel])
            product[far] = 0.0
            product[:, far[panel]] = 0.0
            gram[:, panel] += product

        for_blocks(add, block_slices(self.shape[1], PANEL_COLUMNS))
        places = np.flatnonzero(far)
        for part in block_slices(len(places), max(1, DENSE_BYTES // (8 * self.shape[0]))):
            columns = places[part]
            product = self.cross(self.take(columns) * weight[:, None])
            gram[:, columns] += product
            gram[np.ix_(columns, ~far)] += product[~far].T

    def _set(self, S: sparse.csr_array, shift: Array) -> None:
        self.S, self.shift = S, shift
        self.shape, self.dtype = S.shape, S.dtype
        self._columns: sparse.csc_array | None = None

    def __getitem__(self, rows: Any) -> ScaledSparse:
        part = object.__new__(ScaledSparse)
        part._missing = None
        part._set(self.S[rows], self.shift)
        return part

    @property
    def nbytes(self) -> int:
        """Memory of the stored entries."""
        return int(self.S.data.nbytes + self.S.indices.nbytes + self.S.indptr.nbytes)

    def take(self, columns: Array | slice) -> Array:
        """Some columns, dense and centred."""
        if self._columns is None:
            self._columns = self.S.tocsc()
        dense: Array = self._columns[:, columns].toarray()
        dense -= self.shift[columns].astype(self.dtype)
        return dense

    def dense(self) -> Array:
        """All columns of these rows (for a block of them)."""
        out: Array = self.S.toarray()
        out -= self.shift.astype(self.dtype)
        return out

    def dot(self, B: Array) -> Array:
        """``X B``."""
        return np.asarray(self.S @ B - (self.shift @ B).astype(B.dtype))

    def cross(self, B: Array) -> Array:
        """``X' B``."""
        return np.asarray(self.S.T @ B - np.outer(self.shift, B.sum(axis=0)).astype(B.dtype))


def entry_blocks(S: sparse.csr_array) -> list[slice]:
    """Cut the rows of a sparse matrix where ``BLOCK_ENTRIES`` stored entries are full."""
    cuts = np.searchsorted(S.indptr, np.arange(BLOCK_ENTRIES, S.indptr[-1], BLOCK_ENTRIES))
    edges = np.unique(np.concatenate([[0], cuts, [S.shape[0]]]))
    return [slice(int(start), int(stop)) for start, stop in pairwise(edges)]


def vertical(parts: list[Array | ScaledSparse]) -> Array | ScaledSparse:
    """Stack scaled rows; where some are sparse, all become so."""
    shifts = [part.shift for part in parts if isinstance(part, ScaledSparse)]
    if not shifts:
        return np.concatenate([np.asarray(part) for part in parts])
    stored = [part.S if isinstance(part, ScaledSparse) else sparse.csr_array(part + shifts[0]) for part in parts]
    whole = object.__new__(ScaledSparse)
    whole._missing = None
    whole._set(sparse.csr_array(sparse.vstack(stored, format="csr")), shifts[0])
    return whole


@dataclass
class Rows:
    """A run of rows: the scaled inputs, and dense columns beside them (nodes, targets).

    Together they are the ``p`` columns of a matrix ``A``. ``weight`` is None when each row counts once. Dense rows made by
    :meth:`allocate` lie in one array with a column of ones behind, so that one product gives sums and second moments.
    """

    inputs: Array | ScaledSparse
    extra: Array
    weight: Array | None = None
    whole: Array | None = None

    @classmethod
    def allocate(cls, n: int, n_inputs: int, n_extra: int, dtype: Any, weight: Array | None = None) -> Rows:
        """Room for ``n`` dense rows, to be filled in."""
        whole: Array = np.empty((n, n_inputs + n_extra + 1), dtype=dtype)
        whole[:, -1] = 1.0
        return cls(whole[:, :n_inputs], whole[:, n_inputs:-1], weight, whole)

    @property
    def n_inputs(self) -> int:
        """Number of input columns."""
        return int(self.inputs.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of ``A``."""
        return self.extra.shape[0], self.n_inputs + self.extra.shape[1]

    @property
    def nbytes(self) -> int:
        """Memory that the rows take."""
        return int(self.inputs.nbytes + self.extra.nbytes)

    def weights(self) -> Array:
        """The weight of each row."""
        return np.ones(self.shape[0]) if self.weight is None else self.weight

    def sums(self) -> Array:
        """``A' w``: the sum of each column, in float64."""
        if isinstance(self.inputs, ScaledSparse):
            w = self.weights()
            return np.concatenate([self.inputs.cross(w[:, None])[:, 0], w @ self.extra])
        return np.concatenate([self._column_sums(self.inputs), self._column_sums(self.extra)])

    def _column_sums(self, values: Array) -> Array:
        if self.weight is None:
            return np.asarray(np.add.reduce(values, axis=0, dtype=np.float64))
        parts = block_slices(len(values), block_rows(max(1, values.shape[1]), 8))
        return sum((self.weight[part] @ values[part].astype(np.float64) for part in parts), np.zeros(values.shape[1]))

    def safe(self) -> Rows:
        """These rows, in float64 if they lie too far from zero for sums of float32 squares."""
        if isinstance(self.inputs, ScaledSparse) or self.extra.dtype != np.float32:
            return self
        few = slice(None, None, max(1, len(self.extra) // CHECKED_ROWS))
        means = [np.abs(values[few].mean(axis=0)).max(initial=0.0) for values in (self.inputs, self.extra)]
        if max(means) <= FLOAT32_MEAN:
            return self
        return Rows(self.inputs.astype(np.float64), self.extra.astype(np.float64), self.weight)

    def take(self, columns: Array) -> Array:
        """Some columns of ``A``, dense."""
        d = self.n_inputs
        if columns.size and columns.max() < d:
            return np.asarray(
                self.inputs.take(columns) if isinstance(self.inputs, ScaledSparse) else self.inputs.take(columns, axis=1)
            )
        out = np.empty((self.shape[0], len(columns)), dtype=self.extra.dtype)
        left = columns < d
        if left.any():
            out[:, left] = self.take(columns[left])
        out[:, ~left] = self.extra[:, columns[~left] - d]
        return out

    def dot(self, B: Array) -> Array:
        """``A B``."""
        return np.asarray(self.inputs.dot(B[: self.n_inputs]) + self.extra @ B[self.n_inputs :])

    def cross(self, B: Array) -> Array:
        """``A' W B`` in float64."""
        return self._products(B if self.weight is None else B * self.weight.astype(B.dtype)[:, None])

    def _products(self, B: Array) -> Array:
        d = self.n_inputs
        out = np.empty((self.shape[1], B.shape[1]))
        out[d:] = self.extra.T @ B
        if isinstance(self.inputs, ScaledSparse):
            out[:d] = self.inputs.cross(B)
            return out
        inputs = self.inputs

        def fill(columns: slice) -> None:
            out[columns] = inputs[:, columns].T @ B

        with large_product() if B.shape[1] > 1 else nullcontext():  # one column is a matter of memory, not of threads
            for_blocks(fill, block_slices(d, PRODUCT_COLUMNS))
        return out

    def dense(self) -> Array:
        """``[A, 1]`` as one array, each row times the root of its weight."""
        if self.whole is not None and self.weight is None:
            return self.whole
        inputs = self.inputs.dense() if isinstance(self.inputs, ScaledSparse) else self.inputs
        root = np.sqrt(self.weights()).astype(self.extra.dtype)[:, None]
        A = np.concatenate([inputs, self.extra, np.ones_like(root)], axis=1)
        A *= root
        return A

    def __getitem__(self, rows: Any) -> Rows:
        return Rows(
            self.inputs[rows],
            self.extra[rows],
            None if self.weight is None else self.weight[rows],
            None if self.whole is None else self.whole[rows],
        )
