"""What the best of several unrelated columns explains of a target of 100 rows."""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(0)
n, draws = 100, 2000
# The squared correlation of an unrelated normal column follows this beta law; the best is the largest of several.
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for columns, color in ((1, "#2a9d8f"), (30, "#014f86"), (1000, "#e76f51")):
    best = rng.beta(0.5, (n - 2) / 2, (draws, columns)).max(axis=1)
    label = "one column" if columns == 1 else f"best of {columns}"
    axes.hist(best, bins=np.linspace(0, 0.3, 90), density=True, histtype="stepfilled", alpha=0.55, color=color, label=label)
axes.set(xlabel="share of the target explained, by chance alone (100 rows)", yticks=[], ylim=(0, 45), xlim=(0, 0.3))
axes.legend(frameon=False)
axes.spines[["top", "right", "left"]].set_visible(False)
