"""Tables whose true columns are known: a fixed number takes them first, and "auto" takes them and little else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS

Random = np.random.Generator
Table = tuple[np.ndarray, np.ndarray]
# Where the true columns stand in a table.
A, B, C = 5, 17, 23


def normal(rng: Random, n: int, d: int) -> np.ndarray:
    return rng.standard_normal((n, d))


@dataclass(frozen=True)
class Problem:
    """A table, and the columns that have to be found: one of each set."""

    draw: Callable[[Random], Table]
    sets: tuple[tuple[int, ...], ...]
    seeds: int = 3
    more: int = 1  # seeds for which "auto" may take columns beside them

    def found(self, chosen: Any) -> bool:
        return all(set(chosen) & set(columns) for columns in self.sets)


def linear(n: int, d: int, noise: float = 1.0, **effects: float) -> Callable[[Random], Table]:
    """A sum of columns, by letter, and noise."""

    def draw(rng: Random) -> Table:
        X = normal(rng, n, d)
        y = sum(size * X[:, globals()[name]] for name, size in effects.items())
        return X, y + noise * rng.standard_normal(n)

    return draw


def as_classes(draw: Callable[[Random], Table]) -> Callable[[Random], Table]:
    def classes(rng: Random) -> Table:
        X, y = draw(rng)
        return X, (y > np.median(y)).astype(int)

    return classes


def near_copies(rng: Random, number: int, distance: float) -> Table:
    X = normal(rng, 1000, 32)
    X[:, 8 : 8 + number] = X[:, [A]] + distance * normal(rng, 1000, number)
    return X, 2.0 * X[:, A] + X[:, B] + rng.standard_normal(1000)


def exact_copies(rng: Random) -> Table:
    X = normal(rng, 1000, 32)
    X[:, 8:11], X[:, 11:13] = X[:, [A]], -X[:, [B]]
    return X, 2.0 * X[:, A] + X[:, B] + 0.5 * X[:, C] + rng.standard_normal(1000)


def fahrenheit(rng: Random) -> Table:
    X = normal(rng, 1000, 32)
    X[:, 8] = np.round(1.8 * X[:, A] + 32.0, 1)
    return X, X[:, A] + 0.2 * X[:, B] + rng.standard_normal(1000)


def level_and_difference(rng: Random) -> Table:
    X = normal(rng, 1000, 32)
    X[:, 7] = X[:, 3] + 0.08 * rng.standard_normal(1000)
    return X, X[:, 3] + 8.0 * (X[:, 3] - X[:, 7]) + 0.5 * rng.standard_normal(1000)


def suppressor(rng: Random) -> Table:
    X = normal(rng, 1000, 32)
    X[:, A] += X[:, B]
    return X, X[:, A] - X[:, B] + 0.5 * rng.standard_normal(1000)


def five_of_many(rng: Random, share: float) -> Table:
    X = normal(rng, 500, 1000)
    signal = X[:, 100:600:100] @ [0.5, -0.75, 1.0, -1.25, 1.5]
    return X, signal + signal.std() * np.sqrt(1.0 / share - 1.0) * rng.standard_normal(500)


def classes_from_ten(rng: Random) -> Table:
    X = normal(rng, 1000, 200)
    signal = X[:, 10:110:10] @ (-1.0) ** np.arange(10)
    return X, (signal > 0).astype(int)


def quadrants(rng: Random) -> Table:
    X = normal(rng, 500, 20)
    return X, 2 * (X[:, A] > 0) + (X[:, B] > 0)


def rare_product(rng: Random, positives: int) -> Table:
    X = normal(rng, 50_000, 20)
    y = np.zeros(50_000, dtype=int)
    y[rng.choice(np.flatnonzero(X[:, A] * X[:, B] > 0.5), positives, replace=False)] = 1
    return X, y


PROBLEMS = {
    "weak after strong": Problem(linear(2000, 32, A=2.0, B=0.3), ((A,), (B,))),
    "weak after strong, classes": Problem(as_classes(linear(2000, 32, A=2.0, B=0.3)), ((A,), (B,))),
    "weak after strong, many rows": Problem(linear(10_000, 32, A=2.0, B=0.3), ((A,), (B,)), seeds=2),
    "weak after strong, classes, many rows": Problem(as_classes(linear(10_000, 32, A=2.0, B=0.3)), ((A,), (B,)), seeds=2),
    "three scales": Problem(linear(2000, 100, A=3.0, B=1.0, C=0.3), ((A,), (B,), (C,))),
    "near copies": Problem(lambda rng: near_copies(rng, 3, 0.01), ((A, 8, 9, 10), (B,)), more=0),
    "ten proxies": Problem(lambda rng: near_copies(rng, 10, 1.0), ((A,), (B,))),
    "exact copies": Problem(exact_copies, ((A, 8, 9, 10), (B, 11, 12), (C,))),
    "Fahrenheit": Problem(fahrenheit, ((A, 8), (B,))),
    "level and difference": Problem(level_and_difference, ((3,), (7,))),
    "suppressor": Problem(suppressor, ((A,), (B,))),
    "five of 1000, no noise": Problem(
        lambda rng: five_of_many(rng, 1.0), tuple((j,) for j in range(100, 600, 100)), seeds=2
    ),
    "five of 1000, noise": Problem(lambda rng: five_of_many(rng, 0.8), tuple((j,) for j in range(100, 600, 100)), seeds=2),
    "two classes from ten": Problem(classes_from_ten, tuple((j,) for j in range(10, 110, 10))),
    "four quadrants": Problem(quadrants, ((A,), (B,))),
    "50 positives of 50,000": Problem(lambda rng: rare_product(rng, 50), ((A,), (B,)), seeds=2),
    "200 positives of 50,000": Problem(lambda rng: rare_product(rng, 200), ((A,), (B,)), seeds=2),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_fixed_number_takes_the_true_columns_first_and_auto_takes_them_and_little_else(name: str) -> None:
    problem, more = PROBLEMS[name], 0
    for seed in range(problem.seeds):
        X, y = problem.draw(np.random.default_rng(seed))
        fixed = EasyFS(len(problem.sets), random_state=seed).fit(X, y)
        assert problem.found(fixed.order_[: len(problem.sets)]), (seed, list(fixed.order_[: len(problem.sets)]))
        auto = EasyFS(random_state=seed).fit(X, y)
        chosen = list(auto.get_support(indices=True))
        assert problem.found(chosen), (seed, chosen)
        more += len(chosen) > len(problem.sets)
    assert more <= problem.more


# --- columns that are combinations of others ---


def combinations(rng: Random, noise: float) -> Table:
    """Two of ten columns are a sum and a difference of others; the first six make the target."""
    X = normal(rng, 1000, 10)
    X[:, 8], X[:, 9] = X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]
    return X, X[:, :6].sum(axis=1) + noise * rng.standard_normal(1000)


def rank_of(X: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(X - X.mean(axis=0), tol=1e-6 * np.sqrt(len(X))))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_auto_keeps_no_column_that_the_others_make_up(seed: int, noise: float, dtype: Any) -> None:
    X, y = combinations(np.random.default_rng(seed), noise)
    selector = EasyFS(random_state=seed).fit(X.astype(dtype), y)
    chosen = selector.get_support(indices=True)
    assert rank_of(X[:, chosen]) == len(chosen)
    left = np.linalg.lstsq(X[:, chosen] - X[:, chosen].mean(axis=0), X[:, :6].sum(axis=1), rcond=None)[1]
    assert left.sum() < 0.05 * X[:, :6].sum(axis=1).var() * 1000  # with them, all of the signal is told


@pytest.mark.parametrize("count", [5, 7, 10])
@pytest.mark.parametrize("seed", range(3))
def test_no_combination_of_chosen_columns_comes_before_one_that_tells_something(seed: int, count: int) -> None:
    X, y = combinations(np.random.default_rng(seed), 1.0)
    order = EasyFS(count, random_state=seed).fit(X, y).order_
    ranks = [rank_of(X[:, order[: k + 1]]) for k in range(10)]
    assert ranks[: min(count, 8)] == list(range(1, min(count, 8) + 1))
    # Five columns span the signal: the sum, two by themselves, and two of a pair and its difference.
    assert rank_of(np.column_stack([X[:, order[:5]], X[:, :6].sum(axis=1)])) == 5


def test_a_sum_of_columns_that_were_asked_for_comes_last() -> None:
    rng = np.random.default_rng(0)
    X, y = combinations(rng, 1.0)
    selector = EasyFS(10, include=[8, 0], random_state=0).fit(X, y)
    assert list(selector.order_[:2]) == [8, 0]
    place = {int(j): k for k, j in enumerate(selector.order_)}
    assert place[1] >= 8
    assert (selector.redundancy_[[0, 1, 8]] > 0.999).all()


# --- rows in turn, names of classes, weights, streams ---


@pytest.mark.parametrize(("n", "d"), [(2048, 20), (4096, 20), (10_240, 20), (4096, 600)])
def test_cases_and_controls_in_turn_do_not_hide_an_interaction(n: int, d: int) -> None:
    rng = np.random.default_rng(n)
    X = normal(rng, n, d).astype(np.float32)
    y = np.arange(n) % 2
    X[:, 11] = np.abs(X[:, 11]) * np.sign(X[:, 7]) * np.where(y == 1, 1.0, -1.0)
    selector = EasyFS(2, random_state=0).fit(X, y)
    assert set(selector.order_[:2]) == {7, 11}
    assert {frozenset(found.columns) for found in selector.interactions_} == {frozenset({"x7", "x11"})}


def many_classes(rng: Random, n: int, n_classes: int, d: int) -> Table:
    y = rng.integers(0, n_classes, n)
    return normal(rng, n, d) + normal(rng, n_classes, d)[y] * (np.arange(d) < d // 2), y


@pytest.mark.parametrize(("n", "n_classes", "d"), [(400, 3, 12), (600, 8, 12), (2500, 20, 8)])
def test_other_names_for_the_classes_do_not_change_the_order(n: int, n_classes: int, d: int) -> None:
    rng = np.random.default_rng(n_classes)
    X, y = many_classes(rng, n, n_classes, d)
    plain = EasyFS(4, random_state=0).fit(X, y)
    renamed = EasyFS(4, random_state=0).fit(X, rng.permutation(n_classes)[y])
    np.testing.assert_array_equal(renamed.order_, plain.order_)
    np.testing.assert_allclose(renamed.scores_, plain.scores_, rtol=1e-5, atol=1e-9)
    words = np.array([f"class {chr(97 + k)}" for k in range(n_classes)])
    np.testing.assert_array_equal(EasyFS(4, random_state=0).fit(X, words[::-1][y]).order_, plain.order_)


@pytest.mark.parametrize("n_classes", [3, 8])
def test_other_names_for_the_classes_do_not_change_what_matters_together(n_classes: int) -> None:
    rng = np.random.default_rng(n_classes)
    X = normal(rng, 800, 12)
    y = (np.floor(n_classes * rng.random(800)) * (X[:, 2] * X[:, 9] > 0)).astype(int)
    plain = EasyFS(random_state=0).fit(X, y)
    assert {"x2", "x9"} in [set(found.columns) for found in plain.interactions_]
    renamed = EasyFS(random_state=0).fit(X, rng.permutation(n_classes)[y])
    np.testing.assert_array_equal(renamed.order_, plain.order_)
    assert [found.columns for found in renamed.interactions_] == [found.columns for found in plain.interactions_]


def assert_weights_equal_rows(X: np.ndarray, y: np.ndarray, weight: np.ndarray, asked: Any, rtol: float = 1e-6) -> None:
    rows = np.repeat(np.arange(len(y)), weight)
    weighed = EasyFS(asked, random_state=0).fit(X, y, sample_weight=weight)
    repeated = EasyFS(asked, random_state=0).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighed.order_, repeated.order_)
    np.testing.assert_allclose(weighed.scores_, repeated.scores_, rtol=rtol, atol=1e-9)
    np.testing.assert_allclose(weighed.p_values_, repeated.p_values_, rtol=100 * rtol, atol=1e-300)
    assert [f.columns for f in weighed.interactions_] == [f.columns for f in repeated.interactions_]


@pytest.mark.parametrize(
    ("values", "asked"), [("markers", 6), ("normal", 6), ("normal", "auto"), ("float32", 6), ("float32", "auto")]
)
@pytest.mark.parametrize("classes", [False, True])
def test_whole_weights_equal_repeated_rows_of_a_wide_table(classes: bool, values: str, asked: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (250, 600)).astype(float) if values == "markers" else normal(rng, 250, 600)
    X = X.astype(np.float32) if values == "float32" else X
    y = X[:, 30] - X[:, 300] + 0.8 * X[:, 570] + rng.standard_normal(250)
    weight, rtol = rng.integers(1, 5, 250), 1e-4 if values == "float32" else 1e-6
    assert_weights_equal_rows(X, (y > 0).astype(int) if classes else y, weight, asked, rtol)


@pytest.mark.parametrize("total", [16, 64, 512, 4096])
@pytest.mark.parametrize("classes", [False, True])
def test_whole_weights_that_add_up_to_a_multiple_of_sixteen_equal_repeated_rows(classes: bool, total: int) -> None:
    rng = np.random.default_rng(total)
    n = total // 2
    weight = 1 + np.bincount(rng.integers(0, n, total - n), minlength=n)
    assert weight.sum() == total
    X = normal(rng, n, 6)
    y = X[:, 2] + X[:, 4] + 0.5 * rng.standard_normal(n)
    assert_weights_equal_rows(X, (y > 0).astype(int) if classes else y, weight, 3)


@pytest.mark.parametrize("classes", [False, True])
def test_whole_weights_equal_repeated_rows_where_not_all_are_looked_at(classes: bool) -> None:
    rng = np.random.default_rng(1)
    X = normal(rng, 9000, 8)
    y = X[:, 2] * X[:, 5] + 0.3 * X[:, 7] + 0.5 * rng.standard_normal(9000)
    y = np.digitize(y, [-1.0, 2.5]) if classes else y
    assert_weights_equal_rows(X, y, rng.integers(1, 5, 9000), 4)


@pytest.mark.parametrize("kind", ["numbers", "classes", "a rare class"])
def test_the_same_rows_at_once_and_in_blocks_give_the_same_order(kind: str) -> None:
    rng = np.random.default_rng(2)
    X = normal(rng, 20_000, 12)
    y = X[:, 2] * X[:, 5] + 0.3 * X[:, 7] + 0.5 * rng.standard_normal(20_000)
    y = y if kind == "numbers" else (y > (0.0 if kind == "classes" else np.quantile(y, 0.99))).astype(int)
    make = EasyFS(4, random_state=0)
    whole = EasyFS(**make.get_params()).fit(X, y)
    network = make.draw_plan(X, y)
    for start in range(0, 20_000, 7000):
        first = {"plan": network} if start == 0 else {}
        make.partial_fit(X[start : start + 7000], y[start : start + 7000], **first)
    np.testing.assert_array_equal(make.order_, whole.order_)
    np.testing.assert_allclose(make.scores_, whole.scores_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(make.p_values_, whole.p_values_, rtol=1e-6, atol=1e-300)
    assert make.interactions_ == whole.interactions_
    assert set(whole.order_[:3]) == {2, 5, 7}


# --- how little is enough ---


def five_of_a_hundred(rng: Random) -> tuple[Any, np.ndarray, set[int]]:
    X = normal(rng, 500, 100)
    signal = X[:, 10:60:10] @ [1.0, -1.0, 1.0, -1.0, 1.0]
    return X, signal + signal.std() * rng.standard_normal(500), {10, 20, 30, 40, 50}


def noisy_xor(rng: Random) -> tuple[Any, np.ndarray, set[int]]:
    X = normal(rng, 600, 20)
    return X, ((X[:, 3] * X[:, 8] > 0) ^ (rng.random(600) < 0.1)).astype(int), {3, 8}


def xor_of_three(rng: Random) -> tuple[Any, np.ndarray, set[int]]:
    X = normal(rng, 1000, 20)
    return X, (X[:, 3] * X[:, 8] * X[:, 14] > 0).astype(int), {3, 8, 14}


def xor_of_categories(rng: Random) -> tuple[Any, np.ndarray, set[int]]:
    codes = rng.integers(0, 3, (400, 10))
    table = {f"c{j}": pd.Categorical(np.array(["red", "green", "blue"])[codes[:, j]]) for j in range(10)}
    return pd.DataFrame(table), (codes[:, 3] + codes[:, 8]) % 3, {3, 8}


def a_rare_class(rng: Random) -> tuple[Any, np.ndarray, set[int]]:
    X = normal(rng, 1000, 30)
    size = X[:, 3] + X[:, 8] + 0.5 * rng.standard_normal(1000)
    return X, (size >= np.sort(size)[-20]).astype(int), {3, 8}


def a_weak_column(rng: Random) -> tuple[Any, np.ndarray, set[int]]:
    X = normal(rng, 1000, 30)
    return X, X[:, 8] + np.sqrt(19.0) * rng.standard_normal(1000), {8}


@pytest.mark.parametrize(
    "draw", [five_of_a_hundred, noisy_xor, xor_of_three, xor_of_categories, a_rare_class, a_weak_column]
)
def test_auto_finds_all_true_columns_in_nine_of_ten_tables(draw: Callable[[Random], Any]) -> None:
    found, beside = 0, 0
    for seed in range(10):
        X, y, true = draw(np.random.default_rng(100 + seed))
        selector = EasyFS(random_state=seed).fit(X, y)
        chosen = set(selector.get_support(indices=True))
        found += true <= chosen
        beside += len(chosen - true) > 0
    assert found >= 9
    assert beside <= 2
