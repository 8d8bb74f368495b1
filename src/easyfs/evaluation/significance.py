"""Which method is better, over several data sets, sizes or folds: ranks and tests."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from easyfs.common.types import Array

# What a Bayesian test knows beforehand: as much as half a table on which both methods are the same (Benavoli et al.).
PRIOR = 0.5
# Draws of a Bayesian test: probabilities are right to about 0.002.
DRAWS = 50_000
# Digits in which two scores must differ, as shares of the largest: the others are how a mean was added up.
DIGITS = 12


def without_rounding(scores: Array) -> Array:
    """Scores, where those of a row that differ in their last digits alone are equal: means of the same numbers tie."""
    size = np.max(np.abs(scores), axis=1, keepdims=True, initial=0.0, where=np.isfinite(scores))
    size = np.where(size > 0, size, 1.0)
    return np.asarray(np.round(scores / size, DIGITS) * size)


def ranks_of(scores: Array, blocks: Sequence[Hashable] | None = None) -> Array:
    """Ranks of the methods in each row, 1 is best; with ``blocks``, their means over the rows of each block.

    Parameters
    ----------
    scores : ndarray of shape (cells, methods)
        One row for each thing measured (a data set at a size, say), larger is better. NaN, a method that gave nothing,
        ranks last.
    blocks : sequence of labels, optional
        For each row what it belongs to, such as the table that it was measured on. Rows of one table are not independent:
        they are averaged, and the table counts once.
    """
    filled = np.where(np.isnan(scores), -np.inf, without_rounding(scores))
    ranked = np.array([rankdata(-row) for row in filled]).reshape(scores.shape)
    return ranked if blocks is None else block_means(ranked, blocks)


def block_means(values: Array, blocks: Sequence[Hashable]) -> Array:
    """Means over the rows of each block, blocks in the order in which they first appear; NaN does not count."""
    labels = list(dict.fromkeys(blocks))
    rows = np.array([labels.index(block) for block in blocks])
    found = np.full((len(labels), values.shape[1]), np.nan)
    for place in range(len(labels)):
        own = values[rows == place]
        there = ~np.isnan(own)
        found[place] = np.divide(
            np.where(there, own, 0.0).sum(axis=0), there.sum(axis=0), out=found[place], where=there.any(axis=0)
        )
    return found


def mean_ranks(scores: Array, blocks: Sequence[Hashable] | None = None) -> Array:
    """Mean rank of each method, 1 is best; over rows, or over blocks of rows (:func:`ranks_of`)."""
    return np.asarray(ranks_of(scores, blocks).mean(axis=0))


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
        Rows, or blocks of them, that the test is over.
    """

    statistic: float
    p_value: float
    ranks: Array
    critical_difference: float
    level: float
    n_cells: int


def friedman(scores: Array, level: float = 0.05, blocks: Sequence[Hashable] | None = None) -> Friedman:
    """Friedman's test over rows or blocks of rows, and the critical difference of mean ranks (Demsar, JMLR 7, 2006)."""
    ranked = ranks_of(scores, blocks)
    cells, methods = ranked.shape
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
class Posterior:
    """What is to be believed of two methods after some tables.

    Attributes
    ----------
    better, same, worse : float
        Probability that on a new table the first method is most likely better, that the two are most likely practically
        the same, and that the first is most likely worse.
    """

    better: float
    same: float
    worse: float


def signed_rank_posterior(differences: Array, rope: float = 0.0, *, draws: int = DRAWS, random_state: int = 0) -> Posterior:
    """The Bayesian signed-rank test (Benavoli, Corani, Mangili, Zaffalon and Ruggeri, ICML 2014).

    The distribution of differences is unknown, with a Dirichlet process as its prior: weights of the differences, and of a
    difference of 0 that counts as half a table, are drawn from a Dirichlet distribution. For each draw, means of two
    differences are better, the same (within ``rope``) or worse with some probability; the answer is how often each of the
    three is the most probable.

    Parameters
    ----------
    differences : ndarray of shape (tables,)
        One for each independent table, positive where the first method is better.
    rope : float, default=0
        Differences up to this are practically none (region of practical equivalence).
    draws : int, default=50000
        Number of draws.
    random_state : int, default=0
        Seed of the draws.
    """
    z = np.concatenate([[0.0], np.asarray(differences, dtype=np.float64)])
    rng = np.random.default_rng(random_state)
    weights = (
        rng.dirichlet(np.concatenate([[PRIOR], np.ones(len(z) - 1)]), size=draws) if len(z) > 1 else np.ones((draws, 1))
    )
    means = (z[:, None] + z[None, :]) / 2.0
    parts = [means > rope, np.abs(means) <= rope, means < -rope]
    shares = np.stack([((weights @ part) * weights).sum(axis=1) for part in parts], axis=1)
    first = shares >= shares.max(axis=1, keepdims=True) - 1e-12
    found = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
    return Posterior(*(float(value) for value in found))


@dataclass(frozen=True)
class Duel:
    """One method against another.

    Attributes
    ----------
    method, against : str
    wins, ties, losses : int
        Rows (or blocks of them) in which the method is better, as good, worse.
    difference : float
        Median difference, positive when the method is better.
    p_value : float
        Wilcoxon's signed-rank test, two-sided.
    p_holm : float
        The same, adjusted for the number of comparisons.
    posterior : Posterior
        The Bayesian signed-rank test.
    """

    method: str
    against: str
    wins: int
    ties: int
    losses: int
    difference: float
    p_value: float
    p_holm: float
    posterior: Posterior


def duels(
    scores: Array,
    names: list[str],
    method: str,
    tie: float = 0.0,
    *,
    rope: float = 0.0,
    blocks: Sequence[Hashable] | None = None,
) -> list[Duel]:
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
    rope : float, default=0
        Differences up to this are practically none in the Bayesian test.
    blocks : sequence of labels, optional
        For each row what it belongs to; differences of the rows of a block are averaged, and the block counts once.
    """
    scores = without_rounding(scores)
    own = scores[:, names.index(method)]
    raw = []
    for name in names:
        if name == method:
            continue
        gap = own - scores[:, names.index(name)]
        gap = gap if blocks is None else block_means(gap[:, None], blocks)[:, 0]
        gap = gap[~np.isnan(gap)]
        # Seen from either side; some versions of scipy do not give the same where differences are tied.
        p = max(float(wilcoxon(side).pvalue) for side in (gap, -gap)) if np.any(gap != 0) else float("nan")
        middle = float(np.median(gap)) if len(gap) else float("nan")
        counts = int((gap > tie).sum()), int((np.abs(gap) <= tie).sum()), int((gap < -tie).sum())
        raw.append((name, *counts, middle, p, signed_rank_posterior(gap, rope)))
    adjusted = holm(np.array([entry[5] for entry in raw]))
    return [Duel(method, *entry[:6], float(p), entry[6]) for entry, p in zip(raw, adjusted, strict=True)]
