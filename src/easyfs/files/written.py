"""Numbers and dates as people write them: which ways of reading fit all cells of a column, and which one is taken.

What a chunk of cells allows is a set of readings; the readings of a column are those that all its chunks allow. So the
answer does not depend on how a table is cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from easyfs.common.extras import optional
from easyfs.files.formats import TextOptions
from easyfs.tables.reading import CURRENCY

# 1.234,56 and 1,234.56 and 1'234.56 and 1 234,56; PLAIN is what a program writes.
COMMA, POINT, APOSTROPHE, SPACE, PLAIN = "comma", "point", "apostrophe", "space", "plain"
DAY, MONTH = "day", "month"
_GROUPS = {COMMA: r"\.", POINT: ",", APOSTROPHE: "['\u2019]", SPACE: "[ \u00a0\u202f]"}
_DECIMAL = {COMMA: ",", POINT: r"\.", APOSTROPHE: "[.,]", SPACE: "[.,]"}
# How thousands= names the mark between groups.
THOUSANDS = {".": COMMA, ",": POINT, "'": APOSTROPHE, "space": SPACE}
MARK = rf"(?:{CURRENCY}|%)"
MINUS = "\u2212"  # as typesetters write it
TIME = r"(?:[T ]+([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?(?: ?([AaPp])\.?[Mm]\.?)?)?"
DATE = rf"^([0-9]{{1,2}})[/-]([0-9]{{1,2}})[/-]([0-9]{{4}}|[0-9]{{2}}){TIME}$"
# Years of two digits: up to this one of this century.
LAST_OF_CENTURY = 68
FEW = 20


def _number(reading: str) -> str:
    """A regular expression for cells of a reading. A number that begins with a zero is a code, as everywhere."""
    decimal = _DECIMAL[reading]
    whole = rf"(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}(?:{_GROUPS[reading]}[0-9]{{3}})+)"
    size = rf"(?:{whole}(?:{decimal}[0-9]*)?|{decimal}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    return rf"^(?:{CURRENCY}\s*)?[+{MINUS}-]?\s*(?:{CURRENCY}\s*)?{size}\s*{MARK}?$"


PATTERNS = {reading: _number(reading) for reading in _GROUPS}
READINGS = frozenset(PATTERNS)


@dataclass
class Written:
    """What the cells of a column allow, as far as they are known.

    Attributes
    ----------
    readings : frozenset of str
        Ways to read all cells as numbers.
    orders : frozenset of str
        Ways to read all cells as dates: what comes first.
    marks : frozenset of str
        Currency and percent signs; "" for a cell without any.
    odd : bool
        Whether there is a cell that is no number as a program writes it.
    sure : bool
        Whether a cell of spaced groups has a decimal mark, a currency or a percent sign: it is no telephone number.
    grouped : frozenset of str
        Readings whose mark between thousands was seen, of those that have no other sign.
    example : str
        The first odd cell, or the first date.
    pointed : str
        A cell with a comma or a point, where both a decimal comma and a decimal point fit.
    """

    readings: frozenset[str] = READINGS
    orders: frozenset[str] = frozenset((DAY, MONTH))
    marks: frozenset[str] = field(default_factory=frozenset)
    odd: bool = False
    sure: bool = False
    grouped: frozenset[str] = frozenset()
    example: str = ""
    pointed: str = ""

    def see_plain(self, texts: Any) -> None:
        """Take cells that are numbers as a program writes them."""
        self.marks |= {""}
        if COMMA in self.readings and not _all_match(texts, PATTERNS[COMMA]):
            self.readings -= {COMMA}
        self._see_points(texts)

    def see_odd(self, texts: Any) -> bool:
        """Take cells that are none (at least one); gives whether they may still be numbers."""
        readings = frozenset(reading for reading in self.readings if _all_match(texts, PATTERNS[reading]))
        if not readings:
            return False
        found = texts.str.extract(rf"({MARK})").fill_null("").unique().to_list()
        self.readings, self.marks, self.odd = readings, self.marks | set(found), True
        self.sure = self.sure or found != [""] or bool(texts.str.contains("[.,]").any())
        self.grouped |= {mark for mark in (APOSTROPHE, SPACE) if texts.str.contains(rf"[0-9]{_GROUPS[mark]}[0-9]").any()}
        self.example = self.example or str(texts[0])
        self._see_points(texts)
        return True

    def _see_points(self, texts: Any) -> None:
        if not self.pointed and self.readings >= {COMMA, POINT}:
            self.pointed = next(iter(texts.filter(texts.str.contains("[.,]")).head(1).to_list()), "")

    def see_dates(self, texts: Any) -> bool:
        """Take cells that are no numbers (at least one); gives whether they may be dates."""
        if not _all_match(texts, DATE):
            return False
        orders = frozenset(order for order in self.orders if not dates_of(texts, order).null_count())
        if not orders:
            return False
        self.orders, self.example = orders, self.example or str(texts[0])
        return True

    def number_style(self, options: TextOptions, semicolons: bool) -> str | None:
        """How the cells are read as numbers; None if they are no numbers, or it cannot be told."""
        allowed = [] if self.clash else [reading for reading in self.allowed(options) if self._is_sure(reading, options)]
        if not self.odd and COMMA not in allowed:
            return PLAIN
        order = (COMMA, POINT) if semicolons or options.decimal == "," else (POINT, COMMA)
        return next((reading for reading in (*order, APOSTROPHE, SPACE) if reading in allowed), None)

    def allowed(self, options: TextOptions) -> frozenset[str]:
        """Readings that fit the cells and what is said of them."""
        found = self.readings - ({POINT} if options.decimal == "," else {COMMA} if options.decimal == "." else set())
        return found if options.thousands is None else found & {THOUSANDS[options.thousands]}

    def _is_sure(self, reading: str, options: TextOptions) -> bool:
        """Whether a reading is more than a guess: groups of digits with blanks may be telephone numbers."""
        if options.thousands is not None and THOUSANDS[options.thousands] == reading:
            return True
        return reading not in (APOSTROPHE, SPACE) or (reading in self.grouped and (reading != SPACE or self.sure))

    @property
    def clash(self) -> str:
        """Signs that do not go together; empty if there are none."""
        signs = sorted(self.marks - {""})
        if len(signs) > 1:
            return " and ".join(repr(sign) for sign in signs[:3])
        return "'%' and none" if signs == ["%"] and "" in self.marks else ""

    def date_order(self, options: TextOptions, semicolons: bool) -> str | None:
        """What comes first in the dates; None if they are none."""
        if options.date_order is not None:
            return options.date_order if options.date_order in self.orders else None
        preferred = DAY if semicolons or options.decimal == "," else MONTH
        return preferred if preferred in self.orders else next(iter(self.orders), None)


def comma_is_said(options: TextOptions) -> bool:
    """Whether the user says that numbers have a decimal comma, so that 1.234 may be more than a thousand."""
    return options.decimal == "," or options.thousands == "."


def _all_match(texts: Any, pattern: str) -> bool:
    """Whether all texts match; most columns of words are told by their first ones."""
    rust = re.compile(pattern)
    if not all(rust.fullmatch(text) for text in texts[:FEW].to_list() if text is not None):
        return False
    return bool(texts.str.contains(pattern).all())


def numbers_of(texts: Any, style: str) -> Any:
    """Cells of a style as numbers; null for any other."""
    pl = optional("polars", "cli", "reading a table")
    if style != PLAIN:
        texts = texts.str.replace_all(MARK, "").str.replace_all(_GROUPS[style], "")
        texts = texts.str.replace_all(r"\s", "").str.replace(",", ".", literal=True).str.replace(MINUS, "-", literal=True)
    return texts.cast(pl.Float64, strict=False).fill_nan(None)


def dates_of(texts: Any, order: str) -> Any:
    """Cells as dates with the day or the month first; null for what is none."""
    pl = optional("polars", "cli", "reading a table")
    found = texts.str.extract_groups(DATE).struct.unnest()
    day, month = ("1", "2") if order == DAY else ("2", "1")
    year, hour = pl.col("3").cast(pl.Int32), pl.col("4").cast(pl.Int32).fill_null(0)
    afternoon = pl.col("7").str.to_lowercase()
    clock = pl.when(afternoon == "p").then(hour % 12 + 12).when(afternoon == "a").then(hour % 12).otherwise(hour)
    written = pl.concat_str(
        pl.when(year > 99).then(year).when(year > LAST_OF_CENTURY).then(year + 1900).otherwise(year + 2000).cast(pl.String),
        pl.col(month).str.zfill(2),
        pl.col(day).str.zfill(2),
        clock.cast(pl.String).str.zfill(2),
        pl.col("5").fill_null("00"),
        pl.col("6").fill_null("00"),
        separator="-",
    )
    return found.select(written.str.to_datetime("%Y-%m-%d-%H-%M-%S", time_unit="us", strict=False)).to_series()
