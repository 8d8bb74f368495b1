"""What takes further fits: stability over resampling, cross-validated scores, where chance begins."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import clone

from easyfs.base.explanation import Explanation
from easyfs.base.selector import BaseSelector
from easyfs.common.parameters import check_number
from easyfs.common.plain import text_of
from easyfs.common.types import Array
from easyfs.estimator.streaming import StreamingSelector
from easyfs.evaluation import compare, stability_selection
from easyfs.evaluation.stability import StabilitySelection
from easyfs.report.summary import CrossValidation, Point, Stability
from easyfs.report.words import number

FOLDS = 5
# Numbers of columns to try, as far as so many are chosen.
SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500)
MOST_SIZES = 9
# A column that was not chosen is named if it came up in this share of the runs.
OFTEN = 0.2
MOST_OTHERS = 20


def check_options(X: Any, y: Any, stability: Any, cv: Any, groups: Any, task: str | None) -> None:
    """Options must be of use, and have the rows that they need."""
    if stability is True or (stability is not False and not _is_count(stability, 0)) or stability == 1:
        raise ValueError(f"stability={stability!r}: give the number of runs, at least 2, or 0 for none.")
    if not isinstance(cv, bool) and not hasattr(cv, "get_n_splits") and not _is_count(cv, 2):
        raise ValueError(f"cv={cv!r}: give True, False, a number of folds of at least 2, or a splitter of scikit-learn.")
    if groups is not None and not cv:
        raise ValueError("groups= is for cross-validation; say cv=True, too.")
    for name, value, wanted in (("stability", stability, ("X",)), ("cv", cv, ("X", "y"))):
        if not value:
            continue
        lacking = [part for part in wanted if (X if part == "X" else y) is None]
        if name == "stability" and task is not None and y is None:
            lacking.append("y")
        if lacking:
            raise ValueError(f"{name}={value!r} needs the rows again: pass {' and '.join(lacking)} as they were fitted.")


def _is_count(value: Any, least: int) -> bool:
    try:
        check_number("", value, least, whole=True)
    except ValueError:
        return False
    return True


@contextmanager
def _quiet() -> Iterator[None]:
    """What is set aside, and that nothing tells more than chance, was said at the fit."""
    with warnings.catch_warnings():
        for message in (".* set aside: ", "none of the .* tells more of the target than chance"):
            warnings.filterwarnings("ignore", message=message, category=UserWarning)
        yield


def measure_stability(
    selector: BaseSelector, X: Any, y: Any, runs: int, random_state: int, explanation: Explanation
) -> tuple[Stability, StabilitySelection]:
    """How often each column is selected on random halves of the rows."""
    if selector.task_ is not None:  # what the target is, all rows tell better than half of them
        selector = clone(selector).set_params(task=selector.task_)
    with _quiet():
        found = stability_selection(selector, X, y, n_runs=int(runs), random_state=random_state)
    frequency = np.asarray(found.frequency)
    rest = np.setdiff1d(np.arange(len(frequency)), [column.column for column in explanation.chosen])
    rest = rest[frequency[rest] >= OFTEN - 1e-12]
    rest = rest[np.argsort(-frequency[rest], kind="stable")][:MOST_OTHERS]
    names = {column.column: text_of(column.name) for column in (*explanation.others, *explanation.set_aside)}
    summary: Stability = {
        "runs": int(found.n_runs),
        "mean_size": float(found.mean_size),
        "nogueira": number(found.nogueira),
        "jaccard": number(found.jaccard),
        "others": [{"column": int(j), "name": names[j], "frequency": round(float(frequency[j]), 6)} for j in rest],
    }
    return summary, found


def sizes_up_to(largest: int, least: int = 1) -> list[int]:
    """A few numbers of columns, closer together where they are small."""
    below = [size for size in SIZES if least <= size < largest]
    if len(below) > MOST_SIZES - 1:
        below = [below[i] for i in np.unique(np.linspace(0, len(below) - 1, MOST_SIZES - 1).round().astype(int))]
    return [*below, largest]


def cross_validate(
    selector: BaseSelector,
    X: Any,
    y: Any,
    cv: Any,
    groups: Any,
    model: Any,
    random_state: int,
    explanation: Explanation,
) -> CrossValidation:
    """Score over the number of columns, beside random selection and all columns."""
    splitter = cv if hasattr(cv, "get_n_splits") else None
    n_groups = len({column.group for column in explanation.chosen})
    least = max(1, sum(column.included for column in explanation.chosen))
    folds = FOLDS if cv is True else int(cv) if splitter is None else 2
    with _quiet():
        found = compare(
            {"chosen": selector, "all": "all"},
            X,
            y,
            sizes=sizes_up_to(n_groups, min(least, n_groups)),
            folds=folds,
            repeats=1,
            cv=splitter,
            groups=groups,
            models=model,
            task=getattr(selector, "task_", None) or "auto",
            random_state=random_state,
        )
    name = found.names[0]
    known = found.data[name]
    values = found.values()
    curves: dict[str, list[Point]] = {"chosen": [], "random": [], "all": []}
    for (_, size, _, label), scores in values.items():
        curves.setdefault(label, []).append(_point(size, scores))
    points = curves["chosen"]
    metric = known["metrics"][0]
    smaller = metric in known["smaller_is_better"]
    reasons = [f"{row['selector']}: {row.get('reason', '')}" for row in found.failures()]
    return {
        "metric": "NMSE" if metric == "nmse" else metric.replace("_", " "),
        "smaller_is_better": smaller,
        "model": found.models[0] if found.models else "",
        "folds": folds if splitter is None else splitter.get_n_splits(X, y, groups),
        "split": _how(splitter, groups),
        "points": points,
        "random": curves["random"],
        "all": curves["all"][0] if curves["all"] else None,
        "enough": _enough(points, smaller),
        "failures": [text_of(reason) for reason in dict.fromkeys(reasons)][:10],
    }


def _how(splitter: Any, groups: Any) -> str:
    if type(splitter).__name__ == "TimeSeriesSplit":
        return "in order of time"
    return "by groups" if groups is not None else "at random" if splitter is None else "as given"


def _point(size: int, scores: Array) -> Point:
    real = scores[~np.isnan(scores)]
    return {
        "columns": int(size),
        "mean": number(real.mean()) if len(real) else None,
        "spread": number(real.std(ddof=1)) if len(real) > 1 else None,
        "folds": len(real),
    }


def _enough(points: list[Point], smaller: bool) -> int | None:
    """The fewest columns whose mean is within one standard error of the best mean."""
    known = [(p["columns"], p["mean"] * (-1 if smaller else 1), p) for p in points if p["mean"] is not None]
    if not known:
        return None
    _, best, at = max(known, key=lambda entry: entry[1])
    error = (at["spread"] or 0.0) / np.sqrt(max(at["folds"], 1))
    return min(size for size, mean, _ in known if mean >= best - error)


def chance_after(selector: BaseSelector, X: Any, y: Any, sample_weight: Any, random_state: int) -> int | None:
    """Number of columns after which none tells more of the target than chance would; None if that is not known.

    It is 0 if no chosen column does. If all of them do, another fit with the rows says how many there are.
    """
    if not isinstance(selector, StreamingSelector) or selector.beyond_chance_ is None:
        return None
    known, after = len(selector.beyond_chance_), _last_told(selector)
    limits = {name: None for name in ("budget", "max_per_source") if getattr(selector, name, None) is not None}
    if after < known or (isinstance(selector.n_features_to_select, str) and not limits):
        return after
    if X is None or y is None:
        return None
    with _quiet():
        again = clone(selector).set_params(n_features_to_select="auto", task=selector.task_, **limits)
        if selector.random_state is None:
            again.set_params(random_state=random_state)
        return max(after, _last_told(again.fit(X, y, sample_weight)))


def _last_told(selector: StreamingSelector) -> int:
    """Place of the last chosen column that tells more than chance, from 1; 0 if none does."""
    told = selector.beyond_chance_
    return 0 if told is None or not told.any() else int(np.flatnonzero(told)[-1]) + 1
