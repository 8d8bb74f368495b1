"""The share of its gain that a column keeps once a similar one is chosen: closed form, for a target that both predict."""

import matplotlib.pyplot as plt
import numpy as np

r = np.linspace(0, 1, 200)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
for eps2, color in ((0.02, "#014f86"), (0.2, "#2a9d8f"), (1.0, "#e76f51")):
    # gain after over gain before: Z'Bx shrinks by e / (1 + e), and x'Bx is 1 - r^2 / (1 + e)
    kept = (eps2 / (1 + eps2)) ** 2 * (1 + eps2) / (1 + eps2 - r**2 / (1 + eps2))
    axes.plot(r, kept, color=color, label=f"$\\varepsilon^2$ = {eps2:g}")
axes.set(xlabel="correlation with the chosen column", ylabel="share of its gain that it keeps", ylim=(0, None), xlim=(0, 1))
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
