"""What all figures share: colours, axes, and a plain look."""

from __future__ import annotations

from typing import Any

from easyfs.common.extras import optional

# Colours that stay apart in print and for the colour-blind (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8B6F00", "#000000")
# Random selection, and what is no more than chance, is a reference, not a contender.
CONTROL = "#999999"


def axes(ax: Any = None, size: tuple[float, float] = (7.0, 4.5)) -> Any:
    """The axes that were given, or new ones."""
    if ax is not None:
        return ax
    plt = optional("matplotlib.pyplot", "report", "a figure")
    return plt.subplots(figsize=size, layout="constrained")[1]


def tidy(ax: Any) -> None:
    """A light grid, and no more lines than are needed."""
    ax.grid(visible=True, alpha=0.25, linewidth=0.6)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def steady() -> Any:
    """A context in which a figure is saved as the same bytes each time: names inside an SVG are not drawn at random.

    Pass ``metadata={"Date": None}`` to ``savefig`` as well.
    """
    matplotlib = optional("matplotlib", "report", "a figure")
    return matplotlib.rc_context({"svg.hashsalt": "easyfs"})
