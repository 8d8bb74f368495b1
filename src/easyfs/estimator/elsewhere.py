"""Tables that are not in memory: on a device, in files, in a database, on a cluster."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted, validate_data

from easyfs.base.request import Request
from easyfs.common.telling import Teller, counted
from easyfs.common.threads import threads_for
from easyfs.common.types import Array
from easyfs.common.version import VERSION
from easyfs.engines.memory import Engine
from easyfs.engines.opening import open_parts
from easyfs.engines.parts import Measuring, PartedTable, Summing, check_same_rows, say_where_infinite
from easyfs.engines.sampling import MOST_LABELS, Scanned, describe, scan, with_labels
from easyfs.engines.torch import TorchEngine, TorchKernels, is_tensor, kernels_on, on_device, to_host
from easyfs.estimator.findings import Findings
from easyfs.passes.block import Block
from easyfs.passes.make_plan import Prepared, make_plan
from easyfs.passes.plan import Plan
from easyfs.passes.screening import Marginals, Rows
from easyfs.passes.statistics import Statistics
from easyfs.sample.rows import MOST_ROWS
from easyfs.sums.second_moment import ROWS_PER_COLUMN
from easyfs.tables.encoder import Counting
from easyfs.tables.frames import InfinityError
from easyfs.tables.target import (
    Target,
    check_target,
    check_varies,
)
from easyfs.tables.target_summary import describe_target
from easyfs.tables.weights import (
    NO_WEIGHT,
    check_enough_rows,
    check_no_weight_alone,
    check_weights,
    counted_rows,
    no_weights_of_one,
)


def plan_line(plan: Plan, sample: Block) -> str:
    """What was learnt on the sample, for those who want to hear it."""
    found = len([found for found in plan.found if found.confirmed and not found.plain])
    return f"plan: {counted(sample.n_rows, 'row')} of the sample" + (f", {counted(found, 'joint effect')}" if found else "")


class Elsewhere(Findings):
    """Fit and transform a table where it is: only a sample of the rows and their sums come here."""

    def _run(self: Any, engine: Engine, request: Request, told: Teller) -> None:
        """The three steps over the rows of an engine."""
        prepared = self._prepare(engine, request)
        told.done(plan_line(prepared.plan, prepared.sample))
        if self.n_features_to_select == "cv":
            request = self._count_columns(replace(prepared.sample, X=to_host(prepared.sample.X)), request, told)
        statistics = engine.reduce(prepared)
        told.done(f"sums: {counted(self._seen.n_rows, 'row')}")
        self._result = self._choose(prepared.plan, statistics, request)
        self._tell_chosen(told)

    def _teller(self: Any) -> Teller:
        return Teller(type(self).__name__, self.verbose)

    def _tell_chosen(self: Any, told: Teller) -> None:
        if told.verbose:
            chosen, names = self._selected(), self._names() or [f"x{j}" for j in range(self.n_features_in_)]
            listed = [str(names[j]) for j in chosen.order[: chosen.n_selected]]
            told.end(listed, chosen.gains.tolist(), self.n_features_in_)

    def _fit_tensor(self: Any, X: Any, y: Any, sample_weight: Any) -> None:
        """Fit a table on a device: the plan is made from a sample on the host, the sums where the rows are."""
        told, X = self._teller(), on_device(X, self.device)
        X, y, sample_weight = counted_rows(X, y, sample_weight)
        n = int(X.shape[0])
        self._check_table(to_host(X[: min(n, 2)]), reset=True, count=False, min_rows=1)
        target, weight = check_target(y, n, self.task), check_weights(sample_weight, n)
        self._check_target_is_there(target)
        request = self._constraints()
        check_enough_rows(to_host(X[:2]), weight)
        check_varies(target)
        self._saw(n, describe_target(target, y))
        self._remember(target)
        engine = TorchEngine(Block(X, target, no_weights_of_one(weight)), TorchKernels(X.device))
        told.done(f"reading: {counted(n, 'row')} of {counted(self.n_features_in_, 'column')}")
        few = n <= ROWS_PER_COLUMN * X.shape[1]  # these come to the processor, of others what is searched
        with threads_for(n if few else min(n, MOST_ROWS), X.shape[1]):
            self._run(engine, request, told)

    def _fit_parts(self: Any, table: PartedTable) -> None:
        """Fit a table that comes in parts: scan them, make the plan from the sample, sum them up, choose."""
        told = self._teller()
        kernels_on(self.device)  # said before anything is read
        seed, rng = self._seed()
        self._roles = table.roles
        reading = partial(
            scan,
            seed=seed,
            memory_limit=self._memory_limit(),
            table_rows=table.n_rows,
            classes=self.task == "classification",
            version=VERSION,
        )
        scanned = table.reduce(reading, told.progress)
        task, counts, n_rows = scanned.task(self.task), scanned.counts, scanned.n_rows
        if not n_rows and scanned.weighed:
            raise ValueError(NO_WEIGHT)
        if n_rows > 1 and scanned.weighed:
            check_no_weight_alone([(part.largest, part.others) for part in scanned.weighed])
        known = scanned if scanned.is_whole else None
        if scanned.numbering is not None:  # known only now that all weights have been seen
            scanned = table.reduce(partial(reading, numbering=scanned.numbering), told.progress)
        rows, stands_for = scanned.sample(classes=task != "regression")
        try:
            matrix = self._matrix_of(rows, known)
        except InfinityError:  # in a row of the sample; now of which part
            table.reduce(say_where_infinite)
            raise
        target = check_target(rows.y, matrix.shape[0], task)
        if target.kind == "classes" and rows.counts is None:
            raise ValueError(
                f"y has more than {MOST_LABELS:,} different values, which are too many classes for a table in parts; say "
                "task='regression' if they are quantities."
            )
        target = with_labels(target, rows.counts)
        self._check_target_is_there(target)
        request = self._constraints()
        check_enough_rows(matrix, rows.weight)
        check_varies(target)
        sample = Block(matrix, target, no_weights_of_one(rows.weight))
        if scanned.is_whole:  # weights may still say that a row is there many times
            sample = sample.sample(seed, scanned.size)
        else:
            sample = replace(sample, stands_for=stands_for, population=float(rows.n_rows))
        self._remember(target)
        about = describe(target, counts, table.roles)
        told.done(f"reading: {counted(n_rows, 'row')} of {counted(self.n_features_in_, 'column')}")
        if self._is_wide(matrix, n_rows):
            self._fit_wide_parts(table, sample, target, request, (about, n_rows), told)
            return
        with threads_for(*matrix.shape):
            plan = make_plan(sample, self._plan_settings(), request, seed, rng).plan
            told.done(plan_line(plan, sample))
            request = self._count_columns(sample, request, told)
        summed = table.reduce(Summing(plan.light(), self._encoder, target, VERSION, device=self.device), told.progress)
        check_same_rows(n_rows, summed.n_rows)
        told.done(f"sums: {counted(summed.n_rows, 'row')}")
        self._saw(summed.n_rows, about, summed.missing)
        with threads_for(summed.n_rows, matrix.shape[1]):
            self._result = self._choose(plan, summed.statistics, request)
        self._tell_chosen(told)

    def _matrix_of(self: Any, rows: Scanned, known: Scanned | None) -> Array:
        """The rows of the sample as numbers.

        What a column is, all rows say where they are ``known``; one that is in the sample several times says it once.
        """
        source = rows if known is None else known
        places, once = np.unique(source.places, return_index=True)
        as_they_are = len(once) == len(source.places) and (np.diff(once) == 1).all()
        table = (source.held if as_they_are else source.held.rows(once)).table()
        matrix: Array = self._check_table(table, reset=True, count=False, counting=Counting(levels=rows.levels))
        return matrix if np.array_equal(places, rows.places) else matrix[np.searchsorted(places, rows.places)]

    def _fit_wide_parts(
        self: Any, table: PartedTable, sample: Block, target: Target, request: Request, known: tuple[Any, int], told: Teller
    ) -> None:
        """Fit a table in parts of which not all columns can be compared in memory."""
        seen: list[Any] = []

        def measured(plan: Plan) -> Marginals:
            found: Marginals = table.reduce(Measuring(plan.light(), self._encoder, target, VERSION), told.progress)
            return found

        def sums(prepared: Prepared, columns: Array) -> Statistics:
            summing = Summing(prepared.plan.light(), self._encoder, target, VERSION, columns, self.device)
            summed = table.reduce(summing, told.progress)
            check_same_rows(known[1], summed.n_rows)
            seen.append(summed)
            return summed.statistics

        with threads_for(*sample.X.shape):
            self._fit_wide(Rows(sample, measured, sums), request, told)
        self._saw(seen[0].n_rows, known[0], seen[0].missing)
        self._tell_chosen(told)

    def transform(self, X: Any) -> Any:
        """Reduce a table to the selected columns, in their original order.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe, Arrow table or lazy table of shape (n, d)
            A table with the columns of ``fit``, with or without target and weights.

        Returns
        -------
        ndarray, sparse matrix or table of shape (n, n_features_)
            An array, unless ``set_output`` asks for a dataframe. A table with columns that are no numbers comes back as a
            table of its own library, and a lazy table as a lazy table, which is not read.
        """
        check_is_fitted(self)
        if is_tensor(X):
            self._check_table(np.empty((1, X.shape[1])), reset=False, count=False, min_rows=1)
            return X[:, self.get_support(indices=True)]
        parted = open_parts(X)
        if parted is None:
            return super().transform(X)
        wanted = _get_output_config("transform", self)["dense"]
        if wanted != "default":
            raise ValueError(
                f"transform was asked for {wanted} (set_output, or scikit-learn's transform_output), but X is not in "
                "memory and stays where it is; call set_output(transform='default'), and collect what transform gives."
            )
        if parted.names is None:
            validate_data(self, X, reset=False, skip_check_array=True)
        if parted.names is None or self._names() is None:
            return parted.select(self.get_support(indices=True).tolist())
        names = [str(name) for name in self.get_feature_names_out()]
        missing = [name for name in names if name not in parted.names]
        if missing:
            raise ValueError(f"X does not have the selected column {missing[0]!r}.")
        return parted.select(names)
