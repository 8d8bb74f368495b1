"""Between the columns of a table of mixed columns and the columns of the matrix that it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from easyfs.base.limits import check_costs, check_sources
from easyfs.base.request import Request, check_groups, resolve_columns
from easyfs.base.result import Found, Selection
from easyfs.common.types import Array
from easyfs.tables.columns import NUMBER
from easyfs.tables.encoder import TableEncoder


def expand(request: Request, encoder: TableEncoder) -> Request:
    """What was asked for columns of the table, for columns of the matrix."""
    first = np.searchsorted(encoder.source, request.include)
    source = encoder.source
    return replace(
        request,
        include=first,
        excluded=request.excluded[source],
        groups=request.groups[source],
        adjusted=np.flatnonzero(np.isin(source, request.adjusted)),
        limits=request.limits.expanded(source),
    )


def collapse(inner: Selection, encoder: TableEncoder, *, additive: bool) -> Selection:
    """What was chosen among columns of the matrix, for the columns of the table.

    Parameters
    ----------
    inner : Selection
        The selection of columns of the matrix.
    encoder : TableEncoder
        How the table became the matrix.
    additive : bool
        Whether gains of several columns add up to the gain of their group.
    """
    d, source = len(encoder.columns), encoder.source
    order = np.array(list(dict.fromkeys(source[inner.order].tolist())), dtype=np.intp)
    order = np.concatenate([order, np.setdiff1d(np.arange(d), order)])
    chosen = inner.order[: inner.n_selected]
    scores = np.full(d, -np.inf)
    np.maximum.at(scores, source, inner.scores)
    searched = chosen[: len(inner.gains)]
    place = {column: i for i, column in enumerate(dict.fromkeys(source[searched].tolist()))}
    rows = np.array([place[column] for column in source[searched]], dtype=np.intp)
    if additive:
        scores[list(place)] = np.bincount(rows, weights=inner.gains, minlength=len(place))
    p_values = coded = told = None
    if inner.p_values is not None:
        p_values = np.ones(len(place))
        np.minimum.at(p_values, rows[: len(inner.p_values)], inner.p_values)
    if inner.coded is not None:
        shares = np.zeros((len(place), len(source)))
        np.add.at(shares, rows[: len(inner.coded)], np.square(inner.coded, dtype=np.float64))
        coded = np.sqrt(encoder.mean_of(shares)).astype(np.float32)
    if inner.told is not None:
        told = np.bincount(rows[: len(inner.told)], weights=inner.told, minlength=len(place))
    return Selection(
        order=order,
        n_selected=len(set(source[chosen].tolist())),
        scores=scores,
        gains=scores[list(place)],
        groups=_groups(inner.groups, encoder),
        p_values=p_values,
        found=_found(inner.found, source),
        coded=coded,
        constant=None if inner.constant is None else encoder.aside | (encoder.mean_of(inner.constant * 1.0) == 1.0),
        missing=None if inner.missing is None else _missing(inner.missing, encoder),
        relevance=None if inner.relevance is None else _largest(inner.relevance, source, d),
        screened=inner.screened,
        adjusted=tuple(dict.fromkeys(source[list(inner.adjusted)].tolist())),
        adjusted_share=inner.adjusted_share,
        steps=inner.steps,
        told=told,
        next_told=None if inner.next_told is None else _largest(inner.next_told, source, d),
    )


def _found(inner: tuple[Found, ...], source: Array) -> tuple[Found, ...]:
    """Columns of the table that matter together; several parts of one column may have been found."""
    groups: dict[tuple[int, ...], Found] = {}
    for found in inner:
        columns = tuple(dict.fromkeys(source[list(found.columns)].tolist()))
        known = groups.get(columns)
        share, p = found.share + (known.share if known else 0.0), min(found.p_value, known.p_value if known else 1.0)
        groups[columns] = replace(found, columns=columns, share=share, p_value=p)
    return tuple(groups.values())


def _groups(inner: Array, encoder: TableEncoder) -> Array:
    """Groups of the columns of the table; one that is set aside is a group of its own."""
    groups = np.arange(len(encoder.columns)) + inner.max(initial=0) + 1
    groups[encoder.source] = inner
    return np.asarray(groups)


def _missing(inner: Array, encoder: TableEncoder) -> Array:
    """Share of the rows without a value; not known for what is no number, as indicators have none missing."""
    return np.where([column.used_as == NUMBER for column in encoder.columns], encoder.mean_of(inner), np.nan)


def _largest(values: Array, source: Array, d: int) -> Array:
    found = np.zeros(d)
    with np.errstate(invalid="ignore"):  # not known of columns that were not compared
        np.maximum.at(found, source, values)
    return found


def for_matrix(selector: Any, names: list[Any] | None, encoder: TableEncoder | None) -> Any:
    """A copy of a selector that is told about columns of the matrix what it was told about columns of the table.

    Columns that come from one column of the table become a group, for a selector that knows groups.
    """
    parameters = selector.get_params(deep=False)
    settings: dict[str, Any] = {}
    d = len(names or ()) if encoder is None else len(encoder.columns)
    listed_by_name = [str(entry) for entry in names] if names is not None else None
    for name in ("include", "exclude", "adjust_for"):
        if parameters.get(name) is not None and names is not None:
            listed = resolve_columns(name, parameters[name], d, listed_by_name)
            if encoder is not None and name == "include":
                listed = np.searchsorted(encoder.source, listed[~encoder.aside[listed]])
            elif encoder is not None:
                listed = np.flatnonzero(np.isin(encoder.source, listed))
            settings[name] = listed.tolist()
    source = np.arange(d) if encoder is None else encoder.source
    if "feature_groups" in parameters and (encoder is not None or listed_by_name is not None):
        settings["feature_groups"] = check_groups(parameters["feature_groups"], d, listed_by_name)[source].tolist()
    if parameters.get("costs") is not None and names is not None:
        costs = check_costs(parameters["costs"], d, listed_by_name)
        assert costs is not None
        settings["costs"] = (costs / np.maximum(np.bincount(source, minlength=d), 1))[source].tolist()
    if parameters.get("sources") is not None and names is not None:
        codes, called = check_sources(parameters["sources"], d, listed_by_name)
        assert codes is not None
        settings["sources"] = {
            label: np.flatnonzero(codes[source] == code).tolist()
            for code, label in enumerate(called)
            if (codes[source] == code).any()
        }
        most = parameters["max_per_source"]
        if isinstance(most, Mapping):
            settings["max_per_source"] = {label: n for label, n in most.items() if label in settings["sources"]}
    return clone(selector).set_params(**settings)
