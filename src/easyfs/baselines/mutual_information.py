"""Mutual information with the target, estimated from nearest neighbours."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed
from scipy.spatial import cKDTree
from scipy.special import digamma
from sklearn.preprocessing import scale
from sklearn.utils import check_random_state

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.common.parameters import check_number
from easyfs.common.threads import block_rows, block_slices
from easyfs.common.types import Array

# Columns of whole numbers with at most this many distinct values are discrete where "auto" is to find out.
DISCRETE_LEVELS = 10
# Noise that separates equal values, relative to the mean absolute value.
NOISE = 1e-10
# Columns that a thread estimates at a time.
COLUMNS = 16


class MutualInformationSelector(Baseline):
    """Select the columns that share most information with the target.

    The score of a column is an estimate of its mutual information with the target, which is zero only if the column
    says nothing about the target. It sees relations of any shape, and is good where these are curved. It judges each
    column alone: it misses columns that matter only together and selects columns that repeat each other. With few rows
    the estimates are noisy.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    n_neighbors : int, default=3
        Number of nearest rows that an estimate is made from. More of them make estimates that vary less from sample to
        sample, and are lower.
    discrete_features : False, "auto" or list of int or str, default=False
        Which columns hold categories: none, those of whole numbers with at most 10 distinct values ("auto"), or those
        listed. A missing value is then a category of its own.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.
    n_jobs : int, default=None
        Number of threads; None means 1 and -1 means all cores. It does not change the result.
    random_state : int, RandomState instance or None, default=None
        Seed of the noise that separates equal values. Give a number to get the same answer each time.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Mutual information of each column with the target, in nats; with several targets, the mean over them. Estimates
        below 0 are 0. Excluded columns have ``-inf``.
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

    See Also
    --------
    PearsonSelector : Faster, but sees only straight-line relations.
    JMISelector : Mutual information of columns together with those selected before.
    EasyFS : Also sees joint effects and overlap, and can choose the number of columns.

    Notes
    -----
    The estimates are those of scikit-learn's ``mutual_info_classif`` and ``mutual_info_regression``: from distances to
    nearest neighbours [2]_ for numbers with classes and [1]_ for numbers with numbers, and from observed shares for
    classes with classes. Columns of numbers are scaled and get a little noise, which separates equal values. The same
    ``random_state`` gives the same estimates as there up to rounding, which counts only where distances are equal.

    A class with no more than ``n_neighbors`` rows is estimated from as many neighbours as it has, and a class of a
    single row is left out; a table with no more than ``n_neighbors`` rows is treated the same.

    References
    ----------
    .. [1] Kraskov, Stoegbauer and Grassberger, "Estimating mutual information", Physical Review E 69, 2004.
    .. [2] Ross, "Mutual information between discrete and continuous data sets", PLoS ONE 9, 2014.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import MutualInformationSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = MutualInformationSelector(2, random_state=0).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    several_targets = True

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        n_neighbors: int = 3,
        discrete_features: Literal[False, "auto"] | Sequence[int | str] = False,
        task: Literal["auto", "classification", "regression"] = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.n_neighbors = n_neighbors
        self.discrete_features = discrete_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("n_neighbors", self.n_neighbors, 1, whole=True)

    def _score(self, problem: Problem) -> Scored:
        n, m = problem.shape
        rng = check_random_state(self.random_state)
        discrete = self._discrete(self.discrete_features, problem, discrete_columns)
        X = np.array(problem.X, dtype=np.float64, order="C")
        for j in np.flatnonzero(discrete):
            X[:, j] = np.unique(X[:, j], return_inverse=True)[1].reshape(-1)
        if not discrete.all():
            _scale_and_disturb(X, ~discrete, rng)
        total = np.zeros(m)
        targets = problem.y.reshape(n, -1).T
        for values in targets:
            if (values == values[0]).all():  # such as a label that no row has
                continue
            target: _Classes | _Numbers
            if problem.target.task == "classification":
                target = _Classes(np.unique(values, return_inverse=True)[1].reshape(-1), self.n_neighbors)
                if not target.n_rows and not discrete.all():
                    raise ValueError(
                        f"each of the {n} classes in y has one row only, so that mutual information cannot be estimated; "
                        "give more rows, or say task='regression' if y holds quantities."
                    )
            else:
                y = scale(values, with_mean=False)
                y += NOISE * np.maximum(1, np.mean(np.abs(y))) * rng.standard_normal(size=n)
                target = _Numbers(y, self.n_neighbors)
            parts = Parallel(n_jobs=self.n_jobs, prefer="threads")(
                delayed(_estimate)(target, X, discrete, columns) for columns in block_slices(m, COLUMNS)
            )
            total += np.concatenate(parts)
        return Scored(total / len(targets))


def discrete_columns(problem: Problem) -> Array:
    """Columns whose observed values are few different whole numbers, at least one of which occurs twice."""
    X = problem.X
    found = np.zeros(X.shape[1], dtype=bool)
    for j in range(X.shape[1]):
        column = X[:, j]
        if problem.observed[j] < 1.0:
            column = column[column != problem.center[j].astype(X.dtype)]
        values = np.unique(column) if (column == np.floor(column)).all() else column
        found[j] = len(values) <= min(DISCRETE_LEVELS, len(X) - 1) and len(values) < len(column)
    return found


def _scale_and_disturb(X: Array, columns: Array, rng: Any) -> None:
    """Scale columns to a standard deviation of 1, without centring, and add noise; in place, as scikit-learn does."""
    part = X if columns.all() else X[:, columns]
    part = scale(part, with_mean=False, copy=False)
    size = NOISE * np.maximum(1, np.mean(np.abs(part), axis=0))
    for rows in block_slices(len(X), block_rows(X.shape[1], 8)):
        part[rows] += size * rng.standard_normal(size=part[rows].shape)
    if part is not X:
        X[:, columns] = part


def _estimate(target: _Classes | _Numbers, X: Array, discrete: Array, columns: slice) -> Array:
    found = [
        target.with_classes(x.astype(np.intp)) if is_discrete else target.with_numbers(x)
        for x, is_discrete in zip(np.ascontiguousarray(X[:, columns].T), discrete[columns], strict=True)
    ]
    return np.maximum(found, 0.0)


def count_within(values: Array, points: Array, radius: Array) -> Array:
    """How many of ``values`` are no further than ``radius`` from each point.

    Parameters
    ----------
    values : ndarray of shape (n,)
        In ascending order.
    points, radius : ndarray of shape (p,)
        Distances are compared as they are computed, ``abs(value - point) <= radius``, not by the rounded ends of the range.

    Returns
    -------
    ndarray of int, shape (p,)
    """
    padded = np.concatenate([[-np.inf], values, [np.inf]])
    end = np.searchsorted(values, points + radius, side="right") + 1
    while (late := padded[end - 1] - points > radius).any():
        end -= late
    while (early := padded[end] - points <= radius).any():
        end += early
    start = np.searchsorted(values, points - radius, side="left") + 1
    while (late := points - padded[start - 1] <= radius).any():
        start -= late
    while (early := points - padded[start] > radius).any():
        start += early
    return np.asarray(end - start)


class _Classes:
    """A column of classes: estimates with columns of numbers (Ross) and with columns of classes."""

    def __init__(self, codes: Array, n_neighbors: int):
        self.codes = codes
        sizes = np.bincount(codes)
        self.rows = np.flatnonzero(sizes[codes] > 1)
        self.n_rows = len(self.rows)
        self.labels = codes[self.rows].astype(np.uint16 if len(sizes) < 1 << 16 else np.intp)
        # Rows are put in order of their class and, within it, of their value. The nearest k neighbours are next to a row: j
        # before it and k - j behind it, for some j.
        sizes = sizes[sizes > 1]
        own = np.repeat(sizes, sizes)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        k = np.minimum(n_neighbors, own - 1)
        before = np.arange(k.max(initial=0) + 1)[:, None]
        self.low = np.arange(self.n_rows) - before
        self.high = self.low + k
        self.outside = (before > k) | (self.low < first) | (self.high >= first + own)
        self.low[self.outside] = self.high[self.outside] = 0
        if self.n_rows:
            self.digamma = digamma(np.arange(self.n_rows + 1))
            self.constant = self.digamma[-1] + self.digamma[k].mean() - self.digamma[own].mean()

    def with_numbers(self, x: Array) -> float:
        """Mutual information with a column of numbers."""
        if not self.n_rows:
            return 0.0
        x = x[self.rows]
        order = np.argsort(x)
        ordered = x[order]
        by_class = ordered[np.argsort(self.labels[order], kind="stable")]
        span = np.maximum(by_class - by_class[self.low], by_class[self.high] - by_class)
        span[self.outside] = np.inf
        radius = np.nextafter(span.min(axis=0), 0.0)
        return float(self.constant - self.digamma[count_within(ordered, by_class, radius)].mean())

    def with_classes(self, x: Array) -> float:
        """Mutual information with a column of classes."""
        n = len(x)
        counts = np.bincount(x * (self.codes.max() + 1) + self.codes)
        return _entropy(np.bincount(x), n) + _entropy(np.bincount(self.codes), n) - _entropy(counts, n)


class _Numbers:
    """A column of numbers: estimates with columns of numbers (Kraskov et al.) and with columns of classes (Ross)."""

    def __init__(self, y: Array, n_neighbors: int):
        self.n_neighbors = n_neighbors
        self.rows = np.argsort(y)  # points that follow each other in one direction are found sooner in the tree
        self.y = y[self.rows]
        self.digamma = digamma(np.arange(len(y) + 1))

    def with_numbers(self, x: Array) -> float:
        """Mutual information with a column of numbers."""
        n = len(x)
        k = min(self.n_neighbors, n - 1)
        x = x[self.rows]
        both = np.column_stack([x, self.y])
        tree = cKDTree(both, balanced_tree=False)
        radius = tree.query(both, [k + 1], p=np.inf)[0][:, 0]  # the first is the point itself
        radius = np.nextafter(radius, 0.0)
        near_x, near_y = count_within(np.sort(x), x, radius), count_within(self.y, self.y, radius)
        return float(self.digamma[n] + self.digamma[k] - self.digamma[near_x].mean() - self.digamma[near_y].mean())

    def with_classes(self, x: Array) -> float:
        """Mutual information with a column of classes."""
        return _Classes(x[self.rows], self.n_neighbors).with_numbers(self.y)


def _entropy(counts: Array, n: int) -> float:
    shares = counts[counts > 0] / n
    return float(-np.sum(shares * np.log(shares)))
