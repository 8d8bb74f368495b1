"""Martingale residuals: against their definition, repeated rows, planted risks, bad input."""

import numpy as np
import pytest

from easyfs import EasyFS, survival_target


def by_definition(event, time):
    """``event - H(time)`` with ``H`` the sum of events over those at risk, at each time up to it."""
    moments = np.unique(time)
    steps = np.array([event[time == t].sum() / (time >= t).sum() for t in moments])
    return np.array([e - steps[moments <= t].sum() for e, t in zip(event, time, strict=True)])


def test_it_is_the_definition_with_ties():
    rng = np.random.default_rng(0)
    event, time = rng.integers(2, size=60), rng.integers(10, size=60).astype(float)
    found = survival_target(event, time)
    np.testing.assert_allclose(found, by_definition(event, time), atol=1e-12)
    assert found.sum() == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(survival_target(event.astype(bool), time[:, None] ** 3), found, atol=1e-12)


def test_weights_are_repeated_rows():
    rng = np.random.default_rng(1)
    event, time, weight = rng.integers(2, size=40), rng.integers(12, size=40), rng.integers(0, 4, size=40)
    repeated = survival_target(np.repeat(event, weight), np.repeat(time, weight))
    np.testing.assert_allclose(np.repeat(survival_target(event, time, weight), weight), repeated, atol=1e-12)


def test_the_two_columns_that_drive_the_risk_are_found():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((400, 50))
        happens = rng.exponential(size=400) * np.exp(-0.8 * X[:, 11] + 0.6 * X[:, 37])
        ends = rng.exponential(size=400) * 1.7
        event = happens <= ends
        assert 0.3 < 1.0 - event.mean() < 0.5
        found = EasyFS(random_state=0, task="regression").fit(X, survival_target(event, np.minimum(happens, ends)))
        assert set(found.get_support(indices=True)) == {11, 37}


@pytest.mark.parametrize(
    ("event", "time", "message"),
    [
        ([1, 0], [1.0, 2.0, 3.0], "event has 2 rows, but time has 3"),
        ([1, 2], [1.0, 2.0], "event has the value 2; give 1 or True"),
        (["yes", "no"], [1.0, 2.0], "event holds values that are no numbers"),
        ([1, np.nan], [1.0, 2.0], r"event is missing or infinite in 1 rows \(row 1 first\)"),
        ([1, 0], [1.0, np.inf], "time is missing or infinite"),
        ([1, 0], [-1.0, 2.0], r"time is negative in row 0 \(-1\)"),
        ([0, 0], [1.0, 2.0], "event is 0 in every row"),
        ([], [], "event has the shape"),
        ([[1, 0], [0, 1]], [1.0, 2.0], "event has the shape"),
    ],
)
def test_what_is_no_survival_is_said(event, time, message):
    with pytest.raises(ValueError, match=message):
        survival_target(event, time)


def test_bad_weights_are_said():
    with pytest.raises(ValueError, match="sample_weight is negative"):
        survival_target([1, 0], [1.0, 2.0], [1.0, -1.0])
