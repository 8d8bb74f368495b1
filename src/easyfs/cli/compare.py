"""``easyfs compare``: which method is best on the user's own table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from easyfs.cli import options as o
from easyfs.cli.live import LiveScores
from easyfs.cli.loading import find_targets, load, open_table
from easyfs.cli.outcome import ENDINGS, as_page, write_outcome
from easyfs.cli.outputs import STANDARD, whole
from easyfs.cli.problems import CommandError, InterruptedRunError, WrongUsageError, hint
from easyfs.cli.show import counted, is_live, say, set_talk, show
from easyfs.cli.target_file import find_beside
from easyfs.files.formats import PACKED, split_name

MODELS = ("svm", "linear", "forest", "knn", "boosting")


def command(  # noqa: PLR0913, PLR0917 - typer reads the options here
    table: o.File,
    target: o.Target = None,
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "-m",
            metavar="NAMES",
            help="Selectors, with commas; all is no selection. easyfs methods lists them.",
        ),
    ] = "easyfs,mrmr,random_forest,random",
    sizes: Annotated[
        str | None,
        typer.Option(metavar="NUMBERS", help="Numbers of columns (or shares), with commas.", show_default="5,10,20,50"),
    ] = None,
    folds: Annotated[int, typer.Option(metavar="N", min=2, help="Folds of the cross-validation.")] = 5,
    repeats: Annotated[int, typer.Option(metavar="N", min=1, help="How often it is repeated with other folds.")] = 3,
    models: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help=f"Models that are trained on the chosen columns: {', '.join(MODELS)}.", show_default="svm"
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="accuracy, balanced_accuracy, nmse or any scorer of scikit-learn; the first is shown.",
            show_default="accuracy or nmse",
        ),
    ] = None,
    cv: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDS",
            help="random; time: rows are in its order, and training rows come first; group:COLUMN: rows with the same "
            "value there stay on one side of each split.",
            show_default="random",
        ),
    ] = None,
    task: o.Task = "auto",
    drop: o.Drop = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", metavar="N", min=1, help="How much runs at the same time.")] = 1,
    time_limit: Annotated[float | None, typer.Option(metavar="SECONDS", help="What a fit may take at most.")] = None,
    results: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl",
            help="Keep results as they come; the same command again goes on from there.",
            rich_help_panel=o.OUTPUT,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="The outcome: .html, .md or .json.", rich_help_panel=o.OUTPUT),
    ] = None,
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
    """Compare methods on a TABLE: the same folds for all, columns chosen inside the training rows.

    [bold]easyfs compare data.csv --target y --methods easyfs,xgboost,mrmr,random --sizes 5,10,20[/bold]
    """
    set_talk(quiet, verbose)
    o.check_task(task)
    how, groups = o.parse_cv(cv)
    names = _check_methods(o.listed(methods))
    counts = None if sizes is None else [_size(word) for word in o.listed(sizes)]
    if output is not None and Path(output).suffix.lower() not in ENDINGS:
        raise WrongUsageError(f"-o {output!r} ends in none of {', '.join(ENDINGS)}.")
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
    beside = find_beside(target_file, text, target, join)
    kept = () if results is None else (results,)
    with whole(source.origin, *kept) as outputs:
        outputs.check(output, "-o")
        explained = find_targets(source, target) if beside is None else beside.targets
        loaded = load(source, explained, drop=drop, roles={"--cv": groups}, beside=beside)
        by_group = loaded.others.get("--cv")
        found = _run(
            names,
            loaded,
            results=results,
            by_group=by_group,
            sizes=counts,
            models=_models(o.listed(models), loaded.y, task),
            metrics=o.listed(metric) or None,
            task=task,
            folds=folds,
            repeats=repeats,
            cv=_in_time(folds) if how == "time" else None,
            name=_name(table),
            n_jobs=jobs,
            time_limit=time_limit,
            random_state=seed,
        )
        if not any(row["status"] == "ok" for row in found.score_rows.values()):
            reasons = dict.fromkeys(row.get("reason") or row["status"] for row in found.failures())
            raise CommandError(f"no method gave a result: {'; '.join(list(reasons)[:3])}")
        if output is not None:
            write_outcome(outputs, output, found)
    if output != STANDARD and not quiet:
        show(*as_page(found))
    if output is not None:
        say(f"wrote {output}")


def _in_time(folds: int) -> Any:
    from sklearn.model_selection import TimeSeriesSplit  # noqa: PLC0415

    return TimeSeriesSplit(folds)


def _run(names: list[str], loaded: Any, *, results: Path | None, by_group: Any, **settings: Any) -> Any:
    """Compare, with a table that grows on a terminal; an interruption says how to go on."""
    from easyfs.evaluation import compare  # noqa: PLC0415

    seen = [0, 0]
    live = LiveScores(names) if is_live() else None

    def step(done: int, total: int, row: dict[str, Any]) -> None:
        seen[:] = [done, total]
        if live is not None:
            live.step(done, total, row)

    try:
        if live is not None:
            live.start()
        return compare(
            names,
            loaded.X,
            loaded.y,
            groups=None if by_group is None else by_group.to_numpy(),
            results=results,
            progress=step,
            **settings,
        )
    except KeyboardInterrupt:
        if results is None:
            raise InterruptedRunError(
                f"interrupted after {seen[0]} of {counted(seen[1], 'result')}; nothing was kept. With --results FILE.jsonl "
                "results are kept as they come, and the same command goes on from there."
            ) from None
        raise InterruptedRunError(
            f"interrupted after {seen[0]} of {counted(seen[1], 'result')}; they are in {str(results)!r}. Run the same "
            "command again to go on from there."
        ) from None
    finally:
        if live is not None:
            live.stop()


def _check_methods(names: list[str]) -> list[str]:
    from easyfs.registry import SELECTORS  # noqa: PLC0415

    if not names:
        raise WrongUsageError("--methods is empty; name at least one, such as easyfs.")
    for name in names:
        if name != "all" and name not in SELECTORS:
            raise WrongUsageError(f"there is no method {name!r}.{hint(name, SELECTORS)} easyfs methods lists them all.")
        if name != "all" and not SELECTORS[name].installed:
            extra = SELECTORS[name].needs
            raise CommandError(
                f"{name} needs {extra}, which is not installed; install it with pip install 'easyfs-ml[{extra}]'."
            )
    return list(dict.fromkeys(names))


def _size(word: str) -> Any:
    count = o.parse_count(word, "--sizes")
    if isinstance(count, str):
        raise WrongUsageError(f"--sizes has {count}; give counts such as 10 or shares such as 0.1.")
    return count


def _models(names: list[str], y: Any, task: str) -> dict[str, Any] | None:
    """Downstream models by their short names."""
    if not names:
        return None
    from sklearn import ensemble, linear_model, neighbors, svm  # noqa: PLC0415

    from easyfs.tables.target import check_target  # noqa: PLC0415

    classes = check_target(y, len(y), task).task == "classification"
    known: dict[str, Any] = {
        "svm": svm.SVC(kernel="linear") if classes else svm.SVR(),
        "linear": linear_model.LogisticRegression(max_iter=1000) if classes else linear_model.Ridge(),
        "forest": ensemble.RandomForestClassifier() if classes else ensemble.RandomForestRegressor(),
        "knn": neighbors.KNeighborsClassifier() if classes else neighbors.KNeighborsRegressor(),
        "boosting": ensemble.HistGradientBoostingClassifier() if classes else ensemble.HistGradientBoostingRegressor(),
    }
    for name in names:
        if name not in known:
            raise WrongUsageError(f"--models: there is no model {name!r}.{hint(name, MODELS)}")
    return {name: known[name] for name in names}


def _name(table: str) -> str:
    if table == STANDARD:
        return "data"
    plain, inside = split_name(table)
    name = Path(plain)
    return inside or (name.with_suffix("") if name.suffix in PACKED else name).stem or "data"
