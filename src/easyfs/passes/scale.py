"""The exact scale of the inputs, from the sums over all rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from easyfs.base.request import check_some_vary
from easyfs.common.types import Array
from easyfs.passes.plan import Plan
from easyfs.stages.adjusting import Beyond
from easyfs.sums.second_moment import SecondMoment


@dataclass(frozen=True, eq=False)
class InputScale:
    """Exact scale of the inputs, from the moments of all rows.

    ``spread`` and ``energy`` are those of what the columns that are adjusted for leave of each column, and ``left`` says
    what share of it that is; None where there are no such columns.
    """

    spread: Array
    energy: Array
    constant: Array
    observed: Array
    left: Array | None = None


def input_scale(moment: SecondMoment, observed: Array, plan: Plan, excluded: Array) -> InputScale:
    """Standard deviation of the observed values, and the share of rows that has one."""
    d = len(plan.live)
    squares = np.maximum(moment.diag()[:d], 0.0)
    spread = np.sqrt(np.divide(squares, observed, out=np.zeros(d), where=observed > 0))
    # In units of the sample's spread; columns without any there are in units of their own size.
    constant = spread <= (1e-14 if plan.scaling.dtype == np.float64 else 1e-6) * plan.scaling.constant
    check_some_vary(constant, excluded)
    energy = np.where(constant, 0.0, observed / moment.weight)
    return InputScale(np.where(constant, 1.0, spread), energy, constant, observed / moment.weight)


def adjusted_scale(scale: InputScale, beyond: Beyond, excluded: Array) -> InputScale:
    """The scale of what is left of each column; one that is explained to rounding has no energy."""
    left = beyond.left()[: len(scale.spread)]
    if not (left[~excluded & ~scale.constant] > 0).any():
        raise ValueError(
            "the columns of adjust_for explain all others to rounding; nothing is left to choose between. Check which "
            "columns it names."
        )
    spread = np.where(left > 0, scale.spread * np.sqrt(left), 1.0)
    return replace(scale, spread=spread, energy=np.where(left > 0, scale.energy, 0.0), left=left)
