"""From a fitted selector to the content of its report."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

import easyfs
from easyfs.base.coding import Coding, Encoded, Measured
from easyfs.base.explanation import Explanation
from easyfs.base.selector import BaseSelector
from easyfs.common.parameters import check_number
from easyfs.common.plain import text_of
from easyfs.report.alike import mark_interchangeable, mark_near_copies
from easyfs.report.asked import asked_of
from easyfs.report.cautions import cautions
from easyfs.report.counting import column_count_of
from easyfs.report.document import Report
from easyfs.report.measure import chance_after, check_options, cross_validate, measure_stability
from easyfs.report.overlap import overlap_of
from easyfs.report.pictures import pictures_of
from easyfs.report.prose import default_title, summary_of
from easyfs.report.sections import (
    adjusted_of,
    aside_of,
    data_of,
    enough_of,
    features_of,
    interactions_of,
    runners_up_of,
    target_of,
)
from easyfs.report.standardised import measured_on
from easyfs.report.summary import SCHEMA, SCHEMA_VERSION, Caution, Content, Target
from easyfs.tables.naming import take_roles
from easyfs.tables.target import Target as CheckedTarget
from easyfs.tables.target import check_target
from easyfs.tables.target_summary import describe_target


def build_report(  # noqa: PLR0913 - options of a report, all but the first three by name
    selector: BaseSelector,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    source: str | None = None,
    stability: int = 0,
    cv: Any = False,
    groups: Any = None,
    model: Any = None,
    pictures: bool = True,
    sample_weight: Any = None,
    random_state: int = 0,
    command_line: bool = False,
) -> Report:
    """Report what a fitted selector chose, and why.

    Parameters
    ----------
    selector : selector
        Any fitted selector of the library.
    X, y : table and target, optional
        The rows of the fit; the target may be the name of a column. What the selector remembers is enough for most of the
        report; with the rows, what each column explains of the target is measured for any method, there are pictures, and
        ``stability`` and ``cv`` become possible.
    title : str, optional
        Title of the report.
    source : str, optional
        Where the table comes from, such as the name of its file.
    stability : int, default=0
        Number of random halves of the rows to select on again; 0 for none.
    cv : bool, int or splitter, default=False
        Whether to cross-validate the score of a model over the number of columns; a number is that of the folds (True: 5),
        a splitter of scikit-learn makes them (``TimeSeriesSplit(5)``, for rows in order of time).
    groups : array-like of shape (n,), optional
        Rows of one group (a patient, a family) stay on one side of each fold.
    model : estimator, str or dict, optional
        The model of ``cv``, as in :func:`easyfs.evaluation.compare`; by default a support vector machine, linear for
        classes. A dictionary of one gives it a name.
    pictures : bool, default=True
        Whether small pictures show how chosen columns relate to the target, if the rows are given. Their points are single
        rows of the table: leave them out of a report that others may read, if the rows are not for them.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, as in the fit. Stability, cross-validation and pictures count all rows the same.
    random_state : int, default=0
        Seed of resampling, folds and pictures.
    command_line : bool, default=False
        Whether the report gives its advice as options of the command line.

    Returns
    -------
    Report

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from easyfs import EasyFS
    >>> from easyfs.report import build_report
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> report = build_report(EasyFS(3, random_state=0).fit(X, y))
    >>> [feature["name"] for feature in report.content["features"]][0]
    'worst concave points'
    """
    if not isinstance(selector, BaseSelector):
        raise TypeError(f"selector is of type {type(selector).__name__}; give a fitted selector of this library.")
    check_is_fitted(selector)
    check_number("random_state", random_state, 0, whole=True)
    if not isinstance(pictures, bool):
        raise ValueError(f"pictures={pictures!r}: give True or False.")
    if X is not None:
        X, y, sample_weight, _ = take_roles(X, y, sample_weight)
    check_options(X, y, stability, cv, groups, selector.task_)
    found = _explained(selector, X, y, sample_weight)
    explanation, coding = found.explanation, found.coding
    stable = runs = frequency = None
    if stability:
        stable, runs = measure_stability(selector, X, y, stability, random_state, explanation)
        frequency = runs.frequency
    features = features_of(explanation, frequency)
    if coding is not None:
        mark_near_copies(features, coding)
        if runs is not None:
            mark_interchangeable(features, coding, explanation, runs.runs)
    drawn = None
    if pictures and found.encoded is not None and found.given is not None:
        drawn = pictures_of(selector, found.encoded, found.given, explanation, random_state)
    content: Content = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "title": text_of(title) if title is not None else default_title(found.target),
        "summary": "",
        "asked": asked_of(explanation, source, bool(command_line), _now(), easyfs.__version__),
        "data": data_of(explanation),
        "target": found.target,
        "adjusted": adjusted_of(explanation),
        "selected": {
            "count": len(explanation.chosen),
            "listed": len(features),
            "names": [text_of(name) for name in explanation.names],
            "columns": [column.column for column in explanation.chosen],
        },
        "features": features,
        "interactions": interactions_of(explanation),
        "enough": enough_of(explanation, chance_after(selector, X, y, sample_weight, random_state)),
        "overlap": None if coding is None else overlap_of(explanation, coding),
        "runners_up": runners_up_of(explanation, frequency),
        "runners_up_count": len(explanation.others),
        "set_aside": aside_of(explanation),
        "stability": stable,
        "cross_validation": cross_validate(selector, X, y, cv, groups, model, random_state, explanation) if cv else None,
        "column_count": column_count_of(selector, explanation),
        "pictures": drawn,
        "warnings": [],
    }
    content["warnings"] = _cautions(content, explanation)
    content["summary"] = summary_of(content)
    return Report(content)


@dataclass(frozen=True)
class _Explained:
    """The explanation, what the chosen columns explain of the others, and the target; and the rows, if they are given."""

    explanation: Explanation
    coding: Coding | None
    target: Target | None
    encoded: Encoded | None
    given: CheckedTarget | None


def _explained(selector: BaseSelector, X: Any, y: Any, sample_weight: Any) -> _Explained:
    encoded = None if X is None else selector.encode(X)
    given = None
    if y is not None:
        given = check_target(y, len(y) if encoded is None else encoded.matrix.shape[0], selector.task_ or "auto")
    measured = Measured() if encoded is None else measured_on(selector, encoded, given, sample_weight)
    explanation = selector.explain(measured)
    described = explanation.target
    if described is None and given is not None:
        described = describe_target(given, y)
    classes = getattr(selector, "classes_", None)
    target = target_of(explanation.task, described, None if classes is None else len(classes))
    return _Explained(explanation, selector.coding() or measured.coding, target, encoded, given)


def _cautions(content: Content, explanation: Explanation) -> list[Caution]:
    leaks = [text_of(name) for notice in explanation.notices if notice.code == "leak" for name in notice.columns]
    aside = sorted(explanation.set_aside, key=lambda column: column.column)
    identifiers = [text_of(column.name) for column in aside if column.kind == "identifier"]
    by_chance = [text_of(column.name) for column in explanation.chosen if column.beyond_chance is False]
    return cautions(content, leaks, identifiers, by_chance)


def _now() -> str:
    """The time, or that of SOURCE_DATE_EPOCH, with which the same report is the same to the byte."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    if epoch and not epoch.isdecimal():
        raise ValueError(f"SOURCE_DATE_EPOCH={epoch!r} in the environment is no number of seconds; correct or unset it.")
    now = dt.datetime.fromtimestamp(int(epoch), dt.UTC) if epoch else dt.datetime.now(dt.UTC)
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")
