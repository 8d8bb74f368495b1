"""From a path, a folder, a pattern or a list of them to the files of one table."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from easyfs.files.formats import FileError, endings, format_of, split_name

# What a partition without a value is called.
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
MOST_SHOWN = 5


@dataclass(frozen=True)
class Found:
    """A file of a table.

    Attributes
    ----------
    path : Path
        The file.
    keys : dict of str to str or None
        What the names of its folders say, such as ``{"year": "2024"}`` of ``year=2024``.
    inside : str
        The sheet, table or member that is meant; empty for the only one.
    """

    path: Path
    keys: dict[str, str | None]
    inside: str = ""

    @property
    def name(self) -> str:
        """The name by which it is opened."""
        return f"{self.path}::{self.inside}" if self.inside else str(self.path)


def find_files(given: Any, *, every: bool = False) -> list[Found]:
    """The files that are meant, each once.

    Parameters
    ----------
    given : str, path or list of them
        Files, folders and patterns.
    every : bool, default=False
        Whether files of a folder count whatever their ending.
    """
    entries = [given] if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(entries, Iterable) or isinstance(entries, (bytes, dict)):
        raise TypeError(f"path is of type {type(given).__name__}; give a path, a folder, a pattern or a list of them.")
    texts = [_text_of(entry) for entry in entries]
    if not texts:
        raise FileError("path is an empty list; give at least one file.")
    split = [split_name(text) for text in texts]
    plain = [os.path.abspath(text) for text, _ in split if os.path.isfile(text)]
    root = Path(os.path.commonpath([os.path.dirname(path) for path in plain])) if len(plain) > 1 else None
    found: dict[tuple[Path, str], Found] = {}
    for text, within in split:
        for path, below in _matches(text, every):
            start = below or root
            folders = path.absolute().relative_to(start.absolute()).parts[:-1] if start is not None else ()
            found.setdefault((path.resolve(), within), Found(path, _keys(folders), within))
    return list(found.values())


def _text_of(entry: Any) -> str:
    if not isinstance(entry, (str, os.PathLike)):
        raise TypeError(f"path holds a {type(entry).__name__}; give paths as text or pathlib.Path.")
    return os.path.expanduser(os.fspath(entry))


def _matches(text: str, every: bool) -> list[tuple[Path, Path | None]]:
    """Files, each with the folder below which names of folders may be keys."""
    path = Path(text)
    if path.is_dir():
        files = _inside(path, every)
        if not files:
            empty = not any(path.iterdir())
            found = "is empty" if empty else f"has no table{_there(path)}"
            raise FileError(f"the folder {text!r} {found}; tables end in {endings()}.")
        return [(file, path) for file in files]
    if path.exists() or not glob.has_magic(text):
        return [(path, None)]
    fixed = Path(*_fixed_parts(path))
    hits = [Path(hit) for hit in sorted(glob.glob(text, recursive=True))]
    files = [file for hit in hits for file in (_inside(hit, every) if hit.is_dir() else [hit])]
    if not files:
        where = "there is no such folder" if not fixed.is_dir() else f"looked in {str(fixed)!r}{_there(fixed)}"
        raise FileError(f"no file matches {text!r}: {where}.")
    return [(file, fixed) for file in dict.fromkeys(files)]


def _fixed_parts(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return parts or ["."]


def _inside(folder: Path, every: bool) -> list[Path]:
    """Tables in a folder and those below it; hidden ones, and what other programs keep for themselves, are none."""
    return [
        path
        for path in sorted(folder.rglob("*"))
        if not any(part.startswith((".", "_")) and "=" not in part for part in path.relative_to(folder).parts)
        and (every or format_of(path.name) is not None)
        and path.is_file()
    ]


def _there(folder: Path) -> str:
    names = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in folder.iterdir())
    if not names:
        return ", which is empty"
    shown = ", ".join(repr(name) for name in names[:MOST_SHOWN])
    return f", which has {shown}{f' and {len(names) - MOST_SHOWN} more' if len(names) > MOST_SHOWN else ''}"


def _keys(folders: tuple[str, ...]) -> dict[str, str | None]:
    keys: dict[str, str | None] = {}
    for folder in folders:
        name, equals, value = folder.partition("=")
        if equals and name:
            keys[unquote(name)] = None if value == NO_VALUE else unquote(value)
    return keys
