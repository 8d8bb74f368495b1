"""Another project is imported by the same name: whoever has both is told, once, and nobody else is."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import easyfs
from easyfs.common.neighbours import other_version, warn_of_other


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("easyfs-0.3.1.dist-info", "0.3.1"),
        ("EasyFS-1.0.dist-info", "1.0"),
        ("easyfs-2.0-py3.11.egg-info", "2.0"),
        ("easyfs_ml-0.1.0.dist-info", None),
        ("easyfs-ml-0.1.0.dist-info", None),
        ("easyfs_extra-1.0.dist-info", None),
        ("easyfs", None),
        ("easyfs-notes.txt", None),
        ("myeasyfs-1.0.dist-info", None),
    ],
)
def test_the_other_one_is_told_by_what_it_leaves(tmp_path: Path, name: str, version: str | None) -> None:
    (tmp_path / "easyfs").mkdir(exist_ok=True)
    (tmp_path / name).mkdir(exist_ok=True)
    assert other_version(str(tmp_path)) == version


def test_a_place_that_is_no_folder_says_nothing(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_other(str(tmp_path / "library.zip" / "easyfs"))
        warn_of_other(os.path.dirname(easyfs.__file__))


def test_importing_beside_the_other_one_warns_once(tmp_path: Path) -> None:
    """In a target folder of its own, as pip install --target makes it."""
    (tmp_path / "easyfs").symlink_to(Path(easyfs.__file__).parent, target_is_directory=True)
    (tmp_path / "easyfs-9.8.7.dist-info").mkdir()
    (tmp_path / "script.py").write_text("import easyfs\nimport easyfs\nimport easyfs.registry\nprint(easyfs.__file__)\n")
    run = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert run.stdout.strip() == str(tmp_path / "easyfs" / "__init__.py")
    assert run.stderr.count("Warning: ") == 1
    assert "script.py:1: UserWarning: another project, 'easyfs' 9.8.7, is installed beside easyfs-ml" in run.stderr
    assert "pip uninstall easyfs easyfs-ml, then pip install easyfs-ml" in run.stderr
