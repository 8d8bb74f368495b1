"""
A confounder taken out
======================

What if the columns tell the batch rather than the illness?

The data are made up: 300 samples measured in three batches. Most of the ill are in the third batch,
and fifty columns shift with the batch. Two columns tell the illness itself.
"""

import numpy as np
import pandas as pd

from easyfs import EasyFS

rng = np.random.default_rng(0)
n = 300
batch = rng.integers(0, 3, n)
ill = rng.random(n) < np.array([0.2, 0.4, 0.8])[batch]
X = rng.standard_normal((n, 100))
X[:, :50] += batch[:, None]
X[:, 60] += 0.9 * ill
X[:, 61] += 0.7 * ill
table = pd.DataFrame(X).add_prefix("x").assign(batch=np.array(["A", "B", "C"])[batch])

# %%
# Without a word about the batch, columns that shift with it look good: they tell where a sample was measured.

print(list(EasyFS(4, exclude=["batch"], random_state=0).fit(table, ill).get_feature_names_out()))

# %%
# ``adjust_for`` asks another question: what does a column tell of the illness *beyond* the batch?

selector = EasyFS(adjust_for=["batch"], random_state=0).fit(table, ill)
print(list(selector.get_feature_names_out()))
