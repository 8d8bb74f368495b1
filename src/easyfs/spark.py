"""EasyFS as a stage of Spark's own pipelines: ``SparkEasyFS`` and the model that it fits."""

from __future__ import annotations

import difflib
import inspect
import json
from typing import Any, ClassVar, Self

from easyfs.engines.spark import assembled, sliced, taken
from easyfs.engines.vectors import described_width, entry_names, vector_columns
from easyfs.estimator.easyfs import EasyFS
from easyfs.tables.naming import roles_of

try:
    from pyspark.ml import Estimator, Model
    from pyspark.ml.param import Param, Params
    from pyspark.ml.util import (
        DefaultParamsReader,
        DefaultParamsWriter,
        MLReadable,
        MLReader,
        MLWritable,
        MLWriter,
    )
except ImportError as error:
    raise ImportError(
        "easyfs.spark needs the package 'pyspark'; install it with pip install 'easyfs-ml[spark]'."
    ) from error

__all__ = ["SparkEasyFS", "SparkEasyFSModel"]


def _plain(value: Any) -> Any:
    """A parameter as JSON has it: no numbers of numpy, no tuples."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {_plain(key): _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple, set, frozenset)) else value


def _param(name: str, doc: str) -> Any:
    return Param(Params._dummy(), name, doc, typeConverter=_plain)


class _Stage(Params, MLReadable, MLWritable):
    """Columns, and the parameters of EasyFS, as parameters of a stage."""

    featuresCol = _param("featuresCol", "column of vectors to select entries of")  # noqa: N815
    inputCols = _param("inputCols", "columns to select from, in place of a column of vectors")  # noqa: N815
    labelCol = _param("labelCol", "column of the target; None for no target")  # noqa: N815
    weightCol = _param("weightCol", "column of the weights; None where all rows count the same")  # noqa: N815
    outputCol = _param("outputCol", "column of vectors of what is selected")  # noqa: N815
    n_features_to_select = _param("n_features_to_select", "how many to select: a count, a share, or 'auto'")
    task = _param("task", "what the target is: 'auto', 'classification' or 'regression'")
    interactions = _param("interactions", "whether to look for columns that matter in a curve or only together")
    n_hidden = _param("n_hidden", "hidden nodes of the network")
    predicted_share = _param("predicted_share", "share of the target's weight that goes to what a linear fit predicts")
    coverage = _param("coverage", "weight of the coverage of the whole table against the target's")
    coverage_power = _param("coverage_power", "how much more the hidden nodes hear columns related to the target")
    clip = _param("clip", "standard deviations from the mean beyond which values count as that far; None for no limit")
    eps2 = _param("eps2", "squared precision at which columns are coded, or 'auto'")
    include = _param("include", "columns that are selected in any case, by name or place")
    exclude = _param("exclude", "columns that are never selected, by name or place")
    feature_groups = _param("feature_groups", "a label for each column: those with the same one go together")
    adjust_for = _param("adjust_for", "columns whose effect is taken out first, by name or place")
    costs = _param("costs", "what each column costs: a number for each, or a mapping by name")
    budget = _param("budget", "what the selected columns may cost in all; None for no limit")
    sources = _param("sources", "where columns come from: a mapping from sources to columns, or a label for each")
    max_per_source = _param("max_per_source", "how many of each source at most: a number, or a mapping")
    random_state = _param("random_state", "seed of the network")
    memory_limit = _param("memory_limit", "gigabytes that a fit may hold")
    device = _param("device", "where sums are made by each worker, such as 'cuda'; None for the processor")
    verbose = _param("verbose", "how much is printed by the driver while it fits: 0, 1 or 2")

    # What the constructor calls the columns, and Spark's names of them.
    _columns: ClassVar[dict[str, str]] = {
        "features_col": "featuresCol",
        "input_cols": "inputCols",
        "label_col": "labelCol",
        "weight_col": "weightCol",
        "output_col": "outputCol",
    }
    _parameters: ClassVar[dict[str, Any]] = {
        name: parameter.default for name, parameter in inspect.signature(EasyFS).parameters.items()
    }

    def __init__(self) -> None:
        super().__init__()
        columns = {"featuresCol": "features", "inputCols": None, "labelCol": "label", "weightCol": None}
        self._setDefault(**columns, outputCol="selected", **self._parameters)

    def setParams(self, **parameters: Any) -> Self:  # noqa: N802
        """Set parameters, by the names that the constructor has.

        Parameters
        ----------
        **parameters : dict
            Names and values.

        Returns
        -------
        self
            The stage itself.
        """
        for name, value in parameters.items():
            if name not in self._columns and name not in self._parameters:
                known = [*self._columns, *self._parameters]
                close = difflib.get_close_matches(name, known, n=1)
                hint = f" Did you mean {close[0]!r}?" if close else ""
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}.{hint} It has {', '.join(known)}.")
            self.set(self.getParam(self._columns.get(name, name)), value)
        return self

    def write(self) -> Any:
        """What writes the stage: ``stage.write().overwrite().save(path)``, or ``stage.save(path)``.

        Returns
        -------
        MLWriter
            As for any stage of Spark.
        """
        return _Writer(self)

    @classmethod
    def read(cls) -> Any:
        """What reads a stage: ``load(path)`` of its class.

        Returns
        -------
        MLReader
            As for any stage of Spark.
        """
        return _Reader(cls)

    def _read(self, frame: Any) -> tuple[list[str], str | None]:
        """Columns to select from, and the one that holds vectors, if it does."""
        given = self.getOrDefault("inputCols")
        if given is not None and not len(given):
            raise ValueError("input_cols is empty; name the columns to select from.")
        columns = list(given) if given is not None else [self.getOrDefault("featuresCol")]
        missing = [name for name in columns if name not in frame.columns]
        if missing:
            close = difflib.get_close_matches(str(missing[0]), frame.columns, n=3)
            hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise ValueError(f"the table has no column {missing[0]!r}.{hint}")
        vector = columns[0] if len(columns) == 1 and columns[0] in vector_columns(frame.schema) else None
        return columns, vector


class SparkEasyFS(Estimator, _Stage):
    """Select features in a pipeline of Spark, as EasyFS does: each partition is summed up where it is.

    Parameters
    ----------
    features_col : str, default="features"
        Column of vectors to select entries of.
    input_cols : list of str, default=None
        Columns to select from, in place of a column of vectors: numbers, text, dates.
    label_col : str or None, default="label"
        Column of the target; None selects what best covers the table.
    output_col : str, default="selected"
        Column of vectors of what is selected. With ``input_cols`` there is one only if it is named, and the selected
        columns must then be numbers.
    weight_col : str, default=None
        Column of the weights.
    n_features_to_select : int, float or "auto", default="auto"
        How many to select, as in :class:`~easyfs.EasyFS`.
    **parameters : dict
        Further parameters of :class:`~easyfs.EasyFS`. All of them are parameters of the stage, so that a grid of Spark's
        ``ParamGridBuilder`` can have them.

    See Also
    --------
    SparkEasyFSModel : What it fits.
    easyfs.EasyFS : Takes a table of Spark, too: ``EasyFS(20).fit(table, "label")``.

    Notes
    -----
    The table is read three times: rows are counted, a sample is drawn, sums are made. Cache it if it is dear to compute,
    or if its rows come in another order each time, as after a shuffle: only then is the answer the same each time.

    Examples
    --------
    >>> from easyfs.spark import SparkEasyFS
    >>> stage = SparkEasyFS(features_col="features", label_col="label", n_features_to_select=20, random_state=0)
    >>> stage.getOrDefault("n_features_to_select"), stage.getOrDefault("outputCol")
    (20, 'selected')

    With a table of Spark:

    >>> model = stage.fit(table)  # doctest: +SKIP
    >>> model.names, model.gains  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        features_col: str | None = None,
        input_cols: list[str] | None = None,
        label_col: str | None = "label",
        output_col: str | None = None,
        weight_col: str | None = None,
        n_features_to_select: int | float | str = "auto",
        **parameters: Any,
    ):
        super().__init__()
        if features_col is not None and input_cols is not None:
            raise ValueError("features_col and input_cols are both given; columns to select from are one or the other.")
        if isinstance(input_cols, str):
            raise TypeError(f"input_cols={input_cols!r} is a text; give a list of names, such as [{input_cols!r}].")
        columns = {
            "features_col": features_col,
            "input_cols": input_cols,
            "output_col": output_col,
            "weight_col": weight_col,
        }
        self.setParams(**{name: value for name, value in columns.items() if value is not None})
        self.setParams(label_col=label_col, n_features_to_select=n_features_to_select, **parameters)

    def _fit(self, dataset: Any) -> SparkEasyFSModel:
        columns, vector = self._read(dataset)
        label, weight = self.getOrDefault("labelCol"), self.getOrDefault("weightCol")
        roles = roles_of(dataset.columns, None, label, weight)
        table = taken(dataset, dict.fromkeys([*columns, *roles.names]))
        selector = EasyFS(**{name: self.getOrDefault(name) for name in self._parameters})
        selector.fit(table, label, sample_weight=weight)
        model = SparkEasyFSModel._of(selector, columns, vector)
        model._resetUid(self.uid)
        self._copyValues(model)
        return model


class SparkEasyFSModel(Model, _Stage):
    """What :class:`SparkEasyFS` has selected.

    A column of vectors is cut to the selected entries, with their names, in ``outputCol``; of a list of columns those that
    are not selected are dropped, and the others are put into vectors if ``outputCol`` is set.

    Attributes
    ----------
    indices : list of int
        Places of what is selected, in ascending order.
    names : list of str
        Their names.
    order : list of int
        Places of all, best first.
    gains : list of float
        What each selected one added, best first.
    n_rows : int
        Rows that were seen.
    selector : EasyFS or None
        The fitted selector, for ``explain`` and ``report``; None in a model that was loaded.

    See Also
    --------
    SparkEasyFS : Fits it.

    Examples
    --------
    >>> from easyfs.spark import SparkEasyFSModel
    >>> model = SparkEasyFSModel.load("folder of a saved model")  # doctest: +SKIP
    >>> model.names  # doctest: +SKIP
    >>> model.transform(table).select("selected")  # doctest: +SKIP
    """

    def __init__(self) -> None:
        super().__init__()
        self.indices: list[int] = []
        self.names: list[str] = []
        self.order: list[int] = []
        self.gains: list[float] = []
        self.n_rows = 0
        self.selector: EasyFS | None = None
        self._is_vector = self._is_named = True

    @classmethod
    def _of(cls, selector: EasyFS, columns: list[str], vector: str | None) -> Self:
        model = cls()
        model.selector = selector
        model.indices = selector.get_support(indices=True).tolist()
        named = vector is None or hasattr(selector, "feature_names_in_")
        names = [str(name) for name in selector.get_feature_names_out()]
        model.names = names if named else [f"{columns[0]}[{j}]" for j in model.indices]
        model.order, model.gains = selector.order_.tolist(), selector.gains_.tolist()
        model.n_rows = selector.n_rows_
        model._is_vector, model._is_named = vector is not None, named
        return model

    def _transform(self, dataset: Any) -> Any:
        if self._is_vector:
            columns, vector = self._read(dataset)
            if vector is None:
                raise ValueError(f"column {columns[0]!r} does not hold vectors, as it did when the model was fitted.")
            self._check_entries(dataset.schema[vector])
            return sliced(dataset, vector, self.getOrDefault("outputCol"), self.indices)
        lost = [name for name in self.names if name not in dataset.columns]
        if lost:
            raise ValueError(f"the table does not have the selected column {lost[0]!r}.")
        dropped = set(self.getOrDefault("inputCols") or ()) - set(self.names)
        kept = taken(dataset, (name for name in dataset.columns if name not in dropped))
        if not self.isSet("outputCol"):
            return kept
        output = self.getOrDefault("outputCol")
        return assembled(kept, self.names, output)

    def _check_entries(self, field: Any) -> None:
        """Entries of vectors are taken by place: what is said of them must be what was said when the model was fitted."""
        width = described_width(field)
        if width is None:
            return
        if width <= max(self.indices):
            raise ValueError(
                f"the vectors of column {field.name!r} have {width} entries, but entry {max(self.indices)} was selected."
            )
        found = entry_names(field, width)
        if not self._is_named or found[0] == f"{field.name}[0]":
            return
        for place, name in zip(self.indices, self.names, strict=True):
            if found[place] != name:
                raise ValueError(
                    f"entry {place} of the vectors of column {field.name!r} was {name!r} when the model was fitted, and is "
                    f"{found[place]!r} now; assemble them from the same columns in the same order."
                )


# What of a model is written beside its parameters.
_WRITTEN = ("indices", "names", "order", "gains", "n_rows", "_is_vector", "_is_named")


class _Writer(MLWriter):
    def __init__(self, stage: Any):
        super().__init__()
        self.stage = stage

    def saveImpl(self, path: str) -> None:  # noqa: N802
        keys = {}  # of mappings: JSON makes texts of them, and the place 0 is not a column called "0"
        for param, value in self.stage.extractParamMap().items():
            try:
                json.dumps(value)
            except TypeError as error:
                raise ValueError(f"{param.name}={value!r} cannot be saved ({error}); give plain values.") from error
            if isinstance(value, dict):
                keys[param.name] = list(value)
        further = {"keys": keys}
        if isinstance(self.stage, SparkEasyFSModel):
            further["chosen"] = {name: getattr(self.stage, name) for name in _WRITTEN}
        DefaultParamsWriter.saveMetadata(self.stage, path, _context(self), extraMetadata=further)


class _Reader(MLReader):
    def __init__(self, kind: Any):
        super().__init__()
        self.kind = kind

    def load(self, path: str) -> Any:
        written = DefaultParamsReader.loadMetadata(path, _context(self))
        found = written["class"].rpartition(".")[2]
        if found != self.kind.__name__:
            raise ValueError(f"{path!r} holds a {found}, not a {self.kind.__name__}; read it with {found}.load.")
        for name, keys in written["keys"].items():
            for known in (written["paramMap"], written["defaultParamMap"]):
                if isinstance(known.get(name), dict):
                    known[name] = dict(zip(keys, known[name].values(), strict=True))
        stage = self.kind()
        stage._resetUid(written["uid"])
        DefaultParamsReader.getAndSetParams(stage, written)
        for name in _WRITTEN if self.kind is SparkEasyFSModel else ():
            setattr(stage, name, written["chosen"][name])
        return stage


def _context(io: Any) -> Any:
    """What metadata are written and read with: the session, or, before Spark 4, the context."""
    import pyspark  # noqa: PLC0415

    return io.sparkSession if int(pyspark.__version__.split(".")[0]) >= 4 else io.sc
