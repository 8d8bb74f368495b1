"""``easyfs report``: a saved report in another form."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from easyfs.cli import options as o
from easyfs.cli.outputs import whole
from easyfs.cli.problems import CommandError, WrongUsageError
from easyfs.cli.show import say, set_talk

ENDINGS = (".html", ".md", ".json")


def command(
    saved: Annotated[str, typer.Argument(metavar="REPORT.json", help="A report that select --report has written as JSON.")],
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The report to write: .html, .md or .json.", show_default="REPORT.html"
        ),
    ] = None,
    quiet: o.Quiet = False,
    verbose: o.Verbose = False,
) -> None:
    """Turn a report that was saved as JSON into a page (or Markdown)."""
    set_talk(quiet, verbose)
    path = Path(saved)
    if not path.is_file():
        raise CommandError(f"there is no file {saved!r}.")
    name = output or str(path.with_suffix(".html"))
    if Path(name).suffix.lower() not in ENDINGS:
        raise WrongUsageError(f"-o {name!r} ends in none of {', '.join(ENDINGS)}.")
    from easyfs.report import Report  # noqa: PLC0415

    with whole(path) as outputs:
        outputs.check(name, "-o")
        try:
            loaded = Report.load(path)
        except (KeyError, ValueError, TypeError) as error:
            raise CommandError(
                f"{saved!r} is not a report that easyfs select --report has written as JSON: {error}"
            ) from error
        outputs.save(name, loaded.save)
    say(f"wrote {name}")
