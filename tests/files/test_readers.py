"""Workbooks, databases, ARFF, libsvm, arrays and archives: what is read, the same in parts, and errors of bad ones."""

import base64
import bz2
import datetime as dt
import lzma
import sqlite3
import warnings
import zipfile
from pathlib import Path

import duckdb
import numpy as np
import openpyxl
import polars as pl
import pytest
import zstandard

import easyfs
from easyfs.files.formats import FileError, TextOptions
from easyfs.files.source import open_source

CSV = b"a,b\n1,x\n2,y\n"
PACKED = {"bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.ZstdCompressor(write_checksum=True).compress}
PROTECTED = Path(__file__).with_name("protected.xlsx")
# a.csv with a password, by AES.
PROTECTED_ZIP = (
    "UEsDBBQAAQBjAC+jcF0AAAAAJAAAAAgAAAAFAAsAYS5jc3YBmQcAAgBBRQMAAG49jyDjVslR6VyQ8tyrNhr8a1EkVPAe4B08Kz7zigZpjs7+eFBLAQIUAxQA"
    "AQBjAC+jcF0AAAAAJAAAAAgAAAAFAAsAAAAAAAAAAACAAQAAAABhLmNzdgGZBwACAEFFAwAAUEsFBgAAAAABAAEAPgAAAFIAAAAAAA=="
)


def read(name, *, query=None, **options):
    """A table in memory; in parts it is the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = open_source(str(name), options=TextOptions(**options), query=query).read()
        assert easyfs.scan(str(name), query=query, **options).collect().equals(frame)
    return frame


def fails(name, message, query=None):
    with pytest.raises(FileError, match=message) as found:
        open_source(str(name), query=query).read()
    assert "\n" not in str(found.value)
    assert Path(str(name).partition("::")[0]).name in str(found.value)


@pytest.mark.parametrize("ending", list(PACKED))
def test_compressed_text(ending, tmp_path, monkeypatch):
    monkeypatch.setattr("easyfs.files.blocks.BLOCK", 1 << 12)
    content = b"a,b\n" + b"".join(b"%d,word %d\n" % (i, i) for i in range(5000))
    path = tmp_path / f"t.csv.{ending}"
    path.write_bytes(PACKED[ending](content))
    assert read(path)["a"].to_list() == list(range(5000))
    lines = tmp_path / f"t.jsonl.{ending}"
    lines.write_bytes(PACKED[ending](b'{"a": 1}\n{"a": 2}\n'))
    assert read(lines)["a"].to_list() == [1, 2]
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    fails(path, "is cut off")
    path.write_bytes(whole[:40] + bytes(byte ^ 0x5A for byte in whole[40:60]) + whole[60:])
    fails(path, "is damaged|is cut off")
    path.write_bytes(CSV)
    fails(path, "is not a (bzip2|xz|zstd) file, or is damaged")
    plain = tmp_path / "named.csv"  # known by how it begins
    plain.write_bytes(PACKED[ending](CSV))
    assert read(plain)["a"].to_list() == [1, 2]


def test_several_frames_of_zstd_are_one_text(tmp_path):
    half = zstandard.ZstdCompressor()
    (tmp_path / "t.csv.zst").write_bytes(half.compress(b"a,b\n1,x\n") + half.compress(b"2,y\n"))
    assert read(tmp_path / "t.csv.zst").rows() == [(1, "x"), (2, "y")]


def test_zip(tmp_path):
    path = tmp_path / "t.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._a.csv", b"\0")
        archive.writestr("in/a.csv", CSV)
    assert read(path).rows() == [(1, "x"), (2, "y")]
    pl.DataFrame({"p": [1.5]}).write_parquet(tmp_path / "p.parquet")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("b.tsv", CSV.replace(b",", b"\t"))
        archive.write(tmp_path / "p.parquet", "p.parquet")
        archive.writestr("c.csv.bz2", bz2.compress(CSV))
        archive.writestr("notes", "x")
    fails(path, r"holds 5 files: 'in/a.csv', 'b.tsv', .*say which, as in '.*t\.zip::in/a\.csv'")
    assert read(f"{path}::b.tsv").rows() == [(1, "x"), (2, "y")]
    assert read(f"{path}::p.parquet").rows() == [(1.5,)]
    assert read(f"{path}::c.csv.bz2").rows() == [(1, "x"), (2, "y")]
    assert open_source(f"{path}::notes", as_format="csv").names == ["x"]
    fails(f"{path}::notes", "has no known ending")
    fails(f"{path}::no.csv", r"holds no file 'no\.csv'; it has 'in/a\.csv'")
    path.write_bytes(base64.b64decode(PROTECTED_ZIP))
    fails(path, r"'a\.csv' is protected by a password")
    path.write_bytes(b"PK\x03\x04 and no more")
    fails(path, "is not a zip file, or is damaged")


@pytest.fixture
def workbook(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Sales"
    sheet.append([])
    sheet.append(["whole", "x", "word", "day", "flag", "gaps", "money", "code", None])
    for i in range(4):
        day = dt.datetime(2024, 3, i + 1)
        sheet.append([i, i + 0.5, f"w{i}", day, i % 2 == 0, "NA" if i % 2 else i, f"1.{i}34,50 €", f"00{i}"])
    sheet.append([])
    other = book.create_sheet("Other sheet")
    other.append(["a"])
    other.append([1])
    book.create_sheet("Empty")
    book.create_sheet("Head").append(["a", "b"])
    book.save(tmp_path / "b.xlsx")
    return tmp_path / "b.xlsx"


def test_a_workbook(workbook, tmp_path):
    frame = read(f"{workbook}::Sales")
    assert frame.schema == {
        "whole": pl.Int64,
        "x": pl.Float64,
        "word": pl.String,
        "day": pl.Datetime("us"),
        "flag": pl.Boolean,
        "gaps": pl.Int64,
        "money": pl.Float64,
        "code": pl.String,
    }
    assert frame.row(1) == (1, 1.5, "w1", dt.datetime(2024, 3, 2), False, None, 1134.5, "001")
    assert read(f"{workbook}::Other sheet").rows() == [(1,)]
    with pytest.warns(UserWarning, match=r"has 3 sheets, of which 'Sales' is read; another is '.*b\.xlsx::Other sheet'"):
        assert open_source(str(workbook)).read().equals(frame)
    assert read(f"{workbook}::Other sheet", header=False).rows() == [("a",), ("1",)]
    fails(f"{workbook}::Empty", "the sheet 'Empty' is empty")
    fails(f"{workbook}::Head", "names of columns, but no rows")
    fails(f"{workbook}::sales", "has no sheet 'sales'; it has 'Sales', 'Other sheet'")
    cut = tmp_path / "cut.xlsx"
    cut.write_bytes(workbook.read_bytes()[:2000])
    fails(cut, "cannot be read as a workbook: it may be damaged, cut off")
    cut.write_bytes(CSV)
    fails(cut, "cannot be read as a workbook")
    fails(PROTECTED, "is protected by a password; save it without one")


def test_names_of_a_workbook_are_checked(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["a", "a"])
    book.active.append([1, 2])
    book.save(tmp_path / "t.xlsx")
    fails(tmp_path / "t.xlsx", "several columns called 'a'")


@pytest.fixture
def sqlite(tmp_path):
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute('create table "the sales" (n integer, x real, w text, any, amount text, blank)')
        rows = [(i, i / 4, f"w{i % 3}", i if i % 2 else "odd", f"{i},5", None) for i in range(200)]
        connection.executemany('insert into "the sales" values (?, ?, ?, ?, ?, ?)', rows)
    connection.close()
    return path


def test_sqlite(sqlite, tmp_path, monkeypatch):
    monkeypatch.setattr("easyfs.files.databases.ROWS", 70)
    frame = read(sqlite)
    assert frame.schema == {
        "n": pl.Int64,
        "x": pl.Float64,
        "w": pl.String,
        "any": pl.String,
        "amount": pl.Float64,
        "blank": pl.Float64,
    }
    assert frame.row(3) == (3, 0.75, "w0", "3", 3.5, None)
    assert len(frame) == 200
    asked = 'select w, sum(x) as total from "the sales" group by w order by w; '
    assert read(sqlite, query=asked)["w"].to_list() == ["w0", "w1", "w2"]
    with sqlite3.connect(sqlite) as connection:
        connection.execute("create view few as select n from 'the sales' where n < 2")
        connection.execute("create table none (a)")
    connection.close()
    (tmp_path / "shop.db").write_bytes(sqlite.read_bytes())
    assert read(f"{tmp_path / 'shop.db'}::few").rows() == [(0,), (1,)]
    fails(sqlite, r"has 3 tables: 'the sales', 'few', 'none'; say which, as in '.*shop\.sqlite::the sales'")
    fails(f"{sqlite}::no", "has no table 'no'; it has 'the sales'")
    fails(f"{sqlite}::none", "no rows")
    fails(sqlite, "the query cannot be answered: no such column: nope", query="select nope from few")
    fails(sqlite, "the query cannot be answered", query="drop table none")
    fails(sqlite, "the query cannot be answered", query="delete from none returning *")
    (tmp_path / "bad.sqlite").write_bytes(sqlite.read_bytes()[:5000])
    fails(f"{tmp_path / 'bad.sqlite'}", "cannot be read as SQLite")


def test_duckdb(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "create table sales as select i, i * 1.5 as price, i::decimal(9, 2) as cents, 'w' || (i % 3) as w, "
            "date '2024-01-01' + i::integer as day from range(300) r(i)"
        )
    frame = read(path)
    assert frame.columns == ["i", "price", "cents", "w", "day"]
    assert frame.schema["cents"] == frame.schema["price"] == pl.Float64
    assert frame["i"].to_list() == list(range(300))
    with duckdb.connect(str(path)) as connection:
        connection.execute('create schema "more"; create table "more"."odd ""name" as select 1 as a')
    assert read(f'{path}::more.odd "name').rows() == [(1,)]
    assert read(f"{path}::sales").equals(frame)
    assert read(path, query="select w, avg(price) as p from sales group by w order by w -- all").height == 3
    fails(path, "has 2 tables")
    fails(f"{path}::no", "has no table 'no'")
    fails(path, "the query cannot be answered", query="selec")
    fails(path, "the query cannot be answered", query="drop table sales")
    bad = tmp_path / "bad.duckdb"
    bad.write_bytes(path.read_bytes()[:5000])
    fails(bad, "cannot be read as DuckDB")
    (tmp_path / "either.db").write_bytes(path.read_bytes())
    assert read(f"{tmp_path / 'either.db'}::sales").equals(frame)
    (tmp_path / "t.csv").write_bytes(CSV)
    with pytest.raises(FileError, match="query= is for databases"):
        open_source(str(tmp_path / "t.csv"), query="select 1")
    with pytest.raises(FileError, match="holds one table; there is no 'x' in it"):
        open_source(f"{tmp_path / 't.csv'}::x")


ARFF = r"""% a comment
@RELATION 'some weather'

@attribute 'the temperature' NUMERIC
@attribute outlook {sunny, 'partly cloudy', "rainy"}
@attribute note string
@attribute n integer
@data
21.5, sunny, 'it\'s, well', 3
% another
?, 'partly cloudy', ?, 4
-1e1,rainy,"x",?
"""


def test_arff(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text(ARFF)
    frame = read(path)
    assert frame.columns == ["the temperature", "outlook", "note", "n"]
    assert frame.rows() == [
        (21.5, "sunny", "it's, well", 3),
        (None, "partly cloudy", None, 4),
        (-10.0, "rainy", "x", None),
    ]
    (tmp_path / "t.arff.bz2").write_bytes(bz2.compress(ARFF.encode()))
    assert read(tmp_path / "t.arff.bz2").equals(frame)
    path.write_text("@relation r\n@attribute a numeric\n@attribute b {u, v}\n@data\n{0 1.5, 1 v}\n{}\n{1 ?}\n")
    assert read(path).rows() == [(1.5, "v"), (0.0, "u"), (0.0, None)]


@pytest.mark.parametrize(
    ("rest", "message"),
    [
        ("1, w\n", "'b' holds 'w', which is none of its labels"),
        ("word, u\n", "'a' is said to be numeric, but holds text"),
        ("1\n", "line 5 of .* has 1 cells, but there are 2 attributes"),
        ("{7 1}\n", "line 5 of .* has a cell of column 7, but there are 2"),
        ("", "no rows"),
    ],
)
def test_bad_arff(rest, message, tmp_path):
    (tmp_path / "t.arff").write_text("@relation r\n@attribute a numeric\n@attribute b {u, v}\n@data\n" + rest)
    fails(tmp_path / "t.arff", message)


def test_what_is_no_arff(tmp_path):
    (tmp_path / "t.arff").write_bytes(CSV)
    fails(tmp_path / "t.arff", "line 1 of .* is no ARFF: 'a,b'")
    (tmp_path / "t.arff").write_text("@relation r\n@attribute a numeric\n")
    fails(tmp_path / "t.arff", "is cut off: it has no @data")


def test_libsvm_counts_from_zero_or_from_one(tmp_path):
    (tmp_path / "one.svm").write_text("1 1:0.5 3:2\n-1 2:1 # a comment\n")
    (tmp_path / "zero.libsvm").write_text("1.5 0:0.5 2:2\n-1 1:1\n")
    assert read(tmp_path / "one.svm").columns == ["x1", "x2", "x3", "y"]
    assert read(tmp_path / "one.svm").rows() == [(0.5, 0.0, 2.0, 1), (0.0, 1.0, 0.0, -1)]
    assert read(tmp_path / "zero.libsvm").rows() == [(0.5, 0.0, 2.0, 1.5), (0.0, 1.0, 0.0, -1.0)]
    assert read(tmp_path / "zero.libsvm").columns == ["x0", "x1", "x2", "y"]
    (tmp_path / "bad.svm").write_bytes(CSV)
    fails(tmp_path / "bad.svm", "cannot be read as libsvm")


def test_arrays(tmp_path):
    np.save(tmp_path / "two.npy", np.arange(6, dtype=np.float32).reshape(3, 2))
    assert read(tmp_path / "two.npy").rows() == [(0.0, 1.0), (2.0, 3.0), (4.0, 5.0)]
    np.save(tmp_path / "one.npy", np.array(["u", "v"]))
    assert read(tmp_path / "one.npy")["x0"].to_list() == ["u", "v"]
    np.save(tmp_path / "named.npy", np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]))
    assert read(tmp_path / "named.npy").to_dicts() == [{"a": 1, "b": 2.5}]
    np.save(tmp_path / "objects.npy", np.array([None, 1], dtype=object))
    fails(tmp_path / "objects.npy", "holds Python objects")
    np.save(tmp_path / "deep.npy", np.ones((2, 2, 2)))
    fails(tmp_path / "deep.npy", r"is an array of shape \(2, 2, 2\)")
    (tmp_path / "cut.npy").write_bytes((tmp_path / "two.npy").read_bytes()[:-5])
    fails(tmp_path / "cut.npy", "damaged or cut off")


@pytest.mark.parametrize(
    ("text", "options", "names", "rows"),
    [
        ("# made by a program\n# 2024\na,b\n1,2\n", {}, ["a", "b"], [(1, 2)]),
        ("# two, cells\na,b\n1,2\n", {}, ["a", "b"], [(1, 2)]),
        ("#id,b\n1,2\n", {}, ["id", "b"], [(1, 2)]),
        ("##note\n#chrom\tpos\nx\t2\n", {}, ["chrom", "pos"], [("x", 2)]),
        ("# a b c\n1 2 3\n4 5 6\n", {}, ["a", "b", "c"], [(1, 2, 3), (4, 5, 6)]),
        ("# note\n1,2\n3,4\n", {"header": False}, ["column_1", "column_2"], [(1, 2), (3, 4)]),
        ("a,b\n1,2\n# in between, here\n3,4\n#\n", {"comment": "#"}, ["a", "b"], [(1, 2), (3, 4)]),
        ("// x\na,b\n1,2\n//3\n/4,5\n", {"comment": "//"}, ["a", "b"], [("1", 2), ("/4", 5)]),
        ("#a,b\n1,2\n", {"comment": "%"}, ["a", "b"], [(1, 2)]),
        (" a  b   c \n 1\t2  3\n4   5 6 \n", {}, ["a", "b", "c"], [(1, 2, 3), (4, 5, 6)]),
        ('a  b\n"x  y"   1\n"z"  2\n', {"delimiter": "space"}, ["a", "b"], [("x  y", 1), ("z", 2)]),
        ("1,5;2,5\n3,5;4,5\n", {"header": False}, ["column_1", "column_2"], [(1.5, 2.5), (3.5, 4.5)]),
        ("\ufeffa;b\n1,5;é\n", {}, ["a", "b"], [(1.5, "é")]),
        ('a,b\n"1,5","two\nlines"\n"2,5",x\n', {}, ["a", "b"], [(1.5, "two\nlines"), (2.5, "x")]),
    ],
)
def test_comments_blanks_and_semicolons(text, options, names, rows, tmp_path):
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")
    frame = read(tmp_path / "t.csv", **options)
    assert frame.columns == names
    assert frame.rows() == rows


def test_a_comment_between_rows_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n# here\n")
    fails(tmp_path / "t.csv", "line 3 of .* has 1 cell, but there are 2 columns; say comment='#'")


def test_several_workbooks_and_tables_are_one(tmp_path):
    for j in range(2):
        with duckdb.connect(str(tmp_path / f"{j}.duckdb")) as connection:
            connection.execute(f"create table t as select {j} as a, 'x' as b; create table u as select 1 as z")
    scan = easyfs.scan(tmp_path / "*.duckdb::t")
    assert scan.collect().rows() == [(0, "x"), (1, "x")]
    assert "duckdb" in repr(scan)
    both = easyfs.scan([f"{tmp_path / '0.duckdb'}::t", f"{tmp_path / '1.duckdb'}::t"])
    assert both.n_files == 2
