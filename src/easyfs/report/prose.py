"""The paragraph at the top of a report, and its title."""

from __future__ import annotations

from easyfs.report.summary import Content, Target
from easyfs.report.words import count, listed, percent, plain, quoted, score

MOST_TITLE = 60
TOGETHER = (
    "These columns tell of the target together, or in a curve, which a linear model does not see; the share is measured on "
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
    about = f" to tell {quoted(target['name']) if target['name'] else 'the target'}"
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
    tells = "It tells no more" if content["selected"]["count"] == 1 else "None of them tells more"
    return f"{tells} of the target than chance would, so there may be nothing to find here."


def chance_sentence(content: Content) -> str:
    """Where chance begins; empty if that is not known."""
    after, chosen = content["enough"]["chance_after"], content["selected"]["count"]
    if after is None:
        return ""
    tells = "tells more of the target than the best of as many unrelated columns would"
    if after == 0:
        return f"No chosen column {tells}."
    if after < chosen:
        return f"After the first{f' {after:,}' if after > 1 else ''}, no chosen column {tells}."
    return f"After {count(after, 'column')} no other {tells}."


def _said(content: Content) -> str:
    features, enough = content["features"], content["enough"]
    first = features[0]
    if not enough["adds_up"] or enough["total"] is None:
        return f"It puts {quoted(first['name'])} first." if len(features) > 1 else f"It is {quoted(first['name'])}."
    target = content["target"]
    whole = "of what there is to say about the table"
    if target is not None and target["used"]:
        whole = "of what there is to say, the target first and the rest of the table with less weight"
    if content["selected"]["count"] == 1:
        return f"It is {quoted(first['name'])}, which says {percent(enough['total'])} {whole}."
    text = f"Together they say {percent(enough['total'])} {whole}; "
    most = max(features, key=lambda feature: feature["gain"] or 0.0)
    adds = "alone says" if most is first else "adds most,"
    text += f"{quoted(most['name'])} {adds} {percent(most['gain'])}"
    if enough["at_95"] is not None and enough["at_95"] < content["selected"]["count"]:
        text += f", and the first {enough['at_95']:,} reach 95% of what all of them say"
    return text + "."


def _measured(content: Content) -> str:
    parts = []
    measured = content["cross_validation"]
    if measured is not None and measured["points"] and measured["points"][-1]["mean"] is not None:
        own, other = measured["points"][-1], measured["random"][-1] if measured["random"] else None
        text = f"In cross-validation ({measured['model']}, {count(own['columns'], 'column')}) {measured['metric']} is "
        text += score(own["mean"])
        if other is not None and other["mean"] is not None:
            text += f", and {score(other['mean'])} with random columns"
        parts.append(text + ".")
    if content["stability"] is not None:
        often = sum((feature["frequency"] or 0.0) >= 0.5 for feature in content["features"])
        parts.append(
            f"{often:,} of the {len(content['features']):,} came up again in at least half of "
            f"{content['stability']['runs']:,} selections on random halves of the rows."
        )
    return " ".join(parts)


def _warned(content: Content) -> str:
    if any(caution["code"] == "leak" for caution in content["warnings"]):
        return "Read the warnings first: the target may be given away by a column."
    rest = sum(caution["level"] != "note" for caution in content["warnings"])
    if rest:
        return "There is 1 warning to read first." if rest == 1 else f"There are {rest} warnings to read first."
    return ""
