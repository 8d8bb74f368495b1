"""The loaders of the paper's data sets, and the numbers it printed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

PAPER = Path(__file__).resolve().parents[2] / "benchmarks" / "paper"
# Rows, columns and classes (or None) as the paper has them, or as the public copy does.
SHAPES = {
    "COIL20": (1440, 1024, 20),
    "ORL": (400, 1024, 40),
    "PIE-05": (3332, 1024, 68),
    "TOX": (171, 5748, 4),
    "UMIST": (575, 1024, 20),
    "warpAR10P": (130, 2400, 10),
    "YALE": (165, 1024, 15),
    "YALEB": (2414, 1024, 38),
    "CIFAR-10": (3000, 3072, 10),
    "COIL-2000": (5822, 85, None),
    "CSD-1000R": (500, 100, None),
    "BlogFeedback": (5000, 280, None),
    "SML": (4137, 26, None),
    "SoyNAM-height": (5544, 4316, None),
    "SoyNAM-fiber": (5544, 4316, None),
    "SoyNAM-oil": (5544, 4316, None),
    "SoyNAM-protein": (5544, 4316, None),
    "Wheat599-env1": (599, 1279, None),
    "Wheat599-env4": (599, 1279, None),
}


@pytest.fixture
def datasets(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(PAPER))
    import datasets

    return datasets


def test_all_21_data_sets_of_the_paper_have_their_row(datasets: ModuleType) -> None:
    published = [data for data in datasets.DATA_SETS.values() if data.published]
    assert len(published) == 21
    assert sum(data.task == "regression" for data in published) == 12
    assert {data.name for data in published if data.file is None} == {"SVHN", "SLICE", "SoyNAM-moisture"}
    for data in datasets.DATA_SETS.values():
        assert data.file or data.note
        assert data.file is None or set(data.sizes) <= set(data.curve)


@pytest.mark.parametrize("name", SHAPES)
def test_a_data_set_has_the_shape_of_the_paper(datasets: ModuleType, name: str) -> None:
    data = datasets.get(name)
    if not data.available:
        pytest.skip(f"{name} is not in {datasets.FOLDER}: set EASYFS_DATA")
    X, y = data.load()
    rows, columns, classes = SHAPES[name]
    assert X.shape == (rows, columns)
    assert y.shape == (rows,)
    assert np.isfinite(X).all()
    if classes is not None:
        assert len(np.unique(y)) == classes
    else:
        assert y.dtype == np.float64


def test_a_missing_data_set_says_where_to_get_it(tmp_path: Path) -> None:
    code = "import datasets; datasets.get('TOX').load()"
    env = {**os.environ, "EASYFS_DATA": str(tmp_path), "PYTHONPATH": str(PAPER)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    for part in ("tox171.npz", str(tmp_path), "github.com/jundongl/scikit-feature", "EASYFS_DATA"):
        assert part in message


def test_what_cannot_be_had_says_what_stands_in(datasets: ModuleType) -> None:
    with pytest.raises(FileNotFoundError, match="SVHN: no copy to be had; CIFAR-10 stands in"):
        datasets.get("SVHN").load()
    with pytest.raises(SystemExit, match="no data set 'MNIST'; the names are COIL20"):
        datasets.get("MNIST")
