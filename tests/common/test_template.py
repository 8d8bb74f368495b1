"""The selector that newcomers copy passes all that a selector of the library must pass."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from numpydoc.validate import validate
from sklearn.utils.estimator_checks import parametrize_with_checks

from .checks import CHECKS, SUPERVISED, Check, SelectorCase

# Under the name that it has once it is copied.
NAME = "easyfs.baselines.my_method"


def load() -> Any:
    spec = importlib.util.spec_from_file_location(NAME, Path(__file__).with_name("my_method.py"))
    assert spec is not None
    assert spec.loader is not None
    sys.modules[NAME] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MyMethodSelector


MyMethodSelector = load()


def make(n_features_to_select: Any, random_state: Any, **parameters: Any) -> Any:  # it draws nothing
    return MyMethodSelector(n_features_to_select, **parameters)


CASE = SelectorCase("my_method", make, make, tasks=SUPERVISED, supports_weights=False, finds_set=False)
RUNS = [pytest.param(check, task, id=f"{check.name}-{task}") for check in CHECKS for task in check.tasks_of(CASE)]
PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


@pytest.mark.parametrize(("check", "task"), RUNS)
def test_common_check_passes(check: Check, task: str) -> None:
    check.run(CASE, task)


@parametrize_with_checks([MyMethodSelector()])
def test_scikit_learn_check_passes(estimator: Any, check: Any) -> None:
    check(estimator)


def test_its_docstring_is_complete() -> None:
    asked = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]["checks"]
    found = validate(f"{NAME}.MyMethodSelector")
    assert [error for error in found["errors"] if error[0] in asked] == []
