"""What more threads bring: EasyFS in memory, with and without the search for joint effects, beside ``X.T @ X``.

    python benchmarks/scale/cores.py [--threads 1,2,4,8,16] [--repeats 7]

Tables of float32, two classes, 50 columns chosen. Medians after one fit that is not counted, a tenth of a second after what
went before; kept in benchmarks/raw/scale-cores.jsonl.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from easyfs import EasyFS

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import keep

SIZES = ((2_000, 2_000), (1_000_000, 1_000))
PAUSE = 0.1


def seconds(function: Callable[[], object], repeats: int) -> float:
    function()
    found = []
    for _ in range(repeats):
        time.sleep(PAUSE)
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return float(np.median(found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2,4,8,16")
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    for n, d in SIZES:
        X = rng.standard_normal((n, d), dtype=np.float32)
        y = (X[:, :10].sum(axis=1) > 0).astype(int)
        for threads in map(int, args.threads.split(",")):
            repeats = args.repeats if n < 10**6 else 1
            with threadpool_limits(threads):
                times = {
                    "gram": seconds(lambda X=X: X.T @ X, repeats),
                    "fit": seconds(lambda X=X, y=y: EasyFS(50, random_state=0).fit(X, y), repeats),
                    "without_joint_effects": seconds(
                        lambda X=X, y=y: EasyFS(50, interactions=False, random_state=0).fit(X, y), repeats
                    ),
                }
            keep("scale-cores", rows=n, columns=d, threads=threads, repeats=repeats, **times)
            shown = ", ".join(f"{step} {1e3 * found:.0f} ms" for step, found in times.items())
            print(f"{n:,} x {d:,}, {threads} threads: {shown}", flush=True)


if __name__ == "__main__":
    main()
