"""Bad blocks, plans and merges: each error says what was found and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from easyfs import EasyFS, EasyFSRanking

from .bad_input import FORMS, NAMES, says, small, table


def test_another_number_of_columns() -> None:
    X, y = table()
    selector = small().partial_fit(X, y)
    with pytest.raises(ValueError, match=says("4 features", "expecting 5")):
        selector.partial_fit(X[:, :4], y)


def test_other_names_of_columns() -> None:
    X, y = table()
    selector = small().partial_fit(pd.DataFrame(X, columns=NAMES), y)
    with pytest.raises(ValueError, match=says("feature names", "wage", "income")):
        selector.partial_fit(pd.DataFrame(X, columns=[*NAMES[:3], "wage", "score"]), y)


def test_another_kind_of_target() -> None:
    X, y = table()
    numbers = small().partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match=says("y")):
        numbers.partial_fit(X, np.where(y, "yes", "no"))
    with pytest.raises(ValueError, match=says("2 targets", "1 in the first")):
        numbers.partial_fit(X, X[:, :2])
    with pytest.raises(ValueError, match=says("y is None")):
        numbers.partial_fit(X)
    without = small().partial_fit(X)
    with pytest.raises(ValueError, match=says("class labels in y", "no target")):
        without.partial_fit(X, y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda X: pd.DataFrame(X, columns=NAMES[: X.shape[1]])])
def test_a_block_without_rows_that_count_adds_nothing(form: Any) -> None:
    X, y = table()
    stream = small().partial_fit(form(X), y).partial_fit(form(X[:0]), y[:0]).partial_fit(form(X), y)
    stream.partial_fit(form(100.0 * X), y, sample_weight=np.zeros(40)).partial_fit(form(X), y, sample_weight=0.0)
    plain = small().partial_fit(form(X), y).partial_fit(form(X), y)
    assert stream.n_rows_ == plain.n_rows_ == 80
    np.testing.assert_array_equal(stream.scores_, plain.scores_)
    for other in (form(X[:0, :4]), form(X[:, :4])):
        with pytest.raises(ValueError, match=r"4 features, but EasyFS is expecting 5|yet now missing:\n- score"):
            stream.partial_fit(other, y[: other.shape[0]], sample_weight=np.zeros(other.shape[0]))


def test_an_empty_list_adds_nothing() -> None:
    X, y = table()
    assert small().partial_fit(X, y).partial_fit([], []).n_rows_ == 40


def test_a_first_block_without_rows_that_count() -> None:
    X, y = table()
    plan = small().draw_plan(X, y)
    for settings in ({}, {"plan": plan}):
        with pytest.raises(ValueError, match=says("first block has no rows", "begin with", "at least 2 rows")):
            small().partial_fit(X[:0], y[:0], **settings)
        with pytest.raises(ValueError, match=says("sample_weight is zero in every row of the first block", "begin with")):
            small().partial_fit(X, y, sample_weight=np.zeros(40), **settings)


def test_weights_that_are_wrong_and_zero() -> None:
    X, y = table()
    stream = small().partial_fit(X, y)
    with pytest.raises(ValueError, match=says("sample_weight", "39", "40 rows")):
        stream.partial_fit(X, y, sample_weight=np.zeros(39))
    assert stream.n_rows_ == 40


def test_plan_and_scale_after_the_first_block() -> None:
    X, y = table()
    selector = small().partial_fit(X, y)
    with pytest.raises(ValueError, match=says("plan", "scale", "first block")):
        selector.partial_fit(X, y, plan=selector.plan_)
    with pytest.raises(ValueError, match=says("plan", "scale", "first block")):
        selector.partial_fit(X, y, scale=(np.zeros(5), np.ones(5)))


def test_a_plan_of_another_table() -> None:
    X, y = table()
    plan = small().draw_plan(X, y)
    with pytest.raises(ValueError, match=says("plan", "5 columns", "4")):
        small().partial_fit(X[:, :4], y, plan=plan)
    with pytest.raises(ValueError, match=says("class labels", "numbers")):
        small().partial_fit(X, X[:, 0], plan=plan)


@pytest.mark.parametrize("compression", ["sequential", "ranking"])
def test_a_plan_of_the_other_compression(compression: str) -> None:
    X, y = table()
    other = {"sequential": "ranking", "ranking": "sequential"}[compression]
    plan = small(form=FORMS[other]).draw_plan(X, y)
    with pytest.raises(ValueError, match=says("plan", "not made by", FORMS[compression].__name__)):
        small(form=FORMS[compression]).partial_fit(X, y, plan=plan)


@pytest.mark.parametrize("plan", ["plan", 5, EasyFS()])
def test_something_that_is_no_plan(plan: Any) -> None:
    X, y = table()
    with pytest.raises((ValueError, TypeError), match="plan"):
        small().partial_fit(X, y, plan=plan)


@pytest.mark.parametrize(
    "scale",
    [
        (np.zeros(4), np.ones(4)),
        np.zeros(5),
        (np.zeros(5),),
        (np.full(5, np.nan), np.ones(5)),
        (np.zeros(5), -np.ones(5)),
        (np.zeros(5), np.full(5, np.inf)),
        "standard",
    ],
    ids=["length", "mean only", "one part", "nan", "negative", "infinite", "text"],
)
def test_a_bad_scale(scale: Any) -> None:
    X, y = table()
    with pytest.raises((ValueError, TypeError), match="scale"):
        small().partial_fit(X, y, scale=scale)


def test_merging_two_plans() -> None:
    X, y = table()
    one, other = (small(form=EasyFSRanking).set_params(random_state=seed).partial_fit(X, y) for seed in (0, 1))
    with pytest.raises(ValueError, match=says("different plans", "added up", "plan=")):
        one.merge(other)


def test_merging_two_scalings() -> None:
    X, y = table()
    make = {"n_hidden": 0}
    one, other = small(**make).partial_fit(X, y), small(**make).partial_fit(X + 1.0, y)
    with pytest.raises(ValueError, match=says("scaling", "added up")):
        one.merge(other)


@pytest.mark.parametrize("state", ["fitted", "new"])
def test_merging_what_has_seen_no_stream(state: str) -> None:
    X, y = table()
    streamed = small().partial_fit(X, y)
    other = small().fit(X, y) if state == "fitted" else small()
    for left, right in ((streamed, other), (other, streamed)):
        with pytest.raises(ValueError, match=says("merge", "partial_fit")):
            left.merge(right)


def test_merging_something_else() -> None:
    X, y = table()
    with pytest.raises((ValueError, TypeError), match="merge"):
        small().partial_fit(X, y).merge("statistics")
