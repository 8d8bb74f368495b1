"""Curves and joint effects: searched on one half of a sample, confirmed on the other, and named.

A column may matter in a wave or a band, and columns may matter only together. What the columns that stand out by themselves
leave of the target is compared with functions of each column, and with products of functions of two, three and four
columns. The best of so many always fit something: each that looks good on one half of the rows is tested on the other half,
as one function with the coefficients of the first half, so that the number of products it was found among does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtr
from scipy.stats import rankdata

from easyfs.base.result import LEVEL, Found
from easyfs.common.types import Array
from easyfs.sample.elastic import Elastic, elastic_columns
from easyfs.sample.ridge import LinearFit
from easyfs.sample.rows import Sample
from easyfs.sample.screens import CANDIDATES, Candidate, Screen, largest

# Tables without any joint effect in which one is taken for a hint: it says what to take before columns that nothing speaks
# for, but is not named.
HINT = 0.2
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
# A target whose correlation with its own ranks (as normal scores) is smaller has long tails.
LONG_TAILS = 0.9
# Groups found in all.
MOST_FOUND = 24
# Columns and groups found so far that all pairs are tried with.
TRIED_WITH = 3
# All pairs, triples and quadruples are looked at again when groups were named that explain this share of what is left, and
# so many times in all; else only what goes with the columns found.
CHANGED, MOST_LOOKS = 0.1, 4
# Share of what a column's functions tell that the first must have for the column to have no curve.
ONE_WAY = 0.9
# Share of the target below which what is left of it is rounding.
EXPLAINED = 1e-6
# Terms with less than this many times their variance by chance are not taken out of the target.
CLEAR = 4.0
# ... unless there are this many rows for each.
ROWS_A_TERM = 16


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
    elif sample.beyond is not None:
        left = left - sample.beyond.basis @ (sample.beyond.basis.T @ left)
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
    if sample.beyond is not None:
        residual = _without_curves(sample, groups, order, residual)
    known = {column: i for i, unit in enumerate(units) for column in unit.tolist()}
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
    return _units_of(fit.rows, np.flatnonzero(live), groups)


def _units_of(sample: Sample, columns: Array, groups: Array) -> list[Array]:
    """Columns one by one, the indicators of a category as one."""
    if len(np.unique(groups[columns])) == len(columns):
        return list(columns[:, None])
    units: list[Array] = []
    for label in np.unique(groups[columns]):
        members = columns[groups[columns] == label]
        levels = [len(np.unique(column)) for column in sample.plain(members).T] if len(members) > 1 else [0]
        if len(members) > 1 and max(levels) <= 2:
            units.append(members)
        else:
            units += list(members[:, None])
    return units


def _without_curves(sample: Sample, groups: Array, order: Array, residual: Array) -> Array:
    """Take curves of the columns that are adjusted for out of the target, so that no other column is named for them."""
    assert sample.beyond is not None
    units = _units_of(sample, sample.beyond.columns, groups)
    functions = elastic_columns(sample, units, order).functions
    terms = functions.reshape(-1, functions.shape[2])
    return _less(residual, terms[terms.any(axis=1)], sample.root_weight[order] ** 2)


def _less(residual: Array, terms: Array, weight: Array) -> Array:
    """A target without what those terms explain that stand out, or all where there are rows enough."""
    g, terms = residual * weight[:, None], terms.astype(np.float64)
    clear = (np.square(terms @ g) > CLEAR * (np.square(terms) @ np.square(g))).any(axis=1)
    clear |= len(terms) * ROWS_A_TERM <= terms.shape[1]
    kept = np.column_stack([np.ones(terms.shape[1]), terms[clear].T])
    root = np.sqrt(weight)[:, None]
    return np.asarray(residual - kept @ np.linalg.lstsq(kept * root, residual * root, rcond=1e-8)[0])


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
        fresh, looks, energy_at_first = True, 0, float(np.square(self.residual).sum())
        while len(self.found) < MOST_FOUND:
            looks += fresh
            candidates = [(which, c) for which in self.searched for c in self._candidates(which, known, fresh)]
            if not candidates or float(np.square(self.residual).sum()) < EXPLAINED * energy_at_first:
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
            fresh = looks < MOST_LOOKS and named > CHANGED * float(np.square(self.residual).mean())
        return tuple(self.found)

    def _passing(self, candidates: list[tuple[int, Candidate]], n_tests: int) -> list[tuple[float, float, Any]]:
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

    def _promising(self, candidates: list[tuple[int, Candidate]], level: float) -> list[tuple[int, Candidate]]:
        """Leave out products of single functions that are far from the level at first sight, all at once."""
        kept = []
        for which in (0, 1):
            mine = [c for half, c in candidates if half == which]
            simple = [c for c in mine if max(c.levels) == 1]
            kept += [(which, c) for c in mine if max(c.levels) > 1]
            if not simple:
                continue
            found_on, tested_on = self.halves[which], self.halves[1 - which]
            terms = np.stack([np.prod(self.F[0, list(c.units)], axis=0) for c in simple], axis=1)
            c = terms[found_on].T @ self.g32[found_on]
            each = terms[tested_on] * (self.g32[tested_on] @ c.T)
            told, squares = each.sum(axis=0), np.square(each)
            far = told < np.sqrt(squares.sum(axis=0)) * -ndtri(min(30.0 * level, 0.3))
            kept += [(which, candidate) for candidate, left_out in zip(simple, far, strict=True) if not left_out]
        return kept

    def _name(self, entry: tuple[float, float, tuple[int, Candidate]]) -> None:
        """Name a group, and take it out of the target."""
        share, p, (_, candidate) = entry
        columns = np.concatenate([self.units[i] for i in candidate.units])
        plain = len(candidate.units) == 1 and self._goes_one_way(candidate.units[0])
        self.found.append(Found(tuple(int(j) for j in columns), self.part * float(max(share, 0.0)), float(p), plain))
        self.seen[candidate.units] = None
        self._take_out(candidate)

    def _goes_one_way(self, unit: int) -> bool:
        """Whether the first function of a unit tells nearly all that its functions tell."""
        told = np.square(self.F[:, unit] @ self.g).sum(axis=1)
        return bool(told[0] >= ONE_WAY * told.sum())

    def _curves(self, candidate: Candidate, rows: slice) -> Array:
        """A constant, and the functions of each unit by itself, a row each."""
        parts = [self.F[: self.n_functions[i], i, rows] for i in candidate.units]
        return np.concatenate([np.ones((1, parts[0].shape[1]), dtype=np.float32), *parts])

    def _confirm(self, candidate: Candidate, found_on: slice, tested_on: slice, level: float = 1.0) -> tuple[float, float]:
        """Chance that a function found on one half explains so much of the other half, and the share that it explains.

        What is far above ``level`` at first sight is not looked at closely.
        """
        terms, here = self._screen(found_on).terms(candidate), self.g[found_on]
        c = terms @ here
        by_chance = np.square(terms) @ np.square(here)
        c = c * np.maximum(1.0 - by_chance / np.maximum(np.square(c), 1e-300), 0.0) / len(here)
        if not c.any():
            return 1.0, 0.0
        w = self.weight[tested_on]
        f = self._screen(tested_on).terms(candidate).T @ c
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

    def _screen(self, rows: slice) -> Screen:
        return Screen(self.F[:, :, rows], self.n_functions, self.g32[rows])

    def _size(self, rows: slice) -> Array:
        """Mean square of the residual in a half."""
        return np.asarray(self._sizes[0] if rows == self.halves[0] else self._sizes[1])

    def _measure(self) -> None:
        """After a change of the residual."""
        self.g = self.residual * self.weight[:, None]  # the residual with the weight of its rows
        self.g32 = self.g.astype(np.float32)
        self._sizes = [np.square(self.g[half]).mean(axis=0) for half in self.halves]

    def _take_out(self, candidate: Candidate) -> None:
        """Take what a group explains, together and each by itself, out of the target."""
        rows = slice(0, len(self.residual))
        terms = np.concatenate([self._curves(candidate, rows)[1:], self._screen(rows).terms(candidate)])
        self.residual = _less(self.residual, terms, self.weight)
        self._measure()

    def _candidates(self, which: int, known: list[int], fresh: bool) -> Iterator[Candidate]:
        """The most promising groups of one half: of all columns, or, unless ``fresh``, of those that go with known ones."""
        half = self.halves[which]
        screen = self._screen(half)
        curves, level = screen.curves(screen.g)
        size = np.square(self.residual[half]).sum(axis=1)
        size = np.minimum(size, 9.0 * size.mean())
        spread = (size - size.mean())[:, None] * self.weight[half, None]
        loud = np.maximum(curves, screen.curves(spread.astype(np.float32))[0])
        found: dict[tuple[int, ...], Candidate] = {}
        for i in largest(curves, CANDIDATES):
            found[(int(i),)] = Candidate((int(i),), (int(level[i]),))
        groups: list[list[Candidate]] = []
        if fresh:
            pairs, best_pair = screen.pairs()
            loud = np.maximum(loud, best_pair)
            groups.append(pairs)
        by_loudness = np.argsort(-loud, kind="stable")
        if fresh:
            groups.append(screen.pairs_of_loud(by_loudness))
            groups.append(screen.triples(by_loudness, whole=which == self.searched[0] and not self.found))
            groups.append(screen.quadruples(by_loudness))
        groups.append(screen.partners([(i,) for i in known[:MOST_FOUND]]))
        tried = [*self.seen, *((i,) for i in known if (i,) not in self.seen)]
        groups += [screen.pairs_with(group, by_loudness) for group in tried[:TRIED_WITH] if len(group) <= 2]
        groups.append(screen.partners([group for group in self.seen if 2 <= len(group) <= 3]))
        for candidates in groups:
            for candidate in candidates:
                found.setdefault(candidate.units, candidate)
        yield from found.values()


def _by_share(entry: tuple[float, float, tuple[int, Candidate]]) -> tuple[float, list[int]]:
    """Largest share first; of shares that are equal to a few digits the first columns."""
    return float(f"{entry[0]:.4g}"), [-unit for unit in entry[2][1].units]
