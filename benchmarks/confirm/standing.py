"""Who stands where: scores, ranks and tests over blocks of tables, from the rows that ``run.py`` kept.

A block is a table, or several targets of the same rows; it counts once. A score is the mean over folds (accuracy, or
1 - NMSE, so that more is better everywhere), of EasyFS and of the paper's ranking the mean over seeds, too. A method that
failed or was over the limit in any fold of a table has no score there: it ranks last, and in differences it has the lowest
score of the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from field import ALL, METHODS, MODELS, SIZES, method_of
from make import TABLES

from easyfs.evaluation import Comparison
from easyfs.evaluation.significance import Duel, duels, ranks_of
from easyfs.evaluation.store import Store

MEASURE = {"classification": "accuracy", "regression": "nmse"}
SECOND = "balanced_accuracy"
FOLDS = 5
SLOW = tuple(name for name, method in METHODS.items() if method.slow)
DRAWS = 10_000


@dataclass(frozen=True)
class Gap:
    """How far one method is ahead of another, over blocks.

    Attributes
    ----------
    against : str
        The other.
    mean, low, high : float
        Mean difference of ranks, above zero where the first is ahead, and its 95 % interval.
    ahead : float
        Share of the draws in which the mean is above zero.
    """

    against: str
    mean: float
    low: float
    high: float
    ahead: float


def bootstrap(differences: np.ndarray, against: str) -> Gap:
    """Mean difference over blocks, which are drawn anew: what other tables of this kind might have shown."""
    rng = np.random.default_rng(0)
    means = differences[rng.integers(len(differences), size=(DRAWS, len(differences)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return Gap(against, float(differences.mean()), float(low), float(high), float((means > 0).mean()))


class Results:
    """All that was measured.

    Parameters
    ----------
    folder : Path
        Files of results.
    """

    def __init__(self, folder: Path):
        self.files = {name: folder / f"{name}.jsonl" for name in TABLES if (folder / f"{name}.jsonl").exists()}
        self.by_table = {name: Comparison(Store(file).rows) for name, file in self.files.items()}
        self._labels: dict[str, dict[str, list[str]]] = {}

    def names(self, task: str | None, small: bool = False) -> list[str]:
        """Tables of a task (both without one) that have results."""
        tables = {name: about for name, about in TABLES.items() if name in self.by_table}
        return [n for n, about in tables.items() if task in (None, about["task"]) and about.get("small", False) == small]

    @cached_property
    def stamps(self) -> list[dict[str, Any]]:
        """Who made the rows: the different stamps."""
        found = []
        for comparison in self.by_table.values():
            for row in (*comparison.fit_rows.values(), *comparison.score_rows.values()):
                if row.get("stamp") and row["stamp"] not in found:
                    found.append(row["stamp"])
        return sorted(found, key=lambda mark: mark["date"])

    @cached_property
    def later(self) -> dict[tuple[str, str], list[str]]:
        """Methods of which all rows were made after the first run, by commit and machine."""
        made: dict[str, set[tuple[str, str]]] = {}
        for comparison in self.by_table.values():
            for row in comparison.fit_rows.values():
                if row.get("stamp"):
                    mark = row["stamp"]
                    made.setdefault(method_of(row["selector"]), set()).add((mark["commit"], mark["machine"]))
        first = (self.stamps[0]["commit"], self.stamps[0]["machine"]) if self.stamps else ("", "")
        found: dict[tuple[str, str], list[str]] = {}
        for method, marks in made.items():
            if len(marks) == 1 and first not in marks:
                found.setdefault(next(iter(marks)), []).append(method)
        return found

    def labels(self, name: str) -> dict[str, list[str]]:
        """Labels of each method that was tried in all folds of a table."""
        if name not in self._labels:
            self._labels[name] = self._find_labels(name)
        return self._labels[name]

    def _find_labels(self, name: str) -> dict[str, list[str]]:
        comparison = self.by_table[name]
        folds: dict[str, set[tuple[int, int]]] = {}
        for _, label, repeat, fold in comparison.fit_rows:
            folds.setdefault(label, set()).add((repeat, fold))
        found: dict[str, list[str]] = {}
        for label, tried in folds.items():
            if len(tried) >= FOLDS:
                found.setdefault(method_of(label), []).append(label)
        return found

    def score(self, name: str, method: str, size: int, model: str, measure: str | None = None) -> np.ndarray:
        """Scores of each seed, means over folds; NaN where a fold gave nothing."""
        comparison, task = self.by_table[name], TABLES[name]["task"]
        measure = measure or MEASURE[task]
        found = []
        for label in self.labels(name).get(method, []):
            rows = [
                comparison.score_rows.get((*place, self._size(comparison, place, size), model))
                for place in comparison.fit_rows
                if place[1] == label
            ]
            values = [np.nan if row is None else (row.get("values") or {}).get(measure) for row in rows]
            mean = float(np.mean([np.nan if value is None else value for value in values]))
            found.append(1.0 - mean if measure == "nmse" else mean)
        return np.array(found) if found else np.array([np.nan])

    @staticmethod
    def _size(comparison: Comparison, place: tuple[Any, ...], size: int) -> int:
        """No selection has one size of its own."""
        return max(comparison.fit_rows[place].get("sizes", [size])) if place[1] == ALL else size

    def has_model(self, name: str, model: str) -> bool:
        """Whether a model was trained on a table."""
        return model in self.by_table[name].models

    def failures(self) -> dict[tuple[str, str, str], int]:
        """Fits and models that gave nothing: (table, method, reason) to how many."""
        found: dict[tuple[str, str, str], int] = {}
        for name, comparison in self.by_table.items():
            for row in comparison.failures():
                what = "" if row["kind"] == "fit" else f"{MODELS.get(row['model'], row['model'])}: "
                key = (name, method_of(row["selector"]), what + str(row.get("reason", row["status"])))
                found[key] = found.get(key, 0) + 1
        return found

    def stopped(self) -> dict[tuple[str, str], int]:
        """Fits that stopped at the limit with the best so far: (table, method) to how many."""
        found: dict[tuple[str, str], int] = {}
        for name, comparison in self.by_table.items():
            for place, row in comparison.fit_rows.items():
                if row.get("note") == "time_limit":
                    key = (name, method_of(place[1]))
                    found[key] = found.get(key, 0) + 1
        return found


@dataclass(frozen=True)
class Standing:
    """Methods on blocks, at one size, with one model (or the mean over models).

    Attributes
    ----------
    methods : list of str
    blocks : list of str
    scores : ndarray of shape (blocks, methods)
        More is better; failures have the lowest score of their table.
    ranks : ndarray of shape (blocks, methods)
        1 is best; means over the tables of a block.
    """

    methods: list[str]
    blocks: list[str]
    scores: np.ndarray
    ranks: np.ndarray

    def mean_ranks(self) -> dict[str, float]:
        """Mean rank of each method."""
        return dict(zip(self.methods, self.ranks.mean(axis=0).tolist(), strict=True)) if self.blocks else {}

    def duels(self, own: str) -> list[Duel]:
        """Wilcoxon's test against each other method, with Holm's correction."""
        return duels(self.scores, self.methods, own) if len(self.blocks) > 1 else []

    def gaps(self, own: str) -> list[Gap]:
        """The mean difference of ranks from each other method, with its interval over blocks.

        Of ranks, as a difference of .1 is not the same in each table, and one table in which a model fails would drown all
        others. A Bayesian test that works on differences over blocks can take the place of :func:`bootstrap` here.
        """
        at = self.methods.index(own)
        return [
            bootstrap(self.ranks[:, place] - self.ranks[:, at], method)
            for place, method in enumerate(self.methods)
            if method != own
        ]


def methods_of(results: Results, names: Iterable[str], *, slow: bool) -> tuple[list[str], list[str]]:
    """Methods that are ranked on all of these tables, and the tables in which all of them were tried.

    A method that can do all tasks in question is asked for; a table that is not yet through is left out.
    """
    names = list(names)
    tasks = {TABLES[name]["task"] for name in names}
    present = {method for name in names for method in results.labels(name)}
    methods = [
        name
        for name, method in METHODS.items()
        if name in present and (slow or name not in SLOW) and (method.regression or "regression" not in tasks)
    ]
    return methods, [name for name in names if set(methods) <= set(results.labels(name))]


def standing(
    results: Results, names: list[str], methods: list[str], size: int, model: str | None, measure: str | None = None
) -> Standing:
    """Methods on tables, at a size, with a model; without one, means over models of scores and of ranks."""
    blocks: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for name in names:
        cells = []
        for learner in MODELS if model is None else (model,):
            if not results.has_model(name, learner):
                continue
            scores = np.array([results.score(name, m, size, learner, measure).mean() for m in methods])
            ranks = ranks_of(scores[None])[0]
            lowest = np.nanmin(scores) if not np.isnan(scores).all() else 0.0
            cells.append((np.where(np.isnan(scores), lowest, scores), ranks))
        if cells:
            mean = np.mean([c[0] for c in cells], axis=0), np.mean([c[1] for c in cells], axis=0)
            blocks.setdefault(TABLES[name].get("block", name), []).append(mean)
    kept = [(np.mean([c[0] for c in cells], axis=0), np.mean([c[1] for c in cells], axis=0)) for cells in blocks.values()]
    shape = (len(kept), len(methods))
    return Standing(
        methods,
        list(blocks),
        np.array([scores for scores, _ in kept]).reshape(shape),
        np.array([ranks for _, ranks in kept]).reshape(shape),
    )


def standings(results: Results, names: list[str], methods: list[str]) -> dict[tuple[int, str | None], Standing]:
    """At each size, with each model and over all of them (None)."""
    return {(size, model): standing(results, names, methods, size, model) for size in SIZES for model in (*MODELS, None)}
