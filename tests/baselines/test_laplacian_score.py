"""The Laplacian score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from easyfs import LaplacianScoreSelector
from easyfs.baselines.graphs import ClassGraph, neighbor_graph
from easyfs.baselines.laplacian_score import laplacian_score

from .parity import FOLDER, cases, load

Array = NDArray[Any]


def score_slowly(W: Array, X: Array) -> list[float]:
    D = np.diag(W.sum(axis=1))
    L = D - W
    ones = np.ones(len(W))
    scores = []
    for f in X.T:
        g = f - (f @ D @ ones) / (ones @ D @ ones)
        scores.append((g @ L @ g) / (g @ D @ g))
    return scores


def clustered(n: int = 120, d: int = 10, columns: tuple[int, ...] = (2, 7), seed: int = 0) -> Array:
    """Three clusters that only some columns tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    cluster = rng.integers(0, 3, n)
    X[:, columns] += 12.0 * rng.standard_normal((3, len(columns)))[cluster]
    return X


def test_score_equals_the_matrices_of_the_paper() -> None:
    X = np.random.default_rng(0).standard_normal((50, 6)) * [1, 2, 3, 0.1, 10, 5] + 3.0
    for settings in ({}, {"weights": "binary"}, {"metric": "cosine", "weights": "cosine"}, {"width": 0.5}):
        W = neighbor_graph(X, 4, **settings)
        np.testing.assert_allclose(laplacian_score(W, X), score_slowly(W.toarray(), X), rtol=1e-9)


def test_selector_scores_are_minus_those_of_its_graph() -> None:
    X = np.random.default_rng(0).standard_normal((50, 6)) * [1, 2, 3, 0.1, 10, 5] + 3.0
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for table, standardize in ((X, False), (Z, True)):
        W = neighbor_graph(table, 3, weights="heat", width=1.5)
        selector = LaplacianScoreSelector(3, n_neighbors=3, width=1.5, standardize=standardize).fit(X)
        np.testing.assert_allclose(selector.scores_, -np.array(score_slowly(W.toarray(), X)), rtol=1e-9)
        np.testing.assert_array_equal(selector.order_, np.argsort(score_slowly(W.toarray(), X)))


@pytest.mark.parametrize("stem", cases("lap_score"))
def test_scores_equal_the_reference(stem: str) -> None:
    stored = load(stem)
    given = stored["params"]["graph"]
    selector = LaplacianScoreSelector(
        n_neighbors=given["k"],
        weights={"heat_kernel": "heat"}.get(given["weight_mode"], given["weight_mode"]),
        metric=given["metric"],
        width=given.get("t"),
        standardize=False,
    ).fit(stored["X"])
    np.testing.assert_allclose(-selector.scores_, stored["scores"], rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(FOLDER is None, reason="no reference numbers: set EASYFS_DATA")
@pytest.mark.parametrize("graph", ["cosine_binary_default", "cosine_cosine", "euclid_binary", "euclid_heat_t1"])
def test_scores_from_the_reference_graph_where_neighbors_are_tied(graph: str) -> None:
    stored = load(f"lap_score_{graph}__iris")
    np.testing.assert_allclose(laplacian_score(stored["W"], stored["X"]), stored["scores"], rtol=1e-9, atol=1e-12)


def test_on_the_graph_of_classes_it_is_the_fisher_score() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 80)
    X = rng.standard_normal((80, 4)) + np.outer(y, [0.0, 0.5, 1.0, 3.0])
    between = sum((y == c).sum() * (X[y == c].mean(axis=0) - X.mean(axis=0)) ** 2 for c in range(3))
    within = sum(np.square(X[y == c] - X[y == c].mean(axis=0)).sum(axis=0) for c in range(3))
    np.testing.assert_allclose(1 / laplacian_score(ClassGraph(y), X) - 1, between / within, rtol=1e-10)


@pytest.mark.parametrize("weights", ["binary", "heat", "cosine"])
@pytest.mark.parametrize("seed", range(3))
def test_columns_that_tell_clusters_apart_come_first(weights: str, seed: int) -> None:
    selector = LaplacianScoreSelector(2, weights=weights).fit(clustered(seed=seed))
    assert set(selector.order_[:2]) == {2, 7}
    assert (selector.scores_ <= 0).all()


def test_units_do_not_matter_unless_columns_are_taken_as_they_are() -> None:
    X = clustered()
    other = X * 10.0 ** np.arange(-5, 5) + 7.0
    one, two = (LaplacianScoreSelector().fit(table) for table in (X, other))
    np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-6)
    one, two = (LaplacianScoreSelector(standardize=False).fit(table) for table in (X, other))
    assert np.abs(one.scores_ - two.scores_).max() > 0.1


def test_a_target_is_not_looked_at() -> None:
    X = clustered()
    plain = LaplacianScoreSelector().fit(X)
    for y in (np.zeros(len(X)), np.arange(len(X)), np.array(["a"] * len(X)), X):
        np.testing.assert_array_equal(LaplacianScoreSelector().fit(X, y).scores_, plain.scores_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0: give a whole number of at least 1"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ({"weights": "gauss"}, "weights='gauss' is not known"),
        ({"metric": "l1"}, "metric='l1' is not known"),
        ({"width": 0.0}, "width=0.0: give a number above 0"),
        ({"n_features_to_select": "auto"}, "does not say how many"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LaplacianScoreSelector(**parameters).fit(clustered())


def test_hostile_tables() -> None:
    X = np.random.default_rng(0).standard_normal((40, 6))
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < 0.4] = np.nan
    outlier = X.copy()
    outlier[3] = 1e12
    tables = (X[:2], X[:, :1], X * 1e150, X * 1e-150, X + 1e9, (X * 1e30).astype(np.float32), gaps, outlier)
    tables += (np.repeat(X[:4], 10, axis=0), (X > 0) * 1.0, np.where(X > 1, X, 0.0))
    for table in tables:
        for settings in ({}, {"standardize": False}, {"metric": "cosine", "weights": "cosine"}):
            assert np.isfinite(LaplacianScoreSelector(1, **settings).fit(table).scores_).all()
    usual = LaplacianScoreSelector(1).fit(X)
    for same in (X * 1e150, X * 1e-150, X + 1e9, (X * 1e30).astype(np.float32)):
        found = LaplacianScoreSelector(1).fit(same)
        np.testing.assert_allclose(found.scores_, usual.scores_, rtol=1e-5, atol=1e-8)
        np.testing.assert_array_equal(found.order_, usual.order_)
