"""Tables for the benchmarks: columns of many distributions, noise beside them, and true columns in random places."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.signal import lfilter
from scipy.special import ndtr, ndtri
from scipy.stats import poisson

Array = np.ndarray
Random = np.random.Generator


def generator(seed: int, name: str) -> Random:
    """The source of chance of one table: another one for each seed and each problem."""
    return np.random.default_rng((seed, zlib.crc32(name.encode())))


def correlated(rng: Random, n: int, d: int, structure: str = "independent", rho: float = 0.0, block: int = 5) -> Array:
    """Standard normal columns: "independent", in a "block" that share a cause, or "AR": each like the one before it."""
    Z = rng.standard_normal((n, d))
    if structure == "block":
        shared = rng.standard_normal((n, -(-d // block)))
        Z = np.sqrt(rho) * np.repeat(shared, block, axis=1)[:, :d] + np.sqrt(1.0 - rho) * Z
    elif structure == "AR":
        fresh = np.sqrt(1.0 - rho**2)
        Z[:, 0] /= fresh
        Z = lfilter([fresh], [1.0, -rho], Z, axis=1)
    return np.asarray(Z)


def student(freedom: int) -> Callable[[Random, Array], Array]:
    """Heavy tails: Student's t with so many degrees of freedom."""
    return lambda rng, Z: Z / np.sqrt(rng.chisquare(freedom, Z.shape) / freedom)


def copies(least: float, most: float) -> Callable[[Random, Array], Array]:
    """Gene markers: 0, 1 or 2 copies of the rarer letter, whose frequency is between these."""

    def shape(rng: Random, Z: Array) -> Array:
        p, u = rng.uniform(least, most, Z.shape[1]), ndtr(Z)
        return (u > (1.0 - p) ** 2).astype(float) + (u > 1.0 - p**2)

    return shape


def ones(share: float) -> Callable[[Random, Array], Array]:
    """Columns of 0 and 1 with this share of ones."""
    return lambda rng, Z: (ndtri(1.0 - share) < Z).astype(float)  # noqa: ARG005


def with_gaps(rng: Random, Z: Array) -> Array:
    """A fifth of the values missing."""
    return np.where(rng.random(Z.shape) < 0.2, np.nan, Z)


# What standard normal columns are made into; correlated ones stay so.
SHAPES: dict[str, Callable[[Random, Array], Array]] = {
    "normal": lambda rng, Z: Z,  # noqa: ARG005
    "uniform": lambda rng, Z: ndtr(Z),  # noqa: ARG005
    "t3": student(3),
    "t2": student(2),
    "Cauchy": student(1),
    "lognormal": lambda rng, Z: np.exp(Z),  # noqa: ARG005
    "counts": lambda rng, Z: np.searchsorted(poisson.cdf(np.arange(40), 2.0), ndtr(Z)).astype(float),  # noqa: ARG005
    "binary": ones(0.2),
    "halves": ones(0.5),
    "rare ones": ones(0.005),
    "markers": copies(0.2, 0.5),
    "rare markers": copies(0.01, 0.01),
    "missing values": with_gaps,
}


def columns(rng: Random, n: int, d: int, shape: str = "normal", structure: str = "independent", rho: float = 0.0) -> Array:
    """Columns of one distribution."""
    return SHAPES[shape](rng, correlated(rng, n, d, structure, rho))


def zipf(rng: Random, n: int, levels: int) -> Array:
    """Codes of levels of which the second is half as frequent as the first, the third a third, and so on."""
    share = 1.0 / np.arange(1, levels + 1)
    return rng.choice(levels, n, p=share / share.sum())


def category_frame(codes: Sequence[Array]) -> pd.DataFrame:
    """A table of category columns with text for levels."""
    named = {f"x{j}": pd.Categorical([f"level {code}" for code in column]) for j, column in enumerate(codes)}
    return pd.DataFrame(named)


def in_classes(signal: Array, number: int = 2) -> Array:
    """Classes of the same size, from low to high."""
    return np.digitize(signal, np.quantile(signal, np.arange(1, number) / number))


@dataclass(frozen=True)
class Table:
    """A table with a target.

    Attributes
    ----------
    X : ndarray, sparse matrix or dataframe
        The columns.
    y : ndarray
        The target.
    sets : tuple of tuples of positions
        The true columns: one of each set is to be found. The columns of a set say the same.
    task : str
        What the target is.
    weight : ndarray, optional
        Weight of each row.
    span : bool
        Whether any columns that span the same space as the true ones will do.
    told : str
        What kind of table it is, for tables that are drawn at random.
    """

    X: Any
    y: Array
    sets: tuple[tuple[int, ...], ...] = ()
    task: str = "regression"
    weight: Array | None = None
    span: bool = False
    told: str = ""

    @property
    def k(self) -> int:
        """Number of columns to be found."""
        return len(self.sets)

    def placed(self, rng: Random) -> Table:
        """The same with its columns in random places, so that no method finds the true ones by where they stand."""
        order = rng.permutation(self.X.shape[1])
        place = np.argsort(order)
        if isinstance(self.X, pd.DataFrame):
            X = self.X.iloc[:, order].set_axis([f"x{j}" for j in range(len(order))], axis=1)
        else:
            X = self.X[:, order]
        return replace(self, X=X, sets=tuple(tuple(int(place[j]) for j in one) for one in self.sets))

    def recall(self, chosen: Array) -> float:
        """Share of the sets of which a column was chosen; for spans, of the dimensions of the true ones' space."""
        if not self.span:
            return float(np.mean([bool(np.isin(one, chosen).any()) for one in self.sets]))
        true = self.X[:, [one[0] for one in self.sets]]
        rank = np.linalg.matrix_rank
        return float(rank(true) + rank(self.X[:, chosen]) - rank(np.hstack([true, self.X[:, chosen]]))) / self.k

    def is_true(self, column: int) -> bool:
        """Whether a column is one of those to be found."""
        return self.recall(np.array([column])) > 0.0


def mixed(rng: Random, n: int, d: int) -> tuple[Any, str]:
    """A table of columns of several distributions, perhaps with categories among them; and what is in it."""
    parts = rng.choice([*SHAPES, "categories"], int(rng.integers(2, 6)), replace=False)
    ends = np.sort(rng.choice(np.arange(1, d), len(parts) - 1, replace=False))
    sizes = np.diff(np.concatenate([[0], ends, [d]]))
    structure = str(rng.choice(["independent", "block", "AR"]))
    X = [
        columns(rng, n, int(size), part, structure, 0.7) for part, size in zip(parts, sizes, strict=True) if part in SHAPES
    ]
    told = f"{n} x {d}, {structure}, {', '.join(f'{size} {part}' for part, size in zip(parts, sizes, strict=True))}"
    frame = pd.DataFrame(np.hstack(X))
    if "categories" in parts:
        count = int(sizes[list(parts).index("categories")])
        codes = category_frame([zipf(rng, n, int(rng.integers(2, 40))) for _ in range(count)])
        frame = pd.concat([frame, codes], axis=1)
        return frame.set_axis([f"x{j}" for j in range(d)], axis=1), told
    return frame.to_numpy(), told


def words(rng: Random, n: int, d: int) -> sparse.csr_array:
    """A bag of words: counts of words of which the second is half as frequent as the first, and so on."""
    return sparse.csr_array(rng.poisson(4.0 / np.arange(1, d + 1), (n, d)).astype(float))
