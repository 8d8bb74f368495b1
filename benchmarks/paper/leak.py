"""What if columns are chosen before the data are split? The same folds and models, but selection has seen the test rows.

    python benchmarks/paper/leak.py [--data ORL,YALE]

The folds of the tables, three repeats of five; each repeat chooses from all rows with a seed of its own. Beside the ranking
as it is here: as it was published to the letter (``literal=True``), and the best of a grid of its parameters, picked by the
very scores that are shown: a second mistake on top of the first. This is not a way
to measure a selector: it shows how far the mistake of choosing columns first carries, beside what the paper printed.
Results go to benchmarks/paper/raw/leak. Writes docs/results/leak.md; needs the results of ``run.py``.
"""

from __future__ import annotations

import argparse

import numpy as np
from datasets import DATA_SETS, get
from methods import METHODS, Method
from run import RAW
from sklearn.base import BaseEstimator
from tables import made_with, published, results, write

from easyfs.evaluation import Comparison, compare

OWN = RAW / "leak"
GRID = [(lambda1, lambda2) for lambda1 in (0.1, 1.0, 10.0) for lambda2 in (0.0, 0.5, 2.0)]
INSIDE = ("EasyFS", "EasyFS ranking")
REPEATS = 3
TUNED = [f"grid {lambda1:g} {lambda2:g}" for lambda1, lambda2 in GRID]
FORMS = {name: METHODS[name] for name in INSIDE}
FORMS["literal"] = Method("easyfs_ranking", (("literal", True),))
FORMS |= {
    name: Method("easyfs_ranking", (("lambda1", lambda1), ("lambda2", lambda2)))
    for name, (lambda1, lambda2) in zip(TUNED, GRID, strict=True)
}


class Chosen(BaseEstimator):
    """Columns that are known beforehand."""

    def __init__(self, order: tuple[int, ...], n_features_to_select: int = 1):
        self.order = order
        self.n_features_to_select = n_features_to_select

    def fit(self, X: np.ndarray, y: np.ndarray) -> Chosen:  # noqa: ARG002
        """Give the columns, whatever the rows."""
        self.order_ = np.array(self.order)
        return self


def measure(name: str, repeat: int) -> None:
    data = get(name)
    X, y = data.load()
    OWN.mkdir(exist_ok=True)
    chosen = {}
    for form, method in FORMS.items():
        selector = method.make().set_params(n_features_to_select=max(data.sizes), task=data.task)
        order = selector.set_params(random_state=repeat).fit(X, y).order_[: max(data.sizes)]
        chosen[form] = Chosen(tuple(int(j) for j in order))
    compare(
        chosen,
        X,
        y,
        sizes=data.sizes,
        task=data.task,
        repeats=1,
        random_state=repeat,  # the folds of this repeat in the tables
        results=OWN / f"{name}-{repeat}.jsonl",
        name=f"{name}-{repeat}",
        n_jobs=1,
    )
    print(name, repeat, flush=True)


def page(names: list[str]) -> str:
    lines = [
        "# What choosing columns before the split would show",
        "",
        "Inside: columns chosen in each training fold, as everywhere else here. Before: columns chosen once from all rows,",
        "the rows that are then tested among them; a mistake, made on purpose. Printed: what the paper has for EasyFS.",
        "Literal: before, the ranking to the letter of the paper. Best of grid: before, with those parameters of the",
        f"ranking (of {len(GRID)}) that score best on the tested rows of the cell, a second mistake. Means of three",
        "repeats of five folds, the same as in the tables; inside, that of EasyFS is the mean over five seeds of its",
        "network, before, one seed. Random: as many columns at random, inside. Made by `benchmarks/paper/leak.py`.",
        "",
        "| data | columns | random | EasyFS inside | before | ranking inside | before | literal | best of grid | printed |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in names:
        data = DATA_SETS[name]
        inside = results(data.task)
        model = inside.models[0]
        before = [Comparison.load(OWN / f"{name}-{repeat}.jsonl") for repeat in range(REPEATS)]
        printed, digits = published(data.task), 3 if data.task == "classification" else 4
        for size in data.sizes:
            values = [c.values() for c in before]

            def leaky(form: str, size: int = size, values: list = values, before: list = before) -> float:
                means = [v[f"{name}-{r}", size, before[r].models[0], form].mean() for r, v in enumerate(values)]  # noqa: B023
                return float(np.nanmean(means))

            cells = [np.nanmean(inside.values()[name, size, model, "random"])]
            for form in INSIDE:
                cells += [np.nanmean(inside.values()[name, size, model, form]), leaky(form)]
            best = max if data.task == "classification" else min
            cells += [leaky("literal"), best(leaky(form) for form in TUNED)]
            cells.append(printed[data.published or name, size, "EasyFS"])
            lines.append(f"| {name} | {size} | {' | '.join(f'{cell:.{digits}f}' for cell in cells)} |")
    every = [Comparison.load(OWN / f"{name}-{repeat}.jsonl") for name in names for repeat in range(REPEATS)]
    return "\n".join([*lines, "", "Before: " + made_with(*every)[0], ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = [name for name, data in DATA_SETS.items() if data.file and data.published and not name.startswith("SoyNAM")]
    parser.add_argument("--data", default=",".join(default))
    parser.add_argument("--page", action="store_true", help="only write the page")
    args = parser.parse_args()
    names = args.data.split(",")
    for name in names if not args.page else ():
        for repeat in range(REPEATS):
            measure(name, repeat)
    write("leak.md", page(names))


if __name__ == "__main__":
    main()
