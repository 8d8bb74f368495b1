"""A table that has only the chosen columns can be transformed, too."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from easyfs import EasyFS, PearsonSelector

LIBRARIES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def columns(*, mixed: bool) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {f"x{j}": rng.standard_normal(150) for j in range(6)}
    if mixed:
        table["city"] = rng.choice(["Rome", "Oslo"], 150)
    return table


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("selector", [EasyFS(2, random_state=0), PearsonSelector(2)], ids=["EasyFS", "Pearson"])
def test_the_chosen_columns_are_enough(selector: Any, library: str, mixed: bool) -> None:
    table, make = columns(mixed=mixed), LIBRARIES[library]
    y = table["x4"] + (table["city"] == "Rome" if mixed else table["x1"])
    selector.fit(make(table), y)
    chosen = selector.get_feature_names_out().tolist()
    whole = selector.transform(make(table))
    for names in (chosen, chosen[::-1], [*chosen, "x0"]):
        few = make({name: table[name] for name in names})
        found = selector.transform(few)
        if mixed:
            assert nw.from_native(found).columns == chosen
        else:
            np.testing.assert_array_equal(np.asarray(found), np.asarray(whole))
        assert nw.from_native(selector.take(few)).columns == chosen
    for names in ((chosen[0], "x0"), (*chosen, "unknown")):
        few = make({name: table.get(name, table["x2"]) for name in names})
        with pytest.raises(ValueError, match="feature names"):
            selector.transform(few)


def test_dataframes_are_asked_for() -> None:
    table = pd.DataFrame(columns(mixed=False))
    selector = EasyFS(2, random_state=0).set_output(transform="pandas").fit(table, table["x1"] - table["x3"])
    found = selector.transform(table[["x3", "x1"]])
    assert list(found.columns) == ["x1", "x3"]
