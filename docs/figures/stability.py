"""How often columns of the breast cancer data come up when five are chosen on random halves of the rows."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from easyfs import EasyFS
from easyfs.evaluation import stability_selection

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
found = stability_selection(EasyFS(5, random_state=0), X, y, n_runs=20, random_state=0)
first = np.argsort(-found.frequency, kind="stable")[:12]

figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
axes.barh(range(len(first)), found.frequency[first], color="#2a6f97", height=0.6)
axes.axvline(found.threshold, color="#e76f51", linewidth=1)
axes.set_yticks(range(len(first)), X.columns[first])
axes.invert_yaxis()
axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
axes.set(xlabel=f"chosen in this share of {found.n_runs} random halves of the rows", xlim=(0, 1))
axes.spines[["top", "right"]].set_visible(False)
