"""Selectors by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import easyfs
from easyfs import available_selectors, baselines, make_selector
from easyfs.base.selector import BaseSelector
from easyfs.baselines.base import Baseline

NAMES = [
    "easyfs",
    "easyfs_ranking",
    "pearson",
    "mutual_information",
    "fisher_score",
    "relieff",
    "spec",
    "mcfs",
    "lasso",
    "l1_svm",
    "l1_logistic",
    "random_forest",
    "xgboost",
    "lassonet",
    "stg",
    "spfsr",
    "mrmr",
    "cife",
    "disr",
    "jmi",
    "laplacian_score",
    "inf_fs",
    "random",
]


def test_every_method_has_its_name() -> None:
    assert [info.name for info in available_selectors()] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_is_said_of_a_selector_is_what_its_class_says(name: str) -> None:
    info = next(info for info in available_selectors() if info.name == name)
    selector = make_selector(name)
    assert isinstance(selector, BaseSelector)
    assert type(selector).__name__ == info.class_name
    assert getattr(easyfs, info.class_name) is type(selector)
    assert info.class_name in dir(easyfs)
    assert info.paper in str(info)
    if isinstance(selector, Baseline):
        assert tuple(task for task in info.tasks if task != "unsupervised") == selector.tasks
        assert ("unsupervised" in info.tasks) == (not selector.needs_target)
        assert (info.gives == "set") == selector.finds_set
        said = " ".join((type(selector).__doc__ or "").split())
        assert ('n_features_to_select : int, float or "auto"' in said) == selector.finds_set
        assert ("only ranks" in said) == (not selector.finds_set)


def test_selectors_are_listed_by_task() -> None:
    names = [info.name for info in available_selectors(task="regression")]
    assert not {"fisher_score", "l1_svm", "l1_logistic"} & set(names)
    assert len(names) == len(NAMES) - 3
    assert "pearson" not in [info.name for info in available_selectors(task="unsupervised")]
    with pytest.raises(ValueError, match="task='ranking' is not known"):
        available_selectors(task="ranking")


def test_parameters_are_passed_on_and_unknown_ones_named() -> None:
    assert make_selector("relieff", 20, n_neighbors=5).get_params()["n_neighbors"] == 5
    assert make_selector("relieff", n_features_to_select=20).n_features_to_select == 20
    assert make_selector("easyfs").n_features_to_select == "auto"
    with pytest.raises(TypeError, match=r"relieff has no parameter 'n_neighbours'. Did you mean 'n_neighbors'\?"):
        make_selector("relieff", n_neighbours=5)
    with pytest.raises(ValueError, match=r"no selector 'Relief'. Did you mean 'relieff'\?"):
        make_selector("Relief")
    with pytest.raises(AttributeError, match="NoSelector"):
        easyfs.NoSelector  # noqa: B018
    with pytest.raises(AttributeError, match="NoSelector"):
        baselines.NoSelector  # noqa: B018


@pytest.mark.parametrize(("name", "package"), [("xgboost", "xgboost"), ("lassonet", "torch"), ("stg", "torch")])
def test_a_missing_package_is_named_with_its_extra(name: str, package: str) -> None:
    code = f"""
import sys


class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)


sys.meta_path.insert(0, NotInstalled())
import numpy as np
from easyfs import make_selector
rng = np.random.default_rng(0)
make_selector({name!r}, 2).fit(rng.standard_normal((20, 4)), rng.integers(0, 2, 20))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"pip install 'easyfs-ml[{package}]'" in done.stderr.splitlines()[-1]


def test_import_brings_in_no_extra() -> None:
    code = """
import sys, sklearn.feature_selection
before = set(sys.modules)
import easyfs
print([m for m in ("torch", "xgboost", "pandas", "polars", "pyarrow", "matplotlib") if m in set(sys.modules) - before])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_one_line_swaps_a_selector() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 10))
    y = (X[:, 3] > 0).astype(int)
    for name in ("easyfs", "pearson", "fisher_score", "relieff"):
        assert make_selector(name, 1).fit(X, y).get_support(indices=True) == [3]
