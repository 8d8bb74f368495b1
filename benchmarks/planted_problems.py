"""Problems whose true columns are known: the list, and a generator of random linear ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from problems import Array, Random, Table, category_frame, columns, generator, in_classes

Draw = Callable[[Random], Table]
Sets = Sequence[Sequence[int]]
CLASSES = "classification"


def planted(
    n: int,
    d: int,
    k: int,
    make: Callable[[Array, Array], Array],
    *,
    shape: str = "normal",
    change: Callable[[Random, Array], object] = lambda rng, X: None,  # noqa: ARG005
    sets: Sets | None = None,
    span: bool = False,
) -> Draw:
    """A target made of the first ``k`` columns and standard normal noise, after ``change`` has written into the columns.

    Whole numbers are classes.
    """

    def draw(rng: Random) -> Table:
        X = columns(rng, n, d, shape)
        change(rng, X)
        y = make(X[:, :k].T, rng.standard_normal(n))
        task = CLASSES if np.issubdtype(y.dtype, np.integer) else "regression"
        return Table(X, y, tuple(map(tuple, sets or [[j] for j in range(k)])), task, span=span)

    return draw


def linear(
    n: int,
    d: int,
    effects: Sequence[float] | Array,
    *,
    noise: float = 1.0,
    share: float | None = None,
    link: Callable[[Array], Array] = lambda y: y,
    shape: str = "normal",
    change: Callable[[Random, Array], object] = lambda rng, X: None,  # noqa: ARG005
    sets: Sets | None = None,
    span: bool = False,
) -> Draw:
    """Effects of the first columns and noise; where ``share`` is given, so much that the effects carry this share."""
    slopes = np.asarray(effects, dtype=float)

    def make(x: Array, e: Array) -> Array:
        signal = slopes @ x
        size = noise if share is None else signal.std() * np.sqrt(1.0 / share - 1.0)
        return link(signal + size * e)

    return planted(n, d, len(slopes), make, shape=shape, change=change, sets=sets, span=span)


def alternating(k: int, least: float = 1.0, most: float = 1.0) -> Array:
    """Effects of growing size and changing sign."""
    return np.linspace(least, most, k) * (-1.0) ** np.arange(k)


def positive(y: Array) -> Array:
    """Two classes by the sign."""
    return (y > 0).astype(int)


def near(of: int, places: slice, spread: float) -> Callable[[Random, Array], None]:
    """Columns that are another one with noise."""

    def change(rng: Random, X: Array) -> None:
        X[:, places] = X[:, [of]] + spread * rng.standard_normal(X[:, places].shape)

    return change


def exact_copies(rng: Random, X: Array) -> None:  # noqa: ARG001
    """Three copies of the first column and two of the second."""
    X[:, 3:6], X[:, 6:8] = X[:, [0]], X[:, [1]]


def fahrenheit(rng: Random, X: Array) -> None:  # noqa: ARG001
    """The first column once more in other units, rounded."""
    X[:, 2] = np.round(1.8 * X[:, 0] + 32.0, 1)


def suppress(rng: Random, X: Array) -> None:  # noqa: ARG001
    """The first column holds the second, which the target does not."""
    X[:, 0] += X[:, 1]


def chain(rng: Random, X: Array) -> None:  # noqa: ARG001
    """The first column leads to the third, that one to the second."""
    X[:, 2] = 0.8 * X[:, 0] + 0.6 * X[:, 2]
    X[:, 1] = 0.8 * X[:, 2] + 0.6 * X[:, 1]


def alike(rho: float) -> Callable[[Random, Array], None]:
    """The first ten columns are correlated."""

    def change(rng: Random, X: Array) -> None:
        X[:, :10] = np.sqrt(rho) * rng.standard_normal((len(X), 1)) + np.sqrt(1.0 - rho) * X[:, :10]

    return change


def combine(rng: Random, X: Array) -> None:  # noqa: ARG001
    """Two columns are a sum and a difference of others."""
    X[:, 8], X[:, 9] = X[:, 0] + X[:, 1], X[:, 2] - X[:, 3]


def hidden_cause(rng: Random) -> Table:
    """The target is h + b/2 + e/2, where five columns are h with noise of the same size, and h is not in the table."""
    X, h, e = rng.standard_normal((1000, 50)), rng.standard_normal(1000), rng.standard_normal(1000)
    X[:, 1:6] += h[:, None]
    return Table(X, h + 0.5 * X[:, 0] + 0.5 * e, tuple((j,) for j in range(6)))


def rare_product(positives: int) -> Draw:
    """Positives among 50,000 rows, all of them where the product of two columns is above a half."""

    def draw(rng: Random) -> Table:
        X = rng.standard_normal((50_000, 20))
        y = np.zeros(len(X), dtype=int)
        y[rng.choice(np.flatnonzero(X[:, 0] * X[:, 1] > 0.5), positives, replace=False)] = 1
        return Table(X, y, ((0,), (1,)), CLASSES)

    return draw


def category_xor(rng: Random) -> Table:
    """Ten category columns of three levels; the class is the sum of two codes, modulo 3: neither says anything alone."""
    codes = rng.integers(0, 3, (1000, 10))
    return Table(category_frame(list(codes.T)), (codes[:, 0] + codes[:, 1]) % 3, ((0,), (1,)), CLASSES)


def flipped(y: Array, e: Array) -> Array:
    """Classes 0 and 1, a tenth of them turned."""
    return np.where(e > 1.2816, 1 - y, y).astype(int)


def largest(count: int) -> Callable[[Array], Array]:
    """The rows with the largest values are the positives."""
    return lambda y: (np.argsort(np.argsort(-y)) < count).astype(int)


WEAK = (2.0, 0.3)
PROBLEMS: dict[str, Draw] = {
    "weak after strong: 2a + 0.3b + e": linear(2000, 32, WEAK),
    "weak after strong, classes": linear(2000, 32, WEAK, link=positive),
    "weak after strong, 10,000 rows": linear(10_000, 32, WEAK),
    "weak after strong, classes, 10,000 rows": linear(10_000, 32, WEAK, link=positive),
    "three scales: 3a + b + 0.3c + e": linear(3000, 200, (3.0, 1.0, 0.3)),
    "three near-copies of a: 2a + b + e": linear(
        1000, 32, (2.0, 1.0), change=near(0, slice(2, 5), 0.01), sets=((0, 2, 3, 4), (1,))
    ),
    "five near-copies of a: 2a + b + c/2 + e": linear(
        1000, 32, (2.0, 1.0, 0.5), change=near(0, slice(3, 8), 0.01), sets=((0, *range(3, 8)), (1,), (2,))
    ),
    "exact copies of a and b: 2a + b + c/2 + e": linear(
        1000, 32, (2.0, 1.0, 0.5), change=exact_copies, sets=((0, 3, 4, 5), (1, 6, 7), (2,))
    ),
    "ten proxies of a: 2a + b + e": linear(1000, 32, (2.0, 1.0), change=near(0, slice(2, 12), 1.0)),
    "five proxies of a hidden cause": hidden_cause,
    "Celsius and Fahrenheit: a + 0.2b + e": linear(1000, 32, (1.0, 0.2), change=fahrenheit, sets=((0, 2), (1,))),
    "level and difference": linear(1000, 32, (9.0, -8.0), noise=0.5, change=near(0, slice(1, 2), 0.08)),
    "suppressor": linear(1000, 50, (1.0, -1.0), noise=0.5, change=suppress),
    "chain: a -> m -> b, y = a + b + e": linear(1000, 50, (1.0, 1.0), change=chain),
    "five of ten with rho 0.5": linear(2000, 50, np.ones(5), share=0.8, change=alike(0.5)),
    "five of ten with rho 0.9": linear(2000, 50, np.ones(5), share=0.8, change=alike(0.9)),
    "twenty weak among 500": linear(2000, 500, alternating(20), share=0.6),
    "five of 1000 in 500 rows, no noise": linear(500, 1000, alternating(5, 0.5, 1.5), noise=0.0),
    "five of 1000 in 500 rows, R2 0.8": linear(500, 1000, alternating(5, 0.5, 1.5), share=0.8),
    "classes from ten of 1000 in 500 rows": linear(500, 1000, alternating(10), noise=0.0, link=in_classes),
    "sum and difference of true columns": linear(1000, 10, np.linspace(1.0, 2.0, 6), change=combine, span=True),
    "20 positives of 1000": linear(1000, 50, (1.0, 1.0), noise=0.5, link=largest(20)),
    "50 positives of 50,000, where ab > 0.5": rare_product(50),
    "200 positives of 50,000, where ab > 0.5": rare_product(200),
    "t2 columns: a + b/2 + e": linear(1000, 50, (1.0, 0.5), shape="t2"),
    "lognormal target: exp(a + b/2 + 0.3e)": linear(1000, 50, (1.0, 0.5), noise=0.3, link=np.exp),
    "t2 columns, exp(a + b/2 + 0.3e)": linear(
        1000, 50, (1.0, 0.5), noise=0.3, shape="t2", link=lambda y: np.exp(np.clip(y, -300, 300))
    ),
    "markers, three effects": linear(400, 2000, (0.8, -0.7, 0.6), shape="markers"),
    "thresholds: (a > 0.5) + (b > 0) + e/2": planted(1000, 50, 2, lambda x, e: (x[0] > 0.5) + (x[1] > 0) + 0.5 * e),
    "3a + bc + d/2 + e": planted(1000, 50, 4, lambda x, e: 3 * x[0] + x[1] * x[2] + 0.5 * x[3] + e),
    "four quadrants": planted(1000, 50, 2, lambda x, e: 2 * (x[0] > 0) + (x[1] > 0).astype(int)),  # noqa: ARG005
    "80 x 5000, five strong": linear(80, 5000, (3.0, -2.5, 2.0, -1.5, 1.5)),
    "five of 100, R2 0.5": linear(500, 100, alternating(5), share=0.5),
    "XOR, a tenth turned": planted(1000, 20, 2, lambda x, e: flipped(x[0] * x[1] > 0, e)),
    "XOR of three": planted(1000, 20, 3, lambda x, e: positive(x[0] * x[1] * x[2])),  # noqa: ARG005
    "XOR of categories": category_xor,
    "one of 50, R2 0.05": linear(1000, 50, (1.0,), share=0.05),
}
RANDOM = "random linear"


def random_linear(rng: Random) -> Table:
    """A linear problem of random size, distribution and correlation.

    Effects are spread over a decade, and noise is such that the smallest t value that the true columns would have in a
    regression on them alone is expected to be between 6 and 12 (for two classes, what is lost to the split is made up for).
    """
    n, d = (round(np.exp(rng.uniform(*np.log(ends)))) for ends in ((200, 5000), (10, 500)))
    k = int(rng.integers(1, min(10, d // 2) + 1))
    shape = str(rng.choice(["normal", "t3", "uniform", "binary", "counts"]))
    structure, rho = str(rng.choice(["independent", "block", "AR"])), round(float(rng.uniform(0.3, 0.8)), 2)
    X = columns(rng, n, d, shape, structure, rho)
    true = rng.choice(d, k, replace=False)
    effects = 10.0 ** rng.uniform(-1, 0, k) * rng.choice([-1.0, 1.0], k) / X[:, true].std(axis=0)
    Z = X[:, true] - X[:, true].mean(axis=0)
    least = float((np.abs(effects) / np.sqrt(np.diag(np.linalg.inv(Z.T @ Z)))).min())
    classes = bool(rng.random() < 0.5)
    t = float(np.exp(rng.uniform(*np.log((6.0, 12.0)))))
    size = least / t * (0.8 if classes else 1.0)
    y = Z @ effects + size * rng.standard_normal(n)
    share = float(np.square(Z @ effects).mean() / (np.square(Z @ effects).mean() + size**2))
    told = f"{n} x {d}, {k} true, {shape}, {structure}{'' if structure == 'independent' else f' {rho}'}, "
    told += f"{'classes' if classes else 'numbers'}, R2 {share:.2f}, smallest t {t:.1f}"
    sets = tuple((int(j),) for j in true)
    return Table(X, in_classes(y) if classes else y, sets, CLASSES if classes else "regression", told=told)


def draw(problem: str, seed: int) -> Table:
    """The table of a problem for a seed, its columns in random places."""
    rng = generator(seed, problem)
    return (random_linear if problem == RANDOM else PROBLEMS[problem])(rng).placed(rng)
