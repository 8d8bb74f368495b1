"""Tables at the edge of what can be selected from: rare classes, mirror images, repeated rows, odd categories."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS, EasyFSRanking

FORMS = {"sequential": EasyFS, "ranking": EasyFSRanking}


@pytest.mark.parametrize("place", range(0, 60, 6))
def test_a_class_of_one_row(place: int) -> None:
    X = np.random.default_rng(0).standard_normal((400, 5))
    y = np.zeros(400, dtype=int)
    y[place] = 1
    selector = EasyFS(1, random_state=0).fit(X, y)
    np.testing.assert_allclose(selector.relevance_, np.corrcoef(X.T, y)[-1, :-1] ** 2, rtol=1e-6)
    np.testing.assert_array_equal(np.sort(selector.order_), np.arange(5))
    assert np.isfinite(selector.scores_).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 3.7, 100.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_column_and_its_mirror_image(seed: int, offset: float, dtype: Any) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((500, 10))
    X[:, 1] = offset - X[:, 0]
    y = X[:, 0] ** 2 + 3.0 * X[:, 5] + 0.1 * rng.standard_normal(500)
    selector = EasyFS(random_state=0).fit(X.astype(dtype), y)
    assert list(selector.order_[: selector.n_features_]) == [5, 0]
    assert selector.gains_.max() < 1.0


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_are_repeated_many_times(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, on = np.zeros((5000, 6)), rng.random(5000) < 0.5
    X[on] = rng.standard_normal(6)
    X[rng.choice(5000, 10, replace=False)] = rng.standard_normal((10, 6))
    selector = EasyFS(random_state=0).fit(X, on.astype(int))
    assert selector.p_values_ is not None
    assert selector.relevance_ is not None
    assert selector.p_values_[0] < 1e-6
    assert selector.gains_[0] > 0.7
    assert selector.relevance_.min() > 0.9


@pytest.mark.parametrize("levels", [2, 3, 5, 10])
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("classes", [False, True])
def test_one_column_of_a_few_values_that_decides_the_target(classes: bool, copies: int, levels: int) -> None:
    x = np.random.default_rng(0).integers(0, levels, 1000).astype(float)
    X = np.column_stack([x, -x, 2.0 * x + 1.0][:copies])
    selector = EasyFS(random_state=0).fit(X, (x >= levels / 2).astype(int) if classes else x / 3.0)
    assert selector.n_features_ == 1
    assert selector.p_values_ is not None
    assert selector.p_values_[0] < 1e-6


@pytest.mark.filterwarnings("ignore:none of the 20 columns tells more of the target than chance:UserWarning")
@pytest.mark.parametrize("seed", range(6))
def test_noise_is_not_taken_for_more_where_a_class_is_rare(seed: int) -> None:
    X = np.random.default_rng(seed).standard_normal((1000, 20))
    assert EasyFS(random_state=0).fit(X, (np.arange(1000) % 100 == 7).astype(int)).n_features_ == 1


@pytest.mark.parametrize("word", ["missing", "other values"])
def test_a_category_of_that_name_is_one_like_any_other(word: str) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    noise = rng.standard_normal((200, 2))
    table = pd.DataFrame({"a": noise[:, 0], "status": np.where(y == 1, word, "present"), "b": noise[:, 1]})
    selector = EasyFS(1, random_state=0).fit(table, y)
    assert list(selector.get_feature_names_out()) == ["status"]
    assert selector.relevance_ is not None
    assert selector.relevance_[1] == pytest.approx(1.0)


def test_a_category_of_many_levels_counts_as_a_whole() -> None:
    rng = np.random.default_rng(1)
    kind, x = rng.integers(0, 30, 400), rng.standard_normal(400)
    y = x + (0.8 * rng.standard_normal(30))[kind] + 0.1 * rng.standard_normal(400)
    table = pd.DataFrame({"x": x, "kind": [f"L{k}" for k in kind], "noise": rng.standard_normal(400)})
    assert set(EasyFS(random_state=0).fit(table, y).get_feature_names_out()) == {"x", "kind"}
    shuffled = table.assign(kind=rng.permutation(table["kind"]))
    assert list(EasyFS(random_state=0).fit(shuffled, y).get_feature_names_out()) == ["x"]


def test_a_row_number_that_is_excluded_needs_no_warning() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"id": np.arange(100), "a": rng.standard_normal(100), "b": rng.standard_normal(100)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        EasyFS(1, exclude=["id"], random_state=0).fit(table, np.arange(100) % 2)
    with pytest.warns(UserWarning, match="set aside: 'id'"):
        EasyFS(1, random_state=0).fit(table, np.arange(100) % 2)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("compression", ["sequential", "ranking"])
@pytest.mark.parametrize("n", [8, 20, 200])
def test_columns_that_are_the_rare_class_itself(n: int, compression: str, dtype: Any) -> None:
    X = np.random.default_rng(0).standard_normal((n, 12)).astype(dtype)
    y = (np.arange(n) == 3).astype(int)
    X[:, 5], X[:, 8] = y, 1.0 - 2.0 * y
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        selector = FORMS[compression](2, random_state=0).fit(X, y)
    assert selector.order_[0] in (5, 8)
    assert selector.relevance_ is not None
    np.testing.assert_allclose(selector.relevance_[[5, 8]], 1.0, rtol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_single_precision_gives_the_ranking_of_double(seed):
    # Columns that nearly add up to constants: what nodes hear of them cancels, and few digits of float32 would be left.
    rng = np.random.default_rng(seed)
    half = rng.integers(0, 10, size=(2000, 6))
    X = np.hstack([half, 9 - half, half + 1e-3 * rng.normal(size=half.shape)]).astype(np.float32)
    y = X[:, 0] - X[:, 1] + 0.1 * rng.normal(size=2000)
    single, double = (EasyFSRanking(10, n_enhancement=400, random_state=seed).fit(A, y) for A in (X, X.astype(np.float64)))
    np.testing.assert_array_equal(single.order_, double.order_)
    np.testing.assert_allclose(single.scores_, double.scores_, rtol=1e-6)
