"""Scalable figures, drawn by hand: a few shapes, axes and ticks. Colours come from the page's own variables."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from typing import Any

LETTER = 7.0  # width of a letter of the labels, on average


def escape(text: str) -> str:
    """Text inside markup."""
    return html.escape(text, quote=True)


def fitted(text: str, width: float) -> str:
    """Text cut to a width."""
    letters = max(4, int(width / LETTER))
    return text if len(text) <= letters else text[: letters - 1] + "…"


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers that cover a range."""
    span = high - low
    if not span > 0 or not math.isfinite(span):
        return [low]
    step = 10.0 ** math.floor(math.log10(span / most))
    step *= next(m for m in (1, 2, 5, 10) if span / (step * m) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


class Canvas:
    """An SVG under way.

    Parameters
    ----------
    width, height : float
        Size in pixels.
    label : str
        What the figure shows, for those who do not see it.
    """

    def __init__(self, width: float, height: float, label: str):
        self.width, self.height, self.label = width, height, label
        self.parts: list[str] = []

    def add(self, tag: str, text: str | None = None, /, **attributes: Any) -> None:
        """Add a shape; ``class_`` stands for class, ``data_f`` for data-f."""
        written = "".join(
            f' {name.rstrip("_").replace("_", "-")}="{escape(_short(value))}"'
            for name, value in attributes.items()
            if value is not None
        )
        self.parts.append(f"<{tag}{written}/>" if text is None else f"<{tag}{written}>{escape(text)}</{tag}>")

    def text(self, x: float, y: float, text: str, anchor: str = "start", **attributes: Any) -> None:
        """Add a line of text."""
        attributes |= {"x": x, "y": y, "text_anchor": None if anchor == "start" else anchor}
        self.add("text", text, **attributes)

    def line(self, points: Iterable[tuple[float, float]], **attributes: Any) -> None:
        """Add a line through points."""
        self.add("polyline", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in points), **attributes)

    def vertical_axis(self, at: dict[float, str], place: dict[float, float], left: float, right: float) -> None:
        """Add rules across the figure with their values at the left."""
        for value, text in at.items():
            y = place[value]
            self.add("line", x1=left, x2=right, y1=y, y2=y, class_="rule")
            self.text(left - 6, y + 4, text, "end", class_="tick")

    def done(self) -> str:
        """The markup."""
        return (
            f'<svg viewBox="0 0 {_short(self.width)} {_short(self.height)}" width="{_short(self.width)}" '
            f'height="{_short(self.height)}" role="img" aria-label="{escape(self.label)}">'
            f"<title>{escape(self.label)}</title>{''.join(self.parts)}</svg>"
        )


def _short(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
