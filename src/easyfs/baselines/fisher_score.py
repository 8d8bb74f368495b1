"""The Fisher score."""

from __future__ import annotations

import numpy as np

from easyfs.baselines.base import Problem, Scored, WeightedBaseline
from easyfs.baselines.moments import cross_moments


class FisherScoreSelector(WeightedBaseline):
    """Select the columns whose values differ most between classes.

    The score of a column is its spread between the classes divided by its spread within them. It is fast and good where
    the classes have different means. It is for classification only and judges each column alone: it misses classes that
    differ in spread but not in mean and columns that matter only together, and it selects columns that repeat each
    other.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``. This method is for classes, so "regression" is an error.
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
        Fisher score of each column. Excluded columns have ``-inf``.
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
    task_ : {"classification"}
        What ``y`` was taken for.
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.

    See Also
    --------
    PearsonSelector : As fast, and also for regression.
    ReliefFSelector : Compares near rows, and sees columns that matter only together.
    EasyFS : Also sees curves, joint effects and overlap, and can choose the number of columns.

    Notes
    -----
    The score is ``sum_c n_c (m_c - m)^2 / sum_c sum_{i in c} (x_i - m_c)^2``, where class c has n_c rows and the mean
    m_c, and m is the mean of all rows. Up to a constant it is the F statistic of an analysis of variance.

    References
    ----------
    .. [1] Duda, Hart and Stork, "Pattern Classification", 2001.
    .. [2] Gu, Li and Han, "Generalized Fisher score for feature selection", UAI 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import FisherScoreSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = FisherScoreSelector(2).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    tasks = ("classification",)
    keeps_sparse = True

    def _score(self, problem: Problem) -> Scored:
        moments = cross_moments(problem, problem.indicators())
        between = (moments.cross**2 / moments.sums).sum(axis=1)
        # Where the classes leave nothing within them, the score is as large as rounding lets it be.
        within = np.maximum(moments.squares - between, np.finfo(np.float64).eps * moments.squares)
        return Scored(between / within)
