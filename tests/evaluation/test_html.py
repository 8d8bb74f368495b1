"""A comparison in a notebook: every number of the summary, all ties in bold, nothing of the data taken for markup."""

from __future__ import annotations

import itertools
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.naive_bayes import GaussianNB

from easyfs.evaluation import Comparison, compare
from easyfs.evaluation.html import best_of

HOSTILE = "<script>alert('x')</script> & \"me\""


def comparison(
    scores: dict[str, dict[int, list[float | None]]], name: str = "heart", *, smaller: bool = False, model: str = "svm"
) -> Comparison:
    """A comparison of these scores: method, size, folds; None is a fold that failed."""
    about = {"name": name, "data": name}
    lists: dict[str, Any] = {"selectors": list(scores), "models": [model], "metrics": ["accuracy"]}
    lists["smaller_is_better"] = ["accuracy"] if smaller else []
    rows: list[dict[str, Any]] = [{"kind": "data", **about, "rows": 40, "columns": 6, "task": "regression", **lists}]
    for method, by_size in scores.items():
        for fold in range(max(map(len, by_size.values()))):
            place = about | {"selector": method, "repeat": 0, "fold": fold, "key": f"{method}{fold}"}
            rows.append({"kind": "fit", **place, "status": "ok", "seconds": 0.1, "order": [0, 1], "columns": 6})
            for size, folds in by_size.items():
                value = folds[fold]
                failed = {"status": "failed", "reason": HOSTILE} if value is None else {"status": "ok"}
                measured = {} if value is None else {"values": {"accuracy": value}}
                rows.append({"kind": "score", **place, "size": size, "model": model, **failed, **measured})
    return Comparison(rows)


class Read(HTMLParser):
    """Tables of a page: rows of (text, class), and every tag."""

    def __init__(self, text: str):
        super().__init__()
        self.rows: list[list[tuple[str, str]]] = []
        self.tags: list[str] = []
        self.text = ""
        self._open = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append(("", dict(attrs).get("class") or ""))
        self._open = tag in ("td", "th")

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._open:
            text, own = self.rows[-1][-1]
            self.rows[-1][-1] = (text + data, own)


def shown(found: Comparison) -> Read:
    return Read(found._repr_html_())


def test_means_spreads_sizes_and_the_control() -> None:
    found = comparison({"easyfs": {2: [0.9, 0.8], 5: [0.7, 0.7]}, "random": {2: [0.1, 0.3], 5: [0.8, 0.9]}})
    page = shown(found)
    table = {row[0][0]: row[1:] for row in page.rows}
    assert [text for text, _ in table["columns"]] == ["2", "5"]
    assert table["easyfs"] == [("0.850 ± 0.071", "best"), ("0.700 ± 0.000", "")]
    assert table["random"] == [("0.200 ± 0.141", ""), ("0.850 ± 0.071", "best")]
    assert "random is the control" in page.text
    assert "40 rows, 6 columns, regression" in page.text
    assert "more is better" in page.text


@pytest.mark.parametrize("smaller", [False, True])
def test_all_ties_are_bold(smaller: bool) -> None:
    """Also those that only read the same."""
    scores = {"a": [0.5, 0.7], "b": [0.7, 0.5], "c": [0.6001, 0.6003], "d": [0.4, 0.4] if not smaller else [0.9, 0.9]}
    found = comparison({name: {3: folds} for name, folds in scores.items()}, smaller=smaller)
    bold = {row[0][0] for row in shown(found).rows if row[-1][1] == "best"}
    assert bold == {"a", "b", "c"}
    assert found.to_markdown().count("**") == 6


def test_failures_are_said() -> None:
    found = comparison({"a": {1: [0.5, None]}, "b": {1: [None, None]}, "random": {1: [0.1, 0.1]}})
    page = shown(found)
    table = {row[0][0]: row[1][0] for row in page.rows}
    assert table["a"] == "0.500 (1 failed)"
    assert table["b"] == "—"
    assert f"b failed 2 times: {HOSTILE}" in page.text
    assert "script" not in page.tags


def test_nothing_is_taken_for_markup() -> None:
    found = comparison({HOSTILE: {1: [0.5]}, "random": {1: [0.1]}}, name=HOSTILE, model=HOSTILE)
    page = shown(found)
    assert set(page.tags) == {"div", "style", "p", "b", "i", "table", "caption", "tr", "th", "td"}
    assert page.text.count(HOSTILE) == 3


def test_of_a_real_comparison() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((45, 8))
    y = (X[:, 3] + X[:, 6] > 0).astype(int)
    found = compare(["pearson", "all"], X, y, sizes=[1, 2], models=GaussianNB(), folds=3, repeats=1, name="noise")
    page = shown(found)
    summary = found.summary()
    for selector, size in itertools.product(["pearson", "random"], [1, 2]):
        mean = summary.query(f"selector == '{selector}' and size == {size}")["mean"].iloc[0]
        assert f"{mean:.3f} ± " in page.text
    assert "all 8 columns: " in page.text


def test_several_data_sets_have_a_table_each() -> None:
    rows = []
    for name in ("one", "two"):
        made = comparison({"a": {1: [0.5]}, "random": {1: [0.1]}}, name=name)
        rows += [made.data[name], *made.fit_rows.values(), *made.score_rows.values()]
    assert shown(Comparison(rows)).tags.count("table") == 2


@given(st.dictionaries(st.text(max_size=2), st.floats(-2, 2), max_size=6), st.booleans())
def test_the_best_are_all_that_read_as_the_best(means: dict[str, float], smaller: bool) -> None:
    best = best_of(means, smaller_is_better=smaller)
    assert bool(best) == bool(means)
    sign = -1 if smaller else 1
    for name, mean in means.items():
        others = [sign * round(other, 3) for other in means.values()]
        assert (name in best) == (sign * round(mean, 3) == max(others))
