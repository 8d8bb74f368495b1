"""What chosen columns say of the others: shares beyond the earlier ones, and by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from easyfs.common.types import Array

# Chosen columns whose overlap with the others is told.
MOST_CODED = 500
# Directions of a group of indicators weaker than this are rounding of single precision.
WEAK = 1e-4
# A column stands in for another if it says at least this share of it beyond those chosen before, and more than chance:
# than the best of as many unrelated columns would reach, in this share of tables.
LEAST_SHARE, LEVEL = 0.1, 0.95


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as the matrix of numbers that a selector looks at.

    Attributes
    ----------
    matrix : ndarray or sparse matrix of shape (n, q)
        The numbers; a category has a column for each of its indicators, a date one for each of its parts.
    chosen : ndarray of int
        The chosen columns of the matrix, in order.
    source : ndarray of int, shape (q,)
        The user's column that each comes from.
    n_columns : int
        Number of the user's columns.
    mixed : bool
        Whether some of the user's columns are no numbers.
    """

    matrix: Any
    chosen: Array
    source: Array
    n_columns: int
    mixed: bool

    def largest(self, values: Array) -> Array:
        """The largest value among the columns of the matrix that come from each of the user's."""
        found = np.zeros(self.n_columns)
        np.maximum.at(found, self.source, values)
        return found


@dataclass(frozen=True, eq=False)
class Coding:
    """What the first chosen columns say, in terms of the columns of the matrix.

    Attributes
    ----------
    shares : ndarray of shape (p, q)
        ``V`` with ``V[i, j]**2`` the share of column ``j`` that the ``i``-th chosen one explains beyond those before it.
    chosen : ndarray of shape (p,)
        The chosen columns of the matrix.
    source : ndarray of shape (q,)
        The user's column that each comes from.
    n_columns : int
        Number of the user's columns.
    steps : ndarray of shape (p, r) or None
        What each chosen one explains of each direction of the target beyond those before it, as the root of a share of it.
    """

    shares: Array
    chosen: Array
    source: Array
    n_columns: int
    steps: Array | None = None

    @property
    def columns(self) -> list[int]:
        """The user's columns among the chosen, in order."""
        return list(dict.fromkeys(self.source[self.chosen].tolist()))

    def beyond(self, column: int) -> Array:
        """Share of each of the user's columns that a chosen one says beyond those before it."""
        rows = self.shares[self.source[self.chosen] == column]
        return self.mean(np.einsum("ij,ij->j", rows, rows, dtype=np.float64))

    def alone(self, columns: list[int]) -> Array:
        """Share of each of some of the user's columns (down) that each chosen one (across) says by itself."""
        origin = self.source[self.chosen]
        factor = np.tril(self.shares[:, self.chosen].T).astype(np.float64)
        parts = np.flatnonzero(np.isin(self.source, columns))
        correlation = factor @ self.shares[:, parts]
        among = factor @ factor.T
        found = np.zeros((len(columns), len(self.columns)))
        for i, column in enumerate(self.columns):
            own = np.flatnonzero(origin == column)
            inverse = np.linalg.pinv(among[np.ix_(own, own)], rcond=WEAK, hermitian=True)
            explained = np.zeros(len(self.source))
            explained[parts] = np.einsum("ij,ij->j", correlation[own], inverse @ correlation[own])
            found[:, i] = self.mean(explained)[columns]
        return np.clip(found, 0.0, 1.0)

    def of_target(self) -> Array | None:
        """Share of the target that each of the user's chosen columns explains by itself, with all its parts."""
        if self.steps is None:
            return None
        origin = self.source[self.chosen]
        factor = np.tril(self.shares[:, self.chosen].T).astype(np.float64)
        products, among = factor @ self.steps, factor @ factor.T
        found = []
        for column in self.columns:
            own = np.flatnonzero(origin == column)
            inverse = np.linalg.pinv(among[np.ix_(own, own)], rcond=WEAK, hermitian=True)
            found.append(float(np.sum(products[own] * (inverse @ products[own]))))
        return np.clip(found, 0.0, 1.0)

    def mean(self, values: Array) -> Array:
        """Mean over the columns of the matrix that come from one of the user's."""
        if len(self.source) == self.n_columns and (self.source == np.arange(self.n_columns)).all():
            return values
        width = np.bincount(self.source, minlength=self.n_columns)
        summed = np.bincount(self.source, weights=values, minlength=self.n_columns)
        return np.asarray(summed / np.maximum(width, 1))


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured on rows, for a selector that leaves no such thing; None where it was not.

    Attributes
    ----------
    relevance : ndarray of shape (d,) or None
        Share of each of the user's columns that the target explains by itself.
    directions : int
        Independent directions of the target.
    told : ndarray or None
        Share of the target that each chosen column explains beyond those before it.
    next_told : ndarray of shape (d,) or None
        Share of the target that each of the user's columns would add to the chosen ones.
    redundancy : ndarray of shape (d,) or None
        Share of each that the (other) chosen ones say.
    coding : Coding or None
        What the chosen columns say of each.
    """

    relevance: Array | None = None
    redundancy: Array | None = None
    coding: Coding | None = None
    directions: int = 1
    told: Array | None = None
    next_told: Array | None = None


def least_share(n_rows: int, n_columns: int) -> float:
    """Share from which on a column stands in for another: more than the best of as many unrelated columns would reach."""
    by_chance = beta.ppf(LEVEL ** (1.0 / max(1, n_columns)), 0.5, max(n_rows - 2.0, 1.0) / 2.0)
    return round(max(LEAST_SHARE, float(by_chance)), 4)
