"""SPFSR: importances found by stochastic approximation on the cross-validated score of a model."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.utils import check_random_state

from easyfs.base.request import Request
from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.model_scores import (
    EstimatorScores,
    RidgeScores,
    determination,
    fold_numbers,
    labels,
    ridge_targets,
    right_class,
    right_labels,
)
from easyfs.baselines.progress import Progress, Watch, check_watch
from easyfs.baselines.random_forest import RandomForestSelector
from easyfs.common.parameters import check_choice, check_number
from easyfs.common.types import Array
from easyfs.sums.scaling import Scaling
from easyfs.tables.target import Target

# How far importances are moved to measure a gradient.
PERTURBATION = 0.05
# Bounds of the gain, and of the change of an importance in one step.
LEAST_GAIN, LARGEST_GAIN = 0.01, 2.0
LARGEST_CHANGE = 0.2
# Below this curvature there is no gain to be computed; a score has to grow by more than this to count as better.
LEAST_CURVATURE = 1e-8
LEAST_PROGRESS = 1e-8
# A start from a forest: its trees, how far apart importances are then, and what it may take of the time limit.
FOREST_TREES, START_RANGE, FOREST_TIME = 50, 0.2, 0.25
# Breaks ties: below any difference of importances that a gradient makes.
TIE = 1e-12


class SPFSRSelector(Baseline):
    """Search for the columns on which a model of your choice scores best (spFSR).

    The search changes the importances of all columns at once, in random directions, keeps what improves the
    cross-validated score of a model, and returns the best columns it has measured. It is good for tuning columns to one
    model and one score, up to some hundreds of columns. It is slow with a slow model, finds other columns with another
    seed, and with thousands of columns it is far from having seen all.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.5
        How many columns to select: a count such as 20, a share of the columns such as 0.1, or "auto": the best columns
        that were measured, of any number.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.
    estimator : scikit-learn estimator, default=None
        The model. It is given columns of mean 0 and standard deviation 1, a missing value as 0, and the labels as they
        are. None is ``RidgeClassifier()`` or ``Ridge()``, in closed form.
    scoring : str, callable or None, default=None
        Score to maximise, as in scikit-learn; None is the score of the estimator, such as accuracy or R^2. Steps assume
        that scores are of the order of 1.
    cv : int, default=5
        Number of folds, which are drawn once; fewer where there are too few rows (in the largest class).
    n_repeats : int, default=3
        How often the rows are divided into folds. The columns in use are measured on all of these, the pairs of a
        gradient on one after the other.
    n_gradients : int, default=4
        Number of random directions that are tried, forwards and backwards, in each step.
    start : {"zero", "forest"}, default="zero"
        Importances at first: all 0, or those of a random forest, with which the search begins at columns that are good
        alone. The forest takes part of ``time_limit``.
    max_iter : int, default=300
        Largest number of steps.
    n_iter_no_change : int, default=35
        Number of steps without a better score after which the search stops.
    time_limit : float, default=None
        Seconds after which the search stops, at the next score. What is found then depends on the speed of the machine.
    progress : bool or callable, default=None
        True writes to standard error how far the search has come; a function is called after each step with a
        :class:`~easyfs.baselines.progress.Progress`, whose loss is the negative score.
    n_jobs : int, default=None
        Number of processes for the fits of ``estimator``; None means 1 and -1 means all cores. The closed form needs
        none.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds and of the search. Give a number to get the same answer each time.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each column when the best columns were in use; that of included columns is 0. Excluded columns
        have ``-inf``.
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
    best_score_ : float
        Cross-validated score of the best columns. Being the best of many, it is better than what new rows will show.
    n_iter_ : int
        Number of steps.
    stop_reason_ : {"stalled", "max_iter", "time_limit"}
        Why the search stopped.

    See Also
    --------
    LassoSelector : A linear model that selects its own columns.
    RandomForestSelector : Importance in one model instead of a search over many.
    EasyFS : Needs no model and no random search.

    Notes
    -----
    Every column has an importance, 0 at first. The columns in use are those with the largest importances, as many as
    are wanted; with "auto", those whose importance is not below 0. Each step

    1. measures the gradient: all importances are moved at once by ``c = 0.05``, up or down at random (``d = +-1``),
       and the opposite way, and ``(y+ - y-) / (2 c d)`` is averaged over ``n_gradients`` such pairs. Pairs without a
       difference are left out; if none is left the last gradient is used again;
    2. takes as its gain that of Barzilai and Borwein, ``a = s's / -s'q``, with ``s`` and ``q`` the last change of the
       importances and of the gradient, between 0.01 and 2 (:func:`~easyfs.baselines.spfsr.bb_gain`);
    3. changes the importances by ``a g``, by 0.2 at most each. If that leaves the same columns in use, larger and larger
       steps along ``g`` are tried until others are; if none does it, the search begins again from importances of 0;
    4. measures the columns now in use. The best that were measured are the result.

    Start, perturbation, bounds and the steps of 3 are those of the authors' program spFSR; like there, gains are not
    smoothed. That program, unless told otherwise, starts from the importances of a forest: ``start="forest"`` takes those
    of 50 trees, stretched to lie between -0.1 and 0.1; the search is not restricted to the best of them as there.
    Columns of equal importance are taken in random order.

    Groups have one importance each. Included columns are always in use. Where the number of columns that are wanted
    leaves no choice, the search is as with "auto".

    References
    ----------
    .. [1] Yenice, Adhikari, Wong, Aksakalli, Gumus and Abbasi, "SPSA-FSR: simultaneous perturbation stochastic
       approximation for feature selection and ranking", arXiv:1804.05589, 2018.
    .. [2] Akman, Malekipirbazari, Yenice, Yeo, Adhikari, Wong, Abbasi and Gumus, "k-best feature selection and ranking
       via stochastic approximation", Expert Systems with Applications 213, 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from easyfs import SPFSRSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = SPFSRSelector(5, max_iter=20, random_state=0).fit(X, y)
    >>> selector.n_features_, selector.best_score_ > 0.95
    (5, True)
    """

    several_targets = True
    finds_set = True
    one_size = True

    best_score_: float
    n_iter_: int
    stop_reason_: str

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
        estimator: BaseEstimator | None = None,
        scoring: str | Callable[..., float] | None = None,
        cv: int = 5,
        n_repeats: int = 3,
        n_gradients: int = 4,
        start: Literal["zero", "forest"] = "zero",
        max_iter: int = 300,
        n_iter_no_change: int = 35,
        time_limit: float | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.estimator = estimator
        self.scoring = scoring
        self.cv = cv
        self.n_repeats = n_repeats
        self.n_gradients = n_gradients
        self.start = start
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.time_limit = time_limit
        self.progress = progress
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("cv", self.cv, 2, whole=True)
        for name in ("n_repeats", "n_gradients", "max_iter", "n_iter_no_change"):
            check_number(name, getattr(self, name), 1, whole=True)
        check_choice("start", self.start, ("zero", "forest"))
        check_watch(self.progress, self.time_limit)
        usable = hasattr(self.estimator, "fit") and hasattr(self.estimator, "get_params")
        if self.estimator is not None and (isinstance(self.estimator, type) or not usable):
            raise ValueError(f"estimator={self.estimator!r}: give a scikit-learn estimator, such as Ridge(), or None.")

    def _problem(
        self, matrix: Any, columns: Array, scaling: Scaling, target: Target, weight: Array | None, constraints: Request
    ) -> Problem:
        problem = super()._problem(matrix, columns, scaling, target, weight, constraints)
        known = {field.name: getattr(problem, field.name) for field in fields(problem)}
        unit = np.unique(constraints.groups[columns], return_inverse=True)[1]
        return GroupedProblem(**known, unit=unit, n_units=constraints.count)

    def _score(self, problem: Problem) -> Scored:
        assert isinstance(problem, GroupedProblem)
        random = check_random_state(self.random_state)
        folds = fold_numbers(problem, self.cv, self.n_repeats, random)
        unit = problem.unit
        watch = Watch(type(self).__name__, self.progress, self.time_limit)
        with watch, self._scorer(problem, folds) as scorer:
            search = Search(
                lambda sets: scorer([(np.flatnonzero(units[unit]), repeat) for units, repeat in sets]),
                n_units=int(unit.max()) + 1,
                count=problem.n_units,
                include=np.unique(unit[problem.include]),
                n_repeats=self.n_repeats,
                random=random,
                start=None if self.start == "zero" else self._forest(problem, random),
            )
            self.stop_reason_ = search.run(
                n_gradients=self.n_gradients,
                max_iter=self.max_iter,
                n_iter_no_change=self.n_iter_no_change,
                watch=watch,
            )
        self.n_iter_ = search.n_steps
        best = search.best
        self.best_score_ = best.score
        chosen = best.in_use[unit]
        order = np.lexsort((-best.rank[unit], ~chosen))
        return Scored(best.importance[unit], order, int(chosen.sum()))

    def _forest(self, problem: GroupedProblem, random: Any) -> Array:
        """Importances in a forest, of a group those of its columns together, stretched around 0."""
        limit = None if self.time_limit is None else FOREST_TIME * self.time_limit
        forest = RandomForestSelector(n_estimators=FOREST_TREES, time_limit=limit, random_state=random)
        found = np.bincount(problem.unit, weights=forest._score(problem).scores)
        low, high = found.min(), found.max()
        stretched: Array = (found - low) / ((high - low) or 1.0) * START_RANGE - START_RANGE / 2.0
        return stretched

    def _scorer(self, problem: Problem, folds: Array) -> Any:
        Z = np.ascontiguousarray(problem.standardized())
        classes = problem.target.task == "classification"
        if self.estimator is None and self.scoring is None:
            several = problem.is_classes and problem.target.n_targets > 2
            measure = (right_class if several else right_labels) if classes else determination
            return RidgeScores(Z, ridge_targets(problem), folds, measure)
        estimator = self.estimator
        if estimator is None:
            estimator = RidgeClassifier() if classes else Ridge()
        return EstimatorScores(estimator, self.scoring, Z, labels(problem), folds, self.n_jobs)


@dataclass(frozen=True)
class GroupedProblem(Problem):
    """A problem with the groups of the columns.

    Attributes
    ----------
    unit : ndarray of int, shape (m,)
        Group of each column: a number from 0.
    n_units : int or None
        How many groups are wanted.
    """

    unit: Array
    n_units: int | None


def bb_gain(importance: Array, last_importance: Array, gradient: Array, last_gradient: Array) -> float:
    """The gain of Barzilai and Borwein, for a score that is maximised.

    With ``s`` the change of the importances and ``q`` that of the gradient, ``s's / -s'q`` within bounds; the least gain
    where the score does not bend downwards.

    Parameters
    ----------
    importance, last_importance : ndarray of shape (m,)
        Importances now and before the last step.
    gradient, last_gradient : ndarray of shape (m,)
        The gradients there.

    Returns
    -------
    float
        Between 0.01 and 2.
    """
    s, q = importance - last_importance, gradient - last_gradient
    bend = -float(s @ q)
    return float(np.clip(s @ s / bend, LEAST_GAIN, LARGEST_GAIN)) if bend >= LEAST_CURVATURE else LEAST_GAIN


def clipped_change(gain: float, gradient: Array) -> Array:
    """How much the importances change: the gain times the gradient, within bounds."""
    return np.clip(gain * gradient, -LARGEST_CHANGE, LARGEST_CHANGE)


@dataclass(frozen=True)
class Measured:
    """Units in use, what they scored, and the importances, also with ties broken, that put them to use."""

    score: float
    in_use: Array
    importance: Array
    rank: Array


class Search:
    """Stochastic approximation of the importances of units (columns, or groups of them).

    Parameters
    ----------
    scores : callable
        Takes a list of pairs, a mask of units and the number of a repeat, and gives their scores.
    n_units : int
        Number of units.
    count : int or None
        How many units are in use, with the included ones; None: those of importance 0 or more.
    include : ndarray of int
        Units that are always in use.
    n_repeats : int
        Number of repeats.
    random : RandomState
        Source of the directions.
    start : ndarray of shape (n_units,), optional
        Importances at first; 0 where they are not given.
    """

    def __init__(
        self,
        scores: Callable[[list[tuple[Array, int]]], Sequence[float]],
        *,
        n_units: int,
        count: int | None,
        include: Array,
        n_repeats: int,
        random: Any,
        start: Array | None = None,
    ):
        self.start = start
        self.scores, self.n_repeats, self.random = scores, n_repeats, random
        self.included = np.zeros(n_units, dtype=bool)
        self.included[include] = True
        self.free = np.flatnonzero(~self.included)
        left = None if count is None else count - len(include)
        self.count = left if left is not None and 0 < left < len(self.free) else None
        self.n_steps = 0
        self._known: dict[tuple[bytes, int], float] = {}
        self._begin()

    def _begin(self) -> None:
        """Importances of zero, or those to start from the first time, in a new random order."""
        self.importance = np.zeros(len(self.included)) if self.start is None else np.where(self.included, 0.0, self.start)
        self.start = None
        self.tie = TIE * self.random.uniform(size=len(self.included))
        self.last: tuple[Array, Array] | None = None

    def in_use(self, importance: Array) -> Array:
        """Mask of the units that these importances put to use; at least one."""
        mask = self.included.copy()
        if self.count is None:
            mask |= importance >= 0.0
        if self.count is not None or not mask.any():
            count = self.count or 1
            best = np.argpartition(-(importance + self.tie)[self.free], count - 1)[:count]
            mask[self.free[best]] = True
        return mask

    def measure(self, masks: list[tuple[Array, int]]) -> list[float]:
        """Scores, each computed once."""
        keys = [(np.packbits(mask).tobytes(), repeat) for mask, repeat in masks]
        new = {key: work for key, work in zip(keys, masks, strict=True) if key not in self._known}
        if new:
            self._known.update(zip(new, map(float, self.scores(list(new.values()))), strict=True))
        return [self._known[key] for key in keys]

    def mean_score(self, mask: Array) -> float:
        """Mean over all repeats."""
        return float(np.mean(self.measure([(mask, repeat) for repeat in range(self.n_repeats)])))

    def gradient(self, n_gradients: int, out_of_time: Callable[[], bool]) -> Array | None:
        """Mean of the gradients along random directions; the last one, or None, where they all vanish."""
        total, used = np.zeros(len(self.included)), 0
        for i in range(n_gradients):
            direction = self.random.choice([-1.0, 1.0], size=len(self.included))
            direction[self.included] = 0.0
            if out_of_time():
                break
            up = self.in_use(self.importance + PERTURBATION * direction)
            down = self.in_use(self.importance - PERTURBATION * direction)
            if (up == down).all():
                continue
            better, worse = self.measure([(up, i % self.n_repeats), (down, i % self.n_repeats)])
            if better != worse:
                total += (better - worse) / (2.0 * PERTURBATION) * direction  # 1 / d is d
                used += 1
        if used:
            return total / used
        return None if self.last is None else self.last[1]

    def step(self, gradient: Array, n_iter_no_change: int) -> bool:
        """Change the importances; False where nothing along the gradient puts other units to use."""
        gain = LEAST_GAIN if self.last is None else bb_gain(self.importance, self.last[0], gradient, self.last[1])
        before = self.in_use(self.importance)
        moved = self.importance + clipped_change(gain, gradient)
        self.last = (self.importance, gradient)
        self.importance = moved
        for j in range(n_iter_no_change + 1):
            if (self.in_use(self.importance) != before).any():
                return True
            further = LEAST_GAIN + j * (LARGEST_GAIN - LEAST_GAIN) / n_iter_no_change
            self.importance = moved + further * gradient
        return bool((self.in_use(self.importance) != before).any())

    def run(self, *, n_gradients: int, max_iter: int, n_iter_no_change: int, watch: Watch) -> str:
        """Search; gives the reason for stopping, and leaves the best units in ``best``."""
        mask = self.in_use(self.importance)
        self.best = Measured(self.mean_score(mask), mask, self.importance, self.importance + self.tie)
        stalled = 0
        while self.n_steps < max_iter:
            gradient = self.gradient(n_gradients, watch.is_over)
            if watch.is_over():
                return "time_limit"
            if gradient is None or not self.step(gradient, n_iter_no_change):
                self._begin()
            mask = self.in_use(self.importance)
            score = self.mean_score(mask)
            self.n_steps += 1
            stalled += 1
            if score > self.best.score + LEAST_PROGRESS:
                self.best, stalled = Measured(score, mask, self.importance, self.importance + self.tie), 0
            watch.report(self.n_steps, max_iter, -score, int(mask.sum()))
            if stalled >= n_iter_no_change:
                return "stalled"
        return "max_iter"
