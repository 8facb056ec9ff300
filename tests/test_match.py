"""reasoning_match and reasoning_match_columns answer as a real FTS5 table does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import apsw
import oracle
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import SPECS, Oracle, Spec, Value

import sqlite_reasoning_fts as rf


def many(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


def error_of(connection: apsw.Connection, sql: str, *values: Value) -> str:
    with pytest.raises(apsw.SQLError) as caught:
        connection.execute(sql, values).fetchall()
    return str(caught.value)


# ---- the oracle ---------------------------------------------------------------------------------


@many(400)
@given(data=st.data(), spec=oracle.specs)
def test_a_query_matches_the_rows_that_fts5_matches(
    real: Oracle, data: st.DataObject, spec: Spec
) -> None:
    query = data.draw(oracle.queries(spec.columns))
    filled = oracle.rows(spec).filter(lambda row: any(value is not None for value in row))
    for row in data.draw(st.lists(filled, min_size=4, max_size=4)):
        assert oracle.ours(real.connection, spec, query, row) == real.verdict(spec, query, row)


@many(600)
@given(data=st.data(), spec=oracle.specs)
def test_a_broken_query_is_the_same_kind_of_error(
    real: Oracle, data: st.DataObject, spec: Spec
) -> None:
    query = data.draw(
        oracle.hostile_queries(spec.columns).filter(lambda query: not query.startswith("*"))
    )
    row = ("one two",) * len(spec.columns)
    assert oracle.ours(real.connection, spec, query, row) == real.verdict(spec, query, row)


@many(300)
@given(query=st.text(max_size=12), text=st.text(max_size=12))
def test_any_text_as_a_query_ends_as_in_fts5(real: Oracle, query: str, text: str) -> None:
    if query.startswith("*"):
        return
    try:
        query.encode(), text.encode()
    except UnicodeEncodeError:
        return
    got = oracle.ours(real.connection, SPECS[0], query, (text,))
    assert got == real.verdict(SPECS[0], query, (text,))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.text)
@many(150)
@given(data=st.data())
def test_any_bytes_are_read_as_fts5_reads_them(
    real: Oracle, spec: Spec, data: st.DataObject
) -> None:
    piece = st.one_of(
        st.sampled_from([b"one", b"sun", b"se", b" ", b"\xc5\xbf", b"\xe2\x84\xaa", b"\xcc\x81"]),
        st.binary(max_size=3),
    )
    blob = data.draw(st.lists(piece, min_size=1, max_size=8).map(b"".join))
    query = data.draw(st.sampled_from(["one", "sun", "s*", "k*", "se OR one", "sun NOT one"]))
    row = (blob,) + ("two",) * (len(spec.columns) - 1)
    assert oracle.ours(real.connection, spec, query, row) == real.verdict(spec, query, row)


@pytest.mark.parametrize(
    "query",
    [
        "one AND NOT two", "NOT one", "(one OR two) three", "one (two)", "one NEAR three",
        "NEAR(one two)", "NEAR(one+two)", "NEAR(one two, x)", "NEAR(one two, -1)", "near(one two)",
        '"NEAR"(one two)', "^one", "^ one", "^(one)", "NEAR(^one)", "one^", "text : one",
        "TEXT:one", "text : (one two)", "text : text : one", "text:(text:one)", "-text : one",
        "-text:(one)", "{text} : one", "{} : one", "{text text} : one", "text:one two",
        "one : text:(two)", "foo-bar", "foo.bar", "50%", "it's", "", " ", '""', '"" AND one',
        'one ""', '"" one', '"" OR one', 'one NOT ""', '"" NOT one', 'NEAR("" one)', '"" + one',
        'one + ""', 'one* + ""', 'one + ""*', '"on"*', '"on*"', "one two OR three", "one AND two",
        "one\x00garbage(", "\x00", "one AND", "AND", "OR OR OR", "a b : c", "+", "one +", "one + *",
        "one * *", "{text", '"one', '"one""', '"one"""', "one\ttwo", "one\x0btwo", "ONE", "and",
    ],
)  # fmt: skip
def test_the_grammar_is_that_of_fts5(real: Oracle, query: str) -> None:
    for text in ("one two three", "two", "foo bar"):
        expected = real.verdict(SPECS[0], query, (text,))
        assert oracle.ours(real.connection, SPECS[0], query, (text,)) == expected


def test_a_token_is_compared_up_to_the_limit_of_fts5(real: Oracle) -> None:
    long = "a" * 32768
    for query, text in ((long + "x", long + "y"), (long + "x", long), (long[:-1], long)):
        expected = real.verdict(SPECS[0], query, (text,))
        assert oracle.ours(real.connection, SPECS[0], query, (text,)) == expected


# ---- values ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["{} zebrafish", "{}" + 9 * " zebrafish", "zebrafish {}"])
def test_the_beginning_that_a_caret_asks_for_is_that_of_the_whole_text(
    connection: apsw.Connection, text: str
) -> None:
    long = text.format("and so on " * 1000)
    found = connection.execute("SELECT reasoning_match('^zebrafish', ?)", (long,)).fetchall()
    assert found == [(long.startswith("zebrafish"),)]


def test_one_text_is_a_table_with_the_default_tokenizer(connection: apsw.Connection) -> None:
    sql = "SELECT reasoning_match(?, ?)"
    assert connection.execute(sql, ("orcamento", "O Orçamento")).get == 1
    assert connection.execute(sql, ("text : two", "one two")).get == 1
    assert connection.execute(sql, ("three", "one two")).get == 0


def test_a_null_text_is_null(connection: apsw.Connection) -> None:
    assert connection.execute("SELECT reasoning_match('one', NULL)").get is None


def test_a_null_query_is_an_error(connection: apsw.Connection) -> None:
    message = error_of(connection, "SELECT reasoning_match(NULL, 'one')")
    assert "reasoning_match: the query is NULL" in message
    assert "query is NULL" in error_of(
        connection, "SELECT reasoning_match_columns('a', NULL, 'one')"
    )
    assert "spec is NULL" in error_of(
        connection, "SELECT reasoning_match_columns(NULL, 'one', 'one')"
    )


def test_null_columns_are_empty_unless_all_are(connection: apsw.Connection) -> None:
    sql = "SELECT reasoning_match_columns('a, b', 'one', ?, ?)"
    assert connection.execute(sql, (None, "one")).get == 1
    assert connection.execute(sql, (None, "two")).get == 0
    assert connection.execute(sql, (None, None)).get is None


def test_a_nul_byte_in_a_text_separates_tokens(connection: apsw.Connection) -> None:
    assert connection.execute("SELECT reasoning_match('two', ?)", ("one\0two",)).get == 1


def test_numbers_are_read_as_text(connection: apsw.Connection) -> None:
    assert connection.execute("SELECT reasoning_match(12, 12)").get == 1
    assert connection.execute("SELECT reasoning_match('\"3.5\"', 3.5)").get == 1


def test_a_utf_16_database_is_read_alike() -> None:
    connection = apsw.Connection(":memory:")
    connection.execute("PRAGMA encoding = 'UTF-16'")
    rf.load(connection)
    connection.execute("CREATE TABLE t(x)")
    connection.execute("INSERT INTO t VALUES ('ein Ärger')")
    assert connection.execute("SELECT reasoning_match('arger', x) FROM t").get == 1


def test_a_query_that_changes_from_row_to_row_is_compiled_for_each(
    connection: apsw.Connection,
) -> None:
    connection.execute("CREATE TABLE t(query, spec)")
    for number in range(40):
        connection.execute("INSERT INTO t VALUES (?, ?)", (f"w{number % 20}", f"c{number % 3}"))
    sql = "SELECT count(*) FROM t WHERE reasoning_match(query, 'w1 w7')"
    assert connection.execute(sql).get == 4
    sql = "SELECT count(*) FROM t WHERE reasoning_match_columns(spec, 'c1 : x', 'x') IS 1"
    with pytest.raises(apsw.SQLError, match="no such column: c1 at byte 0"):
        connection.execute(sql).fetchall()


def test_functions_may_be_used_in_views_and_triggers_of_untrusted_schemas(
    connection: apsw.Connection,
) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("CREATE TABLE t(x); INSERT INTO t VALUES ('one')")
    connection.execute("CREATE VIEW v AS SELECT reasoning_match('one', x) AS found FROM t")
    assert connection.execute("SELECT found FROM v").get == 1


def test_a_tokenizer_of_the_application_is_found(connection: apsw.Connection) -> None:
    def synonyms(con: apsw.Connection, args: list[str]) -> apsw.Tokenizer:
        def tokenize(utf8: bytes, flags: int, locale: str | None) -> Iterator[Any]:
            at = 0
            for word in utf8.split(b" "):
                token = word.decode()
                both = (token, "first") if token == "one" else (token,)
                yield (at, at + len(word), *both)
                at += len(word) + 1

        return tokenize

    connection.register_fts5_tokenizer("synonyms", synonyms)
    spec = "a, tokenize=synonyms"
    connection.execute(f"CREATE VIRTUAL TABLE f USING fts5({spec})")
    connection.execute("INSERT INTO f VALUES ('zero one two'), ('zero first two'), ('two')")
    for query in ("first", "one", "zero + first + two", "fir*", '"zero one"', "NEAR(first two, 1)"):
        expected = connection.execute("SELECT rowid FROM f WHERE f MATCH ?", (query,)).fetchall()
        got = connection.execute(
            "SELECT rowid FROM f WHERE reasoning_match_columns(?, ?, a)", (spec, query)
        ).fetchall()
        assert got == expected


# ---- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("one two)", 'reasoning_match: syntax error near ")" at byte 7'),
        ("one AND", 'reasoning_match: syntax error near "" at byte 7'),
        ("foo-bar", "reasoning_match: no such column: bar at byte 4"),
        ('one "two', "reasoning_match: unterminated string at byte 4"),
        ("NEAR(one two, x)", 'reasoning_match: expected integer, got "x" at byte 14'),
        ("one.two", 'reasoning_match: syntax error near "." at byte 3'),
        ("*", "reasoning_match: unknown special query:  at byte 0"),
        ("(" * 120 + "one", "reasoning_match: parser stack overflow at byte 99"),
        ("one" + " NOT one" * 260, "reasoning_match: expression tree is too large"),
    ],
)
def test_an_error_names_the_function_and_the_byte(
    connection: apsw.Connection, query: str, message: str
) -> None:
    assert message in error_of(connection, "SELECT reasoning_match(?, 'one')", query)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("a, content=b", "only columns, UNINDEXED, tokenize and prefix"),
        ("a, detail=none", "only columns, UNINDEXED, tokenize and prefix"),
        ("a, nonsense=1", "unrecognized option"),
        ("a, rank", "reserved fts5 column name"),
        ("a, RowID", "reserved fts5 column name"),
        ("a, b INDEXED", "unrecognized column option"),
        ("a, A", "duplicate column name"),
        ("a, b c d", "parse error in"),
        ("a, tokenize='unheard_of'", "no such tokenizer: unheard_of"),
        ("a, tokenize='unicode61 bad'", "error in the constructor of tokenizer unicode61"),
        ("a, tokenize=porter, tokenize=ascii", "multiple tokenize"),
        ("a, tokenize='porter \"'", "parse error in tokenize"),
        ("a, prefix='0'", "prefix length out of range"),
        ("a, prefix=x", "malformed prefix"),
        ("a, (b", "unbalanced"),
        ("a)", "unbalanced"),
        ("a, 'b", "unterminated quote at byte 3"),
        ("", "no column is named"),
        ("a\0b", "NUL byte at byte 1"),
    ],
)
def test_a_bad_spec_is_refused(connection: apsw.Connection, spec: str, message: str) -> None:
    got = error_of(connection, "SELECT reasoning_match_columns(?, 'one', 'x')", spec)
    assert got.removeprefix("SQLError: ").startswith("reasoning_match_columns: spec: ")
    assert message in got


@pytest.mark.parametrize(
    "spec",
    [
        "a,,b,", " a , b ", "'a b', [c], `d`", '"a""b"', "a unindexed, b", "a 'UNINDEXED', b",
        "a, tok='porter ascii'", "a, TOKENIZE = porter", "a, p='2 3,4'", "a, tokenize=''",
        "a, tokenize=\"unicode61 tokenchars ''\"", "a /* note */, b -- end", "a, tokenize=[ascii]",
        "a\tUNINDEXED, b", "a = b", "'a' = porter", "é, 日本", "a, tokenize='porter '", "a-b",
        "(a)", "a, tokenize=' '", "a, tokenize=\"porter '\"", "a, tokenize", "content, detail",
        "a, tokenize='ascii' porter", "a;", "a, prefix='1000'", "a, tokenize=porter unicode61",
    ],
)  # fmt: skip
def test_a_spec_is_read_as_create_virtual_table_reads_it(
    connection: apsw.Connection, spec: str
) -> None:
    try:
        connection.execute(f"CREATE VIRTUAL TABLE f USING fts5({spec}\n)")
        columns = [row[1] for row in connection.execute("PRAGMA table_info(f)")]
    except apsw.SQLError:
        columns = []
    values = ", ".join(["'one'"] * max(1, len(columns)))
    sql = f"SELECT reasoning_match_columns(?, ?, {values})"
    if not columns:
        assert "spec: " in error_of(connection, sql, spec, "one")
        return
    for column in columns:
        name = column.replace('"', '""')
        query = f'"{name}" : one'
        expected = connection.execute("SELECT count(*) FROM f WHERE f MATCH ?", (query,)).get
        assert expected == 0
        connection.execute(f"INSERT INTO f VALUES ({values})")
        expected = connection.execute("SELECT count(*) FROM f WHERE f MATCH ?", (query,)).get
        assert connection.execute(sql, (spec, query)).get == min(1, expected)
        connection.execute("DELETE FROM f")


def test_as_many_values_as_columns_are_asked_for(connection: apsw.Connection) -> None:
    message = error_of(connection, "SELECT reasoning_match_columns('a, b', 'one', 'x')")
    assert "the spec has 2 columns, and 1 values are given" in message
    assert "too few arguments" in error_of(connection, "SELECT reasoning_match_columns('a', 'one')")


def test_a_host_may_have_a_tokenizer_of_its_own_under_a_known_name(
    connection: apsw.Connection,
) -> None:

    def letters(*_: object) -> Any:
        def tokenize(text: bytes, reason: int, locale: str | None) -> list[Any]:
            return [(i, i + 1, chr(c)) for i, c in enumerate(text)]

        return tokenize

    connection.register_fts5_tokenizer("unicode61", letters)
    spec = "a, tokenize=unicode61"
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5({spec})")
    connection.execute("INSERT INTO t VALUES ('some text')")
    for query in ("text", "tex", "xet"):
        expected = connection.execute("SELECT count(*) FROM t(?)", (query,)).get
        sql = "SELECT reasoning_match_columns(?, ?, 'some text')"
        assert connection.execute(sql, (spec, query)).get == expected
