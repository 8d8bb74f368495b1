"""Infinite feature selection (Inf-FS), without a target."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import eigsh

from easyfs.baselines.base import Problem, Scored, WeightedBaseline
from easyfs.common.parameters import check_number
from easyfs.common.threads import block_slices, for_blocks, large_product
from easyfs.common.types import Array

# Columns that are ranked, or multiplied with all others, at a time.
COLUMNS = 128
# Up to here all eigenvalues take less time than the largest by iteration.
DENSE = 500
# Nearer to 1 than this the longest paths are all that counts.
LARGEST_FACTOR = 0.999


def absolute_rank_correlation(X: Array, weight: Array | None = None) -> Array:
    """Absolute Spearman correlations of columns, tied values having the mean of their ranks.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Columns, none of them constant.
    weight : ndarray of shape (n,), optional
        Weights of the rows; a weight of 2 is the same as having the row twice.

    Returns
    -------
    ndarray of shape (m, m)
    """
    n, m = X.shape
    w = np.ones(n) if weight is None else weight
    ranks = np.empty((n, m), order="F")

    def rank(columns: slice) -> None:
        for j in range(columns.start, columns.stop):
            _, place = np.unique(X[:, j], return_inverse=True)
            held = np.bincount(place.reshape(-1), weights=w)
            ranks[:, j] = (np.cumsum(held) - held / 2.0)[place.reshape(-1)]
        part = ranks[:, columns]
        part -= w @ part / w.sum()
        part *= np.sqrt(w)[:, None]
        part /= np.linalg.norm(part, axis=0)

    correlation = np.empty((m, m))

    def multiply(columns: slice) -> None:
        correlation[columns] = np.minimum(np.abs(ranks[:, columns].T @ ranks), 1.0)

    blocks = block_slices(m, COLUMNS)
    for_blocks(rank, blocks)
    with large_product():
        for_blocks(multiply, blocks)
    return correlation


def path_scores(A: Array, factor: float = 0.9) -> Array:
    """Sum of the weights of all paths that start at each node of a graph, long ones counting less.

    The row sums of ``sum_{l>=1} (r A)^l = (I - r A)^-1 - I``, where ``r = factor / (largest eigenvalue of A)``, by solving
    ``(I - r A) x = 1``.

    Parameters
    ----------
    A : ndarray of shape (m, m)
        Symmetric weights, none negative.
    factor : float, default=0.9
        Above 0 and below 1.

    Returns
    -------
    ndarray of shape (m,)
    """
    m = len(A)
    radius = _largest_eigenvalue(A)
    if radius <= 0.0:
        return np.zeros(m)
    left = A * (-factor / radius)
    left[np.diag_indices(m)] += 1.0
    with large_product():
        factors = linalg.cho_factor(left, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(linalg.cho_solve(factors, np.ones(m), check_finite=False) - 1.0)


def _largest_eigenvalue(A: Array) -> float:
    m = len(A)
    if m <= DENSE:
        return float(linalg.eigvalsh(A, subset_by_index=[m - 1, m - 1])[0])
    start = 1.0 + 0.1 * np.random.default_rng(0).random(m)
    return float(eigsh(A, 1, which="LA", v0=start, return_eigenvectors=False)[0])


class InfFSSelector(WeightedBaseline):
    """Rank columns by all paths through a graph in which columns that vary much and repeat each other little are joined.

    The weights of the graph are ``A_ij = alpha max(s_i, s_j) + (1 - alpha) (1 - |Spearman_ij|)``, with the standard
    deviations s divided by the largest of them. A path is a set of columns, its value the product of its weights, and the
    score of a column the sum over all paths from it, of any length: the row sums of ``(I - r A)^-1 - I`` with
    ``r = factor / (largest eigenvalue of A)``. They come from one system of linear equations. The target is not looked at.

    Standard deviations depend on units, so columns are brought to the range from 0 to 1 before they are taken;
    ``rescale=False`` takes them as they are, which is the formula of the paper to the letter. The authors' later code lets
    alpha weigh the correlations instead, subtracts the smallest standard deviation and has a factor of 0.99; here these
    are as in the paper. This method only ranks.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count, or a share of the columns.
    alpha : float, default=0.5
        Between 0, only the correlations count, and 1, only the standard deviations count.
    factor : float, default=0.9
        How much longer paths count: above 0 and at most 0.999.
    rescale : bool, default=True
        Whether the standard deviations are in units of the range of each column.
    include, exclude : list of names or positions, optional
        Columns that are selected in any case; columns that never are.
    groups : sequence of labels, one for each column, optional
        Columns with the same label are selected or left together and count as one.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The value of all paths from each column.

    References
    ----------
    Roffo, Melzi and Cristani, "Infinite feature selection", ICCV 2015.
    """

    several_targets = True
    needs_target = False

    def __init__(
        self,
        n_features_to_select: Any = 0.5,
        *,
        alpha: float = 0.5,
        factor: float = 0.9,
        rescale: bool = True,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
    ):
        super().__init__(n_features_to_select, include=include, exclude=exclude, groups=groups)
        self.alpha = alpha
        self.factor = factor
        self.rescale = rescale

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, 0.0, 1.0)
        check_number("factor", self.factor, 0.0, LARGEST_FACTOR, above=True)

    def _score(self, problem: Problem) -> Scored:
        X = np.asarray(problem.X)
        spread = problem.scale
        if self.rescale:
            spread = spread / (X.max(axis=0).astype(np.float64) - X.min(axis=0))
        spread = spread / spread.max()
        A = absolute_rank_correlation(X, problem.weight)
        np.subtract(1.0, A, out=A)
        A *= 1.0 - self.alpha
        A += self.alpha * np.maximum.outer(spread, spread)
        return Scored(path_scores(A, self.factor))
