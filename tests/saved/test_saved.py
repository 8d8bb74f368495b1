"""A selection that was saved takes the same columns from other tables, whatever their library, and says what is wrong."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import duckdb
import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pads
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import easyfs
from easyfs import EasyFS, SavedSelection, TableToNumbers, load_selection
from easyfs.base.saving import as_bytes, content_of, problem_of, schema
from easyfs.tables.holding import HELD


def mixed_table(n: int = 120) -> pd.DataFrame:
    """Numbers, a category, a date, a flag; ``y`` hangs on four of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((n, 4)), columns=["a", 'b "q"', "noise", "d"])
    frame["city"] = rng.choice(["Rome", "Oslo", "Bern"], n)
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    frame["flag"] = rng.random(n) > 0.5
    frame["y"] = frame["a"] + frame['b "q"'] + 2 * (frame["city"] == "Rome") + frame["flag"]
    return frame


TABLE = mixed_table()
CHOSEN = ["a", 'b "q"', "city", "flag"]


@pytest.fixture(scope="module")
def fitted() -> EasyFS:
    return EasyFS(4, include=CHOSEN, random_state=3).fit(TABLE, "y")


@pytest.fixture
def path(fitted: EasyFS, tmp_path: Path) -> Path:
    return fitted.save_selection(tmp_path / "selection.json")


@pytest.fixture(scope="module")
def content(fitted: EasyFS) -> dict[str, Any]:
    return content_of(fitted)


def test_the_file_says_all_there_is_to_know(fitted: EasyFS, path: Path) -> None:
    saved = json.loads(path.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(saved, schema())
    assert saved["schema_version"] == 1
    assert saved["seed"] == 3
    assert saved["target"] == ["y"]
    assert saved["task"] == "regression"
    assert saved["rows"] == 120
    assert saved["input"]["columns"] == 7
    assert saved["versions"]["easyfs"] == easyfs.__version__
    assert saved["versions"]["numpy"] == np.__version__
    assert saved["parameters"]["include"] == CHOSEN
    assert [column["name"] for column in saved["columns"]] == fitted.get_feature_names_out().tolist()
    by_place = sorted(saved["columns"], key=lambda column: column["place"])
    order = fitted.order_[:4]
    assert [column["position"] for column in by_place] == order.tolist()
    np.testing.assert_allclose([column["gain"] for column in by_place], fitted.gains_)
    np.testing.assert_allclose([column["p_value"] for column in by_place], fitted.p_values_)
    assert {column["name"]: column["holds"] for column in saved["columns"]} == {
        "a": "numbers",
        'b "q"': "numbers",
        "city": "text",
        "flag": "booleans",
    }


def test_columns_and_kinds(path: Path) -> None:
    chosen = load_selection(path)
    assert chosen.columns == CHOSEN
    assert chosen.kinds == {"a": "numeric", 'b "q"': "numeric", "city": "text", "flag": "boolean"}
    assert sorted(chosen.order) == sorted(CHOSEN)
    assert "4 of 7 columns, by EasyFS" in repr(chosen)


@pytest.mark.parametrize("name", ["easyfs_ranking", "pearson", "random_forest", "mrmr", "random"])
def test_every_selector_can_be_saved(name: str, tmp_path: Path) -> None:
    X = TABLE[["a", 'b "q"', "noise", "d"]]
    selector = easyfs.make_selector(name, 2).fit(X, TABLE["y"])
    saved = load_selection(selector.save_selection(tmp_path / "s.json"))
    jsonschema.validate(saved.content, schema())
    assert saved.columns == selector.get_feature_names_out().tolist()
    assert saved.content["target"] == ([] if name == "random" else ["y"])  # random selection does not look at it


def test_without_a_target(tmp_path: Path) -> None:
    saved = load_selection(EasyFS(2).fit(TABLE[["a", "noise", "d"]]).save_selection(tmp_path / "s.json"))
    assert saved.content["task"] is None
    assert saved.content["target"] == []
    assert saved.content["seed"] is None


# --- tables of every library ---


def shuffled() -> pd.DataFrame:
    """New rows, columns in another order, one more."""
    new = mixed_table(30).drop(columns="y").assign(extra=1.0)
    return new[["flag", "extra", "city", "noise", 'b "q"', "d", "a"]]


def test_tables_in_memory_stay_what_they_are(path: Path) -> None:
    chosen, new = load_selection(path), shuffled()
    wanted = new[CHOSEN]
    out = chosen.transform(new)
    pd.testing.assert_frame_equal(out, wanted)
    frame = pl.from_pandas(new)
    assert chosen.transform(frame).equals(frame.select(CHOSEN))
    arrow = pa.Table.from_pandas(new)
    assert chosen.take(arrow).equals(arrow.select(CHOSEN))


def test_lazy_tables_stay_lazy(path: Path, tmp_path: Path) -> None:
    chosen, frame = load_selection(path), pl.from_pandas(shuffled())
    wanted = frame.select(CHOSEN)
    lazy = chosen.transform(frame.lazy())
    assert isinstance(lazy, pl.LazyFrame)
    assert lazy.collect().equals(wanted)
    frame.write_parquet(tmp_path / "new.parquet")
    scanned = chosen.transform(easyfs.scan(tmp_path / "new.parquet"))
    assert isinstance(scanned, easyfs.Scan)
    assert scanned.collect().equals(wanted)
    dataset = chosen.transform(pads.dataset(tmp_path / "new.parquet"))
    assert pl.from_arrow(dataset.to_table()).equals(wanted)
    relation = chosen.transform(duckdb.from_arrow(frame.to_arrow()))
    assert type(relation).__name__ == "DuckDBPyRelation"
    assert relation.pl().equals(wanted)


def test_dask_tables_stay_lazy(path: Path) -> None:
    import dask.dataframe as dd

    new = shuffled()
    taken = load_selection(path).transform(dd.from_pandas(new, npartitions=3))
    assert taken.npartitions == 3
    pd.testing.assert_frame_equal(taken.compute(), new[CHOSEN], check_dtype=False)


def test_what_is_wrong_with_a_lazy_table_is_said_before_it_is_read(path: Path) -> None:
    import dask.dataframe as dd

    chosen, new = load_selection(path), shuffled()
    wrong = new.assign(a="text")
    for make in (
        lambda t: pl.from_pandas(t).lazy(),
        lambda t: duckdb.from_arrow(pa.Table.from_pandas(t)),
        lambda t: dd.from_pandas(t, npartitions=2),
    ):
        with pytest.raises(ValueError, match="'city'"):
            chosen.transform(make(new.drop(columns="city")))
        with pytest.raises(ValueError, match="column 'a' holds text, but it held numbers"):
            chosen.transform(make(wrong))


def test_an_array_gives_columns_by_position(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    selector = EasyFS(2, random_state=0).fit(X, X[:, 4] - X[:, 1])
    chosen = load_selection(selector.save_selection(tmp_path / "s.json"))
    assert chosen.columns == ["x1", "x4"]
    assert chosen.positions == [1, 4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(chosen.transform(X[:5]), X[:5, [1, 4]])
        np.testing.assert_array_equal(chosen.transform(X[:5].tolist()), X[:5, [1, 4]])
        np.testing.assert_array_equal(chosen.transform(sparse.coo_array(X[:5])).toarray(), X[:5, [1, 4]])
        frame = pd.DataFrame(X[:5], columns=list("abcdef"))
        assert chosen.transform(frame).columns.tolist() == ["b", "e"]
        assert chosen.transform(pl.from_pandas(frame).lazy()).collect_schema().names() == ["b", "e"]
        import dask.array as da

        np.testing.assert_array_equal(chosen.transform(da.from_array(X, chunks=(20, 6))).compute(), X[:, [1, 4]])
    for wrong in (X[:, :5], pd.DataFrame(X[:, :5], columns=list("abcde"))):
        with pytest.raises(ValueError, match="X has 5 columns, but the selection was made from 6"):
            chosen.transform(wrong)
    with pytest.raises(ValueError, match="1 dimension"):
        chosen.transform(X[0])


def test_an_array_for_a_selection_with_names_is_taken_by_position_and_said(path: Path) -> None:
    chosen = load_selection(path)
    values = TABLE.drop(columns="y").to_numpy()
    with pytest.warns(UserWarning, match="taken by their position"):
        np.testing.assert_array_equal(chosen.transform(values), values[:, chosen.positions])


# --- what may be wrong with a table ---


def test_missing_columns_are_named(path: Path) -> None:
    chosen, new = load_selection(path), shuffled()
    with pytest.raises(ValueError, match=r"does not have the selected column 'city'\. It has 'City'"):
        chosen.transform(new.rename(columns={"city": "City"}))
    with pytest.raises(ValueError, match="columns 'a', 'b \"q\"', 'city', 'flag'"):
        chosen.transform(new[["noise"]])
    with pytest.raises(TypeError, match="not a table"):
        chosen.transform("new.csv")


def test_another_kind_is_an_error_or_a_warning(path: Path) -> None:
    chosen, new = load_selection(path), shuffled()
    dates = new.assign(a=pd.Timestamp("2024-01-01"))
    with pytest.raises(ValueError, match="'a' holds dates, but it held numbers"):
        chosen.transform(dates)
    with pytest.warns(UserWarning, match="'a' holds dates"):
        assert load_selection(path, strict=False).transform(dates).shape == (30, 4)
    with pytest.warns(UserWarning, match="'city' holds numbers, but it held text"):  # codes, now
        chosen.transform(new.assign(city=7))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.assign(a=t["a"].astype("float32")),
        lambda t: t.assign(a=t["a"].astype("Float64")),
        lambda t: t.assign(a=t["a"].astype(object)),
        lambda t: t.assign(a=None),  # nothing is there
        lambda t: t.assign(city=t["city"].astype("category")),
        lambda t: t.assign(city=t["city"].astype("string")),
        lambda t: t.assign(flag=t["flag"].astype(int)),
        lambda t: t.assign(extra="anything"),
        lambda t: t.iloc[:0],
    ],
)
def test_other_types_of_the_same_kind_are_fine(path: Path, change: Any) -> None:
    new = change(shuffled())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_selection(path).transform(new).columns.tolist() == CHOSEN


def test_the_hash_is_that_of_the_table_in_any_library(path: Path) -> None:
    chosen, X = load_selection(path), TABLE.drop(columns="y")
    for same in (X, pl.from_pandas(X), pa.Table.from_pandas(X), X.iloc[:3], X.assign(city=X["city"].astype("category"))):
        assert chosen.has_same_columns(same)
    for other in (X[X.columns[::-1]], X.drop(columns="noise"), X.assign(noise="x"), X.rename(columns={"d": "D"})):
        assert not chosen.has_same_columns(other)
    with pytest.raises(TypeError, match="no names"):
        chosen.has_same_columns(X.to_numpy())


# --- scikit-learn ---


def test_it_is_a_step_of_a_pipeline(path: Path) -> None:
    chosen = load_selection(path)
    same = clone(chosen)
    assert same is not chosen
    assert same.columns == chosen.columns
    y = TABLE["y"] > 1
    model = make_pipeline(chosen, TableToNumbers(), LogisticRegression()).fit(TABLE, y)
    assert model.score(shuffled(), mixed_table(30)["y"] > 1) > 0.8
    assert clone(model)[0].strict is True
    out = clone(chosen).set_output(transform="polars").transform(TABLE)
    assert isinstance(out, pl.DataFrame)
    assert out.columns == CHOSEN
    out = clone(chosen).set_output(transform="pandas").transform(pl.from_pandas(TABLE))
    assert isinstance(out, pd.DataFrame)
    assert out.columns.tolist() == CHOSEN
    assert chosen.fit(None).get_feature_names_out().tolist() == CHOSEN


def test_a_fresh_process_applies_it(path: Path, tmp_path: Path) -> None:
    new = shuffled()
    new.to_parquet(tmp_path / "new.parquet")
    script = """
import sys, pandas as pd, easyfs
chosen = easyfs.load_selection(sys.argv[1])
chosen.transform(pd.read_parquet(sys.argv[2])).to_parquet(sys.argv[3])
assert not {"torch", "polars"} & set(sys.modules), "more is imported than is needed"
"""
    files = [path, tmp_path / "new.parquet", tmp_path / "out.parquet"]
    subprocess.run([sys.executable, "-c", script, *map(str, files)], check=True, env=os.environ, timeout=120)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "out.parquet"), new[CHOSEN])


# --- files that are not what they should be ---


def broken(content: dict[str, Any], change: Any) -> Any:
    other = copy.deepcopy(content)
    changed = change(other)
    return changed if isinstance(changed, (dict, list)) else other


CHANGES: dict[str, tuple[Any, str]] = {
    "another JSON": (lambda c: {"a": 1}, "not a saved selection"),
    "a list": (lambda c: [c], "not a saved selection"),
    "a report": (lambda c: c.update(schema="easyfs-report"), "not a saved selection"),
    "a later version": (
        lambda c: (c.update(schema_version=2), c["versions"].update(easyfs="9.9")),
        r"schema_version 2, but easyfs-ml .* reads up to 1\. It was written by easyfs-ml 9\.9",
    ),
    "a later version of nobody": (lambda c: (c.update(schema_version=7), c.pop("versions")), "schema_version 7"),
    "no version": (lambda c: c.pop("schema_version") and None, "lacks 'schema_version'"),
    "version as text": (lambda c: c.update(schema_version="1"), "schema_version is '1'"),
    "version true": (lambda c: c.update(schema_version=True), "schema_version is True"),
    "no columns": (lambda c: (c.pop("columns"), None), "lacks 'columns'"),
    "none chosen": (lambda c: c.update(columns=[]), "columns has 0 entries"),
    "columns as text": (lambda c: c.update(columns="a"), "columns is of type str"),
    "a name that is a number": (lambda c: c["columns"][1].update(name=3), r"columns\[1\]\.name is of type int"),
    "a code to run": (lambda c: c["columns"][0].update(position="__import__('os')"), r"columns\[0\]\.position"),
    "held unheard of": (lambda c: c["columns"][0].update(holds="secrets"), r"columns\[0\]\.holds is 'secrets'"),
    "position beyond": (lambda c: c["columns"][-1].update(position=99), "positions"),
    "negative position": (lambda c: c["columns"][0].update(position=-1), "less than 0"),
    "twice": (lambda c: c["columns"][1].update(name=c["columns"][0]["name"]), "column 'a' twice"),
    "places": (lambda c: c["columns"][1].update(place=c["columns"][0]["place"]), "places"),
    "input": (lambda c: c["input"].update(named="yes"), r"input\.named"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_file_that_is_something_else_says_so(content: dict[str, Any], tmp_path: Path, name: str) -> None:
    change, message = CHANGES[name]
    path = tmp_path / "s.json"
    path.write_text(json.dumps(broken(content, change)), encoding="utf-8")
    with pytest.raises(ValueError, match=message) as found:
        load_selection(path)
    assert "s.json" in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\x80\x04K\x01.", b"PAR1", b"[" * 100_000, b'{"schema": NaN}', b"\xff\xfe", "ü".encode("latin-1")],
)
def test_what_is_no_json_says_so(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "s.json").write_bytes(data)
    with pytest.raises(ValueError, match="no JSON, or cut off"):
        load_selection(tmp_path / "s.json")


def test_a_file_that_is_cut_off_anywhere_is_an_error(content: dict[str, Any], tmp_path: Path) -> None:
    whole = as_bytes(content)
    for end in range(0, len(whole) - 2, 97):
        (tmp_path / "s.json").write_bytes(whole[:end])
        with pytest.raises(ValueError, match="cut off"):
            load_selection(tmp_path / "s.json")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_selection(tmp_path / "none.json")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        load_selection(tmp_path)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_change_is_an_error_or_a_selection_that_works(content: dict[str, Any], data: Any) -> None:
    """One value anywhere becomes another one: never anything but a message, or a selection that can be used."""
    other = copy.deepcopy(content)
    spot: Any = other
    while True:
        keys = list(spot) if isinstance(spot, dict) else list(range(len(spot)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(spot[key], (dict, list)) or not spot[key] or data.draw(st.booleans()):
            break
        spot = spot[key]
    spot[key] = data.draw(JSON)
    by_schema = not list(jsonschema.Draft202012Validator(schema()).iter_errors(other))
    problem = problem_of(other)
    assert isinstance(problem, str)
    if not problem:
        assert by_schema or isinstance(other["schema_version"], float)
        chosen = SavedSelection(other)
        assert len(chosen.columns) == len(other["columns"])
        assert chosen.code("pandas")
    elif by_schema:  # to which 2.0 is a whole number
        assert "column" in problem or "places" in problem or "is of type float, not integer" in problem


def test_unknown_fields_are_left_alone(content: dict[str, Any], tmp_path: Path) -> None:
    more = copy.deepcopy(content) | {"note": "from a later version"}
    more["columns"][0]["unit"] = "m"
    jsonschema.validate(more, schema())
    (tmp_path / "s.json").write_text(json.dumps(more), encoding="utf-8")
    assert load_selection(tmp_path / "s.json").columns == CHOSEN


def test_what_columns_hold_is_listed_in_the_schema() -> None:
    assert schema()["$defs"]["Column"]["properties"]["holds"]["enum"] == list(HELD)


def test_it_is_written_whole_or_not_at_all(fitted: EasyFS, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.json"
    path.write_text("before", encoding="utf-8")

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        fitted.save_selection(path)
    assert path.read_text(encoding="utf-8") == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["s.json"]
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        fitted.save_selection(tmp_path / "none" / "s.json")


def test_a_selector_that_is_not_fitted_has_nothing_to_save(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="not fitted"):
        EasyFS().save_selection(tmp_path / "s.json")
    assert not list(tmp_path.iterdir())


@settings(max_examples=25, deadline=None)
@given(names=st.lists(st.text(), min_size=3, max_size=3, unique=True))
def test_any_name_comes_back(names: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((20, 3)), columns=names)
    selector = EasyFS(2, interactions=False, random_state=0).fit(X, X.iloc[:, 0])
    path = tmp_path_factory.mktemp("s") / "s.json"
    chosen = load_selection(selector.save_selection(path))
    assert chosen.columns == [str(name) for name in selector.get_feature_names_out()]
    assert chosen.transform(X).columns.tolist() == chosen.columns
