"""The law of chance: what the best of many unrelated columns tells, against exact laws, permutations and many tables."""

import numpy as np
import pytest
from scipy import stats

from easyfs import EasyFS
from easyfs.passes.choose import _task
from easyfs.passes.choosing import Chooser
from easyfs.passes.scale import input_scale
from easyfs.sample.chance import Chance, Gumbel, group_score, largest_scores, score, share_of, tail
from easyfs.sample.rows import take_sample


def chooser_of(X, y, weight=None, **options):
    """What "auto" would choose from, before its first step."""
    task = "classification" if np.asarray(y).dtype.kind == "i" else "regression"
    settings = {"task": task, "n_hidden": 0, "interactions": False, "predicted_share": 0, "random_state": 0} | options
    selector = EasyFS(**settings).partial_fit(X, y, weight)
    statistics, constraints = selector._statistics, selector._constraints()
    moment = statistics.joint()
    scale = input_scale(moment, statistics.observed, selector.plan_, constraints.excluded)
    return Chooser(_task(selector.plan_, statistics, (moment, scale), constraints, 0.2, 0.0))


def chances_of(X, y, weight=None, **options):
    """For each column the chance that the best of as many unrelated ones would tell as much."""
    return p_values(chooser_of(X, y, weight, **options))


def p_values(chooser):
    return chooser.task.chance.law.p_value(chooser.scores())


def shares_beyond(X, y, selected=()):
    """Share of what is left of a target that each column explains beyond some, by least squares."""
    q = np.linalg.qr(np.column_stack([np.ones(len(X)), X[:, list(selected)]]))[0]
    left, target = X - q @ (q.T @ X), y - q @ (q.T @ y)
    shares = (left.T @ target) ** 2 / np.square(left).sum(axis=0) / (target @ target)
    shares[list(selected)] = 0.0
    return shares


# --- scores ---


@pytest.mark.parametrize("terms", [1, 3, 29])
@pytest.mark.parametrize("free", [60, 300, 5000])
@pytest.mark.parametrize("p", [0.5, 0.05, 1e-3, 1e-6, 1e-10])
def test_the_tail_of_a_share_is_that_of_its_beta_law(p, free, terms):
    share = stats.beta.isf(p, terms / 2, (free - terms) / 2)
    found = tail(score(np.array([share]), free, float(terms), 2.0 * terms))
    assert found[0] == pytest.approx(-np.log(p), rel=0.2, abs=0.05)


def test_a_larger_share_has_a_larger_score_and_long_tails_a_smaller_one():
    shares = np.linspace(0.0, 1.0, 101)
    scores = score(shares, 100.0, 2.0, 4.0)
    assert (np.diff(scores) > 0).all()
    assert np.isfinite(scores).all()
    assert (score(shares[20:], 100.0, 2.0, 12.0) < scores[20:]).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_column_that_explains_all_has_a_finite_score(dtype):
    found = score(np.ones(3, dtype=dtype), 30.0, 1.0, 2.0)
    assert np.isfinite(found).all()
    assert (tail(found) > 50.0).all()


def test_the_share_of_a_score_has_that_score():
    spread = np.array([1.0, 4.0, 9.0])
    for z in (-0.5, 0.5, 3.0, 12.0):
        np.testing.assert_allclose(score(share_of(z, 80.0, 2.0, spread), 80.0, 2.0, spread), z, atol=1e-9)
    assert share_of(-50.0, 80.0, 2.0, spread).tolist() == [0.0] * 3


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("free", [5.0, 60.0, 2000.0])
@pytest.mark.parametrize("terms", [1.0, 3.0])
def test_the_largest_scores_are_those_of_all_scores(terms, free, dtype):
    rng = np.random.default_rng(int(free + terms))
    share = rng.beta(terms / 2.0, free / 2.0, (700, 24)).astype(dtype)
    share[rng.random(share.shape) < 0.2] = 0.0
    spread = 2.0 * terms * rng.uniform(0.3, 30.0, 700)  # tails of all lengths: the largest share seldom wins
    every = score(share, free, terms, spread[:, None])
    np.testing.assert_array_equal(largest_scores(share, free, terms, spread), every.max(axis=0))
    assert (every.argmax(axis=0) != share.argmax(axis=0)).mean() > 0.2


@pytest.mark.parametrize(("rank", "width"), [(1, 5), (3, 2), (2, 2)])
def test_the_score_of_a_random_group_is_about_standard_normal(rank, width):
    rng = np.random.default_rng(rank)
    n, found = 200, []
    for _ in range(500):
        X, Y = (np.linalg.qr(a - a.mean(axis=0))[0] for a in (rng.standard_normal((n, k)) for k in (width, rank)))
        told = np.array(np.square(X.T @ Y).sum())
        found.append(float(group_score(told, n - 1.0, rank, width, 2.0 * rank * width)))
    assert stats.kstest(found, "norm").pvalue > 1e-3


def test_a_gumbel_law_is_found_from_its_draws():
    drawn = stats.gumbel_r.rvs(3.0, 1.5, size=20_000, random_state=0)
    law = Gumbel.fitted(drawn)
    assert law.place == pytest.approx(3.0, abs=0.05)
    assert law.scale == pytest.approx(1.5, abs=0.05)
    scores = np.array([-3.0, 0.0, 2.0, 5.0, 9.0])
    np.testing.assert_allclose(law.p_value(scores), stats.gumbel_r.sf(tail(scores), law.place, law.scale), rtol=1e-9)
    assert (law.p_value(np.array([25.0])) > 0).all()


@pytest.mark.parametrize("level", [0.5, 0.02, 1e-6])
def test_the_bar_is_the_score_whose_p_value_is_the_level(level):
    law = Gumbel(4.0, 1.2)
    assert law.p_value(np.array([law.bar(level)]))[0] == pytest.approx(level, rel=1e-6)
    assert Gumbel(np.inf, 1.0).bar(level) == np.inf


# --- p-values ---


def zipf(rng, n, levels):
    share = 1.0 / np.arange(1, levels + 1)
    return rng.choice(levels, n, p=share / share.sum())


def positives(rng, n, count):
    return rng.permutation((np.arange(n) < count).astype(int))


def balanced(rng, n, count):
    y = positives(rng, n, count)
    return y, (n / np.bincount(y))[y]


def bootstrapped(rng):
    rows = rng.integers(0, 400, 400)
    return rng.standard_normal((400, 50))[rows], rng.standard_normal(400)[rows]


NOISE = {
    "normal": lambda rng: (rng.standard_normal((300, 50)), rng.standard_normal(300)),
    "three targets": lambda rng: (rng.standard_normal((300, 50)), rng.standard_normal((300, 3))),
    "few rows": lambda rng: (rng.standard_normal((40, 100)), rng.standard_normal(40)),
    "three small classes": lambda rng: (rng.standard_normal((30, 20)), rng.permutation(np.arange(30) % 3)),
    "rare ones": lambda rng: ((rng.random((1000, 60)) < 0.005).astype(float), positives(rng, 1000, 20)),
    "eight unequal classes": lambda rng: (rng.standard_t(3, (200, 20)), zipf(rng, 200, 8)),
    "30 unequal classes": lambda rng: (rng.standard_t(3, (600, 40)), zipf(rng, 600, 30)),
    "Cauchy": lambda rng: (rng.standard_cauchy((300, 50)), rng.standard_cauchy(300)),
    "class-balanced weights": lambda rng: (rng.standard_normal((500, 50)), *balanced(rng, 500, 50)),
    "exponential weights": lambda rng: (
        rng.standard_normal((400, 50)),
        rng.standard_normal(400),
        rng.exponential(size=400),
    ),
    "whole weights": lambda rng: (
        rng.standard_normal((400, 50)),
        rng.standard_normal(400),
        rng.integers(1, 5, 400).astype(float),
    ),
    "bootstrapped rows": bootstrapped,
    "more rows than the sample": lambda rng: (rng.standard_normal((5000, 20)), rng.standard_normal(5000)),
    "a rare class of many rows": lambda rng: (
        (rng.random((10_000, 20)) < 0.01).astype(float),
        positives(rng, 10_000, 200),
    ),
}


# What takes long, and is much like others.
LONG = ("30 unequal classes", "a rare class of many rows", "more rows than the sample")


@pytest.mark.parametrize("kind", [pytest.param(kind, marks=[pytest.mark.slow] if kind in LONG else []) for kind in NOISE])
def test_the_p_value_of_the_best_of_many_columns_of_noise_is_about_uniform(kind):
    p = np.array([chances_of(*NOISE[kind](np.random.default_rng(seed))).min() for seed in range(60)])
    assert (p < 0.03).mean() <= 0.1  # 0.03, and three deviations of 60
    assert (p < 0.1).mean() <= 0.2
    assert 0.33 <= (p < 0.5).mean() <= 0.67
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_the_p_value_of_the_best_of_many_categories_of_noise_is_about_uniform():
    p = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        levels = np.concatenate([np.eye(6)[rng.integers(0, 6, 400)] for _ in range(12)], axis=1)
        p.append(chances_of(levels, rng.standard_normal(400), feature_groups=np.repeat(np.arange(12), 6)).min())
    p = np.array(p)
    assert (p < 0.03).mean() <= 0.1
    assert 0.3 <= (p < 0.5).mean() <= 0.7


@pytest.mark.parametrize("effect", [0.0, 0.25, 0.4])
def test_p_values_are_those_of_permutations(effect):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 15))
    y = rng.standard_normal(80) + effect * X[:, 4]
    largest = np.array([shares_beyond(X, rng.permutation(y)).max() for _ in range(4000)])
    expected = (largest >= shares_beyond(X, y).max()).mean()
    found = np.mean([chances_of(X, y, random_state=seed, clip=None).min() for seed in range(10)])
    assert found == pytest.approx(expected, rel=0.4, abs=0.002)


@pytest.mark.parametrize("kind", ["normal", "rare ones", "unequal classes"])
def test_the_law_is_that_of_permutations_of_the_sample(kind):
    rng = np.random.default_rng(5)
    n, d = 300, 30
    X = (rng.random((n, d)) < 0.02).astype(float) if kind == "rare ones" else rng.standard_normal((n, d))
    y = {"normal": rng.standard_normal(n), "rare ones": positives(rng, n, 12), "unequal classes": zipf(rng, n, 8)}[kind]
    Y = np.eye(8)[y] if kind == "unequal classes" else y[:, None].astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    sample = take_sample(X, Y, 0)
    laws = [Chance(sample, [], np.ones(d, dtype=bool), seed) for seed in range(10)]
    Y = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)[0][:, : max(1, Y.shape[1] - 1)]
    r = Y.shape[1]
    spread = laws[0].spread(float(r), laws[0].tails_of, n, laws[0].tails_of_target)
    largest = []
    for _ in range(1500):
        shares = np.square(X.T @ Y[rng.permutation(n)]).sum(axis=1) / np.square(X).sum(axis=0)
        largest.append(score(shares, n - 1.0, float(r), spread).max())
    p = np.concatenate([chance.law.p_value(np.array(largest)) for chance in laws])
    for level in (0.03, 0.1, 0.5):
        assert (p < level).mean() == pytest.approx(level, rel=0.5)


@pytest.mark.parametrize("effect", [0.0, 0.6, 1.0])
def test_few_rows_and_many_selected_columns_have_the_exact_beta_bar(effect):
    n, k, d = 40, 20, 60
    ratios = []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, d))
        y = rng.standard_normal(n) + effect * X[:, 50]
        chooser = chooser_of(X, y, include=list(range(k)), clip=None)
        chooser.task.chance.refresh(np.arange(k))
        best = shares_beyond(X, y, range(k)).max()
        exact = -np.expm1((d - k) * np.log1p(-stats.beta.sf(best, 0.5, (n - 1 - k - 1) / 2)))
        ratios.append(np.log(p_values(chooser).min() / exact))
    assert abs(np.median(ratios)) < 0.3
    assert np.abs(ratios).max() < 3.5


def test_a_group_whose_columns_tell_together_has_the_p_value_of_all_of_them():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((400, 40))
    y = 0.12 * X[:, :10].sum(axis=1) + rng.standard_normal(400)
    alone = chances_of(X, y)
    together = chances_of(X, y, feature_groups=[0] * 10 + list(range(1, 31)))
    assert len(np.unique(together[:10])) == 1
    assert together[0] < 1e-3 < alone[:10].min()
    assert together[10:].min() > 0.03


def test_no_rows_to_spare_mean_no_surprise():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((12, 30)), rng.standard_normal(12)
    chooser = chooser_of(X, y, include=list(range(11)))
    np.testing.assert_array_equal(chooser.scores(), -np.inf)
    assert not chooser.telling()[0].any()


def test_a_target_that_is_explained_leaves_nothing_to_tell():
    X = np.random.default_rng(0).standard_normal((200, 10))
    chooser = chooser_of(X, X[:, 2] - X[:, 5], clip=None)
    assert p_values(chooser)[[2, 5]].max() < 1e-20
    chooser.take(np.array([2, 5]))
    np.testing.assert_array_equal(chooser.scores(), -np.inf)
    assert not chooser.telling()[0].any()


def test_one_seed_measures_one_law_and_the_order_of_columns_does_not_matter():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((150, 30)), rng.standard_normal(150)
    first, again = (chances_of(X, y, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    order = rng.permutation(30)
    np.testing.assert_allclose(chances_of(X[:, order], y, random_state=3), first[order], rtol=1e-3)


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_integer_weights_and_repeated_rows_have_the_same_p_values(task):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((150, 30))
    y = X[:, 3] + rng.standard_normal(150)
    y = (y > 0).astype(int) if task == "classes" else y
    weight = rng.integers(1, 5, 150)
    weighed = chances_of(X, y, weight.astype(float))
    repeated = chances_of(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighed, repeated, rtol=1e-6)
    once = chances_of(X, y)
    assert repeated[3] < 1e-4
    assert np.log(repeated[3]) > 1.5 * np.log(once[3])  # four times the same row is no evidence


@pytest.mark.parametrize("size", [2.0, 1000.0])
@pytest.mark.parametrize("values", ["normal", "rounded", "markers"])
def test_the_size_of_the_weights_is_no_evidence(values, size):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 3, (200, 30)).astype(float) if values == "markers" else rng.standard_normal((200, 30))
    X = np.round(X, 1) if values == "rounded" else X
    y = 0.4 * X[:, 3] + rng.standard_normal(200)
    weight = rng.integers(1, 4, 200).astype(float)
    found = chances_of(X, y, size * weight)
    expected = chances_of(X, y, weight / 3.0)  # no whole numbers
    assert np.log(found[3]) == pytest.approx(np.log(expected[3]), rel=0.4)
    assert np.delete(found, 3).min() > 0.01
    assert np.delete(expected, 3).min() > 0.01
