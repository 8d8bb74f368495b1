"""What a target holds, kept at a fit so that a report can tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.common.types import Array
from easyfs.tables.target import Target

MOST_BINS = 30
# Numbers are described by at most so many rows, spread over the table.
MOST_ROWS = 20_000


@dataclass(frozen=True)
class TargetInfo:
    """What is known of a target.

    Attributes
    ----------
    name : str or None
        Its name, where it has one.
    task : {"classification", "regression"}
        What it was taken for.
    n_targets : int
        Number of targets: 1, or the number of columns of ``y``.
    n_distinct : int
        Number of different values (of the first target, where there are several). What is said of numbers is of at most
        20,000 rows, spread over the table.
    whole : bool
        Whether all its values are whole numbers.
    classes : tuple of (label, number of rows)
        The classes, where it holds such, in the order of their labels.
    quantiles : tuple of five floats
        Smallest value, quartiles, largest value, where it holds numbers (of the first target).
    mean, spread : float
        Mean and standard deviation, likewise.
    histogram : tuple of (edges, counts)
        Numbers of rows between edges, likewise.
    """

    name: str | None
    task: str
    n_targets: int
    n_distinct: int
    whole: bool = False
    classes: tuple[tuple[Any, int], ...] = ()
    quantiles: tuple[float, ...] = ()
    mean: float = float("nan")
    spread: float = float("nan")
    histogram: tuple[tuple[float, ...], tuple[int, ...]] = ((), ())


def describe_target(target: Target, y: Any) -> TargetInfo | None:
    """What a checked target holds; None without one."""
    if target.values is None or target.task is None:
        return None
    name = getattr(y, "name", None)
    name = None if name is None else str(name)
    if target.kind == "classes" and target.classes is not None:
        counts = np.bincount(target.values, minlength=len(target.classes))
        labels = target.classes.tolist()
        whole = target.classes.dtype.kind in "iuf"
        found = tuple((label, int(count)) for label, count in zip(labels, counts, strict=True) if count)
        return TargetInfo(name, target.task, 1, len(found), whole, found)
    values = target.values[:: -(-len(target.values) // MOST_ROWS), 0]
    distinct = len(np.unique(values))
    size = float(np.abs(values).max()) or 1.0  # squares of large numbers do not fit
    counts, edges = _histogram(values, size)
    with np.errstate(over="ignore"):  # the smallest numbers have no inverse
        scaled = values / size
    return TargetInfo(
        name,
        target.task,
        target.values.shape[1],
        distinct,
        bool((values == np.round(values)).all()),
        (),
        tuple(float(q) for q in np.quantile(values, (0.0, 0.25, 0.5, 0.75, 1.0))),
        float(scaled.mean()) * size,
        float(scaled.std()) * size,
        (tuple(edges.tolist()), tuple(counts.tolist())),
    )


def _histogram(values: Array, size: float) -> tuple[Array, Array]:
    """Numbers of rows between edges; none where the range does not fit into a number."""
    with np.errstate(over="ignore"):
        spread = float(np.ptp(values))
    if not np.isfinite(spread):
        return np.zeros(0, dtype=int), np.zeros(0)
    bins = int(np.clip(np.sqrt(len(values)), 5, MOST_BINS))
    # Between values that differ in their last digits there is no room for more edges.
    room = spread / max(size * float(np.finfo(np.float64).eps), float(np.finfo(np.float64).smallest_subnormal))
    if room < 1.0:
        return np.array([len(values)]), np.repeat(values[:1], 2)
    with np.errstate(over="ignore"):  # the inverse of a span of the smallest numbers
        return np.histogram(values, bins=int(min(bins, max(1.0, room // 2))))
