"""What the published methods share: the checks, the columns that count, and from scores to a selection."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse

from easyfs.base.request import Request, check_some_vary, resolve_columns
from easyfs.base.result import Selection
from easyfs.base.selector import BaseSelector
from easyfs.common.threads import threads_for
from easyfs.common.types import Array
from easyfs.sums.measuring import measure_scaling
from easyfs.sums.scaling import Scaling
from easyfs.tables.encoder import Counting
from easyfs.tables.naming import take_roles
from easyfs.tables.target import Target, check_target, check_varies
from easyfs.tables.target_summary import describe_target
from easyfs.tables.weights import check_enough_rows, check_weights, no_weights_of_one, usable_weights

# Columns and targets of sizes beyond these are given to the methods in other units.
LARGEST, SMALLEST = 1e100, 1e-100
# Sums of squares of columns beyond these are not numbers, or zero.
LARGEST_ROOT, SMALLEST_ROOT = 1e151, 1e-151


@dataclass(frozen=True)
class Problem:
    """What a method is asked: the columns that may be selected and vary, and what is to be explained.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, m)
        The columns that are neither constant nor excluded; missing values have become the mean of their column, and columns
        of extreme sizes are in other units, unless units matter to the method. It may be the caller's own array: methods do
        not write into it.
    center, scale : ndarray of shape (m,)
        Mean and standard deviation (ddof 0) of the observed values.
    observed : ndarray of shape (m,)
        Share of the rows (by weight) in which a column was observed.
    target : Target
        What is to be explained.
    weight : ndarray of shape (n,) or None
        Weights of the rows; None when all count the same.
    count : int or None
        How many columns are wanted; None when the method is to say. An order is needed up to there, and a method may
        order the rest by a simpler rule.
    include : ndarray of int
        Columns of ``X`` that are selected before all others.
    columns : ndarray of int, shape (m,)
        Where the columns stand in the user's table.
    """

    X: Any
    center: Array
    scale: Array
    observed: Array
    target: Target
    weight: Array | None
    count: int | None
    include: Array
    columns: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, m = self.X.shape
        return int(n), int(m)

    @property
    def total_weight(self) -> float:
        """Number of rows, or the sum of their weights."""
        return float(self.X.shape[0] if self.weight is None else self.weight.sum())

    @property
    def y(self) -> Array:
        """The target: class codes, or a matrix with a column for each target."""
        assert self.target.values is not None
        return self.target.values

    @property
    def is_classes(self) -> bool:
        """Whether the target is a single column of classes."""
        return self.target.kind == "classes"

    def indicators(self, dtype: Any = np.float64) -> Array:
        """The target as columns of numbers: one of zeros and ones for each class, or the values as they are."""
        if not self.is_classes:
            return self.y.astype(dtype)
        return np.asarray(self.y[:, None] == np.arange(self.target.n_targets), dtype=dtype)

    def standardized(self, dtype: Any = np.float64) -> Array:
        """The columns as a dense array (a new one) with mean 0 and standard deviation 1."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        Z: Array = np.subtract(X, self.center, dtype=np.float64)
        Z /= self.scale
        return Z.astype(dtype, copy=False)


@dataclass(frozen=True)
class Scored:
    """What a method found.

    Attributes
    ----------
    scores : ndarray of shape (m,)
        One for each column, larger is better.
    order : ndarray of shape (m,), optional
        All columns, best first; by the scores where it is not given.
    count : int, optional
        How many columns the method itself selects, where it has a say in it.
    """

    scores: Array
    order: Array | None = None
    count: int | None = None

    def best_first(self) -> Array:
        """The order; columns of the same score in the order of the table."""
        return np.argsort(-self.scores, kind="stable") if self.order is None else self.order


class Baseline(BaseSelector):
    """Base class of the published methods.

    A subclass says what it can do in the class attributes and implements ``_score``.
    """

    # Some of "classification", "regression"; without a target where needs_target is False.
    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")
    several_targets: ClassVar[bool] = False
    needs_target: ClassVar[bool] = True
    # Whether "auto" is known: the method says how many columns it takes. Others only rank.
    finds_set: ClassVar[bool] = False
    # Whether the columns are sought for the number that is wanted: the first of more are another selection.
    one_size: ClassVar[bool] = False
    keeps_sparse: ClassVar[bool] = False
    # What to use for the task that a method cannot do.
    instead: ClassVar[str] = "PearsonSelector, MutualInformationSelector, ReliefFSelector or EasyFS"

    task_: str | None
    classes_: Array

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.include = include
        self.exclude = exclude
        self.feature_groups = feature_groups

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._uses_target()
        tags.target_tags.multi_output = self.several_targets or not self._uses_target()
        tags.target_tags.two_d_labels = tags.target_tags.multi_output
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Score the columns and select the best.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe or Arrow table of shape (n_rows, n_features)
            The table to select columns from. A missing number (NaN) counts as the mean of its column. A dataframe may also
            have categories, text of few values and dates.
        y : array-like of shape (n_rows,) or (n_rows, n_targets), default=None
            The target: class labels or numbers. Methods that need no target do not look at it.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return self._fit(X, y, None)

    def _uses_target(self) -> bool:
        """Whether the target is looked at, with the present parameters."""
        return self.needs_target

    def _units_matter(self) -> bool:
        """Whether a column counts for more when its numbers are larger, with the present parameters."""
        return getattr(self, "standardize", True) is False

    def _check_parameters(self) -> None:
        """Check the parameters of the method itself."""

    def _score(self, problem: Problem) -> Scored:
        raise NotImplementedError

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        self._forget()
        self._check_parameters()
        X, y, sample_weight, self._roles = take_roles(X, y, sample_weight)
        matrix = self._check_table(X, reset=True, counting=Counting(usable_weights(X, sample_weight)))
        n, d = matrix.shape
        target = self._check_target(y, n)
        weight = no_weights_of_one(check_weights(sample_weight, n))
        constraints = self._constraints()
        check_enough_rows(matrix, weight)
        check_varies(target)
        with threads_for(n, d):
            scaling = measure_scaling(matrix, weight)
            check_some_vary(scaling.constant, constraints.excluded)
            columns = np.flatnonzero(~(scaling.constant | constraints.excluded))
            problem = self._problem(matrix, columns, scaling, target, weight, constraints)
            scored = self._score(problem)
        lost = np.flatnonzero(np.isnan(scored.scores))
        if len(lost):
            raise ValueError(
                f"{type(self).__name__} has no score for column {self._label(columns[lost[0]])}: with its values, of about "
                f"{problem.scale[lost[0]]:.0e}, sums are not numbers; give it in another unit."
            )
        self.task_ = target.task
        if target.classes is not None:
            self.classes_ = target.classes
        self._saw(n, describe_target(target, y))
        self._result = _selection(scored, problem, scaling.constant, constraints)
        return self

    def _forget(self) -> None:
        """Drop what an earlier fit has left."""
        self._result = None
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)

    def _check_target(self, y: Any, n: int) -> Target:
        if not self._uses_target():
            return Target(None, None, None)
        name = type(self).__name__
        if y is None:
            raise ValueError(
                f"{name} requires y to be passed, but the target y is None; pass y, or select without a target with "
                "LaplacianScoreSelector, MCFSSelector or EasyFS."
            )
        only = self.tasks[0] if len(self.tasks) == 1 and self.task == "auto" else self.task
        # A method for classes takes whole numbers that look like quantities as classes: it can do nothing else with them.
        target = check_target(y, n, only if only == "classification" and _is_whole(y) else self.task)
        if (
            target.kind == "values"
            and target.values is not None
            and target.values.shape[1] > 1
            and not self.several_targets
        ):
            raise ValueError(
                f"{name} is for a single target, but y has {target.values.shape[1]} columns; fit one selector for each, or "
                "use PearsonSelector, RandomForestSelector or EasyFS, which take several."
            )
        if target.task not in self.tasks:
            found = "numbers (regression)" if target.task == "regression" else "classes (classification)"
            raise ValueError(f"{name} is for {self.tasks[0]}, but y holds {found}; use {self.instead} instead.")
        return target

    def _constraints(self) -> Request:
        constraints = super()._constraints()
        if self.n_features_to_select == "cv":
            raise ValueError(
                "n_features_to_select='cv' is for EasyFS and EasyFSRanking; cross-validate this method with "
                "easyfs.evaluation.compare, and give a count."
            )
        if constraints.count is None and not self.finds_set:
            raise ValueError(
                f"n_features_to_select='auto': {type(self).__name__} ranks the columns and does not say how many to take; "
                "give a count such as 20 or a share such as 0.1, or use EasyFS, which does say."
            )
        return constraints

    def _problem(
        self, matrix: Any, columns: Array, scaling: Scaling, target: Target, weight: Array | None, constraints: Request
    ) -> Problem:
        center, scale = scaling.center[columns], scaling.scale[columns]
        if sparse.issparse(matrix) and not self.keeps_sparse:
            matrix = matrix.toarray()
        X = matrix if len(columns) == matrix.shape[1] else matrix[:, columns]
        X, observed = _fill_missing(X, center, weight)
        sizes = np.maximum(np.abs(center), scale)
        if getattr(self, "standardize", True) is False:
            self._check_squares(sizes, columns)
        units = _units(sizes)
        if units is not None and not self._units_matter():
            X, center, scale = _in_units(X, units), center * units, scale * units
        place = np.full(len(scaling.constant), -1)
        place[columns] = np.arange(len(columns))
        first = (
            place[np.concatenate([constraints.members(j) for j in constraints.include])]
            if len(constraints.include)
            else place[:0]
        )
        count = constraints.count
        if count is not None:
            count = len(columns) if constraints.grouped else min(count, len(columns))
        if target.kind == "values" and target.values is not None:
            units = _units(np.abs(target.values).max(axis=0))
            if units is not None:
                target = replace(target, values=target.values * units)
        return Problem(X, center, scale, observed, target, weight, count, first[first >= 0], columns)

    def _check_squares(self, sizes: Array, columns: Array) -> None:
        """Columns that are taken as they are must have squares that fit into float64."""
        wrong = np.flatnonzero((sizes > LARGEST_ROOT) | (sizes < SMALLEST_ROOT))
        if not len(wrong):
            return
        raise ValueError(
            f"column {self._label(columns[wrong[0]])} has values of about {sizes[wrong[0]]:.0e}, whose squares do not fit "
            "into float64, and standardize=False takes columns as they are; give it in another unit, or leave out "
            "standardize=False."
        )

    def _label(self, column: int) -> str:
        """What the user calls a column of the matrix."""
        names = self._names()
        column = int(column if self._encoder is None else self._encoder.source[column])
        return str(column) if names is None else repr(names[column])

    def _discrete(self, value: Any, problem: Problem, few_values: Callable[[Problem], Array]) -> Array:
        """Columns that hold categories, as ``discrete_features`` says: none, those of few values, or those listed."""
        if value is False:
            return np.zeros(problem.shape[1], dtype=bool)
        if isinstance(value, str) and value == "auto":
            return few_values(problem)
        listed = resolve_columns("discrete_features", value, self.n_features_in_, self._names())
        columns = problem.columns if self._encoder is None else self._encoder.source[problem.columns]
        return np.isin(columns, listed)


def _fill_missing(X: Any, center: Array, weight: Array | None) -> tuple[Any, Array]:
    """Missing values become the mean, in a copy; also the share of the rows in which each column is observed."""
    n, m = X.shape
    w = np.ones(n) if weight is None else weight
    if sparse.issparse(X):
        stored = np.isnan(X.data)
        if not stored.any():
            return X, np.ones(m)
        X = X.copy()
        lost = np.bincount(X.indices[stored], weights=np.repeat(w, np.diff(X.indptr))[stored], minlength=m)
        X.data[stored] = center[X.indices[stored]]
        return X, 1.0 - lost / w.sum()
    missing = np.isnan(X)
    if not missing.any():
        return X, np.ones(m)
    return np.where(missing, center.astype(X.dtype), X), 1.0 - w @ missing / w.sum()


def _units(sizes: Array) -> Array | None:
    """Powers of two that bring numbers of extreme sizes to about 1; None where there are none."""
    extreme = (sizes > LARGEST) | ((sizes < SMALLEST) & (sizes > 0))
    if not extreme.any():
        return None
    exponents = np.clip(np.frexp(sizes)[1], -1000, 1000)
    return np.asarray(np.where(extreme, np.ldexp(1.0, -exponents), 1.0))


def _in_units(X: Any, units: Array) -> Any:
    if not sparse.issparse(X):
        return X * units
    X = X.copy()
    X.data *= units[X.indices]
    return X


def _selection(scored: Scored, problem: Problem, constant: Array, constraints: Request) -> Selection:
    """Included columns, the method's order, constants, excluded ones; groups stay together."""
    d, columns = len(constant), problem.columns
    lowest = min(0.0, float(scored.scores.min()))
    scores = np.full(d, lowest)
    scores[columns] = scored.scores
    scores[constraints.excluded] = -np.inf
    rest = np.setdiff1d(np.arange(d), columns)
    order = constraints.keep_together(np.concatenate([columns[scored.best_first()], rest]))
    included = np.isin(constraints.groups, constraints.groups[constraints.include])
    first = [
        np.flatnonzero(constraints.groups == group) for group in dict.fromkeys(constraints.groups[constraints.include])
    ]
    last = constraints.of_groups(np.where(constraints.excluded, 2, constant * 1))
    order = order[np.argsort(last[order], kind="stable")]
    order = np.concatenate([*first, order[~included[order]]]).astype(np.intp)
    draft = Selection(order=order, n_selected=0, scores=scores, gains=scores[:0], groups=constraints.groups)
    if constraints.count is not None:
        count = draft.columns_of(constraints.count)
    else:
        chosen = columns[scored.best_first()[: max(1, scored.count or 0)]]
        wanted = np.isin(constraints.groups, constraints.groups[chosen]) | included
        count = int(np.flatnonzero(wanted[order])[-1]) + 1
    missing = np.full(d, np.nan)
    missing[columns] = 1.0 - problem.observed
    return replace(draft, n_selected=count, gains=scores[order[:count]], constant=constant, missing=missing)


class WeightedBaseline(Baseline):
    """A method in which a weight of two is the same as having a row twice."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Score the columns and select the best.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe or Arrow table of shape (n_rows, n_features)
            The table to select columns from. A missing number (NaN) counts as the mean of its column. A dataframe may also
            have categories, text of few values and dates.
        y : array-like of shape (n_rows,) or (n_rows, n_targets), default=None
            The target: class labels or numbers. Methods that need no target do not look at it.
        sample_weight : array-like of shape (n_rows,), default=None
            Weight of each row: a weight of 2 is the same as having the row twice. With None all rows count the same.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return self._fit(X, y, sample_weight)


def scaled_targets(Y: Array) -> Array:
    """Targets with mean 0 and variance 1; one that does not vary becomes zero."""
    Y = np.ascontiguousarray(Y)  # sums round differently in another layout
    Y = Y / np.maximum(np.abs(Y).max(axis=0), np.finfo(np.float64).tiny)  # so that squares fit
    Y = Y - Y.mean(axis=0)
    spread = Y.std(axis=0)
    scaled: Array = np.divide(Y, spread, out=np.zeros_like(Y), where=spread > 0)
    return scaled


def _is_whole(y: Any) -> bool:
    """Whether a target holds whole numbers, one for each row."""
    values = np.asarray(y)
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        return False
    return bool(np.isfinite(values).all() and (values == np.round(values)).all())
