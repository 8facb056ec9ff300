"""The FTS5 auxiliary functions: hits and lengths of a row, and what they refuse.

The ranks have their own tests.
"""

from __future__ import annotations

import json
import struct

import apsw
import apsw.fts5
import pytest
from auxiliary_tables import (
    COLUMNS,
    Opened,
    Row,
    cases,
    contentless,
    create,
    numbers,
    property_test,
    queries,
    reduce,
    sets,
    small_table,
    tables,
    within,
)
from hypothesis import given


@pytest.fixture
def table(connection: apsw.Connection) -> apsw.Connection:
    return small_table(connection)


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
            assert (
                origin
                == {(True,): "thought", (False,): "said", (False, True): "both"}[
                    tuple(sorted(inside))
                ]
            )


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
            rowid: list(struct.unpack(f"<{len(blob) // 4}i", blob)) for rowid, blob in found.items()
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


# ---- reasoning_tokens ------------------------------------------------------------------


def test_tokens_are_those_of_all_rows_even_before_the_transaction_ends(
    connection: apsw.Connection,
) -> None:
    connection.execute("BEGIN; CREATE VIRTUAL TABLE u USING fts5(a, b, content='')")
    connection.execute("INSERT INTO u(rowid, a, b) VALUES (1, 'one two', 'three'), (2, 'one', '')")
    for columns, tokens in (("0", 3), ("1", 1), ("0 1", 4)):
        assert (
            connection.execute(f"SELECT reasoning_tokens(u, '{columns}') FROM u LIMIT 1").get
            == tokens
        )


# ---- tables that cannot answer ---------------------------------------------------------


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
    with pytest.raises(apsw.SQLError, match=r"reasoning_origin: .*keeps no positions"):
        connection.execute("SELECT reasoning_origin(t, '1') FROM t('one')").fetchall()


# ---- arguments -------------------------------------------------------------------------

FUNCTIONS = {
    "reasoning_bm25": "reasoning_bm25(t{})",
    "reasoning_bm25_rows": "reasoning_bm25_rows(t{}, 3)",
    "reasoning_origin": "reasoning_origin(t{})",
    "reasoning_counts": "reasoning_counts(t{})",
    "reasoning_tokens": "reasoning_tokens(t{})",
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
        ("1e300", "columns must be a text"),
        ("3.0", "no column 3 at byte 0"),
        ("'0.0'", "unexpected character at byte 1"),
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
@pytest.mark.parametrize("number", [0, 2, -1])
def test_a_whole_number_names_one_column_whether_integer_or_real(
    table: apsw.Connection, name: str, number: int
) -> None:
    sql = f"SELECT {FUNCTIONS[name].format(', ?')} FROM t('one')"
    expected = table.execute(sql, (str(number),)).fetchall()
    assert expected
    assert table.execute(sql, (number,)).fetchall() == expected
    assert table.execute(sql, (float(number),)).fetchall() == expected


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
