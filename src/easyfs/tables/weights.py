"""Weights of rows."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from easyfs.common.types import Array
from easyfs.tables.target import Target


def check_weights(sample_weight: Any, n: int) -> Array | None:
    """Weights of the rows as float64, or None when all count the same once."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        weight = np.full(n, float(sample_weight))
    else:
        try:
            weight = np.array(sample_weight, dtype=np.float64)  # a copy: a stream keeps it beyond this call
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample_weight={sample_weight!r}: give one number for each row.") from error
    if weight.ndim != 1:
        raise ValueError(f"sample_weight has {weight.ndim} dimensions; Sample weights must be 1D array or scalar.")
    if len(weight) != n:
        raise ValueError(f"sample_weight has {len(weight)} entries, but X has {n} rows; give one weight for each row.")
    if not np.isfinite(weight).all():
        raise ValueError(f"sample_weight is not finite in row {int(np.flatnonzero(~np.isfinite(weight))[0])}.")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(
            f"sample_weight is negative in row {row} ({weight[row]:g}); weights count rows, use 0 to leave one out."
        )
    if not weight.any():
        raise ValueError("sample_weight is zero in every row; at least two rows need a positive weight.")
    return weight


def weighs_nothing(sample_weight: Any, n: int) -> bool:
    """Whether the weights of ``n`` rows are all zero; what else is wrong with weights is said where they are checked."""
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return sample_weight is not None and weight.shape in ((), (n,)) and not weight.any()


def drop_weightless(matrix: Array, target: Target, weight: Array | None) -> tuple[Array, Target, Array | None]:
    """Leave rows of weight zero out, and give up weights that are all one."""
    if weight is None:
        return matrix, target, None
    counted = weight > 0
    if not counted.all():
        values, classes = None if target.values is None else target.values[counted], target.classes
        if values is not None and classes is not None:  # a class may have lost all its rows
            present, codes = np.unique(values, return_inverse=True)
            classes, values = classes[present], codes.reshape(-1)
        matrix, weight = matrix[counted], weight[counted]
        target = Target(target.task, target.kind, values, classes)
    return matrix, target, None if (weight == 1.0).all() else weight


def check_enough_rows(matrix: Array, weight: Array | None) -> None:
    """Rows of weight zero do not count."""
    if matrix.shape[0] < 2 and (weight is None or weight.sum() < 2):
        raise ValueError("only 1 row has a positive sample_weight (n_samples=1); at least 2 rows are needed.")
