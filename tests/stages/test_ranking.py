"""Stage 4: the paper's ranking, its parts and its scores, against its equations by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from easyfs import EasyFSRanking
from easyfs.stages.ranking import (
    class_contrast,
    importance_order,
    importance_score,
    min_max,
    node_votes,
    rank_inputs,
    top_share,
)

# --- its parts ---


def test_min_max_spans_zero_to_one_and_a_constant_becomes_zero():
    np.testing.assert_allclose(min_max(np.array([3.0, -1.0, 1.0])), [1.0, 0.0, 0.5])
    np.testing.assert_array_equal(min_max(np.full(4, 7.3)), 0.0)
    np.testing.assert_array_equal(min_max(np.array([0.3, 0.1 + 0.2])), 0.0)
    np.testing.assert_array_equal(min_max(np.array([5.0])), 0.0)


def test_importance_score_follows_the_formula_of_the_paper():
    L, Q = np.array([2.0, 6.0, 4.0]), np.array([10.0, 11.0, 14.0])
    expected = [low - 2.0 * q * (1 - np.exp(-q)) for low, q in ((0.0, 0.0), (1.0, 0.25), (0.5, 1.0))]
    np.testing.assert_allclose(importance_score(L, Q, 2.0), expected)
    np.testing.assert_allclose(importance_score(L, Q + 100.0, 2.0), expected)
    np.testing.assert_allclose(importance_score(L, Q, 0.0), [0.0, 1.0, 0.5])


@pytest.mark.parametrize(("share", "expected"), [(0.2, [3]), (0.21, [3, 1]), (0.5, [3, 1, 2]), (1.0, [3, 1, 2, 0, 4])])
def test_top_share_takes_the_smallest_scores_rounded_up(share, expected):
    np.testing.assert_array_equal(top_share(np.array([5.0, 2.0, 3.0, 1.0, 7.0]), share), expected)


def test_top_share_takes_the_lowest_place_among_scores_equal_up_to_rounding():
    scores = np.array([0.5, 0.1 + 0.2, 0.3, 0.3 - 1e-13])
    np.testing.assert_array_equal(top_share(scores, 0.5), [1, 2])


def test_node_votes_count_the_classes_and_weigh_the_nodes():
    scores = [np.array([0.0, 1.0, 2.0, 3.0]), np.array([5.0, 1.0, 2.0, 3.0])]
    np.testing.assert_array_equal(node_votes(scores, 0.5), [1.0, 2.0, 1.0, 0.0])
    np.testing.assert_array_equal(node_votes(scores, 0.5, np.array([3.0, 0.5, 2.0, 9.0])), [3.0, 1.0, 2.0, 0.0])


def test_class_contrast_is_the_variance_between_classes_of_mean_and_spread():
    means, variances = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 3.0], [1.0, 3.0]])
    np.testing.assert_allclose(class_contrast(means, variances, 0.5), [8 / 3, 0.5 * 2.0])


def test_rank_inputs_sums_the_support_of_the_voting_nodes():
    rng = np.random.default_rng(0)
    E, votes = rng.random((10, 4)), rng.random(10)
    blocks = ((part, E[part]) for part in (slice(0, 3), slice(3, 8), slice(8, 10)))
    np.testing.assert_allclose(rank_inputs(votes, blocks, 4), votes @ E)


def test_importance_order_breaks_ties_by_own_score_and_then_by_place():
    importance = np.array([1.0, 3.0, 1.0 + 1e-13, 1.0, 0.0])
    own = np.array([0.5, 9.0, 0.2, 0.2 - 1e-13, -1.0])
    np.testing.assert_array_equal(importance_order(importance, own), [1, 2, 3, 0, 4])
    np.testing.assert_array_equal(importance_order(np.zeros(3), np.array([np.inf, 1.0, 0.0])), [2, 1, 0])


@settings(max_examples=30)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(0, 100))
def test_importance_order_is_a_permutation_sorted_by_importance(importance, seed):
    importance = np.array(importance, dtype=float)
    order = importance_order(importance, np.random.default_rng(seed).standard_normal(len(importance)))
    assert sorted(order) == list(range(len(importance)))
    assert (np.diff(importance[order]) <= 0).all()


# --- from the table to the scores ---

PARAMETERS = {"eps2": 0.4, "lambda1": 0.8, "lambda2": 0.7, "top_share": 0.3, "random_state": 3}


def dense_weights(network):
    d, p = network.n_inputs, network.n_inputs + network.n_extra
    W = np.zeros((p, p))
    W[d : d + network.n_hidden, :d] = network.hidden
    W[d + network.n_hidden :] = network.enhancement.toarray()
    return W


def expanded(W, X, n_rounds):
    signal = np.zeros((len(X), len(W)))
    signal[:, : X.shape[1]] = X
    memory, M = np.zeros_like(signal), signal.copy()
    for _ in range(n_rounds):
        heard = memory + signal @ W.T
        signal = np.maximum(heard, 0.0)
        memory = heard - signal
        M = M + signal
    return M


def rate(M, eps2):
    n, p = M.shape
    return 0.5 * np.linalg.slogdet(np.eye(p) + p / (n * eps2) * M.T @ M)[1]


def redundancy_by_removal(M, eps2):
    return np.array([rate(M, eps2) - rate(np.delete(M, i, axis=1), eps2) for i in range(M.shape[1])])


def unit_range(v):
    return (v - v.min()) / (v.max() - v.min()) if np.ptp(v) > 1e-12 * np.abs(v).max() else np.zeros(len(v))


def paper_scores(X, y, network, *, classes, literal=False):
    """``H`` of each column by the paper's equations, on dense matrices, and the order by ``H``, then by own score."""
    d, T, eps2 = X.shape[1], network.n_rounds, PARAMETERS["eps2"]
    varies = X.std(axis=0) > 0
    X = np.where(varies, (X - X.mean(axis=0)) / np.where(varies, X.std(axis=0), 1.0), 0.0)
    W = dense_weights(network)
    M = expanded(W, X, T)
    nodes = np.flatnonzero(M.std(axis=0) > 1e-6)
    M = M[:, nodes]
    M = M if literal else (M - M.mean(axis=0)) / M.std(axis=0)
    if classes:
        parts = [M[y == k] for k in np.unique(y)]
        L = [part.std(axis=0) for part in parts]
        Q = [redundancy_by_removal(part, eps2) for part in parts]
        means, variances = (np.array([getattr(part, f)(axis=0) for part in parts]) for f in ("mean", "var"))
        weight = means.var(axis=0) + PARAMETERS["lambda2"] * variances.var(axis=0)
    else:
        Y = y.reshape(len(y), -1)
        basis, _ = np.linalg.qr(Y - Y.mean(axis=0))
        centred = M - M.mean(axis=0)
        L = [basis.shape[1] - ((centred.T @ basis) ** 2).sum(axis=1) / (centred**2).sum(axis=0)]
        Q = [redundancy_by_removal(M, eps2)]
        weight = np.ones(len(nodes))
    E = np.abs(np.linalg.matrix_power(W + np.eye(len(W)), T))[nodes, :d]
    H, own = np.zeros(d), np.zeros(len(nodes))
    for relevance, redundancy in zip(L, Q, strict=True):
        q = unit_range(redundancy)
        S = unit_range(relevance) - PARAMETERS["lambda1"] * q * (1 - np.exp(-q))
        top = np.argsort(np.round(S, 9), kind="stable")[: int(np.ceil(PARAMETERS["top_share"] * len(nodes)))]
        H += weight[top] @ E[top]
        own += S / len(L)
    own_score = np.full(d, np.inf)
    own_score[nodes[nodes < d]] = own[nodes < d]
    return H, np.lexsort((own_score, -np.round(H, 9)))


def tiny_table(n, d, seed, *, classes):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + rng.standard_normal((n, d)) * rng.uniform(0.5, 4.0, d)
    signal = X[:, 0] + X[:, 1] * X[:, 2]
    return X, np.digitize(signal, np.quantile(signal, [0.3, 0.7])) if classes else signal + rng.standard_normal(n)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("n_rounds", [1, 2, 3])
@pytest.mark.parametrize(("n", "d", "n_hidden", "n_enhancement"), [(60, 6, 3, 8), (18, 7, 5, 12), (40, 6, 0, 0)])
def test_ranking_scores_equal_the_paper_s_equations(n, d, n_hidden, n_enhancement, n_rounds, classes):
    X, y = tiny_table(n, d, seed=n + n_rounds, classes=classes)
    selector = EasyFSRanking(3, n_hidden=n_hidden, n_enhancement=n_enhancement, n_rounds=n_rounds, **PARAMETERS)
    selector.partial_fit(X, y)
    expected, order = paper_scores(X, y, selector.plan_.network, classes=classes)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(selector.order_, order)
    np.testing.assert_allclose(selector.fit(X, y).scores_, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("classes", [False, True])
def test_literal_ranking_scores_equal_the_paper_s_equations_without_scaled_nodes(classes):
    X, y = tiny_table(50, 6, seed=5, classes=classes)
    selector = EasyFSRanking(3, n_hidden=4, n_enhancement=9, n_rounds=2, literal=True, **PARAMETERS).partial_fit(X, y)
    expected, order = paper_scores(X, y, selector.plan_.network, classes=classes, literal=True)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(selector.order_, order)
    assert np.linalg.norm(selector.plan_.network.hidden, axis=1).max() > 1.5


def test_ranking_scores_of_several_targets_equal_the_paper_s_equations():
    X, y = tiny_table(50, 6, seed=6, classes=False)
    Y = np.column_stack([y, 100.0 * X[:, 4] + y, np.random.default_rng(7).standard_normal(50)])
    selector = EasyFSRanking(3, n_hidden=4, n_enhancement=9, **PARAMETERS).partial_fit(X, Y)
    expected, order = paper_scores(X, Y, selector.plan_.network, classes=False)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-7)
    np.testing.assert_array_equal(selector.order_, order)


@pytest.mark.parametrize("classes", [False, True])
def test_ranking_scores_hold_with_a_class_of_one_row_a_constant_column_and_a_copy(classes):
    X, y = tiny_table(40, 7, seed=8, classes=classes)
    X[:, 2], X[:, 5] = 4.0, X[:, 1]
    if classes:
        y[11] = 9
    selector = EasyFSRanking(3, n_hidden=4, n_enhancement=9, **PARAMETERS).partial_fit(X, y)
    expected, _ = paper_scores(X, y, selector.plan_.network, classes=classes)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-7, atol=1e-9)
    assert selector.scores_[2] == 0.0
    assert selector.order_[-1] == 2


@pytest.mark.parametrize("classes", [False, True])
def test_ranking_scores_of_weighted_rows_equal_those_of_repeated_rows(classes):
    X, y = tiny_table(30, 6, seed=9, classes=classes)
    weight = np.random.default_rng(10).integers(1, 4, 30)
    options = {"n_hidden": 4, "n_enhancement": 9} | PARAMETERS
    weighed = EasyFSRanking(3, **options).fit(X, y, sample_weight=weight)
    repeated = EasyFSRanking(3, **options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighed.scores_, repeated.scores_, rtol=1e-7)


@pytest.mark.parametrize("classes", [False, True])
def test_ranking_scores_of_a_sparse_table_equal_those_of_the_dense_one(classes):
    X, y = tiny_table(40, 6, seed=11, classes=classes)
    X = np.where(np.random.default_rng(12).random(X.shape) < 0.5, 0.0, X)
    options = {"n_hidden": 4, "n_enhancement": 9} | PARAMETERS
    thin, dense = EasyFSRanking(3, **options).fit(sparse.csr_array(X), y), EasyFSRanking(3, **options).fit(X, y)
    np.testing.assert_allclose(thin.scores_, dense.scores_, rtol=1e-7)


def test_a_table_of_constant_columns_cannot_be_ranked():
    with pytest.raises(ValueError, match="all 4 columns are constant"):
        EasyFSRanking(2, **PARAMETERS).fit(np.ones((10, 4)), np.arange(10.0) ** 2)
