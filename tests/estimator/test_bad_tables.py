"""Bad tables: each error names the column, what was found and what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from easyfs import EasyFS

from .bad_input import DATAFRAMES, FORMS, NAMES, every_library, frame_with, says, small, table


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_names_its_column_and_how_many(method: str, dtype: Any, value: float) -> None:
    X, y = table()
    X = X.astype(dtype)
    X[[3, 7], 2] = value
    for given in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
        with pytest.raises(ValueError, match=says("infinit", "column 2", "2 infinite", "NaN")):
            getattr(small(), method)(given, y)


@every_library
def test_infinity_in_a_table_names_its_column(library: str) -> None:
    frame, y = frame_with(library, "income", [1.0, np.inf, 2.0])
    with pytest.raises(ValueError, match=says("infinit", "'income'", "Replace")):
        small().fit(frame, y)


@every_library
def test_all_infinite_values_are_counted(library: str) -> None:
    X = np.random.default_rng(0).standard_normal((569, 3))
    columns = {"a": X[:, 0], "b": np.full(569, np.inf), "c": np.where(np.arange(569) == 500, -np.inf, X[:, 2])}
    frame = DATAFRAMES[library](columns)
    with pytest.raises(ValueError, match=says("570 infinite", "2 columns", "569 of them", "'b'")):
        small().fit(frame, X[:, 0])


@every_library
def test_a_table_of_text_alone_says_why_nothing_is_left(library: str) -> None:
    _, y = table()
    words = [f"word{i}" for i in range(40)]
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]({"a": words, "b": ["k"] * 40})
    with pytest.raises(ValueError, match=says("no column is left", "'a'", "40 different", "'b'", "one value only")):
        small().fit(frame, y)


def test_included_column_that_cannot_be_used_is_named() -> None:
    X, y = table()
    frame = pd.DataFrame(X, columns=NAMES).assign(boxes=[[1, 2]] * 40)
    with pytest.warns(UserWarning, match="boxes"), pytest.raises(ValueError, match=says("include", "'boxes'", "list")):
        EasyFS(2, include=["boxes"]).fit(frame, y)


def test_text_in_an_array_or_in_lists_names_its_column() -> None:
    X, y = table()
    mixed = X.astype(object)
    mixed[:, 3] = "a"
    for given in (mixed, mixed.tolist()):
        with pytest.raises(ValueError, match=says("column 3", "text", "'a'", "Encode", "drop")):
            small().fit(given, y)
    with pytest.raises(ValueError, match=says("column 0", "text")):
        small().fit(X.astype(str), y)
    one = X.astype(object)
    one[30, 4] = "missing"
    with pytest.raises(ValueError, match=says("column 4", "text")):
        small().fit(one, y)


def test_dates_in_an_array_are_named() -> None:
    _, y = table()
    with pytest.raises(ValueError, match=says("column 0", "dates")):
        small().fit(np.arange(200).reshape(40, 5).astype("datetime64[D]"), y)


def test_records() -> None:
    records = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [2.0, 3.0, 4.0]}).to_records()
    with pytest.raises(TypeError, match=says("array of records", "'a'", "pandas.DataFrame")):
        small().fit(records, [1.0, 2.0, 3.0])


def test_complex_numbers() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("complex")):
        small().fit(X + 1j, y)


def test_one_dimension() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("2D", "1D", "reshape")):
        small().fit(X[:, 0], y)


def test_three_dimensions() -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("dim 3")):
        small().fit(X.reshape(40, 5, 1), y)


@pytest.mark.parametrize("given", ["table.csv", None, 5])
def test_something_that_is_no_table(given: Any) -> None:
    with pytest.raises((ValueError, TypeError), match=r"\bX\b|2D"):
        small(1).fit(given, [0, 1])


def test_the_target_of_a_lazy_frame_is_one_of_its_columns() -> None:
    with pytest.raises((ValueError, TypeError), match=says("LazyFrame", "y must be the name of one of its columns")):
        small(1).fit(pl.DataFrame({"a": [1.0, 2.0]}).lazy(), [0, 1])


def test_no_rows() -> None:
    with pytest.raises(ValueError, match=says("0 sample(s)")):
        small(1).fit(np.empty((0, 5)), [])
    with pytest.raises(ValueError, match=says("0 sample(s)")):
        small(1).fit(pd.DataFrame(np.empty((0, 5)), columns=NAMES), [])


def test_no_columns() -> None:
    with pytest.raises(ValueError, match=says("0 feature(s)")):
        small(1).fit(np.empty((10, 0)), np.arange(10) % 2)
    with pytest.raises(ValueError, match=says("0 feature(s)")):
        small(1).fit(pd.DataFrame(index=range(10)), np.arange(10) % 2)


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_fewer_than_two_rows(method: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=says("1 sample(s)", "minimum of 2", "EasyFS")):
        getattr(small(), method)(X[:1], y[:1])


@pytest.mark.parametrize("compression", ["sequential", "ranking"])
@pytest.mark.parametrize("value", [0.0, 7.0, np.nan])
def test_all_columns_constant(compression: str, value: float) -> None:
    _, y = table()
    X = np.full((40, 5), value)
    for given in (X, sparse.csr_array(X)):
        with pytest.raises(ValueError, match=says("constant", "5")):
            small(form=FORMS[compression]).fit(given, y)


def test_all_columns_constant_without_a_target() -> None:
    with pytest.raises(ValueError, match=says("constant")):
        small().fit(np.ones((40, 5)))


def test_all_columns_that_are_left_constant() -> None:
    X, y = table()
    X[:, 1:] = 3.0
    with pytest.raises(ValueError, match=says("constant", "4 columns")):
        small(exclude=[0]).fit(X, y)


def test_all_columns_of_a_stream_constant() -> None:
    _, y = table()
    selector = small().partial_fit(np.ones((40, 5)), y)
    with pytest.raises(ValueError, match=says("constant")):
        selector.get_support()


@pytest.mark.parametrize(
    "use",
    [
        lambda s: s.transform(np.zeros((3, 5))),
        lambda s: s.transform(pl.DataFrame({"a": [1.0]})),
        lambda s: s.get_support(),
        lambda s: s.get_feature_names_out(),
        lambda s: s.truncate(1),
        lambda s: s.order_,
        lambda s: s.ranking_,
        lambda s: s.scores_,
        lambda s: s.gains_,
        lambda s: s.redundancy_,
        lambda s: s.n_features_,
    ],
    ids=["transform", "transform polars", "support", "names", "truncate", "order", "ranking", "scores", "gains",
         "redundancy", "n_features"],
)  # fmt: skip
def test_before_fit(use: Callable[[EasyFS], Any]) -> None:
    with pytest.raises(NotFittedError, match=says("EasyFS", "not fitted", "fit")):
        use(small())


def test_an_unfitted_selector_has_no_fitted_attributes() -> None:
    for name in ("order_", "ranking_", "scores_", "gains_", "redundancy_", "n_features_", "task_", "n_features_in_"):
        assert not hasattr(small(), name)


def test_transform_with_another_number_of_columns() -> None:
    X, y = table()
    selector = small().fit(X, y)
    for other in (X[:, :4], sparse.csr_array(X[:, :4]), np.hstack([X, X])):
        with pytest.raises(ValueError, match=says("X has", other.shape[1], "expecting 5")):
            selector.transform(other)


@every_library
def test_transform_with_other_names(library: str) -> None:
    X, y = table()
    build = DATAFRAMES[library]
    selector = small().fit(build(dict(zip(NAMES, X.T, strict=True))), y)
    renamed = build(dict(zip([*NAMES[:3], "wage", "score"], X.T, strict=True)))
    with pytest.raises(ValueError, match=says("feature names", "wage", "income")):
        selector.transform(renamed)
    with pytest.raises(ValueError, match=says("feature names", "order")):
        selector.transform(build(dict(zip(NAMES[::-1], X.T, strict=True))))
    chosen = selector.get_feature_names_out()
    few = {name: values for name, values in zip(NAMES, X.T, strict=True) if name != chosen[0]}
    with pytest.raises(ValueError, match=says("feature names", chosen[0])):
        selector.transform(build(few))


def test_names_of_mixed_types() -> None:
    X, y = table()
    with pytest.raises(TypeError, match=says("names", "string")):
        small().fit(pd.DataFrame(X, columns=["a", 1, "c", 2, "e"]), y)
