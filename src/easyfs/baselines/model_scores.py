"""Cross-validated scores of a model on many sets of columns, for methods that search by them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from scipy import linalg
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold

from easyfs.baselines.base import Problem, scaled_targets
from easyfs.common.types import Array

# Penalty of the ridge regression that is the default.
RIDGE = 1.0
# Numbers that may be held to have the products of all columns for each fold at hand.
HELD_PRODUCTS = 1 << 23


class EstimatorScores:
    """Cross-validated scores of any estimator on sets of columns."""

    def __init__(self, estimator: Any, scoring: Any, Z: Array, y: Array, folds: Array, n_jobs: int | None):
        self.estimator, self.scorer = estimator, check_scoring(estimator, scoring)
        self.Z, self.y = Z, y
        self.splits = [[(np.flatnonzero(of != k), np.flatnonzero(of == k)) for k in range(of.max() + 1)] for of in folds]
        self.parallel = None if n_jobs in (None, 1) else Parallel(n_jobs=n_jobs)

    def __enter__(self) -> EstimatorScores:
        if self.parallel is not None:
            self.parallel.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self.parallel is not None:
            self.parallel.__exit__(*error)

    def __call__(self, sets: list[tuple[Array, int]]) -> list[float]:
        """Scores of pairs: columns, and the number of a repeat."""
        work = [
            (self.estimator, self.scorer, self.Z[:, columns], self.y, train, test)
            for columns, repeat in sets
            for train, test in self.splits[repeat]
        ]
        scores = (
            [_fit_and_score(*each) for each in work]
            if self.parallel is None
            else self.parallel(delayed(_fit_and_score)(*each) for each in work)
        )
        means = np.reshape(np.asarray(scores, dtype=np.float64), (len(sets), -1)).mean(axis=1)
        if not np.isfinite(means).all():
            raise ValueError(
                f"the cross-validated score of estimator={self.estimator!r} is {means[~np.isfinite(means)][0]}; "
                "choose another scoring, or fewer folds (cv)."
            )
        return [float(mean) for mean in means]


def _fit_and_score(estimator: Any, scorer: Any, Z: Array, y: Array, train: Array, test: Array) -> float:
    """Score on some rows of a model fitted on others."""
    return float(scorer(clone(estimator).fit(Z[train], y[train]), Z[test], y[test]))


class RidgeScores:
    """Cross-validated scores of ``RidgeClassifier()`` (accuracy) or ``Ridge()`` (R^2) on sets of columns.

    Columns have mean 0. Tall tables need the products of the columns within each fold only, held for all columns where
    there is room; in wide ones predictions for rows held out come from the fit on all rows.
    """

    def __init__(self, Z: Array, Y: Array, folds: Array, measure: Callable[[Array, Array], float]):
        self.Z, self.Y, self.folds, self.measure = Z, Y, folds, measure
        self.held = len(folds) * (int(folds.max()) + 1) * Z.shape[1] ** 2 <= HELD_PRODUCTS
        self.products = [fold_products(Z, Y, of) for of in folds] if self.held else []

    def __enter__(self) -> RidgeScores:
        return self

    def __exit__(self, *error: Any) -> None:
        return None

    def __call__(self, sets: list[tuple[Array, int]]) -> list[float]:
        """Scores of pairs: columns, and the number of a repeat."""
        return [self.score(columns, repeat) for columns, repeat in sets]

    def score(self, columns: Array, repeat: int) -> float:
        """Mean score over the folds of one repeat."""
        of = self.folds[repeat]
        largest_fold = np.bincount(of).max()
        if len(columns) > largest_fold:
            predicted = held_out_predictions(self.Z[:, columns], self.Y, of)
        elif self.held:
            coef, intercept = fold_coefficients(self.products[repeat].of_columns(columns))
            spread = np.zeros((self.Z.shape[1], *coef.shape[::2]))
            spread[columns] = coef.transpose(1, 0, 2)
            predicted = _own_fold(self.Z, spread, intercept, of)
        else:
            Z = self.Z[:, columns]
            coef, intercept = fold_coefficients(fold_products(Z, self.Y, of))
            predicted = _own_fold(Z, coef.transpose(1, 0, 2), intercept, of)
        rows = [of == fold for fold in range(of.max() + 1)]
        return float(np.mean([self.measure(self.Y[here], predicted[here]) for here in rows]))


@dataclass(frozen=True)
class FoldProducts:
    """Sums over the rows of each fold: products of columns, products with the targets, columns, targets, rows."""

    gram: Array
    cross: Array
    column_sum: Array
    target_sum: Array
    size: Array

    def of_columns(self, columns: Array) -> FoldProducts:
        """The same for some columns."""
        gram = self.gram[:, columns[:, None], columns]
        return FoldProducts(gram, self.cross[:, columns], self.column_sum[:, columns], self.target_sum, self.size)


def fold_products(Z: Array, Y: Array, of: Array) -> FoldProducts:
    """Gather the sums over each fold; ``of`` has the number of the fold of each row."""
    parts = []
    for k in range(of.max() + 1):
        rows, targets = Z[of == k], Y[of == k]
        parts.append((rows.T @ rows, rows.T @ targets, rows.sum(axis=0), targets.sum(axis=0), len(rows)))
    return FoldProducts(*(np.array(part) for part in zip(*parts, strict=True)))


def fold_coefficients(products: FoldProducts) -> tuple[Array, Array]:
    """For each fold, coefficients (f, k, t) and intercepts (f, t) of ridge regressions on all other rows."""
    p = products
    n = (p.size.sum() - p.size)[:, None]
    mean = (p.column_sum.sum(axis=0) - p.column_sum) / n
    target_mean = (p.target_sum.sum(axis=0) - p.target_sum) / n
    gram = p.gram.sum(axis=0) - p.gram - n[:, :, None] * mean[:, :, None] * mean[:, None, :]
    cross = p.cross.sum(axis=0) - p.cross - n[:, :, None] * mean[:, :, None] * target_mean[:, None, :]
    coef = np.linalg.solve(gram + RIDGE * np.eye(gram.shape[1]), cross)
    return coef, target_mean - np.einsum("fk,fkt->ft", mean, coef)


def held_out_predictions(Z: Array, Y: Array, of: Array) -> Array:
    """For each row the prediction of a ridge regression on the rows of other folds.

    With ``H`` the matrix that gives the predictions of the regression on all rows (the columns of ``Z`` have mean 0, so
    that its intercept is the mean), the errors of the rows of a fold, were they held out, are ``(I - H_ff)^-1 e_f``.
    """
    n, k = Z.shape
    # F'F is H but for the intercept.
    if k < n:
        root = linalg.cholesky(Z.T @ Z + RIDGE * np.eye(k), lower=True, check_finite=False)
        F = linalg.solve_triangular(root, Z.T, lower=True, check_finite=False)
    else:
        product = Z @ Z.T
        values, vectors = linalg.eigh(product, check_finite=False)
        values = np.maximum(values, 0.0)
        F = np.sqrt(values / (values + RIDGE))[:, None] * vectors.T
    error = Y - Y.mean(axis=0) - F.T @ (F @ Y)
    predicted = np.empty_like(Y)
    for fold in range(of.max() + 1):
        rows = np.flatnonzero(of == fold)
        part = F[:, rows]
        inside = np.eye(len(rows)) - 1.0 / n - part.T @ part
        predicted[rows] = Y[rows] - np.linalg.solve(inside, error[rows])
    return predicted


def _own_fold(Z: Array, coef: Array, intercept: Array, of: Array) -> Array:
    """Predictions of each row by the model of its fold; coefficients of shape (k, f, t)."""
    k, f, t = coef.shape
    everywhere = (Z @ coef.reshape(k, f * t)).reshape(len(Z), f, t)
    predicted: Array = everywhere[np.arange(len(Z)), of] + intercept[of]
    return predicted


def right_class(Y: Array, predicted: Array) -> float:
    """Share of rows whose class has the largest prediction."""
    return float((Y.argmax(axis=1) == predicted.argmax(axis=1)).mean())


def right_labels(Y: Array, predicted: Array) -> float:
    """Share of rows with every label right; two classes are one label."""
    return float(((predicted > 0.0) == (Y > 0.0)).all(axis=1).mean())


def determination(Y: Array, predicted: Array) -> float:
    """R^2, the mean over the targets; 1 or 0 where a target does not vary."""
    left = np.square(Y - predicted).sum(axis=0)
    there = np.square(Y - Y.mean(axis=0)).sum(axis=0)
    share = np.divide(left, there, out=np.where(left > 0.0, 1.0, 0.0), where=there > 0.0)
    return float(1.0 - share.mean())


def fold_numbers(problem: Problem, cv: int, n_repeats: int, random: Any) -> Array:
    """Number of the fold of each row, for each repeat; classes are spread evenly over the folds."""
    n = problem.shape[0]
    if problem.is_classes:
        room = int(np.bincount(problem.y).max())
        if room < 2:
            raise ValueError("no class in y has two rows; SPFSRSelector cross-validates and needs at least that.")
    else:
        room = n // 2
        if room < 2:
            raise ValueError(f"X has {n} rows (n_samples={n}); SPFSRSelector cross-validates and needs at least 4.")
    kind = StratifiedKFold if problem.is_classes else KFold
    folds = np.empty((n_repeats, n), dtype=np.intp)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        for repeat in range(n_repeats):
            splitter = kind(min(cv, room), shuffle=True, random_state=random)
            split = splitter.split(np.zeros((n, 1)), problem.y if problem.is_classes else None)
            for number, (_, test) in enumerate(split):
                folds[repeat, test] = number
    return folds


def ridge_targets(problem: Problem) -> Array:
    """As RidgeClassifier has them: -1 and 1, a single column for two classes; or numbers."""
    if problem.target.task == "regression":
        return scaled_targets(problem.y)
    Y = 2.0 * problem.indicators() - 1.0
    return Y[:, 1:] if problem.is_classes and Y.shape[1] == 2 else Y


def labels(problem: Problem) -> Array:
    """The target as an estimator expects it."""
    if problem.is_classes:
        assert problem.target.classes is not None
        return problem.target.classes[problem.y]
    Y = problem.y.astype(np.int64) if problem.target.task == "classification" else problem.y
    return Y[:, 0] if Y.shape[1] == 1 else Y
