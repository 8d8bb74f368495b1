"""How often each value of the columns that are no numbers comes, in tables of any size; by weight, where rows have one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np

from easyfs.common.types import Array
from easyfs.tables.columns import MISSING_WORDS, series_of, texts_of
from easyfs.tables.frames import column_names, is_table, numeric_columns

# A column with more different values than this is no category, and is not counted any further.
MOST_COUNTED = 10_000

Levels = dict[str, Counter[str | None] | None]


def counts_of(values: Iterable[str | None], weight: Any = None) -> Counter[str | None]:
    """How often each value comes; with weights, what its rows weigh."""
    if weight is None:
        return Counter(values)
    total: Counter[str | None] = Counter()
    for value, one in zip(values, np.asarray(weight, dtype=np.float64).tolist(), strict=True):
        total[value] += one
    return total


def levels_in(X: Any, weight: Array | None = None) -> Levels:
    """Rows of each value of each column of text, categories or flags; None for a column with very many values."""
    if not is_table(X):
        return {}
    found: Levels = {}
    names, numeric = column_names(X) or [], numeric_columns(X)
    if numeric.all() and not nw.dependencies.is_pandas_dataframe(X):  # objects of pandas may be numbers, or all missing
        return found
    for name, is_number, column in zip(names, numeric, series_of(X), strict=True):
        if column.dtype == nw.Object and len(column) and column.null_count() == len(column):  # may be text elsewhere
            found[name] = counts_of([None] * len(column), weight)
        elif not is_number and isinstance(column.dtype, (nw.String, nw.Categorical, nw.Enum, nw.Object)):
            found[name] = _counted(column, weight)
    return found


def _counted(column: Any, weight: Array | None) -> Counter[str | None] | None:
    """Rows of each value of a column; None if there are very many."""
    if column.dtype == nw.Object or weight is not None:
        counts = counts_of(texts_of(column), weight)
        plain = column.dtype in (nw.Object, nw.String)
        return None if len(counts) > MOST_COUNTED else _without_words(counts) if plain else counts
    observed = column.drop_nulls()  # first, as some libraries write a missing value out, and others do not count it
    table = observed.cast(nw.String).value_counts(name="easyfs count")
    if len(table) > MOST_COUNTED:
        return None
    counts = Counter(dict(zip(texts_of(table[table.columns[0]]), table["easyfs count"].to_list(), strict=True)))
    if len(observed) < len(column):
        counts[None] += len(column) - len(observed)
    return _without_words(counts) if column.dtype == nw.String else counts


def _without_words(counts: Counter[str | None]) -> Counter[str | None]:
    """Texts that say that a value is missing are missing values."""
    for text in [text for text in counts if text is not None and text.strip().lower() in MISSING_WORDS]:
        counts[None] += counts.pop(text)
    return counts


def added(left: Levels, right: Levels) -> Levels:
    """Counts of the rows of both."""
    total: Levels = dict(left)
    for name, counts in right.items():
        mine = left.get(name, Counter())
        joined = None if mine is None or counts is None else mine + counts
        total[name] = None if joined is None or len(joined) > MOST_COUNTED else joined
    return total
