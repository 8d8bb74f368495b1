"""What the benchmarks share: seeds of the two halves, results kept line by line, one fit, and cells of a page."""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import easyfs
from easyfs import make_selector
from easyfs.evaluation.provenance import code_of
from keeping import Row, keep, made_with, rewrite, rows_of
from paper.methods import FastCanSelector
from problems import Table

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent / "docs" / "results"
FIRST_SEED = {"development": 0, "held-out": 1000}
HALVES = tuple(FIRST_SEED)

# Name of a method: name in the library (or fastcan's), and settings that are not the defaults.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "EasyFS": ("easyfs", {}),
    "EasyFS auto": ("easyfs", {}),
    "EasyFS singles": ("easyfs", {"interactions": False, "n_enhancement": 0}),
    "forest": ("random_forest", {}),
    "XGBoost": ("xgboost", {}),
    "XGBoost total": ("xgboost", {"importance": "total_gain"}),
    "ReliefF": ("relieff", {}),
    "mutual inf.": ("mutual_information", {}),
    "lasso": ("lasso", {}),
    "lasso auto": ("lasso", {}),
    "mRMR": ("mrmr", {}),
    "fastcan": ("fastcan", {}),
    "correlation": ("pearson", {}),
    "random": ("random", {}),
}


def seeds(half: str, count: int) -> range:
    """The seeds of a half: the held-out ones are not looked at while the library is changed."""
    return range(FIRST_SEED[half], FIRST_SEED[half] + count)


class Results:
    """Results in a file of JSON lines, of which a rerun makes only what is missing.

    Those of another version do not count. Those of EasyFS do not, either, if its code was another, or if it failed.
    """

    def __init__(self, name: str, key: tuple[str, ...]):
        self.name, self.key = name, key
        self.rows: dict[tuple[Any, ...], Row] = {tuple(row[part] for part in key): row for row in rows_of(name)}
        self.code = code_of(make_selector("easyfs"))

    def has(self, **cell: Any) -> bool:
        """Whether there is a result for this."""
        row = self.rows.get(tuple(cell[part] for part in self.key))
        if row is None or row["version"] != easyfs.__version__:
            return False
        return not row["method"].startswith("EasyFS") or (row.get("code") == self.code and "error" not in row)

    def first(self, **cell: Any) -> Row | None:
        """The first result of these."""
        return next((row for row in self.rows.values() if all(row[part] == value for part, value in cell.items())), None)

    def is_slow(self, limit: float, **cell: Any) -> bool:
        """Whether the first of these fits took longer than the limit."""
        row = self.first(**cell)
        return row is not None and row["seconds"] > limit

    def add(self, row: Row) -> None:
        """Keep a result."""
        of_easyfs = row["method"].startswith("EasyFS")
        row = keep(self.name, **row, **({"code": self.code} if of_easyfs else {}))
        self.rows[tuple(row[part] for part in self.key)] = row

    def tidy(self) -> None:
        """Leave out of the file what was made anew."""
        rewrite(self.name, self.rows.values())

    def made_with(self) -> list[str]:
        """With what the results were made, as lines of a page."""
        own = [row for row in self.rows.values() if row["method"].startswith("EasyFS")]
        others = [row for row in self.rows.values() if not row["method"].startswith("EasyFS")]
        return [*(f"EasyFS: {line}" for line in made_with(own)), "", *(f"Others: {line}" for line in made_with(others)), ""]


def indicators(X: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """A table of categories as columns of 0 and 1, and which column each is of."""
    parts = [pd.get_dummies(X[name], drop_first=True, dtype=float).to_numpy() for name in X.columns]
    return np.hstack(parts), np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])


def run(method: str, table: Table, count: Any, seed: int, threads: int = 1) -> tuple[Any, Row]:
    """Fit a method; the fitted selector (None where it failed), and the columns it chose, seconds, and what went wrong."""
    name, settings = METHODS[method]
    X, source = table.X, None
    if name == "fastcan":
        selector = FastCanSelector()
        if isinstance(X, pd.DataFrame):
            X, source = indicators(X)
    else:
        selector = make_selector(name)
    told = {
        "n_features_to_select": count if source is None else X.shape[1],
        "task": table.task,
        "random_state": seed,
        "n_jobs": threads,
        **settings,
    }
    selector.set_params(**{part: value for part, value in told.items() if part in selector.get_params()})
    weights = {} if table.weight is None else {"sample_weight": table.weight}
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            selector.fit(X, table.y, **weights)
            order = selector.order_ if source is None else pd.unique(source[selector.order_])
            chosen = order[: getattr(selector, "n_features_", count)]
    except Exception as error:  # a method that fails on a table has not found its columns, and the page says so
        wrong = f"{type(error).__name__}: {error}".splitlines()[0][:120]
        return None, {"chosen": [], "seconds": round(time.perf_counter() - start, 3), "error": wrong}
    return selector, {"chosen": np.asarray(chosen).tolist(), "seconds": round(time.perf_counter() - start, 3)}


def interactions(selector: Any, names: Iterable[Any] | None = None) -> list[list[int]] | None:
    """Positions of the columns of each interaction that the selector names; None where it does not speak of them."""
    found = getattr(selector, "interactions_", None)
    if found is None:
        return None
    place = {} if names is None else {name: j for j, name in enumerate(names)}
    return [[place[c] if c in place else int(str(c).removeprefix("x")) for c in one.columns] for one in found]


def beyond_chance(selector: Any) -> list[bool] | None:
    """Of each chosen column, whether the selector says that it is beyond chance; None where it does not say."""
    found = getattr(selector, "beyond_chance_", None)
    return None if found is None else [bool(one) for one in found]


def bold(values: list[float | None], digits: int = 2) -> list[str]:
    """Cells of a row of the page, the best in bold; a dash for what was not measured."""
    best = max((round(v, digits) for v in values if v is not None), default=0.0)
    shown = [None if v is None else f"{v:.{digits}f}" for v in values]
    return ["—" if s is None else f"**{s}**" if float(s) == best > 0 else s for s in shown]


def table_head(cells: list[str]) -> list[str]:
    """First two lines of a table."""
    return [f"| {' | '.join(cells)} |", "|---" * len(cells) + "|"]


def options(description: str | None, page: str) -> argparse.ArgumentParser:
    """Options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", default=",".join(HALVES), help="development, held-out or both (the default)")
    parser.add_argument("--threads", type=int, default=1, help="for forest and XGBoost")
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--out", type=Path, default=PAGES / page, help="where the page goes")
    return parser


def write(page: str, path: Path) -> None:
    """Write a page all at once."""
    draft = path.with_suffix(".part")
    draft.write_text(page, encoding="utf-8")
    os.replace(draft, path)
