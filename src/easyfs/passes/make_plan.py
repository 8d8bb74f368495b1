"""Make the plan: scaling, network, sample and joint effects, all from a sample of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from easyfs.base.request import Request
from easyfs.common.threads import begun
from easyfs.common.types import Array
from easyfs.passes.block import Block
from easyfs.passes.kernels import NUMPY, Kernels
from easyfs.passes.plan import FittedTarget, Plan, TargetCoding, sources_of
from easyfs.passes.settings import PlanSettings, RankingPlan, SequentialPlan
from easyfs.sample.drawing import draw_rows
from easyfs.sample.interactions import find_interactions
from easyfs.sample.ridge import LinearFit, input_relevance
from easyfs.sample.rows import Beyond, Sample, adjusted_rows, take_sample
from easyfs.stages.expansion import Network, draw_enhancement, draw_hidden
from easyfs.sums.measuring import ROUNDING, measure_scaling, scale_rows, winsorized
from easyfs.sums.rows import HeldElsewhere, Rows
from easyfs.sums.scaling import Scaling
from easyfs.sums.sparse import ScaledSparse
from easyfs.tables.target import Target

# The sketch of wide tables takes fewer rows still: as many as keep it within this many products.
SKETCH_PRODUCTS, FEWEST_SKETCH_ROWS = 1 << 26, 512
# With more weights of hidden nodes nothing is made beside the search for joint effects, but after it: one has room there.
BESIDE = 1 << 22
# Enhancement nodes of the ranking when none are given: one for each column, at most so many.
MOST_NODES = 1000


Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A plan, and the sample as it scales it, which need not be scaled again where it is the whole table."""

    plan: Plan
    sample: Block
    inputs: Any
    observed: Array


def make_plan(
    sample: Block,
    settings: PlanSettings,
    request: Request,
    seed: int,
    rng: np.random.Generator,
    scale: tuple[Array, Array] | None = None,
    begin: Callable[[Plan], None] | None = None,
    kernels: Kernels = NUMPY,
) -> Prepared:
    """Measure the scaling, draw the network, and learn what only rows can tell; nothing is changed.

    Parameters
    ----------
    sample : Block
        A sample of the rows, or all of them.
    settings : SequentialPlan or RankingPlan
        What was asked of the method.
    request : Request
        Excluded columns take no part; columns of a group are looked at as one.
    seed : int
        Seed of all draws of rows.
    rng : Generator
        Where the network's weights come from.
    scale : tuple of (means, standard deviations), optional
        The scale of each column, where it is known.
    begin : callable, optional
        Called with the plan as soon as sums can be made with it: what is learnt on the sample beside that takes time, in
        which another device may sum rows up.
    kernels : Kernels
        What measures the scaling.
    """
    weight = (
        sample.weight
        if sample.stands_for is None
        else sample.stands_for * (1.0 if sample.weight is None else sample.weight)
    )
    # Nodes that hear columns cancel each other have few digits left in single precision, and what all nodes leave of each
    # has fewer still: of the paper's ranking these would depend on the processor.
    precise = isinstance(settings, RankingPlan)
    if scale is None:
        scaling, inputs, observed = kernels.measure(sample.X, weight, settings.clip, precise=precise)
    else:
        scaling, inputs, observed = _scaled_as_given(sample.X, weight, settings.clip, scale, precise=precise)
    live = ~(scaling.constant | request.excluded)
    target = _target_coding(sample.target, weight, settings.clip)
    literal = isinstance(settings, RankingPlan) and settings.literal
    drawn = begun(lambda: draw_hidden(settings.n_hidden, live, rng, unit_rows=not literal))
    rows = _sample_rows(sample, inputs, target, scaling.dtype, seed, request.adjusted)
    hidden = drawn()
    if isinstance(settings, RankingPlan):
        network = _whole_network(hidden, live, settings, rng)
        return Prepared(Plan(scaling, network, live, target, settings, seed, rows), sample, inputs, observed)
    network = Network(len(live), hidden[:0].copy(), sparse.csr_array((0, len(live))))
    plan = Plan(scaling, network, live, target, settings, seed, rows)
    plan = replace(plan, adjusted=tuple(request.adjusted.tolist()), sources=sources_of(request))
    # Before a device is busy with sums.
    heard = sketched_rows(inputs, weight, len(hidden), seed) if len(hidden) else None
    if begin is not None:
        begin(plan)
    return Prepared(_learnt(plan, hidden, heard, request), sample, inputs, observed)


def _scaled_as_given(
    X: Array | sparse.csr_array, weight: Array | None, clip: float, scale: tuple[Array, Array], *, precise: bool
) -> tuple[Scaling, Array | ScaledSparse, Array]:
    """A scaling that is known beforehand, the scaled rows, and the observed weight of each column."""
    measured = measure_scaling(X, weight)
    center, spread = (np.asarray(part, dtype=np.float64) for part in scale)
    constant = measured.constant | ~(spread > 0)
    scaling = replace(measured, center=center, scale=np.where(spread > 0, spread, 1.0), constant=constant, clip=clip)
    if precise:
        scaling = replace(scaling, dtype=np.dtype(np.float64))
    return scaling, *scale_rows(X, scaling, weight)


def _sample_rows(sample: Block, inputs: Any, target: TargetCoding, dtype: Any, seed: int, adjusted: Array) -> Sample | None:
    """The rows that chance and joint effects are measured on."""
    y = sample.target.values
    if y is None:
        return None
    Y = target.columns(y, sample.target.n_targets, dtype)
    codes = y if target.kind == "classes" else None
    return take_sample(inputs, Y, seed, sample.weight, sample.stands_for, codes, sample.population, adjusted)


def _whole_network(hidden: Array, live: Array, settings: RankingPlan, rng: np.random.Generator) -> Network:
    """The paper's network, with its enhancement nodes."""
    asked = settings.n_enhancement
    enhancement = draw_enhancement(
        min(len(live), MOST_NODES) if asked is None else asked,
        settings.connections,
        live,
        len(hidden),
        settings.n_rounds,
        rng,
        unit_rows=not settings.literal,
    )
    return Network(len(live), hidden, enhancement, settings.n_rounds)


def _learnt(plan: Plan, hidden: Array, heard: Rows | None, request: Request) -> Plan:
    """With what the sequential form learns on the sample: joint effects, what can be predicted, the sketch of the table."""
    sample, live, settings = plan.sample, plan.live, plan.settings
    assert isinstance(settings, SequentialPlan)
    told = sample is not None and sample.target.shape[1] > 0 and bool(live.any())
    if told:
        assert sample is not None
        _listen_to_relevant(hidden, sample, live, settings.coverage_power)
    beside = begun if hidden.size <= BESIDE else _later
    sketch = beside(lambda: None if heard is None else _sketch(hidden, heard, request))
    if not told:
        return replace(plan, sketch=sketch())
    assert sample is not None
    fit = LinearFit(sample, live)
    fitted = beside(lambda: fitted_target(fit, settings.predicted_share))
    found = find_interactions(fit, request.groups, plan.seed) if settings.interactions else ()
    return replace(plan, fitted=fitted(), found=found, sketch=sketch())


def _later(function: Callable[[], Result]) -> Callable[[], Result]:
    """Done when its result is asked for."""
    return function


def _sketch(hidden: Array, heard: Rows, request: Request) -> Array:
    """The sketch of the table by hidden nodes."""
    if request.limits.source is not None:
        _give_equal_say(hidden, request.limits.source)
    n_inputs = hidden.shape[1]
    network = Network(n_inputs, hidden, sparse.csr_array((0, n_inputs + len(hidden))))
    return hidden_sketch(heard, network, request.adjusted)


def _target_coding(target: Target, weight: Array | None, clip: float) -> TargetCoding:
    """Classes, or mean and spread of each target, and how many spreads from its mean a value may lie."""
    y, classes = target.values, () if target.classes is None else tuple(target.classes.tolist())
    if y is None or target.kind != "values":
        return TargetCoding(target.kind, classes, np.zeros(0), np.zeros(0), np.zeros(0))
    size = np.abs(y).max(axis=0)  # squares of very large or very small numbers would not fit
    size = np.where(size > 0, size, 1.0)
    y = y / size
    center = np.average(y, axis=0, weights=weight)
    spread = np.sqrt(np.average((y - center) ** 2, axis=0, weights=weight))
    if np.isfinite(clip):
        w = np.ones(len(y)) if weight is None else weight
        for t in np.flatnonzero(spread > 0):
            center[t], spread[t] = winsorized(y[:, t], w, center[t], spread[t], clip)
    varies = spread > ROUNDING * np.abs(center)
    scale = np.where(varies, spread, 1.0) * size
    return TargetCoding("values", (), center * size, scale, np.where(varies, clip, np.inf))


def _listen_to_relevant(hidden: Array, rows: Sample, live: Array, power: float) -> None:
    """Let the hidden nodes hear each input as loud as it is related to the target, so that they cover what matters."""
    if not power or not len(hidden):
        return
    relevance = input_relevance(rows, live, rows.target)
    if not relevance.any():
        return
    hidden *= ((relevance / relevance.max()) ** (power / 2.0)).astype(np.float32)
    _to_unit_norm(hidden)


def _give_equal_say(hidden: Array, source: Array) -> None:
    """Let the hidden nodes hear all sources equally loud, whatever the number of columns of each."""
    for code in np.unique(source):
        own = source == code
        heard = float(np.square(hidden[:, own]).sum()) / len(hidden)
        if heard > 0:
            hidden[:, own] /= np.float32(np.sqrt(heard))
    _to_unit_norm(hidden)


def _to_unit_norm(hidden: Array) -> None:
    norms = np.sqrt(np.einsum("ij,ij->i", hidden, hidden))
    hidden /= np.where(norms > 0, norms, 1.0)[:, None]


def fitted_target(fit: LinearFit, share: float) -> FittedTarget | None:
    """The part of the target that a linear fit predicts for rows it has not seen; None where it predicts nothing."""
    if not share:
        return None
    penalty, told = fit.best_penalty()
    if told <= 0.0:
        return None
    coefficients = fit.fit(penalty) @ np.linalg.pinv(fit.rows.basis)
    if fit.rows.beyond is not None:  # of columns in their own size
        coefficients *= fit.rows.beyond.stretch[:, None]
    return FittedTarget(coefficients, fit.n, share, penalty)


def sketched_rows(inputs: Array | ScaledSparse | HeldElsewhere, weight: Array | None, n_hidden: int, seed: int) -> Rows:
    """The rows that the sketch is made from: fewer of wide tables."""
    most = SKETCH_PRODUCTS // max(1, inputs.shape[1] * n_hidden)
    drawn = draw_rows(inputs.shape[0], max(FEWEST_SKETCH_ROWS, most), seed, weight)
    if isinstance(inputs, HeldElsewhere) or len(drawn.rows) < inputs.shape[0] or weight is not None:
        inputs, weight = inputs[drawn.rows], drawn.weight
    return Rows(inputs, np.empty((inputs.shape[0], 0), dtype=inputs.dtype), weight)


def hidden_sketch(rows: Rows, network: Network, adjusted: Array | None = None) -> Array:
    """Covariances of the inputs with the standardised hidden nodes, scaled so that all nodes together have unit energy.

    Only ``PP'`` of these products ``P`` matters, so with fewer rows than nodes the nodes are first replaced by as many
    combinations as there are rows. Where columns are ``adjusted`` for, the nodes hear what these leave of the others.
    """
    inputs, weight, n = rows.safe().inputs, rows.weight, rows.shape[0]
    root = np.ones(n) if weight is None else np.sqrt(weight)
    beyond = adjusted_rows(inputs, root, adjusted) if adjusted is not None and len(adjusted) else None
    nodes = network.expand(inputs) if beyond is None else _heard_beyond(inputs, network, beyond, root)
    w = np.ones(n, dtype=nodes.dtype) if weight is None else weight.astype(nodes.dtype)
    total = float(w.sum(dtype=np.float64))
    mean = (w @ nodes).astype(np.float64) / total
    squares = np.einsum("ij,ij->j", nodes, nodes) if weight is None else w @ np.square(nodes)
    spread = np.sqrt(np.maximum(squares / total - mean**2, 0.0))
    live = spread > 1e-6
    share = 1.0 / (np.where(live, spread, np.inf) * total * np.sqrt(max(1, live.sum())))
    nodes -= mean.astype(nodes.dtype)
    nodes *= share.astype(nodes.dtype)
    if beyond is not None:  # products with what is left of the inputs
        nodes = _beyond(nodes, beyond, root).astype(nodes.dtype)
    if nodes.shape[1] > n:
        nodes = np.asarray(np.linalg.qr(nodes.T, mode="r")).T
    return Rows(inputs, np.empty((n, 0), dtype=inputs.dtype), weight).cross(nodes)


def _heard_beyond(inputs: Array | ScaledSparse, network: Network, beyond: Beyond, root: Array) -> Array:
    """The hidden nodes, of what adjusting leaves of the inputs; these are never made."""
    loud = network.hidden * beyond.stretch.astype(np.float32)
    heard = np.empty((inputs.shape[0], network.n_hidden), dtype=inputs.dtype)
    replace(network, hidden=loud).hear(inputs, heard)
    return np.asarray(np.maximum(_beyond(heard, beyond, root).astype(heard.dtype), 0.0))


def _beyond(values: Array, beyond: Beyond, root: Array) -> Array:
    """What adjusting leaves of some values of the rows, about their mean."""
    w = np.square(root)
    centred = (values - (w @ values) / w.sum()) * root[:, None]
    return np.asarray((centred - beyond.basis @ (beyond.basis.T @ centred)) / root[:, None])
