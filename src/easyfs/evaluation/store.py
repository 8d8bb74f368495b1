"""Results as they come: one line of JSON for each, so that nothing is lost and a rerun goes on where the last one ended."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

Row = dict[str, Any]
# How each line begins.
START = b'{"kind":'


class Store:
    """An append-only file of rows (or a list in memory, without a path).

    A line that was cut off, by a crash in the middle of writing it, is dropped when the file is opened.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None):
        self.path = None if path is None else Path(path)
        self.rows: list[Row] = []
        self._stream: IO[bytes] | None = None
        if self.path is not None and self.path.exists():
            self.rows = list(_read(self.path))

    def append(self, row: Row) -> None:
        """Add a row; with a path it is on disk when this returns."""
        self.rows.append(row)
        if self.path is None:
            return
        if self._stream is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _cut_torn_line(self.path)
            self._stream = self.path.open("ab")
        self._stream.write(json.dumps(_plain(row), separators=(",", ":"), allow_nan=False).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _plain(value: Any) -> Any:
    """NaN is not JSON: it becomes null."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _read(path: Path) -> Iterator[Row]:
    *lines, torn = path.read_bytes().split(b"\n")
    # A line without its end was cut off in the middle of writing: it is not there, whether it can be read or not.
    if not torn.startswith(START[: len(torn)]):
        lines.append(torn)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or "kind" not in row:
            raise ValueError(
                f"line {number} of {path} is not a result; it may be another kind of file. Choose another one for results."
            )
        yield row


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as stream:
            stream.truncate(whole)
