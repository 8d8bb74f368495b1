"""Where the selected pixels are: every method on CIFAR-10 (in SVHN's place) and on two face data sets.

    python benchmarks/paper/pixels.py [--data CIFAR-10,ORL,YALE] [--columns 50] [--rows 2000]

Each method chooses columns on the whole data set (nothing is scored here). Writes docs/results/pixels-*.png; the chosen
columns are kept in benchmarks/paper/raw/pixels, and a rerun fits only what is missing.
"""

from __future__ import annotations

import argparse

import numpy as np
from datasets import get
from methods import methods_for
from run import RAW
from tables import save

from easyfs.evaluation import compare

SHAPES = {"CIFAR-10": (32, 32, 3), "ORL": (32, 32), "YALE": (32, 32), "UMIST": (32, 32), "COIL20": (32, 32)}
# The faces are stored column by column.
TRANSPOSED = {"ORL", "YALE", "COIL20"}


def chosen_columns(name: str, columns: int, max_rows: int) -> dict[str, list[int] | None]:
    """The columns of each method, fitted on all rows (at most ``max_rows``), one process each and two minutes at most.

    None for a method that took longer.
    """
    data = get(name)
    X, y = data.load()
    rows = np.random.default_rng(0).permutation(len(X))[:max_rows]
    X, y = X[rows], y[rows]
    every = np.arange(len(X))
    found = compare(
        {label: method.make() for label, method in methods_for(data.task).items()},
        X,
        y,
        sizes=[columns],
        task=data.task,
        cv=[(every, every[:50])],
        repeats=1,
        n_jobs=2,
        time_limit=120.0,
        memory_limit=8000.0,
        name=name,
        results=RAW / "pixels" / f"{name}.jsonl",
    )
    orders = {place[1]: row["order"] for place, row in found.fit_rows.items() if row["status"] == "ok"}
    return {selector: orders.get(selector) for selector in found.selectors}


def draw(name: str, chosen: dict[str, list[int] | None], columns: int) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    X, _ = get(name).load()
    shape = SHAPES[name]
    mean = X.mean(axis=0).reshape(shape)
    grey = mean.mean(axis=2) if len(shape) == 3 else mean
    grey = grey.T if name in TRANSPOSED else grey
    across = 4
    down = -(-len(chosen) // across)
    figure, panels = plt.subplots(down, across, figsize=(2.3 * across, 2.5 * down), layout="constrained", squeeze=False)
    for panel in panels.flat:
        panel.axis("off")
    for panel, (label, order) in zip(panels.flat, chosen.items(), strict=False):
        panel.imshow(grey, cmap="gray", alpha=0.55)
        panel.set_title(label, fontsize=9)
        if order is None:
            panel.text(0.5, 0.5, "over two minutes", ha="center", va="center", fontsize=9, transform=panel.transAxes)
            continue
        places = np.unravel_index(np.array(order[:columns]), shape)
        y, x = (places[1], places[0]) if name in TRANSPOSED else (places[0], places[1])
        if len(shape) == 3:
            colours = np.array(["#d62728", "#2ca02c", "#1f77b4"])[places[2]]
            shift = (places[2] - 1) * 0.25
        else:
            colours, shift = np.array(["#d62728"] * len(y)), 0.0
        panel.scatter(x + shift, y, s=9, c=colours, linewidths=0)
    channels = ", in the colour of their channel" if len(shape) == 3 else ""
    figure.suptitle(f"{name}: the {columns} columns chosen{channels}, over the mean image", fontsize=11)
    save(figure, f"pixels-{name}.png")
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="CIFAR-10,ORL,YALE")
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rows", type=int, default=2000)
    args = parser.parse_args()
    for name in args.data.split(","):
        draw(name, chosen_columns(name, args.columns, args.rows), args.columns)


if __name__ == "__main__":
    main()
