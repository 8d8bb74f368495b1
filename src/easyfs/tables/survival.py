"""A target for times that are known only up to the end of observation: martingale residuals."""

from __future__ import annotations

from typing import Any

import numpy as np

from easyfs.common.types import Array
from easyfs.tables.weights import check_weights


def survival_target(event: Any, time: Any, sample_weight: Any = None) -> Array:
    """Turn times to an event, some of which were not observed, into numbers that any selector can explain.

    Each row gets its martingale residual: 1 if the event was observed, else 0, less the number of events that were to be
    expected by then for a row like all others, the Nelson-Aalen estimate of the cumulative hazard at its time. Those that
    have the event early are near 1; those that are observed for long without one are far below 0. Columns that explain it
    are those that tell who is at risk. The residuals of training and test rows are made apart.

    Parameters
    ----------
    event : array-like of shape (n,)
        Whether the event was observed: booleans, or 1 and 0. Rows without it are censored: all that is known is that it
        had not happened by ``time``.
    time : array-like of shape (n,)
        When it happened, or when observation ended; not negative.
    sample_weight : array-like of shape (n,), optional
        Weight of each row; a weight of 2 is the same as having the row twice.

    Returns
    -------
    residual : ndarray of shape (n,)
        A numeric target, for ``fit(X, residual)`` with ``task="regression"``. They add up to 0, by weight.

    Examples
    --------
    >>> from easyfs import survival_target
    >>> survival_target(event=[True, False, True], time=[1.0, 2.0, 3.0]).round(3)
    array([ 0.667, -0.333, -0.333])
    """
    observed, times = _events(event), _times(time)
    if len(observed) != len(times):
        raise ValueError(f"event has {len(observed)} rows, but time has {len(times)}; give one of each for each row.")
    weight = check_weights(sample_weight, len(times))
    weight = np.ones(len(times)) if weight is None else np.asarray(weight, dtype=np.float64)
    if not (observed * weight).any():
        raise ValueError("event is 0 in every row that counts; without an event there is nothing to explain.")
    moments, place = np.unique(times, return_inverse=True)
    events = np.bincount(place, weights=weight * observed, minlength=len(moments))
    leaving = np.bincount(place, weights=weight, minlength=len(moments))
    at_risk = np.cumsum(leaving[::-1])[::-1]
    hazard = np.cumsum(np.divide(events, at_risk, out=np.zeros(len(moments)), where=at_risk > 0))
    return np.asarray(observed - hazard[place])


def _column(name: str, values: Any) -> Array:
    listed = np.asarray(values)
    if listed.ndim == 2 and listed.shape[1] == 1:
        listed = listed[:, 0]
    if listed.ndim != 1 or not len(listed):
        raise ValueError(f"{name} has the shape {listed.shape}; give one value for each row.")
    return listed


def _numbers(name: str, values: Any, what: str) -> Array:
    listed = _column(name, values)
    try:
        found = listed.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} holds values that are no numbers ({listed[0]!r} for example); give {what}.") from error
    gone = np.flatnonzero(~np.isfinite(found))
    if len(gone):
        raise ValueError(f"{name} is missing or infinite in {len(gone)} rows (row {gone[0]} first); leave those rows out.")
    return np.asarray(found)


def _events(event: Any) -> Array:
    found = _numbers("event", event, "True where the event was observed, else False")
    odd = found[(found != 0.0) & (found != 1.0)]
    if len(odd):
        raise ValueError(f"event has the value {odd[0]:g}; give 1 or True where the event was observed, else 0.")
    return found


def _times(time: Any) -> Array:
    found = _numbers("time", time, "the time of the event, or of the end of observation")
    if (found < 0).any():
        row = int(np.flatnonzero(found < 0)[0])
        raise ValueError(f"time is negative in row {row} ({found[row]:g}); count from the beginning of observation.")
    return found
