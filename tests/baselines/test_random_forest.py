"""Importances of forests against scikit-learn's own and against a slow permutation importance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from easyfs import RandomForestSelector
from easyfs.baselines.base import scaled_targets
from easyfs.baselines.random_forest import permutation_importance

N, M = 120, 8


def table(seed: int = 0, n: int = N) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, M))


def target(X: np.ndarray, kind: str) -> np.ndarray:
    both = X[:, [2, 5]] + 0.2 * np.random.default_rng(9).standard_normal((len(X), 2))
    if kind == "classes":
        return np.digitize(both.sum(axis=1), [-0.7, 0.7])
    if kind == "labels":
        return (both > 0).astype(int)
    return both.sum(axis=1) if kind == "numbers" else both


KINDS = ("classes", "labels", "numbers", "several")


@pytest.mark.parametrize("kind", KINDS)
def test_impurity_is_scikit_learns(kind: str) -> None:
    X = table()
    y = target(X, kind)
    selector = RandomForestSelector(3, n_estimators=20, max_depth=6, min_samples_leaf=2, random_state=3).fit(X, y)
    classes = kind in ("classes", "labels")
    forest = (RandomForestClassifier if classes else RandomForestRegressor)(
        20,
        max_depth=6,
        min_samples_leaf=2,
        max_features="sqrt" if classes else 1.0,
        random_state=np.random.RandomState(3),
    )
    forest.fit(X, scaled_targets(y) if kind == "several" else y)
    np.testing.assert_allclose(selector.scores_, forest.feature_importances_, rtol=1e-6)
    assert selector.scores_.sum() == pytest.approx(1.0)
    assert set(selector.order_[:2]) == {2, 5}


@pytest.mark.parametrize("kind", KINDS)
def test_permutation_importance_is_the_growth_of_the_error_on_rows_left_out(kind: str) -> None:
    X = np.ascontiguousarray(table(), dtype=np.float32)
    y = target(X, kind)
    classes = kind in ("classes", "labels")
    forest = (RandomForestClassifier if classes else RandomForestRegressor)(15, random_state=0).fit(X, y)
    found = permutation_importance(forest, X, y.reshape(N, -1), np.random.RandomState(1))
    seeds = np.random.RandomState(1).randint(2**31 - 1, size=15)
    expected = np.zeros(M)
    for tree, used_rows, seed in zip(forest.estimators_, forest.estimators_samples_, seeds, strict=True):
        random = np.random.RandomState(seed)
        out = sorted(set(range(N)) - set(used_rows))

        def error(rows: np.ndarray, tree: Any = tree, out: list[int] = out) -> float:
            wrong = tree.predict(rows) - y[out]
            return np.mean(wrong != 0) if classes else np.mean(wrong**2 / y.var(axis=0))

        for column in range(M):
            if column not in tree.tree_.feature:
                continue
            shuffled = X[out].copy()
            shuffled[:, column] = random.permutation(shuffled[:, column])
            expected[column] += (error(shuffled) - error(X[out])) / 15
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert set(np.argsort(-found)[:2]) == {2, 5}


def test_a_useless_column_with_many_values_has_no_permutation_importance() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.column_stack([y ^ (rng.random(400) < 0.2), rng.standard_normal((400, 2))]).astype(float)
    impurity, permutation = (
        RandomForestSelector(1, importance=which, random_state=0).fit(X, y).scores_ for which in ("impurity", "permutation")
    )
    assert impurity[1:].min() > 0.2
    assert permutation[0] > 0.15
    assert np.abs(permutation[1:]).max() < 0.05


@pytest.mark.parametrize("importance", ["impurity", "permutation"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_threads_does_not_matter(importance: str, kind: str) -> None:
    X = table()
    y = target(X, kind)
    one, two = (
        RandomForestSelector(3, n_estimators=12, importance=importance, random_state=0, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (None, 2)
    )
    np.testing.assert_array_equal(one.scores_, two.scores_)


@pytest.mark.parametrize("importance", ["impurity", "permutation"])
def test_several_targets_count_the_same_in_any_unit(importance: str) -> None:
    X = table()
    Y = target(X, "several")
    make = {"n_estimators": 10, "importance": importance, "random_state": 0}
    plain = RandomForestSelector(2, **make).fit(X, Y)
    scaled = RandomForestSelector(2, task="regression", **make).fit(
        X, np.column_stack([Y[:, 0] * 2.0**40, Y[:, 1] * 2.0**-40])
    )
    np.testing.assert_allclose(plain.scores_, scaled.scores_)


def test_columns_and_targets_of_any_size_and_place_are_told_apart() -> None:
    X = table()
    y = target(X, "numbers")
    far = X * np.array([1e30, 1e-30, 1e60, 1.0, 1.0, 1.0, 1e-60, 1.0]) + np.array([0, 0, 0, 1e9, 1e9, 1e9, 0, 0])
    for moved in (y, y + 1e9, y * 1e200, y * 1e-200):
        for importance in ("impurity", "permutation"):
            selector = RandomForestSelector(2, task="regression", n_estimators=10, importance=importance, random_state=0)
            assert set(selector.fit(far, moved).get_support(indices=True)) == {2, 5}
            assert 0.1 < selector.scores_[[2, 5]].min() < selector.scores_.max() < 3


@pytest.mark.parametrize("importance", ["impurity", "permutation"])
def test_sparse_tables_give_nearly_what_dense_ones_give(importance: str) -> None:
    X = table()
    X[np.random.default_rng(3).random(X.shape) < 0.5] = 0.0
    y = target(X, "numbers")
    make = {"n_estimators": 30, "importance": importance, "random_state": 0}
    dense, stored = (RandomForestSelector(2, **make).fit(Z, y) for Z in (X, sparse.csr_array(X * 1e50)))
    np.testing.assert_allclose(dense.scores_, stored.scores_, atol=0.1)
    assert set(stored.get_support(indices=True)) == {2, 5}


def test_unused_columns_keep_the_order_of_the_table() -> None:
    X = table()
    y = (X[:, 4] > 0).astype(int)
    for importance in ("impurity", "permutation"):
        selector = RandomForestSelector(
            1, n_estimators=5, max_depth=1, max_features=None, importance=importance, random_state=0
        ).fit(X, y)
        assert list(selector.order_) == [4, 0, 1, 2, 3, 5, 6, 7]


@pytest.mark.parametrize("max_features", ["auto", "sqrt", "log2", None, 3, 0.5, 100, np.int64(2)])
def test_columns_tried_at_a_split(max_features: Any) -> None:
    X = table()
    selector = RandomForestSelector(2, n_estimators=20, max_features=max_features, random_state=0)
    assert set(selector.fit(X, target(X, "numbers")).get_support(indices=True)) == {2, 5}


def test_two_rows_suffice() -> None:
    X = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.5]])
    for importance in ("impurity", "permutation"):
        for y in ([0, 1], [0.5, 1.5]):
            selector = RandomForestSelector(1, n_estimators=4, importance=importance, random_state=0).fit(X, y)
            assert (selector.scores_ >= 0).all()
            assert selector.scores_.sum() == pytest.approx(1.0 if importance == "impurity" else 0.0)
            np.testing.assert_array_equal(np.sort(selector.order_), np.arange(3))


def test_a_random_state_instance_is_drawn_from() -> None:
    X = table()
    y = target(X, "classes")
    random = np.random.RandomState(0)
    first, second = (RandomForestSelector(2, n_estimators=5, random_state=random).fit(X, y).scores_ for _ in range(2))
    assert (first != second).any()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("max_depth", 0),
        ("max_features", "all"),
        ("max_features", 0),
        ("max_features", 1.5),
        ("max_features", True),
        ("min_samples_leaf", 0),
        ("min_samples_leaf", 0.9),
        ("importance", "gini"),
    ],
)
def test_bad_parameters_are_named(name: str, value: Any) -> None:
    X = table()
    with pytest.raises(ValueError, match=name):
        RandomForestSelector(2, **{name: value}).fit(X, target(X, "classes"))


@pytest.mark.parametrize("importance", ["impurity", "permutation"])
@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_a_limit_that_is_not_reached_changes_nothing(importance: str, kind: str, n_jobs: int | None) -> None:
    X = table()
    y = target(X, kind)
    settings: dict[str, Any] = {"n_estimators": 15, "importance": importance, "random_state": 3}
    limited = RandomForestSelector(time_limit=1e6, n_jobs=n_jobs, **settings).fit(X, y)
    np.testing.assert_array_equal(limited.scores_, RandomForestSelector(**settings).fit(X, y).scores_)
    assert (limited.n_estimators_, limited.stop_reason_) == (15, "n_estimators")


def test_trees_grown_within_the_time_limit_are_kept() -> None:
    X = table()
    y = target(X, "numbers")
    cut = RandomForestSelector(time_limit=0.0, random_state=3).fit(X, y)
    assert (cut.n_estimators_, cut.stop_reason_) == (1, "time_limit")
    np.testing.assert_array_equal(cut.scores_, RandomForestSelector(n_estimators=1, random_state=3).fit(X, y).scores_)


@pytest.mark.parametrize("value", [-1.0, "1 min"])
def test_a_wrong_time_limit_is_named(value: Any) -> None:
    X = table()
    with pytest.raises((ValueError, TypeError), match="time_limit"):
        RandomForestSelector(time_limit=value).fit(X, target(X, "numbers"))
