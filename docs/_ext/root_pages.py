"""Pages that stand at the root of the repository, where GitHub looks for them, as pages of the site."""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

# Page of the site, and the file at the root.
PAGES = {
    "contributing": "CONTRIBUTING.md",
    "changes": "CHANGELOG.md",
    "security": "SECURITY.md",
    "conduct": "CODE_OF_CONDUCT.md",
}


def _link(found: re.Match[str]) -> str:
    """A link as seen from the root becomes one as seen from the pages."""
    here = {root: f"{page}.md" for page, root in PAGES.items()}
    target = found[1]
    return f"]({here.get(target, target.removeprefix('docs/'))})"


def _read(app: Sphinx, docname: str, content: list[str]) -> None:
    if docname in PAGES:
        path = Path(app.srcdir).parent / PAGES[docname]
        app.env.note_dependency(str(path), docname=docname)
        content[0] = re.sub(r"\]\(([^)\s]+)\)", _link, path.read_text(encoding="utf-8"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
