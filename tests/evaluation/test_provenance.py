"""A row says what it was made with, and another code is another result."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

from easyfs import make_selector
from easyfs.common.version import VERSION
from easyfs.evaluation import Comparison, compare, provenance
from easyfs.evaluation.provenance import code_of

from .spies import QUICK, Spy, classes, times_computed


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_code_of_a_selector_is_that_of_all_it_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "easyfs"
    for path in provenance.PACKAGE.rglob("*.py"):
        copy = package / path.relative_to(provenance.PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    monkeypatch.setattr(provenance, "PACKAGE", package)

    def codes() -> dict[str, str]:
        provenance._code_of_module.cache_clear()
        provenance._code_of_class.cache_clear()
        return {name: code_of(make_selector(name)) for name in ("easyfs", "lasso", "l1_logistic", "pearson")}

    try:
        before = codes()
        assert len(set(before.values())) == 4
        for changed, expected in (
            ("baselines/l1_path.py", {"lasso", "l1_logistic"}),
            ("stages/sequential.py", {"easyfs"}),
            ("tables/target.py", {"easyfs", "lasso", "l1_logistic", "pearson"}),
            ("evaluation/plots.py", set()),
        ):
            with (package / changed).open("a") as stream:
                stream.write("# changed\n")
            after = codes()
            assert {name for name in before if before[name] != after[name]} == expected, changed
            before = after
    finally:
        provenance._code_of_module.cache_clear()
        provenance._code_of_class.cache_clear()


def test_parameters_and_inner_models_are_part_of_it() -> None:
    assert code_of(RFE(SVC(kernel="linear"))) != code_of(RFE(make_selector("pearson")))
    assert code_of(RFE(SVC())) == code_of(RFE(SVC()))
    assert code_of("all") == code_of("all")


def test_a_patched_fit_is_computed_anew(tmp_path: Path) -> None:
    X, y = classes()
    path = tmp_path / "results.jsonl"

    def selector(source: str) -> Any:
        """A class as one defines it in a notebook."""
        space: dict[str, Any] = {"Spy": Spy, "__name__": "notebook"}
        exec(f"class Mine(Spy):\n    def fit(self, X, y):\n        {source}\n        return super().fit(X, y)", space)
        return space["Mine"]()

    first = compare({"mine": selector("X = X + 0.0")}, X, y, sizes=[2], results=path, **QUICK)
    Spy.seen.clear()
    compare({"mine": selector("X = X + 0.0")}, X, y, sizes=[2], results=path, **QUICK)
    assert Spy.seen == []
    rolled = selector("X = X[:, ::-1]")
    changed = compare({"mine": rolled}, X, y, sizes=[2], results=path, **QUICK)
    assert len(Spy.seen) == 3
    orders = [found.fit_rows["data", "mine", 0, 0] for found in (first, changed)]
    assert orders[0]["order"] != orders[1]["order"]
    assert orders[0]["key"] == orders[1]["key"]
    assert orders[0]["code"] != orders[1]["code"]
    # Unless one asks for whatever is there.
    Spy.seen.clear()
    compare({"mine": selector("X = X * 1.0")}, X, y, sizes=[2], results=path, any_code=True, **QUICK)
    assert Spy.seen == []


def test_every_row_says_what_it_was_made_with(tmp_path: Path) -> None:
    X, y = classes()
    path = tmp_path / "results.jsonl"
    compare(["pearson"], X, y, sizes=[2], results=path, **QUICK)
    for row in rows_of(path)[1:]:
        assert row["version"] == VERSION
        assert row["date"].endswith("Z")
        assert row["threads"] >= 1
        assert "cores" in row["machine"]
        assert f"numpy {np.__version__}" in row["libraries"]
        assert "commit" in row
        assert row["seed"] == row["fold"]
    assert set(Comparison.load(path).fits()["version"]) == {VERSION}


def test_rows_without_a_version_are_read_and_not_gone_on_from(tmp_path: Path) -> None:
    X, y = classes()
    path = tmp_path / "results.jsonl"
    compare(["pearson"], X, y, sizes=[2], results=path, **QUICK)
    new = ("version", "commit", "date", "machine", "libraries", "threads", "code", "table", "seed")
    old = [{name: entry for name, entry in row.items() if name not in new} for row in rows_of(path)]
    path.write_text("".join(json.dumps(row) + "\n" for row in old))
    loaded = Comparison.load(path)
    assert loaded.versions() == {"pearson": ["unknown"], "random": ["unknown"]}
    assert not np.isnan(loaded.matrix()[0]).any()
    before = times_computed(path)
    compare(["pearson"], X, y, sizes=[2], results=path, any_code=True, **QUICK)
    assert times_computed(path) == before
    found = compare(["pearson"], X, y, sizes=[2], results=path, **QUICK)
    assert (times_computed(path) - before).total() == 12
    assert VERSION in found.versions()["pearson"][0]
