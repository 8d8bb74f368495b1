"""Stability selection against a loop over the same parts, and by what it promises."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectKBest, SelectorMixin

from easyfs import make_selector
from easyfs.evaluation import jaccard_stability, nogueira_stability, stability_selection


class Spy(SelectorMixin, BaseEstimator):
    """Chooses the columns of the largest means, and notes the rows (the last column holds their numbers)."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, n_features_to_select: int = 2, random_state: Any = None):
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Spy:
        self.mask_ = np.zeros(X.shape[1], dtype=bool)
        self.mask_[np.argsort(-X[:, :-1].mean(axis=0), kind="stable")[: self.n_features_to_select]] = True
        rows = X[:, -1].astype(int)
        Spy.seen.append({"rows": rows, "y": None if y is None else y.copy(), "seed": self.random_state, "mask": self.mask_})
        return self

    def _get_support_mask(self) -> Any:
        return self.mask_


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    Spy.seen.clear()


def numbered(n: int = 40, d: int = 6, seed: int = 0) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((n, d + 1))
    X[:, -1] = np.arange(n)
    return X


@pytest.mark.parametrize("n_runs", [2, 7, 30])
def test_frequencies_are_those_of_the_runs(n_runs: int) -> None:
    X = numbered()
    found = stability_selection(Spy(3), X, n_runs=n_runs, random_state=0)
    assert len(Spy.seen) == n_runs == found.n_runs
    counts = np.zeros(7)
    sets = []
    for run in Spy.seen:
        # What it chose on its rows is what it chooses when it is asked again.
        means = [X[run["rows"], j].mean() for j in range(6)]
        sets.append(sorted(range(6), key=lambda j, means=means: -means[j])[:3])
        counts[sets[-1]] += 1
    np.testing.assert_allclose(found.frequency, counts / n_runs, atol=1e-12)
    assert found.nogueira == pytest.approx(nogueira_stability(sets, 7))
    assert found.jaccard == pytest.approx(jaccard_stability(sets))
    assert found.mean_size == 3.0
    stable = [j for j in range(7) if counts[j] / n_runs >= 0.75]
    assert sorted(found.stable) == stable
    assert np.all(np.diff(found.frequency[found.stable]) <= 0)


@given(st.integers(4, 31), st.floats(0.1, 0.5), st.integers(0, 99))
def test_parts_come_in_pairs_without_a_common_row(n: int, share: float, seed: int) -> None:
    Spy.seen.clear()
    stability_selection(Spy(1), numbered(n), n_runs=6, share=share, random_state=seed)
    size = max(2, int(share * n))
    for run in Spy.seen:
        assert len(run["rows"]) == len(set(run["rows"])) == size
    for k, (one, other) in enumerate(pairwise(Spy.seen)):
        if k % 2 == 0:
            assert not set(one["rows"]) & set(other["rows"])
    assert len({tuple(run["rows"]) for run in Spy.seen}) > 2 or n < 8


@given(st.lists(st.integers(6, 14), min_size=2, max_size=4), st.sampled_from([0.3, 0.4, 0.5]), st.integers(0, 99))
def test_parts_keep_the_shares_of_the_classes(sizes: list[int], share: float, seed: int) -> None:
    Spy.seen.clear()
    labels = np.repeat([f"class {c}" for c in range(len(sizes))], sizes)
    labels = labels[np.random.default_rng(seed).permutation(len(labels))]
    stability_selection(Spy(1), numbered(len(labels)), labels, n_runs=6, share=share, random_state=seed)
    for run in Spy.seen:
        np.testing.assert_array_equal(run["y"], labels[run["rows"]])
        for c, size in enumerate(sizes):
            # As near as whole rows allow, with one to spare for the rows that are left over.
            assert abs(np.sum(run["y"] == f"class {c}") - len(run["rows"]) / len(labels) * size) < 2
    for one, other in zip(Spy.seen[::2], Spy.seen[1::2], strict=True):
        assert not set(one["rows"]) & set(other["rows"])


@pytest.mark.parametrize("share", [0.6, 0.9, 1.0])
@pytest.mark.parametrize("classes", [False, True])
def test_parts_of_more_than_half(share: float, classes: bool) -> None:
    X, y = numbered(20), np.arange(20) % 3 if classes else None
    stability_selection(Spy(1), X, y, n_runs=5, share=share, random_state=0)
    assert [len(run["rows"]) for run in Spy.seen] == [int(share * 20)] * 5


def test_planted_columns_are_stable_and_noise_is_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 60))
    y = X[:, 11] - X[:, 42] + X[:, 7] + rng.standard_normal(200)
    found = stability_selection(make_selector("pearson", 5), X, y, n_runs=40, threshold=0.9, random_state=0)
    assert set(found.stable) == {7, 11, 42}
    noise = stability_selection(
        make_selector("pearson", 5), X, rng.standard_normal(200), n_runs=40, threshold=0.9, random_state=0
    )
    assert len(noise.stable) <= 1
    # With classes as well, by a selector of scikit-learn.
    found = stability_selection(SelectKBest(k=5), X, y > 0, n_runs=40, threshold=0.9, random_state=0)
    assert {11, 42} <= set(found.stable)


def test_the_bound_on_false_columns_is_the_formula() -> None:
    X = numbered(30, 19)
    for threshold, bound in ((0.75, 3**2 / (0.5 * 20)), (0.6, 3**2 / (0.2 * 20)), (1.0, 3**2 / 20)):
        found = stability_selection(Spy(3), X, n_runs=4, threshold=threshold, random_state=0)
        assert found.error_bound == pytest.approx(bound)
        assert found.threshold == threshold


def test_the_bound_holds_on_noise() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 50))
    wrong, bound = [], 0.0
    for _ in range(12):
        found = stability_selection(
            make_selector("pearson", 8), X, rng.standard_normal(60), n_runs=20, threshold=0.7, random_state=0
        )
        wrong.append(len(found.stable))
        bound = found.error_bound
    assert np.mean(wrong) <= bound


def test_a_column_at_the_threshold_is_stable() -> None:
    # 3 of 4 runs are 0.75, whatever the sum of quarters is in floating point; so are 9 of 10 0.9.
    X = numbered(40, 3, seed=5)
    for n_runs, threshold in ((4, 0.75), (10, 0.9), (10, 0.7)):
        found = stability_selection(Spy(1), X, n_runs=n_runs, threshold=threshold, random_state=1)
        counts = np.round(found.frequency * n_runs)
        assert set(found.stable) == set(np.flatnonzero(counts >= round(threshold * n_runs)))


def test_seeds_and_jobs() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 8))
    y = (X[:, 2] + rng.standard_normal(50) > 0).astype(int)
    random = make_selector("random", 3)
    one, again, two = (stability_selection(random, X, y, n_runs=12, random_state=3, n_jobs=jobs) for jobs in (None, 1, 2))
    np.testing.assert_array_equal(one.frequency, again.frequency)
    np.testing.assert_array_equal(one.frequency, two.frequency)
    other = stability_selection(random, X, y, n_runs=12, random_state=4)
    assert not np.array_equal(one.frequency, other.frequency)
    # Each run has a seed of its own, unless the selector has one.
    assert one.frequency.max() < 1.0
    assert stability_selection(make_selector("random", 3, random_state=0), X, y, n_runs=12).frequency.max() == 1.0
    state = np.random.RandomState(3)
    np.testing.assert_array_equal(one.frequency, stability_selection(random, X, y, n_runs=12, random_state=state).frequency)


def test_each_run_of_a_selector_without_a_seed_gets_one() -> None:
    stability_selection(Spy(1), numbered(), n_runs=6, random_state=0)
    seeds = [run["seed"] for run in Spy.seen]
    assert len(set(seeds)) == 6
    Spy.seen.clear()
    stability_selection(Spy(1, random_state=8), numbered(), n_runs=6, random_state=0)
    assert {run["seed"] for run in Spy.seen} == {8}


def test_names_are_shown() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 4)), columns=["age", "weight", "pulse", "noise"])
    found = stability_selection(make_selector("pearson", 1), frame, frame["pulse"] * 2, n_runs=10, random_state=0)
    assert found.names == ["age", "weight", "pulse", "noise"]
    assert "pulse (100%)" in str(found)
    assert "1 column is selected in at least 75% of 10 runs" in str(found)
    assert "2 (100%)" in str(stability_selection(make_selector("pearson", 1), frame.to_numpy(), frame["pulse"], n_runs=4))


def test_none_that_is_stable_is_said() -> None:
    rng = np.random.default_rng(0)
    found = stability_selection(make_selector("random", 1), rng.standard_normal((60, 20)), n_runs=4, random_state=0)
    assert str(found) == "no column is selected in at least 75% of 4 runs."


def test_without_a_target_and_by_name() -> None:
    X = numbered()
    assert stability_selection("random", X, n_runs=4, random_state=0).mean_size == 3.0
    stability_selection(Spy(1), X, n_runs=4)
    assert all(run["y"] is None for run in Spy.seen)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_runs": 1}, "n_runs=1"),
        ({"n_runs": 2.5}, "n_runs=2.5"),
        ({"threshold": 0.5}, "threshold=0.5"),
        ({"threshold": 1.1}, "threshold=1.1"),
        ({"share": 0.0}, "share=0"),
        ({"share": 1.5}, "share=1.5"),
        ({"selector": "peerson"}, "Did you mean 'pearson'"),
        ({"y": np.zeros(3)}, "y has 3 entries"),
        ({"X": np.zeros((2, 3)), "y": None}, "2 sample"),
    ],
)
def test_wrong_arguments_are_named(changed: dict[str, Any], message: str) -> None:
    X = numbered()
    with pytest.raises(ValueError, match=message):
        stability_selection(**{"selector": "pearson", "X": X, "y": X[:, 0]} | changed)
