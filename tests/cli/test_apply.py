"""A selection goes from one table to the next: saved, applied, printed as code."""

import json
import sqlite3

import duckdb
import jsonschema
import numpy as np
import polars as pl
import pytest

from easyfs import load_selection, scan
from easyfs.base.saving import schema
from easyfs.cli import batches

CHOSEN = ["x1", "x2", "x5"]


@pytest.fixture
def saved(command, numbers):
    """A selection of three columns of the table of numbers."""
    code, _, err = command("select", numbers, "-t", "y", "-k", 3, "--include", "x1", "--save", "s.json")
    assert code == 0
    assert "3 of 8 columns chosen; wrote s.json" in err
    return numbers.parent / "s.json"


@pytest.fixture
def new(numbers):
    """New rows in another order of columns, with one more and without a target; one row has gaps."""
    frame = pl.read_csv(numbers).drop("y").with_columns(key=pl.Series([f"k{i:03d}" for i in range(120)]))
    frame = frame.with_columns(x2=pl.when(pl.int_range(pl.len()) == 3).then(None).otherwise(pl.col("x2")))
    return frame.select("key", *(f"x{j}" for j in reversed(range(8))))


WRITERS = {
    "csv": pl.DataFrame.write_csv,
    "tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    "parquet": pl.DataFrame.write_parquet,
    "arrow": pl.DataFrame.write_ipc,
    "jsonl": pl.DataFrame.write_ndjson,
}
READERS = {
    "csv": pl.read_csv,
    "tsv": lambda path: pl.read_csv(path, separator="\t"),
    "parquet": pl.read_parquet,
    "arrow": pl.read_ipc,
    "jsonl": pl.read_ndjson,
}


def test_the_saved_file_follows_the_schema(saved):
    content = json.loads(saved.read_text(encoding="utf-8"))
    jsonschema.validate(content, schema())
    assert content["target"] == ["y"]
    assert content["seed"] == 0
    assert load_selection(saved).columns == CHOSEN


def test_it_is_the_table_that_select_writes(command, numbers, saved, tmp_path):
    assert command("select", numbers, "-t", "y", "-k", 3, "--include", "x1", "--no-target", "-o", "direct.csv")[0] == 0
    code, out, err = command("apply", "s.json", numbers, "-o", "applied.csv")
    assert (code, out) == (0, "")
    assert "3 columns of " in err
    assert (tmp_path / "applied.csv").read_bytes() == (tmp_path / "direct.csv").read_bytes()


@pytest.mark.parametrize("source", WRITERS)
@pytest.mark.parametrize("to", READERS)
def test_every_kind_of_file(command, saved, new, tmp_path, source, to):
    WRITERS[source](new, tmp_path / f"new.{source}")
    code, _, err = command("apply", "s.json", f"new.{source}", "-o", f"out.{to}")
    assert (code, err.count("\n")) == (0, 1)
    assert READERS[to](tmp_path / f"out.{to}").equals(new.select(CHOSEN))


def test_npz(command, saved, new, tmp_path):
    np.savez(tmp_path / "new.npz", X=new.drop("key").to_numpy(), feature_names=np.array(new.columns[1:]))
    assert command("apply", "s.json", "new.npz", "-o", "out.npz")[0] == 0
    with np.load(tmp_path / "out.npz") as found:
        assert found["feature_names"].tolist() == CHOSEN
        np.testing.assert_array_equal(found["X"], new.select(CHOSEN).to_numpy())


@pytest.mark.parametrize("to", READERS)
def test_several_files_are_read_batch_by_batch(command, saved, new, tmp_path, to):
    for part in range(3):
        new[40 * part : 40 * part + 40].write_csv(tmp_path / f"new-{part}.csv")
    code, _, err = command("apply", "s.json", "new-*.csv", "-o", f"out.{to}")
    assert code == 0
    assert "3 files" in err
    assert READERS[to](tmp_path / f"out.{to}").equals(new.select(CHOSEN))


def test_a_large_file_is_read_batch_by_batch(command, saved, new, tmp_path, monkeypatch):
    new.write_parquet(tmp_path / "new.parquet")
    monkeypatch.setattr(batches, "free_memory", lambda: 100)
    code, _, err = command("apply", "s.json", "new.parquet", "-o", "out.parquet")
    assert code == 0
    assert "batch by batch" in err
    assert pl.read_parquet(tmp_path / "out.parquet").equals(new.select(CHOSEN))
    code, _, err = command("apply", "s.json", "new.parquet", "-o", "out.npz")
    assert code == 1
    assert not (tmp_path / "out.npz").exists()


def test_through_pipes_in_processes_of_their_own(easyfs, saved, new, tmp_path):
    run = easyfs("apply", "s.json", "-", "-o", "-", "--quiet", stdin=new.write_csv())
    assert (run.returncode, run.stderr) == (0, "")
    assert pl.read_csv(run.stdout.encode()).equals(new.select(CHOSEN))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_cells_stay_as_they_were_written(command, saved, tmp_path):
    (tmp_path / "new.csv").write_text("x5,x2,x1\n1.50,7.00,1e3\n-0,,  2\n", encoding="utf-8")
    assert command("apply", "s.json", "new.csv", "-o", "out.csv")[0] == 0
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == "x1,x2,x5\n1e3,7.00,1.50\n  2,,-0\n"


def test_further_columns_can_be_kept(command, saved, new, tmp_path):
    new.write_csv(tmp_path / "new.csv")
    assert command("apply", "s.json", "new.csv", "-o", "out.parquet", "--keep", "key,x2")[0] == 0
    assert pl.read_parquet(tmp_path / "out.parquet").columns == [*CHOSEN, "key"]
    code, _, err = command("apply", "s.json", "new.csv", "-o", "out.parquet", "--keep", "kei")
    assert code == 1
    assert "--keep: there is no column 'kei'. Did you mean 'key'" in err


@pytest.mark.parametrize("to", READERS)
def test_a_table_without_rows_has_its_columns(command, saved, tmp_path, to):
    (tmp_path / "new.csv").write_text("x5,x2,x1,z\n", encoding="utf-8")
    for files in (["new.csv"], ["new.csv", "new.csv"]):
        code, _, err = command("apply", "s.json", *files, "-o", f"out.{to}")
        assert code == 0, err
        if to != "jsonl":
            assert READERS[to](tmp_path / f"out.{to}").columns == CHOSEN


# --- what may go wrong: one line, the right code, nothing written ---


def failed(run, code, text):
    found, out, err = run
    assert found == code, err
    assert out == ""
    lines = [line for line in err.splitlines() if "batch by batch" not in line]
    assert len(lines) == 1, err
    assert text in lines[0], err


def test_a_missing_column_is_named(command, saved, new, tmp_path):
    new.drop("x5").rename({"x2": "X2"}).write_csv(tmp_path / "new.csv")
    failed(
        command("apply", "s.json", "new.csv", "-o", "out.csv"),
        1,
        "new.csv has no column 'x2' (and 1 more that the",
    )
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_another_kind_is_an_error_or_a_warning(command, saved, new, tmp_path, kind):
    WRITERS[kind](new.with_columns(x2=pl.lit("none of your business")), tmp_path / f"new.{kind}")
    for files in ([f"new.{kind}"], [f"new.{kind}", f"new.{kind}"]):
        failed(
            command("apply", "s.json", *files, "-o", "out.csv"),
            1,
            "column 'x2' holds text, but it held numbers when it was selected. Convert it, or say --any-kind",
        )
    assert not (tmp_path / "out.csv").exists()
    code, _, err = command("apply", "s.json", f"new.{kind}", "-o", "out.csv", "--any-kind")
    assert code == 0
    assert "warning: column 'x2' holds text" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no JSON, or cut off"),
        ("{", "no JSON, or cut off"),
        ('{"a": 1}', "not a saved selection"),
        ('{"schema": "easyfs-selection", "schema_version": 2, "versions": {"easyfs": "7"}}', "written by easyfs-ml 7"),
        ('{"schema": "easyfs-selection", "schema_version": 1}', "lacks 'method'"),
    ],
)
def test_a_file_that_is_no_selection(command, numbers, tmp_path, text, message):
    (tmp_path / "s.json").write_text(text, encoding="utf-8")
    failed(command("apply", "s.json", numbers, "-o", "out.csv"), 1, message)
    failed(command("apply", "s.json", "--print", "sql"), 1, message)
    assert not (tmp_path / "out.csv").exists()


def test_wrong_usage(command, saved, numbers, tmp_path):
    failed(command("apply", "none.json", numbers, "-o", "out.csv"), 1, "there is no file 'none.json'")
    failed(command("apply", "s.json", "none.csv", "-o", "out.csv"), 1, "none.csv")
    failed(command("apply", "s.json"), 2, "which table")
    failed(command("apply", "s.json", numbers), 2, "where is the table to be written")
    failed(command("apply", "s.json", numbers, "-o", "out.xyz"), 2, "no known ending")
    failed(command("apply", "s.json", numbers, "-o", "out.csv", "--to", "xml"), 2, "--to 'xml' is not known")
    failed(command("apply", "s.json", numbers, "-o", numbers), 1, "is the table that is read")
    failed(command("apply", "s.json", numbers, "-o", "s.json", "--to", "csv"), 1, "that is read")
    failed(command("apply", "s.json", "--print", "R"), 2, "--print 'R' is not known; use one of sql")
    failed(command("apply", "s.json", numbers, "--print", "sql"), 2, "leave out TABLE and -o")
    failed(command("select", numbers, "-t", "y", "--print", "R"), 2, "--print 'R' is not known")
    failed(command("select", numbers, "-t", "y", "--print", "sql", "-o", "-"), 2, "-o and --print both write to standard")
    failed(command("select", numbers, "-t", "y", "--save", numbers), 1, "--save")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["numbers.csv", "s.json"]


def test_a_selection_without_names_takes_columns_by_position(command, tmp_path):
    from easyfs import EasyFS

    X = np.random.default_rng(0).standard_normal((40, 4))
    EasyFS(1, random_state=0).fit(X, X[:, 2]).save_selection(tmp_path / "s.json")
    (tmp_path / "new.csv").write_text("a,b,c,d\n1,2,3,4\n", encoding="utf-8")
    code, out, _ = command("apply", "s.json", "new.csv", "-o", "-", "-q")
    assert (code, out) == (0, "c\n3\n")
    (tmp_path / "new.csv").write_text("a,b,c\n1,2,3\n", encoding="utf-8")
    failed(command("apply", "s.json", "new.csv", "-o", "-"), 1, "X has 3 columns, but the selection was made from 4")


# --- code to paste ---


def test_printed_code_runs(command, mixed, tmp_path):
    """Of a table with hostile names, by what the code is for."""
    how = ("select", mixed, "-t", "y", "--drop", "customer_id", "-k", 8, "-q")
    code, _, err = command(*how, "--save", "s.json")
    assert (code, err) == (0, "")
    chosen = load_selection(tmp_path / "s.json").columns
    assert "line\nbreak" in chosen
    assert "<script>alert(1)</script>" in chosen
    printed = {}
    for language in ("sql", "polars", "pandas", "sklearn"):
        code, out, _ = command(*how, "--print", language)
        assert code == 0
        assert command("apply", "s.json", "--print", language)[1] == out
        printed[language] = out
    data = scan(mixed).collect()
    with duckdb.connect() as database:
        database.register("data", data.to_arrow())
        assert [entry[0] for entry in database.execute(printed["sql"]).description] == chosen
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in data.columns)
    plain = sqlite3.connect(":memory:")
    plain.execute(f"CREATE TABLE data ({quoted})")
    assert [entry[0] for entry in plain.execute(printed["sql"]).description] == chosen
    assert eval(printed["polars"], {"data": data}).columns == chosen
    assert eval(printed["pandas"], {"data": data.to_pandas()}).columns.tolist() == chosen
    names = {}
    exec(printed["sklearn"], names)
    assert names["chosen"].fit(data.to_pandas()).get_feature_names_out().tolist() == chosen


@pytest.mark.parametrize(
    ("cells", "asked"),
    [
        (lambda x: f"{x:.4f}".replace(".", ","), []),
        (lambda x: f"{1e6 * x:,.0f}".replace(",", " "), ["--thousands", "space"]),
        (lambda x: f"{x:.4f}", ["--comment", "#"]),
    ],
    ids=["decimal comma", "thousands", "comment"],
)
def test_a_table_is_read_as_it_was_for_the_selection(command, tmp_path, cells, asked):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    lines = [";".join([*map(cells, row), "xyz"[i % 3]]) for i, row in enumerate(X)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join([*(["# made by hand"] if "--comment" in asked else []), "a;b;c;y", *lines]))
    assert command("select", path, "-t", "y", "-k", 2, "--save", tmp_path / "s.json", *asked)[0] == 0
    code, _, err = command("apply", tmp_path / "s.json", path, "-o", tmp_path / "out.parquet", *asked)
    assert (code, "text" in err) == (0, False)
    taken = pl.read_parquet(tmp_path / "out.parquet")
    assert taken.shape == (150, 2)
    assert all(dtype.is_numeric() for dtype in taken.dtypes)


def test_a_query_is_asked_of_the_next_database_too(command, tmp_path):
    rng = np.random.default_rng(1)
    for name in ("old", "new"):
        with sqlite3.connect(tmp_path / f"{name}.sqlite") as base:
            base.execute("create table t (a real, b real, y real)")
            base.executemany("insert into t values (?, ?, ?)", rng.normal(size=(60, 3)).tolist())
    asked = ["--query", "select a, b as c, a + y as y from t"]
    assert command("select", tmp_path / "old.sqlite", "-t", "y", "-k", 1, "--save", tmp_path / "s.json", *asked)[0] == 0
    code, _, err = command("apply", tmp_path / "s.json", tmp_path / "new.sqlite", "-o", tmp_path / "out.csv", *asked)
    assert code == 0, err
    assert len(pl.read_csv(tmp_path / "out.csv")) == 60
