"""Curves and joint effects: found, named, with the share of the target that they explain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from easyfs import EasyFS
from easyfs.base.result import LEVEL, Found, Interaction
from easyfs.sample.interactions import find_interactions
from easyfs.sample.ridge import LinearFit
from easyfs.sample.rows import take_sample

Random = np.random.Generator


def normal(n: int, d: int, seed: int = 0) -> tuple[Random, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((n, d))


def noisy(signal: np.ndarray, share: float, rng: Random) -> np.ndarray:
    """A target of which a signal is this share."""
    signal = (signal - signal.mean()) / signal.std()
    return np.sqrt(share) * signal + np.sqrt(1.0 - share) * rng.standard_normal(len(signal))


def named(selector: EasyFS) -> list[set[str]]:
    return [set(found.columns) for found in selector.interactions_]


def share_of(selector: EasyFS, *columns: str) -> float:
    """Share of the target that is said of some columns, over all entries that name just them."""
    return sum(found.share for found in selector.interactions_ if set(found.columns) == set(columns))


# --- what can be found ---

CURVES = {
    "size": np.abs,
    "square": np.square,
    "band": lambda x: (np.abs(x - 0.5) < 0.4).astype(float),
    "wave": lambda x: np.cos(4.0 * x),
    "two bands": lambda x: ((x > -1.2) & (x < -0.5) | (x > 0.4) & (x < 1.0)).astype(float),
}


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("seed", range(3))
def test_a_curve_of_one_column_is_found_and_named(seed: int, curve: str) -> None:
    rng, X = normal(600, 20, seed)
    y = noisy(CURVES[curve](X[:, 7]), 0.5, rng)
    selector = EasyFS(random_state=seed).fit(X, y)
    assert list(selector.get_support(indices=True)) == [7]
    assert {"x7"} in named(selector)
    assert 0.3 < share_of(selector, "x7") < 0.65
    assert selector.interactions_[0].p_value < 1e-4
    assert selector.p_values_ is not None
    assert selector.p_values_[0] < 0.01


JOINT = {
    "distance from the origin": (lambda X: np.hypot(X[:, 3], X[:, 11]), (3, 11), 600, 0.6),
    "product": (lambda X: X[:, 3] * X[:, 11], (3, 11), 600, 0.5),
    "sign of a product": (lambda X: np.sign(X[:, 3] * X[:, 11]), (3, 11), 600, 0.5),
    "larger of two": (lambda X: np.where(X[:, 3] * X[:, 11] > 0, np.abs(X[:, 3]), -np.abs(X[:, 3])), (3, 11), 600, 0.6),
    "wave of a difference": (lambda X: np.cos(2.5 * (X[:, 3] - X[:, 11])), (3, 11), 1000, 0.8),
    "product of three": (lambda X: X[:, 3] * X[:, 11] * X[:, 15], (3, 11, 15), 1000, 0.8),
    "product of four": (lambda X: X[:, 3] * X[:, 7] * X[:, 11] * X[:, 15], (3, 7, 11, 15), 1500, 0.9),
}


@pytest.mark.parametrize("kind", JOINT)
@pytest.mark.parametrize("seed", range(3))
def test_columns_that_matter_together_are_found_and_named(seed: int, kind: str) -> None:
    signal, true, n, share = JOINT[kind]
    rng, X = normal(n, 20, seed)
    selector = EasyFS(random_state=seed).fit(X, noisy(signal(X), share, rng))
    chosen = selector.get_support(indices=True)
    assert set(true) <= set(chosen)
    assert len(chosen) <= len(true) + 1
    names = {f"x{j}" for j in true}
    assert names == set.union(*named(selector)) & names
    assert 0.2 * share < sum(found.share for found in selector.interactions_) < 1.1 * share
    assert min(found.p_value for found in selector.interactions_) < 1e-4
    fixed = EasyFS(len(true), random_state=seed).fit(X, noisy(signal(X), share, rng))
    assert set(fixed.order_[: len(true)]) == set(true)


def test_what_was_found_is_named_with_its_share_and_read_as_a_sentence() -> None:
    rng, X = normal(800, 12)
    y = 2.0 * X[:, 1] + noisy(X[:, 3] * X[:, 8], 0.9, rng)
    selector = EasyFS(random_state=0).fit(pd.DataFrame(X, columns=list("abcdefghijkl")), y)
    first = selector.interactions_[0]
    assert isinstance(first, Interaction)
    assert set(first.columns) == {"d", "i"}
    assert 0.1 < first.share < 0.2  # a fifth of the target, less what is noise
    assert str(first) in (f"d with i: {100 * first.share:.0f} %", f"i with d: {100 * first.share:.0f} %")
    assert list(selector.get_feature_names_out()) == ["b", "d", "i"]
    shorter = selector.truncate(1)
    assert list(shorter.get_feature_names_out()) == ["b"]


@pytest.mark.parametrize("classes", [False, True])
def test_with_interactions_switched_off_none_is_found(classes: bool) -> None:
    rng, X = normal(600, 20)
    y = noisy(X[:, 3] * X[:, 11], 0.8, rng) + X[:, 5]
    y = (y > 0).astype(int) if classes else y
    without = EasyFS(interactions=False, random_state=0).fit(X, y)
    assert without.interactions_ == []
    assert 5 in without.get_support(indices=True)
    assert not {3, 11} & set(without.get_support(indices=True))
    assert {"x3", "x11"} in named(EasyFS(random_state=0).fit(X, y))


@pytest.mark.parametrize("seed", range(3))
def test_several_effects_are_all_found_most_telling_first(seed: int) -> None:
    rng, X = normal(1000, 30, seed)
    y = 1.5 * X[:, 2] + 1.2 * X[:, 5] * X[:, 9] + np.abs(X[:, 14]) + 0.5 * X[:, 20] + 0.5 * rng.standard_normal(1000)
    selector = EasyFS(random_state=seed).fit(X, y)
    assert {2, 5, 9, 14, 20} <= set(selector.get_support(indices=True))
    assert selector.n_features_ <= 6
    assert {"x5", "x9"} in named(selector)
    assert {"x14"} in named(selector)
    assert share_of(selector, "x5", "x9") > share_of(selector, "x14")


@pytest.mark.parametrize("seed", range(3))
def test_a_product_with_a_column_that_matters_by_itself_is_found(seed: int) -> None:
    rng, X = normal(800, 40, seed)
    y = X[:, 4] * (1.0 + X[:, 30]) + 0.5 * rng.standard_normal(800)
    selector = EasyFS(random_state=seed).fit(X, y)
    assert set(selector.order_[:2]) == {4, 30}
    assert {"x4", "x30"} in named(selector)


# --- what is said of it ---


@pytest.mark.parametrize("kind", ["numbers", "categories", "two classes"])
def test_a_group_that_explains_all_leaves_nothing_to_name(kind: str) -> None:
    rng, X = normal(600, 10)
    table: Any = X
    if kind == "categories":
        codes = rng.integers(0, 3, (600, 10))
        table = pd.DataFrame({f"x{j}": pd.Categorical(np.array(["a", "b", "c"])[codes[:, j]]) for j in range(10)})
        y = (codes[:, 3] + codes[:, 8]) % 3
    elif kind == "numbers":
        X = table = rng.integers(0, 3, (600, 10)).astype(float)
        y = 0.5 * (X[:, 3] - 1.0) * (X[:, 8] - 1.0)
    else:
        X = table = rng.integers(0, 2, (600, 10)).astype(float)
        y = (X[:, 3] != X[:, 8]).astype(int)
    selector = EasyFS(random_state=0).fit(table, y)
    assert set(selector.get_support(indices=True)) == {3, 8}
    assert named(selector) == [{"x3", "x8"}]
    assert share_of(selector, "x3", "x8") > 0.9


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", ["numbers", "categories"])
def test_no_group_is_named_twice(table: str, weighted: bool) -> None:
    for seed in range(4):
        rng, X = normal(600, 10, seed)
        y = np.sign(X[:, 3] * X[:, 8]) + 0.3 * rng.standard_normal(600)
        given: Any = X
        if table == "categories":
            codes = rng.integers(0, 4, (600, 10))
            given = pd.DataFrame({f"x{j}": pd.Categorical(np.array(list("abcd"))[codes[:, j]]) for j in range(10)})
            y = ((codes[:, 3] % 2) ^ (codes[:, 8] // 2)) + 0.3 * rng.standard_normal(600)
        weight = rng.exponential(size=600) if weighted else None
        found = [frozenset(columns) for columns in named(EasyFS(random_state=seed).fit(given, y, weight))]
        assert frozenset({"x3", "x8"}) in found
        assert len(found) == len(set(found))


def test_a_larger_signal_has_a_larger_share() -> None:
    rng, X = normal(800, 12)
    found = []
    for share in (0.1, 0.3, 0.6, 0.9):
        selector = EasyFS(random_state=0).fit(X, noisy(X[:, 3] * X[:, 8], share, rng))
        assert {"x3", "x8"} in named(selector)
        found.append((share_of(selector, "x3", "x8"), selector.interactions_[0].p_value))
        assert 0.65 * share < found[-1][0] < 1.1 * share + 0.03
    assert [share for share, _ in found] == sorted(share for share, _ in found)
    assert max(p for _, p in found) < 0.01
    assert found[-1][1] < 1e-3


def test_a_hint_is_not_confirmed() -> None:
    assert Found((1, 2), 0.3, 0.9 * LEVEL).confirmed
    assert not Found((1, 2), 0.3, 1.1 * LEVEL).confirmed


# --- any kind of table ---


def product_table(seed: int = 0, n: int = 800) -> tuple[Random, np.ndarray, np.ndarray]:
    rng, X = normal(n, 15, seed)
    return rng, X, noisy(X[:, 3] * X[:, 8], 0.7, rng) + 0.5 * X[:, 12]


def assert_product_found(selector: EasyFS, among: int = 4) -> None:
    assert {3, 8, 12} <= set(selector.get_support(indices=True))
    assert selector.n_features_ <= among
    assert {"x3", "x8"} in named(selector)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_missing_values_do_not_hide_a_product(dtype: Any) -> None:
    rng, X, y = product_table()
    X[rng.random(X.shape) < 0.15] = np.nan
    assert_product_found(EasyFS(random_state=0).fit(X.astype(dtype), y))


@pytest.mark.parametrize("kind", ["exponential", "whole", "balanced"])
def test_weights_do_not_hide_a_product(kind: str) -> None:
    rng, X, y = product_table()
    if kind == "balanced":
        y = (y > np.quantile(y, 0.85)).astype(int)
        weight = (len(y) / np.bincount(y))[y]
        assert {"x3", "x8"} in named(EasyFS(random_state=0).fit(X, y, weight))
        return
    weight = rng.exponential(size=len(y)) + 0.05 if kind == "exponential" else rng.integers(1, 4, len(y)).astype(float)
    assert_product_found(EasyFS(random_state=0).fit(X, y, weight))


@pytest.mark.parametrize("values", [2, 3])
def test_weights_do_not_hide_a_product_of_columns_of_few_values(values: int) -> None:
    found = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, values, (500, 20)).astype(float)
        y = ((X[:, 3] == X[:, 8]) ^ (rng.random(500) < 0.2)).astype(int)
        selector = EasyFS(random_state=seed).fit(X, y, rng.exponential(size=500))
        found += {3, 8} == set(selector.get_support(indices=True))
    assert found >= 4


def test_a_product_is_found_in_a_sparse_table_as_in_the_dense_one() -> None:
    rng, X, _ = product_table()
    X[rng.random(X.shape) < 0.6] = 0.0
    y = noisy(X[:, 3] * X[:, 8], 0.7, rng) + 0.5 * X[:, 12]
    dense, thin = EasyFS(random_state=0).fit(X, y), EasyFS(random_state=0).fit(sparse.csr_array(X), y)
    assert_product_found(dense)
    assert named(thin) == named(dense)
    np.testing.assert_array_equal(thin.order_, dense.order_)
    np.testing.assert_allclose(
        [found.share for found in thin.interactions_], [found.share for found in dense.interactions_], rtol=1e-4
    )


@pytest.mark.parametrize("n_targets", [2, 5])
def test_products_in_several_targets_are_found(n_targets: int) -> None:
    rng, X, y = product_table()
    Y = rng.standard_normal((len(y), n_targets))
    Y[:, 0], Y[:, 1] = y, noisy(np.abs(X[:, 5]), 0.8, rng)
    selector = EasyFS(random_state=0).fit(X, Y)
    assert {3, 5, 8, 12} <= set(selector.get_support(indices=True))
    assert {"x3", "x8"} in named(selector)
    assert {"x5"} in named(selector)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_a_product_that_makes_classes_is_found(n_classes: int) -> None:
    _, X, y = product_table(n=1000)
    classes = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    selector = EasyFS(random_state=0).fit(X, classes)
    assert {3, 8} <= set(selector.get_support(indices=True))
    assert {"x3", "x8"} in named(selector)


def test_a_group_that_holds_a_column_of_a_product_is_taken_whole() -> None:
    _, X, y = product_table()
    selector = EasyFS(feature_groups=[0, 1, 2, 3, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], random_state=0).fit(X, y)
    assert {3, 4, 8, 12} <= set(selector.get_support(indices=True))
    assert {"x3", "x8"} in named(selector)
    two = EasyFS(2, feature_groups=[0, 1, 2, 3, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], random_state=0).fit(X, y)
    assert set(two.get_support(indices=True)) == {3, 4, 8}


def test_an_excluded_column_takes_part_in_nothing() -> None:
    _, X, y = product_table()
    selector = EasyFS(exclude=[3], random_state=0).fit(X, y)
    assert not any("x3" in columns for columns in named(selector))
    assert 3 not in selector.get_support(indices=True)


def test_there_must_be_room_for_a_whole_product() -> None:
    rng, X = normal(800, 15)
    y = noisy(X[:, 3] * X[:, 8], 0.9, rng) + 0.2 * X[:, 12]
    assert set(EasyFS(2, random_state=0).fit(X, y).order_[:2]) == {3, 8}
    assert EasyFS(1, random_state=0).fit(X, y).order_[0] == 12
    beside = EasyFS(2, include=[8], random_state=0).fit(X, y)
    assert list(beside.order_[:2]) == [8, 3]


# --- streams ---


@pytest.mark.parametrize("kind", ["numbers", "classes", "weights"])
def test_a_stream_names_what_fit_names(kind: str) -> None:
    rng, X, y = product_table(n=3000)
    y = (y > 0).astype(int) if kind == "classes" else y
    weight = rng.exponential(size=3000) if kind == "weights" else None
    make = EasyFS(random_state=0)
    whole = EasyFS(**make.get_params()).fit(X, y, weight)
    network = make.draw_plan(X, y, weight)
    for rows in (slice(0, 1000), slice(1000, 1400), slice(1400, 3000)):
        first = {"plan": network} if rows.start == 0 else {}
        make.partial_fit(X[rows], y[rows], None if weight is None else weight[rows], **first)
    assert {"x3", "x8"} in named(whole)
    assert make.interactions_ == whole.interactions_
    np.testing.assert_array_equal(make.order_, whole.order_)
    np.testing.assert_allclose(make.p_values_, whole.p_values_, rtol=1e-6, atol=1e-300)


def test_a_stream_finds_a_product_in_its_first_block() -> None:
    _, X, y = product_table(n=3000)
    selector = EasyFS(random_state=0)
    for start in range(0, 3000, 1000):
        selector.partial_fit(X[start : start + 1000], y[start : start + 1000])
    assert_product_found(selector)


def test_merged_streams_keep_what_was_found() -> None:
    _, X, y = product_table(n=2000)
    make = EasyFS(random_state=0)
    network = make.draw_plan(X, y)
    left = EasyFS(**make.get_params()).partial_fit(X[:900], y[:900], plan=network)
    right = EasyFS(**make.get_params()).partial_fit(X[900:], y[900:], plan=network)
    whole = EasyFS(**make.get_params()).fit(X, y)
    assert left.merge(right).interactions_ == whole.interactions_
    assert {"x3", "x8"} in named(left)


# --- the search itself ---


def fit_of(X: np.ndarray, y: np.ndarray, seed: int = 0) -> LinearFit:
    return LinearFit(take_sample(X, y.reshape(len(y), -1), seed), np.ones(X.shape[1], dtype=bool))


def test_too_few_rows_are_not_halved() -> None:
    rng, X = normal(39, 4)
    assert find_interactions(fit_of(X, X[:, 0] * X[:, 1]), np.arange(4), 0) == ()
    rng, X = normal(200, 4)
    assert find_interactions(fit_of(X, X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(200)), np.arange(4), 0)


def test_one_seed_finds_the_same_each_time_whatever_the_place_of_the_columns() -> None:
    rng, X = normal(500, 10)
    y = noisy(X[:, 2] * X[:, 7], 0.6, rng)
    first, again = (find_interactions(fit_of(X, y), np.arange(10), 5) for _ in range(2))
    assert first == again
    order = rng.permutation(10)
    moved = find_interactions(fit_of(X[:, order], y), np.arange(10), 5)
    assert [{int(order[j]) for j in found.columns} for found in moved] == [set(found.columns) for found in first]
    np.testing.assert_allclose([f.share for f in moved], [f.share for f in first], rtol=1e-3)


def test_a_table_of_one_column_or_of_two_different_rows_is_searched_without_trouble() -> None:
    rng, X = normal(100, 1)
    found = find_interactions(fit_of(X, X[:, 0] ** 2 + 0.1 * rng.standard_normal(100)), np.arange(1), 0)
    assert {f.columns for f in found} == {(0,)}
    flat = np.repeat([[1.0, -1.0], [-1.0, 1.0]], 50, axis=0)
    assert isinstance(find_interactions(fit_of(flat, rng.standard_normal(100)), np.arange(2), 0), tuple)


@pytest.mark.parametrize("rare", [(0, 1), (1, 3), (4, 5)])
def test_strong_columns_too_rare_for_a_curve_do_not_disturb_the_search(rare: tuple[int, int]) -> None:
    rng, X = normal(600, 6, 3)
    X[:, list(rare)] = 0.0
    X[rng.choice(600, 4, replace=False), rare[0]] = 1.0
    X[rng.choice(600, 4, replace=False), rare[1]] = 1.0
    common = [j for j in range(6) if j not in rare]
    signal = 12.0 * X[:, rare[0]] + 12.0 * X[:, rare[1]] + X[:, common[0]] + X[:, common[1]] * X[:, common[2]]
    selector = EasyFS(5, random_state=0).fit(X, signal + 0.3 * rng.standard_normal(600))
    assert {f"x{common[1]}", f"x{common[2]}"} in named(selector)
    assert set(selector.order_[:5]) == set(range(6)) - {common[3]}
