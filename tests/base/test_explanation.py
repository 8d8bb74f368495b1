"""What was chosen, and why, as plain data: of EasyFS, of a published method, of mixed columns and without a target."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from easyfs import EasyFS, Explanation, make_selector
from easyfs.base.coding import least_share
from easyfs.stages.relevance import null_relevance

Frame = tuple[pd.DataFrame, pd.Series]
N = 200


@pytest.fixture(scope="module")
def numbers() -> Frame:
    """Numbers with a copy, a near-copy, a constant and a column that is missing here and there."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(N, 5)), columns=list("abcde"))
    X["copy"] = 2 * X["a"] - 1
    X["near"] = X["b"] + 0.2 * rng.normal(size=N)
    X["flat"] = 1.0
    X.loc[::5, "e"] = np.nan
    return X, pd.Series(X["a"] + 0.5 * X["b"], name="t")


@pytest.fixture(scope="module")
def mixed(numbers: Frame) -> Frame:
    X, y = numbers
    rng = np.random.default_rng(1)
    city = rng.choice(["Rome", "Oslo", "Lima"], N)
    X = X.assign(city=city, key=[f"u{i:04d}" for i in range(N)], day=pd.date_range("2024-01-01", periods=N))
    return X, y + 2 * (city == "Rome")


def check_whole(explanation: Explanation, selector: EasyFS) -> None:
    """Every column is in one place, in the selector's own order, and all of it is plain."""
    chosen = [column.column for column in explanation.chosen]
    assert chosen == selector.order_[: selector.n_features_].tolist()
    assert [column.place for column in explanation.chosen] == list(range(1, len(chosen) + 1))
    assert [column.column for column in explanation.columns] == list(range(explanation.n_columns))
    assert [c.name for c in explanation.columns] == [str(info.name) for info in selector.columns_]
    assert [c.n_missing for c in explanation.columns] == [info.n_missing for info in selector.columns_]
    json.dumps(explanation.to_dict(), allow_nan=False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        explanation.n_rows = 1  # type: ignore[misc]


def test_of_easyfs(numbers: Frame) -> None:
    X, y = numbers
    selector = EasyFS(4, random_state=0, include=["c"], exclude=["d"]).fit(X, y)
    found = selector.explain()
    check_whole(found, selector)
    assert (found.method, found.task, found.n_rows, found.n_columns) == ("EasyFS", "regression", N, 8)
    assert found.target is not None
    assert found.target.name == "t"
    assert set(found.changed) == {"n_features_to_select", "include", "exclude", "random_state"}
    assert found.parameters["include"] == ["c"]
    assert found.adds_up
    assert [column.gain for column in found.chosen] == pytest.approx(selector.gains_)
    assert [column.cumulative for column in found.chosen] == pytest.approx(np.cumsum(selector.gains_))
    assert [column.included for column in found.chosen] == [True, False, False, False]
    assert [column.p_value for column in found.chosen] == pytest.approx(selector.p_values_)
    assert selector.beyond_chance_ is not None
    assert [column.beyond_chance for column in found.chosen] == selector.beyond_chance_.tolist()
    for column in found.columns:
        assert selector.relevance_ is not None
        assert column.relevance == pytest.approx(selector.relevance_[column.column])
        assert column.redundancy == pytest.approx(selector.redundancy_[column.column])
    assert {column.name: column.why for column in found.set_aside if column.why != "copy"} == {
        "d": "excluded",
        "flat": "constant",
    }


def test_near_copies_have_their_column(numbers: Frame) -> None:
    X, y = numbers
    found = EasyFS(2, random_state=0).fit(X[["a", "b", "c", "d", "copy", "near"]], y).explain()
    pairs = {"a": "copy", "copy": "a", "b": "near", "near": "b"}
    for column in found.chosen:
        other = column.stands_for[0]
        assert other.name == pairs[column.name]
        correlation = np.corrcoef(X[column.name], X[other.name])[0, 1]
        assert other.alone == pytest.approx(correlation**2, abs=0.02)
        assert other.share >= found.least_share
    copy = next(column for column in found.set_aside if column.why == "copy")
    assert copy.said_by == (pairs[copy.name],)
    assert copy.reason == f"the same as {pairs[copy.name]!r}"


def test_of_a_published_method(numbers: Frame) -> None:
    X, y = numbers
    selector = make_selector("pearson", 3).fit(X, y)
    found = selector.explain()
    check_whole(found, selector)
    assert found.method == "PearsonSelector"
    assert not found.adds_up
    assert not found.overlap_known
    assert found.interactions is None
    assert [column.gain for column in found.chosen] == pytest.approx(selector.gains_)
    for column in found.chosen:
        assert column.cumulative is column.p_value is column.beyond_chance is column.redundancy is None
        assert column.stands_for == ()
    assert "scores" in str(found)


def test_of_mixed_columns(mixed: Frame) -> None:
    X, y = mixed
    with pytest.warns(UserWarning, match="set aside"):
        selector = EasyFS(3, random_state=0).fit(X, y)
    found = selector.explain()
    check_whole(found, selector)
    city = next(column for column in found.chosen if column.name == "city")
    assert (city.kind, city.used_as, len(city.parts)) == ("text", "indicators", 3)
    key = next(column for column in found.set_aside if column.name == "key")
    assert (key.kind, key.why, key.used_as) == ("identifier", "identifier", "set aside")
    assert key.reason
    assert [(notice.code, notice.columns) for notice in found.notices] == [("set_aside", ("key",))]
    assert "key (identifier)" in str(found)


def test_without_a_target(mixed: Frame) -> None:
    X, _ = mixed
    with pytest.warns(UserWarning, match="set aside"):
        selector = EasyFS(3, random_state=0).fit(X)
    found = selector.explain()
    check_whole(found, selector)
    assert found.task is None
    assert found.target is None
    assert all(column.p_value is None and column.relevance is None for column in found.columns if column in found.chosen)
    assert any(column.stands_for for column in found.chosen)
    assert str(found).startswith(f"EasyFS chose 3 of 11 columns ({N} rows, no target)")


def test_notices_of_leaks_and_chance() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 30)), rng.normal(size=100)
    nothing = EasyFS(2, random_state=0).fit(X, y).explain()
    assert [notice.code for notice in nothing.notices] == ["only_chance"]
    assert nothing.names == list(nothing.notices[0].columns)
    given_away = EasyFS(2, random_state=0).fit(np.column_stack([X, y]), y).explain()
    assert [notice.code for notice in given_away.notices] == ["leak", "chance"]
    assert given_away.notices[0].columns == ("x30",)
    assert len(given_away.notices[1].columns) == 1


def test_columns_that_matter_together() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6))
    selector = EasyFS(2, random_state=0).fit(X, X[:, 1] * X[:, 4])
    found = selector.explain()
    assert found.interactions is not None
    assert [set(entry.columns) for entry in found.interactions] == [{"x1", "x4"}]
    assert found.interactions[0].p_value == selector.interactions_[0].p_value
    assert "together: x1 with x4" in str(found)


def test_groups_and_blocks(numbers: Frame) -> None:
    X, y = numbers
    X = X[list("abcd")]
    grouped = EasyFS(1, random_state=0, feature_groups=["p", "q", "q", "p"]).fit(X, y).explain()
    assert len(grouped.chosen) == 2
    assert len({column.group for column in grouped.chosen}) == 1
    blocks = EasyFS(2, random_state=0)
    for at in range(0, N, 50):
        blocks.partial_fit(X[at : at + 50], y[at : at + 50])
    found = blocks.explain()
    assert found.in_blocks
    assert (found.n_rows, found.task, found.target) == (N, "regression", None)


def test_a_fit_comes_first() -> None:
    for selector in (EasyFS(), make_selector("mrmr", 2)):
        with pytest.raises(NotFittedError):
            selector.explain()


def test_the_matrix_that_is_looked_at(mixed: Frame) -> None:
    X, y = mixed
    with pytest.warns(UserWarning, match="set aside"):
        selector = EasyFS(2, random_state=0).fit(X, y)
    encoded = selector.encode(X)
    assert encoded.mixed
    assert encoded.matrix.shape == (N, len(encoded.source))
    assert set(encoded.source[encoded.chosen]) == set(selector.order_[:2])
    plain = selector.fit(X[["a", "b"]], y).encode(X[["a", "b"]])
    assert not plain.mixed
    np.testing.assert_array_equal(plain.matrix, X[["a", "b"]])


def test_a_column_stands_in_for_what_chance_would_not_say() -> None:
    for n_rows, n_columns in ((10, 5), (200, 30), (60, 5000), (100_000, 20)):
        expected = max(0.1, null_relevance(n_rows, 1, n_columns))
        assert least_share(n_rows, n_columns) == pytest.approx(expected, abs=1e-4)
