"""Stage 1, expansion: the random non-linear projection network (RNP).

The network has ``d`` input nodes, hidden nodes that listen to every input, and enhancement nodes that listen to a few
nodes each. Signals run through it for ``n_rounds`` rounds (Eqs. rmn_1 to rmn_3):

    I_{t+1} = relu(h_t + W I_t)
    h_{t+1} = h_t + W I_t - I_{t+1}
    M_{t+1} = M_t + I_{t+1}

with ``I_0 = [X, 0]``, ``h_0 = 0`` and ``M_0 = I_0``. Input nodes listen to nobody, so their expanded feature is the input
itself and they fall silent after the first round; hidden nodes hear only inputs, so they speak once. ``W`` is kept as
its dense rows (hidden nodes) and its sparse rows (enhancement nodes), never as a ``p x p`` matrix.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from easyfs.common.threads import block_slices, for_blocks, map_blocks
from easyfs.common.types import Array
from easyfs.sums.sparse import ScaledSparse

# A dense product beats a sparse one while it has at most this many columns for each connection.
DENSE_COLUMNS_PER_CONNECTION = 64
# Rows expanded at a time: enough for the product with the hidden nodes to run at full speed.
EXPANDED_ROWS = 512
HEARD_INPUTS = 1024
# Hidden nodes drawn from one stream of random numbers; each part has its own, so that threads can share the work.
DRAWN_ROWS = 32


@dataclass(frozen=True, eq=False)
class Network:
    """The connections of the network; nodes are numbered inputs, hidden, enhancement.

    Attributes
    ----------
    n_inputs : int
        Number of input nodes, one for each column of the table.
    hidden : ndarray of shape (n_hidden, n_inputs)
        Weights of the hidden nodes on the inputs.
    enhancement : csr_array of shape (n_enhancement, n_inputs + n_hidden + n_enhancement)
        Weights of the enhancement nodes on all nodes.
    n_rounds : int
        Rounds of propagation, the paper's ``T``.
    """

    n_inputs: int
    hidden: Array
    enhancement: sparse.csr_array
    n_rounds: int = 1

    @property
    def n_hidden(self) -> int:
        """Hidden nodes."""
        return int(self.hidden.shape[0])

    @property
    def n_extra(self) -> int:
        """Nodes beside the inputs."""
        return self.n_hidden + int(self.enhancement.shape[0])

    @cached_property
    def _from_inputs(self) -> Drive:
        return Drive(self.enhancement[:, : self.n_inputs])

    @cached_property
    def _from_extra(self) -> Drive:
        return Drive(self.enhancement[:, self.n_inputs :])

    def expand(self, X: Array | ScaledSparse, out: Array | None = None) -> Array:
        """Expanded features of the hidden and enhancement nodes (the inputs' own are ``X``).

        Parameters
        ----------
        X : ndarray or ScaledSparse of shape (n, n_inputs)
            Scaled rows.
        out : ndarray of shape (n, n_extra), optional
            Where to put them.

        Returns
        -------
        ndarray of shape (n, n_extra)
        """
        expanded = np.empty((X.shape[0], self.n_extra), dtype=X.dtype) if out is None else out

        def fill(rows: slice) -> None:
            self._expand_block(X[rows], expanded[rows])

        for_blocks(fill, block_slices(X.shape[0], EXPANDED_ROWS))
        return expanded

    def _expand_block(self, X: Array | ScaledSparse, out: Array) -> None:
        n_hidden = self.n_hidden
        hidden, grown = out[:, :n_hidden], out[:, n_hidden:]
        if n_hidden:
            self.hear(X, hidden)
            np.maximum(hidden, 0.0, out=hidden)
        if not grown.shape[1]:
            return
        state = self._from_inputs(X)
        np.maximum(state, 0.0, out=grown)
        if self.n_rounds == 1:
            return
        signal = grown.copy()
        state -= signal
        speaking = np.concatenate([hidden, signal], axis=1)
        for _ in range(1, self.n_rounds):
            state += self._from_extra(speaking)
            signal = np.maximum(state, 0.0)
            state -= signal
            grown += signal
            speaking[:, :n_hidden] = 0.0
            speaking[:, n_hidden:] = signal

    def hear(self, X: Array | ScaledSparse, out: Array) -> None:
        """``X`` times the dense rows, a part of the inputs at a time: the weights are stored in float32."""
        if isinstance(X, ScaledSparse):
            out[:] = X.dot(self.hidden.T.astype(X.dtype, copy=False))
            return
        out[:] = 0.0

        def heard(part: slice) -> Array:
            return np.asarray(X[:, part] @ self.hidden[:, part].T.astype(X.dtype, copy=False))

        for product in map_blocks(heard, block_slices(self.n_inputs, HEARD_INPUTS)):
            out += product

    def support(self, nodes: Array | None = None, size: int = 256) -> Iterator[tuple[Array, Array]]:
        """Support of each input for some nodes, ``E = |(W + I)^T|`` (Eq. he_1), in blocks of nodes.

        Parameters
        ----------
        nodes : ndarray of int, optional
            Which nodes, numbered over all ``n_inputs + n_extra``; by default all of them.
        size : int, default=256
            Nodes in a block.

        Yields
        ------
        nodes : ndarray of int
            The nodes of this block.
        E : ndarray of shape (len(nodes), n_inputs)
        """
        d, p = self.n_inputs, self.n_inputs + self.n_extra
        hidden = sparse.csr_array(self.hidden) if self.n_hidden else sparse.csr_array((0, d))
        W = sparse.vstack(
            [sparse.csr_array((d, p)), sparse.hstack([hidden, sparse.csr_array((self.n_hidden, p - d))]), self.enhancement],
            format="csr",
        )
        step = (W + sparse.eye_array(p, format="csr")).T.tocsr()
        wanted = np.arange(p) if nodes is None else nodes
        for part in block_slices(len(wanted), size):
            some = wanted[part]
            block = np.zeros((p, len(some)))
            block[some, np.arange(len(some))] = 1.0
            for _ in range(self.n_rounds):
                block = step @ block
            yield some, np.abs(block[:d].T)


class Drive:
    """``W I``: what each node hears, for rows of signals; through the few columns that are heard at all."""

    def __init__(self, weights: sparse.csr_array):
        self.heard = np.unique(weights.indices)
        if 2 * len(self.heard) > weights.shape[1]:  # picking most columns out costs more than multiplying with all
            self.heard = np.arange(weights.shape[1])
        self.weights = sparse.csr_array(weights[:, self.heard])
        narrow = len(self.heard) <= DENSE_COLUMNS_PER_CONNECTION * max(1, weights.nnz // max(1, weights.shape[0]))
        self.dense = self.weights.toarray().T if narrow else None
        self.all_heard = len(self.heard) == weights.shape[1]

    def __call__(self, signal: Array | ScaledSparse) -> Array:
        """What the nodes hear of some rows."""
        if isinstance(signal, ScaledSparse):
            values = signal.take(self.heard)
        else:
            values = signal if self.all_heard else signal.take(self.heard, axis=1)
        if self.dense is not None:
            return np.asarray(values @ self.dense.astype(signal.dtype))
        heard = self.weights.astype(signal.dtype) @ np.ascontiguousarray(values.T)
        return np.ascontiguousarray(np.asarray(heard).T)


def draw_hidden(n_hidden: int, live: Array, rng: np.random.Generator, *, unit_rows: bool = True) -> Array:
    """Draw standard normal weights of the hidden nodes on the live inputs, each row scaled to unit norm."""
    drawn = np.empty((n_hidden, int(live.sum())), dtype=np.float32)
    parts = block_slices(n_hidden, DRAWN_ROWS)

    def fill(task: tuple[slice, np.random.Generator]) -> None:
        rows, own = task
        own.standard_normal(dtype=np.float32, out=drawn[rows])
        if unit_rows and drawn.size:
            drawn[rows] /= np.sqrt(np.einsum("ij,ij->i", drawn[rows], drawn[rows]))[:, None]

    for_blocks(fill, zip(parts, rng.spawn(len(parts)), strict=True))
    if live.all():
        return drawn
    weights = np.zeros((n_hidden, len(live)), dtype=np.float32)
    weights[:, live] = drawn
    return weights


def draw_enhancement(
    n_enhancement: int,
    connections: int,
    live: Array,
    n_hidden: int,
    n_rounds: int,
    rng: np.random.Generator,
    *,
    unit_rows: bool = True,
) -> sparse.csr_array:
    """Draw the sparse rows of the enhancement nodes.

    Each node listens to ``connections`` distinct nodes, drawn from the live inputs and, from two rounds on, from all
    hidden and enhancement nodes as well (with one round those still carry zero).

    Parameters
    ----------
    live : ndarray of bool, shape (n_inputs,)
        Inputs that take part: not constant, not excluded.
    """
    n_inputs = len(live)
    p = n_inputs + n_hidden + n_enhancement
    inputs = np.flatnonzero(live)
    pool = inputs if n_rounds == 1 else np.concatenate([inputs, np.arange(n_inputs, p)])
    fan_in = min(connections, len(pool))
    sources = pool[_distinct(n_enhancement, len(pool), fan_in, rng)]
    weights = rng.standard_normal((n_enhancement, fan_in), dtype=np.float32)
    rows = np.repeat(np.arange(n_enhancement), fan_in)
    drawn = sparse.csr_array((weights.ravel(), (rows, sources.ravel())), shape=(n_enhancement, p))
    drawn.eliminate_zeros()
    if unit_rows:
        norms = np.sqrt(np.asarray(drawn.multiply(drawn).sum(axis=1)).ravel())
        drawn.data /= np.repeat(norms, np.diff(drawn.indptr)).astype(drawn.dtype)
    return drawn


def _distinct(n: int, size: int, k: int, rng: np.random.Generator) -> Array:
    """``n`` rows of ``k`` distinct numbers below ``size``."""
    if k * k * 4 > size:
        return rng.permuted(np.tile(np.arange(size), (n, 1)), axis=1)[:, :k]
    drawn = rng.integers(size, size=(n, k))
    while True:
        ordered = np.sort(drawn, axis=1)
        repeated = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if not repeated.any():
            return drawn
        drawn[repeated] = rng.integers(size, size=(int(repeated.sum()), k))
