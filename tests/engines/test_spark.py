"""Tables of Spark: the same answer as in memory, however they are cut; and EasyFS as a stage of Spark's own pipelines."""

from __future__ import annotations

import functools
import itertools
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from easyfs import EasyFS, EasyFSRanking, load_selection
from easyfs.engines import spark as engine
from easyfs.engines.opening import open_parts
from easyfs.engines.parts import Summing
from easyfs.engines.sampling import Held, Scanned
from easyfs.engines.spark import taken
from easyfs.tables.naming import Roles
from easyfs.tables.target import Target

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
        "spark.sql.unionOutputPartitioning": "false",  # else a union of single partitions is one
        "spark.sql.adaptive.enabled": "false",
        # Short jobs on small tables are not worth compiling for.
        "spark.sql.codegen.wholeStage": "false",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
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
    return union(spark, [table.slice(start, stop - start) for start, stop in itertools.pairwise(cuts.tolist())])


def union(spark: Any, pieces: list[Any]) -> Any:
    """Tables below each other, a partition each."""
    frames = [spark.createDataFrame(piece).coalesce(1) for piece in pieces]
    frame = functools.reduce(lambda one, other: one.union(other), frames)
    assert frame.rdd.getNumPartitions() == len(pieces)
    return frame


X_COLUMNS = [f"x{j}" for j in range(10)]


@pytest.mark.parametrize(
    ("n", "n_parts", "selector", "target", "weight", "columns"),
    [
        (300, 1, EasyFS(4, random_state=0), "label", None, X_COLUMNS),
        (300, 2, EasyFS(4, random_state=0), None, None, X_COLUMNS),
        (300, 5, EasyFS(random_state=1), "word", "w", [*X_COLUMNS, "city"]),
        (25_000, 1, EasyFS(4, random_state=0), "label", None, X_COLUMNS),
        (25_000, 2, EasyFS(4, random_state=0), "value", None, [*X_COLUMNS, "city"]),
        (25_000, 5, EasyFS(random_state=1), "word", "w", [*X_COLUMNS, "city"]),
        (25_000, 5, EasyFSRanking(4, random_state=0), "label", "w", X_COLUMNS),
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


@pytest.fixture(scope="module")
def small(spark: Any) -> Any:
    """Sixty rows in three partitions, whose answer most tests below look at, and the same rows in memory."""
    table = rows(60).select([*X_COLUMNS, "label"])
    filled = pa.table({name: table[name].fill_null(0.0) for name in table.column_names})
    return in_parts(spark, filled, 3).cache(), filled


@pytest.fixture(scope="module")
def assembled(small: Any) -> Any:
    from pyspark.ml.feature import VectorAssembler

    return VectorAssembler(inputCols=X_COLUMNS, outputCol="features").transform(small[0]).cache()


def chosen_in_memory(table: Any, k: int = 3, **parameters: Any) -> EasyFS:
    return EasyFS(k, random_state=0, **parameters).fit(table.select(X_COLUMNS), table["label"])


def row_numbers(table: Any) -> list[int]:
    """Numbers of all rows, as they are added up; the function is one that workers get by value."""
    parted = table if isinstance(table, engine.SparkTable) else engine.SparkTable(table, Roles())
    found: list[int] = parted.reduce(lambda part: list(range(part.first, part.first + part.X.num_rows)))
    return found


class TestTable:
    def test_transform_is_a_table_of_spark_that_is_not_read(self, small: Any) -> None:
        frame, table = small
        selector = EasyFS(3, random_state=0).fit(frame, "label")
        context = frame.sparkSession.sparkContext
        context.setJobGroup("transform", "")
        taken = selector.transform(frame)
        assert len(context.statusTracker().getJobIdsForGroup("transform")) == 0
        assert taken.count() == len(table)
        assert len(context.statusTracker().getJobIdsForGroup("transform")) > 0
        context.setJobGroup("fit", "")
        assert selector.transform(frame).columns == chosen_in_memory(table).get_feature_names_out().tolist()
        with pytest.raises(ValueError, match="does not have the selected column"):
            selector.transform(frame.select("label"))

    def test_two_levels_of_sums(self, spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        table, seen = rows(400), []
        collected = engine._collected

        def counted(given: Any) -> list[Any]:
            found = collected(given)
            seen.append(len(found))
            return found

        monkeypatch.setattr(engine, "_collected", counted)
        monkeypatch.setattr(engine, "FEW", 100)
        assert sorted(row_numbers(in_parts(spark, table, 9))) == list(range(400))
        assert seen.pop() == 9  # each partition's sum comes to the driver
        monkeypatch.setattr(engine, "FEW", 2)
        assert sorted(row_numbers(in_parts(spark, table, 9))) == list(range(400))
        assert seen.pop() == 3  # ... or those of groups of them

    def test_a_file_that_is_cut_off(self, spark: Any, tmp_path: Path) -> None:
        for number in range(2):
            pq.write_table(rows(600, number), tmp_path / f"{number}.parquet")
        frame = spark.read.parquet(str(tmp_path))
        broken = tmp_path / "1.parquet"
        broken.write_bytes(broken.read_bytes()[:-500])
        with pytest.raises(Exception, match=r"1\.parquet"):
            EasyFS(2, random_state=0).fit(frame, "label")

    def test_a_vector_is_a_table_with_its_names(self, small: Any, assembled: Any) -> None:
        table = small[1]
        selector = EasyFS(3, random_state=0).fit(assembled.select("features", "label"), "label")
        memory = chosen_in_memory(table)
        assert list(selector.feature_names_in_) == X_COLUMNS
        np.testing.assert_array_equal(selector.order_, memory.order_)
        np.testing.assert_allclose(selector.gains_, memory.gains_)
        taken = selector.transform(assembled.select("features", "label"))
        assert taken.columns == ["features"]
        names = [entry["name"] for entry in taken.schema["features"].metadata["ml_attr"]["attrs"]["numeric"]]
        assert names == memory.get_feature_names_out().tolist()

    def test_sparse_vectors_are_a_sparse_matrix(self, spark: Any) -> None:
        from pyspark.ml.linalg import Vectors

        rng = np.random.default_rng(0)
        X = sparse.random_array((80, 40), density=0.05, rng=rng, format="csr")
        y = (np.asarray(X[:, [3]].toarray()).ravel() + np.asarray(X[:, [7]].toarray()).ravel() > 0).astype(int)
        entries = [
            (Vectors.sparse(40, X.indices[a:b].tolist(), X.data[a:b].tolist()), int(label))
            for (a, b), label in zip(itertools.pairwise(X.indptr), y, strict=True)
        ]
        entries[5] = (Vectors.dense(X[[5]].toarray().ravel()), entries[5][1])
        frame = spark.createDataFrame(entries, ["features", "label"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            memory = EasyFS(3, random_state=0).fit(X, y)
            selector = EasyFS(3, random_state=0).fit(frame, "label")
        np.testing.assert_array_equal(selector.order_, memory.order_)
        np.testing.assert_allclose(selector.gains_, memory.gains_)
        first = selector.transform(frame).first()["features"]
        np.testing.assert_array_equal(first.toArray(), X[[0]].toarray()[0, selector.get_support(indices=True)])

    def test_vectors_without_names_are_numbered(self, spark: Any) -> None:
        from pyspark.ml.linalg import Vectors

        frame = spark.createDataFrame([(Vectors.dense([1.0, 2.0 * j, j % 3]), j % 2) for j in range(12)], ["v", "y"])
        table = open_parts(frame, "y")
        assert table is not None
        assert table.names == ["v", "y", "v[0]", "v[1]", "v[2]"]
        assert set(table.reduce(lambda part: part.X.column_names)) == {"v[0]", "v[1]", "v[2]"}

    def test_names_that_spark_would_look_into(self, spark: Any) -> None:
        table = rows(200).select([*X_COLUMNS, "label"])
        odd = ["a.b", "a`b", "a b", "`", 'x"', "X0", "x0", "ü.", "0.5", ".", "label"]
        renamed = table.rename_columns(odd)
        memory = EasyFS(3, random_state=0).fit(table.select(X_COLUMNS), table["label"])
        frame = in_parts(spark, table, 3).toDF(*odd)
        selector = EasyFS(3, random_state=0).fit(frame, "label")
        np.testing.assert_array_equal(selector.order_, memory.order_)
        assert list(selector.feature_names_in_) == renamed.column_names[:-1]
        assert selector.transform(frame).columns == selector.get_feature_names_out().tolist()

    def test_columns_that_spark_does_not_send(self, spark: Any) -> None:
        frame = spark.sql("SELECT id + 0.0 AS x, id % 2 AS y, make_ym_interval(1, 2) AS months FROM range(50)")
        stream = spark.readStream.format("rate").load()
        with pytest.raises(ValueError, match="X is a stream, which has no end"):
            EasyFS(1).fit(stream, "value")
        with pytest.raises(ValueError, match=r"column 'months' of X holds interval year to month, .* or leave it out"):
            EasyFS(1).fit(frame, "y")


class TestFaults:
    def test_a_column_that_is_missing_in_one_partition_and_an_empty_partition(self, spark: Any) -> None:
        table = rows(300).select([*X_COLUMNS, "label"])
        gone = pa.array([None if i < 100 else value for i, value in enumerate(table["x2"].to_pylist())], pa.float64())
        table = table.set_column(2, "x2", gone)
        pieces = [table.slice(0, 100), table.slice(0, 1), table.slice(100)]
        frame = union(spark, pieces).where("spark_partition_id() <> 1")
        selector, memory = EasyFS(3, random_state=0).fit(frame, "label"), chosen_in_memory(table)
        np.testing.assert_array_equal(selector.order_, memory.order_)
        np.testing.assert_allclose(selector.gains_, memory.gains_)

    def test_a_class_of_the_last_partition_only(self, spark: Any) -> None:
        table = rows(300).select([*X_COLUMNS, "label"]).sort_by("label")
        selector, memory = EasyFS(3, random_state=0).fit(in_parts(spark, table, 4), "label"), chosen_in_memory(table)
        assert selector.classes_.tolist() == [0.0, 1.0, 2.0]
        np.testing.assert_array_equal(selector.order_, memory.order_)
        np.testing.assert_allclose(selector.gains_, memory.gains_)

    def test_names_that_are_not_there(self, small: Any) -> None:
        with pytest.raises(ValueError, match=r"y='lable' names a column that X does not have. Did you mean 'label'"):
            EasyFS(3).fit(small[0], "lable")
        with pytest.raises(TypeError, match="X is a Spark table, so y must be the name of one of its columns"):
            EasyFS(3).fit(small[0], np.arange(60))

    def test_a_table_without_rows(self, small: Any) -> None:
        with pytest.raises(ValueError, match="the table has no rows"):
            EasyFS(3).fit(small[0].limit(0), "label")

    def test_a_label_that_is_missing(self, spark: Any) -> None:
        table = rows(90).select(["x0", "x1", "word"])
        words = [None if i == 71 else word for i, word in enumerate(table["word"].to_pylist())]
        frame = in_parts(spark, table.set_column(2, "word", pa.array(words)), 3)
        with pytest.raises(ValueError, match=r"^partition 2: Input y contains NaN in 1 row \(the first is row 71\)"):
            EasyFS(1).fit(frame, "word")

    def test_another_version_on_the_workers(self, small: Any) -> None:
        selector = EasyFS(3, random_state=0)
        plan = selector.draw_plan(small[1].select(X_COLUMNS), small[1]["label"])
        other = Summing(plan, None, Target("classification", "classes", None), "0.0.0")
        table = open_parts(small[0], "label")
        assert table is not None
        with pytest.raises(RuntimeError, match=r"partition 0: EasyFS .* runs there, but 0.0.0 where fit was called"):
            table.reduce(other)

    def test_a_vector_beside_other_columns(self, assembled: Any) -> None:
        with pytest.raises(ValueError, match="column 'features' holds vectors, so it must be the only column"):
            EasyFS(3).fit(assembled, "label")

    def test_vectors_of_several_lengths_and_none(self, spark: Any) -> None:
        from pyspark.ml.linalg import Vectors

        entries = [(Vectors.dense([1.0, 2.0]), 0), (Vectors.dense([1.0]), 1)]
        with pytest.raises(ValueError, match="the vectors of column 'v' have from 1 to 2 entries"):
            EasyFS(1).fit(spark.createDataFrame(entries, ["v", "y"]), "y")
        entries = [(Vectors.dense([1.0, 2.0]), 0), (Vectors.dense([2.0, 1.0]), 1), (None, 1)]
        with pytest.raises(ValueError, match=r"row 2 has no vector of 2 entries in column 'v'"):
            EasyFS(1).fit(spark.createDataFrame(entries, ["v", "y"]).coalesce(1), "y")

    def test_a_table_that_changes(self, small: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        table = open_parts(small[0], "label")
        assert isinstance(table, engine.SparkTable)
        wrong = [{"number": 0, "n_rows": 3, "narrowest": None, "widest": None, "stored": 0}]
        table.__dict__["_counted"] = wrong
        assert row_numbers(table) == list(range(60))  # counted again, with all columns
        monkeypatch.setattr(engine.SparkTable, "_count", lambda self, vector, whole=False: wrong)
        with pytest.raises(ValueError, match="not the same each time it is read: partition 0 had 3 rows, and then 20"):
            row_numbers(small[0])


class TestStage:
    def test_in_a_pipeline_written_and_read(self, small: Any, tmp_path: Path) -> None:
        from pyspark.ml import Pipeline, PipelineModel
        from pyspark.ml.classification import LogisticRegression
        from pyspark.ml.feature import VectorAssembler

        from easyfs.spark import SparkEasyFS, SparkEasyFSModel

        frame, table = small
        memory = chosen_in_memory(table)
        stages = [
            VectorAssembler(inputCols=X_COLUMNS, outputCol="features"),
            SparkEasyFS(n_features_to_select=3, random_state=0, clip=4.0),
            LogisticRegression(featuresCol="selected", maxIter=2),
        ]
        fitted = Pipeline(stages=stages).fit(frame)
        model = fitted.stages[1]
        assert isinstance(model, SparkEasyFSModel)
        assert model.names == memory.get_feature_names_out().tolist()
        assert model.order == memory.order_.tolist()
        assert model.selector is not None
        np.testing.assert_allclose(model.gains, memory.gains_)
        out = fitted.transform(frame)
        attributes = out.schema["selected"].metadata["ml_attr"]["attrs"]["numeric"]
        assert [entry["name"] for entry in attributes] == model.names
        first = table.slice(0, 1).to_pylist()[0]
        np.testing.assert_allclose(out.first()["selected"].toArray(), [first[name] for name in model.names])

        fitted.save(str(tmp_path / "fitted"))
        read = PipelineModel.load(str(tmp_path / "fitted"))
        again = read.stages[1]
        assert (again.uid, again.names, again.indices, again.gains) == (model.uid, model.names, model.indices, model.gains)
        assert again.selector is None
        assert again.getOrDefault("n_features_to_select") == 3
        assert again.transform(out.drop("selected")).schema["selected"] == out.schema["selected"]

    def test_a_list_of_columns(self, spark: Any) -> None:
        from easyfs.spark import SparkEasyFS

        table = rows(200).select([*X_COLUMNS, "city", "value", "w"])
        frame = in_parts(spark, table, 2)
        columns = [*X_COLUMNS, "city"]
        stage = SparkEasyFS(input_cols=columns, label_col="value", weight_col="w", n_features_to_select=2, random_state=0)
        memory = EasyFS(2, random_state=0).fit(table.select(columns), table["value"], table["w"].to_numpy())
        model = stage.fit(frame)
        assert model.names == memory.get_feature_names_out().tolist()
        assert model.transform(frame).columns == [*model.names, "value", "w"]
        stage.setParams(output_col="chosen", exclude=["city"])
        model = stage.fit(frame)
        out = model.transform(frame)
        assert out.columns == [*model.names, "value", "w", "chosen"]
        assert out.schema["chosen"].metadata["ml_attr"]["num_attrs"] == 2

    def test_without_a_target_and_in_place_of_the_vectors(self, assembled: Any, small: Any, tmp_path: Path) -> None:
        from easyfs.spark import SparkEasyFS

        stage = SparkEasyFS(label_col=None, output_col="features", n_features_to_select=2, clip=None, random_state=0)
        stage.save(str(tmp_path / "stage"))
        stage = SparkEasyFS.load(str(tmp_path / "stage"))
        model = stage.fit(assembled)
        memory = EasyFS(2, clip=None, random_state=0).fit(small[1].select(X_COLUMNS))
        assert model.indices == memory.get_support(indices=True).tolist()
        out = model.transform(assembled)
        assert out.columns == assembled.columns
        assert len(out.first()["features"]) == 2

    def test_a_mapping_by_place_is_one_after_it_was_read(self, spark: Any, tmp_path: Path) -> None:
        from easyfs.spark import SparkEasyFS, SparkEasyFSModel

        table = rows(60).select([*X_COLUMNS, "label"]).rename_columns([*map(str, range(9, -1, -1)), "label"])
        names = table.column_names[:-1]
        stage = SparkEasyFS(input_cols=names, costs={0: 1e6, 9: 1e6}, exclude={"5"}, n_features_to_select=3, random_state=0)
        stage.save(str(tmp_path / "stage"))
        read = SparkEasyFS.load(str(tmp_path / "stage"))
        assert read.getOrDefault("costs") == {0: 1e6, 9: 1e6}
        assert (read.uid, read.extractParamMap()) == (stage.uid, stage.extractParamMap())
        frame = in_parts(spark, table, 2)
        assert read.fit(frame).names == stage.fit(frame).names
        with pytest.raises(ValueError, match=r"holds a SparkEasyFS, not a SparkEasyFSModel; read it with SparkEasyFS.load"):
            SparkEasyFSModel.load(str(tmp_path / "stage"))
        stage.setParams(random_state=np.random.RandomState(0))
        with pytest.raises(ValueError, match=r"random_state=RandomState.* cannot be saved .*; give plain values"):
            stage.save(str(tmp_path / "other"))

    def test_vectors_of_other_columns(self, assembled: Any, small: Any) -> None:
        from pyspark.ml.feature import VectorAssembler

        from easyfs.spark import SparkEasyFS

        model = SparkEasyFS(n_features_to_select=3, random_state=0).fit(assembled)
        for columns, what in (
            (X_COLUMNS[::-1], r"entry \d of .* was 'x\d' when .*, and is 'x\d' now"),
            (X_COLUMNS[:1], "have 1 entries"),
        ):
            other = VectorAssembler(inputCols=columns, outputCol="features").transform(small[0])
            with pytest.raises(ValueError, match=what):
                model.transform(other)
        with pytest.raises(ValueError, match="has a column 'label' already; give another output_col"):
            model.copy({model.outputCol: "label"}).transform(assembled)

    def test_names_that_spark_would_look_into(self, spark: Any) -> None:
        from pyspark.ml.feature import VectorAssembler

        from easyfs.spark import SparkEasyFS

        table = rows(60).select([*X_COLUMNS, "label"])
        odd = ["a.b", "a`b", "a b", "X0", "x0", "0.5", "c1", "c0", ".", "made", "label"]
        frame = in_parts(spark, pa.table({n: table[n].fill_null(0.0) for n in table.column_names}), 2).toDF(*odd)
        stage = SparkEasyFS(input_cols=odd[:-1], output_col="v.of", n_features_to_select=3, random_state=0)
        model = stage.fit(frame)
        out = model.transform(frame)
        assert out.columns == [*model.names, "label", "v.of"]
        kept = out.schema["v.of"].metadata["ml_attr"]["attrs"]["numeric"]
        assert [entry["name"] for entry in kept] == model.names
        first = out.first().asDict()
        np.testing.assert_allclose(first["v.of"].toArray(), [first[name] for name in model.names])
        plain = [name for name in odd[:-1] if name.isalnum() and name != "X0"]
        vectors = VectorAssembler(inputCols=plain, outputCol="f").transform(taken(frame, [*plain, "label"]))
        vectors = taken(vectors, ["f", "label"]).toDF("f.t", "label")
        fitted = SparkEasyFS(features_col="f.t", n_features_to_select=2, random_state=0).fit(vectors)
        assert len(fitted.transform(vectors).first()["selected"]) == 2
        selector = EasyFS(2, random_state=0).fit(vectors, "label")
        assert len(selector.transform(vectors).first()["f.t"]) == 2

    def test_faults(self, assembled: Any) -> None:
        from easyfs.spark import SparkEasyFS

        with pytest.raises(ValueError, match="input_cols is empty; name the columns to select from"):
            SparkEasyFS(input_cols=[]).fit(assembled)

        with pytest.raises(TypeError, match=r"no parameter 'n_hiden'. Did you mean 'n_hidden'"):
            SparkEasyFS(n_hiden=3)
        with pytest.raises(ValueError, match="features_col and input_cols are both given"):
            SparkEasyFS(features_col="features", input_cols=["x0"])
        with pytest.raises(ValueError, match=r"the table has no column 'feature'. Did you mean 'features'"):
            SparkEasyFS(features_col="feature").fit(assembled)
        with pytest.raises(ValueError, match=r"y='lable' names a column that X does not have. Did you mean 'label'"):
            SparkEasyFS(label_col="lable").fit(assembled.select("features", "label"))


def test_batches_are_cut_by_size_alone() -> None:
    table = pa.table({"a": np.arange(25)})
    for size in (1, 4, 10, 30):
        batches = pa.Table.from_batches(table.to_batches(max_chunksize=7)).to_batches()
        cut = list(engine._of_size(batches, size))
        assert [piece.num_rows for piece in cut[:-1]] == [size] * (len(cut) - 1)
        assert pa.concat_tables(cut).equals(table)


def test_what_is_added_up_can_be_sent() -> None:
    empty = Scanned(0, {}, np.zeros(0), np.zeros(0), np.zeros(0), Held([(np.zeros((0, 2)), None)]), None, None, {})
    rows_of = [engine._row({"place": 1, "number": n, "found": engine.pickle.dumps(empty, 5)}, engine.ADDED) for n in (5, 3)]
    (added,) = engine.add_up(rows_of)
    assert added.to_pylist()[0]["number"] == 3


def test_a_saved_selection_is_taken_from_a_table_of_spark(spark: Any, tmp_path: Path) -> None:
    table = rows(300)
    selector = EasyFS(3, include=["x2", "city"], random_state=0).fit(table.drop_columns(["label", "word", "w"]), "value")
    chosen = load_selection(selector.save_selection(tmp_path / "selection.json"))
    frame = in_parts(spark, table, 2)
    taken = chosen.transform(frame.select(*reversed(frame.columns)))
    assert type(taken).__name__ == "DataFrame"
    assert taken.columns == chosen.columns
    assert taken.count() == 300
    with pytest.raises(ValueError, match="does not have the selected column 'city'"):
        chosen.transform(frame.drop("city"))
    with pytest.raises(ValueError, match="column 'x2' holds text, but it held numbers"):
        chosen.transform(frame.withColumn("x2", frame["city"]))


def test_steps_are_told(spark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    EasyFS(2, interactions=False, random_state=0, verbose=2).fit(
        in_parts(spark, rows(200).select(["x0", "x2", "value"]), 2), "value"
    )
    told = [line.split()[1].rstrip(":") for line in capsys.readouterr().out.splitlines() if line.startswith("[EasyFS] ")]
    assert told[:5] == ["reading", "plan", "sums", "search", "chosen"]
