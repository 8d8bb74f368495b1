from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from easyfs import CIFESelector, DISRSelector, JMISelector
from easyfs.baselines.information import Binned, bin_columns, equal_frequency, equal_width
from easyfs.common.threads import threads_for

from .parity import cases, load

SELECTORS = {"cife": CIFESelector, "disr": DISRSelector, "jmi": JMISelector}


def entropy(*columns: Any, weight: Any = None) -> float:
    """By definition: shares of the combinations that occur."""
    found: Counter[Any] = Counter()
    rows = zip(*(np.asarray(column).tolist() for column in columns), strict=True)
    for row, w in zip(rows, [1.0] * len(columns[0]) if weight is None else weight.tolist(), strict=True):
        found[row] += w
    total = sum(found.values())
    return -sum(w / total * np.log2(w / total) for w in found.values())


def mutual(a: Any, b: Any, weight: Any = None) -> float:
    return entropy(a, weight=weight) + entropy(b, weight=weight) - entropy(a, b, weight=weight)


def conditional(a: Any, b: Any, y: Any, weight: Any = None) -> float:
    """Mean over the classes of the information within them."""
    weight = np.ones(len(y)) if weight is None else weight
    parts = [(weight[y == c].sum() / weight.sum(), y == c) for c in np.unique(y)]
    return sum(share * mutual(a[rows], b[rows], weight[rows]) for share, rows in parts)


def pairs(a: Any, b: Any) -> Any:
    return np.unique(np.column_stack([a, b]), axis=0, return_inverse=True)[1].reshape(-1)


def objective(name: str, L: Any, y: Any, chosen: list[int], f: int, weight: Any = None) -> float:
    """The objective as the papers write it."""
    relevance = mutual(L[:, f], y, weight)
    if not chosen:
        return relevance
    if name == "disr":
        return sum(mutual(pairs(L[:, f], L[:, s]), y, weight) / entropy(L[:, f], L[:, s], y, weight=weight) for s in chosen)
    added = sum(conditional(L[:, s], L[:, f], y, weight) - mutual(L[:, s], L[:, f], weight) for s in chosen)
    return relevance + (added if name == "cife" else added / len(chosen))


def search(name: str, L: Any, y: Any, count: int, weight: Any = None, include: Any = ()) -> tuple[list[int], list[float]]:
    chosen: list[int] = []
    values: list[float] = []
    for step in range(count):
        left = [f for f in range(L.shape[1]) if f not in chosen]
        value = {f: objective(name, L, y, chosen, f, weight) for f in left}
        best = include[step] if step < len(include) else max(left, key=lambda f: (round(value[f], 10), -f))
        chosen.append(best)
        values.append(value[best])
    return chosen, values


def levels_of(X: Any, n_bins: int) -> Any:
    """Equal-width bins, or the values of a column that has few."""
    columns = []
    for x in X.T:
        values = np.unique(x)
        if len(values) <= n_bins:
            columns.append(np.searchsorted(values, x))
        else:
            columns.append(np.minimum(np.floor(n_bins * (x - x.min()) / (x.max() - x.min())), n_bins - 1))
    return np.column_stack(columns).astype(int)


def table(n: int = 120, d: int = 9, seed: int = 0) -> tuple[Any, Any]:
    """Normal columns, one of three levels, one with copies and one that needs another to tell of the classes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 2] = rng.integers(0, 3, n)
    y = (X[:, 0] * X[:, 1] > 0) * 1 + (X[:, 4] > 0.5)
    return X, y


def test_equal_width_is_the_closed_form() -> None:
    X = np.random.default_rng(0).exponential(size=(300, 5)) * 10.0 ** np.arange(-2, 3)
    for n_bins in (2, 5, 7, 256):
        expected = np.minimum(np.floor(n_bins * (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))), n_bins - 1)
        np.testing.assert_array_equal(equal_width(X, n_bins), expected)
        np.testing.assert_array_equal(bin_columns(X, n_bins, "width", None)[:, :1], expected[:, :1])


@pytest.mark.parametrize("n_bins", [2, 3, 5, 8])
def test_equal_frequency_cuts_the_ordered_rows_into_equal_parts(n_bins: int) -> None:
    rng = np.random.default_rng(0)
    codes = rng.permutation(40)
    found = equal_frequency(codes, n_bins, None)
    np.testing.assert_array_equal(found, (codes + 0.5) // (40 / n_bins))
    assert np.ptp(np.bincount(found)) <= (40 % n_bins > 0)


def test_equal_frequency_keeps_equal_values_together_and_never_leaves_one_bin() -> None:
    rng = np.random.default_rng(0)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = np.floor(rng.exponential(rng.uniform(0.05, 3.0), size=rng.integers(2, 60)) * 4)
        x[0], x[1] = 0.0, 5.0
        values, codes = np.unique(x, return_inverse=True)
        n_bins = int(rng.integers(2, 7))
        found = equal_frequency(codes, n_bins, None)
        assert all(len(set(found[codes == c])) == 1 for c in range(len(values)))
        assert len(set(found)) >= 2
        assert found.max() < n_bins
        assert (np.diff(found[np.argsort(codes)].astype(int)) >= 0).all()
        for c in range(len(values)):  # the bin that the middle row of a value falls into
            places = np.flatnonzero(np.sort(codes) == c)
            assert found[codes == c][0] == int(n_bins * (places.min() + places.max() + 1) // (2 * len(x)))


def test_equal_frequency_with_weights_is_that_of_repeated_rows() -> None:
    for seed in range(50):
        rng = np.random.default_rng(seed)
        codes = rng.integers(0, 12, 40)
        codes[:12] = np.arange(12)
        weight = rng.integers(1, 5, 40).astype(float)
        repeated = np.repeat(np.arange(40), weight.astype(int))
        for n_bins in (2, 5):
            found = equal_frequency(codes, n_bins, weight)[repeated]
            np.testing.assert_array_equal(found, equal_frequency(codes[repeated], n_bins, None))


@pytest.mark.parametrize("binning", ["width", "frequency"])
def test_columns_of_few_values_keep_them(binning: str) -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice([0.0, 0.1, 1e6], 3000), rng.integers(0, 5, 3000), rng.integers(0, 6, 3000)])
    X[:, 0] = np.where(np.arange(3000) == 2999, -7.0, X[:, 0])  # a value that is rare and comes late
    found = bin_columns(X, 5, binning, None)
    np.testing.assert_array_equal(found[:, 0], np.unique(X[:, 0], return_inverse=True)[1])
    np.testing.assert_array_equal(found[:, 1], X[:, 1])
    assert found[:, 2].max() < 5


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_entropies_are_those_of_the_definition(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    n = (30, 300, 900, 1300)[seed]  # cells of more rows than a byte can count, too
    L = rng.integers(0, (2, 3, 7, 256)[seed], (n, 6)).astype(np.uint8)
    L[:, 1] = L[:, 0] ** 2
    inner, outer = rng.integers(0, 3, n), rng.integers(0, 2, n) * 3
    weight = rng.exponential(size=n) if weighted else None
    pair, triple = Binned(L, weight).entropies(inner, outer)
    alone, same = Binned(L, weight).entropies(inner, np.zeros(n, dtype=int))
    for j in range(6):
        assert pair[j] == pytest.approx(entropy(L[:, j], inner, weight=weight), abs=1e-11)
        assert triple[j] == pytest.approx(entropy(L[:, j], inner, outer, weight=weight), abs=1e-11)
        assert alone[j] == same[j] == pytest.approx(pair[j], abs=1e-12)


def test_entropies_of_many_columns_and_cells_are_counted_in_blocks() -> None:
    rng = np.random.default_rng(0)
    L = rng.integers(0, 10, (1500, 150)).astype(np.uint8)
    outer = rng.permutation(1500) // 2  # more cells than a table holds for all columns at once
    pair, triple = Binned(L).entropies(L[:, 3], outer)
    for j in (0, 3, 103, 104, 149):
        assert pair[j] == pytest.approx(entropy(L[:, j], L[:, 3]), abs=1e-11)
        assert triple[j] == pytest.approx(entropy(L[:, j], L[:, 3], outer), abs=1e-11)


@pytest.mark.parametrize("n", [10, 255, 256, 5000, 9000])
def test_both_ways_of_counting_agree(n: int) -> None:
    rng = np.random.default_rng(n)
    L = rng.integers(0, 4, (n, 30)).astype(np.uint8)
    L[:, 0], L[0, 0] = 1, 3  # as many rows of one level as there can be
    sizes = np.bincount(
        np.minimum(rng.geometric(0.5, n) - 1, 5), minlength=6
    )  # from more than a byte holds to a row or none
    cell = rng.permutation(np.repeat(np.arange(6), sizes))
    binned = Binned(L)
    counts = binned._counts_by_cell(L, cell, sizes)
    np.testing.assert_array_equal(counts, binned._counts_by_column(L, cell, 6))
    for c in range(6):
        for level in range(4):
            np.testing.assert_array_equal(counts[c, level], (L[cell == c] == level).sum(axis=0))


def test_threads_count_the_same() -> None:
    rng = np.random.default_rng(0)
    L = rng.integers(0, 5, (20_000, 40)).astype(np.uint8)
    outer, weight = rng.integers(0, 3, 20_000), rng.exponential(size=20_000)
    for binned in (Binned(L), Binned(L, weight)):
        found = []
        for threads in (1, 2):
            with threadpool_limits(threads), threads_for(*L.shape):
                found.append(binned.entropies(L[:, 0], outer))
        np.testing.assert_array_equal(found[0], found[1])
        assert found[0][1][7] == pytest.approx(entropy(L[:, 7], L[:, 0], outer, weight=binned.weight), abs=1e-11)


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("seed", range(3))
def test_search_follows_the_formula(name: str, seed: int) -> None:
    X, y = table(seed=seed)
    for n_bins in (3, 5):
        order, values = search(name, levels_of(X, n_bins), y, 9)
        found = SELECTORS[name](9, n_bins=n_bins).fit(X, y)
        assert list(found.order_) == order
        np.testing.assert_allclose(found.gains_, values, atol=1e-10)
        np.testing.assert_allclose(found.scores_[order], values, atol=1e-10)


@pytest.mark.parametrize("name", SELECTORS)
def test_columns_that_were_not_selected_follow_by_the_objective_after_the_last_step(name: str) -> None:
    X, y = table()
    L = levels_of(X, 5)
    for count in (1, 3, 8):
        found = SELECTORS[name](count).fit(X, y)
        order, _ = search(name, L, y, count)
        assert list(found.order_[:count]) == order
        rest = [f for f in range(9) if f not in order]
        value = {f: objective(name, L, y, order, f) for f in rest}
        assert list(found.order_[count:]) == sorted(rest, key=lambda f: -value[f])
        np.testing.assert_allclose(found.scores_[rest], [value[f] for f in rest], atol=1e-10)


@pytest.mark.parametrize("name", SELECTORS)
def test_search_starts_from_included_columns(name: str) -> None:
    X, y = table()
    found = SELECTORS[name](6, include=[7, 3]).fit(X, y)
    order, values = search(name, levels_of(X, 5), y, 6, include=[7, 3])
    assert list(found.order_[:6]) == order
    np.testing.assert_allclose(found.gains_, values, atol=1e-10)


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("binning", ["width", "frequency"])
def test_weights_enter_the_entropies(name: str, binning: str) -> None:
    X, y = table()
    weight = np.random.default_rng(3).exponential(size=len(X))
    L = bin_columns(X, 4, binning, weight)
    order, values = search(name, L, y, 5, weight=weight)
    found = SELECTORS[name](5, n_bins=4, binning=binning).fit(X, y, sample_weight=weight)
    assert list(found.order_[:5]) == order
    np.testing.assert_allclose(found.gains_, values, atol=1e-10)
    again = SELECTORS[name](5, n_bins=4, binning=binning).fit(X, y, sample_weight=7.3 * weight)
    np.testing.assert_allclose(again.scores_, found.scores_, atol=1e-10)


@pytest.mark.parametrize("name", SELECTORS)
def test_numbers_are_classes_of_equal_frequency(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 6))
    y = np.exp(X[:, 1] + X[:, 4])
    ranks = np.argsort(np.argsort(y))
    by_number = SELECTORS[name](6, n_bins=5).fit(X, y)
    by_class = SELECTORS[name](6, n_bins=5).fit(X, ranks // 30)
    np.testing.assert_array_equal(by_number.order_, by_class.order_)
    np.testing.assert_allclose(by_number.scores_, by_class.scores_, atol=1e-12)
    few = SELECTORS[name](6, task="regression").fit(X, (ranks // 30) ** 2)
    np.testing.assert_allclose(few.scores_, by_class.scores_, atol=1e-12)


@pytest.mark.parametrize("name", SELECTORS)
def test_equally_good_columns_are_taken_in_the_order_of_the_table(name: str) -> None:
    X, y = table(n=300)
    # Copies whose levels are numbered the other way round, or at random: the same entropies from other sums.
    L = levels_of(X, 5)
    shuffled = np.random.default_rng(1).permutation(5)[L]
    for moved in range(3):
        order = np.random.default_rng(moved).permutation(27)
        copies = np.hstack([L, 4 - L, shuffled])[:, order]
        found = SELECTORS[name](27, n_bins=5).fit(copies, y).order_
        original = order % 9
        for j in range(9):
            places = [column for column in found if original[column] == j]
            assert places == sorted(places)
        small = SELECTORS[name](9, n_bins=5).fit(copies, y).order_[9:]
        for j in range(9):
            places = [column for column in small if original[column] == j]
            assert places == sorted(places)


@pytest.mark.parametrize("name", SELECTORS)
def test_permuted_columns_permute_the_order(name: str) -> None:
    X, y = table(n=400, d=30)
    order = SELECTORS[name](12).fit(X, y).order_
    for seed in range(5):
        moved = np.random.default_rng(seed).permutation(30)
        np.testing.assert_array_equal(moved[SELECTORS[name](12).fit(X[:, moved], y).order_], order)


@pytest.mark.parametrize("stem", [*cases("it_cife__"), *cases("it_disr__"), *cases("it_jmi__")])
def test_reference_numbers(stem: str) -> None:
    name = stem.split("_")[1]
    known = load(stem)
    count = len(known["order"])
    np.testing.assert_array_equal(equal_width(known["X"], 5), known["X_discrete"])
    for X in (known["X"], known["X_discrete"]):
        found = SELECTORS[name](count).fit(X, known["y"])
        np.testing.assert_array_equal(found.order_[:count], known["order"])
        np.testing.assert_allclose(found.gains_, known["objective"], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", SELECTORS)
def test_columns_that_need_each_other_are_found(name: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (2000, 8)).astype(float)
    y = X[:, 2].astype(int) ^ X[:, 5].astype(int)
    assert list(SELECTORS[name](2, include=[5]).fit(X, y).order_[:2]) == [5, 2]


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize("binning", ["width", "frequency"])
def test_hostile_tables(name: str, binning: str) -> None:
    rng = np.random.default_rng(0)
    make = SELECTORS[name]
    # Two rows; nearly every row a class of its own; a single column.
    two = make(2, binning=binning).fit([[0.0, 1.0, 5.0], [1.0, 0.0, 7.0]], [0, 1])
    assert np.isfinite(two.scores_).all()
    assert list(two.order_) == [0, 1, 2]
    X = rng.standard_normal((25, 4))
    own = [f"c{max(i, 1)}" for i in range(25)]
    assert np.isfinite(make(2, binning=binning, task="classification").fit(X, own).scores_).all()
    assert make(1, binning=binning).fit(X[:, :1], X[:, 0] > 0).n_features_ == 1
    # Far from zero, tiny, heavy tails, nearly all zeros, whole numbers, as many bins as there can be.
    X = rng.standard_normal((300, 7))
    X[:, 1] = 1e12 + X[:, 1]
    X[:, 2] *= 1e-140
    X[:, 3] = np.exp(30 * X[:, 3])
    X[:, 4] = (X[:, 4] > 2.5) * X[:, 4]
    X[:, 5] = np.round(100 * X[:, 5])
    y = X[:, 0] > 0
    for n_bins in (2, 5, 256):
        found = make(7, binning=binning, n_bins=n_bins).fit(X, y)
        assert np.isfinite(found.scores_).all()
        assert found.order_[0] == 0 or n_bins == 256
    assert make(1, binning=binning, task="regression").fit(X, X[:, 0]).order_[0] == 0
    assert make(1, binning=binning).fit(X.astype(np.float32), y).order_[0] == 0
    assert make(1, binning=binning).fit(X[:, [5]].astype(int), y).order_[0] == 0


@pytest.mark.parametrize("name", SELECTORS)
def test_a_class_of_weight_zero_is_as_if_it_were_not_there(name: str) -> None:
    X, y = table()
    weight = np.where(y == 1, 0.0, 2.0)
    kept = y != 1
    with_zero = SELECTORS[name](4).fit(X, y, sample_weight=weight)
    without = SELECTORS[name](4).fit(X[kept], y[kept])
    np.testing.assert_array_equal(with_zero.order_, without.order_)
    np.testing.assert_allclose(with_zero.scores_, without.scores_, atol=1e-12)


@pytest.mark.parametrize("name", SELECTORS)
@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_bins": 1}, "n_bins=1: give a whole number of at least 2"),
        ({"n_bins": 257}, "n_bins=257"),
        ({"n_bins": 4.0}, "n_bins=4.0"),
        ({"binning": "quantile"}, "binning='quantile' is not known; use one of 'width', 'frequency'"),
        ({"n_features_to_select": "auto"}, "ranks the columns"),
    ],
)
def test_bad_parameters_are_named(name: str, parameters: dict[str, Any], message: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=message):
        SELECTORS[name](**{"n_features_to_select": 2} | parameters).fit(X, y)


@pytest.mark.parametrize("name", SELECTORS)
def test_several_targets_are_refused(name: str) -> None:
    X, _ = table()
    with pytest.raises(ValueError, match="is for a single target, but y has 2 columns"):
        SELECTORS[name](2).fit(X, X[:, :2])
