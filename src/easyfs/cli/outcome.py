"""What a comparison found: on the terminal, as a page, as Markdown and as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from easyfs.cli.outputs import Outputs
from easyfs.cli.show import cell, counted, new_table, plain, seconds
from easyfs.evaluation.html import best_of

ENDINGS = (".html", ".md", ".json")
SPARKS = "▁▂▃▄▅▆▇█"


def outcome(found: Any) -> dict[str, Any]:
    """All that is shown, as plain values."""
    name = found.names[0]
    about = found.data[name]
    metric = about["metrics"][0]
    times: dict[str, list[float]] = {}
    failed: dict[str, dict[str, Any]] = {}
    for (_, method, _, _), row in found.fit_rows.items():
        if row["status"] == "ok":
            times.setdefault(method, []).append(row["seconds"])
    for row in found.failures():
        entry = failed.setdefault(row["selector"], {"number": 0, "reason": row.get("reason") or row["status"]})
        entry["number"] += 1
    cells = [
        {"size": size, "model": model, "method": method, **_mean_and_spread(values)}
        for (_, size, model, method), values in found.values().items()
    ]
    return {
        "name": name,
        "rows": about["rows"],
        "columns": about["columns"],
        "task": about["task"],
        "metric": metric,
        "smaller_is_better": metric in about["smaller_is_better"],
        "models": found.models,
        "methods": found.selectors,
        "whole": about.get("without_selection", []),
        "mean_ranks": {method: _finite(rank) for method, rank in found.ranks().items()},
        "fit_seconds": {method: _middle(values) for method, values in times.items()},
        "scores": cells,
        "failures": failed,
    }


def _mean_and_spread(values: Any) -> dict[str, Any]:
    real = [float(value) for value in values if not math.isnan(value)]
    mean = sum(real) / len(real) if real else None
    spread = math.sqrt(sum((v - mean) ** 2 for v in real) / (len(real) - 1)) if mean is not None and len(real) > 1 else None
    return {"mean": mean, "spread": spread, "folds": len(real)}


def _middle(values: list[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _by_size(
    content: dict[str, Any], model: str
) -> tuple[list[int], dict[tuple[str, int], dict[str, Any]], dict[str, Any]]:
    """Sizes, scores of a model by (method, size), and scores without selection."""
    own = [entry for entry in content["scores"] if entry["model"] == model]
    sizes = sorted({entry["size"] for entry in own if entry["method"] not in content["whole"]})
    scores = {(entry["method"], entry["size"]): entry for entry in own}
    whole = {entry["method"]: entry for entry in own if entry["method"] in content["whole"]}
    return sizes, scores, whole


def _best(content: dict[str, Any], scores: dict[tuple[str, int], Any], size: int) -> set[str]:
    """All methods that are best at a size."""
    known = {
        m: e["mean"] for (m, s), e in scores.items() if s == size and e["mean"] is not None and m not in content["whole"]
    }
    return best_of(known, smaller_is_better=content["smaller_is_better"])


def _all_columns(content: dict[str, Any], entry: dict[str, Any]) -> str:
    """What no selection reaches, on the columns that a model can use."""
    used = f" (those of {content['columns']:,} that can be used)" if entry["size"] != content["columns"] else ""
    return f"all {entry['size']:,} columns{used}: {_entry(entry)}"


def _entry(entry: dict[str, Any] | None) -> str:
    if entry is None or entry["mean"] is None:
        return "—"
    return f"{entry['mean']:.3f}" + ("" if entry["spread"] is None else f" ± {entry['spread']:.3f}")


def as_page(found: Any) -> Iterator[Any]:
    """Tables and lines for the terminal."""
    content = outcome(found)
    better = "less is better" if content["smaller_is_better"] else "more is better"
    yield (
        f"{plain(content['name'])}: {counted(content['rows'], 'row')}, {counted(content['columns'], 'column')}, "
        f"{content['task']}; {content['metric'].replace('_', ' ')} ({better})"
    )
    yield ""
    yield _ranking(content)
    for model in content["models"]:
        sizes, scores, whole = _by_size(content, model)
        table = new_table(
            "columns", *((str(size), "right") for size in sizes), title=f"{content['metric'].replace('_', ' ')}, {model}"
        )
        best = {size: _best(content, scores, size) for size in sizes}
        for method in [*content["mean_ranks"]]:
            entries = [
                cell(_entry(scores.get((method, size))), "bold green" if method in best[size] else "") for size in sizes
            ]
            table.add_row(cell(method, "bold"), *entries)
        yield ""
        yield table
        for entry in whole.values():
            yield _all_columns(content, entry)
    for method, failure in content["failures"].items():
        yield ""
        yield f"{method} failed {counted(failure['number'], 'time')}: {plain(failure['reason'])}"


def _ranking(content: dict[str, Any]) -> Any:
    """Methods by mean rank, with a curve over the sizes for the first model."""
    sizes, scores, _ = _by_size(content, content["models"][0])
    table = new_table(("", "right"), "method", ("mean rank", "right"), "curve", ("one fit", "right"))
    means = [e["mean"] for (m, _), e in scores.items() if e["mean"] is not None and m not in content["whole"]]
    for place, (method, rank) in enumerate(content["mean_ranks"].items(), start=1):
        curve = _curve([scores.get((method, size)) for size in sizes], min(means, default=0.0), max(means, default=1.0))
        took = content["fit_seconds"].get(method)
        table.add_row(
            str(place),
            cell(method, "bold"),
            "—" if rank is None else f"{rank:.2f}",
            cell(curve, "cyan"),
            "—" if took is None else seconds(took),
        )
    return table


def _curve(entries: list[dict[str, Any] | None], low: float, high: float) -> str:
    """A score at each size as a row of blocks, on one scale for all methods."""
    marks = []
    for entry in entries:
        if entry is None or entry["mean"] is None:
            marks.append(" ")
        else:
            share = (entry["mean"] - low) / (high - low) if high > low else 1.0
            marks.append(SPARKS[round(share * (len(SPARKS) - 1))])
    return " ".join(marks)


def write_outcome(outputs: Outputs, name: str, found: Any) -> None:
    """Write the outcome in the format of the file's name."""
    text = {".json": as_json, ".md": as_markdown, ".html": as_html}[Path(name).suffix.lower()](found)
    outputs.write(name, lambda stream: stream.write(text.encode()))


def as_json(found: Any) -> str:
    """For programs."""
    return (
        json.dumps({"schema": "easyfs-comparison/1", **outcome(found)}, ensure_ascii=False, indent=2, allow_nan=False)
        + "\n"
    )


def as_markdown(found: Any) -> str:
    """Two tables: mean ranks with times, and scores over sizes."""
    content = outcome(found)
    lines = [f"# Comparison on {_inline(content['name'])}", ""]
    lines += [f"{content['rows']:,} rows, {content['columns']:,} columns, {content['task']}.", ""]
    lines += ["| method | mean rank | one fit |", "|---|---:|---:|"]
    for method, rank in content["mean_ranks"].items():
        took = content["fit_seconds"].get(method)
        lines.append(f"| {method} | {'—' if rank is None else f'{rank:.2f}'} | {'—' if took is None else seconds(took)} |")
    lines += ["", found.to_markdown().replace(found.names[0], _inline(found.names[0]))]
    lines += [
        f"- {m} failed {counted(f['number'], 'time')}: {_inline(f['reason'])}" for m, f in content["failures"].items()
    ]
    return "\n".join(lines) + "\n"


def _inline(text: str) -> str:
    return plain(text).replace("|", "\\|").replace("<", "&lt;")


def as_html(found: Any) -> str:
    """A page of its own, in the look of the report."""
    from easyfs.report.comparison import comparison_page  # noqa: PLC0415

    content = outcome(found)
    models = []
    for model in content["models"]:
        sizes, scores, whole = _by_size(content, model)
        best = {size: _best(content, scores, size) for size in sizes}
        rows = [
            [method, *((_entry(scores.get((method, size))), method in best[size]) for size in sizes)]
            for method in content["mean_ranks"]
        ]
        lines = [_all_columns(content, entry) for entry in whole.values()]
        models.append({"name": model, "sizes": sizes, "scores": scores, "whole": whole, "rows": rows, "lines": lines})
    ranks = [
        [method, "—" if rank is None else f"{rank:.2f}", _took(content["fit_seconds"].get(method))]
        for method, rank in content["mean_ranks"].items()
    ]
    failures = [
        f"{method} failed {counted(failure['number'], 'time')}: {failure['reason']}"
        for method, failure in content["failures"].items()
    ]
    return comparison_page(content, models, ranks, failures)


def _took(value: float | None) -> str:
    return "—" if value is None else seconds(value)
