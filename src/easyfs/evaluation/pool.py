"""Processes that run cells, each cell within a time and memory limit; one that overruns is ended and replaced."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib

from easyfs.evaluation.cell import Cell, Data, chosen_in, fits_one_size, resident_memory, stops_by_itself
from easyfs.evaluation.worker import read, write

try:
    import cloudpickle
except ImportError:  # before 1.6, joblib carried its own copy
    from joblib.externals import cloudpickle

# How often the memory of a process is looked at, in seconds.
WATCH = 0.05
# What a selector that stops by itself is given on top before it is ended.
GRACE = (1.25, 15.0)

Report = Callable[[Cell, str, dict[str, Any]], None]


class Worker:
    """A process that runs one cell after another."""

    def __init__(self, data_file: Path, threads: int):
        self.threads = threads
        env = dict(os.environ)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            env[name] = str(threads)
        # A selector may come from wherever this process found it: from beside the script, say.
        source = str(Path(__file__).resolve().parents[2])
        env["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([source, *(path or os.getcwd() for path in sys.path)]))
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "easyfs.evaluation.worker", str(data_file)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            start_new_session=True,  # Ctrl-C is for this process alone, and what a selector starts can be ended with it
        )
        self._messages: queue.Queue[tuple[str, dict[str, Any]] | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        try:
            while True:
                self._messages.put(read(self.process.stdout))
        except (EOFError, OSError, ValueError):
            self._messages.put(None)

    def send(self, cell: Cell) -> None:
        """Hand over a cell."""
        assert self.process.stdin is not None
        write(self.process.stdin, cell, cloudpickle.dumps)

    def next_message(self, time_limit: float | None, memory_limit: float | None) -> tuple[str, dict[str, Any]]:
        """What comes next: a message, or ("ended", why) when the process died or went over a limit and was ended."""
        start = time.monotonic()
        while True:
            try:
                message = self._messages.get(timeout=WATCH)
            except queue.Empty:
                if time_limit is not None and time.monotonic() - start > time_limit:
                    self.end()
                    return "ended", {"status": "timeout", "reason": f"over the time limit of {time_limit:g} s"}
                used = None if memory_limit is None else resident_memory(self.process.pid)
                if memory_limit is not None and used is not None and used > memory_limit:
                    self.end()
                    reason = f"over the memory limit of {memory_limit:g} MB ({used:.0f} MB)"
                    return "ended", {"status": "memory", "reason": reason}
                continue
            if message is None:
                code = self.process.wait()
                return "ended", {"status": "failed", "reason": f"the process ended with exit status {code}"}
            return message

    def kill(self) -> None:
        """Kill the process and all that it started."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def end(self) -> None:
        """End the process, at once."""
        self.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


class _Crew:
    """Threads that each have a process run cells, one after the other.

    Parameters
    ----------
    cells : iterable of Cell
        What is to be run.
    report : callable
        Called with each result, by one thread at a time.
    data_file : Path
        The table.
    n_jobs : int
        Number of threads.
    time_limit, memory_limit : float or None
        What a fit and a process may take.
    """

    def __init__(
        self,
        cells: list[Cell],
        report: Report,
        data_file: Path,
        *,
        n_jobs: int,
        time_limit: float | None,
        memory_limit: float | None,
    ):
        self.waiting: queue.SimpleQueue[Cell] = queue.SimpleQueue()
        for cell in cells:
            self.waiting.put(cell)
        self.report, self.data_file = report, data_file
        self.time_limit, self.memory_limit = time_limit, memory_limit
        self.n_threads = min(n_jobs, max(1, len(cells)))
        self.threads_each = max(1, (os.cpu_count() or 1) // n_jobs)
        self.lock, self.stop = threading.Lock(), threading.Event()
        self.failures: list[BaseException] = []
        self.workers: set[Worker] = set()

    def run(self) -> None:
        """Run all cells; the first error ends all of it."""
        threads = [threading.Thread(target=self._serve, daemon=True) for _ in range(self.n_threads)]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads) and not self.stop.is_set():
                time.sleep(WATCH)
        finally:  # an interruption reaches the main thread: leave no process behind
            self.stop.set()
            for worker in list(self.workers):
                worker.kill()
            for thread in threads:
                thread.join(5.0)
        if self.failures:
            raise self.failures[0]

    def _serve(self) -> None:
        worker: Worker | None = None
        try:
            while (cell := self._next()) is not None:
                worker = worker or self._start()
                limits = (self.time_limit, self.memory_limit)
                alive, rest = _run_one(worker, cell, self.report, self.lock, self.stop, *limits)
                if rest is not None:
                    self.waiting.put(rest)
                if not alive:
                    self.workers.discard(worker)
                    worker = None
        except BaseException as error:
            self.failures.append(error)
            self.stop.set()
        finally:
            if worker is not None:
                worker.end()

    def _next(self) -> Cell | None:
        """The next cell; None if there is none, or all is to stop."""
        with contextlib.suppress(queue.Empty):
            return None if self.stop.is_set() else self.waiting.get_nowait()
        return None

    def _start(self) -> Worker:
        worker = Worker(self.data_file, self.threads_each)
        self.workers.add(worker)
        if worker.next_message(None, None)[0] != "ready":
            worker.end()
            raise RuntimeError("a process for the comparison could not be started.")
        return worker


def run_in_processes(
    data: Data,
    cells: Iterable[Cell],
    report: Report,
    *,
    n_jobs: int,
    time_limit: float | None,
    memory_limit: float | None,
) -> None:
    """Run cells in processes of their own; ``report`` is called by one thread at a time."""
    with tempfile.TemporaryDirectory(prefix="easyfs-") as folder:
        data_file = Path(folder) / "data.joblib"
        joblib.dump({"X": data.X, "y": data.y, "task": data.task, "source": data.source}, data_file)
        limits = {"time_limit": time_limit, "memory_limit": memory_limit}
        _Crew(list(cells), report, data_file, n_jobs=n_jobs, **limits).run()


def _run_one(
    worker: Worker,
    cell: Cell,
    report: Report,
    lock: Any,
    stop: threading.Event,
    time_limit: float | None,
    memory_limit: float | None,
) -> tuple[bool, Cell | None]:
    """Run a cell; tell whether the process is still there, and what of the cell is left to do after a model overran."""
    fit_limit = time_limit
    if time_limit is not None and stops_by_itself(cell.selector):
        fits = len(cell.sizes) if fits_one_size(cell.selector) else 1
        fit_limit = GRACE[0] * fits * time_limit + GRACE[1]
    worker.send(cell)
    chosen, left = cell.chosen, list(cell.wanted)
    while True:
        kind, found = worker.next_message(fit_limit if chosen is None else time_limit, memory_limit)
        if kind == "ended":  # it cannot say so itself any more
            found = found | {"threads": worker.threads}
        if kind == "done" or stop.is_set():  # once all is to stop, a process that ends says nothing of its cell
            return kind == "done", None
        if kind == "ended" and chosen is not None:
            (size, model), left = left[0], left[1:]
            with lock:
                report(cell, "score", {"size": size, "model": model} | found)
            return False, replace(cell, chosen=chosen, wanted=tuple(left)) if left else None
        with lock:
            report(cell, "fit" if kind == "ended" else kind, found)
        if kind == "ended":
            return False, None
        if kind == "fit" and found["status"] == "ok":
            chosen = chosen_in(found)
        elif kind == "score":
            left.pop(0)
