"""The demo archive holds what a real one holds: its proportions, its rows, its text."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import apsw
import pytest
from archives import THOUGHT_COLUMNS, decoded, demo_archive, reading, value

from sqlite_reasoning_fts.demo import DemoArchive
from sqlite_reasoning_fts.demo.plan import Kind, make_plan

SCALE = 0.02
SAID = "coalesce(content, '') || ' ' || coalesce(tool_name, '') || ' ' || coalesce(tool_calls, '')"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoArchive:
    return demo_archive(tmp_path_factory.mktemp("demo"), SCALE)


@pytest.fixture
def archive(demo: DemoArchive) -> Iterator[apsw.Connection]:
    with reading(demo.path) as opened:
        yield opened


def thoughts(connection: apsw.Connection) -> list[tuple[int, str]]:
    found = []
    for identity, *columns in connection.execute(f"SELECT id, {THOUGHT_COLUMNS} FROM messages"):
        found.extend((identity, text) for text in decoded(tuple(columns)))
    return found


# Proportions -------------------------------------------------------------------------------


def test_the_plan_at_scale_1_has_the_reference_archives_counts() -> None:
    rows = make_plan(1.0, Random(0)).rows
    thinking = [row for row in rows if row.thought]
    assert (len(rows), len(thinking), sum(row.silent for row in rows)) == (289_433, 61_043, 22_454)
    assert sum(row.thought for row in rows) == pytest.approx(95_100_000, rel=0.005)
    assert sum(row.said for row in rows) == pytest.approx(307_400_000, rel=0.005)
    assert max(max(row.said, row.thought) for row in rows) <= 2_000_000


def test_a_plan_has_the_sizes_that_were_asked_for_at_every_scale() -> None:
    for scale in (0.0005, 0.001, 0.0123, 0.1):
        rows = make_plan(scale, Random(1)).rows
        assert len(rows) == round(289_433 * scale)
        assert sum(row.thought > 0 for row in rows) == round(61_043 * scale)
        assert sum(row.silent for row in rows) == round(22_454 * scale)
        assert all(row.kind in (Kind.CALL, Kind.ANSWER) for row in rows if row.thought)


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


def test_the_report_is_plain_data(demo: DemoArchive) -> None:
    assert json.loads(json.dumps(demo.to_dict()))["rows"] == demo.rows


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
