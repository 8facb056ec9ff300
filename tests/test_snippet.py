"""Snippets: those of FTS5's snippet() in the newest SQLite, on every host and for some columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlite_reasoning_fts as rf

if TYPE_CHECKING:
    from loading_python import LoadingPython

PIECES = (
    "one", "two", "three", "four", "One", "tw", "é", "e\u0301", "漢字", "“", ".", ": ", ". ", "\n",
    " ", " ", " ", "-", "\0", "five six seven. ", "word " * 12,
)  # fmt: skip
QUERIES = (
    "one", "two OR three", '"one two"', '"one two" OR "two three"', "tw*", "one AND three",
    "one NOT four", "NEAR(one two, 3)", "^one", "four", '"two three" OR two',
)  # fmt: skip
SPECS = ("a, b", "a, b, tokenize='porter'", "a, b, tokenize=ascii")

texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
marks = st.sampled_from([("[", "]", "..."), ("", "", ""), ("<b>", "</b>", "…"), (None, "x", None)])
tokens = st.sampled_from([0, 1, 2, 5, 16, 63, 64, 65, -1])


def loaded() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    rf.load(connection)
    return connection


@settings(max_examples=400, deadline=None)
@given(text=texts, query=st.sampled_from(QUERIES), marks=marks, tokens=tokens)
def test_a_text_has_the_snippet_of_a_table_that_holds_it(
    text: str, query: str, marks: tuple[str | None, ...], tokens: int
) -> None:
    connection = loaded()
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(text)")
    connection.execute("INSERT INTO t VALUES (?)", (text,))
    expected = connection.execute(
        "SELECT snippet(t, 0, ?, ?, ?, ?) FROM t(?)", (*marks, tokens, query)
    ).get
    found = connection.execute(
        "SELECT CASE WHEN reasoning_match(?1, ?2)"
        " THEN reasoning_snippet_text(?1, ?2, ?3, ?4, ?5, ?6) END",
        (query, text, *marks, tokens),
    ).get
    assert found == expected


@settings(max_examples=300, deadline=None)
@given(
    rows=st.tuples(texts, texts),
    spec=st.sampled_from(SPECS),
    query=st.sampled_from((*QUERIES, "a : one", "b : (one OR two)", "a : one b : two")),
    marks=marks,
    tokens=tokens,
)
def test_a_row_and_a_table_have_the_snippets_of_fts5(
    rows: tuple[str, str], spec: str, query: str, marks: tuple[str | None, ...], tokens: int
) -> None:
    connection = loaded()
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5({spec})")
    connection.execute("INSERT INTO t VALUES (?, ?)", rows)
    given = (*marks, tokens)
    expected = connection.execute(
        "SELECT snippet(t, -1, ?, ?, ?, ?) FROM t(?)", (*given, query)
    ).fetchall()
    if not expected:
        return
    columns = connection.execute(
        "SELECT reasoning_snippet_columns(?, ?, ?, ?, ?, ?, ?, ?)", (spec, query, *given, *rows)
    ).fetchall()
    assert columns == expected
    for number, of_fts5 in (("'0 1'", -1), ("'0'", 0), ("'1'", 1), ("'-0'", 1)):
        limited = connection.execute(
            f"SELECT reasoning_snippet(t, {number}, ?, ?, ?, ?) FROM t(?)", (*given, query)
        ).get
        wanted = connection.execute(
            f"SELECT snippet(t, {of_fts5}, ?, ?, ?, ?) FROM t(?)", (*given, query)
        ).get
        assert limited == wanted


def test_an_unindexed_column_is_not_shown(connection: apsw.Connection) -> None:
    sql = "SELECT reasoning_snippet_columns('a UNINDEXED, b', 'one', '[', ']', '…', 5, ?, ?)"
    assert connection.execute(sql, ("one two", "three one")).get == "three [one]"
    assert connection.execute(sql, ("one two", "three")).get == "three"


def test_where_nothing_matches_the_head_is_shown(connection: apsw.Connection) -> None:
    sql = "SELECT reasoning_snippet_text('zebra', ?, '[', ']', '…', 3)"
    assert connection.execute(sql, ("  one two, three. four",)).get == "  one two, three…"
    assert connection.execute(sql, ("one two",)).get == "one two"
    assert connection.execute(sql, ("",)).get == ""
    assert connection.execute(sql, (None,)).get is None


def test_bytes_that_are_no_utf_8_are_kept(connection: apsw.Connection) -> None:
    sql = "SELECT CAST(reasoning_snippet_text('one', CAST(? AS TEXT), '[', ']', '', 9) AS BLOB)"
    assert connection.execute(sql, (b"\xff one \xc3",)).get == b"\xff [one] \xc3"


def test_a_contentless_table_has_no_snippets(connection: apsw.Connection) -> None:
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a, content='')")
    connection.execute("INSERT INTO t(rowid, a) VALUES (1, 'one two')")
    marks = "'', '', '', 5"
    sql = f"SELECT snippet(t, 0, {marks}), reasoning_snippet(t, '0', {marks}) FROM t('one')"
    assert connection.execute(sql).fetchall() == [(None, None)]


def test_a_table_of_external_content_shows_what_stands_there_now(
    connection: apsw.Connection,
) -> None:
    connection.execute("CREATE TABLE m(id INTEGER PRIMARY KEY, a)")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a, content='m', content_rowid='id')")
    connection.execute("INSERT INTO m VALUES (1, 'one two three')")
    connection.execute("INSERT INTO t(rowid, a) SELECT id, a FROM m")
    sql = "SELECT reasoning_snippet(t, '0', '[', ']', '', 5) FROM t('three')"
    assert connection.execute(sql).get == "one two [three]"
    connection.execute("UPDATE m SET a = 'other'")
    assert connection.execute(sql).get == "other"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT reasoning_snippet_text(NULL, 'x', '', '', '', 5)", "the query is NULL"),
        ("SELECT reasoning_snippet_text('\"x', 'x', '', '', '', 5)", "unterminated string"),
        ("SELECT reasoning_snippet_columns('a', 'x', '', '', '', 5)", "too few arguments"),
        ("SELECT reasoning_snippet_columns(NULL, 'x', '', '', '', 5, 'x')", "the spec is NULL"),
        ("SELECT reasoning_snippet_columns('a', 'x', '', '', '', 5, 1, 2)", "1 columns, and 2"),
        ("SELECT reasoning_snippet(t, '0', '') FROM t('x')", "pass the table, a column set"),
        ("SELECT reasoning_snippet(t, '4', '', '', '', 5) FROM t('x')", "no column 4"),
    ],
)
def test_a_wrong_call_is_explained(connection: apsw.Connection, sql: str, message: str) -> None:
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
    connection.execute("INSERT INTO t VALUES ('x')")
    with pytest.raises(apsw.SQLError, match=message):
        connection.execute(sql).fetchall()


def test_another_sqlite_makes_the_same_snippets(loading_python: LoadingPython) -> None:
    cases = [
        ('"one two" OR "two three"', "zero one two three four one two three. End of it. one", 4),
        ("one", "a. b c d. e f one g h i j k. one", 5),
        ("tw*", "two two, twice é two", 2),
    ]
    connection = loaded()
    sql = "SELECT reasoning_snippet_text(?, ?, '[', ']', '...', ?)"
    here = [connection.execute(sql, case).get for case in cases]
    code = (
        "import json, sqlite3\n"
        "import sqlite_reasoning_fts as rf\n"
        "connection = sqlite3.connect(':memory:')\n"
        "rf.load(connection)\n"
        f"found = [connection.execute({sql!r}, case).fetchone()[0] for case in {cases!r}]\n"
        "print(json.dumps(found))"
    )
    assert loading_python.run(code) == here
