"""Measure the scaling of a table: means and standard deviations, missing values left out, extremes clipped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from easyfs.common.threads import block_rows, block_slices, map_blocks
from easyfs.common.types import Array
from easyfs.sums.scaling import Scaling
from easyfs.sums.sparse import ScaledSparse


def check_scale(scale: Any, n_columns: int) -> tuple[Array, Array] | None:
    """Means and standard deviations given by the user, one of each for every column."""
    if scale is None:
        return None
    try:
        mean, spread = (np.asarray(part, dtype=np.float64) for part in scale)
    except (TypeError, ValueError) as error:
        raise ValueError(f"scale={scale!r}: give a pair of arrays, the means and the standard deviations.") from error
    for name, part in (("means", mean), ("standard deviations", spread)):
        if part.shape != (n_columns,):
            raise ValueError(f"scale has {name} of shape {part.shape}, but X has {n_columns} columns; give one for each.")
        if not np.isfinite(part).all():
            raise ValueError(f"scale has {name} that are not finite.")
    if (spread < 0).any():
        raise ValueError(f"scale has a negative standard deviation in column {int(np.flatnonzero(spread < 0)[0])}.")
    return mean, spread


# A spread below this multiple of the mean is rounding, not information.
ROUNDING = 16 * np.finfo(np.float64).eps
# Outside this range a scale, or its inverse, does not fit into float32.
FLOAT32_SCALES = (1e-30, 1e30)
# Columns whose squares do not fit into float64 are measured in these units; a spread below the second has no inverse.
HUGE, TINY = 1e200, 1e-305
# The squares of numbers below this lose digits, or become zero.
SMALLEST_ROOT = 1e-145
# Sums of squares below this may have lost squares that do not fit into float32.
FLOAT32_TINY = 1e-30
# Extreme values inflate a spread: where it falls to less than this share once they are clipped, it is measured anew from
# the clipped values, again and again, but only until more than so many of the rows would be clipped.
INFLATED, MOST_CLIPPED = 0.9, 0.01


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
        observed = (~missing).sum(axis=0).astype(np.float64) if weight is None else weight @ ~missing
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
    values = (np.asarray(X)[:, j] if stored is None else stored[:, [i]].toarray()[:, 0] for i, j in enumerate(inflated))
    return of_clipped(scaling, inflated, values, weight)


def of_clipped(scaling: Scaling, columns: Array, values: Iterable[Array], weight: Array | None) -> Scaling:
    """The scaling with some columns measured anew from their values, one after another, without the extreme ones."""
    center, scale = scaling.center.copy(), scaling.scale.copy()
    for j, given in zip(columns, values, strict=True):
        seen = ~np.isnan(given)
        w = np.ones(int(seen.sum())) if weight is None else weight[seen]
        own = (given[seen].astype(np.float64) - center[j]) / scale[j]
        mean, spread = winsorized(own, w, 0.0, 1.0, scaling.clip)
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
            return w @ block, w @ np.square(block), w @ ~missing

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

    observed = np.where(total(missing) < n, w.sum() - total(missing * stored), 0.0)  # none is none, whatever rounding says
    shift = total(data * stored) / np.maximum(observed, np.finfo(np.float64).tiny)
    away = np.where(missing, 0.0, data - shift[X.indices])
    unstored = np.where(np.bincount(X.indices, minlength=d) < n, observed - total(stored * ~missing), 0.0)
    return shift, total(away * stored) - unstored * shift, total(away**2 * stored) + unstored * shift**2, observed
