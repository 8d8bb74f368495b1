"""What a comparison found: tidy tables, tests and figures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from easyfs.common.extras import optional
from easyfs.common.types import Array
from easyfs.evaluation import significance
from easyfs.evaluation.cell import chosen_in
from easyfs.evaluation.html import best_of, comparison_html, entry_of
from easyfs.evaluation.metrics import jaccard_stability, nogueira_stability
from easyfs.evaluation.store import Row, Store

# What rows of one data set say together.
LISTS = ("selectors", "models", "metrics", "smaller_is_better")


class Comparison:
    """Results of :func:`easyfs.evaluation.compare`, of one table or of several.

    Parameters
    ----------
    rows : iterable of dict
        Rows of a results file: one for each fit and one for each score.
    tables : dict, optional
        For names of data the table that they are from. Results of one table, at several sizes or for several targets, are
        not independent: tests count a table once. Without it, data with the same columns are one table, as far as the rows
        tell.

    Attributes
    ----------
    selectors, models, metrics, names : list of str
        What was compared, in the order in which it was asked for; ``names`` are those of the data.
    data : dict
        What is known of each data set, by name.
    tables : dict
        Which table each data set is from, by name.
    fit_rows : dict
        The row of each fit, by (data, selector, repeat, fold).
    score_rows : dict
        The row of each score, by (data, selector, repeat, fold, size, model).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from easyfs.evaluation import compare
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare(["pearson"], X, y, sizes=[1, 2], folds=3, repeats=1)
    >>> found
    Comparison(2 selectors, 1 data sets, 12 scores, 0 failures)
    >>> [rank > 0 for rank in found.ranks().values()]
    [True, True]
    """

    def __init__(self, rows: Iterable[Row], tables: Mapping[str, str] | None = None):
        self.data: dict[str, Row] = {}
        self.fit_rows: dict[tuple[Any, ...], Row] = {}
        self._again: dict[tuple[Any, ...], list[Row]] = {}
        self.score_rows: dict[tuple[Any, ...], Row] = {}
        for row in rows:  # a later row takes the place of an earlier one of the same cell
            if row["kind"] == "data":
                listed = self.data.setdefault(row["name"], row)
                if listed["data"] != row["data"]:
                    raise ValueError(
                        f"two different tables are called {row['name']!r} in the results; give each a name of its own, or "
                        "keep their results in files of their own."
                    )
                if listed is not row:
                    lists = {what: list(dict.fromkeys(listed[what] + row[what])) for what in LISTS}
                    self.data[row["name"]] = listed | lists
                continue
            place = (row["name"], row["selector"], row["repeat"], row["fold"])
            if row["kind"] == "fit":
                self.fit_rows[place] = row
                self._again.setdefault((*place, row["key"], row.get("code")), []).append(row)
            else:
                self.score_rows[(*place, row["size"], row["model"])] = row
        self.names = list(self.data)
        self.tables = {name: (tables or {}).get(name, row.get("table", name)) for name, row in self.data.items()}
        self._whole = {label for row in self.data.values() for label in row.get("without_selection", ["all"])}
        self.selectors = self._listed("selectors", {place[1] for place in self.fit_rows})
        self.models = self._listed("models", {place[5] for place in self.score_rows})
        self.metrics = list(dict.fromkeys(metric for row in self.data.values() for metric in row["metrics"]))

    def _listed(self, what: str, present: set[str]) -> list[str]:
        """Names in the order in which they were asked for."""
        return [name for name in dict.fromkeys(n for row in self.data.values() for n in row[what]) if name in present]

    @classmethod
    def load(cls, *paths: str | os.PathLike[str], tables: Mapping[str, str] | None = None) -> Comparison:
        """Read one or more results files; ``tables`` as for the class."""
        for path in paths:
            if not os.path.exists(path):
                raise FileNotFoundError(f"there is no results file {os.fspath(path)!r}.")
        return cls((row for path in paths for row in Store(path).rows), tables)

    def __repr__(self) -> str:
        return (
            f"Comparison({len(self.selectors)} selectors, {len(self.names)} data sets, {len(self.score_rows)} scores, "
            f"{len(self.failures())} failures)"
        )

    def _repr_html_(self) -> str:
        return comparison_html(self)

    def failures(self) -> list[Row]:
        """Fits and scores that gave nothing, each with its reason."""
        return [row for row in (*self.fit_rows.values(), *self.score_rows.values()) if row["status"] != "ok"]

    def fits(self) -> Any:
        """A row for each fit: selector, fold, seconds, peak memory, status, and what it was made with (a pandas table)."""
        made = ("version", "commit", "date", "machine", "libraries", "threads")
        return self._frame(self.fit_rows.values(), ("seconds", "peak_mb", "status", "reason", "note", *made))

    def versions(self) -> dict[str, list[str]]:
        """Versions (and commits) of the library that the fits of each selector were made with; "unknown" if not kept."""
        found: dict[str, set[str]] = {selector: set() for selector in self.selectors}
        for place, row in self.fit_rows.items():
            commit = f" ({row['commit']})" if row.get("commit") else ""
            found[place[1]].add(f"{row['version']}{commit}" if row.get("version") else "unknown")
        return {selector: sorted(versions) for selector, versions in found.items()}

    def scores(self) -> Any:
        """A row for each score: selector, fold, size, model, and a column for each measure (a pandas table)."""
        flat = [{**row, **(row.get("values") or {})} for row in self.score_rows.values()]
        return self._frame(flat, ("size", "model", "status", "reason", *self.metrics))

    def _frame(self, rows: Iterable[Row], columns: tuple[str, ...]) -> Any:
        pandas = optional("pandas", "tables", "a table of results")
        names = ["name", "selector", "repeat", "fold", *columns]
        return pandas.DataFrame([{column: row.get(column) for column in names} for row in rows], columns=names)

    def _metric(self, metric: str | None, name: str | None = None) -> str:
        if metric is not None and metric not in self.metrics:
            raise ValueError(f"metric={metric!r} was not measured; there are {', '.join(self.metrics)}.")
        return str(metric or (self.data[name]["metrics"][0] if name else self.metrics[0]))

    def _check(self, what: str, value: Any, known: Iterable[Any]) -> None:
        if value is not None and value not in (known := list(known)):
            raise ValueError(f"{what}={value!r} was not compared; there are {', '.join(map(str, known))}.")

    def _sign(self, metric: str) -> float:
        return -1.0 if any(metric in row["smaller_is_better"] for row in self.data.values()) else 1.0

    def values(self, metric: str | None = None) -> dict[tuple[str, int, str, str], Array]:
        """For each (data, size, model, selector) the scores of all folds, in the order of the folds.

        Without ``metric``, the first measure of each data set. A fold in which a selector gave nothing is NaN.
        """
        folds: dict[tuple[str, int, str], set[tuple[int, int]]] = {}
        found: dict[tuple[str, int, str, str], dict[tuple[int, int], float]] = {}
        for (name, selector, repeat, fold, size, model), row in self.score_rows.items():
            measured = (row.get("values") or {}).get(self._metric(metric, name))
            value = float("nan") if measured is None else float(measured)
            found.setdefault((name, size, model, selector), {})[repeat, fold] = value
            folds.setdefault((name, size, model), set()).add((repeat, fold))
        order = {selector: place for place, selector in enumerate(self.selectors)}
        places = sorted(found, key=lambda p: (self.names.index(p[0]), p[1], self.models.index(p[2]), order[p[3]]))
        return {p: np.array([found[p].get(fold, np.nan) for fold in sorted(folds[p[:3]])]) for p in places}

    def summary(self, metric: str | None = None) -> Any:
        """Mean and spread (standard deviation over folds and repeats) of each selector at each size, and the fit's time.

        A selector that failed in some folds has the mean of the others; ``folds`` says how many. (A pandas table.)
        """
        pandas = optional("pandas", "tables", "a table of results")
        seconds: dict[tuple[str, str], list[float]] = {}
        for (name, selector, _, _), row in self.fit_rows.items():
            if row["status"] == "ok":
                seconds.setdefault((name, selector), []).append(row["seconds"])
        rows = []
        for (name, size, model, selector), values in self.values(metric).items():
            real = values[~np.isnan(values)]
            rows.append(
                {
                    "name": name,
                    "size": size,
                    "model": model,
                    "selector": selector,
                    "metric": self._metric(metric, name),
                    "mean": float(real.mean()) if len(real) else float("nan"),
                    "spread": float(real.std(ddof=1)) if len(real) > 1 else float("nan"),
                    "folds": len(real),
                    "fit_seconds": float(np.median(seconds[name, selector]))
                    if (name, selector) in seconds
                    else float("nan"),
                }
            )
        return pandas.DataFrame(rows).sort_values(["name", "size", "model"], kind="stable", ignore_index=True)

    def matrix(
        self, metric: str | None = None, *, model: str | None = None, over: str = "auto"
    ) -> tuple[Array, list[tuple[Any, ...]], list[str]]:
        """Scores with a row for each cell and a column for each selector, larger is better.

        Parameters
        ----------
        metric : str, optional
            The measure; by default the first of each data set.
        model : str, optional
            Only this downstream model.
        over : {"auto", "tables", "means", "folds"}, default="auto"
            A cell is a data set at a size (the mean over folds), or a single fold of it. "tables" has the cells of "means";
            ranks and tests then average over the cells of a table first and count it once. "auto" is "tables" where there
            are several data sets, otherwise "folds". Folds share rows, so tests over folds of one data set are too sure of
            themselves, and so are tests over "means", whose cells share tables.

        Returns
        -------
        scores : ndarray of shape (cells, selectors)
            NaN where a selector gave nothing.
        cells : list of tuple
            Data, size and model of each row.
        selectors : list of str
        """
        if over not in ("auto", "tables", "means", "folds"):
            raise ValueError(f"over={over!r} is not known; use 'auto', 'tables', 'means' or 'folds'.")
        self._check("model", model, self.models)
        values = {place: entries for place, entries in self.values(metric).items() if model in (None, place[2])}
        by_fold = over == "folds" or (over == "auto" and len(self.names) == 1)
        # No selection has one size of its own and does not compete.
        competing = [selector for selector in self.selectors if selector not in self._whole]
        cells: list[tuple[Any, ...]] = []
        rows: list[list[float]] = []
        for name, size, learner in dict.fromkeys(place[:3] for place in values if place[3] in competing):
            sign = self._sign(self._metric(metric, name))
            n_folds = next(len(run) for place, run in values.items() if place[:3] == (name, size, learner))
            nothing = np.full(n_folds, np.nan)
            runs = sign * np.array([values.get((name, size, learner, s), nothing) for s in competing])
            if not by_fold:
                runs = np.array([[run[~np.isnan(run)].mean() if (~np.isnan(run)).any() else np.nan] for run in runs])
            cells += [(name, size, learner)] * runs.shape[1]
            rows += runs.T.tolist()
        return np.array(rows).reshape(len(cells), len(competing)), cells, competing

    def _blocks(self, cells: list[tuple[Any, ...]], over: str) -> list[str] | None:
        """For each cell its table, where tables count once."""
        if over == "tables" or (over == "auto" and len(self.names) > 1):
            return [self.tables[cell[0]] for cell in cells]
        return None

    def ranks(self, metric: str | None = None, *, model: str | None = None, over: str = "auto") -> dict[str, float]:
        """Mean rank of each selector over all tables (or cells, see :meth:`matrix`), best first; 1 is best."""
        scores, cells, names = self.matrix(metric, model=model, over=over)
        found = dict(zip(names, significance.mean_ranks(scores, self._blocks(cells, over)).tolist(), strict=True))
        return dict(sorted(found.items(), key=lambda entry: entry[1]))

    def friedman(
        self, metric: str | None = None, *, model: str | None = None, over: str = "auto", level: float = 0.05
    ) -> significance.Friedman:
        """Friedman's test over tables (or cells, see :meth:`matrix`) and the critical difference of mean ranks."""
        scores, cells, _ = self.matrix(metric, model=model, over=over)
        return significance.friedman(scores, level, self._blocks(cells, over))

    def duels(
        self,
        selector: str,
        metric: str | None = None,
        *,
        model: str | None = None,
        over: str = "auto",
        tie: float = 0.0,
        rope: float = 0.0,
    ) -> list[significance.Duel]:
        """One selector against each other, over tables (or cells, see :meth:`matrix`).

        Wins, ties and losses; Wilcoxon's test with Holm's correction; the Bayesian signed-rank test, for which differences
        up to ``rope`` are practically none.
        """
        scores, cells, names = self.matrix(metric, model=model, over=over)
        if selector not in names:
            raise ValueError(f"selector={selector!r} was not compared; there are {', '.join(names)}.")
        return significance.duels(scores, names, selector, tie, rope=rope, blocks=self._blocks(cells, over))

    def stability(self) -> Any:
        """How alike the chosen columns are over folds, for each selector and size: Nogueira's measure, Jaccard's index."""
        pandas = optional("pandas", "tables", "a table of results")
        chosen: dict[tuple[str, str, int], list[list[int]]] = {}
        sizes: dict[tuple[str, str], set[int]] = {}
        for name, selector, _, _, size, _ in self.score_rows:
            sizes.setdefault((name, selector), set()).add(size)
        for place, row in self.fit_rows.items():
            name, selector = place[:2]
            known: dict[int, list[int]] = {}
            for fit in self._again[*place, row["key"], row.get("code")]:
                known |= chosen_in(fit, sorted(sizes.get((name, selector), ())))
            for size, columns in known.items():
                chosen.setdefault((name, selector, size), []).append(columns)
        rows = [
            {
                "name": name,
                "selector": selector,
                "size": size,
                "nogueira": nogueira_stability(sets, self.data[name]["columns"]),
                "jaccard": jaccard_stability(sets),
            }
            for (name, selector, size), sets in chosen.items()
        ]
        return pandas.DataFrame(rows)

    def to_markdown(self, metric: str | None = None) -> str:
        """A table for reading: a row for each data set and size, a column for each selector, all that are best in bold."""
        lines: list[str] = []
        values = self.values(metric)
        several = len(self.models) > 1
        head = ["data", "columns", *(["model"] if several else []), "measure", *self.selectors]
        lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for name, size, model in dict.fromkeys(place[:3] for place in values):
            measure = self._metric(metric, name)
            means = {
                s: float(np.nanmean(values[name, size, model, s]))
                for s in self.selectors
                if (name, size, model, s) in values and not np.isnan(values[name, size, model, s]).all()
            }
            best = best_of(means, smaller_is_better=self._sign(measure) < 0)
            cells = [name, str(size), *([model] if several else []), measure]
            for s in self.selectors:
                text = entry_of(values[name, size, model, s]) if s in means else "—"
                text = f"**{text}**" if s in best else text
                cells.append(text)
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"

    def plot_sizes(
        self, metric: str | None = None, *, name: str | None = None, model: str | None = None, ax: Any = None
    ) -> Any:
        """Curves of the score over the number of columns, with the spread as a band."""
        from easyfs.evaluation.plots import plot_sizes  # noqa: PLC0415

        return plot_sizes(self, metric, name=name, model=model, ax=ax)

    def plot_time(
        self, metric: str | None = None, *, name: str | None = None, size: int | None = None, ax: Any = None
    ) -> Any:
        """Time of a fit against the score."""
        from easyfs.evaluation.plots import plot_time  # noqa: PLC0415

        return plot_time(self, metric, name=name, size=size, ax=ax)

    def plot_critical_difference(
        self,
        metric: str | None = None,
        *,
        model: str | None = None,
        over: str = "auto",
        level: float = 0.05,
        ax: Any = None,
    ) -> Any:
        """Mean ranks on a line; methods that Nemenyi's test does not tell apart are joined by a bar.

        Of one data set the ranks alone are drawn: its folds share rows, so there is nothing to test on.
        """
        from easyfs.evaluation.plots import plot_critical_difference  # noqa: PLC0415

        return plot_critical_difference(self, metric, model=model, over=over, level=level, ax=ax)
