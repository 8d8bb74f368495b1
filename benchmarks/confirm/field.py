"""Who is compared in the confirmatory comparison, cheap methods first, and the models that are trained on what they choose.

All methods have the settings of the paper's tables (``benchmarks/paper/methods.py``), which are their defaults. Methods
that a later version of the library has are taken in when they are there.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "paper"))

from methods import METHODS as PAPER
from methods import Method

from easyfs.registry import SELECTORS

# Columns to choose.
SIZES = (10, 30)
# Downstream models, by their names in easyfs.evaluation: the paper's SVMs, logistic or ridge regression, nearest
# neighbours, gradient boosting.
MODELS = {"svm": "SVM", "linear": "linear", "knn": "neighbours", "boosting": "boosting"}
# Gradient boosting grows trees for each class: with more classes than this it is left out.
MOST_CLASSES_TO_BOOST = 10
# Seeds of the random network; a row of results each, averaged on the page.
SEEDS = (0, 1, 2)
# The reference line: no selection.
ALL = "all columns"
PHASES = ("quick", "trees", "slow")


@dataclass(frozen=True)
class Entry:
    """A line of the comparison.

    Attributes
    ----------
    method : str
        Name on the page; entries of one method are seeds of it, which are averaged.
    selector : selector or "all"
        What selects.
    phase : str
        How dear it is, one of ``PHASES``.
    """

    method: str
    selector: Any
    phase: str


MORE = {
    "CIFE": Method("cife"),
    "DISR": Method("disr"),
    "JMI": Method("jmi"),
    "Laplacian": Method("laplacian_score"),
    "Inf-FS": Method("inf_fs"),
    "L1 SVM": Method("l1_svm", regression=False),
    "L1 logistic": Method("l1_logistic", regression=False),
    "XGB total": Method("xgboost", (("importance", "total_gain"),)),
}
# The field was fixed before the first run: what was added to the paper's tables since is not in it.
ADDED_SINCE = ("EasyFS literal",)
METHODS: dict[str, Method] = {name: method for name, method in (PAPER | MORE).items() if name not in ADDED_SINCE}
TREES = ("RF", "XGB", "XGB total")
WITH_SEEDS = ("EasyFS", "EasyFS ranking")


def absent() -> list[str]:
    """Methods that this version of the library does not have."""
    return [name for name, m in METHODS.items() if isinstance(m.selector, str) and m.selector not in SELECTORS]


def entries(task: str) -> dict[str, Entry]:
    """What is run for a task, by label, cheap ones first."""
    found = {}
    for name, method in METHODS.items():
        if name in absent() or not (method.regression or task == "classification"):
            continue
        phase = "slow" if method.slow else "trees" if name in TREES else "quick"
        if name in WITH_SEEDS:
            for seed in SEEDS:
                settings = {**dict(method.settings), "random_state": seed}
                made = Method(method.selector, tuple(settings.items())).make()
                found[f"{name} #{seed}"] = Entry(name, made, phase)
        else:
            found[name] = Entry(name, method.make(), phase)
    found[ALL] = Entry(ALL, "all", "quick")
    return dict(sorted(found.items(), key=lambda entry: PHASES.index(entry[1].phase)))


def models(task: str, classes: int) -> list[str]:
    """Models for a table."""
    return [name for name in MODELS if name != "boosting" or task == "regression" or classes <= MOST_CLASSES_TO_BOOST]


def method_of(label: str) -> str:
    """The method that a label of the results belongs to."""
    return label.split(" #", maxsplit=1)[0]
