"""Several files, folders and tables that do not fit: the same answer, read batch by batch."""

import csv
import gzip
import json

import numpy as np
import polars as pl
import pytest

from easyfs.cli import batches


@pytest.fixture
def parts(numbers):
    """The table of numbers in three files, and as one."""
    rows = list(csv.reader(numbers.open(encoding="utf-8")))
    for j in range(3):
        path = numbers.parent / f"part-{j}.csv"
        path.write_text("\n".join(",".join(row) for row in [rows[0], *rows[1 + 40 * j : 41 + 40 * j]]) + "\n")
    return numbers.parent


def chosen(out):
    return [line.split()[1:4] for line in out.splitlines() if line[:1].isdigit() and "%" in line]


def test_several_files_are_one_table(command, numbers, parts):
    code, whole, _ = command("select", numbers, "-t", "y", "-k", 3)
    assert code == 0
    for args in (["part-0.csv", "part-1.csv", "part-2.csv"], ["part-*.csv"]):
        code, out, err = command("select", *args, "-t", "y", "-k", 3)
        assert code == 0
        assert err.startswith("3 files (")
        assert err.endswith(") are read batch by batch as one table\n")
        assert "part-0.csv and 2 more: 120 rows, 8 columns to choose from" in out
        assert "y: 2 classes (no" in out
        assert chosen(out) == chosen(whole)
    code, _, err = command("select", "part-*.csv", "-t", "y", "-k", 3, "--quiet", "--columns", "few.txt")
    assert (code, err) == (0, "")


def test_a_large_file_is_read_batch_by_batch(command, numbers, monkeypatch):
    monkeypatch.setattr(batches, "free_memory", lambda: 4 * numbers.stat().st_size)
    assert command("select", numbers, "-t", "y", "-k", 2)[2] == ""
    monkeypatch.setattr(batches, "free_memory", lambda: 4 * numbers.stat().st_size - 4)
    code, out, err = command("select", numbers, "-t", "y", "-k", 2)
    assert code == 0
    assert "of memory are free: it is read batch by batch" in err
    assert {name for name, *_ in chosen(out)} == {"x2", "x5"}


@pytest.mark.parametrize("kind", ["csv.gz", "parquet"])
def test_a_file_that_is_small_on_the_disk_alone(kind, command, numbers, monkeypatch, tmp_path):
    """It would not fit into memory, though as many bytes would."""
    table, path = pl.read_csv(numbers), tmp_path / f"packed.{kind}"
    table = pl.concat([table] * 50)
    if kind == "parquet":
        table.write_parquet(path)
    else:
        path.write_bytes(gzip.compress(table.write_csv().encode()))
    monkeypatch.setattr(batches, "free_memory", lambda: 6 * path.stat().st_size)
    code, out, err = command("select", path, "-t", "y", "-k", 2)
    assert code == 0
    assert f"packed.{kind} is about" in err
    assert "unpacked, and" in err
    assert {name for name, *_ in chosen(out)} == {"x2", "x5"}
    path.write_bytes(b"PAR1 cut off")
    assert command("select", path, "-t", "y", "-k", 2)[0] != 0


def test_the_memory_of_this_machine_is_known():
    found = batches.free_memory()
    assert found is None or found > 1 << 20


@pytest.mark.parametrize("output", ["out.csv", "out.csv.gz", "out.tsv", "out.parquet", "out.arrow", "out.jsonl"])
def test_what_is_written_is_what_one_table_gives(output, command, numbers, parts, tmp_path):
    assert command("select", numbers, "-t", "y", "-k", 3, "-o", f"whole-{output}")[0] == 0
    code, _, err = command("select", "part-*.csv", "-t", "y", "-k", 3, "-o", output)
    assert code == 0, err
    assert err.endswith(f"3 of 8 columns chosen; wrote {output}\n")
    if "csv" in output or "tsv" in output:
        written, wanted = ((tmp_path / name).read_bytes() for name in (output, f"whole-{output}"))
        assert written == wanted or gzip.decompress(written) == gzip.decompress(wanted)
        return
    read = {"parquet": pl.read_parquet, "arrow": pl.read_ipc, "jsonl": pl.read_ndjson}[output.split(".")[1]]
    assert read(tmp_path / output).equals(read(tmp_path / f"whole-{output}"))


def test_rows_without_a_target_are_left_out_and_counted(command, parts):
    path = parts / "part-1.csv"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2].rsplit(",", 1)[0] + ",", *lines[3:]]) + "\n")
    code, _, err = command("select", "part-*.csv", "-t", "y", "-k", 2, "-o", "out.parquet", "--report", "r.json")
    assert code == 0, err
    assert "1 row of 120 has no target ('y' is missing) and is left out." in err
    assert len(pl.read_parquet(parts / "out.parquet")) == 119
    assert json.loads((parts / "r.json").read_text())["data"]["rows"] == 119
    for j in range(3):
        head, *rows = (parts / f"part-{j}.csv").read_text().splitlines()
        (parts / f"part-{j}.csv").write_text("\n".join([head, *(row.rsplit(",", 1)[0] + "," for row in rows)]) + "\n")
    code, _, err = command("select", "part-*.csv", "-t", "y")
    assert code == 1
    assert "the target 'y' is missing in every row" in err


def test_rows_without_a_target_are_counted_once_however_often_they_are_read(command, tmp_path):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.normal(size=(30_000, 3)), schema=list("abc")).with_columns(
        y=pl.col("a"), w=rng.integers(0, 3, 30_000)
    )
    frame = frame.with_columns(y=pl.when(pl.int_range(30_000) % 10 > 0).then("y"))
    frame[:9000].write_parquet(tmp_path / "p0.parquet")
    frame[9000:].write_parquet(tmp_path / "p1.parquet")
    code, _, err = command("select", "p*.parquet", "-t", "y", "-k", 1, "--sample-weight", "w")  # read three times
    assert code == 0, err
    assert "3,000 rows of 30,000 have no target ('y' is missing) and are left out." in err


def test_weights_constraints_and_dropped_columns(command, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    frame = pl.DataFrame(X, schema=list("abcdef")).with_columns(y=X[:, 0] + X[:, 2], w=rng.uniform(0, 1, size=200))
    frame[:90].write_parquet(tmp_path / "p0.parquet")
    frame[90:].write_parquet(tmp_path / "p1.parquet")
    frame.write_parquet(tmp_path / "one.parquet")
    options = ("-t", "y", "-k", 3, "--sample-weight", "w", "--drop", "b", "--include", "e", "--exclude", "c")
    one, several = (command("select", name, *options, "--columns", "-") for name in ("one.parquet", "p*.parquet"))
    assert one[0] == several[0] == 0
    assert one[1] == several[1]
    code, _, err = command("select", "p*.parquet", "-t", "y", "--sample-weight", "z")
    assert code == 1
    assert "--sample-weight: p0.parquet and 1 more has no column 'z'" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cv", "time", "--report", "r.html"), "--cv needs the table in memory"),
        (("--stability", "5", "--report", "r.html"), "--stability needs the table in memory"),
        (("-o", "out.npz"), "an .npz needs the table in memory"),
        (("--method", "mrmr"), "--method mrmr needs the table in memory"),
        (("-o", "part-1.csv"), "is the table that is read"),
    ],
)
def test_what_needs_the_rows_in_memory_says_so(options, message, command, parts):
    code, _, err = command("select", "part-*.csv", "-t", "y", *options)
    assert code in (1, 2)
    assert message in err.splitlines()[-1]


def test_errors_name_the_file(command, parts):
    with (parts / "part-2.csv").open("a") as out:
        out.write("1,2\n")
    code, _, err = command("select", "part-*.csv", "-t", "y")
    assert code == 1
    assert "line 42 of 'part-2.csv' has 2 cells, but there are 9 columns" in err
    (parts / "part-2.csv").write_text("x0,y\n1,no\n")
    code, _, err = command("select", "part-*.csv", "-t", "y")
    assert code == 1
    assert "'part-2.csv' has no column 'x1', which 'part-0.csv' has" in err


def test_folders_of_keys_are_columns(command, numbers, tmp_path):
    for year in (2020, 2021):
        (tmp_path / "d" / f"year={year}").mkdir(parents=True)
        (tmp_path / "d" / f"year={year}" / "a.csv").write_bytes(numbers.read_bytes())
    code, out, _ = command("select", "d", "-t", "y", "-k", 1, "--include", "year")
    assert code == 0
    assert "240 rows, 9 columns to choose from" in out
    assert "year" in out
