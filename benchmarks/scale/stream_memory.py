"""Memory and speed of a fit of files that are never in memory as a whole.

Writes a set of Parquet files of a given size with a seed, a row group at a time; fits it by ``easyfs.scan`` in a fresh
process, and prints the peak memory of that process, before and at the end, rows per second, and the time of merely reading
the columns twice, as a fit does.

    python benchmarks/scale/stream_memory.py --gigabytes 8 --folder /somewhere
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

GROUP_ROWS = 1 << 16
GROUPS_PER_FILE = 8


def write(folder: Path, n_rows: int, n_columns: int, seed: int) -> None:
    """Columns of float32, of which four matter, and a class; each row group has draws of its own."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    writer = None
    for group in range(-(-n_rows // GROUP_ROWS)):
        rng = np.random.default_rng([seed, group])
        n = min(GROUP_ROWS, n_rows - group * GROUP_ROWS)
        X = rng.standard_normal((n, n_columns), dtype=np.float32)
        y = X[:, 1] + X[:, 2] + X[:, 3] * X[:, 4] + rng.standard_normal(n, dtype=np.float32) > 0
        table = pa.table({**{f"x{j}": X[:, j] for j in range(n_columns)}, "y": y.astype(np.int8)})
        if group % GROUPS_PER_FILE == 0:
            if writer is not None:
                writer.close()
            path = folder / f"part-{group // GROUPS_PER_FILE:05d}.parquet"
            writer = pq.ParquetWriter(path, table.schema, use_dictionary=False, compression="none")
        writer.write_table(table, row_group_size=GROUP_ROWS)
    if writer is not None:
        writer.close()


def peak() -> float:
    """Peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 10 if sys.platform != "darwin" else 1 << 20)


def read_twice(folder: Path) -> dict[str, float]:
    import easyfs  # noqa: PLC0415
    from easyfs.engines.stream import batch_rows  # noqa: PLC0415

    table = easyfs.scan(folder)
    start = time.perf_counter()
    for _ in range(2):
        for _frame, _label in table.batches(batch_rows(len(table.names))):
            pass
    return {"seconds": time.perf_counter() - start, "peak_mb": peak()}


def fit(folder: Path) -> dict[str, object]:
    import easyfs  # noqa: PLC0415

    table = easyfs.scan(folder)
    before, start = peak(), time.perf_counter()
    selector = easyfs.EasyFS(random_state=0).fit(table, "y")
    seconds = time.perf_counter() - start
    return {
        "seconds": seconds,
        "peak_mb_before": before,
        "peak_mb": peak(),
        "rows": selector.n_rows_,
        "chosen": selector.get_feature_names_out().tolist(),
    }


def in_fresh_process(step: str, folder: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, __file__, "--step", step, "--folder", str(folder)], capture_output=True, text=True, check=True
    )
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="Where to put the files; a temporary folder by default.")
    parser.add_argument("--step", choices=["fit", "read"], help="What a fresh process does; not for you.")
    options = parser.parse_args()
    if options.step is not None:
        print(json.dumps({"fit": fit, "read": read_twice}[options.step](options.folder)))
        return
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="easyfs-scale-", dir=options.folder))
    try:
        n_rows = int(options.gigabytes * 1e9 / (4 * options.columns))
        start = time.perf_counter()
        write(folder, n_rows, options.columns, options.seed)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(
            f"wrote {n_rows:,} rows, {options.columns} columns, {size / 1e9:.2f} GB in {time.perf_counter() - start:.1f} s"
        )
        read, fitted = in_fresh_process("read", folder), in_fresh_process("fit", folder)
        print(f"reading the columns twice: {read['seconds']:.1f} s, peak {read['peak_mb']:.0f} MB")
        print(f"fit: {fitted['seconds']:.1f} s, {n_rows / fitted['seconds']:,.0f} rows per second")
        print(f"peak memory {fitted['peak_mb']:.0f} MB, {fitted['peak_mb_before']:.0f} MB before the fit")
        print(f"chose {', '.join(fitted['chosen'])}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
