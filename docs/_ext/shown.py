"""Python that runs while the site is built: ``{shown}`` with what it prints, ``{drawn}`` with the figure of a script.

All ``{shown}`` blocks of a page share their names, as in one session. Code that fails, fails the build.
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import tempfile
import warnings
from pathlib import Path
from typing import Any, ClassVar

import matplotlib.pyplot as plt
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import easyfs

NAMES = "easyfs_shown"


class Shown(SphinxDirective):
    """Code, and what it prints; ``:hide-code:`` shows the second alone."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"hide-code": directives.flag}

    def run(self) -> list[nodes.Node]:
        code = "\n".join(self.content)
        names = self.env.temp_data.setdefault(NAMES, {"__name__": "__main__"})
        printed = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            before = os.getcwd()
            os.chdir(folder)
            try:
                exec(compile(code, self.env.docname, "exec"), names)
            except Exception as error:
                raise self.error(f"the code of this page fails: {error!r}") from error
            finally:
                os.chdir(before)
        blocks = [] if "hide-code" in self.options else [nodes.literal_block(code, code, language="python")]
        if printed.getvalue():
            text = printed.getvalue().rstrip()
            blocks.append(nodes.literal_block(text, text, language="text", classes=["printed"]))
        return blocks


class Drawn(SphinxDirective):
    """The figure that a script of docs/figures leaves open, as SVG."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        script = Path(self.env.srcdir) / "figures" / self.arguments[0]
        picture = Path(self.env.srcdir) / "drawn" / f"{script.stem}.svg"
        self.env.note_dependency(str(script))
        if not picture.exists() or picture.stat().st_mtime < max(script.stat().st_mtime, _library_changed()):
            picture.parent.mkdir(exist_ok=True)
            try:
                runpy.run_path(str(script))
            except Exception as error:
                raise self.error(f"{script.name} fails: {error!r}") from error
            plt.savefig(picture, metadata={"Date": None})
            plt.close("all")
        image = nodes.image(uri=f"/drawn/{picture.name}", alt=self.options["alt"])
        return [nodes.figure("", image)]


def _library_changed() -> float:
    """When a file of the library was last changed."""
    return max(path.stat().st_mtime for path in Path(easyfs.__file__).parent.rglob("*.py"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("shown", Shown)
    app.add_directive("drawn", Drawn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
