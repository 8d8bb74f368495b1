"""SPFSR: its gains against recorded ones, its closed form against scikit-learn, and its search step by step."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from easyfs.baselines.model_scores import RidgeScores, determination, right_class, right_labels
from easyfs.baselines.progress import Progress, Watch
from easyfs.baselines.spfsr import Search, SPFSRSelector, bb_gain, clipped_change

from .parity import cases, load

KINDS = ("two", "classes", "labels", "numbers", "several")


def table(n: int = 90, m: int = 9, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, m))


def target(X: np.ndarray, kind: str) -> np.ndarray:
    both = X[:, [1, 4]] + 0.5 * np.random.default_rng(9).standard_normal((len(X), 2))
    if kind in ("two", "classes"):
        return np.digitize(both.sum(axis=1), [0.0] if kind == "two" else [-0.7, 0.7])
    if kind == "labels":
        return (both > 0).astype(int)
    return both.sum(axis=1) if kind == "numbers" else both


def standardized(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("stem", cases("spfsr_bb_gain"))
def test_gains_and_changes_are_those_of_the_recorded_searches(stem: str) -> None:
    recorded = load(stem)
    w, g, gains, restart = (recorded[name] for name in ("importance", "ghat", "gain", "restart"))
    assert restart[0]
    for t in range(len(gains)):
        gain = 0.01 if restart[t] else bb_gain(w[t], w[t - 1], g[t], g[t - 1])
        assert gain == pytest.approx(gains[t], rel=1e-9, abs=1e-12)
        np.testing.assert_allclose(clipped_change(gain, g[t]), recorded["change_clipped"][t], rtol=1e-9, atol=1e-12)


def test_the_gain_of_a_quadratic_is_the_inverse_of_its_curvature() -> None:
    w, last = np.array([0.3, -0.2]), np.array([0.1, 0.4])
    for curvature in (0.6, 1.0, 50.0):
        assert bb_gain(w, last, -curvature * w, -curvature * last) == pytest.approx(1.0 / curvature)
    assert bb_gain(w, last, -0.1 * w, -0.1 * last) == 2.0
    assert bb_gain(w, last, -500.0 * w, -500.0 * last) == 0.01
    assert bb_gain(w, last, w, last) == 0.01
    assert bb_gain(w, w, w, w) == 0.01


def test_changes_are_bounded() -> None:
    np.testing.assert_allclose(clipped_change(2.0, np.array([0.05, -0.3, 0.0, 9.0])), [0.1, -0.2, 0.0, 0.2])


def folds_of(n: int, n_folds: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).permutation(np.arange(n) % n_folds)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "m", "held"), [(60, 9, True), (60, 9, False), (25, 40, True), (25, 40, False)])
def test_the_closed_form_is_scikit_learns_cross_validated_ridge(kind: str, n: int, m: int, held: bool) -> None:
    X = standardized(table(n, m, seed=n))
    y = target(X, kind)
    folds = np.stack([folds_of(n, 5, seed) for seed in range(2)])
    if kind in ("numbers", "several"):
        Y, measure, model = y.reshape(n, -1), determination, Ridge()
    else:
        Y = (2.0 * (y[:, None] == np.arange(3)) - 1.0) if kind == "classes" else 2.0 * y.reshape(n, -1) - 1.0
        measure, model = right_class if kind == "classes" else right_labels, RidgeClassifier()
    scores = RidgeScores(X, Y, folds, measure)
    assert scores.held
    scores.held = held
    rng = np.random.default_rng(1)
    for count in (1, 3, n // 5, n // 5 + 1, m):
        columns = np.sort(rng.permutation(m)[:count])
        for repeat in range(2):
            expected = cross_val_score(model, X[:, columns], y, cv=PredefinedSplit(folds[repeat])).mean()
            assert scores([(columns, repeat)])[0] == pytest.approx(expected, abs=1e-10)


def test_r2_of_a_target_that_does_not_vary_is_one_or_zero() -> None:
    Y = np.column_stack([np.ones(4), np.ones(4), np.arange(4.0)])
    predicted = np.column_stack([np.ones(4), np.zeros(4), np.arange(4.0)])
    assert determination(Y, predicted) == pytest.approx((1.0 + 0.0 + 1.0) / 3.0)


def search_for(worth: np.ndarray, count: int | None, include: tuple[int, ...] = (), seed: int = 0) -> tuple[Search, list]:
    """A search on a score that is the sum of what the units are worth; also a list of what it asks for."""
    asked: list[tuple[bytes, int]] = []

    def scores(sets: list[tuple[np.ndarray, int]]) -> list[float]:
        asked.extend((mask.tobytes(), repeat) for mask, repeat in sets)
        return [float(worth[mask].sum()) + 1e-3 * repeat for mask, repeat in sets]

    search = Search(
        scores,
        n_units=len(worth),
        count=count,
        include=np.array(include, dtype=int),
        n_repeats=2,
        random=np.random.RandomState(seed),
    )
    return search, asked


def test_units_in_use_are_the_included_ones_and_the_most_important() -> None:
    rng = np.random.default_rng(0)
    for count, include in itertools.product((1, 3, 5), ((), (2,), (7, 0))):
        search, _ = search_for(np.ones(8), count, include)
        importance = rng.standard_normal(8)
        free = [j for j in np.argsort(-importance) if j not in include][: count - len(include)]
        if count > len(include):
            assert set(np.flatnonzero(search.in_use(importance))) == {*include, *free}


def test_with_no_number_units_in_use_are_those_not_below_zero_and_at_least_one() -> None:
    search, _ = search_for(np.ones(4), None)
    np.testing.assert_array_equal(search.in_use(np.array([0.1, -0.1, 0.0, -2.0])), [True, False, True, False])
    np.testing.assert_array_equal(search.in_use(np.array([-0.3, -0.1, -0.2, -2.0])), [False, True, False, False])
    search, _ = search_for(np.ones(4), None, include=(3,))
    np.testing.assert_array_equal(search.in_use(np.array([-0.3, -0.1, -0.2, -2.0])), [False, False, False, True])


@pytest.mark.parametrize("count", [1, 9, 10, 12])
def test_a_number_that_leaves_no_choice_is_searched_as_if_not_given(count: int) -> None:
    search, _ = search_for(np.ones(9), count, include=(4,) if count == 1 else ())
    assert search.count is None


@pytest.mark.parametrize("count", [None, 3])
def test_the_gradient_is_the_mean_over_pairs_that_differ(count: int | None) -> None:
    worth = np.array([3.0, 0.0, -1.0, 0.0, 2.0, 0.0])
    search, _ = search_for(worth, count, include=(5,), seed=4)
    search.importance = np.array([0.02, -0.01, 0.04, -0.2, 0.3, 0.0])
    state = search.random.get_state()
    found = search.gradient(6, lambda: False)
    again = np.random.RandomState()
    again.set_state(state)
    pairs = []
    for _ in range(6):
        direction = again.choice([-1.0, 1.0], size=6)
        direction[5] = 0.0
        values = []
        for sign in (1.0, -1.0):
            moved = search.importance + sign * 0.05 * direction
            used = moved >= 0.0
            if count is not None:
                used = np.zeros(6, dtype=bool)
                used[sorted(range(5), key=lambda j, moved=moved: -moved[j])[: count - 1]] = True
            used[5] = True
            values.append(worth[used].sum())
        if values[0] != values[1]:
            pairs.append((values[0] - values[1]) / 0.1 * direction)
    assert 0 < len(pairs) <= 6
    np.testing.assert_allclose(found, np.mean(pairs, axis=0))
    assert found[5] == 0.0


def test_without_a_difference_the_last_gradient_is_used_again() -> None:
    search, _ = search_for(np.zeros(5), 2)
    assert search.gradient(3, lambda: False) is None
    search.last = (np.zeros(5), np.arange(5.0))
    np.testing.assert_array_equal(search.gradient(3, lambda: False), np.arange(5.0))


def test_a_step_that_changes_nothing_is_taken_further() -> None:
    search, _ = search_for(np.ones(4), 2)
    search.importance = np.array([0.5, 0.4, 0.0, -0.5])
    assert search.step(np.array([0.0, 0.0, 1.0, 0.0]), 35)
    moved = search.importance[2]
    steps = 0.01 + 0.01 + np.arange(36) * 1.99 / 35
    assert moved == pytest.approx(steps[steps > 0.4][0])
    assert not search.step(np.array([1.0, 0.0, 0.0, -1.0]), 35)


@pytest.mark.parametrize("count", [None, 4])
def test_the_best_units_that_were_measured_are_kept_and_none_is_scored_twice(count: int | None) -> None:
    worth = np.random.default_rng(1).standard_normal(12)
    seen: list[Progress] = []
    search, asked = search_for(worth, count)
    reason = search.run(n_gradients=4, max_iter=60, n_iter_no_change=30, watch=Watch("", seen.append, None))
    assert len(set(asked)) == len(asked)
    assert search.best.score == pytest.approx(worth[search.best.in_use].sum() + 5e-4)
    assert search.best.score >= max(-step.loss for step in seen)
    possible = np.maximum(worth, 0).sum() if count is None else np.sort(worth)[-4:].sum()
    assert search.best.score > 0.9 * possible
    assert [step.step for step in seen] == list(range(1, search.n_steps + 1))
    assert reason == ("max_iter" if search.n_steps == 60 else "stalled")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("asked", [2, "auto"])
def test_the_columns_that_matter_are_found(kind: str, asked: Any) -> None:
    X = table()
    selector = SPFSRSelector(asked, random_state=1, n_iter_no_change=80).fit(X, target(X, kind))
    assert {1, 4} <= set(selector.get_support(indices=True))
    assert selector.n_features_ == (2 if asked == 2 else selector.n_features_)


def test_the_best_score_is_the_cross_validated_score_of_the_selected_columns() -> None:
    X = table()
    y = target(X, "classes")
    selector = SPFSRSelector(3, random_state=5).fit(X, y)
    Z = standardized(X)[:, selector.get_support()]
    from sklearn.model_selection import StratifiedKFold

    random = np.random.RandomState(5)
    scores = [
        cross_val_score(RidgeClassifier(), Z, y, cv=StratifiedKFold(5, shuffle=True, random_state=random)).mean()
        for _ in range(3)
    ]
    assert selector.best_score_ == pytest.approx(np.mean(scores), abs=1e-12)


def test_ridge_given_or_not_finds_the_same() -> None:
    X = table()
    for kind, model in (("classes", RidgeClassifier()), ("numbers", Ridge()), ("several", Ridge())):
        y = target(X, kind)
        make = {"random_state": 2, "max_iter": 8, "n_repeats": 2}
        closed, fitted = (SPFSRSelector(3, estimator=each, **make).fit(X, y) for each in (None, model))
        np.testing.assert_array_equal(closed.order_, fitted.order_)
        np.testing.assert_allclose(closed.scores_, fitted.scores_, atol=1e-8)
        assert closed.best_score_ == pytest.approx(fitted.best_score_, abs=1e-10)


def test_any_estimator_and_scoring_may_be_given() -> None:
    X = table()
    words = np.array(["no", "yes"])[target(X, "two")]
    make: dict[str, Any] = {"random_state": 0, "max_iter": 15, "n_repeats": 1, "cv": 3}
    for model, scoring in ((KNeighborsClassifier(3), None), (GaussianNB(), "balanced_accuracy"), (None, "roc_auc")):
        selector = SPFSRSelector(2, estimator=model, scoring=scoring, **make).fit(X, words)
        assert 0.5 < selector.best_score_ <= 1.0
    numbers = target(X, "numbers")
    selector = SPFSRSelector(2, estimator=KNeighborsRegressor(), scoring="neg_mean_squared_error", **make).fit(X, numbers)
    assert -numbers.var() < selector.best_score_ < 0.0


def test_processes_do_not_change_the_result() -> None:
    X = table(40, 6)
    y = target(X, "classes")
    make: dict[str, Any] = {"estimator": GaussianNB(), "random_state": 0, "max_iter": 3, "n_repeats": 2}
    one, two = (SPFSRSelector(2, n_jobs=n_jobs, **make).fit(X, y) for n_jobs in (None, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.order_, two.order_)


def test_the_selected_columns_come_first_by_importance() -> None:
    X = table()
    for asked in (4, "auto"):
        selector = SPFSRSelector(asked, random_state=0).fit(X, target(X, "numbers"))
        chosen, others = np.split(selector.scores_[selector.order_], [selector.n_features_])
        assert (np.diff(chosen) <= 0).all()
        assert (np.diff(others) <= 0).all()
        assert chosen.min() >= others.max(initial=-np.inf)


def test_why_it_stopped_and_after_how_many_steps() -> None:
    X = table()
    y = target(X, "numbers")
    few = SPFSRSelector(3, max_iter=4, random_state=0).fit(X, y)
    assert (few.stop_reason_, few.n_iter_) == ("max_iter", 4)
    stalled = SPFSRSelector(3, max_iter=1000, n_iter_no_change=5, random_state=0).fit(X, y)
    assert stalled.stop_reason_ == "stalled"
    assert 5 <= stalled.n_iter_ < 1000
    out = SPFSRSelector(3, time_limit=1e-9, random_state=0).fit(X, y)
    assert (out.stop_reason_, out.n_iter_) == ("time_limit", 0)
    assert out.n_features_ == 3
    assert np.isfinite(out.best_score_)


def test_more_steps_never_end_with_a_worse_score() -> None:
    X = table()
    y = target(X, "classes")
    best = [
        SPFSRSelector(3, max_iter=steps, n_iter_no_change=99, random_state=3).fit(X, y).best_score_
        for steps in (1, 5, 20, 60)
    ]
    assert best == sorted(best)


def test_a_seed_gives_one_search_and_another_seed_another() -> None:
    X = table(m=30)
    y = target(X, "numbers")
    first, again, other, drawn = (
        SPFSRSelector(10, max_iter=10, random_state=seed).fit(X, y).scores_ for seed in (0, 0, 1, np.random.RandomState(0))
    )
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, drawn)
    assert (first != other).any()


def test_groups_have_one_importance() -> None:
    X = table()
    groups = np.array(list("aabbcddee"))
    selector = SPFSRSelector(2, feature_groups=groups, random_state=0).fit(X, target(X, "numbers"))
    for group in "abcde":
        assert len(set(selector.scores_[groups == group])) == 1
    assert set(selector.get_support(indices=True)) == {0, 1, 4}


def test_included_columns_are_always_in_use() -> None:
    X = table()
    y = target(X, "numbers")
    selector = SPFSRSelector(3, include=[7], random_state=0).fit(X, y)
    assert set(selector.get_support(indices=True)) == {1, 4, 7}
    assert selector.scores_[7] == 0.0
    everything = SPFSRSelector(9, include=list(range(9)), max_iter=3, random_state=0).fit(X, y)
    assert everything.n_features_ == 9


@pytest.mark.parametrize("asked", [1, 1.0, "auto"])
def test_a_single_column(asked: Any) -> None:
    X = table(m=5)[:, :1]
    selector = SPFSRSelector(asked, random_state=0, max_iter=5).fit(X, X[:, 0] > 0)
    assert selector.n_features_ == 1
    assert selector.best_score_ > 0.8


def test_rows_are_too_few_to_cross_validate() -> None:
    with pytest.raises(ValueError, match=r"3 rows.*at least 4"):
        SPFSRSelector(1, task="regression").fit(table(3), np.arange(3.0))
    with pytest.raises(ValueError, match="no class in y has two rows"):
        SPFSRSelector(1, task="classification").fit(table(3), ["a", "b", "c"])


def test_a_few_rows_and_rare_classes_suffice() -> None:
    make: dict[str, Any] = {"max_iter": 5, "random_state": 0}
    assert SPFSRSelector(2, **make).fit(table(4), table(4)[:, 0]).n_features_ == 2
    assert SPFSRSelector(2, **make).fit(table(3), [0, 0, 1]).n_features_ == 2
    assert SPFSRSelector(2, cv=50, **make).fit(table(12), np.arange(12) % 2).n_features_ == 2
    assert SPFSRSelector("auto", **make).fit(table(12, 30), ["rare", *["common"] * 11]).n_features_ >= 1


def test_a_score_that_is_not_a_number_is_told_of() -> None:
    X = table(20)
    with pytest.raises(ValueError, match=r"estimator=GaussianNB.* is nan"):
        SPFSRSelector(2, estimator=GaussianNB(), scoring=lambda *_: np.nan, max_iter=2).fit(X, target(X, "two"))


def test_progress_is_reported_after_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    X = table()
    y = target(X, "classes")
    seen: list[Progress] = []
    selector = SPFSRSelector(4, max_iter=6, random_state=0, progress=seen.append).fit(X, y)
    assert [step.step for step in seen] == [1, 2, 3, 4, 5, 6]
    assert {step.n_steps for step in seen} == {6}
    assert {step.n_features for step in seen} == {4}
    assert all(-1.0 <= step.loss <= 0.0 for step in seen)
    assert selector.best_score_ >= max(-step.loss for step in seen)
    assert all(b.seconds >= a.seconds >= 0.0 for a, b in itertools.pairwise(seen))
    assert capsys.readouterr().err == ""
    SPFSRSelector(4, max_iter=6, random_state=0, progress=True).fit(X, y)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("SPFSRSelector: step 1/6: loss -0.")
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cv", 1),
        ("n_repeats", 0),
        ("n_gradients", 0),
        ("max_iter", 0),
        ("n_iter_no_change", 0.5),
        ("time_limit", -1.0),
        ("time_limit", "1 min"),
        ("progress", 3),
        ("estimator", "ridge"),
        ("estimator", Ridge),
    ],
)
def test_bad_parameters_are_named(name: str, value: Any) -> None:
    X = table()
    with pytest.raises(ValueError, match=name):
        SPFSRSelector(2, **{name: value}).fit(X, target(X, "classes"))


def test_a_start_from_a_forest_begins_with_its_best_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 60))
    y = X[:, 7] + X[:, 31] + X[:, 44] + 0.1 * rng.standard_normal(150)
    how: dict[str, Any] = {"max_iter": 1, "n_gradients": 1, "n_repeats": 1, "random_state": 0}
    told = SPFSRSelector(3, start="forest", **how).fit(X, y)
    assert set(told.get_support(indices=True)) == {7, 31, 44}
    assert set(SPFSRSelector(3, **how).fit(X, y).get_support(indices=True)) != {7, 31, 44}
    grouped = SPFSRSelector(2, start="forest", feature_groups=[j // 30 for j in range(60)], **how).fit(X, y)
    assert grouped.n_features_ == 60
    included = SPFSRSelector(3, start="forest", include=[0], **how).fit(X, y)
    assert included.order_[0] == 0
    with pytest.raises(ValueError, match="start='tree' is not known"):
        SPFSRSelector(3, start="tree").fit(X, y)
