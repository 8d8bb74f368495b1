"""Run the same work over blocks with threads, and get the same bits from any number of them.

The blocks are cut by size alone, each is worked on by one thread with BLAS held at one thread, and results
come back in the order of the blocks. How many threads share the work changes the time and nothing else.

BLAS's own threads are used for large factorisations only, of which no blocks can be made: its idle workers spin for a
while after a product and take the cores from others. numpy and scipy bring a BLAS each, with workers of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import chain, islice
from typing import Any, TypeVar

from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")


Result = TypeVar("Result")


# A block of rows should stay in a core's own cache while it is scaled, expanded and multiplied.
BLOCK_BYTES = 1 << 21
# Tables of fewer numbers are done sooner by one thread.
SMALL = 1 << 17
# Columns of a large Gram matrix that one thread works on at a time.
PANEL_COLUMNS = 256


_pool: ContextVar[ThreadPoolExecutor | None] = ContextVar("_pool", default=None)


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
    if threads == 1 or _pool.get() is not None:
        yield
        return
    with _blas().limit(limits=1), own_threads(threads + more if n_rows * n_columns >= SMALL else 1):
        yield


@contextmanager
def blas_at_one() -> Iterator[None]:
    """Hold BLAS at one thread, and all of this library with it: for work that something else shares out over threads."""
    with _blas().limit(limits=1):
        yield


@contextmanager
def own_threads(threads: int) -> Iterator[None]:
    """Use threads of our own for blocks; to be used with BLAS held at one thread."""
    if threads == 1:
        yield
        return
    with ThreadPoolExecutor(threads) as pool:
        token = _pool.set(pool)
        try:
            yield
        finally:
            _pool.reset(token)


@contextmanager
def threads_of_blas() -> Iterator[None]:
    """Let BLAS use as many threads as we do: for a large factorisation while our own threads wait."""
    pool = _pool.get()
    if pool is None:
        yield
    else:
        with _blas().limit(limits=pool._max_workers):
            yield


def block_slices(n: int, size: int) -> list[slice]:
    """Cut ``range(n)`` into slices of ``size`` (the last one may be shorter)."""
    return [slice(start, min(start + size, n)) for start in range(0, n, max(1, size))]


def block_rows(width: int, itemsize: int) -> int:
    """Rows of ``width`` columns that make one block of about ``BLOCK_BYTES``."""
    return min(max(BLOCK_BYTES // max(1, width * itemsize), 64), 8192)


def map_blocks(function: Callable[[Item], Result], items: Iterable[Item], most: int | None = None) -> Iterator[Result]:
    """Yield ``function(item)`` in the order of ``items``, computed by the threads of :func:`own_threads`.

    No more than two results a thread, and than ``most``, wait for the caller, so memory does not grow with the number of
    blocks. A block that is itself cut into blocks works through them one by one. What is wrong with an item is said after
    what is wrong with those before it, and nothing that has not begun is done then.
    """
    pool, left = _pool.get(), iter(items)
    first = list(islice(left, 2))
    alone = len(first) < 2
    left = chain(iter(first), left)
    del first  # blocks may be large
    if pool is None or alone:  # a block alone is done sooner here
        yield from map(function, left)
        return
    room = min(2 * pool._max_workers, most or 2 * pool._max_workers)
    waiting: deque[Future[Result]] = deque()
    try:
        while True:
            try:
                item = next(left)
            except StopIteration:
                break
            except Exception:
                for one in waiting:
                    one.result()
                raise
            if len(waiting) >= room:
                yield waiting.popleft().result()
            waiting.append(pool.submit(function, item))
            del item
        while waiting:
            yield waiting.popleft().result()
    finally:
        for one in waiting:
            one.cancel()


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
