"""The figure of a selection shows its numbers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt

from easyfs import EasyFS, make_selector

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.standard_normal((150, 9)), columns=[*"abcdefgh", "$x^{2$ and a very long name, indeed"])
Y = pd.Series(TABLE["b"] * 2 + TABLE["e"] + 0.5 * RNG.standard_normal(150), name="price")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def labels(ax: Any) -> list[str]:
    ax.figure.canvas.draw()
    return [text.get_text() for text in ax.get_legend().get_texts()]


def bars(ax: Any, label: str) -> list[float]:
    return [bar.get_height() for held in ax.containers if held.get_label() == label for bar in held]


def line(ax: Any, label: str) -> Any:
    return next(found for found in ax.lines if found.get_label() == label)


def test_gains_and_their_sum() -> None:
    selector = EasyFS(random_state=0).fit(TABLE, Y)
    ax = selector.plot()
    assert selector.beyond_chance_ is not None
    assert selector.beyond_chance_.all()
    assert labels(ax) == ["explained together", "2 chosen", "added", "would have added, not chosen"]
    np.testing.assert_allclose(bars(ax, "added"), selector.gains_)
    np.testing.assert_allclose(bars(ax, "would have added, not chosen"), selector.scores_[selector.order_[2:7]])
    np.testing.assert_allclose(line(ax, "explained together").get_ydata(), np.cumsum(selector.gains_))
    assert line(ax, "2 chosen").get_xdata()[0] == 2.5
    assert ax.get_title() == "EasyFS: 2 of 9 columns for price"
    assert [text.get_text() for text in ax.get_xticklabels()][:2] == ["b", "e"]


def test_columns_that_tell_no_more_than_chance_are_apart() -> None:
    selector = EasyFS(6, random_state=0).fit(TABLE, Y)
    ax = selector.plot()
    beyond = selector.beyond_chance_
    assert beyond is not None
    assert 0 < beyond.sum() < 6
    np.testing.assert_allclose(bars(ax, "added"), selector.gains_[beyond])
    np.testing.assert_allclose(bars(ax, "added, no more than chance would"), selector.gains_[~beyond])
    shorter = selector.truncate(1).plot()
    assert "1 chosen" in labels(shorter)
    np.testing.assert_allclose(bars(shorter, "added"), selector.gains_[:1])


def test_the_curve_of_cross_validation() -> None:
    selector = EasyFS("cv", random_state=0).fit(TABLE, Y)
    ax = selector.plot()
    curve = line(ax, "explained in rows left out")
    np.testing.assert_allclose(curve.get_xdata(), selector.cv_results_["n_features"])
    np.testing.assert_allclose(curve.get_ydata(), selector.cv_results_["mean_test_score"])
    assert line(ax, f"{selector.n_features_} chosen").get_xdata()[0] == selector.n_features_
    assert "would have added, not chosen" not in labels(ax)


def test_another_method_shows_its_scores() -> None:
    selector = make_selector("pearson", 3).fit(TABLE, Y)
    ax = selector.plot()
    assert labels(ax) == ["3 chosen", "score"]
    np.testing.assert_allclose(bars(ax, "score"), selector.scores_[selector.order_[:3]])
    assert ax.get_ylabel() == "score of PearsonSelector"


def test_without_a_target_and_without_names() -> None:
    ax = EasyFS(2, random_state=0).fit(TABLE.to_numpy()).plot()
    assert ax.get_ylabel() == "share covered"
    assert ax.get_title() == "EasyFS: 2 of 9 columns"


def test_odd_names_are_drawn_as_they_are(tmp_path: Any) -> None:
    table = TABLE.rename(columns={"b": "$\\frac{$", "e": "line\nbreak <b>"})
    ax = EasyFS(9, random_state=0).fit(table, Y.rename("$price")).plot()
    ax.figure.savefig(tmp_path / "figure.png")
    shown = [text.get_text() for text in ax.get_xticklabels()]
    assert shown[:2] == ["$\\frac{$", "line break <b>"]
    assert "$x^{2$ and a very lon…" in shown


def test_many_columns_have_no_names() -> None:
    X = RNG.standard_normal((60, 80))
    ax = EasyFS(70, interactions=False, random_state=0).fit(X, X[:, 0]).plot()
    assert ax.get_xlabel() == "columns, in the order of choice"


def test_axes_that_are_given_are_used() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    assert EasyFS(2, random_state=0).fit(TABLE, Y).plot(ax=right) is right
    assert figure.axes == [left, right]
    assert not left.lines


def test_matplotlib_is_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    selector = EasyFS(2, random_state=0).fit(TABLE, Y)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"easyfs-ml\[report\]"):
        selector.plot()


def test_a_selector_that_is_not_fitted_has_nothing_to_show() -> None:
    with pytest.raises(Exception, match="not fitted"):
        EasyFS().plot()
