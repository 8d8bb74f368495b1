"""Columns of vectors, as Spark's machine learning has them: their names, and their numbers as a table or sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from easyfs.common.types import Array


def vector_columns(schema: Any) -> list[str]:
    """Names of the columns of a Spark schema that hold vectors."""
    return [field.name for field in schema.fields if type(field.dataType).__name__ == "VectorUDT"]


def described_width(field: Any) -> int | None:
    """Number of entries of a vector column, where its metadata say so."""
    described = (field.metadata or {}).get("ml_attr", {})
    width = described.get("num_attrs")
    if width is None:
        width = sum(len(group) for group in described.get("attrs", {}).values()) or None
    return None if width is None else int(width)


def entry_names(field: Any, width: int) -> list[str]:
    """Names of the entries of a vector column: those of its metadata, or ``features[0]`` and so on."""
    names = [f"{field.name}[{j}]" for j in range(width)]
    for group in (field.metadata or {}).get("ml_attr", {}).get("attrs", {}).values():
        for entry in group:
            if "name" in entry and 0 <= int(entry.get("idx", -1)) < width:
                names[int(entry["idx"])] = str(entry["name"])
    return names if len(set(names)) == width else [f"{field.name}[{j}]" for j in range(width)]


def widths_of(column: Any) -> Array:
    """Number of entries of each vector of an Arrow column; -1 for one that is missing."""
    import pyarrow.compute as pc  # noqa: PLC0415

    kinds, sizes, _, values = _fields(column)
    lengths = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
    stated = pc.fill_null(sizes, 0).to_numpy(zero_copy_only=False)
    widths = np.where(kinds == 1, lengths, stated)
    return np.asarray(np.where(_missing(column), -1, widths))


def stored_in(column: Any) -> int:
    """Entries that the vectors of an Arrow column write down."""
    return len(_fields(column)[3].flatten())


def vector_matrix(column: Any, width: int) -> sparse.csr_array:
    """The vectors of an Arrow column, all of one width, as the rows of a sparse matrix."""
    import pyarrow.compute as pc  # noqa: PLC0415

    kinds, _, indices, values = _fields(column)
    lengths = pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths)
    entries = values.flatten().to_numpy(zero_copy_only=False)
    places = np.arange(len(entries)) - np.repeat(ends - lengths, lengths)  # right for vectors that are written out
    places[np.repeat(kinds == 0, lengths)] = indices.flatten().to_numpy(zero_copy_only=False)
    return sparse.csr_array((entries, places, np.concatenate([[0], ends])), shape=(len(column), width))


def vector_table(column: Any, names: list[str]) -> Any:
    """The vectors of an Arrow column as an Arrow table, a column for each entry."""
    import pyarrow as pa  # noqa: PLC0415

    dense = vector_matrix(column, len(names)).toarray(order="F")
    return pa.Table.from_arrays([pa.array(dense[:, j]) for j in range(len(names))], names=names)


def _one_piece(column: Any) -> Any:
    return column.combine_chunks() if hasattr(column, "combine_chunks") else column


def _fields(column: Any) -> tuple[Array, Any, Any, Any]:
    """Kind (0 sparse, 1 written out), stated size, indices and values; nothing where the vector is missing."""
    kinds, sizes, indices, values = _one_piece(column).flatten()
    return kinds.fill_null(1).to_numpy(zero_copy_only=False), sizes, indices, values


def _missing(column: Any) -> Array:
    return np.asarray(_one_piece(column).is_null().to_numpy(zero_copy_only=False))
