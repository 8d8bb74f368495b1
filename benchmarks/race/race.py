"""EasyFS against what people would install instead: time, memory and what the chosen columns are worth.

    python benchmarks/race/environments.py --venvs FOLDER     # once: the libraries, with pinned versions
    python benchmarks/race/race.py --venvs FOLDER [--threads 2] [--limit 120] [--minutes 35]
    python benchmarks/race/page.py

A cell is a method on an input (``inputs.py``). It runs alone, in a process and, where it needs one, an environment of its
own; all threads are pinned. Every method gets the same float64 table, class codes from 0 or numbers as target, the same
number of columns to choose, and the same rounds. The import is timed apart; "cold" is the first fit of the process, "warm"
the median of up to five more on the same table, in ten seconds. Memory is the peak of the first fit, less what the process
had before it, and whole. Columns are chosen on the training rows of a round alone; logistic regression or ridge, and
gradient boosting, learn on these (20,000 of them at most) and are judged by the rows held out: accuracy, or R2. The other
rounds of a slow method are left out as far as they take more than ``--budget`` seconds.

A method that fails, or a fit that takes longer than the limit, is a row with its reason; after an overrun the method is not
tried on inputs with as many rows and columns or more, and the row says so. Rows go to benchmarks/race/raw/race.jsonl, and a
rerun does only what is missing; ``--again`` names methods to be run anew. Cheap methods run first.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RAW = HERE / "raw" / "race.jsonl"
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA", "RAYON", "BLIS")
OTHER_THREADS = ("VECLIB_MAXIMUM_THREADS", "POLARS_MAX_THREADS", "LOKY_MAX_CPU_COUNT")
Row = dict[str, Any]


def pinned(threads: int) -> dict[str, str]:
    """Environment variables that hold every library at so many threads."""
    names = [f"{name}_NUM_THREADS" for name in THREADS] + list(OTHER_THREADS)
    return dict.fromkeys(names, str(threads))


def python_of(environment: str, venvs: Path | None) -> Path:
    """The interpreter of an environment; this one where no folder is given."""
    return Path(sys.executable) if venvs is None else venvs / environment / "bin" / "python"


def broken(environment: str, venvs: Path | None) -> str:
    """Why an environment is not there; empty where it is."""
    if python_of(environment, venvs).exists():
        return ""
    note = (venvs or HERE) / f"{environment}.failed"
    return note.read_text(encoding="utf-8").strip() if note.exists() else ""


def machine() -> str:
    """Cores and processor."""
    told = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    model = next((line.split(":", 1)[1].strip() for line in told.splitlines() if line.startswith("model name")), "")
    return f"{os.cpu_count()} cores" + (f" of {model}" if model else "")


def commit() -> str:
    """The commit of this checkout; empty where there is none."""
    git = ["git", "-C", str(Path(__file__).resolve().parent), "rev-parse", "--short=12", "HEAD"]
    with suppress(OSError):
        return subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return ""


class Rows:
    """The rows of the race in a file of JSON lines: the last of a cell counts."""

    def __init__(self, path: Path):
        self.path = path
        self.rows: dict[tuple[str, str], Row] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
            row = json.loads(line)
            self.rows[row["input"], row["method"]] = row

    def add(self, row: Row) -> None:
        """Keep a row at once."""
        row = {**row, "commit": commit(), "date": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
        self.rows[row["input"], row["method"]] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")


class Store:
    """The rounds of an input as files that every process reads, made when first needed and kept while in use."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.name, self.rounds, self.files = "", [], []

    def open(self, given: Any) -> None:
        """Write the rounds of an input, and drop those of the last."""
        import numpy as np  # noqa: PLC0415

        if given.name == self.name:
            return
        for path in self.folder.glob("*.npy"):
            path.unlink()
        self.name, self.rounds, self.files = given.name, list(given.make()), []
        for number, one in enumerate(self.rounds):
            files: Row = {"task": one.task, "k": one.k}
            for part in ("X", "y"):
                files[part] = str(self.folder / f"{number}-{part}.npy")
                np.save(files[part], getattr(one, part))
            self.files.append(files)


def follow(process: subprocess.Popen[bytes], out: Path, limit: float) -> str:
    """Wait for a cell; end it, and say so, when an import or a fit takes longer than the limit."""
    lines, since = 0, time.monotonic()
    while True:
        ready, _, _ = select.select([process.stderr], [], [], 0.1)
        if ready and not os.read(process.stderr.fileno(), 65536):  # type: ignore[union-attr]
            break
        told = out.read_bytes().count(b"\n") if out.exists() else 0
        if told != lines:
            lines, since = told, time.monotonic()
        if time.monotonic() - since > limit:
            end(process)
            return f"over {limit:g} s"
        if process.poll() is not None:
            break
    process.wait()
    end(process)  # workers that it left behind
    return ""


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it started; the group is its own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def cell(job: Row, python: Path, limit: float, folder: Path) -> Row:
    """Run a method in its process, and gather what it told."""
    out, written = folder / "out.jsonl", folder / "job.json"
    out.unlink(missing_ok=True)
    written.write_text(json.dumps({**job, "out": str(out)}), encoding="utf-8")
    paths = [str(HERE.parents[1] / "src")]
    env = {**os.environ, **pinned(job["threads"]), "PYTHONPATH": os.pathsep.join(paths), "PYTHONWARNINGS": "ignore"}
    process = subprocess.Popen(
        [str(python), str(HERE / "one.py"), str(written)],
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    reason = follow(process, out, limit)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()] if out.exists() else []
    return gather(lines, reason, process.returncode)


def gather(lines: list[Row], reason: str, code: int | None) -> Row:
    """One row of what a process told."""
    row: Row = {"status": "ok", "reason": "", "rounds": []}
    for line in lines:
        if "seconds" in line:
            row["rounds"].append(line)
        elif "stage" in line:
            row["stage"] = line["stage"]
        elif "failed" not in line and "done" not in line:
            row |= line
    failed = next((line["failed"] for line in lines if "failed" in line), "")
    stage = row.pop("stage", "start")
    if reason:
        row |= {"status": "overrun", "reason": f"{stage} {reason}"}
    elif failed or not any("done" in line for line in lines):
        row |= {"status": "failed", "reason": failed or f"the process ended at its {stage} with code {code}"}
    if row["rounds"]:
        row["cold_s"] = row["rounds"][0]["seconds"]
    return row


def earlier_overrun(rows: Rows, given: Any, method: str, inputs: dict[str, Any]) -> str:
    """The input on which this method was too slow already, if this one is at least as large."""
    for (name, other), row in rows.rows.items():
        if other == method and row["status"] == "overrun" and not row["rounds"] and name != given.name and name in inputs:
            n, d = inputs[name].shape
            if n <= given.shape[0] and d <= given.shape[1]:
                return name
    return ""


def wanted(args: argparse.Namespace, methods: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Input and method of each cell: cheap methods first, and an input's methods one after another."""
    for tier in sorted({methods[m].tier for m in args.methods}):
        for name in args.inputs:
            for method in args.methods:
                if methods[method].tier == tier:
                    yield name, method


def race(args: argparse.Namespace) -> None:
    """Run what is missing."""
    from inputs import INPUTS  # noqa: PLC0415
    from methods import METHODS  # noqa: PLC0415
    from score import score  # noqa: PLC0415

    rows, until = Rows(args.raw), time.monotonic() + 60.0 * args.minutes
    again = set(args.again)
    with tempfile.TemporaryDirectory(prefix="race-", dir=args.work) as folder:
        store = Store(Path(folder))
        for name, method in wanted(args, METHODS):
            if (name, method) in rows.rows and method not in again:
                continue
            if time.monotonic() > until:
                print("time is up; run again to go on")
                return
            given, environment = INPUTS[name], METHODS[method].environment
            head = {"input": name, "method": method, "threads": args.threads, "limit": args.limit, "dtype": "float64"}
            head["machine"] = machine()
            overran, missing = earlier_overrun(rows, given, method, INPUTS), broken(environment, args.venvs)
            if overran:
                found: Row = {"status": "skipped", "reason": f"too slow on {overran} already", "rounds": []}
            elif missing:
                found = {"status": "failed", "reason": missing, "rounds": []}
            else:
                store.open(given)
                job = {"method": method, "rounds": store.files, "seed": 0, "threads": args.threads, "budget": args.budget}
                found = cell(job, python_of(environment, args.venvs), args.limit, Path(folder))
                found["k"], found["shape"] = given.k, list(store.rounds[0].X.shape)
                found["rounds"] = [one | score(store.rounds[one["round"]], one["columns"]) for one in found["rounds"]]
            rows.add(rounded({**head, **found}))
            print(summary(rows.rows[name, method]), flush=True)


def rounded(value: Any) -> Any:
    """Numbers with five digits, as far as they mean anything."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def summary(row: Row) -> str:
    """A line for the screen."""
    warm = sorted(row.get("warm", []))
    times = f"cold {row['cold_s']:.3g} s" if "cold_s" in row else ""
    times += f", warm {warm[len(warm) // 2]:.3g} s" if warm else ""
    return f"{row['input']:<15} {row['method']:<20} {row['status']:<8} {times} {row['reason']}"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The options, checked."""
    from inputs import HIDDEN, INPUTS  # noqa: PLC0415
    from methods import METHODS  # noqa: PLC0415

    usual = {
        "inputs": [name for name in INPUTS if name not in HIDDEN],
        "methods": [name for name, method in METHODS.items() if not method.hidden],
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venvs", type=Path, help="folder of the environments; without it, this interpreter for all")
    parser.add_argument("--inputs", help="names, with ; between them")
    parser.add_argument("--methods", help="names, with ; between them")
    parser.add_argument("--again", default="", help="methods to run anew, with ; between them")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds that an import or a fit may take")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for the rounds after the first, about")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="no new cell after so many")
    parser.add_argument("--raw", type=Path, default=RAW, help="where the rows are")
    parser.add_argument("--work", type=Path, help="folder for the tables, 1.3 GB; the system's by default")
    args = parser.parse_args(given)
    for part, known in (("inputs", list(INPUTS)), ("methods", list(METHODS)), ("again", list(METHODS))):
        asked = getattr(args, part)
        names = usual[part] if asked is None else [name for name in asked.split(";") if name]
        if unknown := [name for name in names if name not in known]:
            parser.error(f"--{part}: there is no {unknown[0]!r}; the names are {'; '.join(known)}")
        setattr(args, part, names)
    for environment in sorted({METHODS[name].environment for name in args.methods}):
        if not python_of(environment, args.venvs).exists() and not broken(environment, args.venvs):
            parser.error(f"there is no environment {environment!r} in {args.venvs}; environments.py --venvs makes it")
    return args


def main() -> None:
    # The models that judge are not timed, and one thread of theirs is not held up by whatever else runs. Before numpy.
    os.environ.update(pinned(1))
    args = arguments()
    print(", ".join(f"{name}={value}" for name, value in pinned(args.threads).items()))
    race(args)


if __name__ == "__main__":
    main()
