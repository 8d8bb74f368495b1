"""Saving, reading again, and the schema."""

from __future__ import annotations

import copy
import json
import os
import stat
import tempfile
import typing
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS, make_selector
from easyfs.report import Report, build_report, document, summary
from easyfs.report.check import check_content, schema

Frame = tuple[pd.DataFrame, pd.Series]


@pytest.fixture(scope="module")
def reports(cancer_report: Report, hostile_report: Report, mixed: Frame) -> list[Report]:
    X, y = mixed
    with pytest.warns(UserWarning, match="set aside"):
        of_mixed = make_selector("pearson", 5).fit(X, y)
    with pytest.warns(UserWarning, match="set aside"):
        again = EasyFS(random_state=0).fit(X, y)
    blocks = EasyFS(3, random_state=0).partial_fit(X[["size", "rooms", "age"]], y)
    return [
        cancer_report,
        hostile_report,
        build_report(of_mixed),
        build_report(of_mixed, X, y, cv=2),
        build_report(again, X, y, stability=3),
        build_report(blocks),
        build_report(EasyFS(2, random_state=0).fit(np.random.default_rng(0).normal(size=(40, 5)))),
    ]


def test_reports_follow_the_schema(reports: list[Report]) -> None:
    rules = json.loads(Path(document.__file__).with_name("schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(rules)
    validator = jsonschema.Draft202012Validator(rules)
    for report in reports:
        assert list(validator.iter_errors(json.loads(report.to_json()))) == []
        assert check_content(report.to_dict()) == ""


def test_the_schema_has_all_fields_of_the_summary() -> None:
    rules = schema()
    assert rules["properties"]["schema_version"]["const"] == summary.SCHEMA_VERSION
    for name, part in {"Content": rules, **rules["$defs"]}.items():
        fields = typing.get_type_hints(getattr(summary, name))
        assert set(part["properties"]) == set(fields) == set(part["required"])
        assert part["additionalProperties"] is False
        assert all(field["description"] for field in part["properties"].values())


def broken(content: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Ways in which a file can be no report, with what is said of each."""

    def changed(**parts: Any) -> dict[str, Any]:
        return copy.deepcopy(content) | parts

    lacking = changed()
    del lacking["features"][2]["gain"]
    more = changed()
    more["asked"]["extra"] = 1
    text = changed()
    text["features"][0]["gain"] = "<script>"
    level = changed()
    level["warnings"] = [{"code": "leak", "level": "odd", "text": "", "columns": []}]
    truth = changed()
    truth["selected"]["count"] = True
    return [
        (lacking, "features[2] lacks 'gain'"),
        (more, "asked has 'extra', which is not known"),
        (text, "features[0].gain is of type str, not number or null"),
        (level, "warnings[0].level is 'odd', not one of serious, caution, note"),
        (truth, "selected.count is of type bool, not integer"),
        (changed(target=[]), "target is of type list, not object"),
    ]


def test_the_own_check_agrees_with_jsonschema(cancer_report: Report) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    for content, problem in broken(cancer_report.to_dict()):
        assert list(validator.iter_errors(content))
        assert check_content(content) == problem


def test_a_broken_file_is_refused_with_its_place(cancer_report: Report, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    for content, problem in broken(cancer_report.to_dict()):
        path.write_text(json.dumps(content))
        with pytest.raises(ValueError, match="is not a whole report") as caught:
            Report.load(path)
        assert problem in str(caught.value)
    path.write_text("{")
    with pytest.raises(ValueError, match="is no JSON"):
        Report.load(path)
    path.write_text("[1]")
    with pytest.raises(ValueError, match="is JSON, but not a report"):
        Report.load(path)
    path.write_text(json.dumps(cancer_report.to_dict() | {"schema_version": 99}))
    with pytest.raises(ValueError, match="schema_version 99"):
        Report.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is no JSON"):
        Report.load(path)
    with pytest.raises(FileNotFoundError, match="there is no report"):
        Report.load(tmp_path / "none.json")


def test_saved_and_read_again_is_the_same(reports: list[Report], tmp_path: Path) -> None:
    for i, report in enumerate(reports):
        path = report.save(tmp_path / f"{i}.json")
        again = Report.load(path)
        assert again.content == report.content
        assert again.to_html() == report.to_html()
        assert again.to_markdown() == report.to_markdown()
        assert again.save(tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_to_dict_is_the_callers_own(cancer_report: Report) -> None:
    taken = cancer_report.to_dict()
    taken["features"].clear()
    assert cancer_report.content["features"]


@pytest.mark.parametrize("name", ["a.html", "a.HTM", "a.json", "a.md", "a.markdown"])
def test_the_suffix_says_the_format(cancer_report: Report, tmp_path: Path, name: str) -> None:
    path = cancer_report.save(str(tmp_path / name))
    text = path.read_text(encoding="utf-8")
    start = {"h": "<!doctype html>", "j": "{", "m": "# "}[path.suffix[1].lower()]
    assert text.startswith(start)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a.pdf", "a", "html", ".html.txt"])
def test_other_suffixes_are_refused(cancer_report: Report, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"written as \.html, \.json or \.md"):
        cancer_report.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_left_alone_when_something_fails(
    cancer_report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("before")

    def fail(*_: Any) -> Any:
        raise RuntimeError("no ink")

    for where, name in ((document, "to_html"), (os, "replace"), (os, "fsync")):
        with monkeypatch.context() as patched:
            patched.setattr(where, name, fail)
            with pytest.raises(RuntimeError, match="no ink"):
                cancer_report.save(path)
        assert path.read_text() == "before"
        assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    cancer_report.save(path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_modes_of_files(cancer_report: Report, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    before = os.umask(0o027)
    try:
        cancer_report.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        cancer_report.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


def test_a_folder_that_cannot_be_written_is_named(
    cancer_report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        cancer_report.save(tmp_path / "none" / "a.html")
    (tmp_path / "b.html").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder"):
        cancer_report.save(tmp_path / "b.html")

    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    # As root may write everywhere, the refusal is played.
    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(PermissionError, match="cannot be written into"):
        cancer_report.save(tmp_path / "a.html")


def test_jinja_is_asked_for_by_name(cancer_report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"easyfs-ml\[report\]"):
        cancer_report.to_html()
    assert cancer_report.to_markdown()
    assert cancer_report.to_json()
