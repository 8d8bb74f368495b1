"""The Fisher score."""

from __future__ import annotations

import numpy as np

from easyfs.baselines.base import Problem, Scored, WeightedBaseline
from easyfs.baselines.moments import cross_moments


class FisherScoreSelector(WeightedBaseline):
    """Rank columns by the Fisher score: the spread between classes over the spread within them.

    ``F = sum_c n_c (m_c - m)^2 / sum_c sum_{i in c} (x_i - m_c)^2``, which is the F statistic of an analysis of variance up
    to a constant. For classes only. This method only ranks.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count, or a share of the columns.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` is; "auto" reads it from ``y``.
    include, exclude : list of names or positions, optional
        Columns that are selected in any case; columns that never are.
    groups : sequence of labels, one for each column, optional
        Columns with the same label are selected or left together and count as one.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The Fisher score of each column.

    References
    ----------
    Duda, Hart and Stork, "Pattern Classification", 2001; Gu, Li and Han, "Generalized Fisher score for feature selection",
    UAI 2011.
    """

    tasks = ("classification",)
    keeps_sparse = True

    def _score(self, problem: Problem) -> Scored:
        moments = cross_moments(problem, problem.indicators())
        between = (moments.cross**2 / moments.sums).sum(axis=1)
        # Where the classes leave nothing within them, the score is as large as rounding lets it be.
        within = np.maximum(moments.squares - between, np.finfo(np.float64).eps * moments.squares)
        return Scored(between / within)
