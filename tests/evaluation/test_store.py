"""A file of results survives whatever ends the process that writes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from easyfs.evaluation.store import Store

ROWS: list[dict[str, Any]] = [
    {"kind": "data", "name": "héart", "columns": 3, "metrics": ["accuracy"]},
    {"kind": "fit", "selector": "pearson", "status": "ok", "seconds": 0.25, "order": [2, 0, 1]},
    {"kind": "score", "selector": "pearson", "size": 2, "status": "ok", "values": {"accuracy": 0.75}},
    {"kind": "score", "selector": "pearson", "size": 3, "status": "failed", "reason": 'a "quoted"\nline: {"x'},
]
NEW: dict[str, Any] = {"kind": "score", "selector": "random", "size": 3, "status": "ok", "values": {"accuracy": 0.5}}


def fill(path: Path, rows: list[dict[str, Any]]) -> bytes:
    with Store(path) as store:
        for row in rows:
            store.append(row)
    return path.read_bytes()


def test_rows_are_there_after_reloading(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "folder" / "results.jsonl"
    fill(path, ROWS)
    assert Store(path).rows == ROWS
    with Store(path) as store:
        store.append(NEW)
        assert store.rows == [*ROWS, NEW]
    assert Store(path).rows == [*ROWS, NEW]
    assert [json.loads(line) for line in path.read_text().splitlines()] == [*ROWS, NEW]


def test_a_row_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    store = Store(str(path))
    for count, row in enumerate(ROWS, start=1):
        store.append(row)
        assert Store(path).rows == ROWS[:count]  # the first one is still open
    store.close()


def test_without_a_path_rows_stay_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store() as store:
        store.append(NEW)
        assert store.rows == [NEW]
    assert list(tmp_path.iterdir()) == []


def test_opening_writes_nothing(tmp_path: Path) -> None:
    assert Store(tmp_path / "none.jsonl").rows == []
    assert list(tmp_path.iterdir()) == []
    content = fill(tmp_path / "results.jsonl", ROWS)
    Store(tmp_path / "results.jsonl").close()
    assert (tmp_path / "results.jsonl").read_bytes() == content


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_cut_at_any_byte_loses_the_last_row_only(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "results.jsonl"
    path.unlink(missing_ok=True)
    content = fill(path, ROWS)
    cut = data.draw(st.integers(0, len(content)))
    path.write_bytes(content[:cut])
    whole = content[:cut].count(b"\n")
    store = Store(path)
    # A row that lacks nothing but its line end may be kept, if it is kept for good.
    assert store.rows in (ROWS[:whole], ROWS[: whole + 1])
    kept = list(store.rows)
    store.append(NEW)
    store.close()
    assert store.rows == [*kept, NEW]
    assert Store(path).rows == [*kept, NEW]
    assert path.read_bytes().endswith(b"\n")


def test_a_row_without_its_line_end_is_either_kept_or_dropped_for_good(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    content = fill(path, ROWS)
    path.write_bytes(content[:-1])
    with Store(path) as store:
        known = list(store.rows)
        store.append(NEW)
    # What a rerun takes for done must be in the file that it leaves.
    assert Store(path).rows == [*known, NEW]


def test_not_a_number_and_infinity_are_written_as_null(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    nan, infinity = float("nan"), float("inf")
    fill(path, [{"kind": "score", "values": {"nmse": nan, "r2": -infinity, "other": 1.0}, "seconds": infinity}])
    line = path.read_text()
    assert "NaN" not in line
    assert "Infinity" not in line
    assert Store(path).rows == [{"kind": "score", "values": {"nmse": None, "r2": None, "other": 1.0}, "seconds": None}]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a,b\n1,2\n", 1),
        ('{"kind": "data"}\nnot a row\n{"kind": "fit"}\n', 2),
        ('{"kind": "data"}\n\n{"kind": "fi\n', 3),
        ('{"kind": "data"}\n[1, 2]\n', 2),
        ("3\n4\n", 1),
    ],
)
def test_a_file_of_another_kind_is_an_error_that_names_the_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=rf"line {line} of .*notes\.txt"):
        Store(path)
    assert path.read_text() == text


def test_a_binary_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "picture.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\x00\xff\xfe\n")
    with pytest.raises(ValueError, match="line 1 of"):
        Store(path)


def test_a_file_without_line_ends_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("an important note")
    with pytest.raises(ValueError, match="line 1 of"), Store(path) as store:
        store.append(NEW)
    assert path.read_text() == "an important note"


def test_empty_lines_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    content = fill(path, ROWS)
    path.write_bytes(b"\n" + content.replace(b"\n", b"\n\n"))
    assert Store(path).rows == ROWS
