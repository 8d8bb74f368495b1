"""What a column is taken for."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfs import EasyFS
from easyfs.tables.columns import ColumnInfo, count_missing, is_row_number, recognise, series_of

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_library = pytest.mark.parametrize("library", LIBRARIES)


def seen(values: Any, name: str = "c", library: str = "pandas", *, keep: bool = False) -> ColumnInfo:
    return recognise(name, series_of(LIBRARIES[library]({name: values}))[0], keep=keep)[0]


def values_of(values: Any, library: str = "pandas") -> Any:
    return recognise("c", series_of(LIBRARIES[library]({"c": values}))[0])[1]


@every_library
@pytest.mark.parametrize(
    ("values", "kind", "used_as"),
    [
        ([1.5, 2.5, None, 4.0] * 10, "numeric", "number"),
        ([3, 1, 3, 2] * 10, "numeric", "number"),
        ([True, False, True, True] * 10, "boolean", "number"),
        (["red", "green", None, "red"] * 10, "text", "indicators"),
        ([f"the {i}th of many long remarks" for i in range(40)], "free text", "set aside"),
        ([f"A{i:04d}" for i in range(40)], "identifier", "set aside"),
        (list(range(100, 140)), "identifier", "set aside"),
        ([dt.datetime(2024, 1, 1) + dt.timedelta(hours=7 * i) for i in range(40)], "date", "date parts"),
        ([dt.date(2024, 1, 1) + dt.timedelta(days=i % 9) for i in range(40)], "date", "date parts"),
        ([f"2024-01-{1 + i % 28:02d}" for i in range(40)], "date", "date parts"),
        ([f"2024-01-{1 + i % 28:02d} 10:{i:02d}:00" for i in range(40)], "date", "date parts"),
        ([dt.timedelta(hours=i % 7) for i in range(40)], "duration", "number"),
        (["7.5", "8", "-1e3", None] * 10, "numeric", "number"),
        ([5.0] * 40, "constant", "number"),
        ([None, 5.0] * 20, "numeric", "indicators"),
        ([None, True] * 20, "boolean", "indicators"),
        (["yes", None] * 20, "text", "indicators"),
        (["5", None] * 20, "numeric", "indicators"),
        ([None, dt.timedelta(hours=1)] * 20, "duration", "indicators"),
        ([None, dt.date(2024, 1, 1)] * 20, "constant", "set aside"),
        (["same"] * 40, "constant", "set aside"),
        ([[1, 2], [3, 4]] * 20, "other", "set aside"),
    ],
)
def test_kinds(values: list[Any], kind: str, used_as: str, library: str) -> None:
    info = seen(values, library=library)
    assert (info.kind, info.used_as) == (kind, used_as)
    assert info.n_missing == sum(value is None for value in values)
    assert bool(info.reason) == (used_as == "set aside")


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("customer_id", [10 * i for i in range(40)], "identifier"),
        ("customerId", [10 * i for i in range(40)], "identifier"),
        ("ID", [10.0 * i for i in range(40)], "identifier"),
        ("paid", [10 * i for i in range(40)], "numeric"),  # ends in id, but as part of a word
        ("liquid", [10 * i for i in range(40)], "numeric"),
        ("id", [1, 2, 3, 4] * 10, "numeric"),  # few values: a code
        ("price", [10 * i for i in range(40)], "numeric"),
        ("year", list(range(2000, 2010)), "numeric"),  # too few to be sure
        ("t", [i + 0.5 for i in range(40)], "numeric"),
        ("shuffled", np.random.default_rng(0).permutation(40).tolist(), "identifier"),
        ("twice", [*range(39), 38], "numeric"),
        ("user_id", [f"u{i % 35}" for i in range(400)], "identifier"),  # by its name, though each is there often
        ("user", [f"u{i % 35}" for i in range(400)], "text"),
    ],
)
def test_identifiers(name: str, values: list[Any], kind: str) -> None:
    assert seen(values, name).kind == kind


def split(n: int, share: float, seed: int = 0, *, step: int = 1) -> np.ndarray:
    """Numbers of the rows of a random part of ``n`` rows, in random order."""
    return step * np.random.default_rng(seed).permutation(n)[: int(share * n)]


@pytest.mark.parametrize(
    "values",
    [
        split(300, 0.8),
        split(300, 0.8) + 1000,
        np.sort(split(300, 0.8)),
        split(100, 0.5),
        split(50, 0.7),
        split(20_000, 0.1),
        split(3000, 0.3).astype(float),
        np.r_[0:100, 150:400],  # all folds but one
        np.where(np.arange(240) % 50 == 7, np.nan, split(300, 0.8)),
    ],
    ids=["80%", "from 1000", "in order", "half", "small", "10%", "floats", "folds", "some missing"],
)
def test_row_numbers_of_a_part_of_the_rows(values: Any) -> None:
    info = seen(values, "c")
    assert (info.kind, info.used_as) == ("identifier", "set aside")
    assert "row number" in info.reason


@pytest.mark.parametrize("first", [2**53 + 1, 2**60, 2**62 + 7, -(2**61)])
@every_library
@pytest.mark.parametrize("part", [False, True], ids=["all", "part"])
def test_row_numbers_that_floats_do_not_tell_apart(first: int, library: str, part: bool) -> None:
    values = [first + int(i) for i in (split(2000, 0.8) if part else range(2000))]
    info = seen(values, "c", library)
    assert (info.kind, info.used_as) == ("identifier", "set aside")
    assert f"from {min(values)} to {max(values)}" in info.reason or "without a gap" in info.reason
    measured = [first + int(i) for i in np.random.default_rng(0).integers(0, 2000, 2000)]
    assert seen(measured, "c", library).kind == "numeric"


@every_library
def test_a_table_of_numbers_with_large_row_numbers(library: str) -> None:
    a = np.random.default_rng(0).normal(size=500)
    table = LIBRARIES[library]({"a": a, "order": np.arange(500) + 2**53 + 1})
    with pytest.warns(UserWarning, match="'order'"):
        selector = EasyFS(1, random_state=0).fit(table, a + np.arange(500) / 50)
    assert selector.get_feature_names_out().tolist() == ["a"]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("price", np.random.default_rng(0).integers(35_000, 700_000, 1460)),
        ("population", np.unique(np.random.default_rng(0).lognormal(9, 1.5, 400).round())),
        ("distance", np.random.default_rng(0).permutation(np.unique(np.random.default_rng(0).integers(0, 10**5, 300)))),
        ("seconds", 10 * np.arange(5000)),
        ("even", np.random.default_rng(0).permutation(np.arange(0, 600, 2))),
        ("tens", split(1000, 0.8, step=10)),
        ("clock", np.cumsum(np.random.default_rng(0).integers(1, 9, 3000))),  # only grows, and is wide
        ("date", [int(f"2024{m:02d}{d:02d}") for m in range(1, 13) for d in range(1, 29)]),
        ("lumps", np.random.default_rng(0).permutation(np.r_[0:200, 900:1000, 1900:2000])),
        ("score", np.random.default_rng(0).integers(0, 100, 90)),
        ("measured twice", np.r_[split(300, 0.8), 17, 17]),
    ],
)
def test_measured_numbers_are_no_row_numbers(name: str, values: Any) -> None:
    assert seen(values, name).kind == "numeric"


@given(st.integers(30, 300), st.floats(0.4, 10.0), st.integers(0, 2**31))
def test_numbers_that_are_drawn_with_repetition_are_no_row_numbers(n: int, wide: float, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, max(2, int(wide * n)), n)
    if len(np.unique(values)) < n:
        assert not is_row_number("c", values.astype(float))


@pytest.mark.parametrize("name", ["Unnamed: 0", "index", "row_id", "", "level_0"])
def test_the_name_of_an_index_tells_though_most_rows_are_gone(name: str) -> None:
    assert seen(split(20_000, 0.01), name).kind == "identifier"
    assert seen(split(20_000, 0.01), "steps").kind == "numeric"


def test_a_column_that_is_kept_is_used_as_what_it_could_be() -> None:
    assert seen(list(range(40)), keep=True).used_as == "number"
    assert seen([f"A{i}" for i in range(40)], keep=True).used_as == "indicators"


def test_an_ordered_category_is_its_place_in_the_order() -> None:
    sizes = pd.Categorical(["L", "S", None, "M"] * 5, categories=["S", "M", "L"], ordered=True)
    info, values = recognise("size", series_of(pd.DataFrame({"size": sizes}))[0])
    assert (info.kind, info.used_as, info.n_missing) == ("category", "number", 5)
    np.testing.assert_array_equal(values[:4], [2.0, 0.0, np.nan, 1.0])


@pytest.mark.parametrize("series", [pd.Categorical(["a", "b"] * 4), pd.Categorical([1, 2] * 4), pd.array(["a", "b"] * 4)])
def test_pandas_categories(series: Any) -> None:
    assert seen(series).used_as == "indicators"


@pytest.mark.parametrize("ordered", [False, True])
def test_a_category_of_one_value_that_is_not_always_there(ordered: bool) -> None:
    marks = pd.Categorical(["x", None, None] * 5, categories=["x", "y"], ordered=ordered)
    info, values = recognise("mark", series_of(pd.DataFrame({"mark": marks}))[0])
    assert (info.kind, info.used_as, info.n_missing, info.n_distinct) == ("category", "indicators", 10, 1)
    assert values == ["x", None, None] * 5


def test_a_word_for_missing_among_numbers_in_text_leaves_a_mark() -> None:
    info, values = recognise("c", series_of(pl.DataFrame({"c": ["5", "NA", "5", ""]}))[0])
    assert (info.kind, info.used_as, info.n_missing) == ("numeric", "indicators", 2)
    assert values == ["5", None, "5", None]


@every_library
@pytest.mark.parametrize(
    "values",
    [
        ["a", None, "NA", " ? "],
        [1.5, None, float("nan"), 2.0],
        [True, None, None, False],
        [1, None, 2, 3],
        [[1], None, [2], None],
    ],
)
def test_missing_values_are_counted_as_they_are_recognised(values: list[Any], library: str) -> None:
    column = series_of(LIBRARIES[library]({"c": values * 6}))[0]
    assert count_missing(column) == recognise("c", column)[0].n_missing


def test_objects_of_pandas() -> None:
    assert seen(pd.Series([True, False, None] * 5, dtype=object)).kind == "boolean"
    assert seen(pd.Series([1, 2.5, None] * 5, dtype=object)).kind == "numeric"
    assert seen(pd.Series([decimal.Decimal("1.5"), decimal.Decimal(2)] * 5, dtype=object)).kind == "numeric"
    assert seen(pd.Series([1, "a", None] * 5, dtype=object)).kind == "text"
    assert seen(pd.Series(pd.period_range("2020-01", periods=8, freq="M"))).kind == "date"
    assert seen(pd.Series([{"a": 1}] * 5, dtype=object)).kind == "other"
    assert seen(pd.Series([None] * 5, dtype=object)).kind == "constant"
    assert seen(pd.Series([1j, 2j] * 5)).kind == "other"


def test_times_with_a_zone_are_brought_to_one() -> None:
    zoned = pd.Series(pd.to_datetime(["2024-01-01 01:00", "2024-01-02 12:00"])).dt.tz_localize("Europe/Berlin")
    plain = pd.Series(pd.to_datetime(["2024-01-01 00:00", "2024-01-02 11:00"]))
    np.testing.assert_array_equal(values_of(zoned), values_of(plain))


@pytest.mark.parametrize("text", ["2024-3-7", "2024/03/07", "07.03.2024", "2024-03-07T00:00:00Z"])
def test_dates_written_as_text(text: str) -> None:
    assert values_of([text, "2020-01-01"])[0] == np.datetime64("2024-03-07", "us")


@pytest.mark.parametrize("texts", [["2024-13-40", "2024-01-01"], ["2024-01-01", "soon"], ["1_000", "2"], ["inf", "1"]])
def test_what_only_looks_like_dates_or_numbers_is_text(texts: list[str]) -> None:
    assert seen(texts * 5).kind == "text"


def test_words_for_a_missing_value_in_text() -> None:
    info = seen(["red", "NA", "n/a", "", "?", "blue", "red", "blue"])
    assert (info.kind, info.n_missing, info.n_distinct) == ("text", 4, 2)


def test_columns_of_one_name_are_told_apart() -> None:
    frame = pd.DataFrame([[1.0, "x"], [2.0, "y"]], columns=["a", "a"])
    assert [recognise("a", column)[0].kind for column in series_of(frame)] == ["numeric", "text"]


@given(st.lists(st.one_of(st.none(), st.text(max_size=20)), min_size=1, max_size=40))
def test_any_text_is_taken_for_something(values: list[str | None]) -> None:
    info, found = recognise("c", series_of(pl.DataFrame({"c": pl.Series(values, dtype=pl.String)}))[0])
    assert len(found) == len(values)
    assert (info.used_as == "set aside") == bool(info.reason)


def test_text_that_is_numbers_but_for_a_few_cells_says_which() -> None:
    cells = [f"{i / 7:.4f}" for i in range(100)]
    info, _ = recognise("reading", series_of(pl.DataFrame({"reading": ["<0.01", *cells[1:]]}))[0])
    assert info.used_as == "set aside"
    assert "all of them numbers but 1 such as '<0.01'" in info.reason
    info, _ = recognise("key", series_of(pl.DataFrame({"key": [f"k{cell}" for cell in cells]}))[0])
    assert "numbers" not in info.reason
