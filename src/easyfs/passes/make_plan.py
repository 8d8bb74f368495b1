"""Make the plan: scaling, network, sample and joint effects, all from a sample of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from easyfs.base.result import Found
from easyfs.common.types import Array
from easyfs.passes.plan import FittedTarget, NetworkSettings, Plan
from easyfs.sample.drawing import counts_rows, draw_rows
from easyfs.sample.interactions import find_interactions
from easyfs.sample.ridge import LinearFit, input_relevance
from easyfs.sample.rows import Sample, take_sample
from easyfs.stages.expansion import Network, draw_enhancement, draw_hidden
from easyfs.sums.measuring import ROUNDING, measure_scaling, scale_rows, winsorized, without_extremes
from easyfs.sums.rows import Rows
from easyfs.sums.sparse import ScaledSparse

# Scaling and network come from at most this many rows.
SAMPLE_ROWS = 20_000
# The sketch of wide tables takes fewer rows still: as many as keep it within this many products.
SKETCH_PRODUCTS, FEWEST_SKETCH_ROWS = 1 << 26, 512
# Enhancement nodes of the ranking when none are given: one for each column, at most so many.
MOST_NODES = 1000


def make_plan(
    X: Array | sparse.csr_array,
    y: Array | None,
    weight: Array | None,
    *,
    target_kind: str | None,
    n_targets: int,
    classes: tuple[Any, ...] = (),
    excluded: Array,
    groups: Array,
    settings: NetworkSettings,
    rng: np.random.Generator,
    scale: tuple[Array, Array] | None = None,
) -> tuple[Plan, tuple[Array | ScaledSparse, Array] | None]:
    """Measure the scaling, draw the network and the sample, and look for joint effects.

    Returns
    -------
    plan : Plan
    scaled : tuple of rows and observed weights, or None
        The scaled rows, when the sample is the whole table.
    """
    seed = int(rng.integers(1 << 62))
    codes = y if target_kind == "classes" else None
    population = float(X.shape[0] if weight is None or not counts_rows(weight) else weight.sum())
    whole = population <= SAMPLE_ROWS
    stands_for = None
    if not whole:
        drawn = draw_rows(X.shape[0], SAMPLE_ROWS, seed, weight, codes)
        X, weight, stands_for = X[drawn.rows], drawn.weight, drawn.chance
        y = None if y is None else y[drawn.rows]
        codes = y if target_kind == "classes" else None
    counted = weight if stands_for is None else stands_for * (1.0 if weight is None else weight)
    scaling = replace(measure_scaling(X, counted), clip=settings.clip)
    if scale is not None:
        center, spread = (np.asarray(part, dtype=np.float64) for part in scale)
        constant = scaling.constant | ~(spread > 0)
        scaling = replace(scaling, center=center, scale=np.where(spread > 0, spread, 1.0), constant=constant)
    inputs, observed = scale_rows(X, scaling, counted)
    if scale is None and np.isfinite(settings.clip):
        remeasured = without_extremes(X, scaling, (inputs, observed), counted)
        if remeasured is not scaling:
            scaling = remeasured
            inputs, observed = scale_rows(X, scaling, counted, out=inputs if isinstance(inputs, np.ndarray) else None)
    live = ~(scaling.constant | excluded)
    target_center, target_scale, target_reach = _target_scaling(y, counted, target_kind, settings.clip)
    hidden = draw_hidden(settings.n_hidden, live, rng, unit_rows=not settings.literal)
    plan = Plan(
        scaling=scaling,
        network=Network(len(live), hidden, sparse.csr_array((0, len(live) + len(hidden))), settings.n_rounds),
        live=live,
        target_kind=target_kind,
        target_center=target_center,
        target_scale=target_scale,
        target_reach=target_reach,
        classes=classes,
        compression=settings.compression,
        seed=seed,
        settings=settings,
    )
    if y is not None:
        Y = plan.encode(y, n_targets)
        plan = replace(plan, sample=take_sample(inputs, Y, seed, weight, stands_for, codes, population))
    if settings.compression == "ranking":
        plan = _with_ranking(plan, hidden, settings, rng)
    else:
        plan = _with_sequential(plan, hidden, inputs, counted, groups, settings)
    return plan, (inputs, observed) if whole else None


def _with_ranking(plan: Plan, hidden: Array, settings: NetworkSettings, rng: np.random.Generator) -> Plan:
    """The paper's whole network."""
    asked = settings.n_enhancement
    enhancement = draw_enhancement(
        min(len(plan.live), MOST_NODES) if isinstance(asked, str) else asked,
        settings.connections,
        plan.live,
        len(hidden),
        settings.n_rounds,
        rng,
        unit_rows=not settings.literal,
    )
    network = Network(len(plan.live), hidden, enhancement, settings.n_rounds)
    return replace(plan, network=network, by_class=plan.target_kind == "classes")


def _with_sequential(
    plan: Plan,
    hidden: Array,
    inputs: Array | ScaledSparse,
    weight: Array | None,
    groups: Array,
    settings: NetworkSettings,
) -> Plan:
    """The sketch that coverage is measured by, what can be predicted of the target, and joint effects."""
    sample, live = plan.sample, plan.live
    told = sample is not None and sample.target.shape[1] > 0 and bool(live.any())
    if sample is not None and told:
        _listen_to_relevant(hidden, sample, live, settings.coverage_power)
    network = Network(len(live), hidden[:0], sparse.csr_array((0, len(live))), settings.n_rounds)
    fitted: FittedTarget | None = None
    found: tuple[Found, ...] = ()
    if sample is not None and told:
        fit = LinearFit(sample, live)
        fitted = fitted_target(fit, settings.predicted_share)
        if settings.interactions:
            found = find_interactions(fit, groups, plan.seed)
    sketch = hidden_sketch(inputs, weight, replace(plan.network, hidden=hidden), plan.seed) if len(hidden) else None
    return replace(plan, sketch=sketch, network=network, fitted=fitted, found=found)


def _target_scaling(y: Array | None, weight: Array | None, kind: str | None, clip: float) -> tuple[Array, Array, Array]:
    """Mean and spread of each target, and how many spreads from its mean a value may lie: any number without a spread."""
    if y is None or kind != "values":
        return np.zeros(0), np.zeros(0), np.zeros(0)
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
    return center * size, np.where(varies, spread, 1.0) * size, np.where(varies, clip, np.inf)


def _listen_to_relevant(hidden: Array, rows: Sample, live: Array, power: float) -> None:
    """Let the hidden nodes hear each input as loud as it is related to the target, so that they cover what matters."""
    if not power or not len(hidden):
        return
    relevance = input_relevance(rows, live, rows.target)
    if not relevance.any():
        return
    hidden *= ((relevance / relevance.max()) ** (power / 2.0)).astype(np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", hidden, hidden))
    hidden /= np.where(norms > 0, norms, 1.0)[:, None]


def fitted_target(fit: LinearFit, share: float) -> FittedTarget | None:
    """The part of the target that a linear fit predicts for rows it has not seen; None where it predicts nothing."""
    if not share:
        return None
    penalty, told = fit.best_penalty()
    if told <= 0.0:
        return None
    return FittedTarget(fit.fit(penalty)[0] @ np.linalg.pinv(fit.rows.basis), fit.n, share, penalty)


def hidden_sketch(inputs: Array | ScaledSparse, weight: Array | None, network: Network, seed: int) -> Array:
    """Covariances of the inputs with the standardised hidden nodes, scaled so that all nodes together have unit energy.

    Only ``PP'`` of these products ``P`` matters, so with fewer rows than nodes the nodes are first replaced by as many
    combinations as there are rows.
    """
    most = SKETCH_PRODUCTS // max(1, inputs.shape[1] * network.n_hidden)
    drawn = draw_rows(inputs.shape[0], max(FEWEST_SKETCH_ROWS, most), seed, weight)
    if len(drawn.rows) < inputs.shape[0] or weight is not None:
        inputs, weight = inputs[drawn.rows], drawn.weight
    n = inputs.shape[0]
    inputs = Rows(inputs, np.empty((n, 0), dtype=inputs.dtype)).safe().inputs
    nodes = network.expand(inputs)
    w = np.ones(n, dtype=nodes.dtype) if weight is None else weight.astype(nodes.dtype)
    total = float(w.sum(dtype=np.float64))
    mean = (w @ nodes).astype(np.float64) / total
    squares = np.einsum("ij,ij->j", nodes, nodes) if weight is None else w @ np.square(nodes)
    spread = np.sqrt(np.maximum(squares / total - mean**2, 0.0))
    live = spread > 1e-6
    share = 1.0 / (np.where(live, spread, np.inf) * total * np.sqrt(max(1, live.sum())))
    nodes = ((nodes - mean) * share).astype(nodes.dtype)
    if nodes.shape[1] > n:
        nodes = np.asarray(np.linalg.qr(nodes.T, mode="r")).T
    return Rows(inputs, np.empty((n, 0), dtype=inputs.dtype), weight).cross(nodes)
