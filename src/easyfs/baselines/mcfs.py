"""Multi-cluster feature selection (MCFS)."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lars

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.graphs import check_graph_parameters, degrees, leading_eigenvectors, neighbor_graph, table_of
from easyfs.common.parameters import check_number
from easyfs.common.types import Array


def spectral_embedding(W: Any, n_clusters: int) -> Array:
    """The solutions of ``W y = l D y`` with the largest l, without the constant one.

    Parameters
    ----------
    W : csr_array or ndarray of shape (n, n)
        Weights of the graph of the rows.
    n_clusters : int
        How many solutions; at most n - 1 are there.

    Returns
    -------
    ndarray of shape (n, min(n_clusters, n - 1))
        A column for each solution, of length 1 by the degrees (``y' D y = 1``), largest l first. See
        :func:`~easyfs.baselines.graphs.leading_eigenvectors` for graphs of several parts.
    """
    return leading_eigenvectors(W, n_clusters)[1] / np.sqrt(degrees(W))[:, None]


def lars_coefficients(X: Array, Y: Array, n_nonzero_coefs: int) -> Array:
    """Coefficients of least angle regression of each column of Y on those of X, with an intercept.

    Parameters
    ----------
    X : ndarray of shape (n, m)
    Y : ndarray of shape (n, t)
    n_nonzero_coefs : int
        Steps to take. A step adds a column, unless a coefficient changes its sign or the columns left are combinations of
        those that are in.

    Returns
    -------
    ndarray of shape (m, t)
    """
    n, m = X.shape
    # Lars stops, and tells a column from combinations of others, at absolute thresholds: it gets columns of length 1.
    size, sizes = X.std(axis=0).max() * np.sqrt(n), Y.std(axis=0) * np.sqrt(n)
    scaled = np.asfortranarray((X - X.mean(axis=0)) / size)
    steps = min(n_nonzero_coefs, m, n - 1)
    model = Lars(n_nonzero_coefs=steps, precompute=m <= n, fit_path=False, copy_X=False)
    with warnings.catch_warnings():
        # Columns that repeat others are left out, which is as it should be.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(scaled, (Y - Y.mean(axis=0)) / sizes)
    return np.asarray(model.coef_.reshape(Y.shape[1], m).T * (sizes / size))


def mcfs_order(scores: Array, X: Array, Y: Array) -> Array:
    """Columns by score; those of score zero by their largest absolute correlation with a column of Y."""
    Z, E = X - X.mean(axis=0), Y - Y.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=0)
    E /= np.linalg.norm(E, axis=0)
    correlation = np.abs(Z.T @ E).max(axis=1)
    return np.lexsort((np.where(scores > 0, 0.0, -correlation), -scores))


class MCFSSelector(Baseline):
    """Select the columns that tell clusters of rows apart (MCFS).

    Similar rows are joined to a graph whose clusters are described by a few directions, and columns are selected that
    explain these directions in a sparse regression. No target is needed. It is good for data that fall into groups, and
    it takes few columns that repeat each other. It does not know what the columns are for, and needs an idea of the
    number of clusters.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    n_clusters : int, default=5
        Number of directions that are explained: the number of clusters, where it is known.
    n_neighbors : int, default=5
        Number of nearest rows that each row is joined with.
    weights : {"binary", "heat", "cosine"}, default="heat"
        How much a neighbour counts: 1, ``exp(-distance^2 / (2 width^2))``, or the cosine of the angle between the rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        How the distance of two rows is measured.
    width : float, default=None
        Width of ``weights="heat"``; None is the root of the mean squared distance of any two rows.
    n_nonzero_coefs : int, default=None
        Number of steps of each regression, each of which lets in one column; None is the number of columns to select.
    standardize : bool, default=True
        Whether columns are standardised first, so that units do not matter.
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
        Largest absolute coefficient of each column in the regressions. Excluded columns have ``-inf``.
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
    LaplacianScoreSelector : Judges each column alone by how little it changes between similar rows.
    SPECSelector : Judges each column alone by the same directions.
    EasyFS : Without a target, selects columns that stand in for all others.

    Notes
    -----
    The directions are the eigenvectors of the Laplacian of the graph with the smallest eigenvalues but the trivial one:
    the solutions y of ``L y = l D y``. Each of them is fitted by least angle regression on the columns, stopped after
    ``n_nonzero_coefs`` steps, and the score of a column is the largest absolute coefficient it got. The implementation
    in scikit-feature takes the largest signed coefficient, which depends on the arbitrary signs of the eigenvectors;
    here it is the absolute one, as in the paper. Columns that no regression took up have a score of zero and come by
    their largest absolute correlation with an eigenvector.

    References
    ----------
    .. [1] Cai, Zhang and He, "Unsupervised feature selection for multi-cluster data", KDD 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import MCFSSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = MCFSSelector(2, n_clusters=3).fit(X)
    >>> list(selector.get_feature_names_out())
    ['sepal width (cm)', 'petal length (cm)']
    """

    several_targets = True
    needs_target = False

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        n_clusters: int = 5,
        n_neighbors: int = 5,
        weights: Literal["binary", "heat", "cosine"] = "heat",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        width: float | None = None,
        n_nonzero_coefs: int | None = None,
        standardize: bool = True,
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
    ):
        super().__init__(n_features_to_select, include=include, exclude=exclude, feature_groups=feature_groups)
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.width = width
        self.n_nonzero_coefs = n_nonzero_coefs
        self.standardize = standardize

    def _check_parameters(self) -> None:
        check_number("n_clusters", self.n_clusters, 1, whole=True)
        check_graph_parameters(self.n_neighbors, self.weights, self.metric, self.width)
        if self.n_nonzero_coefs is not None:
            check_number("n_nonzero_coefs", self.n_nonzero_coefs, 1, whole=True)

    def _score(self, problem: Problem) -> Scored:
        X = table_of(problem, self.standardize)
        W = neighbor_graph(X, self.n_neighbors, weights=self.weights, metric=self.metric, width=self.width)
        Y = spectral_embedding(W, self.n_clusters)
        assert problem.count is not None
        steps = problem.count if self.n_nonzero_coefs is None else self.n_nonzero_coefs
        coefficients = lars_coefficients(X, Y, steps)
        scores = np.abs(coefficients).max(axis=1)
        return Scored(scores, order=mcfs_order(scores, X, Y))
