"""Tables whose target has nothing to do with their columns: how often a method takes more than one of them all the same.

    python benchmarks/noise.py [--half development] [--seeds 40] [--methods 'EasyFS auto'] [--kinds weights] [--page]

A selector must take one column at least. EasyFS says itself how many ("auto"), and so does the cross-validated lasso, which
is there to compare with. Where the target is made of one column, more than that one counts. Every result is kept in
benchmarks/raw/noise-*.jsonl, and a rerun does only what is missing. Writes docs/results/noise.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from keeping import Row
from measuring import Results, beyond_chance, interactions, options, run, seeds, table_head, write
from noise_tables import KINDS, RANDOM, draw

METHODS = ["EasyFS auto", "lasso auto"]
KEY = ("kind", "seed", "method")
LEVEL = 0.05


def cells(half: str, args: argparse.Namespace) -> Iterator[tuple[str, int, str]]:
    """Kind, seed and method of each result."""
    for kind in [*KINDS, RANDOM]:
        if any(part in kind for part in args.kinds.split(",")):
            for seed in seeds(half, args.seeds):
                for method in args.methods.split(","):
                    yield kind, seed, method


def measure(kind: str, seed: int, method: str) -> Row | None:
    """What one method takes from one table; None where it cannot have weights."""
    table = draw(kind, seed)
    if table.weight is not None and not method.startswith("EasyFS"):
        return None
    selector, found = run(method, table, "auto", seed)
    chosen = found.pop("chosen")
    row: Row = {"kind": kind, "seed": seed, "method": method, "taken": len(chosen)}
    row |= {"true": any(table.is_true(column) for column in chosen)} if table.k else {}
    if method.startswith("EasyFS"):
        names = table.X.columns if isinstance(table.X, pd.DataFrame) else None
        named, sure, p = interactions(selector, names), beyond_chance(selector), getattr(selector, "p_values_", None)
        row |= {} if named is None else {"named": len(named)}
        row |= {} if sure is None else {"sure": sum(sure)}
        row |= {} if p is None or not len(p) else {"p": float(f"{p[0]:.4g}")}
    return row | found


def share(times: int, of: int) -> str:
    """A share with its interval of confidence (95 %, Wilson), to a tenth of a per cent where there are many."""
    low, high = binomtest(times, of).proportion_ci(method="wilson")
    digits = int(of >= 400)
    return f"{times} of {of} ({100 * low:.{digits}f} to {100 * high:.{digits}f} %)"


def is_made_of_one(kind: str) -> bool:
    """Whether the target is made of one column, and all others are noise."""
    return kind in KINDS and KINDS[kind].strong > 0.0


def describe(rows: list[Row], allowed: int) -> list[str]:
    """Cells of EasyFS's results: what it takes, names and is sure of, seconds; ``allowed`` columns are true."""
    tried = [row for row in rows if "error" not in row]
    taken = [row["taken"] for row in tried]
    if not tried:
        return ["failed", "", "", "", "", ""]
    named = [row["named"] > 0 for row in tried if "named" in row]
    sure = [row["sure"] > allowed for row in tried if "sure" in row]
    small = [row["p"] < LEVEL for row in tried if "p" in row]
    return [
        share(sum(count > 1 for count in taken), len(taken)),
        f"{np.mean(taken):.1f}, {max(taken)}",
        share(sum(named), len(named)) if named else "—",
        share(sum(sure), len(sure)) if sure else "—",
        share(sum(small), len(small)) if small and not allowed else "—",
        f"{np.median([row['seconds'] for row in tried]):.2g}",
    ]


def section(half: str, args: argparse.Namespace) -> list[str]:
    """The table of one half, and what is to be said of it."""
    results = Results(f"noise-{half}", KEY)
    lines = [f"## {half.capitalize()} seeds", ""]
    heads = ["kind", "takes more than one", "columns taken: mean, most", "names an interaction", "sure of a column"]
    lines += table_head([*heads, f"first p below {LEVEL}", "seconds", "lasso: more than one"])
    every: dict[bool, list[Row]] = {False: [], True: []}
    of_lasso: dict[bool, list[bool]] = {False: [], True: []}
    for kind in [*KINDS, RANDOM]:
        found = {m: [results.rows.get((kind, seed, m)) for seed in seeds(half, args.seeds)] for m in METHODS}
        rows = {m: [row for row in some if row is not None] for m, some in found.items()}
        if len(rows["EasyFS auto"]) < args.seeds:
            continue
        other = [row["taken"] > 1 for row in rows["lasso auto"] if "error" not in row]
        one = is_made_of_one(kind)
        of_lasso[one] += other
        every[one] += rows["EasyFS auto"]
        last = f"{sum(other)} of {len(other)}" if other else "—"
        lines.append(f"| {kind} | {' | '.join([*describe(rows['EasyFS auto'], int(one)), last])} |")
    for one, name in ((False, "**all of noise alone**"), (True, "**all with one strong column**")):
        if every[one]:
            last = f"{sum(of_lasso[one])} of {len(of_lasso[one])}"
            lines.append(f"| {name} | {' | '.join([*describe(every[one], int(one)), last])} |")
    return [*lines, "", *remarks(results, half, args), *results.made_with()]


def remarks(results: Results, half: str, args: argparse.Namespace) -> list[str]:
    """True columns that were missed, random tables from which more was taken, methods left out, and what went wrong."""
    lines = []
    for kind in KINDS:
        rows = [row for row in results.rows.values() if row["kind"] == kind and row["method"] == "EasyFS auto"]
        missed = sum(not row["true"] for row in rows if "true" in row)
        lines += [f"- {kind}: the column itself was missed {missed} times."] if missed else []
    for seed in seeds(half, args.seeds):
        row = results.rows.get((RANDOM, seed, "EasyFS auto"))
        if row is not None and (row["taken"] > 1 or row.get("named", 0)):
            lines.append(f"- {RANDOM}, seed {seed}, {row['taken']} taken: {draw(RANDOM, seed).told}")
    slow = [kind for kind in [*KINDS, RANDOM] if results.is_slow(args.limit, kind=kind, method="lasso auto")]
    lines += [f"- lasso, left out after a first fit of more than {args.limit:g} s: {'; '.join(slow)}."] if slow else []
    wrong: dict[tuple[str, str, str], int] = {}
    for row in results.rows.values():
        if "error" in row:
            cell = (row["method"], row["kind"], row["error"])
            wrong[cell] = wrong.get(cell, 0) + 1
    lines += [f"- {method} failed on {kind}, {times} times: {error}" for (method, kind, error), times in wrong.items()]
    return [*lines, ""] if lines else []


def page(args: argparse.Namespace) -> str:
    """The page, a table for each half."""
    lines = [
        "# Tables of noise",
        "",
        "The target has nothing to do with the columns, or with all but one of them. How often EasyFS, told to choose",
        f"their number itself, takes more than the one that it must, and names an interaction; {args.seeds} seeds,",
        "in brackets the interval of confidence (95 %). Sure of a column: it says of one that it is beyond chance (of one",
        "more, where the target is made of one column); its test has a level of 2 %. Beside it the cross-validated lasso,",
        "where it can be used. A dash: not measured, or without a meaning. The library was changed with the development",
        "seeds in view; results of the held-out ones were seen between its versions.",
        "Made by `benchmarks/noise.py`; every result is in `benchmarks/raw`.",
        "",
    ]
    for half in reversed(args.half.split(",")):
        lines += section(half, args)
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    parser = options(__doc__, "noise.md")
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--kinds", default="", help="parts of the names of kinds; all without it")
    parser.add_argument("--limit", type=float, default=10, help="seconds of a method's first fit on a kind at most")
    args = parser.parse_args()
    for half in [] if args.page else args.half.split(","):
        results = Results(f"noise-{half}", KEY)
        for kind, seed, method in cells(half, args):
            slow = results.is_slow(args.limit, kind=kind, method=method)
            if not slow and not results.has(kind=kind, seed=seed, method=method):
                row = measure(kind, seed, method)
                if row is not None:
                    results.add(row)
        results.tidy()
    write(page(args), args.out)


if __name__ == "__main__":
    main()
