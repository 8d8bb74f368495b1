"""Pearson correlation (PPMCC) with the target."""

from __future__ import annotations

import numpy as np

from easyfs.baselines.base import Problem, Scored, WeightedBaseline
from easyfs.baselines.moments import cross_moments


class PearsonSelector(WeightedBaseline):
    """Rank columns by the absolute Pearson correlation with the target.

    With several targets, the mean of the absolute correlations. Classes are indicator columns, one for each class, so
    that their labels and the order of them do not matter; two classes give the correlation with either indicator. (To
    correlate with labels as numbers, say ``task="regression"``.) This method only ranks.

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
        The (mean) absolute correlation of each column.

    References
    ----------
    Pearson, "Note on regression and inheritance in the case of two parents", Proceedings of the Royal Society 58, 1895.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from easyfs import PearsonSelector
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> list(PearsonSelector(2, task="regression").fit(X, y).get_feature_names_out())
    ['bmi', 's5']
    """

    several_targets = True
    keeps_sparse = True

    def _score(self, problem: Problem) -> Scored:
        moments = cross_moments(problem, problem.indicators())
        spread = np.sqrt(np.outer(moments.squares, np.diagonal(moments.target)))
        # A target that does not vary, such as a label that no row has, correlates with nothing.
        correlation = np.divide(np.abs(moments.cross), spread, out=np.zeros_like(spread), where=spread > 0)
        return Scored(np.minimum(correlation, 1.0).mean(axis=1))
