"""Importance of the columns in gradient-boosted trees."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from easyfs.baselines.base import Baseline, Problem, Scored, scaled_targets
from easyfs.common.extras import optional
from easyfs.common.parameters import check_choice, check_number

IMPORTANCES = ("gain", "total_gain", "weight", "cover", "total_cover")


class XGBoostSelector(Baseline):
    """Select the columns that matter most to gradient-boosted trees of XGBoost.

    Trees are grown one after another, each correcting those before, and a column is good if its splits improve the
    prediction. It sees curves and columns that matter together, and works well where such trees are the model to be
    used. Columns that no tree uses all have a score of 0, which is most columns where rows are few. Of columns that
    repeat each other it may use one and ignore the others. Needs the package xgboost: ``pip install
    'easyfs-ml[xgboost]'``.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.
    n_estimators : int, default=100
        Number of rounds of boosting: trees for each class or target.
    max_depth : int, default=6
        Largest depth of a tree; 0 sets no limit.
    learning_rate : float, default=0.3
        Factor by which each tree is shrunk, above 0 and at most 1.
    importance : {"gain", "total_gain", "weight", "cover", "total_cover"}, default="gain"
        How importance is measured: by the improvement of the loss through splits on the column, on average ("gain") or
        in total ("total_gain"), by the number of splits ("weight"), or by the rows that pass them, on average ("cover")
        or in total ("total_cover").
    n_jobs : int, default=None
        Number of threads; None means 1 and -1 means all cores. Sums taken by several threads may differ in the last
        digits.
    random_state : int, RandomState instance or None, default=None
        Seed; with the parameters above nothing is drawn at random.
    device : str, default="cpu"
        Where to train: "cpu", "cuda" or "cuda:1".

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Importance of each column. Excluded columns have ``-inf``.
    gains_ : ndarray of shape (n_features_,)
        Scores of the selected columns, in the order of ``order_``.
    n_features_ : int
        Number of selected columns.
    columns_ : list of ColumnInfo
        What each column holds (numbers, categories, dates, ...), how it was used, and how many of its values are
        missing.
    target_ : TargetInfo
        What the target holds.
    n_rows_ : int
        Number of rows in the fit.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes; only where ``y`` is one column of classes.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.

    See Also
    --------
    RandomForestSelector : Importance in a random forest of scikit-learn.
    LassoSelector : Importance in a linear model.
    EasyFS : Needs no model and avoids overlap, and can choose the number of columns.

    Notes
    -----
    Trees are grown on histograms (``tree_method="hist"``). "cover" counts rows weighted by the second derivative of the
    loss. "gain" may put a column first that was used once: "total_gain" is the steadier one.

    Columns that no tree uses come last, in the order of the table. Columns are scaled before, which is no matter to
    trees but for rounding to float32. Sparse tables are made dense, as their empty entries are zeros and not missing.
    Several targets or labels get trees of their own, whose importances are gathered.

    References
    ----------
    .. [1] Chen and Guestrin, "XGBoost: a scalable tree boosting system", KDD 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import XGBoostSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = XGBoostSelector(2, n_estimators=10).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    several_targets = True

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
        n_estimators: int = 100,
        max_depth: int = 6,
        learning_rate: float = 0.3,
        importance: Literal["gain", "total_gain", "weight", "cover", "total_cover"] = "gain",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        device: str = "cpu",
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
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
