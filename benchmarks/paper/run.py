"""Run the paper's tables and curves, and keep every result as it comes.

    python benchmarks/paper/run.py [--data ORL,YALE] [--methods EasyFS,RF] [--repeats 3] [--seeds 1] [--jobs 2]

Five folds, shuffled, stratified for classes; three repeats, one for the slow methods (spFSR, LassoNet, STG). Selection,
scaling and imputation happen inside the training rows. With ``--seeds 5`` the methods named in ``--seeded`` (EasyFS) are
fitted with five seeds of their own on the same folds; tables then show their means over the seeds, and the spread.
Linear SVM for classes, SVR with RBF kernel for numbers,
scikit-learn's defaults. A fit may take two minutes: methods that can stop by themselves stop there with the best so far,
and the row says so; any other is ended and the row says that. Results go to benchmarks/paper/raw, one file a data set; a
rerun does only what is missing, or was found by other code (``--any-code`` keeps that). ``tables.py`` makes tables and
figures from them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from datasets import DATA_SETS, get
from methods import METHODS, Method, methods_for, seeded

from easyfs.evaluation import compare

RAW = Path(__file__).resolve().parent / "raw"
TIME_LIMIT = 120.0
MEMORY_LIMIT = 8000.0


class TimeIsUpError(Exception):
    """The minutes that were given are over."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(name for name, data in DATA_SETS.items() if data.file))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seeded", default="EasyFS")
    parser.add_argument("--any-code", action="store_true")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    end = time.monotonic() + 60.0 * args.minutes
    wanted = args.methods.split(",")
    for unknown in set(wanted + args.seeded.split(",")) - set(METHODS):
        raise SystemExit(f"there is no method {unknown!r}; the names are {', '.join(METHODS)}")
    try:
        for slow in (False, True):
            for name in args.data.split(","):
                methods = {m: METHODS[m] for m in wanted if m in methods_for(get(name).task) and METHODS[m].slow == slow}
                methods |= seeded([m for m in args.seeded.split(",") if m in methods], args.seeds)
                run(name, methods, 1 if slow else args.repeats, args, end)
    except TimeIsUpError:
        print("time is up; run again to go on")


def run(name: str, methods: dict[str, Method], repeats: int, args: argparse.Namespace, end: float) -> None:
    """Some methods on one data set."""
    data = get(name)
    if not data.available:
        print(f"{name}: {data.note or 'not found'}")
        return
    if not methods:
        return
    X, y = data.load()
    start = time.monotonic()
    last = [start]

    def progress(done: int, total: int, row: dict[str, Any]) -> None:
        now = time.monotonic()
        if now > end:
            raise TimeIsUpError
        if row["status"] != "ok" or now - last[0] > 60 or done == total:
            last[0] = now
            reason = row.get("reason", "")
            print(f"{name} {done}/{total} {now - start:.0f} s {row['selector']} {row['status']} {reason}", flush=True)

    compare(
        {label: method.make() for label, method in methods.items()},
        X,
        y,
        sizes=data.curve,
        task=data.task,
        repeats=repeats,
        results=RAW / f"{name}.jsonl",
        name=name,
        n_jobs=args.jobs,
        time_limit=TIME_LIMIT,
        memory_limit=MEMORY_LIMIT,
        any_code=args.any_code,
        progress=progress,
    )


if __name__ == "__main__":
    main()
