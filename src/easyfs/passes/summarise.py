"""From rows to statistics, under a plan: the middle one of the three steps, and the one that every engine runs."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from easyfs.common.threads import block_slices, map_blocks
from easyfs.common.types import Array
from easyfs.passes.block import Block
from easyfs.passes.kernels import NUMPY, Kernels
from easyfs.passes.plan import Plan
from easyfs.passes.statistics import ALL_ROWS, Layout, Statistics
from easyfs.sample.drawing import counts_rows
from easyfs.sums.measuring import scale_rows
from easyfs.sums.rows import Rows
from easyfs.sums.second_moment import ROWS_PER_COLUMN, WIDE, SecondMoment
from easyfs.sums.sparse import DENSE_BYTES, ScaledSparse

# Blocks that one task adds up before its sum is handed over: cut by size alone, so threads do not change the result.
BLOCKS_PER_TASK = 8

Scaled = tuple[Array | ScaledSparse, Array]


def summarise(plan: Plan, block: Block, kernels: Kernels = NUMPY, scaled: Scaled | None = None) -> Statistics:
    """Sums over the rows of a block; nothing is changed.

    Few rows for their columns are kept as they are, many are folded into a Gram matrix, a part at a time.

    Parameters
    ----------
    plan : Plan
        How rows are scaled and expanded.
    block : Block
        The rows.
    kernels : Kernels
        What does the products.
    scaled : tuple of rows and observed weights, optional
        The rows as the plan scales them, where that has been done already.
    """
    codes, labels = class_codes(plan, block)
    n_targets = len(labels) if plan.target.kind == "classes" else plan.target.n_values
    layout = Layout(plan.identity, plan.n_inputs, plan.network.n_extra, plan.target.n_values, plan.by_class)
    width = layout.width(len(labels))
    thin = sparse.issparse(block.X)
    counted = counts_rows(block.weight)
    n_moments = max(1, len(labels)) if plan.by_class else 1
    if not thin and block.n_rows > ROWS_PER_COLUMN * width * n_moments:
        moments, observed = _folded(plan, block, codes, width, kernels)
        return Statistics(layout, labels, observed, counted, moments)
    total = Statistics(layout, labels, counted=counted)
    inputs, total.observed = _scaled(plan, block) if scaled is None else scaled
    for rows in _parts(block.n_rows, n_targets + plan.network.n_extra, width, thin=thin):
        own = None if codes is None else codes[rows]
        weight = None if block.weight is None else block.weight[rows]
        _add(total.moments, layout, width, _beside(plan, inputs[rows], own, weight, 0 if plan.by_class else n_targets), own)
    return total


def class_codes(plan: Plan, block: Block) -> tuple[Array | None, tuple[object, ...]]:
    """Codes of the labels in the order of the plan's classes, then of those it has not seen; values as they are."""
    target, known = block.target, plan.target.classes
    if target.classes is None or target.values is None:
        return target.values, ()
    given = target.classes.tolist()
    if tuple(given) == known:
        return target.values, known
    place = {label: i for i, label in enumerate(known)}
    labels = (*known, *(label for label in given if label not in place))
    place = {label: i for i, label in enumerate(labels)}
    return np.array([place[label] for label in given], dtype=np.intp)[target.values], labels


def _scaled(plan: Plan, block: Block) -> Scaled:
    return scale_rows(block.X, plan.scaling, block.weight)


def _parts(n: int, n_beside: int, width: int, *, thin: bool) -> list[slice]:
    """Rows at a time: where nodes and targets of a sparse table take more memory than the sums of their products."""
    if thin and n * n_beside * 8 > 8 * width**2:
        return block_slices(n, max(1, max(DENSE_BYTES, 2 * width**2) // (8 * n_beside)))
    return [slice(0, n)]


def _beside(plan: Plan, inputs: Array | ScaledSparse, y: Array | None, weight: Array | None, n_targets: int) -> Rows:
    """Scaled rows with their nodes and targets beside them."""
    n_nodes = plan.network.n_extra
    extra = np.empty((inputs.shape[0], n_nodes + n_targets), dtype=plan.scaling.dtype)
    plan.network.expand(inputs, out=extra[:, :n_nodes])
    if n_targets and y is not None:
        extra[:, n_nodes:] = plan.target.columns(y, n_targets, extra.dtype)
    return Rows(inputs, extra, weight)


def _add(moments: dict[int, SecondMoment], layout: Layout, width: int, rows: Rows, codes: Array | None) -> None:
    """Add rows to the moment over all, or to those of their classes."""
    if not layout.by_class or codes is None:
        moments.setdefault(ALL_ROWS, SecondMoment(width)).add(rows)
        return
    for code in np.unique(codes):
        moments.setdefault(int(code), SecondMoment(width)).add(rows[codes == code])


def _folded(
    plan: Plan, block: Block, codes: Array | None, width: int, kernels: Kernels
) -> tuple[dict[int, SecondMoment], Array]:
    """Many rows: blocks that fit the cache, a task each, added up in their order; all together, or by class.

    Sums of very many columns are there once: all threads work on one block.
    """
    d, n_nodes, dtype = plan.n_inputs, plan.network.n_extra, plan.scaling.dtype
    targets = kernels.hold(None if plan.by_class else codes)
    blocks = block_slices(block.n_rows, kernels.block_rows(width, plan.scaling))

    def add(task: list[slice]) -> tuple[dict[int, Any], Any]:
        totals: dict[int, Any] = {}
        observed = kernels.zeros(d)
        for rows in task:
            weight = None if block.weight is None else block.weight[rows]
            A = kernels.empty(rows.stop - rows.start, width + 1, plan.scaling, block.X)
            observed += kernels.scale(block.X[rows], plan.scaling, weight, A[:, :d])
            kernels.expand(A[:, :d], plan.network, A[:, d : d + n_nodes])
            if targets is not None:
                kernels.targets(plan.target, targets[rows], A[:, d + n_nodes : -1])
            A[:, -1] = 1.0
            for code, some in _places(codes[rows] if plan.by_class and codes is not None else None):
                if code not in totals:
                    totals[code] = kernels.zeros(width + 1, width + 1)
                own = weight if weight is None or some is None else weight[some]
                kernels.add_gram(totals[code], A if some is None else kernels.take(A, some), own)
        return totals, observed

    totals: dict[int, Any] = {}
    observed = kernels.zeros(d)
    per_task = len(blocks) if width > WIDE else BLOCKS_PER_TASK
    for found, own in map_blocks(add, [blocks[i : i + per_task] for i in range(0, len(blocks), per_task)]):
        for code, part in found.items():
            totals[code] = totals[code] + part if code in totals else part
        observed += own
    n_rows = dict(enumerate(np.bincount(codes).tolist())) if plan.by_class and codes is not None else {}
    moments = {
        code: SecondMoment.from_gram(kernels.host(totals[code]), n_rows.get(code, block.n_rows), dtype)
        for code in sorted(totals)
    }
    return moments, kernels.host(observed)


def _places(codes: Array | None) -> list[tuple[int, Array | None]]:
    """The classes of some rows, and the places of the rows of each; all rows under one, where none are kept apart."""
    if codes is None:
        return [(ALL_ROWS, None)]
    return [(code, np.flatnonzero(codes == code)) for code in np.unique(codes).tolist()]


__all__ = ["class_codes", "summarise"]
