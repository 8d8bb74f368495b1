"""Target and weights that are columns of the table itself, given by name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from easyfs.tables.frames import check_is_in_memory, check_is_table, column_names, is_table, take_columns
from easyfs.tables.weights import counted_rows


@dataclass(frozen=True)
class Roles:
    """Columns of a table that are not to be selected from.

    Attributes
    ----------
    target : tuple of str
        Names of the target; none where it was given as values.
    weight : str or None
        Name of the weights.
    several : bool
        Whether the target was given as a list of names: a table of targets.
    """

    target: tuple[str, ...] = ()
    weight: str | None = None
    several: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.target, *((self.weight,) if self.weight is not None else ()))

    def check_others(self, parameter: str, asked: Any) -> None:
        """Columns that a parameter names are others than these."""
        for entry in asked if isinstance(asked, (list, tuple, set)) else (asked,):
            if isinstance(entry, str) and entry in self.names:
                what = "the target" if entry in self.target else "the weights"
                raise ValueError(
                    f"{parameter} names column {entry!r}, which is {what} and is not selected from; leave it out of "
                    f"{parameter}."
                )


def roles_of(names: list[Any] | None, n_rows: int | None, y: Any, sample_weight: Any) -> Roles:
    """Which columns ``y`` and ``sample_weight`` name.

    Parameters
    ----------
    names : list or None
        Names of the columns of the table; None for an array.
    n_rows : int or None
        Number of its rows, where it is known: a list of as many texts is a column of labels.
    y, sample_weight : object
        As they were given; what is no name is left alone.
    """
    target: tuple[str, ...] = ()
    several = False
    if isinstance(y, str):
        target = (_known(y, names, "y"),)
    elif names is not None and isinstance(y, (list, tuple)) and _are_names(y, names) and len(y) != n_rows:
        target, several = tuple(_known(name, names, "y") for name in y), True
        if len(set(y)) < len(y):
            raise ValueError(f"y names a column twice: {', '.join(map(repr, y))}.")
    weight = _known(sample_weight, names, "sample_weight") if isinstance(sample_weight, str) else None
    if weight is not None and weight in target:
        raise ValueError(f"y and sample_weight both name column {weight!r}; a column cannot be both.")
    roles = Roles(target, weight, several)
    if roles.names and names is not None and set(names) <= set(roles.names):
        raise ValueError(f"X has no columns but {', '.join(map(repr, names))}: none is left to select from.")
    return roles


def _are_names(y: Sequence[Any], names: list[Any]) -> bool:
    """Whether a list is one of names; one of them at least is known, so that an unknown one can be said."""
    return all(isinstance(name, str) for name in y) and not set(y).isdisjoint(names)


def _known(name: str, names: list[Any] | None, parameter: str) -> str:
    if names is None:
        raise ValueError(
            f"{parameter}={name!r} names a column, but X has no column names; pass values, or a table with names."
        )
    if name not in names:
        close = difflib.get_close_matches(name, [str(known) for known in names], n=3)
        hint = f" Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
        raise ValueError(f"{parameter}={name!r} names a column that X does not have.{hint}")
    return name


def take_roles(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any, Roles]:
    """The table without the columns that ``y`` and ``sample_weight`` name, their values, and which they are.

    Rows of weight zero are left out.
    """
    if isinstance(y, str) or isinstance(sample_weight, str):  # before they are looked for
        check_is_table(X)
    check_is_in_memory(X)
    if not is_table(X):
        return *counted_rows(X, y, sample_weight), roles_of(None, None, y, sample_weight)
    names = column_names(X)
    roles = roles_of(names, len(X) if hasattr(X, "__len__") else X.num_rows, y, sample_weight)
    if roles.names:
        X, y, sample_weight = split(X, roles, y, sample_weight)
    return *counted_rows(X, y, sample_weight), roles


def split(X: Any, roles: Roles, y: Any = None, sample_weight: Any = None) -> tuple[Any, Any, Any]:
    """A table without the columns that have a role, and their values."""
    names = column_names(X) or []
    if roles.target:
        y = take_columns(X, [names.index(name) for name in roles.target]) if roles.several else _values(X, roles.target[0])
    if roles.weight is not None:
        sample_weight = _values(X, roles.weight)
    return without(X, roles), y, sample_weight


def without(X: Any, roles: Roles) -> Any:
    """A table without the columns that have a role, as far as it has them."""
    names = column_names(X) or []
    if not set(roles.names) & set(names):
        return X
    return take_columns(X, [j for j, name in enumerate(names) if name not in roles.names])


def _values(X: Any, name: str) -> Any:
    return X[name] if nw.dependencies.is_pandas_dataframe(X) else nw.from_native(X, eager_only=True)[name].to_native()


def listed(names: list[Any]) -> str:
    """The first of some names, for a message."""
    return ", ".join(map(repr, names[:5])) + ", ..." * (len(names) > 5)


def check_same_names(here: list[Any] | None, there: list[Any] | None) -> None:
    """Two selectors whose rows are added up have seen the same columns in the same order."""
    if here is None or there is None or here == there:
        return
    j = next((j for j, (one, other) in enumerate(zip(here, there, strict=False)) if one != other), 0)
    raise ValueError(
        f"merge needs two selectors that have seen the same columns in the same order, but column {j} is {here[j]!r} here "
        f"and {there[j]!r} there."
    )
