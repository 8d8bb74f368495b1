"""Planted problems: how many of the true columns each method finds, and how many EasyFS takes when it is to say itself.

    python benchmarks/planted.py [--half development] [--seeds 10] [--methods EasyFS,lasso] [--problems weak,XOR] [--page]

Recall is the share of the true columns among as many chosen ones; any of a set of columns that say the same counts as the
true one. Random selection is in the field. Every result is kept in benchmarks/raw/planted-*.jsonl, and a rerun does only
what is missing. Writes docs/results/planted.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from keeping import Row
from measuring import Results, beyond_chance, bold, options, run, seeds, table_head, write
from planted_problems import PROBLEMS, RANDOM, draw

METHODS = ["EasyFS", "EasyFS auto", "correlation", "mRMR", "lasso", "fastcan", "forest", "random"]
KEY = ("problem", "seed", "method")
# So many random problems are drawn for each half, and a mean recall from this on counts as found.
DRAWN, FOUND = 40, 0.97


def cells(half: str, args: argparse.Namespace) -> Iterator[tuple[str, int, str]]:
    """Problem, seed and method of each result."""
    for problem in [*PROBLEMS, RANDOM]:
        if any(part in problem for part in args.problems.split(",")):
            for seed in seeds(half, seeds_of(problem, args.seeds)):
                for method in args.methods.split(","):
                    yield problem, seed, method


def seeds_of(problem: str, asked: int) -> int:
    """How many seeds a problem has: each seed of the random ones is another problem."""
    return asked * DRAWN // 10 if problem == RANDOM else asked


def measure(problem: str, seed: int, method: str, threads: int) -> Row:
    """Recall of one method on one table."""
    table = draw(problem, seed)
    selector, found = run(method, table, "auto" if method.endswith("auto") else table.k, seed, threads)
    chosen = found.pop("chosen")
    row: Row = {"problem": problem, "seed": seed, "method": method, "recall": round(table.recall(chosen), 4)}
    row |= {"surplus": len(chosen) - table.k} if method.endswith("auto") else {}
    sure = beyond_chance(selector)
    if sure is not None and method.startswith("EasyFS"):
        true = [table.is_true(column) for column in chosen]
        row |= {"true": sum(true), "sure_true": sum(s and t for s, t in zip(sure, true, strict=True))}
        row |= {"false": len(true) - sum(true), "sure_false": sum(s and not t for s, t in zip(sure, true, strict=True))}
    return row | found


def of(results: Results, problem: str, method: str, chosen: range) -> list[Row] | None:
    """The results of a method on a problem; None where some are missing."""
    found = [results.rows.get((problem, seed, method)) for seed in chosen]
    return None if any(row is None for row in found) else [row for row in found if row is not None]


def spread(values: list[float], digits: int) -> str:
    """Mean and standard deviation."""
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def section(half: str, args: argparse.Namespace) -> list[str]:
    """The table of one half, and what is to be said of it."""
    results = Results(f"planted-{half}", KEY)
    methods = [m for m in METHODS if m != "EasyFS auto" and any(row["method"] == m for row in results.rows.values())]
    lines = [f"## {half.capitalize()} seeds", ""]
    lines += table_head(["problem", *methods, "EasyFS's spread", "auto: recall", "auto: too many"])
    means: list[list[float | None]] = []
    listed: list[list[float | None]] = []  # of these the problem is the same for all seeds
    behind = []
    for problem in [*PROBLEMS, RANDOM]:
        chosen = seeds(half, seeds_of(problem, args.seeds))
        found = {m: of(results, problem, m, chosen) for m in [*methods, "EasyFS auto"]}
        if not any(found.values()):
            continue
        recalls = {m: None if rows is None else [row["recall"] for row in rows] for m, rows in found.items()}
        values = [None if recalls[m] is None else float(np.mean(recalls[m])) for m in methods]
        auto = found["EasyFS auto"]
        own = recalls.get("EasyFS")
        last = ["—" if own is None else f"± {np.std(own):.2f}"]
        last += ["—"] * 2 if auto is None else [spread(recalls["EasyFS auto"] or [], 2), surplus(auto)]
        name = f"{problem} ({len(chosen)} drawn)" if problem == RANDOM else problem
        lines.append(f"| {name} | {' | '.join([*bold(values), *last])} |")
        means.append(values)
        listed += [] if problem == RANDOM else [values]
        others = {m: r for m, r in recalls.items() if r is not None and m != "EasyFS auto"}
        behind += behind_on(problem, others, chosen)
    whole = [None if None in column else float(np.mean(column)) for column in zip(*means, strict=True)]
    lines.append(f"| mean of the problems | {' | '.join([*bold(whole), '', '', ''])} |")
    full = [None if None in column else sum(v == 1.0 for v in column) for column in zip(*listed, strict=True)]
    counts = ["—" if count is None else f"{count} of {len(listed)}" for count in full]
    lines += [f"| all true columns with every seed | {' | '.join([*counts, '', '', ''])} |", ""]
    lines += [f"Problems where EasyFS is below {FOUND} though another method reaches it:", ""] if behind else []
    lines += behind or [f"There is no problem where EasyFS is below {FOUND} though another method reaches it."]
    return [
        *lines,
        "",
        *left_out(results, methods, args.limit),
        *certainty(results),
        *failures(results),
        *results.made_with(),
    ]


def surplus(rows: list[Row]) -> str:
    """How many columns more than there are true ones, and how many at most."""
    extra = [row["surplus"] for row in rows]
    return f"{np.mean(extra):+.1f} ± {np.std(extra):.1f} ({min(extra):+d} to {max(extra):+d})"


def behind_on(problem: str, recalls: dict[str, list[float]], chosen: range) -> list[str]:
    """A line for the problem, or for each of the random ones, if another method finds what EasyFS does not."""
    if "EasyFS" not in recalls:
        return []
    if problem == RANDOM:
        single = [{m: values[i] for m, values in recalls.items()} for i in range(len(chosen))]
        names = [f"random linear, seed {seed}: {draw(problem, seed).told}" for seed in chosen]
    else:
        single, names = [{m: float(np.mean(values)) for m, values in recalls.items()}], [problem]
    lines = []
    for name, value in zip(names, single, strict=True):
        others = ", ".join(f"{m} {v:.2f}" for m, v in value.items() if m != "EasyFS" and v >= FOUND)
        if others and value["EasyFS"] < FOUND:
            lines.append(f"- {name}: EasyFS {value['EasyFS']:.2f}; {others}")
    return lines


def left_out(results: Results, methods: list[str], limit: float) -> list[str]:
    """Which methods were too slow where."""
    slow = {m: [p for p in [*PROBLEMS, RANDOM] if results.is_slow(limit, problem=p, method=m)] for m in methods}
    lines = [f"{m}, left out after a first fit of more than {limit:g} s: {'; '.join(p)}." for m, p in slow.items() if p]
    return [*lines, ""] if lines else []


def certainty(results: Results) -> list[str]:
    """How often EasyFS says of the columns it was told to take that they are beyond chance."""
    rows = [row for row in results.rows.values() if row["method"] == "EasyFS" and "sure_true" in row]
    total: dict[str, int] = {part: sum(row[part] for row in rows) for part in ("true", "sure_true", "false", "sure_false")}
    if not rows:
        return []
    told = f"Told how many, EasyFS says of {total['sure_true']} of the {total['true']} true columns it took that they "
    return [f"{told}are beyond chance, and of {total['sure_false']} of the {total['false']} others.", ""]


def failures(results: Results) -> list[str]:
    """What went wrong; it counts as nothing found."""
    wrong: dict[tuple[Any, ...], int] = {}
    for row in results.rows.values():
        if "error" in row:
            cell = (row["method"], row["problem"], row["error"])
            wrong[cell] = wrong.get(cell, 0) + 1
    lines = [f"- {method} failed on {problem}, {times} times: {error}" for (method, problem, error), times in wrong.items()]
    return [*lines, ""] if lines else []


def page(args: argparse.Namespace) -> str:
    """The page, a table for each half."""
    lines = [
        "# Planted problems",
        "",
        "Share of the true columns that each method finds when told how many there are, mean over",
        f"{args.seeds} seeds; the spread is their standard deviation. Of columns that say the same, any one counts.",
        "Last columns: EasyFS when it is to say itself how many, the share of the true columns that it takes, and how many",
        "more than there are. e is standard normal noise; columns are standard normal, unless said, and stand in random",
        "places. Settings are the defaults. The library was changed with the development seeds in view; results of the",
        "held-out ones were seen between its versions.",
        "Made by `benchmarks/planted.py`; every result is in `benchmarks/raw`.",
        "",
    ]
    for half in reversed(args.half.split(",")):
        lines += section(half, args)
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    parser = options(__doc__, "planted.md")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--problems", default="", help="parts of the names of problems; all without it")
    parser.add_argument("--limit", type=float, default=120, help="seconds of a method's first fit on a problem at most")
    args = parser.parse_args()
    for half in [] if args.page else args.half.split(","):
        results = Results(f"planted-{half}", KEY)
        for problem, seed, method in cells(half, args):
            slow = results.is_slow(args.limit, problem=problem, method=method)
            if not slow and not results.has(problem=problem, seed=seed, method=method):
                results.add(measure(problem, seed, method, args.threads))
        results.tidy()
    write(page(args), args.out)


if __name__ == "__main__":
    main()
