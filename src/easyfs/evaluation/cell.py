"""One cell of a comparison: fit a selector on the training rows, then models on the columns it chose."""

from __future__ import annotations

import contextlib
import numbers
import re
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags

from easyfs.common.types import Array
from easyfs.evaluation.protocol import ALL, Split
from easyfs.evaluation.provenance import n_threads

# How a selector may call the number of columns it is to choose.
SIZE_PARAMETERS = ("n_features_to_select", "k", "max_features")


@dataclass(frozen=True)
class Data:
    """The table and target that all cells share.

    Where the user's columns are not all numbers, ``X`` may have several columns for one of them; ``source`` then says which
    of the user's columns each comes from. Columns in cells and results are the user's.
    """

    X: Array
    y: Array
    task: str
    source: Array | None = None

    def columns_of(self, chosen: Array) -> Array:
        """Columns of ``X`` that come from some of the user's columns."""
        return np.sort(chosen) if self.source is None else np.flatnonzero(np.isin(self.source, chosen))

    def users(self, columns: Array) -> Array:
        """The user's columns that columns of ``X`` come from, each once, in the same order."""
        if self.source is None:
            return columns
        return np.array(list(dict.fromkeys(self.source[columns].tolist())), dtype=np.intp)


@dataclass(frozen=True)
class Cell:
    """A selector and a split, and what is still to be measured there.

    Attributes
    ----------
    key : str
        Tells this fit from all others: data, rows, selector and its parameters, seed.
    code : str
        Tells the code of the selector from other versions of it.
    label : str
        The selector's name in the comparison.
    selector : estimator or "all"
        The selector, not fitted.
    split : Split
        Rows to train and to test on.
    sizes : tuple of int
        Numbers of columns to try.
    models : dict
        Downstream models by name.
    metrics : dict
        Measures by name.
    seed : int
        Seed for a selector or model that has none of its own.
    time_limit : float or None
        Seconds that a selector which can stop by itself is given.
    wanted : tuple of (int, str)
        Sizes and models to measure, in this order.
    chosen : dict or None
        Columns of each size where they are known from an earlier run.
    """

    key: str
    code: str
    label: str
    selector: Any
    split: Split
    sizes: tuple[int, ...]
    models: dict[str, Any]
    metrics: dict[str, Any]
    seed: int
    wanted: tuple[tuple[int, str], ...]
    time_limit: float | None = None
    chosen: dict[int, list[int]] | None = None


def prepared(data: Data, split: Split) -> tuple[Array, Array]:
    """Training and test columns for a model, imputed and scaled by what the training rows say."""
    steps = make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return steps.fit_transform(data.X[split.train]), steps.transform(data.X[split.test])


def shown(selector: Any, X: Array) -> Array:
    """The training rows as a selector sees them: as they are, imputed only if it cannot take missing values.

    They are not scaled: counts stay counts and categories stay categories. A selector that needs scaled columns scales
    them itself, or is the last step of a pipeline that does.
    """
    if isinstance(selector, str) or not np.isnan(X).any() or _takes_missing(selector):
        return X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(SimpleImputer(keep_empty_features=True).fit_transform(X))


def _takes_missing(selector: Any) -> bool:
    try:
        return bool(get_tags(selector).input_tags.allow_nan)
    except (AttributeError, TypeError):  # not quite an estimator of scikit-learn
        return False


def run_cell(data: Data, cell: Cell, report: Callable[[str, dict[str, Any]], None]) -> None:
    """Fit and measure; everything that is found is reported as soon as it is there.

    ``report("fit", ...)`` comes once, with the columns of each size, or with the error; ``report("score", ...)`` for each
    size, model and measure. Each says on how many threads it ran.
    """
    threads = n_threads()
    _run(data, cell, lambda kind, found: report(kind, found | {"threads": threads}))


def _run(data: Data, cell: Cell, report: Callable[[str, dict[str, Any]], None]) -> None:
    train, test = prepared(data, cell.split)
    y_train, y_test = data.y[cell.split.train], data.y[cell.split.test]
    chosen = cell.chosen
    if chosen is None:
        chosen = _fit(data, cell, shown(cell.selector, data.X[cell.split.train]), y_train, report)
        if chosen is None:
            return
    for size, name in cell.wanted:
        # The order in which columns were chosen is of no account to a model.
        columns = data.columns_of(np.array(chosen[size]))
        _measure(data.task, cell, name, size, (train[:, columns], y_train), (test[:, columns], y_test), report)


def _fit(data: Data, cell: Cell, X: Array, y: Array, report: Callable[..., None]) -> dict[int, list[int]] | None:
    with peak_memory() as memory:
        start = time.perf_counter()
        try:
            chosen, ordered, note = choose(
                cell.selector, X, y, cell.sizes, data.task, cell.seed, cell.time_limit, data.users
            )
        except Exception as error:
            report("fit", {"status": "failed", "reason": one_line(error), "trace": traceback.format_exc(limit=-3)})
            return None
        seconds = time.perf_counter() - start
    found = {"status": "ok", "seconds": seconds, "peak_mb": memory.added, "note": note}
    report("fit", found | written(chosen, ordered))
    return {size: list(columns) for size, columns in chosen.items()}


def written(chosen: dict[int, Array], ordered: bool) -> dict[str, Any]:
    """Columns of each size in a row of results: the order where the selector has one, otherwise all sets."""
    if ordered:
        order = max(chosen.values(), key=len)
        return {"sizes": sorted(chosen), "order": [int(c) for c in order]}
    return {"sizes": sorted(chosen), "sets": {str(size): [int(c) for c in columns] for size, columns in chosen.items()}}


def chosen_in(row: dict[str, Any], sizes: Iterable[int] | None = None) -> dict[int, list[int]]:
    """Columns of each size, from a row of results; of those sizes only that can be told from it."""
    if row["status"] != "ok":
        return {}
    if "order" in row:
        order = row["order"]
        wanted = row["sizes"] if sizes is None else [size for size in sizes if size <= max(row["sizes"])]
        return {int(size): order[: int(size)] for size in wanted}
    sets = {int(size): columns for size, columns in row.get("sets", {}).items()}
    return sets if sizes is None else {size: sets[size] for size in sizes if size in sets}


def choose(
    selector: Any,
    X: Array,
    y: Array,
    sizes: tuple[int, ...],
    task: str,
    seed: int,
    time_limit: float | None = None,
    users: Callable[[Array], Array] = np.asarray,
) -> tuple[dict[int, Array], bool, str]:
    """Columns of each size, whether they are the beginnings of one order, and a note (such as an early stop).

    One fit serves all sizes, unless the selector gives nothing but a set, or says that what it selects is for one size
    (``one_size``). ``users`` turns columns of ``X`` into the user's.
    """
    everything = users(np.arange(X.shape[1]))
    d = len(everything)
    if isinstance(selector, str) and selector == ALL:
        return dict.fromkeys(sizes, everything), True, ""

    def fit(size: int) -> Any:
        return _chooser(_prepared_selector(selector, size, task, seed, time_limit).fit(X, y))

    chosen: dict[int, Array] = {}
    note = ""
    for size in sorted({min(size, d) for size in sizes}, reverse=True):
        fitted = fit(size)
        note = "time_limit" if getattr(fitted, "stop_reason_", "") == "time_limit" else note
        order = _order(fitted)
        if order is not None and not fits_one_size(selector):
            order = users(order)
            return {size: order[: min(size, d)] for size in sizes}, True, note
        chosen[size] = users(fitted.get_support(indices=True)) if order is None else users(order)[:size]
    return {size: chosen[min(size, d)] for size in sizes}, False, note


def fits_one_size(selector: Any) -> bool:
    """Whether what a selector finds is for the number of columns it was asked for, and no other."""
    return bool(getattr(_chooser(selector), "one_size", False))


def _chooser(selector: Any) -> Any:
    """What selects: the last step of a pipeline, otherwise the selector itself."""
    return selector[-1] if isinstance(selector, Pipeline) else selector


def _prepared_selector(selector: Any, size: int, task: str, seed: int, time_limit: float | None) -> Any:
    """The selector with what the comparison knows better than its defaults: size, task, seed and time limit."""
    whole = clone(selector)
    fresh = _chooser(whole)
    parameters = fresh.get_params(deep=False)
    name = next((name for name in SIZE_PARAMETERS if name in parameters), None)
    settings: dict[str, Any] = {} if name is None else {name: size}
    if parameters.get("task") == "auto":
        settings["task"] = task
    if parameters.get("random_state", 0) is None:
        settings["random_state"] = seed
    if time_limit is not None and parameters.get("time_limit", 0) is None:
        settings["time_limit"] = time_limit
    fresh.set_params(**settings)
    return whole


def seed_of(cell: Cell) -> int | None:
    """The seed that the selector of a cell has: its own, or the one it is given; None where it is no number."""
    own = None if isinstance(cell.selector, str) else _chooser(cell.selector).get_params(deep=False).get("random_state")
    return cell.seed if own is None else int(own) if isinstance(own, numbers.Integral) else None


def stops_by_itself(selector: Any) -> bool:
    """Whether a selector can be told to stop in time with the best so far."""
    return not isinstance(selector, str) and "time_limit" in _chooser(selector).get_params(deep=False)


def _order(fitted: Any) -> Array | None:
    """All (or the chosen) columns best first, from what a selector is known to leave behind."""
    for name in ("order_", "indices_"):
        if hasattr(fitted, name):
            return np.asarray(getattr(fitted, name))
    scores = getattr(fitted, "scores_", None)
    if scores is None:
        return None
    return np.argsort(-np.where(np.isnan(scores), -np.inf, np.asarray(scores, dtype=np.float64)), kind="stable")


def _measure(
    task: str,
    cell: Cell,
    name: str,
    size: int,
    train: tuple[Array, Array],
    test: tuple[Array, Array],
    report: Callable[..., None],
) -> None:
    row: dict[str, Any] = {"size": size, "model": name}
    start = time.perf_counter()
    try:
        model = clone(cell.models[name])
        if "random_state" in model.get_params(deep=False) and model.get_params(deep=False)["random_state"] is None:
            model.set_params(random_state=cell.seed)
        if task == "regression":
            model = TransformedTargetRegressor(model, transformer=StandardScaler())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(*train)
            values = {metric: float(score(model, *test)) for metric, score in cell.metrics.items()}
    except Exception as error:
        report("score", row | {"status": "failed", "reason": one_line(error)})
        return
    report("score", row | {"status": "ok", "seconds": time.perf_counter() - start, "values": values})


def one_line(error: BaseException) -> str:
    """What went wrong, on one line."""
    text = re.sub(r"\s+", " ", str(error)).strip()
    return f"{type(error).__name__}: {text}"[:400]


@dataclass
class Memory:
    """Megabytes of a process before some work, and at its peak; NaN where the system does not tell."""

    before: float = float("nan")
    peak: float = float("nan")

    @property
    def added(self) -> float:
        """How much more it was at the peak."""
        return max(0.0, self.peak - self.before)


@contextlib.contextmanager
def peak_memory() -> Iterator[Memory]:
    """Measure the memory of this process (on Linux): of itself alone, not of the one that started it."""
    found = Memory()
    before = _status("VmRSS") if _reset_peak() else None
    try:
        yield found
    finally:
        peak = _status("VmHWM")
        if before is not None and peak is not None:
            found.before, found.peak = before, peak


def _reset_peak() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status(name: str, pid: int | str = "self") -> float | None:
    """A line of the process status in megabytes."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    match = re.search(rf"^{name}:\s+(\d+) kB", text, re.MULTILINE)
    return None if match is None else int(match.group(1)) / 1024


def resident_memory(pid: int) -> float | None:
    """Memory that a process has now, in megabytes; None where the system does not tell."""
    return _status("VmRSS", pid)
