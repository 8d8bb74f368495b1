"""Do the selections hold for other models? Neighbours, ridge and gradient boosting on the columns that ``run.py`` chose.

    python benchmarks/paper/models.py [--data ORL,YALE] [--models "gradient boosting"] [--jobs 2]

Five nearest neighbours, ridge (for classes: on indicators of the classes) and gradient boosting on histograms,
scikit-learn's defaults, at the paper's two sizes, in all folds that ``run.py`` has fitted. Nothing is selected anew: the
columns are those in benchmarks/paper/raw.
Results go to benchmarks/paper/raw/models; a rerun does only what is missing. Writes docs/results/models.md.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from datasets import DATA_SETS, get
from methods import methods_for
from run import MEMORY_LIMIT, RAW, TIME_LIMIT
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tables import duel_table, headline, over_what, results, write

from easyfs.evaluation import compare

OWN = RAW / "models"
MODELS: dict[str, dict[str, Any]] = {
    "classification": {
        "5 nearest neighbours": KNeighborsClassifier(),
        "ridge": RidgeClassifier(),
        "gradient boosting": HistGradientBoostingClassifier(),
    },
    "regression": {
        "5 nearest neighbours": KNeighborsRegressor(),
        "ridge": Ridge(),
        "gradient boosting": HistGradientBoostingRegressor(),
    },
}


def measure(name: str, jobs: int, wanted: set[str]) -> None:
    data = get(name)
    fits = [row for row in map(json.loads, (RAW / f"{name}.jsonl").open()) if row["kind"] == "fit"]
    file = OWN / f"{name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    # What was measured on columns that another code has chosen since is measured anew.
    latest = {row["key"]: row for row in fits}
    kept = [row for row in map(json.loads, file.open()) if _is_of(row, latest)] if file.exists() else []
    known = {row["key"] for row in kept if row["kind"] == "fit"}
    for key, row in latest.items():
        if key not in known:
            kept.append(row | {"sizes": [size for size in row.get("sizes", []) if size in data.sizes]})
    draft = file.with_suffix(".part")
    draft.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in kept))
    draft.replace(file)
    X, y = data.load()
    measured: dict[str, int] = {}
    for row in fits:
        measured[row["selector"]] = max(measured.get(row["selector"], 0), 1 + row["repeat"])
    methods = {label: method for label, method in methods_for(data.task).items() if label in measured}
    for repeats in sorted({measured[label] for label in methods}):
        chosen = {label: method.make() for label, method in methods.items() if measured[label] == repeats}
        compare(
            chosen,
            X,
            y,
            sizes=data.sizes,
            models={label: model for label, model in MODELS[data.task].items() if label in wanted},
            task=data.task,
            repeats=repeats,
            results=file,
            name=name,
            n_jobs=jobs,
            time_limit=TIME_LIMIT,
            memory_limit=MEMORY_LIMIT,
            any_code=True,
        )
    print(name, flush=True)


def _is_of(row: dict[str, Any], latest: dict[str, dict[str, Any]]) -> bool:
    """Whether a row is of the latest columns of its fit."""
    return row["kind"] == "data" or (row["key"] in latest and row.get("code") == latest[row["key"]].get("code"))


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
                found = headline(results(task, OWN), slow=slow, model=model)
                if not found.score_rows:  # not measured yet
                    continue
                ranked = ", ".join(f"{method} {rank:.2f}" for method, rank in found.ranks().items())
                lines += [f"## {task.capitalize()}, {model}: {label}", "", *over_what(found), ""]
                lines += [f"{ranked}.", "", *duel_table(found, "EasyFS"), ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(name for name, data in DATA_SETS.items() if data.file))
    parser.add_argument("--models", default=",".join(MODELS["classification"]))
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    wanted = set(args.models.split(","))
    for name in args.data.split(","):
        measure(name, args.jobs, wanted)
    write("models.md", page())


if __name__ == "__main__":
    main()
