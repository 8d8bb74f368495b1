"""Scaling, samples of rows, and products with rows: dense, sparse and weighted."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from easyfs.sums.measuring import measure_scaling, scale_rows, winsorized
from easyfs.sums.rows import Rows
from easyfs.sums.scaling import Scaling
from easyfs.sums.sparse import ScaledSparse, entry_blocks, vertical
from easyfs.tables.frames import to_matrix


def exact_scaling(X, weight=None):
    """Mean and standard deviation of the observed values in extended precision."""
    X = np.asarray(X, dtype=np.longdouble)
    seen = ~np.isnan(X)
    w = np.where(seen, 1.0 if weight is None else np.asarray(weight, dtype=np.longdouble)[:, None], 0.0)
    mean = (w * np.where(seen, X, 0.0)).sum(axis=0) / w.sum(axis=0)
    spread = np.sqrt((w * np.where(seen, X - mean, 0.0) ** 2).sum(axis=0) / w.sum(axis=0))
    return mean.astype(np.float64), spread.astype(np.float64)


def tables(missing=True):
    values = st.integers(-4000, 4000).map(lambda v: v / 8)
    elements = st.one_of(values, st.just(np.nan)) if missing else values
    return hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=12), elements=elements)


@settings(max_examples=100)
@given(X=tables())
def test_scaling_is_the_mean_and_standard_deviation_of_the_observed_values(X):
    scaling = measure_scaling(X)
    for j, column in enumerate(X.T):
        observed = column[~np.isnan(column)]
        if len(set(observed)) <= 1:
            assert scaling.constant[j]
            assert scaling.center[j] == pytest.approx(observed[0] if len(observed) else 0.0)
        else:
            assert not scaling.constant[j]
            assert scaling.center[j] == pytest.approx(np.nanmean(column), rel=1e-10, abs=1e-10)
            assert scaling.scale[j] == pytest.approx(np.nanstd(column), rel=1e-10)


@settings(max_examples=60)
@given(X=tables(), data=st.data())
def test_an_integer_weight_scales_as_so_many_repeated_rows(X, data):
    weight = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(X), max_size=len(X))))
    weighed, repeated = measure_scaling(X, weight.astype(float)), measure_scaling(np.repeat(X, weight, axis=0))
    np.testing.assert_array_equal(weighed.constant, repeated.constant)
    np.testing.assert_allclose(weighed.center, repeated.center, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(weighed.scale, repeated.scale, rtol=1e-10)


@settings(max_examples=60)
@given(X=tables(), weighted=st.booleans(), seed=st.integers(0, 1000))
def test_sparse_rows_scale_as_dense_rows_do(X, weighted, seed):
    X = np.where(np.random.default_rng(seed).random(X.shape) < 0.5, 0.0, X)
    weight = np.random.default_rng(seed).uniform(0.5, 3.0, len(X)) if weighted else None
    dense, thin = measure_scaling(X, weight), measure_scaling(sparse.csr_array(X), weight)
    np.testing.assert_array_equal(dense.constant, thin.constant)
    np.testing.assert_allclose(thin.center, dense.center, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(thin.scale, dense.scale, rtol=1e-9)


def test_fractional_weights_weigh_mean_and_spread():
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((300, 4)) + 5.0, rng.uniform(0.01, 4.0, 300)
    X[rng.random(X.shape) < 0.2] = np.nan
    scaling = measure_scaling(X, weight)
    mean, spread = exact_scaling(X, weight)
    np.testing.assert_allclose(scaling.center, mean, rtol=1e-12)
    np.testing.assert_allclose(scaling.scale, spread, rtol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("n", [200, 20_000])
def test_a_mean_of_a_million_standard_deviations_loses_nothing(n, kind):
    X = 1e6 + np.random.default_rng(1).standard_normal((n, 3))
    mean, spread = exact_scaling(X)
    scaling = measure_scaling(X if kind == "dense" else sparse.csr_array(X))
    np.testing.assert_allclose(scaling.center, mean, rtol=1e-14)
    np.testing.assert_allclose(scaling.scale, spread, rtol=1e-8)
    assert not scaling.constant.any()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_float32_columns_far_from_zero_are_measured_in_full(kind):
    X = (1e4 + np.random.default_rng(2).standard_normal((20_000, 3))).astype(np.float32)
    mean, spread = exact_scaling(X)
    scaling = measure_scaling(X if kind == "dense" else sparse.csr_array(X))
    np.testing.assert_allclose(scaling.center, mean, rtol=1e-7)
    np.testing.assert_allclose(scaling.scale, spread, rtol=1e-4)


@pytest.mark.parametrize(("dtype", "far", "rtol"), [(np.float64, 1e6, 1e-8), (np.float32, 1e3, 1e-4)])
def test_a_column_whose_first_rows_are_missing_is_measured_in_full(dtype, far, rtol):
    X = (far + np.random.default_rng(3).standard_normal((20_000, 2))).astype(dtype)
    X[:10_000, 1] = np.nan
    mean, spread = exact_scaling(X)
    scaling = measure_scaling(X)
    np.testing.assert_allclose(scaling.center, mean, rtol=1e-6)
    np.testing.assert_allclose(scaling.scale, spread, rtol=rtol)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [1e12, 1e-12, 1e300, 1e-300, 1e-152])
def test_very_large_and_very_small_columns_are_scaled_like_all_others(size, dtype):
    if dtype == np.float32 and not 1e-30 < size < 1e30:
        pytest.skip("float32 has no such numbers")
    base = np.random.default_rng(4).standard_normal((100, 3)) + 2.0
    X = (base * size).astype(dtype)
    scaling = measure_scaling(X)
    mean, spread = exact_scaling(X)
    assert not scaling.constant.any()
    np.testing.assert_allclose(scaling.center, mean, rtol=1e-5)
    np.testing.assert_allclose(scaling.scale, spread, rtol=1e-5)
    scaled, _ = scaling.apply(X)
    np.testing.assert_allclose(scaled, (base - base.mean(axis=0)) / base.std(axis=0), atol=1e-4)


def test_small_columns_are_told_from_columns_of_zeros():
    X = np.zeros((50, 4))
    X[:, 1] = 1e-300 * np.random.default_rng(0).standard_normal(50)
    X[7, 2] = 1e-290
    for table in (X, sparse.csr_array(X)):
        scaling = measure_scaling(table)
        np.testing.assert_array_equal(scaling.constant, [True, False, False, True])
        np.testing.assert_allclose(
            scaling.scale[1:3] / X[:, 1:3].max(axis=0), (X / X.max(axis=0, initial=1e-300)).std(axis=0)[1:3]
        )


@pytest.mark.parametrize("size", [1e30, 1e-25])
def test_float32_columns_whose_squares_leave_the_range_of_float32_are_not_constant(size):
    X = (np.random.default_rng(5).standard_normal((100, 2)) * size).astype(np.float32)
    scaling = measure_scaling(X)
    assert not scaling.constant.any()
    np.testing.assert_allclose(scaling.scale, exact_scaling(X)[1], rtol=1e-5)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e12, 1e-12, 1 / 3])
def test_a_constant_column_is_constant_whatever_its_value(value, dtype, kind):
    X = np.full((10_001, 2), value, dtype=dtype)
    X[:, 1] += np.arange(10_001) * (abs(value) or 1.0)
    scaling = measure_scaling(X if kind == "dense" else sparse.csr_array(X))
    np.testing.assert_array_equal(scaling.constant, [True, False])
    assert scaling.scale[0] == pytest.approx(abs(value) or 1.0, rel=1e-6)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_constant_column_is_constant_with_fractional_weights_and_missing_values(kind):
    X = np.full((3, 1), 0.125)
    X[1] = np.nan
    weight = np.array([2.6, 1.9, 0.7])
    for rows in ([0, 2], [1, 2], [0, 1, 2]):
        table = X[rows] if kind == "dense" else sparse.csr_array(X[rows])
        scaling = measure_scaling(table, weight[rows])
        assert scaling.constant.all()


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_column_without_any_value_is_constant_and_becomes_zeros(kind):
    X = np.array([[1.0, np.nan], [2.0, np.nan], [6.0, np.nan]])
    table = X if kind == "dense" else sparse.csr_array(X)
    scaling = measure_scaling(table)
    np.testing.assert_array_equal(scaling.constant, [False, True])
    scaled, observed = scale_rows(table, scaling)
    np.testing.assert_array_equal(scaled[:, 1] if kind == "dense" else scaled.take(np.array([1]))[:, 0], 0.0)
    np.testing.assert_array_equal(observed, [3.0, 0.0])


def test_missing_values_become_the_mean_and_are_not_counted():
    X = np.array([[1.0, 4.0], [np.nan, 6.0], [3.0, np.nan]])
    weight = np.array([1.0, 2.0, 4.0])
    for table in (X, sparse.csr_array(X)):
        scaled, observed = scale_rows(table, measure_scaling(table), weight)
        dense = scaled if isinstance(scaled, np.ndarray) else scaled.dense()
        np.testing.assert_allclose(dense, [[-1.0, -1.0], [0.0, 1.0], [1.0, 0.0]], atol=1e-15)
        np.testing.assert_array_equal(observed, [5.0, 3.0])


def test_dense_float32_stays_float32_and_everything_else_is_float64():
    X = np.random.default_rng(6).standard_normal((20, 3))
    assert measure_scaling(X.astype(np.float32)).dtype == np.float32
    assert measure_scaling(X).dtype == np.float64
    assert measure_scaling(sparse.csr_array(X.astype(np.float32))).dtype == np.float64


def test_scaled_sparse_take_dot_and_cross_equal_the_dense_products():
    rng = np.random.default_rng(7)
    X = np.where(rng.random((40, 9)) < 0.6, 0.0, rng.standard_normal((40, 9)) * 5 + 2)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 4] = 3.0
    S = sparse.csr_array(X)
    scaling = measure_scaling(S)
    thin, (dense, _) = ScaledSparse(S, scaling), scaling.apply(X)
    columns = np.array([8, 0, 4, 0])
    np.testing.assert_allclose(thin.take(columns), dense[:, columns], atol=1e-12)
    np.testing.assert_allclose(thin.take(slice(2, 5)), dense[:, 2:5], atol=1e-12)
    np.testing.assert_allclose(thin.dense(), dense, atol=1e-12)
    B, C = rng.standard_normal((9, 3)), rng.standard_normal((40, 2))
    np.testing.assert_allclose(thin.dot(B), dense @ B, atol=1e-11)
    np.testing.assert_allclose(thin.cross(C), dense.T @ C, atol=1e-11)
    some = thin[np.array([5, 1, 30])]
    np.testing.assert_allclose(some.dense(), dense[[5, 1, 30]], atol=1e-12)
    np.testing.assert_allclose(some.take(np.array([2])), dense[[5, 1, 30]][:, [2]], atol=1e-12)
    np.testing.assert_allclose(vertical([thin[:7], thin[7:]]).dense(), dense, atol=1e-12)
    np.testing.assert_array_equal(np.isnan(S.data), np.isnan(sparse.csr_array(X).data))


def test_a_sparse_matrix_that_stores_an_entry_in_two_parts_is_read_as_their_sum():
    whole = sparse.csr_array(np.array([[3.0, 0.0], [1.0, 5.0], [4.0, 2.0]]))
    parts = sparse.csr_array(
        (np.array([1.0, 2.0, 1.0, 5.0, 4.0, 2.0]), np.array([0, 0, 0, 1, 0, 1]), np.array([0, 2, 4, 6])), shape=(3, 2)
    )
    np.testing.assert_array_equal(parts.toarray(), whole.toarray())
    expected, found = measure_scaling(whole), measure_scaling(to_matrix(parts))
    np.testing.assert_allclose(found.center, expected.center)
    np.testing.assert_allclose(found.scale, expected.scale)


def rows_and_matrix(kind, *, weighted, n=700, d=8, q=5, seed=8):
    """Rows and the dense matrix they stand for, with the weights."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.5, 0.0, rng.standard_normal((n, d)) + 1.0)
    extra = rng.standard_normal((n, q)) + 0.5
    weight = rng.uniform(0.2, 3.0, n) if weighted else None
    scaling = Scaling(X.mean(axis=0), X.std(axis=0), np.zeros(d, dtype=bool), np.dtype(np.float64))
    scaled = (X - scaling.center) / scaling.scale
    A = np.column_stack([scaled, extra])
    if kind == "allocated":
        rows = Rows.allocate(n, d, q, np.float64, weight)
        rows.inputs[:], rows.extra[:] = scaled, extra
    elif kind == "sparse":
        rows = Rows(ScaledSparse(sparse.csr_array(X), scaling), extra, weight)
    else:
        rows = Rows(scaled, extra, weight)
    return rows, A, np.ones(n) if weight is None else weight


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "allocated", "sparse"])
def test_products_with_rows_equal_dense_products_with_weights(kind, weighted):
    rows, A, w = rows_and_matrix(kind, weighted=weighted)
    rng = np.random.default_rng(9)
    assert rows.shape == A.shape
    np.testing.assert_array_equal(rows.weights(), w)
    B, C = rng.standard_normal((A.shape[0], 3)), rng.standard_normal((A.shape[1], 4))
    np.testing.assert_allclose(rows.cross(B), A.T @ (w[:, None] * B), atol=1e-9)
    np.testing.assert_allclose(rows.dot(C), A @ C, atol=1e-10)
    np.testing.assert_allclose(rows.sums(), A.T @ w, atol=1e-9)
    with_one = np.column_stack([A, np.ones(len(A))])
    np.testing.assert_allclose(rows.dense(), np.sqrt(w)[:, None] * with_one, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["dense", "allocated", "sparse"])
def test_columns_and_parts_of_rows_equal_those_of_the_dense_matrix(kind, weighted):
    rows, A, w = rows_and_matrix(kind, weighted=weighted)
    for listed in ([0], [12], [3, 1, 7], [12, 8], [9, 2, 12, 0, 2], []):
        columns = np.array(listed, dtype=np.intp)
        np.testing.assert_allclose(rows.take(columns), A[:, columns], atol=1e-12)
    for some in (slice(10, 300), np.array([5, 600, 5]), A[:, 0] > 0):
        part = rows[some]
        np.testing.assert_allclose(part.sums(), A[some].T @ w[some], atol=1e-9)
        np.testing.assert_allclose(part.dense()[:, :-1], np.sqrt(w[some])[:, None] * A[some], atol=1e-12)


def test_products_with_more_columns_than_one_thread_takes_at_a_time():
    rows, A, w = rows_and_matrix("dense", weighted=True, n=20, d=1300)
    np.testing.assert_allclose(rows.cross(A[:, :2]), A.T @ (w[:, None] * A[:, :2]), atol=1e-10)
    np.testing.assert_allclose(rows.sums(), A.T @ w, atol=1e-10)


def test_sums_of_many_sparse_float32_rows_keep_their_precision():
    n = 300_000
    values = np.full(n, 0.1, dtype=np.float32)
    S = sparse.csr_array((values, np.zeros(n, dtype=int), np.arange(n + 1)), shape=(n, 1))
    scaling = Scaling(np.array([0.05]), np.array([1.0]), np.array([False]), np.dtype(np.float32))
    rows = Rows(ScaledSparse(S, scaling), np.empty((n, 0), dtype=np.float32))
    assert rows.sums()[0] / n == pytest.approx(0.05, rel=1e-4)


@pytest.mark.parametrize("size", [30.0, 1e4, 1e9])
@pytest.mark.parametrize("n_extreme", [1, 4])
def test_extreme_values_do_not_inflate_the_spread(size, n_extreme):
    values = np.random.default_rng(0).standard_normal(500)
    values[:n_extreme] = size
    center, scale = winsorized(values, np.ones(500), values.mean(), values.std(), 4.0)
    assert abs(center) < 0.1
    assert 0.95 < scale < 1.15
    clipped = np.clip(values, center - 4.0 * scale, center + 4.0 * scale)
    assert clipped.mean() == pytest.approx(center, abs=1e-3)
    assert clipped.std() == pytest.approx(scale, rel=2e-3)


def test_many_large_values_are_not_extreme():
    values = np.random.default_rng(0).standard_normal(500)
    values[:40] = 1e6
    assert winsorized(values, np.ones(500), values.mean(), values.std(), 4.0) == (values.mean(), values.std())


def test_a_column_that_is_mostly_zero_keeps_its_spread():
    values = np.zeros(500)
    values[:4] = 1.0, 2.0, 3.0, 500.0
    assert winsorized(values, np.ones(500), values.mean(), values.std(), 4.0) == (values.mean(), values.std())


@settings(max_examples=50)
@given(seed=st.integers(0, 1000), size=st.sampled_from([1.0, 20.0, 1e5]))
def test_integer_weights_are_repeated_rows_where_values_are_extreme(seed, size):
    rng = np.random.default_rng(seed)
    values, weight = rng.standard_normal(150), rng.integers(1, 4, 150)
    values[:2] *= size
    repeated = np.repeat(values, weight)
    start = repeated.mean(), repeated.std(), 4.0
    expected = winsorized(repeated, np.ones(len(repeated)), *start)
    assert winsorized(values, weight.astype(float), *start) == pytest.approx(expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_clipped_sparse_rows_are_those_of_dense_rows(weighted):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4))
    X[:, 1] += 20.0
    X[3, 1] = 0.0
    X[rng.random((90, 4)) < 0.3] = 0.0
    X[5, 0] = np.nan
    X[:, 3] = 2.0
    X[0, 2] = 1e3
    weight = rng.integers(1, 4, 90).astype(float) if weighted else None
    scaling = Scaling(
        np.array([0.0, 20.0, 0.0, 2.0]), np.array([1.0, 0.5, 0.3, 2.0]), np.arange(4) == 3, np.dtype(np.float64), 4.0
    )
    dense, _ = scale_rows(X, scaling, weight)
    assert np.abs(dense).max() == 4.0
    kept, _ = scale_rows(sparse.csr_array(X), scaling, weight)
    np.testing.assert_allclose(kept.dense(), dense, atol=1e-12)
    w = np.ones(90) if weight is None else weight
    np.testing.assert_allclose(kept.squares(w), w @ dense**2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("far", [0.0, 1.0, 1e6])
def test_squares_of_sparse_columns_are_those_of_dense_ones(far, weighted, monkeypatch):
    rng = np.random.default_rng(3)
    n = 400
    X = rng.standard_normal((n, 6)) + far
    X[rng.random((n, 6)) < [0.0, 0.05, 0.5, 0.95, 0.997, 1.0]] = 0.0
    weight = rng.uniform(0.1, 3.0, n) if weighted else np.ones(n)
    X[:, 0] = far + rng.standard_normal(n)  # stored in every row
    spread = np.maximum(X.std(axis=0), 1e-3)
    scaling = Scaling(X.mean(axis=0), spread, np.zeros(6, dtype=bool), np.dtype(np.float64))
    kept = ScaledSparse(sparse.csr_array(X), scaling)
    exact = (X.astype(np.longdouble) / spread - scaling.center / spread) ** 2
    expected = (weight.astype(np.longdouble) @ exact).astype(np.float64)
    # A value of a million spreads has ten digits left once its mean is taken away.
    tolerance = 1e-12 if far < 1e6 else 1e-9
    np.testing.assert_allclose(kept.squares(weight), expected, rtol=tolerance)
    monkeypatch.setattr("easyfs.sums.sparse.BLOCK_ENTRIES", 50)
    assert len(entry_blocks(kept.S)) > 10
    np.testing.assert_allclose(kept.squares(weight), expected, rtol=tolerance)


def test_blocks_of_entries_cover_all_rows(monkeypatch):
    monkeypatch.setattr("easyfs.sums.sparse.BLOCK_ENTRIES", 4)
    rng = np.random.default_rng(0)
    for density in (0.0, 0.1, 0.6, 1.0):
        S = sparse.csr_array(rng.random((30, 7)) * (rng.random((30, 7)) < density))
        blocks = entry_blocks(S)
        assert [block.start for block in blocks] == [0, *[block.stop for block in blocks[:-1]]]
        assert blocks[-1].stop == 30
        assert max(S[block].nnz for block in blocks) <= 4 + 7


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("n", [3, 20, 3000])
def test_a_column_without_a_value_is_unseen_whatever_the_weights_are(n, kind):
    for seed in range(20):  # rounding of the weights' sum decides, this way or that
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 4))
        X[:, 1], X[0, 2] = np.nan, np.nan
        weight = rng.uniform(0.1, 3.0, n)
        scaling = measure_scaling(kind(X), weight)
        assert scaling.unseen.tolist() == [False, True, False, False]
        assert scale_rows(kind(X), scaling, weight)[1][1] == pytest.approx(0.0, abs=1e-9)
