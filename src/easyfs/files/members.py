"""One file of a table, read in frames of at most so many rows; only the columns that are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from easyfs.common.extras import optional
from easyfs.files.blocks import text_blocks
from easyfs.files.cells import Cells
from easyfs.files.formats import EmptyFileError, FileError
from easyfs.files.source import Source, check_line, has_empty_row, without_words
from easyfs.tables.frames import lazy_columns

# Numbers of rows that are left to a thread to be read: pieces of more are read ahead, a frame at a time.
PIECE_NUMBERS = 1 << 24
# Bytes of a row group of a Parquet file up to which it is read whole; of a larger one, bytes of a column that are read at
# once.
GROUP_BYTES, COLUMN_BUFFER = 1 << 27, 1 << 16


# The state of a file that is not there.
GONE = (-1, -1)


@dataclass(frozen=True)
class Piece:
    """Rows of a table one after another, which may be read when they are wanted, by whichever thread wants them.

    Attributes
    ----------
    n_rows : int
        How many they are.
    label : str
        What to call in messages what they are from, such as a file's name.
    frames : callable
        Gives them, as frames of a library.
    """

    n_rows: int
    label: str
    frames: Callable[[], Iterator[Any]]

    @classmethod
    def read(cls, frame: Any, label: str) -> Piece:
        """One that has been read."""
        return cls(len(frame), label, lambda: iter((frame,)))


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
    state : tuple of int
        Size of the file, and when it was changed last, as it was found.
    """

    source: Source
    label: str
    keys: dict[str, str | None]
    state: tuple[int, int]

    @classmethod
    def found(cls, source: Source, label: str, keys: dict[str, str | None]) -> Member:
        """A file as it is now."""
        return cls(source, label, keys, _state_of(source.path))

    def check_unchanged(self) -> None:
        """What is known of a file holds for as long as nobody writes to it."""
        now = _state_of(self.source.path)
        if now != self.state:
            what = "was changed since it was scanned" if now != GONE else "is no longer there"
            raise FileError(f"{self.label!r} {what}; scan it anew (easyfs.scan).")

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
            return int(source.guarded(lambda: pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()))
        if source.format == "arrow" and not source.is_stream():
            with source.plainly() as plain:
                return int(source.guarded(lambda: pl.scan_ipc(plain).select(pl.len()).collect().item()))
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
            return dict(source.guarded(lambda: pl.scan_parquet(source.path, glob=False).collect_schema()))
        if source.format == "arrow" and not source.is_stream():
            with source.plainly() as path:
                return dict(source.guarded(lambda: pl.read_ipc_schema(path)))
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

    def pieces(self, wanted: list[str], cells: dict[str, Cells], rows: int) -> Iterator[Piece]:
        """Some columns of the file, in frames of at most so many rows; ``cells`` knows what those of a text are."""
        asked = set(wanted)
        own = [name for name in self.names if name in asked] or self.names[:1]
        words = () if self.source.is_delimited else self.source.options.missing  # cells of text know them

        def cut(piece: Piece) -> Iterator[Any]:
            for whole in piece.frames():
                frame = without_words(whole if whole.columns == own else whole[own], words)
                size = -(-len(frame) // max(1, -(-len(frame) // rows)))  # parts of one size
                for start in range(0, len(frame), max(1, size)):
                    yield frame if len(frame) <= rows else frame[start : start + size]

        for piece in self._read(own, cells, rows):
            if piece.n_rows * len(own) <= PIECE_NUMBERS:
                yield replace(piece, frames=partial(cut, piece))
            else:
                yield from (Piece.read(frame, piece.label) for frame in cut(piece))

    def texts(self, wanted: list[str]) -> Iterator[Any]:
        """Some columns of a text as they were written."""
        text = self.source.delimited
        for chunk, _ in text.chunks(_places(text.names, wanted)):
            yield chunk

    def _read(self, own: list[str], cells: dict[str, Cells], rows: int) -> Iterator[Piece]:
        pl = optional("polars", "cli", "reading a table")
        if self.source.format == "parquet":
            yield from self._each(self._parquet(own, rows))
            return
        found: Iterator[Any]
        if self.source.is_delimited:
            chunks = self.texts(own)
            found = (pl.DataFrame([cells[s.name].read(s) if s.name in cells else s for s in chunk]) for chunk in chunks)
        elif self.source.format == "arrow":
            found = self._each(self._arrow(own))
        elif self.is_lines:
            found = self._lines(own)
        else:
            found = iter([replace(self.source).read(own)])
        for frame in found:
            yield Piece.read(frame, self.label)

    def _each(self, found: Iterator[Any]) -> Iterator[Any]:
        """What a reader gives; what it says of a damaged file becomes one line."""
        while True:
            one = self.source.guarded(lambda: next(found, None))
            if one is None:
                return
            yield one

    def _parquet(self, own: list[str], rows: int) -> Iterator[Piece]:
        pl = optional("polars", "cli", "reading a table")
        path = self.source.path
        lazy = lazy_columns(pl.scan_parquet(path, glob=False), own)
        try:
            import pyarrow as pa  # noqa: PLC0415
            import pyarrow.parquet as pq  # noqa: PLC0415

            # A buffer of its own for each column: otherwise all that a file holds would stay in memory up to its end.
            file = pq.ParquetFile(path, pre_buffer=False, buffer_size=COLUMN_BUFFER)
        except (ImportError, NotImplementedError):  # it is not installed, or does not know a type
            for start in range(0, self.n_rows or 0, rows):
                yield Piece.read(lazy.slice(start, rows).collect(), self.label)
            return
        with file:
            held = len(own) / max(1, len(self.names))
            begin = 0
            for groups, n, size in _runs(file.metadata, rows):
                if size * held <= GROUP_BYTES:  # polars reads it in half the time that pyarrow takes, but not parts of it
                    yield Piece(n, self.label, partial(self._collected, lazy.slice(begin, n)))
                else:
                    for batch in file.iter_batches(batch_size=rows, row_groups=groups, columns=own):
                        yield Piece.read(pl.from_arrow(pa.Table.from_batches([batch])), self.label)
                begin += n

    def _collected(self, lazy: Any) -> Iterator[Any]:
        yield self.source.guarded(lazy.collect)

    def _arrow(self, own: list[str]) -> Iterator[Any]:
        pl = optional("polars", "cli", "reading a table")
        try:
            import pyarrow as pa  # noqa: PLC0415
        except ImportError:
            yield replace(self.source).read(own)
            return
        with pa.memory_map(str(self.source.path)) as stream:
            begun = False
            try:
                if self.source.is_stream():
                    batches: Any = pa.ipc.open_stream(stream)
                else:
                    file = pa.ipc.open_file(stream)
                    batches = (file.get_batch(number) for number in range(file.num_record_batches))
                for batch in batches:
                    frame = pl.from_arrow(pa.Table.from_batches([batch]).select(own))
                    frame.columns = own  # polars would give a column without a name one
                    begun = True
                    yield frame
            except (KeyError, NotImplementedError):  # a type that this pyarrow does not know
                if begun:
                    raise
                yield replace(self.source).read(own)

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
        if schema is None and has_empty_row(frame):
            self._check(chunk, first_line)  # a line may be no object
        return frame

    def _check(self, chunk: bytes, first_line: int) -> None:
        for number, line in enumerate(chunk.splitlines(), start=first_line):
            check_line(line, number, self.source.label)


def _runs(metadata: Any, rows: int) -> Iterator[tuple[list[int], int, int]]:
    """Row groups of a Parquet file, small ones together up to so many rows, each with its rows and bytes."""
    run: list[int] = []
    n = size = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        if run and n + group.num_rows > rows:
            yield run, n, size
            run, n, size = [], 0, 0
        run, n, size = [*run, number], n + group.num_rows, size + group.total_byte_size
    if run:
        yield run, n, size


def _state_of(path: Path) -> tuple[int, int]:
    """Size of a file, and when it was changed last."""
    try:
        entry = path.stat()
    except FileNotFoundError:
        return GONE
    return entry.st_size, entry.st_mtime_ns


def _places(names: list[str], wanted: Any) -> list[int]:
    asked = set(wanted)
    return [place for place, name in enumerate(names) if name in asked]
