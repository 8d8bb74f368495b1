"""A table of scores that grows while a comparison runs, on a terminal."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from easyfs.cli.show import cell, console, new_table, seconds

BAR = 30


class LiveScores:
    """Mean scores so far, by method and size, and the remaining time."""

    def __init__(self, methods: list[str]):
        self._methods = list(methods)
        self._scores: dict[tuple[str, int], list[float]] = {}
        self._failed: dict[str, int] = {}
        self._metric = ""
        self._start = time.monotonic()
        self._live = Live(Text("comparing ..."), console=console(error=True), refresh_per_second=4, transient=True)

    def start(self) -> None:
        """Begin to show."""
        self._live.start()

    def stop(self) -> None:
        """Take the table away."""
        self._live.stop()

    def step(self, done: int, total: int, row: dict[str, Any]) -> None:
        """Take in a result."""
        method = row["selector"]
        if method not in self._methods:
            self._methods.append(method)
        if row["status"] != "ok":
            self._failed[method] = self._failed.get(method, 0) + 1
        elif row["kind"] == "score":
            self._metric, value = next(iter(row["values"].items()))
            self._scores.setdefault((method, row["size"]), []).append(value)
        self._live.update(Group(self._table(), self._bar(done, total)))

    def _table(self) -> Any:
        sizes = sorted({size for method, size in self._scores if method != "all"})
        several = [str(size) for size in sizes]
        table = new_table("method", *((size, "right") for size in several), ("failed", "right"), title=self._metric)
        for method in self._methods:
            cells = []
            for size in sizes:
                values = self._scores.get((method, size), [])
                cells.append(f"{sum(values) / len(values):.3f}" if values else "")
            table.add_row(cell(method, "bold"), *cells, str(self._failed.get(method, "")))
        return table

    def _bar(self, done: int, total: int) -> Text:
        passed = time.monotonic() - self._start
        filled = round(BAR * done / max(1, total))
        left = f", about {seconds(passed / done * (total - done))} left" if done else ""
        return Text(f"{'█' * filled}{'░' * (BAR - filled)} {done} of {total}, {seconds(passed)}{left}", style="dim")
