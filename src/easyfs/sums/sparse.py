"""Sparse rows, scaled without being made dense: the centring is carried through each product."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from easyfs.common.threads import PANEL_COLUMNS, block_slices, for_blocks
from easyfs.common.types import Array
from easyfs.sums.scaling import Scaling

# Stored entries of a sparse table that are worked on at a time.
BLOCK_ENTRIES = 1 << 20
# Bytes of a sparse table's rows that are made dense at a time, and of products with all of them.
DENSE_BYTES = 1 << 26
# How many products of dense rows take the time of one product of two stored entries.
PRODUCT_COST = 100.0
# Sums of squares of stored entries lose digits by the square of a mean, in standard deviations: no more than two.
FAR_MEAN = 8.0


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

    @classmethod
    def of_scaled(cls, S: sparse.csr_array, shift: Array) -> ScaledSparse:
        """From entries that are divided by the scale of their column, and what is to be taken off each column."""
        rows = object.__new__(cls)
        rows._missing = None
        rows._set(S, shift)
        return rows

    def __getitem__(self, rows: Any) -> ScaledSparse:
        return ScaledSparse.of_scaled(self.S[rows], self.shift)

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


def vertical(parts: list[Array | ScaledSparse]) -> ScaledSparse:
    """Stack scaled rows, some of which are sparse: all become so."""
    shift = next(part.shift for part in parts if isinstance(part, ScaledSparse))
    stored = [part.S if isinstance(part, ScaledSparse) else sparse.csr_array(part + shift) for part in parts]
    return ScaledSparse.of_scaled(sparse.csr_array(sparse.vstack(stored, format="csr")), shift)
