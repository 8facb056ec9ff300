"""docs/sql.md: each function is described, and each example does what it says."""

from __future__ import annotations

import re
from typing import Any

import apsw
import pytest
from documented import BLOCKS, EXAMPLES, SETUP, TEXT, Example

import sqlite_reasoning_fts as rf


def shown(value: Any) -> str:
    return "NULL" if value is None else str(value)


def answer(connection: apsw.Connection, sql: str) -> tuple[str, ...]:
    try:
        return tuple(" | ".join(map(shown, row)) for row in connection.execute(sql))
    except apsw.SQLError as error:
        return (f"error: {error}",)


@pytest.mark.parametrize(
    "example", EXAMPLES, ids=lambda example: " ".join(example.sql.split())[:60]
)
def test_the_example_gives_the_result_below_it(
    connection: apsw.Connection, example: Example
) -> None:
    connection.execute(SETUP)
    assert example.expected, "an example has a result"
    assert answer(connection, example.sql) == example.expected


def registered() -> set[str]:
    """What loading adds to a connection: functions, FTS5's auxiliary ones, and modules."""
    listing = "SELECT name FROM pragma_function_list UNION SELECT name FROM pragma_module_list"
    connection = apsw.Connection(":memory:")
    before = {row[0] for row in connection.execute(listing)}
    rf.load(connection)
    return {row[0] for row in connection.execute(listing)} - before


def test_loading_registers_only_names_with_the_prefix() -> None:
    names = registered()
    assert {"reasoning_match", "reasoning_scan", "reasoning_bm25"} <= names
    assert all(name.startswith("reasoning_") for name in names)


def test_each_registered_function_has_a_section_and_each_section_a_function() -> None:
    headings = re.findall(r"^### (reasoning_\w+)$", TEXT, re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert set(headings) == registered()


def test_each_function_stands_in_the_table_and_has_an_example() -> None:
    for name in registered():
        assert f"| [`{name}`](#{name}) |" in TEXT
        assert any(f"{name}(" in block for block in BLOCKS)
