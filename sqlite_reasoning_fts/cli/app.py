"""Runs a command and turns whatever ends it into a message and an exit code.

0 done; 1 a fault was found or a failure came while running; 2 wrong usage or an unusable file;
130 interrupted; 143 terminated.
"""

from __future__ import annotations

import json
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
    except BrokenPipeError:
        # Whoever read the output has seen enough; keep Python from complaining at its exit.
        sys.stdout = open("/dev/null", "w")  # noqa: SIM115
        return 0
    except OSError as error:
        kind = "no_room" if error.errno == 28 else "io"
        hint = (
            "free some room, or set TMPDIR to a folder on a larger disk"
            if error.errno == 28
            else None
        )
        return _fail(1, kind, str(error), hint, as_json)
    finally:
        signal.signal(signal.SIGTERM, previous)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def _fail(code: int, kind: str, message: str, hint: str | None, as_json: bool) -> int:
    if as_json:
        failure = {"error": {"kind": kind, "message": message, "hint": hint}}
        click.echo(json.dumps(failure, ensure_ascii=False))
        return code
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print("[bold red]error:[/] ", end="")
    console.print(message, markup=False)
    if hint:
        console.print(f"  {hint}", markup=False)
    return code
