"""A comparison goes on where it was ended, and computes nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest
from sklearn.model_selection import TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from easyfs import make_selector
from easyfs.evaluation import Comparison, compare

from .spies import QUICK, Spy, assert_same, classes, table, times_computed

BREAST = """
import sys
from sklearn.datasets import load_breast_cancer
from easyfs.evaluation import compare

X, y = load_breast_cancer(return_X_y=True)
compare(
    ["easyfs", "pearson", "fisher_score", "relieff", "all"], X[::3], y[::3], sizes=[2, 5], repeats=2,
    results=sys.argv[1], n_jobs=int(sys.argv[2]),
)
"""


def breast(path: Path | None) -> Comparison:
    X, y = load_breast_cancer(return_X_y=True)
    names = ["easyfs", "pearson", "fisher_score", "relieff", "all"]
    return compare(names, X[::3], y[::3], sizes=[2, 5], repeats=2, results=path)


@pytest.fixture(scope="module")
def uninterrupted() -> Comparison:
    return breast(None)


def wait_for(what: Any, seconds: float = 600.0) -> None:
    """Wait until something is so; the limit is for a run that hangs."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.002)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_run_that_is_killed_goes_on_where_it_was(tmp_path: Path, uninterrupted: Comparison, n_jobs: int) -> None:
    path = tmp_path / "results.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", BREAST, str(path), str(n_jobs)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src"), "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
    )
    try:
        wait_for(lambda: (path.exists() and path.read_bytes().count(b"\n") > 25) or process.poll() is not None)
    finally:
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
    assert process.returncode == -signal.SIGKILL, errors.decode()
    first = times_computed(path) if path.read_bytes().endswith(b"\n") else Counter()
    found = breast(path)
    assert_same(found, uninterrupted)
    counts = times_computed(path)
    assert set(counts.values()) == {1}  # nothing was done twice
    assert first.keys() < counts.keys()  # and nothing was lost
    assert len(counts) == 10 * (5 + 1) + 10 * (5 * 2 + 1)
    # What is in the file says the same.
    assert_same(Comparison.load(path), uninterrupted)


def test_a_rerun_computes_nothing(tmp_path: Path) -> None:
    X, y = classes()
    path = tmp_path / "results.jsonl"
    once = compare([Spy(), "all"], X, y, sizes=[1, 3], results=path, **QUICK)
    content = path.read_bytes()
    Spy.seen.clear()
    again = compare([Spy(), "all"], pd.DataFrame(X), y.tolist(), sizes=[3, 1, 3], results=str(path), **QUICK)
    assert Spy.seen == []
    assert path.read_bytes() == content
    assert_same(once, again)


def test_adding_something_computes_only_that(tmp_path: Path) -> None:
    X, y = classes()
    path = tmp_path / "results.jsonl"
    how: dict[str, Any] = {"folds": 3, "repeats": 1, "results": path}
    nb, tree = {"nb": GaussianNB()}, {"tree": DecisionTreeClassifier()}
    compare(["pearson"], X, y, sizes=[3], models=nb, **how)
    steps: list[tuple[Any, dict[str, Any], dict[str, int]]] = [
        # A model: three folds of two selectors.
        (["pearson"], {"sizes": [3], "models": nb | tree}, {"score": 6}),
        # A smaller size: what was chosen is known.
        (["pearson"], {"sizes": [1, 3], "models": nb | tree}, {"score": 12}),
        # A selector.
        (["pearson", "fisher_score"], {"sizes": [1, 3], "models": nb | tree}, {"fit": 3, "score": 12}),
        # A repeat.
        (["pearson", "fisher_score"], {"sizes": [1], "models": nb, "repeats": 2}, {"fit": 9, "score": 9}),
    ]
    for selectors, more, expected in steps:
        before = times_computed(path)
        found = compare(selectors, X, y, **how | more)
        added = times_computed(path) - before
        assert Counter(place[0] for place in added) == expected
        assert set(times_computed(path).values()) == {1}
        assert_same(found, compare(selectors, X, y, **how | more | {"results": None}))


def test_a_larger_size_is_added(tmp_path: Path) -> None:
    X, y = classes()
    path = tmp_path / "results.jsonl"
    compare(["pearson"], X, y, sizes=[2], results=path, **QUICK)
    before = times_computed(path)
    found = compare(["pearson"], X, y, sizes=[2, 5], results=path, **QUICK)
    added = times_computed(path) - before
    assert {place[5] for place in added if place[0] == "score"} == {5}
    assert_same(found, compare(["pearson"], X, y, sizes=[2, 5], **QUICK))


@pytest.mark.parametrize(("before", "after"), [([4], [2, 4]), ([5], [4]), ([2], [4]), ([2, 4], [3])])
@pytest.mark.parametrize(
    "selector",
    [
        "pearson",
        RFE(DecisionTreeClassifier(random_state=0)),
        SelectFromModel(DecisionTreeClassifier(random_state=0), threshold=-np.inf),
    ],
)
def test_sizes_one_after_the_other_equal_sizes_at_once(tmp_path: Path, selector: Any, before: Any, after: Any) -> None:
    """A method that gives a set has no order from which another size could be read off."""
    X, y = classes(seed=3)
    path = tmp_path / "results.jsonl"
    compare([selector], X, y, sizes=before, results=path, **QUICK)
    found = compare([selector], X, y, sizes=after, results=path, **QUICK)
    assert_same(found, compare([selector], X, y, sizes=after, **QUICK))


def test_fewer_than_before_is_what_is_given_back(tmp_path: Path) -> None:
    X, y = classes()
    path = tmp_path / "results.jsonl"
    both = {"nb": GaussianNB(), "tree": DecisionTreeClassifier()}
    how: dict[str, Any] = {"folds": 3, "repeats": 1}
    compare(["pearson", "fisher_score"], X, y, sizes=[2, 8], models=both, results=path, **how)
    found = compare(["pearson"], X, y, sizes=[2], models={"nb": GaussianNB()}, results=path, **how)
    assert_same(found, compare(["pearson"], X, y, sizes=[2], models={"nb": GaussianNB()}, **how))


def test_a_changed_setting_is_computed_anew(tmp_path: Path) -> None:
    X, y = classes()
    path = tmp_path / "results.jsonl"
    changes: list[dict[str, Any]] = [
        {},
        {"selectors": {"s": make_selector("relieff", n_neighbors=3)}},
        {"X": X + np.eye(60, 8)},
        {"y": 1 - y},
        {"random_state": 3},
        {"models": {"m": KNeighborsClassifier(1)}},
        {"metrics": {"score": "balanced_accuracy"}},
        {"metrics": {"score": "f1"}},
        {"metrics": {"score": "roc_auc"}},
        {"cv": TimeSeriesSplit(3)},
    ]
    usual: dict[str, Any] = {"selectors": {"s": make_selector("relieff")}, "X": X, "y": y, "sizes": [2]}
    usual |= {"models": {"m": GaussianNB()}, "metrics": {"score": "accuracy"}, "folds": 3, "repeats": 1}
    for change in changes:
        assert_same(compare(**usual | change, results=path), compare(**usual | change))


def test_another_label_for_the_same_model_or_the_same_data(tmp_path: Path) -> None:
    X, y = classes()
    path = tmp_path / "results.jsonl"
    how: dict[str, Any] = {"sizes": [2], "folds": 3, "repeats": 1}
    compare(["pearson"], X, y, models={"a": GaussianNB()}, results=path, name="first", **how)
    for change in ({"models": {"b": GaussianNB()}, "name": "first"}, {"models": {"a": GaussianNB()}, "name": "second"}):
        found = compare(["pearson"], X, y, results=path, **change, **how)
        assert (found.models, found.names) == (list(change["models"]), [change["name"]])
        assert_same(found, compare(["pearson"], X, y, **change, **how))


def test_what_failed_is_tried_again_only_when_asked(tmp_path: Path) -> None:
    X, y = classes()
    path, broken = tmp_path / "results.jsonl", tmp_path / "broken"
    broken.touch()
    how: dict[str, Any] = {"sizes": [2], "results": path, **QUICK}

    class Moody(Spy):
        def fit(self, X: Any, y: Any) -> Any:
            Spy.seen.append({})
            if broken.exists():
                raise RuntimeError("not now")
            return super().fit(X, y)

    found = compare({"moody": Moody()}, X, y, **how)
    assert [row["reason"] for row in found.failures()] == ["RuntimeError: not now"] * 3
    broken.unlink()
    Spy.seen.clear()
    assert len(compare({"moody": Moody()}, X, y, **how).failures()) == 3
    assert Spy.seen == []
    found = compare({"moody": Moody()}, X, y, retry_failed=True, **how)
    assert found.failures() == []
    assert len(table(found).query("selector == 'moody'")) == 3
    # That is known from then on.
    content = path.read_bytes()
    assert compare({"moody": Moody()}, X, y, retry_failed=True, **how).failures() == []
    assert path.read_bytes() == content


def test_one_file_for_several_tables(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    parts = [compare(["pearson"], *classes(seed=s), sizes=[2], name=f"d{s}", results=path, **QUICK) for s in (1, 2)]
    both = Comparison.load(path)
    assert both.names == ["d1", "d2"]
    for part in parts:
        own = table(both).query(f"name == '{part.names[0]}'").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, table(part))


def test_two_tables_of_one_name_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    try:
        compare(["pearson"], *classes(seed=1), sizes=[2], results=path, **QUICK | {"repeats": 2})
        second = compare(["pearson"], *classes(seed=2), sizes=[2], results=path, **QUICK)
        loaded = Comparison.load(path)
    except ValueError as error:
        assert "data" in str(error)  # noqa: PT017
        return
    assert len(table(loaded).query("selector == 'pearson' and name == 'data'")) in (0, len(second.scores()) // 2)


def test_in_process_and_in_two_processes_are_the_same() -> None:
    X, y = classes()
    X[::7, 3] = np.nan
    names = {
        "easyfs": "easyfs",
        "relieff": "relieff",
        "kbest": SelectKBest(),
        "rfe": RFE(DecisionTreeClassifier(random_state=0)),
        "all": "all",
    }
    how: dict[str, Any] = {"sizes": [2, 5], "models": [GaussianNB(), DecisionTreeClassifier()], "folds": 3, "repeats": 1}
    one, two = (
        compare(names, X, np.array(["no", "yes"])[y], **how),
        compare(names, X, np.array(["no", "yes"])[y], n_jobs=2, **how),
    )
    assert one.failures() == two.failures() == []
    assert_same(one, two)


def test_every_row_bears_the_stamp_of_the_run_that_made_it(tmp_path: Path) -> None:
    X, y = classes()
    file = tmp_path / "results.jsonl"
    compare(["pearson"], X, y, sizes=[2], results=file, stamp={"version": "1"}, **QUICK)
    found = compare(["pearson", "fisher_score"], X, y, sizes=[2], results=file, stamp={"version": "2"}, **QUICK)
    versions = {place[1]: row["stamp"]["version"] for place, row in (found.fit_rows | found.score_rows).items()}
    assert versions == {"pearson": "1", "random": "1", "fisher_score": "2"}
    assert {row["stamp"]["version"] for row in Comparison.load(file).data.values()} == {"1"}
    with pytest.raises(ValueError, match=r"stamp='now': give a dictionary"):
        compare(["pearson"], X, y, sizes=[2], stamp="now", **QUICK)
