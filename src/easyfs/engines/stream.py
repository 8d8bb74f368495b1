"""Tables that are read batch by batch: lazy frames, data sets of files, relations of a database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from easyfs.common.threads import map_blocks, threads_for
from easyfs.engines.parts import Part, Progress, n_rows_of
from easyfs.files.scanning import Scan
from easyfs.tables.naming import Roles, split

# Numbers in a batch: large enough that products run at full speed, small enough that a few fit into any memory.
BATCH_NUMBERS, FEWEST_ROWS, MOST_ROWS = 1 << 22, 1 << 10, 1 << 17
# Batches that may be in memory at once, on however many threads.
BATCHES_AHEAD = 4

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
    batches : callable
        Gives the batches, each with a label for messages.
    choose : callable
        Gives the table with some columns, unread.
    progress : callable, optional
        Called with the number of rows that a pass over the table has done so far.
    count : callable, optional
        Gives the number of rows, or None, without reading them.
    """

    names: list[str]
    roles: Roles
    batches: Callable[[], Iterator[tuple[Any, str]]]
    choose: Callable[[list[str]], Any]
    progress: Progress | None = None
    count: Callable[[], int | None] | None = None

    @property
    def n_rows(self) -> int | None:
        """Rows of the table, where all count and it says how many there are."""
        return None if self.count is None or self.roles.weight is not None else self.count()

    def reduce(self, function: Callable[[Part], Result], progress: Progress | None = None) -> Result:
        """``function`` of each batch, added up in their order; both ``progress`` hear of each.

        The next batches are read while threads work on those that are there.
        """
        total: Any = None
        done = 0

        def of_part(part: Part) -> tuple[Result, int]:
            return function(part), n_rows_of(part.X)

        with threads_for(batch_rows(len(self.names)), len(self.names)):
            for found, n_rows in map_blocks(of_part, self._parts(), BATCHES_AHEAD):
                done += n_rows
                if total is None:
                    total = found
                else:
                    total += found
                for hears in (self.progress, progress):
                    if hears is not None:
                        hears(done)
        if total is None:
            raise ValueError("the table has no rows.")
        result: Result = total
        return result

    def _parts(self) -> Iterator[Part]:
        first = begin = 0
        last = None
        for batch, label in self.batches():
            if label != last:
                last, begin = label, first
            X, y, weight = split(batch, self.roles)
            yield Part(X, y, weight, first, label, first - begin)
            first += n_rows_of(X)

    def select(self, names: list[str]) -> Any:
        """The table with some of its columns, unread."""
        return self.choose(names)


def of_lazy_frame(frame: Any, names: list[str], roles: Roles) -> StreamTable:
    """A polars LazyFrame."""

    def batches() -> Iterator[tuple[Any, str]]:
        size = batch_rows(len(names))
        if hasattr(frame, "collect_batches"):
            found = frame.collect_batches(chunk_size=size, maintain_order=True)
        else:  # older polars
            found = _slices(frame, size)
        for batch in found:
            for start in range(0, len(batch), size):  # a batch may be larger than was asked for
                yield batch[start : start + size], "the LazyFrame"

    return StreamTable(names, roles, batches, frame.select)


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

    return StreamTable(scan.names, roles, lambda: scan.batches(size), scan.select, scan.progress, count)


def of_dataset(dataset: Any, names: list[str], roles: Roles) -> StreamTable:
    """A ``pyarrow.dataset.Dataset``."""
    import pyarrow as pa  # noqa: PLC0415

    def batches() -> Iterator[tuple[Any, str]]:
        for number, fragment in enumerate(dataset.get_fragments()):
            label = getattr(fragment, "path", None) or f"fragment {number}"
            size = batch_rows(len(names))
            try:
                # Readahead is what costs memory: a fit has more to do than to read.
                found = fragment.to_batches(schema=dataset.schema, batch_size=size, batch_readahead=2, fragment_readahead=1)
                for batch in found:
                    if batch.num_rows:
                        yield pa.Table.from_batches([batch]), str(label)
            except (pa.ArrowInvalid, pa.ArrowTypeError, OSError) as error:
                raise ValueError(f"{label} cannot be read: {error}") from error

    return StreamTable(names, roles, batches, lambda chosen: dataset.scanner(columns=chosen))


def of_relation(relation: Any, names: list[str], roles: Roles) -> StreamTable:
    """A relation of DuckDB."""
    import pyarrow as pa  # noqa: PLC0415

    def batches() -> Iterator[tuple[Any, str]]:
        size, fresh = batch_rows(len(names)), relation.project("*")  # a relation that was read before may be used up
        reader = fresh.to_arrow_reader(size) if hasattr(fresh, "to_arrow_reader") else fresh.fetch_arrow_reader(size)
        for batch in reader:
            if batch.num_rows:
                yield pa.Table.from_batches([batch]), "the relation"

    def choose(chosen: list[str]) -> Any:
        return relation.project(", ".join('"' + name.replace('"', '""') + '"' for name in chosen))

    return StreamTable(names, roles, batches, choose)
