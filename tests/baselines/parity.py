"""Reference numbers for the published methods, where they are at hand.

They are data, kept beside the data sets and not with the code: in the folder ``parity`` within or beside the one that
EASYFS_DATA names, or in ../shared.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def _folder() -> Path | None:
    places = [Path(__file__).resolve().parents[3] / "shared" / "parity"]
    if "EASYFS_DATA" in os.environ:
        data = Path(os.environ["EASYFS_DATA"])
        places = [data / "parity", data.parent / "parity", *places]
    return next((place for place in places if (place / "index.json").exists()), None)


FOLDER = _folder()


def load(stem: str) -> dict[str, Any]:
    """The arrays of one file; ``params`` as a dictionary."""
    assert FOLDER is not None
    with np.load(FOLDER / f"{stem}.npz", allow_pickle=False) as stored:
        found: dict[str, Any] = {name: stored[name] for name in stored.files}
    found["params"] = json.loads(str(found["params"]))
    return found


def cases(prefix: str) -> list[Any]:
    """Names of all files that start so and whose numbers can be matched exactly."""
    if FOLDER is None:
        return [pytest.param("", marks=pytest.mark.skip(reason="no reference numbers: set EASYFS_DATA"))]
    index = json.loads((FOLDER / "index.json").read_text())
    return [stem for stem, entry in sorted(index.items()) if stem.startswith(prefix) and entry["exact_parity_expected"]]
