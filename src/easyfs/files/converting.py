"""Tables of formats that cannot be read in parts: a copy of them in Parquet, which can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from easyfs.common.extras import optional
from easyfs.files.arff import read_arff
from easyfs.files.arrays import read_array, read_libsvm
from easyfs.files.cells import Cells
from easyfs.files.databases import duckdb_to_parquet, sqlite_frames
from easyfs.files.delimited import check_names
from easyfs.files.doubts import say_doubts
from easyfs.files.excel import read_excel
from easyfs.files.formats import FileError, Packing, TextOptions
from easyfs.files.keeping import kept_frames

CONVERTED = ("excel", "arff", "libsvm", "npy", "sqlite", "duckdb")


def as_parquet(
    path: Path,
    label: str,
    kind: str,
    packing: Packing | None,
    options: TextOptions,
    *,
    inside: str,
    query: str | None,
    said: set[str],
) -> Path:
    """A copy of a table in Parquet.

    Parameters
    ----------
    path, label : Path and str
        The file, and what it is called in messages.
    kind : str
        One of ``CONVERTED``.
    packing : Packing or None
        How it is compressed, if it is text.
    options : TextOptions
        How cells of text are to be read.
    inside : str
        The sheet or the table that is meant; empty for the only one.
    query : str or None
        What is asked of a database.
    said : set of str
        Columns of which something was said; more are added.
    """
    if kind == "duckdb":
        return duckdb_to_parquet(path, label, inside, query)
    if kind == "sqlite":
        return kept_frames(_of_one_type(label, options, said, lambda: sqlite_frames(path, label, inside, query)))
    if kind == "excel":
        frame = read_excel(path, label, inside, header=options.header)
        return kept_frames(_of_one_type(label, options, said, lambda: iter([frame])))
    if kind == "arff":
        frame = read_arff(path, label, packing, options)
    else:
        frame = read_array(path, label) if kind == "npy" else read_libsvm(path, label, packing, options)
    check_names(frame.columns, label)
    return kept_frames([frame])


def _of_one_type(label: str, options: TextOptions, said: set[str], frames: Any) -> Iterator[Any]:
    """Frames whose columns of text are read as those of a table of text are; they are made twice."""
    pl = optional("polars", "cli", "reading a table")
    cells: dict[str, Cells] = {}
    n = 0
    for frame in frames():
        n += len(frame)
        for series in frame:
            if series.dtype == pl.String:
                cells.setdefault(series.name, Cells(options)).look(series)
    say_doubts(label, cells, said)
    if not n:
        raise FileError(f"{label} has names of columns, but no rows.")
    for frame in frames():
        yield pl.DataFrame([cells[s.name].read(s) if s.name in cells else s for s in frame])
