"""The scaling of columns: each is z-scored with the mean and the standard deviation of its observed values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.common.threads import block_rows, block_slices, map_blocks
from easyfs.common.types import Array


@dataclass(frozen=True, eq=False)
class Scaling:
    """Centre and spread of each column, as the network sees them.

    Attributes
    ----------
    center, scale : ndarray of shape (d,)
        Mean and standard deviation (ddof 0) of the observed values. A column without spread keeps its own size as
        its scale, so that a later row which does differ still counts.
    constant : ndarray of bool, shape (d,)
        Columns without spread in the rows this was measured on.
    dtype : dtype
        float32 for dense float32 tables, float64 for all others.
    clip : float
        Values further than this from the centre, in units of the scale, count as this far, so that a few rows do not decide
        alone. Columns without spread are left as they are.
    unseen : ndarray of bool, shape (d,), optional
        Columns without any value in those rows.
    """

    center: Array
    scale: Array
    constant: Array
    dtype: np.dtype[Any]
    clip: float = np.inf
    unseen: Array | None = None

    @property
    def reach(self) -> Array:
        """How far scaled values of each column may lie from zero."""
        return np.where(self.constant, np.inf, self.clip)

    def apply(self, X: Array, out: Array | None = None) -> tuple[Array, Array | None]:
        """Scale dense rows; also give the mask of missing values, or None when there are none."""
        scaled = np.empty(X.shape, dtype=self.dtype) if out is None else out
        center, inverse = self.center.astype(self.dtype), (1.0 / self.scale).astype(self.dtype)
        reach = self.reach.astype(self.dtype)
        low, high = (-reach, reach) if self.constant.any() else (-self.clip, self.clip)

        def fill(rows: slice) -> bool:
            part, given = scaled[rows], X[rows]
            np.subtract(given, center, out=part, casting="same_kind")
            np.multiply(part, inverse, out=part)
            if np.isfinite(self.clip):
                np.clip(part, low, high, out=part)
            flat = (part if part.flags.forc else given).ravel(order="K")
            with np.errstate(over="ignore"):
                return bool(np.isnan(flat @ flat))

        if not any(list(map_blocks(fill, block_slices(len(X), block_rows(X.shape[1], 4))))):
            return scaled, None
        missing = np.isnan(scaled)
        scaled[missing] = 0.0
        return scaled, missing
