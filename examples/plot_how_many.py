"""
How many columns?
=================

Ten? Fifty? As many as matter, or as many as a model likes?

The data are made up so that we know: 3 strong columns, 40 weak ones and 157 of noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from easyfs import EasyFS

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 200))
y = 2 * X[:, :3].sum(axis=1) + 0.4 * X[:, 3:43].sum(axis=1) + rng.standard_normal(400)

# %%
# ``"auto"`` takes columns that each tell more than chance, and hardly ever a wrong one. ``"cv"`` takes as
# many as help a linear model: nearly all of the weak ones, and a few that are noise.

selectors = {ask: EasyFS(ask, random_state=0).fit(X, y) for ask in ("auto", "cv")}
for ask, selector in selectors.items():
    true = np.sum(selector.get_support(indices=True) < 43)
    print(f"{ask!r:7} takes {selector.n_features_} columns, {true} of them true")

# %%
# The curve behind ``"cv"``: what the first columns explain in rows that were left out. It rises steeply, then
# slowly, then no more.

curve = selectors["cv"].cv_results_
figure, axes = plt.subplots(figsize=(6.5, 3), layout="constrained")
axes.plot(curve["n_features"], curve["mean_test_score"], color="#2a6f97")
for height, (ask, selector) in zip((0.3, 0.45), selectors.items(), strict=True):
    axes.axvline(selector.n_features_, color="#e76f51", linewidth=1)
    axes.text(selector.n_features_ + 1, height, f'"{ask}"', color="#c8553d")
axes.set(xlabel="columns", ylabel="explained in rows left out", xlim=(0, 100))
axes.spines[["top", "right"]].set_visible(False)

# %%
# With a fixed number the p-values say where chance begins, and ``truncate`` changes the number without
# another fit.

fixed = EasyFS(30, random_state=0).fit(X, y)
print(f"{fixed.beyond_chance_.sum()} of 30 tell more than chance")
print("the first five:", fixed.truncate(5).get_support(indices=True))
