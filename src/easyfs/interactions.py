"""Curves and joint effects: searched on one half of a sample, confirmed on the other, and named.

A column may matter in a wave or a band, and columns may matter only together. What the columns that stand out by themselves
leave of the target is compared with functions of each column, and with products of functions of two, three and four
columns. The best of so many always fit something: each that looks good on one half of the rows is tested on the other half,
as one function with the coefficients of the first half, so that the number of products it was found among does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr
from scipy.stats import rankdata

from easyfs.elastic import Elastic, elastic_columns
from easyfs.engines.local import block_slices, many_products, map_blocks
from easyfs.linear import LinearFit

Array = NDArray[Any]

# Tables without any joint effect in which one is named; and in which one is taken for a hint, which says what to take
# before columns that nothing speaks for, but is not named.
LEVEL, HINT = 0.005, 0.2
# Fewer rows than this cannot be halved.
FEWEST_ROWS = 40
# Columns that are looked at; of more, those most related to the target and as many others.
MOST_COLUMNS = 20_480
# With more columns than this only one part of the rows is searched: this share of them.
MANY_COLUMNS, SEARCHED_SHARE = 1024, 0.6
# Directions of the target that are looked at.
DIRECTIONS = 3
# Rows that are searched: so many numbers, within these numbers of rows.
SEARCHED_NUMBERS, FEWEST_SEARCHED, MOST_SEARCHED = 1 << 17, 1024, 2048
# Multiply-adds, in each half, for all pairs, for the pairs of the loudest columns, for pairs with a known column, for
# triples and for quadruples; and for the pairs of very many columns.
ALL_PAIRS, LOUD_PAIRS, PAIRS_WITH = 1 << 30, 1 << 28, 1 << 27
# ... for all triples and all quadruples, and, where these would take more, for those of the loudest columns.
ALL_TRIPLES, LOUD_TRIPLES, ALL_QUADRUPLES, LOUD_QUADRUPLES = 1 << 29, 1 << 25, 1 << 29, 1 << 24
MOST_PRODUCTS = 1 << 36
# Products that are looked at further: about so many by chance.
LOOKED_AT = 256
# Rows of a half that products of very many columns are taken from.
FEWEST_HALF = 128
# A target whose correlation with its own ranks (as normal scores) is smaller has long tails.
LONG_TAILS = 0.9
# Candidates of each kind from each half; of groups tried with a known one; partners of a known one; groups found in all.
CANDIDATES, WITH_KNOWN, PARTNERS, MOST_FOUND = 16, 6, 3, 24
# Columns and groups found so far that all pairs are tried with.
TRIED_WITH = 3
# All pairs, triples and quadruples are looked at again when groups were named that explain this share of what is left; else
# only what goes with the columns found.
CHANGED = 0.1
# Share of what a column's functions tell that the first must have for the column to have no curve.
ONE_WAY = 0.9
# Share of the target below which what is left of it is rounding.
EXPLAINED = 1e-6
# Terms with less than this many times their variance by chance are not taken out of the target.
CLEAR = 4.0
# ... unless there are this many rows for each.
ROWS_A_TERM = 16


@dataclass(frozen=True)
class Found:
    """Columns that matter together, or one that matters in a curve.

    Attributes
    ----------
    columns : tuple of int
        The columns.
    share : float
        Share of the target that they explain together beyond what was found before, on rows not used to find them.
    p_value : float
        Chance that any group would be found where there is none.
    plain : bool
        Whether it is a single column that goes up or down with the target, no curve.
    """

    columns: tuple[int, ...]
    share: float
    p_value: float
    plain: bool = False

    @property
    def confirmed(self) -> bool:
        """Whether it is more than a hint."""
        return self.p_value < LEVEL


@dataclass(frozen=True)
class Interaction:
    """Columns that matter together, or one that matters in a curve, by name.

    Attributes
    ----------
    columns : tuple of str
        The columns, by name, or as ``x0``, ``x1``, ... where they have none.
    share : float
        Share of the target that they explain together beyond what was found before, on rows not used to find them.
    p_value : float
        Chance that any such group would be named where there is none.
    """

    columns: tuple[str, ...]
    share: float
    p_value: float

    def __str__(self) -> str:
        return f"{' with '.join(self.columns)}: {100 * self.share:.0f} %"


@dataclass(frozen=True)
class _Candidate:
    """Units, and how many functions of each take part."""

    units: tuple[int, ...]
    levels: tuple[int, ...]


def find_interactions(fit: LinearFit, groups: Array, seed: int) -> tuple[Found, ...]:
    """Search a sample for columns that matter in a curve or together.

    Parameters
    ----------
    fit : LinearFit
        A fit of the sample; what its strongest columns leave of the target is explained.
    groups : ndarray of int, shape (d,)
        Group of each column; a group of indicators is looked at as one.
    seed : int
        Seed of the halves.
    """
    sample = fit.rows
    if sample.n < FEWEST_ROWS:
        return ()
    left = _without_tails(sample.target / sample.root_weight[:, None]) * sample.root_weight[:, None]
    strong: list[int] = []
    if np.allclose(left, sample.target):
        left, strong = fit.without_strong_columns()  # of ranks nothing is taken out that is not named
    rng = np.random.default_rng(seed)
    if left.shape[1] > DIRECTIONS:  # of many directions some at random, whatever the classes are called
        mixed = left.T @ (rng.standard_normal((sample.n, DIRECTIONS)) * 1.0)
        mixture = np.linalg.qr(mixed)[0]
        left = left @ mixture
    size = int(np.clip(SEARCHED_NUMBERS // max(1, fit.n_live), FEWEST_SEARCHED, MOST_SEARCHED))
    order = rng.permutation(sample.n)[:size]
    units = _units(fit, groups, left, rng)
    if not units:
        return ()
    residual = left[order] / sample.root_weight[order, None] * np.sqrt(sample.n)
    known = {column: i for i, unit in enumerate(units) for column in unit.tolist()}
    with many_products():
        search = _Search(elastic_columns(sample, units, order), residual, sample.root_weight[order] ** 2)
        search.part = residual.shape[1] / sample.target.shape[1]
        return search.run([known[j] for j in strong if j in known])


def _without_tails(left: Array) -> Array:
    """Targets, by their ranks where a few rows would decide alone."""
    out = left.copy()
    for t, values in enumerate(left.T):
        ranks = ndtri((rankdata(values) - 0.5) / len(values))
        ranks = (ranks - ranks.mean()) * (
            np.linalg.norm(values - values.mean()) / max(float(np.linalg.norm(ranks)), 1e-300)
        )
        if len(np.unique(values)) > len(values) / 2 and np.corrcoef(values, ranks)[0, 1] < LONG_TAILS:
            out[:, t] = ranks
    return out


def _units(fit: LinearFit, groups: Array, left: Array, rng: np.random.Generator) -> list[Array]:
    """Columns that are looked at, the indicators of a category as one."""
    live = fit.live.copy()
    if live.sum() > MOST_COLUMNS:
        told = np.zeros(len(live))
        for columns, values in fit.rows.columns(live):
            told[columns] = np.square(values.T @ left.astype(np.float32)).sum(axis=1)
        kept = np.argsort(-told, kind="stable")[: MOST_COLUMNS // 2]
        others = np.setdiff1d(np.flatnonzero(live), kept)
        live[:] = False
        live[kept] = live[rng.choice(others, MOST_COLUMNS - len(kept), replace=False)] = True
    columns = np.flatnonzero(live)
    if len(np.unique(groups[columns])) == len(columns):
        return list(columns[:, None])
    units: list[Array] = []
    for label in np.unique(groups[columns]):
        members = columns[groups[columns] == label]
        levels = [len(np.unique(column)) for column in fit.rows.plain(members).T] if len(members) > 1 else [0]
        if len(members) > 1 and max(levels) <= 2:
            units.append(members)
        else:
            units += list(members[:, None])
    return units


def _as_normal(chi2: Array, terms: Array | float) -> Array:
    """A chi-square as if it were a standard normal number (Wilson and Hilferty), so that sizes can be compared."""
    shape = np.maximum(terms, 1e-9) / 2.0
    value = (np.cbrt(chi2 / np.maximum(terms, 1e-9)) - 1.0 + 1.0 / (9.0 * shape)) * 3.0 * np.sqrt(shape)
    return np.asarray(np.where(np.asarray(terms) > 0, value, -np.inf))


class _Search:
    """The state of a search: the target's residual, and what has been found."""

    def __init__(self, elastic: Elastic, residual: Array, weight: Array):
        self.F, self.units = elastic.functions, elastic.units
        self.n_functions = elastic.counts
        self.residual, self.weight = residual, weight
        n = len(residual)
        # Of many columns one half must do: there it is the search that fails, so it gets more of the rows.
        both = len(self.units) <= MANY_COLUMNS
        cut = n // 2 if both else int(SEARCHED_SHARE * n)
        self.halves = (slice(0, cut), slice(cut, n))
        self.searched = (0, 1) if both else (0,)
        self._measure()
        self.part = 1.0  # of the target's directions that are looked at
        self.found: list[Found] = []
        self.seen: dict[tuple[int, ...], None] = {}  # in the order found

    def run(self, strong: list[int]) -> tuple[Found, ...]:
        """Search, confirm, take out what was found, and go on while something is found; at last look for hints."""
        known = list(dict.fromkeys(strong))
        fresh, energy_at_first = True, float(np.square(self.residual).sum())
        while len(self.found) < MOST_FOUND:
            candidates = [(which, c) for which in self.searched for c in self._candidates(self.halves[which], known, fresh)]
            if float(np.square(self.residual).sum()) < EXPLAINED * energy_at_first:
                break
            passing = self._passing(candidates, len(candidates))
            n_before, n_tests = len(self.found), len(candidates)
            n_first = n_before
            while passing and len(self.found) < MOST_FOUND:
                confirmed = [entry for entry in passing if entry[1] < LEVEL]
                if not confirmed and len(self.found) > n_before:
                    break
                self._name(max(confirmed or passing, key=_by_share))
                if not confirmed:
                    n_before = len(self.found)  # a hint is no reason to search again
                passing = self._passing([entry[2] for entry in passing if entry[2][1].units not in self.seen], n_tests)
            if len(self.found) == n_before:
                break
            known = list(dict.fromkeys([*known, *(i for group in self.seen for i in group)]))
            named = sum(found.share for found in self.found[n_first:]) / self.part
            fresh = named > CHANGED * float(np.square(self.residual).mean())
        return tuple(self.found)

    def _passing(self, candidates: list[tuple[int, _Candidate]], n_tests: int) -> list[tuple[float, float, Any]]:
        """Share, p-value and candidate of those that may be something."""
        passing = []
        for which, candidate in self._promising(candidates, HINT / n_tests):
            if candidate.units in self.seen:
                continue
            p, share = self._confirm(candidate, self.halves[which], self.halves[1 - which], HINT / n_tests)
            if p * n_tests < HINT:
                other = self._confirm(candidate, self.halves[1 - which], self.halves[which])[1]
                passing.append((0.5 * (share + other), p * n_tests, (which, candidate)))
        return passing

    def _promising(self, candidates: list[tuple[int, _Candidate]], level: float) -> list[tuple[int, _Candidate]]:
        """Leave out products of single functions that are far from the level at first sight, all at once."""
        kept = []
        for which in (0, 1):
            mine = [c for half, c in candidates if half == which]
            simple = [c for c in mine if max(c.levels) == 1]
            kept += [(which, c) for c in mine if max(c.levels) > 1]
            if not simple:
                continue
            found_on, tested_on = self.halves[which], self.halves[1 - which]
            terms = np.stack([np.prod(self.F[0][:, list(c.units)], axis=1) for c in simple], axis=1)
            c = terms[found_on].T @ self.g[found_on].astype(np.float32)
            each = terms[tested_on] * (self.g[tested_on].astype(np.float32) @ c.T)
            told, squares = each.sum(axis=0), np.square(each)
            far = told < np.sqrt(squares.sum(axis=0)) * -ndtri(min(30.0 * level, 0.3))
            kept += [(which, candidate) for candidate, left_out in zip(simple, far, strict=True) if not left_out]
        return kept

    def _name(self, entry: tuple[float, float, tuple[int, _Candidate]]) -> None:
        """Name a group, and take it out of the target."""
        share, p, (_, candidate) = entry
        columns = np.concatenate([self.units[i] for i in candidate.units])
        plain = len(candidate.units) == 1 and self._goes_one_way(candidate.units[0])
        self.found.append(Found(tuple(int(j) for j in columns), self.part * float(max(share, 0.0)), float(p), plain))
        self.seen[candidate.units] = None
        self._take_out(candidate)

    def _goes_one_way(self, unit: int) -> bool:
        """Whether the first function of a unit tells nearly all that its functions tell."""
        told = np.square(self.F[:, :, unit] @ self.g).sum(axis=1)
        return bool(told[0] >= ONE_WAY * told.sum())

    def _terms(self, candidate: _Candidate, rows: slice) -> Array:
        """Products of the functions of a candidate's units, a row each."""
        (first, *others), (level, *levels) = candidate.units, candidate.levels
        terms = self.F[: min(level, self.n_functions[first]), rows, first]
        for i, b in zip(others, levels, strict=True):
            part = self.F[: min(b, self.n_functions[i]), rows, i]
            terms = (terms[:, None] * part[None]).reshape(-1, terms.shape[1])
        return terms

    def _curves(self, candidate: _Candidate, rows: slice) -> Array:
        """A constant, and the functions of each unit by itself, a row each."""
        parts = [self.F[: self.n_functions[i], rows, i] for i in candidate.units]
        return np.concatenate([np.ones((1, parts[0].shape[1]), dtype=np.float32), *parts])

    def _confirm(self, candidate: _Candidate, found_on: slice, tested_on: slice, level: float = 1.0) -> tuple[float, float]:
        """Chance that a function found on one half explains so much of the other half, and the share that it explains.

        What is far above ``level`` at first sight is not looked at closely.
        """
        terms, here = self._terms(candidate, found_on), self.g[found_on]
        c = terms @ here
        by_chance = np.square(terms) @ np.square(here)
        c = c * np.maximum(1.0 - by_chance / np.maximum(np.square(c), 1e-300), 0.0) / len(here)
        if not c.any():
            return 1.0, 0.0
        w = self.weight[tested_on]
        f = self._terms(candidate, tested_on).T @ c
        f -= (w @ f) / w.sum()
        p, share = self._tested(f, tested_on)
        if len(candidate.units) == 1 or p > 30.0 * level:
            return p, share
        own = self._curves(candidate, tested_on)
        inner = (own @ own.T).astype(np.float64)
        inner[np.diag_indices(len(inner))] += 1e-6 * own.shape[1]
        return self._tested(f - own.T @ np.linalg.solve(inner, own @ f), tested_on)

    def _tested(self, f: Array, rows: slice) -> tuple[float, float]:
        """Chance that a function explains so much of some rows, and the share of the target that it explains."""
        g, w = self.g[rows], self.weight[rows]
        each = np.einsum("ij,ij->i", g, f)
        told = float(each.sum())
        if told <= 0.0:
            return 1.0, 0.0
        squares = each * each
        summed, f2 = float(squares.sum()), f * f
        # At least what it would be if the sizes of target and function had nothing to do with each other: without that, "no
        # rare row meets this" looks sure.
        variance = max(summed, float(f2.sum(axis=0) @ self._size(rows)))
        free = 3.0 * summed**2 / max(float(squares @ squares), 1e-300) - 1.0
        share = told**2 / (float((w @ f2).sum()) * float(w.sum()) * g.shape[1])
        return float(stdtr(max(free, 1.0), -told / np.sqrt(variance))), share

    def _size(self, rows: slice) -> Array:
        """Mean square of the residual in a half."""
        return np.asarray(self._sizes[0] if rows == self.halves[0] else self._sizes[1])

    def _measure(self) -> None:
        """After a change of the residual."""
        self.g = self.residual * self.weight[:, None]  # the residual with the weight of its rows
        self._sizes = [np.square(self.g[half]).mean(axis=0) for half in self.halves]

    def _take_out(self, candidate: _Candidate) -> None:
        """Take what a group explains, together and each by itself, out of the target."""
        rows = slice(0, len(self.residual))
        terms = np.concatenate([self._curves(candidate, rows)[1:], self._terms(candidate, rows)]).astype(np.float64)
        clear = (np.square(terms @ self.g) > CLEAR * (np.square(terms) @ np.square(self.g))).any(axis=1)
        clear |= len(terms) * ROWS_A_TERM <= terms.shape[1]
        kept = np.column_stack([np.ones(terms.shape[1]), terms[clear].T])
        root = np.sqrt(self.weight)[:, None]
        self.residual = self.residual - kept @ np.linalg.lstsq(kept * root, self.residual * root, rcond=1e-8)[0]
        self._measure()

    def _candidates(self, half: slice, known: list[int], fresh: bool) -> Iterator[_Candidate]:
        """The most promising groups of one half: of all columns, or, unless ``fresh``, of those that go with known ones."""
        curves, level = self._curve_scores(self.g[half], half)
        size = np.square(self.residual[half]).sum(axis=1)
        size = np.minimum(size, 9.0 * size.mean())
        spread = (size - size.mean())[:, None] * self.weight[half, None]
        loud = np.maximum(curves, self._curve_scores(spread, half)[0])
        found: dict[tuple[int, ...], _Candidate] = {}
        for i in _largest(curves, CANDIDATES):
            found[(int(i),)] = _Candidate((int(i),), (int(level[i]),))
        groups: list[list[_Candidate]] = []
        if fresh:
            pairs, best_pair = self._pairs(half)
            loud = np.maximum(loud, best_pair)
            groups.append(pairs)
        by_loudness = np.argsort(-loud, kind="stable")
        if fresh:
            groups.append(self._pairs_of_loud(half, by_loudness))
            groups += [self._products(half, order, by_loudness) for order in (3, 4)]
        groups += [self._partners(half, (i,)) for i in known[:MOST_FOUND]]
        tried = [*self.seen, *((i,) for i in known if (i,) not in self.seen)]
        groups += [self._pairs_with(half, group, by_loudness) for group in tried[:TRIED_WITH] if len(group) <= 2]
        groups += [self._partners(half, group) for group in self.seen if 2 <= len(group) <= 3]
        for candidates in groups:
            for candidate in candidates:
                found.setdefault(candidate.units, candidate)
        yield from found.values()

    def _curve_scores(self, g: Array, half: slice) -> tuple[Array, Array]:
        """How clearly each unit is related to ``g`` by itself, and with how many functions."""
        cross = np.stack([self.F[k, half].T @ g.astype(np.float32) for k in range(len(self.F))]).astype(np.float64)
        chi2 = np.cumsum((np.square(cross) / np.maximum(np.square(g).sum(axis=0), 1e-300)).sum(axis=2), axis=0)
        best, level = np.full(len(self.units), -np.inf), np.ones(len(self.units), dtype=np.intp)
        for b in (1, 2, 4, 8):
            if b > len(self.F):
                break
            score = _as_normal(chi2[b - 1], g.shape[1] * np.minimum(b, self.n_functions))
            level = np.where(score > best, b, level)
            best = np.maximum(best, score)
        return best, level

    def _pairs(self, half: slice) -> tuple[list[_Candidate], Array]:
        """Pairs of all units, with as many functions each as the budget allows; and each unit's best pair."""
        u, n = len(self.units), half.stop - half.start
        q = self.residual.shape[1]
        b = next((b for b in (8, 4, 2) if b <= len(self.F) and n * q * (u * b) ** 2 <= 2 * LOUD_PAIRS), 1)
        rows = half
        if n * q * u**2 > ALL_PAIRS:  # fewer rows, then fewer directions
            n = min(n, max(FEWEST_HALF, ALL_PAIRS // (q * u**2)))
            rows = slice(half.start, half.start + n)
            q = int(np.clip(MOST_PRODUCTS // (n * u**2), 1, q))
        return self._screen_pairs(np.arange(u), rows, b, q)

    def _pairs_of_loud(self, half: slice, by_loudness: Array) -> list[_Candidate]:
        """Pairs of the loudest units with all their functions."""
        n, q, b = half.stop - half.start, self.residual.shape[1], len(self.F)
        most = int(np.sqrt(LOUD_PAIRS / (n * q))) // b
        if most >= len(self.units) or most < 2:
            return []
        return self._screen_pairs(np.sort(by_loudness[:most]), half, b, q)[0]

    def _pairs_with(self, half: slice, group: tuple[int, ...], by_loudness: Array) -> list[_Candidate]:
        """Pairs of units that tell most together with a unit or pair that is known already."""
        n, q = half.stop - half.start, 1
        most = int(np.sqrt(PAIRS_WITH / (n * q)))
        others = by_loudness[~np.isin(by_loudness, group)]
        b = 2 if 2 * len(others) <= most else 1
        with_group = np.prod(self.F[0, half][:, list(group)], axis=1)
        pairs = self._screen_pairs(np.sort(others[: most // b]), half, b, q, with_group)[0]
        return [
            _Candidate(tuple(sorted((*group, *pair.units))), (max(pair.levels),) * (len(group) + 2))
            for pair in pairs[:WITH_KNOWN]
        ]

    def _screen_pairs(
        self, chosen: Array, rows: slice, b: int, q: int, times: Array | None = None
    ) -> tuple[list[_Candidate], Array]:
        u = len(chosen)
        if u < 2:
            return [], np.full(len(self.units), -np.inf)
        counts = np.minimum(self.n_functions[chosen], b)
        phi = self.F[:b, rows][:, :, chosen].transpose(1, 2, 0).reshape(rows.stop - rows.start, u * b)
        g = self.g[rows][:, :q].astype(np.float32)
        g = g if times is None else g * times[:, None]
        g = g / np.sqrt(np.maximum(np.square(g).sum(axis=0), 1e-30))
        levels = [(1, 1), *([(b, b)] if b > 1 else []), *([(2, 2)] if b > 2 else []), *([(1, b), (b, 1)] if b > 2 else [])]
        best_of = np.full(len(self.units), -np.inf)

        likely = max(np.log(max(u * (u - 1) / 2 / LOOKED_AT, 1.0)), 0.0)
        bar = 2.0 * likely if b == 1 else np.sqrt(2.0 * likely)
        dead = counts == 0

        def screen(left: slice) -> tuple[Array, Array, Array, Array]:
            i0, i1 = left.start, left.stop
            summed: Array = np.empty(0)
            for place, direction in enumerate(g.T):
                part = (phi[:, i0 * b : i1 * b] * direction[:, None]).T @ phi[:, i0 * b :]
                np.square(part, out=part)
                summed = part if place == 0 else np.add(summed, part, out=summed)
            if b == 1:
                score, level = summed, None
            else:
                score, level = self._best_level(
                    summed.reshape(i1 - i0, b, u - i0, b), counts[i0:i1], counts[i0:], levels, q
                )
            score[np.arange(i1 - i0), np.arange(i1 - i0)] = -np.inf
            score[:, dead[i0:]] = -np.inf
            top = np.flatnonzero(score > bar)
            i, j = np.unravel_index(top, score.shape)
            i, j = i[i < j], j[i < j]
            own = np.full(u, -np.inf)
            own[i0:] = score.max(axis=0)
            own[i0:i1] = np.maximum(own[i0:i1], score.max(axis=1))
            chosen_level = np.zeros(len(i), dtype=np.intp) if level is None else level[i, j]
            return score[i, j], np.stack([i0 + i, i0 + j], axis=1), chosen_level, own

        found = list(map_blocks(screen, block_slices(u, max(1, 256 // b))))
        score, pairs, level = (np.concatenate([part[k] for part in found]) for k in range(3))
        own = np.max([part[3] for part in found], axis=0)
        best_of[chosen] = own if b > 1 else _as_normal(np.maximum(own, 0.0), float(q))
        order = np.lexsort((pairs[:, 1], pairs[:, 0], -score))[: 2 * CANDIDATES]
        order = order[np.isfinite(score[order])]
        listed = [_Candidate((int(chosen[pairs[o, 0]]), int(chosen[pairs[o, 1]])), levels[int(level[o])]) for o in order]
        return listed[:CANDIDATES], best_of

    @staticmethod
    def _best_level(
        squares: Array, left: Array, right: Array, levels: list[tuple[int, int]], q: int
    ) -> tuple[Array, Array]:
        """The clearest of several numbers of functions for each pair, and which it is."""
        score = np.full((len(left), len(right)), -np.inf, dtype=np.float32)
        level = np.zeros(score.shape, dtype=np.int8)
        for place, (bi, bj) in enumerate(levels):
            terms = q * np.outer(np.minimum(left, bi), np.minimum(right, bj)).astype(np.float32)
            value = _as_normal(squares[:, :bi, :, :bj].sum(axis=(1, 3)), terms)
            level[value > score] = place
            np.maximum(score, value, out=score)
        return score, level

    def _products(self, half: slice, order: int, by_loudness: Array) -> list[_Candidate]:
        """Triples or quadruples of the first functions of all units, or of the loudest where there are too many."""
        half = slice(half.start, min(half.stop, half.start + FEWEST_SEARCHED // 2))
        rows = half.stop - half.start
        if order == 3:
            every, most = (int((6.0 * budget / rows) ** (1 / 3)) for budget in (ALL_TRIPLES, LOUD_TRIPLES))
        else:
            every, most = (int(np.sqrt(2.0 * np.sqrt(2.0 * budget / rows))) for budget in (ALL_QUADRUPLES, LOUD_QUADRUPLES))
        most = every if len(by_loudness) <= every else most
        chosen = np.sort(by_loudness[:most])
        chosen = chosen[self.n_functions[chosen] > 0]
        if len(chosen) < order:
            return []
        b = next((b for b in (3, 2) if order == 3 and b <= len(self.F) and len(chosen) * b <= most), 1)
        return self._screen_triples(half, chosen, b) if order == 3 else self._screen_quadruples(half, chosen)

    def _screen_triples(self, half: slice, chosen: Array, b: int) -> list[_Candidate]:
        u = len(chosen)
        counts = np.minimum(self.n_functions[chosen], b)
        phi = np.ascontiguousarray(self.F[:b, half][:, :, chosen].transpose(1, 2, 0)).reshape(half.stop - half.start, u * b)
        directions = self.g[half].astype(np.float32)
        g = directions[:, 0] / np.sqrt(max(float(np.square(directions[:, 0]).sum()), 1e-30))
        likely = max(np.log(max(u**3 / 6 / LOOKED_AT, 1.0)), 0.0)
        bar = 2.0 * likely if b == 1 else np.sqrt(2.0 * likely)

        def screen(first: int) -> tuple[Array, Array, Array]:
            rest = phi[:, (first + 1) * b :]
            m = u - first - 1
            summed = np.zeros((m, b, m, b), dtype=np.float32)
            lowest = None
            for k in range(int(counts[first])):
                part = np.square((rest * (phi[:, first * b + k] * g)[:, None]).T @ rest).reshape(summed.shape)
                lowest = part[:, 0, :, 0].copy() if lowest is None else lowest
                summed += part
            if lowest is None:
                return np.empty(0), np.empty((0, 3), dtype=np.intp), np.empty(0)
            if b == 1:
                score, level = lowest, np.ones_like(lowest)
            else:
                terms = counts[first] * np.outer(counts[first + 1 :], counts[first + 1 :])
                simple, full = _as_normal(lowest, 1.0), _as_normal(summed.sum(axis=(1, 3)), terms)
                score, level = np.maximum(simple, full), np.where(full > simple, b, 1)
            top = np.flatnonzero(score > bar)
            i, j = np.unravel_index(top, score.shape)
            i, j = i[i < j], j[i < j]
            return score[i, j], np.stack([np.full(len(i), first), first + 1 + i, first + 1 + j], axis=1), level[i, j]

        found = list(map_blocks(screen, range(u - 2)))
        score, triples, level = (np.concatenate([part[k] for part in found]) for k in range(3))
        order = np.lexsort((triples[:, 2], triples[:, 1], triples[:, 0], -score))[:CANDIDATES]
        return [
            _Candidate(tuple(int(chosen[i]) for i in triples[o]), (int(level[o]),) * 3)
            for o in order
            if np.isfinite(score[o])
        ]

    def _screen_quadruples(self, half: slice, chosen: Array) -> list[_Candidate]:
        u = len(chosen)
        i, j = np.triu_indices(u, 1)
        phi = self.F[0, half][:, chosen]
        pairs = phi[:, i] * phi[:, j]
        g = self.g[half][:, 0].astype(np.float32)
        # Two of the pairs of a quadruple may be the same column: its square is no product of four.
        bar = np.sqrt(float(np.square(g).sum()) * 2.0 * max(np.log(max(u**4 / 8 / LOOKED_AT, 1.0)), 0.0))

        def screen(part: slice) -> tuple[Array, Array]:
            score = np.abs((pairs[:, part] * g[:, None]).T @ pairs[:, part.start :])
            top = np.flatnonzero(score > bar)
            a, c = np.unravel_index(top, score.shape)
            return score[a, c], np.stack([part.start + a, part.start + c], axis=1)

        found = list(map_blocks(screen, block_slices(len(i), 256)))
        score, places = np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
        listed: dict[tuple[int, ...], _Candidate] = {}
        for o in np.lexsort((places[:, 1], places[:, 0], -score)):
            a, c = places[o]
            units = tuple(sorted({int(chosen[i[a]]), int(chosen[j[a]]), int(chosen[i[c]]), int(chosen[j[c]])}))
            if len(units) == 4:
                listed.setdefault(units, _Candidate(units, (1,) * 4))
            if len(listed) >= CANDIDATES:
                break
        return list(listed.values())

    def _partners(self, half: slice, group: tuple[int, ...]) -> list[_Candidate]:
        """Units that tell most together with a group that is known already."""
        q = self.residual.shape[1]
        b = min(4 if len(group) == 1 else 2, len(self.F))
        fixed = self._terms(_Candidate(group, (b,) * len(group)), half)
        chi2 = np.zeros((len(fixed), b, len(self.units)))
        g = self.g[half].astype(np.float32)
        for k in range(b):
            for direction in g.T:
                cross = (fixed * direction) @ self.F[k, half]
                chi2[:, k] += np.square(cross) / max(float(np.square(direction).sum()), 1e-30)
        score = _as_normal(chi2.sum(axis=(0, 1)), q * len(fixed) * np.minimum(self.n_functions, b))
        score[list(group)] = -np.inf
        listed = []
        for i in _largest(score, PARTNERS):
            units = tuple(sorted((*group, int(i))))
            listed.append(_Candidate(units, (b,) * len(units)))
        return listed


def _by_share(entry: tuple[float, float, tuple[int, _Candidate]]) -> tuple[float, list[int]]:
    """Largest share first; of shares that are equal to a few digits the first columns."""
    return float(f"{entry[0]:.4g}"), [-unit for unit in entry[2][1].units]


def _largest(values: Array, k: int) -> Array:
    """Places of the ``k`` largest finite values, largest first, equal ones by place."""
    k = min(k, len(values))
    if not k:
        return np.empty(0, dtype=np.intp)
    places = np.argpartition(values, len(values) - k)[len(values) - k :] if k < len(values) else np.arange(k)
    places = places[np.isfinite(values[places])]
    return places[np.lexsort((places, -values[places]))]


__all__ = ["Found", "Interaction", "find_interactions"]
