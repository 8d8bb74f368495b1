"""Tables of Spark: each partition is summed up where it is, and only sums travel.

A partition's rows are turned into parts, and the function of each is added up; one row of bytes for each partition comes
of that. About the square root of them are added up by one task each, and the driver adds those few. Row numbers are by
partition: the rows of each are counted first. So a table whose rows do not come in the same order each time it is read,
as after a shuffle, gives the same answer each time only if it is written or cached first.
"""

from __future__ import annotations

import math
import pickle
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from easyfs.engines.parts import Part, Progress
from easyfs.engines.stream import batch_rows
from easyfs.engines.vectors import (
    described_width,
    entry_names,
    stored_in,
    vector_columns,
    vector_matrix,
    vector_table,
    widths_of,
)
from easyfs.files.delimited import check_names
from easyfs.tables.naming import Roles, split

Result = TypeVar("Result")

COUNTED = "number long, n_rows long, narrowest long, widest long, stored long"
ADDED = "place long, number long, found binary"
# Results of so few partitions are added up by the driver at once.
FEW = 8
# Vectors that write down no more than this share of their entries are kept as a sparse matrix.
THIN = 0.1
# Types of Spark that its Python workers cannot read.
NOT_SENT = ("yearmonthinterval", "calendarinterval")
# What a table is that is read differently each time.
RESTLESS = (
    "the table is not the same each time it is read: {0}. Write it to files, or cache it, and fit that; without this, a "
    "sample of its rows is not of one table."
)


@dataclass(frozen=True)
class Fault:
    """What went wrong with a partition, to be raised by the driver: Spark would try three times more.

    Attributes
    ----------
    kind : type
        Type of the error.
    text : str
        What it says.
    recount : bool
        Whether the partition did not have the rows that were counted.
    """

    kind: type[Exception]
    text: str
    recount: bool = False


@dataclass(frozen=True)
class Counted:
    """What a partition holds.

    Attributes
    ----------
    first : int
        Number of its first row in the whole table.
    n_rows : int
        Its rows.
    """

    first: int
    n_rows: int


@dataclass(frozen=True)
class Vectors:
    """How the one column of features becomes numbers.

    Attributes
    ----------
    column : str
        Its name.
    names : tuple of str
        Names of the entries.
    thin : bool
        Whether they are kept as a sparse matrix.
    """

    column: str
    names: tuple[str, ...]
    thin: bool


def _partition() -> int:
    """Number of the partition that runs here."""
    from pyspark import TaskContext  # noqa: PLC0415

    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _row(columns: dict[str, Any], schema: str) -> Any:
    """One row of a result, as Arrow."""
    import pyarrow as pa  # noqa: PLC0415

    types = [pa.binary() if entry.endswith("binary") else pa.int64() for entry in schema.split(", ")]
    return pa.RecordBatch.from_arrays(
        [pa.array([value], type=kind) for value, kind in zip(columns.values(), types, strict=True)], names=list(columns)
    )


@dataclass(frozen=True)
class Counting:
    """Counts the rows of a partition, and how wide its vectors are."""

    vector: str | None

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One row, or none for a partition without rows."""
        n_rows, stored = 0, 0
        widths = [math.inf, -math.inf]
        for batch in batches:
            n_rows += batch.num_rows
            if self.vector is not None and batch.num_rows:
                column = batch.column(batch.schema.get_field_index(self.vector))
                found = widths_of(column)
                found = found[found >= 0]
                stored += stored_in(column)
                if len(found):
                    widths = [min(widths[0], int(found.min())), max(widths[1], int(found.max()))]
        if n_rows:
            low, high = (None if math.isinf(width) else int(width) for width in widths)
            values = {"number": _partition(), "n_rows": n_rows, "narrowest": low, "widest": high, "stored": stored}
            yield _row(values, COUNTED)


@dataclass(frozen=True)
class Reading:
    """Reads a partition part by part, and adds up the function of each.

    Attributes
    ----------
    function : callable
        Of a part; its results can be added up.
    roles : Roles
        Columns that are target and weights.
    counted : dict of int to Counted
        What each partition holds.
    vectors : Vectors or None
        How the one column of features becomes numbers, if it holds vectors.
    n_columns : int
        Number of columns of numbers.
    n_groups : int
        Tasks that results are added up by.
    """

    function: Callable[[Part], Any]
    roles: Roles
    counted: dict[int, Counted]
    vectors: Vectors | None
    n_columns: int
    n_groups: int

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """One row with the sum, or none for a partition without rows."""
        number = _partition()
        batches = iter(batches)
        found: Any = None
        try:
            found = self._added(number, batches)
        except (ValueError, TypeError, RuntimeError) as error:
            kind = next(kind for kind in (ValueError, TypeError, RuntimeError) if isinstance(error, kind))
            found = Fault(kind, str(error))
            for _ in batches:  # Spark wants all that it has sent to be read
                pass
        if found is not None:
            yield _row({"place": number % self.n_groups, "number": number, "found": pickle.dumps(found, 5)}, ADDED)

    def _added(self, number: int, batches: Iterator[Any]) -> Any:
        total: Any = None
        seen, counted = 0, self.counted.get(number, Counted(0, 0))
        for table in _of_size(batches, batch_rows(self.n_columns)):
            if seen + table.num_rows <= counted.n_rows:
                found = self.function(self._part(table, counted.first + seen, f"partition {number}"))
                if total is None:
                    total = found
                else:
                    total += found
            seen += table.num_rows
        if seen != counted.n_rows:
            return Fault(ValueError, f"partition {number} had {counted.n_rows:,} rows, and then {seen:,}", recount=True)
        return total

    def _part(self, table: Any, first: int, label: str) -> Part:
        X, y, weight = split(table, self.roles)
        vectors = self.vectors
        if vectors is not None:
            column = X.column(vectors.column)
            wrong = widths_of(column) != len(vectors.names)
            if wrong.any():
                raise ValueError(
                    f"{label}: row {first + int(wrong.argmax())} has no vector of {len(vectors.names)} entries in column "
                    f"{vectors.column!r}; leave such rows out, or fill them in."
                )
            thin, names = vectors.thin, list(vectors.names)
            X = vector_matrix(column, len(names)) if thin else vector_table(column, names)
        return Part(X, y, weight, first, label)


def _of_size(batches: Iterable[Any], size: int) -> Iterator[Any]:
    """Arrow tables of ``size`` rows each, the last one of what is left, however the batches are cut."""
    import pyarrow as pa  # noqa: PLC0415

    waiting: list[Any] = []
    n_waiting = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        waiting.append(batch)
        n_waiting += batch.num_rows
        if n_waiting >= size:
            table = pa.Table.from_batches(waiting)
            cut = n_waiting // size * size
            for start in range(0, cut, size):
                yield table.slice(start, size)
            waiting, n_waiting = table.slice(cut).to_batches(), n_waiting - cut
    if n_waiting:
        yield pa.Table.from_batches(waiting)


def _sum_of(rows: list[tuple[int, bytes]]) -> Any:
    """Results in the order of their partitions, added up; the first fault, where there is one."""
    total: Any = None
    for _, data in sorted(rows, key=lambda row: row[0]):
        found = pickle.loads(data)
        if isinstance(found, Fault):
            return found
        if total is None:
            total = found
        else:
            total += found
    return total


def add_up(batches: Iterable[Any]) -> Iterator[Any]:
    """Results of several partitions, added up by place: the second level."""
    places: dict[int, list[tuple[int, bytes]]] = {}
    for batch in batches:
        for row in batch.to_pylist():
            places.setdefault(row["place"], []).append((row["number"], row["found"]))
    for place, rows in sorted(places.items()):
        yield _row({"place": place, "number": min(rows)[0], "found": pickle.dumps(_sum_of(rows), 5)}, ADDED)


class SparkTable:
    """A DataFrame of Spark.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The table.
    roles : Roles
        Which of its columns are target and weights.
    """

    def __init__(self, frame: Any, roles: Roles):
        self.frame = frame
        self.roles = roles
        for entry in frame.schema.fields:
            if entry.dataType.typeName() in NOT_SENT:
                raise ValueError(
                    f"column {entry.name!r} of X holds {entry.dataType.simpleString()}, which Spark does not send to "
                    "Python; cast it to a number, or leave it out."
                )
        if frame.isStreaming:
            raise ValueError("X is a stream, which has no end; write it to files for a while, and fit those.")
        check_names(frame.columns, "X")
        self._vectors = [name for name in vector_columns(frame.schema) if name not in roles.names]

    @cached_property
    def names(self) -> list[str]:
        """Names of all columns, and of the entries of vectors."""
        entries = [name for vector in self._vectors for name in self._entries(vector)]
        return [*self.frame.columns, *(name for name in entries if name not in self.frame.columns)]

    def _entries(self, vector: str) -> list[str]:
        width = described_width(self.frame.schema[vector])
        if width is None:
            width = max((row["widest"] or 0 for row in self._count(vector)), default=0)
        return entry_names(self.frame.schema[vector], width)

    @property
    def n_rows(self) -> int | None:
        """Rows of all partitions, where all count."""
        return None if self.roles.weight is not None else sum(row["n_rows"] for row in self._counted)

    def reduce(self, function: Callable[[Part], Result], progress: Progress | None = None) -> Result:  # noqa: ARG002
        """``function`` of each part of each partition, added up there, then in groups of partitions, then by the driver."""
        found = self._reduced(function)
        if isinstance(found, Fault) and found.recount:
            # Without the columns that are not counted, Spark may have cut the table into other partitions.
            self.__dict__["_counted"] = self._count(None, whole=True)
            found = self._reduced(function)
            if isinstance(found, Fault) and found.recount:
                raise ValueError(RESTLESS.format(found.text))
        if isinstance(found, Fault):
            raise found.kind(found.text)
        result: Result = found
        return result

    def _reduced(self, function: Callable[[Part], Any]) -> Any:
        counted: dict[int, Counted] = {}
        n_rows = 0
        for row in sorted(self._counted, key=lambda row: row["number"]):
            counted[row["number"]] = Counted(n_rows, row["n_rows"])
            n_rows += row["n_rows"]
        if not n_rows:
            raise ValueError("the table has no rows.")
        vectors = self._read_vectors
        n_columns = len(self.frame.columns) if vectors is None else len(vectors.names)
        n_groups = 1 if len(counted) <= FEW else math.ceil(math.sqrt(len(counted)))
        reading = Reading(function, self.roles, counted, vectors, n_columns, n_groups)
        rows = _mapped(self.frame, reading, ADDED)
        if n_groups > 1:
            rows = _mapped(rows.repartition(n_groups, "place"), add_up, ADDED)
        return _sum_of([(row["number"], bytes(row["found"])) for row in _collected(rows)])

    @cached_property
    def _counted(self) -> list[Any]:
        """Rows of each partition, and the widths of its vectors, counted in a first pass."""
        return self._count(self._vector)

    def _count(self, vector: str | None, *, whole: bool = False) -> list[Any]:
        frame = self.frame
        if not whole:
            frame = frame.selectExpr("1 AS row") if vector is None else taken(frame, [vector])
        return _collected(_mapped(frame, Counting(self._vector if whole else vector), COUNTED))

    @property
    def _vector(self) -> str | None:
        """The column of features, where it holds vectors: it must be the only one."""
        features = [name for name in self.frame.columns if name not in self.roles.names]
        if self._vectors and len(features) > 1:
            other = next(name for name in features if name != self._vectors[0])
            raise ValueError(
                f"column {self._vectors[0]!r} holds vectors, so it must be the only column beside target and weights, but "
                f"there is {other!r}, too; select the columns that are meant, such as X.select({self._vectors[0]!r}, ...)."
            )
        return self._vectors[0] if self._vectors else None

    @cached_property
    def _read_vectors(self) -> Vectors | None:
        vector = self._vector
        if vector is None:
            return None
        widths = [row[which] for row in self._counted for which in ("narrowest", "widest") if row[which] is not None]
        low, high = (min(widths), max(widths)) if widths else (0, 0)
        if low != high:
            raise ValueError(f"the vectors of column {vector!r} have from {low} to {high} entries; give all as many.")
        n_rows, stored = (sum(row[name] for row in self._counted) for name in ("n_rows", "stored"))
        return Vectors(vector, tuple(entry_names(self.frame.schema[vector], high)), stored <= THIN * n_rows * high)

    def select(self, names: Any) -> Any:
        """The table with some of its columns, by name, or with some entries of its vectors, by name or place; unread."""
        if all(isinstance(name, str) and name in self.frame.columns for name in names):
            return taken(self.frame, names)
        for vector in self._vectors:
            entries = None if all(isinstance(name, int) for name in names) else self._entries(vector)
            if entries is None or set(names) <= set(entries):
                places = list(names) if entries is None else [entries.index(name) for name in names]
                return sliced(taken(self.frame, [vector]), vector, vector, places)
        raise ValueError(f"X has neither such columns nor vectors with such entries: {', '.join(map(repr, names[:5]))}.")


def sliced(frame: Any, vector: str, output: str, places: list[int]) -> Any:
    """A table with some entries of a vector column, whose metadata are kept, in a column of their own or in its place."""
    from pyspark.ml.feature import VectorSlicer  # noqa: PLC0415

    names = list(frame.columns)
    if output != vector and output in names:
        raise ValueError(f"the table has a column {output!r} already; give another output_col.")
    plain = [f"c{place}" for place in range(len(names))]  # Spark's stages look into names with dots
    cut = VectorSlicer(inputCol=plain[names.index(vector)], outputCol="cut", indices=places).transform(frame.toDF(*plain))
    if output != vector:
        return cut.toDF(*names, output)
    return cut.select(*("cut" if name == vector else plain[place] for place, name in enumerate(names))).toDF(*names)


def assembled(frame: Any, columns: list[str], output: str) -> Any:
    """A table with some columns of numbers as vectors in a column of their own, whose entries are called as they are."""
    from pyspark.ml.feature import VectorAssembler  # noqa: PLC0415

    names = list(frame.columns)
    plain = [f"c{place}" for place in range(len(names))]
    inputs = [plain[names.index(name)] for name in columns]
    made = VectorAssembler(inputCols=inputs, outputCol="made", handleInvalid="keep").transform(frame.toDF(*plain))
    called = dict(zip(inputs, columns, strict=True))
    described = dict(made.schema["made"].metadata)
    for group in described.get("ml_attr", {}).get("attrs", {}).values():
        for entry in group:
            entry["name"] = called.get(entry.get("name"), entry.get("name"))
    return made.withMetadata("made", described).toDF(*names, output)


def taken(frame: Any, names: Iterable[str]) -> Any:
    """Some columns of a table by their very names: Spark looks into those with dots, and takes ``x`` and ``X`` for one."""
    wanted, known = list(names), list(frame.columns)
    plain = [f"c{place}" for place in range(len(known))]
    return frame.toDF(*plain).select(*(plain[known.index(name)] for name in wanted)).toDF(*wanted)


@dataclass(frozen=True)
class Named:
    """A function of a partition whose columns had no names on the way: Spark looks into names with dots and quotes."""

    function: Callable[[Iterable[Any]], Iterator[Any]]
    names: tuple[str, ...]

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The function of the batches, with their names."""
        return self.function(batch.rename_columns(list(self.names)) for batch in batches)


def _mapped(frame: Any, function: Any, schema: str) -> Any:
    """``function`` of each partition, unread; all goes through Arrow, so what Spark says of pandas does not matter."""
    names = tuple(frame.columns)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*pandas", category=FutureWarning)
        return frame.toDF(*(f"c{place}" for place in range(len(names)))).mapInArrow(Named(function, names), schema)


def _collected(rows: Any) -> list[Any]:
    """The few rows of a result; says so where the workers do not have the library."""
    try:
        return list(rows.collect())
    except Exception as error:
        if "No module named 'easyfs" in str(error):
            raise RuntimeError(
                "EasyFS is not installed where Spark's Python workers run; install the same version there as where fit is "
                "called (PYSPARK_PYTHON says which Python they use)."
            ) from error
        raise


def of_frame(frame: Any, roles: Roles) -> SparkTable:
    """A DataFrame of Spark, classic or connect."""
    return SparkTable(frame, roles)
