"""What both forms of EasyFS find out about columns: relevance, overlap, chance, joint effects."""

from __future__ import annotations

import numpy as np

from easyfs.base.result import Interaction
from easyfs.base.selector import BaseSelector
from easyfs.common.types import Array
from easyfs.passes.choosing import LEVEL
from easyfs.stages.redundancy import explained_by_selected


class Findings(BaseSelector):
    """What is known of each column after a fit."""

    @property
    def redundancy_(self) -> Array:
        """Share of each column's variance that the selected columns already say, between 0 and 1.

        For a selected column: that the *other* selected ones say. A copy of a selected column has 1.
        """
        result = self._found()
        assert result.coded is not None
        encoder, selected = self._encoder, result.order[: len(result.coded)]
        if encoder is None:
            return explained_by_selected(result.coded, selected)
        return encoder.mean_of(explained_by_selected(result.coded, selected, encoder.source))

    @property
    def relevance_(self) -> Array | None:
        """Share of the target that each column explains by itself, in a line (R squared); None without a target.

        Of several classes or targets, the mean over their independent directions.
        """
        found = self._selected()
        return None if found.relevance is None else np.asarray(found.relevance / found.directions)

    @property
    def p_values_(self) -> Array | None:
        """For each selected column, in order, how likely the best of as many unrelated columns would tell as much.

        Beyond the columns selected before it, or together with others it was found with; None without a target. A value
        of 0.02 and more means: no more than chance.
        """
        return self._selected().p_values

    @property
    def beyond_chance_(self) -> Array | None:
        """For each selected column, in order, whether it tells more of the target than chance; None without a target."""
        p_values = self.p_values_
        return None if p_values is None else p_values < LEVEL

    @property
    def interactions_(self) -> list[Interaction]:
        """Columns that matter together, or in a curve, with the share of the target they explain; found first, first."""
        selected = self._selected()
        names = self._names() or [f"x{j}" for j in range(len(selected.order))]
        return [
            Interaction(tuple(str(names[j]) for j in found.columns), found.share, found.p_value)
            for found in selected.found
            if not found.plain
        ]
