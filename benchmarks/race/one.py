"""One cell of the race, in a process of its own: a method on the rounds of an input.

    python one.py JOB.json

The job names the method, the files of the rounds, and how much time there is for further fits. What is found goes to the
file that the job names, a JSON line as soon as it is known, so that a process that is ended has left what it did. What a
library prints goes nowhere.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from methods import METHODS, Problem, Select

# Warm fits: so many at most, as many as this many seconds hold, and one in any case unless the first took longer than this.
WARM, WARM_SECONDS, TOO_LONG = 5, 10.0, 20.0


def status(pid: str = "self") -> dict[str, int]:
    """Memory of a process in bytes as Linux tells it; empty where it does not."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    parts = [line.split() for line in lines if line.startswith(("VmRSS", "VmHWM"))]
    return {part[0].rstrip(":"): 1024 * int(part[1]) for part in parts}


def forget_peak() -> None:
    """Let the peak begin anew."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def children_peak() -> int:
    """Peak of the processes that this one has started and that still live, such as joblib's workers."""
    total = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = folder.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1]
        except (OSError, IndexError):
            continue
        if parent == str(os.getpid()):
            total += status(folder.name).get("VmHWM", 0)
    return total


def version(package: str) -> str:
    """The version of what is raced."""
    if package == "easyfs-ml":
        import easyfs  # noqa: PLC0415

        return str(easyfs.__version__)
    return importlib.metadata.version(package)


def read(files: dict[str, str], name: str) -> np.ndarray:
    return np.load(files[name])


class Cell:
    """A method on its rounds."""

    def __init__(self, job: dict[str, Any], out: Any):
        self.job, self.out = job, out

    def tell(self, **found: Any) -> None:
        """A line for the parent."""
        self.out.write(json.dumps(found) + "\n")
        self.out.flush()

    def run(self) -> None:
        """Import, the timed first round, and the others as far as time allows."""
        method = METHODS[self.job["method"]]
        self.tell(stage="import")
        start = time.perf_counter()
        select, convert = method.load()
        imported = time.perf_counter() - start
        self.tell(import_s=imported, version=version(method.package), python=platform.python_version())
        usual = 0.0
        spent = 0.0
        for number, files in enumerate(self.job["rounds"]):
            if number > 0 and spent + usual > self.job["budget"]:
                break
            X, y = read(files, "X"), read(files, "y")
            X, y = convert(X, y) if convert else (X, y)
            problem = Problem(X, y, files["task"], files["k"], self.job["seed"], self.job["threads"])
            before = status()
            forget_peak()
            seconds = self.choose(select, problem, number)
            spent += seconds
            if number == 0:
                self.memory(before)
                usual = self.warm(select, problem, seconds)
            else:
                usual = max(usual, seconds)
        self.tell(done=True)

    def choose(self, select: Select, problem: Problem, number: int) -> float:
        """One selection, timed; the first of a process may fail the cell, others are rows without columns."""
        self.tell(stage="fit", round=number)
        start = time.perf_counter()
        try:
            chosen = select(problem)
        except Exception as error:
            if number == 0:
                raise
            seconds = time.perf_counter() - start
            self.tell(round=number, seconds=seconds, columns=[], error=shown(error))
            return seconds
        seconds = time.perf_counter() - start
        self.tell(round=number, seconds=seconds, columns=[int(j) for j in chosen])
        return seconds

    def memory(self, before: dict[str, int]) -> None:
        """Memory of the first fit: what it added to the process at its peak, and the peak, with living children."""
        after, others = status(), children_peak()
        if after and before:
            self.tell(added_mb=(after["VmHWM"] - before["VmRSS"] + others) / 1e6, peak_mb=(after["VmHWM"] + others) / 1e6)

    def warm(self, select: Select, problem: Problem, first: float) -> float:
        """Further fits of the same problem; their median, or the first where that took too long."""
        if first > TOO_LONG:
            return first
        times: list[float] = []
        while len(times) < WARM and sum(times) + (times[-1] if times else 0.0) < WARM_SECONDS:
            self.tell(stage="warm")
            start = time.perf_counter()
            select(problem)
            times.append(time.perf_counter() - start)
        self.tell(warm=times)
        return float(np.median(times))


def shown(error: BaseException) -> str:
    """Kind of an error and its first line."""
    told = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {told[0]}"[:200]


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    with Path(job["out"]).open("a", encoding="utf-8") as out:
        cell = Cell(job, out)
        try:
            cell.run()
        except (Exception, SystemExit) as error:
            cell.tell(failed=shown(error))


if __name__ == "__main__":
    main()
