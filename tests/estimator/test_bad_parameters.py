"""Bad parameters: each error names the parameter, what was found and what to do about it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

from easyfs import EasyFS

from .bad_input import FORMS, NAMES, says, small, table


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("task", "ranking"),
        ("task", None),
        ("n_hidden", -1),
        ("n_hidden", 2.5),
        ("n_hidden", "auto"),
        ("n_hidden", True),
        ("n_enhancement", -1),
        ("n_enhancement", 10.5),
        ("n_enhancement", "many"),
        ("connections", 0),
        ("connections", 2.0),
        ("n_rounds", 0),
        ("n_rounds", 1.5),
        ("n_rounds", "two"),
        ("literal", "yes"),
        ("literal", None),
        ("clip", 0.0),
        ("clip", "4 sd"),
        ("eps2", 0),
        ("eps2", 0.0),
        ("eps2", -0.3),
        ("eps2", float("nan")),
        ("eps2", float("inf")),
        ("eps2", "small"),
        ("eps2", None),
        ("coverage", -0.1),
        ("coverage", 1.1),
        ("coverage", float("nan")),
        ("coverage", "auto"),
        ("coverage", None),
        ("interactions", "auto"),
        ("interactions", None),
        ("interactions", 2),
        ("predicted_share", -0.1),
        ("predicted_share", 1.1),
        ("coverage_power", -1.0),
        ("lambda1", -1.0),
        ("lambda1", float("inf")),
        ("lambda1", "auto"),
        ("lambda2", -0.5),
        ("lambda2", float("nan")),
        ("lambda2", float("inf")),
        ("top_share", 0.0),
        ("top_share", 1.5),
        ("top_share", None),
        ("n_features_to_select", 0),
        ("n_features_to_select", -3),
        ("n_features_to_select", 0.0),
        ("n_features_to_select", 1.5),
        ("n_features_to_select", -0.5),
        ("n_features_to_select", float("nan")),
        ("n_features_to_select", "all"),
        ("n_features_to_select", None),
        ("n_features_to_select", True),
    ],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_value_out_of_range_is_named_with_what_was_found(method: str, parameter: str, value: Any) -> None:
    X, y = table()
    forms = [form for form in FORMS.values() if parameter in form().get_params()]
    assert forms
    for form in forms:
        selector = small(form=form).set_params(**{parameter: value})
        with pytest.raises((ValueError, TypeError), match=says(parameter, value)):
            getattr(selector, method)(X, y)


def test_a_choice_lists_what_is_allowed() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("task", "cluster", "classification", "regression")):
        small(task="cluster").fit(X, y)


def test_the_constructor_stores_and_fit_checks() -> None:
    selector = EasyFS(-5, eps2=0, task="guess")
    assert selector.get_params()["task"] == "guess"


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_more_features_than_there_are(method: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("n_features_to_select=6", "more than the 5", "at most 5")):
        getattr(small(6), method)(X, y)


def test_more_features_than_exclude_leaves() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("n_features_to_select=4", "3 features")):
        small(4, exclude=[0, 1]).fit(X, y)


def test_more_features_than_there_are_groups() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("n_features_to_select=4", "3 groups")):
        small(4, feature_groups=[0, 0, 1, 1, 2]).fit(X, y)


def test_truncate_to_more_than_there_are_or_to_auto() -> None:
    X, y = table()
    selector = small(2, exclude=[0]).fit(X, y)
    with pytest.raises(ValueError, match=says("n_features_to_select=5", "more than the 4")):
        selector.truncate(5)
    with pytest.raises(ValueError, match=says("n_features_to_select", "auto", "count")):
        selector.truncate("auto")
    with pytest.raises(ValueError, match=says("n_features_to_select=0", "at least 1")):
        selector.truncate(0)


@pytest.mark.parametrize("parameter", ["include", "exclude"])
def test_an_unknown_name_comes_with_the_nearest_known_one(parameter: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says(parameter, "'hieght'", "Did you mean 'height'")):
        small(**{parameter: ["hieght"]}).fit(pd.DataFrame(X, columns=NAMES), y)


@pytest.mark.parametrize("parameter", ["include", "exclude"])
def test_a_name_that_resembles_none_is_still_named(parameter: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says(parameter, "'zzz'", "does not have")):
        small(**{parameter: "zzz"}).fit(pd.DataFrame(X, columns=NAMES), y)


@pytest.mark.parametrize("parameter", ["include", "exclude"])
def test_a_name_for_an_array_says_that_there_are_no_names(parameter: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says(parameter, "'age'", "no column names", "positions")):
        small(**{parameter: ["age"]}).fit(X, y)


@pytest.mark.parametrize("parameter", ["include", "exclude"])
@pytest.mark.parametrize("place", [5, -1, 1000])
def test_a_place_out_of_range_says_which_are_there(parameter: str, place: int) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says(parameter, place, "5 columns", "0 to 4")):
        small(**{parameter: [place]}).fit(X, y)


@pytest.mark.parametrize("parameter", ["include", "exclude"])
@pytest.mark.parametrize("value", [[1.5], [None], 1.5, [True, False]])
def test_entries_that_are_neither_names_nor_places(parameter: str, value: Any) -> None:
    X, y = table()
    with pytest.raises((ValueError, TypeError), match=says(parameter, "names or positions")):
        small(**{parameter: value}).fit(X, y)


@pytest.mark.parametrize("parameter", ["include", "exclude"])
def test_a_column_listed_twice(parameter: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says(parameter, "3", "twice")):
        small(4, **{parameter: [3, 1, 3]}).fit(X, y)
    with pytest.raises(ValueError, match=says(parameter, "income", "twice")):
        small(4, **{parameter: ["income", 3]}).fit(pd.DataFrame(X, columns=NAMES), y)


def test_a_column_both_included_and_excluded() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("2", "include", "exclude", "both")):
        small(include=[1, 2], exclude=[2, 3]).fit(X, y)
    with pytest.raises(ValueError, match=says("'weight'", "include", "exclude", "both")):
        small(include=["weight"], exclude=[2]).fit(pd.DataFrame(X, columns=NAMES), y)


def test_members_of_one_group_both_included_and_excluded() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("group", "include", "exclude")):
        small(1, include=[0], exclude=[1], feature_groups=[0, 0, 1, 2, 3]).fit(X, y)


def test_more_included_than_asked_for() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("include", "3", "n_features_to_select=2", "at least 3")):
        small(2, include=[0, 1, 2]).fit(X, y)


def test_everything_excluded() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("exclude", "no column")):
        small(1, exclude=[0, 1, 2, 3, 4]).fit(X, y)


@pytest.mark.parametrize("groups", [[0, 1], list(range(9)), []])
def test_groups_of_another_length(groups: list[int]) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("groups", len(groups), "5 columns", "one label for each")):
        small(feature_groups=groups).fit(X, y)


@pytest.mark.parametrize("groups", [7, [0, [1], 2, 3, 4]])
def test_groups_that_are_not_labels(groups: Any) -> None:
    X, y = table()
    with pytest.raises((ValueError, TypeError), match="groups"):
        small(feature_groups=groups).fit(X, y)
