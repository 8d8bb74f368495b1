"""What the shell proposes: names of columns of the table that is typed, and of selectors."""

from __future__ import annotations

import typer


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Columns of the table that stands before the option; none if there is none yet, or it cannot be read quickly."""
    from easyfs.files.formats import DELIMITED, format_of  # noqa: PLC0415
    from easyfs.files.source import open_source  # noqa: PLC0415

    given = context.params.get("table") or context.args  # what stands before an option without its value is not sorted yet
    tables = [given] if isinstance(given, str) else list(given)
    if not tables or (format_of(tables[0]) or ("",))[0] not in (*DELIMITED, "parquet", "arrow"):
        return []
    try:
        return [name for name in open_source(tables[0]).names if name.startswith(incomplete)]
    except (ValueError, OSError, ImportError):
        return []


def complete_method(incomplete: str) -> list[str]:
    """Selectors."""
    from easyfs.registry import SELECTORS  # noqa: PLC0415

    return [name for name in SELECTORS if name.startswith(incomplete)]
