"""A process that runs cells: reads them from standard input, writes what it finds to standard output.

Started as ``python -m easyfs.evaluation.worker FILE``; ``FILE`` holds the data. It ends when its input does. Anything that
a selector prints goes to standard error.
"""

from __future__ import annotations

import os
import pickle
import queue
import struct
import sys
import threading
from typing import IO, Any

import joblib

from easyfs.evaluation.cell import Cell, Data, one_line, run_cell

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
    return pickle.loads(read_exactly(stream, LENGTH.unpack(head)[0]))


def read_exactly(stream: IO[bytes], length: int) -> bytes:
    """So many bytes; ``EOFError`` when there are fewer."""
    body = stream.read(length)
    if len(body) < length:
        raise EOFError
    return body


def _listen(stream: IO[bytes], asked: queue.SimpleQueue[bytes]) -> None:
    """Take cells in; when the other side is gone, however it ended, there is nobody to work for."""
    try:
        while True:
            asked.put(read_exactly(stream, LENGTH.unpack(read_exactly(stream, LENGTH.size))[0]))
    except EOFError:
        os._exit(0)


def main() -> None:
    """Serve cells until the input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    requests = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    threading.Thread(target=_listen, args=(requests, asked), daemon=True).start()
    loaded = joblib.load(sys.argv[1], mmap_mode="r")
    data = Data(**loaded)
    write(replies, ("ready", {}))
    while True:
        try:
            cell: Cell = pickle.loads(asked.get())
        except Exception as error:
            write(replies, ("ended", {"status": "failed", "reason": f"could not be read by a process: {one_line(error)}"}))
            continue
        run_cell(data, cell, lambda kind, found: write(replies, (kind, found)))
        write(replies, ("done", {}))


if __name__ == "__main__":
    main()
