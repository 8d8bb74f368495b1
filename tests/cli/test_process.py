"""Pipes that break, runs that are interrupted, terminals, and memory."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

EASYFS = [sys.executable, "-m", "easyfs"]
MEGABYTE = 1024 * 1024
# What was started in the background, or by nohup, may ignore SIGINT and SIGHUP, and so do its children; not these.
HEARS = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGTERM", "SIGHUP"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
from easyfs.cli import main
main()
"""
HEARING = [sys.executable, "-c", HEARS]


def test_a_broken_pipe_ends_quietly(tmp_path):
    rng = np.random.default_rng(0)
    table = pl.DataFrame(rng.normal(size=(20_000, 4)), schema=list("abcd")).with_columns(y=pl.col("a") > 0)
    table.write_csv(tmp_path / "t.csv")
    select = subprocess.Popen(
        [*EASYFS, "select", "t.csv", "-t", "y", "-k", "3", "-o", "-", "-q"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    head = subprocess.run(["head", "-1"], stdin=select.stdout, capture_output=True, check=True)
    select.stdout.close()
    assert head.stdout.startswith(b"a,")
    assert select.stderr.read() == b""
    assert select.wait(600) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals are sent as on Unix")
def test_an_interrupted_comparison_goes_on_where_it_ended(tmp_path):
    rng = np.random.default_rng(0)
    table = pl.DataFrame(rng.normal(size=(300, 20)), schema=[f"x{j}" for j in range(20)])
    table.with_columns(y=pl.col("x0") + pl.col("x1") > 0).write_csv(tmp_path / "t.csv")
    args = [*HEARING, "compare", "t.csv", "-t", "y", "--methods", "easyfs,random_forest", "--sizes", "2,5"]
    args += ["--repeats", "2", "--results", "r.jsonl", "-o", "out.html"]
    process = subprocess.Popen(args, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    results = tmp_path / "r.jsonl"
    until = time.monotonic() + 600
    while time.monotonic() < until and not (results.exists() and results.read_bytes().count(b"\n") > 5):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert out == ""
    assert err.startswith("easyfs: error: interrupted after ")
    assert "'r.jsonl'. Run the same command again" in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.jsonl", "t.csv"]
    kept = results.read_bytes()
    again = subprocess.run(args, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert results.read_bytes().startswith(kept[: kept.rfind(b"\n") + 1])
    assert "<table" in (tmp_path / "out.html").read_text()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals are sent as on Unix")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interrupted_selection_writes_nothing(name, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    kept = tmp_path / "kept"
    kept.mkdir()
    process = subprocess.Popen(
        [*HEARING, "select", "-", "-t", "y", "-o", "out.csv"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(kept)},
    )
    process.stdin.write(b"a,y\n1,2\n")
    process.stdin.flush()
    until = time.monotonic() + 600
    while time.monotonic() < until and not list(kept.iterdir()):  # then it waits for the rest of the table
        time.sleep(0.05)
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=600)
    assert process.returncode == 128 + getattr(signal, name)
    assert err == (b"easyfs: error: interrupted; nothing was written.\n" if name == "SIGINT" else b"")
    assert (tmp_path / "out.csv").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept", "out.csv"]
    assert not list(kept.iterdir())


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal")
def test_what_is_to_be_ignored_is(tmp_path):
    (tmp_path / "kept").mkdir()
    ignores = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); from easyfs.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", ignores, "select", "-", "-t", "y", "-k", "1", "-o", "out.csv"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path / "kept")},
    )
    process.stdin.write(b"a,y\n")
    process.stdin.flush()
    until = time.monotonic() + 600
    while time.monotonic() < until and not list((tmp_path / "kept").iterdir()):
        time.sleep(0.05)
    process.send_signal(signal.SIGHUP)
    _, err = process.communicate("".join(f"{i % 11 + 0.5},{i % 2}\n" for i in range(50)).encode(), timeout=600)
    assert process.returncode == 0, err
    assert (tmp_path / "out.csv").read_text().startswith("a,y\n")


@pytest.mark.parametrize("place", ["easyfs.cli.run", "polars", "sklearn.utils"])
def test_an_interruption_while_modules_are_imported_is_one_line(place, tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{i % 7}\n" for i in range(50)))
    finder = f"""
import sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {place!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupts())
from easyfs.cli import main
main()
"""
    args = [sys.executable, "-c", finder, "select", "t.csv", "-t", "y", "-o", "out.csv"]
    done = subprocess.run(args, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "easyfs: error: interrupted; nothing was written.\n"
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no pseudo-terminals elsewhere")
def test_a_terminal_has_colours_and_progress(tmp_path, numbers):
    import fcntl
    import pty
    import struct
    import termios

    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "LINES", "CI")}
    process = subprocess.Popen(
        [*EASYFS, "select", numbers.name, "-t", "y", "-k", "3"],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        cwd=tmp_path,
        env={**environment, "TERM": "xterm-256color"},
    )
    os.close(terminal)
    seen = b""
    with contextlib.suppress(OSError):  # the other side is closed
        while part := os.read(main, 65536):
            seen += part
    assert process.wait(600) == 0
    text = seen.decode()
    assert "\x1b[" in text
    assert "reading 'numbers.csv'" in text
    assert "choosing from 8 columns" in text
    assert "x2" in text


@pytest.mark.slow
def test_a_csv_of_300_megabytes_takes_less_than_1500_megabytes_of_memory(tmp_path):
    rng = np.random.default_rng(0)
    block = pl.DataFrame(rng.normal(size=(3000, 100)).round(7), schema=[f"x{j}" for j in range(100)])
    text = block.with_columns(y=(pl.col("x3") + pl.col("x7") > 0).cast(pl.Int8)).write_csv().encode()
    head, _, rows = text.partition(b"\n")
    path = tmp_path / "large.csv"
    with path.open("wb") as stream:
        stream.write(head + b"\n")
        while stream.tell() < 300 * MEGABYTE:
            stream.write(rows)
    process = subprocess.Popen(
        [*EASYFS, "select", path.name, "-t", "y", "-k", "2", "-o", "few.csv", "--columns", "few.txt", "-q"], cwd=tmp_path
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    assert set((tmp_path / "few.txt").read_text().split()) == {"x3", "x7"}
    assert (tmp_path / "few.csv").read_bytes().count(b"\n") == path.read_bytes().count(b"\n")
    assert usage.ru_maxrss / 1024 < 1500, f"{usage.ru_maxrss / 1024:.0f} MB"
