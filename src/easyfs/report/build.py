"""From a fitted selector to the content of its report."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sklearn.utils.validation import check_is_fitted

import easyfs
from easyfs.base.coding import Coding, Measured
from easyfs.base.explanation import Explanation
from easyfs.base.selector import BaseSelector
from easyfs.common.parameters import check_number
from easyfs.common.plain import text_of
from easyfs.report.asked import asked_of
from easyfs.report.cautions import cautions
from easyfs.report.document import Report
from easyfs.report.measure import chance_after, check_options, cross_validate, measure_stability
from easyfs.report.overlap import overlap_of
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
    sample_weight: Any = None,
    random_state: int = 0,
) -> Report:
    """Report what a fitted selector chose, and why.

    Parameters
    ----------
    selector : selector
        Any fitted selector of the library.
    X, y : table and target, optional
        The rows of the fit. What the selector remembers is enough for most of the report; with the rows, methods that
        measure neither relevance nor redundancy are given both, and ``stability`` and ``cv`` become possible.
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
    sample_weight : array-like of shape (n,), optional
        Weights of the rows, as in the fit. Stability and cross-validation count all rows the same.
    random_state : int, default=0
        Seed of resampling and folds.

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
    check_options(X, y, stability, cv, groups, selector.task_)
    explanation, coding, target = _explained(selector, X, y, sample_weight)
    stable = frequency = None
    if stability:
        stable, frequency = measure_stability(selector, X, y, stability, random_state, explanation)
    features = features_of(explanation, frequency)
    content: Content = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "title": text_of(title) if title is not None else default_title(target),
        "summary": "",
        "asked": asked_of(explanation, source, _now(), easyfs.__version__),
        "data": data_of(explanation),
        "target": target,
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
        "cross_validation": cross_validate(selector, X, y, cv, groups, random_state, explanation) if cv else None,
        "warnings": [],
    }
    content["warnings"] = _cautions(content, explanation)
    content["summary"] = summary_of(content)
    return Report(content)


def _explained(
    selector: BaseSelector, X: Any, y: Any, sample_weight: Any
) -> tuple[Explanation, Coding | None, Target | None]:
    """The explanation, what the chosen columns say of the others, and the target: from the selector or else the rows."""
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
    return explanation, selector.coding() or measured.coding, target


def _cautions(content: Content, explanation: Explanation) -> list[Caution]:
    leaks = [text_of(name) for notice in explanation.notices if notice.code == "leak" for name in notice.columns]
    aside = sorted(explanation.set_aside, key=lambda column: column.column)
    identifiers = [text_of(column.name) for column in aside if column.kind == "identifier"]
    by_chance = [text_of(column.name) for column in explanation.chosen if column.beyond_chance is False]
    return cautions(content, leaks, identifiers, by_chance)


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
