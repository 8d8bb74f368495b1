"""Make the environments of the race: one for each file in ``environments``, with the versions that stand there.

    python benchmarks/race/environments.py --venvs FOLDER [--only general]

A file may name steps, with a line ``# then`` between them: each step is an installation of its own. An environment that
cannot be made leaves FOLDER/NAME.failed with the reason, and the race keeps a row that says so.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

FILES = sorted((Path(__file__).resolve().parent / "environments").glob("*.txt"))


def make(file: Path, venvs: Path) -> str:
    """Make an environment; what went wrong, if anything did."""
    folder, note = venvs / file.stem, venvs / f"{file.stem}.failed"
    note.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    commands = [[sys.executable, "-m", "venv", str(folder)]]
    for step in file.read_text(encoding="utf-8").split("# then\n"):
        packages = [line for line in step.splitlines() if line and not line.startswith("#")]
        commands.append([str(folder / "bin" / "python"), "-m", "pip", "install", "-q", *packages])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            said = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            note.write_text(f"cannot be installed: {said}"[:200] + "\n", encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            return note.read_text(encoding="utf-8")
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venvs", type=Path, required=True)
    parser.add_argument("--only", help="one of " + ", ".join(file.stem for file in FILES))
    args = parser.parse_args()
    args.venvs.mkdir(parents=True, exist_ok=True)
    for file in FILES:
        if args.only in (None, file.stem):
            print(file.stem, make(file, args.venvs) or "made", flush=True)


if __name__ == "__main__":
    main()
