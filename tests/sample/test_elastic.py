"""Functions of columns: orthonormal, of any shape, and none where there is nothing to bend."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from easyfs.sample.elastic import FEWEST_FUNCTIONS, MOST_FUNCTIONS, NUMBERS, OWN_PART, elastic_columns
from easyfs.sample.rows import take_sample
from easyfs.sums.measuring import measure_scaling
from easyfs.sums.sparse import ScaledSparse


def sample_of(X, weight=None, *, thin=False, dtype=np.float64, clip=np.inf):
    X = X.astype(dtype)
    scaling = replace(measure_scaling(X, weight), clip=clip)
    y = np.random.default_rng(0).standard_normal((len(X), 1))
    inputs = ScaledSparse(sparse.csr_array(X), scaling) if thin else scaling.apply(X)[0]
    return take_sample(inputs, y, 0, weight)


def functions_of(X, units=None, order=None, **options):
    """Functions of the columns of a table, as (K, n, u)."""
    sample = sample_of(X, **options)
    units = list(np.arange(X.shape[1])[:, None]) if units is None else units
    elastic = elastic_columns(sample, units, np.arange(len(X)) if order is None else order)
    return elastic.functions.transpose(0, 2, 1).astype(np.float64), elastic.counts


def assert_orthonormal(functions, counts, atol):
    for i, count in enumerate(counts):
        own = functions[:count, :, i]
        np.testing.assert_allclose(own.mean(axis=1), 0.0, atol=atol)
        np.testing.assert_allclose(own @ own.T / own.shape[1], np.eye(count), atol=atol)
        np.testing.assert_array_equal(functions[count:, :, i], 0.0)


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [101, 1000])
def test_functions_of_different_values_are_orthonormal(n, dtype, thin):
    rng = np.random.default_rng(n)
    X = np.column_stack([rng.standard_normal(n), rng.standard_cauchy(n), np.exp(3.0 * rng.standard_normal(n))])
    functions, counts = functions_of(X, thin=thin, dtype=dtype)
    np.testing.assert_array_equal(counts, MOST_FUNCTIONS)
    assert_orthonormal(functions, counts, 2.5 / n)


def test_the_functions_are_cosines_of_the_ranks():
    X = np.random.default_rng(0).standard_normal((500, 1))
    functions, _ = functions_of(X)
    u = (np.argsort(np.argsort(X[:, 0])) + 0.5) / 500
    for k in range(MOST_FUNCTIONS):
        np.testing.assert_allclose(functions[k, :, 0], np.sqrt(2.0) * np.cos(np.pi * (k + 1) * u), atol=1e-5)


def test_only_the_order_of_the_values_matters_and_not_their_size():
    X = np.random.default_rng(1).standard_normal((300, 2))
    bent = np.column_stack([np.exp(X[:, 0]), X[:, 1] ** 3])
    np.testing.assert_array_equal(functions_of(X)[0], functions_of(bent)[0])
    falling = functions_of(-X)[0]
    signs = np.where(np.arange(MOST_FUNCTIONS) % 2, 1.0, -1.0)[:, None, None]
    np.testing.assert_allclose(falling, signs * functions_of(X)[0], atol=1e-5)


@settings(max_examples=50)
@given(levels=st.integers(2, 40), n=st.integers(100, 400), seed=st.integers(0, 10_000))
def test_functions_of_equal_values_are_orthonormal_and_equal(levels, n, seed):
    rng = np.random.default_rng(seed)
    x = rng.choice(rng.standard_normal(levels), n, p=rng.dirichlet(np.ones(levels)))
    x[: n // 2] = x[-1]
    x[0] += 1.0
    functions, counts = functions_of(x[:, None])
    values, times = np.unique(x, return_counts=True)
    seen = n - times.max() >= 4 * OWN_PART * n  # of fewer odd values no function has a part of its own
    assert seen <= counts[0] <= min(MOST_FUNCTIONS, len(values) - 1)
    assert_orthonormal(functions, counts, 1e-4)
    for value in values:
        assert (np.ptp(functions[:, x == value, 0], axis=1) < 1e-6).all()


@pytest.mark.parametrize("share", [0.005, 0.05, 0.5])
@pytest.mark.parametrize("thin", [False, True])
def test_a_column_of_two_values_has_one_function_which_is_itself(share, thin):
    x = (np.random.default_rng(2).random(2000) < share).astype(float)
    functions, counts = functions_of(np.column_stack([x, 1.0 - x]), thin=thin)
    np.testing.assert_array_equal(counts, 1)
    z = (x - x.mean()) / x.std()
    np.testing.assert_allclose(np.abs(z @ functions[0]) / 2000, 1.0, atol=1e-4)


@pytest.mark.parametrize("levels", [3, 4, 6])
def test_a_column_of_a_few_values_has_a_function_less_than_values(levels):
    x = np.random.default_rng(3).integers(0, levels, 1200)
    functions, counts = functions_of(x[:, None].astype(float))
    assert counts[0] == levels - 1
    indicators = np.eye(levels)[x] - np.eye(levels)[x].mean(axis=0)
    left = indicators - functions[: counts[0], :, 0].T @ (functions[: counts[0], :, 0] @ indicators) / 1200
    assert np.abs(left).max() < 1e-3  # together they bend to any curve


def test_a_constant_column_has_no_function():
    X = np.random.default_rng(4).standard_normal((200, 3))
    X[:, 1] = 7.0
    functions, counts = functions_of(X)
    assert counts.tolist() == [MOST_FUNCTIONS, 0, MOST_FUNCTIONS]
    np.testing.assert_array_equal(functions[:, :, 1], 0.0)


@pytest.mark.parametrize("levels", [2, 3, 5, 12])
def test_functions_of_a_category_are_its_indicators_made_orthonormal(levels):
    rng = np.random.default_rng(5)
    kind = rng.integers(0, levels, 900)
    X = np.column_stack([rng.standard_normal(900), np.eye(levels)[kind]])
    functions, counts = functions_of(X, [np.array([0]), np.arange(1, levels + 1)])
    expected = min(levels - 1, MOST_FUNCTIONS)
    assert counts[1] == expected
    assert_orthonormal(functions[:, :, 1:], counts[1:], 1e-4)
    indicators = np.eye(levels)[kind] - np.eye(levels)[kind].mean(axis=0)
    own = functions[:expected, :, 1]
    told = np.square(own @ indicators).sum() / 900 / np.square(indicators).sum()
    assert told == pytest.approx(1.0, abs=1e-4) if levels <= MOST_FUNCTIONS else told > 0.5
    for level in range(levels):
        assert (np.ptp(own[:, kind == level], axis=1) < 1e-5).all()


@pytest.mark.parametrize("clip", [4.0, np.inf])
def test_the_most_frequent_levels_of_a_large_category_are_those_that_are_kept(clip):
    rng = np.random.default_rng(6)
    kind = rng.choice(30, 2000, p=np.r_[np.full(6, 0.15), np.full(24, 0.1 / 24)])
    functions, counts = functions_of(np.eye(30)[kind], [np.arange(30)], clip=clip)
    assert counts[0] == MOST_FUNCTIONS
    own = functions[:, :, 0]
    for level in range(6):
        z = (kind == level) - (kind == level).mean()
        assert np.square(own @ z).sum() / 2000 / (z @ z) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("thin", [False, True])
def test_rows_come_in_the_order_asked_for_and_weights_do_not_bend(thin):
    rng = np.random.default_rng(7)
    X, weight = rng.standard_normal((300, 3)), rng.exponential(size=300) + 0.01
    X[rng.random(X.shape) < 0.2] = 0.0
    order = rng.permutation(300)
    X[:, 2] = rng.integers(0, 3, 300)
    plain = functions_of(X, thin=thin)[0]
    np.testing.assert_allclose(functions_of(X, order=order, thin=thin)[0], plain[:, order], atol=1e-5)
    np.testing.assert_allclose(functions_of(X, order=order, thin=thin, weight=weight)[0], plain[:, order], atol=1e-5)
    some = [np.array([2]), np.array([0])]
    np.testing.assert_allclose(functions_of(X, some, thin=thin, weight=weight)[0], plain[:, :, [2, 0]], atol=1e-5)


def test_a_part_of_the_rows_is_ranked_by_itself():
    X = np.random.default_rng(8).standard_normal((400, 2))
    part = np.arange(0, 400, 4)
    np.testing.assert_allclose(functions_of(X, order=part)[0], functions_of(X[part])[0], atol=1e-6)


def test_many_columns_have_fewer_functions_each():
    u = NUMBERS // (FEWEST_FUNCTIONS * 64) + 100
    X = np.random.default_rng(9).standard_normal((64, 40))
    units = list(np.arange(40)[:, None]) * (u // 40)
    elastic = elastic_columns(sample_of(X), units, np.arange(64))
    assert len(elastic.functions) == FEWEST_FUNCTIONS
    assert (elastic.counts == FEWEST_FUNCTIONS).all()
