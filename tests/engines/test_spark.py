"""Tables of Spark: the same answer as in memory, however they are cut; and EasyFS as a stage of Spark's own pipelines."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from easyfs import EasyFS, EasyFSRanking
from easyfs.engines.parts import Part, Summing
from easyfs.engines.spark import Fault, Reading, SparkTable, _of_size
from easyfs.tables.naming import Roles

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[2]").appName("easyfs")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def rows(n: int, seed: int = 0) -> Any:
    """A table whose target is in some of ten columns, with missing values and a category."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10)).round(3)
    X[:, 4] = X[:, 0] + 0.1 * rng.normal(size=n)
    city = rng.choice(["Athens", "Berlin", "Cairo"], size=n, p=[0.6, 0.3, 0.1])
    value = X[:, 0] - X[:, 2] + 0.7 * (city == "Cairo") + X[:, 6] * X[:, 7] + 0.3 * rng.normal(size=n)
    X[rng.random(size=X.shape) < 0.02] = np.nan
    return pa.table(
        {
            **{f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(10)},
            "city": city,
            "value": value,
            "label": (value > 0.5).astype(np.float64) + (value > 3.5),
            "word": np.where(value > 0, "up", "down"),
            "w": rng.uniform(0.5, 2.0, size=n),
        }
    )


def in_parts(spark: Any, table: Any, n: int) -> Any:
    """A table as one of Spark, in ``n`` partitions."""
    cuts = np.linspace(0, table.num_rows, n + 1).astype(int)
    pieces = [
        spark.createDataFrame(table.slice(start, stop - start)).coalesce(1)
        for start, stop in zip(cuts[:-1], cuts[1:], strict=True)
    ]
    return functools.reduce(lambda one, other: one.union(other), pieces)


X_COLUMNS = [f"x{j}" for j in range(10)]


@pytest.mark.parametrize("n", [300, 25_000])
@pytest.mark.parametrize(
    ("n_parts", "selector", "target", "weight", "columns"),
    [
        (1, EasyFS(4, random_state=0), "label", None, X_COLUMNS),
        (2, EasyFS(4, random_state=0), "value", None, [*X_COLUMNS, "city"]),
        (5, EasyFS(random_state=1), "word", "w", [*X_COLUMNS, "city"]),
        (5, EasyFSRanking(4, random_state=0), "label", "w", X_COLUMNS),
        (2, EasyFS(4, random_state=0), None, None, X_COLUMNS),
    ],
)
def test_the_same_as_in_memory(
    spark: Any, n: int, n_parts: int, selector: Any, target: str | None, weight: str | None, columns: list[str]
) -> None:
    names = [*columns, *(name for name in (target, weight) if name is not None)]
    table = rows(n).select(names)
    X, y = table.select(columns), None if target is None else table[target]
    memory = type(selector)(**selector.get_params()).fit(X, y, None if weight is None else table[weight].to_numpy())
    there = selector.fit(in_parts(spark, table, n_parts), target, sample_weight=weight)
    np.testing.assert_array_equal(there.order_, memory.order_)
    np.testing.assert_allclose(there.gains_, memory.gains_, rtol=1e-6, atol=1e-9)
    assert there.n_rows_ == n
    assert list(there.feature_names_in_) == columns
    assert [c.n_missing for c in there.columns_] == [c.n_missing for c in memory.columns_]
    if memory.p_values_ is not None:
        np.testing.assert_allclose(there.p_values_, memory.p_values_, atol=1e-6)
