"""One command for every figure: what is done is not done again, and older results of EasyFS can be made anew."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import all as module

    (tmp_path / "raw").mkdir()
    monkeypatch.setattr(module, "HERE", tmp_path)
    monkeypatch.setattr(module, "STATE", tmp_path / "state")
    monkeypatch.setattr(module, "STEPS_FILE", tmp_path / "state" / "steps.json")
    return module


def test_every_step_has_its_script_and_every_page_its_step(everything: ModuleType) -> None:
    named = " ".join(step.makes for step in everything.STEPS.values())
    for step in everything.STEPS.values():
        for command in step.commands:
            script = command.split()[0]
            assert (BENCHMARKS / script).exists() or step.name == "race", script
    for page in (BENCHMARKS.parent / "docs" / "results").glob("*.md"):
        assert page.name in named or page.name == "index.md", page.name


def test_a_step_is_run_once_for_each_code_and_a_failure_is_kept(
    everything: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.py").write_text("open('runs', 'a').write('x'); print('made')")
    (tmp_path / "bad.py").write_text("raise SystemExit(3)")
    steps = {name: everything.Step(name, (f"{name}.py",), "a page", "no time") for name in ("good", "bad")}
    monkeypatch.setattr(everything, "STEPS", steps)
    monkeypatch.chdir(tmp_path)

    def run(*options: str) -> int:
        monkeypatch.setattr(sys, "argv", ["all.py", *options])
        with pytest.raises(SystemExit) as end:
            everything.main()
        return int(end.value.code or 0)

    monkeypatch.setattr(everything, "code", lambda: "one")
    assert run("--only", "good") == 0
    assert run("--only", "good") == 0
    assert Path("runs").read_text() == "x"
    monkeypatch.setattr(everything, "code", lambda: "two")
    assert run("--keep-going") == 1
    assert Path("runs").read_text() == "xx"
    state = json.loads((tmp_path / "state" / "steps.json").read_text())
    assert (state["good"]["status"], state["good"]["code"], state["bad"]["status"]) == (0, "two", 3)
    assert "made" in (tmp_path / "state" / "good.log").read_text()
    assert "bad: failed" in capfd.readouterr().err


def test_fresh_sets_aside_what_easyfs_gave_and_nothing_else(everything: ModuleType, tmp_path: Path) -> None:
    rows = [
        {"kind": "data", "name": "t", "selectors": ["EasyFS", "RF"]},
        {"kind": "fit", "selector": "EasyFS #1"},
        {"kind": "fit", "selector": "RF"},
        {"kind": "score", "selector": "EasyFS"},
    ]
    file = tmp_path / "raw" / "t.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    step = everything.Step("t", ("t.py",), "", "", ("raw/*.jsonl",))
    assert everything.set_aside(step, tmp_path / "old") == 2
    assert [json.loads(line) for line in file.read_text().splitlines()] == [rows[0], rows[2]]
    moved = (tmp_path / "old" / "raw" / "t.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in moved] == [rows[1], rows[3]]
    assert everything.set_aside(step, tmp_path / "old") == 0


def test_a_data_set_is_made_from_a_commit_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS / "paper" / "data"))
    import rebuild

    clone = tmp_path / "owner+name"
    git = ["git", "-C", str(clone), "-c", "user.name=t", "-c", "user.email=t@t"]
    (clone / "data").mkdir(parents=True)
    table = np.arange(24).reshape(4, 6)
    np.savetxt(clone / "data" / "table.txt", table, fmt="%d")
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "data"]):
        subprocess.run([*git, *command], check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    about = {"repository": "owner/name", "commit": commit, "files": ["data/table.txt"], "maker": "coil2000", "types": {}}
    made = {"X": np.delete(table, 4, axis=1).astype(float), "y": table[:, 4].astype(float)}
    checksums = tmp_path / "checksums.json"
    checksums.write_text(json.dumps({"mine": rebuild.checksum(made)}))
    for name, value in (("CLONES", tmp_path), ("FOLDER", tmp_path / "out"), ("CHECKSUMS", checksums)):
        monkeypatch.setattr(rebuild, name, value)
    monkeypatch.setitem(rebuild.SOURCES, "mine", about)
    assert rebuild.one("mine", False) == ""
    with np.load(tmp_path / "out" / "mine.npz") as stored:
        assert np.array_equal(stored["y"], made["y"])
    checksums.write_text(json.dumps({"mine": rebuild.checksum(made | {"y": made["y"] + 1})}))
    assert "is not what was used" in rebuild.one("mine", False)
    assert rebuild.one("mine", True) == "y: the numbers are not those that were used"
    monkeypatch.setitem(rebuild.SOURCES, "mine", about | {"files": ["gone.txt"]})
    assert "OSError: git show" in rebuild.one("mine", True)
