"""Stochastic gates (STG)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr
from sklearn.utils import check_random_state

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.progress import Progress, Watch
from easyfs.baselines.training import (
    Adam,
    Data,
    EarlyStopping,
    Parameters,
    Tensor,
    batches,
    check_training,
    load_data,
    new_layers,
    one_thread,
    seeded,
    through_layers,
)
from easyfs.common.extras import optional
from easyfs.common.parameters import check_number
from easyfs.common.types import Array
from easyfs.engines.torch import resolve_device


def gates(mu: Any, noise: Any = 0.0) -> Any:
    """How far gates are open: ``clip(mu + 1/2 + noise, 0, 1)``.

    Parameters
    ----------
    mu : ndarray or tensor of shape (d,)
        Where the gates stand.
    noise : float, ndarray or tensor, default=0
        Noise that is added in training: standard normal numbers times sigma.

    Returns
    -------
    ndarray or tensor
    """
    return (mu + 0.5 + noise).clip(0.0, 1.0)


def open_probability(mu: Any, sigma: float, normal: Callable[[Any], Any] = ndtr) -> Any:
    """Probability that the noise leaves a gate open: ``Phi((mu + 1/2) / sigma)``.

    Parameters
    ----------
    mu : ndarray or tensor of shape (d,)
        Where the gates stand.
    sigma : float
        Standard deviation of the noise.
    normal : callable, default=scipy.special.ndtr
        The standard normal distribution function; for tensors, ``torch.special.ndtr``.

    Returns
    -------
    ndarray or tensor
    """
    return normal((mu + 0.5) / sigma)


def open_density(mu: Array, sigma: float) -> Array:
    """Derivative of :func:`open_probability` with respect to ``mu``: ``phi((mu + 1/2) / sigma) / sigma``."""
    density: Array = np.exp(-0.5 * ((mu + 0.5) / sigma) ** 2) / (np.sqrt(2.0 * np.pi) * sigma)
    return density


class STGSelector(Baseline):
    """Select the columns whose gates stay open while a network is trained (stochastic gates).

    Each column passes through a gate into a network; gates and network are trained together, and an open gate costs a
    penalty. It sees curves and columns that matter together, avoids overlap, and can choose the number of columns,
    which depends on ``alpha``. It needs some hundreds of rows or more and a suitable ``alpha``. Needs PyTorch: ``pip
    install 'easyfs-ml[torch]'``.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.5
        How many columns to select: a count such as 20, a share of the columns such as 0.1, or "auto": those with an
        open gate.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.
    alpha : float, default=0.02
        Penalty for an open gate. A column has to improve the loss by about this much to stay open: too large a penalty
        closes all gates, too small a penalty closes none.
    sigma : float, default=0.5
        Standard deviation of the noise of the gates.
    hidden_layer_sizes : tuple of int, default=(64, 32)
        Number of units in each hidden layer.
    learning_rate : float, default=0.01
        Learning rate of Adam, for network and gates.
    max_iter : int, default=1000
        Largest number of epochs.
    n_iter_no_change : int, default=100
        Number of epochs without a better validation loss (with the penalty) after which training stops.
    batch_size : int, default=256
        Largest number of rows in a batch.
    validation_fraction : float, default=0.15
        Share of the rows, at most a half, that are not trained on but say when to stop. Tables of up to 10 rows are
        validated on the rows they are trained on.
    time_limit : float, default=None
        Seconds after which training stops with the best state so far.
    progress : bool or callable, default=None
        True writes to standard error how far training has come; a function is called with a
        :class:`~easyfs.baselines.progress.Progress` after each epoch, and what it raises ends the fit.
    device : str, default="cpu"
        Device of PyTorch to train on, such as "cuda".
    random_state : int, RandomState instance or None, default=None
        Seed of the weights, the noise, the batches and the validation rows. Give a number to get the same answer each
        time.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        How far the gate of each column is open: 0 or less is closed, 1 or more is fully open. Excluded columns have
        ``-inf``.
    gains_ : ndarray of shape (n_features_,)
        Scores of the selected columns, in the order of ``order_``.
    n_features_ : int
        Number of selected columns.
    columns_ : list of ColumnInfo
        What each column holds (numbers, categories, dates, ...), how it was used, and how many of its values are
        missing.
    target_ : TargetInfo
        What the target holds.
    n_rows_ : int
        Number of rows in the fit.
    task_ : {"classification", "regression"}
        What ``y`` was taken for.
    classes_ : ndarray of shape (n_classes,)
        Labels of the classes; only where ``y`` is one column of classes.
    n_features_in_ : int
        Number of columns of ``X``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of ``X``; only where all of them are strings.
    n_iter_ : int
        Number of epochs.
    stop_reason_ : {"converged", "max_iter", "time_limit"}
        Why training stopped.

    See Also
    --------
    LassoNetSelector : Another network that selects columns, with a path of penalties.
    LassoSelector : A penalty on the columns of a linear model, and much faster.
    EasyFS : Needs no network and no penalty, and is much faster.

    Notes
    -----
    Column ``j`` is multiplied with ``z_j = clip(mu_j + 1/2 + sigma e_j, 0, 1)``, ``e_j`` standard normal. Network and
    gates minimise together the loss plus ``alpha * sum_j Phi((mu_j + 1/2) / sigma)``, which is alpha for each gate that
    is expected to be open. The loss is cross entropy (binary cross entropy with several labels, mean squared error of
    standardised targets), columns are standardised, the gates start half open (``mu = 0``) and the network has
    rectifiers. Some rows are set aside; training stops when the objective on them, with noise that was drawn once, has
    not become better for ``n_iter_no_change`` epochs, and the best state is taken. Columns are ordered by ``mu + 1/2``.
    Included columns are trained with like all others.

    ``n_features_to_select="auto"`` takes the columns whose gate stands open without noise, ``mu + 1/2 > 0`` (at least
    one). The default alpha found just the true ones when 5 of 50 columns of 600 to 1000 rows made a target or two
    classes; with fewer rows or weaker columns it takes some more.

    It follows the paper where the well-known implementation differs: the penalty is the sum over the columns (there,
    the mean, with which the same alpha closes fewer gates the more columns there are; for that, divide alpha by their
    number), and each row of a batch has noise of its own (there, all rows share one draw, whose gradient is noisier).
    The gates start at 0 exactly, not at small random numbers.

    References
    ----------
    .. [1] Yamada, Lindenbaum, Negahban and Kluger, "Feature selection using stochastic gates", ICML 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from easyfs import STGSelector
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = 3 * X[:, 1] - 2 * X[:, 4]
    >>> selector = STGSelector(2, max_iter=60, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True).tolist()
    [1, 4]
    """

    several_targets = True
    finds_set = True

    n_iter_: int
    stop_reason_: str

    def __init__(
        self,
        n_features_to_select: int | float | str = 0.5,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        include: Sequence[int | str] | None = None,
        exclude: Sequence[int | str] | None = None,
        feature_groups: Sequence[Hashable] | None = None,
        alpha: float = 0.02,
        sigma: float = 0.5,
        hidden_layer_sizes: Sequence[int] = (64, 32),
        learning_rate: float = 0.01,
        max_iter: int = 1000,
        n_iter_no_change: int = 100,
        batch_size: int = 256,
        validation_fraction: float = 0.15,
        time_limit: float | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
        device: str = "cpu",
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.alpha = alpha
        self.sigma = sigma
        self.hidden_layer_sizes = hidden_layer_sizes
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.n_iter_no_change = n_iter_no_change
        self.batch_size = batch_size
        self.validation_fraction = validation_fraction
        self.time_limit = time_limit
        self.progress = progress
        self.device = device
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("alpha", self.alpha, 0.0)
        check_number("sigma", self.sigma, 0.0, above=True)
        check_number("max_iter", self.max_iter, 1, whole=True)
        check_number("n_iter_no_change", self.n_iter_no_change, 1, whole=True)
        check_training(self)

    def _score(self, problem: Problem) -> Scored:
        torch = optional("torch", "torch", type(self).__name__)
        device = resolve_device(torch, self.device)
        rng = check_random_state(self.random_state)
        with Watch(type(self).__name__, self.progress, self.time_limit) as watch, one_thread(torch):
            data = load_data(torch, problem, self.validation_fraction, rng, device)
            mu = self._train(torch, data, seeded(torch, rng), watch)
        scores = mu + 0.5
        return Scored(scores, count=max(1, int(np.count_nonzero(scores > 0.0))))

    def _train(self, torch: Any, data: Data, generator: Any, watch: Watch) -> Array:
        """Train gates and network together; where the gates stand in the end."""
        device, d = data.X.device, data.X.shape[1]
        layers = new_layers(torch, (d, *self.hidden_layer_sizes, data.n_outputs), generator, device)
        parameters = Parameters(torch, [torch.zeros(d, device=device), *layers])
        mu, *layers = parameters.tensors

        def draw(rows: Tensor) -> Tensor:
            return self.sigma * torch.randn(rows.shape, generator=generator).to(device)

        def loss(rows: Tensor, y: Tensor, noise: Tensor) -> Tensor:
            return data.loss(through_layers(torch, rows * gates(mu, noise), layers), y)

        def penalty() -> Tensor:
            return self.alpha * open_probability(mu, self.sigma, torch.special.ndtr).sum()

        noise = draw(data.X_validation)
        optimiser, stopping = (
            Adam(torch, parameters.flat, self.learning_rate),
            EarlyStopping(parameters, self.n_iter_no_change),
        )
        for epoch in range(1, self.max_iter + 1):
            for rows, y in batches(torch, data.X, data.y, self.batch_size, generator):
                optimiser.update(parameters.backward(loss(rows, y, draw(rows)) + penalty()))
            with torch.no_grad():
                validation = float(loss(data.X_validation, data.y_validation, noise))
                converged = stopping.is_over(validation + float(penalty()))
                n_open = int((mu > -0.5).sum())
            self.n_iter_, self.stop_reason_ = epoch, "converged" if converged else "max_iter"
            watch.report(epoch, self.max_iter, validation, n_open)
            if converged:
                break
            if watch.is_over() and epoch < self.max_iter:
                self.stop_reason_ = "time_limit"
                break
        stopping.restore()
        found: Array = mu.detach().cpu().numpy().astype(np.float64)
        return found
