"""What is measured: scores of a model on held-out rows, and how stable a choice of columns is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, balanced_accuracy_score, get_scorer

from easyfs.common.types import Array

Metric = Callable[[Any, Array, Array], float]


def nmse(y_true: Any, y_pred: Any) -> float:
    """Normalised mean squared error: squared error relative to predicting the mean of these very rows.

    Several targets: the mean over them. 0 is perfect, 1 is no better than the mean.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, t)
        The targets.
    y_pred : array-like of shape (n,) or (n, t)
        What a model predicts.

    Returns
    -------
    float
        NaN where a target does not vary.

    Examples
    --------
    >>> from easyfs.evaluation import nmse
    >>> nmse([1, 2, 3], [1, 2, 3]), nmse([1, 2, 3], [2, 2, 2])
    (0.0, 1.0)
    """
    truth, guess = np.asarray(y_true, dtype=np.float64), np.asarray(y_pred, dtype=np.float64)
    truth, guess = truth.reshape(len(truth), -1), guess.reshape(len(guess), -1)
    error = ((guess - truth) ** 2).sum(axis=0)
    spread = ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)
    if (truth == truth[:1]).all(axis=0).any() or not (spread > 0).all():
        return float("nan")  # one row, or rows that are all the same: there is nothing to relate the error to
    return float((error / spread).mean())


def _by_prediction(function: Callable[[Any, Any], float], model: Any, X: Array, y: Array) -> float:
    return float(function(y, model.predict(X)))


NAMED: dict[str, Metric] = {
    "accuracy": partial(_by_prediction, accuracy_score),
    "balanced_accuracy": partial(_by_prediction, balanced_accuracy_score),
    "nmse": partial(_by_prediction, nmse),
}
# Measures of which less is better; the scorers of scikit-learn are all larger-is-better.
SMALLER_IS_BETTER = (NAMED["nmse"],)
DEFAULT_METRICS = {"classification": ("accuracy", "balanced_accuracy"), "regression": ("nmse",)}


def resolve_metrics(metrics: Any, task: str, several: bool = False) -> dict[str, Metric]:
    """Measures by name: our own, any scorer of scikit-learn by name, or callables ``score(model, X, y)``."""
    if metrics is None:
        metrics = DEFAULT_METRICS[task]
        if several and task == "classification":
            metrics = ("accuracy",)  # there is no balanced accuracy of several labels
    if isinstance(metrics, str) or callable(metrics) or not isinstance(metrics, Iterable):
        metrics = [metrics]
    if isinstance(metrics, Mapping):
        pairs = [(str(name), metric) for name, metric in metrics.items()]
    else:
        pairs = [(m if isinstance(m, str) else getattr(m, "__name__", repr(m)), m) for m in metrics]
    found: dict[str, Metric] = {}
    for name, metric in pairs:
        if name in found:
            raise ValueError(f"two metrics are called {name!r}; give them as a dictionary, label to metric.")
        found[name] = _resolve(metric)
    if not found:
        raise ValueError("metrics is empty; leave it out for the usual ones, or name at least one.")
    return found


def _resolve(metric: Any) -> Metric:
    if isinstance(metric, str):
        if metric in NAMED:
            return NAMED[metric]
        try:
            scorer: Metric = get_scorer(metric)
        except ValueError as error:
            raise ValueError(
                f"metrics has {metric!r}, which is neither {', '.join(repr(n) for n in NAMED)} nor a scorer of "
                "scikit-learn (sklearn.metrics.get_scorer_names() lists those)."
            ) from error
        return scorer
    if not callable(metric):
        raise ValueError(f"metrics has {metric!r}; give a name or a callable score(model, X, y).")
    resolved: Metric = metric
    return resolved


def name_of(metric: Metric) -> Any:
    """The name of one of our own measures, which stays the same over versions of Python; any other measure itself."""
    return next((name for name, own in NAMED.items() if own is metric), metric)


def nogueira_stability(chosen: Any, n_columns: int) -> float:
    """Stability of several selections of columns, corrected for chance (Nogueira, Sechidis and Brown, JMLR 18, 2018).

    Parameters
    ----------
    chosen : list of sequences of int
        The columns chosen in each run.
    n_columns : int
        Number of columns there are.

    Returns
    -------
    float
        1 when all runs chose the same columns, about 0 when they chose at random; NaN for fewer than two runs, or when all
        runs chose all columns or none.

    Examples
    --------
    >>> from easyfs.evaluation import nogueira_stability
    >>> nogueira_stability([[0, 1], [0, 1], [0, 1]], n_columns=10)
    1.0
    >>> round(nogueira_stability([[0, 1], [0, 2], [0, 3]], n_columns=10), 3)
    0.375
    """
    runs = len(chosen)
    if runs < 2:
        return float("nan")
    picked = np.zeros((runs, n_columns))
    for row, columns in zip(picked, chosen, strict=True):
        row[np.asarray(columns, dtype=np.intp)] = 1.0
    share = picked.mean(axis=0)
    variance = runs / (runs - 1) * share * (1.0 - share)
    mean_size = picked.sum(axis=1).mean() / n_columns
    by_chance = mean_size * (1.0 - mean_size)
    return float(1.0 - variance.mean() / by_chance) if by_chance > 0 else float("nan")


def jaccard_stability(chosen: Any) -> float:
    """Mean Jaccard index over all pairs of runs: shared columns over all columns of either.

    Parameters
    ----------
    chosen : list of sequences of int
        The columns chosen in each run.

    Returns
    -------
    float
        1 when all runs chose the same columns, 0 when no two share one; NaN for fewer than two runs.

    Examples
    --------
    >>> from easyfs.evaluation import jaccard_stability
    >>> round(jaccard_stability([[0, 1], [0, 2]]), 3)
    0.333
    """
    sets = [frozenset(int(c) for c in columns) for columns in chosen]
    if len(sets) < 2:
        return float("nan")
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[i + 1 :]]
    return float(np.mean([len(a & b) / len(a | b) if a | b else 1.0 for a, b in pairs]))
