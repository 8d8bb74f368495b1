"""Text of a file in blocks of UTF-8: decompressed, decoded, without a byte order mark, with line feeds as line ends."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from easyfs.files.formats import FileError, Packing, beginning_of
from easyfs.files.packing import trouble_of, unpacked

BLOCK = 1 << 23
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# Called with the number of bytes of the file that have been read so far.
Progress = Callable[[int], None]


def text_blocks(
    path: Path,
    label: str,
    *,
    packing: Packing | None,
    encoding: str,
    progress: Progress | None = None,
    size: int | None = None,
) -> Iterator[bytes]:
    """Blocks of the text, at any place cut; errors say what the file is instead."""
    size = size or BLOCK
    with path.open("rb") as raw:
        try:
            stream = unpacked(raw, packing)
            first = _first(stream, size)
            mark = next((mark for mark in MARKS if first.startswith(mark)), b"")
            found = MARKS[mark] if mark else encoding
            first = first[len(mark) :]
            decode = _decoder(found, label)
            what = beginning_of(first)
            if what is not None or (decode is None and b"\0" in first[:4096]):
                raise FileError(f"{label} is not a table of text: it looks like {what or 'a binary file'}.")
            returns = b"\r" in first[:65536] and b"\n" not in first[:65536] and decode is None
            block = first
            while block:
                if progress is not None:
                    progress(raw.tell())
                text = block if decode is None else _decoded(decode, block, label, found)
                yield text.replace(b"\r", b"\n") if returns else text
                block = stream.read(size)
            if decode is not None:
                _decoded(decode, b"", label, found, final=True)
        except Exception as error:
            said = None if isinstance(error, FileError) else trouble_of(error, packing, label)
            if said is None:
                raise
            raise said from error


def _first(stream: Any, size: int) -> bytes:
    """The first block in full, as the text is known by it; a stream may give less than it is asked for."""
    block = bytes(stream.read(size))
    while len(block) < size and (more := stream.read(size - len(block))):
        block += more
    return block


def _decoder(encoding: str, label: str) -> Any:
    """A decoder that takes text block by block; None for UTF-8, which stays as it is."""
    try:
        info = codecs.lookup(encoding)
    except LookupError as error:
        raise FileError(
            f"there is no encoding {encoding!r} for {label}; common ones are utf-8, latin-1, cp1252, utf-16 and shift_jis."
        ) from error
    return None if info.name in ("utf-8", "ascii") else codecs.getincrementaldecoder(info.name)()


def _decoded(decode: Any, block: bytes, label: str, encoding: str, final: bool = False) -> bytes:
    try:
        return str(decode.decode(block, final)).encode()
    except UnicodeError as error:
        raise FileError(f"{label} is not text in the encoding {encoding}: {error}.") from error


def check_utf8(chunk: bytes, label: str, first_line: int) -> None:
    """An error that names the line where a text is not UTF-8."""
    try:
        chunk.decode()
    except UnicodeDecodeError as error:
        line = first_line + chunk.count(b"\n", 0, error.start)
        raise FileError(
            f"{label} is not UTF-8 text: line {line} has the byte 0x{chunk[error.start]:02x}; say which encoding it has, "
            "for example encoding='latin-1' or encoding='cp1252'."
        ) from error
