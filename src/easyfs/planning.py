"""Make the plan: scaling, network and kept nodes, all from a sample of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from easyfs.linear import LinearFit, ScoringRows, input_relevance, scoring_rows
from easyfs.network import Network, draw_enhancement, draw_hidden
from easyfs.rows import ROUNDING, Rows, ScaledSparse, measure_scaling, scale_rows, spread_rows, winsorized, without_extremes
from easyfs.statistics import FittedTarget, Plan, Statistics
from easyfs.target import nodes_that_count
from easyfs.wiring import keep_nodes, keep_some

Array = NDArray[Any]

# Scaling and network come from at most this many rows, spread over the data.
SAMPLE_ROWS = 20_000
# The sketch of wide tables takes fewer rows still: as many as keep it within this many products.
SKETCH_PRODUCTS, FEWEST_SKETCH_ROWS = 1 << 27, 512
# Enhancement nodes by number of columns: enough for each column to meet many others, bounded in cost.
NODES_PER_COLUMN, FEWEST_NODES, MOST_NODES = 60, 1000, 3000


@dataclass(frozen=True)
class NetworkSettings:
    """What the user asked of the network."""

    compression: str
    n_hidden: int
    n_enhancement: int | str
    connections: int
    n_rounds: int
    n_kept: int
    pair_share: float
    residual_share: float
    predicted_share: float
    coverage_power: float
    clip: float
    literal: bool


def auto_enhancement(n_columns: int, compression: str) -> int:
    """Number of enhancement nodes when none is given; depends on the number of columns alone."""
    if compression == "ranking":
        return min(n_columns, FEWEST_NODES)
    return int(np.clip(NODES_PER_COLUMN * n_columns, FEWEST_NODES, MOST_NODES))


def make_plan(
    X: Array | sparse.csr_array,
    y: Array | None,
    weight: Array | None,
    *,
    target_kind: str | None,
    n_targets: int,
    classes: tuple[Any, ...] = (),
    excluded: Array,
    settings: NetworkSettings,
    rng: np.random.Generator,
    scale: tuple[Array, Array] | None = None,
) -> tuple[Plan, tuple[Array | ScaledSparse, Array] | None]:
    """Measure the scaling, draw the network and choose the nodes to keep.

    Returns
    -------
    plan : Plan
    scaled : tuple of rows and observed weights, or None
        The scaled rows, when the sample is the whole table.
    """
    chosen = spread_rows(X.shape[0], SAMPLE_ROWS, weight)
    if chosen is not None:
        X, weight = X[chosen], None
        y = None if y is None else y[chosen]
    scaling = replace(measure_scaling(X, weight), clip=settings.clip)
    if scale is not None:
        center, spread = (np.asarray(part, dtype=np.float64) for part in scale)
        constant = scaling.constant | ~(spread > 0)
        scaling = replace(scaling, center=center, scale=np.where(spread > 0, spread, 1.0), constant=constant)
    inputs, observed = scale_rows(X, scaling, weight)
    if scale is None and np.isfinite(settings.clip):
        remeasured = without_extremes(X, scaling, (inputs, observed), weight)
        if remeasured is not scaling:
            scaling = remeasured
            inputs, observed = scale_rows(X, scaling, weight, out=inputs if isinstance(inputs, np.ndarray) else None)
    live = ~(scaling.constant | excluded)
    target_center, target_scale, target_reach = _target_scaling(y, weight, target_kind, settings.clip)
    hidden = draw_hidden(settings.n_hidden, live, rng, unit_rows=not settings.literal)
    n_enhancement = settings.n_enhancement
    if isinstance(n_enhancement, str):
        n_enhancement = auto_enhancement(len(live), settings.compression)
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
    )
    changes: dict[str, Any]
    if settings.compression == "ranking":
        enhancement = draw_enhancement(
            n_enhancement, settings.connections, live, len(hidden), settings.n_rounds, rng, unit_rows=not settings.literal
        )
        network = Network(len(live), hidden, enhancement, settings.n_rounds)
        changes = {"network": network, "by_class": target_kind == "classes"}
    else:
        rows = None if y is None else scoring_rows(inputs, plan.encode(y, n_targets), weight)
        told = rows is not None and rows.target.shape[1] > 0 and bool(live.any())
        if rows is not None and told:
            _listen_to_relevant(hidden, rows, live, settings.coverage_power)
        changes = {"sketch": hidden_sketch(inputs, weight, plan.network)} if len(hidden) else {}
        changes["network"] = Network(len(live), hidden[:0], sparse.csr_array((0, len(live))), settings.n_rounds)
        if rows is not None and told:
            fit = LinearFit(rows, live)
            changes["fitted"] = fitted_target(fit, settings.predicted_share)
        if rows is not None and told and n_enhancement and settings.n_kept:
            kept = keep_nodes(
                fit,
                hidden,
                rng,
                n_enhancement=n_enhancement,
                connections=settings.connections,
                n_rounds=settings.n_rounds,
                n_kept=settings.n_kept,
                pair_share=settings.pair_share,
                residual_share=settings.residual_share,
            )
            changes.update(network=kept.network, kept=kept)
    plan = replace(plan, **changes)
    if plan.kept is not None and chosen is not None and y is not None:
        sample = Statistics(plan, n_targets).add_scaled(inputs, observed, y, weight)
        kept = keep_some(plan.kept, np.flatnonzero(nodes_that_count(plan, sample.total)))
        plan = replace(plan, network=kept.network, kept=kept)
    return plan, (inputs, observed) if chosen is None else None


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


def _listen_to_relevant(hidden: Array, rows: ScoringRows, live: Array, power: float) -> None:
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
    return FittedTarget(fit.fit(penalty)[0] @ np.linalg.pinv(fit.rows.basis), fit.weight, share, penalty)


def hidden_sketch(inputs: Array | ScaledSparse, weight: Array | None, network: Network) -> Array:
    """Covariances of the inputs with the standardised hidden nodes, scaled so that all nodes together have unit energy.

    Only ``PP'`` of these products ``P`` matters, so with fewer rows than nodes the nodes are first replaced by as many
    combinations as there are rows.
    """
    most = SKETCH_PRODUCTS // max(1, inputs.shape[1] * network.n_hidden)
    chosen = spread_rows(inputs.shape[0], max(FEWEST_SKETCH_ROWS, most), weight)
    if chosen is not None:
        inputs, weight = inputs[chosen], None
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
