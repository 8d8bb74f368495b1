"""Columns that matter only together: how many of them each method finds among columns of noise.

    python benchmarks/interactions.py [--columns 50,500,2000,20000] [--methods EasyFS,forest] [--page]

1000 rows. Recall is the share of the true columns among as many first columns of the order; random selection is in the
field. Every result is kept in benchmarks/raw/interactions.jsonl, and a rerun does only what is missing. Beyond 2000 columns
there are fewer seeds, and methods that take minutes there are left out. Writes docs/results/interactions.md.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from easyfs import make_selector

HERE = Path(__file__).resolve().parent
RAW = HERE / "raw" / "interactions.jsonl"
PAGE = HERE.parent / "docs" / "results" / "interactions.md"
ROWS = 1000
SEEDS = {50: 10, 500: 10, 2000: 5, 20000: 3}

Array = np.ndarray
Draw = Callable[[np.random.Generator, int], Array]


def normal(rng: np.random.Generator, d: int) -> Array:
    """Columns of a standard normal distribution."""
    return rng.standard_normal((ROWS, d))


def uniform(rng: np.random.Generator, d: int) -> Array:
    """Columns between 0 and 1."""
    return rng.random((ROWS, d))


def markers(rng: np.random.Generator, d: int) -> Array:
    """Gene markers: 0, 1 or 2 copies, with a frequency of the rarer letter between a fifth and a half."""
    return rng.binomial(2, rng.uniform(0.2, 0.5, d), (ROWS, d)).astype(float)


def friedman2(x: Array) -> Array:
    """Friedman's second function, of an alternating current: four columns between 0 and 1."""
    a, b, c, e = 100 * x[0], np.pi * (40 + 520 * x[1]), x[2], 1 + 10 * x[3]
    return np.asarray(np.sqrt(a**2 + (b * c - 1 / (b * e)) ** 2))


def friedman3(x: Array) -> Array:
    """Friedman's third function."""
    a, b, c, e = 100 * x[0] + 1e-9, np.pi * (40 + 520 * x[1]), x[2], 1 + 10 * x[3]
    return np.asarray(np.arctan((b * c - 1 / (b * e)) / a))


def by_chance(share: Array, noise: Array) -> Array:
    """A class that comes with these probabilities; ``noise`` is standard normal."""
    from scipy.stats import norm  # noqa: PLC0415

    return (norm.cdf(noise) < share).astype(int)


@dataclass(frozen=True)
class Problem:
    """A target made of the first ``k`` columns ``x`` and standard normal noise ``e``."""

    k: int
    make: Callable[[Array, Array], Array]
    draw: Draw = normal
    task: str = "regression"


PENETRANCE = np.array([[0.1, 0.5, 0.9], [0.5, 0.5, 0.5], [0.9, 0.5, 0.1]])
CLASSES = "classification"
PROBLEMS = {
    "sign(x1 x2)": Problem(2, lambda x, e: np.sign(x[0] * x[1]), task=CLASSES),  # noqa: ARG005
    "x1 x2 + e": Problem(2, lambda x, e: x[0] * x[1] + e),
    "x1 x2 + x3 x4 + e": Problem(4, lambda x, e: x[0] * x[1] + x[2] * x[3] + e),
    "x1^2 + x2^2 + e": Problem(2, lambda x, e: x[0] ** 2 + x[1] ** 2 + e),
    "abs(x1) > 0.7": Problem(1, lambda x, e: (np.abs(x[0]) > 0.7).astype(int), task=CLASSES),  # noqa: ARG005
    "x1 > 0.3 and x2 > 0.3": Problem(2, lambda x, e: ((x[0] > 0.3) & (x[1] > 0.3)).astype(int), task=CLASSES),  # noqa: ARG005
    "5 x1 + x2 x3 + e": Problem(3, lambda x, e: 5 * x[0] + x[1] * x[2] + e),
    "3 (x1 + x2 + x3) + x4 x5 + e": Problem(5, lambda x, e: 3 * (x[0] + x[1] + x[2]) + x[3] * x[4] + e),
    "Friedman 1": Problem(
        5,
        lambda x, e: 10 * np.sin(np.pi * x[0] * x[1]) + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4] + e,
        uniform,
    ),
    "Friedman 2": Problem(4, lambda x, e: friedman2(x) + 50 * e, uniform),
    "Friedman 3": Problem(4, lambda x, e: friedman3(x) + 0.1 * e, uniform),
    "x1 > 0: sign(x2 x3), else sign(x4 x5)": Problem(
        5,
        lambda x, e: np.where(x[0] > 0, np.sign(x[1] * x[2]), np.sign(x[3] * x[4])),  # noqa: ARG005
        task=CLASSES,
    ),
    "markers: one of two mixed": Problem(
        2, lambda x, e: by_chance(np.where((x[0] == 1) ^ (x[1] == 1), 0.8, 0.2), e), markers, CLASSES
    ),
    "markers: like with unlike": Problem(
        2, lambda x, e: by_chance(PENETRANCE[x[0].astype(int), x[1].astype(int)], e), markers, CLASSES
    ),
    "x1 x2 x3 + e/2": Problem(3, lambda x, e: x[0] * x[1] * x[2] + 0.5 * e),
    "sign(x1 x2 x3)": Problem(3, lambda x, e: np.sign(x[0] * x[1] * x[2]), task=CLASSES),  # noqa: ARG005
}

METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "EasyFS": ("easyfs", {}),
    "no nodes": ("easyfs", {"n_enhancement": 0}),
    "forest": ("random_forest", {"n_jobs": 2}),
    "XGBoost": ("xgboost", {}),
    "ReliefF": ("relieff", {}),
    "mutual inf.": ("mutual_information", {}),
    "correlation": ("pearson", {}),
    "random": ("random", {}),
}
# Methods that are left out beyond 2000 columns, as one fit takes minutes.
SLOW = ("forest", "mutual inf.")


def cells(columns: list[int], methods: list[str]) -> Iterator[tuple[str, int, int, str]]:
    """Problem, columns, seed and method of each result."""
    for d in columns:
        for problem in PROBLEMS:
            for seed in range(SEEDS[d]):
                for method in methods:
                    if d <= 2000 or method not in SLOW:
                        yield problem, d, seed, method


def measure(name: str, d: int, seed: int, method: str) -> dict[str, Any]:
    """Recall of one method on one table."""
    problem = PROBLEMS[name]
    rng = np.random.default_rng(seed)
    X = problem.draw(rng, d)
    y = problem.make(X[:, : problem.k].T, rng.standard_normal(ROWS))
    kind, settings = METHODS[method]
    selector = make_selector(kind, **settings)
    told = {"n_features_to_select": problem.k, "task": problem.task, "random_state": seed}
    selector.set_params(**{name: value for name, value in told.items() if name in selector.get_params()})
    X = X.astype(np.float32)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        order = selector.fit(X, y).order_
    seconds = time.perf_counter() - start
    recall = float(np.isin(order[: problem.k], np.arange(problem.k)).mean())
    return {"problem": name, "columns": d, "seed": seed, "method": method, "recall": recall, "seconds": round(seconds, 3)}


def known() -> dict[tuple[Any, ...], dict[str, Any]]:
    """The results so far."""
    rows = [json.loads(line) for line in RAW.open()] if RAW.exists() else []
    return {(row["problem"], row["columns"], row["seed"], row["method"]): row for row in rows}


def page() -> str:
    """The page, one table for each number of columns."""
    found = known()
    lines = [
        "# Columns that matter only together",
        "",
        f"Share of the true columns that come first, mean over seeds; {ROWS} rows; e is standard normal noise. Settings",
        "are the defaults. A dash, or no column: not measured, as a fit takes many seconds there. In brackets under each",
        "table: median seconds of a fit, other work beside it. Made by `benchmarks/interactions.py`; every result is in",
        "`benchmarks/raw/interactions.jsonl`.",
        "",
    ]
    for d in sorted({row["columns"] for row in found.values()}):
        rows = [row for row in found.values() if row["columns"] == d]
        methods = [m for m in METHODS if any(row["method"] == m for row in rows)]
        lines += [
            f"## {d} columns, {SEEDS[d]} seeds",
            "",
            f"| target | {' | '.join(methods)} |",
            "|---|" + "---|" * len(methods),
        ]
        for problem in PROBLEMS:
            values = []
            for method in methods:
                recalls = [r["recall"] for r in rows if r["problem"] == problem and r["method"] == method]
                values.append(f"{np.mean(recalls):.2f}" if len(recalls) == SEEDS[d] else "—")
            best = max((float(v) for v in values if v != "—"), default=0.0)
            values = [f"**{v}**" if v != "—" and float(v) == best > 0 else v for v in values]
            lines.append(f"| {problem} | {' | '.join(values)} |")
        recalls = [[r["recall"] for r in rows if r["method"] == method] for method in methods]
        whole = len(PROBLEMS) * SEEDS[d]
        lines.append(f"| mean | {' | '.join(f'{np.mean(r):.2f}' if len(r) == whole else '—' for r in recalls)} |")
        times = [f"{m} {np.median([r['seconds'] for r in rows if r['method'] == m]):.2g}" for m in methods]
        lines += ["", f"({', '.join(times)} s)", ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", default=",".join(map(str, SEEDS)))
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--page", action="store_true", help="only write the page")
    args = parser.parse_args()
    RAW.parent.mkdir(exist_ok=True)
    done = known()
    with RAW.open("a") as stream:
        for cell in [] if args.page else cells([int(d) for d in args.columns.split(",")], args.methods.split(",")):
            if cell not in done:
                stream.write(json.dumps(measure(*cell)) + "\n")
                stream.flush()
    draft = PAGE.with_suffix(".part")
    draft.write_text(page(), encoding="utf-8")
    os.replace(draft, PAGE)


if __name__ == "__main__":
    main()
