"""What the columns of a table hold, by their types alone, in words that are the same for every library."""

from __future__ import annotations

import datetime as dt
import numbers
import re
from typing import Any

import narwhals as nw
import numpy as np

from easyfs.tables.columns import ColumnInfo
from easyfs.tables.frames import column_types

NUMBERS, BOOLEANS, TEXT, DATES, DURATIONS, OTHER = "numbers", "booleans", "text", "dates", "durations", "other values"
UNKNOWN = "unknown"
HELD = (NUMBERS, BOOLEANS, TEXT, DATES, DURATIONS, OTHER, UNKNOWN)
# Types by how their names begin, in the words of pandas, polars, Arrow, DuckDB, Dask and Spark.
_TYPES = {
    BOOLEANS: r"bool",
    NUMBERS: r"u?int(?:\d|eger|$)|float|double|half|decimal|(?:tiny|small|big|huge)int|long|short|byte|real|sparse",
    TEXT: r"str(?!uct)|string|large_string|utf8|varchar|char|categor|enum|dictionary",
    DATES: r"datetime|date|timestamp|period",
    DURATIONS: r"timedelta|duration",
    UNKNOWN: r"object|null|unknown|void|$",
}
# What a column of a type that says nothing held, by what it was recognised as.
_KINDS = {
    "numeric": NUMBERS,
    "boolean": BOOLEANS,
    "date": DATES,
    "duration": DURATIONS,
    "constant": UNKNOWN,
    "other": OTHER,
}


def held_by_type(word: Any) -> str:
    """What a column of a type holds, by the name of the type."""
    name = str(word).lower()
    return next((held for held, pattern in _TYPES.items() if re.match(pattern, name)), OTHER)


def held_at_fit(info: ColumnInfo) -> str:
    """What a column held that a selector has seen."""
    held = held_by_type(info.dtype)
    return held if held != UNKNOWN else _KINDS.get(info.kind, TEXT)


def held_in(X: Any, places: list[int]) -> list[str]:
    """What some columns of a dataframe or Arrow table hold; objects are told by the first of them."""
    types = column_types(X)
    found = [held_by_type(types[j]) for j in places]
    if UNKNOWN in found and nw.dependencies.is_pandas_dataframe(X):
        found = [_held_by_values(X.iloc[:, j]) if held == UNKNOWN else held for j, held in zip(places, found, strict=True)]
    return found


def _held_by_values(column: Any) -> str:
    value = next(iter(column.dropna().head(1)), None)
    kinds: list[tuple[Any, str]] = [
        ((bool, np.bool_), BOOLEANS),
        (numbers.Number, NUMBERS),
        (str, TEXT),
        ((dt.date, np.datetime64), DATES),
        ((dt.timedelta, np.timedelta64), DURATIONS),
    ]
    return next((held for kind, held in kinds if isinstance(value, kind)), UNKNOWN if value is None else OTHER)


def are_alike(before: str, now: str) -> bool:
    """Whether columns that hold this may stand for each other: numbers may be flags, and what is not known may be right."""
    return before == now or UNKNOWN in (before, now) or {before, now} == {NUMBERS, BOOLEANS}
