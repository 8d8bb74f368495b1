"""Numbers that are very large, very small, or far from all others."""

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
    stream,
    targets_for,
)

# Right answers come with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")


@both_compressions
@pytest.mark.parametrize("kind", ["dense", "sparse", "target", "one value", "one target"])
@pytest.mark.parametrize("size", [1e-120, 1e160, 1e300])
def test_numbers_whose_squares_do_not_fit_are_like_any_others(compression: str, kind: str, size: float) -> None:
    rng, X = normal(300, 6)
    y = X[:, 1] - X[:, 4] + 0.1 * rng.standard_normal(300)
    make = FORMS[compression](2, random_state=0, **SMALL_OF[compression])
    if kind == "one value":
        X[7, 2] = size
    elif kind == "one target":
        y[7] = min(size, 1e160)
    elif kind == "target":
        y *= size
    else:
        X *= size
    assert set(make.fit(sparse.csr_array(X) if kind == "sparse" else X, y).order_[:2]) == {1, 4}


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_values_are_clipped_as_by_hand(kind: str) -> None:
    rng, X = normal(300, 6)
    X[:, 2] = np.where(rng.random(300) < 0.05, rng.exponential(1.0, 300), 0.0)
    X[:, 3] += 20.0  # zero lies beyond the bound
    X[6, 3] = 0.0
    X[:2, 4] = 1e4
    y = X[:, 0] + 0.1 * rng.standard_normal(300)
    y[:2] = 1e3
    make = EasyFS(2, random_state=0, n_hidden=0, predicted_share=0)
    plan = make.draw_plan(X, y)
    scaling = plan.scaling
    assert scaling.scale[4] < 2.0 < X[:, 4].std()
    assert scaling.scale[2] == pytest.approx(X[:, 2].std())
    assert plan.target.scale[0] < 2.0 < y.std()
    by_hand = np.clip((X - scaling.center) / scaling.scale, -4.0, 4.0)
    y_by_hand = np.clip((y - plan.target.center) / plan.target.scale, -4.0, 4.0)
    found = clone(make).fit(sparse.csr_array(X) if kind == "sparse" else X, y)
    assert_same_selection(found, make.set_params(clip=None).fit(by_hand, y_by_hand))


def test_a_few_extreme_rows_do_not_decide() -> None:
    rng, X = normal(500, 12)
    y = X[:, 3] + rng.standard_normal(500)
    X[:2, 7] = y[:2] = 300.0
    assert EasyFS(1, random_state=0).fit(X, y).order_[0] == 3
    assert EasyFS(1, random_state=0, clip=None).fit(X, y).order_[0] == 7


@both_compressions
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_of_size_1e12_and_1e_minus_12_side_by_side(compression: str, dtype: Any) -> None:
    X, y = by_class(300, 12, columns=(1, 4))
    sizes = 10.0 ** np.array([12, -12] * 6)
    plain = FORMS[compression](4, random_state=0).fit(X.astype(dtype), y)
    scaled = FORMS[compression](4, random_state=0).fit((X * sizes).astype(dtype), y)
    assert set(scaled.order_[:2]) == {1, 4}
    if dtype == np.float64:
        assert_same_selection(plain, scaled)


@both_compressions
def test_targets_of_size_1e12_and_1e_minus_12_side_by_side(compression: str) -> None:
    X, Y = targets_for("several targets", 300)
    plain = FORMS[compression](4, random_state=0).fit(X, Y)
    scaled = FORMS[compression](4, random_state=0).fit(X, Y * [1e12, 1e-12] + [1e12, 1e-12])
    assert_same_selection(plain, scaled)


@both_compressions
@pytest.mark.parametrize("n", [300, 5000])
def test_a_mean_of_a_million_standard_deviations(compression: str, n: int) -> None:
    X, y = by_class(n, 12)
    far = X + 1e6 * np.where(np.arange(12) % 2, 1.0, -1.0)
    plain = FORMS[compression](4, random_state=0, **SMALL_OF[compression]).fit(X, y)
    shifted = FORMS[compression](4, random_state=0, **SMALL_OF[compression]).fit(far, y)
    np.testing.assert_array_equal(plain.order_, shifted.order_)
    np.testing.assert_allclose(plain.scores_, shifted.scores_, rtol=1e-4, atol=1e-9)


def test_a_mean_of_a_million_standard_deviations_in_a_stream() -> None:
    X, y = by_class(3000, 12)
    make = EasyFS(4, random_state=0, **SMALL)
    plain = stream(clone(make), X, y, [500, 1500])
    far = stream(make, X + 1e6, y, [500, 1500])
    np.testing.assert_array_equal(plain.order_, far.order_)


@both_compressions
def test_a_float32_mean_of_a_thousand_standard_deviations(compression: str) -> None:
    X, y = by_class(5000, 12)
    far = (X + 1000.0).astype(np.float32)
    assert set(FORMS[compression](2, random_state=0).fit(far, y).order_[:2]) == {1, 4}
