"""L1-penalised classifiers against scikit-learn's SelectFromModel and its logistic regression."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from easyfs import make_selector
from easyfs.baselines.l1_path import L1


def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    varies = X.std(axis=0) > 0.5
    return X[:300, varies], y[:300]


def standardized(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("k", [3, 8, 20])
@pytest.mark.parametrize("n_classes", [2, 10])
@pytest.mark.filterwarnings("ignore:L1SVMSelector:sklearn.exceptions.ConvergenceWarning")
def test_the_svm_selects_what_select_from_model_does(n_classes: int, k: int) -> None:
    X, y = digits()
    X, y = X[y < n_classes], y[y < n_classes]
    X = X[:, X.std(axis=0) > 0.5]
    model = LinearSVC(penalty="l1", dual=False, tol=1e-7, max_iter=20_000, random_state=0)
    theirs = SelectFromModel(model, max_features=k, threshold=-np.inf).fit(standardized(X), y)
    ours = make_selector("l1_svm", k, tol=1e-7, max_iter=20_000).fit(X, y)
    coefficients = np.abs(theirs.estimator_.coef_).sum(axis=0)
    if np.count_nonzero(coefficients) >= k:
        assert ours.C_ == 1.0
        np.testing.assert_allclose(ours.scores_, coefficients, atol=1e-3)
        np.testing.assert_array_equal(ours.get_support(), theirs.get_support())
    else:
        assert ours.C_ > 1.0


def test_the_logistic_scores_are_norms_over_the_classes() -> None:
    X, y = digits()
    Z = standardized(X)
    how: dict[str, Any] = {"C": 0.3, "tol": 1e-7, "max_iter": 5000}
    coefficients = [
        LogisticRegression(solver="liblinear", intercept_scaling=1e3, random_state=0, **L1, **how)
        .fit(Z, y == label)
        .coef_[0]
        for label in range(10)
    ]
    ours = make_selector("l1_logistic", 10, **how).fit(X, y)
    np.testing.assert_allclose(ours.scores_, np.linalg.norm(coefficients, axis=0), atol=1e-3)


@pytest.mark.parametrize("name", ["l1_svm", "l1_logistic"])
def test_c_is_raised_until_there_are_enough_columns(name: str) -> None:
    X, y = load_wine(return_X_y=True)
    selector = make_selector(name, 8, C=0.01).fit(X, y)
    assert selector.C_ > 0.01
    assert np.count_nonzero(selector.scores_) >= 8
    assert np.count_nonzero(make_selector(name, 8, C=selector.C_ / 2).fit(X, y).truncate(8).gains_) <= 8
    one = make_selector(name, 1, C=0.01).fit(X, y)
    assert one.C_ <= selector.C_


@pytest.mark.parametrize("name", ["l1_svm", "l1_logistic"])
def test_columns_outside_the_model_come_last(name: str) -> None:
    X, y = digits()
    selector = make_selector(name, 5, C=0.02).fit(X, y)
    falling = selector.scores_[selector.order_]
    assert (np.diff(falling) <= 0).all()
    assert falling[-1] == 0.0


@pytest.mark.parametrize("name", ["l1_svm", "l1_logistic"])
def test_a_solver_that_does_not_finish_is_told_of(name: str) -> None:
    X, y = digits()
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations"):
        make_selector(name, 5, max_iter=1, tol=1e-9).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_selector(name, 5).fit(X, y)


@pytest.mark.parametrize("name", ["l1_svm", "l1_logistic"])
@pytest.mark.parametrize("bad", [{"C": 0}, {"C": -1.0}, {"C": "one"}, {"max_iter": 0}, {"tol": 0.0}])
def test_bad_parameters_are_named(name: str, bad: dict[str, Any]) -> None:
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=f"^{next(iter(bad))}="):
        make_selector(name, 5, **bad).fit(X, y)
