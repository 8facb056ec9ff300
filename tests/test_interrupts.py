"""An interrupt ends what runs long, and little more is read after it.

What is read is counted: rows by a function in a view, tokens by a tokenizer, bytes by a file
system. SQLite can tell a function of an interrupt from 3.41 on; an older one notices at the next
row.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from loading_python import LoadingPython

import sqlite_reasoning_fts as rf

MEGABYTE = 1_000_000


class Stop:
    """Counts bytes or rows, and interrupts the connection at a number of them."""

    def __init__(self, connection: apsw.Connection, limit: int) -> None:
        self.connection = connection
        self.limit = limit
        self.read = 0
        self.after = 0

    def add(self, amount: int) -> None:
        if self.read >= self.limit:
            self.after += amount
        elif self.read + amount >= self.limit:
            self.connection.interrupt()
        self.read += amount


def interrupted(connection: apsw.Connection, sql: str, *values: Any) -> None:
    with pytest.raises(apsw.InterruptError):
        connection.execute(sql, values).fetchall()


# ---- a long text: the tokens are counted --------------------------------------------------------


def counted_tokenizer(connection: apsw.Connection, stop: Stop) -> None:
    """Registers the tokenizer ``counted``: words between blanks, counted in bytes."""

    def make(con: apsw.Connection, args: list[str]) -> apsw.Tokenizer:
        def tokenize(utf8: bytes, flags: int, locale: str | None) -> Iterator[Any]:
            at = 0
            while at < len(utf8):
                end = utf8.find(b" ", at)
                end = len(utf8) if end < 0 else end
                if flags & apsw.FTS5_TOKENIZE_DOCUMENT:
                    stop.add(end + 1 - at)
                yield at, end, utf8[at:end].decode()
                at = end + 1

        return tokenize

    connection.register_fts5_tokenizer("counted", make)


@pytest.mark.parametrize("length", [10, 1000, 300_000])
def test_a_match_on_a_long_text_ends_within_a_megabyte(
    connection: apsw.Connection, length: int
) -> None:
    text = ("w" * (length - 1) + " ") * (6 * MEGABYTE // length)
    stop = Stop(connection, 2 * MEGABYTE)
    counted_tokenizer(connection, stop)
    sql = "SELECT reasoning_match_columns('text, tokenize=counted', 'absent OR w', ?)"
    interrupted(connection, sql, text)
    assert stop.after <= MEGABYTE


@pytest.mark.parametrize("spec", ["text", "text, tokenize=porter", "text, tokenize=trigram"])
@pytest.mark.parametrize("query", ["word AND unseen*", "absent"])
def test_a_match_on_a_long_text_does_not_end_by_itself(
    connection: apsw.Connection, spec: str, query: str
) -> None:
    def stop() -> None:
        connection.interrupt()

    connection.create_scalar_function("stop", stop, 0)
    sql = "SELECT stop(), reasoning_match_columns(?, ?, ?)"
    # The first megabyte may be read before anyone asks.
    interrupted(connection, sql, spec, query, "word " * MEGABYTE)


# ---- a scan: the rows are counted ---------------------------------------------------------------


@pytest.fixture
def messages(connection: apsw.Connection) -> apsw.Connection:
    connection.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, content, thought)")
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500)"
        " INSERT INTO messages SELECT i, 'some hay', iif(i % 5, '[\"hay\"]', 'plain hay') FROM n"
    )
    return connection


def counted_view(connection: apsw.Connection, stop: Stop) -> None:
    """Makes the view ``counted`` of the messages, which tells each row that is read."""

    def note(value: int) -> int:
        stop.add(1)
        return value

    connection.create_scalar_function("note", note, 1)
    connection.execute(
        "CREATE TEMP VIEW counted AS SELECT id AS rowid, content, thought FROM messages"
        " WHERE note(id)"
    )


SCANS = {
    "rows": "SELECT rowid FROM reasoning_scan(?, 'counted', 'content, thought')",
    "newest": "SELECT rowid FROM reasoning_scan(?, 'counted', 'content, thought')"
    " ORDER BY rowid DESC",
    "ranks": "SELECT rank FROM reasoning_scan(?, 'counted', 'content, thought')",
    "stored": "SELECT rank FROM reasoning_scan(?, 'counted', 'thought', '0', 'thought')",
}


@pytest.mark.parametrize("kind", SCANS)
@pytest.mark.parametrize("query", ["hay", "absent"])
def test_a_scan_reads_no_further_row(messages: apsw.Connection, kind: str, query: str) -> None:
    stop = Stop(messages, 100)
    counted_view(messages, stop)
    interrupted(messages, SCANS[kind], query)
    assert stop.after <= 1


def test_a_warm_ranked_scan_reads_no_further_row(messages: apsw.Connection) -> None:
    stop = Stop(messages, 10**9)
    counted_view(messages, stop)
    assert len(messages.execute(SCANS["ranks"], ("hay",)).fetchall()) == 500
    stop.read, stop.limit = 0, 100
    interrupted(messages, SCANS["ranks"], "hay")
    assert stop.after <= 1


def test_another_thread_can_interrupt_a_scan(messages: apsw.Connection) -> None:
    at_row, go_on = threading.Event(), threading.Event()
    read = 0

    def note(value: int) -> int:
        nonlocal read
        read += 1
        if read == 100:
            at_row.set()
            go_on.wait()
        return value

    def interrupt() -> None:
        at_row.wait()
        messages.interrupt()
        go_on.set()

    messages.create_scalar_function("note", note, 1)
    messages.execute("CREATE TEMP VIEW counted AS SELECT id AS rowid, content, thought"
                     " FROM messages WHERE note(id)")  # fmt: skip
    thread = threading.Thread(target=interrupt)
    thread.start()
    interrupted(messages, SCANS["ranks"], "hay")
    thread.join()
    assert read <= 101


def test_a_progress_handler_ends_a_scan(messages: apsw.Connection) -> None:
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls >= 20

    messages.set_progress_handler(stop, 50)
    sql = "SELECT rank FROM reasoning_scan('hay', 'messages', 'content, thought')"
    interrupted(messages, sql)
    messages.set_progress_handler(None)
    assert len(messages.execute(sql).fetchall()) == 500


def test_a_scan_works_again_after_an_interrupt(messages: apsw.Connection) -> None:
    stop = Stop(messages, 100)
    counted_view(messages, stop)
    interrupted(messages, SCANS["ranks"], "hay")
    assert len(messages.execute(SCANS["ranks"], ("hay",)).fetchall()) == 500


def test_an_older_sqlite_reads_at_most_one_row_more(loading_python: LoadingPython) -> None:
    after, versions = loading_python.run(
        """
import json, sqlite3
import sqlite_reasoning_fts as rf
connection = sqlite3.connect(":memory:")
rf.load(connection)
connection.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, content)")
connection.executemany("INSERT INTO messages VALUES (?, 'some hay')", [(i,) for i in range(500)])
after = []
for columns in ("rowid", "rank"):
    read = []
    def note(value):
        read.append(value)
        if len(read) == 100:
            connection.interrupt()
        return value >= 0
    connection.create_function("note", 1, note)
    connection.execute("DROP VIEW IF EXISTS counted")
    connection.execute("CREATE TEMP VIEW counted AS SELECT id AS rowid, content FROM messages"
                       " WHERE note(id)")
    try:
        connection.execute(f"SELECT {columns} FROM reasoning_scan('hay', 'counted', 'content')"
                           ).fetchall()
    except sqlite3.OperationalError as error:
        after.append([str(error), len(read) - 100])
print(json.dumps([after, sqlite3.sqlite_version]))
"""
    )
    assert [message for message, _ in after] == ["interrupted"] * 2, versions
    assert all(more <= 1 for _, more in after)


# ---- an index: the bytes of the file are counted ------------------------------------------------


class CountingFile(apsw.VFSFile):
    """A file that tells how much is read of it."""

    def __init__(self, name: Any, flags: list[int], told: Callable[[int], None]) -> None:
        super().__init__("", name, flags)
        self.told = told

    def xRead(self, amount: int, offset: int) -> bytes:
        self.told(amount)
        return bytes(super().xRead(amount, offset))


class CountingVFS(apsw.VFS):
    """Opens such files; ``told`` may be changed."""

    def __init__(self) -> None:
        super().__init__("counting", "")
        self.told: Callable[[int], None] = lambda amount: None

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        return CountingFile(name, flags, lambda amount: self.told(amount))


@pytest.fixture
def vfs() -> Iterator[CountingVFS]:
    made = CountingVFS()
    yield made
    made.unregister()


def test_counting_the_rows_of_a_phrase_ends_within_a_megabyte(
    tmp_path: Path, vfs: CountingVFS
) -> None:
    path = str(tmp_path / "index.db")
    writer = apsw.Connection(path)
    writer.execute("CREATE VIRTUAL TABLE notes USING fts5(content, thought)")
    writer.execute(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
        " INSERT INTO notes(rowid, content, thought)"
        " SELECT i, replace(hex(zeroblob(150)), '00', 'w '), 'w' FROM n"
    )
    writer.execute("INSERT INTO notes(notes) VALUES ('optimize')")
    writer.close()
    reader = apsw.Connection(path, vfs="counting")
    rf.load(reader)
    reader.execute("PRAGMA mmap_size = 0")
    reader.execute("PRAGMA cache_size = 10")
    sql = "SELECT reasoning_bm25(notes, '0') FROM notes('w') LIMIT 1"

    everything = Stop(reader, 10**12)
    vfs.told = everything.add
    assert reader.execute(sql).get < 0
    assert everything.read > 3 * MEGABYTE, "there is more to read than may be read"

    stop = Stop(reader, everything.read // 3)
    vfs.told = stop.add
    interrupted(reader, sql)
    assert stop.after <= MEGABYTE
    reader.close()
