"""
A file larger than memory
=========================

What if the table does not fit?

``easyfs.scan`` reads files batch by batch and gives the answer of a table in memory. To run in
seconds, this example has small files; the code is the same for large ones.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import easyfs

# %%
# A folder of Parquet files, as another program might have left it: one for each month.

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
for month in range(1, 7):
    readings = rng.standard_normal((5000, 40)).astype("float32")
    power = 2 * readings[:, 4] - readings[:, 9] + rng.standard_normal(5000)
    columns = {f"sensor {j}": readings[:, j] for j in range(40)} | {"power": power}
    pl.DataFrame(columns).write_parquet(folder / f"month-{month}.parquet")

# %%
# All files as one table. Nothing is read yet but the names of the columns.

table = easyfs.scan(folder)
print(table)

# %%
# The target is named, since it is a column of the files. The rows are read twice; only sums and a sample stay
# in memory.

selector = easyfs.EasyFS(random_state=0).fit(table, "power")
print(list(selector.get_feature_names_out()), "of", selector.n_rows_, "rows")

# %%
# What each of the first columns adds; the other sensors tell no more than chance.

first = [table.names[j] for j in selector.order_[:6]]
figure, axes = plt.subplots(figsize=(6, 2.2), layout="constrained")
axes.barh(first, selector.scores_[selector.order_[:6]], color=["#2a6f97"] * selector.n_features_ + ["#b7b7b7"] * 6)
axes.invert_yaxis()
axes.set_xlabel("adds, or would add (grey: not chosen)")
axes.spines[["top", "right"]].set_visible(False)

# %%
# The same table in memory, and the same answer:

whole = pl.read_parquet(folder / "*.parquet")
print(list(easyfs.EasyFS(random_state=0).fit(whole, "power").get_feature_names_out()))

# %%
# ``transform`` of such a table is lazy, too: ``collect`` reads the chosen columns, and no others.

print(selector.transform(table).collect().shape)

# %%
# Rows that come day by day go through ``partial_fit``; selectors that saw different rows are added up by
# ``merge``.

stream = easyfs.EasyFS(2, random_state=0)
for file in sorted(folder.glob("*.parquet")):
    month = pl.read_parquet(file)
    stream.partial_fit(month.drop("power"), month["power"])
print(list(stream.get_feature_names_out()))
