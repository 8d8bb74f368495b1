"""Scaled rows, with nodes and targets beside them: what is summed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.common.threads import block_rows, block_slices, for_blocks, map_blocks
from easyfs.common.types import Array
from easyfs.sums.sparse import ScaledSparse

# Rows whose columns lie further than this from zero, in standard deviations, are summed in float64.
FLOAT32_MEAN = 8.0
# Rows that are looked at to see whether a block lies far from zero.
CHECKED_ROWS = 128
# Multiply-adds of a product with the rows that one thread computes at a time, and columns: enough to run at full speed.
PRODUCTS, FEWEST_COLUMNS = 1 << 23, 128


class HeldElsewhere:
    """Scaled rows on another device, of which those that are asked for come here.

    Parameters
    ----------
    held : tensor of shape (n, d)
        The rows there.
    to_host : callable
        Makes an array of numpy of some of them.
    dtype : dtype
        Its precision.
    """

    def __init__(self, held: Any, to_host: Callable[[Any], Array], dtype: np.dtype[Any]):
        self.held, self.to_host, self.dtype = held, to_host, dtype

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.held.shape[0]), int(self.held.shape[1])

    def __getitem__(self, rows: Array) -> Array:
        return self.to_host(self.held[rows])


@dataclass
class Rows:
    """A run of rows: the scaled inputs, and dense columns beside them (nodes, targets).

    Together they are the ``p`` columns of a matrix ``A``. ``weight`` is None when each row counts once. Dense rows made by
    :meth:`allocate` lie in one array with a column of ones behind, so that one product gives sums and second moments.
    """

    inputs: Array | ScaledSparse
    extra: Array
    weight: Array | None = None
    whole: Array | None = None

    @classmethod
    def allocate(cls, n: int, n_inputs: int, n_extra: int, dtype: Any, weight: Array | None = None) -> Rows:
        """Room for ``n`` dense rows, to be filled in."""
        whole: Array = np.empty((n, n_inputs + n_extra + 1), dtype=dtype)
        whole[:, -1] = 1.0
        return cls(whole[:, :n_inputs], whole[:, n_inputs:-1], weight, whole)

    @property
    def n_inputs(self) -> int:
        """Number of input columns."""
        return int(self.inputs.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of ``A``."""
        return self.extra.shape[0], self.n_inputs + self.extra.shape[1]

    @property
    def nbytes(self) -> int:
        """Memory that the rows take."""
        return int(self.inputs.nbytes + self.extra.nbytes)

    def weights(self) -> Array:
        """The weight of each row."""
        return np.ones(self.shape[0]) if self.weight is None else self.weight

    def sums(self) -> Array:
        """``A' w``: the sum of each column, in float64."""
        if isinstance(self.inputs, ScaledSparse):
            w = self.weights()
            return np.concatenate([self.inputs.cross(w[:, None])[:, 0], w @ self.extra])
        return np.concatenate([self._column_sums(self.inputs), self._column_sums(self.extra)])

    def _column_sums(self, values: Array) -> Array:
        def of_part(part: slice) -> Array:
            if self.weight is None:
                return np.asarray(np.add.reduce(values[part], axis=0, dtype=np.float64))
            return np.asarray(self.weight[part] @ values[part].astype(np.float64))

        parts = block_slices(len(values), block_rows(max(1, values.shape[1]), 8))
        return sum(map_blocks(of_part, parts), np.zeros(values.shape[1]))

    def safe(self) -> Rows:
        """These rows, in float64 if they lie too far from zero for sums of float32 squares."""
        if isinstance(self.inputs, ScaledSparse) or self.extra.dtype != np.float32:
            return self
        few = slice(None, None, max(1, len(self.extra) // CHECKED_ROWS))
        means = [np.abs(values[few].mean(axis=0)).max(initial=0.0) for values in (self.inputs, self.extra)]
        if max(means) <= FLOAT32_MEAN:
            return self
        return Rows(self.inputs.astype(np.float64), self.extra.astype(np.float64), self.weight)

    def take(self, columns: Array) -> Array:
        """Some columns of ``A``, dense."""
        d = self.n_inputs
        if columns.size and columns.max() < d:
            return np.asarray(
                self.inputs.take(columns) if isinstance(self.inputs, ScaledSparse) else self.inputs.take(columns, axis=1)
            )
        out = np.empty((self.shape[0], len(columns)), dtype=self.extra.dtype)
        left = columns < d
        if left.any():
            out[:, left] = self.take(columns[left])
        out[:, ~left] = self.extra[:, columns[~left] - d]
        return out

    def dot(self, B: Array) -> Array:
        """``A B``."""
        return np.asarray(self.inputs.dot(B[: self.n_inputs]) + self.extra @ B[self.n_inputs :])

    def cross(self, B: Array) -> Array:
        """``A' W B`` in float64."""
        return self._products(B if self.weight is None else B * self.weight.astype(B.dtype)[:, None])

    def _products(self, B: Array) -> Array:
        d = self.n_inputs
        out = np.empty((self.shape[1], B.shape[1]))
        out[d:] = self.extra.T @ B
        if isinstance(self.inputs, ScaledSparse):
            out[:d] = self.inputs.cross(B)
            return out
        inputs = self.inputs

        def fill(columns: slice) -> None:
            out[columns] = inputs[:, columns].T @ B

        for_blocks(fill, block_slices(d, max(FEWEST_COLUMNS, PRODUCTS // max(1, B.size))))
        return out

    def dense(self) -> Array:
        """``[A, 1]`` as one array, each row times the root of its weight."""
        if self.whole is not None and self.weight is None:
            return self.whole
        inputs = self.inputs.dense() if isinstance(self.inputs, ScaledSparse) else self.inputs
        root = np.sqrt(self.weights()).astype(self.extra.dtype)[:, None]
        A = np.concatenate([inputs, self.extra, np.ones_like(root)], axis=1)
        A *= root
        return A

    def __getitem__(self, rows: Any) -> Rows:
        return Rows(
            self.inputs[rows],
            self.extra[rows],
            None if self.weight is None else self.weight[rows],
            None if self.whole is None else self.whole[rows],
        )
