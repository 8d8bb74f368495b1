"""Tables in memory, and what an engine is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from easyfs.common.threads import begun
from easyfs.passes.block import Block
from easyfs.passes.kernels import NUMPY, Kernels
from easyfs.passes.make_plan import Prepared
from easyfs.passes.plan import Plan
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import summarise


class Engine(Protocol):
    """Where the rows are: it gives a sample of them, and sums them up; nothing else leaves it."""

    kernels: Kernels

    def sample(self, seed: int, size: int) -> Block:
        """A sample of at most ``size`` rows: the same rows of the same table, whatever the engine."""

    def begin(self, plan: Plan) -> None:
        """A plan is there, and sums may be begun, while more is learnt from the sample."""

    def reduce(self, prepared: Prepared) -> Statistics:
        """The sums over all rows, under a plan."""


class MemoryEngine:
    """A table in memory, summed by threads."""

    def __init__(self, block: Block):
        self.block = block
        self.kernels: Kernels = NUMPY
        self._whole = False
        self._begun: Callable[[], Statistics] | None = None

    def sample(self, seed: int, size: int) -> Block:
        """A sample of the rows, or all of them where they are few."""
        sample = self.block.sample(seed, size)
        self._whole = sample.X is self.block.X
        return sample

    def begin(self, plan: Plan) -> None:
        """Rows beyond the sample are summed up by threads that are free while more is learnt from it."""
        if not self._whole:
            self._begun = begun(lambda: summarise(plan.light(), self.block))

    def reduce(self, prepared: Prepared) -> Statistics:
        """The sums over all rows; rows that were scaled for the plan are not scaled again."""
        if self._begun is not None:
            return self._begun()
        scaled = (prepared.inputs, prepared.observed) if self._whole else None
        return summarise(prepared.plan, self.block, scaled=scaled)
