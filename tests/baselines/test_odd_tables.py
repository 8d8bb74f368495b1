"""Tables that no one means to select from, in every selector: the right answer, or an error that says what to do."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from easyfs import (
    LaplacianScoreSelector,
    MCFSSelector,
    PearsonSelector,
    ReliefFSelector,
    SPECSelector,
    available_selectors,
    make_selector,
)

Array = NDArray[Any]

SLOW = ("lassonet", "stg", "spfsr", "random_forest", "xgboost")
NAMES = [info.name for info in available_selectors() if info.name not in SLOW]
TASKS = {info.name: info.tasks for info in available_selectors()}


def fitted(name: str, count: int, X: Any, y: Any, **settings: Any) -> Any:
    selector = make_selector(name, count, **settings)
    if "random_state" in selector.get_params():
        selector.set_params(random_state=0)
    return selector.fit(X, y)


def targets_of(name: str, X: Array) -> dict[str, Array]:
    values = X[:, 0] + 0.1 * np.random.default_rng(1).standard_normal(len(X))
    classes = (values > np.median(values)).astype(int)
    return {task: y for task, y in (("classification", classes), ("regression", values)) if task in TASKS[name]}


def odd_tables() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    one = np.ones((40, 5))
    one[:, 3] = X[:, 0]
    gaps = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    gaps[:, 1] = np.nan
    return {
        "four rows": X[:4],
        "three rows repeated": np.tile(X[:3], (20, 1)),
        "two rows repeated": np.tile(X[:2], (30, 1)),
        "one column": X[:, :1],
        "one column that varies": one,
        "more columns than rows": rng.standard_normal((8, 40)),
        "copies": np.hstack([X, X, -X]),
        "one column many times": np.repeat(X[:, :1], 5, axis=1),
        "single precision": X.astype(np.float32),
        "sparse": sparse.csr_array(np.where(rng.random(X.shape) < 0.3, X, 0.0)),
        "missing values": gaps,
        "very large": 1e300 * X,
        "largest": np.clip(X, -1.0, 1.0) * 1.7e308,
        "very small": 1e-300 * X,
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("table", odd_tables())
def test_odd_tables_are_ranked(name: str, table: str) -> None:
    X = odd_tables()[table]
    dense = X.toarray() if sparse.issparse(X) else X
    for y in targets_of(name, np.nan_to_num(dense[:, ~(np.isnan(dense).all(axis=0))])).values():
        for count in {1, X.shape[1]}:
            with warnings.catch_warnings():
                # Sums over the largest numbers there are do not fit, which numpy says when the table is read.
                warnings.simplefilter("ignore" if table == "largest" else "error", RuntimeWarning)
                selector = fitted(name, count, X, y)
            assert np.isfinite(selector.scores_).all()
            assert selector.get_support().sum() == count
            np.testing.assert_array_equal(np.sort(selector.order_), np.arange(X.shape[1]))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "easyfs"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_sizes_of_columns_and_targets_do_not_matter(name: str, form: str) -> None:
    X = np.random.default_rng(0).standard_normal((60, 6))
    for task, y in targets_of(name, X).items():
        usual = fitted(name, 2, X, y)
        for power in (996, -996, 1020, [990, -990, 0, 700, -700, 20]):
            scaled = np.ldexp(X, power)
            size = power if isinstance(power, int) else 990
            target = y if task == "classification" else np.ldexp(y, size)
            found = fitted(name, 2, sparse.csr_array(scaled) if form == "sparse" else scaled, target)
            np.testing.assert_array_equal(found.order_, usual.order_)
            np.testing.assert_allclose(found.scores_, usual.scores_, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("selector", [SPECSelector, MCFSSelector, LaplacianScoreSelector])
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_columns_taken_as_they_are_must_have_squares(selector: Any, size: float) -> None:
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[:, 2] *= size
    with pytest.raises(ValueError, match=r"column 2 has values of about .*, whose squares do not fit"):
        selector(2, standardize=False).fit(X)
    usual = np.random.default_rng(0).standard_normal((30, 4))
    np.testing.assert_allclose(selector(2).fit(X).scores_, selector(2).fit(usual).scores_, rtol=1e-6)


def test_scores_that_are_no_numbers_are_not_ranked() -> None:
    X = np.clip(np.random.default_rng(0).standard_normal((30, 4)), -1.0, 1.0) * 1.7e308
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(ValueError, match=r"ReliefFSelector has no score for column 0.*in another unit"):
            ReliefFSelector(2, convention="scikit-feature").fit(X, X[:, 0])


def test_a_target_that_is_large_in_one_column_only() -> None:
    X = np.random.default_rng(0).standard_normal((50, 4))
    Y = X[:, [1, 3]]
    usual = PearsonSelector(2).fit(X, Y)
    found = PearsonSelector(2).fit(X, Y * [1.0, 2.0**900])
    np.testing.assert_allclose(found.scores_, usual.scores_, rtol=1e-12)
