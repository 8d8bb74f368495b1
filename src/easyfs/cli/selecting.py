"""What ``easyfs select`` does: fit, explain, write or show."""

from __future__ import annotations

import contextlib
import inspect
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from easyfs.base.explanation import Explanation
from easyfs.base.saving import content_of
from easyfs.cli import options as o
from easyfs.cli.batches import WEIGHT, Streamed, can_stream, stream
from easyfs.cli.chosen import (
    MOST_SHOWN,
    as_plain,
    chance_line,
    chosen_rows,
    chosen_table,
    columns_as_json,
    columns_as_text,
    is_tested,
    only_chance,
    together,
)
from easyfs.cli.loading import Loaded, find_columns, find_targets, load, shown_target
from easyfs.cli.outputs import STANDARD, Outputs, whole
from easyfs.cli.problems import CommandError, WrongUsageError, hint
from easyfs.cli.saved import check_language, write_selected
from easyfs.cli.show import busy, console, counted, plain, say, seconds, show, warn
from easyfs.cli.show import settings as talk
from easyfs.cli.target_file import TargetTable
from easyfs.cli.wishes import OPTION, Wishes
from easyfs.files.formats import PACKED, WRITTEN, endings, written_format
from easyfs.files.scanning import Scan
from easyfs.files.source import Source

# Stability is measured for a report if the table has no more cells than this, with this many runs.
STABILITY_CELLS, STABILITY_RUNS = 5_000_000, 20
# Role of a column of groups, and folds of the report's cross-validation.
GROUPS, FOLDS = "--cv", 5
REPORTS = (".html", ".json", ".md")
# Parameters of selectors that have an option of their own.
TAKEN = {
    "n_features_to_select": "-k",
    "task": "--task",
    "include": "--include",
    "exclude": "--exclude",
    "random_state": "--seed",
    "verbose": "--verbose",
    **OPTION,
}


@dataclass(frozen=True)
class Choice:
    """What is to be chosen from, and how.

    Attributes
    ----------
    method : str
        Name of the selector.
    targets : list of str or None
        The columns to be explained, as the user names them.
    unsupervised : bool
        Whether columns are chosen without a target.
    include, exclude, drop : list of str or None
        Names or patterns of columns that are chosen in any case, never, or not even read.
    sample_weight : str or None
        A column with the weight of each row.
    seed : int
        Seed of all that is drawn.
    keep : list of str or None
        Names or patterns of columns that are written though they are not used.
    beside : TargetTable or None
        The target, where it is in a file of its own.
    groups : str or None
        A column whose equal values stay on one side of each fold.
    wishes : Wishes
        What is adjusted for, costs and sources, a target of event and time.
    """

    method: str
    targets: list[str] | None
    unsupervised: bool
    include: list[str] | None
    exclude: list[str] | None
    drop: list[str] | None
    sample_weight: str | None
    seed: int
    keep: list[str] | None = None
    beside: TargetTable | None = None
    groups: str | None = None
    wishes: Wishes = field(default_factory=Wishes)


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
    cv : str or None
        How the folds of the report's cross-validated scores are made, if it has such: "random", "time", "group:COLUMN".
    json : bool
        Whether the result is for a program to read, on standard output.
    save : str or None
        Name of the file in which the selection is saved.
    code : str or None
        The language in which it is printed as code.
    pictures : bool
        Whether the report has pictures, which show single rows.
    """

    output: str | None
    columns: str | None
    report: str | None
    with_target: bool
    to: str | None
    stability: int | None
    cv: str | None
    json: bool = False
    save: str | None = None
    code: str | None = None
    pictures: bool = True

    @property
    def asked(self) -> dict[str, str]:
        """Files that are asked for, by the option that does so."""
        printed = None if self.code is None else STANDARD
        options = {"-o": self.output, "--columns": self.columns, "--report": self.report}
        options |= {"--save": self.save, "--print": printed, "--json": STANDARD if self.json else None}
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
    targets : tuple of str
        The columns that are explained.
    explanation : Explanation
        What was chosen, and why.
    took : float
        Seconds of the fit.
    """

    selector: Any
    loaded: Loaded | Streamed
    targets: tuple[str, ...]
    explanation: Explanation
    took: float

    @property
    def target(self) -> str | None:
        """What is explained, in words."""
        return shown_target(self.targets) if self.targets else None


def check_files(files: Files) -> None:
    """Formats of what is to be written must be known."""
    output_format(files.output, files.to)
    if files.report is not None and Path(files.report).suffix.lower() not in REPORTS:
        raise WrongUsageError(f"--report {files.report!r} ends in none of {', '.join(REPORTS)}.")
    if files.code is not None:
        check_language(files.code)


def check_streamed(scan: Scan, selector: Any, method: str, files: Files, beside: TargetTable | None) -> None:
    """What needs the rows in memory cannot be had of a table that is read batch by batch."""
    written = output_format(files.output, files.to)
    needs = {
        "--target-file": beside is not None,
        f"--method {method}": not can_stream(selector),
        "--stability": bool(files.stability),
        "--cv": files.cv is not None,
        "an .npz": written is not None and written[0] == "npz",
    }
    asked = [what for what, wanted in needs.items() if wanted]
    if asked:
        instead = "use --method easyfs or easyfs_ranking" if asked[0].startswith("--method") else "leave it out"
        instead = "write .parquet or .csv" if asked[0] == "an .npz" else instead
        instead = "put the target into the table" if asked[0] == "--target-file" else instead
        raise WrongUsageError(
            f"{asked[0]} needs the table in memory, but {scan.label!r} is read batch by batch; {instead}, or give one file "
            "that fits into memory."
        )


def choose_and_write(selector: Any, source: Source | Scan, choice: Choice, files: Files) -> None:
    """Choose columns of a table; write what is asked for, or show what was chosen."""
    paths = [source.origin] if isinstance(source, Source) else [member.source.origin for member in source.members]
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
            _write(outputs, files, run, choice.keep)
        if files.columns is not None:
            _write_columns(outputs, files.columns, run, choice)
        write_selected(outputs, files.save, files.code, content_of(run.selector))
        if files.json:
            text = columns_as_json(rows, _interactions(run.explanation), _about(run, choice))
            outputs.write(STANDARD, lambda stream: _put(stream, text))
    written = [name for option, name in files.asked.items() if option != "--json"]
    if written:
        places = ", ".join("to standard output" if name == STANDARD else name for name in written)
        say(f"{len(rows):,} of {counted(n_columns, 'column')} chosen; wrote {places}")
    elif not files.json:
        _show(rows, _interactions(run.explanation), heading)


def choose(selector: Any, source: Source | Scan, choice: Choice) -> Run:
    """Read the table and fit the selector."""
    targets, wishes = _targets(source, choice), choice.wishes
    if isinstance(source, Scan):
        streamed = stream(source, targets, drop=choice.drop, weight=choice.sample_weight, keep=choice.keep)
        _constrain(selector, streamed.columns, targets, choice.include, choice.exclude)
        wishes.apply(selector, streamed.columns, source.names, choice.method)
        with _without_chance():
            took = streamed.fit(selector)
        return Run(selector, streamed, targets, selector.explain(), took)
    roles = {WEIGHT: choice.sample_weight, GROUPS: choice.groups, **wishes.roles()}
    loaded = load(source, targets, drop=choice.drop, roles=roles, keep=choice.keep, beside=choice.beside)
    _constrain(selector, loaded.columns, targets, choice.include, choice.exclude)
    wishes.apply(selector, loaded.columns, source.names, choice.method)
    if wishes.survival:
        targets = wishes.put_target(loaded, loaded.others.get(WEIGHT))
    took = fit(selector, loaded, loaded.others.get(WEIGHT), choice.method)
    return Run(selector, loaded, targets, selector.explain(), took)


def _targets(source: Source | Scan, choice: Choice) -> tuple[str, ...]:
    if choice.beside is not None:
        return choice.beside.targets
    return () if choice.unsupervised or choice.wishes.survival else find_targets(source, choice.targets)


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


def _constrain(selector: Any, names: list[str], targets: tuple[str, ...], include: Any, exclude: Any) -> None:
    for option, patterns, parameter in (("--include", include, "include"), ("--exclude", exclude, "exclude")):
        for target in set(targets) & set(o.listed(patterns)):
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
        if not weight.dtype.is_numeric() and str(weight.dtype) != "Boolean":
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
    which = "the chosen column explains no" if len(rows) == 1 else f"none of the {len(rows):,} chosen columns explains"
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
        built = build_report(run.selector, source=Path(loaded.label).name, random_state=seed, command_line=True)
        outputs.save(files.report, built.save)
        return
    weight, groups = loaded.others.get(WEIGHT), loaded.others.get(GROUPS)
    if stability is None:
        stability = STABILITY_RUNS if loaded.X.width * len(loaded.X) <= STABILITY_CELLS else 0
    with busy("writing the report" + (f", {stability} runs for stability" if stability else "")):
        built = build_report(
            run.selector,
            loaded.X,
            loaded.y,
            source=Path(loaded.label).name,
            stability=stability,
            cv=folds_of(files.cv),
            groups=None if groups is None else groups.to_numpy(),
            pictures=files.pictures,
            sample_weight=None if weight is None else weight.to_numpy(),
            random_state=seed,
            command_line=True,
        )
        outputs.save(files.report, built.save)


def folds_of(cv: str | None) -> Any:
    """Folds of a cross-validation, as the report and the comparison take them."""
    if cv is None:
        return False
    if o.parse_cv(cv)[0] != "time":
        return True
    from sklearn.model_selection import TimeSeriesSplit  # noqa: PLC0415

    return TimeSeriesSplit(FOLDS)


def output_format(output: str | None, to: str | None) -> tuple[str, bool] | None:
    """Format of the written table, and whether it is compressed."""
    if to is not None and to not in WRITTEN:
        raise WrongUsageError(f"--to {to!r} is not known; use one of {', '.join(WRITTEN)}.")
    if output is None:
        if to is not None:
            raise WrongUsageError("--to is for the written table; say where with -o FILE, or -o - for standard output.")
        return None
    known = ("csv", False) if output == STANDARD else written_format(output)
    if Path(output).suffix.lower() in PACKED and Path(output).suffix.lower() != ".gz":
        raise WrongUsageError(f"-o {output!r}: tables are written plain or as .gz.")
    if to is not None:
        return to, known is not None and known[1]
    if known is None:
        raise WrongUsageError(
            f"-o {output!r} has no known ending; say --to csv (or another format), or use {endings(WRITTEN)}."
        )
    return known


def _write(outputs: Outputs, files: Files, run: Run, keep: list[str] | None) -> None:
    """The table with the chosen columns only, and those that are kept."""
    from easyfs.files.writing import write_scan, write_table  # noqa: PLC0415

    written = output_format(files.output, files.to)
    assert files.output is not None
    assert written is not None
    to, compressed = written
    loaded, targets = run.loaded, run.targets if files.with_target else ()
    table = loaded.every if isinstance(loaded, Streamed) else loaded.source
    names = [*run.explanation.names, *targets, *find_columns(table.names, keep, "--keep")]
    if isinstance(loaded, Streamed):
        scan = loaded.every.select([name for name in loaded.every.names if name in set(names)])
        with busy(f"writing {files.output}"):
            outputs.write(files.output, lambda stream: write_scan(scan, stream, to=to, compressed=compressed))
        return
    source, rows, added = loaded.source, loaded.rows, loaded.added if targets else None
    target = run.targets[0] if len(run.targets) == 1 else None
    with busy(f"writing {files.output}"):
        outputs.write(
            files.output,
            lambda stream: write_table(
                source, names, stream, to=to, compressed=compressed, rows=rows, target=target, added=added
            ),
        )


def _write_columns(outputs: Outputs, name: str, run: Run, choice: Choice) -> None:
    """The list of chosen columns."""
    rows, explanation = chosen_rows(run.explanation), run.explanation
    as_json = name.lower().endswith(".json")
    text = columns_as_json(rows, _interactions(explanation), _about(run, choice)) if as_json else columns_as_text(rows)
    outputs.write(name, lambda stream: _put(stream, text))


def _about(run: Run, choice: Choice) -> dict[str, Any]:
    """What was asked, so that the same can be asked again."""
    from easyfs import __version__  # noqa: PLC0415

    explanation, adjusted = run.explanation, {}
    if explanation.adjusted_for:
        adjusted = {"adjusted_for": list(explanation.adjusted_for), "adjusted_share": explanation.adjusted_share}
    return {
        "version": __version__,
        "method": choice.method,
        "target": list(run.targets) if len(run.targets) > 1 else run.target,
        "task": explanation.task,
        "rows": explanation.n_rows,
        **adjusted,
        "seed": choice.seed,
        "parameters": {name: as_plain(value) for name, value in run.selector.get_params(deep=False).items()},
    }


def _put(stream: Any, text: str) -> None:
    stream.write(text.encode("utf-8", "surrogatepass"))


def _heading(run: Run, method: str) -> list[str]:
    """What was read and done, in two lines."""
    about, loaded = run.explanation.target, run.loaded
    what = "no target"
    if about is not None and about.n_targets > 1:
        what = f"{about.n_targets} targets: {run.target}"
    elif about is not None and about.classes:
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
    if "adds" in rows[0]:
        show("", *_legend(rows))


def _legend(rows: list[dict[str, Any]]) -> list[str]:
    """What the headings mean."""
    from easyfs.passes.choosing import LEVEL  # noqa: PLC0415

    whole = "target" if rows[0]["by_itself"] is not None else "table"
    chance = f"chance: how likely the best of as many unrelated columns would explain as much ({LEVEL} and more: chance);"
    verb = "explains" if whole == "target" else "covers"
    return [
        f"adds: share of the {whole} that the column {verb} beyond those before it;",
        *([chance] if is_tested(rows) else []),
        *(["by itself: share of the target that it explains alone;"] if whole == "target" else []),
        "overlap: share of the column that the other chosen ones explain",
    ]
