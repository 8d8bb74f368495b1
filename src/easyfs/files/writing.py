"""Tables out: a frame, or cells as they were written, into a stream of the wanted format."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from typing import IO, Any

from easyfs.common.extras import optional
from easyfs.files.arrays import write_arrays
from easyfs.files.formats import DELIMITED, FileError
from easyfs.files.scanning import Scan
from easyfs.files.source import Source


def write_table(
    source: Source,
    columns: list[str],
    out: IO[bytes],
    *,
    to: str,
    compressed: bool = False,
    rows: Any = None,
    target: str | None = None,
    added: Any = None,
) -> None:
    """Write some columns of a table, in the order of the table.

    From text to text, cells are written as they were read: a code keeps its zeros, a number its digits.

    Parameters
    ----------
    source : Source
        The table.
    columns : list of str
        Names of the columns.
    out : binary stream
        Where to: a file, as some formats are written back and forth.
    to : str
        The format.
    compressed : bool, default=False
        Whether to compress with gzip.
    rows : polars Series of bool, optional
        Rows to keep; all where it is not given.
    target : str, optional
        The column that is ``y`` in an .npz.
    added : polars DataFrame, optional
        Further columns, with as many rows as the table.
    """
    asked = set(columns)
    wanted = [name for name in source.names if name in asked]
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) if compressed else nullcontext(out) as stream:
        if to in DELIMITED and source.is_delimited:
            between = "\t" if to == "tsv" else "," if source.format == "tsv" else source.delimited.delimiter
            _write_cells(_kept(source.texts(wanted), rows, added), stream, between)
            return
        frame = source.read(wanted) if added is None else source.read(wanted).hstack(added)
        _write_frame(frame if rows is None else frame.filter(rows), stream, to, target)


def _write_frame(frame: Any, stream: Any, to: str, target: str | None = None) -> None:
    if to in DELIMITED:
        _write_cells([frame], stream, "\t" if to == "tsv" else ",")
    elif to == "npz":
        write_arrays(frame, target, stream)
    else:
        {"parquet": frame.write_parquet, "arrow": frame.write_ipc, "jsonl": frame.write_ndjson}[to](stream)


def write_scan(scan: Scan, out: IO[bytes], *, to: str, compressed: bool = False, whole: bool = False) -> None:
    """Write a table that is read batch by batch, in the order of its names; it is never in memory as a whole.

    Parameters
    ----------
    scan : Scan
        The table, with the columns that are to be written.
    out : binary stream
        Where to.
    to : str
        The format; .npz, whose arrays are written whole, needs ``whole``.
    compressed : bool, default=False
        Whether to compress with gzip.
    whole : bool, default=False
        Whether the table may be in memory as a whole.
    """
    frames = _or_empty(scan.batches(), scan)
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) if compressed else nullcontext(out) as stream:
        if to in DELIMITED and scan.is_delimited:
            first = scan.members[0].source
            between = "\t" if to == "tsv" else "," if first.format == "tsv" else first.delimited.delimiter
            _write_cells(_or_empty(scan.texts(), scan), stream, between)
        elif whole:
            _write_frame(scan.collect()[scan.names], stream, to)
        elif to in DELIMITED:
            _write_cells(frames, stream, "\t" if to == "tsv" else ",")
        elif to == "jsonl":
            for frame in frames:
                frame.write_ndjson(stream)
        elif to == "npz":
            raise FileError("an .npz is written from a table in memory; choose .parquet or .csv.")
        else:
            _write_arrow(frames, stream, to)


def _or_empty(frames: Iterator[Any], scan: Scan) -> Iterator[Any]:
    """The frames; of a table without rows one that has the columns, so that they are written all the same."""
    pl = optional("polars", "cli", "writing a table")
    first = next(frames, None)
    yield pl.DataFrame(schema=scan.types())[scan.names] if first is None else first
    yield from frames


def _write_arrow(frames: Iterator[Any], stream: Any, to: str) -> None:
    pl = optional("polars", "cli", "writing a table")
    pa = optional("pyarrow", "tables", "writing such a table in parts")
    parquet = optional("pyarrow.parquet", "tables", "writing such a table in parts")
    writer: Any = None
    try:
        for frame in frames:
            table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
            if writer is None and to == "parquet":
                writer = parquet.ParquetWriter(stream, table.schema, compression="zstd")
            elif writer is None:
                writer = pa.ipc.new_file(stream, table.schema)
            writer.write_table(table.cast(writer.schema) if to == "parquet" else table)
    finally:  # also where writing ends early: a writer that is left alone closes itself when its stream is gone
        if writer is not None:
            writer.close()


def _kept(chunks: Iterable[Any], rows: Any, added: Any) -> Iterator[Any]:
    at = 0
    for chunk in chunks:
        full = chunk if added is None else chunk.hstack(added[at : at + len(chunk)])
        yield full if rows is None else full.filter(rows[at : at + len(chunk)])
        at += len(chunk)


def _write_cells(chunks: Iterable[Any], stream: Any, between: str) -> None:
    pl = optional("polars", "cli", "writing a table")
    for number, chunk in enumerate(chunks):
        nested = [series.name for series in chunk if series.dtype.is_nested()]
        if nested:
            raise FileError(f"column {nested[0]!r} holds lists or structures, which CSV cannot; choose .parquet or .jsonl.")
        # A missing text and an empty one are written alike: as nothing.
        plain = chunk.with_columns(pl.col(pl.String).replace("", None)) if pl.String in chunk.dtypes else chunk
        plain.write_csv(
            stream,
            include_header=number == 0,
            separator=between,
            null_value='""' if chunk.width == 1 else "",  # a line of nothing is no row
        )
