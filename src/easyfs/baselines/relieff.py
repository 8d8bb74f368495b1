"""ReliefF for classes and RReliefF for numbers, in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.distances import Distance, distance, few_values
from easyfs.common.parameters import check_choice, check_number
from easyfs.common.threads import BLOCK_BYTES, block_rows, block_slices, for_blocks, map_blocks
from easyfs.common.types import Array

CONVENTIONS = ("paper", "scikit-feature", "skrebate")
# Up to so many rows, all distances are kept.
FEW_ROWS = 3000


@dataclass(frozen=True)
class Differences:
    """How two rows differ in each column, and how far apart they are.

    Attributes
    ----------
    numeric : ndarray of shape (n, a)
        Columns whose difference is ``|x - x'|``, in units that make it lie between 0 and 1.
    discrete : ndarray of shape (n, b)
        Columns whose difference is 0 or 1.
    threshold : ndarray of shape (a,) or None
        Where given, a numeric difference above it counts as 1 (in the scores, not in the distance).
    places : ndarray of shape (a + b,)
        Column numbers of the numeric and then the discrete columns.
    distance : Distance
        How far rows are apart.
    known : ndarray of shape (n, n) or None
        The distances, where there are few rows.
    """

    numeric: Array
    discrete: Array
    threshold: Array | None
    places: Array
    distance: Distance
    known: Array | None = None

    def distances(self, rows: Array) -> Array:
        """Manhattan distances of some rows to all rows; infinite to themselves."""
        D = self.distance.between(rows, slice(0, None)) if self.known is None else self.known[rows]
        D[np.arange(len(rows)), rows] = np.inf
        return D

    def measured(self) -> Differences:
        """The same with all distances at hand, each computed once for both rows, unless there are too many rows."""
        n = len(self.numeric)
        if n > FEW_ROWS:
            return self
        D = np.empty((n, n))

        def fill(rows: slice) -> None:
            part = self.distance.between(rows, slice(rows.start, None))
            D[rows, rows.start :] = part
            D[rows.stop :, rows] = part[:, rows.stop - rows.start :].T

        for_blocks(fill, block_slices(n, block_rows(n, 8)))
        return replace(self, known=D)

    def weighted_sums(self, rows: Array, neighbors: Array, weights: Array) -> Array:
        """``sum_{i, m} weights[q, i, m] diff(i, m)`` for each set of weights ``q`` and each column.

        ``neighbors`` has a row for each of the rows, ``weights`` the shape (q, rows, neighbours).
        """
        q = len(weights)
        sums = np.zeros((q, len(self.places)))
        width = max(1, self.numeric.shape[1] + self.discrete.shape[1])
        step = max(1, BLOCK_BYTES // (8 * width * max(1, neighbors.shape[1])))
        for part in block_slices(neighbors.shape[0], step):
            own, other = rows[part], neighbors[part]
            flat = weights[:, part].reshape(q, -1)
            apart = np.abs(self.numeric[other] - self.numeric[own][:, None])
            if self.threshold is not None:
                apart[apart > self.threshold] = 1.0
            differs = (self.discrete[other] != self.discrete[own][:, None]).astype(np.float64)
            sums[:, : apart.shape[2]] += flat @ apart.reshape(flat.shape[1], -1)
            sums[:, apart.shape[2] :] += flat @ differs.reshape(flat.shape[1], -1)
        ordered = np.empty_like(sums)
        ordered[:, self.places] = sums
        return ordered


def differences(X: Array, *, scaled: bool, discrete: Array, mixed_threshold: bool = False) -> Differences:
    """Prepare the columns: numeric ones divided by their range, discrete ones as they are.

    ``mixed_threshold`` follows skrebate: where both kinds are present, a numeric difference counts as 1 above a standard
    deviation, and the discrete columns together weigh as much in the distance as there are columns.
    """
    # Unlike an index, take leaves row after row in memory, and distances run through rows.
    numeric, categories = (
        X.take(np.flatnonzero(some), axis=1).astype(np.float64, copy=False) for some in (~discrete, discrete)
    )
    reach = np.ptp(numeric, axis=0) if scaled else np.ones(numeric.shape[1])
    mixed = mixed_threshold and bool(discrete.any()) and not discrete.all()
    numeric /= reach
    return Differences(
        numeric,
        categories,
        numeric.std(axis=0) if mixed else None,
        np.concatenate([np.flatnonzero(~discrete), np.flatnonzero(discrete)]),
        distance(numeric, categories, len(discrete) / max(1, int(discrete.sum())) if mixed else 1.0),
    )


def nearest(D: Array, k: int) -> Array:
    """The ``k`` smallest entries of each row, nearest first; of equal ones the first."""
    if k == 0:
        return np.empty((len(D), 0), dtype=np.intp)
    if k >= D.shape[1]:
        return np.argsort(D, axis=1, kind="stable")
    found = np.sort(np.argpartition(D, k - 1, axis=1)[:, :k], axis=1)
    values = np.take_along_axis(D, found, axis=1)
    tied = np.flatnonzero(np.count_nonzero(values.max(axis=1, keepdims=True) >= D, axis=1) > k)
    if len(tied):
        found[tied] = np.sort(np.argsort(D[tied], axis=1, kind="stable")[:, :k], axis=1)
        values[tied] = np.take_along_axis(D[tied], found[tied], axis=1)
    return np.asarray(np.take_along_axis(found, np.argsort(values, axis=1, kind="stable"), axis=1))


def class_coefficients(sizes: Array, k: int, convention: str) -> Array:
    """What a difference to a neighbour counts: entry ``(y, c)`` for a row of class ``y`` and a neighbour of class ``c``.

    Hits, on the diagonal, count against a column. In the paper each class of misses is weighed by its prior,
    ``P(c) / (1 - P(y))``.
    """
    n, n_classes = sizes.sum(), len(sizes)
    p = sizes / n
    other = ~np.eye(n_classes, dtype=bool)
    if convention == "paper":
        misses = p[None, :] / (1.0 - p[:, None]) / np.minimum(k, sizes)[None, :] / n
        hits = 1.0 / np.maximum(np.minimum(k, sizes - 1), 1) / n
    elif convention == "scikit-feature":
        misses = (1.0 - p[:, None]) / p[None, :] / k
        hits = np.full(n_classes, 1.0 / k)
    else:
        found = np.where(other, np.minimum(k, sizes)[None, :], 0)
        total = found.sum(axis=1, keepdims=True)
        misses = found / total**2 * (n_classes - 1) / n
        hits = 1.0 / np.minimum(k, sizes) / n
    return np.where(other, misses, -np.diag(hits))


def reference_rows(codes: Array, count: int, rng: np.random.RandomState) -> Array:
    """Draw so many of the rows, ascending, from each class as many as its share; all where there are no more than that.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Class of each row; all zero where there are none.
    count : int
        How many to draw.
    rng : RandomState
    """
    n = len(codes)
    if count >= n:
        return np.arange(n)
    drawn = rng.permutation(n)
    by_class = drawn[np.argsort(codes[drawn], kind="stable")]
    # At even steps from a random place on, so that each row comes as often as any other.
    return np.sort(by_class[((np.arange(count) + rng.uniform()) * (n / count)).astype(np.intp)])


def relieff(
    parts: Differences, codes: Array, n_classes: int, k: int, convention: str = "paper", references: Array | None = None
) -> Array:
    """ReliefF scores of all columns; the rows must be sorted by class.

    Neighbours are found for the rows ``references`` (all by default) among all rows, and sums over the references stand for
    those over all rows.
    """
    n = len(codes)
    sizes = np.bincount(codes, minlength=n_classes)
    stops = np.cumsum(sizes)
    coefficients = class_coefficients(sizes, k, convention)

    def block(rows: Array) -> Array:
        D = parts.distances(rows)
        own = codes[rows]
        found, weights = [], []
        for c in range(n_classes):
            inside = nearest(D[:, stops[c] - sizes[c] : stops[c]], min(k, sizes[c]))
            weight = np.broadcast_to(coefficients[own, c][:, None], inside.shape).copy()
            if inside.shape[1] == sizes[c]:  # the row itself came in as the last
                weight[own == c, -1] = 0.0
            found.append(inside + stops[c] - sizes[c])
            weights.append(weight)
        return np.asarray(parts.weighted_sums(rows, np.hstack(found), np.hstack(weights)[None])[0])

    return _total(block, n, references, (len(parts.places),))


def rrelieff(parts: Differences, y: Array, k: int, sigma: float | None = None, references: Array | None = None) -> Array:
    """RReliefF scores of all columns; ``y`` has a column for each target, each in units of its range."""
    n = len(y)
    k = min(k, n - 1)
    by_rank = np.ones(k) if sigma is None else np.exp(-((np.arange(1, k + 1) / sigma) ** 2))
    by_rank /= by_rank.sum()

    def block(rows: Array) -> Array:
        found = nearest(parts.distances(rows), k)
        apart = np.abs(y[found] - y[rows][:, None]).mean(axis=2) * by_rank
        plain = np.broadcast_to(by_rank, apart.shape)
        sums = parts.weighted_sums(rows, found, np.stack([plain, apart]))
        return np.hstack([sums, np.full((2, 1), apart.sum())])

    total = _total(block, n, references, (2, len(parts.places) + 1))
    differ, both, in_target = total[0, :-1], total[1, :-1], total[0, -1]
    tiny = np.finfo(np.float64).tiny
    return np.asarray(both / max(in_target, tiny) - (differ - both) / max(n - in_target, tiny))


def relieff_by_threshold(parts: Differences, y: Array, k: int, references: Array | None = None) -> Array:
    """What skrebate does for numbers: rows within a standard deviation of the target are hits, the others misses."""
    n = len(y)
    threshold = y.std(ddof=1)

    def block(rows: Array) -> Array:
        D = parts.distances(rows)
        hit = np.abs(y[rows][:, None] - y[None, :]) < threshold
        sums = np.zeros(len(parts.places))
        for kind, sign in ((hit, -1.0), (~hit, 1.0)):
            among = np.where(kind, D, np.inf)
            found = nearest(among, min(k, n - 1))
            real = np.isfinite(np.take_along_axis(among, found, axis=1))
            # A row that has no more than k hits counts itself among them, with difference 0.
            counted = np.minimum(np.count_nonzero(kind, axis=1), k)[:, None]
            weight = np.where(real, sign / np.maximum(counted, 1) / n, 0.0)
            sums += parts.weighted_sums(rows, found, weight[None])[0]
        return sums

    return _total(block, n, references, (len(parts.places),))


def _total(block: Callable[[Array], Array], n: int, references: Array | None, shape: tuple[int, ...]) -> Array:
    """Sum over blocks of the references, times as many rows as each stands for."""
    rows = np.arange(n) if references is None else references
    total = np.zeros(shape)
    for part in map_blocks(block, [rows[some] for some in block_slices(len(rows), block_rows(n, 8))]):
        total += part
    return total if len(rows) == n else total * (n / len(rows))


class ReliefFSelector(Baseline):
    """Select the columns that differ between near rows of different classes (ReliefF and RReliefF).

    Each row is compared with its nearest rows of the same class and of other classes: a column is good if it differs
    from the others and not from its own. Numbers as targets work alike. As rows are near in all columns together, it
    sees columns that matter only together, as long as not too many others blur the distances. It selects columns that
    repeat each other, and is slow on tables with many rows.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count such as 20, or a share of the columns such as 0.1. This method only ranks
        columns; it cannot choose their number itself.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    n_neighbors : int, default=10
        Number of nearest rows (of each class) that a row is compared with; fewer where a class has fewer.
    sigma : float, default=None
        For targets of numbers: the ``i``-th nearest row counts ``exp(-(i / sigma)^2)``. With None all count the same.
    discrete_features : False, "auto" or list of int or str, default=False
        Which columns hold categories, of which two values are either the same or not: none, those of at most ten
        distinct values ("auto"), or those listed.
    convention : {"paper", "scikit-feature", "skrebate"}, default="paper"
        Whose definition of the scores to follow.
    max_references : int or None, default=5000
        Rows that are compared with their neighbours: all where there are no more than this, otherwise so many that are
        drawn at random. None takes all rows, which takes a time that grows with the square of their number.
    random_state : int, RandomState instance or None, default=0
        Seed of that draw. Give a number to get the same answer each time.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Weight of each column, between -1 and 1 by the definition of the paper; 0 or less says nothing for the column.
        Excluded columns have ``-inf``.
    gains_ : ndarray of shape (n_features_,)
        Scores of the selected columns, in the order of ``order_``.
    n_features_ : int
        Number of selected columns.
    columns_ : list of ColumnInfo
        What each column holds (numbers, categories, dates, ...), how it was used, and how many of its values are
        missing.
    target_ : TargetInfo
        What the target holds.
    n_rows_ : int
        Number of rows in the fit.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes; only where ``y`` is one column of classes.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.

    See Also
    --------
    MutualInformationSelector : Judges each column alone.
    RandomForestSelector : Sees columns that matter only together through the splits of trees.
    EasyFS : Searches for joint effects and avoids overlap, and can choose the number of columns.

    Notes
    -----
    For each row, the ``n_neighbors`` nearest rows of its own class (hits) and of each other class (misses) are found by
    Manhattan distance over columns scaled to their range. A column gains by its mean difference to the misses, each
    class weighed by its prior ``P(c) / (1 - P(y))``, and loses by its mean difference to the hits [1]_. For numbers
    this is RReliefF: ``P(differ | targets differ)`` against ``P(differ | targets alike)``, estimated from the nearest
    rows [2]_.

    Up to ``max_references`` rows all rows are used and nothing is random. Of larger tables so many rows are drawn,
    from each class its share, and neighbours are found for those, among all rows, as in the papers, which draw rows
    too: time and memory then grow with the number of rows, not with its square.

    Two libraries depart from the papers: scikit-feature divides by the prior where the paper multiplies, does not
    scale the columns and does not divide by the number of rows; skrebate knows no priors, takes columns with at most
    ten distinct values for categories, and turns a numeric target into hits and misses by its standard deviation.
    ``convention`` gives their numbers.

    References
    ----------
    .. [1] Kononenko, "Estimating attributes: analysis and extensions of RELIEF", ECML 1994.
    .. [2] Robnik-Sikonja and Kononenko, "Theoretical and empirical analysis of ReliefF and RReliefF", Machine Learning
       53, 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import ReliefFSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = ReliefFSelector(2).fit(X, y)
    >>> list(selector.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    several_targets = True

    def __init__(
        self,
        n_features_to_select: int | float = 0.5,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        n_neighbors: int = 10,
        sigma: float | None = None,
        discrete_features: Literal[False, "auto"] | Sequence[int | str] = False,
        convention: Literal["paper", "scikit-feature", "skrebate"] = "paper",
        max_references: int | None = 5000,
        random_state: int | np.random.RandomState | None = 0,
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.n_neighbors = n_neighbors
        self.sigma = sigma
        self.discrete_features = discrete_features
        self.convention = convention
        self.max_references = max_references
        self.random_state = random_state

    def _units_matter(self) -> bool:
        return self.convention == "scikit-feature"

    def _check_parameters(self) -> None:
        check_number("n_neighbors", self.n_neighbors, 1, whole=True)
        if self.sigma is not None:
            check_number("sigma", self.sigma, 0, above=True)
        check_choice("convention", self.convention, CONVENTIONS)
        if self.max_references is not None:
            check_number("max_references", self.max_references, 1, whole=True, or_else=", or None for all rows")

    def _score(self, problem: Problem) -> Scored:
        X = problem.X
        n = len(X)
        skrebate = self.convention == "skrebate"
        discrete = self._discrete(
            "auto" if skrebate else self.discrete_features, problem, lambda problem: few_values(problem.X)
        )
        codes = problem.y if problem.is_classes else np.zeros(n, dtype=np.intp)
        order = np.argsort(codes, kind="stable")
        parts = differences(
            X[order], scaled=self.convention != "scikit-feature", discrete=discrete, mixed_threshold=skrebate
        ).measured()
        k = self.n_neighbors
        count = n if self.max_references is None else self.max_references
        references = reference_rows(codes[order], count, check_random_state(self.random_state))
        if problem.is_classes:
            return Scored(relieff(parts, codes[order], problem.target.n_targets, k, self.convention, references))
        y = problem.y.astype(np.float64)
        if skrebate and y.shape[1] == 1:
            return Scored(relieff_by_threshold(parts, y[:, 0], k, references))
        reach = np.ptp(y, axis=0)
        return Scored(rrelieff(parts, y / np.where(reach > 0, reach, 1.0), k, self.sigma, references))
