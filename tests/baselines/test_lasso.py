"""The lasso path against slow solvers, scikit-learn's own paths and its cross-validated models."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV, LogisticRegression, MultiTaskLassoCV, lasso_path
from sklearn.model_selection import KFold, StratifiedKFold

from easyfs.baselines.base import scaled_targets
from easyfs.baselines.l1_path import (
    EXPLAINED,
    L1,
    L1Path,
    LeastSquaresPath,
    LogisticPath,
    follow,
    penalty_shares,
)
from easyfs.baselines.lasso import LassoSelector


def standardized(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def correlated_columns(n: int, m: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)) + 0.7 * rng.standard_normal((n, 1))


def numbers(n: int, m: int, t: int = 1, seed: int = 0, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    X = correlated_columns(n, m, seed)
    rng = np.random.default_rng(seed + 100)
    coef = np.zeros((m, t))
    used = rng.permutation(m)[:6]
    coef[used] = rng.standard_normal((len(used), t))
    Y = X @ coef + noise * rng.standard_normal((n, t))
    return X, Y[:, 0] if t == 1 else Y


def classes(n: int, m: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X = correlated_columns(n, m, seed)
    rng = np.random.default_rng(seed + 100)
    signal = X[:, :4] @ rng.standard_normal((4, k)) + rng.gumbel(size=(n, k))
    return X, signal.argmax(axis=1)


def shrink(B: np.ndarray, by: float) -> np.ndarray:
    """Each row towards zero by a length."""
    length = np.linalg.norm(B, axis=1, keepdims=True)
    return B * np.maximum(0.0, 1.0 - by / np.maximum(length, 1e-300))


def slow_least_squares(X: np.ndarray, Y: np.ndarray, penalty: float) -> np.ndarray:
    """Accelerated proximal gradient."""
    rate = 1.0 / np.linalg.norm(X, 2) ** 2
    B = ahead = np.zeros((X.shape[1], Y.shape[1]))
    t = 1.0
    for _ in range(8000):
        new = shrink(ahead + rate * X.T @ (Y - X @ ahead), rate * penalty)
        t, last = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
        ahead = new + (last - 1.0) / t * (new - B)
        B = new
    return B


def slow_logistic(X: np.ndarray, y: np.ndarray, penalty: float) -> np.ndarray:
    """Accelerated proximal gradient, with a free intercept."""
    with_one = np.column_stack([X, np.ones(len(X))])
    rate = 4.0 / np.linalg.norm(with_one, 2) ** 2
    b = ahead = np.zeros(with_one.shape[1])
    t = 1.0
    for _ in range(8000):
        new = ahead + rate * with_one.T @ (y - expit(with_one @ ahead))
        new[:-1] = np.sign(new[:-1]) * np.maximum(np.abs(new[:-1]) - rate * penalty, 0.0)
        t, last = (1.0 + np.sqrt(1.0 + 4.0 * t * t)) / 2.0, t
        ahead = new + (last - 1.0) / t * (new - b)
        b = new
    return b[:-1]


@pytest.mark.parametrize(("n", "m", "t"), [(60, 12, 1), (20, 40, 1), (60, 12, 3), (20, 40, 3)])
def test_least_squares_path_has_the_coefficients_of_a_slow_solver(n: int, m: int, t: int) -> None:
    X, Y = numbers(n, m, t)
    X, Y = standardized(X), standardized(Y.reshape(n, t))
    path = LeastSquaresPath(X, Y, 100_000, 1e-13)
    assert path.largest == pytest.approx(np.linalg.norm(X.T @ Y, axis=1).max())
    for share in (0.7, 0.3, 0.1, 0.03):
        path.advance(share * path.largest)
        np.testing.assert_allclose(path.coef, slow_least_squares(X, Y, share * path.largest), atol=2e-4)


@pytest.mark.parametrize(("n", "m"), [(80, 10), (30, 40)])
def test_logistic_path_has_the_coefficients_of_a_slow_solver(n: int, m: int) -> None:
    X, y = classes(n, m, 3)
    X, Y = standardized(X), (y[:, None] == np.arange(3)).astype(float)
    path = LogisticPath(X, Y, 10_000, 1e-9)
    for share in (0.8, 0.4, 0.2):
        penalty = share * path.largest
        path.advance(penalty)
        expected = np.column_stack([slow_logistic(X, y, penalty) for y in Y.T])
        np.testing.assert_allclose(path.coef, expected, atol=5e-3)


@pytest.mark.parametrize("kind", [LeastSquaresPath, LogisticPath])
def test_every_step_of_a_path_meets_the_conditions_of_a_minimum(kind: type[L1Path]) -> None:
    X, y = classes(50, 70, 3)
    X, Y = standardized(X), (y[:, None] == np.arange(3)).astype(float)
    path = kind(X, Y, 10_000, 1e-8)
    for share in penalty_shares(40, 0.02)[1:]:
        penalty = share * path.largest
        path.advance(penalty)
        strength = path.strength()
        used = np.stack([path.coef[:, r].any(axis=1) for r in path.regressions], axis=1)
        assert used.any()
        assert strength.max() <= 1.002 * penalty
        np.testing.assert_allclose(strength[used], penalty, rtol=2e-3)


@pytest.mark.parametrize(("n", "m", "t"), [(100, 25, 1), (30, 60, 1), (100, 25, 2), (30, 60, 2)])
def test_columns_come_in_the_order_of_scikit_learns_path(n: int, m: int, t: int) -> None:
    X, y = numbers(n, m, t, seed=1)
    selector = LassoSelector(m, n_alphas=60, eps=0.01, tol=1e-10, max_iter=100_000).fit(X, y)
    Z, Y = standardized(X), standardized(y.reshape(n, t))
    largest = np.linalg.norm(Z.T @ Y, axis=1).max() / n
    alphas = largest * np.geomspace(1.0, 0.01, 60)[1:]  # at the largest one, rounding decides
    _, coefs, _ = lasso_path(Z, Y[:, 0] if t == 1 else Y, alphas=alphas, tol=1e-10, max_iter=100_000)
    sizes = np.abs(coefs) if t == 1 else np.linalg.norm(coefs, axis=0)
    entered = (sizes > 0).any(axis=1)
    first = np.where(entered, (sizes > 0).argmax(axis=1), 59)
    size = sizes[np.arange(m), np.minimum(first, 58)]
    expected = np.lexsort((-size, first))[: entered.sum()]
    np.testing.assert_array_equal(selector.order_[: entered.sum()], expected)
    np.testing.assert_allclose(selector.scores_[entered], alphas[first[entered]] / largest)


def test_the_path_ends_when_enough_columns_have_entered() -> None:
    for X, y in (numbers(80, 40), classes(80, 40, 2)):
        whole, short = LassoSelector(40).fit(X, y), LassoSelector(7).fit(X, y)
        assert short.alpha_ > whole.alpha_
        np.testing.assert_array_equal(short.order_[:7], whole.order_[:7])
        entered = short.scores_ >= short.alpha_
        assert 7 <= entered.sum() < 20
        np.testing.assert_allclose(short.scores_[entered], whole.scores_[entered])


def test_many_classes_are_ordered_by_the_norm_of_their_coefficients() -> None:
    X, y = classes(150, 30, 4, seed=2)
    selector = LassoSelector(10, tol=1e-8).fit(X, y)
    Z = standardized(X)
    penalty = selector.alpha_ * max(np.abs(Z.T @ ((y == label) - np.mean(y == label))).max() for label in range(4))

    def fitted(target: np.ndarray) -> np.ndarray:
        model = LogisticRegression(
            C=1.0 / penalty, solver="liblinear", intercept_scaling=1e3, tol=1e-8, max_iter=1000, **L1
        )
        return model.fit(Z, target).coef_[0]

    norms = np.linalg.norm([fitted(y == label) for label in range(4)], axis=0)
    np.testing.assert_allclose(selector.scores_, norms / norms.max(), atol=1e-4)
    np.testing.assert_array_equal(selector.order_[:10], np.argsort(-norms)[:10])


def test_no_class_of_many_is_left_without_a_column() -> None:
    """Two classes are told apart with ease, by many columns; the others need columns of their own."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 8
    X = rng.standard_normal((400, 40))
    X[:, :20] += 4.0 * (y == 0)[:, None]  # twenty columns of the easy class
    for label in range(1, 8):
        X[:, 19 + label] += 2.0 * (y == label)
    chosen = LassoSelector(9).fit(X, y).get_support(indices=True)
    assert set(range(20, 27)) <= set(chosen)
    assert EXPLAINED < 1.0


def test_columns_that_do_not_enter_follow_by_their_correlation_with_the_rest() -> None:
    X, y = numbers(80, 40)
    selector = LassoSelector(5, tol=1e-12, max_iter=100_000).fit(X, y)
    Z, z = standardized(X), standardized(y)
    largest = np.abs(Z.T @ z).max()
    residual = z - Z @ slow_least_squares(Z, z[:, None], selector.alpha_ * largest)[:, 0]
    out = selector.scores_ < selector.alpha_
    slope = np.abs(Z.T @ residual)
    np.testing.assert_allclose(selector.scores_[out], slope[out] / largest, rtol=1e-4, atol=1e-7)
    last = selector.order_[-out.sum() :]
    assert set(last) == set(np.flatnonzero(out))
    assert (np.diff(slope[last]) < 1e-6 * largest).all()


def test_scores_fall_along_the_order() -> None:
    for X, y in (numbers(60, 30), numbers(60, 30, 2), classes(60, 30, 2), classes(60, 30, 4)):
        selector = LassoSelector(10).fit(X, y)
        falling = selector.scores_[selector.order_]
        assert (np.diff(falling) <= 0).all()
        assert falling[-1] >= 0
        assert falling[0] <= 1


def test_the_strongest_correlation_comes_first() -> None:
    X, y = numbers(60, 30)
    assert LassoSelector(1).fit(X, y).order_[0] == np.abs(np.corrcoef(X.T, y)[-1, :-1]).argmax()


@pytest.mark.parametrize("t", [1, 3])
def test_auto_takes_the_columns_of_scikit_learns_cross_validated_lasso(t: int) -> None:
    X, y = numbers(90, 25, t, seed=2, noise=2.0)
    selector = LassoSelector("auto", tol=1e-8, max_iter=100_000).fit(X, y)
    Z, Y = standardized(X), standardized(y.reshape(90, t))
    alphas = np.linalg.norm(Z.T @ Y, axis=1).max() / 90 * np.geomspace(1.0, 1e-3, 100)
    model = (LassoCV if t == 1 else MultiTaskLassoCV)(
        alphas=alphas, cv=KFold(5, shuffle=True, random_state=0), tol=1e-8, max_iter=100_000
    )
    model.fit(Z, Y[:, 0] if t == 1 else Y)
    assert selector.alpha_ == pytest.approx(model.alpha_ / alphas[0])
    assert set(selector.get_support(indices=True)) == set(np.flatnonzero(np.atleast_2d(model.coef_).any(axis=0)))
    assert 2 < selector.n_features_ < 25


@pytest.mark.parametrize("k", [2, 3])
def test_auto_for_classes_has_the_smallest_loss_on_rows_held_out(k: int) -> None:
    X, y = classes(120, 15, k, seed=3)
    selector = LassoSelector("auto", tol=1e-8).fit(X, y)
    Z, Y = standardized(X), (y[:, None] == np.arange(k)).astype(float)
    Y = Y[:, 1:] if k == 2 else Y
    largest = np.abs(Z.T @ Y).max()
    penalties = largest * np.geomspace(1.0, 1e-3, 100)[::4]

    def model(penalty: float) -> Any:
        return LogisticRegression(
            C=1.0 / penalty, solver="liblinear", intercept_scaling=1e3, tol=1e-8, max_iter=1000, random_state=0, **L1
        )

    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(Z, y))
    losses = []
    for penalty in penalties:
        loss = 0.0
        for train, test in folds:
            for target in Y.T:
                fitted = model(penalty * len(train) / 120).fit(Z[train], target[train])
                p = fitted.predict_proba(Z[test])[:, 1]
                loss -= np.log(np.where(target[test] > 0, p, 1 - p)).mean()
        losses.append(loss)
    best = penalties[np.argmin(losses)]
    assert selector.alpha_ == pytest.approx(best / largest)
    used = np.any([model(best).fit(Z, target).coef_[0] != 0 for target in Y.T], axis=0)
    np.testing.assert_array_equal(selector.get_support(), used)


def test_auto_takes_one_column_where_there_is_nothing_to_find() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    for y in (rng.standard_normal(40), rng.integers(0, 2, 40)):
        assert 1 <= LassoSelector("auto").fit(X, y).n_features_ <= 3


def test_auto_puts_its_columns_before_those_that_entered_and_left() -> None:
    X, y = numbers(60, 40, seed=5, noise=0.3)
    selector = LassoSelector("auto").fit(X, y)
    entered = selector.scores_ >= selector.alpha_
    assert entered[selector.get_support()].all()


def test_two_classes_need_one_regression_and_their_order_is_no_matter() -> None:
    X, y = classes(100, 20, 2)
    one, other = LassoSelector(8).fit(X, y), LassoSelector(8).fit(X, 1 - y)
    np.testing.assert_array_equal(one.order_[:8], other.order_[:8])
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-3, atol=1e-6)


def test_labels_get_a_regression_each() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 20))
    Y = np.column_stack([X[:, 3] > 0, X[:, 8] > 0.5, np.zeros(150)]).astype(int)
    for asked in (2, "auto"):
        selector = LassoSelector(asked).fit(X, Y)
        assert set(selector.order_[:2]) == {3, 8}
        assert selector.task_ == "classification"


def test_several_targets_count_the_same_in_any_unit() -> None:
    X, Y = numbers(80, 20, 3)
    plain = LassoSelector(8).fit(X, Y)
    scaled = LassoSelector(8).fit(X, Y * [1.0, 1e6, 1e-6] + [0.0, 5.0, 1e-3])
    np.testing.assert_array_equal(plain.order_, scaled.order_)
    constant = LassoSelector(8).fit(X, np.column_stack([Y, np.full(80, 7.0)]))
    np.testing.assert_array_equal(plain.order_[:8], constant.order_[:8])


@pytest.mark.parametrize("unit", [1e300, 1e-300, 1e150])
def test_huge_and_tiny_numbers_change_nothing(unit: float) -> None:
    X, y = numbers(60, 15)
    plain = LassoSelector(6).fit(X, y)
    scaled = LassoSelector(6, task="regression").fit(X, y / np.abs(y).max() * unit)
    np.testing.assert_array_equal(plain.order_, scaled.order_)


def test_scaled_targets_have_mean_zero_and_variance_one() -> None:
    Y = np.random.default_rng(0).standard_normal((50, 3)) * [1e200, 1.0, 0.0] + [0.0, 1e6, 3.0]
    scaled = scaled_targets(Y)
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(scaled.std(axis=0), [1.0, 1.0, 0.0], atol=1e-9)
    np.testing.assert_array_equal(scaled, scaled_targets(np.asfortranarray(Y)))


@pytest.mark.parametrize("asked", [2, "auto"])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_target_that_no_column_has_to_do_with(asked: Any, task: str) -> None:
    X = np.array(np.meshgrid(*[[-1.0, 1.0]] * 5)).reshape(5, -1).T
    y = np.prod(X[:, :2], axis=1)
    selector = LassoSelector(asked, task=task).fit(X, y)
    np.testing.assert_array_equal(np.sort(selector.order_), np.arange(5))
    np.testing.assert_allclose(selector.scores_, 0.0, atol=1e-9)
    assert selector.n_features_ == (2 if asked == 2 else 1)


@pytest.mark.parametrize("n", [2, 3, 4, 7])
@pytest.mark.parametrize("asked", [2, "auto"])
def test_a_few_rows_suffice(n: int, asked: Any) -> None:
    rng = np.random.default_rng(n)
    X = rng.standard_normal((n, 6))
    for y in (X[:, 2], np.arange(n) % 2, np.arange(n), np.array(["a", *["b"] * (n - 1)]), X[:, :2]):
        task = "classification" if y.dtype.kind in "iU" else "regression"
        selector = LassoSelector(asked, task=task).fit(X, y)
        assert np.isfinite(selector.scores_).all()
        assert selector.n_features_ >= 1


def test_rare_classes_are_cross_validated() -> None:
    X, y = classes(60, 10, 2)
    y[0] = 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LassoSelector("auto").fit(X, y).n_features_ >= 1


def test_more_folds_than_rows_are_as_many_as_rows() -> None:
    X, y = numbers(12, 5)
    one, other = LassoSelector("auto", cv=12).fit(X, y), LassoSelector("auto", cv=100).fit(X, y)
    np.testing.assert_array_equal(one.get_support(), other.get_support())


def test_copies_enter_together_and_leave_none_out() -> None:
    X, y = numbers(60, 8)
    X = np.hstack([X, X, X[:, :3] + X[:, 3:6]])
    for target in (y, (y > 0).astype(int)):
        selector = LassoSelector(10).fit(X, target)
        np.testing.assert_array_equal(np.sort(selector.order_), np.arange(19))
        assert np.isfinite(selector.scores_).all()


def test_included_columns_count_towards_the_number() -> None:
    X, y = numbers(80, 30)
    plain = LassoSelector(6).fit(X, y)
    late = plain.order_[-1]
    selector = LassoSelector(6, include=[late]).fit(X, y)
    assert selector.order_[0] == late
    np.testing.assert_array_equal(selector.order_[1:6], plain.order_[:5])
    assert LassoSelector(1, include=[late]).fit(X, y).alpha_ == 1.0


def test_fits_that_do_not_converge_are_told_of_once() -> None:
    X, y = numbers(60, 30)
    for target in (y, (y > 0).astype(int)):
        with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol") as told:
            LassoSelector("auto", max_iter=1).fit(X, target)
        assert len(told) == 1
        assert told[0].filename == __file__


def test_follow_needs_no_steps_when_nothing_is_wanted() -> None:
    X, y = numbers(30, 5)
    path = LeastSquaresPath(standardized(X), standardized(y)[:, None], 1000, 1e-6)
    entry = follow(path, penalty_shares(10, 0.1), 0, np.empty(0, dtype=int))
    np.testing.assert_allclose(entry.share, np.abs(standardized(X).T @ standardized(y)) / path.largest)
    assert entry.last == 1.0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_alphas", 1),
        ("n_alphas", 10.5),
        ("eps", 0.0),
        ("eps", 1.0),
        ("cv", 1),
        ("cv", "five"),
        ("max_iter", 0),
        ("tol", 0.0),
        ("tol", np.nan),
    ],
)
def test_bad_parameters_are_named(name: str, value: Any) -> None:
    X, y = numbers(20, 5)
    with pytest.raises(ValueError, match=name):
        LassoSelector(2, **{name: value}).fit(X, y)
