"""Weights of rows."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from easyfs.common.types import Array
from easyfs.tables.frames import as_numpy, has_rows, n_rows_of, take_rows

# Of the largest weight: rows that together have less are nothing beside it.
LIGHTEST = 1e9
NO_WEIGHT = "sample_weight is zero in every row; at least two rows need a positive weight."


def check_weights(sample_weight: Any, n: int) -> Array | None:
    """Weights of the rows as float64, or None when all count the same once."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        weight = np.full(n, float(sample_weight))
    else:
        try:
            weight = as_weights(sample_weight).copy()  # a stream keeps it beyond this call
        except (TypeError, ValueError) as error:
            raise ValueError(f"sample_weight{no_numbers_in(sample_weight)}: give one number for each row.") from error
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
        raise ValueError(NO_WEIGHT)
    return weight


def as_weights(given: Any) -> Array:
    """Weights as an array of floats; dates are no numbers, though they could be made such."""
    values = np.asarray(as_numpy(given))
    if values.dtype.kind in "Mm":
        raise TypeError
    return np.asarray(values, dtype=np.float64)


def no_numbers_in(given: Any) -> str:
    """What weights hold that are no numbers, as the end of a sentence, with the name of the column that they are."""
    name = getattr(given, "name", None)
    called = f" (column {name!r})" if isinstance(name, str) else ""
    entries = given if has_rows(given) and n_rows_of(given) else [given]
    odd = next((entry for entry in entries if not isinstance(entry, numbers.Real)), entries)
    return f"{called} holds {str(odd)[:60]!r}, which is no number"


def weighs_nothing(sample_weight: Any, n: int) -> bool:
    """Whether the weights of ``n`` rows are all zero; what else is wrong with weights is said where they are checked."""
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return sample_weight is not None and weight.shape in ((), (n,)) and not weight.any()


def usable_weights(X: Any, sample_weight: Any) -> Array | None:
    """Weights as an array; None without any, or where something is wrong with them, which is said elsewhere."""
    if sample_weight is None or not has_rows(X):
        return None
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    if weight.shape != (n_rows_of(X),) or not (np.isfinite(weight) & (weight >= 0)).all():
        return None
    return weight


def counted_rows(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
    """Table, target and weights without the rows of weight zero, as if they were not there."""
    weight = usable_weights(X, sample_weight)
    if weight is None or weight.all() or not weight.any():
        return X, y, sample_weight
    if y is not None and (not has_rows(y) or n_rows_of(y) != len(weight)):
        return X, y, sample_weight
    rows = np.flatnonzero(weight)
    return take_rows(X, rows), None if y is None else take_rows(y, rows), weight[rows]


def no_weights_of_one(weight: Array | None) -> Array | None:
    """Weights, or None where they are all one."""
    return None if weight is None or (weight == 1.0).all() else weight


def largest_and_others(weight: Array) -> tuple[float, float]:
    """The largest of some weights, and what the others add up to."""
    if not len(weight):
        return 0.0, 0.0
    return float(weight.max()), float(np.delete(weight, weight.argmax()).sum())


def check_no_weight_alone(parts: list[tuple[float, float]]) -> None:
    """No row may outweigh all others beyond any rounding; of each part the largest weight, and the sum of its others."""
    ordered = sorted(parts)
    largest, others = ordered[-1][0], sum(largest for largest, _ in ordered[:-1]) + sum(rest for _, rest in ordered)
    if largest / LIGHTEST > others:
        raise ValueError(
            f"one row has a sample_weight of {largest:g}, and all others together have {others:g}, so that it alone would "
            "count; mend the weights."
        )


def check_enough_rows(matrix: Array, weight: Array | None) -> None:
    """Rows of weight zero do not count, nor do those beside one that outweighs them beyond any rounding."""
    if weight is not None and len(weight) > 1:
        check_no_weight_alone([largest_and_others(weight)])
    if matrix.shape[0] < 2 and (weight is None or weight.sum() < 2):
        raise ValueError("only 1 row has a positive sample_weight (n_samples=1); at least 2 rows are needed.")
