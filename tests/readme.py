"""Run what README shows, as printed: its Python in order in one namespace, and its commands on a table of houses.

It needs nothing but what README's first command installs: ``python tests/readme.py``, in any folder.
"""

from __future__ import annotations

import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
HOUSES = "houses.csv"


def blocks(language: str) -> list[str]:
    """The blocks of README in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    """Lines of the shell blocks that are about the table of houses, or about none; not those that install."""
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [line for line in lines if line.startswith("easyfs ")]


def make_houses(path: Path) -> None:
    """A table with a price, and columns of all kinds that it hangs on, or does not."""
    rng = random.Random(0)
    names = [*(f"measure {j}" for j in range(22)), "district", "sold", "price"]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        for row in range(200):
            x = [round(rng.gauss(0, 1), 3) for _ in range(22)]
            district = rng.choice(["north", "south", "old town"])
            price = 200_000 + 30_000 * x[3] + 20_000 * x[7] * x[8] + 40_000 * (district == "old town") + rng.gauss(0, 5000)
            writer.writerow([*x, district, f"2024-{row % 12 + 1:02d}-{row % 28 + 1:02d}", round(price)])


def run_python(folder: Path) -> None:
    """All Python blocks in order, as one program, so that an error shows the line of README."""
    text = README.read_text(encoding="utf-8")
    program = ""
    for block in blocks("python"):
        line = text[: text.index(block)].count("\n")
        program += "\n" * (line - program.count("\n")) + block
    script = folder / "README.py"
    guarded = "\n".join(f"    {line}" if line else "" for line in program.splitlines())
    script.write_text(f"if __name__ == '__main__':{guarded}\n", encoding="utf-8")  # processes of joblib may import it
    subprocess.run([sys.executable, str(script)], cwd=folder, check=True)


def run_commands(folder: Path) -> None:
    """All commands, one by one."""
    make_houses(folder / HOUSES)
    installed = Path(sys.executable).parent / "easyfs"
    if not installed.exists():
        installed = folder / "bin" / "easyfs"
        installed.parent.mkdir()
        installed.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m easyfs "$@"\n', encoding="utf-8")
        installed.chmod(0o755)
    path = f"{installed.parent}{os.pathsep}{os.environ.get('PATH', '')}"
    for line in commands():
        sys.stdout.write(f"$ {line}\n")
        sys.stdout.flush()
        subprocess.run(["sh", "-c", line], cwd=folder, check=True, env={**os.environ, "PATH": path})


def main() -> None:
    """Run all of it in a folder that is removed again."""
    folder = Path(tempfile.mkdtemp(prefix="easyfs-readme-"))
    os.environ.setdefault("MPLBACKEND", "Agg")
    try:
        run_python(folder)
        run_commands(folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
