"""Opening an archive: reading never writes, and no lock of the host is lost."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest
from archives import file_state
from loading_python import find

import sqlite_reasoning_fts as rf
from sqlite_reasoning_fts import opening


def read_everything(path: Path) -> None:
    with rf.open(path) as archive:
        archive.audit()
        for scope in ("said", "thought", "all"):
            archive.search("zebrafish", scope=scope)
        archive.search("zebrafish", scope="all", design="full")
        archive.compare(repeat=1)


def copy_of(source: Path, target: Path) -> Path:
    """A copy in WAL mode, closed properly, so that it has no WAL."""
    shutil.copyfile(source, target)
    connection = apsw.Connection(str(target))
    connection.execute("PRAGMA journal_mode = wal")
    connection.close()
    return target


@pytest.fixture
def archive_path(written_by_hermes: Any, tmp_path: Path) -> Path:
    return copy_of(written_by_hermes.path, tmp_path / "state.db")


def test_reading_leaves_file_and_folder_as_they_were(archive_path: Path) -> None:
    before = file_state(archive_path)
    read_everything(archive_path)
    assert file_state(archive_path) == before
    assert [p.name for p in archive_path.parent.iterdir()] == ["state.db"]


def test_nothing_can_be_written_through_a_file_that_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    made = apsw.Connection(str(path))
    made.execute("CREATE TABLE t(a)")
    made.close()
    opened = opening.open_file(path)
    with pytest.raises(apsw.ReadOnlyError):
        opened.connection.execute("INSERT INTO t VALUES (1)")
    opened.close()


def test_reading_leaves_the_frames_of_a_wal_where_they_are(archive_path: Path) -> None:
    left_open = "import apsw, os, sys; c = apsw.Connection(sys.argv[1]); c.execute(sys.argv[2])"
    insert = (
        "INSERT INTO messages(session_id, role, content, reasoning, timestamp) "
        "VALUES ('s1', 'assistant', '', 'capybara', 1796062099.0)"
    )
    crash = f"{left_open}; os._exit(9)"
    subprocess.run([sys.executable, "-c", crash, str(archive_path), insert], check=False)
    before = file_state(archive_path)
    assert before["wal_size"]
    with rf.open(archive_path) as archive:
        assert archive.search("capybara", scope="thought").hits
    read_everything(archive_path)
    after = file_state(archive_path)
    assert {**after, "shm": None} == {**before, "shm": None}


def test_a_crashed_writers_journal_is_not_rolled_back_in_the_agents_file(
    written_by_hermes: Any, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(written_by_hermes.path, path)
    crash = (
        "import apsw, os, sys\n"
        "c = apsw.Connection(sys.argv[1])\n"
        "c.execute('PRAGMA journal_mode = delete; PRAGMA cache_size = 1; PRAGMA cache_spill = 1')\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "c.execute(\"UPDATE messages SET reasoning = 'half written' || hex(randomblob(20000))\")\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", crash, str(path)], check=False)
    journal = Path(f"{path}-journal")
    assert journal.stat().st_size
    before = (file_state(path), journal.stat().st_size)
    with rf.open(path) as archive:
        assert archive.search("zebrafish", scope="thought").hits
        assert not archive.search("half", scope="thought").hits
    assert (file_state(path), journal.stat().st_size) == before


@pytest.mark.parametrize("state", ["frames in the WAL", "a crashed writer's journal"])
def test_a_link_to_an_archive_is_read_as_carefully(
    archive_path: Path, tmp_path: Path, state: str
) -> None:
    mode = "wal" if state == "frames in the WAL" else "delete"
    crash = (
        "import apsw, os, sys\n"
        "c = apsw.Connection(sys.argv[1])\n"
        f"c.execute('PRAGMA journal_mode = {mode}; PRAGMA cache_size = 1')\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "c.execute(\"UPDATE messages SET reasoning = 'half' || hex(randomblob(20000))\")\n"
        f"c.execute('{'COMMIT' if mode == 'wal' else 'SELECT 1'}')\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", crash, str(archive_path)], check=False)
    left = [Path(f"{archive_path}{suffix}") for suffix in ("-wal", "-journal")]
    before = (file_state(archive_path), [path.exists() and path.stat().st_size for path in left])
    assert any(before[1])
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    link = folder / "link.db"
    link.symlink_to(archive_path)
    with rf.open(link) as archive:
        archive.search("zebrafish", scope="thought")
    after = (file_state(archive_path), [path.exists() and path.stat().st_size for path in left])
    assert {**after[0], "shm": None} == {**before[0], "shm": None}
    assert after[1] == before[1]
    assert list(folder.iterdir()) == [link]


def test_a_writer_goes_on_while_an_archive_is_compared(archive_path: Path) -> None:
    writer = apsw.Connection(str(archive_path))
    written = 0

    def write(done: int, total: int, what: str) -> None:
        nonlocal written
        writer.execute(
            "INSERT INTO messages(session_id, role, content, reasoning, timestamp) "
            "VALUES ('s1', 'assistant', '', 'capybara', 1796062099.0)"
        )
        written += 1

    with rf.open(archive_path) as archive:
        rows = archive.audit().rows
        found = archive.compare(repeat=1, progress=write)
        assert written
        assert found.oracle.rows < rows + written
        assert found.wal_growth_bytes > 0
        assert found.agrees
    writer.close()


def test_an_archive_with_a_rollback_journal_can_be_written_while_it_is_compared(
    written_by_hermes: Any, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(written_by_hermes.path, path)
    writer = apsw.Connection(str(path))
    assert writer.execute("PRAGMA journal_mode = delete").get == "delete"
    writer.set_busy_timeout(0)
    written = 0

    def write(done: int, total: int, what: str) -> None:
        nonlocal written
        writer.execute("UPDATE sessions SET title = ? WHERE id = 's1'", (f"title {written}",))
        written += 1

    with rf.open(path) as archive:
        assert archive.compare(repeat=1, progress=write).agrees
    assert written
    writer.close()


def test_an_agent_that_never_pauses_does_not_keep_the_comparison_from_ending(
    written_by_hermes: Any, tmp_path: Path
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(written_by_hermes.path, path)
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA journal_mode = delete")
    writer.execute("CREATE TABLE filler AS SELECT randomblob(4000000) AS x")

    def write(done: int, total: int, what: str) -> None:
        if what == "copying the archive" and done < total:
            writer.execute("UPDATE sessions SET title = hex(randomblob(9)) WHERE id = 's1'")

    with rf.open(path) as archive:
        assert archive.compare(repeat=1, progress=write).agrees
    writer.close()


def test_a_file_that_another_library_of_this_process_holds_is_refused(archive_path: Path) -> None:
    host = sqlite3.connect(archive_path)
    with pytest.raises(rf.FileError) as caught:
        rf.open(archive_path)
    host.close()
    assert caught.value.kind == "in_use"
    assert "process of its own" in str(caught.value)


def test_a_file_that_this_process_holds_by_a_handle_is_refused(archive_path: Path) -> None:
    with archive_path.open("rb"), pytest.raises(rf.FileError) as caught:
        rf.open(archive_path)
    assert caught.value.kind == "in_use"


def test_a_link_to_a_held_file_is_refused_too(archive_path: Path) -> None:
    link = archive_path.with_name("link.db")
    link.hardlink_to(archive_path)
    host = sqlite3.connect(archive_path)
    with pytest.raises(rf.FileError) as caught:
        rf.open(link)
    host.close()
    assert caught.value.kind == "in_use"


def test_the_same_library_may_hold_the_file(archive_path: Path) -> None:
    host = apsw.Connection(str(archive_path))
    with rf.open(archive_path) as first, rf.open(archive_path) as second:
        assert first.search("linker").hits == second.search("linker").hits
    host.close()


def test_a_closed_archive_does_not_lock_the_next_one_out(archive_path: Path) -> None:
    """SQLite keeps a closed connection's handle while another connection has locks."""
    with rf.open(archive_path) as first:
        first.search("linker")
        rf.open(archive_path).close()
        with rf.open(archive_path) as third:
            assert third.search("linker").hits
        host = sqlite3.connect(archive_path)
        with pytest.raises(rf.FileError):
            rf.open(archive_path)
        host.close()


LOSS = """
import os, sqlite3, subprocess, sys
import apsw
from sqlite_reasoning_fts import opening
import sqlite_reasoning_fts as rf

path, guarded = sys.argv[1], sys.argv[2] == "guarded"
if not guarded:
    opening.check_not_held = lambda name: None
host = sqlite3.connect(path, isolation_level=None)
host.execute("BEGIN IMMEDIATE")
host.execute("UPDATE sessions SET title = 'host' WHERE id = 's1'")
try:
    rf.open(path).close()
except rf.FileError:
    pass
other = '''
import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=0)
try:
    c.execute("BEGIN IMMEDIATE")
    print("both write")
except sqlite3.OperationalError:
    print("locked out")
'''
print(subprocess.run([sys.executable, "-c", other, path], capture_output=True, text=True).stdout)
"""


@pytest.mark.parametrize(("guard", "outcome"), [("guarded", "locked out"), ("open", "both write")])
def test_without_the_guard_two_processes_write_at_once(
    written_by_hermes: Any, tmp_path: Path, guard: str, outcome: str
) -> None:
    path = tmp_path / "state.db"
    shutil.copyfile(written_by_hermes.path, path)
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = delete")
    connection.close()
    done = subprocess.run(
        [sys.executable, "-c", LOSS, str(path), guard], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == outcome, done.stderr


def test_the_hosts_own_connection_is_used_and_left_as_it_was(archive_path: Path) -> None:
    host = apsw.Connection(str(archive_path))
    with rf.open(host) as archive:
        assert archive.search("zebrafish", scope="thought").hits
        with pytest.raises(rf.UsageError, match="a process of its own"):
            archive.compare()
    assert host.execute("SELECT count(*) FROM temp.sqlite_schema").get == 0
    assert host.execute("PRAGMA query_only").get == 0
    host.execute("UPDATE sessions SET title = 'writable' WHERE id = 's1'")
    host.close()


HOST = """
import json, sqlite3
import sqlite_reasoning_fts as rf
host = sqlite3.connect({path!r})
host.row_factory = sqlite3.Row
host.text_factory = {factory}
with rf.open(host) as archive:
    found = archive.search("zebrafish", scope="thought")
    print(json.dumps([found.hits[0].snippet, archive.audit().rows_with_reasoning]))
"""


@pytest.mark.parametrize("factory", ["str", "bytes"])
def test_the_standard_librarys_connection_works_whatever_its_factories(
    request: pytest.FixtureRequest, archive_path: Path, factory: str
) -> None:
    assert request.config.cache is not None
    python = find(request.config.cache)
    snippet, rows = python.run(HOST.format(path=str(archive_path), factory=factory))
    assert snippet.startswith("[zebrafish]: the linker")
    with rf.open(archive_path) as archive:
        assert archive.audit().rows_with_reasoning == rows


def test_a_folder_that_cannot_be_written_is_read_through_a_private_copy(
    archive_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    as_plain_user: Any,
) -> None:
    scratch = tmp_path_factory.mktemp("scratch") / "tmp"
    archive_path.parent.chmod(0o555)
    try:
        before = file_state(archive_path)
        code = (
            "import sys; import sqlite_reasoning_fts as rf\n"
            "with rf.open(sys.argv[1]) as archive:\n"
            "    print(len(archive.search('zebrafish', scope='thought').hits),\n"
            "          'private copy' in archive.notes[-1])\n"
        )
        scratch.mkdir()
        monkeypatch.setenv("TMPDIR", str(scratch))
        done = as_plain_user([sys.executable, "-c", code, str(archive_path)])
        assert done.stdout.split() == ["1", "True"], done.stderr
        assert list(scratch.iterdir()) == []
        assert file_state(archive_path) == before
    finally:
        archive_path.parent.chmod(0o755)


def test_a_file_replaced_while_it_is_compared_is_noticed(archive_path: Path) -> None:
    def replace(done: int, total: int, what: str) -> None:
        other = archive_path.with_name("other.db")
        if what.startswith("timing") and not other.exists():
            shutil.copyfile(archive_path, other)
            shutil.copyfile(archive_path, archive_path.with_name("third.db"))
            archive_path.with_name("third.db").replace(archive_path)

    with rf.open(archive_path) as archive, pytest.raises(rf.FileError) as caught:
        archive.compare(repeat=1, progress=replace)
    assert caught.value.kind == "changed"


def test_no_room_for_the_scratch_file_is_said_before_anything_is_written(
    archive_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")._replace(free=1000)
    monkeypatch.setattr(opening.shutil, "disk_usage", lambda folder: usage)
    with rf.open(archive_path) as archive, pytest.raises(rf.NoRoomError) as caught:
        archive.compare()
    assert "TMPDIR" in str(caught.value)
    assert caught.value.exit_code == 2
