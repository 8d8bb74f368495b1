"""The picture of the race, written as plain SVG so that the same rows make the same bytes on any machine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from methods import METHODS

Point = tuple[str, float, float]
Panels = dict[str, tuple[str, list[Point]]]
Box = tuple[float, float, float, float]

ACROSS = 3
WIDTH, HEIGHT = 470, 340
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 30, 40
HEAD = 64
FONT, LETTER = 10.5, 5.55
RANDOM = "random"
KINDS = {
    "EasyFS": ("#c2410c", "EasyFS, with and without its screens for joint effects"),
    "aware": ("#1d6fb8", "filters that mind redundancy"),
    "filter": ("#6b7280", "other filters"),
    "model": ("#3f8f4f", "by models"),
}
FILTERS = ("sklearn F test", "sklearn mutual inf.", "fast-select ReliefF", "skrebate ReliefF")
SHORT = {
    "EasyFS, screens off": "EasyFS, screens off",
    "EasyFS's mRMR": "our mRMR",
    "fast-select mRMR": "fast-select",
    "feature-engine mRMR": "feature-engine",
    "sklearn F test": "F test",
    "sklearn mutual inf.": "mutual inf.",
    "sklearn L1": "L1 model",
    "sklearn forest": "forest",
    "sklearn RFE": "RFE",
    "sklearn sequential": "sequential",
    "fast-select ReliefF": "fast-select ReliefF",
    "skrebate ReliefF": "skrebate",
    "pyHSICLasso": "HSIC Lasso",
}


def kind(method: str) -> str:
    """The group of a method."""
    if method in ("EasyFS", "EasyFS, screens off"):
        return "EasyFS"
    return "aware" if METHODS[method].aware else "filter" if method in FILTERS else "model"


def number(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}".rstrip("0").rstrip(".")


def text(x: float, y: float, said: str, **more: str | float) -> str:
    """A text."""
    extra = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{number(x)}" y="{number(y)}"{extra}>{escape(said)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    """A line."""
    ends = zip(("x1", "y1", "x2", "y2"), (x1, y1, x2, y2), strict=True)
    return "<line " + " ".join(f'{name}="{number(value)}"' for name, value in ends) + f" {style}/>"


@dataclass(frozen=True)
class Axes:
    """Where times and qualities stand in a panel.

    Attributes
    ----------
    x, y : float
        Corner of the panel.
    times, values : tuple of float
        Ends of the axes: decades of seconds, and quality.
    """

    x: float
    y: float
    times: tuple[float, float]
    values: tuple[float, float]

    def across(self, seconds: float) -> float:
        """Place of a time."""
        low, high = self.times
        inside = WIDTH - LEFT - RIGHT
        return self.x + LEFT + inside * (math.log10(seconds) - low) / (high - low)

    def up(self, value: float) -> float:
        """Place of a quality."""
        low, high = self.values
        return self.y + HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)

    @property
    def frame(self) -> Box:
        """The frame: left, top, right, bottom."""
        return self.x + LEFT, self.y + TOP, self.x + WIDTH - RIGHT, self.y + HEIGHT - BOTTOM


def steps(low: float, high: float) -> list[float]:
    """Round values between two ends, four to seven of them."""
    raw = (high - low) / 5.0
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * part for part in (1, 2, 5, 10) if size * part >= raw)
    first = math.ceil(low / step - 1e-9)
    return [round(step * i, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def axes_of(shown: list[Point], x: float, y: float) -> Axes:
    """Axes that hold all points but random selection, with some air."""
    times = [math.log10(seconds) for _, seconds, _ in shown] or [0.0]
    values = [value for _, _, value in shown] or [0.0]
    low, high = min(values), max(values)
    air = max(0.08 * (high - low), 0.01)
    return Axes(x, y, (min(times) - 0.25, max(times) + 0.45), (low - air, high + air))


def tick(seconds: float) -> str:
    """A decade."""
    return f"{seconds:g} s" if seconds >= 1 else f"{1000 * seconds:g} ms"


def grid(axes: Axes) -> list[str]:
    """Lines and numbers of the axes."""
    left, top, right, bottom = axes.frame
    parts = []
    for value in steps(*axes.values):
        parts += [line(left, axes.up(value), right, axes.up(value), 'stroke="#e5e7eb"')]
        parts += [
            text(left - 6, axes.up(value) + 3.5, f"{value:.3f}".rstrip("0").rstrip("."), text_anchor="end", fill="#4b5563")
        ]
    for decade in range(math.ceil(axes.times[0]), math.floor(axes.times[1]) + 1):
        place = axes.across(10.0**decade)
        parts += [line(place, top, place, bottom, 'stroke="#e5e7eb"')]
        parts += [text(place, bottom + 15, tick(10.0**decade), text_anchor="middle", fill="#4b5563")]
    size = f'width="{number(right - left)}" height="{number(bottom - top)}"'
    parts.append(f'<rect x="{number(left)}" y="{number(top)}" {size} fill="none" stroke="#9ca3af"/>')
    return parts


def front(axes: Axes, shown: Iterable[Point]) -> str:
    """The best quality that is to be had up to each time."""
    corners: list[str] = []
    best = -math.inf
    for _, seconds, value in sorted(shown, key=lambda point: (point[1], -point[2])):
        if value > best:
            x, y = number(axes.across(seconds)), number(axes.up(value))
            corners += [f"{x},{number(axes.up(best))}"] if corners else []
            corners.append(f"{x},{y}")
            best = value
    if corners:
        corners.append(f"{number(axes.frame[2])},{number(axes.up(best))}")
    return f'<polyline points="{" ".join(corners)}" fill="none" stroke="#d1d5db" stroke-width="5" stroke-linejoin="round"/>'


def overlap(one: Box, other: Box) -> float:
    """Area that two boxes share."""
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return max(wide, 0.0) * max(high, 0.0)


def placements(x: float, y: float, wide: float) -> Iterable[tuple[float, Box]]:
    """Boxes for a label about a point, with how unwelcome each is."""
    high = FONT
    for reach, cost in ((8.0, 0.0), (16.0, 8.0), (28.0, 16.0), (42.0, 26.0), (58.0, 40.0)):
        for turn in range(12):
            angle = math.pi * turn / 6.0
            cx, cy = x + reach * math.cos(angle), y + reach * math.sin(angle)
            left = cx if math.cos(angle) > 0.3 else cx - wide if math.cos(angle) < -0.3 else cx - wide / 2.0
            worse = 0.0 if turn == 0 else 0.5 if turn == 6 else 1.0
            yield cost + worse, (left, cy - high / 2.0, left + wide, cy + high / 2.0)


def labels(axes: Axes, shown: list[Point]) -> list[str]:
    """Names beside their points, moved where they would lie on others, with a thin line back to the point."""
    left, top, right, bottom = axes.frame
    places = {method: (axes.across(seconds), axes.up(value)) for method, seconds, value in shown}
    taken: list[Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y in places.values()]
    parts = []
    for method in sorted(places, key=lambda m: (kind(m) != "EasyFS", places[m])):
        x, y = places[method]
        said = SHORT.get(method, method)
        wide = LETTER * len(said) * (1.18 if kind(method) == "EasyFS" else 1.0)
        inside = [
            (cost + sum(overlap(box, other) for other in taken), box)
            for cost, box in placements(x, y, wide)
            if box[0] > left + 2 and box[2] < right - 2 and box[1] > top + 2 and box[3] < bottom - 2
        ]
        box = min(inside)[1] if inside else (x, y, x, y)
        taken.append(box)
        colour = KINDS[kind(method)][0]
        near_x, near_y = min(max(x, box[0]), box[2]), (box[1] + box[3]) / 2.0
        if math.hypot(near_x - x, near_y - y) > 12:
            parts.append(line(x, y, near_x, near_y, f'stroke="{colour}" stroke-width="0.6"'))
        weight = "700" if kind(method) == "EasyFS" else "400"
        parts.append(text(box[0], box[3] - 2, said, fill=colour, font_weight=weight))
    return parts


def panel(name: str, points: list[Point], x: float, y: float) -> list[str]:
    """One panel."""
    shown = [point for point in points if point[0] != RANDOM]
    chance = next((value for method, _, value in points if method == RANDOM), None)
    axes = axes_of(shown, x, y)
    left, _, right, _ = axes.frame
    parts = [
        text(left, y + TOP - 9, name, font_size=12.5, font_weight=700, fill="#111827"),
        *grid(axes),
        front(axes, shown),
    ]
    if chance is not None:
        if chance >= axes.values[0]:
            parts.append(line(left, axes.up(chance), right, axes.up(chance), 'stroke="#9ca3af" stroke-dasharray="4 3"'))
        said = f"random {chance:.3f}"
        parts.append(text(right, y + TOP - 9, said, text_anchor="end", fill="#6b7280", font_style="italic"))
    for method, seconds, value in sorted(shown, key=lambda point: kind(point[0]) == "EasyFS"):
        colour, radius = KINDS[kind(method)][0], 5.5 if kind(method) == "EasyFS" else 3.8
        hollow = method == "EasyFS, screens off"
        fill = f'fill="#fff" stroke="{colour}" stroke-width="2"' if hollow else f'fill="{colour}" stroke="#fff"'
        parts.append(f'<circle cx="{number(axes.across(seconds))}" cy="{number(axes.up(value))}" r="{radius}" {fill}/>')
    parts += labels(axes, shown)
    if shown:
        return parts
    return [*parts, text((left + right) / 2, (y + y + HEIGHT) / 2, "no method gave columns", text_anchor="middle")]


def draw(panels: Panels) -> str:
    """The picture: quality against the time of a fit, a panel for each input."""
    down = -(-len(panels) // ACROSS)
    across = min(ACROSS, max(len(panels), 2))
    wide, high = WIDTH * across, HEAD + HEIGHT * down + 6
    size = f'viewBox="0 0 {wide} {high}" width="{wide}" height="{high}"'
    font = f'font-family="Helvetica, Arial, sans-serif" font-size="{FONT}"'
    head = "Quality of the chosen columns against the time of a fit"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        f'<rect width="{wide}" height="{high}" fill="#fff"/>',
        text(LEFT, 22, head, font_size=16, font_weight=700, fill="#111827"),
    ]
    place: float = LEFT
    for colour, told in KINDS.values():
        parts.append(f'<circle cx="{number(place + 5)}" cy="42" r="5" fill="{colour}"/>')
        parts.append(text(place + 15, 46, told, font_size=12, fill="#111827"))
        place += 15 + 6.2 * len(told) + 22
    told = "up and left is better; grey: the best quality up to each time; dashed: random columns, where in the frame"
    parts.append(text(LEFT, 62, told, font_size=11, fill="#6b7280"))
    for index, (name, points) in enumerate(panels.values()):
        parts += panel(name, points, WIDTH * (index % ACROSS), HEAD + HEIGHT * (index // ACROSS))
    return "\n".join([*parts, "</svg>"]) + "\n"
