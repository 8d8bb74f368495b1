"""A table of mixed columns as numbers for a model: the encoding that the selectors use, as a transformer of its own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from easyfs.common.notices import warn_user
from easyfs.common.types import Array
from easyfs.tables.columns import ASIDE
from easyfs.tables.encoder import TableEncoder, read_table, told
from easyfs.tables.frames import check_is_table, is_table, to_matrix


class TableToNumbers(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, categories, dates and flags into a matrix of numbers that any model takes.

    Each value of a category becomes a column of 0 and 1 (the 30 most frequent ones, others together), a date its days since
    the first, month, weekday and hour; numbers stay as they are. Free text and identifiers are set aside with a warning.
    Missing numbers become the mean of their column. It is how the selectors of the library read such tables; behind one of
    them it makes a pipeline that ends in any model.

    Parameters
    ----------
    fill_missing : bool, default=True
        Put the mean of its column, of the rows seen in ``fit``, in place of a missing number. False leaves NaN.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen.
    feature_names_in_ : ndarray of str
        Their names, when all are strings.

    See Also
    --------
    EasyFS : Selects columns of such tables and gives them back as they were.

    Examples
    --------
    >>> import pandas as pd
    >>> from easyfs import TableToNumbers
    >>> table = pd.DataFrame({"size": [1.0, None, 5.0, 4.0] * 5, "city": ["Rome", "Paris", "Rome", "Oslo"] * 5})
    >>> numbers = TableToNumbers().fit(table)
    >>> numbers.get_feature_names_out().tolist()
    ['size', 'city = Rome', 'city = Oslo', 'city = Paris']
    >>> numbers.transform(table)[:2].round(1).tolist()
    [[1.0, 1.0, 0.0, 0.0], [3.3, 0.0, 0.0, 1.0]]
    """

    _encoder: TableEncoder | None
    _means: Array

    def __init__(self, fill_missing: bool = True):
        self.fill_missing = fill_missing

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_means")

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn what the columns are, the values of categories and the means of numbers.

        Parameters
        ----------
        X : dataframe, Arrow table or array of shape (n, d)
            The table.
        y : object, optional
            Not used.

        Returns
        -------
        self
            The fitted transformer.
        """
        check_is_table(X)
        if is_table(X):
            self._encoder, matrix = read_table(X, estimator=self)
            validate_data(self, X, reset=True, skip_check_array=True)
            left = [] if self._encoder is None else [c for c in self._encoder.columns if c.used_as == ASIDE]
            if left:
                warn_user(f"{told(left)} set aside; turn what matters of it into numbers, or drop it.")
        else:
            self._encoder, matrix = None, _dense(to_matrix(X, estimator=self))
            validate_data(self, matrix, reset=True, skip_check_array=True)
        observed = ~np.isnan(matrix)
        counts = observed.sum(axis=0)
        self._means = np.where(observed, matrix, 0.0).sum(axis=0) / np.maximum(counts, 1)
        return self

    def transform(self, X: Any) -> Array:
        """Turn a table with the same columns into numbers.

        Parameters
        ----------
        X : dataframe, Arrow table or array of shape (n, d)
            The table.

        Returns
        -------
        ndarray of shape (n, m)
            Numbers.
        """
        check_is_fitted(self)
        check_is_table(X)
        if is_table(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            matrix = to_matrix(X, estimator=self) if self._encoder is None else self._encoder.transform(X, estimator=self)
        elif self._encoder is not None:
            raise ValueError("this transformer was fitted on a table with named columns; pass such a table again.")
        else:
            matrix = _dense(to_matrix(X, estimator=self))
            validate_data(self, matrix, reset=False, skip_check_array=True)
        if self.fill_missing:
            missing = np.isnan(matrix)
            if missing.any():
                matrix = np.where(missing, self._means.astype(matrix.dtype), matrix)
        return np.asarray(matrix)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of the matrix.

        Parameters
        ----------
        input_features : sequence of str, optional
            Names of the columns of the table, where it has none of its own.

        Returns
        -------
        ndarray of str
            Such as ``"city = Paris"`` and ``"sold: month"``.
        """
        check_is_fitted(self)
        if self._encoder is not None:
            return np.asarray(self._encoder.names, dtype=object)
        names = getattr(self, "feature_names_in_", input_features)
        if names is None:
            names = [f"x{j}" for j in range(self.n_features_in_)]
        return np.asarray(names, dtype=object)


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)
