"""Pure noise: columns chosen before the split seem to predict, columns chosen inside the folds do not."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from easyfs import EasyFS

rng = np.random.default_rng(0)
X, y = rng.standard_normal((80, 1000)), np.repeat([0, 1], 40)
sizes = [2, 5, 10, 20]
folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))


def order_of(rows):
    """The columns that are chosen from some rows, best first; that they tell no more than chance is what is shown here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return EasyFS(max(sizes), random_state=0, interactions=False).fit(X[rows], y[rows]).order_


def score(columns, train, test):
    return LogisticRegression().fit(X[train][:, columns], y[train]).score(X[test][:, columns], y[test])


everything = order_of(np.arange(len(y)))
inside = [order_of(train) for train, _ in folds]
before = [np.mean([score(everything[:k], *fold) for fold in folds]) for k in sizes]
honest = [np.mean([score(order[:k], *fold) for order, fold in zip(inside, folds, strict=True)]) for k in sizes]

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(sizes, before, color="#e76f51", marker="o", label="chosen before the split")
axes.plot(sizes, honest, color="#2a6f97", marker="o", label="chosen inside the folds")
axes.axhline(0.5, color="#888888", linewidth=1, linestyle=":")
axes.text(sizes[-1], 0.505, "a coin", ha="right", va="bottom", fontsize=9, color="#777777")
axes.set(xlabel="columns chosen out of 1000 columns of noise (80 rows)", ylabel="accuracy", ylim=(0.3, 1.02), xticks=sizes)
axes.legend(frameon=False, loc="center right", bbox_to_anchor=(1, 0.62))
axes.spines[["top", "right"]].set_visible(False)
