"""How a report is made: the room that makes them stands below the selectors, and is named as the library is imported."""

from collections.abc import Callable
from typing import Any

_builder: list[Callable[..., Any]] = []


def set_report_builder(build: Callable[..., Any]) -> None:
    """Say how a selector's ``report`` is made."""
    _builder[:] = [build]


def make_report(*args: Any, **options: Any) -> Any:
    """Make a report."""
    return _builder[0](*args, **options)
