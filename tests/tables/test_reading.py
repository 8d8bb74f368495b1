"""Different values of a target: counted rather than sorted where that can be done, with the same result."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfs.tables.reading import code_values, count_values


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-(2**40), 2**40) | st.integers(-5, 5), min_size=1, max_size=40),
    st.sampled_from([np.int64, np.int32, np.int8, np.uint8, np.bool_, np.float64, np.str_]),
)
def test_values_are_those_of_a_sorted_list(values: list[int], dtype: type) -> None:
    y = np.array(values).astype(dtype)
    expected, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    found, times = count_values(y)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(times, counts)
    assert found.dtype == y.dtype
    labels, places = code_values(y)
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_array_equal(places, codes.reshape(-1))


@pytest.mark.parametrize("extreme", [np.iinfo(np.int64).min, np.iinfo(np.int64).max])
def test_the_largest_numbers_are_no_trouble(extreme: int) -> None:
    y = np.array([extreme, 0, 0], dtype=np.int64)
    assert count_values(y)[1].tolist() == ([1, 2] if extreme < 0 else [2, 1])
