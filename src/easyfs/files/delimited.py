"""Tables of text with a delimiter, read in chunks of whole lines: what is wrong is said with its line number."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from easyfs.common.extras import optional
from easyfs.common.types import Array
from easyfs.files import blocks
from easyfs.files.blocks import Progress, check_utf8, text_blocks
from easyfs.files.formats import EmptyFileError, FileError, Packing, TextOptions

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "pipe"}
WORDS = {word: mark for mark, word in DELIMITERS.items()} | {"space": " ", "\\t": "\t"}
QUOTE, HASH = b'"', b"#"
_BLANKS = re.compile(rb"[ \t]+")
_EDGES = re.compile(rb"^ | (?=\r?$)", re.MULTILINE)
MEND = "repair it, or put a cell that holds the delimiter in quotation marks"
# The delimiter is sought, and shown to be wrong, in so much of the text.
SNIFFED = 1 << 16
LONGEST_LINE = 1 << 30
_NUMBER = re.compile(rb"[+-]?[0-9]*[.,]?[0-9]+(?:[eE][+-]?[0-9]+)?")
# A wide table is read in larger blocks, for the sake of rows in each.
WIDEST_BLOCK, CELLS_OF_BLOCK = 1 << 26, 1 << 13


@dataclass(frozen=True)
class Delimited:
    """A table of text, and what its first lines say.

    Attributes
    ----------
    path, label : Path and str
        The file, and what it is called in messages.
    packing : Packing or None
        How it is compressed.
    options : TextOptions
        How it is to be read.
    delimiter : str
        The character between cells.
    names : list of str
        Names of the columns.
    above : int
        Lines before the header (or the first row) that are comments.
    """

    path: Path
    label: str
    packing: Packing | None
    options: TextOptions
    delimiter: str
    names: list[str]
    above: int = 0

    def chunks(self, columns: Sequence[int] | None = None, progress: Progress | None = None) -> Iterator[tuple[Any, bool]]:
        """The table in parts, as polars frames of texts; an empty cell is null. ``columns`` leaves the others out.

        With each part comes whether it may have numbers that begin with a zero.
        """
        pl = optional("polars", "cli", "reading a table")
        # Where no column is wanted, the first one says how many rows there are.
        wanted = list(range(len(self.names))) if columns is None else sorted(columns) or [0]
        schema = {str(j): pl.String for j in range(len(self.names))}
        for chunk, first_line in self._whole_lines(progress):
            try:
                frame = pl.read_csv(
                    chunk,
                    has_header=False,
                    schema=schema,
                    columns=None if columns is None else wanted,
                    separator=self.delimiter,
                    quote_char='"' if self.options.quotes else None,
                )
            except pl.exceptions.PolarsError as error:
                check_utf8(chunk, self.label, first_line)
                last = first_line + chunk.count(b"\n")
                raise FileError(
                    f"{self.label} cannot be read between lines {first_line} and {last}; there may be a quotation mark "
                    f"inside a cell: double it, or say quotes=False. ({str(error).splitlines()[0]})"
                ) from error
            frame.columns = [self.names[j] for j in wanted]
            yield frame, may_have_codes(chunk, self.delimiter.encode())

    def _whole_lines(self, progress: Progress | None) -> Iterator[tuple[bytes, int]]:
        """Parts of the text that hold whole lines of the right number of cells, each with the number of its first line."""
        parts = text_blocks(
            self.path,
            self.label,
            packing=self.packing,
            encoding=self.options.encoding,
            progress=progress,
            size=max(blocks.BLOCK, min(WIDEST_BLOCK, CELLS_OF_BLOCK * len(self.names))),
        )
        rest, line, waits_for_header, above = b"", 1, self.options.header, self.above
        for block in parts:
            text = rest + block
            while above and (end := text.find(b"\n")) >= 0:
                text, line, above = text[end + 1 :], line + 1, above - 1
            if above:
                rest = text
                continue
            ends = self._line_ends(text)
            if not len(ends):
                rest = text
                if len(rest) > LONGEST_LINE:
                    raise FileError(f"{self.label} has no line end after line {line}; is it a table of text?")
                continue
            cut = int(ends[-1]) + 1
            rest = text[cut:]
            chunk, start, waits_for_header = self._checked(text[:cut], ends, line, waits_for_header)
            if chunk:
                yield chunk, start
            line += text.count(b"\n", 0, cut)
        if rest.strip():
            if self.options.quotes and rest.count(QUOTE) % 2:
                raise FileError(
                    f"{self.label} has a quotation mark that is never closed, in line {line} or after it; close it, or say "
                    "quotes=False if quotation marks are ordinary characters."
                )
            rest += b"\n"
            chunk, start, _ = self._checked(rest, self._line_ends(rest), line, waits_for_header)
            if chunk:
                yield chunk, start

    def _check_quotes(self, text: bytes, content: Array, line: int) -> None:
        """A quotation mark opens a cell at its beginning, or stands twice."""
        opening = np.flatnonzero(content == QUOTE[0])[::2]
        before = content[opening - 1]
        inside = opening[~np.isin(before, [*self.delimiter.encode(), *b'\n" \t']) & (opening > 0)]
        if len(inside):
            at = line + text.count(b"\n", 0, int(inside[0]))
            raise FileError(
                f"line {at} of {self.label} has a quotation mark inside a cell; put the cell in quotation marks and double "
                "those inside, or say quotes=False if they are ordinary characters."
            )

    def _line_ends(self, text: bytes) -> Array:
        return outside_quotes(text, b"\n", self.options.quotes)

    def _checked(self, text: bytes, ends: Array, line: int, drop_header: bool) -> tuple[bytes, int, bool]:
        """The text without its header and blank lines, the number of its first line, whether the header is yet to come."""
        if self.delimiter == " ":
            text = one_blank(text)
            ends = self._line_ends(text)
        cells = (
            np.diff(np.searchsorted(outside_quotes(text, self.delimiter.encode(), self.options.quotes), ends), prepend=0)
            + 1
        )
        starts = np.concatenate([[0], ends[:-1] + 1])
        content = np.frombuffer(text, dtype=np.uint8)
        if self.options.quotes and QUOTE in text:
            self._check_quotes(text, content, line)
        length = ends - starts
        blank = (length == 0) | ((length == 1) & (content[starts] == ord("\r")))
        if self.options.comment is not None:
            blank |= begins_with(text, content, starts, self.options.comment.encode())
        keep = ~blank
        if drop_header and keep.any():
            keep[int(np.argmax(keep))] = False
            drop_header = False
        wrong = np.flatnonzero((cells != len(self.names)) & keep)
        if len(wrong):
            row = int(wrong[0])
            at = line + text.count(b"\n", 0, int(starts[row]))
            many = f" (so have {len(wrong)} lines)" if len(wrong) > 1 else ""
            comment = content[starts[row]] == HASH[0]
            instead = "say comment='#' if such lines are comments" if comment else MEND
            raise FileError(
                f"line {at} of {self.label} has {cells[row]} cell{'' if cells[row] == 1 else 's'}, but there are "
                f"{len(self.names)} columns{many}; {instead}."
            )
        if keep.all():
            return text, line, drop_header
        if not keep.any():
            return b"", line, drop_header
        first = int(np.argmax(keep))
        if keep[first:].all():
            return text[int(starts[first]) :], line + text.count(b"\n", 0, int(starts[first])), drop_header
        lines = [text[a : b + 1] for a, b in zip(starts[keep].tolist(), ends[keep].tolist(), strict=True)]
        return b"".join(lines), line, drop_header


def begins_with(text: bytes, content: Array, starts: Array, mark: bytes) -> Array:
    """Which lines begin with a mark."""
    found: Array = content[starts] == mark[0]
    for row in np.flatnonzero(found) if len(mark) > 1 else ():
        found[row] = text.startswith(mark, int(starts[row]))
    return found


def one_blank(text: bytes) -> bytes:
    """A text with one blank where any number of blanks and tabs is between cells, and none at the ends of lines."""
    pieces = text.split(QUOTE)
    pieces[::2] = [_BLANKS.sub(b" ", piece) for piece in pieces[::2]]  # what is between is in quotation marks
    return _EDGES.sub(b"", QUOTE.join(pieces))


def outside_quotes(text: bytes, mark: bytes, quotes: bool) -> Array:
    """Where a character stands, outside of quotation marks."""
    content = np.frombuffer(text, dtype=np.uint8)
    places = np.flatnonzero(content == mark[0])
    if quotes and QUOTE in text:
        places = places[np.searchsorted(np.flatnonzero(content == QUOTE[0]), places) % 2 == 0]
    return places


def may_have_codes(text: bytes, delimiter: bytes) -> bool:
    """Whether a cell begins with a zero and another digit, perhaps after a sign."""
    content = np.frombuffer(delimiter + delimiter + text, dtype=np.uint8)
    digit = (content >= ord("0")) & (content <= ord("9"))
    zeros = np.flatnonzero((content[:-1] == ord("0")) & digit[1:])
    starts = np.zeros(256, dtype=bool)
    starts[[*delimiter, *b'\n" ']] = True
    signs = np.zeros(256, dtype=bool)
    signs[[*b"+-"]] = True
    before = content[zeros - 1]
    return bool((starts[before] | (signs[before] & starts[content[zeros - 2]])).any())


def open_delimited(path: Path, label: str, *, packing: Packing | None, options: TextOptions, tabs: bool) -> Delimited:
    """Read the first lines of a table: its delimiter and the names of its columns."""
    asked = options.delimiter
    if asked is not None:
        asked = WORDS.get(asked, asked)
        if len(asked) != 1 or not asked.isascii() or asked in '"\r\n':
            raise FileError(f"delimiter={options.delimiter!r} is not one character; give , ; tab | space or another one.")
    head = next(text_blocks(path, label, packing=packing, encoding=options.encoding, size=SNIFFED), b"")
    if not head.strip():
        raise EmptyFileError(f"{label} is empty.")
    above, lines = _without_comments(head, options)
    likely = sniff(lines, options.quotes)
    delimiter = asked or ("\t" if tabs else likely or _blank_between(lines, options.quotes) or ",")
    record = _header(path, label, packing, options, delimiter, above)
    if len(record) == 1 and likely is not None and likely != delimiter:
        said = DELIMITERS.get(delimiter, repr(delimiter))
        raise FileError(
            f"{label} has one column only with the delimiter {said}, called {record[0][:60]!r}; its delimiter is rather "
            f"{DELIMITERS[likely]}: say delimiter={DELIMITERS[likely]!r}."
        )
    if not options.header:
        names = [f"column_{j}" for j in range(1, len(record) + 1)]
        return Delimited(path, label, packing, options, delimiter, names, above)
    names = [name.strip() or f"column_{j}" for j, name in enumerate(record, start=1)]
    check_names(names, label)
    return Delimited(path, label, packing, options, delimiter, names, above)


def _without_comments(head: bytes, options: TextOptions) -> tuple[int, list[bytes]]:
    """How many lines at the beginning are comments (blank ones among them), and the first lines without them.

    Lines that begin with # are, but for the last of them if it has the names, as "#id,price": as many cells as the row
    below it, which has a number (or no row has any).
    """
    lines = head.split(b"\n")
    above = 0
    while above < len(lines) - 1 and (lines[above].startswith(HASH) or not lines[above].strip()):
        above += 1
    marked = [place for place in range(above) if lines[place].startswith(HASH)]
    first = _first_lines(b"\n".join(lines[above:]).lstrip(b"\r\n"), options)
    if not marked:
        return 0, first
    header = lines[marked[-1]].strip()
    mark = options.delimiter and WORDS.get(options.delimiter, options.delimiter)
    mark = mark or sniff(first, options.quotes) or sniff([header], options.quotes) or " "
    if options.header and options.comment != "#" and first and _is_header(header, first, mark.encode()):
        return marked[-1], [header.lstrip(HASH).lstrip(), *first]
    return above, first


def _is_header(line: bytes, below: list[bytes], mark: bytes) -> bool:
    """Whether a line that begins with # has the names of the columns of the rows below it."""
    rows = [_cells(text, mark) for text in below]
    numbers = [any(_NUMBER.fullmatch(cell) for cell in row) for row in rows]
    return len(_cells(line.lstrip(HASH), mark)) == len(rows[0]) and (numbers[0] or not any(numbers))


def _cells(line: bytes, mark: bytes) -> list[bytes]:
    return line.split() if mark == b" " else [cell.strip() for cell in line.split(mark)]


def _blank_between(lines: list[bytes], quotes: bool) -> str | None:
    """A blank, if all lines have the same number of cells with any blanks between them."""
    counts = {len(outside_quotes(one_blank(line), b" ", quotes)) for line in lines}
    return " " if len(lines) > 1 and len(counts) == 1 and counts != {0} else None


def check_names(names: Sequence[str], label: str) -> None:
    """Every column needs a name of its own."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        shown = ", ".join(repr(name) for name in twice[:5]) + (f" and {len(twice) - 5} more" if len(twice) > 5 else "")
        places = [j for j, name in enumerate(names, start=1) if name == twice[0]]
        raise FileError(
            f"{label} has several columns called {shown} ({twice[0]!r}: columns {', '.join(map(str, places))}); give "
            "each a name of its own."
        )


def _header(path: Path, label: str, packing: Packing | None, options: TextOptions, delimiter: str, above: int) -> list[str]:
    """The cells of the first line that is not blank and no comment."""
    text, skip = b"", above
    for block in text_blocks(path, label, packing=packing, encoding=options.encoding):
        text += block
        while skip and (end := text.find(b"\n")) >= 0:
            text, skip = text[end + 1 :], skip - 1
        text = text.lstrip(b"\r\n")
        mark = None if options.comment is None else options.comment.encode()
        while mark and text.startswith(mark) and (end := text.find(b"\n")) >= 0:
            text = text[end + 1 :].lstrip(b"\r\n")
        ends = outside_quotes(text, b"\n", options.quotes)
        if len(ends) and not skip and not (mark and text.startswith(mark)):
            text = text[: int(ends[0])]
            break
    check_utf8(text, label, 1)
    if options.header and text.startswith(HASH):  # comments are gone: it marks the names
        text = text.lstrip(HASH).lstrip()
    text = one_blank(text) if delimiter == " " else text
    csv.field_size_limit(LONGEST_LINE)
    lines = io.StringIO(text.decode(), newline="")
    if not options.quotes:
        return next(csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE))
    return next(csv.reader(lines, delimiter=delimiter))


def _first_lines(head: bytes, options: TextOptions) -> list[bytes]:
    ends = outside_quotes(head, b"\n", options.quotes)
    if not len(ends):
        return [head]
    cuts = [0, *(int(end) + 1 for end in ends[:50])]
    lines = [line for a, b in pairwise(cuts) if (line := head[a:b].strip(b"\r\n"))]
    mark = options.comment
    return [line for line in lines if mark is None or not line.startswith(mark.encode())]


def sniff(lines: list[bytes], quotes: bool) -> str | None:
    """The likely delimiter of some lines: in all of them equally often, and often; None if no line has any."""
    best: tuple[float, int] = (0.0, 0)
    found = None
    for mark in DELIMITERS:
        counts = [len(outside_quotes(line, mark.encode(), quotes)) for line in lines]
        if not counts or not counts[0]:
            continue
        alike = sum(count == counts[0] for count in counts) / len(counts)
        if mark == ";" and found == "," and alike == 1.0:  # then the comma is a decimal mark
            best, found = (alike, counts[0]), mark
        if (alike, counts[0]) > best:
            best, found = (alike, counts[0]), mark
    return found
