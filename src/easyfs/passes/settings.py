"""What the user asked of the method: what a plan depends on, and what only the choice depends on.

A plan is made once; a stream whose settings of the plan are changed later is told so. What the choice depends on may be
changed at any time.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SequentialPlan:
    """Of the sequential form: hidden nodes, the search for joint effects, what of the target is predicted, clipping."""

    n_hidden: int
    interactions: bool
    predicted_share: float
    coverage_power: float
    clip: float


@dataclass(frozen=True)
class SequentialChoice:
    """Of the sequential form: the precision of the coding (None: by the noise of the target), the weight of coverage."""

    eps2: float | None
    coverage: float


@dataclass(frozen=True)
class RankingPlan:
    """Of the paper's ranking: the network."""

    n_hidden: int
    n_enhancement: int | None
    connections: int
    n_rounds: int
    clip: float
    literal: bool


@dataclass(frozen=True)
class RankingChoice:
    """Of the paper's ranking: its parameters, by the names of the paper."""

    eps2: float
    lambda1: float
    lambda2: float
    top_share: float


PlanSettings = SequentialPlan | RankingPlan
ChoiceSettings = SequentialChoice | RankingChoice
