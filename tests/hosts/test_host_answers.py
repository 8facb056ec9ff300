"""The library in the hosts that people use: each gives the answers that apsw gives."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import datasette_server
import pytest
import shell
from loading_python import LoadingPython
from programs import ENTRY, node_module, python_module, python_modules
from questions import (
    RIGHT,
    WRONG,
    Answer,
    Sheet,
    ask_apsw,
    differences,
    write_sheets,
)

import sqlite_reasoning_fts as rf

Host = Callable[[Sequence[Sheet]], list[list[Answer]]]


@pytest.fixture(scope="module")
def sheets(demo_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Sheet, ...]:
    return write_sheets(tmp_path_factory.mktemp("hosts"), demo_path)


@pytest.fixture(scope="module")
def expected(sheets: tuple[Sheet, ...]) -> list[list[Answer]]:
    return list(map(ask_apsw, sheets))


def assert_same(
    sheets: Sequence[Sheet], found: list[list[Answer]], expected: list[list[Answer]]
) -> None:
    for sheet, answers, wanted in zip(sheets, found, expected, strict=True):
        assert differences(sheet, answers, wanted) == []


def test_each_right_question_has_rows_and_each_wrong_one_an_error(
    sheets: tuple[Sheet, ...], expected: list[list[Answer]]
) -> None:
    given = dict(zip(map(id, sheets[0].questions), expected[0], strict=True))
    assert [question.sql for question in RIGHT if not given[id(question)].rows] == []
    assert [question.sql for question in WRONG if not given[id(question)].error] == []
    for question in WRONG:
        assert str(given[id(question)].error).startswith("reasoning_")


@pytest.mark.parametrize("way", ["load", "path"])
def test_sqlite3_of_the_standard_library(
    loading_python: LoadingPython,
    sheets: tuple[Sheet, ...],
    expected: list[list[Answer]],
    way: str,
) -> None:
    assert_same(sheets, python_module(loading_python, "sqlite3", way, sheets), expected)


def test_apsw_that_loads_the_file_itself(
    loading_python: LoadingPython, sheets: tuple[Sheet, ...], expected: list[list[Answer]]
) -> None:
    assert_same(sheets, python_module(loading_python, "apsw", "path", sheets), expected)


@pytest.mark.parametrize("first", ["apsw", "sqlite3"])
def test_two_sqlite_libraries_of_one_process_answer_turn_by_turn_and_after_one_left(
    loading_python: LoadingPython,
    sheets: tuple[Sheet, ...],
    expected: list[list[Answer]],
    tmp_path: Path,
    first: str,
) -> None:
    second = "sqlite3" if first == "apsw" else "apsw"
    # A file of its own: no file is opened through two SQLite libraries.
    copies = []
    for sheet in sheets:
        path = tmp_path / sheet.path.name
        shutil.copyfile(sheet.path, path)
        copies.append(Sheet(path, sheet.questions))
    found, last = python_modules(
        loading_python,
        {first: sheets, second: copies},
        way="load",
        last="SELECT sqlite_version() = json_extract(reasoning_debug(), '$.sqlite_version'),"
        " reasoning_match('a', 'a'), (SELECT count(*) > 0 FROM"
        " reasoning_scan('file', 'messages', 'content', '0'))",
    )
    assert_same(sheets, found[first], expected)
    assert_same(copies, found[second], expected)
    assert last == {second: Answer(rows=((1, 1, 1),))}


@pytest.mark.parametrize("entry", ["", f" {ENTRY}"], ids=["by file name", "by entry point"])
def test_the_sqlite3_shell_with_load(
    sheets: tuple[Sheet, ...], expected: list[list[Answer]], entry: str
) -> None:
    load = f".load '{rf.extension_path()}'{entry}"
    assert_same(sheets, shell.ask_all(sheets, load=load), expected)


@pytest.mark.parametrize("entry", ["", f" {ENTRY}"], ids=["by file name", "by entry point"])
def test_the_sqlite3_shell_with_an_option(
    sheets: tuple[Sheet, ...], expected: list[list[Answer]], entry: str
) -> None:
    command = f".load '{rf.extension_path()}'{entry}"
    assert_same(sheets, shell.ask_all(sheets, command=command), expected)


@pytest.mark.parametrize("entry", [None, ENTRY], ids=["by file name", "by entry point"])
def test_better_sqlite3(
    sheets: tuple[Sheet, ...], expected: list[list[Answer]], entry: str | None
) -> None:
    assert_same(sheets, node_module("better-sqlite3", entry, sheets), expected)


def test_node_sqlite(sheets: tuple[Sheet, ...], expected: list[list[Answer]]) -> None:
    assert_same(sheets, node_module("node:sqlite", None, sheets), expected)


@pytest.mark.parametrize("entry", ["", f":{ENTRY}"], ids=["by file name", "by entry point"])
def test_datasette(sheets: tuple[Sheet, ...], expected: list[list[Answer]], entry: str) -> None:
    found = datasette_server.ask_all(sheets, f"{rf.extension_path()}{entry}")
    assert_same(sheets, found, expected)
