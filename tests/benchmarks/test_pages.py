"""Pages of results say what the rows beside the benchmarks say: each is written again from its rows alone."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "planted.py --page": ["planted"],
    "noise.py --page": ["noise"],
    "interactions.py --release 2 --page": ["interactions"],
    "survival.py --page": ["survival"],
    "speed.py --page": ["speed"],
    "baselines.py --page": ["baselines"],
    "scale/page.py": ["scale"],
    "paper/tables.py": ["classification", "regression", "ranks"],
    "paper/models.py --page": ["models"],
    "paper/auto.py --page": ["auto"],
    "paper/leak.py --page": ["leak"],
    "paper/ablation.py --page": ["ablation"],
    "paper/networks.py --page": ["networks"],
    "paper/redundancy.py --page": ["redundancy"],
    "paper/runtime.py --page": ["runtime"],
    "paper/times.py --page": ["times"],
    "confirm/page.py": ["confirm", "confirm-tables"],
    "race/page.py": ["race"],
}


NUMBER = re.compile(r"\d+\.?\d*")


def same(left: str, right: str) -> bool:
    """Whether two lines say the same: numbers may differ by one in the last digit that is shown, as rounding may."""
    if left == right:
        return True
    if NUMBER.sub("0", left) != NUMBER.sub("0", right):
        return False
    pairs = zip(NUMBER.findall(left), NUMBER.findall(right), strict=True)
    return all(a == b or ("." in a and abs(float(a) - float(b)) <= 1.5 * 0.1 ** len(a.partition(".")[2])) for a, b in pairs)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The benchmarks with their rows, and no page."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "benchmarks", folder / "benchmarks", ignore=shutil.ignore_patterns("state", "__pycache__"))
    (folder / "docs" / "results").mkdir(parents=True)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("command", PAGES)
def test_a_page_is_what_its_rows_say(command: str, copy: Path) -> None:
    script, *options = command.split()
    subprocess.run([sys.executable, str(copy / "benchmarks" / script), *options], check=True, capture_output=True)
    for name in PAGES[command]:
        path = Path("docs", "results", f"{name}.md")
        made, kept = ((root / path).read_text(encoding="utf-8").splitlines() for root in (copy, ROOT))
        other = [pair for pair in zip(made, kept, strict=False) if not same(*pair)]
        assert len(made) == len(kept), path
        assert not other, (path, other[:3])


def test_every_page_of_figures_is_written_from_rows() -> None:
    written = {name for names in PAGES.values() for name in names}
    assert {path.stem for path in (ROOT / "docs" / "results").glob("*.md")} - written == {"index"}
