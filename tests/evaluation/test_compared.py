"""What may be compared, and on what."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.feature_selection import RFE, SelectFromModel, SelectKBest
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from easyfs import EasyFSRanking, make_selector
from easyfs.evaluation import Comparison, compare, nmse
from easyfs.evaluation.protocol import MODELS

from .spies import QUICK, Spy, SpyModel, assert_same, classes, table


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
    means = table(found).groupby("selector")["accuracy"].mean().drop("random")
    assert means.min() > 0.65


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
    found = compare(["easyfs"], X, Y, sizes=[2], folds=3, repeats=1)
    assert found.failures() == []
    # Two of the three targets are two of the columns, and the third is noise.
    assert table(found).query("selector == 'easyfs'")["nmse"].mean() < 0.6


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
    X = rng.standard_normal((120, 3))
    y = {
        "classes": X[:, 0] > 0,
        "labels": (X[:, :2] > 0).astype(int),
        "numbers": X[:, 0],
        "several numbers": X[:, :2],
    }[targets]
    found = compare(["all"], X, y, models=name, folds=2, repeats=1)
    assert found.models == [name]
    assert not found.failures()
    measure, least = ("accuracy", 0.5) if targets in ("classes", "labels") else ("nmse", 1.0)
    scores = table(found)[measure]
    assert ((scores > least) if measure == "accuracy" else (scores < least)).all()


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
