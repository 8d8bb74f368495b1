"""Checks that every selector of the library must pass, one function a property.

Where a selector draws at random, a property that randomness would break is checked on planted columns, and exactly with
the selector's variant that has no random nodes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import skops.io
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

SUPERVISED = ("classification", "regression", "multioutput")
ALL_TASKS = (*SUPERVISED, "unsupervised")


@dataclass(frozen=True)
class SelectorCase:
    """A selector, and what it claims.

    Attributes
    ----------
    make : callable
        ``make(n_features_to_select, random_state, **parameters)`` gives a selector.
    make_exact : callable
        The same without anything random; for a selector that draws nothing, ``make`` itself.
    tasks : tuple of str
        Some of "classification", "regression", "multioutput", "unsupervised".
    exact_tasks : tuple of str
        The tasks that ``make_exact`` can do.
    handles_redundancy : bool
        Whether copies of a selected column wait until nothing else is left.
    supports_weights : bool
        Whether ``fit`` takes ``sample_weight``.
    finds_set : bool
        Whether ``n_features_to_select="auto"`` is known; other selectors only rank.
    small_tables : bool
        Whether large tables are left out.
    smoke_only : bool
        Whether all checks but one are marked slow: a fit trains a model many times over.
    steady : bool
        Whether scores change little when the table is rounded; not so where they are steps of a path.
    """

    name: str
    make: Callable[..., Any]
    make_exact: Callable[..., Any]
    tasks: tuple[str, ...] = SUPERVISED
    exact_tasks: tuple[str, ...] = SUPERVISED
    handles_redundancy: bool = False
    supports_weights: bool = True
    finds_set: bool = True
    small_tables: bool = False
    smoke_only: bool = False
    steady: bool = True


@dataclass(frozen=True)
class Check:
    """A property, with the tasks it speaks of and the selectors it holds for."""

    run: Callable[[SelectorCase, str], None]
    tasks: tuple[str, ...]
    holds_for: Callable[[SelectorCase], bool]
    exact: bool

    @property
    def name(self) -> str:
        return self.run.__name__

    def tasks_of(self, case: SelectorCase) -> list[str]:
        able = case.exact_tasks if self.exact else case.tasks
        return [task for task in self.tasks if task in able] if self.holds_for(case) else []


CHECKS: list[Check] = []


def check(
    *tasks: str, holds_for: Callable[[SelectorCase], bool] = lambda _: True, exact: bool = False
) -> Callable[[Callable[[SelectorCase, str], None]], Callable[[SelectorCase, str], None]]:
    """Enter a function into the list of checks."""

    def enter(run: Callable[[SelectorCase, str], None]) -> Callable[[SelectorCase, str], None]:
        CHECKS.append(Check(run, tasks, holds_for, exact))
        return run

    return enter


def takes_weights(case: SelectorCase) -> bool:
    return case.supports_weights


def says_how_many(case: SelectorCase) -> bool:
    return case.finds_set


def claims_redundancy(case: SelectorCase) -> bool:
    return case.handles_redundancy


def make_target(X: Any, task: str, columns: tuple[int, int], rng: np.random.Generator) -> Any:
    """A target that two columns determine up to a little noise; for classes, the columns are moved by class in place."""
    n = X.shape[0]
    if task == "unsupervised":
        return None
    if task == "classification":
        y = rng.integers(0, 3, n)
        X[:, columns[0]] += 4.0 * (y == 1)
        X[:, columns[1]] += 4.0 * (y == 2)
        return y
    noise = 0.1 * rng.standard_normal((n, 2))
    both = X[:, list(columns)] + noise
    return both if task == "multioutput" else both.sum(axis=1)


def planted(
    task: str, *, n: int = 300, d: int = 12, columns: tuple[int, int] = (3, 8), seed: int = 0, density: float = 1.0
) -> tuple[np.ndarray, Any]:
    """Standard normal columns, a share of them kept and the others zero, of which two make the target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[rng.random((n, d)) >= density] = 0.0
    return X, make_target(X, task, columns, rng)


def as_task(y: Any, sample: Any) -> Any:
    """The target of some rows."""
    return None if y is None else y[sample]


def assert_same_fit(one: Any, other: Any) -> None:
    """Two fits gave the same order and number of columns, and the same scores up to rounding."""
    np.testing.assert_array_equal(one.order_, other.order_)
    assert one.n_features_ == other.n_features_
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(one.gains_, other.gains_, rtol=1e-6, atol=1e-9)


@check(*SUPERVISED)
def planted_columns_come_first_wherever_they_stand(case: SelectorCase, task: str) -> None:
    for seed, columns in enumerate([(0, 1), (11, 0), (10, 11), (5, 6), (2, 9)]):
        X, y = planted(task, columns=columns, seed=seed)
        selector = case.make(2, seed).fit(X, y)
        assert set(selector.order_[:2]) == set(columns)
        assert set(selector.get_support(indices=True)) == set(columns)


@check(*SUPERVISED, exact=True)
def permuting_columns_permutes_the_order(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    order = case.make_exact(5, 0).fit(X, y).order_
    for seed in range(3):
        moved = np.random.default_rng(seed).permutation(X.shape[1])
        again = case.make_exact(5, 0).fit(X[:, moved], y)
        np.testing.assert_array_equal(moved[again.order_], order)


@check(*ALL_TASKS, holds_for=claims_redundancy)
def copies_wait_until_nothing_else_is_left(case: SelectorCase, task: str) -> None:
    X, y = planted(task, d=6, columns=(1, 4))
    X = np.hstack([X, X, -X[:, :3], 3.0 * X[:, 3:] - 7.0])
    original = np.arange(X.shape[1]) % 6
    for dtype in (np.float64, np.float32):
        selector = case.make(6, 0).fit(X.astype(dtype), y)
        assert sorted(original[selector.get_support(indices=True)]) == list(range(6))
        assert sorted(original[case.make(7, 0).fit(X.astype(dtype), y).order_[:6]]) == list(range(6))


@check(*ALL_TASKS, holds_for=takes_weights)
def integer_weights_equal_repeated_rows(case: SelectorCase, task: str) -> None:
    for n in (200, 900):  # repeated: within and beyond the rows that nodes are scored on
        X, y = planted(task, n=n)
        weight = np.random.default_rng(1).integers(1, 4, n)
        weighted = case.make(5, 0).fit(X, y, sample_weight=weight)
        repeated = np.repeat(np.arange(n), weight)
        assert_same_fit(weighted, case.make(5, 0).fit(X[repeated], as_task(y, repeated)))


@check(*ALL_TASKS, holds_for=takes_weights)
def zero_weights_equal_removed_rows(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(np.float64)
    counted = weight > 0
    X[~counted] *= 100.0
    weighted = case.make(5, 0).fit(X, y, sample_weight=weight)
    removed = case.make(5, 0).fit(X[counted], as_task(y, counted), sample_weight=weight[counted])
    assert_same_fit(weighted, removed)


@check("classification")
def labels_of_any_type_give_the_same_order(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    plain = case.make(5, 0).fit(X, y)
    names = np.array(["ant", "bee", "cat"])
    for labels in (names[y], names.astype(object)[y], list(names[y]), y.astype(float), y.astype(np.int8), y - 10, y * 7):
        assert_same_fit(plain, case.make(5, 0).fit(X, labels))
    two = y > 0
    plain = case.make(5, 0).fit(X, two.astype(np.int64))
    for labels in (two, two.astype(np.float64), np.where(two, "yes", "no"), two.astype(object)):
        assert_same_fit(plain, case.make(5, 0).fit(X, labels))


@check(*ALL_TASKS)
def constant_columns_come_last_but_for_excluded_ones(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    X[:, 0], X[:, 6], X[:, 10] = 0.0, 7.3e5, np.nan
    selector = case.make(2, 0, exclude=[5]).fit(X, y)
    assert set(selector.order_[-4:-1]) == {0, 6, 10}
    assert selector.order_[-1] == 5
    assert not selector.get_support()[[0, 5, 6, 10]].any()
    everything = case.make(11, 0, exclude=[5]).fit(X, y)
    assert set(everything.order_[-4:-1]) == {0, 6, 10}


@check(*ALL_TASKS)
def one_seed_gives_one_answer(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    first = case.make(5, 7).fit(X, y)
    np.testing.assert_array_equal(first.scores_, case.make(5, 7).fit(X, y).scores_)
    np.testing.assert_array_equal(first.order_, clone(first).fit(X, y).order_)
    np.testing.assert_array_equal(first.order_, first.fit(X, y).order_)


@check(*ALL_TASKS)
def one_and_two_threads_give_the_same_order(case: SelectorCase, task: str) -> None:
    shapes = ({"n": 20_000, "d": 12}, {"n": 1050, "d": 2000})  # cut into blocks; left to BLAS
    for shape in ({"n": 500, "d": 12}, {"n": 60, "d": 100}) if case.small_tables else shapes:
        X, y = planted(task, **shape)
        with threadpool_limits(1):
            one = case.make(10, 0).fit(X, y)
        with threadpool_limits(2):
            two = case.make(10, 0).fit(X, y)
        assert_same_fit(one, two)


@check(*ALL_TASKS)
def order_ranking_scores_gains_and_support_agree(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    d = X.shape[1]
    for asked, count in ((1, 1), (4, 4), (d, d), (0.5, d // 2), (1.0, d), (0.01, 1)):
        selector = case.make(asked, 0).fit(X, y)
        assert selector.n_features_ == count
        assert selector.n_features_in_ == d
        np.testing.assert_array_equal(np.sort(selector.order_), np.arange(d))
        np.testing.assert_array_equal(selector.ranking_[selector.order_], np.arange(1, d + 1))
        assert selector.scores_.shape == (d,)
        assert np.isfinite(selector.scores_).all()
        assert selector.gains_.shape == (count,)
        np.testing.assert_array_equal(selector.get_support(indices=True), np.sort(selector.order_[:count]))
        np.testing.assert_array_equal(selector.transform(X), X[:, np.sort(selector.order_[:count])])


@check(*ALL_TASKS, holds_for=says_how_many)
def auto_selects_at_least_one_and_the_first_of_the_order(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    selector = case.make("auto", 0).fit(X, y)
    assert 1 <= selector.n_features_ <= X.shape[1]
    np.testing.assert_array_equal(selector.get_support(indices=True), np.sort(selector.order_[: selector.n_features_]))


@check(*ALL_TASKS)
def truncate_selects_the_first_of_the_order(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    selector = case.make(6, 0).fit(X, y)
    for count in (1, 3, 6, 9, 12):
        shorter = selector.truncate(count)
        assert shorter.n_features_ == count
        np.testing.assert_array_equal(shorter.order_, selector.order_)
        np.testing.assert_array_equal(shorter.get_support(indices=True), np.sort(selector.order_[:count]))
        assert shorter.transform(X).shape == (len(X), count)
        np.testing.assert_array_equal(shorter.gains_, selector.gains_[:count])
    assert selector.truncate(0.5).n_features_ == 6
    assert selector.n_features_ == 6
    assert selector.get_params()["n_features_to_select"] == 6


@check(*ALL_TASKS)
def included_columns_come_first_as_given(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    selector = case.make(4, 0, include=[9, 2]).fit(X, y)
    assert list(selector.order_[:2]) == [9, 2]
    assert selector.n_features_ == 4
    if task != "unsupervised":
        assert {3, 8} == set(selector.order_[2:4])
    assert list(case.make(2, 0, include=[9, 2]).fit(X, y).get_support(indices=True)) == [2, 9]
    if case.finds_set:
        assert set(case.make("auto", 0, include=[9, 2]).fit(X, y).get_support(indices=True)) >= {2, 9}


@check(*ALL_TASKS)
def excluded_columns_are_never_selected(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    selector = case.make(10, 0, exclude=[3, 8]).fit(X, y)
    assert set(selector.order_[-2:]) == {3, 8}
    assert not selector.get_support()[[3, 8]].any()
    np.testing.assert_array_equal(np.isneginf(selector.scores_), np.isin(np.arange(12), [3, 8]))
    X[:, [3, 8]] = np.random.default_rng(5).standard_normal((len(X), 2))
    np.testing.assert_array_equal(case.make(10, 0, exclude=[3, 8]).fit(X, y).order_[:10], selector.order_[:10])


@check(*ALL_TASKS)
def columns_may_be_included_and_excluded_by_name(case: SelectorCase, task: str) -> None:
    import pandas as pd

    X, y = planted(task)
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    by_name = case.make(4, 0, include=["c9", "c2"], exclude="c3").fit(frame, y)
    by_place = case.make(4, 0, include=[9, 2], exclude=[3]).fit(X, y)
    assert_same_fit(by_name, by_place)


@check(*SUPERVISED)
def float32_finds_the_same_planted_columns(case: SelectorCase, task: str) -> None:
    for n in (300, 3000):
        X, y = planted(task, n=n)
        X = X + 50.0
        single = case.make(2, 0).fit(X.astype(np.float32), y)
        assert set(single.get_support(indices=True)) == {3, 8}
        double = case.make(2, 0).fit(X, y)
        if case.steady:
            np.testing.assert_allclose(single.gains_, double.gains_, rtol=0.02)
        else:
            assert set(double.get_support(indices=True)) == {3, 8}


@check(*ALL_TASKS)
def arrays_of_any_layout_equal_the_plain_one(case: SelectorCase, task: str) -> None:
    import tempfile
    from pathlib import Path

    X, y = planted(task)
    plain = case.make(5, 0).fit(X, y)
    read_only = X.copy()
    read_only.flags.writeable = False
    every_other = np.repeat(X, 2, axis=0)[::2]
    backwards = np.ascontiguousarray(X[:, ::-1])[:, ::-1]
    for layout in (read_only, np.asfortranarray(X), every_other, backwards, X.tolist(), X.astype(object)):
        assert_same_fit(plain, case.make(5, 0).fit(layout, y))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        mapped = np.load(path, mmap_mode="r")
        selector = case.make(5, 0).fit(mapped, y)
        assert_same_fit(plain, selector)
        np.testing.assert_array_equal(selector.transform(mapped), plain.transform(X))
        del mapped


@check(*ALL_TASKS)
def fit_leaves_its_input_as_it_was(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    X[::7, 2] = np.nan
    weight = np.arange(len(X)) % 3 + 1.0
    before = X.copy(), None if y is None else y.copy(), weight.copy()
    extra = {"sample_weight": weight} if case.supports_weights else {}
    case.make(5, 0).fit(X, y, **extra).transform(X)
    for old, new in zip(before, (X, y, weight), strict=True):
        if old is not None:
            np.testing.assert_array_equal(old, new)


@check(*ALL_TASKS)
def tables_of_any_library_equal_numpy(case: SelectorCase, task: str) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    X, y = planted(task)
    plain = case.make(5, 0).fit(X, y)
    columns = {f"c{j}": X[:, j] for j in range(12)}
    for library in (pd.DataFrame, pl.DataFrame, pa.table):
        table = library(columns)
        selector = case.make(5, 0).fit(table, y)
        assert_same_fit(plain, selector)
        assert list(selector.feature_names_in_) == list(columns)
        assert list(selector.get_feature_names_out()) == [f"c{j}" for j in plain.get_support(indices=True)]
        np.testing.assert_array_equal(np.asarray(selector.transform(table)), plain.transform(X))


@check("classification", "regression", "multioutput")
def targets_of_any_library_equal_numpy(case: SelectorCase, task: str) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    X, y = planted(task)
    plain = case.make(5, 0).fit(X, y)
    if y.ndim == 1:
        nullable = pd.Series(y, dtype="Int64" if task == "classification" else "Float64")
        targets = [y[:, None], y.tolist(), pd.Series(y), nullable, pl.Series(y), pa.array(y), pa.chunked_array([y])]
        targets += [pd.DataFrame({"y": y}), pl.DataFrame({"y": y}), pa.table({"y": y})]
    else:
        columns = {"a": y[:, 0], "b": y[:, 1]}
        targets = [y.tolist(), pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]
    for target in targets:
        assert_same_fit(plain, case.make(5, 0).fit(X, target))


@check("classification")
def labels_of_any_library_equal_numpy(case: SelectorCase, task: str) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    X, y = planted(task)
    plain = case.make(5, 0).fit(X, y)
    names = [("ant", "bee", "cat")[code] for code in y]
    targets = [pd.Series(names), pd.Series(names, dtype="string"), pd.Series(pd.Categorical(names)), pl.Series(names)]
    targets += [pl.Series(names, dtype=pl.Categorical), pa.array(names), pa.chunked_array([names])]
    targets += [pd.DataFrame({"y": names}), pl.DataFrame({"y": names}), pa.table({"y": names})]
    for target in targets:
        assert_same_fit(plain, case.make(5, 0).fit(X, target))
    two = y > 0
    plain = case.make(5, 0).fit(X, two)
    for target in (pd.Series(two), pd.Series(two, dtype="boolean"), pl.Series(two), pa.array(two), pa.chunked_array([two])):
        assert_same_fit(plain, case.make(5, 0).fit(X, target))


@check(*ALL_TASKS)
def groups_stay_together_and_count_as_one(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    groups = [0, 1, 2, 3, 3, 5, 6, 7, 8, 8, 8, 11]
    selector = case.make(2, 0, feature_groups=groups).fit(X, y)
    labels = np.array(groups)[selector.order_]
    changes = 1 + np.count_nonzero(labels[1:] != labels[:-1])
    assert changes == len(set(groups))
    assert len(set(labels[: selector.n_features_])) == 2
    if task != "unsupervised":
        assert set(selector.get_support(indices=True)) == {3, 4, 8, 9, 10}
    everything = case.make(9, 0, feature_groups=groups).fit(X, y)
    assert everything.n_features_ == 12


@check("classification")
def transform_gives_the_table_that_set_output_asks_for(case: SelectorCase, task: str) -> None:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    X, y = planted(task)
    columns = {f"c{j}": X[:, j] for j in range(12)}
    frame = pd.DataFrame(columns, index=np.arange(len(X)) + 1000)
    for table in (frame, pl.DataFrame(columns), pa.table(columns), X):
        selector = case.make(5, 0).fit(table, y)
        support = selector.get_support(indices=True)
        names = [f"x{j}" if table is X else f"c{j}" for j in support]
        as_pandas = selector.set_output(transform="pandas").transform(table)
        assert isinstance(as_pandas, pd.DataFrame)
        assert list(as_pandas.columns) == names
        np.testing.assert_array_equal(as_pandas.to_numpy(), X[:, support])
        if table is frame:
            assert as_pandas.index.equals(frame.index)
        as_polars = selector.set_output(transform="polars").transform(table)
        assert isinstance(as_polars, pl.DataFrame)
        assert as_polars.columns == names
        np.testing.assert_array_equal(as_polars.to_numpy(), X[:, support])


@check(*SUPERVISED, exact=True)
def sparse_equals_dense_without_random_nodes(case: SelectorCase, task: str) -> None:
    for n in (40, 300):
        X, y = planted(task, n=n, d=30, density=0.4)
        dense = case.make_exact(5, 0).fit(X, y)
        for kind in ("csr", "csc", "coo"):
            for form in ("matrix", "array"):
                S = getattr(sparse, f"{kind}_{form}")(X)
                assert_same_fit(dense, case.make_exact(5, 0).fit(S, y))


@check(*SUPERVISED)
def planted_columns_are_found_in_sparse_matrices(case: SelectorCase, task: str) -> None:
    X, y = planted(task, density=0.4)
    for kind in ("csr", "csc", "coo"):
        for form in ("matrix", "array"):
            S = getattr(sparse, f"{kind}_{form}")(X)
            selector = case.make(2, 0).fit(S, y)
            assert set(selector.get_support(indices=True)) == {3, 8}
            reduced = selector.transform(S)
            assert sparse.issparse(reduced)
            np.testing.assert_array_equal(reduced.toarray(), X[:, [3, 8]])


@check("unsupervised")
def sparse_equals_dense_without_a_target(case: SelectorCase, task: str) -> None:
    X, _ = planted(task, density=0.4)
    assert_same_fit(case.make(5, 0).fit(X), case.make(5, 0).fit(sparse.csr_array(X)))


@check(*ALL_TASKS)
def pickling_keeps_the_fit(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    selector = case.make(5, 0).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    assert_same_fit(selector, again)
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))
    np.testing.assert_array_equal(again.truncate(2).get_support(), selector.truncate(2).get_support())


@check(*ALL_TASKS)
def skops_keeps_the_fit_and_needs_trust_in_this_library_alone(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    selector = case.make(5, 0).fit(X, y)
    stored = skops.io.dumps(selector)
    needed = skops.io.get_untrusted_types(data=stored)
    assert all(name.startswith("easyfs.") for name in needed), needed
    again = skops.io.loads(stored, trusted=needed)
    assert_same_fit(selector, again)
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))


@check(*ALL_TASKS)
def clone_keeps_the_parameters_and_not_the_fit(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    selector = case.make(3, 0, include=[9]).fit(X, y)
    copy = clone(selector)
    assert copy.get_params() == selector.get_params()
    assert not hasattr(copy, "n_features_in_")
    assert_same_fit(selector, copy.fit(X, y))
    assert clone(selector.truncate(2)).get_params()["n_features_to_select"] == 2


@check("classification", "regression")
def fitting_again_forgets_the_first_fit(case: SelectorCase, task: str) -> None:
    import pandas as pd

    X, y = planted(task)
    selector = case.make(3, 0).fit(pd.DataFrame(X[:, :10], columns=list("abcdefghij")), y)
    selector.fit(X, y)
    assert_same_fit(selector, case.make(3, 0).fit(X, y))
    assert not hasattr(selector, "feature_names_in_")
    assert selector.n_features_in_ == 12


@check("classification", "regression")
def works_in_a_pipeline_and_a_grid_search_over_its_size(case: SelectorCase, task: str) -> None:
    X, y = planted(task)
    model = LogisticRegression() if task == "classification" else Ridge()
    pipeline = Pipeline([("select", case.make(5, 0)), ("model", model)])
    search = GridSearchCV(pipeline, {"select__n_features_to_select": [1, 2]}, cv=3).fit(X, y)
    assert search.best_params_ == {"select__n_features_to_select": 2}
    assert set(search.best_estimator_["select"].get_support(indices=True)) == {3, 8}
    assert search.score(X, y) > 0.9
    assert is_classifier(search) == (task == "classification")


@check("classification", "regression", holds_for=takes_weights)
def weights_are_routed_through_a_pipeline(case: SelectorCase, task: str) -> None:
    X, y = planted(task, columns=(3, 8), seed=0)
    other, z = planted(task, columns=(1, 10), seed=1)
    X, y = np.vstack([X, other]), np.concatenate([y, z])
    weight = np.repeat([1.0, 0.0], 300)
    with config_context(enable_metadata_routing=True):
        selector = case.make(2, 0).set_fit_request(sample_weight=True)
        model = (LogisticRegression() if task == "classification" else Ridge()).set_fit_request(sample_weight=True)
        pipeline = Pipeline([("select", selector), ("model", model)])
        first = clone(pipeline).fit(X, y, sample_weight=weight)
        second = clone(pipeline).fit(X, y, sample_weight=1.0 - weight)
    assert set(first["select"].get_support(indices=True)) == {3, 8}
    assert set(second["select"].get_support(indices=True)) == {1, 10}


@check(*SUPERVISED)
def missing_values_do_not_hide_planted_columns(case: SelectorCase, task: str) -> None:
    X, y = planted(task, n=600)
    X[np.random.default_rng(3).random(X.shape) < 0.2] = np.nan
    selector = case.make(2, 0).fit(X, y)
    assert set(selector.get_support(indices=True)) == {3, 8}
    assert np.isnan(selector.transform(X)).any()
