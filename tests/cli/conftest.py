"""The command line as a user has it: a process of its own."""

import csv
import os
import random
import subprocess
import sys

import pytest


@pytest.fixture
def easyfs(tmp_path):
    """Run ``easyfs`` in an empty folder; gives exit code, output and errors."""

    def run(*args, stdin=None, text=True, env=None):
        return subprocess.run(
            [sys.executable, "-m", "easyfs", *map(str, args)],
            input=stdin,
            capture_output=True,
            text=text,
            encoding="utf-8" if text else None,
            cwd=tmp_path,
            env={**os.environ, **(env or {})},
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """Run ``easyfs`` in this process, which is quicker; gives exit code, output and errors."""
    import signal

    from easyfs.cli.run import run
    from easyfs.cli.show import settings

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    handlers = [(getattr(signal, name), signal.getsignal(getattr(signal, name))) for name in names]
    monkeypatch.chdir(tmp_path)

    def call(*args):
        settings.quiet = settings.verbose = False
        code = run([str(arg) for arg in args])
        found = capsys.readouterr()
        return code, found.out, found.err

    yield call
    for number, handler in handlers:
        signal.signal(number, handler)


HOSTILE = ["<script>alert(1)</script>", 'he said "hi"', "line\nbreak", "שלום\u202eabc", "[bold]x[/bold]", "a,b"]


def write_rows(path, header, rows):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


@pytest.fixture
def numbers(tmp_path):
    """120 rows of eight columns of numbers, of which two matter; y is a class."""
    rng = random.Random(0)
    rows = []
    for _ in range(120):
        x = [round(rng.gauss(0, 1), 4) for _ in range(8)]
        rows.append([*x, "yes" if x[2] + x[5] > 0 else "no"])
    return write_rows(tmp_path / "numbers.csv", [*(f"x{j}" for j in range(8)), "y"], rows)


@pytest.fixture
def mixed(tmp_path):
    """Hostile names, codes with zeros, formulas, dates, an identifier, weights; y is a number, missing in two rows."""
    rng = random.Random(1)
    rows = []
    for i in range(150):
        x = [round(rng.gauss(0, 1), 4) for _ in HOSTILE]
        city = rng.choice(["Rome", "Paris", "Oslo"])
        y = x[0] + x[2] + x[3] + 2 * (city == "Rome") + rng.gauss(0, 0.1)
        rows.append(
            [
                *x,
                f"C{i:05d}",
                f"{rng.randrange(9):05d}",
                city,
                f"={rng.randrange(5)}+1",
                f"2023-{i % 12 + 1:02d}-{i % 28 + 1:02d}",
                "1.50" if i % 3 else "NA",
                i % 2 + 1,
                "" if i == 3 else "N/A" if i == 7 else f"{y:.3f}",
            ]
        )
    header = [*HOSTILE, "customer_id", "zip", "city", "formula", "day", "gaps", "weight", "y"]
    return write_rows(tmp_path / "mixed.csv", header, rows)


@pytest.fixture
def targets(tmp_path):
    """Columns that may be asked for as a target, and three that tell about the first of them."""
    rng = random.Random(2)
    rows = []
    for i in range(300):
        x = [round(rng.gauss(0, 1), 4) for _ in range(3)]
        price = round(50_000 + 10_000 * x[1])
        age = min(max(round(45 + 15 * x[2]), 18), 90)
        comma = f"{x[0]:.2f}".replace(".", ",")
        rows.append([*x, price, age, f"{price:,}", comma, f"Smith, Mr. {i}", f"{i % 28 + 1}/{i % 12 + 1}/{1990 + i // 12}"])
    return write_rows(
        tmp_path / "targets.csv", ["x0", "x1", "x2", "price", "age", "separated", "comma", "name", "day"], rows
    )
