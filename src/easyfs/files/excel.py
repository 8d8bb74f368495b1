"""Sheets of Excel workbooks and OpenDocument tables."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

from easyfs.common.extras import optional
from easyfs.common.notices import warn_user
from easyfs.files.delimited import check_names
from easyfs.files.formats import EmptyFileError, FileError

OLD_CONTAINER = b"\xd0\xcf\x11\xe0"
ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


def read_excel(path: Path, label: str, sheet: str, *, header: bool) -> Any:
    """A sheet as a polars frame: numbers, booleans and dates as such, anything else as text.

    Parameters
    ----------
    path, label : Path and str
        The workbook, and what it is called in messages.
    sheet : str
        Name of the sheet; empty for the first one that holds something.
    header : bool
        Whether the first row has the names of the columns.
    """
    pl = optional("polars", "cli", "reading a table")
    rows = [row for row in _rows(path, label, sheet) if any(value != "" for value in row)]
    if not rows:
        raise EmptyFileError(f"{label}{f': the sheet {sheet!r}' if sheet else ''} is empty.")
    width = max(len(row) for row in rows)
    rows = [[*row, *[""] * (width - len(row))] for row in rows]
    first = [str(value).strip() for value in (rows.pop(0) if header else [""] * width)]
    # A column without a name and without a cell is none.
    used = [j for j in range(width) if first[j] or any(row[j] != "" for row in rows)]
    names = [first[j] or f"column_{j + 1}" for j in used]
    check_names(names, label)
    if not rows:
        raise FileError(f"{label} has names of columns, but no rows.")
    return pl.DataFrame([_column(name, [row[j] for row in rows]) for name, j in zip(names, used, strict=True)])


def _rows(path: Path, label: str, sheet: str) -> list[list[Any]]:
    calamine = optional("python_calamine", "excel", "reading a workbook")
    try:
        book = calamine.CalamineWorkbook.from_path(str(path))
        known = book.sheet_names
        if sheet and sheet not in known:
            raise FileError(f"{label} has no sheet {sheet!r}; it has {', '.join(map(repr, known))}.")
        if sheet:
            return list(book.get_sheet_by_name(sheet).to_python())
        found = {name: book.get_sheet_by_name(name).to_python() for name in known}
    except FileError:
        raise
    except Exception as error:  # the package has errors of its own, and some of Python's
        raise FileError(_trouble(path, label, error)) from error
    filled = [name for name, rows in found.items() if rows]
    if len(filled) > 1:
        plain = label.strip("'")
        warn_user(f"{label} has {len(filled)} sheets, of which {filled[0]!r} is read; another is '{plain}::{filled[1]}'.")
    return list(found[filled[0]]) if filled else []


def _trouble(path: Path, label: str, error: Exception) -> str:
    with path.open("rb") as stream:
        old = stream.read(4) == OLD_CONTAINER
        protected = old and ENCRYPTED in stream.read(1 << 22)
    if protected or "password" in str(error).lower():
        return f"{label} is protected by a password; save it without one."
    return f"{label} cannot be read as a workbook: it may be damaged, cut off or of another kind ({str(error)[:200]})."


def _column(name: str, values: list[Any]) -> Any:
    pl = optional("polars", "cli", "reading a table")
    kinds = {type(value) for value in values if value != ""}
    empty = [None if value == "" else value for value in values]
    if not kinds:
        return pl.Series(name, [None] * len(values), dtype=pl.Float64)
    if kinds <= {int, float}:
        numbers = pl.Series(name, [None if value is None else float(value) for value in empty], dtype=pl.Float64)
        whole = numbers.cast(pl.Int64, strict=False)
        return whole if numbers.is_finite().all() and (whole.cast(pl.Float64) == numbers).all() else numbers
    if kinds == {bool}:
        return pl.Series(name, empty, dtype=pl.Boolean)
    if kinds <= {dt.date, dt.datetime}:
        times = [value if value is None or isinstance(value, dt.datetime) else _midnight(value) for value in empty]
        return pl.Series(name, times, dtype=pl.Datetime("us"))
    if kinds == {dt.timedelta}:
        return pl.Series(name, empty, dtype=pl.Duration("us"))
    return pl.Series(name, [None if value is None else _text(value) for value in empty], dtype=pl.String)


def _midnight(day: dt.date) -> dt.datetime:
    return dt.datetime(day.year, day.month, day.day)


def _text(value: Any) -> str:
    """A cell among texts, as a person would have written it."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else str(value)
