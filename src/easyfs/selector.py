"""EasyFS, the estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from easyfs.base import BaseSelector
from easyfs.planning import NetworkSettings, make_plan
from easyfs.selection import Constraints, Selection, select_ranking, select_sequential
from easyfs.statistics import Plan, Statistics, gather
from easyfs.validation import Target, check_choice, check_constraints, check_number, check_target, check_weights

Array = NDArray[Any]

# Precision and rounds of each compression when they are left at "auto".
AUTO_EPS2 = {"sequential": 0.3, "ranking": 0.5}
AUTO_ROUNDS = {"sequential": 1, "ranking": 2}


class EasyFS(BaseSelector):
    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        task: str = "auto",
        compression: str = "sequential",
        n_hidden: int = 256,
        n_enhancement: Any = "auto",
        connections: int = 3,
        n_rounds: Any = "auto",
        n_kept: int = 100,
        pair_share: float = 0.3,
        residual_share: float = 0.5,
        eps2: Any = "auto",
        block_weights: tuple[float, float, float] = (0.6, 0.2, 0.2),
        lambda1: float = 1.0,
        lambda2: float = 0.5,
        top_share: float = 0.2,
        literal: bool = False,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        random_state: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.compression = compression
        self.n_hidden = n_hidden
        self.n_enhancement = n_enhancement
        self.connections = connections
        self.n_rounds = n_rounds
        self.n_kept = n_kept
        self.pair_share = pair_share
        self.residual_share = residual_share
        self.eps2 = eps2
        self.block_weights = block_weights
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.top_share = top_share
        self.literal = literal
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> EasyFS:
        settings = self._settings()
        self._result = None
        matrix = self._check_X(X, reset=True)
        n, d = matrix.shape
        target = check_target(y, n, self.task)
        weight = check_weights(sample_weight, n)
        matrix, target, weight = _drop_weightless(matrix, target, weight)
        constraints = self._constraints(d)
        plan, scaled = make_plan(
            matrix,
            target.values,
            weight,
            target_kind=target.kind,
            n_targets=target.n_targets,
            excluded=constraints.excluded,
            settings=settings,
            rng=self._rng(),
        )
        stats = gather(plan, matrix, target.values, weight, target.n_targets)
        self.task_ = target.task
        self._result = self._select(stats, constraints)
        return self

    def _rng(self):
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1, size=4))

    def _settings(self):
        return NetworkSettings(
            compression=self.compression,
            n_hidden=self.n_hidden,
            n_enhancement=self.n_enhancement,
            connections=self.connections,
            n_rounds=AUTO_ROUNDS[self.compression] if self.n_rounds == "auto" else self.n_rounds,
            n_kept=self.n_kept,
            pair_share=self.pair_share,
            residual_share=self.residual_share,
            literal=self.literal,
        )

    def _constraints(self, d):
        return check_constraints(
            d,
            self._names(),
            n_features_to_select=self.n_features_to_select,
            include=self.include,
            exclude=self.exclude,
            groups=self.groups,
        )

    def _select(self, stats, constraints):
        eps2 = AUTO_EPS2[self.compression] if self.eps2 == "auto" else self.eps2
        if self.compression == "sequential":
            return select_sequential(stats, constraints, eps2=eps2, block_weights=self.block_weights)
        return select_ranking(
            stats, constraints, eps2=eps2, lambda1=self.lambda1, lambda2=self.lambda2, share=self.top_share,
            literal=self.literal, block_weights=self.block_weights,
        )


def _drop_weightless(matrix, target, weight):
    return matrix, target, weight
