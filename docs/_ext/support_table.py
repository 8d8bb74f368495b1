"""The table of what each selector takes, read from the selectors themselves: ``{support-table}`` in a page."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from easyfs import available_selectors, make_selector
from easyfs.estimator.streaming import StreamingSelector
from easyfs.registry import SelectorInfo

# What is asked of a selector, in the order of the columns.
QUESTIONS = (
    "classes",
    "numbers",
    "no target",
    "several targets",
    "weights",
    "missing values",
    "sparse",
    "categories and dates",
    "says how many",
    "stream",
    "files, Dask, Spark",
    "GPU",
)


def support(info: SelectorInfo) -> dict[str, bool]:
    """What a selector takes, by the question."""
    selector = make_selector(info.name)
    tags = get_tags(selector)
    in_sums = isinstance(selector, StreamingSelector)  # sums over rows are all it needs, wherever the rows are
    return dict(
        zip(
            QUESTIONS,
            (
                "classification" in info.tasks,
                "regression" in info.tasks,
                "unsupervised" in info.tasks,
                bool(tags.target_tags.multi_output),
                has_fit_parameter(selector, "sample_weight"),
                bool(tags.input_tags.allow_nan),
                bool(tags.input_tags.sparse),
                True,  # all selectors read tables with the same encoder
                info.gives == "set",
                hasattr(selector, "partial_fit"),
                in_sums,
                in_sums,
            ),
            strict=True,
        )
    )


class SupportTable(SphinxDirective):
    """A row for each selector, a column for each question."""

    def run(self) -> list[nodes.Node]:
        table = nodes.table(classes=["support"])
        group = nodes.tgroup(cols=len(QUESTIONS) + 1)
        table += group
        group.extend(nodes.colspec(colwidth=1) for _ in range(len(QUESTIONS) + 1))
        head, body = nodes.thead(), nodes.tbody()
        group += [head, body]
        head += _row(nodes.paragraph(text=text) for text in ("selector", *QUESTIONS))
        for info in available_selectors():
            answers = support(info).values()
            name = nodes.paragraph("", "", self._link(info.class_name))
            body += _row([name, *(nodes.paragraph(text="yes" if answer else "no") for answer in answers)])
        return [nodes.container("", table, classes=["wide"])]

    def _link(self, class_name: str) -> nodes.Node:
        found, _ = self.parse_inline(f"{{py:class}}`~easyfs.{class_name}`", lineno=self.lineno)
        return found[0]


def _row(cells: Any) -> nodes.row:
    row = nodes.row()
    for cell in cells:
        row += nodes.entry("", cell)
    return row


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("support-table", SupportTable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
