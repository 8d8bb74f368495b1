"""Memory and speed of a fit of files that are never in memory as a whole.

Writes a set of Parquet files of a given size with a seed, a row group at a time. Fits it by ``easyfs.scan``, and merely
reads its columns once, by ``easyfs.scan`` and by ``pyarrow`` alone: in turn, each in a fresh process, as often as is asked.
Prints medians and ranges of seconds and of seconds of the processor (all threads), how many times as long as one reading a
fit takes, rows per second, and the largest peak of memory, before and at the end.

    python benchmarks/scale/stream_memory.py --gigabytes 8 --folder /somewhere [--repeats 3]
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
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

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


def timed(work: Callable[[], object]) -> dict[str, object]:
    """Seconds, and seconds of the processor, that some work takes, and the peak of memory before and after it."""
    before, start, own = peak(), time.perf_counter(), time.process_time()
    found = work()
    seconds, processor = time.perf_counter() - start, time.process_time() - own
    return {"seconds": seconds, "processor": processor, "peak_mb_before": before, "peak_mb": peak(), "found": found}


def read(folder: Path) -> dict[str, object]:
    import easyfs  # noqa: PLC0415
    from easyfs.engines.stream import batch_rows  # noqa: PLC0415

    table = easyfs.scan(folder)
    return timed(lambda: sum(len(frame) for frame, _ in table.batches(batch_rows(len(table.names)))))


def read_plainly(folder: Path) -> dict[str, object]:
    import pyarrow.parquet as pq  # noqa: PLC0415

    def batches() -> Iterator[int]:
        for path in sorted(folder.iterdir()):
            with pq.ParquetFile(path, pre_buffer=False) as file:
                yield from (batch.num_rows for batch in file.iter_batches())

    return timed(lambda: sum(batches()))


def fit(folder: Path) -> dict[str, object]:
    import easyfs  # noqa: PLC0415

    table = easyfs.scan(folder)
    return timed(lambda: easyfs.EasyFS(random_state=0).fit(table, "y").get_feature_names_out().tolist())


STEPS = {"fit": fit, "read": read, "pyarrow": read_plainly}


def in_fresh_process(step: str, folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--step", step, "--folder", str(folder)], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def spread(values: list[float]) -> str:
    """Median, and range."""
    return f"{np.median(values):.2f} [{min(values):.2f}, {max(values):.2f}]"


def report(found: dict[str, list[dict[str, Any]]], n_rows: int) -> None:
    words = {"read": "reading once", "pyarrow": "pyarrow alone, once", "fit": "fit"}
    seconds = {step: [one["seconds"] for one in found[step]] for step in words}
    for step, word in words.items():
        processor = spread([one["processor"] for one in found[step]])
        most = max(one["peak_mb"] for one in found[step])
        print(f"{word:<20} {spread(seconds[step])} s, processor {processor} s, peak {most:.0f} MB")
    for step in ("read", "pyarrow"):
        ratios = [fitted / once for fitted, once in zip(seconds["fit"], seconds[step], strict=True)]
        print(f"a fit takes {spread(ratios)} times as long as {words[step]}")
    print(f"{n_rows / np.median(seconds['fit']):,.0f} rows per second")
    print(f"{max(one['peak_mb_before'] for one in found['fit']):.0f} MB before the fit")
    print(f"chose {', '.join(found['fit'][0]['found'])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="Where to put the files; a temporary folder by default.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--step", choices=list(STEPS), help="What a fresh process does; not for you.")
    options = parser.parse_args()
    if options.step is not None:
        print(json.dumps(STEPS[options.step](options.folder)))
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
        found: dict[str, list[dict[str, Any]]] = {step: [] for step in STEPS}
        for _ in range(options.repeats):
            for step, results in found.items():
                results.append(in_fresh_process(step, folder))
        report(found, n_rows)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
