"""What the site's table says of each selector is what happens when it is given such a table."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from scipy import sparse

from easyfs import available_selectors, make_selector
from easyfs.registry import SelectorInfo

QUICK: dict[str, dict[str, Any]] = {
    "random_forest": {"n_estimators": 3},
    "xgboost": {"n_estimators": 2},
    "spfsr": {"max_iter": 2},
    "stg": {"max_iter": 2},
    "lassonet": {"max_iter": (2, 1), "path_multiplier": 3.0},
}
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5))
CLASSES, NUMBERS = (X[:, 1] > 0).astype(int), X[:, 1] + 0.1 * RNG.standard_normal(60)
TWO = np.column_stack([NUMBERS, X[:, 3]])
WITH_HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
MIXED = pd.DataFrame(X).add_prefix("x").assign(city=np.tile(["Rome", "Oslo", "Graz"], 20))


def table() -> Any:
    path = Path(__file__).parents[1] / "docs" / "_ext" / "support_table.py"
    spec = importlib.util.spec_from_file_location("support_table", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLE = table()


def works(info: SelectorInfo, *args: Any, how_many: Any = 2, **options: Any) -> bool:
    selector = make_selector(info.name, how_many, **QUICK.get(info.name, {}))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(*args, **options)
    except (TypeError, ValueError):
        return False
    return True


@pytest.mark.parametrize("info", available_selectors(), ids=lambda info: info.name)
def test_the_table_says_what_happens(info: SelectorInfo) -> None:
    says = TABLE.support(info)
    y = CLASSES if says["classes"] else NUMBERS
    happens = {
        "classes": works(info, X, CLASSES),
        "numbers": works(info, X, NUMBERS),
        "no target": works(info, X),
        "several targets": works(info, X, TWO),
        "weights": works(info, X, y, sample_weight=np.arange(1.0, 61.0)),
        "missing values": works(info, WITH_HOLES, y),
        "sparse": works(info, sparse.csr_array(X), y),
        "categories and dates": works(info, MIXED, y),
        "says how many": works(info, X, y, how_many="auto"),
    }
    assert {question: says[question] for question in happens} == happens


@pytest.mark.parametrize("info", available_selectors(), ids=lambda info: info.name)
def test_the_table_says_who_takes_rows_in_parts(info: SelectorInfo) -> None:
    says = TABLE.support(info)
    selector = make_selector(info.name, 2, **QUICK.get(info.name, {}))
    assert says["stream"] == (hasattr(selector, "partial_fit") and hasattr(selector, "merge"))
    lazy = pl.DataFrame(X, schema=list("abcde")).with_columns(y=CLASSES).lazy()
    assert says["files, Dask, Spark"] == works(info, lazy, "y")
    tensor = torch.from_numpy(X)
    assert not says["GPU"] or works(info, tensor, CLASSES)


def test_every_question_is_answered() -> None:
    assert all(set(TABLE.support(info)) == set(TABLE.QUESTIONS) for info in available_selectors())
