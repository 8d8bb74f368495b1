"""What is said of numbers and dates that could be read in another way, or are not read as such: a line for each kind."""

from __future__ import annotations

from collections.abc import Mapping

from easyfs.common.notices import warn_user
from easyfs.files.cells import Cells
from easyfs.files.written import COMMA, POINT, SPACE, numbers_of

MOST_SHOWN = 3


def say_doubts(label: str, cells: Mapping[str, Cells], said: set[str]) -> None:
    """Warn of columns that are new to ``said``, which learns of them."""
    found: dict[str, list[str]] = {}
    commas = any(column.kind == "written" and column.style == COMMA for column in cells.values())
    for name, column in cells.items():
        if name not in said and (what := _doubt(column, commas)):
            found.setdefault(what, []).append(name)
            said.add(name)
    # Columns that differ in their example only are one kind of doubt.
    together: dict[str, tuple[str, list[str]]] = {}
    for what, names in found.items():
        kind = what.partition("|")[0]
        together.setdefault(kind, (what.partition("|")[2], []))[1].extend(names)
    for text, names in together.values():
        shown = ", ".join(repr(name) for name in names[:MOST_SHOWN])
        more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
        warn_user(f"{label}: {shown}{more} {'holds' if len(names) == 1 else 'hold'} {text}")


def _doubt(column: Cells, commas: bool) -> str:
    """What is doubtful of a column: its kind, a bar, and the words; empty if nothing is."""
    options, written = column.options, column.written
    example = repr(written.example)
    if column.kind == "date" and options.date_order is None and len(written.orders) > 1:
        first, other = ("day", "month") if column.order == "day" else ("month", "day")
        return (
            f"date|dates such as {example}, read with the {first} first; say date_order={other!r} if the {other} comes "
            f"first, otherwise date_order={first!r}."
        )
    if column.kind == "date" and column.order is None:
        return f"order|dates such as {example}, which are text here, as one has no such {options.date_order}."
    if column.kind == "float" and commas and COMMA in written.readings and options.thousands is None:
        return (
            "dots|numbers with three digits after the point, read as decimals; say thousands='.' if the point separates "
            "thousands, as other columns have a decimal comma."
        )
    return _doubt_of_number(column, example) if column.kind == "written" else ""


def _doubt_of_number(column: Cells, example: str) -> str:
    options, written, style = column.options, column.written, column.style
    doubtful = bool(written.pointed) and written.readings >= {COMMA, POINT}
    if style in (COMMA, POINT) and doubtful and not (options.decimal or options.thousands):
        example, value = repr(written.pointed), _value(written.pointed, style)
        instead = "thousands=','" if style == COMMA else "decimal=','"
        what = "separates thousands" if style == COMMA else "is a decimal mark"
        keep = "decimal=','" if style == COMMA else "thousands=','"
        return f"comma|numbers such as {example}, read as {value}; say {instead} if the comma {what}, otherwise {keep}."
    if style is not None:
        return ""
    if written.clash:
        return f"clash|numbers with different signs ({written.clash}), which are not read as numbers: make them alike."
    if SPACE in written.allowed(options) & written.grouped:
        return f"space|text such as {example}; if it is numbers with blanks between thousands, say thousands='space'."
    marks = " and ".join(f"{name}={value!r}" for name in ("decimal", "thousands") if (value := getattr(options, name)))
    if not marks:
        return f"mixed|numbers that are written in different ways (such as {example}), so they are text: make them alike."
    return f"said|text such as {example}; with {marks} these are no numbers."


def _value(example: str, style: str) -> str:
    import polars as pl  # noqa: PLC0415

    return f"{numbers_of(pl.Series('x', [example]), style)[0]:.12g}"
