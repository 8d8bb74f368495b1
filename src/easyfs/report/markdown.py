"""A report as Markdown that reads well as plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from easyfs.passes.choosing import LEVEL
from easyfs.report.advice import advice, with_rows
from easyfs.report.alike import frequency_of
from easyfs.report.prose import (
    TOGETHER,
    chance_sentence,
    count_sentence,
    divide_at,
    interchangeable_sentence,
    near_copies_sentence,
    whole_of,
)
from easyfs.report.summary import Content, CrossValidation
from easyfs.report.words import chance, count, percent, plain, score, shown, told

_SPECIAL = re.compile(r"([\\`*_{}\[\]#|~$])")
_BARS = 20
# Numbers of columns of a curve that are listed.
_SIZES = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200)


def escaped(text: str) -> str:
    """Text on one line that Markdown and HTML leave as it is, also inside a table."""
    text = shown(text, 10_000).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", text)


def name_of(name: str) -> str:
    """A column's name in a table."""
    return escaped(shown(name))


def table(head: Iterable[str], rows: Iterable[Iterable[str]], right: str = "") -> list[str]:
    """A table; ``right`` has an ``r`` for each column that is aligned to the right."""
    head = list(head)
    marks = ["---:" if place < len(right) and right[place] == "r" else "---" for place in range(len(head))]
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join(marks)} |"]
    return [*lines, *(f"| {' | '.join(row)} |" for row in rows), ""]


def to_markdown(content: Content) -> str:
    """The whole report."""
    asked = content["asked"]
    about = f"easyfs {asked['version']}, {asked['created']}"
    if asked["source"]:
        about += f", {escaped(asked['source'])}"
    lines = [f"# {escaped(content['title'])}", "", escaped(content["summary"]), "", about, ""]
    parts = (
        ("Warnings", _warnings(content)),
        ("Chosen columns", _features(content)),
        *([("Together", _together(content))] if content["interactions"] else []),
        ("How many are enough", _enough(content)),
        ("What each stands in for", _stands_for(content)),
        ("Stability", _stability(content)),
        ("Next in line", _runners_up(content)),
        ("Set aside", _aside(content)),
        ("The data", _data(content)),
        ("What was asked", _asked(content)),
    )
    for heading, body in parts:
        lines += [f"## {heading}", "", *body]
    return "\n".join(lines).rstrip() + "\n"


def _warnings(content: Content) -> list[str]:
    if not content["warnings"]:
        return ["None.", ""]
    return [*(f"- **{w['level']}** ({w['code'].replace('_', ' ')}): {escaped(w['text'])}" for w in content["warnings"]), ""]


def _features(content: Content) -> list[str]:
    shares = content["enough"]["of"] is not None
    stable = content["stability"] is not None
    tested = any(f["p_value"] is not None for f in content["features"])
    head = ["#", "column", "kind", *(["adds", "so far"] if shares else ["score"])]
    head += ["chance"] if tested else []
    head += ["by itself", "overlap", "missing", *(["came up"] if stable else [])]
    rows: list[list[str]] = []
    divide = divide_at(content)
    for f in content["features"]:
        if divide == f["place"] - 1:
            rows.append(["", "*from here on: no more than chance*", *[""] * (len(head) - 2)])
        gain = [percent(f["adds"]), percent(f["explained"])] if shares else [plain(f["gain"])]
        kind = f["kind"] + (f" ({len(f['parts'])} parts)" if f["parts"] else "") + (" (included)" if f["included"] else "")
        near = ", ".join(str(other["place"]) for other in f["near_copies"])
        row = [str(f["place"]), name_of(f["name"]), kind + (f" (near-copy of {near})" if near else ""), *gain]
        row += (
            [escaped(chance(f["p_value"])) + (" (no more than chance)" * (f["beyond_chance"] is False))] if tested else []
        )
        row += [percent(f["relevance"]), percent(f["redundancy"]), percent(f["missing"])]
        rows.append([*row, *([percent(frequency_of(f), 0)] if stable else [])])
    lines = table(head, rows, "rll" + "r" * 8)
    more = content["selected"]["count"] - content["selected"]["listed"]
    lines += [f"{more:,} more are chosen; the JSON report names them all.", ""] if more else []
    if tested:
        text = f"from {plain(LEVEL)} on a column explains no more than chance."
        lines += [
            f"Chance: how likely the best of as many unrelated columns would explain as much of the target; {text}",
            "",
        ]
    if content["enough"]["of"] == "target":
        text = (
            "Adds: share of the target that a column explains beyond those before it, in the rows of the fit; by itself: "
        )
        lines += [text + "alone; overlap: share of the column that the other chosen ones explain.", ""]
    if content["interactions"] is not None and not content["interactions"]:
        lines += ["No columns were found that matter only together, or in a curve.", ""]
    return lines


def _together(content: Content) -> list[str]:
    chosen = set(content["selected"]["names"])
    lines = [TOGETHER, ""]
    for found in content["interactions"] or ():
        names = (name_of(name) + ("" if name in chosen else " (not chosen)") for name in found["columns"])
        text = " with ".join(names) + (" in a curve" if len(found["columns"]) == 1 else "")
        share = percent(found["share"], 0 if found["share"] >= 0.01 else 1)
        lines.append(f"- {text}: {share} of the target (chance {escaped(chance(found['p_value']))})")
    return [*lines, ""]


def _enough(content: Content) -> list[str]:
    enough, lines = content["enough"], []
    if enough["of"] is not None and enough["at_90"] and enough["at_95"]:
        text = f"90% of what all chosen columns {whole_of(content)[0]} is reached with {count(enough['at_90'], 'column')}, "
        lines += [text + f"95% with {count(enough['at_95'], 'column')}.", ""]
    where = chance_sentence(content)
    lines += [where, ""] if where else []
    shares = enough["of"] is not None
    gains = [(f["adds"] if shares else f["gain"]) or 0.0 for f in content["features"]]
    largest = max(map(abs, gains), default=0.0) or 1.0
    lines += ["```text"]
    for place, gain in enumerate(gains[:50], start=1):
        value = percent(gain) if shares else plain(gain)
        lines.append(f"{place:>4}  {value:>8}  {'#' * round(_BARS * max(gain, 0.0) / largest)}".rstrip())
    lines += ["```", ""]
    return [*lines, *_column_count(content), *_cross_validation(content["cross_validation"])]


def _column_count(content: Content) -> list[str]:
    """The curve by which the number of columns was found, and how alike the folds chose."""
    found = content["column_count"]
    if found is None:
        return []
    kept = {found["taken"], found["best"], found["points"][-1]["columns"], *_SIZES}
    rows = [
        [
            f"{p['columns']:,}" + (" (taken)" * (p["columns"] == found["taken"])),
            f"{percent(p['mean'])} ± {percent(p['error'])}",
        ]
        for p in found["points"]
        if p["columns"] in kept
    ]
    named = ", ".join(
        f"{name_of(c['name'])} {c['folds']}{'' if c['chosen'] else ' (not chosen)'}" for c in found["columns"]
    )
    more = f" and {found['more']:,} more" if found["more"] else ""
    overlap = f"The folds' choices overlap by {percent(found['jaccard'], 0)}. "
    return [
        count_sentence(content),
        "",
        *table(["columns", "of the target explained in left-out rows, with one standard error"], rows, "rr"),
        overlap + f"In how many of {found['folds']} folds each was chosen: {named}{more}.",
        "",
    ]


def _cross_validation(measured: CrossValidation | None) -> list[str]:
    if measured is None:
        return []
    better = "less" if measured["smaller_is_better"] else "more"
    folds = f"{measured['folds']} folds {measured['split']}"
    lines = [
        f"Cross-validated {measured['metric']} ({better} is better), {measured['model']}, {folds}:",
        "",
    ]
    random = {point["columns"]: point for point in measured["random"]}
    rows = []
    for point in measured["points"]:
        other = random.get(point["columns"])
        rows.append(
            [
                f"{point['columns']:,}",
                f"{score(point['mean'])} ± {score(point['spread'])}",
                f"{score(other['mean'])} ± {score(other['spread'])}" if other else "—",
            ]
        )
    lines += table(["columns", "chosen", "random"], rows, "rrr")
    whole = measured["all"]
    if whole is not None:
        lines += [f"All {whole['columns']:,} columns: {score(whole['mean'])} ± {score(whole['spread'])}.", ""]
    if measured["enough"] is not None:
        lines += [f"{count(measured['enough'], 'column is', 'columns are')} within one standard error of the best.", ""]
    return [*lines, *(f"- {escaped(reason)}" for reason in measured["failures"]), *([""] if measured["failures"] else [])]


def _stands_for(content: Content) -> list[str]:
    if content["overlap"] is None:
        return [f"Not measured; it needs {with_rows(content)}.", ""]
    rows = [
        [
            str(f["place"]),
            name_of(f["name"]),
            ", ".join(f"{name_of(n['name'])} ({percent(n['share'], 0)})" for n in f["stands_for"]) or "—",
        ]
        for f in content["features"]
    ]
    least = percent(content["overlap"]["least"], 0)
    note = f"Columns that were left out and of which a chosen one explains at least {least}, beyond those chosen before it:"
    near = near_copies_sentence(content)
    return [*([escaped(near), ""] if near else []), note, "", *table(["#", "chosen", "stands in for"], rows, "r")]


def _stability(content: Content) -> list[str]:
    stable = content["stability"]
    if stable is None:
        return [f"Not measured; ask for it with {advice(content, 'stability')}, which needs {with_rows(content)}.", ""]
    text = (
        f"{stable['runs']} selections on random halves of the rows, of {plain(stable['mean_size'], 3)} columns on average; "
    )
    lines = [
        text + f"stability {plain(stable['nogueira'], 2)} (Nogueira; 1 is the same columns each time, 0 is chance).",
        "",
        *table(
            ["column", "came up"],
            ([name_of(f["name"]), percent(f["frequency"], 0)] for f in content["features"]),
            "lr",
        ),
    ]
    alike = [escaped(interchangeable_sentence(f)) for f in content["features"] if f["interchangeable"]]
    lines += [*(f"- {sentence}" for sentence in alike), ""] if alike else []
    if stable["others"]:
        lines += ["Not chosen, but often found:", ""]
        lines += table(
            ["column", "came up"], ([name_of(o["name"]), percent(o["frequency"], 0)] for o in stable["others"]), "lr"
        )
    return lines


def _runners_up(content: Content) -> list[str]:
    if not content["runners_up"]:
        return ["No other column is left.", ""]
    adds = content["enough"]["of"] == "target"
    rows = [
        [
            name_of(r["name"]),
            r["kind"],
            percent(r["adds"], 2) if adds else plain(r["score"]),
            percent(r["relevance"]),
            percent(r["redundancy"]),
            percent(r["missing"]),
        ]
        for r in content["runners_up"]
    ]
    head = ["column", "kind", "would add" if adds else "score", "by itself", "overlap", "missing"]
    more = content["runners_up_count"] - len(rows)
    return [*table(head, rows, "llrrrr"), *([f"And {more:,} more.", ""] if more else [])]


def _aside(content: Content) -> list[str]:
    aside = content["set_aside"]
    if not aside["counts"]:
        return ["None.", ""]
    lines = [", ".join(f"{why}: {n:,}" for why, n in aside["counts"].items()) + ".", ""]
    lines += table(
        ["column", "why", "in words"], ([name_of(c["name"]), c["why"], escaped(c["reason"])] for c in aside["columns"])
    )
    return lines


def _data(content: Content) -> list[str]:
    data, target = content["data"], content["target"]
    lines = [
        f"- {count(data['rows'], 'row')}, {count(data['columns'], 'column')}",
        f"- kinds: {', '.join(f'{kind} {n:,}' for kind, n in data['kinds'].items())}",
        f"- missing: {percent(data['missing_share'])} of all values, in {count(data['columns_with_missing'], 'column')}",
    ]
    if target is None:
        return [*lines, "- no target", ""]
    name = escaped(target["name"]) if target["name"] else "without a name"
    several = f", {target['n_targets']} at once" if (target["n_targets"] or 1) > 1 else ""
    lines += [f"- target: {name}, {target['task']}{several}{'' if target['used'] else ', not used to select'}"]
    if target["classes"]:
        rows = ([name_of(c["label"]), f"{c['rows']:,}", percent(c["share"])] for c in target["classes"])
        return [*lines, "", *table(["class", "rows", "share"], rows, "lrr")]
    if target["quantiles"] is not None:
        values = [plain(value) for value in target["quantiles"].values()]  # type: ignore[arg-type]
        head = ["smallest", "lower quartile", "median", "upper quartile", "largest"]
        return [*lines, "", *table(head, [values], "rrrrr")]
    return [*lines, ""]


def _asked(content: Content) -> list[str]:
    asked = content["asked"]
    lines = [
        f"- method: {escaped(asked['method'])} ({escaped(asked['class_name'])})",
        f"- columns asked for: {escaped(told(asked['n_features_to_select']))}",
    ]
    lines += [f"- {escaped(name)}: {escaped(told(value))}" for name, value in asked["parameters"].items()]
    if asked["paper"]:
        lines += [f"- from: {escaped(asked['paper'])}"]
    return [*lines, f"- seed: {asked['seed'] if asked['seed'] is not None else 'none'}", ""]
