"""What columns cost, where they come from, and how many of them that allows: parameters of a request, checked."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.common.parameters import check_number
from easyfs.common.types import Array


@dataclass(frozen=True, eq=False)
class Limits:
    """What a selection may cost, and how many columns of a source it may have.

    Attributes
    ----------
    cost : ndarray of shape (d,), optional
        For each column the cost of its whole group; None where all cost one.
    budget : float
        What the selected groups may cost in all.
    source : ndarray of int, shape (d,), optional
        Source of each column; None without any.
    quota : ndarray of shape (number of sources,), optional
        How many groups of each source may be selected.
    """

    cost: Array | None = None
    budget: float = np.inf
    source: Array | None = None
    quota: Array | None = None

    @property
    def limited(self) -> bool:
        """Whether some columns may be left out for them."""
        return self.budget < np.inf or self.quota is not None

    def expanded(self, origin: Array) -> Limits:
        """The same for columns of a matrix, by the column of the table that each comes from."""
        cost = None if self.cost is None else self.cost[origin]
        return Limits(cost, self.budget, None if self.source is None else self.source[origin], self.quota)


@dataclass(frozen=True)
class Further:
    """Parameters that only some selectors have, as they were given."""

    adjust_for: Any = None
    costs: Any = None
    budget: Any = None
    sources: Any = None
    max_per_source: Any = None


NOTHING_FURTHER = Further()


def positions_of(parameter: str, entry: Any, n_columns: int, names: list[Any] | None) -> int:
    """The place of a column that is given by name or by place."""
    if isinstance(entry, str):
        if names is None or entry not in names:
            raise ValueError(f"{parameter} names column {entry!r}, {not_found(entry, names)}")
        return names.index(entry)
    if isinstance(entry, numbers.Integral) and not isinstance(entry, (bool, np.bool_)):
        if not 0 <= int(entry) < n_columns:
            raise ValueError(f"{parameter} has column {entry!r}, but X has {n_columns} columns: use 0 to {n_columns - 1}.")
        return int(entry)
    raise ValueError(f"{parameter} has the entry {entry!r}; give column names or positions.")


def not_found(entry: str, names: list[Any] | None) -> str:
    """The rest of a message about a name that is not there, with those that are like it."""
    if names is None:
        return "but X has no column names; use positions, or fit on a dataframe."
    close = difflib.get_close_matches(entry, [str(n) for n in names], n=3)
    hint = f" Did you mean {' or '.join(repr(c) for c in close)}?" if close else ""
    return f"which X does not have.{hint}"


def by_column(parameter: str, given: Any, n_columns: int, names: list[Any] | None) -> dict[int, Any] | None:
    """Values by place of their column, where these are given by name or place: by a mapping, or by a Series of pandas."""
    if not isinstance(given, Mapping) and not (hasattr(given, "index") and hasattr(given, "items")):
        return None
    found: dict[int, Any] = {}
    for entry, value in given.items():
        place = positions_of(parameter, entry, n_columns, names)
        if place in found:
            raise ValueError(f"{parameter} has column {names[place] if names else place!r} twice; give each column once.")
        found[place] = value
    return found


def check_costs(costs: Any, n_columns: int, names: list[Any] | None) -> Array | None:
    """The cost of each column: 1 where a mapping does not say."""
    if costs is None:
        return None
    found = np.ones(n_columns)
    mapped = by_column("costs", costs, n_columns, names)
    if mapped is not None:
        for j, cost in mapped.items():
            found[j] = _cost(cost, names[j] if names else j)
        return found
    if isinstance(costs, (str, numbers.Number)) or not hasattr(costs, "__len__"):
        raise ValueError(f"costs={costs!r}: give one number for each column, or a mapping such as {{'mri': 50}}.")
    if len(costs) != n_columns:
        raise ValueError(
            f"costs has {len(costs)} numbers, but X has {n_columns} columns; give one for each, or a mapping by name."
        )
    for j, cost in enumerate(np.asarray(costs, dtype=object).tolist()):
        found[j] = _cost(cost, names[j] if names else j)
    return found


def _cost(cost: Any, column: Any) -> float:
    good = isinstance(cost, numbers.Real) and not isinstance(cost, (bool, np.bool_))
    if not good or not 0.0 < float(cost) < np.inf:
        raise ValueError(f"costs has {cost!r} for column {column!r}; give a number above 0.")
    return float(cost)


def check_budget(budget: Any) -> float:
    """What may be spent; without a budget, anything."""
    if budget is None:
        return np.inf
    check_number("budget", budget, 0, above=True, or_else=", or None for no limit")
    return float(budget)


def check_sources(sources: Any, n_columns: int, names: list[Any] | None) -> tuple[Array | None, list[Any]]:
    """Source of each column as a number, and what the sources are called; columns of no source have the last one."""
    if sources is None:
        return None, []
    if isinstance(sources, Mapping):
        return _of_mapping(sources, n_columns, names)
    mapped = by_column("sources", sources, n_columns, names)
    if mapped is not None:  # a Series, whose index says which column a label is of
        sources = [mapped.get(j) for j in range(n_columns)] if len(mapped) == n_columns else list(mapped.values())
    if isinstance(sources, (str, numbers.Number)) or not hasattr(sources, "__len__"):
        raise ValueError(f"sources={sources!r}: give one label for each column, or a mapping such as {{'blood': ['hb']}}.")
    if len(sources) != n_columns:
        raise ValueError(
            f"sources has {len(sources)} labels, but X has {n_columns} columns; give one for each, or a mapping from the "
            "name of a source to its columns."
        )
    codes: dict[Any, int] = {}
    try:
        source = np.array([codes.setdefault(label, len(codes)) for label in list(sources)], dtype=np.intp)
    except TypeError as error:
        raise ValueError("sources: a label for each column must be a name or a number.") from error
    return source, list(codes)


def _of_mapping(sources: Mapping[Any, Any], n_columns: int, names: list[Any] | None) -> tuple[Array, list[Any]]:
    labels = list(sources)
    source = np.full(n_columns, len(labels), dtype=np.intp)
    for code, label in enumerate(labels):
        listed = sources[label]
        for entry in [listed] if isinstance(listed, (str, numbers.Number)) else list(listed):
            j = positions_of(f"sources[{label!r}]", entry, n_columns, names)
            if source[j] < len(labels) and source[j] != code:
                raise ValueError(
                    f"column {entry!r} is in two sources, {labels[source[j]]!r} and {label!r}; leave it in one of them."
                )
            source[j] = code
        if not (source == code).any():
            raise ValueError(f"sources[{label!r}] has no columns; give some, or leave it out.")
    return source, labels


def check_quota(max_per_source: Any, labels: list[Any]) -> Array | None:
    """How many may be selected of each source, and of the columns of none (any number)."""
    if max_per_source is None:
        return None
    if not labels:
        raise ValueError(f"max_per_source={max_per_source!r} needs sources: say which columns each source has.")
    quota = np.full(len(labels) + 1, np.inf)
    if not isinstance(max_per_source, Mapping):
        check_number("max_per_source", max_per_source, 1, whole=True, or_else=", or a mapping from sources to such numbers")
        quota[: len(labels)] = int(max_per_source)
        return quota
    for label, most in max_per_source.items():
        if label not in labels:
            raise ValueError(
                f"max_per_source names source {label!r}, which sources does not have; it has "
                f"{', '.join(repr(known) for known in labels[:8])}."
            )
        check_number(f"max_per_source[{label!r}]", most, 0, whole=True)
        quota[labels.index(label)] = int(most)
    return quota
