"""EasyFS, the estimator: parameters, ``fit``, ``partial_fit`` and what they leave behind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from easyfs.base.request import Constraints
from easyfs.base.result import Interaction, Selection
from easyfs.base.selector import BaseSelector
from easyfs.common.notices import warn_user
from easyfs.common.parameters import check_choice, check_number
from easyfs.common.threads import threads_for
from easyfs.common.types import Array
from easyfs.passes.choose import select_ranking, select_sequential
from easyfs.passes.choosing import LEVEL
from easyfs.passes.make_plan import make_plan
from easyfs.passes.plan import NetworkSettings, Plan
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import gather
from easyfs.stages.redundancy import explained_by_selected
from easyfs.sums.measuring import check_scale, scaled_late
from easyfs.tables.frames import column_names
from easyfs.tables.target import CONSTANT_TARGET, Target, check_same_labels, check_target, check_two_classes, check_varies
from easyfs.tables.target_summary import describe_target
from easyfs.tables.weights import check_enough_rows, check_weights, drop_weightless

COMPRESSIONS = ("sequential", "ranking")
# Root mean square of a scaled column, as a share of the bound, from which on much of it must have been clipped.
DRIFT = 0.75
# Precision and rounds of each compression when they are left at "auto"; the sequential form adds this share of the noise
# of the target, up to this much of it.
AUTO_EPS2 = {"sequential": 0.2, "ranking": 0.5}
NOISE_SHARE, MOST_NOISE = 0.1, 10.0
AUTO_ROUNDS = {"sequential": 1, "ranking": 2}


class EasyFS(BaseSelector):
    """Select the few columns that say most about the target, and say it only once.

    The columns are expanded by a random network into many non-linear combinations, so that columns which matter only
    together are seen; columns are then chosen one by one, each for what it adds to those already chosen. Works
    for classes, numbers, several targets at once and, for coverage of the table, without any target. No model is trained.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default="auto"
        How many columns to select. A whole number is a count, a float in (0, 1] is a share of the columns (at least one):
        ``1`` is one column, ``1.0`` is all of them. ``"auto"`` stops when no column that is left says more about the target
        than the best of as many random columns would; at least one is selected. Without a target, it stops when the next
        column would add less than a hundredth of what the selected ones cover.

    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` is. ``"auto"`` reads it from ``y``: text, booleans and whole numbers that are few, or codes of several
        rows each, are classes; other numbers are quantities. Where that is doubtful, a warning says which it was.

    compression : {"sequential", "ranking"}, default="sequential"
        How columns are chosen. ``"sequential"`` measures redundancy against the columns already selected and takes
        them one at a time. ``"ranking"`` is the published method: every node is scored once and its score handed
        back to the columns it listens to; it needs a target.

    n_hidden : int, default=256
        Hidden nodes of the network. Each listens to all columns; together they are a sketch of the whole table, so that the
        columns chosen late, when the target is explained, cover the table rather than its noise.

    n_enhancement : int or "auto", default="auto"
        Enhancement nodes of the network. Each listens to a few columns; those most related to the target point to columns
        that matter together. ``"auto"`` depends on the number of columns alone. 0 looks at each column by itself.

    connections : int, default=3
        How many nodes an enhancement node listens to.

    n_rounds : int or "auto", default="auto"
        Rounds that signals run through the network. With two or more, enhancement nodes also listen to one another.
        ``"auto"`` is 1 for the sequential form and 2 for the ranking.

    interactions : bool, default=True
        Look for columns that matter in a curve or only together with others, on a sample of the rows (sequential form).

    predicted_share : float, default=0.5
        Share of the target's weight that goes to the part of it that a linear fit predicts for rows it has not seen, so
        that columns which merely fit the target's noise count less. The share falls as rows beyond those of the fit come
        in. 0 switches this off (sequential form).

    coverage_power : float, default=1.0
        How much more the hidden nodes hear the columns that are related to the target: each column's variance is weighed by
        this power of its relevance. 0 covers all columns alike (sequential form).

    clip : float or None, default=4.0
        Values further than this many standard deviations from the mean, of a column or of a numeric target, count as this
        far, so that a few extreme rows do not decide alone. The standard deviation is that of the clipped values, as long
        as no more than a hundredth of the rows are clipped. None takes all values as they are, and so does ``literal``.

    eps2 : float or "auto", default="auto"
        Squared precision at which columns are coded. Near 0, a near-copy of a selected column is worthless; the larger it
        is, the more each column counts as if it were alone. ``"auto"`` is 0.5 for the ranking. For the sequential form it
        is 0.2 and more where the target is noisy for so few rows: a tenth of the ridge penalty, for each row, that predicts
        the target best is added, at most 1.

    coverage : float, default=0.2
        Weight of the coverage of the whole table, against the target's: it decides between columns that tell the target
        about as much, and in which order columns come that tell nothing more of it (sequential form).

    lambda1 : float, default=1.0
        Weight of redundancy against relevance in the score of a node (ranking).

    lambda2 : float, default=0.5
        Weight of the difference in spread, against the difference in mean, between classes (ranking).

    top_share : float, default=0.2
        Share of the nodes whose scores are handed back to the columns (ranking).

    literal : bool, default=False
        Leave out what the published method does not have: connections of a node scaled to unit norm, standardised nodes,
        and clipped values (ranking).

    include : list of names or positions, optional
        Columns that are selected in any case, before all others. They count towards the number asked for.

    exclude : list of names or positions, optional
        Columns that are never selected. They are not seen by the network either.

    groups : sequence of labels, one for each column, optional
        Columns with the same label are selected or left together and count as one, such as the indicator columns of one
        category.

    random_state : int, RandomState instance or None, default=None
        Seed of the network. With a seed, the same table gives the same answer on any number of threads.

    Attributes
    ----------
    order_ : ndarray of shape (n_features_in_,)
        All columns, best first: included ones as given, selected ones as chosen, the rest by what they would add next,
        copies of selected columns, constant columns, excluded columns.
    ranking_ : ndarray of shape (n_features_in_,)
        1 + the place of each column in ``order_``.
    scores_ : ndarray of shape (n_features_in_,)
        What each column added when it was chosen, or would have added last; ``-inf`` if excluded. For the ranking, the
        importance ``H``.
    gains_ : ndarray of shape (n_features_,)
        What each selected column added, in order, as a share of all there is to explain.
    redundancy_ : ndarray of shape (n_features_in_,)
        Share of each column that the (other) selected columns already say.
    relevance_ : ndarray of shape (n_features_in_,) or None
        Share of each column that the target explains by itself.
    p_values_ : ndarray of shape (n_features_,) or None
        For each selected column, in order, how likely the best of as many unrelated columns would tell as much beyond the
        columns before it; None without a target.
    beyond_chance_ : ndarray of bool, shape (n_features_,) or None
        Whether it tells more than chance.
    interactions_ : list of Interaction
        Columns that matter together, or one that matters in a curve: names, share of the target, p-value.
    columns_ : list of ColumnInfo
        What each column is, and what was done with it.
    n_features_ : int
        Number of selected columns.
    task_ : {"classification", "regression", None}
        What ``y`` was taken for; None without a target.
    classes_ : ndarray
        The class labels, for a single column of them.
    network_ : Plan
        After :meth:`partial_fit`: the scaling and network that all blocks go through.
    n_features_in_ : int
        Number of columns seen.
    feature_names_in_ : ndarray of str
        Their names, when all are strings.

    References
    ----------
    Lv, Xia, Liang and Chen, "EasyFS: an Efficient Model-free Feature Selection Framework via Elastic Transformation
    of Features".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from easyfs import EasyFS
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = EasyFS(n_features_to_select=3, random_state=0).fit(X, y)
    >>> selector.transform(X).shape
    (569, 3)
    >>> selector.truncate(1).get_feature_names_out().shape
    (1,)
    """

    task_: str | None
    classes_: Array
    _statistics: Statistics | None
    _additive = True

    def __init__(
        self,
        n_features_to_select: Any = "auto",
        *,
        task: str = "auto",
        compression: str = "sequential",
        n_hidden: int = 256,
        n_enhancement: int | str = "auto",
        connections: int = 3,
        n_rounds: int | str = "auto",
        interactions: bool = True,
        predicted_share: float = 0.5,
        coverage_power: float = 1.0,
        clip: float | None = 4.0,
        eps2: float | str = "auto",
        coverage: float = 0.2,
        lambda1: float = 1.0,
        lambda2: float = 0.5,
        top_share: float = 0.2,
        literal: bool = False,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        random_state: Any = None,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.compression = compression
        self.n_hidden = n_hidden
        self.n_enhancement = n_enhancement
        self.connections = connections
        self.n_rounds = n_rounds
        self.interactions = interactions
        self.predicted_share = predicted_share
        self.coverage_power = coverage_power
        self.clip = clip
        self.eps2 = eps2
        self.coverage = coverage
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.top_share = top_share
        self.literal = literal
        self.include = include
        self.exclude = exclude
        self.groups = groups
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> EasyFS:
        """Select columns.

        Parameters
        ----------
        X : array-like, sparse matrix, dataframe or Arrow table of shape (n, d)
            Numbers; NaN is a missing value and counts as the mean of its column.
        y : array-like of shape (n,) or (n, t), optional
            Class labels, numbers, several targets, or a 0/1 matrix of labels. Without it, the columns that best cover
            the table are selected.
        sample_weight : array-like of shape (n,), optional
            Weight of each row; a weight of 2 is the same as having the row twice.

        Returns
        -------
        EasyFS
            The fitted selector.
        """
        self._forget()
        matrix = self._check_table(X, reset=True)
        target, weight = self._check_rows(matrix, y, sample_weight, self.task)
        matrix, target, weight = drop_weightless(matrix, target, weight)
        constraints = self._constraints()
        check_enough_rows(matrix, weight)
        check_varies(target)
        self._saw(matrix.shape[0], describe_target(target, y))
        with threads_for(*matrix.shape):
            plan, scaled = self._draw(matrix, target, weight, constraints)
            stats = gather(plan, matrix, target.values, weight, target.n_targets, scaled)
            self._remember(target)
            self._result = self._select(stats, constraints)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        network: Plan | None = None,
        scale: tuple[Any, Any] | None = None,
    ) -> EasyFS:
        """Add a block of rows of a table that does not fit into memory, or is still growing.

        The scaling and the network are taken from the **first** block, which should look like the rest: give it a few
        thousand rows in random order. What lies further than ``clip`` of its standard deviations from its mean counts as
        that far in all blocks; where later blocks are much wider, a warning says so. Memory does not grow with the number
        of rows. The selection is computed when one of its attributes is first read. The task is fixed by the first block;
        classes may appear later. A later block without rows, or whose weights are all zero, adds nothing.

        Parameters
        ----------
        X, y, sample_weight
            A block of rows, as in :meth:`fit`.
        network : Plan, optional
            First block only: use this scaling and network, from :meth:`draw_network` or another selector's
            ``network_``, so that the two can be merged.
        scale : tuple of (mean, standard deviation), optional
            First block only: the scale of each column, where it is known; the nodes still come from the block.

        Returns
        -------
        EasyFS
            The selector itself.
        """
        first = getattr(self, "_statistics", None) is None
        if not first and (network is not None or scale is not None):
            raise ValueError("network and scale are for the first block; this selector has seen rows already.")
        if first:
            self._forget()
        if self._adds_nothing(X, sample_weight, first=first):
            return self
        if network is not None:
            self._check_network(network, column_names(X))
        matrix = self._check_table(
            X,
            reset=first,
            min_rows=2 if first and network is None else 1,
            encoder=None if network is None else network.encoder,
            learn=network is None,
            more=True,
        )
        task = self._task_of(network) if first else (self.task_ or "auto")
        target, weight = self._check_rows(matrix, y, sample_weight, task)
        matrix, target, weight = drop_weightless(matrix, target, weight)
        if first:
            constraints = self._constraints()
            if network is None:
                check_enough_rows(matrix, weight)
                with threads_for(*matrix.shape):
                    network = self._draw(matrix, target, weight, constraints, check_scale(scale, matrix.shape[1]))[0]
                network = replace(network, encoder=self._encoder)
            elif len(network.live) != matrix.shape[1]:
                raise ValueError(f"network was drawn for {len(network.live)} columns, but X has {matrix.shape[1]}.")
            self._check_same_target(network, target)
            self.network_ = network
            self._statistics = Statistics(network, max(len(network.classes), target.n_targets))
            self._labels: list[Any] = list(network.classes)
            self._remember(target)
        assert self._statistics is not None
        self._check_same_settings(self.network_)
        self._check_same_target(self.network_, target)
        self._scale_late(matrix)
        codes = self._codes(target)
        self._saw(matrix.shape[0], None)
        with threads_for(*matrix.shape):
            self._statistics.add(matrix, codes, weight)
        self._result = None
        return self

    def draw_network(self, X: Any, y: Any = None, sample_weight: Any = None) -> Plan:
        """Draw the scaling and the network from a sample of rows, to be passed to several ``partial_fit``."""
        drawn = EasyFS(**self.get_params(deep=False))
        return drawn.partial_fit(X, y, sample_weight).network_

    def merge(self, other: EasyFS) -> EasyFS:
        """Add the rows that another selector has seen through ``partial_fit`` under the same network."""
        mine, theirs = getattr(self, "_statistics", None), getattr(other, "_statistics", None)
        if mine is None or theirs is None:
            raise ValueError("merge needs two selectors that have seen rows through partial_fit.")
        codes = np.array([self._code_of(label) for label in other._labels], dtype=np.intp)
        joined = Statistics(theirs.plan, theirs.n_targets)
        joined.merge(theirs)
        if len(codes):
            joined.recode(codes, len(self._labels))
        mine.merge(joined)
        self._saw(other.n_rows_, None, other._seen.missing)
        if hasattr(other, "classes_"):
            self.classes_ = np.union1d(self.classes_, other.classes_)
        self._result = None
        return self

    @property
    def redundancy_(self) -> Array:
        """Share of each column's variance that the selected columns already say, between 0 and 1.

        For a selected column: that the *other* selected ones say. A copy of a selected column has 1.
        """
        result = self._found()
        assert result.coded is not None
        encoder, selected = self._encoder, result.order[: len(result.coded)]
        if encoder is None:
            return explained_by_selected(result.coded, selected)
        return encoder.mean_of(explained_by_selected(result.coded, selected, encoder.source))

    @property
    def relevance_(self) -> Array | None:
        """Share of each column that the target explains by itself, as R squared; None without a target."""
        return self._selected().relevance

    @property
    def p_values_(self) -> Array | None:
        """For each selected column, in order, how likely the best of as many unrelated columns would tell as much.

        Beyond the columns selected before it, or together with others it was found with; None without a target. A value
        of 0.02 and more means: no more than chance.
        """
        return self._selected().p_values

    @property
    def beyond_chance_(self) -> Array | None:
        """For each selected column, in order, whether it tells more of the target than chance; None without a target."""
        p_values = self.p_values_
        return None if p_values is None else p_values < LEVEL

    @property
    def interactions_(self) -> list[Interaction]:
        """Columns that matter together, or in a curve, with the share of the target they explain; found first, first."""
        selected = self._selected()
        names = self._names() or [f"x{j}" for j in range(len(selected.order))]
        return [
            Interaction(tuple(str(names[j]) for j in found.columns), found.share, found.p_value)
            for found in selected.found
            if not found.plain
        ]

    def truncate(self, n_features_to_select: Any) -> EasyFS:
        """The same fit with another number of features, at no cost; see the base class. It takes no further rows."""
        shorter = super().truncate(n_features_to_select)
        assert isinstance(shorter, EasyFS)
        shorter._statistics = None
        return shorter

    def __sklearn_is_fitted__(self) -> bool:
        return getattr(self, "_result", None) is not None or getattr(self, "_statistics", None) is not None

    def _scale_late(self, matrix: Array) -> None:
        """Scale columns that had no value in any block so far by the first one that has some: all before is missing."""
        assert self._statistics is not None
        late = scaled_late(self.network_.scaling, matrix)
        if late is not self.network_.scaling:
            self.network_ = self._statistics.plan = replace(self.network_, scaling=late)

    def _asked(self) -> str:
        """What of the parameters a selection depends on, beside the plan."""
        return repr(sorted((name, value) for name, value in self.get_params(deep=False).items() if name != "random_state"))

    def _check_same_settings(self, plan: Plan) -> None:
        """A plan is made for certain settings; another selector, or this one later, must have the same."""
        mine, made = vars(self._settings()), vars(plan.settings) if plan.settings is not None else None
        other = [] if made is None else [name for name in mine if mine[name] != made[name]]
        if other and made is not None:
            raise ValueError(
                f"the network (the first block) was made with {other[0]}={made[other[0]]!r}, but this selector has "
                f"{other[0]}={mine[other[0]]!r}; begin anew with fit, or set it back."
            )

    def _found(self) -> Selection:
        check_is_fitted(self)
        if getattr(self, "_statistics", None) is not None and getattr(self, "_answered", "") != self._asked():
            self._result = None
        if self._result is None:
            assert self._statistics is not None
            self._check_same_settings(self.network_)
            self._answered = self._asked()
            if hasattr(self, "classes_"):
                check_two_classes(self.classes_)
            elif self.network_.target_kind == "values" and not self._statistics.target_varies():
                raise ValueError(CONSTANT_TARGET)
            with threads_for(self._statistics.n_rows, self.n_features_in_):
                self._warn_of_drift(self._statistics)
                self._result = self._select(self._statistics, self._constraints())
        return self._result

    def _warn_of_drift(self, statistics: Statistics) -> None:
        """Say which columns are much wider than in the rows that set where values are clipped."""
        scaling = statistics.plan.scaling
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
                "later blocks than in the first one, by whose spread values are clipped. Draw the network from rows of all "
                "blocks (draw_network), pass scale, or set clip=None."
            )

    def _forget(self) -> None:
        """Check the parameters and drop what an earlier fit has left."""
        self._settings()
        self._result = None
        self._statistics = None
        for name in ("network_", "classes_", "task_", "_labels", "_answered"):
            if hasattr(self, name):
                delattr(self, name)

    def _check_rows(self, matrix: Array, y: Any, sample_weight: Any, task: str) -> tuple[Target, Array | None]:
        target = check_target(y, matrix.shape[0], task)
        if target.kind is None and self.compression == "ranking":
            raise ValueError(
                "compression='ranking' requires y to be passed, but the target y is None; pass y, or use "
                "compression='sequential', which can select without a target."
            )
        if target.kind is None and self.n_hidden == 0:
            raise ValueError("without a target, columns are selected to cover the hidden nodes; n_hidden=0 leaves none.")
        return target, check_weights(sample_weight, matrix.shape[0])

    def _remember(self, target: Target) -> None:
        self.task_ = target.task
        if target.classes is not None:
            self.classes_ = target.classes

    def _codes(self, target: Target) -> Array | None:
        """Codes of the labels in the order of the network, then of appearance; values as they are."""
        if target.classes is None or target.values is None:
            return target.values
        self.classes_ = np.union1d(self.classes_, target.classes)
        codes = np.array([self._code_of(label) for label in target.classes.tolist()], dtype=np.intp)
        return codes[target.values]

    def _code_of(self, label: Any) -> int:
        if label not in self._labels:
            self._labels.append(label)
        return self._labels.index(label)

    def _check_network(self, network: Any, names: list[Any] | None) -> None:
        if not isinstance(network, Plan):
            raise TypeError(
                f"network is of type {type(network).__name__}; pass what draw_network returns, or a selector's network_."
            )
        self._check_same_settings(network)
        known = None if network.encoder is None else [column.name for column in network.encoder.columns]
        if known is not None and names != known:
            found = "is no table" if names is None else f"has {', '.join(map(repr, names[:5]))}{', ...' * (len(names) > 5)}"
            raise ValueError(
                f"network was drawn for a table with the columns {', '.join(map(repr, known[:5]))}"
                f"{', ...' * (len(known) > 5)}, in this order, but X {found}."
            )

    def _task_of(self, network: Plan | None) -> str:
        """The task of the first block: what a network was drawn for knows better than a few rows do."""
        if network is None or self.task != "auto":
            return self.task
        numbers = network.target_kind == "values" and len(network.target_center) == 1
        return "classification" if network.target_kind == "classes" else "regression" if numbers else "auto"

    def _check_same_target(self, plan: Plan, target: Target) -> None:
        """A block's target must be of the kind that the network was drawn for."""
        if plan.target_kind != target.kind:
            words = {"classes": "class labels", "values": "numbers", None: "no target"}
            found, first = words[target.kind], words[plan.target_kind]
            raise ValueError(f"this block has {found} in y, but the network (the first block) was made for {first}.")
        check_same_labels(plan.classes, target.classes)
        if target.kind == "values" and target.n_targets != len(plan.target_center):
            raise ValueError(
                f"y has {target.n_targets} targets in this block, but {len(plan.target_center)} in the first one."
            )

    def _draw(
        self,
        matrix: Array,
        target: Target,
        weight: Array | None,
        constraints: Constraints,
        scale: tuple[Any, Any] | None = None,
    ) -> Any:
        seed = check_random_state(self.random_state).randint(2**31 - 1, size=4)
        return make_plan(
            matrix,
            target.values,
            weight,
            target_kind=target.kind,
            n_targets=target.n_targets,
            classes=() if target.classes is None else tuple(target.classes.tolist()),
            excluded=constraints.excluded,
            groups=constraints.groups,
            settings=self._settings(),
            rng=np.random.default_rng(seed),
            scale=scale,
        )

    def _settings(self) -> NetworkSettings:
        check_choice("compression", self.compression, COMPRESSIONS)
        check_number("n_hidden", self.n_hidden, 0, whole=True)
        if self.n_enhancement != "auto":
            check_number("n_enhancement", self.n_enhancement, 0, whole=True, or_else=", or 'auto'")
        check_number("connections", self.connections, 1, whole=True)
        if self.n_rounds != "auto":
            check_number("n_rounds", self.n_rounds, 1, whole=True, or_else=", or 'auto'")
        if self.interactions not in (True, False):
            raise ValueError(f"interactions={self.interactions!r}: give True to look for joint effects, or False.")
        check_number("predicted_share", self.predicted_share, 0, 1)
        check_number("coverage_power", self.coverage_power, 0)
        if self.clip is not None:
            check_number("clip", self.clip, 0, above=True, or_else=", or None to clip nothing")
        if self.eps2 != "auto":
            check_number("eps2", self.eps2, 0, above=True, or_else=", or 'auto'")
        check_number("lambda1", self.lambda1, 0)
        check_number("lambda2", self.lambda2, 0)
        check_number("top_share", self.top_share, 0, 1, above=True)
        check_number("coverage", self.coverage, 0, 1)
        return NetworkSettings(
            compression=self.compression,
            n_hidden=self.n_hidden,
            n_enhancement=self.n_enhancement,
            connections=self.connections,
            n_rounds=AUTO_ROUNDS[self.compression] if isinstance(self.n_rounds, str) else self.n_rounds,
            interactions=bool(self.interactions),
            predicted_share=self.predicted_share,
            coverage_power=self.coverage_power,
            clip=np.inf if self.clip is None or self.literal else float(self.clip),
            literal=self.literal,
        )

    def _auto_eps2(self, stats: Statistics) -> float:
        """The noisier the target, for the rows there are, the less a column that repeats another is worthless."""
        fitted = stats.plan.fitted
        noise = 0.0 if fitted is None else min(fitted.penalty / stats.n_counted, MOST_NOISE)
        return AUTO_EPS2[self.compression] + NOISE_SHARE * noise

    def _select(self, stats: Statistics, constraints: Constraints) -> Selection:
        found = self._search(stats, constraints)
        if constraints.count is None and found.p_values is not None and not (found.p_values < LEVEL).any():
            warn_user(
                f"none of the {len(found.order)} columns tells more of the target than chance would; one is selected, "
                "which may say nothing (p_values_). Check the target, or give more rows."
            )
        return found

    def _search(self, stats: Statistics, constraints: Constraints) -> Selection:
        eps2 = self._auto_eps2(stats) if isinstance(self.eps2, str) else self.eps2
        if self.compression == "sequential":
            return select_sequential(stats, constraints, eps2=eps2, coverage=self.coverage)
        return select_ranking(
            stats,
            constraints,
            eps2=eps2,
            lambda1=self.lambda1,
            lambda2=self.lambda2,
            share=self.top_share,
            literal=self.literal,
        )
