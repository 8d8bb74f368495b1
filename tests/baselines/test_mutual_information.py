from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from easyfs import MutualInformationSelector
from easyfs.baselines.mutual_information import count_within

from .parity import cases, load

REGRESSION = ("diabetes", "friedman1")


def table(n: int = 200, d: int = 8, seed: int = 0) -> tuple[Any, Any]:
    """Columns with means far from zero, one of them with few values; numbers that some of them make."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 5.0 * np.arange(d)
    X[:, 3] = np.round(X[:, 3])
    return X, X[:, 1] * X[:, 2] + X[:, 3] + 0.3 * rng.standard_normal(n)


def scores(X: Any, y: Any, **parameters: Any) -> Any:
    return MutualInformationSelector(1, **{"random_state": 0} | parameters).fit(X, y).scores_


def by_definition(x: Any, y: Any, k: int, classes: bool) -> float:
    """From all distances (no noise: values must differ)."""
    n, psi = len(x), digamma
    x = x / x.std()
    dx = np.abs(x[:, None] - x)
    if not classes:
        y = y / y.std()
        dy = np.abs(y[:, None] - y)
        radius = np.sort(np.maximum(dx, dy), axis=1)[:, k]
        counts = [(d < radius[:, None]).sum(axis=1) for d in (dx, dy)]  # with the point itself
        return max(0.0, psi(n) + psi(k) - sum(psi(c).mean() for c in counts))
    size = np.array([(y == c).sum() for c in y])
    kept = size > 1
    dx, y, size = dx[np.ix_(kept, kept)], y[kept], size[kept]
    ks = np.minimum(k, size - 1)
    radius = np.array([np.sort(row[y == c])[j] for row, c, j in zip(dx, y, ks, strict=True)])
    within = (dx < radius[:, None]).sum(axis=1)
    return max(0.0, psi(len(y)) + psi(ks).mean() - psi(size).mean() - psi(within).mean())


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("classes", [False, True])
def test_estimates_are_those_of_the_definition(k: int, classes: bool) -> None:
    rng = np.random.default_rng(k)
    for n in (k + 2, 30, 150):
        X = rng.standard_normal((n, 5))
        y = X[:, 0] + 0.5 * rng.standard_normal(n)
        if classes:
            y = np.digitize(y, [-1.0, 0.0, 0.7])
            y[0] = 9  # a class of one row
            y[1:3] = 7  # a class of two, fewer than neighbours
        found = scores(X, y, n_neighbors=k, task="classification" if classes else "regression")
        expected = [by_definition(x, y, k, classes) for x in X.T]
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("k", [1, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_estimates_are_those_of_scikit_learn(k: int, seed: int) -> None:
    X, y = table(n=400, seed=seed)
    labels = np.digitize(y, np.quantile(y, [0.2, 0.6]))
    for state in (seed, np.random.RandomState(seed)):
        found = scores(X, y, n_neighbors=k, random_state=state)
        np.testing.assert_allclose(found, mutual_info_regression(X, y, n_neighbors=k, random_state=seed), atol=1e-12)
    found = scores(X, labels, n_neighbors=k, random_state=seed)
    np.testing.assert_allclose(found, mutual_info_classif(X, labels, n_neighbors=k, random_state=seed), atol=1e-12)
    found = scores(X.astype(np.float32), labels, n_neighbors=k, random_state=seed)
    again = mutual_info_classif(X.astype(np.float32).astype(float), labels, n_neighbors=k, random_state=seed)
    np.testing.assert_allclose(found, again, atol=1e-12)


def test_discrete_columns_are_those_of_few_whole_numbers() -> None:
    rng = np.random.default_rng(0)
    X, y = table(n=600)
    X[:, 0] = rng.integers(0, 10, 600)
    X[:, 4] = rng.integers(0, 11, 600)
    X[:, 5] = rng.integers(0, 3, 600) / 2
    X[:, 6] = -1.0 * (y > 20)
    X[:, 3] = np.clip(X[:, 3], 13, 17)
    mask = np.isin(np.arange(8), [0, 3, 6])
    labels = np.digitize(y, np.quantile(y, [0.2, 0.6]))
    for target, reference in ((y, mutual_info_regression), (labels, mutual_info_classif)):
        found = scores(X, target, discrete_features="auto")
        np.testing.assert_allclose(found, reference(X, target, discrete_features=mask, random_state=0), atol=1e-12)
        np.testing.assert_array_equal(found, scores(X, target, discrete_features=np.flatnonzero(mask).tolist()))
        np.testing.assert_array_equal(found, scores(X, target, discrete_features=mask))
        assert not np.allclose(found, scores(X, target))
    only = scores(X[:, mask], labels, discrete_features="auto")
    np.testing.assert_allclose(only, mutual_info_classif(X[:, mask], labels, discrete_features=True), atol=1e-12)


def test_a_missing_value_in_a_discrete_column_is_a_class_of_its_own() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    x = rng.integers(0, 3, 300).astype(float)
    x[(y == 1) & (rng.random(300) < 0.5)] = np.nan
    X = np.column_stack([x, rng.standard_normal(300)])
    found = scores(X, y, discrete_features="auto")
    coded = np.column_stack([np.where(np.isnan(x), 9.0, x), X[:, 1]])
    np.testing.assert_allclose(found, mutual_info_classif(coded, y, discrete_features=[0], random_state=0), atol=1e-12)


@pytest.mark.parametrize("stem", cases("mutual_info__"))
@pytest.mark.parametrize(("k", "name"), [(3, "scores"), (1, "scores_k1"), (5, "scores_k5"), (10, "scores_k10")])
def test_reference_numbers(stem: str, k: int, name: str) -> None:
    dataset = stem.split("__")[1]
    known = load(stem)
    task = "regression" if dataset in REGRESSION else "classification"
    found = scores(known["X"], known["y"], task=task, n_neighbors=k)
    last_bit = k == 10 and dataset in ("synth", "synthnd")  # the last bit decides which points lie on the radius
    np.testing.assert_allclose(found, known[name], rtol=1e-9, atol=1e-2 if last_bit else 1e-12)


def test_several_targets_give_the_mean() -> None:
    X, y = table()
    rng = np.random.default_rng(1)
    targets = np.column_stack([y, X[:, 5] + rng.standard_normal(200), np.full(200, 3.0)])
    found = scores(X, targets)
    each = [scores(X, target) for target in targets.T[:2]]
    np.testing.assert_allclose(found, sum(each) / 3, atol=1e-6)
    labels = np.column_stack([y > 20, X[:, 5] > 25, np.zeros(200, dtype=bool)]).astype(int)
    found = scores(X, labels)
    each = [mutual_info_classif(X, label, random_state=0) for label in labels.T[:2]]
    np.testing.assert_allclose(found, sum(each) / 3, atol=1e-12)


@pytest.mark.parametrize("discrete", [False, "auto"])
def test_threads_do_not_change_a_bit(discrete: Any) -> None:
    X, y = table(d=50)
    for target in (y, y > np.median(y), np.column_stack([y, X[:, 5]])):
        one = scores(X, target, discrete_features=discrete)
        for n_jobs in (1, 2, 5, -1):
            np.testing.assert_array_equal(one, scores(X, target, discrete_features=discrete, n_jobs=n_jobs))


@pytest.mark.parametrize("seed", range(30))
def test_counts_within_compare_distances_as_they_are_computed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(
        np.round(rng.standard_normal(40), rng.integers(0, 3)) * 10.0 ** rng.integers(-3, 3) + rng.choice([0, 0.1, 1e6])
    )
    points = np.concatenate([values, rng.standard_normal(10)])
    distances = np.abs(values - points[:, None])
    radius = distances[np.arange(50), rng.integers(0, 40, 50)]
    for r in (radius, np.nextafter(radius, 0.0), np.zeros(50), np.full(50, 1e9)):
        np.testing.assert_array_equal(count_within(values, points, r), (distances <= r[:, None]).sum(axis=1))


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_small_tables_use_the_neighbours_they_have(n: int) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.standard_normal((n, 3)), rng.standard_normal(n)
    for discrete in (False, "auto"):
        for k in (1, 3, 50):
            found = scores(X, y, n_neighbors=k, discrete_features=discrete)
            assert np.isfinite(found).all()
            if n > 2:  # two points are equally far apart in both directions, and rounding decides
                expected = [by_definition(x, y, min(k, n - 1), False) for x in X.T]
                np.testing.assert_allclose(found, expected, atol=1e-9)
            counts = np.column_stack([np.arange(n) % 2, np.arange(n), X[:, 0]])
            assert np.isfinite(scores(counts, y, n_neighbors=k, discrete_features=discrete)).all()
    if n > 2:
        y = np.arange(n) % (n - 1)
        assert np.isfinite(scores(X, y, n_neighbors=50)).all()


def test_classes_of_one_row_each_are_refused() -> None:
    X, _ = table(n=12)
    with pytest.raises(ValueError, match="each of the 12 classes in y has one row only"):
        scores(X, [f"c{i}" for i in range(12)])


def test_repeated_values_are_separated_by_the_noise() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 3)).astype(float)
    y = X[:, 1] + 0.01 * rng.standard_normal(300)
    for target in (y, X[:, 1]):
        found = scores(X, target)
        assert np.isfinite(found).all()
        assert found.argmax() == 1
    reference = mutual_info_regression(X, y, random_state=0)
    np.testing.assert_allclose(scores(X, y), reference, atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0: give a whole number of at least 1"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ({"discrete_features": "all"}, "discrete_features names column 'all'"),
        ({"discrete_features": [0, 99]}, "discrete_features has column 99"),
        ({"n_features_to_select": "auto"}, "ranks the columns"),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str) -> None:
    X, y = table()
    with pytest.raises(ValueError, match=message):
        MutualInformationSelector(**{"n_features_to_select": 2} | parameters).fit(X, y)
