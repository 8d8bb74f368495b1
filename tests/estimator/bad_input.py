"""Small tables for the tests of bad input, and patterns for what its errors say."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from easyfs import EasyFS, EasyFSRanking

NAMES = ["age", "height", "weight", "income", "score"]


def table(n: int = 40, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] > 0).astype(int)


FORMS = {"sequential": EasyFS, "ranking": EasyFSRanking}


def small(n_features_to_select: Any = 2, form: Any = EasyFS, **parameters: Any) -> Any:
    return form(n_features_to_select, random_state=0, **{"n_hidden": 8} | parameters)


def says(*parts: Any) -> str:
    """A pattern for a message that holds all parts, in any order and case."""
    return "(?is)" + "".join(f"(?=.*{re.escape(str(part))})" for part in parts)


DATAFRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


every_library = pytest.mark.parametrize("library", list(DATAFRAMES))


def frame_with(library: str, name: str, values: list[Any]) -> tuple[Any, np.ndarray]:
    """A table whose column ``name`` holds ``values``, repeated to its length."""
    X, y = table()
    columns: dict[str, Any] = {known: X[:, j] for j, known in enumerate(NAMES)}
    columns[name] = (values * len(X))[: len(X)]
    return DATAFRAMES[library](columns), y
