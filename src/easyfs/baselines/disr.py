"""Double input symmetrical relevance (DISR)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from easyfs.baselines.information import InformationSelector, Shared

Array = NDArray[np.float64]


class DISRSelector(InformationSelector):
    """Select columns one after another by what each and a selected one say together of the target (DISR).

    Each step takes the column which, paired with each selected column, shares most information with the target. Each
    pair is measured relative to the entropy of its values, so that columns with many levels have no advantage. It is
    good for columns that predict the target in pairs, and weaker against columns that repeat each other. Numbers are
    binned, so fine detail is lost, and with few rows the estimates are too high.

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
        It is a sum over the selected columns and grows with each step; use ``order_`` to compare selected columns.
        Excluded columns have ``-inf``.
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
    JMISelector : The same without the division by the entropy.
    CIFESelector : Subtracts the overlap with each selected column.
    EasyFS : Searches for joint effects of up to four columns, and can choose the number of columns.

    Notes
    -----
    The next column f is the one of largest ``sum_s I(f, s; y) / H(f, s, y)``, where the sum runs over the selected
    columns s; the first is the one of largest ``I(f; y)``.

    Information is measured in bits on binned columns, with observed shares for probabilities. A target of numbers is
    cut into ``n_bins`` bins that hold the same number of rows. A missing value counts as the mean of its column and is
    binned with it. Columns that are equally good are taken in the order of the table. Columns beyond the number asked
    for are ordered by the formula after the last step.

    References
    ----------
    .. [1] Meyer and Bontempi, "On the use of variable complementarity for feature selection in cancer classification",
       EvoWorkshops 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from easyfs import DISRSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = DISRSelector(3).fit(X, y)
    >>> list(X.columns[selector.order_[:3]])
    ['flavanoids', 'color_intensity', 'proline']
    """

    @staticmethod
    def _term(shared: Shared) -> Array:
        return np.asarray(shared.joint / shared.entropy)

    @staticmethod
    def _objective(relevance: Array, total: Array, n_selected: int) -> Array:
        return total.copy() if n_selected else relevance
