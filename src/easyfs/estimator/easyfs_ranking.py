"""The published method: every node of the network is scored once, and hands its score back to the columns it hears."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from easyfs.common.parameters import check_number
from easyfs.estimator.streaming import StreamingSelector
from easyfs.passes.settings import RankingChoice, RankingPlan
from easyfs.tables.target import Target


class EasyFSRanking(StreamingSelector):
    """Rank columns by the published EasyFS: a random network, relevance, coding-rate redundancy, one score a node.

    A random non-linear network expands the columns; every node is scored by its relevance to the target and by what the
    coding rate loses without it; the scores of the best nodes are handed back to the columns they listen to. It needs a
    target. :class:`EasyFS` measures redundancy against what is already selected instead and selects better in nearly all
    comparisons; this class is for those who want the method of the paper.

    Parameters
    ----------
    n_features_to_select : int, float, "auto" or "cv", default="auto"
        How many columns to select. A whole number is a count, a float in (0, 1] is a share of the columns (at least one):
        ``1`` is one column, ``1.0`` is all of them. ``"auto"`` stops when no column that is left says more about the target
        than the best of as many random columns would; at least one is selected. ``"cv"`` takes the number of columns whose
        linear model predicts best in five-fold cross-validation, or the smallest within one standard error of it: more
        columns than ``"auto"`` where many weak ones help a model together.

    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` is. ``"auto"`` reads it from ``y``: text, booleans and whole numbers that are few, or codes of several
        rows each, are classes; other numbers are quantities. Where that is doubtful, a warning says which it was.

    n_hidden : int, default=256
        Hidden nodes of the network; each listens to all columns.

    n_enhancement : int or "auto", default="auto"
        Enhancement nodes of the network; each listens to a few columns. ``"auto"``: one for each column, at most 1000.

    connections : int, default=3
        How many nodes an enhancement node listens to.

    n_rounds : int, default=2
        Rounds that signals run through the network. With two or more, enhancement nodes also listen to one another.

    eps2 : float, default=0.5
        Squared precision at which nodes are coded.

    lambda1 : float, default=1.0
        Weight of redundancy against relevance in the score of a node.

    lambda2 : float, default=0.5
        Weight of the difference in spread, against the difference in mean, between classes.

    top_share : float, default=0.2
        Share of the nodes whose scores are handed back to the columns.

    clip : float or None, default=4.0
        Values further than this many standard deviations from the mean, of a column or of a numeric target, count as this
        far, so that a few extreme rows do not decide alone. None takes all values as they are, and so does ``literal``.

    literal : bool, default=False
        Leave out what the published method does not have: connections of a node scaled to unit norm, standardised nodes,
        and clipped values.

    include : list of int or str, default=None
        Columns, by name or position, that are selected in any case, before all others. They count towards the number
        asked for.

    exclude : list of int or str, default=None
        Columns that are never selected. They are not seen by the network either.

    feature_groups : list of labels or dict, default=None
        A label for each column, or a mapping from columns to labels: those with the same one are selected or left together
        and count as one, such as the indicator columns of one category. A column without a label is one by itself.

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
        copies of selected columns, constant columns, excluded columns.
    ranking_ : ndarray of shape (n_features_in_,)
        1 + the place of each column in ``order_``.
    scores_ : ndarray of shape (n_features_in_,)
        The importance ``H`` of each column; ``-inf`` if excluded.
    gains_ : ndarray of shape (n_features_,)
        What each selected column added, in order, as a share of all there is to explain.
    redundancy_ : ndarray of shape (n_features_in_,)
        Share of each column that the (other) selected columns already say.
    relevance_ : ndarray of shape (n_features_in_,) or None
        Share of the target that each column explains by itself, in a line.
    p_values_ : ndarray of shape (n_features_,) or None
        For each selected column, in order, how likely the best of as many unrelated columns would tell as much beyond the
        columns before it; None without a target.
    beyond_chance_ : ndarray of bool, shape (n_features_,) or None
        Whether it tells more than chance.
    interactions_ : list of Interaction
        Empty: the ranking does not look for columns that matter together.
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
        were left out, ``mean_test_score``, ``std_test_score`` and ``split0_test_score`` to ``split4_test_score``.
    cv_selections_ : list of ndarrays
        With ``n_features_to_select="cv"``: the columns in the order in which each fold chose them.
    n_features_in_ : int
        Number of columns seen.
    feature_names_in_ : ndarray of str
        Their names, when all are strings.

    See Also
    --------
    EasyFS : Redundancy measured against what is already selected; the better choice.
    FisherScoreSelector : Relevance to classes alone, column by column.

    References
    ----------
    Lv, Xia, Liang and Chen, "EasyFS: an Efficient Model-free Feature Selection Framework via Elastic Transformation
    of Features".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from easyfs import EasyFSRanking
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selector = EasyFSRanking(n_features_to_select=3, random_state=0).fit(X, y)
    >>> selector.transform(X).shape
    (569, 3)
    """

    def __init__(
        self,
        n_features_to_select: int | float | str = "auto",
        *,
        task: str = "auto",
        n_hidden: int = 256,
        n_enhancement: int | str = "auto",
        connections: int = 3,
        n_rounds: int = 2,
        eps2: float = 0.5,
        lambda1: float = 1.0,
        lambda2: float = 0.5,
        top_share: float = 0.2,
        clip: float | None = 4.0,
        literal: bool = False,
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Any] | None = None,
        device: str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int | bool = 0,
    ):
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.n_hidden = n_hidden
        self.n_enhancement = n_enhancement
        self.connections = connections
        self.n_rounds = n_rounds
        self.eps2 = eps2
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.top_share = top_share
        self.clip = clip
        self.literal = literal
        self.include = include
        self.exclude = exclude
        self.feature_groups = feature_groups
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _plan_settings(self) -> RankingPlan:
        check_number("n_hidden", self.n_hidden, 0, whole=True)
        if self.n_enhancement != "auto":
            check_number("n_enhancement", self.n_enhancement, 0, whole=True, or_else=", or 'auto'")
        check_number("connections", self.connections, 1, whole=True)
        check_number("n_rounds", self.n_rounds, 1, whole=True)
        if self.clip is not None:
            check_number("clip", self.clip, 0, above=True, or_else=", or None to clip nothing")
        if self.literal not in (True, False):
            raise ValueError(f"literal={self.literal!r}: give True for the method as published, or False.")
        return RankingPlan(
            n_hidden=self.n_hidden,
            n_enhancement=None if isinstance(self.n_enhancement, str) else self.n_enhancement,
            connections=self.connections,
            n_rounds=self.n_rounds,
            clip=np.inf if self.clip is None or self.literal else float(self.clip),
            literal=bool(self.literal),
        )

    def _choice_settings(self) -> RankingChoice:
        check_number("eps2", self.eps2, 0, above=True)
        check_number("lambda1", self.lambda1, 0)
        check_number("lambda2", self.lambda2, 0)
        check_number("top_share", self.top_share, 0, 1, above=True)
        return RankingChoice(self.eps2, self.lambda1, self.lambda2, self.top_share)

    def _check_target_is_there(self, target: Target) -> None:
        if target.kind is None:
            raise ValueError(
                "the ranking requires y to be passed, but the target y is None; pass y, or use EasyFS, which can select "
                "without a target."
            )
