from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.feature_selection import f_classif, f_regression

from easyfs import MRMRSelector
from easyfs.baselines.information import bin_columns

from .parity import cases, load
from .test_information import levels_of, mutual

REGRESSION = ("diabetes", "friedman1")


def table(task: str, n: int = 90, d: int = 10, seed: int = 0) -> tuple[Any, Any]:
    """Correlated columns with means far from zero, and a target that some of them make."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.4 * rng.standard_normal((d, d))) + 10.0 * np.arange(d)
    y = X[:, 1] - X[:, 6] + rng.standard_normal(n)
    return X, (y if task == "regression" else np.digitize(y, np.quantile(y, [0.3, 0.7])))


def statistics(X: Any, y: Any, task: str, form: str) -> tuple[Any, Any]:
    """Relevance of each column and redundancy of each pair, by other people's functions or by definition."""
    if form == "correlation":
        return (f_regression if task == "regression" else f_classif)(X, y)[0], np.abs(np.corrcoef(X.T))
    L = levels_of(X, 5)
    if task == "regression":
        y = bin_columns(y[:, None], 5, "frequency", None)[:, 0]
    between = np.array([[mutual(a, b) for a in L.T] for b in L.T])
    return np.array([mutual(a, y) for a in L.T]), between


def search(relevance: Any, between: Any, quotient: bool, largest: bool, count: int, include: Any = ()) -> tuple[Any, Any]:
    chosen: list[int] = []
    values: list[float] = []
    for step in range(count):
        left = [f for f in range(len(relevance)) if f not in chosen]
        value = {}
        for f in left:
            redundancies = [max(between[f, s], 0.001) if quotient else between[f, s] for s in chosen]
            redundancy = (max(redundancies) if largest else np.mean(redundancies)) if chosen else None
            value[f] = relevance[f]
            if redundancy is not None:
                value[f] = relevance[f] / redundancy if quotient else relevance[f] - redundancy
        best = include[step] if step < len(include) else max(left, key=lambda f: value[f])
        chosen.append(best)
        values.append(value[best])
    return chosen, values


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("form", ["correlation", "information"])
@pytest.mark.parametrize("scheme", ["auto", "quotient", "difference"])
@pytest.mark.parametrize("redundancy", ["mean", "max"])
def test_search_follows_the_formula(task: str, form: str, scheme: str, redundancy: str) -> None:
    quotient = scheme == "quotient" or (scheme == "auto" and form == "correlation")
    for seed in range(3):
        X, y = table(task, seed=seed)
        relevance, between = statistics(X, y, task, form)
        found = MRMRSelector(10, form=form, scheme=scheme, redundancy=redundancy).fit(X, y)
        order, values = search(relevance, between, quotient, redundancy == "max", 10)
        assert list(found.order_) == order
        np.testing.assert_allclose(found.gains_, values, rtol=1e-8, atol=1e-10)
        found = MRMRSelector(4, form=form, scheme=scheme, redundancy=redundancy, include=[5, 0]).fit(X, y)
        order, values = search(relevance, between, quotient, redundancy == "max", 4, include=[5, 0])
        assert list(found.order_[:4]) == order
        np.testing.assert_allclose(found.gains_, values, rtol=1e-8, atol=1e-10)


def test_columns_that_were_not_selected_follow_by_the_objective_after_the_last_step() -> None:
    X, y = table("classification")
    relevance, between = statistics(X, y, "classification", "correlation")
    found = MRMRSelector(3).fit(X, y)
    chosen = list(found.order_[:3])
    value = relevance / np.maximum(between[:, chosen], 0.001).mean(axis=1)
    rest = [f for f in range(10) if f not in chosen]
    assert list(found.order_[3:]) == sorted(rest, key=lambda f: -value[f])
    np.testing.assert_allclose(found.scores_[rest], value[rest], rtol=1e-7)


@pytest.mark.parametrize("redundancy", ["mean", "max"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_weights_count_rows(task: str, redundancy: str) -> None:
    X, y = table(task)
    weight = np.random.default_rng(1).integers(1, 5, len(X))
    repeated = np.repeat(np.arange(len(X)), weight)
    for form in ("correlation", "information"):
        weighted = MRMRSelector(6, form=form, redundancy=redundancy).fit(X, y, sample_weight=weight)
        relevance, between = statistics(X[repeated], y[repeated], task, form)
        order, values = search(relevance, between, form == "correlation", redundancy == "max", 6)
        assert list(weighted.order_[:6]) == order
        np.testing.assert_allclose(weighted.gains_, values, rtol=1e-8)


def test_a_class_of_weight_zero_is_as_if_it_were_not_there() -> None:
    X, y = table("classification")
    kept = y != 1
    for form in ("correlation", "information"):
        with_zero = MRMRSelector(4, form=form).fit(X, y, sample_weight=np.where(kept, 1.0, 0.0))
        without = MRMRSelector(4, form=form).fit(X[kept], y[kept])
        np.testing.assert_array_equal(with_zero.order_, without.order_)
        np.testing.assert_allclose(with_zero.scores_, without.scores_, rtol=1e-9)


@pytest.mark.parametrize("stem", cases("mrmr_selection_"))
def test_reference_numbers_of_the_quotient(stem: str) -> None:
    known = load(stem)
    task = "regression" if stem.split("__")[1] in REGRESSION else "classification"
    redundancy = stem.split("_")[2]
    count = len(known["order"])
    found = MRMRSelector(count, redundancy=redundancy, task=task).fit(known["X"], known["y"])
    np.testing.assert_array_equal(found.order_[:count], known["order"])
    assert found.gains_[0] == pytest.approx(known["relevance"][known["order"][0]], rel=1e-9)
    for step in range(1, count):
        f, chosen = known["order"][step], known["order"][:step]
        between = known["redundancy"][f, chosen]
        expected = known["relevance"][f] / (between.max() if redundancy == "max" else between.mean())
        assert found.gains_[step] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("stem", cases("it_mrmr__"))
def test_reference_numbers_of_the_information_difference(stem: str) -> None:
    known = load(stem)
    count = len(known["order"])
    for X in (known["X"], known["X_discrete"]):
        found = MRMRSelector(count, form="information").fit(X, known["y"])
        np.testing.assert_array_equal(found.order_[:count], known["order"])
        np.testing.assert_allclose(found.gains_, known["objective"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scheme", ["quotient", "difference"])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_copies_wait_for_columns_that_tell_nothing(scheme: str, task: str, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    n = 200
    X = rng.standard_normal((n, 4)) + 30.0
    y = X[:, 0] + X[:, 1] if task == "regression" else (X[:, 0] > 30.0) * 1 + (X[:, 1] > 30.0)
    nothing = rng.standard_normal((n, 3))
    dummies = np.eye(3)[y] if task == "classification" else y[:, None]
    explaining = np.column_stack([np.ones(n), dummies[:, : dummies.shape[1]]])
    nothing -= explaining @ np.linalg.lstsq(explaining, nothing, rcond=None)[0]  # F is 0 up to rounding
    table = np.hstack([X, -X, 3.0 * X - 7.0, 1e-5 * X, nothing]).astype(dtype)
    original = np.concatenate([np.tile(np.arange(4), 4), [4, 5, 6]])
    for count in (7, 8, 19):
        found = MRMRSelector(count, scheme=scheme, redundancy="max").fit(table, y)
        assert sorted(original[found.order_[:7]]) == list(range(7))
        assert np.isfinite(found.scores_).all()
        copies = found.order_[7:]
        assert (found.scores_[copies] == found.scores_[found.order_[:7]].min()).all()
    nearly = table.astype(np.float64)
    nearly[:, 4] += 1e-2 * rng.standard_normal(n)  # no copy any more
    assert sorted(original[MRMRSelector(19, scheme=scheme, redundancy="max").fit(nearly, y).order_[:8]]) != list(range(8))
    assert 4 in MRMRSelector(19, scheme=scheme, redundancy="max").fit(nearly, y).order_[:8]


def test_copies_are_taken_by_relevance_when_nothing_else_is_left() -> None:
    X, y = table("regression")
    X = X[:, [1, 6, 0, 3]]
    found = MRMRSelector(8, redundancy="max").fit(np.hstack([X, 2.0 * X]), y)
    relevance = f_regression(X, y)[0]
    assert sorted(found.order_[:4] % 4) == [0, 1, 2, 3]
    assert list(found.order_[4:] % 4) == list(np.argsort(-relevance))


@pytest.mark.parametrize("parameters", [{}, {"redundancy": "max"}, {"scheme": "difference"}, {"form": "information"}])
def test_equally_good_columns_are_taken_in_the_order_of_the_table(parameters: dict[str, Any]) -> None:
    X, y = table("classification", n=300)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(20)
        copies = np.hstack([X, X])[:, order]
        found = MRMRSelector(20, **parameters).fit(copies, y).order_
        for j in range(10):
            first, second = (column for column in found if order[column] % 10 == j)
            assert first < second


def test_a_column_that_is_the_target_comes_first_with_a_finite_score() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 4))
    for y, target in ((X[:, 2], X[:, 2]), (np.arange(50) % 3, np.arange(50) % 3)):
        table = np.column_stack([X[:, :2], target, X[:, 3]])
        for scheme in ("quotient", "difference"):
            found = MRMRSelector(4, scheme=scheme).fit(table, y)
            assert found.order_[0] == 2
            assert np.isfinite(found.scores_).all()


@pytest.mark.parametrize("form", ["correlation", "information"])
def test_hostile_tables(form: str) -> None:
    rng = np.random.default_rng(0)
    two = MRMRSelector(2, form=form).fit([[0.0, 1.0, 5.0], [1.0, 0.0, 7.0]], [0, 1])
    assert np.isfinite(two.scores_).all()
    assert np.isfinite(
        MRMRSelector(2, form=form, task="regression").fit([[0.0, 1.0], [1.0, 0.0]], [0.0, 1e-200]).scores_
    ).all()
    X = rng.standard_normal((25, 4))
    own = [f"c{max(i, 1)}" for i in range(25)]  # nearly every row a class of its own
    assert np.isfinite(MRMRSelector(2, form=form, task="classification").fit(X, own).scores_).all()
    X = rng.standard_normal((300, 5))
    X[:, 1] += 1e12
    X[:, 2] *= 1e-140
    X[:, 3] = np.exp(30 * X[:, 3])
    found = MRMRSelector(5, form=form, task="regression").fit(X, 1e200 * X[:, 0])
    assert found.order_[0] == 0
    assert np.isfinite(found.scores_).all()
    assert MRMRSelector(1, form=form).fit(X, X[:, 0] > 0).order_[0] == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"form": "mutual"}, "form='mutual' is not known; use one of 'correlation', 'information'"),
        ({"scheme": "ratio"}, "scheme='ratio' is not known"),
        ({"redundancy": "median"}, "redundancy='median' is not known"),
        ({"n_bins": 0}, "n_bins=0: give a whole number of at least 2"),
        ({"binning": None}, "binning=None is not known"),
        ({"n_features_to_select": "auto"}, "ranks the columns"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    X, y = table("classification")
    with pytest.raises(ValueError, match=message):
        MRMRSelector(**{"n_features_to_select": 2} | parameters).fit(X, y)


def test_several_targets_are_refused() -> None:
    X, _ = table("regression")
    with pytest.raises(ValueError, match="is for a single target, but y has 2 columns"):
        MRMRSelector(2).fit(X, X[:, :2])
