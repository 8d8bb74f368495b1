"""A dozen small tables of every kind, and what the selectors answer to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from easyfs import EasyFS, EasyFSRanking

Answer = dict[str, Any]


def _rng() -> np.random.Generator:
    return np.random.default_rng(7)


def _numbers(n: int = 300, d: int = 12) -> tuple[np.ndarray, np.ndarray]:
    rng = _rng()
    X = rng.standard_normal((n, d))
    X[:, 5] = X[:, 0] + 0.1 * rng.standard_normal(n)
    X[:, 6] = 3.0
    return X, 2.0 * X[:, 0] - X[:, 3] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(n)


def _classes(n: int = 300, d: int = 12, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = _rng()
    y = rng.integers(k, size=n)
    X = rng.standard_normal((n, d))
    X[:, 2] += y
    X[:, 8] += y == 1
    return X, np.array(["red", "green", "blue"])[y]


def dense() -> EasyFS:
    """Numbers, a target that is a number."""
    return EasyFS(6, random_state=0).fit(*_numbers())


def auto() -> EasyFS:
    """The number of columns found by the selector."""
    return EasyFS(random_state=0).fit(*_numbers())


def classes() -> EasyFS:
    """Three classes, by name."""
    return EasyFS(4, random_state=1).fit(*_classes())


def several_targets() -> EasyFS:
    """Three targets at once."""
    X, y = _numbers()
    return EasyFS(5, random_state=0).fit(X, np.column_stack([y, X[:, 7] ** 3, X[:, 8] + X[:, 0]]))


def no_target() -> EasyFS:
    """Coverage alone."""
    return EasyFS(5, random_state=0).fit(_numbers()[0])


def weighted() -> EasyFS:
    """Weights that count rows, and some of zero."""
    X, y = _numbers()
    return EasyFS(5, random_state=0).fit(X, y, sample_weight=_rng().integers(4, size=len(y)).astype(float))


def thin() -> EasyFS:
    """A sparse table."""
    rng = _rng()
    X = (rng.random((400, 40)) < 0.1) * rng.integers(1, 4, size=(400, 40))
    y = X[:, 3] + 2.0 * X[:, 17] + 0.3 * rng.standard_normal(400)
    return EasyFS(5, random_state=0).fit(sparse.csr_array(X.astype(np.float64)), y)


def mixed() -> EasyFS:
    """A table with a category, a date, missing values."""
    rng = _rng()
    n = 300
    color = rng.choice(["red", "green", "blue"], size=n)
    x = rng.standard_normal(n)
    table = pd.DataFrame(
        {
            "color": color,
            "x": np.where(rng.random(n) < 0.1, np.nan, x),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            **{f"noise{j}": rng.standard_normal(n) for j in range(6)},
        }
    )
    return EasyFS(3, random_state=0).fit(table, (color == "red") + x + 0.3 * rng.standard_normal(n))


def grouped() -> EasyFS:
    """Columns that are chosen together, one that is included, one that is excluded."""
    X, y = _numbers()
    groups = [0, 0, 1, 1, 2, 3, 4, 5, 5, 6, 7, 8]
    return EasyFS(3, random_state=0, **{GROUPS: groups}, include=[7], exclude=[3]).fit(X, y)


def stream() -> EasyFS:
    """Blocks of rows, one class late."""
    X, y = _classes(600)
    y = np.where((np.arange(600) < 200) & (y == "blue"), "red", y)
    selector = EasyFS(4, random_state=0)
    for rows in (slice(0, 200), slice(200, 300), slice(300, 600)):
        selector.partial_fit(X[rows], y[rows])
    return selector


def wide() -> EasyFS:
    """Far more columns than rows."""
    rng = _rng()
    X = rng.standard_normal((60, 1500), dtype=np.float32)
    return EasyFS(6, random_state=0).fit(X, (X[:, 10] + X[:, 900] > 0).astype(int))


def tall() -> EasyFS:
    """Many rows, folded into sums."""
    rng = _rng()
    X = rng.standard_normal((30_000, 8))
    return EasyFS(4, random_state=0).fit(X, X[:, 1] + 0.1 * X[:, 5] + rng.standard_normal(30_000))


def ranking() -> Any:
    """The paper's form, of classes."""
    return ranking_selector(4, random_state=0, n_hidden=20, n_enhancement=40).fit(*_classes())


def ranking_of_numbers() -> Any:
    """The paper's form, of a number."""
    return ranking_selector(4, random_state=0, n_hidden=20, n_enhancement=40).fit(*_numbers())


def ranking_selector(*args: Any, **settings: Any) -> Any:
    """A selector of the paper's form."""
    return EasyFSRanking(*args, **settings)


GROUPS = "feature_groups"
TABLES: dict[str, Callable[[], Any]] = {
    make.__name__: make
    for make in (
        *(dense, auto, classes, several_targets, no_target, weighted, thin, mixed, grouped, stream, wide, tall),
        *(ranking, ranking_of_numbers),
    )
}


def answer(selector: Any) -> Answer:
    """What is kept of a fit: the order, what each column added, its p-value, and what was found together."""
    p_values = selector.p_values_
    return {
        "n_selected": int(selector.n_features_),
        "order": np.asarray(selector.order_)[:40].tolist(),
        "gains": [float(f"{gain:.6g}") for gain in selector.gains_],
        "p_values": None if p_values is None else [float(f"{p:.4g}") for p in p_values],
        "together": [list(found.columns) for found in selector.interactions_],
    }
