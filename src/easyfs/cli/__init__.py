"""The command line: ``easyfs select``, ``compare``, ``inspect``, ``methods``, ``report`` and ``demo``."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with its exit code."""
    for package in ("typer", "rich"):
        if importlib.util.find_spec(package) is None:
            sys.stderr.write(
                f"easyfs: error: the command line needs the package {package!r}, which is not installed; install it with "
                "pip install 'easyfs-ml[cli]'.\n"
            )
            sys.exit(1)
    try:
        from easyfs.cli.run import run  # noqa: PLC0415

        code = run(list(sys.argv[1:] if args is None else args))
    except KeyboardInterrupt:  # before there is anybody else to hear of it
        sys.stderr.write("easyfs: error: interrupted; nothing was written.\n")
        code = 130
    sys.exit(code)
