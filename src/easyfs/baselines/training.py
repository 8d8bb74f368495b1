"""What the selectors that train a network share: data, losses, parameters, optimisers, early stopping, progress.

PyTorch is an extra: nothing here imports it until a selector is fitted. Neither the global seed of PyTorch is touched nor,
beyond the fit, its number of threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from easyfs.baselines.base import Problem
from easyfs.baselines.progress import check_watch
from easyfs.common.parameters import check_number
from easyfs.common.types import Array

# Tensors and modules of PyTorch, which may not be installed.
Tensor = Any

# With this many rows or fewer, there are too few to set some aside.
FEW_ROWS = 10

_threads_lock = threading.Lock()
_threads_state = {"users": 0, "before": 1}


def check_training(selector: Any) -> None:
    """Check the parameters that the selectors which train a network share."""
    check_sizes(selector.hidden_layer_sizes)
    check_number("learning_rate", selector.learning_rate, 0.0, above=True)
    check_number("batch_size", selector.batch_size, 1, whole=True)
    check_number("validation_fraction", selector.validation_fraction, 0.0, 0.5, above=True)
    check_watch(selector.progress, selector.time_limit)


def check_sizes(hidden_layer_sizes: Any) -> None:
    """The sizes of hidden layers: at least one layer of at least one unit."""
    try:
        sizes = list(hidden_layer_sizes)
    except TypeError:
        sizes = []
    if not sizes or isinstance(hidden_layer_sizes, str):
        raise ValueError(
            f"hidden_layer_sizes={hidden_layer_sizes!r}: give the sizes of the hidden layers, such as (100,) or (64, 32)."
        )
    for i, size in enumerate(sizes):
        check_number(f"hidden_layer_sizes[{i}]", size, 1, whole=True)


@contextmanager
def one_thread(torch: Any) -> Iterator[None]:
    """Let PyTorch use one thread: small networks gain nothing from more, and the answer must not depend on them.

    Fits that run at the same time in several threads share this; each gives its own thread the number back that was set
    before the first of them began.
    """
    with _threads_lock:
        if not _threads_state["users"]:
            _threads_state["before"] = torch.get_num_threads()
        _threads_state["users"] += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _threads_lock:
            _threads_state["users"] -= 1
            torch.set_num_threads(_threads_state["before"])


def standardized_rows(problem: Problem) -> Array:
    """Columns of mean 0 and standard deviation 1 as float32, the same from any memory layout and precision of the table.

    What differs between layouts is a rounding of mean and scale; standardising once more takes it out.
    """
    Z = np.ascontiguousarray(problem.standardized())
    Z -= Z.mean(axis=0)
    Z /= np.sqrt(np.square(Z).mean(axis=0) / problem.observed)
    return Z.astype(np.float32)


def numeric_target(problem: Problem) -> Array:
    """The target as a network has it: class codes, labels of 0 and 1, or numbers of mean 0 and standard deviation 1."""
    if problem.is_classes:
        return problem.y.astype(np.int64)
    if problem.target.task == "classification":
        return problem.y.astype(np.float32)
    y = problem.y.astype(np.float64)
    largest = np.abs(y).max(axis=0)
    y /= np.where(largest > 0, largest, 1.0)
    y -= y.mean(axis=0)
    spread = y.std(axis=0)
    varies = (problem.y != problem.y[:1]).any(axis=0) & (spread > 0)
    return np.where(varies, y / np.where(varies, spread, 1.0), 0.0).astype(np.float32)


def split_rows(n: int, codes: Array | None, share: float, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Rows to train on and rows to validate on, both in the order of the table.

    With classes, each gives about the same share, and one that has a single row keeps it for training. Where there are too
    few rows to set any aside, all of them serve for both.
    """
    rows = rng.permutation(n)
    if codes is not None:
        rows = rows[np.argsort(codes[rows], kind="stable")]
        rows = rows[np.bincount(codes)[codes[rows]] > 1]
    count = round(share * len(rows))
    if n <= FEW_ROWS or count < 1:
        return np.arange(n), np.arange(n)
    aside = np.zeros(n, dtype=bool)
    aside[rows[((np.arange(count) + 0.5) * len(rows) / count).astype(np.intp)]] = True
    return np.flatnonzero(~aside), np.flatnonzero(aside)


@dataclass(frozen=True)
class Data:
    """Rows to train and to validate on, as tensors, and the loss.

    Attributes
    ----------
    X, y, X_validation, y_validation : tensor
        Standardised columns, and what :func:`numeric_target` gives.
    n_outputs : int
        Outputs that the network needs: a class or a target each.
    row_losses : callable
        ``row_losses(output, y)`` gives the loss of each row: cross entropy, or the mean over the targets of binary cross
        entropies or squared errors.
    curvature : float
        The most that the loss of a row curves with the outputs.
    """

    X: Tensor
    y: Tensor
    X_validation: Tensor
    y_validation: Tensor
    n_outputs: int
    row_losses: Callable[[Tensor, Tensor], Tensor]
    curvature: float

    def loss(self, output: Tensor, y: Tensor) -> Tensor:
        """Mean loss of some rows."""
        return self.row_losses(output, y).mean()


def load_data(torch: Any, problem: Problem, share: float, rng: np.random.RandomState, device: Any) -> Data:
    """Split the rows and bring them to the device."""
    functional = torch.nn.functional
    y = numeric_target(problem)
    train, validation = split_rows(len(y), y if problem.is_classes else None, share, rng)
    X = standardized_rows(problem)

    def tensor(values: Array) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(values)).to(device)

    def cross_entropy(output: Tensor, y: Tensor) -> Tensor:
        return functional.cross_entropy(output, y, reduction="none")

    def binary_cross_entropy(output: Tensor, y: Tensor) -> Tensor:
        return functional.binary_cross_entropy_with_logits(output, y, reduction="none").mean(1)

    def squared_error(output: Tensor, y: Tensor) -> Tensor:
        return (output - y).square().mean(1)

    n_outputs = problem.target.n_targets
    if problem.is_classes:
        row_losses, curvature = cross_entropy, 0.5
    elif problem.target.task == "classification":
        row_losses, curvature = binary_cross_entropy, 0.25 / n_outputs
    else:
        row_losses, curvature = squared_error, 2.0 / n_outputs
    parts = [tensor(values) for values in (X[train], y[train], X[validation], y[validation])]
    return Data(parts[0], parts[1], parts[2], parts[3], n_outputs, row_losses, curvature)


def seeded(torch: Any, rng: np.random.RandomState) -> Any:
    """A generator of random numbers with a seed of its own; it lives on the CPU, so that every device gets the same."""
    return torch.Generator().manual_seed(int(rng.randint(2**31 - 1)))


class Parameters:
    """Tensors that are trained, kept one after another in one vector so that an update is a few operations.

    Parameters
    ----------
    tensors : sequence of tensors
        Where they start; they are copied.
    """

    def __init__(self, torch: Any, tensors: Sequence[Tensor]):
        self.flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
        self.gradient = torch.zeros_like(self.flat)
        self.tensors: list[Tensor] = []
        start = 0
        for tensor in tensors:
            end = start + tensor.numel()
            view = self.flat[start:end].view(tensor.shape).detach().requires_grad_()
            view.grad = self.gradient[start:end].view(tensor.shape)
            self.tensors.append(view)
            start = end

    def backward(self, loss: Tensor) -> Tensor:
        """The gradient of a loss, as one vector."""
        self.gradient.zero_()
        loss.backward()
        return self.gradient


class Adam:
    """The optimiser of Kingma and Ba (2015), with its usual constants, for a vector of weights."""

    def __init__(self, torch: Any, weights: Tensor, learning_rate: float):
        self.weights, self.learning_rate, self.n_updates = weights, learning_rate, 0
        self.first, self.second = torch.zeros_like(weights), torch.zeros_like(weights)

    def update(self, gradient: Tensor) -> None:
        """One step against the gradient."""
        self.n_updates += 1
        self.first.lerp_(gradient, 0.1)
        self.second.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
        size = (self.second / (1.0 - 0.999**self.n_updates)).sqrt_().add_(1e-8)
        self.weights.addcdiv_(self.first, size, value=-self.learning_rate / (1.0 - 0.9**self.n_updates))


def new_layers(torch: Any, sizes: Sequence[int], generator: Any, device: Any) -> list[Tensor]:
    """Weights and offsets of linear layers, ``[W_1, b_1, W_2, b_2, ...]``, drawn uniformly within 1 / sqrt(inputs)."""
    tensors = []
    for inputs, outputs in pairwise(sizes):
        for shape in ((outputs, inputs), (outputs,)):
            drawn = (2.0 * torch.rand(shape, generator=generator) - 1.0) / np.sqrt(inputs)
            tensors.append(drawn.to(device))
    return tensors


def through_layers(
    torch: Any, x: Tensor, layers: Sequence[Tensor], drop: Callable[[Tensor], Tensor] | None = None
) -> Tensor:
    """Output of linear layers with rectifiers between them; ``drop`` is applied to the hidden units."""
    functional = torch.nn.functional
    for i in range(0, len(layers), 2):
        x = functional.linear(x, layers[i], layers[i + 1])
        if i + 2 < len(layers):
            x = functional.relu(x)
            x = x if drop is None else drop(x)
    return x


def dropout(torch: Any, share: float, generator: Any) -> Callable[[Tensor], Tensor] | None:
    """Set a random share of the hidden units to zero and scale up the others; None where the share is zero."""
    if share == 0.0:
        return None

    def drop(x: Tensor) -> Tensor:
        kept = torch.rand(x.shape, generator=generator) >= share
        return x * kept.to(x.device) / (1.0 - share)

    return drop


def batches(torch: Any, X: Tensor, y: Tensor, size: int, generator: Any) -> Iterator[tuple[Tensor, Tensor]]:
    """All rows in random order, in batches of the same size (up to one row) of at most ``size``."""
    n = len(X)
    if n <= size:
        yield X, y
        return
    order = torch.randperm(n, generator=generator).to(X.device)
    for rows in torch.tensor_split(order, -(-n // size)):
        yield X[rows], y[rows]


class EarlyStopping:
    """Keeps the best weights, and says when they have not become better for a while.

    Parameters
    ----------
    parameters : Parameters
        The weights.
    n_iter_no_change : int
        Epochs without a better loss after which to stop.
    """

    def __init__(self, parameters: Parameters, n_iter_no_change: int):
        self.parameters, self.n_iter_no_change = parameters, n_iter_no_change
        self.best_loss, self.best, self.waited = np.inf, parameters.flat.clone(), 0

    def is_over(self, loss: float) -> bool:
        """Take note of the loss of an epoch."""
        if loss < self.best_loss:
            self.best_loss, self.waited = loss, 0
            self.best.copy_(self.parameters.flat)
        else:
            self.waited += 1
        return self.waited >= self.n_iter_no_change

    def restore(self) -> None:
        """Go back to the best weights."""
        self.parameters.flat.copy_(self.best)
