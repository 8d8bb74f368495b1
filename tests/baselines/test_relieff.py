"""ReliefF and RReliefF against slow, obvious code, and against the numbers of two libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easyfs import FisherScoreSelector, ReliefFSelector
from easyfs.baselines.distances import Distance, distance
from easyfs.baselines.relieff import nearest, reference_rows

from .parity import cases, load


def slow_relieff(X: np.ndarray, y: np.ndarray, k: int, rows: np.ndarray | None = None) -> np.ndarray:
    """Robnik-Sikonja and Kononenko 2003, figure 2, with every row in turn, or with some rows."""
    n, d = X.shape
    rows = np.arange(n) if rows is None else rows
    Z = X / (X.max(axis=0) - X.min(axis=0))
    scores = np.zeros(d)
    for i in rows:
        distance = np.abs(Z - Z[i]).sum(axis=1)
        for c in np.unique(y):
            others = [j for j in sorted(range(n), key=lambda j: (distance[j], j)) if j != i and y[j] == c][:k]
            if not others:
                continue
            difference = np.mean([np.abs(Z[i] - Z[j]) for j in others], axis=0)
            p, own = np.mean(y == c), np.mean(y == y[i])
            scores += (-difference if c == y[i] else p / (1 - own) * difference) / len(rows)
    return scores


def slow_rrelieff(X: np.ndarray, y: np.ndarray, k: int, sigma: float | None, rows: np.ndarray | None = None) -> np.ndarray:
    """Robnik-Sikonja and Kononenko 2003, figure 3, with every row in turn, or with some rows."""
    n, d = X.shape
    rows = np.arange(n) if rows is None else rows
    Z, t = X / np.ptp(X, axis=0), y / np.ptp(y)
    n_dc, n_da, n_dcda = 0.0, np.zeros(d), np.zeros(d)
    for i in rows:
        distance = np.abs(Z - Z[i]).sum(axis=1)
        others = [j for j in sorted(range(n), key=lambda j: (distance[j], j)) if j != i][:k]
        weights = [1.0 if sigma is None else np.exp(-(((place + 1) / sigma) ** 2)) for place in range(len(others))]
        for j, weight in zip(others, np.array(weights) / sum(weights), strict=True):
            n_dc += abs(t[i] - t[j]) * weight
            n_da += np.abs(Z[i] - Z[j]) * weight
            n_dcda += abs(t[i] - t[j]) * np.abs(Z[i] - Z[j]) * weight
    return np.asarray(n_dcda / n_dc - (n_da - n_dcda) / (len(rows) - n_dc))


def table(n: int = 70, d: int = 6, seed: int = 0, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.choice(n_classes, n, p=np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    X = rng.standard_normal((n, d)) * rng.uniform(0.1, 10, d)
    X[:, 0] += 2 * X[:, 0].std() * y
    return X, y


@pytest.mark.parametrize("k", [1, 5, 40])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_classes_equal_the_definition(k: int, n_classes: int) -> None:
    X, y = table(n_classes=n_classes, seed=k)
    np.testing.assert_allclose(ReliefFSelector(n_neighbors=k).fit(X, y).scores_, slow_relieff(X, y, k), atol=1e-12)


@pytest.mark.parametrize("sigma", [None, 3.0])
@pytest.mark.parametrize("k", [1, 5, 200])
def test_numbers_equal_the_definition(k: int, sigma: float | None) -> None:
    X, _ = table(seed=k)
    y = X[:, 0] + np.random.default_rng(k).standard_normal(len(X))
    found = ReliefFSelector(n_neighbors=k, sigma=sigma).fit(X, y).scores_
    np.testing.assert_allclose(found, slow_rrelieff(X, y, k, sigma), atol=1e-12)


def test_blocks_do_not_change_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(n=300)
    whole = ReliefFSelector().fit(X, y).scores_
    monkeypatch.setattr("easyfs.baselines.relieff.block_rows", lambda *_: 7)
    monkeypatch.setattr("easyfs.baselines.distances.block_rows", lambda *_: 7)
    monkeypatch.setattr("easyfs.baselines.relieff.BLOCK_BYTES", 1000)
    np.testing.assert_allclose(ReliefFSelector().fit(X, y).scores_, whole, rtol=1e-10)
    monkeypatch.setattr("easyfs.baselines.relieff.FEW_ROWS", 100)  # distances that are not kept
    np.testing.assert_allclose(ReliefFSelector().fit(X, y).scores_, whole, rtol=1e-10)


def test_references_are_drawn_from_each_class_by_its_share() -> None:
    codes = np.repeat([0, 1, 2], [600, 300, 100])
    for seed in range(5):
        rows = reference_rows(codes, 100, np.random.RandomState(seed))
        assert (np.diff(rows) > 0).all()
        np.testing.assert_allclose(np.bincount(codes[rows]), [60, 30, 10], atol=1)
        np.testing.assert_array_equal(rows, reference_rows(codes, 100, np.random.RandomState(seed)))
    assert (
        reference_rows(codes, 100, np.random.RandomState(0)) != reference_rows(codes, 100, np.random.RandomState(1))
    ).any()
    np.testing.assert_array_equal(reference_rows(codes, 1000, np.random.RandomState(0)), np.arange(1000))
    drawn = np.bincount(np.concatenate([reference_rows(codes, 30, np.random.RandomState(seed)) for seed in range(2000)]))
    np.testing.assert_allclose(drawn, 60, atol=45)  # each row as often as any other


@pytest.mark.parametrize("seed", [0, 3])
def test_some_rows_in_place_of_all_equal_the_definition(seed: int) -> None:
    X, y = table(n=90, seed=seed)
    order = np.argsort(y, kind="stable")
    rows = order[reference_rows(y[order], 30, np.random.RandomState(seed))]
    found = ReliefFSelector(n_neighbors=4, max_references=30, random_state=seed).fit(X, y).scores_
    np.testing.assert_allclose(found, slow_relieff(X, y, 4, rows), atol=1e-12)
    numbers = X[:, 0] + np.random.default_rng(seed).standard_normal(90)
    rows = reference_rows(np.zeros(90, dtype=int), 30, np.random.RandomState(seed))
    found = ReliefFSelector(n_neighbors=4, max_references=30, random_state=seed).fit(X, numbers).scores_
    np.testing.assert_allclose(found, slow_rrelieff(X, numbers, 4, None, rows), atol=1e-12)


@pytest.mark.parametrize("convention", ["paper", "scikit-feature", "skrebate"])
@pytest.mark.parametrize("numbers", [False, True])
def test_scores_from_some_rows_are_near_those_from_all(convention: str, numbers: bool) -> None:
    X, y = table(n=1500, n_classes=2)
    y = X[:, 0] + X[:, 1] / X[:, 1].std() if numbers else y
    settings: dict[str, Any] = {"convention": convention, "task": "regression" if numbers else "classification"}
    whole = ReliefFSelector(max_references=None, **settings).fit(X, y).scores_
    np.testing.assert_array_equal(ReliefFSelector(max_references=1500, **settings).fit(X, y).scores_, whole)
    some = ReliefFSelector(max_references=500, **settings).fit(X, y).scores_
    assert (some != whole).any()
    np.testing.assert_allclose(some, whole, atol=0.15 * np.abs(whole).max())


def test_large_tables_take_distances_of_the_references_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = table(n=6000, d=3)
    taken = []
    between = Distance.between

    def counted(self: Distance, rows: Any, others: slice) -> np.ndarray:
        D = between(self, rows, others)
        taken.append(D.shape)
        return D

    monkeypatch.setattr(Distance, "between", counted)
    ReliefFSelector().fit(X, y)
    assert sum(rows for rows, _ in taken) == 5000
    assert {others for _, others in taken} == {6000}
    taken.clear()
    ReliefFSelector(max_references=100).fit(X, y)
    assert sum(rows for rows, _ in taken) == 100


def test_units_of_a_column_do_not_matter() -> None:
    X, y = table()
    scores = ReliefFSelector().fit(X, y).scores_
    np.testing.assert_allclose(ReliefFSelector().fit(X * 1000 + 5, y).scores_, scores, atol=1e-9)


def test_a_class_of_one_row_has_no_hits() -> None:
    X, y = table(n=30, n_classes=2)
    y[:] = 0
    y[7] = 1
    np.testing.assert_allclose(ReliefFSelector(n_neighbors=3).fit(X, y).scores_, slow_relieff(X, y, 3), atol=1e-12)


def test_a_product_is_seen_where_single_columns_say_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 8))
    y = X[:, 2] * X[:, 5] > 0
    assert set(ReliefFSelector(2).fit(X, y).get_support(indices=True)) == {2, 5}
    assert set(ReliefFSelector(2).fit(X, X[:, 2] * X[:, 5]).get_support(indices=True)) == {2, 5}
    assert set(FisherScoreSelector(2).fit(X, y).get_support(indices=True)) != {2, 5}


def test_categories_differ_or_do_not() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    X = np.column_stack([np.where(y == 1, 1.0, rng.choice([0.0, 2.0], 200)), rng.standard_normal(200)])
    as_numbers = ReliefFSelector(1).fit(X, y).scores_
    as_categories = ReliefFSelector(1, discrete_features="auto").fit(X, y).scores_
    assert as_categories[0] > as_numbers[0]
    np.testing.assert_array_equal(ReliefFSelector(1, discrete_features=[0]).fit(X, y).scores_, as_categories)
    wider = np.column_stack([np.zeros(200), X])  # a constant column moves the places
    found = ReliefFSelector(1, discrete_features=[1]).fit(wider, y).scores_
    np.testing.assert_array_equal(found[1:], as_categories)


def test_nearest_takes_the_first_of_equal_distances() -> None:
    rng = np.random.default_rng(0)
    D = rng.integers(0, 5, (200, 40)).astype(np.float64)
    for k in (0, 1, 7, 39, 40, 60):
        np.testing.assert_array_equal(nearest(D, k), np.argsort(D, axis=1, kind="stable")[:, :k])


@given(
    seed=st.integers(0, 1000),
    n=st.integers(2, 60),
    levels=st.lists(st.integers(2, 30), max_size=5),
    step=st.sampled_from([1.0, 0.5, 0.3]),
    categories=st.lists(st.integers(2, 30), max_size=5),
    weight=st.sampled_from([1.0, 1.7]),
)
def test_distances_by_steps_are_those_by_columns(
    seed: int, n: int, levels: list[int], step: float, categories: list[int], weight: float
) -> None:
    rng = np.random.default_rng(seed)
    numeric = step * rng.integers(0, levels, (n, len(levels)))
    discrete = rng.integers(0, categories, (n, len(categories))).astype(float)
    expected = np.abs(numeric[:, None] - numeric).sum(axis=2) + weight * (discrete[:, None] != discrete).sum(axis=2)
    found = distance(numeric, discrete, weight).between(slice(1, n), slice(0, n))
    np.testing.assert_allclose(found, expected[1:], atol=1e-12 * expected.max())
    if step != 0.3 and weight == 1.0:
        assert (found == expected[1:]).all()


@pytest.mark.parametrize("k", [1, 5])
def test_columns_of_few_values_equal_the_definition(k: int) -> None:
    rng = np.random.default_rng(k)
    X = np.column_stack([rng.integers(0, 3, (80, 12)), rng.standard_normal((80, 2))]).astype(float)
    y = X[:, 0] + X[:, 12] + 0.1 * rng.standard_normal(80)
    np.testing.assert_allclose(ReliefFSelector(n_neighbors=k).fit(X, y).scores_, slow_rrelieff(X, y, k, None), atol=1e-12)
    classes = np.digitize(y, [0.0, 1.5])
    np.testing.assert_allclose(
        ReliefFSelector(n_neighbors=k).fit(X, classes).scores_, slow_relieff(X, classes, k), atol=1e-12
    )


@pytest.mark.parametrize("stem", cases("relieff_skfeature_k5__"))
def test_the_convention_of_scikit_feature(stem: str) -> None:
    stored = load(stem)
    selector = ReliefFSelector(n_neighbors=5, convention="scikit-feature").fit(stored["X"], stored["y"])
    np.testing.assert_allclose(selector.scores_, stored["scores"], rtol=1e-9)
    # The paper multiplies by the prior and scales the columns: other numbers.
    paper = ReliefFSelector(n_neighbors=5).fit(stored["X"], stored["y"])
    np.testing.assert_allclose(paper.scores_, slow_relieff(stored["X"], stored["y"], 5), atol=1e-12)
    assert not np.allclose(paper.scores_ * len(stored["y"]), stored["scores"], rtol=0.1)


@pytest.mark.parametrize("stem", cases("relieff_skrebate_k10__"))
def test_the_convention_of_skrebate(stem: str) -> None:
    stored = load(stem)
    task = "regression" if len(np.unique(stored["y"])) > 10 else "classification"
    selector = ReliefFSelector(n_neighbors=10, convention="skrebate", task=task).fit(stored["X"], stored["y"])
    np.testing.assert_allclose(selector.scores_, stored["scores"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ({"sigma": 0.0}, "sigma=0.0"),
        ({"convention": "mine"}, "convention='mine'"),
        ({"max_references": 0}, "max_references=0: give a whole number of at least 1, or None for all rows"),
        ({"discrete_features": "all"}, "discrete_features names column 'all'"),
        ({"discrete_features": [9]}, "discrete_features has column 9"),
    ],
)
def test_wrong_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=message):
        ReliefFSelector(**parameters).fit(X, y)
