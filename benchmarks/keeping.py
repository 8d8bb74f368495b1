"""Rows of results: a line of JSON each, with where they come from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from easyfs.evaluation.provenance import made

RAW = Path(__file__).resolve().parent / "raw"
Row = dict[str, Any]


def rows_of(name: str) -> list[Row]:
    """All rows of a file, the first made first."""
    path = RAW / f"{name}.jsonl"
    return [json.loads(line) for line in path.open(encoding="utf-8")] if path.exists() else []


def keep(name: str, **row: Any) -> Row:
    """Add a row to a file, with the version, commit, date, machine and threads that it was made with."""
    row = made() | row  # threads that a script has set are not those of this process
    RAW.mkdir(exist_ok=True)
    with (RAW / f"{name}.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row) + "\n")
    return row


def rewrite(name: str, rows: Iterable[Row]) -> None:
    """Write the rows of a file anew, all at once."""
    draft = RAW / f"{name}.part"
    draft.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    os.replace(draft, RAW / f"{name}.jsonl")


def made_with(rows: list[Row]) -> list[str]:
    """With what rows were made, as a line of a page."""
    if not rows:
        return []
    machines = dict.fromkeys(f"{row['machine']}, {row['threads']} threads" for row in rows)
    libraries = dict.fromkeys(row["libraries"] for row in rows if row.get("libraries"))
    commits = dict.fromkeys(f"{row['commit']}, {row['date'][:10]}" for row in rows)
    return [f"Version {rows[-1]['version']}, commit {'; '.join(commits)}; {'; '.join([*machines, *libraries])}."]
