"""
A business table, as it comes
=============================

Categories, dates, missing values, an identifier: do I have to clean up first?

No. The table is made up: 2,000 customers, and whether they left.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from easyfs import EasyFS, TableToNumbers

rng = np.random.default_rng(0)
n = 2000
customers = pd.DataFrame(
    {
        "customer_id": [f"C{number:06d}" for number in rng.permutation(n)],
        "plan": rng.choice(["basic", "plus", "family", "business"], n, p=[0.5, 0.3, 0.15, 0.05]),
        "city": rng.choice(["Rome", "Paris", "Oslo", "Porto", "Graz"], n),
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 1800, n), unit="D"),
        "calls to support": rng.poisson(1.5, n),
        "monthly bill": rng.gamma(4, 10, n).round(2),
        "newsletter": rng.choice([True, False], n),
    }
)
customers["yearly bill"] = (12 * customers["monthly bill"]).round(0)
risk = 0.8 * customers["calls to support"] + 1.5 * (customers["plan"] == "basic") - 0.02 * customers["monthly bill"]
left = np.where(risk + rng.logistic(size=n) > 1.5, "left", "stayed")
customers.loc[rng.random(n) < 0.2, "monthly bill"] = None

# %%
# Fit it as it is. The identifier is set aside with a warning, which we show:

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    selector = EasyFS(random_state=0).fit(customers, left)
print(said[0].message)
print(selector.explain())

# %%
# What each chosen column adds:

names = [column.name for column in selector.explain().chosen]
figure, axes = plt.subplots(figsize=(6, 2), layout="constrained")
axes.barh(names, selector.gains_, color="#2a6f97")
axes.invert_yaxis()
axes.set_xlabel("adds to what is explained")
axes.spines[["top", "right"]].set_visible(False)

# %%
# What each column was taken for:

pd.DataFrame(
    [(column.name, column.kind, column.used_as, column.n_missing) for column in selector.columns_],
    columns=["column", "kind", "used as", "missing"],
)

# %%
# The chosen columns come back as they were: categories stay categories.

selector.transform(customers).head(3)

# %%
# A model needs numbers. ``TableToNumbers`` makes them, behind the selector in one pipeline.

model = make_pipeline(EasyFS(3, random_state=0), TableToNumbers(), LogisticRegression(max_iter=1000))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    accuracy = cross_val_score(model, customers, left).mean()
guessing = pd.Series(left).value_counts(normalize=True).max()
print(f"accuracy with 3 columns: {accuracy:.2f}; always the larger class: {guessing:.2f}")
