"""A comparison does not leak, is the same however it runs, and goes on where it was ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest, SelectorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from easyfs import EasyFSRanking, make_selector
from easyfs.evaluation import Comparison, compare, nmse
from easyfs.evaluation.protocol import MODELS

QUICK: dict[str, Any] = {"models": GaussianNB(), "folds": 3, "repeats": 1}


class Spy(SelectorMixin, BaseEstimator):
    """Pearson's scores, and a note of all that is seen."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def __init__(self, n_features_to_select: Any = 2, *, label: str = "", fails: bool = False, random_state: Any = None):
        self.n_features_to_select = n_features_to_select
        self.label = label
        self.fails = fails
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Spy:
        self.scores_ = make_selector("pearson").fit(X, y).scores_
        note = {"X": X.copy(), "y": y.copy(), "label": self.label, "scores": self.scores_, "seed": self.random_state}
        Spy.seen.append(note | {"size": self.n_features_to_select})
        if self.fails:
            raise ArithmeticError("this one\n  does not work")
        return self

    def _get_support_mask(self) -> Any:
        return np.argsort(np.argsort(-self.scores_, kind="stable")) < self.n_features_to_select


class SpyModel(ClassifierMixin, BaseEstimator):
    """Predicts the most frequent class, and notes all that is seen."""

    seen: ClassVar[list[dict[str, Any]]] = []

    def fit(self, X: Any, y: Any) -> SpyModel:
        self.classes_, counts = np.unique(y, return_counts=True)
        self.most_ = self.classes_[np.argmax(counts)]
        SpyModel.seen.append({"train": X.copy(), "y": y.copy()})
        return self

    def predict(self, X: Any) -> Any:
        SpyModel.seen[-1]["test"] = X.copy()
        return np.full(len(X), self.most_)


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    Spy.seen.clear()
    SpyModel.seen.clear()


def classes(n: int = 60, d: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 20, d) + 3
    return X, (X[:, 5] - X[:, 5].mean() + X[:, 2] - X[:, 2].mean() > 0).astype(int)


def table(found: Comparison) -> pd.DataFrame:
    """All scores, in an order of their own."""
    places = ["name", "selector", "repeat", "fold", "size", "model"]
    return found.scores().sort_values(places, ignore_index=True)


def assert_same(one: Comparison, other: Comparison) -> None:
    pd.testing.assert_frame_equal(table(one), table(other))
    stability = [c.stability().sort_values(["name", "selector", "size"], ignore_index=True) for c in (one, other)]
    pd.testing.assert_frame_equal(*stability)
    assert (one.selectors, one.models, one.metrics) == (other.selectors, other.models, other.metrics)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def times_computed(path: Path) -> Counter[tuple[Any, ...]]:
    """How often each fit and each score is in the file."""
    places = ("kind", "name", "selector", "repeat", "fold", "size", "model")
    return Counter(tuple(row.get(part) for part in places) for row in rows_of(path) if row["kind"] != "data")


# What a comparison is promised to be honest about


def test_random_selection_always_takes_part() -> None:
    X, y = classes()
    found = compare(["pearson"], X, y, sizes=[2, 4], **QUICK)
    assert found.selectors == ["pearson", "random"]
    assert table(found).query("selector == 'random'").shape[0] == 3 * 2


@pytest.mark.parametrize("selector", ["pearson", "fisher_score"])
def test_selection_on_noise_scores_at_chance_though_it_looks_at_the_target(selector: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((60, 2000)), np.arange(60) % 2
    found = compare([selector], X, y, sizes=[20], repeats=2, models=GaussianNB())
    means = found.summary("accuracy").set_index("selector")["mean"]
    assert abs(means[selector] - 0.5) < 0.15
    assert abs(means["random"] - 0.5) < 0.15
    # What the engine prevents: the same selection on all rows, then cross-validation of the model alone.
    columns = make_selector(selector, 20).fit(X, y).get_support(indices=True)
    assert cross_val_score(GaussianNB(), X[:, columns], y, cv=5).mean() > 0.85


def test_imputation_and_scaling_learn_from_the_training_rows() -> None:
    X, y = classes(30, 7)
    X[::4, 1] = np.nan
    X[3::5, 4] = np.nan
    X[:, 3] = 7.0  # constant: there is nothing to scale
    compare([Spy()], X, y, sizes=[7], models=SpyModel(), folds=3, repeats=2)
    folds = [split for seed in (0, 1) for split in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y)]
    # Random selection is measured too: two fits of the model for each fold, one of the selector.
    assert (len(Spy.seen), len(SpyModel.seen)) == (6, 12)
    for (train, test), fit, model in zip(folds, Spy.seen, SpyModel.seen[::2], strict=True):
        expected = np.empty(X.shape)
        for j in range(X.shape[1]):
            known = [X[i, j] for i in train if not np.isnan(X[i, j])]
            mean = sum(known) / len(known)
            filled = [X[i, j] if not np.isnan(X[i, j]) else mean for i in range(len(X))]
            spread = np.sqrt(sum((filled[i] - mean) ** 2 for i in train) / len(train))
            expected[:, j] = [(value - mean) / (spread or 1.0) for value in filled]
        np.testing.assert_allclose(fit["X"], expected[train], atol=1e-9)
        np.testing.assert_allclose(model["train"], expected[train], atol=1e-9)
        np.testing.assert_allclose(model["test"], expected[test], atol=1e-9)
        np.testing.assert_array_equal(fit["y"], y[train])


def test_an_outlier_in_a_test_row_does_not_change_what_is_chosen() -> None:
    X, y = classes(40)
    spoilt = X.copy()
    spoilt[11] = 1e9
    compare([Spy()], X, y, sizes=[2], **QUICK)
    before = list(Spy.seen)
    Spy.seen.clear()
    compare([Spy()], spoilt, y, sizes=[2], **QUICK)
    changed = []
    for (train, _), a, b in zip(
        StratifiedKFold(3, shuffle=True, random_state=0).split(X, y), before, Spy.seen, strict=True
    ):
        changed.append(not np.array_equal(a["scores"], b["scores"]))
        assert changed[-1] == (11 in train)
        assert np.array_equal(a["X"], b["X"]) != changed[-1]
    assert sum(changed) == 2  # of three folds it is trained on in two


def test_a_column_without_a_training_value_keeps_its_place() -> None:
    X, y = classes(40)
    X[:, 0] = np.nan
    compare([Spy()], X, y, sizes=[1], **QUICK)
    for fit in Spy.seen:
        assert fit["X"].shape[1] == X.shape[1]
        assert np.isfinite(fit["X"]).all()
        assert np.argmax(fit["scores"]) in (2, 5)


def test_each_selector_is_fitted_once_a_fold_for_all_sizes_and_models() -> None:
    X, y = classes()
    found = compare(
        {"one": Spy(label="one"), "two": Spy(label="two")},
        X,
        y,
        sizes=[1, 3, 6],
        models=[GaussianNB(), DecisionTreeClassifier()],
        folds=4,
        repeats=2,
    )
    assert Counter(fit["label"] for fit in Spy.seen) == {"one": 8, "two": 8}
    assert {fit["size"] for fit in Spy.seen} == {6}
    assert len(found.scores()) == 3 * 8 * 3 * 2
    # Both saw the same rows.
    for one, two in zip(Spy.seen[::2], Spy.seen[1::2], strict=True):
        np.testing.assert_array_equal(one["X"], two["X"])


def test_seeds_are_given_to_what_has_none() -> None:
    X, y = classes()
    compare({"none": Spy(label="none"), "own": Spy(label="own", random_state=123)}, X, y, sizes=[2], **QUICK)
    assert {fit["seed"] for fit in Spy.seen if fit["label"] == "own"} == {123}
    given = [fit["seed"] for fit in Spy.seen if fit["label"] == "none"]
    assert len(set(given)) == 3
    assert None not in given


@pytest.mark.parametrize("scaled", [1.0, 1000.0])
def test_numbers_of_a_regression_by_hand(scaled: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6)) * [1, 5, 10, 0.1, 3, 2] + 4
    y = scaled * (X[:, 1] + 3 * X[:, 3] + rng.standard_normal(50))
    found = compare(["pearson"], X, y, sizes=[2, 3], models={"ridge": Ridge(alpha=5.0)}, folds=4, repeats=1)
    assert (found.metrics, found.data["data"]["task"]) == (["nmse"], "regression")
    values = {}
    for fold, (train, test) in enumerate(KFold(4, shuffle=True, random_state=0).split(X)):
        Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        t = (y[train] - y[train].mean()) / y[train].std()
        strength = [abs(np.corrcoef(Z[train, j], t)[0, 1]) for j in range(6)]
        for size in (2, 3):
            columns = sorted(range(6), key=lambda j: -strength[j])[:size]
            guess = Ridge(alpha=5.0).fit(Z[train][:, columns], t).predict(Z[test][:, columns])
            values[fold, size] = nmse(y[test], guess * y[train].std() + y[train].mean())
    rows = table(found).query("selector == 'pearson'")
    assert {
        (row.fold, row.size_): row.nmse for row in rows.rename(columns={"size": "size_"}).itertuples()
    } == pytest.approx(values)


def test_all_columns_by_hand() -> None:
    X, y = classes()
    found = compare(["all", "pearson"], X, y, sizes=[2], models=KNeighborsClassifier(3), folds=3, repeats=1)
    rows = table(found).query("selector == 'all'")
    assert rows["size"].unique().tolist() == [8]
    expected = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        expected.append(KNeighborsClassifier(3).fit(Z[train], y[train]).score(Z[test], y[test]))
    assert rows["accuracy"].tolist() == pytest.approx(expected)
    # It is no contender: it has a size of its own.
    assert list(found.ranks()) != []
    assert "all" not in found.ranks()


def test_no_selection_under_another_label_is_no_contender_either() -> None:
    X, y = classes()
    found = compare({"everything": "all", "pearson": "pearson"}, X, y, sizes=[2], **QUICK)
    assert set(found.ranks()) == {"pearson", "random"}
    assert not np.isnan(found.matrix()[0]).any()


def test_the_same_call_gives_the_same_numbers_and_another_seed_others() -> None:
    X, y = classes()
    once, again = (compare(["easyfs"], X, y, sizes=[1, 2], **QUICK) for _ in range(2))
    assert_same(once, again)
    other = compare(["easyfs"], X, y, sizes=[1, 2], **QUICK, random_state=1)
    assert not table(once)["accuracy"].equals(table(other)["accuracy"])


# Going on where the last run ended

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


def wait_for(what: Any, seconds: float = 60.0) -> None:
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


# What may be compared, and on what


def test_text_labels_give_what_numbers_give() -> None:
    X, y = classes()
    numbers = compare(["pearson", "fisher_score"], X, y, sizes=[1, 2], **QUICK)
    for labels in (np.array(["ill", "well"])[y], np.array(["ill", "well"], dtype=object)[y], y.astype(bool)):
        found = compare(["pearson", "fisher_score"], X, labels, sizes=[1, 2], **QUICK)
        pd.testing.assert_frame_equal(table(found), table(numbers))


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table, np.ndarray.tolist, sparse.csr_array, sparse.coo_matrix]
)
def test_tables_of_any_kind(make: Any) -> None:
    X, y = classes()
    columns = {f"c{j}": X[:, j] for j in range(X.shape[1])}
    expected = compare(["pearson"], X, y, sizes=[2], **QUICK)
    given = make(columns) if make in (pd.DataFrame, pl.DataFrame, pa.table) else make(X)
    pd.testing.assert_frame_equal(table(compare(["pearson"], given, y, sizes=[2], **QUICK)), table(expected))


def test_a_target_from_a_frame_with_another_index() -> None:
    X, y = classes()
    frame = pd.DataFrame(X, index=np.arange(60)[::-1] * 3)
    expected = compare(["pearson"], X, y, sizes=[2], **QUICK)
    found = compare(["pearson"], frame, pd.Series(y, index=frame.index), sizes=[2], **QUICK)
    pd.testing.assert_frame_equal(table(found), table(expected))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of scikit-learn's own, for the empty column
@pytest.mark.filterwarnings("ignore:Features")
def test_missing_values_of_every_kind() -> None:
    X, y = classes()
    X[np.random.default_rng(0).uniform(size=X.shape) < 0.2] = np.nan
    X[:, 7] = np.nan
    found = compare(["easyfs", "pearson", "relieff", SelectKBest()], X, y, sizes=[2], **QUICK)
    assert found.failures() == []


def several_targets() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    return X, np.column_stack([X[:, 1] * 5, X[:, 4] - X[:, 1], rng.standard_normal(60)])


def test_several_targets_by_hand() -> None:
    X, Y = several_targets()
    found = compare(["easyfs", "all"], X, Y, sizes=[2], models=Ridge(), folds=3, repeats=1)
    assert found.failures() == []
    expected = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
        T = (Y - Y[train].mean(axis=0)) / Y[train].std(axis=0)
        expected.append(nmse(T[test], Ridge().fit(Z[train], T[train]).predict(Z[test])))
    assert table(found).query("selector == 'all'")["nmse"].tolist() == pytest.approx(expected)


def test_several_targets_with_the_usual_model() -> None:
    X, Y = several_targets()
    assert compare(["easyfs"], X, Y, sizes=[2], folds=3, repeats=1).failures() == []


def test_several_labels() -> None:
    X, Y = several_targets()
    how: dict[str, Any] = {"sizes": [2], "models": KNeighborsClassifier(), "folds": 3, "repeats": 1}
    found = compare(["easyfs"], X, (Y > 0).astype(int), metrics="accuracy", **how)
    assert found.failures() == []
    # The usual measures of classes must not spoil it.
    usual = compare(["easyfs"], X, (Y > 0).astype(int), **how)
    assert usual.failures() == []
    assert table(usual)["accuracy"].tolist() == table(found)["accuracy"].tolist()


def test_groups_and_folds_of_another_kind() -> None:
    X, y = classes()
    groups = np.arange(60) % 6
    X[:, 0] = groups
    compare([Spy()], X, y, sizes=[8], models=SpyModel(), groups=groups, folds=3, repeats=2)
    for model in SpyModel.seen:
        assert not set(np.round(model["train"][:, 0], 6)) & set(np.round(model["test"][:, 0], 6))
    found = compare(["pearson"], X, y, sizes=[2], models=GaussianNB(), cv=TimeSeriesSplit(4), repeats=5)
    assert sorted(table(found)["fold"].unique()) == [0, 1, 2, 3]
    assert table(found)["repeat"].unique().tolist() == [0]


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(),
        RFE(DecisionTreeClassifier(random_state=0)),
        SelectFromModel(DecisionTreeClassifier(random_state=0), threshold=-np.inf),
        EasyFSRanking(),
    ],
)
def test_selectors_of_scikit_learn_give_the_size_that_is_asked(selector: Any) -> None:
    X, y = classes()
    found = compare([selector], X, y, sizes=[1, 4], models=SpyModel(), folds=3, repeats=1)
    assert found.failures() == []
    # Two selectors, two sizes each, in the order of the folds.
    assert [model["train"].shape[1] for model in SpyModel.seen] == [1, 4, 1, 4] * 3
    own = SpyModel.seen[::4]
    for (train, _), model in zip(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y), own, strict=True):
        # Size 1 is the best one, not the first of four.
        Z = (X[train] - X[train].mean(axis=0)) / X[train].std(axis=0)
        place = [j for j in range(8) if np.allclose(Z[:, [j]], model["train"])]
        assert place[0] in (2, 5)


def test_fastcan() -> None:
    import fastcan

    X, y = classes()
    found = compare([fastcan.FastCan(verbose=0)], X, y, sizes=[1, 4], models=SpyModel(), folds=3, repeats=1)
    assert found.failures() == []
    assert [model["train"].shape[1] for model in SpyModel.seen] == [1, 4, 1, 4] * 3


def test_what_fails_is_a_row_and_the_others_go_on() -> None:
    X, y = classes()
    found = compare({"bad": Spy(fails=True), "pearson": "pearson"}, X, y, sizes=[1, 2], **QUICK)
    assert {row["selector"] for row in found.failures()} == {"bad"}
    assert {row["reason"] for row in found.failures()} == {"ArithmeticError: this one does not work"}
    assert Counter(table(found)["selector"]) == {"pearson": 6, "random": 6}

    class Poor(GaussianNB):
        def fit(self, X: Any, y: Any) -> Any:
            if X.shape[1] > 1:
                raise ValueError("too wide")
            return super().fit(X, y)

    found = compare(["pearson"], X, y, sizes=[1, 2], models={"poor": Poor(), "nb": GaussianNB()}, folds=3, repeats=1)
    assert {(row["size"], row["model"], row["reason"]) for row in found.failures()} == {(2, "poor", "ValueError: too wide")}
    assert table(found)["accuracy"].notna().sum() == 2 * 3 * 3


def test_sizes_by_share_and_by_default() -> None:
    X, y = classes(d=10)
    assert sorted(table(compare(["pearson"], X, y, sizes=[0.5, 0.1, 5], **QUICK))["size"].unique()) == [1, 5]
    assert sorted(table(compare(["pearson"], X, y, sizes=3, **QUICK))["size"].unique()) == [3]
    assert sorted(table(compare(["pearson"], X, y, **QUICK))["size"].unique()) == [5, 10]
    assert sorted(table(compare(["pearson"], X[:, :3], y, **QUICK))["size"].unique()) == [3]


def test_measures_are_those_asked_for() -> None:
    X, y = classes()
    found = compare(["pearson"], X, y, sizes=[2], metrics=["f1", "roc_auc", "accuracy"], **QUICK)
    assert found.metrics == ["f1", "roc_auc", "accuracy"]
    assert found.summary()["metric"].unique().tolist() == ["f1"]
    (train, test) = next(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    Z = (X - X[train].mean(axis=0)) / X[train].std(axis=0)
    columns = make_selector("pearson", 2).fit(Z[train], y[train]).get_support()
    model = GaussianNB().fit(Z[train][:, columns], y[train])
    row = table(found).query("selector == 'pearson' and fold == 0").iloc[0]
    assert row["accuracy"] == pytest.approx(model.score(Z[test][:, columns], y[test]))


def test_less_is_better_for_an_error_under_any_label() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 10))
    how: dict[str, Any] = {"sizes": [1], "models": Ridge(), "folds": 3, "repeats": 1}
    for metrics in ("nmse", {"error": "nmse"}, "r2"):
        found = compare(["pearson"], X, X[:, 6], metrics=metrics, **how)
        assert next(iter(found.ranks())) == "pearson"


def test_progress_is_told() -> None:
    X, y = classes()
    told: list[tuple[int, int]] = []
    compare(
        {"bad": Spy(fails=True), "pearson": "pearson"}, X, y, sizes=[1, 2], progress=lambda *a: told.append(a[:2]), **QUICK
    )
    assert told[-1] == (18, 18)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {total for _, total in told} == {18}


def test_models_may_be_named() -> None:
    X, y = classes()
    how: dict[str, Any] = {"sizes": [2], "folds": 3, "repeats": 1}
    one = compare(["pearson"], X, y, models="svm", **how)
    assert one.models == ["svm"]
    usual = compare(["pearson"], X, y, **how)
    assert usual.models == ["linear SVM"]
    np.testing.assert_array_equal(table(one)["accuracy"], table(usual)["accuracy"])
    several = compare(["pearson"], X, y, models=["knn", GaussianNB()], **how)
    assert several.models == ["knn", "GaussianNB"]
    own = compare(["pearson"], X, y, models={"near": "knn"}, **how)
    same = compare(["pearson"], X, y, models={"near": KNeighborsClassifier()}, **how)
    assert_same(own, same)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("targets", ["classes", "labels", "numbers", "several numbers"])
def test_every_named_model_fits_every_kind_of_target(name: str, targets: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = {
        "classes": X[:, 0] > 0,
        "labels": (X[:, :2] > 0).astype(int),
        "numbers": X[:, 0],
        "several numbers": X[:, :2],
    }[targets]
    found = compare(["all"], X, y, models=name, folds=2, repeats=1)
    assert found.models == [name]
    assert not found.failures()


def test_a_seed_that_is_not_given_is_drawn_and_recorded(tmp_path: Path) -> None:
    X, y = classes()
    drawn = [compare(["pearson"], X, y, sizes=[2], random_state=None, **QUICK) for _ in range(2)]
    seeds = [found.data["data"]["random_state"] for found in drawn]
    assert seeds[0] != seeds[1]
    path = tmp_path / "results.jsonl"
    again = compare(["pearson"], X, y, sizes=[2], random_state=seeds[0], results=path, **QUICK)
    assert_same(drawn[0], again)
    assert Comparison.load(path).data["data"]["random_state"] == seeds[0]
    one, other = (compare(["pearson"], X, y, sizes=[2], random_state=np.random.RandomState(5), **QUICK) for _ in range(2))
    assert_same(one, other)
    assert compare(["pearson"], X, y, sizes=[2], **QUICK).data["data"]["random_state"] == 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sizes": []}, "sizes is empty"),
        ({"sizes": ["auto"]}, "sizes has 'auto'"),
        ({"sizes": [0]}, "sizes.*0"),
        ({"sizes": [9]}, "sizes.*9"),
        ({"sizes": [-1]}, "sizes.*-1"),
        ({"sizes": [1.5]}, "sizes.*1.5"),
        ({"sizes": ["many"]}, "sizes.*many"),
        ({"selectors": []}, "selectors is empty"),
        ({"selectors": ["peerson"]}, "Did you mean 'pearson'"),
        ({"metrics": ["acc"]}, "metrics has 'acc'"),
        ({"metrics": {}}, "metrics is empty"),
        ({"metrics": 5}, "metrics has 5"),
        ({"selectors": None}, "selectors has None; give names"),
        ({"selectors": [SelectKBest]}, r"selectors has the class SelectKBest; give a selector of it, SelectKBest\(...\)"),
        ({"models": ["svn"]}, "models has 'svn', which is no model. Did you mean 'svm'"),
        ({"models": "SVC"}, "models has 'SVC', which is no model.* Use svm, linear, forest, knn, boosting, or give"),
        ({"models": 5}, "models has 5; give scikit-learn classifiers or regressors, or names: svm"),
        ({"models": GaussianNB}, r"models has the class GaussianNB; give a model of it, GaussianNB\(\)"),
        ({"models": ["svm", "svm"]}, "two models are called 'svm'"),
        ({"random_state": "seven"}, "random_state='seven': give a whole number.*, or None to draw one"),
        ({"random_state": -1}, "random_state=-1"),
        ({"random_state": 1.5}, "random_state=1.5"),
        ({"random_state": 2**32}, "random_state=4294967296"),
        ({"time_limit": 0}, "time_limit=0"),
        ({"time_limit": "long"}, "time_limit='long'"),
        ({"memory_limit": -5}, "memory_limit=-5"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"folds": 1}, "folds=1"),
        ({"task": "ranking"}, "task='ranking'"),
        ({"y": None}, "y"),
        ({"y": np.zeros(7)}, "y has 7 entries"),
        ({"progress": 3}, "progress=3"),
        ({"groups": np.zeros(3)}, "groups has 3 entries"),
    ],
)
def test_wrong_arguments_are_named_before_anything_is_written(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    X, y = classes()
    how: dict[str, Any] = {"selectors": ["pearson"], "X": X, "y": y, "sizes": [2], "results": tmp_path / "results.jsonl"}
    with pytest.raises(ValueError, match=message):
        compare(**how | changed)
    assert list(tmp_path.iterdir()) == []
