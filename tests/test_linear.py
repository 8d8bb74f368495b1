"""The sample of rows, and linear fits on it, against explicit ones."""

import numpy as np
import pytest
from scipy import sparse

from easyfs.linear import PENALTIES, PENALTY_TIE, LinearFit, take_sample
from easyfs.rows import ScaledSparse, measure_scaling

WEIGHTS = [False, True]


def columns(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def centred_and_weighed(X, weight):
    """Columns about their weighted mean, each row times the root of its weight."""
    w = np.ones(len(X)) if weight is None else weight
    return (X - w @ X / w.sum()) * np.sqrt(w)[:, None]


@pytest.mark.parametrize("weighted", WEIGHTS)
def test_the_targets_of_the_sample_are_centred_and_orthonormal(weighted):
    rng = np.random.default_rng(1)
    X, Y = columns(90, 4), rng.standard_normal((90, 3)) * [1.0, 5.0, 0.1] + 7.0
    weight = rng.uniform(0.1, 3.0, 90) if weighted else None
    rows = take_sample(X, Y, 0, weight)
    np.testing.assert_allclose(rows.target.T @ rows.target, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(rows.root_weight @ rows.target, 0.0, atol=1e-9)
    np.testing.assert_allclose(rows.target, centred_and_weighed(Y, weight) @ rows.basis, atol=1e-9)


def test_the_sample_of_integer_weights_is_that_of_repeated_rows():
    rng = np.random.default_rng(2)
    X, y, weight = columns(900, 3), rng.standard_normal((900, 1)), rng.integers(1, 4, 900)
    weighed = take_sample(X, y, 0, weight.astype(float))
    repeated = take_sample(np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0), 0)
    assert len(weighed.target) == 1024
    np.testing.assert_array_equal(weighed.inputs, repeated.inputs)
    np.testing.assert_allclose(weighed.target, repeated.target, atol=1e-12)


def linear_case(n, d, kind, weighted, signal):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((n, d)) < 0.3, 0.0, rng.standard_normal((n, d)))
    scaling = measure_scaling(X)
    scaled, _ = scaling.apply(X)
    live = np.arange(d) % 4 != 1
    Y = signal * scaled[:, [0, 2]] + 0.5 * rng.standard_normal((n, 2))
    weight = rng.uniform(0.5, 2.0, n) if weighted else None
    rows = take_sample(scaled if kind == "dense" else ScaledSparse(sparse.csr_array(X), scaling), Y, 0, weight)
    return rows, live, centred_and_weighed(scaled, weight)


@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("n", "d"), [(120, 8), (30, 70), (40, 600)])
def test_a_fit_is_an_explicit_ridge_fit(n, d, kind, weighted):
    rows, live, A = linear_case(n, d, kind, weighted, 2.0)
    coefficients, left = LinearFit(rows, live).fit(float(live.sum()))
    A = A[:, live]
    fit = np.linalg.solve(A.T @ A + live.sum() * np.eye(live.sum()), A.T @ rows.target)
    np.testing.assert_array_equal(coefficients[~live], 0.0)
    np.testing.assert_allclose(coefficients[live], fit, atol=1e-5)
    np.testing.assert_allclose(left, rows.target - A @ fit, atol=1e-5)


@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize(("n", "d"), [(120, 8), (150, 70), (200, 600)])
def test_columns_that_stand_out_are_found_and_leave_nothing(n, d, kind, weighted):
    rows, live, A = linear_case(n, d, kind, weighted, 2.0)
    left, strong = LinearFit(rows, live).without_strong_columns()
    assert {0, 2} <= set(strong)
    assert np.abs(A[:, [0, 2]].T @ left).max() < 1e-4 * np.linalg.norm(A[:, 0])


def test_without_live_columns_the_target_is_left_as_it_is():
    y = np.random.default_rng(4).standard_normal((40, 1))
    rows = take_sample(columns(40, 3), y, 0)
    left, strong = LinearFit(rows, np.zeros(3, dtype=bool)).without_strong_columns()
    np.testing.assert_allclose(left, rows.target, atol=1e-12)
    assert strong == []


@pytest.mark.parametrize(("n", "d", "weighted"), [(60, 20, False), (60, 200, False), (190, 8, False), (60, 20, True)])
def test_the_best_penalty_has_the_least_generalised_cross_validation_error(n, d, weighted):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, d))
    Y = X[:, :2] + 1.5 * rng.standard_normal((n, 2))
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    scaled, _ = measure_scaling(X, weight).apply(X)
    rows = take_sample(scaled, Y, 0, weight)
    penalty, told = LinearFit(rows, np.ones(d, dtype=bool)).best_penalty()

    repeated = np.repeat(np.arange(n), 1 if weight is None else weight.astype(int))
    A, B = scaled[repeated], rows.target[repeated] / rows.root_weight[repeated, None]
    size = np.square(A).sum() / len(A)
    errors = []
    for share in PENALTIES:
        hat = A @ np.linalg.solve(A.T @ A + size * share * np.eye(d), A.T) + 1.0 / len(A)
        errors.append(np.square(B - hat @ B).sum() / (1.0 - np.trace(hat) / len(A)) ** 2)
    best = np.flatnonzero(np.array(errors) <= (1.0 + PENALTY_TIE) * min(errors))[-1]
    assert penalty == pytest.approx(size * PENALTIES[best], rel=1e-4)
    alone = np.square(B).sum() / (1.0 - 1.0 / len(A)) ** 2
    assert told == pytest.approx(1.0 - errors[best] / alone, abs=1e-4)


def test_noise_has_nothing_to_predict():
    rng = np.random.default_rng(0)
    live = np.ones(300, dtype=bool)
    samples = [take_sample(rng.standard_normal((100, 300)), rng.standard_normal((100, 1)), 0) for _ in range(10)]
    told = [LinearFit(rows, live).best_penalty()[1] for rows in samples]
    assert np.median(told) < 0.02
