"""Dates and times, however a column holds them: as its library does, as Python's objects, or as text."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import numpy as np

from easyfs.common.types import Array

# Year first or day.month.year, with or without a time and its distance from UTC.
_DATE = (
    r"(?:(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})|(?P<d2>\d{1,2})\.(?P<m2>\d{1,2})\.(?P<y2>\d{4}))"
    r"(?:[T ](?P<H>\d{1,2}):(?P<M>\d{2})(?::(?P<S>\d{2})(?:[.,](?P<f>\d+))?)?)?"
    r" ?(?:Z|UTC|(?P<sign>[+-])(?P<oH>\d{2}):?(?P<oM>\d{2}))?"
)


def times_of(column: Any) -> Array:
    """A narwhals column of dates or times, those with a time zone as UTC."""
    if getattr(column.dtype, "time_zone", None):
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    values = np.asarray(column.to_numpy())
    return times_in_objects(values.tolist()) if values.dtype == object else values.astype("datetime64[us]")


def times_in_objects(values: list[Any]) -> Array:
    """Dates and times of Python, with anything else for a missing one."""
    return np.array([_stamp(value) for value in values], dtype="datetime64[us]")


def _stamp(value: Any) -> np.datetime64:
    if not isinstance(value, dt.date) or type(value).__name__ == "NaTType":  # which is a date, too
        return np.datetime64("NaT", "us")
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        value = value.astimezone(dt.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")


def times_in(texts: list[str | None], observed: list[str]) -> Array | None:
    """Dates that were written as text, year first or as day.month.year, those that say their distance from UTC as UTC."""
    if not observed or not all(re.fullmatch(_DATE, text.strip()) for text in observed[:50]):
        return None
    known: dict[str | None, Any] = {None: np.datetime64("NaT")}
    try:
        for text in dict.fromkeys(observed):
            known[text] = _parsed(text)
    except (ValueError, OverflowError):
        return None
    return np.array([known[text] for text in texts], dtype="datetime64[us]")


def _parsed(text: str) -> np.datetime64:
    match = re.fullmatch(_DATE, text.strip())
    if match is None:
        raise ValueError(text)
    found = match.groupdict(default="0")
    ahead = -1 if found.pop("sign") == "-" else 1
    fraction = int(found.pop("f").ljust(6, "0")[:6])
    part = {name: int(value) for name, value in found.items()}
    year, month, day = (part[f"{name}2"] or part[name] for name in "ymd")
    local = dt.datetime(year, month, day, part["H"], part["M"], part["S"], fraction)
    return np.datetime64(local - ahead * dt.timedelta(hours=part["oH"], minutes=part["oM"]), "us")
