"""The rooms of the house: each imports only from those above it, lazily or not, and no two modules need each other."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import easyfs

HOUSE = Path(easyfs.__file__).parent
# From the top down.
ROOMS = [
    *("common", "tables", "files", "base", "sums", "stages", "sample", "passes", "engines", "saved", "estimator"),
    *("baselines", "spark", "registry", "evaluation", "report", "cli", "__init__", "__main__"),
]


# Lines of a file, and those that may have more.
LONGEST, LONG = 500, {"estimator"}


def modules() -> dict[str, Path]:
    """All modules of the library by name."""
    found = {}
    for path in sorted(HOUSE.rglob("*.py")):
        parts = path.relative_to(HOUSE).with_suffix("").parts
        found[".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imported(path: Path) -> set[str]:
    """Modules of the library that a file imports, wherever it does so."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{name.name}" for name in node.names} | {node.module}
    inside = [name for name in names if name == "easyfs" or name.startswith("easyfs.")]
    return {name.removeprefix("easyfs").removeprefix(".") or "__init__" for name in inside} & set(MODULES)


def room(module: str) -> str:
    return module.split(".", maxsplit=1)[0]


def test_every_room_has_its_place() -> None:
    assert {room(module) for module in MODULES} <= set(ROOMS)


@pytest.mark.parametrize("module", MODULES)
def test_a_room_imports_only_from_those_above_it(module: str) -> None:
    place = ROOMS.index(room(module))
    below = {other for other in imported(MODULES[module]) if ROOMS.index(room(other)) > place}
    # The version number, and the list of selectors, are the package's own.
    assert not below - {"__init__"}, f"{module} imports {sorted(below)}"


def test_no_two_modules_need_each_other() -> None:
    graph = {module: imported(path) - {"__init__", room(module)} for module, path in MODULES.items()}
    done: set[str] = set()

    def walk(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join((*way[way.index(module) :], module))
        if module not in done:
            for other in sorted(graph[module]):
                walk(other, (*way, module))
            done.add(module)

    for module in graph:
        walk(module, ())


def private_parts(path: Path) -> set[str]:
    """Private attributes of other objects that a file reads."""
    return {
        node.attr
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    }


@pytest.mark.parametrize("module", [name for name in MODULES if room(name) in ("report", "cli")])
def test_reports_and_commands_read_what_is_public(module: str) -> None:
    assert not private_parts(MODULES[module])


# Advice that a page gives in the words of whoever made it.
ADVICE = "report.advice"


@pytest.mark.parametrize("module", [m for m in MODULES if room(m) not in ("cli", "__main__") and m != ADVICE])
def test_the_library_does_not_speak_of_the_command_line(module: str) -> None:
    text = MODULES[module].read_text(encoding="utf-8")
    assert not re.findall(r"(?<![-\w])--[a-z][a-z-]+", text)


def test_a_file_has_one_idea() -> None:
    lines = {module: len(path.read_text(encoding="utf-8").splitlines()) for module, path in MODULES.items()}
    assert {module for module, n in lines.items() if n > LONGEST} <= LONG


def test_a_plain_import_loads_no_files_and_no_clusters() -> None:
    code = "import sys, easyfs; easyfs.EasyFS; print(*(name for name in sys.modules if name.startswith('easyfs.')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    needless = ("easyfs.files", "easyfs.engines.dask", "easyfs.engines.spark", "easyfs.engines.stream", "easyfs.report")
    assert "easyfs.estimator.easyfs" in loaded
    assert not [name for name in loaded if name.startswith(needless)]
