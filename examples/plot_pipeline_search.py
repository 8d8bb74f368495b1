"""
A pipeline with a search
========================

How do I tune the number of columns together with the model?

A selector is a step like any other: ``GridSearchCV`` sets its parameters by name. Diabetes, from
scikit-learn, with 30 columns of noise.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from easyfs import EasyFS

X, y = load_diabetes(return_X_y=True, as_frame=True)
noise = np.random.default_rng(0).standard_normal((len(X), 30))
X = pd.concat([X, pd.DataFrame(noise).add_prefix("noise ")], axis=1)

# %%
# The selector learns from the training rows of each fold alone, since it is inside the pipeline.

pipeline = Pipeline([("select", EasyFS(random_state=0)), ("scale", StandardScaler()), ("model", KNeighborsRegressor())])
folds = KFold(4, shuffle=True, random_state=0)
search = GridSearchCV(pipeline, {"select__n_features_to_select": [2, 4, 8], "model__n_neighbors": [10, 30]}, cv=folds)
search.fit(X, y)
print(search.best_params_)

# %%
# The score over the number of columns, for both models:

results = pd.DataFrame(search.cv_results_)
figure, axes = plt.subplots(figsize=(6, 2.6), layout="constrained")
for neighbours, rows in results.groupby("param_model__n_neighbors"):
    counts = rows["param_select__n_features_to_select"].astype(int)
    axes.plot(counts, rows["mean_test_score"], marker="o", label=f"{neighbours} neighbours")
axes.set(xlabel="columns", ylabel="R2 in the folds", xticks=sorted(counts))
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)

# %%
# What the columns are worth to this model:

without = Pipeline([("scale", StandardScaler()), ("model", KNeighborsRegressor(30))])
with_all = cross_val_score(without, X, y, cv=folds).mean()
print(f"chosen columns: R2 = {search.best_score_:.2f}; all columns: R2 = {with_all:.2f}")

# %%
# The columns themselves:

print(list(search.best_estimator_["select"].get_feature_names_out()))

# %%
# The score of a search is a little too good, as the best of several is chosen by it. Cross-validate the
# search itself to report a score.
