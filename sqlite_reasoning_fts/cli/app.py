"""Runs a command and turns whatever ends it into a message and an exit code.

0 done; 1 a fault was found or a failure came while running; 2 wrong usage or an unusable file;
130 interrupted; 143 terminated.
"""

from __future__ import annotations

import errno
import io
import signal
import sys
from types import FrameType

import click
from rich.console import Console

from .. import __version__
from ..errors import ReasoningFtsError
from .audit import audit
from .compare import compare
from .demo import demo
from .options import print_json
from .search import search


class Terminated(BaseException):
    """SIGTERM came: like Ctrl-C, everything is cleaned up on the way out."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="reasoning-fts")
def cli() -> None:
    """Make the reasoning in an agent's SQLite archive searchable, and measure what it costs.

    Start with: reasoning-fts audit FILE, then reasoning-fts compare FILE. Reading never writes
    to the archive.
    """


for command in (audit, search, compare, demo):
    cli.add_command(command)


def run(arguments: list[str] | None = None) -> int:
    """Runs the command line and gives the exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    as_json = "--json" in given
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that is not UTF-8
    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        code = cli.main(args=given, prog_name="reasoning-fts", standalone_mode=False)
        return int(code or 0)
    except ReasoningFtsError as error:
        return _fail(error.exit_code, error.kind, error.message, error.hint, as_json)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (KeyboardInterrupt, click.exceptions.Abort):
        return _fail(130, "interrupted", "interrupted; the archive is as it was", None, as_json)
    except Terminated:
        return _fail(143, "terminated", "terminated; the archive is as it was", None, as_json)
    except click.ClickException as error:
        hint = None
        if isinstance(error, click.UsageError) and error.ctx is not None:
            hint = f"see: {error.ctx.command_path} --help"
        return _fail(2, "usage", error.format_message(), hint, as_json)
    except SystemExit:
        return 0  # click's and rich's answer to a closed pipe: whoever read has seen enough
    except OSError as error:
        full = error.errno == errno.ENOSPC
        hint = "free some room where the output or the scratch file (TMPDIR) goes" if full else None
        return _fail(1, "no_room" if full else "io", str(error), hint, as_json)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        hint = "this is a fault of reasoning-fts: please report it with the command that led to it"
        return _fail(1, "fault", what, hint, as_json)
    finally:
        signal.signal(signal.SIGTERM, previous)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _fail(code: int, kind: str, message: str, hint: str | None, as_json: bool) -> int:
    if as_json:
        try:
            print_json({"error": {"kind": kind, "message": message, "hint": hint}})
            return code
        except OSError:
            pass  # standard output is what failed; standard error may still be read
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print("[bold red]error:[/] ", end="")
    console.print(message, markup=False)
    if hint:
        console.print(f"  {hint}", markup=False)
    return code
