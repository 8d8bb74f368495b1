"""Tables that come in blocks: any cut gives the same answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from easyfs import EasyFS

from .shared import (
    COMPRESSIONS,
    FORMS,
    SMALL,
    SMALL_OF,
    assert_same_selection,
    both_compressions,
    by_class,
    normal,
    rows_of,
    stream,
    targets_for,
)

# Right answers come with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")
TASKS = ("classification", "regression", "several targets", "no target")
STREAMS = [(task, c) for task in TASKS for c in COMPRESSIONS if (task, c) != ("no target", "ranking")]
every_stream = pytest.mark.parametrize(("task", "compression"), STREAMS)


@every_stream
@pytest.mark.parametrize("n", [40, 1200])  # rows kept; rows folded into a Gram matrix
def test_whole_blocks_and_merged_halves_give_the_same_order(task: str, compression: str, n: int) -> None:
    X, y = targets_for(task, n)
    X[::5, 2] = np.nan
    make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
    network = make.draw_plan(X, y)

    def new() -> EasyFS:
        return clone(make)

    whole = new().fit(X, y)
    assert_same_selection(whole, stream(new(), X, y, [], network))
    assert_same_selection(whole, stream(new(), X, y, [n // 7, n // 3, n // 2, n - 1], network))
    half = n // 2
    left = stream(new(), X[:half], rows_of(y, slice(half)), [half // 3], network)
    right = stream(new(), X[half:], rows_of(y, slice(half, None)), [], network)
    assert_same_selection(whole, left.merge(right))


@settings(max_examples=25, derandomize=True)
@given(st.lists(st.integers(2, 298), unique=True, max_size=12).map(sorted), st.sampled_from(STREAMS))
def test_any_cut_into_weighted_blocks_gives_the_same_order(cuts: list[int], kind: tuple[str, str]) -> None:
    task, compression = kind
    X, y = targets_for(task, 300)
    weight = np.random.default_rng(2).integers(1, 4, 300) / 2.0
    make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
    network = make.draw_plan(X, y, weight)
    whole = clone(make).fit(X, y, weight)
    assert_same_selection(whole, stream(clone(make), X, y, cuts, network, weight))


@both_compressions
def test_sparse_blocks_equal_the_whole(compression: str) -> None:
    X, y = by_class(300, 8)
    X[np.random.default_rng(3).random(X.shape) < 0.6] = 0.0
    S = sparse.csr_array(X)
    make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
    network = make.draw_plan(S, y)
    whole = clone(make).fit(S, y)
    assert_same_selection(whole, stream(clone(make), S, y, [50, 120], network))


@pytest.mark.parametrize("task", ["classification", "regression", "several targets"])
def test_without_nodes_the_first_block_does_not_matter(task: str) -> None:
    X, y = targets_for(task, 400)
    X[:20] = X[:20] * 3.0 + 5.0
    make = EasyFS(3, n_hidden=0, predicted_share=0, clip=None, random_state=0)
    assert_same_selection(clone(make).fit(X, y), stream(make, X, y, [20, 100]))


@both_compressions
def test_a_stream_that_widens_warns_where_values_are_clipped(compression: str) -> None:
    X, y = by_class(400, 8)
    X[100:, 5] *= 50.0
    make = FORMS[compression](2, random_state=0, **SMALL_OF[compression])
    selector = stream(clone(make), X, y, [100, 300])
    with pytest.warns(UserWarning, match=r"1 column \(x5\) varies far more in later blocks than in the first"):
        assert set(selector.order_[:2]) == {1, 4}
    other = stream(make.set_params(clip=None), X, y, [100, 300])
    assert set(other.order_[:2]) == {1, 4}


def test_a_mixed_table_that_widens_names_the_column_as_the_user_does() -> None:
    rng = np.random.default_rng(0)
    city, age, pay = rng.choice(list("abcd"), 400), rng.standard_normal(400), rng.standard_normal(400)
    pay[100:] *= 500.0
    table = pd.DataFrame({"city": city, "age": age, "pay": pay})
    selector = EasyFS(1, random_state=0, **SMALL)
    for rows in (slice(0, 100), slice(100, 400)):
        selector.partial_fit(table[rows], age[rows] > 0)
    with pytest.warns(UserWarning, match=r"1 column \(pay\) varies far more"):
        assert list(selector.get_feature_names_out()) == ["age"]


def test_a_network_carries_the_encoding_of_its_table() -> None:
    def block(share: float, seed: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(seed)
        told = rng.random(200) < share
        table = {"a": rng.standard_normal(200), "cat": np.where(told, "yes", "no"), "b": rng.standard_normal(200)}
        return pd.DataFrame(table), told.astype(int)

    (first, y_first), (second, y_second) = block(0.6, 1), block(0.4, 2)
    make = EasyFS(1, random_state=0, **SMALL)
    whole = clone(make).partial_fit(first, y_first).partial_fit(second, y_second)
    a = clone(make).partial_fit(first, y_first)
    b = clone(make).partial_fit(second, y_second, plan=a.plan_)
    with pytest.raises(ValueError, match="different plans"):
        clone(make).partial_fit(second, y_second).merge(a)
    np.testing.assert_allclose(a.merge(b).relevance_, whole.relevance_, atol=1e-9)
    assert a.relevance_[1] == pytest.approx(1.0)
    assert a.n_rows_ == 400
    with pytest.raises(ValueError, match="columns 'a', 'cat', 'b', in this order, but X is no table"):
        clone(make).partial_fit(np.ones((5, 3)), np.arange(5) % 2, plan=a.plan_)
    with pytest.raises(ValueError, match="columns 'a', 'cat', 'b', in this order, but X has 'b', 'cat', 'a'"):
        clone(make).partial_fit(second[["b", "cat", "a"]], y_second, plan=a.plan_)


def test_the_task_is_that_of_the_network() -> None:
    _, X = normal(300, 4)
    y = np.maximum(X[:, 0], 0.0)
    y[:60] = 0.0
    network = EasyFS(random_state=0, **SMALL).draw_plan(X, y)
    assert EasyFS(random_state=0, **SMALL).partial_fit(X[:60], y[:60], plan=network).task_ == "regression"


def test_a_target_without_spread_in_the_first_block_is_not_clipped() -> None:
    _, X = normal(400, 6)
    y = 20.0 * X[:, 3] + 100.0
    y[:100] = 0.5
    selector = EasyFS(1, random_state=0, **SMALL).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    expected = np.corrcoef(X[:, 3], y)[0, 1] ** 2
    assert selector.relevance_ is not None
    assert selector.relevance_[3] == pytest.approx(expected, rel=0.02)


def test_a_stream_whose_target_never_varies_has_nothing_to_explain() -> None:
    _, X = normal(100, 4)
    selector = EasyFS(1, task="regression", random_state=0, **SMALL).partial_fit(X, np.ones(100))
    with pytest.raises(ValueError, match="y is constant"):
        selector.order_  # noqa: B018


@pytest.mark.parametrize("compression", ["ranking", "sequential"])
def test_a_first_block_in_which_nothing_varies_is_named(compression: str) -> None:
    rng, X = normal(50, 6)
    y = None if compression == "sequential" else rng.integers(0, 2, 50)
    selector = FORMS[compression](1, random_state=0, **SMALL_OF[compression]).partial_fit(np.ones((50, 6)), y)
    with pytest.raises(ValueError, match="none of the 6 columns varies in the rows that the plan was made from"):
        selector.partial_fit(X, y).order_  # noqa: B018


def test_a_stream_finds_planted_columns_from_its_own_first_block() -> None:
    X, y = by_class(2000, 20)
    selector = stream(EasyFS(2, random_state=0, **SMALL), X, y, list(range(200, 2000, 200)))
    assert set(selector.order_[:2]) == {1, 4}


@both_compressions
def test_classes_may_appear_later(compression: str) -> None:
    X, y = by_class(600, 8, columns=(1, 4, 6))
    order = np.argsort(y == 3, kind="stable")
    X, y = X[order], y[order]
    cut = int((y != 3).sum())
    make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
    selector = stream(clone(make), X, y, [cut // 2, cut])
    assert set(selector.order_[:3]) == {1, 4, 6}
    np.testing.assert_array_equal(selector.classes_, [0, 1, 2, 3])
    assert_same_selection(selector, clone(make).partial_fit(X, y, plan=selector.plan_))


@both_compressions
def test_a_stream_may_see_fewer_classes_than_its_network(compression: str) -> None:
    X, y = by_class(900, 8)
    make = FORMS[compression](2, random_state=0, **SMALL_OF[compression])
    network = make.draw_plan(X, y)
    part = y != 0
    selector = clone(make).partial_fit(X[part], y[part], plan=network)
    assert set(selector.order_[:2]) == {1, 4}
    np.testing.assert_array_equal(selector.classes_, [1, 2])


@every_stream
def test_arrays_may_be_overwritten_after_their_block(task: str, compression: str) -> None:
    X, y = targets_for(task, 40)
    weight = np.arange(40) % 3 + 1.0
    make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
    whole = clone(make).partial_fit(X.copy(), None if y is None else y.copy(), weight.copy())
    selector = make.partial_fit(X, y, weight)
    for used in (X, y, weight):
        if used is not None:
            used[:] = used[::-1].copy()
    weight[:] = 1.0
    assert_same_selection(whole, selector)


def test_partial_fit_after_fit_starts_anew() -> None:
    X, y = by_class(300, 8)
    selector = EasyFS(3, random_state=0, **SMALL).fit(X[:, :6], y == 1)
    selector.partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    fresh = stream(EasyFS(3, random_state=0, **SMALL), X, y, [200])
    assert_same_selection(selector, fresh)
    np.testing.assert_array_equal(selector.classes_, fresh.classes_)
    assert selector.n_features_in_ == 8


def test_fit_after_partial_fit_starts_anew() -> None:
    X, y = by_class(300, 8)
    selector = stream(EasyFS(3, random_state=0, **SMALL), X[:, ::-1], y, [100])
    assert_same_selection(selector.fit(X, y), EasyFS(3, random_state=0, **SMALL).fit(X, y))
    assert not hasattr(selector, "plan_")


def test_the_selection_is_computed_when_it_is_read() -> None:
    X, y = by_class(300, 8)
    selector = EasyFS(3, random_state=0, **SMALL).partial_fit(X[:200], y[:200])
    selector.set_params(n_features_to_select=5)
    assert selector.n_features_ == 5
    early = selector.scores_.copy()
    selector.partial_fit(X[200:], y[200:])
    assert not np.array_equal(selector.scores_, early)
    assert_same_selection(selector, stream(EasyFS(5, random_state=0, **SMALL), X, y, [200]))


def test_rows_fed_to_a_truncated_copy_do_not_reach_its_original() -> None:
    X, y = by_class(300, 8)
    selector = EasyFS(3, random_state=0, **SMALL).partial_fit(X[:200], y[:200])
    before = selector.scores_.copy()
    shorter = selector.truncate(1)
    shorter.partial_fit(X[200:], y[200:])
    selector.set_params(n_features_to_select=3).partial_fit(X[200:], y[200:])
    assert not np.array_equal(selector.scores_, before)
    assert_same_selection(selector, stream(EasyFS(3, random_state=0, **SMALL), X, y, [200]))


def test_the_task_is_fixed_by_the_first_block() -> None:
    rng, X = normal(300, 8)
    y = 3.0 * X[:, 2] + 0.1 * rng.standard_normal(300)
    y[100:] = np.round(y[100:])
    selector = EasyFS(1, random_state=0, **SMALL).partial_fit(X[:100], y[:100])
    selector.partial_fit(X[100:], y[100:].astype(int))
    assert selector.task_ == "regression"
    assert selector.order_[0] == 2
    assert not hasattr(selector, "classes_")


def test_a_refused_block_leaves_the_statistics_as_they_were() -> None:
    X, y = by_class(300, 8)
    selector = EasyFS(3, random_state=0, **SMALL).partial_fit(X, y)
    bad = X.copy()
    bad[7, 3] = np.inf
    for block, labels in ((bad, y), (X[:, :5], y), (X, y[:10]), (X, X[:, 0]), (X, None)):
        with pytest.raises(ValueError):  # noqa: PT011
            selector.partial_fit(block, labels)
    assert_same_selection(selector, EasyFS(3, random_state=0, **SMALL).partial_fit(X, y))
    np.testing.assert_array_equal(selector.classes_, [0, 1, 2])


def test_blocks_of_one_row_may_follow() -> None:
    X, y = by_class(120, 8)
    make = EasyFS(3, random_state=0, **SMALL)
    network = make.draw_plan(X, y)
    whole = clone(make).partial_fit(X, y, plan=network)
    assert_same_selection(whole, stream(make, X, y, list(range(50, 120)), network))


def test_a_first_block_of_one_class_may_be_followed_by_others() -> None:
    X, y = by_class(600, 8)
    order = np.argsort(y, kind="stable")
    selector = stream(EasyFS(2, random_state=0, **SMALL), X[order], y[order], [100])
    assert set(selector.order_[:2]) == {1, 4}


def test_a_column_that_is_constant_in_the_first_block_may_matter_later() -> None:
    X, y = by_class(1000, 8)
    for value in (0.0, 3.0):
        X[:50, 4] = value
        selector = stream(EasyFS(2, random_state=0, **SMALL), X, y, [50, 300])
        assert set(selector.order_[:2]) == {1, 4}


def test_scale_is_what_the_network_sees() -> None:
    X, y = by_class(400, 8)
    X = X * 10.0 ** np.arange(8) + 1e3
    mean, spread = X.mean(axis=0), X.std(axis=0)
    selector = EasyFS(2, random_state=0, **SMALL).partial_fit(X[:20], y[:20], scale=(mean, spread))
    selector.partial_fit(X[20:], y[20:])
    np.testing.assert_array_equal(selector.plan_.scaling.center, mean)
    np.testing.assert_array_equal(selector.plan_.scaling.scale, spread)
    assert set(selector.order_[:2]) == {1, 4}


def test_scale_does_not_change_the_answer_without_nodes() -> None:
    X, y = by_class(400, 8)
    make = EasyFS(3, n_hidden=0, predicted_share=0, random_state=0)
    scaled = clone(make).partial_fit(X, y, scale=(X.mean(axis=0) + 0.5, 2.0 * X.std(axis=0)))
    assert_same_selection(clone(make).fit(X, y), scaled)


def test_one_network_serves_several_selectors() -> None:
    X, y = by_class(300, 8)
    first = EasyFS(3, random_state=0, **SMALL).partial_fit(X, y)
    second = EasyFS(3, random_state=99, **SMALL).partial_fit(X, y, plan=first.plan_)
    assert_same_selection(first, second)


def test_drawing_a_network_leaves_the_selector_unfitted() -> None:
    X, y = by_class(300, 8)
    selector = EasyFS(3, random_state=0, **SMALL)
    selector.draw_plan(X, y)
    assert not hasattr(selector, "n_features_in_")
    assert not selector.__sklearn_is_fitted__()


def test_a_stream_can_be_stored_and_continued() -> None:
    import pickle

    import skops.io

    X, y = by_class(300, 8)
    selector = EasyFS(3, random_state=0, **SMALL).partial_fit(X[:200], y[:200])
    stored = skops.io.dumps(selector)
    needed = skops.io.get_untrusted_types(data=stored)
    for again in (pickle.loads(pickle.dumps(selector)), skops.io.loads(stored, trusted=needed)):
        again.partial_fit(X[200:], y[200:])
        assert_same_selection(again, stream(EasyFS(3, random_state=0, **SMALL), X, y, [200]))
