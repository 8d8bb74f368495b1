"""The figure of what chosen columns and their nearest say of one another."""

from __future__ import annotations

from easyfs.base.coding import Coding
from easyfs.base.explanation import Explanation
from easyfs.common.plain import text_of
from easyfs.report.summary import Overlap, OverlapColumn

# Columns in the figure.
MOST_CHOSEN, MOST_NEAREST = 20, 24


def overlap_of(explanation: Explanation, coding: Coding) -> Overlap:
    """Shares among the first chosen columns and of their nearest, each said by one chosen column alone."""
    coded = coding.columns[:MOST_CHOSEN]
    chosen = {column.column: column for column in explanation.chosen}
    near: dict[int, float] = {}
    names = {column.column: column.name for column in explanation.chosen}
    for column in coded:
        for other in chosen[column].stands_for:
            near[other.column] = max(near.get(other.column, 0.0), other.share)
            names[other.column] = other.name
    kept = set(sorted(near, key=lambda j: -near[j])[:MOST_NEAREST])
    # Neighbours stand in the order of the chosen columns that they belong to.
    nearest = list(dict.fromkeys(o.column for column in coded for o in chosen[column].stands_for if o.column in kept))
    shares = coding.alone([*coded, *nearest])[:, : len(coded)]
    columns: list[OverlapColumn] = [
        {"column": j, "name": text_of(names[j]), "place": chosen[j].place if j in chosen else None}
        for j in [*coded, *nearest]
    ]
    return {
        "chosen": columns[: len(coded)],
        "columns": columns,
        "least": explanation.least_share,
        "shares": [[round(float(share), 4) for share in row] for row in shares],
    }
