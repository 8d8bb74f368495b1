"""A comparison as HTML, for notebooks and pages: scores over sizes with their spread, all that are best in bold."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

DIGITS = 3
CONTROL = "random"
# Colours are those of the page around it, light or dark.
STYLE = """
.easyfs-comparison { font-variant-numeric: tabular-nums; overflow-x: auto; color: inherit; background: none; }
.easyfs-comparison table { border-collapse: collapse; margin: .6em 0; color: inherit; background: none; }
.easyfs-comparison th, .easyfs-comparison td { padding: .25em .8em; text-align: right; border-bottom: 1px solid #8886; }
.easyfs-comparison th:first-child, .easyfs-comparison td:first-child { text-align: left; }
.easyfs-comparison caption { text-align: left; font-weight: bold; padding: .3em 0; }
.easyfs-comparison .best { font-weight: bold; }
.easyfs-comparison .control { opacity: .75; font-style: italic; }
"""


def best_of(means: Mapping[str, float], *, smaller_is_better: bool) -> set[str]:
    """All names whose mean is the best as it is written: what reads the same is a tie."""
    known = {name: round(float(mean), DIGITS) for name, mean in means.items() if np.isfinite(mean)}
    if not known:
        return set()
    top = min(known.values()) if smaller_is_better else max(known.values())
    return {name for name, mean in known.items() if mean == top}


def entry_of(values: Any) -> str:
    """Mean and spread over the folds, and how many of them failed."""
    real = values[~np.isnan(values)]
    if not len(real):
        return "—"
    spread = f" ± {real.std(ddof=1):.{DIGITS}f}" if len(real) > 1 else ""
    lost = len(values) - len(real)
    return f"{real.mean():.{DIGITS}f}{spread}" + (f" ({lost} failed)" if lost else "")


def scores_table(found: Any, name: str, model: str) -> str:
    """Scores of a model on a data set: a row for each method, best mean rank first, a column for each size.

    Parameters
    ----------
    found : Comparison
        The comparison.
    name, model : str
        The data set and the model.
    """
    values = {
        (size, method): v for (data, size, learner, method), v in found.values().items() if (data, learner) == (name, model)
    }
    whole = set(found.data[name].get("without_selection", ["all"]))
    sizes = sorted({size for size, method in values if method not in whole})
    metric = found.data[name]["metrics"][0]
    smaller = metric in found.data[name]["smaller_is_better"]
    best = {size: best_of(_means(values, size, whole), smaller_is_better=smaller) for size in sizes}
    lines = [_row("th", ["columns", *(f"{size:,}" for size in sizes)])]
    for method in found.ranks():
        cells = [entry_of(values[size, method]) if (size, method) in values else "—" for size in sizes]
        marks = ["best" if method in best[size] else "" for size in sizes]
        lines.append(_row("td", [method, *cells], ["", *marks], "control" if method == CONTROL else ""))
    for (_, method), entries in values.items():
        if method in whole:
            text = f"all {found.data[name]['columns']:,} columns: {entry_of(entries)}"
            lines.append(f'<tr><td colspan="{len(sizes) + 1}">{escape(text)}</td></tr>')
    caption = f"{metric.replace('_', ' ')}, {model}"
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"


def _means(values: dict[tuple[int, str], Any], size: int, whole: set[str]) -> dict[str, float]:
    """The mean of each method at a size, of those that gave anything."""
    own = {method: v for (at, method), v in values.items() if at == size and method not in whole}
    return {method: float(np.nanmean(v)) for method, v in own.items() if not np.isnan(v).all()}


def _row(tag: str, cells: list[str], classes: list[str] | None = None, own: str = "") -> str:
    marks = classes or [""] * len(cells)
    inner = "".join(f"<{tag}{_class(mark)}>{escape(text)}</{tag}>" for text, mark in zip(cells, marks, strict=True))
    return f"<tr{_class(own)}>{inner}</tr>"


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def comparison_html(found: Any) -> str:
    """A comparison for a notebook: a table for each data set and model, and what failed."""
    parts = []
    for name in found.names:
        about = found.data[name]
        better = "less" if about["metrics"][0] in about["smaller_is_better"] else "more"
        parts.append(
            f"<p><b>{escape(name)}</b>: {about['rows']:,} rows, {about['columns']:,} columns, {escape(about['task'])}; "
            f"mean ± spread over the folds, {better} is better, the best in bold; <i>{CONTROL}</i> is the control.</p>"
        )
        models = dict.fromkeys(place[2] for place in found.values() if place[0] == name)
        parts += [scores_table(found, name, model) for model in models]
    failed: dict[str, list[str]] = {}
    for row in found.failures():
        failed.setdefault(row["selector"], []).append(str(row.get("reason") or row["status"]))
    parts += [
        f"<p>{escape(method)} failed {len(why)} time{'' if len(why) == 1 else 's'}: {escape(why[0])}</p>"
        for method, why in failed.items()
    ]
    return f'<div class="easyfs-comparison"><style>{STYLE}</style>{"".join(parts)}</div>'
