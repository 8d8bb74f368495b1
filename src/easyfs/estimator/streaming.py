"""What both forms of EasyFS share: ``fit``, ``partial_fit`` and ``merge``, over the three steps of a fit."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from easyfs.base.request import Request
from easyfs.base.result import Selection
from easyfs.common.notices import warn_user
from easyfs.common.telling import Teller, check_verbose, counted
from easyfs.common.threads import threads_for
from easyfs.common.types import Array
from easyfs.engines.memory import Engine, MemoryEngine
from easyfs.engines.opening import open_parts
from easyfs.engines.torch import TorchEngine, as_tensor, is_tensor, kernels_on, to_host
from easyfs.estimator.elsewhere import Elsewhere
from easyfs.passes.block import Block, sample_rows
from easyfs.passes.choose import choose
from easyfs.passes.choosing import LEVEL
from easyfs.passes.cross_validate import cross_validate
from easyfs.passes.kernels import NUMPY
from easyfs.passes.make_plan import Prepared, make_plan
from easyfs.passes.plan import Plan
from easyfs.passes.screening import MEMORY_LIMIT, Rows, choose_screened, marginals, most_columns, too_wide
from easyfs.passes.settings import ChoiceSettings, PlanSettings, SequentialChoice, SequentialPlan
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import summarise
from easyfs.sums.measuring import check_scale, scaled_late
from easyfs.tables.encoder import Counting
from easyfs.tables.frames import column_names
from easyfs.tables.naming import check_same_names, listed, roles_of, take_roles
from easyfs.tables.target import (
    CONSTANT_TARGET,
    Target,
    check_same_labels,
    check_target,
    check_two_classes,
    check_varies,
)
from easyfs.tables.target_summary import describe_target
from easyfs.tables.weights import check_enough_rows, check_weights, no_weights_of_one, usable_weights

# Rows that cross-validation needs.
FEWEST_ROWS = 20
# Root mean square of a scaled column, as a share of the bound, from which on much of it must have been clipped.
DRIFT = 0.75


class StreamingSelector(Elsewhere):
    """A selector that needs sums over rows only, so that rows may come in blocks and parts may be merged."""

    task: str
    device: str | None
    random_state: Any
    verbose: int | bool
    task_: str | None
    classes_: Array
    plan_: Plan
    cv_results_: dict[str, Array]
    cv_selections_: list[Array]
    _statistics: Statistics | None
    _additive = True

    @abstractmethod
    def _plan_settings(self) -> PlanSettings:
        """What a plan depends on, checked."""

    @abstractmethod
    def _choice_settings(self) -> ChoiceSettings:
        """What only the choice depends on, checked."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Select columns.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe, Arrow table or lazy table of shape (n, d)
            Numbers; NaN is a missing value and counts as the mean of its column. A polars ``LazyFrame``, a
            ``pyarrow.dataset``, a DuckDB relation, ``easyfs.scan(...)``, a Dask or a Spark table is read in parts, twice,
            and is never in memory as a whole; a tensor of torch or an array of CuPy is summed on its device.
        y : array-like of shape (n,) or (n, t), str or list of str, optional
            Class labels, numbers, several targets, or a 0/1 matrix of labels; or the name of a column of ``X``, or a list
            of names (a ``Pipeline`` wants values). Without it, the columns that best cover the table are selected.
        sample_weight : array-like of shape (n,) or str, optional
            Weight of each row, or the name of a column of ``X``; a weight of 2 is the same as having the row twice.

        Returns
        -------
        self
            The fitted selector.
        """
        self._forget()
        y, sample_weight = to_host(y), to_host(sample_weight)
        parted = open_parts(X, y, sample_weight)
        if parted is not None:
            self._fit_parts(parted)
            return self
        if is_tensor(X):
            roles_of(None, None, y, sample_weight)  # a tensor has no names
            self._fit_tensor(as_tensor(X), y, sample_weight)
            return self
        told, (X, y, sample_weight, self._roles) = self._teller(), take_roles(X, y, sample_weight)
        matrix = self._check_table(X, reset=True, counting=Counting(usable_weights(X, sample_weight)))
        block = self._rows_of(matrix, y, sample_weight, self.task)
        request = self._constraints()
        check_enough_rows(block.X, block.weight)
        check_varies(block.target)
        self._saw(block.n_rows, describe_target(block.target, y))
        self._remember(block.target)
        told.done(f"reading: {counted(block.n_rows, 'row')} of {counted(self.n_features_in_, 'column')}")
        with threads_for(*block.X.shape):
            engine = self._engine(block)
            if not self._is_wide(block.X, block.n_rows):
                self._run(engine, request, told)
                return self
            sample = engine.sample(self._seed()[0], self._sample_rows())

            def sums(prepared: Prepared, columns: Array) -> Statistics:
                return summarise(prepared.plan, replace(block, X=block.X[:, columns]))

            self._fit_wide(Rows(sample, partial(marginals, block=block), sums), request, told)
        self._tell_chosen(told)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        plan: Plan | None = None,
        scale: tuple[Any, Any] | None = None,
    ) -> Self:
        """Add a block of rows of a table that does not fit into memory, or is still growing.

        The plan, that is scaling and network, is made from the **first** block, which should look like the rest: give it a
        few thousand rows in random order. What lies further than ``clip`` of its standard deviations from its mean counts
        as that far in all blocks; where later blocks are much wider, a warning says so. Memory does not grow with the
        number of rows. The selection is computed when one of its attributes is first read. The task is fixed by the first
        block; classes may appear later. A later block without rows, or whose weights are all zero, adds nothing. After
        :meth:`fit`, and of a truncated selector, it begins anew: these keep no sums that rows could be added to.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe or Arrow table of shape (n, d)
            A block of rows, as in :meth:`fit`.
        y : array-like of shape (n,) or (n, t), optional
            Their target.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        plan : Plan, optional
            First block only: use this plan, from :meth:`draw_plan` or another selector's ``plan_``, so that the two can be
            merged.
        scale : tuple of (mean, standard deviation), optional
            First block only: the scale of each column, where it is known; the nodes still come from the block.

        Returns
        -------
        self
            The selector itself.
        """
        first = getattr(self, "_statistics", None) is None
        if not first and (plan is not None or scale is not None):
            raise ValueError("plan and scale are for the first block; this selector has seen rows already.")
        if first:
            self._forget()
        X, y, sample_weight, self._roles = take_roles(*map(to_host, (X, y, sample_weight)))
        if self._adds_nothing(X, sample_weight, first=first):
            return self
        if self.n_features_to_select == "cv":
            raise ValueError("n_features_to_select='cv' needs all rows at once; use fit (of lazy tables, too), or 'auto'.")
        if plan is not None:
            self._check_plan(plan, column_names(X))
        matrix = self._check_table(
            X,
            reset=first,
            min_rows=None if first and plan is None else 1,
            encoder=None if plan is None else plan.encoder,
            learn=plan is None,
            counting=Counting(usable_weights(X, sample_weight), more=True),
        )
        block = self._rows_of(matrix, y, sample_weight, self._task_of(plan) if first else (self.task_ or "auto"))
        if self._is_wide(matrix, self._seen.n_rows + block.n_rows):
            raise ValueError(too_wide(matrix.shape[1], self._memory_limit()))
        if first:
            self.plan_ = self._first_plan(block, plan, scale)
            self._remember(block.target)
        self._add(block)
        return self

    def draw_plan(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        """Make the plan, that is scaling and network, from a sample of rows, to be passed to several ``partial_fit``.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe or Arrow table of shape (n, d)
            Rows that look like all of them.
        y : array-like of shape (n,) or (n, t), optional
            Their target.
        sample_weight : array-like of shape (n,), optional
            Their weights.

        Returns
        -------
        Plan
            For ``partial_fit(..., plan=plan)``.
        """
        drawn: StreamingSelector = clone(self)
        return drawn.partial_fit(X, y, sample_weight).plan_

    def merge(self, other: StreamingSelector) -> Self:
        """Add the rows that another selector has seen through ``partial_fit`` under the same plan.

        Parameters
        ----------
        other : selector of the same class
            It is left as it is.

        Returns
        -------
        self
            The selector itself.
        """
        mine, theirs = getattr(self, "_statistics", None), getattr(other, "_statistics", None)
        if mine is None or theirs is None:
            raise ValueError("merge needs two selectors that have seen rows through partial_fit.")
        check_same_names(self._names(), other._names())
        self._statistics = mine + theirs
        self._saw(other.n_rows_, None, other._seen.missing)
        if hasattr(other, "classes_"):
            self.classes_ = np.union1d(self.classes_, other.classes_)
        self._result = None
        return self

    def truncate(self, n_features_to_select: int | float) -> Self:
        """The same fit with another number of features, at no cost; it takes no further rows.

        Parameters
        ----------
        n_features_to_select : int or float
            A count, or a share of all columns (of all groups, where columns are grouped).

        Returns
        -------
        selector
            A copy of this selector that selects the first columns of ``order_``.
        """
        shorter: Self = super().truncate(n_features_to_select)
        shorter._statistics = None
        return shorter

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_result", None) is not None or getattr(self, "_statistics", None) is not None

    # --- the three steps ---

    def _prepare(self, engine: Engine, request: Request, scale: tuple[Any, Any] | None = None) -> Prepared:
        """Make the plan from the engine's sample."""
        seed, rng = self._seed()
        sample = engine.sample(seed, self._sample_rows())
        return make_plan(sample, self._plan_settings(), request, seed, rng, scale, engine.begin, engine.kernels)

    def _engine(self, block: Block) -> Engine:
        """Where a table in memory is summed up."""
        kernels = kernels_on(self.device)
        dense = kernels is not NUMPY and not sparse.issparse(block.X)
        return TorchEngine(block, kernels) if dense else MemoryEngine(block)

    def _sample_rows(self) -> int:
        """Rows that a plan is made from."""
        return sample_rows(self.n_features_in_, self._memory_limit())

    def _memory_limit(self) -> float:
        """Gigabytes that a fit may hold."""
        return MEMORY_LIMIT

    def _is_wide(self, X: Any, n_rows: int) -> bool:
        """Whether the columns are too many to be compared with each other in memory."""
        return (
            isinstance(self._plan_settings(), SequentialPlan)
            and not sparse.issparse(X)
            and X.shape[1] > most_columns(n_rows, self._memory_limit())
        )

    def _fit_wide(self, rows: Rows, request: Request, told: Teller) -> None:
        """Fit the columns that survive a screen, and say what was given up."""
        plan, choice = self._plan_settings(), self._choice_settings()
        assert isinstance(plan, SequentialPlan)
        assert isinstance(choice, SequentialChoice)
        request = self._count_columns(rows.sample, request, told)
        most = most_columns(rows.sample.population or rows.sample.n_rows, self._memory_limit())
        found = choose_screened(rows, (plan, choice), request, most, self._seed())
        warn_user(f"{found.screened} ({self._memory_limit():g} GB).")
        self._result = self._told(found, request)

    def _seed(self) -> tuple[int, np.random.Generator]:
        """The seed of all draws of rows, and where the weights of the network come from."""
        try:
            drawn = check_random_state(self.random_state).randint(2**31 - 1, size=4)
        except ValueError as error:
            raise ValueError(
                f"random_state={self.random_state!r}: {error}; give a whole number from 0 on, or None."
            ) from error
        rng = np.random.default_rng(drawn)
        return int(rng.integers(1 << 62)), rng

    def _count_columns(self, sample: Block, request: Request, told: Teller) -> Request:
        """How many columns, by cross-validation on the sample, where that is asked for."""
        if self.n_features_to_select != "cv":
            return request
        if sample.target.kind is None:
            raise ValueError("n_features_to_select='cv' needs a target to predict; give a number, or 'auto'.")
        if sample.n_rows < FEWEST_ROWS:
            raise ValueError(
                f"n_features_to_select='cv' needs at least {FEWEST_ROWS} rows, but there are {sample.n_rows}; give a "
                "number, or 'auto'."
            )
        seed, rng = self._seed()
        found = cross_validate(sample, self._plan_settings(), self._choice_settings(), request, seed, rng)
        self.cv_results_ = found.results()
        self.cv_selections_ = [self._of_table(columns) for columns in found.selections]
        told.done(f"cross-validation: {counted(found.best, 'column')} of {len(found.n_features):,} tried")
        return replace(request, count=max(found.best, len(np.unique(request.groups[request.include]))))

    def _of_table(self, columns: Array) -> Array:
        """The user's columns that columns of the matrix come from, in their order."""
        source = columns if self._encoder is None else self._encoder.source[columns]
        return np.array(list(dict.fromkeys(source.tolist())), dtype=np.intp)

    def _add(self, block: Block) -> None:
        """Sum a block up, and add the sums to those of the blocks before it."""
        told = self._teller()
        self._check_same_settings(self.plan_)
        self._check_same_target(self.plan_, block.target)
        self._scale_late(block.X)
        if block.target.classes is not None:
            self.classes_ = np.union1d(self.classes_, block.target.classes)
        self._saw(block.n_rows, None)
        with threads_for(*block.X.shape):
            statistics = summarise(self.plan_, block, kernels_on(self.device))
        if self._statistics is None:
            self._statistics = statistics
        else:
            self._statistics += statistics
        self._result = None
        told.done(f"sums: {counted(block.n_rows, 'row')} more, {self._seen.n_rows:,} so far")

    def _choose(self, plan: Plan, statistics: Statistics, request: Request) -> Selection:
        """Choose, and say so where nothing tells more than chance."""
        return self._told(choose(plan, statistics, request, self._choice_settings()), request)

    def _told(self, found: Selection, request: Request) -> Selection:
        if request.count is None and found.p_values is not None and not (found.p_values < LEVEL).any():
            n, among = (found.scores > -np.inf).sum(), " that budget and max_per_source allow" * request.limits.limited
            warn_user(
                f"none of the {n} columns{among} tells more of the target than chance would; one is "
                "selected, which may say nothing (p_values_). Check the target, or give more rows."
            )
        return found

    def _found(self) -> Selection:
        check_is_fitted(self)
        statistics = getattr(self, "_statistics", None)
        if statistics is not None and getattr(self, "_answered", "") != self._asked():
            self._result = None
        if self._result is None:
            assert statistics is not None
            self._check_same_settings(self.plan_)
            self._answered = self._asked()
            if hasattr(self, "classes_"):
                check_two_classes(self.classes_)
            elif self.plan_.target.kind == "values" and not statistics.target_varies():
                raise ValueError(CONSTANT_TARGET)
            told = self._teller()
            with threads_for(statistics.n_rows, self.n_features_in_):
                self._warn_of_drift(statistics)
                self._result = self._choose(self.plan_, statistics, self._constraints())
            self._tell_chosen(told)
        return self._result

    # --- checks ---

    def _forget(self) -> None:
        """Check the parameters and drop what an earlier fit has left."""
        self._plan_settings()
        self._choice_settings()
        check_verbose(self.verbose)
        self._result = None
        self._statistics = None
        for name in ("plan_", "classes_", "task_", "cv_results_", "cv_selections_", "_answered"):
            if hasattr(self, name):
                delattr(self, name)

    def _rows_of(self, matrix: Array, y: Any, sample_weight: Any, task: str) -> Block:
        """Check target and weights."""
        target = check_target(y, matrix.shape[0], task)
        self._check_target_is_there(target)
        weight = check_weights(sample_weight, matrix.shape[0])
        return Block(matrix, target, no_weights_of_one(weight))

    @abstractmethod
    def _check_target_is_there(self, target: Target) -> None:
        """A form may need a target, or something else without one."""

    def _remember(self, target: Target) -> None:
        self.task_ = target.task
        if target.classes is not None:
            self.classes_ = target.classes

    def _first_plan(self, block: Block, plan: Plan | None, scale: tuple[Any, Any] | None) -> Plan:
        """The plan that was given, or one made from the first block."""
        request = self._constraints()
        if plan is None:
            check_enough_rows(block.X, block.weight)
            with threads_for(*block.X.shape):
                made = self._prepare(MemoryEngine(block), request, check_scale(scale, block.X.shape[1])).plan
            return replace(made, encoder=self._encoder, names=self._names())
        if plan.n_inputs != block.X.shape[1]:
            raise ValueError(f"plan was made for {plan.n_inputs} columns, but X has {block.X.shape[1]}.")
        return plan

    def _scale_late(self, matrix: Array) -> None:
        """Scale columns that had no value in any block so far by the first one that has some: all before is missing."""
        late = scaled_late(self.plan_.scaling, matrix)
        if late is not self.plan_.scaling:
            self.plan_ = replace(self.plan_, scaling=late)
            if self._statistics is not None:
                self._statistics = self._statistics.of_plan(self.plan_.identity)

    def _asked(self) -> str:
        """What of the parameters a selection depends on, beside the plan."""
        known = [entry for entry in self.get_params(deep=False).items() if entry[0] not in ("random_state", "verbose")]
        return repr(sorted((name, value.tolist() if isinstance(value, np.ndarray) else value) for name, value in known))

    def _check_same_settings(self, plan: Plan) -> None:
        """A plan is made for certain settings; another selector, or this one later, must have the same."""
        settings = self._plan_settings()
        if type(settings) is not type(plan.settings):
            raise ValueError(f"the plan was not made by {type(self).__name__}; make one with its own draw_plan.")
        mine, made = vars(settings), vars(plan.settings)
        other = [name for name in mine if mine[name] != made[name]]
        if other:
            raise ValueError(
                f"the plan (the first block) was made with {other[0]}={made[other[0]]!r}, but this selector has "
                f"{other[0]}={mine[other[0]]!r}; begin anew with fit, or set it back."
            )

    def _check_plan(self, plan: Any, names: list[Any] | None) -> None:
        if not isinstance(plan, Plan):
            raise TypeError(f"plan is of type {type(plan).__name__}; pass what draw_plan returns, or a selector's plan_.")
        self._check_same_settings(plan)
        known = plan.names if plan.encoder is None else [column.name for column in plan.encoder.columns]
        if known is not None and names != known and (names is not None or plan.encoder is not None):
            found = "is no table" if names is None else f"has {listed(names)}"
            raise ValueError(f"plan was made for a table with the columns {listed(known)}, in this order, but X {found}.")

    def _task_of(self, plan: Plan | None) -> str:
        """The task of the first block: what a plan was made for knows better than a few rows do."""
        if plan is None or self.task != "auto":
            return self.task
        numbers = plan.target.kind == "values" and plan.target.n_values == 1
        return "classification" if plan.target.kind == "classes" else "regression" if numbers else "auto"

    def _check_same_target(self, plan: Plan, target: Target) -> None:
        """A block's target must be of the kind that the plan was made for."""
        coding = plan.target
        if coding.kind != target.kind:
            words = {"classes": "class labels", "values": "numbers", None: "no target"}
            found, first = words[target.kind], words[coding.kind]
            raise ValueError(f"this block has {found} in y, but the plan (the first block) was made for {first}.")
        check_same_labels(coding.classes, target.classes)
        if target.kind == "values" and target.n_targets != coding.n_values:
            raise ValueError(f"y has {target.n_targets} targets in this block, but {coding.n_values} in the first one.")

    def _warn_of_drift(self, statistics: Statistics) -> None:
        """Say which columns are much wider than in the rows that set where values are clipped."""
        scaling = self.plan_.scaling
        if not np.isfinite(scaling.clip):
            return
        drifted = np.flatnonzero((statistics.mean_squares() > (DRIFT * scaling.clip) ** 2) & ~scaling.constant)
        if len(drifted):
            given = self._names() if self._encoder is None else self._encoder.names
            names = given or [f"x{j}" for j in range(len(scaling.center))]
            listed = ", ".join(str(names[j]) for j in drifted[:5]) + (", ..." if len(drifted) > 5 else "")
            many = len(drifted) > 1
            warn_user(
                f"{len(drifted)} column{'s' if many else ''} ({listed}) {'vary' if many else 'varies'} far more in "
                "later blocks than in the first one, by whose spread values are clipped. Make the plan from rows of all "
                "blocks (draw_plan), pass scale, or set clip=None."
            )
