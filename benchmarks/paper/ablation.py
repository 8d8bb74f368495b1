"""What each stage is worth: expansion, redundancy and relevance on and off, and the two parameters of the paper.

    python benchmarks/paper/ablation.py [--data Wheat599-env1] [--repeats 3] [--minutes 60]

The paper's ablation (time and NMSE on Wheat599-env1) for its ranking and for the sequential form, then on all data sets;
and its parameter analysis: network size 0 to 1500, share of nodes r from 0.1 to 0.7. Results go to the folders ablation and
parameters of benchmarks/paper/raw; a rerun does only what is missing. Writes docs/results/ablation.md and parameters.svg.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from datasets import DATA_SETS, get
from run import RAW, TimeIsUpError
from tables import made_with, save, write

from easyfs import EasyFS, EasyFSRanking
from easyfs.evaluation import Comparison, compare

# Off: no extra nodes; copies count like any other column; the target does not count.
SEQUENTIAL = {
    "all stages": {},
    "no expansion": {"interactions": False},
    "no redundancy": {"eps2": 1e6},
    "no relevance": {"coverage": 1.0, "coverage_power": 0.0},
    "no expansion, no redundancy": {"interactions": False, "eps2": 1e6},
}
RANKING = {
    "all stages": {},
    "no expansion": {"n_hidden": 0, "n_enhancement": 0},
    "no redundancy": {"lambda1": 0.0},
    "no relevance": {"lambda1": 1e12},
    "no expansion, no redundancy": {"n_hidden": 0, "n_enhancement": 0, "lambda1": 0.0},
}
STAGES = ("expansion", "redundancy", "relevance")
PAPERS_OWN = "Wheat599-env1"
NETWORK = (0, 300, 600, 900, 1200, 1500)
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)


def ablation_selectors() -> dict[str, Any]:
    found = {f"sequential, {name}": EasyFS(**settings) for name, settings in SEQUENTIAL.items()}
    return found | {f"ranking, {name}": EasyFSRanking(**s) for name, s in RANKING.items()}


def parameter_selectors() -> dict[str, Any]:
    found = {f"sequential, network {size}": EasyFS(n_hidden=size) for size in NETWORK}
    for size in NETWORK:
        found[f"ranking, network {size}"] = EasyFSRanking(n_hidden=0, n_enhancement=size)
    return found | {f"ranking, r {r}": EasyFSRanking(top_share=r) for r in SHARES}


def measure(name: str, selectors: dict[str, Any], folder: str, repeats: int, end: float) -> None:
    data = get(name)
    X, y = data.load()

    def progress(done: int, total: int, _: dict[str, Any]) -> None:
        if time.monotonic() > end:
            raise TimeIsUpError
        if done == total:
            print(f"{folder} {name}: {total} scores", flush=True)

    compare(
        selectors,
        X,
        y,
        sizes=data.sizes,
        task=data.task,
        repeats=repeats,
        results=RAW / folder / f"{name}.jsonl",
        name=name,
        n_jobs=2,
        time_limit=120.0,
        progress=progress,
    )


def loaded(folder: str) -> Comparison:
    return Comparison.load(*sorted((RAW / folder).glob("*.jsonl")))


def ablation_page(found: Comparison) -> str:
    lines = [
        "# What each stage is worth",
        "",
        "Mean ± standard deviation over folds at the paper's two sizes, three repeats on Wheat599-env1 and one elsewhere;",
        "seconds are the median of a fit, several at a time beside other work: they compare stages, nothing else.",
        '"no expansion": no curves and joint effects (ranking: no extra nodes). "no redundancy": each column counts as if',
        'it were alone. "no relevance": the target does not count. Accuracy for images and TOX, NMSE (less is better) for',
        "the others. Made by `benchmarks/paper/ablation.py`.",
        "",
    ]
    values = found.values()
    seconds: dict[tuple[str, str], list[float]] = {}
    for (name, selector, *_), row in found.fit_rows.items():
        if row["status"] == "ok":
            seconds.setdefault((name, selector), []).append(row["seconds"])
    names = [name for name in DATA_SETS if name in found.names]
    names = sorted(names, key=lambda name: name != PAPERS_OWN)
    for form, settings in (("sequential", SEQUENTIAL), ("ranking", RANKING)):
        lines += [f"## {form.capitalize()} form", ""]
        lines += ["| data | columns | " + " | ".join(settings) + " | random |", "|---|---|" + "---|" * (len(settings) + 1)]
        for name in names:
            for size in DATA_SETS[name].sizes:
                cells = []
                for label in [*(f"{form}, {s}" for s in settings), "random"]:
                    v = values.get((name, size, _model(found, name), label), np.array([]))
                    real = v[~np.isnan(v)]
                    text = "—" if not len(real) else f"{real.mean():.3f} ± {real.std():.3f}"
                    if len(real) and label != "random":
                        text += f" ({np.median(seconds[name, label]):.2f} s)"
                    cells.append(text)
                lines.append(f"| {name} | {size} | " + " | ".join(cells) + " |")
        lines += ["", most_lost(found, names, form), ""]
        halves = [
            np.median(seconds[n, f"{form}, no expansion"]) / np.median(seconds[n, f"{form}, all stages"]) for n in names
        ]
        longer = sum(share < 0.5 for share in halves)
        lines += [f"Expansion takes more than half of the time on {longer} of {len(names)} data sets.", ""]
    return "\n".join([*lines, *made_with(found), ""])


def most_lost(found: Comparison, names: list[str], form: str) -> str:
    """In how many cells each stage is the one without which most is lost, as a sentence."""
    values, counts = found.values(), dict.fromkeys((*STAGES, "none", "two alike"), 0)
    for name in names:
        model, sign = _model(found, name), -1.0 if found.data[name]["smaller_is_better"] else 1.0
        for size in DATA_SETS[name].sizes:

            def mean(which: str, cell: tuple[str, int, str] = (name, size, model), sign: float = sign) -> float:
                return sign * float(np.nanmean(values[*cell, f"{form}, {which}"]))

            lost = {stage: mean("all stages") - mean(f"no {stage}") for stage in STAGES}
            most = max(lost.values())
            best = [stage for stage, loss in lost.items() if np.isclose(loss, most, atol=1e-9)]
            counts["none" if most <= 1e-9 else best[0] if len(best) == 1 else "two alike"] += 1
    told = ", ".join(f"{stage} in {count}" for stage, count in counts.items())
    return f"The stage without which most is lost, in {sum(counts.values())} cells: {told}."


def _model(found: Comparison, name: str) -> str:
    return str(found.data[name]["models"][0])


def parameter_figure(found: Comparison) -> None:
    import matplotlib.pyplot as plt  # noqa: PLC0415

    values = found.values()
    names = [name for name in DATA_SETS if name in found.names]
    figure, panels = plt.subplots(len(names), 2, figsize=(10, 3.0 * len(names)), layout="constrained", squeeze=False)
    for row, name in zip(panels, names, strict=True):
        model, smaller = _model(found, name), bool(found.data[name]["smaller_is_better"])
        what = "NMSE (less is better)" if smaller else "accuracy"
        for size, colour in zip(DATA_SETS[name].sizes, ("#0072B2", "#D55E00"), strict=True):
            lines = (
                (row[0], "sequential, network", NETWORK, "-"),
                (row[0], "ranking, network", NETWORK, "--"),
                (row[1], "ranking, r", SHARES, "--"),
            )
            for panel, label, settings, style in lines:
                runs = [values.get((name, size, model, f"{label} {s}"), np.array([np.nan])) for s in settings]
                mean, spread = np.array([np.nanmean(r) for r in runs]), np.array([np.nanstd(r) for r in runs])
                panel.plot(settings, mean, style, marker="o", markersize=3, color=colour)
                panel.fill_between(settings, mean - spread, mean + spread, color=colour, alpha=0.08, linewidth=0)
            control = values.get((name, size, model, "random"), np.array([np.nan]))
            for panel in row:
                panel.axhline(np.nanmean(control), color=colour, linewidth=1.2, linestyle=":")
        sizes = " and ".join(str(size) for size in DATA_SETS[name].sizes)
        row[0].set(xlabel="enhancement nodes", ylabel=what, title=f"{name}, {sizes} columns")
        row[1].set(xlabel="share r of the nodes that count (ranking)", ylabel=what, title=f"{name}, {sizes} columns")
        for panel in row:
            panel.grid(visible=True, alpha=0.25)
    handles = [
        *(plt.Line2D([], [], color="#555555", linestyle=s, label=f) for f, s in (("sequential", "-"), ("ranking", "--"))),
        plt.Line2D([], [], color="#555555", linestyle=":", label="random selection"),
        *(
            plt.Line2D([], [], color=c, label=f"{w} number of columns")
            for w, c in (("smaller", "#0072B2"), ("larger", "#D55E00"))
        ),
        plt.Rectangle((0, 0), 1, 1, color="#555555", alpha=0.15, linewidth=0, label="spread over folds"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    save(figure, "parameters.svg")
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    everything = [PAPERS_OWN, *(n for n, d in DATA_SETS.items() if d.published and d.file and n != PAPERS_OWN)]
    parser.add_argument("--data", default=",".join(everything))
    parser.add_argument("--parameters-on", default="Wheat599-env1,CSD-1000R,YALE,TOX")
    parser.add_argument("--repeats", type=int, default=3, help="on Wheat599-env1, and of the parameters; one elsewhere")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--page", action="store_true", help="only write the page")
    args = parser.parse_args()
    end = time.monotonic() + 60.0 * args.minutes
    try:
        for name in args.data.split(",") if not args.page else ():
            measure(name, ablation_selectors(), "ablation", args.repeats if name == PAPERS_OWN else 1, end)
        for name in args.parameters_on.split(",") if not args.page else ():
            measure(name, parameter_selectors(), "parameters", args.repeats, end)
    except TimeIsUpError:
        print("time is up; run again to go on")
    write("ablation.md", ablation_page(loaded("ablation")))
    if any(Path(RAW / "parameters").glob("*.jsonl")):
        parameter_figure(loaded("parameters"))


if __name__ == "__main__":
    main()
