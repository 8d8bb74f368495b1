"""The target matrix of the sequential form, as products with the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easyfs.bundles import Bundles
from easyfs.moments import SecondMoment
from easyfs.relevance import explained_share, orthonormal_basis
from easyfs.statistics import Plan
from easyfs.stopping import null_relevance
from easyfs.wiring import KeptNodes, beyond_inputs

Array = NDArray[Any]

# Nodes that stand beside the target when the plan carries all nodes (the paper's ranking).
MOST_NODES = 100
# Share of the target's own weight that can go to the nodes, where columns say more together than any does alone.
MOST_MOVED = 0.5
# Share of the nodes' weight that can go to bundles of columns, where they tell more than nodes do.
BUNDLE_SHARE = 0.8
# Energy of a bundle's sum, as a share of that of its columns, below which it is rounding.
CANCELLED = 1e-6
# Share of the nodes' weight that must be summed over all rows of a large table.
COUNTED_ENERGY = 0.99


@dataclass(frozen=True)
class TargetBlocks:
    """Products of the standardised inputs with ``Z``, divided by the root of the number of rows.

    The first ``n_watched`` columns hold the target itself and the nodes that are relevant to it beyond chance;
    ``watched_gram`` is ``Z'Z`` of those. After the first ``n_supervised`` columns comes the sketch of all inputs. ``alone``
    is the share of each input that the target explains; None without a target.
    """

    P: Array
    n_watched: int
    watched_gram: Array
    n_supervised: int
    alone: Array | None = None


def target_blocks(
    plan: Plan, moment: SecondMoment, spread: Array, block_weights: tuple[float, float, float]
) -> TargetBlocks:
    """Products with ``Z = [sqrt(w_y) Y, sqrt(w_e) M_e diag(rho), sqrt(w_h) M_h]``.

    ``Y`` is an orthonormal basis of the targets, ``M_e`` the kept nodes, each weighed by its relevance ``rho`` beyond that
    of its inputs, ``M_h`` the sketch of all inputs. Each block has unit Frobenius norm; the weight of a block that is
    absent goes to the others.
    """
    d = len(plan.live)
    P, watched_gram = np.zeros((d, 0)), np.zeros((0, 0))
    n_nodes, alone = 0, None
    if plan.target_kind is not None:
        P, watched_gram, n_nodes, alone = _supervised_blocks(plan, moment, block_weights)
        P /= (spread * np.sqrt(moment.weight))[:, None]
    n_watched = len(watched_gram)
    present = np.array([P.shape[1] > n_nodes, n_nodes > 0, plan.sketch is not None]) * np.array(block_weights)
    if plan.target_kind is None:
        present = np.array([0.0, 0.0, 1.0])
    total = max(float(present.sum()), 1e-300)
    n_supervised = P.shape[1]
    if plan.sketch is not None:
        supervised, sketch = P, plan.sketch
        if sketch.shape[1] > d:  # only PP' matters
            sketch = np.asarray(np.linalg.qr(sketch.T, mode="r")).T
        P = np.empty((d, n_supervised + sketch.shape[1]))
        np.divide(supervised, np.sqrt(total), out=P[:, :n_supervised])
        np.multiply(sketch, (np.sqrt(present[2] / total) / spread)[:, None], out=P[:, n_supervised:])
    else:
        P /= np.sqrt(total)
    return TargetBlocks(P, n_watched, watched_gram / total, n_supervised, alone)


def _supervised_blocks(
    plan: Plan, moment: SecondMoment, block_weights: tuple[float, float, float]
) -> tuple[Array, Array, int, Array]:
    """Raw products with the blocks of ``y`` and of the nodes, ``Z'Z`` of their watched part, the number of nodes, and the
    share of each input that the target explains.
    """
    d, q = len(plan.live), plan.n_nodes
    w_y, w_e, _ = block_weights
    targets = np.arange(d + q, moment.p)
    with_targets = moment.columns(targets)
    basis = orthonormal_basis(with_targets[targets])
    rank = basis.shape[1]
    alone = explained_share(with_targets[:d] @ basis, moment.diag()[:d])
    predicted, share = _predicted_block(plan, moment, basis)
    if not q or not rank:
        Y = basis * np.sqrt((1.0 - share) * w_y / max(1, rank))
        P = np.concatenate([with_targets[:d] @ Y, np.sqrt(share * w_y) * predicted], axis=1)
        return P, Y.T @ with_targets[targets] @ Y, 0, alone
    relevance, beyond_chance = node_relevance(plan, moment, with_targets @ basis)
    nodes = np.arange(q) if plan.kept is not None else np.sort(np.argsort(-relevance, kind="stable")[:MOST_NODES])
    nodes = nodes[np.argsort(~beyond_chance[nodes], kind="stable")]
    nodes = nodes[relevance[nodes] > 0]
    for_residual = np.zeros(q, dtype=bool) if plan.kept is None else plan.kept.for_residual
    bundles = Bundles() if plan.kept is None else plan.kept.bundles
    single = alone.max(initial=0.0)
    together = max(relevance[beyond_chance].max(initial=0.0), bundles.relevance.max(initial=0.0))
    moved = MOST_MOVED * w_y * float(together / (together + single)) if together else 0.0
    Y = basis * np.sqrt((1.0 - share) * (w_y - moved) / rank)
    energy = moment.diag()[d : d + q]
    by_bundles, by_nodes = bundles.relevance.max(initial=0.0), relevance[nodes].max(initial=0.0)
    for_bundles = BUNDLE_SHARE * by_bundles / (by_bundles + by_nodes) if len(bundles) else 0.0
    weights = np.sqrt((1.0 - for_bundles) * (w_e + moved)) * _node_weights(relevance, energy, for_residual)[nodes]
    with_nodes = moment.columns(d + nodes)
    predicted = np.sqrt(share * (w_y - moved)) * predicted
    watched = slice(0, int(beyond_chance[nodes].sum()))
    # Targets, bundles and nodes as combinations of the columns of the moment.
    first = np.zeros((moment.p, rank + len(bundles)))
    first[targets, :rank] = Y
    first[:d, rank:] = bundles.sums(d)
    products = np.concatenate([with_targets @ Y, moment.product(first[:, rank:])], axis=1)
    size = np.einsum("ij,ij->j", first[:, rank:], products[:, rank:])
    # The columns of a bundle that cancel out on all rows say nothing together.
    real = size > CANCELLED * (np.square(first[:, rank:]).T @ moment.diag())
    loud = np.sqrt(for_bundles * (w_e + moved)) * bundles.relevance / max(np.linalg.norm(bundles.relevance), 1e-300)
    loud = np.where(real, loud / np.sqrt(np.where(real, size, 1.0)), 0.0)
    first[:, rank:] *= loud
    products[:, rank:] *= loud
    P = np.concatenate([products[:d], with_nodes[:d] * weights, predicted], axis=1)
    between = first.T @ with_nodes[:, watched] * weights[watched]
    among = with_nodes[d + nodes[watched]][:, watched] * np.outer(weights[watched], weights[watched])
    watched_gram = np.block([[first.T @ products, between], [between.T, among]])
    return P, watched_gram, len(nodes) + len(bundles), alone


def _predicted_block(plan: Plan, moment: SecondMoment, basis: Array) -> tuple[Array, float]:
    """Products of the inputs with what a linear fit predicts of the target, of unit energy, and its share of the weight.

    A noisy target makes columns look good that fit its noise; what is predicted has less of it. The more rows there are
    beyond those of the fit, the better the target itself tells.
    """
    d = len(plan.live)
    nothing = np.zeros((d, 0)), 0.0
    if plan.fitted is None or not basis.shape[1]:
        return nothing
    n_fitted = min(len(basis), plan.fitted.coefficients.shape[1])  # classes that appeared later were not fitted
    mixture = np.zeros((moment.p, basis.shape[1]))
    mixture[:d] = plan.fitted.coefficients[:, :n_fitted] @ basis[:n_fitted]
    product = moment.product(mixture)
    energy = float(np.sum(mixture[:d] * product[:d]))
    if energy <= 0.0:
        return nothing
    return product[:d] / np.sqrt(energy), plan.fitted.share * min(1.0, plan.fitted.n_rows / moment.weight)


def node_relevance(plan: Plan, moment: SecondMoment, cross: Array) -> tuple[Array, Array]:
    """How much each node counts, and whether it tells more than columns one by one, and more than chance would.

    Parameters
    ----------
    cross : ndarray of shape (p, r)
        Products of all columns of the moment with an orthonormal basis of the targets.
    """
    d, q = len(plan.live), plan.n_nodes
    share = explained_share(cross[: d + q], moment.diag()[: d + q])
    if plan.kept is None:
        return share[d:], share[d:] > null_relevance(moment.weight, cross.shape[1], q)
    for_residual = plan.kept.for_residual
    relevance = beyond_inputs(plan.kept.wiring, share[d:], share[:d])
    # Two columns that add up tell more together, too; what they tell of the linear fit's residual is what counts as such.
    to_residual = _relevance_to_residual(plan.kept, moment, d, q)
    n_effective = moment.weight * plan.kept.effective_share
    beyond_chance = to_residual > null_relevance(n_effective, cross.shape[1], plan.kept.n_drawn)
    # A node on a pair and a third column that says nothing speaks for all three; where pairs alone tell it, they do.
    on_pair = beyond_chance & (np.diff(plan.kept.wiring.indptr) <= 2)
    beyond_chance = on_pair if on_pair.any() else beyond_chance
    # The best of many nodes always fit some of the residual; those that do no better than chance would add noise.
    return np.where(for_residual, np.where(beyond_chance, to_residual, 0.0), relevance), beyond_chance


def nodes_that_count(plan: Plan, moment: SecondMoment) -> Array:
    """Which kept nodes make up nearly all of the weight of the nodes; the others need not be summed over all rows."""
    assert plan.kept is not None
    targets = np.arange(len(plan.live) + plan.n_nodes, moment.p)
    with_targets = moment.columns(targets)
    relevance, _ = node_relevance(plan, moment, with_targets @ orthonormal_basis(with_targets[targets]))
    counts = np.zeros(plan.n_nodes, dtype=bool)
    for half in (plan.kept.for_residual, ~plan.kept.for_residual):
        places = np.flatnonzero(half)
        order = places[np.argsort(-relevance[places], kind="stable")]
        energy = np.cumsum(np.square(relevance[order]))
        if len(order) and energy[-1] > 0:
            counts[order[: np.searchsorted(energy, COUNTED_ENERGY * energy[-1]) + 1]] = True
    return counts


def _relevance_to_residual(kept: KeptNodes, moment: SecondMoment, d: int, q: int) -> Array:
    """What each node tells, beyond its inputs, of what the linear fit leaves of the targets, on all rows."""
    n_targets = moment.p - d - q
    mixture = np.zeros((moment.p, n_targets))
    n_fitted = min(n_targets, kept.coefficients.shape[1])  # classes that appeared later were not fitted
    mixture[:d, :n_fitted] = -kept.coefficients[:, :n_fitted]
    mixture[d + q :] = np.eye(n_targets)
    product = moment.product(mixture)
    share = explained_share(product[: d + q] @ orthonormal_basis(mixture.T @ product), moment.diag()[: d + q])
    return beyond_inputs(kept.wiring, share[d:], share[:d])


def _node_weights(relevance: Array, energy: Array, for_residual: Array) -> Array:
    """Weight of each node in ``Z``: by relevance, each half (target, residual) normalised on its own."""
    weights = np.zeros(len(relevance))
    halves = [half for half in (for_residual, ~for_residual) if relevance[half].any()]
    for half in halves:
        norm = np.sqrt(np.square(relevance[half]).sum() * len(halves))
        weights[half] = relevance[half] / norm
    return np.asarray(np.divide(weights, np.sqrt(np.maximum(energy, 0.0)), out=np.zeros_like(weights), where=energy > 0))
