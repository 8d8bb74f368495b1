"""Tables of a comparison against numpy by hand, in whatever order the rows come."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wilcoxon
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from easyfs.evaluation import Comparison, compare, jaccard_stability, nogueira_stability
from easyfs.evaluation.significance import mean_ranks

SELECTORS = ("easyfs", "pearson", "random")
SIZES = (1, 3)
FOLDS = ((0, 0), (0, 1), (1, 0), (1, 1))


def table_rows(
    name: str = "heart",
    *,
    metrics: tuple[str, ...] = ("accuracy", "f1"),
    models: tuple[str, ...] = ("svm", "tree"),
    seed: int = 0,
    smaller: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """Rows as a results file has them, with random numbers."""
    rng = np.random.default_rng(seed)
    about = {"name": name, "data": f"{name}-{seed}"}
    rows: list[dict[str, Any]] = [
        {"kind": "data", **about, "rows": 40, "columns": 6, "task": "classification", "selectors": list(SELECTORS)}
        | {"models": list(models), "metrics": list(metrics), "smaller_is_better": list(smaller)}
    ]
    for (repeat, fold), selector in itertools.product(FOLDS, SELECTORS):
        place = about | {"selector": selector, "repeat": repeat, "fold": fold, "key": f"{selector}{repeat}{fold}"}
        order = rng.permutation(6)[:3].tolist()
        found = {
            "status": "ok",
            "seconds": float(rng.uniform()),
            "peak_mb": 1.0,
            "note": "",
            "sizes": [1, 3],
            "order": order,
        }
        rows.append({"kind": "fit", **place, **found})
        for size, model in itertools.product(SIZES, models):
            values = {metric: float(rng.uniform()) for metric in metrics}
            score = {"size": size, "model": model, "status": "ok", "seconds": 0.1, "values": values, "score_key": model}
            rows.append({"kind": "score", **place, **score})
    return rows


def pick(rows: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    """Rows by what they say, in the order of the folds."""
    found = [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]
    return sorted(found, key=lambda row: (row["repeat"], row["fold"]))


def fail(row: dict[str, Any], status: str = "timeout") -> None:
    for part in ("values", "seconds", "order", "sizes"):
        row.pop(part, None)
    row.update(status=status, reason=f"over the {status} limit")


def test_tidy_tables_have_a_row_for_each_fit_and_score() -> None:
    rows = table_rows()
    found = Comparison(rows)
    fits, scores = found.fits(), found.scores()
    assert list(fits.columns) == [
        *["name", "selector", "repeat", "fold", "seconds", "peak_mb", "status", "reason", "note"],
        *["version", "commit", "date", "machine", "libraries", "threads"],
    ]
    assert list(scores.columns) == [
        *["name", "selector", "repeat", "fold", "size", "model", "status", "reason"],
        *["accuracy", "f1"],
    ]
    assert (len(fits), len(scores)) == (12, 48)
    for row in pick(rows, kind="score"):
        place = (
            (scores["selector"] == row["selector"]) & (scores["repeat"] == row["repeat"]) & (scores["fold"] == row["fold"])
        )
        place &= (scores["size"] == row["size"]) & (scores["model"] == row["model"])
        assert scores.loc[place, ["accuracy", "f1"]].to_dict("records") == [row["values"]]
    assert (found.selectors, found.models, found.metrics, found.names) == (
        list(SELECTORS),
        ["svm", "tree"],
        ["accuracy", "f1"],
        ["heart"],
    )
    assert repr(found) == "Comparison(3 selectors, 1 data sets, 48 scores, 0 failures)"


@pytest.mark.parametrize("metric", [None, "f1"])
def test_summary_by_hand(metric: str | None) -> None:
    rows = table_rows()
    fail(pick(rows, kind="score", selector="pearson", size=3, model="svm")[1])
    summary = Comparison(rows).summary(metric)
    assert len(summary) == 3 * 2 * 2
    for line in summary.to_dict("records"):
        place = {part: line[part] for part in ("selector", "size", "model")}
        values = [row["values"][metric or "accuracy"] for row in pick(rows, kind="score", **place) if "values" in row]
        assert line["metric"] == (metric or "accuracy")
        assert line["folds"] == len(values) == (3 if list(place.values()) == ["pearson", 3, "svm"] else 4)
        mean = sum(values) / len(values)
        assert line["mean"] == pytest.approx(mean)
        assert line["spread"] == pytest.approx(np.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)))
        seconds = sorted(row["seconds"] for row in pick(rows, kind="fit", selector=line["selector"]))
        assert line["fit_seconds"] == pytest.approx((seconds[1] + seconds[2]) / 2)


@settings(max_examples=30)
@given(st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(random: Any) -> None:
    """Folds are paired by their number, not by when they were done."""
    rows = table_rows()
    fail(pick(rows, kind="score", selector="easyfs", size=1, model="tree")[2])
    shuffled = list(rows)
    random.shuffle(shuffled)
    found = Comparison(shuffled)
    scores, cells, names = found.matrix("f1", over="folds")
    assert names == list(SELECTORS)
    assert cells == [("heart", size, model) for size in SIZES for model in ("svm", "tree") for _ in FOLDS]
    expected = [
        [
            pick(rows, kind="score", selector=s, size=size, model=model)[k].get("values", {}).get("f1", np.nan)
            for s in SELECTORS
        ]
        for size in SIZES
        for model in ("svm", "tree")
        for k in range(4)
    ]
    np.testing.assert_array_equal(scores, expected)
    whole = Comparison(rows)
    pd.testing.assert_frame_equal(found.summary(), whole.summary())
    assert found.to_markdown() == whole.to_markdown()
    assert found.ranks() == whole.ranks()


def test_a_fold_in_which_a_fit_failed_is_a_gap_and_not_a_shift() -> None:
    rows = table_rows()
    fail(pick(rows, kind="fit", selector="pearson")[0], "memory")
    rows = [row for row in rows if row["kind"] != "score" or row["key"] != "pearson00"]
    values = Comparison(rows).values()["heart", 1, "svm", "pearson"]
    expected = [row["values"]["accuracy"] for row in pick(rows, kind="score", selector="pearson", size=1, model="svm")]
    np.testing.assert_array_equal(values, [np.nan, *expected])


def test_failures_are_listed_with_their_reasons() -> None:
    rows = table_rows()
    fail(pick(rows, kind="fit", selector="pearson")[0], "memory")
    fail(pick(rows, kind="score", selector="random", size=3, model="tree")[3])
    found = Comparison(rows)
    listed = {(row["kind"], row["selector"], row["status"], row["reason"]) for row in found.failures()}
    assert listed == {
        ("fit", "pearson", "memory", "over the memory limit"),
        ("score", "random", "timeout", "over the timeout limit"),
    }
    assert "2 failures" in repr(found)
    assert found.fits()["reason"].notna().sum() == 1


def test_a_later_row_takes_the_place_of_an_earlier_one() -> None:
    rows = table_rows()
    row = pick(rows, kind="score", selector="pearson", size=1, model="svm")[0]
    failed = dict(row)
    fail(failed)
    assert Comparison([*rows, failed]).failures() == [failed]
    assert Comparison([failed, *rows]).failures() == []


def test_matrix_over_means_and_over_folds() -> None:
    rows = table_rows()
    found = Comparison(rows)
    means, cells, _ = found.matrix(over="means")
    assert cells == [("heart", size, model) for size in SIZES for model in ("svm", "tree")]
    for line, (_, size, model) in zip(means, cells, strict=True):
        for value, selector in zip(line, SELECTORS, strict=True):
            own = pick(rows, kind="score", selector=selector, size=size, model=model)
            assert value == pytest.approx(np.mean([row["values"]["accuracy"] for row in own]))
    # One data set: folds. Several: means.
    assert found.matrix()[0].shape == (16, 3)
    assert found.matrix(model="tree")[0].shape == (8, 3)
    assert {cell[2] for cell in found.matrix(model="tree")[1]} == {"tree"}
    both = Comparison(rows + table_rows("wine", seed=1))
    assert both.matrix()[0].shape == (8, 3)
    assert both.matrix(over="folds")[0].shape == (32, 3)


def test_less_is_better_turns_the_sign() -> None:
    rows = table_rows(metrics=("nmse",), smaller=("nmse",))
    found = Comparison(rows)
    values = found.values()["heart", 1, "svm", "pearson"]
    np.testing.assert_array_equal(found.matrix()[0][:4, 1], -values)
    assert (values > 0).all()
    means = found.summary().groupby("selector")["mean"].mean()
    assert set(found.ranks()) == set(means.index)
    best = found.matrix(over="means")[0].mean(axis=0).argmax()
    assert SELECTORS[best] == means.idxmin()


def found_rows(found: Comparison) -> list[Any]:
    return [*found.data.values(), *found.fit_rows.values(), *found.score_rows.values()]


def test_ranks_friedman_and_duels_are_those_of_the_matrix() -> None:
    found = Comparison(table_rows() + table_rows("wine", seed=1))
    scores, cells, names = found.matrix("f1")
    ranks = dict(zip(names, mean_ranks(scores), strict=True))
    assert found.ranks("f1", over="means") == pytest.approx(ranks)
    assert list(found.ranks("f1", over="means")) == sorted(ranks, key=lambda name: ranks[name])
    test = found.friedman("f1", over="means", level=0.1)
    np.testing.assert_allclose(test.ranks, mean_ranks(scores))
    assert (test.n_cells, test.level) == (8, 0.1)
    # By default a table counts once; several data sets may be of one table.
    assert found.friedman("f1").n_cells == 2
    assert Comparison(found_rows(found), {"heart": "one", "wine": "one"}).friedman("f1").n_cells == 1
    blocks = [cell[0] for cell in cells]
    assert found.ranks("f1") == pytest.approx(dict(zip(names, mean_ranks(scores, blocks), strict=True)))
    first, second = found.duels("pearson", "f1", over="means", tie=0.1)
    assert (first.against, second.against) == ("easyfs", "random")
    gap = scores[:, 1] - scores[:, 0]
    assert first.wins == (gap > 0.1).sum()
    assert first.p_value == pytest.approx(wilcoxon(gap).pvalue)


def test_a_selector_that_gave_nothing_ranks_last() -> None:
    rows = table_rows()
    for row in pick(rows, kind="fit", selector="pearson"):
        fail(row)
    rows = [row for row in rows if row["kind"] != "score" or row["selector"] != "pearson"]
    found = Comparison(rows)
    scores, _, names = found.matrix()
    assert names == list(SELECTORS)
    assert np.isnan(scores[:, 1]).all()
    assert found.ranks()["pearson"] == 3.0
    assert list(found.ranks())[-1] == "pearson"


def test_stability_by_hand() -> None:
    rows = table_rows()
    table = Comparison(rows).stability().set_index(["selector", "size"])
    assert len(table) == 6
    for (selector, size), line in table.iterrows():
        sets = [row["order"][:size] for row in pick(rows, kind="fit", selector=selector)]
        assert line["nogueira"] == pytest.approx(nogueira_stability(sets, 6))
        assert line["jaccard"] == pytest.approx(jaccard_stability(sets))


def test_stability_of_a_real_comparison() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 12))
    y = (X[:, 3] + X[:, 7] > 0).astype(int)
    found = compare(["pearson"], X, y, sizes=[2], models=GaussianNB(), folds=4, repeats=2)
    table = found.stability().set_index("selector")
    assert table.loc["pearson", "nogueira"] > 0.9
    assert abs(table.loc["random", "nogueira"]) < 0.4


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_loading_several_files(tmp_path: Path) -> None:
    one = table_rows()
    two = table_rows("wine", metrics=("nmse",), models=("svr",), seed=1, smaller=("nmse",))
    paths = [write(tmp_path / "one.jsonl", one), write(tmp_path / "two.jsonl", two)]
    found = Comparison.load(*paths)
    assert found.names == ["heart", "wine"]
    assert found.metrics == ["accuracy", "f1", "nmse"]
    assert found.models == ["svm", "tree", "svr"]
    assert len(found.scores()) == 48 + 24
    # Each data set by its own first measure, with its own sign.
    summary = found.summary()
    assert summary.groupby("name")["metric"].unique().map(list).to_dict() == {"heart": ["accuracy"], "wine": ["nmse"]}
    scores, cells, _ = found.matrix()
    assert [(scores[k] < 0).all() for k in range(len(cells))] == [cell[0] == "wine" for cell in cells]
    assert Comparison.load(str(paths[0])).summary().equals(Comparison(one).summary())
    with pytest.raises(FileNotFoundError, match=r"missing\.jsonl"):
        Comparison.load(paths[0], tmp_path / "missing.jsonl")


def test_files_of_one_table_that_were_run_apart_come_together(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5))
    y = (X[:, 1] > 0).astype(int)
    how: dict[str, Any] = {"folds": 2, "repeats": 1}
    compare(["pearson"], X, y, sizes=[1], models=GaussianNB(), results=tmp_path / "a", **how)
    compare(["fisher_score"], X, y, sizes=[1, 2], models=DecisionTreeClassifier(), results=tmp_path / "b", **how)
    found = Comparison.load(tmp_path / "a", tmp_path / "b")
    assert found.selectors == ["pearson", "random", "fisher_score"]
    assert found.models == ["GaussianNB", "DecisionTreeClassifier"]
    assert len(found.scores()) == 2 * 2 + 2 * 2 * 2


def test_not_a_number_survives_the_file(tmp_path: Path) -> None:
    rows = table_rows(metrics=("nmse",))
    pick(rows, kind="score", selector="easyfs", size=1, model="svm")[0]["values"] = {"nmse": None}
    pick(rows, kind="fit", selector="easyfs")[0]["peak_mb"] = None
    found = Comparison.load(write(tmp_path / "one.jsonl", rows))
    assert np.isnan(found.values()["heart", 1, "svm", "easyfs"][0])
    line = found.summary().query("selector == 'easyfs' and size == 1 and model == 'svm'").iloc[0]
    assert line["folds"] == 3
    assert found.failures() == []


def markdown_table(text: str) -> list[list[str]]:
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines()]
    assert len({len(line) for line in lines}) == 1
    assert set(lines.pop(1)) == {"---"}
    return lines


@pytest.mark.parametrize("smaller", [(), ("accuracy",)])
def test_markdown_by_hand(smaller: tuple[str, ...]) -> None:
    rows = table_rows(smaller=smaller)
    fail(pick(rows, kind="score", selector="pearson", size=3, model="svm")[1])
    for row in pick(rows, kind="score", selector="random", size=1, model="tree"):
        fail(row)
    found = Comparison(rows)
    head, *lines = markdown_table(found.to_markdown())
    assert head == ["data", "columns", "model", "measure", *SELECTORS]
    assert [line[:4] for line in lines] == [["heart", str(s), m, "accuracy"] for s in SIZES for m in ("svm", "tree")]
    summary = found.summary().set_index(["size", "model", "selector"])
    for line in lines:
        means = {}
        for cell, selector in zip(line[4:], SELECTORS, strict=True):
            own = summary.loc[int(line[1]), line[2], selector]
            if own["folds"] == 0:
                assert cell == "—"
                continue
            number = re.fullmatch(r"(\*\*)?(\d\.\d{3}) ± (\d\.\d{3})( \((\d) failed\))?(\*\*)?", cell)
            assert number is not None
            assert float(number[2]) == pytest.approx(own["mean"], abs=6e-4)
            assert float(number[3]) == pytest.approx(own["spread"], abs=6e-4)  # the same spread as in the summary
            assert int(number[5] or 0) == 4 - own["folds"]
            means[selector] = (own["mean"], bool(number[1]))
        best = (min if smaller else max)(means, key=lambda s: means[s][0])
        assert [s for s in means if means[s][1]] == [best]


def test_markdown_of_one_model_has_no_column_for_it() -> None:
    head, *lines = markdown_table(Comparison(table_rows(models=("svm",))).to_markdown("f1"))
    assert head == ["data", "columns", "measure", *SELECTORS]
    assert {line[2] for line in lines} == {"f1"}


@pytest.mark.parametrize("method", ["summary", "values", "matrix", "ranks", "friedman", "to_markdown", "plot_sizes"])
def test_a_measure_that_was_not_taken_is_named(method: str) -> None:
    with pytest.raises(ValueError, match="metric='auc' was not measured; there are accuracy, f1"):
        getattr(Comparison(table_rows()), method)("auc")


@pytest.mark.parametrize("method", ["matrix", "ranks", "friedman"])
def test_a_model_that_was_not_compared_is_named(method: str) -> None:
    with pytest.raises(ValueError, match="forest"):
        getattr(Comparison(table_rows()), method)(model="forest")


def test_other_wrong_arguments_are_named() -> None:
    found = Comparison(table_rows())
    with pytest.raises(ValueError, match="selector='lasso' was not compared; there are easyfs, pearson, random"):
        found.duels("lasso")
    with pytest.raises(ValueError, match="over='sizes'"):
        found.ranks(over="sizes")
