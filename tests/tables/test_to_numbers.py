"""Tables of mixed columns as numbers, behind a selector and before a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from easyfs import EasyFS, PearsonSelector, TableToNumbers


@parametrize_with_checks([TableToNumbers(), TableToNumbers(fill_missing=False)])
def test_it_is_a_transformer_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


def table(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    city = rng.choice(["Rome", "Paris", "Oslo"], n)
    size = rng.standard_normal(n)
    frame = pd.DataFrame(
        {
            "city": city,
            "size": np.where(rng.random(n) < 0.1, np.nan, size),
            "sold": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D"),
            "new": rng.random(n) < 0.5,
            **{f"noise{j}": rng.standard_normal(n) for j in range(8)},
        }
    )
    return frame, 2.0 * (city == "Rome") + size + 0.2 * rng.standard_normal(n)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "pyarrow"])
def test_a_pipeline_of_a_mixed_table_ends_in_a_model(make: Any) -> None:
    frame, y = table()
    X = make(frame)
    for selector in (EasyFS(2, random_state=0), PearsonSelector(2)):
        model = make_pipeline(selector, TableToNumbers(), Ridge()).fit(X, y)
        assert set(model[0].get_feature_names_out()) == {"city", "size"}
        assert model.score(X, y) > 0.85
    if make is pd.DataFrame:
        scores = cross_val_score(make_pipeline(EasyFS(3, random_state=0), TableToNumbers(), Ridge()), X, y, cv=3)
        assert scores.min() > 0.8


def test_missing_values_become_the_mean_or_stay() -> None:
    frame, y = table()
    numbers = TableToNumbers().fit(frame[:200])
    filled = numbers.transform(frame[200:])
    kept = TableToNumbers(fill_missing=False).fit(frame[:200]).transform(frame[200:])
    assert not np.isnan(filled).any()
    gone = np.isnan(kept)
    place = numbers.get_feature_names_out().tolist().index("size")
    assert gone[:, place].any()
    assert gone.sum() == gone[:, place].sum()
    np.testing.assert_array_equal(filled[~gone], kept[~gone])
    np.testing.assert_allclose(filled[gone], frame["size"][:200].mean())
    HistGradientBoostingRegressor(max_iter=5).fit(kept, y[200:])


def test_values_that_fit_has_not_seen_and_other_tables() -> None:
    frame, _ = table()
    numbers = TableToNumbers().set_output(transform="pandas").fit(frame)
    other = frame.assign(city="Bergen")[:5]
    found = numbers.transform(other)
    assert (found[[name for name in found.columns if name.startswith("city")]] == 0).all(axis=None)
    with pytest.raises(ValueError, match="feature names"):
        numbers.transform(frame.rename(columns={"size": "sise"}))
    with pytest.raises(ValueError, match="named columns"):
        numbers.transform(frame[["size", "noise1"]].to_numpy())


def test_classes_in_one_line() -> None:
    frame, y = table()
    model = make_pipeline(EasyFS(2, random_state=0), TableToNumbers(), LogisticRegression()).fit(frame, y > 0.5)
    assert model.score(frame, y > 0.5) > 0.85
