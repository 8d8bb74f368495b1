"""Stage 1, continued: many enhancement nodes at little cost, and well wired.

Interactions need many nodes and few kept ones. Nodes are drawn and scored block by block on a sample of rows; only the
most relevant are carried on, some for the target and some for what a linear fit leaves of it, because main effects would
crowd interactions out otherwise. A share of the nodes is wired by the pair screen: ``X' diag(y) X`` is one
product that sees every pair of columns at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from easyfs.bundles import MOST_PAIRS, Bundles, find_bundles, screen_triples, squares_of, triple_rows
from easyfs.engines.local import block_slices, for_blocks, large_product, map_blocks
from easyfs.linear import LinearFit, ScoringRows, input_relevance
from easyfs.network import Network, draw_enhancement
from easyfs.relevance import explained_share
from easyfs.rows import ScaledSparse, spread_rows
from easyfs.stopping import effective_share

Array = NDArray[Any]

# Directions of the target that the pair screen looks at, strongest first.
SCREENED_DIRECTIONS = 3
# Beyond this many columns the screen sees a part of them: the product grows with the square.
SCREENED_COLUMNS = 20_480
# ... and with many columns fewer rows: as many as keep it within this many products; then fewer directions.
SCREENED_PRODUCTS, FEWEST_SCREENED_ROWS, MOST_PRODUCTS = 1 << 30, 256, 1 << 33
# Squares take part in the screen up to this many columns; beyond, of columns of at most so many values in so many rows.
SQUARED_COLUMNS, SQUARED_LEVELS, SQUARED_ROWS = 512, 8, 32
# The screen hands on one pair for so many nodes; stronger pairs get more nodes, by this power of their strength.
NODES_PER_PAIR, STRENGTH_POWER = 8, 4
# Kept nodes that may be wired to one pair.
KEPT_PER_PAIR = 8
NODES_PER_BLOCK = 128
# Where all triples are too many, those of so many columns are looked at, if the target rests on less than this share of
# the rows; its square counts up to so many times its mean.
LOUD_COLUMNS, LONG_TAILS, LOUDEST = 64, 0.9, 9.0


def screen_pairs(
    rows: ScoringRows, direction: Array, live: Array, n_pairs: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The pairs of columns whose products are most related to a target (a column may pair with itself).

    Parameters
    ----------
    direction : ndarray of shape (n, r)
        Orthonormal targets; the first few are looked at.
    n_pairs : int
        Number of pairs wanted in all.

    Returns
    -------
    pairs : ndarray of int, shape (at most n_pairs, 2)
        Strongest first.
    strength : ndarray of shape (len(pairs),)
    """
    screened = _screened_columns(rows, direction, live, rng)
    n = rows.inputs.shape[0]
    few = spread_rows(n, max(FEWEST_SCREENED_ROWS, SCREENED_PRODUCTS // max(1, int(screened.sum())) ** 2))
    few = np.arange(n) if few is None else few
    root = rows.root_weight[few].astype(np.float32)
    parts = [(places, part[few]) for places, part in rows.columns(screened)]
    columns, values = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts], axis=1)
    curved, squares = _squares(values, root)
    columns, values = np.concatenate([columns, columns[curved]]), np.concatenate([values, squares], axis=1)
    n_directions = int(np.clip(MOST_PRODUCTS // max(1, len(few) * len(columns) ** 2), 1, SCREENED_DIRECTIONS))
    directions = direction[few, :n_directions].astype(np.float32)

    # Rows already carry the root of their weight twice in each product; the direction carries it once more.
    def screen(task: tuple[int, slice]) -> tuple[Array, Array]:
        which, left = task
        weighed = values[:, left] * (directions[:, which] / root)[:, None]
        product = weighed.T @ values[:, left.start :]
        np.abs(product, out=product)
        product[np.tril_indices(product.shape[0], -1)] = 0.0
        best = _largest(product.ravel(), n_pairs * (4 if len(curved) else 1))  # a pair comes up with and without squares
        i, j = np.unravel_index(best, product.shape)
        pairs = np.sort(np.stack([columns[left.start + i], columns[left.start + j]], axis=1), axis=1)
        return product.ravel()[best][i <= j], pairs[i <= j]

    tasks = [(which, left) for which in range(directions.shape[1]) for left in block_slices(len(columns), 256)]
    with large_product():
        found = list(map_blocks(screen, tasks))
    strength = np.concatenate([f[0] for f in found]) if found else np.empty(0)
    pairs = np.concatenate([f[1] for f in found]) if found else np.empty((0, 2), dtype=np.intp)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -strength))
    pairs, strength = pairs[order], strength[order]
    _, first = np.unique(pairs[:, 0] * len(live) + pairs[:, 1], return_index=True)
    first = np.sort(first)[:n_pairs]
    return pairs[first], strength[first]


def _screened_columns(rows: ScoringRows, direction: Array, live: Array, rng: np.random.Generator) -> Array:
    """All live columns, or, where they are too many, those most related to the target and as many drawn at random."""
    if live.sum() <= SCREENED_COLUMNS:
        return live
    screened = np.zeros_like(live)
    screened[np.argsort(-input_relevance(rows, live, direction), kind="stable")[: SCREENED_COLUMNS // 2]] = True
    screened[rng.choice(np.flatnonzero(live & ~screened), SCREENED_COLUMNS - SCREENED_COLUMNS // 2, replace=False)] = True
    return screened


def _squares(values: Array, root: Array) -> tuple[Array, Array]:
    """Squares of columns, less what is linear in them: which columns, and the squares in the columns' own units.

    Of all columns while they are few, otherwise of those with few different values, such as gene markers, whose middle
    value may be the one that matters.
    """
    chosen = np.arange(values.shape[1])
    if len(chosen) > SQUARED_COLUMNS:
        ordered = np.sort(values[:: max(1, len(values) // SQUARED_ROWS)], axis=0)
        levels = 1 + (np.diff(ordered, axis=0) > 0).sum(axis=0)
        chosen = np.flatnonzero(levels <= SQUARED_LEVELS)
        chosen = chosen[: max(0, SCREENED_COLUMNS - values.shape[1])]
    squares, curved = squares_of(values[:, chosen] / root[:, None], root * root)
    return chosen[curved], squares[:, curved] * root[:, None]


def share_nodes(strength: Array, n_nodes: int) -> Array:
    """Which pair each of ``n_nodes`` nodes is wired to: pairs that stand out get many nodes, the others one or two."""
    share = strength.astype(np.float64) ** STRENGTH_POWER
    ends = np.cumsum(share / max(share.sum(), 1e-300)) * n_nodes
    return np.minimum(np.searchsorted(ends, np.arange(n_nodes) + 0.5), len(strength) - 1)


def _largest(values: Array, k: int) -> Array:
    """Places of the ``k`` largest of values of at least 0: those above a bar by their size, lowered until enough pass."""
    bar = float(np.sqrt(np.mean(np.square(values[:: max(1, len(values) // 4096)])))) * 4.0
    while bar > 1e-30:
        places = np.flatnonzero(values > bar)
        if len(places) >= min(k, len(values)):
            break
        bar *= 0.8
    else:
        places = np.arange(len(values))
    if len(places) <= k:
        return places
    order = np.argpartition(values[places], len(places) - k)
    return np.sort(places[order[len(places) - k :]])


def node_relevance(rows: ScoringRows, network: Network, *targets: Array) -> list[Array]:
    """Relevance of each enhancement node to each orthonormal target, on the sample."""
    n = rows.inputs.shape[0]
    root = rows.root_weight.astype(np.float32)
    right = np.concatenate([t * rows.root_weight[:, None] for t in targets] + [(root * root)[:, None]], axis=1)
    right = right.astype(np.float32)
    total = float((rows.root_weight**2).sum())
    ends = np.cumsum([t.shape[1] for t in targets])
    whole = network.expand(rows.inputs)[:, network.n_hidden :] if network.n_rounds > 1 else None
    transposed = None
    if whole is None and not isinstance(rows.inputs, ScaledSparse):
        transposed = np.empty(rows.inputs.shape[::-1], dtype=np.float32)
        inputs = rows.inputs

        def fill(columns: slice) -> None:
            transposed[columns] = inputs[:, columns].T

        for_blocks(fill, block_slices(len(transposed), 256))
    weights = network.enhancement[:, : network.n_inputs]

    def score(nodes: slice) -> Array:
        if whole is not None:
            signal = np.ascontiguousarray(whole[:, nodes].T, dtype=np.float32)
        elif transposed is not None:
            signal = np.asarray(weights[nodes] @ transposed)
        else:
            heard = np.unique(weights[nodes].indices)
            signal = np.asarray(weights[nodes][:, heard] @ np.ascontiguousarray(rows.inputs.take(heard).T, np.float32))
        np.maximum(signal, 0.0, out=signal)
        cross = (signal @ right).astype(np.float64)
        energy = np.einsum("ij,ij,j->i", signal, signal, root * root, optimize=False).astype(np.float64)
        energy -= cross[:, -1] ** 2 / total
        energy[energy <= 1e-6 * n] = 0.0
        return np.stack(
            [explained_share(cross[:, end - t.shape[1] : end], energy) for t, end in zip(targets, ends, strict=True)]
        )

    blocks = block_slices(weights.shape[0], NODES_PER_BLOCK)
    scores = list(map_blocks(score, blocks))
    return list(np.concatenate(scores, axis=1)) if scores else [np.empty(0) for _ in targets]


def beyond_inputs(enhancement: sparse.csr_array, relevance: Array, of_inputs: Array) -> Array:
    """What each node tells beyond the most relevant input that it listens to.

    A node on one good column and one that says nothing is as relevant as the good column alone; it must not speak for both.
    """
    best = np.zeros(len(relevance))
    rows = np.repeat(np.arange(len(relevance)), np.diff(enhancement.indptr))
    from_inputs = enhancement.indices < len(of_inputs)
    np.maximum.at(best, rows[from_inputs], of_inputs[enhancement.indices[from_inputs]])
    return np.asarray(np.maximum(relevance - best, 0.0))


def best_nodes(relevance: Array, wired: Array, n: int) -> Array:
    """The ``n`` most relevant nodes; of those wired to one pair only a few, so that it does not crowd out the others."""
    order = np.argsort(-relevance, kind="stable")
    order = order[relevance[order] > 0]
    by_pair = np.argsort(wired[order], kind="stable")
    _, starts, counts = np.unique(wired[order][by_pair], return_index=True, return_counts=True)
    place_in_pair = np.empty(len(order), dtype=np.intp)
    place_in_pair[by_pair] = np.arange(len(order)) - np.repeat(starts, counts)
    return np.asarray(order[place_in_pair < KEPT_PER_PAIR][:n])


@dataclass(frozen=True)
class KeptNodes:
    """The enhancement nodes that are carried on.

    Attributes
    ----------
    network : Network
        A network that computes just these nodes.
    places : ndarray of int
        Where they are among its extra nodes.
    wiring : csr_array
        Their connections to all nodes of the network they were chosen from.
    for_residual : ndarray of bool
        Which were kept for the residual rather than for the target itself.
    coefficients : ndarray of shape (d, t)
        Ridge coefficients that the residual was made with, one column for each target.
    n_drawn : int
        How many nodes they were chosen from.
    bundles : Bundles
        Columns that tell something of the residual together.
    effective_share : float
        Share of the rows that the residual rests on, see :func:`easyfs.stopping.effective_share`.
    """

    network: Network
    places: Array
    wiring: sparse.csr_array
    for_residual: Array
    coefficients: Array
    n_drawn: int
    bundles: Bundles
    effective_share: float


def keep_some(kept: KeptNodes, chosen: Array) -> KeptNodes:
    """Only some of the kept nodes."""
    small, places = kept.network.keep(kept.places[chosen] - kept.network.n_hidden)
    return replace(kept, network=small, places=places, wiring=kept.wiring[chosen], for_residual=kept.for_residual[chosen])


def keep_nodes(
    fit: LinearFit,
    hidden: Array,
    rng: np.random.Generator,
    *,
    n_enhancement: int,
    connections: int,
    n_rounds: int,
    n_kept: int,
    pair_share: float,
    residual_share: float,
) -> KeptNodes:
    """Draw enhancement nodes, score them on the sample of a linear fit and keep the best."""
    rows, live = fit.rows, fit.live
    residual, coefficients, cleaned = fit.residuals()
    cleaned = cleaned if cleaned.shape[1] else residual
    n_paired = int(pair_share * n_enhancement) if live.sum() > 1 and cleaned.shape[1] else 0
    pairs, bundles = None, Bundles()
    wired = np.arange(n_enhancement)  # what each node is wired to: a pair, or what it alone drew
    if n_paired:
        pairs, strength = screen_pairs(rows, cleaned, live, -(-n_paired // NODES_PER_PAIR), rng)
        bundles = _bundles(rows, cleaned, live, pairs)
        assigned = share_nodes(strength, n_paired)
        pairs = pairs[assigned]
        wired[:n_paired] = n_enhancement + assigned
    enhancement = draw_enhancement(n_enhancement, connections, live, len(hidden), n_rounds, rng, pairs=pairs)
    network = Network(len(live), hidden, enhancement, n_rounds)
    to_target, to_residual = (
        beyond_inputs(network.enhancement, relevance, input_relevance(rows, live, target))
        for relevance, target in zip(
            node_relevance(rows, network, rows.target, residual), (rows.target, residual), strict=True
        )
    )
    n_residual = round(residual_share * min(n_kept, n_enhancement))
    n_target = min(n_kept, n_enhancement) - n_residual
    first = best_nodes(to_target, wired, n_target)
    rest = best_nodes(np.where(np.isin(np.arange(n_enhancement), first), 0.0, to_residual), wired, n_residual)
    nodes = np.sort(np.concatenate([first, rest]))
    small, places = network.keep(nodes)
    for_residual = np.isin(nodes, rest)
    return KeptNodes(
        small,
        places,
        network.enhancement[nodes],
        for_residual,
        coefficients @ np.linalg.pinv(rows.basis),
        n_enhancement,
        bundles,
        effective_share(residual, rows.root_weight),
    )


def _bundles(rows: ScoringRows, residual: Array, live: Array, pairs: Array) -> Bundles:
    """Pairs from the screen, and triples, that tell something of the residual together."""
    root = rows.root_weight.astype(np.float32)
    sets = list(pairs[:MOST_PAIRS])
    tried = live if triple_rows(len(root), int(live.sum())) else _loud_columns(rows, residual, live)
    if tried.any():
        columns, values = next(rows.columns(tried))
        triples = screen_triples(values / root[:, None], (residual[:, 0] * rows.root_weight).astype(np.float32))
        sets += list(columns[triples])
    if not sets:
        return Bundles()
    used = np.zeros_like(live)
    used[np.concatenate(sets)] = True
    columns, values = next(rows.columns(used))
    found = find_bundles(values, root, residual, [np.searchsorted(columns, s) for s in sets], int(live.sum()))
    return replace(found, columns=[columns[s] for s in found.columns])


def _loud_columns(rows: ScoringRows, residual: Array, live: Array) -> Array:
    """The columns whose squares are most related to the square of the residual, where this has the long tails of products.

    Of more columns than all triples can be looked at of, a product of three is large in size where each of them is.
    """
    loud = np.zeros_like(live)
    if effective_share(residual, rows.root_weight) > LONG_TAILS:
        return loud
    weight = rows.root_weight**2
    size = np.square(residual).sum(axis=1) / weight
    size = np.minimum(size, LOUDEST * (weight @ size) / weight.sum())
    size -= (weight @ size) / weight.sum()
    right = np.column_stack([size, np.ones(len(size))]).astype(np.float32)
    relevance = np.zeros(len(live))
    for columns, values in rows.columns(live):
        squares = np.square(values)  # each row with its weight
        cross = (squares.T @ right).astype(np.float64)
        energy = np.einsum("ij,ij,i->j", squares, squares, (1.0 / weight).astype(np.float32), optimize=False)
        energy = energy - cross[:, 1] ** 2 / weight.sum()
        relevance[columns] = np.where(
            energy > 0, np.maximum(cross[:, 0], 0.0) ** 2 / np.where(energy > 0, energy, 1.0), 0.0
        )
    loud[np.argsort(-relevance, kind="stable")[:LOUD_COLUMNS]] = True
    return loud & live
