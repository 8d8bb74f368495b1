"""Where a result comes from: the code of a selector, the version, the commit, the machine."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_info

from easyfs.common.version import VERSION
from easyfs.evaluation.protocol import fingerprint

PACKAGE = Path(__file__).resolve().parents[1]


def code_of(selector: Any) -> str:
    """A short name for the code that a selector runs: another one as soon as something in it has changed.

    For selectors of this library the module of the class and all modules of the library that it imports, one after the
    other, count; for those of other libraries, the version; for classes of the user, their source. Selectors and models
    among the parameters count too.
    """
    if not isinstance(selector, BaseEstimator):
        return fingerprint(VERSION)
    parts = [VERSION, *(_code_of_class(kind) for kind in type(selector).__mro__ if kind is not object)]
    inner = [value for _, value in sorted(selector.get_params(deep=True).items()) if isinstance(value, BaseEstimator)]
    return fingerprint(*parts, *(code_of(value) for value in inner if value is not selector))


@functools.cache
def _code_of_class(kind: type) -> str:
    top = kind.__module__.partition(".")[0]
    if top == PACKAGE.name:
        return _code_of_module(kind.__module__)
    version = getattr(sys.modules.get(top), "__version__", None)
    if version is not None:
        return f"{top} {version}"
    if top in sys.stdlib_module_names:
        return f"python {platform.python_version()}"
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):  # typed in by hand: no source is kept
        return fingerprint(*(value for _, value in sorted(vars(kind).items()) if inspect.isfunction(value)))


@functools.cache
def _code_of_module(module: str) -> str:
    """A hash of a module of the library and of all that it imports of the library."""
    digest = hashlib.blake2b(digest_size=8)
    for name in sorted(_imported(module)):
        digest.update(name.encode() + b"\0" + _file_of(name).read_bytes())
    return digest.hexdigest()


def _imported(module: str) -> set[str]:
    """A module of the library and those of the library that it imports, directly or not."""
    found, left = set(), [module]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        for node in ast.walk(ast.parse(_file_of(name).read_bytes())):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                named = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            left += [n for n in named if n.split(".")[0] == PACKAGE.name and n != PACKAGE.name and _file_of(n).exists()]
    return found


def _file_of(module: str) -> Path:
    place = PACKAGE.joinpath(*module.split(".")[1:])
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


@functools.cache
def environment() -> dict[str, Any]:
    """What is the same for all results of a run: version, commit, machine, and the libraries that compute."""
    return {"version": VERSION, "commit": _commit(), "machine": _machine(), "libraries": _libraries()}


def made() -> dict[str, Any]:
    """Where a result that is found now, in this process, comes from."""
    return {**environment(), "date": now(), "threads": n_threads()}


def now() -> str:
    """The time, to the second, in UTC."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def n_threads() -> int:
    """Threads that linear algebra may use in this process."""
    return max((int(pool["num_threads"]) for pool in threadpool_info()), default=1)


def _commit() -> str | None:
    """The commit of the checkout that the library is in, with ``+`` where files have changed; None where there is none."""
    if not (PACKAGE.parents[1] / ".git").exists():
        return None
    try:
        return _git("rev-parse", "HEAD")[:12] + ("+" if _git("status", "-s", "-uno", ".") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(*asked: str) -> str:
    found = subprocess.run(["git", "-C", str(PACKAGE), *asked], capture_output=True, text=True, timeout=30, check=True)
    return found.stdout.strip()


def _libraries() -> str:
    """Versions of the libraries that compute, and the kind of processor that linear algebra takes this one for."""
    blas: dict[str, Any] = next((pool for pool in threadpool_info() if pool["user_api"] == "blas"), {})
    known = [("numpy", np.__version__), ("scipy", scipy.__version__), ("scikit-learn", sklearn.__version__)]
    known += [(str(blas.get("internal_api")), f"{blas.get('version')} {blas.get('architecture')}")] if blas else []
    return ", ".join(f"{name} {version}" for name, version in known)


def _machine() -> str:
    """System, kind of processor and number of cores; nothing that names this very machine."""
    model = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"{platform.system()}, {model}, {os.cpu_count()} cores, Python {platform.python_version()}"
