"""Rows of a table as they come: numbers, target and weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from easyfs.common.types import Array
from easyfs.sample.drawing import Drawn, counts_rows, draw_rows
from easyfs.tables.target import Target

# A plan is made from at most this many rows, fewer of very wide tables: of a gigabyte that a fit may hold, so many numbers.
SAMPLE_ROWS, FEWEST_SAMPLE_ROWS, SAMPLE_NUMBERS = 20_000, 512, 1 << 25


def sample_rows(n_columns: int, memory_limit: float) -> int:
    """Rows that a plan is made from."""
    return int(np.clip(memory_limit * SAMPLE_NUMBERS // max(1, n_columns), FEWEST_SAMPLE_ROWS, SAMPLE_ROWS))


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, d)
        Numbers, not scaled; missing values are NaN.
    target : Target
        Their target: class codes, values, or none.
    weight : ndarray of shape (n,), optional
        Weight of each row; None where each counts once.
    stands_for : ndarray of shape (n,), optional
        Of a sample: how many rows each stands for, beside its weight.
    population : float, optional
        Of a sample: rows of the table that it was drawn from.
    """

    X: Array | sparse.csr_array
    target: Target
    weight: Array | None = None
    stands_for: Array | None = None
    population: float | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def __getitem__(self, rows: Any) -> Block:
        return Block(self.X[rows], self.target[rows], None if self.weight is None else self.weight[rows])

    def draw(self, seed: int, size: int = SAMPLE_ROWS) -> tuple[Drawn | None, float]:
        """Which rows a sample has, by the hashes of their numbers, rare classes among them; and how many rows there are.

        None where all rows are the sample.
        """
        codes = self.target.values if self.target.kind == "classes" else None
        counts = self.weight is not None and counts_rows(self.weight)
        population = float(self.weight.sum() if counts and self.weight is not None else self.n_rows)
        if population <= size:
            return None, population
        return draw_rows(self.n_rows, size, seed, self.weight, codes), population

    def sample(self, seed: int, size: int = SAMPLE_ROWS) -> Block:
        """At most ``size`` rows, or all of them where they are few."""
        drawn, population = self.draw(seed, size)
        if drawn is None:
            return Block(self.X, self.target, self.weight, population=population)
        return Block(self.X[drawn.rows], self.target[drawn.rows], drawn.weight, drawn.chance, population)
