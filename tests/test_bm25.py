"""reasoning_bm25 and reasoning_bm25_rows, with FTS5's bm25() as the oracle."""

from __future__ import annotations

import apsw
import pytest
from auxiliary_tables import (
    COLUMNS,
    WORDS,
    Opened,
    Row,
    assert_same_ranks,
    cases,
    create,
    nears,
    numbers,
    phrases,
    property_test,
    queries,
    ranks,
    reduce,
    sets,
    small_table,
    tables,
    weights,
    within,
)
from hypothesis import given
from hypothesis import strategies as st
from loading_python import LoadingPython


@pytest.fixture
def table(connection: apsw.Connection) -> apsw.Connection:
    return small_table(connection)


@property_test
@given(cases(), weights)
def test_bm25_equals_bm25_of_the_table_reduced_to_the_columns(
    case: tuple[list[Row], tuple[int, ...], str], given_weights: list[float]
) -> None:
    rows, chosen, query = case
    arguments = "".join(f", {weight!r}" for weight in given_weights[: len(chosen)])
    with Opened() as connection:
        create(connection, "whole", rows)
        reduce(connection, rows, chosen)
        assert_same_ranks(
            ranks(
                connection,
                f"SELECT rowid, reasoning_bm25(whole, ?{arguments}) FROM whole WHERE whole MATCH ?",
                numbers(chosen),
                within(chosen, query),
            ),
            ranks(
                connection,
                f"SELECT rowid, bm25(reduced{arguments}) FROM reduced WHERE reduced MATCH ?",
                query,
            ),
        )


@property_test
@given(tables, queries(COLUMNS))
def test_bm25_of_all_columns_equals_bm25_to_the_last_bit(rows: list[Row], query: str) -> None:
    with Opened() as connection:
        create(connection, "whole", rows)
        sql = "SELECT rowid, {} FROM whole WHERE whole MATCH ?"
        assert ranks(connection, sql.format("reasoning_bm25(whole, '0 1 2 3')"), query) == ranks(
            connection, sql.format("bm25(whole)"), query
        )


@property_test
@given(tables, sets, st.one_of(phrases, nears))
def test_bm25_of_one_phrase_needs_no_column_filter(
    rows: list[Row], chosen: tuple[int, ...], query: str
) -> None:
    with Opened() as connection:
        create(connection, "whole", rows)
        reduce(connection, rows, chosen)
        sql = "SELECT rowid, {0}({1}) FROM {2} WHERE {2} MATCH ?"
        found = ranks(
            connection,
            sql.format("reasoning_bm25", f"whole, '{numbers(chosen)}'", "whole"),
            query,
        )
        expected = ranks(connection, sql.format("bm25", "reduced", "reduced"), query)
        outside = found.keys() - expected.keys()
        assert all(found[rowid] == 0.0 for rowid in outside)
        assert_same_ranks({r: found[r] for r in found.keys() - outside}, expected)


def test_bm25_takes_the_columns_to_leave_out(table: apsw.Connection) -> None:
    sql = "SELECT rowid, reasoning_bm25(t, ?) FROM t('one')"
    assert ranks(table, sql, "-2") == ranks(table, sql, "0 1")
    assert ranks(table, sql, "-0 -1") == ranks(table, sql, "2")
    assert ranks(table, sql, 1) == ranks(table, sql, "1")
    assert ranks(table, sql, -1) == ranks(table, sql, "-1")


def test_bm25_gives_each_weight_to_the_column_at_its_place_in_the_text(
    table: apsw.Connection,
) -> None:
    sql = "SELECT rowid, {} FROM t('one OR two')"
    assert_same_ranks(
        ranks(table, sql.format("reasoning_bm25(t, '1 0', 3.0, 0.5)")),
        ranks(table, sql.format("reasoning_bm25(t, '0 1', 0.5, 3.0)")),
    )


def test_bm25_takes_missing_weights_as_one(table: apsw.Connection) -> None:
    sql = "SELECT rowid, {} FROM t('one OR two')"
    assert ranks(table, sql.format("reasoning_bm25(t, '0 1', 2)")) == ranks(
        table, sql.format("reasoning_bm25(t, '0 1', 2.0, 1.0)")
    )


def test_bm25_without_a_match_is_zero_as_bm25_is(table: apsw.Connection) -> None:
    sql = "SELECT reasoning_bm25(t, '0') = 0.0, bm25(t) = 0.0 FROM t"
    assert list(table.execute(sql)) == [(1, 1)] * 3


def test_bm25_of_a_scan_asks_an_empty_index_nothing(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE content(a); INSERT INTO content VALUES ('one')")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a, content='content')")
    assert connection.execute("SELECT reasoning_bm25(t, '0') FROM t").get == 0.0


def test_a_phrase_outside_the_columns_adds_nothing(table: apsw.Connection) -> None:
    sql = "SELECT rowid, reasoning_bm25(t, '0 1') FROM t WHERE t MATCH ?"
    assert ranks(table, sql, "one OR c : three")[1] == ranks(table, sql, "one")[1]
    assert ranks(table, sql, "c : three") == {1: 0.0}


def test_several_sets_in_one_statement_do_not_disturb_each_other(table: apsw.Connection) -> None:
    sets_of_one = [numbers(chosen) for chosen in ((0,), (1,), (0, 1), (1, 2), (2, 0))]
    calls = ", ".join(f"reasoning_bm25(t, '{s}'), reasoning_origin(t, '{s}')" for s in sets_of_one)
    for number, row in enumerate(table.execute(f"SELECT {calls} FROM t('one OR two')"), 1):
        for place, one in enumerate(sets_of_one):
            alone = table.execute(
                f"SELECT reasoning_bm25(t, '{one}'), reasoning_origin(t, '{one}')"
                f" FROM t('one OR two') WHERE rowid = {number}"
            ).fetchone()
            assert row[2 * place : 2 * place + 2] == alone


def test_more_sets_in_one_statement_than_are_kept_are_still_right(
    table: apsw.Connection,
) -> None:
    texts_of_one = [" " * blanks + "0" for blanks in range(40)]
    calls = ", ".join(f"reasoning_bm25(t, '{text}')" for text in texts_of_one)
    for row in table.execute(f"SELECT {calls}, reasoning_bm25(t, '0') FROM t('one')"):
        assert len(set(row)) == 1


def test_a_set_that_changes_with_the_row_is_read_anew(table: apsw.Connection) -> None:
    sql = "SELECT rowid, reasoning_bm25(t, {}) FROM t('one OR two')"
    changing = ranks(table, sql.format("rowid - 1"))
    assert changing == {n: ranks(table, sql.format(f"'{n - 1}'"))[n] for n in (1, 2, 3)}


def test_bm25_serves_as_the_rank_of_a_query(table: apsw.Connection) -> None:
    by_rank = table.execute(
        "SELECT rowid, rank FROM t WHERE t MATCH 'one OR two'"
        " AND rank MATCH 'reasoning_bm25(''0 1'', 2.0)' ORDER BY rank"
    ).fetchall()
    by_call = table.execute(
        "SELECT rowid, reasoning_bm25(t, '0 1', 2.0) AS r FROM t('one OR two') ORDER BY r"
    ).fetchall()
    assert by_rank == by_call
    assert len(by_rank) == 3


@pytest.mark.parametrize("detail", ["none", "column"])
@pytest.mark.parametrize("columnsize", ["0", "1"])
@pytest.mark.parametrize("query", ["one", "one OR two", "two NOT three", "t*"])
def test_tables_without_positions_take_them_from_the_content(
    connection: apsw.Connection, detail: str, columnsize: str, query: str
) -> None:
    rows = [("one two", "one", "two"), ("two", "three", ""), ("one", "two two", "one")]
    create(connection, "t", rows)
    create(connection, "small", rows, f", detail={detail}, columnsize={columnsize}")
    sql = (
        "SELECT rowid, reasoning_bm25({0}, '0 2'), reasoning_origin({0}, '2'),"
        " reasoning_counts({0}, '-1') FROM {0}(?) ORDER BY rank"
    )
    assert sorted(connection.execute(sql.format("small"), (query,))) == sorted(
        connection.execute(sql.format("t"), (query,))
    )


def test_external_content_is_read_from_its_table(connection: apsw.Connection) -> None:
    connection.execute(
        "CREATE TABLE content(id INTEGER PRIMARY KEY, a, b);"
        "INSERT INTO content VALUES (1, 'one two', 'one'), (2, 'two', 'one one');"
        "CREATE VIRTUAL TABLE e USING"
        " fts5(a, b, content=content, content_rowid=id, detail=none, columnsize=0);"
        "INSERT INTO e(e) VALUES ('rebuild')"
    )
    create(connection, "t", [("one two", "one"), ("two", "one one")])
    sql = "SELECT rowid, reasoning_bm25({0}, '1'), reasoning_counts({0}, '1') FROM {0}('one')"
    assert list(connection.execute(sql.format("e"))) == list(connection.execute(sql.format("t")))


def test_a_row_whose_content_has_changed_has_no_hits_and_no_origin(
    connection: apsw.Connection,
) -> None:
    connection.execute(
        "CREATE TABLE content(id INTEGER PRIMARY KEY, a, b);"
        "INSERT INTO content VALUES (1, 'one', '');"
        "CREATE VIRTUAL TABLE e USING"
        " fts5(a, b, content=content, content_rowid=id, detail=none);"
        "INSERT INTO e(e) VALUES ('rebuild');"
        "UPDATE content SET a = 'changed'"
    )
    sql = "SELECT reasoning_bm25(e, '0'), reasoning_origin(e, '0') FROM e('one')"
    assert connection.execute(sql).fetchone() == (0.0, None)


def test_unindexed_columns_have_no_tokens(connection: apsw.Connection) -> None:
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a, b UNINDEXED)")
    connection.execute("INSERT INTO t VALUES ('one', 'two two'), ('three', 'four')")
    sql = "SELECT rowid, {} FROM t('one')"
    assert ranks(connection, sql.format("reasoning_bm25(t, '0 1')")) == ranks(
        connection, sql.format("bm25(t)")
    )


@property_test
@given(cases(), st.integers(0, 30))
def test_bm25_rows_equals_bm25_of_the_table_with_empty_rows_added(
    case: tuple[list[Row], tuple[int, ...], str], empty: int
) -> None:
    rows, chosen, query = case
    with Opened() as connection:
        create(connection, "whole", rows)
        reduce(connection, rows, chosen)
        connection.executemany(
            "INSERT INTO reduced(rowid) VALUES (?)", [(1000 + i,) for i in range(empty)]
        )
        assert_same_ranks(
            ranks(
                connection,
                "SELECT rowid, reasoning_bm25_rows(whole, ?, ?) FROM whole WHERE whole MATCH ?",
                numbers(chosen),
                len(rows) + empty,
                within(chosen, query),
            ),
            ranks(connection, "SELECT rowid, bm25(reduced) FROM reduced(?)", query),
        )


def test_bm25_rows_takes_weights_after_the_rows(table: apsw.Connection) -> None:
    sql = "SELECT rowid, {} FROM t('one OR two')"
    assert ranks(table, sql.format("reasoning_bm25_rows(t, '0 1', 3, 2.0, 0.5)")) == ranks(
        table, sql.format("reasoning_bm25(t, '0 1', 2.0, 0.5)")
    )


def test_bm25_rows_may_differ_between_calls_of_one_statement(table: apsw.Connection) -> None:
    calls = [f"reasoning_bm25_rows(t, '0', {rows})" for rows in (3, 30, 300)]
    together = table.execute(f"SELECT {', '.join(calls)} FROM t('four')").fetchone()
    alone = [table.execute(f"SELECT {call} FROM t('four')").get for call in calls]
    assert list(together) == alone
    assert len(set(alone)) == 3


def test_bm25_rows_takes_the_number_of_rows_as_a_real_too(table: apsw.Connection) -> None:
    sql = "SELECT rowid, reasoning_bm25_rows(t, '0', ?) FROM t('one OR two')"
    expected = table.execute(sql, (30,)).fetchall()
    assert table.execute(sql, (30.0,)).fetchall() == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'0', 2", "rows is 2, but the table has 3 rows"),
        ("'0'", "third argument must be the number of all rows"),
        ("'0', NULL", "third argument must be the number of all rows"),
        ("'0', 3.5", "third argument must be the number of all rows"),
        ("'0', 9e999", "third argument must be the number of all rows"),
        ("'0', -1", "third argument must be the number of all rows"),
        ("'0', 'x'", "third argument must be the number of all rows"),
    ],
)
def test_bm25_rows_refuses_a_number_of_rows_that_cannot_be(
    table: apsw.Connection, arguments: str, message: str
) -> None:
    with pytest.raises(apsw.SQLError, match=f"reasoning_bm25_rows: .*{message}"):
        table.execute(f"SELECT reasoning_bm25_rows(t, {arguments}) FROM t('one')").fetchall()


def test_another_sqlite_gives_the_same_answers(
    connection: apsw.Connection, loading_python: LoadingPython
) -> None:
    rows = [
        [" ".join(WORDS[(i * 7 + j * k) % 5] for k in range((i + j) % 6)) for j in range(3)]
        for i in range(40)
    ]
    sql = (
        "SELECT rowid, reasoning_bm25(t, '0 1'), reasoning_bm25(t, '-0', 2.0),"
        " reasoning_bm25_rows(t, '2', 90), reasoning_origin(t, '2'),"
        " hex(reasoning_counts(t, '1')) FROM t(?) ORDER BY rowid"
    )
    asked = ["one", "one + two", "NEAR(one three, 2) OR f*", "two NOT a : fore", "^three"]
    other = loading_python.run(
        f"""
import json, sqlite3
import sqlite_reasoning_fts as rf
connection = sqlite3.connect(":memory:")
rf.load(connection)
connection.execute("CREATE VIRTUAL TABLE t USING fts5(a, b, c)")
connection.executemany("INSERT INTO t VALUES (?, ?, ?)", {rows!r})
print(json.dumps([connection.execute({sql!r}, (q,)).fetchall() for q in {asked!r}]))
"""
    )
    create(connection, "t", rows)
    own = [[list(row) for row in connection.execute(sql, (query,))] for query in asked]
    assert own == other
    assert all(own)
