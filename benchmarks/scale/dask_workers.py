"""How the sums over rows spread over Dask workers: one and two workers of a single thread each.

The table is made by the workers themselves, partition by partition, from a seed, and stays with them; the client gets one
sample and one sum. Times are those of the scan and of the summing phase, each the smallest of some rounds, and of one fit;
making the rows is timed apart.

    python benchmarks/scale/dask_workers.py [--rows 2000000] [--columns 200] [--partitions 40] [--workers 1 2] [--rounds 3]
"""

from __future__ import annotations

import argparse
import pickle
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from easyfs import EasyFS
from easyfs.common.version import VERSION
from easyfs.engines.dask import of_dask
from easyfs.engines.parts import Summing
from easyfs.engines.sampling import scan
from easyfs.passes.block import Block
from easyfs.passes.make_plan import make_plan
from easyfs.tables.target import check_target

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import keep


def rows_of(number: int, n_rows: int, n_columns: int) -> np.ndarray:
    """A partition: the target is in the last column, the sign of a sum of the first ones."""
    rng = np.random.default_rng([20, number])
    rows = rng.standard_normal((n_rows, n_columns + 1), dtype=np.float32)
    rows[:, -1] = rows[:, :5].sum(axis=1) + rows[:, -1] > 0
    return rows


def made_by_workers(n_rows: int, n_columns: int, n_partitions: int) -> tuple[Any, Any]:
    make, size = dask.delayed(rows_of), n_rows // n_partitions
    whole = da.concatenate(
        [da.from_delayed(make(j, size, n_columns), (size, n_columns + 1), np.float32) for j in range(n_partitions)]
    ).persist()
    wait(whole)
    X, y = whole[:, :-1].persist(), whole[:, -1].astype(np.int64).persist()
    wait([X, y])
    return X, y


def summing_of(X: Any, y: Any, rounds: int) -> tuple[Summing, float]:
    """What each partition is summed by, made from the sample as ``fit`` does, and seconds of the scan, the fewest."""
    selector = EasyFS(10, random_state=0)
    seed, rng = selector._seed()
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        table = of_dask(X, y)
        rows, stands_for = table.reduce(partial(scan, seed=seed, table_rows=table.n_rows)).sample()
        seconds.append(time.perf_counter() - start)
    matrix = selector._check_table(rows.held.table(), reset=True, count=False)
    target = check_target(rows.y, len(matrix), "auto")
    sample = Block(matrix, target, None, stands_for, float(rows.n_rows))
    plan = make_plan(sample, selector._plan_settings(), selector._constraints(), seed, rng).plan
    return Summing(plan.light(), None, target, VERSION), min(seconds)


def measured(n_workers: int, options: argparse.Namespace) -> dict[str, float]:
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster),
    ):
        start = time.perf_counter()
        X, y = made_by_workers(options.rows, options.columns, options.partitions)
        made = time.perf_counter() - start
        summing, scanned = summing_of(X, y, options.rounds)
        times, summed = [], None
        for _ in range(options.rounds):
            start = time.perf_counter()
            summed = of_dask(X, y).reduce(summing)
            times.append(time.perf_counter() - start)
        start = time.perf_counter()
        EasyFS(10, random_state=0).fit(X, y)
        fitted = time.perf_counter() - start
        return {
            "made": made,
            "scan": scanned,
            "sums": min(times),
            "fit": fitted,
            "summing": len(pickle.dumps(summing)),
            "summed": len(pickle.dumps(summed)),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=200)
    parser.add_argument("--partitions", type=int, default=40)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    bytes_of_rows = options.rows * options.columns * 4
    print(f"{options.rows:,} x {options.columns} float32 in {options.partitions} partitions, {bytes_of_rows:,} bytes")
    head = f"{'workers':>7} {'make':>8} {'scan':>8} {'sums':>8} {'fit':>8} {'speed-up':>8}"
    print(f"{head}  bytes of one sum, and of what is sent to make it")
    first = None
    for n_workers in options.workers:
        found = measured(n_workers, options)
        first = first or found["sums"]
        asked = {"rows": options.rows, "columns": options.columns, "partitions": options.partitions}
        keep("scale-dask", workers=n_workers, **asked, **found)
        print(
            f"{n_workers:>7} {found['made']:7.2f}s {found['scan']:7.2f}s {found['sums']:7.2f}s {found['fit']:7.2f}s "
            f"{first / found['sums']:7.2f}x  {found['summed']:,}, {found['summing']:,}",
            flush=True,
        )


if __name__ == "__main__":
    main()
