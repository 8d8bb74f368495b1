"""What a fit does, said step by step to those who ask for it, with the seconds that each step took."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from easyfs.common.parameters import check_number

# Seconds between two lines on how far a pass over the rows has come.
PAUSE = 10.0
MOST_NAMED = 5
# Where lines go: to standard output, as with scikit-learn, unless a program says otherwise.
_write: list[Callable[[str], Any]] = [print]


@contextmanager
def tell_to(write: Callable[[str], Any]) -> Iterator[None]:
    """Say where the lines of all fits go, for a while."""
    before = _write[0]
    _write[0] = write
    try:
        yield
    finally:
        _write[0] = before


def first_line(error: BaseException) -> str:
    """What an error of another library says, in a line."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__).rstrip(".")[:200]


def check_verbose(verbose: Any) -> None:
    """0 is quiet, 1 a line for each step, 2 more; True is 1."""
    if not isinstance(verbose, bool):
        check_number("verbose", verbose, 0, whole=True)


class Teller:
    """Says what was done, a line for each step.

    Parameters
    ----------
    name : str
        Who does it.
    verbose : int or bool
        0 says nothing, 1 a line for each step and now and then one on how far a pass over the rows has come, 2 one for
        each part of the table and each chosen column, too.
    """

    def __init__(self, name: str, verbose: int | bool):
        self.name, self.verbose = name, int(verbose)
        self._begin = self._last = self._said = time.perf_counter()
        self._parts = 0

    def done(self, what: str) -> None:
        """A step is done, which began where the last one ended."""
        now = time.perf_counter()
        self._say(f"{what} ({now - self._last:.2f} s)")
        self._last = self._said = now
        self._parts = 0

    def end(self, names: Sequence[str], gains: Sequence[float], n_columns: int) -> None:
        """All is done: how many columns, and which."""
        self.done("search")
        shown = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
        took = time.perf_counter() - self._begin
        self._say(f"chosen: {len(names):,} of {counted(n_columns, 'column')} in {took:.2f} s: {shown}")
        if self.verbose > 1:
            for place, (name, gain) in enumerate(zip(names, gains, strict=False), start=1):
                self._say(f"  {place}. {name}: {gain:.4g}")

    @property
    def progress(self) -> Callable[[int], None] | None:
        """What to call with the rows that a pass has done; None where that is not said."""
        return self._passed if self.verbose else None

    def _passed(self, n_rows: int) -> None:
        self._parts += 1
        now = time.perf_counter()
        if self.verbose < 2 and now - self._said < PAUSE:
            return
        self._said = now
        rate = n_rows / max(now - self._last, 1e-9)
        self._say(f"  {counted(n_rows, 'row')} in {counted(self._parts, 'part')}, {rate:,.0f} rows a second")

    def _say(self, text: str) -> None:
        if self.verbose:
            _write[0](f"[{self.name}] {text}")


def counted(number: int, one: str) -> str:
    """A number with its word: 1 row, 2 rows, 10,000 rows."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"
