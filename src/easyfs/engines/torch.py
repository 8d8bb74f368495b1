"""Tables that are tensors of torch, on a GPU or not: rows are measured, scaled, expanded and multiplied where they are.

Only the sums leave the device, and the few rows of the sample that are looked at one by one. Products are taken in the
precision of the table, not in TF32 unless torch is told so, and added up in float64.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from easyfs.common.extras import optional
from easyfs.common.telling import first_line
from easyfs.common.types import Array
from easyfs.passes.block import Block
from easyfs.passes.kernels import NUMPY, Kernels, Measured
from easyfs.passes.make_plan import Prepared
from easyfs.passes.plan import Plan, TargetCoding
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import summarise
from easyfs.stages.expansion import Network
from easyfs.sums.measuring import FLOAT32_SCALES, INFLATED, ROUNDING, SMALLEST_ROOT, of_clipped
from easyfs.sums.rows import HeldElsewhere
from easyfs.sums.scaling import Scaling
from easyfs.sums.second_moment import ROWS_PER_COLUMN

# Numbers of a block on a device; and of a sample that the processor measures as fast as it is brought there.
BLOCK_NUMBERS, FEW_NUMBERS = 1 << 27, 1 << 20


def is_tensor(X: Any) -> bool:
    """Whether ``X`` is a tensor of torch, or an array of CuPy, without importing either."""
    return type(X).__module__.split(".")[0] in ("torch", "cupy") and hasattr(X, "__dlpack__") and getattr(X, "ndim", 0) == 2


def as_tensor(X: Any) -> Any:
    """A tensor of torch that shares its memory."""
    import torch  # noqa: PLC0415

    tensor = X.detach() if isinstance(X, torch.Tensor) else torch.utils.dlpack.from_dlpack(X)
    if tensor.layout != torch.strided:
        raise TypeError("X is a sparse tensor; pass X.to_dense(), or a sparse matrix of scipy.")
    if tensor.is_complex():
        raise TypeError("X is a tensor of complex numbers; give their real and imaginary parts as columns.")
    if tensor.dtype not in (torch.float32, torch.float64):
        wide = [getattr(torch, name, None) for name in ("int64", "int32", "uint64", "uint32")]
        tensor = tensor.to(torch.float64 if tensor.dtype in wide else torch.float32)
    if bool(torch.isinf(tensor).any()):
        columns = torch.isinf(tensor).any(dim=0).nonzero()[:, 0].tolist()
        more = f" and so do {len(columns) - 1} more columns" if len(columns) > 1 else ""
        raise ValueError(
            f"Input X contains infinity: column {columns[0]} has infinite values{more}. Replace them, or make them missing "
            "(NaN)."
        )
    return tensor


def to_host(values: Any) -> Any:
    """Labels, numbers or weights as an array of numpy, if they are a tensor."""
    library = type(values).__module__.split(".")[0]
    if library == "cupy":
        return values.get()
    if library != "torch":
        return values
    import torch  # noqa: PLC0415

    values = values.detach().resolve_conj().resolve_neg()
    values = values.float() if values.dtype == torch.bfloat16 else values  # which numpy does not have
    if not values.is_cuda:
        return values.cpu().numpy()
    # Memory that the device can write to by itself.
    held = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
    return held.copy_(values).numpy()


def stays(rows: Any) -> bool:
    """Whether a sample is measured where it is: not where that is the processor, nor where it is small."""
    return bool(rows.device.type != "cpu" and rows.numel() > FEW_NUMBERS)


def resolve_device(torch: Any, device: Any) -> Any:
    """The device, once it has shown that it can hold numbers and give them back."""
    try:
        found = torch.device(device)
        torch.zeros(1, device=found).cpu()
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        said = first_line(error)
        raise ValueError(f"device={device!r} cannot be used ({said}); use 'cpu', or 'cuda' with a GPU.") from error
    return found


def on_device(X: Any, device: Any) -> Any:
    """A tensor on the device that was asked for; where it is, if none was."""
    return X if device is None else X.to(resolve_device(optional("torch", "torch", f"device={device!r}"), device))


def kernels_on(device: Any) -> Kernels:
    """What does the products on a device; None is the processor, by numpy."""
    return (
        NUMPY if device is None else TorchKernels(resolve_device(optional("torch", "torch", f"device={device!r}"), device))
    )


class TorchKernels:
    """On a device of torch."""

    def __init__(self, device: Any):
        import torch  # noqa: PLC0415

        self.torch, self.device = torch, device
        self._held: dict[int, tuple[Scaling, Any, Any, Any]] = {}

    def _dtype(self, scaling: Scaling) -> Any:
        return self.torch.float32 if scaling.dtype == np.float32 else self.torch.float64

    def _tensor(self, values: Any, dtype: Any) -> Any:
        if isinstance(values, np.ndarray):  # torch wants what it shares to be writable
            values = np.ascontiguousarray(values) if values.flags.writeable else values.copy()
        return self.torch.as_tensor(values, dtype=dtype, device=self.device)

    def _scaling(self, scaling: Scaling) -> tuple[Any, Any, Any]:
        """Centre, inverse of the scale and reach of each column, moved to the device once."""
        if id(scaling) not in self._held:
            dtype = self._dtype(scaling)
            parts = (scaling.center, 1.0 / scaling.scale, scaling.reach)
            self._held[id(scaling)] = (scaling, *(self._tensor(part, dtype) for part in parts))
        return self._held[id(scaling)][1:]

    def measure(self, X: Any, weight: Array | None, clip: float, *, precise: bool = False) -> Measured:
        """As the processor does; columns whose squares do not fit into float64 are left to it, and so are extremes."""
        if isinstance(X, np.ndarray):
            return NUMPY.measure(X, weight, clip, precise=precise)
        center, spread, size, observed = (self.host(part) for part in self._mean_and_spread(X, weight))
        if not np.isfinite(spread).all() or ((size > 0) & (size < SMALLEST_ROOT / ROUNDING)).any():
            return NUMPY.measure(to_host(X), weight, clip, precise=precise)
        constant = spread <= ROUNDING * np.abs(center)
        scale = np.where(constant, np.where(center == 0, 1.0, np.abs(center)), spread)
        fits = X.dtype == self.torch.float32 and ((scale >= FLOAT32_SCALES[0]) & (scale <= FLOAT32_SCALES[1])).all()
        dtype = np.dtype(np.float32 if fits and not precise else np.float64)
        scaling = Scaling(center, scale, constant, dtype, clip, unseen=observed <= 0)
        inputs = self.empty(len(X), X.shape[1], scaling, X)
        self.scale(X, scaling, weight, inputs)
        if np.isfinite(clip):
            squares = self.host(self._weights(len(X), weight, inputs.dtype) @ self.torch.square(inputs))
            inflated = np.flatnonzero((squares < INFLATED**2 * observed) & ~constant)
            if len(inflated):
                values = to_host(X[:, self._tensor(inflated, None)]).T
                scaling = of_clipped(scaling, inflated, values, weight)
                self.scale(X, scaling, weight, inputs)
        return scaling, HeldElsewhere(inputs, to_host, dtype), observed

    def _weights(self, n: int, weight: Array | None, dtype: Any) -> Any:
        """The weight of each row, on the device."""
        return self.torch.ones(n, dtype=dtype, device=self.device) if weight is None else self._tensor(weight, dtype)

    def _mean_and_spread(self, X: Any, weight: Array | None) -> tuple[Any, Any, Any, Any]:
        """Mean, standard deviation, largest size and weight of the observed values of each column, in float64."""
        values = X.to(self.torch.float64)
        there = ~self.torch.isnan(values)
        own = self._weights(len(X), weight, values.dtype)
        observed = own @ there.to(values.dtype)
        total = self.torch.where(observed > 0, observed, 1.0)
        values = values.nan_to_num(nan=0.0)
        size = values.abs().amax(dim=0)
        center = own @ values / total
        values = self.torch.where(there, values - center, 0.0)
        offset = own @ values / total  # what rounding left of the mean: none of it is spread
        variance = own @ self.torch.square(values) / total - offset**2
        return center + offset, self.torch.sqrt(self.torch.clamp(variance, min=0.0)), size, observed

    def block_rows(self, n_columns: int, scaling: Scaling) -> int:  # noqa: ARG002
        """As many rows as fill the device, and no more than its memory has room for."""
        return max(BLOCK_NUMBERS // max(1, n_columns), 1024)

    def empty(self, n_rows: int, n_columns: int, scaling: Scaling, like: Any) -> Any:  # noqa: ARG002
        """Room for dense rows."""
        return self.torch.empty((n_rows, n_columns), dtype=self._dtype(scaling), device=self.device)

    def zeros(self, *shape: int) -> Any:
        """Room for sums, in float64."""
        return self.torch.zeros(shape, dtype=self.torch.float64, device=self.device)

    def scale(self, X: Any, scaling: Scaling, weight: Array | None, out: Any) -> Any:
        """Scale rows into ``out``; missing values become zero. Give the weight of the observed values of each column."""
        dtype, (center, inverse, reach) = self._dtype(scaling), self._scaling(scaling)
        self.torch.sub(self._tensor(X, dtype), center, out=out)
        out.mul_(inverse)
        missing = self.torch.isnan(out)
        if np.isfinite(scaling.clip):
            self.torch.clamp(out, -reach, reach, out=out)
        out.nan_to_num_(nan=0.0)
        if weight is None:
            return (len(X) - missing.sum(dim=0)).to(self.torch.float64)
        own = self._tensor(weight, self.torch.float64)
        if not bool(missing.any()):
            return own.sum().expand(out.shape[1])
        return own @ (~missing).to(self.torch.float64)

    def expand(self, inputs: Any, network: Network, out: Any) -> None:
        """Compute the nodes of scaled rows into ``out``."""
        if not out.shape[1]:
            return
        dtype, n_hidden = inputs.dtype, network.n_hidden
        hidden = self.torch.relu(inputs @ self._tensor(network.hidden.T, dtype))
        out[:, :n_hidden] = hidden
        if out.shape[1] == n_hidden:
            return
        weights = self._tensor(network.enhancement.toarray().T, dtype)
        from_inputs, from_extra = weights[: network.n_inputs], weights[network.n_inputs :]
        state = inputs @ from_inputs
        signal = self.torch.relu(state)
        grown = signal.clone()
        speaking = self.torch.cat([hidden, signal], dim=1)
        for _ in range(1, network.n_rounds):
            state = state - signal + speaking @ from_extra
            signal = self.torch.relu(state)
            grown += signal
            speaking = self.torch.cat([self.torch.zeros_like(hidden), signal], dim=1)
        out[:, n_hidden:] = grown

    def hold(self, values: Array | None) -> Any:
        """Class codes or target values of all rows, on the device."""
        return None if values is None else self._tensor(values, None)

    def targets(self, coding: TargetCoding, values: Any, out: Any) -> None:
        """Write the targets of some rows into ``out``, as columns."""
        if coding.kind == "classes":
            out.copy_(values[:, None] == self.torch.arange(out.shape[1], device=self.device))
            return
        center, scale, reach = (self._tensor(part, values.dtype) for part in (coding.center, coding.scale, coding.reach))
        out.copy_(self.torch.clamp((values - center) / scale, -reach, reach))

    def take(self, A: Any, rows: Array) -> Any:
        """Some rows, by place."""
        return A[self._tensor(rows, None)]

    def add_gram(self, total: Any, A: Any, weight: Array | None) -> None:
        """Add ``A' W A``."""
        if weight is not None:
            A = A * self._tensor(np.sqrt(weight), A.dtype)[:, None]
        total += (A.T @ A).to(total.dtype)

    def host(self, values: Any) -> Array:
        """Sums as an array of numpy."""
        return np.asarray(values.cpu().numpy())


class TorchEngine:
    """A table on a device, or one that is to be summed up there.

    Parameters
    ----------
    block : Block
        The table: a tensor of torch, or an array of numpy.
    kernels : TorchKernels
        What sums it up there.
    """

    def __init__(self, block: Block, kernels: Kernels):
        self.block, self.kernels = block, kernels
        self._begun: Future[Statistics] | None = None

    def sample(self, seed: int, size: int) -> Block:
        """A sample of the rows: where the table is, unless they are few."""
        block = self.block
        if isinstance(block.X, np.ndarray):
            return block.sample(seed, size)
        import torch  # noqa: PLC0415

        drawn, population = block.draw(seed, size)
        if drawn is None:
            return Block(to_host(block.X), block.target, block.weight, population=population)
        rows = block.X[torch.as_tensor(drawn.rows, device=block.X.device)]
        return Block(
            rows if stays(rows) else to_host(rows), block.target[drawn.rows], drawn.weight, drawn.chance, population
        )

    def begin(self, plan: Plan) -> None:
        """Sum the rows up, while the processor learns from the sample."""
        if not self._by_processor(plan):
            with_one = ThreadPoolExecutor(1)
            self._begun = with_one.submit(summarise, plan.light(), self.block, self.kernels)
            with_one.shutdown(wait=False)

    def reduce(self, prepared: Prepared) -> Statistics:
        """The sums over all rows, made on the device where they are many for their columns."""
        if self._begun is not None:
            return self._begun.result()
        if self._by_processor(prepared.plan):
            return summarise(prepared.plan, replace(self.block, X=to_host(self.block.X)))
        return summarise(prepared.plan, self.block, self.kernels)

    def _by_processor(self, plan: Plan) -> bool:
        """Whether rows are kept: they are few for their columns, those of each class where classes are kept apart."""
        width, n_targets = plan.n_inputs + plan.network.n_extra, self.block.target.n_targets
        most = width * max(1, n_targets) if plan.by_class else width + n_targets
        return self.block.n_rows <= ROWS_PER_COLUMN * most
