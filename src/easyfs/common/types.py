"""Types that every room uses."""

from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]
