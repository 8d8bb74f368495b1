"""What five chosen columns of the breast cancer data add, and which columns they stand in for.

Alone, ``python docs/figures/first_selection.py docs/images/first-selection.svg`` draws the picture of the README.
"""

import sys

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from easyfs import EasyFS

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
explanation = EasyFS(5, random_state=0).fit(X, y).explain()

figure, axes = plt.subplots(figsize=(7.2, 2.9), layout="constrained")
begin = 0.0
for place, column in enumerate(explanation.chosen):
    axes.barh(place, column.gain, left=begin, color="#2a6f97", height=0.55)
    begin += column.gain
    for_others = ", ".join(near.name for near in column.stands_for[:2])
    axes.text(begin + 0.012, place - 0.13, f"{column.gain:.0%}", va="center", fontsize=9)
    if for_others and begin < 0.6:
        axes.text(begin + 0.012, place + 0.2, f"also says: {for_others}", va="center", fontsize=7.5, color="#777777")
axes.set_yticks(range(len(explanation.chosen)), [column.name for column in explanation.chosen])
axes.invert_yaxis()
axes.set_xlim(0, 1)
axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
axes.set_xlabel("explained so far: the target, and what covers the table")
axes.spines[["top", "right"]].set_visible(False)
if __name__ == "__main__":
    figure.savefig(sys.argv[1], metadata={"Date": None})
