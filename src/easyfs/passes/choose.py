"""From statistics to a selection, in both forms: the sequential search, and the paper's ranking."""

from __future__ import annotations

import numpy as np

from easyfs.base.request import Constraints
from easyfs.base.result import Selection
from easyfs.common.threads import PANEL_COLUMNS, block_slices
from easyfs.common.types import Array
from easyfs.passes.choosing import Task, choose, follow
from easyfs.passes.plan import Plan
from easyfs.passes.scale import InputScale, input_scale
from easyfs.passes.statistics import Statistics
from easyfs.passes.target_matrix import target_matrix
from easyfs.sample.chance import Chance
from easyfs.stages.ranking import class_contrast, importance_order, importance_score, node_votes, rank_inputs
from easyfs.stages.redundancy import inverse_diagonal_dual, inverse_diagonal_primal
from easyfs.stages.relevance import explained_share, orthonormal_basis
from easyfs.sums.second_moment import SecondMoment

# A variance within a class below this share of the variance of all rows is rounding.
WITHIN_ROUNDING = 1e-12


def check_network_hears(plan: Plan, n_nodes: int) -> None:
    """Something must have varied in the rows that the network was drawn from."""
    if not n_nodes:
        raise ValueError(
            f"none of the {len(plan.live)} columns varies in the rows that the network was drawn from (the first block); "
            "draw it from rows in which they do (draw_network), and pass it to partial_fit as network."
        )


def _task(
    stats: Statistics, moment: SecondMoment, scale: InputScale, constraints: Constraints, eps2: float, coverage: float
) -> Task:
    plan, n_rows = stats.plan, stats.n_counted
    target = target_matrix(plan, moment, n_rows, scale.spread, coverage)
    tested = ~(scale.constant | constraints.excluded)
    chance = None
    if plan.sample is not None and target.Y.shape[1]:
        labels, sizes = np.unique(constraints.groups[tested], return_counts=True)
        units = [np.flatnonzero((constraints.groups == label) & tested) for label in labels[sizes > 1]]
        chance = Chance(plan.sample, units, tested, plan.seed)
    return Task(moment, scale, target, constraints, eps2, n_rows, chance, plan.found)


def select_sequential(stats: Statistics, constraints: Constraints, *, eps2: float, coverage: float) -> Selection:
    """The sequential form: each step measures redundancy against what is already selected."""
    moment = stats.joint()
    scale = input_scale(moment, stats.observed, stats.plan, constraints.excluded)
    if stats.plan.target_kind is None:
        check_network_hears(stats.plan, int(stats.plan.live.sum()))
    return choose(_task(stats, moment, scale, constraints, eps2, coverage))


def select_ranking(
    stats: Statistics,
    constraints: Constraints,
    *,
    eps2: float,
    lambda1: float,
    lambda2: float,
    share: float,
    literal: bool,
) -> Selection:
    """The paper's ranking: one score for each node, handed back to the inputs once.

    What each column then adds, taken in that order, is measured as in the sequential form.
    """
    moment = stats.joint()
    scale = input_scale(moment, stats.observed, stats.plan, constraints.excluded)
    importance, own_score = ranking_importance(
        stats, moment, scale, eps2=eps2, lambda1=lambda1, lambda2=lambda2, share=share, literal=literal
    )
    order = constraints.keep_together(importance_order(importance, own_score))  # a group ranks with its best column
    last = constraints.of_groups(np.where(constraints.excluded, 2, scale.constant * 1))
    order = order[np.argsort(last[order], kind="stable")]
    chooser = follow(_task(stats, moment, scale, constraints, eps2, 0.0), order)
    return chooser.selection(np.where(scale.constant, 0.0, importance), order)


def ranking_importance(
    stats: Statistics,
    moment: SecondMoment,
    scale: InputScale,
    *,
    eps2: float,
    lambda1: float,
    lambda2: float,
    share: float,
    literal: bool,
) -> tuple[Array, Array]:
    """Importance ``H`` of each input, and the score ``S`` of its own node (smaller is better)."""
    plan = stats.plan
    d = len(plan.live)
    p = d + plan.network.n_extra
    center = moment.mean[:p]
    variance = np.maximum(moment.diag()[:p], 0.0) / moment.weight
    spread = np.sqrt(variance)
    nodes = np.flatnonzero(np.concatenate([~scale.constant & plan.live, spread[d:] > 1e-6]))
    check_network_hears(plan, len(nodes))
    if literal:  # the paper standardises the inputs only
        spread[d:] = 1.0
        center[d:] = 0.0
    relevance: list[Array] = []
    redundancy: list[Array] = []
    contrast = None
    if plan.by_class:
        means, variances = [], []
        for code in sorted(stats.moments):
            part = stats.moments[code]
            within = part.diag()[nodes] / part.weight / spread[nodes] ** 2
            within[within < WITHIN_ROUNDING] = 0.0  # all rows of the class are the same, such as a class of one row
            relevance.append(np.sqrt(within))
            redundancy.append(_redundancy(part, nodes, center, spread, eps2))
            means.append((part.mean[nodes] - center[nodes]) / spread[nodes])
            variances.append(within)
        contrast = class_contrast(np.array(means), np.array(variances), lambda2)
    else:
        targets = np.arange(p, moment.p)
        cross = moment.columns(targets)
        basis = orthonormal_basis(cross[targets])
        explained = explained_share(cross[nodes] @ basis, moment.diag()[nodes])
        relevance.append(basis.shape[1] - explained)
        redundancy.append(_redundancy(moment, nodes, center, spread, eps2))
    scores = [importance_score(L, Q, lambda1) for L, Q in zip(relevance, redundancy, strict=True)]
    votes = np.zeros(p)
    votes[nodes] = node_votes(scores, share, contrast)
    own = np.full(p, np.inf)
    own[nodes] = np.mean(scores, axis=0)
    # An input supports itself alone, and nodes without a vote do not count.
    extra = d + np.flatnonzero(votes[d:])
    return votes[:d] + rank_inputs(votes, plan.network.support(extra), d), own[:d]


def _redundancy(moment: SecondMoment, nodes: Array, center: Array, spread: Array, eps2: float) -> Array:
    """``Q`` of each node up to a constant, which min-max normalisation removes: ``-1/2 log (G^-1)_ii``."""
    p = len(nodes)
    alpha = (p - 1) / (moment.weight * eps2)
    shift, scale = center[nodes], spread[nodes]
    if moment.folded or moment.n_rows >= p:
        gram = moment.gram()
        if p < len(gram):
            gram = gram[np.ix_(nodes, nodes)]
        offset = moment.mean[nodes] - shift
        for part in block_slices(p, PANEL_COLUMNS):  # beside the matrix itself, little memory
            gram[part] += moment.weight * np.outer(offset[part], offset)
            gram[part] /= np.outer(scale[part], scale)
        return np.asarray(-0.5 * np.log(inverse_diagonal_primal(gram, alpha)))
    rows = moment.rows()
    root = np.sqrt(rows.weights())[:, None]

    def columns(part: slice) -> Array:
        values = rows.take(nodes[part]).astype(np.float64)
        return np.asarray((values - shift[part]) / scale[part] * root)

    return np.asarray(-0.5 * np.log(inverse_diagonal_dual(columns, (moment.n_rows, p), alpha)))
