"""Every warning fires where it should, and only there."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS, make_selector
from easyfs.report import Report, build_report
from easyfs.report.cautions import cautions
from easyfs.report.check import schema

Frame = tuple[pd.DataFrame, pd.Series]


def codes(report: Report) -> dict[str, list[str]]:
    """Columns of each warning, by its code."""
    return {caution["code"]: caution["columns"] for caution in report.content["warnings"]}


def noise(n: int = 200, d: int = 5, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Columns, and numbers that the first two tell something of."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, d)), columns=[f"c{j}" for j in range(d)])
    return X, X["c0"].to_numpy() + X["c1"].to_numpy() + 0.8 * rng.normal(size=n)


def test_a_clean_table_has_no_warnings() -> None:
    X, y = noise()
    report = build_report(EasyFS(2, random_state=0).fit(X, y), X, y, stability=6, cv=3)
    assert report.content["warnings"] == []
    classes = np.where(y > 0, "high", "low")
    assert build_report(EasyFS(2, random_state=0).fit(X, classes), X, classes, cv=3).content["warnings"] == []


@pytest.mark.parametrize("kind", ["numbers", "classes", "category"])
@pytest.mark.parametrize("name", ["easyfs", "pearson"])
def test_a_column_that_almost_equals_the_target(kind: str, name: str) -> None:
    X, y = noise()
    target: Any = y if kind == "numbers" else np.where(y > 0, "high", "low")
    code = (y > 0) * 1.0
    leak: Any = {"numbers": 3 * y + 0.05, "classes": code, "category": np.where(y > 0, "up", "down")}[kind]
    X["paid out"] = leak + 0.001 * np.random.default_rng(1).normal(size=len(y)) if kind != "category" else leak
    selector = make_selector(name, 3).fit(X, target)
    report = build_report(selector, X, target)
    found = next(caution for caution in report.content["warnings"] if caution["code"] == "leak")
    assert found["level"] == "serious"
    assert found["columns"] == ["paid out"]
    assert "“paid out” almost equals the target" in found["text"]
    assert report.content["warnings"][0] is found
    # Named also when it is not among the chosen.
    if name == "easyfs":
        other = build_report(EasyFS(1, random_state=0, include=["c0"]).fit(X, target))
        assert codes(other)["leak"] == ["paid out"]


def test_no_leak_below_the_bar_or_where_a_column_is_excluded() -> None:
    X, y = noise()
    X["near"] = y + 0.3 * y.std() * np.random.default_rng(1).normal(size=len(y))
    assert "leak" not in codes(build_report(EasyFS(2, random_state=0).fit(X, y)))
    X["same"] = y
    assert "leak" not in codes(build_report(EasyFS(2, random_state=0, exclude=["same"]).fit(X, y)))


def test_identifiers() -> None:
    X, y = noise()
    X["order_id"] = np.random.default_rng(0).permutation(len(X)) + 1000
    with pytest.warns(UserWarning, match="set aside"):
        report = build_report(EasyFS(2, random_state=0).fit(X, y))
    assert codes(report)["identifier"] == ["order_id"]
    assert "identifier_chosen" not in codes(report)
    kept = build_report(EasyFS(2, random_state=0, include=["order_id"]).fit(X, y))
    assert codes(kept)["identifier_chosen"] == ["order_id"]
    assert "identifier" not in codes(kept)
    # A quantity whose name ends like that of an identifier is none.
    X = X.drop(columns="order_id").rename(columns={"c0": "body mass index"})
    assert not codes(build_report(EasyFS(2, random_state=0).fit(X, y)))


@pytest.mark.parametrize(("rows", "small"), [([100, 4], 1), ([100, 5], 0), ([990, 9], 1), ([990, 10], 0), ([50, 3, 2], 2)])
def test_small_classes(rows: list[int], small: int) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([f"class {i}" for i in range(len(rows))], rows)
    X = rng.normal(size=(len(y), 3)) + (y == "class 1")[:, None]
    report = build_report(EasyFS(1, random_state=0).fit(X, y))
    assert ("small_class" in codes(report)) == (small > 0)
    if small:
        text = next(caution["text"] for caution in report.content["warnings"] if caution["code"] == "small_class")
        assert text.startswith("2 classes have" if small == 2 else "1 class has")
        assert f"has {min(rows)}" in text


def test_numbers_that_look_like_classes() -> None:
    X, y = noise()
    for values, task, fires in (
        (np.clip(np.round(y * 2), -4, 5), "regression", True),
        (np.round(y * 5), "regression", False),
        (np.clip(np.round(y * 2), -4, 5) + 0.5, "regression", False),
        (np.clip(np.round(y), -1, 1), "classification", False),
    ):
        selector = EasyFS(2, random_state=0, task=task).fit(X, values)
        assert ("looks_like_classes" in codes(build_report(selector))) == fires


def test_classes_that_look_like_numbers() -> None:
    X, y = noise(n=200)
    many = np.round(np.argsort(np.argsort(y)) / 4)
    for values, fires in ((many, True), (np.round(many / 5), False), (np.array([f"t{v:.0f}" for v in many]), False)):
        selector = EasyFS(2, random_state=0, task="classification").fit(X, values)
        assert ("looks_like_numbers" in codes(build_report(selector))) == fires


@pytest.mark.parametrize(("share", "fires"), [(0.25, True), (0.2, False)])
@pytest.mark.parametrize("name", ["easyfs", "pearson"])
def test_much_missing_in_a_chosen_column(share: float, fires: bool, name: str) -> None:
    X, y = noise()
    X.loc[: int(share * len(X)) - 1, "c0"] = np.nan
    X.loc[: len(X) // 2, "c4"] = np.nan  # not chosen
    report = build_report(make_selector(name, 2).fit(X, y))
    assert report.content["selected"]["names"] == ["c1", "c0"]
    assert codes(report).get("missing") == (["c0"] if fires else None)


def test_columns_that_are_not_stable() -> None:
    X, y = noise(n=60, d=40)
    report = build_report(EasyFS(8, random_state=0).fit(X, y), X, y, stability=10)
    rare = [f["name"] for f in report.content["features"] if (f["frequency"] or 0.0) < 0.5]
    assert rare
    assert codes(report)["unstable"] == rare
    assert "unstable" not in codes(build_report(EasyFS(8, random_state=0).fit(X, y)))


def test_few_rows_for_each_column() -> None:
    X, y = noise(n=40, d=12)
    assert "few_rows" in codes(build_report(EasyFS(9, random_state=0).fit(X, y)))
    assert "few_rows" not in codes(build_report(EasyFS(8, random_state=0).fit(X, y)))


def test_columns_beyond_chance() -> None:
    X, y = noise(d=12)
    report = build_report(EasyFS(9, random_state=0).fit(X, y))
    after = report.content["enough"]["chance_after"]
    assert after == 2
    found = next(caution for caution in report.content["warnings"] if caution["code"] == "beyond_chance")
    assert found["level"] == "note"
    assert found["columns"] == report.content["selected"]["names"][after:]
    assert found["text"].startswith("7 of the 9 chosen columns explain no more of the target than")
    assert found["text"].endswith("and 2 more, chosen after the 2 that do explain more.")
    assert "only_chance" not in codes(report)
    assert "beyond_chance" not in codes(build_report(EasyFS(after, random_state=0).fit(X, y), X, y))
    assert "beyond_chance" not in codes(build_report(EasyFS("auto", random_state=0).fit(X, y)))
    # Methods that do not know say nothing.
    assert not codes(build_report(make_selector("pearson", 9).fit(X, y), X, y)).keys() & {"beyond_chance", "only_chance"}


def test_a_column_by_chance_that_was_asked_for_is_named_wherever_it_stands() -> None:
    X, y = noise(d=12)
    report = build_report(EasyFS(3, random_state=0, include=["c7"]).fit(X, y))
    assert report.content["selected"]["names"][0] == "c7"
    assert report.content["enough"]["chance_after"] != 0
    found = next(caution for caution in report.content["warnings"] if caution["code"] == "beyond_chance")
    assert found["columns"] == ["c7"]
    assert found["text"].endswith(
        "1 of the 3 chosen columns explains no more of the target than the best of as many unrelated columns would: “c7”."
    )


@pytest.mark.parametrize("asked", ["auto", 4])
def test_a_table_where_nothing_tells_more_than_chance(asked: Any) -> None:
    X, _ = noise(d=12)
    unrelated = np.random.default_rng(5).normal(size=len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = EasyFS(asked, random_state=0).fit(X, unrelated)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that it is so was said at the fit
        report = build_report(selector, X, unrelated, stability=3, cv=2)
    first = report.content["warnings"][0]
    assert (first["code"], first["level"]) == ("only_chance", "serious")
    assert first["text"].startswith("Nothing here explains more of the target than chance: ")
    assert first["columns"] == report.content["selected"]["names"]
    assert "beyond_chance" not in codes(report)
    assert report.content["enough"]["chance_after"] == 0
    explains = "It explains no more" if asked == "auto" else "None of them explains more"
    assert (
        f" rows. {explains} of the target than chance would, so there may be nothing to find here. "
        in (report.content["summary"])
    )
    assert "given away" not in report.content["summary"]
    asked_for = build_report(EasyFS(1, random_state=0, include=["c3"]).fit(X, unrelated))
    text = asked_for.content["warnings"][0]["text"]
    assert text.startswith("None of the columns asked for explains more of the target than chance: ")


@pytest.mark.filterwarnings("ignore:none of the 20 columns tells more of the target than chance:UserWarning")
def test_no_better_than_random_columns() -> None:
    rng = np.random.default_rng(0)
    X, y = noise(d=20)
    unrelated = rng.integers(0, 2, size=len(X))
    assert "like_random" in codes(build_report(EasyFS(3, random_state=0).fit(X, unrelated), X, unrelated, cv=3))
    assert "like_random" not in codes(build_report(EasyFS(3, random_state=0).fit(X, y), X, y, cv=3))
    # There is nothing else to choose at random.
    assert "like_random" not in codes(build_report(EasyFS(20, random_state=0).fit(X, unrelated), X, unrelated, cv=3))


def test_every_code_is_in_the_schema_and_levels_are_in_order(cancer_report: Report) -> None:
    content = copy.deepcopy(cancer_report.content)
    content["features"][0] |= {"name": "row_id", "dtype": "int64", "missing": 0.5, "frequency": 0.1}  # type: ignore[typeddict-item]
    content["features"][0]["interchangeable"] = None
    content["enough"]["chance_after"] = 1
    content["data"]["rows"] = 10
    assert content["target"] is not None
    content["target"] |= {"small_classes": 1}  # type: ignore[typeddict-item]
    assert content["cross_validation"] is not None
    content["cross_validation"]["random"] = content["cross_validation"]["points"]
    found = cautions(content, ["a", "b"], ["id1", "id2"], ["c"])
    for target in ({"task": "regression", "n_distinct": 3}, {"task": "classification", "n_distinct": 200}):
        content["target"] |= target  # type: ignore[typeddict-item]
        content["enough"]["chance_after"] = 0
        found += cautions(content, [], [], ["c"])
    known = schema()["$defs"]["Caution"]["properties"]
    assert {caution["code"] for caution in found} == set(known["code"]["enum"])
    assert {caution["level"] for caution in found} == set(known["level"]["enum"])
    levels = [caution["level"] for caution in cautions(content, ["a"], ["b"], ["c"])]
    assert levels == sorted(levels, key=["serious", "caution", "note"].index)
