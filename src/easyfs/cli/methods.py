"""``easyfs methods``: all selectors, what they can do and what they need."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from easyfs.cli.problems import WrongUsageError
from easyfs.cli.show import cell, new_table, show

TASKS = ("classification", "regression", "unsupervised")


def command(
    task: Annotated[
        str | None,
        typer.Option(metavar="TASK", help="Only those for classification, regression or unsupervised (no target)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs.")] = False,
) -> None:
    """List all selectors: for --method of select, and --methods of compare."""
    from easyfs.registry import available_selectors  # noqa: PLC0415

    if task is not None and task not in TASKS:
        raise WrongUsageError(f"--task {task!r} is not known; use one of {', '.join(TASKS)}.")
    found = available_selectors(task)
    if as_json:
        sys.stdout.write(json.dumps([_row(info) for info in found], indent=2, ensure_ascii=False) + "\n")
        return
    table = new_table("method", "classes", "numbers", "no target", "model", "gives", "installed")
    for info in found:
        marks = ["✓" if name in info.tasks else "" for name in TASKS]
        table.add_row(
            cell(info.name, "bold"),
            *marks,
            "yes" if info.kind == "model-aware" else "no",
            info.gives,
            "✓" if info.installed else cell(f"easyfs-ml[{info.needs}]", "yellow"),
        )
    show(
        table,
        "",
        "model: one is trained to choose; set: says also how many columns to take (-k auto), ranking: an order only",
    )


def _row(info: Any) -> dict[str, Any]:
    return {
        "name": info.name,
        "tasks": list(info.tasks),
        "kind": info.kind,
        "gives": info.gives,
        "needs": info.needs,
        "installed": info.installed,
        "paper": info.paper,
    }
