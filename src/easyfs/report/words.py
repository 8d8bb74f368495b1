"""Names and numbers as a reader sees them."""

from __future__ import annotations

import math
import unicodedata
from typing import Any

LONGEST_NAME = 120
_SYMBOLS = {"\n": "↵", "\r": "␍", "\t": "⇥", "\u2028": "↵", "\u2029": "↵", "\x7f": "␡", "\x85": "↵"}


def shown(name: str, longest: int = LONGEST_NAME) -> str:
    """A name on one line: what cannot be seen is shown as a symbol, and a very long one is cut."""
    text = "".join(_visible(letter) for letter in name[: longest + 1])
    if not text.strip():
        return "␣" * len(text) if text else "(no name)"
    return text if len(name) <= longest else text[: longest - 1] + "…"


def _visible(letter: str) -> str:
    if letter in _SYMBOLS:
        return _SYMBOLS[letter]
    if ord(letter) < 32:
        return chr(0x2400 + ord(letter))
    # Marks that turn the direction of text, or have no width, would change what stands around them.
    return f"[U+{ord(letter):04X}]" if unicodedata.category(letter) in ("Cc", "Cf", "Cs") else letter


def number(value: Any) -> float | None:
    """A number of seven digits; None if it is not finite."""
    value = float(value)
    return float(f"{value:.7g}") if math.isfinite(value) else None


def percent(share: float | None, digits: int = 1) -> str:
    """A share as a percentage; a dash where it is not known."""
    return "—" if share is None else f"{share:.{digits}%}"


def plain(value: float | None, digits: int = 4) -> str:
    """A number of few digits; a dash where it is not known."""
    if value is None:
        return "—"
    if float(value).is_integer() and abs(value) < 1e6:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def score(value: float | None) -> str:
    """A score with three digits after the point; a dash where it is not known."""
    return "—" if value is None else f"{value:.3f}" if abs(value) < 1000 else f"{value:.4g}"


def chance(p_value: float | None) -> str:
    """A p-value; a small one is cut, not rounded, so that it stays on its side of the level."""
    if p_value is None:
        return "—"
    if p_value < 0.001:
        return "< 0.001"
    return f"{math.floor(1000 * p_value + 1e-9) / 1000:.3f}" if p_value < 0.1 else f"{p_value:.2f}"


def told(value: Any) -> str:
    """A parameter's value in words."""
    if isinstance(value, dict):
        return ", ".join(f"{shown(key)}: {told(entry)}" for key, entry in value.items())
    return ", ".join(told(entry) for entry in value) if isinstance(value, list) else shown(str(value))


def count(n: int, one: str, many: str | None = None) -> str:
    """A number of things: ``1 row``, ``2,000 rows``."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def quoted(name: str) -> str:
    """A name inside a sentence."""
    return f"“{shown(name, 60)}”"


def listed(names: list[str], most: int = 5) -> str:
    """Names inside a sentence, the first few of them."""
    named = [quoted(name) for name in names[:most]]
    if len(names) > most:
        return ", ".join(named) + f" and {len(names) - most:,} more"
    return " and ".join(filter(None, [", ".join(named[:-1]), *named[-1:]]))
