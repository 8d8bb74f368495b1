"""What is adjusted for, costs, sources and survival on the command line."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def sites(tmp_path):
    rng = np.random.default_rng(1)
    n = 300
    site = rng.integers(4, size=n)
    effect = np.array([3.0, -2.0, 0.0, 5.0])[site]
    X = pd.DataFrame(rng.standard_normal((n, 8)), columns=[f"g{j}" for j in range(8)])
    X[["g0", "g1", "g2"]] += effect[:, None]
    X["site"] = np.array(list("abcd"))[site]
    X["y"] = 2.0 * effect + X["g5"] + 0.6 * X["g6"] + 0.5 * X["g7"] + 0.5 * rng.standard_normal(n)
    happens, ends = rng.exponential(size=n) * np.exp(-X["g5"] - X["g6"]), rng.exponential(size=n) * 1.5
    X["died"], X["days"] = (happens <= ends) * 1, np.minimum(happens, ends)
    X.to_csv(tmp_path / "t.csv", index=False)
    (tmp_path / "cost.csv").write_text("column,cost\ng5,10\ng6,1\ny,3\n")
    (tmp_path / "cost.json").write_text('{"g5": 10}')
    return "t.csv"


PLAIN = ("-t", "y", "--drop", "died,days", "--adjust-for", "site", "--columns", "-", "-q")


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ((), {"g5", "g6", "g7"}),
        (("--cost", "cost.csv", "--budget", "3"), {"g6", "g7"}),
        (("--cost", "cost.json", "--budget", "3"), {"g6", "g7"}),
        (("--cost", "g5=10", "--budget", "3"), {"g6", "g7"}),
        (("--cost", "cost.csv", "--cost", "g[56]=1", "--budget", "2"), {"g5", "g6"}),
        (("--source", "lab=g5,g6", "--max-per-source", "1"), {"g5", "g7"}),
        (("--source", "lab=g5,g6", "--source", "rest=g7", "--max-per-source", "lab=2,rest=0"), {"g5", "g6"}),
    ],
)
def test_columns_are_chosen_within_what_was_asked(command, sites, asked, chosen):
    code, out, err = command("select", sites, *PLAIN, *asked)
    assert (code, err) == (0, "")
    assert set(out.split()) == chosen


def test_the_list_and_the_report_say_what_was_adjusted_for(command, sites, tmp_path):
    args = (*PLAIN[:-3], "--columns", "c.json", "--report", "r.json", "--stability", 2)
    code, _, _ = command("select", sites, *args)
    assert code == 0
    listed, report = (json.loads((tmp_path / name).read_text()) for name in ("c.json", "r.json"))
    assert listed["adjusted_for"] == report["adjusted"]["columns"] == ["site"]
    assert 0.8 < listed["adjusted_share"] < 1.0


def test_files_in_batches_are_adjusted_too(command, sites, tmp_path):
    table = pd.read_csv(tmp_path / sites)
    table[:150].to_csv(tmp_path / "a.csv", index=False)
    table[150:].to_csv(tmp_path / "b.csv", index=False)
    code, out, _ = command("select", "a.csv", "b.csv", *PLAIN)
    assert code == 0
    assert set(out.split()) == {"g5", "g6", "g7"}


def test_event_and_time_take_the_place_of_a_target(easyfs, sites, tmp_path):
    found = easyfs("select", sites, "--event", "died", "--time", "days", "--drop", "y,site", "-o", "o.csv")
    assert found.returncode == 0, found.stderr
    assert set(pd.read_csv(tmp_path / "o.csv").columns) == {"g5", "g6", "died", "days"}
    shown = easyfs("select", sites, "--event", "died", "--time", "days", "--drop", "y,site")
    assert "died, days: numbers from" in shown.stdout


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("-t", "y", "--adjust-for", "sitte"), 1, "--adjust-for: there is no column 'sitte'. Did you mean 'site'"),
        (("-t", "y", "--adjust-for", "site", "-m", "mrmr", "-k", "2"), 2, "mrmr does not take --adjust-for"),
        (("-t", "y", "--cost", "g5=-1"), 2, "'-1' is no cost; give a number above 0"),
        (("-t", "y", "--cost", "nofile.csv"), 2, "--cost 'nofile.csv' is neither column=value nor a file"),
        (("-t", "y", "--cost", "t.csv"), 1, "give lines of column,cost"),
        (("-t", "y", "--budget", "0.5"), 1, "--budget 0.5 pays for no column"),
        (("-t", "y", "--source", "lab"), 2, "--source 'lab' is not name=columns"),
        (("-t", "y", "--source", "a=g1", "--max-per-source", "many"), 2, "--max-per-source 'many': give a number"),
        (("-t", "y", "--max-per-source", "2"), 1, "needs sources"),
        (("-t", "y", "--set", "budget=3"), 2, "budget has an option of its own, --budget"),
        (("--event", "died"), 2, "--event and --time belong together"),
        (("--event", "died", "--time", "days", "-t", "y"), 2, "leave out --target"),
        (("--event", "days", "--time", "died"), 1, "event has the value"),
        (("--event", "dead", "--time", "days"), 1, "--event: 't.csv' has no column 'dead'"),
    ],
)
def test_what_was_asked_wrongly_is_said_on_one_line(command, sites, args, code, message):
    found, out, err = command("select", sites, *args)
    assert (found, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1
