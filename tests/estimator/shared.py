"""Tables, targets and comparisons that the tests of the selectors share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from easyfs import EasyFS, EasyFSRanking

FORMS = {"sequential": EasyFS, "ranking": EasyFSRanking}
COMPRESSIONS = ("sequential", "ranking")
both_compressions = pytest.mark.parametrize("compression", COMPRESSIONS)
SMALL: dict[str, Any] = {"n_hidden": 32}
SMALL_OF = {"sequential": SMALL, "ranking": SMALL | {"n_enhancement": 200}}


def normal(n: int, d: int, seed: int = 0) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((n, d))


def by_class(n: int, d: int, columns: tuple[int, ...] = (1, 4), seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A class for each of the columns and one more; each class but the first moves its own column."""
    rng, X = normal(n, d, seed)
    y = rng.integers(0, len(columns) + 1, n)
    for code, column in enumerate(columns, start=1):
        X[:, column] += 4.0 * (y == code)
    return X, y


def targets_for(task: str, n: int, d: int = 8, seed: int = 0) -> tuple[np.ndarray, Any]:
    """A table whose columns 1 and 4 make the target."""
    if task == "classification":
        return by_class(n, d, seed=seed)
    rng, X = normal(n, d, seed)
    both = X[:, [1, 4]] + 0.1 * rng.standard_normal((n, 2))
    return X, {"regression": both.sum(axis=1), "several targets": both, "no target": None}[task]


def rows_of(y: Any, rows: Any) -> Any:
    return None if y is None else y[rows]


def assert_same_selection(one: EasyFS, other: EasyFS) -> None:
    np.testing.assert_array_equal(one.order_, other.order_)
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-6, atol=1e-9)


def stream(selector: EasyFS, X: Any, y: Any, cuts: list[int], plan: Any = None, weight: np.ndarray | None = None) -> EasyFS:
    """Feed a table block by block."""
    for start, stop in zip([0, *cuts], [*cuts, X.shape[0]], strict=True):
        rows = slice(start, stop)
        first = {"plan": plan} if start == 0 else {}
        selector.partial_fit(X[rows], rows_of(y, rows), rows_of(weight, rows), **first)
    return selector
