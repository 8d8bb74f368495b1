"""Warnings that a careful analyst would give."""

from __future__ import annotations

import re

from easyfs.base.explaining import ALMOST_TARGET
from easyfs.report.advice import advice
from easyfs.report.alike import frequency_of
from easyfs.report.sections import FEW_ROWS, SMALL_SHARE
from easyfs.report.summary import Caution, Content
from easyfs.report.words import count, listed, percent, quoted
from easyfs.tables.columns import looks_like_identifier
from easyfs.tables.reading import MANY_CLASSES, ROWS_PER_CLASS

SERIOUS, CAUTION, NOTE = "serious", "caution", "note"
FEW_VALUES = 10
MUCH_MISSING = 0.2
UNSTABLE = 0.5
ROWS_PER_COLUMN = 5
MOST_NAMED = 50
_WHOLE_OR_TEXT = re.compile(r"u?int|str|object|large_string|category", re.IGNORECASE)


def cautions(content: Content, leaks: list[str], identifiers: list[str], by_chance: list[str]) -> list[Caution]:
    """All warnings, the serious ones first.

    Parameters
    ----------
    content : Content
        All else that the report says.
    leaks : list of str
        Columns that almost equal the target.
    identifiers : list of str
        Columns that were set aside as identifiers.
    by_chance : list of str
        Chosen columns that explain no more than chance.
    """
    found = [
        *_leaks(leaks),
        *_identifiers(content, identifiers),
        *_small_classes(content),
        *_other_task(content),
        *_missing(content),
        *_unstable(content),
        *_few_rows(content),
        *_beyond_chance(content, by_chance),
        *_like_random(content),
    ]
    return sorted(found, key=lambda caution: (SERIOUS, CAUTION, NOTE).index(caution["level"]))


def _caution(code: str, level: str, text: str, columns: list[str] | None = None) -> list[Caution]:
    return [{"code": code, "level": level, "text": text, "columns": (columns or [])[:MOST_NAMED]}]


def _leaks(names: list[str]) -> list[Caution]:
    if not names:
        return []
    almost, it = ("almost equals", "it is") if len(names) == 1 else ("almost equal", "they are")
    text = (
        f"{listed(names)} {almost} the target (at least {ALMOST_TARGET:.0%} of it). Check that {it} known before the "
        "target is: a column that was made from the target, or after it, gives it away."
    )
    return _caution("leak", SERIOUS, text, names)


def _identifiers(content: Content, aside: list[str]) -> list[Caution]:
    found = []
    if aside:
        what = "looks like an identifier and was" if len(aside) == 1 else "look like identifiers and were"
        text = f"{listed(aside)} {what} set aside: such a column tells rows apart, but predicts nothing for new ones."
        found += _caution("identifier", NOTE, text, aside)
    used = [
        f["name"]
        for f in content["features"]
        if f["kind"] == "identifier" or (looks_like_identifier(f["name"]) and _WHOLE_OR_TEXT.match(f["dtype"]))
    ]
    if used:
        what = "is named like an identifier, but is" if len(used) == 1 else "are named like identifiers, but are"
        text = f"{listed(used)} {what} among the chosen columns. Check that a model may know it; exclude it otherwise."
        found += _caution("identifier_chosen", CAUTION, text, used)
    return found


def _small_classes(content: Content) -> list[Caution]:
    target = content["target"]
    if target is None:
        return []
    small, smallest = target["small_classes"], target["smallest_class"]
    if not small or smallest is None:
        return []
    text = (
        f"{count(small, 'class has', 'classes have')} fewer than {FEW_ROWS} rows or less than {SMALL_SHARE:.0%} of them "
        f"(the smallest, {quoted(smallest['label'])}, has {smallest['rows']}). Little can be learnt about so few; consider "
        "joining classes, or leaving them out."
    )
    return _caution("small_class", CAUTION, text)


def _other_task(content: Content) -> list[Caution]:
    target = content["target"]
    if target is None or not target["whole"] or target["n_distinct"] is None:
        return []
    distinct = target["n_distinct"]
    if target["task"] == "regression" and target["n_targets"] == 1 and distinct <= FEW_VALUES:
        text = (
            f"The target was taken for a quantity, but has only {count(distinct, 'value')}, all whole numbers. If they are "
            f"classes, say {advice(content, 'classes')}."
        )
        return _caution("looks_like_classes", CAUTION, text)
    rows = content["data"]["rows"]
    if target["task"] == "classification" and distinct > MANY_CLASSES and rows < ROWS_PER_CLASS * distinct:
        text = (
            f"The target was taken for {distinct:,} classes, but they are whole numbers of few rows each (of {rows:,}). "
            f"If they are quantities, say {advice(content, 'numbers')}."
        )
        return _caution("looks_like_numbers", CAUTION, text)
    return []


def _missing(content: Content) -> list[Caution]:
    names = [f["name"] for f in content["features"] if f["missing"] > MUCH_MISSING]
    if not names:
        return []
    worst = max(f["missing"] for f in content["features"])
    text = (
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} missing in more than {MUCH_MISSING:.0%} of the rows (up to "
        f"{percent(worst)}). What is missing counted as the mean; check why it is missing, and that it will not be later."
    )
    return _caution("missing", CAUTION, text, names)


def _unstable(content: Content) -> list[Caution]:
    often = [(f["name"], frequency_of(f)) for f in content["features"]]
    names = [name for name, frequency in often if frequency is not None and frequency < UNSTABLE]
    if not names:
        return []
    its = "its" if len(names) == 1 else "their"
    text = (
        f"{listed(names)} came up in fewer than half of the runs on random halves of the rows, and no near-copy did in "
        f"{its} place: with other rows, or fewer, other columns may come in."
    )
    return _caution("unstable", CAUTION, text, names)


def _few_rows(content: Content) -> list[Caution]:
    rows, chosen = content["data"]["rows"], content["selected"]["count"]
    if rows >= ROWS_PER_COLUMN * chosen:
        return []
    text = (
        f"There are {count(rows, 'row')} for {count(chosen, 'chosen column')}, fewer than {ROWS_PER_COLUMN} for each. The "
        "order of the last ones is mostly chance, and so is part of what they explain on these rows; choose fewer, or "
        f"check them with {advice(content, 'stability')}."
    )
    if content["stability"] is not None:
        text = text.partition(", or check")[0] + "."
    if chosen >= rows - 1:
        text += " As many columns as rows explain any column, so overlap is not shown."
    return _caution("few_rows", CAUTION, text)


def _beyond_chance(content: Content, names: list[str]) -> list[Caution]:
    if not names:
        return []
    after, chosen = content["enough"]["chance_after"], content["selected"]["count"]
    if after == 0:
        start = "None of the columns asked for" if all(f["included"] for f in content["features"]) else "Nothing here"
        text = (
            f"{start} explains more of the target than chance: the best of as many unrelated columns would explain as "
            f"much as {listed(names)}. Check that it is the right target, or give more rows; a model may only guess."
        )
        return _caution("only_chance", SERIOUS, text, names)
    explains = "explains" if len(names) == 1 else "explain"
    text = (
        f"{len(names):,} of the {count(chosen, 'chosen column')} {explains} no more of the target than the best of as many "
        f"unrelated columns would: {listed(names)}"
    )
    last = after is not None and names == content["selected"]["names"][after : after + len(names)]
    text += f", chosen after the {after} that do explain more." if last else "."
    return _caution("beyond_chance", NOTE, text, names)


def _like_random(content: Content) -> list[Caution]:
    measured = content["cross_validation"]
    if measured is None or not measured["points"] or not measured["random"]:
        return []
    own, other = measured["points"][-1], measured["random"][-1]
    if own["mean"] is None or other["mean"] is None or content["selected"]["count"] == content["data"]["columns"]:
        return []
    ahead = (own["mean"] - other["mean"]) * (-1 if measured["smaller_is_better"] else 1)
    if ahead > (own["spread"] or 0.0):
        return []
    chosen = count(own["columns"], "chosen column does", "chosen columns do")
    text = (
        f"In cross-validation the {chosen} no better than as many random ones, within the spread over folds. The table may "
        "say everything many times over, the target be hard to predict, or the rows too few to see it."
    )
    return _caution("like_random", CAUTION, text)
