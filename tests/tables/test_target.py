"""What a target is read as: classes, quantities, or an error that says what it looks like."""

from __future__ import annotations

import datetime as dt
import re
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_diabetes, load_digits

from easyfs import EasyFS, make_selector
from easyfs.tables.reading import looks_like
from easyfs.tables.target import Target, check_same_labels, check_target
from easyfs.tables.target_summary import describe_target

RNG = np.random.default_rng(0)


def read(y: Any, task: str = "auto") -> tuple[str | None, list[str]]:
    """What ``y`` is taken for, and what is said about it."""
    n = y.shape[0] if hasattr(y, "shape") else len(y)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        task_read = check_target(y, n, task).task
    return task_read, [str(warning.message) for warning in caught]


CLEAR_CLASSES = {
    "two numbers": RNG.choice([-1, 1], 30),
    "two numbers far apart": RNG.choice([0, 10_000], 30),
    "three": RNG.integers(0, 3, 60),
    "digits": load_digits().target,
    "digits as floats": load_digits().target.astype(float),
    "codes from 0": np.repeat(np.arange(40), 8),
    "codes from 1": np.repeat(np.arange(1, 41), 8),
    "codes of a training split": RNG.permutation(np.repeat(np.arange(40), 8))[:256],
    "codes of two rows each": np.tile(np.arange(50), 2),
    "persons of a later year": np.repeat(np.arange(300, 370), 9),
    "hundred objects": np.repeat(np.arange(100), 72),
    "labels with gaps": RNG.choice([1, 5, 9], 100),
    "a rare class": np.repeat([0, 1, 2], [300, 100, 2]),
    "a code for unknown": np.repeat([0, 1, 2, 99], [300, 100, 50, 1]),
    "quality": np.repeat(np.arange(3, 9), [10, 53, 681, 638, 199, 18]),
    "booleans": RNG.random(40) < 0.5,
    "text": RNG.choice(["red", "green"], 40),
    "texts of codes": np.repeat(np.arange(40), 8).astype(str),
    "few percentages": RNG.choice(["5%", "10%", "20%"], 200),
    "few dates": RNG.choice(["2024-01-01", "2024-02-01", "2024-03-01"], 200),
    "versions": RNG.choice([f"1.{i}" for i in range(12)], 1200),
    "a category of numbers": pd.Series(RNG.integers(0, 40, 400) * 1000).astype("category"),
    "intervals": pd.cut(pd.Series(RNG.normal(size=200)), 4),
}
CLEAR_QUANTITIES = {
    "measured": RNG.normal(size=30),
    "two halves": RNG.choice([0.5, 1.5], 40),
    "diabetes": load_diabetes().target,
    "prices": RNG.integers(35_000, 700_000, 1460),
    "rounded prices": RNG.integers(350, 4000, 1460) * 100.0,
    "counts with a long tail": np.array([0, 0, 0, 1, 2, 7, 31]),
    "counts of rides": RNG.negative_binomial(2, 0.05, 5000),
    "ranks": RNG.permutation(100),
    "large numbers": RNG.integers(0, 2**62, 100),
}
DOUBTFUL = {
    "ages": (np.clip(np.random.default_rng(1).normal(45, 15, 1000).round(), 18, 90), "regression"),
    "ages, few rows each": (np.random.default_rng(1).integers(18, 91, 200), "regression"),
    "years": (np.random.default_rng(1).integers(1950, 2011, 3000), "regression"),
    "uneven codes, few rows each": (np.random.default_rng(1).integers(0, 40, 160), "regression"),
    "counts": (np.repeat([0, 1, 2, 3, 5, 9, 31], [300, 90, 40, 20, 4, 1, 1]), "regression"),
    "labels with gaps, one rare": (np.repeat([1, 5, 9, 12, 20], [30, 30, 2, 30, 30]), "classification"),
    "grades": (np.clip(np.random.default_rng(1).normal(10, 4, 900).round(), 0, 20), "classification"),
    "small counts": (np.repeat([0, 1, 2, 3, 4], [150, 140, 60, 12, 2]), "classification"),
}


class TestNumbers:
    @pytest.mark.parametrize("y", CLEAR_CLASSES.values(), ids=CLEAR_CLASSES)
    def test_clear_classes(self, y: Any) -> None:
        assert read(y) == ("classification", [])

    @pytest.mark.parametrize("y", CLEAR_QUANTITIES.values(), ids=CLEAR_QUANTITIES)
    def test_clear_quantities(self, y: Any) -> None:
        assert read(y) == ("regression", [])

    @pytest.mark.parametrize(("y", "task"), DOUBTFUL.values(), ids=DOUBTFUL)
    def test_what_is_doubtful_is_decided_and_said_on_one_line(self, y: Any, task: str) -> None:
        found, said = read(y)
        assert found == task
        assert len(said) == 1
        assert "\n" not in said[0]
        assert {"regression": "read as quantities", "classification": "read as classes"}[task] in said[0]
        assert f"{len(np.unique(y))} different whole numbers" in said[0]
        assert "task='regression'" in said[0]
        assert "task='classification'" in said[0]

    @pytest.mark.parametrize("task", ["classification", "regression"])
    def test_a_given_task_overrules_and_nothing_is_said(self, task: str) -> None:
        for y, _ in DOUBTFUL.values():
            assert read(y, task) == (task, [])

    def test_the_notice_points_to_the_users_line(self) -> None:
        y, _ = DOUBTFUL["years"]
        with pytest.warns(UserWarning, match="61 different whole numbers in 3,000 rows") as caught:
            EasyFS(1, random_state=0).fit(np.random.default_rng(0).normal(size=(3000, 3)), y)
        assert caught[0].filename == __file__

    def test_house_prices_are_explained_by_what_makes_them(self) -> None:
        X = np.random.default_rng(0).normal(size=(300, 6))
        y = np.round(50_000 + 10_000 * X[:, 2]).astype(int)
        selector = EasyFS(1, random_state=0).fit(X, y)
        assert selector.task_ == "regression"
        assert selector.order_[0] == 2

    def test_several_columns_of_prices(self) -> None:
        assert read(RNG.integers(0, 10**5, (100, 2))) == ("regression", [])
        with pytest.raises(ValueError, match=r"2 columns of class labels"):
            read(np.column_stack([RNG.integers(0, 10**5, 100), RNG.integers(0, 3, 100)]))

    @given(
        st.lists(st.integers(0, 3), min_size=10, max_size=60).filter(lambda y: len(set(y)) > 1),
        st.integers(-50, 50),
        st.integers(0, 1000),
    )
    def test_neither_order_nor_type_nor_repetition_of_few_classes_matters(
        self, y: list[int], start: int, seed: int
    ) -> None:
        codes = np.tile(np.array(y) + start, 3)
        shuffled = np.random.default_rng(seed).permutation(codes)
        for form in (codes, shuffled, codes.astype(float), codes.astype(np.int8)):
            assert read(form) == ("classification", [])

    @given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=80))
    def test_any_whole_numbers_are_read_as_something(self, y: list[int]) -> None:
        task, said = read(np.array(y, dtype=np.int64))
        assert task in ("classification", "regression")
        assert len(said) <= 1

    @given(st.integers(2, 60), st.integers(2, 12), st.sampled_from([0, 1]))
    def test_codes_of_as_many_rows_each_are_classes(self, k: int, rows: int, first: int) -> None:
        assert read(np.repeat(np.arange(k) + first, rows)) == ("classification", [])


class TestTexts:
    @pytest.mark.parametrize(
        ("texts", "parts"),
        [
            ([f"{v:,}" for v in range(101_263, 140_000, 97)], ("thousands separators", "'101,263'", "101263")),
            ([f"{v:,}".replace(",", ".") + ".000" for v in range(1000, 1400)], ("thousands", "'1.000.000'", "1000000")),
            ([f"${v:,}.50" for v in range(1000, 1400)], ("amounts of money", "'$1,000.50'", "1000.5")),
            ([f"{v} EUR" for v in range(1000, 5000, 9)], ("amounts of money", "'1000 EUR'", "such as 1000")),
            ([f"{v / 7:.2f}%" for v in range(300)], ("percentages", "%'")),
            ([f"{v / 7:.2f}".replace(".", ",") for v in range(300)], ("decimal comma", "'0,00'")),
            ([f"{v / 7:.2f}" for v in range(300)], ("numbers", "'0.00'")),
            ([str(v**3) for v in range(300)], ("numbers", "'0'")),
            ([f"{v // 4 / 7:.4f}" for v in range(300)], ("numbers", "75 different values in 300 rows")),
            ([f"2024-{m:02d}-{d:02d}" for m in range(1, 13) for d in range(1, 29)], ("dates", "2024-01-01", "days since")),
            ([f"{m}/{d}/2024 10:30" for m in range(1, 13) for d in range(1, 29)], ("dates", "days since")),
            ([f"{d} Mar {y}" for y in range(1990, 2020) for d in range(1, 20)], ("dates", "days since")),
        ],
    )
    @pytest.mark.parametrize("form", [list, np.array, pd.Series, pl.Series])
    def test_numbers_and_dates_in_disguise_say_what_they_look_like(self, texts: Any, parts: Any, form: Any) -> None:
        with pytest.raises(ValueError, match="y holds text that looks like") as error:
            read(form(texts))
        for part in (*parts, "turn it into"):
            assert part in str(error.value)
        assert ("task='classification'" in str(error.value)) == (len(set(texts)) < len(texts))
        assert read(form(texts), "classification") == ("classification", [])

    @pytest.mark.parametrize("word", ["unknown", "n/a"])
    def test_a_word_among_numbers_hides_nothing(self, word: str) -> None:
        with pytest.raises(ValueError, match="looks like numbers with thousands separators"):
            read([word, *(f"{v:,}" for v in range(101_263, 140_000, 97))])
        for task in ("auto", "regression"):
            with pytest.raises(ValueError, match=rf"but for 1 of its values, such as '{word}', which must be mended"):
                read([*(f"{v / 7:.3f}" for v in range(300)), word, word], task)

    @pytest.mark.parametrize(
        ("value", "says"),
        [
            (dt.date(2024, 1, 1), "y holds dates or lengths of time; turn them into numbers"),
            (dt.timedelta(days=2), "y holds dates or lengths of time; turn them into numbers"),
            ([1, 2], r"y holds values of type list \(for example '\[1, 2\]'\): unknown label type. Give a number"),
            ({"a": 1}, "y holds values of type dict"),
        ],
    )
    @pytest.mark.parametrize("task", ["auto", "classification"])
    def test_what_is_no_label_is_said(self, value: Any, says: str, task: str) -> None:
        values = np.empty(40, dtype=object)
        values[:] = [value] * 40
        for form in (values, pd.Series(values)):
            with pytest.raises(ValueError, match=says):
                read(form, task)

    def test_a_name_for_each_row_is_no_target(self) -> None:
        names = [f"Smith, Mr. {i}" for i in range(891)]
        with pytest.raises(ValueError, match="as many classes as rows: 891 different values in 891 rows") as error:
            EasyFS(1).fit(np.random.default_rng(0).normal(size=(891, 3)), names)
        for part in ("'Smith, Mr. 0'", "right column"):
            assert part in str(error.value)
        with pytest.raises(ValueError, match=r"890 different values in 891 rows.*task='classification' if each"):
            read([*names[:-1], names[0]])

    def test_a_category_for_each_row_may_be_a_quantity(self) -> None:
        with pytest.raises(ValueError, match=r"as many classes as rows.*task='regression'"):
            read(pd.Series(np.arange(50) * 3).astype("category"))

    def test_many_texts_of_few_rows_are_pointed_out(self) -> None:
        task, said = read([f"street {i % 150}" for i in range(300)])
        assert task == "classification"
        assert len(said) == 1
        assert re.search("150 different values in 300 rows.*right column.*task='classification'", said[0])

    @pytest.mark.parametrize("method", ["easyfs", "pearson"])
    @pytest.mark.parametrize("labels", [[f"n{i}" for i in range(40)], list(range(40))], ids=["text", "numbers"])
    def test_a_class_for_each_row_is_an_error_though_it_is_asked_for(self, method: str, labels: Any) -> None:
        selector = make_selector(method, 1, task="classification")
        with pytest.raises(ValueError, match=r"a class for each of the 40 rows.*right column.*task='regression'"):
            selector.fit(np.random.default_rng(0).normal(size=(40, 3)), labels)

    def test_texts_for_a_regression(self) -> None:
        assert read(["1.5", "2.5"] * 20, "regression") == ("regression", [])
        with pytest.raises(ValueError, match=r"thousands separators.*'1,000'.*needs numbers.*such as 1000"):
            read([f"{v:,}" for v in range(1000, 1100)], "regression")
        with pytest.raises(ValueError, match=r"dates.*needs numbers.*days since"):
            read(["2024-01-01", "2024-01-02"] * 20, "regression")
        with pytest.raises(ValueError, match=r"text .for example 'a'., but task='regression' needs numbers"):
            read(["a", "b"] * 20, "regression")
        with pytest.raises(ValueError, match="NaN in 20 rows"):
            read(["1.5", "nan"] * 20, "regression")

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("1,234", 1234),
            ("1,234,567.89", 1234567.89),
            ("1.234.567,89", 1234567.89),
            ("1 234", 1234),
            ("1'234", 1234),
            ("-$1,234", -1234),
            ("€ 12", 12),
            ("12,5", 12.5),
            ("12 %", 12),
            ("1e3", 1000),
            (".5", 0.5),
        ],
    )
    def test_the_number_that_a_text_says(self, text: str, value: float) -> None:
        looks = looks_like(np.array([text]))
        assert looks is not None
        assert looks.value == pytest.approx(value)

    @pytest.mark.parametrize("text", ["007", "A1", "12-14", "1,23,4", "", "north", "1_000", "$", "3 rooms"])
    def test_what_is_no_number(self, text: str) -> None:
        assert looks_like(np.array([text])) is None

    @given(st.lists(st.text(max_size=8), min_size=1, max_size=60))
    def test_any_texts_are_read_or_an_error_says_why(self, texts: list[str]) -> None:
        try:
            assert read(texts)[0] == "classification"
        except ValueError as error:
            assert re.search("looks like|as many classes as rows", str(error))  # noqa: PT017


class TestForms:
    DECIMALS = tuple(Decimal("1.25") * i for i in range(30))

    @pytest.mark.parametrize(
        "form",
        [list, pl.Series, pa.array, pd.Series, lambda v: np.array(v, dtype=object)],
        ids=["list", "polars", "arrow", "pandas", "numpy"],
    )
    def test_decimals_are_numbers(self, form: Any) -> None:
        target = check_target(form(list(self.DECIMALS)), 30, "auto")
        assert target.task == "regression"
        np.testing.assert_array_equal(target.values, [[float(value)] for value in self.DECIMALS])

    def test_decimals_that_are_whole_may_be_classes_and_fractions_are_numbers(self) -> None:
        assert read([Decimal(i % 3) for i in range(30)]) == ("classification", [])
        assert read([Fraction(i, 3) for i in range(30)]) == ("regression", [])

    def test_a_missing_decimal_names_its_row(self) -> None:
        with pytest.raises(ValueError, match=r"NaN in 1 row .*row 30"):
            read([*self.DECIMALS, Decimal("NaN")])
        with pytest.raises(ValueError, match=r"infinity in 1 row .*row 30"):
            read([*self.DECIMALS, Decimal("Infinity")])

    @pytest.mark.parametrize("kind", ["csr_array", "csc_matrix", "coo_array"])
    def test_a_sparse_target_is_the_same_written_out(self, kind: str) -> None:
        labels = RNG.integers(0, 2, (60, 4))
        one = RNG.integers(0, 3, (60, 1))
        for y in (labels, one):
            dense, found = (check_target(form, 60, "auto") for form in (y, getattr(sparse, kind)(y)))
            assert (
                (found.task, found.kind) == (dense.task, dense.kind) == ("classification", ("values", "classes")[y is one])
            )
            np.testing.assert_array_equal(found.values, dense.values)
        X = np.random.default_rng(0).normal(size=(60, 5))
        sparsely = EasyFS(2, random_state=0).fit(X, getattr(sparse, kind)(labels))
        np.testing.assert_array_equal(sparsely.scores_, EasyFS(2, random_state=0).fit(X, labels).scores_)


class TestConstant:
    @pytest.mark.parametrize("method", ["easyfs", "pearson"])
    @pytest.mark.parametrize("value", [1.0, 0.1, -3e200, 1e-300])
    def test_a_target_that_differs_by_rounding_is_constant(self, method: str, value: float) -> None:
        X = np.random.default_rng(0).normal(size=(60, 4))
        y = np.where(X[:, 0] > 0, value, np.nextafter(value, np.inf))
        with pytest.raises(ValueError, match="y is constant"):
            make_selector(method, 1, task="regression").fit(X, y)

    @given(
        st.floats(allow_nan=False, allow_infinity=False, width=64),
        st.lists(st.integers(0, 60), min_size=1, max_size=50),
    )
    def test_any_target_is_described(self, value: float, steps: list[int]) -> None:
        with np.errstate(over="ignore"):
            y = value + float(np.spacing(abs(value) / 2)) * np.array([0, *steps], dtype=np.float64)
        y = y[np.isfinite(y)]
        about = describe_target(Target("regression", "values", y[:, None]), y)
        assert about is not None
        assert sum(about.histogram[1]) == len(y)

    def test_one_constant_target_beside_another(self) -> None:
        X = np.random.default_rng(0).normal(size=(60, 4))
        Y = np.column_stack([np.full(60, 1e17), X[:, 1]])
        selector = EasyFS(1, random_state=0).fit(X, Y)
        assert selector.order_[0] == 1
        assert selector.target_ is not None
        assert selector.target_.histogram[1] == (60,)


class TestStreams:
    def test_the_first_block_decides(self) -> None:
        X = np.random.default_rng(0).normal(size=(300, 4))
        prices = np.round(1000 * X[:, 1]).astype(int) + 5000
        selector = EasyFS(1, random_state=0).partial_fit(X[:200], prices[:200])
        selector.partial_fit(X[200:], np.where(X[200:, 1] > 0, 6000, 4000))  # two values, but quantities they stay
        assert (selector.task_, selector.order_[0]) == ("regression", 1)

    def test_a_later_block_of_few_rows_of_each_class(self) -> None:
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(40), 8)
        X = rng.normal(size=(320, 4))
        X[:, 2] += y
        order = rng.permutation(320)
        selector = EasyFS(1, random_state=0).partial_fit(X[order[:280]], y[order[:280]])
        selector.partial_fit(X[order[280:]], y[order[280:]])
        assert (selector.task_, selector.n_rows_, selector.order_[0]) == ("classification", 320, 2)

    @pytest.mark.parametrize("labels", [np.arange(40), np.array([f"p{i}" for i in range(40)])], ids=["numbers", "text"])
    def test_a_network_for_classes_knows_better_than_a_few_rows(self, labels: Any) -> None:
        rng = np.random.default_rng(0)
        y = np.repeat(np.arange(40), 8)
        X = rng.normal(size=(320, 4))
        network = EasyFS(1, random_state=0).draw_plan(X, labels[y])
        part = rng.permutation(320)[:50]
        selector = EasyFS(1, random_state=0).partial_fit(X[part], labels[y[part]], plan=network)
        assert selector.task_ == "classification"

    @pytest.mark.parametrize(("first", "then"), [([1, 2], ["1", "2"]), (["1", "2"], [1, 2]), ([1.0, 2.0], [b"1", b"2"])])
    def test_labels_that_change_between_numbers_and_text(self, first: list[Any], then: list[Any]) -> None:
        X = np.random.default_rng(0).normal(size=(40, 4))
        selector = EasyFS(1, random_state=0).partial_fit(X, first * 20)
        with pytest.raises(ValueError, match=r"labels that are (text|numbers) in this block.*in the first one.*all blocks"):
            selector.partial_fit(X, then * 20)
        assert len(selector.classes_) == 2
        assert selector.n_rows_ == 40
        selector.partial_fit(X, first * 20)
        assert selector.n_rows_ == 80

    def test_labels_of_another_type_than_the_networks(self) -> None:
        X = np.random.default_rng(0).normal(size=(40, 4))
        network = EasyFS(1, random_state=0).draw_plan(X, [1, 2] * 20)
        with pytest.raises(ValueError, match="labels that are text in this block"):
            EasyFS(1, random_state=0).partial_fit(X, ["1", "2"] * 20, plan=network)

    def test_labels_of_the_same_kind(self) -> None:
        check_same_labels((1, 2), np.array([2.0, 3.0]))
        check_same_labels((True, False), np.array([0, 1]))
        check_same_labels(("a",), np.array(["b"]))
        check_same_labels((), np.array(["b"]))
        check_same_labels((1, 2), None)


@pytest.mark.parametrize("values", [np.arange(6.0), np.array(["a", "b"] * 3)])
def test_a_target_that_a_mask_hides_is_missing(values):
    with pytest.raises(ValueError, match="row 2"):
        check_target(np.ma.masked_array(values, mask=[0, 0, 1, 0, 1, 0]), 6, "auto")
    np.testing.assert_array_equal(
        check_target(np.ma.masked_array(values), 6, "auto").values, check_target(values, 6, "auto").values
    )
