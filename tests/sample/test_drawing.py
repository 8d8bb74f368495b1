"""Which rows are drawn, and how many rows each stands for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfs.sample.drawing import LEAST_OF_EQUAL_PART, MOST_COUNTED, counts_rows, draw_rows, row_hashes
from easyfs.sample.rows import take_sample


@settings(max_examples=200)
@given(
    weight=st.lists(st.integers(0, 6), min_size=1, max_size=60).filter(any),
    size=st.integers(1, 80),
    seed=st.integers(0, 2**62 - 1),
    n_classes=st.integers(0, 4),
)
def test_integer_weights_draw_the_rows_that_repeated_rows_do(weight, size, seed, n_classes):
    weight = np.array(weight)
    rows = np.repeat(np.arange(len(weight)), weight)
    codes = np.random.default_rng(seed).integers(0, n_classes, len(weight)) if n_classes else None
    weighed = draw_rows(len(weight), size, seed, weight.astype(float), codes)
    repeated = draw_rows(len(rows), size, seed, None, None if codes is None else codes[rows])
    np.testing.assert_array_equal(weighed.rows, rows[repeated.rows])
    assert weighed.weight is None
    np.testing.assert_array_equal(weighed.chance, repeated.chance)
    assert len(weighed.rows) <= max(size, len(np.unique(codes)) if n_classes else 0)


@pytest.mark.parametrize("n_classes", [0, 4])
def test_fewer_rows_than_asked_for_are_all_taken(n_classes):
    codes = np.arange(50) % n_classes if n_classes else None
    for weight in (None, np.linspace(0.1, 2.0, 50)):
        drawn = draw_rows(50, 50, 3, weight, codes)
        np.testing.assert_array_equal(drawn.rows, np.arange(50))
        assert drawn.chance is None
        np.testing.assert_array_equal(drawn.weight, weight)


def test_one_seed_draws_one_sample_and_another_seed_another():
    first, again, other = (draw_rows(5000, 300, seed).rows for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert len(np.intersect1d(first, other)) < 60  # 18 by chance
    assert len(np.unique(first)) == 300
    assert (np.diff(first) > 0).all()


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**62 - 1])
def test_each_row_is_as_likely_as_any_other(seed):
    hashes = row_hashes(seed, np.arange(1 << 16))
    assert len(np.unique(hashes)) == 1 << 16
    in_order = np.argsort(hashes[:4096])
    for period in (2, 3, 4, 8, 64, 1024):
        counts = np.bincount(in_order[:1024] % period, minlength=period)
        expected = 1024 / period
        assert ((counts - expected) ** 2 / expected).sum() < period + 5.0 * np.sqrt(2.0 * period)


@settings(max_examples=60)
@given(n=st.sampled_from([2048, 4096, 10_240]), seed=st.integers(0, 2**62 - 1), period=st.sampled_from([2, 4, 8, 16, 1024]))
def test_a_pattern_in_the_order_of_the_rows_does_not_alias(n, seed, period):
    drawn = draw_rows(n, 1024, seed).rows
    odd = (drawn % period >= period // 2).mean()
    assert odd == pytest.approx(0.5, abs=5.0 * 0.5 / np.sqrt(1024))


@pytest.mark.parametrize("n", [2048, 4096, 10_240])
@pytest.mark.parametrize("codes_given", [False, True])
def test_rows_of_case_and_control_in_turn_are_sampled_alike(n, codes_given):
    y = np.arange(n) % 2
    X = np.random.default_rng(n).standard_normal((n, 600))
    rows = take_sample(X, np.eye(2)[y], 7, codes=y if codes_given else None)
    assert rows.n == 1747
    cases = rows.target[:, 0] > 0
    assert 0.45 < cases.mean() < 0.55


def classes_of(counts, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))


@pytest.mark.parametrize(
    "counts", [[9990, 10], [9700, 300], [5000, 4000, 900, 60, 39, 1], [10_000, 0, 20], [2000] * 30 + [3], [20_000, 1, 1, 1]]
)
@pytest.mark.parametrize("size", [512, 2048])
def test_rare_classes_are_drawn_and_weighed_back_to_their_totals(counts, size):
    codes = classes_of(counts)
    drawn = draw_rows(len(codes), size, 5, None, codes)
    counts = np.array(counts)
    found = np.bincount(codes[drawn.rows], minlength=len(counts))
    assert len(drawn.rows) <= size
    assert len(drawn.rows) >= size - len(counts)
    equal_part = int(LEAST_OF_EQUAL_PART * size / (counts > 0).sum())
    assert (found >= np.minimum(counts, equal_part) - 1).all()
    assert drawn.chance is not None
    totals = np.bincount(codes[drawn.rows], weights=drawn.chance, minlength=len(counts))
    np.testing.assert_allclose(totals, counts)


def test_classes_that_are_not_rare_are_drawn_as_they_come():
    codes = classes_of([4000, 3000, 3000])
    drawn = draw_rows(10_000, 1000, 5, None, codes)
    assert drawn.chance is None
    np.testing.assert_array_equal(drawn.rows, draw_rows(10_000, 1000, 5).rows)


@pytest.mark.parametrize("whole", [False, True])
def test_weights_of_rare_classes_add_up_to_their_totals(whole):
    rng = np.random.default_rng(1)
    codes = classes_of([9000, 950, 50])
    weight = rng.integers(1, 4, 10_000).astype(float) if whole else rng.exponential(size=10_000)
    drawn = draw_rows(10_000, 1200, 9, weight, codes)
    each = drawn.chance * (1.0 if drawn.weight is None else drawn.weight)
    totals, expected = (np.bincount(c, weights=w) for c, w in ((codes[drawn.rows], each), (codes, weight)))
    np.testing.assert_allclose(totals, expected, rtol=1e-9 if whole else 0.15)
    assert (drawn.weight is None) is whole


def test_the_sample_of_a_rare_class_has_the_means_of_all_rows():
    rng = np.random.default_rng(2)
    codes = classes_of([19_900, 100])
    X = rng.standard_normal((20_000, 600)) + 3.0 * (codes == 1)[:, None]
    rows = take_sample(X, np.eye(2)[codes], 3, codes=codes)
    weight = rows.root_weight**2
    assert weight.mean() == pytest.approx(1.0)
    rare = rows.inputs[:, 0] @ weight / weight.sum()
    assert rare == pytest.approx(X[:, 0].mean(), abs=0.1)
    assert (weight < 0.2).sum() == 100  # each of them stands for itself alone
    assert rows.own_weight is None


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (None, True),
        (np.array([1.0, 2.0, 0.0]), True),
        (np.array([1.0, 0.5]), False),
        (np.array([1e-9, 1.0]), False),
        (np.array([float(MOST_COUNTED), 1.0]), False),
    ],
)
def test_whole_weights_count_rows(weight, expected):
    assert counts_rows(weight) is expected


def test_very_large_whole_weights_are_weights_like_any_others():
    weight = np.full(100, 1e9)
    drawn = draw_rows(100, 40, 0, weight)
    assert len(np.unique(drawn.rows)) == 40
    np.testing.assert_array_equal(drawn.weight, 1e9)
