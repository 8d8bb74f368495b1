"""What is shown: tables on a terminal or in a pipe, warnings and progress on standard error."""

from __future__ import annotations

import contextlib
import io
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

# Characters that turn the direction of what follows.
TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
WIDE = 10_000
# A line under the headings, nothing else.
HEADED = box.Box("    \n    \n ── \n    \n    \n    \n    \n    \n")


@dataclass
class Settings:
    """How much is said."""

    quiet: bool = False
    verbose: bool = False


settings = Settings()


def set_talk(quiet: bool, verbose: bool) -> None:
    """Take over ``--quiet`` and ``--verbose``."""
    settings.quiet, settings.verbose = quiet, verbose or settings.verbose


def plain(text: Any) -> str:
    """A text that is safe to show: line breaks, control and turning characters are written out."""
    return "".join(_written_out(c) if (not c.isprintable() and c != " ") or c in TURNING else c for c in str(text))


def _written_out(character: str) -> str:
    if unicodedata.category(character) in ("Zs", "Cn", "Co"):
        return character
    return character.encode("unicode_escape").decode()


def cell(text: Any, style: str = "") -> Text:
    """A cell of a table: text that is shown as it is, never as markup."""
    return Text(plain(text), style=style, overflow="ellipsis", no_wrap=True)


def new_table(*columns: str | tuple[str, str], title: str | None = None) -> Table:
    """A table with headings.

    ``(heading, "right")`` puts a column to the right, ``(heading, "wide")`` lets it be cut where room is short.
    """
    table = Table(
        box=HEADED,
        title=title,
        title_justify="left",
        title_style="bold",
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for column in columns:
        heading, side = (column, "left") if isinstance(column, str) else column
        right = side == "right"
        table.add_column(heading, justify="right" if right else "left", header_style="bold", no_wrap=side != "wide")
    return table


def console(*, error: bool = False) -> Console:
    """Standard output (or standard error) to write to."""
    return Console(stderr=error, highlight=False, soft_wrap=False)


def show(*parts: Any) -> None:
    """Write tables and lines to standard output; in a pipe without colours, in full width."""
    screen = console()
    if screen.is_terminal:
        for part in parts:
            screen.print(Text(part) if isinstance(part, str) else part)
        return
    text = io.StringIO()
    page = Console(file=text, width=WIDE, highlight=False, color_system=None)
    for part in parts:
        page.print(Text(part) if isinstance(part, str) else part)
    sys.stdout.write("\n".join(line.rstrip() for line in text.getvalue().split("\n")))
    sys.stdout.flush()


def say(text: str) -> None:
    """A line of what was done, on standard error."""
    if not settings.quiet:
        sys.stderr.write(plain(text) + "\n")
        sys.stderr.flush()


def warn(text: str) -> None:
    """A warning on standard error."""
    if not settings.quiet:
        _line("warning", "yellow", text)


def fail(text: str) -> None:
    """An error on standard error."""
    _line("error", "red", text)


def _line(what: str, colour: str, text: str) -> None:
    line = Text(f"easyfs: {what}: ", style=f"bold {colour}")
    screen = console(error=True)
    if screen.is_terminal:
        screen.print(line + Text(plain(text), style="default"), soft_wrap=True)
    else:
        sys.stderr.write(f"easyfs: {what}: {plain(text)}\n")
        sys.stderr.flush()


def tidy_warnings(worded: Callable[[str], str]) -> None:
    """Show warnings of the library as lines, each once, ``worded`` for the command line; those for developers if asked."""
    seen: set[str] = set()

    def write(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = worded(str(message))
        for_users = issubclass(category, UserWarning) and "Deprecat" not in category.__name__
        if text not in seen and (for_users or settings.verbose):
            seen.add(text)
            warn(text)

    warnings.simplefilter("always")
    warnings.showwarning = write


def is_live() -> bool:
    """Whether progress is shown: on a terminal, unless quiet."""
    return sys.stderr.isatty() and not settings.quiet


@contextlib.contextmanager
def progress_bar(what: str, total: int) -> Iterator[Callable[[int], None] | None]:
    """A bar with the remaining time on a terminal, nothing in a pipe; gives what to call with the amount that is done."""
    if not is_live():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console(error=True), transient=True) as progress:
        task = progress.add_task(plain(what), total=total)
        yield lambda done: progress.update(task, completed=done)


@contextlib.contextmanager
def busy(what: str) -> Iterator[None]:
    """A sign that something is going on, on a terminal."""
    if not is_live():
        yield
        return
    with console(error=True).status(Text(plain(what))):
        yield


def seconds(value: float) -> str:
    """A time, to be read."""
    if value < 0.0995:
        return f"{value * 1000:.0f} ms"
    return f"{value:.1f} s" if value < 99.5 else f"{value / 60:.1f} min"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its word: 1 row, 2 rows, 10,000 rows."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
