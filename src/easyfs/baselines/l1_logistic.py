"""A logistic regression with an L1 penalty."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.l1_path import LogisticPath, binary_targets, enough_columns, warn_unfinished
from easyfs.common.parameters import check_number
from easyfs.common.types import Array


class L1LogisticSelector(Baseline):
    """Select the columns with the largest coefficients in a logistic regression with an L1 penalty.

    One logistic regression for each class against the rest (one for two classes) keeps most coefficients at zero; a
    column is good if its coefficients are large over all classes. It is good where classes can be told apart by a
    weighted sum of columns, and avoids columns that repeat each other. It is for classification only, and sees neither
    curves nor columns that matter only together.

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
    C : float, default=1.0
        Weight of the loss against the penalty: the larger, the more columns are in. It is raised where fewer are in than
        are wanted.
    max_iter : int, default=1000
        Largest number of iterations of the solver at one ``C``.
    tol : float, default=1e-3
        Precision of the solver.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Norm of the coefficients over the classes, 0 where a column is not in the model. Excluded columns have
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
    task_ : {"classification"}
        What ``y`` was taken for.
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.
    C_ : float
        The ``C`` of the model that the scores are from.
    n_iter_ : int
        Largest number of iterations of a fit.

    See Also
    --------
    L1SVMSelector : The same with the loss of a support vector machine.
    LassoSelector : Follows the penalty as it falls, and is for numbers too.
    EasyFS : Also sees curves and joint effects, and chooses the number of columns by a test.

    Notes
    -----
    Columns have mean 0 and standard deviation 1. At ``C``, the sum over rows of the logistic loss and ``1 / C`` times the
    sum of the absolute coefficients [1]_ are minimised for each class against the rest, by scikit-learn's liblinear, with
    the intercept free of penalty up to a thousandth. Columns are ordered by the Euclidean norm of their coefficients
    over the classes. Where fewer columns are in the model than are wanted, ``C`` is doubled until there are as many, at
    most six times. Columns that are not in the model follow the others, by the slope of the loss.

    References
    ----------
    .. [1] Ng, "Feature selection, L1 vs. L2 regularization, and rotational invariance", ICML 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from easyfs import L1LogisticSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = L1LogisticSelector(3).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['flavanoids', 'color_intensity', 'proline']
    """

    tasks = ("classification",)

    C_: float
    n_iter_: int

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
        C: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-3,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.C = C
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        check_number("C", self.C, 0.0, above=True)
        check_number("max_iter", self.max_iter, 1, whole=True)
        check_number("tol", self.tol, 0.0, above=True)

    def _score(self, problem: Problem) -> Scored:
        path = LogisticPath(np.asfortranarray(problem.standardized()), binary_targets(problem), self.max_iter, self.tol)

        def fit(C: float) -> tuple[Array, Array]:
            path.failed = 0
            path.advance(1.0 / C)
            return np.linalg.norm(path.coef, axis=1), path.strength().max(axis=1)

        scores, slopes, self.C_ = enough_columns(fit, float(self.C), problem)
        self.n_iter_ = max(1, path.n_iter)
        warn_unfinished(self, path.failed)
        return Scored(scores, np.lexsort((-slopes, -scores)))
