"""Columns that tell something together: products of two and three columns against explicit ones."""

from itertools import combinations

import numpy as np
import pytest

from easyfs import EasyFS, bundles
from easyfs.bundles import Bundles, find_bundles, screen_triples, squares_of


def columns(n, d, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return (X - X.mean(axis=0)) / X.std(axis=0)


def unit(y):
    y = y - y.mean()
    return (y / np.linalg.norm(y))[:, None]


def test_a_square_has_nothing_linear_and_unit_spread():
    X = columns(400, 5)
    X[:, 1] = np.sign(X[:, 1])
    X[:, 1] -= X[:, 1].mean()
    squares, curved = squares_of(X, np.ones(400))
    np.testing.assert_array_equal(curved, [True, False, True, True, True])
    for j in np.flatnonzero(curved):
        expected = X[:, j] ** 2 - np.polyval(np.polyfit(X[:, j], X[:, j] ** 2, 1), X[:, j])
        expected = np.clip(expected / expected.std(), -3.0, 3.0)
        np.testing.assert_allclose(squares[:, j], expected, atol=1e-9)


@pytest.mark.parametrize("d", [3, 4, 11])
def test_the_strongest_triples_are_those_of_an_explicit_search(d):
    X, direction = columns(120, d), np.random.default_rng(1).standard_normal(120)
    found = screen_triples(X, direction)
    strength = {
        t: abs((X[:, t].prod(axis=1)) @ direction) for t in map(list, combinations(range(d), 3)) for t in [tuple(t)]
    }
    expected = sorted(strength, key=lambda t: -strength[t])[:32]
    assert [tuple(t) for t in found.tolist()] == expected


def test_there_are_no_triples_of_two_columns_or_of_very_many(monkeypatch):
    X = columns(300, 40)
    assert len(screen_triples(X[:, :2], X[:, 0])) == 0
    monkeypatch.setattr(bundles, "TRIPLE_PRODUCTS", 1000)
    assert len(screen_triples(X, X[:, 0])) == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("name", "expected"), [("pair", [[1, 3]]), ("triple", [[0, 2, 4]]), ("square", [[5]]), ("noise", []), ("column", [])]
)
def test_only_what_tells_more_than_chance_and_than_its_columns_is_a_bundle(name, expected, weighted):
    X = columns(300, 8)
    y = {
        "pair": X[:, 1] * X[:, 3],
        "triple": X[:, 0] * X[:, 2] * X[:, 4],
        "square": X[:, 5] ** 2,
        "noise": np.random.default_rng(2).standard_normal(300),
        "column": X[:, 1],
    }[name]
    weight = np.random.default_rng(3).integers(1, 3, 300).astype(float) if weighted else np.ones(300)
    root = np.sqrt(weight)
    values = (X - weight @ X / weight.sum()) * root[:, None]
    y = y - weight @ y / weight.sum()
    target = (y / np.sqrt(weight @ y**2))[:, None] * root[:, None]
    sets = [np.array(s) for s in ([1, 3], [0, 2, 4], [5, 5], [0, 1], [2, 6], [1, 2, 3])]
    found = find_bundles(values, root, target, sets, 8)
    assert [list(c) for c in found.columns] == expected
    assert (found.relevance > 0.1).all()


def test_sums_name_the_columns():
    found = Bundles([np.array([0, 2]), np.array([1])], np.array([0.5, 0.2]), [np.array([1.0, -1.0]), np.ones(1)])
    np.testing.assert_array_equal(found.sums(4), [[1, 0], [0, 1], [-1, 0], [0, 0]])


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("kind", ["product of three", "sign of three", "either of two pairs"])
def test_three_and_more_columns_that_matter_only_together_are_found(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1000, 40))
    if kind == "product of three":
        y, true = X[:, 3] * X[:, 9] * X[:, 20] + 0.5 * rng.standard_normal(1000), {3, 9, 20}
    elif kind == "sign of three":
        y, true = (X[:, 3] * X[:, 9] * X[:, 20] > 0).astype(int), {3, 9, 20}
    else:
        first, second = X[:, 1] * X[:, 2] > 0, X[:, 3] * X[:, 4] > 0
        y, true = np.where(X[:, 0] > 0, first, second).astype(int), {0, 1, 2, 3, 4}
    found = set(EasyFS(len(true), random_state=seed).fit(X, y).order_[: len(true)].tolist())
    assert found == true or (len(true) == 5 and found >= {1, 2, 3, 4})


@pytest.mark.parametrize("d", [60, 250])
def test_rows_in_the_order_of_their_class_hide_nothing(d):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, d))
    y = (X[:, 3] * X[:, 9] * X[:, 20] > 0).astype(int)
    order = np.argsort(y, kind="stable")
    assert set(EasyFS(3, random_state=0).fit(X[order], y[order]).order_[:3].tolist()) == {3, 9, 20}


def test_very_many_nodes_bring_very_many_pairs():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6000))
    y = (X[:, 10] * X[:, 5990] > 0).astype(int)
    selector = EasyFS(2, n_enhancement=120_000, n_hidden=8, random_state=0).fit(X, y)
    assert sorted(selector.order_) == list(range(6000))


def test_the_number_of_columns_is_found_where_they_matter_only_together():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 30))
    y = (X[:, 3] * X[:, 9] * X[:, 20] > 0).astype(int)
    selector = EasyFS("auto", random_state=0).fit(X, y)
    assert {3, 9, 20} <= set(selector.order_[: selector.n_features_].tolist())
    assert selector.n_features_ <= 5


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_product_of_three_among_too_many_columns_for_all_triples_is_found_by_its_size(seed, weighted):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((800, 900))
    y = X[:, 3] * X[:, 400] * X[:, 871] + 0.5 * rng.standard_normal(800)
    weight = rng.uniform(0.5, 2.0, 800) if weighted else None
    assert set(EasyFS(3, random_state=0).fit(X, y, weight).order_[:3]) == {3, 400, 871}


@pytest.mark.parametrize("seed", range(4))
def test_noise_with_long_tails_has_no_triples(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_t(3, (500, 400)), np.exp(1.2 * rng.standard_normal(500))
    kept = EasyFS(random_state=0).partial_fit(X, y).network_.kept
    assert kept.effective_share < 0.9
    assert not any(len(columns) == 3 for columns in kept.bundles.columns)
