"""``easyfs select``: a table in, the columns that matter out."""

from __future__ import annotations

from typing import Annotated

import typer

from easyfs.cli import options as o
from easyfs.cli.batches import open_tables
from easyfs.cli.completing import complete_method
from easyfs.cli.problems import WrongUsageError
from easyfs.cli.selecting import TAKEN, Choice, Files, check_files, check_streamed, choose_and_write, make
from easyfs.cli.show import set_talk
from easyfs.cli.target_file import find_beside
from easyfs.cli.wishes import Wishes
from easyfs.files.formats import WRITTEN
from easyfs.files.scanning import Scan


def command(  # noqa: PLR0913, PLR0917 - typer reads the options here
    table: o.Tables,
    target: o.Target = None,
    k: Annotated[
        str | None,
        typer.Option(
            "-k", "--count", metavar="N", help="How many columns: 20, 0.1 (a tenth), auto or cv.", show_default="auto"
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The table with the chosen columns only.", rich_help_panel=o.OUTPUT
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The list of chosen columns: .txt, or .json with scores.", rich_help_panel=o.OUTPUT
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="A page that explains the choice: .html, .json or .md.", rich_help_panel=o.OUTPUT
        ),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The selection as JSON, for easyfs apply and load_selection.", rich_help_panel=o.OUTPUT
        ),
    ] = None,
    print_: o.Print = None,
    no_target: Annotated[
        bool, typer.Option("--no-target", help="Leave the target out of the written table.", rich_help_panel=o.OUTPUT)
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help=f"Of the written table, where its name does not tell: {', '.join(WRITTEN)}.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    stability: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="For the report: select again on N random halves of the rows (20 up to 5 million cells, else 0).",
            rich_help_panel=o.OUTPUT,
            show_default=False,
        ),
    ] = None,
    cv: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDS",
            help="For the report: cross-validated score over the number of columns; folds are random, time (rows are in "
            "its order) or group:COLUMN.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="The result for programs, on standard output.", rich_help_panel=o.OUTPUT)
    ] = False,
    no_pictures: Annotated[
        bool,
        typer.Option(
            "--no-pictures", help="For the report: no pictures, whose points are single rows.", rich_help_panel=o.OUTPUT
        ),
    ] = False,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="The selector; easyfs methods lists them.",
            rich_help_panel=o.CHOICE,
            autocompletion=complete_method,
        ),
    ] = "easyfs",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="A parameter of the selector; may be repeated.", rich_help_panel=o.CHOICE
        ),
    ] = None,
    task: o.Task = "auto",
    include: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="Columns that are chosen in any case: names or patterns.", rich_help_panel=o.CHOICE
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="NAMES", help="Columns that are never chosen: names or patterns.", rich_help_panel=o.CHOICE),
    ] = None,
    drop: o.Drop = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns that are written though they are not used, such as an identifier: names or patterns.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    sample_weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column with the weight of each row.", rich_help_panel=o.CHOICE)
    ] = None,
    adjust_for: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES",
            help="Columns whose effect is taken out first, and that are never chosen (batch, age): names or patterns.",
            rich_help_panel=o.CHOICE,
        ),
    ] = None,
    cost: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE|COLUMN=VALUE",
            help="What columns cost (1 if not said): lines of column,cost or JSON, or one column; may be repeated.",
            rich_help_panel=o.CHOICE,
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(metavar="COST", help="What the chosen columns may cost in all.", rich_help_panel=o.CHOICE),
    ] = None,
    source_: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            metavar="NAME=NAMES",
            help="Columns of one source, by names or patterns: sources count alike; may be repeated.",
            rich_help_panel=o.CHOICE,
        ),
    ] = None,
    max_per_source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="N|NAME=N", help="At most so many columns of each source, or of one.", rich_help_panel=o.CHOICE
        ),
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="In place of a target, with --time: whether the event was observed (1, 0).",
            rich_help_panel=o.CHOICE,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="With --event: when it happened, or when observation ended.",
            rich_help_panel=o.CHOICE,
        ),
    ] = None,
    unsupervised: Annotated[
        bool,
        typer.Option(
            "--unsupervised",
            help="Choose without a target: the columns that best cover the table.",
            rich_help_panel=o.CHOICE,
        ),
    ] = False,
    seed: o.Seed = 0,
    target_file: o.TargetFile = None,
    join: o.Join = None,
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
    """Choose the columns of a TABLE that say most about a target.

    Without -o, --columns, --report, --save or --print, the chosen columns are shown. Several files, and a table that is
    large for the free memory, are read batch by batch.

    [bold]easyfs select data.csv --target price -k 20 -o chosen.parquet --report report.html[/bold]
    """
    set_talk(quiet, verbose)
    settings = o.parse_settings(set_, TAKEN)
    count = None if k is None else o.parse_count(k)
    o.check_task(task)
    groups = o.parse_cv(cv)[1]
    files = Files(
        output,
        columns,
        report,
        with_target=not no_target,
        to=to,
        stability=stability,
        cv=cv,
        json=as_json,
        save=save,
        code=print_,
        pictures=not no_pictures,
    )
    check_files(files)
    if keep and output is None:
        raise WrongUsageError("--keep is for the written table; say where with -o FILE, or leave a column out with --drop.")
    if report is None and (stability or cv is not None):
        asked = "--stability" if stability else "--cv"
        raise WrongUsageError(f"{asked} is for the report; say --report FILE, too, or leave it out.")
    if unsupervised and (target or target_file):
        raise WrongUsageError("--unsupervised chooses without a target; leave out --target, or --drop that column.")
    wishes = Wishes(adjust_for, cost, budget, source_, max_per_source, event, time)
    wishes.check(targeted=bool(target or target_file), unsupervised=unsupervised, task=task)
    selector = make(method, count, settings, "regression" if wishes.survival else task, seed)
    text = o.text_options(
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
    source = open_tables(table, from_, text, query)
    beside = find_beside(target_file, text, target, join)
    if isinstance(source, Scan):
        check_streamed(source, selector, method, files, beside)
        wishes.check_streamed(source.label)
    choice = Choice(
        method,
        target,
        unsupervised,
        include,
        exclude,
        drop,
        sample_weight,
        seed,
        keep=keep,
        beside=beside,
        groups=groups,
        wishes=wishes,
    )
    choose_and_write(selector, source, choice, files)
