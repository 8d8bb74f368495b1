"""Tables whose target has nothing to do with their columns: "auto" keeps one column, names no joint effect, and warns."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from easyfs import EasyFS

Random = np.random.Generator
NOTHING_TOLD = "none of the .* columns tells more of the target than chance"


def zipf(rng: Random, n: int, levels: int) -> np.ndarray:
    """Classes of which the k-th has a share like 1 / k."""
    share = 1.0 / np.arange(1, levels + 1)
    return rng.choice(levels, n, p=share / share.sum())


def positives(rng: Random, n: int, count: int) -> np.ndarray:
    return rng.permutation((np.arange(n) < count).astype(int))


def ones(rng: Random, n: int, d: int, share: float) -> np.ndarray:
    return (rng.random((n, d)) < share).astype(float)


def categories(codes: list[np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame({f"c{j}": pd.Categorical([f"level {k}" for k in column]) for j, column in enumerate(codes)})


def words(rng: Random, n: int, d: int) -> sparse.csr_array:
    """How often words come in texts: most of them hardly ever."""
    rate = 1.0 / np.arange(1, d + 1)
    return sparse.csr_array(rng.poisson(30.0 * rate / rate.sum(), (n, d)).astype(float))


def balanced(y: np.ndarray) -> np.ndarray:
    """Weights that make all classes count the same."""
    return (len(y) / np.bincount(y))[y]


def rare_ones(rng: Random) -> Any:
    return ones(rng, 800, 60, 0.005), positives(rng, 800, 16)


def zipf_categories(rng: Random) -> Any:
    return categories([zipf(rng, 400, 60) for _ in range(8)]), positives(rng, 400, 20)


def zipf_indicators(rng: Random) -> Any:
    return (zipf(rng, 500, 50)[:, None] == np.arange(50)).astype(float), positives(rng, 500, 25)


def rare_markers(rng: Random) -> Any:
    return rng.binomial(2, 0.01, (400, 60)).astype(float), np.exp(rng.standard_normal(400))


def unequal_classes_of_heavy_tails(rng: Random) -> Any:
    return rng.standard_t(3, (500, 30)), zipf(rng, 500, 30)


def unequal_classes_of_lognormal_columns(rng: Random) -> Any:
    return np.exp(rng.standard_normal((500, 30))), zipf(rng, 500, 30)


def bag_of_words(rng: Random) -> Any:
    return words(rng, 400, 60), positives(rng, 400, 60)


def cauchy(rng: Random) -> Any:
    return rng.standard_cauchy((300, 40)), rng.standard_cauchy(300)


def five_targets(rng: Random) -> Any:
    return rng.standard_normal((300, 30)), rng.standard_normal((300, 5))


def missing_values(rng: Random) -> Any:
    return np.where(ones(rng, 300, 30, 0.2) == 1.0, np.nan, rng.standard_normal((300, 30))), rng.standard_normal(300)


def more_columns_than_rows(rng: Random) -> Any:
    return rng.standard_normal((60, 300)), rng.standard_normal(60)


def balanced_weights(rng: Random) -> Any:
    y = positives(rng, 400, 40)
    return rng.standard_normal((400, 40)), y, balanced(y)


def balanced_weights_and_rare_ones(rng: Random) -> Any:
    y = positives(rng, 400, 20)
    return ones(rng, 400, 40, 0.03), y, balanced(y)


def balanced_weights_and_categories(rng: Random) -> Any:
    y = positives(rng, 400, 40)
    return categories([rng.integers(0, 5, 400) for _ in range(10)]), y, balanced(y)


def balanced_weights_and_missing_values(rng: Random) -> Any:
    X, _ = missing_values(rng)
    y = positives(rng, 300, 30)
    return X, y, balanced(y)


def exponential_weights(rng: Random) -> Any:
    return rng.standard_normal((400, 40)), rng.standard_normal(400), rng.exponential(size=400)


def whole_weights(rng: Random) -> Any:
    return rng.standard_normal((300, 40)), rng.standard_normal(300), rng.integers(1, 5, 300)


def whole_weights_of_markers(rng: Random) -> Any:
    return rng.integers(0, 3, (300, 40)).astype(float), rng.standard_normal(300), rng.integers(1, 5, 300)


def large_whole_weights(rng: Random) -> Any:
    return rng.standard_normal((300, 30)), rng.standard_normal(300), np.round(1000.0 * rng.exponential(size=300)) + 1.0


def rows_repeated_many_times(rng: Random) -> Any:
    rows = rng.permutation(np.repeat(np.arange(200), 60))
    return rng.standard_normal((200, 20))[rows], rng.standard_normal(200)[rows]


def bootstrapped_rows_of_rounded_values(rng: Random) -> Any:
    rows = rng.integers(0, 300, 300)
    return np.round(rng.standard_normal((300, 40)), 1)[rows], rng.standard_normal(300)[rows]


def bootstrapped_rows(rng: Random) -> Any:
    rows = rng.integers(0, 300, 300)
    return rng.standard_normal((300, 40))[rows], rng.standard_normal(300)[rows]


def bootstrapped_rows_of_markers(rng: Random) -> Any:
    rows = rng.integers(0, 300, 300)
    return rng.integers(0, 3, (300, 40)).astype(float)[rows], positives(rng, 300, 100)[rows]


def a_rare_class_of_many_rows(rng: Random) -> Any:
    return rng.standard_normal((10_000, 20)), positives(rng, 10_000, 60)


def a_rare_class_of_many_rows_of_counts(rng: Random) -> Any:
    return rng.poisson(1.0, (10_000, 20)).astype(float), positives(rng, 10_000, 60)


def a_rare_class_of_many_rows_of_zeros_and_ones(rng: Random) -> Any:
    return ones(rng, 10_000, 20, 0.5), positives(rng, 10_000, 60)


KINDS: tuple[Callable[[Random], Any], ...] = (
    rare_ones,
    zipf_categories,
    zipf_indicators,
    rare_markers,
    unequal_classes_of_heavy_tails,
    unequal_classes_of_lognormal_columns,
    bag_of_words,
    cauchy,
    five_targets,
    missing_values,
    more_columns_than_rows,
    balanced_weights,
    balanced_weights_and_rare_ones,
    balanced_weights_and_categories,
    balanced_weights_and_missing_values,
    exponential_weights,
    whole_weights,
    whole_weights_of_markers,
    large_whole_weights,
    rows_repeated_many_times,
    bootstrapped_rows,
    bootstrapped_rows_of_rounded_values,
    bootstrapped_rows_of_markers,
    a_rare_class_of_many_rows,
    a_rare_class_of_many_rows_of_counts,
    a_rare_class_of_many_rows_of_zeros_and_ones,
)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_auto_keeps_one_column_of_noise_names_nothing_and_says_so(kind: Callable[[Random], Any]) -> None:
    more, named, warned = 0, 0, 0
    for seed in range(10):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            selector = EasyFS(random_state=seed).fit(*kind(np.random.default_rng(1000 + seed)))
        more += selector.n_features_ > 1
        named += len(selector.interactions_) > 0
        told = [w for w in caught if "tells more of the target than chance" in str(w.message)]
        assert len(told) <= 1
        assert selector.beyond_chance_ is not None
        assert bool(told) is not selector.beyond_chance_.any()
        warned += len(told)
    assert more <= 1
    assert named <= 1
    assert warned >= 8


@pytest.mark.parametrize("seed", range(5))
def test_beyond_a_strong_column_noise_tells_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((400, 40))
    selector = EasyFS(random_state=seed).fit(X, 5.0 * X[:, 7] + rng.standard_normal(400))
    assert selector.order_[0] == 7
    assert selector.n_features_ <= 2
    assert selector.interactions_ == []


def test_the_warning_says_how_many_columns_there_are_and_points_to_the_users_line() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 12)), rng.standard_normal(100)
    with pytest.warns(UserWarning, match="none of the 12 columns tells more of the target than chance") as caught:
        EasyFS(random_state=0).fit(X, y)
    assert [w.filename for w in caught] == [__file__]


def test_a_column_that_was_asked_for_is_kept_beside_no_other_of_noise() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 12)), rng.standard_normal(200)
    with pytest.warns(UserWarning, match=NOTHING_TOLD):
        selector = EasyFS(include=[5, 2], random_state=0).fit(X, y)
    assert list(selector.order_[: selector.n_features_]) == [5, 2]
