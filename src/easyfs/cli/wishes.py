"""Further options of ``easyfs select``: what is adjusted for, what columns cost and where they come from, survival."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easyfs.cli import options as o
from easyfs.cli.loading import Loaded, find_columns
from easyfs.cli.problems import CommandError, WrongUsageError, hint
from easyfs.cli.show import counted

EVENT, TIME = "--event", "--time"


@dataclass(frozen=True)
class Wishes:
    """Options as they were given.

    Attributes
    ----------
    adjust_for, cost, source, max_per_source : list of str or None
        Columns to be taken out first; files or ``column=value``; ``name=patterns``; numbers or ``name=number``.
    budget : float or None
        What the chosen columns may cost.
    event, time : str or None
        Columns of a time that is not always observed, in place of a target.
    """

    adjust_for: list[str] | None = None
    cost: list[str] | None = None
    budget: float | None = None
    source: list[str] | None = None
    max_per_source: list[str] | None = None
    event: str | None = None
    time: str | None = None

    @property
    def survival(self) -> bool:
        """Whether event and time take the place of a target."""
        return self.event is not None or self.time is not None

    def check(self, *, targeted: bool, unsupervised: bool, task: str) -> None:
        """Event and time belong together, and are the target."""
        if not self.survival:
            return
        if self.event is None or self.time is None:
            raise WrongUsageError(f"{EVENT} and {TIME} belong together; name both columns.")
        if targeted or unsupervised:
            other = "--target" if targeted else "--unsupervised"
            raise WrongUsageError(f"{EVENT} and {TIME} take the place of a target; leave out {other}.")
        if self.event == self.time:
            raise WrongUsageError(f"{EVENT} and {TIME} name the same column, {self.event!r}.")
        if task == "classification":
            raise WrongUsageError(f"{EVENT} and {TIME} make a target of numbers; leave out --task classification.")

    def check_streamed(self, label: str) -> None:
        """A target of event and time needs all times at once."""
        if self.survival:
            raise WrongUsageError(
                f"{EVENT} and {TIME} need the table in memory, but {label!r} is read batch by batch; give one file that "
                "fits into memory."
            )

    def roles(self) -> dict[str, str | None]:
        """Columns that are read for a target that is made of them."""
        return {EVENT: self.event, TIME: self.time} if self.survival else {}

    def apply(self, selector: Any, names: list[str], known: list[str], method: str) -> None:
        """Set what was asked for.

        Parameters
        ----------
        selector : selector
            It is changed.
        names, known : list of str
            Columns to choose from, and all columns of the table.
        method : str
            What the selector is called.
        """
        settings: dict[str, Any] = {}
        if self.adjust_for:
            settings["adjust_for"] = find_columns(names, self.adjust_for, "--adjust-for")
        if self.cost:
            settings["costs"] = _costs(self.cost, names, known)
        if self.budget is not None:
            settings["budget"] = self.budget
        if self.source:
            settings["sources"] = _sources(self.source, names)
        if self.max_per_source:
            settings["max_per_source"] = _most(self.max_per_source)
        taken = selector.get_params(deep=False)
        for name in settings:
            if name not in taken:
                raise WrongUsageError(f"{method} does not take {OPTION[name]}; leave it out, or use --method easyfs.")
        selector.set_params(**settings)

    def put_target(self, loaded: Loaded, weight: Any) -> tuple[str, ...]:
        """Make the target of event and time, and name the columns that it is made of."""
        import polars as pl  # noqa: PLC0415

        from easyfs.tables.survival import survival_target  # noqa: PLC0415

        event, time = loaded.others[EVENT], loaded.others[TIME]
        for option, values in ((EVENT, event), (TIME, time)):
            if values.null_count():
                n = values.null_count()
                raise CommandError(f"{option}: column {values.name!r} is missing in {counted(n, 'row')}; leave them out.")
        residual = survival_target(event.to_numpy(), time.to_numpy(), None if weight is None else weight.to_numpy())
        loaded.y = pl.Series(f"{event.name} by {time.name}", residual)
        return event.name, time.name


OPTION = {
    "adjust_for": "--adjust-for",
    "costs": "--cost",
    "budget": "--budget",
    "sources": "--source",
    "max_per_source": "--max-per-source",
}


def _costs(entries: list[str], names: list[str], known: list[str]) -> dict[str, float]:
    """Costs by column, from files and from ``column=value``; what comes later counts."""
    found: dict[str, float] = {}
    for entry in entries:
        column, equals, text = entry.rpartition("=")
        if equals and not Path(entry).is_file():
            found |= dict.fromkeys(find_columns(names, [column], "--cost"), _number(text, f"--cost {entry!r}"))
            continue
        for name, text in _read_costs(entry):
            if name not in known:
                raise CommandError(f"--cost: {entry} has {name!r}, which is no column of the table.{hint(name, known)}")
            if name in names:
                found[name] = _number(text, f"--cost: {entry}, column {name!r}:")
    return found


def _read_costs(name: str) -> list[tuple[str, str]]:
    """Pairs of a column and its cost: a JSON object, or lines of ``column,cost``."""
    try:
        text = Path(name).read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise WrongUsageError(f"--cost {name!r} is neither column=value nor a file.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--cost: {name} cannot be read ({error}).") from error
    if name.lower().endswith(".json"):
        try:
            content = json.loads(text)
        except ValueError as error:
            raise CommandError(f"--cost: {name} is no JSON ({error}).") from error
        if not isinstance(content, dict):
            raise CommandError(f'--cost: {name} is no JSON object such as {{"mri": 50}}.')
        return [(str(column), str(cost)) for column, cost in content.items()]
    rows = [row for row in csv.reader(io.StringIO(text), delimiter="\t" if "\t" in text else ",") if row]
    if rows and len(rows[0]) == 2 and not _is_number(rows[0][1]):
        rows = rows[1:]  # names of the two columns
    for i, row in enumerate(rows):
        if len(row) != 2:
            raise CommandError(f"--cost: {name} has {len(row)} cells in row {i + 1}; give lines of column,cost.")
    return [(row[0].strip(), row[1]) for row in rows]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _number(text: str, where: str) -> float:
    if not _is_number(text) or not 0.0 < float(text) < float("inf"):
        raise WrongUsageError(f"{where} {text.strip()!r} is no cost; give a number above 0.")
    return float(text)


def _sources(entries: list[str], names: list[str]) -> dict[str, list[str]]:
    """Columns of each source, by names and patterns."""
    found: dict[str, list[str]] = {}
    for entry in entries:
        source, equals, patterns = entry.partition("=")
        if not equals or not source.strip() or not patterns.strip():
            raise WrongUsageError(f"--source {entry!r} is not name=columns, such as --source blood=hb,plt*.")
        found.setdefault(source.strip(), []).extend(find_columns(names, [patterns], "--source"))
    return found


def _most(entries: list[str]) -> int | dict[str, int]:
    """One number for all sources, or a number for some of them."""
    words = o.listed(entries)
    for word in words:
        if not word.rpartition("=")[2].strip().isdecimal():
            raise WrongUsageError(f"--max-per-source {word!r}: give a number such as 3, or source=3.")
    if len(words) == 1 and "=" not in words[0]:
        return int(words[0])
    if any("=" not in word for word in words):
        raise WrongUsageError("--max-per-source: give one number for all sources, or source=number for each.")
    return {source.strip(): int(text) for source, _, text in (word.rpartition("=") for word in words)}
