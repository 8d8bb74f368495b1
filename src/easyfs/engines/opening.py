"""Which engine a table belongs to. The engine is imported once there is a table for it: most tables are in memory."""

from __future__ import annotations

from typing import Any

from easyfs.engines.parts import PartedTable
from easyfs.tables.naming import roles_of


def open_parts(X: Any, y: Any = None, sample_weight: Any = None) -> PartedTable | None:
    """A table that comes in parts; None for one that is in memory, whatever else it may be.

    Parameters
    ----------
    X : object
        What was given as a table.
    y, sample_weight : object
        Target and weights: names of columns, for a table that has names. Beside a Dask table they may be collections that
        are cut in the same way, or values of all rows.
    """
    library = type(X).__module__.split(".")[0]
    if library in ("easyfs", "polars", "pyarrow", "duckdb", "_duckdb"):
        return _open_stream(X, y, sample_weight)
    if library in ("dask", "dask_expr"):
        from easyfs.engines.dask import is_dask, of_dask  # noqa: PLC0415

        return of_dask(X, y, sample_weight) if is_dask(X) else None
    if type(X).__module__.startswith("pyspark.sql.") and type(X).__name__ == "DataFrame":  # classic or connect
        from easyfs.engines.spark import of_frame  # noqa: PLC0415

        return of_frame(X, _roles(list(X.columns), y, sample_weight, "a Spark table"))
    return None


def _open_stream(X: Any, y: Any, sample_weight: Any) -> PartedTable | None:
    """A table that is read batch by batch; None for another one of the same library."""
    from easyfs.engines.stream import of_dataset, of_lazy_frame, of_relation, of_scan, readable  # noqa: PLC0415
    from easyfs.files.delimited import check_names  # noqa: PLC0415
    from easyfs.files.scanning import Scan  # noqa: PLC0415

    if isinstance(X, Scan):
        return of_scan(X, _roles(X.names, y, sample_weight, "a table in files"))
    module, name = type(X).__module__, type(X).__name__
    if name == "LazyFrame":
        names = readable(lambda: X.collect_schema().names(), "the LazyFrame")
        return of_lazy_frame(X, names, _roles(names, y, sample_weight, "a LazyFrame"))
    if module.startswith("pyarrow") and module.endswith("dataset") and hasattr(X, "get_fragments"):
        names = list(X.schema.names)
        check_names(names, "X")
        return of_dataset(X, names, _roles(names, y, sample_weight, "a pyarrow dataset"))
    if name == "DuckDBPyRelation":
        names = readable(lambda: list(X.columns), "the relation")
        return of_relation(X, names, _roles(names, y, sample_weight, "a DuckDB relation"))
    return None


def _roles(names: list[str], y: Any, sample_weight: Any, what: str) -> Any:
    """Target and weights of a lazy table are columns of it."""
    for parameter, given in (("y", y), ("sample_weight", sample_weight)):
        named = given is None or isinstance(given, str)
        listed = parameter == "y" and isinstance(given, (list, tuple)) and all(isinstance(name, str) for name in given)
        if not named and not listed:
            raise TypeError(
                f"X is {what}, so {parameter} must be the name of one of its columns, but it is of type "
                f"{type(given).__name__}; add it to the table, or bring the table into memory first (collect)."
            )
    roles = roles_of(names, None, y, sample_weight)
    if y is not None and not roles.target:
        unknown = next((name for name in y if name not in names), y)
        raise ValueError(f"y names column {unknown!r}, which X does not have.")
    return roles
