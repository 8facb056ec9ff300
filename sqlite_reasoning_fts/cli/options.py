"""Options that several commands share."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from .. import archive as archives
from ..errors import FileError

Command = TypeVar("Command", bound=Callable[..., Any])


def opens_archive(command: Command) -> Command:
    """Adds FILE and the adapter's options; the command gets an open ``archive`` instead."""

    @functools.wraps(command)
    def wrapped(
        file: str,
        adapter: str | None,
        table: str | None,
        key: str | None,
        said: tuple[str, ...],
        thought: tuple[str, ...],
        session_column: str | None,
        role_column: str | None,
        time_column: str | None,
        **rest: Any,
    ) -> Any:
        with archives.open(
            file,
            adapter=adapter,
            table=table,
            key=key,
            said=said,
            thought=thought,
            session=session_column,
            role=role_column,
            time=time_column,
        ) as archive:
            return command(archive=archive, **rest)

    options: list[Callable[[Any], Any]] = [
        click.argument("file", type=click.Path(readable=False)),
        click.option("--adapter", metavar="NAME", help="The agent (default: recognised)."),
        click.option(
            "--table", metavar="NAME", help="A table or view of messages, for any other agent."
        ),
        click.option("--key", metavar="COLUMN", help="The column that identifies a row."),
        click.option(
            "--said",
            metavar="COLUMN",
            multiple=True,
            help="A column with visible text (may be repeated).",
        ),
        click.option(
            "--thought",
            metavar="COLUMN",
            multiple=True,
            help="A column with reasoning (may be repeated).",
        ),
        click.option(
            "--session", "session_column", metavar="COLUMN", help="The column with the session."
        ),
        click.option("--role", "role_column", metavar="COLUMN", help="The column with the role."),
        click.option(
            "--time",
            "time_column",
            metavar="COLUMN",
            help="The column with the time: seconds, milliseconds or ISO 8601.",
        ),
    ]
    return cast(Command, functools.reduce(_apply, reversed(options), wrapped))


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
quiet_option = click.option("--quiet", is_flag=True, help="Show no progress.")
seed_option = click.option(
    "--seed", type=int, default=0, show_default=True, help="Seed of everything that is drawn."
)


def _apply(command: Any, option: Callable[[Any], Any]) -> Any:
    return option(command)


def queries_from(path: str | None) -> list[str] | None:
    """The lines of a file of queries (``-`` is standard input)."""
    if path is None:
        return None
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(
            "queries", f"{path}: {error}", "give a text file, one query a line"
        ) from None
    return text.splitlines()


def print_json(value: dict[str, Any]) -> None:
    """Prints one object. Text that is no UTF-8 is escaped, so that the output always is."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    click.echo(text.encode("utf-8", "backslashreplace").decode())
