"""Elastic columns: each column as a few functions of its ranks, so that any curve of it is a sum of them.

With ``u`` the rank of a value over the number of rows, ``sqrt(2) cos(pi k u)`` for ``k = 1, 2, ...`` are orthonormal and
bend to any curve: the first follows the column, the second its size, and so on to waves. Columns with many equal values
have fewer such functions, made orthonormal on their own values. The functions of a category are its indicators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.common.threads import block_slices, for_blocks
from easyfs.common.types import Array
from easyfs.sample.rows import Sample

# Functions of a column: at most so many, at least so many, and no more numbers in all than this.
MOST_FUNCTIONS, FEWEST_FUNCTIONS, NUMBERS = 8, 2, 1 << 22
# A function whose own part has less than this mean square says nothing of its own.
OWN_PART = 0.03
# A column with fewer different values than this share of the rows has ties that matter.
TIED = 0.5
# Columns transformed at a time.
COLUMNS = 128


@dataclass(frozen=True, eq=False)
class Elastic:
    """Functions of units: of a column each, or of all indicators of a category.

    Attributes
    ----------
    functions : ndarray of shape (K, u, n), float32
        Mean 0 and mean square 1, or all zero where a unit has fewer functions.
    units : list of arrays of int
        The columns of each unit.
    """

    functions: Array
    units: list[Array]

    @property
    def counts(self) -> Array:
        """Number of functions of each unit."""
        return np.asarray((self.functions[:, :, :: max(1, self.functions.shape[2] // 64)] != 0).any(axis=2).sum(axis=0))


def elastic_columns(sample: Sample, units: list[Array], order: Array) -> Elastic:
    """Transform the columns of a sample.

    Parameters
    ----------
    sample : Sample
        The rows.
    units : list of arrays of int
        Columns of each unit; several are the indicators of one category.
    order : ndarray of int
        Rows in the order in which they are wanted.
    """
    n, u = len(order), len(units)
    count = int(np.clip(NUMBERS // max(1, n * u), FEWEST_FUNCTIONS, MOST_FUNCTIONS))
    functions = np.zeros((count, u, n), dtype=np.float32)
    table = (np.sqrt(2.0) * np.cos(np.pi * np.outer(np.arange(1, count + 1), (np.arange(2 * n) + 1.0) / (2 * n)))).astype(
        np.float32
    )  # by twice the rank
    single = np.array([len(columns) == 1 for columns in units])
    places = np.flatnonzero(single)
    columns = np.array([units[i][0] for i in places], dtype=np.intp)

    def transform(part: slice) -> None:
        where: Any = part if single.all() else places[part]  # a slice is written to faster
        functions[:, where] = _by_rank(np.ascontiguousarray(_shown(sample, columns[part])[order].T), table)

    for_blocks(transform, block_slices(len(places), COLUMNS))
    for i in np.flatnonzero(~single):
        functions[:, i] = _indicators(sample, units[i], order, count)
    return Elastic(functions, units)


def _shown(sample: Sample, columns: Array) -> Array:
    """Columns as their functions see them.

    Where others are adjusted for, what these leave of a column; of a column with many equal values the column itself, whose
    ties that would break, and of those that are adjusted for themselves.
    """
    values = sample.plain(columns)
    if sample.beyond is None:
        return values
    levels = 1 + np.count_nonzero(np.diff(np.sort(values, axis=0), axis=0), axis=0)
    left = (levels >= TIED * len(values)) & ~np.isin(columns, sample.beyond.columns)
    values[:, left] = sample.unweighed(columns[left])
    return values


def _by_rank(values: Array, table: Array) -> Array:
    """Functions of each row of ``values``, as an array of shape (K, d, n)."""
    d, n = values.shape
    count = len(table)
    order = np.argsort(values, axis=1)
    order += (np.arange(d) * n)[:, None]  # places in the whole block
    ordered = values.ravel()[order]
    new = np.ones((d, n), dtype=bool)
    np.greater(ordered[:, 1:], ordered[:, :-1], out=new[:, 1:])
    out = np.empty((count, d, n), dtype=np.float32)
    levels = np.count_nonzero(new, axis=1)
    # Twice the middle rank of each run of equal values, less one: 2 i for a value of its own.
    place = np.arange(n, dtype=np.int32)
    twice = np.tile(2 * place, (d, 1))
    repeated = np.flatnonzero(levels < n)
    if len(repeated):
        first = np.maximum.accumulate(np.where(new[repeated], place, np.int32(0)), axis=1)
        last_new = np.ones((len(repeated), n), dtype=bool)
        last_new[:, :-1] = new[repeated, 1:]
        last = np.minimum.accumulate(np.where(last_new, place, np.int32(n))[:, ::-1], axis=1)[:, ::-1]
        twice[repeated] = first + last
    ranks = np.empty(d * n, dtype=np.int32)
    ranks[order.ravel()] = twice.ravel()
    for k in range(count):
        np.take(table[k], ranks.reshape(d, n), out=out[k], mode="clip")
    tied = np.flatnonzero(levels < TIED * n)
    if len(tied):
        out[:, tied] = _orthonormal(out[:, tied])
    return out


def _orthonormal(functions: Array) -> Array:
    """Functions (K, d, n) made orthonormal one after another; those without a part of their own become zero."""
    out = np.zeros_like(functions)
    n = functions.shape[2]
    kept: list[Array] = []
    filled = np.zeros(functions.shape[1], dtype=np.intp)
    for k in range(len(functions)):
        part = functions[k] - functions[k].mean(axis=1, keepdims=True)
        for earlier in kept:
            part -= (np.einsum("ij,ij->i", part, earlier) / n)[:, None] * earlier
        size = np.einsum("ij,ij->i", part, part) / n
        own = size > OWN_PART
        part = np.where(own[:, None], part / np.sqrt(np.where(own, size, 1.0))[:, None], 0.0).astype(np.float32)
        kept.append(part)
        rows = np.flatnonzero(own)
        out[filled[rows], rows] = part[rows]  # close up, so that the first function is there wherever any is
        filled[rows] += 1
    return out


def _indicators(sample: Sample, columns: Array, order: Array, count: int) -> Array:
    """The indicators of a category as orthonormal functions, the most frequent first."""
    values = sample.plain(columns).astype(np.float64)
    frequent = (values > 0.5 * (values.min(axis=0) + values.max(axis=0))).mean(axis=0)
    frequent = np.minimum(frequent, 1.0 - frequent)  # all have the same spread
    values = values[order][:, np.argsort(-frequent, kind="stable")[:count]]
    values = values - values.mean(axis=0)
    found, vectors = np.linalg.eigh(values.T @ values / len(values))
    kept = found > 1e-6 * max(float(found[-1]), 1e-300)
    functions = values @ (vectors[:, kept] / np.sqrt(found[kept]))[:, ::-1]
    out = np.zeros((count, len(values)), dtype=np.float32)
    out[: functions.shape[1]] = functions.T
    return out
