"""LassoNet."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from easyfs.baselines.base import Baseline, Problem, Scored
from easyfs.baselines.penalty_path import Path, hier_prox
from easyfs.baselines.progress import Progress, Watch
from easyfs.baselines.training import (
    Adam,
    Data,
    EarlyStopping,
    Parameters,
    Tensor,
    batches,
    check_training,
    dropout,
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

# The weights of the inputs start this much smaller than those of other layers, so that what training makes of them shows.
INPUT_SCALE = 0.1
# "auto" starts the path at this share of the penalty that keeps the median column out of an empty network.
START_SHARE = 0.5
# The objective is better if it falls by this share.
IMPROVEMENT = 1e-3
# Steps of the power iteration for a table seen first, and for one that has lost some columns.
POWER_STEPS, FEW_POWER_STEPS = 30, 10
SMALLEST_SPREAD = 1e-6
# Rows that the gradient of all rows is added up over at a time.
GRADIENT_ROWS = 4096
# How often the step is halved before training is given up as divergent.
HALVINGS = 20


class LassoNetSelector(Baseline):
    """Select the columns that a network keeps longest as a penalty on its inputs grows (LassoNet).

    A network is trained with a penalty that removes one column after another as it grows, and the columns that stay
    longest are selected. It sees curves and columns that matter together, avoids overlap, and can choose the number of
    columns. It needs some hundreds of rows or more and is among the slowest methods here. Needs PyTorch: ``pip install
    'easyfs-ml[torch]'``.

    Parameters
    ----------
    n_features_to_select : int, float or "auto", default=0.5
        How many columns to select: a count such as 20, a share of the columns such as 0.1, or "auto": the smallest
        network that predicts about as well as the best.
    task : {"auto", "classification", "regression"}, default="auto"
        What ``y`` holds; "auto" reads it from ``y``.
    include : list of int or str, default=None
        Columns that are always selected, by name or position. They count towards ``n_features_to_select``.
    exclude : list of int or str, default=None
        Columns that are never selected, by name or position.
    feature_groups : list of labels or dict, default=None
        One label for each column, or a mapping from columns to labels. Columns with the same label are selected or left
        out together and count as one.
    hidden_layer_sizes : tuple of int, default=(100,)
        Number of units in each hidden layer.
    M : float, default=10.0
        How large the weights of a column into the hidden layer may be compared with its weight in the linear part; 0
        leaves a linear model.
    alpha_min : float or "auto", default="auto"
        First and smallest penalty; "auto" finds one at which about all columns are still in.
    path_multiplier : float, default=1.05
        Ratio of each penalty to the one before it.
    l2_regularization : float, default=0.0
        Penalty on the sum of squares of all weights.
    dropout : float, default=0.0
        Share of the hidden units that are left out at random in training.
    learning_rate : float, default=0.001
        Learning rate of Adam, for the weights above the inputs.
    max_iter : tuple of (int, int), default=(200, 30)
        Largest number of epochs of the first network, which has no penalty, and of steps, each with all rows, for each
        penalty.
    n_iter_no_change : tuple of (int, int), default=(20, 3)
        Number of epochs without a better validation loss after which training stops, for the first network and for each
        penalty. With a penalty, what counts is loss plus penalty, better by a thousandth.
    batch_size : int, default=256
        Largest number of rows in a batch, for the first network.
    validation_fraction : float, default=0.15
        Share of the rows, at most a half, that are not trained on but say when to stop. Tables of up to 10 rows are
        validated on the rows they are trained on.
    time_limit : float, default=None
        Seconds after which the path ends. Columns that are still in are then ordered by the size of their weights in
        the linear part.
    progress : bool or callable, default=None
        True writes to standard error how far training has come; a function is called with a
        :class:`~easyfs.baselines.progress.Progress` after each penalty (step 0: after each epoch of the first network),
        and what it raises ends the fit.
    device : str, default="cpu"
        Device of PyTorch to train on, such as "cuda".
    random_state : int, RandomState instance or None, default=None
        Seed of the weights, the batches and the validation rows. Give a number to get the same answer each time.

    Attributes
    ----------
    order_ : ndarray of int, shape (n_features_in_,)
        Positions of all columns, best first: included, selected, all others, constant and excluded columns.
    ranking_ : ndarray of int, shape (n_features_in_,)
        Place of each column in ``order_``, counted from 1.
    scores_ : ndarray of shape (n_features_in_,)
        Penalty at which each column is out for good; columns that leave at the same step get up to one step less.
        Excluded columns have ``-inf``.
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
    alphas_ : ndarray of shape (n_alphas,)
        Penalties of the path.
    path_n_features_ : ndarray of int, shape (n_alphas,)
        Number of columns that are in at the end of each penalty.
    validation_losses_ : ndarray of shape (n_alphas,)
        Loss on the validation rows at the end of each penalty.
    n_iter_ : int
        Passes over the training rows, of all networks together.
    stop_reason_ : {"path_end", "time_limit"}
        Why training stopped.

    See Also
    --------
    LassoSelector : The same idea for a linear model, and much faster.
    STGSelector : Another network that selects columns, trained once.
    EasyFS : Needs no network and is much faster.

    Notes
    -----
    The network is ``X theta + MLP(X)``. The skip weights ``theta_j`` of a column (one for each output) carry a group
    lasso penalty ``alpha |theta_j|_2``, and bound its weights into the first hidden layer: ``|W_j|_inf <= M
    |theta_j|_2``. So a column without a linear part has no part at all. After a network without penalty, alpha grows by
    ``path_multiplier`` at a time, each network starting from the one before, and each gradient step is followed by the
    proximal operator (:func:`~easyfs.baselines.penalty_path.hier_prox`), until no column is left. Columns that leave at
    the same step are ordered by the norm of their skip weights just before. The loss is cross entropy (binary cross
    entropy with several labels, mean squared error of standardised targets); columns are standardised. Included columns
    are trained with like all others.

    ``n_features_to_select="auto"`` takes the columns of the sparsest network on the path whose validation loss is
    within one standard error of the lowest (and columns that leave later, if a column has come back).

    Where this differs from the well-known implementation:

     - The proximal operator belongs to gradient descent with a fixed step. So the weights of the inputs are trained
       without momentum, and the step is the inverse of a bound on the curvature (of the loss, times the largest
       eigenvalue of the second moments of the columns, times one plus the squared norms of the upper layers), which is
       stable for thousands of columns as for ten. All other weights are trained by Adam. There, one learning rate with
       momentum serves all, and the proximal step leaves the momentum out, so that its penalty is about ten times that
       of the objective above. - On the path a step takes all rows: the noise of batches would keep columns in. The last
       weights are kept, not those of the best epoch. - ``alpha_min="auto"`` is half the median over the columns of
       ``|g_j|_2 + M |G_j|_1``, with the gradients of ``theta_j`` and ``W_j`` in the network without any column: the
       penalty below which a column would enter it. - A column that is out may come back where that number, with the
       gradients of the present network, exceeds alpha. This is looked at once for each penalty, and only columns that
       are in or may come back are trained with, so that a step becomes cheaper as columns leave.

    References
    ----------
    .. [1] Lemhadri, Ruan, Abraham and Tibshirani, "LassoNet: a neural network with feature sparsity", JMLR 22, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from easyfs import LassoNetSelector
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> y = 3 * X[:, 1] - 2 * X[:, 4]
    >>> selector = LassoNetSelector(2, max_iter=(20, 5), path_multiplier=1.5, random_state=0).fit(X, y)
    >>> selector.get_support(indices=True).tolist()
    [1, 4]
    """

    several_targets = True
    finds_set = True

    alphas_: Array
    path_n_features_: Array
    validation_losses_: Array
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
        hidden_layer_sizes: Sequence[int] = (100,),
        M: float = 10.0,
        alpha_min: float | Literal["auto"] = "auto",
        path_multiplier: float = 1.05,
        l2_regularization: float = 0.0,
        dropout: float = 0.0,
        learning_rate: float = 0.001,
        max_iter: tuple[int, int] = (200, 30),
        n_iter_no_change: tuple[int, int] = (20, 3),
        batch_size: int = 256,
        validation_fraction: float = 0.15,
        time_limit: float | None = None,
        progress: bool | Callable[[Progress], object] | None = None,
        device: str = "cpu",
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(n_features_to_select, task=task, include=include, exclude=exclude, feature_groups=feature_groups)
        self.hidden_layer_sizes = hidden_layer_sizes
        self.M = M
        self.alpha_min = alpha_min
        self.path_multiplier = path_multiplier
        self.l2_regularization = l2_regularization
        self.dropout = dropout
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
        check_number("M", self.M, 0.0)
        if isinstance(self.alpha_min, str) and self.alpha_min != "auto":
            raise ValueError(f"alpha_min={self.alpha_min!r} is not known; give a number above 0, or 'auto'.")
        if not isinstance(self.alpha_min, str):
            check_number("alpha_min", self.alpha_min, 0.0, above=True)
        check_number("path_multiplier", self.path_multiplier, 1.0, above=True)
        check_number("l2_regularization", self.l2_regularization, 0.0)
        check_number("dropout", self.dropout, 0.0, 0.95)
        _check_pair("max_iter", self.max_iter)
        _check_pair("n_iter_no_change", self.n_iter_no_change)
        check_training(self)

    def _score(self, problem: Problem) -> Scored:
        torch = optional("torch", "torch", type(self).__name__)
        device = resolve_device(torch, self.device)
        rng = check_random_state(self.random_state)
        with Watch(type(self).__name__, self.progress, self.time_limit) as watch, one_thread(torch):
            data = load_data(torch, problem, self.validation_fraction, rng, device)
            training = _Training(self, torch, data, seeded(torch, rng), watch)
            training.fit_dense()
            start = training.first_penalty() if isinstance(self.alpha_min, str) else float(self.alpha_min)
            path = training.follow_path(start)
        self.alphas_, self.path_n_features_, self.validation_losses_ = path.alphas, path.n_features, path.losses
        self.n_iter_ = training.n_iter
        self.stop_reason_ = "path_end" if len(path.n_features) and path.n_features[-1] == 0 else "time_limit"
        best = path.best()
        count = problem.shape[1] if best is None else int(np.count_nonzero(path.last_in >= best))
        return Scored(path.scores(start, self.path_multiplier), count=max(1, count))


def _check_pair(name: str, values: Any) -> None:
    """Two whole numbers of at least one."""
    try:
        first, second = values
    except (TypeError, ValueError):
        raise ValueError(
            f"{name}={values!r}: give two whole numbers, for the first network and for each penalty, such as (200, 30)."
        ) from None
    check_number(f"{name}[0]", first, 1, whole=True)
    check_number(f"{name}[1]", second, 1, whole=True)


def _n_inputs(parameters: Parameters) -> int:
    """Number of weights of the inputs, which come first."""
    return sum(int(tensor.numel()) for tensor in parameters.tensors[:2])


class _Training:
    """A network under way: first without a penalty, then along the path."""

    def __init__(self, settings: LassoNetSelector, torch: Any, data: Data, generator: Any, watch: Watch):
        self.settings, self.torch, self.data, self.generator, self.watch = settings, torch, data, generator, watch
        d, outputs, device = data.X.shape[1], data.n_outputs, data.X.device
        layers = new_layers(torch, (d, *settings.hidden_layer_sizes, outputs), generator, device)
        skip = new_layers(torch, (d, outputs), generator, device)[0]
        # Skip weights, weights into the first hidden layer, and all others.
        self.weights = [INPUT_SCALE * skip, INPUT_SCALE * layers[0], *layers[1:]]
        self.drop = dropout(torch, settings.dropout, generator)
        self.direction = torch.rand(d, generator=generator).to(device) + 0.5
        self.spread = 0.0
        self.slowness = 1.0
        self.n_iter = 0

    def output(self, X: Tensor, weights: list[Tensor], *, training: bool = False) -> Tensor:
        """The network."""
        linear = self.torch.nn.functional.linear(X, weights[0])
        return linear + through_layers(self.torch, X, weights[1:], self.drop if training else None)

    def validate(self, X: Tensor, weights: list[Tensor]) -> tuple[float, float]:
        """Mean loss on the rows set aside, and its standard error."""
        with self.torch.no_grad():
            losses = self.data.row_losses(self.output(X, weights), self.data.y_validation).double()
            return float(losses.mean()), float(losses.std(correction=0)) / np.sqrt(len(losses))

    def measure_spread(self, X: Tensor, columns: Tensor, n_steps: int) -> None:
        """Largest eigenvalue of the second moments of some columns; not less than what a batch with the largest row has."""
        direction = self.direction[columns]
        for _ in range(n_steps):
            direction = self.torch.nn.functional.normalize(X.t() @ (X @ direction), dim=0)
        self.direction[columns] = direction
        largest_row = float(X.square().sum(1).max()) / min(len(X), self.settings.batch_size)
        # All rows that a column is not zero in may have been set aside.
        self.spread = max(float((X @ direction).square().mean()), largest_row, SMALLEST_SPREAD)

    def step_size(self, weights: list[Tensor]) -> float:
        """Inverse of a bound on the curvature of the loss with the weights of the inputs."""
        above = 1.0
        for matrix in weights[3::2]:
            above *= float(self.torch.linalg.matrix_norm(matrix.detach(), 2)) ** 2
        bound = self.data.curvature * self.spread * (1.0 + above) + 2.0 * self.settings.l2_regularization
        return self.slowness / bound

    def descend(self, parameters: Parameters, adam: Adam, step: float) -> None:
        """One step of gradient descent for the weights of the inputs, and one of Adam for the others."""
        shrinkage, gradient, n_inputs = self.settings.l2_regularization, parameters.gradient, _n_inputs(parameters)
        if shrinkage:
            gradient.add_(parameters.flat, alpha=2.0 * shrinkage)
        parameters.flat[:n_inputs].add_(gradient[:n_inputs], alpha=-step)
        adam.update(gradient[n_inputs:])

    def gather_gradient(self, parameters: Parameters, X: Tensor, *, training: bool) -> None:
        """The gradient of the loss of all rows."""
        parameters.gradient.zero_()
        for start in range(0, len(X), GRADIENT_ROWS):
            rows = slice(start, start + GRADIENT_ROWS)
            losses = self.data.row_losses(self.output(X[rows], parameters.tensors, training=training), self.data.y[rows])
            (losses.sum() / len(X)).backward()

    def fit_dense(self) -> None:
        """Train without a penalty, and take the best weights."""
        X, d = self.data.X, self.data.X.shape[1]
        self.measure_spread(X, self.torch.arange(d, device=X.device), POWER_STEPS)
        parameters = Parameters(self.torch, self.weights)
        adam = self.new_adam(parameters)
        stopping = EarlyStopping(parameters, self.settings.n_iter_no_change[0])
        for _ in range(self.settings.max_iter[0]):
            self.n_iter += 1
            step = self.step_size(parameters.tensors)
            for rows, y in batches(self.torch, X, self.data.y, self.settings.batch_size, self.generator):
                parameters.backward(self.data.loss(self.output(rows, parameters.tensors, training=True), y))
                self.descend(parameters, adam, step)
            loss, _ = self.validate(self.data.X_validation, parameters.tensors)
            self.watch.report(0, None, loss, d)
            if stopping.is_over(loss) or not np.isfinite(loss) or self.watch.is_over():
                break
        stopping.restore()
        self.weights = [tensor.detach() for tensor in parameters.tensors]

    def new_adam(self, parameters: Parameters) -> Adam:
        """Adam for the weights above the inputs."""
        return Adam(self.torch, parameters.flat[_n_inputs(parameters) :], self.slowness * self.settings.learning_rate)

    def entry_penalties(self, weights: list[Tensor]) -> Tensor:
        """The penalty below which each column that is out would come in."""
        parameters = Parameters(self.torch, weights)
        self.gather_gradient(parameters, self.data.X, training=False)
        skip, hidden = (tensor.grad for tensor in parameters.tensors[:2])
        return skip.norm(dim=0) + self.settings.M * hidden.abs().sum(0)

    def first_penalty(self) -> float:
        """Where the path starts."""
        skip, hidden, *others = self.weights
        entry = self.entry_penalties([self.torch.zeros_like(skip), self.torch.zeros_like(hidden), *others])
        middle, largest = float(entry.median()), float(entry.max())
        # Where there is no gradient any penalty will do.
        return START_SHARE * (middle or largest or 1.0)

    def follow_path(self, start: float) -> Path:
        """Raise the penalty until no column is left."""
        norms = self.weights[0].norm(dim=0).double().cpu().numpy()
        last_in = np.full(len(norms), -1)
        steps: list[tuple[float, int, float, float]] = []
        n_in = len(norms)
        while n_in and not self.watch.is_over():
            penalty = start * self.settings.path_multiplier ** len(steps)
            loss, error = self.take_step(penalty)
            present = self.weights[0].norm(dim=0).double().cpu().numpy()
            inside = present > 0.0
            norms[inside], last_in[inside] = present[inside], len(steps)
            n_in = int(np.count_nonzero(inside))
            steps.append((penalty, n_in, loss, error))
            self.watch.report(len(steps), None, loss, n_in)
        alphas, n_features, losses, errors = np.array(steps, dtype=np.float64).reshape(-1, 4).T
        return Path(alphas, n_features.astype(np.intp), losses, errors, last_in, norms)

    def take_step(self, penalty: float) -> tuple[float, float]:
        """Train with one penalty; the loss on the rows set aside and its standard error."""
        inside = self.weights[0].norm(dim=0) > 0.0
        X, X_validation = self.data.X, self.data.X_validation
        columns = self.torch.arange(len(inside), device=X.device)
        if not bool(inside.all()):
            columns = (inside | (self.entry_penalties(self.weights) > penalty)).nonzero()[:, 0]
            X, X_validation = X[:, columns], X_validation[:, columns]
            if len(columns):
                self.measure_spread(X, columns, FEW_POWER_STEPS)
        for _ in range(HALVINGS):
            parameters, (loss, error) = self.train_columns(X, X_validation, columns, penalty)
            if np.isfinite(loss):
                break
            self.slowness /= 2.0
        else:
            raise ValueError(
                f"learning_rate={self.settings.learning_rate!r}: the loss does not stay finite; give a smaller one."
            )
        skip, hidden, *others = (tensor.detach() for tensor in parameters.tensors)
        whole = [self.torch.zeros_like(tensor) for tensor in self.weights[:2]]
        whole[0][:, columns], whole[1][:, columns] = skip, hidden
        self.weights = [*whole, *others]
        return loss, error

    def shrink(self, parameters: Parameters, penalty: float) -> None:
        """Apply the proximal operator."""
        skip, hidden = (tensor.detach() for tensor in parameters.tensors[:2])
        new_skip, new_hidden = hier_prox(skip, hidden, penalty, 0.0, self.settings.M)
        skip.copy_(new_skip)
        hidden.copy_(new_hidden)

    def train_columns(
        self, X: Tensor, X_validation: Tensor, columns: Tensor, penalty: float
    ) -> tuple[Parameters, tuple[float, float]]:
        """Train with one penalty and the columns that may be in."""
        skip, hidden, *others = self.weights
        parameters = Parameters(self.torch, [skip[:, columns], hidden[:, columns], *others])
        adam, step = self.new_adam(parameters), self.step_size(parameters.tensors)
        best, waited = np.inf, 0
        result = np.inf, 0.0
        for _ in range(self.settings.max_iter[1]):
            self.n_iter += 1
            self.gather_gradient(parameters, X, training=True)
            self.descend(parameters, adam, step)
            self.shrink(parameters, step * penalty)
            result = self.validate(X_validation, parameters.tensors)
            objective = result[0] + penalty * float(parameters.tensors[0].detach().norm(dim=0).sum())
            improved = objective < best * (1.0 - IMPROVEMENT)
            best, waited = (objective, 0) if improved else (best, waited + 1)
            if waited >= self.settings.n_iter_no_change[1] or not np.isfinite(objective) or self.watch.is_over():
                break
        return parameters, result
