"""Stability selection: which columns are chosen again and again when rows are left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.utils import check_random_state

from easyfs.base.mixed import for_matrix
from easyfs.common.parameters import check_number
from easyfs.common.types import Array
from easyfs.evaluation.metrics import jaccard_stability, nogueira_stability
from easyfs.registry import make_selector
from easyfs.tables.encoder import read_table
from easyfs.tables.frames import column_names, is_table, to_matrix
from easyfs.tables.naming import take_roles
from easyfs.tables.target import check_target


@dataclass(frozen=True)
class StabilitySelection:
    """How often each column was selected on random halves of the rows.

    Attributes
    ----------
    frequency : ndarray of shape (d,)
        Share of the runs in which each column was selected.
    threshold : float
        Share from which on a column counts as stable.
    stable : ndarray of int
        The stable columns, most frequent first.
    names : list or None
        Names of the columns.
    mean_size : float
        Mean number of columns selected in a run.
    error_bound : float
        Bound of the expected number of columns among the stable ones that have nothing to do with the target (Meinshausen
        and Buehlmann, JRSS B 72, 2010): ``mean_size^2 / ((2 threshold - 1) d)``. It holds if such columns are exchangeable
        and the selector does no worse than chance.
    nogueira, jaccard : float
        Stability of the runs as a whole.
    n_runs : int
        How many parts of the rows were drawn.
    runs : tuple of ndarray
        The columns that were selected in each run.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs.evaluation import stability_selection
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> found = stability_selection("pearson", X, y, n_runs=10, random_state=0)
    >>> [found.names[j] for j in found.stable]
    ['petal length (cm)', 'petal width (cm)']
    >>> found.frequency.round(2).tolist()
    [0.0, 0.0, 1.0, 1.0]
    """

    frequency: Array
    threshold: float
    stable: Array
    names: list[Any] | None
    mean_size: float
    error_bound: float
    nogueira: float
    jaccard: float
    n_runs: int
    runs: tuple[Array, ...]

    def __str__(self) -> str:
        shown = [f"{self.names[j] if self.names else j} ({self.frequency[j]:.0%})" for j in self.stable[:20]]
        more = f" and {len(self.stable) - 20} more" if len(self.stable) > 20 else ""
        runs = f"in at least {self.threshold:.0%} of {self.n_runs} runs"
        if not shown:
            return f"no column is selected {runs}."
        many = "1 column is" if len(shown) == 1 else f"{len(self.stable)} columns are"
        return (
            f"{many} selected {runs}: {', '.join(shown)}{more}; at most {self.error_bound:.2f} of them are expected to be "
            "false."
        )


def stability_selection(
    selector: Any,
    X: Any,
    y: Any = None,
    *,
    n_runs: int = 100,
    threshold: float = 0.75,
    share: float = 0.5,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> StabilitySelection:
    """Select on many random parts of the rows and count how often each column is chosen.

    Parts come in pairs that share no row where ``share`` is at most one half (Shah and Samworth, JRSS B 75, 2013). With
    classes, the parts keep their shares.

    Parameters
    ----------
    selector : selector or str
        Any selector with ``fit`` and ``get_support``, or a name.
    X, y : table and target
        As for ``fit``; the target may be the name of a column.
    n_runs : int, default=100
        How many parts.
    threshold : float, default=0.75
        Share of the runs from which on a column is called stable; above 0.5.
    share : float, default=0.5
        Share of the rows in each part.
    n_jobs : int, optional
        Runs at the same time.
    random_state : int, RandomState instance or None
        Seed of the parts, and of a selector that has none.

    Returns
    -------
    StabilitySelection
        How often each column came up, and which are stable.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs.evaluation import stability_selection
    >>> X, y = load_iris(return_X_y=True)
    >>> stability_selection("fisher_score", X, y, n_runs=10, random_state=0).mean_size
    2.0
    """
    check_number("n_runs", n_runs, 2, whole=True)
    check_number("threshold", threshold, 0.5, 1.0, above=True)
    check_number("share", share, 0.0, 1.0, above=True)
    if isinstance(selector, str):
        selector = make_selector(selector)
    X, y, _, _ = take_roles(X, y, None)
    encoder, matrix = read_table(X, min_rows=4) if is_table(X) else (None, to_matrix(X, min_rows=4))
    if encoder is not None:
        encoder.warn_of_aside()
    selector = for_matrix(selector, column_names(X), encoder)
    n, d = matrix.shape[0], matrix.shape[1] if encoder is None else len(encoder.columns)
    target = None if y is None else check_target(y, n, getattr(selector, "task", "auto"))
    values: Array | None = None
    if target is not None and target.values is not None:
        values = target.classes[target.values] if target.classes is not None else target.values
        values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    rng = check_random_state(random_state)
    parts = _parts(n, n_runs, share, values if target is not None and target.kind == "classes" else None, rng)
    seeds = rng.randint(2**31 - 1, size=n_runs)
    if target is not None and selector.get_params(deep=False).get("task") == "auto":  # halves are not read another way
        selector.set_params(task=target.task)
    seeded = "random_state" in selector.get_params(deep=False) and selector.random_state is None

    def run(rows: Array, seed: int) -> Array:
        own = clone(selector)
        if seeded:
            own.set_params(random_state=int(seed))
        own.fit(matrix[rows], None if values is None else values[rows])
        columns = own.get_support(indices=True)
        return np.asarray(columns if encoder is None else np.unique(encoder.source[columns]))

    chosen = Parallel(n_jobs=n_jobs)(delayed(run)(rows, seed) for rows, seed in zip(parts, seeds, strict=True))
    frequency = np.zeros(d)
    for columns in chosen:
        frequency[columns] += 1.0 / n_runs
    order = np.argsort(-frequency, kind="stable")
    mean_size = float(np.mean([len(columns) for columns in chosen]))
    return StabilitySelection(
        frequency=frequency,
        threshold=threshold,
        stable=order[frequency[order] >= threshold - 1e-12],
        names=column_names(X),
        mean_size=mean_size,
        error_bound=mean_size**2 / ((2.0 * threshold - 1.0) * d),
        nogueira=nogueira_stability(chosen, d),
        jaccard=jaccard_stability(chosen),
        n_runs=n_runs,
        runs=tuple(chosen),
    )


def _parts(n: int, n_runs: int, share: float, classes: Array | None, rng: Any) -> list[Array]:
    size = max(2, int(np.floor(share * n)))
    parts: list[Array] = []
    while len(parts) < n_runs:
        order = rng.permutation(n)
        if classes is not None:
            # The rows of each class are spread evenly over the order, so that any stretch of it has all classes' shares.
            place = np.empty(n)
            for label in np.unique(classes):
                own = order[classes[order] == label]
                place[own] = (np.arange(len(own)) + rng.uniform()) / len(own)
            order = np.argsort(place, kind="stable")
        pair = [order[:size], order[size : 2 * size]]
        parts += [np.sort(part) for part in pair if len(part) == size]
    return parts[:n_runs]
