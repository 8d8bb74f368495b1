"""Bad input: each error names the parameter or column, what was found and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from easyfs import EasyFS, EasyFSRanking

NAMES = ["age", "height", "weight", "income", "score"]


def table(n: int = 40, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X[:, 0] > 0).astype(int)


FORMS = {"sequential": EasyFS, "ranking": EasyFSRanking}


def small(n_features_to_select: Any = 2, form: Any = EasyFS, **parameters: Any) -> Any:
    return form(n_features_to_select, random_state=0, **{"n_hidden": 8} | parameters)


def says(*parts: Any) -> str:
    """A pattern for a message that holds all parts, in any order and case."""
    return "(?is)" + "".join(f"(?=.*{re.escape(str(part))})" for part in parts)


DATAFRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}
every_library = pytest.mark.parametrize("library", list(DATAFRAMES))


def frame_with(library: str, name: str, values: list[Any]) -> tuple[Any, np.ndarray]:
    """A table whose column ``name`` holds ``values``, repeated to its length."""
    X, y = table()
    columns: dict[str, Any] = {known: X[:, j] for j, known in enumerate(NAMES)}
    columns[name] = (values * len(X))[: len(X)]
    return DATAFRAMES[library](columns), y


class TestParameters:
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
    def test_a_value_out_of_range_is_named_with_what_was_found(self, method: str, parameter: str, value: Any) -> None:
        X, y = table()
        forms = [form for form in FORMS.values() if parameter in form().get_params()]
        assert forms
        for form in forms:
            selector = small(form=form).set_params(**{parameter: value})
            with pytest.raises((ValueError, TypeError), match=says(parameter, value)):
                getattr(selector, method)(X, y)

    def test_a_choice_lists_what_is_allowed(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("task", "cluster", "classification", "regression")):
            small(task="cluster").fit(X, y)

    def test_the_constructor_stores_and_fit_checks(self) -> None:
        selector = EasyFS(-5, eps2=0, task="guess")
        assert selector.get_params()["task"] == "guess"

    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    def test_more_features_than_there_are(self, method: str) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("n_features_to_select=6", "more than the 5", "at most 5")):
            getattr(small(6), method)(X, y)

    def test_more_features_than_exclude_leaves(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("n_features_to_select=4", "3 features")):
            small(4, exclude=[0, 1]).fit(X, y)

    def test_more_features_than_there_are_groups(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("n_features_to_select=4", "3 groups")):
            small(4, feature_groups=[0, 0, 1, 1, 2]).fit(X, y)

    def test_truncate_to_more_than_there_are_or_to_auto(self) -> None:
        X, y = table()
        selector = small(2, exclude=[0]).fit(X, y)
        with pytest.raises(ValueError, match=says("n_features_to_select=5", "more than the 4")):
            selector.truncate(5)
        with pytest.raises(ValueError, match=says("n_features_to_select", "auto", "count")):
            selector.truncate("auto")
        with pytest.raises(ValueError, match=says("n_features_to_select=0", "at least 1")):
            selector.truncate(0)


class TestIncludeExcludeGroups:
    @pytest.mark.parametrize("parameter", ["include", "exclude"])
    def test_an_unknown_name_comes_with_the_nearest_known_one(self, parameter: str) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says(parameter, "'hieght'", "Did you mean 'height'")):
            small(**{parameter: ["hieght"]}).fit(pd.DataFrame(X, columns=NAMES), y)

    @pytest.mark.parametrize("parameter", ["include", "exclude"])
    def test_a_name_that_resembles_none_is_still_named(self, parameter: str) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says(parameter, "'zzz'", "does not have")):
            small(**{parameter: "zzz"}).fit(pd.DataFrame(X, columns=NAMES), y)

    @pytest.mark.parametrize("parameter", ["include", "exclude"])
    def test_a_name_for_an_array_says_that_there_are_no_names(self, parameter: str) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says(parameter, "'age'", "no column names", "positions")):
            small(**{parameter: ["age"]}).fit(X, y)

    @pytest.mark.parametrize("parameter", ["include", "exclude"])
    @pytest.mark.parametrize("place", [5, -1, 1000])
    def test_a_place_out_of_range_says_which_are_there(self, parameter: str, place: int) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says(parameter, place, "5 columns", "0 to 4")):
            small(**{parameter: [place]}).fit(X, y)

    @pytest.mark.parametrize("parameter", ["include", "exclude"])
    @pytest.mark.parametrize("value", [[1.5], [None], 1.5, [True, False]])
    def test_entries_that_are_neither_names_nor_places(self, parameter: str, value: Any) -> None:
        X, y = table()
        with pytest.raises((ValueError, TypeError), match=says(parameter, "names or positions")):
            small(**{parameter: value}).fit(X, y)

    @pytest.mark.parametrize("parameter", ["include", "exclude"])
    def test_a_column_listed_twice(self, parameter: str) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says(parameter, "3", "twice")):
            small(4, **{parameter: [3, 1, 3]}).fit(X, y)
        with pytest.raises(ValueError, match=says(parameter, "income", "twice")):
            small(4, **{parameter: ["income", 3]}).fit(pd.DataFrame(X, columns=NAMES), y)

    def test_a_column_both_included_and_excluded(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("2", "include", "exclude", "both")):
            small(include=[1, 2], exclude=[2, 3]).fit(X, y)
        with pytest.raises(ValueError, match=says("'weight'", "include", "exclude", "both")):
            small(include=["weight"], exclude=[2]).fit(pd.DataFrame(X, columns=NAMES), y)

    def test_members_of_one_group_both_included_and_excluded(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("group", "include", "exclude")):
            small(1, include=[0], exclude=[1], feature_groups=[0, 0, 1, 2, 3]).fit(X, y)

    def test_more_included_than_asked_for(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("include", "3", "n_features_to_select=2", "at least 3")):
            small(2, include=[0, 1, 2]).fit(X, y)

    def test_everything_excluded(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("exclude", "no column")):
            small(1, exclude=[0, 1, 2, 3, 4]).fit(X, y)

    @pytest.mark.parametrize("groups", [[0, 1], list(range(9)), []])
    def test_groups_of_another_length(self, groups: list[int]) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("groups", len(groups), "5 columns", "one label for each")):
            small(feature_groups=groups).fit(X, y)

    @pytest.mark.parametrize("groups", [7, [0, [1], 2, 3, 4]])
    def test_groups_that_are_not_labels(self, groups: Any) -> None:
        X, y = table()
        with pytest.raises((ValueError, TypeError), match="groups"):
            small(feature_groups=groups).fit(X, y)


class TestX:
    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("value", [np.inf, -np.inf])
    def test_infinity_names_its_column_and_how_many(self, method: str, dtype: Any, value: float) -> None:
        X, y = table()
        X = X.astype(dtype)
        X[[3, 7], 2] = value
        for given in (X, sparse.csr_array(X), sparse.csc_matrix(X)):
            with pytest.raises(ValueError, match=says("infinit", "column 2", "2 infinite", "NaN")):
                getattr(small(), method)(given, y)

    @every_library
    def test_infinity_in_a_table_names_its_column(self, library: str) -> None:
        frame, y = frame_with(library, "income", [1.0, np.inf, 2.0])
        with pytest.raises(ValueError, match=says("infinit", "'income'", "Replace")):
            small().fit(frame, y)

    @every_library
    def test_all_infinite_values_are_counted(self, library: str) -> None:
        X = np.random.default_rng(0).standard_normal((569, 3))
        columns = {"a": X[:, 0], "b": np.full(569, np.inf), "c": np.where(np.arange(569) == 500, -np.inf, X[:, 2])}
        frame = DATAFRAMES[library](columns)
        with pytest.raises(ValueError, match=says("570 infinite", "2 columns", "569 of them", "'b'")):
            small().fit(frame, X[:, 0])

    @every_library
    def test_a_table_of_text_alone_says_why_nothing_is_left(self, library: str) -> None:
        _, y = table()
        words = [f"word{i}" for i in range(40)]
        frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library](
            {"a": words, "b": ["k"] * 40}
        )
        with pytest.raises(ValueError, match=says("no column is left", "'a'", "40 different", "'b'", "one value only")):
            small().fit(frame, y)

    def test_included_column_that_cannot_be_used_is_named(self) -> None:
        X, y = table()
        frame = pd.DataFrame(X, columns=NAMES).assign(boxes=[[1, 2]] * 40)
        with pytest.warns(UserWarning, match="boxes"), pytest.raises(ValueError, match=says("include", "'boxes'", "list")):
            EasyFS(2, include=["boxes"]).fit(frame, y)

    def test_text_in_an_array_or_in_lists_names_its_column(self) -> None:
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

    def test_dates_in_an_array_are_named(self) -> None:
        _, y = table()
        with pytest.raises(ValueError, match=says("column 0", "dates")):
            small().fit(np.arange(200).reshape(40, 5).astype("datetime64[D]"), y)

    def test_complex_numbers(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("complex")):
            small().fit(X + 1j, y)

    def test_one_dimension(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("2D", "1D", "reshape")):
            small().fit(X[:, 0], y)

    def test_three_dimensions(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("dim 3")):
            small().fit(X.reshape(40, 5, 1), y)

    @pytest.mark.parametrize("given", ["table.csv", None, 5])
    def test_something_that_is_no_table(self, given: Any) -> None:
        with pytest.raises((ValueError, TypeError), match=r"\bX\b|2D"):
            small(1).fit(given, [0, 1])

    def test_a_lazy_frame_is_to_be_collected(self) -> None:
        with pytest.raises((ValueError, TypeError), match=says("LazyFrame", "collect")):
            small(1).fit(pl.DataFrame({"a": [1.0, 2.0]}).lazy(), [0, 1])

    def test_no_rows(self) -> None:
        with pytest.raises(ValueError, match=says("0 sample(s)")):
            small(1).fit(np.empty((0, 5)), [])
        with pytest.raises(ValueError, match=says("0 sample(s)")):
            small(1).fit(pd.DataFrame(np.empty((0, 5)), columns=NAMES), [])

    def test_no_columns(self) -> None:
        with pytest.raises(ValueError, match=says("0 feature(s)")):
            small(1).fit(np.empty((10, 0)), np.arange(10) % 2)
        with pytest.raises(ValueError, match=says("0 feature(s)")):
            small(1).fit(pd.DataFrame(index=range(10)), np.arange(10) % 2)

    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    def test_fewer_than_two_rows(self, method: str) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("1 sample(s)", "minimum of 2", "EasyFS")):
            getattr(small(), method)(X[:1], y[:1])

    @pytest.mark.parametrize("compression", ["sequential", "ranking"])
    @pytest.mark.parametrize("value", [0.0, 7.0, np.nan])
    def test_all_columns_constant(self, compression: str, value: float) -> None:
        _, y = table()
        X = np.full((40, 5), value)
        for given in (X, sparse.csr_array(X)):
            with pytest.raises(ValueError, match=says("constant", "5")):
                small(form=FORMS[compression]).fit(given, y)

    def test_all_columns_constant_without_a_target(self) -> None:
        with pytest.raises(ValueError, match=says("constant")):
            small().fit(np.ones((40, 5)))

    def test_all_columns_that_are_left_constant(self) -> None:
        X, y = table()
        X[:, 1:] = 3.0
        with pytest.raises(ValueError, match=says("constant", "4 columns")):
            small(exclude=[0]).fit(X, y)

    def test_all_columns_of_a_stream_constant(self) -> None:
        _, y = table()
        selector = small().partial_fit(np.ones((40, 5)), y)
        with pytest.raises(ValueError, match=says("constant")):
            selector.get_support()


class TestTarget:
    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    def test_another_length(self, method: str) -> None:
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
    def test_a_missing_value_names_its_row(self, method: str, y: Any) -> None:
        X, _ = table()
        with pytest.raises(ValueError, match=says("y", "NaN", "1 row", "row 7", "drop")):
            getattr(small(), method)(X, y)

    def test_a_missing_value_in_several_targets(self) -> None:
        X, _ = table()
        Y = X[:, :2].copy()
        Y[[5, 9], [0, 1]] = np.nan
        with pytest.raises(ValueError, match=says("y", "NaN", "2 rows", "row 5")):
            small().fit(X, Y)

    def test_infinity(self) -> None:
        X, _ = table()
        y = X[:, 0].copy()
        y[3] = -np.inf
        with pytest.raises(ValueError, match=says("y", "infinity", "row 3")):
            small().fit(X, y)

    @pytest.mark.parametrize("compression", ["sequential", "ranking"])
    @pytest.mark.parametrize("label", [1, "yes"])
    def test_one_class_only(self, compression: str, label: Any) -> None:
        X, _ = table()
        with pytest.raises(ValueError, match=says("y", "1 class", label, "2 classes")):
            small(form=FORMS[compression]).fit(X, [label] * 40)

    @pytest.mark.parametrize("compression", ["sequential", "ranking"])
    def test_one_class_only_in_a_whole_stream(self, compression: str) -> None:
        X, _ = table()
        selector = small(form=FORMS[compression]).partial_fit(X, ["yes"] * 40).partial_fit(X, ["yes"] * 40)
        with pytest.raises(ValueError, match=says("1 class", "yes", "2 classes")):
            selector.get_support()

    @pytest.mark.parametrize("compression", ["sequential", "ranking"])
    def test_one_class_only_where_weights_are_positive(self, compression: str) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("1 class", "2 classes")):
            small(form=FORMS[compression]).fit(X, y, sample_weight=y)

    @pytest.mark.parametrize("compression", ["sequential", "ranking"])
    def test_a_constant_number(self, compression: str) -> None:
        X, _ = table()
        for y in (np.full(40, 0.5), np.full((40, 2), 0.5)):
            with pytest.raises(ValueError, match=says("y is constant", "target")):
                small(form=FORMS[compression]).fit(X, y)

    def test_several_columns_of_classes(self) -> None:
        X, y = table()
        Y = np.column_stack([y, y + 1, 2 * y])
        with pytest.raises(ValueError, match=says("y", "3 columns", "multiclass-multioutput", "one selector for each")):
            small().fit(X, Y)

    def test_more_than_two_dimensions(self) -> None:
        X, y = table()
        with pytest.raises(ValueError, match=says("y", "3 dimensions")):
            small().fit(X, y.reshape(40, 1, 1))

    def test_text_for_a_regression(self) -> None:
        X, _ = table()
        with pytest.raises(ValueError, match=says("y", "text", "regression", "classification")):
            small(task="regression").fit(X, ["a", "b"] * 20)

    def test_a_continuous_number_for_a_classification(self) -> None:
        X, _ = table()
        with pytest.raises(ValueError, match=says("y", "continuous", "classification", "regression")):
            small(task="classification").fit(X, X[:, 0])

    @pytest.mark.parametrize("task", ["auto", "regression", "classification"])
    def test_complex_numbers(self, task: str) -> None:
        X, _ = table()
        with pytest.raises(ValueError, match=says("complex")):
            small(task=task).fit(X, X[:, 0] + 1j)

    @pytest.mark.parametrize("task", ["auto", "regression"])
    def test_dates(self, task: str) -> None:
        X, _ = table()
        with pytest.raises(ValueError, match=says("y", "date")):
            small(task=task).fit(X, np.arange(40).astype("datetime64[D]"))

    def test_mixed_labels(self) -> None:
        X, y = table()
        with pytest.raises((ValueError, TypeError), match=says("y", "labels")):
            small().fit(X, np.array(["yes" if code else 0 for code in y], dtype=object))

    @pytest.mark.parametrize("task", ["classification", "regression"])
    def test_a_task_without_a_target(self, task: str) -> None:
        X, _ = table()
        with pytest.raises(ValueError, match=says("task", task, "y is None")):
            small(task=task).fit(X)

    @pytest.mark.parametrize("method", ["fit", "partial_fit"])
    def test_ranking_without_a_target(self, method: str) -> None:
        X, _ = table()
        with pytest.raises(ValueError, match=says("the ranking requires y", "y is None", "EasyFS")):
            getattr(small(form=EasyFSRanking), method)(X)

    def test_no_target_and_no_hidden_nodes(self) -> None:
        X, _ = table()
        with pytest.raises(ValueError, match=says("n_hidden=0", "target")):
            small(n_hidden=0).fit(X)


class TestWeights:
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
    def test_a_bad_weight_is_named_with_what_was_found(self, method: str, weight: Any, parts: tuple[str, ...]) -> None:
        X, y = table()
        with pytest.raises((ValueError, TypeError), match=says("sample_weight", *parts)):
            getattr(small(), method)(X, y, sample_weight=weight)

    @pytest.mark.parametrize("target", ["classes", "numbers", "none"])
    def test_one_row_with_a_positive_weight(self, target: str) -> None:
        X, y = table()
        weight = np.where(np.arange(40) == 7, 1.0, 0.0)
        with pytest.raises(ValueError, match=says("sample_weight", "1 row", "at least 2")):
            small().fit(X, {"classes": y, "numbers": X[:, 0], "none": None}[target], sample_weight=weight)


class TestStreams:
    def test_another_number_of_columns(self) -> None:
        X, y = table()
        selector = small().partial_fit(X, y)
        with pytest.raises(ValueError, match=says("4 features", "expecting 5")):
            selector.partial_fit(X[:, :4], y)

    def test_other_names_of_columns(self) -> None:
        X, y = table()
        selector = small().partial_fit(pd.DataFrame(X, columns=NAMES), y)
        with pytest.raises(ValueError, match=says("feature names", "wage", "income")):
            selector.partial_fit(pd.DataFrame(X, columns=[*NAMES[:3], "wage", "score"]), y)

    def test_another_kind_of_target(self) -> None:
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
    def test_a_block_without_rows_that_count_adds_nothing(self, form: Any) -> None:
        X, y = table()
        stream = small().partial_fit(form(X), y).partial_fit(form(X[:0]), y[:0]).partial_fit(form(X), y)
        stream.partial_fit(form(100.0 * X), y, sample_weight=np.zeros(40)).partial_fit(form(X), y, sample_weight=0.0)
        plain = small().partial_fit(form(X), y).partial_fit(form(X), y)
        assert stream.n_rows_ == plain.n_rows_ == 80
        np.testing.assert_array_equal(stream.scores_, plain.scores_)
        for other in (form(X[:0, :4]), form(X[:, :4])):
            with pytest.raises(ValueError, match=r"4 features, but EasyFS is expecting 5|yet now missing:\n- score"):
                stream.partial_fit(other, y[: other.shape[0]], sample_weight=np.zeros(other.shape[0]))

    def test_an_empty_list_adds_nothing(self) -> None:
        X, y = table()
        assert small().partial_fit(X, y).partial_fit([], []).n_rows_ == 40

    def test_a_first_block_without_rows_that_count(self) -> None:
        X, y = table()
        plan = small().draw_plan(X, y)
        for settings in ({}, {"plan": plan}):
            with pytest.raises(ValueError, match=says("first block has no rows", "begin with", "at least 2 rows")):
                small().partial_fit(X[:0], y[:0], **settings)
            with pytest.raises(
                ValueError, match=says("sample_weight is zero in every row of the first block", "begin with")
            ):
                small().partial_fit(X, y, sample_weight=np.zeros(40), **settings)

    def test_weights_that_are_wrong_and_zero(self) -> None:
        X, y = table()
        stream = small().partial_fit(X, y)
        with pytest.raises(ValueError, match=says("sample_weight", "39", "40 rows")):
            stream.partial_fit(X, y, sample_weight=np.zeros(39))
        assert stream.n_rows_ == 40

    def test_plan_and_scale_after_the_first_block(self) -> None:
        X, y = table()
        selector = small().partial_fit(X, y)
        with pytest.raises(ValueError, match=says("plan", "scale", "first block")):
            selector.partial_fit(X, y, plan=selector.plan_)
        with pytest.raises(ValueError, match=says("plan", "scale", "first block")):
            selector.partial_fit(X, y, scale=(np.zeros(5), np.ones(5)))

    def test_a_plan_of_another_table(self) -> None:
        X, y = table()
        plan = small().draw_plan(X, y)
        with pytest.raises(ValueError, match=says("plan", "5 columns", "4")):
            small().partial_fit(X[:, :4], y, plan=plan)
        with pytest.raises(ValueError, match=says("class labels", "numbers")):
            small().partial_fit(X, X[:, 0], plan=plan)

    @pytest.mark.parametrize("compression", ["sequential", "ranking"])
    def test_a_plan_of_the_other_compression(self, compression: str) -> None:
        X, y = table()
        other = {"sequential": "ranking", "ranking": "sequential"}[compression]
        plan = small(form=FORMS[other]).draw_plan(X, y)
        with pytest.raises(ValueError, match=says("plan", "not made by", FORMS[compression].__name__)):
            small(form=FORMS[compression]).partial_fit(X, y, plan=plan)

    @pytest.mark.parametrize("plan", ["plan", 5, EasyFS()])
    def test_something_that_is_no_plan(self, plan: Any) -> None:
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
    def test_a_bad_scale(self, scale: Any) -> None:
        X, y = table()
        with pytest.raises((ValueError, TypeError), match="scale"):
            small().partial_fit(X, y, scale=scale)

    def test_merging_two_plans(self) -> None:
        X, y = table()
        one, other = small().partial_fit(X, y), small().set_params(random_state=1).partial_fit(X, y)
        with pytest.raises(ValueError, match=says("different plans", "added up", "plan=")):
            one.merge(other)

    def test_merging_two_scalings(self) -> None:
        X, y = table()
        make = {"n_hidden": 0}
        one, other = small(**make).partial_fit(X, y), small(**make).partial_fit(X + 1.0, y)
        with pytest.raises(ValueError, match=says("scaling", "added up")):
            one.merge(other)

    @pytest.mark.parametrize("state", ["fitted", "new"])
    def test_merging_what_has_seen_no_stream(self, state: str) -> None:
        X, y = table()
        streamed = small().partial_fit(X, y)
        other = small().fit(X, y) if state == "fitted" else small()
        for left, right in ((streamed, other), (other, streamed)):
            with pytest.raises(ValueError, match=says("merge", "partial_fit")):
                left.merge(right)

    def test_merging_something_else(self) -> None:
        X, y = table()
        with pytest.raises((ValueError, TypeError), match="merge"):
            small().partial_fit(X, y).merge("statistics")


class TestUseBeforeFitAndWithOtherTables:
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
    def test_before_fit(self, use: Callable[[EasyFS], Any]) -> None:
        with pytest.raises(NotFittedError, match=says("EasyFS", "not fitted", "fit")):
            use(small())

    def test_an_unfitted_selector_has_no_fitted_attributes(self) -> None:
        for name in ("order_", "ranking_", "scores_", "gains_", "redundancy_", "n_features_", "task_", "n_features_in_"):
            assert not hasattr(small(), name)

    def test_transform_with_another_number_of_columns(self) -> None:
        X, y = table()
        selector = small().fit(X, y)
        for other in (X[:, :4], sparse.csr_array(X[:, :4]), np.hstack([X, X])):
            with pytest.raises(ValueError, match=says("X has", other.shape[1], "expecting 5")):
                selector.transform(other)

    @every_library
    def test_transform_with_other_names(self, library: str) -> None:
        X, y = table()
        build = DATAFRAMES[library]
        selector = small().fit(build(dict(zip(NAMES, X.T, strict=True))), y)
        renamed = build(dict(zip([*NAMES[:3], "wage", "score"], X.T, strict=True)))
        with pytest.raises(ValueError, match=says("feature names", "wage", "income")):
            selector.transform(renamed)
        with pytest.raises(ValueError, match=says("feature names", "order")):
            selector.transform(build(dict(zip(NAMES[::-1], X.T, strict=True))))
        with pytest.raises(ValueError, match=says("feature names", "score")):
            selector.transform(build(dict(zip(NAMES[:4], X.T, strict=False))))

    def test_names_of_mixed_types(self) -> None:
        X, y = table()
        with pytest.raises(TypeError, match=says("names", "string")):
            small().fit(pd.DataFrame(X, columns=["a", 1, "c", 2, "e"]), y)
