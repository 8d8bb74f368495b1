"""The methods of the race: how each library is called, in one line of settings where it can be.

This module is imported in every environment, so it needs numpy alone; a library is imported when its method is loaded, and
that is timed apart. A method is a ``Select``: a function of a ``Problem`` that gives the chosen columns, best first. What
turns the shared numpy table into the container that a library wants (a frame of pandas or polars) is ``convert``, which is
not timed: who uses that library has the table in it already. What a library needs done to the numbers (bins, z-scores) is
part of its time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray
CLASSES = "classification"


@dataclass(frozen=True)
class Problem:
    """What a method is given: a table as it wants it, the target (class codes from 0, or numbers), and how many columns.

    Attributes
    ----------
    X : ndarray or frame
        The columns.
    y : ndarray or series
        The target.
    task : str
        "classification" or "regression".
    k : int
        Number of columns to choose.
    seed : int
        Seed of methods that draw.
    threads : int
        Threads or processes that the method may use.
    """

    X: Any
    y: Any
    task: str
    k: int
    seed: int
    threads: int

    @property
    def classes(self) -> bool:
        """Whether the target is classes."""
        return self.task == CLASSES


Select = Callable[[Problem], Any]
Convert = Callable[[Array, Array], tuple[Any, Any]]


@dataclass(frozen=True)
class Method:
    """A method of the race.

    Attributes
    ----------
    load : callable
        Imports the library; gives the function that selects and, where the library wants another container than numpy's,
        the one that converts.
    package : str
        Distribution whose version stands in the row.
    tier : int
        0 for methods of milliseconds, 1 for seconds, 2 for minutes: cheap cells are run first.
    aware : bool
        Whether it is a fast filter that minds redundancy: what EasyFS's time is measured against.
    environment : str
        Name of its file in ``environments``.
    hidden : bool
        Whether it runs only when it is named: a method of the tests.
    """

    load: Callable[[], tuple[Select, Convert | None]]
    package: str
    tier: int = 0
    aware: bool = False
    environment: str = "general"
    hidden: bool = False


def best(scores: Any, k: int) -> Array:
    """The columns of the largest scores; what is not a number comes last."""
    values = np.nan_to_num(np.asarray(scores, dtype=float), nan=-np.inf, posinf=np.finfo(float).max)
    return np.argsort(-values, kind="stable")[:k]


def standard(X: Array) -> Array:
    """z-scores; a constant column becomes zeros."""
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def pandas_frame(X: Array, y: Array) -> tuple[Any, Any]:
    """Table and target for libraries on pandas."""
    import pandas as pd  # noqa: PLC0415

    return pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), pd.Series(y)


def polars_frame(X: Array, y: Array) -> tuple[Any, Any]:
    """Table and target for libraries on polars."""
    import polars as pl  # noqa: PLC0415

    return pl.DataFrame({f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}), pl.Series("y", y)


def places(names: Any) -> list[int]:
    """Positions of columns from their names in the frames."""
    return [int(str(name).removeprefix("x")) for name in names]


def easyfs(**settings: Any) -> tuple[Select, None]:
    from easyfs import EasyFS  # noqa: PLC0415

    def select(p: Problem) -> Any:
        return EasyFS(p.k, task=p.task, random_state=p.seed, **settings).fit(p.X, p.y).order_[: p.k]

    return select, None


def easyfs_mrmr() -> tuple[Select, None]:
    from easyfs import MRMRSelector  # noqa: PLC0415

    return lambda p: MRMRSelector(p.k, task=p.task).fit(p.X, p.y).order_[: p.k], None


def random() -> tuple[Select, None]:
    return lambda p: np.random.default_rng(p.seed).permutation(p.X.shape[1])[: p.k], None


def f_test() -> tuple[Select, None]:
    from sklearn.feature_selection import SelectKBest, f_classif, f_regression  # noqa: PLC0415

    return lambda p: best(SelectKBest(f_classif if p.classes else f_regression, k=p.k).fit(p.X, p.y).scores_, p.k), None


def mutual_information() -> tuple[Select, None]:
    from sklearn.feature_selection import mutual_info_classif, mutual_info_regression  # noqa: PLC0415

    def select(p: Problem) -> Any:
        score = mutual_info_classif if p.classes else mutual_info_regression
        return best(score(p.X, p.y, random_state=p.seed, n_jobs=p.threads), p.k)

    return select, None


def recursive_elimination() -> tuple[Select, None]:
    from sklearn.feature_selection import RFE  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression, Ridge  # noqa: PLC0415

    def select(p: Problem) -> Any:
        model = LogisticRegression(max_iter=200) if p.classes else Ridge()
        return np.flatnonzero(RFE(model, n_features_to_select=p.k, step=0.1).fit(standard(p.X), p.y).support_)

    return select, None


def l1_model() -> tuple[Select, None]:
    from sklearn.feature_selection import SelectFromModel  # noqa: PLC0415
    from sklearn.linear_model import LassoCV  # noqa: PLC0415
    from sklearn.svm import LinearSVC  # noqa: PLC0415

    def select(p: Problem) -> Any:
        # The usual examples: an L1 machine with C = 0.1, and a Lasso whose penalty is cross-validated.
        svm = LinearSVC(penalty="l1", dual=False, C=0.1, max_iter=1000, random_state=p.seed)
        model = svm if p.classes else LassoCV(n_jobs=p.threads)
        chosen = SelectFromModel(model, max_features=p.k, threshold=-np.inf).fit(standard(p.X), p.y)
        return np.flatnonzero(chosen.get_support())

    return select, None


def forest() -> tuple[Select, None]:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # noqa: PLC0415
    from sklearn.feature_selection import SelectFromModel  # noqa: PLC0415

    def select(p: Problem) -> Any:
        model = (RandomForestClassifier if p.classes else RandomForestRegressor)(n_jobs=p.threads, random_state=p.seed)
        chosen = SelectFromModel(model, max_features=p.k, threshold=-np.inf).fit(p.X, p.y)
        return np.flatnonzero(chosen.get_support())

    return select, None


def sequential() -> tuple[Select, None]:
    from sklearn.feature_selection import SequentialFeatureSelector  # noqa: PLC0415
    from sklearn.linear_model import LogisticRegression, Ridge  # noqa: PLC0415

    def select(p: Problem) -> Any:
        model = LogisticRegression() if p.classes else Ridge()
        search = SequentialFeatureSelector(model, n_features_to_select=p.k, n_jobs=p.threads)
        return np.flatnonzero(search.fit(standard(p.X), p.y).support_)

    return select, None


def mrmr_selection() -> tuple[Select, Convert]:
    from mrmr import mrmr_classif, mrmr_regression  # noqa: PLC0415

    def select(p: Problem) -> Any:
        run = mrmr_classif if p.classes else mrmr_regression
        return places(run(X=p.X, y=p.y, K=p.k, n_jobs=p.threads, show_progress=False))

    return select, pandas_frame


def mrmrs() -> tuple[Select, Convert]:
    from mrmrs import mrmr  # noqa: PLC0415

    return lambda p: places(f.name for f in mrmr(p.X, p.y, p.k, p.task)), polars_frame


def in_bins(column: Array, bins: int = 10) -> Array:
    """Codes of bins with about the same number of rows each; few values stay as they are."""
    values = np.unique(column)
    if len(values) <= bins:
        return np.searchsorted(values, column)
    return np.searchsorted(np.quantile(column, np.arange(1, bins) / bins), column, side="right")


def fast_select_mrmr() -> tuple[Select, None]:
    from fast_select import mRMR  # noqa: PLC0415

    def select(p: Problem) -> Any:
        codes = np.column_stack([in_bins(column) for column in p.X.T]).astype(np.int64)
        return mRMR(p.k, backend="cpu").fit(codes, p.y if p.classes else in_bins(p.y)).top_features_

    return select, None


def fast_select_relieff() -> tuple[Select, None]:
    from fast_select import ReliefF  # noqa: PLC0415

    def select(p: Problem) -> Any:
        # Its targets are classes: numbers are cut into ten.
        y = p.y if p.classes else in_bins(p.y)
        return best(ReliefF(p.k, backend="cpu", n_jobs=p.threads).fit(p.X, y).feature_importances_, p.k)

    return select, None


def fastcan() -> tuple[Select, None]:
    from fastcan import FastCan  # noqa: PLC0415

    def select(p: Problem) -> Any:
        # An indicator for each class, as its authors advise.
        y = np.eye(int(p.y.max()) + 1)[p.y] if p.classes and p.y.max() > 1 else p.y
        return FastCan(p.k, verbose=0).fit(p.X, y).indices_

    return select, None


def relieff() -> tuple[Select, None]:
    from skrebate import ReliefF  # noqa: PLC0415

    def select(p: Problem) -> Any:
        return best(ReliefF(p.k, n_jobs=p.threads).fit(p.X, p.y).feature_importances_, p.k)

    return select, None


def boruta() -> tuple[Select, None]:
    from boruta import BorutaPy  # noqa: PLC0415
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor  # noqa: PLC0415

    def select(p: Problem) -> Any:
        # Confirmed columns first, then the tentative, then the others by rank; among equals by importance.
        model = (RandomForestClassifier if p.classes else RandomForestRegressor)(n_jobs=p.threads, max_depth=5)
        found = BorutaPy(model, n_estimators="auto", max_iter=50, random_state=p.seed).fit(p.X, p.y)
        history = np.nan_to_num(np.asarray(found.importance_history_, dtype=float)[1:])
        return np.lexsort((-history.mean(axis=0), found.ranking_))[: p.k]

    return select, None


def feature_engine_mrmr() -> tuple[Select, Convert]:
    from feature_engine.selection import MRMR  # noqa: PLC0415

    def select(p: Problem) -> Any:
        search = MRMR(method="FCQ", max_features=p.k, regression=not p.classes, n_jobs=p.threads)
        return places(search.fit(p.X, p.y).get_feature_names_out())

    return select, pandas_frame


def xgboost() -> tuple[Select, None]:
    from xgboost import XGBClassifier, XGBRegressor  # noqa: PLC0415

    def select(p: Problem) -> Any:
        model = (XGBClassifier if p.classes else XGBRegressor)(n_jobs=p.threads, random_state=p.seed)
        return best(model.fit(p.X, p.y).feature_importances_, p.k)

    return select, None


def lassonet() -> tuple[Select, None]:
    import torch  # noqa: PLC0415
    from lassonet import LassoNetClassifier, LassoNetRegressor  # noqa: PLC0415

    def select(p: Problem) -> Any:
        torch.set_num_threads(p.threads)
        path = {"path_multiplier": 1.05}  # a coarser path than its default of 1.02
        model = (LassoNetClassifier if p.classes else LassoNetRegressor)(torch_seed=p.seed, random_state=p.seed, **path)
        y = p.y if p.classes else standard(p.y[:, None])[:, 0].astype(np.float32)
        model.path(standard(p.X).astype(np.float32), y, return_state_dicts=False)
        return best(model.feature_importances_.numpy(), p.k)

    return select, None


def hsic_lasso() -> tuple[Select, None]:
    from pyHSICLasso import HSICLasso  # noqa: PLC0415

    def select(p: Problem) -> Any:
        np.random.seed(p.seed)  # noqa: NPY002
        model = HSICLasso()
        model.input(p.X, p.y)
        (model.classification if p.classes else model.regression)(p.k, n_jobs=p.threads)
        return np.asarray(model.get_index())[: p.k]

    return select, None


def failing() -> tuple[Select, None]:
    def select(p: Problem) -> Any:
        raise ValueError(f"this method fails on {p.X.shape[1]} columns")

    return select, None


def endless() -> tuple[Select, None]:
    return lambda p: time.sleep(3600.0), None  # noqa: ARG005


METHODS: dict[str, Method] = {
    "EasyFS": Method(easyfs, "easyfs-ml"),
    "EasyFS, screens off": Method(lambda: easyfs(interactions=False), "easyfs-ml"),
    "EasyFS's mRMR": Method(easyfs_mrmr, "easyfs-ml", aware=True),
    "mrmrs": Method(mrmrs, "mrmrs", aware=True),
    "fastcan": Method(fastcan, "fastcan", aware=True),
    "fast-select mRMR": Method(fast_select_mrmr, "fast-select", aware=True),
    "mrmr-selection": Method(mrmr_selection, "mrmr-selection", aware=True),
    "feature-engine mRMR": Method(feature_engine_mrmr, "feature-engine", tier=1, aware=True),
    "sklearn F test": Method(f_test, "scikit-learn"),
    "random": Method(random, "numpy"),
    "sklearn mutual inf.": Method(mutual_information, "scikit-learn", tier=1),
    "sklearn L1": Method(l1_model, "scikit-learn", tier=1),
    "sklearn forest": Method(forest, "scikit-learn", tier=1),
    "XGBoost": Method(xgboost, "xgboost", tier=1),
    "sklearn RFE": Method(recursive_elimination, "scikit-learn", tier=1),
    "fast-select ReliefF": Method(fast_select_relieff, "fast-select", tier=1),
    "pyHSICLasso": Method(hsic_lasso, "pyHSICLasso", tier=2),
    "skrebate ReliefF": Method(relieff, "skrebate", tier=2),
    "LassoNet": Method(lassonet, "lassonet", tier=2, environment="lassonet"),
    "Boruta": Method(boruta, "Boruta", tier=2),
    "sklearn sequential": Method(sequential, "scikit-learn", tier=2),
    "failing": Method(failing, "numpy", hidden=True),
    "endless": Method(endless, "numpy", hidden=True),
}
