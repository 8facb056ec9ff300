"""The FTS5 auxiliary functions, with FTS5's own bm25() and positions as the oracle.

The oracle for a set of columns is a second table that has only these columns.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import apsw.fts5
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loading_python import find

import sqlite_reasoning_fts as rf

COLUMNS = ("a", "b", "c", "d")
WORDS = ("one", "two", "three", "four", "fore")

Row = tuple[str | None, ...]


# ---- generators ------------------------------------------------------------------------

texts = st.one_of(
    st.none(), st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
)
tables = st.lists(st.tuples(*[texts] * len(COLUMNS)), min_size=1, max_size=12)
sets = st.permutations(range(len(COLUMNS))).flatmap(
    lambda order: st.integers(1, len(COLUMNS)).map(lambda n: tuple(order[:n]))
)
weights = st.lists(
    st.floats(min_value=0, max_value=20, allow_nan=False).map(lambda x: round(x, 3)), max_size=4
)

phrases = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS).map(lambda word: "^" + word),
    st.sampled_from(["t", "fo", "f", "on"]).map(lambda start: start + "*"),
    st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)).map(" + ".join),
)
nears = st.tuples(phrases, phrases, st.integers(0, 3)).filter(
    lambda near: "^" not in near[0] + near[1]
).map(lambda near: f"NEAR({near[0]} {near[1]}, {near[2]})")


def queries(names: Sequence[str]) -> st.SearchStrategy[str]:
    """FTS5 queries whose column filters name no other columns than these.

    Only those for which FTS5 reports the same hits of a row whatever the other rows are. It
    does not for NEAR and NOT below OR (hits of groups that do not match, or of an earlier
    row) and for OR below an inner AND (hits lost where an earlier row did not match).
    """
    filters = st.lists(st.sampled_from(names), min_size=1, unique=True).map(
        lambda chosen: "{" + " ".join(chosen) + "}"
    )
    groups = filtered(filters, nears)
    leaves = st.lists(filtered(filters, phrases), min_size=1, max_size=3)
    ands = leaves.map(" AND ".join)
    ors = st.lists(ands, min_size=1, max_size=3).map(" OR ".join)
    return st.one_of(
        ors,
        groups,
        st.tuples(groups, ors).map(lambda pair: f"{pair[0]} AND ({pair[1]})"),
        st.tuples(ors, ors).map(lambda pair: f"({pair[0]}) NOT ({pair[1]})"),
    )


def filtered(
    filters: st.SearchStrategy[str], inner: st.SearchStrategy[str]
) -> st.SearchStrategy[str]:
    return st.one_of(inner, st.tuples(filters, inner).map(" : ".join))


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Row], tuple[int, ...], str]:
    chosen = draw(sets)
    query = draw(queries([COLUMNS[i] for i in chosen]))
    return draw(tables), chosen, query


# ---- tables ----------------------------------------------------------------------------


def create(
    connection: apsw.Connection, name: str, rows: Sequence[Sequence[Any]], options: str = ""
) -> None:
    """A table over the first columns, with its rows from rowid 1 on."""
    names = COLUMNS[: len(rows[0])]
    connection.execute(f"CREATE VIRTUAL TABLE {name} USING fts5({', '.join(names)}{options})")
    fill(connection, name, rows)


def fill(connection: apsw.Connection, name: str, rows: Sequence[Sequence[Any]]) -> None:
    holes = ", ".join("?" * (len(rows[0]) + 1))
    names = ", ".join(("rowid", *COLUMNS[: len(rows[0])]))
    connection.executemany(
        f"INSERT INTO {name}({names}) VALUES ({holes})",
        [(number, *row) for number, row in enumerate(rows, 1)],
    )


def reduce(connection: apsw.Connection, rows: Sequence[Row], chosen: Sequence[int]) -> None:
    """The oracle's table ``reduced``: the same rows with the chosen columns only."""
    names = [COLUMNS[i] for i in chosen]
    connection.execute(f"CREATE VIRTUAL TABLE reduced USING fts5({', '.join(names)})")
    connection.executemany(
        f"INSERT INTO reduced(rowid, {', '.join(names)})"
        f" VALUES ({', '.join('?' * (len(names) + 1))})",
        [(number, *(row[i] for i in chosen)) for number, row in enumerate(rows, 1)],
    )


def numbers(chosen: Sequence[int]) -> str:
    return " ".join(map(str, chosen))


def within(chosen: Sequence[int], query: str) -> str:
    """The query with each phrase limited to the chosen columns."""
    return "{" + " ".join(COLUMNS[i] for i in chosen) + "} : (" + query + ")"


def ranks(connection: apsw.Connection, sql: str, *values: Any) -> dict[int, float]:
    return dict(connection.execute(sql, values))


def assert_same_ranks(found: dict[int, float], expected: dict[int, float]) -> None:
    assert found.keys() == expected.keys()
    for rowid, rank in expected.items():
        assert math.isclose(found[rowid], rank, rel_tol=1e-12, abs_tol=0), rowid


@pytest.fixture
def table(connection: apsw.Connection) -> apsw.Connection:
    """Three rows of three columns in ``t``."""
    create(
        connection,
        "t",
        [("one two", "one", "three"), ("two", "two one two", ""), ("four", "", "one")],
    )
    return connection


class Opened:
    """A connection with the functions for one example of a property test."""

    def __enter__(self) -> apsw.Connection:
        self.connection = apsw.Connection(":memory:")
        rf.load(self.connection)
        return self.connection

    def __exit__(self, *problem: object) -> None:
        self.connection.close()


property_test = settings(
    max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


# ---- reasoning_bm25 --------------------------------------------------------------------


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


# ---- tables that cannot answer ---------------------------------------------------------


def contentless(connection: apsw.Connection, options: str) -> None:
    create(connection, "t", [("one two", "one"), ("two", "two")], f", content=''{options}")


@pytest.mark.parametrize("detail", ["full", "column", "none"])
@pytest.mark.parametrize(
    "call",
    [
        "reasoning_bm25(t, '0')",
        "reasoning_bm25_rows(t, '0', 9)",
        "reasoning_counts(t, '0')",
    ],
)
def test_a_contentless_table_without_sizes_is_an_error_and_no_constant(
    connection: apsw.Connection, detail: str, call: str
) -> None:
    contentless(connection, f", columnsize=0, detail={detail}")
    name = call.partition("(")[0]
    with pytest.raises(apsw.SQLError, match=rf"^{name}: .*columnsize=0"):
        connection.execute(f"SELECT {call} FROM t('one')").fetchall()


@pytest.mark.parametrize("detail", ["column", "none"])
@pytest.mark.parametrize("call", ["reasoning_bm25(t, '0')", "reasoning_counts(t, '0')"])
def test_a_contentless_table_without_positions_is_an_error_and_not_zero(
    connection: apsw.Connection, detail: str, call: str
) -> None:
    contentless(connection, f", detail={detail}")
    with pytest.raises(apsw.SQLError, match="keeps no positions"):
        connection.execute(f"SELECT {call} FROM t('one')").fetchall()


def test_a_contentless_table_with_positions_and_sizes_answers(
    connection: apsw.Connection,
) -> None:
    contentless(connection, "")
    create(connection, "stored", [("one two", "one"), ("two", "two")])
    sql = "SELECT rowid, reasoning_bm25({0}, '0'), reasoning_origin({0}, '0') FROM {0}('one')"
    assert list(connection.execute(sql.format("t"))) == list(
        connection.execute(sql.format("stored"))
    )


def test_the_origin_needs_no_content_where_the_index_knows_the_columns(
    connection: apsw.Connection,
) -> None:
    contentless(connection, ", columnsize=0, detail=column")
    sql = "SELECT rowid, reasoning_origin(t, '1') FROM t('one OR two')"
    assert list(connection.execute(sql)) == [(1, "both"), (2, "both")]
    assert connection.execute("SELECT reasoning_origin(t, '1') FROM t('a : one')").get == "said"


def test_the_origin_of_an_index_that_knows_no_columns_is_an_error(
    connection: apsw.Connection,
) -> None:
    contentless(connection, ", detail=none")
    with pytest.raises(apsw.SQLError, match="reasoning_origin: .*keeps no positions"):
        connection.execute("SELECT reasoning_origin(t, '1') FROM t('one')").fetchall()


# ---- reasoning_bm25_rows ---------------------------------------------------------------


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'0', 2", "rows is 2, but the table has 3 rows"),
        ("'0'", "third argument must be the number of all rows"),
        ("'0', NULL", "third argument must be the number of all rows"),
        ("'0', 3.5", "third argument must be the number of all rows"),
        ("'0', -1", "third argument must be the number of all rows"),
        ("'0', 'x'", "third argument must be the number of all rows"),
    ],
)
def test_bm25_rows_refuses_a_number_of_rows_that_cannot_be(
    table: apsw.Connection, arguments: str, message: str
) -> None:
    with pytest.raises(apsw.SQLError, match=f"reasoning_bm25_rows: .*{message}"):
        table.execute(f"SELECT reasoning_bm25_rows(t, {arguments}) FROM t('one')").fetchall()


# ---- reasoning_origin ------------------------------------------------------------------


@property_test
@given(tables, sets, queries(COLUMNS))
def test_the_origin_tells_where_the_hits_of_the_row_are(
    rows: list[Row], chosen: tuple[int, ...], query: str
) -> None:
    with Opened() as connection:
        create(connection, "whole", rows)
        connection.register_fts5_function("hits", hits_of_row)
        sql = "SELECT reasoning_origin(whole, ?), hits(whole) FROM whole WHERE whole MATCH ?"
        for origin, hits in connection.execute(sql, (numbers(chosen), query)):
            inside = {column in chosen for phrase in json.loads(hits) for column in phrase}
            assert origin == {
                (True,): "thought", (False,): "said", (False, True): "both"
            }[tuple(sorted(inside))]


def hits_of_row(api: apsw.FTS5ExtensionApi) -> str:
    """For each phrase the columns of its hits, as FTS5's own iterator tells them."""
    columns = []
    for phrase in range(api.phrase_count):
        located = api.phrase_locations(phrase)
        columns.append([c for c, places in enumerate(located) for _ in places])
    return json.dumps(columns)


def test_the_origin_without_a_match_is_null(table: apsw.Connection) -> None:
    assert [row[0] for row in table.execute("SELECT reasoning_origin(t, '0') FROM t")] == [None] * 3


def test_the_origin_is_the_same_when_fts5_sorts(table: apsw.Connection) -> None:
    sql = "SELECT rowid, reasoning_origin(t, '1') FROM t('one OR two') {}"
    assert sorted(table.execute(sql.format("ORDER BY rank"))) == sorted(
        table.execute(sql.format("ORDER BY rowid"))
    )


# ---- reasoning_counts ------------------------------------------------------------------


@property_test
@given(cases())
def test_counts_are_the_length_and_the_hits_of_the_row_in_the_reduced_table(
    case: tuple[list[Row], tuple[int, ...], str],
) -> None:
    rows, chosen, query = case
    with Opened() as connection:
        create(connection, "whole", rows)
        reduce(connection, rows, chosen)
        connection.register_fts5_function("oracle", counts_of_row)
        found = dict(
            connection.execute(
                "SELECT rowid, reasoning_counts(whole, ?) FROM whole WHERE whole MATCH ?",
                (numbers(chosen), within(chosen, query)),
            )
        )
        expected = dict(
            connection.execute("SELECT rowid, oracle(reduced) FROM reduced(?)", (query,))
        )
        assert {
            rowid: list(struct.unpack(f"<{len(blob) // 4}i", blob))
            for rowid, blob in found.items()
        } == {rowid: json.loads(text) for rowid, text in expected.items()}


def counts_of_row(api: apsw.FTS5ExtensionApi) -> str:
    counts = [api.column_size()]
    for phrase in range(api.phrase_count):
        counts.append(sum(len(places) for places in api.phrase_locations(phrase)))
    return json.dumps(counts)


def test_counts_without_a_match_are_the_length_alone(table: apsw.Connection) -> None:
    sql = "SELECT reasoning_counts(t, '0 1') FROM t"
    assert [struct.unpack("<i", row[0]) for row in table.execute(sql)] == [(3,), (4,), (1,)]


def test_counts_refuse_further_arguments(table: apsw.Connection) -> None:
    with pytest.raises(apsw.SQLError, match="reasoning_counts: 3 arguments, 2 are wanted"):
        table.execute("SELECT reasoning_counts(t, '0', 1.0) FROM t('one')").fetchall()


# ---- arguments -------------------------------------------------------------------------

FUNCTIONS = {
    "reasoning_bm25": "reasoning_bm25(t{})",
    "reasoning_bm25_rows": "reasoning_bm25_rows(t{}, 3)",
    "reasoning_origin": "reasoning_origin(t{})",
    "reasoning_counts": "reasoning_counts(t{})",
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("''", "the set is empty"),
        ("'  '", "the set is empty"),
        ("'-0 -1 -2'", "the set is empty"),
        ("'3'", "no column 3 at byte 0; the table has columns 0 to 2"),
        ("'0 -7'", "no column 7 at byte 2"),
        ("'99999999999999999999'", "no column 99999999999999999999 at byte 0"),
        ("'0 0'", "column 0 is named twice, again at byte 2"),
        ("'-1 -1'", "column 1 is named twice, again at byte 3"),
        ("'0 -1'", "numbers with and without '-' at byte 2"),
        ("'-0 1'", "numbers with and without '-' at byte 3"),
        ("'a'", "not a column number at byte 0"),
        ("'0 b'", "not a column number at byte 2"),
        ("'-'", "not a column number at byte 0"),
        ("'--1'", "not a column number at byte 0"),
        ("'+1'", "not a column number at byte 0"),
        ("'0,1'", "unexpected character at byte 1"),
        ("'0' || char(0) || '1'", "unexpected character at byte 1"),
        ("char(0)", "not a column number at byte 0"),
        ("NULL", "columns must be a text"),
        ("x'30'", "columns must be a text"),
        ("0.5", "columns must be a text"),
    ],
)
def test_a_text_that_names_no_column_set_is_an_error(
    table: apsw.Connection, name: str, columns: str, message: str
) -> None:
    call = FUNCTIONS[name].format(f", {columns}")
    with pytest.raises(apsw.SQLError) as caught:
        table.execute(f"SELECT {call} FROM t('one')").fetchall()
    text = str(caught.value)
    assert text.startswith(f"{name}: ")
    assert message in text


@pytest.mark.parametrize("name", FUNCTIONS)
def test_missing_columns_are_an_error(table: apsw.Connection, name: str) -> None:
    with pytest.raises(apsw.SQLError, match=f"{name}: the second argument"):
        table.execute(f"SELECT {name}(t) FROM t('one')").fetchall()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'0', 1, 2", "2 weights for 1 column;"),
        ("'0 1', 1, 2, 3", "3 weights for 2 columns;"),
        ("'0', 'heavy'", "weight 1, of column 0, is not a finite number"),
        ("'1 0', 1.0, NULL", "weight 2, of column 0, is not a finite number"),
        ("'0', x'31'", "weight 1, of column 0, is not a finite number"),
        ("'0', 9e999", "weight 1, of column 0, is not a finite number"),
    ],
)
def test_weights_that_fit_no_column_are_an_error(
    table: apsw.Connection, arguments: str, message: str
) -> None:
    with pytest.raises(apsw.SQLError, match=f"reasoning_bm25: {message}"):
        table.execute(f"SELECT reasoning_bm25(t, {arguments}) FROM t('one')").fetchall()


# ---- hosts -----------------------------------------------------------------------------


@pytest.fixture(scope="session")
def old_host(request: pytest.FixtureRequest) -> Iterator[Any]:
    yield find(request.config.cache)


def test_another_sqlite_gives_the_same_answers(
    connection: apsw.Connection, old_host: Any, tmp_path: Path
) -> None:
    rows = [
        [" ".join(WORDS[(i * 7 + j * k) % len(WORDS)] for k in range((i + j) % 6)) for j in range(3)]
        for i in range(40)
    ]
    sql = (
        "SELECT rowid, reasoning_bm25(t, '0 1'), reasoning_bm25(t, '-0', 2.0),"
        " reasoning_bm25_rows(t, '2', 90), reasoning_origin(t, '2'),"
        " hex(reasoning_counts(t, '1')) FROM t(?) ORDER BY rowid"
    )
    asked = ["one", "one + two", "NEAR(one three, 2) OR f*", "two NOT a : fore", "^three"]
    other = old_host.run(
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
