"""Second moments beyond some columns: what those explain is taken out of all others, and of the target.

With ``C`` the columns that are adjusted for and ``H`` the projection onto them, all that a choice needs are products of
``(I - H) X`` and ``(I - H) Y``: ``X'X - X'C (C'C)^+ C'X``, and likewise with the target. No precision is involved, and
columns of ``C`` that depend on one another (the indicators of a category) do no harm.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from easyfs.common.types import Array
from easyfs.stages.partial import EXPLAINED, PIVOT
from easyfs.stages.relevance import orthonormal_basis


class Products(Protocol):
    """What a choice asks of second moments; see :class:`easyfs.sums.second_moment.SecondMoment`."""

    p: int
    weight: float
    dtype: np.dtype[Any]

    @property
    def folded(self) -> bool:
        """Whether the rows have been folded into a Gram matrix."""

    def diag(self) -> Array:
        """Sum of squares of each column about its mean."""

    def columns(self, columns: Array) -> Array:
        """Columns of the Gram matrix about the mean."""

    def product(self, B: Array) -> Array:
        """The Gram matrix about the mean times ``B``."""


class Beyond:
    """Second moments of what some columns leave of all columns.

    Parameters
    ----------
    moment : SecondMoment
        Of inputs, nodes and targets.
    taken : ndarray of int
        The columns that are taken out.
    n_before_targets : int
        Inputs and nodes, which stand before the targets.
    classes : bool, default=False
        Whether the targets are indicators of classes.

    Attributes
    ----------
    rank : int
        Directions that are taken out.
    """

    def __init__(self, moment: Products, taken: Array, n_before_targets: int, *, classes: bool = False):
        self._moment, self._classes = moment, classes
        self.p, self.weight, self.dtype = moment.p, moment.weight, moment.dtype
        self._targets = np.arange(n_before_targets, moment.p)
        before = np.maximum(moment.diag(), 0.0)
        columns = moment.columns(taken)
        size = np.sqrt(before[taken])
        scale = np.divide(1.0, size, out=np.zeros(len(taken)), where=size > 0)
        values, vectors = np.linalg.eigh(columns[taken] * np.outer(scale, scale))
        pivot, rounding = PIVOT[np.dtype(self.dtype)], EXPLAINED[np.dtype(self.dtype)]
        kept = values > pivot
        self._rows = (columns @ (scale[:, None] * vectors[:, kept] / np.sqrt(values[kept]))).T
        self.rank = int(kept.sum())
        left = before - np.square(self._rows).sum(axis=0)
        least = np.full(self.p, pivot)
        least[n_before_targets:] = rounding
        self._gone = left <= least * before
        self._gone[taken] = True
        self._squares = np.where(self._gone, 0.0, left)
        self._before = before

    @property
    def folded(self) -> bool:
        """Whether the rows have been folded into a Gram matrix."""
        return self._moment.folded

    def diag(self) -> Array:
        """Sum of squares of what is left of each column; 0 where that is rounding."""
        return self._squares

    def columns(self, columns: Array) -> Array:
        """Columns of the Gram matrix of what is left."""
        left = self._moment.columns(columns) - self._rows.T @ self._rows[:, columns]
        left[self._gone] = 0.0
        left[:, self._gone[columns]] = 0.0
        return np.asarray(left)

    def product(self, B: Array) -> Array:
        """The Gram matrix of what is left, times ``B``."""
        B = np.where(self._gone[:, None], 0.0, B)
        left = self._moment.product(B) - self._rows.T @ (self._rows @ B)
        left[self._gone] = 0.0
        return np.asarray(left)

    def before(self, columns: Array) -> Array:
        """The Gram matrix of some columns as they were."""
        return self._moment.columns(columns)[columns]

    def left(self) -> Array:
        """Share of each column that is left."""
        return np.divide(self._squares, self._before, out=np.zeros(self.p), where=self._before > 0)

    def of_target(self) -> float | None:
        """Share of the target that is taken out, over all its directions; None without a target."""
        targets = self._targets
        basis = orthonormal_basis(self.before(targets), classes=self._classes, dtype=self.dtype)
        if not basis.shape[1]:
            return None
        return float(min(np.square(self._rows[:, targets] @ basis).sum() / basis.shape[1], 1.0))
