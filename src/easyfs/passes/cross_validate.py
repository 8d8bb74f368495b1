"""How many columns: by cross-validation on the sample, with everything learnt from the training rows of each fold.

For each fold the plan is made, joint effects are searched for and columns are chosen from the other folds alone. A linear
model of the first 1, 2, 3, ... columns, with products of the groups that were found among them, then predicts the rows that
were left out. The score is the share of the target that it explains there. Of numbers of columns whose mean score is within
one standard error of the best, the smallest is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from easyfs.base.request import Request
from easyfs.base.result import Found, Selection
from easyfs.common.types import Array
from easyfs.passes.block import Block
from easyfs.passes.choose import choose
from easyfs.passes.make_plan import make_plan
from easyfs.passes.settings import ChoiceSettings, PlanSettings
from easyfs.passes.summarise import summarise
from easyfs.sample.drawing import row_hashes
from easyfs.sums.measuring import scale_rows
from easyfs.sums.sparse import ScaledSparse

# Folds.
FOLDS = 5
# Numbers of columns that are tried: at most so many, and at most one for so many training rows.
MOST_TRIED, ROWS_A_COLUMN = 256, 3
# Ridge penalty of the model, in rows' worth of a standardised column.
PENALTY = 1.0
# Functions of each column in the products of a group, and of a column that matters in a curve; of a category its first
# indicators, so many that a group has no more products than these.
FUNCTIONS_OF_A_GROUP, FUNCTIONS_OF_A_CURVE, MOST_PRODUCTS = 2, 6, 64


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """Scores of each number of columns.

    Attributes
    ----------
    n_features : ndarray of int, shape (m,)
        Numbers of columns (of groups, where columns are grouped).
    scores : ndarray of shape (folds, m)
        Share of the target that is explained in the rows that were left out.
    selections : tuple of ndarray
        The columns in the order in which each fold chose them.
    """

    n_features: Array
    scores: Array
    selections: tuple[Array, ...]

    @property
    def best(self) -> int:
        """The smallest number of columns within one standard error of the best mean score."""
        mean = self.scores.mean(axis=0)
        top = int(np.argmax(mean))
        error = float(self.scores[:, top].std(ddof=1)) / np.sqrt(len(self.scores))
        return int(self.n_features[np.flatnonzero(mean >= mean[top] - error)[0]])

    def results(self) -> dict[str, Array]:
        """As scikit-learn's searches have it."""
        found = {"n_features": self.n_features, "mean_test_score": self.scores.mean(axis=0)}
        found["std_test_score"] = self.scores.std(axis=0)
        return found | {f"split{fold}_test_score": scores for fold, scores in enumerate(self.scores)}


def cross_validate(
    sample: Block, settings: PlanSettings, choice: ChoiceSettings, request: Request, seed: int, rng: np.random.Generator
) -> CrossValidated:
    """Score every number of columns.

    Parameters
    ----------
    sample : Block
        A sample of the rows.
    settings, choice : settings of the plan and of the choice
        What was asked of the method.
    request : Request
        Which columns must, may or may not be selected; its number is not looked at.
    seed : int
        Seed of the folds.
    rng : Generator
        Where the networks' weights come from.
    """
    folds = fold_of_rows(sample, seed)
    most = _most(request, int(min((folds != fold).sum() for fold in range(FOLDS))))
    state = rng.bit_generator.state
    scores, selections = [], []
    for fold in range(FOLDS):
        rng.bit_generator.state = state  # the same network in each fold, as far as rows have no say
        found, own = _fold(sample, folds, fold, settings, choice, replace(request, count=most), (seed, rng))
        scores.append(own)
        selections.append(found.order[: found.n_selected])
    shortest = min(len(own) for own in scores)
    return CrossValidated(np.arange(1, shortest + 1), np.array([own[:shortest] for own in scores]), tuple(selections))


def fold_of_rows(sample: Block, seed: int) -> Array:
    """The fold of each row, by the hash of its number; classes are spread evenly."""
    n = sample.n_rows
    hashes = row_hashes(seed ^ 0x5DEECE66D, np.arange(n))
    target = sample.target
    if target.kind == "classes" and target.values is not None:
        order = np.lexsort((hashes, target.values))
    else:
        order = np.argsort(hashes, kind="stable")
    folds = np.empty(n, dtype=np.intp)
    folds[order] = np.arange(n) % FOLDS
    return folds


def _most(request: Request, n_train: int) -> int:
    available = len(np.unique(request.groups[~request.excluded]))
    return max(1, min(available, MOST_TRIED, n_train // ROWS_A_COLUMN))


def _part(sample: Block, rows: Array) -> Block:
    """Some rows of a sample; each stands for as many rows as before."""
    stands_for = None if sample.stands_for is None else sample.stands_for[rows]
    part = sample[rows]
    return replace(part, stands_for=stands_for, population=float(part.n_rows))


def _weights(block: Block) -> Array:
    weight = np.ones(block.n_rows) if block.weight is None else block.weight
    return weight if block.stands_for is None else weight * block.stands_for


def _fold(
    sample: Block,
    folds: Array,
    fold: int,
    settings: PlanSettings,
    choice: ChoiceSettings,
    request: Request,
    seeds: tuple[int, np.random.Generator],
) -> tuple[Selection, Array]:
    """What the other folds choose, and the score of each number of columns in the rows that they have not seen."""
    train, test = _part(sample, np.flatnonzero(folds != fold)), _part(sample, np.flatnonzero(folds == fold))
    prepared = make_plan(train, settings, request, *seeds)
    plan = prepared.plan
    weighted = replace(train, weight=None if train.weight is None and train.stands_for is None else _weights(train))
    statistics = summarise(plan, weighted, scaled=(prepared.inputs, prepared.observed))
    found = choose(plan, statistics, request, choice)
    left_out = scale_rows(test.X, plan.scaling)[0]
    ends = _ends(found.order[: found.n_selected], request)
    columns = found.order[: found.n_selected]
    design, places = _designs((prepared.inputs, left_out), columns, found.found, request)
    values = [plan.target.columns(b.target.values, sample.target.n_targets, np.float64) for b in (train, test)]  # type: ignore[arg-type]
    shares = _explained(design, values, (_weights(train), _weights(test)), len(request.adjusted))
    steps = np.searchsorted(places, ends, side="right") - 1
    return found, shares[steps]


def _ends(columns: Array, request: Request) -> Array:
    """How many columns the first 1, 2, 3, ... groups have."""
    labels = request.groups[columns]
    last = np.flatnonzero(np.concatenate([labels[1:] != labels[:-1], [True]]))
    return np.asarray(last + 1)


def _take(inputs: Array | ScaledSparse, columns: Array) -> Array:
    return np.asarray(inputs.take(columns) if isinstance(inputs, ScaledSparse) else inputs[:, columns], dtype=np.float64)


def _designs(
    parts: tuple[Array | ScaledSparse, Array | ScaledSparse], columns: Array, found: tuple[Found, ...], request: Request
) -> tuple[list[Array], Array]:
    """Columns of a linear model for training and left-out rows, in the order in which they enter.

    And how many of the chosen columns must be there for each: those that are adjusted for come before all, and products
    of a group enter with the last column of it.
    """
    plain, adjusted = [_take(part, columns) for part in parts], request.adjusted
    place = {int(column): i for i, column in enumerate(columns)}
    entries = [(i + 1, 0, [values[:, [i]] for values in plain]) for i in range(len(columns))]
    for group in found:
        if not group.plain and all(column in place for column in group.columns):
            where = [place[column] for column in group.columns]
            entries.append((max(where) + 1, 1, _products(plain, _units(plain[0], where, request.groups[columns]))))
    if len(adjusted):
        entries.append((0, 0, [_take(part, adjusted) for part in parts]))
    entries.sort(key=lambda entry: entry[:2])
    places = np.concatenate([np.full(entry[2][0].shape[1], entry[0]) for entry in entries])
    return [np.concatenate([entry[2][k] for entry in entries], axis=1) for k in range(2)], places


def _units(values: Array, where: list[int], labels: Array) -> list[list[int]]:
    """Places of columns one by one, those of the indicators of a category together."""
    units: dict[int, list[int]] = {}
    for i in where:
        low, high = values[:, i].min(), values[:, i].max()
        indicator = bool(((values[:, i] == low) | (values[:, i] == high)).all())
        units.setdefault(int(labels[i]) if indicator else -1 - i, []).append(i)
    return list(units.values())


def _products(plain: list[Array], units: list[list[int]]) -> list[Array]:
    """Products of functions of some units: of the ranks of a column, learnt from the training rows, or indicators."""
    count = FUNCTIONS_OF_A_CURVE if len(units) == 1 else FUNCTIONS_OF_A_GROUP
    most = int(MOST_PRODUCTS ** (1.0 / len(units)) + 1e-9)
    out: list[Array] = []
    for values in plain:
        terms = np.ones((len(values), 1))
        for unit in units:
            functions = values[:, unit[:most]] if len(unit) > 1 else _waves(plain[0][:, unit[0]], values[:, unit[0]], count)
            terms = (terms[:, :, None] * functions[:, None, :]).reshape(len(values), -1)
        out.append(terms)
    return out


def _waves(known: Array, values: Array, count: int) -> Array:
    """Functions of the ranks that values have among known ones."""
    ordered = np.sort(known)
    low, high = (np.searchsorted(ordered, values, side=side) for side in ("left", "right"))
    u = (low + high) / (2.0 * len(ordered))
    return np.asarray(np.cos(np.pi * np.outer(u, np.arange(1, count + 1))))


def _explained(design: list[Array], targets: list[Array], weights: tuple[Array, Array], n_adjusted: int = 0) -> Array:
    """Share of the left-out target that a ridge fit of the first 1, 2, ... columns of a design explains.

    Of the target that the first ``n_adjusted`` columns leave, where there are such.
    """
    (A, B), (Y, Z), (w, v) = design, targets, weights
    center, mean = np.average(A, axis=0, weights=w), np.average(Y, axis=0, weights=w)
    A, B, Y, Z = A - center, B - center, Y - mean, Z - mean
    spread = np.sqrt(np.average(np.square(A), axis=0, weights=w))
    spread = np.where(spread > 0, spread, 1.0)
    A, B = A / spread, B / spread
    gram = A.T @ (w[:, None] * A)
    gram[np.diag_indices(len(gram))] += PENALTY * float(w.mean())
    factor = cholesky(gram, lower=True)
    steps = solve_triangular(factor, A.T @ (w[:, None] * Y), lower=True)
    basis = solve_triangular(factor, B.T, lower=True).T
    if n_adjusted:
        Y = Y - solve_triangular(factor, A.T, lower=True)[:n_adjusted].T @ steps[:n_adjusted]
    scale = np.sqrt(np.maximum(np.average(np.square(Y), axis=0, weights=w), 1e-300))  # targets count alike
    left, steps = Z / scale, steps / scale
    whole = float(v @ np.square(left).sum(axis=1))
    shares = np.empty(len(steps))
    for q in range(len(steps)):
        left = left - np.outer(basis[:, q], steps[q])
        if q < n_adjusted:
            whole = float(v @ np.square(left).sum(axis=1))
        shares[q] = 1.0 - float(v @ np.square(left).sum(axis=1)) / max(whole, 1e-300)
    return shares
