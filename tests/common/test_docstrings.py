"""The docstrings of the public selectors are complete, and say what is there."""

from __future__ import annotations

import ast
import inspect
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate
from sklearn.datasets import load_iris

from easyfs.registry import CLASSES, SelectorInfo

# Methods need no longer summary, relatives and examples of their own: those of the class serve.
CLASS_ONLY = {"ES01", "SA01", "EX01"}
# What keeps fits short.
QUICK: dict[str, dict[str, Any]] = {
    "lassonet": {"max_iter": (2, 1), "path_multiplier": 3.0},
    "stg": {"max_iter": 2},
    "spfsr": {"max_iter": 2},
    "random_forest": {"n_estimators": 5},
    "xgboost": {"n_estimators": 2},
}
# Settings with which a selector has attributes that it does not have otherwise.
OTHERWISE: dict[str, dict[str, Any]] = {"spec": {"affinity": "class"}}

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
CHECKS = set(tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]["checks"])


def cases() -> list[Any]:
    return [pytest.param(info, id=info.name) for info in CLASSES.values()]


def own_methods(selector: type) -> list[str]:
    """Public methods that are defined in this library."""
    return [
        name
        for name, method in inspect.getmembers(selector, inspect.isfunction)
        if not name.startswith("_") and method.__module__.startswith("easyfs.")
    ]


def documented(info: SelectorInfo, section: str) -> dict[str, str]:
    """Names in a section of the docstring of the class, with their types."""
    found = {}
    for entry in ClassDoc(info.load(), config={"show_class_members": False})[section]:
        for name in entry.name.split(", "):
            found[name] = entry.type
    return found


@pytest.mark.parametrize("info", cases())
def test_nothing_is_missing_in_the_docstring_of_the_class(info: SelectorInfo) -> None:
    errors = [error for error in validate(f"easyfs.{info.class_name}")["errors"] if error[0] in CHECKS]
    assert not errors


@pytest.mark.parametrize("info", cases())
def test_nothing_is_missing_in_the_docstrings_of_its_methods(info: SelectorInfo) -> None:
    methods = own_methods(info.load())
    assert {"fit", "transform", "take", "truncate", "report"} <= set(methods)
    for method in methods:
        errors = validate(f"easyfs.{info.class_name}.{method}")["errors"]
        assert not [error for error in errors if error[0] in CHECKS - CLASS_ONLY], method


@pytest.mark.parametrize("info", cases())
def test_parameters_and_their_defaults_are_documented(info: SelectorInfo) -> None:
    said = documented(info, "Parameters")
    there = inspect.signature(info.load()).parameters
    assert list(said) == list(there)
    for name, parameter in there.items():
        _, _, default = said[name].partition("default=")
        assert ast.literal_eval(default) == parameter.default, name


@pytest.mark.parametrize("info", cases())
def test_every_parameter_has_a_type(info: SelectorInfo) -> None:
    for name, parameter in inspect.signature(info.load()).parameters.items():
        assert parameter.annotation not in (inspect.Parameter.empty, "Any"), name


@pytest.mark.parametrize("info", cases())
def test_attributes_are_documented(info: SelectorInfo) -> None:
    X, y = load_iris(return_X_y=True)
    table = pd.DataFrame(X, columns=list("abcd"))
    fits = [{}, OTHERWISE[info.name]] if info.name in OTHERWISE else [{}]
    found = set()
    for settings in fits:
        selector = info.load()(2, **QUICK.get(info.name, {}), **settings).fit(table, y)
        found |= {
            name for name in dir(selector) if name.endswith("_") and not name.startswith("_") and hasattr(selector, name)
        }
        if hasattr(selector, "partial_fit"):
            found |= {name for name in vars(info.load()("cv").fit(table, y)) if name.endswith("_")}
            found |= {name for name in vars(selector.partial_fit(table, y)) if name.endswith("_")}
    assert set(documented(info, "Attributes")) == found
