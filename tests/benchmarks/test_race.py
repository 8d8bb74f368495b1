"""The race against other libraries: a tiny one, with a method that fails and one that never ends, and its page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RACE = Path(__file__).resolve().parents[2] / "benchmarks" / "race"
METHODS = ("EasyFS, screens off", "sklearn F test", "random", "failing", "endless")


def run(script: str, *options: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(RACE.parents[1] / "src")}
    command = [sys.executable, str(RACE / script), *options]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=240)


def read(path: Path) -> dict[str, dict[str, Any]]:
    return {row["method"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


@pytest.fixture(scope="module")
def raced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    raw = tmp_path_factory.mktemp("race") / "rows.jsonl"
    # The limit holds for the stages of good methods too: the import of one is given time, the endless one alone less.
    few = ["--inputs", "tiny", "--threads", "1", "--raw", str(raw)]
    for methods, limit in ((METHODS[:-1], "60"), (METHODS[-1:], "4")):
        done = run("race.py", *few, "--methods", ";".join(methods), "--limit", limit)
        assert done.returncode == 0, done.stderr
        assert "OMP_NUM_THREADS=1" in done.stdout
    return raw


def test_every_cell_has_its_row(raced: Path) -> None:
    rows = read(raced)
    assert {name: row["status"] for name, row in rows.items()} == {
        "EasyFS, screens off": "ok",
        "sklearn F test": "ok",
        "random": "ok",
        "failing": "failed",
        "endless": "overrun",
    }
    assert rows["failing"]["reason"] == "ValueError: this method fails on 12 columns"
    assert rows["endless"]["reason"] == "fit over 4 s"
    for name in METHODS[:3]:
        row = rows[name]
        assert (row["shape"], row["k"], row["threads"], row["dtype"]) == ([80, 12], 3, 1, "float64")
        assert len(row["warm"]) == 5
        assert row["cold_s"] > 0
        assert row["peak_mb"] > row["added_mb"] >= 0
        assert [one["round"] for one in row["rounds"]] == [0, 1]
        for one in row["rounds"]:
            assert len(set(one["columns"])) == 3
            assert 0 <= one["recall"] <= 1
            assert 0 < one["linear"] <= 1
            assert 0 < one["boosting"] <= 1


def test_a_rerun_does_only_what_is_missing(raced: Path) -> None:
    before = raced.read_bytes()
    done = run("race.py", "--inputs", "tiny", "--methods", ";".join(METHODS), "--threads", "1", "--raw", str(raced))
    assert done.returncode == 0, done.stderr
    assert raced.read_bytes() == before


def test_the_page_is_made_from_the_rows_and_is_the_same_each_time(raced: Path, tmp_path: Path) -> None:
    for folder in ("one", "two"):
        done = run("page.py", "--raw", str(raced), "--out", str(tmp_path / folder))
        assert done.returncode == 0, done.stderr
    for name in ("race.md", "race.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    page = (tmp_path / "one" / "race.md").read_text(encoding="utf-8")
    for part in ("failing: failed, ValueError", "endless: overrun, fit over 4 s", "EasyFS has no result (not run)"):
        assert part in page
    assert "EasyFS, screens off" in (tmp_path / "one" / "race.svg").read_text(encoding="utf-8")


def test_names_that_are_not_there_are_refused(tmp_path: Path) -> None:
    done = run("race.py", "--inputs", "tiny", "--methods", "EasyFSS", "--raw", str(tmp_path / "rows.jsonl"))
    assert done.returncode == 2
    assert "there is no 'EasyFSS'; the names are EasyFS; " in done.stderr
    done = run("race.py", "--inputs", "tiny", "--methods", "random", "--venvs", str(tmp_path))
    assert done.returncode == 2
    assert "there is no environment 'general'" in done.stderr


def test_who_is_faster_and_as_good_is_told(tmp_path: Path) -> None:
    """Of three methods one is faster and as good, one faster and worse, one slower and better."""
    raw = tmp_path / "rows.jsonl"
    told = {
        "EasyFS": (1.0, [0.80, 0.82, 0.81]),
        "mrmrs": (0.1, [0.81, 0.80, 0.81]),
        "sklearn F test": (0.01, [0.60, 0.62, 0.60]),
        "XGBoost": (2.0, [0.90, 0.91, 0.91]),
    }
    with raw.open("w", encoding="utf-8") as stream:
        for method, (seconds, scores) in told.items():
            rounds = [{"round": r, "seconds": seconds, "columns": [0], "linear": s} for r, s in enumerate(scores)]
            row = {"input": "2,000 x 200", "method": method, "threads": 2, "limit": 9.0, "machine": "2 cores", "k": 10}
            row |= {"shape": [2000, 200], "status": "ok", "reason": "", "version": "1", "cold_s": seconds}
            stream.write(json.dumps({**row, "warm": [seconds], "rounds": rounds}) + "\n")
    done = run("page.py", "--raw", str(raw), "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "race.md").read_text(encoding="utf-8")
    assert "faster and better: none; faster and as good: mrmrs 0.807 in 0.1 s (ahead in 1, behind in 1 of 3); " in page
    assert "; slower and better: XGBoost 0.907 in 2 s (ahead in 0, behind in 3 of 3)." in page
    assert "| 2,000 x 200 | mrmrs | 0.1 s | — | 10.0 |" in page
