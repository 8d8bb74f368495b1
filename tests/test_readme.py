"""README's Python and commands are run as printed; ``.ci/run`` does so where nothing but its first command was run, too."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import readme  # noqa: E402

sys.path.remove(str(HERE))


def test_there_is_something_to_run() -> None:
    assert len(readme.blocks("python")) >= 3
    assert {line.split()[1] for line in readme.commands()} >= {"inspect", "select", "compare", "methods"}
    assert all(readme.HOUSES in line or line == "easyfs methods" for line in readme.commands())


def test_what_is_imported_comes_with_the_first_command() -> None:
    """The extras cli and report bring these, and no others."""
    brought = {"easyfs", "sklearn", "numpy", "scipy", "joblib", "polars", "matplotlib", "typer", "rich"}
    for block in readme.blocks("python"):
        for node in ast.walk(ast.parse(block)):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert {name.split(".")[0] for name in names} <= brought


@pytest.mark.slow
def test_it_runs_as_printed() -> None:
    subprocess.run([sys.executable, str(HERE / "readme.py")], check=True, timeout=600)
