"""The number of columns by cross-validation: what is planted is kept, noise stays at chance, nothing leaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge

from easyfs import EasyFS, EasyFSRanking, LassoSelector, PearsonSelector
from easyfs.passes.block import Block
from easyfs.passes.cross_validate import (
    FOLDS,
    MOST_PRODUCTS,
    PENALTY,
    CrossValidated,
    _explained,
    _products,
    _units,
    fold_of_rows,
)
from easyfs.tables.target import check_target


def normal(n: int = 400, d: int = 30, seed: int = 0) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((n, d))


TARGETS = {
    "five columns": (lambda X, e: X[:, :5].sum(axis=1) + 2.0 * e, {0, 1, 2, 3, 4}),
    "a product": (lambda X, e: np.sign(X[:, 3] * X[:, 7]) + 0.5 * e, {3, 7}),
    "a wave": (lambda X, e: np.cos(4.0 * X[:, 5]) + 0.5 * e, {5}),
    "classes of a product": (lambda X, e: (X[:, 3] * X[:, 7] + 0.3 * e > 0).astype(int), {3, 7}),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_what_is_planted_is_kept_and_little_else(kind: str) -> None:
    make, true = TARGETS[kind]
    rng, X = normal()
    y = make(X, rng.standard_normal(len(X)))
    selector = EasyFS("cv", random_state=0).fit(X, y)
    assert true <= set(selector.get_support(indices=True))
    assert selector.n_features_ <= len(true) + 1
    results = selector.cv_results_
    assert list(results["n_features"][:3]) == [1, 2, 3]
    assert len(results["mean_test_score"]) == len(results["split4_test_score"]) == 30
    splits = np.array([results[f"split{fold}_test_score"] for fold in range(FOLDS)])
    np.testing.assert_allclose(results["mean_test_score"], splits.mean(axis=0))
    best = results["mean_test_score"].max()
    assert 0.3 < best < 1.0
    np.testing.assert_array_equal(clone(selector).fit(X, y).order_, selector.order_)


def test_noise_stays_at_chance() -> None:
    scores, counts = [], []
    for seed in range(20):
        rng, X = normal(120, 40, seed)
        selector = EasyFS("cv", random_state=seed).fit(X, rng.standard_normal(120))
        scores.append(selector.cv_results_["mean_test_score"][:10].mean())
        counts.append(selector.n_features_)
    assert np.mean(scores) < 0.0
    assert np.median(counts) == 1
    assert sum(count > 3 for count in counts) <= 2


def test_weak_columns_that_help_together_are_kept() -> None:
    rng, X = normal(300, 100)
    y = X[:, :40].sum(axis=1) + 4.0 * rng.standard_normal(300)
    cv, auto = EasyFS("cv", random_state=0).fit(X, y), EasyFS("auto", random_state=0).fit(X, y)
    assert cv.n_features_ >= auto.n_features_
    assert cv.n_features_ >= 20


def test_the_score_is_that_of_an_explicit_model() -> None:
    rng, A = normal(80, 6)
    B, w, v = rng.standard_normal((30, 6)), rng.uniform(0.5, 2.0, 80), rng.uniform(0.5, 2.0, 30)
    Y, Z = (M @ rng.standard_normal((6, 2)) + rng.standard_normal((len(M), 2)) for M in (A, B))
    found = _explained([A, B], [Y, Z], (w, v))
    center, scale = (
        np.average(A, axis=0, weights=w),
        np.sqrt(np.average((A - np.average(A, axis=0, weights=w)) ** 2, axis=0, weights=w)),
    )
    spread = np.sqrt(np.average((Y - np.average(Y, axis=0, weights=w)) ** 2, axis=0, weights=w))
    for k in range(1, 7):
        model = Ridge(alpha=PENALTY * w.mean()).fit(((A - center) / scale)[:, :k], Y, sample_weight=w)
        left = (Z - model.predict(((B - center) / scale)[:, :k])) / spread
        whole = (Z - np.average(Y, axis=0, weights=w)) / spread
        expected = 1.0 - (v @ np.square(left).sum(axis=1)) / (v @ np.square(whole).sum(axis=1))
        assert found[k - 1] == pytest.approx(expected, rel=1e-9)


def test_folds_are_even_in_rows_and_classes() -> None:
    y = np.repeat([0, 1, 2], [50, 30, 20])
    folds = fold_of_rows(Block(np.zeros((100, 1)), check_target(y, 100, "auto")), seed=3)
    for label in range(3):
        assert np.ptp(np.bincount(folds[y == label], minlength=FOLDS)) <= 1
    numbers = fold_of_rows(
        Block(np.zeros((101, 1)), check_target(np.random.default_rng(0).random(101), 101, "auto")), seed=3
    )
    assert np.ptp(np.bincount(numbers)) <= 1


def test_the_smallest_number_within_one_standard_error() -> None:
    scores = np.array([[0.1, 0.50, 0.52, 0.53, 0.4], [0.1, 0.52, 0.55, 0.55, 0.4], [0.1, 0.54, 0.55, 0.57, 0.4]])
    assert CrossValidated(np.arange(1, 6), scores, ()).best == 3
    assert CrossValidated(np.arange(1, 6), scores[:, [0, 0, 0, 4, 3]], ()).best == 5


def test_every_kind_of_table() -> None:
    rng, X = normal(300, 8)
    y = X[:, 1] + X[:, 4] + rng.standard_normal(300)
    expected = EasyFS("cv", random_state=0).fit(X, y)
    assert set(expected.get_support(indices=True)) >= {1, 4}
    names = [f"x{j}" for j in range(8)]
    lazy = pl.DataFrame(X, schema=names).with_columns(y=pl.Series(y)).lazy()
    found = EasyFS("cv", random_state=0).fit(lazy, "y")
    np.testing.assert_array_equal(found.order_, expected.order_)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"])
    thin = EasyFS("cv", random_state=0).fit(sparse.csr_array(np.where(np.abs(X) < 0.5, 0.0, X)), y)
    assert set(thin.get_support(indices=True)) >= {1, 4}
    mixed = pd.DataFrame(X[:, :4], columns=list("abcd")).assign(city=rng.choice(["Rome", "Oslo", "Bonn"], 300))
    target = 2.0 * (mixed["city"] == "Rome") + mixed["b"] + rng.standard_normal(300)
    chosen = EasyFS("cv", random_state=0).fit(mixed, target, sample_weight=rng.uniform(0.5, 2.0, 300))
    assert set(chosen.get_feature_names_out()) >= {"b", "city"}
    grouped = EasyFS("cv", feature_groups=[0, 0, 1, 1, 2, 2, 3, 3], include=[7], random_state=0).fit(X, y)
    assert set(grouped.get_support(indices=True)) >= {0, 1, 4, 5, 6, 7}
    assert EasyFSRanking("cv", random_state=0, n_hidden=16).fit(X, y).n_features_ >= 1


def test_where_it_cannot_be_used() -> None:
    rng, X = normal(60, 5)
    y: Any = rng.standard_normal(60)
    with pytest.raises(ValueError, match="needs a target"):
        EasyFS("cv").fit(X)
    with pytest.raises(ValueError, match="at least 20 rows"):
        EasyFS("cv").fit(X[:10], y[:10])
    with pytest.raises(ValueError, match="needs all rows"):
        EasyFS("cv").partial_fit(X, y)
    for selector in (PearsonSelector("cv"), LassoSelector("cv")):
        with pytest.raises(ValueError, match="'cv' is for EasyFS"):
            selector.fit(X, y)


@pytest.mark.parametrize("levels", [3, 15])
def test_categories_that_matter_together(levels: int) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, levels, 1500), rng.integers(0, levels, 1500)
    y = 3.0 * rng.normal(size=levels)[a] * rng.normal(size=levels)[b] + 0.3 * rng.normal(size=1500)
    X = pd.DataFrame({"a": [f"a{v}" for v in a], "b": [f"b{v}" for v in b], "x": rng.normal(size=1500)})
    selector = EasyFS("cv", random_state=0).fit(X, y)
    assert list(selector.get_feature_names_out()) == ["a", "b"]
    assert selector.cv_results_["mean_test_score"][1] > 0.3


def test_a_group_has_few_products_however_many_indicators_its_categories_have() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 30, size=(500, 4))
    plain = [np.concatenate([codes[:, [k]] == np.arange(30) for k in range(4)], axis=1).astype(float)] * 2
    labels = np.repeat(np.arange(4), 30)
    for many in (1, 2, 3, 4):
        where = list(range(30 * many))
        units = _units(plain[0], where, labels)
        assert [len(unit) for unit in units] == [30] * many
        assert _products(plain, units)[0].shape[1] <= MOST_PRODUCTS
    values = [rng.normal(size=(500, 3))] * 2
    assert _units(values[0], [0, 2], np.array([7, 7, 7])) == [[0], [2]]  # numbers of one group are no indicators
    assert _products(values, [[0], [2]])[0].shape[1] == 4
