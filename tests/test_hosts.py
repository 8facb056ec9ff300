"""An archive on the host's own connection, and beside writers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from loading_python import find
from tables import write_table

import sqlite_reasoning_fts as rf

SCHEMA = "CREATE TABLE m(id TEXT PRIMARY KEY, thought) WITHOUT ROWID"


def test_two_archives_on_one_connection_are_kept_apart(tmp_path: Path) -> None:
    host = apsw.Connection(str(write_table(tmp_path / "a.db", SCHEMA, [("one", "quagga")])))
    host.execute("CREATE TABLE n(id TEXT PRIMARY KEY, thought) WITHOUT ROWID")
    host.execute("INSERT INTO n VALUES ('two', 'quagga')")
    first = rf.open(host, table="m", key="id", thought=["thought"])
    second = rf.open(host, table="n", key="id", thought=["thought"])
    assert [hit.key for hit in first.search("quagga", scope="thought").hits] == ["one"]
    assert [hit.key for hit in second.search("quagga", scope="thought").hits] == ["two"]
    second.close()
    assert [hit.key for hit in first.search("quagga", scope="thought").hits] == ["one"]
    first.close()
    assert host.execute("SELECT count(*) FROM temp.sqlite_schema").get == 0
    host.close()


def test_the_hosts_rollback_does_not_end_the_archive(tmp_path: Path) -> None:
    host = apsw.Connection(str(write_table(tmp_path / "a.db", SCHEMA, [("one", "quagga")])))
    host.execute("BEGIN")
    archive = rf.open(host, table="m", key="id", thought=["thought"])
    host.execute("ROLLBACK")
    assert archive.search("quagga", scope="thought").hits
    host.close()


def test_rows_that_are_added_later_are_found_whatever_their_key(tmp_path: Path) -> None:
    path = write_table(tmp_path / "a.db", SCHEMA, [("one", "quagga")])
    writer = apsw.Connection(str(path))
    with rf.open(path, table="m", key="id", thought=["thought"]) as archive:
        writer.execute("INSERT INTO m VALUES ('zero', 'quagga')")
        found = archive.search("quagga", scope="thought")
        assert {hit.key for hit in found.hits} == {"one", "zero"}
        assert found.coverage.rows_considered == 2
    writer.close()


HOST = """
import json, sqlite3
import sqlite_reasoning_fts as rf
host = sqlite3.connect({path!r})
archive = rf.open(host, table="m", key="id", thought=["thought"])
found = [host.in_transaction, len(archive.search("quagga", scope="thought").hits)]
print(json.dumps([*found, host.in_transaction]))
"""


def test_no_transaction_is_left_open_on_the_standard_librarys_connection(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path = write_table(tmp_path / "a.db", SCHEMA, [("one", "quagga")])
    assert request.config.cache is not None
    found = find(request.config.cache).run(HOST.format(path=str(path)))
    assert found == [False, 1, False]


CHURN = """
import apsw, sys
writer = apsw.Connection(sys.argv[1])
writer.set_busy_timeout(5000)
print("ready", flush=True)
for turn in range(100000):
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("DELETE FROM messages WHERE id > 1000000")
    writer.execute(
        "WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 50) "
        "INSERT INTO messages(id, session_id, role, content, reasoning, timestamp) "
        "SELECT 1000000 + ?1 * 100 + v, 's1', 'assistant', 'okapi', 'quagga okapi', 1.0 FROM n",
        (turn,),
    )
    writer.execute("COMMIT")
"""


def test_every_answer_beside_a_writer_is_of_one_moment(
    written_by_hermes: Any, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(written_by_hermes.path, path)
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = wal")
    connection.close()
    writer = subprocess.Popen(
        [sys.executable, "-c", CHURN, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        with rf.open(path) as archive:
            for _ in range(60):
                for scope in ("said", "thought", "all"):
                    found = archive.search("okapi", scope=scope, limit=1000)
                    assert len(found.hits) in (0, 50)
                    assert all("[okapi]" in hit.snippet for hit in found.hits)
    finally:
        writer.kill()
        writer.wait()
        writer.stdout.close()
