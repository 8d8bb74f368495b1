"""Tables with names and types that other libraries are particular about."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import easyfs
from easyfs import EasyFS
from easyfs.engines.parts import Part, say_where_infinite
from easyfs.tables.frames import InfinityError, take_columns
from easyfs.tables.times import times_in

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


@pytest.mark.parametrize(("rows", "most"), [(26_000, 2), (12_000, 3)])
def test_a_row_that_counts_several_times_says_once_what_a_column_is(rows, most):
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {"place": np.arange(rows), "name": [f"n{i}" for i in range(rows)], "x": rng.normal(size=rows)},
    ).with_columns(weight=pl.Series(rng.integers(most - 1, most + 1, rows)))
    table = table.with_columns(y=pl.col("place") * 3.0 / rows + pl.col("x") + pl.Series(rng.normal(size=rows)))
    memory = EasyFS(1, random_state=0).fit(table, "y", sample_weight="weight")
    assert [column.kind for column in memory.columns_] == ["identifier", "identifier", "numeric"]
    assert_same(EasyFS(1, random_state=0).fit(table.lazy(), "y", sample_weight="weight"), memory)


def test_objects_of_pandas_that_begin_with_missing_ones():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    table = pl.DataFrame({"flag": x > 0, "text": ["u", "v"] * 200, "z": rng.normal(size=400), "y": x})
    table = table.with_columns(
        pl.when(pl.int_range(400) >= 120).then("flag").alias("flag"), nothing=pl.lit(None, pl.String)
    )
    memory = EasyFS(2, random_state=0).fit(table, "y")
    assert memory.columns_[0].kind == "boolean"
    assert_same(EasyFS(2, random_state=0).fit(table.to_pandas(), "y"), memory)


def test_times_with_their_distance_from_utc():
    rng = np.random.default_rng(0)
    zone, day = rng.integers(-5, 6, 600), rng.integers(1, 29, 600)
    texts = [f"2024-01-{d:02d}T12:00:00.25{h:+03d}:30" for d, h in zip(day, zone, strict=True)]
    table = pl.DataFrame({"t": texts, "z": rng.normal(size=600), "y": -zone + 0.5 * rng.normal(size=600)})
    typed = table.with_columns(pl.col("t").str.to_datetime(time_zone="UTC"))
    assert EasyFS(1, random_state=0).fit(typed, "y").get_feature_names_out().tolist() == ["t"]
    assert_same(EasyFS(1, random_state=0).fit(table, "y"), EasyFS(1, random_state=0).fit(typed, "y"))
    times = times_in([*texts, None], texts)
    np.testing.assert_array_equal(times[:-1], typed["t"].dt.replace_time_zone(None).to_numpy())
    assert np.isnat(times[-1])


@pytest.mark.parametrize("start", [2**60, 2**64 - 200])
def test_large_whole_numbers_that_are_equal_as_floats(start):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"n": start + rng.integers(0, 100, 900).astype(np.uint64), "z": rng.normal(size=900)})
    table = table.with_columns(
        pl.when(pl.int_range(900) % 3 > 0).then("n").alias("n"), y=pl.col("z") + pl.Series(rng.normal(size=900))
    )
    memory = EasyFS(2, random_state=0).fit(table, "y")
    assert memory.columns_[0].used_as == "number"
    for form in (table.lazy(), table.to_arrow(), ds.dataset(table.to_arrow())):
        assert_same(EasyFS(2, random_state=0).fit(form, "y"), memory)


def written_as_text(rows=300):
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "sold": [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(rows)],
            "size": [f"{value:.3f}" for value in rng.normal(size=rows)],
            "city": rng.choice(["u", "v", "w"], rows),
            "x": rng.normal(size=rows),
        }
    )
    return table.with_columns(
        y=pl.col("x") + pl.col("size").cast(pl.Float64) + pl.col("sold").str.tail(2).cast(pl.Int8) / 9
    )


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "jsonl"])
def test_a_file_without_a_value_of_what_is_written_as_text(kind, tmp_path):
    table, third = written_as_text(), pl.int_range(300) // 100
    table = table.with_columns(
        pl.when(third != 1).then(name).alias(name) for name in ("sold", "size", "city")
    )  # nothing is known of the second file
    for i in range(3):
        part = table.filter(third == i)
        getattr(part, {"csv": "write_csv", "arrow": "write_ipc", "jsonl": "write_ndjson"}.get(kind, "write_parquet"))(
            tmp_path / f"{i}.{kind}"
        )
    memory = EasyFS(4, random_state=0).fit(table, "y")
    assert [column.used_as for column in memory.columns_] == ["date parts", "number", "indicators", "number"]
    assert_same(EasyFS(4, random_state=0).fit(easyfs.scan(tmp_path), "y"), memory, exact=kind in ("parquet", "arrow"))
    blocks = EasyFS(4, random_state=0)
    for i in range(3):
        part = table.filter(third == i)
        blocks.partial_fit(part.drop("y"), part["y"])
    assert blocks.n_rows_ == 300


def test_a_part_whose_rows_all_weigh_nothing(tmp_path):
    table = written_as_text().with_columns(weight=(pl.int_range(300) // 100 != 1).cast(pl.Float64))
    for i in range(3):
        table[100 * i : 100 * i + 100].write_parquet(tmp_path / f"{i}.parquet")
    memory = EasyFS(4, random_state=0).fit(table, "y", sample_weight="weight")
    assert_same(EasyFS(4, random_state=0).fit(easyfs.scan(tmp_path), "y", sample_weight="weight"), memory, exact=False)


def test_classes_that_are_called_by_fractions(small):
    table = only(small, "classes").with_columns(classes=pl.col("classes").rank("dense") + 0.5)
    memory = EasyFS(4, random_state=0, task="classification").fit(table, "classes")
    assert_same(EasyFS(4, random_state=0, task="classification").fit(table.lazy(), "classes"), memory)


def test_dates_of_pandas_that_pyarrow_keeps(small):
    table = only(small, "amount").with_columns(pl.when(pl.int_range(SMALL) % 7 > 0).then("day").alias("day"))
    memory = EasyFS(4, random_state=0).fit(table, "amount")
    kept = table.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)
    assert_same(EasyFS(4, random_state=0).fit(kept, "amount"), memory, exact=False)


@pytest.mark.parametrize("form", ["memory", "parts"])
def test_very_many_classes_are_an_error(form):
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.normal(size=12_000), "y": np.arange(12_000) % 11_000})
    with pytest.raises(ValueError, match=r"y has 11,000 classes, and no more than 10,000 can be compared"):
        EasyFS(1, task="classification").fit(table if form == "memory" else table.lazy(), "y")


@pytest.mark.parametrize("form", ["memory", "parts"])
def test_a_weight_beyond_all_others(form, small):
    weight = pl.when(pl.int_range(SMALL) == 5).then(1e300).otherwise(1.0)
    table = only(small, "amount").with_columns(weight=weight)
    with pytest.raises(ValueError, match=r"one row has a sample_weight of 1e\+300, and all others together have 1499"):
        EasyFS(1).fit(table if form == "memory" else table.lazy(), "amount", sample_weight="weight")


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("rows", [300, 2_000, 30_000])
def test_weighted_classes_in_single_precision(rows, classes):
    """Indicators add up to one; of that direction rounding must not leave anything, however the rows are cut."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 12)).astype(np.float32)
        y = np.digitize(X[:, :3] @ [1.0, 0.5, 0.3] + rng.normal(size=rows), np.linspace(-1.0, 1.0, classes + 1)[1:-1])
        weight = rng.uniform(0.1, 2.0, rows)
        double = EasyFS(4, random_state=0).fit(X.astype(np.float64), y, sample_weight=weight)
        frame = pl.DataFrame(X).with_columns(y=pl.Series(y), weight=weight)
        blocks = EasyFS(4, random_state=0)
        for part in np.array_split(np.arange(rows), 7):
            blocks.partial_fit(X[part], y[part], sample_weight=weight[part])
        for found in (
            EasyFS(4, random_state=0).fit(X, y, sample_weight=weight),
            EasyFS(4, random_state=0).fit(frame.lazy(), "y", sample_weight="weight"),
        ):
            np.testing.assert_allclose(found.relevance_, double.relevance_, rtol=1e-3, atol=1e-5)
            assert found.order_[:3].tolist() == double.order_[:3].tolist()
            np.testing.assert_allclose(found.gains_, double.gains_, rtol=1e-3)
        np.testing.assert_allclose(blocks.relevance_[:3], double.relevance_[:3], rtol=0.1)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_infinity_in_a_file(kind, tmp_path):
    """The sample has it first, without the name of the file."""
    table = written_as_text().with_columns(pl.when(pl.int_range(300) == 150).then(np.inf).otherwise("x").alias("x"))
    for i in range(3):
        part = table[100 * i : 100 * i + 100]
        getattr(part, f"write_{kind}")(tmp_path / f"{i}.{kind}")
    with pytest.raises(ValueError, match=rf"1\.{kind}: column 'x' holds infinity in row 50\. Replace it by NaN"):
        EasyFS(2).fit(easyfs.scan(tmp_path), "y")
    with pytest.raises(ValueError, match="LazyFrame: column 'x' holds infinity in row 150"):
        EasyFS(2).fit(table.lazy(), "y")


def test_infinity_in_a_part_of_an_array():
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[41, 2] = np.inf
    for held in (X, sparse.csr_array(X)):
        part = Part(held[40:], None, None, 40, "rows from 40 on", 0)
        with pytest.raises(InfinityError, match=r"rows from 40 on: column 2 holds infinity in row 1\."):
            say_where_infinite(part)
        assert say_where_infinite(Part(held[:40], None, None, 0, "the first rows")) == 0


def test_a_weight_beyond_all_others_outside_the_sample():
    rng = np.random.default_rng(0)
    table = pl.DataFrame({"a": rng.normal(size=60_000), "b": rng.normal(size=60_000), "weight": rng.uniform(1, 2, 60_000)})
    for row in (101, 59_999):
        odd = table.with_columns(pl.when(pl.int_range(60_000) == row).then(1e16).otherwise("weight").alias("weight"))
        with pytest.raises(ValueError, match=r"one row has a sample_weight of 1e\+16, and all others together have"):
            EasyFS(1).fit(odd.lazy(), "a", sample_weight="weight")


def test_what_the_sample_knows_one_value_of_beside_what_is_adjusted_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(45_000, 30))
    X[:, 4:] = 0.0
    for j in range(4, 30):
        X[rng.choice(45_000, 8, replace=False), j] = 1.0
    y = (X[:, 1] + 0.06 * X[:, 2] + 0.05 * X[:, 3] + rng.normal(size=45_000) > 0).astype(int)
    y[:4] = 2
    found = EasyFS(random_state=0, adjust_for=[0]).fit(X, y)
    assert found.order_[: found.n_features_].tolist() == [1, 2, 3]
    assert (found.p_values_ < 0.02).all()


@pytest.mark.parametrize("rows", [500, 30_000])
def test_row_numbers_of_which_the_first_are_missing(rows):
    rng = np.random.default_rng(0)
    number = np.where(np.arange(rows) < 60, np.nan, rng.permutation(rows))
    table = pl.DataFrame({"r": number, "a": rng.normal(size=rows)}).with_columns(pl.col("r").fill_nan(None))
    large = pl.col("r").cast(pl.Int64) + 2**60
    table = table.with_columns(y=pl.col("a") + pl.col("r").fill_null(0) / rows + pl.Series(rng.normal(size=rows)))
    for form in (table, table.with_columns(r=large), table.lazy(), table.with_columns(r=large).lazy(), table.to_pandas()):
        assert EasyFS(1, random_state=0).fit(form, "y").columns_[0].kind == "identifier"


@pytest.mark.parametrize("seed", range(4))
def test_classes_that_what_is_adjusted_for_tells_apart(seed):
    """Of the directions of the target none is left that rounding made, whatever the precision."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(3_000, 8)), rng.integers(0, 4, 3_000)
    X[:, 1] += (y == 1) * 0.08
    X[:, 2] += (y == 2) * 0.07
    X[:, 0] = y < 2
    double = EasyFS(3, random_state=0, adjust_for=[0]).fit(X, y)
    for single in (X.astype(np.float32), np.asfortranarray(X.astype(np.float32))):
        found = EasyFS(3, random_state=0, adjust_for=[0]).fit(single, y)
        np.testing.assert_allclose(found.gains_, double.gains_, rtol=1e-4)
        np.testing.assert_allclose(found.p_values_, double.p_values_, rtol=1e-3)


def test_a_table_without_numbers_is_summed_in_double_precision(monkeypatch):
    table = written_as_text(2_000).select("sold", "city", "y")
    memory = EasyFS(2, random_state=0).fit(table, "y")
    monkeypatch.setattr("easyfs.engines.stream.batch_rows", lambda _: 100)
    assert_same(EasyFS(2, random_state=0).fit(table.lazy(), "y"), memory)


def test_few_rows_that_count_very_often_say_what_a_column_is():
    rng = np.random.default_rng(0)
    x, place = rng.normal(size=300), np.arange(300)
    table = pl.DataFrame({"city": [f"g{i % 60}" for i in place], "x": x, "weight": np.where(place < 15, 20_000, 1)})
    table = table.with_columns(y=x + rng.normal(size=300) + 0.5 * (place % 60 < 5))
    memory = EasyFS(2, random_state=0).fit(table, "y", sample_weight="weight")
    assert_same(EasyFS(2, random_state=0).fit(table.lazy(), "y", sample_weight="weight"), memory)


@pytest.mark.parametrize("kind", [bool, int, float])
@pytest.mark.parametrize("missing", [pd.NA, pd.NaT, None, np.nan])
def test_objects_of_pandas_that_are_missing_in_its_own_words(kind, missing):
    x = np.random.default_rng(0).normal(size=400)
    held = pd.Series([missing if i % 9 == 0 else kind(3 * v) for i, v in enumerate(x)], dtype=object)
    plain = pd.Series([np.nan if i % 9 == 0 else float(kind(3 * v)) for i, v in enumerate(x)])
    table = pd.DataFrame({"z": x[::-1].copy(), "o": held, "y": x})
    found = EasyFS(1, random_state=0).fit(table, "y")
    assert_same(found, EasyFS(1, random_state=0).fit(table.assign(o=plain), "y"), exact=False)
