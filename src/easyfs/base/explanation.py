"""What was chosen, and why: one answer that reports, the command line and programs read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from easyfs.base.result import Interaction
from easyfs.tables.target_summary import TargetInfo

MOST_NAMED = 5


@dataclass(frozen=True)
class Neighbour:
    """A column that is not chosen and that a chosen one stands in for.

    Attributes
    ----------
    column, name : int and str
        Its place in the table, from 0, and its name.
    share : float
        Share of it that the chosen column says beyond those chosen before.
    alone : float
        Share of it that the chosen column says by itself; near 1 for a near-copy.
    """

    column: int
    name: str
    share: float
    alone: float


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of a column.

    Attributes
    ----------
    column, name : int and str
        Its place in the table, from 0, and its name; ``x0``, ``x1``, ... for an array.
    kind : str
        "numeric", "category", "date", ...; see :class:`~easyfs.tables.columns.ColumnInfo`.
    used_as : str
        "number", "indicators", "date parts" or "set aside".
    n_missing : int
        Rows without a value.
    score : float or None
        The method's score; None if it was excluded.
    relevance : float or None
        Share of the target that it explains by itself (R squared); None where it was not measured. Of a category that is
        not chosen, what its best indicator explains.
    redundancy : float or None
        Overlap: share of it that the (other) chosen columns explain; None where it was not measured.
    told : float or None
        Share of the target that it explains beyond the columns chosen before it, on the rows of the fit; of one that is not
        chosen, what it would add to all chosen ones. None where it was not measured.
    """

    column: int
    name: str
    kind: str
    used_as: str
    n_missing: int
    score: float | None
    relevance: float | None
    redundancy: float | None
    told: float | None


@dataclass(frozen=True)
class ChosenColumn(ColumnFacts):
    """What is known of a chosen column, beyond :class:`ColumnFacts`.

    Attributes
    ----------
    place : int
        Its place among the chosen, from 1.
    dtype : str
        The type that the table itself gives it.
    parts : tuple of str
        Columns of numbers that it became.
    group : int
        Columns of one group were chosen together and count as one.
    included : bool
        Whether the user asked for it.
    gain : float or None
        What it added to those before it; where gains do not add up, the method's own score.
    cumulative : float or None
        The sum of gains so far; None where gains do not add up.
    explained : float or None
        Share of the target that it and those before it explain together.
    p_value : float or None
        How likely the best of as many unrelated columns would tell as much of the target; None where it was not measured.
    beyond_chance : bool or None
        Whether it tells more of the target than chance.
    stands_for : tuple of Neighbour
        Columns that are not chosen and that it says most of, at most eight.
    """

    place: int
    dtype: str
    parts: tuple[str, ...]
    group: int
    included: bool
    gain: float | None
    cumulative: float | None
    explained: float | None
    p_value: float | None
    beyond_chance: bool | None
    stands_for: tuple[Neighbour, ...]


@dataclass(frozen=True)
class AsideColumn(ColumnFacts):
    """What is known of a column that was not there to be chosen, beyond :class:`ColumnFacts`.

    Attributes
    ----------
    why : {"adjusted for", "identifier", "free text", "other", "copy", "excluded", "constant"}
        The reason in a word.
    reason : str
        The reason in a sentence.
    said_by : tuple of str
        For a copy: the chosen column that says the same, or the two that say most of it.
    """

    why: str
    reason: str
    said_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Notice:
    """What a careful reader should know.

    Attributes
    ----------
    code : {"leak", "only_chance", "chance", "set_aside"}
        What it is about.
    text : str
        The notice in a sentence.
    columns : tuple of str
        The columns that it is about.
    """

    code: str
    text: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """What a selector chose, and why.

    Attributes
    ----------
    method : str
        The class of the selector.
    parameters : dict
        Its parameters as plain values.
    changed : tuple of str
        Those that are not the defaults.
    task : {"classification", "regression", None}
        What the target was taken for; None if it was not used.
    target : TargetInfo or None
        What the target holds, where that is known.
    n_rows, n_columns : int
        Size of the table.
    in_blocks : bool
        Whether the rows came in blocks.
    adds_up : bool
        Whether gains add up, as shares of all there is to explain.
    least_share : float
        Share of a column from which on a chosen one stands in for it.
    chosen : tuple of ChosenColumn
        The chosen columns, in order.
    others : tuple of ColumnFacts
        Columns that could have been chosen, the next one first.
    set_aside : tuple of AsideColumn
        Columns that were not there to be chosen (identifiers, copies of chosen columns, excluded ones, constants), and
        those that were adjusted for.
    interactions : tuple of Interaction, or None
        Columns that matter together, or one in a curve; None if the method does not look for them.
    overlap_known : bool
        Whether it is known what the chosen columns say of the others.
    notices : tuple of Notice
        What a careful reader should know.
    adjusted_for : tuple of str
        Columns whose effect was taken out first; all else is about what they leave.
    adjusted_share : float or None
        Share of the target that they explain together; None without them, or without a target.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from easyfs import EasyFS
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> explanation = EasyFS(3, random_state=0).fit(X, y).explain()
    >>> explanation.chosen[0].name
    'worst concave points'
    >>> explanation.n_columns == len(explanation.chosen) + len(explanation.others) + len(explanation.set_aside)
    True
    """

    method: str
    parameters: dict[str, Any]
    changed: tuple[str, ...]
    task: str | None
    target: TargetInfo | None
    n_rows: int
    n_columns: int
    in_blocks: bool
    adds_up: bool
    least_share: float
    chosen: tuple[ChosenColumn, ...]
    others: tuple[ColumnFacts, ...]
    set_aside: tuple[AsideColumn, ...]
    interactions: tuple[Interaction, ...] | None
    overlap_known: bool
    notices: tuple[Notice, ...]
    adjusted_for: tuple[str, ...] = ()
    adjusted_share: float | None = None

    @property
    def names(self) -> list[str]:
        """Names of the chosen columns, in order."""
        return [column.name for column in self.chosen]

    @property
    def columns(self) -> list[ColumnFacts]:
        """All columns, in the order of the table."""
        return sorted((*self.chosen, *self.others, *self.set_aside), key=lambda column: column.column)

    def to_dict(self) -> dict[str, Any]:
        """The same as dictionaries and lists, of the caller's own."""
        return asdict(self)

    def __str__(self) -> str:
        named = f" of {self.target.name!r}" if self.target is not None and self.target.name else ""
        purpose = "no target" if self.task is None else f"{self.task}{named}"
        lines = [f"{self.method} chose {len(self.chosen)} of {self.n_columns} columns ({self.n_rows} rows, {purpose})"]
        if self.adjusted_for:
            explain = "explains" if len(self.adjusted_for) == 1 else "explain"
            told = "" if self.adjusted_share is None else f", which {explain} {self.adjusted_share:.1%} of the target"
            lines.append(f"adjusted for {', '.join(self.adjusted_for)}{told}")
        lines += [_line(column, "adds" if self.adds_up else "scores") for column in self.chosen]
        together = self.interactions or ()
        lines += [f"{'together' if len(found.columns) > 1 else 'in a curve'}: {found}" for found in together]
        if self.set_aside:
            shown = [f"{column.name} ({column.why})" for column in self.set_aside[:MOST_NAMED]]
            more = [f"{len(self.set_aside) - MOST_NAMED} more"] if len(self.set_aside) > MOST_NAMED else []
            lines.append(f"set aside: {', '.join(shown + more)}")
        return "\n".join([*lines, *(f"notice: {notice.text}" for notice in self.notices)])


def _line(column: ChosenColumn, verb: str) -> str:
    """A chosen column on one line."""
    said = []
    if column.told is not None:
        said.append(f"explains {column.told:.1%} of the target" + (" beyond those before it" if column.place > 1 else ""))
    elif column.gain is not None:
        said.append(f"{verb} {column.gain:.4g}" if column.cumulative is None else f"{verb} {column.gain:.1%}")
    if column.included:
        said.append("asked for")
    if column.beyond_chance is False:
        said.append("no more than chance")
    if column.stands_for:
        near = ", ".join(f"{other.name} ({other.share:.0%})" for other in column.stands_for[:MOST_NAMED])
        said.append(f"stands in for {near}")
    return f"{column.place:>4}. {column.name}" + (f": {'; '.join(said)}" if said else "")
