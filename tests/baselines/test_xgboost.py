"""Importances of boosted trees against XGBoost's own, and what happens without the package."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from easyfs import XGBoostSelector

N, M = 150, 8
KINDS = ("two", "classes", "labels", "numbers", "several")
IMPORTANCES = ("gain", "total_gain", "weight", "cover", "total_cover")


@pytest.fixture(autouse=True)
def package(request: pytest.FixtureRequest) -> Any:
    """The package, which all tests need but one."""
    if "without_the_package" in request.node.name:
        return None
    import xgboost

    return xgboost


def table(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((N, M))


def target(X: np.ndarray, kind: str) -> np.ndarray:
    both = X[:, [2, 5]] + 0.2 * np.random.default_rng(9).standard_normal((N, 2))
    if kind in ("two", "classes"):
        return np.digitize(both.sum(axis=1), [0.0] if kind == "two" else [-0.7, 0.7])
    if kind == "labels":
        return (both > 0).astype(int)
    return both.sum(axis=1) if kind == "numbers" else both


def standardized(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def from_trees(model: Any, importance: str) -> np.ndarray:
    """Importances summed up split by split from the printed trees."""
    frame = model.get_booster().trees_to_dataframe()
    splits = frame[frame["Feature"] != "Leaf"]
    scores = np.zeros(M)
    for column in range(M):
        own = splits[splits["Feature"] == f"f{column}"]
        values = {"weight": np.ones(len(own)), "gain": own["Gain"], "cover": own["Cover"]}[
            importance.removeprefix("total_")
        ]
        if len(own):
            scores[column] = np.sum(values) if "total" in importance or importance == "weight" else np.mean(values)
    return scores


@pytest.mark.parametrize("importance", IMPORTANCES)
@pytest.mark.parametrize("kind", KINDS)
def test_importances_are_those_of_the_trees(kind: str, importance: str, package: Any) -> None:
    X = table()
    y = target(X, kind)
    selector = XGBoostSelector(2, n_estimators=6, max_depth=3, learning_rate=0.5, importance=importance).fit(X, y)
    classes = kind in ("two", "classes", "labels")
    model = (package.XGBClassifier if classes else package.XGBRegressor)(
        n_estimators=6, max_depth=3, learning_rate=0.5, tree_method="hist", n_jobs=1
    )
    model.fit(standardized(X), y if classes else standardized(y))
    expected = from_trees(model, importance)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-4, atol=1e-6)
    if importance.startswith("total"):
        assert set(selector.order_[:2]) == {2, 5}


def test_unused_columns_score_zero_and_keep_the_order_of_the_table() -> None:
    X = table()
    selector = XGBoostSelector(1, n_estimators=1, max_depth=1).fit(X, (X[:, 4] > 0).astype(int))
    assert list(selector.order_) == [4, 0, 1, 2, 3, 5, 6, 7]
    assert np.count_nonzero(selector.scores_) == 1


def test_labels_need_not_be_codes() -> None:
    X = table()
    y = target(X, "classes")
    plain = XGBoostSelector(2, n_estimators=5).fit(X, y)
    for labels in (np.array(["x", "a", "m"])[y], np.array([7, -3, 100])[y]):
        named = XGBoostSelector(2, n_estimators=5).fit(X, labels)
        assert set(named.get_support(indices=True)) == set(plain.get_support(indices=True)) == {2, 5}


def test_empty_entries_of_sparse_tables_are_zeros() -> None:
    X = table()
    X[np.random.default_rng(3).random(X.shape) < 0.6] = 0.0
    y = target(X, "numbers")
    dense, stored = (XGBoostSelector(2, n_estimators=5).fit(Z, y) for Z in (X, sparse.csr_array(X)))
    np.testing.assert_array_equal(dense.scores_, stored.scores_)


def test_columns_and_targets_of_any_size_and_place_are_told_apart() -> None:
    X = table()
    y = target(X, "numbers")
    far = X * np.array([1e30, 1e-30, 1e60, 1.0, 1.0, 1.0, 1e-60, 1.0]) + np.array([0, 0, 0, 1e9, 1e9, 1e9, 0, 0])
    selector = XGBoostSelector(2, n_estimators=10, importance="total_gain").fit(far, y + 1e8)
    assert set(selector.get_support(indices=True)) == {2, 5}


def test_several_targets_count_the_same_in_any_unit() -> None:
    X = table()
    Y = target(X, "several")
    plain = XGBoostSelector(2, n_estimators=5).fit(X, Y)
    scaled = XGBoostSelector(2, n_estimators=5, task="regression").fit(X, Y * [2.0**40, 2.0**-40])
    np.testing.assert_allclose(plain.scores_, scaled.scores_, rtol=1e-6)


def test_the_seed_may_be_of_any_kind() -> None:
    X = table()
    y = target(X, "classes")
    found = [XGBoostSelector(2, n_estimators=3, random_state=seed).fit(X, y).scores_ for seed in (None, 0, 0)]
    found.append(XGBoostSelector(2, n_estimators=3, random_state=np.random.RandomState(0)).fit(X, y).scores_)
    for scores in found[1:]:
        np.testing.assert_array_equal(found[0], scores)


def test_two_rows_suffice() -> None:
    X = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.5]])
    for y in ([0, 1], [0.5, 1.5]):
        np.testing.assert_array_equal(XGBoostSelector(1, n_estimators=2).fit(X, y).order_, [0, 1, 2])


def test_without_the_package_the_message_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['xgboost'] = None\n"
        "from easyfs import XGBoostSelector\n"
        "try:\n    XGBoostSelector(1).fit([[0.0, 1.0], [1.0, 0.5], [2.0, 0.0]], [0, 1, 1])\n"
        "except ImportError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "XGBoostSelector needs the package 'xgboost'" in done.stdout
    assert "pip install 'easyfs-ml[xgboost]'" in done.stdout


def test_the_package_is_imported_when_it_is_needed() -> None:
    program = "import sys, easyfs.baselines.xgboost as own; assert 'xgboost' not in sys.modules; own.XGBoostSelector(3)"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("max_depth", -1),
        ("max_depth", None),
        ("learning_rate", 0.0),
        ("learning_rate", 2.0),
        ("importance", "impurity"),
        ("device", 0),
    ],
)
def test_bad_parameters_are_named(name: str, value: Any) -> None:
    X = table()
    with pytest.raises(ValueError, match=name):
        XGBoostSelector(2, **{name: value}).fit(X, target(X, "classes"))
