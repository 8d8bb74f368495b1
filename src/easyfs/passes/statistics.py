"""From rows to statistics: one plan says what is summed, and statistics of one plan merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from easyfs.sample.drawing import counts_rows
from easyfs.sums.rows import Rows
from easyfs.sums.second_moment import SecondMoment
from easyfs.sums.sparse import ScaledSparse

if TYPE_CHECKING:
    pass
from easyfs.common.types import Array
from easyfs.passes.plan import Plan

# The key of the moment over all rows, where classes are not kept apart.
ALL_ROWS = -1


class Statistics:
    """The sums over rows that scores and order are computed from.

    Parameters
    ----------
    plan : Plan
        What is summed.
    n_targets : int
        Number of target columns so far; classes that appear later add to it.
    fold : bool, default=False
        Whether so many rows will come that they are folded from the start.
    """

    def __init__(self, plan: Plan, n_targets: int, *, fold: bool = False):
        self.plan = plan
        self.n_targets = n_targets
        self.fold = fold
        self.counted = True
        self.observed: Array = np.zeros(len(plan.live))
        self.moments: dict[int, SecondMoment] = {}

    @property
    def width(self) -> int:
        """Columns of a moment: inputs, nodes and, unless classes are kept apart, targets."""
        return len(self.plan.live) + self.plan.network.n_extra + (0 if self.plan.by_class else self.n_targets)

    @property
    def n_rows(self) -> int:
        """Rows added so far."""
        return sum(moment.n_rows for moment in self.moments.values())

    @property
    def n_counted(self) -> float:
        """Rows that the sums rest on: their total weight where weights count rows, else how many there are."""
        return sum(moment.weight for moment in self.moments.values()) if self.counted else float(self.n_rows)

    @property
    def total(self) -> SecondMoment:
        """The moment over all rows (when classes are not kept apart)."""
        return self._moment(ALL_ROWS)

    def mean_squares(self) -> Array:
        """Mean square of each scaled input: 1, but for clipping, where the rows are those that the scaling came from."""
        d = len(self.plan.live)
        squares = sum((m.diag()[:d] + m.weight * m.mean[:d] ** 2 for m in self.moments.values()), np.zeros(d))
        return np.asarray(squares / sum(m.weight for m in self.moments.values()))

    def target_varies(self) -> bool:
        """Whether some target that is a number has had more than one value."""
        targets = slice(len(self.plan.live) + self.plan.network.n_extra, None)
        return any(bool((m.diag()[targets] > 0).any()) for m in self.moments.values())

    def _moment(self, key: int) -> SecondMoment:
        if key not in self.moments:
            self.moments[key] = SecondMoment(self.width, fold=self.fold)
        return self.moments[key]

    def add(self, X: Array | sparse.csr_array, y: Array | None, weight: Array | None = None) -> Statistics:
        """Add rows; ``y`` holds class codes or target values."""
        n_targets = self._room_for(y)
        rows, observed = self.plan.rows(X, y, weight, n_targets)
        return self._add(rows, observed, y)

    def add_scaled(
        self, inputs: Array | ScaledSparse, observed: Array, y: Array | None, weight: Array | None = None
    ) -> Statistics:
        """Add rows that are scaled already."""
        n_targets = self._room_for(y)
        return self._add(self.plan.with_nodes(inputs, y, weight, n_targets), observed, y)

    def _room_for(self, y: Array | None) -> int:
        if self.plan.target_kind == "classes" and y is not None and len(y):
            self.widen(int(y.max()) + 1)
        return 0 if self.plan.by_class else self.n_targets

    def _add(self, rows: Rows, observed: Array, y: Array | None) -> Statistics:
        self.observed = self.observed + observed
        self.counted = self.counted and counts_rows(rows.weight)
        if not self.plan.by_class or y is None:
            self._moment(ALL_ROWS).add(rows)
        else:
            for code in np.unique(y):
                self._moment(int(code)).add(rows[y == code])
        return self

    def merge(self, other: Statistics) -> Statistics:
        """Add what other statistics of the same plan have seen; both count classes by the same codes."""
        if other.plan is not self.plan and other.plan.fingerprint != self.plan.fingerprint:
            raise ValueError(
                "these statistics were made with two different networks or scalings and cannot be merged. "
                "Draw one network and pass it to every part, as in partial_fit(X, y, network=first.network_)."
            )
        self.widen(other.n_targets)
        other.widen(self.n_targets)
        self.observed = self.observed + other.observed
        self.counted = self.counted and other.counted
        for key, moment in other.moments.items():
            self._moment(key).merge(moment)
        return self

    def joint(self) -> SecondMoment:
        """One moment over all rows with the columns inputs, nodes, targets; classes kept apart are put together."""
        if not self.plan.by_class:
            return self.total
        return SecondMoment.of_classes(self.moments, self.width, self.n_targets)

    def recode(self, codes: Array, n_targets: int) -> None:
        """Give classes other codes: class ``i`` becomes ``codes[i]``."""
        self.widen(n_targets)
        if self.plan.by_class:
            self.moments = {int(codes[old]): moment for old, moment in self.moments.items()}
            return
        spare = np.setdiff1d(np.arange(n_targets), codes)
        first = len(self.plan.live) + self.plan.network.n_extra
        source = np.argsort(np.concatenate([codes, spare]))
        for moment in self.moments.values():
            moment.reorder(first, source)

    def widen(self, n_targets: int) -> None:
        """Make room for classes up to ``n_targets``."""
        extra = n_targets - self.n_targets
        if self.plan.target_kind != "classes" or extra <= 0:
            return
        self.n_targets = n_targets
        if not self.plan.by_class:
            for moment in self.moments.values():
                moment.widen(extra)
