"""The code to paste is run by what it is for, with names that try to be more than names."""

from __future__ import annotations

import sqlite3
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfs import SavedSelection
from easyfs.base.saving import content_of
from easyfs.registry import make_selector

ODD = [
    "plain",
    "two words",
    'he said "hi"',
    "it's",
    "line\nbreak",
    "tab\tand\\backslash",
    "select",
    "class",
    "größe 尺寸 🏠",
    '"; DROP TABLE data; --',
    "'); import os; ('",
    "{braces} %s",
    " spaces ",
    "[brackets]",
    "a,b",
    "#1",
]


def selection(names: list[str], keep: list[str]) -> SavedSelection:
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((20, len(names))), columns=names)
    return SavedSelection(content_of(make_selector("pearson", len(keep), include=keep).fit(X, X.iloc[:, 0])))


def table_of(names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(np.arange(3.0 * len(names)).reshape(3, -1), columns=names)


def by_duckdb(code: str, table: pd.DataFrame, called: str) -> Any:
    with duckdb.connect() as database:
        database.register(called, table)
        found = database.execute(code)
        return [entry[0] for entry in found.description], found.fetchall()


def by_sqlite(code: str, table: pd.DataFrame, called: str) -> Any:
    database = sqlite3.connect(":memory:")
    quoted = ['"' + name.replace('"', '""') + '"' for name in [called, *table.columns]]
    database.execute(f"CREATE TABLE {quoted[0]} ({', '.join(quoted[1:])})")
    database.executemany(f"INSERT INTO {quoted[0]} VALUES ({', '.join('?' * table.shape[1])})", table.to_numpy().tolist())
    found = database.execute(code)
    names, rows = [entry[0] for entry in found.description], found.fetchall()
    assert database.execute(f"SELECT count(*) FROM {quoted[0]}").fetchone() == (3,)
    return names, rows


@pytest.mark.parametrize("run", [by_duckdb, by_sqlite])
@pytest.mark.parametrize("called", ["data", 'my "table"', "order", "two words; --"])
def test_sql(run: Any, called: str) -> None:
    chosen, table = selection(ODD, ODD[1::2]), table_of(ODD)
    names, rows = run(chosen.code("sql", table=called), table, called)
    assert names == chosen.columns == ODD[1::2]
    assert rows == [tuple(row) for row in table[ODD[1::2]].to_numpy()]


def run_code(code: str, **known: Any) -> Any:
    return eval(code, {"__builtins__": {}}, known)  # nothing but the table is there to be used


@pytest.mark.parametrize("keep", [ODD[1::2], ODD[::2]])
def test_polars_and_pandas(keep: list[str]) -> None:
    chosen, table = selection(ODD, keep), table_of(ODD)
    pd.testing.assert_frame_equal(run_code(chosen.code("pandas"), data=table), table[keep])
    frame = pl.from_pandas(table)
    assert run_code(chosen.code("polars"), data=frame).equals(frame.select(keep))
    assert run_code(chosen.code("polars"), data=frame.lazy()).collect().equals(frame.select(keep))


def test_sklearn() -> None:
    chosen, table = selection(ODD, ODD[1::2]), table_of(ODD)
    names: dict[str, Any] = {}
    exec(chosen.code("sklearn"), names)
    out = names["chosen"].set_output(transform="pandas").fit_transform(table)
    pd.testing.assert_frame_equal(out, table[ODD[1::2]])


@settings(max_examples=30, deadline=None)
@given(names=st.lists(st.text(), min_size=2, max_size=5, unique=True))
def test_any_name(names: list[str]) -> None:
    chosen, table = selection(names, names[1:]), table_of(names)
    pd.testing.assert_frame_equal(run_code(chosen.code("pandas"), data=table), table[chosen.columns])
    writable = all(name and "\0" not in name and name.encode("utf-8", "ignore").decode() == name for name in names)
    if writable and len({name.lower() for name in names}) == len(names):
        sql = chosen.code("sql")
        assert by_sqlite(sql, table, "data")[0] == chosen.columns


def test_names_that_polars_would_read_as_patterns() -> None:
    names = ["*", "^a$", "a"]
    chosen, table = selection(names, ["*", "^a$"]), pl.from_pandas(table_of(names))
    assert run_code(chosen.code("polars"), data=table).columns == chosen.columns


def test_a_table_without_names_is_taken_by_position() -> None:
    X = np.random.default_rng(0).standard_normal((20, 5))
    chosen = SavedSelection(content_of(make_selector("pearson", 2, include=[1, 4]).fit(X, X[:, 1])))
    table = pd.DataFrame(X, columns=list("abcde"))
    pd.testing.assert_frame_equal(run_code(chosen.code("pandas"), data=table), table[["b", "e"]])
    assert run_code(chosen.code("polars"), data=pl.from_pandas(table)).columns == ["b", "e"]
    names: dict[str, Any] = {}
    exec(chosen.code("sklearn"), names)
    np.testing.assert_array_equal(names["chosen"].fit_transform(X), X[:, [1, 4]])
    with pytest.raises(ValueError, match="without names"):
        chosen.code("sql")


def test_what_sql_cannot_say_is_said() -> None:
    with pytest.raises(ValueError, match="does not tell the columns 'size' and 'Size' apart"):
        selection(["size", "x", "Size"], ["size", "Size"]).code("sql")
    with pytest.raises(ValueError, match="SQL has no columns called ''"):
        selection(["", "x"], [""]).code("sql")


def test_a_language_that_is_not_known() -> None:
    with pytest.raises(ValueError, match="language='R' is not known; use one of 'sql', 'polars', 'pandas', 'sklearn'"):
        selection(["a", "b"], ["a"]).code("R")


@pytest.mark.parametrize("called", ["houses", "my houses", "2024", "x; import os", "größe", ""])
def test_a_table_is_called_by_a_name_and_nothing_else(called: str) -> None:
    code = selection(["a", "b"], ["a"]).code("pandas", table=called)
    name = code.partition("[")[0]
    assert name.isidentifier()
    assert run_code(code, **{name: table_of(["a", "b"])}).columns.tolist() == ["a"]
