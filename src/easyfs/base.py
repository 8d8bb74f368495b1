"""What every selector of the library shares: an order of the columns, names, support, transform."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from easyfs.selection import Selection
from easyfs.stopping import resolve_count
from easyfs.tables import column_names, is_table, to_matrix

Array = NDArray[Any]


class BaseSelector(SelectorMixin, BaseEstimator):
    """Base class of all selectors.

    A subclass's ``fit`` validates with ``_check_table`` and leaves a :class:`~easyfs.selection.Selection` in ``_result``.
    """

    _result: Selection | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = False
        tags.target_tags.one_d_labels = False
        tags.target_tags.two_d_labels = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_result", None) is not None

    def _check_table(self, X: Any, *, reset: bool, min_rows: int = 2) -> Array:
        """Check names and number of columns; give the table as a matrix of numbers."""
        matrix = to_matrix(X, estimator=self, min_rows=min_rows)
        validate_data(self, X if is_table(X) else matrix, reset=reset, skip_check_array=True)
        return matrix

    def _names(self) -> list[Any] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _selected(self) -> Selection:
        check_is_fitted(self)
        assert self._result is not None
        return self._result

    @property
    def order_(self) -> Array:
        """All columns, best first: included, selected as chosen, the rest, copies, constants, excluded."""
        return self._selected().order

    @property
    def n_features_(self) -> int:
        """Number of selected columns."""
        return self._selected().n_selected

    @property
    def ranking_(self) -> Array:
        """1 + the place of each column in ``order_``."""
        order = self.order_
        ranking = np.empty(len(order), dtype=np.intp)
        ranking[order] = np.arange(1, len(order) + 1)
        return ranking

    @property
    def scores_(self) -> Array:
        """One score for each column, larger is better; ``-inf`` for excluded columns."""
        return self._selected().scores

    @property
    def gains_(self) -> Array:
        """What each selected column added, in the order of selection."""
        return self._selected().gains

    def _get_support_mask(self) -> Array:
        result = self._selected()
        mask = np.zeros(len(result.order), dtype=bool)
        mask[result.order[: result.n_selected]] = True
        return mask

    def transform(self, X: Any) -> Any:
        """Reduce a table to the selected columns, in their original order.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe or Arrow table of shape (n, d)
            A table with the columns of ``fit``.

        Returns
        -------
        ndarray, sparse matrix or dataframe of shape (n, n_features_)
            An array, unless ``set_output`` asks for a dataframe.
        """
        check_is_fitted(self)
        if not is_table(X):
            return super().transform(X)
        if hasattr(X, "iloc"):
            reduced = super().transform(X)
            return reduced.astype(np.float64) if getattr(reduced, "dtype", None) == np.dtype(object) else reduced
        validate_data(self, X, reset=False, skip_check_array=True)
        names = column_names(X)
        assert names is not None
        return to_matrix(X.select([names[j] for j in self.get_support(indices=True)]))

    def truncate(self, n_features_to_select: Any) -> BaseSelector:
        """The same fit with another number of features, at no cost.

        Parameters
        ----------
        n_features_to_select : int or float
            A count, or a share of all columns (of all groups, where columns are grouped).

        Returns
        -------
        selector
            A copy of this selector that selects the first columns of ``order_``. Beyond the columns that the search chose,
            the order is by what each would have added next, and ``gains_`` ends with what the search chose.
        """
        result = self._selected()
        available = len(np.unique(result.groups[np.isfinite(result.scores)]))
        count = resolve_count(n_features_to_select, available)
        if count is None:
            raise ValueError("n_features_to_select='auto' cannot be truncated to; fit again with 'auto', or give a count.")
        shorter = copy.copy(self)
        shorter.n_features_to_select = n_features_to_select
        count = result.columns_of(count)
        coded = None if result.coded is None else result.coded[:count]
        shorter._result = replace(result, n_selected=count, gains=result.gains[:count], coded=coded)
        return shorter
