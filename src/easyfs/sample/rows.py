"""The rows that curves, joint effects, the linear fit and the law of chance look at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq

from easyfs.common.threads import block_rows, block_slices, map_blocks
from easyfs.common.types import Array
from easyfs.sample.drawing import counts_rows, draw_rows
from easyfs.stages.relevance import orthonormal_basis
from easyfs.sums.rows import HeldElsewhere
from easyfs.sums.sparse import ScaledSparse

# The sample has so many numbers, within these numbers of rows.
SAMPLE_NUMBERS, FEWEST_ROWS, MOST_ROWS = 1 << 20, 512, 2048
# Columns that are held dense at a time: at least so many, and more where the sample is short.
DENSE_COLUMNS, DENSE_NUMBERS = 4096, 1 << 22
# Share of a column, in single precision, below which what adjusting leaves of it is rounding; and of a target.
LEFT, LEFT_OF_TARGET = 1e-5, 1e-10
# A column whose variance is a smaller share of its mean square than this is constant but for rounding.
CONSTANT = 1e-12
# Equal rows are repeated ones where chance would make this share of them equal at most, and so many are different.
BY_CHANCE, FEWEST_REPEATED = 0.01, 30


@dataclass(frozen=True, eq=False)
class Beyond:
    """Columns that are adjusted for, on the rows of a sample.

    Attributes
    ----------
    columns : ndarray of int
        Which they are.
    basis : ndarray of shape (n, k)
        An orthonormal basis of them; each row carries the root of its weight.
    stretch : ndarray of shape (d,)
        What brings what is left of each column back to the column's own size; 0 where that is rounding.
    """

    columns: Array
    basis: Array
    stretch: Array

    def left_of(self, values: Array, columns: Array) -> Array:
        """What is left of some columns, stretched to their own size; rows carry the root of their weight."""
        basis = self.basis.astype(values.dtype)
        left = values - basis @ (basis.T @ values)
        return np.asarray(left * self.stretch[columns].astype(values.dtype))


def adjusted_rows(inputs: Array | ScaledSparse, root_weight: Array, columns: Array) -> Beyond:
    """The columns that are adjusted for, on some scaled rows.

    Parameters
    ----------
    inputs : ndarray or ScaledSparse
        The rows.
    root_weight : ndarray
        Root of the weight of each.
    columns : ndarray of int
        Which columns they are.
    """
    w = np.square(root_weight)
    values = inputs.take(columns) if isinstance(inputs, ScaledSparse) else inputs[:, columns]
    values = values.astype(np.float64)
    basis = orthonormal((values - (w @ values) / w.sum()) * root_weight[:, None])
    d = inputs.shape[1]
    whole, before, after = np.empty(d), np.empty(d), np.empty(d)
    for part in block_slices(d, max(DENSE_COLUMNS, DENSE_NUMBERS // max(1, len(w)))):
        every = np.arange(part.start, part.stop)
        some = np.asarray(inputs.take(every) if isinstance(inputs, ScaledSparse) else inputs[:, part], dtype=np.float64)
        whole[part] = w @ np.square(some)
        some = (some - (w @ some) / w.sum()) * root_weight[:, None]
        before[part] = np.einsum("ij,ij->j", some, some)
        after[part] = before[part] - np.square(basis.T @ some).sum(axis=0)
    usable = (after > LEFT * before) & (before > CONSTANT * whole)
    usable[columns] = False
    stretch = np.sqrt(np.divide(before, after, out=np.zeros(d), where=usable))
    return Beyond(columns, basis, stretch)


def orthonormal(values: Array) -> Array:
    """An orthonormal basis of some columns; what depends on others to rounding is left out."""
    if not values.shape[1]:
        return values
    found, eigenvectors = np.linalg.eigh(values.T @ values)
    kept = found > 1e-9 * max(float(found[-1]), 1e-300)
    return np.asarray(values @ (eigenvectors[:, kept] / np.sqrt(found[kept])))


@dataclass(frozen=True, eq=False)
class Sample:
    """The rows that the search for joint effects, the linear fit and the law of chance look at.

    Attributes
    ----------
    inputs : ndarray or ScaledSparse
        Scaled rows.
    root_weight : ndarray
        Root of the weight of each row: its own, times the number of rows that it stands for.
    own_weight : ndarray or None
        Weight of each row beside that: the user's, where it does not count rows, times how often the row is repeated.
    target : ndarray of shape (n, r)
        Orthonormal basis of the targets; each row carries the root of its weight.
    basis : ndarray of shape (t, r)
        The combinations of the targets that make it.
    repeats : float
        How often a row comes on average, where rows are repeated.
    beyond : Beyond, optional
        The columns that are adjusted for: target and columns are given without what these explain.
    """

    inputs: Array | ScaledSparse
    root_weight: Array
    own_weight: Array | None
    target: Array
    basis: Array
    repeats: float = 1.0
    beyond: Beyond | None = None
    _centred: list[Array] = field(default_factory=list, repr=False)
    _energy: list[Array] = field(default_factory=list, repr=False)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.inputs.shape[0])

    @property
    def weighted(self) -> bool:
        """Whether rows count differently."""
        return bool((self.root_weight != 1.0).any())

    def columns(self, live: Array) -> Iterator[tuple[Array, Array]]:
        """Blocks of live columns as float32, centred, each row times the root of its weight (not to be written to)."""
        places = np.flatnonzero(live)
        for part in block_slices(len(places), max(DENSE_COLUMNS, DENSE_NUMBERS // max(1, self.n))):
            yield places[part], self.take(places[part])

    def plain(self, chosen: Array) -> Array:
        """Some columns as float32, as they are: neither centred nor weighed, so that equal values stay equal."""
        if isinstance(self.inputs, ScaledSparse):
            return self.inputs.take(chosen).astype(np.float32)
        return np.asarray(self.inputs[:, chosen], dtype=np.float32)

    def unweighed(self, chosen: Array) -> Array:
        """Some columns as float32, without the weights of rows, and without what is adjusted for."""
        if self.beyond is None:
            return self.plain(chosen)
        return np.asarray(self.take(chosen) / self.root_weight.astype(np.float32)[:, None])

    def energy(self, columns: Array, values: Array) -> Array:
        """Sums of squares of a block from :meth:`columns`; those of all columns are kept, as they are asked for often."""
        whole = len(columns) == self.inputs.shape[1]
        if whole and self._energy:
            return self._energy[0]
        energy = np.einsum("ij,ij->j", values, values)
        if whole:
            self._energy.append(energy)
        return np.asarray(energy)

    def take(self, chosen: Array) -> Array:
        """Some columns, as :meth:`columns` gives them."""
        whole = len(chosen) == self.inputs.shape[1]
        if whole and self._centred:
            return self._centred[0]
        root = self.root_weight.astype(np.float32)
        weight = root * root
        if isinstance(self.inputs, ScaledSparse):
            values = self.inputs.take(chosen).astype(np.float32)
        else:
            values = (self.inputs if whole else self.inputs[:, chosen]).astype(np.float32)
        values -= (weight @ values) / weight.sum()
        if self.weighted:
            values *= root[:, None]
        if self.beyond is not None:
            values = self.beyond.left_of(values, chosen)
        if whole:  # asked for several times
            self._centred.append(values)
        return values


def take_sample(
    inputs: Array | ScaledSparse | HeldElsewhere,
    Y: Array,
    seed: int,
    weight: Array | None = None,
    stands_for: Array | None = None,
    codes: Array | None = None,
    population: float | None = None,
    adjusted: Array | None = None,
) -> Sample:
    """Draw the sample and make an orthonormal basis of its targets.

    Parameters
    ----------
    inputs : ndarray, ScaledSparse or HeldElsewhere
        Scaled rows.
    Y : ndarray of shape (n, t)
        Their targets, as columns.
    seed : int
        Seed of the draw.
    weight, stands_for : ndarray, optional
        Weight of each row, and how many rows it stands for beside that.
    codes : ndarray of int, optional
        Classes: rare ones are in the sample.
    population : float, optional
        Rows of the table that the given ones were drawn from; by default they are the table.
    adjusted : ndarray of int, optional
        Columns whose effect is taken out of target and columns.
    """
    size = int(np.clip(SAMPLE_NUMBERS // max(1, inputs.shape[1]), FEWEST_ROWS, MOST_ROWS))
    n = len(Y)
    drawn = draw_rows(n, size, seed, weight, codes)
    if (
        isinstance(inputs, HeldElsewhere) or len(drawn.rows) < n or (np.diff(drawn.rows) != 1).any()
    ):  # else all, as they stand
        inputs, Y = inputs[drawn.rows], Y[drawn.rows]
    first, times = _repeated(inputs, Y)
    rows = drawn.rows[first]
    if len(first) < len(Y):
        inputs, Y = inputs[first], Y[first]
    own = None if drawn.weight is None else drawn.weight[first].astype(np.float64)
    if len(first) < len(drawn.rows):
        own = times * (1.0 if own is None else own)
    w = np.ones(len(Y)) if own is None else own
    if drawn.chance is not None:
        w = w * drawn.chance[first]
    if stands_for is not None:
        w = w * stands_for[rows]
    w = w * (len(w) / w.sum())
    centred = Y.astype(np.float64) - np.average(Y, axis=0, weights=w)
    root = np.sqrt(w) if (w != 1.0).any() else np.ones(len(w))
    beyond = None
    if adjusted is not None and len(adjusted):
        beyond = adjusted_rows(inputs, root, adjusted)
        centred = _target_beyond(centred * root[:, None], beyond.basis) / root[:, None]
    basis = orthonormal_basis(centred.T @ (centred * w[:, None]))
    counted = n if weight is None or not counts_rows(weight) else weight.sum()
    n_drawn, total = len(drawn.rows), float(counted if population is None else population)
    partly = len(first) < n_drawn < total
    repeats = max(1.0, total / _different(n_drawn, len(first))) if partly else n_drawn / len(first)
    return Sample(inputs, root, own, (centred @ basis) * root[:, None], basis, repeats, beyond)


def _target_beyond(target: Array, basis: Array) -> Array:
    """What is left of a target, or nothing where that is rounding."""
    left = target - basis @ (basis.T @ target)
    explained = np.square(left).sum(axis=0) <= LEFT_OF_TARGET * np.square(target).sum(axis=0)
    return np.where(explained, 0.0, left)


def _different(n_drawn: int, n_different: int) -> float:
    """How many different rows there are, if so many draws found so many: ``x`` draws of each find ``1 - exp(-x)``."""
    share = n_different / n_drawn
    return n_drawn / float(brentq(lambda x: -np.expm1(-x) / x - share, 1e-9, 1e9))


def _repeated(inputs: Array | ScaledSparse, Y: Array) -> tuple[Array, Array]:
    """Places of the rows that are different, and how often each comes.

    Rows that are drawn with replacement, or written out as often as they count, tell no more than once. Rows of a few
    categories are equal by chance; so equal rows count as repeated only where chance would make far fewer of them equal.
    """
    n, d = inputs.shape
    every = np.arange(n), np.ones(n)
    rng = np.random.default_rng(n)
    # Equal rows have equal sums up to rounding, which may depend on where a row stands.
    along, across = rng.standard_normal((d, 1)), rng.standard_normal((Y.shape[1], 1))
    if isinstance(inputs, ScaledSparse):
        plain = inputs.dot(along.astype(inputs.dtype))
    else:
        parts = block_slices(n, block_rows(d, 8))
        plain = np.concatenate(list(map_blocks(lambda part: inputs[part].astype(np.float64) @ along, parts)))
    marks: Array = (plain + Y @ across)[:, 0]
    marks = np.round(marks / max(float(np.abs(marks).max(initial=0.0)), 1e-300), 11)
    _, first, times = np.unique(marks, return_index=True, return_counts=True)
    if len(first) == n:
        return every
    order = np.argsort(first)
    first, times = first[order], times[order]
    if len(first) < min(FEWEST_REPEATED, n / 4):
        return every
    # The logarithm of the chance that two rows are equal, if columns have nothing to do with each other.
    by_chance, observed = np.log(_equal_pairs(Y).min()), np.log(np.square(times / n).sum() - 1.0 / n + 1e-300)
    for part in block_slices(d, max(1, DENSE_NUMBERS // (8 * n))):
        columns = np.arange(part.start, part.stop)
        values = inputs.take(columns) if isinstance(inputs, ScaledSparse) else inputs[:, part]
        by_chance += float(np.log(_equal_pairs(values)).sum())
        if by_chance < np.log(BY_CHANCE) + observed:
            return first, times.astype(np.float64)
    return every


def _equal_pairs(values: Array) -> Array:
    """Share of the pairs of rows that have the same value in each column, those of a row with itself among them."""
    n = len(values)
    ordered = np.sort(values, axis=0)
    new = np.ones(values.shape, dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return np.array([np.square(np.diff(np.append(np.flatnonzero(column), n)) / n).sum() for column in new.T])
