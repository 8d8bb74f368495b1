"""What a target is read as where nobody says: whole numbers and texts may be classes or quantities."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from easyfs.common.notices import warn_user
from easyfs.common.types import Array

# Up to so many different whole numbers are few: classes, unless they trail off like counts, which are this many or more.
FEW_VALUES, FEWEST_COUNTS = 10, 5
# Classes beyond this many are many; so many rows of each are several.
MANY_CLASSES, ROWS_PER_CLASS = 30, 5
# Codes are seldom more than this.
MOST_CODES = 100
# A value that is found in fewer rows than this is rare. Codes have hardly any of them.
RARE, FEW_RARE = 3, 0.1
# Whole numbers are without gaps if this share of those between the smallest and the largest is there.
WITHOUT_GAPS = 0.75
# Codes are even if the most frequent one has at most this many times the rows of the rarest, and made so if their rows
# vary by less than this share of what chance would make of them.
EVEN, MADE_EVEN = 4, 0.5
# A table of fewer rows is too small to say that it has as many classes as rows.
FEWEST_ROWS, NEARLY_ALL = 20, 0.9
# What so much of the different texts looks like, in a sample of them, is what they are.
MOSTLY, SAMPLE = 0.95, 1000
# Whole numbers within this range are counted, in more rows within a range of as many numbers as there are rows.
SMALL_RANGE = 1 << 16
CURRENCY = r"(?:[$€£¥₹₽₩]|USD|EUR|GBP|JPY|CHF|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|kr\.?|zł)"
# A number that begins with a zero, such as 00123, is a code. Patterns are compiled when they are first used.
_NUMBER = (
    rf"(?P<money>{CURRENCY})?\s*(?P<sign>[+-]?)\s*(?P<dear>{CURRENCY})?\s*"
    r"(?:(?P<plain>(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<grouped>[1-9]\d{0,2}(?P<mark>[,.'\u2019\s])\d{3}(?:(?P=mark)\d{3})*)(?:[.,](?P<rest>\d+))?"
    r"|(?P<comma>(?:0|[1-9]\d*),\d+))"
    rf"\s*(?:(?P<percent>%)|(?P<paid>{CURRENCY}))?"
)


_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[ap]m)?"
_DATE = (
    rf"(?i:(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{4}}[-/]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.](?:\d{{4}}|\d{{2}})"
    rf"|\d{{1,2}}\.?[- ]{_MONTH}[- ]\d{{2,4}}|{_MONTH} (?:\d{{1,2}},? )?\d{{4}})"
    rf"(?:[T ]+{_CLOCK} ?(?:z|utc|[+-]\d{{2}}:?\d{{2}})?)?|{_CLOCK})"
)


@dataclass(frozen=True)
class Reading:
    """How whole numbers are read, and whether that is beyond doubt."""

    classes: bool
    sure: bool


def read_whole_numbers(values: Array, counts: Array) -> Reading:
    """Whether whole numbers are classes or quantities.

    Parameters
    ----------
    values : ndarray
        The different numbers, in order.
    counts : ndarray
        The rows in which each is found.
    """
    k, n = len(values), int(counts.sum())
    if k <= 2:
        return Reading(True, True)
    span = float(values[-1]) - float(values[0]) + 1.0
    each = n / k
    without_gaps = k >= WITHOUT_GAPS * span
    begins = values[0] in (0, 1)  # as codes do, unlike ages, years and temperatures
    if k == span and counts.min() >= 2 and counts.max() <= EVEN * counts.min():
        # Such as persons 1 to 40 with about eight pictures of each; years are as even as chance has it.
        codes = bool(begins or k <= MANY_CLASSES or counts.var() < MADE_EVEN * each)
        return Reading(codes, codes)
    if k < FEWEST_COUNTS and each >= 2:
        return Reading(True, True)
    if k <= FEW_VALUES and each >= 2:
        trails_off = bool(min(counts[0], counts[-1]) < RARE)
        if without_gaps:  # a last class of two rows, or the end of small counts
            return Reading(True, not trails_off)
        return Reading(not trails_off, bool((counts >= RARE).all()))
    if without_gaps and each >= ROWS_PER_CLASS and (counts < RARE).mean() <= FEW_RARE:
        return Reading(bool(k <= MANY_CLASSES or (begins and k <= MOST_CODES)), False)
    doubtful = (without_gaps and each >= 1.5 and k <= MOST_CODES) or (k <= MANY_CLASSES and each >= 2 * ROWS_PER_CLASS)
    return Reading(False, not doubtful)


def count_values(y: Array) -> tuple[Array, Array]:
    """The different values of a column, in order, and how often each comes."""
    if y.dtype.kind in "iub" and len(y):
        low, high = int(y.min()), int(y.max())
        if high - low < max(len(y), SMALL_RANGE):  # counted rather than sorted
            counts = np.bincount(y.astype(np.int64) - low)
            present = np.flatnonzero(counts)
            return (present + low).astype(y.dtype), counts[present]
    values, counts = np.unique(y, return_counts=True)
    return values, counts


def code_values(y: Array) -> tuple[Array, Array]:
    """The different values of a column, in order, and the place of each row's value among them."""
    if y.dtype.kind in "iub" and len(y):
        values, _ = count_values(y)
        low = int(values[0])
        if int(values[-1]) - low < max(len(y), SMALL_RANGE):
            place = np.zeros(int(values[-1]) - low + 1, dtype=np.intp)
            place[values.astype(np.int64) - low] = np.arange(len(values))
            return values, place[y.astype(np.int64) - low]
    values, codes = np.unique(y, return_inverse=True)
    return values, codes.reshape(-1)


def reading_of(y: Array) -> Reading:
    """Whether a column of numbers is classes or quantities; what is not whole is quantities."""
    return read_whole_numbers(*count_values(y)) if are_whole(y) else Reading(False, True)


def read_numbers(y: Array) -> str:
    """What numbers are read as, "classes" or "values"; a doubtful case is said."""
    if not are_whole(y):
        return "values"
    return read_counts(*count_values(y))


def read_counts(values: Array, counts: Array) -> str:
    """What different whole numbers, each in so many rows, are read as; a doubtful case is said."""
    reading = read_whole_numbers(values, counts)
    if not reading.sure:
        start = f"y holds {len(values):,} different whole numbers in {int(counts.sum()):,} rows and is read as"
        if reading.classes:
            warn_user(f"{start} classes; if they are quantities, say task='regression', otherwise task='classification'.")
        else:
            warn_user(f"{start} quantities; if they are classes, say task='classification', otherwise task='regression'.")
    return "classes" if reading.classes else "values"


def are_whole(values: Array) -> bool:
    """Whether numbers are all whole."""
    return values.dtype.kind != "f" or bool((values == np.round(values)).all())


def check_labels(y: Array) -> None:
    """Texts (or values of a category) must be classes: neither numbers and dates in disguise, nor a name for each row."""
    labels, counts = count_values(y)
    k, n = len(labels), len(y)
    if k <= FEW_VALUES:
        return
    few_rows = n < ROWS_PER_CLASS * k
    found = f"{k:,} different values in {n:,} rows"
    looks = looks_like(labels) if labels.dtype.kind in "OUST" else None
    # Where each row has a class of its own, there is nothing to insist on.
    insist = ", or say task='classification' if each value is a class" if k < n or n < FEWEST_ROWS else ""
    if looks is not None and (_are_quantities(looks, counts, n) if looks.numbers is not None else few_rows):
        into = "days since the first" if looks.value is None else f"numbers, such as {looks.value:.12g}"
        raise ValueError(
            f"y holds text that looks like {looks.what} (for example {looks.example!r}){but_for(looks, labels)}, with "
            f"{found}: turn it into {into}{insist}."
        )
    if n >= FEWEST_ROWS and k >= NEARLY_ALL * n:
        numbers = ", or say task='regression' if the values are quantities" if labels.dtype.kind in "iuf" else ""
        raise ValueError(
            f"y has nearly as many classes as rows: {found} (for example {labels.tolist()[0]!r}), so that there is nothing "
            f"to learn about a class. Check that this is the right column{numbers or insist}."
        )
    if k > MANY_CLASSES and few_rows:
        warn_user(
            f"y holds {found} and is read as that many classes, of few rows each; check that this is the right column, and "
            "say task='classification' if it is."
        )


def but_for(looks: Looks, labels: Array) -> str:
    """What among texts that look like numbers is none, in words; empty where all are."""
    others = [] if looks.numbers is None else labels[np.isnan(looks.numbers)].tolist()
    return f" but for {len(others)} of its values, such as {others[0]!r}, which must be mended" if others else ""


def _are_quantities(looks: Looks, counts: Array, n: int) -> bool:
    """Whether numbers that are written as text are quantities rather than codes."""
    assert looks.numbers is not None
    known = ~np.isnan(looks.numbers)
    values, codes = np.unique(looks.numbers[known], return_inverse=True)
    if not are_whole(values):
        return len(values) > MANY_CLASSES or n < ROWS_PER_CLASS * len(values)
    reading = read_whole_numbers(values, np.bincount(codes, weights=counts[known]))
    # That they are written as text speaks for codes.
    return not reading.classes and (reading.sure or len(values) >= NEARLY_ALL * n)


@dataclass(frozen=True, eq=False)
class Looks:
    """What texts look like.

    Attributes
    ----------
    what : str
        The kind, in words.
    example : str
        One of them.
    numbers : ndarray or None
        The numbers that they say, NaN for one that says none; None for dates.
    value : float or None
        The number that the example says.
    """

    what: str
    example: str
    numbers: Array | None = None
    value: float | None = None


def looks_like(labels: Array) -> Looks | None:
    """What different texts look like, where nearly all of them are numbers or dates; None for words."""
    texts = [label.decode(errors="replace") if isinstance(label, bytes) else str(label) for label in labels.tolist()]
    texts = [text.strip() for text in texts]
    sample = texts[:: -(-len(texts) // SAMPLE)]
    date, number = re.compile(_DATE), re.compile(_NUMBER)
    if sum(date.fullmatch(text) is not None for text in sample) >= MOSTLY * len(sample):
        return Looks("dates or times", next(text for text in texts if date.fullmatch(text)))
    if sum(number.fullmatch(text) is not None for text in sample) < MOSTLY * len(sample):
        return None
    found = [number.fullmatch(text) for text in texts]
    numbers = np.array([np.nan if match is None else _value(match) for match in found])
    for what, groups in {
        "amounts of money": ("money", "dear", "paid"),
        "percentages": ("percent",),
        "numbers with thousands separators": ("grouped",),
        "numbers with a decimal comma": ("comma",),
        "numbers": ("plain",),
    }.items():
        for text, match, value in zip(texts, found, numbers, strict=True):
            if match is not None and any(match[group] for group in groups):
                return Looks(what, text, numbers, float(value))
    return None


def _value(match: re.Match[str]) -> float:
    if match["plain"]:
        size = match["plain"]
    elif match["grouped"]:
        size = re.sub(r"\D", "", match["grouped"]) + "." + (match["rest"] or "0")
    else:
        size = match["comma"].replace(",", ".")
    return float(f"{match['sign']}{size}")
