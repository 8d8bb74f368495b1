"""What the best of many columns that have nothing to do with the target would tell of it.

The test is not the search: a column is searched for with a precision, and tested without one, by its plain partial
relevance, the share that it explains of what the chosen columns leave of the target. For columns and targets without long
tails that share follows a beta law. Rare ones, long tails, small classes and weights change the law: its spread follows
from the fourth moments of column and target, and the law of the largest of all such shares is then measured on a sample, by
giving the rows of the target to other rows. The largest of many follow a Gumbel law, whose two numbers are what is
measured.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from easyfs.common.threads import block_slices, map_blocks
from easyfs.common.types import Array
from easyfs.sample.rows import Sample, orthonormal

# Permutations of the sample's target: so many, fewer where they would take more than so many products.
PERMUTATIONS, FEWEST_PERMUTATIONS, PRODUCTS = 64, 24, 1 << 27
# Permutations that one thread works on at a time: so many, more where they would take fewer products than these, and fewer
# where they would be held with more numbers than these.
TOGETHER, WORTH_A_THREAD, BLOCK_NUMBERS = 16, 1 << 23, 1 << 21
# Difference between the mean and the mode of a Gumbel law, in its scale; and its standard deviation.
GUMBEL_MEAN, GUMBEL_SPREAD = 0.5772156649, np.pi / np.sqrt(6.0)
# The tails of the largest of many scores are not taken to be lighter than this share of what theory says.
LEAST_SCALE = 0.8


def score(share: Array, free: float, terms: float, spread: Array | float) -> Array:
    """How far a share lies above what is expected by chance, as if it were a standard normal number.

    Parameters
    ----------
    share : ndarray
        Shares of what is left of the target.
    free : float
        Degrees of freedom: rows, less one, less the chosen columns.
    terms : float
        Directions of the target times columns of the group.
    spread : float or ndarray
        Variance of the chi-square that the share amounts to: ``2 * terms`` without long tails.
    """
    share = np.clip(np.asarray(share, dtype=np.float64), 0.0, 1.0 - 1e-12)
    chi2 = -_bartlett(free, terms) * np.log1p(-share)
    shape = terms**2 / spread
    return np.asarray((np.cbrt(chi2 / terms) - 1.0 + 1.0 / (9.0 * shape)) * 3.0 * np.sqrt(shape))  # Wilson and Hilferty


def share_of(score: float, free: float, terms: float, spread: Array) -> Array:
    """The share that has this score: :func:`score` turned round."""
    shape = terms**2 / spread
    root = np.maximum(score / (3.0 * np.sqrt(shape)) + 1.0 - 1.0 / (9.0 * shape), 0.0)
    return np.asarray(-np.expm1(-terms * root**3 / _bartlett(free, terms)))


def largest_scores(share: Array, free: float, terms: float, spread: Array) -> Array:
    """The largest score of each column of ``share``, whose rows have a spread each.

    Scores cost far more than shares, so they are computed only where they can be the largest.
    """
    places = np.arange(share.shape[1])
    first = share.argmax(axis=0)
    best = score(share[first, places], free, terms, spread[first])
    least = share_of(float(best.min()), free, terms, spread) * (1.0 - 1e-5)  # less rounding
    rows, columns = np.divmod(np.flatnonzero(share > least.astype(share.dtype)[:, None]), share.shape[1])
    np.maximum.at(best, columns, score(share[rows, columns], free, terms, spread[rows]))
    return best


def _bartlett(free: float, terms: float) -> float:
    return max(free - 0.5 * (terms + 2.0), 0.5)


def tail(score: Array) -> Array:
    """Minus the logarithm of the chance of a larger standard normal number."""
    return np.asarray(-log_ndtr(-np.asarray(score, dtype=np.float64)))


@dataclass(frozen=True)
class Gumbel:
    """The law of the largest of many tails."""

    place: float
    scale: float

    def p_value(self, scores: Array) -> Array:
        """Chance that the largest of many unrelated columns has such a score."""
        return np.asarray(-np.expm1(-np.exp(-(tail(scores) - self.place) / self.scale)))

    def bar(self, level: float) -> float:
        """The score that the largest of many unrelated columns reaches with this chance."""
        if not np.isfinite(self.place):
            return np.inf
        return float(-ndtri_exp(-max(self.place - self.scale * np.log(-np.log1p(-level)), 1e-12)))

    @classmethod
    def fitted(cls, largest: Array) -> Gumbel:
        """By the mean and the standard deviation of draws."""
        scale = max(float(np.std(largest, ddof=1)) / GUMBEL_SPREAD, LEAST_SCALE)
        return cls(float(np.mean(largest)) - GUMBEL_MEAN * scale, scale)


class Chance:
    """The law of chance, given the columns chosen so far.

    Parameters
    ----------
    sample : Sample
        Rows that it is measured on.
    units : list of arrays of int
        Groups of several columns that are tested as one, beside all columns by themselves.
    tested : ndarray of bool
        Columns that are tested.
    seed : int
        Seed of the permutations.
    chosen_from : int
        Columns that the tested ones were chosen from for what they tell; 0 where they are all.
    """

    def __init__(self, sample: Sample, units: list[Array], tested: Array, seed: int, chosen_from: int = 0):
        self.sample, self.units, self.seed = sample, units, seed
        self.columns = np.flatnonzero(tested)
        # The best of m times as many columns lies further out by log m, on the scale of tails.
        self._further = float(np.log(max(1.0, chosen_from / max(1, len(self.columns)))))
        self.place = np.full(len(tested), -1)
        self.place[self.columns] = np.arange(len(self.columns))
        values = sample.unweighed(self.columns) if sample.weighted else sample.take(self.columns)
        self._stands_for = sample.root_weight**2 / (1.0 if sample.own_weight is None else sample.own_weight)
        self._stands_for /= self._stands_for.mean()
        values = values - values.mean(axis=0) if sample.weighted else values
        self._values = values
        self.tails_of = np.zeros(len(tested))
        squares = np.square(values)
        on_all = self._stands_for.astype(np.float32) / len(values)
        second = on_all @ squares
        fourth = np.square(squares).T @ on_all
        second = np.where(second > 0, second, 1.0).astype(np.float64)  # squares of what is nearly constant
        self.tails_of[self.columns] = fourth / second**2 - 3.0
        self.tails_of_units = np.array([self._tails_of_group(columns) for columns in units])
        self.rank = sample.target.shape[1]
        self._energy = np.einsum("ij,ij->j", values, values)
        self._orders = np.empty((len(values), 0), dtype=np.intp)
        self.refresh(np.empty(0, dtype=np.intp))

    def _tails_of_group(self, columns: Array) -> float:
        """Fourth moment of a group's columns taken together, beyond that of normal ones."""
        white = self._white(self._values[:, self.place[columns]].astype(np.float64))
        leverage = np.square(white).sum(axis=1)
        m = white.shape[1]
        return float(self._stands_for @ np.square(leverage) / len(leverage) - m * (m + 2.0))

    @staticmethod
    def _white(values: Array) -> Array:
        """Combinations of columns with unit mean square and no correlation."""
        if not values.shape[1]:
            return values
        left, singular, _ = np.linalg.svd(values, full_matrices=False)
        kept = singular > 1e-4 * max(float(singular[0]), 1e-300)
        return np.asarray(left[:, kept] * np.sqrt(len(values)))

    def refresh(self, selected: Array) -> None:
        """Measure the law for what the selected columns leave of the target."""
        sample = self.sample
        n = sample.n
        taken = sample.take(selected).astype(np.float64)
        q = orthonormal(taken)
        left = sample.target - q @ (q.T @ sample.target)
        left = left / sample.root_weight[:, None] * np.sqrt(n)
        product = left if sample.own_weight is None else left * (sample.own_weight / sample.own_weight.mean())[:, None]
        self._law_of_target(left, product)
        if sample.beyond is not None:  # permuted rows are adjusted, too
            taken = q = np.concatenate([sample.beyond.basis, q], axis=1)
        plain = taken / sample.root_weight[:, None]
        basis = orthonormal(plain - plain.mean(axis=0)) if sample.weighted else q
        self.n_selected = len(selected)
        law = self._permuted(product - product.mean(axis=0), basis)
        self.law = replace(law, place=law.place + self._further)

    def _law_of_target(self, left: Array, product: Array) -> None:
        """How many rows each row amounts to, and the fourth moment of the target, over all rows."""
        each = self._stands_for
        own = 1.0 if self.sample.own_weight is None else self.sample.own_weight / self.sample.own_weight.mean()
        scatter = (left * (each * own)[:, None]).T @ left / len(left)
        values, vectors = np.linalg.eigh(scatter)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300) if len(values) else values > 0
        white = vectors[:, kept] / np.sqrt(values[kept])
        summed = (product @ white * each[:, None]).T @ (product @ white) / len(left)
        m = max(1, summed.shape[0])
        # Without weights the two scatters are one, and each row counts once.
        mean_own = float(np.mean(each * own))
        self.rows_each = m * mean_own / float(np.trace(summed)) if summed.any() else 1.0
        self.tails_of_target = self._fourth(product, each)

    @staticmethod
    def _fourth(product: Array, each: Array) -> float:
        scatter = (product * each[:, None]).T @ product / len(product)
        values, vectors = np.linalg.eigh(scatter)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300) if len(values) else values > 0
        white = product @ (vectors[:, kept] / np.sqrt(values[kept]))
        m = white.shape[1]
        return float(each @ np.square(np.square(white).sum(axis=1)) / len(product) - m * (m + 2.0))

    def spread(self, terms: Array | float, tails: Array | float, n: float, of_target: float) -> Array:
        """Variance of the chi-square of a column or group by the fourth moments of both sides."""
        return np.asarray(np.maximum(2.0 * terms + tails * of_target / max(n, 2.0), 0.5 * terms))

    def _permuted(self, product: Array, basis: Array) -> Gumbel:
        """Measure the law of the largest score by permuting the rows of the target."""
        n, d = self._values.shape
        scatter = product.T @ product
        values, vectors = np.linalg.eigh(scatter)
        kept = values > 1e-10 * max(float(values[-1]), 1e-300) if len(values) else values > 0
        white = product @ (vectors[:, kept] / np.sqrt(values[kept]))
        r = white.shape[1]
        free = n - 1.0 - basis.shape[1]
        if not r:  # the target does not vary in the sample: what theory says of as many independent columns
            return Gumbel(float(np.log(max(1, d))), 1.0)
        if free <= r + 1.0 or not d:
            return Gumbel(np.inf, 1.0)
        of_target = self._fourth(product, np.ones(n))
        heard = basis.astype(np.float32).T @ self._values
        left = self._energy - np.einsum("ij,ij->j", heard, heard)
        open_columns = left > 1e-4 * np.maximum(self._energy, 1e-30)
        spread = self.spread(float(r), self.tails_of[self.columns], n, of_target)
        groups = [self._group(columns, basis) for columns in self.units]
        spreads = [
            self.spread(float(r * white.shape[1]), tails, n, of_target)
            for white, tails in zip(groups, self.tails_of_units, strict=True)
        ]
        n_drawn = int(np.clip(PRODUCTS // max(1, n * d * r), FEWEST_PERMUTATIONS, PERMUTATIONS))
        orders = self._drawn(n_drawn)
        open_left = np.where(open_columns, left, np.inf)[:, None]

        def largest(part: slice) -> Array:
            count = part.stop - part.start
            drawn = white[orders[:, part]].reshape(n, -1)
            drawn -= basis @ (basis.T @ drawn)
            drawn = _each_orthonormal(drawn, r)
            # All first directions, then all second ones: sums over directions are sums of whole blocks.
            by_direction = drawn.astype(np.float32).reshape(n, count, r).transpose(0, 2, 1).reshape(n, -1)
            cross = self._values.T @ by_direction
            np.square(cross, out=cross)
            share = cross[:, :count].copy()
            for t in range(1, r):
                share += cross[:, t * count : (t + 1) * count]
            share /= open_left
            best = largest_scores(share, free, float(r), spread)
            for group, own in zip(groups, spreads, strict=True):
                if group.shape[1]:
                    told = np.square(group.T @ drawn).reshape(group.shape[1], count, r).sum(axis=(0, 2))
                    best = np.maximum(best, group_score(told, free, r, group.shape[1], float(own)))
            return tail(best)

        together = max(TOGETHER, WORTH_A_THREAD // (n * d * r))
        parts = block_slices(n_drawn, max(1, min(together, BLOCK_NUMBERS // (d * r))))
        return Gumbel.fitted(np.concatenate(list(map_blocks(largest, parts))))

    def _drawn(self, count: int) -> Array:
        """Orders of the rows, a column each: the same ones whatever is selected, so drawn once."""
        if self._orders.shape[1] < count:
            rng = np.random.default_rng(self.seed)
            self._orders = np.stack([rng.permutation(len(self._values)) for _ in range(count)], axis=1)
        return self._orders

    def _group(self, columns: Array, basis: Array) -> Array:
        """Orthonormal combinations of a group's columns, beyond the selected ones."""
        values = self._values[:, self.place[columns]].astype(np.float64)
        values = values - basis @ (basis.T @ values)
        return orthonormal(values)


def group_score(told: Array, free: float, rank: int, width: int, spread: float) -> Array:
    """Score of a group of columns: ``told`` is the sum of what its orthonormal combinations explain."""
    most = float(min(rank, width))
    return score(np.asarray(told) / most, free * most, float(rank * width), spread)


def _each_orthonormal(drawn: Array, r: int) -> Array:
    """Blocks of ``r`` columns, each made orthonormal again."""
    if r == 1:
        return np.asarray(drawn / np.sqrt(np.maximum(np.einsum("ij,ij->j", drawn, drawn), 1e-300)))
    blocks = drawn.reshape(len(drawn), -1, r).transpose(1, 0, 2)
    gram = blocks.transpose(0, 2, 1) @ blocks
    gram[:, np.arange(r), np.arange(r)] *= 1.0 + 1e-9
    inverse = np.linalg.inv(np.linalg.cholesky(gram))
    return np.asarray((blocks @ inverse.transpose(0, 2, 1)).transpose(1, 0, 2).reshape(len(drawn), -1))
