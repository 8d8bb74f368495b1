"""Take columns one by one: what tells more than chance comes first, then what is predicted and covered best.

At each step every column that is left is tested, at full precision, against the law of chance. Of those that pass, the one
with the largest gain of the search is taken, so that coverage may decide between columns that tell something, but never
bring in one that tells nothing before one that does. ``"auto"`` ends where none passes; a fixed number goes on by gain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.base.request import Request
from easyfs.base.result import Found, Selection
from easyfs.common.types import Array
from easyfs.passes.scale import InputScale
from easyfs.passes.spending import Spending
from easyfs.passes.target_matrix import TargetMatrix
from easyfs.sample.chance import Chance, group_score, score
from easyfs.stages.adjusting import Beyond, Products
from easyfs.stages.partial import BeyondOthers, PartialRelevance
from easyfs.stages.sequential import GreedySearch

# Tables without any relation to the target in which a column passes by itself.
LEVEL = 0.02
# A selected column is given up where the others leave it nothing to tell: the best of as many unrelated ones would tell
# more than it in at least this share of cases.
GIVEN_UP = 0.5
# Without a target "auto" ends when the next column would add less than this share of what the selected ones cover.
LEAST_COVERAGE = 0.01
# A column of which the selected ones explain more than this share is a near-copy: it comes behind all others unless it
# tells more than chance.
NEAR_COPY = 0.99
# Columns beyond a fixed number that the search looks ahead: a column that stands in for two others is given up for them
# when both are there.
LOOK_AHEAD = 8
# The law of chance is measured anew before the search ends, and when this many times as many columns have been taken, as
# long as the best column is not sure to tell more than chance anyway.
MEASURED_ANEW, SURE = 2.0, 1e-6


@dataclass(frozen=True, eq=False)
class Task:
    """What there is to choose from, and for what."""

    moment: Products
    scale: InputScale
    target: TargetMatrix
    constraints: Request
    eps2: float
    n_rows: float
    chance: Chance | None = None
    found: tuple[Found, ...] = ()
    beyond: Beyond | None = None  # where columns are adjusted for


class Chooser:
    """The columns taken so far, and what each added."""

    def __init__(self, task: Task):
        self.task, self.constraints = task, task.constraints
        self.auto = task.constraints.count is None
        self.candidates = ~(task.scale.constant | task.constraints.excluded)
        self.pending = [found for found in task.found if found.confirmed]
        self.hints = [found for found in task.found if not found.confirmed]
        self.protected = np.zeros(len(self.candidates), dtype=bool)  # matter together with others, or were asked for
        self.repeated: set[Found] = set()
        self.given_up: list[int] = []
        self.p_values: dict[int, float] = {}
        self.bonus: dict[int, float] = {}  # what a column adds together with others, beside its own gain
        self.joint: dict[int, float] = {}  # share of the target that it explains together with others
        self.curved: dict[int, float] = {}  # ... or by itself, in a curve
        self._groups = _open_groups(self.constraints, self.candidates)
        self._measured_at = 0
        self._n_adjusted = 0 if task.beyond is None else task.beyond.rank
        self.spending = Spending(self.constraints.limits, len(self.candidates))
        self.search = self._make_search()
        self._start()
        for column in self.constraints.include:
            if not self.taken[column]:
                members = self.constraints.members(column)
                self.protected[members] = True
                self.take(members, scores=self.scores())

    def _make_search(self) -> GreedySearch:
        task = self.task
        d = len(task.scale.spread)
        per_input = np.where(task.scale.constant, 0.0, 1.0 / task.scale.spread)

        def gram_columns(columns: Array) -> Array:
            return task.moment.columns(columns)[:d] * (per_input[:, None] * (per_input[columns] / task.moment.weight))

        return GreedySearch(
            gram_columns,
            task.scale.energy,
            task.target.P,
            task.eps2,
            max_steps=self.constraints.count or 32,
            dtype=task.moment.dtype,
            prefetch=not task.moment.folded,
        )

    def _start(self) -> None:
        """Nothing is taken yet."""
        task = self.task
        self.partial = PartialRelevance(task.scale.energy, task.target.Y, task.moment.dtype)
        self.taken = np.zeros(len(task.scale.spread), dtype=bool)
        self.done = 0
        self.spending.clear()

    def take(self, columns: Array, gain: Array | None = None, scores: Array | None = None, p_value: float = 1.0) -> None:
        """Select a group of columns; ``p_value`` is that of columns that matter together."""
        p_values = np.full(len(columns), p_value)
        if scores is not None and self.task.chance is not None:
            p_values = np.minimum(p_values, self.task.chance.law.p_value(scores[columns]))
        for j, p in zip(columns.tolist(), p_values.tolist(), strict=True):
            column = self.search.select(j, gain, self.candidates & ~self.taken)
            self.partial.add(j, column)
            self.taken[j] = True
            self.p_values[j] = min(p, self.p_values.get(j, 1.0))
        self.done += 1
        self.spending.take(int(columns[0]))

    @property
    def selected(self) -> list[int]:
        """The columns taken so far, in order."""
        return self.search.selected

    def _independent_rows(self, chance: Chance) -> float:
        """How many rows the sums amount to: repeated ones count once, and weights less the more they differ."""
        return self.task.n_rows / chance.sample.repeats * chance.rows_each

    def scores(self) -> Array:
        """How clearly each column that is left tells of the target beyond the selected ones, as a score of chance."""
        chance, n_selected = self.task.chance, len(self.selected)
        z = np.full(len(self.taken), -np.inf)
        if chance is None:
            return z
        n = self._independent_rows(chance)
        free, rank = n - 1.0 - n_selected - self._n_adjusted, self.partial.rank
        if not rank or free <= rank + 1.0:
            return z
        spread = chance.spread(float(rank), chance.tails_of, n, chance.tails_of_target)
        shares = self.partial.shares()
        z = np.where((shares > 0) & ~self.taken, score(shares, free, float(rank), spread), -np.inf)
        for columns, tails in zip(chance.units, chance.tails_of_units, strict=True):
            left = columns[self.candidates[columns] & ~self.taken[columns]]
            told, width = self.partial.of_group(left, self.search.gram_columns(left)[left]) if len(left) else (0.0, 0)
            if width:
                own = chance.spread(float(rank * width), tails, n, chance.tails_of_target)
                together = group_score(np.array(told), free, rank, width, float(own))
                z[left] = max(float(together), float(z[left].max()))
        return z

    def telling(self, ends: bool = True) -> tuple[Array, Array]:
        """Columns that may come next and tell more than chance, and the score of each.

        Before the search ``ends`` for want of one, and now and then before, the law of chance is measured anew.
        """
        z, passing = self._passing()
        chance, steps = self.task.chance, len(self.selected)
        if chance is None or steps <= self._measured_at:
            return passing, z
        doubtful = z[self.candidates].max(initial=-np.inf) < chance.law.bar(SURE)
        if doubtful and ((ends and not passing.any()) or steps > MEASURED_ANEW * self._measured_at):
            chance.refresh(np.array(self.selected))
            self._measured_at = steps
            z, passing = self._passing()
        return passing, z

    def _passing(self) -> tuple[Array, Array]:
        z = self.scores()
        bar = np.inf if self.task.chance is None else self.task.chance.law.bar(LEVEL)
        passing = self._open() & (z > bar)
        passing[self.given_up] = False
        return z, passing

    def _open(self) -> Array:
        """Columns that may come next: not taken, and within budget and sources."""
        return np.asarray(self.candidates & ~self.taken & self.spending.open())

    def room(self) -> int:
        """How many more groups may be taken."""
        count = self.constraints.count
        return len(self.candidates) if count is None else count - self.done

    def take_telling(self) -> None:
        """Take columns that tell more than chance, by themselves or together, until none is left or there is no room.

        Idle ones are then given up, and others may take their place.
        """
        while True:
            self._forward(0)
            at_count = self._state()
            self._forward(min(self.constraints.count or 0, LOOK_AHEAD))
            if self._give_up_idle():
                continue
            self._restore(at_count)
            return

    def _state(self) -> tuple[Any, ...]:
        progress = self.taken.copy(), self.done, self.spending.state()
        return self.search.state(), self.partial.state(), progress, list(self.pending)

    def _restore(self, state: tuple[Any, ...]) -> None:
        search, partial, (self.taken, self.done, spent), self.pending = state
        self.spending.restore(spent)
        self.search.restore(search)
        self.partial.restore(partial)

    def _forward(self, ahead: int) -> None:
        while self.room() + ahead > 0:
            passing, z = self.telling()
            gain = self._gain()
            together = self._next_together(passing)
            if together is not None:
                self._take_together(together, gain, z)
            elif passing.any():
                self._take_best(passing, gain, z)
            else:
                return

    def _next_together(self, passing: Array) -> Found | None:
        """The group of columns that explains most for each new column, if that is more than the best single one adds."""
        self.pending = [found for found in self.pending if not self.taken[list(found.columns)].all()]
        if not self.pending:
            return None
        copies = self.partial.explained() > NEAR_COPY
        for found in [f for f in self.pending if (self.taken | copies)[list(f.columns)].all()]:
            self.pending.remove(found)  # the curve of a near-copy is that of the column itself
            self.repeated.add(found)
        usable = [f for f in self.pending if self.candidates[list(f.columns)].all() and self._has_room(f)]
        if not usable:
            return None
        cost = self.spending.cost
        worth = {found: found.share / float(cost[self._new_of(found)].sum()) for found in usable}
        best = max(usable, key=lambda found: worth[found])
        alone = np.where(passing, self.partial.of_target() / cost, 0.0).max(initial=0.0)
        return best if worth[best] > alone - 1.0 / self.task.n_rows else None

    def _new_of(self, found: Found) -> Array:
        """The first column of each group that would be new."""
        columns = np.array(found.columns)
        new = columns[~self.taken[columns]]
        return np.asarray(new[np.unique(self.constraints.groups[new], return_index=True)[1]])

    def _has_room(self, found: Found) -> bool:
        new = self._new_of(found)
        return len(new) <= self.room() and self.spending.allows(new)

    def _take_together(self, found: Found, gain: Array, z: Array) -> None:
        columns = np.array(found.columns)
        self.protected[columns] = True
        new = columns[~self.taken[columns]]
        n_new = len(self._new_of(found))
        for j in _by_gain(new, gain, self.search.tie):
            if not self.taken[j]:
                members = self.constraints.members(int(j))
                self.protected[members] = True
                self.bonus[int(j)] = self.task.target.weight * found.share / n_new
                if not found.plain:
                    shares = self.curved if len(columns) == 1 else self.joint
                    shares[int(j)] = found.share / n_new
                self.take(_by_gain(members, gain, self.search.tie), None, z, found.p_value if found.confirmed else 1.0)

    def _take_best(self, allowed: Array, gain: Array, z: Array) -> None:
        """Take the column or group with the largest gain for what it costs."""
        gain = gain / self.spending.cost
        if not self.constraints.grouped:
            self.take(np.array([self.search.best(gain, allowed)]), gain, z)
            return
        members = self.constraints.members(self.search.best(gain, allowed))
        self.take(_by_gain(members, self.search.gain(), self.search.tie), gain, z)

    def _give_up_idle(self) -> bool:
        """Leave out selected columns that the other selected ones leave nothing to tell; whether there were any."""
        chance = self.task.chance
        if chance is None or self.constraints.grouped or len(self.selected) < 2:
            return False
        n = self._independent_rows(chance)
        rank = max(1, self.partial.rank)
        selected = np.array(self.selected)
        partial = self.partial
        others = BeyondOthers(partial.rows[:, selected].T, partial.steps, partial.target, partial.rounding)
        dropped: list[int] = []
        while len(others.places) > 1:
            left = selected[others.places]
            free = n - len(left) - self._n_adjusted
            if free <= rank + 1.0:
                break
            shares = others.shares()
            spread = chance.spread(float(rank), chance.tails_of[left], n, chance.tails_of_target)
            p = chance.law.p_value(score(shares, free, float(rank), spread))
            p[self.protected[left]] = 0.0
            worst = int(np.argmin(np.where(p > GIVEN_UP, shares, np.inf)))
            if p[worst] <= GIVEN_UP:
                break
            dropped.append(int(left[worst]))
            others.drop(worst)
        if not dropped:
            return False
        self.given_up += dropped
        self.search.begin_again()
        self._start()
        for j in selected[others.places][: self.constraints.count]:
            self.take(np.array([j]))
        self._measured_at = 0
        return True

    def fill(self) -> None:
        """Take what adds most until there are as many as asked for; near-copies, then combinations, then constants last."""
        self.pending += self.hints
        self.given_up, gave_up = [], list(self.given_up)
        while self.room() > 0:
            left = ~self.taken & ~self.constraints.excluded & self.spending.open()
            if not left.any():
                return
            open_columns = self.candidates & left
            if not open_columns.any():
                self.take(self.constraints.members(int(np.flatnonzero(left)[0])))
                continue
            z, passing = self._passing()
            passing[gave_up] = False
            gain = self._gain()
            together = self._next_together(open_columns)
            rank = self.rest_rank()
            if together is not None:
                self._take_together(together, gain, z)
            elif passing.any():
                self._take_best(passing, gain, z)
            elif (begun := self._begun()).any():
                self._take_best(begun, gain, z)
            else:
                self._take_best(open_columns & (rank == rank[open_columns].min()), gain, z)

    def _begun(self) -> Array:
        """Columns of the best confirmed group that has no room as a whole."""
        found = [f for f in self.pending if f.confirmed and len(self._new_of(f)) and self.candidates[list(f.columns)].all()]
        begun = np.zeros(len(self.taken), dtype=bool)
        if found:
            columns = np.array(max(found, key=lambda f: f.share).columns)
            begun[columns[~self.taken[columns]]] = True
        return begun & self.spending.open()

    def rest_rank(self) -> Array:
        """Where columns that tell no more than chance stand: 0 new ones, 1 near-copies, 2 combinations of selected ones."""
        explained, left = self.partial.explained(), self.task.scale.left
        if left is not None:  # what is adjusted for explains, too
            explained = 1.0 - left * (1.0 - explained)
        return np.select([self.partial.dependent(), explained > NEAR_COPY], [2, 1], 0)

    def cover(self) -> None:
        """Without a target: take columns while they add to what is covered."""
        while True:
            open_columns = self._open()
            allowed = open_columns & ~self.partial.dependent()
            allowed = allowed if allowed.any() else open_columns
            gain = self._gain()
            best = np.where(open_columns, self.search.gain(), 0.0).max(initial=0.0)
            if not allowed.any() or (self.done and best < LEAST_COVERAGE * sum(self.search.gains)):
                return
            self._take_best(allowed, gain, np.full(len(gain), -np.inf))

    def _gain(self) -> Array:
        """Gain of each column, or of each column's whole group, so that a large group has no advantage by its size.

        In the target: all columns together, less what the further ones would add by chance. In coverage: their mean.
        """
        search = self.search
        gain = search.gain()
        if not self.constraints.grouped:
            return gain
        gain = gain.copy()
        remaining = max(1.0 - sum(search.gains), 0.0)
        by_chance = remaining / (max(self.task.n_rows - 1.0, 1.0) * (1.0 + search.eps2))
        n_supervised = self.task.target.n_supervised
        for group in self._groups:
            columns = group[~self.taken[group]]
            if len(columns) < 2:
                continue
            P = search.current_products(columns)
            coded = search.coded_products(columns)
            coded[np.diag_indices(len(columns))] += search.eps2
            gains = np.sum(P * np.linalg.solve(coded, P), axis=0)
            in_target, in_coverage = gains[:n_supervised].sum(), gains[n_supervised:].sum()
            gain[columns] = in_target - (len(columns) - 1) * by_chance + in_coverage / len(columns)
        return gain

    def selection(self, scores: Array | None = None, rest_order: Array | None = None) -> Selection:
        """The result: included and selected columns, the rest, near-copies, combinations, constants, excluded."""
        search, excluded, constant = self.search, self.constraints.excluded, self.task.scale.constant
        chosen = np.array(search.selected, dtype=np.intp)
        gains = np.array([g + self.bonus.get(j, 0.0) for j, g in zip(search.selected, search.gains, strict=True)])
        gains /= max(float(gains.sum()), 1.0)  # measured on different rows, shares may add up to a little more than all
        gain = np.where(constant, 0.0, search.gain())
        if scores is None:
            scores = gain.copy()
            scores[chosen] = gains
        if rest_order is None:
            head = gain / self.spending.cost
            head[self.given_up] += head.max(initial=0.0) + 1.0
            rest_order = self.constraints.keep_together(_by_gain(np.arange(len(gain)), head, search.tie))
        rank = self.rest_rank()
        rank[self.given_up] = -1
        rank = np.select([excluded, constant], [4, 3], rank)
        rest = rest_order[~self.taken[rest_order]]
        rest = rest[np.argsort(self.constraints.of_groups(rank)[rest], kind="stable")]
        supervised = self.task.chance is not None
        steps = self.partial.steps / np.sqrt(max(1, self.partial.steps.shape[1]))
        return Selection(
            order=np.concatenate([chosen, rest]),
            n_selected=len(chosen),
            scores=np.where(excluded, -np.inf, scores),
            gains=gains,
            groups=self.constraints.groups,
            coded=_shares(self.partial.rows, self.task.scale.energy),
            constant=constant,
            missing=np.where(self.task.scale.observed > 0, 1.0 - self.task.scale.observed, 1.0),
            relevance=self.task.target.relevance,
            steps=steps.copy() if supervised else None,
            told=self._told(steps) if supervised else None,
            next_told=self.partial.of_target() if supervised else None,
            p_values=np.array([self.p_values.get(j, 1.0) for j in search.selected]) if supervised else None,
            found=tuple(found for found in self.task.found if found.confirmed and found not in self.repeated),
            adjusted=tuple(self.constraints.adjusted.tolist()),
            adjusted_share=None if self.task.beyond is None else self.task.beyond.of_target(),
        )

    def _told(self, steps: Array) -> Array:
        """Share of the target that each selected column added: in a line, in a curve, or together with others.

        Joint effects are measured on other rows than the linear part; where all shares add up to more than the whole, they
        are scaled down to it.
        """
        linear = np.square(steps).sum(axis=1).tolist()
        told = np.array(
            [
                max(share, self.curved.get(j, 0.0)) + self.joint.get(j, 0.0)
                for j, share in zip(self.selected, linear, strict=True)
            ]
        )
        return told / max(float(told.sum()), 1.0)


def _shares(rows: Array, energy: Array) -> Array:
    """What each selected column says of every column beyond those before it, as the root of a share."""
    root = np.sqrt(np.where(energy > 0, energy, 1.0))
    return np.asarray(np.divide(rows, root, out=np.empty(rows.shape, dtype=np.float32), casting="same_kind"))


def _open_groups(constraints: Request, candidates: Array) -> list[Array]:
    """The columns of each group of several that may be taken."""
    if not constraints.grouped:
        return []
    labels, sizes = np.unique(constraints.groups[candidates], return_counts=True)
    return [np.flatnonzero((constraints.groups == label) & candidates) for label in labels[sizes > 1]]


def _by_gain(columns: Array, gain: Array, tie: float) -> Array:
    """Columns in the order of their gains; those that differ by rounding by their place."""
    order = columns[np.argsort(-gain[columns], kind="stable")]
    values = gain[order]
    rounding = tie * (np.abs(values[:-1]) + 1e-3 * np.abs(values).max(initial=0.0))
    run = np.concatenate([[0], np.cumsum(values[:-1] - values[1:] > rounding)])[: len(order)]
    return np.asarray(order[np.lexsort((order, run))])


def take_one_by_one(task: Task) -> Selection:
    """The sequential form: each step measures redundancy against what is already selected."""
    chooser = Chooser(task)
    if task.chance is None:
        if task.constraints.count is None:
            chooser.cover()
        else:
            chooser.fill()
        return chooser.selection()
    chooser.take_telling()
    if task.constraints.count is not None:
        chooser.fill()
    elif not chooser.selected:
        chooser._take_best(chooser._open(), chooser._gain(), chooser.scores())
    return chooser.selection()


def follow(task: Task, order: Array) -> Chooser:
    """Take columns in a given order (the paper's ranking): as many as asked for, or until none that is left tells."""
    chooser = Chooser(task)
    for column in order:
        if task.constraints.excluded[column]:
            break
        passing, z = chooser.telling(ends=chooser.auto)
        if chooser.room() <= 0 or (chooser.auto and chooser.done and not passing.any()):
            break
        if not chooser.taken[column]:
            chooser.take(order[np.isin(order, task.constraints.members(column))], scores=z)
    return chooser
