"""The first elastic functions of a column: cosines of its ranks."""

import matplotlib.pyplot as plt
import numpy as np

u = np.linspace(0, 1, 300)
figure, panels = plt.subplots(1, 4, figsize=(7.2, 1.7), sharey=True, layout="constrained")
for k, axes in enumerate(panels, start=1):
    axes.plot(u, np.sqrt(2) * np.cos(np.pi * k * u), color="#2a6f97")
    axes.axhline(0, color="#aaaaaa", linewidth=0.7)
    axes.set(title=f"k = {k}", xlabel="rank", xticks=[0, 1], yticks=[])
    axes.spines[["top", "right", "left"]].set_visible(False)
