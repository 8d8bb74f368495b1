"""Bad targets and weights: each error says what was found and what to do about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from easyfs import EasyFSRanking

from .bad_input import FORMS, says, small, table


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_another_length(method: str) -> None:
    X, y = table()
    for other in (y[:30], np.append(y, 0)):
        with pytest.raises(ValueError, match=says("y", len(other), "40 rows", "one for each row")):
            getattr(small(), method)(X, other)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    "y",
    [
        np.where(np.arange(40) == 7, np.nan, np.arange(40) % 2),
        np.where(np.arange(40) == 7, np.nan, np.linspace(0, 1, 40)),
        np.array([None if i == 7 else "ab"[i % 2] for i in range(40)], dtype=object),
        [float("nan") if i == 7 else i % 2 for i in range(40)],
        pd.Series([None if i == 7 else "ab"[i % 2] for i in range(40)]),
        pd.Series([pd.NA if i == 7 else i % 2 for i in range(40)], dtype="Int64"),
        pd.Series(pd.Categorical([None if i == 7 else "ab"[i % 2] for i in range(40)])),
        pl.Series([None if i == 7 else i % 2 for i in range(40)]),
        pl.Series([None if i == 7 else "ab"[i % 2] for i in range(40)]),
        pa.chunked_array([[None if i == 7 else i % 2 for i in range(40)]]),
    ],
    ids=["classes", "numbers", "objects", "list", "strings", "Int64", "categories", "polars", "polars text", "arrow"],
)
def test_a_missing_value_names_its_row(method: str, y: Any) -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=says("y", "NaN", "1 row", "row 7", "drop")):
        getattr(small(), method)(X, y)


def test_a_missing_value_in_several_targets() -> None:
    X, _ = table()
    Y = X[:, :2].copy()
    Y[[5, 9], [0, 1]] = np.nan
    with pytest.raises(ValueError, match=says("y", "NaN", "2 rows", "row 5")):
        small().fit(X, Y)


def test_infinity() -> None:
    X, _ = table()
    y = X[:, 0].copy()
    y[3] = -np.inf
    with pytest.raises(ValueError, match=says("y", "infinity", "row 3")):
        small().fit(X, y)


@pytest.mark.parametrize("compression", ["sequential", "ranking"])
@pytest.mark.parametrize("label", [1, "yes"])
def test_one_class_only(compression: str, label: Any) -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=says("y", "1 class", label, "2 classes")):
        small(form=FORMS[compression]).fit(X, [label] * 40)


@pytest.mark.parametrize("compression", ["sequential", "ranking"])
def test_one_class_only_in_a_whole_stream(compression: str) -> None:
    X, _ = table()
    selector = small(form=FORMS[compression]).partial_fit(X, ["yes"] * 40).partial_fit(X, ["yes"] * 40)
    with pytest.raises(ValueError, match=says("1 class", "yes", "2 classes")):
        selector.get_support()


@pytest.mark.parametrize("compression", ["sequential", "ranking"])
def test_one_class_only_where_weights_are_positive(compression: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("1 class", "2 classes")):
        small(form=FORMS[compression]).fit(X, y, sample_weight=y)


@pytest.mark.parametrize("compression", ["sequential", "ranking"])
def test_a_constant_number(compression: str) -> None:
    X, _ = table()
    for y in (np.full(40, 0.5), np.full((40, 2), 0.5)):
        with pytest.raises(ValueError, match=says("y is constant", "target")):
            small(form=FORMS[compression]).fit(X, y)


def test_several_columns_of_classes() -> None:
    X, y = table()
    Y = np.column_stack([y, y + 1, 2 * y])
    with pytest.raises(ValueError, match=says("y", "3 columns", "multiclass-multioutput", "one selector for each")):
        small().fit(X, Y)


def test_more_than_two_dimensions() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("y", "3 dimensions")):
        small().fit(X, y.reshape(40, 1, 1))


def test_text_for_a_regression() -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=says("y", "text", "regression", "classification")):
        small(task="regression").fit(X, ["a", "b"] * 20)


def test_a_continuous_number_for_a_classification() -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=says("y", "continuous", "classification", "regression")):
        small(task="classification").fit(X, X[:, 0])


@pytest.mark.parametrize("task", ["auto", "regression", "classification"])
def test_complex_numbers(task: str) -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=says("complex")):
        small(task=task).fit(X, X[:, 0] + 1j)


@pytest.mark.parametrize("task", ["auto", "regression"])
def test_dates(task: str) -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=says("y", "date")):
        small(task=task).fit(X, np.arange(40).astype("datetime64[D]"))


def test_mixed_labels() -> None:
    X, y = table()
    with pytest.raises((ValueError, TypeError), match=says("y", "labels")):
        small().fit(X, np.array(["yes" if code else 0 for code in y], dtype=object))


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_task_without_a_target(task: str) -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=says("task", task, "y is None")):
        small(task=task).fit(X)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_ranking_without_a_target(method: str) -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=says("the ranking requires y", "y is None", "EasyFS")):
        getattr(small(form=EasyFSRanking), method)(X)


def test_no_target_and_no_hidden_nodes() -> None:
    X, _ = table()
    with pytest.raises(ValueError, match=says("n_hidden=0", "target")):
        small(n_hidden=0).fit(X)


@pytest.mark.parametrize(
    ("weight", "parts"),
    [
        (np.where(np.arange(40) == 7, -1.0, 1.0), ("negative", "row 7", "-1")),
        (np.zeros(40), ("zero", "every row")),
        (np.where(np.arange(40) == 7, np.nan, 1.0), ("row 7", "finite")),
        (np.where(np.arange(40) == 7, np.inf, 1.0), ("row 7", "finite")),
        (np.ones(39), ("39", "40 rows", "one weight for each row")),
        (np.ones((40, 1)), ("2 dimensions",)),
        (["heavy"] * 40, ("heavy",)),
        (-1.0, ("negative",)),
        (0.0, ("zero",)),
    ],
    ids=["negative", "zero", "nan", "inf", "length", "2d", "text", "scalar", "scalar zero"],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_a_bad_weight_is_named_with_what_was_found(method: str, weight: Any, parts: tuple[str, ...]) -> None:
    X, y = table()
    with pytest.raises((ValueError, TypeError), match=says("sample_weight", *parts)):
        getattr(small(), method)(X, y, sample_weight=weight)


@pytest.mark.parametrize("target", ["classes", "numbers", "none"])
def test_one_row_with_a_positive_weight(target: str) -> None:
    X, y = table()
    weight = np.where(np.arange(40) == 7, 1.0, 0.0)
    with pytest.raises(ValueError, match=says("sample_weight", "1 row", "at least 2")):
        small().fit(X, {"classes": y, "numbers": X[:, 0], "none": None}[target], sample_weight=weight)
