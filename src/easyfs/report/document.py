"""A report that can be shown, saved and read again."""

from __future__ import annotations

import copy
import html
import json
import os
from pathlib import Path
from typing import Any

from easyfs.files.whole import write_whole
from easyfs.report.check import check_content
from easyfs.report.markdown import to_markdown
from easyfs.report.page import to_html
from easyfs.report.prose import count_warnings
from easyfs.report.summary import SCHEMA, SCHEMA_VERSION, Content

FORMATS = (".html", ".htm", ".json", ".md", ".markdown")
# Height of a report inside a notebook, in pixels.
INLINE_HEIGHT = 760


class Report:
    """What a selection chose, and why.

    Parameters
    ----------
    content : dict
        What the report says, as plain data; :mod:`easyfs.report.summary` describes it.

    Attributes
    ----------
    content : dict

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import EasyFS
    >>> from easyfs.report import build_report
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> report = build_report(EasyFS(2, random_state=0).fit(X, y))
    >>> report
    Report('The columns that matter for target', 2 of 4 columns, 0 warnings)
    """

    def __init__(self, content: Content):
        self.content = content

    def __repr__(self) -> str:
        content = self.content
        warnings = count_warnings(content)
        return (
            f"Report({content['title']!r}, {content['selected']['count']} of {content['data']['columns']} columns, "
            f"{warnings} warning{'' if warnings == 1 else 's'})"
        )

    def to_dict(self) -> dict[str, Any]:
        """The content as plain data, of the caller's own."""
        return copy.deepcopy(dict(self.content))

    def to_json(self) -> str:
        """The content as JSON text; ``schema.json`` describes it."""
        return json.dumps(self.content, ensure_ascii=False, allow_nan=False, indent=1) + "\n"

    def to_html(self) -> str:
        """One page that needs nothing else."""
        return to_html(self.content)

    def to_markdown(self) -> str:
        """The content as Markdown."""
        return to_markdown(self.content)

    def _repr_html_(self) -> str:
        page = html.escape(self.to_html(), quote=True)
        style = f"width:100%;height:{INLINE_HEIGHT}px;border:1px solid #8884;border-radius:6px"
        title = html.escape(self.content["title"], quote=True)
        return f'<iframe title="{title}" sandbox="allow-scripts" style="{style}" srcdoc="{page}"></iframe>'

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report whole or not at all, in the format of the file's suffix.

        Parameters
        ----------
        path : path
            A name that ends with ``.html``, ``.json`` or ``.md``.

        Returns
        -------
        Path
            The file.
        """
        target = Path(path)
        suffix = target.suffix.lower()
        if suffix not in FORMATS:
            raise ValueError(
                f"path={os.fspath(path)!r}: a report is written as .html, .json or .md; end the name with one."
            )
        write = self.to_html if suffix.startswith(".htm") else self.to_json if suffix == ".json" else self.to_markdown
        write_whole(target, write().encode("utf-8"))
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Report:
        """Read a report that was saved as JSON."""
        name = os.fspath(path)
        try:
            content = json.loads(Path(path).read_bytes())
        except FileNotFoundError as error:
            raise FileNotFoundError(f"there is no report {name!r}.") from error
        except ValueError as error:
            raise ValueError(
                f"{name!r} is not a report, as it is no JSON ({error}); save one with report.save('x.json')."
            ) from error
        if not isinstance(content, dict) or content.get("schema") != SCHEMA:
            raise ValueError(f"{name!r} is JSON, but not a report; save one with report.save('x.json').")
        if content.get("schema_version") != SCHEMA_VERSION:
            raise ValueError(
                f"{name!r} has schema_version {content.get('schema_version')!r}, but this version of easyfs reads "
                f"{SCHEMA_VERSION}; build the report again, or read it with the version that wrote it."
            )
        problem = check_content(content)
        if problem:
            raise ValueError(f"{name!r} is not a whole report: {problem}.")
        return cls(content)  # type: ignore[arg-type]
