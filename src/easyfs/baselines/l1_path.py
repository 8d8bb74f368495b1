"""Paths of linear models whose L1 penalty falls: what enters when, and how large its coefficients are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import sklearn
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, lasso_path

from easyfs.baselines.base import Baseline, Problem
from easyfs.common.notices import warn_user
from easyfs.common.types import Array

# A column that was left out of a fit is missed there when its slope exceeds the penalty by more than this share.
SLACK = 1e-4
# Slopes below this share of what they can be are rounding: nothing can be explained.
ROUNDING = 1e-13
# liblinear penalises the intercept; with a constant column of this size the penalty on it is negligible.
INTERCEPT_SCALING = 1e3
# Share of the loss that a model of many classes has to explain before its coefficients are compared.
EXPLAINED = 0.9
# How often C is doubled at most to have enough columns.
MAX_DOUBLINGS = 6
# How scikit-learn is asked for an L1 penalty.
L1 = {"l1_ratio": 1.0} if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 8) else {"penalty": "l1"}


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
        Penalty at which a column enters, as a share of the largest one; or the norm of its coefficients, as such a share.
    size : ndarray of shape (m,)
        Norm of its coefficients there; of its slopes, where they are zero.
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


def largest_of_all(path: L1Path, shares: Array, count: int | None) -> Entry:
    """Walk down a path of several regressions until they explain most, and ``count`` columns are in; then by their norms.

    Where a path ends as soon as ``count`` columns are in, they are those of the few classes that are easiest to tell apart.
    """
    at_first, last = path.loss(path.X, path.Y), 1.0
    for step in shares[1:]:
        last = float(step)
        path.advance(last * path.largest)
        if (
            count is not None
            and np.count_nonzero(path.coef.any(axis=1)) >= count
            and path.loss(path.X, path.Y) <= (1.0 - EXPLAINED) * at_first
        ):
            break
    norms = np.linalg.norm(path.coef, axis=1)
    return Entry(norms / (norms.max() or 1.0), np.where(norms > 0.0, norms, path.strength().max(axis=1)), last)


def enough_columns(fit: Callable[[float], tuple[Array, Array]], C: float, problem: Problem) -> tuple[Array, Array, float]:
    """Fit with ``C``, and with larger ones until as many columns as wanted, with the included ones, have a score.

    ``fit`` gives a score for each column, 0 where it is not in the model, and the slope of its loss.
    """
    included = np.zeros(problem.shape[1], dtype=bool)
    included[problem.include] = True
    for doublings in range(MAX_DOUBLINGS + 1):
        scores, slopes = fit(C * 2.0**doublings)
        if np.count_nonzero((scores > 0.0) | included) >= (problem.count or 0) or not slopes.any():
            break
    return scores, slopes, C * 2.0**doublings


def warn_unfinished(selector: Baseline, failed: int) -> None:
    """Say that a solver did not come to its end."""
    if failed:
        name, steps = type(selector).__name__, selector.get_params()["max_iter"]
        warn_user(
            f"{name}: a fit did not converge within max_iter={steps} iterations; columns of small coefficients may be out "
            "of order. Raise max_iter or tol.",
            ConvergenceWarning,
        )


def binary_targets(problem: Problem) -> Array:
    """Columns of zeros and ones: each class or label that some rows have and others have not."""
    Y = problem.indicators()
    if problem.is_classes and Y.shape[1] == 2:
        return Y[:, 1:]
    return Y[:, Y.any(axis=0) & ~Y.all(axis=0)]
