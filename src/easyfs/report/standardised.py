"""What the rows of a report tell, where they are given: relevance and overlap, from products of standardised columns."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from easyfs.base.coding import MOST_CODED, Coding, Encoded, Measured
from easyfs.base.selector import BaseSelector
from easyfs.common.types import Array
from easyfs.stages.redundancy import coded_shares, explained_by_selected
from easyfs.stages.relevance import explained_share, orthonormal_basis
from easyfs.tables.target import Target
from easyfs.tables.weights import check_weights

BLOCK_NUMBERS = 4_000_000
# Correlations of at most so many numbers are computed for a method that leaves none.
MOST_NUMBERS = 20_000_000
# A column of which the chosen ones leave no larger share adds nothing.
NOTHING_LEFT = 1e-4


class Standardised:
    """The matrix that a selector makes of a table; a missing value counts as the mean of its column.

    Parameters
    ----------
    matrix : ndarray or sparse matrix of shape (n, q)
        The numbers.
    sample_weight : array-like, optional
        Weight of each row.
    """

    def __init__(self, matrix: Any, sample_weight: Any = None):
        self.matrix = matrix
        n = self.matrix.shape[0]
        weight = check_weights(sample_weight, n)
        self.weight = np.full(n, 1.0 / n) if weight is None else weight / weight.sum()
        self.width = max(1, BLOCK_NUMBERS // n)

    @cached_property
    def energy(self) -> Array:
        """Sum of squares of each column: 1, or 0 if it is constant."""
        d = self.matrix.shape[1]
        found = np.empty(d)
        for part in self._parts():
            block = self._block(np.arange(d)[part])
            found[part] = np.einsum("ij,ij->j", block, block)
        return found

    def products(self, columns: Array) -> Array:
        """Products of some columns with all columns."""
        return self._products(self._block(columns))

    def with_target(self, target: Target) -> Array:
        """Products of an orthonormal basis of the target (down) with each column of the matrix."""
        assert target.values is not None
        values = target.values
        Y = values[:, None] == np.arange(target.n_targets) if target.kind == "classes" else values
        Y = self._centred(np.asarray(Y, dtype=np.float64))
        Y = Y / np.maximum(np.sqrt(np.einsum("ij,ij->j", Y, Y)), np.finfo(np.float64).tiny)
        basis = Y @ orthonormal_basis(Y.T @ Y)
        return self._products(basis)

    def _products(self, left: Array) -> Array:
        d = self.matrix.shape[1]
        found = np.empty((left.shape[1], d))
        for part in self._parts():
            found[:, part] = left.T @ self._block(np.arange(d)[part])
        return found

    def _parts(self) -> list[slice]:
        return [slice(at, at + self.width) for at in range(0, self.matrix.shape[1], self.width)]

    def _block(self, columns: Array) -> Array:
        """Columns of mean 0 and, unless they are constant, sum of squares 1, times the root of the weights."""
        values: Any = self.matrix[:, columns]
        values = np.array(values.toarray() if sparse.issparse(values) else values, dtype=np.float64)
        lost = np.isnan(values)
        if lost.any():
            observed = self.weight @ ~lost
            total = self.weight @ np.where(lost, 0.0, values)
            mean = np.divide(total, observed, out=np.zeros_like(observed), where=observed > 0)
            values = np.where(lost, mean, values)
        size = np.abs(values).max(axis=0, initial=0.0)
        values /= np.where(size > 0, size, 1.0)  # so that squares fit
        values = self._centred(values)
        norm = np.sqrt(np.einsum("ij,ij->j", values, values))
        varies = norm > 1e-12
        values[:, ~varies] = 0.0
        values[:, varies] /= norm[varies]
        return np.asarray(values)

    def _centred(self, values: Array) -> Array:
        return np.asarray((values - self.weight @ values) * np.sqrt(self.weight)[:, None])


def measured_on(selector: BaseSelector, encoded: Encoded, target: Target | None, sample_weight: Any) -> Measured:
    """Relevance and overlap of the columns, as far as the selector itself has left none."""
    table = Standardised(encoded.matrix, sample_weight)
    relevance = redundancy = coding = products = None
    if target is not None and getattr(selector, "relevance_", None) is None:
        products = table.with_target(target)
        relevance = encoded.largest(np.clip(explained_share(products.T, table.energy), 0.0, 1.0))
    if selector.coding() is None:
        coding = _coding_on(encoded, table)
        if len(coding.columns) == selector.n_features_:
            source = coding.source if encoded.mixed else None
            redundancy = coding.mean(explained_by_selected(coding.shares, coding.chosen, source))
    found = Measured(relevance, redundancy, coding)
    return found if products is None or coding is None else _along_the_path(found, coding, products, encoded)


def _along_the_path(found: Measured, coding: Coding, products: Array, encoded: Encoded) -> Measured:
    """What each chosen column explains of the target beyond those before it, and what each other one would add."""
    directions = max(1, len(products))
    factor = np.tril(coding.shares[:, coding.chosen].T).astype(np.float64)
    steps = solve_triangular(factor, products[:, coding.chosen].T, lower=True, check_finite=False) / np.sqrt(directions)
    origin = coding.source[coding.chosen]
    shares = np.square(steps).sum(axis=1)
    told = np.array([shares[origin == column].sum() for column in coding.columns])
    left = 1.0 - np.einsum("ij,ij->j", coding.shares, coding.shares, dtype=np.float64)
    rest = np.square(products / np.sqrt(directions) - steps.T @ coding.shares).sum(axis=0)
    added = np.divide(rest, left, out=np.zeros_like(rest), where=left > NOTHING_LEFT)
    return replace(
        found,
        coding=replace(coding, steps=steps),
        directions=directions,
        told=told / max(float(told.sum()), 1.0),
        next_told=encoded.largest(np.minimum(added, 1.0)),
    )


def _coding_on(encoded: Encoded, table: Standardised) -> Coding:
    """What the first chosen columns say of every column, for a method that does not measure it."""
    chosen, source = encoded.chosen, encoded.source
    wanted = list(dict.fromkeys(source[chosen].tolist()))[:MOST_CODED]
    chosen = chosen[np.isin(source[chosen], wanted)][: max(1, MOST_NUMBERS // len(source))]
    shares = coded_shares(table.products(chosen), chosen.tolist(), table.energy)
    return Coding(shares, chosen, source, encoded.n_columns)
