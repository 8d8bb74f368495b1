"""Which columns each chosen one stands in for, and the figure of what they say of one another."""

from __future__ import annotations

import numpy as np

from easyfs.common.types import Array
from easyfs.report.nearest import Coding
from easyfs.report.summary import Neighbour, Overlap, OverlapColumn
from easyfs.stages.relevance import null_relevance

MOST_NEIGHBOURS = 8
# A column stands in for another if it says at least this share of it beyond those chosen before, and more than chance.
LEAST_SHARE = 0.1
# Columns in the figure.
MOST_CHOSEN, MOST_NEAREST = 20, 24


def least_share(n_rows: int, n_columns: int) -> float:
    """Share from which on a column stands in for another: more than the best of as many unrelated columns would reach."""
    return round(max(LEAST_SHARE, null_relevance(n_rows, 1, n_columns)), 4)


def neighbours_of(coding: Coding, names: list[str], chosen: Array, least: float) -> dict[int, list[Neighbour]]:
    """For each chosen column the columns that are not chosen and that it says most of, at most eight."""
    nearest: dict[int, list[tuple[int, float]]] = {}
    for column in coding.columns:
        share = np.minimum(coding.beyond(column), 1.0)
        share[chosen] = 0.0
        top = np.argpartition(-share, min(MOST_NEIGHBOURS, len(share)) - 1)[:MOST_NEIGHBOURS]
        top = top[np.lexsort((top, -share[top]))]
        nearest[column] = [(int(j), float(share[j])) for j in top if share[j] >= least]
    needed = sorted({j for pairs in nearest.values() for j, _ in pairs})
    alone = coding.alone(needed)
    place = {j: i for i, j in enumerate(needed)}
    return {
        column: [
            {
                "column": j,
                "name": names[j],
                "share": round(share, 6),
                "alone": round(float(alone[place[j], at]), 6),
            }
            for j, share in nearest[column]
        ]
        for at, column in enumerate(coding.columns)
    }


def overlap_of(
    coding: Coding, names: list[str], chosen: Array, neighbours: dict[int, list[Neighbour]], least: float
) -> Overlap:
    """Shares among the first chosen columns and of their nearest, each said by one chosen column alone."""
    first = coding.columns[:MOST_CHOSEN]
    near: dict[int, float] = {}
    for column in first:
        for entry in neighbours[column]:
            near[entry["column"]] = max(near.get(entry["column"], 0.0), entry["share"])
    kept = set(sorted(near, key=lambda j: -near[j])[:MOST_NEAREST])
    # Neighbours stand in the order of the chosen columns that they belong to.
    nearest = list(dict.fromkeys(e["column"] for column in first for e in neighbours[column] if e["column"] in kept))
    shares = coding.alone([*first, *nearest])[:, : len(first)]
    place = {int(j): i + 1 for i, j in enumerate(chosen)}
    columns: list[OverlapColumn] = [{"column": j, "name": names[j], "place": place.get(j)} for j in [*first, *nearest]]
    return {
        "chosen": columns[: len(first)],
        "columns": columns,
        "least": least,
        "shares": [[round(float(share), 4) for share in row] for row in shares],
    }
