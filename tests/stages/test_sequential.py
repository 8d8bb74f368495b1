"""Stage 4: the greedy search against brute force."""

import numpy as np
import pytest

from easyfs import EasyFS
from easyfs.stages.sequential import GreedySearch


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def inputs_and_target(n=40, d=12, m=5, seed=0):
    """Correlated standardised columns and a target of unit Frobenius norm."""
    rng = np.random.default_rng(seed)
    X = standardised(rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + rng.standard_normal((n, d)))
    Z = X @ rng.standard_normal((d, m)) + 2.0 * rng.standard_normal((n, m))
    Z -= Z.mean(axis=0)
    return X, Z / np.linalg.norm(Z)


def search_of(X, Z, eps2=0.3, **options):
    n = len(X)
    options = {"max_steps": X.shape[1]} | options
    return GreedySearch(lambda J: X.T @ X[:, J] / n, np.einsum("ij,ij->j", X, X) / n, X.T @ Z / np.sqrt(n), eps2, **options)


def coder(X, selected, eps2):
    """``B = (I + X_S X_S' / lam)^-1`` with ``lam = eps^2 n``, formed explicitly."""
    n, S = len(X), X[:, selected]
    return np.linalg.inv(np.eye(n) + S @ S.T / (eps2 * n))


def left_of(X, Z, selected, eps2):
    return float(np.trace(Z.T @ coder(X, selected, eps2) @ Z))


def gain_by_adding(X, Z, selected, eps2):
    now = left_of(X, Z, selected, eps2)
    return np.array([now - left_of(X, Z, [*selected, j], eps2) for j in range(X.shape[1])])


@pytest.mark.parametrize("prefetch", [False, True])
@pytest.mark.parametrize("eps2", [0.01, 0.3, 3.0])
@pytest.mark.parametrize(("n", "d", "m"), [(40, 12, 5), (9, 14, 3), (40, 6, 20)])
def test_each_step_takes_the_column_that_lowers_the_remaining_energy_most(n, d, m, eps2, prefetch):
    X, Z = inputs_and_target(n, d, m)
    search = search_of(X, Z, eps2, prefetch=prefetch)
    candidates = np.ones(d, dtype=bool)
    chosen: list[int] = []
    for _ in range(d):
        expected = gain_by_adding(X, Z, chosen, eps2)
        gain = search.gain()
        np.testing.assert_allclose(gain[candidates], expected[candidates], rtol=1e-8, atol=1e-11)
        j = search.best(gain, candidates)
        assert j == np.where(candidates, expected, -np.inf).argmax()
        search.select(j, gain, candidates)
        assert search.gains[-1] == pytest.approx(expected[j], rel=1e-8, abs=1e-11)
        candidates[j] = False
        chosen.append(j)
    assert search.selected == chosen
    assert sum(search.gains) == pytest.approx(1.0 - left_of(X, Z, chosen, eps2), rel=1e-9)


@pytest.mark.parametrize("related", [False, True])
def test_columns_fetched_ahead_are_asked_for_where_they_are_then_selected(related):
    rng = np.random.default_rng(3)
    n, d, steps = 400, 300, 60
    X = rng.standard_normal((n, 6)) @ rng.standard_normal((6, d)) if related else np.zeros((n, d))
    X = standardised(X + 0.3 * rng.standard_normal((n, d)))
    Z = X @ rng.standard_normal((d, 3))
    Z /= np.linalg.norm(Z)
    found = {}
    for prefetch in (False, True):
        asked: list[int] = []

        def gram(J, asked=asked):
            asked.append(len(J))
            return X.T @ X[:, J] / n

        energy = np.einsum("ij,ij->j", X, X) / n
        search = GreedySearch(gram, energy, X.T @ Z / np.sqrt(n), 0.3, max_steps=steps, prefetch=prefetch)
        candidates = np.ones(d, dtype=bool)
        for _ in range(steps):
            gain = search.gain()
            j = search.best(gain, candidates)
            search.select(j, gain, candidates)
            candidates[j] = False
        found[prefetch] = search.selected, search.gains, asked
    assert found[True][0] == found[False][0]
    np.testing.assert_allclose(found[True][1], found[False][1], rtol=1e-9)
    assert found[False][2] == [1] * steps
    if related:  # what is likely changes with each selection: hardly more columns are fetched than are used
        assert sum(found[True][2]) < 3 * steps
    else:
        assert len(found[True][2]) < steps // 3


def test_products_follow_the_selected_columns():
    X, Z = inputs_and_target()
    n, eps2, selected = len(X), 0.3, [5, 0, 9, 2]
    search = search_of(X, Z, eps2)
    for j in selected:
        search.select(j)
    B = coder(X, selected, eps2)
    columns = np.array([3, 0, 11, 7])
    np.testing.assert_allclose(search.current_products(columns), (X.T @ B @ Z)[columns] / np.sqrt(n), atol=1e-12)
    np.testing.assert_allclose(search.coded_products(columns), (X.T @ B @ X)[np.ix_(columns, columns)] / n, atol=1e-12)
    np.testing.assert_allclose(search.remaining, np.diag(X.T @ B @ X) / n, atol=1e-12)


def test_selecting_gives_the_column_of_products_and_gains_what_the_remaining_energy_falls_by():
    X, Z = inputs_and_target()
    search, eps2, selected = search_of(X, Z), 0.3, []
    for j in (4, 1, 8):
        before = left_of(X, Z, selected, eps2)
        np.testing.assert_allclose(search.select(j), X.T @ X[:, j] / len(X), atol=1e-12)
        selected.append(j)
        assert search.gains[-1] == pytest.approx(before - left_of(X, Z, selected, eps2), abs=1e-12)


def test_the_search_goes_on_beyond_the_steps_it_made_room_for():
    X, Z = inputs_and_target()
    roomy, tight = search_of(X, Z), search_of(X, Z, max_steps=1)
    for search in (roomy, tight):
        candidates = np.ones(X.shape[1], dtype=bool)
        for _ in range(7):
            j = search.best(search.gain(), candidates)
            search.select(j, search.gain(), candidates)
            candidates[j] = False
    assert tight.selected == roomy.selected
    np.testing.assert_allclose(tight.gains, roomy.gains, rtol=1e-12)


def test_a_search_that_begins_again_fetches_nothing_that_it_had():
    X, Z = inputs_and_target(60, 20)
    asked: list[int] = []
    fresh, used = search_of(X, Z, prefetch=False), search_of(X, Z, prefetch=False)
    for j in (3, 11, 7, 0):
        used.select(j)
    columns = used.gram_columns
    used.gram_columns = lambda J: (asked.extend(J.tolist()), columns(J))[1]
    used.begin_again()
    for j in (7, 11, 5):
        np.testing.assert_allclose(used.gain(), fresh.gain(), rtol=1e-9)
        np.testing.assert_allclose(used.select(j), fresh.select(j), atol=1e-12)
    assert asked == [5]
    np.testing.assert_allclose(used.gains, fresh.gains, rtol=1e-9)


def test_a_constant_column_gains_nothing():
    X, Z = inputs_and_target()
    X[:, [2, 6]] = 0.0
    search = search_of(X, Z)
    search.select(2)
    assert search.gains == [0.0]
    assert search.gain()[6] == 0.0
    np.testing.assert_allclose(search.gain(), gain_by_adding(X, Z, [], 0.3), atol=1e-12)


def test_among_equal_gains_the_first_column_wins():
    X, Z = inputs_and_target()
    search = search_of(X, Z)
    gain = np.array([0.1, 0.5 - 1e-12, 0.5, 0.5 - 1e-6])
    assert search.best(gain, np.ones(4, dtype=bool)) == 1
    assert search.best(gain, np.array([True, False, True, True])) == 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("n", "d", "count"), [(1000, 600, 600), (4000, 2200, 5)])
def test_copies_come_after_all_other_columns_of_a_wide_table_of_zeros_and_ones(n, d, count, dtype):
    rng = np.random.default_rng(0)
    X = (rng.random((n, d)) < 0.5).astype(dtype)
    X[:, 2], X[:, 3], X[:, 4] = X[:, 0], X[:, 1], 1.0 - X[:, 0]
    y = X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(n)
    selector = EasyFS(count, n_hidden=8, random_state=0).fit(X, y)
    assert set(selector.order_[:2]) == {0, 1}
    assert set(selector.order_[-3:]) == {2, 3, 4}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["normal", "zeros and ones"])
def test_more_columns_than_rows_may_be_selected_and_then_explain_one_another(kind, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 600))
    X = (X if kind == "normal" else (X > 0) * 1.0).astype(dtype)
    y = X[:, 0] + X[:, 1] + 0.3 * rng.standard_normal(100)
    selector = EasyFS(1.0, n_hidden=8, random_state=0).fit(X, y)
    assert set(selector.order_[:2]) == {0, 1}
    np.testing.assert_allclose(selector.redundancy_, 1.0, atol=1e-2)
