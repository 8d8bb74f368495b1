"""Tables in ARFF, the format of Weka: attributes with their types, then rows; dense or sparse."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from easyfs.common.extras import optional
from easyfs.files.blocks import text_blocks
from easyfs.files.cells import Cells
from easyfs.files.formats import FileError, Packing, TextOptions

_NAME = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^\s{]+)"
_ATTRIBUTE = re.compile(rf"@attribute\s+({_NAME})\s*(.+)", re.IGNORECASE)
_CELL = re.compile(r"\s*('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,]*?)\s*(?:,|$)")
_SPARSE = re.compile(r"\s*(\d+)\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,]+?)\s*(?:,|$)")
NUMBERS = ("numeric", "real", "integer")


def read_arff(path: Path, label: str, packing: Packing | None, options: TextOptions) -> Any:
    """The table as a polars frame: numbers, nominal attributes as their labels, all else as text; ``?`` is missing."""
    pl = optional("polars", "cli", "reading a table")
    names: list[str] = []
    types: list[Any] = []
    columns: list[list[Any]] = []
    in_data = False
    for number, line in _lines(path, label, packing, options):
        if in_data:
            _add(columns, types, line, f"line {number} of {label}")
        elif line.lower().startswith("@data"):
            in_data, columns = True, [[] for _ in names]
        elif line.lower().startswith("@attribute"):
            name, kind = _attribute(line, f"line {number} of {label}")
            names.append(name)
            types.append(kind)
        elif not line.lower().startswith("@relation"):
            raise FileError(f"line {number} of {label} is no ARFF: {line[:60]!r}; there is @attribute, then @data.")
    if not in_data or not names:
        raise FileError(f"{label} is no ARFF, or is cut off: it has no {'@data' if names else '@attribute'}.")
    if not columns[0]:
        raise FileError(f"{label} has names of columns, but no rows.")
    return pl.DataFrame([_column(*entry, label, options) for entry in zip(names, types, columns, strict=True)])


def _lines(path: Path, label: str, packing: Packing | None, options: TextOptions) -> Iterator[tuple[int, str]]:
    rest, number = b"", 0
    for block in [*_blocks(path, label, packing, options), b"\n"]:
        *lines, rest = (rest + block).split(b"\n")
        for raw in lines:
            number += 1
            line = raw.decode(errors="replace").strip()
            if line and not line.startswith("%"):
                yield number, line


def _blocks(path: Path, label: str, packing: Packing | None, options: TextOptions) -> Iterator[bytes]:
    return text_blocks(path, label, packing=packing, encoding=options.encoding)


def _attribute(line: str, where: str) -> tuple[str, Any]:
    """Name and type of an attribute: "number", "text", or the labels of a nominal one."""
    match = _ATTRIBUTE.fullmatch(line)
    if match is None:
        raise FileError(f"{where} is no attribute: {line[:60]!r}.")
    kind = match[2].strip()
    if kind.startswith("{"):
        return _plain(match[1]), [_plain(cell) for cell in _cells(kind.strip("{} \t"))]
    word = kind.split()[0].lower()
    if word == "relational":
        raise FileError(f"{where}: a relational attribute holds tables of its own, which are not read.")
    return _plain(match[1]), "number" if word in NUMBERS else "text"


def _cells(line: str) -> list[str]:
    cells, at = [], 0
    while at < len(line):
        match = _CELL.match(line, at)
        assert match is not None
        cells.append(match[1])
        at = match.end()
    return [*cells, ""] if line.endswith(",") else cells


def _plain(cell: str) -> str:
    if len(cell) > 1 and cell[0] == cell[-1] and cell[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", cell[1:-1])
    return cell


def _add(columns: list[list[Any]], types: list[Any], line: str, where: str) -> None:
    """Take a row."""
    if line.startswith("{"):
        # What a sparse row does not name is zero, or the first label.
        row: list[Any] = [("0" if kind in ("number", "text") else kind[0]) for kind in types]
        for match in _SPARSE.finditer(line.strip("{} \t")):
            if int(match[1]) >= len(row):
                raise FileError(f"{where} has a cell of column {int(match[1])}, but there are {len(row)} (from 0).")
            row[int(match[1])] = None if match[2] == "?" else _plain(match[2])
    else:
        cells = next(csv.reader([line])) if "'" not in line and '"' not in line else _cells(line)
        row = [None if cell.strip() == "?" else _plain(cell.strip()) for cell in cells]
    if len(row) != len(columns):
        raise FileError(f"{where} has {len(row)} cells, but there are {len(columns)} attributes.")
    for column, value in zip(columns, row, strict=True):
        column.append(value)


def _column(name: str, kind: Any, values: list[Any], label: str, options: TextOptions) -> Any:
    pl = optional("polars", "cli", "reading a table")
    if isinstance(kind, list):
        known = set(kind)
        odd = next((value for value in values if value is not None and value not in known), None)
        if odd is not None:
            raise FileError(f"{label}: {name!r} holds {odd!r}, which is none of its labels ({', '.join(kind[:5])}).")
        return pl.Series(name, values, dtype=pl.String)
    texts = pl.Series(name, values, dtype=pl.String)
    if kind == "text":
        return texts
    cells = Cells(options)
    cells.add(texts, codes=False)
    found = cells.series(name, compact=False)
    if not found.dtype.is_numeric():
        raise FileError(f"{label}: {name!r} is said to be numeric, but holds text.")
    return found
