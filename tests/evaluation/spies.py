"""A selector and a model that note what they see, and readers of what a comparison found."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.naive_bayes import GaussianNB

from easyfs import make_selector
from easyfs.evaluation import Comparison

QUICK: dict[str, Any] = {"models": GaussianNB(), "folds": 3, "repeats": 1}


class Spy(SelectorMixin, BaseEstimator):
    """Pearson's scores, and a note of all that is seen."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, n_features_to_select: Any = 2, *, label: str = "", fails: bool = False, random_state: Any = None):
        self.n_features_to_select = n_features_to_select
        self.label = label
        self.fails = fails
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Spy:
        self.scores_ = make_selector("pearson").fit(X, y).scores_
        note = {"X": X.copy(), "y": y.copy(), "label": self.label, "scores": self.scores_, "seed": self.random_state}
        Spy.seen.append(note | {"size": self.n_features_to_select})
        if self.fails:
            raise ArithmeticError("this one\n  does not work")
        return self

    def _get_support_mask(self) -> Any:
        return np.argsort(np.argsort(-self.scores_, kind="stable")) < self.n_features_to_select


class SpyModel(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent class, and notes all that is seen."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def fit(self, X: Any, y: Any) -> SpyModel:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.most_ = self.classes_[np.argmax(counts)]
        SpyModel.seen.append({"train": X.copy(), "y": y.copy()})
        return self

    def predict(self, X: Any) -> Any:
        SpyModel.seen[-1]["test"] = X.copy()
        return np.full(len(X), self.most_)


def classes(n: int = 60, d: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 20, d) + 3
    return X, (X[:, 5] - X[:, 5].mean() + X[:, 2] - X[:, 2].mean() > 0).astype(int)


def table(found: Comparison) -> pd.DataFrame:
    """All scores, in an order of their own."""
    places = ["name", "selector", "repeat", "fold", "size", "model"]
    return found.scores().sort_values(places, ignore_index=True)


def assert_same(one: Comparison, other: Comparison) -> None:
    pd.testing.assert_frame_equal(table(one), table(other))
    stability = [c.stability().sort_values(["name", "selector", "size"], ignore_index=True) for c in (one, other)]
    pd.testing.assert_frame_equal(*stability)
    assert (one.selectors, one.models, one.metrics) == (other.selectors, other.models, other.metrics)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def times_computed(path: Path) -> Counter[tuple[Any, ...]]:
    """How often each fit and each score is in the file."""
    places = ("kind", "name", "selector", "repeat", "fold", "size", "model")
    return Counter(tuple(row.get(part) for part in places) for row in rows_of(path) if row["kind"] != "data")
