"""How many features: a count, a share, or as many as still tell something about the target."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import beta, norm

Array = NDArray[Any]

LEVEL = 0.95


def resolve_count(n_features_to_select: Any, available: int, what: str = "features") -> int | None:
    """The number of features asked for, or None for ``"auto"``.

    A whole number is a count, a float in (0, 1] is a share (at least one), ``"auto"`` leaves it to the data.
    """
    asked: Any = n_features_to_select
    if isinstance(asked, str) and asked == "auto":
        return None
    if isinstance(asked, numbers.Integral) and not isinstance(asked, bool):
        count = int(asked)
        if count < 1:
            raise ValueError(f"n_features_to_select={asked!r}: ask for at least 1 feature, a share in (0, 1], or 'auto'.")
        if count > available:
            raise ValueError(
                f"n_features_to_select={asked!r} is more than the {available} {what} there are to choose from; "
                f"ask for at most {available}, a share such as 0.5, or 'auto'."
            )
        return count
    if isinstance(asked, numbers.Real) and not isinstance(asked, bool) and 0.0 < float(asked) <= 1.0:
        return min(available, max(1, int(np.floor(float(asked) * available + 1e-9))))
    raise ValueError(f"n_features_to_select={asked!r}: give a count such as 20, a share in (0, 1] such as 0.1, or 'auto'.")


def quadratic_form_quantile(eigenvalues: Array, tail: float) -> float:
    """Value that ``sum_i eigenvalues_i chi2_1`` exceeds with probability ``tail`` (small).

    By the saddlepoint approximation of Lugannani and Rice, which is accurate far in the tail, where the largest of many
    null columns lies. The tail falls as the saddlepoint moves towards ``1 / (2 max)``, so one root is sought.
    """
    values = eigenvalues[eigenvalues > 1e-12 * max(float(eigenvalues.max(initial=0.0)), 0.0)]
    if not len(values):
        return 0.0
    top = float(values.max())
    values = values / top

    def log_tail_excess(zeta: float) -> float:
        shrunk = 1.0 - 2.0 * zeta * values
        K = -0.5 * np.log(shrunk).sum()
        slope = (values / shrunk).sum()
        curvature = (2.0 * (values / shrunk) ** 2).sum()
        w = np.sqrt(max(2.0 * (zeta * slope - K), 0.0))
        v = zeta * np.sqrt(curvature)
        return float(norm.logsf(w + np.log(v / w) / w) - np.log(tail))

    zeta = brentq(log_tail_excess, 1e-3, 0.5 * (1.0 - 1e-12), xtol=1e-14)
    return top * float((values / (1.0 - 2.0 * zeta * values)).sum())


def null_relevance(n: float, rank: int, n_drawn: int, level: float = LEVEL) -> float:
    """Relevance that the best of ``n_drawn`` nodes without any relation to the target stays below in ``level`` of cases.

    For a permuted target of ``rank`` orthonormal columns the relevance follows a beta distribution.
    """
    free = max(n - 1.0 - rank, 1.0)
    return float(beta.ppf(level ** (1.0 / max(1, n_drawn)), rank / 2.0, free / 2.0))


def effective_share(target: Array, root_weight: Array) -> float:
    """How many rows an orthonormal target rests on, as a share of all: 1 for normal targets and for balanced classes.

    A rare class, or a few large values, are told by whatever meets those few rows. A node that is zero for most rows, or a
    product, meets them by chance more often than it would tell as much of a target that all rows have a part in.

    Parameters
    ----------
    target : ndarray of shape (n, r)
        Orthonormal columns; each row carries the root of its weight.
    root_weight : ndarray of shape (n,)
        Root of the weight of each row.
    """
    weight, r = root_weight**2, target.shape[1]
    leverage = np.square(target).sum(axis=1) / weight
    spread = float(weight.sum() * (weight @ leverage**2))
    return min(1.0, r * (r + 2.0) / spread) if spread > 0.0 else 1.0


class NullGain:
    """The gain in the target that the best of many columns without any relation to it would reach.

    A permuted column's products with the remaining target have mean 0 and covariance ``|x|^2/(n - 1) Z'BZ``, so its gain is
    a weighted sum of chi-squares. No rows are permuted: the moments say it all.

    Parameters
    ----------
    target_gram : ndarray of shape (m, m)
        ``Z'Z`` of the target block.
    n : float
        Total weight of the rows.
    eps2 : float
        Squared coding precision of the search.
    """

    def __init__(self, target_gram: Array, n: float, eps2: float, level: float = LEVEL):
        self.remaining = np.array(target_gram, dtype=np.float64)
        self.n = n
        self.eps2 = eps2
        self.level = level

    def update(self, z: Array, s: float) -> None:
        """A column was selected: ``Z'BZ`` falls by ``zz'/s``."""
        self.remaining -= np.outer(z, z) / s

    def threshold(self, n_candidates: int, n_selected: int = 0) -> float:
        """Quantile of the largest gain among ``n_candidates`` null columns."""
        if n_candidates < 1:
            return np.inf
        tail = -np.expm1(np.log(self.level) / n_candidates)
        largest = quadratic_form_quantile(np.linalg.eigvalsh(self.remaining), tail)
        # A null column keeps nearly all of its energy: the selected ones code a share of n_selected / n of it at most.
        energy = max(1.0 - n_selected / ((1.0 + self.eps2) * self.n), 0.0)
        return float(largest / (max(self.n - 1.0, 1.0) * (self.eps2 + energy)))

    def of_group(self, shares: Array, n_candidates: int) -> float:
        """Quantile of the gain of a group of columns taken together, as the largest of ``n_candidates``.

        ``shares`` are ``v / (v + eps2)`` of the eigenvalues ``v`` of what is left of the products among its columns.
        """
        tail = -np.expm1(np.log(self.level) / max(1, n_candidates))
        each = np.outer(np.linalg.eigvalsh(self.remaining), shares).ravel()
        return float(quadratic_form_quantile(each, tail) / max(self.n - 1.0, 1.0))
