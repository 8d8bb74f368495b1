"""A target in a file of its own, put beside the table: row by row, or by a column that both have."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from easyfs.cli.problems import CommandError, WrongUsageError, hint
from easyfs.cli.show import counted, warn
from easyfs.files.formats import TextOptions
from easyfs.files.source import open_source

FILE = "--target-file"


@dataclass(frozen=True)
class TargetTable:
    """A target, as it was read.

    Attributes
    ----------
    frame : polars DataFrame
        The targets, and the column that rows are joined by.
    label : str
        What its file is called.
    targets : tuple of str
        Names of the targets.
    join : str or None
        The column that says which rows belong together; None if they are in the same order.
    """

    frame: Any
    label: str
    targets: tuple[str, ...]
    join: str | None

    def beside(self, table: Any, label: str) -> Any:
        """A table with the targets as its last columns; null where there is none."""
        clash = [name for name in self.targets if name in table.columns]
        if clash:
            raise WrongUsageError(f"{FILE}: {label} has a column {clash[0]!r}, too; leave it out with --drop.")
        if self.join is None:
            if len(self.frame) != len(table):
                own = counted(len(self.frame), "row")
                raise CommandError(
                    f"{FILE}: {self.label} has {own}, but {label} has {len(table):,}; rows must be in the same order, or "
                    "say --join COLUMN."
                )
            return table.hstack(self.frame[list(self.targets)])
        return self._joined(table, label, self.join)

    def _joined(self, table: Any, label: str, key: str) -> Any:
        own, other = self.frame[key], table[key]
        if own.dtype.is_numeric() != other.dtype.is_numeric():
            raise CommandError(
                f"--join: {key!r} is {other.dtype} in {label}, but {own.dtype} in {self.label}; write it alike."
            )
        known = self.frame.filter(own.is_not_null())
        twice = known[key].filter(known[key].is_duplicated())
        if len(twice):
            raise CommandError(
                f"--join: {self.label} has several rows with {key!r} = {twice[0]!r}; one target a row is needed."
            )
        known = known.with_columns(own.drop_nulls().cast(other.dtype, strict=False))
        found = table.join(known, on=key, how="left", maintain_order="left")[[*table.columns, *self.targets]]
        unused = int((~known[key].is_in(other.unique().to_list())).sum())
        if unused == len(known):
            raise CommandError(f"--join: no {key!r} of {self.label} is found in {label}.")
        if unused:
            warn(f"{counted(unused, 'row')} of {self.label} belong to no row of {label}.")
        return found


def find_beside(name: str | None, options: TextOptions, targets: list[str] | None, join: str | None) -> TargetTable | None:
    """The target in a file of its own, where one is named."""
    if name is None:
        if join is not None:
            raise WrongUsageError(f"--join is for {FILE}; name that file, too.")
        return None
    return read_target(name, options, targets, join)


def read_target(name: str, options: TextOptions, targets: list[str] | None, join: str | None) -> TargetTable:
    """Read the file of a target; its only column is meant, where none is named."""
    source = open_source(name, options=replace(options, delimiter=None))
    names, renamed = source.names, {}
    if join is not None and join not in names:
        raise CommandError(f"--join: {source.label} has no column {join!r}.{hint(join, names)}")
    others = [column for column in names if column != join]
    if not targets and len(others) != 1:
        raise WrongUsageError(f"{FILE}: {source.label} has {len(others)} columns; say which is meant with --target COLUMN.")
    for target in targets or ():
        if target not in others:
            raise CommandError(f"--target: {source.label} has no column {target!r}.{hint(target, others)}")
    chosen = tuple(dict.fromkeys(targets or others))
    frame = source.read([*chosen, *([join] if join else [])])
    if source.given == "npy" and not targets:  # such an array has no name
        renamed = {chosen[0]: "y"}
    return TargetTable(frame.rename(renamed), source.label, tuple(renamed.get(name, name) for name in chosen), join)
