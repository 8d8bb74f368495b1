"""How often each value of the columns that are no numbers comes, in tables of any size."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals as nw

from easyfs.tables.columns import series_of, texts_of
from easyfs.tables.frames import column_names, is_table, numeric_columns

# A column with more different values than this is no category, and is not counted any further.
MOST_COUNTED = 10_000

Levels = dict[str, Counter[str | None] | None]


def levels_in(X: Any) -> Levels:
    """Rows of each value of each column of text, categories or flags; None for a column with very many values."""
    if not is_table(X):
        return {}
    found: Levels = {}
    names, numeric = column_names(X) or [], numeric_columns(X)
    for name, is_number, column in zip(names, numeric, series_of(X), strict=True):
        if is_number or not isinstance(column.dtype, (nw.String, nw.Categorical, nw.Enum, nw.Object)):
            continue
        if column.dtype == nw.Object:
            texts: list[str | None] = texts_of(column)
            found[name] = Counter(texts) if len(set(texts)) <= MOST_COUNTED else None
            continue
        table = column.cast(nw.String).value_counts(name="count")
        texts = texts_of(table[table.columns[0]])
        found[name] = (
            Counter(dict(zip(texts, table["count"].to_list(), strict=True))) if len(texts) <= MOST_COUNTED else None
        )
    return found


def added(left: Levels, right: Levels) -> Levels:
    """Counts of the rows of both."""
    total: Levels = dict(left)
    for name, counts in right.items():
        mine = left.get(name, Counter())
        joined = None if mine is None or counts is None else mine + counts
        total[name] = None if joined is None or len(joined) > MOST_COUNTED else joined
    return total
