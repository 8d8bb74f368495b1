"""A fit says what it does, to those who ask: a line for each step, and how far it is through a table in parts."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from easyfs import EasyFS, EasyFSRanking, scan
from easyfs.common import telling
from easyfs.evaluation.protocol import described

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 5))
Y = X[:, 1] + X[:, 3]
FRAME = pl.DataFrame(X, schema=list("abcde")).with_columns(y=Y)
STEPS = ["reading", "plan", "sums", "search", "chosen"]


def told(text: str, name: str = "EasyFS") -> list[str]:
    """The first word of each line that is no progress; every line says whose it is."""
    lines = text.splitlines()
    assert all(line.startswith(f"[{name}] ") for line in lines)
    return [re.split(r"\W", line.partition("] ")[2])[0] for line in lines if "]   " not in line]


@pytest.mark.parametrize("selector", [EasyFS, EasyFSRanking])
def test_a_line_for_each_step(selector: type, capsys: pytest.CaptureFixture[str]) -> None:
    quiet = selector(2, random_state=0).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    loud = selector(2, random_state=0, verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    assert told(out, selector.__name__) == STEPS
    assert err == ""
    assert "200 rows of 5 columns" in out
    assert re.search(r"chosen: 2 of 5 columns in \d+\.\d\d s: x\d, x\d", out)
    assert len(re.findall(r"\(\d+\.\d\d s\)", out)) == 4
    np.testing.assert_array_equal(loud.order_, quiet.order_)


def test_true_is_one_and_two_says_more(capsys: pytest.CaptureFixture[str]) -> None:
    EasyFS(2, random_state=0, verbose=True).fit(FRAME, "y")
    assert told(capsys.readouterr().out) == STEPS
    EasyFS(2, random_state=0, verbose=2).fit(FRAME, "y")
    out = capsys.readouterr().out
    assert told(out) == STEPS
    assert re.findall(r"  (\d)\. ([bd]): 0\.\d+", out)


def test_the_number_by_cross_validation_is_a_step(capsys: pytest.CaptureFixture[str]) -> None:
    selector = EasyFS("cv", random_state=0, verbose=1).fit(X, Y)
    out = capsys.readouterr().out
    assert told(out) == ["reading", "plan", "cross", "sums", "search", "chosen"]
    assert f"cross-validation: {selector.n_features_} columns of 5 tried" in out


def test_parts_and_rows_of_a_table_in_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two passes over two files; whoever watches the files hears the same."""
    FRAME[:150].write_parquet(tmp_path / "a.parquet")
    FRAME[150:].write_parquet(tmp_path / "b.parquet")
    heard: list[int] = []
    files = scan(tmp_path / "*.parquet").watched(heard.append)
    selector = EasyFS(2, random_state=0, verbose=2).fit(files, "y")
    out = capsys.readouterr().out
    assert told(out) == STEPS
    assert heard == [150, 200, 150, 200]
    found = re.findall(r"  (\d+) rows in (\d) parts?, [\d,]+ rows a second", out)
    assert found == [("150", "1"), ("200", "2")] * 2
    EasyFS(2, random_state=0, verbose=1).fit(files, "y")
    assert "rows a second" not in capsys.readouterr().out  # it was quick
    assert set(selector.get_feature_names_out()) == {"b", "d"}


def test_a_long_pass_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(telling, "PAUSE", 0.0)
    EasyFS(2, random_state=0, verbose=1).fit(FRAME.lazy(), "y")
    assert capsys.readouterr().out.count("200 rows in 1 part, ") == 2


def test_blocks_of_rows_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    selector = EasyFS(2, random_state=0, verbose=1).partial_fit(X[:120], Y[:120]).partial_fit(X[120:], Y[120:])
    out = capsys.readouterr().out
    assert "sums: 120 rows more, 120 so far" in out
    assert "sums: 80 rows more, 200 so far" in out
    first = selector.order_
    assert told(capsys.readouterr().out) == ["search", "chosen"]
    selector.set_params(verbose=0)  # says nothing of the answer, so nothing is computed anew
    assert selector.order_ is first or (selector.order_ == first).all()
    assert capsys.readouterr().out == ""


def test_dask_tables(capsys: pytest.CaptureFixture[str]) -> None:
    import dask.array as da

    whole = np.column_stack([X, Y])
    EasyFS(2, random_state=0, verbose=2).fit(da.from_array(whole[:, :5], chunks=(50, 5)), da.from_array(Y, chunks=50))
    assert told(capsys.readouterr().out) == STEPS


@pytest.mark.parametrize("verbose", [-1, 0.5, "yes", None])
def test_a_wrong_value_is_named(verbose: object) -> None:
    with pytest.raises(ValueError, match=r"verbose=.*: give a whole number of at least 0"):
        EasyFS(verbose=verbose).fit(X, Y)  # type: ignore[arg-type]


def test_results_that_were_kept_are_found_whatever_is_printed() -> None:
    assert described(EasyFS(verbose=1)) == described(EasyFS())
    assert described(EasyFS(2)) != described(EasyFS(3))
