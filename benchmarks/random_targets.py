"""Random targets: formulas of one to four columns, drawn by a seed, in which every column matters.

    python benchmarks/random_targets.py [--release 1] [--count 70]

prints the formulas of a release.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import count

import numpy as np

from problems import Array, Random, columns

# Rows on which constants are set and columns are tested, and what shuffling a column must change at least: the mean square
# of the change of the target without noise, in units of its variance.
SAMPLE, LEAST = 20_000, 0.1
# Columns: the distribution, and the correlation of each with the one before it.
KINDS = {"normal": ("normal", 0.0), "uniform": ("uniform", 0.0), "binary": ("halves", 0.0), "t3": ("t3", 0.0)}
KINDS["AR 0.5"] = ("normal", 0.5)
# How often parts are joined in which way.
FORMS = {"sum": 0.3, "product": 0.2, "max": 0.06, "min": 0.06, "both": 0.1, "distance": 0.13, "xor": 0.15}
SPLITS = {"median": (0.5,), "terciles": (1 / 3, 2 / 3), "mean": ()}
# The smallest share of the rows that a class may have.
SMALLEST_CLASS = 0.15
# Targets of a release have seeds from this many times its number on.
STRIDE = 10_000


@dataclass(frozen=True)
class Part:
    """A piece of a formula: how it reads, its values, given the true columns as rows, and whether it reads as a sum."""

    text: str
    value: Callable[[Array], Array]
    is_sum: bool = False

    def less(self, number: float = 0.0) -> str:
        """How it reads when a number is taken away."""
        text = f"({self.text})" if self.is_sum else self.text
        return text if number == 0 else f"{text} {'-' if number > 0 else '+'} {abs(number):g}"

    def factor(self, number: float) -> str:
        """The same as a factor."""
        return self.less() if number == 0 else f"({self.less(number)})"


@dataclass(frozen=True)
class Target:
    """A random target.

    Attributes
    ----------
    seed : int
        What it was drawn with.
    k : int
        Number of true columns: the first ones.
    kind : str
        What the columns are, see ``KINDS``.
    task : {"classification", "regression"}
        What the target is.
    formula : str
        How it is made; e is standard normal noise.
    make : callable
        The target, given the true columns as rows and noise.
    """

    seed: int
    k: int
    kind: str
    task: str
    formula: str
    make: Callable[[Array, Array], Array]

    def draw(self, rng: Random, n: int, d: int) -> Array:
        """A table of such columns."""
        shape, rho = KINDS[self.kind]
        return columns(rng, n, d, shape, "AR" if rho else "independent", rho)

    def __str__(self) -> str:
        return f"{self.formula} ({self.kind} columns)"


def column(j: int) -> Part:
    """A column as it is."""
    return Part(f"x{j + 1}", lambda x: x[j])


def single(rng: Random, j: int, x: Array, plain: bool) -> Part:
    """One column: as it is, above a threshold, as a wave, or within a band."""
    name, mean, size = f"x{j + 1}", float(x[j].mean()), float(x[j].std())
    form = "plain" if plain else str(rng.choice(["plain", "threshold", "wave", "band"]))
    if form == "threshold":
        cut = round(mean + size * float(rng.uniform(-0.7, 0.7)), 2)
        return Part(f"[{name} > {cut:g}]", lambda x: (x[j] > cut).astype(float))
    if form == "wave":
        speed, wave = round(float(rng.uniform(2.0, 4.0)) / size, 1), str(rng.choice(["sin", "cos"]))
        return Part(f"{wave}({speed:g} {name})", lambda x: getattr(np, wave)(speed * x[j]))
    if form == "band":
        middle, width = round(mean + size * float(rng.uniform(-0.5, 0.5)), 2), round(size * float(rng.uniform(0.4, 0.9)), 2)
        inside = f"[{middle - width:g} < {name} < {middle + width:g}]"
        return Part(inside, lambda x: (np.abs(x[j] - middle) < width).astype(float))
    return column(j)


def signs(rng: Random, parts: list[Part], x: Array) -> Part:
    """The product of the signs: exclusive or."""
    values = [part.value(x) for part in parts]
    cuts = [round(float(v.mean() + v.std() * rng.uniform(-0.3, 0.3)), 2) for v in values]
    text = " ".join(f"sign({part.less(cut)})" for part, cut in zip(parts, cuts, strict=True))
    pairs = list(zip(parts, cuts, strict=True))
    return Part(text, lambda x: np.prod([np.where(part.value(x) > cut, 1.0, -1.0) for part, cut in pairs], axis=0))


def distance(rng: Random, chosen: list[int], x: Array) -> Part:
    """How far from a point, in columns as they are; or, of two columns, how far they are apart."""
    if len(chosen) == 2 and rng.random() < 0.5:
        i, j = chosen
        return Part(f"abs(x{i + 1} - x{j + 1})", lambda x: np.abs(x[i] - x[j]))
    point = [round(float(x[j].mean() + x[j].std() * rng.uniform(-0.5, 0.5)), 2) for j in chosen]
    text = " + ".join(f"{column(j).factor(p)}^2" for j, p in zip(chosen, point, strict=True))
    pairs = list(zip(chosen, point, strict=True))
    return Part(f"sqrt({text})", lambda x: np.sqrt(sum((x[j] - p) ** 2 for j, p in pairs)))


def joined(rng: Random, form: str, parts: list[Part], x: Array) -> Part:
    """Two parts as a sum, a product, the larger or smaller one, or both above a threshold."""
    (u, v), values = parts, [part.value(x) for part in parts]
    means, sizes = [float(value.mean()) for value in values], [max(float(value.std()), 1e-9) for value in values]
    if form == "product":
        a, b = (round(mean - size * float(rng.choice([0.0, 0.0, 1.0])), 2) for mean, size in zip(means, sizes, strict=True))
        return Part(f"{u.factor(a)} {v.factor(b)}", lambda x: (u.value(x) - a) * (v.value(x) - b))
    if form == "both":
        a, b = (round(mean - size * float(rng.uniform(0.0, 0.5)), 2) for mean, size in zip(means, sizes, strict=True))
        text = f"[{u.less()} > {a:g} and {v.less()} > {b:g}]"
        return Part(text, lambda x: ((u.value(x) > a) & (v.value(x) > b)).astype(float))
    a, b = (float(f"{float(rng.uniform(0.6, 1.4)) / size:.2g}") for size in sizes)
    if form == "sum":
        b *= float(rng.choice([-1.0, 1.0]))
        text = f"{a:g} {u.less()} {'-' if b < 0 else '+'} {abs(b):g} {v.less()}"
        return Part(text, lambda x: a * u.value(x) + b * v.value(x), is_sum=True)
    gap = round(a * means[0] - b * means[1], 2)
    pick = np.maximum if form == "max" else np.minimum
    first = Part(f"{a:g} {u.less()}", u.value).less(gap)
    return Part(f"{form}({first}, {b:g} {v.less()})", lambda x: pick(a * u.value(x) - gap, b * v.value(x)))


def tree(rng: Random, chosen: list[int], x: Array, plain: bool) -> Part:
    """A random formula of these columns; ``plain`` ones have two values, and only they are used as they are."""
    if len(chosen) == 1:
        return single(rng, chosen[0], x, plain)
    form = str(rng.choice(list(FORMS), p=list(FORMS.values())))
    if form == "distance":
        return distance(rng, chosen, x)
    if form == "xor" and len(chosen) < 4:
        return signs(rng, [column(j) for j in chosen], x)
    cut = int(rng.integers(1, len(chosen)))
    parts = [tree(rng, some, x, plain) for some in (chosen[:cut], chosen[cut:])]
    return signs(rng, parts, x) if form == "xor" else joined(rng, form, parts, x)


def matters(make: Callable[[Array], Array], x: Array, rng: Random) -> bool:
    """Whether the target changes with every one of its columns."""
    y = make(x).astype(float)
    if not np.isfinite(y).all() or y.std() == 0.0:
        return False
    for j in range(len(x)):
        shuffled = x.copy()
        shuffled[j] = rng.permutation(x[j])
        if np.square(make(shuffled) - y).mean() < LEAST * y.var():
            return False
    return True


def proposed(seed: int, k: int, kind: str, classes: bool, rng: Random) -> Target | None:
    """A target; None where a column does not matter, or a class is small."""
    shell = Target(seed, k, kind, "regression", "", lambda x, e: e)  # noqa: ARG005
    x = shell.draw(rng, SAMPLE, k).T
    part = tree(rng, [int(j) for j in rng.permutation(k)], x, kind == "binary")
    value, signal = part.value, part.value(x)
    if classes:
        split = str(rng.choice(list(SPLITS)))
        ends = [float(signal.mean())] if split == "mean" else list(np.quantile(signal, SPLITS[split]))
        cuts = np.array([float(f"{end:.3g}") for end in ends])
        shares = np.bincount(np.digitize(signal, cuts), minlength=len(cuts) + 1) / SAMPLE
        if shares.min() < SMALLEST_CLASS or not matters(lambda x: np.digitize(value(x), cuts), x, rng):
            return None
        formula = f"{len(cuts) + 1} classes, cut at {' and '.join(f'{cut:g}' for cut in cuts)}: {part.text}"
        return Target(seed, k, kind, "classification", formula, lambda x, e: np.digitize(value(x), cuts))  # noqa: ARG005
    share = round(float(rng.uniform(0.5, 0.9)), 2)
    noise = float(f"{signal.std() * np.sqrt(1.0 / share - 1.0):.2g}")
    if not matters(value, x, rng):
        return None
    return Target(seed, k, kind, "regression", f"{part.text} + {noise:g} e", lambda x, e: value(x) + noise * e)


@cache
def draw_target(seed: int) -> Target:
    """The target of a seed: columns, their kind and the task are drawn first, then formulas until all columns matter."""
    rng = np.random.default_rng(seed)
    k, classes = int(rng.integers(1, 5)), bool(rng.random() < 0.5)
    kind = str(rng.choice([name for name in KINDS if k > 1 or name != "binary"]))
    for attempt in count():
        target = proposed(seed, k, kind, classes, np.random.default_rng((seed, attempt)))
        if target is not None:
            return target
    raise AssertionError


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--release", type=int, default=1)
    parser.add_argument("--count", type=int, default=70)
    args = parser.parse_args()
    for seed in range(STRIDE * args.release, STRIDE * args.release + args.count):
        print(seed, draw_target(seed))


if __name__ == "__main__":
    main()
