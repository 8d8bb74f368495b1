"""The lasso: columns in the order in which an L1 penalty lets them in."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import sklearn
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, lasso_path
from sklearn.model_selection import KFold, StratifiedKFold

from easyfs.baselines.base import Baseline, Problem, Scored, scaled_targets
from easyfs.common.notices import warn_user
from easyfs.common.parameters import check_number
from easyfs.common.types import Array

# A column that was left out of a fit is missed there when its slope exceeds the penalty by more than this share.
SLACK = 1e-4
# Slopes below this share of what they can be are rounding: nothing can be explained.
ROUNDING = 1e-13
# liblinear penalises the intercept; with a constant column of this size the penalty on it is negligible.
INTERCEPT_SCALING = 1e3
# How scikit-learn is asked for an L1 penalty.
L1 = {"l1_ratio": 1.0} if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8) else {"penalty": "l1"}


class LassoSelector(Baseline):
    """Select the columns that a linear model takes up first as its L1 penalty falls (lasso).

    A linear model (logistic for classes) is fitted with a penalty that first keeps all columns out and then falls, and
    columns are ordered by when they enter. It is good where the target is a sum of a few columns, and avoids columns
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
    feature_groups : list of labels, default=None
        One label for each column. Columns with the same label are selected or left out together and count as one.
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
        not enter, the penalty that would let it in at the end of the path. Excluded columns have ``-inf``.
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
    A column's place in the order is that of the first penalty at which its coefficient, in any of the regressions, is
    not zero; among columns that enter at the same penalty, larger coefficients (their norm) come first.

     The path ends when as many columns as wanted have entered. The others follow, by the absolute correlation with what
    is left unexplained there. Included columns take part as any other column.

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
        Y = _binary_targets(problem) if logistic else scaled_targets(problem.y)

        def path(rows: Array | slice = slice(None)) -> L1Path:
            return (LogisticPath if logistic else LeastSquaresPath)(X[rows], Y[rows], self.max_iter, self.tol)

        shares = penalty_shares(self.n_alphas, self.eps)
        whole = path()
        failed = 0
        if whole.largest == 0.0:
            shares = shares[:1]
        elif problem.count is None:
            shares = shares[:: whole.stride]
            last, failed = best_penalty(path, X, Y, _folds(problem, self.cv), shares * whole.largest)
            shares = shares[: last + 1]
        entry = follow(whole, shares, problem.count, problem.include)
        failed += whole.failed
        if failed:
            warn_user(
                f"LassoSelector: {failed} fits did not converge within max_iter={self.max_iter} iterations to "
                f"tol={self.tol:g}; columns that enter late may be out of order. Raise max_iter or tol.",
                ConvergenceWarning,
            )
        self.alpha_, self.n_iter_ = entry.last, whole.n_iter
        order = np.lexsort((-entry.size, -entry.share))
        if problem.count is not None:
            return Scored(entry.share, order)
        kept = np.flatnonzero(whole.coef.any(axis=1))
        order = order[np.argsort(~np.isin(order, kept), kind="stable")]
        return Scored(entry.share, order, max(1, len(kept)))


class L1Path:
    """Penalised regressions on the same columns, solved for one penalty after the other.

    The loss of a regression is a sum over rows, and its penalty is ``a`` times the sum of the norms of the coefficients of
    each column. The slope of a column is the product with the residuals, ``X' R``; a column stays out as long as the norm
    of its slope is below ``a``.

    Attributes
    ----------
    coef, slope : ndarray of shape (m, t)
    largest : float
        The smallest penalty at which all coefficients are zero; 0 where no column has to do with the targets.
    n_iter, failed : int
        The most iterations of a fit; how many fits did not converge.
    """

    # In cross-validation: of how many penalties one is looked at, and what a halving of the penalty has to bring.
    stride: ClassVar[int] = 1
    least_gain: ClassVar[float] = 0.0
    # For each regression the targets it is for.
    regressions: list[slice]

    def __init__(self, X: Array, Y: Array, max_iter: int, tol: float):
        self.X, self.Y = X, Y
        self.max_iter, self.tol = max_iter, tol
        self.coef = np.zeros((X.shape[1], Y.shape[1]))
        self.residual = self.null_residual()
        self.slope = X.T @ self.residual
        self.n_iter = self.failed = 0
        self._reached = self.strength().max(axis=0)
        possible = np.linalg.norm(X, axis=0).max() * np.linalg.norm(self.residual)
        self.largest = float(self._reached.max(initial=0.0))
        if self.largest <= ROUNDING * possible:
            self.largest = 0.0

    def null_residual(self) -> Array:
        """What is to be explained by the columns."""
        raise NotImplementedError

    def solve(self, regression: slice, columns: Array, penalty: float) -> None:
        """Fit these columns; set ``coef`` and ``residual``."""
        raise NotImplementedError

    def note(self, n_iter: int) -> None:
        """Keep in mind how long a fit took."""
        self.n_iter = max(self.n_iter, int(n_iter))
        self.failed += int(n_iter >= self.max_iter)

    def loss(self, X: Array, Y: Array) -> float:
        """Mean loss on other rows."""
        raise NotImplementedError

    def strength(self) -> Array:
        """Norm of the slopes of each column, for each regression."""
        return np.stack([np.linalg.norm(self.slope[:, r], axis=1) for r in self.regressions], axis=1)

    def advance(self, penalty: float) -> None:
        """Go on to the next, smaller penalty."""
        strength = self.strength()
        used = np.stack([self.coef[:, r].any(axis=1) for r in self.regressions], axis=1)
        looked_at = used | (strength >= 2.0 * penalty - self._reached)
        todo = np.flatnonzero(looked_at.any(axis=0))
        while len(todo):
            for i in todo:
                self.solve(self.regressions[i], np.flatnonzero(looked_at[:, i]), penalty)
            self.slope[:] = self.X.T @ self.residual
            missed = ~looked_at & (self.strength() > (1.0 + SLACK) * penalty)
            looked_at |= missed
            todo = np.flatnonzero(missed.any(axis=0))
        self._reached = np.minimum(self._reached, penalty)


class LeastSquaresPath(L1Path):
    """The lasso; with several targets, the multi-task lasso."""

    def __init__(self, X: Array, Y: Array, max_iter: int, tol: float):
        self.center, self.offset = X.mean(axis=0), Y.mean(axis=0)
        self.regressions = [slice(None)]
        X, Y = X - self.center, Y - self.offset
        n, m = X.shape
        if n > m + Y.shape[1]:  # the triangle has the same products, and far fewer rows
            both = np.asarray(np.linalg.qr(np.hstack([X, Y]), mode="r"))
            X, Y = np.asfortranarray(both[:, :m]), both[:, m:]
        super().__init__(X, Y, max_iter, tol)

    def null_residual(self) -> Array:
        """The targets."""
        return self.Y.copy()

    def solve(self, regression: slice, columns: Array, penalty: float) -> None:
        """Coordinate descent, from the coefficients of the last penalty."""
        X, Y = self.X[:, columns], self.Y[:, regression]
        one = Y.shape[1] == 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, coefs, _, iterations = lasso_path(
                X,
                Y[:, 0] if one else Y,
                alphas=[penalty / len(X)],
                coef_init=self.coef[columns, 0] if one else self.coef[columns].T,
                precompute=False,
                max_iter=self.max_iter,
                tol=self.tol,
                return_n_iter=True,
            )
        self.note(iterations[0])
        self.coef[columns] = coefs[..., 0].T.reshape(len(columns), -1)
        self.residual = Y - X @ self.coef[columns]

    def loss(self, X: Array, Y: Array) -> float:
        """Mean squared error."""
        used = np.flatnonzero(self.coef.any(axis=1))
        predicted = self.offset + (X[:, used] - self.center[used]) @ self.coef[used]
        return float(np.square(Y - predicted).mean())


class LogisticPath(L1Path):
    """L1-penalised logistic regressions, one for each column of zeros and ones in ``Y``."""

    stride = 4
    least_gain = 0.05

    def __init__(self, X: Array, Y: Array, max_iter: int, tol: float):
        self.regressions = [slice(i, i + 1) for i in range(Y.shape[1])]
        # A target with one value in these rows is predicted as if there were half a row with the other one.
        share = np.clip(Y.mean(axis=0), 0.5 / len(Y), 1.0 - 0.5 / len(Y))
        self.intercept = np.log(share / (1.0 - share))
        super().__init__(X, Y, max_iter, tol)

    def null_residual(self) -> Array:
        """The targets less their means."""
        residual: Array = self.Y - self.Y.mean(axis=0)
        return residual

    def solve(self, regression: slice, columns: Array, penalty: float) -> None:
        """One logistic regression."""
        X, y = np.ascontiguousarray(self.X[:, columns]), self.Y[:, regression].ravel()
        model = LogisticRegression(
            C=1.0 / penalty,
            solver="liblinear",
            intercept_scaling=INTERCEPT_SCALING,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=0,
            **L1,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        self.note(model.n_iter_.max())
        self.coef[columns, regression] = model.coef_.T
        self.intercept[regression] = model.intercept_
        self.residual[:, regression] = self.Y[:, regression] - expit(X @ model.coef_.T + model.intercept_)

    def loss(self, X: Array, Y: Array) -> float:
        """Mean logistic loss."""
        used = np.flatnonzero(self.coef.any(axis=1))
        predicted = self.intercept + X[:, used] @ self.coef[used]
        return float(np.logaddexp(0.0, np.where(Y > 0.0, -predicted, predicted)).mean())


@dataclass(frozen=True)
class Entry:
    """When columns enter.

    Attributes
    ----------
    share : ndarray of shape (m,)
        Penalty at which a column enters, as a share of the largest one.
    size : ndarray of shape (m,)
        Norm of its coefficients there.
    last : float
        The last penalty, as a share.
    """

    share: Array
    size: Array
    last: float


def penalty_shares(n_alphas: int, eps: float) -> Array:
    """A geometric grid from 1 to ``eps``."""
    return eps ** (np.arange(n_alphas) / (n_alphas - 1))


def follow(path: L1Path, shares: Array, count: int | None, include: Array) -> Entry:
    """Walk down a path until ``count`` columns, with the included ones, have entered."""
    m = len(path.coef)
    share, size = np.zeros(m), np.zeros(m)
    counted = np.zeros(m, dtype=bool)
    counted[include] = True
    last = 1.0
    for step in shares[1:]:  # at the first one nothing enters
        if count is not None and counted.sum() >= count:
            break
        last = float(step)
        path.advance(last * path.largest)
        new = path.coef.any(axis=1) & (share == 0.0)
        share[new] = last
        size[new] = np.linalg.norm(path.coef[new], axis=1)
        counted |= new
    out = share == 0.0
    # Below the last penalty but for the precision of the solver.
    strength = path.strength().max(axis=1)[out] / (path.largest or 1.0)
    share[out] = np.minimum(strength, (1.0 - SLACK) * last) if last < 1.0 else strength
    size[out] = strength
    return Entry(share, size, last)


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


def _binary_targets(problem: Problem) -> Array:
    """Columns of zeros and ones: each class or label that some rows have and others have not."""
    Y = problem.indicators()
    if problem.is_classes and Y.shape[1] == 2:
        return Y[:, 1:]
    return Y[:, Y.any(axis=0) & ~Y.all(axis=0)]
