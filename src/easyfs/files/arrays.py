"""Tables of numbers alone: .npz (an array X, a target y, names of the columns), .npy, and libsvm."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from easyfs.common.extras import optional
from easyfs.files.blocks import text_blocks
from easyfs.files.formats import FileError, Packing, TextOptions

NAMES = "feature_names"
# A sparse file of more cells than this is not written out.
MOST_CELLS = 1 << 28


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


def read_array(path: Path, label: str) -> Any:
    """A single array: a column for each of its own, or for each field of a structured one."""
    pl = optional("polars", "cli", "reading a table")
    try:
        values = np.load(path, allow_pickle=False)
    except (OSError, EOFError) as error:
        raise FileError(f"{label} cannot be read as .npy: it may be damaged, cut off or of another kind.") from error
    except ValueError as error:
        what = (
            "it holds Python objects"
            if "pickle" in str(error) and "Object" in str(error)
            else "it may be damaged or cut off"
        )
        raise FileError(f"{label} cannot be read as .npy: {what}.") from error
    if not isinstance(values, np.ndarray):
        raise FileError(f"{label} cannot be read as .npy: it is an .npz.")
    if values.dtype.names is not None and values.ndim == 1:
        return pl.DataFrame([pl.Series(name, np.ascontiguousarray(values[name])) for name in values.dtype.names])
    if values.ndim not in (1, 2) or not values.size:
        raise FileError(f"{label} is an array of shape {values.shape}; a table has rows and columns.")
    if values.dtype.kind not in "biufUSMm":
        raise FileError(f"{label} is an array of {values.dtype}; a table has numbers, texts or dates.")
    values = values.astype(str) if values.dtype.kind == "S" else values
    table = values.reshape(len(values), -1)
    return pl.DataFrame([pl.Series(f"x{j}", np.ascontiguousarray(table[:, j])) for j in range(table.shape[1])])


def read_libsvm(path: Path, label: str, packing: Packing | None, options: TextOptions) -> Any:
    """Rows of ``label index:value ...``: columns by their own numbers (from 0 or from 1, as in the file), and ``y``."""
    from sklearn.datasets import load_svmlight_file  # noqa: PLC0415

    pl = optional("polars", "cli", "reading a table")
    text = io.BytesIO(b"".join(text_blocks(path, label, packing=packing, encoding=options.encoding)))
    try:
        X, y = load_svmlight_file(text, zero_based=True)
    except ValueError as error:
        raise FileError(f"{label} cannot be read as libsvm: {str(error).splitlines()[0][:200]}.") from error
    if not len(y) or not X.shape[1]:
        raise FileError(f"{label} holds no cells of libsvm (label index:value ...).")
    first = int(X.indices.min()) if X.nnz else 0
    first = min(first, 1)
    if X.shape[0] * X.shape[1] > MOST_CELLS:
        raise FileError(
            f"{label} has {X.shape[0]:,} rows and {X.shape[1]:,} columns, too many to be written out; in Python, "
            "EasyFS().fit(*sklearn.datasets.load_svmlight_file(...)) takes them as they are."
        )
    table = X.toarray(order="F")[:, first:]
    columns = [pl.Series(f"x{j + first}", np.ascontiguousarray(table[:, j])) for j in range(table.shape[1])]
    y = y.astype(np.int64) if (y == np.round(y)).all() and np.abs(y).max() < 2**53 else y
    return pl.DataFrame([*columns, pl.Series("y", y)])


def write_arrays(frame: Any, target: str | None, out: IO[bytes]) -> None:
    """Save a frame as ``X``, ``feature_names`` and, where it has the target, ``y``."""
    columns = [name for name in frame.columns if name != target]
    table = frame[columns]
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
