"""Stochastic gates (STG)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import ndtr
from sklearn.utils import check_random_state

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.progress import Watch
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
    resolve_device,
    seeded,
    through_layers,
)
from easyfs.common.extras import optional
from easyfs.common.parameters import check_number
from easyfs.common.types import Array


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
    """Train a network whose inputs pass through gates that noise opens and closes, and rank columns by their gates.

    Column ``j`` is multiplied with ``z_j = clip(mu_j + 1/2 + sigma e_j, 0, 1)``, ``e_j`` standard normal. Network and gates
    minimise together the loss plus ``alpha * sum_j Phi((mu_j + 1/2) / sigma)``, which is alpha for each gate that is expected
    to be open. The loss is cross entropy (binary cross entropy with several labels, mean squared error of standardised
    targets), columns are standardised, the gates start half open (``mu = 0``) and the network has rectifiers. Some rows are
    set aside; training stops when the objective on them, with noise that was drawn once, has not become better for
    ``n_iter_no_change`` epochs, and the best state is taken. Columns are ordered by ``mu + 1/2``.

    This method gives a set: with ``n_features_to_select="auto"`` the columns whose gate stands open without noise,
    ``mu + 1/2 > 0`` (at least one). How many these are is for alpha to say: a column has to improve the loss by about alpha to
    stay open. Too large a alpha closes all gates and too small a one none. The default found just the true ones when 5 of
    50 columns of 600 to 1000 rows made a target or two classes; with fewer rows or weaker columns it takes some more.

    It follows the paper where the well-known implementation differs: the penalty is the sum over the columns (there, the
    mean, with which the same alpha closes fewer gates the more columns there are; for that, divide alpha by their number), and
    each row of a batch has noise of its own (there, all rows share one draw, whose gradient is noisier). The gates start
    at 0 exactly, not at small random numbers.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.5
        How many columns to select: a count, a share of the columns, or "auto", the open gates.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` is; "auto" reads it from ``y``.
    include, exclude : list of names or positions, optional
        Columns that are selected in any case; columns that never are. Included columns are trained with like all others.
    groups : sequence of labels, one for each column, optional
        Columns with the same label are selected or left together and count as one.
    alpha : float, default=0.02
        Penalty for an open gate.
    sigma : float, default=0.5
        Standard deviation of the noise of the gates.
    hidden_layer_sizes : tuple of int, default=(64, 32)
        Sizes of the hidden layers.
    learning_rate : float, default=0.01
        Learning rate of Adam, for network and gates.
    max_iter : int, default=1000
        The most epochs to train.
    n_iter_no_change : int, default=100
        Epochs without a better objective after which training stops.
    batch_size : int, default=256
        The most rows in a batch.
    validation_fraction : float, default=0.15
        Share of the rows that are set aside, at most a half. Tables of up to 10 rows are validated on the rows they are
        trained on.
    time_limit : float, optional
        Seconds after which training stops with the best state so far.
    progress : None, True or callable, default=None
        True writes to standard error how far training has come; a callable gets a
        :class:`~easyfs.baselines.progress.Progress` after each epoch, and what it raises ends the fit.
    device : str, default="cpu"
        A device of PyTorch, such as "cuda".
    random_state : int, RandomState instance or None, default=None
        Seed of the weights, the noise, the batches and the rows set aside.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        ``mu + 1/2``: 0 or less is closed, 1 or more is open, both without noise.
    n_iter_ : int
        Epochs trained.
    stop_reason_ : {"converged", "max_iter", "time_limit"}
        Why training stopped.

    References
    ----------
    Yamada, Lindenbaum, Negahban and Kluger, "Feature selection using stochastic gates", ICML 2020.
    """

    several_targets = True
    finds_set = True

    n_iter_: int
    stop_reason_: str

    def __init__(
        self,
        n_features_to_select: Any = 0.5,
        *,
        task: str = "auto",
        include: Any = None,
        exclude: Any = None,
        groups: Any = None,
        alpha: float = 0.02,
        sigma: float = 0.5,
        hidden_layer_sizes: Any = (64, 32),
        learning_rate: float = 0.01,
        max_iter: int = 1000,
        n_iter_no_change: int = 100,
        batch_size: int = 256,
        validation_fraction: float = 0.15,
        time_limit: float | None = None,
        progress: Any = None,
        device: str = "cpu",
        random_state: Any = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, groups=groups)
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
