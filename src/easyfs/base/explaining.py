"""From a selection to its explanation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from easyfs.base.coding import Coding
from easyfs.base.explanation import AsideColumn, ChosenColumn, ColumnFacts, Neighbour, Notice
from easyfs.base.result import Interaction, Selection
from easyfs.common.plain import finite
from easyfs.common.types import Array
from easyfs.tables.columns import ASIDE, ColumnInfo

MOST_NEIGHBOURS = 8
# A column is a copy if this share of it is said by the chosen ones, and gives the target away if the target explains this
# share of it. So many copies are told which column says the same.
COPY, ALMOST_TARGET = 0.999, 0.98
MOST_COPIES = 200
MOST_NAMED = 5
REASONS = ("adjusted for", "identifier", "free text", "other", "copy", "excluded", "constant")


@dataclass(frozen=True)
class Known:
    """What is known of all columns, and of those that are chosen; None where it is not.

    Attributes
    ----------
    infos : list of ColumnInfo
        What each column is.
    selected : Selection
        What was chosen, of the user's columns.
    relevance, redundancy : ndarray or None
        Share of each column that the target explains, and that the (other) chosen ones say.
    directions : int
        Independent directions of the target.
    told, next_told : ndarray or None
        Share of the target that each chosen column explains beyond those before it, and that each column would add to all
        chosen ones.
    coding : Coding or None
        What the first chosen columns say of each.
    beyond_chance : list of bool
        Whether each chosen column tells more than chance, as far as that is known.
    included : frozenset of int
        Columns that the user asked for.
    adds_up : bool
        Whether gains add up.
    least : float
        Share from which on a column stands in for another.
    n_rows : int
        Number of rows.
    """

    infos: list[ColumnInfo]
    selected: Selection
    relevance: Array | None
    directions: int
    told: Array | None
    next_told: Array | None
    redundancy: Array | None
    coding: Coding | None
    beyond_chance: list[bool]
    included: frozenset[int]
    adds_up: bool
    least: float
    n_rows: int

    @property
    def order(self) -> list[int]:
        """The chosen columns, in order."""
        columns: list[int] = self.selected.order[: self.selected.n_selected].tolist()
        return columns

    @cached_property
    def why(self) -> dict[int, str]:
        """Columns that are set aside, each with one of the reasons."""
        chosen = set(self.order)
        words = {j: self._why(j, info) for j, info in enumerate(self.infos) if j not in chosen}
        return {j: word for j, word in words.items() if word}

    def _why(self, j: int, info: ColumnInfo) -> str:
        constant = self.selected.constant
        if j in self.selected.adjusted:
            return "adjusted for"
        if info.kind == "constant":
            return "constant"
        if info.used_as == ASIDE:
            return info.kind if info.kind in REASONS else "other"
        if self.selected.scores[j] == -np.inf:
            return "excluded"
        if constant is not None and constant[j]:
            return "constant"
        return "copy" if self.redundancy is not None and self.redundancy[j] >= COPY else ""

    @cached_property
    def alone(self) -> dict[int, float]:
        """Share of the target that chosen columns of several parts explain by themselves, with all of these."""
        shares = None if self.coding is None else self.coding.of_target()
        if self.coding is None or shares is None:
            return {}
        parts = np.bincount(self.coding.source, minlength=self.coding.n_columns)
        found = zip(self.coding.columns, shares.tolist(), strict=True)
        return {column: share for column, share in found if parts[column] > 1}

    def _relevance(self, j: int) -> float | None:
        if self.relevance is None:
            return None
        return self.alone[j] if j in self.alone else finite(self.relevance[j] / self.directions)

    def facts(self, j: int) -> dict[str, Any]:
        """What is known of any column."""
        info, adjusted = self.infos[j], j in self.selected.adjusted
        return {
            "column": j,
            "name": str(info.name),
            "kind": info.kind,
            "used_as": info.used_as,
            "n_missing": info.n_missing,
            "score": finite(self.selected.scores[j]),
            "relevance": None if adjusted else self._relevance(j),
            "redundancy": None if self.redundancy is None or adjusted else finite(self.redundancy[j]),
            "told": None if self.next_told is None or adjusted else finite(self.next_told[j]),
        }


def chosen_columns(known: Known) -> tuple[ChosenColumn, ...]:
    """The chosen columns, each with what it added and what it stands in for."""
    gains, p_values = known.selected.gains, known.selected.p_values
    so_far = np.cumsum(gains) if known.adds_up else gains[:0]
    explained = None if known.told is None else np.cumsum(known.told)
    near = _neighbours(known)
    return tuple(
        ChosenColumn(
            **(known.facts(j) | {"told": _at(known.told, i)}),
            place=i + 1,
            dtype=known.infos[j].dtype,
            parts=tuple(known.infos[j].parts),
            group=int(known.selected.groups[j]),
            included=j in known.included,
            gain=_at(gains, i),
            cumulative=_at(so_far, i),
            explained=_at(explained, i),
            p_value=_at(p_values, i),
            beyond_chance=known.beyond_chance[i] if i < len(known.beyond_chance) else None,
            stands_for=near.get(j, ()),
        )
        for i, j in enumerate(known.order)
    )


def _at(values: Array | None, place: int) -> float | None:
    return None if values is None or place >= len(values) else finite(values[place])


def _neighbours(known: Known) -> dict[int, tuple[Neighbour, ...]]:
    """For each chosen column the columns that are not chosen and that it says most of."""
    coding = known.coding
    if coding is None:
        return {}
    nearest: dict[int, list[tuple[int, float]]] = {}
    for column in coding.columns:
        share = np.minimum(coding.beyond(column), 1.0)
        share[known.order] = 0.0
        top = np.argpartition(-share, min(MOST_NEIGHBOURS, len(share)) - 1)[:MOST_NEIGHBOURS]
        top = top[np.lexsort((top, -share[top]))]
        nearest[column] = [(int(j), float(share[j])) for j in top if share[j] >= known.least]
    needed = sorted({j for pairs in nearest.values() for j, _ in pairs})
    alone = coding.alone(needed)
    place = {j: i for i, j in enumerate(needed)}
    return {
        column: tuple(
            Neighbour(j, str(known.infos[j].name), share, float(alone[place[j], at])) for j, share in nearest[column]
        )
        for at, column in enumerate(coding.columns)
    }


def other_columns(known: Known) -> tuple[ColumnFacts, ...]:
    """Columns that are neither chosen nor set aside, the next one first."""
    left = known.selected.order[known.selected.n_selected :].tolist()
    return tuple(ColumnFacts(**known.facts(j)) for j in left if j not in known.why)


def aside_columns(known: Known) -> tuple[AsideColumn, ...]:
    """Columns that are set aside, by reason."""
    listed = sorted(known.why, key=lambda j: (REASONS.index(known.why[j]), j))
    sayers = _sayers(known, [j for j in listed if known.why[j] == "copy"][:MOST_COPIES])
    return tuple(
        AsideColumn(
            **known.facts(j), why=known.why[j], reason=_reason(known, j, sayers.get(j, ())), said_by=sayers.get(j, ())
        )
        for j in listed
    )


def _sayers(known: Known, copies: list[int]) -> dict[int, tuple[str, ...]]:
    """Which chosen column says the same as each copy; the two that say most of it, if none does by itself."""
    coding = known.coding
    if coding is None or not copies:
        return {}
    found = {}
    for j, said in zip(copies, coding.alone(copies), strict=True):
        best = np.argsort(-said, kind="stable")[: 1 if said.max() >= COPY else 2]
        found[j] = tuple(str(known.infos[coding.columns[i]].name) for i in best)
    return found


def _reason(known: Known, j: int, sayers: tuple[str, ...]) -> str:
    why, info = known.why[j], known.infos[j]
    if why == "adjusted for":
        return "named in adjust_for, or in a group with such a column: its effect was taken out first"
    if why == "excluded":
        return "named in exclude, or in a group with such a column"
    if why == "copy":
        first = f", {' and '.join(map(repr, sayers))} first" if sayers else ""
        same = len(sayers) == 1
        return f"the same as {sayers[0]!r}" if same else f"the chosen columns together give it{first}"
    if why == "constant" and not info.reason:
        return "no value at all" if info.n_missing == known.n_rows else "one value only"
    return info.reason


def notices(known: Known) -> tuple[Notice, ...]:
    """What a careful reader should know, the worst first."""
    return (*_leaks(known), *_by_chance(known), *_unused(known))


def _leaks(known: Known) -> list[Notice]:
    if known.relevance is None:
        return []
    usable = np.flatnonzero((known.relevance >= ALMOST_TARGET) & np.isfinite(known.selected.scores))
    names = _names(known, usable[np.argsort(-known.relevance[usable], kind="stable")].tolist())
    almost, it = ("almost equals", "it is") if len(names) == 1 else ("almost equal", "they are")
    text = f"{_listed(names)} {almost} the target (at least {ALMOST_TARGET:.0%} of it); check that {it} known before it."
    return [Notice("leak", text, names)] if names else []


def _by_chance(known: Known) -> list[Notice]:
    names = _names(known, [j for j, told in zip(known.order, known.beyond_chance, strict=False) if not told])
    if not names:
        return []
    if not any(known.beyond_chance):
        text = "no chosen column explains more of the target than chance would; check the target, or give more rows."
        return [Notice("only_chance", text, names)]
    which = "1 chosen column explains" if len(names) == 1 else f"{len(names)} chosen columns explain"
    return [Notice("chance", f"{which} no more of the target than chance would: {_listed(names)}.", names)]


def _unused(known: Known) -> list[Notice]:
    columns = [j for j, info in enumerate(known.infos) if info.used_as == ASIDE and info.kind != "constant"]
    names = _names(known, columns)
    which = "1 column cannot be used and is" if len(names) == 1 else f"{len(names)} columns cannot be used and are"
    return [Notice("set_aside", f"{which} set aside: {_listed(names)}.", names)] if names else []


def _names(known: Known, columns: list[int]) -> tuple[str, ...]:
    return tuple(str(known.infos[j].name) for j in columns)


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
    return ", ".join(repr(name) for name in names[:MOST_NAMED]) + more


def merged(interactions: list[Interaction]) -> tuple[Interaction, ...]:
    """The same columns may be found several times, by other parts of a category or a date: their shares add up."""
    found: dict[frozenset[str], Interaction] = {}
    for entry in interactions:
        columns = frozenset(entry.columns)
        known = found.setdefault(columns, Interaction(entry.columns, 0.0, 1.0))
        found[columns] = Interaction(known.columns, known.share + entry.share, min(known.p_value, entry.p_value))
    return tuple(found.values())
