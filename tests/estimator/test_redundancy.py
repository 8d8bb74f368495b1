"""How much of each column the selected ones already say."""

from __future__ import annotations

import numpy as np
import pytest

from easyfs import EasyFS

from .shared import (
    FORMS,
    both_compressions,
    by_class,
    normal,
)

# Right answers come with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")


@both_compressions
def test_it_is_the_share_of_variance_that_least_squares_explains(compression: str) -> None:
    rng, X = normal(300, 12)
    X = X @ (np.eye(12) + 0.4 * rng.standard_normal((12, 12)))
    y = X[:, 0] - X[:, 5] + rng.standard_normal(300)
    selector = FORMS[compression](4, random_state=0).fit(X, y)
    for fit in (selector, selector.truncate(2), selector.truncate(1)):
        centred = X - X.mean(axis=0)
        chosen = fit.get_support(indices=True)
        for j in range(12):
            others = centred[:, chosen[chosen != j]]
            rest = centred[:, j] - others @ np.linalg.lstsq(others, centred[:, j], rcond=None)[0]
            assert fit.redundancy_[j] == pytest.approx(1.0 - rest @ rest / (centred[:, j] @ centred[:, j]), abs=1e-3)


@both_compressions
def test_a_copy_has_one_and_an_independent_column_about_zero(compression: str) -> None:
    X, y = by_class(2000, 6)
    X = np.column_stack([X, -3.0 * X[:, 1] + 2.0, X[:, 1] + X[:, 4]])
    selector = FORMS[compression](2, include=[1, 4], random_state=0).fit(X, y)
    assert selector.redundancy_.shape == (8,)
    np.testing.assert_allclose(selector.redundancy_[[6, 7]], 1.0, atol=1e-3)
    np.testing.assert_allclose(selector.redundancy_[[0, 2, 3, 5]], 0.0, atol=0.01)
    with pytest.raises(ValueError, match="include"):
        selector.truncate(1)
    shorter = FORMS[compression](1, include=[1], random_state=0).fit(X, y).redundancy_
    assert shorter[6] == pytest.approx(1.0, abs=1e-3)
    assert 0.2 < shorter[7] < 0.8


@both_compressions
@pytest.mark.parametrize("count", [1, 5, 12])
def test_it_lies_between_zero_and_one_with_copies_constants_and_missing_values(compression: str, count: int) -> None:
    X, y = by_class(200, 12)
    X[:, 3], X[:, 5], X[:, 7] = X[:, 1], 4.0, -X[:, 1]
    X[::3, 9] = np.nan
    for table in (X, X.astype(np.float32)):
        fit = FORMS[compression](count, random_state=0).fit(table, y)
        for selector in (fit, fit.truncate(1)):
            assert np.isfinite(selector.redundancy_).all()
            assert selector.redundancy_.min() >= 0.0
            assert selector.redundancy_.max() <= 1.0
            assert selector.redundancy_[5] == 0.0


def test_selected_copies_say_each_other() -> None:
    X, y = by_class(300, 5)
    X[:, 2] = X[:, 1]
    selector = EasyFS(3, include=[1, 2], random_state=0).fit(X, y)
    np.testing.assert_allclose(selector.redundancy_[[1, 2]], 1.0, atol=1e-3)


@pytest.mark.parametrize("n", [200, 400, 3000])
def test_a_copy_stands_behind_the_first_of_its_kind(n: int) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 6))
        y = X[:, 0] + rng.standard_normal(n)
        order = EasyFS(random_state=seed).fit(np.hstack([X, X]), y).order_.tolist()
        assert all(order.index(j) < order.index(j + 6) for j in range(6))
