"""``easyfs select``: a table in, the columns that matter out."""

from __future__ import annotations

import contextlib
import inspect
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from easyfs.cli import options as o
from easyfs.cli.chosen import (
    MOST_SHOWN,
    chance_line,
    chosen_columns,
    chosen_table,
    columns_as_json,
    columns_as_text,
    is_tested,
    only_chance,
    together,
)
from easyfs.cli.outputs import STANDARD, Outputs, whole
from easyfs.cli.problems import CommandError, WrongUsageError, hint
from easyfs.cli.show import busy, console, counted, plain, say, seconds, set_talk, show, warn
from easyfs.cli.table import Loaded, find_columns, find_target, load, open_table
from easyfs.files.formats import FORMATS, endings, format_of

# Stability is measured for a report if the table has no more cells than this, with this many runs.
STABILITY_CELLS, STABILITY_RUNS = 5_000_000, 20
REPORTS = (".html", ".json", ".md")
# Parameters of selectors that have an option of their own.
TAKEN = {
    "n_features_to_select": "-k",
    "task": "--task",
    "include": "--include",
    "exclude": "--exclude",
    "random_state": "--seed",
}


def command(
    table: o.File,
    target: o.Target = None,
    k: Annotated[
        str | None,
        typer.Option(
            "-k", "--count", metavar="N", help="How many columns: 20, 0.1 (a tenth) or auto.", show_default="auto"
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
    no_target: Annotated[
        bool, typer.Option("--no-target", help="Leave the target out of the written table.", rich_help_panel=o.OUTPUT)
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Of the written table, where its name does not tell: as for --from.",
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
        bool,
        typer.Option(
            "--cv", help="For the report: cross-validated score over the number of columns.", rich_help_panel=o.OUTPUT
        ),
    ] = False,
    method: Annotated[
        str,
        typer.Option(
            "--method", "-m", metavar="NAME", help="The selector; easyfs methods lists them.", rich_help_panel=o.CHOICE
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
    sample_weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column with the weight of each row.", rich_help_panel=o.CHOICE)
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
    from_: o.From = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = "utf-8",
    decimal: o.Decimal = ".",
    missing: o.Missing = None,
    no_header: o.NoHeader = False,
    no_quotes: o.NoQuotes = False,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Choose the columns of a TABLE that say most about a target.

    Without -o, --columns or --report, the chosen columns are shown.

    [bold]easyfs select data.csv --target price -k 20 -o chosen.parquet --report report.html[/bold]
    """
    set_talk(quiet, verbose)
    settings = o.parse_settings(set_, TAKEN)
    count = None if k is None else o.parse_count(k)
    o.check_task(task)
    written = _output_format(output, to)
    if report is not None and Path(report).suffix.lower() not in REPORTS:
        raise WrongUsageError(f"--report {report!r} ends in none of {', '.join(REPORTS)}.")
    if unsupervised and target is not None:
        raise WrongUsageError("--unsupervised chooses without a target; leave out --target, or --drop that column.")
    selector = make(method, count, settings, task, seed)
    source = open_table(table, from_, o.text_options(delimiter, encoding, decimal, missing, no_header, no_quotes))
    with whole(source.path) as outputs:
        for name, option in ((output, "-o"), (columns, "--columns"), (report, "--report")):
            outputs.check(name, option)
        explained = None if unsupervised else find_target(source, target)
        loaded = load(source, explained, drop=drop, roles={"--sample-weight": sample_weight})
        _constrain(selector, loaded, explained, include, exclude)
        weight = loaded.others.get("--sample-weight")
        took = fit(selector, loaded, weight, method)
        rows = chosen_columns(selector)
        found = _interactions(selector)
        if only_chance(rows):
            _warn_of_chance(rows, explained)
        if report is not None:
            _report(outputs, report, selector, loaded, weight, stability, cv, seed, source.label)
        n_columns = loaded.X.width
        heading = _heading(selector, loaded, explained, method, took)
        loaded.X = loaded.y = weight = None
        loaded.others.clear()
        if output is not None and written is not None:
            names = [str(row["name"]) for row in rows] + ([explained] if explained and not no_target else [])
            _write(outputs, output, source, names, loaded.rows, written, explained)
        if columns is not None:
            about = {"method": method, "target": explained, "task": selector.task_, "rows": selector.n_rows_}
            text = columns_as_json(rows, found, about) if columns.lower().endswith(".json") else columns_as_text(rows)
            outputs.write(columns, lambda stream: _put(stream, text))
        names = [name for name in (output, columns, report) if name is not None]
    if names:
        places = ", ".join("to standard output" if name == STANDARD else name for name in names)
        say(f"{len(rows):,} of {counted(n_columns, 'column')} chosen; wrote {places}")
    else:
        _show(rows, found, heading)


def make(method: str, count: Any, settings: dict[str, Any], task: str, seed: int) -> Any:
    """The selector that was asked for, not fitted."""
    from easyfs.registry import SELECTORS, make_selector  # noqa: PLC0415

    if method not in SELECTORS:
        raise WrongUsageError(f"there is no method {method!r}.{hint(method, SELECTORS)} easyfs methods lists them all.")
    info = SELECTORS[method]
    if not info.installed:
        raise CommandError(
            f"{method} needs {info.needs}, which is not installed; install it with pip install 'easyfs[{info.needs}]'."
        )
    known = inspect.signature(info.load()).parameters
    if "random_state" in known:
        settings = {**settings, "random_state": seed}
    if "task" in known:
        settings = {**settings, "task": task}
    try:
        return make_selector(method, count, **settings)
    except TypeError as error:
        raise WrongUsageError(str(error)) from error


def _constrain(selector: Any, loaded: Loaded, target: str | None, include: Any, exclude: Any) -> None:
    names = list(loaded.X.columns)
    for option, patterns, parameter in (("--include", include, "include"), ("--exclude", exclude, "exclude")):
        if target in o.listed(patterns):
            raise WrongUsageError(f"{option}: {target!r} is the target.")
        if patterns:
            selector.set_params(**{parameter: find_columns(names, patterns, option)})


def fit(selector: Any, loaded: Loaded, weight: Any, method: str) -> float:
    """Fit, and give the seconds that it took."""
    weights = {}
    if weight is not None:
        if "sample_weight" not in inspect.signature(selector.fit).parameters:
            raise WrongUsageError(
                f"{method} does not take weights of rows; leave out --sample-weight, or use --method easyfs."
            )
        if not weight.dtype.is_numeric():
            raise CommandError(f"--sample-weight: column {weight.name!r} holds no numbers ({weight.dtype}).")
        if weight.null_count():
            raise CommandError(
                f"--sample-weight: column {weight.name!r} is missing in {counted(weight.null_count(), 'row')}."
            )
        weights["sample_weight"] = weight.to_numpy()
    start = time.perf_counter()
    with busy(f"choosing from {counted(loaded.X.width, 'column')} and {counted(len(loaded.X), 'row')}"), _without_chance():
        selector.fit(loaded.X, loaded.y, **weights)
    return time.perf_counter() - start


@contextlib.contextmanager
def _without_chance() -> Iterator[None]:
    """That nothing tells more than chance is said in our own words, also where a number is asked for."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="none of the .* tells more of the target than chance")
        yield


def _warn_of_chance(rows: list[dict[str, Any]], target: str | None) -> None:
    which = "the chosen column tells no" if len(rows) == 1 else f"none of the {len(rows):,} chosen columns tells"
    warn(
        f"{which} more of {target!r} than chance would, so there may be nothing to find. Check that it is the right "
        "target, or give more rows."
    )


def _interactions(selector: Any) -> Any:
    from easyfs.report.sections import interactions_of  # noqa: PLC0415

    return interactions_of(selector)


def _report(
    outputs: Outputs,
    name: str,
    selector: Any,
    loaded: Loaded,
    weight: Any,
    stability: int | None,
    cv: bool,
    seed: int,
    label: str,
) -> None:
    from easyfs.report import build_report  # noqa: PLC0415

    if stability is None:
        stability = STABILITY_RUNS if loaded.X.width * len(loaded.X) <= STABILITY_CELLS else 0
    with busy("writing the report" + (f", {stability} runs for stability" if stability else "")):
        built = build_report(
            selector,
            loaded.X,
            loaded.y,
            source=Path(label.strip("'")).name,
            stability=stability,
            cv=cv,
            sample_weight=None if weight is None else weight.to_numpy(),
            random_state=seed,
        )
        outputs.save(name, built.save)


def _output_format(output: str | None, to: str | None) -> tuple[str, bool] | None:
    """Format of the written table, and whether it is compressed."""
    if to is not None and to not in FORMATS:
        raise WrongUsageError(f"--to {to!r} is not known; use one of {', '.join(FORMATS)}.")
    if output is None:
        if to is not None:
            raise WrongUsageError("--to is for the written table; say where with -o FILE, or -o - for standard output.")
        return None
    known = ("csv", False) if output == STANDARD else format_of(output)
    if to is not None:
        return to, known is not None and known[1]
    if known is None:
        raise WrongUsageError(f"-o {output!r} has no known ending; say --to csv (or another format), or use {endings()}.")
    return known


def _write(
    outputs: Outputs, output: str, source: Any, names: list[str], rows: Any, written: tuple[str, bool], target: str | None
) -> None:
    from easyfs.files.writing import write_table  # noqa: PLC0415

    to, compressed = written
    with busy(f"writing {output}"):
        outputs.write(
            output,
            lambda stream: write_table(source, names, stream, to=to, compressed=compressed, rows=rows, target=target),
        )


def _put(stream: Any, text: str) -> None:
    stream.write(text.encode("utf-8", "surrogatepass"))


def _heading(selector: Any, loaded: Loaded, target: str | None, method: str, took: float) -> list[str]:
    """What was read and done, in two lines."""
    about = selector.target_
    what = "no target"
    if about is not None and about.classes:
        shown = ", ".join(f"{label} {count:,}" for label, count in about.classes[:4])
        what = f"{target}: {len(about.classes)} classes ({shown}{', ...' if len(about.classes) > 4 else ''})"
    elif about is not None:
        what = f"{target}: numbers from {about.quantiles[0]:.4g} to {about.quantiles[-1]:.4g}"
    name = loaded.source.label.strip("'")
    read = f"{name}: {counted(len(loaded.X), 'row')}, {counted(loaded.X.width, 'column')} to choose from"
    return [read, what, f"chosen by {method} in {seconds(took)}"]


def _show(rows: list[dict[str, Any]], interactions: Any, heading: list[str]) -> None:
    on_terminal = console().is_terminal
    most = MOST_SHOWN if on_terminal and len(rows) > MOST_SHOWN else None
    lines = [plain(line) for line in heading]
    show(*lines[:2], f"{counted(len(rows), 'column')} {lines[2]}", "", chosen_table(rows, most))
    if most is not None:
        show(f"... and {len(rows) - most} more; --columns - lists them all")
    below = [together(found) for found in interactions or ()]
    if chance_line(rows):
        below.append(chance_line(rows))
    if below:
        show("", *below)
    if "redundancy" in rows[0]:
        from easyfs.passes.choosing import LEVEL  # noqa: PLC0415

        chance = f"chance: how likely the best of as many unrelated columns would tell as much ({LEVEL} and more: chance);"
        show(
            "",
            "adds: share of what there is to explain that the column adds to those before it;",
            *([chance] if is_tested(rows) else []),
            "redundant: share of the column that the other chosen ones already say",
        )
