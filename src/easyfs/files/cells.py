"""From texts to numbers, column by column: only what stays the same when it is written again becomes a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from easyfs.common.extras import optional
from easyfs.files.formats import TextOptions
from easyfs.files.written import COMMA, PLAIN, Written, comma_is_said, dates_of, numbers_of
from easyfs.tables.columns import MISSING_WORDS

# A number that begins with a zero is a code (a postal code, an account): "00123" stays a text.
CODE = r"^[+-]?0[0-9]"
LONG_NUMBER = r"^[+-]?[0-9]{16,}$"
EXACT = float(2**53)
WRITTEN_NUMBERS = ("empty", "integer", "float", "written")
# Kinds whose cells are kept as they were written until all are known.
RAW = ("written", "date", "text")


class Cells:
    """The cells of one column as they come, chunk by chunk.

    Parameters
    ----------
    options : TextOptions, optional
        How numbers, dates and missing values are written.
    semicolons : bool, default=False
        Whether semicolons are between cells, as where the comma is a decimal mark.

    Attributes
    ----------
    kind : {"empty", "integer", "float", "boolean", "written", "date", "text"}
        What all cells so far can be. "written" are numbers with other marks than a program uses.
    again : bool
        Whether cells that had been turned into numbers are wanted as they were written: the column is to be read again.
    """

    def __init__(self, options: TextOptions | None = None, *, semicolons: bool = False):
        self.options = options or TextOptions()
        self.semicolons = semicolons
        self.kind = "empty"
        self.again = False
        self.written = Written()
        missing = self.options.missing
        self._words = frozenset((*MISSING_WORDS, *(word.strip().lower() for word in missing)))
        self._extra = frozenset(word.strip() for word in missing)
        self._parts: list[Any] = []

    @property
    def _pl(self) -> Any:
        return optional("polars", "cli", "reading a table")

    @property
    def final(self) -> str:
        """What the column is, if there are no more cells: as ``kind``, but never "written"."""
        if self.kind == "written":
            return "text" if self.style is None else "float"
        if self.kind == "date":
            return "text" if self.order is None else "date"
        return self.kind

    @property
    def style(self) -> str | None:
        """How numbers of the kind "written" are read; None if it cannot be told."""
        return self.written.number_style(self.options, self.semicolons)

    @property
    def order(self) -> str | None:
        """What comes first in dates."""
        return self.written.date_order(self.options, self.semicolons)

    def add(self, texts: Any, *, codes: bool = True) -> None:
        """Add a polars Series of texts; ``codes`` says whether there may be numbers that begin with a zero."""
        values = self._see(texts, codes)
        if self.kind in RAW and any(
            part.dtype != self._pl.String and len(part) > part.null_count() for part in self._parts
        ):
            self.again = True
        if self.again:
            self._parts = []
        else:
            self._parts.append(texts if self.kind in RAW else values)

    def add_known(self, texts: Any) -> None:
        """Add texts of a column that has been seen whole and is read once more."""
        self.again = False
        self._parts.append(texts)

    def look(self, texts: Any, *, codes: bool = True) -> None:
        """Find out what cells can be, as :meth:`add` does, without keeping them."""
        self._see(texts, codes)

    def read(self, texts: Any) -> Any:
        """Cells as what all of them were found to be."""
        return self._read(_nameless(texts)).alias(texts.name)

    def _read(self, texts: Any) -> Any:
        pl = self._pl
        kind = self.final
        if kind == "text":
            return self._without_words(texts)
        texts = texts.str.strip_chars()
        if kind == "boolean":
            lower = texts.str.to_lowercase()
            found = pl.when(lower == "true").then(True).when(lower == "false").then(False)
            return pl.select(found).to_series()
        if kind == "date":
            return dates_of(texts, str(self.order))
        numbers = numbers_of(texts, PLAIN if self.kind != "written" else str(self.style))
        for value in {number for word in self._extra if (number := _number(word)) is not None}:
            numbers = numbers.set(numbers == value, None)
        if kind != "integer":
            return numbers
        return texts.cast(pl.Int64, strict=False).set(numbers.is_null(), None)

    def _see(self, texts: Any, codes: bool) -> Any:
        """Take a chunk into account; gives its values, where they are numbers or booleans."""
        if self.kind == "text":
            return texts
        kind, values = self._convert(_nameless(texts), codes)
        self.kind = self._together(kind)
        return values

    def _together(self, kind: str) -> str:
        if self.kind in ("empty", kind):
            return kind
        if kind == "empty":
            return self.kind
        if self.kind in WRITTEN_NUMBERS and kind in WRITTEN_NUMBERS:
            return "written" if "written" in (self.kind, kind) else "float"
        return "text"

    def _convert(self, texts: Any, codes: bool) -> tuple[str, Any]:
        pl = self._pl
        numbers = texts.cast(pl.Float64, strict=False)
        if numbers.null_count() > texts.null_count():
            texts = texts.str.strip_chars()
            numbers = texts.cast(pl.Float64, strict=False)
            left = texts.filter(numbers.is_null() & texts.is_not_null())
            left = left.filter(~left.str.to_lowercase().is_in(list(self._words)))
            if len(left):
                return self._convert_odd(texts, left, texts.filter(numbers.fill_nan(None).is_not_null()), codes)
        if codes and texts.str.contains(CODE).any():
            return "text", texts
        kind, values = self._numbers_of(texts, numbers)
        return self._seen_plain(kind, values, texts.filter(values.is_not_null()) if kind == "float" else texts)

    def _seen_plain(self, kind: str, values: Any, texts: Any) -> tuple[str, Any]:
        """Numbers as a program writes them, unless the user says that 1.234 is more than a thousand."""
        if kind not in ("integer", "float"):
            return kind, values
        if kind == "float":
            self.written.see_plain(texts)
        else:
            self.written.marks |= {""}
        dotted = kind == "float" and COMMA in self.written.readings and comma_is_said(self.options)
        return ("written" if dotted else kind), values

    def _convert_odd(self, texts: Any, left: Any, plain: Any, codes: bool) -> tuple[str, Any]:
        """Cells of which some (``left``) are no numbers as a program writes them."""
        if not self._are_coded(plain, codes) and self.kind in WRITTEN_NUMBERS and self.written.see_odd(left):
            if len(plain):
                self.written.see_plain(plain)
            return ("written" if self.written.readings else "text"), texts
        if not len(plain) and self.kind in ("empty", "date") and self.written.see_dates(left):
            return "date", texts
        return self._words_of(texts)

    def _are_coded(self, plain: Any, codes: bool) -> bool:
        return bool(len(plain)) and bool(
            (codes and plain.str.contains(CODE).any()) or plain.str.contains(LONG_NUMBER).any()
        )

    def _words_of(self, texts: Any) -> tuple[str, Any]:
        """Texts that are no numbers: true and false, or any."""
        pl = self._pl
        observed = {text.lower() for text in texts.drop_nulls().unique().to_list()} - self._words
        if len(observed) > 2 or not observed <= {"true", "false"}:
            return "text", texts
        lower = texts.str.to_lowercase()
        found = pl.when(lower == "true").then(True).when(lower == "false").then(False)
        return "boolean", pl.select(found).to_series()

    def _numbers_of(self, texts: Any, numbers: Any) -> tuple[str, Any]:
        """Numbers: whole, any, or such as do not fit into one."""
        # In numpy, as polars takes long to set up an expression for each of many columns.
        values = numbers.to_numpy()
        gone = np.isnan(values)
        if int(gone.sum()) > numbers.null_count():
            numbers = numbers.fill_nan(None)
        for word in self._extra:
            value = _number(word)
            if value is not None:
                numbers = numbers.set(numbers == value, None)
        if numbers.null_count() == len(numbers):
            return "empty", numbers
        if self.kind != "float" and (gone | (values == np.floor(values))).all():
            whole = texts.cast(self._pl.Int64, strict=False)
            whole = whole.set(numbers.is_null(), None) if self._extra else whole
            if whole.null_count() == numbers.null_count():
                return "integer", narrow(whole)
        if np.abs(values[~gone]).max() >= EXACT and texts.str.contains(LONG_NUMBER).any():
            return "text", texts
        return "float", numbers

    def _without_words(self, texts: Any) -> Any:
        if not self._extra:
            return texts
        return texts.set(texts.str.strip_chars().is_in(list(self._extra)).fill_null(False), None)

    def series(self, name: str, *, compact: bool) -> Any:
        """The column. ``compact`` leaves whole numbers in the smallest type that holds them."""
        pl = self._pl
        if not self._parts:
            return pl.Series(name, [], dtype=pl.String)
        if self.kind in RAW:
            parts = [self.read(part.cast(pl.String)) for part in self._parts]
        elif self.kind == "integer":
            parts = [part.cast(pl.Int64) for part in self._parts] if not compact else self._widened()
        elif self.kind == "boolean":
            parts = [part.cast(pl.Boolean) for part in self._parts]
        else:
            parts = [part.cast(pl.Float64) for part in self._parts]
        self._parts = []
        return pl.concat([part.alias(name) for part in parts], rechunk=False)

    def _widened(self) -> list[Any]:
        types = [part.dtype for part in self._parts if part.dtype.is_integer()]
        widest = max(types, key=_bits)
        return [part.cast(widest) for part in self._parts]


def _nameless(texts: Any) -> Any:
    """Cells without the name of their column: polars would read some names as patterns."""
    return texts.alias("")


def _bits(dtype: Any) -> int:
    return int(str(dtype).removeprefix("Int"))


def narrow(whole: Any) -> Any:
    """Whole numbers in the smallest type that holds them."""
    pl = optional("polars", "cli", "reading a table")
    low, high = whole.min(), whole.max()
    for dtype, bits in ((pl.Int8, 8), (pl.Int16, 16), (pl.Int32, 32)):
        if -(1 << (bits - 1)) <= low and high < 1 << (bits - 1):
            return whole.cast(dtype)
    return whole


def _number(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None
