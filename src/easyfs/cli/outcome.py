"""What a comparison found: on the terminal, as a page, as Markdown and as JSON."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from easyfs.cli.outputs import Outputs
from easyfs.cli.show import cell, counted, new_table, plain, seconds
from easyfs.common.figures import steady
from easyfs.evaluation.html import best_of, scores_table

ENDINGS = (".html", ".md", ".json")
SPARKS = "▁▂▃▄▅▆▇█"
STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .8rem; text-align: right; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; }
td.best { font-weight: bold; }
tr.control { opacity: .75; font-style: italic; }
caption { text-align: left; padding: .3rem 0; opacity: .75; }
figure { margin: 1.5rem 0; background: #fff; border-radius: 8px; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; }
.wide { overflow-x: auto; }
small { opacity: .75; }
"""


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
            yield f"all {content['columns']} columns: {_entry(entry)}"
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
    """A page of its own: tables, and figures where matplotlib is installed."""
    content = outcome(found)
    title = f"Comparison on {escape(plain(content['name']))}"
    better = "less is better" if content["smaller_is_better"] else "more is better"
    measured = (
        f"Mean and spread of {escape(content['metric'].replace('_', ' '))} over folds and repeats ({better}); columns are "
        "chosen inside the training rows of each fold."
    )
    parts = [
        f"<h1>{title}</h1>",
        f"<p>{content['rows']:,} rows, {content['columns']:,} columns, {content['task']}. {measured}</p>",
        "<h2>Ranking</h2>",
        _html_table(
            ["method", "mean rank", "one fit"],
            [
                [method, "—" if rank is None else f"{rank:.2f}", seconds(content["fit_seconds"].get(method, math.nan))]
                for method, rank in content["mean_ranks"].items()
            ],
        ),
    ]
    for model in content["models"]:
        parts += [f"<h2>{escape(model)}</h2>", f'<div class="wide">{scores_table(found, content["name"], model)}</div>']
    parts += [f"<figure>{figure}</figure>" for figure in _figures(found)]
    parts += [
        f"<p>{escape(method)} failed {counted(failure['number'], 'time')}: {escape(plain(failure['reason']))}</p>"
        for method, failure in content["failures"].items()
    ]
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n" + "\n".join(parts) + "\n</body>\n</html>\n"
    )


def _html_table(head: list[str], rows: list[list[str]]) -> str:
    lines = ["<tr>" + "".join(f"<th>{escape(text)}</th>" for text in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows]
    return '<div class="wide"><table>' + "".join(lines) + "</table></div>"


def _figures(found: Any) -> Iterator[str]:
    """Drawings as SVG; none without matplotlib."""
    try:
        import matplotlib  # noqa: ICN001, PLC0415

        matplotlib.use("svg")
        import matplotlib.pyplot as plt  # noqa: PLC0415
    except ImportError:
        return
    for draw in (found.plot_sizes, found.plot_critical_difference, found.plot_time):
        try:
            axes = draw()
        except ValueError:  # too few methods or cells for this one
            continue
        text = io.StringIO()
        with steady():
            axes.figure.savefig(text, format="svg", metadata={"Date": None})
        plt.close(axes.figure)
        drawn = text.getvalue()
        yield drawn[drawn.index("<svg") :]
