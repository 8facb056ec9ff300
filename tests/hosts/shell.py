"""The sqlite3 command-line shell as a host: a script of statements, answers in JSON."""

from __future__ import annotations

import bisect
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from functools import cache

from conftest import require
from programs import run
from questions import Answer, Sheet

MARK = "~ answer ~"


@cache
def program() -> str:
    """The sqlite3 shell; some systems' own cannot load extensions."""
    found = shutil.which("sqlite3")
    if found is None:
        require("the sqlite3 shell is not installed; install the package sqlite3")
    if ".load FILE" not in run([found, "-batch", ":memory:", ".help .load"]).stdout:
        require(f"{found} is built without .load; install a sqlite3 shell that has it")
    return found


def literal(value: str | int | float) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def parameters(values: Mapping[str, str | int | float]) -> list[str]:
    """What `.parameter set` does, without its rules of quoting."""
    table = "temp.sqlite_parameters"
    setting = "REPLACE INTO {} VALUES ({}, {});"
    return [f"DELETE FROM {table};"] + [
        setting.format(table, literal(f":{name}"), literal(value)) for name, value in values.items()
    ]


def script(sheet: Sheet, load: str) -> tuple[str, list[int]]:
    """The statements, and for each question the number of the line that it starts at."""
    lines = [*filter(None, [load]), ".mode json", ".parameter init"]
    starts = []
    for question in sheet.questions:
        lines += [f".print '{MARK}'", *parameters(question.parameters)]
        starts.append(len(lines) + 1)
        lines += f"{question.sql.rstrip(';')};".splitlines()
    return "\n".join([*lines, ""]), starts


def ask(sheet: Sheet, *, load: str = "", command: str | None = None) -> list[Answer]:
    """The answers of one shell; `load` stands in the script, `command` is given with -cmd."""
    text, starts = script(sheet, load)
    options = ["-cmd", command] if command else []
    done = run([program(), "-batch", "-readonly", *options, str(sheet.path)], text=text)
    before, *printed = done.stdout.split(f"{MARK}\n")
    assert before == "", done.stderr
    assert len(printed) == len(starts), done.stderr
    errors: dict[int, str] = {}
    for line, message in re.findall(
        r"^[\w ]*[Ee]rror.*? near line (\d+): (.*?)(?=^[\w ]*[Ee]rror.*? near line |\Z)",
        done.stderr,
        re.MULTILINE | re.DOTALL,
    ):
        at = bisect.bisect_right(starts, int(line)) - 1
        assert at >= 0, done.stderr
        errors[at] = message.strip()
    return [
        Answer(error=errors[at]) if at in errors else Answer(rows=rows(text))
        for at, text in enumerate(printed)
    ]


def rows(text: str) -> tuple[tuple[str | int | float | None, ...], ...]:
    """What -json prints: nothing for no rows; names may stand twice in a row."""
    found: list[list[tuple[str, str | int | float | None]]] = (
        json.loads(text, object_pairs_hook=list) if text.strip() else []
    )
    return tuple(tuple(value for _, value in row) for row in found)


def ask_all(
    sheets: Sequence[Sheet], *, load: str = "", command: str | None = None
) -> list[list[Answer]]:
    return [ask(sheet, load=load, command=command) for sheet in sheets]
