"""The Laplacian score."""

from __future__ import annotations

from typing import Any

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
    """Rank columns by the Laplacian score: those that change little between neighbouring rows come first.

    ``f' L f / f' D f``, where f is the column less its mean weighted by the degrees, D the degrees and L the Laplacian of a
    graph that joins each row with its nearest neighbours. In the paper a small score is good; ``scores_`` is its
    negative. As in the well-known implementation, a row is joined with those it is near to and those that are near to
    it, and with itself, which counts in D and not in L. The target is not looked at. This method only ranks.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count, or a share of the columns.
    n_neighbors : int, default=5
        Neighbours of each row.
    weights : {"binary", "heat", "cosine"}, default="heat"
        Weights of neighbours: 1, ``exp(-distance^2 / (2 width^2))``, or the cosine of the angle between the rows.
    metric : {"euclidean", "cosine"}, default="euclidean"
        What near means.
    width : float, optional
        Width of the heat kernel; by default the root of the mean squared distance of any two rows.
    standardize : bool, default=True
        Whether the neighbours are found among standardised columns, so that units do not matter.
    include, exclude : list of names or positions, optional
        Columns that are selected in any case; columns that never are.
    groups : sequence of labels, one for each column, optional
        Columns with the same label are selected or left together and count as one.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Minus the Laplacian score of each column.

    References
    ----------
    He, Cai and Niyogi, "Laplacian score for feature selection", NIPS 2005.
    """

    several_targets = True
    needs_target = False

    def __init__(
        self,
        n_features_to_select: Any = 0.5,
        *,
        n_neighbors: int = 5,
        weights: str = "heat",
        metric: str = "euclidean",
        width: float | None = None,
        standardize: bool = True,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
    ):
        super().__init__(n_features_to_select, include=include, exclude=exclude, groups=groups)
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
