import csv
import io
import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from easyfs import EasyFS

HOSTILE = ["<script>alert(1)</script>", 'he said "hi"', "line\nbreak", "שלום\u202eabc", "[bold]x[/bold]", "a,b"]


def test_a_table_of_the_chosen_columns_is_shown_without_colours_in_a_pipe(easyfs, numbers):
    found = easyfs("select", numbers, "--target", "y", "-k", "2")
    assert found.returncode == 0
    assert "numbers.csv: 120 rows, 8 columns to choose from" in found.stdout
    assert "y: 2 classes (no" in found.stdout
    lines = [line.split() for line in found.stdout.splitlines() if line[:1].isdigit() and "numeric" in line]
    assert [line[0] for line in lines] == ["1", "2"]
    assert {line[1] for line in lines} == {"x2", "x5"}
    assert "\x1b" not in found.stdout + found.stderr
    assert found.stderr == ""


def test_whole_numbers_that_are_prices_are_read_as_such(command, targets):
    code, out, err = command("select", targets, "-t", "price", "-k", 1, "--drop", "age,separated,comma,name,day")
    assert (code, err) == (0, "")
    assert "price: numbers from" in out
    assert next(line.split()[1] for line in out.splitlines() if "%" in line) == "x1"


def test_a_doubtful_target_is_said_once_in_the_words_of_the_command_line(command, targets, tmp_path):
    others = "price,separated,comma,name,day"
    args = ("select", targets, "-t", "age", "-k", 1, "--drop", others, "--report", "r.json", "--stability", 4)
    code, _, err = command(*args)
    assert code == 0
    said = [line for line in err.splitlines() if "warning" in line]
    assert len(said) == 1
    assert said[0].startswith("easyfs: warning: the target holds ")
    assert said[0].endswith(
        "read as quantities; if they are classes, say --task classification, otherwise --task regression."
    )
    assert json.loads((tmp_path / "r.json").read_text())["target"]["task"] == "regression"
    for task in ("regression", "classification"):
        code, _, err = command("select", targets, "-t", "age", "-k", 1, "--drop", others, "--task", task)
        assert (code, err) == (0, "")


def test_files_are_what_python_gives(command, numbers, tmp_path):
    code, out, err = command("select", numbers, "-t", "y", "-k", 3, "-o", "few.parquet", "--columns", "few.txt")
    assert (code, out) == (0, "")
    assert err == "3 of 8 columns chosen; wrote few.parquet, few.txt\n"
    table = pl.read_csv(numbers)
    selector = EasyFS(3, random_state=0).fit(table.drop("y"), table["y"])
    few = pl.read_parquet(tmp_path / "few.parquet")
    assert few.columns == [*selector.get_feature_names_out(), "y"]
    assert few.equals(table.select(few.columns))
    assert (tmp_path / "few.txt").read_text().split() == [f"x{j}" for j in selector.order_[:3]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.parquet", "few.txt", "numbers.csv"]


def test_pipes(easyfs, numbers):
    found = easyfs("select", "-", "-t", "y", "-k", "2", "-o", "-", stdin=numbers.read_text())
    assert found.returncode == 0
    rows = list(csv.reader(io.StringIO(found.stdout)))
    given = list(csv.reader(io.StringIO(numbers.read_text())))
    assert rows == [[row[2], row[5], row[8]] for row in given]
    again = easyfs("select", "-", "-t", "y", "-k", "1", "--columns", "-", "-q", stdin=found.stdout)
    assert again.stdout in ("x2\n", "x5\n")
    assert again.stderr == ""


def test_cells_are_written_as_they_were_read(command, mixed, tmp_path):
    code, _, err = command(
        "select", mixed, "-t", "y", "-k", 5, "--include", "zip,formula,gaps", "-o", "out.csv", "--sample-weight", "weight"
    )
    assert code == 0, err
    assert "easyfs: warning: 2 rows of 150 have no target ('y' is missing) and are left out." in err
    assert "'customer_id' (identifier: 148 different values in 148 rows)" in err
    assert "--include" in err
    assert "include=" not in err
    given = list(csv.DictReader(mixed.open(newline="", encoding="utf-8")))
    rows = list(csv.DictReader((tmp_path / "out.csv").open(newline="", encoding="utf-8")))
    assert len(rows) == 148
    expected = [row for row in given if row["y"] not in ("", "N/A")]
    assert rows == [{name: row[name] for name in rows[0]} for row in expected]
    assert {"zip", "formula", "gaps"} < set(rows[0])


def test_codes_stay_text_in_other_formats(command, mixed, tmp_path):
    for name in ("out.parquet", "out.arrow", "out.jsonl", "out.jsonl.gz", "out.tsv"):
        code, _, err = command("select", mixed, "-t", "y", "-k", 3, "--include", "zip,formula", "-o", name, "--no-target")
        assert code == 0, err
    table = pl.read_parquet(tmp_path / "out.parquet")
    assert "y" not in table.columns
    assert table.schema["zip"] == pl.String
    assert table["formula"].str.starts_with("=").all()
    assert pl.read_ipc(tmp_path / "out.arrow").equals(table)
    assert pl.read_ndjson(tmp_path / "out.jsonl").equals(table)
    assert (tmp_path / "out.jsonl.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert pl.read_csv(tmp_path / "out.tsv", separator="\t", infer_schema_length=0)["zip"].equals(table["zip"])


def test_hostile_names(command, mixed, tmp_path):
    code, out, err = command("select", mixed, "-t", "y", "-k", 6, "--drop", "c*,zip,day,gaps,weight,formula")
    assert code == 0, err
    assert "<script>alert(1)</script>" in out
    assert "line\\nbreak" in out
    assert "שלום\\u202eabc" in out
    assert "[bold]x[/bold]" in out
    assert "\u202e" not in out + err
    code, _, _ = command(
        "select",
        mixed,
        "-t",
        "y",
        "-k",
        6,
        "--drop",
        "c*,zip,day,gaps,weight,formula",
        "--columns",
        "c.json",
        "-o",
        "o.csv",
    )
    found = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert sorted(row["name"] for row in found["columns"]) == sorted(HOSTILE)
    assert found["target"] == "y"
    assert found["task"] == "regression"
    places = [row["so_far"] for row in found["columns"]]
    assert places == sorted(places)
    assert next(csv.reader((tmp_path / "o.csv").open(newline="", encoding="utf-8"))) == [*HOSTILE, "y"]
    code, out, _ = command("select", mixed, "-t", "y", "-k", 1, "--include", "a,b", "--columns", "-")
    assert out == "a,b\n"
    code, out, _ = command("select", mixed, "-t", "y", "-k", 1, "--include", "line*", "--columns", "-")
    assert json.loads(out) == "line\nbreak"


def test_weights_count(command, numbers, tmp_path):
    table = pl.read_csv(numbers).with_columns(w=pl.when(pl.col("x0") > 0).then(1.0).otherwise(0.0))
    table = table.with_columns(y=pl.when(pl.col("w") > 0).then(pl.col("x1") > 0).otherwise(pl.col("x7") > 0))
    table.write_csv(tmp_path / "w.csv")
    assert command("select", "w.csv", "-t", "y", "-k", 1, "--columns", "-", "--sample-weight", "w")[1] == "x1\n"
    code, _, err = command("select", "w.csv", "-t", "y", "--sample-weight", "w", "--method", "relieff")
    assert code == 2
    assert "relieff does not take weights" in err
    code, _, err = command("select", "w.csv", "-t", "y", "--sample-weight", "y")
    assert (code, err) == (2, "easyfs: error: --sample-weight: 'y' is the target.\n")


@pytest.mark.parametrize("ending", ["arrow", "ipc", "parquet", "csv"])
@pytest.mark.parametrize("names", [("*", "b"), ("^a.*$", "ab")])
def test_names_that_polars_reads_as_patterns(command, tmp_path, names, ending):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({name: rng.normal(size=80) for name in names})
    table = table.with_columns(y=table[names[1]])
    write = {"arrow": table.write_ipc, "ipc": table.write_ipc_stream, "csv": table.write_csv}
    write.get(ending, table.write_parquet)(tmp_path / f"t.{ending}")
    code, out, _ = command("select", f"t.{ending}", "-t", "y", "-k", 1, "--columns", "-")
    assert (code, out.split()) == (0, [names[1]])


def test_a_weight_that_is_a_flag(command, tmp_path):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80), "flag": np.arange(80) % 4 > 0})
    table = table.with_columns(y=pl.when("flag").then("b").otherwise("a"))
    table.write_parquet(tmp_path / "t.parquet")
    (tmp_path / "several").mkdir()
    for i in range(2):
        table[40 * i : 40 * i + 40].write_parquet(tmp_path / "several" / f"{i}.parquet")
    for name in ("t.parquet", "several"):
        code, out, _ = command("select", name, "-t", "y", "-k", 1, "--sample-weight", "flag", "--columns", "-")
        assert (code, out.split()) == (0, ["b"])


def test_constraints_and_patterns(command, numbers):
    code, out, _ = command("select", numbers, "-t", "y", "-k", 3, "--include", "x7,x0", "--exclude", "x2", "--columns", "-")
    assert code == 0
    assert out.split() == ["x7", "x0", "x5"]
    code, out, _ = command("select", numbers, "-t", "y", "-k", 1.0, "--drop", "x[0-3]", "--drop", "x7", "--columns", "-")
    assert sorted(out.split()) == ["x4", "x5", "x6"]
    code, out, _ = command("select", numbers, "-t", "y", "-k", "0.25", "--columns", "-")
    assert len(out.split()) == 2


def test_methods_and_their_parameters(command, numbers):
    code, out, err = command("select", numbers, "-t", "y", "-k", 2, "-m", "mrmr", "--columns", "-")
    assert code == 0, err
    assert len(out.split()) == 2
    code, out, err = command("select", numbers, "-t", "y", "-k", 2, "-m", "mrmr")
    assert "chosen by mrmr" in out
    assert "score" in out
    ranking = ("-m", "easyfs_ranking", "--set", "n_hidden=32", "--set", "literal=true")
    sequential = ("--set", "coverage=0.1", "--set", "interactions=false", "--set", "clip=null")
    for sets in (ranking, sequential):
        code, out, err = command("select", numbers, "-t", "y", "-k", 2, *sets, "--columns", "-")
        assert code == 0, err
    code, out, _ = command("select", numbers, "--unsupervised", "--drop", "y", "-k", 2, "--columns", "-")
    assert (code, len(out.split())) == (0, 2)
    same = {command("select", numbers, "-t", "y", "-k", 4, "--seed", 3, "--columns", "-")[1] for _ in range(2)}
    assert len(same) == 1


def test_the_number_of_columns_by_cross_validation(command, tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((200, 8)), columns=list("abcdefgh"))
    table.assign(y=table["b"] + table["c"] * table["e"] + 0.3 * rng.standard_normal(200)).to_csv("cv.csv", index=False)
    code, out, err = command("select", "cv.csv", "-t", "y", "-k", "cv", "--columns", "-")
    assert code == 0, err
    assert set(out.split()) >= {"b", "c", "e"}
    assert len(out.split()) <= 5
    code, _, err = command("select", "cv.csv", "-t", "y", "-k", "cv", "-m", "mrmr")
    assert code == 1
    assert "is for EasyFS" in err


def test_npz(command, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    np.savez(tmp_path / "a.npz", X=X, y=(X[:, 3] > 0).astype(int), feature_names=np.array(list("abcde")))
    code, _, err = command("select", "a.npz", "-k", 1, "-o", "b.npz")
    assert code == 0, err
    with np.load(tmp_path / "b.npz") as found:
        assert found["feature_names"].tolist() == ["d"]
        np.testing.assert_array_equal(found["X"][:, 0], X[:, 3])
        assert set(found["y"]) == {0, 1}
    np.savez(tmp_path / "c.npz", X=X, label=np.where(X[:, 1] > 0, "p", "q"))
    code, out, _ = command("select", "c.npz", "--target", "label", "-k", 1, "--columns", "-")
    assert out == "x1\n"


@pytest.mark.parametrize("words", [("class",), ("none", "-")])
def test_words_that_may_be_a_class_are_one(command, numbers, tmp_path, words):
    labels = ["some", *words]
    table = pl.read_csv(numbers)
    table = table.with_columns(y=pl.Series([labels[i % len(labels)] for i in range(len(table))]))
    table.write_csv(tmp_path / "n.csv")
    code, _, err = command("select", "n.csv", "-t", "y", "-k", 2)
    assert code == 0
    assert "left out" not in err


def told_in_part(tmp_path, names=("x3", "x7", "x2")):
    """A table in which one column tells by itself, two together, one in a curve and six nothing; y is a number."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10))
    y = X[:, 3] * X[:, 7] + 0.5 * X[:, 1] + 0.6 * X[:, 2] ** 2 + 0.3 * rng.normal(size=400)
    known = dict(zip(("x3", "x7", "x2"), names, strict=True))
    header = [known.get(f"x{j}", f"x{j}") for j in range(10)]
    path = tmp_path / "joint.csv"
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([[*header, "y"], *np.column_stack([X, y]).round(5).tolist()])
    return path


def test_chance_and_columns_that_matter_together(command, tmp_path):
    table = told_in_part(tmp_path)
    code, out, err = command("select", table, "-t", "y", "-k", 7)
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert next(line for line in lines if "kind" in line).split() == [
        "column",
        "kind",
        "adds",
        "so",
        "far",
        "chance",
        "by",
        "itself",
        "overlap",
    ]
    rows = [line for line in lines if line[:1].isdigit() and "numeric" in line]
    assert ["< 0.001" in row for row in rows] == [True] * 4 + [False] * 3
    assert re.search(r"\nTogether: x3 with x7 \(\d\d", out)
    assert re.search(r"\nIn a curve: x2 \(\d\d", out)
    assert "\n3 explain no more than chance: those from 5 on\n" in out
    assert (
        "chance: how likely the best of as many unrelated columns would explain as much (0.02 and more: chance);" in lines
    )
    code, out, _ = command("select", table, "-t", "y", "-k", 5)
    assert "\n1 explains no more than chance: the last one\n" in out
    code, out, _ = command("select", table, "-t", "y", "-k", 5, "--include", "x9")
    assert "\n1 explains no more than chance\n" in out
    code, out, _ = command("select", table, "-t", "y")
    assert "no more than chance" not in out


def test_chance_and_columns_that_matter_together_as_json(command, tmp_path):
    table = told_in_part(tmp_path)
    assert command("select", table, "-t", "y", "-k", 7, "--columns", "c.json")[0] == 0
    found = json.loads((tmp_path / "c.json").read_text())
    given = pl.read_csv(table)
    selector = EasyFS(7, random_state=0).fit(given.drop("y"), given["y"])
    assert [row["p_value"] for row in found["columns"]] == pytest.approx(selector.p_values_)
    assert [row["beyond_chance"] for row in found["columns"]] == selector.beyond_chance_.tolist()
    assert [each["columns"] for each in found["interactions"]] == [["x3", "x7"], ["x2"]]
    assert all(each["share"] > 0.2 and each["p_value"] < 0.005 for each in found["interactions"])
    # Methods that measure neither.
    assert command("select", table, "-t", "y", "-k", 3, "-m", "mrmr", "--columns", "c.json")[0] == 0
    found = json.loads((tmp_path / "c.json").read_text())
    assert [(row["p_value"], row["beyond_chance"]) for row in found["columns"]] == [(None, None)] * 3
    assert found["interactions"] is None
    for more in (("-t", "y", "-m", "mrmr"), ("--unsupervised", "--drop", "y")):
        code, out, err = command("select", table.name, "-k", 3, *more)
        assert (code, err) == (0, "")
        assert "chance" not in out


def test_hostile_names_that_matter_together(command, tmp_path):
    table = told_in_part(tmp_path, ("[bold]x[/bold]", "שלום\u202eabc", "line\nbreak"))
    code, out, err = command("select", table, "-t", "y", "-k", 4)
    assert (code, err) == (0, "")
    assert "\nTogether: [bold]x[/bold] with שלום\\u202eabc (" in out
    assert "\nIn a curve: line\\nbreak (" in out


@pytest.mark.parametrize("asked", [(), ("-k", "3")])
def test_a_table_of_noise_is_said_to_be_one_once(command, tmp_path, asked):
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(200, 9)).round(4).tolist()
    with (tmp_path / "noise.csv").open("w", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([[*(f"x{j}" for j in range(8)), "y"], *rows])
    code, out, err = command("select", "noise.csv", "-t", "y", *asked)
    assert code == 0
    which = "none of the 3 chosen columns explains" if asked else "the chosen column explains no"
    said = (
        f"easyfs: warning: {which} more of 'y' than chance would, so there may be nothing to find. Check that it is the "
        "right target, or give more rows.\n"
    )
    assert err == said
    assert "explain no more than chance" not in out
    # The report's own fits do not say it again; the report does.
    _, _, err = command("select", "noise.csv", "-t", "y", *asked, "--report", "r.json", "--stability", "3")
    assert err.startswith(said)
    assert err.count("chance") == 1
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["warnings"][0]["code"] == "only_chance"
    assert command("select", "noise.csv", "-t", "y", *asked, "-q")[2] == ""


def test_verbose_tells_the_steps_on_standard_error(command, numbers):
    code, out, err = command("select", numbers, "-t", "y", "-k", 2, "--verbose", "-o", "-")
    assert code == 0
    assert out.splitlines()[0] == "x2,x5,y"
    steps = [line.split()[1].rstrip(":") for line in err.splitlines() if line.startswith("[EasyFS] ")]
    assert steps == ["reading", "plan", "sums", "search", "chosen"]
    assert "[EasyFS]" not in command("select", numbers, "-t", "y", "-k", 2)[2]
    code, _, err = command("select", numbers, "-t", "y", "--set", "verbose=1")
    assert code == 2
    assert "verbose has an option of its own, --verbose" in err
