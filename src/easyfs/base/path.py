"""The way of a selection as a figure: what each column added in its turn, and what all up to it explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from easyfs.common.figures import COLOURS, CONTROL, axes, tidy

if TYPE_CHECKING:
    from easyfs.base.explanation import Explanation

ADDED, TOGETHER, LEFT_OUT = COLOURS[5], COLOURS[0], COLOURS[1]
# Columns beyond the chosen ones that are shown, and columns up to which names are written and dots drawn.
NEXT, MOST_NAMES, LONGEST, MOST_DOTS = 5, 30, 22, 60


def plot_path(selector: Any, ax: Any = None) -> Any:
    """Draw what each chosen column added.

    Parameters
    ----------
    selector : selector
        A fitted selector.
    ax : matplotlib Axes, optional
        Where to draw.
    """
    found = selector.explain()
    tested = getattr(selector, "cv_results_", None)
    n_next = NEXT if found.adds_up and tested is None else 0
    rest = [column for column in found.others if column.score is not None][:n_next]
    n = len(found.chosen)
    n_shown = n + len(rest)
    ax = axes(ax, (min(max(7.0, 0.24 * n_shown + 2.0), 14.0), 4.8))
    _bars(ax, found, [column.score or 0.0 for column in rest])
    if found.adds_up:
        totals = [column.cumulative or 0.0 for column in found.chosen]
        ax.plot(range(1, n + 1), totals, color=TOGETHER, linewidth=2.0, label="explained together", **_dots(n))
    if tested is not None:
        _left_out(ax, tested)
        n_shown = max(n_shown, int(tested["n_features"][-1]))
    last = n + 0.5 if tested is None else n  # behind the bars, or at the point of the curve
    ax.axvline(last, color="#444444", linewidth=0.9, linestyle=(0, (6, 4)), zorder=1, label=f"{n:,} chosen")
    _describe(ax, found, [*(column.name for column in found.chosen), *(column.name for column in rest)], n_shown)
    return ax


def _bars(ax: Any, found: Explanation, following: list[float]) -> None:
    """What each column added: apart for those that tell no more than chance, and for those that were not chosen."""
    gains = np.array([column.gain or 0.0 for column in found.chosen])
    by_chance = np.array([column.beyond_chance is False for column in found.chosen])
    places = np.arange(1, len(gains) + 1)
    what = "added" if found.adds_up else "score"
    for rows, colour, label in (
        (~by_chance, ADDED, what),
        (by_chance, CONTROL, f"{what}, no more than chance would"),
    ):
        if rows.any():
            ax.bar(places[rows], gains[rows], color=colour, width=0.8, label=label, zorder=2)
    if following:
        after = len(gains) + 1 + np.arange(len(following))
        look = {"facecolor": "none", "edgecolor": CONTROL, "linewidth": 1.0, "linestyle": "--"}
        ax.bar(after, following, width=0.8, label="would have added, not chosen", zorder=2, **look)


def _left_out(ax: Any, tested: dict[str, Any]) -> None:
    """The cross-validated curve, with its spread over the folds."""
    sizes, mean, spread = tested["n_features"], tested["mean_test_score"], tested["std_test_score"]
    ax.plot(sizes, mean, color=LEFT_OUT, linewidth=1.6, label="explained in rows left out", **_dots(len(sizes)))
    ax.fill_between(sizes, mean - spread, mean + spread, color=LEFT_OUT, alpha=0.15, linewidth=0)
    ax.set_ylim(bottom=min(0.0, max(float((mean - spread).min()), -0.25)))


def _dots(n: int) -> dict[str, Any]:
    return {"marker": "o", "markersize": 3.5} if n <= MOST_DOTS else {}


def _describe(ax: Any, found: Explanation, names: list[str], n_shown: int) -> None:
    """Names of the columns while there is room for them, and what the axes say."""
    if n_shown <= MOST_NAMES and n_shown == len(names):
        ax.set_xticks(range(1, n_shown + 1), [_short(name) for name in names], rotation=45, ha="right", fontsize=8)
        for label in ax.get_xticklabels():
            label.set_parse_math(False)
    else:
        ax.set_xlabel("columns, in the order of choice")
    ax.set_xlim(0.4, n_shown + 0.6)
    if found.adds_up:
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        ax.set_ylabel("share explained" if found.task else "share covered")
    else:
        ax.set_ylabel(f"score of {found.method}")
    target = found.target.name if found.target is not None else None
    about = f" for {_short(str(target))}" if target else ""
    ax.set_title(
        f"{found.method}: {len(found.chosen):,} of {found.n_columns:,} columns{about}", fontsize=11, parse_math=False
    )
    tidy(ax)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _short(name: str) -> str:
    """A name that can be drawn, on one line."""
    plain = "".join(c if c.isprintable() else " " for c in name)
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"
