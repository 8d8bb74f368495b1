"""A table in a file, or from standard input: names of its columns, its values, and its cells as they were written."""

from __future__ import annotations

import difflib
import glob
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import and_
from pathlib import Path
from typing import Any

from easyfs.common.extras import optional
from easyfs.common.telling import first_line
from easyfs.files.arrays import read_arrays
from easyfs.files.blocks import Progress, text_blocks
from easyfs.files.cells import Cells
from easyfs.files.converting import CONVERTED, as_parquet
from easyfs.files.delimited import Delimited, check_names, open_delimited
from easyfs.files.doubts import say_doubts
from easyfs.files.formats import (
    DATABASES,
    DELIMITED,
    FORMATS,
    TEXT,
    EmptyFileError,
    FileError,
    Packing,
    TextOptions,
    beginning_of,
    endings,
    format_of,
    split_name,
)
from easyfs.files.keeping import kept, kept_member
from easyfs.files.packing import packing_of, pick_member
from easyfs.tables.frames import lazy_columns

WORDS_OF_ENGINES = {"parquet": "Parquet", "arrow": "Arrow IPC", "jsonl": "JSON lines", "npz": ".npz"}


@dataclass(frozen=True)
class Source:
    """A table in a file.

    Attributes
    ----------
    path : Path
        The file; a copy of standard input, or of what a database holds, where the table came from there.
    label : str
        What it is called in messages.
    format : {"csv", "tsv", "parquet", "arrow", "jsonl", "npz"}
    packing : Packing or None
        How it is compressed.
    options : TextOptions
        How a table of text is to be read.
    origin : Path
        The user's own file.
    given : str
        The format of that.
    said : set of str
        Columns of which has been said what is doubtful about them.
    """

    path: Path
    label: str
    format: str
    packing: Packing | None
    options: TextOptions
    origin: Path
    given: str
    said: set[str] = field(default_factory=set, repr=False, compare=False)

    @property
    def is_delimited(self) -> bool:
        """Whether it is text with a delimiter."""
        return self.format in DELIMITED

    @cached_property
    def delimited(self) -> Delimited:
        """The table of text."""
        return open_delimited(self.path, self.label, packing=self.packing, options=self.options, tabs=self.format == "tsv")

    @cached_property
    def _whole(self) -> Any:
        """A table of a format that cannot be read in part."""
        if self.format == "npz":
            return read_arrays(self.path, self.label)
        return self.guarded(self._read_lines)

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        if self.is_delimited:
            return self.delimited.names
        pl = optional("polars", "cli", "reading a table")
        if self.format == "parquet":
            found = list(self.guarded(lambda: pl.scan_parquet(self.path, glob=False).collect_schema()))
        elif self.format == "arrow":
            found = list(self.guarded(self._arrow_schema))
        else:
            found = list(self._whole.columns)
        if not found:
            raise FileError(f"{self.label} has no columns.")
        check_names(found, self.label)
        return found

    def read(self, columns: Sequence[str] | None = None, *, compact: bool = False, progress: Progress | None = None) -> Any:
        """The table, or some of its columns in the order of the file, as a polars frame.

        Parameters
        ----------
        columns : sequence of str, optional
            Names of columns; all of them where it is not given.
        compact : bool, default=False
            Whether whole numbers in text may have the smallest type that holds them.
        progress : callable, optional
            Called with the number of bytes that have been read.
        """
        asked = set(self.names if columns is None else columns)
        wanted = [name for name in self.names if name in asked]
        if self.is_delimited:
            return self._read_delimited(wanted, compact, progress)
        pl = optional("polars", "cli", "reading a table")
        if self.format == "parquet":
            frame = self.guarded(lambda: lazy_columns(pl.scan_parquet(self.path, glob=False), wanted).collect())
        elif self.format == "arrow":
            frame = self.guarded(lambda: self._read_arrow(wanted))
        else:
            frame = self._whole[wanted]
        return without_words(frame, self.options.missing)

    def texts(self, columns: Sequence[str]) -> Iterator[Any]:
        """Some columns of a table of text as they were written, in parts (polars frames of texts)."""
        for chunk, _ in self.delimited.chunks(self._places(columns)):
            yield chunk

    def _places(self, columns: Sequence[str]) -> list[int]:
        asked = set(columns)
        return [j for j, name in enumerate(self.names) if name in asked]

    def _read_delimited(self, wanted: list[str], compact: bool, progress: Progress | None) -> Any:
        pl = optional("polars", "cli", "reading a table")
        semicolons = self.delimited.delimiter == ";"
        cells = {name: Cells(self.options, semicolons=semicolons) for name in wanted}
        for chunk, codes in self.delimited.chunks(self._places(wanted), progress):
            for series in chunk:
                cells[series.name].add(series, codes=codes)
        again = [name for name in wanted if cells[name].again]
        if again:  # text after numbers: the numbers are wanted as they were written, too
            for chunk in self.texts(again):
                for series in chunk:
                    cells[series.name].add_known(series)
        say_doubts(self.label, cells, self.said)
        frame = pl.DataFrame([cells.pop(name).series(name, compact=compact) for name in wanted])
        if not len(frame):
            raise FileError(f"{self.label} has names of columns, but no rows.")
        return frame

    def guarded(self, read: Callable[[], Any]) -> Any:
        """Call a reader of polars; what it says of a file becomes one line."""
        pl = optional("polars", "cli", "reading a table")
        try:
            return read()
        except (pl.exceptions.PolarsError, OSError, ValueError, NotImplementedError) as error:
            if isinstance(error, FileError):
                raise
            raise FileError(f"{self.label} {self._trouble(error)}.") from error
        except BaseException as error:
            if type(error).__name__ == "PanicException":  # a damaged file may take polars by surprise
                raise FileError(f"{self.label} {self._trouble(error)}.") from error
            raise

    def _trouble(self, error: BaseException) -> str:
        with self.path.open("rb") as stream:
            what = beginning_of(stream.read(16))
        wanted = WORDS_OF_ENGINES[self.format]
        found = f"it looks like {what}" if what and wanted.split()[0] not in what else "it may be damaged or cut off"
        return f"cannot be read as {wanted}: {found} ({first_line(error)})"

    def is_stream(self) -> bool:
        """Whether an Arrow file is a stream, without a list of its batches at the end."""
        with self.path.open("rb") as stream:
            return stream.read(6) != b"ARROW1"

    def _arrow_schema(self) -> Any:
        pl = optional("polars", "cli", "reading a table")
        with self.plainly() as path:
            return pl.read_ipc_stream(path).schema if self.is_stream() else pl.read_ipc_schema(path)

    def _read_arrow(self, wanted: list[str]) -> Any:
        pl = optional("polars", "cli", "reading a table")
        place = {name: i for i, name in enumerate(self._arrow_schema())}  # polars reads some names as patterns
        with self.plainly() as path:
            read = pl.read_ipc_stream if self.is_stream() else pl.read_ipc
            return read(path, columns=[place[name] for name in wanted])

    @contextmanager
    def plainly(self) -> Iterator[Any]:
        """The path, or the open file where polars would take its name for a pattern of names."""
        if not any(mark in str(self.path) for mark in "*?["):
            yield self.path
            return
        with self.path.open("rb") as stream:
            yield stream

    def _read_lines(self) -> Any:
        """JSON lines, or a JSON array of objects."""
        pl = optional("polars", "cli", "reading a table")
        blocks = text_blocks(self.path, self.label, packing=self.packing, encoding=self.options.encoding)
        with tempfile.TemporaryDirectory(prefix="easyfs-") as folder:
            path = Path(folder) / "plain.jsonl"
            with path.open("wb") as plain:
                plain.writelines(blocks)
            with path.open("rb") as plain:
                begins = plain.read(4096).lstrip()[:1]
            if not begins:
                raise EmptyFileError(f"{self.label} is empty.")
            try:
                if begins == b"[":
                    return pl.read_json(path, infer_schema_length=None)
                frame = pl.scan_ndjson(path, infer_schema_length=None).collect()
            except pl.exceptions.PolarsError:
                _check_lines(path, self.label)
                raise
            if has_empty_row(frame):  # a line may be no object
                _check_lines(path, self.label)
            return frame


def _check_lines(path: Path, label: str) -> None:
    with path.open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            check_line(line, number, label)


def has_empty_row(frame: Any) -> bool:
    """Whether some row of a polars frame has no value at all."""
    gone = [series.alias("").is_null() for series in frame]  # polars would read some names as patterns
    return bool(gone) and bool(reduce(and_, gone).any())


def check_line(line: bytes, number: int, label: str) -> None:
    """A line of JSON that is no object is an error that names it."""
    try:
        content = json.loads(line, parse_constant=_no_constant) if line.strip() else {}
    except ValueError as error:
        raise FileError(
            f"line {number} of {label} is not JSON: {first_line(error)}; each line must be an object of its own."
        ) from error
    if not isinstance(content, dict):
        raise FileError(
            f"line {number} of {label} is {type(content).__name__}; each line must be an object, name to value."
        )


def _no_constant(word: str) -> None:
    raise ValueError(f"{word} is no number of JSON, write null for a missing value")


def without_words(frame: Any, words: Sequence[str]) -> Any:
    """Further words for missing values become null."""
    pl = optional("polars", "cli", "reading a table")
    if not words:
        return frame
    numbers = [float(word) for word in words if word.replace(".", "", 1).lstrip("+-").isdigit()]
    columns = []
    for series in frame:
        gone = None
        if series.dtype == pl.String:
            gone = series.str.strip_chars().is_in(list(words))
        elif series.dtype.is_numeric() and numbers:
            gone = series.cast(pl.Float64).is_in(numbers)
        columns.append(series if gone is None else series.set(gone.fill_null(False), None))
    return pl.DataFrame(columns)


def open_source(
    name: str, *, as_format: str | None = None, options: TextOptions | None = None, query: str | None = None
) -> Source:
    """A table by the name of its file; ``-`` is standard input.

    Parameters
    ----------
    name : str
        The file's name, with ``::`` and the name of a sheet, a table or a member after it where it holds several.
    as_format : str, optional
        Its format, where the name does not tell. Standard input is CSV otherwise.
    options : TextOptions, optional
        How a table of text is to be read.
    query : str, optional
        What is asked of a database, instead of a table.
    """
    options = options or TextOptions()
    if as_format is not None and as_format not in FORMATS:
        raise FileError(f"there is no format {as_format!r}; use one of {', '.join(FORMATS)}.")
    if name == "-":
        path, label, given = _from_standard_input(), "standard input", as_format or "csv"
        with path.open("rb") as stream:
            return _opened(_Given(path, label, given, "", packing_of(stream.read(16))), options, query)
    plain, inside = split_name(name)
    path = Path(plain)
    head = _head(path, plain)
    found, packing = _format(plain, head, as_format)
    label = repr(name)
    if not path.is_file():  # a pipe can be read but once
        with path.open("rb") as piped:
            path = kept(piped)
        with path.open("rb") as stream:
            packing = packing_of(stream.read(16))
    if packing is not None and packing.kind == "zip":
        member = pick_member(path, inside, label)
        inner = format_of(member)
        found = as_format or (inner[0] if inner else found)
        if found == "zip":
            raise FileError(f"{label} holds {member!r}, which has no known ending; say as_format='csv' or another format.")
        if found not in TEXT or (inner and inner[1]):
            path, packing, inside = kept_member(path, member), (Packing(inner[1]) if inner and inner[1] else None), ""
        else:
            packing, inside = Packing("zip", member), ""
    if inside and found not in ("excel", *DATABASES):
        raise FileError(f"{plain!r} holds one table; there is no {inside!r} in it.")
    return _opened(_Given(path, label, found, inside, packing if found in TEXT else None, Path(plain)), options, query)


@dataclass(frozen=True)
class _Given:
    """A file that is there, and what is known of it."""

    path: Path
    label: str
    format: str
    inside: str
    packing: Packing | None
    origin: Path | None = None


def _opened(given: _Given, options: TextOptions, query: str | None) -> Source:
    """The table; of a format that is not read in parts, a copy in Parquet."""
    origin = given.origin or given.path
    if query is not None and given.format not in DATABASES:
        raise FileError(f"query= is for databases (SQLite, DuckDB), but {given.label} is {given.format}.")
    if given.format not in CONVERTED:
        return Source(given.path, given.label, given.format, given.packing, options, origin, given.format)
    said: set[str] = set()
    path = as_parquet(
        given.path, given.label, given.format, given.packing, options, inside=given.inside, query=query, said=said
    )
    return Source(path, given.label, "parquet", None, options, origin, given.format, said)


def _head(path: Path, name: str) -> bytes:
    """The first bytes of a file that can be read."""
    if not path.exists():
        if glob.has_magic(name):
            raise FileError(
                f"{name!r} is a pattern, not a file; give one of its files (select, apply and scan read patterns)."
            )
        raise FileError(f"there is no file {name!r}{_near_files(path)}")
    if path.is_dir():
        raise FileError(f"{name!r} is a folder, not a file; give one of its files (select, apply and scan read folders).")
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as stream:
            head = stream.read(16)
    except PermissionError as error:
        raise FileError(f"{name!r} cannot be opened: you may not read it.") from error
    except OSError as error:
        raise FileError(f"{name!r} cannot be opened: {error.strerror or error}.") from error
    if not head:
        raise EmptyFileError(f"{name!r} is empty.")
    return head


def _format(name: str, head: bytes, as_format: str | None) -> tuple[str, Packing | None]:
    """Format of a file, and how it is compressed: by its name, by how it begins, or as it was said."""
    known = format_of(name)
    if as_format is None and known is None:
        raise FileError(
            f"{name!r} has no known ending; say as_format='csv' (or another format), or rename it to {endings()}."
        )
    found = as_format or (known[0] if known else "csv")
    packing = packing_of(head) or (Packing(known[1]) if known is not None and known[1] else None)
    if found in DATABASES and as_format is None:  # .db may be either
        found = "duckdb" if head[8:12] == b"DUCK" else "sqlite" if head.startswith(b"SQLite format 3") else found
    return found, packing


def _near_files(path: Path) -> str:
    if not path.parent.is_dir():
        return f" (there is no folder {str(path.parent)!r} either)."
    near = difflib.get_close_matches(path.name, sorted(entry.name for entry in path.parent.iterdir()), n=2)
    return f"; did you mean {' or '.join(repr(str(path.parent / name)) for name in near)}?" if near else "."


def _from_standard_input() -> Path:
    path = kept(sys.stdin.buffer)
    if not path.stat().st_size:
        raise FileError("standard input is empty.")
    return path
