"""Minimum redundancy, maximum relevance (mRMR)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np

from easyfs.baselines.base import Problem, Scored, WeightedBaseline
from easyfs.baselines.information import (
    Binned,
    Information,
    bin_columns,
    bin_target,
    check_binning,
    greedy,
)
from easyfs.common.parameters import check_choice
from easyfs.common.threads import block_slices, for_blocks
from easyfs.common.types import Array

FORMS = ("correlation", "information")
SCHEMES = ("auto", "quotient", "difference")
REDUNDANCIES = ("mean", "max")
# Correlations, and shared bits, below this count as this much in a quotient.
FLOOR = 0.001
# A column is a copy of another when their absolute correlation is this close to 1.
COPY, COPY_FLOAT32 = 1e-8, 1e-5
# Columns whose correlations are computed at a time.
BATCH = 8
# The columns are worked through in blocks of this size, or in this many.
BLOCK_BYTES, MOST_BLOCKS = 1 << 23, 32


class MRMRSelector(WeightedBaseline):
    """Select columns one after another that predict the target and overlap little with each other (mRMR).

    Each step takes the column whose relevance to the target is large compared with its overlap with the columns
    selected before. It is fast, and a good choice where many columns repeat each other. It looks at columns one by one
    and in pairs: it misses columns that matter only together, and with the default ``form`` it sees only straight-line
    relations.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    form : {"correlation", "information"}, default="correlation"
        How relevance and overlap are measured. "correlation": by the F statistic and the absolute correlation.
        "information": both by the mutual information of binned columns.
    scheme : {"auto", "quotient", "difference"}, default="auto"
        Whether relevance is divided by the overlap or the overlap is subtracted from it; "auto" is the quotient for
        correlation and the difference for information.
    redundancy : {"mean", "max"}, default="mean"
        Whether the overlap of a column is its mean overlap with the selected columns, or the largest.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    n_bins : int, default=5
        Number of bins, from 2 to 256, into which a column of numbers is cut. A column with no more distinct values than
        this keeps them. A target of numbers is cut into as many bins. Only for ``form="information"``.
    binning : {"width", "frequency"}, default="width"
        How columns are cut: "width" makes bins of the same width between the smallest and the largest value,
        "frequency" makes bins with about the same number of rows. Only for ``form="information"``.
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
        Values of different steps cannot be compared; use ``order_`` to compare selected columns. A copy of a selected
        column has the lowest value there is. Excluded columns have ``-inf``.
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
    PearsonSelector : Relevance alone, without the overlap.
    JMISelector : Also asks what columns say together.
    EasyFS : Measures overlap with all selected columns together, and can choose their number.

    Notes
    -----
    With ``form="correlation"`` relevance is the F statistic of an analysis of variance for classes, and of a regression
    for numbers. With ``form="information"`` information is measured in bits, with observed shares for probabilities; a
    target of numbers is cut into ``n_bins`` bins that hold the same number of rows. In a quotient each correlation (or
    shared information) counts as 0.001 at least. The first column is the one of largest relevance.

    The defaults are the F-correlation quotient [2]_; ``form="information"`` is the mutual information difference [1]_.
    With ``redundancy="max"`` and correlations, a column whose absolute correlation with a selected one is 1 up to 1e-8
    (1e-5 for float32 tables) is a copy and waits until no other column is left. The package mrmr_selection does the
    same where the correlation is 1 to the last bit, and leaves columns of relevance 0 out, which here come last.

    A missing value counts as the mean of its column. Columns that are equally good are taken in the order of the
    table. Columns beyond the number asked for are ordered by the formula after the last step.

    References
    ----------
    .. [1] Peng, Long and Ding, "Feature selection based on mutual information: criteria of max-dependency,
       max-relevance, and min-redundancy", PAMI 27, 2005.
    .. [2] Ding and Peng, "Minimum redundancy feature selection from microarray gene expression data", Journal of
       Bioinformatics and Computational Biology 3, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from easyfs import MRMRSelector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = MRMRSelector(3).fit(X, y)
    >>> list(X.columns[selector.order_[:3]])
    ['flavanoids', 'color_intensity', 'proline']
    """

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        form: Literal["correlation", "information"] = "correlation",
        scheme: Literal["auto", "quotient", "difference"] = "auto",
        redundancy: Literal["mean", "max"] = "mean",
        task: Literal["auto", "classification", "regression"] = "auto",
        n_bins: int = 5,
        binning: Literal["width", "frequency"] = "width",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.form = form
        self.scheme = scheme
        self.redundancy = redundancy
        self.n_bins = n_bins
        self.binning = binning

    def _check_parameters(self) -> None:
        check_choice("form", self.form, FORMS)
        check_choice("scheme", self.scheme, SCHEMES)
        check_choice("redundancy", self.redundancy, REDUNDANCIES)
        check_binning(self.n_bins, self.binning)

    def _score(self, problem: Problem) -> Scored:
        m = problem.shape[1]
        measure: Correlations | BinnedInformation
        if self.form == "correlation":
            measure = Correlations(problem)
        else:
            measure = BinnedInformation(problem, self.n_bins, self.binning)
        quotient = self.scheme == "quotient" or (self.scheme == "auto" and self.form == "correlation")
        criterion = _Balance(measure, quotient=quotient, largest=self.redundancy == "max")
        scale = 0.0 if quotient and self.form == "correlation" else 1.0
        return greedy(criterion, m, problem.count or m, problem.include, scale)


class Correlations:
    """F statistics with the target, and absolute correlations between columns.

    Parameters
    ----------
    problem : Problem
        The columns and the target.
    """

    def __init__(self, problem: Problem):
        n, m = problem.shape
        X, weight = problem.X, problem.weight
        root = None if weight is None else np.sqrt(weight / weight.sum())
        targets = _unit_targets(problem)
        explained = np.empty(m)
        self.closeness = COPY_FLOAT32 if X.dtype == np.float32 else COPY
        self.blocks = block_slices(m, -(-m // min(1 + 8 * n * m // BLOCK_BYTES, MOST_BLOCKS)))
        # One row for each column, of mean 0 and length 1.
        self.unit = np.empty((m, n))
        # Correlations of columns that have been computed along with others.
        self.ready: dict[int, Array] = {}

        def fill(columns: slice) -> None:
            unit = self.unit[columns]
            np.subtract(X.T[columns], problem.center[columns, None], out=unit)
            unit /= problem.scale[columns, None]
            # The center may have been measured in single precision.
            if root is None:
                unit -= unit.mean(axis=1, keepdims=True)
            else:
                unit -= unit @ root[:, None] ** 2
                unit *= root
            unit /= np.sqrt(np.einsum("ij,ij->i", unit, unit))[:, None]
            explained[columns] = np.square(unit @ targets).sum(axis=1)

        self._for_blocks(fill)
        degrees = targets.shape[1] - 1 if problem.is_classes else 1
        left = max(problem.total_weight - degrees - 1.0, 1.0)
        # Where the target leaves nothing over, F is as large as rounding lets it be.
        self.relevance = explained / np.maximum(1.0 - explained, np.finfo(np.float64).eps) * (left / degrees)

    def _for_blocks(self, fill: Callable[[slice], None]) -> None:
        if len(self.blocks) == 1:
            fill(self.blocks[0])
        else:
            for_blocks(fill, self.blocks)

    def shared(self, column: int, next_ones: Array) -> tuple[Array, Array]:
        """Absolute correlation of each column with this one, and which columns are copies of it.

        Reading the table takes most of the time, so those of ``next_ones``, the columns that may be asked for soon, are
        computed along with it.
        """
        if column not in self.ready:
            others = [int(j) for j in next_ones if j not in self.ready and j != column]
            batch = [column, *others[: BATCH - 1]]
            chosen = np.ascontiguousarray(self.unit[batch].T)
            found = np.empty((len(self.unit), len(batch)))

            def fill(columns: slice) -> None:
                np.matmul(self.unit[columns], chosen, out=found[columns])

            self._for_blocks(fill)
            np.minimum(np.abs(found, out=found), 1.0, out=found)
            self.ready |= dict(zip(batch, np.ascontiguousarray(found.T), strict=True))
        own = self.ready.pop(column)
        return own, own >= 1.0 - self.closeness


def _unit_targets(problem: Problem) -> Array:
    """Orthonormal columns whose products with a column of mean 0 and length 1 are its correlations with the target.

    Rows have the root of their weight as a factor. For classes, the indicators, which are orthogonal to each other: the
    squared products add up to the share of a column's variance that lies between the classes.
    """
    root = np.ones(problem.shape[0]) if problem.weight is None else np.sqrt(problem.weight)
    if problem.is_classes:
        _, codes = np.unique(problem.y, return_inverse=True)  # a class of weight zero has no rows
        columns = (codes.reshape(-1, 1) == np.arange(codes.max() + 1)) * root[:, None]
    else:
        values = problem.y - problem.y[:1]
        values /= np.abs(values).max()
        columns = (values - np.average(values, axis=0, weights=problem.weight)) * root[:, None]
    return np.asarray(columns / np.sqrt(np.square(columns).sum(axis=0)))


class BinnedInformation:
    """Mutual information with the target, and between columns, in bits.

    Parameters
    ----------
    problem : Problem
        The columns and the target.
    n_bins : int
        Number of bins.
    binning : {"width", "frequency"}
        How to bin.
    """

    def __init__(self, problem: Problem, n_bins: int, binning: str):
        levels = bin_columns(problem.X, n_bins, binning, problem.weight)
        self.information = Information(Binned(levels, problem.weight), bin_target(problem, n_bins))
        self.relevance = self.information.relevance
        self.no_copies = np.zeros(len(self.relevance), dtype=bool)

    def shared(self, column: int, _: Array) -> tuple[Array, Array]:
        """Mutual information of each column with this one; no column counts as a copy."""
        return self.information.redundancy(column), self.no_copies


class _Balance:
    """Relevance over, or less, redundancy."""

    def __init__(self, measure: Correlations | BinnedInformation, *, quotient: bool, largest: bool):
        m = len(measure.relevance)
        self.measure, self.quotient, self.largest = measure, quotient, largest
        self.total = np.zeros(m)
        self.copies = np.zeros(m, dtype=bool)
        self.taken = np.zeros(m, dtype=bool)
        self.n_selected = 0

    def objective(self) -> tuple[Array, Array]:
        relevance = self.measure.relevance
        if not self.n_selected:
            return relevance, self.copies
        redundancy = self.total if self.largest else self.total / self.n_selected
        return (relevance / redundancy if self.quotient else relevance - redundancy), self.copies

    def take(self, column: int) -> None:
        self.taken[column] = True
        value = np.where(self.taken, -np.inf, self.objective()[0])
        promising = np.argsort(-value, kind="stable")[: 2 * BATCH]
        shared, copies = self.measure.shared(column, promising[~self.taken[promising]])
        if self.quotient:
            shared = np.maximum(shared, FLOOR)
        if self.largest:
            np.maximum(self.total, shared, out=self.total)
            self.copies |= copies
        else:
            self.total += shared
        self.n_selected += 1
