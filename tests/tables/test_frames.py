"""Tables of every dataframe library become the same matrix of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from easyfs import available_selectors, make_selector
from easyfs.tables import frames
from easyfs.tables.frames import column_names, is_table, to_matrix

KINDS = ("float64", "float32", "int64", "int8", "uint16", "bool")


@dataclass(frozen=True)
class Library:
    """A dataframe library: how it makes a table and a typed column, where None is a missing value.

    Attributes
    ----------
    frame : callable
        Makes a table from a dict of columns.
    column : callable
        Makes a column from a list and the name of its type, one of ``KINDS`` or "decimal".
    """

    name: str
    frame: Callable[[dict[Any, Any]], Any]
    column: Callable[[list[Any], str], Any]


def _pandas(values: list[Any], kind: str) -> Any:
    inferred = kind == "decimal" or (None in values and "float" not in kind)
    return pd.Series(values, dtype=None if inferred else kind)


def _pandas_nullable(values: list[Any], kind: str) -> Any:
    names = {"float64": "Float64", "float32": "Float32", "int64": "Int64", "int8": "Int8", "uint16": "UInt16"}
    return pd.Series(values, dtype={"bool": "boolean", "decimal": "object"}.get(kind, names.get(kind)))


def _pandas_arrow(values: list[Any], kind: str) -> Any:
    return pd.Series(values, dtype=pd.ArrowDtype(_arrow(values, kind).type))


def _polars(values: list[Any], kind: str) -> Any:
    types = {"float64": pl.Float64, "float32": pl.Float32, "int64": pl.Int64, "int8": pl.Int8, "uint16": pl.UInt16}
    return pl.Series(values, dtype=(types | {"bool": pl.Boolean, "decimal": pl.Decimal(10, 2)})[kind])


def _arrow(values: list[Any], kind: str) -> Any:
    types = {"float64": pa.float64(), "float32": pa.float32(), "int64": pa.int64(), "int8": pa.int8()}
    types |= {"uint16": pa.uint16(), "bool": pa.bool_(), "decimal": pa.decimal128(10, 2)}
    return pa.array(values, type=types[kind])


LIBRARIES = [
    Library("pandas", pd.DataFrame, _pandas),
    Library("pandas-nullable", pd.DataFrame, _pandas_nullable),
    Library("pandas-arrow", pd.DataFrame, _pandas_arrow),
    Library("polars", pl.DataFrame, _polars),
    Library("pyarrow", pa.table, _arrow),
]


@pytest.fixture(params=LIBRARIES, ids=lambda library: library.name)
def library(request: pytest.FixtureRequest) -> Library:
    return request.param


class TestEveryLibrary:
    def test_is_known_as_a_table_with_its_names(self, library: Library) -> None:
        frame = library.frame({"b": library.column([1.0], "float64"), "a": library.column([2], "int64")})
        assert is_table(frame)
        assert column_names(frame) == ["b", "a"]

    @pytest.mark.parametrize("kind", KINDS)
    def test_numbers_keep_their_values(self, library: Library, kind: str) -> None:
        values = [True, False, True] if kind == "bool" else [3, 0, 100]
        frame = library.frame({"a": library.column(values, kind), "b": library.column([0.5, 1.5, -2.5], "float64")})
        matrix = to_matrix(frame)
        assert matrix.dtype == np.float64
        np.testing.assert_array_equal(matrix, np.column_stack([np.array(values, dtype=float), [0.5, 1.5, -2.5]]))

    @pytest.mark.parametrize("kind", ["int64", "int8", "uint16", "bool"])
    def test_a_table_of_whole_numbers_or_booleans_becomes_float64(self, library: Library, kind: str) -> None:
        values = [True, False] if kind == "bool" else [7, 9]
        matrix = to_matrix(library.frame({"a": library.column(values, kind), "b": library.column(values[::-1], kind)}))
        assert matrix.dtype == np.float64
        np.testing.assert_array_equal(matrix, [[values[0], values[1]], [values[1], values[0]]])

    @pytest.mark.parametrize("kind", ["int64", "int8", "uint16", "bool", "float64", "float32", "decimal"])
    def test_a_missing_value_becomes_nan(self, library: Library, kind: str) -> None:
        first, last = {"bool": (True, False), "decimal": (Decimal("1.25"), Decimal("3.50"))}.get(kind, (1, 3))
        matrix = to_matrix(library.frame({"a": library.column([first, None, last], kind)}))
        np.testing.assert_array_equal(matrix, np.array([[float(first)], [np.nan], [float(last)]]))

    @pytest.mark.parametrize("kind", KINDS)
    def test_columns_may_lie_side_by_side(self, library: Library, kind: str) -> None:
        values = [[1, None, 0, 1], [0, 1, 1, None], [1, 1, 0, 0]]
        if kind == "bool":
            values = [[None if value is None else bool(value) for value in column] for column in values]
        table = library.frame({f"x{j}": library.column(column, kind) for j, column in enumerate(values)})
        plain, found = to_matrix(table), to_matrix(table, by_column=True)
        np.testing.assert_array_equal(found, plain)
        assert found.dtype == plain.dtype
        assert found.flags.f_contiguous or "pandas" in library.name

    def test_a_column_of_missing_values_only_becomes_nan(self, library: Library) -> None:
        frame = library.frame({"a": library.column([None, None], "float64"), "b": library.column([1.0, 2.0], "float64")})
        np.testing.assert_array_equal(to_matrix(frame), [[np.nan, 1.0], [np.nan, 2.0]])

    def test_float32_stays_float32(self, library: Library) -> None:
        frame = library.frame({"a": library.column([0.1, 0.2], "float32"), "b": library.column([1.5, None], "float32")})
        matrix = to_matrix(frame)
        assert matrix.dtype == np.float32
        np.testing.assert_array_equal(matrix, np.array([[0.1, 1.5], [0.2, np.nan]], dtype=np.float32))

    def test_a_large_table_of_small_numbers_becomes_float32(
        self, library: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(frames, "LARGE", 3)
        frame = library.frame({"a": library.column([3, 0], "int8"), "b": library.column([True, False], "bool")})
        matrix = to_matrix(frame)
        assert matrix.dtype == (np.float64 if library.name.startswith("pandas") else np.float32)
        np.testing.assert_array_equal(matrix, [[3, 1], [0, 0]])

    def test_float32_beside_float64_becomes_float64(self, library: Library) -> None:
        frame = library.frame({"a": library.column([0.5, 0.25], "float32"), "b": library.column([0.1, 0.2], "float64")})
        matrix = to_matrix(frame)
        assert matrix.dtype == np.float64
        np.testing.assert_array_equal(matrix, [[0.5, 0.1], [0.25, 0.2]])

    def test_decimals_are_numbers(self, library: Library) -> None:
        frame = library.frame({"a": library.column([Decimal("1.25"), Decimal("-3.50")], "decimal")})
        np.testing.assert_array_equal(to_matrix(frame), [[1.25], [-3.5]])

    def test_large_whole_numbers_are_kept_to_float64_precision(self, library: Library) -> None:
        frame = library.frame({"a": library.column([2**53, -(2**53)], "int64")})
        np.testing.assert_array_equal(to_matrix(frame), [[2.0**53], [-(2.0**53)]])

    def test_a_table_without_rows_says_so(self, library: Library) -> None:
        frame = library.frame({"a": library.column([], "float64"), "b": library.column([], "int64")})
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            to_matrix(frame)

    def test_a_table_without_columns_says_so(self, library: Library) -> None:
        with pytest.raises(ValueError, match=r"0 (sample|feature)\(s\)"):
            to_matrix(library.frame({}))

    def test_one_row_passes_unless_more_are_needed(self, library: Library) -> None:
        frame = library.frame({"a": library.column([1.0], "float64")})
        assert to_matrix(frame).shape == (1, 1)
        with pytest.raises(ValueError, match="minimum of 2"):
            to_matrix(frame, min_rows=2)

    def test_infinity_names_its_column(self, library: Library) -> None:
        frame = library.frame(
            {"good": library.column([1.0, 2.0], "float64"), "bad": library.column([1.0, float("inf")], "float64")}
        )
        with pytest.raises(ValueError, match="'bad' has 1 infinite value"):
            to_matrix(frame)

    def test_text_names_its_column_and_no_other(self, library: Library) -> None:
        frame = library.frame({"good": library.column([1.0, 2.0], "float64"), "bad": ["x", "y"]})
        with pytest.raises(ValueError, match=r"'bad' \(text\)") as error:
            to_matrix(frame)
        assert "'good'" not in str(error.value)

    def test_the_table_is_left_as_it_was(self, library: Library) -> None:
        frame = library.frame({"a": library.column([1.0, None], "float64"), "b": library.column([1, 2], "int64")})
        matrix = to_matrix(frame)
        before = matrix.copy()
        if matrix.flags.writeable:
            matrix[:] = -1.0
        np.testing.assert_array_equal(to_matrix(frame), before)


class TestPandas:
    def test_columns_of_the_same_name_are_named(self) -> None:
        frame = pd.DataFrame([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], columns=["a", "b", "a"])
        with pytest.raises(ValueError, match="2 columns called 'a'; give each column a name of its own"):
            to_matrix(frame)
        with pytest.raises(ValueError, match=r"2 columns called 1 .and 1 more"):
            to_matrix(pd.DataFrame(np.eye(4), columns=[1, 1, 2, 2]))

    def test_names_may_be_integers(self) -> None:
        frame = pd.DataFrame([[1.0, 2.0], [4.0, 5.0]], columns=[10, 20])
        np.testing.assert_array_equal(to_matrix(frame), frame.to_numpy())
        with pytest.raises(ValueError, match="column 20 has 1 infinite"):
            to_matrix(frame.replace(5.0, np.inf))

    def test_names_may_be_tuples(self) -> None:
        frame = pd.DataFrame([[1.0, 2.0], [4.0, 5.0]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
        np.testing.assert_array_equal(to_matrix(frame), frame.to_numpy())

    def test_the_index_does_not_matter(self) -> None:
        frame = pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "x"])
        np.testing.assert_array_equal(to_matrix(frame), [[1.0], [2.0]])

    def test_numbers_in_object_columns_are_numbers(self) -> None:
        frame = pd.DataFrame({"a": pd.Series([1, 2.5, None], dtype=object), "b": [1, 2, 3]})
        np.testing.assert_array_equal(to_matrix(frame), [[1.0, 1.0], [2.5, 2.0], [np.nan, 3.0]])

    def test_digits_as_text_are_text(self) -> None:
        frame = pd.DataFrame({"a": pd.Series(["1", "2"], dtype=object), "b": [1, 2]})
        with pytest.raises(ValueError, match=r"'a' \(text\)"):
            to_matrix(frame)

    def test_sparse_columns_are_numbers(self) -> None:
        frame = pd.get_dummies(pd.Series(["x", "y", "x"]), sparse=True, dtype=float)
        np.testing.assert_array_equal(to_matrix(frame), [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])

    @pytest.mark.parametrize("values", [pd.to_datetime(["2024-01-01", "2024-01-02"]), pd.to_timedelta([1, 2], unit="h")])
    def test_dates_and_durations_are_named(self, values: Any) -> None:
        with pytest.raises(ValueError, match=r"'when' \(date or time\)"):
            to_matrix(pd.DataFrame({"when": values, "b": [1.0, 2.0]}))

    def test_complex_numbers_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"'a'"):
            to_matrix(pd.DataFrame({"a": [1.0 + 1j, 2.0]}))


class TestPolarsAndArrow:
    def test_chunks_are_joined(self) -> None:
        chunked = pa.table({"a": pa.chunked_array([[1, 2], [None, 4]]), "b": pa.chunked_array([[0.5], [1.5, 2.5, 3.5]])})
        expected = [[1.0, 0.5], [2.0, 1.5], [np.nan, 2.5], [4.0, 3.5]]
        np.testing.assert_array_equal(to_matrix(chunked), expected)
        stacked = pl.concat([pl.DataFrame({"a": [1.0]}), pl.DataFrame({"a": [2.0]})], rechunk=False)
        np.testing.assert_array_equal(to_matrix(stacked), [[1.0], [2.0]])

    def test_polars_nan_and_null_are_both_missing(self) -> None:
        frame = pl.DataFrame({"a": [1.0, float("nan"), None]})
        np.testing.assert_array_equal(to_matrix(frame), [[1.0], [np.nan], [np.nan]])

    @pytest.mark.parametrize("table", [pl.DataFrame({"a": [None, None]}), pa.table({"a": pa.nulls(2)})])
    def test_a_column_of_the_null_type_is_all_missing(self, table: Any) -> None:
        np.testing.assert_array_equal(to_matrix(table), [[np.nan], [np.nan]])

    @pytest.mark.parametrize("table", [pl.DataFrame({"a": [[1.0], [2.0]]}), pa.table({"a": [[1.0], [2.0]]})])
    def test_lists_are_named(self, table: Any) -> None:
        with pytest.raises(ValueError, match=r"'a' \(list"):
            to_matrix(table)

    def test_columns_of_the_same_name_are_named(self) -> None:
        with pytest.raises(ValueError, match="3 columns called 'a'"):
            to_matrix(pa.table([[1.0], [2.0], [3.0]], names=["a", "a", "a"]))

    def test_half_precision_becomes_wider(self) -> None:
        matrix = to_matrix(pa.table({"a": pa.array(np.array([0.5, 1.5], dtype=np.float16))}))
        np.testing.assert_array_equal(matrix, [[0.5], [1.5]])


class TestArrays:
    def test_an_array_is_no_table(self) -> None:
        assert not is_table(np.zeros((2, 2)))
        assert not is_table([[1.0]])
        assert not is_table(sparse.csr_array(np.eye(2)))
        assert column_names(np.zeros((2, 2))) is None

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_floats_are_not_copied(self, dtype: Any) -> None:
        X = np.ones((3, 2), dtype=dtype)
        assert np.shares_memory(to_matrix(X), X)

    @pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.int64, np.float16, bool])
    def test_other_numbers_become_float64(self, dtype: Any) -> None:
        matrix = to_matrix(np.array([[1, 0], [0, 1]], dtype=dtype))
        assert matrix.dtype == np.float64
        np.testing.assert_array_equal(matrix, np.eye(2))

    def test_numbers_in_an_object_array_are_numbers(self) -> None:
        X = np.array([[1, 2.5], [None, Decimal("0.5")], [True, np.float32(2)]], dtype=object)
        np.testing.assert_array_equal(to_matrix(X), [[1.0, 2.5], [np.nan, 0.5], [1.0, 2.0]])

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
    @pytest.mark.parametrize("form", ["matrix", "array"])
    def test_sparse_becomes_csr(self, kind: str, form: str) -> None:
        X = np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]])
        for dtype in (np.float64, np.float32):
            matrix = to_matrix(getattr(sparse, f"{kind}_{form}")(X.astype(dtype)))
            assert isinstance(matrix, sparse.csr_array)
            assert matrix.dtype == dtype
            np.testing.assert_array_equal(matrix.toarray(), X)

    def test_sparse_integers_become_float64(self) -> None:
        assert to_matrix(sparse.csr_array(np.eye(2, dtype=np.int64))).dtype == np.float64

    def test_infinity_in_a_sparse_matrix_names_its_column(self) -> None:
        with pytest.raises(ValueError, match="column 1 has 1 infinite value"):
            to_matrix(sparse.csr_array(np.array([[1.0, np.inf], [0.0, 2.0]])))

    def test_infinities_of_several_columns_are_counted_in_all(self) -> None:
        X = np.ones((30, 12))
        X[:, 2:9] = np.inf
        X[3:, 2] = 0.0
        X[5, 11] = -np.inf
        pattern = "there are 184 infinite values in 8 columns, 3 of them in the first, column"
        for matrix in (X, X.astype(np.float32), sparse.csr_array(X), sparse.csc_matrix(X)):
            with pytest.raises(ValueError, match=f"{pattern} 2. Replace them by NaN"):
                to_matrix(matrix)
        with pytest.raises(ValueError, match=f"{pattern} 'c2'"):
            to_matrix(pd.DataFrame(X, columns=[f"c{j}" for j in range(12)]))


class TestNoTables:
    @pytest.mark.parametrize(
        ("X", "what"),
        [
            ({"a": [1.0, 2.0]}, "a dict, not a table; make it one, for example with pandas.DataFrame"),
            ([{"a": 1.0}, {"a": 2.0}], "a list of dict, not a table; make it one, for example with pandas.DataFrame"),
            ((row for row in np.eye(3)), r"a generator, not a table; pass the rows as a list, such as list\(X\)"),
            (zip([1.0], [2.0], strict=True), r"a zip, not a table; pass the rows as a list"),
            ({1.0, 2.0}, r"a set, not a table; pass the rows as a list"),
            ("table.csv", "the text 'table.csv', not a table; read the file first.* or give EasyFS what easyfs.scan makes"),
            (Path("table.csv"), "the path 'table.csv', not a table; read the file first"),
            ([pd.DataFrame({"a": [1.0]})] * 2, r"a list of tables; put them below each other first"),
        ],
        ids=["dict", "dicts", "generator", "zip", "set", "text", "path", "tables"],
    )
    def test_the_error_says_what_to_pass(self, X: Any, what: str) -> None:
        with pytest.raises(TypeError, match=f"X is {what}"):
            to_matrix(X)
        fitted = make_selector("pearson", 1).fit(np.eye(3), [0.0, 0.5, 1.0])
        for use in (
            lambda: make_selector("easyfs", 1).fit(X, [0, 1, 0]),
            lambda: fitted.transform(X),
            lambda: fitted.take(X),
        ):
            with pytest.raises(TypeError, match=f"X is {what}"):
                use()

    def test_it_is_said_before_a_target_is_looked_for_by_name(self) -> None:
        with pytest.raises(TypeError, match=r"X is the text 'table\.csv', not a table"):
            make_selector("easyfs", 1).fit("table.csv", "price")
        twice = pd.DataFrame(np.eye(3), columns=["a", "price", "price"])
        with pytest.raises(ValueError, match="X has 2 columns called 'price'"):
            make_selector("easyfs", 1).fit(twice, "price")


@pytest.mark.parametrize("info", available_selectors(), ids=lambda info: info.name)
def test_no_selector_takes_columns_of_the_same_name(info: Any) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    frame = pd.DataFrame(X, columns=["a", "b", "a"])
    mixed = pd.concat([frame, pd.DataFrame({"b": ["x", "y"] * 20})], axis=1)
    for table, name in ((frame, "a"), (mixed, "a")):
        with pytest.raises(ValueError, match=f"2 columns called '{name}'"):
            make_selector(info.name, 1).fit(table, np.arange(40) % 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_what_a_mask_hides_is_missing(dtype):
    values = np.arange(12).reshape(4, 3).astype(dtype)
    hidden = values % 5 == 0
    matrix = to_matrix(np.ma.masked_array(values, mask=hidden))
    np.testing.assert_array_equal(matrix, np.where(hidden, np.nan, values))
    assert matrix.dtype == (np.float32 if dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(to_matrix(np.ma.masked_array(values)), values)
