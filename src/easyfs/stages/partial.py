"""What each column explains of the target beyond the selected ones, at full precision.

The search codes columns with a precision, so that near-copies of a selected column keep some of their gain. Whether a
column tells anything is asked without one: with ``X_S`` the selected columns, its partial relevance is the share that ``(I
- H) x_j`` explains of ``(I - H) Y``, where ``H`` projects onto the selected columns. Only products are needed; all are
divided by the number of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from easyfs.common.types import Array

# Share of a column's energy that selected columns leave of it, below which it is explained to rounding: by precision.
PIVOT = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}
# Share of the target that is rounding.
EXPLAINED = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-7}
# What a selected column that others explain to rounding keeps of its own, so that the products stay invertible.
JITTER = 1e-6


class PartialRelevance:
    """The selected columns taken out of all others and of the target, one after another.

    Parameters
    ----------
    energy : ndarray of shape (d,)
        Diagonal of ``X'X / n``.
    P : ndarray of shape (d, r)
        ``X'Y / sqrt(n)`` with an orthonormal basis ``Y`` of the targets.
    dtype : dtype
        Precision of the statistics.
    """

    def __init__(self, energy: Array, P: Array, dtype: Any = np.float64):
        d, r = P.shape
        self.energy, self.left = energy, energy.copy()
        self.P = np.array(P, dtype=np.float64)
        self.target = np.eye(r)
        self.selected: list[int] = []
        self.pivot, self.rounding = PIVOT[np.dtype(dtype)], EXPLAINED[np.dtype(dtype)]
        self._v, self._z = np.empty((32, d)), np.empty((32, r))
        self._whitened: Array | None = None

    @property
    def rows(self) -> Array:
        """``V``: for each selected column what it says of every column beyond those before it."""
        return self._v[: len(self.selected)]

    @property
    def steps(self) -> Array:
        """For each selected column what it explained of the target when it was added."""
        return self._z[: len(self.selected)]

    def explained(self) -> Array:
        """Share of each column that the selected ones explain."""
        share = np.divide(self.left, self.energy, out=np.zeros_like(self.left), where=self.energy > 0)
        return np.asarray(np.clip(1.0 - share, 0.0, 1.0))

    def dependent(self) -> Array:
        """Which columns the selected ones explain to rounding."""
        return np.asarray(self.left <= self.pivot * self.energy)

    def add(self, j: int, column: Array) -> None:
        """Select column ``j``; ``column`` is that of ``X'X / n``."""
        t = len(self.selected)
        if t == len(self._v):
            self._v, self._z = (np.concatenate([a, np.empty_like(a)]) for a in (self._v, self._z))
        self.selected.append(j)
        pivot = float(self.left[j])
        if pivot <= self.pivot * float(self.energy[j]):
            self._v[t], self._z[t] = 0.0, 0.0
            self._v[t, j] = np.sqrt(JITTER * float(self.energy[j])) if self.energy[j] > 0 else 1.0
            return
        v = (column - self._v[:t, j] @ self._v[:t]) / np.sqrt(pivot)
        v[j] = np.sqrt(pivot)
        z = self.P[j] / np.sqrt(pivot)
        self.left = np.maximum(self.left - v * v, 0.0)
        self.left[j] = 0.0
        self.P = self.P - np.outer(v, z)
        self.P[j] = 0.0
        self.target = self.target - np.outer(z, z)
        self._whitened = None
        self._v[t], self._z[t] = v, z

    def state(self) -> tuple[int, Array, Array, Array]:
        """What it takes to go back to here."""
        return len(self.selected), self.left, self.P, self.target

    def restore(self, state: tuple[int, Array, Array, Array]) -> None:
        """Forget what was selected since."""
        t, self.left, self.P, self.target = state
        self._whitened = None
        del self.selected[t:]

    def _white(self) -> Array:
        """Combinations of the targets that make what is left of them orthonormal."""
        if self._whitened is None:
            values, vectors = np.linalg.eigh(self.target)
            kept = values > self.rounding
            self._whitened = np.asarray(vectors[:, kept] / np.sqrt(values[kept]))
        return self._whitened

    @property
    def rank(self) -> int:
        """Directions of the target that are not yet explained to rounding."""
        return int(self._white().shape[1])

    def shares(self) -> Array:
        """Share of what is left of the target that each column explains; 0 for dependent columns."""
        white = self._white()
        open_columns = ~self.dependent() & (self.energy > 0)
        told = np.square(self.P @ white).sum(axis=1)
        return np.asarray(np.divide(told, self.left, out=np.zeros(len(told)), where=open_columns))

    def of_target(self) -> Array:
        """Share of the whole target that each column would add, over all its directions."""
        open_columns = ~self.dependent() & (self.energy > 0)
        told = np.square(self.P).sum(axis=1) / max(1, len(self.target))
        return np.asarray(np.divide(told, self.left, out=np.zeros(len(told)), where=open_columns))

    def of_group(self, columns: Array, gram: Array) -> tuple[float, int]:
        """Sum of what orthonormal combinations of some columns explain of what is left, and how many there are.

        ``gram`` is ``X'X / n`` among them.
        """
        v = self.rows[:, columns]
        values, vectors = np.linalg.eigh(gram - v.T @ v)
        kept = values > self.pivot * np.maximum(self.energy[columns].max(initial=0.0), 1e-300)
        if not kept.any():
            return 0.0, 0
        products = (vectors[:, kept] / np.sqrt(values[kept])).T @ self.P[columns]
        return float(np.square(products @ self._white()).sum()), int(kept.sum())


class BeyondOthers:
    """What each selected column tells of the target beyond the other selected ones, while some are dropped.

    Parameters
    ----------
    factor : ndarray of shape (k, k)
        Lower triangular, ``L`` with ``LL'`` the products among the selected columns.
    steps : ndarray of shape (k, r)
        ``L^-1 X'Y``.
    target : ndarray of shape (r, r)
        What all of them leave of the target.
    rounding : float
        Share of the target that is rounding.

    Attributes
    ----------
    places : ndarray of int
        Those that are left.
    """

    def __init__(self, factor: Array, steps: Array, target: Array, rounding: float):
        factor = np.tril(factor)
        self.inverse = np.linalg.inv(factor @ factor.T)
        self.weights = self.inverse @ (factor @ steps)
        self.target, self.rounding = target.copy(), rounding
        self.places = np.arange(len(factor))

    def shares(self) -> Array:
        """Share that each column explains of what the others leave of the target."""
        values, vectors = np.linalg.eigh(self.target)
        white = vectors / np.sqrt(np.maximum(values, self.rounding))
        told = np.square(self.weights @ white).sum(axis=1) / np.maximum(np.diagonal(self.inverse), 1e-300)
        return np.asarray(told / (1.0 + told))

    def drop(self, i: int) -> None:
        """Leave out one of those that are left."""
        row, weight, size = self.inverse[i].copy(), self.weights[i].copy(), self.inverse[i, i]
        self.inverse -= np.outer(row, row / size)
        self.weights -= np.outer(row / size, weight)
        self.target += np.outer(weight / size, weight)
        kept = np.arange(len(row)) != i
        self.inverse, self.weights, self.places = self.inverse[np.ix_(kept, kept)], self.weights[kept], self.places[kept]
