"""After an interrupt little more is read: at most a megabyte of a text, or the row at hand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import apsw
import apsw.fts5
import pytest

import sqlite_reasoning_fts as rf

MEGABYTE = 1_000_000
WORD = "word "


class Spelling:
    """A tokenizer of the host's that counts the bytes it has given tokens for, and interrupts the
    connection when it has given some."""

    def __init__(self, connection: apsw.Connection, interrupt_at: int) -> None:
        self.connection = connection
        self.interrupt_at = interrupt_at
        self.given = 0
        connection.register_fts5_tokenizer("spelling", lambda *_: self.tokenize)

    def tokenize(self, text: bytes, reason: int, locale: str | None) -> Iterable[Any]:
        if reason & apsw.FTS5_TOKENIZE_QUERY:
            return [(0, len(text), text.decode())]
        return self.words(text)

    def words(self, text: bytes) -> Iterator[Any]:
        for start in range(0, len(text), len(WORD)):
            self.given = start + len(WORD)
            if self.given == self.interrupt_at:
                self.connection.interrupt()
            yield (start, start + len(WORD) - 1, "word")


def test_of_one_long_text_a_megabyte_more_is_read_at_most(connection: apsw.Connection) -> None:
    spelling = Spelling(connection, interrupt_at=2_000_000)
    text = WORD * 2_000_000
    with pytest.raises(apsw.InterruptError):
        connection.execute(
            "SELECT reasoning_match_columns('a, tokenize=spelling', 'nothing', ?)", (text,)
        ).fetchall()
    assert 2_000_000 <= spelling.given <= 2_000_000 + MEGABYTE + MEGABYTE // 4


@pytest.mark.parametrize("columns", ["rowid", "rowid, rank"])
def test_a_scan_reads_no_row_after_the_one_at_hand(
    connection: apsw.Connection, columns: str
) -> None:
    read: list[int] = []

    def noted(number: int) -> str:
        read.append(number)
        if number == 10:
            connection.interrupt()
        return WORD * 1000

    connection.create_scalar_function("noted", noted)
    connection.execute("CREATE TABLE numbers(id INTEGER PRIMARY KEY)")
    connection.executemany("INSERT INTO numbers VALUES (?)", ((i,) for i in range(1, 101)))
    connection.execute(
        "CREATE TEMP VIEW shown AS SELECT id AS rowid, noted(id) AS thought FROM numbers"
    )
    with pytest.raises(apsw.InterruptError):
        connection.execute(
            f"SELECT {columns} FROM reasoning_scan('nothing', 'temp.shown', 'thought', '0')"
        ).fetchall()
    assert read == list(range(1, 11))


def test_a_progress_handler_stops_a_scan(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE texts(thought)")
    connection.executemany("INSERT INTO texts VALUES (?)", [("word",)] * 10000)
    connection.set_progress_handler(lambda: True, 100)
    with pytest.raises(apsw.InterruptError):
        connection.execute(
            "SELECT rowid FROM reasoning_scan('nothing', 'texts', 'thought')"
        ).fetchall()
    connection.set_progress_handler(None)
    found = connection.execute("SELECT count(*) FROM reasoning_scan('word', 'texts', 'thought')")
    assert found.get == 10000


def test_an_interrupt_in_a_long_text_of_the_default_tokenizer_ends_the_query(
    connection: apsw.Connection,
) -> None:
    """The text is read in pieces, and the connection is asked between two of them."""
    text = WORD * 1_000_000
    connection.create_scalar_function("stop", lambda: connection.interrupt() or 1)
    with pytest.raises(apsw.InterruptError):
        connection.execute("SELECT stop() + reasoning_match('nothing', ?)", (text,)).fetchall()


def test_a_host_may_have_a_tokenizer_of_its_own_under_a_known_name() -> None:
    connection = apsw.Connection(":memory:")
    rf.load(connection)

    def letters(*_: object) -> Any:
        def tokenize(text: bytes, reason: int, locale: str | None) -> Iterable[Any]:
            return [(i, i + 1, chr(c)) for i, c in enumerate(text)]

        return tokenize

    connection.register_fts5_tokenizer("unicode61", letters)
    spec = "a, tokenize=unicode61"
    connection.execute(f"CREATE VIRTUAL TABLE t USING fts5({spec})")
    connection.execute("INSERT INTO t VALUES ('some text')")
    for query in ("text", "some text", "xet"):
        expected = connection.execute("SELECT count(*) FROM t(?)", (query,)).get
        sql = "SELECT reasoning_match_columns(?, ?, 'some text')"
        assert connection.execute(sql, (spec, query)).get == expected
