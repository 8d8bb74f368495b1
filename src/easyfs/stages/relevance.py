"""Stage 2, relevance: how much of the target one feature explains."""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from easyfs.common.types import Array

LEVEL = 0.95


def null_relevance(n: float, rank: int, n_drawn: int, level: float = LEVEL) -> float:
    """Relevance that the best of ``n_drawn`` nodes without any relation to the target stays below in ``level`` of cases.

    For a permuted target of ``rank`` orthonormal columns the relevance follows a beta distribution.
    """
    free = max(n - 1.0 - rank, 1.0)
    return float(beta.ppf(level ** (1.0 / max(1, n_drawn)), rank / 2.0, free / 2.0))


# Directions of the target this much weaker than its strongest are rounding.
SINGULAR_VALUE_CUTOFF = 1e-6


def orthonormal_basis(target_gram: Array) -> Array:
    """Combinations of the targets that make them orthonormal.

    Parameters
    ----------
    target_gram : ndarray of shape (t, t)
        Second moments ``Y'Y`` of the centred targets.

    Returns
    -------
    ndarray of shape (t, r)
        ``T`` such that the columns of ``Y T`` are orthonormal; ``r`` is the rank. Strongest direction first.
    """
    values, vectors = np.linalg.eigh(target_gram)
    keep = values > SINGULAR_VALUE_CUTOFF**2 * max(float(values[-1]), 0.0) if len(values) else values > 0
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


def conditional_variance(M: Array, y: Array) -> Array:
    """Conditional variance of the target given each feature (Eq. re_4).

    ``L_i = var(y) (1 - corr(M_i, y)^2)``; smaller is more relevant. With several targets, the sum over an orthonormal
    basis of them, so that neither their units nor their correlation count.

    Parameters
    ----------
    M : ndarray of shape (n, p)
        Features.
    y : ndarray of shape (n,) or (n, t)
        Target or targets.

    Returns
    -------
    ndarray of shape (p,)
    """
    M = np.asarray(M, dtype=np.float64)
    y = np.asarray(y, dtype=np.float64)
    M = M - M.mean(axis=0)
    Y = y.reshape(len(y), -1) - y.reshape(len(y), -1).mean(axis=0)
    basis = Y @ orthonormal_basis(Y.T @ Y)
    unexplained = basis.shape[1] - explained_share(M.T @ basis, np.einsum("ij,ij->j", M, M))
    return np.asarray(unexplained * (Y.var() if y.ndim == 1 else 1.0))


def within_class_std(M: Array, labels: Array) -> Array:
    """Standard deviation of each feature within each class (Eq. re_5), one row a class in sorted order.

    Smaller is more relevant to that class. Divides by the number of rows (ddof 0), so a class of one row gives 0.
    """
    M, labels = np.asarray(M), np.asarray(labels)
    return np.stack([M[labels == label].std(axis=0) for label in np.unique(labels)])
