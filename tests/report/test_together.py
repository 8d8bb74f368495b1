"""Chance and joint effects: in the JSON, on the page and in the Markdown."""

from __future__ import annotations

import json
import re
import warnings
from html import unescape
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS, EasyFSRanking, make_selector
from easyfs.report import Report, build_report
from easyfs.report.check import check_content, schema

Frame = tuple[pd.DataFrame, pd.Series]
NONE_FOUND = "No columns were found that matter only together, or in a curve."


def section(page: str, name: str) -> str:
    """The text of a section of the page, its rows and items on lines."""
    inside = page.split(f'<section id="{name}"', 1)[1].split(">", 1)[1].split("</section>", 1)[0]
    lines = re.split(r"</(?:tr|thead|li|p|h2|div)>", inside)
    return "\n".join(" ".join(unescape(re.sub(r"<[^>]*>", " ", line)).split()) for line in lines)


def check_schema(report: Report) -> None:
    assert list(jsonschema.Draft202012Validator(schema()).iter_errors(json.loads(report.to_json()))) == []
    assert check_content(report.to_dict()) == ""


def test_p_values_are_those_of_the_selector(joint: Frame) -> None:
    selector = EasyFS(7, random_state=0).fit(*joint)
    report = build_report(selector)
    check_schema(report)
    features = report.content["features"]
    assert selector.p_values_ is not None
    assert selector.beyond_chance_ is not None
    assert [f["p_value"] for f in features] == pytest.approx(selector.p_values_, rel=1e-6)
    assert [f["beyond_chance"] for f in features] == selector.beyond_chance_.tolist()
    assert report.content["enough"]["chance_after"] == 4
    assert report.content["interactions"] == [
        {
            "columns": list(found.columns),
            "share": pytest.approx(found.share, abs=1e-6),
            "p_value": pytest.approx(found.p_value, rel=1e-6),
        }
        for found in selector.interactions_
    ]
    assert [set(found["columns"]) for found in report.content["interactions"] or ()] == [{"x3", "x7"}, {"x2"}]


def test_the_page_as_text(joint_report: Report) -> None:
    page = joint_report.to_html()
    lines = section(page, "chosen").splitlines()
    assert "from 0.02 on a column explains no more than chance" in section(page, "chosen")
    head = next(line for line in lines if line.startswith("#"))
    assert head == "# column kind adds so far chance by itself overlap missing"
    rows = [line for line in lines if re.match(r"\d|From", line)]
    assert [row.split()[0] for row in rows] == ["1", "2", "3", "4", "From", "5", "6", "7"]
    assert rows[4] == "From here on: no more than chance"
    for place, row in enumerate(rows):
        assert ("no more than chance" in row) == (place >= 4)
        assert ("< 0.001" in row) == (place < 4)
    assert page.count('class="by-chance"') == 3
    assert 'colspan="9"' in page
    together = section(page, "together").splitlines()
    assert together[:2] == ["Together", together[1]]
    assert together[1].startswith("These columns explain the target together, or in a curve")
    assert re.fullmatch(r"x3 with x7 : \d\d% of the target chance < 0.001", together[2])
    assert re.fullmatch(r"x2 in a curve: \d\d% of the target chance < 0.001", together[3])
    assert page.index('id="chosen"') < page.index('id="together"') < page.index('id="enough"')
    assert "After the first 4, no chosen column explains more of the target" in section(page, "enough")
    assert NONE_FOUND not in page


def test_the_markdown_says_the_same(joint_report: Report) -> None:
    text = joint_report.to_markdown()
    rows = [line for line in text.split("## Chosen columns")[1].split("##")[0].splitlines() if re.match(r"\| \d", line)]
    assert ["(no more than chance)" in row for row in rows] == [False] * 4 + [True] * 3
    assert all("&lt; 0.001" in row for row in rows[:4])
    together = text.split("## Together")[1].split("##")[0]
    assert re.search(r"^- x3 with x7: \d\d% of the target \(chance &lt; 0.001\)$", together, re.MULTILINE)
    assert re.search(r"^- x2 in a curve: \d\d% of the target", together, re.MULTILINE)
    assert "After the first 4, no chosen column explains more of the target" in text


def test_nothing_found_is_one_line_and_not_looked_for_is_none(joint: Frame) -> None:
    X, y = joint
    looked = build_report(EasyFS(2, random_state=0).fit(X, X["x1"] + 0.5 * X["x4"] + 0.1 * np.sin(1e4 * X["x5"])))
    assert looked.content["interactions"] == []
    for text in (looked.to_html(), looked.to_markdown()):
        assert NONE_FOUND in text
        assert "These columns explain the target together" not in text
    assert 'href="#together"' not in looked.to_html()
    for selector in (
        EasyFS(2, random_state=0, interactions=False).fit(X, y),
        EasyFSRanking(2, random_state=0).fit(X, y),
        EasyFS(2, random_state=0).fit(X),
        make_selector("mrmr", 2).fit(X, y),
    ):
        report = build_report(selector)
        check_schema(report)
        assert report.content["interactions"] is None
        assert NONE_FOUND not in report.to_html() + report.to_markdown()


@pytest.mark.parametrize("name", ["mrmr", "without a target"])
def test_methods_that_do_not_measure_chance_have_no_such_column(joint: Frame, name: str) -> None:
    X, y = joint
    report = build_report(make_selector("mrmr", 3).fit(X, y) if name == "mrmr" else EasyFS(3, random_state=0).fit(X))
    check_schema(report)
    assert all(f["p_value"] is None and f["beyond_chance"] is None for f in report.content["features"])
    assert report.content["enough"]["chance_after"] is None
    page = report.to_html()
    assert 'class="n">chance</th>' not in page
    assert "no more than chance" not in page + report.to_markdown()
    assert "| chance |" not in report.to_markdown()


def test_columns_that_are_taken_beyond_the_search_are_not_known(joint: Frame) -> None:
    report = build_report(EasyFS(random_state=0).fit(*joint).truncate(6))
    check_schema(report)
    assert [f["beyond_chance"] for f in report.content["features"]] == [True] * 4 + [None] * 2
    assert not {"only_chance", "beyond_chance"} & {w["code"] for w in report.content["warnings"]}
    page = report.to_html()
    assert 'class="divide"' not in page
    assert "\n5 x" in section(page, "chosen")
    assert "—" in section(page, "chosen").split("\n5 x")[1]


def test_a_partner_that_is_not_chosen_is_said(joint: Frame) -> None:
    X, y = joint
    report = build_report(EasyFS(3, random_state=0, exclude=["x1"]).fit(X, y).truncate(1))
    missing = {"x2", "x3", "x7"} - set(report.content["selected"]["names"])
    assert section(report.to_html(), "together").count("not chosen") == len(missing) == 2
    assert report.to_markdown().count("(not chosen)") == 2


def test_columns_of_a_table_have_their_own_names() -> None:
    rng = np.random.default_rng(0)
    size, city = rng.normal(size=500), rng.choice(["Rome", "Oslo", "Bern"], 500)
    X = pd.DataFrame({"size": size, "city": city, "other": rng.normal(size=500), "more": rng.normal(size=500)})
    selector = EasyFS(4, random_state=0).fit(X, np.where(city == "Rome", size, -size) + 0.2 * rng.normal(size=500))
    report = build_report(selector)
    check_schema(report)
    (found,) = report.content["interactions"] or ()
    assert set(found["columns"]) == {"size", "city"}
    assert found["share"] == pytest.approx(sum(each.share for each in selector.interactions_), abs=1e-5)
    told = {f["name"]: f["beyond_chance"] for f in report.content["features"]}
    assert told == {"size": True, "city": True, "other": False, "more": False}


def test_hostile_names_that_matter_together(joint: Frame) -> None:
    X, y = joint
    names: dict[str, Any] = {"x3": "<script>alert(1)</script>", "x7": "a|b*c*", "x2": "two\nlines\u202e"}
    report = build_report(EasyFS(7, random_state=0).fit(X.rename(columns=names), y))
    check_schema(report)
    found = {name for entry in report.content["interactions"] or () for name in entry["columns"]}
    assert found == set(names.values())
    page, text = report.to_html(), report.to_markdown()
    assert "alert(1)" in section(page, "together")
    assert "<script>alert" not in page + text
    assert "two↵lines[U+202E]" in section(page, "together")
    assert "a\\|b\\*c\\*" in text.split("## Together")[1].split("##")[0]


def test_blocks_of_rows(joint: Frame) -> None:
    X, y = joint
    selector = EasyFS(7, random_state=0).partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        report = build_report(selector)
    check_schema(report)
    assert all(f["p_value"] is not None for f in report.content["features"])
