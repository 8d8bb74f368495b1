"""What chosen columns say of the others: shares beyond the earlier ones, and by themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from easyfs.base.selector import BaseSelector
from easyfs.common.types import Array
from easyfs.report.table import Table
from easyfs.stages.redundancy import coded_shares, explained_by_selected

# Correlations of at most so many numbers are computed for a method that leaves none.
MOST_NUMBERS = 20_000_000
# Directions of a group of indicators weaker than this are rounding of single precision.
WEAK = 1e-4


@dataclass(frozen=True)
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
    """

    shares: Array
    chosen: Array
    source: Array
    n_columns: int

    @property
    def columns(self) -> list[int]:
        """The user's columns among the chosen, in order."""
        return list(dict.fromkeys(self.source[self.chosen].tolist()))

    def beyond(self, column: int) -> Array:
        """Share of each of the user's columns that a chosen one says beyond those before it."""
        rows = self.shares[self.source[self.chosen] == column]
        return self._mean(np.einsum("ij,ij->j", rows, rows, dtype=np.float64))

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
            found[:, i] = self._mean(explained)[columns]
        return np.clip(found, 0.0, 1.0)

    def redundancy(self, encoded: bool) -> Array:
        """Share of each of the user's columns that the (other) chosen ones say."""
        return self._mean(explained_by_selected(self.shares, self.chosen, self.source if encoded else None))

    def _mean(self, values: Array) -> Array:
        """Mean over the columns of the matrix that come from one of the user's."""
        if len(self.source) == self.n_columns and (self.source == np.arange(self.n_columns)).all():
            return values
        width = np.bincount(self.source, minlength=self.n_columns)
        summed = np.bincount(self.source, weights=values, minlength=self.n_columns)
        return np.asarray(summed / np.maximum(width, 1))


def coding_of(selector: BaseSelector, table: Table | None, most: int) -> Coding | None:
    """What the first chosen columns say: as the selector left it, or measured on the table; None if neither is there."""
    found = selector._found()
    encoder = selector._encoder
    source = np.arange(len(found.order)) if encoder is None else encoder.source
    n_columns = len(found.order) if encoder is None else len(encoder.columns)
    chosen = found.order[: found.n_selected]
    wanted = list(dict.fromkeys(source[chosen].tolist()))[:most]
    if found.coded is not None:
        chosen = chosen[: len(found.coded)]
        kept = np.isin(source[chosen], wanted)
        return Coding(found.coded[kept], chosen[kept], source, n_columns)
    if table is None:
        return None
    chosen = chosen[np.isin(source[chosen], wanted)][: max(1, MOST_NUMBERS // len(found.order))]
    gram = table.products(chosen)
    return Coding(coded_shares(gram, chosen.tolist(), table.energy), chosen, source, n_columns)
