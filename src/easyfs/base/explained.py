"""Every selector can say what it chose, and why."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from easyfs.base.coding import MOST_CODED, Coding, Encoded, Measured, least_share
from easyfs.base.request import resolve_columns
from easyfs.common.plain import plain_value

if TYPE_CHECKING:  # what only an explanation needs is imported when one is asked for
    from easyfs.base.explaining import Known
    from easyfs.base.explanation import Explanation


class Explained:
    """What a fitted selector has to say of its choice, as plain data."""

    def explain(self: Any, measured: Measured | None = None) -> Explanation:
        """What was chosen, and why: what each column added, what it stands in for, what was set aside.

        Parameters
        ----------
        measured : Measured, optional
            Relevance and overlap measured on rows, for a method that leaves neither (the report does so).

        Returns
        -------
        Explanation
            Plain data; ``print`` shows it.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from easyfs import EasyFS
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> explanation = EasyFS(1, random_state=0).fit(X, y).explain()
        >>> chosen = explanation.chosen[0]
        >>> chosen.name, [other.name for other in chosen.stands_for]
        ('petal length (cm)', ['petal width (cm)', 'sepal length (cm)', 'sepal width (cm)'])
        """
        from easyfs.base.explaining import aside_columns, chosen_columns, merged, notices, other_columns  # noqa: PLC0415
        from easyfs.base.explanation import Explanation  # noqa: PLC0415

        check_is_fitted(self)
        measured = measured or Measured()
        parameters = self.get_params(deep=False)
        defaults = {name: entry.default for name, entry in signature(type(self)).parameters.items()}
        known = self._known(measured)
        interactions = getattr(self, "interactions_", None)
        return Explanation(
            method=type(self).__name__,
            parameters={name: plain_value(value) for name, value in parameters.items()},
            changed=tuple(n for n, value in parameters.items() if plain_value(value) != plain_value(defaults.get(n))),
            task=getattr(self, "task_", None),
            target=self.target_,
            n_rows=self.n_rows_,
            n_columns=len(known.infos),
            in_blocks=hasattr(self, "plan_"),
            adds_up=self._additive,
            least_share=known.least,
            chosen=chosen_columns(known),
            others=other_columns(known),
            set_aside=aside_columns(known),
            interactions=None if interactions is None else merged(interactions),
            overlap_known=known.coding is not None,
            notices=notices(known),
            adjusted_for=tuple(str(known.infos[j].name) for j in known.selected.adjusted),
            adjusted_share=known.selected.adjusted_share,
        )

    def _known(self: Any, measured: Measured) -> Known:
        """What the fit left of each column, or else what was measured."""
        from easyfs.base.explaining import Known  # noqa: PLC0415

        selected = self._selected()
        d = len(selected.order)
        redundancy, beyond = getattr(self, "redundancy_", None), getattr(self, "beyond_chance_", None)
        redundancy = measured.redundancy if redundancy is None else redundancy
        own = selected.relevance is not None
        included = resolve_columns("include", getattr(self, "include", None), d, self._names())
        return Known(
            infos=self.columns_,
            selected=selected,
            relevance=selected.relevance if own else measured.relevance,
            directions=selected.directions if own else measured.directions,
            told=measured.told if selected.told is None else selected.told,
            next_told=measured.next_told if selected.told is None else selected.next_told,
            # As many columns as rows explain any column: overlap would say nothing.
            redundancy=None if selected.n_selected >= self._seen.n_rows - 1 else redundancy,
            coding=self.coding() or measured.coding,
            beyond_chance=[] if beyond is None else [bool(told) for told in beyond[: selected.n_selected]],
            included=frozenset(included.tolist()),
            adds_up=self._additive,
            least=least_share(self._seen.n_rows, d),
            n_rows=self._seen.n_rows,
        )

    def coding(self: Any, most: int = MOST_CODED) -> Coding | None:
        """Say what the first chosen columns tell of every column.

        Parameters
        ----------
        most : int
            How many of them.

        Returns
        -------
        Coding or None
            None for a method that does not measure it.
        """
        found = self._found()
        if found.coded is None:
            return None
        source = np.arange(len(found.order)) if self._encoder is None else self._encoder.source
        chosen = found.order[: found.n_selected][: len(found.coded)]
        wanted = list(dict.fromkeys(source[chosen].tolist()))[:most]
        kept = np.isin(source[chosen], wanted)
        steps = None if found.steps is None else found.steps[kept]
        return Coding(found.coded[kept], chosen[kept], source, self.n_features_in_, steps)

    def encode(self: Any, X: Any) -> Encoded:
        """A table with the columns of the fit, as the matrix of numbers that the selector looks at.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe or Arrow table of shape (n, d)
            A table with the columns of ``fit``.

        Returns
        -------
        Encoded
            The matrix, where its columns come from, and which of them are chosen.
        """
        found, encoder = self._found(), self._encoder
        matrix = self._check_table(X, reset=False, count=False)
        source = np.arange(len(found.order)) if encoder is None else encoder.source
        return Encoded(matrix, found.order[: found.n_selected], source, self.n_features_in_, encoder is not None)
