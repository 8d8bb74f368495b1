"""How many columns are kept if nobody says how many, and what is said of chance."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from easyfs import EasyFS

from .shared import (
    FORMS,
    SMALL,
    both_compressions,
    normal,
)

# Right answers come with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")
NOTHING_TOLD = "none of the .* columns tells more of the target than chance"


@pytest.mark.parametrize("kind", ["two classes", "five classes", "number", "three numbers"])
def test_pure_noise_selects_next_to_nothing(kind: str) -> None:
    counts = []
    for seed in range(5):
        rng, X = normal(500, 100, seed)
        y = {
            "two classes": rng.integers(0, 2, 500),
            "five classes": rng.integers(0, 5, 500),
            "number": rng.standard_normal(500),
            "three numbers": rng.standard_normal((500, 3)),
        }[kind]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", NOTHING_TOLD)
            counts.append(EasyFS(random_state=seed).fit(X, y).n_features_)
    assert sum(count == 1 for count in counts) >= 4


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("classes", [False, True])
def test_ten_true_columns_among_500_are_found_with_few_others(classes: bool, seed: int) -> None:
    rng, X = normal(1000, 500, seed)
    true = rng.choice(500, 10, replace=False)
    y = X[:, true].sum(axis=1) + rng.standard_normal(1000)
    selector = EasyFS(random_state=seed).fit(X, y > 0 if classes else y)
    assert selector.get_support()[true].all()
    assert selector.n_features_ <= 14


@pytest.mark.parametrize("seed", range(5))
def test_both_columns_of_a_sign_product_are_kept(seed: int) -> None:
    _, X = normal(1000, 50, seed)
    selector = EasyFS(random_state=seed).fit(X, X[:, 10] * X[:, 40] > 0)
    assert selector.get_support()[[10, 40]].all()
    assert selector.n_features_ <= 5


def test_included_noise_does_not_end_the_search() -> None:
    rng, X = normal(500, 50)
    y = X[:, [20, 30]].sum(axis=1) + rng.standard_normal(500)
    selector = EasyFS(include=[0, 1], random_state=0).fit(X, y)
    assert selector.get_support()[[0, 1, 20, 30]].all()
    assert selector.n_features_ <= 6


@both_compressions
def test_one_column_is_kept_even_of_noise_and_said_to_tell_nothing(compression: str) -> None:
    rng, X = normal(50, 3)
    with pytest.warns(UserWarning, match="none of the 3 columns tells more of the target than chance"):
        selector = FORMS[compression](random_state=0).fit(X, rng.standard_normal(50))
    assert selector.n_features_ == 1
    assert selector.p_values_ is not None
    assert selector.p_values_[0] >= 0.03
    np.testing.assert_array_equal(selector.beyond_chance_, [False])
    assert selector.interactions_ == []


def test_a_stream_of_noise_is_said_to_tell_nothing_when_it_is_read() -> None:
    rng, X = normal(200, 3)
    selector = EasyFS(random_state=0, **SMALL).partial_fit(X, rng.standard_normal(200))
    with pytest.warns(UserWarning, match=NOTHING_TOLD):
        assert selector.n_features_ == 1


def test_a_number_that_is_asked_for_needs_no_warning() -> None:
    rng, X = normal(50, 3)
    selector = EasyFS(2, random_state=0).fit(X, rng.standard_normal(50))
    np.testing.assert_array_equal(selector.beyond_chance_, [False, False])


@both_compressions
def test_p_values_say_which_columns_tell_more_than_chance(compression: str) -> None:
    rng, X = normal(500, 30, seed=1)
    y = X[:, 3] - X[:, 8] + rng.standard_normal(500)
    selector = FORMS[compression](6, random_state=0).fit(X, y)
    assert selector.p_values_ is not None
    assert selector.beyond_chance_ is not None
    assert ((selector.p_values_ >= 0) & (selector.p_values_ <= 1)).all()
    np.testing.assert_array_equal(selector.beyond_chance_, selector.p_values_ < 0.03)
    np.testing.assert_array_equal(selector.beyond_chance_, np.isin(selector.order_[:6], [3, 8]))
    assert selector.p_values_[selector.beyond_chance_].max() < 1e-6
    shorter = selector.truncate(2)
    np.testing.assert_array_equal(shorter.p_values_, selector.p_values_[:2])
    np.testing.assert_array_equal(shorter.beyond_chance_, selector.beyond_chance_[:2])


def test_without_a_target_there_is_no_chance_to_beat() -> None:
    _, X = normal(200, 6)
    selector = EasyFS(2, random_state=0).fit(X)
    assert selector.p_values_ is None
    assert selector.beyond_chance_ is None
    assert selector.interactions_ == []


@pytest.mark.parametrize("seed", range(5))
def test_auto_takes_just_the_columns_that_make_up_a_nearly_noiseless_sum(seed: int) -> None:
    rng, X = normal(500, 8, seed)
    y = X[:, 1] + X[:, 6] + 0.1 * rng.standard_normal(500)
    assert list(EasyFS(random_state=seed).fit(X, y).get_support(indices=True)) == [1, 6]


def test_auto_does_not_bring_in_columns_for_coverage_before_those_that_tell_something() -> None:
    rng, X = normal(1000, 40)
    X[:, 10:] += 3.0 * rng.standard_normal((1000, 1))  # thirty columns that share what the target has nothing of
    y = X[:, 0] + 0.3 * X[:, 1] + 0.3 * X[:, 2] + 0.5 * rng.standard_normal(1000)
    assert list(EasyFS(random_state=0).fit(X, y).get_support(indices=True)) == [0, 1, 2]


def test_auto_on_many_rows_keeps_an_interacting_pair_and_nothing_else() -> None:
    _, X = normal(30_000, 30)
    y = np.sign(X[:, 3] * X[:, 7])
    assert list(EasyFS(random_state=0).fit(X, y).get_support(indices=True)) == [3, 7]
