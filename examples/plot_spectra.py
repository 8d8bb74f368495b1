"""
Spectra: neighbours that say the same
=====================================

Which wavelengths are enough to measure a concentration, when each is nearly the same as its
neighbours?

The data are made up: spectra of 300 wavelengths in 200 samples, made of three substances. One of
them is what we want to measure; the other two are in the way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from easyfs import EasyFS, PearsonSelector

rng = np.random.default_rng(0)
wavelength = np.linspace(1000, 2500, 300)


def band(centre, width):
    return np.exp(-(((wavelength - centre) / width) ** 2))


substances = np.array([band(1450, 60) + 0.4 * band(1940, 50), band(1500, 90) + band(2100, 70), band(1900, 120)])
amounts = rng.uniform(0.2, 1.0, (200, 3))
spectra = amounts @ substances + 0.01 * rng.standard_normal((200, 300))
concentration = amounts[:, 0]

# %%
# Correlation takes ten neighbours on one slope: ten times the same message. EasyFS takes one wavelength where
# the substance absorbs, and others where it does not, to take the other two substances out.

methods = {"EasyFS": EasyFS(6, random_state=0), "correlation": PearsonSelector(6)}
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.plot(wavelength, spectra[:40].T, color="#bbbbbb", linewidth=0.4)
for (name, selector), color, height in zip(methods.items(), ("#2a6f97", "#e76f51"), (-0.1, -0.2), strict=True):
    chosen = selector.fit(spectra, concentration).get_support(indices=True)
    axes.plot(
        wavelength[chosen], np.full(len(chosen), height), "|", markersize=12, markeredgewidth=2, color=color, label=name
    )
axes.set(xlabel="wavelength (nm)", ylabel="absorbance", yticks=[0, 1])
axes.legend(frameon=False, loc="upper right")
axes.spines[["top", "right"]].set_visible(False)

# %%
# What a linear calibration makes of them, wavelengths chosen inside each fold:

for name, selector in methods.items():
    score = cross_val_score(make_pipeline(selector, LinearRegression()), spectra, concentration).mean()
    print(f"{name:12} R2 = {score:.3f}")
