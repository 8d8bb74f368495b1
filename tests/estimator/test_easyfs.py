"""EasyFS as its user sees it: what it finds, how many it keeps, streams, groups, and awkward but valid tables."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from easyfs import EasyFS, EasyFSRanking
from easyfs.passes.choose import _eps2_of_noise

FORMS = {"sequential": EasyFS, "ranking": EasyFSRanking}
# Awkward tables must give right answers with no warning from numpy or anyone else.
pytestmark = pytest.mark.filterwarnings("error")

COMPRESSIONS = ("sequential", "ranking")
both_compressions = pytest.mark.parametrize("compression", COMPRESSIONS)
NOTHING_TOLD = "none of the .* columns tells more of the target than chance"
SMALL: dict[str, Any] = {"n_hidden": 32}
SMALL_OF = {"sequential": SMALL, "ranking": SMALL | {"n_enhancement": 200}}


def normal(n: int, d: int, seed: int = 0) -> tuple[np.random.Generator, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng, rng.standard_normal((n, d))


def by_class(n: int, d: int, columns: tuple[int, ...] = (1, 4), seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A class for each of the columns and one more; each class but the first moves its own column."""
    rng, X = normal(n, d, seed)
    y = rng.integers(0, len(columns) + 1, n)
    for code, column in enumerate(columns, start=1):
        X[:, column] += 4.0 * (y == code)
    return X, y


def targets_for(task: str, n: int, d: int = 8, seed: int = 0) -> tuple[np.ndarray, Any]:
    """A table whose columns 1 and 4 make the target."""
    if task == "classification":
        return by_class(n, d, seed=seed)
    rng, X = normal(n, d, seed)
    both = X[:, [1, 4]] + 0.1 * rng.standard_normal((n, 2))
    return X, {"regression": both.sum(axis=1), "several targets": both, "no target": None}[task]


def rows_of(y: Any, rows: Any) -> Any:
    return None if y is None else y[rows]


def assert_same_selection(one: EasyFS, other: EasyFS) -> None:
    np.testing.assert_array_equal(one.order_, other.order_)
    np.testing.assert_allclose(one.scores_, other.scores_, rtol=1e-6, atol=1e-9)


class TestFourUses:
    @both_compressions
    def test_classification_finds_the_columns_that_move_with_the_class(self, compression: str) -> None:
        X, y = by_class(400, 30, columns=(2, 17, 25))
        selector = FORMS[compression](3, random_state=0).fit(X, y)
        assert set(selector.order_[:3]) == {2, 17, 25}
        assert selector.task_ == "classification"
        np.testing.assert_array_equal(selector.classes_, [0, 1, 2, 3])

    @both_compressions
    def test_regression_finds_the_columns_that_make_the_number(self, compression: str) -> None:
        rng, X = normal(400, 30)
        y = X[:, 2] - X[:, 17] + 0.1 * rng.standard_normal(400)
        selector = FORMS[compression](2, random_state=0).fit(X, y)
        assert set(selector.order_[:2]) == {2, 17}
        assert selector.task_ == "regression"
        assert not hasattr(selector, "classes_")

    @both_compressions
    def test_several_targets_get_a_column_each(self, compression: str) -> None:
        rng, X = normal(400, 30)
        Y = X[:, [2, 17]] * [1.0, 1000.0] + [0.1, 100.0] * rng.standard_normal((400, 2)) + [0.0, 1e4]
        selector = FORMS[compression](2, random_state=0).fit(X, Y)
        assert set(selector.order_[:2]) == {2, 17}
        assert selector.task_ == "regression"

    def test_no_target_selects_one_column_of_each_factor(self) -> None:
        rng, factors = normal(300, 5)
        X = np.repeat(factors, 6, axis=1) + 0.3 * rng.standard_normal((300, 30))
        selector = EasyFS(5, random_state=0).fit(X)
        assert sorted(selector.order_[:5] // 6) == [0, 1, 2, 3, 4]
        assert selector.task_ is None

    @both_compressions
    def test_multilabel_gets_a_column_for_each_label(self, compression: str) -> None:
        _, X = normal(400, 20)
        Y = (X[:, [3, 12]] > 0).astype(int)
        selector = FORMS[compression](2, random_state=0).fit(X, Y)
        assert set(selector.order_[:2]) == {3, 12}
        assert selector.task_ == "classification"

    def test_few_integers_are_classes_unless_the_task_says_otherwise(self) -> None:
        rng, X = normal(400, 10)
        y = np.clip(np.round(X[:, 4] + 0.1 * rng.standard_normal(400)), -2, 2).astype(int)
        assert EasyFS(1, random_state=0, **SMALL).fit(X, y).task_ == "classification"
        as_numbers = EasyFS(1, task="regression", random_state=0, **SMALL).fit(X, y)
        assert as_numbers.task_ == "regression"
        assert as_numbers.order_[0] == 4
        assert_same_selection(as_numbers, EasyFS(1, random_state=0, **SMALL).fit(X, y + 1e-9 * np.arange(400)))

    def test_a_second_column_that_repeats_the_first_gives_way_to_a_weaker_new_one(self) -> None:
        rng, X = normal(500, 10)
        X[:, 7] = X[:, 2] + 0.05 * rng.standard_normal(500)
        y = 2.0 * X[:, 2] + X[:, 5] + 0.1 * rng.standard_normal(500)
        assert 5 in EasyFS(2, random_state=0).fit(X, y).get_support(indices=True)

    def test_more_columns_than_rows(self) -> None:
        rng, X = normal(60, 2000)
        y = X[:, 5] + X[:, 1500] + 0.1 * rng.standard_normal(60)
        assert set(EasyFS(2, random_state=0).fit(X, y).order_[:2]) == {5, 1500}

    @pytest.mark.parametrize(
        "parameters", [{"coverage": 0.0}, {"n_hidden": 0}, {"predicted_share": 0.0}, {"interactions": False}]
    )
    def test_parts_of_the_method_can_be_switched_off(self, parameters: dict[str, Any]) -> None:
        X, y = targets_for("regression", 300)
        assert set(EasyFS(2, random_state=0, **(SMALL | parameters)).fit(X, y).order_[:2]) == {1, 4}

    @pytest.mark.parametrize(
        "parameters", [{"literal": True}, {"n_rounds": 1}, {"n_rounds": 3}, {"eps2": 0.1}, {"lambda1": 0.0}]
    )
    def test_ranking_finds_planted_classes_under_other_settings(self, parameters: dict[str, Any]) -> None:
        X, y = by_class(400, 20)
        assert set(EasyFSRanking(2, random_state=0, **parameters).fit(X, y).order_[:2]) == {1, 4}

    def test_large_precision_ranks_each_column_as_if_alone(self) -> None:
        rng, X = normal(500, 8)
        y = X @ [3.0, 2.5, 2.0, 1.5, 1.0, 0.5, 0.0, 0.0] + rng.standard_normal(500)
        alone = np.argsort(-np.abs(np.corrcoef(X.T, y)[-1, :-1]))
        selector = EasyFS(8, eps2=1e6, n_hidden=0, interactions=False, random_state=0).fit(X, y)
        np.testing.assert_array_equal(selector.order_[:5], alone[:5])  # beyond, what tells something comes first


class TestAuto:
    @pytest.mark.parametrize("kind", ["two classes", "five classes", "number", "three numbers"])
    def test_pure_noise_selects_next_to_nothing(self, kind: str) -> None:
        counts = []
        for seed in range(10):
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
        assert sum(count == 1 for count in counts) >= 9

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("classes", [False, True])
    def test_ten_true_columns_among_500_are_found_with_few_others(self, classes: bool, seed: int) -> None:
        rng, X = normal(1000, 500, seed)
        true = rng.choice(500, 10, replace=False)
        y = X[:, true].sum(axis=1) + rng.standard_normal(1000)
        selector = EasyFS(random_state=seed).fit(X, y > 0 if classes else y)
        assert selector.get_support()[true].all()
        assert selector.n_features_ <= 14

    @pytest.mark.parametrize("seed", range(5))
    def test_both_columns_of_a_sign_product_are_kept(self, seed: int) -> None:
        _, X = normal(1000, 50, seed)
        selector = EasyFS(random_state=seed).fit(X, X[:, 10] * X[:, 40] > 0)
        assert selector.get_support()[[10, 40]].all()
        assert selector.n_features_ <= 5

    def test_included_noise_does_not_end_the_search(self) -> None:
        rng, X = normal(500, 50)
        y = X[:, [20, 30]].sum(axis=1) + rng.standard_normal(500)
        selector = EasyFS(include=[0, 1], random_state=0).fit(X, y)
        assert selector.get_support()[[0, 1, 20, 30]].all()
        assert selector.n_features_ <= 6

    @both_compressions
    def test_one_column_is_kept_even_of_noise_and_said_to_tell_nothing(self, compression: str) -> None:
        rng, X = normal(50, 3)
        with pytest.warns(UserWarning, match="none of the 3 columns tells more of the target than chance"):
            selector = FORMS[compression](random_state=0).fit(X, rng.standard_normal(50))
        assert selector.n_features_ == 1
        assert selector.p_values_ is not None
        assert selector.p_values_[0] >= 0.03
        np.testing.assert_array_equal(selector.beyond_chance_, [False])
        assert selector.interactions_ == []

    def test_a_stream_of_noise_is_said_to_tell_nothing_when_it_is_read(self) -> None:
        rng, X = normal(200, 3)
        selector = EasyFS(random_state=0, **SMALL).partial_fit(X, rng.standard_normal(200))
        with pytest.warns(UserWarning, match=NOTHING_TOLD):
            assert selector.n_features_ == 1

    def test_a_number_that_is_asked_for_needs_no_warning(self) -> None:
        rng, X = normal(50, 3)
        selector = EasyFS(2, random_state=0).fit(X, rng.standard_normal(50))
        np.testing.assert_array_equal(selector.beyond_chance_, [False, False])

    @both_compressions
    def test_p_values_say_which_columns_tell_more_than_chance(self, compression: str) -> None:
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

    def test_without_a_target_there_is_no_chance_to_beat(self) -> None:
        _, X = normal(200, 6)
        selector = EasyFS(2, random_state=0).fit(X)
        assert selector.p_values_ is None
        assert selector.beyond_chance_ is None
        assert selector.interactions_ == []


class TestInteractions:
    """1000 rows, standard normal columns, ten seeds: what no univariate method sees."""

    @pytest.mark.parametrize("seed", range(10))
    def test_sign_product_among_50_columns_puts_both_first(self, seed: int) -> None:
        _, X = normal(1000, 50, seed)
        selector = EasyFS(2, random_state=seed).fit(X, np.sign(X[:, 1] * X[:, 2]))
        assert set(selector.order_[:2]) == {1, 2}

    def test_sign_product_among_500_columns_puts_both_first_in_nine_of_ten_seeds(self) -> None:
        found = 0
        for seed in range(10):
            _, X = normal(1000, 500, seed)
            order = EasyFS(2, random_state=seed).fit(X, np.sign(X[:, 1] * X[:, 2])).order_
            found += set(order[:2]) == {1, 2}
        assert found >= 9

    def test_two_products_among_100_columns_are_mostly_in_the_first_four(self) -> None:
        recall = []
        for seed in range(10):
            rng, X = normal(1000, 100, seed)
            y = X[:, 1] * X[:, 2] + X[:, 3] * X[:, 4] + 0.1 * rng.standard_normal(1000)
            order = EasyFS(4, random_state=seed).fit(X, y).order_
            recall.append(len(set(order[:4]) & {1, 2, 3, 4}) / 4)
        assert np.mean(recall) >= 0.85

    def test_a_column_and_a_product_among_100_columns_are_in_the_first_three(self) -> None:
        recall = []
        for seed in range(10):
            rng, X = normal(1000, 100, seed)
            y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(1000)
            order = EasyFS(3, random_state=seed).fit(X, y).order_
            recall.append(len(set(order[:3]) & {0, 1, 2}) / 3)
        assert np.mean(recall) >= 0.9

    def test_a_product_is_found_in_a_sparse_matrix_and_in_float32(self) -> None:
        _, X = normal(1000, 30)
        X[np.random.default_rng(1).random(X.shape) < 0.5] = 0.0
        y = X[:, 7] * X[:, 21]
        assert set(EasyFS(2, random_state=0).fit(sparse.csr_array(X), y).order_[:2]) == {7, 21}
        assert set(EasyFS(2, random_state=0).fit(X.astype(np.float32), y).order_[:2]) == {7, 21}


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


def test_whole_numbers_that_look_like_quantities_are_read_as_such() -> None:
    _, X = normal(200, 6)
    y = np.round(100 * X[:, 0])
    selector = EasyFS(2, random_state=0).fit(X, y)
    assert (selector.task_, selector.order_[0]) == ("regression", 0)
    assert_same_selection(selector, EasyFS(2, task="regression", random_state=0).fit(X, y))


def test_auto_on_many_rows_keeps_an_interacting_pair_and_nothing_else() -> None:
    _, X = normal(30_000, 30)
    y = np.sign(X[:, 3] * X[:, 7])
    assert list(EasyFS(random_state=0).fit(X, y).get_support(indices=True)) == [3, 7]


class TestGroups:
    GROUPS = ("a", "a", "a", "b", "b", "c", "d", "e")

    @both_compressions
    def test_a_group_is_chosen_whole_and_counts_as_one(self, compression: str) -> None:
        X, y = by_class(400, 8, columns=(1, 6))
        selector = FORMS[compression](2, feature_groups=self.GROUPS, random_state=0).fit(X, y)
        assert list(selector.get_support(indices=True)) == [0, 1, 2, 6]
        assert selector.n_features_ == 4
        assert selector.gains_.shape == (4,)
        assert sorted(selector.order_) == list(range(8))

    @both_compressions
    def test_a_share_is_a_share_of_the_groups(self, compression: str) -> None:
        X, y = by_class(400, 8, columns=(1, 6))
        selector = FORMS[compression](0.4, feature_groups=self.GROUPS, random_state=0).fit(X, y)
        assert list(selector.get_support(indices=True)) == [0, 1, 2, 6]

    def test_auto_takes_the_groups_that_matter(self) -> None:
        rng, X = normal(500, 8)
        y = X[:, 1] + X[:, 6] + 0.1 * rng.standard_normal(500)
        assert list(EasyFS(feature_groups=self.GROUPS, random_state=0).fit(X, y).get_support(indices=True)) == [0, 1, 2, 6]

    @pytest.mark.parametrize("slope", [0.6, 1.0])
    def test_a_large_group_of_noise_does_not_beat_one_true_column(self, slope: float) -> None:
        groups = [0] * 40 + [1, 2, 3, 4, 5]
        for seed in range(5):
            rng, X = normal(300, 45, seed)
            y = slope * X[:, 44] + rng.standard_normal(300)
            selector = EasyFS(1, feature_groups=groups, random_state=seed).fit(X, y)
            assert list(selector.get_support(indices=True)) == [44]

    def test_a_group_whose_columns_matter_together_beats_a_stronger_single_column(self) -> None:
        rng, X = normal(500, 9)
        y = X[:, :4].sum(axis=1) + 1.5 * X[:, 6] + 0.1 * rng.standard_normal(500)
        selector = EasyFS(1, feature_groups=[0, 0, 0, 0, 1, 2, 3, 4, 5], random_state=0).fit(X, y)
        assert list(selector.get_support(indices=True)) == [0, 1, 2, 3]

    @both_compressions
    def test_including_one_member_takes_the_group(self, compression: str) -> None:
        X, y = by_class(400, 8, columns=(6, 7))
        selector = FORMS[compression](2, feature_groups=self.GROUPS, include=[4], random_state=0).fit(X, y)
        assert set(selector.order_[:2]) == {3, 4}
        assert selector.n_features_ == 3
        assert selector.get_support()[[3, 4]].all()
        two = FORMS[compression](2, feature_groups=self.GROUPS, include=[4, 0], random_state=0).fit(X, y)
        assert list(two.get_support(indices=True)) == [0, 1, 2, 3, 4]

    @both_compressions
    def test_excluding_one_member_leaves_the_group_out(self, compression: str) -> None:
        X, y = by_class(400, 8, columns=(1, 6))
        selector = FORMS[compression](2, feature_groups=self.GROUPS, exclude=[0], random_state=0).fit(X, y)
        assert set(selector.order_[-3:]) == {0, 1, 2}
        assert np.isneginf(selector.scores_[:3]).all()
        assert 6 in selector.get_support(indices=True)

    @both_compressions
    def test_truncate_keeps_groups_whole(self, compression: str) -> None:
        X, y = by_class(400, 8, columns=(1, 6))
        selector = FORMS[compression](3, feature_groups=self.GROUPS, random_state=0).fit(X, y)
        for count in (1, 2, 3, 4, 5):
            support = selector.truncate(count).get_support()
            chosen = {label for label, taken in zip(self.GROUPS, support, strict=True) if taken}
            assert len(chosen) == count
            assert all(taken == (label in chosen) for label, taken in zip(self.GROUPS, support, strict=True))

    @both_compressions
    def test_groups_of_one_change_nothing(self, compression: str) -> None:
        X, y = by_class(300, 8)
        grouped = FORMS[compression](3, feature_groups=list("hgfedcba"), random_state=0).fit(X, y)
        assert_same_selection(grouped, FORMS[compression](3, random_state=0).fit(X, y))

    def test_a_group_may_hold_constants_and_copies(self) -> None:
        X, y = by_class(300, 8, columns=(1, 6))
        X[:, 0] = 5.0
        X[:, 2] = X[:, 1]
        selector = EasyFS(2, feature_groups=self.GROUPS, random_state=0).fit(X, y)
        assert list(selector.get_support(indices=True)) == [0, 1, 2, 6]
        assert np.isfinite(selector.scores_).all()
        assert np.isfinite(selector.redundancy_).all()

    def test_groups_may_be_an_array_or_a_series(self) -> None:
        import pandas as pd

        X, y = by_class(300, 8, columns=(1, 6))
        plain = EasyFS(2, feature_groups=self.GROUPS, random_state=0).fit(X, y)
        for groups in (np.array(self.GROUPS), pd.Series(self.GROUPS), np.array([0, 0, 0, 1, 1, 2, 3, 4])):
            assert_same_selection(plain, EasyFS(2, feature_groups=groups, random_state=0).fit(X, y))


class TestRedundancy:
    @both_compressions
    def test_it_is_the_share_of_variance_that_least_squares_explains(self, compression: str) -> None:
        rng, X = normal(300, 12)
        X = X @ (np.eye(12) + 0.4 * rng.standard_normal((12, 12)))
        y = X[:, 0] - X[:, 5] + rng.standard_normal(300)
        selector = FORMS[compression](4, random_state=0).fit(X, y)
        for fit in (selector, selector.truncate(2), selector.truncate(1)):
            centred = X - X.mean(axis=0)
            chosen = fit.get_support(indices=True)
            for j in range(12):
                others = centred[:, chosen[chosen != j]]
                rest = centred[:, j] - others @ np.linalg.lstsq(others, centred[:, j], rcond=None)[0]
                assert fit.redundancy_[j] == pytest.approx(1.0 - rest @ rest / (centred[:, j] @ centred[:, j]), abs=1e-3)

    @both_compressions
    def test_a_copy_has_one_and_an_independent_column_about_zero(self, compression: str) -> None:
        X, y = by_class(2000, 6)
        X = np.column_stack([X, -3.0 * X[:, 1] + 2.0, X[:, 1] + X[:, 4]])
        selector = FORMS[compression](2, include=[1, 4], random_state=0).fit(X, y)
        assert selector.redundancy_.shape == (8,)
        np.testing.assert_allclose(selector.redundancy_[[6, 7]], 1.0, atol=1e-3)
        np.testing.assert_allclose(selector.redundancy_[[0, 2, 3, 5]], 0.0, atol=0.01)
        with pytest.raises(ValueError, match="include"):
            selector.truncate(1)
        shorter = FORMS[compression](1, include=[1], random_state=0).fit(X, y).redundancy_
        assert shorter[6] == pytest.approx(1.0, abs=1e-3)
        assert 0.2 < shorter[7] < 0.8

    @both_compressions
    @pytest.mark.parametrize("count", [1, 5, 12])
    def test_it_lies_between_zero_and_one_with_copies_constants_and_missing_values(
        self, compression: str, count: int
    ) -> None:
        X, y = by_class(200, 12)
        X[:, 3], X[:, 5], X[:, 7] = X[:, 1], 4.0, -X[:, 1]
        X[::3, 9] = np.nan
        for table in (X, X.astype(np.float32)):
            fit = FORMS[compression](count, random_state=0).fit(table, y)
            for selector in (fit, fit.truncate(1)):
                assert np.isfinite(selector.redundancy_).all()
                assert selector.redundancy_.min() >= 0.0
                assert selector.redundancy_.max() <= 1.0
                assert selector.redundancy_[5] == 0.0

    def test_selected_copies_say_each_other(self) -> None:
        X, y = by_class(300, 5)
        X[:, 2] = X[:, 1]
        selector = EasyFS(3, include=[1, 2], random_state=0).fit(X, y)
        np.testing.assert_allclose(selector.redundancy_[[1, 2]], 1.0, atol=1e-3)


TASKS = ("classification", "regression", "several targets", "no target")
STREAMS = [(task, c) for task in TASKS for c in COMPRESSIONS if (task, c) != ("no target", "ranking")]
every_stream = pytest.mark.parametrize(("task", "compression"), STREAMS)


def stream(selector: EasyFS, X: Any, y: Any, cuts: list[int], plan: Any = None, weight: np.ndarray | None = None) -> EasyFS:
    """Feed a table block by block."""
    for start, stop in zip([0, *cuts], [*cuts, X.shape[0]], strict=True):
        rows = slice(start, stop)
        first = {"plan": plan} if start == 0 else {}
        selector.partial_fit(X[rows], rows_of(y, rows), rows_of(weight, rows), **first)
    return selector


class TestStreams:
    @every_stream
    @pytest.mark.parametrize("n", [40, 1200])  # rows kept; rows folded into a Gram matrix
    def test_whole_blocks_and_merged_halves_give_the_same_order(self, task: str, compression: str, n: int) -> None:
        X, y = targets_for(task, n)
        X[::5, 2] = np.nan
        make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
        network = make.draw_plan(X, y)

        def new() -> EasyFS:
            return clone(make)

        whole = new().fit(X, y)
        assert_same_selection(whole, stream(new(), X, y, [], network))
        assert_same_selection(whole, stream(new(), X, y, [n // 7, n // 3, n // 2, n - 1], network))
        half = n // 2
        left = stream(new(), X[:half], rows_of(y, slice(half)), [half // 3], network)
        right = stream(new(), X[half:], rows_of(y, slice(half, None)), [], network)
        assert_same_selection(whole, left.merge(right))

    @settings(max_examples=25, deadline=None, derandomize=True)
    @given(st.lists(st.integers(2, 298), unique=True, max_size=12).map(sorted), st.sampled_from(STREAMS))
    def test_any_cut_into_weighted_blocks_gives_the_same_order(self, cuts: list[int], kind: tuple[str, str]) -> None:
        task, compression = kind
        X, y = targets_for(task, 300)
        weight = np.random.default_rng(2).integers(1, 4, 300) / 2.0
        make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
        network = make.draw_plan(X, y, weight)
        whole = clone(make).fit(X, y, weight)
        assert_same_selection(whole, stream(clone(make), X, y, cuts, network, weight))

    @both_compressions
    def test_sparse_blocks_equal_the_whole(self, compression: str) -> None:
        X, y = by_class(300, 8)
        X[np.random.default_rng(3).random(X.shape) < 0.6] = 0.0
        S = sparse.csr_array(X)
        make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
        network = make.draw_plan(S, y)
        whole = clone(make).fit(S, y)
        assert_same_selection(whole, stream(clone(make), S, y, [50, 120], network))

    @pytest.mark.parametrize("task", ["classification", "regression", "several targets"])
    def test_without_nodes_the_first_block_does_not_matter(self, task: str) -> None:
        X, y = targets_for(task, 400)
        X[:20] = X[:20] * 3.0 + 5.0
        make = EasyFS(3, n_hidden=0, predicted_share=0, clip=None, random_state=0)
        assert_same_selection(clone(make).fit(X, y), stream(make, X, y, [20, 100]))

    @both_compressions
    def test_a_stream_that_widens_warns_where_values_are_clipped(self, compression: str) -> None:
        X, y = by_class(400, 8)
        X[100:, 5] *= 50.0
        make = FORMS[compression](2, random_state=0, **SMALL_OF[compression])
        selector = stream(clone(make), X, y, [100, 300])
        with pytest.warns(UserWarning, match=r"1 column \(x5\) varies far more in later blocks than in the first"):
            assert set(selector.order_[:2]) == {1, 4}
        other = stream(make.set_params(clip=None), X, y, [100, 300])
        assert set(other.order_[:2]) == {1, 4}

    def test_a_mixed_table_that_widens_names_the_column_as_the_user_does(self) -> None:
        rng = np.random.default_rng(0)
        city, age, pay = rng.choice(list("abcd"), 400), rng.standard_normal(400), rng.standard_normal(400)
        pay[100:] *= 500.0
        table = pd.DataFrame({"city": city, "age": age, "pay": pay})
        selector = EasyFS(1, random_state=0, **SMALL)
        for rows in (slice(0, 100), slice(100, 400)):
            selector.partial_fit(table[rows], age[rows] > 0)
        with pytest.warns(UserWarning, match=r"1 column \(pay\) varies far more"):
            assert list(selector.get_feature_names_out()) == ["age"]

    def test_a_network_carries_the_encoding_of_its_table(self) -> None:
        def block(share: float, seed: int) -> tuple[Any, Any]:
            rng = np.random.default_rng(seed)
            told = rng.random(200) < share
            table = {"a": rng.standard_normal(200), "cat": np.where(told, "yes", "no"), "b": rng.standard_normal(200)}
            return pd.DataFrame(table), told.astype(int)

        (first, y_first), (second, y_second) = block(0.6, 1), block(0.4, 2)
        make = EasyFS(1, random_state=0, **SMALL)
        whole = clone(make).partial_fit(first, y_first).partial_fit(second, y_second)
        a = clone(make).partial_fit(first, y_first)
        b = clone(make).partial_fit(second, y_second, plan=a.plan_)
        with pytest.raises(ValueError, match="different plans"):
            clone(make).partial_fit(second, y_second).merge(a)
        np.testing.assert_allclose(a.merge(b).relevance_, whole.relevance_, atol=1e-9)
        assert a.relevance_[1] == pytest.approx(1.0)
        assert a.n_rows_ == 400
        with pytest.raises(ValueError, match="columns 'a', 'cat', 'b', in this order, but X is no table"):
            clone(make).partial_fit(np.ones((5, 3)), np.arange(5) % 2, plan=a.plan_)
        with pytest.raises(ValueError, match="columns 'a', 'cat', 'b', in this order, but X has 'b', 'cat', 'a'"):
            clone(make).partial_fit(second[["b", "cat", "a"]], y_second, plan=a.plan_)

    def test_the_task_is_that_of_the_network(self) -> None:
        _, X = normal(300, 4)
        y = np.maximum(X[:, 0], 0.0)
        y[:60] = 0.0
        network = EasyFS(random_state=0, **SMALL).draw_plan(X, y)
        assert EasyFS(random_state=0, **SMALL).partial_fit(X[:60], y[:60], plan=network).task_ == "regression"

    def test_a_target_without_spread_in_the_first_block_is_not_clipped(self) -> None:
        _, X = normal(400, 6)
        y = 20.0 * X[:, 3] + 100.0
        y[:100] = 0.5
        selector = EasyFS(1, random_state=0, **SMALL).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
        expected = np.corrcoef(X[:, 3], y)[0, 1] ** 2
        assert selector.relevance_ is not None
        assert selector.relevance_[3] == pytest.approx(expected, rel=0.02)

    def test_a_stream_whose_target_never_varies_has_nothing_to_explain(self) -> None:
        _, X = normal(100, 4)
        selector = EasyFS(1, task="regression", random_state=0, **SMALL).partial_fit(X, np.ones(100))
        with pytest.raises(ValueError, match="y is constant"):
            selector.order_  # noqa: B018

    @pytest.mark.parametrize("compression", ["ranking", "sequential"])
    def test_a_first_block_in_which_nothing_varies_is_named(self, compression: str) -> None:
        rng, X = normal(50, 6)
        y = None if compression == "sequential" else rng.integers(0, 2, 50)
        selector = FORMS[compression](1, random_state=0, **SMALL_OF[compression]).partial_fit(np.ones((50, 6)), y)
        with pytest.raises(ValueError, match="none of the 6 columns varies in the rows that the plan was made from"):
            selector.partial_fit(X, y).order_  # noqa: B018

    @both_compressions
    @pytest.mark.parametrize("kind", ["dense", "sparse", "target", "one value", "one target"])
    @pytest.mark.parametrize("size", [1e-120, 1e160, 1e300])
    def test_numbers_whose_squares_do_not_fit_are_like_any_others(self, compression: str, kind: str, size: float) -> None:
        rng, X = normal(300, 6)
        y = X[:, 1] - X[:, 4] + 0.1 * rng.standard_normal(300)
        make = FORMS[compression](2, random_state=0, **SMALL_OF[compression])
        if kind == "one value":
            X[7, 2] = size
        elif kind == "one target":
            y[7] = min(size, 1e160)
        elif kind == "target":
            y *= size
        else:
            X *= size
        assert set(make.fit(sparse.csr_array(X) if kind == "sparse" else X, y).order_[:2]) == {1, 4}

    @pytest.mark.parametrize("kind", ["dense", "sparse"])
    def test_values_are_clipped_as_by_hand(self, kind: str) -> None:
        rng, X = normal(300, 6)
        X[:, 2] = np.where(rng.random(300) < 0.05, rng.exponential(1.0, 300), 0.0)
        X[:, 3] += 20.0  # zero lies beyond the bound
        X[6, 3] = 0.0
        X[:2, 4] = 1e4
        y = X[:, 0] + 0.1 * rng.standard_normal(300)
        y[:2] = 1e3
        make = EasyFS(2, random_state=0, n_hidden=0, predicted_share=0)
        plan = make.draw_plan(X, y)
        scaling = plan.scaling
        assert scaling.scale[4] < 2.0 < X[:, 4].std()
        assert scaling.scale[2] == pytest.approx(X[:, 2].std())
        assert plan.target.scale[0] < 2.0 < y.std()
        by_hand = np.clip((X - scaling.center) / scaling.scale, -4.0, 4.0)
        y_by_hand = np.clip((y - plan.target.center) / plan.target.scale, -4.0, 4.0)
        found = clone(make).fit(sparse.csr_array(X) if kind == "sparse" else X, y)
        assert_same_selection(found, make.set_params(clip=None).fit(by_hand, y_by_hand))

    def test_a_few_extreme_rows_do_not_decide(self) -> None:
        rng, X = normal(500, 12)
        y = X[:, 3] + rng.standard_normal(500)
        X[:2, 7] = y[:2] = 300.0
        assert EasyFS(1, random_state=0).fit(X, y).order_[0] == 3
        assert EasyFS(1, random_state=0, clip=None).fit(X, y).order_[0] == 7

    @both_compressions
    def test_a_target_that_a_fit_leaves_nothing_of(self, compression: str) -> None:
        X = np.repeat([[1.0, 0.0], [0.0, 1.0]], 8, axis=0)
        assert set(FORMS[compression](2, random_state=0).fit(X, np.repeat([0, 1], 8)).order_) == {0, 1}

    def test_the_noisier_the_target_the_coarser_the_precision(self) -> None:
        rng, X = normal(150, 40)
        noise = rng.standard_normal(150)
        found = []
        for size in (0.1, 1.0, 4.0):
            selector = EasyFS(3, random_state=0).partial_fit(X, X[:, 3] + X[:, 5] + size * noise)
            found.append(_eps2_of_noise(selector.plan_, selector._statistics))
            selector.partial_fit(np.tile(X, (20, 1)), np.tile(X[:, 3] + X[:, 5] + size * noise, 20))
            assert _eps2_of_noise(selector.plan_, selector._statistics) - 0.2 < (found[-1] - 0.2) / 10
        assert 0.2 < found[0] < found[1] < found[2] <= 1.2
        assert found[0] < 0.21

    def test_a_stream_finds_planted_columns_from_its_own_first_block(self) -> None:
        X, y = by_class(2000, 20)
        selector = stream(EasyFS(2, random_state=0, **SMALL), X, y, list(range(200, 2000, 200)))
        assert set(selector.order_[:2]) == {1, 4}

    @both_compressions
    def test_classes_may_appear_later(self, compression: str) -> None:
        X, y = by_class(600, 8, columns=(1, 4, 6))
        order = np.argsort(y == 3, kind="stable")
        X, y = X[order], y[order]
        cut = int((y != 3).sum())
        make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
        selector = stream(clone(make), X, y, [cut // 2, cut])
        assert set(selector.order_[:3]) == {1, 4, 6}
        np.testing.assert_array_equal(selector.classes_, [0, 1, 2, 3])
        assert_same_selection(selector, clone(make).partial_fit(X, y, plan=selector.plan_))

    @both_compressions
    @pytest.mark.parametrize("n", [60, 900])
    def test_string_classes_in_another_order_merge_to_the_same_answer(self, compression: str, n: int) -> None:
        X, y = by_class(n, 8)
        y = np.array(["ant", "bee", "cat"])[y]
        make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
        network = make.draw_plan(X, y)
        whole = clone(make).partial_fit(X, y, plan=network)
        half = n // 2

        def parts() -> tuple[EasyFS, EasyFS]:
            one = clone(make).partial_fit(X[:half], y[:half], plan=network)
            other = clone(make)
            for k, label in enumerate(("cat", "bee", "ant")):  # met in the opposite order
                rows = np.flatnonzero(y[half:] == label) + half
                other.partial_fit(X[rows], y[rows], **({"plan": network} if k == 0 else {}))
            return one, other

        one, other = parts()
        assert_same_selection(whole, one.merge(other))
        np.testing.assert_array_equal(one.classes_, ["ant", "bee", "cat"])
        one, other = parts()
        assert_same_selection(whole, other.merge(one))
        np.testing.assert_array_equal(other.classes_, ["ant", "bee", "cat"])

    @both_compressions
    @pytest.mark.parametrize("n", [60, 1200])
    def test_classes_that_the_network_never_met_merge_in_any_order(self, compression: str, n: int) -> None:
        X, y = by_class(n, 20, columns=(1, 4, 6))
        make = FORMS[compression](3, random_state=0, n_hidden=4)
        network = make.draw_plan(X[y < 2], y[y < 2])
        whole = clone(make).partial_fit(X, y, plan=network)

        def seen(half: np.ndarray, *classes: int) -> EasyFS:
            selector = clone(make)
            for k, code in enumerate(classes):
                rows = half & (y == code)
                selector.partial_fit(X[rows], y[rows], **({"plan": network} if k == 0 else {}))
            return selector

        left = np.arange(n) % 2 == 0
        merged = seen(left, 0, 1, 2, 3).merge(seen(~left, 0, 1, 3, 2))
        assert_same_selection(whole, merged)
        np.testing.assert_array_equal(merged.classes_, [0, 1, 2, 3])

    @both_compressions
    @pytest.mark.parametrize("n", [27, 900])
    def test_merging_leaves_the_other_selector_as_it_was(self, compression: str, n: int) -> None:
        X, y = by_class(n, 20)
        make = FORMS[compression](3, random_state=0, n_hidden=4)
        network = make.draw_plan(X, y)

        def seen(*classes: int) -> EasyFS:
            selector = clone(make)
            for k, code in enumerate(classes):
                selector.partial_fit(X[y == code], y[y == code], **({"plan": network} if k == 0 else {}))
            return selector

        mine, theirs = seen(0, 1), seen(1, 2, 0)
        mine.merge(theirs)
        mine.partial_fit(X, y)
        assert_same_selection(theirs, seen(1, 2, 0))
        np.testing.assert_array_equal(theirs.classes_, [0, 1, 2])
        assert_same_selection(theirs.partial_fit(X, y), seen(1, 2, 0).partial_fit(X, y))

    @both_compressions
    def test_a_stream_may_see_fewer_classes_than_its_network(self, compression: str) -> None:
        X, y = by_class(900, 8)
        make = FORMS[compression](2, random_state=0, **SMALL_OF[compression])
        network = make.draw_plan(X, y)
        part = y != 0
        selector = clone(make).partial_fit(X[part], y[part], plan=network)
        assert set(selector.order_[:2]) == {1, 4}
        np.testing.assert_array_equal(selector.classes_, [1, 2])

    @every_stream
    def test_arrays_may_be_overwritten_after_their_block(self, task: str, compression: str) -> None:
        X, y = targets_for(task, 40)
        weight = np.arange(40) % 3 + 1.0
        make = FORMS[compression](3, random_state=0, **SMALL_OF[compression])
        whole = clone(make).partial_fit(X.copy(), None if y is None else y.copy(), weight.copy())
        selector = make.partial_fit(X, y, weight)
        for used in (X, y, weight):
            if used is not None:
                used[:] = used[::-1].copy()
        weight[:] = 1.0
        assert_same_selection(whole, selector)

    def test_partial_fit_after_fit_starts_anew(self) -> None:
        X, y = by_class(300, 8)
        selector = EasyFS(3, random_state=0, **SMALL).fit(X[:, :6], y == 1)
        selector.partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
        fresh = stream(EasyFS(3, random_state=0, **SMALL), X, y, [200])
        assert_same_selection(selector, fresh)
        np.testing.assert_array_equal(selector.classes_, fresh.classes_)
        assert selector.n_features_in_ == 8

    def test_fit_after_partial_fit_starts_anew(self) -> None:
        X, y = by_class(300, 8)
        selector = stream(EasyFS(3, random_state=0, **SMALL), X[:, ::-1], y, [100])
        assert_same_selection(selector.fit(X, y), EasyFS(3, random_state=0, **SMALL).fit(X, y))
        assert not hasattr(selector, "plan_")

    def test_the_selection_is_computed_when_it_is_read(self) -> None:
        X, y = by_class(300, 8)
        selector = EasyFS(3, random_state=0, **SMALL).partial_fit(X[:200], y[:200])
        selector.set_params(n_features_to_select=5)
        assert selector.n_features_ == 5
        early = selector.scores_.copy()
        selector.partial_fit(X[200:], y[200:])
        assert not np.array_equal(selector.scores_, early)
        assert_same_selection(selector, stream(EasyFS(5, random_state=0, **SMALL), X, y, [200]))

    def test_rows_fed_to_a_truncated_copy_do_not_reach_its_original(self) -> None:
        X, y = by_class(300, 8)
        selector = EasyFS(3, random_state=0, **SMALL).partial_fit(X[:200], y[:200])
        before = selector.scores_.copy()
        shorter = selector.truncate(1)
        shorter.partial_fit(X[200:], y[200:])
        selector.set_params(n_features_to_select=3).partial_fit(X[200:], y[200:])
        assert not np.array_equal(selector.scores_, before)
        assert_same_selection(selector, stream(EasyFS(3, random_state=0, **SMALL), X, y, [200]))

    def test_the_task_is_fixed_by_the_first_block(self) -> None:
        rng, X = normal(300, 8)
        y = 3.0 * X[:, 2] + 0.1 * rng.standard_normal(300)
        y[100:] = np.round(y[100:])
        selector = EasyFS(1, random_state=0, **SMALL).partial_fit(X[:100], y[:100])
        selector.partial_fit(X[100:], y[100:].astype(int))
        assert selector.task_ == "regression"
        assert selector.order_[0] == 2
        assert not hasattr(selector, "classes_")

    def test_a_refused_block_leaves_the_statistics_as_they_were(self) -> None:
        X, y = by_class(300, 8)
        selector = EasyFS(3, random_state=0, **SMALL).partial_fit(X, y)
        bad = X.copy()
        bad[7, 3] = np.inf
        for block, labels in ((bad, y), (X[:, :5], y), (X, y[:10]), (X, X[:, 0]), (X, None)):
            with pytest.raises(ValueError):  # noqa: PT011
                selector.partial_fit(block, labels)
        assert_same_selection(selector, EasyFS(3, random_state=0, **SMALL).partial_fit(X, y))
        np.testing.assert_array_equal(selector.classes_, [0, 1, 2])

    def test_blocks_of_one_row_may_follow(self) -> None:
        X, y = by_class(120, 8)
        make = EasyFS(3, random_state=0, **SMALL)
        network = make.draw_plan(X, y)
        whole = clone(make).partial_fit(X, y, plan=network)
        assert_same_selection(whole, stream(make, X, y, list(range(50, 120)), network))

    def test_a_first_block_of_one_class_may_be_followed_by_others(self) -> None:
        X, y = by_class(600, 8)
        order = np.argsort(y, kind="stable")
        selector = stream(EasyFS(2, random_state=0, **SMALL), X[order], y[order], [100])
        assert set(selector.order_[:2]) == {1, 4}

    def test_a_column_that_is_constant_in_the_first_block_may_matter_later(self) -> None:
        X, y = by_class(1000, 8)
        for value in (0.0, 3.0):
            X[:50, 4] = value
            selector = stream(EasyFS(2, random_state=0, **SMALL), X, y, [50, 300])
            assert set(selector.order_[:2]) == {1, 4}

    def test_scale_is_what_the_network_sees(self) -> None:
        X, y = by_class(400, 8)
        X = X * 10.0 ** np.arange(8) + 1e3
        mean, spread = X.mean(axis=0), X.std(axis=0)
        selector = EasyFS(2, random_state=0, **SMALL).partial_fit(X[:20], y[:20], scale=(mean, spread))
        selector.partial_fit(X[20:], y[20:])
        np.testing.assert_array_equal(selector.plan_.scaling.center, mean)
        np.testing.assert_array_equal(selector.plan_.scaling.scale, spread)
        assert set(selector.order_[:2]) == {1, 4}

    def test_scale_does_not_change_the_answer_without_nodes(self) -> None:
        X, y = by_class(400, 8)
        make = EasyFS(3, n_hidden=0, predicted_share=0, random_state=0)
        scaled = clone(make).partial_fit(X, y, scale=(X.mean(axis=0) + 0.5, 2.0 * X.std(axis=0)))
        assert_same_selection(clone(make).fit(X, y), scaled)

    def test_one_network_serves_several_selectors(self) -> None:
        X, y = by_class(300, 8)
        first = EasyFS(3, random_state=0, **SMALL).partial_fit(X, y)
        second = EasyFS(3, random_state=99, **SMALL).partial_fit(X, y, plan=first.plan_)
        assert_same_selection(first, second)

    def test_drawing_a_network_leaves_the_selector_unfitted(self) -> None:
        X, y = by_class(300, 8)
        selector = EasyFS(3, random_state=0, **SMALL)
        selector.draw_plan(X, y)
        assert not hasattr(selector, "n_features_in_")
        assert not selector.__sklearn_is_fitted__()

    def test_a_stream_can_be_stored_and_continued(self) -> None:
        import pickle

        import skops.io

        X, y = by_class(300, 8)
        selector = EasyFS(3, random_state=0, **SMALL).partial_fit(X[:200], y[:200])
        stored = skops.io.dumps(selector)
        needed = skops.io.get_untrusted_types(data=stored)
        for again in (pickle.loads(pickle.dumps(selector)), skops.io.loads(stored, trusted=needed)):
            again.partial_fit(X[200:], y[200:])
            assert_same_selection(again, stream(EasyFS(3, random_state=0, **SMALL), X, y, [200]))


class TestAwkwardTables:
    @both_compressions
    def test_a_class_with_a_single_row_works(self, compression: str) -> None:
        X, y = by_class(300, 10)
        y[17] = 9
        for table in (X, sparse.csr_array(X)):
            selector = FORMS[compression](2, random_state=0).fit(table, y)
            assert set(selector.order_[:2]) == {1, 4}
            assert np.isfinite(selector.scores_).all()

    @both_compressions
    def test_classes_of_a_single_row_each_work(self, compression: str) -> None:
        _, X = normal(6, 10)
        selector = FORMS[compression](3, random_state=0).fit(X, np.arange(6))
        assert np.isfinite(selector.scores_).all()
        assert sorted(selector.order_) == list(range(10))

    @both_compressions
    def test_two_rows_are_enough(self, compression: str) -> None:
        X = np.array([[0.0, 1.0, 5.0], [1.0, 1.0, 7.0]])
        selector = FORMS[compression](1, random_state=0).fit(X, [0, 1])
        assert selector.order_[-1] == 1
        assert np.isfinite(selector.scores_).all()

    @both_compressions
    def test_very_unbalanced_classes_do_not_hide_the_small_one(self, compression: str) -> None:
        rng, X = normal(10_000, 20)
        y = np.zeros(10_000, dtype=int)
        y[:5000] = 1
        y[rng.choice(10_000, 15, replace=False)] = 2
        X[:, 3] += 2.0 * (y == 1)
        X[:, 11] += 8.0 * (y == 2)
        selector = FORMS[compression](2, random_state=0).fit(X, y)
        assert set(selector.order_[:2]) == {3, 11}

    @both_compressions
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_columns_of_size_1e12_and_1e_minus_12_side_by_side(self, compression: str, dtype: Any) -> None:
        X, y = by_class(300, 12, columns=(1, 4))
        sizes = 10.0 ** np.array([12, -12] * 6)
        plain = FORMS[compression](4, random_state=0).fit(X.astype(dtype), y)
        scaled = FORMS[compression](4, random_state=0).fit((X * sizes).astype(dtype), y)
        assert set(scaled.order_[:2]) == {1, 4}
        if dtype == np.float64:
            assert_same_selection(plain, scaled)

    @both_compressions
    def test_targets_of_size_1e12_and_1e_minus_12_side_by_side(self, compression: str) -> None:
        X, Y = targets_for("several targets", 300)
        plain = FORMS[compression](4, random_state=0).fit(X, Y)
        scaled = FORMS[compression](4, random_state=0).fit(X, Y * [1e12, 1e-12] + [1e12, 1e-12])
        assert_same_selection(plain, scaled)

    @both_compressions
    @pytest.mark.parametrize("n", [300, 5000])
    def test_a_mean_of_a_million_standard_deviations(self, compression: str, n: int) -> None:
        X, y = by_class(n, 12)
        far = X + 1e6 * np.where(np.arange(12) % 2, 1.0, -1.0)
        plain = FORMS[compression](4, random_state=0, **SMALL_OF[compression]).fit(X, y)
        shifted = FORMS[compression](4, random_state=0, **SMALL_OF[compression]).fit(far, y)
        np.testing.assert_array_equal(plain.order_, shifted.order_)
        np.testing.assert_allclose(plain.scores_, shifted.scores_, rtol=1e-4, atol=1e-9)

    def test_a_mean_of_a_million_standard_deviations_in_a_stream(self) -> None:
        X, y = by_class(3000, 12)
        make = EasyFS(4, random_state=0, **SMALL)
        plain = stream(clone(make), X, y, [500, 1500])
        far = stream(make, X + 1e6, y, [500, 1500])
        np.testing.assert_array_equal(plain.order_, far.order_)

    @both_compressions
    def test_a_float32_mean_of_a_thousand_standard_deviations(self, compression: str) -> None:
        X, y = by_class(5000, 12)
        far = (X + 1000.0).astype(np.float32)
        assert set(FORMS[compression](2, random_state=0).fit(far, y).order_[:2]) == {1, 4}

    @both_compressions
    def test_a_half_missing_column_with_signal_is_found(self, compression: str) -> None:
        X, y = by_class(600, 12)
        X[np.random.default_rng(1).random(600) < 0.5, 4] = np.nan
        for table in (X, X.astype(np.float32), sparse.csr_array(X)):
            assert set(FORMS[compression](2, random_state=0).fit(table, y).order_[:2]) == {1, 4}

    def test_the_first_gain_is_that_of_the_formula_with_missing_values_at_the_mean(self) -> None:
        rng, X = normal(400, 3)
        X = 5.0 * X + 100.0
        y = X.sum(axis=1) + rng.standard_normal(400)
        X[rng.random(400) < 0.6, 1] = np.nan
        for weight in (None, rng.integers(1, 4, 400).astype(float)):
            w = np.ones(400) if weight is None else weight
            z = (y - np.average(y, weights=w)) / np.sqrt(np.cov(y, aweights=w, ddof=0))
            for j in range(3):
                seen = ~np.isnan(X[:, j])
                x = np.zeros(400)
                x[seen] = X[seen, j] - np.average(X[seen, j], weights=w[seen])
                x /= np.sqrt(np.average(x[seen] ** 2, weights=w[seen]))
                gain = np.average(x * z, weights=w) ** 2 / (0.3 + np.average(x**2, weights=w))
                selector = EasyFS(1, include=[j], eps2=0.3, n_hidden=0, predicted_share=0).fit(X, y, weight)
                assert selector.gains_[0] == pytest.approx(gain, rel=1e-9)

    @both_compressions
    def test_an_all_missing_column_comes_last(self, compression: str) -> None:
        X, y = by_class(300, 12)
        X[:, 0] = np.nan
        for table in (X, X.astype(np.float32), sparse.csr_array(X)):
            selector = FORMS[compression](2, random_state=0).fit(table, y)
            assert selector.order_[-1] == 0
            assert selector.scores_[0] == 0.0
            assert set(selector.order_[:2]) == {1, 4}

    @both_compressions
    def test_a_column_with_one_observed_value_or_equal_ones_comes_last(self, compression: str) -> None:
        X, y = by_class(300, 12)
        X[1:, 0] = np.nan
        X[::2, 7], X[1::2, 7] = np.nan, 1e9
        selector = FORMS[compression](2, random_state=0).fit(X, y)
        assert set(selector.order_[-2:]) == {0, 7}

    @pytest.mark.parametrize("value", [0.1, 1e-300, 1e15, 12345.678])
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_a_constant_that_rounding_blurs_is_still_constant(self, value: float, dtype: Any) -> None:
        X, y = by_class(3001, 6)
        X[:, 0] = value
        selector = EasyFS(2, random_state=0, **SMALL).fit(X.astype(dtype), y)
        assert selector.order_[-1] == 0
        weighted = EasyFS(2, random_state=0, **SMALL).fit(X.astype(dtype), y, np.random.default_rng(0).random(3001) + 0.1)
        assert weighted.order_[-1] == 0

    @both_compressions
    def test_all_columns_but_one_constant(self, compression: str) -> None:
        X, y = by_class(300, 6)
        X[:, [0, 2, 3, 4, 5]] = 1.0
        selector = FORMS[compression](3, random_state=0).fit(X, y)
        assert selector.order_[0] == 1
        assert selector.n_features_ == 3

    @both_compressions
    def test_all_columns_copies_of_one(self, compression: str) -> None:
        X, y = by_class(300, 6)
        X = X[:, [1]] * np.array([[1.0, -1.0, 2.0, 0.5]])
        selector = FORMS[compression](2, random_state=0).fit(X, y)
        assert selector.n_features_ == 2
        assert np.isfinite(selector.scores_).all()

    @both_compressions
    def test_a_single_column(self, compression: str) -> None:
        X, y = by_class(100, 1, columns=(0,))
        for asked in (1, 1.0, "auto"):
            selector = FORMS[compression](asked, random_state=0).fit(X, y)
            assert list(selector.get_support()) == [True]

    @both_compressions
    def test_a_memory_mapped_file_equals_the_array(self, compression: str, tmp_path: Any) -> None:
        X, y = by_class(30_000, 6)
        np.save(tmp_path / "X.npy", X.astype(np.float32))
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        plain = FORMS[compression](2, random_state=0, **SMALL_OF[compression]).fit(X.astype(np.float32), y)
        assert_same_selection(plain, FORMS[compression](2, random_state=0, **SMALL_OF[compression]).fit(mapped, y))
        assert set(plain.order_[:2]) == {1, 4}

    def test_booleans_and_integers_are_numbers(self) -> None:
        X, y = by_class(300, 6)
        whole = np.round(4 * X).astype(np.int16)
        plain = EasyFS(2, random_state=0, **SMALL).fit(whole.astype(float), y)
        assert_same_selection(plain, EasyFS(2, random_state=0, **SMALL).fit(whole, y))
        flags = X > 0.5
        plain = EasyFS(2, random_state=0, **SMALL).fit(flags.astype(float), y)
        assert_same_selection(plain, EasyFS(2, random_state=0, **SMALL).fit(flags, y))

    @both_compressions
    def test_without_nodes_only_the_ratios_of_weights_matter(self, compression: str) -> None:
        X, y = by_class(300, 8)
        weight = np.random.default_rng(0).random(300) + 0.1
        options = {"predicted_share": 0} if compression == "sequential" else {"n_enhancement": 0}
        make = FORMS[compression](4, n_hidden=0, random_state=0, **options)
        plain = clone(make).fit(X, y, weight)
        for size in (1e-6, 1e6):
            assert_same_selection(plain, clone(make).fit(X, y, size * weight))

    def test_one_number_as_weight_counts_all_rows_the_same(self) -> None:
        X, y = by_class(300, 8)
        plain = EasyFS(4, random_state=0, **SMALL).fit(X, y)
        assert_same_selection(plain, EasyFS(4, random_state=0, **SMALL).fit(X, y, 1.0))
