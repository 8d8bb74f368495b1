"""How the time of a fit grows with rows, columns, and columns that are chosen.

    python benchmarks/scale/costs.py [--repeats 5]

Tables of float32 in memory, two classes, the defaults; one of the three grows at a time. Each fit of a round in turn, so
that a busy second falls on all of them alike; median and range over the rounds, kept in benchmarks/raw/scale-costs.jsonl.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from easyfs import EasyFS

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import keep

ROWS, COLUMNS, CHOSEN = 100_000, 200, 20
CASES = {
    "rows": [(n, COLUMNS, CHOSEN) for n in (25_000, 50_000, 100_000, 200_000, 400_000, 800_000)],
    "columns": [(ROWS, d, CHOSEN) for d in (50, 100, 200, 400, 800, 1600)],
    "chosen": [(ROWS, 800, k) for k in (5, 10, 20, 40, 80, 160)],
}


def seconds(X: np.ndarray, y: np.ndarray, k: int) -> float:
    start = time.perf_counter()
    EasyFS(k, random_state=0).fit(X, y)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    for grows, sizes in CASES.items():
        whole = rng.standard_normal((max(n for n, _, _ in sizes), max(d for _, d, _ in sizes)), dtype=np.float32)
        y = (whole[:, :5].sum(axis=1) + rng.standard_normal(len(whole)) > 0).astype(int)
        tables = [(np.ascontiguousarray(whole[:n, :d]), y[:n], k) for n, d, k in sizes]
        with threadpool_limits(args.threads):
            rounds = [[seconds(*table) for table in tables] for _ in range(args.repeats + 1)][1:]
        for (n, d, k), times in zip(sizes, np.transpose(rounds).tolist(), strict=True):
            keep("scale-costs", grows=grows, rows=n, columns=d, chosen=k, seconds=times, threads=args.threads)
            print(
                f"{n:>9,} x {d:>5,}, {k:>3} chosen: {np.median(times):.2f} s [{min(times):.2f}, {max(times):.2f}]",
                flush=True,
            )


if __name__ == "__main__":
    main()
