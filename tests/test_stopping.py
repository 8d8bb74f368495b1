"""How many features: counts and shares, and the null distributions behind "auto"."""

import numpy as np
import pytest
from scipy.stats import chi2

from easyfs.stopping import NullGain, effective_share, null_relevance, quadratic_form_quantile, resolve_count


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (1, 1),
        (7, 7),
        (10, 10),
        (np.int64(3), 3),
        (1.0, 10),
        (0.5, 5),
        (0.55, 5),
        (0.3, 3),
        (0.01, 1),
        (np.float32(0.2), 2),
        ("auto", None),
    ],
)
def test_a_whole_number_is_a_count_and_a_float_is_a_share(asked, expected):
    found = resolve_count(asked, 10)
    assert found == expected
    assert found is None or type(found) is int


@pytest.mark.parametrize("available", [1, 3, 7, 29, 100, 1000])
def test_a_share_that_gives_a_whole_number_is_not_rounded_down(available):
    for count in range(1, available + 1):
        assert resolve_count(count / available, available) == count


@pytest.mark.parametrize(
    "asked", [0, -1, True, False, np.True_, 1.5, 0.0, -0.5, float("nan"), float("inf"), "many", "", None, [3]]
)
def test_what_is_neither_a_count_nor_a_share_is_an_error_that_shows_it(asked):
    with pytest.raises(ValueError, match="n_features_to_select") as error:
        resolve_count(asked, 10)
    assert repr(asked) in str(error.value)


def test_more_than_there_are_is_an_error_that_says_how_many_there_are():
    with pytest.raises(ValueError, match=r"11 .*more than the 10 groups"):
        resolve_count(11, 10, "groups")


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("tail", [0.05, 1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("m", [1, 2, 5, 50, 1000])
def test_equal_eigenvalues_give_the_chi_square_quantile(m, tail, size):
    found = quadratic_form_quantile(np.full(m, size), tail)
    assert found == pytest.approx(size * chi2.isf(tail, m), rel=0.02)


@pytest.mark.parametrize(
    "eigenvalues",
    [np.array([1.0, 0.5, 0.1]), np.array([5.0, 0.01, 0.01, 0.01]), 1.0 / np.arange(1, 41), np.array([3.0, 3.0, 1.0])],
)
def test_unequal_eigenvalues_give_the_quantile_of_a_simulation(eigenvalues):
    rng = np.random.default_rng(0)
    drawn = rng.chisquare(1.0, size=(200_000, len(eigenvalues))) @ eigenvalues
    for tail in (0.05, 0.01, 0.001):
        assert quadratic_form_quantile(eigenvalues, tail) == pytest.approx(np.quantile(drawn, 1 - tail), rel=0.05)


def test_eigenvalues_that_are_zero_up_to_rounding_do_not_count():
    some = quadratic_form_quantile(np.array([2.0, 1.0]), 0.01)
    assert quadratic_form_quantile(np.array([2.0, 1.0, 0.0, -1e-17, 1e-14]), 0.01) == pytest.approx(some, rel=1e-9)
    assert quadratic_form_quantile(np.zeros(3), 0.01) == 0.0
    assert quadratic_form_quantile(np.empty(0), 0.01) == 0.0


def test_a_smaller_tail_gives_a_larger_quantile():
    found = [quadratic_form_quantile(np.array([1.0, 0.3]), tail) for tail in 10.0 ** -np.arange(1, 16)]
    assert (np.diff(found) > 0).all()


def orthonormal_target(n, rank, rng):
    Y = rng.standard_normal((n, rank))
    return np.linalg.qr(Y - Y.mean(axis=0))[0]


@pytest.mark.parametrize(("n", "rank", "n_drawn"), [(30, 1, 50), (30, 3, 50), (100, 2, 10), (200, 1, 1)])
def test_the_best_of_many_null_nodes_passes_the_null_relevance_in_one_case_of_twenty(n, rank, n_drawn):
    rng = np.random.default_rng(1)
    Y = orthonormal_target(n, rank, rng)
    bar, passed, repeats = null_relevance(n, rank, n_drawn), 0, 4000
    for _ in range(repeats // 100):
        nodes = rng.standard_normal((100 * n_drawn, n))
        nodes -= nodes.mean(axis=1, keepdims=True)
        relevance = ((nodes @ Y) ** 2).sum(axis=1) / (nodes**2).sum(axis=1)
        passed += int((relevance.reshape(100, n_drawn).max(axis=1) > bar).sum())
    assert passed / repeats == pytest.approx(0.05, abs=0.015)


def test_null_relevance_grows_with_the_nodes_drawn_and_falls_with_the_rows():
    assert null_relevance(100, 1, 10) < null_relevance(100, 1, 1000)
    assert null_relevance(1000, 1, 10) < null_relevance(100, 1, 10)
    assert 0.0 < null_relevance(3, 2, 5) <= 1.0


@pytest.mark.parametrize("eps2", [0.1, 0.3, 2.0])
@pytest.mark.parametrize(("n", "m", "n_selected"), [(150, 1, 0), (150, 4, 0), (150, 4, 20), (60, 2, 5)])
def test_the_best_of_many_null_columns_passes_the_threshold_in_about_one_case_of_twenty(n, m, n_selected, eps2):
    rng = np.random.default_rng(2)
    d, repeats = 40, 1500
    X = rng.standard_normal((n, n_selected))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Z = orthonormal_target(n, m, rng) * np.sqrt(np.linspace(1.0, 0.3, m))
    null = NullGain(Z.T @ Z, n, eps2)
    lam = eps2 * n
    B = np.eye(n)
    for x in X.T:
        Bx = B @ x
        s = lam + x @ Bx
        null.update(Z.T @ Bx, s)
        B = B - np.outer(Bx, Bx) / s
    np.testing.assert_allclose(null.remaining, Z.T @ B @ Z, atol=1e-10)
    bar = null.threshold(d, n_selected)
    passed = 0
    for _ in range(repeats // 50):
        columns = rng.standard_normal((n, 50 * d))
        columns = (columns - columns.mean(axis=0)) / columns.std(axis=0)
        coded = B @ columns
        gain = ((Z.T @ coded) ** 2).sum(axis=0) / (lam + np.einsum("ij,ij->j", columns, coded))
        passed += int((gain.reshape(50, d).max(axis=1) > bar).sum())
    assert 0.01 <= passed / repeats <= 0.08


def test_a_column_that_says_something_passes_the_threshold():
    rng = np.random.default_rng(3)
    n, eps2 = 200, 0.3
    y = rng.standard_normal(n)
    y = (y - y.mean()) / np.linalg.norm(y - y.mean())
    x = np.sqrt(n) * y + rng.standard_normal(n)
    x = (x - x.mean()) / x.std()
    bar = NullGain(np.ones((1, 1)), n, eps2).threshold(1000)
    assert (x @ y) ** 2 / (n * eps2 + x @ x) > 5 * bar


def test_the_threshold_grows_with_the_candidates_and_is_infinite_without_any():
    null = NullGain(np.diag([0.6, 0.2]), 100, 0.3)
    bars = [null.threshold(k) for k in (1, 10, 1000, 10**6)]
    assert (np.diff(bars) > 0).all()
    assert null.threshold(0) == np.inf


def test_nothing_remains_to_be_told_when_the_target_is_explained():
    null = NullGain(np.ones((1, 1)), 100, 0.3)
    null.update(np.array([1.0]), 1.0)
    assert null.threshold(10) == 0.0


def unit_target(values, weight=None):
    w = np.ones(len(values)) if weight is None else weight
    centred = values - w @ values / w.sum()
    root = np.sqrt(w)
    q, _ = np.linalg.qr(centred * root[:, None])
    return q, root


def test_all_rows_count_for_normal_targets_and_balanced_classes():
    rng = np.random.default_rng(0)
    assert effective_share(*unit_target(rng.standard_normal((20_000, 1)))) == pytest.approx(1.0, abs=0.05)
    assert effective_share(*unit_target(rng.standard_normal((20_000, 4)))) == pytest.approx(1.0, abs=0.05)
    assert effective_share(*unit_target(np.eye(4)[np.arange(400) % 4][:, :3])) == 1.0


def test_few_rows_count_for_a_rare_class():
    rare = (np.arange(1000) < 10)[:, None].astype(float)
    assert effective_share(*unit_target(rare)) == pytest.approx(0.03, abs=0.001)
    assert effective_share(np.zeros((5, 1)), np.ones(5)) == 1.0


def test_the_share_of_weighted_rows_is_that_of_repeated_ones():
    rng = np.random.default_rng(1)
    values, weight = np.exp(rng.standard_normal((80, 2))), rng.integers(1, 4, 80)
    repeated = effective_share(*unit_target(np.repeat(values, weight, axis=0)))
    assert repeated < 0.5
    assert effective_share(*unit_target(values, weight.astype(float))) == pytest.approx(repeated)


def test_a_group_of_one_has_the_bar_of_a_column_and_a_larger_one_a_higher():
    null = NullGain(np.diag([0.5, 0.2]), 200.0, 0.3)
    alone = null.of_group(np.array([1.0 / 1.3]), 50)
    assert alone == pytest.approx(null.threshold(50))
    assert null.of_group(np.full(10, 1.0 / 1.3), 50) > 1.5 * alone


def test_random_groups_stay_below_their_bar_in_most_cases():
    rng = np.random.default_rng(0)
    n, eps2 = 300, 0.3
    target, _ = unit_target(rng.standard_normal((n, 1)))
    null = NullGain(np.ones((1, 1)), float(n), eps2)
    above = 0
    for _ in range(400):
        X = np.eye(12)[rng.integers(0, 12, n)]
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        values, vectors = np.linalg.eigh(X.T @ X / n)
        values = np.maximum(values, 0.0)
        P = vectors.T @ X.T @ target / np.sqrt(n)
        above += float((P[:, 0] ** 2 / (eps2 + values)).sum()) >= null.of_group(values / (eps2 + values), 1)
    assert 5 <= above <= 40  # 5 % of 400 are 20
