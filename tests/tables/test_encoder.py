"""Tables of mixed columns: into numbers, through a selector, and back."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline

from easyfs import EasyFS, available_selectors, make_selector
from easyfs.evaluation import compare, stability_selection
from easyfs.tables.encoder import MISSING, OTHER, TableEncoder, read_table

N = 300
LIBRARIES = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}
every_library = pytest.mark.parametrize("library", LIBRARIES)
pytestmark = pytest.mark.filterwarnings("ignore:.*set aside:UserWarning")


def mixed(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table with a number, a category and a date that matter, and much that does not."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "row": np.arange(N),
            "x": rng.normal(size=N),
            "noise": rng.normal(size=N),
            "city": rng.choice(["Rome", "Paris", "Oslo", None], N),
            "when": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 700, N), unit="D"),
            "remark": [f"a remark of its own, {i}" for i in range(N)],
            "flag": rng.choice(["yes", "no"], N),
            "const": "k",
        }
    )
    y = frame["x"] + 2.0 * (frame["city"] == "Rome") + frame["when"].dt.month / 4 + 0.2 * rng.normal(size=N)
    return frame, y.to_numpy()


class TestEncoder:
    def test_a_category_becomes_an_indicator_for_each_value(self) -> None:
        frame = pd.DataFrame({"c": ["a", "b", "c", "a", "b", "a"]})
        encoder, matrix = TableEncoder.learn(frame)
        assert encoder.columns[0].parts == ("a", "b", "c")  # most frequent first
        assert encoder.names == ["c = a", "c = b", "c = c"]
        expected = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0]]
        np.testing.assert_array_equal(matrix, expected)

    def test_two_values_are_one_column(self) -> None:
        assert TableEncoder.learn(pd.DataFrame({"c": ["a", "b"] * 4}))[1].shape == (8, 1)

    def test_missing_is_a_value_of_its_own(self) -> None:
        encoder, matrix = TableEncoder.learn(pd.DataFrame({"c": ["a", "b", None, "a", None, "b"]}))
        assert encoder.columns[0].parts == ("a", "b", MISSING)
        np.testing.assert_array_equal(matrix.sum(axis=1), np.ones(6))
        np.testing.assert_array_equal(matrix[:, 2], [0, 0, 1, 0, 1, 0])

    def test_rare_values_share_an_indicator(self) -> None:
        values = [f"v{i // 4}" for i in range(160)]  # 40 values
        encoder, matrix = TableEncoder.learn(pd.DataFrame({"c": values}))
        assert len(encoder.columns[0].parts) == 31
        assert encoder.columns[0].parts[-1] == OTHER
        np.testing.assert_array_equal(matrix.sum(axis=1), np.ones(160))
        assert matrix[:, -1].sum() == 40

    def test_parts_of_dates_against_pandas(self) -> None:
        times = pd.Series(pd.date_range("1968-02-27 05:00", periods=200, freq="31h"))
        encoder, matrix = TableEncoder.learn(pd.DataFrame({"t": times}))
        assert encoder.columns[0].parts == ("days", "month", "day of month", "weekday", "hour")
        days = (times - times.min()) / pd.Timedelta("1D")
        expected = np.stack([days, times.dt.month, times.dt.day, times.dt.day_of_week, times.dt.hour], axis=1)
        np.testing.assert_allclose(matrix, expected, atol=1e-9)

    def test_parts_that_do_not_vary_are_left_out(self) -> None:
        times = pd.date_range("2024-05-01", periods=10, freq="D")
        assert TableEncoder.learn(pd.DataFrame({"t": times}))[0].columns[0].parts == ("days", "day of month", "weekday")

    def test_missing_dates_are_missing(self) -> None:
        times = pd.Series(pd.date_range("2024-05-01", periods=10, freq="D"))
        times[3] = pd.NaT
        matrix = TableEncoder.learn(pd.DataFrame({"t": times}))[1]
        assert np.isnan(matrix[3]).all()
        assert not np.isnan(np.delete(matrix, 3, axis=0)).any()

    @every_library
    def test_the_same_from_every_library(self, library: str) -> None:
        frame, _ = mixed()
        _, expected = TableEncoder.learn(frame)
        encoder, matrix = TableEncoder.learn(LIBRARIES[library](frame))
        np.testing.assert_array_equal(matrix, expected)
        np.testing.assert_array_equal(encoder.aside, [True, False, False, False, False, True, False, True])

    def test_another_table_goes_the_same_way(self) -> None:
        frame = pd.DataFrame({"c": ["a", "b", "c"] * 4, "x": np.arange(12) / 7})
        encoder, _ = TableEncoder.learn(frame)
        later = encoder.transform(pd.DataFrame({"c": ["b", "new", None], "x": [1, 2, 3]}))
        np.testing.assert_array_equal(later[0, :3], [0, 1, 0])
        np.testing.assert_array_equal(later[1, :3], [0, 0, 0])  # a value that was not there before
        assert np.isnan(later[2, :3]).all()  # nothing was missing before: the mean
        with pytest.raises(ValueError, match="'x' held numbers when it was first seen, but holds text now"):
            encoder.transform(pd.DataFrame({"c": ["a", "b"], "x": ["much", "little"]}))

    def test_numbers_alone_need_no_encoding(self) -> None:
        frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc"))
        encoder, matrix = read_table(frame)
        assert encoder is None
        np.testing.assert_array_equal(matrix, frame.to_numpy())

    @every_library
    def test_a_row_number_among_numbers_is_found(self, library: str) -> None:
        frame = pd.DataFrame({"a": np.random.default_rng(0).normal(size=60), "n": np.arange(60)})
        encoder, matrix = read_table(LIBRARIES[library](frame))
        assert encoder is not None
        assert encoder.aside.tolist() == [False, True]
        assert matrix.shape == (60, 1)
        assert read_table(LIBRARIES[library](frame), keep=[1])[0] is None

    def test_float32_stays(self) -> None:
        frame = pd.DataFrame({"x": np.arange(8, dtype=np.float32) / 3, "c": ["a", "b"] * 4})
        assert TableEncoder.learn(frame)[1].dtype == np.float32

    def test_infinity_names_the_users_column(self) -> None:
        frame, y = mixed()
        frame.loc[3, "noise"] = np.inf
        with pytest.raises(ValueError, match="infinity: column 'noise'"):
            EasyFS(2).fit(frame, y)


@every_library
class TestSelector:
    def test_what_matters_is_found_and_comes_back_as_it_was(self, library: str) -> None:
        frame, y = mixed()
        table = LIBRARIES[library](frame)
        selector = EasyFS(3, random_state=0).fit(table, y)
        assert set(selector.get_feature_names_out()) == {"x", "city", "when"}
        chosen = selector.transform(table)
        assert type(chosen) is type(table)
        back = chosen if library == "pandas" else chosen.to_pandas()
        assert list(back) == ["x", "city", "when"]
        assert back["city"].isna().sum() == frame["city"].isna().sum()
        assert back["when"].tolist() == frame["when"].tolist()

    def test_auto_takes_what_matters(self, library: str) -> None:
        frame, y = mixed()
        assert set(EasyFS(random_state=0).fit(LIBRARIES[library](frame), y).get_feature_names_out()) == {
            "x",
            "city",
            "when",
        }


class TestAttributes:
    def test_one_entry_for_each_of_the_users_columns(self) -> None:
        frame, y = mixed()
        selector = EasyFS(3, random_state=0).fit(frame, y)
        d = frame.shape[1]
        assert selector.n_features_in_ == d
        assert sorted(selector.order_) == list(range(d))
        assert len(selector.gains_) == selector.n_features_ == 3
        np.testing.assert_allclose(selector.scores_[selector.order_[:3]], selector.gains_)
        for values in (
            selector.scores_,
            selector.redundancy_,
            selector.relevance_,
            selector.ranking_,
            selector.get_support(),
        ):
            assert len(values) == d
        assert selector._selected().coded.shape == (3, d)
        aside = [list(frame).index(name) for name in ("row", "remark", "const")]
        assert np.isneginf(selector.scores_[aside]).all()
        assert set(selector.order_[-3:]) == set(aside)

    def test_kinds_and_missing_values(self) -> None:
        frame, y = mixed()
        frame.loc[:9, "x"] = np.nan
        for method in ("easyfs", "pearson"):
            columns = {c.name: c for c in make_selector(method, 3).fit(frame, y).columns_}
            assert columns["x"].n_missing == 10
            assert columns["city"].n_missing == frame["city"].isna().sum()
            assert columns["row"].kind == "identifier"
            assert columns["const"].kind == "constant"

    def test_arrays_have_columns_too(self) -> None:
        X = np.random.default_rng(0).normal(size=(50, 4))
        X[:, 2] = 1.0
        X[:5, 0] = np.nan
        selector = EasyFS(2, random_state=0).fit(X, X[:, 1])
        assert [(c.name, c.kind, c.n_missing) for c in selector.columns_] == [
            ("x0", "numeric", 5),
            ("x1", "numeric", 0),
            ("x2", "constant", 0),
            ("x3", "numeric", 0),
        ]
        assert (selector.n_rows_, selector.target_.task) == (50, "regression")

    def test_redundancy_of_a_category_does_not_count_its_own_parts(self) -> None:
        frame, y = mixed()
        frame["copy"] = frame["city"]
        selector = EasyFS(3, random_state=0).fit(frame, y)
        found = dict(zip(frame, selector.redundancy_, strict=True))
        assert found["city"] < 0.1  # its indicators add up to one another
        assert found["copy"] == pytest.approx(1.0, abs=1e-3)

    def test_the_same_as_encoded_by_hand_with_groups(self) -> None:
        frame, y = mixed()
        encoder, matrix = TableEncoder.learn(frame)
        for method in ("easyfs", "pearson", "random_forest"):
            whole = make_selector(method, 4, **({} if method == "pearson" else {"random_state": 0})).fit(frame, y)
            by_hand = make_selector(method, **whole.get_params() | {"feature_groups": encoder.source.tolist()}).fit(
                matrix, y
            )
            assert set(whole.order_[:4]) == set(encoder.source[by_hand.get_support()])

    def test_truncate(self) -> None:
        frame, y = mixed()
        selector = EasyFS(4, random_state=0).fit(frame, y)
        shorter = selector.truncate(2)
        np.testing.assert_array_equal(shorter.order_, selector.order_)
        assert shorter.n_features_ == len(shorter.gains_) == 2
        np.testing.assert_allclose(shorter.gains_, selector.gains_[:2])

    def test_include_exclude_and_groups_are_of_the_users_columns(self) -> None:
        frame, y = mixed()
        selector = EasyFS(2, include=["row"], exclude=["city"], random_state=0).fit(frame, y)
        assert selector.order_[0] == 0
        assert "city" not in selector.get_feature_names_out()
        groups = ["a", "b", "b", "b", "c", "d", "e", "f"]
        chosen = EasyFS(1, feature_groups=groups, random_state=0).fit(frame, y).get_feature_names_out()
        assert set(chosen) == {"x", "noise", "city"}

    @pytest.mark.parametrize("info", available_selectors("regression"), ids=lambda info: info.name)
    def test_every_method_takes_such_a_table(self, info: Any) -> None:
        frame, y = mixed()
        quick = {"lassonet": {"max_iter": (5, 2)}, "stg": {"max_iter": 5}, "spfsr": {"max_iter": 5}}
        selector = make_selector(info.name, 3, **quick.get(info.name, {})).fit(frame, y)
        assert selector.n_features_ == 3
        assert not {"row", "remark", "const"} & set(selector.get_feature_names_out())


def flags(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table in which nothing but what is missing in one column tells the target."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    noise = {f"n{j}": rng.normal(size=n) for j in range(3)}
    return pd.DataFrame({**noise, "flag": np.where(y == 1, "yes", None), "blank": None, "same": "x"}), y


class TestFlags:
    @pytest.mark.parametrize(
        "form",
        [
            lambda c: c,
            lambda c: c.astype("category"),
            lambda c: pd.Series(pd.Categorical(c, categories=["yes", "no"], ordered=True)),
            lambda c: c.map({"yes": True}),
            lambda c: c.map({"yes": True}).astype("boolean"),
            lambda c: c.map({"yes": 1.0}).astype(float),
            lambda c: c.map({"yes": 1}).astype("Int8"),
            lambda c: c.map({"yes": "7"}),
            lambda c: c.fillna("n/a"),
        ],
        ids=["text", "category", "ordered", "objects", "boolean", "floats", "integers", "digits", "words"],
    )
    @every_library
    def test_a_mark_that_is_not_always_there_is_used(self, form: Any, library: str) -> None:
        frame, y = flags()
        frame["flag"] = form(frame["flag"])
        table = LIBRARIES[library](frame)
        selector = EasyFS(1, random_state=0).fit(table, y)
        assert list(selector.get_feature_names_out()) == ["flag"]
        found = {column.name: column for column in selector.columns_}
        assert found["flag"].used_as == "indicators"
        assert found["flag"].n_missing == (y == 0).sum()
        assert found["flag"].parts == (MISSING,)
        assert (found["same"].kind, found["blank"].kind) == ("constant", "constant")
        np.testing.assert_array_equal(selector._encoder.transform(table)[:, 3], y == 0)

    @pytest.mark.parametrize("form", [lambda c: c, lambda c: c.astype("boolean"), lambda c: c.astype(float)])
    def test_in_a_table_of_numbers_alone(self, form: Any) -> None:
        frame, y = flags()
        frame = frame[["n0", "n1", "n2"]].assign(flag=form(frame["flag"].map({"yes": True})))
        for table in (frame, pl.from_pandas(frame)):
            selector = EasyFS(1, random_state=0).fit(table, y)
            assert list(selector.get_feature_names_out()) == ["flag"]
            assert make_selector("pearson", 1).fit(table, y).order_[0] == 3
        as_array = frame.assign(flag=frame["flag"].astype(float)).to_numpy()
        plain = EasyFS(1, random_state=0).fit(as_array, y)  # an array is numbers, and its missing values are the mean
        assert plain.columns_[3].kind == "constant"
        assert plain.columns_[3].n_missing == (y == 0).sum()

    def test_a_mark_beside_one_that_comes_late(self) -> None:
        frame = pd.DataFrame({"x": np.arange(200) / 7, "late": [np.nan] * 100 + [2.0] * 100, "whole": [2.0] * 200})
        encoder, matrix = read_table(frame)
        assert encoder is not None
        np.testing.assert_array_equal(matrix[:, 1], np.isnan(frame["late"]))
        assert [column.used_as for column in encoder.columns] == ["number", "indicators", "number"]
        frame.loc[150, "late"] = 3.0  # two values: numbers
        assert read_table(frame)[0] is None

    def test_another_table_and_other_values(self) -> None:
        frame, _ = flags()
        encoder, _ = TableEncoder.learn(frame[["n0", "flag"]])
        later = encoder.transform(pd.DataFrame({"n0": [0.0] * 4, "flag": ["no", None, "yes", ""]}))
        np.testing.assert_array_equal(later[:, 1], [0, 1, 0, 1])
        numbers, _ = TableEncoder.learn(pd.DataFrame({"a": [1.0, 2.0] * 9, "t": ["x", "y"] * 9, "b": ["1", "2.5"] * 9}))
        again = numbers.transform(pd.DataFrame({"a": [1.0, np.nan], "t": ["x", None], "b": ["1", None]}))
        np.testing.assert_array_equal(again, [[1.0, 0.0, 1.0], [np.nan, np.nan, np.nan]])

    def test_a_stream(self) -> None:
        frame, y = flags()
        frame = frame.drop(columns=["blank"])
        stream = EasyFS(1, random_state=0)
        for rows in (slice(0, 80), slice(80, 200)):
            stream.partial_fit(frame[rows], y[rows])
        assert list(stream.get_feature_names_out()) == ["flag"]
        assert stream.columns_[3].n_missing == (y == 0).sum()


class TestMissing:
    """``n_missing`` counts rows: not their weight, and not those of the first block alone."""

    def table(self) -> tuple[pd.DataFrame, np.ndarray]:
        frame, y = mixed()
        rng = np.random.default_rng(5)
        for name in ("x", "when", "flag", "remark"):
            frame.loc[rng.random(N) < 0.3, name] = None
        frame.loc[rng.random(N) < 0.1, "remark"] = "n/a"
        return frame, y

    def expected(self, frame: pd.DataFrame) -> list[int]:
        return frame.replace("n/a", None).isna().sum().tolist()

    @pytest.mark.parametrize("method", ["easyfs", "pearson"])
    def test_weights_do_not_count(self, method: str) -> None:
        frame, y = self.table()
        weight = np.where(frame["x"].isna(), 5.0, 1.0)
        selector = make_selector(method, 3).fit(frame, y, sample_weight=weight)
        assert [column.n_missing for column in selector.columns_] == self.expected(frame)
        X = frame[["x", "noise"]].assign(none=np.nan, one=1.0).to_numpy()
        for array in (X, sparse.csr_array(X)):
            selector = make_selector(method, 1).fit(array, y, sample_weight=weight)
            assert [column.n_missing for column in selector.columns_] == np.isnan(X).sum(axis=0).tolist()

    @every_library
    def test_all_blocks_count(self, library: str) -> None:
        frame, y = self.table()
        stream = EasyFS(3, random_state=0)
        for rows in (slice(0, 150), slice(150, 151), slice(151, N)):
            stream.partial_fit(LIBRARIES[library](frame[rows]), y[rows], sample_weight=np.full(len(y[rows]), 3.0))
        assert [column.n_missing for column in stream.columns_] == self.expected(frame)
        stream.report(None, LIBRARIES[library](frame), y)
        assert [column.n_missing for column in stream.columns_] == self.expected(frame)

    def test_of_merged_streams_of_numbers(self) -> None:
        frame, y = self.table()
        X = frame[["x", "noise"]].to_numpy()
        network = EasyFS(1, random_state=0).draw_plan(X, y)
        parts = [EasyFS(1, random_state=0).partial_fit(X[s], y[s], plan=network) for s in (slice(0, 90), slice(90, N))]
        merged = parts[0].merge(parts[1])
        assert [column.n_missing for column in merged.columns_] == np.isnan(X).sum(axis=0).tolist()


class TestUse:
    def test_what_is_set_aside_is_named_in_a_warning(self) -> None:
        frame, y = mixed()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            EasyFS(2, random_state=0).fit(frame, y)
        texts = [str(warning.message) for warning in caught]
        assert len(texts) == 1
        assert "'row'" in texts[0]
        assert "'remark'" in texts[0]
        assert "const" not in texts[0]
        assert caught[0].filename == __file__

    def test_set_output(self) -> None:
        frame, y = mixed()
        selector = EasyFS(3, random_state=0).fit(frame, y)
        assert isinstance(selector.set_output(transform="polars").transform(frame), pl.DataFrame)
        assert isinstance(selector.set_output(transform="pandas").transform(frame), pd.DataFrame)

    def test_take_gives_numbers_in_their_own_library_too(self) -> None:
        frame = pl.DataFrame({"a": np.random.default_rng(0).normal(size=30), "b": np.arange(30) % 7, "c": [1.0] * 30})
        selector = EasyFS(1, random_state=0).fit(frame, frame["a"].to_numpy())
        taken = selector.take(frame)
        assert isinstance(taken, pl.DataFrame)
        assert taken.columns == ["a"]
        with pytest.raises(TypeError, match="take is for a dataframe"):
            selector.take(frame.to_numpy())

    def test_blocks_of_rows(self) -> None:
        frame, y = mixed()
        whole = EasyFS(3, random_state=0).fit(frame, y)
        stream = EasyFS(3, random_state=0).partial_fit(frame, y)
        assert set(stream.get_feature_names_out()) == set(whole.get_feature_names_out())
        halves = EasyFS(3, random_state=0).partial_fit(frame[:150], y[:150]).partial_fit(frame[150:], y[150:])
        assert set(halves.get_feature_names_out()) == {"x", "city", "when"}
        assert halves.n_rows_ == N
        with pytest.raises(ValueError, match="pass such a table again"):
            halves.partial_fit(frame[["x"]].to_numpy(), y)

    def test_in_a_pipeline(self) -> None:
        frame, y = mixed()
        pipe = make_pipeline(EasyFS(3, random_state=0), EasyFS(2, random_state=0)).fit(frame, y)
        assert set(pipe.transform(frame).columns) < {"x", "city", "when"}

    def test_compare_counts_the_users_columns(self) -> None:
        frame, y = mixed()
        found = compare(["easyfs", "pearson", "all"], frame, y, sizes=[1, 3], repeats=1, folds=3)
        assert not found.failures()
        scores = {place[:2]: run.mean() for place, run in found.values().items() if place[3] == "easyfs"}
        assert scores["data", 3] < 0.5 * scores["data", 1]
        assert found.stability()["nogueira"].notna().all()

    def test_stability_counts_the_users_columns(self) -> None:
        frame, y = mixed()
        found = stability_selection(EasyFS(3, include=["noise"], random_state=0), frame, y, n_runs=6, random_state=0)
        assert len(found.frequency) == frame.shape[1]
        assert found.frequency[2] == pytest.approx(1.0)
        assert found.names == list(frame)
