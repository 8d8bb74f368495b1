"""The confirmatory comparison: tables that were fixed, the rules they are made by, and who stands where."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

CONFIRM = Path(__file__).resolve().parents[2] / "benchmarks" / "confirm"


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CONFIRM))
    import make

    return make


@pytest.fixture
def standing(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(CONFIRM))
    import standing

    return standing


def test_enough_tables_are_fixed_with_source_target_and_checksum(make: ModuleType) -> None:
    fixed = make.known()
    assert list(fixed) == list(make.TABLES)
    blocks: dict[str, set[str]] = {"classification": set(), "regression": set()}
    for name, about in make.TABLES.items():
        assert about["source"] in make.SETTINGS["source"]
        assert about["target"]
        assert about["about"]
        assert all(reason for reason in about.get("drop", {}).values())
        large = fixed[name]["rows"] >= 100 and fixed[name]["columns"] >= 50
        assert large != about.get("small", False)
        assert ("classes" in fixed[name]) == (about["task"] == "classification")
        assert fixed[name]["rows"] <= make.SETTINGS["max_rows"]
        if large:
            blocks[about["task"]].add(about.get("block", name))
    assert min(len(found) for found in blocks.values()) >= 12


def test_rows_that_double_others_and_rare_classes_go(make: ModuleType) -> None:
    column = np.array([1.0, 1.0, np.nan, np.nan, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    y = np.array(["a", "a", "a", "a", "a", "a", "a", "b", "b", "b"], dtype=object)
    rows = make._rows(np.arange(10), {"x": column}, y, True)
    assert rows.tolist() == [0, 2, 4, 5, 6]  # one of each double, and no class of three rows


def test_text_becomes_numbers_or_indicators(make: ModuleType) -> None:
    columns = {
        "numbers": make._kind(np.array(["1", "2", ".", "3"] * 10, dtype=object), False),
        "two": make._kind(np.array(["no", "yes", "yes", " "] * 10, dtype=object), False),
        "many": make._kind(np.array(["p", "q", "r", "s"] * 9 + ["rare", "p", "q", "r"], dtype=object), False),
        "codes": make._kind(np.array([1.0, 2.0, 1.0, 3.0] * 10), True),
        "same": make._kind(np.full(40, 5.0), False),
        "again": make._kind(np.array([1.0, 2.0, np.nan, 3.0] * 10), False),
    }
    names, matrix = make._matrix(columns, np.arange(40))
    assert names == ["numbers", "two=yes", "many=p", "many=q", "many=r", "codes=1.0", "codes=2.0", "codes=3.0"]
    assert np.array_equal(matrix[:4, 0], [1.0, 2.0, np.nan, 3.0], equal_nan=True)
    assert matrix[:4, 1].tolist() == [0.0, 1.0, 1.0, 0.0]
    assert matrix[:, 2].sum() == 10


def test_a_table_that_was_changed_is_not_taken(make: ModuleType, tmp_path: Path) -> None:
    arrays = {"X": np.ones((3, 2)), "y": np.arange(3.0), "names": np.array(["a", "b"])}
    np.savez(tmp_path / "sonar.npz", **arrays)
    with pytest.raises(ValueError, match=r"sonar: .* is not the table that was fixed"):
        make.load("sonar", tmp_path)
    with pytest.raises(FileNotFoundError, match=r"make it with benchmarks/confirm/make.py"):
        make.load("dna", tmp_path)
    same = make.checksum(arrays)
    assert make.checksum(arrays | {"X": np.asfortranarray(arrays["X"])}) == same
    assert make.checksum(arrays | {"y": arrays["y"] + 1e-12}) != same


def results(folder: Path, standing: ModuleType, scores: dict[str, dict[str, float | None]]) -> Any:
    """Made-up results: table to method to the score of every fold, None for a fit that failed."""
    for name, methods in scores.items():
        rows: list[dict[str, Any]] = [
            {
                "kind": "data",
                "name": name,
                "data": name,
                "columns": 60,
                "selectors": list(methods),
                "models": ["svm"],
                "metrics": ["accuracy"],
                "smaller_is_better": [],
            }
        ]
        for label, value in methods.items():
            for fold in range(5):
                place = {"name": name, "data": name, "selector": label, "repeat": 0, "fold": fold, "key": f"{label}{fold}"}
                failed = value is None and fold == 3
                fit = {"status": "failed", "reason": "no"} if failed else {"status": "ok", "sizes": [10, 30], "order": []}
                rows.append({"kind": "fit", **place, **fit})
                score = {"status": "ok", "model": "svm", "values": {"accuracy": value or 0.99, "nmse": 1 - (value or 0.99)}}
                rows += [] if failed else [{"kind": "score", **place, "size": size, **score} for size in (10, 30)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return standing.Results(folder)


def test_a_failure_ranks_last_and_a_block_counts_once(standing: ModuleType, tmp_path: Path) -> None:
    one = {"EasyFS #0": 0.8, "EasyFS #1": 0.6, "RF": 0.75, "random": 0.5, "Lasso": None}
    scores = {
        "sonar": one,
        "meats_fat": {"EasyFS #0": 0.4, "EasyFS #1": 0.4, "RF": 0.3, "random": 0.2, "Lasso": 0.1},
        "meats_water": {"EasyFS #0": 0.1, "EasyFS #1": 0.1, "RF": 0.3, "random": 0.2, "Lasso": 0.4},
    }
    found = results(tmp_path, standing, scores)
    methods, through = standing.methods_of(found, list(scores), slow=True)
    assert methods == ["EasyFS", "RF", "Lasso", "random"]
    assert through == list(scores)
    at = standing.standing(found, through, methods, 10, "svm")
    assert at.blocks == ["sonar", "meats"]
    assert at.ranks.tolist() == [[2.0, 1.0, 4.0, 3.0], [2.5, 2.0, 2.5, 3.0]]
    np.testing.assert_allclose(at.scores, [[0.7, 0.75, 0.5, 0.5], [0.25, 0.3, 0.25, 0.2]])
    assert found.failures() == {("sonar", "Lasso", "no"): 1}


def test_a_table_in_which_a_method_was_not_tried_is_left_out(standing: ModuleType, tmp_path: Path) -> None:
    found = results(tmp_path, standing, {"sonar": {"EasyFS #0": 0.8, "STG": 0.7}, "cells": {"EasyFS #0": 0.8}})
    assert standing.methods_of(found, ["sonar", "cells"], slow=True) == (["EasyFS", "STG"], ["sonar"])
    assert standing.methods_of(found, ["sonar", "cells"], slow=False) == (["EasyFS"], ["sonar", "cells"])


def test_the_interval_over_blocks_holds_the_mean(standing: ModuleType) -> None:
    gap = standing.bootstrap(np.array([1.0, 2.0, 3.0, -1.0]), "RF")
    assert gap.low < gap.mean == 1.25 < gap.high
    assert 0.5 < gap.ahead < 1.0
