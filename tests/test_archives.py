"""Archives for tests equal the real agent's: the layout of the demo, and what the agent writes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import apsw
import pytest
from archives import (
    HERMES_ROWS,
    THOUGHT_COLUMNS,
    HermesArchive,
    decoded,
    demo_archive,
    file_state,
    hermes_package,
    reading,
    value,
    write_hermes_archive,
)

from sqlite_reasoning_fts.demo import DemoArchive

SAID = "coalesce(content, '') || ' ' || coalesce(tool_name, '') || ' ' || coalesce(tool_calls, '')"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoArchive:
    return demo_archive(tmp_path_factory.mktemp("demo"), 0.01)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hermes_package(tmp_path_factory.getbasetemp() / "packages")


@pytest.fixture(scope="module")
def hermes(tmp_path_factory: pytest.TempPathFactory, package: Path) -> HermesArchive:
    path = tmp_path_factory.mktemp("hermes") / "state.db"
    return write_hermes_archive(path, package=package, search=("sturgeon", "zebrafish", "old"))


def schema(path: str | Path) -> set[tuple[str, str, str, str]]:
    """All objects of a file, with their SQL on one line."""
    sql = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master"
    with reading(path) as archive:
        return {
            (kind, name, table, one_line(text)) for kind, name, table, text in archive.execute(sql)
        }


def one_line(sql: str) -> str:
    return re.sub(r"(?<=\() | (?=\))", "", " ".join(sql.split()))


# Layout ------------------------------------------------------------------------------------


def test_the_layout_equals_what_the_agent_itself_creates(
    demo: DemoArchive, hermes: HermesArchive
) -> None:
    assert schema(demo.path) == schema(hermes.path)


def test_the_schema_version_is_the_agents(demo: DemoArchive, hermes: HermesArchive) -> None:
    sql = "SELECT version FROM schema_version"
    versions = []
    for path in (demo.path, hermes.path):
        with reading(path) as archive:
            versions.append(archive.execute(sql).fetchall())
    assert versions[0] == versions[1] == [(22,)]


def test_the_agent_searches_and_continues_a_demo_archive(
    demo: DemoArchive, package: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "state.db"
    shutil.copyfile(demo.path, copy)
    before = schema(copy)
    row = {"session": "new", "role": "assistant", "content": "a quetzalcoatlus flew by"}
    written = write_hermes_archive(
        copy, [row], package=package, search=("quetzalcoatlus", "python")
    )
    assert written.found["quetzalcoatlus"] == written.ids == [demo.rows + 1]
    assert len(written.found["python"]) > 10
    assert schema(copy) == before


def test_the_file_is_in_wal_mode_with_nothing_in_the_wal(demo: DemoArchive) -> None:
    state = file_state(Path(demo.path))
    with reading(demo.path) as archive:
        mode = value(archive, "PRAGMA journal_mode")
    assert mode == "wal"
    assert (state["wal_size"], state["shm"]) == (None, False)


def test_the_file_passes_the_integrity_check(demo: DemoArchive) -> None:
    with reading(demo.path) as archive:
        assert value(archive, "PRAGMA integrity_check") == "ok"


@pytest.mark.parametrize("table", ["messages_fts", "messages_fts_trigram"])
def test_the_agents_indexes_hold_every_message(demo: DemoArchive, table: str) -> None:
    opened = apsw.Connection(demo.path)
    missing = value(
        opened,
        f"SELECT count(*) FROM messages AS m LEFT JOIN {table} AS f ON f.rowid = m.id "
        f"WHERE f.content IS NOT ({SAID.replace('(content', '(m.content')})",
    )
    # Compares the index with the texts, and leaves the file as it was.
    opened.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
    opened.close()
    assert missing == 0


@pytest.mark.parametrize("table", ["messages_fts", "messages_fts_trigram"])
def test_the_agents_indexes_are_merged_and_keep_no_options(demo: DemoArchive, table: str) -> None:
    with reading(demo.path) as archive:
        assert value(archive, f"SELECT count(DISTINCT segid) FROM {table}_idx") == 1
        assert archive.execute(f"SELECT k FROM {table}_config").fetchall() == [("version",)]


# The archive that the agent itself writes --------------------------------------------------


def test_the_agents_own_search_misses_what_was_thought(hermes: HermesArchive) -> None:
    assert hermes.found["zebrafish"] == []
    assert hermes.found["sturgeon"] == [hermes.ids[3]]


def test_the_agents_own_search_finds_compacted_rows(hermes: HermesArchive) -> None:
    assert set(hermes.ids[10:12]) <= set(hermes.found["old"])


def test_the_written_archive_has_a_row_of_every_kind(hermes: HermesArchive) -> None:
    sql = f"SELECT id, active, compacted, content, {THOUGHT_COLUMNS} FROM messages ORDER BY id"
    with reading(hermes.path) as archive:
        rows = {row[0]: row[1:] for row in archive.execute(sql)}
    ids = hermes.ids
    assert len(ids) == len(HERMES_ROWS)
    assert rows[ids[1]][2] == ""
    assert decoded(rows[ids[1]][3:]) == {HERMES_ROWS[1]["reasoning"]}
    assert decoded(rows[ids[3]][3:]) == {HERMES_ROWS[3]["reasoning"]}
    assert "\\u" in rows[ids[3]][5]
    assert decoded(rows[ids[4]][3:]) == set()
    assert rows[ids[7]][2].startswith("\0json:")
    assert rows[ids[8]][:2] == rows[ids[9]][:2] == (0, 0)
    assert rows[ids[11]][:2] == (0, 1)


def test_asking_for_a_files_state_keeps_the_locks_of_this_process(tmp_path: Path) -> None:
    # With a rollback journal the locks are on the file itself.
    path = tmp_path / "locked.db"
    opened = apsw.Connection(str(path))
    opened.execute("CREATE TABLE t (a)")
    opened.execute("BEGIN IMMEDIATE")
    first = file_state(path)
    assert file_state(path) == first
    program = (
        "import apsw, sys\n"
        "try:\n"
        "    apsw.Connection(sys.argv[1]).execute('BEGIN IMMEDIATE')\n"
        "except apsw.BusyError:\n"
        "    print('busy')\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    opened.execute("ROLLBACK")
    opened.close()
    assert other.stdout == "busy\n"
