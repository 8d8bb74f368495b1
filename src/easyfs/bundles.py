"""Columns that tell something together, found by the products of two or three of them.

A node of the network hears the sum of its inputs, and the rectified sum says little of a product of three columns, or of
a middle value. Products say it, but no column is related to them by itself, so that they could not ask for the columns they
are made of. A bundle does both: its relevance is that of the product, and in the target it is the sum of its columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easyfs.engines.local import map_blocks
from easyfs.relevance import explained_share
from easyfs.rows import spread_rows
from easyfs.stopping import effective_share, null_relevance

Array = NDArray[Any]

# All products of three columns are looked at while there are no more of them than this, times rows.
TRIPLE_PRODUCTS, FEWEST_TRIPLE_ROWS = 1 << 31, 256
# Pairs and triples that are tested, strongest first, and bundles that are kept.
MOST_PAIRS, MOST_TRIPLES, MOST_BUNDLES = 512, 32, 16
# In so many of tables without any such columns there is no bundle of two, and none of three.
LEVEL = 0.99
# Correlation with the first column of a bundle below which a column is taken with its sign turned.
OPPOSITE = -0.3
# A square with less spread than this is none; its values count up to so many standard deviations.
SQUARED_SPREAD, SQUARED_CLIP = 0.1, 3.0


@dataclass(frozen=True)
class Bundles:
    """Columns that tell something together.

    Attributes
    ----------
    columns : list of arrays of int
        The columns of each bundle.
    relevance : ndarray of shape (len(columns),)
        Share that their product explains, beyond each of them, of what a linear fit leaves of the target; largest first.
    signs : list of arrays
        1, or -1 for a column that goes down where the first of its bundle goes up: their sum would be nothing.
    """

    columns: list[Array] = field(default_factory=list)
    relevance: Array = field(default_factory=lambda: np.zeros(0))
    signs: list[Array] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.columns)

    def sums(self, n_columns: int) -> Array:
        """The sum of the columns of each bundle with their signs, as a matrix of 0, 1 and -1."""
        mixture = np.zeros((n_columns, len(self)))
        for which, (columns, signs) in enumerate(zip(self.columns, self.signs, strict=True)):
            mixture[columns, which] = signs
        return mixture


def squares_of(values: Array, weight: Array) -> tuple[Array, Array]:
    """Squares of centred columns less what is linear in them, standardised, and which columns have one of their own."""
    squares = values * values
    squares -= (weight @ squares) / weight.sum()
    energy = weight @ (values * values)
    squares -= values * (weight @ (values * squares) / np.where(energy > 0, energy, 1.0))
    spread = np.sqrt((weight @ (squares * squares)) / weight.sum())
    curved = spread > SQUARED_SPREAD  # a column of two values has no square of its own
    squares = np.clip(squares / np.where(curved, spread, np.inf), -SQUARED_CLIP, SQUARED_CLIP)
    return squares, curved


def triple_rows(n: int, d: int) -> int:
    """Rows of ``n`` that products of three of ``d`` columns are looked at in; 0 where there are too many products."""
    rows = min(n, TRIPLE_PRODUCTS // max(1, d**3 // 3))
    return rows if d >= 3 and rows >= min(n, FEWEST_TRIPLE_ROWS) else 0


def screen_triples(values: Array, direction: Array) -> Array:
    """The triples of different columns whose products are most related to a direction.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        Standardised columns.
    direction : ndarray of shape (n,)
        A residual of the target, each row with its weight.

    Returns
    -------
    ndarray of int, shape (at most MOST_TRIPLES, 3)
        Strongest first; none where there are too many columns.
    """
    n, d = values.shape
    rows = triple_rows(n, d)
    if not rows:
        return np.empty((0, 3), dtype=np.intp)
    few = spread_rows(n, rows)
    if few is not None:
        values, direction = values[few], direction[few]

    def screen(first: int) -> tuple[Array, Array]:
        rest = values[:, first + 1 :]
        product = np.abs((rest * (values[:, first] * direction)[:, None]).T @ rest)
        product[np.tril_indices(len(product))] = 0.0
        k = min(MOST_TRIPLES, product.size)
        best = np.argpartition(product.ravel(), product.size - k)[product.size - k :]
        i, j = np.unravel_index(best, product.shape)
        return product[i, j], np.stack([np.full(k, first), first + 1 + i, first + 1 + j], axis=1)

    found = list(map_blocks(screen, range(d - 2)))
    strength, triples = np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
    order = np.lexsort((triples[:, 2], triples[:, 1], triples[:, 0], -strength))[:MOST_TRIPLES]
    return np.asarray(triples[order][strength[order] > 0])


def find_bundles(values: Array, root_weight: Array, target: Array, sets: list[Array], n_columns: int) -> Bundles:
    """Test sets of columns: whether a product of them, or of squares of them, tells more than chance would.

    Parameters
    ----------
    values : ndarray of shape (n, d)
        Standardised columns of the sample, each row times the root of its weight.
    root_weight : ndarray of shape (n,)
        Root of the weight of each row.
    target : ndarray of shape (n, r)
        Orthonormal residual of the target; each row carries the root of its weight.
    sets : list of arrays of int
        Columns of each candidate: two, which may be the same, or three.
    n_columns : int
        Columns that the candidates were chosen from, for the number of products there are.
    """
    weight = root_weight**2
    plain = values / root_weight[:, None]
    right = (target * root_weight[:, None]).astype(plain.dtype)
    squares, _ = squares_of(plain, weight)

    def share(*factors: Array) -> Array:
        products = factors[0] if len(factors) == 1 else np.multiply(*factors)
        mean = (weight @ products) / weight.sum()
        energy = (weight @ (products * products)).astype(np.float64) - weight.sum(dtype=np.float64) * mean.astype(
            np.float64
        ) ** 2
        return explained_share((products.T @ right).astype(np.float64), np.where(energy > 1e-6 * len(plain), energy, 0.0))

    own = share(plain)
    total, rank = float(weight.sum(dtype=np.float64)) * effective_share(target, root_weight), target.shape[1]
    relevance, beyond = np.zeros(len(sets)), np.zeros(len(sets), dtype=bool)
    for size in (2, 3):
        places = np.array([q for q, columns in enumerate(sets) if len(columns) == size], dtype=np.intp)
        if not len(places):
            continue
        columns = np.stack([sets[q] for q in places])
        i, j = columns[:, 0], columns[:, -1]
        if size == 2:
            forms = [share(plain[:, i], plain[:, j]), share(plain[:, i], squares[:, j])]
            forms += [share(squares[:, i], plain[:, j]), share(squares[:, i], squares[:, j])]
            told = np.where(i == j, share(squares[:, i]), np.max(forms, axis=0))
        else:
            told = share(plain[:, i] * plain[:, columns[:, 1]], plain[:, j])
        relevance[places] = np.maximum(told - own[columns].max(axis=1), 0.0)
        n_products = 2 * n_columns * (n_columns + 1) if size == 2 else n_columns * (n_columns - 1) * (n_columns - 2) // 6
        beyond[places] = relevance[places] > null_relevance(total, rank, n_products, LEVEL)
    order = np.flatnonzero(beyond)[np.argsort(-relevance[beyond], kind="stable")][:MOST_BUNDLES]
    members = [np.unique(sets[q]) for q in order]
    along = [values[:, columns].T @ values[:, columns[0]] for columns in members]
    norm = np.sqrt(np.einsum("ij,ij->j", values, values))
    signs = [
        np.where(products < OPPOSITE * norm[columns] * norm[columns[0]], -1.0, 1.0)
        for columns, products in zip(members, along, strict=True)
    ]
    return Bundles(members, relevance[order], signs)
