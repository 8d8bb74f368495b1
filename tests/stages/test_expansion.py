"""Stage 1: the network against a dense matrix that follows the paper's equations."""

import numpy as np
import pytest
from scipy import sparse

from easyfs.stages.expansion import Network, draw_enhancement, draw_hidden
from easyfs.sums.measuring import measure_scaling
from easyfs.sums.sparse import ScaledSparse

ROUNDS = (1, 2, 3)


def draw(d, n_hidden, n_enhancement, n_rounds, *, connections=3, live=None, seed=0, **options):
    rng = np.random.default_rng(seed)
    live = np.ones(d, dtype=bool) if live is None else live
    hidden = draw_hidden(n_hidden, live, rng)
    enhancement = draw_enhancement(n_enhancement, connections, live, n_hidden, n_rounds, rng, **options)
    return Network(d, hidden, enhancement, n_rounds)


def dense_weights(network):
    """``W`` as the paper writes it: row ``i`` holds what node ``i`` hears."""
    d, p = network.n_inputs, network.n_inputs + network.n_extra
    W = np.zeros((p, p))
    W[d : d + network.n_hidden, :d] = network.hidden
    W[d + network.n_hidden :] = network.enhancement.toarray()
    return W


def expand_densely(W, X, n_rounds):
    """Eqs. rmn_1 to rmn_3 with ``I_0 = [X, 0]``, ``h_0 = 0`` and ``M_0 = I_0``; one row a sample."""
    signal = np.zeros((len(X), len(W)))
    signal[:, : X.shape[1]] = X
    memory, M = np.zeros_like(signal), signal.copy()
    for _ in range(n_rounds):
        heard = memory + signal @ W.T
        signal = np.maximum(heard, 0.0)
        memory = heard - signal
        M = M + signal
    return M


@pytest.mark.parametrize("n_rounds", ROUNDS)
@pytest.mark.parametrize(
    ("n", "d", "n_hidden", "n_enhancement"),
    [(9, 6, 4, 15), (9, 6, 0, 15), (9, 6, 4, 0), (9, 6, 0, 0), (1200, 7, 3, 20), (40, 400, 5, 500)],
)
def test_expansion_follows_the_dynamics_of_the_paper(n, d, n_hidden, n_enhancement, n_rounds):
    network = draw(d, n_hidden, n_enhancement, n_rounds)
    X = np.random.default_rng(1).standard_normal((n, d))
    M = expand_densely(dense_weights(network), X, n_rounds)
    np.testing.assert_array_equal(M[:, :d], X)
    np.testing.assert_allclose(network.expand(X), M[:, d:], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_rounds", ROUNDS)
def test_expansion_of_float32_rows_is_float32_and_close(n_rounds):
    network = draw(8, 4, 30, n_rounds)
    X = np.random.default_rng(2).standard_normal((50, 8)).astype(np.float32)
    M = network.expand(X)
    assert M.dtype == np.float32
    np.testing.assert_allclose(M, expand_densely(dense_weights(network), X, n_rounds)[:, 8:], atol=1e-5)


@pytest.mark.parametrize("n_rounds", ROUNDS)
@pytest.mark.parametrize("d", [10, 400])
def test_sparse_rows_expand_as_dense_rows_do(d, n_rounds):
    rng = np.random.default_rng(3)
    S = sparse.csr_array(np.where(rng.random((60, d)) < 0.2, rng.random((60, d)), 0.0))
    scaling = measure_scaling(S)
    network = draw(d, 5, 300, n_rounds)
    expected = network.expand(scaling.apply(S.toarray())[0])
    np.testing.assert_allclose(network.expand(ScaledSparse(S, scaling)), expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n_rounds", ROUNDS)
@pytest.mark.parametrize(("n_hidden", "n_enhancement"), [(4, 20), (0, 20), (4, 0), (0, 0)])
def test_support_is_the_absolute_matrix_power(n_hidden, n_enhancement, n_rounds):
    d = 6
    network = draw(d, n_hidden, n_enhancement, n_rounds)
    W = dense_weights(network)
    expected = np.abs(np.linalg.matrix_power(W + np.eye(len(W)), n_rounds))[:, :d]
    for size in (7, 256):
        found = np.full_like(expected, np.nan)
        for nodes, E in network.support(size=size):
            found[nodes] = E
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    some = np.arange(len(W))[::-3]
    found = np.concatenate([E for _, E in network.support(some, size=2)])
    np.testing.assert_allclose(found, expected[some], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_rounds", ROUNDS)
@pytest.mark.parametrize(("d", "connections"), [(5, 3), (60, 3), (60, 8), (1000, 3)])
def test_enhancement_nodes_listen_to_distinct_nodes(d, connections, n_rounds):
    network = draw(d, 3, 200, n_rounds, connections=connections)
    np.testing.assert_array_equal(np.diff(network.enhancement.indptr), connections)
    for row in range(200):
        heard = network.enhancement.indices[network.enhancement.indptr[row] : network.enhancement.indptr[row + 1]]
        assert len(set(heard)) == connections


@pytest.mark.parametrize("n_rounds", ROUNDS)
def test_dead_columns_are_heard_by_nobody(n_rounds):
    live = np.random.default_rng(6).random(30) < 0.5
    network = draw(30, 10, 300, n_rounds, live=live)
    assert not network.hidden[:, ~live].any()
    assert network.hidden[:, live].all()
    heard = np.unique(network.enhancement.indices)
    assert set(np.flatnonzero(live)) <= set(heard)
    assert not np.isin(heard, np.flatnonzero(~live)).any()


def test_with_one_round_enhancement_nodes_hear_inputs_only_and_with_two_all_nodes():
    assert draw(20, 5, 400, 1).enhancement.indices.max() < 20
    heard = draw(20, 5, 400, 2).enhancement.indices
    assert (heard < 20).any()
    assert ((heard >= 20) & (heard < 25)).any()
    assert (heard >= 25).any()


def test_fewer_live_columns_than_connections_are_all_heard():
    live = np.array([False, True, False, True, False])
    network = draw(5, 0, 6, 1, connections=3, live=live)
    np.testing.assert_array_equal(np.diff(network.enhancement.indptr), 2)
    assert set(network.enhancement.indices) == {1, 3}


def test_without_live_columns_nobody_hears_anything():
    network = draw(4, 3, 6, 1, live=np.zeros(4, dtype=bool))
    assert network.enhancement.nnz == 0
    np.testing.assert_array_equal(network.expand(np.ones((2, 4))), 0.0)


@pytest.mark.parametrize("n_rounds", ROUNDS)
def test_rows_of_weights_have_unit_norm(n_rounds):
    live = np.arange(40) % 3 != 0
    network = draw(40, 70, 200, n_rounds, live=live)
    np.testing.assert_allclose(np.linalg.norm(network.hidden, axis=1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(np.sqrt((network.enhancement**2).sum(axis=1)), 1.0, rtol=1e-5)


def test_literal_rows_keep_the_norm_they_were_drawn_with():
    rng = np.random.default_rng(7)
    live = np.ones(400, dtype=bool)
    assert np.linalg.norm(draw_hidden(50, live, rng, unit_rows=False), axis=1).mean() == pytest.approx(20.0, rel=0.05)
    enhancement = draw_enhancement(2000, 4, live, 0, 1, rng, unit_rows=False)
    assert (enhancement**2).sum(axis=1).mean() == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("n_rounds", ROUNDS)
def test_one_seed_gives_one_network_and_another_seed_another(n_rounds):
    first, again, other = (draw(12, 40, 30, n_rounds, seed=seed) for seed in (8, 8, 9))
    np.testing.assert_array_equal(first.hidden, again.hidden)
    np.testing.assert_array_equal(first.enhancement.toarray(), again.enhancement.toarray())
    assert not (first.hidden == other.hidden).any()
    assert (first.enhancement != other.enhancement).nnz > 0


def test_hidden_nodes_are_drawn_independently_of_one_another():
    hidden = draw(2000, 100, 0, 1).hidden
    overlap = hidden @ hidden.T - np.eye(100)
    assert np.abs(overlap).max() < 6 / np.sqrt(2000)
