"""The library's C functions, called through cffi without SQLite."""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Callable

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts import native
from sqlite_reasoning_fts._version import __version__


def test_the_version_is_the_packages() -> None:
    assert native.version() == __version__


def test_ranks_equal_fts5_bm25_to_the_last_bit(connection: apsw.Connection) -> None:
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
    words = ["one", "two", "three", "four"]
    texts = [" ".join(words[(i * k) % 4] for k in range(i % 7)) for i in range(50)]
    connection.executemany("INSERT INTO t(rowid, a) VALUES (?, ?)", list(enumerate(texts, 1)))
    asked = ["three", "four", "two"]
    rows = connection.execute(
        "SELECT bm25(t), reasoning_counts(t, '0') FROM t(?)", (" OR ".join(asked),)
    ).fetchall()
    counts = [struct.unpack("<4i", blob) for _, blob in rows]
    found = native.bm25(
        rows=len(texts),
        average_tokens=sum(len(text.split()) for text in texts) / len(texts),
        document_frequencies=[sum(word in text.split() for text in texts) for word in asked],
        frequencies=[hits for _, *row in counts for hits in row],
        lengths=[length for length, *_ in counts],
    )
    assert len(rows) > 20
    assert found == [rank for rank, _ in rows]


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.integers(1, 50), st.integers(1, 500))
def test_a_rank_is_never_positive(rows: int, holding: int, hits: int, length: int) -> None:
    [rank] = native.bm25(rows, 10.0, [min(holding, rows)], [hits], [length])
    assert rank < 0


def test_a_phrase_without_hits_adds_nothing() -> None:
    one = native.bm25(10, 4.0, [2], [3], [5])
    assert native.bm25(10, 4.0, [2, 7], [3, 0], [5]) == one


def test_a_table_without_tokens_has_no_length_to_compare_with() -> None:
    assert native.bm25(3, 0.0, [1], [0], [0]) == [0.0]
    assert native.bm25(3, 0.0, [1], [2], [5]) == native.bm25(3, 5.0, [1], [2], [5])


def test_more_hits_than_rows_take_fts5s_floor() -> None:
    assert native.bm25(3, 5.0, [7], [2], [5]) == native.bm25(100, 5.0, [100], [2], [5])


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_query_without_phrases_ranks_all_rows_zero(count: int) -> None:
    assert native.bm25(10, 2.0, [], [], [1] * count) == [0.0] * count


def test_arrays_of_the_right_type_are_taken_as_they_are() -> None:
    assert native.bm25(
        9, 2.0, array("q", [1, 2]), array("d", [1, 2, 0, 1]), array("d", [3, 4])
    ) == native.bm25(9, 2.0, [1, 2], [1, 2, 0, 1], [3, 4])


def test_frequencies_that_do_not_fit_are_an_error() -> None:
    with pytest.raises(ValueError, match="3 frequencies for 2 rows and 2 phrases; give 4"):
        native.bm25(9, 2.0, [1, 2], [1, 2, 0], [3, 4])


SPECS = ("text", "text, tokenize=ascii", "text, tokenize='unicode61 remove_diacritics 2'")
QUERIES = ("cafe", "one NOT two", '"one two" OR caf*', "NEAR(one two, 1)", "^one", "text : x1")
PIECES = ("cafe", "café", "one", "two", "x1", " ", "-", "\0", "ſ", "漢字", "e\u0301", "\n")


@settings(max_examples=200, deadline=None)
@given(
    spec=st.sampled_from(SPECS),
    query=st.sampled_from(QUERIES),
    text=st.lists(st.sampled_from(PIECES), max_size=9).map("".join),
)
def test_a_query_without_sqlite_says_what_the_sql_function_says(
    spec: str, query: str, text: str
) -> None:
    connection = apsw.Connection(":memory:")
    rf.load(connection)
    sql = "SELECT reasoning_match_columns(?, ?, CAST(? AS TEXT))"
    expected = connection.execute(sql, (spec, query, text.encode())).get
    assert native.match(query, text, spec=spec) == bool(expected)


def test_one_query_is_asked_about_many_rows() -> None:
    with native.Query("thought : lock", "content, thought") as query:
        rows = [("lock", None), (None, "a lock"), (b"x\x00lock", b"\xfflock")]
        assert [query.match(*row) for row in rows] == [False, True, True]


def test_the_tree_is_that_of_the_sql_function(connection: apsw.Connection) -> None:
    text = '{content thought} : ("a b" OR c*) NOT d'
    sql = "SELECT reasoning_parse('content, thought', ?)"
    expected = json.loads(connection.execute(sql, (text,)).get)
    assert native.parse(text, "content, thought") == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: native.parse('"a'), "unterminated string at byte 0"),
        (lambda: native.parse("a", "text, nothing=1"), "spec: "),
        (lambda: native.match("a", "x", "y"), "2 texts are given; pass one for each column"),
        (lambda: native.snippet("a", "x", "y"), "2 texts are given; pass one for each column"),
        (lambda: native.tokenize("a", "porter"), "cannot open the tokenizer porter"),
        (lambda: native.tokenize("a", "unicode61 remove_diacritics 3"), "unicode61"),
    ],
)
def test_a_wrong_use_raises_with_a_reason(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_closed_query_cannot_be_asked() -> None:
    query = native.Query("a")
    query.close()
    query.close()
    with pytest.raises(ValueError, match="closed"):
        query.match("a")


def test_the_snippet_is_that_of_the_sql_function(connection: apsw.Connection) -> None:
    rows = [("one two three. four five", "six"), (None, "four four"), ("none", None)]
    sql = "SELECT reasoning_snippet_columns('a, b', 'four OR two', '<', '>', '…', 3, ?, ?)"
    for row in rows:
        found = native.snippet(
            "four OR two", *row, spec="a, b", open="<", close=">", ellipsis="…", tokens=3
        )
        assert found.decode() == connection.execute(sql, row).get
    assert native.snippet("x", b"\xff x") == b"\xff [x]"
