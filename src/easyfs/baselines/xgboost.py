"""Importance of the columns in gradient-boosted trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from easyfs.baselines.base import Baseline, Problem, Scored, scaled_targets
from easyfs.common.extras import optional
from easyfs.common.parameters import check_choice, check_number

IMPORTANCES = ("gain", "total_gain", "weight", "cover", "total_cover")


class XGBoostSelector(Baseline):
    """Rank columns by their importance in XGBoost's gradient-boosted trees.

    Trees are grown on histograms (``tree_method="hist"``). Importance is, by ``importance``: the gain of the loss that a
    split on the column brings, on average ("gain") or in total ("total_gain"); the number of splits ("weight"); the rows
    (weighted by the second derivative of the loss) that pass such a split, on average ("cover") or in total
    ("total_cover"). "gain" may put a column first that was used once: "total_gain" is the steadier one.

    Columns that no tree uses have importance 0 and come last, in the order of the table; with few rows these are most of
    the columns, as a few hundred splits suffice. Columns are scaled before, which is no matter to trees but for rounding
    to float32. Sparse tables are made dense, as their empty entries are zeros and not missing. Several targets or labels
    get trees of their own, whose importances are gathered. This method only ranks.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count, or a share of the columns.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` is; "auto" reads it from ``y``.
    include, exclude : list of names or positions, optional
        Columns that are selected in any case; columns that never are.
    groups : sequence of labels, one for each column, optional
        Columns with the same label are selected or left together and count as one.
    n_estimators : int, default=100
        Rounds of boosting: trees for each class or target.
    max_depth : int, default=6
        Depth of the trees at most; 0 sets no limit.
    learning_rate : float, default=0.3
        By how much each tree is shrunk.
    importance : {"gain", "total_gain", "weight", "cover", "total_cover"}, default="gain"
        Which importance.
    n_jobs : int or None, default=None
        Threads: None is one, as in scikit-learn, and -1 all. Sums taken by several threads may differ in the last digits.
    random_state : int, RandomState instance or None, default=None
        Seed; with the parameters above nothing is drawn at random.
    device : str, default="cpu"
        Where to train: "cpu", "cuda" or "cuda:1".

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The importance of each column.

    Notes
    -----
    Needs the package xgboost: ``pip install 'easyfs[xgboost]'``.

    References
    ----------
    Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.
    """

    several_targets = True

    def __init__(
        self,
        n_features_to_select: Any = 0.5,
        *,
        task: str = "auto",
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        n_estimators: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.3,
        importance: str = "gain",
        n_jobs: int | None = None,
        random_state: Any = None,
        device: str = "cpu",
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, groups=groups)
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.learning_rate = learning_rate
        self.importance = importance
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.device = device

    def _check_parameters(self) -> None:
        check_number("n_estimators", self.n_estimators, 1, whole=True)
        check_number("max_depth", self.max_depth, 0, whole=True)
        check_number("learning_rate", self.learning_rate, 0.0, 1.0, above=True)
        check_choice("importance", self.importance, IMPORTANCES)
        if not isinstance(self.device, str):
            raise ValueError(f"device={self.device!r}: give 'cpu', 'cuda' or a device such as 'cuda:1'.")
        optional("xgboost", "xgboost", "XGBoostSelector")

    def _score(self, problem: Problem) -> Scored:
        xgboost = optional("xgboost", "xgboost", "XGBoostSelector")
        classes = problem.target.task == "classification"
        seed = None if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))
        model = (xgboost.XGBClassifier if classes else xgboost.XGBRegressor)(
            n_estimators=self.n_estimators,
            max_depth=self.max_depth,
            learning_rate=self.learning_rate,
            tree_method="hist",
            n_jobs=1 if self.n_jobs is None else self.n_jobs,
            random_state=seed,
            device=self.device,
        )
        # XGBoost holds targets as float32, too few digits for numbers that are large beside their spread.
        Y = problem.y if classes else scaled_targets(problem.y)
        model.fit(problem.standardized(np.float32), Y[:, 0] if Y.ndim == 2 and Y.shape[1] == 1 else Y)
        found = model.get_booster().get_score(importance_type=self.importance)
        scores = np.zeros(problem.shape[1])
        for name, value in found.items():
            scores[int(name[1:])] = value
        return Scored(scores)
