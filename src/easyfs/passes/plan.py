"""The plan: what is done to each block of rows before it is summed, and what was learnt on the sample."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from easyfs.base.request import Request
from easyfs.base.result import Found
from easyfs.common.types import Array
from easyfs.passes.settings import PlanSettings, RankingPlan
from easyfs.sample.rows import Sample
from easyfs.stages.expansion import Network
from easyfs.sums.scaling import Scaling
from easyfs.tables.encoder import TableEncoder


@dataclass(frozen=True, eq=False)
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


@dataclass(frozen=True, eq=False)
class TargetCoding:
    """How the target of a row becomes columns of numbers: an indicator of each class, or scaled values.

    Attributes
    ----------
    kind : {"classes", "values", None}
        Class codes, a matrix of target values, or no target.
    classes : tuple
        Labels of the classes in the sample, by code; statistics count classes in this order, then others.
    center, scale, reach : ndarray of shape (t,)
        Scaling of target values, and how far scaled ones may lie from zero.
    """

    kind: str | None
    classes: tuple[Any, ...]
    center: Array
    scale: Array
    reach: Array

    @property
    def n_values(self) -> int:
        """Number of targets that are values."""
        return len(self.center)

    def columns(self, y: Array, n_targets: int, dtype: Any) -> Array:
        """The targets of some rows as columns."""
        if self.kind == "classes":
            return np.asarray(y[:, None] == np.arange(n_targets), dtype=dtype)
        return np.asarray(np.clip((y - self.center) / self.scale, -self.reach, self.reach), dtype=dtype)


def sources_of(request: Request) -> tuple[int, ...] | None:
    """Source of each column, as a plan keeps it."""
    source = request.limits.source
    return None if source is None else tuple(source.tolist())


@dataclass(frozen=True, eq=False)
class Plan:
    """What is done to each block of rows before it is summed; statistics of two plans do not add up.

    Attributes
    ----------
    scaling : Scaling
        Scaling of the inputs.
    network : Network
        The nodes that are computed for each row.
    live : ndarray of bool
        Inputs that take part: neither constant in the sample nor excluded.
    target : TargetCoding
        How the target becomes columns.
    settings : SequentialPlan or RankingPlan
        What it was made with.
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
    names : list, optional
        Names of the columns of the table, where it has some.
    chosen_from : int
        Columns that the inputs were chosen from by what they tell of the target, where they are not all: chance counts
        them, too.
    adjusted : tuple of int
        Columns beyond which all of that was learnt.
    sources : tuple of int or None
        Source of each column, of which each has the same say in the sketch.
    """

    scaling: Scaling
    network: Network
    live: Array
    target: TargetCoding
    settings: PlanSettings
    seed: int = 0
    sample: Sample | None = None
    found: tuple[Found, ...] = ()
    fitted: FittedTarget | None = None
    sketch: Array | None = None
    encoder: TableEncoder | None = None
    names: list[Any] | None = None
    chosen_from: int = 0
    adjusted: tuple[int, ...] = ()
    sources: tuple[int, ...] | None = None

    @property
    def n_inputs(self) -> int:
        """Number of columns of the matrix."""
        return len(self.live)

    @property
    def by_class(self) -> bool:
        """Whether sums are kept for each class apart, as the paper's ranking needs them."""
        return isinstance(self.settings, RankingPlan) and self.target.kind == "classes"

    def light(self) -> Plan:
        """What is needed to sum rows up, and nothing else: small enough to be sent to where the rows are."""
        return replace(self, sample=None, found=(), fitted=None, sketch=None)

    @cached_property
    def identity(self) -> str:
        """Equal for two plans exactly when they scale and expand rows in the same way, so that their sums add up."""
        digest = hashlib.blake2b(digest_size=16)
        network, target = self.network, self.target
        for part in (
            *(
                self.scaling.center,
                self.scaling.scale,
                self.live,
                target.center,
                target.scale,
                target.reach,
                network.hidden,
            ),
            *(network.enhancement.indptr, network.enhancement.indices, network.enhancement.data),
            np.array([network.n_rounds, self.by_class, self.scaling.clip]),
        ):
            digest.update(f"{part.dtype} {part.shape}".encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        encoding = "" if self.encoder is None else self.encoder.signature
        digest.update(f"{target.kind} {self.scaling.dtype} {target.classes!r} {encoding}".encode())
        return digest.hexdigest()
