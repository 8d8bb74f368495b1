"""What every selector of the library shares: an order of the columns, names, support, transform."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from easyfs.base.explained import Explained
from easyfs.base.limits import Further
from easyfs.base.mixed import collapse, expand
from easyfs.base.path import plot_path
from easyfs.base.request import Request, make_request, resolve_columns, resolve_count
from easyfs.base.result import Selection
from easyfs.base.saving import content_of, write_selection
from easyfs.common.reporting import make_report
from easyfs.common.types import Array
from easyfs.tables.columns import NUMBER, ColumnInfo
from easyfs.tables.encoder import PLAINLY, Counting, TableEncoder, read_table
from easyfs.tables.frames import check_is_table, column_names, column_types, is_table, missing_in, take_columns, to_matrix
from easyfs.tables.naming import Roles, without
from easyfs.tables.target_summary import TargetInfo
from easyfs.tables.weights import weighs_nothing


@dataclass(frozen=True, eq=False)
class Seen:
    """What a fit has seen.

    Attributes
    ----------
    dtypes : tuple of str
        Types of the columns; one for all of an array.
    n_rows : int
        Rows that count.
    target : TargetInfo or None
        What the target holds.
    missing : ndarray or None
        Rows without a value, for each column; None where they were not counted.
    block : tuple of (int, ndarray) or None
        Rows, and those without a value, of a table that has been checked but does not count yet.
    """

    dtypes: tuple[str, ...]
    n_rows: int = 0
    target: TargetInfo | None = None
    missing: Array | None = None
    block: tuple[int, Array] | None = None


class BaseSelector(Explained, SelectorMixin, BaseEstimator):
    """Base class of all selectors.

    A subclass's ``fit`` validates with ``_check_table`` and leaves a :class:`~easyfs.base.result.Selection` in ``_result``.
    """

    n_features_in_: int
    feature_names_in_: Array
    _result: Selection | None  # of the columns of the matrix, which a table of mixed columns has more of
    _encoder: TableEncoder | None
    _seen: Seen
    _roles = Roles()  # columns of the table that are target or weights
    # Whether what several columns add sums up to what they add together.
    _additive = False

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

    def _check_table(
        self,
        X: Any,
        *,
        reset: bool,
        min_rows: int | None = None,
        encoder: TableEncoder | None = None,
        learn: bool = True,
        count: bool = True,
        counting: Counting = PLAINLY,
    ) -> Array:
        """Check names and number of columns; give the table as a matrix of numbers.

        A table with columns that are no numbers is encoded; how is learnt where ``reset`` is set, unless ``learn`` is not:
        then as ``encoder`` does it, or not at all. ``count`` says whether the table is one to learn from, whose missing
        values are counted, and ``counting`` how its values are. Of rows with weights one may be enough.
        """
        enough = min_rows or (2 if counting.weight is None else 1)
        checks: dict[str, Any] = {"estimator": self, "min_rows": enough}
        check_is_table(X)
        if not is_table(X):
            matrix = to_matrix(X, **checks)
            if not reset and self._encoder is not None:
                raise ValueError("this selector was fitted on a table with named columns; pass such a table again.")
            validate_data(self, matrix, reset=reset, skip_check_array=True)
            encoder = None
        elif reset:
            names = column_names(X) or []
            include = getattr(self, "include", None)
            for parameter in ("include", "exclude"):
                self._roles.check_others(parameter, getattr(self, parameter, None))
            named = names if all(isinstance(name, str) for name in names) else None
            if learn:
                wanted = resolve_columns("include", include, len(names), named)
                adjusted = resolve_columns("adjust_for", getattr(self, "adjust_for", None), len(names), named)
                encoder, matrix = read_table(X, wanted, adjusted, counting=counting, **checks)
            else:
                matrix = to_matrix(X, **checks) if encoder is None else encoder.transform(X, **checks)
            validate_data(self, X, reset=True, skip_check_array=True)
        else:
            validate_data(self, X, reset=False, skip_check_array=True)
            encoder = self._encoder
            matrix = to_matrix(X, **checks) if encoder is None else encoder.transform(X, **checks)
        if reset:
            self._encoder = encoder
            self._seen = Seen(dtypes=column_types(X))
            if encoder is not None and learn:
                exclude = getattr(self, "exclude", None)
                encoder.warn_of_aside(resolve_columns("exclude", exclude, self.n_features_in_, self._names()))
        if count:
            self._seen = replace(self._seen, block=self._missing_in(X, matrix, learnt=reset and learn))
        return matrix

    def _missing_in(self, X: Any, matrix: Array, *, learnt: bool) -> tuple[int, Array] | None:
        """Rows of a table, and how many of them have no value in each column; None for a file that is read in blocks."""
        encoder = self._encoder
        if isinstance(X, np.memmap):
            return None
        if encoder is None:
            return matrix.shape[0], missing_in(matrix)
        if learnt:
            return matrix.shape[0], np.array([column.n_missing for column in encoder.columns])
        return matrix.shape[0], encoder.missing_in(X, matrix)

    def _adds_nothing(self, X: Any, sample_weight: Any, *, first: bool) -> bool:
        """Whether a block of a stream has no row that counts, which the first one must have."""
        check_is_table(X)
        shape = getattr(X, "shape", None)
        n_rows = shape[0] if shape else len(X) if isinstance(X, (list, tuple)) else None
        if n_rows is None or (n_rows and not weighs_nothing(sample_weight, n_rows)):
            return False
        if first:
            found = "sample_weight is zero in every row of the first block" if n_rows else "the first block has no rows"
            raise ValueError(
                f"{found}, from which the scaling and the network are taken; begin with a block that has at least 2 rows."
            )
        if shape or n_rows:  # an empty list has no columns to check
            validate_data(self, X, reset=False, skip_check_array=True)
        return True

    def _constraints(self) -> Request:
        """How many columns of the matrix to select, and which must, may or may not be."""
        encoder = self._encoder
        asked = make_request(
            self.n_features_in_,
            self._names(),
            n_features_to_select=self.n_features_to_select,
            include=self.include,
            exclude=self.exclude,
            feature_groups=self.feature_groups,
            further=Further(**{entry.name: getattr(self, entry.name, None) for entry in fields(Further)}),
            aside=None if encoder is None else encoder.columns,
        )
        return asked if encoder is None else expand(asked, encoder)

    def _saw(self, n_rows: int, target: TargetInfo | None, missing: Array | None = None) -> None:
        """Remember rows and target, and count what is missing, unless some rows of the table do not count."""
        seen = self._seen
        if missing is None and seen.block is not None and seen.block[0] == n_rows:
            missing = seen.block[1]
        if seen.n_rows and missing is not None:
            missing = None if seen.missing is None else seen.missing + missing
        self._seen = replace(seen, n_rows=seen.n_rows + n_rows, target=target, missing=missing, block=None)

    def _names(self) -> list[Any] | None:
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _found(self) -> Selection:
        """The selection of columns of the matrix."""
        check_is_fitted(self)
        assert self._result is not None
        return self._result

    def _selected(self) -> Selection:
        """The selection of the user's columns."""
        found = self._found()
        return found if self._encoder is None else collapse(found, self._encoder, additive=self._additive)

    @property
    def columns_(self) -> list[ColumnInfo]:
        """What each column is (number, category, date, ...), what was done with it, and how much of it is missing."""
        selected = self._selected()
        d = len(selected.order)
        if self._encoder is not None:
            infos = self._encoder.columns
        else:
            names = self._names() or [f"x{j}" for j in range(d)]
            infos = [
                ColumnInfo(name, "boolean" if dtype.startswith("bool") else "numeric", dtype)
                for name, dtype in zip(names, self._seen.dtypes * (d if len(self._seen.dtypes) == 1 else 1), strict=True)
            ]
        constant = np.zeros(d, dtype=bool) if selected.constant is None else selected.constant
        missing: Any = self._seen.missing
        if missing is None:  # the share by weight says how many, if all rows weigh the same
            share = np.full(d, np.nan) if selected.missing is None else selected.missing
            counted = [info.n_missing for info in infos]
            missing = np.where(np.isnan(share), counted, np.round(np.nan_to_num(share) * self._seen.n_rows))
        return [
            replace(
                info,
                kind="constant" if constant[j] and info.used_as == NUMBER else info.kind,
                n_missing=int(missing[j]),
            )
            for j, info in enumerate(infos)
        ]

    @property
    def target_(self) -> TargetInfo | None:
        """What the target of the fit holds; None without one, and after blocks of rows."""
        check_is_fitted(self)
        return self._seen.target

    @property
    def n_rows_(self) -> int:
        """Number of rows that were seen."""
        check_is_fitted(self)
        return self._seen.n_rows

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
        X : array-like, sparse matrix, dataframe or Arrow table of shape (n_rows, n_features_in_)
            A table with the columns of ``fit``; one with names may have the selected ones alone, and target and weights.

        Returns
        -------
        X_selected : ndarray, sparse matrix or dataframe of shape (n_rows, n_features_)
            An array, unless ``set_output`` asks for a dataframe. A table with columns that are no numbers comes back as a
            table of its own library.
        """
        check_is_fitted(self)
        check_is_table(X)
        if not is_table(X):
            return super().transform(X)
        X = without(X, self._roles)
        places = self._places_of_chosen(X)
        if self._encoder is None and places is not None:
            return to_matrix(take_columns(X, places))
        if self._encoder is not None:
            wanted = _get_output_config("transform", self)["dense"]
            taken = self.take(X)
            if wanted not in ("pandas", "polars") or type(taken).__module__.split(".")[0] == wanted:
                return taken
            reduced = nw.from_native(taken, eager_only=True)
            return reduced.to_pandas() if wanted == "pandas" else reduced.to_polars()
        if hasattr(X, "iloc"):
            reduced = super().transform(X)
            return reduced.astype(np.float64) if getattr(reduced, "dtype", None) == np.dtype(object) else reduced
        validate_data(self, X, reset=False, skip_check_array=True)
        return to_matrix(take_columns(X, self.get_support(indices=True)))

    def take(self, X: Any) -> Any:
        """Take the selected columns of a table as they are, in the table's own library.

        Parameters
        ----------
        X : dataframe or Arrow table of shape (n_rows, n_features_in_)
            A table with the columns of ``fit``, or with the selected ones alone.

        Returns
        -------
        X_selected : dataframe or Arrow table of shape (n_rows, n_features_)
            The user's own columns, in their original order: categories stay categories, dates stay dates.
        """
        check_is_fitted(self)
        check_is_table(X)
        if not is_table(X):
            raise TypeError(f"take is for a dataframe or Arrow table, but X is of type {type(X).__name__}; use transform.")
        X = without(X, self._roles)
        places = self._places_of_chosen(X)
        if places is not None:
            return take_columns(X, places)
        validate_data(self, X, reset=False, skip_check_array=True)
        return take_columns(X, self.get_support(indices=True))

    def _places_of_chosen(self, X: Any) -> list[int] | None:
        """Where the chosen columns stand in a table that has lost some of the others; None for a table that has all."""
        known, names = self._names(), column_names(X)
        if known is None or names is None or not set(names) < set(known):
            return None
        chosen = [known[j] for j in self.get_support(indices=True)]
        return [names.index(name) for name in chosen] if set(chosen) <= set(names) else None

    def report(self, path: str | os.PathLike[str] | None = None, X: Any = None, y: Any = None, **options: Any) -> Any:
        """Make a page that tells what was chosen and why.

        Parameters
        ----------
        path : str or path, default=None
            Where to write it: ``.html`` for reading, ``.json`` or ``.md`` for the same content in other forms.
        X : array-like, sparse matrix, dataframe or Arrow table of shape (n_rows, n_features_in_), default=None
            The rows of the fit; with them ``stability=20`` (runs on random halves of the rows) and ``cv=True`` (the
            cross-validated score over the number of columns) can be asked for.
        y : array-like of shape (n_rows,) or (n_rows, n_targets), default=None
            The target of the fit.
        **options : dict
            Further options of :func:`easyfs.report.build_report`.

        Returns
        -------
        report : Report
            It shows itself in a notebook; ``save`` writes it.
        """
        report = make_report(self, X, y, **options)
        if path is not None:
            report.save(path)
        return report

    def plot(self, *, ax: Any = None) -> Any:
        """Draw what each chosen column added, and what all of them explain together.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
            The axes; ``.figure`` is the figure. It needs the extra ``report``.
        """
        check_is_fitted(self)
        return plot_path(self, ax)

    def save_selection(self, path: str | os.PathLike[str]) -> Path:
        """Save which columns were chosen as plain JSON, to take them from other tables later.

        Parameters
        ----------
        path : str or path
            Where to write it, whole or not at all; ``easyfs.load_selection`` reads it.

        Returns
        -------
        Path
            The file.
        """
        check_is_fitted(self)
        return write_selection(content_of(self), path)

    def truncate(self, n_features_to_select: int | float) -> Self:
        """Get the same fit with another number of columns, at no cost.

        Parameters
        ----------
        n_features_to_select : int or float
            A count, or a share of all columns (of all groups, where columns are grouped).

        Returns
        -------
        selector : object
            A copy of this selector that selects the first columns of ``order_``. Beyond the columns that the search chose,
            the order is by what each would have added next, and ``gains_`` ends with what the search chose.
        """
        result = self._found()
        available = len(np.unique(result.groups[np.isfinite(result.scores)]))
        count = resolve_count(n_features_to_select, available)
        if count is None:
            raise ValueError("n_features_to_select='auto' cannot be truncated to; fit again with 'auto', or give a count.")
        shorter = copy.copy(self)
        shorter.n_features_to_select = n_features_to_select
        count = result.columns_of(count)
        included = self._constraints().include
        if not np.isin(included, result.order[:count]).all():
            raise ValueError(
                f"truncate({n_features_to_select!r}) would drop a column that include asks for ({len(included)} of them), "
                "so ask for at least as many."
            )
        coded = None if result.coded is None else result.coded[:count]
        p_values = None if result.p_values is None else result.p_values[:count]
        steps, told = (None if values is None else values[:count] for values in (result.steps, result.told))
        shorter._result = replace(
            result,
            n_selected=count,
            gains=result.gains[:count],
            coded=coded,
            p_values=p_values,
            steps=steps,
            told=told,
            next_told=None if count != result.n_selected else result.next_told,
        )
        return shorter
