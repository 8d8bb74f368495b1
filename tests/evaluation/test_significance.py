"""Ranks and tests against loops, scipy and the tables of Demsar 2006."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import friedmanchisquare

from easyfs.evaluation.significance import (
    PRIOR,
    block_means,
    critical_difference,
    duels,
    friedman,
    holm,
    mean_ranks,
    signed_rank_posterior,
)

SCORES = st.one_of(st.integers(0, 4).map(float), st.just(float("nan")))

# Demsar, Statistical comparisons of classifiers over multiple data sets, JMLR 7, 2006, table 5 (a).
Q_05 = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
Q_10 = {2: 1.645, 3: 2.052, 4: 2.291, 5: 2.459, 6: 2.589, 7: 2.693, 8: 2.780, 9: 2.855, 10: 2.920}
# Table 6: ranks of C4.5 and three variants of it on 14 data sets.
DEMSAR = np.array(
    [
        [4, 3, 2, 1],
        [1, 2, 3, 4],
        [4, 1, 2, 3],
        [4, 1, 3, 2],
        [4, 2, 3, 1],
        [1, 2.5, 4, 2.5],
        [3, 2, 4, 1],
        [2.5, 2.5, 4, 1],
        [4, 3, 2, 1],
        [2.5, 2.5, 2.5, 2.5],
        [4, 2.5, 1, 2.5],
        [3, 2, 4, 1],
        [4, 1, 2, 3],
        [3, 1, 4, 2],
    ]
)


def slow_rank(row: np.ndarray, method: int) -> float:
    """1 + how many are better, and half of those that are as good; NaN is worse than anything."""
    own = row[method]
    better = as_good = 0
    for other in np.delete(row, method):
        if np.isnan(own) and np.isnan(other):
            as_good += 1
        elif not np.isnan(other) and (np.isnan(own) or other > own):
            better += 1
        elif other == own:
            as_good += 1
    return 1 + better + as_good / 2


@given(st.integers(1, 6).flatmap(lambda k: arrays(np.float64, st.tuples(st.integers(1, 5), st.just(k)), elements=SCORES)))
def test_mean_ranks_equal_the_loop(scores: np.ndarray) -> None:
    expected = [np.mean([slow_rank(row, m) for row in scores]) for m in range(scores.shape[1])]
    np.testing.assert_allclose(mean_ranks(scores), expected, atol=1e-12)
    np.testing.assert_allclose(friedman(scores).ranks, expected, atol=1e-12)


@given(
    st.integers(1, 6).flatmap(lambda k: arrays(np.float64, st.tuples(st.integers(1, 5), st.just(k)), elements=SCORES)),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1e-9, 1.0, 1e9]),
)
def test_last_digits_do_not_rank(scores: np.ndarray, seed: int, unit: float) -> None:
    noise = 1.0 + 4e-16 * np.random.default_rng(seed).integers(-3, 4, scores.shape)
    near = (scores + 1.0) * unit * noise
    np.testing.assert_array_equal(mean_ranks(near), mean_ranks(scores))
    if scores.shape[1] > 1:
        names = [str(j) for j in range(scores.shape[1])]
        for found, expected in zip(duels(near, names, "0"), duels(scores, names, "0"), strict=True):
            assert (found.wins, found.ties, found.losses) == (expected.wins, expected.ties, expected.losses)


def test_mean_ranks_by_hand() -> None:
    scores = np.array([[0.9, 0.8, 0.8, np.nan], [np.nan, 0.5, 0.6, np.nan]])
    np.testing.assert_allclose(mean_ranks(scores), [(1 + 3.5) / 2, (2.5 + 2) / 2, (2.5 + 1) / 2, (4 + 3.5) / 2])


@pytest.mark.parametrize(("level", "table"), [(0.05, Q_05), (0.10, Q_10)])
def test_critical_values_are_those_of_demsar(level: float, table: dict[int, float]) -> None:
    for methods, q in table.items():
        found = critical_difference(1, methods, level) / np.sqrt(methods * (methods + 1) / 6)
        assert found == pytest.approx(q, abs=0.0011), methods
        assert critical_difference(25, methods, level) == pytest.approx(critical_difference(1, methods, level) / 5)


def test_the_example_of_demsar() -> None:
    found = friedman(-DEMSAR)
    np.testing.assert_allclose(found.ranks, [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert found.critical_difference == pytest.approx(1.25, abs=0.005)
    assert friedman(-DEMSAR, level=0.1).critical_difference == pytest.approx(1.12, abs=0.005)
    assert (found.n_cells, found.level) == (14, 0.05)
    # The paper has 9.28, without the correction for ties that scipy makes: three pairs and one row of four.
    ties = 1 - (3 * (2**3 - 2) + (4**3 - 4)) / (14 * 4 * (4**2 - 1))
    assert found.statistic * ties == pytest.approx(9.28, abs=0.01)
    assert found.p_value < 0.05


def test_friedman_equals_scipy() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = rng.integers(0, 6, (rng.integers(2, 9), rng.integers(3, 6))).astype(np.float64)
        scores[0] = rng.permutation(scores.shape[1])
        expected = friedmanchisquare(*scores.T)
        found = friedman(scores)
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))


def test_friedman_without_enough_to_test() -> None:
    two = friedman(np.array([[1.0, 2.0], [1.0, 3.0]]))
    assert np.isnan(two.statistic)
    assert np.isnan(two.p_value)
    assert two.ranks.tolist() == [2.0, 1.0]
    one = friedman(np.array([[1.0, 2.0, 3.0]]))
    assert np.isnan(one.p_value)
    assert np.isnan(critical_difference(10, 1))


@pytest.mark.parametrize("fill", [0.7, np.nan])
def test_methods_that_tie_everywhere_are_alike(fill: float) -> None:
    found = friedman(np.full((5, 4), fill))
    assert (found.statistic, found.p_value) == (0.0, 1.0)
    assert found.ranks.tolist() == [2.5] * 4
    duel = duels(np.full((5, 2), fill), ["a", "b"], "a")[0]
    assert (duel.wins, duel.losses) == (0, 0)
    assert duel.ties == (0 if np.isnan(fill) else 5)
    assert np.isnan(duel.p_value)
    assert np.isnan(duel.p_holm)


def slow_holm(p: list[float]) -> list[float]:
    """The smallest level at which the step-down procedure rejects each, from its definition."""

    def rejected(level: float) -> set[int]:
        found: set[int] = set()
        for place, index in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
            if p[index] * (len(p) - place) > level + 1e-12:
                break
            found.add(index)
        return found

    levels = sorted({min(1.0, value * m) for value in p for m in range(1, len(p) + 1)} | {1.0})
    return [next((level for level in levels if i in rejected(level)), 1.0) for i in range(len(p))]


def test_holm_by_hand() -> None:
    np.testing.assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.005])), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm(np.array([0.01, np.nan, 0.04])), [0.02, np.nan, 0.04])
    np.testing.assert_allclose(holm(np.array([0.6, 0.7])), [1.0, 1.0])
    assert holm(np.array([])).shape == (0,)
    assert np.isnan(holm(np.array([np.nan]))).all()


@given(st.lists(st.integers(0, 1000).map(lambda value: value / 1000), min_size=1, max_size=8))
def test_holm_equals_the_procedure(p: list[float]) -> None:
    np.testing.assert_allclose(holm(np.array(p)), slow_holm(p), atol=1e-12)


def exact_wilcoxon(gap: np.ndarray) -> float:
    """Two-sided, by all signs that the ranks may have."""
    ranks = np.argsort(np.argsort(np.abs(gap))) + 1
    total = sum(ranks)
    seen = sum(ranks[gap > 0])
    sums = [
        sum(r for r, plus in zip(ranks, signs, strict=True) if plus) for signs in itertools.product([0, 1], repeat=len(gap))
    ]
    extreme = sum(abs(s - total / 2) >= abs(seen - total / 2) for s in sums)
    return extreme / len(sums)


def test_duels_count_and_test() -> None:
    rng = np.random.default_rng(3)
    scores = rng.standard_normal((9, 3)) + np.array([0.8, 0.0, 0.4])
    found = duels(scores, ["mine", "x", "y"], "mine", tie=0.25)
    assert [(duel.method, duel.against) for duel in found] == [("mine", "x"), ("mine", "y")]
    for duel, other in zip(found, scores.T[1:], strict=True):
        wins = ties = losses = 0
        for a, b in zip(scores[:, 0], other, strict=True):
            wins, ties, losses = wins + (a - b > 0.25), ties + (abs(a - b) <= 0.25), losses + (b - a > 0.25)
        assert (duel.wins, duel.ties, duel.losses) == (wins, ties, losses)
        assert duel.difference == pytest.approx(sorted(scores[:, 0] - other)[4])
        assert duel.p_value == pytest.approx(exact_wilcoxon(scores[:, 0] - other))
    np.testing.assert_allclose([duel.p_holm for duel in found], slow_holm([duel.p_value for duel in found]))


def test_duels_take_the_rows_in_which_both_gave_something() -> None:
    scores = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 1.0], [4.0, 5.0], [2.0, 2.0], [np.nan, np.nan]])
    (duel,) = duels(scores, ["a", "b"], "a")
    assert (duel.wins, duel.ties, duel.losses) == (1, 1, 1)
    assert duel.difference == 0.0


@settings(max_examples=25)
@given(
    st.integers(1, 8).flatmap(lambda n: arrays(np.float64, (n, 3), elements=SCORES)),
)
def test_a_duel_seen_from_the_other_side(scores: np.ndarray) -> None:
    names = ["a", "b", "c"]
    for one, other in itertools.combinations(names, 2):
        here: Any = next(duel for duel in duels(scores, names, one) if duel.against == other)
        there: Any = next(duel for duel in duels(scores, names, other) if duel.against == one)
        assert (here.wins, here.ties, here.losses) == (there.losses, there.ties, there.wins)
        both = ~np.isnan(scores[:, [names.index(one), names.index(other)]]).any(axis=1)
        assert here.wins + here.ties + here.losses == both.sum()
        np.testing.assert_equal(here.p_value, there.p_value)
        assert np.isnan(here.p_value) or 0 <= here.p_value <= 1


def test_a_table_counts_once_however_often_it_is_measured() -> None:
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((5, 4))
    often = np.repeat(scores, [1, 4, 2, 1, 3], axis=0)
    blocks = np.repeat(["a", "b", "c", "d", "e"], [1, 4, 2, 1, 3]).tolist()
    np.testing.assert_allclose(mean_ranks(often, blocks), mean_ranks(scores))
    once, again = friedman(scores), friedman(often, blocks=blocks)
    assert (again.n_cells, again.p_value) == (5, pytest.approx(once.p_value))
    assert again.critical_difference == pytest.approx(once.critical_difference)
    names = ["w", "x", "y", "z"]
    for a, b in zip(duels(scores, names, "x"), duels(often, names, "x", blocks=blocks), strict=True):
        assert (a.wins, a.ties, a.losses, a.against) == (b.wins, b.ties, b.losses, b.against)
        assert a.p_value == pytest.approx(b.p_value)
    # Cells that are taken as independent are surer of themselves.
    assert friedman(often).critical_difference < once.critical_difference


def test_means_of_blocks_by_hand() -> None:
    values = np.array([[1.0, np.nan], [3.0, np.nan], [5.0, 2.0], [np.nan, 4.0]])
    np.testing.assert_array_equal(block_means(values, ["b", "b", "a", "a"]), [[2.0, np.nan], [5.0, 3.0]])


@pytest.mark.parametrize(
    ("difference", "expected"), [(1.0, (2**-0.25, 1 - 2**-0.25, 0)), (-1.0, (0, 1 - 2**-0.25, 2**-0.25))]
)
def test_one_table_in_closed_form(difference: float, expected: tuple[float, float, float]) -> None:
    """The weight w of "no difference" has a Beta(1/2, 1) law, and "better" has 1 - w^2, which is the most if w < 2^-1/2."""
    assert PRIOR == 0.5
    found = signed_rank_posterior(np.array([difference]), 0.1)
    np.testing.assert_allclose((found.better, found.same, found.worse), expected, atol=0.006)


def test_the_bayesian_test_against_loops() -> None:
    rng = np.random.default_rng(1)
    for rope in (0.0, 0.3):
        z = rng.normal(0.3, 1.0, 7)
        found = signed_rank_posterior(z, rope)
        counts = np.zeros(3)
        padded = [0.0, *z]
        for _ in range(3000):
            w = rng.gamma([0.5] + [1.0] * 7)
            w /= w.sum()
            share = np.zeros(3)
            for i, j in itertools.product(range(8), range(8)):
                middle = (padded[i] + padded[j]) / 2
                share[0 if middle > rope else 2 if middle < -rope else 1] += w[i] * w[j]
            counts[np.argmax(share)] += 1 / 3000
        np.testing.assert_allclose((found.better, found.same, found.worse), counts, atol=0.04)


def test_the_bayesian_test_is_fair() -> None:
    z = np.random.default_rng(0).normal(0.5, 1.0, 9)
    one, other = signed_rank_posterior(z, 0.2), signed_rank_posterior(-z, 0.2)
    assert (one.better, one.same, one.worse) == pytest.approx((other.worse, other.same, other.better), abs=1e-9)
    assert one.better + one.same + one.worse == pytest.approx(1.0)
    assert signed_rank_posterior(np.full(10, 0.05), 0.1).same == 1.0
    assert signed_rank_posterior(np.full(10, 1.0), 0.1).better > 0.99
    assert signed_rank_posterior(np.zeros(0), 0.1).same == 1.0
    # Where there is nothing to find, either side comes out ahead as often.
    draws = np.random.default_rng(2).standard_normal((60, 12))
    ahead = np.mean([signed_rank_posterior(d, 0.0, draws=2000).better for d in draws])
    assert abs(ahead - 0.5) < 0.12
