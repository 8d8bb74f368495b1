"""Tables and queries of SQLite and DuckDB files, which are opened for reading only."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from easyfs.common.extras import optional
from easyfs.files.delimited import check_names
from easyfs.files.formats import FileError
from easyfs.files.keeping import new_file

ROWS = 1 << 16
MOST_SHOWN = 8


def sqlite_frames(path: Path, label: str, table: str, query: str | None) -> Iterator[Any]:
    """A table of a SQLite file, or the answer to a query, in polars frames of one schema.

    SQLite has types of values, not of columns: whole numbers and others make a column of numbers, and with a text among
    them all are texts.
    """
    pl = optional("polars", "cli", "reading a table")
    types: dict[str, Any] = {"integer": pl.Int64, "real": pl.Float64, "text": pl.String, "blob": pl.Binary}
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)) as connection:
            asked = (
                "(" + _one_statement(query) + ")" if query is not None else _quoted(_sqlite_table(connection, label, table))
            )
            columns = [entry[0] for entry in connection.execute(f"SELECT * FROM {asked} LIMIT 0").description]
            check_names(columns, label)
            schema = {name: _sqlite_type(_kinds(connection, asked, name), types) for name in columns}
            rows = connection.execute(f"SELECT * FROM {asked}")
            first = True
            while (found := rows.fetchmany(ROWS)) or first:
                first = False
                yield pl.DataFrame(
                    [
                        pl.Series(name, [_value(row[j], dtype, pl) for row in found], dtype=dtype)
                        for j, (name, dtype) in enumerate(schema.items())
                    ]
                )
    except sqlite3.Error as error:
        raise FileError(_trouble(label, "SQLite", query, error)) from error


def _kinds(connection: Any, asked: str, name: str) -> set[str]:
    return {kind for (kind,) in connection.execute(f"SELECT DISTINCT typeof({_quoted(name)}) FROM {asked}")} - {"null"}


def _sqlite_type(kinds: set[str], types: dict[str, Any]) -> Any:
    if len(kinds) == 1:
        return types[next(iter(kinds))]
    return types["real"] if kinds <= {"integer", "real"} else types["text"]


def _value(value: Any, dtype: Any, pl: Any) -> Any:
    if value is None or dtype != pl.String or isinstance(value, str):
        return float(value) if value is not None and dtype == pl.Float64 else value
    return value.decode(errors="replace") if isinstance(value, bytes) else repr(value)


def _sqlite_table(connection: Any, label: str, table: str) -> str:
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    )
    return _picked([name for (name,) in found], label, table)


def _picked(known: list[str], label: str, table: str) -> str:
    """The table that is meant: the one that is named, or the only one."""
    shown = ", ".join(repr(name) for name in known[:MOST_SHOWN])
    shown += f" and {len(known) - MOST_SHOWN} more" if len(known) > MOST_SHOWN else ""
    if not known:
        raise FileError(f"{label} holds no table.")
    if table and table not in known:
        raise FileError(f"{label} has no table {table!r}; it has {shown}.")
    if not table and len(known) > 1:
        plain = label.strip("'")
        raise FileError(
            f"{label} has {len(known)} tables: {shown}; say which, as in '{plain}::{known[0]}' (or give query=)."
        )
    return table or known[0]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _one_statement(query: str) -> str:
    text = query.strip().rstrip(";").strip()
    if not text:
        raise FileError("query= is empty; give a question such as 'select * from sales'.")
    return text + "\n"  # a comment at its end goes no further


def _trouble(label: str, kind: str, query: str | None, error: Exception) -> str:
    said = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:300]
    if query is not None:
        return f"{label}: the query cannot be answered: {said}."
    return f"{label} cannot be read as {kind}: {said}."


def duckdb_to_parquet(path: Path, label: str, table: str, query: str | None) -> Path:
    """A table of a DuckDB file, or the answer to a query, as a Parquet file."""
    duckdb = optional("duckdb", "duckdb", "reading a DuckDB file")
    out = new_file(".parquet")
    try:
        with closing(duckdb.connect(str(path), read_only=True)) as connection:
            if query is None:
                known = connection.execute(
                    "SELECT CASE WHEN table_schema = 'main' THEN table_name ELSE table_schema || '.' || table_name END "
                    "FROM information_schema.tables WHERE table_catalog = current_database() ORDER BY 1"
                ).fetchall()
                name = _picked([entry for (entry,) in known], label, table)
                asked = f"SELECT * FROM {'.'.join(_quoted(part) for part in name.split('.', 1))}"
            else:
                asked = _one_statement(query)
            relation = connection.sql(asked)
            if relation is None:
                raise FileError(f"{label}: the query gives no table; begin it with select.")
            check_names(list(relation.columns), label)
            # Decimals are numbers to be reckoned with, not amounts to be kept to the cent.
            chosen = [
                f"CAST({_quoted(name)} AS DOUBLE) AS {_quoted(name)}" if str(dtype).startswith("DECIMAL") else _quoted(name)
                for name, dtype in zip(relation.columns, relation.types, strict=True)
            ]
            relation.project(", ".join(chosen)).write_parquet(str(out))
    except duckdb.Error as error:
        raise FileError(_trouble(label, "DuckDB", query, error)) from error
    return out
