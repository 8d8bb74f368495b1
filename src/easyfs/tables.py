"""Tables in: arrays, sparse matrices, pandas, polars and Arrow tables become one matrix of numbers.

What a column holds is checked here, so that an error can name it.
"""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

Array = NDArray[Any]


def is_table(X: Any) -> bool:
    """Whether ``X`` is a dataframe or an Arrow table, with named columns."""
    return bool(nw.dependencies.is_into_dataframe(X))


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns of a table; None for an array."""
    return list(nw.from_native(X, eager_only=True).columns) if is_table(X) else None


def to_matrix(X: Any, *, estimator: Any = None, min_rows: int = 1) -> Array | sparse.csr_array:
    """Turn any table into a float matrix: a dense array or a CSR array; float32 stays float32.

    Missing values stay NaN. Infinities, text, dates and categories are errors that name the column.
    """
    names = column_names(X)
    if names is not None:
        X = _frame_to_array(X, names)
    elif sparse.issparse(X):
        X = _check(X, names, estimator, min_rows)
        return X if isinstance(X, sparse.csr_array) else sparse.csr_array(X)
    elif isinstance(X, (list, tuple)) or _has_objects(X) or _is_text(X):
        X = _objects_to_array(X, names)
    return _check(X, names, estimator, min_rows)


def _has_objects(X: Any) -> bool:
    return getattr(getattr(X, "dtype", None), "kind", "") == "O"


def _is_text(X: Any) -> bool:
    return getattr(getattr(X, "dtype", None), "kind", "") in "USTMm"


def _check(X: Any, names: list[Any] | None, estimator: Any, min_rows: int) -> Any:
    try:
        return check_array(
            X,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite="allow-nan",
            ensure_min_samples=min_rows,
            estimator=estimator,
            input_name="X",
        )
    except ValueError as error:
        if "infinity" not in str(error):
            raise
        raise ValueError(_infinity_message(X, names)) from error


def _infinity_message(X: Any, names: list[Any] | None) -> str:
    values = X.tocsc() if sparse.issparse(X) else np.asarray(X)
    for j in range(values.shape[1]):
        column = values[:, [j]].data if sparse.issparse(values) else values[:, j].astype(np.float64)
        infinite = np.isinf(column)
        if infinite.any():
            return (
                f"Input X contains infinity: column {_label(j, names)} has {int(infinite.sum())} infinite "
                f"value{'s' if infinite.sum() > 1 else ''}. Replace them by NaN (missing) or by a finite bound."
            )
    return "Input X contains infinity or a value too large for its dtype. Replace such values or use float64."


def _label(j: int, names: list[Any] | None) -> str:
    return f"{j}" if names is None else f"{names[j]!r}"


def _frame_to_array(X: Any, names: list[Any]) -> Array:
    frame = nw.from_native(X, eager_only=True)
    schema = [frame[:, j].dtype for j in range(len(names))] if len(set(names)) < len(names) else list(frame.schema.values())
    unusable = []
    for j, dtype in enumerate(schema):
        if dtype.is_numeric() or dtype == nw.Boolean:
            continue
        if dtype == nw.Object and _is_number_column(frame[:, j].to_numpy()):
            continue
        unusable.append((names[j], dtype))
    if unusable:
        shown = ", ".join(f"{name!r} ({_kind(dtype)})" for name, dtype in unusable[:5])
        more = f" and {len(unusable) - 5} more" if len(unusable) > 5 else ""
        plural = "s are" if len(unusable) > 1 else " is"
        raise ValueError(
            f"{len(unusable)} column{plural} not numeric: {shown}{more}. "
            "Encode text and categories as numbers (scikit-learn's OneHotEncoder or OrdinalEncoder), turn dates into "
            "numbers, or drop the columns."
        )
    float32 = all(dtype == nw.Float32 for dtype in schema) and len(schema) > 0
    dtype = np.float32 if float32 else np.float64
    if nw.dependencies.is_pandas_dataframe(X):
        return np.asarray(X.to_numpy(dtype=dtype, na_value=np.nan))
    columns = [frame[:, j].cast(nw.Float32 if float32 else nw.Float64).to_numpy() for j in range(len(names))]
    return np.stack(columns, axis=1).astype(dtype, copy=False) if columns else np.empty((len(frame), 0), dtype=dtype)


def _kind(dtype: Any) -> str:
    if dtype in (nw.String, nw.Object):
        return "text"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    if dtype.is_temporal():
        return "date or time"
    return str(dtype).lower()


def _is_number_column(values: Array) -> bool:
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return not any(isinstance(value, str) for value in values)


def _objects_to_array(X: Any, names: list[Any] | None) -> Array:
    """Numbers in an object array or nested lists; text is an error that names its first column."""
    values = np.asarray(X)
    if values.dtype.kind in "fiub":
        return values
    if values.ndim == 2:
        for j in range(values.shape[1]):
            column = values[:, j]
            text = column.dtype.kind in "UST" or any(isinstance(value, (str, bytes)) for value in column)
            if text or column.dtype.kind in "Mm":
                kind = "text" if text else "dates"
                raise ValueError(
                    f"column {_label(j, names)} of X holds {kind} (for example {column[0]!r}), not numbers. Encode it as "
                    "numbers (scikit-learn's OneHotEncoder or OrdinalEncoder), or drop it."
                )
    return values.astype(np.float64) if values.dtype == object and values.ndim == 2 else values
