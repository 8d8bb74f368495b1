"""Run the same work over blocks with threads, and get the same bits from any number of them.

The blocks are cut by size alone, each is worked on by one thread with BLAS held at one thread, and results
come back in the order of the blocks. How many threads share the work changes the time and nothing else.

BLAS's own threads are used for large factorisations only, of which no blocks can be made: its idle workers spin for a
while after a product and take the cores from others. numpy and scipy bring a BLAS each, with workers of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import lru_cache
from itertools import chain, islice
from threading import Condition, Event, Lock, Thread
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")


Result = TypeVar("Result")


# A block of rows should stay in a core's own cache while it is scaled, expanded and multiplied.
BLOCK_BYTES = 1 << 21
# Tables of fewer numbers are done sooner by one thread, and more than two threads want so many numbers each: between short
# pieces of work they wait for the interpreter, which one thread has at a time.
SMALL, EACH = 1 << 17, 1 << 19
# Columns of a large Gram matrix that one thread works on at a time.
PANEL_COLUMNS = 256
# Seconds that a thread with nothing to do waits before it looks for more.
IDLE = 1e-3


class _Task(Generic[Item, Result]):
    """Something to be done once, by the first thread that comes to it."""

    def __init__(self, function: Callable[[Item], Result], item: Item):
        self._function, self._item = function, [item]
        self._begun, self._done = Lock(), Event()
        self._found: list[Result] = []
        self._error: BaseException | None = None

    def claim(self) -> bool:
        """Whether nobody has begun it; nobody else will then."""
        return self._begun.acquire(blocking=False)

    def run(self) -> None:
        """Do it, unless it has begun."""
        if not self.claim():
            return
        try:
            self._found.append(self._function(self._item.pop()))  # items may be large: none is kept
        except BaseException as error:
            self._error = error
            if not isinstance(error, Exception):
                raise
        finally:
            self._done.set()

    @property
    def done(self) -> bool:
        """Whether it has been done."""
        return self._done.is_set()

    def result(self) -> Result:
        """What came of it, which is not kept, or what was wrong."""
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._found.pop()


class _Threads:
    """Threads that do tasks in the order in which these were begun; the one that asks is one of them."""

    def __init__(self, count: int):
        self.count = count
        self._tasks: deque[_Task[Any, Any]] = deque()
        self._changed = Condition()
        self.closed = False
        self._workers: list[Thread] = []

    def begin(self, task: _Task[Any, Any]) -> None:
        """Put a task into the line."""
        with self._changed:
            self._tasks.append(task)
            if len(self._workers) < self.count - 1:
                self._workers.append(Thread(target=self._work, daemon=True))
                self._workers[-1].start()
            self._changed.notify()

    def help_with(self, task: _Task[Any, Result]) -> Result:
        """The result of a task that has begun; as long as it is not there, do others."""
        while not task.done:
            with self._changed:
                if not self._tasks:
                    self._changed.wait(IDLE)
                other = self._tasks.popleft() if self._tasks else None
            if other is not None:
                other.run()
        return task.result()

    def close(self) -> None:
        """Leave what has not begun, and wait for the rest."""
        with self._changed:
            self.closed = True
            self._tasks.clear()
            self._changed.notify_all()
        for worker in self._workers:
            worker.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._tasks:
                    if self.closed:
                        return
                    self._changed.wait()
                task = self._tasks.popleft()
            task.run()
            del task  # its result may be large


_threads: ContextVar[_Threads | None] = ContextVar("_threads", default=None)


@lru_cache(maxsize=1)
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def n_threads() -> int:
    """How many threads to use: as many as BLAS may use now, so ``threadpool_limits`` and ``OMP_NUM_THREADS`` apply."""
    return max((library.num_threads for library in _blas().lib_controllers), default=1)


@contextmanager
def threads_for(n_rows: int, n_columns: int, more: int = 0) -> Iterator[None]:
    """Work a table of this shape through in blocks, a thread each, with BLAS held at one thread.

    Small tables are done sooner by one thread. ``more`` threads than may run are there where some of them wait.
    """
    threads = n_threads()
    if threads == 1 or _threads.get() is not None:
        yield
        return
    numbers = n_rows * n_columns
    count = 1 if numbers < SMALL else min(threads, max(2, numbers // EACH)) + more
    with _blas().limit(limits=1), own_threads(count):
        yield


@contextmanager
def blas_at_one() -> Iterator[None]:
    """Hold BLAS at one thread, and all of this library with it: for work that something else shares out over threads."""
    with _blas().limit(limits=1):
        yield


@contextmanager
def own_threads(threads: int) -> Iterator[None]:
    """Use so many threads for blocks, this one among them; to be used with BLAS held at one thread."""
    if threads == 1:
        yield
        return
    shared = _Threads(threads)
    token = _threads.set(shared)
    try:
        yield
    finally:
        _threads.reset(token)
        shared.close()


@contextmanager
def threads_of_blas() -> Iterator[None]:
    """Let BLAS use as many threads as we do: for a large factorisation while our own threads wait."""
    threads = _threads.get()
    if threads is None:
        yield
    else:
        with _blas().limit(limits=threads.count):
            yield


def block_slices(n: int, size: int) -> list[slice]:
    """Cut ``range(n)`` into slices of ``size`` (the last one may be shorter)."""
    return [slice(start, min(start + size, n)) for start in range(0, n, max(1, size))]


def block_rows(width: int, itemsize: int) -> int:
    """Rows of ``width`` columns that make one block of about ``BLOCK_BYTES``."""
    return min(max(BLOCK_BYTES // max(1, width * itemsize), 64), 8192)


def begun(function: Callable[[], Result]) -> Callable[[], Result]:
    """Begin something that other threads may do beside what comes next; give what waits for its result.

    If no thread has begun it by then, it is done there. Blocks that it is cut into are shared out like all others.
    """
    task, threads = _Task(copy_context().run, function), _threads.get()
    if threads is not None:
        threads.begin(task)

    def wait() -> Result:
        task.run()
        return task.result() if threads is None else threads.help_with(task)

    return wait


def map_blocks(function: Callable[[Item], Result], items: Iterable[Item], most: int | None = None) -> Iterator[Result]:
    """Yield ``function(item)`` in the order of ``items``, computed by the threads of :func:`own_threads`.

    No more than two results a thread, and than ``most``, wait for the caller, so memory does not grow with the number of
    blocks; instead of waiting for a result the caller does what nobody has begun. A block that is itself cut into blocks
    works through them one by one. What is wrong with an item is said after what is wrong with those before it, and nothing
    that has not begun is done then.
    """
    threads, left = _threads.get(), iter(items)
    first = list(islice(left, 2))
    alone = len(first) < 2
    left = chain(iter(first), left)
    del first  # blocks may be large
    if threads is None or alone:  # a block alone is done sooner here
        yield from map(function, left)
        return
    room = min(2 * threads.count, most or 2 * threads.count)
    waiting: deque[_Task[Item, Result]] = deque()
    try:
        while True:
            try:
                item = next(left)
            except StopIteration:
                break
            except Exception:
                while waiting:
                    _first_of(waiting)
                raise
            if threads.closed:
                raise RuntimeError("what this was begun for has ended.")
            if len(waiting) >= room:
                yield _first_of(waiting)
            waiting.append(_Task(function, item))
            del item
            threads.begin(waiting[-1])
        while waiting:
            yield _first_of(waiting)
    finally:
        for task in waiting:
            task.claim()


def _first_of(waiting: deque[_Task[Item, Result]]) -> Result:
    """The result of the first task, which leaves the line; as long as it is not there, do those that nobody has begun."""
    for task in waiting:
        if waiting[0].done:
            break
        task.run()
    return waiting.popleft().result()


def for_blocks(function: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Run ``function`` over ``items`` for its effect (each writes its own part of an array)."""
    for _ in map_blocks(function, items):
        pass


def add_gram(gram: NDArray[Any], matrices: Iterable[NDArray[Any]]) -> None:
    """Add ``A'A`` of each matrix to a symmetric one in place, a few columns at a time, without a second one of its size."""
    panels = block_slices(len(gram), PANEL_COLUMNS)

    def add(task: tuple[slice, NDArray[Any]]) -> None:
        panel, A = task
        gram[panel.start :, panel] += A[:, panel.start :].T @ A[:, panel]

    for A in matrices:
        for_blocks(add, [(panel, A) for panel in panels])
    for panel in panels:
        gram[panel, panel.stop :] = gram[panel.stop :, panel].T
