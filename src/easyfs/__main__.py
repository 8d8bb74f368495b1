"""A first look: ``python -m easyfs`` selects features of a data set that ships with scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from easyfs import EasyFS

N_SELECTED = 5


def main() -> None:
    """Select five of the thirty columns of the breast-cancer data, and see how well a model does on them."""
    data = load_breast_cancer()
    X, y, names = data.data, data.target, data.feature_names
    selector = EasyFS(N_SELECTED, random_state=0).fit(X, y)
    print(f"breast cancer: {X.shape[0]} rows, {X.shape[1]} columns, {N_SELECTED} selected\n")  # noqa: T201
    print(f"  {'':>2}  {'column':<25} {'adds':>6}   said by the other four")  # noqa: T201
    for place, (column, gain) in enumerate(zip(selector.order_, selector.gains_, strict=False), start=1):
        redundancy = selector.redundancy_[column]
        print(f"  {place:>2}  {names[column]:<25} {gain:>6.1%}   {redundancy:>6.1%}  {'#' * round(40 * gain)}")  # noqa: T201

    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    rng = np.random.default_rng(0)
    ways = {
        f"{N_SELECTED} selected columns": lambda train: EasyFS(N_SELECTED, random_state=0).fit(X[train], y[train]).order_,
        f"{N_SELECTED} random columns": lambda _: rng.permutation(X.shape[1]),
        f"all {X.shape[1]} columns": None,
    }
    print("\naccuracy of a linear SVM, columns chosen inside each training fold (5 folds, 3 repeats):")  # noqa: T201
    for name, choose in ways.items():
        scores = []
        for train, test in folds.split(X, y):
            columns = np.arange(X.shape[1]) if choose is None else choose(train)[:N_SELECTED]
            model = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(X[train][:, columns], y[train])
            scores.append(model.score(X[test][:, columns], y[test]))
        print(f"  {name:<20} {np.mean(scores):.3f} ± {np.std(scores):.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
