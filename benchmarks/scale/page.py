"""The page of large tables, docs/results/scale.md, from the rows that the scripts of this folder keep.

    python benchmarks/scale/page.py [--out docs/results/scale.md]

The last run of each case counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import Row, made_with, rows_of
from measuring import PAGES, table_head, write

WRITTEN = {"plain": "plain", "pyarrow": "as pyarrow does", "polars": "as polars does"}
STEPS = ("pyarrow", "read", "products")


def last(name: str, key: Callable[[Row], Any]) -> list[Row]:
    """The last row of each case, in the order in which cases were first run."""
    return list({key(row): row for row in rows_of(name)}.values())


def spread(values: Iterable[float], digits: int = 2) -> str:
    """Median, and range."""
    found = list(values)
    return f"{np.median(found):.{digits}f} [{min(found):.{digits}f}, {max(found):.{digits}f}]"


def files() -> list[str]:
    """Fits of files, beside reading them."""
    rows = last("scale-stream", lambda row: (row["rows"], row["columns"], row["written"], row["control_group_gb"]))
    if not rows:
        return []
    lines = [
        "## Files that are never in memory as a whole",
        "",
        "Columns of float32 and a class, in Parquet files. Plain: neither compressed nor with a dictionary, in row groups",
        "of 65,536 rows, which is easiest to read; or as pyarrow and polars write them if nothing is said. They were just",
        "written, so the disk's cache holds what there is room for. Each step in a fresh process, in turn: seconds, median",
        "and range; the largest peak of memory, Python and its libraries included. Reading once: all columns, by pyarrow",
        "alone and by `easyfs.scan`. Plain loop: two readings by `easyfs.scan`, and X'X of each batch in the second.",
        "`benchmarks/scale/stream_memory.py`.",
        "",
        *table_head(
            [
                "table",
                "written",
                "a fit",
                "peak",
                "pyarrow reads it once",
                "scan reads it once",
                "plain loop",
                "fit / pyarrow",
                "fit / scan",
                "fit / plain loop",
            ]
        ),
    ]
    for row in rows:
        took = {step: [run["seconds"] for run in runs] for step, runs in row["steps"].items()}
        peak = max(run["peak_mb"] for run in row["steps"]["fit"])
        ratios = [spread(a / b for a, b in zip(took["fit"], took[step], strict=True)) for step in STEPS]
        size = f"{row['rows']:,} x {row['columns']}, {row['gigabytes']:.1f} GB"
        limit = "" if row["control_group_gb"] is None else f", {row['control_group_gb']:g} GB of memory, cache included"
        cells = [
            size + limit,
            WRITTEN[row["written"]],
            f"{spread(took['fit'])} s",
            f"{peak:.0f} MB",
            *(f"{spread(took[step])} s" for step in STEPS),
            *ratios,
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, "", *made_with(rows), ""]


def dask() -> list[str]:
    """Workers of Dask."""
    rows = last("scale-dask", lambda row: (row["rows"], row["columns"], row["partitions"], row["workers"]))
    if not rows:
        return []
    size = f"{rows[0]['rows']:,} x {rows[0]['columns']} float32 in {rows[0]['partitions']} partitions"
    lines = [
        "## Dask",
        "",
        f"{size}, which the workers hold in memory; a process a worker, one thread each. Scan for the sample and sums: the",
        "least of three runs; the whole fit: one. `benchmarks/scale/dask_workers.py`.",
        "",
        *table_head(["workers", "scan", "sums", "whole fit", "sums / one worker", "bytes of a sum", "bytes of the plan"]),
    ]
    for row in rows:
        share = row["sums"] / rows[0]["sums"]
        times = " | ".join(f"{row[step]:.2f} s" for step in ("scan", "sums", "fit"))
        lines.append(f"| {row['workers']} | {times} | {share:.2f} | {row['summed']:,} | {row['summing']:,} |")
    return [*lines, "", *made_with(rows), ""]


def spark() -> list[str]:
    """Spark beside its own correlation matrix."""
    rows = last("scale-spark", lambda row: (row["rows"], row["columns"], row["cores"], row["case"]))
    if not rows:
        return []
    lines = [
        "## Spark",
        "",
        f"{rows[0]['rows']:,} x {rows[0]['columns']} in Parquet, local[{rows[0]['cores']}], beside the correlation matrix",
        "of `pyspark.ml`. `benchmarks/scale/spark_correlation.py`.",
        "",
        *table_head(["", "seconds"]),
        *(f"| {row['case']} | {spread(row['seconds'], 1)} |" for row in rows),
    ]
    return [*lines, "", *made_with(rows), ""]


def costs() -> list[str]:
    """How the time grows with rows, columns and columns that are chosen."""
    rows = last("scale-costs", lambda row: (row["grows"], row["rows"], row["columns"], row["chosen"]))
    if not rows:
        return []
    lines = [
        "## Rows, columns, columns that are chosen",
        "",
        "Tables of float32 in memory, two classes; one of the three grows at a time. `benchmarks/scale/costs.py`.",
        "",
        *table_head(["what grows", "rows", "columns", "chosen", "a fit", "times the one before"]),
    ]
    for grows in dict.fromkeys(row["grows"] for row in rows):
        before = None
        for row in (row for row in rows if row["grows"] == grows):
            middle = float(np.median(row["seconds"]))
            times = "" if before is None else f"{middle / before:.1f}"
            size = f"{row['rows']:,} | {row['columns']:,} | {row['chosen']}"
            lines.append(f"| {grows} | {size} | {spread(row['seconds'])} s | {times} |")
            before = middle
    return [*lines, "", *made_with(rows), ""]


def wide() -> list[str]:
    """Very many columns."""
    rows = last("scale-wide", lambda row: (row["rows"], row["columns"], row["memory_limit"]))
    if not rows:
        return []
    lines = [
        "## Very many columns",
        "",
        "A Dask array, whose chunks are made when they are read; six columns matter, two of them only as a product.",
        "`benchmarks/scale/wide.py`.",
        "",
        *table_head(["table", "memory_limit", "seconds", "peak (before the fit)", "of the six found"]),
    ]
    for row in rows:
        true = {11, 222, 3333, 14_444, 15_555, 16_666} & set(row["found"])
        peak = f"{row['peak_mb']:,} MB ({row['peak_mb_before']:,} MB)"
        cells = [f"{row['rows']:,} x {row['columns']:,}", f"{row['memory_limit']:g} GB", f"{row['seconds']:.0f}", peak]
        lines.append(f"| {' | '.join([*cells, str(len(true))])} |")
    return [*lines, "", *made_with(rows), ""]


def gpu() -> list[str]:
    """A GPU, and many cores."""
    rows = last("scale-gpu", lambda row: (row["size"], row["device"]))
    if not rows:
        return []
    lines = [
        "## On a GPU",
        "",
        "Tensors of float32 on the device, TF32 off unless it is named, 50 columns chosen; the processor fits the same in",
        "numpy. Seconds, median and quartiles. `benchmarks/scale/gpu.py --cpu`.",
        "",
        *table_head(["table", "on", "a fit", "without joint effects", "X.T @ X", "fit / X.T @ X"]),
    ]
    for row in rows:
        times = [row.get(step) for step in ("fit", "without_joint_effects", "gram")]
        cells = ["" if t is None else f"{t[1]:.3f} [{t[0]:.3f}, {t[2]:.3f}]" for t in times]
        ratio = f"{row['fit'][1] / row['gram'][1]:.1f}"
        lines.append(f"| {row['size']} | {row['device']} | {' | '.join(cells)} | {ratio} |")
    return [*lines, "", *made_with(rows), ""]


def cores() -> list[str]:
    """What more threads bring."""
    rows = last("scale-cores", lambda row: (row["rows"], row["columns"], row["threads"]))
    if not rows:
        return []
    lines = [
        "## Many cores",
        "",
        "Tables of float32 in memory, two classes, 50 columns chosen: seconds, the median of fits after one that is not",
        "counted (of the larger table one). `benchmarks/scale/cores.py`.",
        "",
        *table_head(
            ["table", "threads", "a fit", "without joint effects", "X.T @ X", "fit / X.T @ X", "without / X.T @ X"]
        ),
    ]
    for row in rows:
        fit, plain, gram = row["fit"], row["without_joint_effects"], row["gram"]
        cells = [f"{row['rows']:,} x {row['columns']:,}", row["threads"], *(f"{t:.3f}" for t in (fit, plain, gram))]
        lines.append(f"| {' | '.join(map(str, [*cells, f'{fit / gram:.1f}', f'{plain / gram:.1f}']))} |")
    several = {**rows[0], "threads": f"{min(r['threads'] for r in rows)} to {max(r['threads'] for r in rows)}"}
    return [*lines, "", *made_with([several]), ""]


def one_answer() -> list[str]:
    """Every engine against memory."""
    rows = last("one-answer", lambda row: (row["table"], row["engine"], row["form"]))
    if not rows:
        return []
    tables = dict.fromkeys(row["table"] for row in rows)
    lines = [
        "## One answer",
        "",
        f"Each engine fits the same {len(tables)} tables with both forms; its answer is compared with that of memory: the",
        "whole order, how many are chosen, the gains. `benchmarks/scale/one_answer.py`.",
        "",
        f"Tables: {', '.join(tables)}.",
        "",
        *table_head(["engine", "fits", "the same", "gains differ by at most"]),
    ]
    for engine in dict.fromkeys(row["engine"] for row in rows):
        own = [row for row in rows if row["engine"] == engine]
        apart = max(row["gains_differ_by"] or 0.0 for row in own)
        lines.append(f"| {engine} | {len(own)} | {sum(row['same'] for row in own)} | {apart:.0e} |")
    return [*lines, "", *made_with(rows), ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=PAGES / "scale.md")
    args = parser.parse_args()
    lines = ["# Large tables, measured", "", "What to use when, and what it means: [large tables](../scale.md).", ""]
    for part in (files, costs, dask, spark, wide, gpu, cores, one_answer):
        lines += part()
    write("\n".join(lines), args.out)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
