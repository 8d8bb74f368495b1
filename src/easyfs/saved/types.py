"""What the columns of a table hold that is not read yet."""

from __future__ import annotations

from typing import Any

import narwhals as nw

from easyfs.files.scanning import Scan
from easyfs.tables.holding import held_by_type


def held_unread(X: Any, names: list[str]) -> dict[str, str]:
    """What columns of a lazy table hold, by its schema; nothing of those whose library does not say.

    Files of text have no schema: they are read for it, once.
    """
    wanted = set(names)
    if isinstance(X, Scan):
        return {name: held_by_type(dtype) for name, dtype in X.select(names).types().items()}
    if hasattr(X, "get_fragments"):  # a data set of Arrow
        return {field.name: held_by_type(field.type) for field in X.schema if field.name in wanted}
    try:
        found = nw.from_native(X).collect_schema()
    except (TypeError, AttributeError):
        return {}
    return {name: held_by_type(dtype) for name, dtype in found.items() if name in wanted}
