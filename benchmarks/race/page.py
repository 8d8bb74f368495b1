"""The page of the race, docs/results/race.md, and its picture, docs/results/race.svg, from the rows.

    python benchmarks/race/page.py [--raw FILE] [--out FOLDER]

Quality is the accuracy, or R2, of the better of two models (logistic regression or ridge; gradient boosting) on the rows
held out, mean over rounds; for planted problems the share of the true columns. The same rows make the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from methods import METHODS
from picture import draw

HERE = Path(__file__).resolve().parent
RAW = HERE / "raw" / "race.jsonl"
PAGES = HERE.parents[1] / "docs" / "results"
OWN, PLAIN = "EasyFS", "EasyFS, screens off"
# EasyFS's time over the fastest redundancy-aware library's: what is aimed at.
GOALS = {PLAIN: 1.5, OWN: 4.0}
ABOUT = """\
EasyFS {versions}, {threads} threads ({machine}), float64 tables, the same rows, target and number of columns for every
method, each alone in a process of its own, nothing else running. Quality: accuracy (R2 for SoyNAM) on rows held out, of the
better of two models on the chosen columns; for planted problems the share of the true columns found. Time: the median of
further fits in the same process (the first fit where it took over 20 s); a fit over {limit} s is ended. Generated tables
have near-copies of the informative columns, and a pair of columns that matters only together; rounds are tables of other
seeds, or folds. "Screens off" is `EasyFS(k, interactions=False)`, which does not look for such pairs. Conversion to a
library's own frame is not timed. Settings are defaults but for these, which save the rival time: RFE drops a tenth of the
columns at a time, Boruta has 50 rounds of its 100 and trees of depth 5 as its authors advise, LassoNet's path goes in steps
of 1.05 instead of 1.02; the L1 machine has C = 0.1, Lasso a cross-validated penalty, mRMR of fast-select sees ten bins.
How it is done stands in `benchmarks/race/race.py`; `benchmarks/race/page.py` makes this page from `benchmarks/race/raw`."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A method on an input, as the page shows it.

    Attributes
    ----------
    method : str
        Its name.
    row : dict
        What was measured.
    """

    method: str
    row: Row

    @property
    def warm(self) -> float | None:
        """Seconds of a fit: the median of the warm ones, or the first where there is no other."""
        if self.row["input"] == "planted" and len(self.row["rounds"]) > 1:
            return float(np.median([one["seconds"] for one in self.row["rounds"][1:]]))
        return float(np.median(self.row["warm"])) if self.row.get("warm") else self.row.get("cold_s")

    def scores(self, model: str) -> dict[int, float]:
        """Score by round; a round that failed found nothing."""
        rounds = self.row["rounds"]
        return {one["round"]: one.get(model, 0.0) for one in rounds if one.get(model) is not None or "error" in one}

    @property
    def model(self) -> str:
        """What the quality is read from: the model that does better, or the true columns found."""
        known = [m for m in ("linear", "boosting") if self.scores(m)]
        return max(known, key=lambda m: np.mean(list(self.scores(m).values()))) if known else "recall"

    @property
    def rounds(self) -> dict[int, float]:
        """Quality by round."""
        return self.scores(self.model)

    @property
    def quality(self) -> float | None:
        """Mean quality over rounds."""
        return float(np.mean(list(self.rounds.values()))) if self.rounds else None

    def as_good_as(self, other: Entry) -> bool:
        """Whether its quality is no worse than the other's by more than chance.

        By the mean of the difference over the rounds that both have: two standard errors of it; with one round in common,
        the standard deviation of the other's quality.
        """
        common = sorted(set(self.rounds) & set(other.rounds))
        if not common:
            return False
        gaps = [self.rounds[r] - other.rounds[r] for r in common]
        n = len(common)
        if n == 1:
            return bool(gaps[0] >= -np.std(list(other.rounds.values())))
        return bool(np.mean(gaps) >= -2.0 * np.std(gaps, ddof=1) / np.sqrt(n))


def load(path: Path) -> dict[str, dict[str, Entry]]:
    """The last row of each cell, by input and method, in the order of the methods' list."""
    rows: dict[tuple[str, str], Row] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows[row["input"], row["method"]] = row
    found: dict[str, dict[str, Entry]] = {}
    for (name, method), row in rows.items():
        found.setdefault(name, {})[method] = Entry(method, row)
    known = list(METHODS)
    return {name: dict(sorted(part.items(), key=lambda one: known.index(one[0]))) for name, part in found.items()}


def done(part: dict[str, Entry]) -> dict[str, Entry]:
    """The methods that gave columns."""
    return {method: entry for method, entry in part.items() if entry.row["rounds"] and entry.quality is not None}


def seconds(value: float | None) -> str:
    """A time with two digits that count."""
    if value is None:
        return "—"
    return f"{1000 * value:.2g} ms" if value < 0.0995 else f"{value:.2g} s" if value < 99.5 else f"{value:.0f} s"


def megabytes(value: float | None) -> str:
    return "—" if value is None else f"{value:.0f} MB"


def mean_spread(values: dict[int, float]) -> str:
    """Mean and standard deviation over rounds."""
    if not values:
        return "—"
    numbers = list(values.values())
    return f"{np.mean(numbers):.3f}" + (f" ± {np.std(numbers, ddof=1):.3f}" if len(numbers) > 1 else "")


def title(name: str, part: dict[str, Entry]) -> str:
    """Name, shape and number of columns of an input."""
    row = next((entry.row for entry in part.values() if "shape" in entry.row), {})
    if name == "planted":
        return "planted problems"
    shape = "" if " x " in name or not row else f", {row['shape'][0]:,} x {row['shape'][1]:,}"
    return f"{name}{shape}, {row['k']} columns" if row else name


def overview(inputs: dict[str, dict[str, Entry]]) -> list[str]:
    """One table: quality and time of every method on every input."""
    methods = [m for m in METHODS if any(m in part for part in inputs.values())]
    lines = [f"| | {' | '.join(inputs)} |", "|---" * (len(inputs) + 1) + "|"]
    lines += [f"| {method} | {' | '.join(brief(method, part) for part in inputs.values())} |" for method in methods]
    return lines


def fewer(entry: Entry, part: dict[str, Entry]) -> str:
    """How many rounds a method has, where others have more: its mean is over other tables than theirs."""
    most = max(len(other.rounds) for other in part.values())
    return f" ({len(entry.rounds)} of {most} rounds)" if len(entry.rounds) < most else ""


def brief(method: str, part: dict[str, Entry]) -> str:
    """A cell of the overview."""
    entry = part.get(method)
    if entry is None:
        return "—"
    if entry.row["rounds"] and entry.quality is not None:
        return f"{entry.quality:.3f}, {seconds(entry.warm)}{fewer(entry, part)}"
    return f"over {entry.row['limit']:g} s" if entry.row["status"] == "overrun" else entry.row["status"]


def details(name: str, part: dict[str, Entry]) -> list[str]:
    """All that was measured on an input, the fastest first."""
    lines = [f"## {title(name, part)[0].upper()}{title(name, part)[1:]}", ""]
    planted = name == "planted"
    heads = ["method", "warm", "cold", "import", "memory added", "peak"]
    heads += ["true columns found"] if planted else ["linear model", "boosting", "true columns found", "rounds"]
    lines += [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for entry in sorted(done(part).values(), key=lambda one: (one.warm or 0.0, one.method)):
        row = entry.row
        times = [seconds(entry.warm), seconds(row.get("cold_s")), seconds(row.get("import_s"))]
        cells = [*times, megabytes(row.get("added_mb")), megabytes(row.get("peak_mb"))]
        if not planted:
            cells += [mean_spread(entry.scores("linear")), mean_spread(entry.scores("boosting"))]
        cells += [mean_spread(entry.scores("recall"))]
        cells += [] if planted else [str(len(row["rounds"]))]
        lines.append(f"| {entry.method} | {' | '.join(cells)} |")
    lines.append("")
    wrong = [entry for entry in part.values() if entry.row["status"] != "ok"]
    lines += [f"- {entry.method}: {entry.row['status']}, {entry.row['reason']}{kept(entry)}" for entry in wrong]
    failed = [(entry.method, sum("error" in one for one in entry.row["rounds"])) for entry in part.values()]
    lines += [f"- {method}: {times} of its rounds failed and count as nothing found" for method, times in failed if times]
    return [*lines, ""] if lines[-1] else lines


def kept(entry: Entry) -> str:
    """How many rounds there are of a cell that was ended."""
    rounds = len(entry.row["rounds"])
    return f" (after {rounds} round{'s' if rounds > 1 else ''}, shown above)" if rounds else ""


def aware_libraries() -> list[str]:
    """Methods of other libraries that mind redundancy."""
    return [m for m, method in METHODS.items() if method.aware and method.package != METHODS[OWN].package]


def ratios(inputs: dict[str, dict[str, Entry]]) -> list[str]:
    """EasyFS's time over the fastest redundancy-aware library's."""
    lines = ["| | fastest | its time | screens off | screens on |", "|---|---|---|---|---|"]
    met: dict[str, list[bool]] = {own: [] for own in GOALS}
    for name, part in inputs.items():
        others = {m: e for m, e in done(part).items() if m in aware_libraries() and e.warm}
        if not others:
            continue
        fastest = min(others.values(), key=lambda e: (e.warm, e.method))
        cells = []
        for own, goal in GOALS.items():
            mine = done(part).get(own)
            if mine is None or mine.warm is None or fastest.warm is None:
                cells.append("—")
                continue
            ratio = mine.warm / fastest.warm
            met[own].append(ratio <= goal)
            cells.append(f"{'**' if ratio <= goal else ''}{ratio:.1f}{'**' if ratio <= goal else ''}")
        lines.append(f"| {name} | {fastest.method} | {seconds(fastest.warm)} | {' | '.join(cells)} |")
    told = "; ".join(f"{own}: at most {GOALS[own]:g} on {sum(m)} of {len(m)}" for own, m in met.items() if m)
    return [*lines, "", f"Goals (bold where met): {told}."]


def better_elsewhere(name: str, part: dict[str, Entry]) -> str:
    """Which methods are faster than EasyFS and no worse, and which are better, by more than chance."""
    good = done(part)
    if OWN not in good:
        why = part[OWN].row["reason"] if OWN in part else "not run"
        return f"- **{name}**: EasyFS has no result ({why})."
    own = good[OWN]
    others = {m: e for m, e in good.items() if m not in (OWN, "random")}
    faster = {m for m, e in others.items() if (e.warm or 0.0) < (own.warm or 0.0)}
    better = {m for m, e in others.items() if set(e.rounds) & set(own.rounds) and not own.as_good_as(e)}
    as_good = {m for m, e in others.items() if m not in better and e.as_good_as(own)}
    told = f"- **{name}** (EasyFS {own.quality:.3f} in {seconds(own.warm)}{fewer(own, part)}): "
    kinds = (
        ("faster and better", faster & better),
        ("faster and as good", faster & as_good),
        ("slower and better", better - faster),
    )
    return (
        told
        + "; ".join(
            f"{kind}: {listed([others[m] for m in found], own, part) if found else 'none'}" for kind, found in kinds
        )
        + "."
    )


def listed(entries: list[Entry], own: Entry, part: dict[str, Entry]) -> str:
    """Methods with their quality, their time, the rounds that EasyFS is ahead in, and fewer true columns found."""
    told = []
    for entry in sorted(entries, key=lambda e: (e.warm or 0.0, e.method)):
        text = f"{entry.method} {entry.quality:.3f} in {seconds(entry.warm)}{fewer(entry, part)}"
        mine, theirs = (list(e.scores("recall").values()) for e in (own, entry))
        if entry.model != "recall" and mine and theirs and np.mean(theirs) < np.mean(mine) - 0.005:
            text += f" (true columns {np.mean(theirs):.2f}, EasyFS {np.mean(mine):.2f})"
        gains = [own.rounds[r] - entry.rounds[r] for r in set(own.rounds) & set(entry.rounds)]
        won, lost = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
        text += f" (ahead in {won}, behind in {lost} of {len(gains)})"
        told.append(text)
    return ", ".join(told)


def page(inputs: dict[str, dict[str, Entry]]) -> str:
    """The page."""
    rows = [entry.row for part in inputs.values() for entry in part.values()]
    versions = {e.row["version"] for part in inputs.values() for m, e in part.items() if "version" in e.row and m == OWN}
    libraries = sorted({f"{METHODS[r['method']].package} {r['version']}" for r in rows if "version" in r})
    told = {
        part: ", ".join(sorted({f"{r[part]:g}" if part != "machine" else r[part] for r in rows if part in r}))
        for part in ("threads", "limit", "machine")
    }
    lines = [
        "# The race: EasyFS against what one would install instead",
        "",
        *ABOUT.format(versions=", ".join(sorted(versions)), **told).splitlines(),
        "",
        "![quality against time of a fit, a panel for each input](race.svg)",
        "",
        "## Where EasyFS is not the best choice",
        "",
        "With screens on. Better: by more than two standard errors of the mean difference over the rounds that both have",
        "(with a single one in common: than the standard deviation over EasyFS's rounds). As good: neither is better.",
        "Ahead and behind: in how many of these rounds EasyFS is.",
        "",
        *(better_elsewhere(name, part) for name, part in inputs.items()),
        "",
        "## EasyFS's time over the fastest redundancy-aware library's",
        "",
        f"Of {', '.join(aware_libraries())}; EasyFS's own mRMR is part of the library.",
        "",
        *ratios(inputs),
        "",
        "## All in one table: quality, time of a fit",
        "",
        "<!-- table -->",
        "",
        *overview(inputs),
        "",
        "<!-- end of table -->",
        "",
    ]
    for name, part in inputs.items():
        lines += details(name, part)
    made = sorted({f"commit {row['commit']}, {row['date'][:10]}" for row in rows if row.get("commit")})
    lines += ["## Versions", "", f"{', '.join(libraries)}.", "", f"Rows: {'; '.join(made)}."]
    return "\n".join(lines).rstrip() + "\n"


def points(inputs: dict[str, dict[str, Entry]]) -> dict[str, tuple[str, list[tuple[str, float, float]]]]:
    """For each panel its title, and method, seconds and quality of each point."""
    found = {}
    for name, part in inputs.items():
        shown = [(m, e.warm, e.quality) for m, e in done(part).items() if e.warm and e.quality is not None]
        found[name] = (title(name, part), shown)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--raw", type=Path, default=RAW, help="where the rows are")
    parser.add_argument("--out", type=Path, default=PAGES, help="folder of the page")
    args = parser.parse_args()
    inputs = load(args.raw)
    args.out.mkdir(parents=True, exist_ok=True)
    for name, content in (("race.md", page(inputs)), ("race.svg", draw(points(inputs)))):
        draft = args.out / f"{name}.part"
        draft.write_text(content, encoding="utf-8")
        os.replace(draft, args.out / name)


if __name__ == "__main__":
    main()
