"""Tables with names and types that other libraries are particular about."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import easyfs
from easyfs import EasyFS
from easyfs.tables.frames import take_columns

from .test_stream import assert_same, dataset_of, files_of, make_table, only, relation_of

SMALL = 1_500


@pytest.fixture(scope="module")
def small():
    return make_table(SMALL)


@pytest.mark.parametrize("name", ["*", "^a$", "^.*$", ""])
def test_names_that_polars_would_read_as_patterns(name, small, tmp_path):
    table = only(small, "amount").rename({"x2": name, "city": "^c$", "day": "^d.*$"}).with_columns(a=pl.lit(0.5))
    memory = EasyFS(5, random_state=0).fit(table, "amount")
    chosen = memory.get_feature_names_out().tolist()
    assert name in chosen
    assert memory.transform(table).columns == chosen
    assert take_columns(table, []).width == 0
    forms = [table.lazy(), dataset_of(table, tmp_path), relation_of(table, tmp_path)] if name else [table.lazy()]
    for kind in ("parquet", "arrow", "csv", "jsonl") if name else ("parquet", "arrow"):
        (tmp_path / kind).mkdir()
        forms.append(files_of(table, kind, tmp_path / kind))
    for form in forms:
        found = EasyFS(5, random_state=0).fit(form, "amount")
        assert_same(found, memory, exact=False)
        assert names_of(found.transform(form)) == chosen


def names_of(lazy):
    if isinstance(lazy, pl.LazyFrame):
        return lazy.collect_schema().names()
    schema = getattr(lazy, "projected_schema", lazy)  # of a scanner of pyarrow
    return list(schema.names if hasattr(schema, "names") else schema.columns)


@pytest.mark.filterwarnings("ignore:.*set aside:UserWarning")
def test_the_index_that_pandas_writes_is_no_column(tmp_path):
    table = only(make_table(3000), "amount").to_pandas().sort_values("amount").reset_index(drop=True)
    for j in range(3):  # its numbers are in all of them
        table.iloc[j::3].reset_index(drop=True).sample(frac=0.6, random_state=j).to_parquet(tmp_path / f"{j}.parquet")
    forms = (easyfs.scan(tmp_path), ds.dataset(tmp_path), pl.scan_parquet(tmp_path / "*.parquet"), pq.read_table(tmp_path))
    memory = EasyFS(5, random_state=0).fit(pd.read_parquet(tmp_path), "amount")
    for form in forms:
        found = EasyFS(5, random_state=0).fit(form, "amount")
        assert found.get_feature_names_out().tolist() == memory.get_feature_names_out().tolist()
        assert [c.reason for c in found.columns_ if c.name == "__index_level_0__"] == [
            "the index of a pandas table: a row number"
        ]
    numbers = pl.DataFrame(
        {"__index_level_0__": [0.0, 1.0, 2.0] * 20, "x": np.arange(60) % 7, "y": np.arange(60) % 7 + 0.5}
    )
    assert EasyFS(1).fit(numbers, "y").columns_[0].kind == "identifier"
    assert EasyFS(1, include=["__index_level_0__"]).fit(numbers, "y").columns_[0].kind == "numeric"


@pytest.mark.parametrize("target", ["amount", "classes", "flag"])
def test_a_target_that_is_missing_where_the_weight_is_zero(target, small, tmp_path):
    there = pl.int_range(SMALL) % 100 != 7
    table = only(small, target).with_columns(pl.when(there).then(target), weight=there.cast(pl.Float64))
    memory = EasyFS(4, random_state=0).fit(table.filter(there), target, sample_weight="weight")
    (tmp_path / "files").mkdir()
    forms = (
        table,
        table.lazy(),
        dataset_of(table, tmp_path),
        relation_of(table, tmp_path),
        files_of(table, "csv", tmp_path / "files"),
    )
    for form in forms:
        assert_same(EasyFS(4, random_state=0).fit(form, target, sample_weight="weight"), memory, exact=False)
    odd = table.with_columns(weight=pl.lit(1.0))
    with pytest.raises(ValueError, match=r"15 rows \(the first is row 7\)"):
        EasyFS(4).fit(odd.lazy(), target, sample_weight="weight")


def test_values_in_runs(small):
    table = only(small, "amount").to_arrow()
    runs = table.append_column("runs", pc.run_end_encode(table["x2"].combine_chunks()))
    memory = EasyFS(4, random_state=0).fit(table.append_column("runs", table["x2"]), "amount")
    assert_same(EasyFS(4, random_state=0).fit(runs, "amount"), memory)
    assert_same(EasyFS(4, random_state=0).fit(ds.dataset(runs), "amount"), memory)


def test_days_of_64_bits(small):
    table = only(small, "amount").to_arrow()
    days = table.append_column("days", pc.cast(table["day"], pa.date64()))
    memory = EasyFS(4, random_state=0).fit(table.append_column("days", table["day"]), "amount")
    assert_same(EasyFS(4, random_state=0).fit(days, "amount"), memory)
    assert_same(EasyFS(4, random_state=0).fit(ds.dataset(days), "amount"), memory)


def test_a_dataset_with_two_columns_of_one_name(small):
    table = only(small, "amount").to_arrow()
    with pytest.raises(ValueError, match="X has several columns called 'x0'"):
        EasyFS(4).fit(ds.dataset(table.append_column("x0", table["x0"])), "amount")


def test_files_with_whole_numbers_that_pyarrow_has_no_type_for(small, tmp_path):
    table = only(small, "amount").with_columns(wide=pl.lit(5).cast(pl.Int128))
    memory = EasyFS(4, random_state=0).fit(table, "amount")
    table.write_parquet(tmp_path / "a.parquet")
    table.write_ipc(tmp_path / "a.arrow")
    for kind in ("parquet", "arrow"):
        assert_same(EasyFS(4, random_state=0).fit(easyfs.scan(tmp_path / f"a.{kind}"), "amount"), memory)


def test_weights_that_are_dates(small):
    table = only(small, "amount").rename({"day": "weight"})
    for form in (table, table.lazy(), table.to_pandas()):
        with pytest.raises(ValueError, match=r"sample_weight \(column 'weight'\) holds '202\d-.*, which is no number"):
            EasyFS(4).fit(form, "amount", sample_weight="weight")
