"""A comparison does not leak, and is the same however it runs."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.feature_selection import RFE, SelectKBest, chi2
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from easyfs import available_selectors, make_selector
from easyfs.evaluation import Comparison, compare, nmse
from easyfs.registry import SELECTORS

from .spies import QUICK, Spy, SpyModel, assert_same, classes, table


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
        expected, imputed = np.empty(X.shape), np.empty(X.shape)
        for j in range(X.shape[1]):
            known = [X[i, j] for i in train if not np.isnan(X[i, j])]
            mean = sum(known) / len(known)
            filled = [X[i, j] if not np.isnan(X[i, j]) else mean for i in range(len(X))]
            spread = np.sqrt(sum((filled[i] - mean) ** 2 for i in train) / len(train))
            expected[:, j] = [(value - mean) / (spread or 1.0) for value in filled]
            imputed[:, j] = filled
        np.testing.assert_allclose(fit["X"], imputed[train], atol=1e-9)  # a selector sees columns that are not scaled
        np.testing.assert_allclose(model["train"], expected[train], atol=1e-9)
        np.testing.assert_allclose(model["test"], expected[test], atol=1e-9)
        np.testing.assert_array_equal(fit["y"], y[train])


def test_a_selector_sees_the_columns_as_they_are() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.poisson(3 + 4 * np.outer(y, [1, 0, 0, 0, 0.5]), (60, 5)).astype(float)
    found = compare({"chi2": SelectKBest(chi2), "counts": Spy()}, X, y, sizes=[1, 2], **QUICK)
    assert found.failures() == []  # chi2 takes no negative numbers
    assert all(set(row["sets"]["1"] if "sets" in row else row["order"][:1]) == {0} for row in chosen_by(found, "chi2"))
    for fit in Spy.seen:
        np.testing.assert_array_equal(fit["X"], np.round(fit["X"]))


def test_missing_values_are_shown_to_those_that_take_them() -> None:
    X, y = classes()
    X[::5, 2] = np.nan

    class Takes(Spy):
        def __sklearn_tags__(self) -> Any:
            tags = super().__sklearn_tags__()
            tags.input_tags.allow_nan = True
            return tags

    compare({"takes": Takes(label="takes"), "not": Spy(label="not")}, X, y, sizes=[2], **QUICK)
    assert {(fit["label"], bool(np.isnan(fit["X"]).any())) for fit in Spy.seen} == {("takes", True), ("not", False)}


def test_a_pipeline_scales_before_a_selector_that_needs_it() -> None:
    X, y = classes()
    X = X * np.array([1e6, 1, 1, 1, 1, 1, 1, 1])  # a large column that says nothing
    rfe = RFE(LogisticRegression(C=0.01, max_iter=5000))
    found = compare({"scaled": make_pipeline(StandardScaler(), rfe)}, X, y, sizes=[1, 2], **QUICK)
    assert found.failures() == []
    for row in chosen_by(found, "scaled"):
        assert [len(row["sets"][size]) for size in ("1", "2")] == [1, 2]
        assert set(row["sets"]["2"]) == {2, 5}


def chosen_by(found: Comparison, selector: str) -> list[dict[str, Any]]:
    return [row for place, row in found.fit_rows.items() if place[1] == selector]


# Methods to which the size of a column matters by their definition scale themselves; networks and trees round differently.
QUICK_SETTINGS: dict[str, dict[str, Any]] = {
    "spfsr": {"max_iter": 5, "n_repeats": 1},
    "lassonet": {"max_iter": (10, 2), "path_multiplier": 2.0},
    "stg": {"max_iter": 30},
    "random_forest": {"n_estimators": 10},
    "xgboost": {"n_estimators": 5},
}


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", [info.name for info in available_selectors()])
def test_every_selector_chooses_the_same_whatever_the_units(name: str, task: str) -> None:
    """So it is no matter that a comparison does not scale before them."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((80, 8))
    Z[:, 1] = np.exp(Z[:, 1])
    Z[:, 6] += Z[:, 2]
    y = Z[:, 2] + 2 * Z[:, 5] + 0.1 * rng.standard_normal(80)
    y = np.digitize(y, [-1, 1]) if task == "classification" else y
    if task not in SELECTORS[name].tasks:
        return
    units = 2.0 ** rng.integers(-8, 8, 8)
    settings = QUICK_SETTINGS.get(name, {})
    seed = {"random_state": 0} if "random_state" in make_selector(name).get_params() else {}
    scaled, raw = (
        make_selector(name, 4, **settings, **seed).fit(X, y) for X in ((Z - Z.mean(0)) / Z.std(0), Z * units + 3 * units)
    )
    np.testing.assert_array_equal(scaled.order_[:4], raw.order_[:4])


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


def test_a_device_is_for_those_that_can_use_one():
    X, y = load_iris(return_X_y=True)
    found = compare(["easyfs", "pearson", "stg"], X, y, sizes=[2], repeats=1, folds=2, device="cpu")
    assert not found.failures()
    found = compare(["easyfs", "pearson"], X, y, sizes=[2], repeats=1, folds=2, device="tpu")
    failed = {row["selector"] for row in found.failures()}
    assert failed == {"easyfs"}
