"""Compare selectors on one table: the same folds for all, selection inside the training rows, results as they come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from easyfs.base.mixed import for_matrix
from easyfs.base.request import resolve_count
from easyfs.common.parameters import check_number
from easyfs.evaluation.cell import Cell, Data, chosen_in, run_cell, seed_of
from easyfs.evaluation.metrics import SMALLER_IS_BETTER, name_of, resolve_metrics
from easyfs.evaluation.pool import run_in_processes
from easyfs.evaluation.protocol import (
    Split,
    described,
    fingerprint,
    make_splits,
    named_models,
    named_selectors,
    resolve_seed,
)
from easyfs.evaluation.provenance import code_of, environment, now
from easyfs.evaluation.results import Comparison
from easyfs.evaluation.store import Row, Store
from easyfs.tables.encoder import TableEncoder, read_table
from easyfs.tables.frames import column_names, is_table, to_matrix
from easyfs.tables.naming import take_roles
from easyfs.tables.target import check_target

# Number of columns to try where none is given.
DEFAULT_SIZES = (5, 10, 20, 50)


def compare(  # noqa: PLR0913 - settings of a comparison, all but the first three by name
    selectors: Any,
    X: Any,
    y: Any,
    *,
    sizes: Any = None,
    models: Any = None,
    metrics: Any = None,
    task: str = "auto",
    folds: int = 5,
    repeats: int = 3,
    cv: Any = None,
    groups: Any = None,
    results: Any = None,
    name: str = "data",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    device: str | None = None,
    retry_failed: bool = False,
    any_code: bool = False,
    progress: Any = None,
    stamp: Any = None,
    random_state: Any = 0,
) -> Comparison:
    """Measure how well models do on the columns that each selector chooses.

    Everything that learns from data, imputation, scaling and selection, learns from the training rows of a fold alone. All
    selectors see the same folds, each is fitted once a fold for all sizes (spFSR, whose search is for one size, once for
    each), and random selection always takes part. A selector sees the columns as they are, with missing values imputed if
    it cannot take them; models see them imputed and scaled.

    Parameters
    ----------
    selectors : list or dict
        Names (:func:`easyfs.available_selectors`), selectors of this library or any of scikit-learn's; a dictionary gives
        them labels. ``"all"`` is no selection at all. One that needs scaled columns and does not scale them itself, as
        those of this library do, is given as the last step of a pipeline: ``make_pipeline(StandardScaler(), RFE(SVC()))``.
    X : array-like, sparse matrix, dataframe or Arrow table of shape (n, d)
        The table; NaN is a missing value. Sparse tables are made dense. Categories and dates become columns of numbers that
        are chosen together and count as one (values of categories are read from all rows, the target from none).
    y : array-like of shape (n,) or (n, t), str or list of str
        The target, or the name of a column of ``X`` that holds it, or several such names.
    sizes : list of int or float, optional
        Numbers of columns, or shares of them; by default 5, 10, 20 and 50, as far as there are so many columns.
    models : str, estimator, list or dict, optional
        Downstream models of scikit-learn, or names: "svm", "linear", "forest", "knn", "boosting"; a dictionary gives them
        labels. By default a linear SVM for classes and an SVR with RBF kernel for numbers ("svm"), with scikit-learn's own
        parameters. The target of a regression is standardised for them on the training rows.
    metrics : str, callable, list or dict, optional
        "accuracy", "balanced_accuracy", "nmse" or any scorer of scikit-learn; by default the first two for classes and
        NMSE for numbers. The first one is what tables and figures show.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` is.
    folds, repeats : int, default=5 and 3
        Folds of the cross-validation, and how often it is repeated with other folds.
    cv : int, splitter or iterable, optional
        Folds of another kind, as in scikit-learn (for example ``TimeSeriesSplit(5)``).
    groups : array-like of shape (n,), optional
        Rows of one group (a patient, a family) stay on one side of each split.
    results : path, optional
        A file that results are appended to as they come; a rerun does only what is missing there. What a selector found
        counts as missing once its code has changed, or the version of the library it is from. Each row says the version,
        commit, date, machine and number of threads it was made with.
    name : str, default="data"
        Name of the data in the results.
    n_jobs : int, optional
        Cells that run at the same time, each in a process of its own.
    time_limit : float, optional
        Seconds that a fit may take; a selector that can stop by itself is told to, any other is ended. The fit of a model
        has the same limit. What is over it becomes a row that says so.
    memory_limit : float, optional
        Megabytes that a process may have (on Linux).
    device : str, optional
        Where selectors compute that can do so elsewhere than on the processor, such as ``"cuda"``; the others, and models,
        stay where they are. None leaves it to each selector.
    retry_failed : bool, default=False
        Whether a rerun tries again what failed before.
    any_code : bool, default=False
        Whether a rerun goes on from what other versions of the code found, such as columns to measure another model on.
    progress : None, True or callable, optional
        True shows a bar with the remaining time on a terminal; a callable is called with (done, total, row).
    stamp : dict, optional
        Stands as ``"stamp"`` in every row of the results: the version, say, or the machine.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds, of random selection and of every selector and model that has none of its own. None draws one. It
        stands in the results (``found.data[name]["random_state"]``); only with the same one does a rerun go on from there.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs.evaluation import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(["pearson", "fisher_score"], X, y, sizes=[1, 2], repeats=1)
    >>> sorted(found.selectors)
    ['fisher_score', 'pearson', 'random']
    """
    X, y, _, _ = take_roles(X, y, None)
    data, encoder = _read(X, y, task)
    fields = {label: _on_device(selector, device) for label, selector in named_selectors(selectors).items()}
    several = data.y.ndim == 2
    n_columns = len(data.users(np.arange(data.X.shape[1])))
    asked = _Asked(
        name=name,
        table=fingerprint(data.X, data.y, data.task),
        n_columns=n_columns,
        selectors=fields,
        told={
            label: selector if isinstance(selector, str) else for_matrix(selector, column_names(X), encoder)
            for label, selector in fields.items()
        },
        models=named_models(models, data.task, several=several),
        metrics=resolve_metrics(metrics, data.task, several=several),
        sizes=_sizes(sizes, n_columns),
        seed=resolve_seed(random_state),
        time_limit=time_limit,
        stamp=_stamped(stamp),
    )
    _check_run(time_limit, memory_limit, progress, n_jobs)
    splits = make_splits(
        data.X, data.y, task=data.task, folds=folds, repeats=repeats, cv=cv, groups=groups, random_state=asked.seed
    )
    meta = asked.about(data, n_columns if encoder is None else len(encoder.columns))
    with Store(results) as store:
        cells, tried = asked.cells(splits, _Known(store.rows, asked, retry_failed, any_code))
        if meta not in store.rows:
            store.append(meta)
        report = asked.reporter(store, _meter(progress, sum(len(cell.wanted) for cell in cells)))
        jobs = n_jobs or 1
        if jobs > 1 or time_limit is not None or memory_limit is not None:
            run_in_processes(data, cells, report, n_jobs=jobs, time_limit=time_limit, memory_limit=memory_limit)
        else:
            for cell in cells:
                run_cell(data, cell, partial(report, cell))
        keys = set(asked.score_keys.values())
        rows = [row for row in store.rows if row == meta or (_was_asked(row, tried, keys) and asked.is_of(row, any_code))]
    return Comparison(rows)


def _read(X: Any, y: Any, task: str) -> tuple[Data, TableEncoder | None]:
    """The table as a matrix with its target, and how columns that are no numbers became some."""
    if sparse.issparse(X):
        X = X.toarray()
    encoder, matrix = read_table(X, min_rows=4) if is_table(X) else (None, to_matrix(X, min_rows=4))
    if encoder is not None:
        encoder.warn_of_aside()
    target = check_target(y, len(matrix), task)
    if target.values is None or target.task is None:
        raise ValueError("compare needs a target: pass y.")
    values = target.classes[target.values] if target.classes is not None else target.values
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    return Data(matrix, np.asarray(values), target.task, None if encoder is None else encoder.source), encoder


def _on_device(selector: Any, device: str | None) -> Any:
    """A selector that computes on a device, if it can."""
    if device is None or isinstance(selector, str) or "device" not in selector.get_params(deep=False):
        return selector
    return clone(selector).set_params(device=device)


def _check_run(time_limit: Any, memory_limit: Any, progress: Any, n_jobs: Any) -> None:
    for label, limit in (("time_limit", time_limit), ("memory_limit", memory_limit)):
        if limit is not None:
            check_number(label, limit, 0, above=True)
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress={progress!r}: give True, or a callable that takes (done, total, row).")
    if n_jobs is not None:
        check_number("n_jobs", n_jobs, 1, whole=True)


def _stamped(stamp: Any) -> Row:
    """What is to stand in every row."""
    if stamp is None:
        return {}
    if not isinstance(stamp, Mapping):
        raise ValueError(f"stamp={stamp!r}: give a dictionary, such as {{'version': '1.0'}}.")
    return {"stamp": dict(stamp)}


@dataclass(frozen=True)
class _Asked:
    """What is compared with what, on which table.

    Attributes
    ----------
    name, table : str
        Name and fingerprint of the table.
    n_columns : int
        Number of the user's columns to choose from.
    selectors, told : dict
        Selectors by label: as they were given, and as they are told about columns of the matrix.
    models, metrics : dict
        Models and metrics by label.
    sizes : tuple of int
        Numbers of columns.
    seed : int
        Seed of the first fold.
    time_limit : float or None
        Seconds that a fit may take.
    stamp : dict
        What stands in every row.
    """

    name: str
    table: str
    n_columns: int
    selectors: dict[str, Any]
    told: dict[str, Any]
    models: dict[str, Any]
    metrics: dict[str, Any]
    sizes: tuple[int, ...]
    seed: int
    time_limit: float | None
    stamp: Row

    @cached_property
    def score_keys(self) -> dict[str, str]:
        """What the scores of each model are known by."""
        measured = described({label: name_of(measure) for label, measure in self.metrics.items()})
        return {label: fingerprint(label, described(model), measured) for label, model in self.models.items()}

    @cached_property
    def codes(self) -> dict[str, str]:
        """What the code of each selector is known by."""
        return {label: code_of(selector) for label, selector in self.selectors.items()}

    def is_of(self, row: Row, any_code: bool) -> bool:
        """Whether a row is of the present code of its selector."""
        return any_code or row.get("code") == self.codes.get(row.get("selector", ""))

    def about(self, data: Data, n_columns: int) -> Row:
        """The row that says what the table is and what is compared."""
        return {
            "kind": "data",
            "name": self.name,
            "data": self.table,
            "table": fingerprint(data.X),
            "rows": len(data.X),
            "columns": n_columns,
            "task": data.task,
            "random_state": self.seed,
            "selectors": list(self.selectors),
            "models": list(self.models),
            "metrics": list(self.metrics),
            "smaller_is_better": [label for label, measure in self.metrics.items() if measure in SMALLER_IS_BETTER],
            "without_selection": [label for label, selector in self.selectors.items() if isinstance(selector, str)],
            **self.stamp,
        }

    def cells(self, splits: list[Split], known: _Known) -> tuple[list[Cell], dict[str, tuple[int, ...]]]:
        """What is left to do, and the sizes of all that was asked for."""
        cells, tried = [], {}
        for split in splits:
            for label, selector in self.selectors.items():
                sizes = (self.n_columns,) if isinstance(selector, str) else self.sizes
                cell = self._cell(split, label, sizes, known)
                tried[cell.key] = sizes
                if cell.wanted and not known.failed(cell.key):
                    cells.append(cell)
        return cells, tried

    def _cell(self, split: Split, label: str, sizes: tuple[int, ...], known: _Known) -> Cell:
        """One selector on one fold, with what is not measured yet."""
        seed = self.seed + 1000 * split.repeat + split.fold
        selector = described(self.selectors[label])
        key = fingerprint(self.table, self.name, split.train, split.test, label, selector, seed, self.time_limit)
        done = known.scores.get(key, set())
        left = tuple((n, model) for n in sizes for model in self.models if (n, self.score_keys[model]) not in done)
        return Cell(
            key,
            known.code(key) or self.codes[label],  # what is chosen already stays under the code that chose it
            label,
            self.told[label],
            split,
            sizes,
            self.models,
            self.metrics,
            seed,
            left,
            self.time_limit,
            known.chosen(key, sizes),
        )

    def reporter(self, store: Store, meter: Callable[[int, Row], None]) -> Callable[[Cell, str, Row], None]:
        """What keeps and counts each result as it comes."""

        def report(cell: Cell, kind: str, found: Row) -> None:
            row: Row = {"kind": kind, "name": self.name, "data": self.table, "selector": cell.label}
            row |= {"repeat": cell.split.repeat, "fold": cell.split.fold, "key": cell.key, "code": cell.code, **found}
            row |= {"seed": seed_of(cell), **environment(), "date": now(), **self.stamp}
            if kind == "score":
                row["score_key"] = self.score_keys[found["model"]]
            store.append(row)
            failed = kind == "fit" and found["status"] != "ok"
            meter(len(cell.wanted) if failed else int(kind == "score"), row)

        return report


def _was_asked(row: Row, sizes: dict[str, tuple[int, ...]], score_keys: set[str]) -> bool:
    if row.get("key") not in sizes:
        return False
    return row["kind"] == "fit" or (row["size"] in sizes[row["key"]] and row["score_key"] in score_keys)


class _Known:
    """What an earlier run left in the store."""

    def __init__(self, rows: list[Row], asked: _Asked, retry_failed: bool, any_code: bool):
        self.fits: dict[str, Row] = {}
        self.scores: dict[str, set[tuple[int, str]]] = {}
        for row in rows:
            if row.get("data") != asked.table or (retry_failed and row.get("status") != "ok"):
                continue
            if row["kind"] != "data" and not asked.is_of(row, any_code):
                continue
            if row["kind"] == "fit":
                self.fits[row["key"]] = row
            elif row["kind"] == "score":
                self.scores.setdefault(row["key"], set()).add((row["size"], row["score_key"]))

    def failed(self, key: str) -> bool:
        """Whether the fit was tried and failed."""
        return key in self.fits and self.fits[key]["status"] != "ok"

    def code(self, key: str) -> str | None:
        """The code that an earlier fit was made with, if it is known."""
        return self.fits[key].get("code") if key in self.fits else None

    def chosen(self, key: str, sizes: tuple[int, ...]) -> dict[int, list[int]] | None:
        """Columns of each size; None unless all are known."""
        if key not in self.fits or self.failed(key):
            return None
        chosen = chosen_in(self.fits[key], sizes)
        return chosen if len(chosen) == len(sizes) else None


def _sizes(sizes: Any, d: int) -> tuple[int, ...]:
    if sizes is None:
        return tuple(size for size in DEFAULT_SIZES if size <= d) or (d,)
    if np.isscalar(sizes):
        sizes = [sizes]
    found = []
    for size in sizes:
        try:
            count = resolve_count(size, d)
        except ValueError as error:
            raise ValueError(f"sizes has {size!r}; give counts from 1 to {d}, or shares such as 0.1.") from error
        if count is None:
            raise ValueError("sizes has 'auto'; give counts such as 10 or shares such as 0.1.")
        found.append(count)
    if not found:
        raise ValueError("sizes is empty; give counts such as 10 or shares such as 0.1.")
    return tuple(sorted(set(found)))


def _meter(progress: Any, total: int) -> Callable[[int, Row], None]:
    if progress is None or progress is False:
        return lambda *_: None
    start, done = time.monotonic(), 0

    def step(added: int, row: Row) -> None:
        nonlocal done
        done += added
        if callable(progress):
            progress(done, total, row)
        elif sys.stderr.isatty():
            passed = time.monotonic() - start
            left = passed / done * (total - done) if done else float("nan")
            filled = int(30 * done / max(1, total))
            bar = "#" * filled + "." * (30 - filled)
            sys.stderr.write(f"\r[{bar}] {done}/{total}  {passed:.0f} s, {left:.0f} s left  {row['selector']:<24.24}")
            sys.stderr.write("\n" if done >= total else "")
            sys.stderr.flush()

    return step
