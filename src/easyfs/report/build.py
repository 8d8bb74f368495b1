"""From a fitted selector to the content of its report."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import easyfs
from easyfs.base.selector import BaseSelector
from easyfs.common.parameters import check_number
from easyfs.common.types import Array
from easyfs.estimator.streaming import StreamingSelector
from easyfs.report.asked import asked_of
from easyfs.report.cautions import ALMOST_TARGET, cautions
from easyfs.report.document import Report
from easyfs.report.measure import chance_after, check_options, cross_validate, measure_stability
from easyfs.report.nearest import Coding, coding_of
from easyfs.report.overlap import least_share, neighbours_of, overlap_of
from easyfs.report.prose import default_title, summary_of
from easyfs.report.sections import (
    Facts,
    aside_of,
    beyond_chance_of,
    data_of,
    enough_of,
    features_of,
    interactions_of,
    runners_up_of,
    target_of,
)
from easyfs.report.summary import SCHEMA, SCHEMA_VERSION, Content
from easyfs.report.table import Table
from easyfs.report.words import text_of
from easyfs.tables.target import check_target
from easyfs.tables.target_summary import describe_target

# Chosen columns that are described one by one.
MOST_FEATURES = 500


def build_report(
    selector: BaseSelector,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    source: str | None = None,
    stability: int = 0,
    cv: bool | int = False,
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
    cv : bool or int, default=False
        Whether to cross-validate the score of a model over the number of columns; a number is that of the folds (True: 5).
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
    check_options(X, y, stability, cv, selector.task_)
    facts = _facts(selector, X, y, sample_weight)
    listed = facts.chosen[:MOST_FEATURES]
    stable = None
    if stability:
        stable, facts.frequency = measure_stability(
            selector, X, y, stability, random_state, facts.names, facts.chosen.tolist()
        )
    neighbours, overlap = {}, None
    if facts.coding is not None:
        least = least_share(facts.n_rows, len(facts.names))
        neighbours = neighbours_of(facts.coding, facts.names, facts.chosen, least)
        overlap = overlap_of(facts.coding, facts.names, facts.chosen, neighbours, least)
    content: Content = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "title": text_of(title) if title is not None else default_title(facts.target),
        "summary": "",
        "asked": asked_of(selector, source, _now(), easyfs.__version__),
        "data": data_of(selector, facts),
        "target": facts.target,
        "selected": {
            "count": len(facts.chosen),
            "listed": len(listed),
            "names": [facts.names[j] for j in facts.chosen],
            "columns": facts.chosen.tolist(),
        },
        "features": features_of(selector, facts, listed, neighbours),
        "interactions": interactions_of(selector),
        "enough": enough_of(selector, facts, chance_after(selector, X, y, sample_weight, random_state)),
        "overlap": overlap,
        "runners_up": runners_up_of(facts),
        "runners_up_count": len(facts.rest),
        "set_aside": aside_of(facts),
        "stability": stable,
        "cross_validation": cross_validate(selector, X, y, cv, random_state) if cv else None,
        "warnings": [],
    }
    identifiers = [facts.names[j] for j, info in enumerate(facts.infos) if info.kind == "identifier" and facts.aside[j]]
    by_chance = [facts.names[j] for j, told in zip(facts.chosen, beyond_chance_of(selector), strict=False) if not told]
    content["warnings"] = cautions(content, _leaks(facts), identifiers, by_chance)
    content["summary"] = summary_of(content)
    return Report(content)


def _facts(selector: BaseSelector, X: Any, y: Any, sample_weight: Any) -> Facts:
    """What is known of each column, from the selector or else from the rows."""
    table = None if X is None else Table(selector, X, sample_weight)
    target = None
    if y is not None:
        target = check_target(y, len(y) if table is None else table.n_rows, selector.task_ or "auto")
    selected = selector._selected()
    infos = selector.columns_
    coding: Coding | None = coding_of(selector, table, MOST_FEATURES)
    relevance, redundancy = selected.relevance, None
    if isinstance(selector, StreamingSelector):
        redundancy = selector.redundancy_
    elif coding is not None and len(coding.columns) == selected.n_selected:
        redundancy = coding.redundancy(selector._encoder is not None)
    if relevance is None and table is not None and target is not None:
        relevance = _by_column(selector, table.relevance(target))
    described = selector.target_
    if described is None and target is not None:
        described = describe_target(target, y)
    return Facts(
        infos=infos,
        names=[text_of(info.name) for info in infos],
        selected=selected,
        relevance=relevance,
        redundancy=redundancy,
        coding=coding,
        target=target_of(selector, described),
        n_rows=selector.n_rows_,
    )


def _by_column(selector: BaseSelector, values: Array) -> Array:
    """The largest value among the columns of the matrix that come from each of the user's."""
    if selector._encoder is None:
        return values
    found = np.zeros(len(selector._encoder.columns))
    np.maximum.at(found, selector._encoder.source, values)
    return found


def _leaks(facts: Facts) -> list[str]:
    if facts.relevance is None or facts.target is None:
        return []
    usable = np.flatnonzero((facts.relevance >= ALMOST_TARGET) & np.isfinite(facts.selected.scores))
    return [facts.names[j] for j in usable[np.argsort(-facts.relevance[usable], kind="stable")]]


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
