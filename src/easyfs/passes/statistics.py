"""Statistics: the sums over rows that scores and order are computed from. They add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from easyfs.common.types import Array
from easyfs.sums.second_moment import SecondMoment

# The key of the moment over all rows, where classes are not kept apart.
ALL_ROWS = -1


@dataclass(frozen=True)
class Layout:
    """The columns of a moment: inputs, nodes, targets.

    Attributes
    ----------
    plan : str
        Identity of the plan that says how they are made.
    n_inputs, n_nodes, n_values : int
        Number of inputs, of nodes and of targets that are values.
    by_class : bool
        Whether each class has a moment of its own, in place of a column.
    """

    plan: str
    n_inputs: int
    n_nodes: int
    n_values: int
    by_class: bool

    def width(self, n_classes: int) -> int:
        """Number of columns."""
        return self.n_inputs + self.n_nodes + self.n_values + (0 if self.by_class else n_classes)


@dataclass
class Statistics:
    """Sums over some rows.

    ``a + b`` are the sums over the rows of both, whatever the order; neither is changed. ``a += b`` leaves ``b`` alone.

    Attributes
    ----------
    layout : Layout
        What the columns are.
    labels : tuple
        Labels of the classes, in the order of their columns.
    observed : ndarray of shape (d,)
        Weight of the observed values of each input.
    counted : bool
        Whether all weights so far say how often a row is there.
    moments : dict of int to SecondMoment
        The sums: under ``ALL_ROWS``, or for each class under its place in ``labels``.
    """

    layout: Layout
    labels: tuple[Any, ...] = ()
    observed: Array = field(default_factory=lambda: np.zeros(0))
    counted: bool = True
    moments: dict[int, SecondMoment] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not len(self.observed):
            self.observed = np.zeros(self.layout.n_inputs)

    @property
    def n_rows(self) -> int:
        """Rows that were added up."""
        return sum(moment.n_rows for moment in self.moments.values())

    @property
    def weight(self) -> float:
        """Their total weight."""
        return sum(moment.weight for moment in self.moments.values())

    @property
    def n_counted(self) -> float:
        """Rows that the sums rest on: their total weight where weights count rows, else how many there are."""
        return self.weight if self.counted else float(self.n_rows)

    def __add__(self, other: Statistics) -> Statistics:
        total = Statistics(self.layout, self.labels, self.observed, self.counted)
        total.moments = {key: moment.copy() for key, moment in self.moments.items()}
        total += other
        return total

    def __iadd__(self, other: Statistics) -> Statistics:
        if other.layout.plan != self.layout.plan:
            raise ValueError(
                "these statistics were made with two different plans (scaling, network) and cannot be added up. Draw one "
                "plan and pass it to every part, as in partial_fit(X, y, plan=first.plan_), from rows in which each column "
                "has a value: one that has none there is scaled by the first rows that have."
            )
        known = set(self.labels)
        labels = (*self.labels, *(label for label in other.labels if label not in known))
        self.moments, self.labels = self._moments_for(labels), labels
        self.observed = self.observed + other.observed
        self.counted = self.counted and other.counted
        for key, moment in other._moments_for(labels).items():
            if key in self.moments:
                self.moments[key].merge(moment)
            else:
                self.moments[key] = moment.copy()
        return self

    def _moments_for(self, labels: tuple[Any, ...]) -> dict[int, SecondMoment]:
        """The moments with the classes in this order, some of which they may not have seen."""
        if labels == self.labels:
            return self.moments
        place = {label: i for i, label in enumerate(labels)}
        places = np.array([place[label] for label in self.labels], dtype=np.intp)
        if self.layout.by_class:
            return {int(places[key]): moment for key, moment in self.moments.items()}
        first = self.layout.width(0)
        return {key: moment.placed(first, places, len(labels)) for key, moment in self.moments.items()}

    def joint(self) -> SecondMoment:
        """One moment over all rows with the columns inputs, nodes, targets; classes kept apart are put together."""
        if self.layout.by_class:
            return SecondMoment.of_classes(self.moments, self.layout.width(0), len(self.labels))
        return self.moments[ALL_ROWS]

    def mean_squares(self) -> Array:
        """Mean square of each scaled input: 1, but for clipping, where the rows are those that the scaling came from."""
        d = self.layout.n_inputs
        squares = sum((m.diag()[:d] + m.weight * m.mean[:d] ** 2 for m in self.moments.values()), np.zeros(d))
        return np.asarray(squares / self.weight)

    def target_varies(self) -> bool:
        """Whether some target that is a number has had more than one value."""
        targets = slice(self.layout.n_inputs + self.layout.n_nodes, None)
        return any(bool((m.diag()[targets] > 0).any()) for m in self.moments.values())

    def of_plan(self, identity: str) -> Statistics:
        """The same sums under a plan that makes the same of all rows so far."""
        return replace(self, layout=replace(self.layout, plan=identity))

    def to_arrays(self) -> dict[str, Array]:
        """All of it as plain arrays, to be stored or sent."""
        layout = self.layout
        arrays = {
            "layout": np.array([layout.n_inputs, layout.n_nodes, layout.n_values, layout.by_class, self.counted]),
            "plan": np.array(layout.plan),
            "labels": np.array(self.labels),
            "observed": self.observed,
        }
        for key, moment in self.moments.items():
            arrays |= {f"{key}/{name}": array for name, array in moment.to_arrays().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Statistics:
        """What :meth:`to_arrays` gave."""
        n_inputs, n_nodes, n_values, by_class, counted = (int(value) for value in arrays["layout"])
        layout = Layout(str(arrays["plan"]), n_inputs, n_nodes, n_values, bool(by_class))
        found: dict[int, dict[str, Array]] = {}
        for name, array in arrays.items():
            key, _, part = name.partition("/")
            if part:
                found.setdefault(int(key), {})[part] = array
        moments = {key: SecondMoment.from_arrays(parts) for key, parts in found.items()}
        return cls(layout, tuple(arrays["labels"].tolist()), arrays["observed"], bool(counted), moments)
