"""Which rows are looked at when not all can be: drawn by the seed, rare classes among them, weighed back.

A row is in the sample when the hash of its number is among the smallest, so neither the order of the rows nor the way in
which they are cut into blocks has a say. Weights that are whole numbers count rows: the sample is then drawn from the rows
written out as often as they count, and an integer weight is the same as a repeated row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from easyfs.common.threads import block_slices, for_blocks
from easyfs.common.types import Array

# Rows that whole-number weights may stand for and still be written out one by one.
MOST_COUNTED = 1 << 26
# A class has at least this share of its equal part of the sample, where it has so many rows.
LEAST_OF_EQUAL_PART = 1 / 3
# Hashes are whole numbers below 1 / HASH_UNIT, all equally likely.
HASH_UNIT = 2.0**-64
# Standard deviations by which rows of a sample, in a part of the table, may be more than expected.
CHANCE = 6.0
# Row numbers that are hashed at a time.
HASHED = 1 << 16


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of a sample.

    Attributes
    ----------
    rows : ndarray of int
        Row numbers in ascending order; a row that counts several times may come several times.
    weight : ndarray or None
        The weight that each brings along; None where all count the same.
    chance : ndarray or None
        How many rows each stands for, beside its weight; None where all stand for the same number.
    """

    rows: Array
    weight: Array | None
    chance: Array | None


def row_hashes(seed: int, numbers: Array) -> Array:
    """A number without pattern for each row number: the finalizer of SplitMix64, keyed by the seed."""
    hashes = np.empty(len(numbers), dtype=np.uint64)

    def fill(part: slice) -> None:
        with np.errstate(over="ignore"):
            z = numbers[part].astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(seed)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            np.bitwise_xor(z, z >> np.uint64(31), out=hashes[part])

    for_blocks(fill, block_slices(len(numbers), HASHED))
    return hashes


def at_most(expected: Any) -> Any:
    """How many rows there may be by chance where so many are expected."""
    return expected + CHANCE * (np.sqrt(expected) + 1.0)


def smallest(hashes: Array, size: int) -> Array:
    """Places of the smallest hashes: looked for among those below a bound that so many lie below."""
    n, bound = len(hashes), at_most(size)
    places = np.flatnonzero(hashes <= np.uint64(bound / n / HASH_UNIT)) if bound < 0.5 * n else np.arange(n)
    if len(places) <= size:
        places = np.arange(n)
    return np.asarray(places[np.argpartition(hashes[places], size)[:size]])


def counts_rows(weight: Array | None) -> bool:
    """Whether weights say how often a row is there: whole numbers, not too many in all."""
    return weight is None or bool((weight == np.round(weight)).all() and weight.sum() <= MOST_COUNTED)


def draw_rows(n: int, size: int, seed: int, weight: Array | None = None, codes: Array | None = None) -> Drawn:
    """Draw at most ``size`` rows.

    Parameters
    ----------
    n : int
        Number of rows.
    size : int
        Number of rows wanted.
    seed : int
        One seed draws the same rows each time.
    weight : ndarray of shape (n,), optional
        Weights of the rows.
    codes : ndarray of int, shape (n,), optional
        Classes; of rare ones more rows are taken than their share, each standing for fewer.
    """
    numbers = source = np.arange(n)
    if weight is not None and counts_rows(weight):
        source, weight = np.repeat(source, weight.astype(np.intp)), None
        numbers, codes = np.arange(len(source)), None if codes is None else codes[source]
    if len(source) <= size:
        return Drawn(source, None if weight is None else weight[source], None)
    hashes = row_hashes(seed, numbers)
    chance = None
    if codes is None:
        chosen = smallest(hashes, size)
    else:
        chosen, chance = _by_class(hashes, codes, size)
    order = np.argsort(chosen)
    rows = source[chosen[order]]
    return Drawn(rows, None if weight is None else weight[rows], None if chance is None else chance[order])


def quotas(counts: Array, size: int) -> Array | None:
    """How many rows of each class a sample of ``size`` has; None where no class is rare, so that all are drawn alike.

    A class has at least a third of an equal part, or all its rows; the others share what is left by their size.
    """
    total, present = int(counts.sum()), counts > 0
    least = np.minimum(counts, int(LEAST_OF_EQUAL_PART * size / max(1, int(present.sum()))))
    rare = counts * (size / total) < least
    if not rare.any():
        return None
    room = size - int(least[rare].sum())
    shared = np.maximum(1, np.floor(counts * (room / max(1, int(counts[~rare].sum())))))
    return np.where(present, np.where(rare, least, shared), 0).astype(np.intp)


def _by_class(hashes: Array, codes: Array, size: int) -> tuple[Array, Array | None]:
    """Places of the rows that are taken, and how many rows each stands for: None where no class is rare."""
    counts = np.bincount(codes)
    quota = quotas(counts, size)
    if quota is None:
        return smallest(hashes, size), None
    order = np.lexsort((hashes, codes))
    place = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = order[place < quota[codes[order]]]
    stands_for = counts / np.maximum(quota, 1)
    return chosen, stands_for[codes[chosen]]
