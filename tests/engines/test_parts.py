"""Parts add up in any order and cut, and draw the rows that a table in memory draws."""

import pickle
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easyfs.engines.parts import Part, labels_of, stack
from easyfs.engines.sampling import MOST_LABELS, Scanned, scan, with_labels
from easyfs.passes.block import Block
from easyfs.sample.drawing import draw_rows
from easyfs.tables.frames import take_rows
from easyfs.tables.levels import MOST_COUNTED, added, levels_in
from easyfs.tables.target import Target, check_target
from easyfs.tables.weights import counted_rows, no_weights_of_one

SEED, SIZE = 7, 60


def scanned(X, y, weight, cuts, size=SIZE, order=None, table_rows=None):
    edges = [0, *sorted(cuts), len(X)]

    def added_up(numbering=None):
        each = (
            Part(X[a:b], *(None if v is None else v[a:b] for v in (y, weight)), a, "a part") for a, b in pairwise(edges)
        )
        parts = [scan(part, SEED, size, numbering, table_rows=table_rows) for part in each]
        return reduce(add, parts if order is None else [parts[j] for j in order.permutation(len(parts))])

    found = added_up()
    return found if found.numbering is None else added_up(found.numbering)


def drawn_in_memory(y, weight=None, size=SIZE, classes=True):
    X, y, weight = counted_rows(np.arange(float(len(y)))[:, None], y, weight)
    target = check_target(y, len(y), "classification" if classes else "regression")
    block = Block(X, target, no_weights_of_one(weight))
    return block.sample(SEED, size)


@settings(max_examples=60)
@given(
    n=st.integers(5, 900),
    cuts=st.lists(st.floats(0, 1), max_size=8),
    rare=st.sampled_from([0.0, 0.02, 0.3]),
    seed=st.integers(0, 1000),
    weights=st.sampled_from([None, "fractions", "fractions and zeros", "counts", "counts and zeros", "zeros and ones"]),
    known=st.booleans(),
    ordered=st.booleans(),
)
def test_any_cut_and_order_gives_the_rows_of_a_table_in_memory(n, cuts, rare, seed, weights, known, ordered):
    rng = np.random.default_rng(seed)
    X = np.arange(float(n))[:, None]
    y = np.where(rng.random(n) < rare, 2, rng.integers(0, 2, size=n))
    y = np.sort(y) if ordered else y
    y[:2] = 0, 1
    weight = None
    if weights is not None:
        weight = rng.uniform(0.1, 2.0, size=n) if "fractions" in weights else rng.integers(1, 4, size=n).astype(float)
        weight = np.ones(n) if weights == "zeros and ones" else weight
        if "zeros" in weights:
            weight[rng.random(n) < 0.3] = 0.0
        weight[:2] = np.maximum(weight[:2], 1.0)
    table_rows = n if known and weight is None else None
    found = scanned(X, y, weight, [int(share * n) for share in cuts], order=rng, table_rows=table_rows)
    rows, stands_for = found.sample()
    wanted = drawn_in_memory(y, weight)
    np.testing.assert_array_equal(rows.held.table(), wanted.X)
    np.testing.assert_array_equal(rows.y, wanted.target.classes[wanted.target.values])
    if wanted.weight is not None:
        np.testing.assert_array_equal(rows.weight, wanted.weight)
    if wanted.stands_for is None:
        assert stands_for is None
    else:
        np.testing.assert_allclose(stands_for, wanted.stands_for)
    assert weight is not None or found.n_rows == n
    assert len(found.numbers) <= min(found.n_rows, 5 * SIZE)


@settings(max_examples=30)
@given(n=st.integers(5, 500), cuts=st.lists(st.floats(0, 1), max_size=6), seed=st.integers(0, 1000))
def test_numbers_are_drawn_alike(n, cuts, seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    rows, stands_for = scanned(
        np.arange(float(n))[:, None], y, None, [int(share * n) for share in cuts], order=rng
    ).sample()
    drawn = draw_rows(n, SIZE, SEED)
    np.testing.assert_array_equal(rows.held.table()[:, 0], drawn.rows)
    assert stands_for is None


@pytest.mark.parametrize("kind", ["numbers", "classes", "rare classes"])
def test_of_a_table_that_says_how_many_rows_it_has_few_of_each_part_are_held(kind):
    n, size = 60_000, 600
    rng = np.random.default_rng(0)
    y = {"numbers": rng.normal(size=n), "classes": np.arange(n) % 2, "rare classes": (rng.random(n) < 0.001).astype(int)}[
        kind
    ]
    X, cuts = np.arange(float(n))[:, None], range(3000, n, 3000)
    one = Part(X[:3000], y[:3000], None, 0, "a part")
    few, many = (len(scan(one, SEED, size, table_rows=rows).numbers) for rows in (n, None))
    assert few <= 0.6 * many
    (told, weights), (untold, same) = (scanned(X, y, None, cuts, size, table_rows=rows).sample() for rows in (n, None))
    np.testing.assert_array_equal(told.numbers, untold.numbers)
    np.testing.assert_array_equal(weights, same)


@pytest.mark.parametrize("library", ["arrow", "polars", "pandas", "numpy"])
@pytest.mark.parametrize("n_held", [5, 900])
def test_only_rows_that_are_held_travel(library, n_held):
    values = np.random.default_rng(0).normal(size=20_000)
    whole = {
        "arrow": pa.table({"x": values}),
        "polars": pl.DataFrame({"x": values}),
        "pandas": pd.DataFrame({"x": values}),
        "numpy": values[:, None],
    }[library]
    part = Part(whole[100 : 100 + n_held] if library != "arrow" else whole.slice(100, n_held), None, None, 0, "a part")
    found = scan(part, SEED, 1000)
    sent = pickle.dumps(found, 5)
    assert len(sent) < 30 * n_held + 10_000
    there = pickle.loads(sent)
    np.testing.assert_array_equal(np.asarray(there.held.table()).ravel(), values[100 : 100 + n_held])


@pytest.mark.filterwarnings("ignore:y holds 40")
def test_whole_numbers_that_are_quantities_are_drawn_as_such():
    rng = np.random.default_rng(0)
    y = rng.poisson(40, size=1000)
    found = scanned(np.arange(1000.0)[:, None], y, None, [300, 301, 900])
    assert found.task("auto") == "regression"
    assert found.task("classification") == "classification"
    rows, stands_for = found.sample(classes=False)
    np.testing.assert_array_equal(rows.held.table()[:, 0], draw_rows(1000, SIZE, SEED).rows)
    assert stands_for is None


def test_rows_of_weight_zero_do_not_count():
    y, weight = np.arange(400) % 2, np.where(np.arange(400) % 4 == 0, 0.0, 0.5)
    y[::4] = 9  # a class of such rows only
    found = scanned(np.arange(400.0)[:, None], y, weight, [100, 104])
    assert found.n_rows == 300
    assert sorted(found.counts) == [0, 1]
    rows, _ = found.sample()
    assert (rows.weight > 0).all()
    assert len(rows.held.table()) == SIZE


def test_a_part_without_weight_or_rows_adds_nothing():
    X, y = np.arange(10.0)[:, None], np.arange(10) % 2
    whole = scan(Part(X, y, np.ones(10), 0, "a"), SEED)
    nothing = scan(Part(X, y, np.zeros(10), 10, "b"), SEED)
    empty = scan(Part(X[:0], y[:0], np.ones(0), 20, "c"), SEED)
    assert (whole + nothing + empty).n_rows == 10
    assert (empty + whole).counts == whole.counts


@pytest.mark.parametrize(
    "y",
    [
        np.array(["a", None, "b"], dtype=object),
        np.array([1.0, np.nan, 2.0]),
        pd.Series(["a", np.nan, "b"]),
        pl.Series([1, None, 2]),
        pa.chunked_array([["a", None, "b"]]),
        np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="datetime64[D]"),
        pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, None, 2.0]}),
    ],
)
def test_a_missing_target_is_said_with_part_and_row(y):
    with pytest.raises(ValueError, match=r"^part-3\.csv: Input y contains NaN.*the first is row 41\)"):
        scan(Part(np.zeros((3, 1)), y, None, 1000, "part-3.csv", 40), SEED)
    with pytest.raises(ValueError, match="row 1001"):
        scan(Part(np.zeros((3, 1)), y, None, 1000, "part-3.csv"), SEED)


@pytest.mark.parametrize(("weight", "says"), [([1, -1, 1], "negative in row 5"), ([1, 1, np.nan], "missing.* in row 6")])
def test_wrong_weights_are_said_with_part_and_row(weight, says):
    with pytest.raises(ValueError, match=rf"^f: sample_weight is {says}"):
        scan(Part(np.zeros((3, 1)), None, np.array(weight, dtype=float), 4, "f"), SEED)
    with pytest.raises(ValueError, match=r"^f: sample_weight holds 'b', which is no number: give one number"):
        scan(Part(np.zeros((3, 1)), None, np.array([1.0, "b", 2.0], dtype=object), 4, "f"), SEED)


def test_a_target_of_another_length_is_said():
    with pytest.raises(ValueError, match=r"^f: y has 2 entries, but there are 3 rows"):
        scan(Part(np.zeros((3, 1)), np.zeros(2), None, 0, "f"), SEED)


@pytest.mark.parametrize("kind", ["bool", "text", "int", "float", "category"])
@pytest.mark.parametrize("library", ["numpy", "pandas", "polars", "arrow"])
def test_labels_of_any_library_are_counted(kind, library):
    values = {
        "bool": [True, False, True],
        "text": ["b", "a", "b"],
        "int": [3, 1, 3],
        "float": [3.0, 1.0, 3.0],
        "category": ["b", "a", "b"],
    }[kind]
    y = {
        "numpy": lambda: np.array(values),
        "pandas": lambda: pd.Series(values, dtype="category" if kind == "category" else None),
        "polars": lambda: pl.Series(values, dtype=pl.Categorical if kind == "category" else None),
        "arrow": lambda: pa.chunked_array([pa.array(values).dictionary_encode() if kind == "category" else values]),
    }[library]()
    found = scan(Part(np.zeros((3, 1)), y, None, 0, "f"), SEED)
    assert found.counts == {values[0]: 2, values[1]: 1}


def test_one_name_in_a_list_is_one_target():
    assert labels_of(pl.DataFrame({"y": [1, 2]})).shape == (2,)
    assert labels_of(None) is None


def test_very_many_labels_are_not_counted():
    y = np.arange(MOST_LABELS + 1)
    assert scan(Part(np.zeros((len(y), 1)), y, None, 0, "f"), SEED).counts is None
    half = MOST_LABELS // 2 + 1
    one, other = (scan(Part(np.zeros((half, 1)), np.arange(a, a + half), None, a, "f"), SEED) for a in (0, half))
    assert one.counts is not None
    assert (one + other).counts is None


def test_a_class_that_is_not_in_the_sample_is_known():
    target = Target("classification", "classes", np.array([0, 1]), np.array(["a", "c"]))
    found = with_labels(target, {"a": 3, "b": 1, "c": 9})
    assert found.classes.tolist() == ["a", "b", "c"]
    assert found.values.tolist() == [0, 2]


def test_rows_of_tables_are_taken_and_stacked():
    for table in (pd.DataFrame({"a": [1, 2, 3]}), pl.DataFrame({"a": [1, 2, 3]}), pa.table({"a": [1, 2, 3]})):
        both = stack(
            [take_rows(table, np.array([2, 0])), table[:0] if not isinstance(table, pa.Table) else table.slice(3), table]
        )
        assert list(map(int, both["a"].to_pylist() if isinstance(both, pa.Table) else both["a"])) == [3, 1, 1, 2, 3]
    assert isinstance(scan(Part(np.zeros((3, 1)), None, None, 0, "f"), SEED), Scanned)


def test_words_for_missing_values_are_no_levels():
    table = pl.DataFrame({"t": ["a", "NA", " n/a ", None, "b", "a"], "n": [1.0] * 6})
    assert levels_in(table) == {"t": {"a": 2, "b": 1, None: 3}}
    category = table.select(pl.col("t").cast(pl.Categorical))
    assert levels_in(category)["t"]["NA"] == 1
    assert levels_in(table.to_pandas())["t"] == levels_in(table)["t"]
    assert levels_in(table.to_arrow())["t"] == levels_in(table)["t"]
    assert levels_in(np.zeros((3, 1))) == {}


def test_levels_add_up_until_they_are_too_many():
    one, other = pl.DataFrame({"t": ["a", "b"]}), pl.DataFrame({"t": ["b", None]})
    assert added(levels_in(one), levels_in(other)) == {"t": {"a": 1, "b": 2, None: 1}}
    many = pl.DataFrame({"t": [f"v{j}" for j in range(MOST_COUNTED + 1)]})
    assert levels_in(many)["t"] is None
    assert added(levels_in(many), levels_in(one))["t"] is None
    assert added(levels_in(one), levels_in(many))["t"] is None


@pytest.mark.parametrize("n_classes", [2, 30, 400])
def test_many_classes_have_their_rows_though_the_table_is_sorted_by_them(n_classes):
    rng = np.random.default_rng(n_classes)
    y = np.sort(rng.integers(0, n_classes, size=60_000) ** 2 // n_classes)
    found = scanned(np.arange(60_000.0)[:, None], y, None, range(2000, 60_000, 3000), size=6000, order=rng)
    rows, stands_for = found.sample()
    wanted = drawn_in_memory(y, size=6000)
    np.testing.assert_array_equal(rows.held.table(), wanted.X)
    assert (stands_for is None) == (wanted.stands_for is None)
    assert len(found.numbers) < 30_000
