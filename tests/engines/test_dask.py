"""Dask tables: the same answer as in memory, from partitions that stay where they are."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pytest
from distributed import Client, LocalCluster

from easyfs import EasyFS, EasyFSRanking, PearsonSelector
from easyfs.common.version import VERSION
from easyfs.engines.dask import of_dask
from easyfs.engines.opening import open_parts
from easyfs.engines.parts import Summing
from easyfs.engines.sampling import scan
from easyfs.passes.block import SAMPLE_ROWS, Block
from easyfs.passes.make_plan import make_plan
from easyfs.tables.target import check_target

FEW, MANY = 600, SAMPLE_ROWS + 6000
NUMBERS = [f"c{j}" for j in range(8)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Client]:
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as local,
        Client(local) as client,
    ):
        yield client


@pytest.fixture
def here() -> Iterator[None]:
    with dask.config.set(scheduler="synchronous"):
        yield


def table(n: int = FEW) -> pd.DataFrame:
    """Numbers with gaps, a near-copy, a category, text; three classes, one of them rare, numbers and weights."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, len(NUMBERS)))
    X[:, 3] = X[:, 0] + 0.2 * rng.standard_normal(n)
    city = rng.choice(["Rome", "Paris", "Oslo", "Bonn"], n)
    price = X[:, 0] + X[:, 5] ** 2 + 1.5 * (city == "Rome") + 0.3 * rng.standard_normal(n)
    X[rng.random(X.shape) < 0.04] = np.nan
    frame = pd.DataFrame(X, columns=NUMBERS).assign(
        city=pd.Categorical(city),
        wind=rng.choice(["north", "south", "east"], n),
        price=price,
        group=np.where(price > 6, "top", np.where(price > 1, "high", "low")),
        weight=rng.uniform(0.5, 2.0, n),
        count=rng.integers(1, 4, n),
    )
    return frame.copy()


def with_only(frame: pd.DataFrame, *names: str | None) -> pd.DataFrame:
    """A table with some of the columns that are target or weights."""
    return frame.drop(columns=[c for c in ("price", "group", "weight", "count") if c not in names])


def of_frames(frames: list[pd.DataFrame], meta: pd.DataFrame | None = None) -> Any:
    """A Dask table of these partitions as they are."""
    kind = frames[0] if meta is None else meta
    return dd.from_delayed([dask.delayed(frame) for frame in frames], meta=kind.iloc[:0], verify_meta=False)


def cut(frame: pd.DataFrame, n: int = 4) -> list[pd.DataFrame]:
    return [frame.iloc[i * len(frame) // n : (i + 1) * len(frame) // n].copy() for i in range(n)]


def is_same(here: Any, there: Any, *, missing: bool = True) -> None:
    assert here.order_.tolist() == there.order_.tolist()
    np.testing.assert_allclose(here.gains_, there.gains_, rtol=1e-9, atol=1e-12)
    assert here.n_rows_ == there.n_rows_
    if missing:
        assert [column.n_missing for column in here.columns_] == [column.n_missing for column in there.columns_]
    assert [column.kind for column in here.columns_] == [column.kind for column in there.columns_]
    assert here.get_feature_names_out().tolist() == there.get_feature_names_out().tolist()
    assert hasattr(here, "classes_") == hasattr(there, "classes_")
    if hasattr(here, "classes_"):
        assert here.classes_.tolist() == there.classes_.tolist()


@pytest.mark.parametrize("form", [EasyFS, EasyFSRanking])
class TestTheSameAsInMemory:
    @pytest.mark.parametrize("target", ["group", "price"])
    @pytest.mark.parametrize("weight", [None, "weight"])
    @pytest.mark.parametrize(("n", "partitions"), [(FEW, 2), (FEW, 5), (MANY, 2), (MANY, 5)])
    def test_by_name(self, form: Any, n: int, partitions: int, target: str, weight: str | None, here: None) -> None:
        frame = with_only(table(n), target, weight)
        is_same(
            form(4, random_state=0).fit(frame, target, weight),
            form(4, random_state=0).fit(dd.from_pandas(frame, npartitions=partitions), target, weight),
        )

    def test_weights_that_count_rows(self, form: Any, here: None) -> None:
        frame = with_only(table(), "group", "count")
        frame.loc[:50, "count"] = 0
        is_same(
            form(4, random_state=0).fit(frame, "group", "count"),
            form(4, random_state=0).fit(dd.from_pandas(frame, npartitions=5), "group", "count"),
            missing=False,  # in memory an estimate, where some rows do not count
        )

    @pytest.mark.parametrize("n", [FEW, MANY])
    def test_an_array_by_workers(self, form: Any, n: int, cluster: Client) -> None:
        X, y = table(n)[NUMBERS].to_numpy(), table(n)["group"].to_numpy().astype(str)
        is_same(
            form(4, random_state=0).fit(X, y),
            form(4, random_state=0).fit(da.from_array(X, chunks=(n // 4, 3)), da.from_array(y, chunks=n // 3)),
        )

    def test_a_table_by_workers(self, form: Any, cluster: Client) -> None:
        frame = with_only(table(MANY), "group", "weight")
        lazy = dd.from_pandas(frame, npartitions=5)
        fitted = form(4, random_state=0).fit(frame, "group", "weight")
        is_same(fitted, form(4, random_state=0).fit(lazy, "group", "weight"))
        is_same(fitted, form(4, random_state=0).fit(lazy.persist(), "group", "weight"))

    def test_by_threads(self, form: Any) -> None:
        frame = with_only(table(), "price")
        with dask.config.set(scheduler="threads", num_workers=2):
            is_same(
                form(4, random_state=0).fit(frame, "price"),
                form(4, random_state=0).fit(dd.from_pandas(frame, npartitions=5), "price"),
            )

    def test_without_a_target(self, form: Any, here: None) -> None:
        X = table()[NUMBERS].fillna(0.0)
        lazy = dd.from_pandas(X, npartitions=3)
        if form is EasyFS:
            is_same(EasyFS(3, random_state=0).fit(X), EasyFS(3, random_state=0).fit(lazy))
            return
        for given in (X, lazy):
            with pytest.raises(ValueError, match="the target y is None"):
                form(3, random_state=0).fit(given)


class TestForms:
    """What may be given as table, target and weights."""

    @pytest.fixture(autouse=True)
    def _here(self, here: None) -> None:
        self.frame = table()
        self.X, self.y, self.w = (self.frame[c].to_numpy() for c in (NUMBERS, "price", "weight"))
        self.fitted = EasyFS(4, random_state=0).fit(self.frame[NUMBERS], self.y, self.w)

    def check(self, X: Any, y: Any, weight: Any) -> None:
        found = EasyFS(4, random_state=0).fit(X, y, weight)
        assert found.order_.tolist() == self.fitted.order_.tolist()
        np.testing.assert_allclose(found.gains_, self.fitted.gains_, rtol=1e-9)

    def test_a_frame_with_series_beside_it(self) -> None:
        lazy = dd.from_pandas(self.frame, npartitions=4)
        self.check(lazy[NUMBERS], lazy["price"], lazy["weight"])

    def test_a_frame_with_arrays_beside_it(self) -> None:
        lazy = dd.from_pandas(self.frame[NUMBERS], npartitions=4)
        self.check(lazy, da.from_array(self.y, chunks=77), self.w)
        self.check(lazy, self.frame["price"], self.w.tolist())
        self.check(lazy, dd.from_pandas(self.frame, npartitions=4)["price"].values, self.w)

    def test_several_targets(self) -> None:
        frame = with_only(self.frame, "price", "weight")[[*NUMBERS, "price", "weight"]]
        expected = EasyFS(4, random_state=0).fit(frame, ["price", "weight"])
        lazy = dd.from_pandas(frame, npartitions=4)
        is_same(expected, EasyFS(4, random_state=0).fit(lazy, ["price", "weight"]))
        is_same(expected, EasyFS(4, random_state=0).fit(lazy[NUMBERS], lazy[["price", "weight"]]))

    @pytest.mark.parametrize("chunks", [(200, 8), (150, 3), (600, 1)])
    def test_chunks(self, chunks: tuple[int, int]) -> None:
        X = da.from_array(self.X, chunks=chunks)
        self.check(X, self.y, self.w)
        self.check(X, da.from_array(self.y, chunks=90), da.from_array(self.w, chunks=200))

    def test_chunks_of_unknown_sizes(self) -> None:
        every = np.ones(FEW, dtype=bool)
        every[::7] = False
        mask, X = da.from_array(every, chunks=200), da.from_array(self.X, chunks=(200, 3))
        self.fitted = EasyFS(4, random_state=0).fit(self.X[every], self.y[every], self.w[every])
        y, w = (da.from_array(values, chunks=200)[mask] for values in (self.y, self.w))
        assert np.isnan(X[mask].chunks[0]).all()
        self.check(X[mask], y, w)
        self.check(X[mask], self.y[every], da.from_array(self.w[every], chunks=100))
        lazy = dd.from_pandas(self.frame, npartitions=3)
        lazy = lazy[lazy["count"] > 1]
        rows = self.frame["count"] > 1
        self.fitted = EasyFS(4, random_state=0).fit(self.X[rows], self.y[rows], self.w[rows])
        self.check(lazy[NUMBERS].values, lazy["price"].values, lazy["weight"].values)

    def test_names_that_are_numbers(self) -> None:
        lazy = dd.from_pandas(pd.DataFrame(self.X), npartitions=3)
        self.check(lazy, self.y, self.w)
        selector = EasyFS(4, random_state=0).fit(lazy, self.y, self.w)
        assert list(selector.transform(lazy).columns) == selector.get_support(indices=True).tolist()

    def test_files(self, tmp_path: Path) -> None:
        frame = self.frame[[*NUMBERS, "price", "weight"]]
        dd.from_pandas(frame, npartitions=4).to_parquet(tmp_path)
        lazy = dd.read_parquet(tmp_path)
        self.check(lazy, "price", "weight")
        self.check(lazy[NUMBERS], lazy["price"], lazy["weight"])

    def test_text_as_dask_keeps_it(self) -> None:
        frame = with_only(self.frame, "group").astype({"city": str})
        for convert in (True, False):
            with dask.config.set({"dataframe.convert-string": convert}):
                lazy = dd.from_pandas(frame, npartitions=3)
                is_same(EasyFS(4, random_state=0).fit(frame, "group"), EasyFS(4, random_state=0).fit(lazy, "group"))

    def test_a_frame_of_one_partition(self) -> None:
        self.check(dd.from_pandas(self.frame[NUMBERS], npartitions=1), self.y, self.w)


@pytest.mark.parametrize("n", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.usefixtures("here")
class TestOddPartitions:
    def check(self, whole: pd.DataFrame, lazy: Any) -> None:
        is_same(EasyFS(4, random_state=0).fit(whole, "group"), EasyFS(4, random_state=0).fit(lazy, "group"))

    @pytest.mark.parametrize("place", [0, 2, 4])
    def test_an_empty_partition(self, n: int, place: int) -> None:
        frame = with_only(table(n), "group")
        frames = cut(frame)
        self.check(frame, of_frames([*frames[:place], frame.iloc[:0], *frames[place:]], frame))

    @pytest.mark.parametrize("target", ["price", ["price", "weight"]])
    def test_partitions_that_a_filter_leaves_empty(self, n: int, target: Any) -> None:
        frame = with_only(table(n), "price", "weight").sort_values("c0", ignore_index=True)
        lazy = dd.from_pandas(frame, npartitions=6)
        lazy, left = lazy[lazy["c0"] > 0], frame[frame["c0"] > 0].reset_index(drop=True)
        wanted = EasyFS(2, random_state=0).fit(left, target)
        is_same(wanted, EasyFS(2, random_state=0).fit(lazy, target))

    def test_a_column_without_a_value_in_one_partition(self, n: int) -> None:
        frame = with_only(table(n), "group")
        frames = cut(frame)
        frames[1]["c0"], frames[2]["city"], frames[2]["wind"] = None, None, np.nan
        assert frames[1]["c0"].dtype == object
        whole = frame.astype({"city": object})
        for j, names in ((1, ["c0"]), (2, ["city", "wind"])):
            whole.loc[frames[j].index, names] = np.nan
        self.check(whole.astype({"city": "category"}), of_frames(frames))

    def test_words_for_missing_values(self, n: int) -> None:
        frame = with_only(table(n), "group")
        frame["wind"] = frame["wind"].where(np.arange(n) % 9 > 0, "n/a").where(np.arange(n) % 7 > 0, "")
        self.check(frame, dd.from_pandas(frame, npartitions=3))

    def test_categories_that_dask_does_not_know(self, n: int) -> None:
        frame = with_only(table(n), "group")
        frames = cut(frame)
        frames[0] = frames[0][frames[0]["city"] != "Rome"]
        for part in frames:
            part["city"] = part["city"].cat.remove_unused_categories()
        assert len({part["city"].dtype.categories.size for part in frames}) == 2
        meta = dd.from_pandas(frame, npartitions=2)
        meta["city"] = meta["city"].cat.as_unknown()
        whole = frame.drop(frame.index[: n // 4][frame["city"].iloc[: n // 4] == "Rome"])
        self.check(whole, of_frames(frames, meta._meta))

    def test_columns_in_another_order(self, n: int) -> None:
        frame = with_only(table(n), "group")
        frames = cut(frame)
        frames[2] = frames[2][list(reversed(frame.columns))]
        self.check(frame, of_frames(frames))

    @pytest.mark.parametrize("label", ["last", 9, 9.0])
    def test_a_class_only_in_the_last_partition(self, n: int, label: Any) -> None:
        frame = with_only(table(n), "group")
        if not isinstance(label, str):
            frame["group"] = frame["group"].map({"low": 0, "high": 1, "top": 2}).astype(type(label))
        frame.loc[frame.index[-3:], "group"] = label
        self.check(frame, dd.from_pandas(frame, npartitions=5))

    def test_counts_are_numbers(self, n: int) -> None:
        frame = with_only(table(n))
        frame["group"] = np.random.default_rng(1).poisson(np.exp(1.0 + frame["c0"].fillna(0.0)))
        self.check(frame, dd.from_pandas(frame, npartitions=5))

    def test_a_target_that_is_a_category_of_numbers(self, n: int) -> None:
        frame = with_only(table(n))
        frame["group"] = pd.Categorical(np.random.default_rng(1).poisson(5, n))
        self.check(frame, dd.from_pandas(frame, npartitions=5))

    def test_dates_and_ordered_categories(self, n: int) -> None:
        rng = np.random.default_rng(1)
        frame = with_only(table(n), "group")
        frame["city"] = frame["city"].cat.set_categories(["Oslo", "Bonn", "Rome", "Paris"], ordered=True)
        frame["sold"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1000, n), unit="D")
        frames = cut(frame)
        self.check(frame, of_frames([*frames, frame.iloc[:0]]))


@pytest.mark.usefixtures("here")
class TestFaults:
    def refuses(self, says: str, X: Any, y: Any = "group", weight: Any = None) -> None:
        with pytest.raises((ValueError, TypeError), match=says):
            EasyFS(2, random_state=0).fit(X, y, weight)

    @pytest.fixture
    def frames(self) -> list[pd.DataFrame]:
        return cut(with_only(table(), "group"))

    def test_a_partition_without_a_column(self, frames: list[pd.DataFrame]) -> None:
        frames[3] = frames[3].drop(columns="c2")
        self.refuses(r"^partition 3: its columns are not those of X: 'c2' is missing", of_frames(frames))

    def test_a_partition_with_a_further_column(self, frames: list[pd.DataFrame]) -> None:
        frames[2]["more"] = 1.0
        self.refuses(r"^partition 2: .*'more' is not among them", of_frames(frames))

    def test_a_partition_with_text_for_numbers(self, frames: list[pd.DataFrame]) -> None:
        frames[1]["c2"] = "a"
        self.refuses(r"^partition 1: column 'c2' holds text", of_frames(frames))
        frames[1]["c2"] = 1.0
        frames[3]["wind"] = 5
        self.refuses(r"^partition 3: column 'wind' holds numbers", of_frames(frames))

    def test_labels_of_two_kinds(self, frames: list[pd.DataFrame]) -> None:
        frames[2]["group"] = 1
        self.refuses(r"^partition 2: column 'group' holds numbers", of_frames(frames))
        y = of_frames(frames)["group"]
        self.refuses(r"^partition 2: y holds numbers", of_frames(frames)[NUMBERS], y)

    def test_a_file_that_is_cut_off(self, frames: list[pd.DataFrame], tmp_path: Path) -> None:
        for j, part in enumerate(frames):
            part.to_parquet(tmp_path / f"{j}.parquet")
        read = dd.read_parquet(tmp_path)
        broken = tmp_path / "2.parquet"
        broken.write_bytes(broken.read_bytes()[:-500])
        self.refuses(r"^partition 2 of X cannot be read \(.*easyfs\.scan says which one", read)

    @pytest.mark.parametrize(("lacking", "said"), [("c1", "c1"), ("group", "group")])
    def test_a_file_that_lacks_a_column(self, frames: list[pd.DataFrame], tmp_path: Path, lacking: str, said: str) -> None:
        for j, part in enumerate(frames):
            (part.drop(columns=lacking) if j == 1 else part).to_parquet(tmp_path / f"{j}.parquet")
        self.refuses(rf"^partition 1 of X cannot be read \(KeyError.*{said}", dd.read_parquet(tmp_path))

    def test_a_table_that_is_another_at_each_reading(self, frames: list[pd.DataFrame]) -> None:
        sizes = iter(range(100, 0, -1))
        lazy = of_frames(frames).map_partitions(lambda part: part.head(next(sizes)), meta=frames[0].iloc[:0])
        self.refuses(r"^partition \d: it had \d+ rows, and has \d+ when it is read again; persist\(\)", lazy)

    def test_a_worker_with_another_version(self, frames: list[pd.DataFrame], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("easyfs.estimator.elsewhere.VERSION", "0.0.1")
        with pytest.raises(RuntimeError, match=r"partition \d: EasyFS .* runs there, but 0\.0\.1 where fit was called"):
            EasyFS(2, random_state=0).fit(of_frames(frames), "group")

    def test_infinity(self, frames: list[pd.DataFrame]) -> None:
        frames[2].iloc[0, 0] = np.inf
        self.refuses(r"^partition 2: column 'c0' holds infinity in row \d+\.", of_frames(frames))

    @pytest.mark.parametrize("gone", [None, np.nan])
    def test_a_target_that_is_missing(self, frames: list[pd.DataFrame], gone: Any) -> None:
        frames[3].loc[frames[3].index[-1], "group"] = gone
        self.refuses(rf"^partition 3: Input y contains NaN in 1 row \(the first is row {FEW - 1}\)", of_frames(frames))

    def test_negative_weights(self) -> None:
        frame = with_only(table(), "group", "weight")
        frame.loc[FEW - 1, "weight"] = -1.0
        self.refuses("^partition 2: sample_weight is negative", dd.from_pandas(frame, npartitions=3), weight="weight")

    def test_orders_of_categories_that_differ(self, frames: list[pd.DataFrame]) -> None:
        for j, part in enumerate(frames):
            levels = ["Rome", "Oslo", "Bonn", "Paris"][:: -1 if j == 3 else 1]
            part["city"] = part["city"].cat.set_categories(levels, ordered=True)
        self.refuses(r"^partition 3: column 'city' is an ordered category", of_frames(frames))
        meta = frames[0].iloc[:0].copy()
        meta["city"] = pd.Categorical([], categories=["__UNKNOWN_CATEGORIES__"], ordered=True)
        self.refuses(r"categorize\(\)", of_frames(frames, meta))

    def test_lengths(self) -> None:
        X = da.from_array(table()[NUMBERS].to_numpy(), chunks=(200, 8))
        self.refuses("y has 599 entries, but X has 600 rows", X, np.arange(FEW - 1))
        self.refuses("y has 599 entries, but X has 600 rows", X, da.arange(FEW - 1, chunks=100))
        self.refuses("sample_weight has 1 entries", X, da.arange(FEW, chunks=100), np.ones(1))
        lazy = dd.from_pandas(table(), npartitions=3)
        self.refuses("y has 4 partitions, but X has 3", lazy[NUMBERS], dd.from_pandas(table(), npartitions=4)["price"])
        shorter = of_frames([part[["price"]].iloc[1:] for part in cut(table(), 3)])["price"]
        self.refuses(r"^partition \d: y has 199 entries, but there are 200 rows", lazy[NUMBERS], shorter)

    def test_names(self) -> None:
        lazy = dd.from_pandas(with_only(table(), "group"), npartitions=3)
        self.refuses("y='grup' names a column that X does not have. Did you mean 'group'", lazy, "grup")
        self.refuses("X has no column names", da.ones((10, 2), chunks=5), "group")

    def test_what_is_no_table(self) -> None:
        lazy = dd.from_pandas(table(), npartitions=3)
        self.refuses("X is a Dask Series, not a table", lazy["c0"], lazy["price"])
        self.refuses("X is a Dask Array of 1 dimensions", da.ones(10, chunks=5), np.arange(10))

    def test_no_rows(self) -> None:
        self.refuses("0 sample", of_frames(cut(with_only(table(), "group").iloc[:0])))


class TestTransform:
    """Choosing columns reads nothing."""

    def test_a_frame_stays_lazy(self, here: None) -> None:
        frame = with_only(table(), "group")
        selector = EasyFS(3, random_state=0).fit(dd.from_pandas(frame, npartitions=3), "group")
        asked = []

        def read(part: pd.DataFrame) -> pd.DataFrame:
            asked.append(len(part))
            return part

        lazy = dd.from_pandas(frame, npartitions=3).map_partitions(read, meta=frame.iloc[:0])
        chosen = selector.transform(lazy)
        assert not asked
        assert list(chosen.columns) == selector.get_feature_names_out().tolist()
        assert chosen.compute().shape == (FEW, 3)
        assert sum(asked) == FEW
        with pytest.raises(ValueError, match="does not have the selected column"):
            selector.transform(lazy.drop(columns=list(selector.get_feature_names_out()[:1])))

    def test_an_array_stays_lazy(self, here: None) -> None:
        X, y = table()[NUMBERS].to_numpy(), table()["price"].to_numpy()
        lazy = da.from_array(X, chunks=(100, 3))
        selector = EasyFS(3, random_state=0).fit(lazy, y)
        chosen = selector.transform(lazy)
        assert isinstance(chosen, da.Array)
        np.testing.assert_array_equal(chosen.compute(), X[:, selector.get_support()])
        with pytest.raises(ValueError, match="X has 7 features, but EasyFS is expecting 8"):
            selector.transform(lazy[:, :7])

    def test_opening_reads_nothing(self) -> None:
        def fail(part: pd.DataFrame) -> pd.DataFrame:
            raise AssertionError("read")

        lazy = dd.from_pandas(table(), npartitions=3).map_partitions(fail, meta=table().iloc[:0])
        opened = open_parts(lazy, "group")
        assert opened is not None
        assert opened.names == list(table().columns)
        assert opened.roles.target == ("group",)


def summing(frame: pd.DataFrame) -> Summing:
    frame = frame.iloc[:2000]
    X, target = frame[NUMBERS].to_numpy(), check_target(frame["group"], len(frame), "auto")
    selector = EasyFS(3, random_state=0).fit(X, frame["group"])
    seed, rng = selector._seed()
    plan = make_plan(Block(X, target), selector._plan_settings(), selector._constraints(), seed, rng).plan
    return Summing(plan.light(), None, target, VERSION)


def test_only_sums_travel(here: None) -> None:
    frame = table(MANY)
    X = da.from_array(frame[NUMBERS].to_numpy(), chunks=(5000, 8))
    function = summing(frame)
    summed = of_dask(X, frame["group"].to_numpy().astype(str)).reduce(function)
    assert summed.n_rows == MANY
    width = next(iter(summed.statistics.moments.values())).mean.size
    assert len(pickle.dumps(summed)) < 10 * (width + 1) ** 2 + 10_000 < frame[NUMBERS].to_numpy().nbytes / 3
    assert len(pickle.dumps(function)) < frame[NUMBERS].to_numpy().nbytes / 3
    given: list[int] = []
    of_dask(X, frame["group"].to_numpy().astype(str)).reduce(lambda part: (given.append(len(part.X)), function(part))[1])
    assert sorted(given) == [MANY - 25_000, *[5000] * 5]  # a chunk at a time, never several together
    often = da.concatenate([X] * 4)
    for known in (None, 4 * MANY):
        scanned = of_dask(often).reduce(partial(scan, seed=0, table_rows=known))
        assert SAMPLE_ROWS <= len(scanned.numbers) <= 1.35 * SAMPLE_ROWS < MANY * 4 / 3


def test_a_client_that_knows_the_address_alone(cluster: Client, tmp_path: Path) -> None:
    """Another cluster than the one that is used if nothing is said."""
    frame, read = with_only(table(), "group"), str(tmp_path)

    def by_whom(part: pd.DataFrame) -> pd.DataFrame:
        Path(read, str(os.getpid())).touch()
        return part

    lazy = dd.from_pandas(frame, npartitions=3).map_partitions(by_whom, meta=frame.iloc[:0])
    with (
        LocalCluster(n_workers=1, processes=True, dashboard_address=None) as other,
        Client(other.scheduler_address) as client,
    ):
        found = EasyFS(3, random_state=0).fit(lazy, "group")
        workers = {str(pid) for pid in client.run(os.getpid).values()}
    assert {path.name for path in Path(read).iterdir()} == workers
    is_same(EasyFS(3, random_state=0).fit(frame, "group"), found)


def test_a_worker_that_dies(cluster: Client, tmp_path: Path) -> None:
    frame, read, partitions = with_only(table(), "group"), str(tmp_path), 5

    def dies_once(part: pd.DataFrame) -> pd.DataFrame:
        Path(read, f"{os.urandom(8).hex()}.read").touch()
        if len(list(Path(read).glob("*.read"))) >= 2 * partitions + 2:  # two workers may pass any one number together
            with suppress(FileExistsError):  # the first to make the file is the one that dies
                Path(read, "died").touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
        return part

    lazy = dd.from_pandas(frame, npartitions=partitions).map_partitions(dies_once, meta=frame.iloc[:0])
    is_same(EasyFS(4, random_state=0).fit(frame, "group"), EasyFS(4, random_state=0).fit(lazy, "group"))
    assert Path(read, "died").exists()


def test_workers_that_die_again_and_again(cluster: Client) -> None:
    def dies(part: pd.DataFrame) -> pd.DataFrame:
        os.kill(os.getpid(), signal.SIGKILL)
        return part

    frame = with_only(table(), "group")
    lazy = dd.from_pandas(frame, npartitions=2).map_partitions(dies, meta=frame.iloc[:0])
    with pytest.raises(RuntimeError, match=r"workers of the Dask cluster died again and again .* make partitions smaller"):
        EasyFS(2, random_state=0).fit(lazy, "group")


def test_a_worker_says_which_partition(cluster: Client) -> None:
    frames = cut(with_only(table(), "group"))
    frames[3] = frames[3].drop(columns="c2")
    with pytest.raises(ValueError, match=r"^partition 3: .*'c2' is missing"):
        EasyFS(2, random_state=0).fit(of_frames(frames), "group")


def test_a_process_with_another_version(cluster: Client) -> None:
    def set_version(version: str) -> None:
        from easyfs.engines import parts

        parts.VERSION = version

    lazy = dd.from_pandas(with_only(table(), "group"), npartitions=4)
    first = next(iter(cluster.scheduler_info()["workers"]))
    cluster.run(set_version, "0.0.1", workers=[first])
    says = rf"partition \d: EasyFS 0\.0\.1 runs there, but {VERSION} where fit was called"
    try:
        with pytest.raises(RuntimeError, match=says):
            EasyFS(2, random_state=0).fit(lazy, "group")
    finally:
        cluster.run(set_version, VERSION, workers=[first])


class TestElsewhere:
    """Methods that need all rows at once say so."""

    @pytest.mark.parametrize(
        ("kind", "method"), [("frame", "compute"), ("array", "compute"), ("lazy", "collect"), ("files", "to_table")]
    )
    def test_other_selectors_say_how_to_bring_a_table_into_memory(self, kind: str, method: str) -> None:
        frame = table()[[*NUMBERS, "price"]]
        X = {
            "frame": lambda: dd.from_pandas(frame, npartitions=2),
            "array": lambda: da.ones((10, 2)),
            "lazy": lambda: pl.from_pandas(frame).lazy(),
            "files": lambda: pads.dataset(pa.Table.from_pandas(frame)),
        }[kind]()
        for y in ("price", frame["price"].to_numpy()):
            with pytest.raises(TypeError, match=rf"Only fit and transform of EasyFS and EasyFSRanking .*{method}\(\)"):
                PearsonSelector(2).fit(X, y)
            with pytest.raises(TypeError, match=rf"{method}\(\)"):
                EasyFS(2).partial_fit(X, y)
        with pytest.raises(TypeError, match=rf"{method}\(\)"):
            PearsonSelector(2).fit(frame[NUMBERS], frame["price"]).transform(X)


def test_masked_chunks() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 6))
    y = X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(3000)
    X[rng.random(X.shape) < 0.1] = -9999.0
    lazy = da.ma.masked_equal(da.from_array(X, chunks=(1000, 6)), -9999.0)
    memory = EasyFS(3, random_state=0).fit(np.ma.masked_equal(X, -9999.0), y)
    is_same(EasyFS(3, random_state=0).fit(lazy, y), memory, missing=False)


def test_values_of_other_libraries_beside_the_table() -> None:
    frame = with_only(table(), "price", "weight")
    lazy, X = (
        dd.from_pandas(frame.drop(columns=["price", "weight"]), npartitions=4),
        frame.drop(columns=["price", "weight"]),
    )
    memory = EasyFS(3, random_state=0).fit(X, frame["price"], frame["weight"])
    y, weight = pl.Series("price", frame["price"].to_numpy()), pl.Series("weight", frame["weight"].to_numpy())
    is_same(EasyFS(3, random_state=0).fit(lazy, y, weight), memory)


@pytest.mark.parametrize("error", [RuntimeError("disk on fire"), ZeroDivisionError(), ValueError("partition key broken")])
def test_whatever_a_partition_raises(error: Exception) -> None:
    def broken(frame: pd.DataFrame, partition_info: Any = None) -> pd.DataFrame:
        if partition_info is not None and partition_info["number"] == 2:
            raise error
        return frame

    lazy = dd.from_pandas(with_only(table(), "price"), npartitions=4)
    lazy = lazy.map_partitions(broken, meta=lazy._meta)
    with pytest.raises(ValueError, match=rf"^partition 2 of X cannot be read \({type(error).__name__}"):
        EasyFS(3).fit(lazy, "price")


def test_flags_that_pandas_has_no_type_for(tmp_path: Path) -> None:
    """Parquet says that they are flags, pandas holds them as objects."""
    frame = pl.from_pandas(with_only(table(), "price")).with_columns(
        pl.when(pl.int_range(FEW) % 7 > 0).then(pl.int_range(FEW) % 2 == 0).alias("flag")
    )
    for i in range(3):
        frame[200 * i : 200 * i + 200].write_parquet(tmp_path / f"{i}.parquet")
    found = EasyFS(4, random_state=0).fit(dd.read_parquet(tmp_path), "price")
    assert next(column.kind for column in found.columns_ if column.name == "flag") == "boolean"
    is_same(EasyFS(4, random_state=0).fit(frame.to_pandas(), "price"), found)


def test_a_chunk_of_another_width() -> None:
    chunks = [da.from_delayed(dask.delayed(np.ones)((50, d)), (50, 4), float) for d in (4, 4, 5)]
    with pytest.raises(ValueError, match=r"^partition 2: it has shape \(50, 5\), but X has 4 columns"):
        EasyFS(2).fit(da.concatenate(chunks), np.arange(150.0))


def test_workers_and_schedulers_without_the_library(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Nowhere:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.split('.')[0] == 'easyfs':\n"
        "            raise ModuleNotFoundError(\"No module named 'easyfs'\")\n"
        "sys.meta_path.insert(0, Nowhere())\n"
    )
    bare = {**os.environ, "PYTHONPATH": str(tmp_path)}
    start = [sys.executable, "-m"]
    address = tmp_path / "scheduler.json"
    here = ["--scheduler-file", str(address), "--no-dashboard"]
    lazy = dd.from_pandas(with_only(table(), "price"), npartitions=2)
    for lacking in ("worker", "scheduler"):
        environments = {place: bare if place == lacking else dict(os.environ) for place in ("scheduler", "worker")}
        running = []
        try:
            scheduler = [*start, "distributed.cli.dask_scheduler", *here, "--host", "127.0.0.1", "--port", "0"]
            running.append(subprocess.Popen(scheduler, env=environments["scheduler"], stderr=subprocess.DEVNULL))
            worker = [*start, "distributed.cli.dask_worker", *here, "--nthreads", "1", "--local-directory", str(tmp_path)]
            running.append(subprocess.Popen(worker, env=environments["worker"], stderr=subprocess.DEVNULL))
            with Client(scheduler_file=str(address), timeout="300s") as client:
                client.wait_for_workers(1, timeout=300)
                with pytest.raises(
                    ImportError, match=r"of the Dask cluster has no easyfs-ml .* on the scheduler and on each"
                ):
                    EasyFS(2).fit(lazy, "price")
        finally:
            for process in reversed(running):
                process.terminate()
                process.wait()
            address.unlink(missing_ok=True)
