"""Tables in .npz files: an array X, a target y, and names of the columns where there are any."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from easyfs.common.extras import optional
from easyfs.files.formats import FileError

NAMES = "feature_names"


def read_arrays(path: Path, label: str) -> Any:
    """The columns of ``X`` and every other array with as many rows, as a polars frame."""
    pl = optional("polars", "cli", "reading a table")
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        raise FileError(f"{label} cannot be read as .npz: it may be damaged, cut off or of another kind.") from error
    except (ValueError, AttributeError) as error:
        raise FileError(
            f"{label} cannot be read as .npz: it holds Python objects or a single array; save plain arrays with "
            "numpy.savez(file, X=..., y=...)."
        ) from error
    X = arrays.pop("X", None)
    if X is None or X.ndim != 2:
        what = "has no array X" if X is None else f"has an array X of {X.ndim} dimensions"
        raise FileError(f"{label} {what}; save a table with numpy.savez(file, X=..., y=...).")
    names = arrays.pop(NAMES, None)
    names = [f"x{j}" for j in range(X.shape[1])] if names is None else [str(name) for name in np.asarray(names).ravel()]
    if len(names) != X.shape[1]:
        raise FileError(f"{label} has {len(names)} {NAMES} for the {X.shape[1]} columns of X.")
    columns = [pl.Series(name, np.ascontiguousarray(X[:, j])) for j, name in enumerate(names)]
    for name, values in arrays.items():
        if values.shape == (len(X),) and name not in names:
            columns.append(pl.Series(name, values))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FileError(f"{label} has several columns called {twice!r}; give each a name of its own.")
    return pl.DataFrame(columns)


def write_arrays(frame: Any, target: str | None, out: IO[bytes]) -> None:
    """Save a frame as ``X``, ``feature_names`` and, where it has the target, ``y``."""
    columns = [name for name in frame.columns if name != target]
    table = frame.select(columns)
    for series in table:
        if not (series.dtype.is_numeric() or str(series.dtype) == "Boolean"):
            raise FileError(
                f"column {series.name!r} is no number ({series.dtype}), and .npz holds numbers; choose .parquet or .csv."
            )
    arrays: dict[str, Any] = {"X": table.to_numpy(), NAMES: np.array(columns, dtype=str)}
    if target is not None and target in frame.columns:
        values = frame[target].to_numpy()
        arrays["y"] = values.astype(str) if values.dtype == object else values
    np.savez_compressed(out, **arrays)
