"""Do the selections hold for other models? Neighbours, ridge and gradient boosting on the columns that ``run.py`` chose.

    python benchmarks/paper/models.py [--data ORL,YALE] [--models "gradient boosting"] [--repeats 1] [--jobs 2] [--page]

Five nearest neighbours, ridge (for classes: on indicators of the classes) and, for numbers, gradient boosting on
histograms (for tens of classes it takes days; the confirmatory comparison has it for classes, too), scikit-learn's
defaults, at the paper's two sizes, in all folds that ``run.py`` has fitted. Nothing is selected anew: the columns are those
in benchmarks/paper/raw.
Results go to benchmarks/paper/raw/models; a rerun does only what is missing. Writes docs/results/models.md.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from datasets import DATA_SETS, get
from methods import methods_for
from run import MEMORY_LIMIT, RAW, TIME_LIMIT
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tables import FOLDS, TABLES, duel_table, headline, made_with, over_what, results, write

from easyfs.evaluation import Comparison, compare
from easyfs.evaluation.protocol import described, fingerprint, make_splits

OWN = RAW / "models"
REPEATS = 3
MODELS: dict[str, dict[str, Any]] = {
    "classification": {
        "5 nearest neighbours": KNeighborsClassifier(),
        "ridge": RidgeClassifier(),
    },
    "regression": {
        "5 nearest neighbours": KNeighborsRegressor(),
        "ridge": Ridge(),
        "gradient boosting": HistGradientBoostingRegressor(),
    },
}


def measure(name: str, jobs: int, wanted: set[str], most: int = REPEATS) -> None:
    """Models on the columns of one data set, in so many repeats at most."""
    data = get(name)
    X, y = data.load()
    latest = columns_of(name)
    # Repeats that a method was tried in all folds of: nothing is selected here.
    repeats: dict[str, int] = {}
    for label in methods_for(data.task):
        whole = [all((label, repeat, fold) in latest for fold in range(FOLDS)) for repeat in range(REPEATS)]
        repeats[label] = (*whole, False).index(False)
    chosen = {label: method.make() for label, method in methods_for(data.task).items() if repeats[label]}
    keys = {}
    for split in make_splits(X, y, task=data.task, folds=FOLDS, repeats=REPEATS, cv=None, groups=None, random_state=0):
        for label, selector in chosen.items():
            place = (label, split.repeat, split.fold)
            if place in latest:
                asked = (split.train, split.test, label, described(selector), 1000 * split.repeat + split.fold, TIME_LIMIT)
                keys[place] = fingerprint(latest[place]["data"], name, *asked)
    file = OWN / f"{name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    found = [json.loads(line) for line in file.open()] if file.exists() else []
    # What was measured on columns that another code has chosen since is measured anew. A row is known by what its
    # selector is called now: the columns are the same where a class has only moved.
    same = {row["key"] for row in found if row["kind"] == "fit" and _columns(row) == _columns(latest.get(_place(row), {}))}
    kept = [row for row in found if row["kind"] == "data"]
    kept += [row | {"key": keys[_place(row)]} for row in found if row.get("key") in same and _place(row) in keys]
    known = {row["key"] for row in kept if row["kind"] == "fit"}
    for place, key in keys.items():
        if key not in known:
            row = latest[place]
            kept.append(row | {"key": key, "sizes": [size for size in row.get("sizes", []) if size in data.sizes]})
    draft = file.with_suffix(".part")
    draft.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in kept))
    draft.replace(file)
    for count in sorted({min(most, repeats[label]) for label in chosen}):
        compare(
            {label: selector for label, selector in chosen.items() if min(most, repeats[label]) == count},
            X,
            y,
            sizes=data.sizes,
            models={label: model for label, model in MODELS[data.task].items() if label in wanted},
            task=data.task,
            repeats=count,
            results=file,
            name=name,
            n_jobs=jobs,
            time_limit=TIME_LIMIT,
            memory_limit=MEMORY_LIMIT,
            any_code=True,
        )
    print(name, flush=True)


def columns_of(name: str) -> dict[tuple[str, int, int], dict[str, Any]]:
    """The latest columns that ``run.py`` has of each method and fold."""
    rows = map(json.loads, (RAW / f"{name}.jsonl").open())
    return {_place(row): row for row in rows if row["kind"] == "fit"}


def _place(row: dict[str, Any]) -> tuple[str, int, int]:
    return row["selector"], row["repeat"], row["fold"]


def _columns(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a fit found, and by what code."""
    return tuple(row.get(field) for field in ("code", "status", "order", "sets"))


def scored(found: Comparison, model: str) -> Comparison:
    """The data sets that a model was measured on, and the fits whose columns it was measured on."""
    scores = {place: row for place, row in found.score_rows.items() if place[5] == model}
    names, places = {place[0] for place in scores}, {place[:4] for place in scores}
    fits = [
        row for place, row in found.fit_rows.items() if place in places or (place[0] in names and row["status"] != "ok")
    ]
    return Comparison([row for name, row in found.data.items() if name in names] + fits + list(scores.values()), TABLES)


def page() -> str:
    lines = [
        "# Other downstream models",
        "",
        "The columns are those of the tables for [classes](classification.md) and [numbers](regression.md), chosen without",
        "knowledge of any of these models but where a method has one of its own. Mean ranks as in [ranks.md](ranks.md).",
        "Made by `benchmarks/paper/models.py`.",
        "",
    ]
    for task, models in MODELS.items():
        for model in models:
            for label, slow in (("all methods, one repeat", True), ("fast methods, three repeats", False)):
                measured = scored(results(task, OWN), model)
                repeated = {place[0] for place in measured.score_rows if place[2]}
                if not measured.names or not (slow or set(measured.names) <= repeated):  # not yet
                    continue
                found = headline(measured, slow=slow, model=model)
                ranked = ", ".join(f"{method} {rank:.2f}" for method, rank in found.ranks().items())
                lines += [f"## {task.capitalize()}, {model}: {label}", "", *over_what(found), ""]
                lines += [f"{ranked}.", "", *duel_table(found, "EasyFS"), ""]
    return "\n".join([*lines, *made_with(*(results(task, OWN) for task in MODELS)), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(name for name, data in DATA_SETS.items() if data.file))
    parser.add_argument("--models", default=",".join(MODELS["regression"]))
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="only write the page")
    args = parser.parse_args()
    wanted = set(args.models.split(","))
    for name in args.data.split(",") if not args.page else ():
        measure(name, args.jobs, wanted, args.repeats)
    write("models.md", page())


if __name__ == "__main__":
    main()
