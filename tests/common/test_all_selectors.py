"""Every selector of the library against every check of :mod:`tests.common.checks`."""

from __future__ import annotations

from typing import Any

import pytest

from easyfs import EasyFS

from .checks import ALL_TASKS, CHECKS, SUPERVISED, Check, SelectorCase


def sequential(n_features_to_select: Any, random_state: Any, **parameters: Any) -> EasyFS:
    return EasyFS(n_features_to_select, random_state=random_state, **{"n_hidden": 32, "n_enhancement": 200} | parameters)


def ranking(n_features_to_select: Any, random_state: Any, **parameters: Any) -> EasyFS:
    return EasyFS(n_features_to_select, random_state=random_state, compression="ranking", **parameters)


def sequential_exact(n_features_to_select: Any, random_state: Any, **parameters: Any) -> EasyFS:
    return sequential(n_features_to_select, random_state, n_hidden=0, n_enhancement=0, **parameters)


def ranking_exact(n_features_to_select: Any, random_state: Any, **parameters: Any) -> EasyFS:
    return ranking(n_features_to_select, random_state, n_hidden=0, n_enhancement=0, **parameters)


SELECTORS = [
    SelectorCase("EasyFS-sequential", sequential, sequential_exact, tasks=ALL_TASKS, handles_redundancy=True),
    SelectorCase("EasyFS-ranking", ranking, ranking_exact, tasks=SUPERVISED),
]

CASES = [
    pytest.param(case, check, task, id=f"{case.name}-{check.name}-{task}")
    for case in SELECTORS
    for check in CHECKS
    for task in check.tasks_of(case)
]


@pytest.mark.parametrize(("case", "check", "task"), CASES)
def test_selector(case: SelectorCase, check: Check, task: str) -> None:
    check.run(case, task)
