"""Copies of tables on disk, for as long as the process runs: what can be read but once, or not in parts."""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from easyfs.common.extras import optional


def new_file(ending: str = "") -> Path:
    """An empty file that goes when the process ends."""
    with tempfile.NamedTemporaryFile(prefix="easyfs-", suffix=ending, delete=False) as file:
        path = Path(file.name)
    atexit.register(path.unlink, missing_ok=True)
    return path


def kept(stream: Any) -> Path:
    """A copy of a stream, as tables are read more than once."""
    path = new_file()
    with path.open("wb") as out:
        shutil.copyfileobj(stream, out, 1 << 20)
    return path


def kept_member(archive: Path, member: str) -> Path:
    """A copy of a file in a zip archive."""
    with zipfile.ZipFile(archive) as inside, inside.open(member) as stream:
        return kept(stream)


def kept_frames(frames: Iterable[Any]) -> Path:
    """Polars frames of one schema as a Parquet file; with pyarrow they are never in memory together."""
    pl = optional("polars", "cli", "reading a table")
    path = new_file(".parquet")
    if importlib.util.find_spec("pyarrow") is None:
        pl.concat(list(frames)).write_parquet(path)
        return path
    import pyarrow.parquet as pq  # noqa: PLC0415

    writer: Any = None
    for frame in frames:
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        writer = pq.ParquetWriter(path, table.schema) if writer is None else writer
        writer.write_table(table.cast(writer.schema))
    if writer is not None:
        writer.close()
    return path
