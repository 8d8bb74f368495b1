"""What goes wrong, said on one line in the words of the command line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from easyfs.cli.show import plain

# How parameters of the library are called on the command line.
OPTIONS = {
    "n_features_to_select": "-k",
    "task": "--task",
    "include": "--include",
    "exclude": "--exclude",
    "adjust_for": "--adjust-for",
    "budget": "--budget",
    "max_per_source": "--max-per-source",
    "sample_weight": "--sample-weight",
    "random_state": "--seed",
    "sizes": "--sizes",
    "folds": "--folds",
    "repeats": "--repeats",
    "metrics": "--metric",
    "groups": "--groups",
    "time_limit": "--time-limit",
    "n_jobs": "--jobs",
    "delimiter": "--delimiter",
    "encoding": "--encoding",
    "decimal": "--decimal",
    "thousands": "--thousands",
    "date_order": "--date-order",
    "comment": "--comment",
    "query": "--query",
    "as_format": "--from",
}
# Parameters that are switched off by an option without a value.
SWITCHES = {"quotes=False": "--no-quotes", "header=False": "--no-header", "strict=False": "--any-kind"}
_PARAMETER = re.compile(rf"\b({'|'.join(OPTIONS)})=('[^'\s]+'|\"[^\"\s]+\"|[\w.-]+)?")
_SWITCH = re.compile(rf"\b({'|'.join(SWITCHES)})\b")

_TARGET = re.compile(r"^y(?= (?:holds|has|is|mixes) )")


class CommandError(Exception):
    """An error in the data or the run: exit code 1."""

    code = 1


class WrongUsageError(CommandError):
    """An error in what was asked: exit code 2."""

    code = 2


class InterruptedRunError(CommandError):
    """The user ended the run: exit code 130."""

    code = 130


def one_line(text: str) -> str:
    """A message of the library on one line, with parameters by the names that they have on the command line."""
    text = _TARGET.sub("the target", text)
    text = _PARAMETER.sub(lambda m: OPTIONS[m[1]] + (f" {m[2].strip(chr(39) + chr(34))}" if m[2] else ""), text)
    text = _SWITCH.sub(lambda m: SWITCHES[m[1]], text)
    return plain(re.sub(r"\s*\n\s*", " ", text.strip()))


def near(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """The names that are most like another one: of the same letters, alike, or with it inside."""
    known = list(names)
    lower = name.lower()
    found = [other for other in known if other.lower().strip() == lower.strip()]
    found += difflib.get_close_matches(name, known, n=most, cutoff=0.6)
    lowered = {other.lower(): other for other in reversed(known)}
    found += [lowered[other] for other in difflib.get_close_matches(lower, lowered, n=most, cutoff=0.6)]
    by_word = {word: other for other in reversed(known) for word in re.split(r"[\W_]+", other.lower())}
    found += [by_word[word] for word in difflib.get_close_matches(lower, by_word, n=most, cutoff=0.75)]
    if len(lower) > 2:
        found += [other for other in known if lower in other.lower()][:most]
    return list(dict.fromkeys(found))[:most]


def hint(name: str, names: Iterable[str]) -> str:
    """A question that names what was meant, perhaps; or what there is."""
    known = list(names)
    close = near(name, known)
    if close:
        return f" Did you mean {' or '.join(repr(other) for other in close)}?"
    shown = ", ".join(repr(other) for other in known[:8]) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
    return f" There are {shown}." if known else ""
