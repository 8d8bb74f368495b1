"""Tables as people have them, on the command line: workbooks, databases, decimal commas, a target in its own file."""

import csv
import json
import os
import random
import sqlite3
import subprocess
import sys

import duckdb
import numpy as np
import openpyxl
import polars as pl
import pytest

HEADER = ["size", "rooms", "day", "share", "note", "price"]


def german(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.fixture
def houses(tmp_path):
    """A table as a German spreadsheet writes it; its price is told by a column with decimal commas."""
    rng = random.Random(0)
    lines = [";".join(HEADER)]
    for i in range(150):
        size, share = rng.uniform(20, 2000), rng.uniform(0, 100)
        price = 100 * size + 300 * share
        day = f"{i % 28 + 1:02d}/{i % 12 + 1:02d}/2024"
        cells = [
            german(size),
            rng.randrange(1, 9),
            day,
            f"{share:.1f} %".replace(".", ","),
            f"n{i % 3}",
            f"{german(price)} €",
        ]
        lines.append(";".join(map(str, cells)))
    path = tmp_path / "häuser.csv"
    path.write_bytes(("\r\n".join(lines) + "\r\n").encode("cp1252"))
    return path


def chosen(out):
    return [line.split()[1] for line in out.splitlines() if line[:1].isdigit() and "%" in line]


def test_a_column_with_decimal_commas_is_chosen(easyfs, command, houses):
    found = easyfs("select", houses.name, "-t", "price", "-k", 2, "--encoding", "cp1252")
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    assert chosen(found.stdout) == ["size", "share"]
    assert "price: numbers from" in found.stdout
    _, shown, _ = command("inspect", houses.name, "--encoding", "cp1252", "--json")
    kinds = {column["name"]: column["kind"] for column in json.loads(shown)["columns"]}
    assert [kinds[name] for name in HEADER] == ["numeric", "numeric", "date", "numeric", "text", "numeric"]


def test_cells_are_written_as_they_were_and_as_numbers_elsewhere(command, houses, tmp_path):
    options = ("-t", "price", "-k", 2, "--encoding", "cp1252")
    assert command("select", houses.name, *options, "-o", "out.csv")[0] == 0
    given = list(csv.reader(houses.open(encoding="cp1252"), delimiter=";"))
    assert list(csv.reader((tmp_path / "out.csv").open(encoding="utf-8"), delimiter=";")) == [
        [row[0], row[3], row[5]] for row in given
    ]
    assert command("select", houses.name, *options, "-o", "out.parquet")[0] == 0
    assert pl.read_parquet(tmp_path / "out.parquet").schema == {
        "size": pl.Float64,
        "share": pl.Float64,
        "price": pl.Float64,
    }


def test_parts_give_what_memory_gives(command, houses, tmp_path):
    lines = houses.read_text(encoding="cp1252").splitlines()
    for j in range(3):
        (tmp_path / f"part-{j}.csv").write_text("\n".join([lines[0], *lines[1 + 50 * j : 51 + 50 * j]]) + "\n")
    options = ("-t", "price", "-k", 3, "--json")
    one = command("select", houses.name, *options, "--encoding", "cp1252")
    several = command("select", "part-*.csv", *options)
    assert one[0] == several[0] == 0
    first, second = (json.loads(found[1]) for found in (one, several))
    assert [row["name"] for row in first["columns"]] == [row["name"] for row in second["columns"]]
    assert np.allclose([row["adds"] for row in first["columns"]], [row["adds"] for row in second["columns"]])
    assert (first["rows"], first["parameters"]) == (second["rows"], second["parameters"])


def test_doubt_is_one_line_with_the_option_that_ends_it(command, tmp_path):
    rng = random.Random(0)
    rows = [(f'"{rng.randrange(100, 999)},{rng.randrange(100, 999)}"', f"{i % 12 + 1}/{i % 9 + 1}/2024") for i in range(60)]
    lines = [f"{a},{b},{float(a.strip(chr(34)).replace(',', '')):.0f}" for a, b in rows]
    (tmp_path / "t.csv").write_text("a,day,y\n" + "\n".join(lines) + "\n")
    code, _, err = command("select", "t.csv", "-t", "y", "-k", 1, "--task", "regression")
    assert code == 0
    said = err.splitlines()
    assert len(said) == 2
    assert "'a' holds numbers such as" in said[0]
    assert said[0].endswith("say --decimal , if the comma is a decimal mark, otherwise --thousands ,.")
    assert said[1].endswith("say --date-order day if the day comes first, otherwise --date-order month.")
    quiet = ("--thousands", ",", "--date-order", "day", "--task", "regression")
    assert command("select", "t.csv", "-t", "y", "-k", 1, *quiet)[2] == ""
    for option, value in (("--decimal", ";"), ("--thousands", "x"), ("--date-order", "year"), ("--comment", "")):
        code, _, err = command("select", "t.csv", "-t", "y", option, value)
        assert code == 2
        assert err.startswith(f"easyfs: error: {option}")
        assert len(err.splitlines()) == 1


@pytest.fixture
def frame(numbers):
    return pl.read_csv(numbers)


def test_a_workbook(easyfs, command, frame, tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["nothing here"])
    sheet = book.create_sheet("The data")
    sheet.append(frame.columns)
    for row in frame.rows():
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    found = easyfs("select", "t.xlsx::The data", "-t", "y", "-k", "2", "--columns", "-")
    assert found.returncode == 0, found.stderr
    assert set(found.stdout.split()) == {"x2", "x5"}
    code, _, err = command("select", "t.xlsx::Data", "-t", "y")
    assert code == 1
    assert "has no sheet 'Data'; it has 'Sheet', 'The data'" in err


def test_other_compressions_are_read_but_not_written(command, numbers):
    for args in (("-o", "x.csv.zst"), ("-o", "x.zip", "--to", "csv")):
        code, _, err = command("select", numbers, "-t", "y", *args)
        assert (code, "tables are written plain or as .gz" in err) == (2, True)
    code, _, err = command("select", numbers, "-t", "y", "-o", "x.xlsx")
    assert (code, "has no known ending" in err) == (2, True)


def test_databases(command, frame, tmp_path):
    frame.write_csv(tmp_path / "t.csv")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(f"create table t as from read_csv('{tmp_path / 't.csv'}', types={{'y': 'VARCHAR'}})")
        connection.execute("create table other as select 1 as a")
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        connection.execute(f"create table t ({', '.join(frame.columns)})")
        connection.executemany(f"insert into t values ({', '.join('?' * frame.width)})", frame.rows())
    connection.close()
    asked = ["--query", "select * exclude (x7) from t where x0 > -9"]
    for args in (["t.duckdb::t"], ["t.sqlite"], ["t.duckdb", *asked]):
        code, out, err = command("select", *args, "-t", "y", "-k", 2, "--columns", "-", "-o", "out.csv")
        assert code == 0, err
        assert set(out.split()) == {"x2", "x5"}
        assert pl.read_csv(tmp_path / "out.csv").equals(frame.select("x2", "x5", "y"))
    code, _, err = command("select", "t.duckdb", "-t", "y")
    assert code == 1
    assert "say which, as in 't.duckdb::other' (or give --query)" in err
    code, _, err = command("select", "t.csv", "-t", "y", "--query", "select 1")
    assert (code, err) == (1, "easyfs: error: --query is for databases (SQLite, DuckDB), but 't.csv' is csv.\n")
    assert "is the table that is read" in command("select", "t.sqlite", "-t", "y", "-o", "t.sqlite", "--to", "csv")[2]


def test_other_formats(command, frame, tmp_path):
    X, y = frame.drop("y").to_numpy(), (frame["y"] == "yes").to_numpy().astype(int)
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", y)
    rows = [
        f"{label} " + " ".join(f"{j + 1}:{value}" for j, value in enumerate(row)) for row, label in zip(X, y, strict=True)
    ]
    (tmp_path / "t.svm").write_text("\n".join(rows) + "\n")
    head = [*(f"@attribute x{j} numeric" for j in range(8)), "@attribute y {yes, no}"]
    body = [",".join(map(str, row)) for row in frame.rows()]
    (tmp_path / "t.arff").write_text("\n".join(["@relation t", *head, "@data", *body]) + "\n")
    (tmp_path / "t.json").write_text(json.dumps(frame.to_dicts()))
    (tmp_path / "t.txt").write_text("\n".join("  ".join(map(str, row)) for row in [frame.columns, *frame.rows()]) + "\n")
    for args, names in (
        (("X.npy", "--target-file", "y.npy"), {"x2", "x5"}),
        (("t.svm",), {"x3", "x6"}),
        (("t.arff", "-t", "y"), {"x2", "x5"}),
        (("t.json", "-t", "y"), {"x2", "x5"}),
        (("t.txt", "-t", "y"), {"x2", "x5"}),
    ):
        code, out, err = command("select", *args, "-k", 2, "--columns", "-")
        assert code == 0, err
        assert set(out.split()) == names


def test_several_targets(command, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    table = pl.DataFrame(X, schema=list("abcdef")).with_columns(u=X[:, 1] + 0.1, v=X[:, 4] - 1.0, id=pl.arange(200) + 5000)
    gaps = table.with_columns(pl.when(pl.col("id") == 5003).then(None).otherwise(pl.col("v")).alias("v"))
    gaps.write_csv(tmp_path / "t.csv")
    gaps[:100].write_csv(tmp_path / "p0.csv")
    gaps[100:].write_csv(tmp_path / "p1.csv")
    for name in ("t.csv", "p?.csv"):
        code, out, err = command("select", name, "-t", "u", "-t", "v", "-k", 2, "-o", "o.csv", "--keep", "id", "--json")
        assert code == 0, err
        assert "1 row of 200 has no target ('u, v' is missing) and is left out" in err
        found = json.loads(out)
        assert {row["name"] for row in found["columns"]} == {"b", "e"}
        assert found["target"] == ["u", "v"]
        written = pl.read_csv(tmp_path / "o.csv")
        assert written.columns == ["b", "e", "u", "v", "id"]
        assert written["id"].to_list() == [i + 5000 for i in range(200) if i != 3]
    code, out, err = command("select", "t.csv", "-t", "u", "-t", "v", "-k", 2)
    assert "2 targets: u, v" in out
    code, out, err = command("inspect", "t.csv", "-t", "u", "-t", "v")
    assert code == 0
    assert "7 columns, and 2 targets" in out
    assert "target v: regression" in out
    code, out, err = command(
        "compare", "t.csv", "-t", "u", "-t", "v", "--methods", "easyfs", "--sizes", 2, "--repeats", 1, "-q"
    )
    assert code == 0, err
    code, _, err = command("select", "t.csv", "-t", "u", "-t", "w")
    assert (code, "has no column 'w'" in err) == (1, True)
    code, _, err = command("select", "t.csv", "-t", "u", "--keep", "id")
    assert (code, "--keep is for the written table" in err) == (2, True)


def test_a_target_in_a_file_of_its_own(command, frame, tmp_path):
    X = frame.drop("y").with_columns(id=pl.Series([f"k{i}" for i in range(120)]))
    X.write_csv(tmp_path / "X.csv")
    frame.select("y").write_csv(tmp_path / "y.csv")
    shuffled = X.select("id").with_columns(frame["y"]).sample(fraction=1.0, shuffle=True, seed=1)
    shuffled[:110].write_csv(tmp_path / "keyed.tsv", separator="\t")
    whole = ("select", "X.csv", "--target-file", "y.csv", "--drop", "id")
    code, out, err = command(*whole, "-k", 2, "-o", "out.csv", "--columns", "-")
    assert code == 0, err
    assert set(out.split()) == {"x2", "x5"}
    assert pl.read_csv(tmp_path / "out.csv").equals(frame.select("x2", "x5", "y"))
    joined = ("select", "X.csv", "--target-file", "keyed.tsv", "--join", "id")
    code, out, err = command(*joined, "-k", 2, "-o", "out.parquet", "--keep", "id", "--columns", "-")
    assert code == 0, err
    assert "10 rows of 120 have no target" in err
    assert set(out.split()) == {"x2", "x5"}
    written = pl.read_parquet(tmp_path / "out.parquet")
    assert written.join(shuffled, on="id", how="left", maintain_order="left")["y_right"].to_list() == written["y"].to_list()
    assert len(written) == 110
    compared = ("compare", *joined[1:], "--methods", "pearson", "--sizes", 2, "--folds", 2, "--repeats", 1, "-q")
    assert command(*compared)[0] == 0
    frame[:100].select("y").write_csv(tmp_path / "short.csv")
    pl.concat([shuffled, shuffled[:1]]).write_csv(tmp_path / "twice.csv")
    shuffled.with_columns(pl.lit("z").alias("id") + pl.col("id")).write_csv(tmp_path / "none.csv")
    shuffled.with_columns(other=1).write_csv(tmp_path / "more.csv")
    for args, code, message in (
        (("short.csv",), 1, "'short.csv' has 100 rows, but 'X.csv' has 120; rows must be in the same order, or say --join"),
        (("twice.csv", "--join", "id"), 1, "has several rows with 'id' = 'k"),
        (("none.csv", "--join", "id"), 1, "no 'id' of 'none.csv' is found in 'X.csv'"),
        (("more.csv", "--join", "id"), 2, "'more.csv' has 2 columns; say which is meant with --target COLUMN"),
        (("y.csv", "--join", "id"), 1, "--join: 'y.csv' has no column 'id'"),
        (("y.csv", "-t", "z"), 1, "--target: 'y.csv' has no column 'z'"),
        (("no.csv",), 1, "there is no file 'no.csv'"),
    ):
        found = command("select", "X.csv", "--target-file", *args)
        assert found[0] == code
        assert message in found[2]
    frame.write_csv(tmp_path / "both.csv")
    assert "has a column 'y', too" in command("select", "both.csv", "--target-file", "y.csv")[2]
    assert "--join is for --target-file" in command("select", "both.csv", "-t", "y", "--join", "x0")[2]
    X.write_csv(tmp_path / "X2.csv")
    found = command("select", "X.csv", "X2.csv", "--target-file", "y.csv")
    assert "--target-file needs the table in memory" in found[2].splitlines()[-1]


def test_folds_by_time_and_by_groups(command, numbers, tmp_path):
    table = pl.read_csv(numbers).with_columns(who=pl.Series([f"p{i % 10}" for i in range(120)]))
    table.write_csv(tmp_path / "t.csv")
    args = ("compare", "t.csv", "-t", "y", "--methods", "pearson", "--sizes", 2, "--folds", 3, "--results")
    assert command(*args, "time.jsonl", "--cv", "time", "--drop", "who", "-q")[0] == 0
    assert command(*args, "group.jsonl", "--cv", "group:who", "--repeats", 1, "-q")[0] == 0
    fits = [json.loads(line) for line in (tmp_path / "time.jsonl").read_text().splitlines()]
    assert {row["repeat"] for row in fits if "repeat" in row} == {0}
    options = ("-t", "y", "-k", 2, "--stability", 0, "--report")
    assert command("select", "t.csv", *options, "r.json", "--cv", "time")[0] == 0
    assert json.loads((tmp_path / "r.json").read_text())["cross_validation"]["split"] == "in order of time"
    assert command("select", "t.csv", *options, "r.md", "--cv", "group:who")[0] == 0
    assert "5 folds by groups" in (tmp_path / "r.md").read_text()
    for cv in ("when", "group", "group:", "time:x"):
        code, _, err = command("select", "t.csv", "-t", "y", "--cv", cv)
        assert (code, "use random, time or group:COLUMN" in err) == (2, True)
    assert "--cv: 't.csv' has no column 'no'" in command("compare", "t.csv", "-t", "y", "--cv", "group:no")[2]


def test_json_is_all_there_is_on_standard_output(easyfs, command, numbers, tmp_path):
    args = ("select", numbers.name, "-t", "y", "-k", 2, "--seed", 7)
    found = easyfs(*args, "--json", "-o", "out.csv", "--set", "n_hidden=64")
    assert found.returncode == 0
    content = json.loads(found.stdout)
    import easyfs as library

    assert content["version"] == library.__version__
    assert content["seed"] == 7
    assert content["parameters"]["random_state"] == 7
    assert content["parameters"]["n_hidden"] == 64
    assert content["parameters"]["n_features_to_select"] == 2
    assert {row["name"] for row in content["columns"]} == {"x2", "x5"}
    assert (tmp_path / "out.csv").exists()
    assert command(*args, "--columns", "c.json")[0] == 0
    assert json.loads((tmp_path / "c.json").read_text())["version"] == library.__version__
    code, _, err = command(*args, "--json", "-o", "-")
    assert (code, "-o and --json both write to standard output" in err) == (2, True)


def completions(words, folder):
    environment = {
        **os.environ,
        "_EASYFS_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    run = "import sys; sys.argv[0] = 'easyfs'; from easyfs.cli import main; main()"
    found = subprocess.run(
        [sys.executable, "-c", run], env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert found.stderr == ""
    return found.stdout.split()


def test_the_shell_completes_commands_options_methods_and_columns(numbers, tmp_path):
    assert completions(["easyfs", "sel"], tmp_path) == ["select"]
    assert "--target-file" in completions(["easyfs", "select", "--tar"], tmp_path)
    assert completions(["easyfs", "select", "numbers.csv", "--method", "easy"], tmp_path) == ["easyfs", "easyfs_ranking"]
    assert completions(["easyfs", "select", "numbers.csv", "-t", "x"], tmp_path) == [f"x{j}" for j in range(8)]
    assert completions(["easyfs", "select", "no.csv", "-t", "x"], tmp_path) == []
