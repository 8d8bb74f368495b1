"""Options that several commands share, and the texts that they are given as."""

from __future__ import annotations

import ast
import json
from typing import Annotated, Any

import typer

from easyfs.cli.problems import WrongUsageError
from easyfs.files.formats import FORMATS, TextOptions

INPUT, CHOICE, OUTPUT, TALK = "How to read the table", "What to choose", "What to write", "How much to say"

File = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, Parquet, Feather/Arrow, JSON lines or .npz; text may be compressed (.gz); - is standard input.",
        show_default=False,
    ),
]
Tables = Annotated[
    list[str],
    typer.Argument(
        metavar="TABLE...",
        help="CSV, TSV, Parquet, Feather/Arrow, JSON lines or .npz; text may be compressed (.gz); - is standard input. "
        "Several files, folders and patterns are one table.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COLUMN", help="The column to be explained (in .npz: y).", show_default=False),
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
        "--from", metavar="FORMAT", help=f"Where the name does not tell: {', '.join(FORMATS)}.", rich_help_panel=INPUT
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="CHAR", help="Between cells of CSV: , ; tab or |. Found out by default.", rich_help_panel=INPUT),
]
Encoding = Annotated[str, typer.Option(metavar="NAME", help="Encoding of text, such as latin-1.", rich_help_panel=INPUT)]
Decimal = Annotated[str, typer.Option(metavar=".|,", help="Decimal mark of numbers in text.", rich_help_panel=INPUT)]
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
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.", rich_help_panel=TALK)]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Say what is done, step by step, and where an error came from.", rich_help_panel=TALK
    ),
]


def text_options(
    delimiter: str | None, encoding: str, decimal: str, missing: list[str] | None, no_header: bool, no_quotes: bool
) -> TextOptions:
    """How a table of text is to be read."""
    if decimal not in (".", ","):
        raise WrongUsageError(f"--decimal {decimal!r} is not known; use . or ,")
    words = tuple(word for entry in missing or () for word in entry.split(",") if word)
    return TextOptions(delimiter, encoding, decimal, words, not no_header, not no_quotes)


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
