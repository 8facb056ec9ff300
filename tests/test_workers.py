"""A search on several connections: the same answer, all of one moment, and nothing left behind."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from archives import file_state
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tables import open_table, write_table

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts import workers as module
from sqlite_reasoning_fts.cli.app import run
from sqlite_reasoning_fts.database import Database
from sqlite_reasoning_fts.ranges import Range, split
from sqlite_reasoning_fts.reader import Reader
from sqlite_reasoning_fts.team import Team

SCOPES = ("said", "thought", "all")
ORDERS = ("rank", "newest")
SCHEMA = "CREATE TABLE m(id INTEGER PRIMARY KEY, time, said, thought)"
TEXT_KEYS = "CREATE TABLE m(id TEXT PRIMARY KEY, time, said, thought) WITHOUT ROWID"
COLUMNS: dict[str, Any] = {"key": "id", "time": "time", "said": ["said"], "thought": ["thought"]}
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def rows(count: int, word: str = "quagga") -> list[tuple[Any, ...]]:
    return [(n, n, f"okapi {n}", f"{word} {n}") for n in range(1, count + 1)]


def answer(archive: rf.Archive, workers: int, query: str = "quagga", **asked: Any) -> Any:
    """The whole answer but the route, which alone may tell how many connections there were."""
    found = archive.search(query, **{"scope": "thought", **asked}, workers=workers)
    return dataclasses.replace(found, coverage=dataclasses.replace(found.coverage, route=""))


def keys_and_route(archive: rf.Archive, workers: int = 3, query: str = "quagga") -> tuple[Any, str]:
    found = archive.search(query, scope="thought", order="newest", workers=workers)
    return [hit.key for hit in found.hits], found.coverage.route


def by_another_process(path: Path, sql: str) -> None:
    """Commits in a process of its own, as an agent does."""
    code = (
        "import apsw, sys; c = apsw.Connection(sys.argv[1]); c.set_busy_timeout(5000); "
        "c.execute('BEGIN IMMEDIATE'); c.execute(sys.argv[2]).fetchall(); c.execute('COMMIT')"
    )
    subprocess.run([sys.executable, "-c", code, str(path), sql], check=True)


def wal_table(path: Path, schema: str = SCHEMA, count: int = 50) -> Path:
    write_table(path, schema, rows(count))
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = wal").fetchall()
    connection.close()
    return path


# ---- one answer ---------------------------------------------------------------------


@pytest.mark.parametrize("scope", SCOPES)
@pytest.mark.parametrize("order", ORDERS)
def test_the_answer_is_that_of_one_worker(demo_path: Path, scope: str, order: str) -> None:
    with rf.open(demo_path) as archive:
        for query in ("the", "retry", "cache OR lock", "absentword"):
            asked = {"scope": scope, "order": order, "syntax": "fts5", "limit": 30}
            one = answer(archive, 1, query, **asked)
            assert [answer(archive, n, query, **asked) for n in (2, 3, 7)] == [one] * 3


def test_a_scan_of_the_said_columns_is_shared_out_too(demo_path: Path) -> None:
    with rf.open(demo_path) as archive:
        asked: dict[str, Any] = {"scope": "said", "order": "newest", "design": "scan", "limit": 99}
        assert answer(archive, 3, "the", **asked) == answer(archive, 1, "the", **asked)
        assert answer(archive, 1, "the", **asked).hits


def tables() -> st.SearchStrategy[tuple[str, list[tuple[Any, ...]]]]:
    """Few rows: keys that are dense or sparse integers of either sign, or texts."""
    integer = st.one_of(
        st.integers(-6, 6), st.integers(-(2**63), 2**63 - 1), st.integers(2**62, 2**62 + 6)
    )
    text = st.lists(st.sampled_from(("ab", "cd", "ef")), max_size=4).map(" ".join)
    kinds = st.sampled_from(
        (
            (SCHEMA, integer),
            ("CREATE TABLE m(id INTEGER PRIMARY KEY, time, said, thought) WITHOUT ROWID", integer),
            (TEXT_KEYS, st.text("aB1", min_size=1, max_size=3)),
            ("CREATE TABLE m(id UNIQUE, time, said, thought)", st.one_of(integer, st.text("ab"))),
        )
    )
    times = st.none() | st.integers(0, 3)
    return kinds.flatmap(
        lambda kind: st.tuples(
            st.just(kind[0]),
            st.lists(
                st.tuples(kind[1], times, text, st.none() | text),
                max_size=25,
                unique_by=lambda row: row[0],
            ),
        )
    )


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    table=tables(),
    query=st.sampled_from(
        ("ab", "ab cd", '"ab cd" OR ef', "ef NOT ab", "said : ab OR thought : e*")
    ),
    scope=st.sampled_from(SCOPES),
    order=st.sampled_from(ORDERS),
    workers=st.integers(2, 5),
    limit=st.integers(1, 30),
)
def test_any_table_gives_the_answer_of_one_worker(
    tmp_path_factory: pytest.TempPathFactory,
    table: tuple[str, list[tuple[Any, ...]]],
    query: str,
    scope: str,
    order: str,
    workers: int,
    limit: int,
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.db"
    asked = {"scope": scope, "order": order, "syntax": "fts5", "limit": limit}
    with open_table(path, table[0], table[1], **COLUMNS) as archive:
        assert answer(archive, workers, query, **asked) == answer(archive, 1, query, **asked)
    shutil.rmtree(path.parent)


def test_the_route_tells_how_many_scanned(tmp_path: Path) -> None:
    with open_table(tmp_path / "a.db", SCHEMA, rows(3), **COLUMNS) as archive:
        assert keys_and_route(archive, 1)[1] == "scan of the rows"
        assert keys_and_route(archive, 2)[1] == "scan of the rows by 2 workers"
        assert keys_and_route(archive, 64)[1] == "scan of the rows by 3 workers"


@pytest.mark.parametrize("count", [0, 1])
def test_without_rows_to_share_out_one_worker_reads(tmp_path: Path, count: int) -> None:
    with open_table(tmp_path / "a.db", SCHEMA, rows(count), **COLUMNS) as archive:
        found, route = keys_and_route(archive)
        assert (len(found), "by one worker: there are no rows" in route) == (count, True)


def test_ranks_are_made_on_one_connection_and_the_route_says_so(tmp_path: Path) -> None:
    with open_table(tmp_path / "a.db", SCHEMA, rows(9), **COLUMNS) as archive:
        found = archive.search("quagga", scope="thought", workers=2)
        assert found.coverage.route.endswith("by one worker: ranks are made on one connection")
        assert len(found.hits) == 9


def test_an_index_answers_on_one_connection(demo_path: Path) -> None:
    with rf.open(demo_path) as archive:
        one = archive.search("the", workers=1)
        assert archive.search("the", workers=4) == one


@pytest.mark.parametrize("workers", [0, -1, 65, 2.0, "2", None])
def test_a_number_of_workers_that_cannot_be_is_refused(demo_path: Path, workers: Any) -> None:
    with rf.open(demo_path) as archive, pytest.raises(rf.UsageError, match="give 1 to 64"):
        archive.search("the", workers=workers)


def test_the_command_line_takes_workers(
    demo_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["search", str(demo_path), "the", "--scope", "thought", "--order", "newest", "--json"]
    assert run([*command, "--workers", "2"]) == 0
    shared = json.loads(capsys.readouterr().out)
    assert run(command) == 0
    alone = json.loads(capsys.readouterr().out)
    assert shared["coverage"]["route"] == "scan of the rows by 2 workers"
    assert shared["hits"] == alone["hits"]
    assert run([*command, "--workers", "0"]) == 2


# ---- ranges -------------------------------------------------------------------------


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rowids=st.sets(st.one_of(st.integers(-9, 40), st.integers(-(2**63), 2**63 - 1)), max_size=60),
    parts=st.integers(1, 20),
)
def test_every_row_is_in_one_range(
    tmp_path_factory: pytest.TempPathFactory, rowids: set[int], parts: int
) -> None:
    path = tmp_path_factory.mktemp("ranges") / "a.db"
    with open_table(path, SCHEMA, [(n, 1, "", "") for n in rowids], **COLUMNS) as archive:
        ranges = split(archive._reader, parts)
    shutil.rmtree(path.parent)
    assert ranges is not None
    ends = [end for pair in ranges for end in pair]
    assert ends == sorted(ends)
    assert all(sum(first <= n <= last for first, last in ranges) == 1 for n in rowids)
    assert len(ranges) >= min(parts, len(rowids))


@pytest.mark.parametrize(
    "rowids",
    [
        range(1, 601),
        [*range(-300, 0), *range(2**62, 2**62 + 300)],
        [n << 40 for n in range(600)],
        [*(n << 50 for n in range(300)), *range(-5000, -4700)],
    ],
    ids=["dense", "two clusters", "sparse", "sparse and dense"],
)
def test_no_range_holds_much_more_than_its_share(tmp_path: Path, rowids: Any) -> None:
    table = [(n, 1, "", "") for n in rowids]
    with open_table(tmp_path / "a.db", SCHEMA, table, **COLUMNS) as archive:
        ranges = split(archive._reader, 16) or []
    held = [sum(first <= n <= last for n in rowids) for first, last in ranges]
    assert sum(held) == len(table)
    assert max(held) <= 2.5 * len(table) / 16


def test_rows_that_no_index_finds_by_their_key_are_read_by_one_worker(tmp_path: Path) -> None:
    schema = "CREATE TABLE m(id INT, time, said, thought, PRIMARY KEY(said, id)) WITHOUT ROWID"
    with open_table(tmp_path / "a.db", schema, rows(9), **COLUMNS) as archive:
        found, route = keys_and_route(archive)
        assert found == list(range(9, 0, -1))
        assert "cannot be looked up by ranges" in route


# ---- one moment ---------------------------------------------------------------------

MOVES = (
    "UPDATE m SET thought = CASE id WHEN 1 THEN 'quagga' ELSE 'moved' END WHERE id IN (1, 50)",
    "UPDATE m SET thought = CASE id WHEN 50 THEN 'quagga' ELSE 'moved' END WHERE id IN (1, 50)",
)
"""Either leaves the word in one row, at one end of the table or at the other."""


@pytest.fixture
def moving(tmp_path: Path) -> Iterator[tuple[Path, rf.Archive]]:
    """An archive in WAL mode, in which the word stands in the last row."""
    path = wal_table(tmp_path / "a.db")
    by_another_process(path, "UPDATE m SET thought = 'other'")
    by_another_process(path, MOVES[1])
    with rf.open(path, table="m", **COLUMNS) as archive:
        yield path, archive


def before_each(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, act: Callable[[int], None]
) -> list[int]:
    """Acts before each call of a function, with the number of the call; lists those numbers."""
    original = getattr(owner, name)
    calls: list[int] = []

    def acting(*arguments: Any, **named: Any) -> Any:
        calls.append(len(calls))
        act(calls[-1])
        return original(*arguments, **named)

    monkeypatch.setattr(owner, name, acting)
    return calls


def test_a_commit_between_the_beginnings_is_noticed(
    moving: tuple[Path, rf.Archive], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, archive = moving

    def commit(call: int) -> None:
        if call == 1:  # the main connection and one worker have begun
            by_another_process(path, MOVES[0])

    begun = before_each(monkeypatch, module, "_begun", commit)
    assert keys_and_route(archive) == ([1], "scan of the rows by 3 workers")
    assert len(begun) == 4, "two tries of two workers"


def test_where_every_try_is_disturbed_one_worker_reads(
    moving: tuple[Path, rf.Archive], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, archive = moving
    before_each(
        monkeypatch, module, "_begun", lambda call: by_another_process(path, MOVES[call % 2])
    )
    found, route = keys_and_route(archive)
    assert len(found) == 1
    assert route.endswith("by one worker: the archive was written to at each try to begin")


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_commit_before_the_main_connection_begins_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    path = write_table(tmp_path / "a.db", SCHEMA, rows(50))
    connection = apsw.Connection(str(path))
    assert connection.execute(f"PRAGMA journal_mode = {mode}").get == mode
    connection.close()

    def commit(call: int) -> None:
        if call == 0:
            by_another_process(path, "UPDATE m SET thought = 'other' WHERE id > 1")

    with rf.open(path, table="m", **COLUMNS) as archive:
        begun = before_each(monkeypatch, Database, "snapshot", commit)
        assert keys_and_route(archive, 2) == ([1], "scan of the rows by 2 workers")
    assert len(begun) == 4, "two tries of two connections"


def test_a_writer_that_waits_for_the_readers_is_let_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a rollback journal it lets nobody else begin to read until it could commit."""
    path = write_table(tmp_path / "a.db", SCHEMA, rows(50))
    writer = apsw.Connection(str(path))
    writer.execute("BEGIN IMMEDIATE; DELETE FROM m WHERE id > 9")

    def wait(call: int) -> None:
        if call == 0:
            with pytest.raises(apsw.BusyError):
                writer.execute("COMMIT")

    def commit(call: int) -> None:
        if call == 1:
            writer.execute("COMMIT")

    with rf.open(path, table="m", **COLUMNS) as archive:
        before_each(monkeypatch, module, "_begun", wait)
        tries = before_each(monkeypatch, module.Workers, "_begin_at_once", commit)
        found, route = keys_and_route(archive)
        assert (len(found), route, len(tries)) == (9, "scan of the rows by 3 workers", 2)
    writer.close()


def test_a_commit_during_the_scan_does_not_change_the_answer(
    moving: tuple[Path, rf.Archive], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, archive = moving
    before_each(monkeypatch, Team, "each", lambda call: by_another_process(path, MOVES[0]))
    assert keys_and_route(archive) == ([50], "scan of the rows by 3 workers")
    monkeypatch.undo()
    assert keys_and_route(archive) == ([1], "scan of the rows by 3 workers")


WRITER = """
import apsw, sys, threading
connection = apsw.Connection(sys.argv[1])
connection.set_busy_timeout(5000)
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set())).start()
written = 0
while not ended.is_set():
    connection.execute(sys.argv[2 + written % 2])
    written += 1
    if written == 1:
        print("writing", flush=True)
print(written)
"""


def test_a_process_that_writes_all_the_time_never_shows_two_moments(
    moving: tuple[Path, rf.Archive],
) -> None:
    path, archive = moving
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), *MOVES],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "writing\n"
        found = [len(keys_and_route(archive)[0]) for _ in range(40)]
        written = int(writer.communicate("")[0])
    assert found == [1] * 40
    assert written > 1


def test_text_keys_are_numbered_alike_after_a_commit(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    table = [(f"k{n}", n, "", "quagga") for n in range(20)]
    with open_table(path, TEXT_KEYS, table, **COLUMNS) as archive:
        assert len(keys_and_route(archive)[0]) == 20
        by_another_process(path, "INSERT INTO m VALUES ('a', 99, '', 'quagga')")
        by_another_process(path, "UPDATE m SET thought = 'other' WHERE id = 'k7'")
        found, route = keys_and_route(archive, 4)
        assert route.endswith("by 4 workers")
        assert found == ["a", *(f"k{n}" for n in range(19, -1, -1) if n != 7)]


def test_a_file_that_was_replaced_is_read_on_by_one_worker(tmp_path: Path) -> None:
    path = wal_table(tmp_path / "a.db")
    other = wal_table(tmp_path / "b.db", count=3)
    with rf.open(path, table="m", **COLUMNS) as archive:
        other.replace(path)
        found, route = keys_and_route(archive)
    assert found[0] == 50
    assert "by one worker: no other connection could be opened" in route


# ---- what is left behind ------------------------------------------------------------


@pytest.mark.parametrize("frames", [False, True])
def test_file_and_wal_are_left_as_they_were(tmp_path: Path, frames: bool) -> None:
    path = wal_table(tmp_path / "a.db")
    if frames:
        crash = (
            "import apsw, os, sys; c = apsw.Connection(sys.argv[1]); "
            "c.execute(\"UPDATE m SET thought = 'quagga' WHERE id < 9\"); os._exit(9)"
        )
        subprocess.run([sys.executable, "-c", crash, str(path)], check=False)
    before = file_state(path)
    assert bool(before["wal_size"]) == frames
    with rf.open(path, table="m", **COLUMNS) as archive:
        for workers in (2, 4):
            assert keys_and_route(archive, workers)[1].endswith(f"by {workers} workers")
    assert {**file_state(path), "shm": None} == {**before, "shm": None}
    if not frames:
        assert [p.name for p in tmp_path.iterdir()] == ["a.db"]


def test_connections_are_kept_for_later_searches_and_closed_with_the_archive(
    tmp_path: Path,
) -> None:
    before = len(apsw.connections())
    with open_table(tmp_path / "a.db", SCHEMA, rows(50), **COLUMNS) as archive:
        archive.search("quagga", scope="thought")
        opened = []
        for workers in (1, 3, 3, 2):
            keys_and_route(archive, workers)
            opened.append(len(apsw.connections()) - before)
        assert opened == [1, 3, 3, 3]
    assert len(apsw.connections()) == before


def test_between_searches_nobody_is_locked_out(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.db", SCHEMA, rows(50))
    with rf.open(path, table="m", **COLUMNS) as archive:
        assert keys_and_route(archive)[1].endswith("by 3 workers")
        writer = apsw.Connection(str(path))
        writer.execute("DELETE FROM m WHERE id > 3")
        assert keys_and_route(archive)[0] == [3, 2, 1]
        writer.close()


def test_an_archive_in_a_folder_that_cannot_be_written_is_shared_out_as_a_copy(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    as_plain_user: Any,
) -> None:
    scratch = tmp_path_factory.mktemp("scratch")
    path = wal_table(tmp_path / "a.db")
    before = file_state(path)
    monkeypatch.setenv("TMPDIR", str(scratch))
    code = (
        "import sys; import sqlite_reasoning_fts as rf\n"
        "with rf.open(sys.argv[1], table='m', said=['said'], thought=['thought']) as archive:\n"
        "    found = archive.search('quagga', scope='thought', order='newest', workers=2)\n"
        "    print(len(found.hits), 'copy' in archive.notes[-1], found.coverage.route)\n"
    )
    tmp_path.chmod(0o555)
    try:
        done = as_plain_user([sys.executable, "-c", code, str(path)])
    finally:
        tmp_path.chmod(0o755)
    assert done.stdout.strip() == "20 True scan of the rows by 2 workers", done.stderr
    assert list(scratch.iterdir()) == []
    assert file_state(path) == before


def test_no_connection_is_opened_to_a_file_that_another_library_holds_by_now(
    tmp_path: Path,
) -> None:
    with open_table(tmp_path / "a.db", SCHEMA, rows(50), **COLUMNS) as archive:
        host = sqlite3.connect(tmp_path / "a.db")
        host.execute("BEGIN IMMEDIATE")
        found, route = keys_and_route(archive)
        host.close()
    assert len(found) == 20
    assert "already holds the file" in route


# ---- a host's own connection --------------------------------------------------------


@pytest.fixture
def host(tmp_path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(wal_table(tmp_path / "host.db")))
    yield connection
    connection.close()


def test_a_hosts_connection_is_joined_by_others_and_left_as_it_was(host: apsw.Connection) -> None:
    before = len(apsw.connections())
    with rf.open(host, table="m", **COLUMNS) as archive:
        assert keys_and_route(archive)[1] == "scan of the rows by 3 workers"
        assert answer(archive, 3, scope="all", order="newest") == answer(
            archive, 1, scope="all", order="newest"
        )
    assert len(apsw.connections()) == before
    assert host.execute("SELECT count(*) FROM temp.sqlite_schema").get == 0
    assert (host.in_transaction, host.execute("PRAGMA query_only").get) == (False, 0)
    host.execute("UPDATE m SET time = 0")


def test_a_host_sees_the_rows_that_it_has_not_committed(host: apsw.Connection) -> None:
    with rf.open(host, table="m", **COLUMNS) as archive:
        keys_and_route(archive)
        host.execute("BEGIN; INSERT INTO m VALUES (99, 99, '', 'quagga uncommitted')")
        found, route = keys_and_route(archive)
        assert found[0] == 99
        assert route == "scan of the rows by one worker: the connection is in a transaction"
        host.execute("ROLLBACK")
        assert keys_and_route(archive)[0][0] == 50


def test_a_host_that_reads_an_earlier_moment_gets_the_rows_of_that(
    host: apsw.Connection, tmp_path: Path
) -> None:
    with rf.open(host, table="m", **COLUMNS) as archive:
        keys_and_route(archive)
        reading = host.execute("SELECT * FROM m")
        by_another_process(tmp_path / "host.db", "UPDATE m SET thought = 'other'")
        found, route = keys_and_route(archive)
        assert found[0] == 50
        assert "by one worker: the connection is in a transaction" in route
        reading.close()
        assert keys_and_route(archive) == ([], "scan of the rows by 3 workers")


@pytest.mark.parametrize("name", ["", ":memory:", "file:/m?vfs=memdb"])
def test_a_database_without_a_file_is_read_by_one_worker(name: str) -> None:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    host = apsw.Connection(name, flags=flags)
    host.execute(SCHEMA)
    host.executemany("INSERT INTO m VALUES (?, ?, ?, ?)", rows(50))
    with rf.open(host, table="m", **COLUMNS) as archive:
        found, route = keys_and_route(archive)
    assert len(found) == 20
    assert "by one worker: no other connection could be opened (the database is in memory" in route
    host.close()


def test_a_host_whose_file_was_replaced_is_read_by_one_worker(
    host: apsw.Connection, tmp_path: Path
) -> None:
    wal_table(tmp_path / "b.db", count=3).replace(tmp_path / "host.db")
    with rf.open(host, table="m", **COLUMNS) as archive:
        found, route = keys_and_route(archive)
    assert found[0] == 50
    assert "the file was replaced or removed" in route


def test_what_a_host_has_added_to_its_connection_counts(host: apsw.Connection) -> None:
    host.execute("CREATE VIEW v AS SELECT id, time, said, shout(thought) AS thought FROM m")
    host.create_scalar_function("shout", lambda text: f"{text} aloud", 1)
    with rf.open(host, table="v", **COLUMNS) as archive:
        found, route = keys_and_route(archive, query="aloud")
    assert len(found) == 20
    assert "no such function: shout" in route


def test_a_function_that_a_host_has_replaced_counts(host: apsw.Connection) -> None:
    host.execute("CREATE VIEW v AS SELECT id, time, said, upper(thought) AS thought FROM m")
    host.create_scalar_function("upper", lambda text: f"{text} aloud", 1)
    with rf.open(host, table="v", **COLUMNS) as archive:
        found, route = keys_and_route(archive, query="aloud")
    assert len(found) == 20
    assert "the host has replaced SQLite's upper" in route


STANDARD = """
import json, sqlite3
import sqlite_reasoning_fts as rf
host = sqlite3.connect({path!r})
with rf.open(host, table="m", said=["said"], thought=["thought"]) as archive:
    found = archive.search("quagga", scope="thought", order="newest", workers=2)
    print(json.dumps([len(found.hits), found.coverage.route]))
"""


def test_the_standard_librarys_connection_is_read_alone(
    loading_python: Any, tmp_path: Path
) -> None:
    path = wal_table(tmp_path / "a.db")
    count, route = loading_python.run(STANDARD.format(path=str(path)))
    assert count == 20
    assert "by one worker: the standard library's sqlite3" in route


# ---- failures -----------------------------------------------------------------------


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    """Three readers in one moment; their threads must be gone at the end."""
    threads = threading.active_count()
    with (
        open_table(tmp_path / "a.db", SCHEMA, rows(50), **COLUMNS) as archive,
        archive._workers.together(3) as opened,
    ):
        assert len(opened.readers) == 3
        yield opened
    assert threading.active_count() == threads


def test_the_newest_rows_are_handed_out_first(team: Team) -> None:
    taken: list[Range] = []
    found = team.each(lambda reader, rows: taken.append(rows) or rows)
    assert taken[0] == team.ranges[-1]
    assert found == list(team.ranges)


def test_a_failure_stops_the_others_and_is_the_one_that_is_raised(team: Team) -> None:
    all_have_begun = threading.Barrier(3)

    def task(reader: Reader, rows: Range) -> None:
        all_have_begun.wait()
        if reader is team.readers[2]:
            raise rf.FaultError("the first failure")
        reader.database.run(ENDLESS)

    with pytest.raises(rf.FaultError, match="the first failure"):
        team.each(task)


def test_an_interrupt_of_the_main_connection_stops_all(team: Team) -> None:
    connection: Any = team.main.database.connection
    stopped = threading.Event()

    def task(reader: Reader, rows: Range) -> None:
        if reader is team.main:
            try:
                reader.database.run(ENDLESS)
            finally:
                stopped.set()
        while not stopped.is_set():
            connection.interrupt()
        reader.database.run(ENDLESS)

    with pytest.raises(rf.FaultError, match="interrupted"):
        team.each(task)


@pytest.mark.parametrize("main_is_idle", [False, True])
def test_ctrl_c_stops_all(team: Team, main_is_idle: bool) -> None:
    all_have_begun = threading.Barrier(2 if main_is_idle else 3)

    def task(reader: Reader, rows: Range) -> None:
        if reader is team.main and main_is_idle:
            return
        all_have_begun.wait()
        if reader is team.readers[1]:
            os.kill(os.getpid(), signal.SIGINT)
        reader.database.run(ENDLESS)

    with pytest.raises(KeyboardInterrupt):
        team.each(task)
    assert answer_after_failure(team) == 50


def answer_after_failure(team: Team) -> int:
    """The connections serve on: the rows that they count together."""
    return sum(part.rows for part in team.each(Reader.counts_of))


def test_damage_is_the_same_error_as_with_one_worker(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    write_table(path, SCHEMA, [*rows(50), (51, 51, "", "quagga " * 60_000)])
    damage = (
        "import os, sys\nsize = os.path.getsize(sys.argv[1])\n"
        "with open(sys.argv[1], 'r+b') as f:\n    f.seek(size - 40 * 4096)\n    "
        "f.write(b'\\xee' * 40 * 4096)\n"
    )
    subprocess.run([sys.executable, "-c", damage, str(path)], check=True)
    errors = []
    for workers in (1, 3):
        with rf.open(path, table="m", **COLUMNS) as archive:
            with pytest.raises(rf.ReasoningFtsError) as caught:
                archive.search("quagga", scope="thought", order="newest", workers=workers)
            errors.append((caught.value.kind, caught.value.hint))
            assert not any(c.in_transaction for c in apsw.connections())
    assert errors[0] == errors[1]
    assert errors[0][0] == "damaged"
