"""Options that several commands share, and the texts that they are given as."""

from __future__ import annotations

import ast
import json
from typing import Annotated, Any

import typer

from easyfs.cli.completing import complete_column
from easyfs.cli.problems import WrongUsageError
from easyfs.files.formats import FORMATS, FileError, TextOptions

INPUT, CHOICE, OUTPUT, TALK = "How to read the table", "What to choose", "What to write", "How much to say"

READ = (
    "CSV, TSV, Parquet, Feather/Arrow, JSON, Excel, SQLite, DuckDB, ARFF, libsvm, .npz or .npy; text may be compressed "
    "(.gz, .bz2, .xz, .zst, .zip); FILE::NAME is a sheet, a table or a member; - is standard input."
)
File = Annotated[str, typer.Argument(metavar="TABLE", help=READ, show_default=False)]
Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="TABLE...", help=f"{READ} Several files, folders and patterns are one table.", show_default=False
    ),
]
Target = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column to be explained (in .npz and libsvm: y); repeated, several at once.",
        show_default=False,
        autocompletion=complete_column,
    ),
]
TargetFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="The target is in a file of its own, with a row for each of the table.", rich_help_panel=INPUT
    ),
]
Join = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Rows of --target-file belong to those with the same value here.", rich_help_panel=INPUT
    ),
]
Task = Annotated[
    str,
    typer.Option(
        metavar="TASK",
        help="classification or regression; auto reads it from the target: text and few whole numbers are classes.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Columns to leave out altogether: names or patterns, with commas or repeated."),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of all that is drawn; the same seed gives the same answer.")]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        help=f"Where the name does not tell: {', '.join(FORMATS)}.",
        rich_help_panel=INPUT,
        autocompletion=lambda: list(FORMATS),
    ),
]
Query = Annotated[
    str | None,
    typer.Option(metavar="SQL", help="What is asked of a SQLite or DuckDB file.", rich_help_panel=INPUT),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        "--separator",
        metavar="CHAR",
        help="Between cells of CSV: , ; tab | or space (any number of blanks). Found out by default.",
        rich_help_panel=INPUT,
    ),
]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="Encoding of text, such as latin-1.", rich_help_panel=INPUT)]
Decimal = Annotated[
    str | None,
    typer.Option(metavar=".|,", help="Decimal mark of numbers in text. Found out by default.", rich_help_panel=INPUT),
]
Thousands = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="Between thousands of numbers in text: , . ' or space.", rich_help_panel=INPUT),
]
DateOrder = Annotated[
    str | None,
    typer.Option(metavar="day|month", help="What comes first in dates such as 03/07/2024.", rich_help_panel=INPUT),
]
Comment = Annotated[
    str | None,
    typer.Option(metavar="MARK", help="Lines that begin with it are no rows, such as #.", rich_help_panel=INPUT),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(metavar="WORDS", help="Further words for a missing value, such as -999,unknown.", rich_help_panel=INPUT),
]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="The first line is data; columns are column_1, column_2, ...", rich_help_panel=INPUT),
]
NoQuotes = Annotated[
    bool, typer.Option("--no-quotes", help="Quotation marks in text are ordinary characters.", rich_help_panel=INPUT)
]
Print = Annotated[
    str | None,
    typer.Option(
        "--print",
        metavar="LANGUAGE",
        help="The chosen columns as code to paste: sql, polars, pandas or sklearn.",
        rich_help_panel=OUTPUT,
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but the result and errors.", rich_help_panel=TALK)]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Say what is done, step by step, and where an error came from.", rich_help_panel=TALK
    ),
]


def text_options(  # noqa: PLR0913 - as many as there are options
    delimiter: str | None,
    encoding: str,
    decimal: str | None,
    missing: list[str] | None,
    no_header: bool,
    no_quotes: bool,
    *,
    thousands: str | None = None,
    date_order: str | None = None,
    comment: str | None = None,
) -> TextOptions:
    """How a table of text is to be read."""
    words = tuple(word for entry in missing or () for word in entry.split(",") if word)
    try:
        return TextOptions(
            delimiter, encoding, decimal, words, not no_header, not no_quotes, thousands, date_order, comment
        )
    except FileError as error:
        raise WrongUsageError(str(error)) from error


def parse_cv(text: str | None) -> tuple[str, str | None]:
    """How folds are made: "random", "time" or "group", and the column of the groups."""
    how, colon, column = (text or "random").partition(":")
    if (how in ("random", "time") and not colon) or (how == "group" and column):
        return how, column or None
    raise WrongUsageError(f"--cv {text!r} is not known; use random, time or group:COLUMN.")


def check_task(task: str) -> str:
    """A task that is known."""
    if task not in ("auto", "classification", "regression"):
        raise WrongUsageError(f"--task {task!r} is not known; use auto, classification or regression.")
    return task


def parse_count(text: str, option: str = "-k") -> Any:
    """A number of columns: a count, a share with a decimal point, "auto" or "cv"."""
    if text in ("auto", "cv"):
        return text
    try:
        count = float(text) if "." in text or "e" in text.lower() else int(text)
    except ValueError:
        count = 0
    if count <= 0 or (isinstance(count, float) and count > 1):
        raise WrongUsageError(f"{option} {text!r}: give a count such as 20, a share such as 0.1, auto or cv.")
    return count


def parse_settings(entries: list[str] | None, taken: dict[str, str]) -> dict[str, Any]:
    """``name=value`` pairs; values are Python or JSON where they can be read so, and text otherwise.

    Parameters
    ----------
    entries : list of str
        The pairs.
    taken : dict
        Parameters that have an option of their own.
    """
    found: dict[str, Any] = {}
    for entry in entries or ():
        name, equals, text = entry.partition("=")
        name = name.strip()
        if not equals or not name:
            raise WrongUsageError(f"--set {entry!r} is not name=value, such as --set n_hidden=512.")
        if name in taken:
            raise WrongUsageError(f"--set {entry!r}: {name} has an option of its own, {taken[name]}.")
        if name in found:
            raise WrongUsageError(f"--set gives {name} twice.")
        found[name] = parse_value(text.strip())
    return found


def parse_value(text: str) -> Any:
    """A Python or JSON literal, or the text itself."""
    for read in (ast.literal_eval, json.loads):
        try:
            return read(text)
        except (ValueError, SyntaxError):
            continue
    return text


def listed(entries: list[str] | str | None) -> list[str]:
    """Words that are given with commas, repeated or both."""
    entries = [entries] if isinstance(entries, str) else entries or []
    return [word for entry in entries for part in entry.split(",") if (word := part.strip())]
