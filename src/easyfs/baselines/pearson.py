"""Pearson correlation (PPMCC) with the target."""

from __future__ import annotations

import numpy as np

from easyfs.baselines.base import Problem, Scored, WeightedBaseline
from easyfs.baselines.moments import cross_moments


class PearsonSelector(WeightedBaseline):
    """Select the columns that correlate most with the target.

    The score of a column is its absolute Pearson correlation with the target. This is the fastest method here and a
    good first look at any table. It judges each column alone and sees only straight-line relations: it misses curves
    and columns that matter only together, and it selects columns that repeat each other.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
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
        Absolute correlation of each column with the target; with several targets or classes, the mean over them.
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
    MutualInformationSelector : Also sees relations that are not straight lines.
    MRMRSelector : Correlation with the target, less the overlap with selected columns.
    EasyFS : Also sees curves, joint effects and overlap, and can choose the number of columns.

    Notes
    -----
    Each class becomes a column of zeros and ones, so that the labels and their order do not matter; two classes give
    the correlation with either of these columns. To correlate with labels as numbers, say ``task="regression"``. With
    several targets the score is the mean of the absolute correlations.

    References
    ----------
    .. [1] Pearson, "Note on regression and inheritance in the case of two parents", Proceedings of the Royal Society
       58, 1895.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from easyfs import PearsonSelector
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = PearsonSelector(2, task="regression").fit(X, y)
    >>> list(selector.get_feature_names_out())
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
