"""A table of Spark Connect: the same calls as of a classic session, in a process of its own, with a server of its own."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
import numpy as np
import pandas as pd
from pyspark.sql import SparkSession

from easyfs import EasyFS, EasyFSRanking

rng = np.random.default_rng(0)
frame = pd.DataFrame(rng.standard_normal((3000, 6)), columns=[f"x{j}" for j in range(6)])
frame["label"] = np.where(frame.x1 + frame.x2 + 0.3 * rng.standard_normal(3000) > 0, "up", "down")
session = SparkSession.builder.remote("local[2]").getOrCreate()
table = session.createDataFrame(frame)
assert "connect" in type(table).__module__
for form in (EasyFS, EasyFSRanking):
    found, wanted = (form(2, random_state=0).fit(given, "label") for given in (table, frame))
    assert found.order_.tolist() == wanted.order_.tolist()
    np.testing.assert_allclose(found.gains_, wanted.gains_, atol=1e-12)
chosen = found.transform(table)
assert chosen.columns == wanted.get_feature_names_out().tolist()
assert chosen.count() == 3000
try:
    EasyFS().fit(table, "lable")
except ValueError as error:
    assert "lable" in str(error)
session.stop()
print("the same")
"""


def test_a_table_of_spark_connect() -> None:
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.endswith("the same\n"), done.stderr[-2000:]
