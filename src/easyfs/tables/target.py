"""The target: read as people mean it, checked, and brought into the form that sums need."""

from __future__ import annotations

import datetime as dt
import numbers
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from easyfs.common.parameters import check_choice
from easyfs.common.types import Array
from easyfs.tables.frames import as_numpy
from easyfs.tables.reading import (
    FEWEST_ROWS,
    are_whole,
    but_for,
    check_labels,
    code_values,
    looks_like,
    read_numbers,
    reading_of,
)

TASKS = ("auto", "classification", "regression")
# Numbers that differ by no more than this share of their size differ by rounding only.
ROUNDING = 16 * float(np.finfo(np.float64).eps)
# Of more classes than this a sample has hardly two rows each, and they take many minutes.
MOST_CLASSES = 10_000
CONSTANT_TARGET = "y is constant: there is nothing to explain. Check the target column, or fit without y."


NO_DATES = "y holds dates or lengths of time; turn them into numbers, such as days since the first, or days."


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be explained.

    Attributes
    ----------
    task : {"classification", "regression", None}
        None means that there is no target.
    kind : {"classes", "values", None}
        Whether ``values`` holds class codes or columns of numbers (regression, multilabel).
    values : ndarray or None
    classes : ndarray or None
        Labels of the classes, by code.
    """

    task: str | None
    kind: str | None
    values: Array | None
    classes: Array | None = None

    @property
    def n_targets(self) -> int:
        """Number of target columns: classes, or targets."""
        if self.kind == "classes" and self.classes is not None:
            return len(self.classes)
        return 0 if self.values is None else int(self.values.shape[1])

    def __getitem__(self, rows: Any) -> Target:
        return self if self.values is None else Target(self.task, self.kind, self.values[rows], self.classes)


def read_values(y: Any) -> tuple[Array, bool]:
    """A target as an array, and whether its own library says that it is a category."""
    dtype = str(getattr(y, "dtype", getattr(y, "type", ""))).lower()
    category = dtype.startswith(("category", "categorical", "enum", "dictionary"))
    if sparse.issparse(y):  # labels of a row, mostly none: few enough columns to be written out
        y = y.toarray(order="C")
    y = as_numpy(y)
    if isinstance(y, np.ma.MaskedArray):
        hidden, y = np.ma.getmaskarray(y), y.data
        if hidden.any():  # as missing values, which an error then names
            y = np.where(hidden, np.nan, y) if y.dtype.kind in "biuf" else np.where(hidden, None, y.astype(object))
    values: Array = np.asarray(y)
    if values.dtype != object or not values.size or any(is_missing(value) for value in values.ravel()):
        return values, category
    if all(isinstance(value, (numbers.Real, Decimal)) for value in values.ravel()):
        numeric = np.array(values.tolist())  # numbers that are all of one kind, or all booleans
        return values.astype(np.float64) if numeric.dtype == object else numeric, category  # decimals, fractions
    plain = np.array(values.tolist())  # objects that are all booleans or all text
    mixed = plain.dtype.kind in "US" and not all(isinstance(value, (str, bytes)) for value in values.ravel())
    if category and (mixed or plain.dtype == object):  # such as intervals
        plain, mixed = values.astype(str), False
    return values if mixed or plain.shape != values.shape else plain, category


def check_target(y: Any, n: int, task: str) -> Target:
    """Read the task from ``y`` unless it is given, and bring ``y`` into the form that the statistics need."""
    check_choice("task", task, TASKS)
    if y is None:
        if task != "auto":
            raise ValueError(
                f"task={task!r} needs a target, but y is None; pass y, or leave task='auto' to select without one."
            )
        return Target(None, None, None)
    y, category = read_values(y)
    if y.ndim == 0 or y.ndim > 2:
        raise ValueError(f"y has {y.ndim} dimensions; give one value for each row, or a table of targets with a row each.")
    if len(y) != n:
        raise ValueError(
            f"y has {len(y)} entries, but X has {n} rows: inconsistent numbers of samples. Give one for each row."
        )
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y)
    if y.dtype.kind == "c":
        raise ValueError("y holds complex numbers; give its real part, or real and imaginary part as two targets.")
    if y.dtype.kind in "Mm":
        raise ValueError(NO_DATES)
    check_observed(y)
    _check_one_type(y)
    _check_plain(y)
    kind = _kind_of_target(y, task, category)
    if kind == "classes":
        classes, codes = code_values(y)
        return Target("classification", "classes", codes, classes)
    values = y.reshape(len(y), -1)
    try:
        values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(_no_numbers(y)) from error
    check_observed(values)  # a text may say "nan"
    multilabel = task != "regression" and kind == "multilabel"
    return Target("classification" if multilabel else "regression", "values", values)


def _no_numbers(y: Array) -> str:
    """What to say of a target that cannot be turned into numbers."""
    labels = np.unique(y)
    looks = looks_like(labels) if y.dtype.kind in "OUST" else None
    if looks is None:
        example = labels.tolist()[0]
        return f"y holds text (for example {example!r}), but task='regression' needs numbers; use task='classification'."
    into = "days since the first" if looks.value is None else f"numbers, such as {looks.value:.12g}"
    return (
        f"y holds text that looks like {looks.what} (for example {looks.example!r}){but_for(looks, labels)}, but "
        f"task='regression' needs numbers: turn it into {into}, or use task='classification'."
    )


def _check_one_type(y: Array) -> None:
    if y.dtype != object:
        return
    text = np.array([isinstance(value, str) for value in y.ravel()], dtype=bool)
    if text.any() and not text.all():
        raise ValueError("y mixes labels that are text with others that are not; make all of them text, or none.")


def _check_plain(y: Array) -> None:
    """A target holds labels or numbers, one in each cell."""
    if y.dtype != object:
        return
    odd = next((value for value in y.ravel() if not isinstance(value, (str, bytes, numbers.Number, Decimal))), None)
    if odd is None:
        return
    if isinstance(odd, (dt.date, dt.time, dt.timedelta)):
        raise ValueError(NO_DATES)
    raise ValueError(
        f"y holds values of type {type(odd).__name__} (for example {str(odd)[:60]!r}): unknown label type. Give a "
        "number, or a label such as text, for each row."
    )


def check_observed(y: Array, numbers: Array | None = None) -> None:
    """A target must be known in all rows; ``numbers`` are theirs, where they are not counted from 0."""
    if y.dtype.kind == "f":
        bad = ~np.isfinite(y)
    elif y.dtype.kind in "Mm":
        bad = np.isnat(y)
    elif y.dtype == object:
        bad = np.array([is_missing(value) for value in y.ravel()], dtype=bool).reshape(y.shape)
    else:
        return
    if bad.any():
        rows = np.flatnonzero(bad.reshape(len(y), -1).any(axis=1))
        found = "infinity" if y.dtype.kind == "f" and np.isinf(y[bad]).any() else "NaN"
        several = "s" if len(rows) > 1 else ""
        first = rows[0] if numbers is None else numbers[rows[0]]
        raise ValueError(
            f"Input y contains {found} in {len(rows)} row{several} (the first is row {first}). Drop the rows "
            "whose target is not known before fitting."
        )


def is_missing(value: Any) -> bool:
    """Whether one entry of a target is not there, in any library's words."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, numbers.Real) and bool(np.isnan(float(value)))


def _kind_of_target(y: Array, task: str, category: bool = False) -> str:
    """One of "classes", "values", "multilabel"; ``category`` says that the user's own library has classes in ``y``."""
    if task == "regression":
        return "values"
    text = y.dtype.kind in "UST" or (y.dtype == object and all(isinstance(value, (str, bytes)) for value in y.ravel()))
    if y.ndim == 1 and (category or text or y.dtype.kind == "b"):
        if task == "auto" and y.dtype.kind != "b":
            check_labels(y)
        return "classes"
    if y.ndim == 1 and y.dtype.kind in "iuf":
        return read_numbers(y) if task == "auto" else _check_class_numbers(y)
    return _kind_of_several(y, task)


def _check_class_numbers(y: Array) -> str:
    """Numbers that the user says are classes."""
    if not are_whole(y) and len(np.unique(y)) == len(y):
        raise ValueError(
            "y is continuous: its numbers cannot be class labels, as with task='classification' every row would be a "
            "class of its own. Use task='regression', or bin y into classes."
        )
    return "classes"


def _kind_of_several(y: Array, task: str) -> str:
    """Several targets at once, or what is no target."""
    with np.errstate(invalid="ignore"):  # it casts to whole numbers, which very large ones are not
        found = type_of_target(y, input_name="y")
    if found == "multilabel-indicator":
        return "multilabel"
    if found == "continuous-multioutput" and task == "auto":
        return "values"
    if found == "multiclass-multioutput":
        if task == "auto" and y.dtype.kind in "iuf" and not any(reading_of(column).classes for column in y.T):
            return "values"
        quantities = ", or say task='regression' if the whole numbers are quantities" if y.dtype.kind in "iuf" else ""
        raise ValueError(
            f"y has {y.shape[1]} columns of class labels (multiclass-multioutput), which is not supported: fit one "
            f"selector for each column{quantities}."
        )
    raise ValueError(f"Unknown label type: y is {found!r}, which cannot be used with task={task!r}.")


def check_same_labels(known: Any, new: Any) -> None:
    """Labels of a block must be of the type that they had in the first: 1 and "1" would be two classes.

    Parameters
    ----------
    known : sequence
        Labels of the first block.
    new : sequence or None
        Labels of another one.
    """
    if new is None or not len(known) or not len(new):
        return
    first, other = next(iter(known)), next(iter(new))
    was, now = (isinstance(label, (str, bytes)) for label in (first, other))
    if was != now:
        words = {True: "text", False: "numbers"}
        raise ValueError(
            f"y holds labels that are {words[now]} in this block (for example {_shown(other)}), but {words[was]} in the "
            f"first one ({_shown(first)}); give them as {words[was]} in all blocks."
        )


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def check_varies(target: Target) -> None:
    """There must be something to explain."""
    if target.values is None:
        return
    if target.kind == "classes" and target.classes is not None:
        classes = target.classes[np.flatnonzero(np.bincount(target.values))]
        check_two_classes(classes)
        if len(classes) == len(target.values) >= FEWEST_ROWS:
            raise ValueError(
                f"y has a class for each of the {len(classes)} rows, so that there is nothing to learn about a class. "
                "Check that this is the right column, or say task='regression' if y holds quantities."
            )
        if len(classes) > MOST_CLASSES:
            raise ValueError(
                f"y has {len(classes):,} classes, and no more than {MOST_CLASSES:,} can be compared. Put them into fewer, "
                "check that this is the right column, or say task='regression' if y holds quantities."
            )
    elif not varies(target.values):
        raise ValueError(CONSTANT_TARGET)


def varies(values: Array) -> bool:
    """Whether a column of numbers differs by more than rounding."""
    with np.errstate(over="ignore"):
        spread = values.max(axis=0) - values.min(axis=0)
    return bool((spread > ROUNDING * np.abs(values).max(axis=0)).any())


def check_two_classes(classes: Array) -> None:
    """Classes that were seen."""
    if len(classes) < 2:
        raise ValueError(f"y has 1 class only ({classes.tolist()[0]!r}); at least 2 classes are needed to select for.")
