"""Selectors that saw different rows are added up."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from easyfs import EasyFS

from .shared import (
    FORMS,
    SMALL_OF,
    assert_same_selection,
    both_compressions,
    by_class,
)

# Right answers come with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")


@both_compressions
@pytest.mark.parametrize("n", [60, 900])
def test_string_classes_in_another_order_merge_to_the_same_answer(compression: str, n: int) -> None:
    X, y = by_class(n, 8)
    y = np.array(["ant", "bee", "cat"])[y]
    make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
    network = make.draw_plan(X, y)
    whole = clone(make).partial_fit(X, y, plan=network)
    half = n // 2

    def parts() -> tuple[EasyFS, EasyFS]:
        one = clone(make).partial_fit(X[:half], y[:half], plan=network)
        other = clone(make)
        for k, label in enumerate(("cat", "bee", "ant")):  # met in the opposite order
            rows = np.flatnonzero(y[half:] == label) + half
            other.partial_fit(X[rows], y[rows], **({"plan": network} if k == 0 else {}))
        return one, other

    one, other = parts()
    assert_same_selection(whole, one.merge(other))
    np.testing.assert_array_equal(one.classes_, ["ant", "bee", "cat"])
    one, other = parts()
    assert_same_selection(whole, other.merge(one))
    np.testing.assert_array_equal(other.classes_, ["ant", "bee", "cat"])


@both_compressions
@pytest.mark.parametrize("n", [60, 1200])
def test_classes_that_the_network_never_met_merge_in_any_order(compression: str, n: int) -> None:
    X, y = by_class(n, 20, columns=(1, 4, 6))
    make = FORMS[compression](3, random_state=0, n_hidden=4)
    network = make.draw_plan(X[y < 2], y[y < 2])
    whole = clone(make).partial_fit(X, y, plan=network)

    def seen(half: np.ndarray, *classes: int) -> EasyFS:
        selector = clone(make)
        for k, code in enumerate(classes):
            rows = half & (y == code)
            selector.partial_fit(X[rows], y[rows], **({"plan": network} if k == 0 else {}))
        return selector

    left = np.arange(n) % 2 == 0
    merged = seen(left, 0, 1, 2, 3).merge(seen(~left, 0, 1, 3, 2))
    assert_same_selection(whole, merged)
    np.testing.assert_array_equal(merged.classes_, [0, 1, 2, 3])


@both_compressions
@pytest.mark.parametrize("n", [27, 900])
def test_merging_leaves_the_other_selector_as_it_was(compression: str, n: int) -> None:
    X, y = by_class(n, 20)
    make = FORMS[compression](3, random_state=0, n_hidden=4)
    network = make.draw_plan(X, y)

    def seen(*classes: int) -> EasyFS:
        selector = clone(make)
        for k, code in enumerate(classes):
            selector.partial_fit(X[y == code], y[y == code], **({"plan": network} if k == 0 else {}))
        return selector

    mine, theirs = seen(0, 1), seen(1, 2, 0)
    mine.merge(theirs)
    mine.partial_fit(X, y)
    assert_same_selection(theirs, seen(1, 2, 0))
    np.testing.assert_array_equal(theirs.classes_, [0, 1, 2])
    assert_same_selection(theirs.partial_fit(X, y), seen(1, 2, 0).partial_fit(X, y))


@both_compressions
def test_other_columns_are_not_added_up(compression: str) -> None:
    X, y = by_class(200, 8)
    names = [f"c{j}" for j in range(8)]
    one, other = pd.DataFrame(X[:100], columns=names), pd.DataFrame(X[100:], columns=names)
    make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
    first = clone(make).partial_fit(one, y[:100])
    with pytest.raises(ValueError, match=r"plan was made for a table with the columns 'c0', .* but X has 'c7', 'c6'"):
        clone(make).partial_fit(other[names[::-1]], y[100:], plan=first.plan_)
    bare = clone(make).partial_fit(X[100:], y[100:], plan=first.plan_)  # an array has no names to compare
    assert first.merge(bare).n_rows_ == 200
    plan = make.draw_plan(X, y)
    parts = [clone(make).partial_fit(frame, y[:100], plan=plan) for frame in (one, one[names[::-1]])]
    with pytest.raises(ValueError, match=r"the same columns in the same order, but column 0 is 'c0' here and 'c7' there"):
        parts[0].merge(parts[1])
