"""Products of the columns with the target, in one pass over the rows: what correlation-like scores are made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easyfs.baselines.base import Problem
from easyfs.common.threads import block_rows, block_slices, map_blocks
from easyfs.common.types import Array
from easyfs.sums.measuring import scale_rows
from easyfs.sums.rows import Rows
from easyfs.sums.scaling import Scaling


@dataclass(frozen=True)
class CrossMoments:
    """Sums over rows about the means, of columns in units of their standard deviation.

    Attributes
    ----------
    cross : ndarray of shape (m, t)
        Products of the columns with the targets.
    squares : ndarray of shape (m,)
        Sum of squares of each column.
    target : ndarray of shape (t, t)
        Products of the targets.
    sums : ndarray of shape (t,)
        Sum of each target: for indicators of classes, their sizes.
    """

    cross: Array
    squares: Array
    target: Array
    sums: Array


def cross_moments(problem: Problem, Y: Array) -> CrossMoments:
    """Gather the products with ``Y`` block by block; sparse tables stay sparse."""
    n, m = problem.shape
    scaling = Scaling(problem.center, problem.scale, np.zeros(m, dtype=bool), np.dtype(np.float64))
    weight = problem.weight
    mean = np.average(Y, axis=0, weights=weight)
    centred = Y - mean

    def part(rows: slice) -> tuple[Array, Array]:
        inputs, _ = scale_rows(problem.X[rows], scaling)
        run = Rows(inputs, centred[rows], None if weight is None else weight[rows])
        return run.cross(run.extra), run.sums()

    total, sums = np.zeros((m + Y.shape[1], Y.shape[1])), np.zeros(m + Y.shape[1])
    for products, added in map_blocks(part, block_slices(n, block_rows(m, 8))):
        total += products
        sums += added
    w = problem.total_weight
    total -= np.outer(sums, sums[m:]) / w
    return CrossMoments(total[:m], w * problem.observed, total[m:], w * mean)
