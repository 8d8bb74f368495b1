"""Infinite feature selection (Inf-FS), without a target."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import eigsh

from easyfs.baselines.base import Problem, Scored, WeightedBaseline
from easyfs.common.parameters import check_number
from easyfs.common.threads import block_slices, for_blocks, threads_of_blas
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
    with threads_of_blas():
        factors = linalg.cho_factor(left, lower=True, overwrite_a=True, check_finite=False)
        return np.asarray(linalg.cho_solve(factors, np.ones(m), check_finite=False) - 1.0)


def _largest_eigenvalue(A: Array) -> float:
    m = len(A)
    if m <= DENSE:
        return float(linalg.eigvalsh(A, subset_by_index=[m - 1, m - 1])[0])
    start = 1.0 + 0.1 * np.random.default_rng(0).random(m)
    return float(eigsh(A, 1, which="LA", v0=start, return_eigenvectors=False)[0])


class InfFSSelector(WeightedBaseline):
    """Select columns that vary much and repeat each other little (Inf-FS).

    Every two columns are joined by a weight that is large if they vary much and correlate little, and a column is good
    if many strong paths lead from it through the others. No target is needed. It is good for reducing overlap in a
    table with no target. Columns of pure noise vary much and repeat nothing, so it likes them too.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    alpha : float, default=0.5
        Balance between 0, where only the correlations count, and 1, where only the standard deviations count.
    factor : float, default=0.9
        How much longer paths count: above 0 and at most 0.999.
    rescale : bool, default=True
        Whether standard deviations are divided by the range of the column, so that units do not matter.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Value of all paths from each column. Excluded columns have ``-inf``.
    gains_ : ndarray of shape (n_features_,)
        Scores of the selected columns, in the order of ``order_``.
    n_features_ : int
        Number of selected columns.
    columns_ : list of ColumnInfo
        What each column holds (numbers, categories, dates, ...), how it was used, and how many of its values are
        missing.
    target_ : None
        Always None, because the target is not used.
    n_rows_ : int
        Number of rows in the fit.
    task_ : None
        Always None, because the target is not used.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.

    See Also
    --------
    LaplacianScoreSelector : Compares similar rows instead of columns.
    MCFSSelector : Looks for columns that tell clusters of rows apart.
    EasyFS : Without a target, selects columns that stand in for all others.

    Notes
    -----
    The weights are ``A_ij = alpha max(s_i, s_j) + (1 - alpha) (1 - |Spearman_ij|)``, with the standard deviations s
    divided by the largest of them. The value of a path is the product of its weights, and the score of a column the sum
    over all paths from it, of any length: the row sums of ``(I - r A)^-1 - I`` with ``r = factor / (largest eigenvalue
    of A)``. They come from one system of linear equations.

    ``rescale=False`` is the formula of the paper to the letter. The authors' later code lets alpha weigh the
    correlations instead, subtracts the smallest standard deviation and has a factor of 0.99; here these are as in the
    paper.

    References
    ----------
    .. [1] Roffo, Melzi and Cristani, "Infinite feature selection", ICCV 2015.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from easyfs import InfFSSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = InfFSSelector(3).fit(X)
    >>> list(selector.get_feature_names_out())
    ['malic_acid', 'nonflavanoid_phenols', 'od280/od315_of_diluted_wines']
    """

    several_targets = True
    needs_target = False

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        alpha: float = 0.5,
        factor: float = 0.9,
        rescale: bool = True,
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
    ):
        super().__init__(n_features_to_select, include=include, exclude=exclude, feature_groups=feature_groups)
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
