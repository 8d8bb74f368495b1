"""The figures of a report, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

from easyfs.report.canvas import LETTER, Canvas, fitted, ticks
from easyfs.report.summary import ColumnCount, Content, CrossValidation, Feature, Histogram, Overlap
from easyfs.report.words import count, percent, plain, score, shown

WIDE, NARROW = 720.0, 330.0
MOST_BARS = 40
MOST_DOTS = 60


def gain_figure(content: Content, width: float) -> str:
    """What each chosen column added, and all up to it together."""
    features, enough = content["features"], content["enough"]
    height, left, right, top, bottom = 260.0, 46.0, width - 8, 14.0, 228.0
    shares = enough["of"] is not None
    gains = [(f["adds"] if shares else f["gain"]) or 0.0 for f in features]
    totals = [f["explained"] or 0.0 for f in features] if shares else []
    high, low = max([0.0, *gains, *totals]) or 1.0, min([0.0, *gains])
    high += 0.04 * (high - low)
    write = (lambda v: percent(v, 0 if high > 0.05 else 1)) if shares else plain
    canvas = Canvas(width, height, _gain_label(totals, shares))

    def y(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    marks = ticks(low, high)
    canvas.vertical_axis({m: write(m) for m in marks}, {m: y(m) for m in marks}, left, right)
    step = (right - left) / max(len(features), 1)
    bar = max(min(0.72 * step, 46.0), 0.6)
    every = max(1, -(-len(features) * 24 // int(right - left)))
    for i, feature in enumerate(features):
        x = left + (i + 0.5) * step
        ends = sorted((y(0.0), y(gains[i])))
        canvas.add(
            "rect",
            x=x - bar / 2,
            y=ends[0],
            width=bar,
            height=max(ends[1] - ends[0], 0.8),
            class_="bar",
            data_f=feature["column"],
            data_tip=f"adds {percent(feature['adds'])}" if shares else f"score {plain(feature['gain'])}",
        )
        if i % every == 0:
            canvas.text(x, bottom + 16, str(feature["place"]), "middle", class_="tick")
    if totals:
        _total_line(canvas, features, [(left + (i + 0.5) * step, y(total)) for i, total in enumerate(totals)])
    canvas.text((left + right) / 2, height - 2, "chosen columns, in order", "middle", class_="axis")
    return canvas.done()


def _gain_label(totals: list[float], adds_up: bool) -> str:
    label = "Bars: what each chosen column added, in order." if adds_up else "Bars: score of each chosen column."
    return label + (f" Line: all up to it together, {percent(totals[-1])} in the end." if totals else "")


def _total_line(canvas: Canvas, features: list[Feature], points: list[tuple[float, float]]) -> None:
    """The line of what all columns up to each explain together, with dots as long as they can be told apart."""
    canvas.line(points, class_="total")
    for feature, (x, y) in zip(features, points, strict=True) if len(points) <= MOST_DOTS else ():
        tip = f"together {percent(feature['explained'] or 0.0)}"
        canvas.add("circle", cx=x, cy=y, r=3.2, class_="dot", data_f=feature["column"], data_tip=tip)


def _bounds(values: list[float]) -> tuple[float, float]:
    """The smallest and the largest, or a little around them where they are the same."""
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def score_figure(measured: CrossValidation, width: float) -> str:
    """The cross-validated score over the number of columns, with its spread, beside random columns."""
    height, left, right, top, bottom = 270.0, 50.0, width - 12, 16.0, 232.0
    curves = {"random": measured["random"], "chosen": measured["points"]}
    known = {
        name: [(p["columns"], p["mean"], p["spread"] or 0.0) for p in points if p["mean"] is not None]
        for name, points in curves.items()
    }
    every = [point for points in known.values() for point in points]
    whole = measured["all"]
    level = None if whole is None or not every else whole["mean"]
    label = f"Cross-validated {measured['metric']} over the number of columns, for the chosen ones and for random ones."
    canvas = Canvas(width, height, label)
    if not every:
        return canvas.done()
    low, high = _bounds([edge for _, m, s in every for edge in (m - s, m + s)] + ([] if level is None else [level]))
    sizes = sorted({size for size, _, _ in every})
    gap = (right - left - 24) / max(len(sizes) - 1, 1)
    place = {size: left + 12 + gap * (i if len(sizes) > 1 else 0.5) for i, size in enumerate(sizes)}

    def y(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    marks = ticks(low, high)
    canvas.vertical_axis({m: f"{m:.4g}" for m in marks}, {m: y(m) for m in marks}, left, right)
    for size in sizes:
        canvas.text(place[size], bottom + 17, f"{size:,}", "middle", class_="tick")
    if whole is not None and level is not None:
        tip = f"all {whole['columns']:,} columns: {score(level)}"
        canvas.add("line", x1=left, x2=right, y1=y(level), y2=y(level), class_="line whole", data_tip=tip)
    for name, points in known.items():
        band = [(place[c], y(m + s)) for c, m, s in points] + [(place[c], y(m - s)) for c, m, s in reversed(points)]
        canvas.add("polygon", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in band), class_=f"band {name}")
    for name, points in known.items():
        canvas.line([(place[c], y(m)) for c, m, _ in points], class_=f"curve {name}")
        for c, m, s in points:
            tip = f"{name}, {c:,} columns: {score(m)} ± {score(s)}"
            canvas.add("circle", cx=place[c], cy=y(m), r=3.4, class_=f"point {name}", data_tip=tip)
    canvas.text((left + right) / 2, height - 4, "number of columns", "middle", class_="axis")
    return canvas.done()


def count_figure(found: ColumnCount, width: float) -> str:
    """The share of the target explained in left-out rows over the number of columns, with one standard error."""
    height, left, right, top, bottom = 270.0, 50.0, width - 12, 16.0, 232.0
    points = found["points"]
    low = min(p["mean"] - p["error"] for p in points)
    high = max(p["mean"] + p["error"] for p in points)
    # What is far below, with many columns for few rows, does not press the rest together.
    low = max(min(low, 0.0), -0.5 * max(high, 0.1)) if low < 0 else low
    if high <= low:
        low, high = low - 0.5, high + 0.5
    label = (
        f"Share of the target explained in left-out rows over the number of columns, best with {found['best']:,}; "
        f"{found['taken']:,} are taken."
    )
    canvas = Canvas(width, height, label)
    last = points[-1]["columns"]

    def x(columns: int) -> float:
        return left + 10 + (right - left - 20) * (math.log(columns) / math.log(last) if last > 1 else 0.5)

    def y(value: float) -> float:
        return bottom - (min(max(value, low), high) - low) / (high - low) * (bottom - top)

    marks = ticks(low, high)
    canvas.vertical_axis(
        {m: percent(m, 0 if high - low > 0.05 else 1) for m in marks}, {m: y(m) for m in marks}, left, right
    )
    edge = [(x(p["columns"]), y(p["mean"] + p["error"])) for p in points]
    edge += [(x(p["columns"]), y(p["mean"] - p["error"])) for p in reversed(points)]
    canvas.add("polygon", points=" ".join(f"{a:.1f},{b:.1f}" for a, b in edge), class_="band chosen")
    canvas.add("line", x1=x(found["taken"]), x2=x(found["taken"]), y1=top, y2=bottom, class_="mark")
    canvas.line([(x(p["columns"]), y(p["mean"])) for p in points], class_="curve chosen")
    for p in points if len(points) <= MOST_DOTS else [p for p in points if p["columns"] in (found["taken"], found["best"])]:
        tip = f"{count(p['columns'], 'column')}: {percent(p['mean'])} ± {percent(p['error'])}"
        style = "point taken" if p["columns"] == found["taken"] else "point chosen"
        canvas.add(
            "circle", cx=x(p["columns"]), cy=y(p["mean"]), r=4.6 if "taken" in style else 3.0, class_=style, data_tip=tip
        )
    shown_sizes = [n for n in (1, 2, 3, 5, 10, 20, 50, 100, 200) if n < last and abs(x(n) - x(found["taken"])) > 18]
    for n in (*shown_sizes, found["taken"]):
        canvas.text(x(n), bottom + 17, f"{n:,}", "middle", class_="tick" if n != found["taken"] else "name")
    canvas.text((left + right) / 2, height - 4, "number of columns", "middle", class_="axis")
    return canvas.done()


def histogram_figure(histogram: Histogram, width: float, name: str) -> str:
    """How the numbers of the target are spread."""
    height, left, right, top, bottom = 180.0, 46.0, width - 10, 10.0, 148.0
    edges, counts = histogram["edges"], histogram["counts"]
    high = max(counts) or 1
    canvas = Canvas(width, height, f"Histogram of {name}, from {plain(edges[0])} to {plain(edges[-1])}.")
    span = (edges[-1] - edges[0]) or 1.0

    def x(value: float) -> float:
        return left + (value - edges[0]) / span * (right - left)

    marks = [m for m in ticks(0, high, 4) if float(m).is_integer()]
    where = {m: bottom - m / high * (bottom - top) for m in marks}
    canvas.vertical_axis({m: f"{m:,.0f}" for m in marks}, where, left, right)
    for i, rows in enumerate(counts):
        tall = rows / high * (bottom - top)
        canvas.add(
            "rect",
            x=x(edges[i]) + 0.5,
            y=bottom - tall,
            width=max(x(edges[i + 1]) - x(edges[i]) - 1, 0.5),
            height=tall,
            class_="bar",
            data_tip=f"{plain(edges[i])} to {plain(edges[i + 1])}: {rows:,} rows",
        )
    for mark in ticks(edges[0], edges[-1], 6 if width > 500 else 3):
        canvas.text(x(mark), bottom + 17, f"{mark:.6g}", "middle", class_="tick")
    return canvas.done()


def bars_figure(
    rows: Sequence[tuple[str, float, str, int | None]], width: float, label: str, mark: float | None = None
) -> str:
    """Bars that lie on their side, each with a name and a value: (name, length, value, column)."""
    rows = rows[:MOST_BARS]
    step, top = 24.0, 6.0
    height = top + step * len(rows) + (18 if mark is not None else 4)
    longest = max((len(name) for name, *_ in rows), default=0) * LETTER + 10
    left = max(40.0, min(longest, 0.38 * width))
    tail = max((len(value) for _, _, value, _ in rows), default=0) * 7.6 + 12
    right = width - tail
    most = max([1e-12, *(length for _, length, *_ in rows)]) if mark is None else 1.0
    canvas = Canvas(width, height, label)
    for i, (name, length, value, column) in enumerate(rows):
        y = top + i * step
        long = length / most * (right - left)
        canvas.text(left - 8, y + 15.5, fitted(shown(name), left - 10), "end", class_="name", data_f=column)
        canvas.add(
            "rect", x=left, y=y + 4, width=max(long, 1.0), height=step - 9, class_="bar", data_f=column, data_tip=value
        )
        canvas.text(left + max(long, 1.0) + 6, y + 15.5, value, class_="tick")
    if mark is not None:
        x = left + mark * (right - left)
        canvas.add("line", x1=x, x2=x, y1=top, y2=height - 16, class_="mark")
        canvas.text(x, height - 3, percent(mark, 0), "middle", class_="tick")
    return canvas.done()


def overlap_figure(overlap: Overlap, width: float) -> str:
    """How much of each column (down) each chosen column (across) explains by itself."""
    chosen, columns = overlap["chosen"], overlap["columns"]
    step = 22.0
    names = [f"{c['place']}  {shown(c['name'])}" if c["place"] else shown(c["name"]) for c in columns]
    left = max(90.0, min(max(len(name) for name in names) * LETTER + 14, 0.42 * width))
    cell = min((width - left - 4) / len(chosen), 52.0)
    top, gap = 24.0, 12.0 if len(columns) > len(chosen) else 0.0
    height = top + step * len(columns) + gap + 4
    canvas = Canvas(
        min(width, left + cell * len(chosen) + 4),
        height,
        "Heat map: share of each column (down) that each chosen column (across, by its place) explains by itself.",
    )
    for i, column in enumerate(chosen):
        canvas.text(
            left + (i + 0.5) * cell, top - 8, str(column["place"]), "middle", class_="tick", data_f=column["column"]
        )
    for r, column in enumerate(columns):
        y = top + r * step + (gap if r >= len(chosen) else 0.0)
        style = "name" if column["place"] else "name near"
        canvas.text(left - 8, y + 15, fitted(names[r], left - 10), "end", class_=style, data_f=column["column"])
        for i, other in enumerate(chosen):
            share = overlap["shares"][r][i]
            itself = column["column"] == other["column"]
            x = left + i * cell
            canvas.add(
                "rect",
                x=x + 0.75,
                y=y + 0.75,
                width=cell - 1.5,
                height=step - 1.5,
                class_="cell itself" if itself else "cell",
                style=None if itself else f"fill-opacity:{0.05 + 0.95 * share:.2f}",
                data_f=f"{column['column']} {other['column']}" if not itself else column["column"],
                data_says=None if itself else f"{other['column']},{column['column']},{percent(share)}",
            )
            if cell >= 30 and share >= 0.1 and not itself:
                tone = "in full" if share > 0.72 else "in half" if share > 0.58 else "in"
                canvas.text(x + cell / 2, y + 15, f"{share:.0%}".rstrip("%"), "middle", class_=tone)
    return canvas.done()
