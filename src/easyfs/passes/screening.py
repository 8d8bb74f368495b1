"""Very wide tables: which columns are compared exactly where the sums of all of them do not fit into memory.

One pass gives the relevance of every column by itself, on all rows; a selection on the sample says which columns tell
something beyond others, or together with others. The best by either are the survivors, as many as memory has room for, and
they go through an ordinary fit. What was given up is reported: the others are known by their own relevance alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from easyfs.base.request import Request
from easyfs.base.result import Found, Screened, Selection
from easyfs.common.threads import block_rows, block_slices, map_blocks
from easyfs.common.types import Array
from easyfs.passes.block import Block
from easyfs.passes.choose import choose
from easyfs.passes.kernels import NUMPY
from easyfs.passes.make_plan import Prepared, make_plan
from easyfs.passes.plan import Plan
from easyfs.passes.settings import SequentialChoice, SequentialPlan
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import class_codes, summarise
from easyfs.sample.rows import LEFT, orthonormal
from easyfs.stages.relevance import explained_share, orthonormal_basis

# A fit may hold so many gigabytes, if nothing else is said: half of them for sums, or the rows where these take less.
MEMORY_LIMIT = 4.0
GIGABYTE = 1 << 30


def too_wide(n_columns: int, memory_limit: float) -> str:
    """What is said of columns that can be compared by a screen alone, where there can be none."""
    return (
        f"X has {n_columns:,} columns, and by now too many rows to compare them all within memory_limit={memory_limit:g} "
        "(gigabytes). fit screens the columns of such a table, also of one in files (easyfs.scan); or raise memory_limit."
    )


def most_columns(n_rows: float, memory_limit: float) -> int:
    """How many columns can be compared exactly: their products with each other, or all their rows, fit into memory."""
    room = memory_limit * GIGABYTE / 2.0
    return max(1, int(np.sqrt(room / 8.0)), int(room / (8.0 * max(n_rows, 1.0))))


@dataclass
class Marginals:
    """Sums of each column by itself, with the targets, and with the columns that are adjusted for; they add up.

    Behind the targets come the columns that are adjusted for, in ``cross``, ``target_sums`` and ``target_gram``.
    """

    weight: float
    sums: Array
    squares: Array
    cross: Array
    target_sums: Array
    target_gram: Array
    observed: Array
    n_rows: int

    def __add__(self, other: Marginals) -> Marginals:
        return Marginals(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def energy(self) -> Array:
        """Sum of squares of each column about its mean."""
        return np.asarray(np.maximum(self.squares - self.sums**2 / self.weight, 0.0))

    def relevance(self, plan: Plan) -> Array | None:
        """Share of each column that the target explains, beyond those that are adjusted for; None without a target."""
        t, dtype = self.cross.shape[1] - len(plan.adjusted), plan.scaling.dtype
        if not t:
            return None
        gram = self.target_gram - np.outer(self.target_sums, self.target_sums) / self.weight
        cross, energy = self.cross - np.outer(self.sums, self.target_sums) / self.weight, self.energy
        before = gram[:t, :t] if plan.adjusted else None
        if plan.adjusted:
            white = orthonormal_basis(gram[t:, t:], dtype=dtype)
            said, of_target = cross[:, t:] @ white, gram[:t, t:] @ white
            left = energy - np.square(said).sum(axis=1)
            energy = np.where(left > LEFT * energy, left, 0.0)
            cross, gram = cross[:, :t] - said @ of_target.T, gram[:t, :t] - of_target @ of_target.T
        basis = orthonormal_basis(gram, classes=plan.target.kind == "classes", dtype=dtype, before=before)
        return explained_share(cross @ basis, energy)


def marginals(plan: Plan, block: Block) -> Marginals:
    """The sums of each column by itself over the rows of a block; nothing is changed."""
    codes, labels = class_codes(plan, block)
    n_targets = len(labels) if plan.target.kind == "classes" else plan.target.n_values
    dtype, d, adjusted = plan.scaling.dtype, plan.n_inputs, list(plan.adjusted)

    def of_rows(rows: slice) -> Marginals:
        weight = None if block.weight is None else block.weight[rows]
        X = NUMPY.empty(rows.stop - rows.start, d, plan.scaling, block.X)
        observed = NUMPY.scale(block.X[rows], plan.scaling, weight, X)
        Y = np.zeros((len(X), 0), dtype=dtype)
        if codes is not None:
            Y = plan.target.columns(codes[rows], n_targets, dtype)
        if adjusted:
            Y = np.concatenate([Y, X[:, adjusted]], axis=1)
        w = np.ones(len(X), dtype=dtype) if weight is None else weight.astype(dtype)
        weighed = Y * w[:, None]
        return Marginals(
            float(w.sum(dtype=np.float64)),
            (w @ X).astype(np.float64),
            (w @ np.square(X)).astype(np.float64),
            (X.T @ weighed).astype(np.float64),
            weighed.sum(axis=0, dtype=np.float64),
            (weighed.T @ Y).astype(np.float64),
            np.asarray(observed),
            len(X),
        )

    t = n_targets + len(adjusted)
    total = Marginals(0.0, np.zeros(d), np.zeros(d), np.zeros((d, t)), np.zeros(t), np.zeros((t, t)), np.zeros(d), 0)
    for part in map_blocks(of_rows, block_slices(block.n_rows, block_rows(d, dtype.itemsize))):
        total = total + part
    return total


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table, wherever they are, for a screen.

    Attributes
    ----------
    sample : Block
        A sample of them.
    marginals : callable
        Of a plan: the sums of each column by itself, over all rows.
    statistics : callable
        Of a plan for some columns, the sample with these alone, and the columns: the sums over all rows.
    """

    sample: Block
    marginals: Callable[[Plan], Marginals]
    statistics: Callable[[Prepared, Array], Statistics]


def choose_screened(
    rows: Rows,
    settings: tuple[SequentialPlan, SequentialChoice],
    request: Request,
    most: int,
    seeds: tuple[int, np.random.Generator],
) -> Selection:
    """Choose among the columns that survive a screen, and put the others behind them.

    Parameters
    ----------
    rows : Rows
        The table.
    settings : tuple of SequentialPlan and SequentialChoice
        What was asked of the method.
    request : Request
        How many columns, and which must, may or may not be selected.
    most : int
        How many columns can be compared exactly.
    seeds : tuple of int and Generator
        Seed of the rows that are drawn, and where the network's weights come from.
    """
    sample, (for_plan, for_choice), (seed, rng) = rows.sample, settings, seeds
    first = make_plan(sample, for_plan, request, seed, rng)
    on_sample = choose(
        first.plan, summarise(first.plan, sample, scaled=(first.inputs, first.observed)), request, for_choice
    )
    sums = rows.marginals(first.plan)
    if len(request.adjusted) >= most:
        raise ValueError(
            f"adjust_for names {len(request.adjusted):,} columns, and no more than {most:,} can be compared within "
            "memory_limit; name fewer, or give it more gigabytes."
        )
    columns = _survivors(on_sample, sums, request, first.plan, most - len(request.adjusted))
    n_groups = len(np.unique(request.groups[columns]))
    columns = np.union1d(columns, request.adjusted)
    asked = _among(request, columns)
    if request.count is not None:
        asked = replace(asked, count=min(request.count, n_groups))
    place = np.full(len(request.groups), -1)
    place[columns] = np.arange(len(columns))
    own = replace(sample, X=sample.X[:, columns])
    # Joint effects were looked for among all columns; among survivors they would be looked for where they seem to be.
    prepared = make_plan(own, replace(for_plan, interactions=False), asked, seed, rng)
    kept = tuple(_with(group, place) for group in first.plan.found if (place[list(group.columns)] >= 0).all())
    n_live = int(first.plan.live.sum())
    plan = replace(prepared.plan, settings=for_plan, found=kept, chosen_from=n_live)
    chosen = choose(plan, rows.statistics(replace(prepared, plan=plan), columns), asked, for_choice)
    return _of_all(chosen, columns, sums, request, first, on_sample)


def _survivors(on_sample: Selection, sums: Marginals, request: Request, plan: Plan, most: int) -> Array:
    """Columns by the better of their two places: in the order on the sample, and by relevance on all rows."""
    d = len(on_sample.order)
    place = np.empty(d)
    place[on_sample.order] = np.arange(d)
    relevance = sums.relevance(plan)
    if relevance is not None:
        by_relevance = np.empty(d)
        by_relevance[np.argsort(-relevance, kind="stable")] = np.arange(d)
        place = np.minimum(place, by_relevance)
    place[[j for group in plan.found if group.confirmed for j in group.columns]] = -1.0
    place[request.include] = -2.0
    usable = ~request.excluded & (sums.energy > 0)
    usable[request.include] = True  # a constant one, too
    place = np.where(usable, place, np.inf)
    order = np.lexsort((place, request.groups, request.of_groups(place)))
    order = order[usable[order]]
    columns = order[_that_fit(request.groups[order], most)]
    lost = np.setdiff1d(request.include, columns)
    if len(lost):
        raise ValueError(
            f"include names {len(request.include):,} columns (or their groups have more), and no more than {most:,} can be "
            "compared within memory_limit; name fewer, or give it more gigabytes."
        )
    n_groups = len(np.unique(request.groups[columns]))
    as_many_as_possible = request.limits.limited and request.count == len(np.unique(request.groups[order]))
    if len(order) and not n_groups:
        raise ValueError(
            f"each group has more columns than the {most:,} that can be compared within memory_limit; give it more "
            "gigabytes, or make groups smaller."
        )
    if request.count is not None and request.count > n_groups and not as_many_as_possible:
        raise ValueError(
            f"n_features_to_select={request.count} is more than the {n_groups} columns that can be compared within "
            "memory_limit; ask for fewer, or give it more gigabytes."
        )
    return np.sort(columns)


def _that_fit(groups: Array, most: int) -> Array:
    """Which columns there is room for, the first ones first; a group is there as a whole, or not at all."""
    if len(groups) <= most or len(np.unique(groups)) == len(groups):
        return np.arange(len(groups)) < most
    _, own, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    fits, room = np.zeros(len(sizes), dtype=bool), most
    for group in dict.fromkeys(own.tolist()):
        fits[group] = sizes[group] <= room
        room -= int(sizes[group]) * bool(fits[group])
    return np.asarray(fits[own])


def _among(request: Request, columns: Array) -> Request:
    """The same request for some of the columns."""
    place = np.full(len(request.groups), -1)
    place[columns] = np.arange(len(columns))
    return replace(
        request,
        include=place[request.include],
        excluded=request.excluded[columns],
        groups=np.unique(request.groups[columns], return_inverse=True)[1],
        adjusted=place[request.adjusted],
        limits=request.limits.expanded(columns),
    )


def _with(found: Found, places: Array) -> Found:
    """The same group with its columns by other numbers."""
    return replace(found, columns=tuple(int(places[j]) for j in found.columns))


def _of_all(
    chosen: Selection, columns: Array, sums: Marginals, request: Request, first: Prepared, on_sample: Selection
) -> Selection:
    """What was found among the survivors, as a selection from all columns."""
    d = len(request.groups)
    others = np.setdiff1d(np.arange(d), columns)
    relevance = sums.relevance(first.plan)
    size = on_sample.scores if relevance is None else relevance
    last = np.select([request.excluded, sums.energy <= 0], [2, 1], 0)
    others = others[np.lexsort((-np.where(np.isfinite(size), size, 0.0)[others], last[others]))]

    def spread(values: Array, fill: Any) -> Array:
        whole = np.full(d, fill, dtype=values.dtype)
        whole[columns] = values
        return whole

    left, n_compared = others[last[others] == 0], len(columns) - len(request.adjusted)
    strongest = None if relevance is None or not len(left) else float(relevance[left[0]])
    order = np.concatenate([columns[chosen.order], others])
    order = order[np.argsort(request.excluded[order], kind="stable")]  # what is adjusted for was among those compared
    coded = chosen.coded
    if coded is not None:
        coded = _overlap_on_sample(first, order[: chosen.n_selected], request.adjusted)
        assert chosen.coded is not None
        coded[:, columns] = chosen.coded
    return replace(
        chosen,
        order=order,
        scores=np.where(request.excluded, -np.inf, spread(chosen.scores, 0.0)),
        groups=request.groups,
        found=tuple(_with(group, columns) for group in chosen.found),
        coded=coded,
        constant=sums.energy <= 0,
        missing=np.where(sums.observed > 0, 1.0 - sums.observed / sums.weight, 1.0),
        relevance=relevance,
        next_told=None if chosen.next_told is None else spread(chosen.next_told, np.nan),
        screened=Screened(len(left) + n_compared, n_compared, strongest),
        adjusted=tuple(request.adjusted.tolist()),
    )


def _overlap_on_sample(first: Prepared, selected: Array, adjusted: Array) -> Array:
    """What each selected column says of every column beyond those before it, on the sample, as the root of a share."""
    inputs = first.inputs if isinstance(first.inputs, np.ndarray) else first.inputs.take(np.arange(first.inputs.shape[1]))
    taken = inputs[:, selected].astype(np.float64)
    taken = taken - taken.mean(axis=0)
    energy = np.maximum(np.einsum("ij,ij->j", inputs, inputs) - len(inputs) * np.square(inputs.mean(axis=0)), 0.0)
    if len(adjusted):
        values = inputs[:, adjusted].astype(np.float64)
        given = orthonormal(values - values.mean(axis=0))
        taken = taken - given @ (given.T @ taken)
        left = energy - np.square(given.T.astype(inputs.dtype) @ inputs).sum(axis=0)
        energy = np.where(left > LEFT * energy, left, 0.0)
    basis = np.linalg.qr(taken)[0].astype(inputs.dtype)
    cross = (basis.T @ inputs).astype(np.float64)
    return np.asarray(np.divide(cross, np.sqrt(energy), out=np.zeros_like(cross), where=energy > 1e-9))
