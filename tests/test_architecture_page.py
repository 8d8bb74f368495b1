"""What the page on the architecture names is there."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

import easyfs
from easyfs.baselines.base import Baseline
from easyfs.engines.memory import Engine
from easyfs.engines.parts import PartedTable
from easyfs.passes.block import Block
from easyfs.passes.plan import Plan
from easyfs.passes.statistics import Statistics

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
TEXT = PAGE.read_text(encoding="utf-8")
HOUSE = Path(easyfs.__file__).parent

DOTTED = sorted(set(re.findall(r"`(easyfs(?:\.\w+)+)`", TEXT)))
# Attributes of what the page has introduced by its full name.
SHORT = {one.__name__: one for one in (Baseline, Block, Engine, PartedTable, Plan, Statistics)}
ATTRIBUTES = sorted({(name, own) for name, own in re.findall(r"`(\w+)\.(\w+)`", TEXT) if name != "easyfs"})
# Every equation of the paper.
EQUATIONS = [
    *("rmn_1", "rmn_2", "rmn_3", "re_1", "re_2", "re_3", "re_4", "re_5", "redu_1", "redu_2", "redu_3", "redu_4", "se_3"),
    *("he_1", "se_1", "ex_4", "ap_1", "ap_2", "ap_9", "se_4", "se_5", "se_8", "se_9"),
]


def find(name: str) -> Any:
    """The module, class, function or method of this name."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise LookupError(name)


def test_the_page_names_much() -> None:
    assert len(DOTTED) > 50
    assert len(ATTRIBUTES) > 10


@pytest.mark.parametrize("name", DOTTED)
def test_what_is_named_in_full_exists(name: str) -> None:
    assert find(name) is not None


@pytest.mark.parametrize(("owner", "attribute"), ATTRIBUTES)
def test_what_is_named_by_its_class_exists(owner: str, attribute: str) -> None:
    assert hasattr(SHORT[owner], attribute) or attribute in SHORT[owner].__annotations__


def test_every_room_is_there() -> None:
    rooms = {path.stem for path in HOUSE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    named = set(re.findall(r"^\| `easyfs\.(\w+)` \|", TEXT, flags=re.MULTILINE))
    assert named == rooms - {"__init__", "__main__", "py"}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_every_equation_has_its_row(equation: str) -> None:
    rows = [line for line in TEXT.splitlines() if line.startswith("| `") and f"`{equation}`" in line.split("|")[1]]
    assert len(rows) == 1
    assert "`easyfs." in rows[0].split("|")[3]


def test_files_exist() -> None:
    paths = set(re.findall(r"`(tests/[\w/]+\.py)`", TEXT)) - {"tests/baselines/test_my_method.py"}
    assert paths
    assert all((ROOT / path).exists() for path in paths)


@pytest.mark.parametrize("link", re.findall(r"\]\((\S+)\)", TEXT))
def test_links_lead_somewhere(link: str) -> None:
    assert (PAGE.parent / link).exists()
