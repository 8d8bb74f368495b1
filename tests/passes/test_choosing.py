"""Columns one by one: what tells more than chance first, then the rest; what is given up again, and what is not."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS, EasyFSRanking
from easyfs.base.result import LEVEL as NAMED
from easyfs.base.result import Found
from easyfs.passes.choose import _task
from easyfs.passes.choosing import LEVEL, NEAR_COPY, Chooser
from easyfs.passes.scale import input_scale
from easyfs.sample.chance import Chance


def chooser_of(X: np.ndarray, y: np.ndarray, coverage: float = 0.2, **options: Any) -> Chooser:
    """The columns that were asked for, and nothing else yet."""
    selector = EasyFS(**{"random_state": 0} | options).partial_fit(X, y)
    statistics, constraints = selector._statistics, selector._constraints()
    assert statistics is not None
    moment = statistics.joint()
    scale = input_scale(moment, statistics.observed, selector.plan_, constraints.excluded)
    return Chooser(_task(selector.plan_, statistics, (moment, scale), constraints, 0.2, coverage))


def normal(n: int, d: int, seed: int = 0) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((n, d))


def three_columns(n: int = 500, d: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng, X = normal(n, d, seed)
    return X, X[:, 4] + 0.5 * X[:, 11] - 0.3 * X[:, 15] + 0.5 * rng.standard_normal(n)


def test_only_columns_that_tell_more_than_chance_are_taken_and_each_has_its_p_value() -> None:
    X, y = three_columns()
    chooser = chooser_of(X, y)
    chooser.take_telling()
    assert set(chooser.selected) == {4, 11, 15}
    assert set(chooser.p_values) == {4, 11, 15}
    assert max(chooser.p_values.values()) < LEVEL
    assert not chooser.telling()[0].any()


def test_there_is_no_room_for_more_than_was_asked_for() -> None:
    X, y = three_columns()
    chooser = chooser_of(X, y, n_features_to_select=2)
    assert chooser.room() == 2
    chooser.take_telling()
    assert chooser.selected == [4, 11]
    assert chooser.room() == 0
    chooser.fill()
    assert chooser.selected == [4, 11]


def test_columns_that_fill_up_a_number_are_not_said_to_tell_more_than_chance() -> None:
    X, y = three_columns()
    auto, fixed = EasyFS(random_state=0).fit(X, y), EasyFS(7, random_state=0).fit(X, y)
    np.testing.assert_array_equal(fixed.order_[:3], auto.order_[:3])
    assert fixed.beyond_chance_ is not None
    assert fixed.beyond_chance_[:3].all()
    assert not fixed.beyond_chance_[3:].any()


def test_a_hint_says_what_to_fill_up_with_and_is_no_evidence() -> None:
    X, y = three_columns()
    task = chooser_of(X, y, n_features_to_select=5, interactions=False).task
    hint = Found((7, 9), 0.05, 0.5 * (LEVEL + NAMED))
    assert not hint.confirmed
    chooser = Chooser(replace(task, found=(hint,)))
    chooser.take_telling()
    chooser.fill()
    assert set(chooser.selected) == {4, 11, 15, 7, 9}
    assert max(chooser.p_values[j] for j in (4, 11, 15)) < LEVEL
    assert min(chooser.p_values[j] for j in (7, 9)) >= LEVEL


@pytest.mark.parametrize("coverage", [0.0, 0.2, 0.9, 1.0])
def test_coverage_never_brings_in_what_tells_nothing_before_what_tells_something(coverage: float) -> None:
    rng, X = normal(800, 30)
    X[:, 10:] += 2.0 * rng.standard_normal((800, 1))
    y = X[:, 0] + 0.3 * X[:, 1] + 0.5 * rng.standard_normal(800)
    selector = EasyFS(5, coverage=coverage, random_state=0).fit(X, y)
    assert set(selector.order_[:2]) == {0, 1}


def test_the_order_beyond_the_selected_is_new_columns_near_copies_copies_and_constants() -> None:
    rng, X = normal(600, 12)
    X[:, 3] = X[:, 1] + 0.03 * rng.standard_normal(600)  # a near-copy
    X[:, 5] = -2.0 * X[:, 1] + 1.0  # a copy in other units
    X[:, 7] = 4.0
    X[:, 9] = X[:, 1] - X[:, 2]
    y = X[:, 1] + X[:, 2] + 0.5 * rng.standard_normal(600)
    for asked in ("auto", 2, 6, 11):
        order = EasyFS(asked, exclude=[10], random_state=0).fit(X, y).order_.tolist()
        chosen = set(order[:2])
        assert len(chosen & {1, 2, 3, 5, 9}) == 2
        assert order[-1] == 10
        assert order[-2] == 7
        told = X[:, order[:2]] - X[:, order[:2]].mean(axis=0)
        explained = []
        for j in order[2:-2]:
            x = X[:, j] - X[:, j].mean()
            left = x - told @ np.linalg.lstsq(told, x, rcond=None)[0]
            explained.append(1.0 - left @ left / (x @ x))
        kind = np.digitize(explained, [NEAR_COPY, 1.0 - 1e-8])
        assert (np.diff(kind) >= 0).all()


def test_a_column_that_others_make_idle_is_given_up() -> None:
    given_up = 0
    for seed in range(8):
        rng, X = normal(400, 12, seed)
        X[:, 0] = X[:, 3] + X[:, 7] + 0.3 * rng.standard_normal(400)  # the best by itself
        y = X[:, 3] + X[:, 7] + 0.2 * rng.standard_normal(400)
        assert np.argmax(np.abs(np.corrcoef(X.T, y)[-1, :-1])) == 0
        selector = EasyFS(random_state=seed, interactions=False).fit(X, y)
        assert {3, 7} <= set(selector.get_support(indices=True))
        given_up += not selector.get_support()[0]
        assert selector.order_[selector.n_features_ :].tolist().count(0) == (not selector.get_support()[0])
    assert given_up >= 4


def test_what_was_asked_for_is_not_given_up() -> None:
    rng, X = normal(400, 12)
    X[:, 0] = X[:, 3] + X[:, 7] + 0.3 * rng.standard_normal(400)
    y = X[:, 3] + X[:, 7] + 0.2 * rng.standard_normal(400)
    selector = EasyFS(include=[0, 5], random_state=0).fit(X, y)
    assert list(selector.order_[:2]) == [0, 5]
    assert {3, 7} <= set(selector.get_support(indices=True))


def test_a_column_that_matters_only_with_another_is_not_given_up() -> None:
    rng, X = normal(800, 12)
    y = 2.0 * X[:, 1] + X[:, 3] * X[:, 8] + 0.3 * rng.standard_normal(800)
    chooser = chooser_of(X, y)
    chooser.take_telling()
    assert {1, 3, 8} <= set(chooser.selected)
    assert chooser.protected[[3, 8]].all()
    assert not {1, 3, 8} & set(chooser.given_up)


def test_giving_up_and_going_on_ends_where_nothing_is_left_to_do() -> None:
    for seed in range(5):
        rng, X = normal(300, 25, seed)
        X[:, 5:15] = X[:, :1] + 0.5 * X[:, 5:15]
        y = X[:, 0] + 0.5 * X[:, 20] + rng.standard_normal(300)
        chooser = chooser_of(X, y, interactions=False)
        chooser.take_telling()
        assert not set(chooser.selected) & set(chooser.given_up)
        assert not chooser.telling()[0].any()
        assert len(set(chooser.selected)) == len(chooser.selected)


def test_what_is_given_up_leaves_the_search_as_if_it_had_never_been_taken() -> None:
    rng, X = normal(400, 12, 1)
    X[:, 0] = X[:, 3] + X[:, 7] + 0.3 * rng.standard_normal(400)
    y = X[:, 3] + X[:, 7] + 0.2 * rng.standard_normal(400)
    chooser = chooser_of(X, y, interactions=False)
    for j in (0, 3, 7):
        chooser.take(np.array([j]))
    assert chooser._give_up_idle()
    assert chooser.selected == [3, 7]
    assert chooser.given_up == [0]
    plain = chooser_of(X, y, interactions=False)
    for j in (3, 7):
        plain.take(np.array([j]))
    np.testing.assert_allclose(chooser.search.gain(), plain.search.gain(), rtol=1e-9)
    np.testing.assert_allclose(chooser.partial.shares(), plain.partial.shares(), rtol=1e-9)
    np.testing.assert_allclose(chooser.search.gains, plain.search.gains, rtol=1e-9)
    assert not chooser.telling()[0][0]


# --- the ranking takes its own order, and ends by the same law ---


def test_the_ranking_goes_on_until_nothing_that_is_left_tells_anything() -> None:
    X, y = three_columns()
    selector = EasyFSRanking(random_state=0).fit(X, y)
    assert {4, 11, 15} <= set(selector.get_support(indices=True))
    assert len(selector.gains_) == selector.n_features_
    assert selector.p_values_ is not None
    assert len(selector.p_values_) == selector.n_features_
    full = EasyFSRanking(20, random_state=0).fit(X, y)
    np.testing.assert_array_equal(full.order_, selector.order_)


# --- groups and categories ---


def test_each_member_of_a_group_has_the_p_value_of_the_group() -> None:
    rng, X = normal(500, 12)
    y = 0.2 * X[:, :6].sum(axis=1) + rng.standard_normal(500)
    selector = EasyFS(feature_groups=[0] * 6 + list(range(1, 7)), random_state=0).fit(X, y)
    assert list(selector.get_support(indices=True)) == [0, 1, 2, 3, 4, 5]
    assert selector.p_values_ is not None
    assert selector.p_values_.shape == (6,)
    assert selector.p_values_.max() < LEVEL


def test_a_category_has_one_p_value_and_one_place() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 5, 500)
    x = rng.standard_normal((500, 3))
    y = x[:, 1] + np.array([0.0, 0.5, -0.5, 1.0, -1.0])[kind] + 0.5 * rng.standard_normal(500)
    table = pd.DataFrame({"a": x[:, 0], "b": x[:, 1], "kind": pd.Categorical(np.array(list("vwxyz"))[kind]), "c": x[:, 2]})
    for asked, chosen in (("auto", ["b", "kind"]), (2, ["b", "kind"])):
        selector = EasyFS(asked, random_state=0).fit(table, y)
        assert list(selector.get_feature_names_out()) == chosen
        assert selector.p_values_ is not None
        assert selector.p_values_.shape == (2,)
        assert selector.p_values_.max() < 1e-6
        np.testing.assert_array_equal(selector.beyond_chance_, [True, True])
    more = EasyFS(4, random_state=0).fit(table, y)
    assert more.beyond_chance_ is not None
    assert more.beyond_chance_.tolist() == [True, True, False, False]


# --- without a target ---


def test_without_a_target_auto_ends_where_little_is_added() -> None:
    rng, factors = normal(400, 4)
    X = np.repeat(factors, 5, axis=1) + 0.05 * rng.standard_normal((400, 20))
    selector = EasyFS(random_state=0).fit(X)
    chosen = selector.get_support(indices=True)
    assert sorted(set(chosen // 5)) == [0, 1, 2, 3]
    assert selector.n_features_ <= 8
    assert selector.p_values_ is None


def test_without_a_target_copies_come_after_all_others() -> None:
    _, X = normal(300, 8)
    X[:, 6], X[:, 7] = X[:, 0], X[:, 1] - X[:, 2]
    order = EasyFS(8, random_state=0).fit(X).order_
    ranks = [np.linalg.matrix_rank((X - X.mean(axis=0))[:, order[: k + 1]]) for k in range(8)]
    assert ranks == [1, 2, 3, 4, 5, 6, 6, 6]


# --- streams that begin with little to see ---


def in_blocks(X: np.ndarray, y: np.ndarray, cut: int, **options: Any) -> EasyFS:
    selector = EasyFS(random_state=0, **options)
    return selector.partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])


@pytest.mark.parametrize("kind", ["one class", "one number", "a constant column", "ten rows"])
def test_a_stream_is_judged_by_all_rows_whatever_the_first_block_shows(kind: str) -> None:
    rng, X = normal(2000, 10, seed=2)
    y = X[:, 1] + X[:, 4] + 0.5 * rng.standard_normal(2000)
    cut = 10 if kind == "ten rows" else 100
    if kind == "one class":
        y = (y > 0).astype(int)
        order = np.argsort(y[:400], kind="stable")
        X[:400], y[:400] = X[:400][order], y[:400][order]
        assert len(np.unique(y[:cut])) == 1
    elif kind == "one number":
        y[:cut] = 0.25
    elif kind == "a constant column":
        X[:cut, 4] = 3.0
    selector = in_blocks(X, y, cut)
    assert set(selector.get_support(indices=True)) == {1, 4}
    assert selector.beyond_chance_ is not None
    assert selector.beyond_chance_.all()
    fixed = in_blocks(X, y, cut, n_features_to_select=3)
    assert fixed.beyond_chance_ is not None
    assert fixed.beyond_chance_.tolist() == [True, True, False]


@pytest.mark.parametrize("cut", [10, 30])
def test_a_short_first_block_does_not_make_noise_tell_anything(cut: int) -> None:
    more = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_t(3, (1000, 20)), rng.standard_normal(1000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            more += in_blocks(X, y, cut).n_features_ > 1
    assert more <= 1


def test_rows_that_are_repeated_in_the_first_block_do_not_make_later_ones_count_for_nothing() -> None:
    rng, X = normal(30_000, 8)
    y = 0.07 * X[:, 3] + rng.standard_normal(30_000)
    rows = rng.integers(0, 4000, 4000)
    X[:4000], y[:4000] = X[rows], y[rows]
    selector = in_blocks(X, y, 4000)
    assert selector.order_[0] == 3
    assert selector.p_values_ is not None
    assert selector.p_values_[0] < 1e-8  # as it is without the first block


def test_following_an_order_measures_the_law_of_chance_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a number that is asked for, columns that tell nothing are no reason to measure it at each step."""
    measured = []
    plain = Chance.refresh
    monkeypatch.setattr(Chance, "refresh", lambda self, selected: measured.append(len(selected)) or plain(self, selected))
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 200))
    EasyFSRanking(150, random_state=0).fit(X, X[:, 3] + rng.standard_normal(300))
    assert len(measured) <= 10
