"""What hangs, breaks or eats memory ends as a row that says so, and leaves no process behind."""

from __future__ import annotations

import io
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.naive_bayes import GaussianNB

from easyfs import make_selector
from easyfs.evaluation import Comparison, compare
from easyfs.evaluation.worker import LENGTH, read, write

SOURCE = Path(__file__).parents[2] / "src"
LIMIT = 2.0


def data(n: int = 40, d: int = 6) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, (X[:, 1] > 0).astype(int)


def selector(action: Callable[[], Any]) -> Any:
    """A selector that does something in ``fit``; its class travels to the process by value, as one of a script does."""

    class Acting(SelectorMixin, BaseEstimator):
        def __init__(self, n_features_to_select: int = 2, action: Any = None):
            self.n_features_to_select = n_features_to_select
            self.action = action

        def fit(self, X: Any, y: Any) -> Any:
            self.action()
            self.scores_ = np.arange(X.shape[1])
            return self

        def _get_support_mask(self) -> Any:
            return np.arange(len(self.scores_)) < self.n_features_to_select

    return Acting(action=action)


def actions() -> dict[str, Callable[[], Any]]:
    """What can go wrong; functions of a function, so that they travel by value as well."""

    def raises() -> None:
        raise KeyError("missing")

    def sleeps() -> None:
        time.sleep(3600)

    def computes() -> None:
        sum(range(10**14))  # a loop in C, that no signal handler of Python interrupts

    def leaves() -> None:
        os._exit(3)

    def exits() -> None:
        sys.exit("enough")

    def prints() -> None:
        # Standard output is where a process writes what it finds.
        os.write(1, b"\x00\xffnoise" * 1000)
        sys.stdout.write("noise")
        sys.stdout.flush()

    found = (raises, sleeps, computes, leaves, exits, prints)
    return {action.__name__: action for action in found}


def processes(mark: Path) -> list[int]:
    """Processes with a path on their command line: workers have that of their data there."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if str(mark).encode() in line and state != "Z":
            found.append(int(folder.name))
    return found


def wait_until(what: Callable[[], Any], seconds: float = 600.0) -> bool:
    """Whether something comes true; the limit is for what would never do."""
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="looks into /proc")


ONE_FOLD = [(np.arange(20), np.arange(20, 40))]


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Path]:
    """One comparison with everything that goes wrong in it, in a folder of its own."""
    folder = tmp_path_factory.mktemp("limited")
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    X, y = data()
    try:
        found = compare(
            {"pearson": "pearson", **{label: selector(action) for label, action in actions().items()}},
            X,
            y,
            sizes=[1, 3],
            models=GaussianNB(),
            cv=ONE_FOLD,
            time_limit=LIMIT,
            n_jobs=2,
            results=folder / "results.jsonl",
        )
    finally:
        tempfile.tempdir = before
    return found, folder


@pytest.mark.parametrize(
    ("label", "status", "reason"),
    [
        ("raises", "failed", "KeyError"),
        ("sleeps", "timeout", "over the time limit of 2 s"),
        ("computes", "timeout", "over the time limit of 2 s"),
        ("leaves", "failed", "exit status 3"),
        ("exits", "failed", "enough|exit status 1"),
    ],
)
def test_what_goes_wrong_is_a_row(limited: tuple[Comparison, Path], label: str, status: str, reason: str) -> None:
    rows = limited[0].fits().query(f"selector == '{label}'")
    assert rows["status"].tolist() == [status]
    assert rows["reason"].str.contains(reason).all()
    assert label not in limited[0].scores()["selector"].tolist()


def test_the_others_finish(limited: tuple[Comparison, Path]) -> None:
    found, _ = limited
    scores = found.scores()
    assert Counter(scores["selector"]) == {"pearson": 2, "prints": 2, "random": 2}
    assert (scores["status"] == "ok").all()
    assert scores["accuracy"].notna().all()
    assert len(found.failures()) == 5


def test_what_went_wrong_is_in_the_file_and_is_not_done_again(limited: tuple[Comparison, Path]) -> None:
    found, folder = limited
    content = (folder / "results.jsonl").read_bytes()
    loaded = Comparison.load(folder / "results.jsonl")
    assert all(row["threads"] >= 1 for row in loaded.failures())
    assert {row["selector"]: row["status"] for row in loaded.failures()} == {
        row["selector"]: row["status"] for row in found.failures()
    }
    X, y = data()
    again = compare(
        {"sleeps": selector(actions()["sleeps"])},
        X,
        y,
        sizes=[1, 3],
        models=GaussianNB(),
        cv=ONE_FOLD,
        time_limit=LIMIT,
        results=folder / "results.jsonl",
    )
    assert [row["status"] for row in again.failures()] == ["timeout"]
    kept = [line for line in (folder / "results.jsonl").read_bytes().splitlines() if b'"kind":"data"' not in line]
    assert kept == [line for line in content.splitlines() if b'"kind":"data"' not in line]


@linux
def test_no_process_and_no_data_are_left(limited: tuple[Comparison, Path]) -> None:
    assert processes(limited[1]) == []
    assert [entry.name for entry in limited[1].iterdir()] == ["results.jsonl"]


@linux
def test_what_eats_memory_is_ended() -> None:
    def eats() -> None:
        kept = np.ones(50_000_000)  # 400 MB on top of what a process has anyway
        time.sleep(3600 * kept[0])

    X, y = data()
    how: dict[str, Any] = {"sizes": [2], "models": GaussianNB(), "cv": ONE_FOLD, "memory_limit": 450}
    found = compare({"random": make_selector("random"), "eats": selector(eats)}, X, y, **how)
    (row,) = found.failures()
    assert (row["selector"], row["kind"], row["status"]) == ("eats", "fit", "memory")
    assert "over the memory limit of 450 MB" in row["reason"]
    assert found.scores()["selector"].tolist() == ["random"]


def test_a_model_that_hangs_costs_its_own_scores_only() -> None:
    class Slow(GaussianNB):
        def fit(self, X: Any, y: Any) -> Any:
            if X.shape[1] == 2:
                time.sleep(3600)
            return super().fit(X, y)

    X, y = data()
    how: dict[str, Any] = {"sizes": [1, 2, 3], "cv": ONE_FOLD}
    found = compare(["random"], X, y, models={"slow": Slow(), "quick": GaussianNB()}, time_limit=LIMIT, **how)
    (row,) = found.failures()
    assert (row["kind"], row["size"], row["model"], row["status"]) == ("score", 2, "slow", "timeout")
    assert "over the time limit of 2 s" in row["reason"]
    expected = compare(["random"], X, y, models={"quick": GaussianNB()}, **how).values()
    for (name, size, _, label), values in expected.items():
        np.testing.assert_array_equal(found.values()[name, size, "quick", label], values)
        np.testing.assert_array_equal(found.values()[name, size, "slow", label], [np.nan] if size == 2 else values)
    # It was fitted once, though the process had to be replaced.
    assert found.fits()["status"].tolist() == ["ok"]


def test_a_selector_with_a_time_limit_gets_it() -> None:
    class Patient(SelectorMixin, BaseEstimator):
        def __init__(self, k: int = 1, time_limit: float | None = None):
            self.k = k
            self.time_limit = time_limit

        def fit(self, X: Any, y: Any) -> Any:
            if self.time_limit is None:
                raise ValueError("no limit")
            self.stop_reason_ = "time_limit" if self.time_limit == 77.5 else "done"
            self.scores_ = np.arange(X.shape[1])
            return self

        def _get_support_mask(self) -> Any:
            return np.arange(len(self.scores_)) < self.k

    X, y = data()
    how: dict[str, Any] = {"sizes": [2], "models": GaussianNB(), "cv": ONE_FOLD}
    found = compare({"patient": Patient(), "own": Patient(time_limit=5.0)}, X, y, time_limit=77.5, **how)
    assert found.failures() == []
    # One that stopped in time with the best so far says so; a limit of its own is kept.
    notes = found.fits().set_index("selector")["note"]
    assert (notes["patient"], notes["own"], notes["random"]) == ("time_limit", "", "")
    without = compare({"patient": Patient()}, X, y, **how)
    assert [row["reason"] for row in without.failures()] == ["ValueError: no limit"]


SCRIPT = """
import sys, time, json
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.naive_bayes import GaussianNB

from easyfs.evaluation import compare
{imports}

class Mine(SelectorMixin, BaseEstimator):
    def __init__(self, n_features_to_select=2, folder=None):
        self.n_features_to_select = n_features_to_select
        self.folder = folder

    def fit(self, X, y):
        Path(self.folder, "started").touch()
        while Path(self.folder, "wait").exists():
            time.sleep(0.01)
        self.scores_ = np.abs(np.corrcoef(X.T, y)[-1, :-1])
        return self

    def _get_support_mask(self):
        return np.argsort(np.argsort(-self.scores_)) < self.n_features_to_select

def accuracy_of_ones(model, X, y):
    return float(np.mean(model.predict(X) == 1))

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    found = compare(
        {{"mine": Mine(folder=sys.argv[1]), **{more}}},
        X,
        (X[:, 1] > 0).astype(int),
        sizes=[2],
        models=GaussianNB(),
        metrics=["accuracy", accuracy_of_ones],
        folds=2,
        repeats=1,
        n_jobs=int(sys.argv[2]),
        results=Path(sys.argv[1], "results.jsonl"),
    )
    print(json.dumps([found.selectors, [row["reason"] for row in found.failures()], len(found.scores())]))
"""


def start(script: Path, folder: Path, n_jobs: int) -> subprocess.Popen[bytes]:
    """Run a script from somewhere else, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), str(n_jobs)],
        cwd="/",
        env=os.environ | {"PYTHONPATH": str(SOURCE), "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # Tests that run in the background of a shell have interruptions switched off, and hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def test_a_class_of_the_script_itself_and_one_of_a_module_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SCRIPT.format(imports="from helpers_of_mine import Other", more='{"other": Other()}'))
    (tmp_path / "helpers_of_mine.py").write_text(
        "from sklearn.feature_selection import SelectKBest\n\n\nclass Other(SelectKBest):\n    pass\n"
    )
    process = start(tmp_path / "mine.py", tmp_path, 2)
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors.decode()
    assert json.loads(output) == [["mine", "other", "random"], [], 6]


@linux
@pytest.mark.parametrize("to_all", [False, True], ids=["process", "terminal"])
def test_an_interruption_leaves_no_process_and_no_false_failure(tmp_path: Path, to_all: bool) -> None:
    """Ctrl-C in a terminal reaches all processes of the group, ``kill -INT`` only the one."""
    (tmp_path / "mine.py").write_text(SCRIPT.format(imports="", more="{}"))
    (tmp_path / "wait").touch()
    process = start(tmp_path / "mine.py", tmp_path, 2)
    try:
        assert wait_until(lambda: (tmp_path / "started").exists() or process.poll() is not None)
        assert wait_until(lambda: len(processes(tmp_path / "easyfs-")) == 2)
        (os.killpg if to_all else os.kill)(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=600)
        assert process.returncode != 0
        assert b"KeyboardInterrupt" in errors
        assert wait_until(lambda: processes(tmp_path / "easyfs-") == [])
    finally:
        process.kill()
        process.communicate()
        left = processes(tmp_path / "easyfs-")
        for pid in left:
            os.kill(pid, signal.SIGKILL)
    assert list(tmp_path.glob("easyfs-*")) == []
    # Nothing went wrong with the selector: a rerun does what is missing.
    (tmp_path / "wait").unlink()
    process = start(tmp_path / "mine.py", tmp_path, 1)
    output, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors.decode()
    assert json.loads(output) == [["mine", "random"], [], 4]


@linux
def test_a_run_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    """Nothing can be done in the process that is killed: those that it started must notice."""
    (tmp_path / "mine.py").write_text(SCRIPT.format(imports="", more="{}"))
    (tmp_path / "wait").touch()
    process = start(tmp_path / "mine.py", tmp_path, 2)
    try:
        assert wait_until(lambda: (tmp_path / "started").exists() or process.poll() is not None)
        assert wait_until(lambda: len(processes(tmp_path / "easyfs-")) == 2)
        process.kill()
        process.communicate()
        assert wait_until(lambda: processes(tmp_path / "easyfs-") == [])
    finally:
        for pid in processes(tmp_path / "easyfs-"):
            os.kill(pid, signal.SIGKILL)


@linux
def test_what_a_selector_started_ends_with_it(tmp_path: Path) -> None:
    """A selector with jobs of its own that hangs, such as a forest with n_jobs=2."""
    command = [sys.executable, "-c", "import time; time.sleep(3600)", str(tmp_path)]

    def starts() -> None:
        subprocess.run(command, check=False)

    X, y = data()
    how: dict[str, Any] = {"sizes": [2], "models": GaussianNB(), "cv": ONE_FOLD}
    found = compare({"random": make_selector("random"), "starts": selector(starts)}, X, y, time_limit=LIMIT, **how)
    try:
        assert [row["status"] for row in found.failures()] == ["timeout"]
        assert wait_until(lambda: processes(tmp_path) == [])
    finally:
        for pid in processes(tmp_path):
            os.kill(pid, signal.SIGKILL)


@linux
def test_an_error_in_the_comparison_itself_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def stop(*_: Any) -> None:
        raise InterruptedError("enough seen")

    X, y = data()
    with pytest.raises(InterruptedError, match="enough seen"):
        compare({"pearson": "pearson", "sleeps": selector(actions()["sleeps"])}, X, y, sizes=[2], n_jobs=2, progress=stop)
    assert processes(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


@given(st.integers(0, 40), st.text(max_size=40))
def test_a_message_that_was_cut_off_is_the_end(cut: int, text: str) -> None:
    """A process that dies while it writes must not leave the other side waiting."""
    stream = io.BytesIO()
    write(stream, ("fit", {"note": text}))
    whole = stream.getvalue()
    assert read(io.BytesIO(whole)) == ("fit", {"note": text})
    assert LENGTH.unpack(whole[:8])[0] == len(pickle.dumps(("fit", {"note": text})))
    short = io.BytesIO(whole[: min(cut, len(whole) - 1)])
    with pytest.raises(EOFError):
        read(short)
