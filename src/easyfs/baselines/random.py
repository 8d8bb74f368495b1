"""Random selection, the control of every comparison."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from sklearn.utils import check_random_state

from easyfs.baselines.base import Problem, Scored, WeightedBaseline


class RandomSelector(WeightedBaseline):
    """Select columns at random.

    This is the control of every comparison: another method is worth what it gains over this one. Where columns repeat
    each other, as pixels and gene markers do, random columns are much harder to beat than it sounds. It is of no use
    for anything else.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order. Give a number to get the same answer each time.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Random number between 0 and 1 for each column. Excluded columns have ``-inf``.
    gains_ : ndarray of shape (n_features_,)
        Scores of the selected columns, in the order of ``order_``.
    n_features_ : int
        Number of selected columns.
    columns_ : list of ColumnInfo
        What each column holds (numbers, categories, dates, ...), how it was used, and how many of its values are
        missing.
    target_ : None
        Always None, because the target is not used.
    n_rows_ : int
        Number of rows in the fit.
    task_ : None
        Always None, because the target is not used.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.

    See Also
    --------
    PearsonSelector : The simplest method that uses the target.
    EasyFS : Selects the columns that predict the target.

    References
    ----------
    .. [1] Guyon and Elisseeff, "An introduction to variable and feature selection", JMLR 3, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import RandomSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = RandomSelector(2, random_state=0).fit(X)
    >>> selector.transform(X).shape
    (150, 2)
    """

    several_targets = True
    needs_target = False
    keeps_sparse = True

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(n_features_to_select, include=include, exclude=exclude, feature_groups=feature_groups)
        self.random_state = random_state

    def _score(self, problem: Problem) -> Scored:
        return Scored(check_random_state(self.random_state).uniform(size=problem.shape[1]))
