"""Notes of one test do not reach the next."""

from __future__ import annotations

import pytest

from .spies import Spy, SpyModel


@pytest.fixture(autouse=True)
def nothing_seen() -> None:
    Spy.seen.clear()
    SpyModel.seen.clear()
