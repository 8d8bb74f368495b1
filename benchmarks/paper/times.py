"""How much faster: EasyFS against spFSR, XGBoost, STG and LassoNet on TOX and COIL20, in one run.

    python benchmarks/paper/times.py [--data TOX,COIL20] [--limit 600]

All rows, 50 columns, the defaults of every method, two threads, one fit at a time. EasyFS: the median of five fits before
and five after each other method, so that a machine that slows down slows both. A method that can stop is stopped at the
limit; its ratio is then a lower bound, and marked so. Results go to benchmarks/paper/raw/times.jsonl. Writes
docs/results/times.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from datasets import get
from methods import METHODS
from run import RAW
from tables import write
from threadpoolctl import threadpool_limits

from easyfs.evaluation.provenance import made

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import made_with

FILE = RAW / "times.jsonl"
OTHERS = ("spFSR", "XGB", "STG", "LassoNet", "RF", "mRMR", "fastcan")
PAIRS = 5
CLAIMS = {"spFSR": "94 % less time (17 times)", "XGB": "20 times", "STG": "100 times", "LassoNet": "100 times"}


def seconds(label: str, X: np.ndarray, y: np.ndarray, task: str, limit: float) -> tuple[float, bool]:
    """Time of one fit, and whether it was stopped."""
    selector = METHODS[label].make()
    told = {"n_features_to_select": 50, "task": task, "random_state": 0, "time_limit": limit, "n_jobs": 2}
    selector.set_params(**{name: value for name, value in told.items() if name in selector.get_params()})
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, y)
    return time.perf_counter() - start, getattr(selector, "stop_reason_", "") == "time_limit"


def measure(name: str, limit: float) -> None:
    data = get(name)
    X, y = data.load()
    seconds("EasyFS", X, y, data.task, limit)  # warm up
    for other in OTHERS:
        around = [seconds("EasyFS", X, y, data.task, limit)[0] for _ in range(PAIRS)]
        theirs, stopped = seconds(other, X, y, data.task, limit)
        around += [seconds("EasyFS", X, y, data.task, limit)[0] for _ in range(PAIRS)]
        row = {
            "data": name,
            "shape": list(X.shape),
            "method": other,
            "seconds": theirs,
            "stopped": stopped,
            "easyfs": around,
        }
        with FILE.open("a") as stream:
            stream.write(json.dumps(row | made()) + "\n")
        print(
            name,
            other,
            f"{theirs:.3g} s, EasyFS {np.median(around):.3g} s: {theirs / np.median(around):.3g} times",
            flush=True,
        )


def page() -> str:
    latest = {(row["data"], row["method"]): row for row in map(json.loads, FILE.open())}
    lines = [
        "# How much faster",
        "",
        "One fit for 50 columns, all rows, two threads, the defaults of every method; EasyFS: median of ten fits around",
        "each other method's, and their quartiles. ≥: stopped at the limit. Made by `benchmarks/paper/times.py`.",
        "",
        "| data | method | seconds | EasyFS, seconds | times as long | claimed |",
        "|---|---|---|---|---|---|",
    ]
    for (name, method), row in latest.items():
        rows, columns = row["shape"]
        own = np.array(row["easyfs"])
        low, middle, high = np.quantile(own, [0.25, 0.5, 0.75])
        bound = "≥ " if row["stopped"] else ""
        lines.append(
            f"| {name}, {rows} x {columns} | {method} | {row['seconds']:.3g} | "
            f"{middle:.3g} [{low:.3g}, {high:.3g}] | {bound}{row['seconds'] / middle:.3g} | {CLAIMS.get(method, '')} |"
        )
    return "\n".join([*lines, "", *made_with(list(latest.values())), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="TOX,COIL20")
    parser.add_argument("--limit", type=float, default=600.0)
    parser.add_argument("--page", action="store_true", help="only write the page")
    args = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = "2"
    with threadpool_limits(2):
        for name in args.data.split(",") if not args.page else ():
            measure(name, args.limit)
    write("times.md", page())


if __name__ == "__main__":
    main()
