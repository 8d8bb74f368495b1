"""The page of a comparison of methods, in the look of the report."""

from __future__ import annotations

from typing import Any

from easyfs.report.canvas import Canvas, ticks
from easyfs.report.drawings import NARROW, WIDE
from easyfs.report.page import markup, render
from easyfs.report.words import score, shown

# Colours of methods; further ones begin anew with dashes.
COLOURS = 6
DASHES = (None, "7 3", "2 3")


def comparison_page(
    content: dict[str, Any], models: list[dict[str, Any]], ranks: list[list[str]], failures: list[str]
) -> str:
    """One page that needs nothing else.

    Parameters
    ----------
    content : dict
        What was compared, on what table, by which measure.
    models : list of dict
        For each model its ``name``, ``sizes``, ``scores`` by method and size, those of the ``whole`` table, and the
        ``rows`` and ``lines`` to be shown.
    ranks : list of list of str
        Method, mean rank and time of a fit, the best first.
    failures : list of str
        What failed, and why.
    """
    looks = _looks(list(content["mean_ranks"]))
    figures = {model["name"]: [markup(curves_figure(model, looks, width)) for width in (WIDE, NARROW)] for model in models}
    return render(
        "comparison.html",
        f"Comparison on {content['name']}",
        "ranking",
        {},
        c=content,
        measure=content["metric"].replace("_", " "),
        models=models,
        ranks=ranks,
        failures=failures,
        figures=figures,
        looks=looks,
    )


def _looks(methods: list[str]) -> dict[str, dict[str, Any]]:
    """Colour and line of each method: EasyFS thick, random selection grey."""
    found: dict[str, dict[str, Any]] = {}
    for method in sorted(methods, key=lambda name: not name.lower().startswith("easyfs")):
        if method == "random":
            found[method] = {"style": "grey", "dash": None}
            continue
        place = sum(look["style"] != "grey" for look in found.values())
        own = " own" if method.lower().startswith("easyfs") else ""
        found[method] = {"style": f"k{place % COLOURS}{own}", "dash": DASHES[place // COLOURS % len(DASHES)]}
    return found


def _with_room(low: float, high: float) -> tuple[float, float]:
    room = 0.04 * (high - low) or 0.5
    return low - room, high + room


def curves_figure(model: dict[str, Any], looks: dict[str, dict[str, Any]], width: float) -> str:
    """The score of each method over the number of columns, with one model."""
    height, left, right, top, bottom = 300.0, 50.0, width - 12, 16.0, 262.0
    sizes, scores = model["sizes"], model["scores"]
    canvas = Canvas(width, height, f"Score of {shown(model['name'])} over the number of columns, a line for each method.")
    every = [entry["mean"] for entry in (*scores.values(), *model["whole"].values()) if entry["mean"] is not None]
    if not every:
        return canvas.done()
    low, high = _with_room(min(every), max(every))
    gap = (right - left - 24) / max(len(sizes) - 1, 1)
    place = {size: left + 12 + gap * (i if len(sizes) > 1 else 0.5) for i, size in enumerate(sizes)}

    def y(value: float) -> float:
        return bottom - (value - low) / (high - low) * (bottom - top)

    marks = ticks(low, high)
    canvas.vertical_axis({m: f"{m:.4g}" for m in marks}, {m: y(m) for m in marks}, left, right)
    for size in sizes:
        canvas.text(place[size], bottom + 17, f"{size:,}", "middle", class_="tick")
    for entry in model["whole"].values():
        if entry["mean"] is not None:
            tip = f"all {entry['size']:,} columns: {score(entry['mean'])}"
            ends = {"x1": left, "x2": right, "y1": y(entry["mean"]), "y2": y(entry["mean"])}
            canvas.add("line", **ends, class_="line whole", data_tip=tip)
    for method, look in reversed(looks.items()):
        known = [(size, scores[method, size]) for size in sizes if (method, size) in scores]
        points = [(size, entry) for size, entry in known if entry["mean"] is not None]
        at = [(place[size], y(entry["mean"])) for size, entry in points]
        canvas.line(at, class_=f"line {look['style']}", stroke_dasharray=look["dash"])
        for (x, up), (size, entry) in zip(at, points, strict=True):
            spread = "" if entry["spread"] is None else f" ± {score(entry['spread'])}"
            tip = f"{method}, {size:,} columns: {score(entry['mean'])}{spread}"
            canvas.add("circle", cx=x, cy=up, r=3.2, class_=f"point {look['style']}", data_tip=tip)
    canvas.text((left + right) / 2, height - 4, "number of columns", "middle", class_="axis")
    return canvas.done()
