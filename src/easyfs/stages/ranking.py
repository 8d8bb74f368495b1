"""The paper's compression: score every node once, hand the scores of the best back to the inputs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from easyfs.common.types import Array

# Scores lie within [-lambda1, 1]; what differs beyond this many decimals is rounding.
DECIMALS = 9
ROUNDING = 1e-12


def min_max(values: Array) -> Array:
    """Min-max normalisation to [0, 1]; a vector that is constant up to rounding becomes 0."""
    low, high = values.min(), values.max()
    if not high - low > ROUNDING * max(abs(low), abs(high)):
        return np.zeros_like(values, dtype=np.float64)
    return np.asarray((values - low) / (high - low))


def importance_score(relevance: Array, redundancy: Array, lambda1: float = 1.0) -> Array:
    """Importance of each expanded feature, ``S_i = L_i - lambda1 Q_i (1 - exp(-Q_i))`` (Eqs. se_3 and se_4).

    ``L`` and ``Q`` are min-max normalised first; smaller is better.

    Parameters
    ----------
    relevance : ndarray of shape (p,)
        ``L``: conditional variance, or spread within a class; smaller is more relevant.
    redundancy : ndarray of shape (p,)
        ``Q``: what the coding rate loses without the feature; larger is less redundant. An added constant does not matter.
    lambda1 : float, default=1.0
        Weight of the redundancy.
    """
    L, Q = min_max(relevance), min_max(redundancy)
    return np.asarray(L - lambda1 * Q * (1.0 - np.exp(-Q)))


def top_share(scores: Array, share: float) -> Array:
    """Places of the ``ceil(share * p)`` smallest scores; among scores equal up to rounding the lowest place."""
    return np.argsort(np.round(scores, DECIMALS), kind="stable")[: int(np.ceil(share * len(scores)))]


def node_votes(scores: list[Array], share: float, weights: Array | None = None) -> Array:
    """How much each node counts in ``H`` (Eqs. se_1 and se_8): the classes in whose top share it is, times its weight."""
    votes = np.zeros(len(scores[0]))
    for score in scores:
        votes[top_share(score, share)] += 1.0
    return votes if weights is None else votes * weights


def class_contrast(means: Array, variances: Array, lambda2: float = 0.5) -> Array:
    """How much a node differs between classes, ``var_k(mean_ik) + lambda2 var_k(var_ik)`` (Eq. se_8).

    Parameters
    ----------
    means, variances : ndarray of shape (c, p)
        Of each node within each class.
    """
    return np.asarray(means.var(axis=0) + lambda2 * variances.var(axis=0))


def rank_inputs(votes: Array, support: Iterable[tuple[Array, Array]], n_inputs: int) -> Array:
    """Importance of each input, ``H_j = sum_i votes_i E_ij`` (Eqs. se_1 and se_9).

    Parameters
    ----------
    votes : ndarray of shape (p,)
        How much each node counts.
    support : iterable of (nodes, ndarray)
        Blocks of rows of ``E``, as :meth:`easyfs.stages.expansion.Network.support` yields them.
    """
    H = np.zeros(n_inputs)
    for nodes, E in support:
        H += votes[nodes] @ E
    return H


def importance_order(importance: Array, own_score: Array) -> Array:
    """Inputs by importance ``H``, then by the score ``S`` of their own node, then by place; rounding does not decide."""
    relative = importance / max(float(importance.max(initial=0.0)), np.finfo(np.float64).tiny)
    places = np.arange(len(importance))
    return np.lexsort((places, np.round(own_score, DECIMALS), -np.round(relative, DECIMALS)))
