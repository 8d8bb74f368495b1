"""scikit-learn's own checks, whole, for every selector."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from easyfs import available_selectors, make_selector

# Settings that make the checks, which fit hundreds of tiny tables, quick.
QUICK: dict[str, dict[str, Any]] = {
    "random_forest": {"n_estimators": 5},
    "xgboost": {"n_estimators": 5},
    "spfsr": {"max_iter": 10},
    "stg": {"max_iter": 10},
    "lassonet": {"max_iter": (10, 3), "path_multiplier": 2.0},
}
SELECTORS = [make_selector(info.name, **QUICK.get(info.name, {})) for info in available_selectors()]


@parametrize_with_checks(SELECTORS)
def test_scikit_learn_check_passes(estimator: Any, check: Any) -> None:
    check(estimator)
