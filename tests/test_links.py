"""Links of the pages lead somewhere, and every page is in a list of the site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# What the site's build makes in the source folder, and what is no page.
MADE = {"gallery", "drawn", "_ext", "_static", "_templates", "figures"}
PAGES = sorted([*ROOT.glob("*.md"), *(path for path in DOCS.rglob("*.md") if not MADE & set(path.relative_to(DOCS).parts))])
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")


def text_of(page: Path) -> str:
    """A page without its code."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^(`{3,}|:{3,}).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page: Path) -> set[str]:
    """Anchors of the headings, as GitHub and the site make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def links() -> list[tuple[Path, str]]:
    found = [(page, link) for page in PAGES for link in LINK.findall(text_of(page))]
    return [(page, link) for page, link in found if not link.startswith(("http:", "https:", "mailto:"))]


def test_there_are_links() -> None:
    assert len(links()) > 100


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    for where, link in links():
        if where != page:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if target.is_relative_to(DOCS / "gallery"):  # made from the examples
            target = ROOT / "examples" / target.name.replace("index.rst", "GALLERY_HEADER.rst").replace(".rst", ".py")
            target = ROOT / "examples" if "GALLERY_HEADER" in target.name else target
        if not target.exists() or (anchor and anchor not in anchors(target)):
            dead.append(link)
    assert dead == []


def test_an_anchor_that_is_not_there_would_be_found() -> None:
    assert "every-constant" in anchors(DOCS / "method.md")
    assert "no-such-heading" not in anchors(DOCS / "method.md")


def test_every_page_is_in_a_list_of_the_site() -> None:
    listed: set[Path] = {DOCS / "index.md"}
    for page in PAGES:
        for block in re.findall(
            r"^```\{toctree\}(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
        ):
            names = [line.split("<")[-1].strip("> ") for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {path.resolve() for name in names for path in page.parent.glob(f"{name}.md")}
    lost = [str(page.relative_to(ROOT)) for page in PAGES if page.is_relative_to(DOCS) and page not in listed]
    assert lost == [], "name these pages in a toctree, such as that of docs/guides.md"
