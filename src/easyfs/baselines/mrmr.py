"""Minimum redundancy, maximum relevance (mRMR)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from easyfs.baselines.base import Problem, Scored, WeightedBaseline
from easyfs.baselines.information import (
    Binned,
    Information,
    bin_columns,
    bin_target,
    check_binning,
    greedy,
    threads_for_blocks,
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
    """Greedy search for columns that are relevant to the target and not redundant with those selected before.

    ``form="correlation"`` takes the F statistic for relevance (of an analysis of variance for classes, of a regression for
    numbers) and the absolute correlation for redundancy. ``form="information"`` takes the mutual information in bits for
    both, on binned columns and with observed shares for probabilities; a target of numbers is cut into ``n_bins`` bins of
    equal frequency. ``scheme="quotient"`` divides the relevance by the redundancy, each correlation (or shared
    information) counting as 0.001 at least; ``scheme="difference"`` subtracts it. The redundancy of a column is the mean
    over the selected ones, or the largest. The first column is the one of largest relevance.

    The defaults are the F-correlation quotient of Ding and Peng; ``form="information"`` is the mutual information
    difference of Peng, Long and Ding. With ``redundancy="max"`` and correlations, a column whose absolute correlation with
    a selected one is 1 up to 1e-8 (1e-5 for float32 tables) is a copy and waits until no other column is left. The package
    mrmr_selection does the same where the correlation is 1 to the last bit, and leaves columns of relevance 0 out, which
    here come last.

    Missing values are at the mean of their column. Columns that are equally good are taken in the order of the table. This
    method only ranks: columns beyond the number asked for are ordered by the objective after the last step.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count, or a share of the columns.
    form : {"correlation", "information"}, default="correlation"
        What relevance and redundancy are.
    scheme : {"auto", "quotient", "difference"}, default="auto"
        How they are put together; "auto" is the quotient for correlations and the difference for information.
    redundancy : {"mean", "max"}, default="mean"
        What is made of the redundancies with the selected columns.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` is; "auto" reads it from ``y``.
    n_bins : int, default=5
        Number of bins, from 2 to 256, for information. Columns that have no more distinct values than this keep them as
        their levels. It is also the number of bins of a target of numbers.
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
        The objective of each selected column when it was selected, and of the others after the last step; of a copy, the
        lowest there is. The objective changes from step to step: compare scores of the columns that were not selected, and
        use ``order_`` for the rest.

    References
    ----------
    Peng, Long and Ding, "Feature selection based on mutual information: criteria of max-dependency, max-relevance, and
    min-redundancy", PAMI 27, 2005; Ding and Peng, "Minimum redundancy feature selection from microarray gene expression
    data", Journal of Bioinformatics and Computational Biology 3, 2005.
    """

    def __init__(
        self,
        n_features_to_select: Any = 0.5,
        *,
        form: str = "correlation",
        scheme: str = "auto",
        redundancy: str = "mean",
        task: str = "auto",
        n_bins: int = 5,
        binning: str = "width",
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, groups=groups)
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
        with threads_for_blocks():
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
