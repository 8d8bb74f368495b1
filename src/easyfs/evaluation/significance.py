"""Which method is better, over several data sets, sizes or folds: ranks and tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from easyfs.common.types import Array


def mean_ranks(scores: Array) -> Array:
    """Mean rank of each method, 1 is best.

    Parameters
    ----------
    scores : ndarray of shape (cells, methods)
        One row for each thing measured (a data set at a size, say), larger is better. NaN, a method that gave nothing,
        ranks last.
    """
    filled = np.where(np.isnan(scores), -np.inf, scores)
    return np.asarray(np.mean([rankdata(-row) for row in filled], axis=0))


@dataclass(frozen=True)
class Friedman:
    """Friedman's test that all methods are alike.

    Attributes
    ----------
    statistic, p_value : float
    ranks : ndarray
        Mean rank of each method.
    critical_difference : float
        Mean ranks closer than this are not told apart by Nemenyi's test at ``level``.
    level : float
    n_cells : int
    """

    statistic: float
    p_value: float
    ranks: Array
    critical_difference: float
    level: float
    n_cells: int


def friedman(scores: Array, level: float = 0.05) -> Friedman:
    """Friedman's test over the rows, and the critical difference of mean ranks (Demsar, JMLR 7, 2006)."""
    cells, methods = scores.shape
    filled = np.where(np.isnan(scores), -np.inf, scores)
    ranked = np.array([rankdata(-row) for row in filled])
    statistic, p_value = float("nan"), float("nan")
    if methods > 2 and cells > 1:
        if (ranked == ranked[:, :1]).all():
            statistic, p_value = 0.0, 1.0  # all methods tie everywhere
        else:
            found = friedmanchisquare(*ranked.T)
            statistic, p_value = float(found.statistic), float(found.pvalue)
    return Friedman(statistic, p_value, ranked.mean(axis=0), critical_difference(cells, methods, level), level, cells)


def critical_difference(cells: int, methods: int, level: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks."""
    if methods < 2:
        return float("nan")
    quantile = studentized_range.ppf(1.0 - level, methods, np.inf) / np.sqrt(2.0)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6.0 * cells)))


def holm(p_values: Array) -> Array:
    """p-values adjusted for their number by Holm's step-down procedure; NaN stays NaN and does not count."""
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    real = np.flatnonzero(~np.isnan(p))
    order = real[np.argsort(p[real], kind="stable")]
    worst = 0.0
    for place, index in enumerate(order):
        worst = max(worst, min(1.0, (len(order) - place) * p[index]))
        adjusted[index] = worst
    return adjusted


@dataclass(frozen=True)
class Duel:
    """One method against another.

    Attributes
    ----------
    method, against : str
    wins, ties, losses : int
        Rows in which the method is better, as good, worse.
    difference : float
        Median difference, positive when the method is better.
    p_value : float
        Wilcoxon's signed-rank test, two-sided.
    p_holm : float
        The same, adjusted for the number of comparisons.
    """

    method: str
    against: str
    wins: int
    ties: int
    losses: int
    difference: float
    p_value: float
    p_holm: float


def duels(scores: Array, names: list[str], method: str, tie: float = 0.0) -> list[Duel]:
    """Compare one method with each other, on the rows where both gave something.

    Parameters
    ----------
    scores : ndarray of shape (cells, methods)
        Larger is better.
    names : list of str
        Names of the methods.
    method : str
        The one that is compared.
    tie : float, default=0
        Differences up to this are ties in the count (not in the test).
    """
    own = scores[:, names.index(method)]
    raw = []
    for name in names:
        if name == method:
            continue
        gap = own - scores[:, names.index(name)]
        gap = gap[~np.isnan(gap)]
        # Seen from either side; some versions of scipy do not give the same where differences are tied.
        p = max(float(wilcoxon(side).pvalue) for side in (gap, -gap)) if np.any(gap != 0) else float("nan")
        middle = float(np.median(gap)) if len(gap) else float("nan")
        raw.append((name, int((gap > tie).sum()), int((np.abs(gap) <= tie).sum()), int((gap < -tie).sum()), middle, p))
    adjusted = holm(np.array([entry[5] for entry in raw]))
    return [Duel(method, *entry, float(p)) for entry, p in zip(raw, adjusted, strict=True)]
