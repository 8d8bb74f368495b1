"""Kernels: what is done with all rows and takes the time, behind one protocol, so that other hardware can do it.

Arrays may be of any library whose arrays can be cut and written to like numpy's; sums come back as float64 of numpy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from easyfs.common.threads import add_gram, block_rows
from easyfs.common.types import Array
from easyfs.passes.plan import TargetCoding
from easyfs.stages.expansion import Network
from easyfs.sums.measuring import measure_scaling, scale_rows, without_extremes
from easyfs.sums.rows import Rows
from easyfs.sums.scaling import Scaling
from easyfs.sums.second_moment import WIDE

Measured = tuple[Scaling, Any, Array]


class Kernels(Protocol):
    """What an array library must be able to do."""

    def measure(self, X: Any, weight: Array | None, clip: float, *, precise: bool = False) -> Measured:
        """The scaling of some rows, the rows as it scales them, and the weight of the observed values of each column.

        Rows in single precision stay so, unless they are to be ``precise``.
        """

    def block_rows(self, n_columns: int, scaling: Scaling) -> int:
        """Rows that are worked on at a time."""

    def empty(self, n_rows: int, n_columns: int, scaling: Scaling, like: Any) -> Any:
        """Room for dense rows that are made of rows of ``like``."""

    def zeros(self, *shape: int) -> Any:
        """Room for sums, in float64."""

    def scale(self, X: Any, scaling: Scaling, weight: Any, out: Any) -> Any:
        """Scale rows into ``out``; missing values become zero. Give the weight of the observed values of each column."""

    def expand(self, inputs: Any, network: Network, out: Any) -> None:
        """Compute the nodes of scaled rows into ``out``."""

    def hold(self, values: Array | None) -> Any:
        """Class codes or target values of all rows, where the products are done."""

    def targets(self, coding: TargetCoding, values: Any, out: Any) -> None:
        """Write the targets of some rows into ``out``, as columns."""

    def take(self, A: Any, rows: Array) -> Any:
        """Some rows, by place."""

    def add_gram(self, total: Any, A: Any, weight: Any) -> None:
        """Add ``A' W A``."""

    def host(self, values: Any) -> Array:
        """Sums as an array of numpy."""


class NumpyKernels:
    """On the processor."""

    def measure(self, X: Array | sparse.csr_array, weight: Array | None, clip: float, *, precise: bool = False) -> Measured:
        """Mean and spread of each column, measured anew where they are those of a few extreme rows."""
        scaling = replace(measure_scaling(X, weight), clip=clip)
        if precise:
            scaling = replace(scaling, dtype=np.dtype(np.float64))
        inputs, observed = scale_rows(X, scaling, weight)
        if not np.isfinite(clip):
            return scaling, inputs, observed
        remeasured = without_extremes(X, scaling, (inputs, observed), weight)
        if remeasured is not scaling:
            inputs, observed = scale_rows(X, remeasured, weight, out=inputs if isinstance(inputs, np.ndarray) else None)
        return remeasured, inputs, observed

    def block_rows(self, n_columns: int, scaling: Scaling) -> int:
        """As many rows as fit the cache, and enough that a product takes longer than to add it to the others."""
        return max(block_rows(n_columns, scaling.dtype.itemsize), n_columns // 2)

    def empty(self, n_rows: int, n_columns: int, scaling: Scaling, like: Array) -> Array:
        """Room for dense rows, by column where the table is: to scale from one order into the other takes much longer."""
        return np.empty((n_rows, n_columns), scaling.dtype, "F" if np.isfortran(like) else "C")

    def zeros(self, *shape: int) -> Array:
        """Room for sums, in float64."""
        return np.zeros(shape)

    def scale(self, X: Array, scaling: Scaling, weight: Array | None, out: Array) -> Array:
        """Scale rows into ``out``; missing values become zero. Give the weight of the observed values of each column."""
        return scale_rows(X, scaling, weight, out=out)[1]

    def expand(self, inputs: Array, network: Network, out: Array) -> None:
        """Compute the nodes of scaled rows into ``out``."""
        network.expand(inputs, out=out)

    def hold(self, values: Array | None) -> Array | None:
        """Class codes or target values as they are."""
        return values

    def targets(self, coding: TargetCoding, values: Array, out: Array) -> None:
        """Write the targets of some rows into ``out``, as columns."""
        out[:] = coding.columns(values, out.shape[1], out.dtype)

    def take(self, A: Array, rows: Array) -> Array:
        """Some rows, by place."""
        return np.asarray(A[rows])

    def add_gram(self, total: Array, A: Array, weight: Array | None) -> None:
        """Add ``A' W A``; rows that lie too far from zero for float32 are multiplied in float64."""
        rows = Rows(A[:, :0], A).safe().extra
        if weight is not None:
            rows = rows * np.sqrt(weight).astype(rows.dtype)[:, None]
        if len(total) > WIDE:
            add_gram(total, [rows])
        else:
            total += rows.T @ rows

    def host(self, values: Array) -> Array:
        """Sums as they are."""
        return values


NUMPY = NumpyKernels()
