"""Output files, written whole or not at all: under another name in the same folder first, renamed when all are there."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from easyfs.cli.problems import CommandError, WrongUsageError
from easyfs.common.telling import first_line

STANDARD = "-"


class Outputs:
    """The files that a run is to write.

    Parameters
    ----------
    inputs : Path
        Files that must not be written to.
    """

    def __init__(self, *inputs: Path):
        self._inputs = inputs
        self._names: dict[str, str] = {}
        self._ready: list[tuple[Path, Path]] = []
        self._standard: IO[bytes] | None = None

    def check(self, name: str | None, option: str) -> None:
        """Find out before the run whether a file can be written."""
        if name is None:
            return
        path = Path(name)
        key = name if name == STANDARD else str(path.resolve())
        if key in self._names:
            where = "standard output" if name == STANDARD else repr(name)
            raise WrongUsageError(f"{self._names[key]} and {option} both write to {where}; give each a place of its own.")
        self._names[key] = option
        if name == STANDARD:
            return
        if path.is_dir():
            raise CommandError(f"{option} {name!r} is a folder; give the name of a file.")
        if not path.resolve().parent.is_dir():
            raise CommandError(f"{option} {name!r}: there is no folder {str(path.parent)!r}; make it first.")
        if not os.access(path.resolve().parent, os.W_OK):
            raise CommandError(f"{option} {name!r}: you may not write into the folder {str(path.parent)!r}.")
        for read in self._inputs:
            if path.exists() and read.exists() and path.samefile(read):
                raise CommandError(
                    f"{option} {name!r} is the table that is read; choose another name, so that a run that fails cannot "
                    "cost you the data."
                )

    def write(self, name: str, write: Callable[[IO[bytes]], object]) -> None:
        """Have a file written through a stream; it appears under its name at :meth:`finish`."""
        if name == STANDARD:
            self._standard = tempfile.TemporaryFile()  # noqa: SIM115
            write(self._standard)
            return

        def through(path: Path) -> None:
            with path.open("wb") as stream:
                write(stream)

        self.save(name, through)

    def save(self, name: str, save: Callable[[Path], object]) -> None:
        """Have a file written by something that takes a path; it appears under its name at :meth:`finish`."""
        path = Path(name).resolve()
        if path.exists() and not path.is_file():  # a device or a pipe cannot be renamed to
            save(path)
            return
        temporary = path.with_name(f".{os.getpid()}-{len(self._ready)}.{path.name}")
        self._ready.append((temporary, path))
        try:
            save(temporary)
        except OSError as error:  # the disk is full, or the file too large for it
            raise CommandError(f"{name!r} cannot be written: {first_line(error)}.") from error

    def finish(self) -> None:
        """Rename all files to their names, and copy what is for standard output."""
        for temporary, path in self._ready:
            if path.exists():
                shutil.copymode(path, temporary)
            temporary.replace(path)
        self._ready = []
        if self._standard is not None:
            self._standard.seek(0)
            shutil.copyfileobj(self._standard, sys.stdout.buffer, 1 << 20)
            sys.stdout.buffer.flush()
            self._standard.close()

    def drop(self) -> None:
        """Remove what is not finished."""
        for temporary, _ in self._ready:
            temporary.unlink(missing_ok=True)
        self._ready = []


@contextlib.contextmanager
def whole(*inputs: Path) -> Iterator[Outputs]:
    """Outputs that are all there at the end, or none of them."""
    outputs = Outputs(*inputs)
    try:
        yield outputs
        outputs.finish()
    finally:
        outputs.drop()
