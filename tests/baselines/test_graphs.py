"""Graphs of the rows, against slow and obvious code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg, sparse
from threadpoolctl import threadpool_limits

from easyfs.baselines import graphs
from easyfs.baselines.graphs import (
    TREE_COLUMNS,
    ClassGraph,
    components,
    degrees,
    leading_eigenvectors,
    nearest_neighbors,
    neighbor_graph,
    smoothness,
    typical_distance,
)
from easyfs.common.threads import threads_for

from .parity import cases, load

Array = NDArray[Any]

FEW, MANY = TREE_COLUMNS - 3, TREE_COLUMNS + 5


def squared_distances(X: Array) -> Array:
    return np.array([[np.square(a - b).sum() for b in X] for a in X])


def cosines(X: Array) -> Array:
    def cosine(a: Array, b: Array) -> float:
        lengths = np.linalg.norm(a) * np.linalg.norm(b)
        return float(a @ b / lengths) if lengths > 0 else 0.0

    return np.array([[cosine(a, b) for b in X] for a in X])


def nearest_slowly(far: Array, k: int) -> list[list[int]]:
    """Sort the other rows by distance to nine digits, then by number."""
    found = []
    for i, row in enumerate(far):
        others = sorted((j for j in range(len(row)) if j != i), key=lambda j: (round(row[j], 9), j))
        found.append(sorted(others[:k]))
    return found


def graph_slowly(X: Array, k: int, weights: str, metric: str, width: float) -> Array:
    n = len(X)
    similar = cosines(X)
    if metric == "cosine":
        far = -similar
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        squares = squared_distances(X / np.where(lengths > 0, lengths, 1.0))
    else:
        far = squares = squared_distances(X)
    W = np.eye(n)
    for i, neighbors in enumerate(nearest_slowly(far, k)):
        for j in neighbors:
            value = {"binary": 1.0, "heat": np.exp(-squares[i, j] / (2 * width**2)), "cosine": max(similar[i, j], 0.0)}
            W[i, j] = value[weights]
    return np.maximum(W, W.T)


def tables(m: int) -> dict[str, Array]:
    rng = np.random.default_rng(m)
    normal = rng.standard_normal((70, m))
    half_zero = normal.copy()
    half_zero[::2] = 0.0
    two_places = rng.standard_normal((70, m))
    two_places[::3] += 50.0
    return {
        "normal": normal,
        "whole numbers": rng.integers(-1, 2, (70, m)).astype(np.float64),
        "rows repeated": np.repeat(normal[:9], 8, axis=0),
        "half zero": half_zero,
        "two places": two_places,
        "two rows": normal[:2],
        "three rows": normal[:3],
    }


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("m", [1, FEW, MANY])
@pytest.mark.parametrize("name", list(tables(2)))
def test_neighbors_equal_those_of_a_sort_by_distance_and_row(name: str, m: int, metric: str) -> None:
    X = tables(m)[name]
    for k in (1, 5, 100):
        k_found = min(k, len(X) - 1)
        expected = nearest_slowly(squared_distances(X) if metric == "euclidean" else -cosines(X), k_found)
        np.testing.assert_array_equal(nearest_neighbors(X, k, metric), expected)


@pytest.mark.parametrize("m", [FEW, MANY])
def test_neighbors_in_several_blocks(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"DISTANCES": 1 << 16, "DIFFERENCES": 1 << 15, "TREE_ROWS": 256}.items():
        monkeypatch.setattr(graphs, name, value)
    rng = np.random.default_rng(0)
    for X in (rng.standard_normal((650, m)), rng.integers(0, 3, (650, m)).astype(np.float64)):
        far = np.stack([np.square(X - row).sum(axis=1) for row in X])
        far[np.diag_indices(len(X))] = np.inf
        expected = np.sort(np.argsort(np.round(far, 9), axis=1, kind="stable")[:, :4], axis=1)
        np.testing.assert_array_equal(nearest_neighbors(X, 4), expected)


@pytest.mark.parametrize("m", [FEW, MANY])
def test_neighbors_within_clusters_that_are_far_apart_are_not_lost_in_rounding(m: int) -> None:
    rng = np.random.default_rng(1)
    near = np.round(rng.standard_normal((60, m)), 3)
    X = near + np.repeat([0.0, 1e9], 30)[:, None]
    halves = [nearest_slowly(squared_distances(half), 3) for half in (near[:30], near[30:])]
    expected = np.concatenate([halves[0], np.array(halves[1]) + 30])
    np.testing.assert_array_equal(nearest_neighbors(X, 3), expected)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("weights", ["binary", "heat", "cosine"])
@pytest.mark.parametrize("m", [FEW, MANY])
@pytest.mark.parametrize("name", list(tables(2)))
def test_graph_equals_its_definition(name: str, m: int, weights: str, metric: str) -> None:
    X = tables(m)[name]
    W = neighbor_graph(X, 5, weights=weights, metric=metric, width=2.0)
    expected = graph_slowly(X, min(5, len(X) - 1), weights, metric, 2.0)
    np.testing.assert_allclose(W.toarray(), expected, rtol=1e-12, atol=1e-14)
    assert (W != W.T).nnz == 0
    assert W.nnz <= (2 * 5 + 1) * len(X)
    np.testing.assert_array_equal(W.diagonal(), 1.0)


def test_width_is_the_root_mean_squared_distance_by_default() -> None:
    X = tables(4)["two places"]
    width = np.sqrt(squared_distances(X).mean())
    assert typical_distance(X) == pytest.approx(width, rel=1e-12)
    default, given = neighbor_graph(X, 5), neighbor_graph(X, 5, width=width)
    np.testing.assert_allclose(default.toarray(), given.toarray(), rtol=1e-12)


@pytest.mark.parametrize("m", [FEW, MANY])
def test_graph_does_not_depend_on_threads_or_layout(m: int) -> None:
    X = np.random.default_rng(0).integers(0, 3, (3000, m)).astype(np.float64)
    graphs = []
    for threads in (1, 2):
        with threadpool_limits(threads), threads_for(*X.shape):
            graphs.append(neighbor_graph(X, 5))
    graphs.append(neighbor_graph(np.asfortranarray(X), 5))
    for other in graphs[1:]:
        np.testing.assert_array_equal(graphs[0].indices, other.indices)
        np.testing.assert_array_equal(graphs[0].indptr, other.indptr)
        np.testing.assert_allclose(graphs[0].data, other.data, rtol=1e-13)


@pytest.mark.parametrize("stem", cases("lap_score"))
def test_graph_equals_the_reference(stem: str) -> None:
    stored = load(stem)
    given = stored["params"]["graph"]
    weights = {"heat_kernel": "heat"}.get(given["weight_mode"], given["weight_mode"])
    W = neighbor_graph(stored["X"], given["k"], weights=weights, metric=given["metric"], width=given.get("t"))
    np.testing.assert_allclose(W.toarray(), stored["W"], rtol=1e-9, atol=1e-12)


def class_matrix(codes: Array) -> Array:
    same = codes[:, None] == codes
    return same / same.sum(axis=1)


def test_class_graph_equals_its_matrix() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 50)
    V = rng.standard_normal((50, 3))
    np.testing.assert_allclose(ClassGraph(codes) @ V, class_matrix(codes) @ V, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ClassGraph(codes * 7 + 2) @ V[:, 0], class_matrix(codes) @ V[:, 0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(degrees(ClassGraph(codes)), 1.0, rtol=1e-14)


def smoothness_slowly(W: Array, X: Array) -> tuple[list[float], list[float]]:
    d = W.sum(axis=1)
    changes, spread = [], []
    for column in X.T:
        f = column - (column @ d) / d.sum()
        changes.append(sum(W[i, j] * (f[i] - f[j]) ** 2 for i in range(len(f)) for j in range(i)))
        spread.append(sum(d[i] * f[i] ** 2 for i in range(len(f))))
    return changes, spread


def test_smoothness_equals_sums_over_edges() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5)) + 100.0
    codes = rng.integers(0, 3, 40)
    sparse_graph = neighbor_graph(X, 4)
    dense = rng.random((40, 40))
    dense += dense.T
    for W, matrix in ((sparse_graph, sparse_graph.toarray()), (dense, dense), (ClassGraph(codes), class_matrix(codes))):
        for found, expected in zip(smoothness(W, X), smoothness_slowly(matrix, X), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_smoothness_on_light_edges_keeps_its_digits() -> None:
    X = np.random.default_rng(0).standard_normal((40, 5))
    W = neighbor_graph(X, 4, width=0.1)
    assert np.median(W.data[W.data < 1]) < 1e-20
    for graph in (W, W.toarray()):
        np.testing.assert_allclose(smoothness(graph, X)[0], smoothness_slowly(W.toarray(), X)[0], rtol=1e-10)


def normalized(W: Any) -> Array:
    matrix = W.toarray() if sparse.issparse(W) else W
    root = np.sqrt(matrix.sum(axis=1))
    return np.asarray(matrix / np.outer(root, root))


def assert_leading(W: Any, count: int, tolerance: float = 1e-9) -> tuple[Array, Array]:
    """Orthonormal eigenvectors of the largest eigenvalues, beside the trivial one."""
    A = normalized(W)
    values, vectors = leading_eigenvectors(W, count)
    expected = np.linalg.eigvalsh(A)[-2::-1][:count]
    np.testing.assert_allclose(values, expected, atol=tolerance)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=tolerance)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=tolerance)
    np.testing.assert_allclose(np.sqrt(degrees(W)) @ vectors, 0.0, atol=tolerance * len(A))
    return values, vectors


def test_eigenvectors_of_small_graphs() -> None:
    X = np.random.default_rng(0).standard_normal((60, 4))
    W = neighbor_graph(X, 5)
    for graph in (W, W.toarray()):
        for count in (1, 5, 59, 80):
            assert_leading(graph, count)
        _, vectors = leading_eigenvectors(graph, 5)
        _, all_vectors = linalg.eigh(normalized(W))
        np.testing.assert_allclose(np.abs(vectors), np.abs(all_vectors[:, -2:-7:-1]), atol=1e-9)


def test_eigenvectors_of_large_graphs_are_the_same_by_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "DENSE_ROWS", 200)
    X = np.random.default_rng(0).standard_normal((250, 6))
    W = neighbor_graph(X, 5)
    assert_leading(W, 6)
    assert_leading(np.exp(-np.stack([np.square(X - row).sum(axis=1) for row in X]) / 6), 6)


def test_eigenvectors_along_a_line_where_gaps_are_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "DENSE_ROWS", 200)
    places = np.arange(300.0)[:, None]
    W = neighbor_graph(places, 2, weights="binary")
    values, vectors = assert_leading(W, 4, tolerance=1e-8)
    assert values[0] > 1 - 1e-3
    # They are waves of one, two, three and four half periods.
    crossings = np.count_nonzero(np.diff(np.sign(vectors), axis=0), axis=0)
    np.testing.assert_array_equal(crossings, [1, 2, 3, 4])


def test_parts_of_a_graph_are_told_apart_from_the_largest() -> None:
    rng = np.random.default_rng(0)
    part = np.array([2] * 10 + [0] * 30 + [1] * 20)
    X = rng.standard_normal((60, 3)) + 1e3 * part[:, None]
    W = neighbor_graph(X, 5)
    count, labels = components(W)
    assert count == 3
    assert all(len(set(labels[part == p])) == 1 for p in range(3))
    values, vectors = assert_leading(W, 5)
    np.testing.assert_allclose(values[:2], 1.0, rtol=1e-14)
    assert (values[2:] < 1 - 1e-6).all()
    embedded = vectors / np.sqrt(degrees(W))[:, None]
    for j in range(2):
        for p in range(3):
            assert np.ptp(embedded[part == p, j]) < 1e-12
    assert embedded[part == 0, 0][0] * embedded[part == 1, 0][0] < 0
    assert embedded[part == 1, 0][0] == pytest.approx(embedded[part == 2, 0][0])
    assert embedded[part == 0, 1][0] == pytest.approx(0.0, abs=1e-14)
    assert embedded[part == 1, 1][0] * embedded[part == 2, 1][0] < 0
    np.testing.assert_allclose(leading_eigenvectors(W, 1)[1], vectors[:, :1], atol=1e-12)


def test_large_graphs_of_several_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "DENSE_ROWS", 200)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5)) + 1e3 * (np.arange(300) % 3 == 0)[:, None]
    values, _ = assert_leading(neighbor_graph(X, 5), 4)
    assert values[0] == pytest.approx(1.0, rel=1e-14)
    assert values[1] < 1 - 1e-6


@pytest.mark.parametrize("distinct", [2, 3, 5])
def test_rows_that_repeat_have_many_equal_eigenvalues_and_all_vectors_are_found(distinct: int) -> None:
    X = np.tile(np.random.default_rng(0).standard_normal((distinct, 3)), (20, 1))
    for n_neighbors in (2, 5):
        W = neighbor_graph(X, n_neighbors)
        for count in (1, 2, 5, 100):
            assert_leading(W, count)


def test_edges_that_rounding_hides_do_not_join() -> None:
    X = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    W = neighbor_graph(X, 3, width=1.0)
    assert 0 < W.toarray()[2, 3] < 1e-10
    assert components(W)[0] == 2
    assert components(ClassGraph(np.array([0, 1, 1])))[0] == 2
    assert components(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.5, 1.0]]))[0] == 2
    assert components(np.ones((3, 3)))[0] == 1
