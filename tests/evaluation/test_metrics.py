"""Measures against loops over their definitions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, r2_score

from easyfs.evaluation import jaccard_stability, nmse, nogueira_stability
from easyfs.evaluation.metrics import resolve_metrics

NUMBERS = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))


def slow_nmse(truth: np.ndarray, guess: np.ndarray) -> float:
    """For each target: squared error over the squared error of the mean; the mean over the targets."""
    shares = []
    for t in range(truth.shape[1]):
        mean = sum(truth[:, t]) / len(truth)
        error = sum((guess[i, t] - truth[i, t]) ** 2 for i in range(len(truth)))
        shares.append(error / sum((truth[i, t] - mean) ** 2 for i in range(len(truth))))
    return sum(shares) / len(shares)


@given(st.data(), st.integers(2, 12), st.integers(1, 4))
def test_nmse_equals_the_loop(data: st.DataObject, n: int, targets: int) -> None:
    truth = data.draw(arrays(np.float64, (n, targets), elements=NUMBERS))
    truth[0] += 5.0 + np.ptp(truth, axis=0)  # not constant
    guess = data.draw(arrays(np.float64, (n, targets), elements=NUMBERS))
    assert nmse(truth, guess) == pytest.approx(slow_nmse(truth, guess), rel=1e-9)
    if targets == 1:
        assert nmse(truth[:, 0], guess[:, 0]) == nmse(truth, guess) == nmse(truth[:, 0].tolist(), guess)


def test_nmse_is_one_minus_r2_and_a_mean_over_targets() -> None:
    rng = np.random.default_rng(0)
    truth, guess = rng.standard_normal((2, 50, 3))
    assert nmse(truth[:, 0], guess[:, 0]) == pytest.approx(1 - r2_score(truth[:, 0], guess[:, 0]))
    assert nmse(truth, guess) == pytest.approx(np.mean([nmse(truth[:, t], guess[:, t]) for t in range(3)]))


def test_nmse_of_perfect_and_of_the_mean() -> None:
    truth = np.array([3.0, -1.0, 7.0])
    assert nmse(truth, truth) == 0.0
    assert nmse(truth, np.full(3, 3.0)) == pytest.approx(1.0)


@given(NUMBERS, st.integers(1, 20))
def test_nmse_of_rows_that_are_all_the_same_is_not_a_number(value: float, n: int) -> None:
    # Not some huge number either: the mean of equal numbers is off in the last digit at times.
    assert np.isnan(nmse(np.full(n, value), np.arange(n) + 1.0))
    two = np.column_stack([np.arange(n) * 1.0, np.full(n, value)])
    assert np.isnan(nmse(two, two + 1.0))


def slow_nogueira(chosen: list[list[int]], d: int) -> float:
    """Equation 3 of the paper: 1 - mean of the columns' variances (unbiased) over k/d (1 - k/d)."""
    picked = [[1.0 if f in run else 0.0 for f in range(d)] for run in chosen]
    runs = len(chosen)
    variances = []
    for f in range(d):
        share = sum(row[f] for row in picked) / runs
        variances.append(runs / (runs - 1) * share * (1 - share))
    k = sum(sum(row) for row in picked) / runs
    return 1 - (sum(variances) / d) / (k / d * (1 - k / d))


def kuncheva(chosen: list[list[int]], d: int) -> float:
    """Kuncheva 2007: the mean over pairs of (r d - k^2) / (k (d - k)), for sets of one size k."""
    k = len(chosen[0])
    pairs = itertools.combinations(chosen, 2)
    return float(np.mean([(len(set(a) & set(b)) * d - k**2) / (k * (d - k)) for a, b in pairs]))


@st.composite
def selections(draw: Any, one_size: bool = False) -> tuple[list[list[int]], int]:
    d = draw(st.integers(2, 10))
    size = draw(st.integers(1, d - 1))
    runs = draw(st.integers(2, 7))
    low, high = (size, size) if one_size else (0, d)
    columns = st.lists(st.integers(0, d - 1), min_size=low, max_size=high, unique=True)
    return [draw(columns) for _ in range(runs)], d


@given(selections())
def test_nogueira_equals_the_formula(case: tuple[list[list[int]], int]) -> None:
    chosen, d = case
    found = nogueira_stability(chosen, d)
    if sum(len(run) for run in chosen) in (0, len(chosen) * d):
        assert np.isnan(found)  # all or nothing: chance explains it
        return
    assert found == pytest.approx(slow_nogueira(chosen, d), abs=1e-12)
    assert -1 / (len(chosen) - 1) - 1e-12 <= found <= 1 + 1e-12
    shuffled = [run[::-1] for run in chosen[::-1]]
    assert nogueira_stability(shuffled, d) == pytest.approx(found, abs=1e-12)


@given(selections(one_size=True))
def test_nogueira_is_kunchevas_index_for_sets_of_one_size(case: tuple[list[list[int]], int]) -> None:
    chosen, d = case
    assert nogueira_stability(chosen, d) == pytest.approx(kuncheva(chosen, d), abs=1e-12)


def test_nogueira_of_the_same_and_of_complementary_sets() -> None:
    assert nogueira_stability([[1, 4]] * 5, 8) == 1.0
    assert nogueira_stability([[0, 1], [2, 3]], 4) == pytest.approx(-1.0)
    assert np.isnan(nogueira_stability([[0, 1]], 4))
    assert np.isnan(nogueira_stability([], 4))


def test_nogueira_is_about_zero_by_chance_where_jaccard_is_not() -> None:
    rng = np.random.default_rng(0)
    for k in (2, 10, 18):
        runs = [[rng.permutation(20)[:k] for _ in range(10)] for _ in range(200)]
        assert abs(np.mean([nogueira_stability(chosen, 20) for chosen in runs])) < 0.02
    assert np.mean([jaccard_stability(chosen) for chosen in runs]) > 0.8  # 18 of 20 share a lot by chance


@given(selections())
def test_jaccard_equals_the_loop(case: tuple[list[list[int]], int]) -> None:
    chosen, _ = case
    shares = []
    for i in range(len(chosen)):
        for j in range(i):
            either = sum(c in chosen[i] or c in chosen[j] for c in range(10))
            both = sum(c in chosen[i] and c in chosen[j] for c in range(10))
            shares.append(1.0 if either == 0 else both / either)
    assert jaccard_stability(chosen) == pytest.approx(sum(shares) / len(shares))


def test_jaccard_by_hand() -> None:
    assert jaccard_stability([[0, 1, 2], [2, 1, 3]]) == pytest.approx(0.5)
    assert jaccard_stability([np.array([0]), np.array([1])]) == 0.0
    assert np.isnan(jaccard_stability([[0]]))


def test_the_usual_measures_of_a_task() -> None:
    assert list(resolve_metrics(None, "classification")) == ["accuracy", "balanced_accuracy"]
    assert list(resolve_metrics(None, "regression")) == ["nmse"]


def test_named_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 3))
    y = (X[:, 0] + rng.standard_normal(90) > 1).astype(int)
    model = LogisticRegression().fit(X[:60], y[:60])
    guess, truth = model.predict(X[60:]), y[60:]
    expected = {
        "accuracy": accuracy_score(truth, guess),
        "balanced_accuracy": balanced_accuracy_score(truth, guess),
        "f1": f1_score(truth, guess),
    }
    found = resolve_metrics(list(expected), "classification")
    assert {name: score(model, X[60:], truth) for name, score in found.items()} == pytest.approx(expected)
    line = LinearRegression().fit(X[:60], X[:60, 0] ** 2)
    assert resolve_metrics("nmse", "regression")["nmse"](line, X, X[:, 1]) == pytest.approx(nmse(X[:, 1], line.predict(X)))


def share_of_ones(model: Any, X: Any, y: Any) -> float:
    return float(np.mean(model.predict(X)))


def test_measures_by_name_by_callable_and_with_labels() -> None:
    assert list(resolve_metrics("accuracy", "classification")) == ["accuracy"]
    assert list(resolve_metrics(share_of_ones, "classification")) == ["share_of_ones"]
    found = resolve_metrics({"mine": share_of_ones, "theirs": "roc_auc"}, "classification")
    assert list(found) == ["mine", "theirs"]
    X, y = np.zeros((4, 1)), np.array([0, 1, 1, 1])
    assert found["mine"](DummyClassifier().fit(X, y), X, y) == 1.0


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("acuracy", "metrics has 'acuracy'.*balanced_accuracy"),
        (["accuracy", "nothing"], "metrics has 'nothing'"),
        ({"label": "nothing"}, "metrics has 'nothing'"),
        ([3], "metrics has 3"),
        ({"label": None}, "metrics has None"),
        ([], "metrics is empty"),
        ({}, "metrics is empty"),
    ],
)
def test_measures_that_are_none(metrics: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve_metrics(metrics, "classification")


def test_two_measures_of_one_name_do_not_become_one() -> None:
    with pytest.raises(ValueError, match="lambda"):
        resolve_metrics([lambda m, X, y: 0.0, lambda m, X, y: 1.0], "classification")
