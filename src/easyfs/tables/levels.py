"""How often each value of the columns that are no numbers comes, in tables of any size."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals as nw

from easyfs.tables.columns import MISSING_WORDS, series_of, texts_of
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
            counts = Counter(texts) if len(set(texts)) <= MOST_COUNTED else None
        else:
            table = column.cast(nw.String).value_counts(name="easyfs count")
            counts = None if len(table) > MOST_COUNTED else Counter()
            if counts is not None:
                counts.update(dict(zip(texts_of(table[table.columns[0]]), table["easyfs count"].to_list(), strict=True)))
        words = isinstance(column.dtype, (nw.String, nw.Object))  # a category has no words for a missing value
        found[name] = _without_words(counts) if words and counts is not None else counts
    return found


def _without_words(counts: Counter[str | None]) -> Counter[str | None]:
    """Words that stand for a missing value count as missing."""
    words = [text for text in counts if text is not None and text.strip().lower() in MISSING_WORDS]
    for word in words:
        counts[None] += counts.pop(word)
    return counts


def added(left: Levels, right: Levels) -> Levels:
    """Counts of the rows of both."""
    total: Levels = dict(left)
    for name, counts in right.items():
        mine = left.get(name, Counter())
        joined = None if mine is None or counts is None else mine + counts
        total[name] = None if joined is None or len(joined) > MOST_COUNTED else joined
    return total
