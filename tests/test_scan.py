"""reasoning_scan as a table: its arguments, its source, what it pushes down and remembers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import pytest
from oracle import SPECS, Value

import sqlite_reasoning_fts as rf

SPEC = "content, thought"


@pytest.fixture
def archive(connection: apsw.Connection) -> apsw.Connection:
    """Ten messages: `needle` in content of 1 and 2, in thought of 2 and 3; `hay` in all."""
    connection.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, content, thought, extra)")
    for number in range(1, 11):
        content = "needle hay" if number in (1, 2) else "hay " * number
        thought = "a needle and a needle" if number in (2, 3) else None
        connection.execute("INSERT INTO messages VALUES (?, ?, ?, 'needle')",
                           (number, content, thought))  # fmt: skip
    return connection


def scan(
    connection: apsw.Connection, query: Value, tail: str = "", source: Value = "messages"
) -> list[Any]:
    return connection.execute(
        f"SELECT rowid, origin FROM reasoning_scan(?, ?, ?, '1') {tail}", (query, source, SPEC)
    ).fetchall()


def error_of(connection: apsw.Connection, sql: str, *values: Value) -> str:
    with pytest.raises(apsw.SQLError) as caught:
        connection.execute(sql, values).fetchall()
    return str(caught.value)


def test_origin_says_where_the_hits_are(archive: apsw.Connection) -> None:
    assert scan(archive, "needle") == [(1, "said"), (2, "both"), (3, "thought")]


def test_columns_outside_the_spec_are_not_read(archive: apsw.Connection) -> None:
    assert len(scan(archive, "needle")) == 3
    assert "no such column: extra" in error_of(
        archive, "SELECT * FROM reasoning_scan('extra : x', 'messages', ?)", SPEC
    )


def test_without_thought_columns_there_is_no_origin(archive: apsw.Connection) -> None:
    sql = "SELECT rowid, origin FROM reasoning_scan('needle', 'messages', 'content, thought'{})"
    assert archive.execute(sql.format("")).fetchall()[0] == (1, None)
    assert archive.execute(sql.format(", NULL")).fetchall()[0] == (1, None)


def test_an_unindexed_column_is_out_of_scope(archive: apsw.Connection) -> None:
    spec = "content, thought UNINDEXED"
    archive.execute(f"CREATE VIRTUAL TABLE real USING fts5({spec})")
    archive.execute("INSERT INTO real(rowid, content, thought)"
                    " SELECT id, content, thought FROM messages")  # fmt: skip
    for query in ("needle OR hay", "thought : needle", "hay NOT thought : needle"):
        got = archive.execute(
            "SELECT rowid, rank FROM reasoning_scan(?, 'messages', ?) ORDER BY rowid",
            (query, spec),
        ).fetchall()
        assert (
            got
            == archive.execute(
                "SELECT rowid, bm25(real) FROM real WHERE real MATCH ? ORDER BY rowid", (query,)
            ).fetchall()
        )


@pytest.mark.parametrize(
    "tail",
    [
        "WHERE rowid > 3", "WHERE rowid >= 3 AND rowid < 6", "WHERE rowid = 4", "WHERE rowid <= 2",
        "WHERE rowid > 3.5", "WHERE rowid > 3.0", "WHERE rowid < 3.5", "WHERE rowid = '4'",
        "WHERE rowid IN (9, 2, 77)", "WHERE rowid = NULL",
        "WHERE rowid > 9223372036854775807", "WHERE rowid < -9223372036854775808",
        "WHERE rowid > 3 ORDER BY rowid DESC", "ORDER BY rowid LIMIT 3",
        "ORDER BY rowid DESC LIMIT 2 OFFSET 3", "WHERE rowid > 2 ORDER BY rank, rowid LIMIT 2",
        "ORDER BY rank, rowid LIMIT 3", "ORDER BY rank DESC, rowid LIMIT 3",
        "ORDER BY rank, rowid LIMIT 3 OFFSET 2", "ORDER BY rank, rowid LIMIT -1 OFFSET 7",
        "ORDER BY rank, rowid LIMIT 0", "ORDER BY rank, rowid DESC LIMIT 4",
        "WHERE rank < -0.000001 ORDER BY rank, rowid LIMIT 2", "WHERE origin = 'said'",
        "WHERE origin = 'thought' ORDER BY rank, rowid LIMIT 1",
        "WHERE rowid > 5 OR rowid = 1 ORDER BY rowid",
    ],
)  # fmt: skip
def test_what_is_pushed_down_gives_what_sqlite_would_give(
    archive: apsw.Connection, tail: str
) -> None:
    values = ("hay OR needle", "messages", SPEC, "1")
    archive.execute(
        "CREATE TABLE kept AS SELECT rowid AS number, rank, origin FROM reasoning_scan(?, ?, ?, ?)",
        values,
    )
    archive.execute("CREATE TABLE expected(rowid INTEGER PRIMARY KEY, rank, origin)")
    archive.execute("INSERT INTO expected SELECT * FROM kept")
    got = archive.execute(
        f"SELECT rowid, rank, origin FROM reasoning_scan(?, ?, ?, ?) {tail}", values
    ).fetchall()
    assert got == archive.execute(f"SELECT rowid, rank, origin FROM expected {tail}").fetchall()


def noted(connection: apsw.Connection) -> list[Value]:
    """Makes a view ``noted`` of the messages; the list tells the rows that were read of it."""
    read: list[Value] = []

    def note(*numbers: Value) -> Value:
        read.extend(numbers)
        return numbers[0]

    connection.create_scalar_function("note", note, 1)
    connection.execute("CREATE TEMP VIEW noted AS SELECT id AS rowid, content, thought"
                       " FROM messages WHERE note(id) > 0")  # fmt: skip
    return read


@pytest.mark.parametrize("bounds", ["4 AND 5", "4.0 AND 5.0"])
def test_a_rowid_range_narrows_what_is_read(archive: apsw.Connection, bounds: str) -> None:
    read = noted(archive)
    scan(archive, "hay", f"WHERE rowid BETWEEN {bounds}", "noted")
    assert read == [4, 5]


def test_the_scan_stops_when_no_more_is_asked_for(archive: apsw.Connection) -> None:
    read = noted(archive)
    scan(archive, "hay", "ORDER BY rowid DESC LIMIT 2", "noted")
    assert read == [10, 9]


def test_an_order_by_rank_needs_no_sorting(archive: apsw.Connection) -> None:
    plan = archive.execute(
        "EXPLAIN QUERY PLAN SELECT rowid FROM reasoning_scan('hay', 'messages', 'content')"
        " ORDER BY rank LIMIT 3"
    ).fetchall()
    assert "TEMP B-TREE" not in str(plan)


def test_a_scan_joins_its_source(archive: apsw.Connection) -> None:
    rows = archive.execute(
        "SELECT m.id, m.thought FROM reasoning_scan('needle', 'messages', ?, '1') AS s"
        " JOIN messages AS m ON m.id = s.rowid WHERE s.rank < 0 ORDER BY s.rowid LIMIT 1",
        (SPEC,),
    ).fetchall()
    assert rows == [(1, None)]


def test_arguments_may_come_from_another_table(archive: apsw.Connection) -> None:
    archive.execute("CREATE TABLE asked(query); INSERT INTO asked VALUES ('needle'), ('hay')")
    rows = archive.execute(
        "SELECT asked.query, count(*) FROM asked, reasoning_scan(asked.query, 'messages', ?)"
        " GROUP BY 1 ORDER BY 1",
        (SPEC,),
    ).fetchall()
    assert rows == [("hay", 10), ("needle", 3)]


# ---- the source ---------------------------------------------------------------------------------


def test_a_source_is_found_by_schema_and_name(archive: apsw.Connection) -> None:
    archive.execute("CREATE TEMP TABLE messages AS SELECT * FROM messages WHERE id = 3")
    archive.execute("ATTACH ':memory:' AS other")
    archive.execute('CREATE TABLE other."my.table ""x"""(content, thought)')
    archive.execute('INSERT INTO other."my.table ""x""" VALUES (NULL, \'needle\')')
    found = {
        source: len(scan(archive, "needle", source=source))
        for source in (
            "messages", "MESSAGES", "temp.messages", "main.messages", '"main"."messages"',
            'other."my.table ""x"""', 'other.my.table "x"', '"my.table ""x"""', 'my.table "x"',
        )
    }  # fmt: skip
    assert list(found.values()) == [1, 1, 1, 3, 3, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nothing", "no such table or view: nothing"),
        ("main.nothing", "no such table or view: main.nothing"),
        ('"nowhere".messages', "no such schema: nowhere"),
        ("messages; DROP TABLE messages", "no such table or view"),
        ("(SELECT 1 AS rowid)", "no such table or view"),
        ("messages AS m", "no such table or view"),
        ('"messages', "cannot read the name"),
        ('"messages"x', "cannot read the name"),
        ("mess\0ages", "NUL byte"),
        ("", "no such table or view"),
        ("sqlite_schema", "no such table or view"),
        (None, "the source is NULL"),
    ],
)
def test_a_source_is_a_name_and_never_sql(
    archive: apsw.Connection, source: Value, message: str
) -> None:
    sql = "SELECT * FROM reasoning_scan('hay', ?, ?)"
    assert message in error_of(archive, sql, source, SPEC)
    assert archive.execute("SELECT count(*) FROM messages").get == 10


def test_a_source_needs_the_columns_of_the_spec(archive: apsw.Connection) -> None:
    sql = "SELECT * FROM reasoning_scan('hay', 'messages', 'content, nonsense')"
    assert "cannot read table main.messages: no such column" in error_of(archive, sql)


def test_a_view_needs_an_integer_rowid(archive: apsw.Connection) -> None:
    archive.execute("CREATE VIEW bare AS SELECT content, thought FROM messages")
    archive.execute("CREATE VIEW named AS SELECT 'x' AS rowid, content, thought FROM messages")
    archive.execute("CREATE VIEW empty AS SELECT NULL AS rowid, content, thought FROM messages")
    sql = "SELECT * FROM reasoning_scan('hay', ?, ?)"
    assert "rowid" in error_of(archive, sql, "bare", SPEC)
    assert "rowid is not an integer" in error_of(archive, sql, "named", SPEC)
    assert "rowid is not an integer" in error_of(archive, sql, "empty", SPEC)


def test_a_table_without_rowids_is_refused(archive: apsw.Connection) -> None:
    archive.execute("CREATE TABLE w(content PRIMARY KEY, thought) WITHOUT ROWID")
    sql = "SELECT * FROM reasoning_scan('hay', 'w', ?)"
    assert "cannot read table main.w: no such column: source.rowid" in error_of(archive, sql, SPEC)


def test_an_empty_source_has_no_hits(archive: apsw.Connection) -> None:
    archive.execute("DELETE FROM messages")
    assert scan(archive, "hay") == []
    assert archive.execute("SELECT rank FROM reasoning_scan('hay', 'messages', ?)",
                           (SPEC,)).fetchall() == []  # fmt: skip


@pytest.mark.parametrize("columns", ["2", "-0 -1", "", "x", "0 0", "0 -1"])
def test_thought_columns_are_numbers_of_the_spec(archive: apsw.Connection, columns: str) -> None:
    sql = "SELECT * FROM reasoning_scan('hay', 'messages', ?, ?)"
    assert "reasoning_scan: columns" in error_of(archive, sql, SPEC, columns)


def test_missing_arguments_are_named(archive: apsw.Connection) -> None:
    assert "the query is missing" in error_of(archive, "SELECT * FROM reasoning_scan")
    assert "the spec is missing" in error_of(
        archive, "SELECT * FROM reasoning_scan('hay', 'messages')"
    )
    assert "the query is NULL" in error_of(
        archive, "SELECT * FROM reasoning_scan(NULL, 'messages', 'content')"
    )


def test_an_error_of_the_query_names_the_function(archive: apsw.Connection) -> None:
    sql = "SELECT * FROM reasoning_scan('hay AND', 'messages', 'content')"
    assert 'reasoning_scan: syntax error near "" at byte 7' in error_of(archive, sql)


def test_a_view_or_trigger_cannot_scan(archive: apsw.Connection) -> None:
    archive.execute("CREATE VIEW v AS SELECT * FROM reasoning_scan('hay', 'messages', 'content')")
    assert "unsafe use of virtual table" in error_of(archive, "SELECT * FROM v")


# ---- what is remembered of a corpus -------------------------------------------------------------


def ranks(connection: apsw.Connection) -> list[Any]:
    return connection.execute(
        "SELECT rowid, rank FROM reasoning_scan('needle', 'messages', 'content, thought')"
        " ORDER BY rowid"
    ).fetchall()


def true_ranks(connection: apsw.Connection) -> list[Any]:
    """From a connection that remembers nothing."""
    fresh = apsw.Connection(":memory:")
    rf.load(fresh)
    fresh.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, content, thought, extra)")
    fresh.executemany("INSERT INTO messages VALUES (?, ?, ?, ?)",
                      connection.execute("SELECT * FROM messages").fetchall())  # fmt: skip
    return ranks(fresh)


def test_ranks_follow_every_change_of_the_connection(archive: apsw.Connection) -> None:
    for change in (
        "SELECT 1",
        "INSERT INTO messages VALUES (20, 'more of it', NULL, NULL)",
        "UPDATE messages SET thought = 'long ' || content",
        "DELETE FROM messages WHERE id = 9",
        "DELETE FROM messages WHERE id > 3",
        "ALTER TABLE messages RENAME TO old;"
        " CREATE TABLE messages(id INTEGER PRIMARY KEY, content, thought, extra);"
        " INSERT INTO messages SELECT * FROM old WHERE id < 3",
    ):
        archive.execute(change)
        assert ranks(archive) == true_ranks(archive)
        assert ranks(archive) == true_ranks(archive)


def test_ranks_do_not_remember_what_was_rolled_back(archive: apsw.Connection) -> None:
    before = ranks(archive)
    archive.execute("BEGIN; INSERT INTO messages VALUES (30, 'a much longer row', NULL, NULL)")
    assert ranks(archive) != before
    archive.execute("ROLLBACK")
    assert ranks(archive) == before
    archive.execute("SAVEPOINT s; DELETE FROM messages WHERE id > 5")
    assert ranks(archive) == true_ranks(archive)
    archive.execute("ROLLBACK TO s")
    assert ranks(archive) == before
    archive.execute("RELEASE s")


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_ranks_follow_the_changes_of_another_connection(tmp_path: Path, mode: str) -> None:
    path = str(tmp_path / "archive.db")
    writer, reader = apsw.Connection(path), apsw.Connection(path)
    rf.load(reader)
    writer.execute(f"PRAGMA journal_mode = {mode}")
    writer.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, content, thought, extra)")
    for number in range(20):
        writer.execute("INSERT INTO messages VALUES (?, ?, 'needle', NULL)",
                       (number, "hay " * number))  # fmt: skip
        assert ranks(reader) == true_ranks(writer)
    reader.execute("CREATE TEMP VIEW seen AS SELECT id AS rowid, content, thought FROM messages")
    sql = "SELECT rank FROM reasoning_scan('needle', 'seen', 'content, thought') LIMIT 1"
    first = reader.execute(sql).get
    writer.execute("UPDATE messages SET content = 'short'")
    assert reader.execute(sql).get != first


def test_a_scan_can_be_interrupted(archive: apsw.Connection) -> None:
    archive.execute("WITH RECURSIVE n(i) AS (SELECT 11 UNION ALL SELECT i + 1 FROM n LIMIT 2000)"
                    " INSERT INTO messages SELECT i, 'hay', NULL, NULL FROM n")  # fmt: skip

    def stop(*_: Value) -> int:
        archive.interrupt()
        return 1

    archive.create_scalar_function("stop", stop, 0)
    archive.execute("CREATE TEMP VIEW stopping AS SELECT id AS rowid, content, thought"
                    " FROM messages WHERE id < 9 OR stop()")  # fmt: skip
    for columns in ("rowid", "rank"):
        with pytest.raises(apsw.InterruptError):
            archive.execute(f"SELECT {columns} FROM reasoning_scan('hay', 'stopping', ?)",
                            (SPEC,)).fetchall()  # fmt: skip


def test_every_default_spec_can_be_scanned(archive: apsw.Connection) -> None:
    for spec in SPECS:
        names = " , ".join(f"content AS {name}" for name in spec.columns)
        archive.execute("DROP VIEW IF EXISTS v")
        archive.execute(f"CREATE TEMP VIEW v AS SELECT id AS rowid, {names} FROM messages")
        rows = archive.execute("SELECT rowid FROM reasoning_scan('needle', 'v', ?)",
                               (spec.text,)).fetchall()  # fmt: skip
        assert rows == [(1,), (2,)]
