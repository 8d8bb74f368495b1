"""Screens: which products of functions of columns follow the target, of all pairs, triples and quadruples at once.

Each screen is a few matrix products over some rows. A sum of squares, ``sum (sum_i g_i phi_i psi_i)^2 / sum g_i^2``,
is a chi-square with as many degrees of freedom as it has terms where there is no effect; as a normal number it can be
compared with that of any other number of terms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from easyfs.common.threads import block_slices, for_blocks, map_blocks
from easyfs.common.types import Array

# Multiply-adds for all pairs with one function each, for the pairs of the loudest columns with all their functions, and for
# pairs with a known column.
ALL_PAIRS, LOUD_PAIRS, PAIRS_WITH = 1 << 30, 1 << 28, 1 << 26
# ... for all triples and all quadruples, and, where these would take more, for those of the loudest columns.
ALL_TRIPLES, LOUD_TRIPLES, ALL_QUADRUPLES, LOUD_QUADRUPLES = 1 << 29, 1 << 25, 1 << 29, 1 << 24
# Columns whose triples are all looked at, if need be on these rows only.
TRIPLE_COLUMNS, TRIPLE_ROWS = 512, 192
# ... and for the pairs of very many columns.
MOST_PRODUCTS = 1 << 36
# Rows that products of three and four columns are taken from, and of the pairs of very many columns.
PRODUCT_ROWS, FEWEST_HALF = 512, 256
# Products that are looked at further: about so many by chance.
LOOKED_AT = 256
# Second functions of all pairs are looked at where one that explains this share of what is left would be seen among them.
SEEN = 1 / 3
# Candidates of each kind; of groups tried with a known one; partners of a known one.
CANDIDATES, WITH_KNOWN, PARTNERS = 16, 6, 3
# Functions of a known column, and of each of several, that partners are looked for with.
FUNCTIONS_OF_ONE, FUNCTIONS_OF_MORE = 4, 2
# Products held at a time; pairs of functions, and no more than so many units of the first ones.
BLOCK, PAIRS, PAIR_BLOCK, SECONDS, PARTNER_BLOCK = 1 << 20, 1 << 18, 256, 24, 512


@dataclass(frozen=True)
class Candidate:
    """Units, and how many functions of each take part."""

    units: tuple[int, ...]
    levels: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Screen:
    """The rows that are screened.

    Attributes
    ----------
    functions : ndarray of shape (K, u, n), float32
        Functions of each unit (a column, or a category with all its indicators).
    counts : ndarray of int, shape (u,)
        Number of functions of each unit.
    g : ndarray of shape (n, q), float32
        What is left of the target, in each of its directions, each row with its weight.
    """

    functions: Array
    counts: Array
    g: Array

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.functions.shape[2])

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.functions.shape[1])

    def curves(self, g: Array) -> tuple[Array, Array]:
        """How clearly each unit is related to ``g`` by itself, and with how many functions."""
        cross = np.stack([values @ g for values in self.functions]).astype(np.float64)
        chi2 = np.cumsum((np.square(cross) / np.maximum(np.square(g).sum(axis=0), 1e-30)).sum(axis=2), axis=0)
        best, level = np.full(self.n_units, -np.inf), np.ones(self.n_units, dtype=np.intp)
        for b in (1, 2, 4, 8):
            if b > len(self.functions):
                break
            score = as_normal(chi2[b - 1], g.shape[1] * np.minimum(b, self.counts))
            level = np.where(score > best, b, level)
            best = np.maximum(best, score)
        return best, level

    def pairs(self) -> tuple[list[Candidate], Array]:
        """Pairs of all units, with as many functions each as the budget allows; and each unit's best pair."""
        u, n, q = self.n_units, self.n, self.g.shape[1]
        b = next((b for b in (8, 4, 2) if b <= len(self.functions) and n * q * (u * b) ** 2 <= 2 * LOUD_PAIRS), 1)
        if n * q * u**2 > ALL_PAIRS:  # fewer rows, then fewer directions
            n = min(n, max(FEWEST_HALF, ALL_PAIRS // (q * u**2)))
            q = int(np.clip(MOST_PRODUCTS // (n * u**2), 1, q))
        pairs, best = self._pairs_of(np.arange(u), b, self.g[:n, :q])
        # No room for both functions at once: the second ones by themselves, where rows enough are there to see any.
        if b == 1 and len(self.functions) > 1 and _likely(u * (u - 1) / 2) < SEEN * n:
            second, best_second = self._pairs_of(np.arange(u), 1, self.g[:n, :q], first=1)
            pairs += [Candidate(pair.units, (2, 2)) for pair in second]
            best = np.maximum(best, best_second)
        return pairs, best

    def pairs_of_loud(self, by_loudness: Array) -> list[Candidate]:
        """Pairs of the loudest units with all their functions, where those of all units have fewer."""
        b = len(self.functions)
        most = int(np.sqrt(LOUD_PAIRS / (self.n * self.g.shape[1]))) // b
        if most >= self.n_units or most < 2:
            return []
        return self._pairs_of(np.sort(by_loudness[:most]), b, self.g)[0]

    def pairs_with(self, group: tuple[int, ...], by_loudness: Array) -> list[Candidate]:
        """Pairs of units that tell most together with a unit or pair that is known already."""
        most = int(np.sqrt(PAIRS_WITH / self.n))
        others = by_loudness[~np.isin(by_loudness, group)]
        b = 2 if 2 * len(others) <= most else 1
        with_group = np.prod(self.functions[0, list(group)], axis=0)
        pairs = self._pairs_of(np.sort(others[: most // b]), b, self.g[:, :1] * with_group[:, None])[0]
        return [
            Candidate(tuple(sorted((*group, *pair.units))), (max(pair.levels),) * (len(group) + 2))
            for pair in pairs[:WITH_KNOWN]
        ]

    def partners(self, groups: Sequence[tuple[int, ...]]) -> list[Candidate]:
        """The units that tell most together with each of some groups that are known already."""
        listed: list[Candidate] = []
        for size in sorted({len(group) for group in groups}):
            alike = [group for group in groups if len(group) == size and self.counts[list(group)].all()]
            if not alike:
                continue
            b = min(FUNCTIONS_OF_ONE if size == 1 else FUNCTIONS_OF_MORE, len(self.functions))
            terms = [self.terms(Candidate(group, (b,) * size)) for group in alike]
            starts = np.cumsum([0, *(len(part) for part in terms[:-1])])
            fixed = np.concatenate(terms)
            chi2 = np.zeros((len(alike), self.n_units))
            lefts = [fixed * _of_unit_size(direction) for direction in self.g.T]
            self._add_partners(chi2, lefts, self.functions[:b], starts)
            for group, told, part in zip(alike, chi2, terms, strict=True):
                score = as_normal(told, self.g.shape[1] * len(part) * np.minimum(self.counts, b))
                score[list(group)] = -np.inf
                for i in largest(score, PARTNERS):
                    units = tuple(sorted((*group, int(i))))
                    listed.append(Candidate(units, (b,) * len(units)))
        return listed

    def _add_partners(self, chi2: Array, lefts: list[Array], functions: Array, starts: Array) -> None:
        """What the terms of each group tell together with each unit, over all directions and functions."""

        def add(units: slice) -> None:
            for left in lefts:
                for values in functions:
                    chi2[:, units] += np.add.reduceat(np.square(left @ values[units].T), starts, axis=0)

        for_blocks(add, block_slices(self.n_units, PARTNER_BLOCK))

    def triples(self, by_loudness: Array, whole: bool = True) -> list[Candidate]:
        """Triples of all units; of the loudest where there are too many, or unless the ``whole`` table is asked for."""
        rows = min(self.n, PRODUCT_ROWS)
        every, most = (int((6.0 * budget / rows) ** (1 / 3)) for budget in (ALL_TRIPLES, LOUD_TRIPLES))
        if self.n_units <= every:
            most = every
        elif whole and self.n_units <= TRIPLE_COLUMNS:
            most, rows = self.n_units, min(rows, TRIPLE_ROWS)
        chosen = np.sort(by_loudness[:most])
        chosen = chosen[self.counts[chosen] > 0]
        b = next((b for b in (3, 2) if b <= len(self.functions) and len(chosen) * b <= most), 1)
        return self._triples(chosen, rows, b) if len(chosen) >= 3 else []

    def quadruples(self, by_loudness: Array) -> list[Candidate]:
        """Quadruples of the first functions of all units, or of the loudest where there are too many."""
        rows = min(self.n, PRODUCT_ROWS)
        every, most = (int(np.sqrt(2.0 * np.sqrt(2.0 * budget / rows))) for budget in (ALL_QUADRUPLES, LOUD_QUADRUPLES))
        chosen = np.sort(by_loudness[: every if self.n_units <= every else most])
        chosen = chosen[self.counts[chosen] > 0]
        return self._quadruples(chosen, rows) if len(chosen) >= 4 else []

    def terms(self, candidate: Candidate) -> Array:
        """Products of the functions of a candidate's units, a row each."""
        (first, *others), (level, *levels) = candidate.units, candidate.levels
        terms = self.functions[: min(level, self.counts[first]), first]
        for i, b in zip(others, levels, strict=True):
            part = self.functions[: min(b, self.counts[i]), i]
            terms = (terms[:, None] * part[None]).reshape(-1, terms.shape[1])
        return terms

    def _pairs_of(self, chosen: Array, b: int, g: Array, first: int = 0) -> tuple[list[Candidate], Array]:
        """The clearest pairs of some units, with ``b`` functions each from ``first`` on, on as many rows as ``g`` has."""
        u, (n, q) = len(chosen), g.shape
        best_of = np.full(self.n_units, -np.inf)
        if u < 2:
            return [], best_of
        counts = np.clip(self.counts[chosen] - first, 0, b)
        used = slice(first, first + b)
        phi = self.functions[used, :, :n] if u == self.n_units else self.functions[used, chosen, :n]
        directions = (g / np.sqrt(np.maximum(np.square(g).sum(axis=0), 1e-30))).T
        levels = [(1, 1), *([(b, b)] if b > 1 else []), *([(2, 2)] if b > 2 else []), *([(1, b), (b, 1)] if b > 2 else [])]
        likely = _likely(u * (u - 1) / 2)
        bar = likely if b == 1 else np.sqrt(likely)
        dead = counts == 0

        def screen(left: slice) -> tuple[Array, Array, Array, Array]:
            i0, i1 = left.start, left.stop
            summed = _squared_products(phi[:, left], phi[:, i0:], directions)
            if b == 1:
                score, level = summed[0, :, 0], None
            else:
                score, level = _best_level(summed, counts[i0:i1], counts[i0:], levels, q)
            score[np.arange(i1 - i0), np.arange(i1 - i0)] = -np.inf
            if dead.any():
                score[:, dead[i0:]] = -np.inf
            i, j = _above(score, bar)
            own = np.full(u, -np.inf)
            own[i0:] = score.max(axis=0)
            own[i0:i1] = np.maximum(own[i0:i1], score.max(axis=1))
            chosen_level = np.zeros(len(i), dtype=np.intp) if level is None else level[i, j]
            return score[i, j], np.stack([i0 + i, i0 + j], axis=1), chosen_level, own

        # Not too few units at a time: each block has something to say of every unit.
        together = int(np.clip(PAIRS // (u * b), PAIR_BLOCK // 2, PAIR_BLOCK))
        found = list(map_blocks(screen, block_slices(u, max(1, together // b))))
        score, pairs, level = (np.concatenate([part[k] for part in found]) for k in range(3))
        own = np.max([part[3] for part in found], axis=0)
        best_of[chosen] = own if b > 1 else as_normal(np.maximum(own, 0.0), float(q))
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -score))[:CANDIDATES]
        listed = [
            Candidate((int(chosen[pairs[o, 0]]), int(chosen[pairs[o, 1]])), levels[int(level[o])])
            for o in order
            if np.isfinite(score[o])
        ]
        return listed, best_of

    def _triples(self, chosen: Array, rows: int, b: int) -> list[Candidate]:
        u = len(chosen)
        counts = np.minimum(self.counts[chosen], b)
        phi = self.functions[:b, chosen, :rows]
        g = _of_unit_size(self.g[:rows, 0])
        likely = _likely(u**3 / 6)
        bar = likely if b == 1 else np.sqrt(likely)

        def screen(part: tuple[slice, slice]) -> tuple[Array, Array, Array]:
            firsts, seconds = part
            f, c, start = firsts.stop - firsts.start, seconds.stop - seconds.start, seconds.start
            left = (phi[:, firsts].reshape(-1, rows) * g)[:, None] * phi[:, seconds].reshape(-1, rows)[None]
            products = left.reshape(-1, rows) @ phi[:, start:].reshape(-1, rows).T
            np.square(products, out=products)
            squares = products.reshape(b, f, b, c, b, u - start)
            score, level = squares[0, :, 0, :, 0], None
            if b > 1:
                terms: Array | float = float(b**3)
                if counts.min() < b:
                    terms = counts[firsts, None, None] * np.outer(counts[seconds], counts[start:])[None]
                simple, full = as_normal(score, 1.0), as_normal(squares.sum(axis=(0, 2, 4)), terms)
                score, level = np.maximum(simple, full), full > simple
            first, i, j = np.unravel_index(np.flatnonzero(score > bar), score.shape)
            kept = (i < j) & (firsts.start + first < start + i)
            first, i, j = first[kept], i[kept], j[kept]
            chosen_level = np.ones(len(i), dtype=np.intp) if level is None else np.where(level[first, i, j], b, 1)
            return score[first, i, j], np.stack([firsts.start + first, start + i, start + j], axis=1), chosen_level

        size = max(1, BLOCK // (rows * u * b * b))
        parts = [
            (firsts, slice(firsts.start + 1 + seconds.start, firsts.start + 1 + seconds.stop))
            for firsts in block_slices(u - 2, size)
            for seconds in block_slices(u - 1 - firsts.start, SECONDS)
        ]
        found = list(map_blocks(screen, parts))
        score, triples, level = (np.concatenate([part[k] for part in found]) for k in range(3))
        order = np.lexsort((triples[:, 2], triples[:, 1], triples[:, 0], -score))[:CANDIDATES]
        return [Candidate(tuple(int(chosen[i]) for i in triples[o]), (int(level[o]),) * 3) for o in order]

    def _quadruples(self, chosen: Array, rows: int) -> list[Candidate]:
        u = len(chosen)
        i, j = np.triu_indices(u, 1)
        phi = self.functions[0, chosen, :rows]
        pairs = phi[i] * phi[j]
        g = self.g[:rows, 0]
        # Two of the pairs of a quadruple may share a column: its square is no product of four.
        bar = np.sqrt(float(g @ g) * _likely(u**4 / 8))

        def screen(part: slice) -> tuple[Array, Array]:
            score = (pairs[part] * g) @ pairs[part.start :].T
            np.abs(score, out=score)
            a, c = _above(score, bar)
            return score[a, c], np.stack([part.start + a, part.start + c], axis=1)

        found = list(map_blocks(screen, block_slices(len(i), PAIR_BLOCK)))
        score, places = np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
        listed: dict[tuple[int, ...], Candidate] = {}
        for o in np.lexsort((places[:, 1], places[:, 0], -score)):
            a, c = places[o]
            units = tuple(sorted({int(chosen[i[a]]), int(chosen[j[a]]), int(chosen[i[c]]), int(chosen[j[c]])}))
            if len(units) == 4:
                listed.setdefault(units, Candidate(units, (1,) * 4))
            if len(listed) >= CANDIDATES:
                break
        return list(listed.values())


def as_normal(chi2: Array, terms: Array | float) -> Array:
    """A chi-square as if it were a standard normal number (Wilson and Hilferty), so that sizes can be compared."""
    kind = chi2.dtype.type
    shape = np.maximum(terms, 1e-9) / 2.0
    scale, shift = 3.0 * np.sqrt(shape), 1.0 / (9.0 * shape) - 1.0
    value = chi2 * np.asarray(0.5 / shape, dtype=kind)
    np.cbrt(value, out=value)
    value += np.asarray(shift, dtype=kind)
    value *= np.asarray(scale, dtype=kind)
    if np.any(np.asarray(terms) <= 0):
        value[np.broadcast_to(np.asarray(terms) <= 0, value.shape)] = -np.inf
    return np.asarray(value)


def largest(values: Array, k: int) -> Array:
    """Places of the ``k`` largest finite values, largest first, equal ones by place."""
    k = min(k, len(values))
    if not k:
        return np.empty(0, dtype=np.intp)
    places = np.argpartition(values, len(values) - k)[len(values) - k :] if k < len(values) else np.arange(k)
    places = places[np.isfinite(values[places])]
    return places[np.lexsort((places, -values[places]))]


def _likely(products: float) -> float:
    """The square above which about ``LOOKED_AT`` of so many products lie by chance."""
    return 2.0 * max(float(np.log(max(products / LOOKED_AT, 1.0))), 0.0)


def _of_unit_size(direction: Array) -> Array:
    """A direction of the target with a sum of squares of one, in single precision as it is."""
    return np.asarray(direction / np.sqrt(np.maximum(direction @ direction, np.float32(1e-30))))


def _above(score: Array, bar: float) -> tuple[Array, Array]:
    """Places of the scores above a bar; of a pair only the one in which the first of the two comes first."""
    i, j = np.unravel_index(np.flatnonzero(score > bar), score.shape)
    return i[i < j], j[i < j]


def _squared_products(left: Array, right: Array, directions: Array) -> Array:
    """Squares of the products of functions with the target, summed over its directions: of shape (b, i, b, j)."""
    b, i, n = left.shape
    flat_left, flat_right = left.reshape(-1, n), right.reshape(-1, n)
    summed: Array = np.empty(0)
    for place, direction in enumerate(directions):
        part = (flat_left * direction) @ flat_right.T
        np.square(part, out=part)
        summed = part if place == 0 else np.add(summed, part, out=summed)
    return summed.reshape(b, i, b, -1)


def _best_level(squares: Array, left: Array, right: Array, levels: list[tuple[int, int]], q: int) -> tuple[Array, Array]:
    """The clearest of several numbers of functions for each pair, and which it is."""
    score: Array = np.empty(0)
    level = np.zeros((len(left), len(right)), dtype=np.int8)
    b = len(squares)
    varied = min(left.min(), right.min()) < b
    for place, (bi, bj) in enumerate(levels):
        terms = q * np.outer(np.minimum(left, bi), np.minimum(right, bj)) if varied else float(q * bi * bj)
        part = squares[:bi, :, :bj]
        value = as_normal(part.sum(axis=(0, 2)) if bi * bj > 1 else part[0, :, 0], terms)
        if place:
            level[value > score] = place
        score = value if not place else np.maximum(score, value, out=score)
    return score, level
