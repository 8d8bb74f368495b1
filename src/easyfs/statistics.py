"""From rows to statistics: one plan says what is summed, and statistics of one plan merge."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from easyfs.engines.local import block_rows, block_slices, map_blocks
from easyfs.interactions import Found
from easyfs.linear import Sample
from easyfs.moments import ROWS_PER_COLUMN, SecondMoment
from easyfs.network import Network
from easyfs.rows import DENSE_BYTES, Rows, ScaledSparse, Scaling, scale_rows
from easyfs.sampling import counts_rows

if TYPE_CHECKING:
    from easyfs.encoding import TableEncoder

Array = NDArray[Any]

# Blocks that one task adds up before its sum is handed over: cut by size alone, so threads do not change the result.
BLOCKS_PER_TASK = 8
# The key of the moment over all rows, where classes are not kept apart.
ALL_ROWS = -1


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


def gather(
    plan: Plan,
    X: Array | sparse.csr_array,
    y: Array | None,
    weight: Array | None = None,
    n_targets: int = 0,
    scaled: tuple[Array | ScaledSparse, Array] | None = None,
) -> Statistics:
    """Sum a whole table in memory: block by block, by as many threads as BLAS may use.

    ``scaled`` are the rows and their observed weights where they have been scaled already.
    """
    n = X.shape[0]
    whole = Statistics(plan, n_targets)
    beside = (whole.width - X.shape[1]) * 8
    if (
        sparse.issparse(X) and n * beside > 8 * whole.width**2
    ):  # nodes that take more memory than the sums of their products
        inputs, observed = scale_rows(X, plan.scaling, weight) if scaled is None else scaled
        for rows in block_slices(n, max(DENSE_BYTES, 2 * whole.width**2) // beside):
            own = (None if given is None else given[rows] for given in (y, weight))
            whole.add_scaled(inputs[rows], observed if rows.start == 0 else np.zeros_like(observed), *own)
        return whole
    if sparse.issparse(X) or n <= ROWS_PER_COLUMN * whole.width:
        return whole.add(X, y, weight) if scaled is None else whole.add_scaled(*scaled, y, weight)
    fold = not plan.by_class
    whole = Statistics(plan, n_targets, fold=fold)
    size = max(block_rows(whole.width, plan.scaling.dtype.itemsize), whole.width // 2)
    blocks = block_slices(n, size)

    def add(task: list[slice]) -> Statistics:
        part = Statistics(plan, n_targets, fold=fold)
        for rows in task:
            part.add(X[rows], None if y is None else y[rows], None if weight is None else weight[rows])
        return part

    for part in map_blocks(add, [blocks[i : i + BLOCKS_PER_TASK] for i in range(0, len(blocks), BLOCKS_PER_TASK)]):
        whole.merge(part)
    return whole
