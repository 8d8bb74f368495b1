"""The tables of the race: generated ones of several sizes, three of the paper's, and planted problems.

An input is a list of rounds. A round has rows to choose columns on, and rows held out to see what the choice is worth. Time
and memory are those of the first round; the others are there for the quality.

Generated tables: two classes, by the sign of a sum of linear effects (from 1 down to 0.4), the product of two columns that
say nothing alone, and standard normal noise. Every linear column has two near-copies (correlation .995) in the table, the
rest are correlated noise (each column like the one before it, .5); columns stand in random places. A round is a table of
its own seed, 0, 1, 2, ..., with fresh rows held out. Data sets: a round is one of five shuffled folds (seed 0, by class).
Planted problems: a round is a table of ``benchmarks/planted_problems.py``, seeds 1000, 1001, 1002 (those held out there),
and the share of the true columns that is found takes the place of the models' quality.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

sys.path.append(str(Path(__file__).resolve().parents[1]))

from paper.datasets import get
from planted_problems import draw as draw_planted
from problems import correlated, generator

Array = np.ndarray
CLASSES, NUMBERS = "classification", "regression"
# Rows held out of a generated table: so many, or as many as make so many numbers, but no fewer than the last.
HELD_OUT, HELD_OUT_NUMBERS, FEWEST_HELD_OUT = 5000, 20_000_000, 1000
COPIES, COPY_NOISE = 2, 0.1
PLANTED = [
    "XOR, a tenth turned",
    "suppressor",
    "ten proxies of a: 2a + b + e",
    "five near-copies of a: 2a + b + c/2 + e",
    "t2 columns: a + b/2 + e",
    "3a + bc + d/2 + e",
    "weak after strong, classes",
    "markers, three effects",
    "classes from ten of 1000 in 500 rows",
    "twenty weak among 500",
]


@dataclass(frozen=True)
class Round:
    """Rows to choose on, rows to judge by, and what is to be found.

    Attributes
    ----------
    name : str
        Seed, fold or problem.
    X, y : ndarray
        Rows to choose columns on.
    X_test, y_test : ndarray or None
        Rows held out; None where the true columns are all that counts.
    task : str
        "classification" or "regression".
    k : int
        Number of columns to choose.
    sets : tuple of tuples of positions
        True columns: one of each set is to be found. Empty where nobody knows.
    """

    name: str
    X: Array
    y: Array
    X_test: Array | None
    y_test: Array | None
    task: str
    k: int
    sets: tuple[tuple[int, ...], ...] = ()

    def recall(self, chosen: list[int]) -> float | None:
        """Share of the true columns, or of columns that say the same, among the chosen."""
        if not self.sets:
            return None
        return float(np.mean([bool(set(one) & set(chosen)) for one in self.sets]))


@dataclass(frozen=True)
class Input:
    """A panel of the race.

    Attributes
    ----------
    name : str
        Its name on the page.
    k : int
        Number of columns to choose; 0 where it differs from round to round.
    rounds : int
        How many rounds it has.
    shape : tuple of int
        Rows and columns, for "larger than what was too much already"; of planted problems that of the largest.
    linear : int
        Linear effects of a generated table.
    kind : str
        "generated", "data" or "planted".
    """

    name: str
    k: int
    rounds: int
    shape: tuple[int, int]
    linear: int = 0
    kind: str = "generated"

    def make(self) -> Iterator[Round]:
        """The rounds, one after another."""
        if self.kind == "generated":
            yield from (generated(self, seed) for seed in range(self.rounds))
        elif self.kind == "data":
            yield from folds(self)
        else:
            for problem in PLANTED:
                yield from (planted(problem, seed) for seed in range(1000, 1000 + self.rounds // len(PLANTED)))


def generated(given: Input, seed: int) -> Round:
    """A table with linear effects, near-copies of their columns, a pair that matters only together, and noise."""
    rng = generator(seed, f"race {given.name}")
    n, d = given.shape
    held_out = min(HELD_OUT, max(FEWEST_HELD_OUT, HELD_OUT_NUMBERS // d))
    rows, m = n + held_out, given.linear
    X = np.empty((rows, d))
    X[:, : m + 2] = rng.standard_normal((rows, m + 2))
    noise = m + 2 + COPIES * m
    for place, of in enumerate(np.tile(np.arange(m), COPIES), start=m + 2):
        X[:, place] = X[:, of] + COPY_NOISE * rng.standard_normal(rows)
    X[:, noise:] = correlated(rng, rows, d - noise, "AR", 0.5)
    effects = np.linspace(1.0, 0.4, m) * (-1.0) ** np.arange(m)
    pair = max(1.0, 0.5 * np.linalg.norm(effects))
    signal = X[:, :m] @ effects + pair * X[:, m] * X[:, m + 1] + rng.standard_normal(rows)
    y = (signal > 0).astype(np.int64)
    order = rng.permutation(d)
    place = np.argsort(order)
    sets = [[i, *range(m + 2 + i, noise, m)] for i in range(m)] + [[m], [m + 1]]
    X = np.ascontiguousarray(X[:, order])
    true = tuple(tuple(int(place[j]) for j in one) for one in sets)
    return Round(f"seed {seed}", X[:n], y[:n], X[n:], y[n:], CLASSES, given.k, true)


def folds(given: Input) -> Iterator[Round]:
    """Five folds of a data set."""
    data = get(given.name)
    X, y = data.load()
    X = np.ascontiguousarray(X, dtype=np.float64)
    if data.task == CLASSES:
        y = np.unique(y, return_inverse=True)[1].astype(np.int64)
    cut = (StratifiedKFold if data.task == CLASSES else KFold)(5, shuffle=True, random_state=0)
    for number, (train, test) in enumerate(cut.split(X, y)):
        if number < given.rounds:
            yield Round(f"fold {number}", X[train], y[train], X[test], y[test], data.task, given.k)


def planted(problem: str, seed: int) -> Round:
    """A planted problem."""
    table = draw_planted(problem, seed)
    X, y = np.ascontiguousarray(table.X, dtype=np.float64), table.y
    y = y.astype(np.int64) if table.task == CLASSES else y
    return Round(f"{problem}, seed {seed}", X, y, None, None, table.task, table.k, table.sets)


INPUTS = {
    one.name: one
    for one in (
        Input("2,000 x 200", 10, 5, (2000, 200), 6),
        Input("2,000 x 2,000", 50, 5, (2000, 2000), 20),
        Input("100 x 20,000", 30, 5, (100, 20_000), 5),
        Input("100,000 x 100", 10, 5, (100_000, 100), 6),
        Input("1,000,000 x 50", 10, 3, (1_000_000, 50), 6),
        Input("TOX", 50, 5, (137, 5748), kind="data"),
        Input("COIL20", 50, 5, (1152, 1024), kind="data"),
        Input("SoyNAM-height", 50, 2, (4435, 4316), kind="data"),
        Input("planted", 0, 3 * len(PLANTED), (500, 2000), kind="planted"),
        Input("tiny", 3, 2, (80, 12), 2),
    )
}
# Not part of the race: for tests.
HIDDEN = ("tiny",)
