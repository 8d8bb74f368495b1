"""Every public object says what it is, and has an example; the doctests of the library run these."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import easyfs
import easyfs.evaluation
import easyfs.report
from easyfs.registry import CLASSES

PUBLIC: list[tuple[ModuleType, str]] = [
    *((easyfs, name) for name in (*easyfs.__all__, *CLASSES) if name != "__version__"),
    *((easyfs.evaluation, name) for name in easyfs.evaluation.__all__),
    *((easyfs.report, name) for name in easyfs.report.__all__),
]


def examples_that_run(found: Any) -> list[doctest.Example]:
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(found) or "")
    return [example for example in examples if not example.options.get(doctest.SKIP)]


@pytest.mark.parametrize(("module", "name"), dict.fromkeys(PUBLIC), ids=lambda part: getattr(part, "__name__", part))
def test_a_public_object_has_an_example(module: ModuleType, name: str) -> None:
    assert examples_that_run(getattr(module, name)), f"{module.__name__}.{name} has no example that runs"


def test_the_reference_lists_every_public_object() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "index.rst").read_text(encoding="utf-8")
    listed = {line.strip().rpartition(".")[2] for line in page.splitlines() if line.startswith("   ")}
    assert {name for _, name in PUBLIC} - listed == set()
