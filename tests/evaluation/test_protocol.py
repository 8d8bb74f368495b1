"""Folds, names of selectors and models, and what tells two settings apart."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectKBest, f_classif, mutual_info_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, ShuffleSplit, TimeSeriesSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, SVR

from easyfs import PearsonSelector, RandomSelector, make_selector
from easyfs.evaluation.metrics import resolve_metrics
from easyfs.evaluation.protocol import Split, described, fingerprint, make_splits, named_models, named_selectors


def splits_of(y: np.ndarray, **changed: Any) -> list[Split]:
    how: dict[str, Any] = {
        "task": "classification",
        "folds": 3,
        "repeats": 1,
        "cv": None,
        "groups": None,
        "random_state": 0,
    }
    return make_splits(np.zeros((len(y), 2)), y, **how | changed)


def same(a: list[Split], b: list[Split]) -> bool:
    pairs = zip(a, b, strict=True)
    return all(np.array_equal(s.train, t.train) and np.array_equal(s.test, t.test) for s, t in pairs)


def assert_partition(splits: list[Split], n: int) -> None:
    """Every row is tested once in a repeat, and trained on in all other folds of it."""
    for repeat in {split.repeat for split in splits}:
        own = [split for split in splits if split.repeat == repeat]
        assert [split.fold for split in own] == list(range(len(own)))
        assert sorted(np.concatenate([split.test for split in own]).tolist()) == list(range(n))
        for split in own:
            assert sorted([*split.train, *split.test]) == list(range(n))
            assert len(split.test)
            assert len(split.train)


@given(st.integers(0, 100), st.integers(2, 5), st.integers(1, 3), st.integers(2, 4))
def test_folds_of_classes_are_stratified_and_the_same_each_time(seed: int, folds: int, repeats: int, classes: int) -> None:
    y = np.random.default_rng(seed).integers(0, classes, 60)
    y[: classes * 5] = np.repeat(np.arange(classes), 5)
    splits = splits_of(y, folds=folds, repeats=repeats, random_state=seed)
    assert len(splits) == folds * repeats
    assert_partition(splits, len(y))
    assert same(splits, splits_of(y.copy(), folds=folds, repeats=repeats, random_state=seed))
    for split in splits:
        for c in range(classes):
            assert abs(np.sum(y[split.test] == c) - np.sum(y == c) / folds) < 1


def test_each_repeat_and_each_seed_has_folds_of_its_own() -> None:
    y = np.arange(40) % 2
    splits = splits_of(y, repeats=3)
    by_repeat = [[split for split in splits if split.repeat == repeat] for repeat in range(3)]
    assert not same(by_repeat[0], by_repeat[1])
    assert not same(by_repeat[1], by_repeat[2])
    assert not same(by_repeat[0], splits_of(y, random_state=7))
    numbers = splits_of(np.linspace(0, 1, 40), task="regression", repeats=2)
    assert_partition(numbers, 40)
    assert not same(numbers[:3], numbers[3:])


def test_folds_of_several_labels_are_made_by_rows() -> None:
    assert_partition(splits_of(np.eye(2, dtype=int)[np.arange(20) % 2]), 20)


@pytest.mark.filterwarnings("ignore:The least populated class")
@given(st.data(), st.integers(2, 4), st.sampled_from(["classification", "regression"]))
def test_a_group_is_never_on_both_sides(data: st.DataObject, folds: int, task: str) -> None:
    n_groups = data.draw(st.integers(folds, 12))
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=n_groups, max_size=n_groups))
    groups = np.repeat([f"patient {g}" for g in range(n_groups)], sizes)
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(groups), max_size=len(groups))))
    if task == "classification" and max(np.bincount(y)) < folds:
        return
    splits = splits_of(y, task=task, folds=folds, groups=groups, repeats=2, random_state=data.draw(st.integers(0, 99)))
    assert_partition(splits, len(y))
    for split in splits:
        assert not set(groups[split.train]) & set(groups[split.test])


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_more_folds_than_groups_is_an_error(task: str) -> None:
    with pytest.raises(ValueError, match="groups"):
        splits_of(np.arange(20) % 2, task=task, folds=5, groups=np.repeat([0, 1], 10))


def test_a_whole_number_of_folds_as_in_scikit_learn() -> None:
    y = np.repeat([0, 1], 10)
    splits = splits_of(y, cv=5, repeats=3)
    assert len(splits) == 5  # folds that are given are the same each time: there is nothing to repeat
    assert_partition(splits, 20)
    assert all(y[split.test].sum() == 2 for split in splits)


def test_a_splitter_is_used_as_it_is() -> None:
    y = np.arange(24) % 2
    for cv, groups in [(KFold(4), None), (TimeSeriesSplit(3), None), (LeaveOneGroupOut(), np.arange(24) // 8)]:
        splits = splits_of(y, cv=cv, groups=groups, repeats=2)
        expected = list(cv.split(y, y, groups))
        assert len(splits) == len(expected)
        for split, (train, test) in zip(splits, expected, strict=True):
            np.testing.assert_array_equal(split.train, train)
            np.testing.assert_array_equal(split.test, test)
    for split in splits_of(y, cv=TimeSeriesSplit(3)):
        assert split.train.max() < split.test.min()
    for split in splits_of(y, cv=GroupKFold(3), groups=np.arange(24) % 6):
        assert not set(split.train % 6) & set(split.test % 6)


def test_a_splitter_that_draws_is_seeded_and_repeated() -> None:
    y = np.arange(30) % 2
    for cv in (KFold(3, shuffle=True), ShuffleSplit(3)):
        splits = splits_of(y, cv=cv, repeats=2)
        assert len(splits) == 6
        assert same(splits, splits_of(y, cv=clone(cv) if hasattr(cv, "get_params") else cv, repeats=2))
        assert not same(splits[:3], splits[3:])
        assert not same(splits, splits_of(y, cv=cv, repeats=2, random_state=5))
    assert cv.random_state is None  # the user's own is left alone


def test_a_splitter_with_a_seed_of_its_own_keeps_it() -> None:
    y = np.arange(30) % 2
    cv = KFold(3, shuffle=True, random_state=42)
    for split, (train, test) in zip(splits_of(y, cv=cv), cv.split(y), strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


def test_a_list_of_pairs() -> None:
    pairs = [([0, 1, 2], [3]), ([3, 1, 0], [2, 4])]
    for cv in (pairs, iter(pairs)):
        splits = splits_of(np.arange(6) % 2, cv=cv)
        assert [(list(split.train), list(split.test)) for split in splits] == pairs


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_groups_with_a_number_of_folds_hold_or_are_refused() -> None:
    y, groups = np.repeat([0, 1], 10), np.arange(20) % 5
    try:
        splits = splits_of(y, cv=5, groups=groups)
    except ValueError:
        return
    for split in splits:
        assert not set(groups[split.train]) & set(groups[split.test])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"folds": 1}, "folds=1"),
        ({"folds": 2.5}, "folds=2.5"),
        ({"folds": 21}, "folds=21"),
        ({"repeats": 0}, "repeats=0"),
        ({"groups": np.arange(7)}, "groups has 7 entries, but X has 20 rows"),
        ({"cv": 1}, "n_splits=1"),
    ],
)
def test_folds_that_cannot_be(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        splits_of(np.arange(20) % 2, **changed)


def test_a_class_of_one_row_cannot_be_tested() -> None:
    y = np.array(["a", "b"] * 10 + ["rare"])
    with pytest.raises(ValueError, match="a class of y has 1 row only"):
        splits_of(y)


def test_random_selection_is_always_in_the_field() -> None:
    assert list(named_selectors("pearson")) == ["pearson", "random"]
    assert list(named_selectors(["pearson", PearsonSelector()])) == ["pearson", "PearsonSelector", "random"]
    assert list(named_selectors(SelectKBest())) == ["SelectKBest", "random"]
    found = named_selectors({"mine": "pearson", "two": PearsonSelector(2)})
    assert list(found) == ["mine", "two", "random"]
    assert isinstance(found["mine"], PearsonSelector)
    assert found["two"].n_features_to_select == 2
    # It is there once.
    assert list(named_selectors({"control": RandomSelector()})) == ["control"]
    assert list(named_selectors(["random", "pearson"])) == ["random", "pearson"]
    assert named_selectors(["all"])["all"] == "all"


def test_a_selector_that_is_called_random_does_not_push_the_control_out() -> None:
    try:
        found = named_selectors({"random": PearsonSelector()})
    except ValueError:
        return
    kinds = [type(selector) for selector in found.values()]
    assert PearsonSelector in kinds
    assert RandomSelector in kinds


@pytest.mark.parametrize(
    ("selectors", "message"),
    [
        ("fisher_scor", "no selector 'fisher_scor'. Did you mean 'fisher_score'"),
        (["pearson", "pearson"], "two selectors are called 'pearson'"),
        ([PearsonSelector(), PearsonSelector(3)], "two selectors are called 'PearsonSelector'"),
        ([], "selectors is empty"),
        ({}, "selectors is empty"),
        ([None], "selectors has None"),
        ([3], "selectors has 3"),
    ],
)
def test_selectors_that_are_none(selectors: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named_selectors(selectors)


def test_the_usual_models_and_given_ones() -> None:
    (label, model) = next(iter(named_models(None, "classification").items()))
    assert (label, type(model), model.kernel) == ("linear SVM", SVC, "linear")
    assert [type(model) for model in named_models(None, "regression").values()] == [SVR]
    mine = GaussianNB().fit([[0.0], [1.0]], [0, 1])
    found = named_models(mine, "classification")
    assert list(found) == ["GaussianNB"]
    assert not hasattr(found["GaussianNB"], "classes_")  # a fresh one
    assert list(named_models([GaussianNB(), SVC()], "classification")) == ["GaussianNB", "SVC"]
    assert list(named_models({"a": SVC(), "b": SVC(C=2)}, "classification")) == ["a", "b"]


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([3], "models has 3"),
        ({"mine": "svc"}, "models has 'svc', which is no model. Did you mean 'svm'"),
        ([SelectKBest()], "models has SelectKBest"),
        ([SVC(), SVC(C=2)], "two models are called 'SVC'"),
        ([], "models is empty"),
        ({}, "models is empty"),
    ],
)
def test_models_that_are_none(models: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        named_models(models, "classification")


def nothing(model: Any, X: Any, y: Any) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SVC(), SVC(C=2.0)),
        (SVC(), SVR()),
        (RFE(SVC(kernel="linear")), RFE(SVC(kernel="linear", C=2.0))),
        (SelectKBest(f_classif), SelectKBest(mutual_info_classif)),
        (
            SelectKBest(partial(mutual_info_classif, n_neighbors=3)),
            SelectKBest(partial(mutual_info_classif, n_neighbors=9)),
        ),
        (make_selector("relieff"), make_selector("relieff", n_neighbors=3)),
        (make_selector("relieff", exclude=[1]), make_selector("relieff", exclude=[2])),
        (np.arange(4), np.arange(4.0)),
        (np.arange(4), np.arange(4).reshape(2, 2)),
        (np.arange(4), np.array([0, 1, 2, 4])),
        (np.array(["a", "b"], dtype=object), np.array(["a", "c"], dtype=object)),
        ({"a": SVC()}, {"b": SVC()}),
        ([1, 2], [2, 1]),
        (None, "None"),
        ({"class_weight": {0: 1.0, 1: 2.0}}, {"class_weight": {0: 1.0, 1: 3.0}}),
        # A label for another measure.
        (
            resolve_metrics({"score": "accuracy"}, "classification"),
            resolve_metrics({"score": "balanced_accuracy"}, "classification"),
        ),
        (resolve_metrics({"score": "f1"}, "classification"), resolve_metrics({"score": "roc_auc"}, "classification")),
        (resolve_metrics({"score": nothing}, "classification"), resolve_metrics({"score": "f1"}, "classification")),
    ],
)
def test_what_differs_is_told_apart(one: Any, other: Any) -> None:
    assert described(one) != described(other)
    assert fingerprint(one) != fingerprint(other)


@pytest.mark.parametrize(
    "value",
    [
        SVC(),
        RFE(LogisticRegression(C=3.0), n_features_to_select=4),
        RandomForestClassifier(class_weight={0: 1, 1: 2}),
        SelectKBest(mutual_info_classif, k=3),
        {"a": Ridge()},
    ],
)
def test_what_is_the_same_has_the_same_name(value: Any) -> None:
    again = {key: clone(entry) for key, entry in value.items()} if isinstance(value, dict) else clone(value)
    assert fingerprint(value) == fingerprint(again)
    assert " at 0x" not in described(value)  # or a rerun in another process would start from nothing


def test_the_name_of_a_table_is_that_of_its_values() -> None:
    X = np.random.default_rng(0).standard_normal((6, 4))
    assert fingerprint(X) == fingerprint(np.asfortranarray(X)) == fingerprint(X.copy())
    assert fingerprint(X[:, ::2]) == fingerprint(X[:, ::2].copy())
    changed = X.copy()
    changed[3, 2] = np.nextafter(changed[3, 2], 9)
    assert fingerprint(changed) != fingerprint(X)
