"""Well-wired nodes: the pair screen, and which nodes are kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from easyfs import EasyFS, wiring
from easyfs.engines.local import own_threads
from easyfs.linear import LinearFit, scoring_rows
from easyfs.network import draw_hidden
from easyfs.rows import ScaledSparse, measure_scaling
from easyfs.wiring import keep_nodes, screen_pairs, share_nodes


def columns(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def all_live(d):
    return np.ones(d, dtype=bool)


WEIGHTS = [False, True]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("d", [30, 600])
def test_the_planted_pair_comes_first(d, kind):
    X = columns(500, d)
    y = np.sign(X[:, 3] * X[:, d - 5])[:, None]
    inputs = X
    if kind == "sparse":
        inputs = ScaledSparse(sparse.csr_array(X), measure_scaling(X))
    rows = scoring_rows(inputs, y, None)
    pairs, strength = screen_pairs(rows, rows.target, all_live(d), 20, np.random.default_rng(0))
    np.testing.assert_array_equal(pairs[0], [3, d - 5])
    assert strength[0] > 1.5 * strength[1]


def test_a_column_whose_square_matters_pairs_with_itself():
    X = columns(500, 30)
    rows = scoring_rows(X, X[:, [8]] ** 2, None)
    pairs, _ = screen_pairs(rows, rows.target, all_live(30), 5, np.random.default_rng(0))
    np.testing.assert_array_equal(pairs[0], [8, 8])


def test_each_of_several_targets_has_its_pair():
    X = columns(800, 30)
    Y = np.column_stack([X[:, 1] * X[:, 9], X[:, 4] * X[:, 20], X[:, 0] * X[:, 2]])
    rows = scoring_rows(X, Y, None)
    pairs, _ = screen_pairs(rows, rows.target, all_live(30), 3, np.random.default_rng(0))
    assert {tuple(pair) for pair in pairs} == {(1, 9), (4, 20), (0, 2)}


def test_with_weights_the_pair_of_the_heavy_rows_comes_first():
    X = columns(500, 30)
    heavy = np.arange(500) % 5 == 0
    y = np.where(heavy, X[:, 3] * X[:, 7], X[:, 11] * X[:, 12])[:, None]
    for weight, expected in ((None, [11, 12]), (np.where(heavy, 20.0, 0.05), [3, 7])):
        rows = scoring_rows(X, y, weight)
        pairs, _ = screen_pairs(rows, rows.target, all_live(30), 5, np.random.default_rng(0))
        np.testing.assert_array_equal(pairs[0], expected)


@pytest.mark.parametrize("weighted", WEIGHTS)
@pytest.mark.parametrize(("d", "n_pairs"), [(12, 10), (300, 50)])
def test_the_screen_finds_the_strongest_of_all_pairs(d, n_pairs, weighted):
    rng = np.random.default_rng(5)
    X, Y = columns(200, d), rng.standard_normal((200, 2))
    weight = rng.uniform(0.3, 2.0, 200) if weighted else None
    rows = scoring_rows(X, Y, weight)
    live = np.arange(d) % 5 != 2
    pairs, strength = screen_pairs(rows, rows.target, live, n_pairs, np.random.default_rng(0))

    w = np.ones(200) if weight is None else weight
    A = X - w @ X / w.sum()
    squares = A**2 - w @ A**2 / w.sum()
    squares -= A * (w @ (A * squares) / (w @ A**2))
    squares = np.clip(squares / np.sqrt(w @ squares**2 / w.sum()), -3.0, 3.0)
    i, j = np.triu_indices(d)
    i, j = i[live[i] & live[j]], j[live[i] & live[j]]
    products = np.zeros(len(i))
    for left, right in ((A, A), (A, squares), (squares, A), (squares, squares)):
        strongest = np.abs((left[:, i] * right[:, j]).T @ (rows.target * np.sqrt(w)[:, None])).max(axis=1)
        products = np.maximum(products, strongest)
    best = np.argsort(-products)[:n_pairs]
    np.testing.assert_allclose(strength, products[best], rtol=1e-3)
    assert {tuple(pair) for pair in pairs} == set(zip(i[best], j[best], strict=True))


@settings(max_examples=30, deadline=None)
@given(d=st.integers(2, 12), n_pairs=st.integers(1, 60), seed=st.integers(0, 100))
def test_no_pair_is_listed_twice_or_in_both_orders(d, n_pairs, seed):
    rng = np.random.default_rng(seed)
    rows = scoring_rows(columns(50, d, seed), rng.standard_normal((50, 2)), None)
    pairs, strength = screen_pairs(rows, rows.target, all_live(d), n_pairs, rng)
    assert len(pairs) == min(n_pairs, d * (d + 1) // 2)
    assert len({frozenset(pair) for pair in pairs.tolist()}) == len(pairs)
    assert (np.diff(strength) <= 0).all()


def test_equally_strong_pairs_share_the_nodes_evenly():
    np.testing.assert_array_equal(np.bincount(share_nodes(np.full(5, 3.0), 40)), 8)
    np.testing.assert_array_equal(np.bincount(share_nodes(np.ones(1), 7)), [7])


def test_a_pair_that_stands_out_gets_most_nodes_and_weak_ones_few():
    counts = np.bincount(share_nodes(np.array([4.0, 1.0, 1.0, 1.0]), 259), minlength=4)
    np.testing.assert_array_equal(counts, [256, 1, 1, 1])


@settings(max_examples=60, deadline=None)
@given(strength=st.lists(st.floats(0.0, 1e3, width=32), min_size=1, max_size=20), n_nodes=st.integers(1, 200))
def test_every_node_gets_a_pair_and_stronger_pairs_no_fewer_nodes(strength, n_nodes):
    strength = np.sort(np.array(strength, dtype=np.float32))[::-1]
    wired = share_nodes(strength, n_nodes)
    assert len(wired) == n_nodes
    assert ((wired >= 0) & (wired < len(strength))).all()
    expected = strength.astype(np.float64) ** 4
    if expected.sum() > 1e-100:
        counts = np.bincount(wired, minlength=len(strength))
        np.testing.assert_allclose(counts, n_nodes * expected / expected.sum(), atol=1.001)


SETTINGS = {
    "n_enhancement": 1500,
    "connections": 3,
    "n_rounds": 1,
    "n_kept": 40,
    "pair_share": 0.3,
    "residual_share": 0.5,
}


def kept_for(X, Y, *, live=None, seed=0, weight=None, n_hidden=4, **changes):
    live = all_live(X.shape[1]) if live is None else live
    rng = np.random.default_rng(seed)
    hidden = draw_hidden(n_hidden, live, rng)
    return keep_nodes(LinearFit(scoring_rows(X, Y, weight), live), hidden, rng, **(SETTINGS | changes))


def heard_by(kept):
    """The nodes that each kept node listens to, as sets."""
    network = kept.network
    rows = network.enhancement[kept.places - network.n_hidden]
    return [set(rows.indices[rows.indptr[i] : rows.indptr[i + 1]].tolist()) for i in range(rows.shape[0])]


@pytest.mark.parametrize("n_rounds", [1, 2])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nodes_on_the_planted_pair_are_kept(seed, n_rounds):
    X = columns(600, 50, seed)
    y = np.sign(X[:, 7] * X[:, 31])[:, None]
    kept = kept_for(X, y, seed=seed, n_rounds=n_rounds)
    assert sum(heard >= {7, 31} for heard in heard_by(kept)) >= 5


def test_nodes_on_the_planted_pair_are_kept_beside_a_strong_main_effect():
    X = columns(600, 50)
    kept = kept_for(X, (3.0 * X[:, 0] + X[:, 7] * X[:, 31])[:, None])
    on_pair = np.array([heard >= {7, 31} for heard in heard_by(kept)])
    assert on_pair[kept.for_residual].sum() >= 5


@pytest.mark.parametrize("n_rounds", [1, 2])
def test_one_seed_keeps_the_same_nodes_on_any_number_of_threads(n_rounds):
    X = columns(300, 40)
    y = (X[:, 1] + X[:, 2] * X[:, 3])[:, None]
    first = kept_for(X, y, n_rounds=n_rounds)
    again = kept_for(X, y, n_rounds=n_rounds)
    with own_threads(3):
        threaded = kept_for(X, y, n_rounds=n_rounds)
    for other in (again, threaded):
        np.testing.assert_array_equal(first.places, other.places)
        np.testing.assert_array_equal(first.for_residual, other.for_residual)
        assert (first.network.enhancement != other.network.enhancement).nnz == 0
        np.testing.assert_allclose(first.coefficients, other.coefficients, atol=1e-6)


def test_as_many_nodes_are_kept_as_asked_for_half_of_them_for_the_residual():
    X = columns(300, 20)
    y = (X[:, 1] + X[:, 2] * X[:, 3])[:, None]
    kept = kept_for(X, y)
    assert kept.n_drawn == 1500
    assert 20 < len(kept.places) <= 40
    assert 0 < kept.for_residual.sum() <= 20
    assert len(set(kept.places)) == len(kept.places)
    assert kept.for_residual.shape == kept.places.shape
    assert not kept_for(X, y, residual_share=0.0).for_residual.any()
    assert kept_for(X, y, residual_share=1.0).for_residual.all()
    assert len(kept_for(X, y, n_enhancement=10).places) <= 10


def test_dead_columns_are_not_heard_by_kept_nodes():
    X = columns(300, 20)
    live = all_live(20)
    live[[2, 3]] = False
    kept = kept_for(X, (X[:, 1] + X[:, 2] * X[:, 3])[:, None], live=live)
    assert not set.union(*heard_by(kept)) & {2, 3}


def test_the_kept_coefficients_give_the_residual_of_each_target():
    X = columns(200, 10)
    Y = X[:, [4, 6, 4]] * [2.0, -3.0, 1.0] + 0.3 * np.random.default_rng(6).standard_normal((200, 3))
    kept = kept_for(X, Y)
    A, T = X - X.mean(axis=0), Y - Y.mean(axis=0)
    ridge = np.linalg.solve(A.T @ A + 10.0 * np.eye(10), A.T @ T)
    np.testing.assert_allclose(kept.coefficients, ridge, atol=1e-4)


def test_gene_markers_that_matter_where_one_of_two_is_mixed_are_found():
    found = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.binomial(2, rng.uniform(0.2, 0.5, 400), (1000, 400))
        y = rng.random(1000) < np.where((X[:, 10] == 1) ^ (X[:, 20] == 1), 0.85, 0.15)
        found.append(set(EasyFS(2, random_state=seed).fit(X, y).order_[:2]) == {10, 20})
    assert sum(found) >= 4


def test_pairs_are_found_beside_strong_columns_among_many():
    for seed in range(3):
        X = columns(800, 1500, seed)
        y = 5.0 * X[:, 0] + X[:, 7] * X[:, 31] + np.random.default_rng(seed).standard_normal(800)
        assert set(EasyFS(3, random_state=seed).fit(X, y).order_[:3]) == {0, 7, 31}


@pytest.mark.parametrize("d", [30, 3000])
def test_where_columns_are_too_many_the_screen_sees_the_most_related_and_some_others(d, monkeypatch):
    monkeypatch.setattr(wiring, "SCREENED_COLUMNS", 20)
    X = columns(400, d)
    y = X[:, [3]] + X[:, [d - 1]] + 2.0 * X[:, [3]] * X[:, [d - 1]]
    rows = scoring_rows(X, y, None)
    pairs, _ = screen_pairs(rows, rows.target, all_live(d), 5, np.random.default_rng(0))
    np.testing.assert_array_equal(pairs[0], [3, d - 1])
    assert len(np.unique(pairs)) <= 20


def test_integer_weights_keep_the_nodes_of_repeated_rows():
    X, rng = columns(200, 12), np.random.default_rng(7)
    y, weight = (X[:, 1] + X[:, 2] * X[:, 3])[:, None], rng.integers(1, 4, 200)
    weighed = kept_for(X, y, weight=weight.astype(float))
    repeated = kept_for(np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0))
    np.testing.assert_allclose(weighed.coefficients, repeated.coefficients, atol=1e-5)
    same = set(map(frozenset, heard_by(weighed))) & set(map(frozenset, heard_by(repeated)))
    assert len(same) >= 0.9 * len(set(map(frozenset, heard_by(repeated))))
