"""Files as one table: what is found, what it is read as, and what is said where something is wrong."""

import gc
import gzip
import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import easyfs
from easyfs.files.cells import Cells
from easyfs.files.formats import FileError
from easyfs.files.scanning import Scan
from easyfs.files.source import open_source
from easyfs.files.writing import write_scan


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    n = 300
    return pl.DataFrame(
        {
            "a": np.round(rng.normal(size=n), 5),
            "whole": rng.integers(-500, 500, size=n),
            "zip": [f"0{value}" for value in rng.integers(100, 999, size=n)],
            "flag": rng.random(n) < 0.5,
            "gaps": [None if j % 7 == 0 else float(j) for j in range(n)],
            "nothing": pl.Series([None] * n, dtype=pl.Float64),
            "y": rng.choice(["no", "yes"], size=n),
        }
    )


def says(*words):
    return "(?s)" + ".*".join(f"{word}" for word in words)


def write_arrow(frame, path, rows):
    """An Arrow file of several batches."""
    table = frame.to_arrow()
    with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, table.schema) as file:
        file.write_table(table, max_chunksize=rows)


def write(frame, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    name = path.name
    if name.endswith(".gz"):
        with gzip.open(path, "wb") as out:
            (frame.write_ndjson if ".jsonl" in name else frame.write_csv)(out)
    elif name.endswith(".npz"):
        np.savez(path, X=frame.select("a", "whole", "gaps").to_numpy(), y=frame["y"].to_numpy().astype(str))
    else:
        {
            "csv": frame.write_csv,
            "tsv": lambda p: frame.write_csv(p, separator="\t"),
            "parquet": lambda p: frame.write_parquet(p, row_group_size=40),
            "arrow": lambda p: write_arrow(frame, p, 40),
            "feather": frame.write_ipc_stream,
            "jsonl": frame.write_ndjson,
            "json": frame.write_json,
        }[path.suffix[1:]](path)
    return path


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "arrow", "feather", "jsonl", "jsonl.gz", "json"])
def test_every_format_is_read_as_one_table(ending, table, tmp_path, monkeypatch):
    monkeypatch.setattr("easyfs.files.blocks.BLOCK", 1 << 11)
    for j in range(3):
        write(table[j * 100 : (j + 1) * 100], tmp_path / f"{j}.{ending}")
    scan = easyfs.scan(tmp_path)
    assert scan.names == table.columns
    assert scan.n_files == 3
    assert scan.collect().equals(table)
    assert scan.n_rows in (300, None)
    pieces = list(scan.pieces(17))
    assert max(len(frame) for piece in pieces for frame in piece.frames()) <= 17
    assert pieces[-1].label == str(tmp_path / f"2.{ending}")
    some = scan.select(["y", "a"])
    assert some.names == ["y", "a"]
    assert some.collect().equals(table.select("y", "a"))
    assert pickle.loads(pickle.dumps(some)).collect().equals(some.collect())


def test_arrays(table, tmp_path):
    write(table, tmp_path / "a.npz")
    scan = easyfs.scan(tmp_path / "a.npz")
    assert scan.names == ["x0", "x1", "x2", "y"]
    assert scan.collect()["y"].to_list() == table["y"].to_list()


def test_formats_may_be_mixed(table, tmp_path):
    write(table[:100], tmp_path / "0.csv")
    write(table[100:200], tmp_path / "1.parquet")
    write(table[200:], tmp_path / "2.jsonl")
    assert easyfs.scan(tmp_path).collect().equals(table)
    assert easyfs.scan(tmp_path).format == "csv, parquet, jsonl"


def test_columns_in_another_order(table, tmp_path):
    write(table[:100], tmp_path / "0.parquet")
    write(table[100:].select(reversed(table.columns)), tmp_path / "1.parquet")
    assert easyfs.scan(tmp_path).collect().equals(table)


def test_paths(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv", "c.parquet", "deep/er/d.csv", ".hidden.csv", "_SUCCESS.csv", "deep/_log/e.csv"):
        write(table, tmp_path / name)
    (tmp_path / "read.me").write_text("no table")

    def found(path, **options):
        return [member.label for member in easyfs.scan(path, **options).members]

    assert found(".") == ["a.csv", "b.csv", "c.parquet", "deep/er/d.csv"]
    assert found("?.csv") == ["a.csv", "b.csv"]
    assert found("**/[bd].csv") == ["b.csv", "deep/er/d.csv"]
    assert found(["c.parquet", "a.csv"]) == ["c.parquet", "a.csv"]
    assert found(["a.csv", tmp_path / "a.csv", "[a-z].csv"]) == ["a.csv", "b.csv"]
    assert found(tmp_path / "deep") == [str(tmp_path / "deep/er/d.csv")]
    (tmp_path / "odd[1].csv").write_bytes((tmp_path / "a.csv").read_bytes())
    assert found("odd[1].csv") == ["odd[1].csv"]
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "x.data").write_bytes((tmp_path / "a.csv").read_bytes())
    assert found("raw", as_format="csv") == ["raw/x.data"]


def test_folders_of_keys(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(table[:100], tmp_path / "d/year=2023/city=New%20York/p.parquet")
    write(table[100:200], tmp_path / "d/year=2024/city=__HIVE_DEFAULT_PARTITION__/p.parquet")
    write(table[200:], tmp_path / "d/year=2024/city=Oslo/p.csv")
    for path in ("d", "d/*/*/*", "d/**/p.*"):
        frame = easyfs.scan(path).collect()
        assert frame.columns == [*table.columns, "year", "city"]
        assert frame["year"].to_list() == [2023] * 100 + [2024] * 200
        assert sorted(frame["city"].to_list(), key=str) == ["New York"] * 100 + [None] * 100 + ["Oslo"] * 100
    listed = ["d/year=2023/city=New%20York/p.parquet", "d/year=2024/city=Oslo/p.csv"]
    assert easyfs.scan(listed).select(["year"]).collect()["year"].to_list() == [2023] * 100 + [2024] * 100
    assert easyfs.scan("d", hive=False).names == table.columns
    write(table[:5], tmp_path / "d/year=2025/p.parquet")
    with pytest.raises(FileError, match="folders of different keys: only one has 'city'"):
        easyfs.scan("d")


def test_codes_of_folders_stay_text(table, tmp_path):
    for code in ("01", "02"):
        write(table[:10], tmp_path / f"region={code}/p.parquet")
    assert easyfs.scan(tmp_path).select("region").collect()["region"].unique().sort().to_list() == ["01", "02"]


def test_text_options(tmp_path):
    (tmp_path / "a.csv").write_bytes("größe;n\n1,5;-999\n2,5;weg\n".encode("latin-1"))
    scan = easyfs.scan(tmp_path / "a.csv", encoding="latin-1", decimal=",", missing=["-999", "weg"])
    assert scan.collect().to_dict(as_series=False) == {"größe": [1.5, 2.5], "n": [None, None]}
    (tmp_path / "b.csv").write_text("1|2\n3|4\n")
    bare = easyfs.scan(tmp_path / "b.csv", header=False, delimiter="|")
    assert bare.collect().to_dict(as_series=False) == {"column_1": [1, 3], "column_2": [2, 4]}
    with pytest.raises(ValueError, match="decimal=';' is not known"):
        easyfs.scan(tmp_path / "b.csv", decimal=";")


@pytest.mark.parametrize(
    "cells",
    [
        ["1", "2", ""],
        ["1", " 2 ", "n/a"],
        ["1.5", "2", "nan"],
        ["1e3", "-2", "3"],
        ["true", "FALSE", ""],
        ["007", "12", "3"],
        ["12345678901234567890", "1", "2"],
        ["1", "2", "x"],
        ["-999", "5", "6"],
        ["-999.0", "5.5", "6"],
        ["", "", ""],
        ["1,5", "2", "3,0"],
    ],
)
@pytest.mark.parametrize("decimal", [".", ","])
def test_cells_are_what_a_table_in_memory_has(cells, decimal, tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("\n".join(["v\tw", *(f"{cell}\t1" for cell in cells)]) + "\n")
    scan = easyfs.scan(path, missing=["-999"], decimal=decimal)
    source = open_source(str(path), options=scan.options)
    assert scan.collect().equals(source.read())
    assert scan.collect().schema == source.read().schema


def test_a_late_text_makes_all_text(tmp_path, monkeypatch):
    monkeypatch.setattr("easyfs.files.blocks.BLOCK", 1 << 8)
    (tmp_path / "a.csv").write_text("v,w\n" + "".join(f"{j}.50,{j}\n" for j in range(200)))
    (tmp_path / "b.csv").write_text("v,w\nten,1\n")
    frame = easyfs.scan(tmp_path).collect()
    assert frame["v"].to_list()[:2] == ["0.50", "1.50"]
    assert frame["w"].dtype == pl.Int64


def test_texts_are_given_as_they_were_written(tmp_path):
    (tmp_path / "a.csv").write_text("zip,v,y\n007,1.50,a\n008,2.0,\n")
    scan = easyfs.scan(tmp_path / "a.csv").only("y", lambda values: values.is_not_null()).select(["v", "zip"])
    assert scan.is_delimited
    assert [frame.rows() for frame in scan.texts()] == [[("1.50", "007")]]
    assert scan.collect().rows() == [(1.5, "007")]


def test_looking_and_adding_find_the_same_kind():
    for cells in (["1"], ["1.5"], ["a"], ["true"], [""], ["1", "a"], ["true", "1"]):
        looked, added = Cells(), Cells()
        for cell in cells:
            looked.look(pl.Series("v", [cell or None], dtype=pl.String))
            added.add(pl.Series("v", [cell or None], dtype=pl.String))
        assert looked.kind == added.kind


def test_rows_of_json_name_their_own_columns(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": 2, "b": "x"}\n')
    (tmp_path / "b.jsonl").write_text('{"b": "y", "a": 2.5}\n\n{"c": true}\n')
    frame = easyfs.scan(tmp_path).collect()
    assert frame.to_dict(as_series=False) == {
        "a": [1.0, 2.0, 2.5, None],
        "b": [None, "x", "y", None],
        "c": [None, None, None, True],
    }


def test_repr(table, tmp_path):
    for j in range(6):
        write(table, tmp_path / f"{j}.csv")
    text = repr(easyfs.scan(tmp_path))
    assert text.startswith("Scan of 6 files (csv, ")
    assert "7 columns" in text
    assert "0.csv" in text
    assert "and 2 more" in text
    assert "columns: a, whole, zip" in text


# --- empty files ---


def test_an_empty_file_among_others_adds_nothing(table, tmp_path):
    write(table, tmp_path / "b.csv")
    (tmp_path / "a.csv").write_text("")
    (tmp_path / "c.csv").write_text(",".join(table.columns) + "\n")
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(b""))
    write(table[:0], tmp_path / "e.parquet")
    (tmp_path / "f.jsonl").write_text("\n")
    scan = easyfs.scan(tmp_path)
    assert scan.collect().equals(table)
    assert scan.n_rows == 300
    with pytest.raises(FileError, match=r"a\.csv' is empty"):
        easyfs.scan(tmp_path / "a.csv")


def test_a_column_without_values_in_one_file(table, tmp_path):
    write(table[:100].with_columns(a=pl.lit(None), y=pl.lit(None)), tmp_path / "0.parquet")
    write(table[100:], tmp_path / "1.parquet")
    frame = easyfs.scan(tmp_path).collect()
    assert frame["a"].dtype == pl.Float64
    assert frame["a"].null_count() == frame["y"].null_count() == 100


# --- faults ---


def test_no_files(tmp_path, monkeypatch, table):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes.md").write_text("x")
    write(table, tmp_path / "a.csv")
    for path, words in {
        "*.parquet": ("no file matches", "looked in '.'", "'a.csv'"),
        "none/*.csv": ("no file matches", "there is no such folder"),
        "empty": ("the folder 'empty' is empty", "tables end in"),
        "b.csv": ("there is no file 'b.csv'", "did you mean 'a.csv'"),
        "notes.md": ("no known ending",),
    }.items():
        with pytest.raises(FileError, match=says(*(word.replace("*", r"\*") for word in words))):
            easyfs.scan(path)
    with pytest.raises(FileError, match="an empty list"):
        easyfs.scan([])
    with pytest.raises(TypeError, match="path is of type int"):
        easyfs.scan(3)
    with pytest.raises(TypeError, match="path holds a int"):
        easyfs.scan([3])


@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_another_schema_names_file_and_column(ending, table, tmp_path):
    write(table, tmp_path / f"0.{ending}")
    write(table.rename({"zip": "plz"}), tmp_path / f"1.{ending}")
    with pytest.raises(FileError, match=says(rf"1\.{ending}", "has no column 'zip'", rf"0\.{ending}")):
        easyfs.scan(tmp_path)
    write(table.with_columns(new=pl.lit(1)), tmp_path / f"1.{ending}")
    with pytest.raises(FileError, match=says(rf"1\.{ending}", "has a column 'new', which", rf"0\.{ending}", "has not")):
        easyfs.scan(tmp_path)


def test_another_type_names_file_and_column(table, tmp_path):
    write(table, tmp_path / "0.parquet")
    write(table.with_columns(pl.col("a").cast(pl.String)), tmp_path / "1.parquet")
    scan = easyfs.scan(tmp_path)
    with pytest.raises(FileError, match=says("column 'a' holds text", r"1\.parquet", "numbers", r"0\.parquet")):
        scan.collect()
    assert len(scan.select(["whole", "y"]).collect()) == 600
    write(
        table.with_columns(pl.col("whole").cast(pl.Int8, strict=False), pl.col("a").cast(pl.Float32)),
        tmp_path / "1.parquet",
    )
    assert easyfs.scan(tmp_path).collect()["a"].dtype == pl.Float64


def test_broken_files_are_named(table, tmp_path):
    for ending, cut in {"parquet": 200, "arrow": 200, "csv.gz": 100, "npz": 50}.items():
        folder = tmp_path / ending
        write(table, folder / f"0.{ending}")
        path = write(table, folder / f"1.{ending}")
        path.write_bytes(path.read_bytes()[:-cut])
        with pytest.raises(FileError, match=rf"1\.{ending}"):
            easyfs.scan(folder).collect()


def test_a_parquet_file_that_is_damaged_inside_is_named(table, tmp_path):
    path = write(table, tmp_path / "0.parquet")
    content = bytearray(path.read_bytes())
    content[4:1500] = bytes(1496)
    path.write_bytes(content)
    scan = easyfs.scan(path)
    with pytest.raises(FileError, match=r"0\.parquet' cannot be read as Parquet: it may be damaged"):
        scan.collect()


def test_lines_are_named(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n1,2,3\n")
    with pytest.raises(FileError, match=r"line 3 of .*a\.csv' has 3 cells"):
        easyfs.scan(tmp_path / "a.csv").collect()
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"a": \n')
    with pytest.raises(FileError, match=r"line 2 of .*a\.jsonl' is not JSON"):
        easyfs.scan(tmp_path / "a.jsonl")
    (tmp_path / "b.jsonl").write_text('{"a": 1}\n[1]\n')
    with pytest.raises(FileError, match=r"line 2 of .*b\.jsonl' is list"):
        easyfs.scan(tmp_path / "b.jsonl")


def test_an_unknown_column(table, tmp_path):
    scan = easyfs.scan(write(table, tmp_path / "a.csv"))
    with pytest.raises(FileError, match=r"a\.csv has no column 'z'"):
        scan.select(["a", "z"])


def test_a_large_parquet_file_is_not_kept_in_memory_while_it_is_read(tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({f"x{j}": rng.normal(size=200_000) for j in range(10)})
    frame.write_parquet(tmp_path / "a.parquet", compression="uncompressed", row_group_size=20_000)
    before, most, n_rows = pa.total_allocated_bytes(), 0, 0
    for part in easyfs.scan(tmp_path / "a.parquet").batches(10_000):
        most, n_rows = max(most, pa.total_allocated_bytes() - before), n_rows + len(part)
    assert n_rows == len(frame)
    assert most < 0.4 * frame.estimated_size()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "feather", "csv"])
def test_a_name_with_the_marks_of_a_pattern_is_a_name(ending, table, tmp_path):
    write(table[:5], tmp_path / f"q1.{ending}")
    plain = write(table[5:20], tmp_path / f"plain.{ending}")
    path = tmp_path / f"q[1].{ending}"
    plain.rename(path)
    scan = easyfs.scan(path)
    assert scan.n_rows in (15, None)
    assert scan.collect().equals(table[5:20])
    source = open_source(str(path))
    assert source.names == table.columns
    assert source.read().equals(table[5:20])


@pytest.mark.parametrize("to", ["parquet", "arrow"])
def test_writing_that_ends_early_leaves_nothing_behind_that_complains(to, table, tmp_path, monkeypatch):
    for number in range(3):
        write(table[100 * number : 100 * (number + 1)], tmp_path / f"{number}.csv")
    scan = easyfs.scan(tmp_path)
    batches = Scan.batches

    def interrupted(self, rows=1 << 16):
        yield next(batches(self, rows))
        raise KeyboardInterrupt

    unheard = []
    monkeypatch.setattr(Scan, "batches", interrupted)
    monkeypatch.setattr("sys.unraisablehook", unheard.append)
    with pytest.raises(KeyboardInterrupt), (tmp_path / "out").open("wb") as stream:
        write_scan(scan, stream, to=to)
    gc.collect()
    assert not unheard


def test_what_is_no_json_says_why(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\n{"a": NaN}\n')
    with pytest.raises(FileError, match=r"line 2 of .*a\.jsonl' is not JSON: NaN is no number of JSON, write null"):
        easyfs.scan(path).collect()
    path.write_text('{\n  "a": 1\n}\n')
    with pytest.raises(FileError, match=r"line 1 of .* each line must be an object of its own"):
        easyfs.scan(path).collect()


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "jsonl"])
@pytest.mark.parametrize("change", ["order of columns", "a column less", "rows less", "kind", "gone"])
@pytest.mark.parametrize("used", [False, True], ids=["unused", "used"])
def test_a_file_that_is_another_than_when_it_was_scanned(table, tmp_path, ending, change, used):
    path = write(table, tmp_path / f"a.{ending}")
    other = write(table, tmp_path / f"b.{ending}")
    scan = easyfs.scan([other, path])
    if used:
        assert len(scan.collect()) == 2 * len(table)
    if change == "gone":
        path.unlink()
    else:
        path.unlink()
        changes = {
            "order of columns": table.select(table.columns[::-1]),
            "a column less": table.drop("a"),
            "rows less": table[:3],
            "kind": table.with_columns(a=pl.lit("word")),
        }
        write(changes[change], path)
    said = "is no longer there" if change == "gone" else "was changed since it was scanned"
    uses = [scan.collect, scan.select(["a"]).collect, lambda: easyfs.EasyFS(1).fit(scan, "y")]
    if ending == "csv":
        uses.append(lambda: list(scan.texts()))
    for use in uses:
        with pytest.raises(FileError, match=rf"a\.{ending}' {said}; scan it anew"):
            use()


def test_what_is_kept_for_a_scan_is_what_it_was(table, tmp_path):
    """A copy was made of what cannot be read in parts, so that the file itself may change."""
    path = tmp_path / "a.xlsx"
    table.select("a", "whole").to_pandas().to_excel(path, index=False)
    scan = easyfs.scan(path)
    before = scan.collect()
    table.select("whole").to_pandas().to_excel(path, index=False)
    assert scan.collect().equals(before)


def test_files_with_numbers_that_are_written_in_different_ways(tmp_path):
    (tmp_path / "a.csv").write_text("a;y\n" + "".join(f"{i},5;{i % 2}\n" for i in range(40)))
    (tmp_path / "b.csv").write_text("a,y\n" + "".join(f"{i}.25,{i % 2}\n" for i in range(40)))
    with pytest.warns(UserWarning, match=r"numbers that are written in different ways \(such as .*make them alike"):
        easyfs.scan([tmp_path / "a.csv", tmp_path / "b.csv"]).types()


def test_a_column_called_as_the_key_of_another(tmp_path):
    pl.DataFrame({"a=": ["-99", "2,5", "1,132"], "a": ["1,5", "2,5", "3,5"]}).write_csv(tmp_path / "a.csv", separator=";")
    scan = easyfs.scan(tmp_path / "a.csv", missing=["-99"])
    assert scan.collect()["a="].to_list() == [None, 2.5, 1.132]


def test_a_file_that_is_gone_can_be_shown(tmp_path):
    pl.DataFrame({"a": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    scan = easyfs.scan(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").unlink()
    assert "not as they were" in repr(scan)
    with pytest.raises(FileError, match="is no longer there; scan it anew"):
        _ = scan.size
