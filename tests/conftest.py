"""What all tests share: a connection, the shared data, and how to skip."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import apsw
import pytest

import sqlite_reasoning_fts as rf


def require(reason: str) -> NoReturn:
    """Ends a test that lacks a facility: a skip, or a failure where none may be skipped."""
    if os.environ.get("REASONING_FTS_REQUIRE") == "1":
        pytest.fail(f"REASONING_FTS_REQUIRE=1, but {reason}", pytrace=False)
    pytest.skip(reason)


def pytest_report_header() -> list[str]:
    return [
        f"SQLite: apsw {apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()}),"
        f" sqlite3 {sqlite3.sqlite_version}"
    ]


@pytest.fixture
def connection() -> Iterator[apsw.Connection]:
    """An in-memory database with the SQL functions."""
    opened = apsw.Connection(":memory:")
    try:
        rf.load(opened)
        yield opened
    finally:
        opened.close()


@pytest.fixture(scope="session")
def data() -> Path:
    """The shared data: real agents' archives and traces."""
    named = os.environ.get("REASONING_FTS_DATA")
    if not named:
        require("the variable REASONING_FTS_DATA does not name the shared data")
    path = Path(named)
    if not path.is_dir():
        require(f"REASONING_FTS_DATA names no folder: {path}")
    return path
