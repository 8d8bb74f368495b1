"""Joint mutual information (JMI)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from easyfs.baselines.information import InformationSelector, Shared

Array = NDArray[np.float64]


class JMISelector(InformationSelector):
    """Select columns one after another by the information that each and a selected one share with the target (JMI).

    Each step takes the column which, paired with each selected column, says most about the target on average. It weighs
    overlap against what columns say together, and is among the best of the methods that measure information. Numbers
    are binned, so fine detail is lost. With few rows the estimates are too high, and it looks at pairs only.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    n_bins : int, default=5
        Number of bins, from 2 to 256, into which a column of numbers is cut. A column with no more distinct values than
        this keeps them. A target of numbers is cut into as many bins.
    binning : {"width", "frequency"}, default="width"
        How columns are cut: "width" makes bins of the same width between the smallest and the largest value,
        "frequency" makes bins with about the same number of rows.
    include : list of int or str, default=None
        Columns that are always selected, by name or position, before all others. They count towards
        ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        The value of each selected column at the step in which it was selected, and of the others after the last step.
        Values of different steps cannot be compared; use ``order_`` to compare selected columns. Excluded columns have
        ``-inf``.
    gains_ : ndarray of shape (n_features_,)
        Scores of the selected columns, in the order of ``order_``.
    n_features_ : int
        Number of selected columns.
    columns_ : list of ColumnInfo
        What each column holds (numbers, categories, dates, ...), how it was used, and how many of its values are
        missing.
    target_ : TargetInfo
        What the target holds.
    n_rows_ : int
        Number of rows in the fit.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes; only where ``y`` is one column of classes.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.

    See Also
    --------
    CIFESelector : The same with the sum of the overlaps instead of their mean.
    DISRSelector : The same relative to the entropy of each pair.
    EasyFS : Searches for joint effects of up to four columns, and can choose the number of columns.

    Notes
    -----
    The next column f is the one of largest ``I(f; y) - mean_s I(s; f) + mean_s I(s; f | y)``, where the means run over
    the selected columns s; the first is the one of largest ``I(f; y)``. This is the sum of ``I(f, s; y)`` over s [1]_,
    divided by the number of selected columns and less a constant [2]_.

    Information is measured in bits on binned columns, with observed shares for probabilities. A target of numbers is
    cut into ``n_bins`` bins that hold the same number of rows. A missing value counts as the mean of its column and is
    binned with it. Columns that are equally good are taken in the order of the table. Columns beyond the number asked
    for are ordered by the formula after the last step.

    References
    ----------
    .. [1] Yang and Moody, "Data visualization and feature selection: new algorithms for nongaussian data", NIPS 1999.
    .. [2] Brown, Pocock, Zhao and Lujan, "Conditional likelihood maximisation: a unifying framework for information
       theoretic feature selection", JMLR 13, 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from easyfs import JMISelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = JMISelector(3).fit(X, y)
    >>> list(X.columns[selector.order_[:3]])
    ['flavanoids', 'color_intensity', 'proline']
    """

    @staticmethod
    def _term(shared: Shared) -> Array:
        return np.asarray(shared.conditional - shared.redundancy)

    @staticmethod
    def _objective(relevance: Array, total: Array, n_selected: int) -> Array:
        return np.asarray(relevance + total / max(1, n_selected))
