"""The page of the confirmatory comparison, from the rows that ``run.py`` kept.

    python benchmarks/confirm/page.py [--raw FOLDER] [--out FOLDER]

writes docs/results/confirm.md, confirm-tables.md and confirm.svg. All sentences are made from the numbers.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
from field import ALL, METHODS, MODELS, SIZES, absent
from make import SETTINGS, TABLES, known
from standing import FOLDS, SECOND, SLOW, Results, Standing, methods_of, standing, standings

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import rows_of

HERE = Path(__file__).resolve().parent
OWN, CONTROL = "EasyFS", "random"
# Scores that differ by less are equal.
TIE = 1e-9
TASKS = {"classification": "Classification", "regression": "Regression", None: "Both tasks"}
COLUMNS = [(size, model) for size in SIZES for model in MODELS]
LEVEL = 0.05


def write(folder: Path, name: str, text: str) -> None:
    """Write a page whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{name}.part"
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, folder / name)
    print(f"wrote {name}")


def count(number: int, what: str) -> str:
    """So many of something."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def again() -> list[str]:
    """Whether a later state of the code chooses the same columns."""
    for row in rows_of("confirm-again")[-1:]:
        same = ", ".join(f"the same {size} columns in {n} of {row['fits']} fits" for size, n in row["same"].items())
        return [
            "The code was changed since ([what was tried](../tuning.md)):",
            f"that of {row['date'][:10]}, commit {row['commit']}, chooses {same} (`benchmarks/confirm/again.py`).",
        ]
    return []


def head(results: Results) -> list[str]:
    """What was done, with what."""
    used, small = results.names(None), results.names(None, small=True)
    blocks = {
        task: len({TABLES[n].get("block", n) for n in results.names(task)}) for task in ("classification", "regression")
    }
    marks = results.stamps
    told = [", ".join(dict.fromkeys(str(mark[key]) for mark in marks)) for key in ("version", "commit", "machine")]
    dates = sorted(mark["date"][:10] for mark in marks)
    limits = ", ".join(dict.fromkeys(f"{mark['time_limit']:g} s" for mark in marks))
    jobs = [f"{mark['jobs']} fits at a time with {count(mark['threads'], 'thread')} each" for mark in marks]
    blocks_told = f"{blocks['classification']} blocks of classes, {blocks['regression']} of numbers"
    lines = [
        "# New data: the confirmatory comparison",
        "",
        f"{count(len(used), 'table')} ({blocks_told}) that were not looked at while the method was",
        "made, fixed with their targets, dropped columns and checksums before the first run",
        "(`benchmarks/confirm/tables.toml`). The defaults of each method for all tables; of XGBoost also total gain, and",
        "of spFSR also a start from a forest. At most 1,000 rows of a table; 10 and 30 columns; 5 folds, columns chosen",
        "inside the training rows, the same folds for all. A block is a table, or several targets of the same rows, and",
        "counts once. Scores are accuracy and 1 - NMSE, means over folds (over both tasks, tests compare differences of",
        "both kinds); of EasyFS and of the paper's ranking means over three seeds of the network, too. A method that fails",
        "or is over the limit in any fold ranks",
        f'last in that table. Rank 1 is best; random selection is ranked as any other, "{ALL}" is a reference and is not.',
        "Models: linear SVM or RBF SVR (SVM), logistic or ridge regression (linear), five nearest neighbours, gradient",
        "boosting (not for more than ten classes).",
        "",
        f"Version {told[0]}, commit {told[1]}; {' to '.join(dict.fromkeys((dates[0], dates[-1])))}; {told[2]};",
        f"{', '.join(dict.fromkeys(jobs))}; limit of a fit {limits}.",
        "Made by `benchmarks/confirm/run.py` and `page.py` from `benchmarks/confirm/raw`.",
        *again(),
        *(
            f"{', '.join(methods)} were run after the others, on the same folds: commit {commit}, {machine}."
            for (commit, machine), methods in results.later.items()
        ),
        "",
    ]
    missing = [name for name in TABLES if name not in results.by_table]
    if missing:
        lines += [f"Not run yet: {', '.join(missing)}.", ""]
    tried = {method for name in results.by_table for method in results.labels(name)}
    idle = [name for name in METHODS if name not in absent() and name not in tried]
    if idle:
        lines += [f"**Not run yet, and not in the ranks below: {', '.join(idle)}.**", ""]
    if absent():
        lines += [f"Not in this version of the library: {', '.join(absent())}.", ""]
    if small:
        lines += [f"Fewer than 100 rows or 50 columns, on a line of their own below: {', '.join(small)}.", ""]
    return lines


def verdict(title: str, found: dict[tuple[int, str | None], Standing]) -> list[str]:
    """Where EasyFS stands, in sentences made from the numbers."""
    lines = []
    for size in SIZES:
        whole = found[size, None]
        ranks = whole.mean_ranks()
        place = 1 + sum(rank < ranks[OWN] for rank in ranks.values())
        ahead = [f"{m} {rank:.2f}" for m, rank in sorted(ranks.items(), key=lambda e: e[1]) if rank < ranks[OWN]]
        tests = whole.duels(OWN)
        sure = [d for d in tests if d.p_holm < LEVEL]
        better = [d.against for d in sure if d.wins > d.losses]
        worse = [d.against for d in sure if d.wins < d.losses]
        rest = [d.against for d in tests if d.against not in better + worse]
        line = f"{title}, {size} columns, mean over the models: EasyFS has mean rank {ranks[OWN]:.2f} of {len(ranks)},"
        line += f" place {place}"
        line += f" (ahead of it: {', '.join(ahead)})." if ahead else "."
        line += f" Random selection {ranks[CONTROL]:.2f}." if CONTROL in ranks else ""
        names = f" ({', '.join(better)})" if better else ""
        line += f" Significantly ahead of {len(better)} of {len(tests)} methods{names} by Wilcoxon's test over"
        line += (
            f" {len(whole.blocks)} blocks with Holm's correction, 5 %; significantly behind {', '.join(worse) or 'none'}"
        )
        line += f"; not told apart from {', '.join(rest)}." if rest else "."
        lines += [line, ""]
    return lines


def rank_table(found: dict[tuple[int, str | None], Standing]) -> list[str]:
    """Mean ranks: a line for each method, a column for each size and model, and for all models at a size."""
    places = [(size, model) for size in SIZES for model in (*MODELS, None)]
    columns = [found[place].mean_ranks() for place in places]
    whole = {
        m: float(np.mean([found[size, None].mean_ranks()[m] for size in SIZES])) for m in found[SIZES[0], None].methods
    }
    best = [min(column.values(), default=np.nan) for column in columns]
    titles = [f"{'all models' if model is None else MODELS[model]} {size}" for size, model in places]
    lines = [f"| method | {' | '.join(titles)} | all |", "|---|" + "---|" * (len(places) + 1)]
    for method in sorted(whole, key=whole.__getitem__):
        cells = []
        for column, first in zip(columns, best, strict=True):
            text = f"{column[method]:.2f}" if column else "—"
            cells.append(f"**{text}**" if column and column[method] == first else text)
        lines.append(f"| {method} | {' | '.join(cells)} | {whole[method]:.2f} |")
    return [*lines, ""]


def duel_table(found: dict[tuple[int, str | None], Standing], size: int) -> list[str]:
    """EasyFS against each other method, by model."""
    places = [*MODELS, None]
    tests = {model: {d.against: d for d in found[size, model].duels(OWN)} for model in places}
    gaps = {gap.against: gap for gap in found[size, None].gaps(OWN)}
    lines = [
        f"{size} columns: EasyFS's wins-ties-losses over blocks and Wilcoxon's p with Holm's correction; at the right by",
        "how many ranks EasyFS is ahead in the mean over models, with the 95 % interval over blocks drawn anew, and the",
        "share of draws in which it is ahead.",
        "",
        f"| against | {' | '.join(MODELS[m] if m else 'all models' for m in places)} | ranks ahead | drawn ahead |",
        "|---|" + "---|" * (len(places) + 2),
    ]
    for method, g in gaps.items():
        cells = []
        for model in places:
            d = tests[model].get(method)
            cells.append("—" if d is None else f"{d.wins}-{d.ties}-{d.losses}, {p_text(d.p_holm)}")
        lines.append(f"| {method} | {' | '.join(cells)} | {g.mean:+.2f} [{g.low:+.2f}, {g.high:+.2f}] | {g.ahead:.3f} |")
    return [*lines, ""]


def p_text(p: float) -> str:
    """A p-value, short."""
    if np.isnan(p):
        return "no difference"
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")


def section(results: Results, task: str | None) -> list[str]:
    """Ranks and tests of a task; if the slow methods are not through in all tables, without them, too."""
    names = results.names(task)
    lines = [f"## {TASKS[task]}", ""]
    shown: list[str] = []
    for slow in (True, False):
        methods, through = methods_of(results, names, slow=slow)
        if not through or OWN not in methods or through == shown:
            continue
        shown = through
        found = standings(results, through, methods)
        left = [name for name in names if name not in through]
        what = "All methods" if slow else f"Without {', '.join(SLOW)}"
        title = f"{TASKS[task]}, {'all methods' if slow else 'without the slow ones'}"
        lines += [f"### {what}: {count(len(found[SIZES[0], None].blocks), 'block')}", ""]
        lines += [f"Not through, and left out: {', '.join(left)}.", ""] if left else []
        lines += [*verdict(title, found), *rank_table(found)]
        for size in SIZES:
            lines += duel_table(found, size)
    return lines


def balanced(results: Results) -> list[str]:
    """Mean ranks by balanced accuracy."""
    names = results.names("classification")
    methods, through = methods_of(results, names, slow=True)
    if not through or OWN not in methods:
        return []
    lines = ["## By balanced accuracy", ""]
    for size in SIZES:
        ranks = standing(results, through, methods, size, None, SECOND).mean_ranks()
        text = ", ".join(f"{m} {rank:.2f}" for m, rank in sorted(ranks.items(), key=lambda e: e[1]))
        lines += [f"{size} columns, mean over models, {count(len(through), 'table')} of classes: {text}.", ""]
    return lines


def behind(results: Results) -> list[str]:
    """Where EasyFS is behind: random selection, half of the field, not selecting."""
    lines = ["## Where EasyFS is behind", ""]
    cells, chance, half, whole = 0, [], [], []
    others: dict[str, list[bool]] = {}
    for name in results.names(None):
        methods, through = methods_of(results, [name], slow=True)
        if not through or OWN not in methods:
            continue
        for size in SIZES:
            at = standing(results, [name], methods, size, None)
            own, rank = at.scores[0, methods.index(OWN)], at.ranks[0, methods.index(OWN)]
            first = methods[int(np.argmin(at.ranks[0]))]
            if rank > (len(methods) + 1) / 2:
                half.append(f"{name} at {size} (mean rank over models {rank:.1f} of {len(methods)}; best: {first})")
            full = [results.score(name, ALL, size, model).mean() for model in MODELS if results.has_model(name, model)]
            if np.isfinite(full).all() and np.mean(full) > own:
                whole.append(f"{name} at {size} ({own - np.mean(full):+.3f})")
            for model in MODELS:
                if CONTROL in methods and results.has_model(name, model):
                    cells += 1
                    gap = results.score(name, OWN, size, model).mean() - results.score(name, CONTROL, size, model).mean()
                    chance += [f"{name} at {size}, {MODELS[model]} ({gap:+.3f})"] if gap < -TIE else []
                    control = results.score(name, CONTROL, size, model).mean()
                    for method in methods:
                        worse = not results.score(name, method, size, model).mean() - control >= -TIE
                        others.setdefault(method, []).append(worse)
    for what, found in (
        (f"Behind random selection, of {cells} cells (table, size, model)", chance),
        ("In the lower half of the field, mean over models", half),
        (f"Behind {ALL}, mean over models", whole),
    ):
        lines += [f"{what}: {len(found)}. {'; '.join(found)}{'.' if found else ''}".rstrip(), ""]
    others.pop(CONTROL, None)
    told = [
        f"{method} {sum(worse)}" + (f" of {len(worse)}" if len(worse) < cells else "")
        for method, worse in sorted(others.items(), key=lambda entry: sum(entry[1]))
    ]
    return [*lines, f"Behind random selection, failures among them, of {cells} cells: {', '.join(told)}.", ""]


def seeds(results: Results) -> list[str]:
    """How much the seed of the network matters."""
    spreads: dict[str, list[tuple[float, str]]] = {}
    for name in results.names(None):
        for size, model in COLUMNS:
            for method in (OWN, "EasyFS ranking"):
                values = results.score(name, method, size, model)
                if len(values) > 1 and np.isfinite(values).all():
                    spreads.setdefault(method, []).append((float(values.std(ddof=1)), f"{name} at {size}, {MODELS[model]}"))
    lines = ["## Seeds of the network", ""]
    for method, found in spreads.items():
        largest = max(found)
        middle = float(np.median([spread for spread, _ in found]))
        lines += [
            f"{method}: standard deviation over three seeds of the score of a table: median {middle:.4f}, largest",
            f"{largest[0]:.3f} ({largest[1]}), {count(len(found), 'cell')}.",
            "",
        ]
    return lines


def failures(results: Results) -> list[str]:
    """All that gave nothing, with its reason."""
    failed, stopped = results.failures(), results.stopped()
    lines = ["## Failures and overruns", ""]
    if not failed and not stopped:
        return [*lines, "None.", ""]
    if failed:
        lines += ["| table | method | reason | times |", "|---|---|---|---|"]
        lines += [
            f"| {name} | {method} | {reason.replace('|', '/')} | {n} |" for (name, method, reason), n in failed.items()
        ]
        lines.append("")
    if stopped:
        text = "; ".join(f"{method} on {name} ({n} of {FOLDS} fits)" for (name, method), n in stopped.items())
        lines += [f"Stopped at the limit with the best so far: {text}.", ""]
    return lines


def small_line(results: Results) -> list[str]:
    """The tables with fewer rows or columns, apart."""
    names = results.names(None, small=True)
    methods, through = methods_of(results, names, slow=True)
    if not through or OWN not in methods:
        return []
    lines = ["## Tables with fewer rows or columns", "", f"{', '.join(through)}; not counted above.", ""]
    for size in SIZES:
        ranks = standing(results, through, methods, size, None).mean_ranks()
        text = ", ".join(f"{m} {rank:.2f}" for m, rank in sorted(ranks.items(), key=lambda e: e[1]))
        lines += [f"{size} columns, mean ranks over models: {text}.", ""]
    return lines


def table_page(results: Results) -> str:
    """Each table: EasyFS, the best other method, random selection, no selection."""
    lines = [
        "# The tables of the confirmatory comparison",
        "",
        "What they are, and what came out, by model. Scores are accuracy or",
        "1 - NMSE. Made by `benchmarks/confirm/page.py`; with which version and commit, on which machine and when:",
        "[the comparison](confirm.md).",
        "",
    ]
    lines += ["| table | rows | columns | classes | source | about |", "|---|---|---|---|---|---|"]
    for name, about in TABLES.items():
        shape = known()[name]
        source = f"{about['source']} {SETTINGS['source'][about['source']]['version']}, {about['item']}"
        lines.append(
            f"| {name} | {shape['rows']} | {shape['columns']} | {shape.get('classes', '')} | {source} | {about['about']} |"
        )
    for model, label in MODELS.items():
        lines += [
            "",
            f"## {label}",
            "",
            "| table | columns | EasyFS | its rank | best other | random | all columns |",
            "|---|---|---|---|---|---|---|",
        ]
        for name in results.by_table:
            lines += table_lines(results, name, model)
    return "\n".join([*lines, ""])


def table_lines(results: Results, name: str, model: str) -> list[str]:
    """The lines of one table."""
    methods, through = methods_of(results, [name], slow=True)
    if not through or OWN not in methods or not results.has_model(name, model):
        return []
    lines = []
    for size in SIZES:
        at = standing(results, [name], methods, size, model)
        scores = dict(zip(methods, at.scores[0].tolist(), strict=True))
        rank = at.ranks[0, methods.index(OWN)]
        own = results.score(name, OWN, size, model)
        other = max((m for m in methods if m != OWN), key=scores.__getitem__)
        spread = f" ± {own.std(ddof=1):.3f}" if len(own) > 1 else ""
        full = results.score(name, ALL, size, model).mean()
        lines.append(
            f"| {name} | {size} | {own.mean():.3f}{spread} | {rank:.0f} of {len(methods)} | {other} {scores[other]:.3f} | "
            f"{scores.get(CONTROL, np.nan):.3f} | {full:.3f} |"
        )
    return lines


def figure(results: Results, folder: Path) -> None:
    """Mean ranks over both tasks: a dot for each model, a bar for their mean."""
    import matplotlib.pyplot as plt  # noqa: PLC0415

    methods, through = methods_of(results, results.names(None), slow=True)
    if not through or OWN not in methods:
        return
    found = standings(results, through, methods)
    colours = dict(zip(MODELS, ("#0072B2", "#D55E00", "#009E73", "#CC79A7"), strict=True))
    drawing, panels = plt.subplots(
        1, len(SIZES), figsize=(11, 0.28 * len(methods) + 1.6), layout="constrained", sharex=True
    )
    for panel, size in zip(panels, SIZES, strict=True):
        whole = found[size, None].mean_ranks()
        order = sorted(whole, key=whole.__getitem__, reverse=True)
        for model, colour in colours.items():
            ranks = found[size, model].mean_ranks()
            panel.scatter([ranks[m] for m in order], range(len(order)), s=18, color=colour, label=MODELS[model], zorder=3)
        panel.scatter(
            [whole[m] for m in order], range(len(order)), marker="|", s=160, color="black", label="mean", zorder=4
        )
        panel.set_yticks(range(len(order)), order, fontsize=8)
        for text in panel.get_yticklabels():
            text.set_weight("bold" if text.get_text() == OWN else "normal")
            text.set_color("#888888" if text.get_text() == CONTROL else "black")
        panel.set_title(f"{size} columns, {len(found[size, None].blocks)} blocks", fontsize=11)
        panel.set_xlabel("mean rank (1 is best)")
        panel.grid(axis="x", alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].legend(fontsize=7, frameon=False, loc="lower left")
    draft = folder / "part-confirm.svg"
    plt.rcParams["svg.hashsalt"] = "confirm"
    drawing.savefig(draft, metadata={"Date": None})
    os.replace(draft, folder / "confirm.svg")
    plt.close(drawing)
    print("wrote confirm.svg")


def page(results: Results) -> str:
    """The page as Markdown."""
    lines: list[Any] = [*head(results), "![mean ranks of all methods](confirm.svg)", ""]
    lines += ["What came out for each table: [confirm-tables.md](confirm-tables.md).", ""]
    for task in (None, "classification", "regression"):
        lines += section(results, task)
    for part in (behind, balanced, small_line, seeds, failures):
        lines += part(results)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", type=Path, default=HERE / "raw")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "docs" / "results")
    args = parser.parse_args()
    results = Results(args.raw)
    if not results.by_table:
        raise SystemExit(f"there are no results in {args.raw}; run benchmarks/confirm/run.py first.")
    write(args.out, "confirm.md", page(results))
    write(args.out, "confirm-tables.md", table_page(results))
    figure(results, args.out)


if __name__ == "__main__":
    main()
