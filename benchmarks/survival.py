"""Censored times: columns chosen for martingale residuals, on the data GSE7390 that ship with scikit-survival.

198 patients with breast cancer, genes and clinical columns, time to distant metastasis. Columns are chosen inside the
training rows of each fold (five folds, cut ten times), for ``easyfs.survival_target(event, time)``; a Cox model with a
ridge penalty is fitted to them, and Harrell's concordance index is measured on the rows left out: 0.5 is a coin. Random
columns, and those with the largest correlation with the same residuals, stand beside.

    pip install scikit-survival
    python benchmarks/survival.py            # writes docs/results/survival.md and benchmarks/raw/survival.jsonl
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import sksurv
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sksurv.datasets import load_breast_cancer
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import concordance_index_censored

from easyfs import EasyFS, make_selector, survival_target
from easyfs.evaluation.provenance import made

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "results" / "survival.md"
RAW = HERE / "raw" / "survival.jsonl"
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


def main() -> None:
    warnings.simplefilter("ignore")
    frame, outcome = load_breast_cancer()
    X = pd.get_dummies(frame, drop_first=True).to_numpy(dtype=float)
    event, time = outcome["e.tdm"], outcome["t.tdm"]
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
                    rows.append({"repeat": repeat, "fold": fold, "method": method, "columns": k, "concordance": float(c)})
    stamp = {**made(), "sksurv": sksurv.__version__}
    RAW.write_text("".join(json.dumps(row | stamp) + "\n" for row in rows))
    table = pd.DataFrame(rows)
    by_repeat = table.groupby(["method", "columns", "repeat"])["concordance"].mean()
    found = by_repeat.groupby(level=[0, 1]).agg(["mean", "std"])
    lines = [
        "# Censored times: GSE7390",
        "",
        f"{X.shape[0]} patients, {X.shape[1]} columns (genes, and clinical columns as indicators), time to distant",
        f"metastasis, {int(event.sum())} events; shipped with scikit-survival {sksurv.__version__}. Columns chosen inside",
        "the training rows for `easyfs.survival_target(event, time)`, a Cox model with a ridge penalty on them, Harrell's",
        f"concordance index on the rows left out (0.5 is a coin): mean over {REPEATS} repeats of {FOLDS} folds, ± the",
        "standard deviation over repeats.",
        "Made by `benchmarks/survival.py`. Nothing was chosen on these data.",
        "",
        "| method | columns | concordance |",
        "|---|---|---|",
    ]
    for method in ("EasyFS", "correlation", "random", "all columns"):
        for k in SIZES if method != "all columns" else (X.shape[1],):
            mean, spread = found.loc[(method, k)]
            lines.append(f"| {method} | {k} | {mean:.3f} ± {spread:.3f} |")
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
