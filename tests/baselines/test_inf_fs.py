"""Infinite feature selection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import spearmanr

from easyfs import InfFSSelector
from easyfs.baselines import inf_fs
from easyfs.baselines.inf_fs import absolute_rank_correlation, path_scores

Array = NDArray[Any]


def table(n: int = 60, d: int = 7, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 3.0
    X[:, 0] = np.round(X[:, 0])
    X[:, 1] = np.exp(X[:, 1])
    return X


def graph_slowly(X: Array, alpha: float, rescale: bool) -> Array:
    d = X.shape[1]
    if rescale:
        X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    spread = X.std(axis=0) / X.std(axis=0).max()
    A = np.zeros((d, d))
    for i in range(d):
        for j in range(d):
            same = abs(spearmanr(X[:, i], X[:, j])[0])
            A[i, j] = alpha * max(spread[i], spread[j]) + (1 - alpha) * (1 - same)
    return A


def scores_slowly(A: Array, factor: float) -> Array:
    r = factor / np.abs(np.linalg.eigvalsh(A)).max()
    return np.asarray((np.linalg.inv(np.eye(len(A)) - r * A) - np.eye(len(A))).sum(axis=1))


@pytest.mark.parametrize("rescale", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("factor", [0.1, 0.9, 0.99])
def test_scores_equal_the_explicit_inverse(alpha: float, factor: float, rescale: bool) -> None:
    X = table()
    selector = InfFSSelector(alpha=alpha, factor=factor, rescale=rescale).fit(X)
    expected = scores_slowly(graph_slowly(X, alpha, rescale), factor)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(selector.order_, np.argsort(-expected, kind="stable"))


def test_scores_equal_the_power_series() -> None:
    A = graph_slowly(table(), 0.5, True)
    r = 0.9 / np.linalg.eigvalsh(A).max()
    paths, total = np.ones(len(A)), np.zeros(len(A))
    for _ in range(400):
        paths = r * A @ paths
        total += paths
    np.testing.assert_allclose(path_scores(A, 0.9), total, rtol=1e-10)
    np.testing.assert_allclose(InfFSSelector().fit(table()).scores_, total, rtol=1e-10)


def test_scores_of_many_columns_are_the_same_by_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inf_fs, "DENSE", 100)
    X = np.random.default_rng(0).standard_normal((40, 150))
    A = 1.0 - absolute_rank_correlation(X)
    np.testing.assert_allclose(path_scores(A, 0.9), scores_slowly(A, 0.9), rtol=1e-9)
    # Two groups that are joined with each other only: the eigenvalues come in pairs of both signs.
    A = np.zeros((150, 150))
    A[:60, 60:] = A[60:, :60] = 1.0
    np.testing.assert_allclose(path_scores(A, 0.9), scores_slowly(A, 0.9), rtol=1e-9)
    A = np.ones((150, 150))
    np.testing.assert_allclose(path_scores(A, 0.9), 9.0, rtol=1e-9)


def test_rank_correlations_equal_scipy() -> None:
    X = table(d=8)
    X[:, 3] = np.random.default_rng(0).integers(0, 2, 60)
    np.testing.assert_allclose(absolute_rank_correlation(X), np.abs(spearmanr(X)[0]), rtol=1e-10, atol=1e-12)
    tall = np.random.default_rng(0).integers(0, 50, (500, 300)).astype(np.float32)
    for layout in (tall, np.asfortranarray(tall)):
        np.testing.assert_allclose(absolute_rank_correlation(layout), np.abs(spearmanr(tall)[0]), atol=1e-10)


def test_rank_correlations_with_weights_equal_those_of_repeated_rows() -> None:
    X = np.round(table(), 1)
    weight = np.random.default_rng(0).integers(1, 5, len(X))
    repeated = np.repeat(X, weight, axis=0)
    np.testing.assert_allclose(
        absolute_rank_correlation(X, weight.astype(float)), np.abs(spearmanr(repeated)[0]), rtol=1e-9, atol=1e-12
    )
    weighted = InfFSSelector().fit(X, sample_weight=weight)
    np.testing.assert_allclose(weighted.scores_, InfFSSelector().fit(repeated).scores_, rtol=1e-9)


def test_monotone_changes_of_a_column_leave_the_correlations() -> None:
    X = table()
    changed = np.column_stack([np.exp(X[:, 0] / 10), X[:, 1] ** 3, -X[:, 2], *X[:, 3:].T])
    np.testing.assert_allclose(
        InfFSSelector(alpha=0.0).fit(X).scores_, InfFSSelector(alpha=0.0).fit(changed).scores_, rtol=1e-9
    )


def test_columns_that_vary_much_and_repeat_little_come_first() -> None:
    rng = np.random.default_rng(0)
    shared = rng.standard_normal(300)
    X = shared[:, None] + 0.1 * rng.standard_normal((300, 6))
    X[:, 4] = rng.standard_normal(300)
    assert InfFSSelector(1, alpha=0.0).fit(X).order_[0] == 4
    X = rng.standard_normal((300, 6)) * [1, 1, 1, 8, 1, 1]
    assert InfFSSelector(1, rescale=False).fit(X).order_[0] == 3


def test_units_do_not_matter_unless_columns_are_taken_as_they_are() -> None:
    X = table()
    other = X * 10.0 ** np.arange(-3, 4) + 7.0
    np.testing.assert_allclose(InfFSSelector().fit(X).scores_, InfFSSelector().fit(other).scores_, rtol=1e-8)
    last = InfFSSelector(1, rescale=False, alpha=1.0).fit(other)
    assert last.order_[0] == 6


def test_columns_that_all_repeat_each_other_have_no_paths() -> None:
    x = np.random.default_rng(0).standard_normal((30, 1))
    X = np.hstack([x, -x, np.exp(x)])
    np.testing.assert_allclose(InfFSSelector(1, alpha=0.0).fit(X).scores_, 0.0, atol=1e-12)
    np.testing.assert_allclose(InfFSSelector(1, alpha=0.0).fit(x).scores_, 0.0, atol=1e-12)
    np.testing.assert_allclose(InfFSSelector(1).fit(x).scores_, 9.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -0.1}, "alpha=-0.1: give a number of at least 0 and at most 1"),
        ({"alpha": 1.5}, "alpha=1.5"),
        ({"factor": 0.0}, "factor=0.0: give a number above 0 and at most 0.999"),
        ({"factor": 1.0}, "factor=1.0"),
        ({"factor": "0.9"}, "factor='0.9'"),
        ({"n_features_to_select": "auto"}, "does not say how many"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        InfFSSelector(**parameters).fit(table())


def test_hostile_tables() -> None:
    X = np.random.default_rng(0).standard_normal((40, 6))
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < 0.4] = np.nan
    outlier = X.copy()
    outlier[3] = 1e12
    tables = (X[:2], X[:, :1], X * 1e150, X * 1e-150, X + 1e9, (X * 1e30).astype(np.float32), gaps, outlier)
    tables += (np.repeat(X[:4], 10, axis=0), (X > 0) * 1.0, np.where(X > 1, X, 0.0), X[:8].repeat(9, axis=1))
    for given in tables:
        for settings in ({}, {"rescale": False}, {"alpha": 0.0}, {"alpha": 1.0, "factor": 0.999}):
            assert np.isfinite(InfFSSelector(1, **settings).fit(given).scores_).all()
    usual = InfFSSelector(1).fit(X)
    for same in (X * 1e150, X * 1e-150, X + 1e9, (X * 1e30).astype(np.float32)):
        found = InfFSSelector(1).fit(same)
        np.testing.assert_allclose(found.scores_, usual.scores_, rtol=1e-5, atol=1e-8)
        np.testing.assert_array_equal(found.order_, usual.order_)
