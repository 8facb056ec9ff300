"""Snippets are those of snippet() in SQLite 3.54, on every host.

The oracle is the real FTS5 of apsw: a table with one row, asked for the same snippet. Without a
full-text query it shows the head of a column, as we do where nothing matches.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import apsw.fts5
import auxiliary_tables as auxiliary
import oracle
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle import SPECS, Oracle, Spec, Value

if TYPE_CHECKING:
    from loading_python import LoadingPython

Shape = tuple[Value, Value, Value, Value]
"""Open, close, ellipsis and tokens."""

USUAL: Shape = ("[", "]", "...", 5)


def many(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        suppress_health_check=[
            HealthCheck.too_slow,
            HealthCheck.function_scoped_fixture,
            HealthCheck.filter_too_much,
        ],
    )


# ---- generators: texts of bytes, since a text may be no valid UTF-8 ------------------------------

WORDS = ("one", "two", "three", "one", "two", "running", "é", "x-y", "日本", "naïve")
GAPS = (b" ", b" ", b" ", b". ", b": ", b".\n\t", b".", b"...  ", b"\x00", b" \x00 ", b"-", b"\xff",
        b". \xc3 ", "\u0301 ".encode(), b"  ")  # fmt: skip
FILLERS = (b"", b"", b"far ", b"far away. ", b"a\x00b ")

pieces = st.tuples(
    st.sampled_from(WORDS), st.sampled_from(GAPS), st.sampled_from(FILLERS), st.integers(0, 20)
)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Words with gaps of many kinds, and more words between them than a window has."""
    drawn = draw(st.lists(pieces, min_size=1, max_size=20))
    start, end = draw(st.sampled_from([(0, 0), (0, 70), (70, 0), (70, 70)]))
    middle = b"".join(word.encode() + gap + filler * n for word, gap, filler, n in drawn)
    return draw(st.sampled_from([b"", *GAPS])) + b"far " * start + middle + b"away " * end


def queries(columns: tuple[str, ...]) -> st.SearchStrategy[str]:
    """Queries that most texts match, and some of any kind."""
    words = st.sampled_from(
        ["one", "two", "o*", '"one two"', '"two one two"', "one + two", '"two three" *', "^one",
         "é", "three + one + tw*", '"日本"', "run*", '"x y"']
    )  # fmt: skip
    near = st.sampled_from(["NEAR(one two)", "NEAR(one two three, 2)", "NEAR(two one, 1)"])
    filtered = st.builds("{} : ({})".format, oracle.filters(columns), st.one_of(words, near))
    leaves = st.one_of(words, words, words, filtered)
    return st.one_of(
        near,
        filtered,
        st.lists(leaves, min_size=1, max_size=4).map(" OR ".join),
        st.lists(leaves, min_size=2, max_size=3).map(" AND ".join),
        st.builds("({} OR {}) NOT {}".format, leaves, leaves, leaves),
        oracle.queries(columns),
    )


values: st.SearchStrategy[Value | tuple[bytes]] = st.one_of(
    st.tuples(texts()),
    st.tuples(texts()),
    st.tuples(texts()),
    st.tuples(texts()),
    st.sampled_from([None, None, 12, -3.5, b"one two", b"", b"\xff one", "one. two"]),
)
"""What a column may hold; a tuple stands for a text of these bytes."""

marks: st.SearchStrategy[Value] = st.sampled_from(
    ["[", "", "<b>", "one", None, 7, "a\x00b", "é\u0301", "%s", b"\x00", b"\xff"]
)
tokens: st.SearchStrategy[Value] = st.one_of(
    st.integers(1, 12),
    st.sampled_from([0, 1, 5, 24, 63, 64, 65, -1, 2**40, -(2**40), None, "3", 2.9, "x"]),
)
shapes = st.one_of(st.just(USUAL), st.tuples(marks, marks, marks, tokens))


def bound(value: Any) -> tuple[str, Any]:
    """SQL for a value of these strategies, and what to bind to it."""
    return ("CAST(? AS TEXT)", value[0]) if isinstance(value, tuple) else ("?", value)


def stored(connection: apsw.Connection, table: str, row: Sequence[Any]) -> None:
    """Makes the row the only one of a table."""
    holes = ", ".join(bound(value)[0] for value in row)
    connection.execute(f"DELETE FROM {table}")
    connection.execute(f"INSERT INTO {table} VALUES ({holes})", [bound(value)[1] for value in row])


# ---- the scalar functions -----------------------------------------------------------------------


def expected(
    real: Oracle, spec: Spec, query: str, row: Sequence[Any], shape: Shape
) -> bytes | None:
    """What the real table shows: a snippet of the row, or the head of a column."""
    table = f"oracle{SPECS.index(spec)}"
    stored(real.connection, f"temp.{table}", row)
    sql = f"SELECT CAST(snippet({table}, ?, ?, ?, ?, ?) AS BLOB) FROM temp.{table}"
    found = real.connection.execute(f"{sql} WHERE {table} MATCH ?", (-1, *shape, query)).fetchall()
    if found:
        return found[0][0]
    if all(value is None for value in row):
        return None
    unindexed = "b" if "UNINDEXED" in spec.text else ""
    for number, (name, value) in enumerate(zip(spec.columns, row, strict=True)):
        if value not in (None, b"", (b"",)) and name != unindexed:
            return real.connection.execute(sql, (number, *shape)).get
    return b""


def shown(
    connection: apsw.Connection, spec: Spec, query: str, row: Sequence[Any], shape: Shape
) -> bytes | None:
    holes = ", ".join(bound(value)[0] for value in row)
    return connection.execute(
        f"SELECT CAST(reasoning_snippet_columns(?, ?, ?, ?, ?, ?, {holes}) AS BLOB)",
        (spec.text, query, *shape, *(bound(value)[1] for value in row)),
    ).get


@many(250)
@given(data=st.data(), spec=oracle.specs, shape=shapes)
def test_a_row_is_shown_as_fts5_shows_it(
    real: Oracle, data: st.DataObject, spec: Spec, shape: Shape
) -> None:
    query = data.draw(queries(spec.columns))
    assume(oracle.has_stable_hits(real.connection, spec, query))
    for row in data.draw(
        st.lists(st.tuples(*[values] * len(spec.columns)), min_size=3, max_size=3)
    ):
        assert shown(real.connection, spec, query, row, shape) == expected(
            real, spec, query, row, shape
        )


@many(200)
@given(query=queries(("text",)), text=texts(), shape=shapes)
def test_a_text_is_shown_as_a_table_of_one_column_shows_it(
    real: Oracle, query: str, text: bytes, shape: Shape
) -> None:
    assume(oracle.has_stable_hits(real.connection, SPECS[0], query))
    found = real.connection.execute(
        "SELECT CAST(reasoning_snippet_text(?, CAST(? AS TEXT), ?, ?, ?, ?) AS BLOB)",
        (query, text, *shape),
    ).get
    assert found == expected(real, SPECS[0], query, [(text,)], shape)


def test_of_several_columns_the_first_of_equally_good_windows_is_shown(real: Oracle) -> None:
    for row in (("one", "one", ""), ("no", "one", ""), (None, "one two", "one")):
        assert shown(real.connection, SPECS[1], "one", row, USUAL) == expected(
            real, SPECS[1], "one", row, USUAL
        )


def test_columns_that_are_unindexed_are_not_shown(connection: apsw.Connection) -> None:
    sql = "SELECT reasoning_snippet_columns(?, ?, '[', ']', '...', 5, 'said word', 'thought word')"
    assert connection.execute(sql, ("s UNINDEXED, t", "word")).get == "thought [word]"
    assert connection.execute(sql, ("s UNINDEXED, t", "absent")).get == "thought word"
    assert connection.execute(sql, ("s UNINDEXED, t UNINDEXED", "word")).get == ""


def test_the_head_is_of_the_first_column_that_has_text(connection: apsw.Connection) -> None:
    sql = "SELECT reasoning_snippet_columns('a, b', 'x', '[', ']', '...', 2, ?, ?)"
    assert connection.execute(sql, ("", "one two three")).get == "one two..."
    assert connection.execute(sql, (None, "(one) two.")).get == "(one) two."
    assert connection.execute(sql, ("", None)).get == ""


@pytest.mark.parametrize("limit", [0, 1])
def test_tokens_below_one_show_the_beginning_up_to_the_last_hit(
    connection: apsw.Connection, limit: int
) -> None:
    sql = "SELECT reasoning_snippet_text('^a OR d', 'a b c d e', '[', ']', '...', ?)"
    shown = {0: "[a] b c [d]...", 1: "[a]..."}
    assert connection.execute(sql, (limit,)).get == shown[limit]


def test_a_null_text_has_no_snippet(connection: apsw.Connection) -> None:
    shape = "'[', ']', '...', 5"
    assert connection.execute(f"SELECT reasoning_snippet_text('x', NULL, {shape})").get is None
    sql = f"SELECT reasoning_snippet_columns('a, b', 'x', {shape}, NULL, NULL)"
    assert connection.execute(sql).get is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("reasoning_snippet_text(NULL, 'x', {})", "reasoning_snippet_text: the query is NULL"),
        ("reasoning_snippet_text('a b\"', 'x', {})", "reasoning_snippet_text: unterminated string"),
        ("reasoning_snippet_columns(NULL, 'x', {}, 'x')", "the spec is NULL"),
        ("reasoning_snippet_columns('a', NULL, {}, 'x')", "the query is NULL"),
        ("reasoning_snippet_columns('a', 'x', {})", "too few arguments"),
        ("reasoning_snippet_columns('a', 'b:x', {}, 'x')", "no such column: b"),
        ("reasoning_snippet_columns('a, b', 'x', {}, 'x')", "the spec has 2 columns, and 1"),
        ("reasoning_snippet_columns('a=b', 'x', {}, 'x')", "reasoning_snippet_columns: spec: "),
    ],
)
def test_what_is_no_question_is_an_error(
    connection: apsw.Connection, call: str, message: str
) -> None:
    with pytest.raises(apsw.SQLError) as caught:
        connection.execute("SELECT " + call.format("'[', ']', '...', 5")).fetchall()
    assert str(caught.value).startswith("reasoning_snippet_")
    assert message in str(caught.value)


@pytest.mark.parametrize("query", ["word AND unseen*", "word"])
def test_a_long_text_can_be_interrupted(connection: apsw.Connection, query: str) -> None:
    # SQLite looks for an interrupt between opcodes, and the text is one opcode.
    connection.create_scalar_function("stop", lambda: connection.interrupt(), 0)
    with pytest.raises(apsw.InterruptError):
        connection.execute(
            "SELECT stop(), reasoning_snippet_text(?, ?, '', '', '', 5)",
            (query, "word " * 3_000_000),
        ).fetchall()


# ---- the auxiliary function ---------------------------------------------------------------------

TABLES = ("", ", detail=column", ", detail=none", ", columnsize=0", ", tokenize=trigram",
          ", content=outside", ", content=outside, columnsize=0", ", content=outside, detail=none",
          ", content=''", ", content='', columnsize=0", ", content='', detail=none")  # fmt: skip


def answers(connection: apsw.Connection, sql: str, *values: Any) -> Any:
    """The rows of a statement, or the kind of its error."""
    try:
        return connection.execute(sql, values).fetchall()
    except apsw.Error as error:
        return type(error).__name__, error.extendedresult


@many(200)
@given(
    options=st.sampled_from(TABLES),
    query=queries(("a", "b", "c")),
    row=st.tuples(values, values, values),
    stale=st.tuples(st.booleans(), values),
    shape=shapes,
    data=st.data(),
)
def test_one_column_or_all_are_shown_as_fts5_shows_them(
    options: str,
    query: str,
    row: tuple[Any, ...],
    stale: tuple[bool, Any],
    shape: Shape,
    data: st.DataObject,
) -> None:
    with auxiliary.Opened() as connection:
        connection.execute("CREATE TABLE outside(a, b, c)")
        connection.execute(f"CREATE VIRTUAL TABLE t USING fts5(a, b, c{options})")
        holes = ", ".join(bound(value)[0] for value in row)
        for table in ("outside", "t(rowid, a, b, c)"):
            connection.execute(
                f"INSERT INTO {table} VALUES ({'1, ' * (table != 'outside')}{holes})",
                [bound(value)[1] for value in row],
            )
        if stale[0]:
            hole, value = bound(stale[1])
            connection.execute(f"UPDATE outside SET b = {hole}", (value,))
        where = data.draw(st.sampled_from(["WHERE t MATCH ?", "WHERE t MATCH ? ORDER BY rank",
                                           "WHERE ? IS NOT NULL"]))  # fmt: skip
        for column, columns in ((-1, "0 1 2"), (0, "0"), (1, "1"), (2, "-0 -1")):
            ours = f"SELECT CAST(reasoning_snippet(t, ?, ?, ?, ?, ?) AS BLOB) FROM t {where}"
            real = f"SELECT CAST(snippet(t, ?, ?, ?, ?, ?) AS BLOB) FROM t {where}"
            assert answers(connection, ours, columns, *shape, query) == answers(
                connection, real, column, *shape, query
            )


@many(150)
@given(case=auxiliary.cases(), shape=shapes)
def test_some_columns_are_shown_as_a_table_of_these_columns_shows_them(
    case: tuple[list[auxiliary.Row], tuple[int, ...], str], shape: Shape
) -> None:
    rows, chosen, query = case
    with auxiliary.Opened() as connection:
        auxiliary.create(connection, "whole", rows)
        auxiliary.reduce(connection, rows, sorted(chosen))
        found = answers(
            connection,
            "SELECT rowid, CAST(reasoning_snippet(whole, ?, ?, ?, ?, ?) AS BLOB) FROM whole(?)",
            auxiliary.numbers(chosen),
            *shape,
            auxiliary.within(chosen, query),
        )
        assert found == answers(
            connection,
            "SELECT rowid, CAST(snippet(reduced, -1, ?, ?, ?, ?) AS BLOB) FROM reduced(?)",
            *shape,
            query,
        )


def test_hits_in_other_columns_do_not_count(connection: apsw.Connection) -> None:
    auxiliary.create(connection, "t", [("one here", "one one one"), ("nothing", "one")])
    sql = "SELECT reasoning_snippet(t, '0', '[', ']', '...', 5) FROM t('one')"
    assert [row[0] for row in connection.execute(sql)] == ["[one] here", "nothing"]


def test_of_equally_good_columns_the_first_of_the_table_is_shown(
    connection: apsw.Connection,
) -> None:
    auxiliary.create(connection, "t", [("one a", "one b", "one c")])
    sql = "SELECT reasoning_snippet(t, ?, '[', ']', '...', 5) FROM t('one')"
    assert connection.execute(sql, ("2 0",)).get == "[one] a"
    assert connection.execute(sql, ("-0",)).get == "[one] b"


@apsw.fts5.StringTokenizer
def by_locale(api: apsw.Connection, arguments: list[str]) -> Any:
    """Splits at the character that the locale names."""

    def tokenize(text: str, flags: int, locale: str | None) -> Iterator[tuple[int, int, str]]:
        start = 0
        for word in text.split(locale or " "):
            yield start, start + len(word), word
            start += len(word) + 1

    return tokenize


def test_a_text_is_read_by_the_tokenizer_of_its_locale(connection: apsw.Connection) -> None:
    connection.register_fts5_tokenizer("by_locale", by_locale)
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a, tokenize=by_locale, locale=1)")
    connection.execute("INSERT INTO t VALUES (fts5_locale('+', 'far away+one+two'))")
    for call in ("snippet(t, 0, ", "reasoning_snippet(t, '0', "):
        sql = f"SELECT {call} '[', ']', '~', 2) FROM t('one')"
        assert connection.execute(sql).get == "far away+[one]~"


@pytest.mark.parametrize("reason", ["DOCUMENT", "AUX", "'DOCUMENT AUX'"])
def test_colocated_tokens_are_no_tokens_of_the_window(
    connection: apsw.Connection, reason: str
) -> None:
    synonyms = apsw.fts5.SynonymTokenizer(lambda word: "same")
    connection.register_fts5_tokenizer("synonyms", synonyms)
    spec = f"""a, tokenize="synonyms reasons {reason} unicode61" """
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5({spec})")
    text = "far away one two three. four five"
    connection.execute("INSERT INTO t VALUES (?)", (text,))
    for query in ("two", "one", "five", '"one two"', "same OR one"):
        real = connection.execute("SELECT snippet(t, 0, '[', ']', '~', 3) FROM t(?)", (query,)).get
        assert "[" in real
        sql = "SELECT reasoning_snippet(t, '0', '[', ']', '~', 3) FROM t(?)"
        assert connection.execute(sql, (query,)).get == real
        sql = "SELECT reasoning_snippet_columns(?, ?, '[', ']', '~', 3, ?)"
        assert connection.execute(sql, (spec, query, text)).get == real


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("'0'", "reasoning_snippet: pass the table, a column set, open, close, ellipsis"),
        ("'0', '[', ']', '', 5, 6", "reasoning_snippet: pass the table, a column set, open"),
        ("'4', '[', ']', '', 5", "reasoning_snippet: columns: no column 4 at byte 0"),
    ],
)
def test_a_wrong_call_is_explained(
    connection: apsw.Connection, arguments: str, message: str
) -> None:
    auxiliary.small_table(connection)
    with pytest.raises(apsw.SQLError, match=message):
        connection.execute(f"SELECT reasoning_snippet(t, {arguments}) FROM t('one')").fetchall()


def test_an_index_that_does_not_belong_to_its_content_is_said_to(
    connection: apsw.Connection,
) -> None:
    connection.execute("CREATE TABLE outside(a)")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(a, content=outside, columnsize=0)")
    connection.execute(
        "INSERT INTO outside VALUES ('a'); INSERT INTO t(rowid, a) VALUES (1, 'b c d')"
    )
    with pytest.raises(apsw.CorruptError, match="reasoning_snippet: the index does not belong"):
        connection.execute("SELECT reasoning_snippet(t, '0', '', '', '', 5) FROM t('d')").fetchall()


# ---- other hosts --------------------------------------------------------------------------------

SCALAR = "SELECT CAST(reasoning_snippet_text(?, CAST(? AS TEXT), ?, ?, ?, ?) AS BLOB)"
AUXILIARY = "SELECT CAST(reasoning_snippet(t, '0', ?, ?, ?, ?) AS BLOB) FROM t WHERE t MATCH ?"

HOST = """
import json, sqlite3, sys
import sqlite_reasoning_fts as rf
host = sqlite3.connect(":memory:")
rf.load(host)
host.execute("CREATE VIRTUAL TABLE t USING fts5(text)")
found = []
for query, text, shape in json.load(open({cases!r})):
    value = bytes.fromhex(text)
    host.execute("DELETE FROM t")
    host.execute("INSERT INTO t VALUES (CAST(? AS TEXT))", (value,))
    made = host.execute({scalar!r}, (query, value, *shape)).fetchall()
    made += host.execute({auxiliary!r}, (*shape, query)).fetchall()
    found.append([row[0].hex() for row in made])
print(json.dumps([sqlite3.sqlite_version, found]))
"""


def random_case(chance: random.Random) -> tuple[str, bytes, Shape]:
    """A query, a text that mostly matches, and a shape."""
    gaps = [gap for gap in GAPS for _ in range(chance.choice((1, 1, 5)))]
    words = chance.choices([*WORDS, "far", "away"], k=chance.randrange(200))
    text = chance.choice([b"", *gaps])
    text += b"".join(word.encode() + chance.choice(gaps) for word in words)
    leaves = ["one", "two", "o*", '"one two"', "far + away", "^one", "NEAR(two three, 3)", '"x y"']
    query = " OR ".join(chance.sample(leaves[:6], k=chance.randrange(1, 5)))
    if chance.random() < 0.2:
        query = chance.choice(leaves)
    shape = (
        chance.choice(["[", "", "a\0b", "é", None]),
        chance.choice(["]", "", "one", None]),
        chance.choice(["...", "", "…", None]),
        chance.choice([0, 1, 2, 5, 10, 24, 64, 65, -1, None]),
    )
    return query, text, shape


def test_another_sqlite_shows_the_same(
    real: Oracle, loading_python: LoadingPython, tmp_path: Path
) -> None:
    chance = random.Random(0)
    cases = [random_case(chance) for _ in range(1500)]
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([(query, text.hex(), shape) for query, text, shape in cases]))
    code = HOST.format(cases=str(path), scalar=SCALAR, auxiliary=AUXILIARY)
    version, found = loading_python.run(code)
    assert version != apsw.sqlite_lib_version()
    for (query, text, shape), made in zip(cases, found, strict=True):
        snippet = expected(real, SPECS[0], query, [(text,)], shape)
        assert snippet is not None
        assert set(made) == {snippet.hex()}
