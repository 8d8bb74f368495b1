"""How long EasyFS takes on a Spark table, beside ``pyspark.ml.stat.Correlation.corr`` on the same rows.

    python benchmarks/scale/spark_correlation.py [--rows 1000000] [--columns 100] [--partitions 8] [--repeats 3]

The table is written to Parquet and read from there by both: as columns of numbers by EasyFS, as a column of vectors, which
VectorAssembler makes of them, by the correlation (and, for comparison, by EasyFS). Correlation gives the matrix of
Pearson's correlations and selects nothing. EasyFS reads the rows three times (they are counted, a sample is drawn, sums
are made) and selects. Medians after one run that is not counted. Runs in local mode.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.stat import Correlation
from pyspark.sql import SparkSession

from easyfs import EasyFS

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import keep


def session(cores: int, memory: str) -> Any:
    settings = {
        "spark.driver.memory": memory,
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("easyfs")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def write(folder: str, n: int, d: int, n_files: int) -> None:
    """Rows of related columns, in as many files as there are partitions."""
    rng = np.random.default_rng(0)
    mixing = rng.standard_normal((10, d))
    for number in range(n_files):
        rows = (number + 1) * n // n_files - number * n // n_files
        X = rng.standard_normal((rows, d)) + 0.5 * rng.standard_normal((rows, 10)) @ mixing
        y = (X[:, :5].sum(axis=1) + rng.standard_normal(rows) > 0).astype(float)
        table = pa.table({**{f"x{j}": X[:, j] for j in range(d)}, "label": y})
        pq.write_table(table, os.path.join(folder, f"part-{number:04d}.parquet"))


def seconds(function: Callable[[], Any], repeats: int) -> tuple[list[float], Any]:
    found, times = function(), []
    for _ in range(repeats):
        start = time.perf_counter()
        found = function()
        times.append(time.perf_counter() - start)
    return times, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory", default="1g")
    args = parser.parse_args()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    spark = session(args.cores, args.memory)
    print(
        f"Spark {spark.version}, local[{args.cores}], {args.rows:,} x {args.columns}, {args.partitions} files", flush=True
    )
    with tempfile.TemporaryDirectory() as folder:
        write(folder, args.rows, args.columns, args.partitions)
        frame = spark.read.parquet(folder)
        names = [f"x{j}" for j in range(args.columns)]
        vectors = VectorAssembler(inputCols=names, outputCol="features").transform(frame).select("features", "label")
        print(f"{frame.rdd.getNumPartitions()} partitions; load {os.getloadavg()[0]:.1f}", flush=True)
        cases: dict[str, Callable[[], Any]] = {
            "Correlation.corr": lambda: Correlation.corr(vectors, "features").head(),
            "EasyFS(20), columns": lambda: EasyFS(20, random_state=0).fit(frame, "label"),
            "EasyFS(20), columns, no joint effects": lambda: EasyFS(20, interactions=False, random_state=0).fit(
                frame, "label"
            ),
            "EasyFS(20), vectors": lambda: EasyFS(20, random_state=0).fit(vectors, "label"),
        }
        found = {}
        for name, function in cases.items():
            times, found[name] = seconds(function, args.repeats)
            keep("scale-spark", rows=args.rows, columns=args.columns, cores=args.cores, case=name, seconds=times)
            print(f"{name:<40} {np.median(times):7.2f} s [{min(times):.2f}, {max(times):.2f}]", flush=True)
        same = (found["EasyFS(20), columns"].order_ == found["EasyFS(20), vectors"].order_).all()
        print(f"the same order of columns both ways: {same}; load {os.getloadavg()[0]:.1f}")
    spark.stop()


if __name__ == "__main__":
    main()
