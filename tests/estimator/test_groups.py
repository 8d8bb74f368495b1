"""Columns that are chosen together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS

from .shared import (
    FORMS,
    assert_same_selection,
    both_compressions,
    by_class,
    normal,
)

# Right answers come with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")
GROUPS = ("a", "a", "a", "b", "b", "c", "d", "e")


@both_compressions
def test_a_group_is_chosen_whole_and_counts_as_one(compression: str) -> None:
    X, y = by_class(400, 8, columns=(1, 6))
    selector = FORMS[compression](2, feature_groups=GROUPS, random_state=0).fit(X, y)
    assert list(selector.get_support(indices=True)) == [0, 1, 2, 6]
    assert selector.n_features_ == 4
    assert selector.gains_.shape == (4,)
    assert sorted(selector.order_) == list(range(8))


@both_compressions
def test_a_share_is_a_share_of_the_groups(compression: str) -> None:
    X, y = by_class(400, 8, columns=(1, 6))
    selector = FORMS[compression](0.4, feature_groups=GROUPS, random_state=0).fit(X, y)
    assert list(selector.get_support(indices=True)) == [0, 1, 2, 6]


def test_auto_takes_the_groups_that_matter() -> None:
    rng, X = normal(500, 8)
    y = X[:, 1] + X[:, 6] + 0.1 * rng.standard_normal(500)
    assert list(EasyFS(feature_groups=GROUPS, random_state=0).fit(X, y).get_support(indices=True)) == [0, 1, 2, 6]


@pytest.mark.parametrize("slope", [0.6, 1.0])
def test_a_large_group_of_noise_does_not_beat_one_true_column(slope: float) -> None:
    groups = [0] * 40 + [1, 2, 3, 4, 5]
    for seed in range(5):
        rng, X = normal(300, 45, seed)
        y = slope * X[:, 44] + rng.standard_normal(300)
        selector = EasyFS(1, feature_groups=groups, random_state=seed).fit(X, y)
        assert list(selector.get_support(indices=True)) == [44]


def test_a_group_whose_columns_matter_together_beats_a_stronger_single_column() -> None:
    rng, X = normal(500, 9)
    y = X[:, :4].sum(axis=1) + 1.5 * X[:, 6] + 0.1 * rng.standard_normal(500)
    selector = EasyFS(1, feature_groups=[0, 0, 0, 0, 1, 2, 3, 4, 5], random_state=0).fit(X, y)
    assert list(selector.get_support(indices=True)) == [0, 1, 2, 3]


@both_compressions
def test_including_one_member_takes_the_group(compression: str) -> None:
    X, y = by_class(400, 8, columns=(6, 7))
    selector = FORMS[compression](2, feature_groups=GROUPS, include=[4], random_state=0).fit(X, y)
    assert set(selector.order_[:2]) == {3, 4}
    assert selector.n_features_ == 3
    assert selector.get_support()[[3, 4]].all()
    two = FORMS[compression](2, feature_groups=GROUPS, include=[4, 0], random_state=0).fit(X, y)
    assert list(two.get_support(indices=True)) == [0, 1, 2, 3, 4]


@both_compressions
def test_excluding_one_member_leaves_the_group_out(compression: str) -> None:
    X, y = by_class(400, 8, columns=(1, 6))
    selector = FORMS[compression](2, feature_groups=GROUPS, exclude=[0], random_state=0).fit(X, y)
    assert set(selector.order_[-3:]) == {0, 1, 2}
    assert np.isneginf(selector.scores_[:3]).all()
    assert 6 in selector.get_support(indices=True)


@both_compressions
def test_truncate_keeps_groups_whole(compression: str) -> None:
    X, y = by_class(400, 8, columns=(1, 6))
    selector = FORMS[compression](3, feature_groups=GROUPS, random_state=0).fit(X, y)
    for count in (1, 2, 3, 4, 5):
        support = selector.truncate(count).get_support()
        chosen = {label for label, taken in zip(GROUPS, support, strict=True) if taken}
        assert len(chosen) == count
        assert all(taken == (label in chosen) for label, taken in zip(GROUPS, support, strict=True))


@both_compressions
def test_groups_of_one_change_nothing(compression: str) -> None:
    X, y = by_class(300, 8)
    grouped = FORMS[compression](3, feature_groups=list("hgfedcba"), random_state=0).fit(X, y)
    assert_same_selection(grouped, FORMS[compression](3, random_state=0).fit(X, y))


def test_a_group_may_hold_constants_and_copies() -> None:
    X, y = by_class(300, 8, columns=(1, 6))
    X[:, 0] = 5.0
    X[:, 2] = X[:, 1]
    selector = EasyFS(2, feature_groups=GROUPS, random_state=0).fit(X, y)
    assert list(selector.get_support(indices=True)) == [0, 1, 2, 6]
    assert np.isfinite(selector.scores_).all()
    assert np.isfinite(selector.redundancy_).all()


def test_groups_may_be_an_array_or_a_series() -> None:

    X, y = by_class(300, 8, columns=(1, 6))
    plain = EasyFS(2, feature_groups=GROUPS, random_state=0).fit(X, y)
    for groups in (np.array(GROUPS), pd.Series(GROUPS), np.array([0, 0, 0, 1, 1, 2, 3, 4])):
        assert_same_selection(plain, EasyFS(2, feature_groups=groups, random_state=0).fit(X, y))
