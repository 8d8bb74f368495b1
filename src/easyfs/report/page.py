"""A report as one HTML page that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from importlib import resources
from typing import Any

import easyfs
from easyfs.common.extras import optional
from easyfs.passes.choosing import LEVEL
from easyfs.report import drawings
from easyfs.report.advice import advice, with_rows
from easyfs.report.alike import frequency_of
from easyfs.report.picture_drawings import picture_figure
from easyfs.report.prose import (
    TOGETHER,
    chance_sentence,
    count_sentence,
    count_warnings,
    divide_at,
    interchangeable_sentence,
    near_copies_sentence,
    whole_of,
)
from easyfs.report.summary import Content, Feature
from easyfs.report.words import chance, count, percent, plain, score, shown, told

# Names inside a sentence, which may run in the other direction.
_QUOTED = re.compile("“([^”]*)”")


def render(template: str, title: str, first: str, names: dict[str, Any], **values: Any) -> str:
    """A page of the common look: self-contained, dark and light, for any width.

    Parameters
    ----------
    template : str
        Name of the template, which extends ``layout.html``.
    title : str
        Title of the page.
    first : str
        Section that is skipped to.
    names : dict
        What scripts know: names of columns by their place, and ``list``, what the copy button copies.
    **values : dict
        What else the template speaks of; text that is markup must be wrapped with :func:`markup`.
    """
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
        "interchangeable": interchangeable_sentence,
        "often": frequency_of,
        "isolated": _isolated,
    }
    environment.globals |= {"count": count}
    script = _read("report.js").strip()
    page: str = environment.get_template(template).render(
        title=title,
        first=first,
        version=easyfs.__version__,
        script=markup(script),
        script_hash=hash_of(script),
        style=markup(_read("report.css").strip()),
        names=markup(json_block(names)),
        **values,
    )
    return page


def markup(text: str) -> Any:
    """Text that stands in a page as it is."""
    return optional("markupsafe", "report", "the HTML report").Markup(text)


def _isolated(text: str) -> Any:
    safe = optional("markupsafe", "report", "the HTML report")
    return markup(_QUOTED.sub(r"“<bdi>\1</bdi>”", str(safe.escape(text))))


def to_html(content: Content) -> str:
    """The page."""
    return render(
        "report.html",
        content["title"],
        "chosen",
        _names(content) | {"list": content["selected"]["names"]},
        c=content,
        level=LEVEL,
        chance_sentence=chance_sentence(content),
        count_sentence=count_sentence(content),
        near_copies=near_copies_sentence(content),
        warnings=count_warnings(content),
        explain=whole_of(content),
        advice=lambda what: advice(content, what),
        with_rows=with_rows(content),
        divide=divide_at(content),
        together=TOGETHER,
        pictures=_pictures(content),
        figures={name: [markup(svg) for svg in both] for name, both in _figures(content).items()},
    )


def _read(name: str) -> str:
    return resources.files("easyfs.report").joinpath("templates", name).read_text(encoding="utf-8")


def hash_of(script: str) -> str:
    """What a content security policy calls a script by."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def json_block(value: Any) -> str:
    """JSON that can stand inside a script element: no markup, no line ends that scripts see."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _names(content: Content) -> dict[str, Any]:
    """Names of the columns that figures speak of."""
    overlap = content["overlap"]
    columns = [*content["features"], *(overlap["columns"] if overlap is not None else ())]
    return {str(entry["column"]): shown(entry["name"]) for entry in columns}


def _bar_of(feature: Feature) -> tuple[str, float, str, int | None]:
    """How often a column came up; where others can take its place, how often one of them did."""
    share, own = frequency_of(feature), feature["frequency"]
    text = percent(own, 0) if share == own else f"{percent(share, 0)} ({percent(own, 0)} itself)"
    return feature["name"], share or 0.0, text, feature["column"]


def _pictures(content: Content) -> dict[str, list[Any]]:
    """The pictures as markup, those of single columns and those of columns together."""
    found = content["pictures"]
    if found is None:
        return {"alone": [], "together": []}
    return {
        "alone": [(picture, markup(picture_figure(picture))) for picture in found["columns"]],
        "together": [(picture, markup(picture_figure(picture))) for picture in found["together"]],
    }


def _figures(content: Content) -> dict[str, tuple[str, str]]:
    """Each figure twice, for a wide and for a narrow page."""
    drawn: dict[str, Callable[[float], str]] = {"gains": lambda width: drawings.gain_figure(content, width)}
    measured, overlap, target = content["cross_validation"], content["overlap"], content["target"]
    counted = content["column_count"]
    if counted is not None:
        drawn["count"] = lambda width: drawings.count_figure(counted, width)
    if measured is not None:
        drawn["scores"] = lambda width: drawings.score_figure(measured, width)
    if overlap is not None and overlap["chosen"]:
        drawn["overlap"] = lambda width: drawings.overlap_figure(overlap, width)
    if content["stability"] is not None:
        often = [_bar_of(feature) for feature in content["features"]]
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
