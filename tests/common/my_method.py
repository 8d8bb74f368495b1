"""A selector to copy: ``cp tests/common/my_method.py src/easyfs/baselines/``, then change what it says and does.

``tests/common/test_template.py`` runs all checks on it as it stands here.
"""

from __future__ import annotations

import numpy as np

from easyfs.baselines.base import Baseline, Problem, Scored, scaled_targets


class MyMethodSelector(Baseline):
    """Select the columns that explain most of the target, each by itself.

    Say here in two or three sentences what the method looks at, what it is good for, and what it misses: it judges each
    column alone, so it takes columns that repeat each other.

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
    feature_groups : list of labels, default=None
        One label for each column. Columns with the same label are selected or left out together and count as one.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Share of the target that each column explains by itself. Excluded columns have ``-inf``.
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
    PearsonSelector : The absolute correlation.
    EasyFS : Also sees curves, joint effects and overlap, and can choose the number of columns.

    References
    ----------
    .. [1] Who published the method, where and when.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> selector = MyMethodSelector(2, task="regression").fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['bmi', 's5']
    """

    several_targets = True  # what it can do, where that differs from ``Baseline``

    def _score(self, problem: Problem) -> Scored:
        columns, targets = problem.standardized(), scaled_targets(problem.indicators())
        correlation = columns.T @ targets / len(columns)
        return Scored(np.square(correlation).mean(axis=1))
