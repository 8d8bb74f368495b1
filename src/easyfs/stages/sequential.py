"""Compression beyond the paper: redundancy is measured against what is already selected.

A target matrix ``Z`` (the target itself, what of it can be predicted, a sketch of all columns) is coded by the selected
columns with precision ``eps``: with ``B = (I + X_S X_S' / lam)^-1`` and ``lam = eps^2 n`` what remains of it is
``tr(Z'BZ)``. Each step takes the column with the largest

    gain_j = |Z'B x_j|^2 / (lam + x_j'B x_j),

which is exactly what remains less when ``x_j`` is added. Only ``P = X'Z`` and columns of ``X'X`` are needed; all
quantities here are divided by ``n``, so that ``lam`` is ``eps^2`` and gains are shares of the target's energy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from easyfs.common.threads import block_slices, for_blocks
from easyfs.common.types import Array

# Columns of X'X and PP' fetched at once: a third of those to be selected within these bounds, and within so many numbers.
FEWEST_FETCHED, MOST_FETCHED = 24, 64
FETCH_NUMBERS = 1 << 21
# Several are fetched once this share of those that looked likely have been selected in a row: they cost as much as a
# quarter of them one by one, and among related columns each selection changes what is likely.
HITS = 1 / 4
# Multiply-adds of PP' that one thread computes at a time, and rows.
PRODUCTS, FEWEST_ROWS = 1 << 22, 128
# Gains that count as equal: for float64 and for float32 statistics.
TIES = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}


class GreedySearch:
    """The state of a sequential selection: what each column would still add.

    Parameters
    ----------
    gram_columns : callable
        Gives columns ``X'X[:, J] / n`` of the standardised inputs as an array of shape (d, len(J)).
    energy : ndarray of shape (d,)
        Diagonal of ``X'X / n``: 1 for a standardised column without missing values, 0 for a constant one.
    P : ndarray of shape (d, m)
        ``X'Z / sqrt(n)``, with ``Z`` of unit Frobenius norm.
    eps2 : float
        Squared coding precision: small lets copies of a selected column add nothing, large makes each column count as if
        it were alone.
    max_steps : int
        Steps to make room for; more room is made when they are used up.
    dtype : dtype
        Precision of the statistics; sets when two gains are equal.
    prefetch : bool
        Whether fetching several columns of ``X'X`` at once pays.
    """

    def __init__(
        self,
        gram_columns: Callable[[Array], Array],
        energy: Array,
        P: Array,
        eps2: float,
        *,
        max_steps: int,
        dtype: Any = np.float64,
        prefetch: bool = True,
    ):
        d, m = P.shape
        self.gram_columns = gram_columns
        self.energy = energy
        self.P = P.astype(dtype, copy=False)
        self.eps2 = eps2
        self.tie = TIES[np.dtype(dtype)]
        self.remaining = energy.copy()
        self.power = np.einsum("ij,ij->i", P, P)
        self.selected: list[int] = []
        self.gains: list[float] = []
        self._u, self._Pz = np.empty((max_steps, d)), np.empty((max_steps, d))
        self._s = np.empty(max_steps)
        self._z = np.empty((max_steps, m))
        self._cache: dict[int, tuple[Array, Array]] = {}
        wanted = min(max(max_steps // 3, FEWEST_FETCHED), MOST_FETCHED)
        self._fetch = min(wanted, max(8, FETCH_NUMBERS // max(1, d))) if prefetch else 1
        self._likely: Array = np.empty(0, dtype=np.intp)
        self._hits = self._fetch  # as if the ones before had held

    def gain(self) -> Array:
        """What each column would add now, as a share of the target's energy."""
        return np.asarray(np.maximum(self.power, 0.0) / (self.eps2 + np.maximum(self.remaining, 0.0)))

    def best(self, gain: Array, candidates: Array) -> int:
        """The candidate with the largest gain; among equals, the first."""
        values = np.where(candidates, gain, -np.inf)
        top = values.max()
        return int(np.flatnonzero(values >= top - self.tie * abs(top))[0])

    def select(self, j: int, gain: Array | None = None, candidates: Array | None = None) -> Array:
        """Add column ``j``; give column ``j`` of ``X'X / n``."""
        t = len(self.selected)
        if t == len(self._s):
            self._u, self._Pz, self._s, self._z = (
                np.concatenate([a, np.empty_like(a)]) for a in (self._u, self._Pz, self._s, self._z)
            )
        share = self._u[:t, j] / self._s[:t]
        column, product = self._fetched(j, gain, candidates)
        u = column - share @ self._u[:t]
        Pz = product - share @ self._Pz[:t]
        z = self.P[j] - share @ self._z[:t]
        s = self.eps2 + max(float(self.remaining[j]), 0.0)
        self.gains.append(float(z @ z) / s)
        self._update(self.power, Pz, z, self._z[:t], u, s)
        self.remaining -= u * u / s
        self._u[t], self._Pz[t], self._s[t], self._z[t] = u, Pz, s, z
        self.selected.append(j)
        return column

    def state(self) -> tuple[int, Array, Array]:
        """What it takes to go back to here."""
        return len(self.selected), self.power.copy(), self.remaining.copy()

    def restore(self, state: tuple[int, Array, Array]) -> None:
        """Forget what was selected since."""
        t, self.power, self.remaining = state
        del self.selected[t:], self.gains[t:]

    def begin_again(self) -> None:
        """Forget what was selected, but not the columns of ``X'X`` that were fetched for it."""
        for t, j in enumerate(self.selected):
            share = self._u[:t, j] / self._s[:t]
            self._cache[j] = self._u[t] + share @ self._u[:t], self._Pz[t] + share @ self._Pz[:t]
        self.power, self.remaining = np.einsum("ij,ij->i", self.P, self.P), self.energy.copy()
        self.selected, self.gains = [], []

    def _update(self, power: Array, Pz: Array, z: Array, earlier: Array, u: Array, s: float) -> None:
        """``power_i = |P_i|^2`` after ``P -= u z'/s``; ``P`` itself is corrected from the history, never rewritten."""
        t = len(earlier)
        now = Pz - ((earlier @ z) / self._s[:t]) @ self._u[:t]
        power += u * (u * (float(z @ z) / s) - 2.0 * now) / s

    def current_products(self, columns: Array) -> Array:
        """Rows of ``P`` as they are now, ``X'BZ``."""
        t = len(self.selected)
        return np.asarray(self.P[columns] - (self._u[:t, columns] / self._s[:t, None]).T @ self._z[:t])

    def coded_products(self, columns: Array) -> Array:
        """``X'BX`` among some columns, as it is now."""
        t = len(self.selected)
        u = self._u[:t, columns]
        return np.asarray(self.gram_columns(columns)[columns] - (u / self._s[:t, None]).T @ u)

    def fetch(self, wanted: Array) -> None:
        """Make ready, all at once, columns that will be selected next."""
        columns, products = self.gram_columns(wanted), np.empty((len(self.P), len(wanted)))
        likely = self.P[wanted].T

        def fill(rows: slice) -> None:
            products[rows] = self.P[rows] @ likely

        for_blocks(fill, block_slices(len(self.P), max(FEWEST_ROWS, PRODUCTS // max(1, likely.size))))
        self._cache.update((int(c), (columns[:, i], products[:, i])) for i, c in enumerate(wanted))

    def _fetched(self, j: int, gain: Array | None, candidates: Array | None) -> tuple[Array, Array]:
        """Column ``j`` of ``X'X`` and of ``PP'``; with it, where that pays, those of columns likely to be selected soon."""
        foreseen = j in self._cache or j in self._likely
        self._hits += foreseen
        if j in self._cache:
            return self._cache.pop(j)
        wanted = np.array([j])
        pays = self._hits >= HITS * self._fetch
        if self._fetch > 1 and gain is not None and candidates is not None and (pays or not foreseen):
            values = np.where(candidates, gain, -np.inf)
            values[[j, *self._cache]] = -np.inf
            k = min(self._fetch - 1, int(np.isfinite(values).sum()))
            self._likely = np.argpartition(values, len(values) - k)[len(values) - k :] if k else self._likely[:0]
            self._hits = 0
            if pays:
                wanted = np.concatenate([wanted, self._likely])
        if len(self._cache) > min(4 * self._fetch, max(self._fetch, FETCH_NUMBERS // self.P.shape[0])):
            self._cache.clear()
        self.fetch(wanted)
        return self._cache.pop(j)
