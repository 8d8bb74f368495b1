"""What chosen columns are worth: two models on the rows held out, and the share of the true columns among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from inputs import CLASSES, Round
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# The models learn on so many of the training rows at most: the first ones, the same for every method.
MOST_ROWS = 20_000
# Trees of the boosting for each class.
TREES, TREES_OF_MANY_CLASSES, MANY_CLASSES = 60, 15, 5

_known: dict[tuple[Any, ...], dict[str, float | None]] = {}


def models(one: Round) -> dict[str, Any]:
    """A linear model and a boosted one."""
    if one.task == CLASSES:
        trees = TREES_OF_MANY_CLASSES if one.y.max() >= MANY_CLASSES else TREES
        boosted = HistGradientBoostingClassifier(max_iter=trees, max_leaf_nodes=15, early_stopping=False, random_state=0)
        return {"linear": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)), "boosting": boosted}
    boosted = HistGradientBoostingRegressor(max_iter=TREES, max_leaf_nodes=15, early_stopping=False, random_state=0)
    return {"linear": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 3, 6))), "boosting": boosted}


def score(one: Round, columns: list[int]) -> dict[str, float | None]:
    """Accuracy or R2 of the models on the rows held out, and recall; equal sets of columns are judged once."""
    found: dict[str, float | None] = {"recall": one.recall(columns)}
    if one.X_test is None or one.y_test is None or not columns:
        return found
    chosen = sorted(set(columns))
    key = (one.name, one.X.shape, float(one.X[0, 0]), *chosen)
    if key not in _known:
        X, y = one.X[:MOST_ROWS, chosen], one.y[:MOST_ROWS]
        test = one.X_test[:, chosen]
        _known[key] = {name: float(model.fit(X, y).score(test, one.y_test)) for name, model in models(one).items()}
    return found | _known[key]
