"""A selection as code to paste, with names quoted so that each language takes them for what they are."""

from __future__ import annotations

import re
from collections.abc import Callable

from easyfs.common.parameters import check_choice

TABLE = "data"


def code_of(language: str, columns: list[str], positions: list[int] | None, table: str = TABLE) -> str:
    """The code that takes some columns of a table.

    Parameters
    ----------
    language : {"sql", "polars", "pandas", "sklearn"}
        What to write.
    columns : list of str
        Names of the columns.
    positions : list of int or None
        Their positions, for a table without names.
    table : str
        What the table is called.
    """
    check_choice("language", language, tuple(LANGUAGES))
    return LANGUAGES[language](columns, positions, table)


def quoted(name: str) -> str:
    """A name of a column or table in SQL."""
    if not name or "\0" in name:
        raise ValueError(f"SQL has no columns called {name!r}; rename it before the selection is made.")
    return '"' + name.replace('"', '""') + '"'


def _sql(columns: list[str], positions: list[int] | None, table: str) -> str:
    if positions is not None:
        raise ValueError("the selection was made from a table without names, and SQL takes columns by name.")
    known: dict[str, str] = {}
    for name in columns:
        first = known.setdefault(name.lower(), name)
        if first != name:
            raise ValueError(f"SQL does not tell the columns {first!r} and {name!r} apart; rename one of them.")
    return f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)}"


def _polars(columns: list[str], positions: list[int] | None, table: str) -> str:
    if positions is not None:
        return f"{_variable(table)}[:, {positions!r}]"
    if any(name == "*" or re.fullmatch(r"\^.*\$", name, re.DOTALL) for name in columns):
        return f"{_variable(table)}[{columns!r}]"  # select would read these names as patterns
    return f"{_variable(table)}.select({columns!r})"


def _pandas(columns: list[str], positions: list[int] | None, table: str) -> str:
    return f"{_variable(table)}[{columns!r}]" if positions is None else f"{_variable(table)}.iloc[:, {positions!r}]"


def _sklearn(columns: list[str], positions: list[int] | None, table: str) -> str:  # noqa: ARG001 - a step has no table
    wanted = columns if positions is None else positions
    return (
        "from sklearn.compose import ColumnTransformer\n\n"
        f'chosen = ColumnTransformer([("chosen", "passthrough", {wanted!r})], verbose_feature_names_out=False)'
    )


def _variable(table: str) -> str:
    """A name of a table as a name in Python: nothing that is more than a name is written as code."""
    name = re.sub(r"\W", "_", table, flags=re.ASCII)
    return name if name.isidentifier() else f"{TABLE}_{name}"


LANGUAGES: dict[str, Callable[[list[str], list[int] | None, str], str]] = {
    "sql": _sql,
    "polars": _polars,
    "pandas": _pandas,
    "sklearn": _sklearn,
}
