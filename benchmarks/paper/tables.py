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
from methods import METHODS, SEED_MARK, methods_for
from run import RAW

from easyfs.common.figures import steady
from easyfs.evaluation import Comparison
from easyfs.evaluation.plots import look

# Data that are one table: tests count it once.
TABLES = {name: data.table for name, data in DATA_SETS.items()}
# A method is ranked if it was tried in so many folds of each data set.
FOLDS = 5
# Ranked data sets on which no setting of EasyFS was chosen (docs/tuning.md); the other 13 were looked at while it was made.
DECIDED_NOTHING = ("COIL20", "UMIST", "YALEB", "PIE-05", "SoyNAM-protein")
# Another trait of the same plants as two tables that were looked at.
SAME_PLANTS = ("SoyNAM-protein",)
# Differences of accuracy or NMSE up to this are practically none.
ROPE = 0.01
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
    with steady():
        figure.savefig(draft, metadata={"Date": None} if name.endswith("svg") else None)  # type: ignore[attr-defined]
    os.replace(draft, OUT / name)
    print(f"wrote docs/results/{name}")


def results(task: str, folder: Path = RAW) -> Comparison:
    """All that was measured for a task so far; scores of a method with several seeds are their means."""
    return averaged(measured(task, folder))


def measured(task: str, folder: Path = RAW) -> Comparison:
    """All that was measured for a task so far, each seed for itself."""
    files = [folder / f"{name}.jsonl" for name, data in DATA_SETS.items() if data.task == task]
    return Comparison.load(*(file for file in files if file.exists()), tables=TABLES)


def averaged(found: Comparison) -> Comparison:
    """Results in which scores of further seeds on the same folds are averaged into those of the method."""
    groups: dict[tuple[Any, ...], list[dict[str, float]]] = {}
    for place, row in found.score_rows.items():
        if row["status"] == "ok":
            groups.setdefault((place[0], place[1].partition(SEED_MARK)[0], *place[2:]), []).append(row["values"])
    rows = [row | {"selectors": [s for s in row["selectors"] if SEED_MARK not in s]} for row in found.data.values()]
    rows += [row for place, row in found.fit_rows.items() if SEED_MARK not in place[1]]
    for place, row in found.score_rows.items():
        if SEED_MARK in place[1]:
            continue
        runs = groups.get(place, [])
        means = {name: float(np.mean([run[name] for run in runs])) for name in row.get("values") or {}} if runs else None
        rows.append(row | ({"values": means} if means else {}))
    return Comparison(rows, TABLES)


def seeds(own: str = "EasyFS") -> list[str]:
    """What another seed of a method would have changed, on the same folds."""
    lines = []
    for task in ("classification", "regression"):
        values = measured(task).values()
        for (name, size, model, method), first in values.items():
            data = DATA_SETS[name]
            others = [v for p, v in values.items() if p[:3] == (name, size, model) and p[3].startswith(f"{own}{SEED_MARK}")]
            if method != own or not others or size not in data.sizes:
                continue
            means = np.array([np.nanmean(run[: min(map(len, [first, *others]))]) for run in (first, *others)])
            spread = f"{means.std(ddof=1):.4f} | {means.min():.4f} to {means.max():.4f} | {np.nanstd(first):.4f}"
            lines.append(f"| {name} | {size} | {len(means)} | {means.mean():.4f} | {spread} |")
    if not lines:
        return []
    return [
        f"## {own} with several seeds",
        "",
        "The same folds with other seeds of the random network; the tables above have the mean over seeds.",
        "",
        "| data | columns | seeds | mean | spread over seeds | lowest to highest | spread over folds |",
        "|---|---|---|---|---|---|---|",
        *lines,
        "",
    ]


def with_seed(found: Comparison, seed: int, own: str = "EasyFS") -> Comparison:
    """Results with one seed of a method in place of all."""
    label = f"{own}{SEED_MARK}{seed}" if seed else own
    rows = [row | {"selectors": [s for s in row["selectors"] if SEED_MARK not in s]} for row in found.data.values()]
    for place, row in [*found.fit_rows.items(), *found.score_rows.items()]:
        if place[1] == label:
            rows.append(row | {"selector": own})
        elif SEED_MARK not in place[1] and place[1] != own:
            rows.append(row)
    return Comparison(rows, TABLES)


def duels_by_seed(own: str = "EasyFS") -> list[str]:
    """Whom a method is not significantly ahead of over both tasks, with each of its seeds alone."""
    every = [measured(task) for task in ("classification", "regression")]
    known = {place[1] for found in every for place in found.fit_rows}
    seeds = [0, *sorted(int(label.partition(SEED_MARK)[2]) for label in known if label.startswith(f"{own}{SEED_MARK}"))]
    lines = []
    for seed in seeds if len(seeds) > 1 else []:
        cells = []
        for slow in (True, False):
            parts = [headline(with_seed(found, seed, own), slow=slow) for found in every]
            both = together(*parts)
            left = [f"{d.against} ({d.p_holm:.2g})" for d in both.duels(own, rope=ROPE) if d.p_holm >= 0.05]
            cells.append(", ".join(left) or "none")
            ranked = mean_ranks(parts[0], [name for name in parts[0].names if name in DECIDED_NOTHING])
            cells.append(f"{ranked[own]:.2f}, place {list(ranked).index(own) + 1} of {len(ranked)}")
        lines.append(f"| {seed} | {' | '.join(cells)} |")
    if not lines:
        return []
    return [
        f"With one seed of {own} alone: the methods that it is not significantly ahead of over both tasks (p after Holm's",
        "correction), by the tests above, and its mean rank on the data sets of classes that decided nothing:",
        "",
        "| seed | all methods, one repeat | rank where nothing was decided | fast methods, three repeats | rank |",
        "|---|---|---|---|---|",
        *lines,
        "",
    ]


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
    methods = {name: method for name, method in methods_for(task).items() if name in found.selectors}
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
                    text += f" ({len(real)} folds)" if len(real) % FOLDS else ""
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
            *made_with(found),
            "",
            *easily_beaten(task, found),
            *notes,
            "",
        ]
    )


def made_with(*parts: Comparison) -> list[str]:
    """With which versions and commits of the library the fits of each method were made, when, and on what machines."""
    states: dict[str, set[str]] = {}
    days, machines = set(), set()
    for row in (row for found in parts for row in found.fit_rows.values()):
        states.setdefault(method_of(row["selector"]), set()).add(f"{row['version']} {row['commit']}")
        days.add(row["date"][:10])
        machines.add(f"{row['machine']}, {row['threads']} threads")
    alike: dict[str, list[str]] = {}
    for method, found in states.items():
        alike.setdefault(", ".join(sorted(found)), []).append(method)
    shown = "; ".join(f"{state} ({', '.join(methods)})" for state, methods in alike.items())
    when = " to ".join(dict.fromkeys((min(days), max(days))))
    return [f"Version and commit of the library: {shown}. Fitted {when}; {'; '.join(sorted(machines))}."]


def method_of(selector: str) -> str:
    """The method that a selector with a seed of its own is of."""
    return selector.partition(SEED_MARK)[0].rstrip(",")


def easily_beaten(task: str, found: Comparison) -> list[str]:
    """Where random columns, and nearly every method, are better than what the paper printed for its EasyFS."""
    printed, values = published(task), found.values()
    sign = 1.0 if task == "classification" else -1.0
    lines = []
    for data in (d for d in DATA_SETS.values() if d.task == task and d.name in found.names):
        for size in data.sizes:
            theirs = printed.get((data.published or "", size, "EasyFS"))
            means = {p[3]: np.nanmean(v) for p, v in values.items() if p[:2] == (data.name, size) and not np.isnan(v).all()}
            if theirs is None or "random" not in means or sign * (means["random"] - theirs) <= 0:
                continue
            better = sum(sign * (mean - theirs) > 0 for mean in means.values())
            lines.append(
                f"- {data.name}, {size} columns: {better} of {len(means)} methods, random selection among them "
                f"({means['random']:.4f}), are better than the {theirs:.4f} that the paper printed for EasyFS: to beat "
                "it says nothing of a method."
            )
    return ["Printed figures that random columns beat:", "", *lines, ""] if lines else []


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
        "A table counts once: the two sizes of a data set share their folds, Wheat599 is one table with four targets,",
        "SoyNAM one with three. Ranks and differences are averaged over the cells of a table first, and all tests are",
        "over tables.",
        "",
        "A cell is a data set at one of the paper's two sizes: the mean over folds that all methods of the list were tried",
        "in: one repeat of five folds where the slow methods (spFSR, LassoNet, STG) are listed, otherwise three; one on",
        "SoyNAM (the forest takes two minutes a fit there), too. A fit over the limit ranks last. Rank 1 is best. The",
        "stand-ins CIFAR-10, BlogFeedback and SoyNAM-fiber are not counted. Made by `benchmarks/paper/tables.py`.",
        "",
    ]
    for label, slow in (("all methods, one repeat", True), ("fast methods, three repeats", False)):
        parts = {task: headline(results(task), slow=slow) for task in ("classification", "regression")}
        for task, found in (parts | {"both tasks": together(*parts.values())}).items():
            if not found.names:
                continue
            lines += [f"## {task.capitalize()}: {label}", "", *over_what(found), ""]
            if task != "both tasks":
                name = f"ranks-{task}{'' if slow else '-fast'}"
                figure = found.plot_critical_difference().figure
                save(figure, f"{name}.svg")
                plt.close(figure)
                lines += [f"![mean ranks, {task}, {label}]({name}.svg)", ""]
            else:
                lines += ["Differences are of accuracy, or of NMSE with its sign turned; without FisherScore.", ""]
            tried = [] if task == "both tasks" else results(task).selectors
            absent = [m for m in METHODS if m in tried and m not in found.selectors and (slow or not METHODS[m].slow)]
            if absent:
                lines += [f"Not ranked, as they were not run on each of these data sets: {', '.join(absent)}.", ""]
            ranked = found.ranks()
            lines += [", ".join(f"{method} {rank:.2f}" for method, rank in ranked.items()) + ".", ""]
            for own in ("EasyFS", "EasyFS ranking") if slow else ("EasyFS",):
                lines += [*duel_table(found, own), ""]
        lines += [*by_view(parts, label), ""]
        if not slow:
            lines += [*against_random(parts), ""]
    made = made_with(*(measured(task) for task in ("classification", "regression")))
    return "\n".join([*lines, *seeds(), *duels_by_seed(), *against_printed(), "", *made, ""])


def by_view(parts: dict[str, Comparison], label: str) -> list[str]:
    """Mean ranks on the data sets that were looked at while EasyFS was made, and on the others."""
    lines = [
        f"## Looked at, or not: {label}",
        "",
        "Mean ranks on the data sets that were looked at while settings of EasyFS were chosen, and on the five that",
        "decided nothing of what it chooses (all were seen once, to see that nothing is lost, and one of the five when a",
        "limit was set to save time: [what was tried](../tuning.md)): too few for a test.",
        "",
        "| tasks | data sets | mean ranks |",
        "|---|---|---|",
    ]
    for task, found in (parts | {"both tasks": together(*parts.values())}).items():
        groups = {"looked at": [name for name in found.names if name not in DECIDED_NOTHING]}
        groups["decided nothing"] = [name for name in found.names if name in DECIDED_NOTHING]
        if task == "both tasks":
            alone = [name for name in groups["decided nothing"] if name not in SAME_PLANTS]
            groups["the same without SoyNAM-protein (another trait of plants that were looked at)"] = alone
        for group, names in groups.items():
            shown = ", ".join(f"{method} {rank:.2f}" for method, rank in mean_ranks(found, names).items())
            lines.append(f"| {task} | {group}: {', '.join(names)} | {shown} |")
    return lines


def mean_ranks(found: Comparison, names: list[str]) -> dict[str, float]:
    """Mean ranks on some of the data sets: of means over folds, also where they are one."""
    rows = [row for kept in (found.fit_rows, found.score_rows) for place, row in kept.items() if place[0] in names]
    return Comparison([*(found.data[name] for name in names), *rows], TABLES).ranks(over="tables")


def together(*parts: Comparison) -> Comparison:
    """Results of several tasks as one, of the methods that can do all of them."""
    common = set.intersection(*(set(part.selectors) for part in parts))
    rows = [row for part in parts for kept in (part.fit_rows, part.score_rows) for row in kept.values()]
    data = [row for part in parts for row in part.data.values()]
    return Comparison(data + [row for row in rows if row["selector"] in common], TABLES)


def over_what(found: Comparison) -> list[str]:
    """How many tables there are, and what their number allows to be said."""
    test = found.friedman()
    fewest = 2.0 ** (1 - test.n_cells) * (len(found.selectors) - 1)
    possible = (
        "so a difference can be significant after Holm's correction"
        if fewest < 0.05
        else f"so no single difference can be significant after Holm's correction (p is at least {min(1.0, fewest):.2g})"
    )
    return [
        f"{test.n_cells} tables ({', '.join(found.names)}), {possible}.",
        f"Friedman's test p = {test.p_value:.2g}, critical difference of mean ranks {test.critical_difference:.2f}",
        "(Nemenyi, 5 %).",
    ]


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
    """A method against each other one, over tables."""
    lines = [
        f"{own} against each other method, over tables: Wilcoxon's test, Holm's correction; and the probability that it is",
        f"better, practically the same (within {ROPE}) or worse on a new table (Bayesian signed-rank test):",
        "",
        "| against | wins | ties | losses | median difference | p | p (Holm) | better | same | worse |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    found_duels = found.duels(own, rope=ROPE)
    for d in found_duels:
        counts = f"{d.wins} | {d.ties} | {d.losses}"
        belief = f"{d.posterior.better:.2f} | {d.posterior.same:.2f} | {d.posterior.worse:.2f}"
        lines.append(f"| {d.against} | {counts} | {d.difference:+.4f} | {d.p_value:.2g} | {d.p_holm:.2g} | {belief} |")
    ahead = [d.against for d in found_duels if d.p_holm < 0.05 and d.difference > 0]
    behind = [d.against for d in found_duels if d.p_holm < 0.05 and d.difference < 0]
    told = f"Significantly ahead of {', '.join(ahead) or 'none'}" + (f"; behind {', '.join(behind)}" if behind else "")
    return [*lines, "", f"{told} (p (Holm) below 0.05, {len(found_duels)} comparisons)."]


def headline(found: Comparison, *, slow: bool, model: str | None = None) -> Comparison:
    """The paper's two sizes on its own data sets, in the folds in which every method has been tried.

    A method that was not tried in five folds of each data set is left out.
    """
    rows = []
    names = [name for name in found.names if DATA_SETS[name].published is not None]
    listed = {m for m in METHODS if m in found.selectors and (slow or not METHODS[m].slow)}
    methods = {m for m in listed if all(len(folds_of(found, name, m)) >= FOLDS for name in names)}
    for name in names:
        data = DATA_SETS[name]
        common = set.intersection(*(folds_of(found, name, method) for method in methods))
        rows.append(found.data[name])
        rows += [row for place, row in found.fit_rows.items() if _counts(place, name, methods, common)]
        rows += [
            row
            for place, row in found.score_rows.items()
            if _counts(place, name, methods, common) and place[4] in data.sizes and model in (None, place[5])
        ]
    return Comparison(rows, TABLES)


def folds_of(found: Comparison, name: str, method: str) -> set[tuple[Any, ...]]:
    """Folds of a data set in which a method was tried."""
    return {place[2:] for place in found.fit_rows if place[:2] == (name, method)}


def _counts(place: tuple[Any, ...], name: str, methods: set[str], folds: set[tuple[Any, ...]]) -> bool:
    return place[0] == name and place[1] in methods and place[2:4] in folds


def main() -> None:
    for task in ("classification", "regression"):
        write(f"{task}.md", table(task))
        curves(task)
    write("ranks.md", ranks())


if __name__ == "__main__":
    main()
