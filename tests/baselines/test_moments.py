"""Pearson correlation and Fisher score against their definitions, other libraries and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import pearsonr
from sklearn.feature_selection import f_classif

from easyfs import FisherScoreSelector, PearsonSelector, RandomSelector

from .parity import cases, load


def table(n: int = 90, d: int = 7, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 4, d) + 100.0
    return X + y[:, None] * rng.uniform(-1, 1, d), y


def slow_fisher(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    mean = X.mean(axis=0)
    classes = [X[y == c] for c in np.unique(y)]
    between = sum(len(part) * (part.mean(axis=0) - mean) ** 2 for part in classes)
    within = sum(((part - part.mean(axis=0)) ** 2).sum(axis=0) for part in classes)
    return np.asarray(between / within)


def test_numbers_give_the_absolute_correlation() -> None:
    X, _ = table()
    y = X @ np.random.default_rng(1).standard_normal(7)
    expected = [abs(pearsonr(X[:, j], y)[0]) for j in range(7)]
    np.testing.assert_allclose(PearsonSelector().fit(X, y).scores_, expected, rtol=1e-9)


def test_several_targets_give_the_mean_over_them() -> None:
    X, _ = table()
    Y = X[:, :3] + np.random.default_rng(1).standard_normal((90, 3)) * X[:, :3].std(axis=0)
    expected = [np.mean([abs(pearsonr(X[:, j], Y[:, t])[0]) for t in range(3)]) for j in range(7)]
    np.testing.assert_allclose(PearsonSelector().fit(X, Y).scores_, expected, rtol=1e-9)


def test_classes_are_indicators() -> None:
    X, y = table()
    expected = [np.mean([abs(pearsonr(X[:, j], y == c)[0]) for c in range(3)]) for j in range(7)]
    np.testing.assert_allclose(PearsonSelector().fit(X, y).scores_, expected, rtol=1e-9)
    two = y > 0
    np.testing.assert_allclose(
        PearsonSelector().fit(X, two).scores_, [abs(pearsonr(X[:, j], two)[0]) for j in range(7)], rtol=1e-9
    )


def test_missing_values_count_as_the_mean() -> None:
    X, y = table()
    X[::5, 2] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    for selector in (PearsonSelector(), FisherScoreSelector()):
        expected = type(selector)().fit(filled, y).scores_
        np.testing.assert_allclose(selector.fit(X, y).scores_, expected, rtol=1e-9)
        np.testing.assert_allclose(selector.fit(sparse.csr_array(X), y).scores_, expected, rtol=1e-9)


def test_fisher_score_equals_its_definition_and_the_f_statistic() -> None:
    X, y = table()
    scores = FisherScoreSelector().fit(X, y).scores_
    np.testing.assert_allclose(scores, slow_fisher(X, y), rtol=1e-9)
    np.testing.assert_allclose(scores, f_classif(X, y)[0] * 2 / (90 - 3), rtol=1e-6)


def test_classes_without_any_spread_within_give_a_large_finite_score() -> None:
    X, y = table()
    X[:, 3] = y
    scores = FisherScoreSelector(1).fit(X, y).scores_
    assert np.isfinite(scores).all()
    assert scores.argmax() == 3


@pytest.mark.parametrize("stem", cases("fisher_score__"))
def test_fisher_score_equals_the_reference(stem: str) -> None:
    stored = load(stem)
    np.testing.assert_allclose(FisherScoreSelector().fit(stored["X"], stored["y"]).scores_, stored["scores"], rtol=1e-9)


def test_fisher_score_of_numbers_says_what_to_use_instead() -> None:
    X, _ = table()
    with pytest.raises(
        ValueError, match=r"FisherScoreSelector is for classification, but y holds numbers.*PearsonSelector"
    ):
        FisherScoreSelector().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="single target, but y has 2 columns"):
        FisherScoreSelector().fit(X, X[:, :2])


def test_a_target_is_asked_for_where_one_is_needed() -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=r"PearsonSelector requires y to be passed.*LaplacianScoreSelector"):
        PearsonSelector().fit(X)


def test_methods_that_only_rank_do_not_know_auto() -> None:
    X, y = table()
    with pytest.raises(ValueError, match="PearsonSelector ranks the columns and does not say how many"):
        PearsonSelector("auto").fit(X, y)


def test_random_orders_are_uniform_and_ignore_the_target() -> None:
    X, _ = table()
    first = np.array([RandomSelector(1, random_state=seed).fit(X, np.zeros(3)).order_[0] for seed in range(700)])
    counts = np.bincount(first, minlength=7)
    assert counts.min() > 60
    assert counts.max() < 150


def test_a_class_without_weight_is_not_there() -> None:
    X, y = table()
    weight = (y < 2).astype(float)
    for selector in (PearsonSelector(), FisherScoreSelector()):
        expected = type(selector)().fit(X[y < 2], y[y < 2]).scores_
        np.testing.assert_allclose(selector.fit(X, y, sample_weight=weight).scores_, expected, rtol=1e-9)
        np.testing.assert_array_equal(selector.classes_, [0, 1])
