"""A selection that is saved, printed as code, or applied to another table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from easyfs.base.saving import as_bytes
from easyfs.cli.outputs import STANDARD, Outputs, whole
from easyfs.cli.problems import CommandError, WrongUsageError, hint
from easyfs.cli.show import busy, counted, say
from easyfs.files.scanning import Scan
from easyfs.saved.pasting import LANGUAGES
from easyfs.saved.selection import SavedSelection


def check_language(language: str) -> None:
    """A language that code can be written in."""
    if language not in LANGUAGES:
        raise WrongUsageError(f"--print {language!r} is not known; use one of {', '.join(LANGUAGES)}.")


def write_selected(outputs: Outputs, save: str | None, language: str | None, content: dict[str, Any]) -> None:
    """Save a selection, and print it as code, as far as that is asked for."""
    if save is not None:
        outputs.write(save, lambda stream: stream.write(as_bytes(content)))
    if language is not None:
        text = SavedSelection(content).code(language) + "\n"
        outputs.write(STANDARD, lambda stream: stream.write(text.encode("utf-8", "surrogatepass")))


def take_from(scan: Scan, chosen: SavedSelection, keep: list[str]) -> Scan:
    """The chosen columns of a table, unread, and those that are kept beside them."""
    missing = [name for name in chosen.columns if name not in set(scan.names)] if chosen.is_named else []
    if missing:
        more = f" (and {len(missing) - 1} more that the selection has)" if len(missing) > 1 else ""
        raise CommandError(f"{scan.label} has no column {missing[0]!r}{more}.{hint(missing[0], scan.names)}")
    with busy(f"reading the columns of {scan.label}"):
        taken: Scan = chosen.transform(scan)
    return scan.select([*taken.names, *(name for name in keep if name not in set(taken.names))])


def write_taken(scan: Scan, output: str, written: tuple[str, bool], selection: str, *, in_memory: bool) -> None:
    """Write a table with the chosen columns."""
    to, compressed = written
    from easyfs.files.writing import write_scan  # noqa: PLC0415

    with whole(Path(selection), *(member.source.path for member in scan.members)) as outputs:
        outputs.check(output, "-o")
        with busy(f"writing {output}"):
            outputs.write(output, lambda stream: write_scan(scan, stream, to=to, compressed=compressed, whole=in_memory))
    place = "to standard output" if output == STANDARD else output
    say(f"{counted(len(scan.names), 'column')} of {scan.label}; wrote {place}")
