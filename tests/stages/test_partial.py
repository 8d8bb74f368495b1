"""What columns tell beyond the selected ones, against explicit least squares."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfs.stages.partial import JITTER, BeyondOthers, PartialRelevance


def table(n=60, d=9, r=2, seed=0):
    """Correlated columns of unit mean square, and an orthonormal target that is made of some of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + rng.standard_normal((n, d))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = X @ rng.standard_normal((d, r)) + rng.standard_normal((n, r))
    return X, np.linalg.qr(Y - Y.mean(axis=0))[0]


def partial_of(X, Y, selected=(), dtype=np.float64):
    n = len(X)
    gram = X.T @ X / n
    partial = PartialRelevance(np.diagonal(gram).copy(), X.T @ Y / np.sqrt(n), dtype)
    for j in selected:
        partial.add(j, gram[:, j])
    return partial


def without(values, chosen):
    """What a least-squares fit on some columns leaves."""
    if not chosen.shape[1]:
        return values
    return values - chosen @ np.linalg.lstsq(chosen, values, rcond=1e-10)[0]


def share_of(x, Y):
    """Share of what is left of the target, over all its directions, that one column explains."""
    told = 0.0
    for direction in np.linalg.svd(Y, full_matrices=False)[0].T:
        told += (x @ direction) ** 2 / (x @ x)
    return told


@pytest.mark.parametrize("selected", [(), (4,), (4, 0, 7), (8, 1, 2, 3, 5)])
@pytest.mark.parametrize(("n", "r"), [(60, 1), (60, 2), (12, 3)])
def test_shares_are_those_of_explicit_fits(n, r, selected):
    X, Y = table(n=n, r=r)
    partial = partial_of(X, Y, selected)
    left, Z = without(X, X[:, list(selected)]), without(Y, X[:, list(selected)])
    open_columns = [j for j in range(X.shape[1]) if j not in selected]
    expected = [share_of(left[:, j], Z) for j in open_columns]
    np.testing.assert_allclose(partial.shares()[open_columns], expected, rtol=1e-8)
    of_target = [np.square(left[:, j] @ Y).sum() / (left[:, j] @ left[:, j]) / r for j in open_columns]
    np.testing.assert_allclose(partial.of_target()[open_columns], of_target, rtol=1e-8)
    np.testing.assert_array_equal(partial.shares()[list(selected)], 0.0)
    np.testing.assert_array_equal(partial.of_target()[list(selected)], 0.0)
    explained = 1.0 - np.square(left).sum(axis=0) / np.square(X).sum(axis=0)
    np.testing.assert_allclose(partial.explained(), explained, atol=1e-9)
    np.testing.assert_array_equal(np.flatnonzero(partial.dependent()), np.sort(selected))
    np.testing.assert_allclose(partial.target, Z.T @ Z, atol=1e-10)
    assert partial.rank == r


def test_what_the_selected_columns_say_adds_up_to_the_products_among_them():
    X, Y = table()
    selected = [5, 0, 8, 3]
    partial = partial_of(X, Y, selected)
    factor = partial.rows[:, selected].T
    np.testing.assert_allclose(factor, np.linalg.cholesky(X[:, selected].T @ X[:, selected] / len(X)), atol=1e-10)
    expected = np.linalg.solve(factor, X[:, selected].T @ Y / np.sqrt(len(X)))
    np.testing.assert_allclose(partial.steps, expected, atol=1e-10)
    q = np.linalg.qr(X[:, selected])[0]
    np.testing.assert_allclose(np.square(partial.rows).sum(axis=0), np.square(q.T @ X).sum(axis=0) / len(X), atol=1e-10)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), k=st.integers(0, 6), width=st.integers(1, 3), r=st.integers(1, 3))
def test_a_group_tells_what_its_columns_tell_together(seed, k, width, r):
    X, Y = table(r=r, seed=seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    selected, group = order[:k].tolist(), order[k : k + width]
    partial = partial_of(X, Y, selected)
    told, found = partial.of_group(group, X[:, group].T @ X[:, group] / len(X))
    q = np.linalg.qr(without(X[:, group], X[:, selected]))[0]
    Z = np.linalg.svd(without(Y, X[:, selected]), full_matrices=False)[0]
    assert found == width
    assert told == pytest.approx(float(np.square(q.T @ Z).sum()), rel=1e-7)
    if width == 1:
        assert told == pytest.approx(partial.shares()[group[0]], rel=1e-7)


def test_a_group_of_dependent_columns_is_as_wide_as_it_is():
    X, Y = table()
    X[:, 2] = X[:, 0] - X[:, 1]
    partial = partial_of(X, Y, [3])
    group = np.array([0, 1, 2])
    told, width = partial.of_group(group, X[:, group].T @ X[:, group] / len(X))
    both = partial.of_group(group[:2], X[:, group[:2]].T @ X[:, group[:2]] / len(X))
    assert width == 2
    assert told == pytest.approx(both[0], rel=1e-6)
    partial.add(0, X.T @ X[:, 0] / len(X))
    partial.add(1, X.T @ X[:, 1] / len(X))
    assert partial.of_group(group, X[:, group].T @ X[:, group] / len(X)) == (0.0, 0)


def with_relatives(size):
    """A table with a copy, a mirror image, a combination, and a near-copy of this distance."""
    X, Y = table(n=400)
    rng = np.random.default_rng(1)
    near = X[:, 0] + size * rng.standard_normal(400)
    X = np.column_stack([X, 3.0 * X[:, 0], -X[:, 0], X[:, 0] - X[:, 1], near])
    X = X - X.mean(axis=0)
    return X / X.std(axis=0), Y  # 9: copy, 10: mirror, 11: combination, 12: near-copy


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("size", [0.01, 0.1, 0.3])
def test_copies_and_combinations_are_dependent_and_near_copies_are_not(size, dtype):
    X, Y = with_relatives(size)
    X = X.astype(dtype).astype(np.float64)
    partial = partial_of(X, Y, [5], dtype)
    assert np.flatnonzero(partial.dependent()).tolist() == [5]
    partial = partial_of(X, Y, [5, 0], dtype)
    assert np.flatnonzero(partial.dependent()).tolist() == [0, 5, 9, 10]
    assert partial.explained()[11] < 0.99
    partial = partial_of(X, Y, [5, 0, 1], dtype)
    assert np.flatnonzero(partial.dependent()).tolist() == [0, 1, 5, 9, 10, 11]
    np.testing.assert_allclose(partial.explained()[[9, 10, 11]], 1.0, atol=1e-5)
    assert partial.explained()[12] == pytest.approx(1.0 / (1.0 + size**2), abs=0.02)
    np.testing.assert_array_equal(partial.shares()[[9, 10, 11]], 0.0)
    expected = share_of(*(without(a, X[:, [5, 0, 1]]) for a in (X[:, 12], Y)))
    assert partial.shares()[12] == pytest.approx(expected, rel=1e-5)


def test_selecting_a_dependent_column_changes_nothing_for_others():
    X, Y = with_relatives(0.1)
    partial = partial_of(X, Y, [0, 1])
    before = partial.shares(), partial.explained(), partial.target.copy()
    partial.add(11, X.T @ X[:, 11] / len(X))
    assert partial.selected == [0, 1, 11]
    for found, expected in zip((partial.shares(), partial.explained(), partial.target), before, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)
    assert np.isfinite(np.linalg.inv(partial.rows[:, partial.selected])).all()
    np.testing.assert_array_equal(partial.steps[2], 0.0)


def test_a_constant_column_tells_nothing_and_may_be_selected():
    X, Y = table()
    X[:, [2, 6]] = 0.0
    partial = partial_of(X, Y, [2])
    assert np.isfinite(partial.rows).all()
    np.testing.assert_array_equal(partial.shares()[[2, 6]], 0.0)
    np.testing.assert_allclose(partial.shares()[0], share_of(X[:, 0], Y))
    assert (partial.explained()[[0, 1]] == 0.0).all()


def test_many_columns_may_be_selected_one_after_another():
    X, Y = table(n=150, d=80)
    partial = partial_of(X, Y, range(70))
    assert len(partial.rows) == 70
    left, Z = without(X, X[:, :70]), without(Y, X[:, :70])
    np.testing.assert_allclose(partial.shares()[70:], [share_of(left[:, j], Z) for j in range(70, 80)], rtol=1e-6)


@pytest.mark.parametrize(("dtype", "noise"), [(np.float64, 0.0), (np.float32, 0.0), (np.float64, 1e-3)])
def test_nothing_is_left_to_tell_of_a_target_that_is_explained(dtype, noise):
    rng = np.random.default_rng(0)
    X, _ = table(n=200)
    Y = X[:, [0]] + 2.0 * X[:, [1]] + noise * rng.standard_normal((200, 1))
    Y = (Y - Y.mean()) / np.linalg.norm(Y - Y.mean())
    partial = partial_of(X, Y, [0, 1], dtype)
    assert partial.rank == (0 if noise == 0.0 else 1)
    if noise == 0.0:
        np.testing.assert_array_equal(partial.shares(), 0.0)


# --- what each selected column tells beyond the others ---


def shares_by_refits(X, Y, columns):
    found = []
    for j in columns:
        others = X[:, [i for i in columns if i != j]]
        found.append(share_of(without(X[:, j], others), without(Y, others)))
    return np.array(found)


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000), k=st.integers(2, 7), dropped=st.integers(0, 3), r=st.integers(1, 3))
def test_what_each_tells_beyond_the_others_is_that_of_refits(seed, k, dropped, r):
    X, Y = table(r=r, seed=seed)
    rng = np.random.default_rng(seed)
    selected = rng.permutation(X.shape[1])[:k]
    places = np.sort(rng.permutation(k)[: max(1, k - dropped)])
    partial = partial_of(X, Y, selected)
    others = BeyondOthers(partial.rows[:, selected].T, partial.steps, partial.target, partial.rounding)
    while len(others.places) > len(places):
        others.drop(int(np.flatnonzero(~np.isin(others.places, places))[-1]))
    np.testing.assert_array_equal(others.places, places)
    np.testing.assert_allclose(others.shares(), shares_by_refits(X, Y, selected[places]), rtol=1e-6, atol=1e-10)


def test_a_dependent_column_tells_nothing_beyond_the_others():
    X, Y = with_relatives(0.1)
    selected = np.array([0, 1, 11])
    partial = partial_of(X, Y, selected)
    found = BeyondOthers(partial.rows[:, selected].T, partial.steps, partial.target, partial.rounding).shares()
    assert found[2] == pytest.approx(0.0, abs=10 * JITTER)
    assert np.isfinite(found).all()
