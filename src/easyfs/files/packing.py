"""Compressed files: which of them a name or its first bytes mean, and a stream of what is inside."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
import zlib
from pathlib import Path
from typing import Any

from easyfs.common.extras import optional
from easyfs.files.formats import FileError, Packing

BEGINNINGS = {b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\xfd7zXZ": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
ENCRYPTED = 1
RAW_BLOCK = 1 << 16
MOST_SHOWN = 5


def packing_of(head: bytes) -> Packing | None:
    """How a file is compressed, by its first bytes; a zip archive may also be another format."""
    return next((Packing(kind) for mark, kind in BEGINNINGS.items() if head.startswith(mark)), None)


def unpacked(raw: Any, packing: Packing | None) -> Any:
    """A stream of the content of an open file."""
    if packing is None:
        return raw
    if packing.kind == "zip":
        return zipfile.ZipFile(raw).open(packing.member)
    if packing.kind == "zstd":
        return _Zstd(raw)
    opened: Any = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}[packing.kind]
    return opened(raw, "rb")


class _Zstd:
    """A stream of zstd; one that was cut off is an error, which the package's own stream does not say."""

    def __init__(self, raw: Any):
        self._raw = raw
        self._zstandard = optional("zstandard", "zst", "reading a .zst")
        self._frame = self._zstandard.ZstdDecompressor().decompressobj()
        self._begun = False

    def read(self, _: int) -> bytes:
        """Some bytes; none at the end."""
        while True:
            packed = self._frame.unused_data if self._frame.eof else b""
            packed = packed or self._raw.read(RAW_BLOCK)
            if not packed:
                if self._begun and not self._frame.eof:
                    raise EOFError
                return b""
            if self._frame.eof:
                self._frame = self._zstandard.ZstdDecompressor().decompressobj()
            self._begun = True
            text = bytes(self._frame.decompress(packed))
            if text:
                return text


def trouble_of(error: BaseException, packing: Packing | None, label: str) -> FileError | None:
    """What an error of unpacking says of the file; None for any other error."""
    kind = "" if packing is None else packing.kind
    if isinstance(error, EOFError):
        return FileError(f"{label} is cut off: the compressed text ends too early.")
    known = (gzip.BadGzipFile, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
    # bz2 says OSError, and so does a disk that fails, but with a number.
    other = isinstance(error, OSError) and error.errno is None and kind == "bzip2"
    if isinstance(error, known) or other or type(error).__name__ == "ZstdError":
        return FileError(f"{label} is not a {kind} file, or is damaged: {error}.")
    return None


def pick_member(path: Path, wanted: str, label: str) -> str:
    """The file of a zip archive that is meant: the one that is named, or the only one."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, OSError) as error:
        raise FileError(f"{label} is not a zip file, or is damaged: {error}.") from error
    inside = {
        entry.filename: entry
        for entry in entries
        if not entry.is_dir() and not any(part.startswith((".", "__MACOSX")) for part in entry.filename.split("/"))
    }
    shown = ", ".join(repr(name) for name in list(inside)[:MOST_SHOWN])
    shown += f" and {len(inside) - MOST_SHOWN} more" if len(inside) > MOST_SHOWN else ""
    if not inside:
        raise FileError(f"{label} holds no file.")
    if wanted and wanted not in inside:
        raise FileError(f"{label} holds no file {wanted!r}; it has {shown}.")
    if not wanted and len(inside) > 1:
        plain = label.strip("'")
        raise FileError(f"{label} holds {len(inside)} files: {shown}; say which, as in '{plain}::{next(iter(inside))}'.")
    name = wanted or next(iter(inside))
    if inside[name].flag_bits & ENCRYPTED:
        raise FileError(f"{label}: {name!r} is protected by a password; unpack it first.")
    return name
