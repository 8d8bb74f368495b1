import gzip

import numpy as np
import polars as pl
import pytest

from easyfs.files import FileError, TextOptions, open_source, write_table


@pytest.fixture
def read(tmp_path):
    def call(name, content, **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        as_format = options.pop("as_format", None)
        return open_source(str(path), as_format=as_format, options=TextOptions(**options)).read()

    return call


def test_cells_become_what_they_are(read):
    table = read(
        "a.csv",
        "n,zip,x,flag,day,gone,big,long,mix\n"
        "1,00123,1.5,TRUE,2020-01-01,,12345678901234567890,1234567890123456789,1\n"
        " 2,00456,NA,false,2020-01-02,?,2,3,x\n",
    )
    assert table.schema == {
        "n": pl.Int64,
        "zip": pl.String,
        "x": pl.Float64,
        "flag": pl.Boolean,
        "day": pl.String,
        "gone": pl.Float64,
        "big": pl.String,
        "long": pl.Int64,
        "mix": pl.String,
    }
    assert table.row(1) == (2, "00456", None, False, "2020-01-02", None, "2", 3, "x")


def test_a_late_text_keeps_the_numbers_before_it_as_they_were(tmp_path, monkeypatch):
    monkeypatch.setattr("easyfs.files.blocks.BLOCK", 1 << 12)
    path = tmp_path / "late.csv"
    path.write_text("a,b,c\n" + "1.50,1,1\n" * 5000 + "end,2.5,300\n")
    table = open_source(str(path)).read()
    assert table["a"].to_list() == ["1.50"] * 5000 + ["end"]
    assert table["b"].to_list() == [1.0] * 5000 + [2.5]
    assert table.schema["c"] == pl.Int64
    assert open_source(str(path)).read(compact=True).schema["c"] == pl.Int16


def test_missing_words_are_for_numbers_and_texts(read):
    table = read("m.csv", "a,b,c\n-999,x,1\n-999.0,unk,-999\n3.5,y,2\n", missing=("-999", "unk"))
    assert table.rows() == [(None, "x", 1), (None, None, None), (3.5, "y", 2)]
    frame = pl.DataFrame({"a": [1, -999], "b": ["unk", "x"]})
    content = frame.write_ndjson().encode()
    assert read("m.jsonl", content, missing=("-999", "unk")).rows() == [(1, None), (None, "x")]


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("a,b\n1,x\n2,y\n", {}),
        ("a;b\n1;x\n2;y\n", {}),
        ("a|b\n1|x\n2|y\n", {}),
        ("a\tb\r\n1\tx\r\n2\ty", {}),
        ("a,b\r1,x\r2,y", {}),
        ("\n\na,b\n1,x\n\n\n2,y\n\n", {}),
        (b"\xef\xbb\xbfa,b\n1,x\n2,y\n", {}),
        ("a,b\n1,x\n2,y\n".encode("utf-16"), {}),
        ("a b\n1 x\n2 y\n", {"delimiter": "space"}),
        ("a;b\n1;x\n2;y\n", {"delimiter": ";"}),
        ('"a","b"\n"1","x"\n"2","y"\n', {}),
    ],
)
def test_ways_to_write_a_table(read, content, options):
    table = read("w.csv", content, **options)
    assert table.columns == ["a", "b"]
    assert table.rows() == [(1, "x"), (2, "y")]


def test_more_ways_to_write_a_table(read):
    assert read("d.csv", "a;b\n1,5;x\n2,5;y\n", decimal=",")["a"].to_list() == [1.5, 2.5]
    assert read("l.csv", "a,b\né,1\n".encode("latin-1"), encoding="latin-1").row(0) == ("é", 1)
    assert read("h.csv", "1,2\n3,4\n", header=False).columns == ["column_1", "column_2"]
    assert read("i.csv", ",a\n0,1\n1,2\n").columns == ["column_1", "a"]
    assert read("q.csv", 'a,b\n5" pipe,2\n6" x,3\n', quotes=False)["a"].to_list() == ['5" pipe', '6" x']
    assert read("n.csv", 'a,b\n"x\ny, z ""q""",1\n').row(0) == ('x\ny, z "q"', 1)
    assert read("z.csv.gz", gzip.compress(b"a,b\n1,2\n")).row(0) == (1, 2)
    assert read("z.dat", gzip.compress(b"a,b\n1,2\n"), as_format="csv").row(0) == (1, 2)
    assert read("a.json", '[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]').rows() == [(1, "x"), (2, "y")]
    assert read("t.jsonl", '{"a": 1}\n{"a": "late"}\n')["a"].to_list() == ["1", "late"]
    assert read("c.csv", "a,b\n1,2\n,\n3,4\n").rows() == [(1, 2), (None, None), (3, 4)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tabs.tsv", "a,b,c\n1,2,3\n", "its delimiter is rather comma"),
        ("dup.csv", "a,b,a\n1,2,3\n", r"several columns called 'a' \('a': columns 1, 3\)"),
        ("short.csv", 'a,b,c\n1,"x\ny",3\n1,2\n', "line 4 of .* has 2 cells, but there are 3 columns"),
        ("long.csv", "a,b\n1,2\n\n1,2,3\n", "line 4 of .* has 3 cells, but there are 2 columns"),
        ("latin.csv", b"a,b\n1,2\n\xe9,2\n", "not UTF-8 text: line 3 has the byte 0xe9.*encoding='latin-1'"),
        ("head.csv", b"\xe9,b\n1,2\n", "not UTF-8 text: line 1"),
        ("binary.csv", b"\0\1\2\3" * 100, "it looks like a binary file"),
        ("parquet.csv", b"PAR1" * 100, "it looks like a Parquet file"),
        ("excel.csv", b"PK\x03\x04" + b"x" * 100, "Excel"),
        ("open.csv", 'a,b\n1,"x\n2,3\n', "quotation mark that is never closed"),
        ("inside.csv", 'a,b\n5" pipe,2\n6" x,3\n', "quotes=False"),
        ("rows.csv", "a,b\n", "no rows"),
        ("empty.csv", "", "is empty"),
        ("blank.csv", " \n\n", "is empty"),
        ("what.dat", "a,b\n1,2\n", "no known ending; say as_format='csv'"),
        ("cut.parquet", b"PAR1" * 10, "cannot be read as Parquet: it may be damaged or cut off"),
        ("text.parquet", b"a,b\n1,2\n3,4\n5,6\n", "cannot be read as Parquet"),
        ("arrow.parquet", b"ARROW1" * 10, "it looks like an Arrow file"),
        ("cut.arrow", b"ARROW1" * 10, "cannot be read as Arrow IPC"),
        ("bad.jsonl", '{"a": 1}\n{"a":\n', "line 2 of .* is not JSON"),
        ("list.jsonl", '{"a": 1}\n3\n', "line 2 of .* is int; each line must be an object"),
        ("cut.npz", b"PK\x03\x04abc", "cannot be read as .npz"),
        ("cut.csv.gz", gzip.compress(bytes(range(48, 58)) * 50 + b"\n" * 3, mtime=0)[:-12], "cut off|damaged"),
        ("plain.csv.gz", b"a,b\n1,2\n", "is not a gzip file"),
    ],
)
def test_what_is_wrong_is_said_on_one_line(read, name, content, message):
    with pytest.raises(FileError, match=message) as found:
        read(name, content)
    assert "\n" not in str(found.value)


def test_a_wrong_delimiter_is_known_by_the_name_of_the_only_column(read):
    with pytest.raises(FileError, match="called 'a;b;c'; its delimiter is rather semicolon: say delimiter='semicolon'"):
        read("wrong.csv", "a;b;c\n1;2;3\n", delimiter=",")


def test_files_that_are_none(tmp_path):
    (tmp_path / "prices.csv").write_text("a\n1\n")
    with pytest.raises(FileError, match=r"there is no file .*did you mean .*prices\.csv"):
        open_source(str(tmp_path / "price.csv"))
    with pytest.raises(FileError, match="is a folder"):
        open_source(str(tmp_path))
    with pytest.raises(FileError, match="there is no format 'xls'"):
        open_source(str(tmp_path / "prices.csv"), as_format="xls")
    with pytest.raises(FileError, match="no encoding 'nope'"):
        open_source(str(tmp_path / "prices.csv"), options=TextOptions(encoding="nope")).read()
    with pytest.raises(FileError, match="is not one character"):
        open_source(str(tmp_path / "prices.csv"), options=TextOptions(delimiter=";;")).read()
    np.savez(tmp_path / "o.npz", X=np.array([[None]], dtype=object))
    with pytest.raises(FileError, match="Python objects"):
        open_source(str(tmp_path / "o.npz")).read()
    np.savez(tmp_path / "n.npz", Z=np.zeros((2, 2)))
    with pytest.raises(FileError, match="no array X"):
        open_source(str(tmp_path / "n.npz")).read()


def test_round_trips(tmp_path):
    table = pl.DataFrame(
        {
            "n": [1, None, 3],
            "x": [0.1, 1e-7, 1e22],
            "text": ["=1+1", 'q"q, \n', None],
            "flag": [True, False, None],
            "zip": ["00123", "1", "2"],
            "big": [2**62, 1, 2],
        }
    )
    first = tmp_path / "t.parquet"
    table.write_parquet(first)
    for name in ("t.csv", "t.tsv", "t.csv.gz", "t.jsonl", "t.arrow", "t2.parquet"):
        path = tmp_path / name
        kind = {"csv": "csv", "tsv": "tsv", "gz": "csv", "jsonl": "jsonl", "arrow": "arrow", "parquet": "parquet"}[
            path.suffix[1:]
        ]
        with path.open("wb") as stream:
            write_table(open_source(str(first)), table.columns, stream, to=kind, compressed=name.endswith(".gz"))
        assert open_source(str(path)).read().equals(table), name
    with (tmp_path / "raw.csv").open("wb") as stream:
        write_table(open_source(str(tmp_path / "t.csv")), table.columns, stream, to="csv")
    assert (tmp_path / "raw.csv").read_bytes() == (tmp_path / "t.csv").read_bytes()


def test_one_column_with_gaps_keeps_its_rows(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n,y\n3,z\n")
    with (tmp_path / "b.csv").open("wb") as stream:
        write_table(open_source(str(tmp_path / "a.csv")), ["a"], stream, to="csv")
    assert open_source(str(tmp_path / "b.csv")).read()["a"].to_list() == [1, None, 3]


def test_text_for_npz_and_lists_for_csv_are_errors(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n")
    with (tmp_path / "b.npz").open("wb") as stream, pytest.raises(FileError, match="'b' is no number"):
        write_table(open_source(str(tmp_path / "a.csv")), ["a", "b"], stream, to="npz")
    pl.DataFrame({"a": [[1, 2]]}).write_parquet(tmp_path / "l.parquet")
    with (tmp_path / "l.csv").open("wb") as stream, pytest.raises(FileError, match="'a' holds lists"):
        write_table(open_source(str(tmp_path / "l.parquet")), ["a"], stream, to="csv")
