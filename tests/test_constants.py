"""The table of constants in the documentation is that of the code."""

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "method.md"
# Where the constants of the page are: by the last part of the module's name.
ROOMS = {
    **{
        name: f"easyfs.sample.{name}"
        for name in ("drawing", "rows", "ridge", "chance", "elastic", "screens", "interactions")
    },
    **{name: f"easyfs.passes.{name}" for name in ("block", "make_plan", "choosing", "choose", "cross_validate")},
    "partial": "easyfs.stages.partial",
    "streaming": "easyfs.estimator.streaming",
    "measuring": "easyfs.sums.measuring",
    "result": "easyfs.base.result",
    "screening": "easyfs.passes.screening",
}


def number(text):
    text = text.strip()
    if "^" in text:
        base, power = text.split("^")
        return float(base) ** float(power)
    if "/" in text:
        above, below = text.split("/")
        return float(above) / float(below)
    return float(text)


def rows():
    table = PAGE.read_text(encoding="utf-8").split("<!-- constants -->")[1]
    for line in table.splitlines():
        names = re.findall(r"`([a-z_]+)\.([A-Z_0-9]+)`", line.split("|")[1] if line.startswith("| `") else "")
        if names:
            yield names, [number(value) for value in line.split("|")[2].split(",")]


@pytest.mark.parametrize(("names", "values"), list(rows()))
def test_a_constant_has_the_value_that_the_page_says(names, values):
    found = []
    for room, name in names:
        value = getattr(importlib.import_module(ROOMS[room]), name)
        found += list(value.values()) if isinstance(value, dict) else [value]
    assert found == pytest.approx(values)


@pytest.mark.parametrize("room", [room for room in ROOMS if room not in ("measuring",)])
def test_every_constant_that_decides_something_is_on_the_page(room):
    listed = {name for names, _ in rows() for where, name in names if where == room}
    text = Path(importlib.import_module(ROOMS[room]).__file__).read_text(encoding="utf-8")
    defined = {name for line in re.findall(r"^([A-Z][A-Z_0-9, ]+) = ", text, re.MULTILINE) for name in line.split(", ")}
    technical = {"DENSE_COLUMNS", "DENSE_NUMBERS", "PENALTIES", "PENALTY_TIE", "ROUNDING"}
    technical |= {
        "GUMBEL_MEAN",
        "GUMBEL_SPREAD",
        "COLUMNS",
        "BLOCK",
        "PAIR_BLOCK",
        "PAIRS",
        "SECONDS",
        "PARTNER_BLOCK",
        "DEAD_NODE",
        "HASH_UNIT",
        "HASHED",
        "BESIDE",
        "BLOCK_NUMBERS",
        "TOGETHER",
        "WORTH_A_THREAD",
        "GIGABYTE",
        "LARGE",
    }
    assert defined - listed - technical == set()
