"""reasoning_scan over a view that decodes: what it learns of the stored text changes no answer."""

from __future__ import annotations

import json

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts.decoding import decoded, joined_once

STORED = "first, second, third"
PIECES = (
    "cafe", "café", "CAFE\u0301", "\u212aelvin", "kelvin", "ſum", "sum", "naïve", "naive",
    "x1", " ", "\n", "-", ".", '"', "\\", "\\u0041", "\\x41", "漢字", "ไทย", "“", "😀", "\u1ec7",
    "e\u0301", "retry loop", "lock", "\0", "[", "{", "a", "b",
)  # fmt: skip
QUERIES = (
    "cafe", "kelvin", "sum", "naive", "lock", '"retry loop"', "loop NOT lock", "caf*", "x1 OR a",
    "NEAR(retry lock, 3)", "^lock", "retry AND cafe", "a", '"loop retry"', "u0041", "漢字",
)  # fmt: skip

texts = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


def as_json(value: object, ascii_only: bool, twice: bool) -> str:
    once = json.dumps(value, ensure_ascii=ascii_only)
    return json.dumps(once, ensure_ascii=ascii_only) if twice else once


documents = st.builds(
    as_json,
    st.one_of(
        texts,
        st.lists(texts, max_size=3),
        texts.map(lambda text: [{"type": "x", "text": text}]),
    ),
    st.booleans(),
    st.booleans(),
)
cells = st.one_of(st.none(), texts, texts, documents, texts.map(lambda text: " " + text))
rows = st.one_of(
    st.tuples(cells, cells, cells),
    cells.map(lambda cell: (cell, cell, None)),
    cells.map(lambda cell: (None, cell, "")),
)


def decoding(table: list[tuple[str | None, ...]]) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    rf.load(connection)
    connection.execute("CREATE TABLE raw(id INTEGER PRIMARY KEY, first, second, third)")
    connection.executemany("INSERT INTO raw(first, second, third) VALUES (?, ?, ?)", table)
    parts = joined_once([decoded(column) for column in ("first", "second", "third")])
    connection.execute(
        f"CREATE VIEW shown AS SELECT id AS rowid, {parts} AS thought, {STORED} FROM raw"
    )
    connection.execute(
        "CREATE VIEW listed AS SELECT id AS rowid FROM raw"
        " WHERE first <> '' OR second <> '' OR third <> ''"
    )
    return connection


@settings(max_examples=300, deadline=None)
@given(
    table=st.lists(rows, max_size=6),
    query=st.sampled_from(QUERIES),
    tokenizer=st.sampled_from(
        [
            "unicode61",
            "porter",
            "ascii",
            "unicode61 tokenchars '-.'",
            "unicode61 tokenchars '\n\"\"'",
        ]
    ),
)
def test_stored_columns_and_a_list_change_no_answer(
    table: list[tuple[str | None, ...]], query: str, tokenizer: str
) -> None:
    connection = decoding(table)
    spec = f'thought, tokenize="{tokenizer}"'
    for columns, tail in (
        ("rowid, origin", "ORDER BY rowid"),
        ("rowid, origin, rank", "ORDER BY rowid"),
        ("rowid, rank", "ORDER BY rank, rowid"),  # by now with remembered totals
    ):
        sql = f"SELECT {columns} FROM reasoning_scan(?, 'shown', ?, '0', ?, ?) {tail}"
        expected = connection.execute(sql, (query, spec, None, None)).fetchall()
        for stored, listed in ((STORED, None), (None, "listed"), (STORED, "listed")):
            found = connection.execute(sql, (query, spec, stored, listed)).fetchall()
            assert found == expected, (stored, listed)


def test_ranks_are_the_same_whether_totals_are_learned_with_or_without_them() -> None:
    table = [("lock the cache", None, None), ('["retry loop", "lock"]', None, None), (None,) * 3]
    sql = "SELECT rowid, rank FROM reasoning_scan('lock', 'shown', 'thought', '0', ?, ?)"
    learned = [
        decoding(table).execute(sql, arguments).fetchall()
        for arguments in ((None, None), (STORED, None), (STORED, "listed"))
    ]
    assert learned[0] == learned[1] == learned[2]
    assert len(learned[0]) == 2


@pytest.mark.parametrize(
    ("stored", "query"),
    [
        ('["caf\\u00e9"]', "cafe"),
        ('["\\u006cock"]', "lock"),
        ('["\\u212aelvin"]', "kelvin"),
        ('"[\\"caf\\\\u00e9\\"]"', "cafe"),
    ],
)
def test_a_word_with_a_letter_behind_an_escape_is_found(stored: str, query: str) -> None:
    connection = decoding([("none of it", None, None), (stored, None, None)])
    sql = "SELECT rowid FROM reasoning_scan(?, 'shown', 'thought', '0', ?)"
    assert connection.execute(sql, (query, STORED)).fetchall() == [(2,)]


def test_only_what_may_match_is_decoded(connection: apsw.Connection) -> None:
    seen: list[str] = []
    connection.create_scalar_function("noted", lambda text: seen.append(text) or text)
    connection.execute("CREATE TABLE raw(id INTEGER PRIMARY KEY, text)")
    connection.executemany(
        "INSERT INTO raw(text) VALUES (?)",
        [("plain lock",), ('["a lock"]',), ('["a key"]',), ("plain key",), (None,)],
    )
    connection.execute(
        "CREATE TEMP VIEW shown AS SELECT id AS rowid, noted(text) AS thought, text FROM raw"
    )
    sql = "SELECT rowid FROM reasoning_scan('lock', 'temp.shown', 'thought', '0', ?)"
    assert connection.execute(sql, ("text",)).fetchall() == [(1,), (2,)]
    assert seen == ['["a lock"]']


def test_rows_outside_the_list_are_not_read(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE raw(id INTEGER PRIMARY KEY, thought)")
    connection.executemany("INSERT INTO raw(thought) VALUES (?)", [("lock",)] * 3)
    connection.execute("CREATE TABLE chosen(id INTEGER PRIMARY KEY)")
    connection.execute("INSERT INTO chosen VALUES (1), (3), (7)")
    sql = "SELECT rowid FROM reasoning_scan('lock', 'raw', 'thought', '0', NULL, 'chosen')"
    assert connection.execute(f"{sql} ORDER BY rowid DESC").fetchall() == [(3,), (1,)]
    assert connection.execute(f"{sql} WHERE rowid > 1").fetchall() == [(3,)]


@pytest.mark.parametrize(
    ("stored", "listed", "message"),
    [
        ("nothing", None, "no such column: source.nothing"),
        ("a, a", None, "stored: "),
        (", ".join(f"c{i}" for i in range(17)), None, "stored: 17 columns; name at most 16"),
        (None, "nothing", "listed: no such table or view: nothing"),
    ],
)
def test_a_bad_argument_is_named(
    connection: apsw.Connection, stored: str | None, listed: str | None, message: str
) -> None:
    connection.execute("CREATE TABLE raw(id INTEGER PRIMARY KEY, thought)")
    with pytest.raises(apsw.SQLError, match=message.replace("(", r"\(")):
        connection.execute(
            "SELECT * FROM reasoning_scan('x', 'raw', 'thought', '0', ?, ?)", (stored, listed)
        ).fetchall()
