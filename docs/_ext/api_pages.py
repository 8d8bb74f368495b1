"""What the pages of classes show: methods that are written in this library, and types as they are written."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx


def _skip(app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:  # noqa: ARG001
    """Leave out what scikit-learn or pyspark wrote, and fitted attributes, which the list of attributes has."""
    if isinstance(obj, property) and name.endswith("_"):
        return True
    owner = getattr(getattr(obj, "fget", obj), "__module__", None)
    return True if owner is not None and not owner.startswith("easyfs") else None


def _plain_types(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Names such as ``n_features_in_`` in a line ``name : type``, or in the shape of what is returned, are no links."""
    for place, line in enumerate(lines):
        entry = re.match(r"(\s*[\w, *]+ : |(?=.* of shape \())(.*)", line)
        if entry:
            lines[place] = entry[1] + re.sub(r"(?<=[a-z])_(?=\W|$)", r"\_", entry[2])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _plain_types, priority=100)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
