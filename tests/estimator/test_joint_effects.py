"""What no method that looks at one column at a time sees: standard normal columns whose products make the target."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from easyfs import EasyFS

from .shared import (
    normal,
)

# Right answers come with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize("seed", range(3))
def test_sign_product_among_50_columns_puts_both_first(seed: int) -> None:
    _, X = normal(1000, 50, seed)
    selector = EasyFS(2, random_state=seed).fit(X, np.sign(X[:, 1] * X[:, 2]))
    assert set(selector.order_[:2]) == {1, 2}


def test_sign_product_among_500_columns_puts_both_first_of_every_seed() -> None:
    for seed in range(3):
        _, X = normal(1000, 500, seed)
        order = EasyFS(2, random_state=seed).fit(X, np.sign(X[:, 1] * X[:, 2])).order_
        assert set(order[:2]) == {1, 2}


def test_two_products_among_100_columns_are_mostly_in_the_first_four() -> None:
    recall = []
    for seed in range(4):
        rng, X = normal(1000, 100, seed)
        y = X[:, 1] * X[:, 2] + X[:, 3] * X[:, 4] + 0.1 * rng.standard_normal(1000)
        order = EasyFS(4, random_state=seed).fit(X, y).order_
        recall.append(len(set(order[:4]) & {1, 2, 3, 4}) / 4)
    assert np.mean(recall) >= 0.85


def test_a_column_and_a_product_among_100_columns_are_in_the_first_three() -> None:
    recall = []
    for seed in range(4):
        rng, X = normal(1000, 100, seed)
        y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(1000)
        order = EasyFS(3, random_state=seed).fit(X, y).order_
        recall.append(len(set(order[:3]) & {0, 1, 2}) / 3)
    assert np.mean(recall) >= 0.9


def test_a_product_is_found_in_a_sparse_matrix_and_in_float32() -> None:
    _, X = normal(1000, 30)
    X[np.random.default_rng(1).random(X.shape) < 0.5] = 0.0
    y = X[:, 7] * X[:, 21]
    assert set(EasyFS(2, random_state=0).fit(sparse.csr_array(X), y).order_[:2]) == {7, 21}
    assert set(EasyFS(2, random_state=0).fit(X.astype(np.float32), y).order_[:2]) == {7, 21}
