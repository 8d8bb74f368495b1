"""The page on saved selections shows what runs, and names what is in the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from easyfs.base.saving import schema

PAGE = (Path(__file__).parents[2] / "docs" / "saving.md").read_text(encoding="utf-8")


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    names: dict[str, object] = {}
    exec("\n".join(blocks), names)
    assert (tmp_path / "selection.json").exists()


def test_every_field_is_described() -> None:
    table = PAGE[PAGE.index("| field |") :]
    for field in [*schema()["properties"], *(f for part in schema()["$defs"].values() for f in part["properties"])]:
        assert f"`{field}`" in table
