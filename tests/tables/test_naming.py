"""Target and weights that are columns of the table, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from easyfs import EasyFS, EasyFSRanking, LassoSelector, PearsonSelector
from easyfs.evaluation import compare, stability_selection

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
SELECTORS: list[Any] = [EasyFS(2, random_state=0), EasyFSRanking(2, random_state=0), PearsonSelector(2), LassoSelector(2)]


def columns(n: int = 200) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {f"x{j}": rng.standard_normal(n) for j in range(5)}
    table["price"] = table["x1"] - 2.0 * table["x3"] + 0.1 * rng.standard_normal(n)
    table["kind"] = np.where(table["x2"] > 0, "up", "down")
    table["count"] = rng.integers(1, 4, n).astype(float)
    return table


def features(table: dict[str, Any]) -> dict[str, Any]:
    return {name: values for name, values in table.items() if name.startswith("x")}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
def test_a_target_by_name_is_the_target_by_value(selector: Any, library: str) -> None:
    table, make = columns(), LIBRARIES[library]
    named = {k: v for k, v in table.items() if k not in ("kind", "count")}
    by_value = selector.fit(make(features(table)), table["price"]).order_.tolist()
    fitted = selector.fit(make(named), "price")
    assert fitted.order_.tolist() == by_value
    assert list(fitted.feature_names_in_) == list(features(table))
    assert "price" not in fitted.get_feature_names_out()
    for given in (named, features(table)):  # with or without the target
        assert np.asarray(fitted.transform(make(given))).shape == (200, 2)
        assert (
            len(
                pa.table(fitted.take(make(given))).column_names if library != "pandas" else fitted.take(make(given)).columns
            )
            == 2
        )


@pytest.mark.parametrize("library", LIBRARIES)
def test_weights_and_several_targets_by_name(library: str) -> None:
    table, make = columns(), LIBRARIES[library]
    X = make({k: v for k, v in table.items() if k != "kind"})
    by_value = EasyFS(2, random_state=0).fit(make(features(table)), table["price"], sample_weight=table["count"])
    by_name = EasyFS(2, random_state=0).fit(X, "price", sample_weight="count")
    np.testing.assert_array_equal(by_name.order_, by_value.order_)
    np.testing.assert_allclose(by_name.gains_, by_value.gains_)
    both = EasyFS(2, random_state=0).fit(X, ["price", "count"])
    values = EasyFS(2, random_state=0).fit(make(features(table)), np.column_stack([table["price"], table["count"]]))
    np.testing.assert_array_equal(both.order_, values.order_)
    assert both.n_features_in_ == 5


def test_classes_by_name_in_blocks() -> None:
    table = pd.DataFrame({k: v for k, v in columns().items() if k not in ("price", "count")})
    stream = EasyFS(1, random_state=0).partial_fit(table[:100], "kind").partial_fit(table[100:], "kind")
    assert stream.get_feature_names_out().tolist() == ["x2"]
    assert stream.classes_.tolist() == ["down", "up"]


def test_a_list_of_labels_is_no_list_of_names() -> None:
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "b": [2.0, 1.0, 0.0, 1.0]})
    assert EasyFS(1, random_state=0).fit(X, ["a", "b", "b", "a"]).classes_.tolist() == ["a", "b"]


def test_names_that_are_wrong() -> None:
    table = pd.DataFrame(columns())
    with pytest.raises(ValueError, match=r"y='prise' names a column that X does not have. Did you mean 'price'"):
        EasyFS(1).fit(table, "prise")
    with pytest.raises(ValueError, match=r"sample_weight='weight' names a column"):
        EasyFS(1).fit(table, "price", sample_weight="weight")
    with pytest.raises(ValueError, match="has no column names"):
        EasyFS(1).fit(table[["x1", "x2"]].to_numpy(), "price")
    with pytest.raises(ValueError, match="cannot be both"):
        EasyFS(1).fit(table, "price", sample_weight="price")
    with pytest.raises(ValueError, match="twice"):
        EasyFS(1).fit(table, ["price", "price"])


def test_one_wrong_name_of_several_targets_is_said() -> None:
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=["a", "price", "size"])
    with pytest.raises(ValueError, match=r"y='prise' names a column that X does not have\. Did you mean 'price'"):
        EasyFS(1).fit(table, ["size", "prise"])


def test_comparisons_stability_and_reports_take_the_name_of_the_target(tmp_path: Any) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(80, 3)), columns=list("abc"))
    table["y"] = table.a + 0.1 * rng.normal(size=80)
    X, y = table.drop(columns="y"), table.y
    by_name, by_values = (compare(["pearson"], *given, sizes=[1], repeats=1) for given in ((table, "y"), (X, y)))
    assert by_name.to_markdown() == by_values.to_markdown()
    shares = [
        stability_selection("pearson", *given, n_runs=4, random_state=0).frequency for given in ((table, "y"), (X, y))
    ]
    np.testing.assert_array_equal(*shares)
    selector = EasyFS(1, random_state=0).fit(table, "y")
    pages = [selector.report(None, *given, stability=2).content["features"] for given in ((table, "y"), (X, y))]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("parameter", ["include", "exclude"])
def test_the_target_is_neither_included_nor_excluded(parameter: str, library: str) -> None:
    table = LIBRARIES[library](columns())
    with pytest.raises(ValueError, match=f"{parameter} names column 'price', which is the target .* leave it out"):
        EasyFS(2, **{parameter: ["x1", "price"]}).fit(table, "price")
    with pytest.raises(ValueError, match=f"{parameter} names column 'count', which is the weights"):
        EasyFS(2, **{parameter: "count"}).fit(table, "price", sample_weight="count")
