"""Very wide tables: what survives the screen, and that the answer is that of a plain fit of the survivors."""

import warnings

import numpy as np
import polars as pl
import pytest

from easyfs import EasyFS
from easyfs.passes.screening import most_columns

# Room for some 80 columns.
LITTLE = 1e-4


def table(kind, n=6000, d=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32)
    told = X[:, 7] + 0.3 * X[:, 200] + 0.8 * X[:, 150] * X[:, 250]
    X[:, 299] = X[:, 7] + 0.3 * rng.standard_normal(n)
    noisy = told + rng.standard_normal(n)
    return X, {"classes": (noisy > 0).astype(int), "numbers": noisy, "none": None}[kind]


def fitted(X, y, k=4, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return EasyFS(k, random_state=0, **how).fit(X, y)


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_the_true_columns_survive_also_those_that_matter_together(kind):
    X, y = table(kind)
    found = fitted(X, y, memory_limit=LITTLE)
    assert set(found.order_[:4]) == {7, 200, 150, 250}
    assert found.screened_.n_compared == most_columns(len(X), LITTLE) < X.shape[1] == found.screened_.n_columns
    assert sorted(found.order_) == list(range(X.shape[1]))
    assert [set(group.columns) for group in found.interactions_] == [{"x150", "x250"}]
    whole = fitted(X, y)
    assert whole.screened_ is None
    np.testing.assert_allclose(found.relevance_, whole.relevance_, atol=1e-3)
    np.testing.assert_allclose(found.redundancy_, whole.redundancy_, atol=0.05)
    assert found.redundancy_[299] > 0.85


@pytest.mark.parametrize("kind", ["classes", "numbers", "none"])
def test_a_table_in_parts_gives_the_answer_of_memory(kind):
    X, y = table(kind)
    frame = pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])])
    name = None
    if y is not None:
        frame, name = frame.with_columns(y=pl.Series(y)), "y"
    in_memory, in_parts = fitted(frame, name, memory_limit=LITTLE), fitted(frame.lazy(), name, memory_limit=LITTLE)
    assert in_parts.order_.tolist() == in_memory.order_.tolist()
    assert in_parts.screened_.n_compared == in_memory.screened_.n_compared
    np.testing.assert_allclose(in_parts.gains_, in_memory.gains_, rtol=1e-6)


def test_what_is_given_up_is_said():
    X, y = table("numbers")
    with pytest.warns(UserWarning, match=r"of 300 columns were compared .*explains 0\.\d+ % of the target.*0\.0001 GB"):
        EasyFS(4, random_state=0, memory_limit=LITTLE).fit(X, y)


def test_noise_stays_noise_though_the_survivors_look_best():
    """Chance counts all columns, not only the survivors, which were chosen for what they seem to tell."""
    taken = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((1000, 300)), rng.standard_normal(1000)
        taken.append(bool(fitted(X, y, "auto", memory_limit=LITTLE / 2).beyond_chance_.any()))
    assert sum(taken) <= 1


def test_included_columns_and_groups_survive_whole():
    X, y = table("numbers")
    groups = np.arange(300) // 3
    found = fitted(X, y, 3, include=[100], feature_groups=groups, memory_limit=LITTLE)
    chosen = found.get_support(indices=True)
    assert {99, 100, 101} <= set(chosen.tolist())
    assert len(chosen) == 9
    assert len(found.order_) == 300


def test_more_columns_than_can_be_compared_are_an_error():
    X, y = table("numbers", n=500)
    with pytest.raises(ValueError, match=r"n_features_to_select=250 is more than the \d+ columns that can be compared"):
        EasyFS(250, memory_limit=LITTLE / 10).fit(X, y)


def test_blocks_that_make_a_table_too_wide_are_refused_and_nothing_is_lost() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 300)), rng.normal(size=400)
    selector = EasyFS(3, random_state=0, memory_limit=2.0 * 8 * 300 * 250 / 1e9)
    selector.partial_fit(X[:200], y[:200])
    order = selector.order_
    with pytest.raises(ValueError, match=r"X has 300 columns, and by now too many rows.*easyfs\.scan"):
        selector.partial_fit(X[200:], y[200:])
    assert selector.n_rows_ == 200
    np.testing.assert_array_equal(selector.order_, order)


@pytest.mark.parametrize("wrong", [0, -1, "4 GB", None])
def test_a_wrong_limit_is_said(wrong):
    with pytest.raises((TypeError, ValueError), match="memory_limit"):
        EasyFS(memory_limit=wrong).fit(np.eye(5), [0, 1, 0, 1, 0])


def test_what_must_be_there_and_has_no_room_is_an_error():
    X, y = table("numbers", n=500)
    for k in ("auto", 200):
        with pytest.raises(
            ValueError, match=r"include names 200 columns .* no more than \d+ can be compared within memory_limit"
        ):
            EasyFS(k, memory_limit=LITTLE / 3, include=list(range(200))).fit(X, y)
    with pytest.raises(ValueError, match=r"adjust_for names 200 columns, and no more than \d+ can be compared"):
        EasyFS(3, memory_limit=LITTLE / 3, adjust_for=list(range(200))).fit(X, y)
    with pytest.raises(ValueError, match=r"each group has more columns than the \d+ that can be compared"):
        EasyFS(1, memory_limit=LITTLE / 3, feature_groups=np.arange(300) // 150).fit(X, y)


def test_a_group_that_has_no_room_gives_way_to_others():
    X, y = table("numbers")
    groups = np.arange(300)
    groups[:150] = 0  # the best column is in it
    found = fitted(X, y, 2, feature_groups=groups, memory_limit=LITTLE)
    assert found.get_support(indices=True).tolist() == [200, 299]  # 299 is nearly the best one
    assert found.screened_.n_compared > 50
    with pytest.raises(ValueError, match=r"include names 1 columns .or their groups have more"):
        EasyFS(2, include=[7], feature_groups=groups, memory_limit=LITTLE).fit(X, y)


def test_an_included_column_that_is_constant_is_there():
    X, y = table("numbers")
    X[:, 5] = 1.0
    assert fitted(X, y, 2, include=[5], memory_limit=LITTLE).get_support(indices=True).tolist() == [5, 7]


def test_as_many_columns_as_a_budget_has_room_for():
    X, y = table("numbers")
    found = fitted(X, y, 1.0, budget=3, memory_limit=LITTLE)
    assert (
        found.get_support(indices=True).tolist() == fitted(X, y, 3, memory_limit=LITTLE).get_support(indices=True).tolist()
    )
