"""A file that is written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write under another name in the same folder, then rename."""
    folder = path.parent
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {os.fspath(folder)!r} to write {path.name!r} into; make it first.")
    if path.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder; give the name of a file.")
    try:
        handle, temporary = tempfile.mkstemp(dir=folder, prefix=f".{path.name[:40]}.", suffix=".part")
    except PermissionError as error:
        raise PermissionError(f"the folder {os.fspath(folder)!r} cannot be written into; choose another one.") from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, (path.stat().st_mode & 0o777) if path.exists() else 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
