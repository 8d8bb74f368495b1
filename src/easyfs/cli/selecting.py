"""What ``easyfs select`` does: fit, explain, write or show."""

from __future__ import annotations

import contextlib
import inspect
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easyfs.base.explanation import Explanation
from easyfs.base.saving import content_of
from easyfs.cli import options as o
from easyfs.cli.batches import WEIGHT, Streamed, can_stream, stream
from easyfs.cli.chosen import (
    MOST_SHOWN,
    chance_line,
    chosen_rows,
    chosen_table,
    columns_as_json,
    columns_as_text,
    is_tested,
    only_chance,
    together,
)
from easyfs.cli.loading import Loaded, find_columns, find_target, load
from easyfs.cli.outputs import STANDARD, Outputs, whole
from easyfs.cli.problems import CommandError, WrongUsageError, hint
from easyfs.cli.saved import check_language, write_selected
from easyfs.cli.show import busy, console, counted, plain, say, seconds, show, warn
from easyfs.cli.show import settings as talk
from easyfs.files.formats import FORMATS, endings, format_of
from easyfs.files.scanning import Scan
from easyfs.files.source import Source

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
    "verbose": "--verbose",
}


@dataclass(frozen=True)
class Choice:
    """What is to be chosen from, and how.

    Attributes
    ----------
    method : str
        Name of the selector.
    target : str or None
        The column to be explained, as the user names it.
    unsupervised : bool
        Whether columns are chosen without a target.
    include, exclude, drop : list of str or None
        Names or patterns of columns that are chosen in any case, never, or not even read.
    sample_weight : str or None
        A column with the weight of each row.
    seed : int
        Seed of all that is drawn.
    """

    method: str
    target: str | None
    unsupervised: bool
    include: list[str] | None
    exclude: list[str] | None
    drop: list[str] | None
    sample_weight: str | None
    seed: int


@dataclass(frozen=True)
class Files:
    """What is to be written.

    Attributes
    ----------
    output, columns, report : str or None
        Names of the files: the table with the chosen columns, their list, the report.
    with_target : bool
        Whether the written table has the target.
    to : str or None
        Format of the written table, where its name does not tell.
    stability : int or None
        Runs on halves of the rows, for the report; None if that is for us to say.
    cv : bool
        Whether the report has cross-validated scores.
    save : str or None
        Name of the file in which the selection is saved.
    code : str or None
        The language in which it is printed as code.
    """

    output: str | None
    columns: str | None
    report: str | None
    with_target: bool
    to: str | None
    stability: int | None
    cv: bool
    save: str | None = None
    code: str | None = None

    @property
    def asked(self) -> dict[str, str]:
        """Files that are asked for, by the option that does so."""
        printed = None if self.code is None else STANDARD
        options = {"-o": self.output, "--columns": self.columns, "--report": self.report}
        options |= {"--save": self.save, "--print": printed}
        return {option: name for option, name in options.items() if name is not None}


@dataclass
class Run:
    """What was read and chosen.

    Attributes
    ----------
    selector : selector
        The fitted selector.
    loaded : Loaded or Streamed
        The table.
    target : str or None
        The column that is explained.
    explanation : Explanation
        What was chosen, and why.
    took : float
        Seconds of the fit.
    """

    selector: Any
    loaded: Loaded | Streamed
    target: str | None
    explanation: Explanation
    took: float


def check_files(files: Files) -> None:
    """Formats of what is to be written must be known."""
    output_format(files.output, files.to)
    if files.report is not None and Path(files.report).suffix.lower() not in REPORTS:
        raise WrongUsageError(f"--report {files.report!r} ends in none of {', '.join(REPORTS)}.")
    if files.code is not None:
        check_language(files.code)


def check_streamed(scan: Scan, selector: Any, method: str, files: Files) -> None:
    """What needs the rows in memory cannot be had of a table that is read batch by batch."""
    written = output_format(files.output, files.to)
    needs = {
        f"--method {method}": not can_stream(selector),
        "--stability": bool(files.stability),
        "--cv": files.cv,
        "an .npz": written is not None and written[0] == "npz",
    }
    asked = [what for what, wanted in needs.items() if wanted]
    if asked:
        instead = "use --method easyfs or easyfs_ranking" if asked[0].startswith("--method") else "leave it out"
        instead = "write .parquet or .csv" if asked[0] == "an .npz" else instead
        raise WrongUsageError(
            f"{asked[0]} needs the table in memory, but {scan.label!r} is read batch by batch; {instead}, or give one file "
            "that fits into memory."
        )


def choose_and_write(selector: Any, source: Source | Scan, choice: Choice, files: Files) -> None:
    """Choose columns of a table; write what is asked for, or show what was chosen."""
    paths = [source.path] if isinstance(source, Source) else [member.source.path for member in source.members]
    with whole(*paths) as outputs:
        for option, name in files.asked.items():
            outputs.check(name, option)
        run = choose(selector, source, choice)
        rows = chosen_rows(run.explanation)
        if only_chance(rows):
            _warn_of_chance(rows, run.target)
        if files.report is not None:
            _report(outputs, files, run, choice.seed)
        n_columns, heading = len(run.loaded.columns), _heading(run, choice.method)
        run.loaded.forget()
        if files.output is not None:
            _write(outputs, files, run)
        if files.columns is not None:
            _write_columns(outputs, files.columns, run, choice.method)
        write_selected(outputs, files.save, files.code, content_of(run.selector))
    if files.asked:
        places = ", ".join("to standard output" if name == STANDARD else name for name in files.asked.values())
        say(f"{len(rows):,} of {counted(n_columns, 'column')} chosen; wrote {places}")
    else:
        _show(rows, _interactions(run.explanation), heading)


def choose(selector: Any, source: Source | Scan, choice: Choice) -> Run:
    """Read the table and fit the selector."""
    target = None if choice.unsupervised else find_target(source, choice.target)
    if isinstance(source, Scan):
        streamed = stream(source, target, drop=choice.drop, weight=choice.sample_weight)
        _constrain(selector, streamed.columns, target, choice.include, choice.exclude)
        with _without_chance():
            took = streamed.fit(selector)
        return Run(selector, streamed, target, selector.explain(), took)
    loaded = load(source, target, drop=choice.drop, roles={WEIGHT: choice.sample_weight})
    _constrain(selector, loaded.columns, target, choice.include, choice.exclude)
    took = fit(selector, loaded, loaded.others.get(WEIGHT), choice.method)
    return Run(selector, loaded, target, selector.explain(), took)


def make(method: str, count: Any, settings: dict[str, Any], task: str, seed: int) -> Any:
    """The selector that was asked for, not fitted."""
    from easyfs.registry import SELECTORS, make_selector  # noqa: PLC0415

    if method not in SELECTORS:
        raise WrongUsageError(f"there is no method {method!r}.{hint(method, SELECTORS)} easyfs methods lists them all.")
    info = SELECTORS[method]
    if not info.installed:
        raise CommandError(
            f"{method} needs {info.needs}, which is not installed; install it with pip install 'easyfs-ml[{info.needs}]'."
        )
    known = inspect.signature(info.load()).parameters
    if "random_state" in known:
        settings = {**settings, "random_state": seed}
    if "task" in known:
        settings = {**settings, "task": task}
    if "verbose" in known:
        settings = {**settings, "verbose": int(talk.verbose)}
    try:
        return make_selector(method, count, **settings)
    except TypeError as error:
        raise WrongUsageError(str(error)) from error


def _constrain(selector: Any, names: list[str], target: str | None, include: Any, exclude: Any) -> None:
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


def _interactions(explanation: Explanation) -> Any:
    from easyfs.report.sections import interactions_of  # noqa: PLC0415

    return interactions_of(explanation)


def _report(outputs: Outputs, files: Files, run: Run, seed: int) -> None:
    from easyfs.report import build_report  # noqa: PLC0415

    assert files.report is not None
    loaded, stability = run.loaded, files.stability
    if isinstance(loaded, Streamed):
        built = build_report(run.selector, source=Path(loaded.label).name, random_state=seed)
        outputs.save(files.report, built.save)
        return
    weight = loaded.others.get(WEIGHT)
    if stability is None:
        stability = STABILITY_RUNS if loaded.X.width * len(loaded.X) <= STABILITY_CELLS else 0
    with busy("writing the report" + (f", {stability} runs for stability" if stability else "")):
        built = build_report(
            run.selector,
            loaded.X,
            loaded.y,
            source=Path(loaded.label).name,
            stability=stability,
            cv=files.cv,
            sample_weight=None if weight is None else weight.to_numpy(),
            random_state=seed,
        )
        outputs.save(files.report, built.save)


def output_format(output: str | None, to: str | None) -> tuple[str, bool] | None:
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


def _write(outputs: Outputs, files: Files, run: Run) -> None:
    """The table with the chosen columns only."""
    from easyfs.files.writing import write_scan, write_table  # noqa: PLC0415

    written = output_format(files.output, files.to)
    assert files.output is not None
    assert written is not None
    to, compressed = written
    names = run.explanation.names + ([run.target] if run.target and files.with_target else [])
    loaded = run.loaded
    if isinstance(loaded, Streamed):
        scan = loaded.scan.select([name for name in loaded.scan.names if name in set(names)])
        with busy(f"writing {files.output}"):
            outputs.write(files.output, lambda stream: write_scan(scan, stream, to=to, compressed=compressed))
        return
    source, rows = loaded.source, loaded.rows
    with busy(f"writing {files.output}"):
        outputs.write(
            files.output,
            lambda stream: write_table(source, names, stream, to=to, compressed=compressed, rows=rows, target=run.target),
        )


def _write_columns(outputs: Outputs, name: str, run: Run, method: str) -> None:
    """The list of chosen columns."""
    rows, explanation = chosen_rows(run.explanation), run.explanation
    about = {"method": method, "target": run.target, "task": explanation.task, "rows": explanation.n_rows}
    as_json = name.lower().endswith(".json")
    text = columns_as_json(rows, _interactions(explanation), about) if as_json else columns_as_text(rows)
    outputs.write(name, lambda stream: _put(stream, text))


def _put(stream: Any, text: str) -> None:
    stream.write(text.encode("utf-8", "surrogatepass"))


def _heading(run: Run, method: str) -> list[str]:
    """What was read and done, in two lines."""
    about, loaded = run.explanation.target, run.loaded
    what = "no target"
    if about is not None and about.classes:
        shown = ", ".join(f"{label} {count:,}" for label, count in about.classes[:4])
        what = f"{run.target}: {len(about.classes)} classes ({shown}{', ...' if len(about.classes) > 4 else ''})"
    elif about is not None:
        what = f"{run.target}: numbers from {about.quantiles[0]:.4g} to {about.quantiles[-1]:.4g}"
    read = f"{loaded.label}: {counted(loaded.n_rows, 'row')}, {counted(len(loaded.columns), 'column')} to choose from"
    return [read, what, f"chosen by {method} in {seconds(run.took)}"]


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
