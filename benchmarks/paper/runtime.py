"""Time of a fit against quality: YALE at 5 % of the columns, and the two largest data sets.

    python benchmarks/paper/runtime.py [--data YALE,CIFAR-10,BlogFeedback]

One fit at a time with two threads, nothing else running. YALE: five folds, linear SVM. CIFAR-10 (10,000 x 3072, in SVHN's
place) and BlogFeedback (52,397 x 280, in SLICE's): all rows, one split of 80 to 20, 5 % of the columns, and a linear model
that can take so many rows (linear SVM by liblinear; ridge). Results go to benchmarks/paper/raw/runtime; a rerun does only
what is missing. Writes docs/results/runtime.md and runtime-*.svg.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from datasets import get
from methods import methods_for
from run import RAW
from sklearn.linear_model import Ridge
from sklearn.model_selection import ShuffleSplit
from sklearn.svm import SVC, LinearSVC
from tables import made_with, save, write

from easyfs.evaluation import Comparison, compare

MODELS = {
    "YALE": {"linear SVM": SVC(kernel="linear")},
    "CIFAR-10": {"linear SVM (liblinear)": LinearSVC(dual=False)},
    "BlogFeedback": {"ridge": Ridge()},
}


def measure(name: str) -> None:
    data = replace(get(name), max_rows=None)
    X, y = data.load()
    compare(
        {label: method.make() for label, method in methods_for(data.task).items()},
        X,
        y,
        sizes=[0.05],
        models=MODELS[name],
        task=data.task,
        repeats=1,
        cv=None if name == "YALE" else ShuffleSplit(1, test_size=0.2, random_state=0),
        results=RAW / "runtime" / f"{name}.jsonl",
        name=name,
        time_limit=120.0,
        memory_limit=16000.0,
        progress=lambda done, total, row: print(name, done, total, row["selector"], row["status"], flush=True),
    )


def page(names: list[str]) -> str:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    lines = [
        "# Time against quality",
        "",
        "5 % of the columns; seconds: median of the fits, one at a time, two threads. Peak memory is what a fit adds.",
        "Two minutes at most: ◷ stopped by itself with the best so far; others were ended. Made by",
        "`benchmarks/paper/runtime.py`.",
        "",
    ]
    for name in names:
        found = Comparison.load(RAW / "runtime" / f"{name}.jsonl")
        data = found.data[name]
        measure_name = data["metrics"][0]
        values = {place[3]: v for place, v in found.values().items()}
        lines += [f"## {name}: {data['rows']} x {data['columns']}, {data['models'][0]}", ""]
        lines += [f"| method | seconds | peak memory | {measure_name} |", "|---|---|---|---|"]
        rows = []
        for method in found.selectors:
            fits = [row for place, row in found.fit_rows.items() if place[1] == method]
            good = [row for row in fits if row["status"] == "ok"]
            if not good:
                rows.append((np.inf, f"| {method} | over {fits[0]['reason']} | — | — |".replace("over over", "over")))
                continue
            seconds = float(np.median([row["seconds"] for row in good]))
            memory = max((row["peak_mb"] or 0.0) for row in good)
            stopped = " ◷" if any(row["note"] for row in good) else ""
            v = values[method]
            text = f"{np.nanmean(v):.3f}" + (f" ± {np.nanstd(v):.3f}" if len(v) > 1 else "")
            rows.append((seconds, f"| {method} | {seconds:.3g}{stopped} | {memory:.0f} MB | {text} |"))
        lines += [row for _, row in sorted(rows, key=lambda entry: entry[0])]
        figure = found.plot_time(name=name).figure
        save(figure, f"runtime-{name}.svg")
        plt.close(figure)
        lines += ["", f"![time against quality on {name}](runtime-{name}.svg)", ""]
    made = made_with(*(Comparison.load(RAW / "runtime" / f"{name}.jsonl") for name in names))
    return "\n".join([*lines, *made, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(MODELS))
    parser.add_argument("--page", action="store_true", help="only write the page")
    args = parser.parse_args()
    names = args.data.split(",")
    for name in names if not args.page else ():
        measure(name)
    write("runtime.md", page(names))


if __name__ == "__main__":
    main()
