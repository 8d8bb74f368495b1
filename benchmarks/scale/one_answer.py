"""One answer: the same table in memory, in blocks, in files, in a database, on Dask, on Spark, on a device of torch.

Each engine fits the same table with both forms of EasyFS, and what it gives is compared with the answer of memory: the
whole order, how many are chosen, the gains. The paper's TOX, COIL20 and Wheat599 are read from the folder that EASYFS_DATA
names; the synthetic tables have 100,000 rows, so that the sample is drawn, and missing values, weights and categories.
Spark reads files in an order of its own, so its answer is compared with that of memory on the rows as Spark has them.

    python benchmarks/scale/one_answer.py [--tables TOX COIL20 ...] [--engines Parquet GPU ...] [--name one-answer]

One line a fit, as it goes; what is there already, of the same code, is not run again. The GPU takes part where there is
one. The exit status is 1 if any answer differs.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import easyfs
from easyfs import EasyFS, EasyFSRanking
from easyfs.engines import stream
from easyfs.evaluation.provenance import code_of

sys.path += [str(Path(__file__).resolve().parents[1] / folder) for folder in (".", "paper")]
from keeping import keep, rows_of

Columns = dict[str, Any]
FORMS = {"EasyFS": EasyFS, "EasyFSRanking": EasyFSRanking}
ROWS = 100_000


def synthetic(kind: str) -> tuple[Columns, str | None]:
    """A target of two columns, a product and a category, beside noise; with missing values."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((ROWS, 30))
    shop = rng.integers(0, 6, ROWS)
    told = X[:, 1] - 0.4 * X[:, 5] + 0.7 * X[:, 8] * X[:, 11] + 0.5 * (shop == 2) + rng.standard_normal(ROWS)
    X[rng.random(X.shape) < 0.02] = np.nan
    columns: Columns = {f"x{j}": X[:, j] for j in range(30)}
    if "categories" in kind:
        columns["shop"] = [f"shop {i}" for i in shop]
    columns["target"] = np.where(told > 2.5, "high", np.where(told > 0, "some", "low")) if "classes" in kind else told
    if "fractions" in kind:
        columns["weight"] = rng.uniform(0.2, 3.0, ROWS)
    if "counts" in kind:
        columns["weight"] = rng.integers(0, 3, ROWS)
    return columns, "weight" if "weight" in columns else None


def table(name: str) -> tuple[Columns, str | None]:
    if name.startswith("synthetic"):
        return synthetic(name)
    from datasets import get  # noqa: PLC0415

    X, y = get(name).load()
    X = np.asarray(X, dtype=np.float64)
    return {**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "target": np.asarray(y)}, None


def in_memory(columns: Columns) -> Any:
    """A table of polars, or of pandas where there is no polars."""
    try:
        from polars import DataFrame  # noqa: PLC0415
    except ImportError:
        from pandas import DataFrame  # noqa: PLC0415
    return DataFrame(columns)


TABLES = [
    *("TOX", "COIL20", "Wheat599-env1"),
    *("synthetic classes", "synthetic numbers", "synthetic classes fractions", "synthetic numbers counts"),
    *("synthetic classes categories", "synthetic numbers categories fractions"),
]


@contextmanager
def blocks(frame: Any, count: int) -> Iterator[Any]:
    """A LazyFrame that is read in so many batches."""
    before = stream.batch_rows
    stream.batch_rows = lambda n_columns: -(-len(frame) // count)  # noqa: ARG005
    try:
        yield frame.lazy()
    finally:
        stream.batch_rows = before


@contextmanager
def parquet(frame: Any) -> Iterator[Any]:
    with tempfile.TemporaryDirectory() as folder:
        edges = np.linspace(0, len(frame), 4).astype(int)
        for i in range(3):
            frame[edges[i] : edges[i + 1]].write_parquet(f"{folder}/part-{i}.parquet")
        yield easyfs.scan(folder)


@contextmanager
def duckdb(frame: Any) -> Iterator[Any]:
    import duckdb as library  # noqa: PLC0415

    with library.connect() as connection:
        connection.register("held", frame.to_arrow())
        connection.execute("CREATE TABLE kept AS SELECT * FROM held")
        yield connection.sql("SELECT * FROM kept")


@contextmanager
def dask(frame: Any, partitions: int) -> Iterator[Any]:
    import dask.dataframe as dd  # noqa: PLC0415
    from distributed import Client, LocalCluster  # noqa: PLC0415

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        yield dd.from_pandas(frame.to_pandas(), npartitions=partitions, sort=False)


@contextmanager
def spark(frame: Any) -> Iterator[Any]:
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[2]").appName("one answer").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.sql.codegen.maxFields", "200").config("spark.log.level", "ERROR")
    session = builder.getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        edges = np.linspace(0, len(frame), 4).astype(int)
        for i in range(3):
            frame[edges[i] : edges[i + 1]].write_parquet(f"{folder}/part-{i}.parquet")
        yield session.read.parquet(folder)
    session.stop()


@contextmanager
def lazy(frame: Any) -> Iterator[Any]:
    yield frame.lazy()


ENGINES: dict[str, Any] = {
    "LazyFrame": lazy,
    "1 block": lambda frame: blocks(frame, 1),
    "7 blocks": lambda frame: blocks(frame, 7),
    "100 blocks": lambda frame: blocks(frame, 100),
    "Parquet": parquet,
    "DuckDB": duckdb,
    "Dask, 2 partitions": lambda frame: dask(frame, 2),
    "Dask, 5 partitions": lambda frame: dask(frame, 5),
    "Spark, 2 workers": spark,
    "torch": None,
    "GPU": None,
}
DEVICES = {"torch": "cpu", "GPU": "cuda"}


def fitted(form: Any, given: Any, y: Any, weight: Any) -> tuple[Any, float]:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = form(random_state=0, **({"interactions": True} if form is EasyFS else {})).fit(given, y, weight)
    return selector, time.perf_counter() - start


def on_torch(form: Any, columns: Columns, weight: str | None, device: str) -> tuple[Any, float] | None:
    """A tensor in float64; None of a table that is no matrix of numbers."""
    import torch  # noqa: PLC0415

    features = [values for name, values in columns.items() if name not in ("target", "weight")]
    if not all(isinstance(values, np.ndarray) for values in features) or (weight and not (columns[weight] > 0).all()):
        return None
    X = torch.as_tensor(np.column_stack(features), dtype=torch.float64, device=device)
    return fitted(form, X, columns["target"], None if weight is None else columns[weight])


def engines() -> list[str]:
    """Those that can be run here."""
    import torch  # noqa: PLC0415

    return [name for name in ENGINES if name != "GPU" or torch.cuda.is_available()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--engines", nargs="+", default=engines(), choices=list(ENGINES))
    parser.add_argument("--name", default="one-answer", help="Of the file of results, in benchmarks/raw.")
    options = parser.parse_args()
    codes = {form: code_of(kind()) for form, kind in FORMS.items()}
    known = [row for row in rows_of(options.name) if row.get("code") == codes[row["form"]]]
    done = {(row["table"], row["engine"], row["form"]): row for row in known}
    for name in options.tables:
        columns, weight = table(name)
        frame = in_memory(columns)
        wanted = {form: fitted(kind, frame, "target", weight) for form, kind in FORMS.items()}
        for engine in options.engines:
            if all((name, engine, form) in done for form in FORMS):
                continue
            for row in compared(name, (columns, frame, weight), engine, wanted):
                done[row["table"], row["engine"], row["form"]] = keep(options.name, **row, code=codes[row["form"]])
                print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
    return int(any(not row["same"] for row in done.values()))


def compared(
    name: str, given: tuple[Columns, Any, str | None], engine: str, wanted: dict[str, tuple[Any, float]]
) -> Iterator[dict[str, Any]]:
    columns, frame, weight = given

    def row(form: str, found: Any, seconds: float) -> dict[str, Any]:
        memory, took = wanted[form]
        same = found.order_.tolist() == memory.order_.tolist() and found.n_features_ == memory.n_features_
        gap = float(np.abs(found.gains_ - memory.gains_).max()) if same else None
        return {
            "table": name,
            "engine": engine,
            "form": form,
            "same": same,
            "chosen": int(found.n_features_),
            "gains_differ_by": gap,
            "seconds": round(seconds, 2),
            "seconds_in_memory": round(took, 2),
        }

    if engine in DEVICES:
        for form, kind in FORMS.items():
            found = on_torch(kind, columns, weight, DEVICES[engine])
            if found is not None:
                yield row(form, *found)
        return
    with ENGINES[engine](frame) as there:
        if engine.startswith("Spark"):
            import polars as pl  # noqa: PLC0415

            as_read = pl.from_arrow(there.toArrow())
            wanted = {form: fitted(kind, as_read, "target", weight) for form, kind in FORMS.items()}
        for form, kind in FORMS.items():
            yield row(form, *fitted(kind, there, "target", weight))


if __name__ == "__main__":
    sys.exit(main())
