"""Tables that are read batch by batch: lazy frames, data sets of files, relations of a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from easyfs.common.telling import first_line
from easyfs.common.threads import map_blocks, threads_for
from easyfs.engines.parts import Part, Progress
from easyfs.files.members import Piece
from easyfs.files.scanning import Scan
from easyfs.tables.columns import INTERVALS, seconds_of_intervals
from easyfs.tables.frames import lazy_columns, n_rows_of
from easyfs.tables.naming import Roles, split

# Numbers in a batch: large enough that products run at full speed, small enough that a few fit into any memory.
BATCH_NUMBERS, FEWEST_ROWS, MOST_ROWS = 1 << 23, 1 << 10, 1 << 17
# Threads beyond one for each core: some wait for pieces to be read.
WAITING = 1
# Pieces that may be in memory at once, on however many threads.
PIECES_AHEAD = 8

Result = TypeVar("Result")


def batch_rows(n_columns: int) -> int:
    """Rows of a batch."""
    return min(max(BATCH_NUMBERS // max(1, n_columns), FEWEST_ROWS), MOST_ROWS)


@dataclass(frozen=True)
class StreamTable:
    """A table that is read from its first row to its last, as often as it is asked for.

    Attributes
    ----------
    names : list of str
        Names of all its columns.
    roles : Roles
        Which of them are target and weights.
    pieces : callable
        Gives the rows in pieces, in their order.
    choose : callable
        Gives the table with some columns, unread.
    progress : callable, optional
        Called with the number of rows that a pass over the table has done so far.
    count : callable, optional
        Gives the number of rows, or None, without reading them.
    """

    names: list[str]
    roles: Roles
    pieces: Callable[[], Iterator[Piece]]
    choose: Callable[[list[str]], Any]
    progress: Progress | None = None
    count: Callable[[], int | None] | None = None

    @property
    def n_rows(self) -> int | None:
        """Rows of the table, where all count and it says how many there are."""
        return None if self.count is None or self.roles.weight is not None else self.count()

    def reduce(self, function: Callable[[Part], Result], progress: Progress | None = None) -> Result:
        """``function`` of each frame, added up in their order; both ``progress`` hear of each piece.

        Threads read pieces and work on them; what cannot be read by them is read ahead while they work.
        """

        def of_piece(task: tuple[Piece, int, int]) -> tuple[Result | None, int]:
            piece, first, start = task
            return added(function(part) for part in self._parts(piece, first, start)), piece.n_rows

        total: Result | None = None
        done = 0
        with threads_for(batch_rows(len(self.names)), len(self.names), WAITING):
            for found, n_rows in map_blocks(of_piece, self._placed(), PIECES_AHEAD):
                done += n_rows
                total = added(part for part in (total, found) if part is not None)
                for hears in (self.progress, progress):
                    if hears is not None:
                        hears(done)
        if total is None:
            raise ValueError("the table has no rows.")
        return total

    def _placed(self) -> Iterator[tuple[Piece, int, int]]:
        """Pieces, and the number of the first row of each in the table and within what its label names."""
        first = begin = 0
        last = None
        for piece in self.pieces():
            if piece.label != last:
                last, begin = piece.label, first
            yield piece, first, first - begin
            first += piece.n_rows

    def _parts(self, piece: Piece, first: int, start: int) -> Iterator[Part]:
        for frame in piece.frames():
            X, y, weight = split(frame, self.roles)
            yield Part(X, y, weight, first, piece.label, start)
            n = n_rows_of(X)
            first, start = first + n, start + n

    def select(self, names: list[str]) -> Any:
        """The table with some of its columns, unread."""
        return self.choose(names)


def added(found: Iterable[Any]) -> Any:
    """The sum of results; None where there are none."""
    total: Any = None
    for one in found:
        if total is None:
            total = one
        else:
            total += one
    return total


def of_lazy_frame(frame: Any, names: list[str], roles: Roles) -> StreamTable:
    """A polars LazyFrame."""

    def pieces() -> Iterator[Piece]:
        size = batch_rows(len(names))
        if hasattr(frame, "collect_batches"):
            found = frame.collect_batches(chunk_size=size, maintain_order=True)
        else:  # older polars
            found = _slices(frame, size)
        for batch in found:
            for start in range(0, len(batch), size):  # a batch may be larger than was asked for
                yield Piece.read(batch[start : start + size], "the LazyFrame")

    pieces = _each_readable(pieces, "the LazyFrame", "; easyfs.scan says which file it is, and where")
    return StreamTable(names, roles, pieces, partial(lazy_columns, frame))


def _slices(frame: Any, size: int) -> Iterator[Any]:
    start = 0
    while True:
        batch = frame.slice(start, size).collect()
        if len(batch):
            yield batch
        start += size
        if len(batch) < size:
            return


def of_scan(scan: Scan, roles: Roles) -> StreamTable:
    """Files, by ``easyfs.scan``."""
    size = batch_rows(len(scan.names))

    def count() -> int | None:
        return scan.n_rows if scan.where is None else None

    return StreamTable(scan.names, roles, lambda: scan.pieces(size), scan.select, scan.progress, count)


def of_dataset(dataset: Any, names: list[str], roles: Roles) -> StreamTable:
    """A ``pyarrow.dataset.Dataset``."""
    import pyarrow as pa  # noqa: PLC0415

    def pieces() -> Iterator[Piece]:
        for number, fragment in enumerate(_fragments(dataset)):
            label = getattr(fragment, "path", None) or f"fragment {number}"
            size = batch_rows(len(names))
            try:
                _check_schema(fragment, dataset.schema, str(label))
                # Readahead is what costs memory: a fit has more to do than to read.
                found = fragment.to_batches(schema=dataset.schema, batch_size=size, batch_readahead=2, fragment_readahead=1)
                for batch in found:
                    if batch.num_rows:
                        yield Piece.read(_whole_types(pa.Table.from_batches([batch])), str(label))
            except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
                raise ValueError(f"{label} cannot be read: {error}") from error

    return StreamTable(names, roles, pieces, lambda chosen: dataset.scanner(columns=chosen))


def _whole_types(table: Any) -> Any:
    """A table of Arrow without types of which pyarrow takes no rows, or wrong ones: views, runs, lengths in months."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.compute as pc  # noqa: PLC0415

    for place, entry in enumerate(table.schema):
        if str(entry.type).startswith("run_end_encoded"):
            table = table.set_column(place, entry.name, pc.run_end_decode(table.column(place)))
        elif str(entry.type) == INTERVALS:
            micro = np.round(1e6 * seconds_of_intervals(table.column(place)))
            lengths = pa.array(np.where(np.isnan(micro), 0.0, micro).astype("timedelta64[us]"), mask=np.isnan(micro))
            table = table.set_column(place, entry.name, lengths)
    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    found = [(entry.name, plain.get(str(entry.type), entry.type)) for entry in table.schema]
    return table.cast(pa.schema(found)) if any(str(entry.type) in plain for entry in table.schema) else table


def _fragments(dataset: Any) -> Any:
    """The files of a data set."""
    try:
        return dataset.get_fragments()
    except ValueError as error:  # of a filtered one pyarrow does not say which rows are whose
        raise ValueError(
            f"X is a pyarrow dataset that is not read file by file ({first_line(error)}); give the dataset itself, or the "
            "filtered rows as a DuckDB relation or a polars LazyFrame."
        ) from error


def _check_schema(fragment: Any, expected: Any, label: str) -> None:
    """A file has the columns of the data set, each of the same kind: pyarrow would fill in what is not there."""
    import pyarrow.dataset as ds  # noqa: PLC0415

    found, keys = fragment.physical_schema, ds.get_partition_keys(fragment.partition_expression)
    lacking = [name for name in expected.names if name not in found.names and name not in keys]
    beyond = [name for name in found.names if name not in expected.names]
    if lacking or beyond:
        what = f"has no column {lacking[0]!r}" if lacking else f"has a column {beyond[0]!r}, which the dataset has not"
        raise ValueError(f"{label} {what}; files of one table have the same columns.")
    for name in expected.names:
        if name in keys:
            continue
        mine, other = _kind(found.field(name).type), _kind(expected.field(name).type)
        if mine not in ("nothing", other):
            raise ValueError(f"column {name!r} holds {mine} in {label}, but {other} in the dataset; give it one type.")


def _kind(dtype: Any) -> str:
    """What an Arrow type holds, in a word."""
    from pyarrow import types  # noqa: PLC0415

    if types.is_dictionary(dtype):
        dtype = dtype.value_type
    if types.is_null(dtype):
        return "nothing"
    if types.is_string(dtype) or types.is_large_string(dtype):
        return "text"
    numbers = types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype) or types.is_boolean(dtype)
    return "numbers" if numbers else "dates" if types.is_temporal(dtype) else str(dtype)


def readable(read: Callable[[], Result], what: str, way_out: str = "") -> Result:
    """What is read; what another library says when it cannot read it becomes one line."""
    try:
        return read()
    except Exception as error:
        library = type(error).__module__.split(".")[0]
        if library not in ("polars", "duckdb", "_duckdb") and not isinstance(error, OSError):
            raise
        said = f"{type(error).__name__}: {first_line(error)}"
        raise ValueError(f"{what} cannot be read ({said}){way_out}.") from error


def _each_readable(pieces: Callable[[], Iterator[Piece]], what: str, way_out: str = "") -> Callable[[], Iterator[Piece]]:
    """Pieces, each of them readable."""

    def guarded() -> Iterator[Piece]:
        found = pieces()
        while True:
            piece = readable(lambda: next(found, None), what, way_out)
            if piece is None:
                return
            yield piece

    return guarded


def of_relation(relation: Any, names: list[str], roles: Roles) -> StreamTable:
    """A relation of DuckDB."""
    import pyarrow as pa  # noqa: PLC0415

    def pieces() -> Iterator[Piece]:
        size, fresh = batch_rows(len(names)), relation.project("*")  # a relation that was read before may be used up
        reader = fresh.to_arrow_reader(size) if hasattr(fresh, "to_arrow_reader") else fresh.fetch_arrow_reader(size)
        for batch in reader:
            if batch.num_rows:
                yield Piece.read(_whole_types(pa.Table.from_batches([batch])), "the relation")

    pieces = _each_readable(pieces, "the relation")

    def choose(chosen: list[str]) -> Any:
        return relation.project(", ".join('"' + name.replace('"', '""') + '"' for name in chosen))

    return StreamTable(names, roles, pieces, choose)
