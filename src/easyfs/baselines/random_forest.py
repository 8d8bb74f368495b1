"""Importance of the columns in a random forest."""

from __future__ import annotations

import numbers
from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils import check_random_state

from easyfs.baselines.base import Baseline, Problem, Scored, scaled_targets
from easyfs.baselines.progress import Watch
from easyfs.common.parameters import check_choice, check_number
from easyfs.common.types import Array

IMPORTANCES = ("impurity", "permutation")
MAX_FEATURES = ("auto", "sqrt", "log2")


class RandomForestSelector(Baseline):
    """Select the columns that matter most to a random forest.

    A forest of scikit-learn is trained, and a column is good if its splits improve the trees or, with
    ``importance="permutation"``, if shuffling its values makes their predictions worse. It sees curves and columns that
    matter together, and takes any scale and odd values. Columns that repeat each other share their importance, so that
    all of them may look weak. It is slow for tables with very many columns.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.
    n_estimators : int, default=100
        Number of trees.
    max_depth : int, default=None
        Largest depth of a tree; None lets trees grow until their leaves are pure.
    max_features : {"auto", "sqrt", "log2"}, int, float or None, default="auto"
        Number of columns that are tried at each split. "auto" is the square root of the number of columns for classes
        and all columns for numbers, as in scikit-learn; None is all columns.
    min_samples_leaf : int or float, default=1
        Smallest number of rows in a leaf: a count, or a share of the rows below 1.
    importance : {"impurity", "permutation"}, default="impurity"
        How importance is measured. "impurity" is quick but favours columns with many different values; "permutation" is
        slower and fairer.
    n_jobs : int, default=None
        Number of threads; None means 1 and -1 means all cores. It does not change the result.
    time_limit : float, default=None
        Seconds after which no more trees are begun; there is always at least one for each thread. The trees that were
        grown by then are the first of those that would have been.
    random_state : int, RandomState instance or None, default=None
        Seed of the forest and of the shuffling. Give a number to get the same answer each time.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each column. Excluded columns have ``-inf``.
    gains_ : ndarray of shape (n_features_,)
        Scores of the selected columns, in the order of ``order_``.
    n_features_ : int
        Number of selected columns.
    columns_ : list of ColumnInfo
        What each column holds (numbers, categories, dates, ...), how it was used, and how many of its values are
        missing.
    target_ : TargetInfo
        What the target holds.
    n_rows_ : int
        Number of rows in the fit.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes; only where ``y`` is one column of classes.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.
    n_estimators_ : int
        Number of trees that were grown.
    stop_reason_ : {"n_estimators", "time_limit"}
        Why no more trees were grown.

    See Also
    --------
    XGBoostSelector : Importance in gradient-boosted trees.
    ReliefFSelector : Sees columns that matter together without a model.
    EasyFS : Needs no model and avoids overlap, and can choose the number of columns.

    Notes
    -----
    ``importance="impurity"`` is the share of the decrease of impurity (Gini, or squared error) that splits on a column
    bring, on the rows that the trees were grown on.

    ``importance="permutation"`` is Breiman's: for each tree, the loss of accuracy (numbers: the growth of the mean
    squared error, in units of the variance) on the rows that the tree was not grown on when the values of a column are
    shuffled among them, averaged over the trees and, with several targets, over the targets. A column that no tree
    splits on has importance 0; the importance of a useless one may be slightly negative. (scikit-learn's
    ``permutation_importance`` shuffles for the forest as a whole, on rows that have to be set aside.)

    Columns without importance keep the order of the table. Columns are scaled before, which is no matter to trees but
    for rounding to float32; several targets are scaled to the same variance.

    References
    ----------
    .. [1] Breiman, "Random forests", Machine Learning 45, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import RandomForestSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = RandomForestSelector(2, random_state=0).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    several_targets = True
    keeps_sparse = True

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
        n_estimators: int = 100,
        max_depth: int | None = None,
        max_features: int | float | Literal["auto", "sqrt", "log2"] | None = "auto",
        min_samples_leaf: int | float = 1,
        importance: Literal["impurity", "permutation"] = "impurity",
        n_jobs: int | None = None,
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.min_samples_leaf = min_samples_leaf
        self.importance = importance
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("n_estimators", self.n_estimators, 1, whole=True)
        if self.max_depth is not None:
            check_number("max_depth", self.max_depth, 1, whole=True)
        if isinstance(self.max_features, str):
            check_choice("max_features", self.max_features, MAX_FEATURES)
        elif isinstance(self.max_features, float):
            check_number("max_features", self.max_features, 0.0, 1.0, above=True)
        elif self.max_features is not None:
            check_number("max_features", self.max_features, 1, whole=True)
        if isinstance(self.min_samples_leaf, float):
            check_number("min_samples_leaf", self.min_samples_leaf, 0.0, 0.5, above=True)
        else:
            check_number("min_samples_leaf", self.min_samples_leaf, 1, whole=True)
        check_choice("importance", self.importance, IMPORTANCES)
        if self.time_limit is not None:
            check_number("time_limit", self.time_limit, 0.0)

    def _score(self, problem: Problem) -> Scored:
        watch = Watch(type(self).__name__, None, self.time_limit)
        classes = problem.target.task == "classification"
        max_features = ("sqrt" if classes else 1.0) if self.max_features == "auto" else self.max_features
        if isinstance(max_features, numbers.Integral):
            max_features = min(int(max_features), problem.shape[1])
        random = check_random_state(self.random_state)
        forest = (RandomForestClassifier if classes else RandomForestRegressor)(
            self.n_estimators,
            max_depth=self.max_depth,
            max_features=max_features,
            min_samples_leaf=self.min_samples_leaf,
            n_jobs=self.n_jobs,
            random_state=random,
        )
        X, Y = _scaled(problem), problem.y
        if classes and not problem.is_classes:
            Y = Y.astype(np.int64)
        elif not classes and not (Y.shape[1] == 1 and _is_plain(Y)):
            Y = scaled_targets(Y)
        grow(forest, X, Y.ravel() if Y.ndim == 1 or Y.shape[1] == 1 else Y, random, watch)
        self.n_estimators_ = len(forest.estimators_)
        self.stop_reason_ = "time_limit" if self.n_estimators_ < self.n_estimators else "n_estimators"
        if self.importance == "impurity":
            return Scored(forest.feature_importances_)
        dense = X.toarray() if sparse.issparse(X) else X
        return Scored(permutation_importance(forest, dense, Y.reshape(len(Y), -1), random, self.n_jobs))


def grow(forest: Any, X: Any, Y: Array, random: Any, watch: Watch) -> None:
    """Fit the forest; where there is a time limit, a few trees at a time, the same ones as without it."""
    if np.isinf(watch.end):
        forest.fit(X, Y)
        return
    wanted, at_a_time = forest.n_estimators, effective_n_jobs(forest.n_jobs)
    start = random.get_state()
    forest.set_params(warm_start=True, n_estimators=0)
    while forest.n_estimators < wanted and (forest.n_estimators == 0 or not watch.is_over()):
        forest.n_estimators = min(forest.n_estimators + at_a_time, wanted)
        random.set_state(start)  # a forest that goes on passes over the seeds of the trees it has
        forest.fit(X, Y)


def permutation_importance(forest: Any, X: Array, Y: Array, random: Any, n_jobs: int | None = None) -> Array:
    """Mean growth of the error of each tree, on the rows it was not grown on, when a column is shuffled among them.

    Parameters
    ----------
    forest : RandomForestClassifier or RandomForestRegressor
        Fitted on ``X`` and ``Y``.
    X : ndarray of float32, shape (n, m)
        The columns.
    Y : ndarray of shape (n, t)
        Class codes or numbers. The error is the share of wrong codes, or the squared error in units of the variance; the
        mean over the targets.
    random : RandomState
        Source of the shuffling.
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    ndarray of shape (m,)
    """
    n = len(X)
    classes = hasattr(forest, "classes_")
    unit = np.where(np.ptp(Y, axis=0) > 0, Y.var(axis=0), 1.0)
    seeds = random.randint(np.iinfo(np.int32).max, size=len(forest.estimators_))

    def error(tree: Any, rows: Array, truth: Array) -> float:
        predicted = np.asarray(tree.predict(rows, check_input=False)).reshape(truth.shape)
        return float((predicted != truth).mean() if classes else (np.square(predicted - truth) / unit).mean())

    def growth(tree: Any, grown_on: Array, seed: int) -> tuple[Array, Array]:
        own = np.random.RandomState(seed)
        out = np.setdiff1d(np.arange(n), grown_on)
        used = np.unique(tree.tree_.feature[tree.tree_.feature >= 0])
        if not len(out):
            return used, np.zeros(len(used))
        rows, truth = X[out], Y[out]
        before = error(tree, rows, truth)
        grown = np.empty(len(used))
        for i, column in enumerate(used):
            kept = rows[:, column].copy()
            rows[:, column] = own.permutation(kept)
            grown[i] = error(tree, rows, truth) - before
            rows[:, column] = kept
        return used, grown

    parts = Parallel(n_jobs=n_jobs, prefer="threads")(
        delayed(growth)(*work) for work in zip(forest.estimators_, forest.estimators_samples_, seeds, strict=True)
    )
    importance = np.zeros(X.shape[1])
    for used, grown in parts:
        importance[used] += grown / len(parts)
    return importance


def _scaled(problem: Problem) -> Any:
    """Columns as float32, in units of their standard deviation, so that nothing is out of range or lost to a large mean."""
    if not sparse.issparse(problem.X):
        return np.ascontiguousarray(problem.standardized(np.float32))
    return sparse.csc_matrix(problem.X.multiply(1.0 / problem.scale).astype(np.float32))


def _is_plain(Y: Array) -> bool:
    """Whether squares of these numbers can be summed without loss."""
    size = float(np.abs(Y).max())
    return 1e-100 < size < 1e100 and size < 1e4 * float(Y.std())
