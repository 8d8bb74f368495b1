"""``easyfs inspect``: what the columns of a table are, and what would be done with them."""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from dataclasses import asdict
from typing import Annotated, Any

import typer

from easyfs.cli import options as o
from easyfs.cli.loading import Loaded, find_targets, load, open_table
from easyfs.cli.problems import one_line
from easyfs.cli.show import cell, counted, new_table, progress_bar, set_talk, show, warn

# A table of more columns than this is summed up by kinds.
MOST_SHOWN = 40
MOSTLY_MISSING = 0.5
FEW_ROWS = 5
STYLES = {"set aside": "yellow", "indicators": "cyan", "date parts": "cyan"}


def command(  # noqa: PLR0913, PLR0917 - typer reads the options here
    table: o.File,
    target: o.Target = None,
    task: o.Task = "auto",
    drop: o.Drop = None,
    every: Annotated[bool, typer.Option("--all", help="Show every column of a wide table.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="For programs; every column.")] = False,
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
    """Show what the columns of a TABLE are and what would be done with them. Nothing is chosen."""
    set_talk(quiet, verbose)
    o.check_task(task)
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
    source = open_table(table, from_, text, query)
    explained = () if not target else find_targets(source, target)
    loaded = load(source, explained, drop=drop)
    infos = _infos(loaded.X)
    y = None if loaded.y is None else [loaded.y] if len(explained) == 1 else list(loaded.y)
    abouts = [_about_target(values, task) for values in y or ()]
    cautions = [line for _, said in abouts for line in said] + _cautions(infos, loaded, [about for about, _ in abouts])
    described = {name: about for name, (about, _) in zip(explained, abouts, strict=True) if about is not None}
    if as_json:
        targets = [{**asdict(about), "name": name} for name, about in described.items()]
        content = {
            "rows": len(loaded.X),
            "columns": [asdict(info) for info in infos],
            "target": targets if len(explained) > 1 else next(iter(targets), None),
            "warnings": cautions,
        }
        sys.stdout.write(json.dumps(content, ensure_ascii=False, indent=2, default=str) + "\n")
        return
    name = source.label.strip("'")
    show(
        f"{name}: {counted(len(loaded.X), 'row')}, {counted(len(infos), 'column')}"
        + (f", and {'the target' if len(explained) == 1 else f'{len(explained)} targets'}" if explained else "")
    )
    for target_name, about in described.items():
        show(f"target {target_name}: {_describe(about)}")
    show("")
    if len(infos) > MOST_SHOWN and not every:
        show(_kinds(infos), "", "--all shows every column")
        aside = [info for info in infos if info.used_as == "set aside"]
        if aside:
            show("", _columns(aside[:MOST_SHOWN], len(loaded.X), "set aside"))
    else:
        show(_columns(infos, len(loaded.X)))
    for caution in cautions:
        warn(caution)


def _infos(X: Any) -> list[Any]:
    """What each column is; different numbers are counted, too."""
    from dataclasses import replace  # noqa: PLC0415

    from easyfs.tables.columns import recognise, series_of  # noqa: PLC0415

    infos = []
    with progress_bar("looking at columns", X.width) as progress:
        for name, dtype, column in zip(X.columns, X.dtypes, series_of(X), strict=True):
            info, _ = recognise(name, column)
            if info.n_distinct is None and not dtype.is_nested():
                info = replace(info, n_distinct=column.drop_nulls().n_unique())
            infos.append(info)
            if progress is not None:
                progress(len(infos))
    return infos


def _about_target(y: Any, task: str) -> tuple[Any, list[str]]:
    """What the target holds, and what is to be said of it; None for one that cannot be used."""
    from easyfs.tables.target import check_target  # noqa: PLC0415
    from easyfs.tables.target_summary import describe_target  # noqa: PLC0415

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            about = describe_target(check_target(y, len(y), task), y)
        except ValueError as error:  # the columns can be looked at all the same
            return None, [one_line(str(error))]
    return about, [one_line(str(warning.message)) for warning in caught]


def _describe(about: Any) -> str:
    if about.classes:
        shown = ", ".join(f"{label} {count:,}" for label, count in about.classes[:6])
        number = counted(len(about.classes), "class", "classes")
        return f"{about.task}, {number} ({shown}{', ...' if len(about.classes) > 6 else ''})"
    low, _, middle, _, high = about.quantiles
    return f"{about.task}, numbers from {low:.4g} to {high:.4g}, median {middle:.4g}"


def _columns(infos: list[Any], n_rows: int, title: str | None = None) -> Any:
    table = new_table(
        ("column", "wide"),
        "kind",
        "used as",
        ("missing", "right"),
        ("different", "right"),
        ("examples", "wide"),
        title=title,
    )
    for info in infos:
        share = info.n_missing / n_rows
        table.add_row(
            cell(info.name, "bold"),
            info.kind,
            cell(info.used_as, STYLES.get(info.used_as, "")),
            cell(f"{info.n_missing:,} ({share:.0%})" if info.n_missing else "", "yellow" if share > MOSTLY_MISSING else ""),
            "" if info.n_distinct is None else f"{info.n_distinct:,}",
            cell(info.reason if info.reason else ", ".join(info.examples), "dim"),
        )
    return table


def _kinds(infos: list[Any]) -> Any:
    table = new_table("kind", "used as", ("columns", "right"), ("with missing values", "right"), ("for example", "wide"))
    groups = Counter((info.kind, info.used_as) for info in infos)
    for (kind, used), number in groups.most_common():
        members = [info for info in infos if (info.kind, info.used_as) == (kind, used)]
        gaps = sum(info.n_missing > 0 for info in members)
        names = ", ".join(str(info.name) for info in members[:3])
        table.add_row(
            kind, cell(used, STYLES.get(used, "")), f"{number:,}", f"{gaps:,}" if gaps else "", cell(names, "dim")
        )
    return table


def _cautions(infos: list[Any], loaded: Loaded, abouts: list[Any]) -> list[str]:
    """What a careful analyst would look at first."""
    found = []
    n = len(loaded.X)
    aside = [info for info in infos if info.used_as == "set aside" and info.kind != "constant"]
    if aside:
        found.append(f"set aside: {_named(aside)}; --include uses a column all the same.")
    constant = [info for info in infos if info.kind == "constant"]
    if constant:
        found.append(f"one value only: {_named(constant)}.")
    gaps = [info for info in infos if info.n_missing > MOSTLY_MISSING * n and info.kind != "constant"]
    if gaps:
        found.append(f"missing in more than half of the rows: {_named(gaps)}.")
    for about in abouts:
        if about is None or not about.classes:
            continue
        small = [f"{label!r} ({counted(count, 'row')})" for label, count in about.classes if count < FEW_ROWS]
        if small:
            more = f" and {len(small) - 5} more" if len(small) > 5 else ""
            found.append(f"classes of a few rows: {', '.join(small[:5])}{more}.")
    targets = [] if loaded.y is None else [loaded.y] if len(abouts) == 1 else list(loaded.y)
    for y in targets:
        same = [series.name for series in loaded.X if series.dtype == y.dtype and series.equals(y)]
        if same:
            found.append(f"the same as the target in every row: {', '.join(repr(name) for name in same[:5])}; --drop it.")
    return found


def _named(infos: list[Any]) -> str:
    shown = ", ".join(f"{info.name!r}" + (f" ({info.kind})" if info.kind != "constant" else "") for info in infos[:6])
    return shown + (f" and {len(infos) - 6} more" if len(infos) > 6 else "")
