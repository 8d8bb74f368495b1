"""How long it takes to import EasyFS, beside scikit-learn's feature selection: a new process each time, medians.

    python benchmarks/race/imports.py [--times 10]

``import easyfs`` brings names alone, and a selector is imported when it is asked for: both are timed. The statements take
turns, so that a machine that slows down slows all; the time is that of the statement alone, without the start of the
interpreter. A first turn of each does not count: it fills the caches of the disk and compiles all modules into a folder of
its own, so that all are read as installed packages are, whatever this shell says about bytecode. Times are kept in
benchmarks/raw/imports.jsonl, and shown on the page that ``speed.py`` makes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import keep

STATEMENTS = {
    "easyfs": "import easyfs",
    "EasyFS": "from easyfs import EasyFS",
    "scikit-learn": "from sklearn.feature_selection import SelectKBest",
}
GOAL = 0.020
CODE = "import time; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"


def seconds(statement: str, compiled: str) -> float:
    """Time of a statement in a new process that keeps bytecode in this folder."""
    command = [sys.executable, "-c", CODE.format(statement=statement)]
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = compiled
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10)
    args = parser.parse_args()
    found: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    with tempfile.TemporaryDirectory() as compiled:
        for turn in range(args.times + 1):
            for name, statement in STATEMENTS.items():
                taken = seconds(statement, compiled)
                found[name] += [taken] if turn else []
    middle = {name: statistics.median(times) for name, times in found.items()}
    for name, times in found.items():
        keep("imports", statement=STATEMENTS[name], seconds=times)
        print(f"{name:<13} {1000 * middle[name]:6.0f} ms (from {1000 * min(times):.0f} to {1000 * max(times):.0f})")
    for name in ("easyfs", "EasyFS"):
        more = middle[name] - middle["scikit-learn"]
        verdict = "met" if more <= GOAL else "missed"
        print(f"{name} takes {1000 * more:+.0f} ms; goal: at most {1000 * GOAL:.0f} ms more: {verdict}")


if __name__ == "__main__":
    main()
