"""Memory and speed of a fit of files that are never in memory as a whole.

Writes a set of Parquet files of a given size with a seed: neither compressed nor with a dictionary, in row groups of
65,536 rows, which is easiest to read; or, with ``--written``, as pyarrow or polars write them if nothing is said. Fits it
by ``easyfs.scan``; merely reads its columns once, by ``pyarrow`` alone and by ``easyfs.scan``; reads them twice and adds up
X'X of each batch in a plain loop. In turn, each in a fresh process, as often as is
asked. Prints medians and ranges of seconds and of seconds of the processor (all threads), how many times as long as each of
these a fit takes, rows per second, and the largest peak of memory, before and at the end.

Files that are larger than memory are read from the disk each time. ``--memory 2`` measures that with files of any size:
each process runs in a control group of 2 GB, in which the pages of files count, too (Linux, as root); the files leave the
cache before each step.

    python benchmarks/scale/stream_memory.py --gigabytes 8 --folder /somewhere [--columns 400] [--written pyarrow]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from easyfs.evaluation.cell import peak_memory

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import keep

CONTROL_GROUPS = Path("/sys/fs/cgroup")
GROUP_ROWS = 1 << 16
GROUPS_PER_FILE = 8


def rows_of(n_rows: int, n_columns: int, seed: int) -> Iterator[Any]:
    """Columns of float32, of which four matter, and a class; each table of 65,536 rows has draws of its own."""
    import pyarrow as pa  # noqa: PLC0415

    for group in range(-(-n_rows // GROUP_ROWS)):
        rng = np.random.default_rng([seed, group])
        n = min(GROUP_ROWS, n_rows - group * GROUP_ROWS)
        X = rng.standard_normal((n, n_columns), dtype=np.float32)
        y = X[:, 1] + X[:, 2] + X[:, 3] * X[:, 4] + rng.standard_normal(n, dtype=np.float32) > 0
        yield pa.table({**{f"x{j}": X[:, j] for j in range(n_columns)}, "y": y.astype(np.int8)})


def write_file(tables: list[Any], path: Path, written: str) -> None:
    """A file of some tables, in row groups of their own or as a library writes it if nothing is said."""
    import polars as pl  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    whole = pa.concat_tables(tables)
    if written == "pyarrow":
        pq.write_table(whole, path)
    elif written == "polars":
        pl.from_arrow(whole).write_parquet(path)
    else:
        pq.write_table(whole, path, row_group_size=GROUP_ROWS, use_dictionary=False, compression="none")


def write(folder: Path, n_rows: int, n_columns: int, seed: int, written: str) -> None:
    """Files of eight row groups each, or of as many rows."""
    tables: list[Any] = []
    n_files = 0
    for table in chain(rows_of(n_rows, n_columns, seed), [None]):
        if len(tables) == GROUPS_PER_FILE or (table is None and tables):
            write_file(tables, folder / f"part-{n_files:05d}.parquet", written)
            tables, n_files = [], n_files + 1
        if table is not None:
            tables.append(table)


def timed(work: Callable[[], object]) -> dict[str, object]:
    """Seconds, and seconds of the processor, that some work takes, and the memory before it and at its peak."""
    with peak_memory() as memory:
        start, own = time.perf_counter(), time.process_time()
        found = work()
        seconds, processor = time.perf_counter() - start, time.process_time() - own
    told = {"seconds": seconds, "processor": processor, "found": found}
    return told | {"peak_mb_before": memory.before, "peak_mb": memory.peak}


def read(folder: Path) -> dict[str, object]:
    import easyfs  # noqa: PLC0415
    from easyfs.engines.stream import batch_rows  # noqa: PLC0415

    table = easyfs.scan(folder)
    return timed(lambda: sum(len(frame) for frame in table.batches(batch_rows(len(table.names)))))


def read_plainly(folder: Path) -> dict[str, object]:
    import pyarrow.parquet as pq  # noqa: PLC0415

    def batches() -> Iterator[int]:
        for path in sorted(folder.iterdir()):
            with pq.ParquetFile(path, pre_buffer=False) as file:
                yield from (batch.num_rows for batch in file.iter_batches())

    return timed(lambda: sum(batches()))


def products(folder: Path) -> dict[str, object]:
    import easyfs  # noqa: PLC0415
    from easyfs.engines.stream import batch_rows  # noqa: PLC0415

    table = easyfs.scan(folder)

    def work() -> int:
        d = len(table.names)
        gram, n = np.zeros((d, d)), 0
        for reading in range(2):
            for frame in table.batches(batch_rows(d)):
                if reading:
                    block = frame.to_numpy(order="fortran")
                    gram += block.T @ block
                    n += len(block)
        return n

    return timed(work)


def fit(folder: Path) -> dict[str, object]:
    import easyfs  # noqa: PLC0415

    table = easyfs.scan(folder)
    return timed(lambda: easyfs.EasyFS(random_state=0).fit(table, "y").get_feature_names_out().tolist())


STEPS = {"fit": fit, "pyarrow": read_plainly, "read": read, "products": products}


def in_fresh_process(step: str, folder: Path, group: Path | None) -> dict[str, Any]:
    if group is not None:
        leave_cache(folder)
    done = subprocess.run(
        [sys.executable, __file__, "--step", step, "--folder", str(folder)],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=None if group is None else lambda: (group / "cgroup.procs").write_text(str(os.getpid())),
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@contextmanager
def control_group(gigabytes: float | None) -> Iterator[Path | None]:
    """A control group of so much memory, pages of files included; None without a limit."""
    if gigabytes is None:
        yield None
        return
    first = CONTROL_GROUPS / "memory"  # the first version of control groups has a tree for each resource
    group = (first if first.is_dir() else CONTROL_GROUPS) / f"easyfs-{os.getpid()}"
    group.mkdir()
    try:
        limit = next(path for name in ("memory.limit_in_bytes", "memory.max") if (path := group / name).exists())
        limit.write_text(str(int(gigabytes * 1e9)))
        yield group
    finally:
        group.rmdir()


def leave_cache(folder: Path) -> None:
    """Let no page of the files be in memory."""
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def spread(values: list[float]) -> str:
    """Median, and range."""
    return f"{np.median(values):.2f} [{min(values):.2f}, {max(values):.2f}]"


def report(found: dict[str, list[dict[str, Any]]], n_rows: int) -> None:
    """Print what was measured."""
    words = {
        "pyarrow": "pyarrow alone, once",
        "read": "reading once",
        "products": "reading twice, and X'X",
        "fit": "fit",
    }
    seconds = {step: [one["seconds"] for one in found[step]] for step in words}
    for step, word in words.items():
        processor = spread([one["processor"] for one in found[step]])
        most = max(one["peak_mb"] for one in found[step])
        print(f"{word:<22} {spread(seconds[step])} s, processor {processor} s, peak {most:.0f} MB")
    for step in ("pyarrow", "read", "products"):
        ratios = [fitted / once for fitted, once in zip(seconds["fit"], seconds[step], strict=True)]
        print(f"a fit takes {spread(ratios)} times as long as {words[step]}")
    print(f"{n_rows / np.median(seconds['fit']):,.0f} rows per second")
    print(f"{max(one['peak_mb_before'] for one in found['fit']):.0f} MB before the fit")
    print(f"chose {', '.join(found['fit'][0]['found'])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--written", choices=("plain", "pyarrow", "polars"), default="plain")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="Where to put the files; a temporary folder by default.")
    parser.add_argument("--memory", type=float, help="Gigabytes of a control group to run in.")
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
        write(folder, n_rows, options.columns, options.seed, options.written)
        size = sum(path.stat().st_size for path in folder.iterdir())
        print(
            f"wrote {n_rows:,} rows, {options.columns} columns, {size / 1e9:.2f} GB in {time.perf_counter() - start:.1f} s"
        )
        found: dict[str, list[dict[str, Any]]] = {step: [] for step in STEPS}
        with control_group(options.memory) as group:
            for _ in range(options.repeats):
                for step, results in found.items():
                    results.append(in_fresh_process(step, folder, group))
        report(found, n_rows)
        asked = {"columns": options.columns, "written": options.written, "control_group_gb": options.memory}
        keep("scale-stream", rows=n_rows, **asked, gigabytes=size / 1e9, steps=found)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
