"""
Images: which pixels?
=====================

Which pixels of a written digit are enough to read it?

The digits of scikit-learn: 1,797 images of 8 by 8 pixels, ten classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from easyfs import EasyFS, PearsonSelector, RandomSelector

images, digit = load_digits(return_X_y=True)
train, test = slice(0, 1200), slice(1200, None)

# %%
# Twenty of the 64 pixels, by three selectors. Dots are larger for pixels that were chosen earlier.

methods = {
    "EasyFS": EasyFS(20, random_state=0),
    "correlation": PearsonSelector(20),
    "random": RandomSelector(20, random_state=0),
}
figure, panels = plt.subplots(1, 3, figsize=(7.2, 2.9), layout="constrained")
for axes, (name, selector) in zip(panels, methods.items(), strict=True):
    selector.fit(images[train], digit[train])
    chosen = selector.order_[:20]
    axes.imshow(images[train].mean(axis=0).reshape(8, 8), cmap="Greys")
    axes.scatter(chosen % 8, chosen // 8, s=np.linspace(90, 15, 20), color="#e76f51")
    model = KNeighborsClassifier().fit(images[train][:, chosen], digit[train])
    axes.set_title(f"{name}: {model.score(images[test][:, chosen], digit[test]):.0%} read", fontsize=10)
    axes.set_axis_off()

# %%
# Correlation takes pixels side by side. EasyFS spreads out, since the neighbour of a chosen pixel has little
# to add.

print(f"all 64 pixels: {KNeighborsClassifier().fit(images[train], digit[train]).score(images[test], digit[test]):.0%} read")
