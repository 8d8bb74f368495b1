"""What GitHub runs can be read, and calls scripts, folders and extras that are there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")
EXTRAS = set(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"])


def steps(path: Path) -> list[dict[str, Any]]:
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return [step for job in jobs.values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_what_is_there(path: Path) -> None:
    assert steps(path)
    for step in steps(path):
        assert ("uses" in step) != ("run" in step)
        assert "uses" not in step or re.search(r"@(v\d+|release/v1)$", step["uses"])
        command = step.get("run", "")
        for name in re.findall(r"(?<![\w/])(?:\.ci|tests|docs)(?:/[\w.]+)*", command):
            assert (ROOT / name).exists(), name
        for extras in re.findall(r"\.\[([\w,]+)\]", command):
            assert set(extras.split(",")) <= EXTRAS


def test_each_push_runs_what_is_run_here() -> None:
    assert ".ci/run" in [step.get("run") for step in steps(ROOT / ".github" / "workflows" / "ci.yml")]


def test_a_release_keeps_no_password() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "id-token: write" in text
    assert "secrets." not in text
    assert "password" not in text.replace("no password is", "")


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_asks_something(path: Path) -> None:
    form = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= set(form)
    assert all(field["attributes"]["label"] for field in form["body"])
