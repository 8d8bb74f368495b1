"""The methods of the paper's tables, by the names it gives them, with the settings used here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import LabelBinarizer

from easyfs import make_selector


class FastCanSelector(BaseEstimator):
    """fastcan (canonical correlation, one column after another), with an indicator for each class as its authors advise."""

    def __init__(self, n_features_to_select: int = 1, *, task: str = "auto"):
        self.n_features_to_select = n_features_to_select
        self.task = task

    def fit(self, X: np.ndarray, y: np.ndarray) -> FastCanSelector:
        """Choose the columns."""
        from fastcan import FastCan  # noqa: PLC0415

        Y = LabelBinarizer().fit_transform(y) if self.task == "classification" else y
        self.order_ = FastCan(self.n_features_to_select, verbose=0).fit(X, Y).indices_
        return self


@dataclass(frozen=True)
class Method:
    """A method in the tables.

    Attributes
    ----------
    selector : str or callable
        Name in the library, or what makes the selector.
    settings : dict
        Parameters other than the defaults.
    slow : bool
        Whether one repeat has to do, as a fit takes so long.
    published : str or None
        Column in the paper's tables.
    regression : bool
        Whether it can do regression.
    """

    selector: str | Callable[..., Any]
    settings: tuple[tuple[str, Any], ...] = ()
    slow: bool = False
    published: str | None = None
    regression: bool = True

    def make(self, **more: Any) -> Any:
        """The selector, with further settings."""
        make = self.selector if callable(self.selector) else lambda **settings: make_selector(self.selector, **settings)
        return make(**dict(self.settings), **more)


METHODS = {
    "EasyFS": Method("easyfs"),
    "EasyFS ranking": Method("easyfs_ranking", published="EasyFS"),
    "EasyFS literal": Method("easyfs_ranking", (("literal", True),)),
    "spFSR": Method("spfsr", slow=True, published="spFSR"),
    "spFSR forest": Method("spfsr", (("start", "forest"),), slow=True),
    "LassoNet": Method("lassonet", slow=True, published="LassoNet"),
    "STG": Method("stg", slow=True, published="STG"),
    "RF": Method("random_forest", published="RF"),
    "XGB": Method("xgboost", published="XGB"),
    "XGB total": Method("xgboost", (("importance", "total_gain"),)),
    "Lasso": Method("lasso", published="Lasso"),
    "L1 SVM": Method("l1_svm", regression=False),
    "L1 logistic": Method("l1_logistic", regression=False),
    "PPMCC": Method("pearson", published="PPMCC"),
    "MI": Method("mutual_information", published="MI"),
    "ReliefF": Method("relieff", published="ReliefF"),
    "SPEC": Method("spec", published="SPEC"),
    "MCFS": Method("mcfs", published="MCFS"),
    "FisherScore": Method("fisher_score", published="FisherScore", regression=False),
    "mRMR": Method("mrmr"),
    "JMI": Method("jmi"),
    "CIFE": Method("cife"),
    "DISR": Method("disr"),
    "Inf-FS": Method("inf_fs"),
    "Laplacian": Method("laplacian_score"),
    "fastcan": Method(FastCanSelector),
    "random": Method("random"),
}

# Between the name of a method and the number of a further seed.
SEED_MARK = " seed "


def seeded(names: list[str], seeds: int) -> dict[str, Method]:
    """Methods by name and seed: the first as it is, with the seed of each fold, others with a seed of their own."""
    found = {name: METHODS[name] for name in names}
    for name in names:
        for seed in range(1, seeds):
            method = METHODS[name]
            found[f"{name}{SEED_MARK}{seed}"] = replace(method, settings=(*method.settings, ("random_state", seed)))
    return found


def methods_for(task: str) -> dict[str, Method]:
    """The methods that can do a task."""
    return {name: method for name, method in METHODS.items() if method.regression or task == "classification"}
