"""Multi-cluster feature selection."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg

from easyfs import MCFSSelector
from easyfs.baselines.graphs import neighbor_graph
from easyfs.baselines.mcfs import lars_coefficients, mcfs_order, spectral_embedding

from .parity import cases, load

Array = NDArray[Any]


def lars_slowly(X: Array, y: Array, steps: int) -> Array:
    """Least angle regression: move along the direction that has the same angle with all columns that are in."""
    X, y = X - X.mean(axis=0), y - y.mean()
    m = X.shape[1]
    coefficients = np.zeros(m)
    inside = [int(np.argmax(np.abs(X.T @ y)))]
    for step in range(steps):
        correlation = X.T @ (y - X @ coefficients)
        largest = np.abs(correlation[inside[0]])
        direction = np.linalg.lstsq(X[:, inside], y - X @ coefficients, rcond=None)[0]
        along = X.T @ (X[:, inside] @ direction)
        # A share g of the way, correlations inside are (1 - g) * largest; outside they are c - g * a.
        ways = {1.0: -1}
        for j in set(range(m)) - set(inside):
            for sign in (1, -1):
                share = (largest - sign * correlation[j]) / (largest - sign * along[j])
                if 1e-12 < share < 1:
                    ways[share] = j
        share = min(ways)
        if step == steps - 1 and len(inside) < steps:
            share = 1.0
        coefficients[inside] += share * direction
        if ways[share] < 0:
            break
        inside.append(ways[share])
    return coefficients


def clustered(n: int = 150, d: int = 10, columns: tuple[int, int] = (2, 7), seed: int = 0) -> Array:
    """Three clusters that two columns tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    cluster = rng.integers(0, 3, n)
    X[:, columns[0]] += 8.0 * (cluster == 1)
    X[:, columns[1]] += 8.0 * (cluster == 2)
    return X


def standardized(X: Array) -> Array:
    return np.asarray((X - X.mean(axis=0)) / X.std(axis=0))


def test_embedding_solves_the_generalised_eigenproblem() -> None:
    W = neighbor_graph(np.random.default_rng(0).standard_normal((60, 5)), 5)
    D = np.diag(W.toarray().sum(axis=1))
    values, vectors = linalg.eigh(D - W.toarray(), D)
    Y = spectral_embedding(W, 4)
    np.testing.assert_allclose(np.abs(Y), np.abs(vectors[:, 1:5]), atol=1e-9)
    assert values[0] == pytest.approx(0.0, abs=1e-12)
    assert spectral_embedding(W, 100).shape == (60, 59)


@pytest.mark.parametrize("steps", [1, 2, 3, 5])
def test_coefficients_equal_least_angle_regression_step_by_step(steps: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 7)) + 5.0
    Y = X[:, :3] @ rng.standard_normal((3, 4)) * 1e-3 + 1e-3 * rng.standard_normal((80, 4))
    found = lars_coefficients(X, Y, steps)
    assert found.shape == (7, 4)
    for t in range(4):
        np.testing.assert_allclose(found[:, t], lars_slowly(X, Y[:, t], steps), rtol=1e-8, atol=1e-12)


def test_all_steps_give_least_squares_whatever_the_units() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((50, 6)), rng.standard_normal((50, 2))
    exact = np.linalg.lstsq(X - X.mean(axis=0), Y - Y.mean(axis=0), rcond=None)[0]
    for left, right in ((1.0, 1.0), (1e-9, 1.0), (1.0, 1e-9), (1e6, 1e-6)):
        np.testing.assert_allclose(lars_coefficients(X * left, Y * right, 100), exact * right / left, rtol=1e-8)


def test_columns_may_outnumber_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 50))
    Y = X[:, [4]] * 3.0
    found = lars_coefficients(X, Y, 10)
    assert np.abs(found[:, 0]).argmax() == 4
    assert np.count_nonzero(found) <= 10


@pytest.mark.parametrize("stem", cases("mcfs_"))
def test_scores_equal_the_reference(stem: str) -> None:
    """The files called legacy scale columns before the regression and their coefficients back after it."""
    stored = load(stem)
    given = stored["params"]
    if isinstance(given["graph"], str):
        W = neighbor_graph(stored["X"], 5, weights="binary", metric="cosine")
    else:
        W = neighbor_graph(stored["X"], given["graph"]["k"], width=given["graph"]["t"])
    Y = spectral_embedding(W, given["n_clusters"])
    seen = stored["X_seen_by_lars"]
    size = seen.std(axis=0) if "legacy" in stem else np.ones(seen.shape[1])
    coefficients = lars_coefficients(seen / size, Y, given["n_selected_features"]) / size[:, None]
    np.testing.assert_allclose(np.abs(Y[:, ::-1]), np.abs(stored["Y"]), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(np.abs(coefficients[:, ::-1]), np.abs(stored["coef"]), rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(np.abs(coefficients).max(axis=1), stored["score_abs_max"], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("stem", [stem for stem in cases("mcfs_heat") if "legacy" not in str(stem)])
def test_selector_equals_the_reference(stem: str) -> None:
    stored = load(stem)
    given = stored["params"]
    selector = MCFSSelector(
        n_clusters=given["n_clusters"],
        n_neighbors=given["graph"]["k"],
        width=given["graph"]["t"],
        n_nonzero_coefs=given["n_selected_features"],
        standardize=False,
    )
    np.testing.assert_allclose(selector.fit(stored["X"]).scores_, stored["score_abs_max"], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("stem", cases("mcfs_heat_c5_modern"))
def test_the_signed_maximum_of_the_reference_depends_on_signs_and_the_absolute_one_does_not(stem: str) -> None:
    coefficients = load(stem)["coef"]
    np.testing.assert_allclose(coefficients.max(axis=1), load(stem)["score_signed_max"], rtol=1e-9)
    assert (coefficients.max(axis=1) < np.abs(coefficients).max(axis=1)).any()
    flipped = coefficients * [1, -1, 1, -1, 1]
    assert (np.argsort(-coefficients.max(axis=1)) != np.argsort(-flipped.max(axis=1))).any()
    np.testing.assert_array_equal(np.abs(coefficients).max(axis=1), np.abs(flipped).max(axis=1))


def test_signs_of_the_embedding_do_not_matter_to_the_absolute_maximum_and_do_to_the_signed_one() -> None:
    X = standardized(np.random.default_rng(0).standard_normal((80, 8)))
    Y = spectral_embedding(neighbor_graph(X, 5), 3)
    one, other = lars_coefficients(X, Y, 4), lars_coefficients(X, Y * [-1, 1, -1], 4)
    np.testing.assert_allclose(np.abs(one).max(axis=1), np.abs(other).max(axis=1), rtol=1e-9, atol=1e-14)
    assert (np.argsort(-one.max(axis=1)) != np.argsort(-other.max(axis=1))).any()
    selector = MCFSSelector(4, n_clusters=3).fit(X)
    np.testing.assert_allclose(selector.scores_, np.abs(one).max(axis=1), rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("standardize", [True, False])
def test_selector_equals_its_parts(standardize: bool) -> None:
    X = np.random.default_rng(0).standard_normal((80, 8)) * np.arange(1, 9) + 4.0
    T = standardized(X) if standardize else X
    Y = spectral_embedding(neighbor_graph(T, 4, weights="binary", metric="cosine"), 3)
    settings = {"n_clusters": 3, "n_neighbors": 4, "weights": "binary", "metric": "cosine", "standardize": standardize}
    for asked, n_nonzero_coefs, steps in ((3, None, 3), (0.5, None, 4), (3, 6, 6), (8, 2, 2)):
        selector = MCFSSelector(asked, n_nonzero_coefs=n_nonzero_coefs, **settings).fit(X)
        slow = np.stack([lars_slowly(T, y, steps) for y in Y.T], axis=1)
        np.testing.assert_allclose(selector.scores_, np.abs(slow).max(axis=1), rtol=1e-6, atol=1e-10)


def test_columns_that_no_regression_took_up_come_by_correlation() -> None:
    X = np.random.default_rng(0).standard_normal((80, 12))
    selector = MCFSSelector(3, n_clusters=2, n_nonzero_coefs=2).fit(X)
    Y = spectral_embedding(neighbor_graph(standardized(X), 5), 2)
    taken = np.count_nonzero(selector.scores_)
    assert 2 <= taken <= 4
    np.testing.assert_array_equal(np.sort(selector.order_[:taken]), np.flatnonzero(selector.scores_))
    np.testing.assert_array_equal(selector.order_[:taken], np.argsort(-selector.scores_)[:taken])
    correlation = [max(abs(np.corrcoef(x, y)[0, 1]) for y in Y.T) for x in X.T]
    rest = selector.order_[taken:]
    assert (np.diff(np.array(correlation)[rest]) <= 0).all()
    assert (np.diff(rest) < 0).any()


def test_order_keeps_ties_in_the_order_of_the_table() -> None:
    X = np.tile(np.random.default_rng(0).standard_normal((20, 1)), (1, 5))
    np.testing.assert_array_equal(mcfs_order(np.array([0.0, 1.0, 1.0, 0.0, 2.0]), X, X[:, :1]), [4, 1, 2, 0, 3])


@pytest.mark.parametrize("seed", range(4))
def test_columns_that_tell_clusters_apart_come_first(seed: int) -> None:
    assert set(MCFSSelector(2, n_clusters=2).fit(clustered(seed=seed)).order_[:2]) == {2, 7}


def test_graphs_of_several_parts() -> None:
    rng = np.random.default_rng(0)
    part = np.arange(90) % 3
    X = rng.standard_normal((90, 8))
    X[:, 4] += 1e3 * part
    X[:, 1] += 1e3 * (part == 1)
    selector = MCFSSelector(2, n_clusters=2).fit(X)
    assert set(selector.order_[:2]) == {1, 4}
    for count in (1, 5, 50):
        found = MCFSSelector(2, n_clusters=count).fit(X)
        assert np.isfinite(found.scores_).all()
        assert (found.scores_ >= 0).all()
        assert found.scores_.max() > 0


def test_units_do_not_matter_unless_columns_are_taken_as_they_are() -> None:
    X = np.random.default_rng(0).standard_normal((90, 10))
    other = X * 10.0 ** np.arange(-5, 5) + 7.0
    one, two = (MCFSSelector().fit(table) for table in (X, other))
    np.testing.assert_allclose(one.scores_, two.scores_, rtol=1e-5, atol=1e-12)
    one, two = (MCFSSelector(standardize=False).fit(table) for table in (X, other))
    assert (one.order_ != two.order_).any()


def test_copies_of_columns_raise_no_warning() -> None:
    X = np.random.default_rng(0).standard_normal((60, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        selector = MCFSSelector(15).fit(np.hstack([X, X, -2.0 * X]))
    np.testing.assert_array_equal(np.sort(selector.order_), np.arange(15))
    assert np.isfinite(selector.scores_).all()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("n", [60, 1000])
def test_copies_and_sums_of_columns_are_left_out(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, Y = rng.standard_normal((n, 5)), rng.standard_normal((n, 4))
    more = standardized(np.hstack([X, X, -2.0 * X, X[:, :1] + X[:, 1:2], X[:, 2:3] - 3.0 * X[:, 3:4]]))
    alone, found = lars_coefficients(standardized(X), Y, 17), lars_coefficients(more, Y, 17)
    np.testing.assert_array_equal(np.count_nonzero(found, axis=0), 5)
    assert np.count_nonzero(found[:15].reshape(3, 5, 4), axis=0).max() == 1
    assert np.abs(found).max() <= 3.0 * np.abs(alone).max()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0: give a whole number of at least 1"),
        ({"n_neighbors": "5"}, "n_neighbors='5'"),
        ({"weights": None}, "weights=None is not known"),
        ({"metric": "l1"}, "metric='l1' is not known"),
        ({"width": -1.0}, "width=-1.0"),
        ({"n_nonzero_coefs": 0}, "n_nonzero_coefs=0"),
        ({"n_features_to_select": "auto"}, "does not say how many"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MCFSSelector(**parameters).fit(clustered())


def test_hostile_tables() -> None:
    X = np.random.default_rng(0).standard_normal((40, 6))
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < 0.4] = np.nan
    outlier = X.copy()
    outlier[3] = 1e12
    tables = (X[:2], X[:3], X[:, :1], X * 1e150, X * 1e-150, X + 1e9, (X * 1e30).astype(np.float32), gaps, outlier)
    tables += (np.repeat(X[:4], 10, axis=0), (X > 0) * 1.0, np.where(X > 1, X, 0.0), X[:8].repeat(9, axis=1))
    for table in tables:
        for settings in ({}, {"standardize": False}, {"metric": "cosine", "weights": "cosine"}, {"n_clusters": 1000}):
            assert np.isfinite(MCFSSelector(1, **settings).fit(table).scores_).all()
    usual = MCFSSelector(1).fit(X)
    for same in (X * 1e150, X * 1e-150, X + 1e9, (X * 1e30).astype(np.float32)):
        found = MCFSSelector(1).fit(same)
        np.testing.assert_allclose(found.scores_, usual.scores_, rtol=1e-5, atol=1e-8)
        np.testing.assert_array_equal(found.order_, usual.order_)


@pytest.mark.parametrize("distinct", [2, 3, 4])
@pytest.mark.parametrize("repeats", [3, 20, 40])
def test_few_distinct_rows_that_repeat(distinct: int, repeats: int) -> None:
    for seed in range(3):
        X = np.tile(np.random.default_rng(seed).standard_normal((distinct, 6)), (repeats, 1))
        for n_clusters in (1, 2, 5, 1000):
            selector = MCFSSelector(2, n_clusters=n_clusters).fit(X)
            assert np.isfinite(selector.scores_).all()
            assert (selector.scores_ > 0).any()
