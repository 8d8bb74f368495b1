"""Tables that a command does not read into memory: several files, or one that is too large for it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from easyfs.cli.loading import missing_in_any, open_table, shown_target, wanted_columns, warn_of_gone
from easyfs.cli.problems import CommandError, WrongUsageError
from easyfs.cli.show import busy, counted, progress_bar, say
from easyfs.files.finding import find_files
from easyfs.files.formats import PACKED, TextOptions
from easyfs.files.scanning import Scan, scan_files, size_of
from easyfs.files.source import Source

WEIGHT = "--sample-weight"
# A file of more than this share of the free memory is read batch by batch: in memory it takes a few times its size.
SHARE = 0.25
# Bytes of text for each byte of it packed, about, and bytes of a cell in memory.
UNPACKED, CELL = 6, 8
# How often a fit reads the rows.
PASSES = 2


def free_memory() -> int | None:
    """Bytes of memory that are free; None where the system does not say."""
    names = getattr(os, "sysconf_names", {})
    if "SC_PAGE_SIZE" not in names:
        return None
    for pages, share in (("SC_AVPHYS_PAGES", 1.0), ("SC_PHYS_PAGES", 0.5)):
        if pages in names:
            found = os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")
            if found > 0:
                return int(share * found)
    return None


def size_unpacked(path: Path) -> int:
    """Bytes of a file, or about how many it has unpacked: text that is packed, and the cells of Parquet."""
    size = path.stat().st_size if path.is_file() else 0
    if path.suffix.lower() in PACKED:
        return UNPACKED * size
    if path.suffix.lower() != ".parquet" or not size:
        return size
    import polars as pl  # noqa: PLC0415

    try:
        lazy = pl.scan_parquet(path, glob=False)
        return max(size, CELL * int(lazy.select(pl.len()).collect().item()) * len(lazy.collect_schema()))
    except (pl.exceptions.PolarsError, OSError):  # whoever reads it says what is wrong
        return size


def open_tables(names: list[str], as_format: str | None, options: TextOptions, query: str | None = None) -> Source | Scan:
    """The table that a command is for: one file, or what is read batch by batch."""
    if "-" in names and len(names) > 1:
        raise WrongUsageError("- is standard input, which cannot be one of several files.")
    if names == ["-"]:
        return open_table("-", as_format, options, query)
    found, why = find_files(names, every=as_format is not None), ""
    if len(found) == 1 and not found[0].keys:
        path = found[0].path
        size, free = size_unpacked(path), free_memory()
        if free is None or size <= SHARE * free:
            return open_table(found[0].name, as_format, options, query)
        is_so = f"about {size_of(size)} unpacked" if size > path.stat().st_size else size_of(size)
        why = f"{path} is {is_so}, and {size_of(free)} of memory are free: it is read batch by batch"
    table = scan_files(names, options, as_format=as_format, query=query)
    say(why or f"{counted(table.n_files, 'file')} ({size_of(table.size)}) are read batch by batch as one table")
    return table


def can_stream(selector: Any) -> bool:
    """Whether a selector takes a table that is read batch by batch."""
    from easyfs.estimator.streaming import StreamingSelector  # noqa: PLC0415

    return isinstance(selector, StreamingSelector)


@dataclass
class KnownTarget:
    """Says which rows have a target, and counts those that have none, of each reading."""

    missing: tuple[str, ...]
    seen: int = 0
    gone: int = 0

    def begin(self) -> None:
        """Count anew: the rows are read once more."""
        self.seen = self.gone = 0

    def __call__(self, *values: Any) -> Any:
        """Which of some rows have all targets."""
        gone = missing_in_any(list(values), self.missing)
        self.seen += len(gone)
        self.gone += int(gone.sum())
        return ~gone


@dataclass
class Streamed:
    """A table that is read batch by batch.

    Attributes
    ----------
    scan : Scan
        Its files.
    columns : list of str
        The columns to select from.
    targets : tuple of str
        Columns that are the target.
    weight : str or None
        The column of the weights.
    known : KnownTarget
        What leaves out rows without a target.
    every : Scan
        The same rows with all columns, to write from.
    n_rows : int
        Rows that were selected on, after a fit.
    """

    scan: Scan
    columns: list[str]
    targets: tuple[str, ...]
    weight: str | None
    known: KnownTarget
    every: Scan
    n_rows: int = field(default=0)

    @property
    def label(self) -> str:
        """What the table is called."""
        return self.scan.label

    def fit(self, selector: Any) -> float:
        """Fit, and give the seconds that it took."""
        start = time.perf_counter()
        with busy(f"reading the columns of {self.label}"):
            types = self.scan.types()
        if self.weight is not None and not types[self.weight].is_numeric() and str(types[self.weight]) != "Boolean":
            raise CommandError(f"{WEIGHT}: column {self.weight!r} holds no numbers ({types[self.weight]}).")
        what = f"choosing from {counted(len(self.columns), 'column')} of {self.label}"
        total = self.scan.n_rows
        shown = busy(what) if total is None else progress_bar(what, PASSES * total)
        with shown as progress:
            table = self.scan if progress is None else self.scan.watched(_Passes(progress))
            explained = list(self.targets) if len(self.targets) > 1 else next(iter(self.targets), None)
            try:
                selector.fit(table, explained, **({} if self.weight is None else {"sample_weight": self.weight}))
            except ValueError as error:
                if self.known.seen and self.known.gone == self.known.seen:
                    raise CommandError(f"the target {shown_target(self.targets)!r} is missing in every row.") from error
                raise
        self.n_rows = selector.n_rows_
        self._say_gone()
        return time.perf_counter() - start

    def _say_gone(self) -> None:
        if self.known.gone:
            warn_of_gone(self.known.gone, self.known.seen, self.targets)

    def forget(self) -> None:
        """There is nothing in memory to let go of."""


class _Passes:
    """From the rows of each pass to those of all."""

    def __init__(self, progress: Any):
        self._progress = progress
        self._before = self._last = 0

    def __call__(self, done: int) -> None:
        """Take the rows of this pass."""
        if done < self._last:
            self._before += self._last
        self._last = done
        self._progress(self._before + done)


def stream(
    table: Scan, targets: tuple[str, ...], *, drop: list[str] | None, weight: str | None, keep: list[str] | None = None
) -> Streamed:
    """Make a table of files ready to be selected from."""
    wanted, _ = wanted_columns(table, targets, drop=drop, roles={WEIGHT: weight}, keep=keep)
    known = KnownTarget(table.options.missing)
    rows = table.only(targets, known) if targets else table
    columns = [name for name in wanted if name not in (*targets, weight)]
    return Streamed(rows.select(wanted), columns, targets, weight, known, rows)
