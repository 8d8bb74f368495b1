"""Where the selected pixels are: every method on CIFAR-10 (in SVHN's place) and on two face data sets.

    python benchmarks/paper/pixels.py [--data CIFAR-10,ORL,YALE] [--columns 50] [--rows 2000] [--any-code]

Each method puts half of the columns in order on the whole data set (nothing is scored here). Drawn as in the paper: the
first sixth of the columns white (500 of 3072), up to the half grey (1500), the others black, the three colours of a pixel
put together; and the first 50 as dots over the mean image. Writes docs/results/pixels-*.png and pixels-first-*.png; the
chosen columns are kept in benchmarks/paper/raw/pixels, and a rerun fits only what is missing, or was found by other code
(``--any-code`` keeps that).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from datasets import get
from methods import methods_for
from run import RAW
from tables import save

from easyfs.evaluation import compare

Array = np.ndarray

SHAPES = {"CIFAR-10": (32, 32, 3), "ORL": (32, 32), "YALE": (32, 32), "UMIST": (32, 32), "COIL20": (32, 32)}
# The faces are stored column by column.
TRANSPOSED = {"ORL", "YALE", "COIL20"}


def chosen_columns(name: str, max_rows: int, any_code: bool) -> dict[str, list[int] | None]:
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
        sizes=[X.shape[1] // 2],
        task=data.task,
        cv=[(every, every[:50])],
        repeats=1,
        n_jobs=2,
        time_limit=120.0,
        memory_limit=8000.0,
        name=name,
        results=RAW / "pixels" / f"{name}.jsonl",
        any_code=any_code,
    )
    half = X.shape[1] // 2
    orders = {
        place[1]: row["order"] if "order" in row else row["sets"][str(half)]
        for place, row in found.fit_rows.items()
        if row["status"] == "ok"
    }
    return {selector: orders.get(selector) for selector in found.selectors}


def panels_for(chosen: dict[str, Any]) -> tuple[Any, Iterator[tuple[Any, str, list[int] | None]]]:
    """A figure, and a panel for each method."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    across = 6
    down = -(-len(chosen) // across)
    figure, panels = plt.subplots(down, across, figsize=(1.9 * across, 2.1 * down), layout="constrained", squeeze=False)
    for panel in panels.flat:
        panel.axis("off")

    def each() -> Iterator[tuple[Any, str, list[int] | None]]:
        for panel, (label, order) in zip(panels.flat, chosen.items(), strict=False):
            panel.set_title(label, fontsize=9)
            if order is None:
                panel.text(0.5, 0.5, "over two minutes", ha="center", va="center", fontsize=9, transform=panel.transAxes)
            yield panel, label, order

    return figure, each()


def as_image(name: str, values: Array) -> Array:
    """Values of the columns as a picture, one value for each pixel and colour."""
    image = values.reshape(SHAPES[name])
    return image.swapaxes(0, 1) if name in TRANSPOSED else image


def draw_attention(name: str, chosen: dict[str, list[int] | None]) -> None:
    """As the paper draws it: white, grey and black by the place in the order, colours put together."""
    figure, panels = panels_for(chosen)
    d = int(np.prod(SHAPES[name]))
    for panel, _, order in panels:
        if order is None:
            continue
        values = np.zeros(d)
        values[order[: d * 1500 // 3072]] = 127.0
        values[order[: d * 500 // 3072]] = 255.0
        image = as_image(name, values)
        panel.imshow(image.mean(axis=2) if image.ndim == 3 else image, cmap="gray", vmin=0.0, vmax=255.0)
    figure.suptitle(f"{name}: the first sixth of the columns white, up to the half grey", fontsize=11)
    save(figure, f"pixels-{name}.png")


def draw_first(name: str, chosen: dict[str, list[int] | None], columns: int) -> None:
    """The first columns as dots over the mean image."""
    X, _ = get(name).load()
    mean = as_image(name, X.mean(axis=0))
    figure, panels = panels_for(chosen)
    for panel, _, order in panels:
        panel.imshow(mean.mean(axis=2) if mean.ndim == 3 else mean, cmap="gray", alpha=0.55)
        if order is None:
            continue
        marked = np.zeros(int(np.prod(SHAPES[name])), dtype=bool)
        marked[order[:columns]] = True
        places = np.nonzero(as_image(name, marked))
        colours, shift = np.array(["#d62728"] * columns), 0.0
        if mean.ndim == 3:
            colours, shift = np.array(["#d62728", "#2ca02c", "#1f77b4"])[places[2]], (places[2] - 1) * 0.25
        panel.scatter(places[1] + shift, places[0], s=8, c=colours, linewidths=0)
    channels = ", in the colour of their channel" if mean.ndim == 3 else ""
    figure.suptitle(f"{name}: the first {columns} columns{channels}, over the mean image", fontsize=11)
    save(figure, f"pixels-first-{name}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="CIFAR-10,ORL,YALE")
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--any-code", action="store_true")
    args = parser.parse_args()
    for name in args.data.split(","):
        chosen = chosen_columns(name, args.rows, args.any_code)
        draw_attention(name, chosen)
        draw_first(name, chosen, args.columns)


if __name__ == "__main__":
    main()
