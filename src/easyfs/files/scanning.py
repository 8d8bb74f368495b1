"""A table in one or several files that is not read yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from easyfs.common.extras import optional
from easyfs.files.cells import Cells
from easyfs.files.doubts import say_doubts
from easyfs.files.finding import find_files
from easyfs.files.formats import EmptyFileError, FileError, TextOptions
from easyfs.files.members import Member, Piece
from easyfs.files.source import Source, open_source

MOST_FILES, MOST_NAMES = 4, 8
ROWS = 1 << 16


@dataclass
class Learnt:
    """What reading the files has told of the table so far.

    Attributes
    ----------
    cells : dict of str to Cells
        What the cells of text are, for each column.
    keys : dict of str to Cells
        What the names of folders say, for each column that they give.
    types : dict of str to polars type
        The type of each column.
    n_rows : dict of str to int
        Rows of the files that had to be read for that.
    said : set of str
        Columns of which has been said what is doubtful about them.
    """

    cells: dict[str, Cells] = field(default_factory=dict)
    keys: dict[str, Cells] = field(default_factory=dict)
    types: dict[str, Any] = field(default_factory=dict)
    n_rows: dict[str, int] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Scan:
    """A table in one or several files that is not read yet; :func:`scan` makes one.

    Attributes
    ----------
    members : list of Member
        The files.
    names : list of str
        Names of the columns.
    options : TextOptions
        How text is read.
    where : tuple of (tuple of str, callable), optional
        Columns, and what says of polars Series of them which rows count.
    progress : callable, optional
        Called by a fit with the number of rows of each pass that it has done.

    Examples
    --------
    >>> import tempfile, pathlib, polars as pl, easyfs
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}).write_csv(folder / "small.csv")
    >>> table = easyfs.scan(folder / "small.csv")
    >>> table.n_files, table.names
    (1, ['a', 'b'])
    >>> table.select(["b"]).collect()["b"].to_list()
    ['x', 'y']
    """

    members: list[Member]
    names: list[str]
    options: TextOptions = field(default_factory=TextOptions)
    where: tuple[tuple[str, ...], Callable[..., Any]] | None = None
    progress: Callable[[int], None] | None = None
    learnt: Learnt = field(default_factory=Learnt, repr=False, compare=False)

    @property
    def n_files(self) -> int:
        """Number of files."""
        return len(self.members)

    @property
    def size(self) -> int:
        """Bytes of the files."""
        self._check_unchanged()
        return sum(path.stat().st_size for path in {member.source.origin for member in self.members})

    @property
    def n_rows(self) -> int | None:
        """Number of rows, where it is known without reading them: of text only after it has been read."""
        self._check_unchanged()
        found = [self.learnt.n_rows.get(member.label, member.n_rows) for member in self.members]
        return None if None in found else sum(n for n in found if n is not None)

    @property
    def format(self) -> str:
        """The format of the files; several with commas between them."""
        return ", ".join(dict.fromkeys(member.source.given for member in self.members))

    @property
    def label(self) -> str:
        """What the table is called in messages."""
        return self.members[0].label if self.n_files == 1 else f"{self.members[0].label} and {self.n_files - 1} more"

    def __repr__(self) -> str:
        labels = [member.label for member in self.members]
        try:
            size = size_of(self.size)
        except FileError:
            size = "not as they were"
        return (
            f"Scan of {self.n_files} file{'' if self.n_files == 1 else 's'} ({self.format}, {size}), "
            f"{len(self.names)} column{'' if len(self.names) == 1 else 's'}\n"
            f"  files: {_shortened(labels, MOST_FILES)}\n"
            f"  columns: {_shortened(self.names, MOST_NAMES)}"
        )

    def select(self, names: Sequence[str]) -> Scan:
        """The table with some of its columns, in the order that is given; it is not read.

        Parameters
        ----------
        names : sequence of str
            Names of the columns.
        """
        names = [names] if isinstance(names, str) else list(names)
        unknown = [name for name in names if name not in set(self.names)]
        if unknown:
            raise FileError(f"{self.label} has no column {unknown[0]!r}.")
        return replace(self, names=names)

    def only(self, names: Sequence[str], keep: Callable[..., Any]) -> Scan:
        """The table with some of its rows; it is not read.

        Parameters
        ----------
        names : sequence of str
            Columns.
        keep : callable
            Gives, of a polars Series of each, a Series of booleans. Its ``begin()``, if it has one, is called before each
            reading.
        """
        return replace(self, where=(tuple(names), keep))

    def watched(self, progress: Callable[[int], None]) -> Scan:
        """The table, whose fit says how many rows it has done."""
        return replace(self, progress=progress)

    def collect(self) -> Any:
        """The table in memory, as a polars frame."""
        pl = optional("polars", "cli", "reading a table")
        frames = list(self.batches())
        return pl.concat(frames) if frames else pl.DataFrame(schema=self.types())

    def batches(self, rows: int = ROWS) -> Iterator[Any]:
        """The rows in polars frames of at most ``rows``.

        Parameters
        ----------
        rows : int
            Most rows of a batch.
        """
        for piece in self.pieces(rows):
            yield from piece.frames()

    def pieces(self, rows: int = ROWS) -> Iterator[Piece]:
        """The rows in pieces, of which those of Parquet are read when their frames are asked for.

        Parameters
        ----------
        rows : int
            Most rows of a frame.
        """
        read = self._read_names()
        self._check_unchanged()
        types = self.types()
        if self.where is not None and hasattr(self.where[1], "begin"):
            self.where[1].begin()

        def completed(member: Member, piece: Piece) -> Iterator[Any]:
            for frame in piece.frames():
                full = self._completed(member, frame, read, types)
                if self.where is not None:
                    full = full.filter(self.where[1](*(full[name] for name in self.where[0])))
                if len(full):
                    yield full if full.columns == self.names else full[self.names]

        for member in self.members:
            for piece in member.pieces(read, self.learnt.cells, rows):
                if self.where is None:
                    yield replace(piece, frames=partial(completed, member, piece))
                else:  # how many rows are left is not known before they are read
                    yield from (Piece.read(frame, piece.label) for frame in completed(member, piece))
        self._check_unchanged()

    @property
    def is_delimited(self) -> bool:
        """Whether all files are text with a delimiter that have all columns themselves."""
        return all(member.source.is_delimited and set(self.names) <= set(member.names) for member in self.members)

    def texts(self) -> Iterator[Any]:
        """The rows of files of text as they were written, in polars frames of texts."""
        read = self._read_names()
        self._check_unchanged()
        if self.where is not None:
            self.types()
        for member in self.members:
            for chunk in member.texts(read):
                kept = chunk
                if self.where is not None:
                    names, keep = self.where
                    kept = chunk.filter(keep(*(self.learnt.cells[name].read(chunk[name]) for name in names)))
                if len(kept):
                    yield kept[self.names]

    def types(self) -> dict[str, Any]:
        """The type of each column in all files; text is read for that, once."""
        read = self._read_names()
        new = [name for name in read if name not in self.learnt.types]
        if new:
            self._check_unchanged()
            self._learn(new)
        return {name: self.learnt.types[name] for name in read}

    def _check_unchanged(self) -> None:
        for member in self.members:
            member.check_unchanged()

    def _read_names(self) -> list[str]:
        extra = () if self.where is None else self.where[0]
        return list(dict.fromkeys((*self.names, *extra)))

    def _completed(self, member: Member, frame: Any, read: list[str], types: dict[str, Any]) -> Any:
        """A frame of a file with all columns, in their types."""
        pl = optional("polars", "cli", "reading a table")
        if frame.schema == types:  # names in their order, too
            return frame
        has = set(frame.columns)
        columns = []
        for name in read:
            if name in has:
                series = frame[name]
                columns.append(series if series.dtype == types[name] else series.cast(types[name]))
            elif name in member.keys:
                key = self.learnt.keys[name].read(pl.Series(name, [member.keys[name]], dtype=pl.String))
                columns.append(key.cast(types[name]).new_from_index(0, len(frame)))
            else:
                columns.append(pl.Series(name, [None], dtype=types[name]).new_from_index(0, len(frame)))
        return pl.DataFrame(columns)

    def _learn(self, names: list[str]) -> None:
        pl = optional("polars", "cli", "reading a table")
        learnt = self.learnt
        texts = [member for member in self.members if member.source.is_delimited]
        semicolons = bool(texts) and texts[0].source.delimited.delimiter == ";"
        for name in names:
            learnt.cells[name] = Cells(self.options, semicolons=semicolons)
            learnt.keys[name] = Cells()
            values = [member.keys[name] for member in self.members if name in member.keys and name not in member.has]
            if values:
                learnt.keys[name].look(pl.Series(name, values, dtype=pl.String))
        for member in texts:
            learnt.n_rows[member.label] = member.look({name: learnt.cells[name] for name in names if name in member.has})
        say_doubts(repr(self.label), {name: learnt.cells[name] for name in names}, learnt.said)
        for name in names:
            learnt.types[name] = self._type_of(name)

    def _type_of(self, name: str) -> Any:
        """The one type of a column in all files."""
        pl = optional("polars", "cli", "reading a table")
        found, place = pl.Null(), ""
        for member in self.members:
            if name not in member.has and name not in member.keys:
                continue
            if name in member.has and not member.source.is_delimited:
                own = member.own_types[name]
            else:
                own = _type_of_cells((self.learnt.cells if name in member.has else self.learnt.keys)[name].final)
            both = _common(found, own)
            if both is None:
                raise FileError(
                    f"column {name!r} holds {_in_words(own)} in {member.label!r}, but {_in_words(found)} in {place!r}; "
                    "give it one type in all files."
                )
            place = place if both == found and place else member.label
            found = both
        return pl.Float64() if found == pl.Null else found


def _type_of_cells(kind: str) -> Any:
    pl = optional("polars", "cli", "reading a table")
    types = {"empty": pl.Null, "integer": pl.Int64, "float": pl.Float64, "boolean": pl.Boolean, "text": pl.String}
    return pl.Datetime("us") if kind == "date" else types[kind]()


def _common(a: Any, b: Any) -> Any:
    """The type that holds values of two; None where they are of different kinds."""
    pl = optional("polars", "cli", "reading a table")
    if b in (a, pl.Null):
        return a
    if a == pl.Null:
        return b
    if a.is_numeric() and b.is_numeric():
        return pl.Int64() if a.is_integer() and b.is_integer() and pl.UInt64 not in (a, b) else pl.Float64()
    texts = (pl.String, pl.Categorical, pl.Enum)
    if isinstance(a, texts) and isinstance(b, texts):
        return pl.String()
    if isinstance(a, (pl.Date, pl.Datetime)) and isinstance(b, (pl.Date, pl.Datetime)):
        zones = [getattr(dtype, "time_zone", None) for dtype in (a, b)]
        return pl.Datetime("us", zones[0]) if zones[0] == zones[1] else None
    return None


def _in_words(dtype: Any) -> str:
    pl = optional("polars", "cli", "reading a table")
    if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum)):
        return "text"
    return f"numbers ({dtype})" if dtype.is_numeric() else str(dtype)


def _shortened(texts: list[str], most: int) -> str:
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def size_of(n: float) -> str:
    """A number of bytes, to be read."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "bytes" or n >= 10 else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} TB"


def scan(  # noqa: PLR0913 - options of text, all by name
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    as_format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    decimal: str | None = None,
    missing: Sequence[str] = (),
    header: bool = True,
    quotes: bool = True,
    thousands: str | None = None,
    date_order: str | None = None,
    comment: str | None = None,
    query: str | None = None,
    hive: bool = True,
) -> Scan:
    """A table in files that is never in memory as a whole: ``fit`` reads it in batches, only the columns that it needs.

    Names of columns are read at once, and of Parquet and Arrow files the types; all files must have the same. Files of text
    are read once more, for the types of their columns, when they are first needed. An empty file adds nothing.

    Parameters
    ----------
    path : str, path or list of them
        A file, a folder, a pattern such as ``"folder/*.parquet"``, or several. CSV, TSV and JSON (each also compressed),
        Parquet, Arrow IPC, .npz and .npy, Excel, SQLite and DuckDB (``"shop.duckdb::sales"``), ARFF and libsvm. Of a folder
        all tables are taken, also those in folders below it.
    as_format : str, optional
        The format, where the names do not tell: "csv", "tsv", "parquet", "arrow", "jsonl", "npz", "npy", "excel", "arff",
        "libsvm", "sqlite" or "duckdb".
    delimiter : str, optional
        The character between cells of text; found out by default.
    encoding : str, default="utf-8"
        Encoding of text.
    decimal : {".", ","}, optional
        The decimal mark of numbers in text; found out by default, column by column.
    missing : sequence of str, default=()
        Further words (or numbers) for a missing value.
    header : bool, default=True
        Whether the first line of text has the names of the columns.
    quotes : bool, default=True
        Whether cells of text may be put in quotation marks.
    thousands : {",", ".", "'", "space"}, optional
        The mark between groups of three digits; found out by default, where that is beyond doubt.
    date_order : {"day", "month"}, optional
        What comes first in dates such as 03/07/2024; found out by default, and said where it cannot be.
    comment : str, optional
        How lines begin that are no rows. Lines before the header that begin with # are none in any case.
    query : str, optional
        What is asked of a database, instead of one of its tables.
    hive : bool, default=True
        Whether folders such as ``year=2024`` are columns.

    Returns
    -------
    Scan
        For ``fit`` and ``transform`` of EasyFS and EasyFSRanking. ``names``, ``n_files``, ``n_rows`` and ``size`` say what
        it is, ``select(names)`` takes some columns, unread, and ``collect()`` reads it into a polars frame.

    Examples
    --------
    >>> import tempfile, pathlib, numpy as np, polars as pl, easyfs
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> X = np.random.default_rng(0).normal(size=(300, 5))
    >>> table = pl.DataFrame(X, schema=list("abcde")).with_columns(y=X[:, 1] - X[:, 3])
    >>> table[:200].write_parquet(folder / "first.parquet")
    >>> table[200:].write_parquet(folder / "second.parquet")
    >>> files = easyfs.scan(folder / "*.parquet")
    >>> files.n_files, files.n_rows, files.names
    (2, 300, ['a', 'b', 'c', 'd', 'e', 'y'])
    >>> selector = easyfs.EasyFS(2, random_state=0).fit(files, "y")
    >>> chosen = selector.transform(files)  # not read yet
    >>> chosen.names, chosen.collect().shape
    (['b', 'd'], (300, 2))
    """
    words = (missing,) if isinstance(missing, str) else tuple(str(word) for word in missing)
    options = TextOptions(delimiter, encoding, decimal, words, header, quotes, thousands, date_order, comment)
    return scan_files(path, options, as_format=as_format, query=query, hive=hive)


def scan_files(
    path: Any, options: TextOptions, *, as_format: str | None = None, query: str | None = None, hive: bool = True
) -> Scan:
    """As :func:`scan`, with options that are made already."""
    members, empty = [], []
    for found in find_files(path, every=as_format is not None):
        try:
            source = open_source(found.name, as_format=as_format, options=options, query=query)
            member = Member.found(source, found.name, found.keys if hive else {})
            assert member.names
            members.append(member)
        except EmptyFileError:
            empty.append(found.name)
    if not members:
        raise FileError(f"{empty[0]!r} is empty{', and so are the others' if len(empty) > 1 else ''}.")
    return Scan(members, _names_of(members), options)


def scan_of(source: Source) -> Scan:
    """A table in one file that is open already, such as a copy of standard input."""
    return Scan([Member.found(source, source.label.strip("'"), {})], source.names, source.options)


def _names_of(members: list[Member]) -> list[str]:
    """Names of the columns, which must be the same in all files (a row of JSON names what it has)."""
    first = members[0]
    names = list(first.names)
    if all(member.is_lines for member in members):
        names = list(dict.fromkeys(name for member in members for name in member.names))
    known = set(names)
    for member in members[1:]:
        own = set(member.names)
        lost = [] if member.is_lines else [name for name in names if name not in own]
        new = [name for name in member.names if name not in known]
        if lost or new:
            what = f"has no column {lost[0]!r}, which" if lost else f"has a column {new[0]!r}, which"
            has = "has" if lost else "has not"
            raise FileError(f"{member.label!r} {what} {first.label!r} {has}; files of one table have the same columns.")
    keys = list(first.keys)
    for member in members[1:]:
        if set(member.keys) != set(keys):
            odd = next(iter(set(member.keys) ^ set(keys)))
            raise FileError(f"{member.label!r} and {first.label!r} lie in folders of different keys: only one has {odd!r}.")
    return names + [key for key in keys if key not in known]
