"""Joint mutual information (JMI)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from easyfs.baselines.information import InformationSelector, Shared

Array = NDArray[np.float64]


class JMISelector(InformationSelector):
    """Greedy search for columns that, together with each selected one, tell most of the target.

    The next column ``f`` is the one of largest ``I(f; y) - mean_s I(s; f) + mean_s I(s; f | y)``, where the means run over
    the selected columns ``s``; the first is the one of largest ``I(f; y)``. That is the paper's sum of ``I(f, s; y)`` over
    ``s``, divided by the number of selected columns and less a constant. Information is measured in bits on binned columns,
    with observed shares for probabilities.

    A target of numbers is cut into ``n_bins`` bins of equal frequency. Missing values are at the mean of their column, and
    binned with it. Columns that are equally good are taken in the order of the table. This method only ranks: columns
    beyond the number asked for are ordered by the objective after the last step.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count, or a share of the columns.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` is; "auto" reads it from ``y``.
    n_bins : int, default=5
        Number of bins, from 2 to 256. Columns that have no more distinct values than this keep them as their levels. It is
        also the number of bins of a target of numbers.
    binning : {"width", "frequency"}, default="width"
        Bins that are equally wide from the least to the largest value, or that hold the same number of rows as far as
        equal values, which stay together, allow.
    include, exclude : list of names or positions, optional
        Columns that are selected in any case, and before all others; columns that never are.
    groups : sequence of labels, one for each column, optional
        Columns with the same label are selected or left together and count as one.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        The objective of each selected column when it was selected, and of the others after the last step. The objective
        changes from step to step: compare scores of the columns that were not selected, and use ``order_`` for the rest.

    References
    ----------
    Yang and Moody, "Data visualization and feature selection: new algorithms for nongaussian data", NIPS 1999; Brown,
    Pocock, Zhao and Lujan, "Conditional likelihood maximisation: a unifying framework for information theoretic feature
    selection", JMLR 13, 2012.
    """

    @staticmethod
    def _term(shared: Shared) -> Array:
        return np.asarray(shared.conditional - shared.redundancy)

    @staticmethod
    def _objective(relevance: Array, total: Array, n_selected: int) -> Array:
        return np.asarray(relevance + total / max(1, n_selected))
