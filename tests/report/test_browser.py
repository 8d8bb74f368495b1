"""The page in a real Chromium: no error, no request, and all that moves does move."""

from __future__ import annotations

import io
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from PIL import Image

from easyfs import make_selector
from easyfs.report import Report, build_report

VISIBLE = ".wide"


def column(page: Any, place: int, table: str = "features") -> list[str]:
    """Texts of a column of a table, as they stand."""
    found: list[str] = page.eval_on_selector_all(
        f"#{table} tbody tr:not([hidden])", f"rows => rows.map(row => row.cells[{place}].innerText.trim())"
    )
    return found


def test_the_page_loads_without_an_error_or_a_request(opened: Any, cancer_report: Report) -> None:
    found = opened(cancer_report)
    found.page.wait_for_timeout(200)
    assert found.problems == []
    assert [url for url in found.requests if not url.startswith("data:")] == [found.page.url]
    assert found.page.title() == "The columns that matter for diagnosis"


def test_the_policy_forbids_the_network_and_other_scripts(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report).page
    outcome = page.evaluate(
        """async () => {
            const script = document.createElement("script");
            script.textContent = "window.__pwned = 1";
            document.body.append(script);
            const answer = await fetch("https://example.org/").then(() => "reached", () => "refused");
            return [answer, window.__pwned === undefined];
        }"""
    )
    assert outcome == ["refused", True]


def test_a_click_on_a_header_sorts(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report).page
    before = column(page, 1)
    page.click("#features th >> text=column")
    assert column(page, 1) == sorted(before)
    header = page.locator("#features thead th").nth(1)
    assert header.get_attribute("aria-sort") == "ascending"
    page.click("#features th >> text=column")
    assert column(page, 1) == sorted(before, reverse=True)
    assert header.get_attribute("aria-sort") == "descending"


def test_numbers_sort_by_value_from_the_keyboard(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report).page
    page.locator("#features thead th button", has_text="overlap").focus()
    page.keyboard.press("Enter")
    values = [float(text.rstrip("%")) for text in column(page, 7)]
    assert values == sorted(values, reverse=True)
    page.keyboard.press("Space")
    values = [float(text.rstrip("%")) for text in column(page, 7)]
    assert values == sorted(values)
    assert page.locator("#features th[aria-sort]").count() == 1


def test_the_line_where_chance_begins_has_its_place_in_the_order_of_choice_only(opened: Any, joint_report: Report) -> None:
    page = opened(joint_report).page
    line = page.locator("#features tr.divide")
    before = page.eval_on_selector_all("#features tbody tr", "rows => rows.map(row => row.innerText)")
    assert line.count() == 1
    page.click("#features th >> text=chance")
    assert line.count() == 0
    page.click("#features th >> text=#")
    assert page.eval_on_selector_all("#features tbody tr", "rows => rows.map(row => row.innerText)") == before
    page.fill("#search-features", "numeric")
    assert not line.is_visible()
    assert page.inner_text("output[for=search-features]") == "7 of 7"
    page.fill("#search-features", "")
    assert line.is_visible()


def test_search_filters_and_counts(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report).page
    page.fill("#search-features", "WORST tex")
    assert column(page, 1) == ["worst texture"]
    assert page.inner_text("output[for=search-features]") == "1 of 5"
    page.fill("#search-features", "no such column")
    assert column(page, 1) == []
    page.fill("#search-features", "")
    assert len(column(page, 1)) == 5
    assert page.inner_text("output[for=search-features]") == ""


def test_sorting_keeps_what_the_search_has_hidden(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report).page
    page.fill("#search-runners-up", "mean")
    shown = column(page, 0, "runners-up")
    page.click("#runners-up th >> text=column")
    assert column(page, 0, "runners-up") == sorted(shown)
    assert all("mean" in name for name in shown)


def test_a_column_lights_up_in_table_curve_and_map(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report).page
    feature = cancer_report.content["features"][2]
    page.hover(f"{VISIBLE} rect.bar[data-f='{feature['column']}'] >> nth=0")
    lit = page.eval_on_selector_all(".lit", "elements => elements.map(e => e.tagName.toLowerCase())")
    assert {"tr", "rect", "circle", "text"} <= set(lit)
    assert page.locator(f"#features tr.lit[data-f='{feature['column']}']").count() == 1
    assert page.locator("#figure-overlap .wide .lit").count() > 0
    assert page.inner_text("#tip") == f"{feature['name']}: adds {feature['adds']:.1%}"
    page.hover("h1")
    assert page.locator(".lit").count() == 0
    assert page.locator("#tip").is_hidden()


def test_a_cell_of_the_map_says_what_it_shows(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report).page
    overlap = cancer_report.content["overlap"]
    assert overlap is not None
    by, of = overlap["chosen"][1], overlap["columns"][0]
    page.hover(f"{VISIBLE} [data-says^='{by['column']},{of['column']},']")
    assert page.inner_text("#tip") == f"{by['name']} explains {overlap['shares'][0][1]:.1%} of {of['name']}"
    assert page.locator("#features tr.lit").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_until_it_is_chosen(opened: Any, cancer_report: Report, scheme: str) -> None:
    page = opened(cancer_report, color_scheme=scheme).page
    paper = "getComputedStyle(document.body).backgroundColor"
    light, dark = "rgb(251, 250, 246)", "rgb(20, 23, 26)"
    first, second = (light, dark) if scheme == "light" else (dark, light)
    assert page.evaluate(paper) == first
    page.click("#theme")
    assert page.evaluate(paper) == second
    page.click("#theme")
    assert page.evaluate(paper) == first
    assert page.inner_text("#theme") == ("Dark" if scheme == "light" else "Light")


def test_all_can_be_read_without_scripts(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report, java_script_enabled=False).page
    for feature in cancer_report.content["features"]:
        assert page.locator("#features th[scope=row]", has_text=feature["name"]).first.is_visible()
    for figure in ("gains", "scores", "overlap", "stability", "target"):
        assert page.locator(f"#figure-{figure} .wide svg").is_visible()
    for section in ("chosen", "enough", "stands-for", "stability", "next", "aside", "data", "asked"):
        assert page.locator(f"#{section} h2").is_visible()
    # What only scripts can do is not offered.
    assert page.locator("#theme").is_hidden()
    assert page.locator(".search").first.is_hidden()


@pytest.mark.parametrize("scripts", [True, False])
def test_hostile_names_are_shown_and_never_run(opened: Any, hostile_report: Report, scripts: bool) -> None:
    found = opened(hostile_report, java_script_enabled=scripts)
    page = found.page
    assert found.problems == []
    shown = page.locator("#features th[scope=row]").all_inner_texts()
    names = [feature["name"] for feature in hostile_report.content["features"]]
    assert any("<script>window.__pwned = 1</script>" in text for text in shown)
    assert any("two↵lines␍⇥and a tab" in text for text in shown) == any("\n" in name for name in names)
    if not scripts:
        return
    for element in page.locator("#features tbody tr, .wide [data-f]").all()[:40]:
        element.dispatch_event("pointerover")
    page.fill("#search-features", "<script>")
    assert page.inner_text("output[for=search-features]").startswith("2 of")
    page.click("#features th >> text=column")
    page.wait_for_timeout(100)
    assert page.evaluate("window.__pwned === undefined")
    assert page.locator("main script, main img, main [onload], main [onmouseover]").count() == 0
    assert found.problems == []
    assert [url for url in found.requests if not url.startswith("data:")] == [page.url]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1200])
def test_screenshots_show_a_page_that_fits(
    opened: Any, cancer_report: Report, tmp_path: Any, width: int, scheme: str
) -> None:
    page = opened(cancer_report, width, color_scheme=scheme).page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    path = tmp_path / f"report-{width}-{scheme}.png"
    page.screenshot(path=path, full_page=True)
    pixels = np.asarray(Image.open(io.BytesIO(path.read_bytes())).convert("L"), dtype=float)
    assert pixels.shape[1] == width
    assert pixels.std() > 10
    # No part of the page is blank for a whole screen.
    assert min(part.std() for part in np.array_split(pixels, max(1, len(pixels) // 900))) > 3


@pytest.mark.parametrize("width", [400, 700, 1039, 1200])
def test_long_and_strange_names_do_not_widen_the_page(opened: Any, hostile_report: Report, width: int) -> None:
    page = opened(hostile_report, width).page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_text_stays_inside_figures(opened: Any, cancer_report: Report) -> None:
    for width, variant in ((1200, "wide"), (400, "narrow")):
        page = opened(cancer_report, width).page
        outside = page.eval_on_selector_all(
            f".{variant} svg text",
            """texts => texts.filter(text => {
                const box = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
                return box.left < all.left - 3 || box.right > all.right + 3;
            }).map(text => text.textContent)""",
        )
        assert outside == []


def test_print_is_light_and_whole(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report, color_scheme="dark").page
    page.click("#theme")
    page.click("#theme")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("nav").is_hidden()
    assert page.locator("#theme").is_hidden()
    inside = page.eval_on_selector(".scroll.tall", "box => [box.scrollHeight, box.clientHeight]")
    assert inside[0] <= inside[1] + 1
    assert page.pdf().startswith(b"%PDF")


def test_headings_are_in_order_and_figures_are_described(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report).page
    levels = page.eval_on_selector_all("h1, h2, h3, h4", "all => all.map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.get_attribute("html", "lang") == "en"
    described = page.eval_on_selector_all(
        "svg", "all => all.map(s => [s.getAttribute('role'), s.getAttribute('aria-label')])"
    )
    assert described
    assert all(role == "img" and label for role, label in described)
    assert page.eval_on_selector_all("[id]", "all => all.length === new Set(all.map(e => e.id)).size")


def test_inside_a_notebook_styles_stay_in_and_links_work(browser: Any, tmp_path: Any, cancer_report: Report) -> None:
    host = tmp_path / "notebook.html"
    host.write_text(f"<!doctype html><p id=outside>notebook</p>{cancer_report._repr_html_()}", encoding="utf-8")
    page = browser.new_page()
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto(host.as_uri())
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "The columns that matter for diagnosis"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgba(0, 0, 0, 0)"
    assert page.eval_on_selector("iframe", "f => f.clientHeight") >= 500
    if frame.locator("nav a[href='#data']").is_visible():
        frame.locator("nav a[href='#data']").click()
    page.wait_for_timeout(100)
    assert frame.locator("h1").inner_text() == "The columns that matter for diagnosis"
    frame.locator("#theme").click()
    assert problems == []
    page.close()


def test_a_picture_is_enlarged_by_a_click_or_a_key(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report).page
    first = page.locator(".picture button").first
    small = first.locator("svg").bounding_box()
    first.click()
    large = page.locator("#large svg")
    assert large.is_visible()
    assert large.bounding_box()["width"] > 2 * small["width"]
    assert page.inner_text("#large p").endswith(cancer_report.content["features"][0]["name"])
    page.keyboard.press("Escape")
    assert not large.is_visible()
    first.focus()
    page.keyboard.press("Enter")
    assert large.is_visible()
    page.click("#large > button")
    assert not large.is_visible()


def test_pictures_are_there_without_scripts_and_fit_a_phone(opened: Any, cancer_report: Report) -> None:
    page = opened(cancer_report, 400, java_script_enabled=False).page
    assert page.locator(".picture svg").count() >= 5
    assert page.locator(".picture svg").first.is_visible()
    assert page.locator("#copy").is_hidden()
    assert page.locator(".script-only").is_hidden()


def test_the_list_of_columns_is_copied(opened: Any, hostile_report: Report) -> None:
    found = opened(hostile_report, permissions=["clipboard-read", "clipboard-write"])
    found.page.click("#copy")
    found.page.wait_for_function("document.getElementById('copied').textContent !== ''")
    names = hostile_report.content["selected"]["names"]
    assert found.page.inner_text("#copied") == f"{len(names)} copied"
    copied = found.page.evaluate("navigator.clipboard.readText()")
    assert copied.replace("\x00", "") == "\n".join(names).replace("\x00", "")
    assert found.problems == []


def test_a_long_table_of_chosen_columns_scrolls(opened: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 60))
    page = opened(build_report(make_selector("pearson", 40).fit(X, X[:, 0]), X, X[:, 0])).page
    inside = page.eval_on_selector(".scroll:has(#features)", "box => [box.scrollHeight, box.clientHeight]")
    assert inside[0] > inside[1] + 100
    assert page.locator(".picture").count() == 40
