"""Who is compared and how: rows into folds, selectors and models by name."""

from __future__ import annotations

import copy
import difflib
import hashlib
import json
import numbers
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR
from sklearn.utils import check_random_state

from easyfs.base.selector import BaseSelector
from easyfs.common.parameters import check_number
from easyfs.common.types import Array
from easyfs.registry import make_selector

# The column that stands for no selection at all.
ALL = "all"
# Models that can be asked for by name.
MODELS = ("svm", "linear", "forest", "knn", "boosting")
# Seeds of folds and cells are counted on from the one that is given, and have to stay below 2^32.
LARGEST_SEED = 2_000_000_000


def resolve_seed(random_state: Any) -> int:
    """The seed of a comparison: the number given, or one that is drawn where there is none."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(LARGEST_SEED))
    check_number("random_state", random_state, 0, LARGEST_SEED, whole=True, or_else=", or None to draw one")
    return int(random_state)


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
    if cv is not None:
        if groups is not None and isinstance(cv, numbers.Integral):
            raise ValueError(f"cv={cv!r} does not keep groups together; say folds={cv!r} or cv=GroupKFold({cv!r}).")
        splitter = check_cv(cv, y, classifier=task == "classification")
        return [
            Split(repeat, fold, train, test)
            for repeat, again in enumerate(_repeated(splitter, repeats, random_state))
            for fold, (train, test) in enumerate(again.split(X, y, groups))
        ]
    check_number("folds", folds, 2, len(y), whole=True)
    labels = None if groups is None else _check_row_groups(groups, len(y), folds)
    kind = _kind_of_folds(y, task == "classification" and y.ndim == 1, labels is not None)
    return [
        Split(repeat, fold, train, test)
        for repeat in range(repeats)
        for fold, (train, test) in enumerate(
            kind(folds, shuffle=True, random_state=random_state + repeat).split(X, y, labels)
        )
    ]


def _repeated(splitter: Any, repeats: int, random_state: int) -> Iterator[Any]:
    """A splitter for each repeat; folds that are given are the same each time, and so are there once."""
    own = getattr(splitter, "random_state", None)
    if not (hasattr(splitter, "random_state") and getattr(splitter, "shuffle", True)):
        yield splitter
        return
    for repeat in range(repeats):
        splitter = copy.copy(splitter)
        if own is None or isinstance(own, numbers.Integral):
            splitter.random_state = (random_state if own is None else int(own)) + repeat
        yield splitter


def _check_row_groups(groups: Any, n_rows: int, folds: int) -> Array:
    labels = np.asarray(groups)
    if len(labels) != n_rows:
        raise ValueError(f"groups has {len(labels)} entries, but X has {n_rows} rows; give one for each row.")
    if len(np.unique(labels)) < folds:
        raise ValueError(f"groups has {len(np.unique(labels))} groups, fewer than folds={folds}; use fewer folds.")
    return labels


def _kind_of_folds(y: Array, classes: bool, grouped: bool) -> Any:
    """Stratified for classes, groups on one side."""
    if grouped:
        return StratifiedGroupKFold if classes else GroupKFold
    if not classes:
        return KFold
    if int(np.unique(y, return_counts=True)[1].min()) < 2:
        raise ValueError("a class of y has 1 row only, which cannot be both trained on and tested; leave such classes out.")
    return StratifiedKFold


def named_selectors(selectors: Any) -> dict[str, Any]:
    """Selectors by label; names are made with their defaults, and random selection is always in the field."""
    if isinstance(selectors, (str, BaseEstimator)) or not isinstance(selectors, Iterable):
        selectors = [selectors]
    pairs = selectors.items() if isinstance(selectors, Mapping) else [(None, entry) for entry in selectors]
    found: dict[str, Any] = {}
    for label, entry in pairs:
        selector = entry
        if isinstance(entry, str):
            selector = ALL if entry == ALL else make_selector(entry)
        elif isinstance(entry, type):
            raise ValueError(f"selectors has the class {entry.__name__}; give a selector of it, {entry.__name__}(...).")
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
        models = {"linear SVM" if task == "classification" else "RBF SVR": "svm"}
    if isinstance(models, str) or hasattr(models, "fit") or not isinstance(models, Iterable):
        models = [models]
    pairs = models.items() if isinstance(models, Mapping) else [(None, entry) for entry in models]
    found: dict[str, Any] = {}
    for label, entry in pairs:
        model = _model(entry, task, several) if isinstance(entry, str) else entry
        if isinstance(model, type):
            raise ValueError(f"models has the class {model.__name__}; give a model of it, {model.__name__}().")
        if not hasattr(model, "fit") or not hasattr(model, "predict"):
            raise ValueError(
                f"models has {model!r}; give scikit-learn classifiers or regressors, or names: {', '.join(MODELS)}."
            )
        name = str(label) if label is not None else entry if isinstance(entry, str) else type(entry).__name__
        if name in found:
            raise ValueError(f"two models are called {name!r}; give them as a dictionary, label to model.")
        found[name] = clone(model)
    if not found:
        raise ValueError("models is empty; leave it out for the usual one, or give at least one.")
    return found


def _model(name: str, task: str, several: bool) -> Any:
    """A model by its short name, with scikit-learn's own parameters."""
    classes = task == "classification"
    if name == "svm":
        model = SVC(kernel="linear") if classes else SVR()
    elif name == "linear":
        model = LogisticRegression(max_iter=1000) if classes else Ridge()
    elif name == "forest":
        model = RandomForestClassifier() if classes else RandomForestRegressor()
    elif name == "knn":
        model = KNeighborsClassifier() if classes else KNeighborsRegressor()
    elif name == "boosting":
        model = HistGradientBoostingClassifier() if classes else HistGradientBoostingRegressor()
    else:
        close = difflib.get_close_matches(name, MODELS, n=1)
        meant = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"models has {name!r}, which is no model.{meant} Use {', '.join(MODELS)}, or give scikit-learn classifiers or "
            "regressors."
        )
    if not several or isinstance(model, (RandomForestClassifier, RandomForestRegressor, Ridge)) or name == "knn":
        return model
    return MultiOutputClassifier(model) if classes else MultiOutputRegressor(model)


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
        settings = value.get_params(deep=False)
        if isinstance(value, BaseSelector):
            settings.pop("verbose", None)  # what is printed is no part of the answer
        parameters = {name: described(setting) for name, setting in settings.items()}
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
