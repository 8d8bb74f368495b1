"""From a table in memory to statistics, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from easyfs.common.threads import block_rows, block_slices, map_blocks
from easyfs.sums.measuring import scale_rows
from easyfs.sums.second_moment import ROWS_PER_COLUMN
from easyfs.sums.sparse import DENSE_BYTES, ScaledSparse

if TYPE_CHECKING:
    pass
from easyfs.common.types import Array
from easyfs.passes.plan import Plan
from easyfs.passes.statistics import Statistics

# Blocks that one task adds up before its sum is handed over: cut by size alone, so threads do not change the result.
BLOCKS_PER_TASK = 8


def gather(
    plan: Plan,
    X: Array | sparse.csr_array,
    y: Array | None,
    weight: Array | None = None,
    n_targets: int = 0,
    scaled: tuple[Array | ScaledSparse, Array] | None = None,
) -> Statistics:
    """Sum a whole table in memory: block by block, by as many threads as BLAS may use.

    ``scaled`` are the rows and their observed weights where they have been scaled already.
    """
    n = X.shape[0]
    whole = Statistics(plan, n_targets)
    beside = (whole.width - X.shape[1]) * 8
    if (
        sparse.issparse(X) and n * beside > 8 * whole.width**2
    ):  # nodes that take more memory than the sums of their products
        inputs, observed = scale_rows(X, plan.scaling, weight) if scaled is None else scaled
        for rows in block_slices(n, max(DENSE_BYTES, 2 * whole.width**2) // beside):
            own = (None if given is None else given[rows] for given in (y, weight))
            whole.add_scaled(inputs[rows], observed if rows.start == 0 else np.zeros_like(observed), *own)
        return whole
    if sparse.issparse(X) or n <= ROWS_PER_COLUMN * whole.width:
        return whole.add(X, y, weight) if scaled is None else whole.add_scaled(*scaled, y, weight)
    fold = not plan.by_class
    whole = Statistics(plan, n_targets, fold=fold)
    size = max(block_rows(whole.width, plan.scaling.dtype.itemsize), whole.width // 2)
    blocks = block_slices(n, size)

    def add(task: list[slice]) -> Statistics:
        part = Statistics(plan, n_targets, fold=fold)
        for rows in task:
            part.add(X[rows], None if y is None else y[rows], None if weight is None else weight[rows])
        return part

    for part in map_blocks(add, [blocks[i : i + BLOCKS_PER_TASK] for i in range(0, len(blocks), BLOCKS_PER_TASK)]):
        whole.merge(part)
    return whole
