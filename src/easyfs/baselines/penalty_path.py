"""The penalty of LassoNet on the weights of its inputs, and what a path of such penalties finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.common.types import Array


def hier_prox(v: Any, u: Any, lam: float, lambda_bar: float, M: float) -> tuple[Any, Any]:
    r"""The hierarchical proximal operator, for all columns at once.

    For each column, with skip weights ``v`` and weights ``u`` into the first hidden layer, the minimiser of

    ``1/2 |v - b|^2 + 1/2 |u - t|^2 + lam |b|_2 + lambda_bar |t|_1  subject to  |t|_inf <= M |b|_2``.

    With ``s_i = max(|u_i| - lambda_bar, 0)``, the norm ``x`` of ``b`` is the root of
    ``x = |v| - lam + M sum_i max(s_i - M x, 0)``, or 0 where that is not positive. The right side falls and bends in
    finitely many places only, so that Newton's iteration from 0 rises to the root and ends there exactly, without sorting.

    Where ``v = 0`` the direction of ``b`` is not determined; the convention is that the answer is zero.

    Parameters
    ----------
    v : ndarray or tensor of shape (t, d)
        Skip weights, a column for each feature.
    u : ndarray or tensor of shape (k, d)
        Weights into the first hidden layer.
    lam, lambda_bar : float
        Penalties of the norm of the skip weights and of the sum of the absolute hidden weights.
    M : float
        Hierarchy coefficient.

    Returns
    -------
    b, t : ndarray or tensor
        Of the shapes of ``v`` and ``u``.
    """
    norm = (v * v).sum(0) ** 0.5
    size = (abs(u) - lambda_bar).clip(0.0, None)
    x = norm * 0.0
    one = x + 1.0
    previous = None
    while True:
        above = (size > M * x) * one
        count = above.sum(0)
        if previous is not None and bool((count == previous).all()):
            break
        previous = count
        root = (norm - lam + M * (size * above).sum(0)) / (1.0 + M * M * count)
        x = root.clip(x, None)  # never falls but for rounding
    x = x * (norm > 0.0)
    bound = M * x
    return v * (x / (norm + (norm == 0.0))), (u - u.clip(-lambda_bar, lambda_bar)).clip(-bound, bound)


@dataclass(frozen=True)
class Path:
    """What came out of a path of penalties.

    Attributes
    ----------
    alphas : ndarray of shape (k,)
        The penalties.
    n_features : ndarray of shape (k,)
        Columns that are in at the end of each.
    losses, errors : ndarray of shape (k,)
        Mean loss on the validation rows, and its standard error.
    last_in : ndarray of shape (d,)
        The last penalty at which each column was in; -1 where it was in before the path only.
    norms : ndarray of shape (d,)
        Norm of its skip weights then.
    """

    alphas: Array
    n_features: Array
    losses: Array
    errors: Array
    last_in: Array
    norms: Array

    def scores(self, start: float, multiplier: float) -> Array:
        """The penalty at which each column is out for good.

        Of columns that leave together the one with the largest norm has this score, and the others down to the penalty
        before it.
        """
        largest = np.zeros(len(self.alphas) + 1)
        np.maximum.at(largest, self.last_in + 1, self.norms)
        largest = largest[self.last_in + 1]
        part = np.divide(self.norms, largest, out=np.ones(len(largest)), where=largest > 0.0)
        scores: Array = start * multiplier ** (self.last_in + part)
        return scores

    def best(self) -> int | None:
        """The sparsest network whose loss is within one standard error of the lowest; the largest penalty that has it."""
        if not len(self.losses):
            return None
        lowest = int(np.argmin(self.losses))
        return int(np.flatnonzero(self.losses <= self.losses[lowest] + self.errors[lowest])[-1])
