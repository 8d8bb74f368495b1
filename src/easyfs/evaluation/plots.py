"""Figures of a comparison, with matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from easyfs.common.figures import COLOURS, CONTROL, axes, tidy

# Lines of further selectors, when the colours are used up.
STYLES = ("-", "--", ":", "-.")


def look(selectors: list[str]) -> dict[str, dict[str, Any]]:
    """Colour and line of each selector: EasyFS first and thick, random selection grey."""
    found: dict[str, dict[str, Any]] = {}
    place = 0
    for name in sorted(selectors, key=lambda s: (not s.lower().startswith("easyfs"), selectors.index(s))):
        if name == "random":
            found[name] = {"color": CONTROL, "linestyle": "-", "linewidth": 1.5}
            continue
        own = name.lower().startswith("easyfs")
        colour, style = COLOURS[place % len(COLOURS)], STYLES[place // len(COLOURS) % len(STYLES)]
        found[name] = {"color": colour, "linestyle": style, "linewidth": 2.4 if own else 1.3}
        place += 1
    return found


def first_model(values: dict[tuple[str, int, str, str], Any], name: str) -> str:
    """The first model that was measured on a data set."""
    return next(place[2] for place in values if place[0] == name)


def plot_sizes(
    found: Any, metric: str | None = None, *, name: str | None = None, model: str | None = None, ax: Any = None
) -> Any:
    """Curves of the score over the number of columns."""
    found._check("name", name, found.names)
    found._check("model", model, found.models)
    name = name or found.names[0]
    metric = metric or found.data[name]["metrics"][0]
    values = found.values(metric)
    model = model or first_model(values, name)
    ax = axes(ax)
    looks = look(found.selectors)
    for selector in found.selectors:
        points = sorted((p[1], v) for p, v in values.items() if p[0] == name and p[2] == model and p[3] == selector)
        points = [(size, v[~np.isnan(v)]) for size, v in points if (~np.isnan(v)).any()]
        if not points:
            continue
        sizes = [size for size, _ in points]
        means = np.array([v.mean() for _, v in points])
        if selector in found._whole:
            ax.axhline(means[0], color="#444444", linewidth=0.8, linestyle=(0, (6, 4)), label="all columns")
            continue
        ax.plot(sizes, means, marker="o", markersize=3, label=selector, **looks[selector])
        if selector == "random" or selector.lower().startswith("easyfs"):
            spread = np.array([v.std(ddof=1) if len(v) > 1 else 0.0 for _, v in points])
            ax.fill_between(sizes, means - spread, means + spread, color=looks[selector]["color"], alpha=0.15, linewidth=0)
    counts = sorted({p[1] for p in values if p[0] == name and p[3] not in found._whole})
    if len(counts) <= 8:
        ax.set_xticks(counts)
    ax.set_xlabel("columns selected")
    ax.set_ylabel(
        metric.replace("_", " ") + (" (less is better)" if metric in found.data[name]["smaller_is_better"] else "")
    )
    ax.set_title(f"{name}, {model}", fontsize=11)
    tidy(ax)
    ax.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_time(
    found: Any, metric: str | None = None, *, name: str | None = None, size: int | None = None, ax: Any = None
) -> Any:
    """Seconds of a fit (logarithmic) against the score at one size."""
    found._check("name", name, found.names)
    name = name or found.names[0]
    metric = metric or found.data[name]["metrics"][0]
    values = found.values(metric)
    model = first_model(values, name)
    values = {p: v for p, v in values.items() if p[0] == name and p[2] == model and p[3] not in found._whole}
    found._check("size", size, sorted({p[1] for p in values}))
    size = size or max(p[1] for p in values)
    seconds: dict[str, list[float]] = {}
    for (data, selector, _, _), row in found.fit_rows.items():
        if data == name and row["status"] == "ok":
            seconds.setdefault(selector, []).append(row["seconds"])
    ax = axes(ax)
    looks = look(found.selectors)
    for (_, at, _, selector), entries in values.items():
        real = entries[~np.isnan(entries)]
        if at != size or not len(real) or selector not in seconds:
            continue
        took = float(np.median(seconds[selector]))
        ax.scatter([took], [real.mean()], s=36, color=looks[selector]["color"], zorder=3)
        ax.annotate(selector, (took, real.mean()), xytext=(4, 4), textcoords="offset points", fontsize=7)
    ax.set_xscale("log")
    ax.set_xlabel("seconds for one fit")
    ax.set_ylabel(metric.replace("_", " "))
    ax.set_title(f"{name}, {size} columns", fontsize=11)
    ax.margins(x=0.15)
    tidy(ax)
    return ax


def plot_critical_difference(
    found: Any,
    metric: str | None = None,
    *,
    model: str | None = None,
    over: str = "auto",
    level: float = 0.05,
    ax: Any = None,
) -> Any:
    """Mean ranks on a line, with bars over methods that are not told apart.

    Folds of one data set share rows and are no independent cells: of one data set the ranks are drawn, but no test.
    """
    test = found.friedman(metric, model=model, over=over, level=level)
    tested = len(found.names) > 1
    names = found.matrix(metric, model=model, over=over)[2]
    order = np.argsort(test.ranks, kind="stable")
    ranks = test.ranks[order]
    half = (len(order) + 1) // 2
    ax = axes(ax, (8.0, 1.4 + 0.25 * half))
    low, high = 1, len(order)
    ax.set_xlim(low - 0.35 * (high - low), high + 0.35 * (high - low))
    ax.axis("off")
    ax.plot([low, high], [0, 0], color="black", linewidth=1)
    for tick in range(low, high + 1):
        ax.plot([tick, tick], [0, 0.12], color="black", linewidth=0.8)
        ax.text(tick, 0.2, str(tick), ha="center", va="bottom", fontsize=8)
    if tested:
        ax.plot([low, low + test.critical_difference], [0.95, 0.95], color="black", linewidth=2)
        what = "cells" if over in ("means", "folds") else "tables"
        ax.text(low, 1.02, f"critical difference {test.critical_difference:.2f} ({test.n_cells} {what})", fontsize=8)
    else:
        ax.text(low, 0.95, "mean ranks; one data set, so no test of significance", fontsize=8)
    groups = _not_told_apart(ranks, test.critical_difference) if tested else []
    depth = 0.3 + 0.22 * len(groups)
    for place, (rank, index) in enumerate(zip(ranks, order, strict=True)):
        left = place < half
        y = -depth - 0.35 * (place if left else len(order) - 1 - place)
        x = low - 0.05 * (high - low) if left else high + 0.05 * (high - low)
        ax.plot([rank, rank, x], [0, y, y], color="#555555", linewidth=0.7)
        bold = "bold" if names[index].lower().startswith("easyfs") else "normal"
        ax.text(
            x, y, f" {names[index]} ({rank:.2f}) ", ha="right" if left else "left", va="center", fontsize=8, weight=bold
        )
    for number, (first, last) in enumerate(groups):
        y = -0.18 - 0.22 * number
        ax.plot([ranks[first] - 0.04, ranks[last] + 0.04], [y, y], color="black", linewidth=3, solid_capstyle="round")
    ax.set_ylim(-depth - 0.35 * half, 1.3)
    return ax


def _not_told_apart(ranks: Any, difference: float) -> list[tuple[int, int]]:
    """Longest runs of sorted ranks that lie within the critical difference."""
    groups: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + difference, side="right")) - 1
        if last > first and (not groups or last > groups[-1][1]):
            groups.append((first, last))
    return groups
