"""What may be selected, and what was."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easyfs.interactions import Found
from easyfs.moments import SecondMoment
from easyfs.statistics import Plan

Array = NDArray[Any]


@dataclass(frozen=True)
class Constraints:
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


@dataclass(frozen=True)
class Selection:
    """An order of all columns, how many of them are selected, and why.

    ``p_values``, with a target, says for each selected column how likely the best of as many unrelated ones would tell as
    much, and ``found`` which columns matter together. ``coded``, where it is known, has a row for each selected column:
    what it says of every column beyond those selected before it, as the root of a share. For each column, where they are
    known: ``constant``, the share of rows in which it is ``missing``, and its ``relevance``, the share of it that the
    target explains.
    """

    order: Array
    n_selected: int
    scores: Array
    gains: Array
    groups: Array
    p_values: Array | None = None
    found: tuple[Found, ...] = ()
    coded: Array | None = None
    constant: Array | None = None
    missing: Array | None = None
    relevance: Array | None = None

    def columns_of(self, n_groups: int) -> int:
        """How many columns the first ``n_groups`` groups of the order have."""
        labels = self.groups[self.order]
        new = np.concatenate([[True], labels[1:] != labels[:-1]])
        return int(np.searchsorted(np.cumsum(new), n_groups, side="right"))


def check_some_vary(constant: Array, excluded: Array) -> None:
    """At least one column that may be selected must have two values."""
    if constant[~excluded].all():
        raise ValueError(
            f"all {int((~excluded).sum())} columns{' that exclude leaves' if excluded.any() else ''} are constant (or "
            "missing throughout); there is nothing to choose between. Check that X holds the right columns."
        )


@dataclass(frozen=True)
class InputScale:
    """Exact scale of the inputs, from the moments of all rows."""

    spread: Array
    energy: Array
    constant: Array
    observed: Array


def input_scale(moment: SecondMoment, observed: Array, plan: Plan, excluded: Array) -> InputScale:
    """Standard deviation of the observed values, and the share of rows that has one."""
    d = len(plan.live)
    squares = np.maximum(moment.diag()[:d], 0.0)
    spread = np.sqrt(np.divide(squares, observed, out=np.zeros(d), where=observed > 0))
    # In units of the sample's spread; columns without any there are in units of their own size.
    constant = spread <= (1e-14 if plan.scaling.dtype == np.float64 else 1e-6) * plan.scaling.constant
    check_some_vary(constant, excluded)
    energy = np.where(constant, 0.0, observed / moment.weight)
    return InputScale(np.where(constant, 1.0, spread), energy, constant, observed / moment.weight)
