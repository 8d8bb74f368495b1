"""Tables of mixed columns become one matrix of numbers, and what was chosen there goes back to the user's columns.

A category becomes an indicator for each of its values, a date its parts; the columns of numbers that come from one column
of the table are selected or left together and are reported under its name. Identifiers and free text are set aside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from easyfs.common.notices import warn_user
from easyfs.common.types import Array
from easyfs.tables.columns import (
    ASIDE,
    DATE_PARTS,
    INDICATORS,
    MOST_LEVELS,
    NUMBER,
    SHORTEST_RUN,
    TOLD_APART,
    ColumnInfo,
    as_texts,
    count_missing,
    has_large_whole_numbers,
    is_pandas_index,
    is_row_number,
    no_number,
    numbers_of,
    recognise,
    series_of,
)
from easyfs.tables.frames import (
    check_is_table,
    check_matrix,
    column_names,
    missing_in,
    numeric_columns,
    room_for,
    single_types,
    to_matrix,
)
from easyfs.tables.levels import Levels, counts_of

# Values of a category that can be adjusted for: each of them takes out a row's worth.
MOST_TAKEN_OUT = 1000
OTHER, MISSING = "other values", "missing"
DAY = np.timedelta64(1, "D") / np.timedelta64(1, "us")
DATE_PART_NAMES = ("days", "month", "day of month", "weekday", "hour")


@dataclass(frozen=True, eq=False)
class Counting:
    """How the values of categories are counted; what a column is does not depend on it.

    Attributes
    ----------
    weight : array-like or None
        How much each row counts.
    levels : dict of str to Counter, or None
        How often each value of a column comes, where the table is a sample of a larger one.
    more : bool
        Whether more rows will come.
    """

    weight: Any = None
    levels: Levels | None = None
    more: bool = False


PLAINLY = Counting()


@dataclass(frozen=True)
class _Code:
    """How one column of the table becomes columns of numbers."""

    info: ColumnInfo
    levels: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    origin: float = 0.0
    has_other: bool = False
    has_missing: bool = False

    @property
    def width(self) -> int:
        """Number of columns that it becomes."""
        return {NUMBER: 1, ASIDE: 0}.get(self.info.used_as, len(self.parts))

    def encode(self, values: Any) -> Array:
        """The columns of numbers, as a list of arrays."""
        if self.info.used_as == NUMBER:
            return np.asarray(values, dtype=np.float64)[:, None]
        if self.info.used_as == DATE_PARTS:
            parts = date_parts(values, self.origin)
            return np.stack([parts[name] for name in self.parts], axis=1)
        place = {level: i for i, level in enumerate(self.levels)}
        other = len(self.levels) if self.has_other else -1
        missing = len(self.levels) + self.has_other if self.has_missing else -1
        codes = np.array([missing if text is None else place.get(text, other) for text in values])
        out = (codes[:, None] == np.arange(len(self.levels) + self.has_other + self.has_missing)).astype(np.float64)
        if not self.has_missing:  # a value that was never missing when this was learnt
            out[np.array([text is None for text in values], dtype=bool)] = np.nan
        return np.asarray(out[:, -len(self.parts) :])

    def names(self) -> list[str]:
        """Names of the columns that it becomes."""
        name = str(self.info.name)
        if self.info.used_as != INDICATORS:
            return [f"{name}: {part}" if part else name for part in (self.parts or ("",))[: self.width]]
        n_levels = len(self.parts) - self.has_other - self.has_missing
        return [f"{name} {'=' if i < n_levels else 'is'} {part}" for i, part in enumerate(self.parts)]


class TableEncoder:
    """Turns tables of mixed columns into matrices of numbers, as it has learnt from one; see :meth:`learn`.

    Attributes
    ----------
    columns : list of ColumnInfo
        What each column is, and what becomes of it.
    source : ndarray of int
        For each column of the matrix the column of the table that it comes from.
    names : list of str
        Names of the columns of the matrix, such as ``"city = Paris"`` and ``"sold: month"``.
    aside : ndarray of bool
        Columns of the table that are not used.

    Examples
    --------
    >>> import pandas as pd
    >>> from easyfs.tables.encoder import TableEncoder
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 5.0, 4.0], "city": ["Rome", "Paris", "Rome", "Paris"]})
    >>> encoder, matrix = TableEncoder.learn(table)
    >>> [(column.name, column.kind, column.used_as) for column in encoder.columns]
    [('size', 'numeric', 'number'), ('city', 'text', 'indicators')]
    >>> encoder.names, matrix[:, 1]
    (['size', 'city = Rome'], array([1., 0., 1., 0.]))
    """

    def __init__(self, codes: list[_Code]):
        self._codes = codes
        self.columns = [replace(code.info, parts=code.parts) for code in codes]
        self.source = np.repeat(np.arange(len(codes)), [code.width for code in codes])
        self.aside = np.array([code.info.used_as == ASIDE for code in codes], dtype=bool)
        self.names = [name for code in codes for name in code.names()]

    @property
    def signature(self) -> str:
        """Equal for two encoders exactly when they turn equal tables into equal matrices."""
        return repr(
            [(c.info.name, c.info.used_as, c.levels, c.parts, c.origin, c.has_other, c.has_missing) for c in self._codes]
        )

    @classmethod
    def learn(
        cls,
        X: Any,
        keep: Any = (),
        whole: Any = (),
        *,
        counting: Counting = PLAINLY,
        **checks: Any,
    ) -> tuple[TableEncoder, Array]:
        """Learn from a table: values of categories, spans of dates.

        Parameters
        ----------
        X : dataframe or Arrow table
            The table.
        keep : array-like of int, optional
            Positions of columns that are used whatever they look like.
        whole : array-like of int, optional
            Positions of further ones, of which every value has an indicator of its own.
        counting : Counting, optional
            How the values of categories are counted.

        Returns
        -------
        encoder : TableEncoder
        matrix : ndarray
            The table as numbers.
        """
        every = {int(j) for j in whole}
        kept = {int(j) for j in keep} | every
        codes, known = [], {}
        for j, (name, column) in enumerate(zip(column_names(X) or [], series_of(X), strict=True)):
            info, values = recognise(name, column, keep=j in kept, more=counting.more)
            most = _all_of(info) if j in every else MOST_LEVELS
            codes.append(_learn(info, values, name, most, counting))
            if info.used_as != NUMBER:  # numbers are read again, rather than kept twice
                known[j] = values
        encoder = cls(codes)
        return encoder, encoder.transform(X, known=known, **checks)

    def transform(
        self,
        X: Any,
        *,
        estimator: Any = None,
        min_rows: int = 1,
        known: dict[int, Any] | None = None,
        by_column: bool = False,
    ) -> Array:
        """The matrix of numbers; missing values are NaN.

        ``known`` has values of columns that were read before; ``by_column`` is that of ``to_matrix``.
        """
        columns = series_of(X)
        numbers = [column for code, column in zip(self._codes, columns, strict=True) if code.info.used_as == NUMBER]
        n = len(columns[0]) if columns else 0
        single = bool(numbers) and all(column.dtype in single_types(n * len(columns)) for column in numbers)
        out = room_for(n, len(self.source), single=single, by_column=by_column)
        at = 0
        for j, (code, column) in enumerate(zip(self._codes, columns, strict=True)):
            if code.width:
                values = known.pop(j) if known and j in known else _values_as(code, column)
                out[:, at : at + code.width] = code.encode(values)
                at += code.width
        if columns and not at:
            raise ValueError(f"no column is left to select from: all are set aside ({told(self.columns)}).")
        checked: Array = check_matrix(out, self.names, estimator, min_rows)
        return checked

    def missing_in(self, X: Any, matrix: Array) -> Array:
        """Rows without a value, for each column of a table that became ``matrix``."""
        inner, columns = missing_in(matrix), series_of(X)
        found = np.zeros(len(self._codes), dtype=np.int64)
        ends = np.cumsum([code.width for code in self._codes])
        for j, (code, end) in enumerate(zip(self._codes, ends, strict=True)):
            if not code.width:
                found[j] = count_missing(columns[j])
            else:  # the last indicator of a category may be that of the missing ones
                found[j] = inner[end - 1] + (np.nansum(matrix[:, end - 1]) if code.has_missing else 0)
        return found

    def mean_of(self, values: Array) -> Array:
        """Mean over the columns of the matrix that come from each column of the table, along the last axis."""
        width = np.bincount(self.source, minlength=len(self.columns))
        summed = np.zeros((*values.shape[:-1], len(self.columns)))
        np.add.at(summed.T, self.source, values.T)
        return np.asarray(summed / np.maximum(width, 1))

    def warn_of_aside(self, excluded: Any = ()) -> None:
        """Say which columns are not used, unless they are constant or not wanted anyway."""
        unwanted = {int(j) for j in excluded}
        left = [
            column
            for j, column in enumerate(self.columns)
            if column.used_as == ASIDE and column.kind != "constant" and j not in unwanted
        ]
        if not left:
            return
        warn_user(
            f"{len(left)} column{'s are' if len(left) > 1 else ' is'} set aside: {told(left)}. Name a column in include= "
            "to use it all the same, or in exclude= (or drop it) to say that it is not wanted."
        )


def told(columns: list[ColumnInfo]) -> str:
    """Columns with the reason why they are set aside, for a message."""
    shown = "; ".join(f"{column.name!r} ({column.kind}: {column.reason})" for column in columns[:5])
    return shown + (f" and {len(columns) - 5} more" if len(columns) > 5 else "")


def read_table(
    X: Any,
    keep: Any = (),
    whole: Any = (),
    *,
    counting: Counting = PLAINLY,
    **checks: Any,
) -> tuple[TableEncoder | None, Array]:
    """A table as a matrix, and the encoding that it needed: None where all columns are numbers, and used as they are."""
    check_is_table(X)
    if numeric_columns(X).all():
        matrix = to_matrix(X, **checks)
        odd = _has_odd_numbers(matrix, column_names(X) or [], np.concatenate([keep, whole]))
        if not odd and not any(has_large_whole_numbers(series) for series in _columns_of(X, _large(matrix))):
            return None, matrix
        del matrix
    return TableEncoder.learn(X, keep, whole, counting=counting, **checks)


def _large(matrix: Array) -> Array:
    """Columns that may have numbers that floats do not tell apart, as their first rows say, or do not say."""
    first = matrix[:50]
    return np.flatnonzero((np.abs(first) >= TOLD_APART).any(axis=0) | np.isnan(first).all(axis=0))


def _columns_of(X: Any, places: Array) -> list[Any]:
    """Some columns of a table."""
    columns = series_of(X) if len(places) else []
    return [columns[j] for j in places]


def _has_odd_numbers(matrix: Array, names: list[Any], keep: Any) -> bool:
    """Whether a table of numbers has a column that is a row number, or one value that is not always there.

    The first rows tell for most columns that they are neither.
    """
    n, first = len(matrix), matrix[:50]
    gone = np.isnan(first)
    low, high = np.where(gone, np.inf, first).min(axis=0), np.where(gone, -np.inf, first).max(axis=0)
    missing = missing_in(matrix)
    for j in np.flatnonzero((low >= high) & (missing > 0) & (missing < n)):
        observed = matrix[~np.isnan(matrix[:, j]), j]
        if (observed == observed[0]).all():
            return True
    kept = {names[j] for j in np.asarray(keep, dtype=np.intp)}
    if any(is_pandas_index(name) and name not in kept for name in names):
        return True
    if n < SHORTEST_RUN:
        return False
    whole = first == np.round(first)
    suspect = (whole | gone).all(axis=0)
    suspect &= (np.diff(np.sort(first, axis=0), axis=0) != 0).all(axis=0)  # a missing value differs from all
    suspect[np.asarray(keep, dtype=np.intp)] = False
    return any(bool(is_row_number(names[j], matrix[:, j].astype(np.float64))) for j in np.flatnonzero(suspect))


def _all_of(info: ColumnInfo) -> int:
    """As many values as may have an indicator each where none may be left out."""
    if info.used_as == INDICATORS and (info.n_distinct or 0) > MOST_TAKEN_OUT:
        raise ValueError(
            f"adjust_for names column {info.name!r}, which has {info.n_distinct:,} different values; at most "
            f"{MOST_TAKEN_OUT:,} can be taken out, so put them into fewer groups."
        )
    return MOST_TAKEN_OUT


def _learn(
    info: ColumnInfo,
    values: Any,
    name: Any,
    most: int,
    counting: Counting,
) -> _Code:
    if info.used_as == INDICATORS:
        every, known = counts_of(values, counting.weight), (counting.levels or {}).get(name)
        if known is not None and every.keys() <= known.keys():
            every = known
        counts = {text: times for text, times in every.items() if text is not None}
        levels = sorted(sorted(counts), key=lambda level: -float(f"{counts[level]:.12g}"))  # sums of weights are rounded
        has_other = len(levels) > most
        levels = levels[:most]
        has_missing = every[None] > 0
        parts = (*levels, *((OTHER,) if has_other else ()), *((MISSING,) if has_missing else ()))
        if len(parts) == 2:  # one indicator says it all
            parts = parts[1:]
        return _Code(info, tuple(levels), parts, has_other=has_other, has_missing=has_missing)
    if info.used_as == DATE_PARTS:
        observed = values[~np.isnat(values)]
        origin = float(observed.min().astype(np.int64))
        found = date_parts(observed, origin)
        return _Code(info, parts=tuple(name for name in DATE_PART_NAMES if np.ptp(found[name]) > 0), origin=origin)
    return _Code(info)


def date_parts(times: Array, origin: float) -> dict[str, Array]:
    """Days since the first, month, day of the month, weekday (Monday is 0) and hour; NaN where a time is missing."""
    gone = np.isnat(times)
    stamp = np.where(gone, np.datetime64("1970-01-01T00:00:00", "us"), times)
    day = stamp.astype("datetime64[D]")
    month = stamp.astype("datetime64[M]")
    found = {
        "days": (stamp.astype(np.int64) - origin) / DAY,
        "month": month.astype(np.int64) % 12 + 1.0,
        "day of month": (day - month.astype("datetime64[D]")).astype(np.int64) + 1.0,
        "weekday": (day.astype(np.int64) + 3) % 7 * 1.0,
        "hour": (stamp - day).astype("timedelta64[us]").astype(np.int64) / (DAY / 24),
    }
    return {name: np.where(gone, np.nan, values) for name, values in found.items()}


def _values_as(code: _Code, column: Any) -> Any:
    """Values of a column in the form in which they were learnt, whatever another table calls their type."""
    if code.info.used_as == NUMBER and (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        return numbers_of(column)
    found, values = recognise(code.info.name, column, keep=True, flags=False)
    if found.kind == "constant" and not found.n_distinct:  # all missing, which has no type
        n = len(column)
        if code.info.used_as == DATE_PARTS:
            return np.full(n, np.datetime64("NaT"), dtype="datetime64[us]")
        return np.full(n, np.nan) if code.info.used_as == NUMBER else [None] * n
    if code.info.used_as == INDICATORS and not isinstance(values, list):
        return as_texts(column, values)
    if code.info.used_as == NUMBER and isinstance(values, list):
        raise ValueError(
            f"column {code.info.name!r} held numbers when it was first seen, but holds {found.kind} now (for example "
            f"{no_number(values)!r}): mend this, or make it missing."
        )
    if code.info.used_as == DATE_PARTS and getattr(values, "dtype", np.dtype(object)).kind != "M":
        raise ValueError(f"column {code.info.name!r} held dates when it was first seen, but holds {found.kind} now.")
    return values
