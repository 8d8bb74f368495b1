"""Stage 2: how much of the target one feature explains."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfs.stages import relevance
from easyfs.stages.relevance import explained_share, null_relevance, orthonormal_basis


def conditional_variance(M, Y):
    """Of a table and its targets, by the sums that the library has of them."""
    M, Y = M - M.mean(axis=0), (Y - Y.mean(axis=0)).reshape(len(Y), -1)
    return relevance.conditional_variance(M.T @ Y, Y.T @ Y, np.square(M).sum(axis=0))


def within_class_std(M, labels):
    """Of a table and its classes, a row each."""
    parts = [M[labels == label] for label in np.unique(labels)]
    squares = [np.square(part - part.mean(axis=0)).sum(axis=0) for part in parts]
    return np.stack(
        [relevance.within_class_std(s, len(part), M.std(axis=0)) for s, part in zip(squares, parts, strict=True)]
    )


def residual_variance(feature, y):
    design = np.column_stack([np.ones(len(y)), feature])
    return (y - design @ np.linalg.lstsq(design, y, rcond=None)[0]).var()


@settings(max_examples=30)
@given(n=st.integers(4, 40), p=st.integers(1, 6), size=st.sampled_from([1e-3, 1.0, 1e4]), seed=st.integers(0, 2**32 - 1))
def test_conditional_variance_is_the_residual_variance_of_a_linear_fit(n, p, size, seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, p)) * rng.uniform(0.1, 10.0, p) + rng.uniform(-5.0, 5.0, p)
    y = size * (M[:, 0] + rng.standard_normal(n)) + 3.0
    expected = [residual_variance(M[:, i], y) for i in range(p)]
    np.testing.assert_allclose(y.var() * conditional_variance(M, y), expected, rtol=1e-8, atol=1e-10 * y.var())


def test_a_constant_feature_leaves_the_whole_variance_of_the_target():
    y = np.random.default_rng(0).standard_normal(30)
    M = np.column_stack([np.full(30, 7.0), 2.0 - 3.0 * y])
    np.testing.assert_allclose(conditional_variance(M, y), [1.0, 0.0], atol=1e-12)


@settings(max_examples=30)
@given(t=st.integers(2, 5), seed=st.integers(0, 2**32 - 1))
def test_several_targets_may_be_mixed_by_any_invertible_matrix(t, seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((60, 5))
    Y = M[:, :1] + rng.standard_normal((60, t))
    left, _ = np.linalg.qr(rng.standard_normal((t, t)))
    right, _ = np.linalg.qr(rng.standard_normal((t, t)))
    mixing = left @ np.diag(10.0 ** rng.uniform(-1.0, 2.0, t)) @ right
    np.testing.assert_allclose(conditional_variance(M, Y @ mixing + 5.0), conditional_variance(M, Y), rtol=1e-7)


def test_several_targets_sum_over_an_orthonormal_basis():
    rng = np.random.default_rng(1)
    M, Y = rng.standard_normal((80, 6)), rng.standard_normal((80, 3))
    basis, _ = np.linalg.qr(Y - Y.mean(axis=0))
    expected = [80 * sum(residual_variance(M[:, i], basis[:, q]) for q in range(3)) for i in range(6)]
    np.testing.assert_allclose(conditional_variance(M, Y), expected, rtol=1e-10)


def test_a_target_given_twice_counts_once():
    rng = np.random.default_rng(2)
    M, Y = rng.standard_normal((50, 4)), rng.standard_normal((50, 2))
    np.testing.assert_allclose(conditional_variance(M, Y[:, [0, 1, 0]]), conditional_variance(M, Y), rtol=1e-8)


def test_within_class_std_is_the_root_mean_squared_distance_from_the_class_mean():
    rng = np.random.default_rng(3)
    M = rng.standard_normal((40, 5)) * 3.0 + 100.0
    labels = rng.permutation(np.repeat(["b", "a", "c"], [20, 15, 5]))
    found = within_class_std(M, labels)
    assert found.shape == (3, 5)
    for k, label in enumerate(["a", "b", "c"]):
        rows = M[labels == label]
        np.testing.assert_allclose(found[k], rows.std(axis=0) / M.std(axis=0), rtol=1e-12)


def test_a_class_of_one_row_has_no_spread():
    M = np.random.default_rng(4).standard_normal((5, 3))
    found = within_class_std(M, np.array([0, 0, 1, 0, 0]))
    np.testing.assert_array_equal(found[1], 0.0)
    assert (found[0] > 0).all()


@settings(max_examples=30)
@given(n=st.integers(8, 40), t=st.integers(1, 5), n_repeated=st.integers(0, 3), seed=st.integers(0, 2**32 - 1))
def test_orthonormal_basis_makes_the_targets_orthonormal_and_drops_repeated_ones(n, t, n_repeated, seed):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((n, t)) * rng.uniform(0.5, 5.0, t)
    Y = np.column_stack([Y, *[Y[:, rng.integers(t)] * rng.uniform(0.5, 2.0) for _ in range(n_repeated)]])
    Y -= Y.mean(axis=0)
    T = orthonormal_basis(Y.T @ Y)
    assert T.shape == (t + n_repeated, t)
    made = Y @ T
    np.testing.assert_allclose(made.T @ made, np.eye(t), atol=1e-7)
    # The basis spans the targets: nothing of them is left outside it.
    np.testing.assert_allclose(made @ (made.T @ Y), Y, atol=1e-6 * np.abs(Y).max())


def test_orthonormal_basis_puts_the_strongest_direction_first():
    T = orthonormal_basis(np.diag([1.0, 9.0, 4.0]))
    np.testing.assert_allclose(T, [[0.0, 0.0, 1.0], [1 / 3, 0.0, 0.0], [0.0, 0.5, 0.0]], atol=1e-12)


def test_orthonormal_basis_drops_directions_a_millionth_as_strong():
    assert orthonormal_basis(np.diag([1.0, 0.5e-12])).shape == (2, 1)
    assert orthonormal_basis(np.diag([1.0, 2e-12])).shape == (2, 2)


@pytest.mark.parametrize("t", [0, 3])
def test_orthonormal_basis_of_targets_without_variance_is_empty(t):
    assert orthonormal_basis(np.zeros((t, t))).shape == (t, 0)


def test_explained_share_is_the_r_squared_summed_over_the_targets():
    rng = np.random.default_rng(5)
    M, Y = rng.standard_normal((70, 4)), rng.standard_normal((70, 2))
    M[:, 0] = Y[:, 0] - 2.0 * Y[:, 1]
    M -= M.mean(axis=0)
    basis, _ = np.linalg.qr(Y - Y.mean(axis=0))
    found = explained_share(M.T @ basis, (M**2).sum(axis=0))
    expected = [sum(np.corrcoef(M[:, i], basis[:, q])[0, 1] ** 2 for q in range(2)) for i in range(4)]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    assert found[0] == pytest.approx(1.0)


def test_a_feature_without_energy_explains_nothing():
    np.testing.assert_array_equal(explained_share(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0.0, 25.0])), [0.0, 1.0])


def orthonormal_target(n, rank, rng):
    Y = rng.standard_normal((n, rank))
    return np.linalg.qr(Y - Y.mean(axis=0))[0]


@pytest.mark.parametrize(("n", "rank", "n_drawn"), [(30, 1, 50), (30, 3, 50), (100, 2, 10), (200, 1, 1)])
def test_the_best_of_many_null_nodes_passes_the_null_relevance_in_one_case_of_twenty(n, rank, n_drawn):
    rng = np.random.default_rng(1)
    Y = orthonormal_target(n, rank, rng)
    bar, passed, repeats = null_relevance(n, rank, n_drawn), 0, 4000
    for _ in range(repeats // 100):
        nodes = rng.standard_normal((100 * n_drawn, n))
        nodes -= nodes.mean(axis=1, keepdims=True)
        relevance = ((nodes @ Y) ** 2).sum(axis=1) / (nodes**2).sum(axis=1)
        passed += int((relevance.reshape(100, n_drawn).max(axis=1) > bar).sum())
    assert passed / repeats == pytest.approx(0.05, abs=0.015)


def test_null_relevance_grows_with_the_nodes_drawn_and_falls_with_the_rows():
    assert null_relevance(100, 1, 10) < null_relevance(100, 1, 1000)
    assert null_relevance(1000, 1, 10) < null_relevance(100, 1, 10)
    assert 0.0 < null_relevance(3, 2, 5) <= 1.0
