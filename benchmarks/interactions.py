"""Columns that matter only together: how many of them are found, over ten seeds, 1000 rows of standard normal columns.

Recall is the share of the true columns among as many first columns of the order. Beside EasyFS: EasyFS without
enhancement nodes, random selection, the
correlation with the target, mutual information and a random forest's importances.

    python benchmarks/interactions.py [--seeds 10]
"""

# ruff: noqa: ARG005

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import f_regression, mutual_info_regression

from easyfs import EasyFS

Problem = Callable[[np.ndarray, np.random.Generator], np.ndarray]

PROBLEMS: dict[str, tuple[int, int, Problem]] = {
    "sign(x1 x2), 50 columns": (50, 2, lambda X, rng: np.sign(X[:, 0] * X[:, 1])),
    "sign(x1 x2), 500 columns": (500, 2, lambda X, rng: np.sign(X[:, 0] * X[:, 1])),
    "x1 x2 + x3 x4 + noise, 100": (
        100,
        4,
        lambda X, rng: X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + rng.standard_normal(len(X)),
    ),
    "x0 + x1 x2 + noise, 100": (100, 3, lambda X, rng: X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(len(X))),
}

METHODS: dict[str, Callable[[np.ndarray, np.ndarray, int, int], np.ndarray]] = {
    "EasyFS": lambda X, y, k, seed: EasyFS(k, random_state=seed).fit(X, y).order_,
    "no nodes": lambda X, y, k, seed: EasyFS(k, n_enhancement=0, random_state=seed).fit(X, y).order_,
    "random": lambda X, y, k, seed: np.random.default_rng(seed).permutation(X.shape[1]),
    "correlation": lambda X, y, k, seed: np.argsort(-f_regression(X, y)[0]),
    "mutual inf.": lambda X, y, k, seed: np.argsort(-mutual_info_regression(X, y, random_state=seed)),
    "forest": lambda X, y, k, seed: np.argsort(
        -RandomForestRegressor(random_state=seed, n_jobs=2).fit(X, y).feature_importances_
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    args = parser.parse_args()
    print(f"recall, mean over {args.seeds} seeds (in brackets: seeds in which all were found)")
    print(f"{'':<28}" + "".join(f"{name:>14}" for name in METHODS))
    for name, (d, k, make) in PROBLEMS.items():
        cells = []
        for method in METHODS.values():
            recalls = []
            for seed in range(args.seeds):
                rng = np.random.default_rng(seed)
                X = rng.standard_normal((1000, d))
                y = make(X, rng)
                recalls.append(np.isin(method(X, y, k, seed)[:k], np.arange(k)).mean())
            cells.append(f"{np.mean(recalls):.2f} ({sum(r == 1.0 for r in recalls)})")
        print(f"{name:<28}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
