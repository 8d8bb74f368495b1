"""Dask dataframes and arrays: each partition is scanned and summed up where it is, and only sums and samples travel."""

from __future__ import annotations

import operator
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, TypeVar

import numpy as np

from easyfs.common.telling import first_line
from easyfs.common.threads import blas_at_one
from easyfs.common.version import VERSION
from easyfs.engines.parts import Part, Progress
from easyfs.tables.frames import as_numpy, check_is_table, n_rows_of, pandas_kind, unmasked
from easyfs.tables.naming import Roles, roles_of, split

Result = TypeVar("Result")

# The only category that Dask knows of a column whose categories it does not know.
UNKNOWN = "__UNKNOWN_CATEGORIES__"


def is_dask(X: Any) -> bool:
    """Whether something is a Dask collection."""
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(X, "__dask_graph__")


def of_dask(X: Any, y: Any = None, sample_weight: Any = None) -> DaskTable:
    """A Dask dataframe or array as a table in parts.

    Parameters
    ----------
    X : dask DataFrame or dask Array of shape (n, d)
        The table.
    y : str, list of str, dask Series, DataFrame or Array, or array-like of shape (n,) or (n, t), optional
        Target: a column's name, or values that are cut as the rows are.
    sample_weight : str, dask Series or Array, or array-like of shape (n,), optional
        Weights, likewise.
    """
    what, names = type(X).__name__, None
    if what == "DataFrame":
        check_is_table(X._meta)
        _check_categories(X._meta)
        names = list(X.columns) if all(isinstance(name, str) for name in X.columns) else None
    elif what != "Array" or X.ndim != 2:
        shape = f" of {X.ndim} dimensions" if what == "Array" else ""
        raise ValueError(f"X is a Dask {what}{shape}, not a table; pass a DataFrame, or an Array of 2 dimensions.")
    roles = roles_of(names, None, y, sample_weight)
    return DaskTable(X, names, roles, None if roles.target else y, None if roles.weight is not None else sample_weight)


@dataclass(frozen=True)
class DaskTable:
    """A Dask collection, a part each partition (or chunk of rows).

    Attributes
    ----------
    collection : dask DataFrame or dask Array
        The table.
    names : list of str or None
        Names of its columns; None for an array, and where names are not text.
    roles : Roles
        Which of them are target and weights.
    y, weight : object
        Target and weights that are no columns of it.
    """

    collection: Any
    names: list[str] | None
    roles: Roles = field(default_factory=Roles)
    y: Any = None
    weight: Any = None

    @property
    def framed(self) -> bool:
        """Whether it is a dataframe."""
        return type(self.collection).__name__ == "DataFrame"

    def reduce(self, function: Callable[[Part], Result], progress: Progress | None = None) -> Result:  # noqa: ARG002
        """``function`` of each partition where it is, added up in pairs; nothing else is sent."""
        import dask  # noqa: PLC0415

        # Sent once to each worker, rather than with each partition.
        shared = dask.delayed(function, traverse=False)
        reading = dask.delayed(self._reading, traverse=False)
        run, add = dask.delayed(_found_in, pure=False), dask.delayed(operator.add, pure=False)
        results = [
            run(shared, reading, *pieces, first, n, number)
            for number, (pieces, first, n) in enumerate(zip(self._pieces, self._firsts, self._lengths, strict=True))
        ]
        while len(results) > 1:
            pairs = [add(*results[i : i + 2]) for i in range(0, len(results) - 1, 2)]
            results = pairs + results[2 * len(pairs) :]
        with blas_at_one(), self._guarded():  # threads are shared out by Dask
            result: Result = dask.compute(results[0])[0]
        return result

    def select(self, names: Any) -> Any:
        """The collection with some of its columns, still lazy."""
        if not self.framed:
            return self.collection[:, names]
        columns = list(self.collection.columns)
        return self.collection[names if self.names is not None else [columns[j] for j in names]]

    @property
    def n_rows(self) -> int | None:
        """Rows of all partitions, where all count."""
        weighted = self.weight is not None or self.roles.weight is not None
        return None if weighted else sum(self._lengths)

    @cached_property
    def _reading(self) -> Reading:
        """What each partition must look like."""
        meta, width = (self.collection._meta, None) if self.framed else (None, int(self.collection.shape[1]))
        return Reading(meta, self.roles, _dtype_of(self.y), _dtype_of(self.weight), width)

    @cached_property
    def _blocks(self) -> list[Any]:
        """The partitions, a delayed object each."""
        if not self.framed:
            return _rows_of(self.collection)
        if not self._beside:
            # Dask joins small partitions as it optimises a graph: another collection may then be cut in another way.
            return list(self.collection.to_delayed(optimize_graph=not (is_dask(self.y) or is_dask(self.weight))))
        for name, given in self._beside.items():
            if given.npartitions != self.collection.npartitions:
                raise ValueError(_other_partitions(name, given.npartitions, self.collection.npartitions))
        together = self.collection.map_partitions(
            _together, *self._beside.values(), meta=self.collection._meta, align_dataframes=False, enforce_metadata=False
        )
        return list(together.to_delayed())

    @property
    def _beside(self) -> dict[str, Any]:
        """Target and weights that are Dask dataframes or series, like the table."""
        given = {"y": self.y, "sample_weight": self.weight}
        return {name: value for name, value in given.items() if self.framed and is_dask(value) and not _is_array(value)}

    @cached_property
    def _lengths(self) -> list[int]:
        """Rows of each partition."""
        import dask  # noqa: PLC0415

        if not self.framed:
            known = self.collection.chunks[0]
            if not np.isnan(known).any():
                return [int(n) for n in known]
        with self._guarded():
            if self.framed and len(self.collection.columns):  # one column may be far less to read than all
                one = self.collection[[self.collection.columns[0]]]
                counted = [int(n) for n in one.map_partitions(n_rows_of, meta=(None, "int64")).compute()]
                if len(counted) == len(self._blocks):
                    return counted
            count = dask.delayed(_n_rows, pure=False)
            return list(dask.compute(*(count(block) for block in self._blocks)))

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """What goes wrong in the user's own part of the graph, such as a file that cannot be read, is said to be that."""
        _check_cluster()
        try:
            yield
        except Exception as error:
            if type(error).__name__ == "KilledWorker":
                raise RuntimeError(
                    f"workers of the Dask cluster died again and again ({first_line(error)}), most often because a "
                    "partition does not fit into a worker's memory: make partitions smaller (repartition)."
                ) from error
            of_cluster = isinstance(error, TimeoutError) or type(error).__module__.split(".")[0] == "distributed"
            if of_cluster or getattr(error, "located", False):
                raise
            number = self._unreadable()
            which = "a partition" if number is None else f"partition {number}"
            raise ValueError(
                f"{which} of X cannot be read ({type(error).__name__}: {first_line(error)}); of files, easyfs.scan says "
                "which one."
            ) from error

    def _unreadable(self) -> int | None:
        """The number of the first partition that cannot be read, tried one after the other."""
        import dask  # noqa: PLC0415

        for number, block in enumerate(self._blocks):
            try:
                dask.compute(dask.delayed(_n_rows, pure=False)(block))
            except Exception:
                return number
        return None

    @property
    def _firsts(self) -> list[int]:
        """Number of the first row of each partition."""
        return [0, *np.cumsum(self._lengths).tolist()[:-1]]

    @cached_property
    def _pieces(self) -> list[tuple[Any, Any, Any]]:
        """Rows, target and weights of each partition."""
        rows, beside = self._blocks, list(self._beside)
        if beside:
            rows = [block[0] for block in self._blocks]
        targets, weights = (
            [block[1 + beside.index(name)] for block in self._blocks] if name in beside else self._cut(given, name)
            for name, given in (("y", self.y), ("sample_weight", self.weight))
        )
        return list(zip(rows, targets, weights, strict=True))

    def _cut(self, given: Any, name: str) -> Sequence[Any]:
        """Values that are no column of the table, cut as its rows are."""
        n_blocks = len(self._blocks)
        if given is None:
            return [None] * n_blocks
        if not is_dask(given):
            values = np.asarray(as_numpy(given))
            _check_length(n_rows_of(values) if values.ndim else 0, sum(self._lengths), name)
            return [values[first : first + n] for first, n in zip(self._firsts, self._lengths, strict=True)]
        blocks = _rows_of(self._rechunked(given, name)) if _is_array(given) else list(given.to_delayed())
        if len(blocks) != n_blocks:
            raise ValueError(_other_partitions(name, len(blocks), n_blocks))
        return blocks

    def _rechunked(self, given: Any, name: str) -> Any:
        """An array with chunks of as many rows as the partitions, if it is known where to cut it."""
        if np.isnan(given.chunks[0]).any():
            return given
        _check_length(given.shape[0], sum(self._lengths), name)
        wanted = tuple(self._lengths)
        return given if given.chunks[0] == wanted else given.rechunk({0: wanted})


def _check_cluster() -> None:
    """Workers that lack the library would end when they are sent something of it, and be waited for."""
    import dask  # noqa: PLC0415

    if dask.config.get("scheduler", None) != "dask.distributed":
        return
    from distributed import get_client  # noqa: PLC0415

    client: Any = get_client()
    if client.asynchronous:
        return
    # Asked by what each Python has, as nothing of the library can be sent to where it is not.
    found = client.run(pkgutil.resolve_name, "easyfs", on_error="return")
    try:
        client.run_on_scheduler(pkgutil.resolve_name, "easyfs")
    except ImportError as error:
        found["the scheduler"] = error
    for place, given in found.items():
        if isinstance(given, ImportError):
            raise ImportError(
                f"{place} of the Dask cluster has no easyfs-ml ({first_line(given)}); install version {VERSION} on the "
                "scheduler and on each worker."
            ) from given


def _is_array(given: Any) -> bool:
    return type(given).__name__ == "Array"


def _together(*pieces: Any) -> tuple[Any, ...]:
    """What belongs to one partition."""
    return pieces


def _n_rows(block: Any) -> int:
    """Rows of a partition, with or without target and weights beside it."""
    return n_rows_of(block[0] if isinstance(block, tuple) else block)


def _other_partitions(name: str, found: int, n_partitions: int) -> str:
    cut = "cut both in the same way, or give the name of a column of X."
    return f"{name} has {found} partitions, but X has {n_partitions}; {cut}"


def _rows_of(array: Any) -> list[Any]:
    """Chunks of an array, each with all columns, as delayed objects."""
    if array.ndim > 1 and array.numblocks[1] > 1:
        array = array.rechunk({1: -1})
    return list(array.to_delayed().ravel())


def _check_length(found: int, n_rows: int, name: str) -> None:
    if found != n_rows:
        raise ValueError(f"{name} has {found} entries, but X has {n_rows} rows; give one for each row.")


def _check_categories(meta: Any) -> None:
    """Categories that are ordered are numbers by their place, which must be the same in all partitions."""
    for name, dtype in meta.dtypes.items():
        if getattr(dtype, "ordered", False) and list(dtype.categories) == [UNKNOWN]:
            raise ValueError(
                f"column {name!r} of X is an ordered category, but Dask does not know its categories; call "
                "X.categorize() first."
            )


def _dtype_of(given: Any) -> Any:
    """What a collection says of its values; None of a table of them."""
    return getattr(given, "dtype", None) if is_dask(given) and type(given).__name__ != "DataFrame" else None


@dataclass(frozen=True)
class Reading:
    """What each partition must look like, for the workers.

    Attributes
    ----------
    meta : DataFrame or None
        A dataframe without rows, with the columns that Dask expects.
    roles : Roles
        Which of them are target and weights.
    y, weight : dtype or None
        Types of target and weights that are no columns.
    width : int or None
        How many columns each chunk of an array has.
    """

    meta: Any
    roles: Roles
    y: Any
    weight: Any
    width: int | None = None

    def part(self, X: Any, y: Any, weight: Any, first: int, label: str) -> Part:
        """A partition in the form in which parts are read."""
        if self.meta is not None:
            X, y, weight = split(self.checked(X), self.roles, y, weight)
        else:
            X = unmasked(X)
            if X.shape[1:] != (self.width,):
                raise ValueError(f"it has shape {X.shape}, but X has {self.width} columns.")
        for name, given, dtype in (("y", y, self.y), ("sample_weight", weight, self.weight)):
            found = getattr(given, "dtype", None)
            if dtype is not None and found is not None and n_rows_of(given):
                _check_kind(name, found, dtype)
        return Part(X, y, weight, first, label)

    def checked(self, frame: Any) -> Any:
        """A partition with the columns that it should have, in their order; other columns, or kinds, are an error."""
        meta = self.meta
        if hasattr(frame, "to_pandas"):
            frame = frame.to_pandas()
        names, expected = list(frame.columns), list(meta.columns)
        lacking = [name for name in expected if name not in names]
        beyond = [name for name in names if name not in expected]
        if lacking or beyond:
            found = [f"{lacking[0]!r} is missing"] if lacking else []
            found += [f"{beyond[0]!r} is not among them"] if beyond else []
            raise ValueError(f"its columns are not those of X: {', and '.join(found)}.")
        if names != expected:
            frame = frame[expected]
        differ = [name for name in expected if frame[name].dtype != meta[name].dtype]
        if differ:
            frame = frame.copy(deep=False)
            for name in differ:
                frame[name] = _as_expected(name, frame[name], meta[name].dtype)
        return frame


def _as_expected(name: Any, column: Any, dtype: Any) -> Any:
    """A column of another type than Dask says: as it is where that makes no difference, else as that type."""
    if column.isna().all():  # whatever its type is called then
        return column.astype(np.float64 if _kind(dtype) == "numbers" and dtype.kind != "f" else dtype)
    if getattr(dtype, "ordered", False) and list(dtype.categories) != list(getattr(column.dtype, "categories", [])):
        raise ValueError(
            f"column {name!r} is an ordered category, and has other categories there than X; give all partitions the same "
            "categories."
        )
    _check_kind(f"column {name!r}", column.dtype, dtype, column)
    return column.astype("category") if str(dtype) == "category" != str(column.dtype) else column


def _kind(dtype: Any) -> str:
    """What a type holds, in a word."""
    kind = "text" if getattr(dtype, "kind", "") in "UST" else pandas_kind(dtype)
    return {"text": "text", "category": "text", "date or time": "dates"}.get(kind, "numbers")


def _kind_in(column: Any) -> str:
    """What a column of objects holds: pandas has no other type for flags of which some are missing."""
    held = import_module("pandas.api.types").infer_dtype(column, skipna=True)
    words = {"boolean": "numbers", "integer": "numbers", "floating": "numbers", "mixed-integer-float": "numbers"}
    return (words | {"decimal": "numbers", "date": "dates", "datetime": "dates"}).get(held, "text")


def _check_kind(name: str, found: Any, expected: Any, column: Any = None) -> None:
    """Numbers here and text there are two columns, not one."""
    mine, other = _kind(found), _kind(expected)
    if mine != other and (column is None or str(found) != "object" or _kind_in(column) != other):
        raise ValueError(
            f"{name} holds {mine} there ({found}), but {other} by what Dask says of it ({expected}); give it one type in "
            "all partitions."
        )


def _found_in(
    function: Callable[[Part], Result], reading: Reading, X: Any, y: Any, weight: Any, first: int, n: int, number: int
) -> Result:
    """``function`` of a partition, with its number in what may be wrong with it; runs where the partition is."""
    label = f"partition {number}"
    try:
        if n_rows_of(X) != n:
            raise ValueError(
                f"it had {n:,} rows, and has {n_rows_of(X):,} when it is read again; persist() a table that is other rows "
                "at each reading, such as a random sample."
            )
        return function(reading.part(X, y, weight, first, label))
    except (TypeError, ValueError) as error:
        located: Any = error
        if not str(error).startswith(label):
            located = (TypeError if isinstance(error, TypeError) else ValueError)(f"{label}: {error}")
            located.__cause__ = error
        located.located = True  # it is not of reading the table: that has been done
        raise located  # noqa: B904 - it has its cause
    except Exception as error:
        error.located = True  # type: ignore[attr-defined]
        raise
