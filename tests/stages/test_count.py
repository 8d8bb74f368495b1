"""How many features: counts and shares, and what the best of many unrelated nodes reaches."""

import numpy as np
import pytest

from easyfs.base.request import resolve_count
from easyfs.stages.relevance import null_relevance


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
