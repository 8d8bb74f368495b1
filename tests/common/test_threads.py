"""Work shared out over threads: in order, a few blocks at a time, and what is wrong is said in order, too."""

from __future__ import annotations

import gc
import time
import weakref
from collections.abc import Iterator
from threading import Barrier, Event, active_count, get_ident

import pytest

from easyfs.common.threads import begun, map_blocks, own_threads


class Item:
    """Something that shows whether it is still in memory."""

    def __init__(self, number: int):
        self.number = number


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_the_order_of_the_items(threads: int) -> None:
    with own_threads(threads):
        assert list(map_blocks(lambda i: (time.sleep(0.003 * (i % 2)), i)[1], range(20))) == list(range(20))


@pytest.mark.parametrize("threads", [1, 3])
def test_no_item_outlives_its_turn(threads: int) -> None:
    alive: list[weakref.ref[Item]] = []
    most = []

    def items() -> Iterator[Item]:
        for number in range(30):
            item = Item(number)
            alive.append(weakref.ref(item))
            yield item
            del item

    with own_threads(threads):
        for _ in map_blocks(lambda item: item.number, items(), 4):
            gc.collect()
            most.append([one().number for one in alive if one() is not None])  # type: ignore[union-attr]
    assert all(0 not in numbers for numbers in most[10:])
    assert max(map(len, most)) <= 6


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_thing_that_is_wrong_is_said(threads: int) -> None:
    done = []

    def items() -> Iterator[int]:
        yield from range(6)
        raise ValueError("no more items")

    def work(i: int) -> int:
        time.sleep(0.02)
        if i == 3:
            raise ValueError("wrong with 3")
        done.append(i)
        return i

    with own_threads(threads), pytest.raises(ValueError, match=r"^wrong with 3$"):
        list(map_blocks(work, items()))
    with own_threads(threads), pytest.raises(ValueError, match=r"^no more items$"):
        list(map_blocks(lambda i: i, items()))


def test_what_has_not_begun_is_not_done_after_an_error() -> None:
    done, other_began = [], Event()

    def work(i: int) -> int:
        if i == 0:
            other_began.wait(60)
            raise ValueError("wrong with 0")
        other_began.set()
        time.sleep(0.5 if i == 1 else 1.5)  # what is wrong is said in between
        done.append(i)
        return i

    with own_threads(2), pytest.raises(ValueError, match=r"^wrong with 0$"):
        list(map_blocks(work, range(100)))
    assert len(done) <= 2


def test_the_caller_does_what_nobody_has_begun() -> None:
    """With one other thread that is busy all the time, the caller does all blocks itself."""
    free = Event()
    with own_threads(2):
        other = begun(lambda: (free.wait(10), get_ident())[1])
        time.sleep(0.05)
        assert set(map_blocks(lambda _: get_ident(), range(5))) == {get_ident()}
        free.set()
        assert other() != get_ident()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_work_beside_other_work_has_its_result(threads: int) -> None:
    with own_threads(threads):
        first, second = begun(lambda: sum(map_blocks(lambda i: i * i, range(100)))), begun(lambda: "done")
        assert list(map_blocks(lambda i: i, range(50))) == list(range(50))
        assert (first(), second()) == (sum(i * i for i in range(100)), "done")


def test_blocks_of_work_beside_other_work_are_shared() -> None:
    """Four blocks that wait for each other are only done if four threads work on them."""
    together = Barrier(4)
    with own_threads(4):
        wait = begun(lambda: list(map_blocks(lambda i: (together.wait(10), i)[1], range(4))))
        assert wait() == [0, 1, 2, 3]


@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_wrong_with_work_beside_other_work_is_said_where_it_is_asked_for(threads: int) -> None:
    def fails() -> None:
        raise ValueError("wrong")

    with own_threads(threads):
        wait = begun(fails)
        time.sleep(0.02)
        with pytest.raises(ValueError, match=r"^wrong$"):
            wait()


def test_no_thread_outlives_its_block() -> None:
    before, done = active_count(), []

    def work(i: int) -> None:
        time.sleep(0.01)
        done.append(i)

    def fails() -> None:
        begun(lambda: list(map_blocks(work, range(1000))))
        time.sleep(0.05)
        raise ValueError("wrong here")

    with pytest.raises(ValueError, match="wrong here"), own_threads(2):
        fails()
    assert active_count() == before
    assert len(done) < 1000
