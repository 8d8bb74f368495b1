"""What a report says, against brute force and against what the selector left."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes

import easyfs
from easyfs import EasyFS, make_selector
from easyfs.evaluation import compare, stability_selection
from easyfs.report import Report, build_report
from easyfs.report.check import check_content
from easyfs.report.measure import sizes_up_to

Frame = tuple[pd.DataFrame, pd.Series]


def r_squared(of: np.ndarray, by: np.ndarray) -> float:
    """Share of a column that others explain, with a constant."""
    if not by.size or of.var() == 0:
        return 0.0
    design = np.column_stack([np.ones(len(of)), by])
    rest = of - design @ np.linalg.lstsq(design, of, rcond=None)[0]
    return float(1.0 - rest.var() / of.var())


def stands_for(matrix: np.ndarray, source: np.ndarray, order: np.ndarray, n_selected: int) -> dict[int, dict[int, float]]:
    """What each chosen column says of each other beyond those before it: the mean over the parts of the other."""
    found: dict[int, dict[int, float]] = {}
    for i, column in enumerate(order[:n_selected]):
        before = np.isin(source, order[:i])
        upto = before | (source == column)
        found[int(column)] = {
            int(j): float(
                np.mean(
                    [
                        r_squared(matrix[:, part], matrix[:, upto]) - r_squared(matrix[:, part], matrix[:, before])
                        for part in np.flatnonzero(source == j)
                    ]
                )
            )
            for j in np.setdiff1d(source, order[:n_selected])
        }
    return found


def check_stands_for(report: Report, matrix: np.ndarray, source: np.ndarray, order: np.ndarray) -> None:
    truth = stands_for(matrix, source, order, len(report.content["features"]))
    for feature in report.content["features"]:
        shares = truth[feature["column"]]
        expected = sorted((share for share in shares.values() if share >= 0.1), reverse=True)[:8]
        assert [n["share"] for n in feature["stands_for"]] == pytest.approx(expected, abs=2e-3)
        for n in feature["stands_for"]:
            assert n["share"] == pytest.approx(shares[n["column"]], abs=2e-3)
            alone = np.mean(
                [
                    r_squared(matrix[:, part], matrix[:, source == feature["column"]])
                    for part in np.flatnonzero(source == n["column"])
                ]
            )
            assert n["alone"] == pytest.approx(alone, abs=2e-3)


def test_the_chosen_columns_are_those_of_the_selector(cancer: Frame) -> None:
    X, y = cancer
    selector = EasyFS(6, random_state=0, clip=None).fit(X, y)
    content = build_report(selector).content
    order = selector.order_[:6]
    assert content["selected"] == {
        "count": 6,
        "listed": 6,
        "names": list(X.columns[order]),
        "columns": order.tolist(),
    }
    for i, feature in enumerate(content["features"]):
        j = order[i]
        assert (feature["place"], feature["column"], feature["name"]) == (i + 1, j, X.columns[j])
        assert feature["gain"] == pytest.approx(selector.gains_[i], rel=1e-6)
        assert feature["cumulative"] == pytest.approx(selector.gains_[: i + 1].sum(), rel=1e-6)
        assert selector.relevance_ is not None
        assert feature["relevance"] == pytest.approx(selector.relevance_[j], rel=1e-6)
        assert feature["redundancy"] == pytest.approx(selector.redundancy_[j], rel=1e-6)
        others = np.setdiff1d(order, [j])
        assert feature["redundancy"] == pytest.approx(r_squared(X.iloc[:, j], X.iloc[:, others].to_numpy()), abs=1e-3)
    assert [r["column"] for r in content["runners_up"]] == selector.order_[6:].tolist()
    assert content["runners_up"][0]["score"] == pytest.approx(selector.scores_[selector.order_[6]], rel=1e-6)


def test_stands_for_is_the_difference_of_r_squared(cancer: Frame) -> None:
    X, y = cancer
    selector = EasyFS(5, random_state=0, clip=None).fit(X, y)
    report = build_report(selector)
    check_stands_for(report, X.to_numpy(), np.arange(30), selector.order_)
    assert report.content["overlap"] is not None
    assert report.content["overlap"]["least"] == 0.1


def test_a_column_does_not_stand_in_for_others_by_chance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2000))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    report = build_report(EasyFS(5, random_state=0, include=[0]).fit(X, X[:, 0] + rng.normal(size=40)))
    assert report.content["overlap"] is not None
    assert 0.2 < report.content["overlap"]["least"] < 0.6
    assert sum(len(f["stands_for"]) for f in report.content["features"]) <= 2
    assert [n["column"] for n in report.content["features"][0]["stands_for"]] == [1]


def test_stands_for_of_a_baseline_comes_from_the_rows(cancer: Frame) -> None:
    X, y = cancer
    selector = make_selector("mrmr", 4).fit(X, y)
    without = build_report(selector).content
    assert without["overlap"] is None
    assert all(f["stands_for"] == [] and f["relevance"] is None and f["redundancy"] is None for f in without["features"])
    report = build_report(selector, X, y)
    check_stands_for(report, X.to_numpy(), np.arange(30), selector.order_)
    own = EasyFS(4, random_state=0, clip=None).fit(X, y)
    for feature in report.content["features"]:
        assert own.relevance_ is not None
        assert feature["relevance"] == pytest.approx(own.relevance_[feature["column"]], rel=1e-6)


def test_stands_for_with_categories_and_dates(mixed: Frame) -> None:
    X, y = mixed
    for selector in (EasyFS(4, random_state=0), make_selector("pearson", 4)):
        with pytest.warns(UserWarning, match="set aside"):
            selector.fit(X, y)
        encoded = selector.encode(X)
        assert encoded.mixed
        matrix = encoded.matrix
        mean = np.nanmean(matrix, axis=0)
        matrix = np.where(np.isnan(matrix), mean, matrix)
        check_stands_for(build_report(selector, X, y), matrix, encoded.source, selector.order_)


def test_the_overlap_is_what_each_says_by_itself(cancer: Frame) -> None:
    X, y = cancer
    for selector in (EasyFS(5, random_state=0, clip=None), make_selector("relieff", 5)):
        overlap = build_report(selector.fit(X, y), X, y).content["overlap"]
        assert overlap is not None
        assert [c["place"] for c in overlap["chosen"]] == [1, 2, 3, 4, 5]
        correlation = np.corrcoef(X.to_numpy().T) ** 2
        for column, shares in zip(overlap["columns"], overlap["shares"], strict=True):
            for other, share in zip(overlap["chosen"], shares, strict=True):
                assert share == pytest.approx(correlation[column["column"], other["column"]], abs=1e-3)


@pytest.mark.parametrize("task", ["classification", "regression", "several"])
def test_relevance_of_baselines(task: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 7))
    X[rng.random(X.shape) < 0.1] = np.nan
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    noise = rng.normal(size=90)
    y: Any = filled[:, 0] + noise
    design = y[:, None]
    if task == "classification":
        y = np.digitize(y, [-0.5, 0.5])
        design = (y[:, None] == np.arange(3)).astype(float)
    elif task == "several":
        y = design = np.column_stack([y, filled[:, 1] - noise])
    content = build_report(make_selector("pearson", 7).fit(X, y), X, y).content
    for feature in content["features"]:
        # Of a target of several directions, a column explains one at most.
        share = r_squared(filled[:, feature["column"]], design) / (1 if task == "regression" else 2)
        assert feature["relevance"] == pytest.approx(share, abs=1e-6)


def test_weights_count_as_rows() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 6))
    y = X[:, 0] + X[:, 3] + rng.normal(size=60)
    weight = rng.integers(1, 4, size=60)
    rows = np.repeat(np.arange(60), weight)
    weighted = build_report(make_selector("pearson", 3).fit(X, y, sample_weight=weight), X, y, sample_weight=weight).content
    repeated = build_report(make_selector("pearson", 3).fit(X[rows], y[rows]), X[rows], y[rows]).content
    assert weighted["features"] == repeated["features"]
    assert weighted["overlap"] is not None
    assert repeated["overlap"] is not None
    assert weighted["overlap"]["shares"] == repeated["overlap"]["shares"]


def test_how_many_are_enough(cancer: Frame) -> None:
    X, y = cancer
    selector = EasyFS(12, random_state=0).fit(X, y)
    enough = build_report(selector, X, y).content["enough"]
    added = np.array([column.told for column in selector.explain().chosen])
    reached = np.cumsum(added) / added.sum()
    assert enough["of"] == "target"
    assert enough["total"] == pytest.approx(added.sum(), rel=1e-6)
    for share, found in ((0.9, enough["at_90"]), (0.95, enough["at_95"])):
        assert found is not None
        assert reached[found - 1] >= share
        assert found == 1 or reached[found - 2] < share
    # Where chance begins is known from the chosen columns, or if all tell more, from another fit with the rows.
    assert selector.beyond_chance_ is not None
    assert not selector.beyond_chance_[-1]
    assert enough["chance_after"] == 1 + np.flatnonzero(selector.beyond_chance_)[-1]
    assert build_report(selector).content["enough"]["chance_after"] == enough["chance_after"]
    alone = EasyFS("auto", random_state=0, task="classification").fit(X, y)
    assert build_report(alone).content["enough"]["chance_after"] == alone.n_features_
    few = EasyFS(2, random_state=0).fit(X, y)
    assert build_report(few).content["enough"]["chance_after"] is None
    assert build_report(few, X, y).content["enough"]["chance_after"] == alone.n_features_
    # Scores of other methods do not add up.
    scores = build_report(make_selector("mrmr", 3).fit(X, y)).content
    assert scores["enough"]["of"] is None
    assert [scores["enough"][key] for key in ("total", "at_90", "at_95", "chance_after")] == [None] * 4  # type: ignore[literal-required]
    assert all(f["cumulative"] is None and f["gain"] is not None for f in scores["features"])


@pytest.mark.parametrize("name", ["easyfs", "easyfs_ranking", "mrmr"])
def test_what_the_next_column_would_add_is_what_it_adds(cancer: Frame, name: str) -> None:
    X, y = cancer
    table = X.iloc[:, :12]
    selector = make_selector(name, 4, **({} if name == "mrmr" else {"random_state": 0, "clip": None}))
    if name == "easyfs":
        selector.set_params(interactions=False)
    selector.fit(table, y)
    report = build_report(selector, table, y)
    chosen = table.iloc[:, selector.order_[:4]].to_numpy()
    for entry in report.content["runners_up"][:3]:
        more = np.column_stack([chosen, table.iloc[:, entry["column"]]])
        added = r_squared(y.to_numpy(), more) - r_squared(y.to_numpy(), chosen)
        assert entry["adds"] == pytest.approx(added, abs=1e-4)
    assert report.content["enough"]["total"] == pytest.approx(r_squared(y.to_numpy(), chosen), abs=1e-4)
    assert "would add" in report.to_html()
    assert "would add" in report.to_markdown()
    without = build_report(selector)
    assert without.content["enough"]["of"] == (None if name == "mrmr" else "target")
    assert ("would add" in without.to_markdown()) == (name != "mrmr")


def test_stability_is_that_of_stability_selection(cancer: Frame) -> None:
    X, y = cancer
    selector = EasyFS(5, random_state=0).fit(X, y)
    content = build_report(selector, X, y, stability=8, random_state=3).content
    found = stability_selection(selector, X, y, n_runs=8, random_state=3)
    for feature in content["features"]:
        assert feature["frequency"] == pytest.approx(found.frequency[feature["column"]])
    assert content["stability"] is not None
    assert content["stability"]["runs"] == 8
    assert content["stability"]["nogueira"] == pytest.approx(found.nogueira, rel=1e-6)
    often = {j for j in range(30) if found.frequency[j] >= 0.2} - set(content["selected"]["columns"])
    assert {other["column"] for other in content["stability"]["others"]} == often


def test_cross_validation_is_that_of_compare(cancer: Frame) -> None:
    X, y = cancer
    selector = EasyFS(6, random_state=0).fit(X, y)
    measured = build_report(selector, X, y, cv=3, random_state=1).content["cross_validation"]
    assert measured is not None
    found = compare({"chosen": selector}, X, y, sizes=[1, 2, 3, 5, 6], folds=3, repeats=1, random_state=1).values()
    assert [p["columns"] for p in measured["points"]] == [1, 2, 3, 5, 6]
    for label, points in (("chosen", measured["points"]), ("random", measured["random"])):
        for point in points:
            scores = found["data", point["columns"], "linear SVM", label]
            assert point["mean"] == pytest.approx(scores.mean(), rel=1e-6)
            assert point["spread"] == pytest.approx(scores.std(ddof=1), rel=1e-6)
            assert point["folds"] == 3
    best = max(measured["points"], key=lambda point: point["mean"] or 0.0)
    bar = (best["mean"] or 0.0) - (best["spread"] or 0.0) / np.sqrt(3)
    assert measured["enough"] == min(p["columns"] for p in measured["points"] if (p["mean"] or 0.0) >= bar)
    assert build_report(selector, X, y, cv=True).content["cross_validation"]["folds"] == 5  # type: ignore[index]


@pytest.mark.parametrize(("largest", "least"), [(1, 1), (4, 1), (10, 3), (500, 1), (5000, 40)])
def test_sizes_are_few_and_end_with_all(largest: int, least: int) -> None:
    sizes = sizes_up_to(largest, least)
    assert sizes[-1] == largest
    assert sizes == sorted(set(sizes))
    assert len(sizes) <= 9
    assert sizes[0] >= least


def test_cross_validation_with_categories_included_columns_and_groups(mixed: Frame) -> None:
    X, y = mixed
    selector = EasyFS(3, random_state=0, include=["city", "age"], exclude=["price with tax"])
    with pytest.warns(UserWarning, match="set aside"):
        selector.fit(X, y)
    content = build_report(selector, X, y, cv=2, stability=4).content
    assert content["cross_validation"] is not None
    assert [p["columns"] for p in content["cross_validation"]["points"]] == [2, 3]
    assert content["cross_validation"]["failures"] == []
    assert [f["included"] for f in content["features"]] == [True, True, False]
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(80, 6))
    grouped = EasyFS(2, feature_groups=[0, 0, 1, 1, 2, 3], random_state=0).fit(Z, Z[:, 0] + Z[:, 4])
    measured = build_report(grouped, Z, Z[:, 0] + Z[:, 4], cv=2).content["cross_validation"]
    assert measured is not None
    assert measured["failures"] == []


def test_what_was_asked() -> None:
    X, y = load_diabetes(return_X_y=True)
    y = y + 0.5
    before = dt.datetime.now(dt.UTC).replace(microsecond=0)
    selector = EasyFS(3, random_state=7, coverage=0.3, exclude=[1], interactions=False).fit(X, y)
    asked = build_report(selector, source="diabetes.csv").content["asked"]
    assert asked["parameters"] == {"interactions": False, "coverage": 0.3, "exclude": [1], "random_state": 7}
    assert (asked["method"], asked["class_name"], asked["n_features_to_select"]) == ("easyfs", "EasyFS", 3)
    assert (asked["seed"], asked["source"], asked["version"]) == (7, "diabetes.csv", easyfs.__version__)
    created = dt.datetime.fromisoformat(asked["created"])
    assert created.utcoffset() == dt.timedelta(0)
    assert before <= created <= dt.datetime.now(dt.UTC)
    forest = make_selector("random_forest", 3, random_state=np.random.RandomState(0)).fit(X, y)
    assert build_report(forest).content["asked"]["parameters"]["random_state"] == "RandomState"


def test_what_the_data_is(mixed: Frame) -> None:
    X, y = mixed
    with pytest.warns(UserWarning, match="set aside"):
        selector = EasyFS(5, random_state=0, exclude=["member"]).fit(X, y)
    content = build_report(selector).content
    data = content["data"]
    assert (data["rows"], data["columns"]) == X.shape
    assert data["kinds"] == {
        "numeric": 5,
        "identifier": 1,
        "text": 1,
        "date": 1,
        "free text": 1,
        "constant": 1,
        "boolean": 1,
    }
    assert data["columns_with_missing"] == 1
    assert data["missing_share"] == pytest.approx(X.isna().to_numpy().mean(), abs=1e-6)
    kinds = {f["name"]: (f["kind"], f["parts"]) for f in content["features"]}
    assert kinds["city"][0] == "text"
    assert len(kinds["city"][1]) == 4
    target = content["target"]
    assert target is not None
    assert (target["name"], target["task"], target["n_targets"]) == ("price", "regression", 1)
    assert target["quantiles"] is not None
    assert list(target["quantiles"].values()) == pytest.approx(np.quantile(y, [0, 0.25, 0.5, 0.75, 1]).tolist())
    assert target["histogram"] is not None
    assert sum(target["histogram"]["counts"]) == len(y)


def test_what_was_set_aside_and_why(mixed: Frame) -> None:
    X, y = mixed
    with pytest.warns(UserWarning, match="set aside"):
        selector = EasyFS(5, random_state=0, exclude=["member"]).fit(X, y)
    content = build_report(selector).content
    why = {a["name"]: (a["why"], a["reason"]) for a in content["set_aside"]["columns"]}
    chosen = set(content["selected"]["names"])
    copy = "size twice" if "size" in chosen else "size"
    assert {name: entry[0] for name, entry in why.items()} == {
        "customer_id": "identifier",
        "comment": "free text",
        copy: "copy",
        "member": "excluded",
        "one": "constant",
    }
    assert why["one"][1] == "one value only"
    assert "size" in why[copy][1]
    assert content["set_aside"]["counts"] == dict.fromkeys(["identifier", "free text", "copy", "excluded", "constant"], 1)
    everywhere = [*content["selected"]["names"], *why, *(r["name"] for r in content["runners_up"])]
    assert sorted(everywhere) == sorted(X.columns)


def test_a_column_that_several_chosen_ones_say_together() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    X[:, 3] = X[:, 0] + X[:, 1]
    y = X[:, 0] - X[:, 1] + 0.5 * X[:, 2]
    content = build_report(EasyFS(3, random_state=0, include=[0, 1]).fit(X, y)).content
    aside = content["set_aside"]["columns"]
    assert [a["column"] for a in aside] == [3]
    assert aside[0]["reason"] == "the chosen columns together give it, “x0” and “x1” first"


def test_classes_are_counted() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    y = np.array(["no"] * 70 + ["yes"] * 30)
    target = build_report(EasyFS(2, random_state=0).fit(X, y)).content["target"]
    assert target is not None
    assert target["classes"] == [{"label": "no", "rows": 70, "share": 0.7}, {"label": "yes", "rows": 30, "share": 0.3}]
    many = np.arange(600) % 150
    report = build_report(EasyFS(2, random_state=0, task="classification").fit(rng.normal(size=(600, 3)), many))
    assert report.content["target"] is not None
    assert len(report.content["target"]["classes"]) == 100
    assert report.content["target"]["small_classes"] == 150


@pytest.mark.parametrize("name", ["laplacian_score", "inf_fs", "easyfs"])
def test_without_a_target(cancer: Frame, name: str) -> None:
    X, y = cancer
    selector = make_selector(name, 4).fit(X)
    report = build_report(selector)
    assert report.content["target"] is None
    assert "to cover the table without a target" in report.content["summary"]
    assert "There is no target" in report.to_html()
    assert check_content(report.content) == ""
    assert build_report(selector, X, stability=4).content["stability"] is not None
    # A target that is given to the report alone is described, but was not used.
    told = build_report(selector, X, y).content
    assert told["target"] is not None
    assert told["target"]["used"] is False


def test_several_targets_and_labels() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    numbers = np.column_stack([X[:, 0] + rng.normal(size=120), X[:, 3]])
    labels = (numbers > 0).astype(int)
    for y, task in ((numbers, "regression"), (labels, "classification")):
        report = build_report(EasyFS(3, random_state=0).fit(X, y), X, y, stability=4, cv=2)
        target = report.content["target"]
        assert target is not None
        assert (target["task"], target["n_targets"]) == (task, 2)
        assert check_content(report.content) == ""
        assert "2 targets at once" in report.content["summary"]
        assert "2 targets at once" in report.to_html()


@pytest.mark.parametrize("classes", [True, False])
def test_blocks_of_rows(cancer: Frame, classes: bool) -> None:
    X, y = cancer
    y = y if classes else y + np.random.default_rng(0).normal(size=len(y))
    selector = EasyFS(4, random_state=0)
    for rows in np.array_split(np.arange(len(X)), 3):
        selector.partial_fit(X.iloc[rows], y.iloc[rows])
    report = build_report(selector)
    content = report.content
    assert (content["data"]["rows"], content["data"]["in_blocks"]) == (569, True)
    target = content["target"]
    assert target is not None
    assert target["task"] == ("classification" if classes else "regression")
    assert target["n_distinct"] == (2 if classes else None)
    assert target["classes"] == []
    assert check_content(content) == ""
    assert "read in blocks" in report.to_html()
    assert report.to_markdown()
    assert build_report(selector, X, y).content["target"]["name"] == "diagnosis" if classes else True  # type: ignore[index]


@pytest.mark.parametrize("name", ["mrmr", "lasso", "relieff", "random_forest", "fisher_score", "random", "pearson"])
def test_every_kind_of_method(cancer: Frame, name: str) -> None:
    X, y = cancer
    selector = make_selector(name, 5).fit(X, y)
    for report in (build_report(selector), build_report(selector, X, y)):
        assert check_content(report.content) == ""
        assert report.content["asked"]["method"] == name
        assert "<table" in report.to_html()
        assert report.to_markdown()


def test_the_library_of_the_table_does_not_matter(cancer: Frame) -> None:
    X, y = cancer
    selector = make_selector("pearson", 4).fit(X, y)
    expected = build_report(selector, X, y).content["features"]
    polars = make_selector("pearson", 4).fit(pl.from_pandas(X), y)
    assert build_report(polars, pl.from_pandas(X), y).content["features"] == [f | {"dtype": "float64"} for f in expected]
    loose = make_selector("pearson", 4).fit(sparse.csr_array(X.to_numpy()), y)
    found = build_report(loose, sparse.csr_array(X.to_numpy()), y).content["features"]
    for mine, theirs in zip(found, expected, strict=True):
        assert mine["column"] == theirs["column"]
        assert mine["redundancy"] == pytest.approx(theirs["redundancy"], abs=1e-6)


def test_names_that_cannot_be_written() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=pd.Index(["a", "b", "\ud800"], dtype=object))
    report = build_report(EasyFS(3, random_state=0).fit(X, X["a"].to_numpy()))
    assert "\\ud800" in report.content["selected"]["names"]
    assert report.to_html().encode()


def test_more_columns_than_the_search_chose(cancer: Frame) -> None:
    X, y = cancer
    longer = EasyFS(4, random_state=0).fit(X, y).truncate(7)
    content = build_report(longer).content
    assert [f["gain"] is None for f in content["features"]] == [False] * 4 + [True] * 3
    assert build_report(longer).to_html()
    assert len(build_report(longer.truncate(2)).content["features"]) == 2


def test_all_columns_and_a_single_one() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=50)
    for selector in (EasyFS(3, random_state=0), EasyFS(1, random_state=0), EasyFS(1, random_state=0, exclude=[1, 2])):
        report = build_report(selector.fit(X, y), X, y, cv=2, stability=2)
        assert check_content(report.content) == ""
        assert report.to_html()
        assert report.to_markdown()
    single = EasyFS(1, random_state=0).fit(X[:, :1], y)
    assert build_report(single).to_html()


def test_wide_tables_give_small_reports() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20_000)).astype(np.float32)
    X[:, 1:300] = X[:, :1] + 0.01 * X[:, 1:300]
    y = (X[:, 0] + X[:, 5000] > 0).astype(int)
    report = build_report(EasyFS(40, random_state=0).fit(X, y))
    assert len(report.content["runners_up"]) == 200
    assert len(report.to_html()) < 1_000_000
    assert len(report.to_json()) < 500_000
    many = make_selector("pearson", 0.5).fit(X, y)
    report = build_report(many, X, y)
    assert report.content["selected"]["count"] == 10_000
    assert len(report.content["features"]) == 500
    assert len(report.content["selected"]["names"]) == 10_000
    assert len(report.to_html()) < 2_000_000
    assert len(report.to_markdown()) < 1_000_000


def test_options_that_cannot_be_met_are_named(cancer: Frame) -> None:
    X, y = cancer
    selector = EasyFS(3, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="stability=5 needs the rows again: pass X and y"):
        build_report(selector, stability=5)
    with pytest.raises(ValueError, match="cv=True needs the rows again: pass y"):
        build_report(selector, X, cv=True)
    for wrong in (1, -2, True, 2.5, "many"):
        with pytest.raises(ValueError, match="stability="):
            build_report(selector, X, y, stability=wrong)  # type: ignore[arg-type]
    for wrong in (1, 0.5, "yes"):
        with pytest.raises(ValueError, match="cv="):
            build_report(selector, X, y, cv=wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="y has 3 entries"):
        build_report(selector, X, y[:3])
    with pytest.raises(ValueError, match="feature names"):
        build_report(selector, X.rename(columns=str.upper), y)
    with pytest.raises(ValueError, match="not fitted"):
        build_report(EasyFS())
    with pytest.raises(TypeError, match="selector is of type str"):
        build_report("easyfs")  # type: ignore[arg-type]


def test_the_report_leaves_selector_and_table_alone(cancer: Frame) -> None:
    X, y = cancer
    selector = make_selector("pearson", 3).fit(X, y)
    before, table = set(vars(selector)), X.copy()
    order = selector.order_.copy()
    build_report(selector, X, y, stability=2, cv=2)
    assert set(vars(selector)) == before
    assert (selector.order_ == order).all()
    pd.testing.assert_frame_equal(X, table)
