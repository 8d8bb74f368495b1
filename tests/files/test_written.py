"""Numbers and dates as people write them: read rightly, or said; the same wherever a table is cut."""

import datetime as dt
import warnings
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import easyfs
from easyfs.files.cells import Cells
from easyfs.files.formats import FileError, TextOptions
from easyfs.files.source import open_source

TOKENS = ["1,5", "1,234", "1.234", "1.234,56", "1,234.56", "12", "0", "7.25", "1'234.5", "12 345", "1 234,5", "$5"]
TOKENS += ["€ 3", "45 %", "NA", "", "x", "true", "007", "03/07/2024", "13/07/2024", "07/13/2024", "3-7-24 1:05 pm"]
TOKENS += ["31/02/2024", "1e5", "inf", "-999", " 8 ", "12345678901234567890", "1.234.567", "1,234,567"]


def series(cells):
    return pl.Series("c", [cell or None for cell in cells], dtype=pl.String)


def read(cells, cuts=(), semicolons=False, **options):
    """A column as it is in memory, and as it is in parts."""
    whole, parts = (Cells(TextOptions(**options), semicolons=semicolons) for _ in range(2))
    bounds = [0, *sorted({cut for cut in cuts if 0 < cut < len(cells)}), len(cells)]
    chunks = [series(cells[a:b]) for a, b in pairwise(bounds)]
    for chunk in chunks:
        whole.add(chunk)
        parts.look(chunk)
    if whole.again:
        for chunk in chunks:
            whole.add_known(chunk)
    return whole.series("c", compact=False), pl.concat([parts.read(chunk) for chunk in chunks]), parts


@pytest.mark.parametrize(
    ("cells", "options", "values"),
    [
        (["1,5", "2,25", "-3", "NA"], {}, [1.5, 2.25, -3.0, None]),
        (["1.234,56", "99,00", "7"], {}, [1234.56, 99.0, 7.0]),
        (["1.234.567", "950"], {}, [1234567.0, 950.0]),
        (["1,234.50", "12"], {}, [1234.5, 12.0]),
        (["1,234,567", "1,5"], {}, ["1,234,567", "1,5"]),
        (["$1,234.50", "-$3", "$ 1.5"], {}, [1234.5, -3.0, 1.5]),
        (["12 €", "3,5 €"], {}, [12.0, 3.5]),
        (["12 EUR", "CHF 3"], {}, ["12 EUR", "CHF 3"]),
        (["45 %", "3.5%"], {}, [45.0, 3.5]),
        (["45 %", "0.45"], {}, ["45 %", "0.45"]),
        (["1'234.5", "1\u2019000"], {}, [1234.5, 1000.0]),
        (["1 234,5", "2\u00a0345"], {}, [1234.5, 2345.0]),
        (["12 345", "23 456"], {}, ["12 345", "23 456"]),
        (["12 345", "23 456"], {"thousands": "space"}, [12345.0, 23456.0]),
        (["1,5", "2"], {"thousands": "space"}, [1.5, 2.0]),
        (["1.234", "2.500", "950"], {}, [1.234, 2.5, 950.0]),
        (["1.234", "2.500", "950"], {"decimal": ","}, [1234.0, 2500.0, 950.0]),
        (["1.234", "2.500", "950"], {"thousands": "."}, [1234.0, 2500.0, 950.0]),
        (["1.25", "2.5"], {"decimal": ","}, [1.25, 2.5]),
        (["1,25", "2,5"], {"decimal": "."}, ["1,25", "2,5"]),
        (["1,250", "2,500"], {"decimal": ","}, [1.25, 2.5]),
        (["1,250", "2,500"], {"thousands": ","}, [1250.0, 2500.0]),
        (["007,5", "1,5"], {}, ["007,5", "1,5"]),
        (["00123", "1,5"], {}, ["00123", "1,5"]),
        (["1,5", "-999"], {"missing": ("-999",)}, [1.5, None]),
        (["1,5", "k.A."], {"missing": ("k.A.",)}, [1.5, None]),
        (["1,5", "?", "word"], {}, ["1,5", "?", "word"]),
        ([" 1,5 ", "2"], {}, [1.5, 2.0]),
        (["1,5e3", "2"], {}, [1500.0, 2.0]),
        (["\u22121.5", "2", "\u22123"], {}, [-1.5, 2.0, -3.0]),
        (["\u22121.234,5", "\u2212 2 €", "3"], {}, [-1234.5, -2.0, 3.0]),
        (["\u2212", "2"], {}, ["\u2212", "2"]),
    ],
)
def test_a_column_of_a_file_with_semicolons_or_without(cells, options, values):
    for semicolons in (False, True):
        one, other, _ = read(cells, semicolons=semicolons, **options)
        assert one.to_list() == values
        assert other.to_list() == values


def test_three_digits_after_a_comma_are_decimals_beside_semicolons_and_thousands_elsewhere():
    assert read(["1,234", "950"], semicolons=True)[0].to_list() == [1.234, 950.0]
    assert read(["1,234", "950"])[0].to_list() == [1234.0, 950.0]
    assert read(["1,234", "950", "1,5"])[0].to_list() == [1.234, 950.0, 1.5]


@pytest.mark.parametrize(
    ("cells", "options", "first"),
    [
        (["03/07/2024", "13/07/2024"], {}, dt.datetime(2024, 7, 3)),
        (["03/07/2024", "07/13/2024"], {}, dt.datetime(2024, 3, 7)),
        (["03/07/2024"], {"date_order": "day"}, dt.datetime(2024, 7, 3)),
        (["03/07/2024"], {"date_order": "month"}, dt.datetime(2024, 3, 7)),
        (["3-7-24 1:05 pm", "NA"], {"date_order": "day"}, dt.datetime(2024, 7, 3, 13, 5)),
        (["12/31/1999 12:00 AM"], {}, dt.datetime(1999, 12, 31)),
        (["31/12/69 23:59:58"], {}, dt.datetime(1969, 12, 31, 23, 59, 58)),
        (["31/02/2024", "01/02/2024"], {}, "31/02/2024"),
        (["13/07/2024", "07/13/2024"], {}, "13/07/2024"),
        (["13/07/2024"], {"date_order": "month"}, "13/07/2024"),
        (["03/07/2024", "5"], {}, "03/07/2024"),
    ],
)
def test_dates(cells, options, first):
    one, other, _ = read(cells, **options)
    assert one[0] == other[0] == first


@given(
    st.lists(st.sampled_from(TOKENS), min_size=1, max_size=8),
    st.lists(st.integers(1, 7), max_size=3),
    st.booleans(),
    st.sampled_from([{}, {"decimal": ","}, {"decimal": "."}, {"thousands": "space"}, {"date_order": "day"}]),
)
@settings(max_examples=400, deadline=None)
def test_the_cut_does_not_matter(cells, cuts, semicolons, options):
    whole, _, _ = read(cells, (), semicolons, **options)
    one, other, _ = read(cells, cuts, semicolons, **options)
    assert other.dtype == one.dtype
    assert one.drop_nulls().to_list() == other.filter(one.is_not_null()).to_list()
    if "12345678901234567890" not in cells:  # beside a fraction such a number is a text, but a chunk of it alone knows that
        assert one.dtype == whole.dtype
        assert one.drop_nulls().to_list() == whole.filter(one.is_not_null()).to_list()


@given(st.lists(st.floats(-1e7, 1e7).map(lambda value: round(value, 2)), min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_what_is_written_in_german_or_english_comes_back(values):
    english = [f"{value:,.2f}" for value in values]
    german = [text.translate(str.maketrans(",.", ".,")) for text in english]
    for cells in (english, german):
        one, _, column = read(cells)
        assert one.cast(pl.Float64).to_list() == values
        assert column.final == "float"


def said(path, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        open_source(str(path), options=TextOptions(**options)).read()
    with warnings.catch_warnings(record=True) as in_parts:
        warnings.simplefilter("always")
        easyfs.scan(path, **options).collect()
    lines = [str(warning.message) for warning in caught]
    assert lines == [str(warning.message) for warning in in_parts]
    return lines


def test_doubt_is_said_in_one_line_for_each_kind_and_not_where_there_is_none(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b,c,d\n"1,234","2,500",03/07/2024,12 345\n950,"1,000",04/07/2024,23 456\n')
    lines = said(path)
    assert len(lines) == 3
    assert "'a', 'b' hold numbers such as '1,234', read as 1234; say decimal=',' if the comma is a decimal mark" in lines[0]
    assert "'c' holds dates such as '03/07/2024', read with the month first; say date_order='day'" in lines[1]
    assert "'d' holds text such as '12 345'" in lines[2]
    assert "say thousands='space'" in lines[2]
    assert not said(path, thousands=",", date_order="day", missing=("12 345", "23 456"))
    path.write_text("a;b;c\n1,5;1.234;45 %\n2,5;2.500;0.5\n")
    lines = said(path)
    assert len(lines) == 2
    assert "'b' holds numbers with three digits after the point, read as decimals; say thousands='.'" in lines[0]
    assert "'c' holds numbers with different signs ('%' and none), which are not read as numbers" in lines[1]
    path.write_text("a;b;c;d\n1,5;1.234,5;45 %;13/07/2024\n2,5;2.500,25;5 %;01/07/2024\n")
    assert not said(path)


def test_a_second_look_at_a_table_says_nothing_twice(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"1,234",x\n950,y\n')
    source = open_source(str(path))
    with pytest.warns(UserWarning, match="read as 1234"):
        source.read()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        source.read(["a"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"decimal": ";"}, "decimal=';' is not known"),
        ({"thousands": "_"}, "thousands='_' is not known"),
        ({"date_order": "year"}, "date_order='year' is not known; use 'day' or 'month'"),
        ({"decimal": ",", "thousands": ","}, "are the same mark"),
        ({"comment": " "}, "comment=' '"),
    ],
)
def test_options_that_are_none(options, message, tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(FileError, match=message):
        easyfs.scan(tmp_path / "t.csv", **options)


def test_parts_and_memory_agree_on_a_messy_table(tmp_path, monkeypatch):
    monkeypatch.setattr("easyfs.files.blocks.BLOCK", 1 << 9)
    rng = np.random.default_rng(0)
    lines = ["late;comma;money;day;late date"]
    for i in range(300):
        value = f"{rng.normal() * 1e4:,.2f}".translate(str.maketrans(",.", ".,"))
        late = "2,5" if i == 299 else str(i)
        late_date = f"{i % 12 + 1}/{i % 12 + 1 + 12 * (i == 298)}/23"
        lines.append(f"{late};{value};{value} €;{i % 28 + 1:02d}/{i % 12 + 1:02d}/2023;{late_date}")
    text = "\n".join(lines) + "\n"
    (tmp_path / "one.csv").write_text(text)
    for j in range(3):
        (tmp_path / f"part-{j}.csv").write_text("\n".join([lines[0], *lines[1 + 100 * j : 101 + 100 * j]]) + "\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = open_source(str(tmp_path / "one.csv")).read()
        several = easyfs.scan(tmp_path / "part-*.csv").collect()
    assert one.equals(several)
    assert one.schema == {
        "late": pl.Float64,
        "comma": pl.Float64,
        "money": pl.Float64,
        "day": pl.Datetime("us"),
        "late date": pl.Datetime("us"),
    }
    assert one["late"].to_list() == [*map(float, range(299)), 2.5]
