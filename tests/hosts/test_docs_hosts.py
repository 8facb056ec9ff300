"""docs/hosts.md: each example runs in its host and prints what stands below it.

An example is a fenced block; its lines that are comments are the lines that it prints.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import apsw
import datasette_server
import documented
import pytest
import shell
from loading_python import ROOT, LoadingPython
from programs import SECONDS, better_sqlite3, node_sqlite

import sqlite_reasoning_fts as rf

TEXT = (ROOT / "docs" / "hosts.md").read_text(encoding="utf-8")
COMMENT = {"sh": "# ", "python": "# ", "js": "// "}


@dataclass(frozen=True)
class Example:
    """A block below a heading, and the lines that it prints."""

    heading: str
    language: str
    code: str

    @property
    def expected(self) -> list[str]:
        mark = COMMENT[self.language]
        return [line.removeprefix(mark) for line in self.code.splitlines() if line.startswith(mark)]


def examples() -> list[Example]:
    found = []
    heading = ""
    # Blocks come first in the pattern: a comment line in a block is no heading.
    parts = re.finditer(r"^```(.*)\n((?:.*\n)*?)^```$|^#+ (.*)$", TEXT, re.MULTILINE)
    for language, code, title in (part.groups() for part in parts):
        if title:
            heading = title
        else:
            found.append(Example(heading, language, code))
    return found


SETUP, *EXAMPLES = examples()

Command = tuple[list[str], dict[str, str]]


def searched(*folders: str | Path) -> dict[str, str]:
    return {"PATH": os.pathsep.join([*map(str, folders), os.environ["PATH"]])}


def in_shell(code: str) -> list[str]:
    return ["sh", "-euc", code]


def sqlite3_shell(code: str, python: Callable[[], LoadingPython]) -> Command:
    return in_shell(code), searched(Path(shell.program()).parent)


def datasette(code: str, python: Callable[[], LoadingPython]) -> Command:
    return in_shell(code), searched(Path(datasette_server.program()[0]).parent)


def with_apsw(code: str, python: Callable[[], LoadingPython]) -> Command:
    return [sys.executable, "-c", code], {}


def with_sqlite3(code: str, python: Callable[[], LoadingPython]) -> Command:
    found = python()
    return [found.executable, "-c", code], {"PYTHONPATH": found.path}


def with_better_sqlite3(code: str, python: Callable[[], LoadingPython]) -> Command:
    node, env = better_sqlite3()
    return [node, "-e", code], env


def with_node_sqlite(code: str, python: Callable[[], LoadingPython]) -> Command:
    node, env = node_sqlite()
    return [node, "-e", code], env


RUNNERS = {
    ("apsw", "python"): with_apsw,
    ("Python's sqlite3", "python"): with_sqlite3,
    ("The sqlite3 shell", "sh"): sqlite3_shell,
    ("better-sqlite3", "js"): with_better_sqlite3,
    ("node:sqlite", "js"): with_node_sqlite,
    ("Datasette", "sh"): datasette,
}


def printed(command: list[str], env: dict[str, str], folder: Path) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path that the document's first block puts into its variable."""
    code = SETUP.code + '\nprintf %s "$REASONING_FTS"'
    env = searched(Path(sys.executable).parent)
    return printed(in_shell(code), env, tmp_path_factory.mktemp("library"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    connection = apsw.Connection(str(tmp_path / "archive.db"))
    connection.execute(documented.SETUP)
    connection.close()
    return tmp_path


def test_the_variable_of_the_document_names_the_library(library: str) -> None:
    assert library == rf.extension_path()


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda one: f"{one.heading}: {one.code.splitlines()[-1]}"
)
def test_the_example_prints_what_stands_below_it(
    example: Example, library: str, folder: Path, request: pytest.FixtureRequest
) -> None:
    assert example.expected, "an example prints something"
    runner = RUNNERS[example.heading, example.language]
    command, env = runner(example.code, lambda: request.getfixturevalue("loading_python"))
    env = {**env, "REASONING_FTS": library}
    assert printed(command, env, folder).splitlines() == example.expected


@pytest.mark.parametrize(("heading", "language"), RUNNERS)
def test_each_host_has_an_example(heading: str, language: str) -> None:
    assert (heading, language) in {(one.heading, one.language) for one in EXAMPLES}


def test_a_copy_under_the_same_name_loads_elsewhere(library: str, tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    copy = shutil.copy(library, folder)
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(copy)
    assert connection.execute("SELECT reasoning_match('lock', 'a lock')").get == 1
