"""Tables that are valid but awkward: tiny classes, missing values, constants, copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from easyfs import EasyFS

from .shared import (
    FORMS,
    SMALL,
    SMALL_OF,
    assert_same_selection,
    both_compressions,
    by_class,
    normal,
)

# Right answers come with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")


@both_compressions
def test_a_target_that_a_fit_leaves_nothing_of(compression: str) -> None:
    X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 8, axis=0)
    assert set(FORMS[compression](2, random_state=0).fit(X, np.repeat([0, 1], 8)).order_) == {0, 1}


@both_compressions
def test_a_class_with_a_single_row_works(compression: str) -> None:
    X, y = by_class(300, 10)
    y[17] = 9
    for table in (X, sparse.csr_array(X)):
        selector = FORMS[compression](2, random_state=0).fit(table, y)
        assert set(selector.order_[:2]) == {1, 4}
        assert np.isfinite(selector.scores_).all()


@both_compressions
def test_classes_of_a_single_row_each_work(compression: str) -> None:
    _, X = normal(6, 10)
    selector = FORMS[compression](3, task="classification", random_state=0).fit(X, np.arange(6))
    assert np.isfinite(selector.scores_).all()
    assert sorted(selector.order_) == list(range(10))
    assert_same_selection(selector, FORMS[compression](3, random_state=0).fit(X, list("abcdef")))


@both_compressions
def test_two_rows_are_enough(compression: str) -> None:
    X = np.array([[0.0, 1.0, 5.0], [1.0, 1.0, 7.0]])
    selector = FORMS[compression](1, random_state=0).fit(X, [0, 1])
    assert selector.order_[-1] == 1
    assert np.isfinite(selector.scores_).all()


@both_compressions
def test_very_unbalanced_classes_do_not_hide_the_small_one(compression: str) -> None:
    rng, X = normal(10_000, 20)
    y = np.zeros(10_000, dtype=int)
    y[:5000] = 1
    y[rng.choice(10_000, 15, replace=False)] = 2
    X[:, 3] += 2.0 * (y == 1)
    X[:, 11] += 8.0 * (y == 2)
    selector = FORMS[compression](2, random_state=0).fit(X, y)
    assert set(selector.order_[:2]) == {3, 11}


@both_compressions
def test_a_half_missing_column_with_signal_is_found(compression: str) -> None:
    X, y = by_class(600, 12)
    X[np.random.default_rng(1).random(600) < 0.5, 4] = np.nan
    for table in (X, X.astype(np.float32), sparse.csr_array(X)):
        assert set(FORMS[compression](2, random_state=0).fit(table, y).order_[:2]) == {1, 4}


def test_the_first_gain_is_that_of_the_formula_with_missing_values_at_the_mean() -> None:
    rng, X = normal(400, 3)
    X = 5.0 * X + 100.0
    y = X.sum(axis=1) + rng.standard_normal(400)
    X[rng.random(400) < 0.6, 1] = np.nan
    for weight in (None, rng.integers(1, 4, 400).astype(float)):
        w = np.ones(400) if weight is None else weight
        z = (y - np.average(y, weights=w)) / np.sqrt(np.cov(y, aweights=w, ddof=0))
        for j in range(3):
            seen = ~np.isnan(X[:, j])
            x = np.zeros(400)
            x[seen] = X[seen, j] - np.average(X[seen, j], weights=w[seen])
            x /= np.sqrt(np.average(x[seen] ** 2, weights=w[seen]))
            gain = np.average(x * z, weights=w) ** 2 / (0.3 + np.average(x**2, weights=w))
            selector = EasyFS(1, include=[j], eps2=0.3, n_hidden=0, predicted_share=0).fit(X, y, weight)
            assert selector.gains_[0] == pytest.approx(gain, rel=1e-9)


@both_compressions
def test_an_all_missing_column_comes_last(compression: str) -> None:
    X, y = by_class(300, 12)
    X[:, 0] = np.nan
    for table in (X, X.astype(np.float32), sparse.csr_array(X)):
        selector = FORMS[compression](2, random_state=0).fit(table, y)
        assert selector.order_[-1] == 0
        assert selector.scores_[0] == 0.0
        assert set(selector.order_[:2]) == {1, 4}


@both_compressions
def test_a_column_with_one_observed_value_or_equal_ones_comes_last(compression: str) -> None:
    X, y = by_class(300, 12)
    X[1:, 0] = np.nan
    X[::2, 7], X[1::2, 7] = np.nan, 1e9
    selector = FORMS[compression](2, random_state=0).fit(X, y)
    assert set(selector.order_[-2:]) == {0, 7}


@pytest.mark.parametrize("value", [0.1, 1e-300, 1e15, 12345.678])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_constant_that_rounding_blurs_is_still_constant(value: float, dtype: Any) -> None:
    X, y = by_class(3001, 6)
    X[:, 0] = value
    selector = EasyFS(2, random_state=0, **SMALL).fit(X.astype(dtype), y)
    assert selector.order_[-1] == 0
    weighted = EasyFS(2, random_state=0, **SMALL).fit(X.astype(dtype), y, np.random.default_rng(0).random(3001) + 0.1)
    assert weighted.order_[-1] == 0


@both_compressions
def test_all_columns_but_one_constant(compression: str) -> None:
    X, y = by_class(300, 6)
    X[:, [0, 2, 3, 4, 5]] = 1.0
    selector = FORMS[compression](3, random_state=0).fit(X, y)
    assert selector.order_[0] == 1
    assert selector.n_features_ == 3


@both_compressions
def test_all_columns_copies_of_one(compression: str) -> None:
    X, y = by_class(300, 6)
    X = X[:, [1]] * np.array([[1.0, -1.0, 2.0, 0.5]])
    selector = FORMS[compression](2, random_state=0).fit(X, y)
    assert selector.n_features_ == 2
    np.testing.assert_allclose(selector.redundancy_, 1.0, atol=1e-3)
    assert selector.gains_[0] > 5 * abs(selector.gains_[1])


@both_compressions
def test_a_single_column(compression: str) -> None:
    X, y = by_class(100, 1, columns=(0,))
    for asked in (1, 1.0, "auto"):
        selector = FORMS[compression](asked, random_state=0).fit(X, y)
        assert list(selector.get_support()) == [True]


@both_compressions
def test_a_memory_mapped_file_equals_the_array(compression: str, tmp_path: Any) -> None:
    X, y = by_class(30_000, 6)
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    plain = FORMS[compression](2, random_state=0, **SMALL_OF[compression]).fit(X.astype(np.float32), y)
    assert_same_selection(plain, FORMS[compression](2, random_state=0, **SMALL_OF[compression]).fit(mapped, y))
    assert set(plain.order_[:2]) == {1, 4}


def test_booleans_and_integers_are_numbers() -> None:
    X, y = by_class(300, 6)
    whole = np.round(4 * X).astype(np.int16)
    plain = EasyFS(2, random_state=0, **SMALL).fit(whole.astype(float), y)
    assert_same_selection(plain, EasyFS(2, random_state=0, **SMALL).fit(whole, y))
    flags = X > 0.5
    plain = EasyFS(2, random_state=0, **SMALL).fit(flags.astype(float), y)
    assert_same_selection(plain, EasyFS(2, random_state=0, **SMALL).fit(flags, y))


@both_compressions
def test_without_nodes_only_the_ratios_of_weights_matter(compression: str) -> None:
    X, y = by_class(300, 8)
    weight = np.random.default_rng(0).random(300) + 0.1
    options = {"predicted_share": 0} if compression == "sequential" else {"n_enhancement": 0}
    make = FORMS[compression](4, n_hidden=0, random_state=0, **options)
    plain = clone(make).fit(X, y, weight)
    for size in (1e-6, 1e6):
        assert_same_selection(plain, clone(make).fit(X, y, size * weight))


def test_one_number_as_weight_counts_all_rows_the_same() -> None:
    X, y = by_class(300, 8)
    plain = EasyFS(4, random_state=0, **SMALL).fit(X, y)
    assert_same_selection(plain, EasyFS(4, random_state=0, **SMALL).fit(X, y, 1.0))
