"""Run the confirmatory comparison, and keep every result as it comes.

    python benchmarks/confirm/run.py [--jobs 2] [--minutes 60] [--order methods] [--tables cells,ames] [--methods EasyFS,RF]

Tables are those of ``tables.toml``, made by ``make.py``; methods and models stand in ``field.py``. 10 and 30 columns; 5
folds, shuffled with seed 0, stratified for classes, rows that belong together on one side; one repeat, or more with
``--repeats``. Imputation, scaling and selection learn from the training rows alone, and all methods see the same folds. A
fit may take ``--time-limit`` seconds, and so may a model: methods that can stop by themselves stop there with the best so
far, and the row says so; any other is ended, and the row says that. Each row bears version, commit, date, machine, threads.
Results go to benchmarks/confirm/raw, one file a table; a rerun does only what is missing, and leaves what an earlier code
found: this is run once. ``page.py`` makes the page. With ``--raw`` they go to another folder, where only results of the
present code count; ``again.py`` compares the two.

``--order methods``: quick methods on all tables, then trees, then slow ones; within that small tables first.
``--order tables``: small tables first, all methods on each. ``--rehearse`` runs on made-up tables of the same shapes, into
another folder, to see how long it takes without touching the real ones.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from field import PHASES, SIZES, absent, entries, method_of, models
from make import TABLES, known, load

from easyfs.evaluation import compare
from easyfs.evaluation.provenance import made

HERE = Path(__file__).resolve().parent
RAW = HERE / "raw"
TIME_LIMIT = 60.0
MEMORY_LIMIT = 8000.0
FOLDS = 5


class TimeIsUpError(Exception):
    """The minutes that were given are over."""


def stamp(jobs: int, limit: float) -> dict[str, Any]:
    """What stands in each row: which code, when, where."""
    return {**made(), "jobs": jobs, "threads": max(1, (os.cpu_count() or 1) // jobs), "time_limit": limit}


def made_up(name: str) -> dict[str, np.ndarray]:
    """A table of random numbers with the shape of a real one, of which ten columns matter."""
    rng = np.random.default_rng(0)
    shape = known()[name]
    X = rng.standard_normal((shape["rows"], shape["columns"])) + 0.7 * rng.standard_normal((shape["rows"], 1))
    signal = X[:, :10].sum(axis=1) + 3.0 * rng.standard_normal(len(X))
    if "classes" not in shape:
        return {"X": X, "y": signal}
    return {"X": X, "y": np.argsort(np.argsort(signal)) * shape["classes"] // len(X)}


def plan(names: list[str], wanted: list[str] | None, order: str) -> list[tuple[str, list[str]]]:
    """Tables and labels in the order in which they are run."""
    by_size = sorted(names, key=lambda name: known()[name]["rows"] * known()[name]["columns"])
    steps = []
    for phase in PHASES:
        for name in by_size:
            field = entries(TABLES[name]["task"])
            labels = [k for k, e in field.items() if e.phase == phase and (wanted is None or method_of(k) in wanted)]
            if labels:
                steps.append((name, labels))
    return steps if order == "methods" else sorted(steps, key=lambda step: by_size.index(step[0]))


def run(name: str, labels: list[str], args: argparse.Namespace, mark: dict[str, Any], end: float) -> None:
    """Some methods on one table."""
    arrays = made_up(name) if args.rehearse else load(name)
    task = TABLES[name]["task"]
    start = time.monotonic()

    def progress(done: int, total: int, row: dict[str, Any]) -> None:
        if time.monotonic() > end:
            raise TimeIsUpError
        if row["status"] != "ok" or done == total:
            told = f"{row['selector']} {row['status']} {row.get('reason', '')}" if row["status"] != "ok" else "done"
            print(f"{name} {done}/{total} {time.monotonic() - start:.0f} s {told}", flush=True)

    field = entries(task)
    compare(
        {label: field[label].selector for label in labels},
        arrays["X"],
        arrays["y"],
        sizes=SIZES,
        models=models(task, known()[name].get("classes", 0)),
        task=task,
        folds=FOLDS,
        repeats=args.repeats,
        groups=arrays.get("groups"),
        results=args.raw / f"{name}.jsonl",
        name=name,
        n_jobs=args.jobs,
        time_limit=args.time_limit,
        memory_limit=MEMORY_LIMIT,
        progress=progress,
        stamp=mark,
        any_code=args.raw == RAW,
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--methods", help="names as in field.py; by default all")
    parser.add_argument("--order", choices=("methods", "tables"), default="methods")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--time-limit", type=float, default=TIME_LIMIT)
    parser.add_argument("--raw", type=Path, default=RAW)
    parser.add_argument("--rehearse", action="store_true", help="on made-up tables of the same shapes")
    parser.add_argument("--list", action="store_true", help="say what would be run, in which order")
    args = parser.parse_args()
    unknown = [name for name in args.tables.split(",") if name not in TABLES]
    if unknown:
        parser.error(f"there is no table {unknown[0]!r}; the names are {', '.join(TABLES)}")
    every = dict.fromkeys(method_of(label) for task in ("classification", "regression") for label in entries(task))
    unknown = [name for name in (args.methods or "").split(",") if name and name not in every]
    if unknown:
        parser.error(f"there is no method {unknown[0]!r}; the names are {', '.join(every)}")
    if args.rehearse and args.raw == RAW:
        args.raw = Path(tempfile.mkdtemp(prefix="easyfs-rehearsal-"))
    return args


def main() -> None:
    args = arguments()
    wanted = args.methods.split(",") if args.methods else None
    steps = plan(args.tables.split(","), wanted, args.order)
    for name in absent():
        print(f"not in this version of the library, so not run: {name}")
    if args.list:
        for name, labels in steps:
            print(f"{name} ({known()[name]['rows']} x {known()[name]['columns']}): {', '.join(labels)}")
        return
    mark, end, start = stamp(args.jobs, args.time_limit), time.monotonic() + 60.0 * args.minutes, time.monotonic()
    missing = []
    try:
        for name, labels in steps:
            try:
                run(name, labels, args, mark, end)
            except FileNotFoundError as error:
                missing.append(str(error))
    except TimeIsUpError:
        print("time is up; run again to go on")
    for text in dict.fromkeys(missing):
        print(text, file=sys.stderr)
    print(f"{(time.monotonic() - start) / 60:.1f} minutes; results in {args.raw}")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
