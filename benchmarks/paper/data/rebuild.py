"""Make the paper's data sets from their public sources.

    python -m venv v && v/bin/pip install -r benchmarks/paper/data/requirements.txt
    v/bin/python benchmarks/paper/data/rebuild.py [NAME ...] [--check]

``sources.toml`` says which files of which public repository each is made from, and how. A repository is cloned from GitHub
(without what is not needed) into the folder that EASYFS_SOURCES names, by default sources beside this file; a clone that is
there already, as OWNER+NAME, is used. Data sets go as NAME.npz into the folder that EASYFS_DATA names, by default
../shared/data beside the repository; none that is there is written over. Numbers whose checksum is not that of
``checksums.json`` are not written. ``--check`` makes all and writes nothing: it says whether what comes out is what was
used. Several of the face data sets carry no licence but "research use": read them, do not hand them on.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
import tempfile
import tomllib
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
FOLDER = Path(os.environ.get("EASYFS_DATA", HERE.parents[3] / "shared" / "data"))
CLONES = Path(os.environ.get("EASYFS_SOURCES", HERE / "sources"))
CHECKSUMS = HERE / "checksums.json"
SOURCES: dict[str, dict[str, Any]] = tomllib.loads((HERE / "sources.toml").read_text(encoding="utf-8"))
# Pictures of a person that the camera of PIE-05 took: numbers of the files. Of person 38 six pictures of other cameras are
# missing after the 36th, so the numbers of what follows are smaller.
PIE_PICTURES = [1, 6, 11, *range(16, 37), *range(121, 143), 165, 166, 167]
FEWER = {38: (36, 6)}
CUSTOMER_MAIN_TYPE = 4
TRAITS = ("height", "oil", "protein", "fiber", "size", "yield")
MOST_MISSING, RAREST = 0.25, 0.05

Arrays = dict[str, np.ndarray]


class Repository:
    """Files of a commit of a public repository."""

    def __init__(self, about: dict[str, Any]):
        self.commit = about["commit"]
        self.folder = CLONES / about["repository"].replace("/", "+")
        if not self.folder.exists():
            CLONES.mkdir(parents=True, exist_ok=True)
            address = f"https://github.com/{about['repository']}.git"
            self._git("clone", "--quiet", "--bare", "--filter=blob:none", address, str(self.folder), inside=False)

    def _git(self, *command: str, inside: bool = True, told: bytes | None = None) -> bytes:
        place = ["-C", str(self.folder)] if inside else []
        done = subprocess.run(["git", *place, *command], input=told, capture_output=True, check=False)
        if done.returncode:
            raise OSError(f"git {command[0]}: {done.stderr.decode(errors='replace').strip().splitlines()[-1]}")
        return done.stdout

    def read(self, path: str) -> bytes:
        """A file."""
        return self._git("show", f"{self.commit}:{path}")

    def names(self, folder: str) -> list[str]:
        """All files of a folder."""
        found = self._git("-c", "core.quotepath=off", "ls-tree", "-r", "--name-only", self.commit, folder)
        return found.decode().splitlines()

    def read_all(self, paths: list[str]) -> list[bytes]:
        """Many files at once."""
        asked = "".join(f"{self.commit}:{path}\n" for path in paths).encode()
        stream, found = io.BytesIO(self._git("cat-file", "--batch", told=asked)), []
        for path in paths:
            line = stream.readline().split()
            if len(line) != 3:
                raise OSError(f"there is no {path} in the repository.")
            found.append(stream.read(int(line[2])))
            stream.read(1)
        return found


def matlab(repository: Repository, about: dict[str, Any]) -> Arrays:
    """A .mat file with X and Y, or fea and gnd."""
    from scipy.io import loadmat  # noqa: PLC0415

    found = loadmat(io.BytesIO(repository.read(about["files"][0])))
    names = ("X", "Y") if "X" in found else ("fea", "gnd")
    return {"X": found[names[0]], "y": found[names[1]].ravel()}


def pictures(files: list[bytes], mode: str) -> np.ndarray:
    """Pictures as arrays."""
    from PIL import Image  # noqa: PLC0415

    return np.array([np.asarray(Image.open(io.BytesIO(file)).convert(mode)) for file in files])


def pie(repository: Repository, about: dict[str, Any]) -> Arrays:
    """Grey pictures of 68 people, the pixels column by column as in the paper's other face data sets."""
    people = range(1, 69)
    paths = []
    for person in people:
        last, missing = FEWER.get(person, (0, 0))
        numbers = [number if number <= last else number - missing for number in PIE_PICTURES]
        paths += [f"{about['folder']}/{person}/{number}.jpg" for number in numbers]
    grey = pictures(repository.read_all(paths), "L")
    return {"X": grey.transpose(0, 2, 1).reshape(len(grey), -1), "y": np.repeat(people, len(PIE_PICTURES))}


def cifar(repository: Repository, about: dict[str, Any]) -> Arrays:
    """Coloured pictures in a folder for each class."""
    paths = sorted(path for path in repository.names(about["folder"]) if path.endswith(".jpg"))
    labels = [path.split("/")[1] for path in paths]
    order = np.random.default_rng(0).permutation(len(paths))
    pixels = pictures(repository.read_all(paths), "RGB").reshape(len(paths), -1)
    return {"X": pixels[order], "y": np.unique(labels, return_inverse=True)[1][order]}


def coil2000(repository: Repository, about: dict[str, Any]) -> Arrays:
    """Customers of an insurance company; the target is the customer main type."""
    table = np.loadtxt(io.BytesIO(repository.read(about["files"][0])))
    return {"X": np.delete(table, CUSTOMER_MAIN_TYPE, axis=1), "y": table[:, CUSTOMER_MAIN_TYPE]}


def csd(repository: Repository, about: dict[str, Any]) -> Arrays:
    """Chemical shieldings, as scikit-matter keeps them."""
    with np.load(io.BytesIO(repository.read(about["files"][0]))) as stored:
        return {"X": stored["X"], "y": stored["Y"].ravel()}


def slices(repository: Repository, about: dict[str, Any]) -> Arrays:
    """The lines of the file that are whole; the number of the patient is a column."""
    lines = repository.read(about["files"][0]).decode().splitlines()
    table = np.array([line.split(",") for line in lines[1:] if line.count(",") == lines[0].count(",")], dtype=np.float64)
    return {"X": table[:, :-1], "y": table[:, -1]}


def blog(repository: Repository, about: dict[str, Any]) -> Arrays:
    """The training rows."""
    with zipfile.ZipFile(io.BytesIO(repository.read(about["files"][0]))) as packed:
        table = np.loadtxt(packed.open("blogData_train.csv"), delimiter=",")
    return {"X": table[:, :-1], "y": table[:, -1]}


def sml(repository: Repository, about: dict[str, Any]) -> Arrays:
    """The target is the last column."""
    table = np.loadtxt(gzip.decompress(repository.read(about["files"][0])).decode().splitlines(), delimiter=",")
    return {"X": table[:, :-1], "y": table[:, -1]}


def r_objects(repository: Repository, path: str) -> dict[str, Any]:
    """Objects of a file of R."""
    import rdata  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = Path(folder) / "objects.RData"
        file.write_bytes(repository.read(path))
        found: dict[str, Any] = rdata.read_rda(str(file))
    return found


def wheat(repository: Repository, about: dict[str, Any]) -> Arrays:
    """Markers, and yield in four environments."""
    found = r_objects(repository, about["files"][0])
    return {"X": np.asarray(found["wheat.X"]), "Y": np.asarray(found["wheat.Y"])}


def soynam(repository: Repository, about: dict[str, Any]) -> Arrays:
    """Line means adjusted for the environment, and markers without gaps."""
    found = r_objects(repository, about["files"][0])
    plots, genotypes = found["data.line"], found["gen.raw"]
    traits = {}
    for trait in TRAITS:
        values = plots[trait].astype(float)
        adjusted = values - values.groupby(plots["environ"]).transform("mean")
        traits[trait] = adjusted.groupby(plots["strain"]).mean().dropna()
    strains = genotypes.coords["dim_0"].values
    rows = np.array([all(strain in trait.index for trait in traits.values()) for strain in strains])
    matrix = np.asarray(genotypes.values, dtype=np.float64)[rows]
    share = np.nanmean(matrix, axis=0) / 2.0
    kept = (np.isnan(matrix).mean(axis=0) <= MOST_MISSING) & (np.minimum(share, 1.0 - share) >= RAREST)
    matrix = matrix[:, kept]
    mode = np.argmax([(matrix == value).sum(axis=0) for value in (0.0, 1.0, 2.0)], axis=0)
    means = {trait: values.reindex(strains[rows]).to_numpy() for trait, values in traits.items()}
    filled = np.where(np.isnan(matrix), mode, matrix)
    return {"X": filled, "marker": genotypes.coords["dim_1"].values[kept], "strain": strains[rows], **means}


MAKERS: dict[str, Callable[[Repository, dict[str, Any]], Arrays]] = {
    maker.__name__: maker for maker in (matlab, pie, cifar, coil2000, csd, slices, blog, sml, soynam, wheat)
}


def checksum(arrays: Arrays) -> dict[str, str]:
    """Of the numbers of each array, whatever the file looks like that holds them."""
    found = {}
    for name in sorted(arrays):
        values = arrays[name]
        text = values.dtype.kind == "U"
        body = json.dumps(values.tolist()).encode() if text else np.ascontiguousarray(values).tobytes()
        kind = "text" if text else str(values.dtype)
        found[name] = hashlib.sha256(f"{kind} {values.shape}".encode() + body).hexdigest()
    return found


def make(name: str) -> Arrays:
    """A data set from its source, in the types that it is kept in."""
    about = SOURCES[name]
    arrays = MAKERS[about["maker"]](Repository(about), about)
    return {key: values.astype(about["types"].get(key, values.dtype)) for key, values in arrays.items()}


def write(name: str, arrays: Arrays) -> None:
    """Whole or not at all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    draft = FOLDER / f"{name}.part.npz"
    np.savez_compressed(draft, **arrays)
    os.replace(draft, FOLDER / f"{name}.npz")


def one(name: str, only_check: bool) -> str:
    """Make a data set, or say what is wrong; an empty text if nothing is."""
    there = FOLDER / f"{name}.npz"
    fixed = json.loads(CHECKSUMS.read_text(encoding="utf-8"))
    if there.exists() and not only_check:
        with np.load(there, allow_pickle=False) as stored:
            same = checksum({key: stored[key] for key in stored.files}) == fixed[name]
        return "" if same else f"{there} is there, but is not what was used; it is left alone"
    try:
        arrays = make(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    found = checksum(arrays)
    wrong = [key for key in fixed[name] if found.get(key) != fixed[name][key]]
    if wrong:
        return f"{', '.join(wrong)}: the numbers are not those that were used"
    if not only_check:
        write(name, arrays)
    print(f"{name}: {' x '.join(map(str, arrays['X'].shape))}, as it was used", flush=True)
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="files without .npz, by default all")
    parser.add_argument("--check", action="store_true", help="make all, write nothing")
    args = parser.parse_args()
    names = args.names or list(SOURCES)
    unknown = [name for name in names if name not in SOURCES]
    if unknown:
        parser.error(f"there is no data set {unknown[0]!r}; the names are {', '.join(SOURCES)}")
    wrong = {name: text for name in names if (text := one(name, args.check))}
    for name, text in wrong.items():
        print(f"{name}: {text}", file=sys.stderr)
    print(f"{len(names) - len(wrong)} of {len(names)} data sets are as they were used")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
