"""How many features: counts and shares."""

import numpy as np
import pytest

from easyfs.base.request import resolve_count


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
