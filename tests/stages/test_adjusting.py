"""Second moments beyond some columns, against rows that are regressed on them."""

import numpy as np
import pytest

from easyfs.stages.adjusting import Beyond
from easyfs.sums.rows import Rows
from easyfs.sums.second_moment import SecondMoment


def moment_of(A, fold):
    moment = SecondMoment(A.shape[1]).add(Rows(A, np.empty((len(A), 0), dtype=A.dtype)))
    if fold:
        moment._fold()
    return moment


def table(n):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((n, 9))
    A[:, 2] = A[:, 0] - 2.0 * A[:, 1]  # what is taken out depends on itself
    A[:, 3] += 2.0 * A[:, 0]
    A[:, 5] = 3.0 * A[:, 1]  # nothing is left of it
    return A


@pytest.mark.parametrize("fold", [False, True])
def test_moments_are_those_of_residuals(fold):
    A = table(60 if fold else 15)
    design = np.column_stack([np.ones(len(A)), A[:, :3]])
    left = A - design @ np.linalg.lstsq(design, A, rcond=None)[0]
    beyond = Beyond(moment_of(A, fold), np.array([0, 1, 2]), 8)
    gram = left.T @ left
    assert beyond.rank == 2
    assert beyond.folded is fold
    np.testing.assert_allclose(beyond.diag(), np.diagonal(gram), atol=1e-9)
    np.testing.assert_allclose(beyond.columns(np.arange(9)), gram, atol=1e-9)
    B = np.random.default_rng(1).standard_normal((9, 4))
    np.testing.assert_allclose(beyond.product(B), gram @ B, atol=1e-9)
    assert (beyond.diag()[[0, 1, 2, 5]] == 0.0).all()
    assert beyond.of_target() == pytest.approx(1.0 - gram[8, 8] / ((A[:, 8] - A[:, 8].mean()) ** 2).sum())


def test_a_constant_column_can_be_taken_out():
    A = table(60)
    A[:, 0] = 1.0
    beyond = Beyond(moment_of(A, True), np.array([0]), 8)
    assert beyond.rank == 0
    np.testing.assert_allclose(beyond.diag()[1:], moment_of(A, True).diag()[1:])
