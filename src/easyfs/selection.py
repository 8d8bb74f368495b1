"""From statistics to a selection: scores, order, and how many."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easyfs.compression.ranking import class_contrast, importance_order, importance_score, node_votes, rank_inputs
from easyfs.compression.sequential import GreedySearch
from easyfs.engines.local import PANEL_COLUMNS, block_slices
from easyfs.moments import SecondMoment
from easyfs.redundancy import inverse_diagonal_dual, inverse_diagonal_primal
from easyfs.relevance import explained_share, orthonormal_basis
from easyfs.statistics import Plan, Statistics
from easyfs.stopping import NullGain
from easyfs.target import TargetBlocks, target_blocks

Array = NDArray[Any]

# A variance within a class below this share of the variance of all rows is rounding.
WITHIN_ROUNDING = 1e-12
# Without a target "auto" ends when the next column would add less than this share of what the selected ones cover.
LEAST_COVERAGE = 0.01


@dataclass(frozen=True)
class Constraints:
    """What may be selected.

    Attributes
    ----------
    include : ndarray of int
        Columns that are selected first, in this order.
    excluded : ndarray of bool, shape (d,)
        Columns that are never selected.
    groups : ndarray of int, shape (d,)
        Group of each column; a group is selected or left whole and counts as one.
    count : int or None
        Number of groups to select; None lets the data decide.
    """

    include: Array
    excluded: Array
    groups: Array
    count: int | None

    @cached_property
    def grouped(self) -> bool:
        """Whether any group has more than one column."""
        return len(np.unique(self.groups)) < len(self.groups)

    def keep_together(self, order: Array) -> Array:
        """The order with each group where its first column is."""
        if not self.grouped:
            return order
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        first = np.full(self.groups.max() + 1, len(order))
        np.minimum.at(first, self.groups, place)
        return np.lexsort((place, first[self.groups]))

    def of_groups(self, values: Array) -> Array:
        """For each column the smallest value in its group."""
        if not self.grouped:
            return values
        smallest = np.full(self.groups.max() + 1, values.max())
        np.minimum.at(smallest, self.groups, values)
        return smallest[self.groups]

    def members(self, column: int) -> Array:
        """All columns of a column's group."""
        return np.flatnonzero(self.groups == self.groups[column]) if self.grouped else np.array([column])


@dataclass(frozen=True)
class Selection:
    """An order of all columns, how many of them are selected, and why.

    ``coded``, where it is known, has a row for each selected column: what it says of every column beyond those selected
    before it, as the root of a share. For each column, where they are known: ``constant``, the share of rows in which it is
    ``missing``, and its ``relevance``, the share of it that the target explains.
    """

    order: Array
    n_selected: int
    scores: Array
    gains: Array
    groups: Array
    coded: Array | None = None
    constant: Array | None = None
    missing: Array | None = None
    relevance: Array | None = None

    def columns_of(self, n_groups: int) -> int:
        """How many columns the first ``n_groups`` groups of the order have."""
        labels = self.groups[self.order]
        new = np.concatenate([[True], labels[1:] != labels[:-1]])
        return int(np.searchsorted(np.cumsum(new), n_groups, side="right"))


def check_some_vary(constant: Array, excluded: Array) -> None:
    """At least one column that may be selected must have two values."""
    if constant[~excluded].all():
        raise ValueError(
            f"all {int((~excluded).sum())} columns{' that exclude leaves' if excluded.any() else ''} are constant (or "
            "missing throughout); there is nothing to choose between. Check that X holds the right columns."
        )


@dataclass(frozen=True)
class InputScale:
    """Exact scale of the inputs, from the moments of all rows."""

    spread: Array
    energy: Array
    constant: Array
    observed: Array


def input_scale(moment: SecondMoment, observed: Array, plan: Plan, excluded: Array) -> InputScale:
    """Standard deviation of the observed values, and the share of rows that has one."""
    d = len(plan.live)
    squares = np.maximum(moment.diag()[:d], 0.0)
    spread = np.sqrt(np.divide(squares, observed, out=np.zeros(d), where=observed > 0))
    # In units of the sample's spread; columns without any there are in units of their own size.
    constant = spread <= (1e-14 if plan.scaling.dtype == np.float64 else 1e-6) * plan.scaling.constant
    check_some_vary(constant, excluded)
    energy = np.where(constant, 0.0, observed / moment.weight)
    return InputScale(np.where(constant, 1.0, spread), energy, constant, observed / moment.weight)


class Chooser:
    """Takes columns one by one (or group by group) and follows what each adds."""

    def __init__(
        self, moment: SecondMoment, scale: InputScale, blocks: TargetBlocks, constraints: Constraints, eps2: float
    ):
        d = len(scale.spread)
        self.scale, self.constraints, self.blocks, self.n = scale, constraints, blocks, moment.weight
        self.auto = constraints.count is None
        self.n_groups = len(np.unique(constraints.groups[~constraints.excluded]))
        per_input = np.where(scale.constant, 0.0, 1.0 / scale.spread)

        def gram_columns(columns: Array) -> Array:
            return moment.columns(columns)[:d] * (per_input[:, None] * (per_input[columns] / moment.weight))

        self.search = GreedySearch(
            gram_columns,
            scale.energy,
            blocks.P,
            eps2,
            watched=slice(0, blocks.n_watched if self.auto else 0),
            max_steps=constraints.count or 32,
            dtype=moment.dtype,
            prefetch=not moment.folded,
        )
        self.null = NullGain(blocks.watched_gram, moment.weight, eps2)
        self.taken = np.zeros(d, dtype=bool)
        self.telling: Array | None = None
        self.done = 0
        self.candidates = ~(scale.constant | constraints.excluded)
        for column in constraints.include:
            if not self.taken[column]:
                self.take(constraints.members(column))

    def take(self, columns: Array, gain: Array | None = None) -> None:
        """Select a group of columns."""
        for j in columns:
            z, s = self.search.select(int(j), gain, self.candidates)
            if self.auto:
                self.null.update(z[: self.blocks.n_watched], s)
            self.taken[j] = True
            self.candidates[j] = False
        self.done += 1

    def finished(self) -> bool:
        """Whether as many are selected as asked for, or nothing that is left tells more than chance would."""
        if not self.auto:
            return self.done >= (self.constraints.count or 0)
        open_columns = self.open_columns()
        if not open_columns.any() or self.done == 0:
            return not open_columns.any()
        if self.blocks.n_supervised == 0:
            next_gain = np.where(open_columns, self.search.gain(), 0.0).max()
            return bool(next_gain < LEAST_COVERAGE * sum(self.search.gains))
        together = self._open_groups(open_columns) if self.constraints.grouped else []
        n_tested = int(open_columns.sum()) + len(together)
        bar = self.null.threshold(n_tested, len(self.search.selected))
        # Coverage may decide between columns that tell something of the target, but not bring in others before them.
        self.telling = open_columns & (self.search.watched_gain() >= bar)
        for columns in together:
            self.telling[columns] |= self._tells_together(columns, n_tested)
        return not self.telling.any()

    def _open_groups(self, open_columns: Array) -> list[Array]:
        """The columns of each group of several that may come next."""
        labels, sizes = np.unique(self.constraints.groups[open_columns], return_counts=True)
        return [np.flatnonzero((self.constraints.groups == label) & open_columns) for label in labels[sizes > 1]]

    def _tells_together(self, columns: Array, n_tested: int) -> bool:
        """Whether a group tells more of the target than as many permuted columns, such as the indicators of a category."""
        values, vectors = np.linalg.eigh(self.search.coded_products(columns))
        values = np.maximum(values, 0.0)
        P = vectors.T @ self.search.current_products(columns)[:, : self.blocks.n_watched]
        gain = float((np.square(P).sum(axis=1) / (self.search.eps2 + values)).sum())
        return gain >= self.null.of_group(values / (self.search.eps2 + values), n_tested)

    def open_columns(self) -> Array:
        """Columns that may come next: copies of selected ones only when nothing else is left."""
        fresh = self.candidates & ~self.search.copies
        return fresh if fresh.any() else self.candidates

    def take_best(self) -> None:
        """Select what adds most; when only constant columns are left, the first of them."""
        open_columns = self.open_columns() if self.telling is None else self.telling
        if not open_columns.any():
            self.take(self.constraints.members(int(np.flatnonzero(~self.taken & ~self.constraints.excluded)[0])))
            return
        gain = self.search.gain()
        if not self.constraints.grouped:
            self.take(np.array([self.search.best(gain, open_columns)]), gain)
            return
        group_gain = self._group_gain(gain)
        columns = self.constraints.members(self.search.best(group_gain, open_columns))
        self.take(_by_gain(columns, gain), group_gain)

    def _group_gain(self, gain: Array) -> Array:
        """Gain of each column's whole group, so that a large group has no advantage by its size.

        In the target: all columns together, less what the further ones would add by chance. In coverage: their mean.
        """
        search = self.search
        gain = gain.copy()
        remaining = max(1.0 - sum(search.gains), 0.0)
        by_chance = remaining / (max(self.n - 1.0, 1.0) * (1.0 + search.eps2))
        labels, sizes = np.unique(self.constraints.groups[self.candidates], return_counts=True)
        for label in labels[sizes > 1]:
            columns = np.flatnonzero((self.constraints.groups == label) & self.candidates)
            P = search.current_products(columns)
            coded = search.coded_products(columns)
            coded[np.diag_indices(len(columns))] += search.eps2
            gains = np.sum(P * np.linalg.solve(coded, P), axis=0)
            in_target, in_coverage = gains[: self.blocks.n_supervised].sum(), gains[self.blocks.n_supervised :].sum()
            gain[columns] = in_target - (len(columns) - 1) * by_chance + in_coverage / len(columns)
        return gain

    def selection(self, scores: Array | None = None, rest_order: Array | None = None) -> Selection:
        """The result: included and selected columns, the rest, copies, constants, excluded."""
        search, excluded = self.search, self.constraints.excluded
        gain = np.where(self.scale.constant, 0.0, search.gain())
        chosen = np.array(search.selected, dtype=np.intp)
        if scores is None:
            scores = gain.copy()
            scores[chosen] = search.gains
        if rest_order is None:
            rest_order = self.constraints.keep_together(_by_gain(np.arange(len(gain)), gain))
        constant = self.scale.constant
        rank = np.select([excluded, constant, search.copies], [3, 2, 1], 0)
        rest = rest_order[~self.taken[rest_order]]
        rest = rest[np.argsort(self.constraints.of_groups(rank)[rest], kind="stable")]
        scores = np.where(excluded, -np.inf, scores)
        return Selection(
            order=np.concatenate([chosen, rest]),
            n_selected=len(chosen),
            scores=scores,
            gains=np.array(search.gains),
            groups=self.constraints.groups,
            coded=search.coded_shares(),
            constant=constant,
            missing=np.where(self.scale.observed > 0, 1.0 - self.scale.observed, 1.0),
            relevance=self.blocks.alone,
        )


def _by_gain(columns: Array, gain: Array) -> Array:
    return columns[np.argsort(-gain[columns], kind="stable")]


def check_network_hears(plan: Plan, n_nodes: int) -> None:
    """Something must have varied in the rows that the network was drawn from."""
    if not n_nodes:
        raise ValueError(
            f"none of the {len(plan.live)} columns varies in the rows that the network was drawn from (the first block); "
            "draw it from rows in which they do (draw_network), and pass it to partial_fit as network."
        )


def select_sequential(
    stats: Statistics, constraints: Constraints, *, eps2: float, block_weights: tuple[float, float, float]
) -> Selection:
    """The sequential form: each step measures redundancy against what is already selected."""
    moment = stats.joint()
    scale = input_scale(moment, stats.observed, stats.plan, constraints.excluded)
    if stats.plan.target_kind is None:
        check_network_hears(stats.plan, int(stats.plan.live.sum()))
    chooser = Chooser(moment, scale, target_blocks(stats.plan, moment, scale.spread, block_weights), constraints, eps2)
    while not chooser.finished():
        chooser.take_best()
    return chooser.selection()


def select_ranking(
    stats: Statistics,
    constraints: Constraints,
    *,
    eps2: float,
    lambda1: float,
    lambda2: float,
    share: float,
    literal: bool,
    block_weights: tuple[float, float, float],
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
    chooser = Chooser(moment, scale, target_blocks(stats.plan, moment, scale.spread, block_weights), constraints, eps2)
    for column in order:
        if chooser.finished() or constraints.excluded[column]:
            break
        if not chooser.taken[column]:
            chooser.take(order[np.isin(order, constraints.members(column))])
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
    p = d + plan.n_nodes
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
