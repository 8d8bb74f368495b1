"""The target matrix of the sequential form, as products with the inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easyfs.moments import SecondMoment
from easyfs.relevance import explained_share, orthonormal_basis
from easyfs.statistics import Plan
from easyfs.stopping import null_relevance
from easyfs.wiring import KeptNodes

Array = NDArray[Any]

# Nodes that stand beside the target when the plan carries all nodes (the paper's ranking).
MOST_NODES = 100


@dataclass(frozen=True)
class TargetBlocks:
    """Products of the standardised inputs with ``Z``, divided by the root of the number of rows.

    The first ``n_watched`` columns hold the target itself and the nodes that are relevant to it beyond chance;
    ``watched_gram`` is ``Z'Z`` of those.
    """

    P: Array
    n_watched: int
    watched_gram: Array


def target_blocks(
    plan: Plan, moment: SecondMoment, spread: Array, block_weights: tuple[float, float, float]
) -> TargetBlocks:
    """Products with ``Z = [sqrt(w_y) Y, sqrt(w_e) M_e diag(rho), sqrt(w_h) M_h]``.

    ``Y`` is an orthonormal basis of the targets, ``M_e`` the kept nodes, each weighed by its relevance ``rho``, ``M_h`` the
    sketch of all inputs. Each block has unit Frobenius norm; weights of blocks that are absent go to the others.
    """
    d = len(plan.live)
    P, watched_gram = np.zeros((d, 0)), np.zeros((0, 0))
    n_nodes = 0
    if plan.target_kind is not None:
        P, watched_gram, n_nodes = _supervised_blocks(plan, moment, block_weights)
        P /= (spread * np.sqrt(moment.weight))[:, None]
    n_watched = len(watched_gram)
    present = np.array([P.shape[1] > n_nodes, n_nodes > 0, plan.sketch is not None]) * np.array(block_weights)
    if plan.target_kind is None:
        present = np.array([0.0, 0.0, 1.0])
    total = max(float(present.sum()), 1e-300)
    rest = P[:, n_watched:]
    if plan.sketch is not None:
        rest = np.concatenate([rest, plan.sketch * (np.sqrt(present[2]) / spread)[:, None]], axis=1)
    if rest.shape[1] > d:  # only PP' matters
        rest = np.asarray(np.linalg.qr(rest.T, mode="r")).T
    return TargetBlocks(np.concatenate([P[:, :n_watched], rest], axis=1) / np.sqrt(total), n_watched, watched_gram / total)


def _supervised_blocks(
    plan: Plan, moment: SecondMoment, block_weights: tuple[float, float, float]
) -> tuple[Array, Array, int]:
    """Raw products with the blocks of ``y`` and of the nodes, ``Z'Z`` of their watched part, and the number of nodes."""
    d, q = len(plan.live), plan.n_nodes
    w_y, w_e, _ = block_weights
    targets = np.arange(d + q, moment.p)
    with_targets = moment.columns(targets)
    basis = orthonormal_basis(with_targets[targets])
    Y = basis * np.sqrt(w_y / max(1, basis.shape[1]))
    energy = moment.diag()[d : d + q]
    relevance = explained_share(with_targets[d : d + q] @ basis, energy)
    if plan.kept is None:
        nodes = np.sort(np.argsort(-relevance, kind="stable")[:MOST_NODES])
        for_residual = np.zeros(q, dtype=bool)
    else:
        nodes, for_residual = np.arange(q), plan.kept.for_residual
        if for_residual.any():
            relevance = np.where(for_residual, _relevance_to_residual(plan.kept, moment, d, q, energy), relevance)
    if not len(nodes) or not basis.shape[1]:
        return with_targets[:d] @ Y, Y.T @ with_targets[targets] @ Y, 0
    n_drawn = q if plan.kept is None else plan.kept.n_drawn
    beyond_chance = relevance > null_relevance(moment.weight, basis.shape[1], n_drawn)
    # The best of many nodes always fit some of the residual; those that do no better than chance would add noise.
    counted = np.where(for_residual & ~beyond_chance, 0.0, relevance)
    significant = beyond_chance[nodes]
    nodes = nodes[np.argsort(~significant, kind="stable")]
    weights = np.sqrt(w_e) * _node_weights(counted, energy, for_residual)[nodes]
    with_nodes = moment.columns(d + nodes)
    P = np.concatenate([with_targets[:d] @ Y, with_nodes[:d] * weights], axis=1)
    watched = slice(0, int(significant.sum()))
    between = Y.T @ with_nodes[targets][:, watched] * weights[watched]
    among = with_nodes[d + nodes[watched]][:, watched] * np.outer(weights[watched], weights[watched])
    watched_gram = np.block([[Y.T @ with_targets[targets] @ Y, between], [between.T, among]])
    return P, watched_gram, len(nodes)


def _relevance_to_residual(kept: KeptNodes, moment: SecondMoment, d: int, q: int, energy: Array) -> Array:
    """Relevance of each node to what the linear fit leaves of the targets, on all rows."""
    n_targets = moment.p - d - q
    mixture = np.zeros((moment.p, n_targets))
    mixture[:d, : kept.coefficients.shape[1]] = -kept.coefficients
    mixture[d + q :] = np.eye(n_targets)
    product = moment.product(mixture)
    return explained_share(product[d : d + q] @ orthonormal_basis(mixture.T @ product), energy)


def _node_weights(relevance: Array, energy: Array, for_residual: Array) -> Array:
    """Weight of each node in ``Z``: by relevance, each half (target, residual) normalised on its own."""
    weights = np.zeros(len(relevance))
    halves = [half for half in (for_residual, ~for_residual) if relevance[half].any()]
    for half in halves:
        norm = np.sqrt(np.square(relevance[half]).sum() * len(halves))
        if norm > 0:
            weights[half] = relevance[half] / norm
    return np.divide(weights, np.sqrt(np.maximum(energy, 0.0)), out=np.zeros_like(weights), where=energy > 0)
