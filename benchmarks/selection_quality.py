"""How well a model does on the selected columns, beside random selection, on six (or any) of the paper's data sets.

Five folds, shuffled, for several fold seeds; columns are chosen inside each training fold and z-scored on it; linear SVM
for classes, RBF SVR for numbers (the target z-scored once), both with scikit-learn's defaults. Accuracy, or squared error
relative to the test fold's own mean (NMSE), averaged over folds; the spread is over fold seeds. The network's seed is the
fold seed.

The data sets are read from the folder named by EASYFS_DATA, or from ../shared/data.

    python benchmarks/selection_quality.py [--seeds 3] [--form easyfs] [--data ORL,TOX] [--set eps2=0.1]
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC, SVR

from easyfs import make_selector
from paper.datasets import DataSet, get

# What the default selection is expected to reach, at the two sizes that the paper reports.
EXPECTED = {
    "ORL": (0.940, 0.950),
    "TOX": (0.86, 0.89),
    "YALE": (0.68, 0.70),
    "warpAR10P": (0.90, 0.93),
    "CSD-1000R": (0.70, 0.66),
    "Wheat599-env1": (0.79, 0.72),
}


def score(train: np.ndarray, test: np.ndarray, y_train: np.ndarray, y_test: np.ndarray, regression: bool) -> float:
    if not regression:
        return float(SVC(kernel="linear").fit(train, y_train).score(test, y_test))
    error = SVR().fit(train, y_train).predict(test) - y_test
    return float((error**2).sum() / ((y_test - y_test.mean()) ** 2).sum())


def evaluate(data: DataSet, seeds: int, options: dict[str, object]) -> tuple[np.ndarray, float]:
    """Scores of shape (method, seed, size), EasyFS first and random selection second, and the mean time of a fit."""
    X, y = data.load()
    X, regression = X.astype(np.float64), data.task == "regression"
    y = (y - y.mean()) / y.std() if regression else y
    scores = np.zeros((2, seeds, 2))
    times = []
    for seed in range(seeds):
        folds = (KFold if regression else StratifiedKFold)(5, shuffle=True, random_state=seed)
        rng = np.random.default_rng(seed)
        for train, test in folds.split(X, y):
            center, spread = X[train].mean(axis=0), X[train].std(axis=0)
            spread[spread == 0] = 1.0
            A, B = (X[train] - center) / spread, (X[test] - center) / spread
            start = time.perf_counter()
            settings = {name: value for name, value in options.items() if name != "form"}
            selector = make_selector(str(options["form"]), max(data.sizes), task=data.task, random_state=seed, **settings)
            selector.fit(A, y[train])
            times.append(time.perf_counter() - start)
            for method, order in enumerate((selector.order_, rng.permutation(X.shape[1]))):
                for place, size in enumerate(data.sizes):
                    chosen = order[:size]
                    scores[method, seed, place] += score(A[:, chosen], B[:, chosen], y[train], y[test], regression) / 5
    return scores, float(np.mean(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--form", default="easyfs", choices=("easyfs", "easyfs_ranking"))
    parser.add_argument("--data", default=",".join(EXPECTED))
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of EasyFS, as JSON")
    args = parser.parse_args()
    changed = {name: json.loads(value) for name, value in (entry.split("=", 1) for entry in args.set)}
    options = {"form": args.form, **changed}
    print(f"{args.form}, {changed}, otherwise default parameters, {args.seeds} fold seeds: mean ± spread over seeds")
    print(f"{'':<14} {'measure':<9} {'size':>5}  {'EasyFS':>15}  {'random':>15}  {'expected':>9}  {'one fit':>8}")
    for name in args.data.split(","):
        data = get(name)
        scores, seconds = evaluate(data, args.seeds, options)
        mean, spread = scores.mean(axis=1), scores.std(axis=1)
        for place, size in enumerate(data.sizes):
            digits = 3 if mean[0, place] > 0.1 else 4
            cells = [f"{mean[method, place]:.{digits}f} ± {spread[method, place]:.{digits}f}" for method in (0, 1)]
            regression = data.task == "regression"
            bound = f"{'<=' if regression else '>='} {EXPECTED[name][place]:.3f}" if name in EXPECTED else ""
            measure = "NMSE" if regression else "accuracy"
            print(
                f"{name:<14} {measure:<9} {size:>5}  {cells[0]:>15}  {cells[1]:>15}  {bound:>9}  {seconds:>6.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
