"""How many features: a count or a share; and what the best of many unrelated columns would tell."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

Array = NDArray[Any]

LEVEL = 0.95


def resolve_count(n_features_to_select: Any, available: int, what: str = "features") -> int | None:
    """The number of features asked for, or None for ``"auto"``.

    A whole number is a count, a float in (0, 1] is a share (at least one), ``"auto"`` leaves it to the data.
    """
    asked: Any = n_features_to_select
    if isinstance(asked, str) and asked == "auto":
        return None
    if isinstance(asked, numbers.Integral) and not isinstance(asked, bool):
        count = int(asked)
        if count < 1:
            raise ValueError(f"n_features_to_select={asked!r}: ask for at least 1 feature, a share in (0, 1], or 'auto'.")
        if count > available:
            raise ValueError(
                f"n_features_to_select={asked!r} is more than the {available} {what} there are to choose from; "
                f"ask for at most {available}, a share such as 0.5, or 'auto'."
            )
        return count
    if isinstance(asked, numbers.Real) and not isinstance(asked, bool) and 0.0 < float(asked) <= 1.0:
        return min(available, max(1, int(np.floor(float(asked) * available + 1e-9))))
    raise ValueError(f"n_features_to_select={asked!r}: give a count such as 20, a share in (0, 1] such as 0.1, or 'auto'.")


def null_relevance(n: float, rank: int, n_drawn: int, level: float = LEVEL) -> float:
    """Relevance that the best of ``n_drawn`` nodes without any relation to the target stays below in ``level`` of cases.

    For a permuted target of ``rank`` orthonormal columns the relevance follows a beta distribution.
    """
    free = max(n - 1.0 - rank, 1.0)
    return float(beta.ppf(level ** (1.0 / max(1, n_drawn)), rank / 2.0, free / 2.0))
