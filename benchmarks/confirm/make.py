"""Make the tables of the confirmatory comparison from their public sources.

    python -m venv v && v/bin/pip install -r benchmarks/confirm/requirements.txt
    v/bin/python benchmarks/confirm/make.py [NAME ...] [--check]

``tables.toml`` says what is made from what, and the rules. Packages come from the package index (``pip download``, without
what they depend on) and from Debian (``apt-get download``, of which only the data are unpacked), or from the folder that
EASYFS_PACKAGES names, where they may have been put by hand. Tables go as NAME.npz (X, y, names and, where rows belong
together, groups) into the folder that EASYFS_CONFIRM names, by default data beside this file. A table whose checksum is not
that of ``checksums.json`` is not written. ``--check`` makes nothing and says what is missing or differs. ``--add`` writes
the checksums of tables that have none yet; there is no way to change one but by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
FOLDER = Path(os.environ.get("EASYFS_CONFIRM", HERE / "data"))
CHECKSUMS = HERE / "checksums.json"
SETTINGS = tomllib.loads((HERE / "tables.toml").read_text(encoding="utf-8"))
TABLES: dict[str, dict[str, Any]] = SETTINGS["table"]
# Values of text that say that there is none.
MISSING = ("", ".", "NA", "nan")
FEWEST = {"class": 5, "category": 10}
LARGE = (100, 50)

Arrays = dict[str, np.ndarray]


def checksum(arrays: Arrays) -> str:
    """Of the numbers, whatever the file looks like that holds them."""
    digest = hashlib.sha256()
    for name in ("X", "y", "names", "groups"):
        if name not in arrays:
            continue
        values = arrays[name]
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), np.nan, values).astype("<f8")  # one kind of NaN
            body = np.ascontiguousarray(values).tobytes()
        else:
            body = json.dumps([str(value) for value in values.tolist()]).encode()
        digest.update(f"{name} {values.shape}".encode() + body)
    return digest.hexdigest()


def known() -> dict[str, dict[str, Any]]:
    """Shape and checksum of each table, as they were fixed."""
    found: dict[str, dict[str, Any]] = json.loads(CHECKSUMS.read_text()) if CHECKSUMS.exists() else {}
    return found


def load(name: str, folder: Path = FOLDER) -> Arrays:
    """A table that was made, checked."""
    path = folder / f"{name}.npz"
    if not path.exists():
        raise FileNotFoundError(f"{name}: there is no {path.name} in {folder}; make it with benchmarks/confirm/make.py.")
    with np.load(path, allow_pickle=False) as stored:
        arrays = {key: stored[key] for key in stored.files}
    if checksum(arrays) != known().get(name, {}).get("sha256"):
        raise ValueError(f"{name}: {path} is not the table that was fixed; remove it and make it again.")
    return arrays


def make(name: str) -> Arrays:
    """A table from its source, by the rules of tables.toml."""
    from sources import read  # noqa: PLC0415 - needs packages that only the making of tables needs

    about = TABLES[name]
    columns, target = read(SETTINGS["source"], about)
    classes = about["task"] == "classification"
    y = _texts(target) if classes else _numbers(target, ())
    keep = np.array([value is not None for value in y]) if classes else ~np.isnan(y)
    gone = set(about.get("drop", {})) | {"rownames"}
    unknown = gone - set(columns) - {"rownames"}
    if unknown:
        raise ValueError(f"{name}: there are no columns {sorted(unknown)} to drop.")
    groups = _texts(columns.pop(about["group"])) if "group" in about else None
    columns = {label: values for label, values in columns.items() if label not in gone}
    told = {label: _kind(values, label in about.get("categories", ())) for label, values in columns.items()}
    rows = _rows(np.flatnonzero(keep), told, y, classes)
    names, matrix = _matrix(told, rows)
    arrays = {"X": matrix, "y": np.array(y[rows].tolist()), "names": np.array(names)}
    if groups is not None:
        arrays["groups"] = np.array(groups[rows].tolist())
    return arrays


def _texts(values: Any) -> np.ndarray:
    """Values as text, None where there is none."""
    found = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        text = str(value).strip()
        found[place] = None if value is None or value != value or text in MISSING else text  # noqa: PLR0124 - NaN
    return found


def _numbers(values: Any, texts: Any) -> np.ndarray:
    """Values as numbers, NaN where they are none."""
    if not len(texts):
        texts = _texts(values)
    found = np.full(len(texts), np.nan)
    for place, text in enumerate(texts):
        if text is not None:
            try:
                found[place] = float(text)
            except ValueError:
                continue
    return found


def _kind(values: Any, category: bool) -> np.ndarray:
    """A column as numbers, or as text if it is a category."""
    if not category and getattr(values, "dtype", None) is not None and values.dtype.kind in "fiub":
        return np.asarray(values, dtype=np.float64)
    texts = _texts(values)
    numbers = _numbers(values, texts)
    there = sum(text is not None for text in texts)
    return texts if category or np.isfinite(numbers).sum() < 0.9 * there else numbers


def _rows(rows: np.ndarray, columns: Arrays, y: np.ndarray, classes: bool) -> np.ndarray:
    """Rows to keep: none twice, no class of a few, not too many."""
    seen: set[tuple[Any, ...]] = set()
    once = []
    everything = [*columns.values(), y]
    for row in rows:
        key = tuple("?" if value is None or value != value else value for value in (v[row] for v in everything))  # noqa: PLR0124
        if key not in seen:
            seen.add(key)
            once.append(row)
    rows = np.array(once)
    if classes:
        labels, counts = np.unique(y[rows].astype(str), return_counts=True)
        rows = rows[np.isin(y[rows].astype(str), labels[counts >= FEWEST["class"]])]
    most = SETTINGS["max_rows"]
    if len(rows) > most:
        rows = np.sort(rows[np.random.RandomState(0).permutation(len(rows))[:most]])  # a stream that stays the same
    return rows


def _matrix(columns: Arrays, rows: np.ndarray) -> tuple[list[str], np.ndarray]:
    """All columns as numbers: categories as indicators; none that does not vary, none twice."""
    names: list[str] = []
    kept: list[np.ndarray] = []
    seen: set[bytes] = set()
    for label, values in columns.items():
        for name, numbers in _as_numbers(label, values[rows]):
            there = numbers[~np.isnan(numbers)]
            body = np.where(np.isnan(numbers), np.nan, numbers + 0.0).tobytes()
            if len(there) and there.min() < there.max() and body not in seen:
                seen.add(body)
                names.append(name)
                kept.append(numbers)
    return names, np.column_stack(kept)


def _as_numbers(label: str, values: np.ndarray) -> list[tuple[str, np.ndarray]]:
    if values.dtype.kind == "f":
        return [(label, values)]
    there = [value for value in values if value is not None]
    found = {value: there.count(value) for value in sorted(set(there))}
    chosen = list(found)[1:] if len(found) == 2 else [v for v, count in found.items() if count >= FEWEST["category"]]
    return [(f"{label}={value}", np.array([float(v == value) for v in values])) for value in chosen]


def write(name: str, arrays: Arrays) -> None:
    """Whole or not at all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    draft = FOLDER / f"{name}.part.npz"
    np.savez_compressed(draft, **arrays)
    os.replace(draft, FOLDER / f"{name}.npz")


def shape_of(arrays: Arrays) -> dict[str, Any]:
    """What checksums.json says of a table."""
    rows, columns = arrays["X"].shape
    found: dict[str, Any] = {"rows": rows, "columns": columns, "missing": int(np.isnan(arrays["X"]).sum())}
    if arrays["y"].dtype.kind != "f":
        found["classes"] = len(np.unique(arrays["y"]))
    return found | {"sha256": checksum(arrays)}


def one(name: str, add: bool) -> str:
    """Make a table, or say what is wrong; an empty text if nothing is."""
    try:
        arrays = make(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    found, fixed = shape_of(arrays), known()
    large = found["rows"] >= LARGE[0] and found["columns"] >= LARGE[1]
    if large == TABLES[name].get("small", False):
        return f"{found['rows']} x {found['columns']}: small = {str(not large).lower()} has to stand in tables.toml"
    if name not in fixed and add:
        fixed[name] = found
        order = {key: fixed[key] for key in TABLES if key in fixed}
        CHECKSUMS.write_text(json.dumps(order, indent=1) + "\n")
    if name not in fixed:
        return f"has no checksum yet; it is {found}"
    if fixed[name] != found:
        return f"the numbers are not those that were fixed: {found}, not {fixed[name]}"
    write(name, arrays)
    print(f"{name}: {found['rows']} x {found['columns']}", flush=True)
    return ""


def check(name: str) -> str:
    """What is wrong with a table that was made; an empty text if nothing is."""
    try:
        load(name)
    except (OSError, ValueError) as error:
        return str(error)
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="tables, by default all")
    parser.add_argument("--check", action="store_true", help="make nothing, say what is there")
    parser.add_argument("--add", action="store_true", help="write the checksums of tables that have none")
    args = parser.parse_args()
    names = args.names or list(TABLES)
    unknown = [name for name in names if name not in TABLES]
    if unknown:
        parser.error(f"there is no table {unknown[0]!r}; the names are {', '.join(TABLES)}")
    # What is there and right is left alone.
    wrong = {
        name: text for name in names if (text := check(name)) and (text := text if args.check else one(name, args.add))
    }
    for name, text in wrong.items():
        print(f"{name}: {text}", file=sys.stderr)
    print(f"{len(names) - len(wrong)} of {len(names)} tables are there and as they were fixed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
