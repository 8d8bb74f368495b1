"""What was asked for: how many columns, and which must, may or may not be selected."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from easyfs.base.limits import (
    NOTHING_FURTHER,
    Further,
    Limits,
    by_column,
    check_budget,
    check_costs,
    check_quota,
    check_sources,
    positions_of,
)
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
    positions = [positions_of(name, entry, n_columns, names) for entry in listed]
    if len(set(positions)) < len(positions):
        twice = next(p for p in positions if positions.count(p) > 1)
        raise ValueError(f"{name} lists column {names[twice] if names else twice!r} twice.")
    return np.array(positions, dtype=np.intp)


def make_request(
    n_columns: int,
    names: list[Any] | None,
    *,
    n_features_to_select: Any,
    include: Any,
    exclude: Any,
    feature_groups: Any = None,
    further: Further = NOTHING_FURTHER,
    aside: list[ColumnInfo] | None = None,
) -> Request:
    """Bring together how many columns to select and which ones must, may or may not be.

    ``aside`` says what each column is, where some cannot be used.
    """
    labels = check_groups(feature_groups, n_columns, names)
    inside = resolve_columns("include", include, n_columns, names)
    outside = resolve_columns("exclude", exclude, n_columns, names)
    both = np.intersect1d(labels[inside], labels[outside])
    if len(both):
        column = next(j for j in inside if labels[j] == both[0])
        shown = names[column] if names else int(column)
        raise ValueError(f"column {shown!r} (or its group) is in both include and exclude; leave it in one of them.")
    first = resolve_columns("adjust_for", further.adjust_for, n_columns, names)
    adjusted = np.isin(labels, labels[first])
    if adjusted[inside].any():
        column = int(inside[adjusted[inside]][0])
        raise ValueError(
            f"column {names[column] if names else column!r} (or its group) is in both include and adjust_for; what is "
            "adjusted for is never selected, so leave it in one of them."
        )
    excluded = np.isin(labels, labels[outside]) | adjusted
    if aside is not None:
        unusable = np.array([column.used_as == ASIDE for column in aside], dtype=bool)
        for parameter, listed in (("include", inside), ("adjust_for", first)):
            if unusable[listed].any():
                column_info = aside[listed[unusable[listed]][0]]
                raise ValueError(
                    f"{parameter} names column {column_info.name!r}, which cannot be used: {column_info.reason}."
                )
        excluded = excluded | unusable
    available = len(np.unique(labels[~excluded]))
    if not available:
        which = "exclude" if not adjusted.any() else "adjust_for" if not len(outside) else "exclude and adjust_for"
        many = "s" if " " not in which else ""
        raise ValueError(f"{which} leave{many} no column to select from{'' if aside is None else ' but those set aside'}.")
    what = "features" if feature_groups is None else "groups of features"
    count = resolve_count(n_features_to_select, available, what)
    n_included = len(np.unique(labels[inside]))
    if count is not None and n_included > count:
        raise ValueError(
            f"include lists {n_included} {what}, more than n_features_to_select={n_features_to_select!r}; "
            f"included ones count towards it, so ask for at least {n_included}."
        )
    limits = _limits(labels, further, n_columns, names)
    exact = isinstance(n_features_to_select, numbers.Integral)
    _check_limits(limits, labels, inside, ~excluded, count if exact else None)
    return Request(inside, excluded, labels, count, np.flatnonzero(adjusted), limits)


def _limits(labels: Array, asked: Further, n_columns: int, names: list[Any] | None) -> Limits:
    """Costs and sources of groups; a group costs what its columns cost together, and has one source."""
    cost = check_costs(asked.costs if asked.costs is not None or asked.budget is None else {}, n_columns, names)
    source, called = check_sources(asked.sources, n_columns, names)
    if source is not None:
        lowest, highest = np.full(labels.max() + 1, len(called) + 1), np.full(labels.max() + 1, -1)
        np.minimum.at(lowest, labels, source)
        np.maximum.at(highest, labels, source)
        torn = np.flatnonzero(lowest[labels] < highest[labels])
        if len(torn):
            shown = names[torn[0]] if names else int(torn[0])
            raise ValueError(
                f"the group of column {shown!r} has columns of several sources; a group is selected whole, so put all of "
                "it into one."
            )
    if cost is not None:
        cost = np.bincount(labels, weights=cost)[labels]
    return Limits(cost, check_budget(asked.budget), source, check_quota(asked.max_per_source, called))


def _check_limits(limits: Limits, labels: Array, include: Array, usable: Array, count: int | None) -> None:
    """The included columns must fit, at least one column must, and as many as asked for must be allowed."""
    cost = np.ones(len(labels)) if limits.cost is None else limits.cost
    first = np.unique(labels[include], return_index=True)[1]
    spent, cheapest = float(cost[include[first]].sum()), float(cost[usable].min())
    if spent > limits.budget:
        raise ValueError(f"the included columns cost {spent:g}, more than budget={limits.budget:g}; allow for that much.")
    if cheapest > limits.budget:
        raise ValueError(f"budget={limits.budget:g} pays for no column; the cheapest costs {cheapest:g}.")
    if limits.quota is None or limits.source is None:
        return
    used = np.bincount(limits.source[include[first]], minlength=len(limits.quota))
    if (used > limits.quota).any():
        raise ValueError("include lists more columns of a source than max_per_source allows; allow for more of it.")
    places = np.unique(labels[usable], return_index=True)[1]
    there = np.bincount(limits.source[np.flatnonzero(usable)[places]], minlength=len(limits.quota))
    most = int(np.minimum(there, limits.quota).sum())
    if not most:
        raise ValueError("max_per_source allows no column at all; allow for at least one of some source.")
    if count is not None and most < count:
        raise ValueError(
            f"max_per_source allows {most} columns in all, fewer than the {count} of n_features_to_select; ask for at "
            f"most {most}, for 1.0 (as many as fit), or allow for more of a source."
        )


def check_groups(feature_groups: Any, n_columns: int, names: list[Any] | None) -> Array:
    """Group of each column, as a number; a column that a mapping does not name is one by itself."""
    if feature_groups is None:
        return np.arange(n_columns)
    mapped = by_column("feature_groups", feature_groups, n_columns, names)
    if mapped is not None:
        feature_groups = [("of", mapped[j]) if j in mapped else ("alone", j) for j in range(n_columns)]
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


@dataclass(frozen=True, eq=False)
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
    adjusted : ndarray of int
        Columns whose effect is taken out first; they are excluded, too.
    limits : Limits
        What the selected columns may cost, and how many of them may come from a source.
    """

    include: Array
    excluded: Array
    groups: Array
    count: int | None
    adjusted: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    limits: Limits = field(default_factory=Limits)

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
