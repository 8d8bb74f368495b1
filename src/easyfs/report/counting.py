"""How the number of columns was found by cross-validation, and how alike the folds chose."""

from __future__ import annotations

from collections import Counter

import numpy as np

from easyfs.base.explanation import Explanation
from easyfs.base.selector import BaseSelector
from easyfs.common.plain import text_of
from easyfs.common.types import Array
from easyfs.evaluation.metrics import jaccard_stability
from easyfs.report.summary import ColumnCount
from easyfs.report.words import number

# Columns of the folds that are named.
MOST_NAMED = 40


def column_count_of(selector: BaseSelector, explanation: Explanation) -> ColumnCount | None:
    """The curve of the score over the number of columns; None unless it was asked for."""
    results = getattr(selector, "cv_results_", None)
    if results is None or explanation.parameters.get("n_features_to_select") != "cv":
        return None
    folds = len([name for name in results if name.startswith("split")])
    scores = np.array([results[f"split{fold}_test_score"] for fold in range(folds)])
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(folds)
    taken = len({column.group for column in explanation.chosen})
    labels = getattr(selector, "feature_groups", None)
    sets = [
        _first(columns, taken, columns if labels is None else np.array([str(labels[j]) for j in columns]))
        for columns in getattr(selector, "cv_selections_", ())
    ]
    counts = Counter(int(j) for columns in sets for j in columns)
    chosen = {column.column for column in explanation.chosen}
    names = {column.column: text_of(column.name) for column in explanation.columns}
    place = {column.column: column.place for column in explanation.chosen}
    order = sorted(counts, key=lambda j: (-counts[j], place.get(j, len(names) + j)))
    return {
        "folds": folds,
        "points": [
            {"columns": int(n), "mean": number(m) or 0.0, "error": number(e) or 0.0}
            for n, m, e in zip(results["n_features"], mean, error, strict=True)
        ],
        "best": int(results["n_features"][int(np.argmax(mean))]),
        "taken": taken,
        "columns": [{"column": j, "name": names[j], "folds": counts[j], "chosen": j in chosen} for j in order[:MOST_NAMED]],
        "more": max(0, len(order) - MOST_NAMED),
        "jaccard": number(jaccard_stability(sets)),
    }


def _first(columns: Array, count: int, groups: Array) -> Array:
    """The columns of the first so many groups of a fold."""
    first = list(dict.fromkeys(groups.tolist()))[:count]
    return columns[np.isin(groups, first)]
