"""Tables in: arrays, sparse matrices, pandas, polars and Arrow tables become one matrix of numbers.

What a column holds is checked here, so that an error can name it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from easyfs.common.threads import block_slices, map_blocks, threads_for
from easyfs.common.types import Array

# Whole numbers that numpy has no type for.
TOO_WIDE = (nw.Int128, nw.UInt128)
# A large table of types whose values float32 holds exactly is read as float32, in half the memory.
SMALL_TYPES = (nw.Float32, nw.Int8, nw.Int16, nw.UInt8, nw.UInt16, nw.Boolean)
LARGE = 1 << 25
# Numbers of a matrix that one thread adds up at a time.
ADDED_UP = 1 << 20
# What to do with the name of a file.
READ_FIRST = "read the file first, for example with pandas.read_csv, or give EasyFS what easyfs.scan makes of it"


def is_table(X: Any) -> bool:
    """Whether ``X`` is a dataframe or an Arrow table, with named columns."""
    return not isinstance(X, np.ndarray) and bool(nw.dependencies.is_into_dataframe(X))  # an array is known at once


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns of a table; None for an array."""
    if not is_table(X):
        return None
    return list(X.columns) if nw.dependencies.is_pandas_dataframe(X) else list(nw.from_native(X, eager_only=True).columns)


def check_no_records(X: Array) -> None:
    """An array whose rows are records has no columns that numpy could compute with."""
    if X.dtype.names:
        fields = ", ".join(map(repr, X.dtype.names[:5])) + ", ..." * (len(X.dtype.names) > 5)
        raise TypeError(f"X is an array of records ({fields}); make it a table, for example with pandas.DataFrame(X).")


def check_is_table(X: Any) -> None:
    """What is neither an array nor a dataframe is an error that says what to pass; so are two columns of one name."""
    what = type(X).__name__
    if isinstance(X, (str, bytes)):
        raise TypeError(f"X is the text {X!r}, not a table; {READ_FIRST}.")
    if isinstance(X, os.PathLike):
        raise TypeError(f"X is the path {os.fspath(X)!r}, not a table; {READ_FIRST}.")
    check_is_in_memory(X)
    if sparse.issparse(X):  # some of them are dictionaries
        return
    if isinstance(X, np.ndarray):
        check_no_records(X)
        return
    if isinstance(X, Mapping):
        raise TypeError(f"X is a {what}, not a table; make it one, for example with pandas.DataFrame(X).")
    if isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], Mapping):
        raise TypeError(
            f"X is a {what} of {type(X[0]).__name__}, not a table; make it one, for example with pandas.DataFrame(X)."
        )
    if isinstance(X, (list, tuple)) and len(X) and is_table(X[0]):
        raise TypeError(f"X is a {what} of tables; put them below each other first, for example with pandas.concat(X).")
    if isinstance(X, (Iterator, Set)):
        raise TypeError(f"X is a {what}, not a table; pass the rows as a list, such as list(X), or as an array.")
    if is_table(X):
        check_names_once(X)


def check_names_once(X: Any) -> None:
    """Two columns of one name are an error: narwhals refuses them, too, but in its own words."""
    counts = Counter(X.columns if nw.dependencies.is_pandas_dataframe(X) else getattr(X, "column_names", ()))
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        more = f" (and {len(twice) - 1} more names are given to several)" if len(twice) > 1 else ""
        raise ValueError(
            f"X has {counts[twice[0]]} columns called {twice[0]!r}{more}; give each column a name of its own, or pass "
            "the values as an array."
        )


# Tables whose rows are not in memory: how to bring them there, by library and type.
ELSEWHERE = {
    ("polars", "LazyFrame"): ("a LazyFrame", "collect()"),
    ("easyfs", "Scan"): ("a Scan of files", "collect()"),
    ("dask", "DataFrame"): ("a Dask DataFrame", "compute()"),
    ("dask", "Array"): ("a Dask Array", "compute()"),
    ("dask", "Series"): ("a Dask Series", "compute()"),
    ("pyarrow", "FileSystemDataset"): ("a pyarrow dataset", "to_table()"),
    ("pyarrow", "InMemoryDataset"): ("a pyarrow dataset", "to_table()"),
    ("pyarrow", "UnionDataset"): ("a pyarrow dataset", "to_table()"),
    ("pyarrow", "Dataset"): ("a pyarrow dataset", "to_table()"),
    ("pyarrow", "Scanner"): ("a pyarrow scanner", "to_table()"),
    ("duckdb", "DuckDBPyRelation"): ("a DuckDB relation", "df()"),
    ("pyspark", "DataFrame"): ("a Spark DataFrame", "toPandas()"),
}


def check_is_in_memory(X: Any) -> None:
    """A table that is still to be read is an error that says how to read it."""
    kind = type(X)
    library = {"dask_expr": "dask", "_duckdb": "duckdb"}.get(root := kind.__module__.split(".")[0], root)
    if (library, kind.__name__) in ELSEWHERE:
        what, method = ELSEWHERE[library, kind.__name__]
        raise TypeError(
            f"X is {what}, whose rows are not in memory. Only fit and transform of EasyFS and EasyFSRanking read such a "
            f"table in parts; here, bring it into memory with its {method} method first."
        )


def column_types(X: Any) -> tuple[str, ...]:
    """The type of each column of a table, in its library's words; one for all of an array."""
    if nw.dependencies.is_pandas_dataframe(X):
        return tuple(str(dtype) for dtype in X.dtypes)
    if is_table(X):
        return tuple(str(dtype).lower() for dtype in nw.from_native(X, eager_only=True).schema.values())
    return (str(getattr(X, "dtype", "float64")),)


def take_columns(X: Any, positions: Any) -> Any:
    """Some columns of a table, as a table of the same library."""
    if nw.dependencies.is_pandas_dataframe(X):
        return X.iloc[:, list(positions)]
    if nw.dependencies.is_polars_dataframe(X):  # which gives a column without a name one, if it is taken by place
        names = X.columns
        return X[[names[j] for j in positions]] if len(positions) else X.select([])
    return nw.from_native(X, eager_only=True)[:, [int(j) for j in positions]].to_native()


def lazy_columns(frame: Any, names: Sequence[str]) -> Any:
    """Columns of a polars LazyFrame by their names, which ``select`` would read as patterns where they look like one."""
    import polars as pl  # noqa: PLC0415

    place = {name: j for j, name in enumerate(frame.collect_schema().names())}
    return frame.select(pl.nth([place[name] for name in names]))


def to_matrix(X: Any, *, estimator: Any = None, min_rows: int = 1, by_column: bool = False) -> Array | sparse.csr_array:
    """Turn any table into a float matrix: a dense array or a CSR array; float32 stays float32.

    Missing values stay NaN. Infinities, text, dates and categories are errors that name the column. ``by_column`` lets the
    numbers of a column lie side by side, as most tables have them: they are copied several times as fast, and to take some
    rows out takes longer.
    """
    check_is_table(X)
    names = column_names(X)
    if nw.dependencies.is_pandas_dataframe(X):
        X = _pandas_to_array(X, names or [])
    elif names is not None:
        X = _frame_to_array(X, names, by_column)
    elif sparse.issparse(X):
        X = check_matrix(X, names, estimator, min_rows)
        return X if isinstance(X, sparse.csr_array) else sparse.csr_array(X)
    elif isinstance(X, np.ma.MaskedArray):
        X = unmasked(X)
    elif isinstance(X, (list, tuple)) or getattr(getattr(X, "dtype", None), "kind", "") in "OUSTMm":
        X = _objects_to_array(X)
    return check_matrix(X, names, estimator, min_rows)


def unmasked(X: Any) -> Any:
    """An array with NaN in place of what is masked."""
    if not isinstance(X, np.ma.MaskedArray):
        return X
    return np.where(np.ma.getmaskarray(X), X.dtype.type(np.nan) if X.dtype.kind == "f" else np.nan, X.data)


def check_matrix(X: Any, names: list[Any] | None, estimator: Any = None, min_rows: int = 1) -> Any:
    """Numbers in two dimensions, finite or missing, with enough rows; errors name the column."""
    matrix = check_array(
        X,
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        ensure_min_samples=min_rows,
        estimator=estimator,
        input_name="X",
    )
    if _any(np.isinf, matrix.data[:, None] if sparse.issparse(matrix) else matrix):
        raise InfinityError(_infinity_message(X, names))
    return matrix


class InfinityError(ValueError):
    """A table holds infinity."""


def _infinity_message(X: Any, names: list[Any] | None) -> str:
    if sparse.issparse(X):
        _, columns, values = sparse.find(X)
        counts = np.bincount(columns[np.isinf(values)], minlength=X.shape[1])
    else:
        counts = np.isinf(np.asarray(X, dtype=np.float64)).sum(axis=0)
    infinite = np.flatnonzero(counts)
    if not len(infinite):
        return "Input X contains infinity or a value too large for its dtype. Replace such values or use float64."
    first, total = int(infinite[0]), int(counts.sum())
    label = first if names is None else repr(names[first])
    values = f"{total:,} infinite value{'s' if total > 1 else ''}"
    found = f"column {label} has {values}"
    if len(infinite) > 1:
        found = (
            f"there are {values} in {len(infinite):,} columns, {int(counts[first]):,} of them in the first, column {label}"
        )
    return f"Input X contains infinity: {found}. Replace them by NaN (missing) or by a finite bound."


def _not_numeric(unusable: list[tuple[Any, str]]) -> ValueError:
    shown = ", ".join(f"{name!r} ({kind})" for name, kind in unusable[:5])
    more = f" and {len(unusable) - 5} more" if len(unusable) > 5 else ""
    return ValueError(
        f"{len(unusable)} column{'s are' if len(unusable) > 1 else ' is'} not numeric: {shown}{more}. "
        "Encode text and categories as numbers (scikit-learn's OneHotEncoder or OrdinalEncoder), turn dates into "
        "numbers, or drop the columns."
    )


def has_rows(X: Any) -> bool:
    """Whether it is known how many rows there are."""
    return bool(X.shape) if hasattr(X, "shape") else hasattr(X, "__len__")


def n_rows_of(X: Any) -> int:
    """Number of rows."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Any, rows: Array) -> Any:
    """Some rows of an array, a table, a column or a list, by position."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if type(X).__module__.startswith("pyarrow"):
        return X.take(rows)
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows]
    return X[rows]


def numeric_columns(X: Any) -> Array:
    """Which columns of a table are numbers (or booleans) already."""
    if not nw.dependencies.is_pandas_dataframe(X):
        frame = nw.from_native(X, eager_only=True)
        return np.array(
            [
                dtype.is_numeric() or dtype == nw.Boolean or (dtype == nw.Unknown and _is_plain(frame[:, j]))
                for j, dtype in enumerate(frame.schema.values())
            ],
            dtype=bool,
        )
    # Columns are taken by place, as names may repeat.
    numeric = [getattr(dtype, "_is_numeric", None) or getattr(dtype, "kind", "O") in "fiub" for dtype in X.dtypes]
    for j, dtype in enumerate(X.dtypes):
        if dtype == np.dtype(object):
            numeric[j] = _holds_numbers(X.iloc[:, j].to_numpy())
    return np.array(numeric, dtype=bool)


def _pandas_to_array(X: Any, names: list[Any]) -> Array:
    numeric = numeric_columns(X)
    if not numeric.all():
        kinds = [pandas_kind(dtype) for dtype in X.dtypes]
        raise _not_numeric([(names[j], kinds[j]) for j in np.flatnonzero(~numeric)])
    float32 = len(names) > 0 and all(str(dtype).lower() in ("float32", "float[pyarrow]") for dtype in X.dtypes)
    if any(str(dtype) == "object" for dtype in X.dtypes):
        return np.stack([_numbers_in(X.iloc[:, j]) for j in range(X.shape[1])], axis=1)
    return np.asarray(X.to_numpy(dtype=np.float32 if float32 else np.float64, na_value=np.nan))


def _numbers_in(column: Any) -> Array:
    """A column of pandas as floats, also one of objects, in which missing values are kept as they were given."""
    if str(column.dtype) != "object":
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return without_na(column.to_numpy())


def pandas_kind(dtype: Any) -> str:
    """What a column of pandas holds, in a word: text, category, date or time, else its type."""
    word = str(dtype).lower()
    for kind, starts in {
        "text": ("object", "str", "string", "large_string"),
        "category": ("category", "dictionary"),
        "date or time": ("datetime", "timedelta", "period", "date", "time", "duration"),
    }.items():
        if word.startswith(starts):
            return kind
    return word


def _frame_to_array(X: Any, names: list[Any], by_column: bool) -> Array:
    frame = nw.from_native(X, eager_only=True)
    schema = list(frame.schema.values())
    usable = numeric_columns(X)
    if not usable.all():
        raise _not_numeric([(names[j], _kind(schema[j])) for j in np.flatnonzero(~usable)])
    float32 = all(dtype in single_types(len(frame) * len(names)) for dtype in schema) and len(schema) > 0
    wanted = nw.Float32 if float32 else nw.Float64
    if by_column and nw.dependencies.is_polars_dataframe(X) and all(dtype == wanted for dtype in schema):
        return np.asarray(X.to_numpy(order="fortran"))
    out = room_for(len(frame), len(names), single=float32, by_column=by_column)
    for j, (dtype, column) in enumerate(zip(schema, frame.iter_columns(), strict=True)):
        if dtype != nw.Unknown:
            out[:, j] = floats_of(column, wanted)
        else:
            out[:, j] = np.nan if column.null_count() == len(frame) else column.to_numpy()
    return out


def floats_of(column: nw.Series[Any], wanted: Any) -> Array:
    """A column of numbers as floats of a type, or as whole numbers: numpy makes floats of these, whatever their size."""
    as_it_is = column.dtype == wanted or (column.dtype.is_integer() and column.dtype not in TOO_WIDE)
    values = np.asarray((column if as_it_is else column.cast(wanted)).to_numpy())
    if values.dtype != object:
        return values
    return without_na(values)


def without_na(values: Array) -> Array:
    """Objects as floats, with NaN for a missing one."""
    gone = [value is None or type(value).__name__ in ("NAType", "NaTType") for value in values]
    return np.where(gone, np.nan, values).astype(np.float64)


def as_numpy(values: Any) -> Any:
    """A column or table of any library as an array of numpy; what is none is left as it is."""
    if not hasattr(values, "to_numpy"):
        return values
    if str(getattr(values, "dtype", "")) in [str(dtype) for dtype in TOO_WIDE]:
        return floats_of(nw.from_native(values, series_only=True), nw.Float64)
    try:
        return values.to_numpy()
    except ValueError:  # Arrow arrays of booleans or text cannot be seen in place
        return values.to_numpy(zero_copy_only=False)


def room_for(n_rows: int, n_columns: int, *, single: bool, by_column: bool) -> Array:
    """A matrix to be filled in, in single precision or not, whose columns or rows lie side by side."""
    return np.empty((n_rows, n_columns), np.float32 if single else np.float64, "F" if by_column else "C")


def single_types(n_cells: int) -> tuple[Any, ...]:
    """Types that are read in single precision, in a table of so many cells."""
    return SMALL_TYPES if n_cells > LARGE else (nw.Float32,)


def missing_in(matrix: Any) -> Array:
    """Missing values in each column of a matrix."""
    d = matrix.shape[1]
    if sparse.issparse(matrix):
        return np.bincount(matrix.indices[np.isnan(matrix.data)], minlength=d)
    found = np.zeros(d, dtype=np.int64)
    if not _any(np.isnan, matrix):
        return found
    with np.errstate(all="ignore"):
        columns = np.flatnonzero(np.isnan(matrix.sum(axis=0)))
        for part in np.array_split(columns, 1 + matrix.shape[0] * len(columns) // LARGE):
            found[part] = np.isnan(matrix[:, part]).sum(axis=0)
    return found


def _any(test: Callable[[Array], Array], matrix: Array) -> bool:
    """Whether some number passes a test that only numbers that are not finite pass.

    Most matrices have none, which their sums show: taken in the order in which they lie in memory, of large ones by all
    threads.
    """
    numbers = matrix.ravel(order="K") if matrix.flags.forc else matrix
    parts = block_slices(len(numbers), max(1, ADDED_UP * len(numbers) // max(1, matrix.size)))

    def found(part: slice) -> bool:
        with np.errstate(all="ignore"):  # infinities of both signs, sums that do not fit
            return not np.isfinite(numbers[part].sum()) and bool(test(numbers[part]).any())

    with threads_for(*matrix.shape) if len(parts) > 1 else nullcontext():
        return any(list(map_blocks(found, parts)))


def _is_plain(column: nw.Series[Any]) -> bool:
    """Whether a column of a type that narwhals does not know is all missing, or numbers to numpy."""
    return column.null_count() == len(column) or column.to_numpy().dtype.kind in "fiub"


def _kind(dtype: Any) -> str:
    if dtype in (nw.String, nw.Object):
        return "text"
    if dtype in (nw.Categorical, nw.Enum):
        return "category"
    if dtype.is_temporal():
        return "date or time"
    return str(dtype).lower()


def _holds_numbers(values: Array) -> bool:
    """Whether an object column holds numbers, booleans and missing values only."""
    try:
        without_na(values)
    except (TypeError, ValueError):
        return False
    return not any(isinstance(value, (str, bytes)) for value in values)


def _objects_to_array(X: Any) -> Array:
    """Numbers in an object array or nested lists; text is an error that names its first column."""
    try:
        values = np.asarray(X)
        # A list that mixes numbers and text becomes all text; kept as objects, the numbers stay what they are.
        values = np.asarray(X, dtype=object) if values.dtype.kind in "USMm" and isinstance(X, (list, tuple)) else values
    except ValueError as error:
        raise ValueError(
            "X has rows of different lengths; give as many values in each row as there are columns."
        ) from error
    if values.dtype.kind in "fiubc" or values.ndim != 2:
        return values
    for j in range(values.shape[1]):
        column = values[:, j]
        text = next((value for value in column if isinstance(value, (str, bytes))), None)
        if text is not None or column.dtype.kind in "Mm":
            kind, example = ("text", f" (for example {str(text)!r})") if text is not None else ("dates", "")
            raise ValueError(
                f"column {j} of X holds {kind}{example}, not numbers. Encode it as numbers (scikit-learn's OneHotEncoder "
                "or OrdinalEncoder), or drop it."
            )
    return values.astype(np.float64)
