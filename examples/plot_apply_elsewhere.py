"""
A selection applied elsewhere
=============================

How do I use a selection on another machine, next year, without a pickle?

``save_selection`` writes names, kinds and order of the chosen columns as plain JSON;
``load_selection`` applies them to any table with these columns.
"""

import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer

import easyfs

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
selector = easyfs.EasyFS(5, random_state=0).fit(X, y)

# %%
# A file that is safe to open and to read: nothing in it is run.

path = Path(tempfile.mkdtemp()) / "selection.json"
selector.save_selection(path)
print(path.read_text()[:300], "...")

# %%
# Elsewhere:

saved = easyfs.load_selection(path)
print(saved.transform(X).shape)
