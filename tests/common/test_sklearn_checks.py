"""scikit-learn's own checks, whole, for both ways of compression."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from easyfs import EasyFS


@parametrize_with_checks([EasyFS(), EasyFS(compression="ranking")])
def test_scikit_learn_check_passes(estimator: EasyFS, check: Any) -> None:
    check(estimator)
