"""Censored times: columns chosen for martingale residuals, on the data GSE7390 that ship with scikit-survival.

198 patients with breast cancer, genes and clinical columns, time to distant metastasis. Columns are chosen inside the
training rows of each fold (five folds, cut ten times), for ``easyfs.survival_target(event, time)``; a Cox model with a
ridge penalty is fitted to them, and Harrell's concordance index is measured on the rows left out: 0.5 is a coin. Random
columns, and those with the largest correlation with the same residuals, stand beside.

    pip install scikit-survival
    python benchmarks/survival.py [--page]  # writes docs/results/survival.md and benchmarks/raw/survival.jsonl
"""

from __future__ import annotations

import argparse
import json
import os
import warnings

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from easyfs import EasyFS, make_selector, survival_target
from easyfs.evaluation.provenance import made
from keeping import RAW, Row, made_with, rows_of
from measuring import PAGES, write

SIZES, REPEATS, FOLDS, PENALTY = (5, 10, 20), 10, 5, 10.0


def chosen(method: str, k: int, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    if method == "all columns":
        return np.arange(X.shape[1])
    if method == "EasyFS":
        selector = EasyFS(k, random_state=0)
    elif method == "random":
        selector = make_selector("random", n_features_to_select=k, random_state=seed)
    else:
        selector = make_selector("pearson", n_features_to_select=k)
    return selector.fit(X, y).get_support(indices=True)


def measure() -> None:
    """Choose, fit and score in all folds; the rows take the place of those before."""
    import sksurv  # noqa: PLC0415
    from sksurv.datasets import load_breast_cancer  # noqa: PLC0415
    from sksurv.linear_model import CoxPHSurvivalAnalysis  # noqa: PLC0415
    from sksurv.metrics import concordance_index_censored  # noqa: PLC0415

    frame, outcome = load_breast_cancer()
    X = pd.get_dummies(frame, drop_first=True).to_numpy(dtype=float)
    event, time = outcome["e.tdm"], outcome["t.tdm"]
    stamp = {"patients": len(X), "events": int(event.sum()), **made(), "sksurv": sksurv.__version__}
    rows = []
    for repeat in range(REPEATS):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat)
        for fold, (train, test) in enumerate(folds.split(X, event)):
            y = survival_target(event[train], time[train])
            for method in ("EasyFS", "correlation", "random", "all columns"):
                for k in SIZES if method != "all columns" else (X.shape[1],):
                    columns = chosen(method, k, X[train], y, 100 * repeat + fold)
                    scale = StandardScaler().fit(X[train][:, columns])
                    model = CoxPHSurvivalAnalysis(alpha=PENALTY).fit(scale.transform(X[train][:, columns]), outcome[train])
                    risk = model.predict(scale.transform(X[test][:, columns]))
                    c = concordance_index_censored(event[test], time[test], risk)[0]
                    cell = {"repeat": repeat, "fold": fold, "method": method, "columns": k, "concordance": float(c)}
                    rows.append(cell | stamp)
    draft = RAW / "survival.part"
    draft.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.replace(draft, RAW / "survival.jsonl")


def page(rows: list[Row]) -> str:
    """The page, from the rows of all folds."""
    table = pd.DataFrame(rows)
    by_repeat = table.groupby(["method", "columns", "repeat"])["concordance"].mean()
    found = by_repeat.groupby(level=[0, 1]).agg(["mean", "std"])
    first = rows[0]
    every = max(row["columns"] for row in rows)
    lines = [
        "# Censored times: GSE7390",
        "",
        f"{first['patients']} patients, {every} columns (genes, and clinical columns as indicators), time to distant",
        f"metastasis, {first['events']} events; shipped with scikit-survival {first['sksurv']}. Columns chosen inside",
        "the training rows for `easyfs.survival_target(event, time)`, a Cox model with a ridge penalty on them, Harrell's",
        f"concordance index on the rows left out (0.5 is a coin): mean over {REPEATS} repeats of {FOLDS} folds, ± the",
        "standard deviation over repeats.",
        "Made by `benchmarks/survival.py`. Nothing was chosen on these data.",
        "",
        "| method | columns | concordance |",
        "|---|---|---|",
    ]
    for method in ("EasyFS", "correlation", "random", "all columns"):
        for k in SIZES if method != "all columns" else (every,):
            mean, spread = found.loc[(method, k)]
            lines.append(f"| {method} | {k} | {mean:.3f} ± {spread:.3f} |")
    return "\n".join([*lines, "", *made_with(rows), ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="only write the page")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if not args.page:
        measure()
    text = page(rows_of("survival"))
    write(text, PAGES / "survival.md")
    print(text)


if __name__ == "__main__":
    main()
