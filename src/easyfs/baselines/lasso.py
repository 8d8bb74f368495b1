"""The lasso: columns in the order in which an L1 penalty lets them in."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, StratifiedKFold

from easyfs.baselines.base import Baseline, Problem, Scored, scaled_targets
from easyfs.baselines.l1_path import (
    L1Path,
    LeastSquaresPath,
    LogisticPath,
    binary_targets,
    follow,
    largest_of_all,
    penalty_shares,
)
from easyfs.common.notices import warn_user
from easyfs.common.parameters import check_number
from easyfs.common.types import Array


class LassoSelector(Baseline):
    """Select the columns that a linear model takes up first as its L1 penalty falls (lasso).

    A linear model (logistic for classes) is fitted with a penalty that first keeps all columns out and then falls, and
    columns are ordered by when they enter (of more than two classes, by the size of their coefficients in all classes). It
    is good where the target is a sum of a few columns, and avoids columns
    that repeat each other. It sees neither curves nor columns that matter only together. It can choose the number of
    columns by cross-validation, and then tends to take more than are needed.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.5
        How many columns to select: a count such as 20, a share of the columns such as 0.1, or "auto": the columns of
        the model with the smallest cross-validated loss.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.
    n_alphas : int, default=100
        Number of penalties, from the largest to the smallest.
    eps : float, default=1e-3
        Smallest penalty as a share of the largest.
    cv : int, default=5
        Number of folds for "auto"; fewer where there are too few rows (in the largest class).
    max_iter : int, default=1000
        Largest number of iterations of the solver at one penalty.
    tol : float, default=1e-5
        Precision of the solver.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Penalty at which each column enters, relative to the largest penalty: between 0 and 1. For a column that does
        not enter, the penalty that would let it in at the end of the path. With more than two classes, or several labels,
        the norm of its coefficients relative to the largest one. Excluded columns have ``-inf``.
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
    alpha_ : float
        Last penalty, relative to the largest one: with "auto", that of the model which is selected.
    n_iter_ : int
        Largest number of iterations of a fit.

    See Also
    --------
    LassoNetSelector : The lasso for a network, which also sees curves and joint effects.
    PearsonSelector : Judges each column alone, and is much faster.
    EasyFS : Also sees curves and joint effects, and chooses the number of columns by a test.

    Notes
    -----
    The penalty ``a`` falls on a geometric grid from the smallest one that keeps every column out, ``a_max``, to ``eps *
    a_max``. Columns have mean 0 and standard deviation 1. For numbers, the lasso ``|y - X b|^2 / 2 + a |b|_1`` [1]_ is
    solved at each ``a``; several targets, scaled to the same variance, share their columns (the multi-task lasso [2]_,
    which penalises the norm of a column's coefficients). For classes, an L1-penalised logistic regression of each class
    against the rest, all with the same ``a = 1 / C`` (two classes need one only); several labels, one regression each.
    A column's place in the order is that of the first penalty at which its coefficient is not zero; among columns that
    enter at the same penalty, larger coefficients (their norm) come first.

    The path ends when as many columns as wanted have entered. The others follow, by the absolute correlation with what
    is left unexplained there. Included columns take part as any other column.

    With several regressions (more than two classes, several labels) the first to enter would be those of the classes
    that are easiest to tell apart, and the others would have none. There the path, on every fourth penalty, goes on until
    as many columns as wanted are in and nine tenths of the loss are explained (or to its end), and columns are ordered by
    the norm of their coefficients over all regressions.

    ``n_features_to_select="auto"`` takes the columns that are not zero in the model whose penalty has the smallest
    cross-validated loss (squared error, or the logistic loss; at least one column), and ranks them before all others.
    The folds are drawn with a fixed seed, by class where there are classes. The search for the penalty ends when the
    loss has not become smaller since the penalty was twice as large. For classes, whose fits are dear, every fourth
    penalty is looked at, and the search also ends when this last halving has brought less than 5 % of what all before
    it have brought: where classes can be told apart without error the loss falls for ever.

    Each fit looks at the columns that the sequential strong rule [3]_ lets through, and is repeated with those that it
    should have let through, if any. scikit-learn solves them: coordinate descent for numbers, liblinear for classes,
    with the intercept free of penalty up to a thousandth.

    References
    ----------
    .. [1] Tibshirani, "Regression shrinkage and selection via the lasso", JRSS B 58, 1996.
    .. [2] Obozinski, Taskar and Jordan, "Joint covariate selection and joint subspace selection for multiple
       classification problems", Statistics and Computing 20, 2010.
    .. [3] Tibshirani et al., "Strong rules for discarding predictors in lasso-type problems", JRSS B 74, 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from easyfs import LassoSelector
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = LassoSelector(3, task="regression").fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['bmi', 'bp', 's5']
    """

    several_targets = True
    finds_set = True

    alpha_: float
    n_iter_: int

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
        n_alphas: int = 100,
        eps: float = 1e-3,
        cv: int = 5,
        max_iter: int = 1000,
        tol: float = 1e-5,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.n_alphas = n_alphas
        self.eps = eps
        self.cv = cv
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        check_number("n_alphas", self.n_alphas, 2, whole=True)
        check_number("eps", self.eps, 0.0, 0.999, above=True)
        check_number("cv", self.cv, 2, whole=True)
        check_number("max_iter", self.max_iter, 1, whole=True)
        check_number("tol", self.tol, 0.0, above=True)

    def _score(self, problem: Problem) -> Scored:
        X = np.asfortranarray(problem.standardized())
        logistic = problem.target.task == "classification"
        Y = binary_targets(problem) if logistic else scaled_targets(problem.y)

        def path(rows: Array | slice = slice(None)) -> L1Path:
            return (LogisticPath if logistic else LeastSquaresPath)(X[rows], Y[rows], self.max_iter, self.tol)

        shares = penalty_shares(self.n_alphas, self.eps)
        whole = path()
        many = len(whole.regressions) > 1
        failed = 0
        if whole.largest == 0.0:
            shares = shares[:1]
        elif problem.count is None or many:
            shares = shares[:: whole.stride]
        if whole.largest > 0.0 and problem.count is None:
            last, failed = best_penalty(path, X, Y, _folds(problem, self.cv), shares * whole.largest)
            shares = shares[: last + 1]
        entry = (
            largest_of_all(whole, shares, problem.count) if many else follow(whole, shares, problem.count, problem.include)
        )
        failed += whole.failed
        if failed:
            warn_user(
                f"LassoSelector: {failed} fits did not converge within max_iter={self.max_iter} iterations to "
                f"tol={self.tol:g}; columns that enter late may be out of order. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.alpha_, self.n_iter_ = entry.last, whole.n_iter
        order = np.lexsort((-entry.size, -entry.share))  # by size where the share is the same
        if problem.count is not None:
            return Scored(entry.share, order)
        kept = np.flatnonzero(whole.coef.any(axis=1))
        order = order[np.argsort(~np.isin(order, kept), kind="stable")]
        return Scored(entry.share, order, max(1, len(kept)))


def best_penalty(
    path: Callable[[Array], L1Path], X: Array, Y: Array, folds: list[tuple[Array, Array]], penalties: Array
) -> tuple[int, int]:
    """Place of the penalty with the smallest mean loss on rows held out, and how many fits did not converge.

    The search ends early when the last halving of the penalty brought next to nothing, see :class:`L1Path`.
    """
    paths = [path(train) for train, _ in folds]
    held_out = [(X[test], Y[test]) for _, test in folds]
    losses: list[float] = []
    for penalty in penalties:
        loss = 0.0
        for one, rows in zip(paths, held_out, strict=True):
            one.advance(penalty * (1.0 - len(rows[0]) / len(X)))
            loss += one.loss(*rows) / len(folds)
        losses.append(loss)
        before = int(np.count_nonzero(penalties >= 2.0 * penalty))
        if before and min(losses[:before]) - min(losses) <= paths[0].least_gain * (losses[0] - min(losses)):
            break
    return int(np.argmin(losses)), sum(one.failed for one in paths)


def _folds(problem: Problem, cv: int) -> list[tuple[Array, Array]]:
    """Rows to train on and to test on, shuffled with a fixed seed; by class where a class has two rows."""
    n = problem.shape[0]
    largest = int(np.bincount(problem.y).max()) if problem.is_classes else 0
    splits = min(cv, max(2, largest)) if problem.is_classes else min(cv, n)
    splitter = (StratifiedKFold if largest >= splits else KFold)(splits, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        return list(splitter.split(np.zeros((n, 1)), problem.y if problem.is_classes else None))
