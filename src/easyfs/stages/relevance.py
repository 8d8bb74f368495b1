"""Stage 2, relevance: how much of the target one feature explains."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import betaincinv

from easyfs.common.types import Array
from easyfs.stages.partial import PIVOT

LEVEL = 0.95


def null_relevance(n: float, rank: int, n_drawn: int, level: float = LEVEL) -> float:
    """Relevance that the best of ``n_drawn`` nodes without any relation to the target stays below in ``level`` of cases.

    For a permuted target of ``rank`` orthonormal columns the relevance follows a beta distribution.
    """
    free = max(n - 1.0 - rank, 1.0)
    return float(betaincinv(rank / 2.0, free / 2.0, level ** (1.0 / max(1, n_drawn))))


# Directions of the target with less than this share of the energy of its strongest are rounding, by the precision of rows.
ROUNDING = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
# A variance within a class below this share of the variance of all rows is rounding.
WITHIN_ROUNDING = 1e-12


def orthonormal_basis(
    target_gram: Array, *, classes: bool = False, dtype: Any = np.float64, before: Array | None = None
) -> Array:
    """Combinations of the targets that make them orthonormal.

    Parameters
    ----------
    target_gram : ndarray of shape (t, t)
        Second moments ``Y'Y`` of the centred targets.
    classes : bool, default=False
        Whether targets are indicators of classes, one of which each row has. They add up to a constant; that direction is
        taken out, as rounding may leave something of it.
    dtype : dtype, default=float64
        Precision of the rows.
    before : ndarray of shape (t, t), optional
        What ``target_gram`` was before some columns were taken out: directions of which these leave rounding are none.

    Returns
    -------
    ndarray of shape (t, r)
        ``T`` such that the columns of ``Y T`` are orthonormal; ``r`` is the rank. Strongest direction first.
    """
    rounding = ROUNDING[np.dtype(dtype)]
    if classes:
        there = np.diagonal(target_gram) > 0  # a class without rows is no target
        constant = there / np.sqrt(max(1, there.sum()))
        across = target_gram @ constant
        target_gram = target_gram - np.outer(across, constant) - np.outer(constant, across)
        target_gram += float(constant @ across) * np.outer(constant, constant)
        rounding = ROUNDING[np.dtype(np.float64)]  # the others are counts, and those of rare classes small
    values, vectors = np.linalg.eigh(target_gram)
    keep = values > rounding * max(float(values[-1]), 0.0) if len(values) else values > 0
    if before is not None:
        keep &= values > PIVOT[np.dtype(dtype)] * np.einsum("ij,ij->j", vectors, before @ vectors)
    basis = vectors[:, keep] / np.sqrt(values[keep])
    basis = basis[:, ::-1]
    flip = np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(basis.shape[1])]) if basis.size else 1.0
    return np.asarray(basis * flip)


def explained_share(cross: Array, energy: Array) -> Array:
    """Share of an orthonormal target that each feature explains, ``rho_i = |Y'm_i|^2 / |m_i|^2``.

    Parameters
    ----------
    cross : ndarray of shape (p, r)
        Products of the centred features with an orthonormal basis of the centred targets.
    energy : ndarray of shape (p,)
        Sum of squares of each centred feature.

    Returns
    -------
    ndarray of shape (p,)
        Between 0 and ``r``; 0 for a feature without energy.
    """
    squared = np.einsum("ij,ij->i", cross, cross)
    return np.asarray(np.divide(squared, energy, out=np.zeros_like(squared), where=energy > 0))


def conditional_variance(cross: Array, target_gram: Array, energy: Array, dtype: Any = np.float64) -> Array:
    """Conditional variance of the target given each feature, in units of the target's variance (Eq. re_4).

    ``L_i = 1 - corr(M_i, y)^2``; smaller is more relevant. With several targets, the sum over an orthonormal basis of them,
    so that neither their units nor their correlation count.

    Parameters
    ----------
    cross : ndarray of shape (p, t)
        ``M'Y``, products of the centred features with the centred targets.
    target_gram : ndarray of shape (t, t)
        ``Y'Y``.
    energy : ndarray of shape (p,)
        Sum of squares of each centred feature.
    dtype : dtype, default=float64
        Precision of the rows.

    Returns
    -------
    ndarray of shape (p,)
    """
    basis = orthonormal_basis(target_gram, dtype=dtype)
    return np.asarray(basis.shape[1] - explained_share(cross @ basis, energy))


def within_class_std(squares: Array, n: float, spread: Array) -> Array:
    """Standard deviation of each feature within a class (Eq. re_5), in units of its spread over all rows.

    Smaller is more relevant to that class. Divides by the number of rows (ddof 0), so a class of one row gives 0.

    Parameters
    ----------
    squares : ndarray of shape (p,)
        Sum of squares of each feature about its mean in the class.
    n : float
        Rows of the class.
    spread : ndarray of shape (p,)
        Standard deviation of each feature over all rows.
    """
    variance = squares / n / spread**2
    return np.sqrt(np.where(variance < WITHIN_ROUNDING, 0.0, variance))
