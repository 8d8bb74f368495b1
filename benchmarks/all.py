"""Make every figure of the README and of docs/results with the present code: one command, which goes on where it ended.

    python benchmarks/all.py [--list] [--dry-run] [--only planted,confirm] [--fresh] [--minutes 300] [--keep-going]

Runs the scripts of this folder one after the other, each as a process of its own. Most keep their results line by line and
do only what is missing; what each step took and with which code is kept in benchmarks/state/steps.json, its output in
benchmarks/state/NAME.log. A step that was done with the code that is there now is not run again. Planted problems, noise,
joint effects, the paper's tables and the one answer make results of EasyFS anew where its code has changed; all other
results of EasyFS that an older code made are kept, unless ``--fresh`` is given: then they are moved to benchmarks/state
before the step is run, and made anew (those of other methods stay). Data sets are made first; ``--data-python`` names a
Python that has what their making needs (benchmarks/paper/data/requirements.txt), if this one has not. The times of
``--list`` are rough: two cores, nothing else running.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
STATE = HERE / "state"
STEPS_FILE = STATE / "steps.json"


def own(row: dict[str, Any]) -> bool:
    """Whether a row is a result of EasyFS."""
    return str(row.get("selector") or row.get("method") or "").startswith("EasyFS")


def everything(row: dict[str, Any]) -> bool:  # noqa: ARG001
    """A step that measures EasyFS beside each other method, or nothing else."""
    return True


@dataclass(frozen=True)
class Step:
    """A script to run.

    Attributes
    ----------
    name : str
    commands : tuple of str
        Scripts with their options, in order.
    makes : str
        What comes out.
    takes : str
        About how long.
    raw : tuple of str
        Patterns of the files of results that it goes on from.
    stale : callable
        Which of their rows depend on the code of EasyFS.
    data : bool
        Whether it makes data sets.
    """

    name: str
    commands: tuple[str, ...]
    makes: str
    takes: str
    raw: tuple[str, ...] = ()
    stale: Callable[[dict[str, Any]], bool] = own
    data: bool = False

    @property
    def missing(self) -> list[str]:
        """Scripts that are not there."""
        return [command.split()[0] for command in self.commands if not (HERE / command.split()[0]).exists()]


STEPS = {
    step.name: step
    for step in (
        Step(
            "paper-data",
            ("paper/data/rebuild.py",),
            "the paper's data sets, in EASYFS_DATA",
            "minutes, a download",
            data=True,
        ),
        Step(
            "confirm-data", ("confirm/make.py",), "tables of the confirmatory comparison", "a minute, a download", data=True
        ),
        Step("planted", ("planted.py",), "planted.md", "an hour", ("raw/planted-*.jsonl",)),
        Step("noise", ("noise.py",), "noise.md", "an hour", ("raw/noise-*.jsonl",)),
        Step("interactions", ("interactions.py --release 2",), "interactions.md", "hours", ("raw/interactions-*.jsonl",)),
        Step(
            "paper",
            ("paper/run.py --seeds 5", "paper/tables.py"),
            "classification.md, regression.md, ranks.md and their figures",
            "hours for EasyFS alone, days for all methods",
            ("paper/raw/*.jsonl",),
        ),
        Step("models", ("paper/models.py",), "models.md", "an hour", ("paper/raw/models/*.jsonl",)),
        Step(
            "auto", ("paper/auto.py", "paper/auto.py --page"), "auto.md", "an hour", ("paper/raw/auto.jsonl",), everything
        ),
        Step("leak", ("paper/leak.py",), "leak.md", "hours", ("paper/raw/leak/*.jsonl",)),
        Step(
            "ablation",
            ("paper/ablation.py",),
            "ablation.md, parameters.svg",
            "hours",
            ("paper/raw/ablation/*.jsonl", "paper/raw/parameters/*.jsonl"),
            everything,
        ),
        Step("networks", ("paper/networks.py",), "networks.md", "minutes", ("paper/raw/networks/*.jsonl",), everything),
        Step("redundancy", ("paper/redundancy.py",), "redundancy.md, redundancy.svg", "minutes"),
        Step("pixels", ("paper/pixels.py",), "pixels-*.png, pixels-first-*.png", "an hour", ("paper/raw/pixels/*.jsonl",)),
        Step(
            "runtime",
            ("paper/runtime.py",),
            "runtime.md, runtime-*.svg",
            "hours; wants an idle machine",
            ("paper/raw/runtime/*.jsonl",),
            everything,
        ),
        Step(
            "times",
            ("paper/times.py",),
            "times.md",
            "an hour; wants an idle machine",
            ("paper/raw/times.jsonl",),
            everything,
        ),
        Step(
            "confirm",
            (
                "confirm/run.py",
                "confirm/run.py --methods EasyFS --raw {state}/confirm-again",
                "confirm/again.py --raw {state}/confirm-again",
                "confirm/page.py",
            ),
            "confirm.md, confirm-tables.md, confirm.svg: what was run once, and whether the present code chooses the same",
            "an hour",
        ),
        Step(
            "race",
            ("race/environments.py --venvs {state}/venvs", "race/race.py --venvs {state}/venvs", "race/page.py"),
            "race.md, race.svg",
            "an hour, a download; wants an idle machine",
            ("race/raw/*.jsonl",),
        ),
        Step(
            "imports",
            ("race/imports.py", "speed.py --page"),
            "times of an import, in speed.md",
            "minutes; wants an idle machine",
        ),
        Step("speed", ("speed.py",), "speed.md", "minutes; wants an idle machine"),
        Step("baselines", ("baselines.py",), "baselines.md: time and memory of the published methods", "half an hour"),
        Step(
            "stream",
            (
                "scale/stream_memory.py --gigabytes 1.2 --folder {state}/stream",
                "scale/stream_memory.py --gigabytes 1.2 --written pyarrow --folder {state}/stream",
                "scale/stream_memory.py --gigabytes 1.2 --written polars --folder {state}/stream",
                "scale/stream_memory.py --gigabytes 8 --folder {state}/stream",
                "scale/stream_memory.py --gigabytes 4 --columns 400 --folder {state}/stream",
                "scale/page.py",
            ),
            "files in scale.md",
            "half an hour; wants an idle machine, 9 GB of disk",
        ),
        Step(
            "one-answer",
            ("scale/one_answer.py", "scale/page.py"),
            "every engine against memory, in scale.md",
            "an hour; needs Java",
            ("raw/one-answer.jsonl",),
            everything,
        ),
        Step("survival", ("survival.py",), "survival.md", "a minute; needs scikit-survival", ("raw/survival.jsonl",)),
        Step(
            "costs",
            ("scale/costs.py", "scale/page.py"),
            "rows, columns, chosen ones in scale.md",
            "minutes; wants an idle machine",
        ),
        Step("wide", ("scale/wide.py", "scale/page.py"), "very wide tables in scale.md", "minutes"),
        Step("dask", ("scale/dask_workers.py", "scale/page.py"), "Dask in scale.md", "minutes; wants an idle machine"),
        Step("spark", ("scale/spark_correlation.py", "scale/page.py"), "Spark in scale.md", "minutes; needs Java"),
        Step(
            "gpu",
            (
                "scale/gpu.py --cpu",
                "scale/gpu.py --tf32",
                "scale/cores.py",
                "scale/one_answer.py --engines GPU",
                "scale/page.py",
            ),
            "a GPU and many cores in scale.md",
            "minutes; needs a GPU",
        ),
    )
}


def code() -> str:
    """A name for the code of the library as it is now."""
    digest = hashlib.sha256()
    for path in sorted((HERE.parent / "src").rglob("*.py")):
        digest.update(str(path.relative_to(HERE.parent)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def read_state() -> dict[str, dict[str, Any]]:
    """What was done: step to code, date, seconds and exit status."""
    found: dict[str, dict[str, Any]] = json.loads(STEPS_FILE.read_text()) if STEPS_FILE.exists() else {}
    return found


def keep(name: str, **entry: Any) -> None:
    """Write down what is known of a step, whole or not at all."""
    STATE.mkdir(exist_ok=True)
    state = read_state()
    state[name] = state.get(name, {}) | entry
    draft = STEPS_FILE.with_suffix(".part")
    draft.write_text(json.dumps(state, indent=1) + "\n")
    os.replace(draft, STEPS_FILE)


def set_aside(step: Step, folder: Path) -> int:
    """Move rows that depend on EasyFS's code out of the results; how many they were."""
    moved = 0
    for path in sorted(path for pattern in step.raw for path in HERE.glob(pattern)):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        rows = [(line, json.loads(line)) for line in lines if line.strip()]
        old = [line for line, row in rows if row.get("kind") != "data" and step.stale(row)]
        if not old:
            continue
        copy = folder / path.relative_to(HERE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with copy.open("a", encoding="utf-8") as stream:
            stream.writelines(old)
        draft = path.with_suffix(".part")
        draft.write_text("".join(line for line, row in rows if row.get("kind") == "data" or not step.stale(row)))
        os.replace(draft, path)
        moved += len(old)
    return moved


def run(step: Step, python: str, end: float) -> int | None:
    """Run the scripts of a step; the exit status, None if the time is up."""
    STATE.mkdir(exist_ok=True)
    start = time.monotonic()
    for command in step.commands:
        script, *options = command.format(state=STATE).split()
        with (STATE / f"{step.name}.log").open("ab") as log:
            log.write(f"== {datetime.now(UTC):%Y-%m-%d %H:%M} {command}\n".encode())
            log.flush()
            told = log.tell()
            process = subprocess.Popen([python, str(HERE / script), *options], stdout=log, stderr=subprocess.STDOUT)
            status = _follow(process, Path(log.name), told, end)
        if status != 0:
            return status
    keep(step.name, seconds=round(time.monotonic() - start))
    return 0


def _follow(process: subprocess.Popen[bytes], log: Path, told: int, end: float) -> int | None:
    """Show what a process writes to its log, until it ends or the time is up."""
    try:
        while True:
            status = process.poll()
            with log.open("rb") as stream:
                stream.seek(told)
                text = stream.read()
            told += len(text)
            sys.stdout.write(text.decode(errors="replace"))
            sys.stdout.flush()
            if status is not None:
                return status
            if time.monotonic() > end:
                return None
            time.sleep(0.2)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--list", action="store_true", help="what each step makes, how long it takes, and whether it is done"
    )
    parser.add_argument("--dry-run", action="store_true", help="say what would be run")
    parser.add_argument("--only", default="", help="names of steps")
    parser.add_argument("--fresh", action="store_true", help="make results of EasyFS anew that an older code made")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--keep-going", action="store_true", help="go on when a step fails")
    parser.add_argument("--data-python", default=sys.executable, help="the Python that makes data sets")
    args = parser.parse_args()
    args.only = args.only.split(",") if args.only else list(STEPS)
    unknown = [name for name in args.only if name not in STEPS]
    if unknown:
        parser.error(f"there is no step {unknown[0]!r}; the names are {', '.join(STEPS)}")
    return args


def show(names: list[str], now: str) -> None:
    """What each step makes, and where it stands."""
    state = read_state()
    for name in names:
        step, known = STEPS[name], state.get(name, {})
        told = "never run"
        if step.missing:
            told = f"cannot be run: there is no benchmarks/{step.missing[0]}"
        elif known.get("status") == 0:
            told = f"done {known['date']}, {known['seconds']} s" + ("" if known["code"] == now else ", with an older code")
        elif "status" in known:
            told = f"failed {known['date']}; see benchmarks/state/{name}.log"
        print(f"{name}: {step.makes}; {step.takes}\n    {told}")
        for command in step.commands:
            print(f"    python benchmarks/{command.format(state='benchmarks/state')}")


def do(name: str, now: str, args: argparse.Namespace, end: float) -> int | None:
    """Run one step, if it is not done; the exit status, None if the time is up."""
    step, known = STEPS[name], read_state().get(name, {})
    if known.get("status") == 0 and known["code"] == now and (not args.fresh or known.get("fresh") == now):
        print(f"{name}: done")
        return 0
    if step.missing:
        print(f"{name}: there is no benchmarks/{step.missing[0]}; left out")
        return 0
    if args.dry_run:
        for command in step.commands:
            print(f"{name}: python benchmarks/{command.format(state='benchmarks/state')}")
        return 0
    if args.fresh and known.get("fresh") != now:
        moved = set_aside(step, STATE / f"before-{now}")
        print(f"{name}: {moved} older results of EasyFS set aside")
        keep(name, fresh=now)
    print(f"{name}: {step.makes}", flush=True)
    status = run(step, args.data_python if step.data else sys.executable, end)
    if status is not None:
        keep(name, status=status, code=now, date=f"{datetime.now(UTC):%Y-%m-%d}")
    return status


def main() -> None:
    args = arguments()
    now, end, failed = code(), time.monotonic() + 60.0 * args.minutes, []
    if args.list:
        show(args.only, now)
        return
    for name in args.only:
        status = do(name, now, args, end)
        if status is None:
            print(f"time is up in {name}; run again to go on")
            break
        if status:
            failed.append(name)
            print(f"{name}: failed; see benchmarks/state/{name}.log", file=sys.stderr)
            if not args.keep_going:
                break
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
