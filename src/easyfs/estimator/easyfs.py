"""EasyFS: columns taken one by one, each for what it adds to those already taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from easyfs.base.result import Screened
from easyfs.common.parameters import check_number
from easyfs.estimator.streaming import StreamingSelector
from easyfs.passes.screening import MEMORY_LIMIT
from easyfs.passes.settings import SequentialChoice, SequentialPlan
from easyfs.tables.target import Target


class EasyFS(StreamingSelector):
    """Select the few columns that say most about the target, and say it only once.

    Columns are chosen one by one, each for what it adds to those already chosen; columns that matter in a curve, or only
    together with others, are searched for and named. Works for classes, numbers, several targets at once and, for coverage
    of the table, without any target. No model is trained.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or "cv", default="auto"
        How many columns to select. A whole number is a count, a float in (0, 1] is a share of the columns (at least one):
        ``1`` is one column, ``1.0`` is all of them. ``"auto"`` stops when no column that is left says more about the target
        than the best of as many random columns would; at least one is selected. ``"cv"`` takes the number of columns whose
        linear model predicts best in five-fold cross-validation, or the smallest within one standard error of it: more
        columns than ``"auto"`` where many weak ones help a model together. Without a target, ``"auto"`` stops when the
        next column would add less than a hundredth of what the selected ones cover.

    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` is. ``"auto"`` reads it from ``y``: text, booleans and whole numbers that are few, or codes of several
        rows each, are classes; other numbers are quantities. Where that is doubtful, a warning says which it was.

    interactions : bool, default=True
        Look for columns that matter in a curve or only together with others, on a sample of the rows.

    n_hidden : int, default=256
        Hidden nodes of the network. Each listens to all columns; together they are a sketch of the whole table, so that the
        columns chosen late, when the target is explained, cover the table rather than its noise.

    predicted_share : float, default=0.5
        Share of the target's weight that goes to the part of it that a linear fit predicts for rows it has not seen, so
        that columns which merely fit the target's noise count less. The share falls as rows beyond those of the fit come
        in. 0 switches this off.

    coverage : float, default=0.2
        Weight of the coverage of the whole table, against the target's: it decides between columns that tell the target
        about as much, and in which order columns come that tell nothing more of it.

    coverage_power : float, default=1.0
        How much more the hidden nodes hear the columns that are related to the target: each column's variance is weighed by
        this power of its relevance. 0 covers all columns alike.

    clip : float or None, default=4.0
        Values further than this many standard deviations from the mean, of a column or of a numeric target, count as this
        far, so that a few extreme rows do not decide alone. The standard deviation is that of the clipped values, as long
        as no more than a hundredth of the rows are clipped. None takes all values as they are.

    eps2 : float or "auto", default="auto"
        Squared precision at which columns are coded. Near 0, a near-copy of a selected column is worthless; the larger it
        is, the more each column counts as if it were alone. ``"auto"`` is 0.2 and more where the target is noisy for so few
        rows: a tenth of the ridge penalty, for each row, that predicts the target best is added, at most 1.

    include : list of int or str, default=None
        Columns, by name or position, that are selected in any case, before all others. They count towards the number
        asked for.

    exclude : list of int or str, default=None
        Columns that are never selected. They are not seen by the network either.

    feature_groups : list of labels or dict, default=None
        A label for each column, or a mapping from columns to labels: those with the same one are selected or left together
        and count as one, such as the indicator columns of one category. A column without a label is one by itself.

    adjust_for : list of int or str, default=None
        Columns, by name or position, whose effect is taken out first and that are never selected: batch, site, age.
        Everything is then about what they leave of the target and of the other columns: order, gains, p-values, ``"auto"``,
        ``"cv"``, joint effects. All values of a category are taken out; a column of numbers as a straight line, so give
        batch numbers as a category (text), or as indicator columns.

    costs : dict or array-like of shape (n_features_in_,), default=None
        What each column costs: a mapping from names or positions to numbers above 0 (1 for those it does not have), or one
        number for each column. Columns come by gain for their cost. A group costs what its columns cost together.

    budget : float, default=None
        What the selected columns may cost in all, included ones among them. A column that no longer fits is left out, and
        cheaper ones that do are taken. It is a limit beside ``n_features_to_select``: with ``"auto"`` columns that tell
        more than chance are taken while they fit; ``1.0`` spends as much of it as it can.

    sources : dict or list of labels, default=None
        Where columns come from: a mapping from the name of a source to its columns, or a label for each column. All sources
        have the same weight in the coverage of the table, whatever the number of their columns. Columns that a mapping
        does not have are one more source.

    max_per_source : int or dict, default=None
        How many columns (groups, where columns are grouped) of each source are selected at most: one number for all, or a
        mapping from sources to numbers.

    memory_limit : float, default=4.0
        Gigabytes that a fit may hold beside the table itself. Columns that are too many to be compared with each other
        within it, some 16,000 by default where rows are many, are screened first: by what each tells of the target on all
        rows, and by a selection on a sample. ``screened_`` says what was given up, and so does a warning.

    device : str, default=None
        Where rows are scaled, expanded and multiplied: None is the processor, ``"cuda"`` a GPU, by torch. A tensor is
        worked on where it is, whatever is said here.

    random_state : int, RandomState instance or None, default=None
        Seed of the network. With a seed, the same table gives the same answer on any number of threads.

    verbose : int or bool, default=0
        How much is printed while it fits: 0 nothing, 1 a line for each step with its seconds, 2 one for each part of a
        table that is read in parts and for each chosen column, too.

    Attributes
    ----------
    order_ : ndarray of shape (n_features_in_,)
        All columns, best first: included ones as given, selected ones as chosen, the rest by what they would add next,
        copies of selected columns, constant columns, excluded columns and those of ``adjust_for``.
    ranking_ : ndarray of shape (n_features_in_,)
        1 + the place of each column in ``order_``.
    scores_ : ndarray of shape (n_features_in_,)
        What each column added when it was chosen, or would have added last; ``-inf`` if excluded or
        adjusted for.
    gains_ : ndarray of shape (n_features_,)
        What each selected column added, in order, as a share of all there is to explain (that ``adjust_for`` leaves).
    redundancy_ : ndarray of shape (n_features_in_,)
        Share of each column that the (other) selected columns already say.
    relevance_ : ndarray of shape (n_features_in_,) or None
        Share of the target that each column explains by itself, in a line.
    adjusted_share_ : float or None
        Share of the target that the columns of ``adjust_for`` explain; None without them, or without a target.
    p_values_ : ndarray of shape (n_features_,) or None
        For each selected column, in order, how likely the best of as many unrelated columns would tell as much beyond the
        columns before it; None without a target.
    beyond_chance_ : ndarray of bool, shape (n_features_,) or None
        Whether it tells more than chance.
    interactions_ : list of Interaction
        Columns that matter together, or one that matters in a curve: names, share of the target, p-value.
    screened_ : Screened or None
        Of a very wide table: how many columns were compared, and the best of the others; None where all were.
    columns_ : list of ColumnInfo
        What each column is, and what was done with it.
    target_ : TargetInfo or None
        What the target holds; None without one, and after blocks of rows.
    n_features_ : int
        Number of selected columns.
    n_rows_ : int
        Number of rows seen.
    task_ : {"classification", "regression", None}
        What ``y`` was taken for; None without a target.
    classes_ : ndarray
        The class labels, for a single column of them.
    plan_ : Plan
        After :meth:`partial_fit`: the scaling and network that all blocks go through.
    cv_results_ : dict of ndarrays
        With ``n_features_to_select="cv"``: for each of ``n_features`` the share of the target explained in the rows that
        were left out (of what ``adjust_for`` leaves of it), ``mean_test_score``,
        ``std_test_score`` and ``split0_test_score`` to ``split4_test_score``.
    cv_selections_ : list of ndarrays
        With ``n_features_to_select="cv"``: the columns in the order in which each fold chose them.
    n_features_in_ : int
        Number of columns seen.
    feature_names_in_ : ndarray of str
        Their names, when all are strings.

    See Also
    --------
    EasyFSRanking : The method as it was published.
    MRMRSelector : Columns one by one by relevance less redundancy, in pairs.
    LassoSelector : The columns of a sparse linear model.

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

    def __init__(
        self,
        n_features_to_select: int | float | str = "auto",
        *,
        task: str = "auto",
        interactions: bool = True,
        n_hidden: int = 256,
        predicted_share: float = 0.5,
        coverage: float = 0.2,
        coverage_power: float = 1.0,
        clip: float | None = 4.0,
        eps2: float | str = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Any] | None = None,
        adjust_for: Sequence[int | str] | None = None,
        costs: Mapping[Any, float] | Sequence[float] | None = None,
        budget: float | None = None,
        sources: Mapping[Any, Any] | Sequence[Any] | None = None,
        max_per_source: int | Mapping[Any, int] | None = None,
        memory_limit: float = MEMORY_LIMIT,
        device: str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.interactions = interactions
        self.n_hidden = n_hidden
        self.predicted_share = predicted_share
        self.coverage = coverage
        self.coverage_power = coverage_power
        self.clip = clip
        self.eps2 = eps2
        self.include = include
        self.exclude = exclude
        self.feature_groups = feature_groups
        self.adjust_for = adjust_for
        self.costs = costs
        self.budget = budget
        self.sources = sources
        self.max_per_source = max_per_source
        self.memory_limit = memory_limit
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    @property
    def adjusted_share_(self) -> float | None:
        """Share of the target that the columns of ``adjust_for`` explain; None without them, or without a target."""
        return self._selected().adjusted_share

    def _plan_settings(self) -> SequentialPlan:
        check_number("n_hidden", self.n_hidden, 0, whole=True)
        if self.interactions not in (True, False):
            raise ValueError(f"interactions={self.interactions!r}: give True to look for joint effects, or False.")
        check_number("predicted_share", self.predicted_share, 0, 1)
        check_number("coverage_power", self.coverage_power, 0)
        if self.clip is not None:
            check_number("clip", self.clip, 0, above=True, or_else=", or None to clip nothing")
        return SequentialPlan(
            n_hidden=self.n_hidden,
            interactions=bool(self.interactions),
            predicted_share=self.predicted_share,
            coverage_power=self.coverage_power,
            clip=np.inf if self.clip is None else float(self.clip),
        )

    @property
    def screened_(self) -> Screened | None:
        """Of a table with too many columns to compare them all: what was given up; None where all were compared."""
        return self._selected().screened

    def _memory_limit(self) -> float:
        check_number("memory_limit", self.memory_limit, 0, above=True)
        return float(self.memory_limit)

    def _choice_settings(self) -> SequentialChoice:
        if self.eps2 != "auto":
            check_number("eps2", self.eps2, 0, above=True, or_else=", or 'auto'")
        check_number("coverage", self.coverage, 0, 1)
        return SequentialChoice(None if isinstance(self.eps2, str) else float(self.eps2), self.coverage)

    def _check_target_is_there(self, target: Target) -> None:
        if target.kind is None and self.n_hidden == 0:
            raise ValueError("without a target, columns are selected to cover the hidden nodes; n_hidden=0 leaves none.")
