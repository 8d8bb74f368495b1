"""How fast and how lean the published methods are here, beside the libraries that people use for them.

    python benchmarks/baselines.py [--threads 2] [--rounds 3] [--part race,memory,large]

race: ReliefF against skrebate at 2000 x 200, k = 10; mRMR against mrmrs at 2000 x 2000, 50 columns: ratios of the best of a
few rounds, taken in turns in one process, and how far the results differ. memory: what a fit adds at the peak while rows
double. large: 20,000 x 300, every method that trains no model, time and peak memory of the whole process (each in its own).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from easyfs import available_selectors, make_selector
from easyfs.evaluation.cell import peak_memory
from keeping import keep, made_with, rows_of


def table(n: int, d: int, task: str = "classification") -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n)
    return X, signal if task == "regression" else (signal > 0).astype(int)


def in_turns(contenders: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Best time of each, run one after the other in every round, and what each gave."""
    best = dict.fromkeys(contenders, np.inf)
    gave = {}
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            gave[name] = run()
            best[name] = min(best[name], time.perf_counter() - start)
    return best, gave


def race(rounds: int, threads: int) -> None:
    from skrebate import ReliefF  # noqa: PLC0415

    X, y = table(2000, 200)
    best, gave = in_turns(
        {
            "easyfs": lambda: make_selector("relieff", 20, n_neighbors=10).fit(X, y).scores_,
            "skrebate": lambda: ReliefF(20, n_neighbors=10, n_jobs=threads).fit(X, y).feature_importances_,
        },
        rounds,
    )
    apart = np.abs(gave["easyfs"] - gave["skrebate"]).max()
    ratio = best["skrebate"] / best["easyfs"]
    keep("baselines", part="race", case="ReliefF, 2000 x 200, k = 10", threads=threads, seconds=best, apart=float(apart))
    print(f"ReliefF 2000 x 200, k = 10: easyfs {best['easyfs']:.3f} s, skrebate {best['skrebate']:.2f} s: ", end="")
    print(f"{ratio:.1f} times faster; scores differ by at most {apart:.1e}", flush=True)

    import mrmrs  # noqa: PLC0415
    import polars as pl  # noqa: PLC0415

    X, y = table(2000, 2000)
    frame, labels = pl.DataFrame(X, schema=[str(j) for j in range(X.shape[1])]), pl.Series(y)
    best, gave = in_turns(
        {
            "easyfs": lambda: list(make_selector("mrmr", 50).fit(X, y).order_[:50]),
            "mrmrs": lambda: [int(feature.name) for feature in mrmrs.mrmr(frame, labels, 50, "classification")],
        },
        rounds,
    )
    same = len(set(gave["easyfs"]) & set(gave["mrmrs"]))
    keep("baselines", part="race", case="mRMR, 2000 x 2000, 50 columns", threads=threads, seconds=best, same=same)
    print(f"mRMR 2000 x 2000, 50 columns: easyfs {best['easyfs']:.3f} s, mrmrs {best['mrmrs']:.3f} s: ", end="")
    print(f"{best['mrmrs'] / best['easyfs']:.1f} times faster; {same} of 50 columns are the same", flush=True)


def one(name: str, n: int, d: int, threads: int) -> None:
    """One fit in this process; prints what it took."""
    task = "classification"
    X, y = table(n, d, task)
    selector = make_selector(name, 50)
    with threadpool_limits(threads), peak_memory() as memory:
        start = time.perf_counter()
        selector.fit(X, y)
        seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "added": memory.added, "process": memory.peak}))


def apart(name: str, n: int, d: int, threads: int) -> dict[str, float]:
    """One fit in a fresh process."""
    command = [sys.executable, __file__, "--one", name, str(n), str(d), "--threads", str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def memory(threads: int) -> None:
    print(
        "memory that a fit adds at its peak (50 columns), rows doubling: n x k would double, n squared would be four times"
    )
    for name in ("relieff", "spec", "mcfs", "laplacian_score"):
        sizes = (5000, 10_000, 20_000)
        added = [apart(name, n, 50, threads)["added"] for n in sizes]
        keep("baselines", part="memory", case=name, threads=threads, rows=sizes, added_mb=added)
        cells = "  ".join(f"{n}: {mb:.0f} MB" for n, mb in zip(sizes, added, strict=True))
        print(f"  {name:<18} {cells}  ({added[2] / added[0]:.1f} times from 5000 to 20,000)", flush=True)


def large(threads: int) -> None:
    print("20,000 x 300, 50 columns: seconds, peak memory of the process")
    for info in available_selectors("classification"):
        if info.kind == "model-free":
            found = apart(info.name, 20_000, 300, threads)
            keep("baselines", part="large", case=info.name, threads=threads, **found)
            print(f"  {info.name:<20} {found['seconds']:8.2f} s  {found['process']:6.0f} MB", flush=True)


def page() -> str:
    """The last run of each case."""
    found = {(row["part"], row["case"]): row for row in rows_of("baselines")}
    race = [row for (part, _), row in found.items() if part == "race"]
    memory = [row for (part, _), row in found.items() if part == "memory"]
    large = [row for (part, _), row in found.items() if part == "large"]
    lines = ["# The other methods: time and memory", "", "Made by `benchmarks/baselines.py`.", ""]
    if race:
        lines += ["| | here | another library | times as long | |", "|---|---|---|---|---|"]
        for row in race:
            (other, theirs), own = next(e for e in row["seconds"].items() if e[0] != "easyfs"), row["seconds"]["easyfs"]
            same = f"scores differ by {row['apart']:.0e}" if "apart" in row else f"{row['same']} of 50 columns are the same"
            lines.append(f"| {row['case']} | {own:.3f} s | {other} {theirs:.3f} s | {theirs / own:.1f} | {same} |")
        lines += ["", "Best of a few rounds, in turn.", ""]
    if large:
        lines += ["20,000 x 300, 50 columns, a fresh process each:", "", "| method | seconds | peak of the process |"]
        lines += ["|---|---|---|"]
        lines += [f"| {row['case']} | {row['seconds']:.2f} | {row['process']:.0f} MB |" for row in large]
        lines += [""]
    if memory:
        sizes = memory[0]["rows"]
        lines += ["Memory that a fit of 50 columns adds at its peak:", ""]
        lines += [f"| method | {' | '.join(f'{n:,} rows' for n in sizes)} |", "|---|" + "---|" * len(sizes)]
        lines += [f"| {row['case']} | {' | '.join(f'{mb:.0f} MB' for mb in row['added_mb'])} |" for row in memory]
        lines += [""]
    return "\n".join([*lines, *made_with([*race, *large, *memory]), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--part", default="race,memory,large")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--one", nargs=3, metavar=("NAME", "ROWS", "COLUMNS"), help="one fit, for the other parts")
    args = parser.parse_args()
    if args.one:
        one(args.one[0], int(args.one[1]), int(args.one[2]), args.threads)
        return
    from measuring import PAGES, write  # noqa: PLC0415 (not where memory is measured)

    if args.page:
        write(page(), PAGES / "baselines.md")
        return
    print(f"{args.threads} threads")
    parts = args.part.split(",")
    with threadpool_limits(args.threads):
        if "race" in parts:
            race(args.rounds, args.threads)
        if "memory" in parts:
            memory(args.threads)
        if "large" in parts:
            large(args.threads)
    write(page(), PAGES / "baselines.md")


if __name__ == "__main__":
    main()
