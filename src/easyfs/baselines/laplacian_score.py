"""The Laplacian score."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.graphs import check_graph_parameters, neighbor_graph, smoothness, table_of
from easyfs.common.types import Array


def laplacian_score(W: Any, X: Array) -> Array:
    """How much columns change between neighbours, for how much they vary.

    Parameters
    ----------
    W : csr_array, ndarray or ClassGraph of shape (n, n)
        Weights of the graph of the rows.
    X : ndarray of shape (n, m)
        Columns, none of them constant.

    Returns
    -------
    ndarray of shape (m,)
        The Laplacian score: small is good.
    """
    changes, spread = smoothness(W, X)
    return changes / spread


class LaplacianScoreSelector(Baseline):
    """Select the columns that change little between similar rows (Laplacian score).

    Each row is joined with the rows most similar to it, and a column is good if joined rows have similar values in it.
    No target is needed. It is good for finding columns that follow the groups or the smooth structure of a table. It
    does not know what the columns are for, selects columns that repeat each other, and takes a time that grows with the
    square of the number of rows.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    n_neighbors : int, default=5
        Number of nearest rows that each row is joined with.
    weights : {"binary", "heat", "cosine"}, default="heat"
        How much a neighbour counts: 1, ``exp(-distance^2 / (2 width^2))``, or the cosine of the angle between the rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        How the distance of two rows is measured.
    width : float, default=None
        Width of ``weights="heat"``; None is the root of the mean squared distance of any two rows.
    standardize : bool, default=True
        Whether similar rows are found among standardised columns, so that units do not matter.
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
        Minus the Laplacian score of each column, so that larger is better. Excluded columns have ``-inf``.
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
    SPECSelector : A family of scores that has this one as a member.
    MCFSSelector : Looks for columns that tell clusters of rows apart together.
    EasyFS : Without a target, selects columns that stand in for all others.

    Notes
    -----
    The score of the paper is ``f' L f / f' D f``, where f is the column less its mean weighted by the degrees, D the
    degrees and L the Laplacian of the graph. There a small score is good; ``scores_`` is its negative. As in the
    well-known implementation, a row is joined with those it is near to and those that are near to it, and with itself,
    which counts in D and not in L.

    References
    ----------
    .. [1] He, Cai and Niyogi, "Laplacian score for feature selection", NIPS 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import LaplacianScoreSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = LaplacianScoreSelector(2).fit(X)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    several_targets = True
    needs_target = False

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        n_neighbors: int = 5,
        weights: Literal["binary", "heat", "cosine"] = "heat",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        width: float | None = None,
        standardize: bool = True,
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
    ):
        super().__init__(n_features_to_select, include=include, exclude=exclude, feature_groups=feature_groups)
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.width = width
        self.standardize = standardize

    def _check_parameters(self) -> None:
        check_graph_parameters(self.n_neighbors, self.weights, self.metric, self.width)

    def _score(self, problem: Problem) -> Scored:
        X = table_of(problem, self.standardize)
        W = neighbor_graph(X, self.n_neighbors, weights=self.weights, metric=self.metric, width=self.width)
        return Scored(-laplacian_score(W, X))
