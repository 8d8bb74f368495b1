"""The paragraph at the top of a report, and its title."""

from __future__ import annotations

from easyfs.report.alike import frequency_of
from easyfs.report.summary import Content, Feature, Target
from easyfs.report.words import count, listed, percent, plain, quoted, score

MOST_TITLE = 60
TOGETHER = (
    "These columns explain the target together, or in a curve, which a linear model does not see; the share is measured on "
    "rows that were not used to find them."
)


def default_title(target: Target | None) -> str:
    """A title for a report that was given none."""
    if target is None or not target["used"]:
        return "The columns that cover the table"
    return "The columns that matter" + (f" for {target['name'][:MOST_TITLE]}" if target["name"] else "")


def summary_of(content: Content) -> str:
    """One paragraph in plain words."""
    return " ".join(filter(None, (part(content) for part in (_chosen, _adjusted, _by_chance, _said, _measured, _warned))))


def _chosen(content: Content) -> str:
    asked, data, selected = content["asked"], content["data"], content["selected"]
    name = asked["class_name"].removesuffix("Selector")
    return (
        f"{name} chose {selected['count']:,} of {count(data['columns'], 'column')}"
        f"{_purpose(content['target'])}, from {count(data['rows'], 'row')}."
    )


def _adjusted(content: Content) -> str:
    adjusted = content["adjusted"]
    if adjusted is None:
        return ""
    many = len(adjusted["columns"]) > 1
    told = f" ({percent(adjusted['share'])} of the target)" if adjusted["share"] is not None else ""
    return (
        f"What {listed(adjusted['columns'])} explain{'' if many else 's'}{told} was taken out first: all that follows is "
        f"about what {'they leave' if many else 'it leaves'}."
    )


def _purpose(target: Target | None) -> str:
    if target is None or not target["used"]:
        return " to cover the table without a target"
    about = f" to predict {quoted(target['name']) if target['name'] else 'the target'}"
    if target["task"] == "classification" and target["n_distinct"] and (target["n_targets"] or 1) == 1:
        return f"{about} ({count(target['n_distinct'], 'class', 'classes')})"
    if (target["n_targets"] or 1) > 1:
        return f"{about} ({target['n_targets']} targets at once)"
    if target["quantiles"] is not None:
        low, high = target["quantiles"]["smallest"], target["quantiles"]["largest"]
        return f"{about} (numbers from {plain(low)} to {plain(high)})"
    return about


def _by_chance(content: Content) -> str:
    if content["enough"]["chance_after"] != 0:
        return ""
    explains = "It explains no more" if content["selected"]["count"] == 1 else "None of them explains more"
    return f"{explains} of the target than chance would, so there may be nothing to find here."


def count_warnings(content: Content) -> int:
    """How many warnings there are; notes are none."""
    return sum(caution["level"] != "note" for caution in content["warnings"])


def interchangeable_sentence(feature: Feature) -> str:
    """That a column can be replaced by others, and how often one of them came up; empty if that is not known."""
    alike = feature["interchangeable"]
    if alike is None:
        return ""
    names = alike["names"]
    which = "one of the two" if len(names) == 1 else "one of them"
    text = f"interchangeable with {listed(names)}; {which} came up in {percent(alike['frequency'], 0)} of the runs"
    return f"{quoted(feature['name'])} is {text}."


def near_copies_sentence(content: Content) -> str:
    """Pairs of chosen columns that overlap almost wholly; empty if there are none."""
    pairs = [
        f"{quoted(other['name'])} and {quoted(f['name'])} ({percent(other['share'], 0)})"
        for f in content["features"]
        for other in f["near_copies"]
        if other["place"] < f["place"]
    ]
    if not pairs:
        return ""
    more = f" and {len(pairs) - 3:,} more pairs" if len(pairs) > 3 else ""
    return f"Near-copies among the chosen columns: {', '.join(pairs[:3])}{more}."


def count_sentence(content: Content) -> str:
    """How the number of columns was found; empty unless by cross-validation."""
    found = content["column_count"]
    if found is None:
        return ""
    text = (
        f"The number was found by cross-validation in {found['folds']} folds: {count(found['best'], 'column')} "
        f"predict{'s' if found['best'] == 1 else ''} the left-out rows best"
    )
    if found["taken"] < found["best"]:
        text += f", and {found['taken']:,} {'is' if found['taken'] == 1 else 'are'} the fewest within one standard error"
    return text + "."


def divide_at(content: Content) -> int | None:
    """Place in the table before which a line says that chance begins; None if there is no such place.

    There is one where all columns from it on are known to explain no more than chance.
    """
    features = content["features"]
    told = [i for i, f in enumerate(features) if f["beyond_chance"]]
    after = told[-1] + 1 if told else 0
    rest = features[after:]
    return after if rest and all(f["beyond_chance"] is False for f in rest) else None


def chance_sentence(content: Content) -> str:
    """Where chance begins; empty if that is not known."""
    after, chosen = content["enough"]["chance_after"], content["selected"]["count"]
    if after is None:
        return ""
    tells = "explains more of the target than the best of as many unrelated columns would"
    if after == 0:
        return f"No chosen column {tells}."
    if after < chosen:
        return f"After the first{f' {after:,}' if after > 1 else ''}, no chosen column {tells}."
    return f"After {count(after, 'column')} no other {tells}."


def _said(content: Content) -> str:
    features, enough = content["features"], content["enough"]
    first = features[0]
    if enough["of"] is None or enough["total"] is None:
        return f"It puts {quoted(first['name'])} first." if len(features) > 1 else f"It is {quoted(first['name'])}."
    explain, whole = whole_of(content)
    if content["selected"]["count"] == 1:
        return f"It is {quoted(first['name'])}, which {explain}s {percent(enough['total'])} of {whole}."
    text = f"Together they {explain} {percent(enough['total'])} of {whole}; "
    most = max(features, key=lambda feature: feature["adds"] or 0.0)
    adds = f"alone {explain}s" if most is first else "adds most,"
    text += f"{quoted(most['name'])} {adds} {percent(most['adds'])}"
    if enough["at_95"] is not None and enough["at_95"] < content["selected"]["count"]:
        first_ones = "the first reaches" if enough["at_95"] == 1 else f"the first {enough['at_95']:,} reach"
        text += f", and {first_ones} 95% of what all of them {explain}"
    return text + "."


def whole_of(content: Content) -> tuple[str, str]:
    """What columns do with what: explain the target, or cover the table."""
    return ("cover", "the table") if content["enough"]["of"] == "table" else ("explain", "the target in these rows")


def _measured(content: Content) -> str:
    parts = []
    measured = content["cross_validation"]
    if measured is not None and measured["points"] and measured["points"][-1]["mean"] is not None:
        own, other = measured["points"][-1], measured["random"][-1] if measured["random"] else None
        text = f"In cross-validation ({measured['model']}, {count(own['columns'], 'column')}) {measured['metric']} is "
        text += score(own["mean"])
        if other is not None and other["mean"] is not None:
            text += f", {score(other['mean'])} with as many random columns"
        whole = measured["all"]
        if whole is not None and whole["mean"] is not None:
            text += f", {score(whole['mean'])} with all {whole['columns']:,} columns"
        parts.append(text + ".")
    if content["stability"] is not None:
        often = sum((frequency_of(feature) or 0.0) >= 0.5 for feature in content["features"])
        alike = any(feature["interchangeable"] for feature in content["features"])
        parts.append(
            f"{often:,} of the {len(content['features']):,}{', or a near-copy,' if alike else ''} came up again in at "
            f"least half of {content['stability']['runs']:,} selections on random halves of the rows."
        )
    return " ".join(parts)


def _warned(content: Content) -> str:
    if any(caution["code"] == "leak" for caution in content["warnings"]):
        return "Read the warnings first: the target may be given away by a column."
    rest = count_warnings(content)
    if rest:
        return "There is 1 warning to read first." if rest == 1 else f"There are {rest} warnings to read first."
    return ""
