"""What the columns of a table are: numbers, categories, dates, text, identifiers; and what is done with each."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np

from easyfs.common.types import Array
from easyfs.tables.frames import floats_of
from easyfs.tables.times import times_in, times_in_objects, times_of

# How a column is used.
NUMBER, INDICATORS, DATE_PARTS, ASIDE = "number", "indicators", "date parts", "set aside"
# So many values of a category get an indicator each, the most frequent ones; the others share one.
MOST_LEVELS = 30
# Text is a category if a value is in two rows on average. Text of nearly as many values as rows is an identifier.
ROWS_PER_LEVEL = 2
NEARLY_ALL = 0.9
WORDS_OF_TEXT = 3.0
# Text of which at least this share is numbers says which cells are not.
MOSTLY_NUMBERS = 0.9
# Whole numbers without a gap are row numbers, if there are this many.
SHORTEST_RUN = 20
# So are whole numbers that never repeat though measured ones, as close together as these, would do so this often by chance:
# what is left of row numbers where some rows went to a test set. Up to so many times as wide as there are rows any such
# numbers are taken for that; up to so many times as wide, such as are spread as if they were drawn and are not in order.
LEAST_REPEATS, CLOSE, WIDE = 10.0, 2.0, 10.0
SAMPLE = 1000
# Larger whole numbers are no longer all told apart as floats.
TOLD_APART = 1 << 53
# What Arrow calls lengths of time in months, days and nanoseconds.
INTERVALS = "month_day_nano_interval"
NUMBERS = (int, float, np.integer, np.floating, np.bool_)
# Patterns are compiled when they are first used, and kept by ``re``: an import should not wait for them.
_IDENTIFIER = r"(?i:(?:^|[\W_])(?:id|ids|uid|uuid|guid|key|index|row|rowid|rownum|nr|no)$)"
_CAMEL_IDENTIFIER = r"[a-z](?:ID|Id)$"
# What pandas calls the index of a table that was written and read again.
_INDEX = r"(?i:unnamed: ?0|level_0|)"
_PANDAS_INDEX = r"__index_level_\d+__"


MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none", "?", "-", "#n/a", "nat")


@dataclass(frozen=True)
class ColumnInfo:
    """What is known of a column.

    Attributes
    ----------
    name : object
        The column's name; ``x0``, ``x1``, ... for an array.
    kind : str
        "numeric", "boolean", "category", "text" (of few values), "free text", "date", "duration", "identifier", "constant"
        or "other".
    dtype : str
        The type that the table itself gives it.
    used_as : {"number", "indicators", "date parts", "set aside"}
        What is done with it.
    n_missing : int
        Rows without a value.
    n_distinct : int or None
        Number of different values; None where they were not counted (numbers).
    examples : tuple of str
        Some of its values.
    parts : tuple of str
        Names of the columns of numbers that it becomes, where it is not one itself.
    reason : str
        Why it is set aside.
    """

    name: Any
    kind: str
    dtype: str
    used_as: str = NUMBER
    n_missing: int = 0
    n_distinct: int | None = None
    examples: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    reason: str = ""


def holds_objects(column: Any) -> bool:
    """Whether a column of pandas holds objects; narwhals takes it for text by its first rows, which may be missing."""
    dtype = getattr(column.to_native(), "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind == "O"


def series_of(X: Any) -> list[Any]:
    """The columns of a table, one by one (pandas may have several of one name)."""
    if nw.dependencies.is_pandas_dataframe(X):
        return [nw.from_native(X.iloc[:, j], series_only=True) for j in range(X.shape[1])]
    columns = nw.from_native(X, eager_only=True).iter_columns()
    if nw.dependencies.is_polars_dataframe(X):  # which reads some names as patterns
        return [column.alias("") for column in columns]
    return list(columns)


def recognise(
    name: Any, column: Any, *, keep: bool = False, flags: bool = True, more: bool = False
) -> tuple[ColumnInfo, Any]:
    """What a column is, and its values in the form in which they are encoded.

    Parameters
    ----------
    name : object
        Name of the column.
    column : narwhals Series
    keep : bool, default=False
        Whether it is wanted in any case: then an identifier or a text is used as what it could be.
    flags : bool, default=True
        Whether a column with one value that is not always there becomes present or missing.
    more : bool, default=False
        Whether more rows will come, in which a category that has one value so far may have others.

    Returns
    -------
    ColumnInfo
        Without ``parts``, which the encoding knows.
    values : narwhals Series, ndarray or list
        Numbers (float array), texts (list with None for a missing one) or times (``datetime64[us]`` array).
    """
    info, values = _recognise(ColumnInfo(name, "numeric", _dtype_name(column)), column, keep)
    if flags and info.kind == "constant" and info.n_distinct and info.n_missing and _may_be_flag(values):
        # Missing is all that a mark, such as "yes" or nothing, has to say; the mean of its values would lose it.
        return replace(info, kind=_kind_of_flag(column, values), used_as=INDICATORS, reason=""), as_texts(column, values)
    if more and info.kind == "constant" and isinstance(values, list):
        return replace(info, kind="category", used_as=INDICATORS, reason=""), values
    return info, values


def _may_be_flag(values: Any) -> bool:
    """A date that is always the same is rather the day on which a table was made."""
    return isinstance(values, list) or values.dtype.kind != "M"


def _kind_of_flag(column: Any, values: Any) -> str:
    if column.dtype in (nw.Categorical, nw.Enum):
        return "category"
    if isinstance(values, list):
        return "text"
    if column.dtype == nw.Duration:
        return "duration"
    present = next(value for value in column.to_list() if not is_missing(value))
    return "boolean" if isinstance(present, (bool, np.bool_)) else "numeric"


def _recognise(info: ColumnInfo, column: Any, keep: bool) -> tuple[ColumnInfo, Any]:
    dtype = column.dtype
    if dtype == nw.Boolean:
        return _counted(replace(info, kind="boolean"), numbers_of(column))
    if dtype.is_numeric():
        return _number(info, numbers_of(column), keep, *_told_apart(column))
    if dtype in (nw.Categorical, nw.Enum):
        levels = _ordered_levels(column)
        texts = texts_of(column)
        if levels is not None:
            place = {level: float(i) for i, level in enumerate(levels)}
            numbers = np.array([np.nan if t is None else place[t] for t in texts])
            return _counted(replace(info, kind="category"), numbers, texts)
        return _category(replace(info, kind="category"), texts)
    if dtype == nw.String and (not holds_objects(column) or column.null_count() == len(column)):
        return _text(info, texts_of(column), keep)
    if dtype in (nw.Date, nw.Datetime):
        return _date(info, times_of(column))
    if dtype == nw.Duration:
        return _counted(replace(info, kind="duration"), _seconds(column))
    return _objects(info, column, keep)


def _dtype_name(column: Any) -> str:
    native = column.to_native()
    return str(getattr(native, "dtype", None) or getattr(native, "type", column.dtype))


def numbers_of(column: Any) -> Array:
    """A column of numbers or booleans, with NaN for a missing value."""
    return np.asarray(floats_of(column, nw.Float64), dtype=np.float64)


def seconds_of_intervals(native: Any) -> Array:
    """Lengths of time of Arrow that count months, days and nanoseconds, as DuckDB has them; a month is 30 days."""
    found = [
        np.nan if value is None else (30.0 * value.months + value.days) * 86_400.0 + value.nanoseconds / 1e9
        for value in native.to_pylist()
    ]
    return np.array(found, dtype=np.float64)


def has_large_whole_numbers(column: Any) -> bool:
    """Whether a column has whole numbers that floats do not tell apart, though they would their distances."""
    if not column.dtype.is_integer() or not column.count():
        return False
    low, high = int(column.min()), int(column.max())
    return max(-low, high) >= TOLD_APART > high - low


def _told_apart(column: Any) -> tuple[Array | None, int]:
    """Of large whole numbers, their distances from the smallest one, and that one; of others nothing."""
    if not has_large_whole_numbers(column):
        return None, 0
    low = int(column.min())
    if column.dtype != nw.UInt64:
        return numbers_of(column - low), low
    apart = np.full(len(column), np.nan)
    observed = np.asarray(column.drop_nulls().to_numpy(), dtype=np.uint64)  # not all libraries can count that far
    apart[~np.asarray(column.is_null().to_numpy(), dtype=bool)] = observed - np.uint64(low)
    return apart, low


def _seconds(column: Any) -> Array:
    values = np.asarray(column.to_numpy()).astype("timedelta64[us]")
    return np.where(np.isnat(values), np.nan, values.astype(np.int64) / 1e6)


def _ordered_levels(column: Any) -> list[str] | None:
    """Levels of a pandas category that says it is ordered."""
    native = column.to_native()
    if getattr(getattr(native, "dtype", None), "ordered", False) and hasattr(native, "cat"):
        return [str(level) for level in native.cat.categories]
    return None


def texts_of(column: Any) -> list[str | None]:
    """A column as texts, with None for a missing value."""
    return [None if is_missing(v) else v if isinstance(v, str) else str(v) for v in column.to_list()]


def as_texts(column: Any, values: Any) -> list[str | None]:
    """A column as it is written, with None for what is missing among the values that it was recognised as."""
    if isinstance(values, list):
        return values
    gone = np.isnat(values) if values.dtype.kind in "Mm" else np.isnan(values)
    return [None if lost else text for text, lost in zip(texts_of(column), gone, strict=True)]


def count_missing(column: Any) -> int:
    """Rows of a column without a value, by whatever word a text says so."""
    gone = int(column.null_count())
    if column.dtype == nw.String:
        return gone + int(column.drop_nulls().str.strip_chars().str.to_lowercase().is_in(MISSING_WORDS).sum())
    if column.dtype.is_float():
        return int(np.isnan(numbers_of(column)).sum())
    if column.dtype == nw.Object:
        return sum(is_missing(value) or str(value).strip().lower() in MISSING_WORDS for value in column.to_list())
    return gone


def is_missing(value: Any) -> bool:
    """Whether a Python object stands for a missing value."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and np.isnan(value))


def _counted(info: ColumnInfo, numbers: Array, texts: Any = None) -> tuple[ColumnInfo, Array]:
    """A column of numbers: how many are missing, and whether they differ."""
    observed = numbers[~np.isnan(numbers)]
    examples = _examples([t for t in texts if t is not None]) if texts is not None else _number_examples(observed)
    info = replace(info, n_missing=len(numbers) - len(observed), examples=examples)
    if not len(observed) or (observed == observed[0]).all():
        info = replace(info, kind="constant", n_distinct=min(len(observed), 1))
    return info, numbers


def _number_examples(observed: Array) -> tuple[str, ...]:
    seen = list(dict.fromkeys(observed[:200].tolist()))[:3]
    return tuple(f"{value:.6g}" for value in seen)


def _examples(values: Iterable[Any], most: int = 3) -> tuple[str, ...]:
    seen: dict[str, None] = {}
    for value in values:
        seen.setdefault(str(value)[:60])
        if len(seen) == most:
            break
    return tuple(seen)


def looks_like_identifier(name: Any) -> bool:
    """Whether a name says that it is an identifier: ``id``, ``customer_id``, ``rowId``."""
    text = str(name)
    return bool(re.search(_IDENTIFIER, text) or re.search(_CAMEL_IDENTIFIER, text) or re.fullmatch(_INDEX, text.strip()))


def is_pandas_index(name: Any) -> bool:
    """Whether pandas gave a column its name, as it does to an index without one when it writes a file."""
    return bool(re.fullmatch(_PANDAS_INDEX, str(name)))


def is_row_number(name: Any, numbers: Array, first_number: int = 0) -> str:
    """Why a column of numbers is an identifier rather than a quantity; empty if it is none.

    The numbers may be distances from a ``first_number``, which matters for what is said alone.
    """
    if is_pandas_index(name):
        return "the index of a pandas table: a row number"
    observed = numbers[~np.isnan(numbers)]
    first = observed[:50]
    if len(observed) < SHORTEST_RUN or len(np.unique(first)) < len(first) or (first != np.round(first)).any():
        return ""
    with np.errstate(over="ignore"):
        n, span = len(observed), float(observed.max() - observed.min()) + 1.0
    close = span <= WIDE * n and n * n / (2.0 * span) >= LEAST_REPEATS
    named = looks_like_identifier(name)
    if not (span == n or close or named) or (observed != np.round(observed)).any():
        return ""
    ordered = np.sort(observed)
    steps = np.diff(ordered)
    distinct = 1 + int(np.count_nonzero(steps))
    if distinct == n == span:
        return "whole numbers without a gap, each once: a row number"
    if close and distinct == n and _are_drawn(observed, ordered, steps, span):
        low, high = (first_number + int(number) for number in (ordered[0], ordered[-1]))
        return f"whole numbers from {low} to {high}, none twice in {n} rows: a row number"
    return (
        f"named like an identifier, with {distinct} different values in {n} rows"
        if named and distinct >= NEARLY_ALL * n
        else ""
    )


def _are_drawn(observed: Array, ordered: Array, steps: Array, span: float) -> bool:
    """Whether numbers that do not repeat look like some of the numbers of all rows."""
    n = len(observed)
    if np.gcd.reduce(steps.astype(np.int64)) > 1:  # every tenth second, or amounts in tens
        return False
    if span <= CLOSE * n:
        return True
    forward = np.diff(observed) > 0
    if forward.all() or not forward.any():  # a counter or a time that only grows
        return False
    # Gaps between numbers that are drawn are hardly ever longer than this, and they fill their range evenly.
    longest = (np.log(n) + 7.0) / -np.log1p(-n / span)
    uneven = np.abs((ordered - ordered[0] + 0.5) / span - (np.arange(n) + 0.5) / n).max()
    return bool(steps.max() <= longest and uneven <= 2.0 / np.sqrt(n))


def _number(
    info: ColumnInfo, numbers: Array, keep: bool, apart: Array | None = None, low: int = 0
) -> tuple[ColumnInfo, Array]:
    info, numbers = _counted(info, numbers)
    if apart is not None and info.kind == "constant" and np.nanmax(apart) > 0:  # as floats alone they are equal
        info = replace(info, kind="numeric", n_distinct=None)
    known = keep or info.kind == "constant"
    reason = "" if known else is_row_number(info.name, numbers if apart is None else apart, low)
    if reason:
        info = replace(info, kind="identifier", used_as=ASIDE, reason=reason)
    return info, numbers


def _category(info: ColumnInfo, texts: list[str | None]) -> tuple[ColumnInfo, Any]:
    observed = [text for text in texts if text is not None]
    distinct = len(set(observed))
    info = replace(
        info,
        used_as=INDICATORS,
        n_missing=len(texts) - len(observed),
        n_distinct=distinct,
        examples=_examples(observed),
    )
    if distinct < 2:
        info = replace(info, kind="constant", used_as=ASIDE, reason="one value only" if distinct else "no value at all")
    return info, texts


def _text(info: ColumnInfo, texts: list[str | None], keep: bool) -> tuple[ColumnInfo, Any]:
    texts = [None if text is None or text.strip().lower() in MISSING_WORDS else text for text in texts]
    observed = [text for text in texts if text is not None]
    numbers = _numbers_in(texts, observed)
    if numbers is not None:
        return _number(info, numbers, keep)
    times = times_in(texts, observed)
    if times is not None:
        return _date(info, times)
    info, _ = _category(replace(info, kind="text"), texts)
    if keep or info.kind == "constant" or info.n_distinct is None:
        return info, texts
    words = float(np.mean([len(text.split()) for text in observed[:SAMPLE]]))
    many = info.n_distinct * ROWS_PER_LEVEL > len(observed) and info.n_distinct > 2
    named = looks_like_identifier(info.name) and info.n_distinct > MOST_LEVELS
    if named or (many and words < WORDS_OF_TEXT and info.n_distinct >= NEARLY_ALL * len(observed)):
        reason = f"{info.n_distinct} different values in {len(observed)} rows{_but_for(observed)}"
        return replace(info, kind="identifier", used_as=ASIDE, reason=reason), texts
    if many:
        reason = f"text of {info.n_distinct} different values in {len(observed)} rows{_but_for(observed)}"
        return replace(info, kind="free text", used_as=ASIDE, reason=reason), texts
    return info, texts


def _numbers_in(texts: list[str | None], observed: list[str]) -> Array | None:
    """Numbers that were written as text."""
    if not observed or not _all_numbers(observed[:SAMPLE]) or not _all_numbers(observed):
        return None
    return np.array([np.nan if text is None else float(text) for text in texts])


def _but_for(observed: list[str]) -> str:
    """What a text says that is no number, where nearly all are."""
    others = [text for text in observed if not _all_numbers([text])]
    if len(others) > (1.0 - MOSTLY_NUMBERS) * len(observed):
        return ""
    return f", all of them numbers but {len(others)} such as {others[0]!r}: mend these, or make them missing"


def no_number(texts: list[str | None]) -> str:
    """The first of some texts that is no number, or else the first."""
    known = [text for text in texts if text is not None]
    return next((text for text in known if not _all_numbers([text])), next(iter(known), ""))


def _all_numbers(texts: list[str]) -> bool:
    try:
        return all(np.isfinite(float(text)) and "_" not in text for text in texts)
    except ValueError:
        return False


def _date(info: ColumnInfo, times: Array) -> tuple[ColumnInfo, Array]:
    observed = times[~np.isnat(times)]
    info = replace(
        info,
        kind="date",
        used_as=DATE_PARTS,
        n_missing=len(times) - len(observed),
        examples=_examples(str(value).replace("T00:00:00.000000", "") for value in observed[:50]),
    )
    if not len(observed) or (observed == observed[0]).all():
        reason = "one value only" if len(observed) else "no value at all"
        info = replace(info, kind="constant", used_as=ASIDE, n_distinct=min(len(observed), 1), reason=reason)
    return info, times


def _objects(info: ColumnInfo, column: Any, keep: bool) -> tuple[ColumnInfo, Any]:
    """A column of Python objects, or of a type of its library's own."""
    native = column.to_native()
    if str(getattr(native, "dtype", "")).startswith("period"):
        return _date(info, np.asarray(native.dt.to_timestamp()).astype("datetime64[us]"))
    if str(getattr(native, "type", "")).startswith("date64"):
        return _date(info, np.asarray(native.cast("date32")).astype("datetime64[us]"))
    if str(getattr(native, "type", "")) == INTERVALS:
        return _counted(replace(info, kind="duration"), seconds_of_intervals(native))
    if column.null_count() == len(column):
        return _category(info, [None] * len(column))
    values = column.to_list() if column.dtype != nw.Unknown else list(np.asarray(native))
    missing = [is_missing(value) for value in values]
    observed = [value for value, gone in zip(values, missing, strict=True) if not gone]
    if all(isinstance(value, NUMBERS) for value in observed) or _are_decimals(observed):
        numbers = np.array([np.nan if gone else float(value) for value, gone in zip(values, missing, strict=True)])
        if observed and all(isinstance(value, (bool, np.bool_)) for value in observed):
            return _counted(replace(info, kind="boolean"), numbers)
        return _number(info, numbers, keep)
    if all(isinstance(value, dt.date) for value in observed):
        return _date(info, times_in_objects([None if gone else v for v, gone in zip(values, missing, strict=True)]))
    if all(isinstance(value, (str, *NUMBERS)) for value in observed):
        return _text(info, [None if gone else str(value) for value, gone in zip(values, missing, strict=True)], keep)
    what = type(observed[0]).__name__
    found = ColumnInfo(info.name, "other", info.dtype, ASIDE, sum(missing), None, (), (), f"holds values of type {what}")
    return found, values


def _are_decimals(values: list[Any]) -> bool:
    return all(type(value).__name__ == "Decimal" for value in values)
