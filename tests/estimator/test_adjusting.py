"""``adjust_for``: columns whose effect is taken out first, in memory, in parts, in blocks."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from easyfs import EasyFS

pytestmark = pytest.mark.filterwarnings("error")
BATCHES = 4
C = [6, 7, 8, 9, 10]  # where indicators of the batch, and age, stand in the table
OTHERS = np.array([*range(6), *range(11, 17)])


def confounded(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A target driven by batch and age; columns 0 to 3 shift with the batch, 1 and 12 tell something within batches."""
    rng = np.random.default_rng(seed)
    batch, age = rng.integers(BATCHES, size=n), rng.standard_normal(n)
    X = rng.standard_normal((n, 12))
    X[:, :4] += 3.0 * rng.standard_normal((BATCHES, 4))[batch]
    X[:, 4] += age
    y = 5.0 * rng.standard_normal(BATCHES)[batch] + 2.0 * age + 0.5 * X[:, 7] + 0.3 * X[:, 1] + 0.3 * rng.standard_normal(n)
    given = np.column_stack([batch[:, None] == np.arange(BATCHES), age]).astype(float)
    return np.column_stack([X[:, :6], given, X[:, 6:]]), y


def quietly(selector: EasyFS, X: np.ndarray, y: np.ndarray) -> EasyFS:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return selector.fit(X, y)


def residual(values: np.ndarray, given: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    design = np.column_stack([np.ones(len(given)), given])
    root = np.ones(len(given)) if weight is None else np.sqrt(weight)
    return values - design @ np.linalg.lstsq(design * root[:, None], (values.T * root).T, rcond=None)[0]


@pytest.mark.parametrize("k", ["auto", 12, "cv"])
@pytest.mark.parametrize("target", ["number", "several"])
def test_it_is_a_fit_of_what_a_regression_on_these_columns_leaves(k: Any, target: str) -> None:
    T, y = confounded()
    if target == "several":
        y = np.column_stack([y, T[:, 15] + 2.0 * T[:, 6], T[:, 3]])
    how = {"clip": None, "interactions": False, "random_state": 0}
    found = EasyFS(k, adjust_for=C, **how).fit(T, y)
    plain = EasyFS(k, **how).fit(residual(T[:, OTHERS], T[:, C]), residual(y, T[:, C]))
    assert list(found.order_[:12]) == list(OTHERS[plain.order_])
    assert found.n_features_ == plain.n_features_
    np.testing.assert_allclose(found.gains_, plain.gains_, atol=1e-6)
    np.testing.assert_allclose(found.relevance_[OTHERS], plain.relevance_, atol=1e-9)
    np.testing.assert_allclose(found.redundancy_[OTHERS], plain.redundancy_, atol=1e-5)
    np.testing.assert_allclose(found.p_values_, plain.p_values_, atol=0.02)  # fewer degrees of freedom are left
    if k == "cv":
        np.testing.assert_allclose(found.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=0.05)


def test_without_a_target_what_is_left_of_the_table_is_covered() -> None:
    T, _ = confounded()
    found = EasyFS(5, adjust_for=C, clip=None, random_state=0).fit(T)
    plain = EasyFS(5, clip=None, random_state=0).fit(residual(T[:, OTHERS], T[:, C]))
    assert list(found.order_[:12]) == list(OTHERS[plain.order_])
    assert found.adjusted_share_ is None
    np.testing.assert_allclose(found.gains_, plain.gains_, atol=1e-6)


def test_columns_of_the_batch_are_not_taken_and_a_weak_one_within_batches_is() -> None:
    T, y = confounded()
    assert len(set(EasyFS(random_state=0).fit(T, y).get_support(indices=True)) - {1, 12}) >= 3
    found = EasyFS(adjust_for=C, random_state=0).fit(T, y)
    assert list(found.get_support(indices=True)) == [1, 12]
    assert list(found.transform(T).shape) == [400, 2]
    assert set(found.order_[-5:]) == set(C)
    assert (found.scores_[C] == -np.inf).all()
    assert found.adjusted_share_ == pytest.approx(1.0 - residual(y, T[:, C]).var() / y.var(), abs=1e-3)


def test_a_near_copy_of_the_batch_comes_last_and_an_exact_one_behind_it() -> None:
    T, y = confounded()
    T[:, 2] = T[:, 6] + 0.01 * T[:, 2]
    T[:, 3] = 3.0 * T[:, 7] - 1.0
    found = EasyFS(12, adjust_for=C, random_state=0).fit(T, y)
    assert list(found.order_[10:12]) == [2, 3]
    assert found.columns_[3].kind == "numeric"


@pytest.mark.parametrize("classes", [False, True])
def test_a_sign_product_is_found_beside_a_strong_confounder(classes: bool) -> None:
    rng = np.random.default_rng(3)
    n = 1500
    site = rng.integers(5, size=n)
    effect = np.array([-6.0, -2.0, 0.0, 3.0, 7.0])[site]
    X = rng.standard_normal((n, 20))
    own = X[:, 4].copy()
    X[:, :8] += effect[:, None]
    y = effect + 2.0 * np.sign(own * X[:, 12]) + 0.5 * rng.standard_normal(n)
    if classes:
        y = (y + 3.0 * rng.standard_normal(n) > 0).astype(int)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(20)]).assign(site=np.array(list("abcde"))[site])
    found = EasyFS(random_state=0, adjust_for=["site"]).fit(frame, y)
    assert [set(group.columns) for group in found.interactions_] == [{"x4", "x12"}]
    assert set(found.get_feature_names_out()) == {"x4", "x12"}


def test_a_curve_of_what_is_adjusted_for_is_not_found_again() -> None:
    rng = np.random.default_rng(5)
    age = rng.standard_normal(1500)
    X = rng.standard_normal((1500, 10))
    X[:, 3] += 3.0 * age
    y = np.cos(2.0 * age) * 3.0 + X[:, 7] + 0.3 * rng.standard_normal(1500)
    T = np.column_stack([X, age])
    assert any("x3" in group.columns or "x10" in group.columns for group in EasyFS(random_state=0).fit(T, y).interactions_)
    assert not EasyFS(random_state=0, adjust_for=[10]).fit(T, y).interactions_


def test_where_there_is_only_the_confounder_nothing_passes() -> None:
    passed = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        batch = rng.integers(6, size=120)
        X = rng.standard_normal((120, 20))
        X[:, :10] += 3.0 * rng.standard_normal((6, 10))[batch]
        y = 5.0 * rng.standard_normal(6)[batch] + rng.standard_normal(120)
        T = np.column_stack([(batch[:, None] == np.arange(6)) * 1.0, X])
        found = quietly(EasyFS(adjust_for=range(6), random_state=seed), T, y)
        passed += bool(found.beyond_chance_.any())
    assert passed <= 3


def mixed(n: int = 500) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(1)
    site = rng.integers(40, size=n)  # more values than a category has indicators otherwise
    effect = 4.0 * rng.standard_normal(40)[site]
    frame = pd.DataFrame(rng.standard_normal((n, 6)), columns=list("abcdef"))
    frame["b"] += effect
    frame.insert(2, "site", [f"s{j:02}" for j in site])
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(300, size=n), unit="D")
    return frame, effect + frame["e"].to_numpy() * 0.6 + 0.3 * rng.standard_normal(n)


def test_all_values_of_a_category_are_taken_out() -> None:
    frame, y = mixed()
    found = EasyFS(random_state=0, adjust_for=["site", "day"]).fit(frame, y)
    assert list(found.get_feature_names_out()) == ["e"]
    assert len(found.columns_[2].parts) == 40
    assert set(found.order_[-2:]) == {2, 7}
    explanation = found.explain()
    assert explanation.adjusted_for == ("site", "day")
    assert explanation.adjusted_share == pytest.approx(found.adjusted_share_)
    assert "adjusted for site, day, which explain" in str(explanation)
    assert {column.name: column.why for column in explanation.set_aside} == {"site": "adjusted for", "day": "adjusted for"}
    content = found.report().content
    assert content["adjusted"]["columns"] == ["site", "day"]
    assert "was taken out first" in content["summary"]


def same(found: EasyFS, whole: EasyFS) -> None:
    assert list(found.order_) == list(whole.order_)
    assert found.n_features_ == whole.n_features_
    np.testing.assert_allclose(found.gains_, whole.gains_, atol=1e-6)
    assert found.adjusted_share_ == pytest.approx(whole.adjusted_share_, abs=1e-9)


def test_rows_in_parts_and_in_blocks_give_the_answer_of_memory() -> None:
    T, y = confounded(600)
    how = {"adjust_for": C, "random_state": 0}
    whole = EasyFS(**how).fit(T, y)
    frame = pl.DataFrame(T, schema=[f"x{j}" for j in range(T.shape[1])]).with_columns(y=y)
    same(EasyFS(**how).fit(frame.lazy(), "y"), whole)
    same(EasyFS(**how).fit(sparse.csr_array(T), y), whole)
    plan = EasyFS(**how).draw_plan(T, y)
    parts = [EasyFS(**how).partial_fit(T[rows], y[rows], plan=plan) for rows in (slice(0, 250), slice(250, 600))]
    same(parts[0].merge(parts[1]), whole)


def test_weights_are_repeated_rows() -> None:
    T, y = confounded(300)
    weight = np.random.default_rng(0).integers(1, 4, size=300)
    found = EasyFS(6, adjust_for=C, random_state=0).fit(T, y, sample_weight=weight.astype(float))
    same(EasyFS(6, adjust_for=C, random_state=0).fit(np.repeat(T, weight, axis=0), np.repeat(y, weight)), found)


def test_a_plan_for_other_columns_is_told() -> None:
    T, y = confounded()
    found = EasyFS(adjust_for=C, random_state=0).partial_fit(T, y)
    assert found.n_features_ == 2
    with pytest.raises(ValueError, match=r"made with other adjust_for than this selector has now"):
        _ = found.set_params(adjust_for=C[:2]).order_


def test_a_very_wide_table_is_screened_beyond_the_confounder() -> None:
    rng = np.random.default_rng(0)
    n, d = 4000, 300
    batch = rng.standard_normal(n)
    X = rng.standard_normal((n, d)).astype(np.float32)
    X[:, :200] += 2.0 * batch[:, None]
    X[:, 299] = batch
    y = 10.0 * batch + 0.2 * X[:, 250] + 0.2 * X[:, 280] + 0.5 * rng.standard_normal(n)
    found = quietly(EasyFS(adjust_for=[299], memory_limit=1e-4, random_state=0), X, y)
    assert found.screened_ is not None
    assert set(found.get_support(indices=True)) == {250, 280}
    assert sorted(found.order_) == list(range(d))
    assert found.order_[-1] == 299
    whole = EasyFS(adjust_for=[299], random_state=0).fit(X, y)
    np.testing.assert_allclose(found.relevance_, whole.relevance_, atol=1e-3)


def test_it_is_a_parameter_as_any_other() -> None:
    T, y = confounded(120)
    search = GridSearchCV(
        make_pipeline(EasyFS(2, random_state=0), LinearRegression()), {"easyfs__adjust_for": [None, C]}, cv=2
    ).fit(T, y)
    assert search.best_params_["easyfs__adjust_for"] is None  # the model is not given the batch
    copied = clone(EasyFS(adjust_for=C, costs={0: 2.0}, budget=3, sources=["a"] * 17, max_per_source={"a": 2}))
    assert copied.get_params()["adjust_for"] == C
    assert copied.fit(T, y).n_features_ <= 2


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"adjust_for": ["batch"]}, r"adjust_for names column 'batch', but X has no column names"),
        ({"adjust_for": [99]}, r"adjust_for has column 99, but X has 17 columns"),
        ({"adjust_for": [1, 1]}, r"adjust_for lists column 1 twice"),
        ({"adjust_for": [6], "include": [6]}, r"column 6 \(or its group\) is in both include and adjust_for"),
        ({"adjust_for": list(range(17))}, r"adjust_for leaves no column to select from"),
        ({"adjust_for": [0], "exclude": list(range(1, 17))}, r"exclude and adjust_for leave no column"),
    ],
)
def test_what_cannot_be_adjusted_for_is_said(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EasyFS(**asked).fit(*confounded(60))


def test_a_confounder_that_explains_all_is_said() -> None:
    T, y = confounded(60)
    with pytest.raises(ValueError, match="adjust_for explain the whole target"):
        EasyFS(adjust_for=[6, 7, 8, 9]).fit(T, 2.0 * T[:, 6] - T[:, 8])
    with pytest.raises(ValueError, match="adjust_for explain all others to rounding"):
        EasyFS(adjust_for=[0]).fit(T[:, [0, 0]] * [1.0, 3.0], y)
    frame = pd.DataFrame({"who": [f"person {j}" for j in range(1200)], "x": np.arange(1200.0) ** 0.5})
    with pytest.raises(ValueError, match=r"adjust_for names column 'who', which has 1,200 different values"):
        EasyFS(adjust_for=["who"]).fit(frame, np.arange(1200.0))
