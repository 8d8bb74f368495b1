"""Compare selectors honestly: the same folds for all, selection inside the training rows, random selection beside it."""

from easyfs.evaluation.comparing import compare
from easyfs.evaluation.metrics import jaccard_stability, nmse, nogueira_stability
from easyfs.evaluation.results import Comparison
from easyfs.evaluation.stability import StabilitySelection, stability_selection

__all__ = [
    "Comparison",
    "StabilitySelection",
    "compare",
    "jaccard_stability",
    "nmse",
    "nogueira_stability",
    "stability_selection",
]
