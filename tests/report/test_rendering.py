"""The page and the Markdown as text: names stay names, numbers are those of the content."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfs.common.plain import text_of
from easyfs.report import Report, document
from easyfs.report.canvas import fitted, ticks
from easyfs.report.markdown import escaped, table
from easyfs.report.page import json_block
from easyfs.report.words import chance, count, listed, number, plain, shown

VOID = {"meta", "link", "input", "br"}
ATTRIBUTES = {"onload", "onerror", "onclick", "onmouseover", "src", "action", "srcdoc"}


class Reader(HTMLParser):
    """Collects elements, attributes and text, and sees that elements close."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.fixture(scope="module", params=["cancer", "hostile", "joint"])
def report(request: pytest.FixtureRequest) -> Report:
    found: Report = request.getfixturevalue(f"{request.param}_report")
    return found


def test_only_our_own_elements_and_scripts(report: Report) -> None:
    reader = read(report.to_html())
    tags = [tag for tag, _ in reader.seen]
    assert tags.count("script") == 2
    assert not {"img", "iframe", "object", "embed", "form", "base"} & set(tags)
    used = {name for _, attributes in reader.seen for name in attributes}
    assert not used & ATTRIBUTES
    links = [attributes["href"] for tag, attributes in reader.seen if tag in ("a", "link")]
    assert all(link is not None and (link.startswith("#") or link == "data:,") for link in links)


def test_the_policy_names_the_script_that_is_there(report: Report) -> None:
    reader = read(report.to_html())
    policy = next(a["content"] for t, a in reader.seen if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert "default-src 'none'" in policy
    data, script = reader.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    names = json.loads(data)
    assert set(names) >= {str(feature["column"]) for feature in report.content["features"]}


def test_links_lead_to_sections(report: Report) -> None:
    reader = read(report.to_html())
    ids = [attributes["id"] for _, attributes in reader.seen if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in reader.seen:
        if tag == "a":
            assert (attributes["href"] or "").removeprefix("#") in ids


@given(st.text(max_size=200))
@settings(max_examples=200)
def test_a_name_is_shown_on_one_line(name: str) -> None:
    text = shown(text_of(name))
    assert len(text.splitlines()) == 1
    assert text.isprintable() or " " in text or "\xa0" in text or any(ord(c) > 127 for c in text)
    assert not re.search("[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]", text)
    assert shown(text) == text or len(text) > 120


@given(st.text(max_size=100))
@settings(max_examples=200)
def test_json_inside_a_script_holds_no_markup(text: str) -> None:
    block = json_block({"name": text})
    assert json.loads(block) == {"name": text}
    assert not re.search("[<>&\u2028\u2029]", block)


@given(st.text(max_size=60))
@settings(max_examples=200)
def test_a_name_stays_in_its_cell_of_a_markdown_table(name: str) -> None:
    row = table(["a", "b"], [[escaped(text_of(name)), "1"]])[2]
    assert len(row.splitlines()) == 1
    bare = re.sub(r"\\.", "", row)
    assert bare.count("|") == 3
    assert not re.search(r"[<>`*_\[\]]", bare)


def test_markdown_has_the_same_content(report: Report) -> None:
    text = report.to_markdown()
    assert "\x00" not in text
    for heading in (
        "Chosen columns",
        "How many are enough",
        "What each stands in for",
        "Stability",
        "Next in line",
        "Set aside",
        "The data",
        "What was asked",
    ):
        assert f"\n## {heading}\n" in text
    content = report.content
    for feature in content["features"]:
        assert feature["adds"] is not None
        assert f"| {feature['place']} | {escaped(shown(feature['name']))} |" in text
        assert f"{feature['adds']:.1%}" in text
    for caution in content["warnings"]:
        assert escaped(caution["text"]) in text
    lines = text.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("| ---")]
    for start in starts:
        width = re.sub(r"\\.", "", lines[start - 1]).count("|")
        row = start
        while row < len(lines) and lines[row].startswith("|"):
            assert re.sub(r"\\.", "", lines[row]).count("|") == width
            row += 1


def test_the_page_has_the_numbers_of_the_content(cancer_report: Report) -> None:
    page = cancer_report.to_html()
    content = cancer_report.content
    for feature in content["features"]:
        for key in ("adds", "explained", "relevance", "redundancy"):
            value = feature[key]  # type: ignore[literal-required]
            assert f"{value:.1%}" in page
    assert content["summary"].replace("“", "").split(" to predict")[0] in page
    for runner in content["runners_up"]:
        assert runner["name"] in page


def test_text_of_the_other_direction_stands_apart(hostile_report: Report) -> None:
    page = hostile_report.to_html()
    assert '<bdi dir="auto">مساحة السطح</bdi>' in page
    assert "\u202e" not in page
    assert "to predict “<bdi>&lt;/script&gt;&lt;script&gt;window.__pwned = 4&lt;/script&gt;</bdi>”" in page


def test_the_paragraph_at_the_top(cancer_report: Report) -> None:
    text = cancer_report.content["summary"]
    assert text.startswith(
        "EasyFS chose 5 of 30 columns to predict “diagnosis” (2 classes), from 569 rows. Together they explain "
    )
    first = cancer_report.content["features"][0]
    assert f"“{first['name']}” alone explains {first['adds']:.1%}" in text
    assert "In cross-validation (linear SVM, 5 columns) accuracy is 0." in text


def test_inline_in_a_notebook_it_is_a_frame_of_its_own(report: Report) -> None:
    reader = read(report._repr_html_())
    (tag, attributes), *rest = reader.seen
    assert (tag, rest) == ("iframe", [])
    assert attributes["srcdoc"] == report.to_html()
    assert attributes["sandbox"] == "allow-scripts"


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_read_in_both_themes() -> None:
    style = (Path(document.__file__).parent / "templates" / "report.css").read_text(encoding="utf-8")
    themes = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block)) for block in re.findall(r"\{[^{}]*--paper: [^{}]*\}", style)
    ]
    assert len(themes) == 4  # light, dark of the system, dark by choice, print
    assert themes[1] == themes[2]
    for theme in themes:
        for ground in ("paper", "card"):
            for ink in ("ink", "muted", "accent", "serious", "caution", "note"):
                assert contrast(theme[ink], theme[ground]) >= 4.5
            for line in ("second", "grey"):
                assert contrast(theme[line], theme[ground]) >= 3
        assert contrast(theme["on-accent"], theme["accent"]) >= 4.5
        for text in ("ink", "muted"):
            assert contrast(theme[text], theme["lit"]) >= 4.5


def test_words() -> None:
    assert (count(1, "row"), count(2000, "row"), count(2, "class", "classes")) == ("1 row", "2,000 rows", "2 classes")
    assert listed(["a"]) == "“a”"
    assert listed(["a", "b", "c"]) == "“a”, “b” and “c”"
    assert listed([str(i) for i in range(8)]).endswith("“4” and 3 more")
    assert (plain(None), plain(1234.0), plain(0.123456), plain(-2.5e-9)) == ("—", "1,234", "0.1235", "-2.5e-09")
    assert (number(float("nan")), number(float("-inf")), number(1 / 3)) == (None, None, 0.3333333)
    assert (shown(""), shown("  "), shown("a\nb\tc"), shown("\u202ex")) == ("(no name)", "␣␣", "a↵b⇥c", "[U+202E]x")
    assert len(shown("y" * 500)) == 120
    found = [chance(p) for p in (None, 0.0, 0.00099, 0.001, 0.0199, 0.02, 0.0999, 0.1, 0.344, 1.0)]
    assert found == ["—", "< 0.001", "< 0.001", "0.001", "0.019", "0.020", "0.099", "0.10", "0.34", "1.00"]
    assert fitted("a long name", 40) == "a lo…"


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_are_round_and_inside(low: float, span: float) -> None:
    marks = ticks(low, low + span)
    assert len(marks) <= 6
    assert all(low - 1e-6 * span - 1e-9 <= mark <= low + span * (1 + 1e-6) + 1e-9 for mark in marks)
