"""Tables that are tensors of torch, on a GPU or not: rows are scaled, expanded and multiplied where they are.

Only the sample of rows and the sums leave the device. Products are taken in the precision of the table, not in TF32 unless
torch is told so, and added up in float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from easyfs.common.types import Array
from easyfs.passes.block import Block
from easyfs.passes.make_plan import Prepared
from easyfs.passes.statistics import Statistics
from easyfs.passes.summarise import summarise
from easyfs.stages.expansion import Network
from easyfs.sums.scaling import Scaling
from easyfs.sums.second_moment import ROWS_PER_COLUMN
from easyfs.tables.target import Target

# Numbers of a block on a device.
BLOCK_NUMBERS = 1 << 27


def is_tensor(X: Any) -> bool:
    """Whether ``X`` is a tensor of torch, or an array of CuPy, without importing either."""
    return type(X).__module__.split(".")[0] in ("torch", "cupy") and hasattr(X, "__dlpack__") and getattr(X, "ndim", 0) == 2


def as_tensor(X: Any) -> Any:
    """A tensor of torch that shares its memory."""
    import torch  # noqa: PLC0415

    tensor = X.detach() if isinstance(X, torch.Tensor) else torch.utils.dlpack.from_dlpack(X)
    if tensor.dtype not in (torch.float32, torch.float64):
        tensor = tensor.to(torch.float64 if tensor.dtype in (torch.int64, torch.int32) else torch.float32)
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
    if type(values).__module__.split(".")[0] == "torch":
        return values.detach().cpu().numpy()
    return values.get() if type(values).__module__.split(".")[0] == "cupy" else values


class TorchKernels:
    """On the device of a tensor."""

    def __init__(self, device: Any):
        import torch  # noqa: PLC0415

        self.torch, self.device = torch, device

    def _dtype(self, scaling: Scaling) -> Any:
        return self.torch.float32 if scaling.dtype == np.float32 else self.torch.float64

    def _tensor(self, values: Array, dtype: Any) -> Any:
        return self.torch.as_tensor(np.ascontiguousarray(values), dtype=dtype, device=self.device)

    def block_rows(self, n_columns: int, scaling: Scaling) -> int:  # noqa: ARG002
        """As many rows as fill the device, and no more than its memory has room for."""
        return max(BLOCK_NUMBERS // max(1, n_columns), 1024)

    def empty(self, n_rows: int, n_columns: int, scaling: Scaling) -> Any:
        """Room for dense rows."""
        return self.torch.empty((n_rows, n_columns), dtype=self._dtype(scaling), device=self.device)

    def zeros(self, *shape: int) -> Any:
        """Room for sums, in float64."""
        return self.torch.zeros(shape, dtype=self.torch.float64, device=self.device)

    def scale(self, X: Any, scaling: Scaling, weight: Array | None, out: Any) -> Any:
        """Scale rows into ``out``; missing values become zero. Give the weight of the observed values of each column."""
        dtype = self._dtype(scaling)
        self.torch.sub(X.to(dtype), self._tensor(scaling.center, dtype), out=out)
        out.mul_(self._tensor(1.0 / scaling.scale, dtype))
        if np.isfinite(scaling.clip):
            reach = self._tensor(scaling.reach, dtype)
            self.torch.clamp(out, -reach, reach, out=out)
        missing = self.torch.isnan(out)
        if not bool(missing.any()):
            total = float(len(X) if weight is None else weight.sum())
            return self.torch.full((X.shape[1],), total, dtype=self.torch.float64, device=self.device)
        out.nan_to_num_(nan=0.0)
        present = (~missing).to(self.torch.float64)
        own = self.torch.ones(len(X), dtype=self.torch.float64, device=self.device)
        return (own if weight is None else self._tensor(weight, self.torch.float64)) @ present

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

    def put(self, values: Array, out: Any) -> None:
        """Write an array of numpy into ``out``."""
        out.copy_(self._tensor(values, out.dtype))

    def add_gram(self, total: Any, A: Any, weight: Array | None) -> None:
        """Add ``A' W A``."""
        if weight is not None:
            A = A * self._tensor(np.sqrt(weight), A.dtype)[:, None]
        total += (A.T @ A).to(total.dtype)

    def host(self, values: Any) -> Array:
        """Sums as an array of numpy."""
        return np.asarray(values.cpu().numpy())


class TorchEngine:
    """A table on a device."""

    def __init__(self, X: Any, target: Target, weight: Array | None):
        self.block = Block(X, target, weight)

    def sample(self, seed: int, size: int) -> Block:
        """A sample of the rows, on the host."""
        import torch  # noqa: PLC0415

        block = self.block
        drawn, population = block.draw(seed, size)
        if drawn is None:
            return Block(to_host(block.X), block.target, block.weight, population=population)
        rows = block.X[torch.as_tensor(drawn.rows, device=block.X.device)]
        return Block(to_host(rows), block.target[drawn.rows], drawn.weight, drawn.chance, population)

    def reduce(self, prepared: Prepared) -> Statistics:
        """The sums over all rows, made on the device where they are many for their columns."""
        block, plan = self.block, prepared.plan
        width = plan.n_inputs + plan.network.n_extra + block.target.n_targets
        if plan.by_class or block.n_rows <= ROWS_PER_COLUMN * width:
            return summarise(plan, Block(to_host(block.X), block.target, block.weight))
        return summarise(plan, block, TorchKernels(block.X.device))
