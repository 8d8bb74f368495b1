"""From statistics to a selection, in both forms: the sequential search, and the paper's ranking."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from easyfs.base.request import Request
from easyfs.base.result import Selection
from easyfs.common.threads import PANEL_COLUMNS, block_slices
from easyfs.common.types import Array
from easyfs.passes.choosing import Task, follow, take_one_by_one
from easyfs.passes.plan import Plan, sources_of
from easyfs.passes.scale import InputScale, adjusted_scale, input_scale
from easyfs.passes.settings import ChoiceSettings, RankingChoice, RankingPlan
from easyfs.passes.statistics import Statistics
from easyfs.passes.target_matrix import target_matrix
from easyfs.sample.chance import Chance
from easyfs.stages.adjusting import Beyond
from easyfs.stages.ranking import class_contrast, importance_order, importance_score, node_votes, rank_inputs
from easyfs.stages.redundancy import leave_one_out_gain, leave_one_out_gain_of_rows
from easyfs.stages.relevance import conditional_variance, within_class_std
from easyfs.sums.second_moment import SecondMoment

# Squared precision of the sequential form; it adds this share of the noise of the target, up to this much of it.
EPS2, NOISE_SHARE, MOST_NOISE = 0.2, 0.1, 10.0
# A node whose standard deviation is no larger says nothing.
DEAD_NODE = 1e-6


def check_network_hears(plan: Plan, n_nodes: int) -> None:
    """Something must have varied in the rows that the plan was made from."""
    if not n_nodes:
        raise ValueError(
            f"none of the {len(plan.live)} columns varies in the rows that the plan was made from (the first block); "
            "draw it from rows in which they do (draw_plan), and pass it to partial_fit as plan."
        )


def choose(plan: Plan, statistics: Statistics, request: Request, settings: ChoiceSettings) -> Selection:
    """The last of the three steps: from sums to an order, and how many; nothing is changed.

    Parameters
    ----------
    plan : Plan
        What the sums were made with.
    statistics : Statistics
        The sums over all rows.
    request : Request
        How many columns, and which must, may or may not be selected.
    settings : SequentialChoice or RankingChoice
        What was asked of the method.
    """
    moment = statistics.joint()
    scale = input_scale(moment, statistics.observed, plan, request.excluded)
    if isinstance(settings, RankingChoice):
        return _by_ranking(plan, statistics, (moment, scale), request, settings)
    if plan.target.kind is None:
        check_network_hears(plan, int(plan.live.sum()))
    check_same_plan(plan, request)
    eps2 = _eps2_of_noise(plan, statistics) if settings.eps2 is None else settings.eps2
    return take_one_by_one(_task(plan, statistics, (moment, scale), request, eps2, settings.coverage))


def check_same_plan(plan: Plan, request: Request) -> None:
    """What was learnt on the sample was learnt beyond certain columns, and with certain sources."""
    for name, made, asked in (
        ("adjust_for", plan.adjusted, tuple(request.adjusted.tolist())),
        ("sources", plan.sources, sources_of(request)),
    ):
        if made != asked:
            raise ValueError(
                f"the plan (the first block) was made with other {name} than this selector has now; begin anew with fit, "
                "or set it back."
            )


def _eps2_of_noise(plan: Plan, statistics: Statistics) -> float:
    """The noisier the target, for the rows there are, the less a column that repeats another is worthless."""
    noise = 0.0 if plan.fitted is None else min(plan.fitted.penalty / statistics.n_counted, MOST_NOISE)
    return EPS2 + NOISE_SHARE * noise


def _task(
    plan: Plan,
    statistics: Statistics,
    sums: tuple[SecondMoment, InputScale],
    constraints: Request,
    eps2: float,
    coverage: float,
) -> Task:
    (moment, scale), n_rows = sums, statistics.n_counted
    beyond = None
    if len(constraints.adjusted):
        classes = plan.target.kind == "classes"
        beyond = Beyond(moment, constraints.adjusted, plan.n_inputs + plan.network.n_extra, classes=classes)
        scale = adjusted_scale(scale, beyond, constraints.excluded)
    target = target_matrix(plan, beyond or moment, n_rows, scale.spread, coverage)
    if scale.left is not None:
        if plan.target.kind is not None and not target.Y.shape[1]:
            raise ValueError("the columns of adjust_for explain the whole target; nothing of it is left to select for.")
        target = replace(target, P=np.where(scale.left[:, None] > 0, target.P, 0.0))  # no rounding of what is gone
    tested = ~(scale.constant | constraints.excluded)
    chance = None
    if plan.sample is not None and target.Y.shape[1]:
        labels, sizes = np.unique(constraints.groups[tested], return_counts=True)
        units = [np.flatnonzero((constraints.groups == label) & tested) for label in labels[sizes > 1]]
        chance = Chance(plan.sample, units, tested, plan.seed, plan.chosen_from)
    return Task(beyond or moment, scale, target, constraints, eps2, n_rows, chance, plan.found, beyond)


def _by_ranking(
    plan: Plan,
    statistics: Statistics,
    sums: tuple[SecondMoment, InputScale],
    request: Request,
    settings: RankingChoice,
) -> Selection:
    """The paper's ranking: one score for each node, handed back to the inputs once.

    What each column then adds, taken in that order, is measured as in the sequential form.
    """
    moment, scale = sums
    importance, own_score = ranking_importance(plan, statistics, moment, scale, settings)
    order = request.keep_together(importance_order(importance, own_score))  # a group ranks with its best column
    last = request.of_groups(np.where(request.excluded, 2, scale.constant * 1))
    order = order[np.argsort(last[order], kind="stable")]
    chooser = follow(_task(plan, statistics, sums, request, settings.eps2, 0.0), order)
    return chooser.selection(np.where(scale.constant, 0.0, importance), order)


def ranking_importance(
    plan: Plan, statistics: Statistics, moment: SecondMoment, scale: InputScale, settings: RankingChoice
) -> tuple[Array, Array]:
    """Importance ``H`` of each input, and the score ``S`` of its own node (smaller is better)."""
    d = plan.n_inputs
    p = d + plan.network.n_extra
    center = moment.mean[:p]
    spread = np.sqrt(np.maximum(moment.diag()[:p], 0.0) / moment.weight)
    nodes = np.flatnonzero(np.concatenate([~scale.constant & plan.live, spread[d:] > DEAD_NODE]))
    check_network_hears(plan, len(nodes))
    if isinstance(plan.settings, RankingPlan) and plan.settings.literal:  # the paper standardises the inputs only
        spread[d:] = 1.0
        center[d:] = 0.0
    units = center[nodes], spread[nodes]
    if plan.by_class:
        scores, contrast = _scores_of_classes(statistics, nodes, units, settings)
    else:
        targets = np.arange(p, moment.p)
        cross = moment.columns(targets)
        L = conditional_variance(cross[nodes], cross[targets], moment.diag()[nodes], moment.dtype)
        scores, contrast = [importance_score(L, _redundancy(moment, nodes, units, settings.eps2), settings.lambda1)], None
    votes = np.zeros(p)
    votes[nodes] = node_votes(scores, settings.top_share, contrast)
    own = np.full(p, np.inf)
    own[nodes] = np.mean(scores, axis=0)
    # An input supports itself alone, and nodes without a vote do not count.
    extra = d + np.flatnonzero(votes[d:])
    return votes[:d] + rank_inputs(votes, plan.network.support(extra), d), own[:d]


def _scores_of_classes(
    statistics: Statistics, nodes: Array, units: tuple[Array, Array], settings: RankingChoice
) -> tuple[list[Array], Array]:
    """Scores of the nodes for each class, and how much each node differs between classes."""
    center, spread = units
    scores, means, variances = [], [], []
    for code in sorted(statistics.moments):
        part = statistics.moments[code]
        L = within_class_std(part.diag()[nodes], part.weight, spread)
        scores.append(importance_score(L, _redundancy(part, nodes, units, settings.eps2), settings.lambda1))
        means.append((part.mean[nodes] - center) / spread)
        variances.append(np.square(L))
    return scores, class_contrast(np.array(means), np.array(variances), settings.lambda2)


def _redundancy(moment: SecondMoment, nodes: Array, units: tuple[Array, Array], eps2: float) -> Array:
    """``Q`` of each node up to a constant, which min-max normalisation removes."""
    p = len(nodes)
    shift, scale = units
    if moment.folded or moment.n_rows >= p:
        gram = moment.gram()
        if p < len(gram):
            gram = gram[np.ix_(nodes, nodes)]
        offset = moment.mean[nodes] - shift
        for part in block_slices(p, PANEL_COLUMNS):  # beside the matrix itself, little memory
            gram[part] += moment.weight * np.outer(offset[part], offset)
            gram[part] /= np.outer(scale[part], scale)
        return leave_one_out_gain(gram, moment.weight, eps2)
    rows = moment.rows()
    root = np.sqrt(rows.weights())[:, None]

    def columns(part: slice) -> Array:
        values = rows.take(nodes[part]).astype(np.float64)
        return np.asarray((values - shift[part]) / scale[part] * root)

    return leave_one_out_gain_of_rows(columns, (moment.n_rows, p), moment.weight, eps2)
