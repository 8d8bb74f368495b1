"""Runs the command line: commands, exit codes, and errors on one line."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.main import get_command

from easyfs.cli import apply, compare, demo, inspect, methods, report, select
from easyfs.cli.problems import CommandError, InterruptedRunError, one_line
from easyfs.cli.show import fail, say, set_talk, settings, tidy_warnings
from easyfs.common.telling import tell_to

# Typer may bring its own copy of click, so that its errors are found by way of one that typer shows.
UsageError, ClickError = typer.BadParameter.__mro__[1:3]

app = typer.Typer(
    name="easyfs",
    help="Pick the few columns of a table that say most about a target, and see why.",
    epilog="Start with: easyfs demo",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class _PipeClosedError(Exception):
    """The reader of our output has seen enough."""


def _piped(command: Callable[..., None]) -> Callable[..., None]:
    """A command whose broken pipe is no error, and whose interruption is said."""

    @functools.wraps(command)
    def run_command(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise _PipeClosedError from error
        except KeyboardInterrupt as error:
            raise InterruptedRunError("interrupted; nothing was written.") from error

    return run_command


for module in (select, apply, compare, inspect, methods, report, demo):
    app.command(module.__name__.rsplit(".", maxsplit=1)[-1])(_piped(module.command))


def _show_version(wanted: bool) -> None:
    if wanted:
        from easyfs import __version__  # noqa: PLC0415

        sys.stdout.write(f"easyfs {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        sys.stdout.write(context.get_help() + "\n")


def run(args: list[str]) -> int:
    """Run a command line and give its exit code."""
    set_talk(quiet=False, verbose="--verbose" in args or "-v" in args)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    tidy_warnings(one_line)
    for name in ("SIGTERM", "SIGHUP"):  # so that nothing half written is left; what is to be ignored (nohup) is
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        with tell_to(say):
            code = get_command(app).main(args=args, prog_name="easyfs", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except (BrokenPipeError, _PipeClosedError):
        return _end_of_pipe()
    except (KeyboardInterrupt, typer.Abort):
        return InterruptedRunError.code
    except Exception as error:
        if settings.verbose and not isinstance(error, UsageError):
            sys.stderr.write("".join(traceback.format_exception(error)))
        return _say(error)


def _say(error: Any) -> int:
    if isinstance(error, ClickError):
        asked = getattr(error, "ctx", None)
        where = asked.command_path if asked is not None else "easyfs"
        fail(f"{one_line(error.format_message())} ({where} --help shows what there is)")  # type: ignore[attr-defined]
        return int(getattr(error, "exit_code", 2))
    if isinstance(error, CommandError):
        fail(one_line(str(error)))
        return error.code
    if isinstance(error, MemoryError):
        fail("there is not enough memory for this table; leave columns out with --drop, or take a part of the rows.")
        return 1
    if isinstance(error, (ValueError, TypeError, ImportError, OSError)):
        fail(one_line(str(error)))
        return 1
    fail(f"{type(error).__name__}: {one_line(str(error))} (--verbose shows where)")
    return 1


def _end_of_pipe() -> int:
    """The reader of our output has seen enough: that is no error."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, sys.stdout.fileno())
    return 0
