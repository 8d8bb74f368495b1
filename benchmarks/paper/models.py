"""Do the selections hold for other models? Nearest neighbours and ridge on the columns that ``run.py`` chose.

    python benchmarks/paper/models.py [--data ORL,YALE] [--jobs 2]

Five nearest neighbours, and ridge (for classes: on indicators of the classes), scikit-learn's defaults, at the paper's
two sizes, in all folds that ``run.py`` has fitted. Nothing is selected anew: the columns are those in benchmarks/paper/raw.
Results go to benchmarks/paper/raw/models; a rerun does only what is missing. Writes docs/results/models.md.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from datasets import DATA_SETS, get
from methods import methods_for
from run import MEMORY_LIMIT, RAW, TIME_LIMIT
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tables import duel_table, headline, results, write

from easyfs.evaluation import compare

OWN = RAW / "models"
MODELS: dict[str, dict[str, Any]] = {
    "classification": {"5 nearest neighbours": KNeighborsClassifier(), "ridge": RidgeClassifier()},
    "regression": {"5 nearest neighbours": KNeighborsRegressor(), "ridge": Ridge()},
}


def measure(name: str, jobs: int) -> None:
    data = get(name)
    fits = [row for row in map(json.loads, (RAW / f"{name}.jsonl").open()) if row["kind"] == "fit"]
    file = OWN / f"{name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    known = {row["key"] for row in map(json.loads, file.open()) if row["kind"] == "fit"} if file.exists() else set()
    with file.open("a") as stream:
        for row in fits:
            if row["key"] not in known:
                row["sizes"] = [size for size in row.get("sizes", []) if size in data.sizes]
                stream.write(json.dumps(row, separators=(",", ":")) + "\n")
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
            models=MODELS[data.task],
            task=data.task,
            repeats=repeats,
            results=file,
            name=name,
            n_jobs=jobs,
            time_limit=TIME_LIMIT,
            memory_limit=MEMORY_LIMIT,
        )
    print(name, flush=True)


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
                if not found.names:
                    continue
                test = found.friedman(over="means")
                ranked = ", ".join(f"{method} {rank:.2f}" for method, rank in found.ranks(over="means").items())
                lines += [f"## {task.capitalize()}, {model}: {label}", ""]
                lines += [f"{test.n_cells} cells ({', '.join(found.names)}). Friedman's test p = {test.p_value:.2g}.", ""]
                lines += [f"{ranked}.", "", *duel_table(found, "EasyFS"), ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(name for name, data in DATA_SETS.items() if data.file))
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    for name in args.data.split(","):
        measure(name, args.jobs)
    write("models.md", page())


if __name__ == "__main__":
    main()
