"""Which format a file has, by its name or by how it begins, and how a table of text is to be read."""

from __future__ import annotations

import os
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
    ".npy": "npy",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".xlsb": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".arff": "arff",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
}
# Formats that are written, and all that are read.
WRITTEN = ("csv", "tsv", "parquet", "arrow", "jsonl", "npz")
DATABASES = ("sqlite", "duckdb")
FORMATS = (*WRITTEN, "npy", "excel", "arff", "libsvm", *DATABASES)
DELIMITED = ("csv", "tsv")
# What may be compressed, and by what.
TEXT = (*DELIMITED, "jsonl", "arff", "libsvm")
PACKED = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd", ".zip": "zip"}
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
    decimal : {".", ",", None}
        The mark before the decimals of a number; None finds it out, column by column.
    missing : tuple of str
        Further words (or numbers) that stand for a missing value.
    header : bool
        Whether the first line has the names of the columns.
    quotes : bool
        Whether cells may be put in quotation marks.
    thousands : {",", ".", "'", "space", None}
        The mark between groups of three digits; None finds it out where that is beyond doubt.
    date_order : {"day", "month", None}
        What comes first in a date such as 03/07/2024; None finds it out.
    comment : str or None
        How a line begins that is no row. Lines before the header that begin with # are none in any case.
    """

    delimiter: str | None = None
    encoding: str = "utf-8"
    decimal: str | None = None
    missing: tuple[str, ...] = ()
    header: bool = True
    quotes: bool = True
    thousands: str | None = None
    date_order: str | None = None
    comment: str | None = None

    def __post_init__(self) -> None:
        for name, known in (
            ("decimal", (".", ",")),
            ("thousands", (",", ".", "'", "space")),
            ("date_order", ("day", "month")),
        ):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise FileError(f"{name}={value!r} is not known; use {' or '.join(map(repr, known))}.")
        if self.decimal is not None and self.decimal == self.thousands:
            raise FileError(f"decimal={self.decimal!r} and thousands={self.thousands!r} are the same mark.")
        if self.comment is not None and (not self.comment.strip() or len(self.comment.splitlines()) > 1):
            raise FileError(f"comment={self.comment!r} is nothing that a line can begin with; give a mark such as '#'.")


@dataclass(frozen=True)
class Packing:
    """How a file is compressed.

    Attributes
    ----------
    kind : str
        One of the values of ``PACKED``.
    member : str
        Name of the file in a zip archive.
    """

    kind: str
    member: str = ""


def format_of(name: str) -> tuple[str, str] | None:
    """Format of a file by its name, and how it is compressed ("" if it is not); None for an unknown ending.

    An archive that is named like no table ("data.zip") has the format "zip".
    """
    path = PurePath(name.lower())
    packed = PACKED.get(path.suffix, "")
    if packed:
        path = path.with_suffix("")
    found = ENDINGS.get(path.suffix)
    if packed == "zip":
        return found or "zip", packed
    if found is None or (packed and found not in TEXT):
        return None
    return found, packed


def written_format(name: str) -> tuple[str, bool] | None:
    """Format of a file that is to be written, and whether it is compressed with gzip; None for one that cannot be."""
    known = format_of(name)
    if known is None or known[0] not in WRITTEN or known[1] not in ("", "gzip"):
        return None
    return known[0], known[1] == "gzip"


def endings(formats: tuple[str, ...] = FORMATS) -> str:
    """The known endings, to be shown."""
    shown = [ending for ending, found in ENDINGS.items() if found in formats and ending != ".json"]
    packed = ".gz" if formats == WRITTEN else ", ".join(PACKED)
    return f"{', '.join(shown)} (and {packed} of text)"


def split_name(name: str) -> tuple[str, str]:
    """A file's name, and what of it is meant: the table, sheet or member after ``::``."""
    if PurePath(name).name and not os.path.exists(name):
        before, between, after = name.partition("::")
        if between and after:
            return before, after
    return name, ""


def beginning_of(head: bytes) -> str | None:
    """What a file is by its first bytes, unless it may be text."""
    return next((what for mark, what in BEGINNINGS.items() if head.startswith(mark)), None)
