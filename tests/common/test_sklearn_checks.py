"""scikit-learn's own checks, whole, for every selector."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from easyfs import EasyFS, available_selectors, make_selector

# Settings that make the checks, which fit hundreds of tiny tables, quick.
QUICK: dict[str, dict[str, Any]] = {}
OTHERS = [make_selector(name) for name in ("pearson", "fisher_score", "random")]


@parametrize_with_checks([EasyFS(), EasyFS(compression="ranking"), *OTHERS])
def test_scikit_learn_check_passes(estimator: Any, check: Any) -> None:
    check(estimator)
