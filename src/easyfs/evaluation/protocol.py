"""Who is compared and how: rows into folds, selectors and models by name."""

from __future__ import annotations

import copy
import hashlib
import json
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.svm import SVC, SVR

from easyfs.registry import make_selector
from easyfs.validation import check_number

Array = NDArray[Any]

# The column that stands for no selection at all.
ALL = "all"


@dataclass(frozen=True)
class Split:
    """Rows to train and to test on."""

    repeat: int
    fold: int
    train: Array
    test: Array


def make_splits(
    X: Array, y: Array, *, task: str, folds: int, repeats: int, cv: Any, groups: Any, random_state: int
) -> list[Split]:
    """Folds that every selector sees: shuffled anew in each repeat, stratified for classes, groups on one side."""
    check_number("repeats", repeats, 1, whole=True)
    found: list[Split] = []
    if cv is not None:
        if groups is not None and isinstance(cv, numbers.Integral):
            raise ValueError(f"cv={cv!r} does not keep groups together; say folds={cv!r} or cv=GroupKFold({cv!r}).")
        splitter = check_cv(cv, y, classifier=task == "classification")
        own = getattr(splitter, "random_state", None)
        for repeat in range(repeats):
            if hasattr(splitter, "random_state") and getattr(splitter, "shuffle", True):
                splitter = copy.copy(splitter)
                if own is None or isinstance(own, numbers.Integral):
                    splitter.random_state = (random_state if own is None else int(own)) + repeat
            elif repeat:
                break  # folds that are given are the same each time
            pairs = splitter.split(X, y, groups)
            found += [Split(repeat, fold, train, test) for fold, (train, test) in enumerate(pairs)]
        return found
    check_number("folds", folds, 2, len(y), whole=True)
    for repeat in range(repeats):
        seed = random_state + repeat
        if groups is not None:
            labels = np.asarray(groups)
            if len(labels) != len(y):
                raise ValueError(f"groups has {len(labels)} entries, but X has {len(y)} rows; give one for each row.")
            if len(np.unique(labels)) < folds:
                raise ValueError(f"groups has {len(np.unique(labels))} groups, fewer than folds={folds}; use fewer folds.")
            stratified = task == "classification" and y.ndim == 1
            by_group = (StratifiedGroupKFold if stratified else GroupKFold)(folds, shuffle=True, random_state=seed)
            pairs = by_group.split(X, y, labels)
        elif task == "classification" and y.ndim == 1:
            smallest = int(np.unique(y, return_counts=True)[1].min())
            if smallest < 2:
                raise ValueError(
                    "a class of y has 1 row only, which cannot be both trained on and tested; leave such classes out."
                )
            pairs = StratifiedKFold(folds, shuffle=True, random_state=seed).split(X, y)
        else:
            pairs = KFold(folds, shuffle=True, random_state=seed).split(X)
        found += [Split(repeat, fold, train, test) for fold, (train, test) in enumerate(pairs)]
    return found


def named_selectors(selectors: Any) -> dict[str, Any]:
    """Selectors by label; names are made with their defaults, and random selection is always in the field."""
    if isinstance(selectors, (str, BaseEstimator)):
        selectors = [selectors]
    pairs = selectors.items() if isinstance(selectors, Mapping) else [(None, entry) for entry in selectors]
    found: dict[str, Any] = {}
    for label, entry in pairs:
        selector = entry
        if isinstance(entry, str):
            selector = ALL if entry == ALL else make_selector(entry)
        elif not hasattr(entry, "fit") or not hasattr(entry, "get_params"):
            raise ValueError(f"selectors has {entry!r}; give names (easyfs.available_selectors) or scikit-learn selectors.")
        name = str(label) if label is not None else entry if isinstance(entry, str) else type(entry).__name__
        if name in found:
            raise ValueError(f"two selectors are called {name!r}; give them as a dictionary, label to selector.")
        found[name] = selector
    if not found:
        raise ValueError("selectors is empty; name at least one, such as 'easyfs'.")
    if not any(type(selector).__name__ == "RandomSelector" for selector in found.values()):
        if "random" in found:
            raise ValueError("a selector is called 'random', the label of random selection; choose another one.")
        found["random"] = make_selector("random")
    return found


def named_models(models: Any, task: str, several: bool = False) -> dict[str, Any]:
    """Downstream models by label; by default the paper's: a linear SVM for classes, an RBF SVR for numbers."""
    if models is None:
        if task == "classification":
            model = SVC(kernel="linear")
            models = {"linear SVM": MultiOutputClassifier(model) if several else model}
        else:
            models = {"RBF SVR": MultiOutputRegressor(SVR()) if several else SVR()}
    if hasattr(models, "fit"):
        models = [models]
    pairs = models.items() if isinstance(models, Mapping) else [(type(entry).__name__, entry) for entry in models]
    found: dict[str, Any] = {}
    for label, model in pairs:
        if not hasattr(model, "fit") or not hasattr(model, "predict"):
            raise ValueError(f"models has {model!r}; give scikit-learn classifiers or regressors.")
        if label in found:
            raise ValueError(f"two models are called {label!r}; give them as a dictionary, label to model.")
        found[str(label)] = clone(model)
    if not found:
        raise ValueError("models is empty; leave it out for the usual one, or give at least one.")
    return found


def fingerprint(*parts: Any) -> str:
    """A short name for data and settings: equal exactly when they are."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.dtype} {part.shape}".encode())
            digest.update(part.astype("U").tobytes() if part.dtype == object else np.ascontiguousarray(part).tobytes())
        else:
            digest.update(described(part).encode())
    return digest.hexdigest()


def described(value: Any) -> str:
    """Text that tells two estimators, or anything else, apart by their settings."""
    if isinstance(value, BaseEstimator):
        parameters = {name: described(setting) for name, setting in value.get_params(deep=False).items()}
        return f"{type(value).__module__}.{type(value).__qualname__}{json.dumps(parameters, sort_keys=True)}"
    if isinstance(value, Mapping):
        return json.dumps({str(key): described(entry) for key, entry in value.items()}, sort_keys=True)
    if isinstance(value, (list, tuple)):
        return json.dumps([described(entry) for entry in value])
    if isinstance(value, np.ndarray):
        return fingerprint(value)
    if isinstance(value, partial):
        return f"partial{described([value.func, value.args, value.keywords])}"
    if isinstance(value, CodeType):
        return described([value.co_code, value.co_names, value.co_consts])
    if callable(value):
        if not hasattr(value, "__qualname__"):  # an object, such as a scorer
            text = f"{type(value).__module__}.{type(value).__qualname__}"
            return text if " at 0x" in repr(value) else f"{text} {value!r}"
        inside = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
        code = fingerprint(getattr(value, "__code__", None), inside)
        return f"{getattr(value, '__module__', '')}.{value.__qualname__} {code}"
    return repr(value)
