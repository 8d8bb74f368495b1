"""The plan: what is done to each block of rows before it is summed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from easyfs.base.result import Found
from easyfs.sample.rows import Sample
from easyfs.stages.expansion import Network
from easyfs.sums.measuring import scale_rows
from easyfs.sums.rows import Rows
from easyfs.sums.scaling import Scaling
from easyfs.sums.sparse import ScaledSparse

if TYPE_CHECKING:
    from easyfs.tables.encoder import TableEncoder
from easyfs.common.types import Array


@dataclass(frozen=True)
class NetworkSettings:
    """What the user asked of the network."""

    compression: str
    n_hidden: int
    n_enhancement: int | str
    connections: int
    n_rounds: int
    predicted_share: float
    coverage_power: float
    interactions: bool
    clip: float
    literal: bool


@dataclass(frozen=True)
class FittedTarget:
    """A linear fit of the targets on the inputs, from a sample: what of the target can be predicted.

    Attributes
    ----------
    coefficients : ndarray of shape (d, t)
        One column for each target.
    n_rows : float
        Rows that it was fitted on, by weight.
    share : float
        Share of the target's weight that it has, while there are no more rows than these.
    penalty : float
        Its ridge penalty, in units of a standardised column's mean square: by how many rows' worth the fit had to be held
        back so that it predicts best.
    """

    coefficients: Array
    n_rows: float
    share: float
    penalty: float


@dataclass(frozen=True)
class Plan:
    """What is done to each block of rows before it is summed; statistics of two plans do not merge.

    Attributes
    ----------
    scaling : Scaling
        Scaling of the inputs.
    network : Network
        The nodes that are computed for each row.
    live : ndarray of bool
        Inputs that take part: neither constant in the sample nor excluded.
    target_kind : {"classes", "values", None}
        Class codes, a matrix of target values, or no target.
    target_center, target_scale, target_reach : ndarray
        Scaling of the target values, and how far scaled ones may lie from zero.
    classes : tuple
        Labels of the classes in the sample, by code; statistics of this plan count classes in this order.
    compression : {"sequential", "ranking"}
        What the statistics are for.
    by_class : bool
        Whether moments are kept for each class apart, as the paper's ranking needs them.
    seed : int
        Seed of the sample, and of the permutations that measure chance.
    sample : Sample, optional
        The rows that chance is measured on; None without a target.
    found : tuple of Found
        Columns that matter together, or in a curve (sequential form).
    fitted : FittedTarget, optional
        The part of the target that can be predicted.
    sketch : ndarray of shape (d, m), optional
        Covariances of the inputs with the hidden nodes on the sample: the coverage target of the sequential form.
    encoder : TableEncoder, optional
        How a table of mixed columns becomes a matrix.
    settings : NetworkSettings, optional
        What it was made with.
    """

    scaling: Scaling
    network: Network
    live: Array
    target_kind: str | None
    target_center: Array
    target_scale: Array
    target_reach: Array
    classes: tuple[Any, ...] = ()
    compression: str = "sequential"
    by_class: bool = False
    seed: int = 0
    sample: Sample | None = None
    found: tuple[Found, ...] = ()
    fitted: FittedTarget | None = None
    sketch: Array | None = None
    encoder: TableEncoder | None = None
    settings: Any = None

    @property
    def fingerprint(self) -> str:
        """Equal for two plans exactly when they scale and expand rows in the same way."""
        digest = hashlib.blake2b(digest_size=16)
        network = self.network
        for part in (
            self.scaling.center,
            self.scaling.scale,
            self.live,
            self.target_center,
            self.target_scale,
            self.target_reach,
            network.hidden,
            network.enhancement.indptr,
            network.enhancement.indices,
            network.enhancement.data,
            np.array([network.n_rounds, self.by_class, self.scaling.clip]),
            np.zeros(0) if self.sketch is None else self.sketch,
            np.zeros(0) if self.fitted is None else self.fitted.coefficients,
        ):
            digest.update(np.ascontiguousarray(part).tobytes())
        encoding = "" if self.encoder is None else self.encoder.signature
        digest.update(f"{self.target_kind} {self.scaling.dtype} {self.classes!r} {encoding} {self.found!r}".encode())
        return digest.hexdigest()

    def rows(
        self, X: Array | sparse.csr_array, y: Array | None, weight: Array | None, n_targets: int
    ) -> tuple[Rows, Array]:
        """Scale and expand rows; give them with the observed weight of each column."""
        n, d = X.shape
        if sparse.issparse(X):
            inputs, observed = scale_rows(X, self.scaling, weight)
            return self.with_nodes(inputs, y, weight, n_targets), observed
        rows = Rows.allocate(n, d, self.network.n_extra + n_targets, self.scaling.dtype, weight)
        assert isinstance(rows.inputs, np.ndarray)
        inputs, observed = scale_rows(X, self.scaling, weight, out=rows.inputs)
        self._fill(rows.extra, inputs, y, n_targets)
        return rows, observed

    def with_nodes(self, inputs: Array | ScaledSparse, y: Array | None, weight: Array | None, n_targets: int) -> Rows:
        """Put the nodes and targets beside rows that are scaled already."""
        extra = np.empty((inputs.shape[0], self.network.n_extra + n_targets), dtype=self.scaling.dtype)
        self._fill(extra, inputs, y, n_targets)
        return Rows(inputs, extra, weight)

    def _fill(self, extra: Array, inputs: Array | ScaledSparse, y: Array | None, n_targets: int) -> None:
        self.network.expand(inputs, out=extra[:, : self.network.n_extra])
        if n_targets and y is not None:
            extra[:, self.network.n_extra :] = self.encode(y, n_targets)

    def encode(self, y: Array, n_targets: int) -> Array:
        """The targets of some rows as columns: one for each class, or the scaled values."""
        if self.target_kind == "classes":
            return np.asarray(y[:, None] == np.arange(n_targets), dtype=self.scaling.dtype)
        values = np.clip((y - self.target_center) / self.target_scale, -self.target_reach, self.target_reach)
        return np.asarray(values, dtype=self.scaling.dtype)
