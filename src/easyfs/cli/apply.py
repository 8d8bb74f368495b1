"""``easyfs apply``: the columns of a saved selection, taken from another table."""

from __future__ import annotations

from typing import Annotated

import typer

from easyfs.cli import options as o
from easyfs.cli.batches import open_tables
from easyfs.cli.loading import find_columns
from easyfs.cli.outputs import STANDARD, Outputs, whole
from easyfs.cli.problems import WrongUsageError
from easyfs.cli.saved import check_language, take_from, write_selected, write_taken
from easyfs.cli.selecting import output_format
from easyfs.cli.show import set_talk
from easyfs.files.scanning import Scan, scan_of
from easyfs.saved.selection import load_selection


def command(  # noqa: PLR0913, PLR0917 - typer reads the options here
    selection: Annotated[
        str, typer.Argument(metavar="SELECTION.json", help="What select --save has written.", show_default=False)
    ],
    table: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE...",
            help="The table to take the columns from, as for select; - is standard input.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write them; - is standard output.", rich_help_panel=o.OUTPUT
        ),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Of the written table, where its name does not tell: as for --from.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Further columns to write behind them, such as a key: names or patterns.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    print_: o.Print = None,
    any_kind: Annotated[
        bool,
        typer.Option("--any-kind", help="Only warn where a column holds something else than it did, such as text."),
    ] = False,
    from_: o.From = None,
    query: o.Query = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = "utf-8",
    decimal: o.Decimal = None,
    thousands: o.Thousands = None,
    date_order: o.DateOrder = None,
    comment: o.Comment = None,
    missing: o.Missing = None,
    no_header: o.NoHeader = False,
    no_quotes: o.NoQuotes = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Take the columns of a saved selection from another TABLE, in the order that the selection states.

    All rows are written. Further columns of the table are left out, a missing one is an error. Several files, and a table
    that is large for the free memory, are read batch by batch.

    [bold]easyfs apply selection.json new.csv -o chosen.parquet[/bold]
    """
    set_talk(quiet, verbose)
    if print_ is not None:
        check_language(print_)
        if table or output is not None:
            raise WrongUsageError("--print writes code, which needs no table; leave out TABLE and -o.")
        with whole() as outputs:
            _print(outputs, selection, print_)
        return
    if not table:
        raise WrongUsageError("which table are the columns to be taken from? Give TABLE, or --print sql for code.")
    if output is None:
        raise WrongUsageError("where is the table to be written? Say -o FILE, or -o - for standard output.")
    written = output_format(output, to)
    assert written is not None
    chosen = load_selection(selection, strict=not any_kind)
    options = o.text_options(
        delimiter,
        encoding,
        decimal,
        missing,
        no_header,
        no_quotes,
        thousands=thousands,
        date_order=date_order,
        comment=comment,
    )
    found = open_tables(table, from_, options, query)
    source = found if isinstance(found, Scan) else scan_of(found)
    taken = take_from(source, chosen, find_columns(source.names, keep, "--keep"))
    write_taken(taken, output, written, selection, in_memory=not isinstance(found, Scan))


def _print(outputs: Outputs, selection: str, language: str) -> None:
    outputs.check(STANDARD, "--print")
    write_selected(outputs, None, language, load_selection(selection).content)
