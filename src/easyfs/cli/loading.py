"""The user's table for a command: read with a progress bar, columns by name or pattern, rows without a target left out."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, field
from typing import Any

from easyfs.cli.problems import CommandError, WrongUsageError, hint
from easyfs.cli.show import counted, progress_bar, warn
from easyfs.cli.target_file import TargetTable
from easyfs.files.formats import TextOptions
from easyfs.files.scanning import Scan
from easyfs.files.source import Source, open_source
from easyfs.tables.columns import MISSING_WORDS

# Words that may well be a class of their own are not taken for a missing target.
PERHAPS_CLASSES = ("none", "-")
# Numbers of a table with more cells than this are kept in single precision, where that does no harm.
LARGE = 50_000_000
# Single precision has seven digits; this much of a column's size must be in its spread.
LEAST_SPREAD = 1e-3


@dataclass
class Loaded:
    """A table that has been read.

    Attributes
    ----------
    source : Source
        Where it came from.
    X : polars DataFrame
        The columns to select from.
    y : polars Series or None
        The target.
    others : dict
        Columns with a role of their own (weights, groups), by role.
    rows : polars Series of bool or None
        Rows that are kept; None if all are.
    added : polars DataFrame or None
        Columns of all rows that are not in the table itself, to be written beside it.
    """

    source: Source
    X: Any
    y: Any = None
    others: dict[str, Any] = field(default_factory=dict)
    rows: Any = None
    added: Any = None

    @property
    def label(self) -> str:
        """What the table is called."""
        return self.source.label.strip("'")

    @property
    def columns(self) -> list[str]:
        """The columns to select from."""
        return list(self.X.columns)

    @property
    def n_rows(self) -> int:
        """Rows that are selected on."""
        return len(self.X)

    def forget(self) -> None:
        """Let go of the table, so that its memory is free for writing."""
        self.X = self.y = None
        self.others.clear()


def open_table(name: str, as_format: str | None, options: TextOptions, query: str | None = None) -> Source:
    """The table that a command is for."""
    return open_source(name, as_format=as_format, options=options, query=query)


def find_targets(source: Source | Scan, targets: list[str] | None) -> tuple[str, ...]:
    """The target columns, or an error that names the nearest ones."""
    if not targets:
        kind = source.given if isinstance(source, Source) else source.format
        if kind in ("npz", "libsvm") and "y" in source.names:
            return ("y",)
        last = source.names[-1]
        raise WrongUsageError(f"which column is to be explained? Say --target COLUMN (the last column is {last!r}).")
    return tuple(dict.fromkeys(find_column(source, target, "--target") for target in targets))


def find_column(source: Source | Scan, name: str, option: str) -> str:
    """A column by its name."""
    if name not in source.names:
        raise CommandError(f"{option}: {source.label} has no column {name!r}.{hint(name, source.names)}")
    return name


def find_columns(names: list[str], patterns: list[str] | None, option: str) -> list[str]:
    """Columns by names and patterns, repeated or with commas between them; each must match something."""
    found: list[str] = []
    for entry in patterns or ():
        parts = [entry] if entry in names else [part.strip() for part in entry.split(",") if part.strip()]
        for part in parts:
            matches = [part] if part in names else [name for name in names if fnmatch.fnmatchcase(name, part)]
            if not matches:
                raise CommandError(f"{option}: there is no column {part!r}.{hint(part.strip('*?'), names)}")
            found += matches
    return list(dict.fromkeys(found))


def load(
    source: Source,
    targets: tuple[str, ...],
    *,
    drop: list[str] | None = None,
    roles: dict[str, str | None] | None = None,
    keep: list[str] | None = None,
    beside: TargetTable | None = None,
) -> Loaded:
    """Read a table.

    Parameters
    ----------
    source : Source
        The file.
    targets : tuple of str
        Names of the target columns; none for a choice without a target.
    drop : list of str, optional
        Names or patterns of columns that are not read at all.
    roles : dict, optional
        Names of columns with a role of their own, by the option that names them.
    keep : list of str, optional
        Names or patterns of columns that are written, but neither used nor read here.
    beside : TargetTable, optional
        The target, where it is in a file of its own.
    """
    inside = () if beside is not None else targets
    roles = {**(roles or {}), **({"--join": beside.join} if beside is not None and beside.join else {})}
    wanted, special = wanted_columns(source, inside, drop=drop, roles=roles, keep=keep)
    with progress_bar(f"reading {source.label}", source.path.stat().st_size) as progress:
        frame = source.read(wanted, compact=True, progress=progress)
    loaded = Loaded(source, frame)
    if beside is not None:
        frame = beside.beside(frame, source.label)
        loaded.added = frame[list(targets)]
    if targets:
        gone = missing_in_any([frame[target] for target in targets], source.options.missing)
        if gone.all():
            raise CommandError(f"the target {shown_target(targets)!r} is missing in every row.")
        if gone.any():
            loaded.rows = ~gone
            warn_of_gone(int(gone.sum()), len(frame), targets)
            frame = frame.filter(loaded.rows)
        loaded.y = frame[targets[0]] if len(targets) == 1 else frame[list(targets)]
    loaded.others = {option: frame[name] for option, name in special.items()}
    loaded.X = slim(frame[[name for name in frame.columns if name not in {*targets, *special.values()}]])
    return loaded


def shown_target(targets: tuple[str, ...]) -> str:
    """The target in words: its name, or several."""
    return ", ".join(targets)


def warn_of_gone(n: int, total: int, targets: tuple[str, ...]) -> None:
    """Say how many rows have no target."""
    warn(
        f"{counted(n, 'row')} of {total:,} {'has' if n == 1 else 'have'} no target ({shown_target(targets)!r} is missing) "
        f"and {'is' if n == 1 else 'are'} left out."
    )


def wanted_columns(
    source: Source | Scan,
    targets: tuple[str, ...],
    *,
    drop: list[str] | None,
    roles: dict[str, str | None] | None,
    keep: list[str] | None = None,
) -> tuple[list[str], dict[str, str]]:
    """Columns that are read, and those with a role of their own, by the option that names them."""
    special = {option: find_column(source, name, option) for option, name in (roles or {}).items() if name is not None}
    for option, name in special.items():
        if name in targets:
            raise WrongUsageError(f"{option}: {name!r} is the target.")
    dropped = set(find_columns(source.names, drop, "--drop"))
    carried = set(find_columns(source.names, keep, "--keep"))
    for option, name in [*(("--target", target) for target in targets), *special.items()]:
        if name in dropped:
            raise WrongUsageError(f"--drop leaves out {name!r}, which {option} needs.")
        if name in carried:
            carried.remove(name)  # it is read for its own role, and written all the same
    wanted = [name for name in source.names if name not in dropped | carried]
    if not set(wanted) - {*targets, *special.values()}:
        raise CommandError(
            f"{source.label} has one column only; a column to be explained and others to choose from are needed."
            if len(source.names) < 2
            else f"{source.label} has no column left to choose from."
        )
    return wanted, special


def missing_in_any(values: list[Any], extra: tuple[str, ...]) -> Any:
    """Which rows lack one of several targets."""
    gone = missing_target(values[0], extra)
    for more in values[1:]:
        gone |= missing_target(more, extra)
    return gone


def missing_target(values: Any, extra: tuple[str, ...]) -> Any:
    """Which rows have no target."""
    values = values.alias("")  # polars would read some names as patterns
    gone = values.is_null()
    if values.dtype.is_float():
        gone |= values.is_nan().fill_null(True)
    elif str(values.dtype) == "String":
        words = [word for word in MISSING_WORDS if word not in PERHAPS_CLASSES] + [word.lower() for word in extra]
        gone |= values.str.strip_chars().str.to_lowercase().is_in(words).fill_null(True)
    return gone


def slim(frame: Any) -> Any:
    """A large table of numbers in single precision, unless a column would lose what tells its values apart."""
    import polars as pl  # noqa: PLC0415

    numbers = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    if len(frame) * len(numbers) < LARGE or any(_is_offset(frame[name]) for name in numbers):
        return frame
    columns = {}
    for name in frame.columns:
        series = frame.drop_in_place(name)
        small = series.dtype in (pl.Int8, pl.Int16)  # read as single precision where the table is made a matrix
        columns[name] = series.cast(pl.Float32) if series.dtype.is_numeric() and not small else series
    return pl.DataFrame(list(columns.values()))


def _is_offset(series: Any) -> bool:
    low, high = series.min(), series.max()
    if low is None or high is None:
        return False
    size = max(abs(float(low)), abs(float(high)))
    return size > 1e30 or (size > 0 and float(high) - float(low) < LEAST_SPREAD * size)
