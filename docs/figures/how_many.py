"""The curve of cross-validation on the breast cancer data, and where "auto" and "cv" stop."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from easyfs import EasyFS

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
by_cv = EasyFS("cv", random_state=0).fit(X, y)
auto = EasyFS("auto", random_state=0).fit(X, y).n_features_
sizes, mean = by_cv.cv_results_["n_features"], by_cv.cv_results_["mean_test_score"]
error = by_cv.cv_results_["std_test_score"] / 5**0.5

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.fill_between(sizes, mean - error, mean + error, color="#2a6f97", alpha=0.2, linewidth=0)
axes.plot(sizes, mean, color="#2a6f97", marker=".")
for name, count, height in (('"cv"', by_cv.n_features_, 0.12), ('"auto"', auto, 0.24)):
    axes.axvline(count, color="#e76f51", linewidth=1)
    axes.text(count + 0.3, mean.min() + height * (mean.max() - mean.min()), f"{name} takes {count}", color="#c8553d")
axes.set(xlabel="columns", ylabel="explained in rows left out", xlim=(0.5, len(sizes) + 0.5))
axes.spines[["top", "right"]].set_visible(False)
