"""What was asked for: how many columns, and which must, may or may not be selected."""

from __future__ import annotations

import difflib
import numbers
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from easyfs.common.types import Array
from easyfs.tables.columns import ASIDE, ColumnInfo


def resolve_columns(name: str, wanted: Any, n_columns: int, names: list[Any] | None) -> Array:
    """Positions of columns given by name, by position or by a mask."""
    if wanted is None:
        return np.empty(0, dtype=np.intp)
    if isinstance(wanted, (str, numbers.Number)):
        wanted = [wanted]
    listed = list(wanted)
    if len(listed) == n_columns and listed and all(isinstance(entry, (bool, np.bool_)) for entry in listed):
        return np.flatnonzero(np.asarray(listed))
    positions = []
    for entry in listed:
        if isinstance(entry, str):
            if names is None or entry not in names:
                raise ValueError(f"{name} names column {entry!r}, {_not_found(entry, names)}")
            positions.append(names.index(entry))
        elif isinstance(entry, numbers.Integral) and not isinstance(entry, (bool, np.bool_)):
            if not 0 <= int(entry) < n_columns:
                raise ValueError(f"{name} has column {entry!r}, but X has {n_columns} columns: use 0 to {n_columns - 1}.")
            positions.append(int(entry))
        else:
            raise ValueError(f"{name} has the entry {entry!r}; give column names or positions.")
    if len(set(positions)) < len(positions):
        twice = next(p for p in positions if positions.count(p) > 1)
        raise ValueError(f"{name} lists column {names[twice] if names else twice!r} twice.")
    return np.array(positions, dtype=np.intp)


def _not_found(entry: str, names: list[Any] | None) -> str:
    if names is None:
        return "but X has no column names; use positions, or fit on a dataframe."
    close = difflib.get_close_matches(entry, [str(n) for n in names], n=3)
    hint = f" Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
    return f"which X does not have.{hint}"


def make_request(
    n_columns: int,
    names: list[Any] | None,
    *,
    n_features_to_select: Any,
    include: Any,
    exclude: Any,
    feature_groups: Any = None,
    aside: list[ColumnInfo] | None = None,
) -> Request:
    """Bring together how many columns to select and which ones must, may or may not be.

    ``aside`` says what each column is, where some cannot be used.
    """
    labels = _check_groups(feature_groups, n_columns)
    inside = resolve_columns("include", include, n_columns, names)
    outside = resolve_columns("exclude", exclude, n_columns, names)
    both = np.intersect1d(labels[inside], labels[outside])
    if len(both):
        column = next(j for j in inside if labels[j] == both[0])
        shown = names[column] if names else int(column)
        raise ValueError(f"column {shown!r} (or its group) is in both include and exclude; leave it in one of them.")
    excluded = np.isin(labels, labels[outside])
    if aside is not None:
        unusable = np.array([column.used_as == ASIDE for column in aside], dtype=bool)
        if unusable[inside].any():
            column = aside[inside[unusable[inside]][0]]
            raise ValueError(f"include names column {column.name!r}, which cannot be used: {column.reason}.")
        excluded = excluded | unusable
    available = len(np.unique(labels[~excluded]))
    if not available:
        raise ValueError(f"exclude leaves no column to select from{'' if aside is None else ' but those set aside'}.")
    what = "features" if feature_groups is None else "groups of features"
    count = resolve_count(n_features_to_select, available, what)
    n_included = len(np.unique(labels[inside]))
    if count is not None and n_included > count:
        raise ValueError(
            f"include lists {n_included} {what}, more than n_features_to_select={n_features_to_select!r}; "
            f"included ones count towards it, so ask for at least {n_included}."
        )
    return Request(inside, excluded, labels, count)


def _check_groups(feature_groups: Any, n_columns: int) -> Array:
    if feature_groups is None:
        return np.arange(n_columns)
    try:
        listed = list(feature_groups)
        hash(tuple(listed))
    except TypeError as error:
        raise ValueError(
            f"feature_groups={feature_groups!r}: give one label, such as a name or a number, for each column."
        ) from error
    if len(listed) != n_columns:
        raise ValueError(
            f"feature_groups has {len(listed)} labels, but X has {n_columns} columns; give one label for each column."
        )
    codes: dict[Any, int] = {}
    return np.array([codes.setdefault(label, len(codes)) for label in listed], dtype=np.intp)


def resolve_count(n_features_to_select: Any, available: int, what: str = "features") -> int | None:
    """The number of features asked for, or None for ``"auto"`` and ``"cv"``.

    A whole number is a count, a float in (0, 1] is a share (at least one), ``"auto"`` and ``"cv"`` leave it to the data.
    """
    asked: Any = n_features_to_select
    if isinstance(asked, str) and asked in ("auto", "cv"):
        return None
    if isinstance(asked, numbers.Integral) and not isinstance(asked, bool):
        count = int(asked)
        if count < 1:
            raise ValueError(
                f"n_features_to_select={asked!r}: ask for at least 1 feature, a share in (0, 1], 'auto' or 'cv'."
            )
        if count > available:
            raise ValueError(
                f"n_features_to_select={asked!r} is more than the {available} {what} there are to choose from; "
                f"ask for at most {available}, a share such as 0.5, or 'auto'."
            )
        return count
    if isinstance(asked, numbers.Real) and not isinstance(asked, bool) and 0.0 < float(asked) <= 1.0:
        return min(available, max(1, int(np.floor(float(asked) * available + 1e-9))))
    raise ValueError(
        f"n_features_to_select={asked!r}: give a count such as 20, a share in (0, 1] such as 0.1, 'auto' or 'cv'."
    )


@dataclass(frozen=True)
class Request:
    """What may be selected.

    Attributes
    ----------
    include : ndarray of int
        Columns that are selected first, in this order.
    excluded : ndarray of bool, shape (d,)
        Columns that are never selected.
    groups : ndarray of int, shape (d,)
        Group of each column; a group is selected or left whole and counts as one.
    count : int or None
        Number of groups to select; None lets the data decide.
    """

    include: Array
    excluded: Array
    groups: Array
    count: int | None

    @cached_property
    def grouped(self) -> bool:
        """Whether any group has more than one column."""
        return len(np.unique(self.groups)) < len(self.groups)

    def keep_together(self, order: Array) -> Array:
        """The order with each group where its first column is."""
        if not self.grouped:
            return order
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        first = np.full(self.groups.max() + 1, len(order))
        np.minimum.at(first, self.groups, place)
        return np.lexsort((place, first[self.groups]))

    def of_groups(self, values: Array) -> Array:
        """For each column the smallest value in its group."""
        if not self.grouped:
            return values
        smallest = np.full(self.groups.max() + 1, values.max())
        np.minimum.at(smallest, self.groups, values)
        return smallest[self.groups]

    def members(self, column: int) -> Array:
        """All columns of a column's group."""
        return np.flatnonzero(self.groups == self.groups[column]) if self.grouped else np.array([column])


def check_some_vary(constant: Array, excluded: Array) -> None:
    """At least one column that may be selected must have two values."""
    if constant[~excluded].all():
        raise ValueError(
            f"all {int((~excluded).sum())} columns{' that exclude leaves' if excluded.any() else ''} are constant (or "
            "missing throughout); there is nothing to choose between. Check that X holds the right columns."
        )
