"""``easyfs demo``: a first look at a wide table with a known answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from easyfs.cli import options as o
from easyfs.cli.chosen import chosen_rows, chosen_table, together
from easyfs.cli.outputs import whole
from easyfs.cli.problems import CommandError
from easyfs.cli.show import busy, new_table, set_talk, show

N_ROWS, N_COLUMNS = 500, 2000
# Weights of the genes that matter by themselves, of the two that matter only together, and of the noise.
WEIGHTS, JOINT, NOISE = (1.2, 1.0, 0.8, 0.8), 2.0, 0.3
# Noise of a near-copy, in standard deviations of the gene.
COPIED = 0.2
FOLDS, STABILITY_RUNS = 5, 6
TITLE = "Six genes among two thousand (a made table)"


def made_table() -> tuple[Any, Any, dict[str, list[str]]]:
    """A table in the manner of gene expression, its target, and the columns that the target was made of.

    Four genes matter by themselves, and each has a near-copy; two more matter only as their product; all others are noise.
    """
    import numpy as np  # noqa: PLC0415
    import polars as pl  # noqa: PLC0415

    rng = np.random.default_rng(0)
    values = rng.standard_normal((N_ROWS, N_COLUMNS))
    places = rng.permutation(N_COLUMNS)
    alone, pair, copies = places[:4], places[4:6], places[6:10]
    values[:, copies] = values[:, alone] + COPIED * rng.standard_normal((N_ROWS, 4))
    score = (
        values[:, alone] @ np.array(WEIGHTS) + JOINT * values[:, pair].prod(axis=1) + NOISE * rng.standard_normal(N_ROWS)
    )
    names = [f"gene {j + 1:04d}" for j in range(N_COLUMNS)]
    truth = {what: [names[j] for j in part] for what, part in (("alone", alone), ("pair", pair), ("copies", copies))}
    y = pl.Series("diagnosis", np.where(score > np.median(score), "ill", "well"))
    return pl.DataFrame(values.round(3), schema=names), y, truth


def command(
    folder: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the table and the report are written.")] = Path(
        "easyfs-demo"
    ),
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Find the six genes that a made table of 2000 was made of, and see how well a model does on them."""
    from sklearn.svm import SVC  # noqa: PLC0415

    from easyfs import EasyFS  # noqa: PLC0415
    from easyfs.report import build_report  # noqa: PLC0415
    from easyfs.report.sections import interactions_of  # noqa: PLC0415

    set_talk(quiet, verbose)
    if folder.exists() and not folder.is_dir():
        raise CommandError(f"--folder {str(folder)!r} is a file; give the name of a folder.")
    X, y, truth = made_table()
    selector = EasyFS(random_state=0).fit(X, y)
    explanation = selector.explain()
    show(
        f"a made table: {len(X)} patients, {X.width:,} genes; diagnosis depends on six of them,",
        f"{', '.join(truth['alone'])} by themselves, {' and '.join(truth['pair'])} only together",
        "",
        chosen_table(chosen_rows(explanation)),
        *(together(found) for found in interactions_of(explanation) or ()),
        "",
        _found(explanation.names, truth),
        "",
    )
    with busy("cross-validation and the report"):
        report = build_report(
            selector,
            X,
            y,
            title=TITLE,
            source="easyfs demo",
            stability=STABILITY_RUNS,
            cv=FOLDS,
            model={"RBF SVM": SVC()},
            random_state=0,
            command_line=True,
        )
    show(*_accuracy(report.content["cross_validation"]))
    _write(folder, selector, X, y, report)


def _found(names: list[str], truth: dict[str, list[str]]) -> str:
    """How many of the columns that matter were found, themselves or by a near-copy, and how many others."""
    copy_of = dict(zip(truth["copies"], truth["alone"], strict=True))
    meant = {copy_of.get(name, name) for name in names} & {*truth["alone"], *truth["pair"]}
    others = [name for name in names if copy_of.get(name, name) not in meant]
    copies = sum(name in copy_of for name in names)
    by_copy = f" ({copies} by a near-copy)" if copies else ""
    return f"{len(meant)} of the 6 found{by_copy}, and {len(others) or 'no'} other{'' if len(others) == 1 else 's'}"


def _accuracy(measured: Any) -> list[Any]:
    """Accuracy with the chosen columns, as many random ones and all, as in the report."""
    own, random, every = measured["points"][-1], measured["random"][-1], measured["all"]
    table = new_table("", ("accuracy", "right"), ("spread over folds", "right"))
    for way, point in ((f"{own['columns']} chosen columns", own), (f"{own['columns']} random columns", random)):
        table.add_row(way, f"{point['mean']:.3f}", f"± {point['spread']:.3f}")
    table.add_row(f"all {every['columns']:,} columns", f"{every['mean']:.3f}", f"± {every['spread']:.3f}")
    how = f"columns chosen inside each training fold ({measured['folds']} folds)"
    return [f"accuracy of an SVM (RBF kernel), {how}", "", table]


def _write(folder: Path, selector: Any, X: Any, y: Any, report: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    page, table, chosen = (folder / name for name in ("report.html", "genes.csv", "chosen.csv"))
    with whole() as outputs:
        outputs.save(str(page), report.save)
        outputs.write(str(table), X.with_columns(y).write_csv)
        outputs.write(str(chosen), selector.take(X).with_columns(y).write_csv)
    show(
        "",
        "wrote",
        f"  {page}  what was chosen and why; open it in a browser",
        f"  {chosen}  the table with the {selector.n_features_} chosen columns",
        f"  {table}  the whole table, to try more:",
        f"      easyfs select {table} --target diagnosis",
    )
