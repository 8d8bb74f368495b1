"""A first look: ``python -m easyfs`` selects features of a data set that ships with scikit-learn."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC

from easyfs import EasyFS

N_SELECTED = 5


def main() -> None:
    """Select five of the thirty columns of the breast-cancer data and compare models with and without the selection."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=False)
    names = load_breast_cancer().feature_names
    selector = EasyFS(N_SELECTED, random_state=0).fit(X, y)
    print(f"breast cancer: {X.shape[0]} rows, {X.shape[1]} columns, {N_SELECTED} selected\n")  # noqa: T201
    print(f"  {'':>2}  {'column':<25} {'adds':>6}   said by the other four")  # noqa: T201
    for place, (column, gain) in enumerate(zip(selector.order_, selector.gains_, strict=False), start=1):
        redundancy = selector.redundancy_[column]
        print(f"  {place:>2}  {names[column]:<25} {gain:>6.1%}   {redundancy:>6.1%}  {'#' * round(40 * gain)}")  # noqa: T201

    folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=3, random_state=0)
    random_columns = np.random.default_rng(0).permutation(X.shape[1])[:N_SELECTED]
    ways = {
        f"{N_SELECTED} selected columns": EasyFS(N_SELECTED, random_state=0),
        f"{N_SELECTED} random columns": FunctionTransformer(lambda table: table[:, random_columns]),
        f"all {X.shape[1]} columns": "passthrough",
    }
    print("\naccuracy of a linear SVM, columns chosen inside each training fold (5 folds, 3 repeats):")  # noqa: T201
    for name, step in ways.items():
        scores = cross_val_score(make_pipeline(StandardScaler(), step, SVC(kernel="linear")), X, y, cv=folds)
        print(f"  {name:<20} {scores.mean():.3f} ± {scores.std():.3f}")  # noqa: T201


if __name__ == "__main__":
    main()
