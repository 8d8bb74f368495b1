"""Reports of how far a long fit has come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Seconds between two reports on a terminal, and between two lines in a log.
TERMINAL_INTERVAL, LOG_INTERVAL = 0.2, 10.0


@dataclass(frozen=True)
class Progress:
    """Where a fit stands.

    Attributes
    ----------
    step : int
        Steps done so far, from 1.
    n_steps : int
        Steps at most; a fit may stop before.
    loss : float
        What is minimised (for a method that maximises a score, the negative of it) at this step.
    n_features : int
        How many columns are selected at this step.
    seconds : float
        Time since the fit began.
    """

    step: int
    n_steps: int
    loss: float
    n_features: int
    seconds: float

    def __str__(self) -> str:
        columns = "1 column" if self.n_features == 1 else f"{self.n_features} columns"
        return f"step {self.step} of at most {self.n_steps}, loss {self.loss:.6g}, {columns}, {self.seconds:.1f} s"


def reporter(progress: Any) -> Callable[[Progress], None]:
    """What to call at each step.

    Parameters
    ----------
    progress : None, bool or callable
        None or False reports nothing. True writes to the standard error stream: one line that is written over again on a
        terminal, and a line every ten seconds otherwise. A callable is called with a :class:`Progress` at each step.

    Returns
    -------
    callable
        Takes a :class:`Progress`.
    """
    if progress is None or progress is False:
        return _silent
    if progress is True:
        return _Lines()
    if callable(progress):
        report: Callable[[Progress], None] = progress
        return report
    raise ValueError(f"progress={progress!r}: give None, True or a function that takes a Progress.")


def _silent(_: Progress) -> None:
    """Report nothing."""


class _Lines:
    """Lines on the standard error stream, not too often."""

    def __init__(self) -> None:
        self._terminal = bool(sys.stderr is not None and sys.stderr.isatty())
        self._last = -float("inf")
        self._width = 0

    def __call__(self, progress: Progress) -> None:
        now, last = time.monotonic(), progress.step >= progress.n_steps
        interval = TERMINAL_INTERVAL if self._terminal else LOG_INTERVAL
        if sys.stderr is None or (now - self._last < interval and not last):
            return
        self._last = now
        text = str(progress)
        if self._terminal:
            sys.stderr.write("\r" + text.ljust(self._width) + ("\n" if last else ""))
            self._width = len(text)
        else:
            sys.stderr.write(text + "\n")
        sys.stderr.flush()
