"""Random selection, the control of every comparison."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_random_state

from easyfs.baselines.base import Problem, Scored, WeightedBaseline


class RandomSelector(WeightedBaseline):
    """Put the columns into a random order.

    What a method is worth is what it gains over this one, which is much harder to beat than it sounds where columns
    repeat each other, as pixels and gene markers do. This method only ranks.

    Parameters
    ----------
    n_features_to_select : int or float, default=0.5
        How many columns to select: a count, or a share of the columns.
    include, exclude : list of names or positions, optional
        Columns that are selected in any case; columns that never are.
    groups : sequence of labels, one for each column, optional
        Columns with the same label are selected or left together and count as one.
    random_state : int, RandomState instance or None, default=None
        Seed of the order.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Random numbers between 0 and 1.
    """

    several_targets = True
    needs_target = False
    keeps_sparse = True

    def __init__(
        self,
        n_features_to_select: Any = 0.5,
        *,
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        random_state: Any = None,
    ):
        super().__init__(n_features_to_select, include=include, exclude=exclude, groups=groups)
        self.random_state = random_state

    def _score(self, problem: Problem) -> Scored:
        return Scored(check_random_state(self.random_state).uniform(size=problem.shape[1]))
