"""How far a long fit has come, and when its time is over."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.common.parameters import check_number

# Seconds between two lines of progress: on a terminal, and elsewhere.
TERMINAL_PAUSE, FILE_PAUSE = 0.2, 10.0


def check_watch(progress: Any, time_limit: Any) -> None:
    """Check the two parameters that long fits share."""
    if time_limit is not None:
        check_number("time_limit", time_limit, 0.0)
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress={progress!r}: give None, True or a function that takes a Progress.")


@dataclass(frozen=True)
class Progress:
    """How far a fit has come.

    Attributes
    ----------
    step : int
        Steps done: penalties of a path, epochs, or steps of a search.
    n_steps : int or None
        The most steps there can be; None where that is not known beforehand.
    loss : float
        Loss on the validation rows; for a search that maximises a score, the negative of it.
    n_features : int
        Columns that are in use.
    seconds : float
        Seconds since the fit began.
    """

    step: int
    n_steps: int | None
    loss: float
    n_features: int
    seconds: float

    def __str__(self) -> str:
        total = "" if self.n_steps is None else f"/{self.n_steps}"
        return f"step {self.step}{total}: loss {self.loss:.4g}, {self.n_features} features, {self.seconds:.1f} s"


class Watch:
    """Tells the user how far a fit has come, and when its time is over.

    Parameters
    ----------
    name : str
        Name of the selector, for the lines it writes.
    progress : None, True or callable
        None is silent; True writes to standard error: a line that is updated on a terminal, and elsewhere one every ten
        seconds; a callable is called with a :class:`Progress` after each step.
    time_limit : float or None
        Seconds.
    """

    def __init__(self, name: str, progress: Any, time_limit: float | None):
        self.name = name
        self.progress = progress
        self.start = time.monotonic()
        self.end = np.inf if time_limit is None else self.start + time_limit
        self.next_line = 0.0

    def is_over(self) -> bool:
        """Whether the time limit has been reached."""
        return time.monotonic() >= self.end

    def report(self, step: int, n_steps: int | None, loss: float, n_features: int) -> None:
        """Report one step."""
        if self.progress is None or self.progress is False:
            return
        now = time.monotonic()
        state = Progress(step, n_steps, loss, n_features, now - self.start)
        if self.progress is not True:
            self.progress(state)
        elif now >= self.next_line:
            self._write(state)
            self.next_line = now + (TERMINAL_PAUSE if sys.stderr.isatty() else FILE_PAUSE)

    def __enter__(self) -> Watch:
        return self

    def __exit__(self, *_: object) -> None:
        """End the line that was updated."""
        if self.progress is True and self.next_line and sys.stderr.isatty():
            sys.stderr.write("\n")
            sys.stderr.flush()

    def _write(self, state: Progress) -> None:
        line = f"{self.name}: {state}"
        sys.stderr.write(f"\r\x1b[K{line}" if sys.stderr.isatty() else f"{line}\n")
        sys.stderr.flush()
