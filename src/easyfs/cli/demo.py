"""``easyfs demo``: a first look at a data set that ships with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from easyfs.cli import options as o
from easyfs.cli.chosen import chosen_rows, chosen_table
from easyfs.cli.outputs import whole
from easyfs.cli.problems import CommandError
from easyfs.cli.show import busy, new_table, progress_bar, set_talk, show

N_SELECTED = 5
FOLDS, REPEATS = 5, 3
STABILITY_RUNS = 20


def command(
    folder: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the table and the report are written.")] = Path(
        "easyfs-demo"
    ),
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Choose five of the thirty columns of the breast-cancer data, and see how well a model does on them."""
    import polars as pl  # noqa: PLC0415
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415

    from easyfs import EasyFS  # noqa: PLC0415
    from easyfs.report import build_report  # noqa: PLC0415

    set_talk(quiet, verbose)
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"--folder {str(folder)!r} is a file; give the name of a folder.")
    data = load_breast_cancer()
    X = pl.DataFrame(data.data, schema=[str(name) for name in data.feature_names])
    y = pl.Series("diagnosis", [str(data.target_names[code]) for code in data.target])
    selector = EasyFS(N_SELECTED, random_state=0).fit(X, y)
    show(
        f"breast cancer: {len(X)} rows, {X.width} columns, {N_SELECTED} chosen",
        "",
        chosen_table(chosen_rows(selector.explain())),
        "",
        f"accuracy of a linear SVM, columns chosen inside each training fold ({FOLDS} folds, {REPEATS} repeats)",
        "",
        _accuracy_table(_accuracies(data.data, data.target)),
    )
    folder.mkdir(parents=True, exist_ok=True)
    page, table, chosen = (folder / name for name in ("report.html", "breast-cancer.csv", "chosen.csv"))
    with whole() as outputs:
        with busy("writing the report"):
            report = build_report(
                selector, X, y, title="Breast cancer", source="scikit-learn", stability=STABILITY_RUNS, random_state=0
            )
            outputs.save(str(page), report.save)
        outputs.write(str(table), X.with_columns(y).write_csv)
        outputs.write(str(chosen), selector.take(X).with_columns(y).write_csv)
    show(
        "",
        "wrote",
        f"  {page}  what was chosen and why; open it in a browser",
        f"  {chosen}  the table with the {N_SELECTED} chosen columns",
        f"  {table}  the whole table, to try more:",
        f"      easyfs select {table} --target diagnosis",
    )


def _accuracies(X: Any, y: Any) -> dict[str, Any]:
    """Accuracy in each fold, with the chosen columns, random ones and all."""
    import numpy as np  # noqa: PLC0415
    from sklearn.model_selection import RepeatedStratifiedKFold  # noqa: PLC0415
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415
    from sklearn.svm import SVC  # noqa: PLC0415

    from easyfs import EasyFS  # noqa: PLC0415

    rng = np.random.default_rng(0)
    d = X.shape[1]
    ways: dict[str, Callable[[Any], Any]] = {
        f"{N_SELECTED} chosen columns": lambda rows: (
            EasyFS(N_SELECTED, random_state=0).fit(X[rows], y[rows]).order_[:N_SELECTED]
        ),
        f"{N_SELECTED} random columns": lambda _: rng.permutation(d)[:N_SELECTED],
        f"all {d} columns": lambda _: np.arange(d),
    }
    splits = list(RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=0).split(X, y))
    found: dict[str, Any] = {}
    with progress_bar("cross-validation", len(ways) * len(splits)) as progress:
        for way, choose in ways.items():
            scores = []
            for train, test in splits:
                columns = choose(train)
                model = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X[train][:, columns], y[train])
                scores.append(model.score(X[test][:, columns], y[test]))
                if progress is not None:
                    progress(len(found) * len(splits) + len(scores))
            found[way] = np.array(scores)
    return found


def _accuracy_table(found: dict[str, Any]) -> Any:
    table = new_table("", ("accuracy", "right"), ("spread over folds", "right"))
    for way, scores in found.items():
        table.add_row(way, f"{scores.mean():.3f}", f"± {scores.std():.3f}")
    return table
