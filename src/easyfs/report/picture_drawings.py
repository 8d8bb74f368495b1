"""Small pictures of columns and the target, as SVG."""

from __future__ import annotations

from typing import Any

from easyfs.report.canvas import Canvas, fitted, ticks
from easyfs.report.summary import Picture
from easyfs.report.words import percent, plain, shown

WIDTH, HEIGHT = 320.0, 226.0
LEFT, RIGHT, BOTTOM = 50.0, WIDTH - 8, HEIGHT - 38
# Where the figure begins, below the name of its axis or the names of its colours, and below both.
TOP, LOWER_TOP = 22.0, 38.0
# Colours of classes; further ones begin anew.
COLOURS = 6
# Share of the room of a group that its box takes.
BOX = 0.6


def picture_figure(picture: Picture) -> str:
    """One picture."""
    return {"box": _box, "scatter": _scatter, "bars": _bars, "pair": _pair}[picture["kind"]](picture["data"])


class _Frame:
    """Room for a figure: a canvas with rules and the names of both axes, and where values stand in it.

    Parameters
    ----------
    label : str
        What the figure shows.
    across, axis : str
        Names of the axes.
    bounds : list of float
        Range of the upright axis.
    marks : dict of float to str
        Values that have a rule.
    top : float
        Where it begins.
    """

    def __init__(self, label: str, across: str, axis: str, bounds: list[float], marks: dict[float, str], top: float = TOP):
        self.canvas, self.bounds, self.top = Canvas(WIDTH, HEIGHT, label), bounds, top
        texts = {m: fitted(text, LEFT - 4) for m, text in marks.items()}
        self.canvas.vertical_axis(texts, {m: self.up(m) for m in marks}, LEFT, RIGHT)
        below = fitted(shown(across), RIGHT - LEFT)
        self.canvas.text((LEFT + RIGHT) / 2, HEIGHT - 4, below, "middle", class_="axis")
        if axis:
            self.canvas.text(4, top - 12, fitted(shown(axis), RIGHT), class_="axis")

    def up(self, value: float) -> float:
        """Height of a value; what lies outside is drawn at the edge."""
        return BOTTOM - _part(value, self.bounds) * (BOTTOM - self.top)


def _marks(bounds: list[float]) -> dict[float, str]:
    return {mark: _mark(mark) for mark in ticks(bounds[0], bounds[1], 4)}


def _mark(value: float) -> str:
    return f"{value:.0e}" if abs(value) >= 1e5 else f"{value:.4g}"


def _right(value: float, bounds: list[float], room: float = 6.0) -> float:
    return LEFT + room + _part(value, bounds) * (RIGHT - LEFT - 2 * room)


def _part(value: float, bounds: list[float]) -> float:
    low, high = bounds
    return 0.5 if high <= low else min(max((value - low) / (high - low), 0.0), 1.0)


def _dots(canvas: Canvas, points: list[tuple[float, float]], style: str) -> None:
    """Points as one path: a line without length has a round end."""
    if points:
        canvas.add("path", d="".join(f"M{x:.1f} {y:.1f}h0" for x, y in points), class_=style)


def _box(data: dict[str, Any]) -> str:
    middles = [f"{shown(g['label'], 40)} {plain(g['quantiles'][2])}" for g in data["groups"] if g["quantiles"]]
    label = f"{shown(data['axis'], 60)} by {shown(data['across'], 60)}: medians {', '.join(middles)}."
    frame = _Frame(label, data["across"], data["axis"], data["range"], _marks(data["range"]))
    canvas = frame.canvas
    step = (RIGHT - LEFT) / max(len(data["groups"]), 1)
    for i, group in enumerate(data["groups"]):
        middle, half = LEFT + (i + 0.5) * step, min(0.5 * BOX * step, 34.0)
        # Points are spread by their order, always the same way.
        spread = [middle + (((7 * k) % 11) / 10 - 0.5) * 1.6 * half for k in range(len(group["points"]))]
        _dots(canvas, [(x, frame.up(v)) for x, v in zip(spread, group["points"], strict=True)], "dots")
        if group["quantiles"]:
            _one_box(canvas, middle, half, [frame.up(value) for value in group["quantiles"]], group)
        canvas.text(middle, BOTTOM + 15, fitted(shown(group["label"]), step), "middle", class_="tick")
    return canvas.done()


def _one_box(canvas: Canvas, middle: float, half: float, at: list[float], group: dict[str, Any]) -> None:
    tip = f"{shown(group['label'], 40)}: median {plain(group['quantiles'][2])}, {group['rows']:,} rows"
    for low, high in ((at[0], at[1]), (at[3], at[4])):
        canvas.add("line", x1=middle, x2=middle, y1=low, y2=high, class_="whisker")
    tall = max(at[1] - at[3], 1.0)
    canvas.add("rect", x=middle - half, y=at[3], width=2 * half, height=tall, class_="box", data_tip=tip)
    canvas.add("line", x1=middle - half, x2=middle + half, y1=at[2], y2=at[2], class_="median")


def _scatter(data: dict[str, Any]) -> str:
    label = f"{shown(data['axis'], 60)} over {shown(data['across'], 60)}: points and a smooth line."
    frame = _Frame(label, data["across"], data["axis"], data["range"], _marks(data["range"]))
    across = data["across_range"]
    _dots(frame.canvas, [(_right(x, across), frame.up(y)) for x, y in data["points"]], "dots")
    line = [(_right(x, across), frame.up(y)) for x, y in data["line"]]
    if line:
        frame.canvas.line(line, class_="smooth")
    _ticks_below(frame.canvas, across)
    return frame.canvas.done()


def _ticks_below(canvas: Canvas, bounds: list[float]) -> None:
    for mark in ticks(bounds[0], bounds[1], 4):
        canvas.text(_right(mark, bounds), BOTTOM + 15, _mark(mark), "middle", class_="tick")


def _bars(data: dict[str, Any]) -> str:
    """Bars of one height for each value of the column, divided by class."""
    groups, classes = data["groups"], data["classes"]
    label = f"Share of each class of {shown(data['axis'], 60)} by {shown(data['across'], 60)}."
    frame = _Frame(label, data["across"], "", [0.0, 1.0], {mark: percent(mark, 0) for mark in (0.0, 0.5, 1.0)})
    canvas = frame.canvas
    _legend(canvas, classes)
    step = (RIGHT - LEFT) / max(len(groups), 1)
    for i, group in enumerate(groups):
        x, wide, y = LEFT + (i + 0.5) * step, min(0.7 * step, 60.0), BOTTOM
        for k, share in enumerate(group["shares"]):
            tall = share * (BOTTOM - frame.top)
            y -= tall
            tip = f"{shown(group['label'], 40)}, {shown(classes[k], 40)}: {percent(share, 0)} of {group['rows']:,} rows"
            canvas.add("rect", x=x - wide / 2, y=y, width=wide, height=tall, class_=f"part k{k % COLOURS}", data_tip=tip)
        canvas.text(x, BOTTOM + 15, fitted(shown(group["label"]), step), "middle", class_="tick")
    return canvas.done()


def _legend(canvas: Canvas, labels: list[str]) -> None:
    """Names of the colours in a line at the top."""
    room = (RIGHT - LEFT) / max(len(labels), 1)
    for k, label in enumerate(labels):
        x = LEFT + k * room
        canvas.add("rect", x=x, y=2.0, width=8, height=8, class_=f"part k{k % COLOURS}")
        canvas.text(x + 11, 10.0, fitted(shown(label), room - 13), class_="tick")


def _pair(data: dict[str, Any]) -> str:
    label = f"{shown(data['axis'], 60)} over {shown(data['across'], 60)}, coloured by {shown(data['of'], 60)}."
    marks = {float(i): shown(text) for i, text in enumerate(data["values"])} or _marks(data["range"])
    bounds = _wider(data["range"], data["values"])
    frame = _Frame(label, data["across"], data["axis"], bounds, marks, LOWER_TOP)
    across = _wider(data["across_range"], data["across_values"])
    _legend(frame.canvas, [group["label"] for group in data["groups"]])
    for k, group in enumerate(data["groups"]):
        points = [
            (_right(x, across) + _jitter(i, data["across_values"]), frame.up(y) + _jitter(3 * i, data["values"]))
            for i, (x, y) in enumerate(group["points"])
        ]
        _dots(frame.canvas, points, f"dots k{k % COLOURS}")
    room = (RIGHT - LEFT) / max(len(data["across_values"]), 1)
    for i, text in enumerate(data["across_values"]):
        frame.canvas.text(_right(i, across), BOTTOM + 15, fitted(shown(text), room), "middle", class_="tick")
    if not data["across_values"]:
        _ticks_below(frame.canvas, across)
    return frame.canvas.done()


def _wider(bounds: list[float], values: list[str]) -> list[float]:
    """Groups of values stand inside their axis, not at its ends."""
    return [-0.5, len(values) - 0.5] if values else bounds


def _jitter(place: int, values: list[str]) -> float:
    """Points of the same group of values stand side by side."""
    return (((7 * place) % 13) / 12 - 0.5) * 30.0 if values else 0.0
