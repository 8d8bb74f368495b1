"""
Genes: two hundred rows, five thousand columns
==============================================

Which genes tell ill from healthy, when there are far more genes than patients?

The data are made up: 5,000 genes in 200 patients. Three genes matter, and each of them drives ten
others that follow it, as genes of one pathway do.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from easyfs import EasyFS, PearsonSelector

rng = np.random.default_rng(0)
expression = rng.standard_normal((200, 5000))
for gene in range(3):
    followers = slice(10 + 10 * gene, 20 + 10 * gene)
    expression[:, followers] = 0.8 * expression[:, [gene]] + 0.6 * expression[:, followers]
burden = 3 * expression[:, 0] + 2 * expression[:, 1] + 2 * expression[:, 2]
ill = np.where(burden + rng.standard_normal(200) > 0, "ill", "healthy")
names = [f"driver {g}" for g in range(3)] + [f"gene {g}" for g in range(3, 10)]
names += [f"follows driver {g // 10}" + f" ({g % 10})" for g in range(30)] + [f"gene {g}" for g in range(40, 5000)]
table = pd.DataFrame(expression, columns=names)

# %%
# Correlation, gene by gene, takes the followers of the strongest driver: they are related to the illness, but
# say nothing new.

print(list(PearsonSelector(5).fit(table, ill).get_feature_names_out()))

# %%
# EasyFS asks what each gene adds to those already chosen.

selector = EasyFS(5, random_state=0).fit(table, ill)
print(selector.explain())

# %%
# With so many columns, chance is strong: the best of 5,000 unrelated genes looks related, too. The p-values
# count that in: grey bars are no more than chance. ``"auto"`` takes the others alone.

figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
chosen = [table.columns[j] for j in selector.order_[:5]]
colors = ["#2a6f97" if beyond else "#b7b7b7" for beyond in selector.beyond_chance_]
axes.barh(chosen, selector.gains_, color=colors)
axes.invert_yaxis()
axes.set_xlabel("adds (grey: no more than chance)")
axes.spines[["top", "right"]].set_visible(False)

# %%
# If a driver cannot be measured, which gene could take its place? A chosen column says what it stands in for.

for column in selector.explain().chosen[:3]:
    print(column.name, "<-", [near.name for near in column.stands_for][:4])
