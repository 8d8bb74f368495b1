"""Whether several random networks instead of one make the choice depend less on the seed, and what that costs.

    python benchmarks/paper/networks.py [--data TOX,YALE] [--seeds 8] [--jobs 2]

The hidden nodes are drawn at random, and columns are chosen to cover them, so several networks of 256 nodes averaged are
one network of as many times 256. For each number of nodes: accuracy of a linear SVM on 30 columns, by folds as in
``run.py`` (one repeat), for several seeds of the network on the same folds; the spread over seeds, and the time of a fit.
The data sets were looked at while the method was made. Results are kept in raw/networks; writes docs/results/networks.md.
"""

from __future__ import annotations

import argparse

import numpy as np
from datasets import get
from run import RAW
from tables import made_with, write

from easyfs import EasyFS
from easyfs.evaluation import Comparison, compare

SIZE = 30
NODES = (64, 256, 1024, 4096)


def label(nodes: int, seed: int) -> str:
    return f"{nodes} nodes, seed {seed}"


def run(name: str, seeds: int, jobs: int) -> None:
    """All numbers of nodes and all seeds on one data set."""
    data = get(name)
    X, y = data.load()
    chosen = {label(m, seed): EasyFS(SIZE, n_hidden=m, random_state=seed) for m in NODES for seed in range(seeds)}
    (RAW / "networks").mkdir(exist_ok=True)
    file = RAW / "networks" / f"{name}.jsonl"
    compare(chosen, X, y, sizes=[SIZE], task=data.task, results=file, name=name, n_jobs=jobs, any_code=True)


def lines_of(name: str) -> list[str]:
    """What was found on one data set, a line for each number of nodes."""
    found = Comparison.load(RAW / "networks" / f"{name}.jsonl")
    values = {place[3]: np.asarray(scores) for place, scores in found.values().items()}
    seconds = {place[1]: row["seconds"] for place, row in found.fit_rows.items()}
    lines = []
    for nodes in NODES:
        seeds = [s for s in values if s.startswith(f"{nodes} nodes")]
        means = np.array([np.nanmean(values[seed]) for seed in seeds])
        took = np.median([seconds[seed] for seed in seeds])
        told = f"{means.mean():.4f} | {means.std(ddof=1):.4f} | {means.min():.4f} to {means.max():.4f}"
        lines.append(f"| {name} | {nodes} | {len(means)} | {told} | {np.nanstd(values[seeds[0]]):.4f} | {took:.2f} s |")
    control = np.nanmean(values["random"])
    return [*lines, f"| {name} | random selection | | {control:.4f} | | | {np.nanstd(values['random']):.4f} | |"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="TOX,YALE,ORL,warpAR10P")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", action="store_true", help="only write the page")
    args = parser.parse_args()
    names = args.data.split(",")
    for name in names if not args.page else ():
        run(name, args.seeds, args.jobs)
    text = [
        "# One network or several",
        "",
        "Columns are chosen to cover hidden nodes that are drawn at random, so another seed may choose other columns.",
        "Several networks of 256 nodes, averaged, are one network of as many times 256: would that make the choice depend",
        f"less on the seed? Accuracy of a linear SVM on {SIZE} columns, five folds, the same for all; seeds of the network",
        "only. Data sets that were looked at while the method was made. The default has 256 nodes.",
        "",
        "| data | hidden nodes | seeds | mean | spread over seeds | lowest to highest | spread over folds | a fit |",
        "|---|---|---|---|---|---|---|---|",
        *(line for name in names for line in lines_of(name)),
        "",
        "Made by `benchmarks/paper/networks.py` from `benchmarks/paper/raw/networks`.",
        *made_with(*(Comparison.load(RAW / "networks" / f"{name}.jsonl") for name in names)),
    ]
    write("networks.md", "\n".join(text) + "\n")


if __name__ == "__main__":
    main()
