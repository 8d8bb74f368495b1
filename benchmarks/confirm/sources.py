"""Public packages that hold tables, and how the tables are read out of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

PACKAGES = Path(os.environ.get("EASYFS_PACKAGES", Path(__file__).resolve().parent / "packages"))

Columns = dict[str, Any]


def read(sources: dict[str, dict[str, str]], about: dict[str, Any]) -> tuple[Columns, Any]:
    """Columns by name, in the order of the source, and the target."""
    source = sources[about["source"]]
    package = unpacked(about["source"], source["kind"], source["version"])
    path = package / source["path"].format(item=about["item"])
    if not path.exists():
        raise FileNotFoundError(f"there is no {path.relative_to(package)} in {about['source']} {source['version']}.")
    return READERS[source["reader"]](path, about)


@cache
def unpacked(package: str, kind: str, version: str) -> Path:
    """A folder with what is in a package, which is fetched if it is not there."""
    folder = PACKAGES / "unpacked" / f"{package}-{version}"
    if folder.exists():
        return folder
    PACKAGES.mkdir(parents=True, exist_ok=True)
    file = _file(package, kind, version) or _fetch(package, kind, version)
    draft = Path(tempfile.mkdtemp(dir=PACKAGES))
    if kind == "pypi":
        with zipfile.ZipFile(file) as wheel:
            wheel.extractall(draft)
    else:
        subprocess.run(["dpkg", "-x", str(file), str(draft)], check=True)
    folder.parent.mkdir(exist_ok=True)
    os.replace(draft, folder)
    return folder


def _file(package: str, kind: str, version: str) -> Path | None:
    stem = package.replace("-", "_") if kind == "pypi" else package
    begin, end = (f"{stem}-{version}-", ".whl") if kind == "pypi" else (f"{stem}_{version}_", ".deb")
    names = [path for path in sorted(PACKAGES.glob(f"*{end}")) if path.name.lower().startswith(begin.lower())]
    return names[0] if names else None


def _fetch(package: str, kind: str, version: str) -> Path:
    if kind == "pypi":
        options = ["--no-deps", "--only-binary", ":all:", "--quiet", "--dest", str(PACKAGES)]
        command = [sys.executable, "-m", "pip", "download", *options, f"{package}=={version}"]
    elif shutil.which("apt-get"):
        command = ["apt-get", "download", f"{package}={version}"]
    else:
        raise FileNotFoundError(f"needs the Debian package {package} {version}; put its .deb into {PACKAGES}.")
    done = subprocess.run(command, cwd=PACKAGES, capture_output=True, text=True, check=False)
    found = _file(package, kind, version)
    if done.returncode or found is None:
        last = (done.stderr.strip().splitlines() or ["nothing came"])[-1]
        raise FileNotFoundError(f"{package} {version} could not be fetched ({last}); put the package into {PACKAGES}.")
    return found


def _frame(frame: pd.DataFrame, target: str) -> tuple[Columns, Any]:
    columns = {}
    for name in frame.columns:
        values = frame[name]
        numeric = pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values)
        plain = values.to_numpy(dtype=np.float64, na_value=np.nan) if numeric else values.astype(object).to_numpy()
        columns[str(name)] = plain
    return columns, columns.pop(target)


def _pickle(path: Path, about: dict[str, Any]) -> tuple[Columns, Any]:
    return _frame(pd.read_pickle(path, compression="xz"), about["target"])


def _csv(path: Path, about: dict[str, Any]) -> tuple[Columns, Any]:
    return _frame(pd.read_csv(path, float_precision="round_trip"), about["target"])


def _labelled(path: Path, about: dict[str, Any]) -> tuple[Columns, Any]:
    """Spectra and labels in two files."""
    frame = pd.read_csv(path, float_precision="round_trip")
    labels = pd.read_csv(path.with_name(path.name.replace("_spectra", "_labels")))
    return _frame(pd.concat([frame, labels], axis=1), about["target"])


def _orange(path: Path, about: dict[str, Any]) -> tuple[Columns, Any]:
    """A file of Orange: below the names, two lines say what the columns are."""
    frame = pd.read_csv(path, sep="\t" if path.suffix == ".tab" else ",", dtype=str, keep_default_na=False)
    return _frame(frame.iloc[2:].reset_index(drop=True), about["target"])


def _objects(path: Path) -> dict[str, Any]:
    import rdata  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: dict[str, Any] = rdata.read_rda(str(path))
    return found


def _r(path: Path, about: dict[str, Any]) -> tuple[Columns, Any]:
    """A data frame of R, its target a column of it or an object of its own."""
    found, target = _objects(path), about["target"]
    names = about.get("objects", {"table": next(iter(found))})
    frame = found[names["table"]]
    if "target" in names:
        frame = frame.assign(**{target: np.asarray(found[names["target"]])})
    return _frame(frame, target)


def _cross(path: Path, about: dict[str, Any]) -> tuple[Columns, Any]:
    """A cross of R/qtl: markers of all chromosomes, and one of the traits."""
    cross = _objects(path)[about["item"]]
    columns = {}
    for chromosome in cross["geno"].values():
        data = chromosome["data"]
        for place, marker in enumerate(data.coords["dim_1"].values):
            columns[str(marker)] = np.asarray(data.values[:, place], dtype=np.float64)
    return columns, cross["pheno"][about["target"]].to_numpy(dtype=np.float64, na_value=np.nan)


def _spectra(path: Path, about: dict[str, Any]) -> tuple[Columns, Any]:
    """Spectra of the first instrument, in parts."""
    from scipy.io import loadmat  # noqa: PLC0415

    found, parts = loadmat(path), about["objects"]["parts"]
    matrix = np.vstack([found[f"X{part}1"] for part in parts])
    y = np.concatenate([found[f"y{part}"].ravel() for part in parts])
    return {f"{length} nm": matrix[:, place] for place, length in enumerate(found["wv"].ravel())}, y


READERS = {
    "pickle": _pickle,
    "csv": _csv,
    "labelled": _labelled,
    "orange": _orange,
    "r": _r,
    "cross": _cross,
    "spectra": _spectra,
}
