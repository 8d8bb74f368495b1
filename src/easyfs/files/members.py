"""One file of a table, read in frames of at most so many rows; only the columns that are wanted."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from easyfs.common.extras import optional
from easyfs.files.blocks import text_blocks
from easyfs.files.cells import Cells
from easyfs.files.formats import EmptyFileError, FileError
from easyfs.files.source import Source, check_line, without_words

# Bytes of a column of a Parquet file that are read at once.
COLUMN_BUFFER = 1 << 16


@dataclass(frozen=True)
class Member:
    """A file of a table.

    Attributes
    ----------
    source : Source
        The file.
    label : str
        What it is called in messages: its path.
    keys : dict
        Columns that the names of its folders give.
    """

    source: Source
    label: str
    keys: dict[str, str | None]

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns in the file."""
        if self.is_lines:
            return list(self.own_types)
        return replace(self.source).names

    @property
    def is_lines(self) -> bool:
        """Whether it holds JSON, in which a row names its own columns."""
        return self.source.format == "jsonl"

    @cached_property
    def n_rows(self) -> int | None:
        """Number of rows, where the file says so; None where it has to be read for that."""
        pl = optional("polars", "cli", "reading a table")
        path, source = self.source.path, self.source
        if source.format == "parquet":
            return int(source.guarded(lambda: pl.scan_parquet(path).select(pl.len()).collect().item()))
        if source.format == "arrow" and not source.is_stream():
            return int(source.guarded(lambda: pl.scan_ipc(path).select(pl.len()).collect().item()))
        return self._lines_read[1] if self.is_lines else None

    @cached_property
    def has(self) -> frozenset[str]:
        """Names of the columns, to look one up in."""
        return frozenset(self.names)

    @cached_property
    def own_types(self) -> dict[str, Any]:
        """Types of the columns, of a file that has such."""
        pl = optional("polars", "cli", "reading a table")
        source = self.source
        if source.format == "parquet":
            return dict(source.guarded(lambda: pl.read_parquet_schema(source.path)))
        if source.format == "arrow" and not source.is_stream():
            return dict(source.guarded(lambda: pl.read_ipc_schema(source.path)))
        return self._lines_read[0] if self.is_lines else dict(replace(source).read().schema)

    def look(self, cells: dict[str, Cells]) -> int:
        """Find out what the cells of a text can be; gives the number of its rows."""
        n, text = 0, self.source.delimited
        for chunk, codes in text.chunks(_places(text.names, cells)):
            n += len(chunk)
            for series in chunk:
                if series.name in cells:
                    cells[series.name].look(series, codes=codes)
        return n

    def frames(self, wanted: list[str], cells: dict[str, Cells], rows: int) -> Iterator[Any]:
        """Some columns of the file, at most so many rows at once; ``cells`` knows what those of a text are."""
        asked = set(wanted)
        own = [name for name in self.names if name in asked] or self.names[:1]
        for frame in self._read(own, cells, rows):
            for start in range(0, len(frame), rows):
                yield frame if len(frame) <= rows else frame[start : start + rows]

    def texts(self, wanted: list[str]) -> Iterator[Any]:
        """Some columns of a text as they were written."""
        text = self.source.delimited
        for chunk, _ in text.chunks(_places(text.names, wanted)):
            yield chunk

    def _read(self, own: list[str], cells: dict[str, Cells], rows: int) -> Iterator[Any]:
        pl = optional("polars", "cli", "reading a table")
        if self.source.is_delimited:
            for chunk in self.texts(own):
                yield pl.DataFrame([cells[s.name].read(s) if s.name in cells else s for s in chunk])
            return
        if self.source.format == "parquet":
            found = self._arrow_batches(self._parquet(own, rows))
        elif self.source.format == "arrow":
            found = self._arrow_batches(self._arrow(own))
        elif self.is_lines:
            found = self._lines(own)
        else:
            found = iter([replace(self.source).read(own)])
        for frame in found:
            yield without_words(frame if frame.columns == own else frame.select(own), self.source.options.missing)

    def _arrow_batches(self, found: Iterator[Any]) -> Iterator[Any]:
        while True:
            batch = self.source.guarded(lambda: next(found, None))
            if batch is None:
                return
            yield batch

    def _parquet(self, own: list[str], rows: int) -> Iterator[Any]:
        pl = optional("polars", "cli", "reading a table")
        path = self.source.path
        if importlib.util.find_spec("pyarrow") is None:
            lazy = pl.scan_parquet(path).select(own)
            for start in range(0, self.n_rows or 0, rows):
                yield lazy.slice(start, rows).collect()
            return
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.parquet as pq  # noqa: PLC0415

        # A buffer of its own for each column: otherwise all that a file holds would stay in memory up to its end.
        with pq.ParquetFile(path, pre_buffer=False, buffer_size=COLUMN_BUFFER) as file:
            for batch in file.iter_batches(batch_size=rows, columns=own):
                yield pl.from_arrow(pa.Table.from_batches([batch]))

    def _arrow(self, own: list[str]) -> Iterator[Any]:
        pl = optional("polars", "cli", "reading a table")
        if importlib.util.find_spec("pyarrow") is None:
            yield replace(self.source).read(own)
            return
        import pyarrow as pa  # noqa: PLC0415

        with pa.memory_map(str(self.source.path)) as stream:
            if self.source.is_stream():
                batches: Any = pa.ipc.open_stream(stream)
            else:
                file = pa.ipc.open_file(stream)
                batches = (file.get_batch(number) for number in range(file.num_record_batches))
            for number, batch in enumerate(batches):
                try:
                    frame = pl.from_arrow(pa.Table.from_batches([batch]).select(own))
                except KeyError:  # a type that this pyarrow does not know
                    if number:
                        raise
                    frame = None
                if frame is None:
                    yield replace(self.source).read(own)
                    return
                yield frame

    @cached_property
    def _lines_read(self) -> tuple[dict[str, Any], int]:
        """Types of the columns of JSON, and the number of rows."""
        pl = optional("polars", "cli", "reading a table")
        if self._is_array:
            frame = replace(self.source).read()
            return dict(frame.schema), len(frame)
        n, found = 0, None
        for chunk, line in self._whole_lines():
            frame = self._parsed(chunk, line, None)
            n += len(frame)
            empty = frame.clear()
            found = empty if found is None else pl.concat([found, empty], how="diagonal_relaxed")
        if found is None:
            raise EmptyFileError(f"{self.source.label} is empty.")
        return dict(found.schema), n

    @cached_property
    def _is_array(self) -> bool:
        for block in self._blocks():
            if block.strip():
                return block.lstrip()[:1] == b"["
        return False

    def _blocks(self) -> Iterator[bytes]:
        source = self.source
        return text_blocks(source.path, source.label, packing=source.packing, encoding=source.options.encoding)

    def _lines(self, own: list[str]) -> Iterator[Any]:
        if self._is_array:
            yield replace(self.source).read(own)
            return
        types = self.own_types
        for chunk, line in self._whole_lines():
            yield self._parsed(chunk, line, {name: types[name] for name in own})

    def _whole_lines(self) -> Iterator[tuple[bytes, int]]:
        """Parts of the text that end with a line, each with the number of its first line."""
        rest, line = b"", 1
        for block in self._blocks():
            head, newline, tail = block.rpartition(b"\n")
            if not newline:
                rest += block
                continue
            text = rest + head + newline
            rest = tail
            if text.strip():
                yield text, line
            line += text.count(b"\n")
        if rest.strip():
            yield rest, line

    def _parsed(self, chunk: bytes, first_line: int, schema: Any) -> Any:
        pl = optional("polars", "cli", "reading a table")
        try:
            frame = pl.read_ndjson(chunk, schema=schema, infer_schema_length=None)
        except (pl.exceptions.PolarsError, ValueError) as error:
            self._check(chunk, first_line)
            last = first_line + chunk.count(b"\n")
            raise FileError(
                f"{self.source.label} cannot be read between lines {first_line} and {last}: {error}."
            ) from error
        if schema is None and frame.select(pl.all_horizontal(pl.all().is_null()).any()).item():
            self._check(chunk, first_line)  # a line may be no object
        return frame

    def _check(self, chunk: bytes, first_line: int) -> None:
        for number, line in enumerate(chunk.splitlines(), start=first_line):
            check_line(line, number, self.source.label)


def _places(names: list[str], wanted: Any) -> list[int]:
    asked = set(wanted)
    return [place for place, name in enumerate(names) if name in asked]
