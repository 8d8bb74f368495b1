"""Stage 3: the coding rate, what each feature adds to it, and what the selected columns say of the others."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from easyfs.stages.redundancy import (
    coded_shares,
    explained_by_selected,
    inverse_diagonal_dual,
    inverse_diagonal_primal,
    leave_one_out_gain,
    leave_one_out_gain_of_rows,
)

FORMS = ("primal", "dual")


def rate_by_determinant(gram, n, eps2):
    """``R(M)`` from ``M'M``, by the definition (Eq. redu_1)."""
    p = len(gram)
    if p == 0:
        return 0.0
    sign, log_det = np.linalg.slogdet(np.eye(p) + p / (n * eps2) * gram)
    assert sign == 1.0
    return 0.5 * log_det


def gain_by_removal(M, eps2):
    """Each feature is taken out in turn; what is left has its own ``p - 1``."""
    (n, p), gram = M.shape, M.T @ M
    left = (np.delete(np.arange(p), i) for i in range(p))
    with threadpool_limits(1):  # many small determinants
        reduced = [rate_by_determinant(gram[np.ix_(rest, rest)], n, eps2) for rest in left]
    return rate_by_determinant(gram, n, eps2) - reduced


def standardised(M):
    return (M - M.mean(axis=0)) / M.std(axis=0)


def correlated(n, p, seed):
    """Columns that share a few factors, an exact copy, a near-copy and a negated copy."""
    rng = np.random.default_rng(seed)
    rank = max(1, min(n, p) // 4)
    M = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p)) + 0.3 * rng.standard_normal((n, p))
    if p >= 6:
        M[:, 1] = M[:, 0]
        M[:, 3] = M[:, 2] + 1e-3 * rng.standard_normal(n)
        M[:, 5] = -M[:, 4]
    return standardised(M)


def gain(M, eps2=0.5, form="primal"):
    """What runs, with the part that is the same for all features put back."""
    n, p = M.shape
    if form == "primal":
        found = leave_one_out_gain(M.T @ M, n, eps2)
    else:
        found = leave_one_out_gain_of_rows(lambda part: M[:, part], M.shape, n, eps2)
    reduced = np.eye(p) + (p - 1) / (n * eps2) * M.T @ M
    return found + rate_by_determinant(M.T @ M, n, eps2) - 0.5 * np.linalg.slogdet(reduced)[1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [100, 700])
def test_the_gain_is_finite_where_the_determinant_overflows(n, form):
    M = np.random.default_rng(0).standard_normal((n, 600))
    assert 2.0 * rate_by_determinant(M.T @ M, n, 0.1) > np.log(np.finfo(np.float64).max)
    found = gain(M, 0.1, form)
    assert np.isfinite(found).all()
    assert found[7] == pytest.approx(
        rate_by_determinant(M.T @ M, n, 0.1) - rate_by_determinant(np.delete(M, 7, 1).T @ np.delete(M, 7, 1), n, 0.1),
        rel=1e-7,
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("eps2", [0.1, 0.5, 2.0])
@pytest.mark.parametrize(("n", "p"), [(60, 12), (12, 60), (20, 20), (3, 40), (40, 2), (10, 1)])
def test_leave_one_out_gain_equals_removing_each_feature(n, p, eps2, form):
    for M in (correlated(n, p, seed=n + p), np.random.default_rng(p).standard_normal((n, p))):
        np.testing.assert_allclose(gain(M, eps2, form), gain_by_removal(M, eps2), rtol=1e-9)


@pytest.mark.parametrize("n", [80, 500])
def test_leave_one_out_gain_of_300_features_equals_removing_each(n):
    M, eps2 = correlated(n, 300, seed=n), 0.1
    expected = gain_by_removal(M, eps2)
    for form in FORMS:
        np.testing.assert_allclose(gain(M, eps2, form), expected, rtol=1e-9)


@settings(max_examples=40)
@given(
    n=st.integers(2, 25),
    p=st.integers(1, 25),
    eps2=st.sampled_from([0.1, 0.5, 2.0]),
    n_copies=st.integers(0, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_all_forms_of_the_gain_agree_with_removal_with_copies_and_zero_columns(n, p, eps2, n_copies, seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, p))
    M = np.column_stack([M, *[M[:, rng.integers(p)] for _ in range(n_copies)], np.zeros(n)])
    expected = gain_by_removal(M, eps2)
    for form in FORMS:
        np.testing.assert_allclose(gain(M, eps2, form), expected, rtol=1e-9, atol=1e-11)


def test_copies_have_the_smallest_gain_and_the_same():
    rng = np.random.default_rng(3)
    M = standardised(rng.standard_normal((300, 6)))
    M = np.column_stack([M, M[:, 2]])
    found = gain(M)
    assert set(np.argsort(found)[:2]) == {2, 6}
    assert found[2] == pytest.approx(found[6], rel=1e-12)


def r_squared(X, columns, j):
    """Share of the centred column ``j`` that ordinary least squares on some centred columns explains."""
    if not len(columns):
        return 0.0
    fit = X[:, columns] @ np.linalg.lstsq(X[:, columns], X[:, j], rcond=None)[0]
    return float((fit**2).sum() / (X[:, j] ** 2).sum())


def shares_of(X, selected):
    return coded_shares(X[:, selected].T @ X, selected, (X**2).sum(axis=0))


def correlated_columns(n=120, d=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.7 * rng.standard_normal((n, d))
    return (X - X.mean(axis=0)) * rng.uniform(0.1, 30.0, size=d)


@pytest.mark.parametrize("selected", [[4], [7, 0, 3], [8, 1, 5, 2, 6, 0]])
def test_explained_by_selected_equals_the_r_squared_of_least_squares(selected):
    X = correlated_columns()
    explained = explained_by_selected(shares_of(X, selected), np.array(selected))
    expected = [r_squared(X, [q for q in selected if q != j], j) for j in range(X.shape[1])]
    np.testing.assert_allclose(explained, expected, atol=1e-3)


def test_coded_shares_add_up_to_the_r_squared_of_the_first_columns():
    X, selected = correlated_columns(seed=1), [3, 8, 1, 6]
    shares = shares_of(X, selected)
    for t in range(1, len(selected) + 1):
        rest = [j for j in range(X.shape[1]) if j not in selected]
        expected = [r_squared(X, selected[:t], j) for j in rest]
        np.testing.assert_allclose((shares[:t, rest].astype(np.float64) ** 2).sum(axis=0), expected, atol=1e-3)


def test_a_copy_of_a_selected_column_is_explained_whole():
    X = correlated_columns(seed=2)
    X = np.column_stack([X, 5.0 * X[:, 3], -X[:, 0]])
    explained = explained_by_selected(shares_of(X, [3, 0]), np.array([3, 0]))
    np.testing.assert_allclose(explained[[9, 10]], 1.0, atol=1e-3)


@pytest.mark.parametrize("n_copies", [1, 4])
def test_selected_copies_of_one_column_explain_one_another_whole(n_copies):
    X = correlated_columns(seed=3)
    X = np.column_stack([X, *[X[:, 3]] * n_copies])
    selected = [3, 5, *range(9, 9 + n_copies)]
    explained = explained_by_selected(shares_of(X, selected), np.array(selected))
    np.testing.assert_allclose(explained[[3, *range(9, 9 + n_copies)]], 1.0, atol=1e-3)
    assert explained[5] == pytest.approx(r_squared(X, [3], 5), abs=1e-3)


@pytest.mark.parametrize("rounding", [-1e-5, 1e-5])
def test_selected_copies_may_be_known_to_float32_precision_only(rounding):
    X = correlated_columns(seed=3)
    X = np.column_stack([X, X[:, 3]])
    selected = [3, 5, 9]
    shares = coded_shares(X[:, selected].T @ X * (1.0 + rounding), selected, (X**2).sum(axis=0))
    explained = explained_by_selected(shares, np.array(selected))
    np.testing.assert_allclose(explained[[3, 9]], 1.0, atol=1e-3)
    assert explained[5] == pytest.approx(r_squared(X, [3], 5), abs=1e-3)


def test_a_selected_constant_column_explains_nothing_and_is_not_explained():
    X = correlated_columns(seed=4)
    X[:, 2] = 0.0
    without = explained_by_selected(shares_of(X, [5, 7]), np.array([5, 7]))
    explained = explained_by_selected(shares_of(X, [5, 2, 7]), np.array([5, 2, 7]))
    np.testing.assert_allclose(explained, without, atol=1e-5)
    assert explained[2] == 0.0


def test_with_nothing_selected_nothing_is_explained():
    np.testing.assert_array_equal(explained_by_selected(np.zeros((0, 4), dtype=np.float32), np.empty(0, dtype=int)), 0.0)


def test_rounding_that_leaves_no_cholesky_factor_does_not_end_a_fit() -> None:
    rng = np.random.default_rng(0)
    M = rng.standard_normal((400, 5)) @ rng.standard_normal((5, 60))
    gram = M.T @ M
    noise = rng.standard_normal((60, 60)) * 1e-6 * np.abs(gram).max()
    rounded = gram + noise + noise.T
    alpha = 59 / (400 * 0.01)
    assert np.linalg.eigvalsh(np.eye(60) + alpha * rounded).min() < 0.0
    found = inverse_diagonal_primal(rounded, alpha)
    exact = inverse_diagonal_primal(gram, alpha)
    np.testing.assert_allclose(found, exact, rtol=0.5)  # as good as what rounding has left
    assert (found <= 1.0).all()


@pytest.mark.parametrize("p", [1, 255, 256, 257, 700])
def test_the_diagonal_of_a_large_inverse_is_that_of_the_inverse(p):
    rng = np.random.default_rng(p)
    M = rng.standard_normal((2 * p, p)) @ (np.eye(p) + 0.05 * rng.standard_normal((p, p)))
    expected = np.diag(np.linalg.inv(np.eye(p) + 0.3 * M.T @ M))
    np.testing.assert_allclose(inverse_diagonal_primal(M.T @ M, 0.3), expected, rtol=1e-9)


@pytest.mark.parametrize("large", [2, 10**6])
def test_rows_fewer_than_columns_give_the_same_diagonal_however_they_are_added_up(large, monkeypatch):
    monkeypatch.setattr("easyfs.stages.redundancy.LARGE_KERNEL", large)
    monkeypatch.setattr("easyfs.common.threads.PANEL_COLUMNS", 3)
    M = np.random.default_rng(0).standard_normal((10, 600))
    expected = np.diag(np.linalg.inv(np.eye(600) + 0.3 * M.T @ M))
    np.testing.assert_allclose(inverse_diagonal_dual(lambda part: M[:, part], M.shape, 0.3), expected, rtol=1e-9)


def test_the_diagonal_of_the_inverse_takes_the_memory_of_one_factor():
    p = 1500
    M = np.random.default_rng(0).standard_normal((p, p))
    gram = M.T @ M
    tracemalloc.start()
    try:
        inverse_diagonal_primal(gram, 0.01)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1.6 * gram.nbytes  # copies of the factor for LAPACK would make it two
