"""Second moments: the same answers from rows kept, folded, cut into blocks, merged, weighted, dense or sparse."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import easyfs.sums.second_moment as moments_module
import easyfs.sums.sparse as rows_module
from easyfs.sums.measuring import measure_scaling
from easyfs.sums.rows import Rows
from easyfs.sums.scaling import Scaling
from easyfs.sums.second_moment import SecondMoment
from easyfs.sums.sparse import ScaledSparse

D, Q = 4, 3  # inputs and columns beside them
P = D + Q


def table(n, *, seed=0, mean=2.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, P)) @ (np.eye(P) + 0.3 * rng.standard_normal((P, P))) + mean


def rows_of(A, weight=None, *, kind="dense", dtype=np.float64):
    """Rows that hold the matrix ``A``; sparse ones carry the centre 1 and the scale 2 of their inputs beside them."""
    A = A.astype(dtype)
    if kind == "sparse":
        scaling = Scaling(np.ones(D), np.full(D, 2.0), np.zeros(D, dtype=bool), np.dtype(dtype))
        return Rows(ScaledSparse(sparse.csr_array(A[:, :D] * 2.0 + 1.0), scaling), A[:, D:].copy(), weight)
    if kind == "allocated":
        rows = Rows.allocate(len(A), D, A.shape[1] - D, dtype, weight)
        rows.inputs[:], rows.extra[:] = A[:, :D], A[:, D:]
        return rows
    return Rows(A[:, :D].copy(), A[:, D:].copy(), weight)


def empty(p, *, fold):
    """A moment without rows, which folds those that come or keeps them."""
    return SecondMoment(p).fold() if fold else SecondMoment(p)


def moment_of(A, weight=None, *, fold=False, kind="dense", dtype=np.float64):
    return empty(A.shape[1], fold=fold).add(rows_of(A, weight, kind=kind, dtype=dtype))


def assert_describes(moment, A, weight=None, *, rtol=1e-9):
    """Every answer equals that of the plain formula over the rows of ``A``."""
    A = np.asarray(A, dtype=np.float64)
    w = np.ones(len(A)) if weight is None else weight
    mean = w @ A / w.sum()
    gram = (A - mean).T @ (w[:, None] * (A - mean))
    slack = {"rtol": rtol, "atol": rtol * max(np.abs(gram).max(), 1.0)}
    assert moment.n_rows == len(A)
    assert moment.weight == pytest.approx(w.sum(), rel=rtol)
    np.testing.assert_allclose(moment.mean, mean, rtol=rtol, atol=rtol)
    np.testing.assert_allclose(moment.diag(), np.diag(gram), **slack)
    np.testing.assert_allclose(moment.gram(), gram, **slack)
    columns = np.array([A.shape[1] - 1, 0, 2])
    np.testing.assert_allclose(moment.columns(columns), gram[:, columns], **slack)
    np.testing.assert_allclose(moment.columns(np.array([1])), gram[:, [1]], **slack)
    B = np.random.default_rng(0).standard_normal((A.shape[1], 2))
    np.testing.assert_allclose(moment.product(B), gram @ B, rtol=rtol, atol=10 * slack["atol"])


KINDS = ("dense", "allocated", "sparse")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 5, 13, 40])
def test_rows_kept_and_rows_folded_give_the_same_answers(n, kind, weighted):
    A = table(n)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, n) if weighted else None
    kept, folded = moment_of(A, weight, kind=kind), moment_of(A, weight, kind=kind, fold=True)
    assert folded.folded
    assert_describes(kept, A, weight)
    assert_describes(folded, A, weight)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_folded_when_there_are_many_for_each_column(kind):
    assert not moment_of(table(2 * P), kind="dense").folded
    assert moment_of(table(500), kind=kind).folded


@settings(max_examples=60)
@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=6),
    folds=st.lists(st.booleans(), min_size=6, max_size=6),
    weighted=st.booleans(),
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 1000),
)
def test_whole_equals_blocks_equals_merged_parts(sizes, folds, weighted, kind, seed):
    n = sum(sizes) + 2
    A = table(n, seed=seed)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, n) if weighted else None
    cuts = np.split(np.arange(n), np.cumsum(sizes))
    blocks, parts = SecondMoment(P), []
    for cut, fold in zip(cuts, [*folds, False], strict=False):
        rows = rows_of(A[cut], None if weight is None else weight[cut], kind=kind)
        blocks.add(rows)
        parts.append(empty(P, fold=fold).add(rows))
    merged = SecondMoment(P)
    for part in parts:
        merged.merge(part)
    assert_describes(blocks, A, weight)
    assert_describes(merged, A, weight)
    assert_describes(moment_of(A, weight, kind=kind), A, weight)


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_integer_weights_equal_repeated_rows(kind, fold):
    A = table(6)
    weight = np.array([1, 3, 2, 1, 4, 2])
    weighed = moment_of(A, weight.astype(float), kind=kind, fold=fold)
    repeated = moment_of(np.repeat(A, weight, axis=0), kind=kind, fold=fold)
    assert weighed.weight == repeated.weight
    np.testing.assert_allclose(weighed.gram(), repeated.gram(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(weighed.diag(), repeated.diag(), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(weighed.mean, repeated.mean, rtol=1e-9)


def test_a_block_with_weights_and_one_without_add_up():
    A, weight = table(12), np.random.default_rng(2).uniform(0.5, 2.0, 5)
    moment = moment_of(A[:5], weight)
    moment.add(rows_of(A[5:]))
    assert_describes(moment, A, np.concatenate([weight, np.ones(7)]))


def thin_table(n, p=60, n_inputs=57):
    """A table of few non-zeros, with a function that gives some of its rows as sparse or dense ones."""
    A = np.where(np.random.default_rng(3).random((n, p)) < 0.02, 1.5, 0.0)
    scaling = Scaling(np.zeros(n_inputs), np.ones(n_inputs), np.zeros(n_inputs, dtype=bool), np.dtype(np.float64))

    def rows(part, kind):
        X = A[part, :n_inputs]
        return Rows(ScaledSparse(sparse.csr_array(X), scaling) if kind == "sparse" else X, A[part, n_inputs:])

    return A, rows


def test_sparse_rows_are_kept_while_they_are_small_and_folded_beyond():
    A, rows = thin_table(400)
    few, many = SecondMoment(60).add(rows(slice(150), "sparse")), SecondMoment(60)
    for _ in range(4):
        many.add(rows(slice(None), "sparse"))
    assert not few.folded
    assert many.folded
    assert_describes(few, A[:150])
    assert_describes(many, np.tile(A, (4, 1)))


@pytest.mark.parametrize("kinds", [("sparse", "dense"), ("dense", "sparse")])
def test_a_sparse_block_and_a_dense_one_add_up(kinds):
    A, rows = thin_table(40)
    moment = SecondMoment(60).add(rows(slice(25), kinds[0])).add(rows(slice(25, 40), kinds[1]))
    assert not moment.folded
    assert_describes(moment, A)


@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("places", "count"), [([0, 1, 2], 5), ([2, 0, 1], 3), ([1, 4, 0], 6)])
def test_columns_behind_the_first_are_placed_among_others(kind, fold, places, count):
    A = table(10)
    moment = moment_of(A, kind=kind, fold=fold)
    moment.diag()
    placed = moment.placed(D, np.array(places), count)
    wide = np.zeros((10, D + count))
    wide[:, [*range(D), *(D + place for place in places)]] = A
    assert_describes(placed, wide)
    assert_describes(moment, A)
    later = np.column_stack([table(9, seed=5)[:, :D], np.random.default_rng(0).random((9, count))])
    assert_describes(placed.add(rows_of(later, kind=kind)), np.vstack([wide, later]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_moment_travels_as_arrays(kind, fold, weighted):
    A = table(10)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, 10) if weighted else None
    moment = moment_of(A, weight, kind=kind, fold=fold)
    arrays = {name: np.array(array) for name, array in moment.to_arrays().items()}
    found = SecondMoment.from_arrays(arrays)
    assert_describes(found, A, weight)
    assert found.folded == moment.folded
    assert found.dtype == moment.dtype
    twice = np.ones(10) if weight is None else weight
    assert_describes(found.merge(moment), np.vstack([A, A]), np.concatenate([twice, twice]))


@pytest.mark.parametrize("sizes", [(10,), (0, 4, 3), (3, 0, 60), (60, 50, 2), (90, 80, 0, 70)])
@pytest.mark.parametrize("fold", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_classes_are_put_together_with_a_column_for_each(kind, weighted, fold, sizes):
    n, n_classes = sum(sizes), len(sizes) + 1  # no row of the last
    A = table(n)
    weight = np.random.default_rng(4).uniform(0.1, 3.0, n) if weighted else None
    codes = np.repeat(np.arange(len(sizes)), sizes)
    moments, rows_by_class = {}, {}
    for code in (2, 0, 1, 3):
        chosen = codes == code
        if chosen.any():
            rows_by_class[code] = (A[chosen], None if weight is None else weight[chosen])
            moments[code] = moment_of(*rows_by_class[code], kind=kind, fold=fold and code == 1)
    whole = SecondMoment.of_classes(moments, P, n_classes)
    assert_describes(whole, np.column_stack([A, np.eye(n_classes)[codes]]), weight)
    for code, (part, own) in rows_by_class.items():
        assert_describes(moments[code], part, own)


def test_rows_of_many_classes_are_multiplied_together(monkeypatch):
    A = table(600)
    products = []
    add_gram = moments_module._add_gram

    def counted(gram, rows):
        products.append(rows.shape[0])
        add_gram(gram, rows)

    monkeypatch.setattr(moments_module, "_add_gram", counted)
    codes = np.arange(600) % 200
    moments = {code: moment_of(A[codes == code]) for code in range(200)}
    whole = SecondMoment.of_classes(moments, P, 200)
    assert whole.folded
    assert sum(products) == 600
    assert len(products) < 10
    assert_describes(whole, np.column_stack([A, np.eye(200)[codes]]))


@pytest.mark.parametrize("fold", [False, True])
def test_merging_leaves_the_other_moment_as_it_was(fold):
    A, B = table(4), table(5, seed=6)
    for change in (
        lambda m: m.placed(D, np.array([2, 0, 1]), 4),
        lambda m: m.copy().add(rows_of(A)),
        lambda m: m.add(rows_of(A)),
        lambda m: m.merge(moment_of(A)),
    ):
        for first in (SecondMoment(P), moment_of(A), moment_of(A, fold=True)):
            other = moment_of(B, fold=fold)
            first.merge(other)
            change(first)
            assert_describes(other, B)


def test_adding_leaves_the_rows_as_they_were():
    A = table(5)
    rows = rows_of(A)
    moment = SecondMoment(P).add(rows)
    moment.placed(D, np.array([2, 0, 1]), 4).add(rows_of(np.ones((3, D + 4))))
    np.testing.assert_array_equal(rows.extra, A[:, D:])


def test_columns_that_do_not_match_are_refused():
    with pytest.raises(ValueError, match="columns"):
        SecondMoment(P + 1).add(rows_of(table(3)))
    with pytest.raises(ValueError, match="columns"):
        moment_of(table(3)).merge(SecondMoment(P + 1))


def test_merging_or_adding_nothing_changes_nothing():
    A = table(5)
    moment = moment_of(A)
    moment.merge(SecondMoment(P))
    moment.add(rows_of(A[:0]))
    assert_describes(moment, A)


def far_float32(n):
    """Standard columns about means of up to 1000, in float32, and the same numbers in float64."""
    A = (table(n, mean=0.0) / 2.0 + np.linspace(-1000.0, 1000.0, P)).astype(np.float32)
    return A, A.astype(np.float64)


@pytest.mark.parametrize("weight", [None, 3.0, 1e-6])
def test_float32_rows_with_a_mean_of_1000_keep_their_precision_when_folded_from_the_start(weight):
    A, exact = far_float32(3000)
    w = None if weight is None else np.full(len(A), weight)
    moment = empty(P, fold=True)
    for start in range(0, len(A), 1000):
        moment.add(rows_of(A[start : start + 1000], None if w is None else w[start : start + 1000], dtype=np.float32))
    centred = exact - exact.mean(axis=0)
    expected = centred.T @ centred * (weight or 1.0)
    np.testing.assert_allclose(moment.gram(), expected, rtol=1e-3, atol=1e-3 * expected.max())


def test_float32_rows_with_a_mean_of_1000_keep_their_precision_when_folded_late():
    A, exact = far_float32(3000)
    moment = SecondMoment(P).add(rows_of(A, dtype=np.float32))
    assert moment.folded
    centred = exact - exact.mean(axis=0)
    expected = centred.T @ centred
    np.testing.assert_allclose(moment.gram(), expected, rtol=1e-3, atol=1e-3 * expected.max())


def test_float32_rows_with_a_mean_of_1000_keep_their_precision_while_kept():
    A, exact = far_float32(2 * P)
    moment = moment_of(A, dtype=np.float32)
    assert not moment.folded
    centred = exact - exact.mean(axis=0)
    expected = centred.T @ centred
    np.testing.assert_allclose(moment.gram(), expected, rtol=1e-3, atol=1e-3 * expected.max())
    np.testing.assert_allclose(moment.diag(), np.diag(expected), rtol=1e-3)
    np.testing.assert_allclose(moment.columns(np.arange(P)), expected, rtol=1e-3, atol=1e-3 * expected.max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fold", [False, True])
def test_float32_rows_about_zero_are_summed_closely(kind, fold):
    A = table(600, mean=0.5).astype(np.float32)
    moment = moment_of(A, kind=kind, fold=fold, dtype=np.float32)
    assert moment.dtype == np.float32
    assert_describes(moment, A, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_squares_of_kept_float32_rows_are_those_of_float64(weighted):
    n, p = 4000, 2000
    rng = np.random.default_rng(7)
    A = np.where(rng.random((n, p)) < 0.5, 0.9837, -1.0171).astype(np.float32)
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    moment = SecondMoment(p).add(Rows(A[:, :-1], A[:, -1:], weight))
    assert not moment.folded
    w = np.ones(n) if weight is None else weight
    exact = A.astype(np.float64)
    expected = w @ exact**2 - (w @ exact) ** 2 / w.sum()
    np.testing.assert_allclose(moment.diag(), expected, rtol=2e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fold", [False, True])
def test_sparse_rows_in_pieces_give_the_same_answers(weighted, fold, monkeypatch):
    A = table(40)
    weight = np.random.default_rng(1).uniform(0.1, 3.0, 40) if weighted else None
    for module in (moments_module, rows_module):
        monkeypatch.setattr(module, "DENSE_BYTES", 40 * 8 * 2)  # two columns of all rows, ten rows of all columns
    monkeypatch.setattr(moments_module, "PANEL_COLUMNS", 3)
    monkeypatch.setattr("easyfs.common.threads.PANEL_COLUMNS", 3)
    assert_describes(moment_of(A, weight, kind="sparse", fold=fold), A, weight)
    parts = empty(P, fold=fold)
    for part in (slice(0, 25), slice(25, 40)):
        parts.add(rows_of(A[part], None if weight is None else weight[part], kind="sparse"))
    assert_describes(parts, A, weight)


def test_sparse_tables_of_many_rows_are_not_made_dense():
    n, d, entries = 60_000, 2000, 20_000
    rng = np.random.default_rng(0)
    S = sparse.csr_array((rng.random(entries), (rng.integers(0, n, entries), rng.integers(0, d, entries))), shape=(n, d))
    rows = Rows(ScaledSparse(S, measure_scaling(S)), rng.standard_normal((n, 2)))
    moment = SecondMoment(d + 2).add(rows)
    assert not moment.folded
    tracemalloc.start()
    try:
        moment.diag()
        least = tracemalloc.get_traced_memory()[1]
        moment.columns(np.arange(0, d, 4))
        moment.product(rng.standard_normal((d + 2, 500)))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert least < 20e6  # a thousand of the columns would be 490 MB
    assert most < 300e6  # five hundred would be 240 MB, and their products as much again


def test_large_gram_matrices_of_sparse_rows_take_the_memory_of_one(monkeypatch):
    n, d = 700, 2000
    rng = np.random.default_rng(0)
    S = sparse.csr_array(np.where(rng.random((n, d)) < 0.01, rng.random((n, d)), 0.0))
    monkeypatch.setattr(moments_module, "DENSE_BYTES", 1 << 22)
    moment = SecondMoment(d).add(Rows(ScaledSparse(S, measure_scaling(S)), np.empty((n, 0))))
    tracemalloc.start()
    try:
        gram = moment.gram()
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 2 * gram.nbytes
    dense = moment.rows().dense()[:, :-1]
    np.testing.assert_allclose(gram, dense.T @ dense, atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fold", [False, True])
def test_products_of_stored_entries_equal_those_of_dense_rows(weighted, fold, monkeypatch):
    monkeypatch.setattr(rows_module, "PANEL_COLUMNS", 7)
    rng = np.random.default_rng(2)
    n, d = 300, 40
    X = np.where(rng.random((n, d)) < 0.03, rng.uniform(1.0, 3.0, (n, d)), 0.0)
    X[:, 5] = 1e4 + rng.standard_normal(n)  # far from zero, in terms of its spread
    X[:, 17] = 12.0 + 1e-3 * rng.standard_normal(n)
    X[:, 30] = 0.0
    weight = rng.uniform(0.1, 3.0, n) if weighted else None
    scaling = measure_scaling(sparse.csr_array(X), weight)
    extra = rng.standard_normal((n, 3)) + 1.0
    A = np.column_stack([(X - scaling.center) / scaling.scale, extra])
    inputs = ScaledSparse(sparse.csr_array(X), scaling)
    assert inputs.few_products()
    moment = empty(d + 3, fold=fold)
    for part in (slice(0, 120), slice(120, n)):
        moment.add(Rows(inputs[part], extra[part], None if weight is None else weight[part]))
    assert_describes(moment, A, weight, rtol=1e-10)
    gram = moment.gram()
    np.testing.assert_allclose(gram, gram.T, atol=1e-12 * n)


def test_dense_rows_in_a_sparse_table_are_multiplied_as_dense_ones():
    X = np.random.default_rng(0).uniform(1.0, 2.0, (50, 20))
    scaling = measure_scaling(sparse.csr_array(X))
    assert not ScaledSparse(sparse.csr_array(X), scaling).few_products()
