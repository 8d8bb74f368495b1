"""Which format a file has, by its name or by how it begins, and how a table of text is to be read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

# Formats by the ending of a file's name.
ENDINGS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".npz": "npz",
}
FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl", "npz")
DELIMITED = ("csv", "tsv")
TEXT = (*DELIMITED, "jsonl")
# How files of other kinds begin.
BEGINNINGS = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive (an Excel workbook or an .npz, perhaps)",
    b"\x1f\x8b": "a gzip archive",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a .npy array",
    b"SQLite format 3": "a SQLite database",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"%PDF": "a PDF file",
    b"BZh": "a bzip2 archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
    b"\xfd7zXZ": "an xz archive",
}


class FileError(ValueError):
    """A file that cannot be read or written, with the reason on one line."""


class EmptyFileError(FileError):
    """A file without any content."""


@dataclass(frozen=True)
class TextOptions:
    """How a table of text is written down.

    Attributes
    ----------
    delimiter : str or None
        The character between cells; None finds it out.
    encoding : str
        Encoding of the text. A byte order mark is recognised in any case.
    decimal : {".", ","}
        The mark before the decimals of a number.
    missing : tuple of str
        Further words (or numbers) that stand for a missing value.
    header : bool
        Whether the first line has the names of the columns.
    quotes : bool
        Whether cells may be put in quotation marks.
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str = "."
    missing: tuple[str, ...] = ()
    header: bool = True
    quotes: bool = True


def format_of(name: str) -> tuple[str, bool] | None:
    """Format of a file by its name, and whether it is compressed with gzip; None for an unknown ending."""
    path = PurePath(name.lower())
    compressed = path.suffix == ".gz"
    if compressed:
        path = path.with_suffix("")
    found = ENDINGS.get(path.suffix)
    if found is None or (compressed and found not in TEXT):
        return None
    return found, compressed


def endings() -> str:
    """The known endings, to be shown."""
    return ", ".join(ending for ending in ENDINGS if ending != ".json") + " (and .gz of text)"


def beginning_of(head: bytes) -> str | None:
    """What a file is by its first bytes, unless it may be text."""
    return next((what for mark, what in BEGINNINGS.items() if head.startswith(mark)), None)
