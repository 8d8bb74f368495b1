"""Columns that can take each other's place: near-copies among the chosen, and how often one of a group came up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from easyfs.base.coding import Coding
from easyfs.base.explanation import Explanation
from easyfs.common.plain import text_of
from easyfs.common.types import Array
from easyfs.report.summary import Feature

# A column of which another explains at least this share by itself is a near-copy of it.
NEAR_COPY = 0.9
MOST_NAMED = 5


def mark_near_copies(features: list[Feature], coding: Coding) -> None:
    """Write into each chosen column which other chosen ones are near-copies of it."""
    places = {feature["column"]: feature for feature in features}
    listed = [column for column in coding.columns if column in places]
    shares = coding.alone(listed)
    for i, by in enumerate(coding.columns):
        for row in np.flatnonzero(shares[:, i] >= NEAR_COPY):
            of = listed[row]
            if of == by or by not in places:
                continue
            other = places[by]
            places[of]["near_copies"].append(
                {"column": by, "name": other["name"], "place": other["place"], "share": round(float(shares[row, i]), 4)}
            )


def mark_interchangeable(features: list[Feature], coding: Coding, explanation: Explanation, runs: Sequence[Array]) -> None:
    """Write into each chosen column how often it, or a column that can take its place, came up in runs of a selection."""
    came_up = np.zeros((len(runs), explanation.n_columns), dtype=bool)
    for i, columns in enumerate(runs):
        came_up[i, columns] = True
    seen = np.flatnonzero(came_up.any(axis=0)).tolist()
    names = {column.column: text_of(column.name) for column in explanation.columns}
    shares = coding.alone(seen) if seen else np.zeros((0, len(coding.columns)))
    place = {column: i for i, column in enumerate(coding.columns)}
    often = came_up.mean(axis=0)
    for feature in features:
        own = feature["column"]
        if own not in place:
            continue
        alike = [j for j, share in zip(seen, shares[:, place[own]], strict=True) if share >= NEAR_COPY and j != own]
        if alike:
            alike.sort(key=lambda j: -often[j])
            feature["interchangeable"] = {
                "names": [names[j] for j in alike[:MOST_NAMED]],
                "frequency": round(float(came_up[:, [own, *alike]].any(axis=1).mean()), 6),
            }


def frequency_of(feature: Feature) -> float | None:
    """How often a chosen column, or one that can take its place, came up."""
    alike = feature["interchangeable"]
    return feature["frequency"] if alike is None else alike["frequency"]
