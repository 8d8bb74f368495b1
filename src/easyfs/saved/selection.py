"""A selection that was saved: it takes its columns from other tables, and needs no selector for that."""

from __future__ import annotations

import difflib
import os
from typing import Any, Self

import narwhals as nw
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config

from easyfs.base.saving import hash_of, problem_of, read_selection
from easyfs.common.notices import warn_user
from easyfs.common.types import Array
from easyfs.engines.opening import open_parts
from easyfs.engines.torch import is_tensor
from easyfs.saved.pasting import TABLE, code_of
from easyfs.saved.types import held_unread
from easyfs.tables.frames import check_is_table, column_names, is_table, take_columns
from easyfs.tables.holding import TEXT, are_alike, held_in

MOST_NAMED = 5


class SavedSelection(TransformerMixin, BaseEstimator):
    """Columns that were selected once, to be taken from other tables.

    :func:`load_selection` makes one of a file that ``save_selection`` of a selector, or the command line, has written. It
    is a transformer of scikit-learn that has nothing to learn: ``fit`` does nothing. Columns are taken by name, in the
    order that the file states, whatever the order of the table; further columns are no matter, and a missing one is an
    error that names it. A table that had no names gives its columns by position.

    Parameters
    ----------
    content : dict
        What is in the file; ``docs/saving.md`` describes it.
    strict : bool, default=True
        Whether a column that holds something else than it did (text in place of numbers) is an error. A column of text
        that holds something else now is a warning in any case, as files of text do not say what they hold. False makes
        all of these warnings.

    Attributes
    ----------
    columns : list of str
        Names of the columns, in the order in which they come out: that of the table they were selected from.
    kinds : dict of str to str
        What each was: "numeric", "category", "date", ...
    order : list of str
        The names in the order of choice, best first.
    positions : list of int
        Where they stood in the table they were selected from.

    See Also
    --------
    EasyFS : Selects columns; ``save_selection`` writes the file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> import easyfs
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "selection.json"
    >>> _ = easyfs.EasyFS(2, random_state=0).fit(X, y).save_selection(path)
    >>> chosen = easyfs.load_selection(path)
    >>> chosen.columns
    ['petal length (cm)', 'petal width (cm)']
    >>> chosen.transform(X.iloc[:3, ::-1]).columns.tolist()
    ['petal length (cm)', 'petal width (cm)']
    >>> print(chosen.code("sql", table="flowers"))
    SELECT "petal length (cm)", "petal width (cm)" FROM "flowers"
    """

    def __init__(self, content: dict[str, Any], *, strict: bool = True):
        self.content = content
        self.strict = strict

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        content = self._known()
        return f"SavedSelection({len(content['columns'])} of {content['input']['columns']} columns, by {content['method']})"

    def _known(self) -> dict[str, Any]:
        """The content, checked where it came from somewhere else than a file."""
        if getattr(self, "_checked", None) is not self.content:
            problem = problem_of(self.content)
            if problem:
                raise ValueError(f"content {problem}")
            self._checked = self.content
        return self.content

    @property
    def columns(self) -> list[str]:
        """Names of the columns, in the order in which they come out."""
        return [column["name"] for column in self._known()["columns"]]

    @property
    def kinds(self) -> dict[str, str]:
        """What each column was."""
        return {column["name"]: column["kind"] for column in self._known()["columns"]}

    @property
    def order(self) -> list[str]:
        """The names in the order of choice, best first."""
        return [column["name"] for column in sorted(self._known()["columns"], key=lambda column: column["place"])]

    @property
    def positions(self) -> list[int]:
        """Where the columns stood in the table they were selected from."""
        return [column["position"] for column in self._known()["columns"]]

    def fit(self, X: Any = None, y: Any = None) -> Self:  # noqa: ARG002 - as every transformer has it
        """Do nothing: there is nothing to learn.

        Parameters
        ----------
        X : object, default=None
            It is not looked at.
        y : object, default=None
            It is not looked at.

        Returns
        -------
        self
            The selection itself.
        """
        self._known()
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = tags.input_tags.sparse = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> Array:  # noqa: ARG002 - they are known
        """Names of the columns that come out.

        Parameters
        ----------
        input_features : object, default=None
            It is not looked at.

        Returns
        -------
        ndarray of str
            The names.
        """
        return np.array(self.columns, dtype=object)

    def transform(self, X: Any) -> Any:
        """Take the columns of a table as they are, in the table's own library.

        Parameters
        ----------
        X : dataframe, Arrow table, lazy table, array-like or sparse matrix
            A table of any library: pandas, polars, Arrow, numpy; a polars ``LazyFrame``, a ``pyarrow.dataset``, a DuckDB
            relation, ``easyfs.scan(...)``, a Dask or a Spark table. An array has no names, so it must have the columns
            that the selection was made from, in their order.

        Returns
        -------
        table or array
            The columns, in the order of ``columns``: a table of its own library, unless ``set_output`` asks for another
            one. A lazy table is still lazy.
        """
        parted = open_parts(X)
        if parted is not None:
            if parted.names is None or not self.is_named:
                self._check_width(int(X.shape[1]) if parted.names is None else len(parted.names))
                return parted.select(self.positions if parted.names is None else [parted.names[j] for j in self.positions])
            self._check_names(parted.names)
            self._check_held(held_unread(X, self.columns))
            return parted.select(self.columns)
        check_is_table(X)
        return self._in_asked_library(self._of_table(X)) if is_table(X) else self._of_array(X)

    def take(self, X: Any) -> Any:
        """Take the columns of a table, as :meth:`transform` does.

        Parameters
        ----------
        X : dataframe, Arrow table, lazy table, array-like or sparse matrix
            The table.

        Returns
        -------
        table or array
            The columns, in the order of ``columns``, in the table's own library.
        """
        return self.transform(X)

    def has_same_columns(self, X: Any) -> bool:
        """Whether a table has the columns that the selection was made from, all of them, in order and of the same types.

        Parameters
        ----------
        X : dataframe or Arrow table
            A table.

        Returns
        -------
        bool
            Whether the hash of its schema is the one in the file.
        """
        check_is_table(X)
        names = column_names(X)
        if names is None:
            raise TypeError(f"X, of type {type(X).__name__}, has no names of columns to compare.")
        held = held_in(X, list(range(len(names))))
        return bool(hash_of([str(name) for name in names], held) == self._known()["input"]["hash"])

    def code(self, language: str, table: str = TABLE) -> str:
        """Write the selection as code to paste.

        Parameters
        ----------
        language : {"sql", "polars", "pandas", "sklearn"}
            What to write.
        table : str, default="data"
            What the table is called.

        Returns
        -------
        str
            The code; names of columns are quoted.
        """
        return code_of(language, self.columns, None if self.is_named else self.positions, table)

    @property
    def is_named(self) -> bool:
        """Whether columns are taken by name; else by position."""
        return bool(self._known()["input"]["named"])

    def _of_table(self, X: Any) -> Any:
        names = list(column_names(X) or [])
        if not self.is_named:
            self._check_width(len(names))
            return take_columns(X, self.positions)
        self._check_names(names)
        where = {name: j for j, name in enumerate(names)}
        places = [where[name] for name in self.columns]
        self._check_held(dict(zip(self.columns, held_in(X, places), strict=True)))
        return take_columns(X, places)

    def _of_array(self, X: Any) -> Any:
        if not (sparse.issparse(X) or is_tensor(X) or isinstance(X, np.ndarray)):
            X = np.asarray(X)
        if X.ndim != 2:
            raise ValueError(f"X has {X.ndim} dimension{'' if X.ndim == 1 else 's'}; give rows and columns.")
        self._check_width(int(X.shape[1]))
        if self.is_named:
            warn_user("X has no names of columns, but the selection has: columns are taken by their position.")
        return (X.tocsr() if sparse.issparse(X) else X)[:, self.positions]

    def _check_width(self, found: int) -> None:
        wanted = self._known()["input"]["columns"]
        if found != wanted:
            many = "" if found == 1 else "s"
            raise ValueError(
                f"X has {found} column{many}, but the selection was made from {wanted}. Columns without names are taken by "
                "their position: give all of them in their order."
            )

    def _check_names(self, names: list[Any]) -> None:
        there = set(names)
        missing = [name for name in self.columns if name not in there]
        if not missing:
            return
        close = difflib.get_close_matches(missing[0], [str(name) for name in names], n=1)
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        shown = ", ".join(map(repr, missing[:MOST_NAMED])) + more
        hint = f" It has {close[0]!r}: is that the same?" if close and len(missing) == 1 else ""
        raise ValueError(f"X does not have the selected column{'s' if len(missing) > 1 else ''} {shown}.{hint}")

    def _check_held(self, held: dict[str, str]) -> None:
        """Columns must hold what they held when they were selected."""
        changed = [
            (column["name"], column["holds"], held[column["name"]])
            for column in self._known()["columns"]
            if column["name"] in held and not are_alike(column["holds"], held[column["name"]])
        ]
        for stop in (True, False):
            found = [entry for entry in changed if (self.strict and entry[1] != TEXT) is stop]
            if not found:
                continue
            name, before, now = found[0]
            more = f" (and {len(found) - 1} more columns are not what they were)" if len(found) > 1 else ""
            text = f"column {name!r} holds {now}, but it held {before} when it was selected{more}."
            if stop:
                raise ValueError(f"{text} Convert it, or say strict=False to take it as it is.")
            warn_user(text)

    def _in_asked_library(self, taken: Any) -> Any:
        """A table as ``set_output`` asks for it."""
        wanted = _get_output_config("transform", self)["dense"]
        if wanted not in ("pandas", "polars") or type(taken).__module__.split(".")[0] == wanted:
            return taken
        reduced = nw.from_native(taken, eager_only=True)
        return reduced.to_pandas() if wanted == "pandas" else reduced.to_polars()


def load_selection(path: str | os.PathLike[str], *, strict: bool = True) -> SavedSelection:
    """Read a selection that ``save_selection`` of a selector, or the command line, has written.

    Nothing in the file is run; one that is not what it should be is an error that says what is wrong.

    Parameters
    ----------
    path : str or path
        The file.
    strict : bool, default=True
        Whether a column that holds something else than it did is an error.

    Returns
    -------
    SavedSelection
        With ``columns``, ``kinds`` and ``transform``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from easyfs import PearsonSelector, load_selection
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "selection.json"
    >>> saved = PearsonSelector(2).fit(X, y).save_selection(path)
    >>> load_selection(path).transform(X).shape
    (150, 2)
    """
    return SavedSelection(read_selection(path), strict=strict)
