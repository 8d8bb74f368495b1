"""Every selector of the library against every check of :mod:`tests.common.checks`."""

from __future__ import annotations

from typing import Any

import pytest

from easyfs import EasyFS, EasyFSRanking, make_selector

from .checks import ALL_TASKS, CHECKS, SUPERVISED, Check, SelectorCase, missing_values_do_not_hide_planted_columns


def sequential(n_features_to_select: Any, random_state: Any, **parameters: Any) -> EasyFS:
    return EasyFS(n_features_to_select, random_state=random_state, **{"n_hidden": 32} | parameters)


def ranking(n_features_to_select: Any, random_state: Any, **parameters: Any) -> EasyFSRanking:
    return EasyFSRanking(n_features_to_select, random_state=random_state, **parameters)


def sequential_exact(n_features_to_select: Any, random_state: Any, **parameters: Any) -> EasyFS:
    return sequential(n_features_to_select, random_state, n_hidden=0, predicted_share=0, **parameters)


def ranking_exact(n_features_to_select: Any, random_state: Any, **parameters: Any) -> EasyFSRanking:
    return ranking(n_features_to_select, random_state, n_hidden=0, n_enhancement=0, **parameters)


def by_name(name: str, *, seeded: bool = False, **settings: Any) -> Any:
    """Make a selector by its name; most of the published methods draw nothing at random and take no seed."""

    def make(n_features_to_select: Any, random_state: Any, **parameters: Any) -> Any:
        seed = {"random_state": random_state} if seeded else {}
        return make_selector(name, n_features_to_select, **settings | seed | parameters)

    return make


def published(name: str, *, label: str = "", settings: dict[str, Any] | None = None, **claims: Any) -> SelectorCase:
    """A published method: it only ranks and takes no weights, unless it claims so."""
    seeded = claims.pop("seeded", False)
    make = by_name(name, seeded=seeded, **settings or {})
    plain = {"finds_set": False, "supports_weights": False, "tasks": ("classification", "regression")}
    claims = plain | claims
    claims.setdefault("exact_tasks", () if seeded else tuple(t for t in claims["tasks"] if t != "unsupervised"))
    return SelectorCase(label or name, make, make, **claims)


SELECTORS = [
    SelectorCase("EasyFS-sequential", sequential, sequential_exact, tasks=ALL_TASKS, handles_redundancy=True),
    SelectorCase("EasyFS-ranking", ranking, ranking_exact, tasks=SUPERVISED),
    published("pearson", tasks=SUPERVISED, supports_weights=True),
    published("fisher_score", tasks=("classification",), supports_weights=True),
    published("relieff", tasks=SUPERVISED, small_tables=True),
    published("mutual_information", tasks=SUPERVISED, seeded=True, small_tables=True),
    published("mrmr", supports_weights=True),
    published("mrmr", label="mrmr-max", settings={"redundancy": "max"}, supports_weights=True, handles_redundancy=True),
    published("mrmr", label="mrmr-information", settings={"form": "information"}, supports_weights=True),
    published("cife", supports_weights=True),
    published("disr", supports_weights=True),
    published("jmi", supports_weights=True),
    published("jmi", label="jmi-frequency", settings={"binning": "frequency"}, supports_weights=True),
    published("spec", tasks=("unsupervised",), small_tables=True),
    published("spec", label="spec-style3", tasks=("unsupervised",), small_tables=True, settings={"style": 3}),
    published("spec", label="spec-class", tasks=("classification",), settings={"affinity": "class"}),
    published("mcfs", tasks=("unsupervised",), small_tables=True),
    published("laplacian_score", tasks=("unsupervised",), small_tables=True),
    published("inf_fs", tasks=("unsupervised",), small_tables=True, supports_weights=True),
    published("lasso", tasks=SUPERVISED, finds_set=True, small_tables=True, settings={"n_alphas": 30}),
    published("l1_svm", tasks=("classification",), small_tables=True, settings={"tol": 1e-6}),
    published("l1_logistic", tasks=("classification",), small_tables=True, settings={"tol": 1e-6}),
    published("random_forest", tasks=SUPERVISED, seeded=True, small_tables=True, settings={"n_estimators": 30}),
    published(
        "random_forest",
        label="random_forest-permutation",
        tasks=SUPERVISED,
        seeded=True,
        small_tables=True,
        smoke_only=True,
        settings={"n_estimators": 30, "importance": "permutation"},
    ),
    # Nothing is drawn, but equal gains go to the first column, so a permutation of the columns may change the order.
    published("xgboost", tasks=SUPERVISED, seeded=True, small_tables=True, settings={"n_estimators": 10, "max_depth": 3}),
    # A search of few steps misses the planted pair now and then.
    published(
        "spfsr",
        tasks=SUPERVISED,
        seeded=True,
        finds_set=True,
        small_tables=True,
        smoke_only=True,
        settings={"n_iter_no_change": 80, "n_repeats": 1},
    ),
    published(
        "stg", tasks=SUPERVISED, seeded=True, finds_set=True, small_tables=True, smoke_only=True, settings={"max_iter": 200}
    ),
    published(
        "lassonet",
        tasks=SUPERVISED,
        seeded=True,
        finds_set=True,
        small_tables=True,
        smoke_only=True,
        steady=False,
        settings={"path_multiplier": 1.3, "max_iter": (50, 5)},
    ),
    published("random", tasks=("unsupervised",), seeded=True, supports_weights=True),
]

# The one check of those that are too slow for all of them.
SMOKE = (missing_values_do_not_hide_planted_columns, "regression")


def marks(case: SelectorCase, check: Check, task: str) -> Any:
    return [pytest.mark.slow] if case.smoke_only and (check.run, task) != SMOKE else []


CASES = [
    pytest.param(case, check, task, id=f"{case.name}-{check.name}-{task}", marks=marks(case, check, task))
    for case in SELECTORS
    for check in CHECKS
    for task in check.tasks_of(case)
]


@pytest.mark.parametrize(("case", "check", "task"), CASES)
def test_selector(case: SelectorCase, check: Check, task: str) -> None:
    check.run(case, task)
