"""The demo archive: a real agent's layout, its proportions, reproducible, and never half done."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import apsw
import pytest
from archives import (
    HERMES_ROWS,
    HermesArchive,
    demo_archive,
    file_state,
    hermes_package,
    write_hermes_archive,
)

from sqlite_reasoning_fts.demo import DemoArchive, generate
from sqlite_reasoning_fts.demo.corpus import CorpusError, load_corpus
from sqlite_reasoning_fts.demo.plan import Kind, make_plan
from sqlite_reasoning_fts.errors import FaultError, FileError, NoRoomError, UsageError

SCALE = 0.02
SAID = "coalesce(content, '') || ' ' || coalesce(tool_name, '') || ' ' || coalesce(tool_calls, '')"
THOUGHT_COLUMNS = "reasoning, reasoning_content, reasoning_details, codex_reasoning_items"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoArchive:
    return demo_archive(tmp_path_factory.mktemp("demo"), SCALE)


@pytest.fixture
def archive(demo: DemoArchive) -> Iterator[apsw.Connection]:
    # The tests share the file and only read it. Opened for writing, so that SQLite tidies up
    # the empty WAL that a reader needs.
    opened = apsw.Connection(demo.path, flags=apsw.SQLITE_OPEN_READWRITE)
    opened.execute("PRAGMA query_only = on")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hermes_package(tmp_path_factory.getbasetemp() / "packages")


@pytest.fixture(scope="module")
def hermes(tmp_path_factory: pytest.TempPathFactory, package: Path) -> HermesArchive:
    path = tmp_path_factory.mktemp("hermes") / "state.db"
    return write_hermes_archive(path, package=package, search=("sturgeon", "zebrafish", "old"))


def value(connection: apsw.Connection, sql: str, *parameters: Any) -> Any:
    return connection.execute(sql, parameters).fetchall()[0][0]


def decoded(columns: tuple[Any, ...]) -> set[str]:
    """The different readable thoughts in the four columns of a row."""
    reasoning, content, details, items = columns
    texts = {reasoning, content}
    texts.update(detail.get("text") for detail in json.loads(details or "[]"))
    for item in json.loads(items or "[]"):
        texts.update(part["text"] for part in item["summary"])
    return {text for text in texts if text}


def thoughts(connection: apsw.Connection) -> list[tuple[int, str]]:
    found = []
    for identity, *columns in connection.execute(f"SELECT id, {THOUGHT_COLUMNS} FROM messages"):
        found.extend((identity, text) for text in decoded(tuple(columns)))
    return found


def schema(path: str | Path) -> set[tuple[str, str, str, str]]:
    """All objects of a file, with their SQL on one line."""
    opened = apsw.Connection(str(path))
    rows = opened.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
    found = {(kind, name, table, one_line(sql)) for kind, name, table, sql in rows.fetchall()}
    opened.close()
    return found


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
        opened = apsw.Connection(str(path))
        versions.append(opened.execute(sql).fetchall())
        opened.close()
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
    opened = apsw.Connection(demo.path)
    mode = value(opened, "PRAGMA journal_mode")
    opened.close()
    assert mode == "wal"
    assert (state["wal_size"], state["shm"]) == (None, False)


def test_the_file_passes_the_integrity_check(archive: apsw.Connection) -> None:
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
def test_the_agents_indexes_are_merged_and_keep_no_options(
    archive: apsw.Connection, table: str
) -> None:
    assert value(archive, f"SELECT count(DISTINCT segid) FROM {table}_idx") == 1
    assert archive.execute(f"SELECT k FROM {table}_config").fetchall() == [("version",)]


# Proportions -------------------------------------------------------------------------------


def test_the_plan_at_scale_1_has_the_reference_archives_counts() -> None:
    rows = make_plan(1.0, Random(0)).rows
    thinking = [row for row in rows if row.thought]
    assert (len(rows), len(thinking), sum(row.silent for row in rows)) == (289_433, 61_043, 22_454)
    assert sum(row.thought for row in rows) == pytest.approx(95_100_000, rel=0.005)
    assert sum(row.said for row in rows) == pytest.approx(307_400_000, rel=0.005)
    assert max(max(row.said, row.thought) for row in rows) <= 2_000_000


def test_counts_scale_in_proportion(demo: DemoArchive) -> None:
    assert demo.rows == round(289_433 * SCALE)
    assert demo.rows_with_reasoning == round(61_043 * SCALE)
    assert demo.turns_reasoning_only == round(22_454 * SCALE)
    assert demo.reasoning_characters == pytest.approx(95_100_000 * SCALE, rel=0.005)
    assert demo.content_characters == pytest.approx(307_400_000 * SCALE, rel=0.005)


def test_the_report_counts_what_the_file_holds(demo: DemoArchive, archive: apsw.Connection) -> None:
    found = thoughts(archive)
    rows = {identity for identity, _ in found}
    silent = {
        identity
        for (identity,) in archive.execute("SELECT id FROM messages WHERE coalesce(content,'')=''")
    }
    held = f"coalesce({THOUGHT_COLUMNS}) IS NOT NULL"
    assert value(archive, "SELECT count(*) FROM messages") == demo.rows
    assert len(found) == len(rows) == demo.rows_with_reasoning
    assert sum(len(text) for _, text in found) == demo.reasoning_characters
    assert value(archive, f"SELECT sum(length({SAID})) FROM messages") == demo.content_characters
    assert len(rows & silent) == demo.turns_reasoning_only
    unreadable = value(archive, f"SELECT count(*) FROM messages WHERE {held}") - len(rows)
    assert unreadable == demo.rows_unreadable
    assert demo.bytes == Path(demo.path).stat().st_size


def test_lengths_have_a_heavy_tail(archive: apsw.Connection) -> None:
    lengths = sorted(len(text) for _, text in thoughts(archive))
    mean, median = sum(lengths) / len(lengths), lengths[len(lengths) // 2]
    assert mean > 1.6 * median
    assert lengths[-1] > 15 * mean


def test_every_role_has_a_realistic_share(archive: apsw.Connection) -> None:
    counts = dict(archive.execute("SELECT role, count(*) FROM messages GROUP BY role"))
    total = sum(counts.values())
    assert counts.keys() == {"user", "assistant", "tool"}
    assert 0.05 < counts["user"] / total < 0.2
    assert 0.35 < counts["assistant"] / total < 0.5
    assert 0.35 < counts["tool"] / total < 0.55


# What stands in the rows -------------------------------------------------------------------


def test_only_the_assistant_thinks(archive: apsw.Connection) -> None:
    sql = f"SELECT DISTINCT role FROM messages WHERE coalesce({THOUGHT_COLUMNS}) IS NOT NULL"
    assert archive.execute(sql).fetchall() == [("assistant",)]


def test_about_half_of_the_thoughts_are_stored_twice(
    demo: DemoArchive, archive: apsw.Connection
) -> None:
    same = value(archive, "SELECT count(*) FROM messages WHERE reasoning = reasoning_content")
    assert 0.45 < same / demo.rows_with_reasoning < 0.6
    assert demo.rows_duplicate >= same


def test_every_way_to_store_a_thought_occurs(archive: apsw.Connection) -> None:
    sql = f"SELECT {THOUGHT_COLUMNS} FROM messages WHERE role = 'assistant'"
    shapes = Counter(
        tuple(column is not None for column in columns) for columns in archive.execute(sql)
    )
    assert {
        (True, False, False, False),
        (True, True, False, False),
        (False, True, False, False),
        (True, False, True, False),
        (False, False, True, False),
        (True, False, False, True),
        (False, False, False, True),
    } <= shapes.keys()


def test_json_columns_are_json_and_escape_other_scripts(archive: apsw.Connection) -> None:
    for column in ("tool_calls", "reasoning_details", "codex_reasoning_items"):
        sql = f"SELECT {column} FROM messages WHERE {column} IS NOT NULL"
        texts = [text for (text,) in archive.execute(sql)]
        assert texts
        assert all(text.isascii() and isinstance(json.loads(text), list) for text in texts)


def test_other_scripts_and_emoji_occur_in_a_few_percent_of_rows(
    demo: DemoArchive, archive: apsw.Connection
) -> None:
    texts = [text for (text,) in archive.execute(f"SELECT {SAID} FROM messages")]
    foreign = sum(not text.isascii() for text in texts)
    assert 0.01 < foreign / demo.rows < 0.2
    together = "".join(texts)
    assert all(re.search(kind, together) for kind in ("[äöüß]", "[\u4e00-\u9fff]", "[🚀-🛿]"))


def test_some_rows_are_rewound_some_compacted_some_orphaned(
    demo: DemoArchive, archive: apsw.Connection
) -> None:
    sql = "SELECT active, compacted, count(*) FROM messages GROUP BY 1, 2"
    counts = {(active, compacted): n for active, compacted, n in archive.execute(sql)}
    orphaned = value(
        archive,
        "SELECT count(*) FROM messages WHERE session_id NOT IN (SELECT id FROM sessions)",
    )
    assert counts.keys() == {(1, 0), (0, 0), (0, 1)}
    assert counts[0, 0] == demo.rows_hidden
    assert orphaned == demo.rows_orphaned
    assert 0 < orphaned < 0.1 * demo.rows


def test_sessions_have_parents_titles_and_true_counts(archive: apsw.Connection) -> None:
    parents, titles, wrong = archive.execute(
        "SELECT sum(parent_session_id IN (SELECT id FROM sessions)), count(title), "
        "sum(message_count <> (SELECT count(*) FROM messages AS m "
        "                      WHERE m.session_id = s.id AND m.active = 1)) FROM sessions AS s"
    ).fetchall()[0]
    assert parents > 0
    assert titles > 0
    assert wrong == 0


def test_no_session_has_a_parent_that_is_gone(archive: apsw.Connection) -> None:
    broken = [row[:3] for row in archive.execute("PRAGMA foreign_key_check")]
    assert {table for table, _, _ in broken} <= {"messages"}


def test_time_rises_within_a_session_and_sessions_overlap(archive: apsw.Connection) -> None:
    rows = archive.execute("SELECT session_id, timestamp FROM messages ORDER BY id").fetchall()
    latest: dict[str, float] = {}
    for session, time in rows:
        assert time >= latest.get(session, time)
        latest[session] = time
    runs = sum(1 for _ in itertools.groupby(session for session, _ in rows))
    assert runs > 1.5 * len(latest)


def test_every_tool_result_answers_a_call_of_its_session(archive: apsw.Connection) -> None:
    called: set[tuple[str, str, str]] = set()
    sql = "SELECT session_id, role, tool_calls, tool_call_id, tool_name FROM messages ORDER BY id"
    for session, role, calls, identity, name in archive.execute(sql):
        for call in json.loads(calls or "[]"):
            called.add((session, call["id"], call["function"]["name"]))
            json.loads(call["function"]["arguments"])
        assert role != "tool" or (session, identity, name) in called


# Text --------------------------------------------------------------------------------------


def index_of(texts: list[tuple[int, str]]) -> apsw.Connection:
    """An FTS5 table `thought` with positions, over these texts alone, merged."""
    memory = apsw.Connection(":memory:")
    memory.execute("CREATE VIRTUAL TABLE thought USING fts5(text, content='')")
    memory.execute("BEGIN")
    memory.executemany("INSERT INTO thought (rowid, text) VALUES (?, ?)", texts)
    memory.execute("COMMIT")
    memory.execute("INSERT INTO thought (thought) VALUES ('optimize')")
    memory.execute("CREATE VIRTUAL TABLE terms USING fts5vocab(thought, row)")
    return memory


def test_a_full_index_over_the_thoughts_has_a_realistic_size(archive: apsw.Connection) -> None:
    texts = thoughts(archive)
    memory = index_of(texts)
    size = value(memory, "SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'thought%'")
    memory.close()
    assert 0.28 < size / sum(len(text.encode()) for _, text in texts) < 0.48


def test_the_vocabulary_has_rare_and_common_terms(
    demo: DemoArchive, archive: apsw.Connection
) -> None:
    memory = index_of(thoughts(archive))
    rare = value(memory, "SELECT count(*) FROM terms WHERE doc BETWEEN 1 AND 20")
    once = value(memory, "SELECT count(*) FROM terms WHERE doc = 1")
    many = demo.rows_with_reasoning // 10
    common = value(memory, "SELECT count(*) FROM terms WHERE doc > ?", many)
    memory.close()
    assert rare > 5 * demo.rows_with_reasoning
    assert 0 < once < rare
    assert common > 50


def test_word_pairs_are_spread_over_document_frequencies(archive: apsw.Connection) -> None:
    pairs: Counter[tuple[str, str]] = Counter()
    for _, text in thoughts(archive):
        words = re.findall(r"[a-z]+", text.lower())
        pairs.update(set(itertools.pairwise(words)))
    for least in (2, 5, 20, 100):
        assert sum(count >= least for count in pairs.values()) > 30


def test_no_row_repeats_a_paragraph_in_bulk(archive: apsw.Connection) -> None:
    rows = archive.execute("SELECT content FROM messages UNION ALL SELECT reasoning FROM messages")
    longest = sorted((text for (text,) in rows if text), key=len)[-40:]
    for text in longest:
        counts = Counter(part for part in text.split("\n\n") if len(part) > 200)
        assert max(counts.values(), default=0) < 10


def test_texts_hold_no_nul(archive: apsw.Connection) -> None:
    texts = archive.execute(f"SELECT {SAID}, reasoning FROM messages")
    assert not any("\0" in said or "\0" in (thought or "") for said, thought in texts)


def test_a_library_without_source_text_is_reported(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="sentences"):
        load_corpus(tmp_path)


# Reproducible ------------------------------------------------------------------------------


def content(path: str | Path) -> list[tuple[Any, ...]]:
    opened = apsw.Connection(str(path))
    rows = opened.execute("SELECT * FROM messages").fetchall()
    rows += opened.execute("SELECT * FROM sessions").fetchall()
    opened.close()
    return rows


def test_a_seed_names_one_archive(tmp_path: Path) -> None:
    first = generate(tmp_path / "1.db", scale=0.003, seed=7)
    second = generate(tmp_path / "2.db", scale=0.003, seed=7)
    other = generate(tmp_path / "3.db", scale=0.003, seed=8)
    assert content(first.path) == content(second.path)
    assert content(first.path) != content(other.path)


def test_a_plan_has_the_sizes_that_were_asked_for_at_every_scale() -> None:
    for scale in (0.0005, 0.001, 0.0123, 0.1):
        rows = make_plan(scale, Random(1)).rows
        assert len(rows) == round(289_433 * scale)
        assert sum(row.thought > 0 for row in rows) == round(61_043 * scale)
        assert sum(row.silent for row in rows) == round(22_454 * scale)
        assert all(row.kind in (Kind.CALL, Kind.ANSWER) for row in rows if row.thought)


# Refusals, and nothing left behind ---------------------------------------------------------


def test_an_existing_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    path.write_text("mine")
    with pytest.raises(FileError, match="exists") as caught:
        generate(path, scale=0.001)
    assert caught.value.kind == "exists"
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_an_existing_file_is_replaced_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    path.write_text("old")
    made = generate(path, scale=0.001, force=True)
    assert value(apsw.Connection(str(path)), "SELECT count(*) FROM messages") == made.rows


@pytest.mark.parametrize("force", [False, True])
def test_a_name_whose_wal_exists_is_refused(tmp_path: Path, force: bool) -> None:
    beside = tmp_path / "open.db-wal"
    beside.write_bytes(b"")
    with pytest.raises(FileError, match="open") as caught:
        generate(tmp_path / "open.db", scale=0.001, force=force)
    assert caught.value.kind == "in_use"


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="folder") as caught:
        generate(tmp_path, scale=0.001, force=True)
    assert caught.value.kind == "directory"


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="does not exist") as caught:
        generate(tmp_path / "none" / "a.db", scale=0.001)
    assert caught.value.kind == "not_found"


@pytest.mark.parametrize("scale", [0.0, -1.0, 100.0, float("nan")])
def test_a_scale_out_of_bounds_is_refused(tmp_path: Path, scale: float) -> None:
    with pytest.raises(UsageError, match="scale"):
        generate(tmp_path / "a.db", scale=scale)


def test_a_disk_without_room_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1, 1, 1000))
    with pytest.raises(NoRoomError, match="MB free"):
        generate(tmp_path / "a.db", scale=0.001)
    assert list(tmp_path.iterdir()) == []


def test_a_python_without_source_text_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(FaultError, match="sentences"):
        generate(tmp_path / "a.db", scale=0.001)


STAGES = [
    "writing messages",
    "filling messages_fts",
    "filling messages_fts_trigram",
    "messages_fts is merged",
    "messages_fts_trigram is merged",
]


@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupted_run_leaves_nothing_behind(tmp_path: Path, stage: str) -> None:
    def stop(done: int, total: int, what: str) -> None:
        if what == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(tmp_path / "a.db", scale=0.003, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_progress_callback_comes_through(tmp_path: Path) -> None:
    def stop(done: int, total: int, what: str) -> None:
        raise BrokenPipeError("nobody reads this")

    with pytest.raises(BrokenPipeError):
        generate(tmp_path / "a.db", scale=0.003, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_signal_ends_the_longest_statement(tmp_path: Path) -> None:
    # The process interrupts itself inside the one statement that fills the trigram index.
    program = (
        "import os, signal, sys\n"
        "from sqlite_reasoning_fts.demo import generate\n"
        "def report(done, total, what):\n"
        "    if what == 'filling messages_fts_trigram':\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "generate(sys.argv[1], scale=0.01, progress=report)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KeyboardInterrupt" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_progress_rises_from_nothing_to_all(tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    generate(tmp_path / "a.db", scale=0.005, progress=lambda *call: seen.append(call))
    done = [at for at, _, _ in seen]
    assert done == sorted(done)
    assert done[0] == 0
    assert done[-1] == seen[-1][1]
    assert len({total for _, total, _ in seen}) == 1


def test_the_report_is_plain_data(demo: DemoArchive) -> None:
    assert json.loads(json.dumps(demo.to_dict()))["rows"] == demo.rows


# The archive that the agent itself writes --------------------------------------------------


def test_the_agents_own_search_misses_what_was_thought(hermes: HermesArchive) -> None:
    assert hermes.found["zebrafish"] == []
    assert hermes.found["sturgeon"] == [hermes.ids[3]]


def test_the_agents_own_search_finds_compacted_rows(hermes: HermesArchive) -> None:
    assert set(hermes.ids[10:12]) <= set(hermes.found["old"])


def test_the_written_archive_has_a_row_of_every_kind(hermes: HermesArchive) -> None:
    opened = apsw.Connection(str(hermes.path))
    sql = f"SELECT id, active, compacted, content, {THOUGHT_COLUMNS} FROM messages ORDER BY id"
    rows = {row[0]: row[1:] for row in opened.execute(sql)}
    opened.close()
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


def test_reading_a_files_state_changes_nothing(hermes: HermesArchive) -> None:
    opened = apsw.Connection(str(hermes.path))
    opened.execute("BEGIN IMMEDIATE")
    first = file_state(hermes.path)
    # The lock of this process still holds: another connection cannot write.
    second = apsw.Connection(str(hermes.path))
    with pytest.raises(apsw.BusyError):
        second.execute("BEGIN IMMEDIATE")
    second.close()
    assert file_state(hermes.path) == first
    opened.execute("ROLLBACK")
    opened.close()
