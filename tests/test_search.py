"""What an answer holds: its order, its filters, its coverage, and text of any kind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
from planted import EXACT
from tables import open_table, write_table

import sqlite_reasoning_fts as rf

SCHEMA = "CREATE TABLE m(id, session, role, time, said, thought)"
COLUMNS: dict[str, Any] = {
    "key": "id",
    "session": "session",
    "role": "role",
    "time": "time",
    "said": ["said"],
    "thought": ["thought"],
}


def keys(found: rf.SearchResult) -> list[Any]:
    return [hit.key for hit in found.hits]


@pytest.mark.parametrize("design", EXACT)
def test_newest_first_has_missing_times_last_and_ties_by_key_downwards(
    tmp_path: Path, design: str
) -> None:
    rows = [
        (1, "s", "r", 10, "", "quagga"),
        (2, "s", "r", None, "", "quagga"),
        (3, "s", "r", 30, "", "quagga"),
        (4, "s", "r", 10, "", "quagga"),
    ]
    with open_table(tmp_path / "a.db", SCHEMA, rows, **COLUMNS) as archive:
        found = archive.search("quagga", scope="thought", order="newest", design=design)
    assert keys(found) == [3, 4, 1, 2]
    assert [hit.rank for hit in found.hits] == [None] * 4


@pytest.mark.parametrize("design", EXACT)
def test_ties_of_text_keys_are_in_binary_order_whatever_the_columns_collation(
    tmp_path: Path, design: str
) -> None:
    rows = [(key, "s", "r", 1, "", "quagga") for key in ("b", "A", "a", "C")]
    schema = SCHEMA.replace("id", "id TEXT COLLATE NOCASE")
    with open_table(tmp_path / "a.db", schema, rows, **COLUMNS) as archive:
        found = archive.search("quagga", scope="thought", design=design)
        assert keys(found) == ["A", "C", "a", "b"]
        assert archive.compare(repeat=1).agrees


def test_since_is_inclusive_and_until_is_not(tmp_path: Path) -> None:
    rows = [(n, "s", "r", n, "", "quagga") for n in (1, 2, 3)]
    with open_table(tmp_path / "a.db", SCHEMA, rows, **COLUMNS) as archive:
        found = archive.search("quagga", scope="thought", since=1, until=3, order="newest")
    assert keys(found) == [2, 1]


def test_one_role_may_be_given_as_it_is(tmp_path: Path) -> None:
    rows = [(1, "s", "user", 1, "", "quagga"), (2, "s", "tool", 1, "", "quagga")]
    with open_table(tmp_path / "a.db", SCHEMA, rows, **COLUMNS) as archive:
        assert keys(archive.search("quagga", scope="thought", roles="tool")) == [2]
        assert keys(archive.search("quagga", scope="thought", roles=["user", "tool"])) == [1, 2]


@pytest.mark.parametrize(
    "arguments",
    [
        {"since": "2024"},
        {"limit": 0},
        {"limit": 10**20},
        {"scope": "mind"},
        {"order": "oldest"},
        {"match": "letters"},
        {"syntax": "sql"},
        {"design": "magic"},
        {"placement": "embedded"},
        {"workers": 0},
    ],
)
def test_a_wrong_argument_is_named(tmp_path: Path, arguments: dict[str, Any]) -> None:
    with open_table(tmp_path / "a.db", SCHEMA, [], **COLUMNS) as archive:
        with pytest.raises(rf.UsageError) as caught:
            archive.search("quagga", **arguments)
        assert caught.value.hint


def test_like_says_that_it_answers_newest_first(tmp_path: Path) -> None:
    rows = [(1, "s", "r", 1, "", "quagga")]
    with open_table(tmp_path / "a.db", SCHEMA, rows, **COLUMNS) as archive:
        found = archive.search("quagga", scope="thought", design="like")
    assert (found.order, found.hits[0].rank) == ("newest", None)


def test_unreadable_reasoning_is_covered_where_reasoning_is_searched(tmp_path: Path) -> None:
    rows = [(1, "s", "r", 1, "okapi", '[{"encrypted_content": "gAAAA"}]')]
    with open_table(tmp_path / "a.db", SCHEMA, rows, **COLUMNS) as archive:
        for scope, unreadable in (("said", 0), ("thought", 1), ("all", 1)):
            assert archive.search("okapi", scope=scope).coverage.rows_unreadable == unreadable


@pytest.mark.parametrize("column", ["id", "session", "role", "said", "thought"])
def test_text_that_is_no_utf8_is_shown_with_replacements(tmp_path: Path, column: str) -> None:
    path = write_table(
        tmp_path / "a.db", SCHEMA, [("k", "s", "r", 1, "okapi said", "quagga thought")]
    )
    connection = apsw.Connection(str(path))
    connection.execute(f"UPDATE m SET {column} = CAST(CAST({column} AS BLOB) || x'20ff' AS TEXT)")
    connection.close()
    with rf.open(path, table="m", **COLUMNS) as archive:
        for design in EXACT:
            hits = archive.search("quagga", scope="all", design=design).hits
            assert len(hits) == 1
        assert archive.compare(repeat=1).agrees
        archive.audit()


@pytest.mark.parametrize("time", [float("inf"), "1e999", 1e300, "no time", b"\x00"])
def test_what_is_no_time_is_no_time(tmp_path: Path, time: Any) -> None:
    rows = [(1, "s", "r", time, "", "quagga")]
    with open_table(tmp_path / "a.db", SCHEMA, rows, **COLUMNS) as archive:
        assert archive.search("quagga", scope="thought").hits[0].created_at is None


def test_a_word_given_many_times_is_looked_for_once(tmp_path: Path) -> None:
    rows = [(1, "s", "r", 1, "", "quagga")]
    with open_table(tmp_path / "a.db", SCHEMA, rows, **COLUMNS) as archive:
        once = archive.search("quagga", scope="thought")
        assert archive.search("quagga " * 500, scope="thought").hits == once.hits


@pytest.mark.parametrize(
    ("query", "stable"),
    [
        ("a AND NEAR(b c)", True),
        ("(a AND b) OR c", True),
        ("(a OR b) AND c", True),
        ("a OR NEAR(b c)", False),
        ("a NOT NEAR(b c)", False),
        ("(a NOT b) OR c", False),
        ("((a OR b) AND c) OR d", False),
        ("(a AND (b OR c)) NOT d", False),
        ("(a AND (b NOT c)) NOT d", False),
        ("(a OR b) NOT c", True),
    ],
)
def test_where_fts5s_ranks_depend_on_the_order_of_reading_is_known(
    tmp_path: Path, query: str, stable: bool
) -> None:
    with open_table(tmp_path / "a.db", SCHEMA, [], **COLUMNS) as archive:
        assert archive._reader.parse(query, "fts5").has_stable_ranks == stable
