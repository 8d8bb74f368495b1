"""Whether the present code chooses what the run of the confirmatory comparison chose.

    python benchmarks/confirm/run.py --methods EasyFS --raw FOLDER
    python benchmarks/confirm/again.py --raw FOLDER

The run itself is not made again: its rows, made before anything was seen, are what the page ranks. This compares the
columns of its fits of EasyFS with those of another folder. The counts go to benchmarks/raw/confirm-again.jsonl, the last of
them to the page.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from field import SIZES, method_of

sys.path.append(str(Path(__file__).resolve().parents[1]))
from keeping import keep

RAW = Path(__file__).resolve().parent / "raw"


def orders(path: Path) -> dict[tuple[Any, ...], list[int]]:
    """The order of the columns in each fit of EasyFS of a table."""
    rows = (json.loads(line) for line in path.open(encoding="utf-8"))
    return {
        (row["selector"], row["repeat"], row["fold"]): row["order"]
        for row in rows
        if row.get("kind") == "fit" and method_of(row["selector"]) == "EasyFS" and row["status"] == "ok"
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", type=Path, required=True)
    args = parser.parse_args()
    same, fits = dict.fromkeys(SIZES, 0), 0
    for path in sorted(RAW.glob("*.jsonl")):
        first, now = orders(path), orders(args.raw / path.name)
        if first.keys() != now.keys():
            raise SystemExit(f"{path.name}: {len(now)} fits of {len(first)}; run benchmarks/confirm/run.py to its end.")
        fits += len(first)
        for size in SIZES:
            other = [place for place in first if set(first[place][:size]) != set(now[place][:size])]
            same[size] += len(first) - len(other)
            if other:
                print(f"{path.stem}, {size} columns: other ones in {len(other)} of {len(first)} fits")
    keep("confirm-again", fits=fits, same=same)
    print(f"the same columns in {', '.join(f'{n} of {fits} fits with {size}' for size, n in same.items())}")


if __name__ == "__main__":
    main()
