"""What the target is explained by, how many columns are enough, and columns that can take each other's place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from easyfs import EasyFS, make_selector
from easyfs.evaluation import stability_selection
from easyfs.report import build_report
from easyfs.report.prose import count_warnings, interchangeable_sentence

Frame = tuple[pd.DataFrame, pd.Series]


def explained(Y: np.ndarray, X: np.ndarray) -> float:
    """Share of the target that columns explain, over its independent directions, from the definition."""
    Y, X = Y - Y.mean(axis=0), X - X.mean(axis=0)
    basis, sizes, _ = np.linalg.svd(Y, full_matrices=False)
    basis = basis[:, sizes > 1e-9 * sizes[0]]
    columns = np.linalg.svd(X, full_matrices=False)[0][:, : np.linalg.matrix_rank(X)]
    return float(np.square(columns.T @ basis).sum() / basis.shape[1])


@pytest.mark.parametrize("task", ["two classes", "three classes", "numbers", "several"])
@pytest.mark.parametrize("name", ["easyfs", "mrmr"])
def test_shares_of_the_target_are_those_of_a_linear_fit(task: str, name: str) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 6))
    X[:, 5] = X[:, 0] + 0.3 * rng.normal(size=150)
    score = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=150)
    y = {
        "two classes": np.digitize(score, [0.0]),
        "three classes": np.digitize(score, [-0.7, 0.7]),
        "numbers": score,
        "several": np.column_stack([score, X[:, 2] + rng.normal(size=150)]),
    }[task]
    if name == "mrmr" and task == "several":
        name = "pearson"
    Y = (y[:, None] == np.unique(y)).astype(float) if "classes" in task else y.reshape(150, -1)
    extra = {"random_state": 0, "clip": None, "interactions": False} if name == "easyfs" else {}
    report = build_report(make_selector(name, 5, **extra).fit(X, y), X, y)
    taken: list[int] = []
    for feature in report.content["features"]:
        assert feature["relevance"] == pytest.approx(explained(Y, X[:, [feature["column"]]]), abs=1e-4)
        before = explained(Y, X[:, taken]) if taken else 0.0
        taken.append(feature["column"])
        assert feature["adds"] == pytest.approx(explained(Y, X[:, taken]) - before, abs=1e-4)
        assert feature["explained"] == pytest.approx(explained(Y, X[:, taken]), abs=2e-4)


def test_a_category_explains_with_all_its_indicators() -> None:
    rng = np.random.default_rng(0)
    city = rng.choice(["Rome", "Oslo", "Bern", "Kyiv"], 300)
    level = {"Rome": 0.0, "Oslo": 1.0, "Bern": -1.0, "Kyiv": 2.0}
    X = pd.DataFrame({"city": city, "size": rng.normal(size=300), "other": rng.normal(size=300)})
    y = np.array([level[c] for c in city]) + 0.5 * X["size"].to_numpy() + 0.3 * rng.normal(size=300)
    indicators = (city[:, None] == np.array(list(level))).astype(float)
    for selector in (EasyFS(2, random_state=0, clip=None, interactions=False), make_selector("pearson", 2)):
        report = build_report(selector.fit(X, y), X, y)
        by_name = {feature["name"]: feature for feature in report.content["features"]}
        assert by_name["city"]["relevance"] == pytest.approx(explained(y[:, None], indicators), abs=1e-3)
        both = explained(y[:, None], np.column_stack([indicators, X["size"]]))
        assert report.content["enough"]["total"] == pytest.approx(both, abs=1e-3)


def test_columns_that_matter_only_together_explain_what_was_found(joint: Frame) -> None:
    selector = EasyFS(4, random_state=0).fit(*joint)
    chosen = {column.name: column for column in selector.explain().chosen}
    share = next(found.share for found in selector.interactions_ if set(found.columns) == {"x3", "x7"})
    assert (chosen["x3"].relevance or 0) < 0.05
    told = (chosen["x3"].told or 0) + (chosen["x7"].told or 0)
    assert share - 1e-9 <= told <= share + 0.05
    assert sum(column.told or 0 for column in chosen.values()) <= 1.0 + 1e-9


def test_the_number_found_by_cross_validation(cancer: Frame) -> None:
    X, y = cancer
    selector = EasyFS("cv", random_state=0).fit(X, y)
    report = build_report(selector, X, y, pictures=False)
    found = report.content["column_count"]
    assert found is not None
    scores = np.array([selector.cv_results_[f"split{fold}_test_score"] for fold in range(5)])
    np.testing.assert_allclose([p["mean"] for p in found["points"]], scores.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose([p["error"] for p in found["points"]], scores.std(axis=0, ddof=1) / np.sqrt(5), rtol=1e-5)
    assert found["taken"] == selector.n_features_ == report.content["selected"]["count"]
    best = found["points"][found["best"] - 1]
    within = [p["columns"] for p in found["points"] if p["mean"] >= best["mean"] - best["error"] - 1e-9]
    assert found["taken"] == within[0]
    sets = [set(columns[: found["taken"]].tolist()) for columns in selector.cv_selections_]
    assert len(sets) == 5
    for entry in found["columns"]:
        assert entry["folds"] == sum(entry["column"] in own for own in sets)
        assert entry["chosen"] == (entry["column"] in selector.order_[: found["taken"]])
    pairs = [len(a & b) / len(a | b) for i, a in enumerate(sets) for b in sets[:i]]
    assert found["jaccard"] == pytest.approx(np.mean(pairs), rel=1e-6)
    page, text = report.to_html(), report.to_markdown()
    assert 'id="figure-count"' in page
    assert "The number was found by cross-validation in 5 folds" in page
    assert "The number was found by cross-validation in 5 folds" in text
    assert f"| {found['taken']} (taken) |" in text
    assert build_report(selector.truncate(2)).content["column_count"] is None
    assert build_report(EasyFS(3, random_state=0).fit(X, y)).content["column_count"] is None


def test_columns_of_a_table_that_the_folds_chose_are_the_users() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {"a": rng.normal(size=200), "city": rng.choice(["Rome", "Oslo", "Bern"], 200), "b": rng.normal(size=200)}
    )
    y = X["a"] + 2.0 * (X["city"] == "Rome") + 0.3 * rng.normal(size=200)
    selector = EasyFS("cv", random_state=0).fit(X, y)
    assert all(
        set(columns.tolist()) <= {0, 1, 2} and len(set(columns)) == len(columns) for columns in selector.cv_selections_
    )
    found = build_report(selector).content["column_count"]
    assert found is not None
    assert {entry["name"] for entry in found["columns"] if entry["chosen"]} >= {"a", "city"}


@pytest.fixture(scope="module")
def copied() -> Frame:
    """Two columns that matter, the first of which has a near-copy, and noise."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(160, 12)), columns=[f"c{j}" for j in range(12)])
    X["c5"] = X["c0"] + 0.05 * rng.normal(size=160)
    return X, X["c0"] + 0.7 * X["c1"] + 0.5 * pd.Series(rng.normal(size=160))


def test_a_near_copy_in_its_place_is_no_instability(copied: Frame) -> None:
    X, y = copied
    selector = EasyFS(2, random_state=0).fit(X, y)
    report = build_report(selector, X, y, stability=12, pictures=False)
    runs = stability_selection(selector.set_params(task="regression"), X, y, n_runs=12, random_state=0).runs
    one = next(f for f in report.content["features"] if f["name"] in ("c0", "c5"))
    other = "c5" if one["name"] == "c0" else "c0"
    both = np.mean([bool({0, 5} & set(columns.tolist())) for columns in runs])
    assert one["interchangeable"] == {"names": [other], "frequency": pytest.approx(both)}
    assert one["frequency"] is not None
    assert one["frequency"] < both
    sentence = f"“{one['name']}” is interchangeable with “{other}”; one of the two came up in {both:.0%} of the runs."
    assert interchangeable_sentence(one) == sentence
    assert sentence in report.to_markdown()
    assert not any(caution["code"] == "unstable" for caution in report.content["warnings"])


def test_near_copies_inside_the_choice_have_a_badge(copied: Frame) -> None:
    X, y = copied
    report = build_report(EasyFS(3, random_state=0, include=["c0", "c5"]).fit(X, y), X, y, pictures=False)
    places = {f["name"]: [other["place"] for other in f["near_copies"]] for f in report.content["features"]}
    assert (places["c0"], places["c5"], places["c1"]) == ([2], [1], [])
    page = report.to_html()
    assert "near-copy of 1" in page
    assert "near-copy of 2" in page
    share = np.corrcoef(X["c0"], X["c5"])[0, 1] ** 2
    assert f"Near-copies among the chosen columns: “c0” and “c5” ({share:.0%})." in report.to_markdown()


def test_as_many_columns_as_rows_have_no_overlap() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 60)), rng.normal(size=20)
    report = build_report(EasyFS(30, random_state=0).fit(X, y), X, y, pictures=False)
    assert all(feature["redundancy"] is None for feature in report.content["features"])
    assert "copy" not in report.content["set_aside"]["counts"]
    (few,) = [w["text"] for w in report.content["warnings"] if w["code"] == "few_rows"]
    assert few.endswith("As many columns as rows explain any column, so overlap is not shown.")


def test_the_page_counts_its_warnings_once(mixed: Frame) -> None:
    X, y = mixed
    with pytest.warns(UserWarning, match="set aside"):
        selector = EasyFS(6, random_state=0).fit(X, y)
    report = build_report(selector, X, y, pictures=False)
    warnings = count_warnings(report.content)
    notes = len(report.content["warnings"]) - warnings
    assert warnings > 1
    assert notes > 0
    assert f"<dt>warnings</dt><dd>{warnings} <small>and {notes} notes</small></dd>" in report.to_html()
    assert f"{warnings} warnings)" in repr(report)


@pytest.mark.parametrize("command_line", [False, True])
def test_advice_is_in_the_words_of_who_asked(cancer: Frame, command_line: bool) -> None:
    X, y = cancer
    few = X.iloc[:30, :10]
    report = build_report(
        EasyFS(8, random_state=0).fit(few, y[:30]), few, y[:30], pictures=False, command_line=command_line
    )
    for text in (report.to_html(), report.to_markdown()):
        assert ("--stability 50" in text) == command_line
        assert ("stability=50" in text) != command_line
        assert ("(X, y)" in text) != command_line
    assert ("--cv" in report.to_html()) == command_line
    assert ("cv=True" in report.to_html()) != command_line
