"""What the columns taken so far cost, and how many of them come from each source."""

from __future__ import annotations

import numpy as np

from easyfs.base.limits import Limits
from easyfs.common.types import Array

# Share of a budget by which rounding may exceed it.
ROUNDING = 1e-9


class Spending:
    """Costs and sources of columns, and what is left of the budget and of each source.

    Parameters
    ----------
    limits : Limits
        What was asked for.
    d : int
        Number of columns.

    Attributes
    ----------
    cost : ndarray of shape (d,)
        Cost of each column's whole group.
    """

    def __init__(self, limits: Limits, d: int):
        self.cost = np.ones(d) if limits.cost is None else limits.cost
        self._budget = limits.budget * (1.0 + ROUNDING)
        self._source = np.zeros(d, dtype=np.intp) if limits.quota is None or limits.source is None else limits.source
        self._quota = np.array([np.inf]) if limits.quota is None else limits.quota
        self._limited = limits.limited
        self._all: Array = np.ones(d, dtype=bool)
        self.clear()

    def clear(self) -> None:
        """Nothing is taken."""
        self._spent, self._used = 0.0, np.zeros(len(self._quota))

    def take(self, column: int) -> None:
        """Pay for a column and its group."""
        self._spent += float(self.cost[column])
        self._used[self._source[column]] += 1

    def open(self) -> Array:
        """Which columns there is still room for."""
        if not self._limited:
            return self._all
        return np.asarray((self._spent + self.cost <= self._budget) & (self._used < self._quota)[self._source])

    def allows(self, columns: Array) -> bool:
        """Whether there is room for several columns of different groups."""
        if not self._limited:
            return True
        used = self._used + np.bincount(self._source[columns], minlength=len(self._quota))
        return bool(self._spent + self.cost[columns].sum() <= self._budget and (used <= self._quota).all())

    def state(self) -> tuple[float, Array]:
        """What it takes to go back to here."""
        return self._spent, self._used.copy()

    def restore(self, state: tuple[float, Array]) -> None:
        """Forget what was taken since."""
        self._spent, self._used = state[0], state[1].copy()
