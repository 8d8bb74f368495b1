"""A process that runs cells: reads them from standard input, writes what it finds to standard output.

Started as ``python -m easyfs.evaluation.worker FILE``; ``FILE`` holds the data. It ends when its input does. Anything that
a selector prints goes to standard error.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from typing import IO, Any

import joblib

from easyfs.evaluation.cell import Cell, Data, run_cell

LENGTH = struct.Struct("<Q")


def write(stream: IO[bytes], message: Any, dumps: Any = pickle.dumps) -> None:
    """Write one message: its length, then its bytes."""
    body = dumps(message)
    stream.write(LENGTH.pack(len(body)) + body)
    stream.flush()


def read(stream: IO[bytes]) -> Any:
    """Read one message; ``EOFError`` at the end."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    body = stream.read(LENGTH.unpack(head)[0])
    return pickle.loads(body)


def main() -> None:
    """Serve cells until the input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    loaded = joblib.load(sys.argv[1], mmap_mode="r")
    data = Data(**loaded)
    write(replies, ("ready", {}))
    while True:
        try:
            cell = read(sys.stdin.buffer)
        except EOFError:
            return
        if not isinstance(cell, Cell):
            write(replies, ("done", {"status": "failed", "reason": f"not a cell: {type(cell).__name__}"}))
            continue
        run_cell(data, cell, lambda kind, found: write(replies, (kind, found)))
        write(replies, ("done", {}))


if __name__ == "__main__":
    main()
