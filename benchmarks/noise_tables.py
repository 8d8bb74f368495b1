"""Tables whose target has nothing to do with their columns: kinds of columns, targets and weights, and random mixes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from problems import SHAPES, Array, Random, Table, category_frame, columns, generator, mixed, words, zipf

CLASSES = "classification"


def categories(rng: Random, n: int, d: int) -> pd.DataFrame:
    """Category columns of two to eight levels of the same frequency."""
    return category_frame([rng.integers(0, rng.integers(2, 9), n) for _ in range(d)])


def zipf_categories(rng: Random, n: int, d: int) -> pd.DataFrame:
    """Category columns of up to 200 levels, most of them rare."""
    return category_frame([zipf(rng, n, 200) for _ in range(d)])


def zipf_indicators(rng: Random, n: int, d: int) -> Array:
    """One such column as columns of 0 and 1."""
    return (zipf(rng, n, d)[:, None] == np.arange(d)).astype(float)


# Columns that are not one of the shapes.
COLUMNS: dict[str, Callable[[Random, int, int], Any]] = {
    "categories": categories,
    "Zipf categories": zipf_categories,
    "Zipf indicators": zipf_indicators,
    "words": words,
    "AR 0.95": lambda rng, n, d: columns(rng, n, d, "normal", "AR", 0.95),
    "float32": lambda rng, n, d: rng.standard_normal((n, d)).astype(np.float32),
}


def positives(share: float) -> Callable[[Random, int], Array]:
    """Two classes."""
    return lambda rng, n: rng.permutation((np.arange(n) < round(share * n)).astype(int))


def heavy(freedom: float) -> Callable[[Random, int], Array]:
    """Numbers of Student's t distribution."""
    return lambda rng, n: rng.standard_t(freedom, n)


# Whole numbers are classes; where they are not, the name of the target is in NUMBERS.
TARGETS: dict[str, Callable[[Random, int], Array]] = {
    "numbers": lambda rng, n: rng.standard_normal(n),
    "lognormal": lambda rng, n: np.exp(rng.standard_normal(n)),
    "t2": heavy(2),
    "Cauchy": heavy(1),
    "half positives": positives(0.5),
    "15 % positives": positives(0.15),
    "10 % positives": positives(0.1),
    "5 % positives": positives(0.05),
    "2 % positives": positives(0.02),
    "three classes": lambda rng, n: rng.integers(0, 3, n),
    "30 classes": lambda rng, n: zipf(rng, n, 30),
    "five targets": lambda rng, n: rng.standard_normal((n, 5)),
    "five labels": lambda rng, n: (rng.random((n, 5)) < 0.3).astype(int),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, np.exp(rng.standard_normal(n))),
    "five levels": lambda rng, n: rng.integers(1, 6, n),
    "counts": lambda rng, n: rng.poisson(1.0, n),
}
NUMBERS = ("five levels", "counts")

WEIGHTS: dict[str, Callable[[Random, Array], Array]] = {
    "balanced": lambda rng, y: (len(y) / np.bincount(y))[y],  # noqa: ARG005
    "exponential": lambda rng, y: rng.exponential(size=len(y)),
    "whole": lambda rng, y: rng.integers(1, 5, len(y)).astype(float),
}


@dataclass(frozen=True)
class Kind:
    """Size, columns, target and weights of a table; ``strong`` is the effect of one column that the target is made of."""

    n: int = 500
    d: int = 100
    columns: str = "normal"
    target: str = "numbers"
    weight: str | None = None
    strong: float = 0.0

    def draw(self, rng: Random) -> Table:
        """The table."""
        make = COLUMNS.get(self.columns)
        X = columns(rng, self.n, self.d, self.columns) if make is None else make(rng, self.n, self.d)
        table = aimed(rng, X, self.target, self.weight)
        return Table(X, table.y + self.strong * X[:, 0], ((0,),)) if self.strong else table


KINDS: dict[str, Kind] = {
    "normal": Kind(),
    "t2 columns": Kind(columns="t2"),
    "uniform columns": Kind(columns="uniform"),
    "markers": Kind(columns="markers"),
    "balanced classes": Kind(target="half positives"),
    "three classes": Kind(target="three classes"),
    "five targets": Kind(target="five targets"),
    "five labels at once": Kind(target="five labels"),
    "a fifth of the values missing": Kind(columns="missing values"),
    "categories": Kind(d=30, columns="categories"),
    "counts": Kind(columns="counts"),
    "columns of 0.5 % ones, 2 % positives": Kind(1000, 200, "rare ones", "2 % positives"),
    "Zipf categories, 5 % positives": Kind(1000, 20, "Zipf categories", "5 % positives"),
    "Zipf categories as indicators, 5 % positives": Kind(1000, 100, "Zipf indicators", "5 % positives"),
    "rare markers, lognormal target": Kind(500, 200, "rare markers", "lognormal"),
    "30 classes of Zipf's sizes, t3 columns": Kind(600, 50, "t3", "30 classes"),
    "30 classes of Zipf's sizes, lognormal columns": Kind(600, 50, "lognormal", "30 classes"),
    "bag of words, 15 % positives": Kind(600, 200, "words", "15 % positives"),
    "Cauchy against Cauchy": Kind(columns="Cauchy", target="Cauchy"),
    "10 % positives, class-balanced weights": Kind(target="10 % positives", weight="balanced"),
    "exponential weights": Kind(weight="exponential"),
    "whole-number weights": Kind(weight="whole"),
    "few rows": Kind(40, 1000),
    "few rows and columns": Kind(30, 5),
    "wide": Kind(100, 5000),
    "mostly zero target": Kind(target="mostly zero"),
    "five levels as numbers": Kind(target="five levels"),
    "neighbouring columns correlated 0.95": Kind(columns="AR 0.95"),
    "one strong column: 2a + e": Kind(strong=2.0),
    "one strong column: 5a + Cauchy": Kind(target="Cauchy", strong=5.0),
    "float32": Kind(columns="float32"),
    "tall": Kind(5000, 50),
}
RANDOM = "random mix"


def aimed(rng: Random, X: Any, target: str, weight: str | None, told: str = "") -> Table:
    """A table with a target that has nothing to do with it."""
    y = TARGETS[target](rng, X.shape[0])
    task = CLASSES if np.issubdtype(y.dtype, np.integer) and target not in NUMBERS else "regression"
    weights = None if weight is None else WEIGHTS[weight](rng, y)
    return Table(X, y.astype(float) if task == "regression" else y, (), task, weights, told=told)


def random_mix(rng: Random) -> Table:
    """Columns of several distributions in one table, and any target, perhaps with weights."""
    n, d = int(rng.integers(200, 1001)), int(rng.integers(30, 201))
    X, told = mixed(rng, n, d)
    target = str(rng.choice(list(TARGETS)))
    weight = str(rng.choice(["exponential", "whole"])) if rng.random() < 0.25 else None
    return aimed(rng, X, target, weight, f"{told}; {target}{'' if weight is None else f', {weight} weights'}")


def draw(kind: str, seed: int) -> Table:
    """The table of a kind for a seed."""
    rng = generator(seed, kind)
    return (random_mix if kind == RANDOM else KINDS[kind].draw)(rng).placed(rng)


assert set(COLUMNS).isdisjoint(SHAPES)
