"""Other models on the columns that the paper's tables were made with: nothing is selected anew."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier

PAPER = Path(__file__).resolve().parents[2] / "benchmarks" / "paper"
NAMES = ("datasets", "methods", "run", "tables", "models")


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """``models.py``, once it has measured what ``run.py`` chose, with wine as the only data set and few methods."""
    monkeypatch.syspath_prepend(str(PAPER))
    for name in NAMES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    import models
    import run

    wine = SimpleNamespace(
        name="wine",
        task="classification",
        sizes=(2, 4),
        curve=(2, 3, 4),
        available=True,
        note="",
        load=lambda: load_wine(return_X_y=True),
    )
    few = {label: run.METHODS[label] for label in ("PPMCC", "FisherScore", "random")}
    for module in (run, models):
        monkeypatch.setattr(module, "get", lambda name: wine)
        monkeypatch.setattr(module, "RAW", tmp_path)
        monkeypatch.setattr(module, "methods_for", lambda task: few)
    monkeypatch.setattr(models, "OWN", tmp_path / "models")
    monkeypatch.setattr(models, "REPEATS", 1)
    run.run("wine", few, 1, argparse.Namespace(jobs=1, any_code=True), float("inf"))
    models.measure("wine", 1, {"5 nearest neighbours"}, 1)
    return models


def rows_of(file: Path, kind: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    found = [json.loads(line) for line in file.read_text().splitlines()]
    return {(row["selector"], row["fold"], row.get("size")): row for row in found if row["kind"] == kind}


def test_models_are_measured_on_the_columns_that_were_chosen(models: ModuleType, tmp_path: Path) -> None:
    chosen, own = rows_of(tmp_path / "wine.jsonl", "fit"), rows_of(tmp_path / "models" / "wine.jsonl", "fit")
    assert {place: row["order"] for place, row in own.items()} == {place: row["order"] for place, row in chosen.items()}
    scores = rows_of(tmp_path / "models" / "wine.jsonl", "score")
    assert {place[2] for place in scores} == {2, 4}
    X, y = load_wine(return_X_y=True)
    (split,) = [
        split
        for split in models.make_splits(
            X, y, task="classification", folds=5, repeats=1, cv=None, groups=None, random_state=0
        )
        if split.fold == 2
    ]
    columns = chosen["PPMCC", 2, None]["order"][:4]
    centre, spread = X[split.train].mean(axis=0), X[split.train].std(axis=0)
    Z = ((X - centre) / spread)[:, columns]
    expected = KNeighborsClassifier().fit(Z[split.train], y[split.train]).score(Z[split.test], y[split.test])
    assert scores["PPMCC", 2, 4]["values"]["accuracy"] == pytest.approx(expected)


def test_other_columns_are_measured_anew_and_the_same_ones_are_not(models: ModuleType, tmp_path: Path) -> None:
    file, results = tmp_path / "wine.jsonl", tmp_path / "models" / "wine.jsonl"
    before = rows_of(results, "score")
    models.measure("wine", 1, {"5 nearest neighbours"}, 1)
    assert rows_of(results, "score") == before
    (changed,) = [row for place, row in rows_of(file, "fit").items() if place == ("PPMCC", 0, None)]
    with file.open("a") as stream:  # as if other code had found other columns
        stream.write(json.dumps(changed | {"order": changed["order"][::-1], "code": "other"}) + "\n")
    models.measure("wine", 1, {"5 nearest neighbours"}, 1)
    after = rows_of(results, "score")
    assert after["PPMCC", 0, 2]["values"] != before["PPMCC", 0, 2]["values"]
    assert {place: row for place, row in after.items() if place[:2] != ("PPMCC", 0)} == {
        place: row for place, row in before.items() if place[:2] != ("PPMCC", 0)
    }
