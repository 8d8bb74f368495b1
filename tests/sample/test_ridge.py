"""The sample of rows, and linear fits on it, against explicit ones."""

import numpy as np
import pytest
from scipy import sparse

from easyfs.sample.ridge import PENALTIES, PENALTY_TIE, LinearFit
from easyfs.sample.rows import take_sample
from easyfs.sums.measuring import measure_scaling
from easyfs.sums.sparse import ScaledSparse

WEIGHTS = [False, True]


def columns(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def centred_and_weighed(X, weight):
    """Columns about their weighted mean, each row times the root of its weight; weights have mean 1."""
    w = np.ones(len(X)) if weight is None else weight / weight.mean()
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


def assert_same_sample(one, other):
    dense = [rows.inputs if isinstance(rows.inputs, np.ndarray) else rows.inputs.dense() for rows in (one, other)]
    np.testing.assert_array_equal(*dense)
    for name in ("root_weight", "own_weight", "target", "basis", "repeats"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_the_sample_of_integer_weights_is_that_of_repeated_rows():
    rng = np.random.default_rng(2)
    X, y, weight = columns(900, 3), rng.standard_normal((900, 1)), rng.integers(1, 4, 900)
    weighed = take_sample(X, y, 0, weight.astype(float))
    repeated = take_sample(np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0), 0)
    assert_same_sample(weighed, repeated)
    np.testing.assert_array_equal(weighed.inputs, X)
    np.testing.assert_array_equal(weighed.own_weight, weight)
    np.testing.assert_allclose(weighed.root_weight**2, weight / weight.mean())
    assert weighed.repeats == pytest.approx(weight.mean())


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("values", ["normal", "markers"])
@pytest.mark.parametrize("n", [100, 1500])
def test_integer_weights_and_repeated_rows_give_one_sample_of_any_table(n, values, kind):
    rng = np.random.default_rng(n)
    X = rng.integers(0, 3, (n, 700)) * 1.0 if values == "markers" else rng.standard_normal((n, 700))
    y, weight = rng.standard_normal((n, 2)), rng.integers(1, 5, n)
    scaling = measure_scaling(X)
    rows = np.repeat(np.arange(n), weight)
    if kind == "dense":
        scaled, _ = scaling.apply(X)
        once, often = scaled, scaled[rows]
    else:
        once, often = (ScaledSparse(sparse.csr_array(part), scaling) for part in (X, X[rows]))
    weighed, repeated = take_sample(once, y, 5, weight.astype(float)), take_sample(often, y[rows], 5)
    assert_same_sample(weighed, repeated)
    if values == "normal":
        assert len(weighed.target) == len(np.unique(weighed.target, axis=0))


def test_rows_that_are_equal_by_chance_are_not_repeated_ones():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (200, 3)) * 1.0, rng.integers(0, 2, (200, 1)) * 1.0
    rows = take_sample(X, y, 0)
    assert rows.n == 200
    assert rows.own_weight is None
    assert not rows.weighted


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_that_differ_are_not_taken_for_repeated_ones(dtype):
    rng = np.random.default_rng(4)
    for seed in range(10):
        rows = take_sample(rng.standard_normal((2048, 4)).astype(dtype), rng.standard_normal((2048, 1)), seed)
        assert rows.n == 2048
        assert not rows.weighted


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_drawn_with_replacement_count_once_each(dtype):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((300, 40)).astype(dtype), rng.standard_normal((300, 1))
    drawn = rng.integers(0, 300, 300)
    rows = take_sample(X[drawn], y[drawn], 0)
    first = np.sort(np.unique(drawn, return_index=True)[1])
    np.testing.assert_array_equal(rows.inputs, X[drawn][first])
    np.testing.assert_array_equal(rows.own_weight, np.bincount(drawn)[drawn[first]])
    assert rows.repeats == pytest.approx(300 / len(first))


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
    coefficients = LinearFit(rows, live).fit(float(live.sum()))
    A = A[:, live]
    fit = np.linalg.solve(A.T @ A + live.sum() * np.eye(live.sum()), A.T @ rows.target)
    np.testing.assert_array_equal(coefficients[~live], 0.0)
    np.testing.assert_allclose(coefficients[live], fit, atol=1e-5)


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

    # A row that is repeated is one row with a larger weight, which tells no more of the noise of others.
    A, B = centred_and_weighed(scaled, weight), rows.target
    root = rows.root_weight[:, None]
    size = np.square(A).sum() / n
    errors = []
    for share in PENALTIES:
        hat = A @ np.linalg.solve(A.T @ A + size * share * np.eye(d), A.T) + root @ root.T / n
        errors.append(np.square(B - hat @ B).sum() / (1.0 - np.trace(hat) / n) ** 2)
    best = np.flatnonzero(np.array(errors) <= (1.0 + PENALTY_TIE) * min(errors))[-1]
    assert penalty == pytest.approx(size * PENALTIES[best], rel=1e-4)
    alone = np.square(B).sum() / (1.0 - 1.0 / n) ** 2
    assert told == pytest.approx(1.0 - errors[best] / alone, abs=1e-4)


def test_noise_has_nothing_to_predict():
    rng = np.random.default_rng(0)
    live = np.ones(300, dtype=bool)
    samples = [take_sample(rng.standard_normal((100, 300)), rng.standard_normal((100, 1)), 0) for _ in range(10)]
    told = [LinearFit(rows, live).best_penalty()[1] for rows in samples]
    assert np.median(told) < 0.02
