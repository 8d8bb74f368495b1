"""Run the paper's tables and curves, and keep every result as it comes.

    python benchmarks/paper/run.py [--data ORL,YALE] [--methods EasyFS,RF] [--repeats 3] [--minutes 60] [--jobs 2]

Five folds, shuffled, stratified for classes; three repeats, one for the slow methods (spFSR, LassoNet, STG). Selection,
scaling and imputation happen inside the training rows. Linear SVM for classes, SVR with RBF kernel for numbers,
scikit-learn's defaults. A fit may take two minutes: methods that can stop by themselves stop there with the best so far,
and the row says so; any other is ended and the row says that. Results go to benchmarks/paper/raw, one file a data set; a
rerun does only what is missing. ``tables.py`` makes tables and figures from them.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from datasets import DATA_SETS, get
from methods import METHODS, methods_for

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
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    end = time.monotonic() + 60.0 * args.minutes
    wanted = args.methods.split(",")
    try:
        for slow in (False, True):
            for name in args.data.split(","):
                run(name, wanted, slow, args.repeats, args.jobs, end)
    except TimeIsUpError:
        print("time is up; run again to go on")


def run(name: str, wanted: list[str], slow: bool, repeats: int, jobs: int, end: float) -> None:
    """One data set, the fast or the slow methods."""
    data = get(name)
    if not data.available:
        print(f"{name}: {data.note or 'not found'}")
        return
    chosen = {label: m for label, m in methods_for(data.task).items() if label in wanted and m.slow == slow}
    if not chosen:
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
        {label: method.make() for label, method in chosen.items()},
        X,
        y,
        sizes=data.curve,
        task=data.task,
        repeats=1 if slow else repeats,
        results=RAW / f"{name}.jsonl",
        name=name,
        n_jobs=jobs,
        time_limit=TIME_LIMIT,
        memory_limit=MEMORY_LIMIT,
        progress=progress,
    )


if __name__ == "__main__":
    main()
