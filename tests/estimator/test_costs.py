"""Costs and a budget; sources that count alike, and how many of each."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS

pytestmark = pytest.mark.filterwarnings("error")


def table(n: int = 500) -> tuple[pd.DataFrame, np.ndarray]:
    """A dear column that tells all, and three cheap ones that tell much of it together; ``g`` and ``h`` are noise."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((n, 5)), columns=["a", "b", "c", "g", "h"])
    y = frame["a"] + frame["b"] + frame["c"]
    frame.insert(0, "dear", y + 0.3 * rng.standard_normal(n))
    return frame, (y + 0.5 * rng.standard_normal(n)).to_numpy()


def names(selector: EasyFS) -> list[str]:
    return [selector.feature_names_in_[j] for j in selector.order_[: selector.n_features_]]


def test_equal_costs_change_nothing() -> None:
    frame, y = table()
    plain = EasyFS(4, random_state=0).fit(frame, y)
    for costs in ({"dear": 1}, np.full(6, 7.0), [2] * 6):
        found = EasyFS(4, random_state=0, costs=costs).fit(frame, y)
        assert list(found.order_) == list(plain.order_)
        np.testing.assert_array_equal(found.gains_, plain.gains_)


def test_columns_come_by_gain_for_their_cost() -> None:
    frame, y = table()
    assert names(EasyFS(1, random_state=0).fit(frame, y)) == ["dear"]
    found = EasyFS(3, random_state=0, costs={"dear": 50}).fit(frame, y)
    assert set(names(found)) == {"a", "b", "c"}
    assert names(EasyFS(1, random_state=0, costs={0: 1.1}).fit(frame, y)) == ["dear"]


@pytest.mark.parametrize("k", ["auto", 1.0, 5, "cv"])
def test_a_budget_is_kept_and_cheaper_columns_fill_it(k: Any) -> None:
    frame, y = table()
    costs = {"dear": 2.5, "a": 2, "b": 2, "c": 2, "g": 1, "h": 1}
    for budget in (1, 2.5, 3, 4.5, 6.0, 100):
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "ignore", "none of the 6 columns that budget"
            )  # what a budget of 1 pays for tells nothing
            found = EasyFS(k, random_state=0, costs=costs, budget=budget).fit(frame, y)
        spent = sum(costs[name] for name in names(found))
        assert 0 < spent <= budget
        if k == 1.0:  # nothing that is left would fit
            assert all(spent + cost > budget for name, cost in costs.items() if name not in names(found))
        if k == "auto" and budget > 1:
            assert not {"g", "h"} & set(names(found))


def test_a_number_and_a_budget_are_both_limits() -> None:
    frame, y = table()
    assert EasyFS(2, random_state=0, budget=4).fit(frame, y).n_features_ == 2
    assert EasyFS(5, random_state=0, budget=4).fit(frame, y).n_features_ == 4


def test_included_columns_count_and_groups_cost_what_their_columns_cost() -> None:
    frame, y = table()
    found = EasyFS(1.0, random_state=0, include=["g"], costs={"g": 3}, budget=4).fit(frame, y)
    assert names(found)[0] == "g"
    assert found.n_features_ == 2
    found = EasyFS(1.0, random_state=0, feature_groups=["d", "p", "p", "c", "g", "g"], budget=2).fit(frame, y)
    assert found.n_features_ == 2
    assert set(names(found)) in ({"a", "b"}, {"dear", "c"})


def test_a_category_costs_once() -> None:
    frame, y = table()
    frame["city"] = np.random.default_rng(1).choice(["Rome", "Oslo", "Bern", "Graz"], len(frame))
    found = EasyFS(1.0, random_state=0, include=["city"], budget=3, costs={"city": 2}).fit(frame, y)
    assert found.n_features_ == 2
    assert names(found)[0] == "city"


def test_a_pair_is_taken_only_where_it_fits() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 8))
    y = np.sign(X[:, 2] * X[:, 5]) + 0.3 * X[:, 7] + 0.3 * rng.standard_normal(1500)
    assert set(EasyFS(random_state=0).fit(X, y).get_support(indices=True)) == {2, 5, 7}
    assert set(EasyFS(random_state=0, costs={2: 5}, budget=5).fit(X, y).get_support(indices=True)) == {7}
    assert set(EasyFS(random_state=0, costs={2: 5}, budget=6).fit(X, y).get_support(indices=True)) in ({2, 5}, {7})
    found = EasyFS(random_state=0, sources={"lab": [2, 5]}, max_per_source=1).fit(X, y)
    assert set(found.get_support(indices=True)) == {7}


def two_sources(n: int = 400) -> tuple[np.ndarray, dict[str, list[int]]]:
    """Ninety columns of one source, which are noise around nine factors, and six of another."""
    rng = np.random.default_rng(0)
    many = rng.standard_normal((n, 9)) @ rng.standard_normal((9, 90)) + rng.standard_normal((n, 90))
    return np.column_stack([many, rng.standard_normal((n, 6))]), {"genes": list(range(90)), "clinic": list(range(90, 96))}


def test_a_small_source_has_the_same_say_in_coverage() -> None:
    X, sources = two_sources()
    of_clinic = [int((EasyFS(6, random_state=0, sources=s).fit(X).order_[:6] >= 90).sum()) for s in (None, sources)]
    assert of_clinic[0] == 0
    assert of_clinic[1] >= 3
    labels = ["genes"] * 90 + ["clinic"] * 6
    one, other = (EasyFS(6, random_state=0, sources=s).fit(X) for s in (sources, labels))
    assert list(one.order_) == list(other.order_)


def test_one_source_for_all_changes_nothing_but_rounding() -> None:
    X, _ = two_sources()
    plain, found = (EasyFS(6, random_state=0, sources=s).fit(X) for s in (None, ["all"] * 96))
    np.testing.assert_allclose(found.gains_, plain.gains_, rtol=1e-3)


@pytest.mark.parametrize("most", [2, {"genes": 2}, {"genes": 2, "clinic": 1}])
@pytest.mark.parametrize("supervised", [False, True])
def test_no_more_than_so_many_of_a_source(most: Any, supervised: bool) -> None:
    X, sources = two_sources()
    y = X[:, :90] @ np.random.default_rng(1).standard_normal(90) if supervised else None
    found = EasyFS(1.0, random_state=0, sources=sources, max_per_source=most).fit(X, y)
    chosen = found.get_support(indices=True)
    quota = most if isinstance(most, dict) else dict.fromkeys(sources, most)
    for source, columns in sources.items():
        assert np.isin(chosen, columns).sum() == min(quota.get(source, 99), len(columns))


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"costs": {"dere": 2}}, r"costs names column 'dere', which X does not have. Did you mean 'dear'"),
        ({"costs": {"dear": 0}}, r"costs has 0 for column 'dear'; give a number above 0"),
        ({"costs": {"dear": True}}, r"costs has True for column 'dear'"),
        ({"costs": {"dear": "two"}}, r"costs has 'two' for column 'dear'"),
        ({"costs": [1, 2, np.nan, 1, 1, 1]}, r"costs has nan for column 'b'"),
        ({"costs": [1, 2]}, r"costs has 2 numbers, but X has 6 columns"),
        ({"costs": 3}, r"costs=3: give one number for each column"),
        ({"budget": 0}, r"budget=0: give a number above 0"),
        ({"budget": "all"}, r"budget='all': give a number above 0"),
        ({"budget": 0.5}, r"budget=0.5 pays for no column; the cheapest costs 1"),
        ({"budget": 1, "include": ["a", "b"]}, r"the included columns cost 2, more than budget=1"),
        ({"sources": ["x"]}, r"sources has 1 labels, but X has 6 columns"),
        ({"sources": "x"}, r"sources='x': give one label for each column"),
        ({"sources": {"x": ["nope"]}}, r"sources\['x'\] names column 'nope'"),
        ({"sources": {"x": ["a"], "y": ["a"]}}, r"column 'a' is in two sources, 'x' and 'y'"),
        ({"sources": {"x": []}}, r"sources\['x'\] has no columns"),
        ({"sources": [[1]] * 6}, r"sources: a label for each column must be a name or a number"),
        ({"max_per_source": 2}, r"max_per_source=2 needs sources"),
        ({"sources": {"x": ["a"]}, "max_per_source": 0}, r"max_per_source=0: give a whole number of at least 1"),
        ({"sources": {"x": ["a"]}, "max_per_source": {"z": 1}}, r"max_per_source names source 'z'"),
        ({"sources": ["x"] * 6, "max_per_source": 1, "include": ["a", "b"]}, r"include lists more columns of a source"),
        (
            {"sources": ["x"] * 6, "max_per_source": 2, "n_features_to_select": 3},
            r"allows 2 columns in all, fewer than",
        ),
        ({"sources": ["x"] * 6, "max_per_source": {"x": 0}}, r"max_per_source allows no column at all"),
        (
            {"sources": list("xxxyyy"), "feature_groups": [1, 1, 2, 2, 3, 3]},
            r"the group of column 'b' has columns",
        ),
    ],
)
def test_what_cannot_be_is_said(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EasyFS(**asked).fit(*table(60))


def test_costs_may_change_after_blocks_but_sources_may_not() -> None:
    frame, y = table()
    found = EasyFS(1, random_state=0, costs=np.ones(6), sources=["x"] * 6).partial_fit(frame, y)
    assert names(found) == ["dear"]
    found.set_params(costs=np.array([50.0, 1, 1, 1, 1, 1]))
    assert names(found) != ["dear"]
    with pytest.raises(ValueError, match="made with other sources"):
        _ = found.set_params(sources=list("xxxyyy")).order_
