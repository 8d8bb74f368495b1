"""A very wide table with many rows: 100,000 columns whose products with each other would take 80 GB.

The table is a Dask array, whose chunks are made from a seed each time they are read, so it is never in memory as a whole.
Six columns matter: four by themselves, two only as a product. Prints what was compared, what was given up, what was found,
how long it took and the peak memory of the process; the same with narrower tables, to show how both grow.

    python benchmarks/scale/wide.py [--rows 20000] [--columns 20000 100000] [--memory-limit 2]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import dask
import dask.array as da
import numpy as np

from easyfs import EasyFS
from easyfs.evaluation.cell import peak_memory

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import keep

CHUNK = 1000
TRUE = (11, 222, 3333, 14_444, 15_555, 16_666)


def rows_of(number: int, n_columns: int) -> np.ndarray:
    return np.random.default_rng([3, number]).standard_normal((CHUNK, n_columns), dtype=np.float32)


def target(n_rows: int, n_columns: int) -> np.ndarray:
    parts = []
    for number in range(n_rows // CHUNK):
        X = rows_of(number, n_columns)[:, TRUE]
        noise = np.random.default_rng([4, number]).standard_normal(CHUNK)
        parts.append(X[:, 0] + 0.7 * X[:, 1] + 0.5 * X[:, 2] + 0.3 * X[:, 3] + 0.8 * X[:, 4] * X[:, 5] + noise)
    return np.concatenate(parts)


def fit(n_rows: int, n_columns: int, memory_limit: float) -> dict[str, object]:
    y = target(n_rows, n_columns)
    make = dask.delayed(rows_of)
    chunks = [da.from_delayed(make(i, n_columns), (CHUNK, n_columns), np.float32) for i in range(n_rows // CHUNK)]
    start = time.perf_counter()
    workers = dask.config.set(scheduler="threads", num_workers=2)
    with warnings.catch_warnings(), workers, peak_memory() as memory:
        warnings.simplefilter("ignore")
        selector = EasyFS(6, memory_limit=memory_limit, random_state=0).fit(da.concatenate(chunks), y)
    return {
        "seconds": round(time.perf_counter() - start, 1),
        "peak_mb": round(memory.peak),
        "peak_mb_before": round(memory.before),
        "found": sorted(int(j) for j in selector.order_[:6]),
        "screened": None if selector.screened_ is None else str(selector.screened_),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--memory-limit", type=float, default=2.0)
    parser.add_argument("--here", action="store_true", help="In this process; not for you.")
    options = parser.parse_args()
    for n_columns in options.columns:
        if options.here:
            print(json.dumps(fit(options.rows, n_columns, options.memory_limit)))
            continue
        again = [sys.executable, __file__, "--here", f"--rows={options.rows}", f"--columns={n_columns}"]
        done = subprocess.run(
            [*again, f"--memory-limit={options.memory_limit}"], check=True, capture_output=True, text=True
        )
        found = json.loads(done.stdout)
        keep("scale-wide", rows=options.rows, columns=n_columns, memory_limit=options.memory_limit, **found)
        true = sorted(set(found["found"]) & set(TRUE))
        print(f"{options.rows:,} x {n_columns:,}, memory_limit={options.memory_limit:g}: {found['seconds']} s, peak "
              f"{found['peak_mb']:,} MB ({found['peak_mb_before']:,} MB before), {len(true)} of 6 found")  # fmt: skip
        print(f"    {found['screened'] or 'all columns were compared'}", flush=True)


if __name__ == "__main__":
    main()
