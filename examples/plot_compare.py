"""
Which selector is best on my data?
==================================

Several selectors, the same folds, random selection beside them.

Wine, from scikit-learn, with 40 columns of noise added.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from easyfs.evaluation import compare

X, y = load_wine(return_X_y=True, as_frame=True)
noise = np.random.default_rng(0).standard_normal((len(X), 40))
X = pd.concat([X, pd.DataFrame(noise).add_prefix("noise ")], axis=1)

# %%
# Columns are chosen inside each training fold. Random selection always takes part: a selector that does not
# beat it has found nothing.

found = compare(["easyfs", "mrmr", "pearson", "all"], X, y, sizes=[2, 4, 8], folds=5, repeats=2)
found.scores().groupby(["selector", "size"])["accuracy"].mean().unstack().round(3)

# %%
# The same as a figure. Bands are the spread over the folds.

axes = found.plot_sizes()

# %%
# Is a difference more than luck? Wins, ties and losses against each other selector, with Wilcoxon's test; on
# one data set, take it as a hint.

for duel in found.duels("easyfs"):
    print(f"against {duel.against:8} {duel.wins} wins, {duel.ties} ties, {duel.losses} losses, p = {duel.p_holm:.2g}")
