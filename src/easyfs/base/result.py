"""What was found: an order of the columns, how many of them are selected, and why."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easyfs.common.types import Array


@dataclass(frozen=True, eq=False)
class Selection:
    """An order of all columns, how many of them are selected, and why.

    ``p_values``, with a target, says for each selected column how likely the best of as many unrelated ones would tell as
    much, and ``found`` which columns matter together. ``coded``, where it is known, has a row for each selected column:
    what it says of every column beyond those selected before it, as the root of a share. ``steps`` has a row for each
    selected column as well: what it explains of each of the target's ``directions`` beyond those before it, as the root of
    a share of the whole target. ``told`` is the share of the target that it added, alone or together with others. For each
    column, where they are known: ``constant``, the share of rows in which it is ``missing``, its ``relevance``, the share
    of it that the target explains, and ``next_told``, the share of the target that it would add to the selected ones.
    ``screened`` says, of a very wide table, how many columns were compared. ``adjusted`` are the columns whose effect was
    taken out first, and ``adjusted_share`` the share of the target that they explain together; None without a target.
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
    screened: Screened | None = None
    adjusted: tuple[int, ...] = ()
    adjusted_share: float | None = None
    steps: Array | None = None
    told: Array | None = None
    next_told: Array | None = None

    @property
    def directions(self) -> int:
        """Independent directions of the target; 1 where that is not known."""
        return 1 if self.steps is None else max(1, self.steps.shape[1])

    def columns_of(self, n_groups: int) -> int:
        """How many columns the first ``n_groups`` groups of the order have."""
        labels = self.groups[self.order]
        new = np.concatenate([[True], labels[1:] != labels[:-1]])
        return int(np.searchsorted(np.cumsum(new), n_groups, side="right"))


@dataclass(frozen=True)
class Screened:
    """What was given up of a table whose columns are too many to be compared with each other in memory.

    Attributes
    ----------
    n_columns : int
        Columns that could have been selected.
    n_compared : int
        Those that were compared exactly; the others are known by what they tell of the target by themselves.
    strongest_left : float or None
        The largest share of the target that one of the others explains by itself; None without a target.
    """

    n_columns: int
    n_compared: int
    strongest_left: float | None

    def __str__(self) -> str:
        text = (
            f"{self.n_compared:,} of {self.n_columns:,} columns were compared with each other, as memory_limit has room for"
        )
        if self.strongest_left is not None:
            text += f"; the best of the others explains {100 * self.strongest_left:.2g} % of the target by itself"
        return text


# Tables without any joint effect in which one is named.
LEVEL = 0.005


@dataclass(frozen=True)
class Found:
    """Columns that matter together, or one that matters in a curve.

    Attributes
    ----------
    columns : tuple of int
        The columns.
    share : float
        Share of the target that they explain together beyond what was found before, on rows not used to find them.
    p_value : float
        Chance that any group would be found where there is none.
    plain : bool
        Whether it is a single column that goes up or down with the target, no curve.
    """

    columns: tuple[int, ...]
    share: float
    p_value: float
    plain: bool = False

    @property
    def confirmed(self) -> bool:
        """Whether it is more than a hint."""
        return self.p_value < LEVEL


@dataclass(frozen=True)
class Interaction:
    """Columns that matter together, or one that matters in a curve, by name.

    Attributes
    ----------
    columns : tuple of str
        The columns, by name, or as ``x0``, ``x1``, ... where they have none.
    share : float
        Share of the target that they explain together beyond what was found before, on rows not used to find them.
    p_value : float
        Chance that any such group would be named where there is none.
    """

    columns: tuple[str, ...]
    share: float
    p_value: float

    def __str__(self) -> str:
        return f"{' with '.join(self.columns)}: {100 * self.share:.0f} %"
