"""A report as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from importlib import resources
from typing import Any

from easyfs.common.extras import optional
from easyfs.passes.choosing import LEVEL
from easyfs.report import drawings
from easyfs.report.prose import TOGETHER, chance_sentence
from easyfs.report.summary import Content
from easyfs.report.words import chance, count, percent, plain, score, shown, told

# Names inside a sentence, which may run in the other direction.
_QUOTED = re.compile("“([^”]*)”")


def to_html(content: Content) -> str:
    """The page."""
    jinja2 = optional("jinja2", "report", "the HTML report")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_read),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "shown": shown,
        "percent": percent,
        "plain": plain,
        "score": score,
        "told": told,
        "chance": chance,
    }
    environment.globals |= {"count": count}
    safe = optional("markupsafe", "report", "the HTML report")
    markup: Callable[[str], Any] = safe.Markup
    environment.filters["isolated"] = lambda text: markup(_QUOTED.sub(r"“<bdi>\1</bdi>”", str(safe.escape(text))))
    script = _read("report.js").strip()
    page: str = environment.get_template("report.html").render(
        c=content,
        level=LEVEL,
        chance_sentence=chance_sentence(content),
        together=TOGETHER,
        script=markup(script),
        script_hash=hash_of(script),
        style=markup(_read("report.css").strip()),
        names=markup(json_block(_names(content))),
        figures={name: [markup(svg) for svg in both] for name, both in _figures(content).items()},
    )
    return page


def _read(name: str) -> str:
    return resources.files("easyfs.report").joinpath("templates", name).read_text(encoding="utf-8")


def hash_of(script: str) -> str:
    """What a content security policy calls a script by."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def json_block(value: Any) -> str:
    """JSON that can stand inside a script element: no markup, no line ends that scripts see."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _names(content: Content) -> dict[str, str]:
    """Names of the columns that figures speak of."""
    overlap = content["overlap"]
    columns = [*content["features"], *(overlap["columns"] if overlap is not None else ())]
    return {str(entry["column"]): shown(entry["name"]) for entry in columns}


def _figures(content: Content) -> dict[str, tuple[str, str]]:
    """Each figure twice, for a wide and for a narrow page."""
    drawn: dict[str, Callable[[float], str]] = {"gains": lambda width: drawings.gain_figure(content, width)}
    measured, overlap, target = content["cross_validation"], content["overlap"], content["target"]
    if measured is not None:
        drawn["scores"] = lambda width: drawings.score_figure(measured, width)
    if overlap is not None and overlap["chosen"]:
        drawn["overlap"] = lambda width: drawings.overlap_figure(overlap, width)
    if content["stability"] is not None:
        often = [(f["name"], f["frequency"] or 0.0, percent(f["frequency"], 0), f["column"]) for f in content["features"]]
        label = "Share of the runs in which each chosen column came up again."
        drawn["stability"] = lambda width: drawings.bars_figure(often, width, label, 0.5)
    if target is not None and target["histogram"] is not None:
        histogram, name = target["histogram"], shown(target["name"] or "the target")
        drawn["target"] = lambda width: drawings.histogram_figure(histogram, width, name)
    elif target is not None and target["classes"]:
        largest = sorted(target["classes"], key=lambda entry: -entry["rows"])[:20]
        rows: list[tuple[str, float, str, int | None]] = [
            (entry["label"], float(entry["rows"]), f"{entry['rows']:,} ({percent(entry['share'])})", None)
            for entry in largest
        ]
        drawn["target"] = lambda width: drawings.bars_figure(rows, width, "Number of rows of each class.")
    return {name: (draw(drawings.WIDE), draw(drawings.NARROW)) for name, draw in drawn.items()}
