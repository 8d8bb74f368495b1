"""Spectral feature selection (SPEC)."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.graphs import (
    ClassGraph,
    components,
    degrees,
    leading_eigenvectors,
    neighbor_graph,
    smoothness,
    table_of,
    typical_distance,
)
from easyfs.common.parameters import check_choice, check_number
from easyfs.common.types import Array
from easyfs.tables.target import TASKS, Target

AFFINITIES = ("auto", "rbf", "neighbors", "class")
# Tables with more rows than this get a graph of neighbours.
FULL_ROWS = 3000


def spec_scores(W: Any, X: Array, style: int) -> Array:
    """Score columns by the spectrum of a graph.

    With the eigenpairs ``(l_j, u_j)`` of the normalised Laplacian ``I - D^-1/2 W D^-1/2``, smallest eigenvalue first, and
    ``F = D^1/2 f / |D^1/2 f|`` of a column f, the scores of the paper are

    - style -1: ``sum_j l_j (F'u_j)^2``, small is good;
    - style 0: ``sum_{j>=2} l_j (F'u_j)^2 / (1 - (F'u_1)^2)``, small is good;
    - style k: ``sum_{j=2..k} (2 - l_j) (F'u_j)^2``, large is good.

    The first two are ``f' L f / f' D f`` without and with the mean taken from f in ``f' D f``, so that no eigenvectors are
    needed. The eigenvalue 0 has as many eigenvectors beside u_1 as the graph has parts beside one; where style k takes
    only some of them, it takes the same share of each, since which they are is arbitrary. The eigenvalue 1 of a
    ClassGraph is treated alike.

    Parameters
    ----------
    W : csr_array, ndarray or ClassGraph of shape (n, n)
        Weights of the graph of the rows.
    X : ndarray of shape (n, m)
        Columns, none of them constant.
    style : int
        -1, 0, or k of at least 2.

    Returns
    -------
    ndarray of shape (m,)
    """
    changes, spread = smoothness(W, X)
    if style == 0:
        return changes / spread
    d = degrees(W)
    total = d @ np.square(X)
    if style == -1:
        return np.asarray(changes / total)
    n = len(X)
    wanted = min(style, n) - 1
    n_parts, parts = components(W)
    scores = 2.0 * min(1.0, wanted / max(1, n_parts - 1)) * _between_parts(X, d, n_parts, parts) / total
    if wanted < n_parts:
        return np.asarray(scores)
    if isinstance(W, ClassGraph):
        return np.asarray(scores + (wanted - n_parts + 1) / (n - n_parts) * changes / total)
    values, vectors = leading_eigenvectors(W, wanted)
    values, vectors = values[n_parts - 1 :], vectors[:, n_parts - 1 :]
    return np.asarray(scores + (1.0 + values) @ np.square((vectors * np.sqrt(d)[:, None]).T @ X) / total)


def _between_parts(X: Array, d: Array, n_parts: int, parts: Array) -> Array:
    """Sum of squares, weighted by the degrees, of the means of the parts of a graph about the mean of all."""
    volumes = np.bincount(parts, weights=d)
    means = np.stack([np.bincount(parts, weights=d * f, minlength=n_parts) for f in X.T], axis=1) / volumes[:, None]
    return np.asarray(volumes @ np.square(means - d @ X / d.sum()))


class SPECSelector(Baseline):
    """Select the columns that agree with the similarity of rows (SPEC).

    Similar rows are joined to a graph, and a column is good if it changes little between rows that are alike. By
    default rows are alike if their values are, and no target is needed; with ``affinity="class"`` rows are alike if
    they are of the same class. It is good for columns that follow the groups of a table. It judges each column alone
    and selects columns that repeat each other.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    style : int, default=0
        Which score of the paper: -1, 0, or a number of eigenvectors of at least 2, of which the first, trivial one is
        not used.
    affinity : {"auto", "rbf", "neighbors", "class"}, default="auto"
        How alike two rows are. "rbf": ``exp(-gamma distance^2)``, which takes memory for a number for each pair of
        rows. "neighbors": the same for the nearest neighbours of each row, and 0 for others. "class": 1 / (size of the
        class) in the same class, and 0 otherwise. "auto": "rbf" up to 3000 rows, "neighbors" for more.
    gamma : float, default=None
        See ``affinity``. None is 1 over the sum of the variances of the columns, which is 1 over their number where
        they are standardised.
    n_neighbors : int, default=10
        Number of nearest rows that each row is joined with, for ``affinity="neighbors"``.
    standardize : bool, default=True
        Whether columns are standardised first, so that units do not matter.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``. Only for ``affinity="class"``.
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
        Score of each column, larger is better: minus the score of the paper for styles -1 and 0. Excluded columns have
        ``-inf``.
    gains_ : ndarray of shape (n_features_,)
        Scores of the selected columns, in the order of ``order_``.
    n_features_ : int
        Number of selected columns.
    columns_ : list of ColumnInfo
        What each column holds (numbers, categories, dates, ...), how it was used, and how many of its values are
        missing.
    target_ : TargetInfo or None
        What the target holds, with ``affinity="class"``; otherwise None.
    n_rows_ : int
        Number of rows in the fit.
    task_ : {"classification"} or None
        What ``y`` was taken for, where it is used; otherwise None.
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes; only where ``y`` is used.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.

    See Also
    --------
    LaplacianScoreSelector : The same idea with other graphs of neighbours.
    FisherScoreSelector : Ranks as ``affinity="class"`` with style 0 does, and faster.
    EasyFS : Works with and without a target, and can choose the number of columns.

    Notes
    -----
    With the eigenpairs ``(l_j, u_j)`` of the normalised Laplacian of the graph, smallest eigenvalue first, its degrees
    D, and ``F = D^1/2 f / |D^1/2 f|`` of a column f, the paper has three scores:

     - style -1: ``sum_j l_j (F'u_j)^2``, which is to be small; - style 0: ``sum_{j>=2} l_j (F'u_j)^2 / (1 -
       (F'u_1)^2)``, which is to be small and is the Laplacian score; - style k: ``sum_{j=2..k} (2 - l_j) (F'u_j)^2``,
       which is to be large.

    ``scores_`` is larger for better columns: the first two are negated. The implementation in scikit-feature computes
    the same numbers and ranks by them the other way round, worst column first, for all three. With ``affinity="class"``
    the target must be classes, and style 0 ranks as the Fisher score does.

    References
    ----------
    .. [1] Zhao and Liu, "Spectral feature selection for supervised and unsupervised learning", ICML 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import SPECSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = SPECSelector(2).fit(X)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    several_targets = True
    needs_target = False

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        style: int = 0,
        affinity: Literal["auto", "rbf", "neighbors", "class"] = "auto",
        gamma: float | None = None,
        n_neighbors: int = 10,
        standardize: bool = True,
        task: Literal["auto", "classification", "regression"] = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.style = style
        self.affinity = affinity
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.standardize = standardize

    def _uses_target(self) -> bool:
        return self.affinity == "class"

    def _check_parameters(self) -> None:
        style = self.style
        if not isinstance(style, numbers.Integral) or isinstance(style, bool) or style < -1 or style == 1:
            raise ValueError(f"style={style!r}: give -1, 0, or a whole number of at least 2.")
        check_choice("affinity", self.affinity, AFFINITIES)
        check_choice("task", self.task, TASKS)
        if self.gamma is not None:
            check_number("gamma", self.gamma, 0.0, above=True)
        check_number("n_neighbors", self.n_neighbors, 1, whole=True)

    def _check_target(self, y: Any, n: int) -> Target:
        target = super()._check_target(y, n)
        if self._uses_target() and target.kind != "classes":
            found = "numbers (regression)" if target.task == "regression" else "several columns of labels"
            raise ValueError(
                f"affinity='class' needs a single column of classes, but y holds {found}; use affinity='auto', which does "
                "not look at y, or PearsonSelector."
            )
        return target

    def _score(self, problem: Problem) -> Scored:
        X = table_of(problem, self.standardize)
        scores = spec_scores(self._graph(X, problem), X, int(self.style))
        return Scored(scores if self.style > 0 else -scores)

    def _graph(self, X: Array, problem: Problem) -> Any:
        if self.affinity == "class":
            return ClassGraph(problem.y)
        gamma = 2.0 / typical_distance(X) ** 2 if self.gamma is None else self.gamma
        if self.affinity == "rbf" or (self.affinity == "auto" and len(X) <= FULL_ROWS):
            return rbf_kernel(X - X.mean(axis=0), gamma=gamma)
        return neighbor_graph(X, self.n_neighbors, weights="heat", width=float(np.sqrt(0.5 / gamma)))
