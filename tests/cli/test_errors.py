import os
import subprocess
import sys

import polars as pl
import pytest


def one_line(err):
    assert err.startswith("easyfs: error: "), err
    assert err.count("\n") == 1, err
    return err


def test_exit_codes_of_a_real_process(easyfs, numbers):
    missing = easyfs("select", numbers, "--target", "Y ", "-o", "never.csv")
    assert missing.returncode == 1
    assert "has no column 'Y '. Did you mean 'y'?" in one_line(missing.stderr)
    assert missing.stdout == ""
    wrong = easyfs("select", numbers, "--tagret", "y")
    assert wrong.returncode == 2
    assert "--tagret" in one_line(wrong.stderr)
    assert "easyfs select --help" in wrong.stderr
    assert not (numbers.parent / "never.csv").exists()


def test_verbose_shows_the_trace(easyfs, numbers):
    found = easyfs("select", numbers, "--target", "nothing", "--verbose")
    assert found.returncode == 1
    assert "Traceback (most recent call last)" in found.stderr
    assert found.stderr.splitlines()[-1].startswith("easyfs: error: --target: ")


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("selct",), 2, "select"),
        (("select",), 2, "TABLE"),
        (("select", "numbers.csv"), 2, "Say --target COLUMN (the last column is 'y')"),
        (("select", "number.csv", "-t", "y"), 1, "did you mean 'numbers.csv'?"),
        (("inspect", "."), 1, "is a folder"),
        (("select", "*.parquet", "-t", "y"), 1, "no file matches '*.parquet': looked in '.', which has 'numbers.csv'"),
        (("select", "numbers.csv", "-", "-t", "y"), 2, "- is standard input"),
        (("select", "numbers.csv", "-t", "x"), 1, "has no column 'x'. Did you mean"),
        (("select", "numbers.csv", "-t", "y", "-k", "many"), 2, "-k 'many': give a count"),
        (("select", "numbers.csv", "-t", "y", "-k", "0"), 2, "-k '0': give a count"),
        (("select", "numbers.csv", "-t", "y", "-k", "99"), 1, "-k 99 is more than the 8 features"),
        (("select", "numbers.csv", "-t", "y", "-m", "mrmrr"), 2, "there is no method 'mrmrr'. Did you mean 'mrmr'?"),
        (("select", "numbers.csv", "-t", "y", "--set", "n_hiden=3"), 2, "Did you mean 'n_hidden'?"),
        (("select", "numbers.csv", "-t", "y", "--set", "n_hidden"), 2, "is not name=value"),
        (("select", "numbers.csv", "-t", "y", "--set", "random_state=1"), 2, "has an option of its own, --seed"),
        (("select", "numbers.csv", "-t", "y", "--set", "n_hidden=-3"), 1, "n_hidden=-3"),
        (("select", "numbers.csv", "-t", "y", "--include", "z*"), 1, "--include: there is no column 'z*'"),
        (("select", "numbers.csv", "-t", "y", "--include", "y"), 2, "'y' is the target"),
        (("select", "numbers.csv", "-t", "y", "--drop", "y"), 2, "--drop leaves out 'y'"),
        (("select", "numbers.csv", "-t", "y", "--include", "x1", "--exclude", "x1"), 1, "both include and exclude"),
        (("select", "numbers.csv", "-t", "y", "--task", "clustering"), 2, "--task 'clustering' is not known"),
        (("select", "numbers.csv", "-t", "y", "--task", "regression"), 1, "use --task classification"),
        (("select", "numbers.csv", "-t", "y", "--delimiter", ";"), 1, "say --delimiter comma"),
        (("select", "numbers.csv", "-t", "y", "--from", "parquet"), 1, "cannot be read as Parquet"),
        (("select", "numbers.csv", "-t", "y", "--decimal", ";"), 2, "--decimal"),
        (("select", "numbers.csv", "-t", "y", "-o", "x.xls"), 2, "no known ending"),
        (("select", "numbers.csv", "-t", "y", "-o", "no/x.csv"), 1, "there is no folder 'no'"),
        (("select", "numbers.csv", "-t", "y", "-o", "."), 2, "no known ending"),
        (("select", "numbers.csv", "-t", "y", "-o", "numbers.csv"), 1, "is the table that is read"),
        (("select", "numbers.csv", "-t", "y", "-o", "a.csv", "--columns", "./a.csv"), 2, "-o and --columns both write"),
        (("select", "numbers.csv", "-t", "y", "-o", "-", "--columns", "-"), 2, "both write to standard output"),
        (("select", "numbers.csv", "-t", "y", "--report", "r.pdf"), 2, "ends in none of"),
        (("select", "numbers.csv", "-t", "y", "--to", "csv"), 2, "--to is for the written table"),
        (("select", "numbers.csv", "-t", "y", "--unsupervised"), 2, "--unsupervised"),
        (
            ("select", "numbers.csv", "-t", "y", "--sample-weight", "wt"),
            1,
            "--sample-weight: 'numbers.csv' has no column 'wt'",
        ),
        (("compare", "numbers.csv", "-t", "y", "--sizes", "99"), 1, "99"),
        (("compare", "numbers.csv", "-t", "y", "--sizes", "auto"), 2, "--sizes has auto"),
        (("compare", "numbers.csv", "-t", "y", "--models", "svn"), 2, "there is no model 'svn'. Did you mean 'svm'?"),
        (("compare", "numbers.csv", "-t", "y", "--methods", "nope"), 2, "there is no method 'nope'"),
        (("compare", "numbers.csv", "-t", "y", "--metric", "acc", "--sizes", "2"), 1, "neither 'accuracy'"),
        (("compare", "numbers.csv", "-t", "y", "-o", "x.pdf"), 2, "ends in none of"),
        (("methods", "--task", "clustering"), 2, "--task 'clustering' is not known"),
        (("inspect", "numbers.csv", "-t", "z"), 1, "has no column 'z'"),
        (("report", "no.json"), 1, "there is no file 'no.json'"),
    ],
)
def test_what_is_wrong_is_said_on_one_line(command, numbers, args, code, message):
    before = sorted(path.name for path in numbers.parent.iterdir())
    found, out, err = command(*args)
    assert (found, out) == (code, "")
    assert message in one_line(err)
    assert sorted(path.name for path in numbers.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "content", "args", "message"),
    [
        ("latin.csv", b"a,y\n1,2\n\xe9,2\n", (), "for example --encoding latin-1 or --encoding cp1252."),
        ("what.dat", b"a,y\n1,2\n", (), "say --from csv (or another format)"),
        ("inside.csv", b'a,y\n5" pipe,2\n6" x,3\n', (), "or say --no-quotes if they are ordinary"),
        ("wrong.csv", b"a;b;y\n1;2;3\n", ("--delimiter", ","), "rather semicolon: say --delimiter semicolon."),
        ("long.csv", b"a,y\n1,2\n", ("--delimiter", ";;"), "--delimiter ;; is not one character"),
    ],
)
def test_files_are_spoken_of_in_options(command, tmp_path, name, content, args, message):
    (tmp_path / name).write_bytes(content)
    code, out, err = command("select", tmp_path / name, "-t", "y", *args)
    assert (code, out) == (1, "")
    assert message in one_line(err)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (
            "name",
            "the target has nearly as many classes as rows: 300 different values in 300 rows (for example 'Smith, Mr. 0')",
        ),
        ("name", "Check that this is the right column"),
        ("day", "the target holds dates or lengths of time; turn them into numbers, such as days since the first"),
    ],
)
def test_a_target_that_is_none_is_said_on_one_line(command, targets, target, message):
    others = {"price", "age", "separated", "comma", "name", "day"} - {target}
    code, out, err = command("select", targets, "-t", target, "--drop", ",".join(others))
    assert (code, out) == (1, "")
    assert message in one_line(err)


def test_a_failed_run_overwrites_nothing(command, numbers, tmp_path):
    (tmp_path / "a.csv").write_text("mine")
    (tmp_path / "b.npz").write_text("mine")
    text = pl.read_csv(numbers).with_columns(city=pl.when(pl.col("x2") > 0).then(pl.lit("Rome")).otherwise(pl.lit("Oslo")))
    text.write_csv(tmp_path / "text.csv")
    code, _, err = command("select", "text.csv", "-t", "y", "--include", "city", "--columns", "a.csv", "-o", "b.npz")
    assert code == 1
    assert "'city' is no number" in one_line(err)
    assert (tmp_path / "a.csv").read_text() == "mine"
    assert (tmp_path / "b.npz").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.npz", "numbers.csv", "text.csv"]


def test_targets_that_cannot_be_explained(command, numbers, tmp_path):
    table = pl.read_csv(numbers)
    table.with_columns(y=pl.lit("NA")).write_csv(tmp_path / "none.csv")
    assert "is missing in every row" in one_line(command("select", "none.csv", "-t", "y")[2])
    table.with_columns(y=pl.lit("a")).write_csv(tmp_path / "one.csv")
    code, _, err = command("select", "one.csv", "-t", "y")
    assert (code, "1 class only" in one_line(err)) == (1, True)
    table.select("y").write_csv(tmp_path / "alone.csv")
    assert "one column only" in one_line(command("select", "alone.csv", "-t", "y")[2])


def test_devices_are_written_to_and_links_followed(command, numbers, tmp_path):
    code, _, err = command("select", numbers, "-t", "y", "-k", 1, "-o", "/dev/null", "--to", "csv")
    assert code == 0, err
    assert not os.path.isfile("/dev/null")
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    assert command("select", numbers, "-t", "y", "-k", 1, "-o", "link.csv")[0] == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real.csv").read_text().startswith("x")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read(command, numbers):
    numbers.chmod(0)
    code, _, err = command("select", numbers, "-t", "y")
    assert code == 1
    assert "you may not read it" in one_line(err)


def test_without_the_packages_of_the_command_line(tmp_path):
    script = (
        "import sys, importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'typer' else find(name, *a)\n"
        "from easyfs.cli import main; main(['methods'])"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "pip install 'easyfs-ml[cli]'" in one_line(found.stderr)
    script = "import sys; sys.modules['polars'] = None\nfrom easyfs.cli import main; main(['select', 'a.csv', '-t', 'y'])"
    (tmp_path / "a.csv").write_text("a,y\n1,2\n")
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.returncode == 1
    assert "pip install 'easyfs-ml[cli]'" in one_line(found.stderr)


@pytest.mark.parametrize("asked", [["--stability", 5], ["--cv", "time"]])
def test_what_is_for_the_report_needs_one(command, numbers, asked):
    code, _, err = command("select", numbers, "-t", "y", "-k", 2, *asked)
    assert code == 2
    assert f"{asked[0]} is for the report; say --report FILE, too" in err
