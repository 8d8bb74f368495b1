import json

import polars as pl
import pytest


def test_help_and_version(easyfs, command):
    found = easyfs("--version")
    assert found.stdout.startswith("easyfs ")
    for args in ((), ("--help",)):
        code, out, _ = command(*args)
        assert code == 0
        for name in ("select", "compare", "inspect", "methods", "report", "demo"):
            assert name in out
    for name in ("select", "compare", "inspect", "methods", "report", "demo"):
        code, out, err = command(name, "--help")
        assert (code, err) == (0, "")
        assert "Usage: easyfs" in out


def test_help_is_quick(easyfs):
    found = easyfs("methods", env={"PYTHONPROFILEIMPORTTIME": "1"})
    imported = {line.rsplit("|", 1)[-1].strip() for line in found.stderr.splitlines() if "|" in line}
    assert "rich.table" in imported
    assert not {"polars", "matplotlib", "torch", "xgboost"} & imported


def test_methods(command):
    code, out, _ = command("methods")
    assert code == 0
    assert "mutual_information" in out
    _, some, _ = command("methods", "--task", "unsupervised")
    assert "mutual_information" not in some
    _, text, _ = command("methods", "--json")
    rows = json.loads(text)
    assert rows[0]["name"] == "easyfs"
    assert {row["name"] for row in rows} >= {"mrmr", "xgboost", "random"}
    assert {"tasks", "kind", "gives", "needs", "installed", "paper"} < set(rows[0])


def test_inspect(command, mixed):
    code, out, err = command("inspect", mixed, "-t", "y")
    assert code == 0
    assert "mixed.csv: 148 rows, 13 columns, and the target" in out
    assert "target y: regression" in out
    kinds = {line.split()[0]: line for line in out.splitlines() if line.strip()}
    assert "identifier" in kinds["customer_id"]
    assert "set aside" in kinds["customer_id"]
    assert "indicators" in kinds["city"]
    assert "date parts" in kinds["day"]
    assert "line\\nbreak" in out
    assert "\u202e" not in out + err
    assert "indicators" in kinds["gaps"]  # 1.50 or nothing
    _, text, _ = command("inspect", mixed, "--json")
    found = json.loads(text)
    assert found["rows"] == 150
    assert [column["name"] for column in found["columns"]][2] == "line\nbreak"
    assert found["target"] is None


def test_inspect_sums_up_a_wide_table(command, tmp_path):
    wide = pl.DataFrame({f"x{j}": [0.5, 1.5, 2.5 * j, 4.0, 3.0] for j in range(60)}).with_columns(
        only=pl.lit(1), y=pl.Series(["a", "a", "a", "a", "b"])
    )
    wide.with_columns(same=pl.col("y")).write_csv(tmp_path / "wide.csv")
    code, out, err = command("inspect", "wide.csv", "-t", "y")
    assert code == 0
    assert "x40" not in out
    assert "--all" in out
    assert "'b' (1 row)" in err
    assert "one value only: 'only'" in err
    assert "the same as the target in every row: 'same'" in err
    assert "x40" in command("inspect", "wide.csv", "-t", "y", "--all")[1]


def test_inspect_says_how_a_target_is_read_or_why_it_cannot_be(command, targets):
    code, out, err = command("inspect", targets, "-t", "age")
    assert code == 0
    assert "target age: regression, numbers from 18" in out
    line = next(line for line in err.splitlines() if "whole numbers" in line)
    assert line.startswith("easyfs: warning: the target holds ")
    assert line.endswith("read as quantities; if they are classes, say --task classification, otherwise --task regression.")
    assert "whole numbers" not in command("inspect", targets, "-t", "age", "--task", "regression")[2]
    found = json.loads(command("inspect", targets, "-t", "age", "--json")[1])
    assert [warning for warning in found["warnings"] if "whole numbers" in warning] == [
        line.removeprefix("easyfs: warning: ")
    ]
    code, out, err = command("inspect", targets, "-t", "name")
    assert code == 0
    assert "x0" in out
    assert "easyfs: warning: the target has nearly as many classes as rows" in err


def test_compare_reads_a_target_as_select_does(command, targets):
    args = (
        "compare",
        targets,
        "-t",
        "age",
        "-m",
        "pearson",
        "--sizes",
        1,
        "--folds",
        2,
        "--repeats",
        1,
        "--models",
        "linear",
    )
    code, out, err = command(*args)
    assert code == 0
    assert "regression; nmse" in out
    assert err.count("different whole numbers") == 1


def test_compare(command, numbers, tmp_path):
    args = (
        "compare",
        numbers,
        "-t",
        "y",
        "--methods",
        "easyfs,pearson,all",
        "--sizes",
        "2,4",
        "--folds",
        "3",
        "--repeats",
        "1",
    )
    code, out, err = command(*args, "-o", "out.html", "--results", "r.jsonl")
    assert code == 0, err
    assert "numbers: 120 rows, 8 columns, classification; accuracy (more is better)" in out
    assert "mean rank" in out
    assert " ± " in out
    assert "all 8 columns: " in out
    assert err == "wrote out.html\n"
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "src=" not in page
    assert "default-src 'none'" in page
    assert "no test of significance is made" in page
    assert "critical difference" not in page
    assert "@media (prefers-color-scheme: dark)" in page
    for name in ("out.md", "out.json"):
        assert command(*args, "-o", name, "--results", "r.jsonl", "-q") == (0, "", "")
    assert "| easyfs |" in (tmp_path / "out.md").read_text(encoding="utf-8")
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert list(found["mean_ranks"])[-1] == "random"
    assert {entry["size"] for entry in found["scores"]} == {2, 4, 8}


def test_compare_of_numbers_with_groups_and_models(command, mixed, tmp_path):
    code, out, err = command(
        "compare",
        mixed,
        "--target=y",
        "--methods=easyfs",
        "--sizes=2",
        "--folds=3",
        "--repeats=1",
        "--cv=group:city",
        "--models=linear,knn",
        "--metric=r2,nmse",
        "--drop=customer_id",
    )
    assert code == 0, err
    assert "regression; r2 (more is better)" in out
    assert "r2, linear" in out
    assert "r2, knn" in out


def test_the_page_of_a_comparison_has_all_models_and_all_ties(command, numbers, tmp_path):
    table = pl.read_csv(numbers).with_columns(row_id=pl.Series([f"r{i}" for i in range(120)]))
    table.write_csv(tmp_path / "ids.csv")
    args = ("compare", "ids.csv", "-t", "y", "--methods", "pearson,fisher_score,all", "--sizes", "2,4", "--folds", "3")
    code, out, err = command(*args, "--repeats", "1", "--models", "linear,knn", "-o", "out.html")
    assert code == 0, err
    assert "all 8 columns (those of 9 that can be used): " in out
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert page.count("<figure>") == 2
    assert "All 8 columns (those of 9 that can be used): " in page
    # For two classes the two methods rank alike, so each size has both in bold.
    assert page.count('class="n best"') >= 8
    assert command(*args, "--repeats", "1", "--models", "linear", "-o", "out.md")[0] == 0
    bold = [line.count("**") // 2 for line in (tmp_path / "out.md").read_text().splitlines() if line.startswith("| ids")]
    assert max(bold) >= 2


def test_a_method_that_fails_is_shown_with_its_reason(command, numbers, tmp_path):
    table = pl.read_csv(numbers).with_columns(y=pl.col("x2") + pl.col("x5"))
    table.write_csv(tmp_path / "reg.csv")
    args = ("compare", "reg.csv", "-t", "y", "--sizes", "2", "--folds", "3", "--repeats", "1", "--methods")
    code, out, _ = command(*args, "easyfs,fisher_score")
    assert code == 0
    assert "fisher_score failed 3 times: " in out


@pytest.mark.parametrize("name", ["a|b<i>.csv"])
def test_names_of_files_are_text(command, numbers, tmp_path, name):
    (tmp_path / name).write_bytes(numbers.read_bytes())
    args = ("compare", name, "-t", "y", "--methods", "pearson", "--sizes", "2", "--folds", "2", "--repeats", "1")
    assert command(*args, "-o", "out.html")[0] == 0
    assert "<i>" not in (tmp_path / "out.html").read_text(encoding="utf-8")
