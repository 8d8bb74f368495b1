"""Spectral feature selection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import linalg
from sklearn.metrics.pairwise import rbf_kernel

from easyfs import FisherScoreSelector, SPECSelector
from easyfs.baselines.graphs import ClassGraph, neighbor_graph
from easyfs.baselines.spec import FULL_ROWS, spec_scores

from .parity import cases, load

Array = NDArray[Any]

STYLES = (-1, 0, 2, 5)


def scores_slowly(W: Array, X: Array, style: int) -> Array:
    """With all eigenvectors of the normalised Laplacian, as in the paper."""
    d = W.sum(axis=1)
    laplacian = np.eye(len(W)) - W / np.sqrt(np.outer(d, d))
    values, vectors = linalg.eigh(laplacian)
    F = np.sqrt(d)[:, None] * X
    F = F / np.linalg.norm(F, axis=0)
    trivial = np.sqrt(d) / np.linalg.norm(np.sqrt(d))
    parts = (vectors.T @ F) ** 2
    if style == -1:
        return np.asarray(values @ parts)
    if style == 0:
        return np.asarray(values[1:] @ parts[1:] / (1 - (trivial @ F) ** 2))
    return np.asarray((2 - values[1:style]) @ parts[1:style])


def table(n: int = 60, d: int = 6, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1) + 2.0


def clustered(n: int = 150, d: int = 10, columns: tuple[int, ...] = (2, 7), seed: int = 0) -> tuple[Array, Array]:
    """Three clusters that only some columns tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    cluster = rng.integers(0, 3, n)
    X[:, columns] += 12.0 * rng.standard_normal((3, len(columns)))[cluster]
    return X, cluster


@pytest.mark.parametrize("style", STYLES)
def test_scores_equal_those_from_all_eigenvectors(style: int) -> None:
    X = table()
    for W in (rbf_kernel(X, gamma=0.05), neighbor_graph(X, 6).toarray()):
        np.testing.assert_allclose(spec_scores(W, X, style), scores_slowly(W, X, style), rtol=1e-8)
    W = neighbor_graph(X, 6)
    np.testing.assert_allclose(spec_scores(W, X, style), scores_slowly(W.toarray(), X, style), rtol=1e-8)


@pytest.mark.parametrize("style", STYLES)
def test_selector_equals_its_graphs(style: int) -> None:
    X = table()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    sign = 1 if style > 0 else -1
    for T, standardize in ((Z, True), (X, False)):
        gamma = 1 / T.var(axis=0).sum()
        for settings, W in (
            ({"gamma": 0.1}, rbf_kernel(T, gamma=0.1)),
            ({"affinity": "rbf"}, rbf_kernel(T, gamma=gamma)),
            ({"affinity": "neighbors", "n_neighbors": 4}, neighbor_graph(T, 4, width=np.sqrt(0.5 / gamma)).toarray()),
        ):
            selector = SPECSelector(style=style, standardize=standardize, **settings).fit(X)
            np.testing.assert_allclose(selector.scores_, sign * scores_slowly(W, T, style), rtol=1e-7)


def test_gamma_is_one_over_the_number_of_standardised_columns_by_default() -> None:
    X = table()
    np.testing.assert_allclose(SPECSelector().fit(X).scores_, SPECSelector(gamma=1 / 6).fit(X).scores_, rtol=1e-10)


@pytest.mark.parametrize("style", STYLES)
def test_all_neighbors_give_the_full_kernel(style: int) -> None:
    X = table()
    full = SPECSelector(style=style).fit(X)
    np.testing.assert_allclose(
        SPECSelector(style=style, affinity="neighbors", n_neighbors=59).fit(X).scores_, full.scores_, rtol=1e-8
    )


def test_auto_takes_neighbors_beyond_a_number_of_rows() -> None:
    for n, affinity in ((FULL_ROWS, "rbf"), (FULL_ROWS + 1, "neighbors")):
        X = table(n, 3)
        auto, named = (SPECSelector(affinity=name).fit(X) for name in ("auto", affinity))
        np.testing.assert_array_equal(auto.scores_, named.scores_)


@pytest.mark.parametrize("stem", cases("spec_"))
def test_scores_equal_the_reference(stem: str) -> None:
    stored = load(stem)
    for style, name in ((-1, "m1"), (0, "0"), (2, "2"), (5, "5")):
        selector = SPECSelector(style=style, affinity="rbf", gamma=stored["params"]["gamma"], standardize=False)
        scores = selector.fit(stored["X"]).scores_
        rtol = 1e-7 if style > 0 else 1e-9
        np.testing.assert_allclose(scores if style > 0 else -scores, stored[f"scores_style_{name}"], rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("stem", [stem for stem in cases("spec_gamma1d") if str(stem).endswith("wine")] or cases("spec_"))
def test_the_order_is_that_of_the_paper_and_the_reference_has_it_the_other_way_round(stem: str) -> None:
    stored = load(stem)
    for style, name in ((-1, "m1"), (0, "0"), (2, "2"), (5, "5")):
        selector = SPECSelector(style=style, affinity="rbf", gamma=stored["params"]["gamma"], standardize=False)
        order = selector.fit(stored["X"]).order_
        np.testing.assert_array_equal(order[::-1], stored[f"ranking_style_{name}_reference"])
    fisher = FisherScoreSelector().fit(stored["X"], stored["y"])
    order = SPECSelector(affinity="rbf", gamma=stored["params"]["gamma"], standardize=False).fit(stored["X"]).order_
    assert order[0] == fisher.order_[0] == stored["ranking_style_0_reference"][-1]
    assert order[-1] == fisher.order_[-1] == stored["ranking_style_0_reference"][0]


@pytest.mark.parametrize("affinity", ["rbf", "neighbors", "class"])
@pytest.mark.parametrize("style", [-1, 0, 3])
def test_columns_that_tell_clusters_apart_come_first(style: int, affinity: str) -> None:
    for seed in range(3):
        X, cluster = clustered(seed=seed)
        assert set(SPECSelector(2, style=style, affinity=affinity).fit(X, cluster).order_[:2]) == {2, 7}


def class_matrix(codes: Array) -> Array:
    same = codes[:, None] == codes
    return same / same.sum(axis=1)


def test_classes_equal_their_matrix() -> None:
    X = table()
    codes = np.random.default_rng(0).integers(0, 4, 60)
    for style in (-1, 0):
        slow = scores_slowly(class_matrix(codes), X, style)
        np.testing.assert_allclose(spec_scores(ClassGraph(codes), X, style), slow, rtol=1e-8)
    # With as many eigenvectors as classes, or all of them, the result does not depend on a choice of basis.
    F = X / np.linalg.norm(X, axis=0)
    ones = np.ones(60) / np.sqrt(60)
    for style in (4, 60):
        values, vectors = linalg.eigh(np.eye(60) - class_matrix(codes) - 1e-6 * np.outer(ones, ones))
        slow = (2 - values[1:style]) @ np.square(vectors[:, 1:style].T @ F)
        np.testing.assert_allclose(spec_scores(ClassGraph(codes), X, style), slow, rtol=1e-5)
    np.testing.assert_allclose(spec_scores(ClassGraph(codes), X, 100), spec_scores(ClassGraph(codes), X, 60), rtol=1e-12)


def test_of_eigenvectors_with_one_eigenvalue_an_equal_share_is_taken() -> None:
    """What a random choice of them gives in the mean."""
    rng = np.random.default_rng(0)
    X = table(32)
    codes = np.arange(32) % 4
    centred = X - X.mean(axis=0)
    means = np.stack([centred[codes == c].mean(axis=0) for c in codes])
    basis = linalg.orth(np.stack([(codes == c) - 0.25 for c in range(4)], axis=1))
    assert basis.shape == (32, 3)
    rest = linalg.null_space(np.column_stack([basis, np.ones(32)]).T)
    draws = {style: np.zeros(X.shape[1]) for style in (2, 3, 10)}
    for _ in range(4000):
        turn = linalg.qr(rng.standard_normal((3, 3)))[0]
        far = linalg.qr(rng.standard_normal((28, 6)), mode="economic")[0]
        parts = np.square((basis @ turn).T @ X), np.square((rest @ far).T @ X)
        for style in draws:
            draws[style] += 2 * parts[0][: style - 1].sum(axis=0) + (parts[1].sum(axis=0) if style == 10 else 0.0)
    for style, total in draws.items():
        slow = total / 4000 / np.square(X).sum(axis=0)
        np.testing.assert_allclose(spec_scores(ClassGraph(codes), X, style), slow, rtol=0.05)
    share = 2 / 3 * np.square(means).sum(axis=0) / np.square(X).sum(axis=0)
    np.testing.assert_allclose(spec_scores(ClassGraph(codes), X, 2), share, rtol=1e-10)


def test_graphs_of_several_parts() -> None:
    X = table(60)
    X[::3] += 1e3
    W = neighbor_graph(X, 5)
    matrix = W.toarray()
    # A link too light to matter makes the basis of eigenvectors unique.
    matrix[0, 1] = matrix[1, 0] = 1e-7
    for style in (2, 3, 5):
        np.testing.assert_allclose(spec_scores(W, X, style), scores_slowly(matrix, X, style), rtol=1e-4)
    two = W.toarray()
    np.testing.assert_allclose(spec_scores(two, X, 3), spec_scores(W, X, 3), rtol=1e-8)


def test_with_classes_it_ranks_as_the_fisher_score() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    X = rng.standard_normal((90, 8)) + np.outer(y, rng.random(8))
    names = np.array(["a", "b", "c"])[y]
    spec = SPECSelector(affinity="class").fit(X, names)
    fisher = FisherScoreSelector().fit(X, names)
    np.testing.assert_array_equal(spec.order_, fisher.order_)
    np.testing.assert_allclose(-1 / spec.scores_ - 1, fisher.scores_, rtol=1e-9)
    assert list(spec.classes_) == ["a", "b", "c"]


def test_only_the_graph_of_classes_looks_at_the_target() -> None:
    X = table()
    plain = SPECSelector().fit(X)
    assert plain.task_ is None
    np.testing.assert_array_equal(SPECSelector().fit(X, np.arange(60)).scores_, plain.scores_)
    with pytest.raises(ValueError, match="requires y to be passed"):
        SPECSelector(affinity="class").fit(X)
    with pytest.raises(ValueError, match=r"affinity='class' needs a single column of classes, but y holds numbers"):
        SPECSelector(affinity="class").fit(X, X[:, 0])
    with pytest.raises(ValueError, match="y holds several columns of labels"):
        SPECSelector(affinity="class").fit(X, (X[:, :2] > 2).astype(int))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"style": 1}, "style=1: give -1, 0, or a whole number of at least 2"),
        ({"style": -2}, "style=-2"),
        ({"style": 2.0}, "style=2.0"),
        ({"style": True}, "style=True"),
        ({"style": "0"}, "style='0'"),
        ({"affinity": "knn"}, "affinity='knn' is not known"),
        ({"gamma": 0}, "gamma=0: give a number above 0"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"task": "ranking"}, "task='ranking' is not known"),
        ({"n_features_to_select": "auto"}, "does not say how many"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SPECSelector(**parameters).fit(table())


def test_hostile_tables() -> None:
    X = np.random.default_rng(0).standard_normal((40, 6))
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < 0.4] = np.nan
    outlier = X.copy()
    outlier[3] = 1e12
    tables = (X[:2], X[:, :1], X * 1e150, X * 1e-150, X + 1e9, (X * 1e30).astype(np.float32), gaps, outlier)
    tables += (np.repeat(X[:4], 10, axis=0), (X > 0) * 1.0, np.where(X > 1, X, 0.0))
    for given in tables:
        y = np.arange(len(given)) % 2
        for style in (-1, 0, 2, 100):
            for affinity in ("rbf", "neighbors", "class"):
                for standardize in (True, False):
                    selector = SPECSelector(1, style=style, affinity=affinity, standardize=standardize).fit(given, y)
                    assert np.isfinite(selector.scores_).all()
    usual = SPECSelector(1).fit(X)
    for same in (X * 1e150, X * 1e-150, X + 1e9, (X * 1e30).astype(np.float32)):
        found = SPECSelector(1).fit(same)
        np.testing.assert_allclose(found.scores_, usual.scores_, rtol=1e-5, atol=1e-8)
        np.testing.assert_array_equal(found.order_, usual.order_)
