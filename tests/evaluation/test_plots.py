"""Figures show every selector, with the numbers of the tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

mpl.use("Agg")

import matplotlib.pyplot as plt
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from easyfs import PearsonSelector
from easyfs.evaluation import Comparison, compare
from easyfs.evaluation.plots import _not_told_apart, look
from easyfs.evaluation.store import Store


@pytest.fixture(scope="module")
def found() -> Comparison:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((45, 8))
    y = (X[:, 3] + X[:, 6] > 0).astype(int)
    selectors = {"easyfs": "easyfs", "pearson": "pearson", "mine": PearsonSelector(exclude=[3]), "all": "all"}
    models = {"nb": GaussianNB(), "tree": DecisionTreeClassifier()}
    return compare(selectors, X, y, sizes=[1, 2, 4], models=models, folds=3, repeats=1, name="noise")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def texts(ax: Any) -> str:
    """All that can be read in a figure, once it is drawn."""
    ax.figure.canvas.draw()
    own = [text.get_text() for text in ax.texts]
    legend = ax.get_legend()
    listed = [] if legend is None else [text.get_text() for text in legend.get_texts()]
    return "\n".join([*own, *listed, ax.get_title(), ax.get_xlabel(), ax.get_ylabel()])


PLOTS = ["plot_sizes", "plot_time", "plot_critical_difference"]


@pytest.mark.parametrize("plot", PLOTS)
def test_every_selector_can_be_read(found: Comparison, plot: str) -> None:
    shown = texts(getattr(found, plot)())
    for selector in ("easyfs", "pearson", "mine", "random"):
        assert selector in shown
    if plot == "plot_sizes":
        assert "all columns" in shown


@pytest.mark.parametrize("plot", PLOTS)
def test_axes_that_are_given_are_used(found: Comparison, plot: str) -> None:
    figure, (left, right) = plt.subplots(1, 2)
    before = plt.get_fignums()
    assert getattr(found, plot)(ax=right) is right
    assert plt.get_fignums() == before
    assert not left.lines
    assert right.lines or right.collections
    assert figure.axes == [left, right]


@pytest.mark.parametrize("model", [None, "tree"])
@pytest.mark.parametrize("metric", [None, "balanced_accuracy"])
def test_curves_are_the_means_of_the_summary(found: Comparison, metric: str | None, model: str | None) -> None:
    ax = found.plot_sizes(metric, model=model)
    summary = found.summary(metric).query(f"model == '{model or 'nb'}'")
    lines = {line.get_label(): line for line in ax.lines}
    for selector in ("easyfs", "pearson", "mine", "random"):
        own = summary.query(f"selector == '{selector}'")
        np.testing.assert_allclose(lines[selector].get_xdata(), own["size"])
        np.testing.assert_allclose(lines[selector].get_ydata(), own["mean"])
    everything = summary.query("selector == 'all'")["mean"].iloc[0]
    np.testing.assert_allclose(lines["all columns"].get_ydata(), everything)
    assert (model or "nb") in ax.get_title()
    assert "noise" in ax.get_title()
    assert ax.get_ylabel().replace(" ", "_") == (metric or "accuracy")


def test_points_are_time_and_score(found: Comparison) -> None:
    for size in (None, 2):
        ax = found.plot_time(size=size)
        own = found.summary().query(f"model == 'nb' and size == {size or 4} and selector != 'all'")
        points = sorted(tuple(np.asarray(part.get_offsets())[0]) for part in ax.collections)
        np.testing.assert_allclose(points, sorted(zip(own["fit_seconds"], own["mean"], strict=True)))
        assert ax.get_xscale() == "log"


def test_ranks_and_critical_difference_are_those_of_the_test(tmp_path: Any) -> None:
    X = np.random.default_rng(0).standard_normal((30, 5))
    for name, column in (("one", 1), ("other", 2)):
        compare(
            ["easyfs", "pearson", "fisher_score"],
            X,
            (X[:, column] > 0).astype(int),
            sizes=[1, 2],
            models=GaussianNB(),
            name=name,
            folds=2,
            repeats=1,
            results=tmp_path / "both.jsonl",
        )
    found = Comparison(Store(tmp_path / "both.jsonl").rows)
    shown = texts(found.plot_critical_difference())
    test = found.friedman()
    for selector, rank in found.ranks().items():
        assert f"{selector} ({rank:.2f})" in shown
    assert f"critical difference {test.critical_difference:.2f}" in shown


def test_folds_of_one_data_set_are_ranked_but_not_tested(found: Comparison) -> None:
    shown = texts(found.plot_critical_difference(model="nb"))
    for selector, rank in found.ranks(model="nb").items():
        assert f"{selector} ({rank:.2f})" in shown
    assert "no test of significance" in shown
    assert "critical difference" not in shown


def test_an_error_says_that_less_is_better() -> None:
    X = np.random.default_rng(0).standard_normal((30, 3))
    found = compare(["pearson"], X, X[:, 1], sizes=[1, 2], models=Ridge(), folds=2, repeats=1)
    assert "less is better" in found.plot_sizes().get_ylabel()


def test_each_of_several_data_sets_is_drawn_with_its_own_model(found: Comparison, tmp_path: Any) -> None:
    """Classes with one model and numbers with another, as by default."""
    X = np.random.default_rng(0).standard_normal((30, 3))
    how: dict[str, Any] = {"sizes": [1, 2], "folds": 2, "repeats": 1, "results": tmp_path / "both.jsonl"}
    compare(["pearson"], X, (X[:, 1] > 0).astype(int), models=GaussianNB(), name="classes", **how)
    compare(["pearson"], X, X[:, 1], models=Ridge(), name="numbers", **how)
    both = Comparison(Store(tmp_path / "both.jsonl").rows)
    for name in ("classes", "numbers"):
        ax = both.plot_sizes(name=name)
        assert {"pearson", "random"} <= {line.get_label() for line in ax.lines}
        assert "pearson" in texts(both.plot_time(name=name))
        assert name in ax.get_title()


def test_a_selector_that_failed_does_not_spoil_a_figure() -> None:
    class Broken(PearsonSelector):
        def fit(self, X: Any, y: Any = None) -> Any:
            raise ValueError("broken")

    X = np.random.default_rng(0).standard_normal((30, 3))
    y = (X[:, 1] > 0).astype(int)
    found = compare({"broken": Broken(), "pearson": "pearson"}, X, y, sizes=[1, 2], models=GaussianNB(), folds=2, repeats=1)
    for plot in PLOTS:
        assert "pearson" in texts(getattr(found, plot)())


def test_lines_can_be_told_apart() -> None:
    names = [f"s{k}" for k in range(20)] + ["random", "EasyFS"]
    looks = look(names)
    assert set(looks) == set(names)
    assert len({(entry["color"], entry["linestyle"]) for entry in looks.values()}) == len(names)
    assert looks["EasyFS"]["linewidth"] == max(entry["linewidth"] for entry in looks.values())


@given(st.lists(st.integers(2, 40).map(lambda r: r / 2), min_size=1, max_size=10), st.sampled_from([0.25, 1.0, 2.5, 30.0]))
def test_bars_join_the_longest_runs_within_the_difference(ranks: list[float], difference: float) -> None:
    ranks = sorted(ranks)
    runs = [(a, b) for a in range(len(ranks)) for b in range(a + 1, len(ranks)) if ranks[b] - ranks[a] <= difference]
    longest = [(a, b) for a, b in runs if not any(c <= a and b <= d and (a, b) != (c, d) for c, d in runs)]
    assert _not_told_apart(np.array(ranks), difference) == longest


@pytest.mark.parametrize("plot", ["plot_sizes", "plot_time"])
def test_data_that_were_not_compared_are_named(found: Comparison, plot: str) -> None:
    with pytest.raises(ValueError, match="wine"):
        getattr(found, plot)(name="wine")


def test_a_size_or_model_that_was_not_measured_is_named(found: Comparison) -> None:
    with pytest.raises(ValueError, match="3"):
        found.plot_time(size=3)
    with pytest.raises(ValueError, match="forest"):
        found.plot_sizes(model="forest")
