"""How long EasyFS takes, as ratios to well-known operations timed in the same process.

Reference and subject are timed in turn, and the median of the ratios of neighbours is printed, with the quartiles:
single runs on a shared machine are off by ten per cent and more. Threads are set and printed.

    python benchmarks/speed.py [--threads 2] [--pairs 9] [--runs 3] [--case NAME] [--page]

Every run is kept in benchmarks/raw/speed.jsonl; docs/results/speed.md shows all of the last commit that a case was run
with, taken together, and the last of ``race/imports.py``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.feature_selection import f_classif
from threadpoolctl import threadpool_limits

from easyfs import EasyFS, EasyFSRanking
from easyfs.evaluation.cell import peak_memory
from keeping import Row, keep, made_with, rows_of

# Seconds before each timing: after a product idle workers of BLAS spin for a while, and take cores from what comes next.
PAUSE = 0.1


def timed(function: Callable[[], object]) -> float:
    time.sleep(PAUSE)
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def compare(name: str, limit: float, reference: Callable[[], object], subject: Callable[[], object], pairs: int) -> None:
    reference()
    subject()
    times = np.array([(timed(reference), timed(subject)) for _ in range(pairs)])
    low, middle, high = np.quantile(times[:, 1] / times[:, 0], [0.25, 0.5, 0.75])
    seconds = {"reference_seconds": times[:, 0].tolist(), "seconds": times[:, 1].tolist()}
    keep("speed", case=name, ratio=[low, middle, high], limit=limit, **seconds)
    print(
        f"{name:<58} {middle:5.2f} x  [{low:.2f}, {high:.2f}]  limit {limit:g}   "
        f"({1e3 * np.median(times[:, 0]):.0f} ms against {1e3 * np.median(times[:, 1]):.0f} ms)",
        flush=True,
    )


def square(pairs: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2000), dtype=np.float32)
    y = (X[:, :10].sum(axis=1) > 0).astype(int)
    for name, limit, selector in (
        ("2000 x 2000 float32, k = 50, against X.T @ X", 4.5, EasyFS(50, random_state=0)),
        ("the same without the search for joint effects", 2.25, EasyFS(50, interactions=False, random_state=0)),
    ):
        compare(name, limit, lambda: X.T @ X, lambda selector=selector: selector.fit(X, y), pairs)


def tall(pairs: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 100))
    y = (X[:, :5].sum(axis=1) > 0).astype(int)
    compare(
        "100,000 x 100, k = 10, against f_classif",
        3.5,
        lambda: f_classif(X, y),
        lambda: EasyFS(10, random_state=0).fit(X, y),
        pairs,
    )


def million(pairs: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 100), dtype=np.float32)
    y = (X[:, :5].sum(axis=1) > 0).astype(int)
    EasyFS(10, random_state=0).fit(X[:2000], y[:2000])
    with peak_memory() as memory:
        EasyFS(10, random_state=0).fit(X, y)
    name = "1,000,000 x 100 float32: memory added at the peak"
    keep("speed", case=name, added_mb=memory.added, limit_mb=150)
    print(f"{name:<58} {memory.added:5.0f} MB                limit 150 MB", flush=True)
    compare(
        "1,000,000 x 100 float32, k = 10, against f_classif",
        2.0,
        lambda: f_classif(X, y),
        lambda: EasyFS(10, random_state=0).fit(X, y),
        pairs,
    )


def wide(pairs: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 100_000))
    y = (X[:, :10].sum(axis=1) > 0).astype(int)
    with peak_memory() as memory:
        times = [timed(lambda: EasyFS(50, random_state=0).fit(X, y)) for _ in range(min(pairs, 3))]
    name = "100 x 100,000, k = 50: time, peak memory of the process"
    keep("speed", case=name, seconds=times, peak_mb=memory.peak, limit=10, limit_mb=1000)
    print(f"{name:<58} {np.median(times):5.2f} s, {memory.peak:.0f} MB         limit 10 s, 1000 MB", flush=True)


def ranking(pairs: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 500))
    y = X[:, :10].sum(axis=1) + rng.standard_normal(5000)
    M = rng.standard_normal((5000, 2000))

    def reference() -> None:
        gram = M.T @ M
        gram[np.diag_indices(2000)] += 5000.0
        np.linalg.cholesky(gram)

    selector = EasyFSRanking(20, n_hidden=256, n_enhancement=2000 - 500 - 256, random_state=0)
    compare("ranking, p = 2000 nodes, 5000 rows, against M.T @ M + chol", 4.0, reference, lambda: selector.fit(X, y), pairs)


CASES = {"square": square, "tall": tall, "million": million, "wide": wide, "ranking": ranking}


def shown(row: Row) -> list[str]:
    """Cells of a row of the page: what was measured, the ratio, the times, the limit."""
    if "ratio" in row:
        low, middle, high = np.quantile(np.divide(row["seconds"], row["reference_seconds"]), [0.25, 0.5, 0.75])
        reference, own = (1e3 * np.median(row[times]) for times in ("reference_seconds", "seconds"))
        least_reference, least = (1e3 * min(row[times]) for times in ("reference_seconds", "seconds"))
        return [
            f"{middle:.2f} [{low:.2f}, {high:.2f}]",
            f"{own:.0f} ms against {reference:.0f} ms",
            f"{least / least_reference:.2f} ({least:.0f} ms against {least_reference:.0f} ms)",
            f"{row['limit']:g}",
        ]
    if "seconds" in row:
        return [
            "",
            f"{np.median(row['seconds']):.2f} s, {row['peak_mb']:.0f} MB",
            f"{min(row['seconds']):.2f} s",
            f"{row['limit']} s, {row['limit_mb']} MB",
        ]
    return ["", f"{row['added_mb']:.0f} MB", "", f"{row['limit_mb']} MB"]


def together(rows: list[Row]) -> Row:
    """Runs of a case as one: all times, the largest memory."""
    found = dict(rows[-1])
    for name in ("seconds", "reference_seconds"):
        if name in found:
            found[name] = [seconds for row in rows for seconds in row[name]]
    return found | {name: max(row[name] for row in rows) for name in ("added_mb", "peak_mb") if name in found}


def page() -> str:
    """The runs of each case with the last commit, and the last of the imports."""
    from measuring import table_head  # noqa: PLC0415

    commit = {row["case"]: row["commit"] for row in rows_of("speed")}
    runs = {case: [r for r in rows_of("speed") if r["case"] == case and r["commit"] == commit[case]] for case in commit}
    most = max(map(len, runs.values()))
    imports = {row["statement"]: row for row in rows_of("imports")}
    lines = [
        "# How long a fit takes",
        "",
        "As ratios to operations that everybody knows, timed in turn with the fit in one process, a tenth of a second",
        "after what went before (idle workers of BLAS spin for a while): median and quartiles of the pairs of",
        f"{f'{most} runs' if most > 1 else 'one run'}, each in a fresh process; medians of the times; the least of them,",
        "which nothing else disturbed; the largest memory. The limits are those of `benchmarks/speed.py`, which makes this",
        "page; that of 2000 x 2000 with the search for joint effects was set after it was first measured",
        "([tuning](../tuning.md)). Every run is in `benchmarks/raw`.",
        "",
        *table_head(["case", "times as long", "a fit against the operation", "the least of each", "limit"]),
        *(f"| {' | '.join([case, *shown(together(rows))])} |" for case, rows in runs.items()),
        "",
        *made_with([row for rows in runs.values() for row in rows]),
        "",
    ]
    if imports:
        lines += ["## Imports", "", "A new process each time (`benchmarks/race/imports.py`): median, and range.", ""]
        lines += table_head(["statement", "milliseconds"])
        for statement, row in imports.items():
            times = [1e3 * t for t in row["seconds"]]
            lines.append(f"| `{statement}` | {np.median(times):.0f} [{min(times):.0f}, {max(times):.0f}] |")
        lines += ["", *made_with(list(imports.values())), ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--case", choices=CASES)
    parser.add_argument("--page", action="store_true", help="only write the page")
    args = parser.parse_args()
    if args.case:
        with threadpool_limits(args.threads):
            CASES[args.case](args.pairs)
        return
    from measuring import PAGES, write  # noqa: PLC0415 (not where memory is measured)

    if args.page:
        write(page(), PAGES / "speed.md")
        return
    print(f"threads: {args.threads}; numpy {np.__version__}; median and quartiles of {args.pairs} pairs", flush=True)
    for case in args.runs * list(CASES):  # each in a fresh process: memory is a peak of the whole process
        command = [sys.executable, __file__, "--case", case, "--threads", str(args.threads), "--pairs", str(args.pairs)]
        subprocess.run(command, check=True)
    write(page(), PAGES / "speed.md")


if __name__ == "__main__":
    main()
