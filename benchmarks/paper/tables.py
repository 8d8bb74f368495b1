"""The paper's two tables and its curves, from the results that ``run.py`` kept: ours beside what the paper printed.

    python benchmarks/paper/tables.py

writes docs/results/classification.md, regression.md, ranks.md and the figures beside them.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import numpy as np
from datasets import DATA_SETS, DataSet
from methods import METHODS, methods_for
from run import RAW

from easyfs.evaluation import Comparison
from easyfs.evaluation.plots import look

HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "docs" / "results"


def write(name: str, text: str) -> None:
    """Write a page whole or not at all."""
    OUT.mkdir(parents=True, exist_ok=True)
    draft = OUT / f"{name}.part"
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, OUT / name)
    print(f"wrote docs/results/{name}")


def save(figure: object, name: str) -> None:
    """Write a figure whole or not at all."""
    OUT.mkdir(parents=True, exist_ok=True)
    draft = OUT / f"part-{name}"
    figure.savefig(draft, metadata={"Date": None} if name.endswith("svg") else None)  # type: ignore[attr-defined]
    os.replace(draft, OUT / name)
    print(f"wrote docs/results/{name}")


def results(task: str, folder: Path = RAW) -> Comparison:
    """All that was measured for a task so far."""
    files = [folder / f"{name}.jsonl" for name, data in DATA_SETS.items() if data.task == task]
    return Comparison.load(*(file for file in files if file.exists()))


def published(task: str) -> dict[tuple[str, int, str], float]:
    """The numbers of the paper's table: (data, size, method) to value."""
    file = {"classification": "classification_acc.csv", "regression": "regression_nmse.csv"}[task]
    found = {}
    with (HERE / "published" / file).open() as stream:
        for row in csv.DictReader(stream):
            name, size = row.pop("dataset"), int(row.pop("n_selected"))
            found |= {(name, size, method): float(value) for method, value in row.items()}
    return found


def why_missing(found: Comparison, data: DataSet, method: str) -> str:
    """What stands in a cell without a number."""
    rows = [row for row in found.failures() if row["name"] == data.name and row["selector"] == method]
    if not rows:
        return "not run"
    return {"timeout": "over the limit", "memory": "out of memory"}.get(rows[0]["status"], "failed")


def table(task: str) -> str:
    """The table as Markdown."""
    found, printed = results(task), published(task)
    values = found.values()
    methods = methods_for(task)
    measure = "accuracy" if task == "classification" else "NMSE (less is better)"
    digits = 3 if task == "classification" else 4
    lines = [
        f"| data | columns | {' | '.join(methods)} |",
        "|---|---|" + "---|" * len(methods),
    ]
    notes, repeats = [], {}
    for data in (d for d in DATA_SETS.values() if d.task == task):
        if data.note:
            notes.append(f"- {data.name}: {data.note}.")
        for size in data.sizes:
            model = found.models[0]
            runs = {m: values.get((data.name, size, model, m), np.array([])) for m in methods}
            means = {m: float(np.nanmean(v)) for m, v in runs.items() if len(v) and not np.isnan(v).all()}
            best = (max if task == "classification" else min)(means, key=means.__getitem__) if means else None
            cells = []
            for m, method in methods.items():
                theirs = printed.get((data.published or "", size, method.published or ""))
                if m == "EasyFS":
                    theirs = None
                text = "not to be had" if data.file is None else why_missing(found, data, m)
                if m in means:
                    real = runs[m][~np.isnan(runs[m])]
                    repeats.setdefault(m, set()).add(len(real))
                    text = f"{means[m]:.{digits}f} ± {real.std():.{digits}f}"
                    text = f"**{text}**" if m == best else text
                    stopped = sum(
                        row.get("note") == "time_limit"
                        for place, row in found.fit_rows.items()
                        if place[:2] == (data.name, m)
                    )
                    text += " ◷" if stopped else ""
                cells.append(text + (f"<br>*{theirs:.{digits}f}*" if theirs is not None else ""))
            lines.append(f"| {data.name} | {size} | {' | '.join(cells)} |")
    folds = "; ".join(f"{m} {'/'.join(str(n) for n in sorted(counts))}" for m, counts in repeats.items())
    return "\n".join(
        [
            f"# {task.capitalize()}: {measure}",
            "",
            "Mean ± standard deviation over the folds; the best of a row in bold. In italics: what the paper printed for",
            "the method of that name (its EasyFS is the ranking). ◷: stopped at two minutes a fit, with the best so far.",
            '"over the limit": ended after two minutes.',
            "Made by `benchmarks/paper/run.py` and `tables.py`; the raw results are in `benchmarks/paper/raw`.",
            "",
            *lines,
            "",
            f"Folds measured: {folds}.",
            "",
            *notes,
            "",
        ]
    )


def curves(task: str) -> None:
    """One panel a data set: score over the number of columns."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    found = results(task)
    names = [name for name in DATA_SETS if name in found.names]
    columns = 3
    rows = -(-len(names) // columns)
    figure, panels = plt.subplots(rows, columns, figsize=(13, 3.3 * rows), layout="constrained", squeeze=False)
    for panel in panels.flat[len(names) :]:
        panel.axis("off")
    for panel, name in zip(panels.flat, names, strict=False):
        found.plot_sizes(name=name, ax=panel)
        panel.get_legend().remove()
        panel.set_title(name, fontsize=11)
    looks = look(found.selectors)
    lines = [plt.Line2D([], [], marker="o", markersize=3, label=name, **looks[name]) for name in found.selectors]
    figure.legend(handles=lines, loc="outside lower center", ncols=8, frameon=False, fontsize=8)
    save(figure, f"curves-{task}.svg")
    plt.close(figure)


def ranks() -> str:
    """Mean ranks, Friedman's test and duels, over the data sets and the paper's two sizes."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    lines = [
        "# Who is ahead: mean ranks and tests",
        "",
        "A cell is a data set at one of the paper's two sizes: the mean over folds that all methods of the list were tried",
        "in: one repeat of five folds where the slow methods (spFSR, LassoNet, STG) are listed, otherwise three; on SoyNAM",
        "one, as a forest takes two minutes a fit there. A fit over the limit ranks last. Rank 1 is best. The stand-ins",
        "CIFAR-10, BlogFeedback and SoyNAM-fiber are not counted. Made by `benchmarks/paper/tables.py`.",
        "",
    ]
    for label, slow in (("all methods, one repeat", True), ("fast methods, three repeats", False)):
        parts = {task: headline(results(task), slow=slow) for task in ("classification", "regression")}
        for task, found in (parts | {"both tasks": together(*parts.values())}).items():
            if not found.names:
                continue
            test = found.friedman(over="means")
            lines += [
                f"## {task.capitalize()}: {label}",
                "",
                f"{test.n_cells} cells ({', '.join(found.names)}). Friedman's test p = {test.p_value:.2g}, critical",
                f"difference of mean ranks {test.critical_difference:.2f} (Nemenyi, 5 %).",
                "",
            ]
            if task != "both tasks":
                name = f"ranks-{task}{'' if slow else '-fast'}"
                figure = found.plot_critical_difference(over="means").figure
                save(figure, f"{name}.svg")
                plt.close(figure)
                lines += [f"![mean ranks, {task}, {label}]({name}.svg)", ""]
            else:
                lines += ["Differences are of accuracy, or of NMSE with its sign turned; without FisherScore.", ""]
            ranked = found.ranks(over="means")
            lines += [", ".join(f"{method} {rank:.2f}" for method, rank in ranked.items()) + ".", ""]
            for own in ("EasyFS", "EasyFS ranking") if slow else ("EasyFS",):
                lines += [*duel_table(found, own), ""]
        if not slow:
            lines += [*against_random(parts), ""]
    return "\n".join([*lines, *against_printed(), ""])


def together(*parts: Comparison) -> Comparison:
    """Results of several tasks as one, of the methods that can do all of them."""
    common = set.intersection(*(set(part.selectors) for part in parts))
    rows = [row for part in parts for kept in (part.fit_rows, part.score_rows) for row in kept.values()]
    return Comparison([row for part in parts for row in part.data.values()] + [r for r in rows if r["selector"] in common])


def against_random(parts: dict[str, Comparison]) -> list[str]:
    """Where EasyFS is behind random selection, and whether by more than the spread of either over folds."""
    cells, behind = 0, []
    for task, found in parts.items():
        sign = 1.0 if task == "classification" else -1.0
        values = found.values()
        for (name, size, model, method), own in values.items():
            if method != "EasyFS":
                continue
            cells += 1
            control = values[name, size, model, "random"]
            gap = sign * (np.nanmean(own) - np.nanmean(control))
            if gap < 0:
                beyond = -gap > max(np.nanstd(own), np.nanstd(control))
                behind.append(f"{name} at {size} ({gap:+.4f}, {'more' if beyond else 'less'} than the spread over folds)")
    told = "; ".join(behind) if behind else "nowhere"
    return ["## Against random selection", "", f"EasyFS is behind random selection, of {cells} cells: {told}."]


def against_printed() -> list[str]:
    """In how many cells the means measured here are better than what the paper printed for its EasyFS."""
    lines = [
        "## Against what the paper printed for its EasyFS",
        "",
        "Cells of the data sets that are those of the paper (SoyNAM is built differently); three repeats, of slow methods",
        "one. Why those figures are not reached inside folds: [leak.md](leak.md).",
        "",
        "| method | better | of |",
        "|---|---|---|",
    ]
    counts: dict[str, list[bool]] = {}
    for task in ("classification", "regression"):
        found, printed = results(task), published(task)
        sign = 1.0 if task == "classification" else -1.0
        for (name, size, _, method), values in found.values().items():
            data = DATA_SETS[name]
            theirs = printed.get((data.published or "", size, "EasyFS"))
            if theirs is not None and size in data.sizes and not name.startswith("SoyNAM"):
                counts.setdefault(method, []).append(bool(sign * (np.nanmean(values) - theirs) > 0))
    ordered = sorted(counts.items(), key=lambda entry: -np.mean(entry[1]))
    return [*lines, *(f"| {method} | {sum(better)} | {len(better)} |" for method, better in ordered)]


def duel_table(found: Comparison, own: str) -> list[str]:
    """A method against each other one."""
    lines = [
        f"{own} against each other method (Wilcoxon's test, Holm's correction):",
        "",
        "| against | wins | ties | losses | median difference | p | p (Holm) |",
        "|---|---|---|---|---|---|---|",
    ]
    for d in found.duels(own, over="means"):
        counts = f"{d.wins} | {d.ties} | {d.losses}"
        lines.append(f"| {d.against} | {counts} | {d.difference:+.4f} | {d.p_value:.2g} | {d.p_holm:.2g} |")
    return lines


def headline(found: Comparison, *, slow: bool, model: str | None = None) -> Comparison:
    """The paper's two sizes on its own data sets, in the folds in which every method has been tried."""
    rows = []
    methods = {m for m in METHODS if m in found.selectors and (slow or not METHODS[m].slow)}
    for name in found.names:
        data = DATA_SETS[name]
        if data.published is None:
            continue
        folds = [{place[2:] for place in found.fit_rows if place[:2] == (name, method)} for method in methods]
        common = set.intersection(*folds)
        if len(common) < 5:
            continue
        rows.append(found.data[name])
        rows += [row for place, row in found.fit_rows.items() if _counts(place, name, methods, common)]
        rows += [
            row
            for place, row in found.score_rows.items()
            if _counts(place, name, methods, common) and place[4] in data.sizes and model in (None, place[5])
        ]
    return Comparison(rows)


def _counts(place: tuple[Any, ...], name: str, methods: set[str], folds: set[tuple[Any, ...]]) -> bool:
    return place[0] == name and place[1] in methods and place[2:4] in folds


def main() -> None:
    for task in ("classification", "regression"):
        write(f"{task}.md", table(task))
        curves(task)
    write("ranks.md", ranks())


if __name__ == "__main__":
    main()
