"""Pictures of columns and the target: what they show is what the rows hold, and they can be left out."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS, make_selector
from easyfs.report import Report, build_report
from easyfs.report.pictures import MOST_POINTS, MOST_ROWS, smooth

Frame = tuple[pd.DataFrame, pd.Series]


def pictures(report: Report) -> Any:
    found = report.content["pictures"]
    assert found is not None
    return found


def test_boxes_are_the_quantiles_of_the_rows(cancer: Frame) -> None:
    X, y = cancer
    selector = EasyFS(3, random_state=0).fit(X, y)
    found = pictures(build_report(selector, X, y))
    assert found["rows"] == len(X)
    assert [p["columns"] for p in found["columns"]] == [[j] for j in selector.order_[:3]]
    for picture in found["columns"]:
        assert picture["kind"] == "box"
        values = X.iloc[:, picture["columns"][0]]
        for group, label in zip(picture["data"]["groups"], (0, 1), strict=True):
            own = values[y == label]
            assert (group["label"], group["rows"]) == (str(label), len(own))
            np.testing.assert_allclose(group["quantiles"], np.quantile(own, [0.05, 0.25, 0.5, 0.75, 0.95]), rtol=1e-3)
            assert len(group["points"]) == MOST_POINTS // 2
            assert set(group["points"]) <= {float(f"{value:.4g}") for value in own}


def test_each_kind_of_column_has_its_picture(mixed: Frame) -> None:
    X, y = mixed
    table = X.drop(columns=["customer_id", "comment", "price with tax", "size twice"])
    for target, kinds in (
        (y, {"size": "scatter", "city": "box", "sold (month)": "scatter", "member": "box", "age": "scatter"}),
        ((y > 2).rename("dear"), {"size": "box", "city": "bars", "member": "bars"}),
    ):
        selector = EasyFS(table.shape[1] - 1, random_state=0).fit(table, target)
        found = {p["names"][0]: p for p in pictures(build_report(selector, table, target))["columns"]}
        for name, kind in kinds.items():
            assert found[name]["kind"] == kind
        if target is y:
            assert [g["label"] for g in found["city"]["data"]["groups"]] == ["Oslo", "Paris", "Bern", "Rome"]
            assert found["city"]["data"]["groups"][1]["quantiles"][2] == pytest.approx(
                y[table["city"] == "Paris"].median(), rel=1e-3
            )
        else:
            bars = found["city"]["data"]
            for group in bars["groups"]:
                share = target[table["city"] == group["label"]].mean()
                assert group["shares"][bars["classes"].index("True")] == pytest.approx(share, abs=1e-3)


def test_columns_that_matter_together_are_shown_together(joint: Frame) -> None:
    X, y = joint
    report = build_report(EasyFS(7, random_state=0).fit(X, y), X, y)
    (pair,) = pictures(report)["together"]
    assert set(pair["names"]) == {"x3", "x7"}
    assert [group["label"] for group in pair["data"]["groups"]] == ["low", "middle", "high"]
    rows = {(float(f"{a:.4g}"), float(f"{b:.4g}")): t for a, b, t in zip(*(X[n] for n in pair["names"]), y, strict=True)}
    high = [rows[tuple(point)] for point in pair["data"]["groups"][2]["points"]]
    assert len(high) > 50
    assert min(high) >= np.quantile(y, 2 / 3) - 1e-9
    assert "coloured by y" in report.to_html()


def test_the_smooth_line_follows_a_curve() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, 2000)
    line = np.array(smooth(x, np.sin(2 * x) + 0.1 * rng.normal(size=2000)))
    assert np.abs(line[:, 1] - np.sin(2 * line[:, 0])).max() < 0.25
    assert np.all(np.diff(line[:, 0]) > 0)
    assert smooth(x[:5], x[:5]) == []
    assert len(smooth(np.ones(100), x[:100])) == 1


def test_rows_can_be_kept_out(cancer: Frame) -> None:
    X, y = cancer
    selector = EasyFS(3, random_state=0).fit(X, y)
    without = build_report(selector, X, y, pictures=False)
    assert without.content["pictures"] is None
    assert 'class="picture"' not in without.to_html()
    assert 'href="#pictures"' not in without.to_html()
    assert build_report(selector).content["pictures"] is None
    assert build_report(EasyFS(3, random_state=0).fit(X), X).content["pictures"] is None
    with pytest.raises(ValueError, match=r"pictures='no': give True or False"):
        build_report(selector, X, y, pictures="no")  # type: ignore[arg-type]


def test_fifty_columns_of_a_long_table_stay_small_and_are_the_same_to_the_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(MOST_ROWS + 2000, 60)).astype(np.float32)
    X[0, 0] = 1e6  # one value far out does not press the others together
    y = X[:, :50].sum(axis=1)
    selector = make_selector("pearson", 60).fit(X, y)
    one, other = (build_report(selector, X, y, title="t") for _ in range(2))
    assert pictures(one)["rows"] == MOST_ROWS
    assert len(pictures(one)["columns"]) == 50
    assert one.content["asked"]["created"] == "2023-11-14T22:13:20Z"
    assert one.to_html() == other.to_html()
    assert one.to_json() == other.to_json()
    assert len(one.to_html()) < 2_000_000
    assert all(p["data"]["across_range"][1] < 10 for p in pictures(one)["columns"])
    assert "The first 50 of 60 are shown." in one.to_html()
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "soon")
    with pytest.raises(ValueError, match="SOURCE_DATE_EPOCH='soon'"):
        build_report(selector)


def test_odd_tables_have_pictures() -> None:
    """Missing values, one value in a class, classes beyond those shown, several targets, sparse rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    X[:, 1] = np.where(rng.random(120) < 0.6, np.nan, X[:, 1])
    X[:, 2] = rng.integers(0, 3, 120)
    many = np.arange(120) % 12
    for target in (many, np.column_stack([X[:, 0], X[:, 3]]), np.where(np.arange(120) < 4, "few", "rest")):
        selector = make_selector("random", 4, random_state=0).fit(X, target)
        report = build_report(selector, X, target)
        assert len(pictures(report)["columns"]) == 4
        assert "NaN" not in json.dumps(pictures(report))
        assert "<svg" in report.to_html()


def test_a_saved_report_keeps_its_pictures(joint: Frame, tmp_path: Any) -> None:
    X, y = joint
    report = build_report(EasyFS(4, random_state=0).fit(X, y), X, y)
    report.save(tmp_path / "r.json")
    assert Report.load(tmp_path / "r.json").to_html() == report.to_html()
    broken = report.to_dict()
    broken["pictures"]["columns"][0]["data"]["points"] = [["<script>", 1.0]]
    (tmp_path / "bad.json").write_text(json.dumps(broken))
    with pytest.raises(ValueError, match="is not a whole report"):
        Report.load(tmp_path / "bad.json")
