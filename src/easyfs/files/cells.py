"""From texts to numbers, column by column: only what stays the same when it is written again becomes a number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from easyfs.common.extras import optional
from easyfs.tables.columns import MISSING_WORDS

# A number that begins with a zero is a code (a postal code, an account): "00123" stays a text.
CODE = r"^[+-]?0[0-9]"
LONG_NUMBER = r"^[+-]?[0-9]{16,}$"
EXACT = float(2**53)
NUMBERS = ("empty", "integer", "float")


class Cells:
    """The cells of one column as they come, chunk by chunk.

    Attributes
    ----------
    kind : {"empty", "integer", "float", "boolean", "text"}
        What all cells so far can be.
    again : bool
        Whether text was found after cells that had been turned into numbers; the column has to be read once more.
    """

    def __init__(self, decimal: str = ".", missing: Iterable[str] = ()):
        self.kind = "empty"
        self.again = False
        self._decimal = decimal
        self._words = frozenset((*MISSING_WORDS, *(word.strip().lower() for word in missing)))
        self._extra = frozenset(word.strip() for word in missing)
        self._parts: list[Any] = []

    @property
    def _pl(self) -> Any:
        return optional("polars", "cli", "reading a table")

    def add(self, texts: Any, *, codes: bool = True) -> None:
        """Add a polars Series of texts; ``codes`` says whether there may be numbers that begin with a zero."""
        kind, values = ("text", texts) if self.kind == "text" else self._convert(texts, codes)
        together = self._together(kind)
        if together == "text":
            if self.kind not in ("text", "empty") or any(len(part) > part.null_count() for part in self._parts):
                self.again = self.kind != "text" or self.again
            values = self._without_words(texts)
        self.kind = together
        if self.again:
            self._parts = []
        else:
            self._parts.append(values)

    def look(self, texts: Any, *, codes: bool = True) -> None:
        """Find out what cells can be, as :meth:`add` does, without keeping them."""
        if self.kind != "text":
            self.kind = self._together(self._convert(texts, codes)[0])

    def read(self, texts: Any) -> Any:
        """Cells as what all of them were found to be."""
        pl = self._pl
        if self.kind == "text":
            return self._without_words(texts)
        texts = texts.str.strip_chars()
        if self.kind == "boolean":
            lower = texts.str.to_lowercase()
            found = pl.when(lower == "true").then(True).when(lower == "false").then(False)
            return pl.select(found.alias(texts.name)).to_series()
        if self._decimal == ",":
            texts = texts.str.replace(",", ".", literal=True)
        numbers = texts.cast(pl.Float64, strict=False).fill_nan(None)
        for value in {number for word in self._extra if (number := _number(word)) is not None}:
            numbers = numbers.set(numbers == value, None)
        if self.kind != "integer":
            return numbers
        return texts.cast(pl.Int64, strict=False).set(numbers.is_null(), None)

    def _together(self, kind: str) -> str:
        if self.kind in ("empty", kind):
            return kind
        if kind == "empty":
            return self.kind
        return "float" if self.kind in NUMBERS and kind in NUMBERS else "text"

    def _convert(self, texts: Any, codes: bool) -> tuple[str, Any]:
        pl = self._pl
        if self._decimal == ",":
            texts = texts.str.replace(",", ".", literal=True)
        numbers = texts.cast(pl.Float64, strict=False)
        if numbers.null_count() > texts.null_count():
            texts = texts.str.strip_chars()
            numbers = texts.cast(pl.Float64, strict=False)
            left = texts.filter(numbers.is_null() & texts.is_not_null()).unique().to_list()
            if {text.lower() for text in left} - self._words:
                return self._words_of(texts)
        if codes and texts.str.contains(CODE).any():
            return "text", texts
        return self._numbers_of(texts, numbers)

    def _words_of(self, texts: Any) -> tuple[str, Any]:
        """Texts that are no numbers: true and false, or any."""
        pl = self._pl
        observed = {text.lower() for text in texts.drop_nulls().unique().to_list()} - self._words
        if len(observed) > 2 or not observed <= {"true", "false"}:
            return "text", texts
        lower = texts.str.to_lowercase()
        found = pl.when(lower == "true").then(True).when(lower == "false").then(False)
        return "boolean", pl.select(found.alias(texts.name)).to_series()

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
        if self.kind == "text":
            parts = [part.cast(pl.String) for part in self._parts]
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
