"""Values for columns: in their order, by name or place, by a Series of pandas."""

import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS
from easyfs.base.limits import check_costs, check_sources
from easyfs.base.request import check_groups

NAMES = ["a", "b", "c", "d"]
LABELS = {"a": "g", "b": "h", "c": "h", "d": "g"}


@pytest.mark.parametrize(
    "given",
    [
        list(LABELS.values()),
        LABELS,
        {0: "g", 1: "h", 2: "h", 3: "g"},
        pd.Series(LABELS)[::-1],
        pd.Series(list(LABELS.values())),
    ],
    ids=["list", "by name", "by place", "Series by name", "Series by place"],
)
def test_groups_in_every_way(given):
    groups = check_groups(given, 4, NAMES)
    assert groups[0] == groups[3] != groups[1] == groups[2]


def test_a_column_that_no_group_names_is_one_by_itself():
    assert check_groups({"b": 3, "c": 3}, 4, NAMES).tolist() == [0, 1, 1, 2]
    assert len(set(check_groups({"b": 0, "c": 2}, 4, NAMES).tolist())) == 4  # labels are no places


def test_costs_and_sources_of_a_series_belong_to_the_columns_that_it_names():
    costs = pd.Series({"d": 4.0, "c": 3.0, "b": 2.0, "a": 1.0})
    assert check_costs(costs, 4, NAMES).tolist() == [1.0, 2.0, 3.0, 4.0]
    source, called = check_sources(pd.Series(LABELS)[::-1], 4, NAMES)
    assert [called[code] for code in source] == list(LABELS.values())


@pytest.mark.parametrize(
    ("check", "given"),
    [
        (check_costs, {"a": 100, 0: 1}),
        (check_costs, pd.Series([1.0, 2.0], index=["a", "a"])),
        (check_groups, {"b": "x", 1: "y"}),
    ],
)
def test_a_column_that_is_given_twice_is_said(check, given):
    with pytest.raises(ValueError, match="twice"):
        check(given, 4, NAMES)


def test_an_unknown_column_of_a_group_is_said():
    with pytest.raises(ValueError, match=r"feature_groups names column 'bb', which X does not have\. Did you mean 'b'"):
        check_groups({"bb": 1}, 4, NAMES)


def test_groups_by_name_choose_what_groups_by_order_choose():
    rng = np.random.default_rng(7)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=NAMES)
    chosen = [
        EasyFS(1, random_state=0, feature_groups=given).fit(X, X.a + X.b).get_feature_names_out().tolist()
        for given in (list(LABELS.values()), LABELS)
    ]
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == 2
