"""Graphs of the rows that say which of them are alike, and what the methods without a target need of them.

A graph is a symmetric matrix ``W`` of weights: a sparse one of nearest neighbours, a dense one, or a :class:`ClassGraph`.
Its degrees are ``D = diag(W 1)`` and its Laplacian is ``L = D - W``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu
from sklearn.neighbors import KDTree

from easyfs.baselines.base import Problem
from easyfs.common.parameters import check_choice, check_number
from easyfs.common.threads import block_slices, for_blocks, map_blocks
from easyfs.common.types import Array

WEIGHTS = ("binary", "heat", "cosine")
METRICS = ("euclidean", "cosine")
EPS = float(np.finfo(np.float64).eps)

# In more columns than this a tree has to look at most rows anyway, and products of whole blocks are faster.
TREE_COLUMNS = 8
TREE_ROWS = 1024
# Rows of which the nearest is looked at first.
GROUP = 128
# Numbers in a block of distances, and in a block of differences between neighbours.
DISTANCES, DIFFERENCES = 1 << 20, 1 << 19
# Columns whose smoothness is measured at a time.
COLUMNS = 256
# Up to here all eigenvectors of a dense matrix take less time than the wanted ones by iteration.
DENSE_ROWS = 1000
# Restarts after which products with the matrix give way to a factorisation, and the distance of that from the eigenvalue 1.
RESTARTS, SHIFT = 50, 1e-6
# Edges of this share of the degrees, or less, are dropped before eigenvectors are sought.
LIGHT = 1e-10


class ClassGraph:
    """The graph that joins the rows of a class: ``W_ij = 1 / n_c`` if both are in class c, and 0 otherwise.

    Only the class of each row is stored. All degrees are 1, and ``W f`` replaces values by the mean of their class.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Class of each row, from 0.
    """

    def __init__(self, codes: Array):
        self.codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
        self.sizes = np.bincount(self.codes)
        n = len(self.codes)
        self.shape = (n, n)
        self._members = sparse.csr_array((np.ones(n), self.codes, np.arange(n + 1)), shape=(n, len(self.sizes)))

    def __matmul__(self, V: Array) -> Array:
        sums = self._members.T @ V
        return np.asarray(self._members @ (sums.T / self.sizes).T)


def check_graph_parameters(n_neighbors: Any, weights: Any, metric: Any, width: Any) -> None:
    """Check the parameters of :func:`neighbor_graph`."""
    check_number("n_neighbors", n_neighbors, 1, whole=True)
    check_choice("weights", weights, WEIGHTS)
    check_choice("metric", metric, METRICS)
    if width is not None:
        check_number("width", width, 0.0, above=True)


def table_of(problem: Problem, standardize: bool) -> Array:
    """The columns in float64, row after row, standardised or as they are; it may be the caller's own array."""
    return np.ascontiguousarray(problem.standardized() if standardize else problem.X, dtype=np.float64)


def neighbor_graph(
    X: Array, n_neighbors: int, *, weights: str = "heat", metric: str = "euclidean", width: float | None = None
) -> sparse.csr_array:
    """Join each row with its nearest neighbours.

    A row is joined with those it is nearest to and with those that are nearest to it (``max(W, W')``), and with itself by
    a weight of 1. Among neighbours at the same distance those that come first in the table are taken. Memory grows
    with the number of rows times the number of neighbours.

    Parameters
    ----------
    X : ndarray of shape (n, m)
    n_neighbors : int
        Neighbours of each row, itself not counted; at most all others are taken.
    weights : {"binary", "heat", "cosine"}, default="heat"
        "binary": 1. "heat": ``exp(-distance^2 / (2 width^2))``. "cosine": the cosine of the angle between the rows, and 0
        where that is negative.
    metric : {"euclidean", "cosine"}, default="euclidean"
        What near means: the Euclidean distance of the rows, or a large cosine, which is the Euclidean distance of rows
        scaled to length 1. A row of zeros has a cosine of 0 with all others.
    width : float, optional
        Width of the heat kernel; by default the root of the mean squared distance of any two rows.

    Returns
    -------
    csr_array of shape (n, n)
    """
    n = len(X)
    rows = _places(X, metric)
    found = nearest_neighbors(X, n_neighbors, metric)
    if weights == "binary":
        values = np.ones(found.shape)
    elif weights == "cosine":
        values = np.clip(_pairs(_places(X, "cosine"), found, products=True), 0.0, 1.0)
    else:
        values = np.exp(-_pairs(rows, found) / (2.0 * (typical_distance(rows) if width is None else width) ** 2))
    # Each row comes first among its own neighbours.
    found = np.column_stack([np.arange(n), found])
    values = np.column_stack([np.ones(n), values])
    W = sparse.csr_array((values.ravel(), found.ravel(), np.arange(n + 1) * found.shape[1]), shape=(n, n))
    W.sort_indices()
    W = sparse.csr_array(W.maximum(W.T))
    W.eliminate_zeros()
    return W


def nearest_neighbors(X: Array, n_neighbors: int, metric: str = "euclidean") -> Array:
    """Find the nearest other rows of each row.

    Where rounding leaves in doubt which they are, Euclidean distances are taken anew, entry by entry. Those that are then
    equal up to rounding count as tied, and of them the first in the table are taken.

    Parameters
    ----------
    X : ndarray of shape (n, m)
    n_neighbors : int
        Neighbours of each row; at most all others are taken.
    metric : {"euclidean", "cosine"}, default="euclidean"

    Returns
    -------
    ndarray of int, shape (n, min(n_neighbors, n - 1))
        Row numbers, ascending.
    """
    n, m = X.shape
    k = min(n_neighbors, n - 1)
    cosine = metric == "cosine"
    rows = _places(X, metric)
    squares = np.zeros(n) if cosine else np.einsum("ij,ij->i", rows, rows)
    tree = KDTree(rows) if not cosine and m <= TREE_COLUMNS else None
    same = _first_of_same(rows)
    rounding = (m + 4) * EPS
    found = np.empty((n, k), dtype=np.intp)

    def fill(block: slice) -> None:
        if tree is None:
            own, other, far = _near_by_products(rows, squares, block, k, 8.0 * rounding)
        else:
            own, other, far = _near_in_tree(tree, rows[block], k, 8.0 * rounding)
        apart = own + block.start != other
        own, other, far = own[apart], other[apart], far[apart]
        ends = np.cumsum(np.bincount(own, minlength=block.stop - block.start))
        for i, start, end in zip(range(block.start, block.stop), np.append(0, ends), ends, strict=False):
            some = other[start:end]
            if len(some) == k:
                found[i] = some
            elif cosine:
                found[i] = some[_nearest(far[start:end], k, 8.0 * rounding)]
            else:
                distinct, place = np.unique(same[some], return_inverse=True)
                away = rows[distinct] - rows[i]
                squared = np.einsum("ij,ij->i", away, away)[place]
                found[i] = some[_nearest(squared, k, rounding * np.partition(squared, k - 1)[k - 1])]

    for_blocks(fill, block_slices(n, min(max(DISTANCES // n, 16), 1024) if tree is None else TREE_ROWS))
    return found


def _first_of_same(rows: Array) -> Array:
    """For each row the first that is equal to it."""
    first: dict[bytes, int] = {}
    return np.array([first.setdefault(blake2b(row, digest_size=16).digest(), i) for i, row in enumerate(rows)])


def _near_by_products(rows: Array, squares: Array, block: slice, k: int, rounding: float) -> tuple[Array, Array, Array]:
    """Pairs of a row of the block and another that may be among its k nearest, by products of whole blocks.

    Also how far apart they are, up to a constant for each row. With squares of zero, rows are near whose product is large.
    """
    n = len(rows)
    D = (-2.0 * rows[block]) @ rows.T
    D += squares
    D[np.arange(len(D)), np.arange(block.start, block.stop)] = np.inf
    # The k-th nearest is not further away than the k-th of the nearest of each group of rows.
    starts = np.arange(0, n, max(1, min(GROUP, n // (4 * k))))
    reach = np.partition(np.minimum.reduceat(D, starts, axis=1), k - 1, axis=1)[:, k - 1]
    own = squares[block]
    furthest = (np.sqrt(own) + np.sqrt(np.maximum(reach + own, 0.0))) ** 2
    slack = rounding * (own + furthest if squares.any() else 1.0)
    first, second = np.nonzero((reach + slack)[:, None] >= D)
    return first, second, D[first, second]


def _near_in_tree(tree: KDTree, block: Array, k: int, rounding: float) -> tuple[Array, Array, Array]:
    """As ``_near_by_products``, by a tree; each row is among its own nearest."""
    reach = tree.query(block, k + 1)[0][:, -1]
    some, far = tree.query_radius(block, reach * (1.0 + rounding), return_distance=True)
    first, second = np.repeat(np.arange(len(block)), [len(s) for s in some]), np.concatenate(some)
    order = np.lexsort((second, first))
    return first[order], second[order], np.concatenate(far)[order]


def _nearest(far: Array, k: int, rounding: float) -> Array:
    """Which k are nearest; of those that are equally far up to rounding, the first."""
    reach = np.partition(far, k - 1)[k - 1]
    chosen: Array = far < reach - rounding
    tied = np.flatnonzero(~chosen & (far <= reach + rounding))
    chosen[tied[: k - np.count_nonzero(chosen)]] = True
    return chosen


def _pairs(rows: Array, found: Array, *, products: bool = False) -> Array:
    """Squared distances of each row to those found for it, or their products."""
    values = np.empty(found.shape)

    def fill(block: slice) -> None:
        others = rows[found[block]]
        if products:
            values[block] = np.einsum("ijk,ik->ij", others, rows[block])
        else:
            others -= rows[block][:, None]
            values[block] = np.einsum("ijk,ijk->ij", others, others)

    for_blocks(fill, block_slices(len(rows), max(1, DIFFERENCES // (found.shape[1] * rows.shape[1]))))
    return values


def _places(X: Array, metric: str) -> Array:
    """Rows whose Euclidean distances tell who is near, one after another in memory."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    return _unit_rows(X) if metric == "cosine" else np.asarray(X - X.mean(axis=0))


def _unit_rows(X: Array) -> Array:
    """Rows scaled to length 1; rows of zeros stay as they are."""
    largest = np.abs(X).max(axis=1, keepdims=True)
    scaled = X / np.where(largest > 0, largest, 1.0)
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    scaled /= np.where(length > 0, length, 1.0)[:, None]
    return np.asarray(scaled)


def typical_distance(rows: Array) -> float:
    """Root of the mean squared distance of two rows, over all pairs: ``sqrt(2 * sum of variances)``."""
    return float(np.sqrt(2.0 * rows.var(axis=0).sum())) or 1.0


def degrees(W: Any) -> Array:
    """Sum of the weights of each row."""
    return np.asarray(W @ np.ones(W.shape[0]))


def smoothness(W: Any, X: Array) -> tuple[Array, Array]:
    """How much columns change along a graph, and how much they vary at all.

    Parameters
    ----------
    W : csr_array, ndarray or ClassGraph of shape (n, n)
    X : ndarray of shape (n, m)

    Returns
    -------
    changes, spread : ndarray of shape (m,)
        ``f' L f`` and ``f' D f`` of each column f less its mean weighted by the degrees.
    """
    d = degrees(W)
    edges = W if isinstance(W, ClassGraph) else _without_loops(W)
    e = degrees(edges)

    def part(columns: slice) -> tuple[Array, Array]:
        F = X[:, columns] - X[:, columns].mean(axis=0)
        F -= d @ F / d.sum()
        spread = d @ np.square(F)
        if isinstance(W, ClassGraph):  # L is a projection
            return np.square(F - W @ F).sum(axis=0), spread
        return e @ np.square(F) - np.einsum("ij,ij->j", F, edges @ F), spread

    parts = list(map_blocks(part, block_slices(X.shape[1], COLUMNS)))
    changes, spread = (np.concatenate(some) for some in zip(*parts, strict=True))
    return np.maximum(changes, 0.0), spread


def _without_loops(W: Any) -> Any:
    """The edges between different rows alone: of light ones, loops would leave nothing but rounding."""
    if sparse.issparse(W):
        edges = W.tocoo()
        apart = edges.row != edges.col
        return sparse.csr_array((edges.data[apart], (edges.row[apart], edges.col[apart])), shape=W.shape)
    edges = np.array(W)
    np.fill_diagonal(edges, 0.0)
    return edges


def components(W: Any) -> tuple[int, Array]:
    """Number of parts of a graph that no edge joins, and the part of each row.

    Edges of a sparse graph that are lighter than rounding can tell from none do not join.
    """
    if isinstance(W, ClassGraph):
        return len(W.sizes), W.codes
    if not sparse.issparse(W):
        if W.min() > 0:
            return 1, np.zeros(len(W), dtype=np.intp)
        W = sparse.csr_array(W)
    count, labels = connected_components(_without_light_edges(W), directed=False)
    return int(count), labels


def _without_light_edges(W: sparse.csr_array) -> sparse.csr_array:
    root = np.sqrt(degrees(W))
    edges = W.tocoo()
    kept = edges.data > LIGHT * root[edges.row] * root[edges.col]
    return sparse.csr_array((edges.data[kept], (edges.row[kept], edges.col[kept])), shape=W.shape)


def leading_eigenvectors(W: Any, count: int) -> tuple[Array, Array]:
    """Eigenvectors of ``D^-1/2 W D^-1/2`` with the largest eigenvalues, without the trivial one, ``D^1/2 1``.

    A graph of c parts has the eigenvalue 1 c times, and any basis of these vectors would do. The basis taken is: the
    largest part against all the rest, then the second largest against those that remain, and so on; parts of the same
    size by their first rows. The other eigenvectors are sought beside these.

    Parameters
    ----------
    W : csr_array or ndarray of shape (n, n)
        Weights, none negative, with positive degrees.
    count : int
        How many; at most n - 1 are there.

    Returns
    -------
    values : ndarray of shape (min(count, n - 1),)
        Eigenvalues, largest first; 1 minus those of the normalised Laplacian.
    vectors : ndarray of shape (n, min(count, n - 1))
        Of length 1; the entry of largest size is positive.
    """
    n = W.shape[0]
    count = min(count, n - 1)
    n_parts, labels = components(W)
    if sparse.issparse(W):
        W = _without_light_edges(W)
    root = np.sqrt(degrees(W))
    known = _part_vectors(root, n_parts, labels, min(count, n_parts - 1))
    values, vectors = np.ones(known.shape[1]), known
    missing = count - known.shape[1]
    if missing:
        trivial = root / np.linalg.norm(root)
        more, further = _largest_eigenpairs(W, root, np.column_stack([trivial, known]), missing)
        values, vectors = np.concatenate([values, more]), np.hstack([vectors, further])
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    return values, vectors * np.sign(largest)


def _part_vectors(root: Array, n_parts: int, labels: Array, count: int) -> Array:
    """Each of the largest parts against all smaller ones."""
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    place = np.empty(n_parts, dtype=np.intp)
    place[np.lexsort((first, -sizes))] = np.arange(n_parts)
    place = place[labels]
    volumes = np.bincount(place, weights=root**2)
    rest = np.cumsum(volumes[::-1])[::-1] - volumes
    vectors = np.zeros((len(root), count))
    for j in range(count):
        both = volumes[j] + rest[j]
        vectors[place == j, j] = np.sqrt(rest[j] / (volumes[j] * both))
        vectors[place > j, j] = -np.sqrt(volumes[j] / (rest[j] * both))
    return vectors * root[:, None]


def _largest_eigenpairs(W: Any, root: Array, known: Array, count: int) -> tuple[Array, Array]:
    """Eigenpairs of ``D^-1/2 W D^-1/2`` beside known ones of eigenvalue 1."""
    n = len(root)
    dense = not sparse.issparse(W)
    vectors = None
    if n > DENSE_ROWS and count <= n // 4:
        try:
            vectors = _by_products(W, root, known, count)
        except ArpackNoConvergence:
            # The gaps are small. They are for rows that lie along few dimensions, where a factorisation has few entries.
            vectors = None if dense else _by_factorization(W, root, known, count)
    if vectors is None:
        A = (W if dense else W.toarray()) / np.outer(root, root)
        A -= 2.0 * known @ known.T  # known ones are moved to -1
        vectors = _of_dense(A, count)
    scaled = vectors / root[:, None]
    values = np.einsum("ij,ij->j", scaled, W @ scaled)
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _of_dense(A: Array, count: int) -> Array:
    """Eigenvectors of the largest eigenvalues of a dense matrix."""
    n = len(A)
    with contextlib.suppress(linalg.LinAlgError):
        vectors = linalg.eigh(A, subset_by_index=[n - count, n - 1])[1]
        if vectors.shape[1] == count:
            return np.asarray(vectors)
    # Where many eigenvalues are the same, as for rows that repeat, that way misses some; finding all of them does not.
    return np.asarray(linalg.eigh(A, driver="evd")[1][:, n - count :])


def _by_products(W: Any, root: Array, known: Array, count: int) -> Array:
    """Eigenvectors of the largest eigenvalues, by products with the matrix."""

    def multiply(x: Array) -> Array:
        x = x.reshape(-1)
        return np.asarray((W @ (x / root)) / root - 2.0 * (known @ (known.T @ x)))

    return _iterate(multiply, len(root), count, tol=1e-11, maxiter=RESTARTS)


def _by_factorization(W: sparse.csr_array, root: Array, known: Array, count: int) -> Array:
    """Eigenvectors of the largest eigenvalues, by products with the inverse of ``(1 + shift) I - D^-1/2 W D^-1/2``."""
    shifted = sparse.csc_array(sparse.diags_array((1.0 + SHIFT) * root**2) - W)
    factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def multiply(x: Array) -> Array:
        x = x.reshape(-1)
        x = root * factors.solve(root * (x - known @ (known.T @ x)))
        return np.asarray(x - known @ (known.T @ x))

    return _iterate(multiply, len(root), count, tol=1e-9, maxiter=None)


def _iterate(multiply: Callable[[Array], Array], n: int, count: int, tol: float, maxiter: int | None) -> Array:
    """Lanczos iteration from a fixed start."""
    start = np.random.default_rng(0).standard_normal(n)
    operator = LinearOperator((n, n), matvec=multiply, dtype=np.float64)
    _, vectors = eigsh(operator, count, which="LA", v0=start, ncv=min(n, max(40, 3 * count)), tol=tol, maxiter=maxiter)
    return np.asarray(vectors)
