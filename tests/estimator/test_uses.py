"""EasyFS in its four uses: classes, numbers, several targets and none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from easyfs import EasyFS, EasyFSRanking
from easyfs.passes.choose import _eps2_of_noise

from .shared import (
    FORMS,
    SMALL,
    assert_same_selection,
    both_compressions,
    by_class,
    normal,
    targets_for,
)

# Right answers come with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")


@both_compressions
def test_classification_finds_the_columns_that_move_with_the_class(compression: str) -> None:
    X, y = by_class(400, 30, columns=(2, 17, 25))
    selector = FORMS[compression](3, random_state=0).fit(X, y)
    assert set(selector.order_[:3]) == {2, 17, 25}
    assert selector.task_ == "classification"
    np.testing.assert_array_equal(selector.classes_, [0, 1, 2, 3])


@both_compressions
def test_regression_finds_the_columns_that_make_the_number(compression: str) -> None:
    rng, X = normal(400, 30)
    y = X[:, 2] - X[:, 17] + 0.1 * rng.standard_normal(400)
    selector = FORMS[compression](2, random_state=0).fit(X, y)
    assert set(selector.order_[:2]) == {2, 17}
    assert selector.task_ == "regression"
    assert not hasattr(selector, "classes_")


@both_compressions
def test_several_targets_get_a_column_each(compression: str) -> None:
    rng, X = normal(400, 30)
    Y = X[:, [2, 17]] * [1.0, 1000.0] + [0.1, 100.0] * rng.standard_normal((400, 2)) + [0.0, 1e4]
    selector = FORMS[compression](2, random_state=0).fit(X, Y)
    assert set(selector.order_[:2]) == {2, 17}
    assert selector.task_ == "regression"


def test_no_target_selects_one_column_of_each_factor() -> None:
    rng, factors = normal(300, 5)
    X = np.repeat(factors, 6, axis=1) + 0.3 * rng.standard_normal((300, 30))
    selector = EasyFS(5, random_state=0).fit(X)
    assert sorted(selector.order_[:5] // 6) == [0, 1, 2, 3, 4]
    assert selector.task_ is None


@both_compressions
def test_multilabel_gets_a_column_for_each_label(compression: str) -> None:
    _, X = normal(400, 20)
    Y = (X[:, [3, 12]] > 0).astype(int)
    selector = FORMS[compression](2, random_state=0).fit(X, Y)
    assert set(selector.order_[:2]) == {3, 12}
    assert selector.task_ == "classification"


def test_few_integers_are_classes_unless_the_task_says_otherwise() -> None:
    rng, X = normal(400, 10)
    y = np.clip(np.round(X[:, 4] + 0.1 * rng.standard_normal(400)), -2, 2).astype(int)
    assert EasyFS(1, random_state=0, **SMALL).fit(X, y).task_ == "classification"
    as_numbers = EasyFS(1, task="regression", random_state=0, **SMALL).fit(X, y)
    assert as_numbers.task_ == "regression"
    assert as_numbers.order_[0] == 4
    assert_same_selection(as_numbers, EasyFS(1, random_state=0, **SMALL).fit(X, y + 1e-9 * np.arange(400)))


def test_a_second_column_that_repeats_the_first_gives_way_to_a_weaker_new_one() -> None:
    rng, X = normal(500, 10)
    X[:, 7] = X[:, 2] + 0.05 * rng.standard_normal(500)
    y = 2.0 * X[:, 2] + X[:, 5] + 0.1 * rng.standard_normal(500)
    assert 5 in EasyFS(2, random_state=0).fit(X, y).get_support(indices=True)


def test_more_columns_than_rows() -> None:
    rng, X = normal(60, 2000)
    y = X[:, 5] + X[:, 1500] + 0.1 * rng.standard_normal(60)
    assert set(EasyFS(2, random_state=0).fit(X, y).order_[:2]) == {5, 1500}


@pytest.mark.parametrize(
    "parameters", [{"coverage": 0.0}, {"n_hidden": 0}, {"predicted_share": 0.0}, {"interactions": False}]
)
def test_parts_of_the_method_can_be_switched_off(parameters: dict[str, Any]) -> None:
    X, y = targets_for("regression", 300)
    assert set(EasyFS(2, random_state=0, **(SMALL | parameters)).fit(X, y).order_[:2]) == {1, 4}


@pytest.mark.parametrize(
    "parameters", [{"literal": True}, {"n_rounds": 1}, {"n_rounds": 3}, {"eps2": 0.1}, {"lambda1": 0.0}]
)
def test_ranking_finds_planted_classes_under_other_settings(parameters: dict[str, Any]) -> None:
    X, y = by_class(400, 20)
    assert set(EasyFSRanking(2, random_state=0, **parameters).fit(X, y).order_[:2]) == {1, 4}


def test_large_precision_ranks_each_column_as_if_alone() -> None:
    rng, X = normal(500, 8)
    y = X @ [3.0, 2.5, 2.0, 1.5, 1.0, 0.5, 0.0, 0.0] + rng.standard_normal(500)
    alone = np.argsort(-np.abs(np.corrcoef(X.T, y)[-1, :-1]))
    selector = EasyFS(8, eps2=1e6, n_hidden=0, interactions=False, random_state=0).fit(X, y)
    np.testing.assert_array_equal(selector.order_[:5], alone[:5])  # beyond, what tells something comes first


def test_whole_numbers_that_look_like_quantities_are_read_as_such() -> None:
    _, X = normal(200, 6)
    y = np.round(100 * X[:, 0])
    selector = EasyFS(2, random_state=0).fit(X, y)
    assert (selector.task_, selector.order_[0]) == ("regression", 0)
    assert_same_selection(selector, EasyFS(2, task="regression", random_state=0).fit(X, y))


def test_the_noisier_the_target_the_coarser_the_precision() -> None:
    rng, X = normal(150, 40)
    noise = rng.standard_normal(150)
    found = []
    for size in (0.1, 1.0, 4.0):
        selector = EasyFS(3, random_state=0).partial_fit(X, X[:, 3] + X[:, 5] + size * noise)
        found.append(_eps2_of_noise(selector.plan_, selector._statistics))
        selector.partial_fit(np.tile(X, (20, 1)), np.tile(X[:, 3] + X[:, 5] + size * noise, 20))
        assert _eps2_of_noise(selector.plan_, selector._statistics) - 0.2 < (found[-1] - 0.2) / 10
    assert 0.2 < found[0] < found[1] < found[2] <= 1.2
    assert found[0] < 0.21
